/* Cumulative ops, in the one order that src/sem states.
 *
 * Along the last axis, a group of elements at a time: inclusive prefixes by strides 1, 2, 4 ... within the group, then
 * the carry, which is the last lane of what came out before. Along another axis a vector of neighbouring columns, row
 * by row. Threads share rows, or vectors of columns. */
#include "native/lower_reduce.h"

enum { MOST_GROUP = 16, GROUPS_UNPOLLED = 256 };

/* ---- one vector ---- */

/* Lane j has lane j - stride; the first ones have what nobody uses. */
static LLVMValueRef shift_up(aj_reduction *r, LLVMValueRef v, uint32_t lanes, uint32_t stride) {
  LLVMValueRef from[MOST_GROUP];
  for (uint32_t j = 0; j < lanes; j++) from[j] = aj_ir_i32(r->lo, (int32_t)(j < stride ? j : j - stride));
  return LLVMBuildShuffleVector(r->lo->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(from, lanes), "");
}

static LLVMValueRef lanes_from(aj_reduction *r, uint32_t lanes, uint32_t stride) {
  LLVMValueRef bits[MOST_GROUP];
  for (uint32_t j = 0; j < lanes; j++) bits[j] = LLVMConstInt(r->lo->t_i1, j >= stride, 0);
  return LLVMConstVector(bits, lanes);
}

static void make_prefixes(aj_reduction *r, uint32_t lanes, LLVMValueRef *v) {
  for (uint32_t stride = 1; stride < lanes; stride *= 2) {
    LLVMValueRef older[AJ_KERNEL_RESULTS], both[AJ_KERNEL_RESULTS], which = lanes_from(r, lanes, stride);
    for (uint32_t i = 0; i < r->k->result_count; i++) older[i] = shift_up(r, v[i], lanes, stride);
    aj_reduction_combine(r, lanes, older, v, both);
    for (uint32_t i = 0; i < r->k->result_count; i++) v[i] = LLVMBuildSelect(r->lo->b, which, both[i], v[i], "");
  }
}

static void load_points(aj_reduction *r, const aj_points *p, LLVMValueRef *out) {
  aj_lv values[AJ_KERNEL_RESULTS];
  aj_kernel_eval(r->k, p, p->at, values);
  for (uint32_t i = 0; i < r->k->result_count && !r->lo->arena->failed; i++)
    out[i] = aj_reduction_yielded(r, i, p->lanes, values[i]);
}

/* Carries or rows before: allocas, which `lanes` neighbours share. */
static void make_sums(aj_reduction *r, uint32_t lanes) {
  for (uint32_t i = 0; i < r->k->result_count; i++)
    r->sums[i] = aj_ir_alloca(r->lo, aj_reduction_type(r, i, lanes), 1, 0);
}

static void start_sums(aj_reduction *r, uint32_t lanes) {
  for (uint32_t i = 0; i < r->k->result_count; i++)
    LLVMBuildStore(r->lo->b, aj_reduction_identity(r, i, lanes, false), r->sums[i]);
}

/* ---- along the last axis ---- */

/* Lanes of a group from the back: a whole one turned round, of others one by one. */
static void store_turned(aj_reduction *r, uint32_t i, const aj_points *p, LLVMValueRef base, LLVMValueRef v) {
  aj_lower *lo = r->lo;
  LLVMValueRef end = LLVMBuildSub(lo->b, r->k->count, p->at, "");
  if (!p->mask) {
    LLVMValueRef from[MOST_GROUP];
    for (uint32_t j = 0; j < p->lanes; j++) from[j] = aj_ir_i32(lo, (int32_t)(p->lanes - 1 - j));
    v = LLVMBuildShuffleVector(lo->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(from, p->lanes), "");
    LLVMValueRef at = LLVMBuildSub(lo->b, end, aj_ir_i64(lo, p->lanes), "");
    aj_points turned = aj_kernel_points(r->k, p->lanes, at, NULL);
    aj_reduction_store(r, i, &turned, base, v);
    return;
  }
  aj_ir_loop loop = aj_ir_loop_begin(lo, p->left);
  LLVMValueRef behind = LLVMBuildAdd(lo->b, loop.index, aj_ir_i64(lo, 1), "");
  aj_points one = aj_kernel_points(r->k, 1, LLVMBuildSub(lo->b, end, behind, ""), NULL);
  aj_reduction_store(r, i, &one, base, LLVMBuildExtractElement(lo->b, v, loop.index, ""));
  aj_ir_loop_end(lo, &loop);
}

/* The group at p, and its carry when it is whole. */
static void scan_group(aj_reduction *r, const aj_points *p, LLVMValueRef base, LLVMValueRef first) {
  aj_lower *lo = r->lo;
  LLVMValueRef v[AJ_KERNEL_RESULTS], carry[AJ_KERNEL_RESULTS], out[AJ_KERNEL_RESULTS];
  load_points(r, p, v);
  if (lo->arena->failed) return;
  make_prefixes(r, p->lanes, v);
  for (uint32_t i = 0; i < r->k->result_count; i++)
    carry[i] = aj_ir_splat(lo, aj_ir_load(lo, aj_reduction_type(r, i, 1), r->sums[i]), p->lanes);
  aj_reduction_step(r, p->lanes, first, carry, v, out);
  for (uint32_t i = 0; i < r->k->result_count; i++) {
    if (r->k->reversed)
      store_turned(r, i, p, base, out[i]);
    else
      aj_reduction_store(r, i, p, base, out[i]);
    LLVMValueRef last = LLVMBuildExtractElement(lo->b, out[i], aj_ir_i32(lo, (int32_t)p->lanes - 1), "");
    LLVMBuildStore(lo->b, last, r->sums[i]);
  }
}

static void poll_now_and_then(aj_reduction *r, LLVMValueRef group) {
  aj_lower *lo = r->lo;
  LLVMBasicBlockRef ask = aj_ir_block(lo, "ask"), go = aj_ir_block(lo, "go");
  LLVMValueRef turn = LLVMBuildAnd(lo->b, group, aj_ir_i64(lo, GROUPS_UNPOLLED - 1), "");
  LLVMValueRef due = LLVMBuildICmp(lo->b, LLVMIntEQ, turn, aj_ir_i64(lo, GROUPS_UNPOLLED - 1), "");
  LLVMBuildCondBr(lo->b, due, ask, go);
  aj_ir_at(lo, ask);
  aj_kernel_poll(r->k);
  LLVMBuildBr(lo->b, go);
  aj_ir_at(lo, go);
}

static void scan_row(aj_reduction *r, LLVMValueRef row, uint32_t lanes) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMValueRef width = aj_ir_i64(lo, lanes), zero = aj_ir_i64(lo, 0), base = LLVMBuildMul(lo->b, row, k->count, "");
  LLVMValueRef groups = LLVMBuildUDiv(lo->b, k->count, width, ""), whole = LLVMBuildMul(lo->b, groups, width, "");
  start_sums(r, 1);
  aj_kernel_hoist(k);
  aj_ir_loop loop = aj_ir_loop_begin(lo, groups);
  poll_now_and_then(r, loop.index);
  aj_points p = aj_kernel_points(k, lanes, LLVMBuildMul(lo->b, loop.index, width, ""), NULL);
  scan_group(r, &p, base, LLVMBuildICmp(lo->b, LLVMIntEQ, loop.index, zero, ""));
  if (lo->arena->failed) return;
  aj_ir_loop_end(lo, &loop);
  LLVMBasicBlockRef part = aj_ir_block(lo, "part"), go = aj_ir_block(lo, "go");
  LLVMValueRef left = LLVMBuildSub(lo->b, k->count, whole, "");
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSGT, left, zero, ""), part, go);
  aj_ir_at(lo, part);
  p = aj_kernel_points(k, lanes, whole, left);
  scan_group(r, &p, base, LLVMBuildICmp(lo->b, LLVMIntEQ, groups, zero, ""));
  LLVMBuildBr(lo->b, go);
  aj_ir_at(lo, go);
}

/* ---- along another axis ---- */

/* A vector of neighbouring columns from p->at on. */
static void scan_columns(aj_reduction *r, const aj_points *p, LLVMValueRef block, int32_t axis) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  aj_kernel_loops loops;
  LLVMValueRef v[AJ_KERNEL_RESULTS], old[AJ_KERNEL_RESULTS], out[AJ_KERNEL_RESULTS];
  start_sums(r, p->lanes);
  aj_kernel_open(k, axis, axis + 1, UINT32_MAX, &loops);
  aj_kernel_poll(k);
  aj_kernel_hoist(k);
  load_points(r, p, v);
  if (lo->arena->failed) return;
  for (uint32_t i = 0; i < k->result_count; i++) old[i] = aj_ir_load(lo, aj_reduction_type(r, i, p->lanes), r->sums[i]);
  aj_reduction_step(r, p->lanes, LLVMBuildICmp(lo->b, LLVMIntEQ, k->index[axis], aj_ir_i64(lo, 0), ""), old, v, out);
  LLVMValueRef place = k->index[axis];
  if (k->reversed) {
    LLVMValueRef last = LLVMBuildSub(lo->b, k->extents[axis], aj_ir_i64(lo, 1), "");
    place = LLVMBuildSub(lo->b, last, place, "");
  }
  LLVMValueRef row = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, block, k->extents[axis], ""), place, "");
  LLVMValueRef base = LLVMBuildMul(lo->b, row, k->count, "");
  for (uint32_t i = 0; i < k->result_count; i++) {
    aj_reduction_store(r, i, p, base, out[i]);
    LLVMBuildStore(lo->b, out[i], r->sums[i]);
  }
  aj_kernel_close(k, &loops);
}

static void scan_unit(aj_reduction *r, LLVMValueRef unit, int32_t axis, LLVMValueRef *saved) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMBuilderRef b = lo->b;
  LLVMValueRef width = aj_ir_i64(lo, r->lanes), vectors = aj_reduction_count_vectors(r, k->count);
  LLVMValueRef block = LLVMBuildUDiv(b, unit, vectors, "");
  LLVMValueRef at = LLVMBuildMul(b, LLVMBuildSub(b, unit, LLVMBuildMul(b, block, vectors, ""), ""), width, "");
  aj_kernel_locate(k, axis, UINT32_MAX, block, saved);
  LLVMValueRef whole = LLVMBuildICmp(b, LLVMIntSLE, LLVMBuildAdd(b, at, width, ""), k->count, "");
  LLVMBasicBlockRef full = aj_ir_block(lo, "full"), part = aj_ir_block(lo, "part"), go = aj_ir_block(lo, "go");
  LLVMBuildCondBr(b, whole, full, part);
  aj_ir_at(lo, full);
  aj_points p = aj_kernel_points(k, r->lanes, at, NULL);
  scan_columns(r, &p, block, axis);
  LLVMBuildBr(b, go);
  aj_ir_at(lo, part);
  p = aj_kernel_points(k, r->lanes, at, LLVMBuildSub(b, k->count, at, ""));
  scan_columns(r, &p, block, axis);
  LLVMBuildBr(b, go);
  aj_ir_at(lo, go);
  aj_kernel_unlocate(k, saved);
}

/* ---- units of work ---- */

/* Units [k->from, k->to): rows, or vectors of columns. */
static void scan_units(aj_reduction *r, int32_t axis, bool last) {
  aj_kernel *k = r->k;
  aj_lower *lo = r->lo;
  LLVMValueRef *saved = AJ_NEW_ARRAY(lo->arena, k->operand_count, LLVMValueRef);
  if (!saved) return;
  aj_kernel_set_strides(k);
  aj_kernel_set_inner(k, last ? axis : axis + 1);
  make_sums(r, last ? 1 : r->lanes);
  aj_ir_loop units = aj_ir_loop_begin(lo, LLVMBuildSub(lo->b, k->to, k->from, ""));
  LLVMValueRef unit = LLVMBuildAdd(lo->b, k->from, units.index, "");
  if (last) {
    aj_kernel_locate(k, axis, UINT32_MAX, unit, saved);
    scan_row(r, unit, aj_scan_group(r->dtype[0]));
    aj_kernel_unlocate(k, saved);
  } else {
    scan_unit(r, unit, axis, saved);
  }
  if (!lo->arena->failed) aj_ir_loop_end(lo, &units);
}

void aj_lower_scan(aj_kernel *k) {
  aj_lower *lo = k->lo;
  int32_t axis = 0;
  while (!(k->reduced >> axis & 1)) axis++;
  bool last = axis == k->rank - 1, small = aj_kernel_is_small(k);
  aj_reduction r = aj_reduction_start(k);
  r.lanes = aj_reduction_columns(&r);
  LLVMValueRef count = aj_reduction_extent(&r, 0, axis, UINT32_MAX), points = k->extents[axis];
  if (!last) {
    LLVMValueRef columns = aj_reduction_extent(&r, axis + 1, k->rank, UINT32_MAX);
    count = LLVMBuildMul(lo->b, count, aj_reduction_count_vectors(&r, columns), "");
    points = LLVMBuildMul(lo->b, points, aj_ir_i64(lo, r.lanes), "");
  }
  k->from = aj_ir_i64(lo, 0);
  k->to = count;
  if (!small) aj_block_begin(k, k->result_count, r.out);
  if (lo->arena->failed) return;
  scan_units(&r, axis, last);
  if (small || lo->arena->failed) return;
  aj_block_end(k);
  aj_block_run(k, count, aj_reduction_grain(&r, points));
}
