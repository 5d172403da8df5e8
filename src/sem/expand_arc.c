/* asin, acos, atan, atan2. Fits by sollya's fpminimax, absolute errors; f64 alone. */
#include "sem/expand_two.h"

#define PI_HI 0x1.921fb54442d18p1
#define PI_LO 0x1.1a62633145c07p-53

/* asin(s) - s for s in [0, 0.5], z = s^2 */
static V asin_tail(aj_expander *b, V s, V z) {
  /* (asin(s) - s)/s; error 2^-59.8 */
  static const double c[] = {0x1.5555555555578p-3, 0x1.333333332df3bp-4, 0x1.6db6db72289dap-5, 0x1.f1c71a8cef866p-6,
                             0x1.6e8bdfbb0af7fp-6, 0x1.1c49e16d4636ep-6, 0x1.ca20eab934aa8p-7, 0x1.757aa0d824c1fp-7,
                             0x1.6178650f6897dp-7, 0x1.e27f6641a7caep-9, 0x1.64a4dd069be29p-6, -0x1.596cfbf2afc98p-6,
                             0x1.0bb7b2f0e7b66p-5};
  return x_mul(b, x_mul(b, s, z), x_poly_f64(b, z, c, 13));
}

/* Up to 0.5 s is |x|, beyond it sqrt((1 - |x|)/2) in two words: asin |x| = pi/2 - 2 asin(s). Above 1 it is NaN. */
typedef struct arc {
  V small, s, tail; /* asin(s + its low word) = s + tail */
} arc;
static arc reduce_arc(aj_expander *b, V x) {
  V a = x_abs(b, x), half = x_f64(b, 0.5), zero = x_f64(b, 0.0);
  arc r = {.small = x_le(b, a, half)};
  V half_rest = x_fma(b, a, x_f64(b, -0.5), half); /* exact */
  V z = x_select(b, r.small, x_mul(b, a, a), half_rest);
  V root = x_sqrt(b, half_rest);
  V low = x_div(b, x_fma(b, x_neg(b, root), root, half_rest), x_add(b, root, root));
  low = x_select(b, x_or(b, r.small, x_eq(b, root, zero)), zero, low);
  r.s = x_select(b, r.small, a, root);
  r.tail = x_add(b, asin_tail(b, r.s, z), low);
  return r;
}

V aj_expand_asin(aj_expander *b, const V *x) {
  arc r = reduce_arc(b, *x);
  V minus_two = x_f64(b, -2.0);
  aj_two sum = x_fast_two_sum(b, x_f64(b, PI_HI / 2), x_mul(b, r.s, minus_two));
  V large = x_add(b, sum.h, x_fma(b, r.tail, minus_two, x_add(b, sum.l, x_f64(b, PI_LO / 2))));
  V y = x_copysign(b, x_select(b, r.small, x_add(b, r.s, r.tail), large), *x);
  return x_select(b, x_le(b, x_abs(b, *x), x_f64(b, 1.0)), y, x_f64(b, __builtin_nan("")));
}

/* base + factor (s + tail): pi/2 - asin x; 2 asin(s); pi - 2 asin(s) */
V aj_expand_acos(aj_expander *b, const V *x) {
  arc r = reduce_arc(b, *x);
  V zero = x_f64(b, 0.0), negative = x_lt(b, *x, zero);
  V hi = x_select(b, r.small, x_f64(b, PI_HI / 2), x_select(b, negative, x_f64(b, PI_HI), zero));
  V lo = x_select(b, r.small, x_f64(b, PI_LO / 2), x_select(b, negative, x_f64(b, PI_LO), zero));
  V factor = x_select(b, r.small, x_select(b, negative, x_f64(b, 1.0), x_f64(b, -1.0)),
                      x_select(b, negative, x_f64(b, -2.0), x_f64(b, 2.0)));
  V part = x_mul(b, r.s, factor);
  V h = x_add(b, hi, part);
  V low = x_fma(b, r.tail, factor, x_add(b, x_sub(b, part, x_sub(b, h, hi)), lo));
  V y = x_add(b, h, low);
  return x_select(b, x_le(b, x_abs(b, *x), x_f64(b, 1.0)), y, x_f64(b, __builtin_nan("")));
}

/* atan(a) = base + q + q P(q^2), base the angle of 0, 1/2, 1, 3/2 or inf, q = (a - c)/(1 + a c) or -1/a. Its rounding
 * is small against base; where c is 0 there is none. */
typedef struct angle {
  aj_two base;
  V q, tail;
} angle;
static V atan_tail(aj_expander *b, V q) {
  /* on [0, 0.4376^2]; error 2^-62.3 */
  static const double c[] = {-0x1.5555555555552p-2, 0x1.9999999999018p-3, -0x1.24924924470ep-3,  0x1.c71c71a1d694p-4,
                             -0x1.745d11dbb1babp-4, 0x1.3b1330bcd4733p-4, -0x1.11091713182c4p-4, 0x1.e133a9055344p-5,
                             -0x1.aa00f3acefe95p-5, 0x1.6b30e53ce805ap-5, -0x1.05893e7b22fe3p-5, 0x1.c0f1294d879dfp-7};
  V z = x_mul(b, q, q);
  return x_mul(b, x_mul(b, q, z), x_poly_f64(b, z, c, 12));
}
static angle reduce_angle(aj_expander *b, V a) {
  static const struct {
    double from, c, hi, lo;
  } bases[] = {{7 / 16.0, 0.5, 0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
               {11 / 16.0, 1, PI_HI / 4, PI_LO / 4},
               {19 / 16.0, 1.5, 0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56},
               {39 / 16.0, 0, PI_HI / 2, PI_LO / 2}};
  V one = x_f64(b, 1.0), zero = x_f64(b, 0.0), c = zero, beyond = NULL;
  angle r = {.base = {zero, zero}};
  for (int i = 0; i < 4; i++) {
    beyond = x_ge(b, a, x_f64(b, bases[i].from));
    c = x_select(b, beyond, x_f64(b, bases[i].c), c);
    r.base.h = x_select(b, beyond, x_f64(b, bases[i].hi), r.base.h);
    r.base.l = x_select(b, beyond, x_f64(b, bases[i].lo), r.base.l);
  }
  V over = x_select(b, beyond, x_f64(b, -1.0), x_sub(b, a, c));
  V under = x_select(b, beyond, a, x_fma(b, a, c, one));
  r.q = x_div(b, over, under);
  r.tail = atan_tail(b, r.q);
  return r;
}

V aj_expand_atan(aj_expander *b, const V *x) {
  angle r = reduce_angle(b, x_abs(b, *x));
  V y = x_add(b, r.base.h, x_add(b, r.q, x_add(b, r.tail, r.base.l)));
  return x_select(b, x_eq(b, *x, *x), x_copysign(b, y, *x), x_f64(b, __builtin_nan("")));
}

/* The angle of |y|/|x| in two words: what the quotient's rounding leaves goes in with the small terms. For a negative x
 * it is taken from pi. */
V aj_expand_atan2(aj_expander *b, const V *operands) {
  V y = operands[0], x = operands[1], zero = x_f64(b, 0.0), inf = x_f64(b, __builtin_inf());
  V one = x_f64(b, 1.0), over = x_abs(b, y), under = x_abs(b, x);
  /* 0/0 is as 0/1, inf/inf as 1/1 */
  V both = x_and(b, x_eq(b, over, under), x_or(b, x_eq(b, over, zero), x_eq(b, over, inf)));
  over = x_select(b, x_and(b, both, x_eq(b, over, inf)), one, over);
  under = x_select(b, both, one, under);
  V tiny = x_lt(b, over, x_f64(b, 0x1p-900)), up = x_select(b, tiny, x_f64(b, 0x1p110), one);
  over = x_mul(b, over, up);
  under = x_mul(b, under, up);
  V ratio = x_div(b, over, under);
  V low = x_div(b, x_fma(b, x_neg(b, ratio), under, over), under);
  low = x_select(b, x_lt(b, ratio, x_f64(b, 0x1p60)), low, zero);
  low = x_div(b, low, x_fma(b, ratio, ratio, one)); /* its part of the angle */
  low = x_select(b, x_gt(b, ratio, x_f64(b, 0x1p-900)), low, zero);
  angle r = reduce_angle(b, ratio);
  V back = x_lt(b, x_copysign(b, one, x), zero), pi = x_f64(b, PI_HI);
  V h = x_sub(b, pi, r.base.h); /* pi - base, in two words */
  V l = x_add(b, x_sub(b, x_sub(b, pi, h), r.base.h), x_sub(b, x_f64(b, PI_LO), r.base.l));
  V sign = x_select(b, back, x_f64(b, -1.0), one);
  aj_two base = {x_select(b, back, h, r.base.h), x_select(b, back, l, r.base.l)};
  V q = x_mul(b, r.q, sign);
  V sum = x_add(b, base.h, q);
  V rest = x_add(b, x_sub(b, q, x_sub(b, sum, base.h)), base.l);
  V sized = x_add(b, sum, x_fma(b, x_add(b, r.tail, low), sign, rest));
  V known = x_and(b, x_eq(b, x, x), x_eq(b, y, y));
  return x_select(b, known, x_copysign(b, sized, y), x_f64(b, __builtin_nan("")));
}
