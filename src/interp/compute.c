/* Steps of the ops that compute: scalars inline, arrays through sem's routines, movement as views. */
#include "interp/frame.h"
#include "rt/parallel.h"

#include <string.h>

/* ---- scalars: straight on the bits in the cells; nothing to release, so no look at liveness ---- */

/* A checked op failed on scalars. */
static aj_flow fail_inline(aj_interp *in, aj_frame *frame, const aj_node *node, const void *const *operands) {
  aj_value_views(in, frame, node, 0, node->operand_count);
  int64_t code = aj_sem_check_code(node->op, node->operands[0]->type->dtype, node->results[0].type->dtype, operands);
  aj_sem_fail fail = {.kind = ARRJIT_KIND_ARITH, .code = code, .message = aj_sem_arith_message(code)};
  aj_run_raise_sem(in->run, &fail, node->operand_count, in->views);
  return AJ_FLOW_FAILED;
}

aj_flow aj_step_inline(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const void *operands[3] = {NULL};
  AJ_ASSERT(node->operand_count <= 3);
  for (uint32_t i = 0; i < node->operand_count; i++) operands[i] = aj_frame_operand(frame, node, i)->u.bits;
  aj_cell *out = aj_frame_result(frame, node, 0);
  if (AJ_UNLIKELY(frame->nodes[node->id].u.loop(1, out->u.bits, operands) != 1))
    return fail_inline(in, frame, node, operands);
  out->tag = AJ_CELL_SCALAR;
  frame->pc++;
  return AJ_FLOW_NEXT;
}

aj_flow aj_step_program(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const void *operands[3] = {NULL};
  for (uint32_t i = 0; i < node->operand_count; i++) operands[i] = aj_frame_operand(frame, node, i)->u.bits;
  aj_cell *out = aj_frame_result(frame, node, 0);
  void *results[1] = {out->u.bits};
  aj_program_run(frame->nodes[node->id].u.program, 1, operands, results, in->scratch, NULL, NULL);
  out->tag = AJ_CELL_SCALAR;
  frame->pc++;
  return AJ_FLOW_NEXT;
}

aj_flow aj_step_scalar_const(aj_interp *in, aj_frame *frame, const aj_node *node) {
  (void)in;
  const aj_attr *value = aj_node_attr(node, AJ_ATTR_VALUE);
  aj_cell *out = aj_frame_result(frame, node, 0);
  memcpy(out->u.bits, value->u.bytes, aj_dtypes[node->results[0].type->dtype].bytes);
  out->tag = AJ_CELL_SCALAR;
  frame->pc++;
  return AJ_FLOW_NEXT;
}

/* ---- arrays ---- */

aj_flow aj_step_array_const(aj_interp *in, aj_frame *frame, const aj_node *node) {
  arrjit_array *array = frame->nodes[node->id].u.constant;
  aj_array_retain(array);
  *aj_frame_result(frame, node, 0) = (aj_cell){.u.array = array, .tag = AJ_CELL_ARRAY};
  return aj_frame_next(in, frame, node);
}

/* Routines other than elementwise ones want dense operands: view i is packed when it is not. False: run->exn. */
static bool pack_view(aj_interp *in, aj_frame *frame, const aj_node *node, uint32_t i, arrjit_array **out) {
  if (aj_view_is_dense(&in->views[i])) {
    aj_view_set_dense(&in->views[i]); /* dims of extent 1 may have had any stride */
    return true;
  }
  *out = aj_value_copy(in, aj_frame_operand(frame, node, i), node->operands[i]->type);
  if (*out) in->views[i].data = (*out)->view.data, aj_view_set_dense(&in->views[i]);
  return *out != NULL;
}

/* in->views: operands as the routine wants them; in->arrays: the copies made for it, NULL where none. */
static bool gather_operands(aj_interp *in, aj_frame *frame, const aj_node *node) {
  bool strided = (aj_ops[node->op].flags & AJ_F_ELEMENTWISE) != 0, ok = true;
  memset(in->arrays, 0, node->operand_count * sizeof *in->arrays);
  for (uint32_t i = 0; ok && i < node->operand_count; i++) {
    aj_value_view(aj_frame_operand(frame, node, i), node->operands[i]->type, &in->views[i]);
    ok = strided || pack_view(in, frame, node, i, &in->arrays[i]);
  }
  return ok;
}

static void release_operands(aj_interp *in, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) aj_array_release(in->arrays[i]);
}

static bool run_routine(aj_interp *in, aj_frame *frame, const aj_node *node, aj_view *out) {
  const aj_interp_node *info = &frame->nodes[node->id];
  aj_sem_fail fail = {.kind = ARRJIT_KIND_NONE};
  aj_sem_call call = {.node = node,
                      .env = frame->env,
                      .in = in->views,
                      .out = out,
                      .mem = &in->run->core->mem,
                      .cache = in->run->core->sem,
                      .combiner = info->plain == aj_step_fold ? info->u.program : NULL,
                      .fail = &fail,
                      .poll = aj_run_poll_routine,
                      .poll_user = in->run,
                      .team = &aj_run_team,
                      .no_lapack = aj_core_option(in->run->core, AJ_OPTION_LAPACK) == 0};
  switch (aj_sem_run(&call)) {
  case AJ_SEM_OK: in->run->work += aj_view_count(out); return true;
  case AJ_SEM_FAIL: return aj_run_raise_sem(in->run, &fail, node->operand_count, in->views);
  case AJ_SEM_MEMORY: return aj_run_raise_memory(in->run, 0);
  case AJ_SEM_STOPPED: break; /* the poll has set run->exn */
  }
  return false;
}

aj_flow aj_step_array(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_type *type = node->results[0].type;
  if (aj_run_poll(in->run, false)) return AJ_FLOW_FAILED;
  aj_cell out = {.tag = AJ_CELL_SCALAR};
  aj_view scalar = {.dtype = type->dtype, .data = (char *)out.u.bits};
  aj_view *view = &scalar;
  if (type->rank > 0) {
    out = (aj_cell){.u.array = aj_value_result(in, frame, node), .tag = AJ_CELL_ARRAY};
    if (!out.u.array) return AJ_FLOW_FAILED;
    view = &out.u.array->view;
  }
  bool ok = gather_operands(in, frame, node) && run_routine(in, frame, node, view);
  release_operands(in, node->operand_count);
  if (!ok) {
    aj_cell_clear(in->run, &out);
    return AJ_FLOW_FAILED;
  }
  *aj_frame_result(frame, node, 0) = out;
  return aj_frame_next(in, frame, node);
}

/* The same with several results. Until all went well, they are in no cell that anyone looks at. */
aj_flow aj_step_fold(aj_interp *in, aj_frame *frame, const aj_node *node) {
  aj_view *views = in->views + node->operand_count;
  if (aj_run_poll(in->run, false)) return AJ_FLOW_FAILED;
  bool ok = true;
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_type *type = node->results[i].type;
    aj_cell *out = aj_frame_result(frame, node, i);
    *out = (aj_cell){.tag = AJ_CELL_SCALAR};
    views[i] = (aj_view){.dtype = type->dtype, .data = (char *)out->u.bits};
    if (!ok || type->rank == 0) continue;
    arrjit_array *array = i == 0 ? aj_value_result(in, frame, node) : aj_value_array(in, frame, type, false);
    ok = array != NULL;
    if (!ok) continue;
    *out = (aj_cell){.u.array = array, .tag = AJ_CELL_ARRAY};
    views[i] = array->view;
  }
  if (ok) {
    ok = gather_operands(in, frame, node) && run_routine(in, frame, node, views);
    release_operands(in, node->operand_count);
  }
  if (ok) return aj_frame_next(in, frame, node);
  for (uint32_t i = 0; i < node->result_count; i++) {
    aj_cell *out = aj_frame_result(frame, node, i);
    aj_cell_clear(in->run, out);
    *out = (aj_cell){.tag = AJ_CELL_NONE};
  }
  return AJ_FLOW_FAILED;
}

/* ---- movement: shares the operand's data ---- */

/* The operand as an array that a view can share, one reference; a dense copy of it when `pack`, and of a scalar always.
 */
static arrjit_array *make_base(aj_interp *in, aj_frame *frame, const aj_node *node, bool pack) {
  const aj_cell *x = aj_frame_operand(frame, node, 0);
  if (pack || x->tag == AJ_CELL_SCALAR) return aj_value_copy(in, x, node->operands[0]->type);
  aj_array_retain(x->u.array);
  return x->u.array;
}

/* The view of `base` that the op makes; *out_fits is false when base has to be packed first. */
static bool view_base(aj_interp *in, aj_frame *frame, const aj_node *node, arrjit_array *base, aj_view *out,
                      bool *out_fits) {
  aj_sem_fail fail = {.kind = ARRJIT_KIND_NONE};
  if (!aj_view_from_type(out, node->results[0].type, frame->env))
    return aj_run_raise_huge_type(in->run, node->results[0].type, frame->env);
  *out_fits = aj_sem_view(node, frame->env, &base->view, out, &fail);
  if (fail.kind != ARRJIT_KIND_NONE) return aj_run_raise_sem(in->run, &fail, 1, &base->view);
  return true;
}

static bool set_viewed(aj_interp *in, aj_frame *frame, const aj_node *node, arrjit_array *base, const aj_view *view) {
  aj_cell *out = aj_frame_result(frame, node, 0);
  if (node->results[0].type->rank == 0) {
    memcpy(out->u.bits, view->data, aj_dtypes[view->dtype].bytes);
    out->tag = AJ_CELL_SCALAR;
    return true;
  }
  arrjit_array *shared = aj_array_share(base, view);
  if (!shared) return aj_run_raise_memory(in->run, sizeof *shared);
  *out = (aj_cell){.u.array = shared, .tag = AJ_CELL_ARRAY};
  return true;
}

/* *out_fits: false when the operand has to be packed, then nothing was done. */
static bool try_view(aj_interp *in, aj_frame *frame, const aj_node *node, bool pack, bool *out_fits) {
  aj_view view;
  arrjit_array *base = make_base(in, frame, node, pack);
  bool ok = base && view_base(in, frame, node, base, &view, out_fits);
  if (ok && *out_fits) ok = set_viewed(in, frame, node, base, &view);
  aj_array_release(base);
  return ok;
}

aj_flow aj_step_view(aj_interp *in, aj_frame *frame, const aj_node *node) {
  bool fits = true;
  bool ok = try_view(in, frame, node, false, &fits) && (fits || try_view(in, frame, node, true, &fits));
  return ok ? aj_frame_next(in, frame, node) : AJ_FLOW_FAILED;
}

aj_flow aj_step_dim_size(aj_interp *in, aj_frame *frame, const aj_node *node) {
  int64_t axis = aj_node_int(node, AJ_ATTR_AXIS);
  const aj_cell *x = aj_frame_operand(frame, node, 0);
  AJ_ASSERT(x->tag == AJ_CELL_ARRAY);
  *aj_frame_result(frame, node, 0) = (aj_cell){.u.i64 = x->u.array->view.dims[axis], .tag = AJ_CELL_SCALAR};
  return aj_frame_next(in, frame, node);
}
