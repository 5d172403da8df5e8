/* ONNX's ops by this library's builders: one row an op, and what all of them use. */
#include "onnx.h"

#include <string.h>

static const struct {
  const char *name;
  case_vocabulary *build;
} rows[] = {
    /* elementwise with attributes; the plain ones are in onnx_elementwise.c */
    {"Pow", onnx_pow},
    {"Mod", onnx_mod},
    {"BitShift", onnx_bit_shift},
    {"Clip", onnx_clip},
    {"Where", onnx_where},
    {"Cast", onnx_cast},
    {"CastLike", onnx_cast_like},
    {"BitCast", onnx_bit_cast},
    {"IsInf", onnx_is_inf},
    {"Max", onnx_max},
    {"Min", onnx_min},
    {"Sum", onnx_sum},
    {"Mean", onnx_average},
    /* activations */
    {"Relu", onnx_relu},
    {"LeakyRelu", onnx_leaky_relu},
    {"PRelu", onnx_prelu},
    {"Elu", onnx_elu},
    {"Celu", onnx_celu},
    {"Selu", onnx_selu},
    {"Gelu", onnx_gelu},
    {"Swish", onnx_swish},
    {"SwiGLU", onnx_swiglu},
    {"HardSigmoid", onnx_hard_sigmoid},
    {"Softplus", onnx_softplus},
    {"Softsign", onnx_softsign},
    {"Shrink", onnx_shrink},
    {"ThresholdedRelu", onnx_thresholded_relu},
    {"Softmax", onnx_softmax},
    {"LogSoftmax", onnx_log_softmax},
    {"Hardmax", onnx_hardmax},
    /* shapes */
    {"Constant", onnx_constant},
    {"ConstantOfShape", onnx_constant_of_shape},
    {"Shape", onnx_shape},
    {"Size", onnx_size},
    {"Reshape", onnx_reshape_op},
    {"Flatten", onnx_flatten},
    {"Squeeze", onnx_squeeze},
    {"Unsqueeze", onnx_unsqueeze},
    {"Transpose", onnx_transpose},
    {"Expand", onnx_expand},
    {"Tile", onnx_tile},
    {"Concat", onnx_concat},
    {"Split", onnx_split},
    {"Slice", onnx_slice},
    {"Pad", onnx_pad},
    {"CenterCropPad", onnx_center_crop_pad},
    {"HannWindow", onnx_window},
    {"HammingWindow", onnx_window},
    {"BlackmanWindow", onnx_window},
    {"Identity", onnx_identity},
    {"Range", onnx_range},
    {"EyeLike", onnx_eye_like},
    {"Trilu", onnx_trilu},
    {"DepthToSpace", onnx_depth_to_space},
    {"SpaceToDepth", onnx_space_to_depth},
    /* indexing */
    {"Gather", onnx_gather},
    {"GatherElements", onnx_gather_elements},
    {"GatherND", onnx_gather_nd},
    {"Scatter", onnx_scatter_elements},
    {"ScatterElements", onnx_scatter_elements},
    {"ScatterND", onnx_scatter_nd},
    {"TensorScatter", onnx_tensor_scatter},
    {"OneHot", onnx_one_hot},
    {"TopK", onnx_top_k},
    {"ArgMax", onnx_arg},
    {"ArgMin", onnx_arg},
    {"CumSum", onnx_cumulative},
    {"CumProd", onnx_cumulative},
    /* reductions and products */
    {"ReduceSum", onnx_reduce},
    {"ReduceProd", onnx_reduce},
    {"ReduceMin", onnx_reduce},
    {"ReduceMax", onnx_reduce},
    {"ReduceMean", onnx_reduce},
    {"ReduceL1", onnx_reduce},
    {"ReduceL2", onnx_reduce},
    {"ReduceLogSum", onnx_reduce},
    {"ReduceLogSumExp", onnx_reduce},
    {"ReduceSumSquare", onnx_reduce},
    {"MatMul", onnx_matmul},
    {"Gemm", onnx_gemm},
    {"Einsum", onnx_einsum},
    {"Det", onnx_det},
    {"DFT", onnx_dft},
    {"STFT", onnx_stft},
    {"MatMulInteger", onnx_matmul_integer},
    {"QLinearMatMul", onnx_quantized_matmul},
    {"QuantizeLinear", onnx_quantize},
    {"DequantizeLinear", onnx_dequantize},
    {"DynamicQuantizeLinear", onnx_quantize_by_range},
    /* normalisations */
    {"LayerNormalization", onnx_layer_normalization},
    {"RMSNormalization", onnx_rms_normalization},
    {"BatchNormalization", onnx_batch_normalization},
    {"GroupNormalization", onnx_group_normalization},
    {"MeanVarianceNormalization", onnx_mean_variance_normalization},
    {"LpNormalization", onnx_lp_normalization},
    {"LRN", onnx_local_response},
    /* windows */
    {"MaxPool", onnx_max_pool},
    {"AveragePool", onnx_average_pool},
    {"LpPool", onnx_lp_pool},
    {"MaxUnpool", onnx_max_unpool},
    {"Col2Im", onnx_col2im},
    {"Conv", onnx_conv},
    {"ConvTranspose", onnx_conv_transpose},
    {"ConvInteger", onnx_conv_integer},
    {"QLinearConv", onnx_quantized_conv},
    {"CausalConvWithState", onnx_causal_conv},
    {"GlobalMaxPool", onnx_global_pool},
    {"GlobalAveragePool", onnx_global_pool},
    /* places between elements */
    {"Resize", onnx_resize},
    {"GridSample", onnx_grid_sample},
    {"RoiAlign", onnx_roi_align},
    {"AffineGrid", onnx_affine_grid},
    /* attention, losses */
    {"Attention", onnx_attention},
    {"LinearAttention", onnx_linear_attention},
    {"RotaryEmbedding", onnx_rotary_embedding},
    {"NegativeLogLikelihoodLoss", onnx_likelihood_loss},
    {"SoftmaxCrossEntropyLoss", onnx_cross_entropy_loss},
    {"Dropout", onnx_dropout},
    {"RNN", onnx_recurrent},
    {"GRU", onnx_recurrent},
    {"LSTM", onnx_recurrent},
    /* control */
    {"If", onnx_if},
    {"Loop", onnx_loop},
    {"Scan", onnx_scan},
};

verdict onnx_vocabulary(case_op *op) {
  if (onnx_elementwise(op)) return PASSED;
  for (size_t i = 0; i < TK_COUNT(rows); i++)
    if (strcmp(rows[i].name, op->name) == 0) return rows[i].build(op);
  return case_unknown(op);
}

verdict corpus_onnx(corpus_run *run, const json_t *one) {
  onnx_state *state = onnx_state_new(one);
  verdict v = case_run(run, one, onnx_vocabulary, state);
  onnx_state_free(state);
  return v;
}

/* ---- operands and attributes ---- */

bool onnx_given(const case_op *op, size_t k) { return k < op->in_count && op->in_id[k] != CASE_OMITTED; }

bool onnx_has(const case_op *op, const char *name) { return json_object_get(op->attrs, name) != NULL; }

double onnx_float(const case_op *op, const char *name, double otherwise) {
  const json_t *value = json_object_get(op->attrs, name);
  return json_is_number(value) ? json_number_value(value) : otherwise;
}

arrjit_dtype onnx_dtype(const case_op *op, const char *name) {
  static const char *const names[] = {"",     "f32", "u8",  "i8",  "u16", "i16", "i32",  "i64", "",
                                      "bool", "f16", "f64", "u32", "u64", "c64", "c128", "bf16"};
  int64_t number = case_int(op, name, 1);
  return number >= 0 && number < (int64_t)TK_COUNT(names) ? tk_dtype_find(names[number]) : ARRJIT_DTYPE_NONE;
}

verdict onnx_no_dtype(case_op *op) {
  return corpus_say(op->build->run, SKIPPED, "op %s to a dtype that there is not", op->name);
}

/* ---- values ---- */

bool onnx_is_float(arrjit_value x) { return tk_is_float(arrjit_value_type(x).dtype); }

bool onnx_is_whole(arrjit_value x) {
  arrjit_dtype dtype = arrjit_value_type(x).dtype;
  return dtype >= ARRJIT_I8 && dtype <= ARRJIT_U64;
}

int64_t onnx_axis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

int64_t onnx_product(size_t count, const int64_t *dims) {
  int64_t product = 1;
  for (size_t i = 0; i < count; i++) product *= dims[i];
  return product;
}

arrjit_value onnx_reshape(case_op *op, arrjit_value x, size_t rank, const int64_t *dims) {
  return arrjit_reshape(op->g, x, (int32_t)rank, dims);
}

arrjit_value onnx_ints_const(case_op *op, size_t count, const int64_t *values) {
  const int64_t dims[] = {(int64_t)count};
  arrjit_type type = arrjit_type_make(ARRJIT_I64, 1, dims);
  return arrjit_const(op->g, &type, values);
}

arrjit_value onnx_full(case_op *op, arrjit_value like, double value, size_t rank, const int64_t *dims) {
  return arrjit_full(op->g, arrjit_const_like(op->g, like, value), (int32_t)rank, dims);
}

arrjit_value onnx_keep(case_op *op, arrjit_value x, const arrjit_type *type, size_t count, const int64_t *axes) {
  int64_t dims[ARRJIT_MAX_RANK];
  memcpy(dims, type->dims, sizeof dims);
  for (size_t i = 0; i < count; i++) dims[axes[i]] = 1;
  return onnx_reshape(op, x, (size_t)type->rank, dims);
}

arrjit_value onnx_widen(case_op *op, arrjit_value x) {
  bool half = onnx_is_float(x) && arrjit_dtype_bytes(arrjit_value_type(x).dtype) == 2;
  return half ? arrjit_convert(op->g, x, ARRJIT_F32) : x;
}

arrjit_value onnx_like(case_op *op, arrjit_value x, arrjit_value like) {
  arrjit_dtype dtype = arrjit_value_type(like).dtype;
  return arrjit_value_type(x).dtype == dtype ? x : arrjit_convert(op->g, x, dtype);
}

arrjit_value onnx_move_axis(case_op *op, arrjit_value x, int64_t from, int64_t to) {
  int64_t rank = arrjit_value_type(x).rank, perm[ARRJIT_MAX_RANK], at = 0;
  for (int64_t i = 0; i < rank; i++) {
    if (at == from) at++;
    perm[i] = i == to ? from : at++;
  }
  return from == to ? x : arrjit_transpose(op->g, x, (size_t)rank, perm);
}
