/* Numbers of two words in expansions: h + l, l at most about half an ulp of h. What rounds in the last place of h is
 * kept, so that a result is rounded once; l itself is good to a few of its own last bits. */
#ifndef AJ_SEM_EXPAND_TWO_H
#define AJ_SEM_EXPAND_TWO_H

#include "sem/expand.h"

typedef struct aj_two {
  V h, l;
} aj_two;

/* x + y exactly; |x| >= |y|, or x is 0. */
static inline aj_two x_fast_two_sum(aj_expander *b, V x, V y) {
  V h = x_add(b, x, y);
  return (aj_two){h, x_sub(b, y, x_sub(b, h, x))};
}
/* x + y exactly, whichever is larger. */
static inline aj_two x_two_sum(aj_expander *b, V x, V y) {
  V h = x_add(b, x, y);
  V part = x_sub(b, h, x);
  return (aj_two){h, x_add(b, x_sub(b, x, x_sub(b, h, part)), x_sub(b, y, part))};
}
/* x * y exactly, where the low word does not underflow. */
static inline aj_two x_two_mul(aj_expander *b, V x, V y) {
  V h = x_mul(b, x, y);
  return (aj_two){h, x_fma(b, x, y, x_neg(b, h))};
}
/* x * y of two words each */
static inline aj_two x_two_product(aj_expander *b, aj_two x, aj_two y) {
  aj_two p = x_two_mul(b, x.h, y.h);
  return (aj_two){p.h, x_fma(b, x.h, y.l, x_fma(b, x.l, y.h, p.l))};
}
/* x / y of two words each; x.l may be NULL: 0. */
static inline aj_two x_two_div(aj_expander *b, aj_two x, aj_two y) {
  V inverse = x_div(b, x_f64(b, 1.0), y.h);
  V q = x_mul(b, x.h, inverse), minus = x_neg(b, q);
  V rest = x_fma(b, minus, y.h, x.h);
  if (x.l != NULL) rest = x_add(b, rest, x.l);
  rest = x_fma(b, minus, y.l, rest);
  return (aj_two){q, x_mul(b, rest, inverse)};
}
/* The square root of two words; h > 0. */
static inline aj_two x_two_sqrt(aj_expander *b, aj_two x) {
  V s = x_sqrt(b, x.h);
  V rest = x_add(b, x_fma(b, x_neg(b, s), s, x.h), x.l);
  return (aj_two){s, x_div(b, rest, x_add(b, s, s))};
}

/* x s + y, s a power of two; x s is below y, or y is 0, or their sum is exact. */
static inline aj_two x_two_affine(aj_expander *b, aj_two x, V s, V y) {
  V h = x_fma(b, x.h, s, y);
  return (aj_two){h, x_fma(b, x.l, s, x_fma(b, x.h, s, x_sub(b, y, h)))};
}

/* (1 + x) s - c, in two words; s, c powers of two; x as aj_expand_exp_parts gives it. */
static inline aj_two x_two_minus(aj_expander *b, aj_two x, V s, V c) {
  V base = x_sub(b, s, c);
  aj_two y = x_two_affine(b, x, s, base);
  y.l = x_add(b, y.l, x_sub(b, x_sub(b, s, base), c));
  return y;
}

/* Integers n in the low bits of k (as ROUNDER_F64 leaves them) to 2^n as a product of two normal numbers. */
aj_two aj_expand_scale(aj_expander *b, V k);
/* exp(r) - 1 for |r.h| < 0.347; good to about 2^-63 */
aj_two aj_expand_expm1_near(aj_expander *b, aj_two r);
/* exp(x.h + x.l) = 2^n (1 + the result); *k as above. |x.h| < 2^20; x.l may be NULL. */
aj_two aj_expand_exp_parts(aj_expander *b, aj_two x, V *k);
/* log(1 + x.h + x.l), rounded; x.h > -1 is finite (else anything), x.l small against it. `more`: this many ln 2 are
 * added; NULL: none. */
V aj_expand_log1p_parts(aj_expander *b, aj_two x, V more);
/* log(x) for finite x > 0, in two words. */
aj_two aj_expand_log_parts(aj_expander *b, V x);
/* log2(x), absolute error about 2^-69; of 0: -inf, of inf and NaN: x */
aj_two aj_expand_log2_parts(aj_expander *b, V x);
/* 2^p = 2^n times the result; *k as above. p beyond -2000 .. 2000 counts as its end. */
aj_two aj_expand_exp2_parts(aj_expander *b, aj_two p, V *k);

#endif
