/* ONNX's elementwise ops. */
#include "onnx.h"

#include <string.h>

static arrjit_value reciprocal(arrjit_graph *g, arrjit_value x) { return arrjit_div(g, arrjit_const_like(g, x, 1), x); }

static const case_unary unaries[] = {
    {"Abs", arrjit_abs},      {"Neg", arrjit_neg},     {"Sign", arrjit_sign},        {"Sqrt", arrjit_sqrt},
    {"Floor", arrjit_floor},  {"Ceil", arrjit_ceil},   {"Round", arrjit_round_even}, {"Reciprocal", reciprocal},
    {"Exp", arrjit_exp},      {"Log", arrjit_log},     {"Erf", arrjit_erf},          {"Sigmoid", arrjit_logistic},
    {"Sin", arrjit_sin},      {"Cos", arrjit_cos},     {"Tan", arrjit_tan},          {"Asin", arrjit_asin},
    {"Acos", arrjit_acos},    {"Atan", arrjit_atan},   {"Sinh", arrjit_sinh},        {"Cosh", arrjit_cosh},
    {"Tanh", arrjit_tanh},    {"Asinh", arrjit_asinh}, {"Acosh", arrjit_acosh},      {"Atanh", arrjit_atanh},
    {"IsNaN", arrjit_is_nan}, {"Not", arrjit_not},     {"BitwiseNot", arrjit_not}};

static const case_binary binaries[] = {
    {"Add", arrjit_add},        {"Sub", arrjit_sub},        {"Mul", arrjit_mul},          {"Div", arrjit_div},
    {"And", arrjit_and},        {"Or", arrjit_or},          {"Xor", arrjit_xor},          {"BitwiseAnd", arrjit_and},
    {"BitwiseOr", arrjit_or},   {"BitwiseXor", arrjit_xor}, {"Equal", arrjit_eq},         {"Less", arrjit_lt},
    {"LessOrEqual", arrjit_le}, {"Greater", arrjit_gt},     {"GreaterOrEqual", arrjit_ge}};

bool onnx_elementwise(case_op *op) { return case_plain(op, TK_COUNT(unaries), unaries, TK_COUNT(binaries), binaries); }

/* ---- many operands ---- */

static verdict fold(case_op *op, case_two *build) {
  op->out[0] = op->in[0];
  for (size_t i = 1; i < op->in_count; i++) op->out[0] = build(op->g, op->out[0], op->in[i]);
  return PASSED;
}

verdict onnx_max(case_op *op) { return fold(op, arrjit_max); }
verdict onnx_min(case_op *op) { return fold(op, arrjit_min); }
verdict onnx_sum(case_op *op) { return fold(op, arrjit_add); }

verdict onnx_average(case_op *op) {
  fold(op, arrjit_add);
  op->out[0] = arrjit_div(op->g, op->out[0], arrjit_const_like(op->g, op->out[0], (double)op->in_count));
  return PASSED;
}

/* ---- with attributes ---- */

/* The result has the base's dtype; a whole base to a broken power is computed as floats. */
verdict onnx_pow(case_op *op) {
  arrjit_value x = op->in[0], y = op->in[1];
  if (onnx_is_whole(x) && onnx_is_whole(y)) {
    op->out[0] = arrjit_ipow(op->g, x, onnx_like(op, y, x));
    return PASSED;
  }
  arrjit_value base = onnx_is_whole(x) ? arrjit_convert(op->g, x, ARRJIT_F64) : x;
  op->out[0] = onnx_like(op, arrjit_pow(op->g, base, onnx_like(op, y, base)), x);
  return PASSED;
}

verdict onnx_mod(case_op *op) {
  op->out[0] = (case_int(op, "fmod", 0) ? arrjit_rem : arrjit_mod)(op->g, op->in[0], op->in[1]);
  return PASSED;
}

verdict onnx_bit_shift(case_op *op) {
  bool left = strcmp(case_text(op, "direction"), "LEFT") == 0;
  op->out[0] = (left ? arrjit_shl : arrjit_shr_logical)(op->g, op->in[0], op->in[1]);
  return PASSED;
}

/* A lower bound above the upper one gives the upper one. */
verdict onnx_clip(case_op *op) {
  op->out[0] = op->in[0];
  if (onnx_given(op, 1)) op->out[0] = arrjit_max(op->g, op->out[0], op->in[1]);
  if (onnx_given(op, 2)) op->out[0] = arrjit_min(op->g, op->out[0], op->in[2]);
  return PASSED;
}

verdict onnx_where(case_op *op) {
  op->out[0] = arrjit_select(op->g, op->in[0], op->in[1], op->in[2]);
  return PASSED;
}

verdict onnx_cast(case_op *op) {
  arrjit_dtype dtype = onnx_dtype(op, "to");
  if (dtype == ARRJIT_DTYPE_NONE) return onnx_no_dtype(op);
  op->out[0] = arrjit_convert(op->g, op->in[0], dtype);
  return PASSED;
}

verdict onnx_cast_like(case_op *op) {
  op->out[0] = onnx_like(op, op->in[0], op->in[1]);
  return PASSED;
}

verdict onnx_bit_cast(case_op *op) {
  arrjit_dtype dtype = onnx_dtype(op, "to");
  if (dtype == ARRJIT_DTYPE_NONE) return onnx_no_dtype(op);
  op->out[0] = arrjit_bitcast(op->g, op->in[0], dtype);
  return PASSED;
}

verdict onnx_is_inf(case_op *op) {
  arrjit_value x = op->in[0], zero = arrjit_const_like(op->g, x, 0);
  op->out[0] = arrjit_is_inf(op->g, x);
  if (!case_int(op, "detect_positive", 1)) op->out[0] = arrjit_and(op->g, op->out[0], arrjit_lt(op->g, x, zero));
  if (!case_int(op, "detect_negative", 1)) op->out[0] = arrjit_and(op->g, op->out[0], arrjit_gt(op->g, x, zero));
  return PASSED;
}
