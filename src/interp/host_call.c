/* The step of callbacks: the host sees dense blocks whatever the values are inside. */
#include "interp/frame.h"

#include <string.h>

static void set_host_view(arrjit_view *out, const aj_view *view, const int64_t *dims) {
  *out = (arrjit_view){
      .dtype = view->dtype, .rank = view->rank, .dims = dims, .data = view->data, .bytes = aj_view_bytes(view)};
}

static void show_scalar(arrjit_view *out, aj_cell *cell, const aj_type *type) {
  *out = (arrjit_view){
      .dtype = type->dtype, .rank = 0, .dims = NULL, .data = cell->u.bits, .bytes = aj_dtypes[type->dtype].bytes};
}

/* A call in progress: what has to go when it ends, however it ends. */
typedef struct host_call {
  aj_interp *in;
  const aj_node *node;
  arrjit_array **made; /* by the callback, one a result: behind the arguments in in->arrays */
} host_call;

/* Arguments in in->host_views; what keeps or copies them in in->arrays, NULL where nothing has to. */
static bool show_args(aj_interp *in, aj_frame *frame, const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_cell *cell = aj_frame_operand(frame, node, i);
    const aj_type *type = node->operands[i]->type;
    if (cell->tag == AJ_CELL_SCALAR) {
      show_scalar(&in->host_views[i], cell, type);
      continue;
    }
    arrjit_array *array = cell->u.array;
    if (!aj_view_is_dense(&array->view)) {
      array = in->arrays[i] = aj_value_copy(in, cell, type);
      if (!array) return false;
    }
    set_host_view(&in->host_views[i], &array->view, array->view.dims);
  }
  return true;
}

/* What the callback has to make: dims that it decides on are ARRJIT_DYNAMIC_DIM, and there is no data yet. */
static void show_dynamic(arrjit_view *out, const aj_type *declared, const aj_type *type, const int64_t *env,
                         int64_t *dims) {
  for (int32_t d = 0; d < type->rank; d++)
    dims[d] = declared->dims[d] == ARRJIT_DYNAMIC_DIM ? ARRJIT_DYNAMIC_DIM : aj_dim_eval(type->dims[d], env);
  *out = (arrjit_view){.dtype = type->dtype, .rank = type->rank, .dims = dims};
}

/* Results, zeroed, in in->transfer and seen through `views`. */
static bool make_results(aj_interp *in, aj_frame *frame, const aj_node *node, const aj_slot *slot, arrjit_view *views) {
  int64_t *dims = in->host_dims;
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_type *type = node->results[i].type;
    aj_cell *cell = &in->transfer[i];
    *cell = (aj_cell){.tag = AJ_CELL_SCALAR};
    in->transfer_count = i + 1;
    if (type->rank == 0) {
      show_scalar(&views[i], cell, type);
    } else if (aj_slot_dynamic_dims(slot, i)) {
      show_dynamic(&views[i], slot->result_types[i], type, frame->env, dims);
      dims += type->rank;
    } else {
      arrjit_array *array = aj_value_array(in, frame, type, true);
      if (!array) return false;
      *cell = (aj_cell){.u.array = array, .tag = AJ_CELL_ARRAY};
      set_host_view(&views[i], &array->view, array->view.dims);
    }
  }
  return true;
}

/* Runs also when a foreign exception unwinds; results that were taken are no longer in in->arrays. */
static void end_call(host_call *call) {
  for (uint32_t i = 0; i < call->node->operand_count + call->node->result_count; i++)
    aj_array_release(call->in->arrays[i]);
}

static void drop_results(aj_interp *in) {
  for (uint32_t i = 0; i < in->transfer_count; i++) aj_cell_clear(in->run, &in->transfer[i]);
  in->transfer_count = 0;
}

static void take_made(const host_call *call) {
  for (uint32_t i = 0; i < call->node->result_count; i++) {
    if (!call->made[i]) continue;
    call->in->transfer[i] = (aj_cell){.u.array = call->made[i], .tag = AJ_CELL_ARRAY};
    call->made[i] = NULL;
  }
}

/* Value results are in in->transfer afterwards. False: run->exn. */
static bool call_host(aj_interp *in, aj_frame *frame, const aj_node *node, const aj_slot *slot, uint32_t index) {
  __attribute__((cleanup(end_call))) host_call call = {in, node, in->arrays + node->operand_count};
  memset(in->arrays, 0, (node->operand_count + node->result_count) * sizeof(arrjit_array *));
  arrjit_view *results = in->host_views + node->operand_count;
  bool dynamic = aj_node_attr(node, AJ_ATTR_BINDS) != NULL;
  if (!show_args(in, frame, node) || (slot->is_value && !make_results(in, frame, node, slot, results))) return false;
  if (!aj_run_callback(in->run, index, in->host_views, results, dynamic ? call.made : NULL)) return false;
  if (dynamic && !aj_run_bind_extents(in->run, node, call.made, frame->env)) return false;
  take_made(&call);
  return true;
}

aj_flow aj_step_callback(aj_interp *in, aj_frame *frame, const aj_node *node) {
  uint32_t index = (uint32_t)aj_node_int(node, AJ_ATTR_SLOT);
  const aj_slot *slot = &in->run->module->slots.data[index];
  if (!call_host(in, frame, node, slot, index)) {
    drop_results(in);
    return AJ_FLOW_FAILED;
  }
  for (uint32_t i = 0; i < node->result_count; i++) {
    aj_cell *value = slot->is_value ? &in->transfer[i] : aj_frame_operand(frame, node, i);
    *aj_frame_result(frame, node, i) = *value;
    if (!slot->is_value) aj_cell_retain(value);
  }
  in->transfer_count = 0;
  return aj_frame_next(in, frame, node);
}
