/* erf and erfc: exp(-x^2) times a function that is nearly constant; erf_inv. f64 alone. */
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

/* a = |x| up to erf(0.5): a + a C(a^2). Beyond it w + d(u) with w = sqrt(-log(1 - a)) in two words, u = (w - 2)/(w +
 * 2). */
V aj_expand_erf_inv(aj_expander *b, const V *x) {
  /* fpminimax of erf_inv(a)/a - 1 for a^2 in [0, 0.2711]; error 2^-58 */
  static const double c[] = {-0x1.d203b725884abp-4, 0x1.db29fb2fee5fcp-3,  0x1.053c2c0ab9c2ap-3, 0x1.62847c4686737p-4,
                             0x1.0a13190008879p-4,  0x1.a7c83e4d86f6ap-5,  0x1.5eedefda867ddp-5, 0x1.2a8dd7ba75cadp-5,
                             0x1.0582ea456fb46p-5,  0x1.acde26d847d39p-6,  0x1.1db4c57befd9ep-5, -0x1.ea470eb9e6ca7p-7,
                             0x1.df9b0b1b0642cp-4,  -0x1.14bc1a08c9d64p-3, 0x1.2384c24b0cdaep-3};
  /* of erf_inv(1 - exp(-w^2)) - w for w in [0.8325, 6.065], without its constant term; error 2^-59.6 */
  static const double d[] = {
      0x1.95f038be00a4dp-3,  0x1.b33e45697bb94p-3,  -0x1.d959385d7eacfp-3, 0x1.7d56d386d6662p-3,  -0x1.cf7bea80a2667p-5,
      -0x1.315bab1c5c848p-5, 0x1.7ccb5408ff65ap-4,  -0x1.4644482215743p-4, 0x1.2211d3e792b2p-5,   0x1.65a6f7c128ec9p-6,
      -0x1.ab42f8eab4ab7p-5, 0x1.addd213dab1b5p-5,  -0x1.696577f8a6117p-6, -0x1.a957095412defp-7, 0x1.34ebcaa0df416p-5,
      -0x1.2c9822e51ffbap-5, 0x1.21659109c32d9p-6,  0x1.4bcd4d2df827fp-7,  -0x1.e61637173f9a5p-6, 0x1.0574238eb0856p-5,
      -0x1.267d1f6d73bafp-7, -0x1.20bfd2695611ep-6, 0x1.516c3039e3193p-6,  -0x1.6424bd4f57681p-8};
  V a = x_abs(b, *x), one = x_f64(b, 1.0), two = x_f64(b, 2.0);
  V small = x_fma(b, a, x_poly_f64(b, x_mul(b, a, a), c, 15), a);
  aj_two log = aj_expand_log_parts(b, x_sub(b, one, a));
  aj_two w = x_two_sqrt(b, (aj_two){x_neg(b, log.h), x_neg(b, log.l)});
  V u = x_div(b, x_sub(b, w.h, two), x_add(b, w.h, two));
  aj_two sum = x_fast_two_sum(b, w.h, x_f64(b, -0x1.53c6712bd679p-2));
  V rest = x_fma(b, u, x_poly_f64(b, u, d, 24), x_add(b, sum.l, w.l));
  V y = x_select(b, x_lt(b, a, x_f64(b, 0.5205)), small, x_add(b, sum.h, rest));
  y = x_select(b, x_eq(b, a, one), x_f64(b, __builtin_inf()), y);
  return x_select(b, x_le(b, a, one), x_copysign(b, y, *x), x_f64(b, __builtin_nan("")));
}
