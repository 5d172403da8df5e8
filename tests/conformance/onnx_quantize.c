/* ONNX's quantised ops: integers that stand for (integer - zero point) * scale. */
#include "onnx.h"

#include <string.h>

/* ---- scales ---- */

/* One number for all, one an index of the axis, or (same rank as x) one a block along the axis. */
static arrjit_value spread_scale(case_op *op, arrjit_value scale, const arrjit_type *x) {
  const arrjit_type type = arrjit_value_type(scale);
  int64_t axis = onnx_axis(case_int(op, "axis", 1), x->rank), dims[ARRJIT_MAX_RANK], axes[ARRJIT_MAX_RANK];
  int64_t block = case_int(op, "block_size", 0), start[ARRJIT_MAX_RANK] = {0}, step[ARRJIT_MAX_RANK];
  if (block == 0) {
    if (onnx_product((size_t)type.rank, type.dims) == 1) return onnx_reshape(op, scale, 0, NULL);
    for (int32_t i = 0; i < x->rank; i++) dims[i] = i == axis ? x->dims[i] : 1;
    return onnx_reshape(op, scale, (size_t)x->rank, dims);
  }
  for (int32_t i = 0; i <= x->rank; i++) dims[i] = i <= axis ? type.dims[i] : i == axis + 1 ? block : type.dims[i - 1];
  for (int32_t i = 0; i < x->rank; i++) axes[i] = i <= axis ? i : i + 1, step[i] = 1;
  arrjit_value wide = arrjit_broadcast(op->g, scale, x->rank + 1, dims, (size_t)x->rank, axes);
  memcpy(dims, type.dims, sizeof dims);
  dims[axis] *= block;
  return arrjit_slice(op->g, onnx_reshape(op, wide, (size_t)x->rank, dims), x->rank, start, x->dims, step);
}

/* Rounded to even, the zero point added, and what does not fit the nearest that does. */
static arrjit_value round_to(case_op *op, arrjit_value x, arrjit_value zero, arrjit_dtype dtype) {
  x = arrjit_round_even(op->g, x);
  if (zero) x = arrjit_add(op->g, x, onnx_like(op, zero, x));
  return arrjit_convert(op->g, x, dtype);
}

verdict onnx_quantize(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  arrjit_dtype dtype = onnx_has(op, "output_dtype") ? onnx_dtype(op, "output_dtype") : ARRJIT_U8;
  if (onnx_given(op, 2)) dtype = arrjit_value_type(op->in[2]).dtype;
  if (dtype == ARRJIT_DTYPE_NONE) return onnx_no_dtype(op);
  arrjit_value zero = onnx_given(op, 2) ? spread_scale(op, op->in[2], &type) : NULL;
  arrjit_value x = arrjit_div(op->g, op->in[0], onnx_like(op, spread_scale(op, op->in[1], &type), op->in[0]));
  op->out[0] = round_to(op, onnx_widen(op, x), zero, dtype);
  return PASSED;
}

verdict onnx_dequantize(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  arrjit_value x = arrjit_convert(op->g, op->in[0], ARRJIT_F32);
  if (onnx_given(op, 2)) x = arrjit_sub(op->g, x, onnx_like(op, spread_scale(op, op->in[2], &type), x));
  arrjit_value scale = spread_scale(op, op->in[1], &type);
  op->out[0] = onnx_like(op, arrjit_mul(op->g, x, onnx_like(op, scale, x)), op->in[1]);
  return PASSED;
}

/* The range of x and 0 on u8. */
verdict onnx_quantize_by_range(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_value x = op->in[0], zero = arrjit_const_f32(g, 0), most = arrjit_const_f32(g, 255);
  arrjit_value high = arrjit_max(g, arrjit_reduce_max(g, x, ARRJIT_ALL_AXES, NULL), zero);
  arrjit_value low = arrjit_min(g, arrjit_reduce_min(g, x, ARRJIT_ALL_AXES, NULL), zero);
  op->out[1] = arrjit_div(g, arrjit_sub(g, high, low), most);
  arrjit_value point = arrjit_sub(g, zero, arrjit_div(g, low, op->out[1]));
  op->out[2] = round_to(op, arrjit_min(g, arrjit_max(g, point, zero), most), NULL, ARRJIT_U8);
  op->out[0] = round_to(op, arrjit_div(g, x, op->out[1]), op->out[2], ARRJIT_U8);
  return PASSED;
}

/* ---- products ---- */

/* As i32 less the zero point, which is one for all or one a row (axis -2) or column (axis -1). */
static arrjit_value centre(case_op *op, arrjit_value x, arrjit_value zero, bool rows) {
  x = arrjit_convert(op->g, x, ARRJIT_I32);
  if (!zero) return x;
  const arrjit_type type = arrjit_value_type(zero);
  zero = arrjit_convert(op->g, zero, ARRJIT_I32);
  if (rows && type.rank == 1) zero = arrjit_expand_dims(op->g, zero, 1);
  return arrjit_sub(op->g, x, zero);
}

verdict onnx_matmul_integer(case_op *op) {
  arrjit_value a = centre(op, op->in[0], onnx_given(op, 2) ? op->in[2] : NULL, true);
  op->out[0] = onnx_dot(op, a, centre(op, op->in[1], onnx_given(op, 3) ? op->in[3] : NULL, false));
  return PASSED;
}

/* Operands: a, scale, zero point, b, scale, zero point, and scale and zero point of the result. */
verdict onnx_quantized_matmul(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_value a = centre(op, op->in[0], op->in[2], true), b = centre(op, op->in[3], op->in[5], false);
  arrjit_value scale = arrjit_mul(g, onnx_widen(op, op->in[1]), onnx_widen(op, op->in[4]));
  scale = arrjit_div(g, scale, onnx_widen(op, op->in[6]));
  arrjit_value product = arrjit_mul(g, arrjit_convert(g, onnx_dot(op, a, b), ARRJIT_F32), scale);
  op->out[0] = round_to(op, product, op->in[7], arrjit_value_type(op->in[7]).dtype);
  return PASSED;
}

/* ---- convolutions ---- */

/* Weights less the zero point, which is one for all or one a result (axis 0). */
static arrjit_value centre_weights(case_op *op, arrjit_value w, arrjit_value zero) {
  const arrjit_type type = arrjit_value_type(w);
  int64_t dims[ARRJIT_MAX_RANK];
  if (!zero) return centre(op, w, NULL, false);
  const arrjit_type given = arrjit_value_type(zero);
  for (int32_t i = 0; i < type.rank; i++) dims[i] = i == 0 && given.rank > 0 ? given.dims[0] : 1;
  return centre(op, w, onnx_reshape(op, zero, (size_t)type.rank, dims), false);
}

/* Padding is 0 when the zero point is taken off already. */
verdict onnx_conv_integer(case_op *op) {
  arrjit_value x = centre(op, op->in[0], onnx_given(op, 2) ? op->in[2] : NULL, false);
  op->out[0] = onnx_convolve(op, x, centre_weights(op, op->in[1], onnx_given(op, 3) ? op->in[3] : NULL));
  return PASSED;
}

/* Operands as of the product of matrices, and a bias. */
verdict onnx_quantized_conv(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_value x = centre(op, op->in[0], op->in[2], false), w = centre_weights(op, op->in[3], op->in[5]);
  arrjit_value out = onnx_convolve(op, x, w), scale = arrjit_mul(g, op->in[1], op->in[4]);
  int32_t rank = arrjit_value_type(out).rank;
  if (onnx_given(op, 8)) out = arrjit_add(g, out, onnx_each_channel(op, op->in[8], rank));
  scale = arrjit_div(g, scale, op->in[6]);
  if (arrjit_value_type(scale).rank > 0) scale = onnx_each_channel(op, scale, rank);
  out = arrjit_mul(g, arrjit_convert(g, out, ARRJIT_F32), scale);
  op->out[0] = round_to(op, out, op->in[7], arrjit_value_type(op->in[7]).dtype);
  return PASSED;
}
