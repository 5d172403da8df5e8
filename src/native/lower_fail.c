/* Failures: cold code that calls a helper and goes on at the landing of the innermost try, or leaves the function. */
#include "native/lower.h"

static const aj_node *finished(const aj_node *node) { return node->origin ? node->origin : node; }

const aj_nh_site *aj_lower_site(aj_lower *lo, const aj_scope *scope, const aj_node *node) {
  aj_nh_site *site = AJ_NEW(lo->keep, aj_nh_site);
  if (!site) return NULL;
  *site = (aj_nh_site){.node = finished(node), .code = node, .stop = scope->landing->stop};
  return site;
}

/* Each loop stores the iteration of the one around it when it begins, so that a site stores one number however deep it
 * is. */
LLVMValueRef aj_lower_iterations(aj_lower *lo, const aj_scope *scope) {
  if (!scope->loops) return LLVMConstNull(lo->t_ptr);
  LLVMValueRef at = aj_ir_field(lo, lo->iterations, (lo->loop_levels - scope->loops) * sizeof(int64_t));
  if (scope == lo->outside)
    aj_ir_copy(lo, at, lo->outside_iterations, aj_ir_i64(lo, (int64_t)(scope->loops * sizeof(int64_t))));
  else
    LLVMBuildStore(lo->b, scope->iteration, at);
  return at;
}

LLVMBasicBlockRef aj_lower_cold(aj_lower *lo, LLVMValueRef condition) {
  LLVMBasicBlockRef cold = aj_ir_block(lo, "cold"), go = aj_ir_block(lo, "go");
  LLVMBuildCondBr(lo->b, condition, cold, go);
  aj_ir_at(lo, cold);
  return go;
}

void aj_lower_land(aj_lower *lo, const aj_scope *scope) { LLVMBuildBr(lo->b, scope->landing->block); }

void aj_lower_land_if(aj_lower *lo, const aj_scope *scope, LLVMValueRef result) {
  LLVMBasicBlockRef go = aj_ir_block(lo, "go");
  LLVMValueRef failed = LLVMBuildICmp(lo->b, LLVMIntNE, result, LLVMConstNull(LLVMTypeOf(result)), "");
  LLVMBuildCondBr(lo->b, failed, scope->landing->block, go);
  aj_ir_at(lo, go);
}

/* Scalars get memory of their own, exceptions are themselves. */
static LLVMValueRef operand_pointer(aj_lower *lo, const aj_scope *scope, const aj_value *value) {
  aj_lv lv = scope->vals[value->slot];
  if (!aj_type_is_scalar(value->type)) return lv.v;
  LLVMValueRef slot = aj_ir_scalar_place(lo);
  aj_ir_store_element(lo, value->type->dtype, 1, lv, slot);
  return slot;
}

LLVMValueRef aj_lower_operands(aj_lower *lo, const aj_scope *scope, const aj_node *node, uint32_t first,
                               uint32_t count) {
  if (count == 0) return LLVMConstNull(lo->t_ptr);
  LLVMValueRef array = aj_ir_alloca(lo, lo->t_ptr, count, 8);
  for (uint32_t i = 0; i < count; i++)
    LLVMBuildStore(lo->b, operand_pointer(lo, scope, node->operands[first + i]),
                   aj_ir_field(lo, array, i * sizeof(void *)));
  return array;
}

static LLVMValueRef site_pointer(aj_lower *lo, const aj_scope *scope, const aj_node *node) {
  return aj_ir_pointer(lo, aj_lower_site(lo, scope, node));
}

/* Raises a new exception straight, as raise does, where `node` is. */
static void raise_new(aj_lower *lo, const aj_scope *scope, const aj_node *node, const aj_known *exn) {
  aj_nh_site *site = AJ_NEW(lo->keep, aj_nh_site);
  if (!site) return;
  *site = (aj_nh_site){.node = finished(node), .code = exn->node, .stop = scope->landing->stop};
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, site), aj_lower_iterations(lo, scope), lo->env,
                         aj_known_fields(lo, exn, 0)};
  aj_ir_call(lo, "aj_nh_raise", lo->t_void, AJ_COUNT(args), args, true);
}

static void raise_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_lv exn = scope->vals[node->operands[0]->slot];
  LLVMValueRef cause = node->operand_count > 1 ? scope->vals[node->operands[1]->slot].v : NULL;
  if (!exn.v) {
    raise_new(lo, scope, node, exn.exn);
    LLVMValueRef args[] = {lo->run, cause};
    if (cause) aj_ir_call(lo, "aj_nh_cause", lo->t_void, AJ_COUNT(args), args, true);
    return;
  }
  LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), exn.v,
                         cause ? cause : LLVMConstNull(lo->t_ptr)};
  aj_ir_call(lo, "aj_nh_raise_exn", lo->t_void, AJ_COUNT(args), args, true);
}

/* What the raise tells of itself; false: it raises an exception of which nothing is known. */
static bool find_known(aj_lower *lo, const aj_scope *scope, const aj_node *node, aj_known *out) {
  if (node->op == AJ_OP_RAISE) {
    *out = aj_known_payload(lo, scope, node, 0, node->operand_count, NULL);
    return true;
  }
  const aj_known *exn = scope->vals[node->operands[0]->slot].exn;
  if (!exn) return false;
  *out = *exn;
  if (!out->catcher) out->raised = node;
  return true;
}

void aj_lower_raise(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_known exn;
  if (find_known(lo, scope, node, &exn) && aj_catcher_raise(lo, scope->landing, &exn)) return;
  if (node->op == AJ_OP_RAISE_EXN) {
    raise_exn(lo, scope, node);
  } else {
    LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), lo->env,
                           aj_lower_operands(lo, scope, node, 0, node->operand_count)};
    aj_ir_call(lo, "aj_nh_raise", lo->t_void, AJ_COUNT(args), args, true);
  }
  aj_lower_land(lo, scope);
}

/* The first false lane of an array predicate, or the number of lanes. */
static LLVMValueRef first_false(aj_lower *lo, LLVMValueRef pred, LLVMValueRef count) {
  LLVMValueRef args[] = {pred, count};
  return aj_ir_call(lo, "aj_nh_first_false", lo->t_i64, 2, args, false);
}

/* lane -1: the predicate is a scalar. */
static void fail_check(aj_lower *lo, aj_scope *scope, const aj_node *node, uint32_t payload, LLVMValueRef lane) {
  bool is_array = node->operands[0]->type->rank > 0;
  aj_known exn = aj_known_payload(lo, scope, node, 1, payload, is_array ? lane : NULL);
  if (aj_catcher_raise(lo, scope->landing, &exn)) return;
  LLVMValueRef args[] = {lo->run,
                         site_pointer(lo, scope, node),
                         aj_lower_iterations(lo, scope),
                         lo->env,
                         aj_lower_operands(lo, scope, node, 1, payload),
                         lane};
  aj_ir_call(lo, "aj_nh_check", lo->t_void, AJ_COUNT(args), args, true);
  aj_lower_land(lo, scope);
}

void aj_lower_check(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  const aj_value *pred = node->operands[0];
  aj_lv lv = scope->vals[pred->slot];
  LLVMValueRef lane = aj_ir_i64(lo, -1), failed;
  if (pred->type->rank > 0) {
    LLVMValueRef count = aj_ir_count(lo, pred->type);
    lane = first_false(lo, lv.v, count);
    failed = LLVMBuildICmp(lo->b, LLVMIntSLT, lane, count, "");
  } else {
    failed = LLVMBuildNot(lo->b, lv.v, "");
  }
  LLVMBasicBlockRef go = aj_lower_cold(lo, failed);
  uint32_t payload = (uint32_t)aj_node_int(node, AJ_ATTR_PAYLOAD);
  fail_check(lo, scope, node, payload, lane);
  aj_ir_at(lo, go);
  for (uint32_t i = 0; i < node->result_count; i++)
    scope->vals[node->results[i].slot] = scope->vals[node->operands[1 + payload + i]->slot];
}

void aj_lower_checked(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef fail) {
  LLVMBasicBlockRef go = aj_lower_cold(lo, fail);
  aj_known exn = aj_known_checked(lo, scope, node);
  if (!aj_catcher_raise(lo, scope->landing, &exn)) {
    LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), aj_ir_i64(lo, 0),
                           aj_lower_operands(lo, scope, node, 0, node->operand_count)};
    aj_ir_call(lo, "aj_nh_checked", lo->t_void, AJ_COUNT(args), args, true);
    aj_lower_land(lo, scope);
  }
  aj_ir_at(lo, go);
}

/* ---- polls ---- */

static LLVMValueRef load_flag(aj_lower *lo, LLVMValueRef pointer) {
  LLVMValueRef load = aj_ir_load(lo, lo->t_i32, pointer);
  LLVMSetOrdering(load, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(load, 4);
  return load;
}

LLVMValueRef aj_lower_stop_flags(aj_lower *lo) {
  LLVMValueRef flags = LLVMBuildOr(lo->b, load_flag(lo, aj_ir_field(lo, lo->run, offsetof(aj_run, stop))),
                                   load_flag(lo, lo->cancel_flag), "");
  return LLVMBuildOr(lo->b, flags, load_flag(lo, lo->shutdown_flag), "");
}

LLVMValueRef aj_lower_due(aj_lower *lo) {
  return LLVMBuildICmp(lo->b, LLVMIntNE, aj_lower_stop_flags(lo), aj_ir_i32(lo, 0), "");
}

/* Three loads and a branch; a run with a limit of iterations counts them in the helper. */
void aj_lower_poll(aj_lower *lo, aj_scope *scope, const aj_node *node, bool count) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef due = aj_lower_due(lo);
  if (count) due = LLVMBuildOr(b, due, lo->slow_poll, "");
  LLVMBasicBlockRef go = aj_lower_cold(lo, due);
  LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), aj_ir_i32(lo, count)};
  LLVMValueRef stopped = aj_ir_call(lo, "aj_nh_poll", lo->t_i32, AJ_COUNT(args), args, true);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, stopped, aj_ir_i32(lo, 0), ""), scope->landing->block, go);
  aj_ir_at(lo, go);
}
