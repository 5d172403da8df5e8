/* Result types of creation and movement. Extents that are symbols give derived symbols; what only a run can tell (a
 * slice or reshape that fits) is left to the routine. */
#include "ir/infer.h"

#include <string.h>

static aj_infer_text x_text(const aj_infer *in) { return aj_infer_type_text(in, aj_infer_type(in, 0)); }

/* ---- creation ---- */

arrjit_status aj_infer_const(aj_infer *in) {
  arrjit_dtype dtype = (arrjit_dtype)aj_infer_attr(in, AJ_ATTR_DTYPE)->u.i;
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE), *value = aj_infer_attr(in, AJ_ATTR_VALUE);
  int64_t elements, bytes;
  bool symbolic;
  if (shape->count > ARRJIT_MAX_RANK || !aj_dims_count((int32_t)shape->count, shape->u.ints, &elements, &symbolic) ||
      !aj_i64_mul(elements, aj_dtypes[dtype].bytes, &bytes))
    return aj_infer_fail(in, ARRJIT_TYPE, "rank above %d, or more bytes than can be addressed", ARRJIT_MAX_RANK);
  if (symbolic) return aj_infer_fail(in, ARRJIT_TYPE, "a constant has no symbolic extents; use full or iota");
  if ((int64_t)value->count != bytes && value->count != aj_dtypes[dtype].bytes)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "value has %u bytes; expected %lld, or %u for one element that fills the shape", value->count,
                         (long long)bytes, aj_dtypes[dtype].bytes);
  return aj_infer_push_type(in, dtype, (int32_t)shape->count, shape->u.ints);
}

arrjit_status aj_infer_iota(aj_infer *in) {
  arrjit_dtype dtype = (arrjit_dtype)aj_infer_attr(in, AJ_ATTR_DTYPE)->u.i;
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE);
  if (dtype == ARRJIT_BOOL)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "dtype is bool; expected an integer or float dtype: write convert(iota, bool)");
  AJ_TRY(aj_infer_axis(in, (int32_t)shape->count));
  return aj_infer_push_type(in, dtype, (int32_t)shape->count, shape->u.ints);
}

arrjit_status aj_infer_full(aj_infer *in) {
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE);
  AJ_TRY(aj_infer_dtype_set(in, 0));
  if (aj_infer_type(in, 0)->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; expected a scalar, use broadcast for arrays", x_text(in).s);
  return aj_infer_push_type(in, aj_infer_type(in, 0)->dtype, (int32_t)shape->count, shape->u.ints);
}

arrjit_status aj_infer_dim_size(aj_infer *in) {
  AJ_TRY(aj_infer_array(in, 0));
  AJ_TRY(aj_infer_axis(in, aj_infer_type(in, 0)->rank));
  return aj_infer_push_type(in, ARRJIT_I64, 0, NULL);
}

/* ---- movement ---- */

arrjit_status aj_infer_broadcast(aj_infer *in) {
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE), *axes = aj_infer_attr(in, AJ_ATTR_AXES);
  uint32_t set;
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  AJ_TRY(aj_infer_count(in, AJ_ATTR_AXES, (uint32_t)x->rank, "the rank of x"));
  if (shape->count > ARRJIT_MAX_RANK)
    return aj_infer_fail(in, ARRJIT_TYPE, "shape has rank %u; at most %d is allowed", shape->count, ARRJIT_MAX_RANK);
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_AXES, (int32_t)shape->count, &set));
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t to = shape->u.ints[axes->u.ints[i]];
    if (x->dims[i] != 1 && !aj_dim_equal(x->dims[i], to))
      return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; its extent %s cannot become %s: only an extent of 1 is repeated",
                           x_text(in).s, aj_infer_dim_text(in, x->dims[i]).s, aj_infer_dim_text(in, to).s);
  }
  return aj_infer_push_type(in, x->dtype, (int32_t)shape->count, shape->u.ints);
}

arrjit_status aj_infer_reshape(aj_infer *in) {
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE);
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  int64_t from, to;
  bool from_symbolic, to_symbolic;
  bool fits = aj_dims_count(x->rank, x->dims, &from, &from_symbolic);
  fits &= shape->count <= ARRJIT_MAX_RANK && aj_dims_count((int32_t)shape->count, shape->u.ints, &to, &to_symbolic);
  if (!fits) return aj_infer_fail(in, ARRJIT_TYPE, "the shape has too many dims or elements");
  if (!from_symbolic && !to_symbolic && from != to)
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s with %lld elements; expected as many as the new shape has, %lld",
                         x_text(in).s, (long long)from, (long long)to);
  return aj_infer_push_type(in, x->dtype, (int32_t)shape->count, shape->u.ints);
}

arrjit_status aj_infer_transpose(aj_infer *in) {
  uint32_t set;
  int64_t dims[ARRJIT_MAX_RANK];
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  AJ_TRY(aj_infer_count(in, AJ_ATTR_AXES, (uint32_t)x->rank, "the rank of x"));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_AXES, x->rank, &set));
  for (int32_t i = 0; i < x->rank; i++) dims[i] = x->dims[aj_infer_attr(in, AJ_ATTR_AXES)->u.ints[i]];
  return aj_infer_push_type(in, x->dtype, x->rank, dims);
}

arrjit_status aj_infer_same_axes(aj_infer *in) {
  uint32_t set;
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_AXES, aj_infer_type(in, 0)->rank, &set));
  return aj_infer_push(in, aj_infer_type(in, 0));
}

/* Number of elements from start below limit by step. */
static arrjit_status slice_dim(aj_infer *in, int32_t axis, int64_t start, int64_t limit, int64_t step, int64_t *out) {
  int64_t extent = aj_infer_type(in, 0)->dims[axis];
  if (step < 1)
    return aj_infer_fail(in, ARRJIT_TYPE, "step %lld of axis %d; expected at least 1", (long long)step, axis);
  if (start < 0 || (limit >= 0 && start > limit) || (limit >= 0 && extent >= 0 && limit > extent))
    return aj_infer_fail(
        in, ARRJIT_TYPE, "x is %s; start %lld and limit %s of axis %d; expected 0 <= start <= limit <= %s",
        x_text(in).s, (long long)start, aj_infer_dim_text(in, limit).s, axis, aj_infer_dim_text(in, extent).s);
  if (limit >= 0) return *out = (limit - start) / step + ((limit - start) % step != 0), ARRJIT_OK;
  AJ_TRY(aj_infer_dim(in, AJ_SYM_SUB, limit, start, out));
  if (step == 1) return ARRJIT_OK;
  AJ_TRY(aj_infer_dim(in, AJ_SYM_ADD, *out, step - 1, out));
  return aj_infer_dim(in, AJ_SYM_FLOOR_DIV, *out, step, out);
}

arrjit_status aj_infer_slice(aj_infer *in) {
  int64_t dims[ARRJIT_MAX_RANK];
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  AJ_TRY(aj_infer_count(in, AJ_ATTR_START, (uint32_t)x->rank, "the rank of x"));
  AJ_TRY(aj_infer_count(in, AJ_ATTR_LIMIT, (uint32_t)x->rank, "the rank of x"));
  AJ_TRY(aj_infer_count(in, AJ_ATTR_STEP, (uint32_t)x->rank, "the rank of x"));
  for (int32_t i = 0; i < x->rank; i++)
    AJ_TRY(slice_dim(in, i, aj_infer_attr(in, AJ_ATTR_START)->u.ints[i], aj_infer_attr(in, AJ_ATTR_LIMIT)->u.ints[i],
                     aj_infer_attr(in, AJ_ATTR_STEP)->u.ints[i], &dims[i]));
  return aj_infer_push_type(in, x->dtype, x->rank, dims);
}

arrjit_status aj_infer_concat(aj_infer *in) {
  if (in->operand_count == 0) return aj_infer_fail(in, ARRJIT_TYPE, "no operand came; expected at least one");
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *first = aj_infer_type(in, 0);
  AJ_TRY(aj_infer_axis(in, first->rank));
  int64_t axis = aj_infer_attr(in, AJ_ATTR_AXIS)->u.i, dims[ARRJIT_MAX_RANK];
  memcpy(dims, first->dims, (size_t)first->rank * sizeof *dims);
  for (uint32_t i = 1; i < in->operand_count; i++) {
    AJ_TRY(aj_infer_same_dtype(in, i, 0));
    const aj_type *type = aj_infer_type(in, i);
    bool same = type->rank == first->rank;
    for (int32_t d = 0; same && d < first->rank; d++) same = d == axis || aj_dim_equal(type->dims[d], first->dims[d]);
    if (!same)
      return aj_infer_fail(in, ARRJIT_TYPE, "operands are %s and %s; expected shapes that differ along axis %lld only",
                           x_text(in).s, aj_infer_type_text(in, type).s, (long long)axis);
    AJ_TRY(aj_infer_dim(in, AJ_SYM_ADD, dims[axis], type->dims[axis], &dims[axis]));
  }
  return aj_infer_push_type(in, first->dtype, first->rank, dims);
}

/* low + high + extent + interior between each two; only numbers can tell an empty axis, which has nothing between. */
static arrjit_status pad_dim(aj_infer *in, int32_t axis, int64_t low, int64_t high, int64_t interior, int64_t *dim) {
  int64_t edges, between = 0;
  if (interior < 0)
    return aj_infer_fail(in, ARRJIT_TYPE, "interior %lld of axis %d; expected at least 0", (long long)interior, axis);
  if (interior > 0 && *dim < 0)
    return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; interior padding needs an extent that is a number, axis %d has %s",
                         x_text(in).s, axis, aj_infer_dim_text(in, *dim).s);
  bool fits = aj_i64_add(low, high, &edges) && edges > INT64_MIN;
  if (interior > 0 && *dim > 1) fits &= aj_i64_mul(*dim - 1, interior, &between) && aj_i64_add(*dim, between, dim);
  if (!fits) return aj_infer_fail(in, ARRJIT_TYPE, "the padding of axis %d is out of range", axis);
  return edges >= 0 ? aj_infer_dim(in, AJ_SYM_ADD, *dim, edges, dim) : aj_infer_dim(in, AJ_SYM_SUB, *dim, -edges, dim);
}

arrjit_status aj_infer_pad(aj_infer *in) {
  static const aj_attr_name names[] = {AJ_ATTR_LOW, AJ_ATTR_HIGH, AJ_ATTR_INTERIOR};
  int64_t dims[ARRJIT_MAX_RANK];
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(aj_infer_same_dtype(in, 1, 0));
  if (aj_infer_type(in, 1)->rank)
    return aj_infer_fail(in, ARRJIT_TYPE, "fill is %s; expected a scalar",
                         aj_infer_type_text(in, aj_infer_type(in, 1)).s);
  const aj_type *x = aj_infer_type(in, 0);
  for (size_t i = 0; i < AJ_COUNT(names); i++) AJ_TRY(aj_infer_count(in, names[i], (uint32_t)x->rank, "the rank of x"));
  for (int32_t i = 0; i < x->rank; i++) {
    dims[i] = x->dims[i];
    AJ_TRY(pad_dim(in, i, aj_infer_attr(in, AJ_ATTR_LOW)->u.ints[i], aj_infer_attr(in, AJ_ATTR_HIGH)->u.ints[i],
                   aj_infer_attr(in, AJ_ATTR_INTERIOR)->u.ints[i], &dims[i]));
  }
  return aj_infer_push_type(in, x->dtype, x->rank, dims);
}
