/* Between the files of ONNX's vocabulary. An op of ONNX may get by data what is structure here: shapes, axes, counts.
 * onnx_known finds such an operand while the graph is built, from what is written in the case; everything else is
 * computed by the graph when it runs. */
#ifndef CONFORMANCE_ONNX_H
#define CONFORMANCE_ONNX_H

#include "cases.h"

typedef struct onnx_state onnx_state;

/* ---- onnx.c: what all of them use ---- */
case_vocabulary onnx_vocabulary;
bool onnx_given(const case_op *op, size_t k); /* whether there is an operand k */
bool onnx_has(const case_op *op, const char *name);
double onnx_float(const case_op *op, const char *name, double otherwise);
/* The element type that an attribute numbers; NONE when this library has it not. */
arrjit_dtype onnx_dtype(const case_op *op, const char *name);
verdict onnx_no_dtype(case_op *op);
bool onnx_is_float(arrjit_value x);
bool onnx_is_whole(arrjit_value x); /* integers, not bool */
int64_t onnx_axis(int64_t axis, int64_t rank);
int64_t onnx_product(size_t count, const int64_t *dims);
arrjit_value onnx_reshape(case_op *op, arrjit_value x, size_t rank, const int64_t *dims);
arrjit_value onnx_ints_const(case_op *op, size_t count, const int64_t *values); /* i64[count] */
arrjit_value onnx_full(case_op *op, arrjit_value like, double value, size_t rank, const int64_t *dims);
/* x of a reduction over axes with dims of 1 in their places again: `type` is the one before it. */
arrjit_value onnx_keep(case_op *op, arrjit_value x, const arrjit_type *type, size_t count, const int64_t *axes);
/* x in f32 when it is a half, else itself. And back to the dtype of like. */
arrjit_value onnx_widen(case_op *op, arrjit_value x);
arrjit_value onnx_like(case_op *op, arrjit_value x, arrjit_value like);

arrjit_value onnx_move_axis(case_op *op, arrjit_value x, int64_t from, int64_t to);

/* ---- onnx_known.c ---- */
onnx_state *onnx_state_new(const json_t *one);
void onnx_state_free(onnx_state *state);
int64_t onnx_opset(const case_op *op);
/* Operand k as far as the case says it; NULL: only a run can tell. *out_data is told whether it is made of inputs that
 * are no integers. The block lives as long as the state. */
const tk_block *onnx_known(case_op *op, size_t k, bool *out_data);
/* Says that result k is this, whatever the inputs are. */
void onnx_note(case_op *op, size_t k, const arrjit_type *type, const void *data);
/* A known operand as integers (floats are truncated); false: it is not known, and why is written. */
bool onnx_ints(case_op *op, size_t k, size_t *out_count, int64_t *out);
bool onnx_int(case_op *op, size_t k, int64_t *out);
/* The list of an attribute or, when there is no such, of operand k; *out_there tells whether there was either. */
bool onnx_list(case_op *op, const char *name, size_t k, bool *out_there, size_t *out_count, int64_t *out);
double onnx_element(const tk_block *block, size_t index);

/* ---- onnx_elementwise.c ---- */
bool onnx_elementwise(case_op *op); /* whether it is one of its table's */
case_vocabulary onnx_pow, onnx_mod, onnx_bit_shift, onnx_clip, onnx_where, onnx_cast, onnx_cast_like, onnx_bit_cast,
    onnx_is_inf, onnx_max, onnx_min, onnx_sum, onnx_average;

/* ---- onnx_activation.c ---- */
case_vocabulary onnx_relu, onnx_leaky_relu, onnx_prelu, onnx_elu, onnx_celu, onnx_selu, onnx_gelu, onnx_swish,
    onnx_swiglu, onnx_hard_sigmoid, onnx_softplus, onnx_softsign, onnx_shrink, onnx_thresholded_relu, onnx_softmax,
    onnx_log_softmax, onnx_hardmax;

/* ---- onnx_shape.c ---- */
case_vocabulary onnx_constant, onnx_constant_of_shape, onnx_shape, onnx_size, onnx_reshape_op, onnx_flatten,
    onnx_squeeze, onnx_unsqueeze, onnx_transpose, onnx_expand, onnx_tile, onnx_concat, onnx_split, onnx_slice, onnx_pad,
    onnx_center_crop_pad, onnx_window, onnx_identity, onnx_range, onnx_eye_like, onnx_trilu, onnx_depth_to_space,
    onnx_space_to_depth;

/* ---- onnx_index.c ---- */
case_vocabulary onnx_gather, onnx_gather_elements, onnx_gather_nd, onnx_scatter_elements, onnx_scatter_nd,
    onnx_tensor_scatter, onnx_one_hot, onnx_top_k, onnx_arg, onnx_cumulative;
/* Negative positions counted from the end of an axis of this extent. */
arrjit_value onnx_wrap_index(case_op *op, arrjit_value indices, int64_t extent);

/* ---- onnx_reduce.c ---- */
case_vocabulary onnx_reduce, onnx_matmul, onnx_gemm, onnx_einsum, onnx_det;
arrjit_value onnx_dot(case_op *op, arrjit_value x, arrjit_value y); /* as NumPy's matmul */

/* ---- onnx_normalize.c ---- */
case_vocabulary onnx_layer_normalization, onnx_rms_normalization, onnx_batch_normalization, onnx_group_normalization,
    onnx_mean_variance_normalization, onnx_lp_normalization, onnx_local_response;

/* ---- onnx_quantize.c ---- */
case_vocabulary onnx_quantize, onnx_dequantize, onnx_quantize_by_range, onnx_matmul_integer, onnx_quantized_matmul,
    onnx_conv_integer, onnx_quantized_conv;

/* ---- onnx_recurrent.c ---- */
case_vocabulary onnx_recurrent;

/* ---- onnx_conv.c ---- */
case_vocabulary onnx_conv, onnx_conv_transpose, onnx_causal_conv;
/* x[batch, channel, ..] by w[result, channel of a group, ..] as the op's attributes say. */
arrjit_value onnx_convolve(case_op *op, arrjit_value x, arrjit_value w);
/* One number a channel (axis 1), in a shape that stretches to rank. */
arrjit_value onnx_each_channel(case_op *op, arrjit_value x, int32_t rank);

/* ---- onnx_pool.c ---- */
typedef struct onnx_pool {
  int32_t rank;
  int64_t sizes[ARRJIT_MAX_RANK], strides[ARRJIT_MAX_RANK], dilations[ARRJIT_MAX_RANK];
  int64_t low[ARRJIT_MAX_RANK], high[ARRJIT_MAX_RANK]; /* as the case states them */
  int64_t more[ARRJIT_MAX_RANK];                       /* behind `high`, so that windows end where ONNX ends them */
} onnx_pool;
/* Lists have an entry a dim of operand 0; `sizes` of the spatial ones, NULL: the attribute says them. */
void onnx_pool_read(const case_op *op, const int64_t *sizes, onnx_pool *p);
case_vocabulary onnx_max_pool, onnx_average_pool, onnx_global_pool, onnx_lp_pool, onnx_max_unpool, onnx_col2im;

/* ---- onnx_resize.c ---- */
case_vocabulary onnx_resize;

/* ---- onnx_sample.c ---- */
case_vocabulary onnx_grid_sample, onnx_roi_align, onnx_affine_grid;

/* ---- onnx_attention.c ---- */
case_vocabulary onnx_attention, onnx_linear_attention, onnx_rotary_embedding;

/* ---- onnx_loss.c ---- */
case_vocabulary onnx_likelihood_loss, onnx_cross_entropy_loss, onnx_dropout;

/* ---- onnx_transform.c ---- */
case_vocabulary onnx_dft, onnx_stft;

/* ---- onnx_control.c ---- */
case_vocabulary onnx_if, onnx_loop, onnx_scan;

#endif
