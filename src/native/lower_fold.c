/* Blocks of LANES x AJ_REDUCE_STEPS elements of the innermost group: each lane a chain, the lanes folded by halves. */
#include "native/lower_reduce.h"

enum { MOST_LANES = 64 };

static LLVMValueRef chunk_pointer(aj_reduction *r, const aj_block_fold *f, uint32_t i, LLVMValueRef lane) {
  return LLVMBuildGEP2(r->lo->b, aj_reduction_type(r, i, 1), f->buffer[i], &lane, 1, "");
}

static LLVMValueRef load_chunk(aj_reduction *r, const aj_block_fold *f, uint32_t i, LLVMValueRef lane) {
  LLVMValueRef v = aj_ir_load(r->lo, aj_reduction_type(r, i, f->width), chunk_pointer(r, f, i, lane));
  LLVMSetAlignment(v, aj_ir_align(r->dtype[i]));
  return v;
}

static void store_chunk(aj_reduction *r, const aj_block_fold *f, uint32_t i, LLVMValueRef lane, LLVMValueRef value) {
  LLVMValueRef s = LLVMBuildStore(r->lo->b, value, chunk_pointer(r, f, i, lane));
  LLVMSetAlignment(s, aj_ir_align(r->dtype[i]));
}

static void load_chunks(aj_reduction *r, const aj_block_fold *f, LLVMValueRef lane, LLVMValueRef *out) {
  for (uint32_t i = 0; i < r->k->result_count; i++) out[i] = load_chunk(r, f, i, lane);
}

/* next = old + points; in the first row the points alone, where there is no identity to start from. */
static void step_points(aj_reduction *r, const aj_points *p, uint32_t width, LLVMValueRef first,
                        const LLVMValueRef *old, LLVMValueRef *next) {
  aj_lv values[AJ_KERNEL_RESULTS];
  LLVMValueRef points[AJ_KERNEL_RESULTS];
  aj_kernel_eval(r->k, p, p->at, values);
  if (r->lo->arena->failed) return;
  for (uint32_t i = 0; i < r->k->result_count; i++) points[i] = aj_reduction_yielded(r, i, width, values[i]);
  aj_reduction_step(r, width, first, old, points, next);
  for (uint32_t i = 0; p->mask && i < r->k->result_count; i++)
    next[i] = LLVMBuildSelect(r->lo->b, p->mask, next[i], old[i], "");
}

/* The same in the allocas of a chunk. */
static void step_chunk(aj_reduction *r, LLVMValueRef *acc, const aj_points *p, uint32_t width, LLVMValueRef first) {
  LLVMValueRef old[AJ_KERNEL_RESULTS], next[AJ_KERNEL_RESULTS];
  for (uint32_t i = 0; i < r->k->result_count; i++) old[i] = aj_ir_load(r->lo, aj_reduction_type(r, i, width), acc[i]);
  step_points(r, p, width, first, old, next);
  for (uint32_t i = 0; i < r->k->result_count && !r->lo->arena->failed; i++) LLVMBuildStore(r->lo->b, next[i], acc[i]);
}

/* All rows of the chunks [first, first + count) of a block; accumulators start from the identity. */
static void fold_rows(aj_reduction *r, const aj_block_fold *f, LLVMValueRef at, LLVMValueRef rows, LLVMValueRef first,
                      uint32_t count) {
  aj_lower *lo = r->lo;
  LLVMValueRef acc[MOST_LANES][AJ_KERNEL_RESULTS];
  for (uint32_t c = 0; c < count; c++)
    for (uint32_t i = 0; i < r->k->result_count; i++) {
      acc[c][i] = aj_ir_alloca(lo, aj_reduction_type(r, i, f->width), 1, 0);
      LLVMBuildStore(r->lo->b, aj_reduction_identity(r, i, f->width, false), acc[c][i]);
    }
  aj_ir_loop loop = aj_ir_loop_begin(lo, rows);
  LLVMValueRef begins = LLVMBuildICmp(lo->b, LLVMIntEQ, loop.index, aj_ir_i64(lo, 0), "");
  LLVMValueRef row = LLVMBuildAdd(lo->b, at, LLVMBuildMul(lo->b, loop.index, aj_ir_i64(lo, f->lanes), ""), "");
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef lane = LLVMBuildAdd(lo->b, first, aj_ir_i64(lo, c * f->width), "");
    aj_points p = aj_kernel_points(r->k, f->width, LLVMBuildAdd(lo->b, row, lane, ""), NULL);
    step_chunk(r, acc[c], &p, f->width, begins);
  }
  aj_ir_loop_end(lo, &loop);
  for (uint32_t c = 0; c < count; c++)
    for (uint32_t i = 0; i < r->k->result_count; i++)
      store_chunk(r, f, i, LLVMBuildAdd(lo->b, first, aj_ir_i64(lo, c * f->width), ""),
                  aj_ir_load(r->lo, aj_reduction_type(r, i, f->width), acc[c][i]));
}

/* The last row, which has `rest` elements, after `rows` whole ones. */
static void fold_rest(aj_reduction *r, const aj_block_fold *f, LLVMValueRef at, LLVMValueRef rest, LLVMValueRef rows) {
  aj_lower *lo = r->lo;
  LLVMValueRef width = aj_ir_i64(lo, f->width), old[AJ_KERNEL_RESULTS], next[AJ_KERNEL_RESULTS];
  LLVMValueRef count = LLVMBuildSDiv(lo->b, LLVMBuildAdd(lo->b, rest, aj_ir_i64(lo, f->width - 1), ""), width, "");
  LLVMValueRef first = LLVMBuildICmp(lo->b, LLVMIntEQ, rows, aj_ir_i64(lo, 0), "");
  aj_ir_loop loop = aj_ir_loop_begin(lo, count);
  LLVMValueRef lane = LLVMBuildMul(lo->b, loop.index, width, "");
  aj_points p =
      aj_kernel_points(r->k, f->width, LLVMBuildAdd(lo->b, at, lane, ""), LLVMBuildSub(lo->b, rest, lane, ""));
  load_chunks(r, f, lane, old);
  step_points(r, &p, f->width, first, old, next);
  for (uint32_t i = 0; i < r->k->result_count && !lo->arena->failed; i++) store_chunk(r, f, i, lane, next[i]);
  aj_ir_loop_end(lo, &loop);
}

/* Half of a vector. */
static LLVMValueRef half_of(aj_reduction *r, LLVMValueRef v, uint32_t lanes, bool high) {
  LLVMValueRef mask[MOST_LANES];
  for (uint32_t i = 0; i < lanes / 2; i++) mask[i] = aj_ir_i32(r->lo, (int32_t)(i + (high ? lanes / 2 : 0)));
  if (lanes == 2) return LLVMBuildExtractElement(r->lo->b, v, mask[0], "");
  return LLVMBuildShuffleVector(r->lo->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, lanes / 2), "");
}

/* low + high, lane by lane; without an identity only where lane + half is one of the m lanes that got an element. */
static void join_halves(aj_reduction *r, uint32_t lanes, uint32_t first, uint32_t half, LLVMValueRef m,
                        LLVMValueRef *low, const LLVMValueRef *high) {
  LLVMValueRef both[AJ_KERNEL_RESULTS];
  aj_reduction_combine(r, lanes, low, high, both);
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    if (aj_reduction_starts_empty(r)) {
      LLVMValueRef numbers[MOST_LANES];
      for (uint32_t l = 0; l < lanes; l++) numbers[l] = aj_ir_i64(r->lo, (int64_t)first + half + l);
      LLVMValueRef partner = lanes == 1 ? numbers[0] : LLVMConstVector(numbers, lanes);
      LLVMValueRef there = LLVMBuildICmp(r->lo->b, LLVMIntSLT, partner, aj_ir_splat(r->lo, m, lanes), "");
      both[i] = LLVMBuildSelect(r->lo->b, there, both[i], low[i], "");
    }
    low[i] = both[i];
  }
}

/* Lanes by halves: l with l + half, of which m have elements. */
static void fold_lanes(aj_reduction *r, const aj_block_fold *f, LLVMValueRef m, LLVMValueRef *out) {
  LLVMValueRef v[MOST_LANES][AJ_KERNEL_RESULTS];
  uint32_t chunks = f->chunks;
  for (uint32_t c = 0; c < chunks; c++) load_chunks(r, f, aj_ir_i64(r->lo, c * f->width), v[c]);
  for (; chunks > 1; chunks /= 2)
    for (uint32_t c = 0; c < chunks / 2; c++)
      join_halves(r, f->width, c * f->width, chunks / 2 * f->width, m, v[c], v[c + chunks / 2]);
  for (uint32_t lanes = f->width; lanes > 1; lanes /= 2) {
    LLVMValueRef high[AJ_KERNEL_RESULTS];
    for (uint32_t i = 0; i < r->k->result_count; i++) {
      high[i] = half_of(r, v[0][i], lanes, true);
      v[0][i] = half_of(r, v[0][i], lanes, false);
    }
    join_halves(r, lanes / 2, 0, lanes / 2, m, v[0], high);
  }
  for (uint32_t i = 0; i < r->k->result_count; i++) out[i] = v[0][i];
}

/* One block of n elements from inner index `at` on, pushed. */
static void fold_block(aj_reduction *r, const aj_block_fold *f, LLVMValueRef at, LLVMValueRef n) {
  aj_lower *lo = r->lo;
  LLVMValueRef lanes = aj_ir_i64(lo, f->lanes);
  LLVMValueRef rows = LLVMBuildUDiv(lo->b, n, lanes, ""), rest = LLVMBuildURem(lo->b, n, lanes, "");
  if (r->light) {
    fold_rows(r, f, at, rows, aj_ir_i64(lo, 0), f->chunks);
  } else {
    aj_ir_loop loop = aj_ir_loop_begin(lo, aj_ir_i64(lo, f->chunks));
    fold_rows(r, f, at, rows, LLVMBuildMul(lo->b, loop.index, aj_ir_i64(lo, f->width), ""), 1);
    aj_ir_loop_end(lo, &loop);
  }
  fold_rest(r, f, LLVMBuildAdd(lo->b, at, LLVMBuildMul(lo->b, rows, lanes, ""), ""), rest, rows);
  LLVMValueRef short_block = LLVMBuildICmp(lo->b, LLVMIntSLT, n, lanes, ""), all[AJ_KERNEL_RESULTS];
  fold_lanes(r, f, LLVMBuildSelect(lo->b, short_block, n, lanes, ""), all);
  aj_reduction_push(r, all);
}

/* Lanes by the reduced element; where results differ in that, each would need its own order. */
aj_block_fold aj_reduction_make_fold(aj_reduction *r) {
  aj_block_fold f = {.lanes = aj_reduce_lanes(r->dtype[0])};
  f.width = r->k->lanes < f.lanes ? r->k->lanes : f.lanes;
  f.chunks = f.lanes / f.width;
  for (uint32_t i = 0; i < r->k->result_count; i++)
    f.buffer[i] = aj_ir_alloca(r->lo, aj_reduction_type(r, i, 1), f.lanes, AJ_NH_ALIGN);
  return f;
}

LLVMValueRef aj_reduction_block_size(aj_reduction *r, const aj_block_fold *f) {
  return aj_ir_i64(r->lo, (int64_t)f->lanes * AJ_REDUCE_STEPS);
}

/* Blocks of the inner group. */
LLVMValueRef aj_reduction_count_blocks(aj_reduction *r, const aj_block_fold *f) {
  LLVMBuilderRef b = r->lo->b;
  LLVMValueRef step = aj_reduction_block_size(r, f), up = LLVMBuildSub(b, step, aj_ir_i64(r->lo, 1), "");
  return LLVMBuildUDiv(b, LLVMBuildAdd(b, r->k->count, up, ""), step, "");
}

/* Blocks [first, first + count) of the inner group. */
void aj_reduction_fold_blocks(aj_reduction *r, const aj_block_fold *f, LLVMValueRef first, LLVMValueRef count) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMValueRef step = aj_reduction_block_size(r, f);
  aj_kernel_hoist(k);
  aj_ir_loop loop = aj_ir_loop_begin(lo, count);
  aj_kernel_poll(k);
  LLVMValueRef at = LLVMBuildMul(lo->b, LLVMBuildAdd(lo->b, first, loop.index, ""), step, "");
  LLVMValueRef left = LLVMBuildSub(lo->b, k->count, at, "");
  LLVMValueRef n = LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, left, step, ""), left, step, "");
  fold_block(r, f, at, n);
  aj_ir_loop_end(lo, &loop);
}
