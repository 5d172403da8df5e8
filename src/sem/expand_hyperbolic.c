/* sinh, cosh and the inverse hyperbolic functions: exp and log in two words. f64 alone. (tanh: expand_exp.c.) */
#include "sem/expand_two.h"

/* y with x's sign; x itself where it is so small that nothing shows, or NaN */
static V odd_result(aj_expander *b, V x, V y) {
  V shows = x_ge(b, x_abs(b, x), x_f64(b, 0x1p-28));
  return x_select(b, shows, x_copysign(b, y, x), x_mul(b, x, x_f64(b, 1.0)));
}

/* 2^(n-2) for the n in k: all is counted in quarters, as exp(x) may be no number where sinh(x) is one. */
static V quarter_scale(aj_expander *b, V k) {
  return x_bitcast(b, x_add(b, x_shl(b, k, x_i64(b, 52)), x_i64(b, 0x3fd0000000000000)), ARRJIT_F64);
}
/* |x|, no more than sinh overflows at: 2^(n-2) is a number, or exp itself where the format is narrower. */
static V magnitude(aj_expander *b, V x) {
  V a = x_abs(b, x), most = x_f64(b, b->narrow ? 100.0 : 710.5);
  return x_select(b, x_gt(b, a, most), most, a);
}

/* m = exp(a) - 1: sinh a = (m + m/(1 + m))/2. */
V aj_expand_sinh(aj_expander *b, const V *x) {
  V k, quarter = x_f64(b, 0.25), a = magnitude(b, *x);
  if (b->narrow) {
    V one_less = aj_expand_expm1(b, &a), inverse = x_div(b, one_less, x_add(b, one_less, x_f64(b, 1.0)));
    return odd_result(b, *x, x_mul(b, x_add(b, one_less, inverse), x_f64(b, 0.5)));
  }
  aj_two t = aj_expand_exp_parts(b, (aj_two){a, NULL}, &k);
  V s = quarter_scale(b, k);
  aj_two m = x_two_minus(b, t, s, quarter), d = x_two_sum(b, m.h, quarter);
  d.l = x_add(b, d.l, m.l);
  aj_two q = x_two_div(b, m, d);
  aj_two sum = x_fast_two_sum(b, m.h, x_mul(b, q.h, quarter));
  V y = x_add(b, sum.h, x_add(b, sum.l, x_fma(b, q.l, quarter, m.l)));
  return odd_result(b, *x, x_add(b, y, y));
}

/* e = exp(a): (e + 1/e)/2. The low word of e counts (1 - 1/e^2) times. */
V aj_expand_cosh(aj_expander *b, const V *x) {
  V k, a = magnitude(b, *x);
  if (b->narrow) {
    V whole = aj_expand_exp(b, &a);
    return x_mul(b, x_add(b, whole, x_div(b, x_f64(b, 1.0), whole)), x_f64(b, 0.5));
  }
  aj_two t = aj_expand_exp_parts(b, (aj_two){a, NULL}, &k);
  V s = quarter_scale(b, k);
  aj_two e = x_two_affine(b, t, s, s);
  V q = x_div(b, x_f64(b, 0.0625), e.h);
  V share = x_fma(b, x_mul(b, q, x_f64(b, -16.0)), q, x_f64(b, 1.0));
  aj_two sum = x_fast_two_sum(b, e.h, q);
  V y = x_add(b, sum.h, x_fma(b, e.l, share, sum.l));
  return x_add(b, y, y);
}

/* From here on log(2 a) is as good: 1 + x is a, and one ln 2 more. */
#define LARGE 0x1p30
static V log_of_large(aj_expander *b, V large, V a, aj_two x) {
  V one = x_f64(b, 1.0), zero = x_f64(b, 0.0);
  x.h = x_select(b, large, a, x.h);
  x.l = x_select(b, large, x_f64(b, -1.0), x.l);
  return aj_expand_log1p_parts(b, x, x_select(b, large, one, zero));
}

/* asinh a = log(1 + (a + (sqrt(1 + a^2) - 1))), the root in two words */
V aj_expand_asinh(aj_expander *b, const V *x) {
  V a = x_abs(b, *x), one = x_f64(b, 1.0), large = x_ge(b, a, x_f64(b, LARGE));
  aj_two square = x_two_mul(b, a, a), whole = x_two_sum(b, one, square.h);
  whole.l = x_add(b, whole.l, square.l);
  aj_two root = x_two_sqrt(b, whole), sum = x_fast_two_sum(b, a, x_sub(b, root.h, one));
  sum.l = x_add(b, sum.l, root.l);
  V y = log_of_large(b, large, a, sum);
  return odd_result(b, *x, x_select(b, x_lt(b, a, x_f64(b, __builtin_inf())), y, a));
}

/* acosh x = log(1 + (d + sqrt(d (d + 2)))), d = x - 1 */
V aj_expand_acosh(aj_expander *b, const V *x) {
  V one = x_f64(b, 1.0), zero = x_f64(b, 0.0), large = x_ge(b, *x, x_f64(b, LARGE));
  V d = x_sub(b, *x, one);
  aj_two w = x_two_sum(b, d, x_f64(b, 2.0)), product = x_two_mul(b, d, w.h);
  product.l = x_fma(b, d, w.l, product.l);
  aj_two root = x_two_sqrt(b, product), sum = x_fast_two_sum(b, root.h, d);
  sum.l = x_add(b, sum.l, root.l);
  V y = log_of_large(b, large, *x, sum);
  y = x_select(b, x_lt(b, *x, x_f64(b, __builtin_inf())), y, x_add(b, *x, *x));
  y = x_select(b, x_lt(b, *x, one), x_f64(b, __builtin_nan("")), y);
  return x_select(b, x_eq(b, *x, one), zero, y);
}

/* atanh a = log(1 + 2a/(1 - a))/2 */
V aj_expand_atanh(aj_expander *b, const V *x) {
  V a = x_abs(b, *x), one = x_f64(b, 1.0), d = x_sub(b, one, a);
  aj_two under = {d, x_sub(b, x_sub(b, one, d), a)};
  V y = aj_expand_log1p_parts(b, x_two_div(b, (aj_two){x_add(b, a, a), NULL}, under), NULL);
  y = x_mul(b, y, x_f64(b, 0.5));
  y = x_select(b, x_eq(b, a, one), x_f64(b, __builtin_inf()), y);
  y = x_select(b, x_gt(b, a, one), x_f64(b, __builtin_nan("")), y);
  return x_select(b, x_gt(b, a, one), y, odd_result(b, *x, y));
}
