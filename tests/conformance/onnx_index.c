/* ONNX's ops that index, sort and run along an axis. */
#include "onnx.h"

#include <string.h>

arrjit_value onnx_wrap_index(case_op *op, arrjit_value indices, int64_t extent) {
  arrjit_value zero = arrjit_const_like(op->g, indices, 0), all = arrjit_const_like(op->g, indices, (double)extent);
  return arrjit_select(op->g, arrjit_lt(op->g, indices, zero), arrjit_add(op->g, indices, all), indices);
}

/* Each component of index vectors (the last axis) by its own extent. */
static arrjit_value wrap_vectors(case_op *op, arrjit_value indices, size_t count, const int64_t *extents) {
  arrjit_value zero = arrjit_const_like(op->g, indices, 0), all = onnx_ints_const(op, count, extents);
  arrjit_value wrapped = arrjit_add(op->g, indices, onnx_like(op, all, indices));
  return arrjit_select(op->g, arrjit_lt(op->g, indices, zero), wrapped, indices);
}

verdict onnx_gather(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", 0), type.rank);
  op->out[0] = arrjit_take(op->g, op->in[0], onnx_wrap_index(op, op->in[1], type.dims[axis]), axis);
  return PASSED;
}

/* Other axes of indices may be shorter than those of x. */
verdict onnx_gather_elements(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]), at = arrjit_value_type(op->in[1]);
  int64_t axis = onnx_axis(case_int(op, "axis", 0), type.rank);
  int64_t start[ARRJIT_MAX_RANK] = {0}, limit[ARRJIT_MAX_RANK], step[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < type.rank; i++) limit[i] = i == axis ? type.dims[i] : at.dims[i], step[i] = 1;
  arrjit_value part = arrjit_slice(op->g, op->in[0], type.rank, start, limit, step);
  op->out[0] = arrjit_take_along_axis(op->g, part, onnx_wrap_index(op, op->in[1], type.dims[axis]), axis);
  return PASSED;
}

verdict onnx_gather_nd(case_op *op) {
  const arrjit_type x = arrjit_value_type(op->in[0]), at = arrjit_value_type(op->in[1]);
  int64_t batch = case_int(op, "batch_dims", 0), last = at.rank - 1, deep = at.dims[last];
  int64_t offset[ARRJIT_MAX_RANK], collapsed[ARRJIT_MAX_RANK], batches[ARRJIT_MAX_RANK], sizes[ARRJIT_MAX_RANK];
  size_t offset_count = 0;
  for (int64_t i = 0; i < batch; i++) batches[i] = i;
  for (int64_t i = 0; i < deep; i++) collapsed[i] = batch + i;
  for (int64_t i = 0; i < x.rank; i++) sizes[i] = i < batch + deep ? 1 : x.dims[i];
  for (int64_t i = batch + deep; i < x.rank; i++, offset_count++) offset[offset_count] = last + (int64_t)offset_count;
  arrjit_value indices = wrap_vectors(op, op->in[1], (size_t)deep, x.dims + batch);
  op->out[0] = arrjit_gather(op->g, op->in[0], indices, offset_count, offset, (size_t)deep, collapsed, (size_t)batch,
                             batches, batches, (size_t)deep, collapsed, last, x.rank, sizes);
  return PASSED;
}

static case_scatter *find_scatter(const case_op *op) {
  static const struct {
    const char *name;
    case_scatter *build;
  } all[] = {{"add", arrjit_scatter_add},
             {"mul", arrjit_scatter_mul},
             {"min", arrjit_scatter_min},
             {"max", arrjit_scatter_max}};
  for (size_t i = 0; i < TK_COUNT(all); i++)
    if (strcmp(all[i].name, case_text(op, "reduction")) == 0) return all[i].build;
  return arrjit_scatter;
}

static const int64_t counting[CASE_MOST] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* An update for each index, at the place of that index in all axes but one. */
static arrjit_value scatter_along(case_op *op, arrjit_value indices, arrjit_value updates, int64_t axis) {
  const arrjit_type at = arrjit_value_type(indices);
  arrjit_value parts[ARRJIT_MAX_RANK];
  for (int64_t i = 0; i < at.rank; i++)
    parts[i] = i == axis ? indices : arrjit_iota(op->g, at.dtype, at.rank, at.dims, i);
  arrjit_value vectors = arrjit_stack(op->g, (size_t)at.rank, parts, at.rank);
  return find_scatter(op)(op->g, op->in[0], vectors, updates, 0, NULL, (size_t)at.rank, counting, 0, NULL, NULL,
                          (size_t)at.rank, counting, at.rank);
}

verdict onnx_scatter_elements(case_op *op) {
  const arrjit_type x = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", 0), x.rank);
  op->out[0] = scatter_along(op, onnx_wrap_index(op, op->in[1], x.dims[axis]), op->in[2], axis);
  return PASSED;
}

/* Updates of each batch from its position on, round the end when circular. */
verdict onnx_tensor_scatter(case_op *op) {
  arrjit_graph *g = op->g;
  const arrjit_type x = arrjit_value_type(op->in[0]), u = arrjit_value_type(op->in[1]);
  int64_t axis = onnx_axis(case_int(op, "axis", -2), x.rank);
  static const int64_t batch[] = {0};
  arrjit_value at = arrjit_iota(g, ARRJIT_I64, u.rank, u.dims, axis);
  if (onnx_given(op, 2)) at = arrjit_add(g, at, arrjit_broadcast(g, op->in[2], u.rank, u.dims, 1, batch));
  if (strcmp(case_text(op, "mode"), "circular") == 0) at = arrjit_mod(g, at, arrjit_const_i64(g, x.dims[axis]));
  op->out[0] = scatter_along(op, at, op->in[1], axis);
  return PASSED;
}

verdict onnx_scatter_nd(case_op *op) {
  const arrjit_type x = arrjit_value_type(op->in[0]), at = arrjit_value_type(op->in[1]);
  int64_t last = at.rank - 1, deep = at.dims[last];
  arrjit_value indices = wrap_vectors(op, op->in[1], (size_t)deep, x.dims);
  op->out[0] = find_scatter(op)(op->g, op->in[0], indices, op->in[2], (size_t)(x.rank - deep), counting + last,
                                (size_t)deep, counting, 0, NULL, NULL, (size_t)deep, counting, last);
  return PASSED;
}

/* values are (off, on); an index outside -depth .. depth - 1 gives off everywhere. */
verdict onnx_one_hot(case_op *op) {
  int64_t depth, rank = arrjit_value_type(op->in[0]).rank, axis = onnx_axis(case_int(op, "axis", -1), rank + 1);
  if (!onnx_int(op, 1, &depth)) return SKIPPED;
  arrjit_value whole = arrjit_convert(op->g, op->in[0], ARRJIT_I64);
  arrjit_value hot = arrjit_one_hot(op->g, onnx_wrap_index(op, whole, depth), depth, axis, ARRJIT_BOOL);
  static const int64_t sizes[] = {1, 1};
  arrjit_value two[2];
  arrjit_split(op->g, op->in[2], 0, 2, sizes, two);
  op->out[0] = arrjit_select(op->g, hot, onnx_reshape(op, two[1], 0, NULL), onnx_reshape(op, two[0], 0, NULL));
  return PASSED;
}

verdict onnx_top_k(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t k, axis = onnx_axis(case_int(op, "axis", -1), type.rank);
  if (!onnx_int(op, 1, &k)) return SKIPPED;
  if (case_int(op, "largest", 1)) {
    arrjit_top_k(op->g, op->in[0], k, axis, &op->out[0], &op->out[1]);
    return PASSED;
  }
  const int64_t sizes[] = {k, type.dims[axis] - k};
  arrjit_value parts[2];
  arrjit_split(op->g, arrjit_argsort(op->g, op->in[0], axis, 0), axis, 2, sizes, parts);
  op->out[0] = arrjit_take_along_axis(op->g, op->in[0], parts[0], axis);
  op->out[1] = parts[0];
  return PASSED;
}

/* ArgMax, ArgMin. The last of equal ones is the first from the other end. */
verdict onnx_arg(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", 0), type.rank);
  bool last = case_int(op, "select_last_index", 0);
  arrjit_value x = last ? arrjit_reverse(op->g, op->in[0], 1, &axis) : op->in[0];
  arrjit_value at = (strcmp(op->name, "ArgMax") == 0 ? arrjit_argmax : arrjit_argmin)(op->g, x, axis);
  if (last) at = arrjit_sub(op->g, arrjit_const_i64(op->g, type.dims[axis] - 1), at);
  op->out[0] = case_int(op, "keepdims", 1) ? onnx_keep(op, at, &type, 1, &axis) : at;
  return PASSED;
}

/* CumSum, CumProd. Exclusive: each place has what the one before it has, the first the neutral element. */
verdict onnx_cumulative(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  bool sum = strcmp(op->name, "CumSum") == 0;
  int64_t axis, reverse = case_int(op, "reverse", 0);
  if (!onnx_int(op, 1, &axis)) return SKIPPED;
  axis = onnx_axis(axis, type.rank);
  op->out[0] = (sum ? arrjit_cumsum : arrjit_cumprod)(op->g, op->in[0], axis, reverse);
  if (!case_int(op, "exclusive", 0)) return PASSED;
  int64_t low[ARRJIT_MAX_RANK] = {0}, high[ARRJIT_MAX_RANK] = {0}, interior[ARRJIT_MAX_RANK] = {0};
  low[axis] = reverse ? -1 : 1;
  high[axis] = -low[axis];
  arrjit_value neutral = arrjit_const_like(op->g, op->in[0], sum ? 0 : 1);
  op->out[0] = arrjit_pad(op->g, op->out[0], neutral, type.rank, low, high, interior);
  return PASSED;
}
