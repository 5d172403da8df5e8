/* ONNX's activations: elementwise formulas as its documents state them, and those along an axis. */
#include "onnx.h"

#include <string.h>

static arrjit_value number(case_op *op, double value) { return arrjit_const_like(op->g, op->in[0], value); }

static arrjit_value is_positive(case_op *op) { return arrjit_gt(op->g, op->in[0], number(op, 0)); }

/* x where it is above 0, else y. */
static verdict choose(case_op *op, arrjit_value x, arrjit_value y) {
  op->out[0] = arrjit_select(op->g, is_positive(op), x, y);
  return PASSED;
}

verdict onnx_relu(case_op *op) {
  op->out[0] = arrjit_max(op->g, op->in[0], number(op, 0));
  return PASSED;
}

verdict onnx_leaky_relu(case_op *op) {
  return choose(op, op->in[0], arrjit_mul(op->g, op->in[0], number(op, onnx_float(op, "alpha", 0.01))));
}

verdict onnx_prelu(case_op *op) {
  arrjit_value below = arrjit_lt(op->g, op->in[0], number(op, 0));
  op->out[0] = arrjit_select(op->g, below, arrjit_mul(op->g, op->in[0], op->in[1]), op->in[0]);
  return PASSED;
}

static arrjit_value scaled_expm1(case_op *op, double factor, arrjit_value x) {
  return arrjit_mul(op->g, arrjit_expm1(op->g, x), number(op, factor));
}

verdict onnx_elu(case_op *op) { return choose(op, op->in[0], scaled_expm1(op, onnx_float(op, "alpha", 1), op->in[0])); }

verdict onnx_celu(case_op *op) {
  double alpha = onnx_float(op, "alpha", 1);
  return choose(op, op->in[0], scaled_expm1(op, alpha, arrjit_div(op->g, op->in[0], number(op, alpha))));
}

verdict onnx_selu(case_op *op) { /* the constants are those of ONNX's document */
  double alpha = onnx_float(op, "alpha", 1.67326319217681884765625);
  double gamma = onnx_float(op, "gamma", 1.05070102214813232421875);
  return choose(op, arrjit_mul(op->g, op->in[0], number(op, gamma)), scaled_expm1(op, alpha * gamma, op->in[0]));
}

/* x / 2 * (1 + erf(x / sqrt 2)), or tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) for the erf. */
verdict onnx_gelu(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_value x = op->in[0], inner;
  if (strcmp(case_text(op, "approximate"), "tanh") == 0) {
    arrjit_value cube = arrjit_mul(g, arrjit_mul(g, x, x), x);
    arrjit_value sum = arrjit_add(g, x, arrjit_mul(g, cube, number(op, 0.044715)));
    inner = arrjit_tanh(g, arrjit_mul(g, sum, number(op, 0.7978845608028654)));
  } else {
    inner = arrjit_erf(g, arrjit_mul(g, x, number(op, 0.7071067811865476)));
  }
  op->out[0] = arrjit_mul(g, arrjit_mul(g, x, number(op, 0.5)), arrjit_add(g, inner, number(op, 1)));
  return PASSED;
}

verdict onnx_swish(case_op *op) {
  arrjit_value scaled = arrjit_mul(op->g, op->in[0], number(op, onnx_float(op, "alpha", 1)));
  op->out[0] = arrjit_mul(op->g, op->in[0], arrjit_logistic(op->g, scaled));
  return PASSED;
}

verdict onnx_swiglu(case_op *op) {
  onnx_swish(op);
  op->out[0] = arrjit_mul(op->g, op->out[0], op->in[1]);
  return PASSED;
}

verdict onnx_hard_sigmoid(case_op *op) {
  arrjit_value scaled = arrjit_mul(op->g, op->in[0], number(op, onnx_float(op, "alpha", 0.2)));
  arrjit_value line = arrjit_add(op->g, scaled, number(op, onnx_float(op, "beta", 0.5)));
  op->out[0] = arrjit_min(op->g, arrjit_max(op->g, line, number(op, 0)), number(op, 1));
  return PASSED;
}

/* log(1 + e^x), the exponent never above 0. */
verdict onnx_softplus(case_op *op) {
  arrjit_value x = op->in[0];
  arrjit_value tail = arrjit_log1p(op->g, arrjit_exp(op->g, arrjit_neg(op->g, arrjit_abs(op->g, x))));
  op->out[0] = arrjit_add(op->g, arrjit_max(op->g, x, number(op, 0)), tail);
  return PASSED;
}

verdict onnx_softsign(case_op *op) {
  op->out[0] = arrjit_div(op->g, op->in[0], arrjit_add(op->g, arrjit_abs(op->g, op->in[0]), number(op, 1)));
  return PASSED;
}

verdict onnx_shrink(case_op *op) {
  arrjit_value x = op->in[0], bias = number(op, onnx_float(op, "bias", 0));
  double limit = onnx_float(op, "lambd", 0.5);
  arrjit_value above = arrjit_select(op->g, arrjit_gt(op->g, x, number(op, limit)), arrjit_sub(op->g, x, bias),
                                     onnx_full(op, x, 0, 0, NULL));
  op->out[0] = arrjit_select(op->g, arrjit_lt(op->g, x, number(op, -limit)), arrjit_add(op->g, x, bias), above);
  return PASSED;
}

verdict onnx_thresholded_relu(case_op *op) {
  arrjit_value above = arrjit_gt(op->g, op->in[0], number(op, onnx_float(op, "alpha", 1)));
  op->out[0] = arrjit_select(op->g, above, op->in[0], number(op, 0));
  return PASSED;
}

/* ---- along an axis ---- */

typedef arrjit_value along(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes);

/* As from opset 13 on: one axis. */
static verdict soft(case_op *op, along *build) {
  int64_t axis = onnx_axis(case_int(op, "axis", -1), arrjit_value_type(op->in[0]).rank);
  op->out[0] = build(op->g, op->in[0], 1, &axis);
  return PASSED;
}

verdict onnx_softmax(case_op *op) { return soft(op, arrjit_softmax); }
verdict onnx_log_softmax(case_op *op) { return soft(op, arrjit_log_softmax); }

/* 1 at the first of the largest along the axis, else 0. */
verdict onnx_hardmax(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", -1), type.rank);
  op->out[0] = arrjit_one_hot(op->g, arrjit_argmax(op->g, op->in[0], axis), type.dims[axis], axis, type.dtype);
  return PASSED;
}
