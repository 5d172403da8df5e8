/* Making operands fit each other: broadcasting as NumPy does, and run-time checks where extents cannot be proved equal
 * while building. Only a literal 1 stretches; a symbol that meets a number is checked to be that number. */
#include "ir/infer.h"

#include <string.h>

aj_value *aj_build_check_shape(aj_builder *b, aj_value *x, const int64_t *dims) {
  size_t bytes = (size_t)x->type->rank * sizeof *dims;
  if (bytes == 0 || memcmp(x->type->dims, dims, bytes) == 0) return x;
  const aj_attr attr = aj_attr_ints(AJ_ATTR_SHAPE, (size_t)x->type->rank, dims);
  return aj_build1(b, AJ_OP_CHECK_SHAPE, 1, &x, 1, &attr);
}

aj_value *aj_build_broadcast_to(aj_builder *b, aj_value *x, int32_t rank, const int64_t *dims) {
  if (!aj_builder_ok(b) || !aj_builder_check_operand(b, AJ_OP_BROADCAST, 0, x)) return NULL;
  const aj_type *type = x->type;
  int64_t axes[ARRJIT_MAX_RANK];
  if (type->rank > rank || rank > ARRJIT_MAX_RANK)
    return aj_builder_fail(b, ARRJIT_TYPE, AJ_OP_BROADCAST, "x has rank %d; it cannot become one of rank %d",
                           type->rank, rank);
  if (type->rank == rank && (rank == 0 || memcmp(type->dims, dims, (size_t)rank * sizeof *dims) == 0)) return x;
  for (int32_t i = 0; i < type->rank; i++) axes[i] = rank - type->rank + i;
  const aj_attr attrs[] = {
      aj_attr_ints(AJ_ATTR_SHAPE, (size_t)rank, dims),
      aj_attr_ints(AJ_ATTR_AXES, (size_t)type->rank, axes),
  };
  return aj_build1(b, AJ_OP_BROADCAST, 1, &x, 2, attrs);
}

/* ---- elementwise ---- */

/* The extent that two become: false when two numbers differ and none is 1. */
static bool join_dims(int64_t a, int64_t b, int64_t *out) {
  if (a == 1 || a == b) return *out = b, true;
  if (b == 1) return *out = a, true;
  if (a >= 0 && b >= 0) return false;
  return *out = a >= 0 ? a : b >= 0 ? b : a, true; /* a number tells more than a symbol */
}

static bool join_shapes(const aj_infer *in, int32_t *out_rank, int64_t *dims, int64_t *out_a, int64_t *out_b) {
  int32_t rank = 0;
  for (uint32_t i = 0; i < in->operand_count; i++)
    if (aj_infer_type(in, i)->rank > rank) rank = aj_infer_type(in, i)->rank;
  for (int32_t d = 0; d < rank; d++) dims[d] = 1;
  for (uint32_t i = 0; i < in->operand_count; i++) {
    const aj_type *type = aj_infer_type(in, i);
    int64_t *tail = dims + (rank - type->rank);
    for (int32_t d = 0; d < type->rank; d++) {
      *out_a = tail[d];
      *out_b = type->dims[d];
      if (!join_dims(tail[d], type->dims[d], &tail[d])) return false;
    }
  }
  *out_rank = rank;
  return true;
}

/* x checked and stretched to the joint shape. */
static aj_value *fit_to_shape(aj_builder *b, aj_value *x, int32_t rank, const int64_t *dims) {
  int64_t own[ARRJIT_MAX_RANK];
  for (int32_t d = 0; d < x->type->rank; d++) own[d] = x->type->dims[d] == 1 ? 1 : dims[rank - x->type->rank + d];
  x = aj_build_check_shape(b, x, own);
  return x ? aj_build_broadcast_to(b, x, rank, dims) : NULL;
}

static aj_value *fail_to_join(aj_builder *b, const aj_infer *in, int64_t from, int64_t to) {
  return aj_builder_fail(b, ARRJIT_TYPE, in->op, "operands are %s; extents %lld and %lld do not broadcast",
                         aj_infer_types_text(in, 0, in->operand_count).s, (long long)from, (long long)to);
}

aj_value *aj_build_elementwise(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands,
                               uint32_t attr_count, const aj_attr *attrs) {
  enum { MOST = 3 };
  AJ_ASSERT(aj_ops[op].flags & AJ_F_ELEMENTWISE && aj_ops[op].max_operands <= MOST);
  aj_value *fitted[MOST];
  int64_t dims[ARRJIT_MAX_RANK], from, to;
  int32_t rank;
  if (!aj_builder_ok(b)) return NULL;
  for (uint32_t i = 0; i < operand_count; i++)
    if (!aj_builder_check_operand(b, op, i, operands[i])) return NULL;
  if (operand_count < 2 || operand_count > MOST) return aj_build1(b, op, operand_count, operands, attr_count, attrs);
  arrjit_error error;
  aj_node probe = {.op = op, .attr_count = attr_count, .attrs = (aj_attr *)(uintptr_t)attrs};
  aj_infer in = {.func = b->func,
                 .op = op,
                 .operand_count = operand_count,
                 .operands = operands,
                 .attrs_of = &probe,
                 .error = &error};
  if (aj_infer_dtypes(&in) != ARRJIT_OK) return aj_build1(b, op, operand_count, operands, attr_count, attrs);
  if (!join_shapes(&in, &rank, dims, &from, &to)) return fail_to_join(b, &in, from, to);
  for (uint32_t i = 0; i < operand_count; i++)
    if (!(fitted[i] = fit_to_shape(b, operands[i], rank, dims))) return NULL;
  return aj_build1(b, op, operand_count, fitted, attr_count, attrs);
}

bool aj_build_broadcast_all(aj_builder *b, aj_op op, uint32_t count, aj_value **values) {
  int64_t dims[ARRJIT_MAX_RANK], from, to;
  int32_t rank;
  const aj_node probe = {.op = op};
  aj_infer in = {
      .func = b->func, .op = op, .operand_count = count, .operands = values, .attrs_of = &probe, .error = &b->error};
  for (uint32_t i = 0; i < count; i++) {
    if (!aj_builder_ok(b) || !aj_builder_check_operand(b, op, i, values[i])) return false;
    if (values[i]->type->is_exn)
      aj_builder_fail(b, ARRJIT_TYPE, op, "argument %u is an exception; expected an array", i);
  }
  if (!aj_builder_ok(b)) return false;
  if (!join_shapes(&in, &rank, dims, &from, &to)) return fail_to_join(b, &in, from, to), false;
  for (uint32_t i = 0; i < count; i++)
    if (!(values[i] = fit_to_shape(b, values[i], rank, dims))) return false;
  return true;
}

/* ---- other ops whose operands must agree ----
 * What is wrong beyond repair is left as it is: inference says what. */

/* Replaces operand i by one with checked extents; numbers that differ stay. */
static bool refit(aj_builder *b, aj_value **operand, const int64_t *dims) {
  const aj_type *type = (*operand)->type;
  for (int32_t d = 0; d < type->rank; d++)
    if (type->dims[d] >= 0 && dims[d] >= 0 && type->dims[d] != dims[d]) return true;
  return (*operand = aj_build_check_shape(b, *operand, dims)) != NULL;
}

static bool fit_concat(aj_builder *b, const aj_infer *in, aj_value **operands) {
  const aj_attr *axis = aj_infer_attr(in, AJ_ATTR_AXIS);
  int32_t rank = in->operand_count ? operands[0]->type->rank : 0;
  int64_t joint[ARRJIT_MAX_RANK], dims[ARRJIT_MAX_RANK];
  if (!axis || axis->u.i < 0 || axis->u.i >= rank) return true;
  memcpy(joint, operands[0]->type->dims, (size_t)rank * sizeof *joint);
  for (uint32_t i = 0; i < in->operand_count; i++) {
    if (operands[i]->type->rank != rank) return true;
    for (int32_t d = 0; d < rank; d++)
      if (joint[d] < 0 && operands[i]->type->dims[d] >= 0) joint[d] = operands[i]->type->dims[d];
  }
  for (uint32_t i = 0; i < in->operand_count; i++) {
    memcpy(dims, joint, (size_t)rank * sizeof *dims);
    dims[axis->u.i] = operands[i]->type->dims[axis->u.i];
    if (!refit(b, &operands[i], dims)) return false;
  }
  return true;
}

static bool fit_pairs(aj_builder *b, const aj_infer *in, aj_attr_name lhs_name, aj_attr_name rhs_name,
                      aj_value **operands) {
  const aj_attr *lhs = aj_infer_attr(in, lhs_name), *rhs = aj_infer_attr(in, rhs_name);
  int64_t dims[2][ARRJIT_MAX_RANK];
  if (!lhs || !rhs || lhs->count != rhs->count) return true;
  for (int k = 0; k < 2; k++)
    memcpy(dims[k], operands[k]->type->dims, (size_t)operands[k]->type->rank * sizeof *dims[k]);
  for (uint32_t i = 0; i < lhs->count; i++) {
    int64_t l = lhs->u.ints[i], r = rhs->u.ints[i];
    if (l < 0 || r < 0 || l >= operands[0]->type->rank || r >= operands[1]->type->rank) return true;
    if (dims[0][l] >= 0 && dims[1][r] >= 0) continue;
    dims[0][l] = dims[1][r] = dims[0][l] >= 0 ? dims[0][l] : dims[1][r] >= 0 ? dims[1][r] : dims[0][l];
  }
  return refit(b, &operands[0], dims[0]) && refit(b, &operands[1], dims[1]);
}

/* The dims of updates that are not windows are those of indices. Ranks and axes that are wrong are inference's. */
static bool fit_updates(aj_builder *b, const aj_infer *in, aj_value **operands) {
  const aj_attr *windows = aj_infer_attr(in, AJ_ATTR_OFFSET_AXES), *axis = aj_infer_attr(in, AJ_ATTR_INDEX_AXIS);
  const aj_type *indices = operands[1]->type, *updates = operands[2]->type;
  int64_t dims[ARRJIT_MAX_RANK];
  uint32_t set = 0;
  if (!windows || !axis) return true;
  for (uint32_t i = 0; i < windows->count; i++)
    if (windows->u.ints[i] >= 0 && windows->u.ints[i] < ARRJIT_MAX_RANK) set |= 1u << windows->u.ints[i];
  int32_t batch = 0;
  for (int32_t i = 0; i < updates->rank; i++) {
    dims[i] = updates->dims[i];
    if (set >> i & 1) continue;
    batch += batch == axis->u.i;
    if (batch >= indices->rank) return true;
    if (indices->dims[batch] < 0 || dims[i] < 0) dims[i] = indices->dims[batch];
    batch++;
  }
  return refit(b, &operands[2], dims);
}

static bool fit_broadcast(aj_builder *b, const aj_infer *in, aj_value **operands) {
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE), *axes = aj_infer_attr(in, AJ_ATTR_AXES);
  const aj_type *x = operands[0]->type;
  int64_t dims[ARRJIT_MAX_RANK];
  if (!shape || !axes || axes->count != (uint32_t)x->rank) return true;
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t axis = axes->u.ints[d];
    if (axis < 0 || axis >= shape->count) return true;
    dims[d] = x->dims[d] == 1 ? 1 : shape->u.ints[axis];
    if (dims[d] < 0 && ~dims[d] >= (int64_t)b->module->symbols.count) return true;
  }
  return refit(b, &operands[0], dims);
}

/* The spectrum of irfft_last has half of what comes back, and one element more. */
static bool fit_spectrum(aj_builder *b, aj_infer *in, aj_value **operands) {
  const aj_attr *sizes = aj_infer_attr(in, AJ_ATTR_SIZES);
  const aj_type *x = operands[0]->type;
  int64_t dims[ARRJIT_MAX_RANK];
  if (!sizes || sizes->count != 1 || x->rank == 0) return true;
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  if (aj_infer_half(in, sizes->u.ints[0], &dims[x->rank - 1]) != ARRJIT_OK) return true;
  return refit(b, &operands[0], dims);
}

/* Batch dims of both, and rows: those of b are a's rows and columns. */
static bool fit_system(aj_builder *b, aj_value **operands) {
  const aj_type *a = operands[0]->type, *right = operands[1]->type;
  int64_t dims[2][ARRJIT_MAX_RANK];
  int32_t rank = a->rank;
  if (rank < 2 || right->rank != rank) return true;
  for (int32_t d = 0; d < rank; d++)
    dims[0][d] = dims[1][d] = a->dims[d] < 0 && right->dims[d] >= 0 ? right->dims[d] : a->dims[d];
  if (dims[0][rank - 2] < 0) dims[0][rank - 2] = dims[1][rank - 2] = a->dims[rank - 1];
  dims[0][rank - 1] = dims[0][rank - 2];
  dims[1][rank - 1] = right->dims[rank - 1];
  return refit(b, &operands[0], dims[0]) && refit(b, &operands[1], dims[1]);
}

static bool fit_arguments(aj_builder *b, aj_infer *in, aj_value **operands) {
  aj_signature sig = aj_infer_signature(in);
  int64_t dims[ARRJIT_MAX_RANK];
  size_t count;
  int64_t *known = aj_infer_known(in, &count);
  if (!known) return aj_builder_no_memory(b), false;
  arrjit_status status = aj_infer_bind_params(in, &sig, known);
  for (uint32_t i = 0; status == ARRJIT_OK && i < sig.param_count; i++) {
    status = aj_infer_translate(in, known, sig.params[i], dims);
    if (status == ARRJIT_OK && !refit(b, &operands[i], dims)) break;
  }
  if (status == ARRJIT_MEMORY) aj_builder_no_memory(b);
  aj_mem_free(b->module->mem, known, count * sizeof *known);
  return aj_builder_ok(b);
}

static bool has_symbols(uint32_t count, aj_value *const *operands) {
  for (uint32_t i = 0; i < count; i++)
    for (int32_t d = 0; d < operands[i]->type->rank; d++)
      if (operands[i]->type->dims[d] < 0) return true;
  return false;
}

/* A function or slot that exists is named. */
static bool names_signature(const aj_infer *in) {
  const aj_attr *attr = aj_infer_attr(in, in->op == AJ_OP_CALL ? AJ_ATTR_CALLEE : AJ_ATTR_SLOT);
  const aj_module *module = in->func->module;
  size_t count = in->op == AJ_OP_CALL ? module->funcs.count : module->slots.count;
  return attr && attr->u.i >= 0 && (uint64_t)attr->u.i < count;
}

static bool fit_operands(aj_builder *b, aj_infer *in, aj_value **operands) {
  if (in->op == AJ_OP_CONCAT) return fit_concat(b, in, operands);
  if (in->op == AJ_OP_BROADCAST) return in->operand_count != 1 || fit_broadcast(b, in, operands);
  if (in->op == AJ_OP_DOT)
    return in->operand_count != 2 || (fit_pairs(b, in, AJ_ATTR_LHS_BATCH, AJ_ATTR_RHS_BATCH, operands) &&
                                      fit_pairs(b, in, AJ_ATTR_LHS_CONTRACT, AJ_ATTR_RHS_CONTRACT, operands));
  if (aj_ops[in->op].rule == AJ_R_GATHER)
    return in->operand_count != 2 || fit_pairs(b, in, AJ_ATTR_X_BATCH, AJ_ATTR_INDEX_BATCH, operands);
  if (aj_ops[in->op].rule == AJ_R_SCATTER)
    return in->operand_count != 3 ||
           (fit_pairs(b, in, AJ_ATTR_X_BATCH, AJ_ATTR_INDEX_BATCH, operands) && fit_updates(b, in, operands));
  if (in->op == AJ_OP_IRFFT_LAST) return in->operand_count != 1 || fit_spectrum(b, in, operands);
  if (in->op == AJ_OP_SOLVE_LOWER) return in->operand_count != 2 || fit_system(b, operands);
  if (in->op == AJ_OP_CALL || in->op == AJ_OP_CALLBACK) return !names_signature(in) || fit_arguments(b, in, operands);
  return true;
}

aj_node *aj_build_fitted(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands,
                         uint32_t attr_count, const aj_attr *attrs) {
  if (!aj_builder_ok(b)) return NULL;
  for (uint32_t i = 0; i < operand_count; i++)
    if (!aj_builder_check_operand(b, op, i, operands[i])) return NULL;
  bool by_attrs = op == AJ_OP_BROADCAST || op == AJ_OP_IRFFT_LAST; /* which may have symbols too */
  bool may_differ = operand_count && (has_symbols(operand_count, operands) || by_attrs);
  if (!may_differ) return aj_build(b, op, operand_count, operands, attr_count, attrs);
  aj_mem *mem = b->module->mem;
  size_t bytes = operand_count * sizeof *operands;
  aj_value **fitted = aj_mem_raw(mem, bytes);
  if (!fitted) return aj_builder_no_memory(b);
  memcpy(fitted, operands, bytes);
  arrjit_error error;
  aj_node probe = {.op = op, .attr_count = attr_count, .attrs = (aj_attr *)(uintptr_t)attrs};
  aj_infer in = {.func = b->func,
                 .op = op,
                 .operand_count = operand_count,
                 .operands = fitted,
                 .attrs_of = &probe,
                 .error = &error};
  aj_node *node = NULL;
  if (fit_operands(b, &in, fitted)) node = aj_build(b, op, operand_count, fitted, attr_count, attrs);
  aj_mem_free(mem, fitted, bytes);
  return node;
}
