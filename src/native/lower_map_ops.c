/* Maps on vectors of lanes: nodes without regions, failures, masks. */
#include "native/lower_map.h"

/* ---- values and masks ---- */

static bool has_mask_registers(const aj_lanes *m) { return m->mask == aj_ir_int_type(m->lo, 1, m->lanes); }

LLVMValueRef aj_lanes_mask(aj_lanes *m, LLVMValueRef bits) {
  return has_mask_registers(m) ? bits : LLVMBuildSExt(m->lo->b, bits, m->mask, "");
}

LLVMValueRef aj_lanes_bits(aj_lanes *m, LLVMValueRef mask) {
  if (has_mask_registers(m)) return mask;
  return LLVMBuildICmp(m->lo->b, LLVMIntSLT, mask, LLVMConstNull(m->mask), "");
}

LLVMValueRef aj_lanes_none(aj_lanes *m) { return LLVMConstNull(m->mask); }

LLVMValueRef aj_lanes_without(aj_lanes *m, LLVMValueRef mask, LLVMValueRef gone) {
  return LLVMBuildAnd(m->lo->b, mask, LLVMBuildNot(m->lo->b, gone, ""), "");
}

LLVMValueRef aj_lanes_any(aj_lanes *m, LLVMValueRef mask) {
  if (has_mask_registers(m)) return aj_kernel_any(m->lo, mask, m->lanes);
  LLVMValueRef all = aj_ir_intrinsic(m->lo, "llvm.vector.reduce.or", m->mask, 1, &mask);
  return LLVMBuildICmp(m->lo->b, LLVMIntNE, all, LLVMConstNull(LLVMTypeOf(all)), "");
}

aj_lane_value aj_lanes_spread(aj_lanes *m, arrjit_dtype dtype, aj_lv one) {
  LLVMValueRef v = one.v;
  if (dtype == ARRJIT_BOOL && !has_mask_registers(m)) v = LLVMBuildSExt(m->lo->b, v, LLVMGetElementType(m->mask), "");
  return (aj_lane_value){.v = aj_ir_splat(m->lo, v, m->lanes), .one = one.v, .nan = one.nan};
}

aj_lane_value aj_lanes_zero(aj_lanes *m, const aj_type *type) {
  if (type->is_exn) return (aj_lane_value){0};
  LLVMTypeRef of = type->dtype == ARRJIT_BOOL ? m->mask : aj_ir_type(m->lo, type->dtype, m->lanes);
  return (aj_lane_value){.v = LLVMConstNull(of), .nan = AJ_NAN_CANON};
}

aj_lv aj_lanes_plain(aj_lanes *m, arrjit_dtype dtype, aj_lane_value value) {
  return (aj_lv){.v = dtype == ARRJIT_BOOL ? aj_lanes_bits(m, value.v) : value.v, .nan = value.nan};
}

/* The NaN state of what comes together: bits that one must keep make raw ones of the other canonical first. */
aj_lane_value aj_lanes_blend(aj_lanes *m, const aj_type *type, LLVMValueRef mask, aj_lane_value a, aj_lane_value b) {
  if (type->is_exn || !b.v) return a;
  if (!a.v) return b;
  bool keep = a.nan == AJ_NAN_KEEP || b.nan == AJ_NAN_KEEP;
  aj_nan nan = keep ? AJ_NAN_KEEP : a.nan == AJ_NAN_RAW || b.nan == AJ_NAN_RAW ? AJ_NAN_RAW : AJ_NAN_CANON;
  LLVMValueRef x = a.v, y = b.v;
  if (keep) {
    x = aj_ir_canonical(m->lo, type->dtype, m->lanes, (aj_lv){.v = x, .nan = a.nan});
    y = aj_ir_canonical(m->lo, type->dtype, m->lanes, (aj_lv){.v = y, .nan = b.nan});
  }
  return (aj_lane_value){.v = LLVMBuildSelect(m->lo->b, aj_lanes_bits(m, mask), x, y, ""), .nan = nan};
}

/* ---- failures ---- */

void aj_lanes_give_up(aj_lanes *m, LLVMValueRef mask) {
  LLVMBasicBlockRef go = aj_ir_block(m->lo, "go");
  LLVMBuildCondBr(m->lo->b, aj_lanes_any(m, mask), m->give_up, go);
  aj_ir_at(m->lo, go);
}

/* The handler that takes the kind, when lanes can go there under a mask. NULL: the vector has to be given up. */
static LLVMValueRef find_handler(aj_lanes *m, const aj_lane_scope *s, arrjit_kind kind) {
  for (const aj_lane_try *t = s->inside; t; t = t->outer) {
    const aj_attr *kinds = aj_node_attr(t->node, AJ_ATTR_KINDS);
    for (uint32_t i = 0; t->caught && i < kinds->count; i++) {
      if (!aj_kinds_catches(m->lo->module->kinds, (arrjit_kind)kinds->u.ints[i], kind)) continue;
      t->used[i] = true;
      return t->caught[i];
    }
    if (aj_node_int(t->node, AJ_ATTR_FINALLY)) return NULL; /* it runs on the way out */
  }
  return NULL;
}

void aj_lanes_raise(aj_lanes *m, aj_lane_scope *s, arrjit_kind kind, LLVMValueRef mask) {
  LLVMBuilderRef b = m->lo->b;
  LLVMValueRef caught = find_handler(m, s, kind);
  if (!caught) {
    aj_lanes_give_up(m, mask);
    return;
  }
  LLVMBuildStore(b, LLVMBuildOr(b, aj_ir_load(m->lo, m->mask, caught), mask, ""), caught);
  s->active = aj_lanes_without(m, s->active, mask);
  m->leaves++;
}

static void fail_lanes(aj_lanes *m, aj_lane_scope *s, arrjit_kind kind, LLVMValueRef fail) {
  aj_lanes_raise(m, s, kind, LLVMBuildAnd(m->lo->b, s->active, fail, ""));
}

/* ---- nodes ---- */

static bool is_logic(const aj_node *node) {
  bool named = node->op == AJ_OP_AND || node->op == AJ_OP_OR || node->op == AJ_OP_XOR || node->op == AJ_OP_NOT;
  return named && node->results[0].type->dtype == ARRJIT_BOOL;
}

/* Bools stay masks. Otherwise as in any vector. */
static aj_lane_value lower_wide(aj_lanes *m, aj_lane_scope *s, const aj_node *node, LLVMValueRef *out_fail) {
  aj_lv in[3] = {{0}};
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const aj_value *operand = node->operands[i];
    aj_lane_value value = s->vals[operand->slot];
    in[i] = is_logic(node) ? (aj_lv){.v = value.v} : aj_lanes_plain(m, operand->type->dtype, value);
  }
  aj_lv out = aj_lower_scalar(m->lo, m->lanes, node, in, out_fail);
  bool made_bits = node->results[0].type->dtype == ARRJIT_BOOL && !is_logic(node);
  return (aj_lane_value){.v = made_bits ? aj_lanes_mask(m, out.v) : out.v, .nan = out.nan};
}

/* What is the same in all lanes is computed once. */
static void lower_op(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lv in[3] = {{0}};
  bool same = true;
  LLVMValueRef fail = NULL;
  arrjit_dtype dtype = node->results[0].type->dtype;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const aj_lane_value *value = &s->vals[node->operands[i]->slot];
    in[i] = (aj_lv){.v = value->one, .nan = value->nan};
    same = same && value->one;
  }
  aj_lane_value *out = &s->vals[node->results[0].slot];
  *out = same ? aj_lanes_spread(m, dtype, aj_lower_scalar(m->lo, 1, node, in, &fail)) : lower_wide(m, s, node, &fail);
  if (fail) fail_lanes(m, s, ARRJIT_KIND_ARITH, aj_lanes_mask(m, same ? aj_ir_splat(m->lo, fail, m->lanes) : fail));
}

static void lower_check(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  LLVMValueRef good = s->vals[node->operands[0]->slot].v;
  uint32_t first = node->operand_count - node->result_count;
  for (uint32_t i = 0; i < node->result_count; i++)
    s->vals[node->results[i].slot] = s->vals[node->operands[first + i]->slot];
  fail_lanes(m, s, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND), LLVMBuildNot(m->lo->b, good, ""));
}

/* Exceptions as values, and functions that were not expanded, are for lanes one by one. */
static void lower_foreign(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lanes_give_up(m, s->active);
  for (uint32_t i = 0; i < node->result_count; i++)
    s->vals[node->results[i].slot] = aj_lanes_zero(m, node->results[i].type);
}

static void lower_node(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lane_value *out = node->result_count ? &s->vals[node->results[0].slot] : NULL;
  if (node->op == AJ_OP_CONST) {
    *out = aj_lanes_spread(m, node->results[0].type->dtype, aj_kernel_const(m->lo, node));
  } else if (node->op == AJ_OP_LANE_INDEX) {
    aj_lv index = aj_kernel_lane_index(m->k, m->points, (int32_t)aj_node_int(node, AJ_ATTR_AXIS));
    *out = (aj_lane_value){.v = index.v, .nan = AJ_NAN_CANON};
  } else if (aj_ops[node->op].lowering == AJ_LOWER_SCALAR) {
    lower_op(m, s, node);
  } else if (node->op == AJ_OP_IF || node->op == AJ_OP_SWITCH) {
    aj_lanes_if(m, s, node);
  } else if (node->op == AJ_OP_WHILE) {
    aj_lanes_while(m, s, node);
  } else if (node->op == AJ_OP_FOR) {
    aj_lanes_for(m, s, node);
  } else if (node->op == AJ_OP_TRY) {
    aj_lanes_try(m, s, node);
  } else if (node->op == AJ_OP_CHECK) {
    lower_check(m, s, node);
  } else {
    lower_foreign(m, s, node);
  }
}

const aj_node *aj_lanes_region(aj_lanes *m, aj_lane_scope *s) {
  for (uint32_t pc = 0; pc < s->region->node_count && !m->lo->arena->failed; pc++) {
    const aj_node *node = s->region->nodes[pc];
    if (node->op == AJ_OP_YIELD) return node;
    if (node->op == AJ_OP_RAISE) {
      aj_lanes_raise(m, s, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND), s->active);
    } else if (node->op == AJ_OP_RAISE_EXN) {
      aj_lanes_give_up(m, s->active);
    } else {
      lower_node(m, s, node);
    }
  }
  s->active = aj_lanes_none(m);
  return NULL;
}
