/* Elementwise kernels: every point of the space [from, to), in vectors.
 *
 * The body is made once. A stretch of the inner dims ends in a vector that overlaps the one before, as what a kernel
 * writes is nothing it reads: computing some points twice does no harm. One that is shorter than a vector runs on
 * copies in buffers of a whole vector. So no element type needs masked access, which is slow on some CPUs and missing
 * for narrow types. */
#include "native/lower_kernel.h"

typedef struct elementwise {
  aj_kernel *k;
  LLVMValueRef *out; /* elements at inner index 0 */
  uint32_t first;    /* of the results that are stored */
  LLVMValueRef flat; /* index of that point in the space */
} elementwise;

/* ---- buffers ---- */

/* Pointers of dense operands and of results: where they are in k and e. The last ones are results. */
typedef struct buffers {
  uint32_t count, results;
  LLVMValueRef **where, *real, *moved, *memory;
  arrjit_dtype *dtypes;
} buffers;

static bool make_buffers(elementwise *e, buffers *t) {
  aj_kernel *k = e->k;
  aj_arena *arena = k->lo->arena;
  size_t most = (size_t)k->operand_count + k->result_count;
  *t = (buffers){.results = k->result_count - e->first,
                 .where = AJ_NEW_ARRAY(arena, most, LLVMValueRef *),
                 .real = AJ_NEW_ARRAY(arena, most, LLVMValueRef),
                 .moved = AJ_NEW_ARRAY(arena, most, LLVMValueRef),
                 .memory = AJ_NEW_ARRAY(arena, most, LLVMValueRef),
                 .dtypes = AJ_NEW_ARRAY(arena, most, arrjit_dtype)};
  if (arena->failed) return false;
  for (uint32_t i = 0; i < k->operand_count; i++) {
    if (k->operands[i].access != AJ_ACCESS_DENSE) continue;
    t->dtypes[t->count] = k->operands[i].dtype;
    t->where[t->count++] = &k->operands[i].pointer;
  }
  for (uint32_t i = e->first; i < k->result_count; i++) {
    t->dtypes[t->count] = aj_kernel_dtype(k, i);
    t->where[t->count++] = &e->out[i];
  }
  for (uint32_t i = 0; i < t->count; i++) t->real[i] = *t->where[i];
  return true;
}

static LLVMValueRef buffer_bytes(elementwise *e, const buffers *t, uint32_t i, LLVMValueRef count) {
  return LLVMBuildMul(e->k->lo->b, count, aj_ir_i64(e->k->lo, aj_dtypes[t->dtypes[i]].bytes), "");
}

/* `count` elements of each operand from index `from` on, into buffers that are 0 beyond; t->moved see the buffers where
 * the arrays go on. */
static void fill_buffers(elementwise *e, buffers *t, LLVMValueRef from, LLVMValueRef count) {
  aj_lower *lo = e->k->lo;
  LLVMValueRef back = LLVMBuildNeg(lo->b, from, "");
  for (uint32_t i = 0; i < t->count; i++) {
    LLVMTypeRef type = aj_ir_memory_type(lo, t->dtypes[i], e->k->lanes);
    t->memory[i] = aj_ir_alloca(lo, type, 1, AJ_NH_ALIGN);
    if (i + t->results < t->count) {
      LLVMBuildStore(lo->b, LLVMConstNull(type), t->memory[i]);
      aj_ir_copy(lo, t->memory[i], aj_ir_index(lo, t->real[i], t->dtypes[i], from), buffer_bytes(e, t, i, count));
    }
    t->moved[i] = aj_ir_index(lo, t->memory[i], t->dtypes[i], back);
  }
}

static void empty_buffers(elementwise *e, const buffers *t, LLVMValueRef from, LLVMValueRef count) {
  aj_lower *lo = e->k->lo;
  for (uint32_t i = t->count - t->results; i < t->count; i++)
    aj_ir_copy(lo, aj_ir_index(lo, t->real[i], t->dtypes[i], from), t->memory[i], buffer_bytes(e, t, i, count));
}

/* ---- a stretch of the inner dims ---- */

static void eval_and_store(elementwise *e, const aj_points *p) {
  aj_kernel *k = e->k;
  aj_lv *results = AJ_NEW_ARRAY(k->lo->arena, k->result_count, aj_lv);
  if (!results) return;
  LLVMValueRef flat = LLVMBuildAdd(k->lo->b, e->flat, p->at, "");
  aj_kernel_eval(k, p, flat, results);
  if (k->finds && !k->lo->arena->failed) aj_kernel_find_false(k, p, results[0].v, flat);
  for (uint32_t i = e->first; i < k->result_count && !k->lo->arena->failed; i++)
    aj_kernel_store(k, p, aj_kernel_dtype(k, i), e->out[i], results[i]);
}

/* Vectors at from, from + lanes, ..., and the last one at `last` at most. */
static void vector_loop(elementwise *e, LLVMValueRef from, LLVMValueRef last, LLVMValueRef limit) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBuilderRef b = lo->b;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), body = aj_ir_block(lo, "vector"), exit = aj_ir_block(lo, "done");
  LLVMBuildBr(b, body);
  aj_ir_at(lo, body);
  LLVMValueRef at = aj_ir_phi(lo, lo->t_i64, from, before);
  aj_points p = {.lanes = k->lanes, .at = at, .limit = limit};
  eval_and_store(e, &p);
  LLVMValueRef next = LLVMBuildNSWAdd(b, at, aj_ir_i64(lo, k->lanes), "");
  next = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, next, last, ""), next, last, "");
  aj_ir_add_incoming(at, next, LLVMGetInsertBlock(b));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, at, last, ""), body, exit);
  aj_ir_at(lo, exit);
}

static bool known_bool(LLVMValueRef condition, bool *out) {
  if (!LLVMIsAConstantInt(condition)) return false;
  *out = LLVMConstIntGetZExtValue(condition) != 0;
  return true;
}

/* Inner points [from, to), at least one. */
static void stretch(elementwise *e, LLVMValueRef from, LLVMValueRef to) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBuilderRef b = lo->b;
  LLVMValueRef lanes = aj_ir_i64(lo, k->lanes), count = LLVMBuildSub(b, to, from, "");
  LLVMValueRef whole_last = LLVMBuildSub(b, to, lanes, ""), few = LLVMBuildICmp(b, LLVMIntSLT, count, lanes, "");
  bool is_few;
  if (known_bool(few, &is_few) && !is_few) {
    vector_loop(e, from, whole_last, NULL);
    return;
  }
  buffers t;
  if (!make_buffers(e, &t)) return;
  LLVMBasicBlockRef start = LLVMGetInsertBlock(b), fill = aj_ir_block(lo, "fill"), loop = aj_ir_block(lo, "loop"),
                    flush = aj_ir_block(lo, "flush"), done = aj_ir_block(lo, "done");
  LLVMBuildCondBr(b, few, fill, loop);
  aj_ir_at(lo, fill);
  fill_buffers(e, &t, from, count);
  LLVMBuildBr(b, loop);
  aj_ir_at(lo, loop);
  for (uint32_t i = 0; i < t.count; i++) {
    *t.where[i] = aj_ir_phi(lo, lo->t_ptr, t.real[i], start);
    aj_ir_add_incoming(*t.where[i], t.moved[i], fill);
  }
  LLVMValueRef last = aj_ir_phi(lo, lo->t_i64, whole_last, start);
  aj_ir_add_incoming(last, from, fill);
  vector_loop(e, from, last, to);
  LLVMBuildCondBr(b, few, flush, done);
  aj_ir_at(lo, flush);
  empty_buffers(e, &t, from, count);
  LLVMBuildBr(b, done);
  aj_ir_at(lo, done);
  for (uint32_t i = 0; i < t.count; i++) *t.where[i] = t.real[i];
}

/* ---- the space ---- */

/* The greater (or lesser) of two. */
static LLVMValueRef pick(aj_lower *lo, LLVMIntPredicate predicate, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, predicate, x, y, ""), x, y, "");
}

/* One row: the outer dims at its indices, of the inner ones what lies in [from, to). */
static void one_row(elementwise *e, LLVMValueRef row, int32_t inner) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBuilderRef b = lo->b;
  LLVMValueRef *saved = AJ_NEW_ARRAY(lo->arena, k->operand_count, LLVMValueRef);
  LLVMValueRef *out = AJ_NEW_ARRAY(lo->arena, k->result_count, LLVMValueRef);
  if (!saved || !out) return;
  e->flat = LLVMBuildMul(b, row, k->count, "");
  LLVMValueRef from = pick(lo, LLVMIntSGT, LLVMBuildSub(b, k->from, e->flat, ""), aj_ir_i64(lo, 0));
  LLVMValueRef to = pick(lo, LLVMIntSLT, LLVMBuildSub(b, k->to, e->flat, ""), k->count);
  aj_kernel_locate(k, inner, UINT32_MAX, row, saved);
  for (uint32_t i = e->first; i < k->result_count; i++) {
    out[i] = e->out[i];
    e->out[i] = aj_ir_index(lo, out[i], aj_kernel_dtype(k, i), e->flat);
  }
  aj_kernel_hoist(k);
  stretch(e, from, to);
  for (uint32_t i = e->first; i < k->result_count; i++) e->out[i] = out[i];
  aj_kernel_unlocate(k, saved);
}

/* Points [k->from, k->to) of the space, if there are any. */
static void all_points(elementwise *e) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBuilderRef b = lo->b;
  int32_t inner = k->rank - 1;
  while (inner > 0 && aj_kernel_merges(k, inner - 1)) inner--;
  aj_kernel_set_strides(k);
  aj_kernel_set_inner(k, inner);
  LLVMBasicBlockRef some = aj_ir_block(lo, "some"), none = aj_ir_block(lo, "none");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, k->from, k->to, ""), some, none);
  aj_ir_at(lo, some);
  if (inner == 0) {
    e->flat = aj_ir_i64(lo, 0);
    aj_kernel_hoist(k);
    stretch(e, k->from, k->to);
  } else {
    LLVMValueRef first = LLVMBuildUDiv(b, k->from, k->count, "");
    LLVMValueRef last = LLVMBuildUDiv(b, LLVMBuildSub(b, k->to, aj_ir_i64(lo, 1), ""), k->count, "");
    LLVMValueRef rows = LLVMBuildAdd(b, LLVMBuildSub(b, last, first, ""), aj_ir_i64(lo, 1), "");
    aj_ir_loop loop = aj_ir_loop_begin(lo, rows);
    one_row(e, LLVMBuildAdd(b, first, loop.index, ""), inner);
    aj_ir_loop_end(lo, &loop);
  }
  LLVMBuildBr(b, none);
  aj_ir_at(lo, none);
}

/* Elements that are not read in a row: each may be a cache line of its own. */
enum { SCATTERED = 8 };
static bool is_scattered(const aj_kernel *k) {
  for (uint32_t i = 0; i < k->operand_count; i++)
    if (k->operands[i].access == AJ_ACCESS_STRIDED || k->operands[i].access == AJ_ACCESS_COMPUTED) return true;
  return false;
}

void aj_lower_elementwise(aj_kernel *k) {
  aj_lower *lo = k->lo;
  elementwise e = {.k = k, .first = k->finds ? 1 : 0, .out = AJ_NEW_ARRAY(lo->arena, k->result_count, LLVMValueRef)};
  if (!e.out) return;
  LLVMValueRef count = aj_ir_i64(lo, 1);
  for (int32_t d = 0; d < k->rank; d++) count = LLVMBuildMul(lo->b, count, k->extents[d], "");
  for (uint32_t i = e.first; i < k->result_count; i++) {
    const aj_value *result = &k->node->results[i];
    e.out[i] = aj_lower_dest(lo, k->scope, result);
    k->scope->vals[result->slot] = (aj_lv){.v = e.out[i]};
  }
  if (aj_kernel_is_small(k) && !k->finds) {
    k->from = aj_ir_i64(lo, 0);
    k->to = count;
    all_points(&e);
    return;
  }
  aj_block_begin(k, k->result_count - e.first, e.out + e.first);
  if (lo->arena->failed) return;
  all_points(&e);
  aj_block_end(k);
  LLVMValueRef result = aj_block_run(k, count, aj_ir_i64(lo, aj_kernel_stretch(k) / (is_scattered(k) ? SCATTERED : 1)));
  if (k->finds) k->scope->vals[k->node->results[0].slot] = (aj_lv){.v = result, .nan = AJ_NAN_CANON};
}
