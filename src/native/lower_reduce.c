/* Reductions, in the one order that src/sem states.
 *
 * Innermost dims reduced: blocks of LANES x AJ_REDUCE_STEPS elements of the innermost group, each lane a chain, the
 * lanes folded by halves, blocks combined by a carry tree that goes on over the outer reduced dims:
 *
 *   for kept dims:  tree = empty;  for outer reduced dims:  for blocks of the inner group:  push(fold(block))
 *                   out = finish(tree)
 *
 * Innermost dims kept: a vector of neighbouring outputs at once, chains of AJ_REDUCE_CHAIN points of the reduced dims:
 *
 *   for kept dims:  for vectors of the inner group:  tree = empty;  sums = identity
 *                   for reduced dims:  sums = sums + point;  each AJ_REDUCE_CHAIN points: push(sums), sums = identity
 *                   out = finish(tree)
 *
 * What the loops carry lives in allocas, which a pass turns into registers. */
#include "native/lower_kernel.h"

/* 48 levels take 2^48 blocks, more than an address space holds. */
enum { TREE_LEVELS = 48, LIGHT_BODY = 12, MOST_LANES = 64 };

typedef struct tree {
  LLVMValueRef count, levels; /* allocas: i64, vectors */
} tree;

typedef struct reduction {
  aj_kernel *k;
  aj_lower *lo;
  uint32_t lanes; /* of a vector of the tree: 1, or neighbouring outputs */
  arrjit_dtype dtype[AJ_KERNEL_RESULTS];
  tree trees[AJ_KERNEL_RESULTS];
  LLVMValueRef sums[AJ_KERNEL_RESULTS]; /* allocas */
  LLVMValueRef out[AJ_KERNEL_RESULTS];
  bool light; /* the body is small: copies of it cost less than a loop */
} reduction;

static LLVMTypeRef vector_type(reduction *r, uint32_t i, uint32_t lanes) {
  return aj_ir_type(r->lo, r->dtype[i], lanes);
}

static LLVMValueRef identity(reduction *r, uint32_t i, uint32_t lanes, bool empty) {
  uint64_t start = 0, none = 0;
  aj_reduce_identity(r->k->combine[i], r->dtype[i], &start, &none);
  return aj_ir_splat(r->lo, aj_ir_element(r->lo, r->dtype[i], empty ? &none : &start), lanes);
}

static LLVMValueRef combine(reduction *r, uint32_t i, uint32_t lanes, LLVMValueRef x, LLVMValueRef y) {
  return aj_lower_combine(r->lo, lanes, r->k->combine[i], r->dtype[i], x, y);
}

/* Bools fold as bytes of 0 and 1: vectors of them have an address for each lane. */
static LLVMValueRef yielded(reduction *r, uint32_t i, uint32_t lanes, aj_lv value) {
  if (aj_kernel_dtype(r->k, i) != ARRJIT_BOOL) return value.v;
  return LLVMBuildZExt(r->lo->b, value.v, vector_type(r, i, lanes), "");
}

static LLVMValueRef load(reduction *r, LLVMTypeRef type, LLVMValueRef pointer) {
  return aj_ir_load(r->lo, type, pointer);
}
static void store(reduction *r, LLVMValueRef value, LLVMValueRef pointer) { LLVMBuildStore(r->lo->b, value, pointer); }

/* ---- the carry tree ---- */

static LLVMValueRef level_pointer(reduction *r, uint32_t i, LLVMValueRef level) {
  return LLVMBuildGEP2(r->lo->b, vector_type(r, i, r->lanes), r->trees[i].levels, &level, 1, "");
}

/* As many levels as the blocks need: `points` reduced ones, at least `block` of them a block; a symbol may be anything.
 */
static uint32_t count_levels(const reduction *r, int64_t block) {
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

static void make_tree(reduction *r, uint32_t i, uint32_t levels) {
  r->trees[i].count = aj_ir_alloca(r->lo, r->lo->t_i64, 1, 8);
  r->trees[i].levels = aj_ir_alloca(r->lo, vector_type(r, i, r->lanes), levels, AJ_NH_ALIGN);
}

/* As a binary counter counts: a block climbs while the level it comes to is full. */
static void push(reduction *r, uint32_t i, LLVMValueRef block) {
  LLVMBuilderRef b = r->lo->b;
  LLVMTypeRef i64 = r->lo->t_i64, type = vector_type(r, i, r->lanes);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = aj_ir_block(r->lo, "push"),
                    climb = aj_ir_block(r->lo, "climb"), exit = aj_ir_block(r->lo, "pushed");
  LLVMValueRef count = load(r, i64, r->trees[i].count);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, head);
  LLVMValueRef full = aj_ir_phi(r->lo, i64, count, from), level = aj_ir_phi(r->lo, i64, aj_ir_i64(r->lo, 0), from);
  LLVMValueRef value = aj_ir_phi(r->lo, type, block, from);
  LLVMBuildCondBr(b, LLVMBuildTrunc(b, full, r->lo->t_i1, ""), climb, exit);
  aj_ir_at(r->lo, climb);
  LLVMValueRef both = combine(r, i, r->lanes, load(r, type, level_pointer(r, i, level)), value);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
  aj_ir_add_incoming(full, LLVMBuildLShr(b, full, aj_ir_i64(r->lo, 1), ""), latch);
  aj_ir_add_incoming(level, LLVMBuildAdd(b, level, aj_ir_i64(r->lo, 1), ""), latch);
  aj_ir_add_incoming(value, both, latch);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, exit);
  store(r, value, level_pointer(r, i, level));
  store(r, LLVMBuildAdd(b, count, aj_ir_i64(r->lo, 1), ""), r->trees[i].count);
}

/* All blocks, lowest level first; none: the value of an empty reduction. */
static LLVMValueRef finish(reduction *r, uint32_t i) {
  LLVMBuilderRef b = r->lo->b;
  LLVMTypeRef i64 = r->lo->t_i64, type = vector_type(r, i, r->lanes);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(b), head = aj_ir_block(r->lo, "finish"),
                    body = aj_ir_block(r->lo, "level"), exit = aj_ir_block(r->lo, "finished");
  LLVMValueRef count = load(r, i64, r->trees[i].count), zero = aj_ir_i64(r->lo, 0), one = aj_ir_i64(r->lo, 1);
  LLVMBuildBr(b, head);
  aj_ir_at(r->lo, head);
  LLVMValueRef full = aj_ir_phi(r->lo, i64, count, from), level = aj_ir_phi(r->lo, i64, zero, from);
  LLVMValueRef value = aj_ir_phi(r->lo, type, identity(r, i, r->lanes, true), from);
  LLVMValueRef have = aj_ir_phi(r->lo, r->lo->t_i1, LLVMConstInt(r->lo->t_i1, 0, 0), from);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, full, zero, ""), exit, body);
  aj_ir_at(r->lo, body);
  LLVMBasicBlockRef take = aj_ir_block(r->lo, "take"), next = aj_ir_block(r->lo, "next");
  LLVMBuildCondBr(b, LLVMBuildTrunc(b, full, r->lo->t_i1, ""), take, next);
  aj_ir_at(r->lo, take);
  LLVMValueRef here = load(r, type, level_pointer(r, i, level));
  LLVMValueRef taken = LLVMBuildSelect(b, have, combine(r, i, r->lanes, here, value), here, "");
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

/* ---- innermost dims reduced ---- */

typedef struct block_fold {
  uint32_t lanes, width, chunks;          /* LANES, elements of a vector, vectors of a row */
  LLVMValueRef buffer[AJ_KERNEL_RESULTS]; /* LANES accumulators in memory */
} block_fold;

static LLVMValueRef chunk_pointer(reduction *r, const block_fold *f, uint32_t i, LLVMValueRef lane) {
  return LLVMBuildGEP2(r->lo->b, vector_type(r, i, 1), f->buffer[i], &lane, 1, "");
}

static LLVMValueRef load_chunk(reduction *r, const block_fold *f, uint32_t i, LLVMValueRef lane) {
  LLVMValueRef v = load(r, vector_type(r, i, f->width), chunk_pointer(r, f, i, lane));
  LLVMSetAlignment(v, aj_dtypes[r->dtype[i]].bytes);
  return v;
}

static void store_chunk(reduction *r, const block_fold *f, uint32_t i, LLVMValueRef lane, LLVMValueRef value) {
  LLVMValueRef s = LLVMBuildStore(r->lo->b, value, chunk_pointer(r, f, i, lane));
  LLVMSetAlignment(s, aj_dtypes[r->dtype[i]].bytes);
}

/* acc = acc + points, in the allocas of chunk c. */
static void step_chunk(reduction *r, LLVMValueRef *acc, const aj_points *p, uint32_t width) {
  aj_lv values[AJ_KERNEL_RESULTS];
  aj_kernel_eval(r->k, p, p->at, values);
  if (r->lo->arena->failed) return;
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    LLVMValueRef old = load(r, vector_type(r, i, width), acc[i]);
    LLVMValueRef next = combine(r, i, width, old, yielded(r, i, width, values[i]));
    if (p->mask) next = LLVMBuildSelect(r->lo->b, p->mask, next, old, "");
    store(r, next, acc[i]);
  }
}

/* All rows of the chunks [first, first + count) of a block; accumulators start from the identity. */
static void fold_rows(reduction *r, const block_fold *f, LLVMValueRef at, LLVMValueRef rows, LLVMValueRef first,
                      uint32_t count) {
  aj_lower *lo = r->lo;
  LLVMValueRef acc[MOST_LANES][AJ_KERNEL_RESULTS];
  for (uint32_t c = 0; c < count; c++)
    for (uint32_t i = 0; i < r->k->result_count; i++) {
      acc[c][i] = aj_ir_alloca(lo, vector_type(r, i, f->width), 1, 0);
      store(r, identity(r, i, f->width, false), acc[c][i]);
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
                  load(r, vector_type(r, i, f->width), acc[c][i]));
}

/* The last row, which has `rest` elements. */
static void fold_rest(reduction *r, const block_fold *f, LLVMValueRef at, LLVMValueRef rest) {
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
                 next = combine(r, i, f->width, old, yielded(r, i, f->width, values[i]));
    if (p.mask) next = LLVMBuildSelect(lo->b, p.mask, next, old, "");
    store_chunk(r, f, i, lane, next);
  }
  aj_ir_loop_end(lo, &loop);
}

/* Half of a vector. */
static LLVMValueRef half_of(reduction *r, LLVMValueRef v, uint32_t lanes, bool high) {
  LLVMValueRef mask[MOST_LANES];
  for (uint32_t i = 0; i < lanes / 2; i++) mask[i] = aj_ir_i32(r->lo, (int32_t)(i + (high ? lanes / 2 : 0)));
  if (lanes == 2) return LLVMBuildExtractElement(r->lo->b, v, mask[0], "");
  return LLVMBuildShuffleVector(r->lo->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(mask, lanes / 2), "");
}

/* Lanes by halves: l with l + half. */
static LLVMValueRef fold_lanes(reduction *r, const block_fold *f, uint32_t i) {
  LLVMValueRef v[MOST_LANES];
  uint32_t chunks = f->chunks;
  for (uint32_t c = 0; c < chunks; c++) v[c] = load_chunk(r, f, i, aj_ir_i64(r->lo, c * f->width));
  for (; chunks > 1; chunks /= 2)
    for (uint32_t c = 0; c < chunks / 2; c++) v[c] = combine(r, i, f->width, v[c], v[c + chunks / 2]);
  LLVMValueRef all = v[0];
  for (uint32_t lanes = f->width; lanes > 1; lanes /= 2)
    all = combine(r, i, lanes / 2, half_of(r, all, lanes, false), half_of(r, all, lanes, true));
  return all;
}

/* One block of n elements from inner index `at` on, pushed. */
static void fold_block(reduction *r, const block_fold *f, LLVMValueRef at, LLVMValueRef n) {
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
  for (uint32_t i = 0; i < r->k->result_count; i++) push(r, i, fold_lanes(r, f, i));
}

/* Lanes by the reduced element; where results differ in that, each would need its own order. */
static block_fold make_fold(reduction *r) {
  block_fold f = {.lanes = aj_reduce_lanes(r->dtype[0])};
  f.width = r->k->lanes < f.lanes ? r->k->lanes : f.lanes;
  f.chunks = f.lanes / f.width;
  for (uint32_t i = 0; i < r->k->result_count; i++)
    f.buffer[i] = aj_ir_alloca(r->lo, vector_type(r, i, 1), f.lanes, AJ_NH_ALIGN);
  return f;
}

static void fold_group(reduction *r, const block_fold *f) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMValueRef step = aj_ir_i64(lo, (int64_t)f->lanes * AJ_REDUCE_STEPS);
  aj_kernel_hoist(k);
  LLVMValueRef blocks = LLVMBuildSDiv(
      lo->b, LLVMBuildAdd(lo->b, k->count, aj_ir_i64(lo, (int64_t)f->lanes * AJ_REDUCE_STEPS - 1), ""), step, "");
  aj_ir_loop loop = aj_ir_loop_begin(lo, blocks);
  aj_kernel_poll(k);
  LLVMValueRef at = LLVMBuildMul(lo->b, loop.index, step, ""), left = LLVMBuildSub(lo->b, k->count, at, "");
  LLVMValueRef n = LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, left, step, ""), left, step, "");
  fold_block(r, f, at, n);
  aj_ir_loop_end(lo, &loop);
}

static void empty_trees(reduction *r) {
  for (uint32_t i = 0; i < r->k->result_count; i++) store(r, aj_ir_i64(r->lo, 0), r->trees[i].count);
}

/* Flat index of the output at the kept dims before `last`. */
static LLVMValueRef kept_index(reduction *r, int32_t last) {
  LLVMValueRef flat = aj_ir_i64(r->lo, 0);
  for (int32_t d = 0; d < last; d++)
    if (!(r->k->reduced >> d & 1))
      flat = LLVMBuildAdd(r->lo->b, LLVMBuildMul(r->lo->b, flat, r->k->extents[d], ""), r->k->index[d], "");
  return flat;
}

/* An output element: to memory, or into a register when the result is a scalar. */
static void set_output(reduction *r, uint32_t i, const aj_points *p, LLVMValueRef base, LLVMValueRef v) {
  aj_lv value = {.v = v, .nan = AJ_NAN_RAW};
  const aj_value *result = &r->k->node->results[i];
  arrjit_dtype dtype = result->type->dtype;
  if (dtype == ARRJIT_BOOL) value.v = LLVMBuildICmp(r->lo->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
  if (result->type->rank == 0)
    r->k->scope->vals[result->slot] = value;
  else
    aj_kernel_store(r->k, p, dtype, aj_ir_index(r->lo, r->out[i], dtype, base), value);
}

static void reduce_inner(reduction *r, int32_t inner) {
  aj_kernel *k = r->k;
  aj_kernel_loops kept, reduced;
  aj_kernel_set_inner(k, inner);
  r->lanes = 1;
  for (uint32_t i = 0; i < k->result_count; i++) make_tree(r, i, count_levels(r, 1));
  block_fold f = make_fold(r);
  aj_kernel_open(k, 0, inner, ~k->reduced, &kept);
  empty_trees(r);
  aj_kernel_open(k, 0, inner, k->reduced, &reduced);
  fold_group(r, &f);
  aj_kernel_close(k, &reduced);
  aj_points p = aj_kernel_points(k, 1, aj_ir_i64(r->lo, 0), NULL);
  LLVMValueRef base = kept_index(r, inner);
  for (uint32_t i = 0; i < k->result_count; i++) set_output(r, i, &p, base, finish(r, i));
  aj_kernel_close(k, &kept);
}

/* ---- innermost dims kept ---- */

static void push_sums(reduction *r, LLVMValueRef rows) {
  store(r, aj_ir_i64(r->lo, 0), rows);
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    push(r, i, load(r, vector_type(r, i, r->lanes), r->sums[i]));
    store(r, identity(r, i, r->lanes, false), r->sums[i]);
  }
}

static void push_sums_if(reduction *r, LLVMValueRef rows, LLVMIntPredicate predicate, int64_t limit) {
  aj_lower *lo = r->lo;
  LLVMBasicBlockRef full = aj_ir_block(lo, "chain"), go = aj_ir_block(lo, "go");
  LLVMValueRef count = load(r, lo->t_i64, rows);
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, predicate, count, aj_ir_i64(lo, limit), ""), full, go);
  aj_ir_at(lo, full);
  aj_kernel_poll(r->k);
  push_sums(r, rows);
  LLVMBuildBr(lo->b, go);
  aj_ir_at(lo, go);
}

/* A vector of neighbouring outputs. */
static void reduce_columns(reduction *r, const aj_points *p, LLVMValueRef base) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  aj_kernel_loops loops;
  aj_lv values[AJ_KERNEL_RESULTS];
  LLVMValueRef rows = aj_ir_alloca(lo, lo->t_i64, 1, 8);
  empty_trees(r);
  store(r, aj_ir_i64(lo, 0), rows);
  for (uint32_t i = 0; i < k->result_count; i++) store(r, identity(r, i, r->lanes, false), r->sums[i]);
  aj_kernel_open(k, 0, k->inner, k->reduced, &loops);
  aj_kernel_hoist(k);
  aj_kernel_eval(k, p, p->at, values);
  if (lo->arena->failed) return;
  for (uint32_t i = 0; i < k->result_count; i++)
    store(r,
          combine(r, i, r->lanes, load(r, vector_type(r, i, r->lanes), r->sums[i]), yielded(r, i, r->lanes, values[i])),
          r->sums[i]);
  store(r, LLVMBuildAdd(lo->b, load(r, lo->t_i64, rows), aj_ir_i64(lo, 1), ""), rows);
  push_sums_if(r, rows, LLVMIntEQ, AJ_REDUCE_CHAIN);
  aj_kernel_close(k, &loops);
  push_sums_if(r, rows, LLVMIntSGT, 0);
  for (uint32_t i = 0; i < k->result_count; i++) set_output(r, i, p, base, finish(r, i));
}

static void reduce_outer(reduction *r, int32_t inner) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  aj_kernel_loops kept;
  aj_kernel_set_inner(k, inner);
  r->lanes = k->rank == 0 ? 1 : r->light && k->lanes <= 16 ? 4 * k->lanes : k->lanes;
  for (uint32_t i = 0; i < k->result_count; i++) {
    make_tree(r, i, count_levels(r, AJ_REDUCE_CHAIN));
    r->sums[i] = aj_ir_alloca(lo, vector_type(r, i, r->lanes), 1, 0);
  }
  aj_kernel_open(k, 0, inner, ~k->reduced, &kept);
  LLVMValueRef base = LLVMBuildMul(lo->b, kept_index(r, inner), k->count, ""), width = aj_ir_i64(lo, r->lanes);
  if (r->lanes == 1) {
    aj_points p = aj_kernel_points(k, 1, aj_ir_i64(lo, 0), NULL);
    reduce_columns(r, &p, base);
  } else {
    LLVMValueRef vectors =
        LLVMBuildSDiv(lo->b, LLVMBuildAdd(lo->b, k->count, aj_ir_i64(lo, r->lanes - 1), ""), width, "");
    aj_ir_loop loop = aj_ir_loop_begin(lo, vectors);
    LLVMValueRef at = LLVMBuildMul(lo->b, loop.index, width, "");
    LLVMValueRef whole = LLVMBuildICmp(lo->b, LLVMIntSLE, LLVMBuildAdd(lo->b, at, width, ""), k->count, "");
    LLVMBasicBlockRef full = aj_ir_block(lo, "full"), part = aj_ir_block(lo, "part"), go = aj_ir_block(lo, "go");
    LLVMBuildCondBr(lo->b, whole, full, part);
    aj_ir_at(lo, full);
    aj_points p = aj_kernel_points(k, r->lanes, at, NULL);
    reduce_columns(r, &p, base);
    LLVMBuildBr(lo->b, go);
    aj_ir_at(lo, part);
    p = aj_kernel_points(k, r->lanes, at, LLVMBuildSub(lo->b, k->count, at, ""));
    reduce_columns(r, &p, base);
    LLVMBuildBr(lo->b, go);
    aj_ir_at(lo, go);
    aj_ir_loop_end(lo, &loop);
  }
  aj_kernel_close(k, &kept);
}

void aj_lower_reduce(aj_kernel *k) {
  reduction r = {.k = k, .lo = k->lo, .light = k->size <= LIGHT_BODY};
  for (uint32_t i = 0; i < k->result_count; i++) {
    const aj_value *result = &k->node->results[i];
    r.dtype[i] = aj_kernel_dtype(k, i) == ARRJIT_BOOL ? ARRJIT_U8 : aj_kernel_dtype(k, i);
    if (result->type->rank == 0) continue;
    r.out[i] = aj_lower_dest(k->lo, k->scope, result);
    k->scope->vals[result->slot] = (aj_lv){.v = r.out[i]};
  }
  bool inner_reduced = k->rank > 0 && (k->reduced >> (k->rank - 1) & 1);
  int32_t inner = k->rank;
  while (inner > 0 && (k->reduced >> (inner - 1) & 1) == (inner_reduced ? 1u : 0u)) inner--;
  if (inner_reduced)
    reduce_inner(&r, inner);
  else
    reduce_outer(&r, inner);
}
