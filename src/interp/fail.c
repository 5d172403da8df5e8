/* Steps of failures and effects: raise, check, exception values, callbacks. */
#include "interp/frame.h"

#include <string.h>

/* ---- raise ---- */

static const char *find_message(const aj_node *node) {
  const aj_attr *message = aj_node_attr(node, AJ_ATTR_MESSAGE);
  return message ? message->u.text : NULL;
}

/* Raises the node's kind with the first `count` of in->views as payload. */
static aj_flow raise_views(aj_interp *in, const aj_node *node, uint32_t count) {
  aj_run_raise_views(in->run, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND), aj_node_int(node, AJ_ATTR_CODE),
                     find_message(node), count, in->views);
  return AJ_FLOW_FAILED;
}

aj_flow aj_step_raise(aj_interp *in, aj_frame *frame, const aj_node *node) {
  aj_value_views(in, frame, node, 0, node->operand_count);
  return raise_views(in, node, node->operand_count);
}

aj_flow aj_step_raise_exn(aj_interp *in, aj_frame *frame, const aj_node *node) {
  aj_exn *exn = aj_exn_again(aj_frame_operand(frame, node, 0)->u.exn);
  if (exn && node->operand_count > 1) aj_exn_link(exn, aj_frame_operand(frame, node, 1)->u.exn, NULL);
  if (exn)
    in->run->exn = exn;
  else
    aj_run_raise_memory(in->run, sizeof *exn);
  return AJ_FLOW_FAILED;
}

/* ---- checks: values pass through, aliased ---- */

static void pass_through(aj_frame *frame, const aj_node *node, uint32_t first) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_cell *value = aj_frame_operand(frame, node, first + i);
    *aj_frame_result(frame, node, i) = *value;
    aj_cell_retain(value);
  }
}

/* Row-major index of the first false lane of a bool array, -1 when there is none. *out_ok false: run->exn. */
static int64_t find_false(aj_interp *in, const aj_cell *pred, const aj_type *type, bool *out_ok) {
  enum { LANES = 1 << 18 }; /* between polls: some 10 us */
  arrjit_array *array = pred->u.array, *copy = NULL;
  *out_ok = true;
  if (!aj_view_is_dense(&array->view)) {
    array = copy = aj_value_copy(in, pred, type);
    if (!copy) return *out_ok = false, -1;
  }
  int64_t count = aj_view_count(&array->view), found = -1;
  for (int64_t i = 0; i < count && found < 0 && *out_ok; i += LANES) {
    const char *data = array->view.data + i;
    const char *lane = memchr(data, 0, (size_t)(count - i < LANES ? count - i : LANES));
    if (lane) found = lane - array->view.data;
    *out_ok = !aj_run_poll(in->run, false);
  }
  in->run->work += count;
  aj_cell dead = {.u.array = copy, .tag = copy ? AJ_CELL_ARRAY : AJ_CELL_NONE};
  aj_cell_clear(in->run, &dead);
  return found;
}

/* `lane` of an array is appended to the payload; -1: the predicate is a scalar. */
static aj_flow fail_check(aj_interp *in, aj_frame *frame, const aj_node *node, uint32_t payload, int64_t lane) {
  aj_value_views(in, frame, node, 1, payload);
  if (lane >= 0) {
    static const aj_type lane_type = {.dtype = ARRJIT_I64};
    const aj_cell cell = {.u.i64 = lane, .tag = AJ_CELL_SCALAR};
    aj_value_view(&cell, &lane_type, &in->views[payload]);
    return raise_views(in, node, payload + 1);
  }
  return raise_views(in, node, payload);
}

aj_flow aj_step_check(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_cell *pred = aj_frame_operand(frame, node, 0);
  uint32_t payload = (uint32_t)aj_node_int(node, AJ_ATTR_PAYLOAD);
  if (pred->tag == AJ_CELL_SCALAR) {
    if (!pred->u.bits[0]) return fail_check(in, frame, node, payload, -1);
  } else {
    bool ok;
    int64_t lane = find_false(in, pred, node->operands[0]->type, &ok);
    if (!ok) return AJ_FLOW_FAILED;
    if (lane >= 0) return fail_check(in, frame, node, payload, lane);
  }
  pass_through(frame, node, 1 + payload);
  return aj_frame_next(in, frame, node);
}

aj_flow aj_step_check_shape(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_cell *x = aj_frame_operand(frame, node, 0);
  const aj_attr *shape = aj_node_attr(node, AJ_ATTR_SHAPE);
  for (uint32_t i = 0; x->tag == AJ_CELL_ARRAY && i < shape->count; i++) {
    int64_t expected = aj_dim_eval(shape->u.ints[i], frame->env), got = x->u.array->view.dims[i];
    if (expected == got) continue;
    aj_run_raise_extent(in->run, (int32_t)i, shape->u.ints[i], expected, got);
    return AJ_FLOW_FAILED;
  }
  pass_through(frame, node, 0);
  return aj_frame_next(in, frame, node);
}

/* ---- exceptions as values ---- */

static aj_flow set_exn(aj_interp *in, aj_frame *frame, const aj_node *node, aj_exn *exn) {
  *aj_frame_result(frame, node, 0) = (aj_cell){.u.exn = exn, .tag = AJ_CELL_EXN};
  return aj_frame_next(in, frame, node);
}

aj_flow aj_step_exn_new(aj_interp *in, aj_frame *frame, const aj_node *node) {
  aj_value_views(in, frame, node, 0, node->operand_count);
  aj_exn *exn =
      aj_exn_create_views(in->run->core, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND), aj_node_int(node, AJ_ATTR_CODE),
                          find_message(node), node->operand_count, in->views);
  if (exn) return set_exn(in, frame, node, exn);
  aj_run_raise_memory(in->run, sizeof *exn);
  return AJ_FLOW_FAILED;
}

aj_flow aj_step_exn_is(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_exn *exn = aj_frame_operand(frame, node, 0)->u.exn;
  aj_cell out = {.tag = AJ_CELL_SCALAR};
  out.u.bits[0] = aj_kinds_is(in->run->core->kinds, exn->kind, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND));
  *aj_frame_result(frame, node, 0) = out;
  return aj_frame_next(in, frame, node);
}

/* The payload field when it is there and has the type that is asked for, else NULL. */
static arrjit_array *find_field(const aj_exn *exn, int64_t field, const aj_type *type) {
  if (field < 0 || field >= exn->payload_count) return NULL;
  arrjit_array *array = exn->payload[field];
  if (array->view.dtype != type->dtype || array->view.rank != type->rank) return NULL;
  for (int32_t i = 0; i < type->rank; i++)
    if (array->view.dims[i] != type->dims[i]) return NULL;
  return array;
}

aj_flow aj_step_exn_field(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_type *type = node->results[1].type;
  arrjit_array *field = find_field(aj_frame_operand(frame, node, 0)->u.exn, aj_node_int(node, AJ_ATTR_FIELD), type);
  aj_cell present = {.tag = AJ_CELL_SCALAR}, value = {.tag = AJ_CELL_SCALAR};
  present.u.bits[0] = field != NULL;
  if (type->rank > 0) {
    aj_cell source = {.u.array = field, .tag = AJ_CELL_ARRAY};
    value.tag = AJ_CELL_ARRAY;
    value.u.array = field ? aj_value_copy(in, &source, type) : aj_value_array(in, frame, type, true);
    if (!value.u.array) return AJ_FLOW_FAILED;
  } else if (field) {
    memcpy(value.u.bits, field->view.data, aj_dtypes[type->dtype].bytes);
  }
  *aj_frame_result(frame, node, 0) = present;
  *aj_frame_result(frame, node, 1) = value;
  return aj_frame_next(in, frame, node);
}

aj_flow aj_step_exn_code(aj_interp *in, aj_frame *frame, const aj_node *node) {
  int64_t code = aj_frame_operand(frame, node, 0)->u.exn->code;
  *aj_frame_result(frame, node, 0) = (aj_cell){.u.i64 = code, .tag = AJ_CELL_SCALAR};
  return aj_frame_next(in, frame, node);
}

aj_flow aj_step_exn_site(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_exn *exn = aj_frame_operand(frame, node, 0)->u.exn;
  int64_t site = exn->trace.count ? (int64_t)exn->trace.sites[0].node->id : -1;
  *aj_frame_result(frame, node, 0) = (aj_cell){.u.i64 = site, .tag = AJ_CELL_SCALAR};
  return aj_frame_next(in, frame, node);
}

aj_flow aj_step_exn_cause(aj_interp *in, aj_frame *frame, const aj_node *node) {
  aj_exn *exn = aj_frame_operand(frame, node, 0)->u.exn;
  aj_exn *cause = exn->cause ? exn->cause : exn;
  aj_exn_retain(cause);
  return set_exn(in, frame, node, cause);
}
