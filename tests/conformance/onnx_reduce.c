/* ONNX's reductions and products of matrices. */
#include "onnx.h"

#include <string.h>

/* ---- reductions ---- */

typedef arrjit_value fold(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes);

static arrjit_value fold_absolutes(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes) {
  return arrjit_reduce_sum(g, arrjit_abs(g, x), axis_count, axes);
}

static arrjit_value fold_squares(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes) {
  return arrjit_reduce_sum(g, arrjit_mul(g, x, x), axis_count, axes);
}

static arrjit_value fold_length(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes) {
  return arrjit_sqrt(g, fold_squares(g, x, axis_count, axes));
}

static arrjit_value fold_log(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes) {
  return arrjit_log(g, arrjit_reduce_sum(g, x, axis_count, axes));
}

static const struct {
  const char *name;
  fold *build;
} folds[] = {
    {"ReduceSum", arrjit_reduce_sum}, {"ReduceProd", arrjit_reduce_prod}, {"ReduceMin", arrjit_reduce_min},
    {"ReduceMax", arrjit_reduce_max}, {"ReduceMean", arrjit_mean},        {"ReduceL1", fold_absolutes},
    {"ReduceL2", fold_length},        {"ReduceLogSum", fold_log},         {"ReduceLogSumExp", arrjit_logsumexp},
    {"ReduceSumSquare", fold_squares}};

verdict onnx_reduce(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axes[CASE_MOST];
  size_t count;
  bool there;
  if (!onnx_list(op, "axes", 1, &there, &count, axes)) return SKIPPED;
  if (count == 0 && case_int(op, "noop_with_empty_axes", 0)) return onnx_identity(op);
  for (int64_t i = 0; count == 0 && i < type.rank; i++) axes[i] = i;
  if (count == 0) count = (size_t)type.rank;
  for (size_t i = 0; i < count; i++) axes[i] = onnx_axis(axes[i], type.rank);
  arrjit_value x = onnx_widen(op, op->in[0]);
  for (size_t i = 0; i < TK_COUNT(folds); i++)
    if (strcmp(folds[i].name, op->name) == 0) op->out[0] = folds[i].build(op->g, x, count, axes);
  op->out[0] = onnx_like(op, op->out[0], op->in[0]);
  if (case_int(op, "keepdims", 1)) op->out[0] = onnx_keep(op, op->out[0], &type, count, axes);
  return PASSED;
}

/* ---- products ---- */

/* x with the joint batch dims before its last two. */
static arrjit_value stretch(case_op *op, arrjit_value x, size_t batch, const int64_t *joint) {
  const arrjit_type type = arrjit_value_type(x);
  int64_t dims[ARRJIT_MAX_RANK], axes[ARRJIT_MAX_RANK];
  size_t rank = batch + 2, mine = (size_t)type.rank;
  memcpy(dims, joint, batch * sizeof *dims);
  dims[batch] = type.dims[mine - 2];
  dims[batch + 1] = type.dims[mine - 1];
  for (size_t i = 0; i < mine; i++) axes[i] = (int64_t)(rank - mine + i);
  return arrjit_broadcast(op->g, x, (int32_t)rank, dims, mine, axes);
}

arrjit_value onnx_dot(case_op *op, arrjit_value x, arrjit_value y) {
  bool row = arrjit_value_type(x).rank == 1, column = arrjit_value_type(y).rank == 1;
  if (row) x = arrjit_expand_dims(op->g, x, 0);
  if (column) y = arrjit_expand_dims(op->g, y, 1);
  const arrjit_type a = arrjit_value_type(x), b = arrjit_value_type(y);
  int32_t rank = a.rank > b.rank ? a.rank : b.rank;
  size_t batch = (size_t)rank - 2;
  int64_t joint[ARRJIT_MAX_RANK], axes[ARRJIT_MAX_RANK], lc[] = {rank - 1}, rc[] = {rank - 2};
  for (int32_t i = 0; i < rank - 2; i++) {
    int32_t p = i - (rank - a.rank), q = i - (rank - b.rank);
    joint[i] = p >= 0 && a.dims[p] != 1 ? a.dims[p] : q >= 0 ? b.dims[q] : 1;
    axes[i] = i;
  }
  arrjit_value out =
      arrjit_dot(op->g, stretch(op, x, batch, joint), stretch(op, y, batch, joint), batch, axes, axes, 1, lc, rc);
  int64_t first = (int64_t)batch, last = (int64_t)batch + 1;
  if (column) out = arrjit_squeeze(op->g, out, 1, &last);
  if (row) out = arrjit_squeeze(op->g, out, 1, &first);
  return out;
}

verdict onnx_matmul(case_op *op) {
  op->out[0] = onnx_dot(op, op->in[0], op->in[1]);
  return PASSED;
}

static arrjit_value scale(case_op *op, arrjit_value x, double factor) {
  return factor == 1 ? x : arrjit_mul(op->g, x, arrjit_const_like(op->g, x, factor));
}

verdict onnx_gemm(case_op *op) {
  int64_t lc[] = {case_int(op, "transA", 0) ? 0 : 1}, rc[] = {case_int(op, "transB", 0) ? 1 : 0};
  arrjit_value out = arrjit_dot(op->g, op->in[0], op->in[1], 0, NULL, NULL, 1, lc, rc);
  out = scale(op, out, onnx_float(op, "alpha", 1));
  if (onnx_given(op, 2)) out = arrjit_add(op->g, out, scale(op, op->in[2], onnx_float(op, "beta", 1)));
  op->out[0] = out;
  return PASSED;
}

verdict onnx_einsum(case_op *op) {
  op->out[0] = arrjit_einsum(op->g, case_text(op, "equation"), op->in_count, op->in);
  return PASSED;
}

verdict onnx_det(case_op *op) {
  op->out[0] = arrjit_det(op->g, op->in[0]);
  return PASSED;
}
