/* erf and erfc: exp(-x^2) times a function that is nearly constant. f64 alone. */
#include "sem/expand_two.h"

/* erfc(a) = 2^n * the result for 0.5 <= a <= 27.5, n in k: exp(-a^2) g(u)/(1 + 2 a) with u = (a - 4)/(a + 4), all in
 * two words: g = c0 + u q(u), and g'(u) times the low word of u. */
static aj_two erfc_parts(aj_expander *b, V a, V *k) {
  /* fpminimax of g - c0 for u in [-0.778, 0.746]; relative error of g 2^-58.7 */
  static const double q[] = {-0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd56p-7,    0x1.16ecefcfa534p-4,
                             -0x1.9ddb23c3e7c3cp-4,  0x1.7fee004e13474p-4,   -0x1.0fb06dfe6c55bp-4,
                             0x1.3079edf65934ap-5,   -0x1.0962387d6f7e7p-6,  0x1.49c6729666bebp-8,
                             -0x1.8d4aa1a73bb4dp-11, -0x1.a1df353f7fdc6p-13, 0x1.3be0d9c7e70b9p-13,
                             -0x1.9956c592b0ce1p-16, -0x1.78a4513191ep-17,   0x1.7f07ab6bfc116p-18,
                             0x1.41c3d69201a07p-22,  -0x1.b8da1323bbaep-21,  0x1.1f77eba606a12p-24,
                             0x1.c15bac3aab8afp-24,  -0x1.a2ddfdf1dbdeap-27, -0x1.5c55165cd673p-27};
  /* g'; absolute error 0.01 */
  static const double slope[] = {-0x1.13f0e60ca530fp-3, 0x1.5749db348bd0cp-4, 0x1.968f6cd2a3685p-4,
                                 -0x1.8083617795a44p-1, 0x1.a19d4c16823b5p-1};
  V one = x_f64(b, 1.0), c0 = x_f64(b, 0x1.3ba5916e9fd7fp0), c0_low = x_f64(b, -0x1.93ced55c4cf42p-55);
  aj_two u = x_two_div(b, x_two_sum(b, a, x_f64(b, -4.0)), x_two_sum(b, a, x_f64(b, 4.0)));
  aj_two uq = x_two_mul(b, u.h, x_poly_f64(b, u.h, q, 21)), g = x_fast_two_sum(b, c0, uq.h);
  g.l = x_fma(b, x_poly_f64(b, u.h, slope, 5), u.l, x_add(b, g.l, x_add(b, uq.l, c0_low)));
  aj_two square = x_two_mul(b, a, a);
  aj_two t = aj_expand_exp_parts(b, (aj_two){x_neg(b, square.h), x_neg(b, square.l)}, k);
  aj_two e = x_fast_two_sum(b, one, t.h);
  e.l = x_add(b, e.l, t.l);
  return x_two_div(b, x_two_product(b, g, e), x_two_sum(b, one, x_add(b, a, a)));
}
static V magnitude(aj_expander *b, V x) {
  V a = x_abs(b, x), most = x_f64(b, 27.5); /* erfc is below half the least number there */
  return x_select(b, x_gt(b, a, most), most, a);
}

/* erf(x) - x for |x| < 0.5 */
static V erf_tail(aj_expander *b, V x) {
  /* fpminimax of erf(x)/x - 1 for x^2 in [0, 0.25]; error 2^-56.2 */
  static const double c[] = {0x1.06eba8214db69p-3,  -0x1.812746b037a1cp-2,  0x1.ce2f21a0466p-4,
                             -0x1.b82ce314559e9p-6, 0x1.565bcd89dfafbp-8,   -0x1.c02ddab0be1cfp-11,
                             0x1.f9aa6c90b1b53p-14, -0x1.f59ef0cb61206p-17, 0x1.c5a9653bdfd5ap-20,
                             -0x1.99981b762c9b8p-23};
  return x_mul(b, x, x_poly_f64(b, x_mul(b, x, x), c, 10));
}
/* one - x - y, y below x and x below one */
static V subtract_both(aj_expander *b, V one, V x, V y) {
  V h = x_sub(b, one, x);
  return x_add(b, h, x_sub(b, x_sub(b, x_sub(b, one, h), x), y));
}

V aj_expand_erfc(aj_expander *b, const V *x) {
  V k, a = magnitude(b, *x), one = x_f64(b, 1.0);
  aj_two r = erfc_parts(b, a, &k), s = aj_expand_scale(b, k);
  V y = x_mul(b, x_mul(b, x_add(b, r.h, r.l), s.h), s.l);
  y = x_select(b, x_lt(b, *x, x_f64(b, 0.0)), x_sub(b, x_f64(b, 2.0), y), y);
  return x_select(b, x_lt(b, a, x_f64(b, 0.5)), subtract_both(b, one, *x, erf_tail(b, *x)), y);
}

V aj_expand_erf(aj_expander *b, const V *x) {
  V k, a = magnitude(b, *x);
  aj_two r = erfc_parts(b, a, &k), s = aj_expand_scale(b, k);
  V scale = x_mul(b, s.h, s.l);
  V large = subtract_both(b, x_f64(b, 1.0), x_mul(b, r.h, scale), x_mul(b, r.l, scale));
  V small = x_add(b, a, erf_tail(b, a));
  V y = x_copysign(b, x_select(b, x_lt(b, a, x_f64(b, 0.5)), small, large), *x);
  return x_select(b, x_eq(b, *x, *x), y, x_f64(b, __builtin_nan("")));
}
