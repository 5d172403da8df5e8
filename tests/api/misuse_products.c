/* Misuse of products and transforms: dot, conv, fft_last, and what is made of them. */
#include "misuse.h"

static void products(misuse *m) {
#define CALL_DOT(g, x) arrjit_dot(g, x, x, 0, NULL, NULL, 0, NULL, NULL)
#define DOT(lhs, rhs, ...) arrjit_dot(g, lhs, rhs, __VA_ARGS__)
  ALL_REFUSE(m, arrjit_dot, "lhs", CALL_DOT);
  BUILD(m, arrjit_dot, "rhs", "the null value", ARRJIT_MISUSE, "rhs is the null value",
        (void)DOT(p->vector, NULL, 0, NULL, NULL, 1, I64S(0), I64S(0)));
  WRONG(m, arrjit_dot, "rhs", "of another dtype", "dtypes never convert",
        DOT(p->vector, p->integers, 0, NULL, NULL, 1, I64S(0), I64S(0)));
  WRONG(m, arrjit_dot, "lhs", "bool", "lhs is bool[3]", DOT(p->flags, p->flags, 0, NULL, NULL, 1, I64S(0), I64S(0)));
  WRONG(m, arrjit_dot, "lhs_contract", "of another extent", "paired extents 3 and 5 are not equal",
        DOT(p->vector, p->five, 0, NULL, NULL, 1, I64S(0), I64S(0)));
  WRONG(m, arrjit_dot, "lhs_contract", "out of range", "lhs_contract has 1",
        DOT(p->vector, p->vector, 0, NULL, NULL, 1, I64S(1), I64S(0)));
  WRONG(m, arrjit_dot, "rhs_batch", "out of range", "rhs_batch has -1",
        DOT(p->vector, p->vector, 1, I64S(0), I64S(-1), 0, NULL, NULL));
  WRONG(m, arrjit_dot, "lhs_batch", "contracted too", "both a batch axis and contracted",
        DOT(p->vector, p->vector, 1, I64S(0), I64S(0), 1, I64S(0), I64S(0)));
  ABSENT(m, arrjit_dot, "lhs_batch", "lhs_batch", DOT(p->vector, p->vector, 1, NULL, I64S(0), 0, NULL, NULL));
  ABSENT(m, arrjit_dot, "rhs_batch", "rhs_batch", DOT(p->vector, p->vector, 1, I64S(0), NULL, 0, NULL, NULL));
  ABSENT(m, arrjit_dot, "lhs_contract", "lhs_contract", DOT(p->vector, p->vector, 0, NULL, NULL, 1, NULL, I64S(0)));
  ABSENT(m, arrjit_dot, "rhs_contract", "rhs_contract", DOT(p->vector, p->vector, 0, NULL, NULL, 1, I64S(0), NULL));
}

static void convolutions(misuse *m) {
#define CALL_CONV(g, x) arrjit_conv(g, x, x, 0, NULL, NULL, NULL, NULL, NULL, 1)
#define FULL_OF(x, ...) arrjit_full(g, arrjit_const_like(g, x, 1), sizeof(I64S(__VA_ARGS__)) / 8, I64S(__VA_ARGS__))
#define CONV(lhs, rhs, ...) arrjit_conv(g, FULL_OF(p->vector, lhs), FULL_OF(p->vector, rhs), __VA_ARGS__)
#define ONES I64S(1), I64S(0), I64S(0), I64S(1), I64S(1)
#define DIMS(...) __VA_ARGS__
  ALL_REFUSE(m, arrjit_conv, "lhs", CALL_CONV);
  WRONG(m, arrjit_conv, "rhs", "of another rank", "expected equal ranks of at least 2",
        CONV(DIMS(2, 3, 1), DIMS(1, 1), 1, ONES, 1));
  WRONG(m, arrjit_conv, "rhs", "of other features", "the features of lhs, its last dim",
        CONV(DIMS(2, 3, 1), DIMS(2, 2, 1), 1, ONES, 1));
  WRONG(m, arrjit_conv, "rhs", "of no extent", "windows of at least one element",
        CONV(DIMS(2, 3, 1), DIMS(0, 1, 1), 1, ONES, 1));
  WRONG(m, arrjit_conv, "rhs", "of another dtype", "dtypes never convert",
        arrjit_conv(g, FULL_OF(p->vector, 1, 2), FULL_OF(p->integers, 2, 1), 0, NULL, NULL, NULL, NULL, NULL, 1));
  WRONG(m, arrjit_conv, "rank", "not the spatial dims", "the spatial dims of lhs",
        CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 0, NULL, NULL, NULL, NULL, NULL, 1));
  WRONG(m, arrjit_conv, "step", "0", "step of axis 1 is 0",
        CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, I64S(0), I64S(0), I64S(0), I64S(1), I64S(1), 1));
  WRONG(m, arrjit_conv, "low", "out of range", "the padding of axis 1 is out of range",
        CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, I64S(1), I64S(INT64_MAX), I64S(0), I64S(1), I64S(1), 1));
  WRONG(m, arrjit_conv, "groups", "0", "groups is 0", CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, ONES, 0));
  WRONG(m, arrjit_conv, "groups", "no divisor", "a multiple of groups", CONV(DIMS(2, 3, 2), DIMS(1, 1, 3), 1, ONES, 2));
  ABSENT(m, arrjit_conv, "step", "step",
         CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, NULL, I64S(0), I64S(0), I64S(1), I64S(1), 1));
  ABSENT(m, arrjit_conv, "low", "low",
         CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, I64S(1), NULL, I64S(0), I64S(1), I64S(1), 1));
  ABSENT(m, arrjit_conv, "high", "high",
         CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, I64S(1), I64S(0), NULL, I64S(1), I64S(1), 1));
  ABSENT(m, arrjit_conv, "base_dilation", "base_dilation",
         CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, I64S(1), I64S(0), I64S(0), NULL, I64S(1), 1));
  ABSENT(m, arrjit_conv, "window_dilation", "window_dilation",
         CONV(DIMS(2, 3, 1), DIMS(1, 1, 1), 1, I64S(1), I64S(0), I64S(0), I64S(1), NULL, 1));
}

static void general_convolutions(misuse *m) {
#define NONE_5 NULL, NULL, NULL, NULL, NULL
#define CALL_CONVOLUTION(g, x) arrjit_convolution(g, x, x, 0, NULL, NULL, NULL, NONE_5, 0, NULL, 1, 1)
#define SQUARE arrjit_full(g, arrjit_const_like(g, p->vector, 1), 2, I64S(3, 3))
  ALL_REFUSE(m, arrjit_convolution, "lhs", CALL_CONVOLUTION);
  BUILD(m, arrjit_convolution, "rhs", "the null value", ARRJIT_MISUSE, "rhs is the null value",
        (void)arrjit_convolution(g, SQUARE, NULL, 0, NULL, NULL, NULL, NONE_5, 0, NULL, 1, 1));
  WRONG(m, arrjit_convolution, "rank", "not that of lhs",
        "convolution: rank is 1; expected lhs and rhs of rank 2 above it",
        arrjit_convolution(g, SQUARE, SQUARE, 1, NULL, NULL, NULL, NONE_5, 0, NULL, 1, 1));
  WRONG(m, arrjit_convolution, "lhs_axes", "out of range", "convolution: lhs_axes has 2",
        arrjit_convolution(g, SQUARE, SQUARE, 0, I64S(0, 2), NULL, NULL, NONE_5, 0, NULL, 1, 1));
  WRONG(m, arrjit_convolution, "rhs_axes", "twice", "convolution: rhs_axes has 0",
        arrjit_convolution(g, SQUARE, SQUARE, 0, NULL, I64S(0, 0), NULL, NONE_5, 0, NULL, 1, 1));
  WRONG(m, arrjit_convolution, "out_axes", "negative", "convolution: out_axes has -1",
        arrjit_convolution(g, SQUARE, SQUARE, 0, NULL, NULL, I64S(-1, 0), NONE_5, 0, NULL, 1, 1));
  WRONG(m, arrjit_convolution, "reversed", "out of range", "convolution: axis is 0; there are no axes",
        arrjit_convolution(g, SQUARE, SQUARE, 0, NULL, NULL, NULL, NONE_5, 1, I64S(0), 1, 1));
  WRONG(m, arrjit_convolution, "batch_groups", "no divisor", "convolution: batch_groups is 2",
        arrjit_convolution(g, SQUARE, SQUARE, 0, NULL, NULL, NULL, NONE_5, 0, NULL, 1, 2));
  WRONG(m, arrjit_convolution, "groups", "both", "convolution: expected groups or batch_groups to be 1",
        arrjit_convolution(g, SQUARE, SQUARE, 0, NULL, NULL, NULL, NONE_5, 0, NULL, 3, 3));
  ABSENT(m, arrjit_convolution, "reversed", "reversed",
         arrjit_convolution(g, SQUARE, SQUARE, 0, NULL, NULL, NULL, NONE_5, 1, NULL, 1, 1));
}

static void einsums(misuse *m) {
#define CALL_EINSUM(g, x) (arrjit_einsum)(g, "", 1, &(arrjit_value){x})
#define EINSUM(text, ...)                                                                                              \
  (arrjit_einsum)(g, text, sizeof((arrjit_value[]){__VA_ARGS__}) / sizeof(arrjit_value), (arrjit_value[]){__VA_ARGS__})
#define WRONG_TEXT(how, part, ...) WRONG(m, arrjit_einsum, "text", how, "einsum: " part, __VA_ARGS__)
  ALL_REFUSE(m, arrjit_einsum, "xs", CALL_EINSUM);
  ABSENT(m, arrjit_einsum, "text", "text", EINSUM(NULL, p->vector));
  ABSENT(m, arrjit_einsum, "xs", "values", arrjit_einsum(g, "i", 1, NULL));
  WRONG(m, arrjit_einsum, "count", "0", "einsum: at 0 of \"i\": no array came", arrjit_einsum(g, "i", 0, NULL));
  WRONG(m, arrjit_einsum, "xs", "bool", "an array is bool", EINSUM("i", p->flags));
  WRONG(m, arrjit_einsum, "xs", "of two dtypes", "two dtypes", EINSUM("i,i", p->vector, p->integers));
  WRONG(m, arrjit_einsum, "xs", "of two extents", "paired extents 3 and 5", EINSUM("i,i->", p->vector, p->five));
  WRONG_TEXT("too few letters", "at 2 of \"i,->i\": expected as many letters", EINSUM("i,->i", p->vector, p->vector));
  WRONG_TEXT("too many letters", "at 0 of \"ij...\": more letters", EINSUM("ij...", p->vector));
  WRONG_TEXT("too few terms", "at 1 of \"i->i\": expected a comma", EINSUM("i->i", p->vector, p->vector));
  WRONG_TEXT("too many terms", "at 1 of \"i,i\": expected \"->\"", EINSUM("i,i", p->vector));
  WRONG_TEXT("a digit", "at 1 of \"i1->i\": expected a letter", EINSUM("i1->i", p->vector));
  WRONG_TEXT("half an arrow", "at 1 of \"i-i\": expected \"->\"", EINSUM("i-i", p->vector));
  WRONG_TEXT("two results", "at 4 of \"i->i,i\": expected the end", EINSUM("i->i,i", p->vector));
  WRONG_TEXT("a letter of no term", "at 3 of \"i->k\": the result has a letter that no term",
             EINSUM("i->k", p->vector));
  WRONG_TEXT("a letter twice in the result", "at 3 of \"i->ii\": the result has a letter twice",
             EINSUM("i->ii", p->vector));
  WRONG_TEXT("dots twice", "at 3 of \"......\": \"...\" comes twice", EINSUM("......", p->vector));
  WRONG_TEXT("dots that the result lacks", "at 5 of \"...->\": the result lacks", EINSUM("...->", p->vector));
  WRONG_TEXT("a diagonal of two extents", "at 2 of \"ii\": the term before has a letter twice",
             EINSUM("ii", arrjit_full(g, arrjit_const_like(g, p->vector, 1), 2, I64S(2, 3))));
}

static void solves(misuse *m) {
#define MATRIX(rows, columns) arrjit_full(g, arrjit_const_like(g, p->vector, 1), 2, I64S(rows, columns))
#define CALL_SOLVE(g, x) arrjit_solve_lower(g, x, x, 0)
#define CALL_TRIANGULAR(g, x) arrjit_triangular_solve(g, x, x, 1, 1, 0, 0)
  ALL_REFUSE(m, arrjit_solve_lower, "a", CALL_SOLVE);
  WRONG(m, arrjit_solve_lower, "a", "not square", "expected square matrices",
        arrjit_solve_lower(g, MATRIX(2, 3), MATRIX(2, 1), 0));
  WRONG(m, arrjit_solve_lower, "b", "of other rows", "expected square matrices",
        arrjit_solve_lower(g, MATRIX(2, 2), MATRIX(3, 1), 0));
  WRONG(m, arrjit_solve_lower, "b", "a vector", "b f64[3]; expected square matrices",
        arrjit_solve_lower(g, MATRIX(3, 3), p->vector, 0));
  WRONG(m, arrjit_solve_lower, "unit", "2", "unit is 2; expected 0 or 1",
        arrjit_solve_lower(g, MATRIX(2, 2), MATRIX(2, 1), 2));
  WRONG(m, arrjit_solve_lower, "a", "integers", "a is i64[3]", arrjit_solve_lower(g, p->integers, p->integers, 0));
  ALL_REFUSE(m, arrjit_triangular_solve, "a", CALL_TRIANGULAR);
  WRONG(m, arrjit_triangular_solve, "b", "a vector", "triangular_solve: a has rank 2 and b 1; expected at least 2",
        arrjit_triangular_solve(g, MATRIX(3, 3), p->vector, 1, 1, 0, 0));
  WRONG(m, arrjit_triangular_solve, "b", "of other columns", "triangular_solve: a is f64[3, 3] and b f64[2, 3]",
        arrjit_triangular_solve(g, MATRIX(3, 3), MATRIX(3, 2), 0, 1, 0, 0));
}

/* Builders of several results, by the first of them. */
static arrjit_value call_lu(arrjit_graph *g, arrjit_value x) {
  arrjit_value out = x;
  (arrjit_lu)(g, x, &out, NULL, NULL);
  return out;
}
static arrjit_value call_qr(arrjit_graph *g, arrjit_value x) {
  arrjit_value out = x;
  (arrjit_qr)(g, x, 0, &out, NULL);
  return out;
}
static arrjit_value call_eigh(arrjit_graph *g, arrjit_value x) {
  arrjit_value out = x;
  (arrjit_eigh)(g, x, NULL, &out);
  return out;
}
static arrjit_value call_svd(arrjit_graph *g, arrjit_value x) {
  arrjit_value out = x;
  (arrjit_svd)(g, x, 0, NULL, NULL, &out);
  return out;
}

static void factors(misuse *m) {
  ALL_REFUSE(m, arrjit_cholesky, "x", arrjit_cholesky);
  ALL_REFUSE(m, arrjit_lu, "x", call_lu);
  ALL_REFUSE(m, arrjit_qr, "x", call_qr);
  ALL_REFUSE(m, arrjit_eigh, "x", call_eigh);
  ALL_REFUSE(m, arrjit_svd, "x", call_svd);
  WRONG(m, arrjit_cholesky, "x", "not square", "cholesky: x is f64[2, 3]; expected square matrices",
        arrjit_cholesky(g, MATRIX(2, 3)));
  WRONG(m, arrjit_cholesky, "x", "integers", "x is i64[3]", arrjit_cholesky(g, p->integers));
  WRONG(m, arrjit_eigh, "x", "not square", "eigh: x is f64[2, 3]; expected square matrices",
        call_eigh(g, MATRIX(2, 3)));
  WRONG(m, arrjit_lu, "x", "a vector", "lu: x is f64[3]; expected one or more matrices", call_lu(g, p->vector));
  WRONG(m, arrjit_qr, "full", "2", "full is 2; expected 0 or 1", arrjit_qr(g, MATRIX(2, 2), 2, NULL, NULL));
  WRONG(m, arrjit_svd, "full", "-1", "full is -1; expected 0 or 1", arrjit_svd(g, MATRIX(2, 2), -1, NULL, NULL, NULL));
#define CALL_SOLVE_ALL(g, x) arrjit_solve(g, x, x)
  ALL_REFUSE(m, arrjit_solve, "a", CALL_SOLVE_ALL);
  ALL_REFUSE(m, arrjit_inverse, "a", arrjit_inverse);
  ALL_REFUSE(m, arrjit_det, "a", arrjit_det);
  WRONG(m, arrjit_solve, "a", "not square", "solve: a is f64[2, 3]; expected square matrices",
        arrjit_solve(g, MATRIX(2, 3), MATRIX(2, 3)));
  WRONG(m, arrjit_solve, "b", "of other rows", "solve: a is f64[2, 2] and b f64[3, 2]; expected one dtype",
        arrjit_solve(g, MATRIX(2, 2), MATRIX(3, 2)));
  WRONG(m, arrjit_inverse, "a", "a vector", "inverse: a is f64[3]; expected square", arrjit_inverse(g, p->vector));
  WRONG(m, arrjit_det, "a", "not square", "det: a is f64[3, 2]; expected square", arrjit_det(g, MATRIX(3, 2)));
}

static void transforms(misuse *m) {
#define COMPLEX arrjit_complex(g, p->vector, p->vector)
#define CALL_FFT_LAST(g, x) arrjit_fft_last(g, x, 0)
#define CALL_IRFFT_LAST(g, x) arrjit_irfft_last(g, x, 1, I64S(4))
#define CALL_FFT(g, x) arrjit_fft(g, x, 1, I64S(0), NULL)
#define CALL_IFFT(g, x) arrjit_ifft(g, x, 1, I64S(0), NULL)
#define CALL_RFFT(g, x) arrjit_rfft(g, x, 1, I64S(0), NULL)
#define CALL_IRFFT(g, x) arrjit_irfft(g, x, 1, I64S(0), NULL)
  ALL_REFUSE(m, arrjit_fft_last, "x", CALL_FFT_LAST);
  ALL_REFUSE(m, arrjit_rfft_last, "x", arrjit_rfft_last);
  ALL_REFUSE(m, arrjit_irfft_last, "x", CALL_IRFFT_LAST);
  ALL_REFUSE(m, arrjit_fft, "x", CALL_FFT);
  ALL_REFUSE(m, arrjit_ifft, "x", CALL_IFFT);
  ALL_REFUSE(m, arrjit_rfft, "x", CALL_RFFT);
  ALL_REFUSE(m, arrjit_irfft, "x", CALL_IRFFT);
  WRONG(m, arrjit_fft_last, "x", "real", "x is f64[3]; expected", arrjit_fft_last(g, p->vector, 0));
  WRONG(m, arrjit_fft_last, "x", "a scalar", "x is a scalar", arrjit_fft_last(g, arrjit_const_like(g, COMPLEX, 1), 0));
  WRONG(m, arrjit_fft_last, "inverse", "2", "inverse is 2; expected 0 or 1", arrjit_fft_last(g, COMPLEX, 2));
  WRONG(m, arrjit_rfft_last, "x", "integers", "x is i64[3]; expected", arrjit_rfft_last(g, p->integers));
  WRONG(m, arrjit_irfft_last, "sizes", "of another spectrum", "x is c128[3]; expected 4 along the last axis, 6 / 2 + 1",
        arrjit_irfft_last(g, COMPLEX, 1, I64S(6)));
  WRONG(m, arrjit_irfft_last, "rank", "2", "1, for the last axis", arrjit_irfft_last(g, COMPLEX, 2, I64S(4, 4)));
  ABSENT(m, arrjit_irfft_last, "sizes", "sizes", arrjit_irfft_last(g, COMPLEX, 1, NULL));
  WRONG(m, arrjit_fft, "axes", "out of range", "fft: axis is 1", arrjit_fft(g, COMPLEX, 1, I64S(1), NULL));
  WRONG(m, arrjit_ifft, "axes", "twice", "ifft: axes has 0 twice", arrjit_ifft(g, COMPLEX, 2, I64S(0, 0), NULL));
  BUILD(m, arrjit_fft, "lengths", "no extent", ARRJIT_MISUSE, "lengths",
        (void)arrjit_fft(g, COMPLEX, 1, I64S(0), I64S(-1000)));
  WRONG(m, arrjit_rfft, "axis_count", "0", "rfft: no axis came", arrjit_rfft(g, p->vector, 0, NULL, NULL));
  WRONG(m, arrjit_rfft, "x", "complex", "rfft: x is c128[3]", arrjit_rfft(g, COMPLEX, 1, I64S(0), NULL));
  WRONG(m, arrjit_irfft, "x", "of no extent", "irfft: an extent of the result is below 0",
        arrjit_irfft(g, arrjit_slice(g, COMPLEX, 1, I64S(0), I64S(0), I64S(1)), 1, I64S(0), NULL));
  ABSENT(m, arrjit_fft, "axes", "axes", arrjit_fft(g, COMPLEX, 1, NULL, NULL));
  ABSENT(m, arrjit_ifft, "axes", "axes", arrjit_ifft(g, COMPLEX, 1, NULL, NULL));
  ABSENT(m, arrjit_rfft, "axes", "axes", arrjit_rfft(g, p->vector, 1, NULL, NULL));
  ABSENT(m, arrjit_irfft, "axes", "axes", arrjit_irfft(g, COMPLEX, 1, NULL, NULL));
}

void misuse_products(misuse *m) {
  products(m);
  convolutions(m);
  general_convolutions(m);
  einsums(m);
  solves(m);
  factors(m);
  transforms(m);
}
