/* Result types of indexing, reductions and products. */
#include "ir/infer.h"

#include <string.h>

static aj_infer_text operand_text(const aj_infer *in, uint32_t i) {
  return aj_infer_type_text(in, aj_infer_type(in, i));
}

/* ---- indexing ---- */

/* A window of `size` fits an extent, or only a run can tell. */
static arrjit_status check_window(aj_infer *in, int32_t axis, int64_t size, int64_t extent) {
  if (size < 0 || extent < 0 || size <= extent) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; a window of %lld along axis %d is larger than it",
                       operand_text(in, 0).s, (long long)size, axis);
}

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
  for (int32_t i = 0; i < x->rank; i++) AJ_TRY(check_window(in, i, sizes->u.ints[i], x->dims[i]));
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
  for (int32_t i = 0; i < x->rank; i++) AJ_TRY(check_window(in, i, update->dims[i], x->dims[i]));
  return aj_infer_push(in, x);
}

static bool is_ascending(const aj_attr *attr) {
  for (uint32_t i = 1; i < attr->count; i++)
    if (attr->u.ints[i] <= attr->u.ints[i - 1]) return false;
  return true;
}

/* The attributes of a gather fit each other and the operands; StableHLO's rules. */
static arrjit_status check_gather(aj_infer *in, int32_t result_rank, uint32_t *out_offset_set,
                                  uint32_t *out_collapsed_set) {
  const aj_type *x = aj_infer_type(in, 0), *indices = aj_infer_type(in, 1);
  const aj_attr *sizes = aj_infer_attr(in, AJ_ATTR_SIZES), *start_map = aj_infer_attr(in, AJ_ATTR_START_MAP);
  int64_t index_axis = aj_infer_attr(in, AJ_ATTR_INDEX_AXIS)->u.i;
  uint32_t mapped;
  AJ_TRY(aj_infer_count(in, AJ_ATTR_SIZES, (uint32_t)x->rank, "the rank of x"));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_OFFSET_AXES, result_rank, out_offset_set));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_COLLAPSED_AXES, x->rank, out_collapsed_set));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_START_MAP, x->rank, &mapped));
  if (!is_ascending(aj_infer_attr(in, AJ_ATTR_OFFSET_AXES)) || !is_ascending(aj_infer_attr(in, AJ_ATTR_COLLAPSED_AXES)))
    return aj_infer_fail(in, ARRJIT_TYPE, "expected offset_axes and collapsed_axes in ascending order");
  if (aj_infer_attr(in, AJ_ATTR_OFFSET_AXES)->count + aj_infer_attr(in, AJ_ATTR_COLLAPSED_AXES)->count !=
      (uint32_t)x->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; expected offset_axes and collapsed_axes to be as many as its rank",
                         operand_text(in, 0).s);
  int64_t components = index_axis < indices->rank ? indices->dims[index_axis] : 1;
  if (components != (int64_t)start_map->count)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "indices are %s with %s along index_axis; expected %u, one an entry of start_map",
                         operand_text(in, 1).s, aj_infer_dim_text(in, components).s, start_map->count);
  for (int32_t i = 0; i < x->rank; i++) {
    AJ_TRY(check_window(in, i, sizes->u.ints[i], x->dims[i]));
    if ((*out_collapsed_set >> i & 1) && sizes->u.ints[i] != 1)
      return aj_infer_fail(in, ARRJIT_TYPE, "axis %d is collapsed; expected its size to be 1", i);
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_gather(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_integers(in, 1, false));
  const aj_type *x = aj_infer_type(in, 0), *indices = aj_infer_type(in, 1);
  int64_t index_axis = aj_infer_attr(in, AJ_ATTR_INDEX_AXIS)->u.i, dims[ARRJIT_MAX_RANK];
  if (index_axis < 0 || index_axis > indices->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "index_axis is %lld; expected one from 0 to the rank of indices, %d",
                         (long long)index_axis, indices->rank);
  uint32_t offset_set, collapsed_set, windows = aj_infer_attr(in, AJ_ATTR_OFFSET_AXES)->count;
  int64_t rank = (int64_t)indices->rank - (index_axis < indices->rank) + (int64_t)windows;
  if (rank > ARRJIT_MAX_RANK) return aj_infer_fail(in, ARRJIT_TYPE, "the result would have rank %lld", (long long)rank);
  AJ_TRY(check_gather(in, (int32_t)rank, &offset_set, &collapsed_set));
  int32_t batch = 0, window = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (offset_set >> i & 1) {
      while (collapsed_set >> window & 1) window++;
      dims[i] = aj_infer_attr(in, AJ_ATTR_SIZES)->u.ints[window++];
    } else {
      batch += batch == index_axis;
      dims[i] = indices->dims[batch++];
    }
  }
  return aj_infer_push_type(in, x->dtype, (int32_t)rank, dims);
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

/* Pairs of axes of lhs and rhs have equal extents. */
static arrjit_status check_pairs(aj_infer *in, aj_attr_name lhs_name, aj_attr_name rhs_name, uint32_t *lhs_set,
                                 uint32_t *rhs_set) {
  const aj_type *lhs = aj_infer_type(in, 0), *rhs = aj_infer_type(in, 1);
  const aj_attr *lhs_axes = aj_infer_attr(in, lhs_name), *rhs_axes = aj_infer_attr(in, rhs_name);
  AJ_TRY(aj_infer_axes(in, lhs_name, lhs->rank, lhs_set));
  AJ_TRY(aj_infer_axes(in, rhs_name, rhs->rank, rhs_set));
  AJ_TRY(aj_infer_count(in, rhs_name, lhs_axes->count, "as many as for lhs"));
  for (uint32_t i = 0; i < lhs_axes->count; i++) {
    int64_t a = lhs->dims[lhs_axes->u.ints[i]], b = rhs->dims[rhs_axes->u.ints[i]];
    if (!aj_dim_equal(a, b))
      return aj_infer_fail(in, ARRJIT_TYPE, "operands are %s and %s; paired extents %s and %s are not equal",
                           operand_text(in, 0).s, operand_text(in, 1).s, aj_infer_dim_text(in, a).s,
                           aj_infer_dim_text(in, b).s);
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_dot(aj_infer *in) {
  uint32_t lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  AJ_TRY(check_pairs(in, AJ_ATTR_LHS_BATCH, AJ_ATTR_RHS_BATCH, &lhs_batch, &rhs_batch));
  AJ_TRY(check_pairs(in, AJ_ATTR_LHS_CONTRACT, AJ_ATTR_RHS_CONTRACT, &lhs_contract, &rhs_contract));
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
