/* Result types of indexing, sorting, reductions and products. */
#include "ir/infer.h"

#include <string.h>

static aj_infer_text operand_text(const aj_infer *in, uint32_t i) {
  return aj_infer_type_text(in, aj_infer_type(in, i));
}

/* ---- indexing ---- */

static arrjit_status check_starts(aj_infer *in, uint32_t first, int32_t rank) {
  if (in->operand_count - first != (uint32_t)rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s and %u starts came; expected one a dim", operand_text(in, 0).s,
                         in->operand_count - first);
  for (uint32_t i = first; i < in->operand_count; i++) AJ_TRY(aj_infer_integers(in, i, true));
  return ARRJIT_OK;
}

arrjit_status aj_infer_dynamic_slice(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  const aj_attr *sizes = aj_infer_attr(in, AJ_ATTR_SIZES);
  AJ_TRY(check_starts(in, 1, x->rank));
  AJ_TRY(aj_infer_count(in, AJ_ATTR_SIZES, (uint32_t)x->rank, "the rank of x"));
  for (int32_t i = 0; i < x->rank; i++) AJ_TRY(aj_infer_window(in, i, sizes->u.ints[i], x->dims[i]));
  return aj_infer_push_type(in, x->dtype, x->rank, sizes->u.ints);
}

arrjit_status aj_infer_dynamic_update_slice(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  const aj_type *x = aj_infer_type(in, 0), *update = aj_infer_type(in, 1);
  if (update->rank != x->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s and update is %s; expected equal ranks", operand_text(in, 0).s,
                         operand_text(in, 1).s);
  AJ_TRY(check_starts(in, 2, x->rank));
  for (int32_t i = 0; i < x->rank; i++) AJ_TRY(aj_infer_window(in, i, update->dims[i], x->dims[i]));
  return aj_infer_push(in, x);
}

arrjit_status aj_infer_take(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_integers(in, 1, false));
  const aj_type *x = aj_infer_type(in, 0), *indices = aj_infer_type(in, 1);
  AJ_TRY(aj_infer_axis(in, x->rank));
  int64_t axis = aj_infer_attr(in, AJ_ATTR_AXIS)->u.i, dims[2 * ARRJIT_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < axis; i++) dims[rank++] = x->dims[i];
  for (int32_t i = 0; i < indices->rank; i++) dims[rank++] = indices->dims[i];
  for (int32_t i = (int32_t)axis + 1; i < x->rank; i++) dims[rank++] = x->dims[i];
  return aj_infer_push_type(in, x->dtype, rank, dims);
}

/* ---- sorting ---- */

static arrjit_status check_flag(aj_infer *in, aj_attr_name name) {
  int64_t flag = aj_infer_attr(in, name)->u.i;
  if (flag == 0 || flag == 1) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "%s is %lld; expected 0 or 1", aj_attrs[name].name, (long long)flag);
}

arrjit_status aj_infer_sort(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  AJ_TRY(aj_infer_axis(in, x->rank));
  AJ_TRY(check_flag(in, AJ_ATTR_DESCENDING));
  return aj_infer_push_type(in, in->op == AJ_OP_ARGSORT ? ARRJIT_I64 : x->dtype, x->rank, x->dims);
}

arrjit_status aj_infer_search(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  AJ_TRY(check_flag(in, AJ_ATTR_RIGHT));
  const aj_type *values = aj_infer_type(in, 1);
  if (aj_infer_type(in, 0)->rank != 1)
    return aj_infer_fail(in, ARRJIT_TYPE, "sorted is %s; expected a vector", operand_text(in, 0).s);
  return aj_infer_push_type(in, ARRJIT_I64, values->rank, values->dims);
}

/* ---- reductions and products ---- */

static arrjit_status push_without(aj_infer *in, arrjit_dtype dtype, uint32_t removed) {
  const aj_type *x = aj_infer_type(in, 0);
  int64_t dims[ARRJIT_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->rank; i++)
    if (!(removed >> i & 1)) dims[rank++] = x->dims[i];
  return aj_infer_push_type(in, dtype, rank, dims);
}

arrjit_status aj_infer_reduce(aj_infer *in) {
  uint32_t set;
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_AXES, aj_infer_type(in, 0)->rank, &set));
  return push_without(in, aj_infer_type(in, 0)->dtype, set);
}

arrjit_status aj_infer_arg(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_axis(in, aj_infer_type(in, 0)->rank));
  return push_without(in, ARRJIT_I64, 1u << aj_infer_attr(in, AJ_ATTR_AXIS)->u.i);
}

arrjit_status aj_infer_dot(aj_infer *in) {
  uint32_t lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  AJ_TRY(aj_infer_pairs(in, AJ_ATTR_LHS_BATCH, AJ_ATTR_RHS_BATCH, &lhs_batch, &rhs_batch));
  AJ_TRY(aj_infer_pairs(in, AJ_ATTR_LHS_CONTRACT, AJ_ATTR_RHS_CONTRACT, &lhs_contract, &rhs_contract));
  if ((lhs_batch & lhs_contract) || (rhs_batch & rhs_contract))
    return aj_infer_fail(in, ARRJIT_TYPE, "an axis is both a batch axis and contracted");
  const aj_type *lhs = aj_infer_type(in, 0), *rhs = aj_infer_type(in, 1);
  const aj_attr *batch = aj_infer_attr(in, AJ_ATTR_LHS_BATCH);
  int64_t dims[2 * ARRJIT_MAX_RANK];
  int32_t rank = 0;
  for (uint32_t i = 0; i < batch->count; i++) dims[rank++] = lhs->dims[batch->u.ints[i]];
  for (int32_t i = 0; i < lhs->rank; i++)
    if (!((lhs_batch | lhs_contract) >> i & 1)) dims[rank++] = lhs->dims[i];
  for (int32_t i = 0; i < rhs->rank; i++)
    if (!((rhs_batch | rhs_contract) >> i & 1)) dims[rank++] = rhs->dims[i];
  return aj_infer_push_type(in, lhs->dtype, rank, dims);
}
