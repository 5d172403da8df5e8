/* libarrjit: building calls that are made of several operations. Each says what it builds; there is no such operation
 * in a graph's text. Errors are told under the name of the call, otherwise all is as in arrjit/ops.h: they return the
 * null value after an error, arrays are read during the call only, extents may be symbols unless it says otherwise. The
 * macros capture the caller's file and line; call the function itself, `(arrjit_tile)(g, ...)`, to leave them out. */
#ifndef ARRJIT_COMPOSE_H
#define ARRJIT_COMPOSE_H

#include "arrjit/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shape ---- */

/* x with a dim of extent 1 before dim `axis` (0 .. rank). A broadcast. Result: the dtype of x, rank + 1. */
ARRJIT_API arrjit_value arrjit_expand_dims(arrjit_graph *graph, arrjit_value x, int64_t axis);
/* x without the dims `axes`, whose extents must be literally 1. A reshape. Result: the dtype of x, its other dims. */
ARRJIT_API arrjit_value arrjit_squeeze(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes);
/* x repeated reps[i] times along each dim i; rank is that of x. A broadcast and a reshape: dims with reps other than 1
 * count twice against ARRJIT_MAX_RANK. Result: the dtype of x, extents times reps. */
ARRJIT_API arrjit_value arrjit_tile(arrjit_graph *graph, arrjit_value x, int32_t rank, const int64_t *reps);
/* count >= 1 arrays of one type side by side along a new dim before dim `axis` (0 .. rank). Broadcasts and a concat.
 * Result: their dtype, rank + 1, `count` along axis. */
ARRJIT_API arrjit_value arrjit_stack(arrjit_graph *graph, size_t count, const arrjit_value *xs, int64_t axis);
/* x cut along axis, whose extent is a number, into count pieces of extents sizes[0], sizes[1] ..., which together are
 * that extent. Slices. Writes count values to out (NULL: not wanted), null values after an error. */
ARRJIT_API void arrjit_split(arrjit_graph *graph, arrjit_value x, int64_t axis, size_t count, const int64_t *sizes,
                             arrjit_value *out);
/* x moved along axis by shift places to the right (negative: left), round the end. Slices and a concat; where the
 * extent is a symbol, a take at (position - shift) mod extent. Result: the type of x. */
ARRJIT_API arrjit_value arrjit_roll(arrjit_graph *graph, arrjit_value x, int64_t shift, int64_t axis);

/* ---- indexing ---- */

/* out[.., i, ..] = x[.., indices[.., i, ..], ..] along axis, clamped as gather does; indices of an integer dtype and
 * the rank of x, other extents equal. A gather whose batch axes are all others. Result: the dtype of x, shape of
 * indices. */
ARRJIT_API arrjit_value arrjit_take_along_axis(arrjit_graph *graph, arrjit_value x, arrjit_value indices, int64_t axis);
/* 1 where an integer of `indices` is the position along a new dim of extent depth before dim `axis` (0 .. rank), else
 * 0; an index outside 0 .. depth - 1 gives zeros. An iota, eq, convert. Result: dtype, rank + 1; dtype bool: true,
 * false. */
ARRJIT_API arrjit_value arrjit_one_hot(arrjit_graph *graph, arrjit_value indices, int64_t depth, int64_t axis,
                                       arrjit_dtype dtype);

/* ---- triangles ---- */

/* Whether column <= row + diagonal. Two iotas, add, le. Result: bool[rows, columns]. */
ARRJIT_API arrjit_value arrjit_tri(arrjit_graph *graph, int64_t rows, int64_t columns, int64_t diagonal);
/* x on and below the diagonal of its last two dims (column <= row + diagonal), +0 above. arrjit_tri and a select.
 * Result: the type of x, whose rank is 2 or more. */
ARRJIT_API arrjit_value arrjit_tril(arrjit_graph *graph, arrjit_value x, int64_t diagonal);
/* x on and above the diagonal of its last two dims (column >= row + diagonal), +0 below. */
ARRJIT_API arrjit_value arrjit_triu(arrjit_graph *graph, arrjit_value x, int64_t diagonal);

/* ---- floats ---- */

/* x rounded as one of exponent_bits >= 1 and mantissa_bits >= 0 would hold it, to nearest even; above its range
 * infinite, below its normal numbers a zero of x's sign; a NaN is the canonical one, without mantissa bits +inf. No
 * fewer bits than the dtype has of both: x itself. Integer ops on the bits, and selects. Result: the type of x, a
 * float. */
ARRJIT_API arrjit_value arrjit_reduce_precision(arrjit_graph *graph, arrjit_value x, int64_t exponent_bits,
                                                int64_t mantissa_bits);
/* The order of IEEE 754's totalOrder, -NaN < -inf < .. < -0 < +0 < .. < inf < NaN; of integers and bool the usual one.
 * Floats are compared as integers made of their bits. Result: i32, -1 where x comes before y, 0 where they are the
 * same, else 1; the joint shape of x and y, which have one dtype. */
ARRJIT_API arrjit_value arrjit_compare_total(arrjit_graph *graph, arrjit_value x, arrjit_value y);

/* ---- windows ---- */

/* The sum, the least and the largest of each window of x: a reduce_window (arrjit/graph.h says what its lists are, NULL
 * but for sizes) by add, min or max, whose init is +0, +inf or the largest integer, -inf or the least: so padding and
 * holes are as if they were not there. One chain a window, row-major. Sums: integers and floats, which wrap and round
 * at each step; the others any dtype. Result: the dtype of x, an element for each window. */
ARRJIT_API arrjit_value arrjit_reduce_window_sum(arrjit_graph *graph, arrjit_value x, int32_t rank,
                                                 const int64_t *sizes, const int64_t *strides, const int64_t *low,
                                                 const int64_t *high, const int64_t *base_dilation,
                                                 const int64_t *window_dilation);
ARRJIT_API arrjit_value arrjit_reduce_window_min(arrjit_graph *graph, arrjit_value x, int32_t rank,
                                                 const int64_t *sizes, const int64_t *strides, const int64_t *low,
                                                 const int64_t *high, const int64_t *base_dilation,
                                                 const int64_t *window_dilation);
ARRJIT_API arrjit_value arrjit_reduce_window_max(arrjit_graph *graph, arrjit_value x, int32_t rank,
                                                 const int64_t *sizes, const int64_t *strides, const int64_t *low,
                                                 const int64_t *high, const int64_t *base_dilation,
                                                 const int64_t *window_dilation);

/* ---- products ---- */

/* StableHLO's convolution: an arrjit_conv of operands that are transposed, reversed and regrouped, its result
 * transposed. lhs, rhs: integers or floats of one dtype, of rank `rank` + 2. lhs_axes: the axes of lhs that are its
 * batch, its `rank` spatial dims, its features; rhs_axes: those of rhs that are its spatial dims, features, results;
 * out_axes: the axes of the result that become batch, spatial dims, results. Each list may be NULL: in that order as
 * they are. strides, low, high, base_dilation, window_dilation: `rank` entries each, NULL: 1, 0, 0, 1, 1. reversed:
 * spatial dims (0 .. rank - 1, each once) along which the window is turned round. groups: of features, as
 * arrjit_conv's; batch_groups: lhs is cut along its batch, and results go with a part each, as StableHLO's
 * batch_group_count; one of the two is 1. Result: their dtype. */
ARRJIT_API arrjit_value arrjit_convolution(arrjit_graph *graph, arrjit_value lhs, arrjit_value rhs, int32_t rank,
                                           const int64_t *lhs_axes, const int64_t *rhs_axes, const int64_t *out_axes,
                                           const int64_t *strides, const int64_t *low, const int64_t *high,
                                           const int64_t *base_dilation, const int64_t *window_dilation,
                                           size_t reversed_count, const int64_t *reversed, int64_t groups,
                                           int64_t batch_groups);

/* Sums of products by NumPy's notation, such as "ij,jk->ik": a term for each of the count arrays xs (integers,
 * floats or complex numbers of one dtype), with a letter for each dim; letters that the result does not name are summed
 * over. A letter twice in a term takes the diagonal of the two dims, whose extents are the same. "..." stands for the
 * dims without letters, which are broadcast from the right, and has to be in the result. Without "->" the result is
 * "..." and the letters that come once, A to Z before a to z. Spaces count for nothing. Made of gather (diagonals),
 * reduce_sum, dot and transpose, from the left to the right, two arrays at a time, each step rounded to the dtype.
 * Errors name the place in text, from 0. Result: the dtype of xs. */
ARRJIT_API arrjit_value arrjit_einsum(arrjit_graph *graph, const char *text, size_t count, const arrjit_value *xs);

/* x with op(a) x = b, or with x op(a) = b (left 0), op(a) being a or, transposed not 0, its transpose: an
 * arrjit_solve_lower of operands that are transposed and turned round. a: floats, [batch dims, n, n], of which the
 * lower triangle (lower 0: the upper one) is read; unit not 0: its diagonal counts as 1. b: of a's dtype, [batch dims,
 * n, m] (left 0: [batch dims, m, n]). Nothing fails at run time: a zero on the diagonal gives inf or NaN. Result: the
 * type of b. */
ARRJIT_API arrjit_value arrjit_triangular_solve(arrjit_graph *graph, arrjit_value a, arrjit_value b, int left,
                                                int lower, int unit, int transposed);

/* ---- linear algebra ---- */

/* By arrjit_lu, so by LAPACK: where there is none, running fails with kind unavailable. a: square matrices, [batch
 * dims, n, n], floats; f16 and bf16 are computed in f32 and rounded once, at the end. A matrix with an infinite element
 * or a NaN gives NaN. */

/* x with a x = b: an arrjit_lu, a gather that puts the rows of b in its order, two arrjit_triangular_solve. b: of a's
 * dtype, [batch dims, n, m], the batch dims a's. A singular a gives inf or NaN. Result: the type of b. */
ARRJIT_API arrjit_value arrjit_solve(arrjit_graph *graph, arrjit_value a, arrjit_value b);
/* The inverse of a: arrjit_solve with the identity. A singular a gives inf or NaN. Result: the type of a. */
ARRJIT_API arrjit_value arrjit_inverse(arrjit_graph *graph, arrjit_value a);
/* The determinant of a, which may be complex too: the product of the diagonal of arrjit_lu's lu, whose sign follows the
 * rows that were swapped. It overflows and underflows as that product does; of a matrix without elements 1. Result: the
 * dtype of a, its batch dims. */
ARRJIT_API arrjit_value arrjit_det(arrjit_graph *graph, arrjit_value a);

/* ---- transforms ---- */

/* Discrete Fourier transforms over axes, each at most once (axis_count ARRJIT_ALL_AXES: all, axes is not read), one
 * after the other by arrjit_fft_last, arrjit_rfft_last, arrjit_irfft_last, whose bounds hold for each. lengths: NULL,
 * or for each axis how many elements are transformed, a number or a symbol: x is cut to that many, or zeros follow.
 * Length 0 gives no elements (rfft: one 0). Any length is fast; the same bits on every machine. Errors: x of another
 * dtype, an axis out of range or twice. The forward transform of a complex x: element k is the sum of x[j] e^(-2 pi i j
 * k / n). Result: the dtype of x, its extents or lengths. */
ARRJIT_API arrjit_value arrjit_fft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                                   const int64_t *lengths);
/* The inverse of arrjit_fft: with e^(2 pi i j k / n), divided by n. Result: the dtype of x, its extents or lengths. */
ARRJIT_API arrjit_value arrjit_ifft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                                    const int64_t *lengths);
/* Of a real x, f32 or f64: along the last of axes, at least one, the elements 0 to n / 2, which tell the others; along
 * the others as arrjit_fft. Result: c64 for f32, c128 for f64, the extent of the last of axes n / 2 + 1. */
ARRJIT_API arrjit_value arrjit_rfft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                                    const int64_t *lengths);
/* The inverse of arrjit_rfft: of a complex x as arrjit_ifft along axes but the last, then back to real numbers along
 * the last, whose length is the result's, n: x is cut to n / 2 + 1 elements, or zeros follow (lengths NULL: n is 2 (m -
 * 1) for an extent m; m = 0 is an error, kind shape where it shows at run time). Result: f32 for c64, f64 for c128. */
ARRJIT_API arrjit_value arrjit_irfft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                                     const int64_t *lengths);

/* ---- statistics ---- */

/* Of x, a float, over axes, each at most once (axis_count ARRJIT_ALL_AXES: all, axes is not read). Reductions are in
 * the fixed order of arrjit_reduce_sum; each formula is computed as it stands, every step rounded; f16 and bf16 are
 * computed in f32 and rounded once, at the end; NaN gives NaN. Result: the dtype of x, its dims without axes; of
 * softmax and log_softmax the type of x. */

/* The sum of (x - mean)^2, divided by max(elements - correction, 0): two passes. correction >= 0: 0 for all of a
 * population, 1 for a sample. Over no elements NaN; over no more than correction of them NaN or infinite. */
ARRJIT_API arrjit_value arrjit_variance(arrjit_graph *graph, arrjit_value x, int64_t correction, size_t axis_count,
                                        const int64_t *axes);
/* The square root of arrjit_variance. */
ARRJIT_API arrjit_value arrjit_standard_deviation(arrjit_graph *graph, arrjit_value x, int64_t correction,
                                                  size_t axis_count, const int64_t *axes);
/* p 1: the sum of |x|; p 2: the square root of the sum of x * x, which overflows and underflows as those squares do;
 * p INFINITY: the largest |x|. Over no elements +0. */
ARRJIT_API arrjit_value arrjit_norm(arrjit_graph *graph, arrjit_value x, double p, size_t axis_count,
                                    const int64_t *axes);
/* With m the largest element, and d = 0 where x is m, else x - m: e^d divided by the sum of e^d. So elements of +inf
 * share 1 among themselves, and where all are -inf, all are alike. */
ARRJIT_API arrjit_value arrjit_softmax(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes);
/* d - log(the sum of e^d), with the d of arrjit_softmax. */
ARRJIT_API arrjit_value arrjit_log_softmax(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes);
/* m + log(the sum of e^d), with the m and d of arrjit_softmax: the logarithm of the sum of e^x. With +inf it is +inf;
 * where all are -inf, and over no elements, -inf. */
ARRJIT_API arrjit_value arrjit_logsumexp(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes);

/* ---- sorting ---- */

/* The key sorted along axis as arrjit_sort does, and count arrays (any dtypes, shapes of the key) in the same order. An
 * argsort and takes along axis. Writes 1 + count values to out, the key first (NULL: not wanted), null values after an
 * error. By several keys: call it with the least important key first, for it is stable. */
ARRJIT_API void arrjit_sort_along(arrjit_graph *graph, arrjit_value key, size_t count, const arrjit_value *values,
                                  int64_t axis, int descending, arrjit_value *out);
/* The k largest elements along axis, from the largest down, lower positions first among equals; NaN counts as the
 * largest. k above the extent: error, kind shape where only a run can tell. An argsort of the reverse, a slice, a take
 * along axis. *out_values has the dtype of x, *out_positions is i64; extent k along axis. Either may be NULL. */
ARRJIT_API void arrjit_top_k(arrjit_graph *graph, arrjit_value x, int64_t k, int64_t axis, arrjit_value *out_values,
                             arrjit_value *out_positions);

#ifndef ARRJIT_NO_LOCATIONS
#define arrjit_expand_dims(g, ...) (arrjit_expand_dims)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_squeeze(g, ...) (arrjit_squeeze)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_tile(g, ...) (arrjit_tile)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_stack(g, ...) (arrjit_stack)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_split(g, ...) (arrjit_split)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_roll(g, ...) (arrjit_roll)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_take_along_axis(g, ...) (arrjit_take_along_axis)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_one_hot(g, ...) (arrjit_one_hot)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_tri(g, ...) (arrjit_tri)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_tril(g, ...) (arrjit_tril)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_triu(g, ...) (arrjit_triu)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_precision(g, ...) (arrjit_reduce_precision)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_compare_total(g, ...) (arrjit_compare_total)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_window_sum(g, ...) (arrjit_reduce_window_sum)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_window_min(g, ...) (arrjit_reduce_window_min)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_reduce_window_max(g, ...) (arrjit_reduce_window_max)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_convolution(g, ...) (arrjit_convolution)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_einsum(g, ...) (arrjit_einsum)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_triangular_solve(g, ...) (arrjit_triangular_solve)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_solve(g, ...) (arrjit_solve)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_inverse(g, ...) (arrjit_inverse)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_det(g, ...) (arrjit_det)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_fft(g, ...) (arrjit_fft)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_ifft(g, ...) (arrjit_ifft)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_rfft(g, ...) (arrjit_rfft)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_irfft(g, ...) (arrjit_irfft)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_variance(g, ...) (arrjit_variance)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_standard_deviation(g, ...) (arrjit_standard_deviation)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_norm(g, ...) (arrjit_norm)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_softmax(g, ...) (arrjit_softmax)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_log_softmax(g, ...) (arrjit_log_softmax)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_logsumexp(g, ...) (arrjit_logsumexp)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_sort_along(g, ...) (arrjit_sort_along)(ARRJIT_AT_(g), __VA_ARGS__)
#define arrjit_top_k(g, ...) (arrjit_top_k)(ARRJIT_AT_(g), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
