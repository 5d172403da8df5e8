/* log: exponent and mantissa apart, a polynomial in the mantissa minus 1. Fits as in expand_exp.c. */
#include "sem/expand.h"

/* x = 2^e m, m in [2/3, 4/3), f = m - 1 exact. log x = e ln2 + f + f^2 q(f).
 * Adding e*ln2 last: for |e| = 1 and opposite signs the sum is exact or nearly, so cancellation costs nothing. */
static V log_f32(aj_expander *b, V x) {
  /* fpminimax of (log(1+f)-f)/f^2 on [-1/3, 1/3]; relative error of f+f^2 q: 1.7e-9 (2^-29.2) */
  static const float c[] = {-0x1p-1f,       0x1.555558p-2f,  -0x1.ffff62p-3f, 0x1.99969ap-3f,  -0x1.5589d6p-3f,
                            0x1.251082p-3f, -0x1.f535ecp-4f, 0x1.b5e712p-4f,  -0x1.03679cp-3f, 0x1.f62036p-4f};
  const int off = 0x3f2aaaab; /* bits of 2/3 */
  V zero = x_f32(b, 0.0f), inf = x_f32(b, __builtin_inff());
  V sub = x_lt(b, x, x_f32(b, 0x1p-126f)); /* subnormal: scale by 2^23, count 23 more off the exponent */
  V xs = x_select(b, sub, x_mul(b, x, x_f32(b, 0x1p23f)), x);
  V t = x_sub(b, x_bitcast(b, xs, ARRJIT_I32), x_select(b, sub, x_i32(b, off + (23 << 23)), x_i32(b, off)));
  V e = x_convert(b, x_shr_arith(b, t, x_i32(b, 23)), ARRJIT_F32);
  V m = x_bitcast(b, x_add(b, x_and(b, t, x_i32(b, 0x7fffff)), x_i32(b, off)), ARRJIT_F32);
  V f = x_sub(b, m, x_f32(b, 1.0f));
  V q = x_poly_f32(b, f, c, 10);
  V w = x_fma(b, x_mul(b, f, f), q, x_mul(b, e, x_f32(b, -0x1.05c61p-29f) /* ln2 - RN24(ln2) */));
  V y = x_fma(b, e, x_f32(b, 0x1.62e43p-1f) /* RN24(ln2) */, x_add(b, f, w));
  y = x_select(b, x_lt(b, x, inf), y, x_add(b, x, x)); /* +inf gives itself, NaN the canonical one */
  y = x_select(b, x_lt(b, x, zero), x_f32(b, __builtin_nanf("")), y);
  return x_select(b, x_eq(b, x, zero), x_f32(b, -__builtin_inff()), y);
}

/* x = 2^e m, m in [sqrt(1/2), sqrt 2), f = m - 1, s = f/(2+f), z = s^2 <= 0.02944:
 * log(1+f) = 2 atanh(s) = f - h + s (h + z R(z)) with h = f^2/2 (the identity 2s = f - s f). */
static V log_f64(aj_expander *b, V x) {
  /* fpminimax of (2 atanh(s)/s - 2)/z on [0, 0.02944]; error of z R: 9e-18 */
  static const double c[] = {0x1.5555555555558p-1, 0x1.99999999952d2p-2, 0x1.2492492df8483p-2, 0x1.c71c62dad4db7p-3,
                             0x1.7462b7ceeab02p-3, 0x1.39fdf94333fdbp-3, 0x1.2b5d203d51af6p-3};
  const long long off = 0x3fe6a09e667f3bcd; /* bits of sqrt(1/2) */
  V zero = x_f64(b, 0.0), inf = x_f64(b, __builtin_inf());
  V sub = x_lt(b, x, x_f64(b, 0x1p-1022));
  V xs = x_select(b, sub, x_mul(b, x, x_f64(b, 0x1p52)), x);
  V t = x_sub(b, x_bitcast(b, xs, ARRJIT_I64), x_select(b, sub, x_i64(b, off + (52LL << 52)), x_i64(b, off)));
  /* the exponent fits 32 bits: narrowing first lets vector targets without i64->f64 convert cheaply */
  V e = x_convert(b, x_convert(b, x_shr_arith(b, t, x_i64(b, 52)), ARRJIT_I32), ARRJIT_F64);
  V m = x_bitcast(b, x_add(b, x_and(b, t, x_i64(b, 0xfffffffffffff)), x_i64(b, off)), ARRJIT_F64);
  V f = x_sub(b, m, x_f64(b, 1.0));
  V s = x_div(b, f, x_add(b, f, x_f64(b, 2.0)));
  V z = x_mul(b, s, s);
  V h = x_mul(b, x_mul(b, f, f), x_f64(b, 0.5));
  V hr = x_fma(b, z, x_poly_f64(b, z, c, 7), h);
  V w = x_fma(b, s, hr, x_mul(b, e, x_f64(b, 0x1.abc9e3b39803fp-56) /* ln2 - RN53(ln2) */));
  V y = x_fma(b, e, x_f64(b, 0x1.62e42fefa39efp-1) /* RN53(ln2) */, x_add(b, f, x_sub(b, w, h)));
  y = x_select(b, x_lt(b, x, inf), y, x_add(b, x, x));
  y = x_select(b, x_lt(b, x, zero), x_f64(b, __builtin_nan("")), y);
  return x_select(b, x_eq(b, x, zero), x_f64(b, -__builtin_inf()), y);
}

V aj_expand_log(aj_expander *b, V x) { return x_dtype(x) == ARRJIT_F32 ? log_f32(b, x) : log_f64(b, x); }
