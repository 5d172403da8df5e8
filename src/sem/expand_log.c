/* log: exponent and mantissa apart, a polynomial in the mantissa minus 1. Fits as in expand_exp.c. */
#include "sem/expand_two.h"

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

/* f64: x = 2^e m, m in [sqrt(1/2), sqrt 2), f = m - 1 exact, s = f/(2+f), z = s^2 <= 0.02944:
 * log(1+f) = 2 atanh(s) = f - h + s (h + z R(z)) with h = f^2/2 (the identity 2s = f - s f). */
typedef struct log_parts {
  V e, f, h, w; /* w = s (h + z R(z)) */
} log_parts;

/* e and f; x is normal or 2^52 times too large where `subnormal` (NULL: nowhere). */
static log_parts log_split(aj_expander *b, V x, V subnormal) {
  const long long off = 0x3fe6a09e667f3bcd; /* bits of sqrt(1/2) */
  V bias = x_i64(b, off);
  if (subnormal != NULL) bias = x_select(b, subnormal, x_i64(b, off + (52LL << 52)), bias);
  V t = x_sub(b, x_bitcast(b, x, ARRJIT_I64), bias);
  /* the exponent fits 32 bits: narrowing first lets vector targets without i64->f64 convert cheaply */
  V e = x_convert(b, x_convert(b, x_shr_arith(b, t, x_i64(b, 52)), ARRJIT_I32), ARRJIT_F64);
  V m = x_bitcast(b, x_add(b, x_and(b, t, x_i64(b, 0xfffffffffffff)), x_i64(b, off)), ARRJIT_F64);
  return (log_parts){e, x_sub(b, m, x_f64(b, 1.0)), NULL, NULL};
}
/* h and w of f */
static void log_tail(aj_expander *b, log_parts *p) {
  /* fpminimax of (2 atanh(s)/s - 2)/z on [0, 0.02944]; error of z R: 9e-18 */
  static const double c[] = {0x1.5555555555558p-1, 0x1.99999999952d2p-2, 0x1.2492492df8483p-2, 0x1.c71c62dad4db7p-3,
                             0x1.7462b7ceeab02p-3, 0x1.39fdf94333fdbp-3, 0x1.2b5d203d51af6p-3};
  V s = x_div(b, p->f, x_add(b, p->f, x_f64(b, 2.0)));
  V z = x_mul(b, s, s);
  p->h = x_mul(b, x_mul(b, p->f, p->f), x_f64(b, 0.5));
  p->w = x_mul(b, s, x_fma(b, z, x_poly_f64(b, z, c, 7), p->h));
}
static log_parts log_of(aj_expander *b, V x) {
  V subnormal = x_lt(b, x, x_f64(b, 0x1p-1022));
  log_parts p = log_split(b, x_select(b, subnormal, x_mul(b, x, x_f64(b, 0x1p52)), x), subnormal);
  log_tail(b, &p);
  return p;
}
/* y, but for x that is 0, below it, inf or NaN */
static V log_special(aj_expander *b, V x, V y) {
  V zero = x_f64(b, 0.0), inf = x_f64(b, __builtin_inf());
  y = x_select(b, x_lt(b, x, inf), y, x_add(b, x, x));
  y = x_select(b, x_lt(b, x, zero), x_f64(b, __builtin_nan("")), y);
  return x_select(b, x_eq(b, x, zero), x_f64(b, -__builtin_inf()), y);
}

#define LN2_HI 0x1.62e42fefa39efp-1  /* RN53(ln2) */
#define LN2_LO 0x1.abc9e3b39803fp-56 /* ln2 - RN53(ln2) */

static V log_f64(aj_expander *b, V x) {
  log_parts p = log_of(b, x);
  V w = x_fma(b, p.e, x_f64(b, LN2_LO), p.w);
  V y = x_fma(b, p.e, x_f64(b, LN2_HI), x_add(b, p.f, x_sub(b, w, p.h)));
  return log_special(b, x, y);
}

V aj_expand_log(aj_expander *b, const V *x) { return x_dtype(*x) == ARRJIT_F32 ? log_f32(b, *x) : log_f64(b, *x); }

/* e * step + log(1+f) * scale as a sum of two, the second below a tenth of the first. e * step_hi is exact, and larger
 * than the rest where e is not 0. */
static aj_two log_in_base(aj_expander *b, V x, double step_hi, double step_lo, double scale_hi, double scale_lo) {
  log_parts p = log_of(b, x);
  V half = x_mul(b, p.f, x_f64(b, 0.5)), hi_scale = x_f64(b, scale_hi);
  V hi = x_sub(b, p.f, p.h);
  V lo = x_sub(b, x_sub(b, x_sub(b, p.f, hi), p.h), x_fma(b, p.f, half, x_neg(b, p.h)));
  lo = x_add(b, lo, p.w);
  aj_two y = {hi, lo};
  if (scale_hi != 1) {
    y = x_two_mul(b, hi, hi_scale);
    y.l = x_add(b, y.l, x_fma(b, lo, hi_scale, x_mul(b, hi, x_f64(b, scale_lo))));
  }
  if (step_lo != 0) y.l = x_fma(b, p.e, x_f64(b, step_lo), y.l);
  V whole = step_hi == 1 ? p.e : x_mul(b, p.e, x_f64(b, step_hi));
  aj_two sum = x_fast_two_sum(b, whole, y.h);
  return (aj_two){sum.h, x_add(b, sum.l, y.l)};
}
static V log_rounded(aj_expander *b, V x, aj_two y) { return log_special(b, x, x_add(b, y.h, y.l)); }
V aj_expand_log2(aj_expander *b, const V *x) {
  return log_rounded(b, *x, log_in_base(b, *x, 1, 0, 0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56 /* 1/ln2 */));
}
V aj_expand_log10(aj_expander *b, const V *x) {
  /* log10(2) as 42 bits and the rest */
  return log_rounded(b, *x,
                     log_in_base(b, *x, 0x1.34413509f78p-2, 0x1.fef311f12b358p-46, 0x1.bcb7b1526e50ep-2,
                                 0x1.95355baaafad3p-57 /* 1/ln10 */));
}
aj_two aj_expand_log_parts(aj_expander *b, V x) {
  /* ln 2 as 42 bits and the rest */
  aj_two y = log_in_base(b, x, 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45, 1, 0);
  return x_fast_two_sum(b, y.h, y.l);
}

/* u + c = 1 + x exactly; log(u + c) = log(u) + c/u. Near 0, where e = 0, f is x itself: nothing is lost there. */
V aj_expand_log1p_parts(aj_expander *b, aj_two x, V more) {
  aj_two u = x_two_sum(b, x_f64(b, 1.0), x.h);
  log_parts p = log_split(b, u.h, NULL);
  V near = x_eq(b, p.e, x_f64(b, 0.0));
  V low = x.l == NULL ? x_f64(b, 0.0) : x.l;
  p.f = x_select(b, near, x.h, p.f);
  V c = x_div(b, x_select(b, near, low, x.l == NULL ? u.l : x_add(b, u.l, low)), u.h);
  log_tail(b, &p);
  if (more != NULL) p.e = x_add(b, p.e, more);
  V w = x_add(b, x_fma(b, p.e, x_f64(b, LN2_LO), p.w), c);
  return x_fma(b, p.e, x_f64(b, LN2_HI), x_add(b, p.f, x_sub(b, w, p.h)));
}
V aj_expand_log1p(aj_expander *b, const V *x) {
  V y = aj_expand_log1p_parts(b, (aj_two){*x, NULL}, NULL);
  y = log_special(b, x_add(b, *x, x_f64(b, 1.0)), y);
  return x_select(b, x_eq(b, *x, x_f64(b, 0.0)), *x, y); /* -0 */
}
