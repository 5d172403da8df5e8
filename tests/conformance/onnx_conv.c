/* ONNX's convolutions. */
#include "onnx.h"

#include <string.h>

/* Batch, spatial dims, channels of an operand or the result; then of weights: spatial dims, channels, results. */
typedef struct order {
  int64_t data[ARRJIT_MAX_RANK], weights[ARRJIT_MAX_RANK];
} order;

static order find_order(int32_t rank, int64_t channels, int64_t results) {
  order o = {.data = {0}};
  for (int32_t i = 2; i < rank; i++) o.data[i - 1] = o.weights[i - 2] = i;
  o.data[rank - 1] = 1;
  o.weights[rank - 2] = channels;
  o.weights[rank - 1] = results;
  return o;
}

arrjit_value onnx_each_channel(case_op *op, arrjit_value x, int32_t rank) {
  int64_t dims[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) dims[i] = i == 1 ? arrjit_value_type(x).dims[0] : 1;
  return onnx_reshape(op, x, (size_t)rank, dims);
}

static arrjit_value add_bias(case_op *op, arrjit_value out) {
  if (!onnx_given(op, 2)) return out;
  return arrjit_add(op->g, out, onnx_each_channel(op, op->in[2], arrjit_value_type(out).rank));
}

arrjit_value onnx_convolve(case_op *op, arrjit_value x, arrjit_value w) {
  const arrjit_type type = arrjit_value_type(w);
  order o = find_order(type.rank, 1, 0);
  onnx_pool p;
  onnx_pool_read(op, type.dims + 2, &p);
  return arrjit_convolution(op->g, x, w, type.rank - 2, o.data, o.weights, o.data, p.strides + 2, p.low + 2, p.high + 2,
                            NULL, p.dilations + 2, 0, NULL, case_int(op, "group", 1), 1);
}

verdict onnx_conv(case_op *op) {
  op->out[0] = add_bias(op, onnx_convolve(op, op->in[0], op->in[1]));
  return PASSED;
}

/* w[groups * channels, results of a group, ..] as [channels, all results, ..]. */
static arrjit_value regroup(case_op *op, arrjit_value w, int64_t groups) {
  const arrjit_type type = arrjit_value_type(w);
  int64_t split[ARRJIT_MAX_RANK] = {groups, type.dims[0] / groups}, perm[ARRJIT_MAX_RANK] = {1, 0};
  int64_t dims[ARRJIT_MAX_RANK] = {type.dims[0] / groups, groups * type.dims[1]};
  for (int32_t i = 1; i < type.rank; i++) split[i + 1] = type.dims[i], perm[i + 1] = i + 1;
  for (int32_t i = 2; i < type.rank; i++) dims[i] = type.dims[i];
  arrjit_value x = onnx_reshape(op, w, (size_t)type.rank + 1, split);
  return onnx_reshape(op, arrjit_transpose(op->g, x, (size_t)type.rank + 1, perm), (size_t)type.rank, dims);
}

/* Padding when the case says the shape: of an odd number the larger part comes first, unless SAME_UPPER. */
static void pad_to_shape(const case_op *op, onnx_pool *p, const int64_t *extents, const int64_t *extra) {
  int64_t shape[CASE_MOST];
  bool upper = strcmp(case_text(op, "auto_pad"), "SAME_UPPER") == 0;
  case_ints(op, "output_shape", shape);
  for (int32_t i = 2; i < p->rank; i++) {
    int64_t window = (p->sizes[i] - 1) * p->dilations[i] + 1;
    int64_t total = (extents[i] - 1) * p->strides[i] + extra[i - 2] + window - shape[i - 2];
    int64_t less = total >> 1; /* rounded down */
    p->low[i] = upper ? less : total - less;
    p->high[i] = total - p->low[i];
  }
}

/* A convolution of x with holes between its elements, by weights turned round. */
verdict onnx_conv_transpose(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]), w = arrjit_value_type(op->in[1]);
  int64_t extra[CASE_MOST] = {0}, low[ARRJIT_MAX_RANK], high[ARRJIT_MAX_RANK], turned[ARRJIT_MAX_RANK];
  int64_t groups = case_int(op, "group", 1);
  order o = find_order(type.rank, 0, 1);
  onnx_pool p;
  onnx_pool_read(op, w.dims + 2, &p);
  case_ints(op, "output_padding", extra);
  if (onnx_has(op, "output_shape"))
    pad_to_shape(op, &p, type.dims, extra);
  else if (strncmp(case_text(op, "auto_pad"), "SAME", 4) == 0)
    return corpus_say(op->build->run, SKIPPED, "op ConvTranspose with padding of its own choice");
  for (int32_t i = 2; i < type.rank; i++) {
    int64_t reach = (p.sizes[i] - 1) * p.dilations[i];
    low[i - 2] = reach - p.low[i];
    high[i - 2] = reach - p.high[i] + extra[i - 2];
    turned[i - 2] = i - 2;
  }
  arrjit_value out =
      arrjit_convolution(op->g, op->in[0], regroup(op, op->in[1], groups), type.rank - 2, o.data, o.weights, o.data,
                         NULL, low, high, p.strides + 2, p.dilations + 2, (size_t)type.rank - 2, turned, groups, 1);
  op->out[0] = add_bias(op, out);
  return PASSED;
}

/* ---- causal ---- */

static arrjit_value cut_last(case_op *op, arrjit_value x, int64_t from, int64_t count) {
  const arrjit_type type = arrjit_value_type(x);
  int64_t start[] = {0, 0, from}, limit[] = {type.dims[0], type.dims[1], from + count}, step[] = {1, 1, 1};
  return arrjit_slice(op->g, x, 3, start, limit, step);
}

/* Each channel x[batch, channel, turn] by weights [channel, 1, taps] over a turn and those before it; before the first
 * one is the past, or zeros. The past of what follows is given back. */
verdict onnx_causal_conv(case_op *op) {
  arrjit_graph *g = op->g;
  const arrjit_type x = arrjit_value_type(op->in[0]), w = arrjit_value_type(op->in[1]);
  int64_t taps = w.dims[2], turns = x.dims[2];
  const int64_t before[] = {x.dims[0], x.dims[1], taps - 1}, channel[] = {1, x.dims[1], 1};
  arrjit_value past = onnx_given(op, 3) ? op->in[3] : onnx_full(op, op->in[0], 0, 3, before), sum = NULL;
  arrjit_value all = arrjit_concat(g, 2, (const arrjit_value[]){past, op->in[0]}, 2), wide = onnx_widen(op, all);
  for (int64_t k = 0; k < taps; k++) {
    arrjit_value weight = onnx_reshape(op, cut_last(op, onnx_widen(op, op->in[1]), k, 1), 3, channel);
    arrjit_value term = arrjit_mul(g, cut_last(op, wide, k, turns), weight);
    sum = sum ? arrjit_add(g, sum, term) : term;
  }
  if (onnx_given(op, 2)) sum = arrjit_add(g, sum, onnx_reshape(op, onnx_widen(op, op->in[2]), 3, channel));
  const char *activation = case_text(op, "activation");
  if (strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0)
    sum = arrjit_mul(g, sum, arrjit_logistic(g, sum));
  else if (*activation && strcmp(activation, "none") != 0)
    return corpus_say(op->build->run, SKIPPED, "op CausalConvWithState with activation %s", activation);
  op->out[0] = onnx_like(op, sum, op->in[0]);
  op->out[1] = cut_last(op, all, turns, taps - 1);
  return PASSED;
}
