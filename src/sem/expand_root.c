/* cbrt, rsqrt, hypot. f64 alone. */
#include "sem/expand_two.h"

/* |x| = 2^(3 k) m, m in [1, 8): w near m^(-1/3) by a polynomial and a step of order 4, then y = m w^2 and what is
 * missing of y^3 = m. */
V aj_expand_cbrt(aj_expander *b, const V *x) {
  /* fpminimax of m^(-1/3) on [1, 2], relative error 2^-17.4 */
  static const double c[] = {0x1.c7f365bdd6a55p0,   -0x1.90e741fed6a2dp0, 0x1.3e68b9b745eeep0,
                             -0x1.321c5eb86b2bep-1, 0x1.3fa269c0e7235p-3, -0x1.16d6f14133414p-6};
  const long long one_bits = 0x3ff0000000000000, mantissa = 0xfffffffffffff;
  V a = x_abs(b, *x), subnormal = x_lt(b, a, x_f64(b, 0x1p-1022)), sh = x_i64(b, 52);
  V bits = x_bitcast(b, x_select(b, subnormal, x_mul(b, a, x_f64(b, 0x1p54)), a), ARRJIT_I64);
  V e = x_shr_logical(b, bits, sh);                                       /* 0 .. 2047 */
  V third = x_shr_logical(b, x_mul(b, e, x_i64(b, 43691)), x_i64(b, 17)); /* e / 3 */
  V j = x_sub(b, e, x_mul(b, third, x_i64(b, 3)));                        /* 1023 is a multiple of 3: 2^j m */
  V frac = x_or(b, x_and(b, bits, x_i64(b, mantissa)), x_i64(b, one_bits));
  V w = x_poly_f64(b, x_bitcast(b, frac, ARRJIT_F64), c, 6);
  V m = x_bitcast(b, x_add(b, frac, x_shl(b, j, sh)), ARRJIT_F64);
  V root = x_select(b, x_eq(b, j, x_i64(b, 1)), x_f64(b, 0x1.965fea53d6e3dp-1) /* 2^(-1/3) */,
                    x_f64(b, 0x1.428a2f98d728bp-1) /* 4^(-1/3) */);
  w = x_mul(b, w, x_select(b, x_eq(b, j, x_i64(b, 0)), x_f64(b, 1.0), root));
  V h = x_fma(b, x_neg(b, x_mul(b, m, w)), x_mul(b, w, w), x_f64(b, 1.0)); /* 1 - m w^3 */
  V step = x_fma(b, h, x_f64(b, 2.0 / 9), x_f64(b, 1.0 / 3));
  w = x_fma(b, x_mul(b, w, h), step, w);
  V square = x_mul(b, w, w), y = x_mul(b, m, square);
  aj_two yy = x_two_mul(b, y, y);
  V rest = x_fma(b, yy.l, y, x_fma(b, yy.h, y, x_neg(b, m))); /* y^3 - m */
  y = x_fma(b, x_mul(b, rest, square), x_f64(b, -1.0 / 3), y);
  V back = x_select(b, subnormal, x_i64(b, 1023 - 341 - 18), x_i64(b, 1023 - 341));
  y = x_mul(b, y, x_bitcast(b, x_shl(b, x_add(b, third, back), sh), ARRJIT_F64));
  V usual = x_and(b, x_lt(b, a, x_f64(b, __builtin_inf())), x_gt(b, a, x_f64(b, 0.0)));
  return x_select(b, usual, x_copysign(b, y, *x), x_add(b, *x, *x));
}

/* s = sqrt(x), y = 1/s; both roundings are put back: y (1 + (1 - s y) - (x - s^2) y^2/2). */
V aj_expand_rsqrt(aj_expander *b, const V *x) {
  V one = x_f64(b, 1.0);
  if (b->narrow) return x_div(b, one, x_sqrt(b, *x));
  V tiny = x_lt(b, *x, x_f64(b, 0x1p-900));
  V a = x_select(b, tiny, x_mul(b, *x, x_f64(b, 0x1p200)), *x);
  V s = x_sqrt(b, a), y = x_div(b, one, s);
  V rest = x_fma(b, x_neg(b, s), y, one);
  V half = x_mul(b, x_mul(b, y, y), x_f64(b, -0.5));
  rest = x_fma(b, x_fma(b, x_neg(b, s), s, a), half, rest);
  V fine = x_and(b, x_gt(b, *x, x_f64(b, 0.0)), x_lt(b, *x, x_f64(b, __builtin_inf())));
  y = x_select(b, fine, x_fma(b, y, rest, y), y);
  return x_mul(b, y, x_select(b, tiny, x_f64(b, 0x1p100), one));
}

/* The root of the sum of squares, p >= q, in two words, scaled away from overflow and underflow. */
static V hypot_scaled(aj_expander *b, V p, V q) {
  V one = x_f64(b, 1.0), big = x_gt(b, p, x_f64(b, 0x1p500)), small = x_lt(b, p, x_f64(b, 0x1p-400));
  V in = x_select(b, big, x_f64(b, 0x1p-700), x_select(b, small, x_f64(b, 0x1p700), one));
  V out = x_select(b, big, x_f64(b, 0x1p700), x_select(b, small, x_f64(b, 0x1p-700), one));
  p = x_mul(b, p, in);
  q = x_mul(b, q, in);
  aj_two pp = x_two_mul(b, p, p), qq = x_two_mul(b, q, q), sum = x_fast_two_sum(b, pp.h, qq.h);
  sum.l = x_add(b, sum.l, x_add(b, pp.l, qq.l));
  aj_two root = x_two_sqrt(b, sum);
  return x_select(b, x_eq(b, p, x_f64(b, 0.0)), p, x_mul(b, x_add(b, root.h, root.l), out));
}
V aj_expand_hypot(aj_expander *b, const V *operands) {
  V x = x_abs(b, operands[0]), y = x_abs(b, operands[1]), inf = x_f64(b, __builtin_inf()), r;
  if (b->narrow) { /* no square leaves the range */
    r = x_sqrt(b, x_fma(b, x, x, x_mul(b, y, y)));
  } else {
    V swap = x_lt(b, x, y);
    r = hypot_scaled(b, x_select(b, swap, y, x), x_select(b, swap, x, y));
    r = x_select(b, x_and(b, x_eq(b, x, x), x_eq(b, y, y)), r, x_f64(b, __builtin_nan("")));
  }
  return x_select(b, x_or(b, x_eq(b, x, inf), x_eq(b, y, inf)), inf, r);
}
