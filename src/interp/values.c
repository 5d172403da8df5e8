/* Values as arrays and views: making them, copying them out of a run's reach. */
#include "interp/frame.h"

#include <string.h>

/* Views are long, ranks short: only what the rank needs is copied. */
static void copy_view(aj_view *to, const aj_view *from) {
  to->dtype = from->dtype;
  to->rank = from->rank;
  to->data = from->data;
  size_t bytes = (size_t)from->rank * sizeof *from->dims;
  memcpy(to->dims, from->dims, bytes);
  memcpy(to->strides, from->strides, bytes);
}

void aj_value_view(const aj_cell *cell, const aj_type *type, aj_view *out) {
  if (cell->tag == AJ_CELL_ARRAY) {
    copy_view(out, &cell->u.array->view);
    return;
  }
  out->dtype = type->dtype;
  out->rank = 0;
  out->data = (char *)(uintptr_t)cell->u.bits;
}

arrjit_array *aj_value_array(aj_interp *in, const aj_frame *frame, const aj_type *type, bool zero) {
  arrjit_array *array = aj_run_array_of(in->run, type, frame->env);
  aj_poller poller = aj_run_poller(in->run);
  if (!zero || !array || aj_bytes_zero(array->view.data, aj_view_bytes(&array->view), &poller)) return array;
  aj_array_release(array);
  return NULL;
}

bool aj_value_is_private(const aj_cell *cell) {
  const arrjit_array *array = cell->u.array;
  return cell->tag == AJ_CELL_ARRAY && (array->block || array->adopted) && aj_view_is_dense(&array->view) &&
         atomic_load_explicit(&array->refs, memory_order_acquire) == 1;
}

void aj_value_consume(aj_interp *in, const arrjit_array *array) {
  if (array->adopted) in->run->consumed |= UINT64_C(1) << (array->adopted - 1);
}

arrjit_array *aj_value_result(aj_interp *in, const aj_frame *frame, const aj_node *node) {
  uint32_t output = frame->nodes[node->id].output;
  arrjit_array *given = output && frame->why == AJ_WHY_ROOT ? in->outputs[output - 1] : NULL;
  if (!given) return aj_value_array(in, frame, node->results[0].type, false);
  aj_array_retain(given);
  return given;
}

arrjit_array *aj_value_copy(aj_interp *in, const aj_cell *cell, const aj_type *type) {
  aj_view view;
  aj_value_view(cell, type, &view);
  return aj_run_copy(in->run, &view);
}

void aj_value_views(aj_interp *in, aj_frame *frame, const aj_node *node, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    aj_value_view(aj_frame_operand(frame, node, first + i), node->operands[first + i]->type, &in->views[i]);
}
