/* if and switch, and the joining of arms for them and for try. */
#include "native/lower.h"

#include <string.h>

/* ---- merges ---- */

void aj_merge_begin(aj_lower *lo, aj_merge *merge, aj_scope *scope, const aj_node *node, uint32_t arms) {
  *merge = (aj_merge){.scope = scope, .node = node, .block = aj_ir_block(lo, "join"), .capacity = arms};
  merge->from = AJ_NEW_ARRAY(lo->arena, arms, LLVMBasicBlockRef);
  merge->values = AJ_NEW_ARRAY(lo->arena, (size_t)arms * node->result_count, aj_lv);
}

void aj_merge_add(aj_lower *lo, aj_merge *merge, aj_scope *arm, const aj_node *yield) {
  if (lo->arena->failed) return;
  aj_lv *row = merge->values + (size_t)merge->count * merge->node->result_count;
  for (uint32_t i = 0; i < merge->node->result_count; i++) {
    const aj_value *value = yield->operands[i];
    row[i] = arm->vals[value->slot];
    if (!value->type->is_exn && value->type->rank > 0) aj_lower_yield_array(lo, arm, value, i);
  }
  merge->from[merge->count++] = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, merge->block);
}

/* The NaN state of a joined value: bits that some arm must keep make every raw one canonical at its end. */
static aj_nan join_nan(uint32_t count, const aj_lv *values, uint32_t stride) {
  aj_nan nan = AJ_NAN_CANON;
  for (uint32_t arm = 0; arm < count; arm++) {
    aj_nan of = values[(size_t)arm * stride].nan;
    if (of == AJ_NAN_KEEP) return AJ_NAN_KEEP;
    if (of == AJ_NAN_RAW) nan = AJ_NAN_RAW;
  }
  return nan;
}

aj_lv aj_merge_join(aj_lower *lo, const aj_type *type, uint32_t count, const LLVMBasicBlockRef *from,
                    const aj_lv *values, uint32_t stride) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(lo->b);
  aj_nan nan = join_nan(count, values, stride);
  LLVMValueRef phi = LLVMBuildPhi(lo->b, type->is_exn ? lo->t_ptr : aj_ir_type(lo, type->dtype, 1), "");
  for (uint32_t arm = 0; arm < count; arm++) {
    aj_lv lv = values[(size_t)arm * stride];
    if (nan == AJ_NAN_KEEP && lv.nan == AJ_NAN_RAW) {
      LLVMPositionBuilderBefore(lo->b, LLVMGetBasicBlockTerminator(from[arm]));
      lv.v = aj_ir_canonical(lo, type->dtype, 1, lv);
    }
    aj_ir_add_incoming(phi, lv.v, from[arm]);
  }
  aj_ir_at(lo, block);
  return (aj_lv){.v = phi, .nan = nan};
}

/* When no arm ends normally, what follows is unreachable, but it is there and needs values. */
static void join_nothing(aj_lower *lo, aj_merge *merge) {
  for (uint32_t i = 0; i < merge->node->result_count; i++) {
    const aj_value *result = &merge->node->results[i];
    bool scalar = aj_type_is_scalar(result->type);
    LLVMTypeRef type = scalar ? aj_ir_type(lo, result->type->dtype, 1) : lo->t_ptr;
    merge->scope->vals[result->slot] = (aj_lv){.v = LLVMConstNull(type), .nan = AJ_NAN_CANON};
  }
}

void aj_merge_end(aj_lower *lo, aj_merge *merge) {
  aj_ir_at(lo, merge->block);
  if (merge->count == 0 || lo->arena->failed) {
    join_nothing(lo, merge);
    return;
  }
  for (uint32_t i = 0; i < merge->node->result_count; i++) {
    const aj_value *result = &merge->node->results[i];
    if (result->type->is_exn || result->type->rank == 0)
      merge->scope->vals[result->slot] =
          aj_merge_join(lo, result->type, merge->count, merge->from, &merge->values[i], merge->node->result_count);
  }
  for (uint32_t i = 0; i < merge->node->result_count; i++) {
    const aj_value *result = &merge->node->results[i];
    if (!result->type->is_exn && result->type->rank > 0)
      merge->scope->vals[result->slot] = (aj_lv){.v = aj_lower_dest(lo, merge->scope, result)};
  }
}

/* ---- if and switch ---- */

static void lower_arm(aj_lower *lo, aj_scope *scope, const aj_node *node, uint32_t index, aj_merge *merge) {
  aj_scope arm = aj_lower_scope(lo, scope, node, index);
  if (lo->arena->failed) return;
  for (uint32_t i = 0; i < arm.region->param_count; i++)
    arm.vals[arm.region->params[i]->slot] = scope->vals[node->operands[1 + i]->slot];
  const aj_node *yield = aj_lower_region(lo, &arm);
  if (yield) aj_merge_add(lo, merge, &arm, yield);
}

/* Cases by number, the last also for all others: negative numbers are above every case when read as unsigned. */
static void branch_to_cases(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMBasicBlockRef *blocks) {
  LLVMValueRef index = scope->vals[node->operands[0]->slot].v;
  uint32_t last = node->region_count - 1;
  if (LLVMTypeOf(index) == lo->t_i1) index = LLVMBuildZExt(lo->b, index, lo->t_i32, "");
  LLVMValueRef branch = LLVMBuildSwitch(lo->b, index, blocks[last], last);
  for (uint32_t i = 0; i < last; i++) LLVMAddCase(branch, LLVMConstInt(LLVMTypeOf(index), i, 0), blocks[i]);
}

void aj_lower_if(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_merge merge;
  aj_merge_begin(lo, &merge, scope, node, node->region_count);
  LLVMBasicBlockRef *blocks = AJ_NEW_ARRAY(lo->arena, node->region_count, LLVMBasicBlockRef);
  if (!blocks) return;
  for (uint32_t i = 0; i < node->region_count; i++) blocks[i] = aj_ir_block(lo, "arm");
  if (node->op == AJ_OP_IF)
    LLVMBuildCondBr(lo->b, scope->vals[node->operands[0]->slot].v, blocks[0], blocks[1]);
  else
    branch_to_cases(lo, scope, node, blocks);
  for (uint32_t i = 0; i < node->region_count && !lo->arena->failed; i++) {
    aj_ir_at(lo, blocks[i]);
    lower_arm(lo, scope, node, i, &merge);
  }
  aj_merge_end(lo, &merge);
}
