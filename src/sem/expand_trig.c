/* sin and cos: x reduced to r in [-pi/4, pi/4] and a quadrant, a polynomial of r. Fits as in expand_exp.c. */
#include "sem/expand_two.h"

/* x = n pi/2 + r - nlo: r float with |r| <= about pi/4, nlo the *negated* rest (small against r), i an integer
 * whose two low bits are n mod 4 (i32 for f32, i64 for f64). nlo is kept negated because it makes sin(-0) = -0:
 * for x = -0: r = -0, nlo = +0, and sin = r - (.. + nlo) = -0 - +0 = -0. */
typedef struct reduced {
  V r, nlo, i;
} reduced;

/* Beyond these |x| (and for inf, NaN) the slow reductions are used. */
#define TRIG_FAST_F32 0x1p17f
#define TRIG_FAST_F64 0x1p40

/* Fast reduction, 3-part pi/2. r1 = x - n p1 is exact (a multiple of 2^-23 [2^-52], of x's own ulp if |x| < 1;
 * below 1 in magnitude).
 * c = RN(n p2), r = RN(r1 - c); r1 - r is exact (fast-two-sum, or r1 on a grid coarser than c's), so
 * nlo = n p2 - (r1 - r) + n p3 is right to a rounding of nlo itself. Left out: n * (pi/2 - p1 - p2 - p3), below
 * 2^-58 for f32 with |x| < 2^17, 2^-121 for f64 with |x| < 2^40; the least |r| there is about 2^-28, 2^-62. */
static reduced trig_fast_f32(aj_expander *b, V x) {
  V kf = x_fma(b, x, x_f32(b, 0x1.45f306p-1f) /* 2/pi */, x_f32(b, ROUNDER_F32));
  V n = x_sub(b, kf, x_f32(b, ROUNDER_F32));
  V p2 = x_f32(b, 0x1.4442d2p-24f), p3 = x_f32(b, -0x1.ee59dap-50f);
  V r1 = x_fma(b, n, x_f32(b, -0x1.921fb4p0f) /* -p1 */, x);
  V r = x_sub(b, r1, x_mul(b, n, p2));
  V nlo = x_fma(b, n, p3, x_fma(b, n, p2, x_sub(b, r, r1)));
  return (reduced){r, nlo, x_bitcast(b, kf, ARRJIT_I32)};
}
static reduced trig_fast_f64(aj_expander *b, V x) {
  V kf = x_fma(b, x, x_f64(b, 0x1.45f306dc9c883p-1) /* 2/pi */, x_f64(b, ROUNDER_F64));
  V n = x_sub(b, kf, x_f64(b, ROUNDER_F64));
  V p2 = x_f64(b, 0x1.1a62633145c07p-54), p3 = x_f64(b, -0x1.f1976b7ed8fbcp-110);
  V r1 = x_fma(b, n, x_f64(b, -0x1.921fb54442d18p0) /* -p1 */, x);
  V r = x_sub(b, r1, x_mul(b, n, p2));
  V nlo = x_fma(b, n, p3, x_fma(b, n, p2, x_sub(b, r, r1)));
  return (reduced){r, nlo, x_bitcast(b, kf, ARRJIT_I64)};
}

/* Slow reduction f32 (|x| >= 2^17), in f64: 2/pi cut in 28-bit pieces q0, q1, ...; x*q exact (24 + 28 bits).
 * x = 2^E..: pieces q_j with j <= (E-53)/28 give multiples of 4 and are skipped, the next four are taken:
 * what follows them is below 2^-59 quadrants, and no f32 is nearer than about 2^-31 quadrants to a multiple. */
static reduced trig_slow_f32(aj_expander *b, V xf) {
  /* bits 28j+1 .. 28j+28 of 2/pi */
  static const double q[7] = {0x1.45f306c000000p-1,  0x1.c9c882a000000p-29,  0x1.4fe13a8000000p-59,
                              0x1.f47d4d0000000p-86, 0x1.bb81b6c000000p-113, 0x1.4acc9e0000000p-143,
                              0x1.0e4107c000000p-170};
  V x = x_convert(b, xf, ARRJIT_F64);
  V a = x_abs(b, xf);
  /* j0 = 2*two + one pieces skipped */
  V two = x_ge(b, a, x_f32(b, 0x1p81f));
  V one = x_or(b, x_ge(b, a, x_f32(b, 0x1p109f)), x_and(b, x_ge(b, a, x_f32(b, 0x1p53f)), x_not(b, two)));
  V s[5], p[4];
  for (int i = 0; i < 5; i++) s[i] = x_select(b, two, x_f64(b, q[i + 2]), x_f64(b, q[i]));
  for (int i = 0; i < 4; i++) p[i] = x_mul(b, x, x_select(b, one, s[i + 1], s[i]));
  /* p0 mod 4 (exact), then n = round(p0 + p1 + p2), |p2| < 1/8; the rest is exact up to relative roundings of the parts
   */
  V m4 = x_round_even(b, x_mul(b, p[0], x_f64(b, 0.25)));
  V f0 = x_fma(b, m4, x_f64(b, -4.0), p[0]);
  V n = x_round_even(b, x_add(b, x_add(b, f0, p[1]), p[2]));
  V f = x_add(b, x_add(b, x_add(b, x_sub(b, f0, n), p[1]), p[2]), p[3]);
  V r = x_mul(b, f, x_f64(b, 0x1.921fb54442d18p0) /* pi/2 */);
  V rh = x_convert(b, r, ARRJIT_F32);
  V nlo = x_convert(b, x_sub(b, x_convert(b, rh, ARRJIT_F64), r), ARRJIT_F32);
  return (reduced){rh, nlo, x_convert(b, n, ARRJIT_I32)};
}

/* high 64 bits of m*w for m < 2^53, from 32-bit halves */
static V multiply_high(aj_expander *b, V mh, V ml, V w, int exact) {
  V s32 = x_u64(b, 32), low = x_u64(b, 0xffffffffu);
  V wh = x_shr_logical(b, w, s32), wl = x_and(b, w, low);
  V hh = x_mul(b, mh, wh), hl = x_mul(b, mh, wl), lh = x_mul(b, ml, wh);
  if (!exact) /* up to 2 too low */
    return x_add(b, hh, x_add(b, x_shr_logical(b, hl, s32), x_shr_logical(b, lh, s32)));
  V mid = x_add(b, hl, x_shr_logical(b, x_mul(b, ml, wl), s32)); /* < 2^54 */
  V low_mid = x_add(b, lh, x_and(b, mid, low));                  /* < 2^64 */
  return x_add(b, hh, x_add(b, x_shr_logical(b, mid, s32), x_shr_logical(b, low_mid, s32)));
}

/* Slow reduction f64 (|x| >= 2^40): Payne-Hanek on 64-bit words. |x| = m 2^(E-52), E >= 40. Take 192 bits
 * w0 w1 w2 of 2/pi from the bit of weight 2^(54-E)... on (earlier ones give multiples of 4 times m's lsb): m*w mod
 * 2^192 is x*2/pi mod 4 in units of 2^-190. Its top 128 bits are computed (error < 2^-123 quadrants; the least distance
 * of an f64 from a multiple of pi/2 is about 2^-62). The words come from a select tree (no table in memory). */
static reduced trig_slow_f64(aj_expander *b, V x) {
  /* 2/pi * 2^-14 as a binary fraction, 64 bits a word; word offset 0 belongs to E = 40 */
  static const unsigned long long tw[19] = {
      0x00028be60db93910u, 0x54a7f09d5f47d4d3u, 0x77036d8a5664f10eu, 0x4107f9458eaf7aefu, 0x1586dc91b8e90937u,
      0x4b801924bba82746u, 0x4873f877ac72c4a6u, 0x9cfba208d7d4baedu, 0x1213a671c09ad17du, 0xf904e64758e60d4cu,
      0xe7d272117e2ef7e4u, 0xa0ec7fe25fff7816u, 0x603fbcbc462d6829u, 0xb47db4d9fb3c9f2cu, 0x26dd3d18fd9a797fu,
      0xa8b5d49eeb1faf97u, 0xc5ecf41ce7de294au, 0x4ba9afed7ec47e35u, 0x7421580cc11bf1edu};
  V zero = x_u64(b, 0);
  V bits = x_bitcast(b, x, ARRJIT_U64);
  V e = x_and(b, x_shr_logical(b, bits, x_u64(b, 52)), x_u64(b, 0x7ff));
  V o = x_sub(b, e, x_u64(b, 1023 + 40)); /* bit offset, 0..983 (anything for lanes not used) */
  V m = x_or(b, x_and(b, bits, x_u64(b, 0xfffffffffffff)), x_u64(b, 0x10000000000000));

  /* words (o>>6) .. (o>>6)+3, by steps of 8, 4, 2, 1 words */
  V w[19];
  for (int i = 0; i < 19; i++) w[i] = x_u64(b, tw[i]);
  for (int step = 8, count = 11; step; step >>= 1, count -= step) {
    V up = x_ne(b, x_and(b, o, x_u64(b, (unsigned long long)step * 64)), zero);
    for (int i = 0; i < count; i++) w[i] = x_select(b, up, w[i + step], w[i]);
  }
  /* shift left by o & 63; the word from below comes in two steps as a shift by 64 is not defined */
  V sh = x_and(b, o, x_u64(b, 63)), back = x_sub(b, x_u64(b, 63), sh), s1 = x_u64(b, 1);
  for (int i = 0; i < 3; i++)
    w[i] = x_or(b, x_shl(b, w[i], sh), x_shr_logical(b, x_shr_logical(b, w[i + 1], s1), back));

  V mh = x_shr_logical(b, m, x_u64(b, 32)), ml = x_and(b, m, x_u64(b, 0xffffffffu));
  V lo1 = x_mul(b, m, w[1]);
  V p1 = x_add(b, lo1, multiply_high(b, mh, ml, w[2], 0));
  V carry = x_select(b, x_lt(b, p1, lo1), s1, zero);
  V p2 = x_add(b, x_add(b, x_mul(b, m, w[0]), multiply_high(b, mh, ml, w[1], 1)), carry);

  /* quadrant: top two bits, rounded; fraction in [-1/2, 1/2): the bits below, as two's complement F*2^-64 + G*2^-128 */
  V n = x_shr_logical(b, x_add(b, p2, x_u64(b, 1ull << 61)), x_u64(b, 62));
  V two = x_u64(b, 2);
  V F = x_bitcast(b, x_or(b, x_shl(b, p2, two), x_shr_logical(b, p1, x_u64(b, 62))), ARRJIT_I64);
  V G = x_shl(b, p1, two);
  V fa = x_mul(b, x_convert(b, x_shr_arith(b, F, x_i64(b, 32)), ARRJIT_F64), x_f64(b, 0x1p-32));
  V fb = x_mul(b, x_convert(b, x_and(b, F, x_i64(b, 0xffffffff)), ARRJIT_F64), x_f64(b, 0x1p-64));
  V fc = x_mul(b, x_convert(b, G, ARRJIT_F64), x_f64(b, 0x1p-128));
  V h = x_add(b, fa, fb);
  V l = x_add(b, x_add(b, x_sub(b, fa, h), fb), fc); /* fast-two-sum: |fa| >= fb or fa = 0 */
  V fh = x_add(b, h, l), fl = x_add(b, x_sub(b, h, fh), l);
  /* (fh + fl) * pi/2 in double-double; 0*x makes inf and NaN a NaN */
  V ph = x_f64(b, 0x1.921fb54442d18p0);
  V r = x_mul(b, fh, ph);
  V lo = x_fma(b, fl, ph, x_fma(b, fh, x_f64(b, 0x1.1a62633145c07p-54), x_fma(b, fh, ph, x_neg(b, r))));
  /* that was |x|: flip for negative x */
  V neg = x_shr_arith(b, x_bitcast(b, x, ARRJIT_I64), x_i64(b, 63)); /* 0 or -1 */
  V i = x_sub(b, x_xor(b, x_bitcast(b, n, ARRJIT_I64), neg), neg);
  V sgn = x_copysign(b, x_f64(b, 1.0), x);
  r = x_fma(b, x, x_f64(b, 0.0), x_mul(b, r, sgn));
  return (reduced){r, x_neg(b, x_mul(b, lo, sgn)), i};
}

/* The two reductions, one picked per lane. Where no lane of a block needs the slow one (the predicate is `fast`) it is
 * jumped over: it changes no bit. */
static reduced pick(aj_expander *b, V fast, reduced f, reduced s) {
  b->slow[0] = s.i, b->slow[1] = s.r, b->slow[2] = s.nlo;
  return (reduced){x_select(b, fast, f.r, s.r), x_select(b, fast, f.nlo, s.nlo), x_select(b, fast, f.i, s.i)};
}
static reduced trig_reduce_f32(aj_expander *b, V x) {
  V fast = x_lt(b, x_abs(b, x), x_f32(b, TRIG_FAST_F32));
  return pick(b, fast, trig_fast_f32(b, x), trig_slow_f32(b, x));
}
static reduced trig_reduce_f64(aj_expander *b, V x) {
  V fast = x_lt(b, x_abs(b, x), x_f64(b, TRIG_FAST_F64));
  return pick(b, fast, trig_fast_f64(b, x), trig_slow_f64(b, x));
}

/* sin(r - nlo) = r - (nlo + r^3 S(z)), S with the sign turned;
 * cos(r - nlo) = w + (((1 - w) - z/2) + z^2 C(z) + r nlo), w = RN(1 - z/2): the rounding of w is put back.
 * f64 weighs nlo in sin by cos r ~ w (takes 0.15 ulp off the worst case; f32 is measured over all inputs and goes
 * without). */
static V trig_core_f32(aj_expander *b, reduced a, int is_cos) {
  /* fpminimax on [0, 0.789]; relative errors: sin 4.2e-9 (2^-27.8), cos 1.3e-10 */
  static const float sc[] = {0x1.555544p-3f, -0x1.1106dap-7f, 0x1.99267ap-13f};
  static const float cc[] = {0x1.55554ap-5f, -0x1.6c0c22p-10f, 0x1.99e512p-16f};
  V one = x_f32(b, 1.0f), mhalf = x_f32(b, -0.5f);
  V z = x_mul(b, a.r, a.r);
  V s = x_sub(b, a.r, x_fma(b, x_mul(b, a.r, z), x_poly_f32(b, z, sc, 3), a.nlo));
  V w = x_fma(b, z, mhalf, one);
  V e = x_fma(b, z, mhalf, x_sub(b, one, w));
  V c = x_add(b, w, x_fma(b, x_mul(b, z, z), x_poly_f32(b, z, cc, 3), x_fma(b, a.r, a.nlo, e)));
  V i = is_cos ? x_add(b, a.i, x_i32(b, 1)) : a.i;
  V odd = x_ne(b, x_and(b, i, x_i32(b, 1)), x_i32(b, 0));
  V y = x_bitcast(b, x_select(b, odd, c, s), ARRJIT_I32);
  V sign = x_shl(b, x_and(b, i, x_i32(b, 2)), x_i32(b, 30));
  return x_bitcast(b, x_xor(b, y, sign), ARRJIT_F32);
}
/* fpminimax on [0, 0.7855]; relative errors: sin 3.8e-18, cos 5.7e-20 */
static const double sin_f64_c[] = {0x1.5555555555548p-3,   -0x1.111111110f75dp-7, 0x1.a01a019bf222ep-13,
                                   -0x1.71de355f05599p-19, 0x1.ae5e5471f55p-26,   -0x1.5d8e3511cda67p-33};
static const double cos_f64_c[] = {0x1.555555555554bp-5,   -0x1.6c16c16c15016p-10, 0x1.a01a019c8f3eep-16,
                                   -0x1.27e4f7f19d4b2p-22, 0x1.1ee9dbd0d86a6p-29,  -0x1.8fa681e385241p-37};
/* Both in two words, not yet added. */
static void trig_parts_f64(aj_expander *b, reduced a, aj_two *s, aj_two *c) {
  V one = x_f64(b, 1.0), mhalf = x_f64(b, -0.5);
  V z = x_mul(b, a.r, a.r);
  V w = x_fma(b, z, mhalf, one);
  *s = (aj_two){a.r, x_fma(b, x_mul(b, a.r, z), x_poly_f64(b, z, sin_f64_c, 6), x_mul(b, a.nlo, w))};
  V e = x_fma(b, z, mhalf, x_sub(b, one, w));
  *c = (aj_two){w, x_fma(b, x_mul(b, z, z), x_poly_f64(b, z, cos_f64_c, 6), x_fma(b, a.r, a.nlo, e))};
}
static V trig_core_f64(aj_expander *b, reduced a, int is_cos) {
  aj_two sp, cp;
  trig_parts_f64(b, a, &sp, &cp);
  V s = x_sub(b, sp.h, sp.l), c = x_add(b, cp.h, cp.l);
  V i = is_cos ? x_add(b, a.i, x_i64(b, 1)) : a.i;
  V odd = x_ne(b, x_and(b, i, x_i64(b, 1)), x_i64(b, 0));
  V y = x_bitcast(b, x_select(b, odd, c, s), ARRJIT_I64);
  V sign = x_shl(b, x_and(b, i, x_i64(b, 2)), x_i64(b, 62));
  return x_bitcast(b, x_xor(b, y, sign), ARRJIT_F64);
}
/* y where x is finite, else NaN: the sign of the quadrant must not reach it. */
static V trig_finite_f32(aj_expander *b, V x, V y) {
  V finite = x_lt(b, x_abs(b, x), x_f32(b, __builtin_inff()));
  return x_select(b, finite, y, x_f32(b, __builtin_nanf("")));
}
static V trig_finite_f64(aj_expander *b, V x, V y) {
  V finite = x_lt(b, x_abs(b, x), x_f64(b, __builtin_inf()));
  return x_select(b, finite, y, x_f64(b, __builtin_nan("")));
}
static V sin_f32(aj_expander *b, V x) { return trig_finite_f32(b, x, trig_core_f32(b, trig_reduce_f32(b, x), 0)); }
static V cos_f32(aj_expander *b, V x) { return trig_finite_f32(b, x, trig_core_f32(b, trig_reduce_f32(b, x), 1)); }
static V sin_f64(aj_expander *b, V x) { return trig_finite_f64(b, x, trig_core_f64(b, trig_reduce_f64(b, x), 0)); }
static V cos_f64(aj_expander *b, V x) { return trig_finite_f64(b, x, trig_core_f64(b, trig_reduce_f64(b, x), 1)); }

V aj_expand_sin(aj_expander *b, const V *x) { return x_dtype(*x) == ARRJIT_F32 ? sin_f32(b, *x) : sin_f64(b, *x); }
V aj_expand_cos(aj_expander *b, const V *x) { return x_dtype(*x) == ARRJIT_F32 ? cos_f32(b, *x) : cos_f64(b, *x); }

/* sin/cos, or -cos/sin in odd quadrants, of two words each. (The rounding of z counts here: it goes into cos.) */
V aj_expand_tan(aj_expander *b, const V *x) {
  reduced a = trig_reduce_f64(b, *x);
  aj_two s, c;
  trig_parts_f64(b, a, &s, &c);
  V z = x_mul(b, a.r, a.r);
  c.l = x_fma(b, x_fma(b, a.r, a.r, x_neg(b, z)), x_f64(b, -0.5), c.l);
  s = x_fast_two_sum(b, s.h, x_neg(b, s.l));
  c = x_fast_two_sum(b, c.h, c.l);
  V odd = x_ne(b, x_and(b, a.i, x_i64(b, 1)), x_i64(b, 0));
  aj_two over = {x_select(b, odd, x_neg(b, c.h), s.h), x_select(b, odd, x_neg(b, c.l), s.l)};
  aj_two under = {x_select(b, odd, s.h, c.h), x_select(b, odd, s.l, c.l)};
  aj_two q = x_two_div(b, over, under);
  V y = trig_finite_f64(b, *x, x_add(b, q.h, q.l));
  return x_select(b, x_eq(b, *x, x_f64(b, 0.0)), *x, y); /* -0 */
}
