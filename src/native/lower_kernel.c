/* Kernels: fixed-width vector loops over an iteration space. Dims that all operands walk through as if they were one
 * become one inner loop of whole vectors; the dims before are scalar loops. What does not fill a vector runs through
 * the same loop once more, on copies in buffers of a whole vector: so the body is made once, and no element type needs
 * masked access. */
#include "native/lower_map.h"

#include <string.h>

/* Points of a light body between polls, some 10 us; a heavier one gets fewer. */
enum { POLL_SHIFT = 15, LEAST_POLL_SHIFT = 9 };

/* ---- strides ---- */

/* Stride of operand dim j in elements. */
static LLVMValueRef dense_stride(aj_lower *lo, const aj_kernel_operand *o, int32_t j) {
  LLVMValueRef stride = aj_ir_i64(lo, 1);
  for (int32_t i = o->rank - 1; i > j; i--) stride = LLVMBuildMul(lo->b, stride, aj_ir_dim(lo, o->dims[i]), "");
  return stride;
}

/* Strides by iteration dim, and the pointer moved to where all indices are 0. `turned`: dims that run backwards from
 * their last element, whose extent may be a symbol. */
static void set_strides(aj_kernel *k, aj_kernel_operand *o, uint32_t turned) {
  aj_lower *lo = k->lo;
  if (o->rank == 0 || o->lv.splat) return;
  LLVMValueRef offset = aj_ir_i64(lo, 0);
  for (int32_t j = 0; j < o->rank; j++) {
    aj_index_term *t = &o->terms[j];
    LLVMValueRef stride = dense_stride(lo, o, j), start = aj_ir_i64(lo, t->offset);
    if (turned >> j & 1) start = LLVMBuildSub(lo->b, aj_ir_dim(lo, o->dims[j]), aj_ir_i64(lo, 1), "");
    offset = LLVMBuildAdd(lo->b, offset, LLVMBuildMul(lo->b, stride, start, ""), "");
    if (t->axis < 0) continue;
    LLVMValueRef step = LLVMBuildMul(lo->b, stride, aj_ir_i64(lo, t->step), "");
    LLVMValueRef *sum = &o->strides[t->axis];
    *sum = *sum ? LLVMBuildAdd(lo->b, *sum, step, "") : step;
  }
  o->pointer = aj_ir_index(lo, o->lv.v, o->dtype, offset);
}

/* The operand dim that follows iteration dim d alone, -1: none does, -2: several do. */
static int32_t dim_of(const aj_kernel_operand *o, int32_t d) {
  int32_t found = -1;
  for (int32_t j = 0; j < o->rank; j++)
    if (o->terms[j].axis == d) found = found == -1 ? j : -2;
  return found;
}

/* Whether the operand walks dims d and d + 1 as if they were one. */
static bool merges(const aj_kernel *k, const aj_kernel_operand *o, int32_t d) {
  if (o->rank == 0 || o->lv.splat) return true;
  int32_t a = dim_of(o, d), b = dim_of(o, d + 1);
  if (a == -1 && b == -1) return true;
  return a >= 0 && b == a + 1 && o->terms[a].step == 1 && o->terms[b].step == 1 && o->terms[b].offset == 0 &&
         aj_dim_equal(o->dims[b], k->dims[d + 1]);
}

static bool all_merge(const aj_kernel *k, int32_t d) {
  if ((k->indexed >> d & 1) || (k->indexed >> (d + 1) & 1)) return false;
  for (uint32_t i = 0; i < k->operand_count; i++)
    if (!merges(k, &k->operands[i], d)) return false;
  return true;
}

static bool is_one(LLVMValueRef value) { return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == 1; }

static aj_access find_access(const aj_kernel *k, const aj_kernel_operand *o) {
  if (o->rank == 0 || o->lv.splat) return AJ_ACCESS_SPLAT;
  bool any = false;
  for (int32_t d = k->inner; d < k->rank; d++) any = any || o->strides[d];
  if (!any) return AJ_ACCESS_SPLAT;
  for (int32_t d = k->inner; d + 1 < k->rank; d++)
    if (!merges(k, o, d)) return AJ_ACCESS_COMPUTED;
  return is_one(o->strides[k->rank - 1]) ? AJ_ACCESS_DENSE : AJ_ACCESS_STRIDED;
}

void aj_kernel_set_inner(aj_kernel *k, int32_t inner) {
  k->inner = inner;
  k->count = aj_ir_i64(k->lo, 1);
  for (int32_t d = inner; d < k->rank; d++) k->count = LLVMBuildMul(k->lo->b, k->count, k->extents[d], "");
  for (uint32_t i = 0; i < k->operand_count; i++) k->operands[i].access = find_access(k, &k->operands[i]);
}

void aj_kernel_hoist(aj_kernel *k) {
  for (uint32_t i = 0; i < k->operand_count; i++) {
    aj_kernel_operand *o = &k->operands[i];
    if (o->access != AJ_ACCESS_SPLAT) continue;
    o->hoisted = o->rank == 0 ? o->lv : aj_ir_load_element(k->lo, o->dtype, 1, o->pointer);
    o->hoisted.splat = false;
  }
}

/* ---- loops ---- */

void aj_kernel_open(aj_kernel *k, int32_t first, int32_t last, uint32_t which, aj_kernel_loops *out) {
  out->count = 0;
  out->pointers = AJ_NEW_ARRAY(k->lo->arena, k->operand_count, LLVMValueRef);
  if (!out->pointers) return;
  for (uint32_t i = 0; i < k->operand_count; i++) out->pointers[i] = k->operands[i].pointer;
  for (int32_t d = first; d < last; d++) {
    if (!(which >> d & 1)) continue;
    aj_ir_loop *loop = &out->loops[out->count++];
    *loop = aj_ir_loop_begin(k->lo, k->extents[d]);
    k->index[d] = loop->index;
    for (uint32_t i = 0; i < k->operand_count; i++) {
      aj_kernel_operand *o = &k->operands[i];
      if (!o->strides[d]) continue;
      LLVMValueRef offset = LLVMBuildMul(k->lo->b, loop->index, o->strides[d], "");
      o->pointer = aj_ir_index(k->lo, o->pointer, o->dtype, offset);
    }
  }
}

void aj_kernel_close(aj_kernel *k, aj_kernel_loops *loops) {
  while (loops->count > 0) aj_ir_loop_end(k->lo, &loops->loops[--loops->count]);
  for (uint32_t i = 0; i < k->operand_count && loops->pointers; i++) k->operands[i].pointer = loops->pointers[i];
}

static uint32_t poll_shift(const aj_kernel *k) {
  uint32_t shift = POLL_SHIFT;
  for (uint32_t nodes = 16; nodes < k->size && shift > LEAST_POLL_SHIFT; nodes *= 2) shift--;
  return shift;
}

/* Whether all points together are few enough to go without a poll. */
static bool is_small(const aj_kernel *k) {
  int64_t count = 1, most = INT64_C(1) << poll_shift(k);
  for (int32_t d = 0; d < k->rank; d++) {
    if (aj_dim_is_symbol(k->dims[d]) || k->dims[d] > most) return false;
    count *= k->dims[d];
    if (count > most) return false;
  }
  return true;
}

void aj_kernel_poll(aj_kernel *k) {
  if (!is_small(k)) aj_lower_poll(k->lo, k->scope, k->node, false);
}

/* ---- elementwise ---- */

typedef struct elementwise {
  aj_kernel *k;
  LLVMValueRef *out;  /* element at the outer indices */
  LLVMValueRef flat;  /* index of that element */
  LLVMValueRef limit; /* see aj_points */
} elementwise;

static void eval_and_store(elementwise *e, const aj_points *p) {
  aj_kernel *k = e->k;
  aj_lv *results = AJ_NEW_ARRAY(k->lo->arena, k->result_count, aj_lv);
  if (!results) return;
  aj_kernel_eval(k, p, LLVMBuildAdd(k->lo->b, e->flat, p->at, ""), results);
  for (uint32_t i = 0; i < k->result_count && !k->lo->arena->failed; i++)
    aj_kernel_store(k, p, aj_kernel_dtype(k, i), e->out[i], results[i]);
}

/* Whole vectors from `from` to before `to`, a multiple of lanes further. */
static void vector_loop(elementwise *e, LLVMValueRef from, LLVMValueRef to) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), head = aj_ir_block(lo, "vector"),
                    body = aj_ir_block(lo, "body"), exit = aj_ir_block(lo, "done");
  LLVMBuildBr(lo->b, head);
  aj_ir_at(lo, head);
  LLVMValueRef at = aj_ir_phi(lo, lo->t_i64, from, before);
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, at, to, ""), body, exit);
  aj_ir_at(lo, body);
  aj_points p = {.lanes = k->lanes, .at = at, .limit = e->limit};
  eval_and_store(e, &p);
  aj_ir_add_incoming(at, LLVMBuildNSWAdd(lo->b, at, aj_ir_i64(lo, k->lanes), ""), LLVMGetInsertBlock(lo->b));
  LLVMBuildBr(lo->b, head);
  aj_ir_at(lo, exit);
}

/* The same in stretches between polls. */
static void stretches(elementwise *e, LLVMValueRef from, LLVMValueRef to) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBuilderRef b = lo->b;
  if (is_small(k)) {
    vector_loop(e, from, to);
    return;
  }
  uint32_t shift = poll_shift(k);
  LLVMValueRef stretch = aj_ir_i64(lo, INT64_C(1) << shift), more = LLVMBuildSub(b, to, from, "");
  LLVMValueRef up = LLVMBuildAdd(b, more, aj_ir_i64(lo, (INT64_C(1) << shift) - 1), "");
  LLVMValueRef count = LLVMBuildLShr(b, up, aj_ir_i64(lo, shift), "");
  aj_ir_loop loop = aj_ir_loop_begin(lo, count);
  aj_kernel_poll(k);
  LLVMValueRef start = LLVMBuildAdd(b, from, LLVMBuildMul(b, loop.index, stretch, ""), "");
  LLVMValueRef end = LLVMBuildAdd(b, start, stretch, "");
  vector_loop(e, start, LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, end, to, ""), end, to, ""));
  aj_ir_loop_end(lo, &loop);
}

/* Pointers of dense operands and of results, `count` of them: where they are in k and e. */
static uint32_t dense_pointers(elementwise *e, LLVMValueRef **out, arrjit_dtype *out_dtypes) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->k->operand_count; i++) {
    if (e->k->operands[i].access != AJ_ACCESS_DENSE) continue;
    out_dtypes[count] = e->k->operands[i].dtype;
    out[count++] = &e->k->operands[i].pointer;
  }
  for (uint32_t i = 0; i < e->k->result_count; i++) {
    out_dtypes[count] = aj_kernel_dtype(e->k, i);
    out[count++] = &e->out[i];
  }
  return count;
}

typedef struct tail {
  uint32_t count, results; /* pointers; the last ones are results */
  LLVMValueRef **where, *real, *buffers;
  arrjit_dtype *dtypes;
  LLVMValueRef whole, left; /* elements before the tail, and in it */
} tail;

static bool make_tail(elementwise *e, tail *t) {
  aj_arena *arena = e->k->lo->arena;
  size_t most = (size_t)e->k->operand_count + e->k->result_count;
  t->where = AJ_NEW_ARRAY(arena, most, LLVMValueRef *);
  t->real = AJ_NEW_ARRAY(arena, most, LLVMValueRef);
  t->buffers = AJ_NEW_ARRAY(arena, most, LLVMValueRef);
  t->dtypes = AJ_NEW_ARRAY(arena, most, arrjit_dtype);
  if (arena->failed) return false;
  t->count = dense_pointers(e, t->where, t->dtypes);
  t->results = e->k->result_count;
  for (uint32_t i = 0; i < t->count; i++) t->real[i] = *t->where[i];
  return true;
}

static void copy_tail(elementwise *e, const tail *t, uint32_t i, bool out) {
  aj_lower *lo = e->k->lo;
  LLVMValueRef bytes = LLVMBuildMul(lo->b, t->left, aj_ir_i64(lo, aj_dtypes[t->dtypes[i]].bytes), "");
  LLVMValueRef there = aj_ir_index(lo, t->real[i], t->dtypes[i], t->whole);
  if (out)
    aj_ir_copy(lo, there, t->buffers[i], bytes);
  else
    aj_ir_copy(lo, t->buffers[i], there, bytes);
}

/* Operands' last elements into buffers that are 0 beyond; returns the pointers that see the buffers where the arrays go
 * on. */
static void fill_buffers(elementwise *e, tail *t, LLVMValueRef *pointers) {
  aj_lower *lo = e->k->lo;
  LLVMValueRef back = LLVMBuildNeg(lo->b, t->whole, "");
  for (uint32_t i = 0; i < t->count; i++) {
    LLVMTypeRef type = aj_ir_memory_type(lo, t->dtypes[i], e->k->lanes);
    t->buffers[i] = aj_ir_alloca(lo, type, 1, AJ_NH_ALIGN);
    if (i + t->results < t->count) {
      LLVMBuildStore(lo->b, LLVMConstNull(type), t->buffers[i]);
      copy_tail(e, t, i, false);
    }
    pointers[i] = aj_ir_index(lo, t->buffers[i], t->dtypes[i], back);
  }
}

/* All inner points: first the whole vectors, then, round the same code once more, what is left. */
static void inner_loops(elementwise *e) {
  aj_kernel *k = e->k;
  aj_lower *lo = k->lo;
  LLVMBuilderRef b = lo->b;
  tail t;
  if (!make_tail(e, &t)) return;
  LLVMValueRef zero = aj_ir_i64(lo, 0);
  t.whole = LLVMBuildAnd(b, k->count, aj_ir_i64(lo, -(int64_t)k->lanes), "");
  t.left = LLVMBuildSub(b, k->count, t.whole, "");
  if (LLVMIsAConstantInt(t.left) && LLVMConstIntGetSExtValue(t.left) == 0) {
    stretches(e, zero, t.whole);
    return;
  }
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), round = aj_ir_block(lo, "round"),
                    refill = aj_ir_block(lo, "refill"), flush = aj_ir_block(lo, "flush"),
                    rest = aj_ir_block(lo, "rest"), done = aj_ir_block(lo, "done");
  LLVMBuildBr(b, round);
  aj_ir_at(lo, round);
  LLVMValueRef from = aj_ir_phi(lo, lo->t_i64, zero, before), to = aj_ir_phi(lo, lo->t_i64, t.whole, before);
  LLVMValueRef second = aj_ir_phi(lo, lo->t_i1, LLVMConstInt(lo->t_i1, 0, 0), before);
  for (uint32_t i = 0; i < t.count; i++) *t.where[i] = aj_ir_phi(lo, lo->t_ptr, t.real[i], before);
  e->limit = k->count;
  stretches(e, from, to);
  LLVMBuildCondBr(b, second, flush, rest);
  aj_ir_at(lo, rest);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGT, t.left, zero, ""), refill, done);
  aj_ir_at(lo, refill);
  LLVMValueRef *pointers = AJ_NEW_ARRAY(lo->arena, t.count, LLVMValueRef);
  if (!pointers) return;
  fill_buffers(e, &t, pointers);
  aj_ir_add_incoming(from, t.whole, refill);
  aj_ir_add_incoming(to, LLVMBuildAdd(b, t.whole, aj_ir_i64(lo, k->lanes), ""), refill);
  aj_ir_add_incoming(second, LLVMConstInt(lo->t_i1, 1, 0), refill);
  for (uint32_t i = 0; i < t.count; i++) aj_ir_add_incoming(*t.where[i], pointers[i], refill);
  LLVMBuildBr(b, round);
  aj_ir_at(lo, flush);
  for (uint32_t i = t.count - t.results; i < t.count; i++) copy_tail(e, &t, i, true);
  LLVMBuildBr(b, done);
  aj_ir_at(lo, done);
  for (uint32_t i = 0; i < t.count; i++) *t.where[i] = t.real[i];
}

static void lower_elementwise(aj_kernel *k) {
  aj_lower *lo = k->lo;
  elementwise e = {.k = k, .out = AJ_NEW_ARRAY(lo->arena, k->result_count, LLVMValueRef)};
  if (!e.out) return;
  int32_t inner = k->rank - 1;
  while (inner > 0 && all_merge(k, inner - 1)) inner--;
  aj_kernel_set_inner(k, inner);
  for (uint32_t i = 0; i < k->result_count; i++) {
    const aj_value *result = &k->node->results[i];
    e.out[i] = aj_lower_dest(lo, k->scope, result);
    k->scope->vals[result->slot] = (aj_lv){.v = e.out[i]};
  }
  aj_kernel_loops loops;
  aj_kernel_open(k, 0, inner, UINT32_MAX, &loops);
  e.flat = aj_ir_i64(lo, 0);
  for (int32_t d = 0; d < inner; d++)
    e.flat = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, e.flat, k->extents[d], ""), k->index[d], "");
  e.flat = LLVMBuildMul(lo->b, e.flat, k->count, "");
  for (uint32_t i = 0; i < k->result_count; i++) e.out[i] = aj_ir_index(lo, e.out[i], aj_kernel_dtype(k, i), e.flat);
  aj_kernel_hoist(k);
  inner_loops(&e);
  aj_kernel_close(k, &loops);
}

/* A space of rank 0: one point, its results in registers. */
static void lower_point(aj_kernel *k) {
  aj_lv *results = AJ_NEW_ARRAY(k->lo->arena, k->result_count, aj_lv);
  if (!results) return;
  aj_kernel_set_inner(k, 0);
  aj_kernel_hoist(k);
  aj_points p = aj_kernel_points(k, 1, aj_ir_i64(k->lo, 0), NULL);
  aj_kernel_eval(k, &p, aj_ir_i64(k->lo, 0), results);
  for (uint32_t i = 0; i < k->result_count && !k->lo->arena->failed; i++)
    k->scope->vals[k->node->results[i].slot] = results[i];
}

/* ---- setting up ---- */

arrjit_dtype aj_kernel_dtype(const aj_kernel *k, uint32_t result) { return k->node->results[result].type->dtype; }

/* Lanes so that the widest element fills two registers. Captures of maps stay scalars where they can. */
static uint32_t choose_lanes(const aj_kernel *k) {
  uint32_t widest = 1;
  bool is_map = aj_kernel_is_map(k->node);
  for (uint32_t i = 0; i < k->operand_count; i++)
    if (!is_map || k->operands[i].rank > 0)
      widest = aj_dtypes[k->operands[i].dtype].bytes > widest ? aj_dtypes[k->operands[i].dtype].bytes : widest;
  for (uint32_t i = 0; i < k->result_count; i++) {
    uint32_t of = aj_dtypes[k->node->results[i].type->dtype].bytes;
    widest = of > widest ? of : widest;
  }
  uint32_t inside = k->body ? aj_map_widest(k->body) : 1;
  widest = inside > widest ? inside : widest;
  uint32_t lanes = 2 * k->lo->target->vector_bytes / widest;
  return lanes > 32 ? 32 : lanes;
}

static bool start_kernel(aj_kernel *k, aj_lower *lo, aj_scope *scope, const aj_node *node, int32_t rank,
                         const int64_t *dims) {
  *k = (aj_kernel){.lo = lo,
                   .scope = scope,
                   .node = node,
                   .rank = rank,
                   .operand_count = node->operand_count,
                   .result_count = node->result_count};
  for (int32_t d = 0; d < rank; d++) {
    k->dims[d] = dims[d];
    k->extents[d] = aj_ir_dim(lo, dims[d]);
  }
  k->operands = AJ_NEW_ARRAY(lo->arena, node->operand_count, aj_kernel_operand);
  if (!k->operands) return false;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const aj_type *type = node->operands[i]->type;
    k->operands[i].lv = scope->vals[node->operands[i]->slot];
    k->operands[i].dtype = type->dtype;
    k->operands[i].rank = type->rank;
    k->operands[i].dims = type->dims;
    k->operands[i].pointer = k->operands[i].lv.v;
  }
  lo->wants_passes = true;
  lo->kernels++;
  return true;
}

static void finish_kernel(aj_kernel *k) {
  k->lanes = choose_lanes(k);
  if (k->combine[0] != AJ_OP_NONE)
    aj_lower_reduce(k);
  else if (k->rank == 0)
    lower_point(k);
  else
    lower_elementwise(k);
}

void aj_lower_kernel(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_kernel k;
  const aj_attr *shape = aj_node_attr(node, AJ_ATTR_SHAPE), *reduced = aj_node_attr(node, AJ_ATTR_REDUCED);
  const aj_attr *combine = aj_node_attr(node, AJ_ATTR_COMBINE);
  if (!start_kernel(&k, lo, scope, node, (int32_t)shape->count, shape->u.ints)) return;
  k.body = node->regions[0];
  k.size = aj_map_size(k.body);
  for (uint32_t pc = 0; pc < k.body->node_count; pc++)
    if (k.body->nodes[pc]->op == AJ_OP_LANE_INDEX) k.indexed |= 1u << aj_node_int(k.body->nodes[pc], AJ_ATTR_AXIS);
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_kernel_map(node, i, k.operands[i].terms, &k.operands[i].rank);
    if (node->operands[i]->type->rank == 0) k.operands[i].rank = 0;
    set_strides(&k, &k.operands[i], 0);
  }
  for (uint32_t i = 0; reduced && i < reduced->count; i++) k.reduced |= 1u << reduced->u.ints[i];
  for (uint32_t i = 0; i < combine->count && i < AJ_KERNEL_RESULTS; i++) k.combine[i] = (aj_op)combine->u.ints[i];
  lo->lowered += k.size;
  finish_kernel(&k);
}

/* A map that is no kernel: its arguments are read as they are. */
void aj_lower_map(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_kernel k;
  const aj_type *shape = node->operands[0]->type;
  if (!start_kernel(&k, lo, scope, node, shape->rank, shape->dims)) return;
  k.body = node->regions[0];
  k.size = aj_map_size(k.body);
  for (uint32_t i = 0; i < node->operand_count; i++) {
    for (int32_t d = 0; d < k.operands[i].rank; d++) k.operands[i].terms[d] = (aj_index_term){d, 0, 1};
    set_strides(&k, &k.operands[i], 0);
  }
  lo->lowered += k.size;
  finish_kernel(&k);
}

/* ---- nodes that are no kernels ---- */

/* The maps of a MAP op's operand; returns the operand dims that run backwards. */
static uint32_t map_operand(const aj_node *node, aj_kernel_operand *o) {
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES), *start = aj_node_attr(node, AJ_ATTR_START);
  const aj_type *to = node->results[0].type;
  uint32_t turned = 0;
  for (int32_t i = 0; i < o->rank; i++) o->terms[i] = (aj_index_term){i, 0, 1};
  if (node->op == AJ_OP_TRANSPOSE)
    for (int32_t i = 0; i < o->rank; i++) o->terms[axes->u.ints[i]] = (aj_index_term){i, 0, 1};
  for (int32_t i = 0; node->op == AJ_OP_BROADCAST && i < o->rank; i++) {
    int32_t axis = (int32_t)axes->u.ints[i];
    bool stretched = o->dims[i] == 1 && to->dims[axis] != 1;
    o->terms[i] = stretched ? (aj_index_term){-1, 0, 0} : (aj_index_term){axis, 0, 1};
  }
  for (uint32_t i = 0; node->op == AJ_OP_REVERSE && i < axes->count; i++) {
    o->terms[axes->u.ints[i]].step = -1;
    turned |= 1u << axes->u.ints[i];
  }
  for (int32_t i = 0; node->op == AJ_OP_SLICE && i < o->rank; i++)
    o->terms[i] = (aj_index_term){i, start->u.ints[i], aj_node_attr(node, AJ_ATTR_STEP)->u.ints[i]};
  return turned;
}

/* Extents that have to fit but are only known when it runs. */
static void check_view(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  bool known = true;
  const aj_type *from = node->operands[0]->type, *to = node->results[0].type;
  const aj_attr *limit = aj_node_attr(node, AJ_ATTR_LIMIT);
  for (int32_t i = 0; i < from->rank; i++) known = known && !aj_dim_is_symbol(from->dims[i]);
  for (int32_t i = 0; i < to->rank; i++) known = known && !aj_dim_is_symbol(to->dims[i]);
  for (uint32_t i = 0; limit && i < limit->count; i++) known = known && !aj_dim_is_symbol(limit->u.ints[i]);
  if (known || (node->op != AJ_OP_SLICE && node->op != AJ_OP_RESHAPE)) return;
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope),
                         lo->env};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_check_view", lo->t_i32, AJ_COUNT(args), args, false));
}

/* The same elements in the same order: an alias, or between a scalar and an array of one. */
static void lower_reshape(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  const aj_value *from = node->operands[0], *to = &node->results[0];
  aj_lv lv = scope->vals[from->slot], *out = &scope->vals[to->slot];
  if (from->type->rank > 0 && to->type->rank == 0) {
    *out = aj_ir_load_element(lo, to->type->dtype, 1, lv.v);
  } else if (from->type->rank == 0 && to->type->rank > 0) {
    LLVMValueRef dest = aj_lower_dest(lo, scope, to);
    aj_ir_store_element(lo, to->type->dtype, 1, lv, dest);
    *out = (aj_lv){.v = dest};
  } else {
    *out = lv;
  }
}

void aj_lower_lone(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_kernel k;
  bool reduce = aj_ops[node->op].lowering == AJ_LOWER_REDUCE;
  check_view(lo, scope, node);
  if (node->op == AJ_OP_RESHAPE) {
    lower_reshape(lo, scope, node);
    return;
  }
  const aj_type *space = reduce ? node->operands[0]->type : node->results[0].type;
  if (!start_kernel(&k, lo, scope, node, space->rank, space->dims)) return;
  k.size = 1;
  if (node->op == AJ_OP_IOTA) k.indexed = 1u << aj_node_int(node, AJ_ATTR_AXIS);
  for (uint32_t i = 0; i < node->operand_count; i++) set_strides(&k, &k.operands[i], map_operand(node, &k.operands[i]));
  if (reduce) {
    const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
    for (uint32_t i = 0; i < axes->count; i++) k.reduced |= 1u << axes->u.ints[i];
    k.combine[0] = node->op;
  }
  finish_kernel(&k);
}
