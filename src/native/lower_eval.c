/* Evaluating a vector of points: loads by access, the body op by op, stores. What does not fill a vector is masked:
 * lanes past the end read nothing and are 0. */
#include "native/lower_map.h"

/* ---- points ---- */

/* 0, 1, 2 ... as a constant vector of a type with `bits` bits. */
static LLVMValueRef lane_numbers(aj_lower *lo, uint32_t bits, uint32_t lanes) {
  LLVMValueRef numbers[256];
  LLVMTypeRef type = aj_ir_int_type(lo, bits, 1);
  AJ_ASSERT(lanes <= AJ_COUNT(numbers));
  for (uint32_t i = 0; i < lanes; i++) numbers[i] = LLVMConstInt(type, i, 0);
  return lanes == 1 ? numbers[0] : LLVMConstVector(numbers, lanes);
}

aj_points aj_kernel_points(aj_kernel *k, uint32_t lanes, LLVMValueRef at, LLVMValueRef left) {
  aj_lower *lo = k->lo;
  aj_points p = {.lanes = lanes, .at = at};
  if (left && lanes > 1) {
    LLVMValueRef all = aj_ir_i64(lo, lanes), fewer = LLVMBuildICmp(lo->b, LLVMIntSLT, left, all, "");
    p.left = left = LLVMBuildSelect(lo->b, fewer, left, all, "");
    LLVMValueRef narrow = LLVMBuildTrunc(lo->b, left, lo->t_i32, "");
    p.mask = LLVMBuildICmp(lo->b, LLVMIntULT, lane_numbers(lo, 32, lanes), aj_ir_splat(lo, narrow, lanes), "");
  }
  return p;
}

/* Inner indices of all points; those past the end repeat the last, so that an address made from one is good. */
static LLVMValueRef point_indices(aj_kernel *k, const aj_points *p) {
  LLVMBuilderRef b = k->lo->b;
  LLVMValueRef numbers = lane_numbers(k->lo, 64, p->lanes);
  if (p->mask) {
    LLVMValueRef last = aj_ir_splat(k->lo, LLVMBuildSub(b, p->left, aj_ir_i64(k->lo, 1), ""), p->lanes);
    numbers = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, numbers, last, ""), numbers, last, "");
  }
  LLVMValueRef indices = LLVMBuildAdd(b, aj_ir_splat(k->lo, p->at, p->lanes), numbers, "");
  if (!p->limit) return indices;
  LLVMValueRef last = aj_ir_splat(k->lo, LLVMBuildSub(b, p->limit, aj_ir_i64(k->lo, 1), ""), p->lanes);
  return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, indices, last, ""), indices, last, "");
}

LLVMValueRef aj_kernel_there(aj_kernel *k, const aj_points *p) {
  if (p->mask || !p->limit) return p->mask;
  LLVMValueRef left = aj_ir_splat(k->lo, LLVMBuildSub(k->lo->b, p->limit, p->at, ""), p->lanes);
  return LLVMBuildICmp(k->lo->b, LLVMIntSLT, lane_numbers(k->lo, 64, p->lanes), left, "");
}

/* Those of the lanes in `which` whose points are there. */
static LLVMValueRef only_there(aj_kernel *k, const aj_points *p, LLVMValueRef which) {
  LLVMValueRef there = aj_kernel_there(k, p);
  return there ? LLVMBuildAnd(k->lo->b, which, there, "") : which;
}

/* Index along inner dim d of points with these inner indices. */
static LLVMValueRef index_along(aj_kernel *k, const aj_points *p, LLVMValueRef indices, int32_t d) {
  LLVMBuilderRef b = k->lo->b;
  for (int32_t i = k->rank - 1; i >= k->inner; i--) {
    LLVMValueRef extent = aj_ir_splat(k->lo, k->extents[i], p->lanes);
    if (i == d) return i == k->inner ? indices : LLVMBuildURem(b, indices, extent, "");
    indices = LLVMBuildUDiv(b, indices, extent, "");
  }
  return indices;
}

/* ---- loads ---- */

static bool can_mask(const aj_kernel *k, arrjit_dtype dtype) {
  if (aj_dtypes[dtype].bytes > 8) return false;
  return aj_dtypes[dtype].bytes >= 4 ? k->lo->target->has_masks : k->lo->target->has_narrow_masks;
}

/* Where the machine has no masked access for a type, the elements that are there go by way of a buffer of a whole
 * vector. */
static LLVMValueRef tail_buffer(aj_kernel *k, arrjit_dtype dtype, uint32_t lanes) {
  return aj_ir_alloca(k->lo, aj_ir_memory_type(k->lo, dtype, lanes), 1, 0);
}

static LLVMValueRef left_bytes(aj_kernel *k, const aj_points *p, arrjit_dtype dtype) {
  return LLVMBuildMul(k->lo->b, p->left, aj_ir_i64(k->lo, aj_dtypes[dtype].bytes), "");
}

static aj_lv load_dense(aj_kernel *k, const aj_points *p, const aj_kernel_operand *o) {
  aj_lower *lo = k->lo;
  LLVMValueRef from = aj_ir_index(lo, o->pointer, o->dtype, p->at);
  if (!p->mask) return aj_ir_load_element(lo, o->dtype, p->lanes, from);
  LLVMTypeRef type = aj_ir_memory_type(lo, o->dtype, p->lanes);
  if (can_mask(k, o->dtype)) {
    LLVMValueRef value = aj_compat_masked_load(lo->llvm, lo->b, type, from, aj_ir_align(o->dtype), p->mask);
    return aj_ir_from_memory(lo, o->dtype, p->lanes, value);
  }
  LLVMValueRef buffer = tail_buffer(k, o->dtype, p->lanes);
  LLVMSetAlignment(LLVMBuildStore(lo->b, LLVMConstNull(type), buffer), aj_ir_align(o->dtype));
  aj_ir_copy(lo, buffer, from, left_bytes(k, p, o->dtype));
  return aj_ir_load_element(lo, o->dtype, p->lanes, buffer);
}

/* One load a lane, at these offsets in elements. */
static aj_lv load_lanes(aj_kernel *k, const aj_points *p, const aj_kernel_operand *o, LLVMValueRef offsets) {
  aj_lower *lo = k->lo;
  if (p->lanes == 1) return aj_ir_load_element(lo, o->dtype, 1, aj_ir_index(lo, o->pointer, o->dtype, offsets));
  LLVMTypeRef type = aj_ir_memory_type(lo, o->dtype, 1);
  LLVMValueRef value = LLVMGetPoison(aj_ir_memory_type(lo, o->dtype, p->lanes));
  for (uint32_t i = 0; i < p->lanes; i++) {
    LLVMValueRef lane = aj_ir_i32(lo, (int32_t)i);
    LLVMValueRef at = LLVMBuildExtractElement(lo->b, offsets, lane, "");
    LLVMValueRef one = LLVMBuildLoad2(lo->b, type, aj_ir_index(lo, o->pointer, o->dtype, at), "");
    value = LLVMBuildInsertElement(lo->b, value, one, lane, "");
  }
  return aj_ir_from_memory(lo, o->dtype, p->lanes, value);
}

static LLVMValueRef computed_offsets(aj_kernel *k, const aj_points *p, const aj_kernel_operand *o) {
  LLVMValueRef indices = point_indices(k, p), sum = LLVMConstNull(LLVMTypeOf(indices));
  for (int32_t d = k->inner; d < k->rank; d++) {
    if (!o->strides[d]) continue;
    LLVMValueRef along = index_along(k, p, indices, d), stride = aj_ir_splat(k->lo, o->strides[d], p->lanes);
    sum = LLVMBuildAdd(k->lo->b, sum, LLVMBuildMul(k->lo->b, along, stride, ""), "");
  }
  return sum;
}

aj_lv aj_kernel_load(aj_kernel *k, const aj_points *p, const aj_kernel_operand *o) {
  if (o->access == AJ_ACCESS_DENSE) return load_dense(k, p, o);
  if (o->access == AJ_ACCESS_SPLAT) {
    aj_lv out = o->hoisted;
    out.v = aj_ir_splat(k->lo, out.v, p->lanes);
    return out;
  }
  if (o->access == AJ_ACCESS_COMPUTED) return load_lanes(k, p, o, computed_offsets(k, p, o));
  LLVMValueRef stride = aj_ir_splat(k->lo, o->strides[k->rank - 1], p->lanes);
  return load_lanes(k, p, o, LLVMBuildMul(k->lo->b, point_indices(k, p), stride, ""));
}

void aj_kernel_store(aj_kernel *k, const aj_points *p, arrjit_dtype dtype, LLVMValueRef pointer, aj_lv value) {
  aj_lower *lo = k->lo;
  LLVMValueRef to = aj_ir_index(lo, pointer, dtype, p->at);
  if (!p->mask) {
    aj_ir_store_element(lo, dtype, p->lanes, value, to);
    return;
  }
  LLVMValueRef v = aj_ir_to_memory(lo, dtype, p->lanes, value);
  if (can_mask(k, dtype)) {
    aj_compat_masked_store(lo->llvm, lo->b, v, to, aj_ir_align(dtype), p->mask);
    return;
  }
  LLVMValueRef buffer = tail_buffer(k, dtype, p->lanes);
  LLVMSetAlignment(LLVMBuildStore(lo->b, v, buffer), aj_ir_align(dtype));
  aj_ir_copy(lo, to, buffer, left_bytes(k, p, dtype));
}

/* ---- the body ---- */

aj_lv aj_kernel_lane_index(aj_kernel *k, const aj_points *p, int32_t axis) {
  LLVMValueRef value =
      axis < k->inner ? aj_ir_splat(k->lo, k->index[axis], p->lanes) : index_along(k, p, point_indices(k, p), axis);
  return (aj_lv){.v = value, .nan = AJ_NAN_CANON};
}

/* Number of the lowest lane that is set, as i64. */
static LLVMValueRef lowest_lane(aj_lower *lo, LLVMValueRef mask, uint32_t lanes) {
  if (lanes == 1) return aj_ir_i64(lo, 0);
  LLVMTypeRef bits = aj_ir_int_type(lo, lanes, 1);
  LLVMValueRef args[2] = {LLVMBuildBitCast(lo->b, mask, bits, ""), LLVMConstInt(lo->t_i1, 0, 0)};
  LLVMValueRef lane = aj_ir_intrinsic(lo, "llvm.cttz", bits, 2, args);
  return lanes < 64 ? LLVMBuildZExt(lo->b, lane, lo->t_i64, "") : LLVMBuildTrunc(lo->b, lane, lo->t_i64, "");
}

LLVMValueRef aj_kernel_any(aj_lower *lo, LLVMValueRef mask, uint32_t lanes) {
  if (lanes == 1) return mask;
  LLVMTypeRef bits = aj_ir_int_type(lo, lanes, 1);
  return LLVMBuildICmp(lo->b, LLVMIntNE, LLVMBuildBitCast(lo->b, mask, bits, ""), LLVMConstNull(bits), "");
}

/* One branch a vector; then, when the failing lanes are of points that are there, the lowest and the op's operands
 * there. */
static void check_lanes(aj_kernel *k, const aj_points *p, const aj_node *node, const aj_lv *in, LLVMValueRef fail,
                        LLVMValueRef flat) {
  aj_lower *lo = k->lo;
  LLVMBasicBlockRef go = aj_lower_cold(lo, aj_kernel_any(lo, fail, p->lanes)), really = aj_ir_block(lo, "fails");
  LLVMValueRef bad = only_there(k, p, fail);
  LLVMBuildCondBr(lo->b, aj_kernel_any(lo, bad, p->lanes), really, go);
  aj_ir_at(lo, really);
  LLVMValueRef lane = lowest_lane(lo, bad, p->lanes), unit = LLVMBuildAdd(lo->b, flat, lane, "");
  if (k->block) aj_block_tell(k, unit);
  LLVMValueRef pointers = aj_ir_alloca(lo, lo->t_ptr, node->operand_count, 8);
  for (uint32_t i = 0; i < node->operand_count; i++) {
    arrjit_dtype dtype = node->operands[i]->type->dtype;
    LLVMValueRef all = aj_ir_alloca(lo, aj_ir_memory_type(lo, dtype, p->lanes), 1, 0);
    aj_ir_store_element(lo, dtype, p->lanes, in[i], all);
    LLVMBuildStore(lo->b, aj_ir_index(lo, all, dtype, lane), aj_ir_field(lo, pointers, i * sizeof(void *)));
  }
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, k->scope, node)),
                         aj_lower_iterations(lo, k->scope), unit, pointers};
  aj_ir_call(lo, "aj_nh_checked", lo->t_void, AJ_COUNT(args), args, true);
  aj_lower_land(lo, k->scope);
  aj_ir_at(lo, go);
}

void aj_kernel_find_false(aj_kernel *k, const aj_points *p, LLVMValueRef pred, LLVMValueRef flat) {
  aj_lower *lo = k->lo;
  LLVMValueRef fail = LLVMBuildNot(lo->b, pred, "");
  LLVMBasicBlockRef go = aj_lower_cold(lo, aj_kernel_any(lo, fail, p->lanes)), really = aj_ir_block(lo, "found");
  LLVMValueRef bad = only_there(k, p, fail);
  LLVMBuildCondBr(lo->b, aj_kernel_any(lo, bad, p->lanes), really, go);
  aj_ir_at(lo, really);
  LLVMBuildRet(lo->b, LLVMBuildAdd(lo->b, flat, lowest_lane(lo, bad, p->lanes), ""));
  aj_ir_at(lo, go);
}

static aj_lv eval_op(aj_kernel *k, const aj_points *p, const aj_node *node, const aj_lv *in, LLVMValueRef flat) {
  LLVMValueRef fail = NULL;
  aj_lv value = aj_lower_scalar(k->lo, p->lanes, node, in, &fail);
  if (fail) check_lanes(k, p, node, in, fail, flat);
  return value;
}

aj_lv aj_kernel_const(aj_lower *lo, const aj_node *node) {
  arrjit_dtype dtype = node->results[0].type->dtype;
  const void *bytes = aj_node_attr(node, AJ_ATTR_VALUE)->u.bytes;
  double number = dtype == ARRJIT_F32   ? (double)*(const float *)bytes
                  : dtype == ARRJIT_F64 ? *(const double *)bytes
                                        : 0;
  return (aj_lv){.v = aj_ir_element(lo, dtype, bytes), .nan = number == number ? AJ_NAN_CANON : AJ_NAN_KEEP};
}

static aj_lv eval_const(aj_kernel *k, const aj_points *p, const aj_node *node) {
  aj_lv one = aj_kernel_const(k->lo, node);
  return (aj_lv){.v = aj_ir_splat(k->lo, one.v, p->lanes), .nan = one.nan};
}

/* What a combiner folds. */
static void eval_args(aj_kernel *k, const aj_points *p, aj_lv *results) {
  for (uint32_t i = 0; i < k->result_count; i++) results[i] = aj_kernel_load(k, p, &k->operands[i]);
}

/* The node itself, when fusion left it alone. */
static aj_lv eval_lone(aj_kernel *k, const aj_points *p, LLVMValueRef flat) {
  const aj_node *node = k->node;
  aj_lv in[3] = {{0}};
  if (node->op == AJ_OP_IOTA) {
    aj_lv index = aj_kernel_lane_index(k, p, (int32_t)aj_node_int(node, AJ_ATTR_AXIS));
    aj_scalar s = {.lo = k->lo, .lanes = p->lanes, .in = ARRJIT_I64, .out = node->results[0].type->dtype, .x = &index};
    return aj_lower_convert(&s);
  }
  for (uint32_t i = 0; i < k->operand_count; i++) in[i] = aj_kernel_load(k, p, &k->operands[i]);
  return aj_ops[node->op].lowering == AJ_LOWER_SCALAR ? eval_op(k, p, node, in, flat) : in[0];
}

void aj_kernel_eval(aj_kernel *k, const aj_points *p, LLVMValueRef flat, aj_lv *results) {
  if (aj_kernel_is_map(k->node)) {
    aj_map_eval(k, p, flat, results);
    return;
  }
  if (k->combiner) {
    eval_args(k, p, results);
    return;
  }
  if (!k->body) {
    results[0] = eval_lone(k, p, flat);
    return;
  }
  aj_lv *vals = AJ_NEW_ARRAY(k->lo->arena, k->body->slot_count, aj_lv);
  aj_guard_state guard;
  if (!vals || !aj_guard_open(k->lo, k->body, &guard)) return;
  for (uint32_t i = 0; i < k->operand_count; i++)
    vals[k->body->params[i]->slot] = aj_kernel_load(k, p, &k->operands[i]);
  for (uint32_t pc = 0; pc < k->body->node_count; pc++) {
    const aj_node *node = k->body->nodes[pc];
    aj_lv in[3] = {{0}};
    aj_guard_step(k->lo, &guard, pc, p->lanes, vals);
    for (uint32_t i = 0; i < node->operand_count && i < 3; i++) in[i] = vals[node->operands[i]->slot];
    if (node->op == AJ_OP_YIELD) {
      for (uint32_t i = 0; i < node->operand_count; i++) results[i] = vals[node->operands[i]->slot];
      return;
    }
    aj_lv *out = &vals[node->results[0].slot];
    if (node->op == AJ_OP_CONST)
      *out = eval_const(k, p, node);
    else if (node->op == AJ_OP_LANE_INDEX)
      *out = aj_kernel_lane_index(k, p, (int32_t)aj_node_int(node, AJ_ATTR_AXIS));
    else
      *out = eval_op(k, p, node, in, flat);
  }
}
