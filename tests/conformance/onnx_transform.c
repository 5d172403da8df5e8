/* ONNX's transforms: complex numbers are pairs along a last dim, which is 1 where there are only real parts. */
#include "onnx.h"

#include <string.h>

/* One of the pair, without the last dim. */
static arrjit_value take_part(case_op *op, arrjit_value x, int64_t which) {
  return arrjit_take(op->g, x, arrjit_const_i64(op->g, which), arrjit_value_type(x).rank - 1);
}

static bool is_real(arrjit_value x) {
  const arrjit_type type = arrjit_value_type(x);
  return type.dims[type.rank - 1] == 1;
}

static arrjit_value as_complex(case_op *op, arrjit_value x) {
  arrjit_value re = take_part(op, x, 0);
  const arrjit_type type = arrjit_value_type(re);
  if (!is_real(x)) return arrjit_complex(op->g, re, take_part(op, x, 1));
  return arrjit_complex(op->g, re, onnx_full(op, re, 0, (size_t)type.rank, type.dims));
}

static arrjit_value as_pairs(case_op *op, arrjit_value x) {
  int32_t rank = arrjit_value_type(x).rank;
  arrjit_value parts[] = {arrjit_expand_dims(op->g, arrjit_real(op->g, x), rank),
                          arrjit_expand_dims(op->g, arrjit_imag(op->g, x), rank)};
  return arrjit_concat(op->g, 2, parts, rank);
}

verdict onnx_dft(case_op *op) {
  arrjit_value x = op->in[0];
  int64_t length = 0, axis = -2;
  if (onnx_opset(op) < 20)
    axis = case_int(op, "axis", 1);
  else if (onnx_given(op, 2) && !onnx_int(op, 2, &axis))
    return SKIPPED;
  bool has_length = onnx_given(op, 1);
  if (has_length && !onnx_int(op, 1, &length)) return SKIPPED;
  axis = onnx_axis(axis, arrjit_value_type(x).rank);
  const int64_t *lengths = has_length ? &length : NULL;
  bool inverse = case_int(op, "inverse", 0), half = case_int(op, "onesided", 0);
  if (inverse && half) {
    arrjit_value out = arrjit_irfft(op->g, as_complex(op, x), 1, &axis, lengths);
    op->out[0] = arrjit_expand_dims(op->g, out, arrjit_value_type(out).rank);
  } else if (half) {
    op->out[0] = as_pairs(op, arrjit_rfft(op->g, take_part(op, x, 0), 1, &axis, lengths));
  } else {
    arrjit_value z = as_complex(op, x);
    z = inverse ? arrjit_ifft(op->g, z, 1, &axis, lengths) : arrjit_fft(op->g, z, 1, &axis, lengths);
    op->out[0] = as_pairs(op, z);
  }
  return PASSED;
}

/* Frames that start `step` apart, times the window, each transformed. */
verdict onnx_stft(case_op *op) {
  arrjit_graph *g = op->g;
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t step, frame, at[1 << 12];
  if (!onnx_int(op, 1, &step)) return SKIPPED;
  if (onnx_given(op, 3) && !onnx_int(op, 3, &frame)) return SKIPPED;
  if (!onnx_given(op, 3)) frame = arrjit_value_type(op->in[2]).dims[0];
  int64_t frames = (type.dims[1] - frame) / step + 1, dims[] = {type.dims[0], frames, frame};
  if (frames * frame > (int64_t)(sizeof at / sizeof *at))
    return corpus_say(op->build->run, SKIPPED, "op STFT of more elements");
  for (int64_t i = 0; i < frames * frame; i++) at[i] = i / frame * step + i % frame;
  arrjit_value places = onnx_reshape(op, onnx_ints_const(op, (size_t)(frames * frame), at), 2, dims + 1);
  bool real = is_real(op->in[0]), half = case_int(op, "onesided", 1);
  arrjit_value z = real && half ? take_part(op, op->in[0], 0) : as_complex(op, op->in[0]);
  z = arrjit_take(g, z, places, 1);
  if (onnx_given(op, 2)) {
    arrjit_value window = arrjit_broadcast(g, op->in[2], 3, dims, 1, (const int64_t[]){2});
    z = arrjit_mul(g, z, arrjit_convert(g, window, arrjit_value_type(z).dtype));
  }
  const int64_t axis = 2;
  op->out[0] = as_pairs(op, real && half ? arrjit_rfft(g, z, 1, &axis, NULL) : arrjit_fft(g, z, 1, &axis, NULL));
  return PASSED;
}
