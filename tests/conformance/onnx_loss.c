/* ONNX's losses, and Dropout where it drops nothing. */
#include "onnx.h"

#include <string.h>

/* The weight of each target: its class's, or 1; 0 where it is the one to leave out. `like` gives the dtype. */
static arrjit_value weigh(case_op *op, arrjit_value target, arrjit_value like) {
  arrjit_value weights =
      onnx_given(op, 2) ? arrjit_take(op->g, op->in[2], target, 0) : arrjit_const_like(op->g, like, 1);
  const arrjit_type type = arrjit_value_type(target);
  if (!onnx_given(op, 2)) weights = arrjit_full(op->g, weights, type.rank, type.dims);
  if (!onnx_has(op, "ignore_index")) return weights;
  arrjit_value out = arrjit_const_like(op->g, target, (double)case_int(op, "ignore_index", 0));
  return arrjit_select(op->g, arrjit_eq(op->g, target, out), arrjit_const_like(op->g, like, 0), weights);
}

/* -log p of each target, weighed, then the sum or the mean by weight of all. Classes are axis 1. */
static arrjit_value lose(case_op *op, arrjit_value logs, arrjit_value target) {
  static const int64_t class_axis[] = {1};
  arrjit_value taken = arrjit_take_along_axis(op->g, logs, arrjit_expand_dims(op->g, target, 1), 1);
  arrjit_value weights = weigh(op, target, logs);
  arrjit_value loss = arrjit_neg(op->g, arrjit_mul(op->g, arrjit_squeeze(op->g, taken, 1, class_axis), weights));
  const char *how = case_text(op, "reduction");
  if (strcmp(how, "none") == 0) return loss;
  loss = arrjit_reduce_sum(op->g, loss, ARRJIT_ALL_AXES, NULL);
  if (strcmp(how, "sum") == 0) return loss;
  return arrjit_div(op->g, loss, arrjit_reduce_sum(op->g, weights, ARRJIT_ALL_AXES, NULL));
}

verdict onnx_likelihood_loss(case_op *op) {
  op->out[0] = lose(op, op->in[0], op->in[1]);
  return PASSED;
}

verdict onnx_cross_entropy_loss(case_op *op) {
  static const int64_t class_axis[] = {1};
  op->out[1] = arrjit_log_softmax(op->g, op->in[0], 1, class_axis);
  op->out[0] = lose(op, op->out[1], op->in[1]);
  return PASSED;
}

/* Without training, and at a rate of 0, all stays. What it drops else is its own project's random numbers. */
verdict onnx_dropout(case_op *op) {
  double rate = onnx_float(op, "ratio", 0.5);
  const tk_block *training = onnx_known(op, 2, NULL), *ratio = onnx_known(op, 1, NULL);
  if (ratio) rate = onnx_element(ratio, 0);
  if (training && onnx_element(training, 0) != 0 && rate != 0)
    return corpus_say(op->build->run, SKIPPED, "op Dropout by another project's random numbers");
  const arrjit_type type = arrjit_value_type(op->in[0]);
  op->out[0] = op->in[0];
  op->out[1] = arrjit_full(op->g, arrjit_const_bool(op->g, 1), type.rank, type.dims);
  return PASSED;
}
