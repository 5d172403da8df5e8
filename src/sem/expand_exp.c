/* exp and tanh, which share the reduction of exp. Polynomials are fits by sollya's fpminimax with coefficients rounded
 * to the format while fitting; measured errors are in README.md. */
#include "sem/expand.h"

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
static V exp_reduced_f64(aj_expander *b, V x, V *k) {
  /* fpminimax of exp on |r| <= 0.34695, 1 + r fixed; error 3.6e-18 (2^-57.9) */
  static const double c[] = {0x1.000000000000cp-1,  0x1.5555555555561p-3,  0x1.555555554fdd3p-5,  0x1.111111110d635p-7,
                             0x1.6c16c18618943p-10, 0x1.a01a01bae6c3cp-13, 0x1.a019957f854e3p-16, 0x1.71dddfbce493cp-19,
                             0x1.28b1358d48642p-22, 0x1.af85a5972999bp-26};
  V kf = x_fma(b, x, x_f64(b, 0x1.71547652b82fep0) /* log2(e) */, x_f64(b, ROUNDER_F64));
  V n = x_sub(b, kf, x_f64(b, ROUNDER_F64));
  V rh = x_fma(b, n, x_f64(b, -0x1.62e42fefa39efp-1) /* -RN53(ln2) */, x);
  V rl = x_mul(b, n, x_f64(b, -0x1.abc9e3b39803fp-56) /* -(ln2 - RN53(ln2)) */);
  V r = x_add(b, rh, rl);
  *k = x_bitcast(b, kf, ARRJIT_I64);
  return x_add(b, rh, x_fma(b, x_mul(b, r, r), x_poly_f64(b, r, c, 10), rl));
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
static V exp_f64(aj_expander *b, V x) {
  /* exp(710) > DBL_MAX, exp(-746) < 2^-1075 */
  V hi = x_f64(b, 710.0), lo = x_f64(b, -746.0), k;
  x = x_select(b, x_gt(b, x, hi), hi, x);
  x = x_select(b, x_lt(b, x, lo), lo, x);
  V t = exp_reduced_f64(b, x, &k);
  V sh = x_i64(b, 52), one = x_i64(b, 0x3ff0000000000000);
  V h = x_shr_logical(b, k, x_i64(b, 1)); /* k > 0; (64-bit arithmetic shifts are slow on AVX2) */
  V s1 = x_bitcast(b, x_add(b, x_shl(b, h, sh), one), ARRJIT_F64);
  V s2 = x_bitcast(b, x_add(b, x_shl(b, x_sub(b, k, h), sh), one), ARRJIT_F64);
  return x_mul(b, x_fma(b, t, s1, s1), s2);
}

V aj_expand_exp(aj_expander *b, V x) { return x_dtype(x) == ARRJIT_F32 ? exp_f32(b, x) : exp_f64(b, x); }

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

V aj_expand_tanh(aj_expander *b, V x) { return x_dtype(x) == ARRJIT_F32 ? tanh_f32(b, x) : tanh_f64(b, x); }
