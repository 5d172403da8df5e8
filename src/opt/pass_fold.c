/* fold: pure scalar ops of constants become constants, by the interpreter's own loops; what does nothing goes; an if or
 * switch on a constant becomes its arm.
 *
 *   before   %1 = const 2, %2 = const 3       after    %3 = const 5 : i32
 *            %3 = add %1, %2 : i32
 *
 * Requires: ops expanded, else functions of constants stay. Preserves: effects and their order; the origin of every
 * node that may fail. Must never fold arrays (compile time would follow their size) nor rewrite floats unless the bits
 * are the same: the only float identities here are moves. */
#include <string.h>

#include "opt/regions.h"

enum { MOST_OPERANDS = 4 };

/* ---- constants ---- */

/* The op on scalar constants, when all operands are. NULL: it is none of that; *failed: no memory or a builder error.
 */
static aj_value *fold_scalar(aj_builder *b, const aj_node *node, bool *failed) {
  const aj_op_info *info = &aj_ops[node->op];
  if (info->routine != AJ_ROUTINE_SCALAR || (info->flags & AJ_F_RAISES) || node->operand_count > MOST_OPERANDS ||
      node->operand_count == 0 || node->results[0].type->rank != 0)
    return NULL;
  const void *in[MOST_OPERANDS];
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!aj_value_const(node->operands[i], &in[i])) return NULL;
  arrjit_dtype out_type = node->results[0].type->dtype;
  const aj_value *typed = node->operands[node->op == AJ_OP_SELECT ? 1 : 0];
  aj_loop *loop = aj_sem_loop(node->op, typed->type->dtype, out_type);
  if (!loop) return NULL;
  uint64_t out[2] = {0, 0};
  loop(1, out, in);
  aj_value *value = aj_build_scalar(b, out_type, out);
  *failed = !value;
  return value;
}

/* ---- ops that give an operand back ---- */

static bool axes_are_identity(const aj_attr *axes) {
  for (uint32_t i = 0; i < axes->count; i++)
    if (axes->u.ints[i] != (int64_t)i) return false;
  return true;
}

static aj_value *fold_identity(const aj_node *node) {
  if (node->operand_count == 0) return NULL;
  aj_value *x = node->operands[0];
  const void *pred;
  switch ((int)node->op) {
  case AJ_OP_CONVERT: /* of floats it makes NaNs canonical */
    if (aj_dtypes[x->type->dtype].cls == AJ_CLASS_FLOAT) return NULL;
    return aj_type_equal(x->type, node->results[0].type) ? x : NULL;
  case AJ_OP_BITCAST:
  case AJ_OP_RESHAPE:
  case AJ_OP_BROADCAST:
    if (!aj_type_equal(x->type, node->results[0].type)) return NULL;
    return node->op == AJ_OP_BROADCAST && !axes_are_identity(aj_node_attr(node, AJ_ATTR_AXES)) ? NULL : x;
  case AJ_OP_TRANSPOSE: return axes_are_identity(aj_node_attr(node, AJ_ATTR_AXES)) ? x : NULL;
  case AJ_OP_SELECT:
    if (node->operands[1] == node->operands[2]) return node->operands[1];
    if (!aj_value_const(x, &pred) || !aj_type_is_scalar(x->type)) return NULL;
    return node->operands[*(const uint8_t *)pred ? 1 : 2];
  default: return NULL;
  }
}

/* A check that a constant passes gives its values and is gone. */
static bool fold_check(aj_node *node) {
  const void *pred;
  if (node->op != AJ_OP_CHECK || !aj_value_const(node->operands[0], &pred) || !*(const uint8_t *)pred) return false;
  uint32_t first = node->operand_count - node->result_count;
  for (uint32_t i = 0; i < node->result_count; i++) node->results[i].forward = node->operands[first + i];
  return true;
}

/* ---- arms ---- */

/* The region that runs when the selector of an if or switch is a constant; NULL: it is not. */
static aj_region *chosen_arm(const aj_node *node) {
  const void *selector;
  if ((node->op != AJ_OP_IF && node->op != AJ_OP_SWITCH) || !aj_value_const(node->operands[0], &selector)) return NULL;
  if (node->op == AJ_OP_IF) return node->regions[*(const uint8_t *)selector ? 0 : 1];
  arrjit_dtype dtype = node->operands[0]->type->dtype;
  uint64_t index = 0;
  memcpy(&index, selector, aj_dtypes[dtype].bytes);
  uint32_t shift = 64u - aj_dtypes[dtype].bits;
  if (aj_dtypes[dtype].cls == AJ_CLASS_INT) index = (uint64_t)((int64_t)(index << shift) >> shift);
  return node->regions[index < node->region_count ? index : node->region_count - 1];
}

static arrjit_status fold_region(aj_builder *b, aj_region *region, bool *changed) {
  aj_taken taken = aj_region_take(region);
  bool ended = false;
  for (uint32_t i = 0; i < taken.count && !ended; i++) {
    aj_node *node = taken.nodes[i];
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    aj_region *arm = chosen_arm(node);
    if (arm) {
      *changed = true;
      if (!aj_region_splice(region, node, arm, &ended)) return ARRJIT_MEMORY;
      continue;
    }
    bool failed = false;
    aj_value *value = fold_identity(node);
    if (!value && node->result_count == 1) {
      aj_builder_at(b, region, node);
      value = fold_scalar(b, node, &failed);
      if (failed) return aj_builder_ok(b) ? ARRJIT_MEMORY : ARRJIT_INTERNAL;
    }
    if (value) node->results[0].forward = value;
    if (value || fold_check(node)) {
      *changed = true;
      continue;
    }
    if (!aj_region_append(region, node)) return ARRJIT_MEMORY;
  }
  return ARRJIT_OK;
}

arrjit_status aj_pass_fold(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  aj_builder b;
  aj_builder_init(&b, ctx->module);
  arrjit_status status = aj_regions_list(ctx->mem, func, &regions) ? ARRJIT_OK : ARRJIT_MEMORY;
  /* inner regions first: an arm is folded before it is spliced */
  for (size_t i = regions.count; i-- > 0 && status == ARRJIT_OK;)
    status = fold_region(&b, regions.data[i], out_changed);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (status == ARRJIT_INTERNAL) return aj_builder_status(&b, ctx->error);
  if (status == ARRJIT_MEMORY) return aj_error_memory(ctx->error, "fold");
  if (*out_changed) aj_func_resolve(func);
  return ARRJIT_OK;
}
