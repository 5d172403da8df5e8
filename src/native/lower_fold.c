/* Blocks of LANES x AJ_REDUCE_STEPS elements of the innermost group: each lane a chain, the lanes folded by halves. */
#include "native/lower_reduce.h"

enum { MOST_LANES = 64 };

static LLVMValueRef chunk_pointer(aj_reduction *r, const aj_block_fold *f, uint32_t i, LLVMValueRef lane) {
  return LLVMBuildGEP2(r->lo->b, aj_reduction_type(r, i, 1), f->buffer[i], &lane, 1, "");
}

static LLVMValueRef load_chunk(aj_reduction *r, const aj_block_fold *f, uint32_t i, LLVMValueRef lane) {
  LLVMValueRef v = aj_ir_load(r->lo, aj_reduction_type(r, i, f->width), chunk_pointer(r, f, i, lane));
  LLVMSetAlignment(v, aj_dtypes[r->dtype[i]].bytes);
  return v;
}

static void store_chunk(aj_reduction *r, const aj_block_fold *f, uint32_t i, LLVMValueRef lane, LLVMValueRef value) {
  LLVMValueRef s = LLVMBuildStore(r->lo->b, value, chunk_pointer(r, f, i, lane));
  LLVMSetAlignment(s, aj_dtypes[r->dtype[i]].bytes);
}

/* acc = acc + points, in the allocas of chunk c. */
static void step_chunk(aj_reduction *r, LLVMValueRef *acc, const aj_points *p, uint32_t width) {
  aj_lv values[AJ_KERNEL_RESULTS];
  aj_kernel_eval(r->k, p, p->at, values);
  if (r->lo->arena->failed) return;
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    LLVMValueRef old = aj_ir_load(r->lo, aj_reduction_type(r, i, width), acc[i]);
    LLVMValueRef next = aj_reduction_combine(r, i, width, old, aj_reduction_yielded(r, i, width, values[i]));
    if (p->mask) next = LLVMBuildSelect(r->lo->b, p->mask, next, old, "");
    LLVMBuildStore(r->lo->b, next, acc[i]);
  }
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
  LLVMValueRef row = LLVMBuildAdd(lo->b, at, LLVMBuildMul(lo->b, loop.index, aj_ir_i64(lo, f->lanes), ""), "");
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef lane = LLVMBuildAdd(lo->b, first, aj_ir_i64(lo, c * f->width), "");
    aj_points p = aj_kernel_points(r->k, f->width, LLVMBuildAdd(lo->b, row, lane, ""), NULL);
    step_chunk(r, acc[c], &p, f->width);
  }
  aj_ir_loop_end(lo, &loop);
  for (uint32_t c = 0; c < count; c++)
    for (uint32_t i = 0; i < r->k->result_count; i++)
      store_chunk(r, f, i, LLVMBuildAdd(lo->b, first, aj_ir_i64(lo, c * f->width), ""),
                  aj_ir_load(r->lo, aj_reduction_type(r, i, f->width), acc[c][i]));
}

/* The last row, which has `rest` elements. */
static void fold_rest(aj_reduction *r, const aj_block_fold *f, LLVMValueRef at, LLVMValueRef rest) {
  aj_lower *lo = r->lo;
  LLVMValueRef width = aj_ir_i64(lo, f->width);
  LLVMValueRef count = LLVMBuildSDiv(lo->b, LLVMBuildAdd(lo->b, rest, aj_ir_i64(lo, f->width - 1), ""), width, "");
  aj_ir_loop loop = aj_ir_loop_begin(lo, count);
  LLVMValueRef lane = LLVMBuildMul(lo->b, loop.index, width, "");
  aj_points p =
      aj_kernel_points(r->k, f->width, LLVMBuildAdd(lo->b, at, lane, ""), LLVMBuildSub(lo->b, rest, lane, ""));
  aj_lv values[AJ_KERNEL_RESULTS];
  aj_kernel_eval(r->k, &p, p.at, values);
  for (uint32_t i = 0; i < r->k->result_count && !lo->arena->failed; i++) {
    LLVMValueRef old = load_chunk(r, f, i, lane),
                 next = aj_reduction_combine(r, i, f->width, old, aj_reduction_yielded(r, i, f->width, values[i]));
    if (p.mask) next = LLVMBuildSelect(lo->b, p.mask, next, old, "");
    store_chunk(r, f, i, lane, next);
  }
  aj_ir_loop_end(lo, &loop);
}

/* Half of a vector. */
static LLVMValueRef half_of(aj_reduction *r, LLVMValueRef v, uint32_t lanes, bool high) {
  LLVMValueRef mask[MOST_LANES];
  for (uint32_t i = 0; i < lanes / 2; i++) mask[i] = aj_ir_i32(r->lo, (int32_t)(i + (high ? lanes / 2 : 0)));
  if (lanes == 2) return LLVMBuildExtractElement(r->lo->b, v, mask[0], "");
  return LLVMBuildShuffleVector(r->lo->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, lanes / 2), "");
}

/* Lanes by halves: l with l + half. */
static LLVMValueRef fold_lanes(aj_reduction *r, const aj_block_fold *f, uint32_t i) {
  LLVMValueRef v[MOST_LANES];
  uint32_t chunks = f->chunks;
  for (uint32_t c = 0; c < chunks; c++) v[c] = load_chunk(r, f, i, aj_ir_i64(r->lo, c * f->width));
  for (; chunks > 1; chunks /= 2)
    for (uint32_t c = 0; c < chunks / 2; c++) v[c] = aj_reduction_combine(r, i, f->width, v[c], v[c + chunks / 2]);
  LLVMValueRef all = v[0];
  for (uint32_t lanes = f->width; lanes > 1; lanes /= 2)
    all = aj_reduction_combine(r, i, lanes / 2, half_of(r, all, lanes, false), half_of(r, all, lanes, true));
  return all;
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
  fold_rest(r, f, LLVMBuildAdd(lo->b, at, LLVMBuildMul(lo->b, rows, lanes, ""), ""), rest);
  for (uint32_t i = 0; i < r->k->result_count; i++) aj_reduction_push(r, i, fold_lanes(r, f, i));
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
