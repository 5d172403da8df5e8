/* exp and tanh, which share the reduction of exp. Polynomials are fits by sollya's fpminimax with coefficients rounded
 * to the format while fitting; measured errors are in README.md. */
#include "sem/expand_two.h"

/* ---- exp ---- */

/* x = n ln2 + r, |r| <= 0.3467; *k: integer with n in its low bits; returns t = exp(r) - 1.
 * n*ln2_hi is a multiple of 2^-24 [2^-53], x of its half if n != 0, |rh| < 0.35: rh is exact. The low part rl goes in
 * with the small terms, so of the roundings only t's (<= 0.25 ulp of the result) and the caller's count. */
static V exp_reduced_f32(aj_expander *b, V x, V *k) {
  /* fpminimax of exp on |r| <= 0.34695, 1 + r fixed; error 3.3e-9 (2^-28.2) */
  static const float c[] = {0x1p-1f, 0x1.55548ep-3f, 0x1.5554d8p-5f, 0x1.123cp-7f, 0x1.6d5f5p-10f};
  V kf = x_fma(b, x, x_f32(b, 0x1.715476p0f) /* log2(e) */, x_f32(b, ROUNDER_F32));
  V n = x_sub(b, kf, x_f32(b, ROUNDER_F32));
  V rh = x_fma(b, n, x_f32(b, -0x1.62e43p-1f) /* -RN24(ln2) */, x);
  V rl = x_mul(b, n, x_f32(b, 0x1.05c61p-29f) /* -(ln2 - RN24(ln2)) */);
  V r = x_add(b, rh, rl);
  *k = x_bitcast(b, kf, ARRJIT_I32);
  return x_add(b, rh, x_fma(b, x_mul(b, r, r), x_poly_f32(b, r, c, 5), rl));
}
static aj_two exp_reduce_f64(aj_expander *b, V x, V *k) {
  V kf = x_fma(b, x, x_f64(b, 0x1.71547652b82fep0) /* log2(e) */, x_f64(b, ROUNDER_F64));
  V n = x_sub(b, kf, x_f64(b, ROUNDER_F64));
  V rh = x_fma(b, n, x_f64(b, -0x1.62e42fefa39efp-1) /* -RN53(ln2) */, x);
  V rl = x_mul(b, n, x_f64(b, -0x1.abc9e3b39803fp-56) /* -(ln2 - RN53(ln2)) */);
  *k = x_bitcast(b, kf, ARRJIT_I64);
  return (aj_two){rh, rl};
}
static V exp_reduced_f64(aj_expander *b, V x, V *k) {
  /* fpminimax of exp on |r| <= 0.34695, 1 + r fixed; error 3.6e-18 (2^-57.9) */
  static const double c[] = {0x1.000000000000cp-1,  0x1.5555555555561p-3,  0x1.555555554fdd3p-5,  0x1.111111110d635p-7,
                             0x1.6c16c18618943p-10, 0x1.a01a01bae6c3cp-13, 0x1.a019957f854e3p-16, 0x1.71dddfbce493cp-19,
                             0x1.28b1358d48642p-22, 0x1.af85a5972999bp-26};
  aj_two p = exp_reduce_f64(b, x, k);
  V r = x_add(b, p.h, p.l);
  return x_add(b, p.h, x_fma(b, x_mul(b, r, r), x_poly_f64(b, r, c, 10), p.l));
}

aj_two aj_expand_expm1_near(aj_expander *b, aj_two r) {
  /* fpminimax of exp on |r| <= 0.347 from r^3 on; error 2^-63.8 */
  static const double c[] = {0x1.555555555555cp-3,  0x1.555555555555ap-5,  0x1.111111110e9dcp-7,  0x1.6c16c16c141eep-10,
                             0x1.a01a01b4574fap-13, 0x1.a01a01b1d25bep-16, 0x1.71ddee39ae978p-19, 0x1.27e4c3155928p-22,
                             0x1.af6ef09f35822p-26, 0x1.1f994846a77e3p-29};
  V whole = x_add(b, r.h, r.l);
  aj_two square = x_two_mul(b, r.h, x_mul(b, r.h, x_f64(b, 0.5))), sum = x_fast_two_sum(b, r.h, square.h);
  V cube = x_mul(b, x_mul(b, whole, whole), whole);
  V low = x_fma(b, cube, x_poly_f64(b, whole, c, 10), x_fma(b, r.l, r.h, r.l));
  return x_fast_two_sum(b, sum.h, x_add(b, x_add(b, sum.l, square.l), low));
}
aj_two aj_expand_exp_parts(aj_expander *b, aj_two x, V *k) {
  aj_two r = exp_reduce_f64(b, x.h, k);
  if (x.l != NULL) r.l = x_add(b, r.l, x.l);
  return aj_expand_expm1_near(b, r);
}

/* exp(x) = (1 + t) * 2^n, the scale in two halves 2^floor(n/2) * 2^ceil(n/2): both normal for every n that the
 * clamps let through, so overflow gives inf and subnormal results are rounded by the last mul only (error there
 * 0.5 ulp + the error of the first, tiny in subnormal ulps). Clamps are selects so that NaN passes. */
static V exp_f32(aj_expander *b, V x) {
  /* exp(89) > FLT_MAX, exp(-104) < 2^-150 = half the least subnormal */
  V hi = x_f32(b, 89.0f), lo = x_f32(b, -104.0f), k;
  x = x_select(b, x_gt(b, x, hi), hi, x);
  x = x_select(b, x_lt(b, x, lo), lo, x);
  V t = exp_reduced_f32(b, x, &k);
  V sh = x_i32(b, 23), one = x_i32(b, 0x3f800000);
  V h = x_shr_logical(b, k, x_i32(b, 1)); /* k > 0: the magic constant is in it */
  V s1 = x_bitcast(b, x_add(b, x_shl(b, h, sh), one), ARRJIT_F32);
  V s2 = x_bitcast(b, x_add(b, x_shl(b, x_sub(b, k, h), sh), one), ARRJIT_F32);
  return x_mul(b, x_fma(b, t, s1, s1), s2);
}
aj_two aj_expand_scale(aj_expander *b, V k) {
  V sh = x_i64(b, 52), one = x_i64(b, 0x3ff0000000000000);
  V h = x_shr_logical(b, k, x_i64(b, 1)); /* k > 0; (64-bit arithmetic shifts are slow on AVX2) */
  V s1 = x_bitcast(b, x_add(b, x_shl(b, h, sh), one), ARRJIT_F64);
  V s2 = x_bitcast(b, x_add(b, x_shl(b, x_sub(b, k, h), sh), one), ARRJIT_F64);
  return (aj_two){s1, s2};
}
/* 2^n (1 + t) of a t in one word */
static V exp_scaled(aj_expander *b, V t, V k) {
  aj_two s = aj_expand_scale(b, k);
  return x_mul(b, x_fma(b, t, s.h, s.h), s.l);
}
static V exp_f64(aj_expander *b, V x) {
  /* exp(710) > DBL_MAX, exp(-746) < 2^-1075 */
  V k;
  V t = exp_reduced_f64(b, x_within(b, x, -746.0, 710.0), &k);
  return exp_scaled(b, t, k);
}

V aj_expand_exp(aj_expander *b, const V *x) { return x_dtype(*x) == ARRJIT_F32 ? exp_f32(b, *x) : exp_f64(b, *x); }

/* ---- exp2, exp10, expm1 ---- */

V aj_expand_exp2(aj_expander *b, const V *given) {
  /* fpminimax of 2^r - 1 - r ln2 on |r| <= 0.5, from r^2 on; error 2^-57.9 */
  static const double c[] = {0x1.ebfbdff82c5a5p-3,  0x1.c6b08d704a0cfp-5,  0x1.3b2ab6fb9ff42p-7,  0x1.5d87fe78a1c34p-10,
                             0x1.4309130f34f2dp-13, 0x1.ffcbfc7962aa2p-17, 0x1.62bfc6bc8cc13p-20, 0x1.b524d26b6307bp-24,
                             0x1.e61cc79046633p-28, 0x1.ea12eb606062fp-32};
  V x = x_within(b, *given, -1080.0, 1025.0);
  V kf = x_add(b, x, x_f64(b, ROUNDER_F64));
  V r = x_sub(b, x, x_sub(b, kf, x_f64(b, ROUNDER_F64))); /* exact */
  V low = x_fma(b, x_mul(b, r, r), x_poly_f64(b, r, c, 10), x_mul(b, r, x_f64(b, 0x1.abc9e3b39803fp-56)));
  return exp_scaled(b, x_fma(b, r, x_f64(b, 0x1.62e42fefa39efp-1) /* ln2 */, low), x_bitcast(b, kf, ARRJIT_I64));
}
/* x = n log10(2) + rh + rl, rh exact as in exp. */
V aj_expand_exp10(aj_expander *b, const V *given) {
  /* fpminimax of 10^r - 1 - r ln10 on |r| <= 0.1506, from r^2 on; error 2^-57.9 */
  static const double c[] = {0x1.53524c73cea78p1,   0x1.0470591de2cadp1,  0x1.2bd7609fd4d2dp0,  0x1.1429ffd1d1352p-1,
                             0x1.a7ed70a2743e1p-3,  0x1.16e4dfd4de379p-4, 0x1.41165d705dc39p-6, 0x1.489774b9dfc52p-8,
                             0x1.2f757da3c822fp-10, 0x1.fc22c9cb909c6p-13};
  V x = x_within(b, *given, -325.0, 310.0), ln10 = x_f64(b, 0x1.26bb1bbb55516p1);
  V kf = x_fma(b, x, x_f64(b, 0x1.a934f0979a371p1) /* log2(10) */, x_f64(b, ROUNDER_F64));
  V n = x_sub(b, kf, x_f64(b, ROUNDER_F64));
  V rh = x_fma(b, n, x_f64(b, -0x1.34413509f79ffp-2) /* -RN53(log10(2)) */, x);
  V rl = x_mul(b, n, x_f64(b, 0x1.9dc1da994fd21p-59) /* -(log10(2) - RN53(log10(2))) */);
  V r = x_add(b, rh, rl);
  V low = x_fma(b, rh, x_f64(b, -0x1.f48ad494ea3e9p-53) /* ln10 - RN53(ln10) */, x_mul(b, rl, ln10));
  low = x_fma(b, x_mul(b, r, r), x_poly_f64(b, r, c, 10), low);
  return exp_scaled(b, x_fma(b, rh, ln10, low), x_bitcast(b, kf, ARRJIT_I64));
}
/* s t + (s - 1) with s = 2^n, t in two words: near n = 1 the sum cancels. All is halved, as 2^1024 is no number. */
V aj_expand_expm1(aj_expander *b, const V *x) {
  V k;
  aj_two t = aj_expand_exp_parts(b, (aj_two){x_within(b, *x, -40.0, 710.0), NULL}, &k);
  V s = x_bitcast(b, x_add(b, x_shl(b, k, x_i64(b, 52)), x_i64(b, 0x3fe0000000000000)), ARRJIT_F64); /* 2^(n-1) */
  aj_two y = x_two_minus(b, t, s, x_f64(b, 0.5));
  V half = x_add(b, y.h, y.l);
  return x_select(b, x_lt(b, x_abs(b, *x), x_f64(b, 0x1p-54)), *x, x_add(b, half, half)); /* -0, subnormals */
}

/* ---- logistic ---- */

/* e = exp(-|x|) = 2^n m: 1/(1 + e), or m/(1 + e) times 2^n where x < 0. */
V aj_expand_logistic(aj_expander *b, const V *x) {
  const int64_t rounder = 0x4338000000000000; /* bits of ROUNDER_F64 */
  V k, one = x_f64(b, 1.0), zero = x_f64(b, 0.0), a = x_abs(b, *x), most = x_f64(b, 750.0);
  if (b->narrow) return x_div(b, one, x_add(b, one, exp_f64(b, x_neg(b, *x))));
  a = x_select(b, x_gt(b, a, most), most, a);
  aj_two t = aj_expand_exp_parts(b, (aj_two){x_neg(b, a), NULL}, &k), m = x_fast_two_sum(b, one, t.h);
  m.l = x_add(b, m.l, t.l);
  V least = x_i64(b, rounder - 200); /* less does not show beside 1 */
  V n = x_select(b, x_lt(b, k, least), least, k);
  V s = x_bitcast(b, x_add(b, x_shl(b, n, x_i64(b, 52)), x_i64(b, 0x3ff0000000000000)), ARRJIT_F64);
  aj_two under = x_two_affine(b, m, s, one);
  V negative = x_lt(b, *x, zero);
  aj_two over = {x_select(b, negative, m.h, one), x_select(b, negative, m.l, zero)};
  aj_two q = x_two_div(b, over, under), scale = aj_expand_scale(b, k);
  V y = x_add(b, q.h, q.l);
  return x_select(b, negative, x_mul(b, x_mul(b, y, scale.h), scale.l), y);
}

/* ---- tanh ---- */

/* a = |x|. Small a: an odd polynomial / rational function; else 1 - 2/(exp(2a) + 1), with exp(2a) = s(1+t), s = 2^n:
 * exp(2a) + 1 = t s + (s + 1), s + 1 exact up to n = 23 [52], beyond it does not matter. The clamp keeps s finite:
 * tanh(10) rounds to 1 in f32, tanh(20) in f64. NaN fails the compares: passes the clamp and takes the second form. */
static V tanh_f32(aj_expander *b, V x) {
  /* fpminimax of tanh on [0, 1], x + x^3 S(x^2), relative error 2^-27.7. (A rational function shared with the
   * division below is one op shorter, but its roundings come to 1.25 ulp near 0.95.) */
  static const float c[] = {-0x1.55553cp-2f, 0x1.110be6p-3f, -0x1.b96288p-5f, 0x1.600bd6p-6f,
                            -0x1.04675p-7f,  0x1.2db79ep-9f, -0x1.7806d8p-12f};
  V one = x_f32(b, 1.0f), top = x_f32(b, 10.0f), k;
  V a = x_abs(b, x);
  V z = x_mul(b, a, a);
  V small = x_fma(b, x_mul(b, a, z), x_poly_f32(b, z, c, 7), a);

  V u = x_select(b, x_gt(b, a, top), top, a);
  V t = exp_reduced_f32(b, x_add(b, u, u), &k);
  V s = x_bitcast(b, x_add(b, x_shl(b, k, x_i32(b, 23)), x_i32(b, 0x3f800000)), ARRJIT_F32);
  V den = x_fma(b, t, s, x_add(b, s, one));
  V large = x_sub(b, one, x_div(b, x_f32(b, 2.0f), den)); /* part taken off <= 0.24: its roundings count little */
  V y = x_copysign(b, x_select(b, x_lt(b, a, one), small, large), x);
  return x_select(b, x_eq(b, x, x), y, x_f32(b, __builtin_nanf(""))); /* copysign moves a NaN's sign */
}

/* f64: a polynomial would need 15 terms; a + a^3 P(a^2)/Q(a^2) up to 0.625 instead. Both forms are
 * base + num/den: one division. In the second form up to 0.4 is taken off, so it corrects the rounding error of den
 * (exact: den + dl) and of the division (all halved: -1/(s/2 (1+t) + 1/2), so that -quotient ~ 1/den). */
static V tanh_f64(aj_expander *b, V x) {
  /* rational fit on [0, 0.75], P refitted with fpminimax for the rounded Q; relative error 2^-56.8 */
  static const double pc[] = {-0x1.5555555555546p-2, -0x1.4fb467c483e49p-6, -0x1.a0deddd3b3642p-13};
  static const double qc[] = {1.0, 0x1.d88b6d0e71eddp-2, 0x1.7d688f3310b0cp-6, 0x1.b03cc217c7197p-13};
  V one = x_f64(b, 1.0), top = x_f64(b, 20.0), k;
  V a = x_abs(b, x);
  V small = x_lt(b, a, x_f64(b, 0.625));
  V y = x_mul(b, a, a);
  V p = x_poly_f64(b, y, pc, 3), q = x_poly_f64(b, y, qc, 4);

  V u = x_select(b, x_gt(b, a, top), top, a);
  V t = exp_reduced_f64(b, x_add(b, u, u), &k);
  V s = x_bitcast(b, x_add(b, x_shl(b, k, x_i64(b, 52)), x_i64(b, 0x3fe0000000000000)), ARRJIT_F64); /* 2^(n-1) */
  V s1 = x_add(b, s, x_f64(b, 0.5));
  V den = x_fma(b, t, s, s1);
  V dl = x_fma(b, t, s, x_sub(b, s1, den)); /* (t s + s1) - den */

  V num = x_select(b, small, x_mul(b, x_mul(b, a, y), p), x_f64(b, -1.0));
  V part = x_div(b, num, x_select(b, small, q, den));
  /* one Newton step for -1/(den + dl), with 1/den ~ -part */
  V np = x_neg(b, part);
  V res = x_fma(b, np, dl, x_fma(b, np, den, num));
  part = x_fma(b, x_select(b, small, x_f64(b, 0.0), res), np, part);
  V r = x_copysign(b, x_add(b, x_select(b, small, a, one), part), x);
  return x_select(b, x_eq(b, x, x), r, x_f64(b, __builtin_nan("")));
}

V aj_expand_tanh(aj_expander *b, const V *x) { return x_dtype(*x) == ARRJIT_F32 ? tanh_f32(b, *x) : tanh_f64(b, *x); }
