/* map: lane by lane, each in a frame of its own. The results are in the owner's cells from the beginning and are filled
 * as lanes end: so what is done is part of the frames' state, and liveness inside a map says so.
 *
 * Each lane may take as many iterations as the run had left when the map began; what lanes take is not taken off. */
#include "interp/frame.h"

#include <string.h>

static int64_t count_lanes(const aj_frame *frame, const aj_node *node) {
  const aj_type *type = node->operands[0]->type;
  int64_t count = 1; /* the operand exists: no overflow */
  for (int32_t i = 0; i < type->rank; i++) count *= aj_dim_eval(type->dims[i], frame->env);
  return count;
}

static void load_element(const aj_cell *from, int64_t lane, aj_cell *out) {
  *out = *from;
  if (from->tag != AJ_CELL_ARRAY) return;
  *out = (aj_cell){.tag = AJ_CELL_SCALAR};
  aj_view_read((char *)out->u.bits, &from->u.array->view, lane, 1);
}

static aj_flow enter_lane(aj_interp *in, const aj_node *node, int64_t lane) {
  aj_frame *parent = in->top, *child = aj_stack_push(in, node->regions[0], AJ_WHY_MAP_LANE);
  if (!child) return AJ_FLOW_FAILED;
  child->iteration = lane;
  child->index = in->run->iterations_left;
  uint32_t args = aj_node_capture_start(node);
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_cell cell;
    const aj_cell *from = aj_frame_operand(parent, node, i);
    if (i < args)
      load_element(from, lane, &cell);
    else
      cell = *from;
    aj_frame_copy_param(child, i, &cell);
  }
  return AJ_FLOW_NEXT;
}

/* Arrays for the results that someone reads. */
static bool make_results(aj_interp *in, aj_frame *frame, const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_value *result = &node->results[i];
    if (!aj_frame_wants(frame->region, result->slot)) continue;
    aj_cell *cell = aj_frame_result(frame, node, i);
    *cell = (aj_cell){.tag = AJ_CELL_SCALAR};
    if (result->type->rank == 0) continue;
    arrjit_array *array = aj_value_array(in, frame, result->type, false);
    *cell = (aj_cell){.u.array = array, .tag = array ? AJ_CELL_ARRAY : AJ_CELL_NONE};
    if (array) continue;
    for (uint32_t k = 0; k < i; k++) aj_cell_clear(in->run, aj_frame_result(frame, node, k));
    return false;
  }
  return true;
}

aj_flow aj_step_map(aj_interp *in, aj_frame *frame, const aj_node *node) {
  if (!make_results(in, frame, node)) return AJ_FLOW_FAILED;
  if (count_lanes(frame, node) == 0) return aj_frame_next(in, frame, node);
  return enter_lane(in, node, 0);
}

/* Cells of the lane are scalars: what is read from them needs no reference. */
static void store_lane(aj_frame *lane, const aj_node *yield, aj_frame *frame, const aj_node *map) {
  for (uint32_t i = 0; i < map->result_count; i++) {
    const aj_cell *from = aj_frame_operand(lane, yield, i);
    aj_cell *to = aj_frame_result(frame, map, i);
    size_t bytes = aj_dtypes[map->results[i].type->dtype].bytes;
    if (to->tag == AJ_CELL_ARRAY) memcpy(to->u.array->view.data + (size_t)lane->iteration * bytes, from->u.bits, bytes);
    if (to->tag == AJ_CELL_SCALAR) *to = *from;
  }
}

aj_flow aj_map_yield(aj_interp *in, aj_frame *frame, const aj_node *node) {
  if (aj_run_poll(in->run, false)) return AJ_FLOW_FAILED;
  aj_frame *parent = frame->parent;
  const aj_node *map = frame->region->owner;
  int64_t lane = frame->iteration;
  store_lane(frame, node, parent, map);
  in->run->iterations_left = frame->index;
  aj_stack_pop(in);
  if (lane + 1 == count_lanes(parent, map)) return aj_frame_next(in, parent, map);
  return enter_lane(in, map, lane + 1);
}
