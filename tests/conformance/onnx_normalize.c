/* ONNX's normalisations. */
#include "onnx.h"

#include <string.h>

/* ---- over the last axes ---- */

/* The axes from attribute `axis` on. */
static size_t list_rest(const case_op *op, const arrjit_type *type, int64_t *out) {
  size_t count = 0;
  for (int64_t i = onnx_axis(case_int(op, "axis", -1), type->rank); i < type->rank; i++) out[count++] = i;
  return count;
}

static arrjit_value mean_kept(case_op *op, arrjit_value x, size_t count, const int64_t *axes) {
  const arrjit_type type = arrjit_value_type(x);
  return onnx_keep(op, arrjit_mean(op->g, x, count, axes), &type, count, axes);
}

/* 1 / sqrt(x + epsilon) */
static arrjit_value invert_root(case_op *op, arrjit_value x) {
  arrjit_value raised = arrjit_add(op->g, x, arrjit_const_like(op->g, x, onnx_float(op, "epsilon", 1e-5)));
  return arrjit_div(op->g, arrjit_const_like(op->g, x, 1), arrjit_sqrt(op->g, raised));
}

/* 1 / sqrt(mean of squares + epsilon) */
static arrjit_value inverse_deviation(case_op *op, arrjit_value x, size_t count, const int64_t *axes) {
  return invert_root(op, mean_kept(op, arrjit_mul(op->g, x, x), count, axes));
}

/* What is computed in f32 comes back to the input's dtype before scale and bias. */
verdict onnx_layer_normalization(case_op *op) {
  arrjit_value x = onnx_widen(op, op->in[0]);
  const arrjit_type type = arrjit_value_type(x);
  int64_t axes[ARRJIT_MAX_RANK];
  size_t count = list_rest(op, &type, axes);
  arrjit_value mean = mean_kept(op, x, count, axes), centred = arrjit_sub(op->g, x, mean);
  arrjit_value inverse = inverse_deviation(op, centred, count, axes);
  arrjit_value y = onnx_like(op, arrjit_mul(op->g, centred, inverse), op->in[0]);
  y = arrjit_mul(op->g, y, op->in[1]);
  op->out[0] = onnx_given(op, 2) ? arrjit_add(op->g, y, op->in[2]) : y;
  op->out[1] = mean;
  op->out[2] = inverse;
  return PASSED;
}

verdict onnx_rms_normalization(case_op *op) {
  arrjit_value x = onnx_widen(op, op->in[0]);
  const arrjit_type type = arrjit_value_type(x);
  int64_t axes[ARRJIT_MAX_RANK];
  size_t count = list_rest(op, &type, axes);
  arrjit_value y = arrjit_mul(op->g, x, inverse_deviation(op, x, count, axes));
  op->out[0] = arrjit_mul(op->g, onnx_like(op, y, op->in[0]), op->in[1]);
  return PASSED;
}

/* ---- over batches, groups, neighbours ---- */

static arrjit_value blend(case_op *op, arrjit_value old, arrjit_value now, double momentum) {
  arrjit_value a = arrjit_mul(op->g, old, arrjit_const_like(op->g, old, momentum));
  return arrjit_add(op->g, a, arrjit_mul(op->g, now, arrjit_const_like(op->g, now, 1 - momentum)));
}

/* By given mean and variance; in training by those of the batch, which are blended with the given ones. */
verdict onnx_batch_normalization(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  arrjit_value x = op->in[0], mean = op->in[3], variance = op->in[4];
  int64_t axes[ARRJIT_MAX_RANK];
  size_t count = 0;
  for (int64_t i = 0; i < type.rank; i++)
    if (i != 1) axes[count++] = i;
  if (case_int(op, "training_mode", 0)) {
    double momentum = onnx_float(op, "momentum", 0.9);
    mean = arrjit_mean(op->g, x, count, axes);
    variance = arrjit_variance(op->g, x, 0, count, axes);
    op->out[1] = blend(op, op->in[3], mean, momentum);
    op->out[2] = blend(op, op->in[4], variance, momentum);
  }
  x = arrjit_sub(op->g, x, onnx_each_channel(op, mean, type.rank));
  x = arrjit_mul(op->g, x, onnx_each_channel(op, invert_root(op, variance), type.rank));
  x = arrjit_mul(op->g, x, onnx_each_channel(op, op->in[1], type.rank));
  op->out[0] = arrjit_add(op->g, x, onnx_each_channel(op, op->in[2], type.rank));
  return PASSED;
}

/* Scale and bias are one a channel, until opset 20 one a group. */
verdict onnx_group_normalization(case_op *op) {
  static const int64_t axes[] = {2};
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t groups = case_int(op, "num_groups", 1), size = onnx_product((size_t)type.rank, type.dims);
  const int64_t flat[] = {type.dims[0], groups, size / (type.dims[0] * groups)};
  if (onnx_opset(op) < 21) return corpus_say(op->build->run, SKIPPED, "op GroupNormalization before opset 21");
  arrjit_value x = onnx_reshape(op, onnx_widen(op, op->in[0]), 3, flat);
  x = arrjit_sub(op->g, x, mean_kept(op, x, 1, axes));
  x = arrjit_mul(op->g, x, inverse_deviation(op, x, 1, axes));
  x = onnx_like(op, onnx_reshape(op, x, (size_t)type.rank, type.dims), op->in[0]);
  x = arrjit_mul(op->g, x, onnx_each_channel(op, op->in[1], type.rank));
  op->out[0] = arrjit_add(op->g, x, onnx_each_channel(op, op->in[2], type.rank));
  return PASSED;
}

verdict onnx_mean_variance_normalization(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axes[CASE_MOST] = {0, 2, 3};
  size_t count = onnx_has(op, "axes") ? case_ints(op, "axes", axes) : 3;
  arrjit_value x = arrjit_sub(op->g, op->in[0], mean_kept(op, op->in[0], count, axes));
  arrjit_value spread = arrjit_standard_deviation(op->g, op->in[0], 0, count, axes);
  spread = arrjit_add(op->g, spread, arrjit_const_like(op->g, spread, 1e-9));
  op->out[0] = arrjit_div(op->g, x, onnx_keep(op, spread, &type, count, axes));
  return PASSED;
}

verdict onnx_lp_normalization(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", -1), type.rank);
  arrjit_value length = arrjit_norm(op->g, op->in[0], (double)case_int(op, "p", 2), 1, &axis);
  op->out[0] = arrjit_div(op->g, op->in[0], onnx_keep(op, length, &type, 1, &axis));
  return PASSED;
}

/* Divided by (bias + alpha / size * sum of the squares of the channels around)^beta. */
verdict onnx_local_response(case_op *op) {
  arrjit_graph *g = op->g;
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t size = case_int(op, "size", 1), sizes[ARRJIT_MAX_RANK], low[ARRJIT_MAX_RANK] = {0};
  int64_t high[ARRJIT_MAX_RANK] = {0};
  for (int32_t i = 0; i < type.rank; i++) sizes[i] = i == 1 ? size : 1;
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  arrjit_value x = op->in[0];
  arrjit_value sum = arrjit_reduce_window_sum(g, arrjit_mul(g, x, x), type.rank, sizes, NULL, low, high, NULL, NULL);
  arrjit_value base = arrjit_mul(g, sum, arrjit_const_like(g, x, onnx_float(op, "alpha", 1e-4) / (double)size));
  base = arrjit_add(g, base, arrjit_const_like(g, x, onnx_float(op, "bias", 1)));
  op->out[0] = arrjit_div(g, x, arrjit_pow(g, base, arrjit_const_like(g, x, onnx_float(op, "beta", 0.75))));
  return PASSED;
}
