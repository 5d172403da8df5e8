/* Functions of complex numbers, on parts of f64. Each is made of real functions so that nothing cancels on the way, or
 * only what is small beside the other part: functions.md has what errors were measured. x = a + bi. */
#include "sem/complex.h"

#include "sem/expand_two.h"

#define LN2 0x1.62e42fefa39efp-1

/* s h, where a zero s is 0 times any h, infinite too, with the sign that products have. */
static V times(aj_expander *b, V s, V h) {
  V sign = x_copysign(b, x_f64(b, 1.0), h);
  return x_mul(b, s, x_select(b, x_eq(b, s, x_f64(b, 0.0)), sign, h));
}
static V square(aj_expander *b, V x) { return x_mul(b, x, x); }
static V larger(aj_expander *b, V x, V y) { return x_max(b, x_abs(b, x), x_abs(b, y)); }
static V is_infinite(aj_expander *b, V x) { return x_eq(b, x_abs(b, x), x_f64(b, __builtin_inf())); }

/* ---- exp and its kin ---- */

/* e^a (cos b + i sin b). Near where e^a overflows it is taken in two halves, so that parts which fit are right. */
aj_parts aj_complex_exp(aj_expander *b, const aj_parts *x) {
  V huge = x_gt(b, x->re, x_f64(b, 709.0));
  V e = x_exp(b, x_select(b, huge, x_mul(b, x->re, x_f64(b, 0.5)), x->re));
  V again = x_select(b, huge, e, x_f64(b, 1.0));
  V re = x_mul(b, x_mul(b, e, x_cos(b, x->im)), again), im = x_mul(b, x_mul(b, e, x_sin(b, x->im)), again);
  return (aj_parts){re, x_select(b, x_eq(b, x->im, x_f64(b, 0.0)), x->im, im)};
}

/* (expm1(a) cos b - 2 sin^2(b/2), e^a sin b) */
aj_parts aj_complex_expm1(aj_expander *b, const aj_parts *x) {
  V zero = x_f64(b, 0.0), half = x_sin(b, x_mul(b, x->im, x_f64(b, 0.5)));
  V e = x_expm1(b, x->re), far = x_gt(b, x_abs(b, x->re), x_f64(b, 700.0));
  aj_parts power = aj_complex_exp(b, x);
  V re = x_sub(b, x_mul(b, e, x_cos(b, x->im)), x_mul(b, x_f64(b, 2.0), square(b, half)));
  re = x_select(b, far, x_sub(b, power.re, x_f64(b, 1.0)), re);
  return (aj_parts){x_select(b, x_eq(b, x->im, zero), e, re), power.im};
}

/* 1 / (1 + e^-x): with E = e^-|a| the denominator |1 + e^-x|^2 is (1 - E)^2 + 4 E cos^2(b/2), a sum of squares. */
aj_parts aj_complex_logistic(aj_expander *b, const aj_parts *x) {
  V two = x_f64(b, 2.0), minus = x_neg(b, x_abs(b, x->re)), e = x_exp(b, minus), less = x_neg(b, x_expm1(b, minus));
  V near = x_mul(b, two, square(b, x_cos(b, x_mul(b, x->im, x_f64(b, 0.5))))); /* 1 + cos b */
  V under = x_add(b, square(b, less), x_mul(b, x_mul(b, two, e), near));
  V up = x_add(b, less, x_mul(b, e, near)), down = x_mul(b, e, x_sub(b, near, less));
  V re = x_div(b, x_select(b, x_ge(b, x->re, x_f64(b, 0.0)), up, down), under);
  return (aj_parts){re, x_div(b, x_mul(b, e, x_sin(b, x->im)), under)};
}

/* ---- logarithms ---- */

/* A >= B are the parts' magnitudes. Near the unit circle log1p(A^2 + B^2 - 1) / 2, the argument in two words: what is
 * left of it is exact. Elsewhere the log of a hypot of scaled parts. */
V aj_complex_log_abs(aj_expander *b, V re, V im) {
  V p = x_abs(b, re), q = x_abs(b, im), larger_part = x_max(b, p, q), smaller = x_min(b, p, q);
  V one = x_f64(b, 1.0), half = x_f64(b, 0.5), zero = x_f64(b, 0.0);
  aj_two first = x_two_mul(b, larger_part, larger_part), second = x_two_mul(b, smaller, smaller);
  aj_two sum = x_two_sum(b, x_sub(b, first.h, one), second.h);
  V over = x_add(b, sum.h, x_add(b, sum.l, x_add(b, first.l, second.l)));
  V is_near = x_and(b, x_gt(b, over, x_f64(b, -0.75)), x_lt(b, over, x_f64(b, 3.0)));
  V tiny = x_lt(b, larger_part, x_f64(b, 0x1p-900)), huge = x_gt(b, larger_part, x_f64(b, 0x1p900));
  V scale = x_select(b, tiny, x_f64(b, 0x1p600), x_select(b, huge, x_f64(b, 0x1p-600), one));
  V shift = x_select(b, tiny, x_f64(b, -600 * LN2), x_select(b, huge, x_f64(b, 600 * LN2), zero));
  V far = x_add(b, x_log(b, x_hypot(b, x_mul(b, p, scale), x_mul(b, q, scale))), shift);
  return x_select(b, is_near, x_mul(b, half, x_log1p(b, over)), far);
}

aj_parts aj_complex_log(aj_expander *b, const aj_parts *x) {
  V re = aj_complex_log_abs(b, x->re, x->im);
  return (aj_parts){re, x_atan2(b, x->im, x->re)};
}

/* |1 + x|^2 - 1 = a (2 + a) + b^2 */
aj_parts aj_complex_log1p(aj_expander *b, const aj_parts *x) {
  V up = x_add(b, x->re, x_f64(b, 1.0));
  aj_two first = x_two_mul(b, x->re, x->re), second = x_two_mul(b, x->im, x->im);
  aj_two sum = x_two_sum(b, first.h, second.h), all = x_two_sum(b, x_mul(b, x->re, x_f64(b, 2.0)), sum.h);
  V over = x_add(b, all.h, x_add(b, all.l, x_add(b, sum.l, x_add(b, first.l, second.l))));
  V is_near = x_and(b, x_gt(b, over, x_f64(b, -0.75)), x_lt(b, over, x_f64(b, 3.0)));
  V re = x_select(b, is_near, x_mul(b, x_f64(b, 0.5), x_log1p(b, over)), aj_complex_log_abs(b, up, x->im));
  return (aj_parts){re, x_atan2(b, x->im, up)};
}

/* ---- roots and powers ---- */

/* A square root and |x|, both of an x scaled by an even power of two: root is 2^k of the true one, whose inverse power
 * is `back`. */
typedef struct root {
  aj_parts root;
  V size, back;
} root;

/* t = sqrt((|x| + |a|) / 2) is one part, |b| / 2t the other. */
static root make_root(aj_expander *b, const aj_parts *x) {
  V largest = larger(b, x->re, x->im), zero = x_f64(b, 0.0), half = x_f64(b, 0.5), one = x_f64(b, 1.0);
  V tiny = x_lt(b, largest, x_f64(b, 0x1p-800)), huge = x_gt(b, largest, x_f64(b, 0x1p800));
  V scale = x_select(b, tiny, x_f64(b, 0x1p400), x_select(b, huge, x_f64(b, 0x1p-400), one));
  V re = x_mul(b, x->re, scale), im = x_mul(b, x->im, scale), size = x_hypot(b, re, im);
  V t = x_sqrt(b, x_mul(b, x_add(b, size, x_abs(b, re)), half));
  V other = x_select(b, x_eq(b, t, zero), zero, x_div(b, x_abs(b, im), x_add(b, t, t)));
  V wide = is_infinite(b, im), left = x_lt(b, re, zero);
  V real = x_select(b, wide, size, x_select(b, left, other, t));
  V imaginary = x_select(b, wide, size, x_select(b, left, t, other));
  imaginary = x_select(b, x_eq(b, im, im), x_copysign(b, imaginary, im), im);
  V back = x_select(b, tiny, x_f64(b, 0x1p-200), x_select(b, huge, x_f64(b, 0x1p200), one));
  return (root){{real, imaginary}, size, back};
}

aj_parts aj_complex_sqrt(aj_expander *b, const aj_parts *x) {
  root r = make_root(b, x);
  return (aj_parts){x_mul(b, r.root.re, r.back), x_mul(b, r.root.im, r.back)};
}

/* conj(sqrt(x)) / |x| */
aj_parts aj_complex_rsqrt(aj_expander *b, const aj_parts *x) {
  root r = make_root(b, x);
  V forth = x_div(b, x_f64(b, 1.0), r.back), zero = x_f64(b, 0.0);
  V re = x_div(b, r.root.re, r.size), im = x_div(b, x_neg(b, r.root.im), r.size);
  re = x_select(b, x_eq(b, r.size, zero), x_f64(b, __builtin_inf()), re);
  V far = is_infinite(b, r.size);
  re = x_select(b, far, zero, x_mul(b, re, forth));
  return (aj_parts){re, x_select(b, far, x_copysign(b, zero, im), x_mul(b, im, forth))};
}

/* e^(y ln x); 1 for y = 0, 0 for x = 0 where y's real part is positive. */
aj_parts aj_complex_pow(aj_expander *b, const aj_parts *x) {
  V zero = x_f64(b, 0.0);
  aj_parts log = aj_complex_log(b, x), power = aj_complex_mul(b, (aj_parts[]){x[1], log});
  aj_parts result = aj_complex_exp(b, &power);
  V nothing = x_and(b, x_eq(b, x[0].re, zero), x_eq(b, x[0].im, zero));
  V vanishes = x_and(b, nothing, x_gt(b, x[1].re, zero));
  V unit = x_and(b, x_eq(b, x[1].re, zero), x_eq(b, x[1].im, zero));
  V re = x_select(b, unit, x_f64(b, 1.0), x_select(b, vanishes, zero, result.re));
  return (aj_parts){re, x_select(b, x_or(b, unit, vanishes), zero, result.im)};
}

/* ---- circular and hyperbolic ---- */

aj_parts aj_complex_sin(aj_expander *b, const aj_parts *x) {
  V re = times(b, x_sin(b, x->re), x_cosh(b, x->im));
  return (aj_parts){re, times(b, x_sinh(b, x->im), x_cos(b, x->re))};
}
aj_parts aj_complex_cos(aj_expander *b, const aj_parts *x) {
  V re = x_mul(b, x_cos(b, x->re), x_cosh(b, x->im));
  return (aj_parts){re, x_neg(b, times(b, x_sin(b, x->re), x_sinh(b, x->im)))};
}
aj_parts aj_complex_sinh(aj_expander *b, const aj_parts *x) {
  V re = times(b, x_sinh(b, x->re), x_cos(b, x->im));
  return (aj_parts){re, times(b, x_sin(b, x->im), x_cosh(b, x->re))};
}
aj_parts aj_complex_cosh(aj_expander *b, const aj_parts *x) {
  V re = x_mul(b, x_cosh(b, x->re), x_cos(b, x->im));
  return (aj_parts){re, times(b, x_sin(b, x->im), x_sinh(b, x->re))};
}

/* (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b), over and under divided by cosh^2 a. */
aj_parts aj_complex_tanh(aj_expander *b, const aj_parts *x) {
  V t = x_tanh(b, x->re), h = x_cosh(b, x->re), zero = x_f64(b, 0.0), flat = is_infinite(b, h);
  V c = x_div(b, x_cos(b, x->im), h), s = x_div(b, x_sin(b, x->im), h), lost = x_and(b, flat, x_ne(b, c, c));
  c = x_select(b, lost, zero, c);
  s = x_select(b, lost, zero, s);
  V under = x_add(b, square(b, t), square(b, c));
  return (aj_parts){x_div(b, t, under), x_div(b, x_mul(b, s, c), under)};
}

/* tanh(ix) / i */
aj_parts aj_complex_tan(aj_expander *b, const aj_parts *x) {
  const aj_parts turned = {x_neg(b, x->im), x->re};
  aj_parts t = aj_complex_tanh(b, &turned);
  return (aj_parts){t.im, x_neg(b, t.re)};
}

/* ---- inverse: W. Kahan's formulas, from square roots of 1 - x and 1 + x ---- */

typedef struct two_roots {
  aj_parts minus, plus; /* of 1 - x, of 1 + x */
} two_roots;

static two_roots make_roots(aj_expander *b, const aj_parts *x) {
  V one = x_f64(b, 1.0);
  const aj_parts minus = {x_sub(b, one, x->re), x_neg(b, x->im)}, plus = {x_add(b, one, x->re), x->im};
  two_roots r = {.minus = aj_complex_sqrt(b, &minus)};
  r.plus = aj_complex_sqrt(b, &plus);
  return r;
}

static V is_far(aj_expander *b, const aj_parts *x) { return x_gt(b, larger(b, x->re, x->im), x_f64(b, 0x1p500)); }

/* asinh of an u that is about |x| where x is far: there ln|2x|, which does not overflow. */
static V asinh_of(aj_expander *b, V far, V u, const aj_parts *x) {
  V large = x_add(b, aj_complex_log_abs(b, x->re, x->im), x_f64(b, LN2));
  return x_select(b, far, x_copysign(b, large, u), x_asinh(b, u));
}

aj_parts aj_complex_asin(aj_expander *b, const aj_parts *x) {
  two_roots r = make_roots(b, x);
  V across = x_sub(b, x_mul(b, r.minus.re, r.plus.re), x_mul(b, r.minus.im, r.plus.im));
  V along = x_sub(b, x_mul(b, r.minus.re, r.plus.im), x_mul(b, r.minus.im, r.plus.re));
  V far = is_far(b, x), re = x_atan2(b, x->re, x_select(b, far, x_abs(b, x->im), across));
  return (aj_parts){re, asinh_of(b, far, x_copysign(b, along, x->im), x)};
}

aj_parts aj_complex_acos(aj_expander *b, const aj_parts *x) {
  two_roots r = make_roots(b, x);
  V half = x_atan2(b, r.minus.re, r.plus.re), far = is_far(b, x);
  V along = x_sub(b, x_mul(b, r.plus.re, r.minus.im), x_mul(b, r.plus.im, r.minus.re));
  V im = asinh_of(b, far, x_copysign(b, along, x_neg(b, x->im)), x);
  return (aj_parts){x_select(b, far, x_atan2(b, x_abs(b, x->im), x->re), x_add(b, half, half)), im};
}

/* asin(ix) / i */
aj_parts aj_complex_asinh(aj_expander *b, const aj_parts *x) {
  const aj_parts turned = {x_neg(b, x->im), x->re};
  aj_parts y = aj_complex_asin(b, &turned);
  return (aj_parts){y.im, x_neg(b, y.re)};
}

/* acos(x) turned so that the real part is not negative. */
aj_parts aj_complex_acosh(aj_expander *b, const aj_parts *x) {
  aj_parts y = aj_complex_acos(b, x);
  V re = x_abs(b, y.im);
  return (aj_parts){re, x_copysign(b, y.re, x->im)};
}

/* (log1p(4a / ((1 - a)^2 + b^2)) / 4, atan2(2b, (1 - a)(1 + a) - b^2) / 2) of a >= 0, the sign given back. */
aj_parts aj_complex_atanh(aj_expander *b, const aj_parts *x) {
  V one = x_f64(b, 1.0), a = x_abs(b, x->re), under = x_sub(b, one, a), largest = larger(b, x->re, x->im);
  V far = x_gt(b, largest, x_f64(b, 0x1p80)), half_pi = x_f64(b, 0x1.921fb54442d18p0);
  V square_under = x_add(b, square(b, under), square(b, x->im));
  V size = x_hypot(b, a, x->im);
  V ratio = x_select(b, far, x_div(b, x_div(b, a, size), size), x_div(b, a, square_under)); /* a / |x|^2 */
  V re = x_mul(b, x_f64(b, 0.25), x_log1p(b, x_mul(b, x_f64(b, 4.0), ratio)));
  V pole = x_lt(b, larger(b, under, x->im), x_f64(b, 0x1p-100)); /* |1 + x| is 2 */
  V at_pole = x_mul(b, x_f64(b, 0.5), x_sub(b, x_f64(b, LN2), x_log(b, x_hypot(b, under, x->im))));
  re = x_select(b, is_infinite(b, size), x_f64(b, 0.0), x_select(b, pole, at_pole, re));
  V across = x_sub(b, x_mul(b, under, x_add(b, one, a)), square(b, x->im));
  V im = x_mul(b, x_f64(b, 0.5), x_atan2(b, x_add(b, x->im, x->im), across));
  return (aj_parts){x_copysign(b, re, x->re), x_select(b, far, x_copysign(b, half_pi, x->im), im)};
}

/* atanh(ix) / i */
aj_parts aj_complex_atan(aj_expander *b, const aj_parts *x) {
  const aj_parts turned = {x_neg(b, x->im), x->re};
  aj_parts y = aj_complex_atanh(b, &turned);
  return (aj_parts){y.im, x_neg(b, y.re)};
}
