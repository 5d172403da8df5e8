/* ONNX's convolutions. */
#include "onnx.h"

#include <string.h>

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
