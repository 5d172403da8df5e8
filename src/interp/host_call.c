/* The step of callbacks: the host sees dense blocks whatever the values are inside. */
#include "interp/frame.h"

static void set_host_view(arrjit_view *out, const aj_view *view, const int64_t *dims) {
  *out = (arrjit_view){
      .dtype = view->dtype, .rank = view->rank, .dims = dims, .data = view->data, .bytes = aj_view_bytes(view)};
}

static void show_scalar(arrjit_view *out, aj_cell *cell, const aj_type *type) {
  *out = (arrjit_view){
      .dtype = type->dtype, .rank = 0, .dims = NULL, .data = cell->u.bits, .bytes = aj_dtypes[type->dtype].bytes};
}

/* Arguments in in->host_views; what keeps or copies them in in->arrays, NULL where nothing has to. */
static bool show_args(aj_interp *in, aj_frame *frame, const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++) in->arrays[i] = NULL;
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

/* Results, zeroed, in in->transfer and seen through `views`. */
static bool make_results(aj_interp *in, aj_frame *frame, const aj_node *node, arrjit_view *views) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_type *type = node->results[i].type;
    aj_cell *cell = &in->transfer[i];
    *cell = (aj_cell){.tag = AJ_CELL_SCALAR};
    if (type->rank > 0) {
      arrjit_array *array = aj_value_array(in, frame, type, true);
      if (!array) return false;
      *cell = (aj_cell){.u.array = array, .tag = AJ_CELL_ARRAY};
      set_host_view(&views[i], &array->view, array->view.dims);
    } else {
      show_scalar(&views[i], cell, type);
    }
    in->transfer_count = i + 1;
  }
  return true;
}

static void end_call(aj_interp *in, const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_cell cell = {.u.array = in->arrays[i], .tag = in->arrays[i] ? AJ_CELL_ARRAY : AJ_CELL_NONE};
    aj_cell_clear(in->run, &cell);
  }
}

static void drop_results(aj_interp *in) {
  for (uint32_t i = 0; i < in->transfer_count; i++) aj_cell_clear(in->run, &in->transfer[i]);
  in->transfer_count = 0;
}

aj_flow aj_step_callback(aj_interp *in, aj_frame *frame, const aj_node *node) {
  uint32_t slot = (uint32_t)aj_node_int(node, AJ_ATTR_SLOT);
  bool is_value = in->run->module->slots.data[slot].is_value;
  arrjit_view *results = in->host_views + node->operand_count;
  bool ok = show_args(in, frame, node) && (!is_value || make_results(in, frame, node, results)) &&
            aj_run_callback(in->run, slot, in->host_views, results);
  end_call(in, node);
  if (!ok) {
    drop_results(in);
    return AJ_FLOW_FAILED;
  }
  for (uint32_t i = 0; i < node->result_count; i++) {
    aj_cell *value = is_value ? &in->transfer[i] : aj_frame_operand(frame, node, i);
    *aj_frame_result(frame, node, i) = *value;
    if (!is_value) aj_cell_retain(value);
  }
  in->transfer_count = 0;
  return aj_frame_next(in, frame, node);
}
