/* Writing expansions: the ops of the IR as functions of values. Constants take the shape of the value that is expanded,
 * so the same code serves scalars inside kernels and whole arrays. After an error in the builder all of them give NULL.
 */
#ifndef AJ_SEM_EXPAND_H
#define AJ_SEM_EXPAND_H

#include "sem/sem.h"

typedef aj_value *V;
typedef struct aj_expander {
  aj_builder *builder;
  const aj_type *shape; /* its dims are those of every value of the expansion */
  bool narrow;          /* what is computed in f64 is rounded to a narrower format: a few of its ulps do not show */
  aj_value *slow[3];    /* last operands of selects on one predicate: their nodes are put in a row, before the first of
                           the selects, where they can be jumped over (sem/guard.h) */
} aj_expander;

/* Operands of a function, at most. */
enum { AJ_EXPAND_OPERANDS = 2 };

V aj_expand_exp(aj_expander *b, const V *x);
V aj_expand_log(aj_expander *b, const V *x);
V aj_expand_tanh(aj_expander *b, const V *x);
V aj_expand_sin(aj_expander *b, const V *x);
V aj_expand_cos(aj_expander *b, const V *x);

/* These are given f64 alone. */
V aj_expand_exp2(aj_expander *b, const V *x);
V aj_expand_exp10(aj_expander *b, const V *x);
V aj_expand_expm1(aj_expander *b, const V *x);
V aj_expand_log2(aj_expander *b, const V *x);
V aj_expand_log10(aj_expander *b, const V *x);
V aj_expand_log1p(aj_expander *b, const V *x);
V aj_expand_tan(aj_expander *b, const V *x);
V aj_expand_asin(aj_expander *b, const V *x);
V aj_expand_acos(aj_expander *b, const V *x);
V aj_expand_atan(aj_expander *b, const V *x);
V aj_expand_atan2(aj_expander *b, const V *operands);
V aj_expand_pow(aj_expander *b, const V *operands);
V aj_expand_sinh(aj_expander *b, const V *x);
V aj_expand_cosh(aj_expander *b, const V *x);
V aj_expand_asinh(aj_expander *b, const V *x);
V aj_expand_acosh(aj_expander *b, const V *x);
V aj_expand_atanh(aj_expander *b, const V *x);
V aj_expand_cbrt(aj_expander *b, const V *x);
V aj_expand_rsqrt(aj_expander *b, const V *x);
V aj_expand_hypot(aj_expander *b, const V *operands);
V aj_expand_logistic(aj_expander *b, const V *x);
V aj_expand_erf(aj_expander *b, const V *x);
V aj_expand_erfc(aj_expander *b, const V *x);
V aj_expand_erf_inv(aj_expander *b, const V *x);
V aj_expand_tgamma(aj_expander *b, const V *x);
V aj_expand_lgamma(aj_expander *b, const V *x);
V aj_expand_digamma(aj_expander *b, const V *x);

/* A constant element, stretched to the expansion's shape. */
V aj_expand_const(aj_expander *b, arrjit_dtype dtype, const void *element);
V aj_expand_cast(aj_expander *b, aj_op op, V x, arrjit_dtype dtype);
/* Puts the nodes of `region` from `first` on, of which the results are made, in the one order that expansions have;
 * what no result needs goes. */
void aj_expand_order(const aj_expander *b, aj_region *region, uint32_t first, uint32_t count, aj_value *const *results);

static inline arrjit_dtype x_dtype(V x) { return x == NULL ? ARRJIT_DTYPE_NONE : x->type->dtype; }

#define X_CONST(name, dtype, T)                                                                                        \
  static inline V name(aj_expander *b, T x) { return aj_expand_const(b, dtype, &x); }
X_CONST(x_f32, ARRJIT_F32, float)
X_CONST(x_f64, ARRJIT_F64, double)
X_CONST(x_i32, ARRJIT_I32, int32_t)
X_CONST(x_i64, ARRJIT_I64, int64_t)
X_CONST(x_u64, ARRJIT_U64, uint64_t)

#define X_ONE(name, op)                                                                                                \
  static inline V name(aj_expander *b, V x) { return aj_build1(b->builder, op, 1, (V[]){x}, 0, NULL); }
X_ONE(x_neg, AJ_OP_NEG)
X_ONE(x_abs, AJ_OP_ABS)
X_ONE(x_sqrt, AJ_OP_SQRT)
X_ONE(x_not, AJ_OP_NOT)
X_ONE(x_round_even, AJ_OP_ROUND_EVEN)

#define X_TWO(name, op)                                                                                                \
  static inline V name(aj_expander *b, V x, V y) { return aj_build1(b->builder, op, 2, (V[]){x, y}, 0, NULL); }
X_TWO(x_add, AJ_OP_ADD)
X_TWO(x_sub, AJ_OP_SUB)
X_TWO(x_mul, AJ_OP_MUL)
X_TWO(x_div, AJ_OP_DIV)
X_TWO(x_copysign, AJ_OP_COPYSIGN)
X_TWO(x_and, AJ_OP_AND)
X_TWO(x_or, AJ_OP_OR)
X_TWO(x_xor, AJ_OP_XOR)
X_TWO(x_shl, AJ_OP_SHL)
X_TWO(x_shr_logical, AJ_OP_SHR_LOGICAL)
X_TWO(x_shr_arith, AJ_OP_SHR_ARITH)
X_TWO(x_lt, AJ_OP_LT)
X_TWO(x_le, AJ_OP_LE)
X_TWO(x_gt, AJ_OP_GT)
X_TWO(x_ge, AJ_OP_GE)
X_TWO(x_eq, AJ_OP_EQ)
X_TWO(x_ne, AJ_OP_NE)

static inline V x_fma(aj_expander *b, V x, V y, V z) {
  return aj_build1(b->builder, AJ_OP_FMA, 3, (V[]){x, y, z}, 0, NULL);
}
static inline V x_select(aj_expander *b, V pred, V x, V y) {
  return aj_build1(b->builder, AJ_OP_SELECT, 3, (V[]){pred, x, y}, 0, NULL);
}
static inline V x_convert(aj_expander *b, V x, arrjit_dtype dtype) {
  return aj_expand_cast(b, AJ_OP_CONVERT, x, dtype);
}
static inline V x_bitcast(aj_expander *b, V x, arrjit_dtype dtype) {
  return aj_expand_cast(b, AJ_OP_BITCAST, x, dtype);
}

/* x, lo below it and hi above it; NaN passes. */
static inline V x_within(aj_expander *b, V x, double lo, double hi) {
  V least = x_f64(b, lo), most = x_f64(b, hi);
  x = x_select(b, x_gt(b, x, most), most, x);
  return x_select(b, x_lt(b, x, least), least, x);
}

/* Horner: c[0] + z (c[1] + ... + z c[n - 1]) with fma. */
static inline V x_poly_f32(aj_expander *b, V z, const float *c, int n) {
  V p = x_f32(b, c[n - 1]);
  for (int i = n - 2; i >= 0; i--) p = x_fma(b, p, z, x_f32(b, c[i]));
  return p;
}
static inline V x_poly_f64(aj_expander *b, V z, const double *c, int n) {
  V p = x_f64(b, c[n - 1]);
  for (int i = n - 2; i >= 0; i--) p = x_fma(b, p, z, x_f64(b, c[i]));
  return p;
}

/* Adding 1.5 * 2^23 (1.5 * 2^52) rounds to an integer n and leaves n in the low bits of the pattern, in two's
 * complement; the constant's own pattern has only zero bits there. One fma so gives n = round(x * c) as a float (after
 * a sub) and as an integer (after a bitcast). |n| < 2^22 (2^51) is needed. */
#define ROUNDER_F32 0x1.8p23f
#define ROUNDER_F64 0x1.8p52

#endif
