/* The result types of conv and solve_lower. Of conv: lhs is [batch, spatial dims, features], rhs [spatial dims,
 * features / groups, results]. */
#include "ir/infer.h"

static aj_infer_text operand_text(const aj_infer *in, uint32_t i) {
  return aj_infer_type_text(in, aj_infer_type(in, i));
}

static arrjit_status check_lists(aj_infer *in, int32_t rank) {
  static const aj_attr_name lists[] = {AJ_ATTR_STEP, AJ_ATTR_LOW, AJ_ATTR_HIGH, AJ_ATTR_BASE_DILATION,
                                       AJ_ATTR_WINDOW_DILATION};
  for (size_t i = 0; i < AJ_COUNT(lists); i++)
    AJ_TRY(aj_infer_count(in, lists[i], (uint32_t)rank, "the spatial dims of lhs"));
  return ARRJIT_OK;
}

/* With one group extents may be symbols, of features the same one. */
static arrjit_status check_features(aj_infer *in, int64_t lhs, int64_t rhs, int64_t results) {
  int64_t groups = aj_infer_attr(in, AJ_ATTR_GROUPS)->u.i, features;
  if (groups < 1) return aj_infer_fail(in, ARRJIT_TYPE, "groups is %lld; expected at least 1", (long long)groups);
  if (groups == 1 ? aj_dim_equal(lhs, rhs)
                  : lhs >= 0 && rhs >= 0 && aj_i64_mul(rhs, groups, &features) && features == lhs) {
    if (groups == 1 || (results >= 0 && results % groups == 0)) return ARRJIT_OK;
    return aj_infer_fail(in, ARRJIT_TYPE, "rhs is %s; expected results, its last dim, to be a multiple of groups, %lld",
                         operand_text(in, 1).s, (long long)groups);
  }
  return aj_infer_fail(in, ARRJIT_TYPE,
                       "lhs is %s and rhs %s with %lld groups; expected the features of lhs, its last dim, to be those "
                       "of rhs, the dim before its last, times groups",
                       operand_text(in, 0).s, operand_text(in, 1).s, (long long)groups);
}

arrjit_status aj_infer_conv(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  const aj_type *lhs = aj_infer_type(in, 0), *rhs = aj_infer_type(in, 1);
  int32_t spatial = lhs->rank - 2;
  int64_t dims[ARRJIT_MAX_RANK];
  if (spatial < 0 || rhs->rank != lhs->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "lhs is %s and rhs %s; expected equal ranks of at least 2",
                         operand_text(in, 0).s, operand_text(in, 1).s);
  AJ_TRY(check_lists(in, spatial));
  AJ_TRY(check_features(in, lhs->dims[spatial + 1], rhs->dims[spatial], rhs->dims[spatial + 1]));
  dims[0] = lhs->dims[0];
  for (int32_t i = 0; i < spatial; i++) {
    if (rhs->dims[i] < 0)
      return aj_infer_fail(in, ARRJIT_TYPE, "rhs is %s; expected spatial dims that are numbers", operand_text(in, 1).s);
    dims[i + 1] = lhs->dims[i + 1];
    if (rhs->dims[i] > 0)
      AJ_TRY(aj_infer_count_windows(in, i, i + 1, rhs->dims[i], &dims[i + 1]));
    else
      return aj_infer_fail(in, ARRJIT_TYPE, "rhs is %s; expected windows of at least one element",
                           operand_text(in, 1).s);
  }
  dims[spatial + 1] = rhs->dims[spatial + 1];
  return aj_infer_push_type(in, lhs->dtype, lhs->rank, dims);
}

/* a [batch dims, n, n], b [batch dims, n, m] */
arrjit_status aj_infer_solve(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  const aj_type *a = aj_infer_type(in, 0), *b = aj_infer_type(in, 1);
  int64_t unit = aj_infer_attr(in, AJ_ATTR_UNIT)->u.i;
  if (unit != 0 && unit != 1) return aj_infer_fail(in, ARRJIT_TYPE, "unit is %lld; expected 0 or 1", (long long)unit);
  bool fits = a->rank >= 2 && b->rank == a->rank && aj_dim_equal(a->dims[a->rank - 1], a->dims[a->rank - 2]);
  for (int32_t i = 0; fits && i + 1 < a->rank; i++) fits = aj_dim_equal(a->dims[i], b->dims[i]);
  if (!fits)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "a is %s and b %s; expected square matrices, and b with as many rows, in the same batch dims",
                         operand_text(in, 0).s, operand_text(in, 1).s);
  return aj_infer_push(in, b);
}
