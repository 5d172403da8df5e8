/* Small things on values that Nx's ops are made of. */
#include "nx.h"

#include <string.h>

/* The null value has no dims, so that what is built after a refusal stays within its lists. */
int64_t nx_rank(arrjit_value x) {
  int32_t rank = arrjit_value_type(x).rank;
  return rank > 0 ? rank : 0;
}

int64_t nx_extent(arrjit_value x, int64_t axis) {
  return axis >= 0 && axis < nx_rank(x) ? arrjit_value_type(x).dims[axis] : 0;
}

nx_dims nx_shape_name(arrjit_value x) {
  nx_dims out = {"{"};
  size_t at = 1;
  for (int64_t i = 0; i < nx_rank(x) && at < sizeof out.text - 24; i++)
    at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s%d", i ? ", " : "", (int)nx_extent(x, i));
  snprintf(out.text + at, sizeof out.text - at, "}");
  return out;
}

int64_t nx_product(size_t count, const int64_t *dims) {
  int64_t product = 1;
  for (size_t i = 0; i < count; i++) product *= dims[i];
  return product;
}

/* ---- dtypes ---- */

arrjit_value nx_as(nx_op *op, arrjit_value x, arrjit_dtype dtype) {
  return nx_dtype_of(x) == dtype ? x : arrjit_convert(op->g, x, dtype);
}

arrjit_value nx_float(nx_op *op, arrjit_value x) { return nx_as(op, x, nx_floating(nx_dtype_of(x))); }

arrjit_value nx_complex(nx_op *op, arrjit_value x) { return nx_as(op, x, nx_merge(nx_dtype_of(x), ARRJIT_C64)); }

arrjit_value nx_truth(nx_op *op, arrjit_value x) {
  return nx_dtype_of(x) == ARRJIT_BOOL ? x : arrjit_ne(op->g, x, nx_number(op, nx_dtype_of(x), 0));
}

arrjit_value nx_u8(nx_op *op, arrjit_value x) { return nx_as(op, x, ARRJIT_U8); }

/* ---- new values ---- */

arrjit_value nx_number(nx_op *op, arrjit_dtype dtype, double x) {
  unsigned char element[16] = {0};
  arrjit_type type = arrjit_type_make(dtype, 0, NULL);
  int64_t whole = nx_is_integer(dtype) ? (int64_t)x : 0;
  if (nx_is_integer(dtype))
    memcpy(element, &whole, sizeof whole); /* little-endian: the low bytes */
  else
    tk_store_float(tk_part(dtype), x, element);
  return arrjit_const(op->g, &type, element);
}

arrjit_value nx_full(nx_op *op, arrjit_dtype dtype, double x, size_t rank, const int64_t *dims) {
  return arrjit_full(op->g, nx_number(op, dtype, x), (int32_t)rank, dims);
}

arrjit_value nx_iota(nx_op *op, arrjit_dtype dtype, size_t rank, const int64_t *dims, int64_t axis) {
  return arrjit_iota(op->g, dtype, (int32_t)rank, dims, axis);
}

/* ---- shapes ---- */

arrjit_value nx_reshape(nx_op *op, arrjit_value x, size_t rank, const int64_t *dims) {
  return arrjit_reshape(op->g, x, (int32_t)rank, dims);
}

arrjit_value nx_flatten(nx_op *op, arrjit_value x) {
  const arrjit_type type = arrjit_value_type(x);
  const int64_t dims[] = {nx_product((size_t)nx_rank(x), type.dims)};
  return nx_reshape(op, x, 1, dims);
}

arrjit_value nx_broadcast(nx_op *op, arrjit_value x, size_t rank, const int64_t *dims) {
  int64_t to[ARRJIT_MAX_RANK], own = nx_rank(x);
  for (int64_t i = 0; i < own; i++) to[i] = (int64_t)rank - own + i;
  return arrjit_broadcast(op->g, x, (int32_t)rank, dims, (size_t)own, to);
}

arrjit_value nx_slice(nx_op *op, arrjit_value x, int64_t axis, int64_t from, int64_t to, int64_t step) {
  int64_t low[ARRJIT_MAX_RANK] = {0}, high[ARRJIT_MAX_RANK], steps[ARRJIT_MAX_RANK], rank = nx_rank(x);
  for (int64_t i = 0; i < rank; i++) high[i] = nx_extent(x, i), steps[i] = 1;
  low[axis] = from;
  high[axis] = to;
  steps[axis] = step;
  return arrjit_slice(op->g, x, (int32_t)rank, low, high, steps);
}

arrjit_value nx_swap(nx_op *op, arrjit_value x, int64_t a, int64_t b) {
  int64_t perm[ARRJIT_MAX_RANK], rank = nx_rank(x);
  for (int64_t i = 0; i < rank; i++) perm[i] = i == a ? b : i == b ? a : i;
  return arrjit_transpose(op->g, x, (size_t)rank, perm);
}

arrjit_value nx_move_axis(nx_op *op, arrjit_value x, int64_t from, int64_t to) {
  int64_t rank = nx_rank(x), perm[ARRJIT_MAX_RANK], at = 0;
  for (int64_t i = 0; i < rank; i++) {
    if (at == from) at++;
    perm[i] = i == to ? from : at++;
  }
  return from == to ? x : arrjit_transpose(op->g, x, (size_t)rank, perm);
}

/* ---- axes ---- */

int64_t nx_axis(nx_op *op, int64_t axis, int64_t rank) {
  int64_t place = axis < 0 ? axis + rank : axis;
  if (place >= 0 && place < rank) return place;
  nx_raise(op, "given axis (%d) invalid for shape with rank %d", (int)axis, (int)rank);
  return 0;
}

size_t nx_axes(nx_op *op, const char *name, arrjit_value x, int64_t *out) {
  int64_t rank = nx_rank(x);
  const json_t *given = nx_option(op, name);
  if (!given || json_is_null(given)) {
    for (int64_t i = 0; i < rank; i++) out[i] = i;
    return (size_t)rank;
  }
  size_t count = nx_ints(given, out);
  for (size_t i = 0; i < count; i++) out[i] = nx_axis(op, out[i], rank);
  return count;
}

arrjit_value nx_keep(nx_op *op, arrjit_value x, const arrjit_type *type, size_t count, const int64_t *axes) {
  int64_t dims[ARRJIT_MAX_RANK];
  memcpy(dims, type->dims, sizeof dims);
  for (size_t i = 0; i < count; i++) dims[axes[i]] = 1;
  return nx_reshape(op, x, (size_t)type->rank, dims);
}

arrjit_value nx_matmul(nx_op *op, arrjit_value lhs, arrjit_value rhs) {
  int64_t batch[ARRJIT_MAX_RANK], rank = nx_rank(lhs);
  const int64_t last[] = {rank - 1}, first[] = {rank - 2};
  if (rank < 2) nx_raise(op, "%s: a product of what is no matrix", op->name);
  if (op->told != PASSED) return NULL;
  for (int64_t i = 0; i + 2 < rank; i++) batch[i] = i;
  return arrjit_dot(op->g, lhs, rhs, (size_t)rank - 2, batch, batch, 1, last, first);
}
