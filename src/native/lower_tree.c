/* Elements of reductions, and the carry tree that combines blocks of them. */
#include "native/lower_reduce.h"

/* 48 levels take 2^48 blocks, more than an address space holds. */
enum { TREE_LEVELS = 48 };

LLVMTypeRef aj_reduction_type(aj_reduction *r, uint32_t i, uint32_t lanes) {
  return aj_ir_type(r->lo, r->dtype[i], lanes);
}

LLVMValueRef aj_reduction_identity(aj_reduction *r, uint32_t i, uint32_t lanes, bool empty) {
  if (aj_reduction_starts_empty(r)) return LLVMConstNull(aj_reduction_type(r, i, lanes));
  uint64_t start = 0, none = 0;
  aj_reduce_identity(r->k->combine[i], r->dtype[i], &start, &none);
  return aj_ir_splat(r->lo, aj_ir_element(r->lo, r->dtype[i], empty ? &none : &start), lanes);
}

void aj_reduction_combine(aj_reduction *r, uint32_t lanes, const LLVMValueRef *x, const LLVMValueRef *y,
                          LLVMValueRef *out) {
  if (r->k->combiner) {
    aj_combiner_lower(r, lanes, x, y, out);
    return;
  }
  for (uint32_t i = 0; i < r->k->result_count; i++)
    out[i] = aj_lower_combine(r->lo, lanes, r->k->combine[i], r->dtype[i], x[i], y[i]);
}

/* A combiner is pure and takes any bits: what it makes of accumulators that hold nothing yet is not used. */
void aj_reduction_step(aj_reduction *r, uint32_t lanes, LLVMValueRef first, const LLVMValueRef *x,
                       const LLVMValueRef *y, LLVMValueRef *out) {
  aj_reduction_combine(r, lanes, x, y, out);
  for (uint32_t i = 0; aj_reduction_starts_empty(r) && i < r->k->result_count; i++)
    out[i] = LLVMBuildSelect(r->lo->b, first, y[i], out[i], "");
}

/* Bools fold as bytes of 0 and 1: vectors of them have an address for each lane. */
LLVMValueRef aj_reduction_yielded(aj_reduction *r, uint32_t i, uint32_t lanes, aj_lv value) {
  if (aj_kernel_dtype(r->k, i) != ARRJIT_BOOL) return value.v;
  return LLVMBuildZExt(r->lo->b, value.v, aj_reduction_type(r, i, lanes), "");
}

/* ---- the carry tree ---- */

static LLVMValueRef level_pointer(aj_reduction *r, uint32_t i, LLVMValueRef level) {
  return LLVMBuildGEP2(r->lo->b, aj_reduction_type(r, i, r->lanes), r->levels[i], &level, 1, "");
}

static void load_level(aj_reduction *r, LLVMValueRef level, LLVMValueRef *out) {
  for (uint32_t i = 0; i < r->k->result_count; i++)
    out[i] = aj_ir_load(r->lo, aj_reduction_type(r, i, r->lanes), level_pointer(r, i, level));
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

void aj_reduction_make_tree(aj_reduction *r, uint32_t levels) {
  r->pushed = aj_ir_alloca(r->lo, r->lo->t_i64, 1, 8);
  for (uint32_t i = 0; i < r->k->result_count; i++)
    r->levels[i] = aj_ir_alloca(r->lo, aj_reduction_type(r, i, r->lanes), levels, AJ_NH_ALIGN);
}

void aj_reduction_clear(aj_reduction *r) { LLVMBuildStore(r->lo->b, aj_ir_i64(r->lo, 0), r->pushed); }

/* One phi a result, all in the builder's block. */
static void start_values(aj_reduction *r, const LLVMValueRef *from, LLVMBasicBlockRef block, LLVMValueRef *out) {
  for (uint32_t i = 0; i < r->k->result_count; i++)
    out[i] = aj_ir_phi(r->lo, aj_reduction_type(r, i, r->lanes), from[i], block);
}

static void add_values(aj_reduction *r, LLVMValueRef *phis, const LLVMValueRef *from, LLVMBasicBlockRef block) {
  for (uint32_t i = 0; i < r->k->result_count; i++) aj_ir_add_incoming(phis[i], from[i], block);
}

/* As a binary counter counts: a block climbs while the level it comes to is full. */
void aj_reduction_push(aj_reduction *r, const LLVMValueRef *block) {
  LLVMBuilderRef b = r->lo->b;
  LLVMTypeRef i64 = r->lo->t_i64;
  LLVMValueRef values[AJ_KERNEL_RESULTS], here[AJ_KERNEL_RESULTS], both[AJ_KERNEL_RESULTS];
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = aj_ir_block(r->lo, "push"),
                    climb = aj_ir_block(r->lo, "climb"), exit = aj_ir_block(r->lo, "pushed");
  LLVMValueRef count = aj_ir_load(r->lo, i64, r->pushed);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, head);
  LLVMValueRef full = aj_ir_phi(r->lo, i64, count, from), level = aj_ir_phi(r->lo, i64, aj_ir_i64(r->lo, 0), from);
  start_values(r, block, from, values);
  LLVMBuildCondBr(b, LLVMBuildTrunc(b, full, r->lo->t_i1, ""), climb, exit);
  aj_ir_at(r->lo, climb);
  load_level(r, level, here);
  aj_reduction_combine(r, r->lanes, here, values, both);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
  aj_ir_add_incoming(full, LLVMBuildLShr(b, full, aj_ir_i64(r->lo, 1), ""), latch);
  aj_ir_add_incoming(level, LLVMBuildAdd(b, level, aj_ir_i64(r->lo, 1), ""), latch);
  add_values(r, values, both, latch);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, exit);
  for (uint32_t i = 0; i < r->k->result_count; i++) LLVMBuildStore(b, values[i], level_pointer(r, i, level));
  LLVMBuildStore(b, LLVMBuildAdd(b, count, aj_ir_i64(r->lo, 1), ""), r->pushed);
}

LLVMValueRef aj_reduction_finish_on(aj_reduction *r, LLVMValueRef have, const LLVMValueRef *last, LLVMValueRef *out) {
  LLVMBuilderRef b = r->lo->b;
  LLVMTypeRef i64 = r->lo->t_i64;
  LLVMValueRef here[AJ_KERNEL_RESULTS], taken[AJ_KERNEL_RESULTS], now[AJ_KERNEL_RESULTS];
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = aj_ir_block(r->lo, "finish"),
                    body = aj_ir_block(r->lo, "level"), exit = aj_ir_block(r->lo, "finished");
  LLVMValueRef count = aj_ir_load(r->lo, i64, r->pushed), zero = aj_ir_i64(r->lo, 0), one = aj_ir_i64(r->lo, 1);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, head);
  LLVMValueRef full = aj_ir_phi(r->lo, i64, count, from), level = aj_ir_phi(r->lo, i64, zero, from);
  start_values(r, last, from, out);
  have = aj_ir_phi(r->lo, r->lo->t_i1, have, from);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, full, zero, ""), exit, body);
  aj_ir_at(r->lo, body);
  LLVMBasicBlockRef take = aj_ir_block(r->lo, "take"), next = aj_ir_block(r->lo, "next");
  LLVMBuildCondBr(b, LLVMBuildTrunc(b, full, r->lo->t_i1, ""), take, next);
  aj_ir_at(r->lo, take);
  load_level(r, level, here);
  aj_reduction_combine(r, r->lanes, here, out, taken);
  for (uint32_t i = 0; i < r->k->result_count; i++) taken[i] = LLVMBuildSelect(b, have, taken[i], here[i], "");
  LLVMBasicBlockRef took = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, next);
  aj_ir_at(r->lo, next);
  start_values(r, out, body, now);
  add_values(r, now, taken, took);
  LLVMValueRef had = aj_ir_phi(r->lo, r->lo->t_i1, have, body);
  aj_ir_add_incoming(had, LLVMConstInt(r->lo->t_i1, 1, 0), took);
  aj_ir_add_incoming(full, LLVMBuildLShr(b, full, one, ""), next);
  aj_ir_add_incoming(level, LLVMBuildAdd(b, level, one, ""), next);
  add_values(r, out, now, next);
  aj_ir_add_incoming(have, had, next);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, exit);
  return have;
}

/* None: the value of an empty reduction. */
LLVMValueRef aj_reduction_finish(aj_reduction *r, LLVMValueRef *out) {
  LLVMValueRef none[AJ_KERNEL_RESULTS];
  for (uint32_t i = 0; i < r->k->result_count; i++) none[i] = aj_reduction_identity(r, i, r->lanes, true);
  return aj_reduction_finish_on(r, LLVMConstInt(r->lo->t_i1, 0, 0), none, out);
}
