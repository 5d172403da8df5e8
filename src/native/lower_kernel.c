/* Kernels: fixed-width vector loops over an iteration space. Dims that all operands walk through as if they were one
 * become one inner loop of whole vectors; the dims before are scalar loops. */
#include "native/lower_map.h"

#include <string.h>

/* Points of a light body between polls, some 10 us; a heavier one gets fewer, and below a certain number many kernels
 * in a row go without. */
enum { MOST_POINTS = 16384, LEAST_POINTS = 512, TINY_SHARE = 32 };

/* ---- strides ---- */

/* Stride of operand dim j in elements. */
static LLVMValueRef dense_stride(aj_lower *lo, const aj_kernel_operand *o, int32_t j) {
  LLVMValueRef stride = aj_ir_i64(lo, 1);
  for (int32_t i = o->rank - 1; i > j; i--) stride = LLVMBuildMul(lo->b, stride, aj_ir_dim(lo, o->dims[i]), "");
  return stride;
}

/* Strides by iteration dim, and the pointer moved to where all indices are 0. Dims that run backwards do so from their
 * last element, whose extent may be a symbol. */
static void set_strides(aj_kernel *k, aj_kernel_operand *o) {
  aj_lower *lo = k->lo;
  if (o->rank == 0 || o->lv.splat) return;
  LLVMValueRef offset = aj_ir_i64(lo, 0);
  for (int32_t j = 0; j < o->rank; j++) {
    aj_index_term *t = &o->terms[j];
    LLVMValueRef stride = dense_stride(lo, o, j), start = aj_ir_i64(lo, t->offset);
    if (o->turned >> j & 1) start = LLVMBuildSub(lo->b, aj_ir_dim(lo, o->dims[j]), aj_ir_i64(lo, 1), "");
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

bool aj_kernel_merges(const aj_kernel *k, int32_t d) {
  if ((k->indexed >> d & 1) || (k->indexed >> (d + 1) & 1)) return false;
  for (uint32_t i = 0; i < k->operand_count; i++)
    if (!merges(k, &k->operands[i], d)) return false;
  return true;
}

void aj_kernel_set_strides(aj_kernel *k) {
  for (uint32_t i = 0; i < k->operand_count; i++) set_strides(k, &k->operands[i]);
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

/* Row-major, so the last index varies fastest; the first needs no remainder. */
void aj_kernel_locate(aj_kernel *k, int32_t last, uint32_t which, LLVMValueRef flat, LLVMValueRef *saved) {
  LLVMBuilderRef b = k->lo->b;
  int32_t first = 0;
  while (first < last && !(which >> first & 1)) first++;
  for (uint32_t i = 0; i < k->operand_count; i++) saved[i] = k->operands[i].pointer;
  for (int32_t d = last - 1; d >= first; d--) {
    if (!(which >> d & 1)) continue;
    k->index[d] = d == first ? flat : LLVMBuildURem(b, flat, k->extents[d], "");
    if (d > first) flat = LLVMBuildUDiv(b, flat, k->extents[d], "");
    for (uint32_t i = 0; i < k->operand_count; i++) {
      aj_kernel_operand *o = &k->operands[i];
      if (!o->strides[d]) continue;
      o->pointer = aj_ir_index(k->lo, o->pointer, o->dtype, LLVMBuildMul(b, k->index[d], o->strides[d], ""));
    }
  }
}

void aj_kernel_unlocate(aj_kernel *k, LLVMValueRef *const saved) {
  for (uint32_t i = 0; i < k->operand_count; i++) k->operands[i].pointer = saved[i];
}

void aj_kernel_close(aj_kernel *k, aj_kernel_loops *loops) {
  while (loops->count > 0) aj_ir_loop_end(k->lo, &loops->loops[--loops->count]);
  for (uint32_t i = 0; i < k->operand_count && loops->pointers; i++) k->operands[i].pointer = loops->pointers[i];
}

int64_t aj_kernel_stretch(const aj_kernel *k) {
  int64_t points = k->loops ? LEAST_POINTS : MOST_POINTS;
  for (uint32_t nodes = 16; nodes < k->size && points > LEAST_POINTS; nodes *= 2) points /= 2;
  return points;
}

/* Static points, -1: more than `most`, or not known. */
static int64_t count_points(const aj_kernel *k, int64_t most) {
  int64_t count = 1;
  for (int32_t d = 0; d < k->rank; d++) {
    if (aj_dim_is_symbol(k->dims[d]) || k->dims[d] > most) return -1;
    count *= k->dims[d];
    if (count > most) return -1;
  }
  return count;
}

bool aj_kernel_is_small(const aj_kernel *k) { return count_points(k, aj_kernel_stretch(k)) >= 0; }

void aj_kernel_poll(aj_kernel *k) {
  if (k->block) aj_block_poll(k);
}

/* A space of rank 0: one point, its results in registers. */
static void lower_point(aj_kernel *k) {
  aj_lv *results = AJ_NEW_ARRAY(k->lo->arena, k->result_count, aj_lv);
  if (!results) return;
  aj_kernel_set_strides(k);
  aj_kernel_set_inner(k, 0);
  aj_kernel_hoist(k);
  aj_points p = aj_kernel_points(k, 1, aj_ir_i64(k->lo, 0), NULL);
  aj_kernel_eval(k, &p, aj_ir_i64(k->lo, 0), results);
  for (uint32_t i = 0; i < k->result_count && !k->lo->arena->failed; i++)
    k->scope->vals[k->node->results[i].slot] = results[i];
}

/* ---- setting up ---- */

arrjit_dtype aj_kernel_dtype(const aj_kernel *k, uint32_t result) { return k->node->results[result].type->dtype; }

uint32_t aj_kernel_width(arrjit_dtype dtype) { return aj_dtype_is_half(dtype) ? 4 : aj_dtypes[dtype].bytes; }

/* Lanes so that the widest element fills two registers. Captures of maps stay scalars where they can. */
static uint32_t choose_lanes(const aj_kernel *k) {
  uint32_t widest = 1;
  bool is_map = aj_kernel_is_map(k->node);
  for (uint32_t i = 0; i < k->operand_count; i++)
    if (!is_map || k->operands[i].rank > 0)
      widest = aj_kernel_width(k->operands[i].dtype) > widest ? aj_kernel_width(k->operands[i].dtype) : widest;
  for (uint32_t i = k->finds ? 1 : 0; i < k->result_count; i++) {
    uint32_t of = aj_kernel_width(aj_kernel_dtype(k, i));
    widest = of > widest ? of : widest;
  }
  const aj_region *scalars = k->combiner ? k->combiner : k->body;
  uint32_t inside = scalars ? aj_map_widest(scalars) : 1;
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
  k->finds = k->combine[0] == AJ_OP_FIRST_FALSE;
  k->lanes = choose_lanes(k);
  if (aj_kernel_is_small(k) && count_points(k, aj_kernel_stretch(k) / TINY_SHARE) < 0)
    aj_lower_poll(k->lo, k->scope, k->node, false);
  if (k->scans)
    aj_lower_scan(k);
  else if (k->combiner || (k->combine[0] != AJ_OP_NONE && !k->finds))
    aj_lower_reduce(k);
  else if (k->rank == 0)
    lower_point(k);
  else
    aj_lower_elementwise(k);
}

static void set_body(aj_kernel *k) {
  k->body = k->node->regions[0];
  k->size = aj_map_size(k->body);
  k->may_fail = aj_kernel_is_map(k->node);
  k->loops = aj_map_has_loops(k->body);
  for (uint32_t pc = 0; pc < k->body->node_count; pc++) {
    const aj_node *in = k->body->nodes[pc];
    if (in->op == AJ_OP_LANE_INDEX) k->indexed |= 1u << aj_node_int(in, AJ_ATTR_AXIS);
    k->may_fail = k->may_fail || (aj_ops[in->op].flags & AJ_F_RAISES);
  }
  k->lo->lowered += k->size;
}

void aj_lower_kernel(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_kernel k;
  const aj_attr *shape = aj_node_attr(node, AJ_ATTR_SHAPE), *reduced = aj_node_attr(node, AJ_ATTR_REDUCED);
  const aj_attr *combine = aj_node_attr(node, AJ_ATTR_COMBINE);
  if (!start_kernel(&k, lo, scope, node, (int32_t)shape->count, shape->u.ints)) return;
  set_body(&k);
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_kernel_map(node, i, k.operands[i].terms, &k.operands[i].rank);
    if (node->operands[i]->type->rank == 0) k.operands[i].rank = 0;
  }
  for (uint32_t i = 0; reduced && i < reduced->count; i++) k.reduced |= 1u << reduced->u.ints[i];
  for (uint32_t i = 0; i < combine->count && i < AJ_KERNEL_RESULTS; i++) k.combine[i] = (aj_op)combine->u.ints[i];
  finish_kernel(&k);
}

/* A map that is no kernel: its arguments are read as they are. */
void aj_lower_map(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_kernel k;
  const aj_type *shape = node->operands[0]->type;
  if (!start_kernel(&k, lo, scope, node, shape->rank, shape->dims)) return;
  set_body(&k);
  for (uint32_t i = 0; i < node->operand_count; i++)
    for (int32_t d = 0; d < k.operands[i].rank; d++) k.operands[i].terms[d] = (aj_index_term){d, 0, 1};
  finish_kernel(&k);
}

static aj_op get_reduction(aj_op cumulative) {
  if (cumulative == AJ_OP_CUMSUM) return AJ_OP_REDUCE_SUM;
  if (cumulative == AJ_OP_CUMPROD) return AJ_OP_REDUCE_PROD;
  return cumulative == AJ_OP_CUMMIN ? AJ_OP_REDUCE_MIN : AJ_OP_REDUCE_MAX;
}

/* Cumulative ops, and reductions with the host's combiner: args are read as they are, or turned round along the axis;
 * inits and captures are for the combiner. */
void aj_lower_fold(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_kernel k;
  const aj_type *shape = node->operands[0]->type;
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
  if (!start_kernel(&k, lo, scope, node, shape->rank, shape->dims)) return;
  k.combiner = node->region_count ? node->regions[0] : NULL;
  k.size = k.combiner ? aj_map_size(k.combiner) : 1;
  if (k.combiner) lo->lowered += k.size;
  if (!k.combiner) k.combine[0] = get_reduction(node->op);
  k.scans = axes == NULL;
  k.reversed = aj_node_int(node, AJ_ATTR_REVERSE) != 0;
  if (k.scans) k.reduced = 1u << aj_node_int(node, AJ_ATTR_AXIS);
  for (uint32_t i = 0; axes && i < axes->count; i++) k.reduced |= 1u << axes->u.ints[i];
  for (uint32_t i = 0; i < node->operand_count; i++)
    for (int32_t d = 0; d < k.operands[i].rank; d++) {
      bool turned = k.reversed && (k.reduced >> d & 1);
      k.operands[i].terms[d] = (aj_index_term){d, 0, turned ? -1 : 1};
      if (turned) k.operands[i].turned |= 1u << d;
    }
  finish_kernel(&k);
}

/* ---- nodes that are no kernels ---- */

/* The maps of a MAP op's operand, and which of its dims run backwards. */
static void map_operand(const aj_node *node, aj_kernel_operand *o) {
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES), *start = aj_node_attr(node, AJ_ATTR_START);
  const aj_type *to = node->results[0].type;
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
    o->turned |= 1u << axes->u.ints[i];
  }
  for (int32_t i = 0; node->op == AJ_OP_SLICE && i < o->rank; i++)
    o->terms[i] = (aj_index_term){i, start->u.ints[i], aj_node_attr(node, AJ_ATTR_STEP)->u.ints[i]};
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
  k.may_fail = (aj_ops[node->op].flags & AJ_F_RAISES) != 0;
  if (node->op == AJ_OP_IOTA) k.indexed = 1u << aj_node_int(node, AJ_ATTR_AXIS);
  for (uint32_t i = 0; i < node->operand_count; i++) map_operand(node, &k.operands[i]);
  if (reduce) {
    const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
    for (uint32_t i = 0; axes && i < axes->count; i++) k.reduced |= 1u << axes->u.ints[i];
    k.combine[0] = node->op;
  }
  finish_kernel(&k);
}
