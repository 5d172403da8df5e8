/* Elements of reductions, and the carry tree that combines blocks of them. */
#include "native/lower_reduce.h"

/* 48 levels take 2^48 blocks, more than an address space holds. */
enum { TREE_LEVELS = 48 };

LLVMTypeRef aj_reduction_type(aj_reduction *r, uint32_t i, uint32_t lanes) {
  return aj_ir_type(r->lo, r->dtype[i], lanes);
}

LLVMValueRef aj_reduction_identity(aj_reduction *r, uint32_t i, uint32_t lanes, bool empty) {
  uint64_t start = 0, none = 0;
  aj_reduce_identity(r->k->combine[i], r->dtype[i], &start, &none);
  return aj_ir_splat(r->lo, aj_ir_element(r->lo, r->dtype[i], empty ? &none : &start), lanes);
}

LLVMValueRef aj_reduction_combine(aj_reduction *r, uint32_t i, uint32_t lanes, LLVMValueRef x, LLVMValueRef y) {
  return aj_lower_combine(r->lo, lanes, r->k->combine[i], r->dtype[i], x, y);
}

/* Bools fold as bytes of 0 and 1: vectors of them have an address for each lane. */
LLVMValueRef aj_reduction_yielded(aj_reduction *r, uint32_t i, uint32_t lanes, aj_lv value) {
  if (aj_kernel_dtype(r->k, i) != ARRJIT_BOOL) return value.v;
  return LLVMBuildZExt(r->lo->b, value.v, aj_reduction_type(r, i, lanes), "");
}

/* ---- the carry tree ---- */

static LLVMValueRef level_pointer(aj_reduction *r, uint32_t i, LLVMValueRef level) {
  return LLVMBuildGEP2(r->lo->b, aj_reduction_type(r, i, r->lanes), r->trees[i].levels, &level, 1, "");
}

/* As many levels as the blocks need: `points` reduced ones, at least `block` of them a block; a symbol may be anything.
 */
uint32_t aj_reduction_count_levels(const aj_reduction *r, int64_t block) {
  const aj_kernel *k = r->k;
  int64_t points = 1;
  for (int32_t d = 0; d < k->rank; d++) {
    if (!(k->reduced >> d & 1)) continue;
    if (aj_dim_is_symbol(k->dims[d]) || !aj_i64_mul(points, k->dims[d], &points)) return TREE_LEVELS;
  }
  uint32_t levels = 1;
  while (levels < TREE_LEVELS && (points / block + 1) >> levels > 0) levels++;
  return levels;
}

void aj_reduction_make_tree(aj_reduction *r, uint32_t i, uint32_t levels) {
  r->trees[i].count = aj_ir_alloca(r->lo, r->lo->t_i64, 1, 8);
  r->trees[i].levels = aj_ir_alloca(r->lo, aj_reduction_type(r, i, r->lanes), levels, AJ_NH_ALIGN);
}

/* As a binary counter counts: a block climbs while the level it comes to is full. */
void aj_reduction_push(aj_reduction *r, uint32_t i, LLVMValueRef block) {
  LLVMBuilderRef b = r->lo->b;
  LLVMTypeRef i64 = r->lo->t_i64, type = aj_reduction_type(r, i, r->lanes);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = aj_ir_block(r->lo, "push"),
                    climb = aj_ir_block(r->lo, "climb"), exit = aj_ir_block(r->lo, "pushed");
  LLVMValueRef count = aj_ir_load(r->lo, i64, r->trees[i].count);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, head);
  LLVMValueRef full = aj_ir_phi(r->lo, i64, count, from), level = aj_ir_phi(r->lo, i64, aj_ir_i64(r->lo, 0), from);
  LLVMValueRef value = aj_ir_phi(r->lo, type, block, from);
  LLVMBuildCondBr(b, LLVMBuildTrunc(b, full, r->lo->t_i1, ""), climb, exit);
  aj_ir_at(r->lo, climb);
  LLVMValueRef both = aj_reduction_combine(r, i, r->lanes, aj_ir_load(r->lo, type, level_pointer(r, i, level)), value);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
  aj_ir_add_incoming(full, LLVMBuildLShr(b, full, aj_ir_i64(r->lo, 1), ""), latch);
  aj_ir_add_incoming(level, LLVMBuildAdd(b, level, aj_ir_i64(r->lo, 1), ""), latch);
  aj_ir_add_incoming(value, both, latch);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, exit);
  LLVMBuildStore(r->lo->b, value, level_pointer(r, i, level));
  LLVMBuildStore(r->lo->b, LLVMBuildAdd(b, count, aj_ir_i64(r->lo, 1), ""), r->trees[i].count);
}

/* All blocks, lowest level first, on top of `last` when `have` says so; none: the value of an empty reduction. */
LLVMValueRef aj_reduction_finish_on(aj_reduction *r, uint32_t i, LLVMValueRef have, LLVMValueRef last) {
  LLVMBuilderRef b = r->lo->b;
  LLVMTypeRef i64 = r->lo->t_i64, type = aj_reduction_type(r, i, r->lanes);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = aj_ir_block(r->lo, "finish"),
                    body = aj_ir_block(r->lo, "level"), exit = aj_ir_block(r->lo, "finished");
  LLVMValueRef count = aj_ir_load(r->lo, i64, r->trees[i].count), zero = aj_ir_i64(r->lo, 0), one = aj_ir_i64(r->lo, 1);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, head);
  LLVMValueRef full = aj_ir_phi(r->lo, i64, count, from), level = aj_ir_phi(r->lo, i64, zero, from);
  LLVMValueRef value = aj_ir_phi(r->lo, type, last, from);
  have = aj_ir_phi(r->lo, r->lo->t_i1, have, from);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, full, zero, ""), exit, body);
  aj_ir_at(r->lo, body);
  LLVMBasicBlockRef take = aj_ir_block(r->lo, "take"), next = aj_ir_block(r->lo, "next");
  LLVMBuildCondBr(b, LLVMBuildTrunc(b, full, r->lo->t_i1, ""), take, next);
  aj_ir_at(r->lo, take);
  LLVMValueRef here = aj_ir_load(r->lo, type, level_pointer(r, i, level));
  LLVMValueRef taken = LLVMBuildSelect(b, have, aj_reduction_combine(r, i, r->lanes, here, value), here, "");
  LLVMBasicBlockRef took = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, next);
  aj_ir_at(r->lo, next);
  LLVMValueRef now = aj_ir_phi(r->lo, type, value, body);
  aj_ir_add_incoming(now, taken, took);
  LLVMValueRef had = aj_ir_phi(r->lo, r->lo->t_i1, have, body);
  aj_ir_add_incoming(had, LLVMConstInt(r->lo->t_i1, 1, 0), took);
  aj_ir_add_incoming(full, LLVMBuildLShr(b, full, one, ""), next);
  aj_ir_add_incoming(level, LLVMBuildAdd(b, level, one, ""), next);
  aj_ir_add_incoming(value, now, next);
  aj_ir_add_incoming(have, had, next);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, exit);
  return value;
}

LLVMValueRef aj_reduction_finish(aj_reduction *r, uint32_t i) {
  return aj_reduction_finish_on(r, i, LLVMConstInt(r->lo->t_i1, 0, 0), aj_reduction_identity(r, i, r->lanes, true));
}

void aj_reduction_clear(aj_reduction *r) {
  for (uint32_t i = 0; i < r->k->result_count; i++) LLVMBuildStore(r->lo->b, aj_ir_i64(r->lo, 0), r->trees[i].count);
}
