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
 * Where there are kept dims, threads share those. Where there are none, a thread folds 2^s neighbouring blocks: what
 * it gets is what the carry tree has at level s after them, so the caller goes on from there, in the same order:
 *
 *   partial[j] = finish(tree of blocks j * 2^s ...);  then, tree = empty:  push(partial[j]) for whole ones;
 *   out = finish(tree) on top of the last partial when that is not whole
 *
 * What the loops carry lives in allocas, which a pass turns into registers. */
#include "native/lower_reduce.h"

/* Partial results of one reduction, and the levels a tree of them needs. */
enum { PARTIALS = 256, PARTIAL_BITS = 8 };

/* An output element: to memory, or into a register when the result is a scalar. */
void aj_reduction_store(aj_reduction *r, uint32_t i, const aj_points *p, LLVMValueRef base, LLVMValueRef v) {
  aj_lv value = {.v = v, .nan = r->k->combiner ? AJ_NAN_KEEP : AJ_NAN_RAW};
  const aj_value *result = &r->k->node->results[i];
  arrjit_dtype dtype = result->type->dtype;
  if (dtype == ARRJIT_BOOL) value.v = LLVMBuildICmp(r->lo->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
  if (result->type->rank == 0)
    r->k->scope->vals[result->slot] = value;
  else
    aj_kernel_store(r->k, p, dtype, aj_ir_index(r->lo, r->out[i], dtype, base), value);
}

/* What the tree has, for a vector of outputs. */
static void set_outputs(aj_reduction *r, const aj_points *p, LLVMValueRef base, LLVMValueRef have,
                        LLVMValueRef *values) {
  if (r->k->combiner) aj_combiner_join(r, r->lanes, have, values);
  for (uint32_t i = 0; i < r->k->result_count; i++) aj_reduction_store(r, i, p, base, values[i]);
}

static void finish_outputs(aj_reduction *r, const aj_points *p, LLVMValueRef base) {
  LLVMValueRef values[AJ_KERNEL_RESULTS], have = aj_reduction_finish(r, values);
  set_outputs(r, p, base, have, values);
}

static aj_block_fold begin_inner(aj_reduction *r, int32_t inner) {
  aj_kernel_set_strides(r->k);
  aj_kernel_set_inner(r->k, inner);
  r->lanes = 1;
  aj_reduction_make_tree(r, aj_reduction_count_levels(r, 1));
  return aj_reduction_make_fold(r);
}

/* The units [k->from, k->to); a single output needs no loop, and stays in a register. */
typedef struct unit_loop {
  bool single;
  aj_ir_loop loop;
  LLVMValueRef unit;
} unit_loop;

static unit_loop begin_units(aj_reduction *r) {
  const aj_kernel *k = r->k;
  unit_loop units = {.single = !k->block && k->node->results[0].type->rank == 0, .unit = k->from};
  if (units.single) return units;
  units.loop = aj_ir_loop_begin(r->lo, LLVMBuildSub(r->lo->b, k->to, k->from, ""));
  units.unit = LLVMBuildAdd(r->lo->b, k->from, units.loop.index, "");
  return units;
}

static void end_units(aj_reduction *r, unit_loop *units) {
  if (!units->single) aj_ir_loop_end(r->lo, &units->loop);
}

/* Outputs [k->from, k->to). */
static void inner_rows(aj_reduction *r, int32_t inner) {
  aj_kernel *k = r->k;
  aj_kernel_loops reduced;
  aj_block_fold f = begin_inner(r, inner);
  LLVMValueRef *saved = AJ_NEW_ARRAY(r->lo->arena, k->operand_count, LLVMValueRef);
  if (!saved) return;
  unit_loop units = begin_units(r);
  LLVMValueRef row = units.unit;
  aj_kernel_locate(k, inner, ~k->reduced, row, saved);
  aj_reduction_clear(r);
  aj_kernel_open(k, 0, inner, k->reduced, &reduced);
  aj_reduction_fold_blocks(r, &f, aj_ir_i64(r->lo, 0), aj_reduction_count_blocks(r, &f));
  aj_kernel_close(k, &reduced);
  aj_points p = aj_kernel_points(k, 1, aj_ir_i64(r->lo, 0), NULL);
  finish_outputs(r, &p, row);
  aj_kernel_unlocate(k, saved);
  end_units(r, &units);
}

/* ---- all dims reduced: blocks are shared ---- */

static void store_partial(aj_reduction *r, uint32_t i, LLVMValueRef value, LLVMValueRef at) {
  LLVMBuildStore(r->lo->b, value, LLVMBuildGEP2(r->lo->b, aj_reduction_type(r, i, 1), r->partials[i], &at, 1, ""));
}

static LLVMValueRef load_partial(aj_reduction *r, uint32_t i, LLVMValueRef at) {
  LLVMTypeRef type = aj_reduction_type(r, i, 1);
  return aj_ir_load(r->lo, type, LLVMBuildGEP2(r->lo->b, type, r->partials[i], &at, 1, ""));
}

/* log2 of the blocks of a partial: so many that they are worth a thread, and that PARTIALS are enough. */
static LLVMValueRef partial_shift(aj_reduction *r, LLVMValueRef blocks, int64_t block) {
  LLVMBuilderRef b = r->lo->b;
  int64_t least = 0;
  while (block << least < aj_kernel_stretch(r->k)) least++;
  LLVMValueRef over = LLVMBuildSub(b, blocks, aj_ir_i64(r->lo, 1), "");
  over = LLVMBuildLShr(
      b, LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, over, aj_ir_i64(r->lo, 0), ""), aj_ir_i64(r->lo, 0), over, ""),
      aj_ir_i64(r->lo, PARTIAL_BITS), "");
  LLVMValueRef args[] = {over, LLVMConstInt(r->lo->t_i1, 0, 0)};
  LLVMValueRef zeros = aj_ir_intrinsic(r->lo, "llvm.ctlz", r->lo->t_i64, 2, args);
  LLVMValueRef shift = LLVMBuildSub(b, aj_ir_i64(r->lo, 64), zeros, ""), low = aj_ir_i64(r->lo, least);
  return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSGT, shift, low, ""), shift, low, "");
}

/* All partials in the order of the tree. */
static void join_partials(aj_reduction *r, LLVMValueRef blocks, LLVMValueRef shift) {
  aj_lower *lo = r->lo;
  LLVMBuilderRef b = lo->b;
  LLVMValueRef whole = LLVMBuildLShr(b, blocks, shift, "");
  LLVMValueRef have = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildShl(b, whole, shift, ""), blocks, "");
  LLVMValueRef partial[AJ_KERNEL_RESULTS], last[AJ_KERNEL_RESULTS], values[AJ_KERNEL_RESULTS];
  aj_reduction_make_tree(r, PARTIAL_BITS + 1);
  aj_reduction_clear(r);
  aj_ir_loop loop = aj_ir_loop_begin(lo, whole);
  for (uint32_t i = 0; i < r->k->result_count; i++) partial[i] = load_partial(r, i, loop.index);
  aj_reduction_push(r, partial);
  aj_ir_loop_end(lo, &loop);
  for (uint32_t i = 0; i < r->k->result_count; i++)
    last[i] = LLVMBuildSelect(b, have, load_partial(r, i, whole), aj_reduction_identity(r, i, 1, true), "");
  have = aj_reduction_finish_on(r, have, last, values);
  set_outputs(r, NULL, NULL, have, values);
}

/* Blocks [k->from, k->to), whole partials but for the last. */
static void inner_blocks(aj_reduction *r) {
  aj_kernel *k = r->k;
  LLVMBuilderRef b = r->lo->b;
  aj_block_fold f = begin_inner(r, 0);
  aj_reduction_clear(r);
  aj_reduction_fold_blocks(r, &f, k->from, LLVMBuildSub(b, k->to, k->from, ""));
  LLVMValueRef at = LLVMBuildLShr(
      b, k->from, partial_shift(r, aj_reduction_count_blocks(r, &f), (int64_t)f.lanes * AJ_REDUCE_STEPS), "");
  LLVMValueRef values[AJ_KERNEL_RESULTS];
  (void)aj_reduction_finish(r, values);
  for (uint32_t i = 0; i < k->result_count; i++) store_partial(r, i, values[i], at);
}

/* ---- innermost dims kept ---- */

static void push_sums(aj_reduction *r, LLVMValueRef rows) {
  LLVMBuildStore(r->lo->b, aj_ir_i64(r->lo, 0), rows);
  LLVMValueRef sums[AJ_KERNEL_RESULTS];
  for (uint32_t i = 0; i < r->k->result_count; i++)
    sums[i] = aj_ir_load(r->lo, aj_reduction_type(r, i, r->lanes), r->sums[i]);
  aj_reduction_push(r, sums);
  for (uint32_t i = 0; i < r->k->result_count; i++)
    LLVMBuildStore(r->lo->b, aj_reduction_identity(r, i, r->lanes, false), r->sums[i]);
}

static void push_sums_if(aj_reduction *r, LLVMValueRef rows, LLVMIntPredicate predicate, int64_t limit) {
  aj_lower *lo = r->lo;
  LLVMBasicBlockRef full = aj_ir_block(lo, "chain"), go = aj_ir_block(lo, "go");
  LLVMValueRef count = aj_ir_load(r->lo, lo->t_i64, rows);
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, predicate, count, aj_ir_i64(lo, limit), ""), full, go);
  aj_ir_at(lo, full);
  aj_kernel_poll(r->k);
  push_sums(r, rows);
  LLVMBuildBr(lo->b, go);
  aj_ir_at(lo, go);
}

LLVMValueRef aj_reduction_count_vectors(aj_reduction *r, LLVMValueRef outputs) {
  LLVMBuilderRef b = r->lo->b;
  LLVMValueRef up = LLVMBuildAdd(b, outputs, aj_ir_i64(r->lo, r->lanes - 1), "");
  return LLVMBuildUDiv(b, up, aj_ir_i64(r->lo, r->lanes), "");
}

static bool has_outer(const aj_kernel *k, int32_t inner) {
  for (int32_t d = 0; d < inner; d++)
    if (!(k->reduced >> d & 1)) return true;
  return false;
}

/* sums = sums + the points of one row. */
static void add_row(aj_reduction *r, const aj_points *p, LLVMValueRef rows) {
  aj_lower *lo = r->lo;
  aj_lv values[AJ_KERNEL_RESULTS];
  LLVMValueRef old[AJ_KERNEL_RESULTS], points[AJ_KERNEL_RESULTS], next[AJ_KERNEL_RESULTS];
  aj_kernel_eval(r->k, p, p->at, values);
  if (lo->arena->failed) return;
  LLVMValueRef count = aj_ir_load(lo, lo->t_i64, rows);
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    old[i] = aj_ir_load(lo, aj_reduction_type(r, i, r->lanes), r->sums[i]);
    points[i] = aj_reduction_yielded(r, i, r->lanes, values[i]);
  }
  aj_reduction_step(r, r->lanes, LLVMBuildICmp(lo->b, LLVMIntEQ, count, aj_ir_i64(lo, 0), ""), old, points, next);
  for (uint32_t i = 0; i < r->k->result_count; i++) LLVMBuildStore(lo->b, next[i], r->sums[i]);
  LLVMBuildStore(lo->b, LLVMBuildAdd(lo->b, count, aj_ir_i64(lo, 1), ""), rows);
}

/* A vector of neighbouring outputs. */
static void reduce_columns(aj_reduction *r, const aj_points *p, LLVMValueRef base) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  aj_kernel_loops loops;
  LLVMValueRef rows = aj_ir_alloca(lo, lo->t_i64, 1, 8);
  aj_reduction_clear(r);
  LLVMBuildStore(r->lo->b, aj_ir_i64(lo, 0), rows);
  for (uint32_t i = 0; i < k->result_count; i++)
    LLVMBuildStore(r->lo->b, aj_reduction_identity(r, i, r->lanes, false), r->sums[i]);
  aj_kernel_open(k, 0, k->inner, k->reduced, &loops);
  aj_kernel_hoist(k);
  add_row(r, p, rows);
  if (lo->arena->failed) return;
  push_sums_if(r, rows, LLVMIntEQ, AJ_REDUCE_CHAIN);
  aj_kernel_close(k, &loops);
  push_sums_if(r, rows, LLVMIntSGT, 0);
  finish_outputs(r, p, base);
}

/* Vectors [k->from, k->to) of outputs; `inner` is the first of the innermost kept dims. */
static void outer_vectors(aj_reduction *r, int32_t inner) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMBuilderRef b = lo->b;
  aj_kernel_set_strides(k);
  aj_kernel_set_inner(k, inner);
  LLVMValueRef *saved = AJ_NEW_ARRAY(lo->arena, k->operand_count, LLVMValueRef);
  if (!saved) return;
  aj_reduction_make_tree(r, aj_reduction_count_levels(r, AJ_REDUCE_CHAIN));
  for (uint32_t i = 0; i < k->result_count; i++) {
    r->sums[i] = aj_ir_alloca(lo, aj_reduction_type(r, i, r->lanes), 1, 0);
  }
  LLVMValueRef width = aj_ir_i64(lo, r->lanes), vectors = aj_reduction_count_vectors(r, k->count);
  unit_loop units = begin_units(r);
  LLVMValueRef unit = units.unit, row = aj_ir_i64(lo, 0);
  if (has_outer(k, inner)) {
    row = LLVMBuildUDiv(b, unit, vectors, "");
    unit = LLVMBuildSub(b, unit, LLVMBuildMul(b, row, vectors, ""), "");
  }
  aj_kernel_locate(k, inner, ~k->reduced, row, saved);
  LLVMValueRef base = LLVMBuildMul(b, row, k->count, "");
  if (r->lanes == 1) {
    aj_points p = aj_kernel_points(k, 1, unit, NULL);
    reduce_columns(r, &p, base);
  } else {
    LLVMValueRef at = LLVMBuildMul(b, unit, width, "");
    LLVMValueRef whole = LLVMBuildICmp(b, LLVMIntSLE, LLVMBuildAdd(b, at, width, ""), k->count, "");
    LLVMBasicBlockRef full = aj_ir_block(lo, "full"), part = aj_ir_block(lo, "part"), go = aj_ir_block(lo, "go");
    LLVMBuildCondBr(b, whole, full, part);
    aj_ir_at(lo, full);
    aj_points p = aj_kernel_points(k, r->lanes, at, NULL);
    reduce_columns(r, &p, base);
    LLVMBuildBr(b, go);
    aj_ir_at(lo, part);
    p = aj_kernel_points(k, r->lanes, at, LLVMBuildSub(b, k->count, at, ""));
    reduce_columns(r, &p, base);
    LLVMBuildBr(b, go);
    aj_ir_at(lo, go);
  }
  aj_kernel_unlocate(k, saved);
  end_units(r, &units);
}

/* ---- units of work ---- */

/* Product of the extents of dims [first, last) whose bit is in `which`. */
LLVMValueRef aj_reduction_extent(aj_reduction *r, int32_t first, int32_t last, uint32_t which) {
  LLVMValueRef product = aj_ir_i64(r->lo, 1);
  for (int32_t d = first; d < last; d++)
    if (which >> d & 1) product = LLVMBuildMul(r->lo->b, product, r->k->extents[d], "");
  return product;
}

/* Units that make a block when each is about `points` points. */
LLVMValueRef aj_reduction_grain(aj_reduction *r, LLVMValueRef points) {
  LLVMBuilderRef b = r->lo->b;
  LLVMValueRef one = aj_ir_i64(r->lo, 1), zero = aj_ir_i64(r->lo, 0);
  LLVMValueRef some = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSGT, points, zero, ""), points, one, "");
  LLVMValueRef grain = LLVMBuildUDiv(b, aj_ir_i64(r->lo, aj_kernel_stretch(r->k)), some, "");
  return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSGT, grain, zero, ""), grain, one, "");
}

static void reduce_all(aj_reduction *r) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  for (uint32_t i = 0; i < k->result_count; i++)
    r->partials[i] = aj_ir_alloca(lo, aj_reduction_type(r, i, 1), PARTIALS + 1, AJ_NH_ALIGN);
  LLVMValueRef inside[AJ_KERNEL_RESULTS], mine[AJ_KERNEL_RESULTS];
  for (uint32_t i = 0; i < k->result_count; i++) inside[i] = mine[i] = r->partials[i];
  aj_block_begin(k, k->result_count, inside);
  if (lo->arena->failed) return;
  for (uint32_t i = 0; i < k->result_count; i++) r->partials[i] = inside[i];
  inner_blocks(r);
  aj_block_end(k);
  for (uint32_t i = 0; i < k->result_count; i++) r->partials[i] = mine[i];
  k->count = aj_reduction_extent(r, 0, k->rank, UINT32_MAX);
  aj_block_fold f = {.lanes = aj_reduce_lanes(r->dtype[0])};
  LLVMValueRef blocks = aj_reduction_count_blocks(r, &f);
  LLVMValueRef shift = partial_shift(r, blocks, (int64_t)f.lanes * AJ_REDUCE_STEPS);
  aj_block_run(k, blocks, LLVMBuildShl(lo->b, aj_ir_i64(lo, 1), shift, ""));
  join_partials(r, blocks, shift);
}

static void reduce_units(aj_reduction *r, int32_t inner, bool inner_reduced) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMValueRef count = aj_reduction_extent(r, 0, inner, ~k->reduced),
               points = aj_reduction_extent(r, 0, k->rank, k->reduced);
  if (!inner_reduced) {
    r->lanes = k->rank == 0 ? 1 : aj_reduction_columns(r);
    count = LLVMBuildMul(lo->b, count,
                         aj_reduction_count_vectors(r, aj_reduction_extent(r, inner, k->rank, UINT32_MAX)), "");
    points = LLVMBuildMul(lo->b, points, aj_ir_i64(lo, r->lanes), "");
  }
  bool small = aj_kernel_is_small(k);
  if (small) {
    k->from = aj_ir_i64(lo, 0);
    k->to = count;
  } else {
    aj_block_begin(k, k->result_count, r->out);
    if (lo->arena->failed) return;
  }
  if (inner_reduced)
    inner_rows(r, inner);
  else
    outer_vectors(r, inner);
  if (small) return;
  aj_block_end(k);
  aj_block_run(k, count, aj_reduction_grain(r, points));
}

aj_reduction aj_reduction_start(aj_kernel *k) {
  enum { LIGHT_BODY = 12 };
  aj_reduction r = {.k = k, .lo = k->lo, .light = k->size <= LIGHT_BODY};
  for (uint32_t i = 0; i < k->result_count; i++) {
    const aj_value *result = &k->node->results[i];
    r.dtype[i] = aj_kernel_dtype(k, i) == ARRJIT_BOOL ? ARRJIT_U8 : aj_kernel_dtype(k, i);
    if (result->type->rank == 0) continue;
    r.out[i] = aj_lower_dest(k->lo, k->scope, result);
    k->scope->vals[result->slot] = (aj_lv){.v = r.out[i]};
  }
  return r;
}

void aj_lower_reduce(aj_kernel *k) {
  aj_reduction r = aj_reduction_start(k);
  bool inner_reduced = k->rank > 0 && (k->reduced >> (k->rank - 1) & 1);
  int32_t inner = k->rank;
  while (inner > 0 && (k->reduced >> (inner - 1) & 1) == (inner_reduced ? 1u : 0u)) inner--;
  if (inner_reduced && inner == 0 && !aj_kernel_is_small(k))
    reduce_all(&r);
  else
    reduce_units(&r, inner, inner_reduced);
}
