/* pow: 2^(y log2|x|), the logarithm and the product in two words: an error of the exponent is one of the result, up to
 * 1075 times larger. Special values as C17 F.10.4.4. f64 alone. */
#include "sem/expand_two.h"

/* x = 2^e m, m in [sqrt(1/2), sqrt 2), s = (m - 1)/(m + 1), z = s^2 <= 0.02944:
 * log2(m) = s (C0 + z (C1 + z (C2 + z R(z)))), C_i = 2/((2 i + 1) ln 2). All in two words but R, which is 2^-18 of it.
 */
aj_two aj_expand_log2_parts(aj_expander *b, V x) {
  /* fpminimax on [0, 0.02944], absolute error of z^3 R 2^-71.3 */
  static const double r[] = {0x1.a61762a7ae381p-2, 0x1.484b13d7340d7p-2, 0x1.0c9a85022fe41p-2, 0x1.c68f045220792p-3,
                             0x1.8a0610cbd0973p-3, 0x1.5940590a33ea9p-3, 0x1.5fec0441f1bacp-3};
  static const double c[][2] = {{0x1.71547652b82fep1, 0x1.777d0ffda0d24p-55},
                                {0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55},
                                {0x1.2776c50ef9bfep-1, 0x1.e4b29ccc535d4p-55}};
  const long long off = 0x3fe6a09e667f3bcd; /* bits of sqrt(1/2) */
  V one = x_f64(b, 1.0), subnormal = x_lt(b, x, x_f64(b, 0x1p-1022));
  V normal = x_select(b, subnormal, x_mul(b, x, x_f64(b, 0x1p52)), x);
  V t = x_sub(b, x_bitcast(b, normal, ARRJIT_I64), x_i64(b, off));
  V e = x_convert(b, x_convert(b, x_shr_arith(b, t, x_i64(b, 52)), ARRJIT_I32), ARRJIT_F64);
  e = x_sub(b, e, x_select(b, subnormal, x_f64(b, 52.0), x_f64(b, 0.0)));
  V m = x_bitcast(b, x_add(b, x_and(b, t, x_i64(b, 0xfffffffffffff)), x_i64(b, off)), ARRJIT_F64);
  aj_two s = x_two_div(b, (aj_two){x_sub(b, m, one), NULL}, x_two_sum(b, m, one));
  s = x_fast_two_sum(b, s.h, s.l);
  aj_two z = x_two_mul(b, s.h, s.h);
  z.l = x_fma(b, x_add(b, s.h, s.h), s.l, z.l);
  aj_two p = {x_mul(b, z.h, x_poly_f64(b, z.h, r, 7)), x_f64(b, 0.0)};
  for (int i = 2; i >= 0; i--) {
    V low = p.l;
    p = x_fast_two_sum(b, x_f64(b, c[i][0]), p.h);
    p.l = x_add(b, p.l, x_add(b, low, x_f64(b, c[i][1])));
    p = x_two_product(b, p, i > 0 ? z : s);
  }
  aj_two sum = x_fast_two_sum(b, e, p.h);
  sum = x_fast_two_sum(b, sum.h, x_add(b, sum.l, p.l));
  V usual = x_and(b, x_gt(b, x, x_f64(b, 0.0)), x_lt(b, x, x_f64(b, __builtin_inf())));
  V other = x_select(b, x_eq(b, x, x_f64(b, 0.0)), x_f64(b, -__builtin_inf()), x);
  return (aj_two){x_select(b, usual, sum.h, other), x_select(b, usual, sum.l, x_f64(b, 0.0))};
}

aj_two aj_expand_exp2_parts(aj_expander *b, aj_two p, V *k) {
  V ln2 = x_f64(b, 0x1.62e42fefa39efp-1), limit = x_f64(b, 2000.0), one = x_f64(b, 1.0);
  p.l = x_select(b, x_lt(b, x_abs(b, p.h), limit), p.l, x_f64(b, 0.0));
  p.h = x_within(b, p.h, -2000.0, 2000.0);
  V kf = x_add(b, p.h, x_f64(b, ROUNDER_F64));
  V d = x_sub(b, p.h, x_sub(b, kf, x_f64(b, ROUNDER_F64))); /* exact */
  aj_two r = x_two_mul(b, d, ln2);
  r.l = x_fma(b, p.l, ln2, x_fma(b, d, x_f64(b, 0x1.abc9e3b39803fp-56), r.l));
  aj_two t = aj_expand_expm1_near(b, r), y = x_fast_two_sum(b, one, t.h);
  *k = x_bitcast(b, kf, ARRJIT_I64);
  return (aj_two){y.h, x_add(b, y.l, t.l)};
}
/* 2^(p.h + p.l), rounded once but where it is subnormal */
static V exp2_of_two(aj_expander *b, aj_two p) {
  V k;
  aj_two y = aj_expand_exp2_parts(b, p, &k), s = aj_expand_scale(b, k);
  return x_mul(b, x_mul(b, x_add(b, y.h, y.l), s.h), s.l);
}

/* a^y for a >= 0 */
static V pow_wide(aj_expander *b, V a, V y) {
  aj_two log = aj_expand_log2_parts(b, a), p = x_two_mul(b, y, log.h);
  p.l = x_fma(b, y, log.l, p.l);
  return exp2_of_two(b, p);
}
static V pow_narrow(aj_expander *b, V a, V y) {
  V p = x_mul(b, y, aj_expand_log2(b, &a));
  return aj_expand_exp2(b, &p);
}

V aj_expand_pow(aj_expander *b, const V *operands) {
  V x = operands[0], y = operands[1], zero = x_f64(b, 0.0), one = x_f64(b, 1.0), half = x_mul(b, y, x_f64(b, 0.5));
  V a = x_abs(b, x), r = b->narrow ? pow_narrow(b, a, y) : pow_wide(b, a, y);
  V whole = x_eq(b, x_round_even(b, y), y), even = x_eq(b, x_round_even(b, half), half);
  V negative = x_lt(b, x_copysign(b, one, x), zero);
  V flips = x_and(b, negative, x_and(b, whole, x_not(b, even)));
  r = x_mul(b, r, x_select(b, flips, x_f64(b, -1.0), one));
  /* a negative number to a power that is no integer; -inf and -0 have one */
  V finite = x_and(b, x_lt(b, x, zero), x_lt(b, a, x_f64(b, __builtin_inf())));
  r = x_select(b, x_and(b, finite, x_not(b, whole)), x_f64(b, __builtin_nan("")), r);
  V unit = x_and(b, x_eq(b, a, one), x_eq(b, x_abs(b, y), x_f64(b, __builtin_inf())));
  unit = x_or(b, unit, x_or(b, x_eq(b, x, one), x_eq(b, y, zero)));
  return x_select(b, unit, one, r);
}
