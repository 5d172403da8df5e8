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
  LLVMValueRef slot = aj_ir_alloca(lo, lo->t_i64, 1, 8);
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

static void raise_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMValueRef cause = node->operand_count > 1 ? scope->vals[node->operands[1]->slot].v : LLVMConstNull(lo->t_ptr);
  LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope),
                         scope->vals[node->operands[0]->slot].v, cause};
  aj_ir_call(lo, "aj_nh_raise_exn", lo->t_void, AJ_COUNT(args), args, true);
}

/* The handler of the innermost try, when it is known here and needs no exception: then raising is a branch. */
static LLVMBasicBlockRef find_direct(aj_lower *lo, const aj_scope *scope, const aj_node *node) {
  const aj_landing *landing = scope->landing;
  if (node->op != AJ_OP_RAISE || !landing->try_node) return NULL;
  const aj_attr *kinds = aj_node_attr(landing->try_node, AJ_ATTR_KINDS);
  arrjit_kind kind = (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND);
  for (uint32_t i = 0; kinds && i < kinds->count; i++)
    if (aj_kinds_catches(lo->module->kinds, (arrjit_kind)kinds->u.ints[i], kind)) return landing->direct[i];
  return NULL;
}

void aj_lower_raise(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMBasicBlockRef direct = find_direct(lo, scope, node);
  if (direct) {
    LLVMBuildBr(lo->b, direct);
    return;
  }
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
  LLVMValueRef args[] = {lo->run,
                         site_pointer(lo, scope, node),
                         aj_lower_iterations(lo, scope),
                         lo->env,
                         aj_lower_operands(lo, scope, node, 1, payload),
                         lane};
  aj_ir_call(lo, "aj_nh_check", lo->t_void, AJ_COUNT(args), args, true);
  aj_lower_land(lo, scope);
  aj_ir_at(lo, go);
  for (uint32_t i = 0; i < node->result_count; i++)
    scope->vals[node->results[i].slot] = scope->vals[node->operands[1 + payload + i]->slot];
}

void aj_lower_checked(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef fail) {
  LLVMBasicBlockRef go = aj_lower_cold(lo, fail);
  LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), aj_ir_i64(lo, 0),
                         aj_lower_operands(lo, scope, node, 0, node->operand_count)};
  aj_ir_call(lo, "aj_nh_checked", lo->t_void, AJ_COUNT(args), args, true);
  aj_lower_land(lo, scope);
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

/* Three loads and a branch; a run with a limit of iterations counts them in the helper. */
void aj_lower_poll(aj_lower *lo, aj_scope *scope, const aj_node *node, bool count) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef flags = aj_lower_stop_flags(lo);
  LLVMValueRef due = LLVMBuildICmp(b, LLVMIntNE, flags, aj_ir_i32(lo, 0), "");
  if (count) due = LLVMBuildOr(b, due, lo->slow_poll, "");
  LLVMBasicBlockRef go = aj_lower_cold(lo, due);
  LLVMValueRef args[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), aj_ir_i32(lo, count)};
  LLVMValueRef stopped = aj_ir_call(lo, "aj_nh_poll", lo->t_i32, AJ_COUNT(args), args, true);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, stopped, aj_ir_i32(lo, 0), ""), scope->landing->block, go);
  aj_ir_at(lo, go);
}

/* ---- exceptions as values ---- */

static LLVMValueRef make_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMValueRef site = site_pointer(lo, scope, node), iterations = aj_lower_iterations(lo, scope), exn;
  if (node->op == AJ_OP_EXN_NEW) {
    LLVMValueRef args[] = {lo->run,    lo->exns, site,
                           iterations, lo->env,  aj_lower_operands(lo, scope, node, 0, node->operand_count)};
    exn = aj_ir_call(lo, "aj_nh_exn_new", lo->t_ptr, AJ_COUNT(args), args, false);
  } else {
    LLVMValueRef args[] = {lo->run, lo->exns, site, iterations, scope->vals[node->operands[0]->slot].v};
    exn = aj_ir_call(lo, "aj_nh_exn_cause", lo->t_ptr, AJ_COUNT(args), args, false);
  }
  aj_lower_land_if(lo, scope, LLVMBuildIsNull(lo->b, exn, ""));
  return exn;
}

static void exn_field(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef exn) {
  const aj_type *type = node->results[1].type;
  bool scalar = type->rank == 0;
  LLVMValueRef out = scalar ? aj_ir_alloca(lo, lo->t_i64, 1, 8) : aj_lower_dest(lo, scope, &node->results[1]);
  LLVMValueRef args[] = {exn, aj_ir_pointer(lo, node), lo->env, out};
  LLVMValueRef present = aj_ir_call(lo, "aj_nh_exn_field", lo->t_i32, AJ_COUNT(args), args, false);
  aj_lv *vals = scope->vals;
  vals[node->results[0].slot].v = LLVMBuildICmp(lo->b, LLVMIntNE, present, aj_ir_i32(lo, 0), "");
  vals[node->results[1].slot] = scalar ? aj_ir_load_element(lo, type->dtype, 1, out) : (aj_lv){.v = out};
}

void aj_lower_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMValueRef value = NULL;
  if (node->op == AJ_OP_EXN_NEW || node->op == AJ_OP_EXN_CAUSE) {
    value = make_exn(lo, scope, node);
  } else {
    LLVMValueRef exn = scope->vals[node->operands[0]->slot].v;
    if (node->op == AJ_OP_EXN_FIELD) {
      exn_field(lo, scope, node, exn);
      return;
    }
    if (node->op == AJ_OP_EXN_SITE) {
      value = aj_ir_call(lo, "aj_nh_exn_site", lo->t_i64, 1, &exn, false);
    } else {
      LLVMValueRef args[] = {lo->run, exn, aj_ir_i64(lo, aj_node_int(node, AJ_ATTR_KIND))};
      LLVMValueRef is = aj_ir_call(lo, "aj_nh_exn_is", lo->t_i32, AJ_COUNT(args), args, false);
      value = LLVMBuildICmp(lo->b, LLVMIntNE, is, aj_ir_i32(lo, 0), "");
    }
  }
  scope->vals[node->results[0].slot] = (aj_lv){.v = value, .nan = AJ_NAN_CANON};
}
