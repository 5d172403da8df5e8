/* tgamma, lgamma and digamma, by Stirling's series from 8 on, to which smaller arguments are moved, and by reflection
 * below 0. Terms are far larger than what is left of them near the zeros, so all of it is in two words; the zeros of
 * x > 0 have polynomials of their own. f64 alone. Fits as in expand_exp.c. */
#include "sem/expand_two.h"

#define LOG2E_HI 0x1.71547652b82fep0
#define LOG2E_LO 0x1.777d0ffda0d24p-56

static aj_two two_const(aj_expander *b, const double *c) { return (aj_two){x_f64(b, c[0]), x_f64(b, c[1])}; }
static aj_two negate_two(aj_expander *b, aj_two x) { return (aj_two){x_neg(b, x.h), x_neg(b, x.l)}; }
static aj_two select_two(aj_expander *b, V pred, aj_two x, aj_two y) {
  return (aj_two){x_select(b, pred, x.h, y.h), x_select(b, pred, x.l, y.l)};
}
static aj_two add_two(aj_expander *b, aj_two x, aj_two y) {
  aj_two sum = x_two_sum(b, x.h, y.h);
  return x_fast_two_sum(b, sum.h, x_add(b, sum.l, x_add(b, x.l, y.l)));
}
/* x + c, c a number of few bits */
static aj_two add_few(aj_expander *b, aj_two x, double c) {
  aj_two sum = x_two_sum(b, x.h, x_f64(b, c));
  return x_fast_two_sum(b, sum.h, x_add(b, sum.l, x.l));
}
/* c[0] + z (c[1] + ... + z tail), every sum below its constant */
static aj_two poly_two(aj_expander *b, aj_two z, const double (*c)[2], int n, V tail) {
  aj_two p = {tail, x_f64(b, 0.0)};
  for (int i = n - 1; i >= 0; i--) {
    p = x_two_product(b, p, z);
    V low = p.l;
    p = x_fast_two_sum(b, x_f64(b, c[i][0]), p.h);
    p.l = x_add(b, p.l, c[i][1] == 0 ? low : x_add(b, low, x_f64(b, c[i][1])));
  }
  return p;
}

/* What all three begin with. a = |x| is moved up by 8 where it is below: the product of what it passes is
 * a (a + 1) .. (a + 7) = q (q + 6) (q + 10) (q + 12), q = a (a + 7). */
typedef struct arguments {
  V a, negative, tiny; /* tiny: below 2^-100, where gamma(x) is 1/x */
  V low;               /* below 8 */
  aj_two moved;        /* a, or a + 8 */
  aj_two q, product;   /* product: 1 where a is not moved */
  V n, r;              /* a = n + r, |r| <= 1/2 */
  aj_two s;            /* r^2 */
  aj_two sine;         /* sin(pi r) / (pi r) */
} arguments;

static aj_two find_sine(aj_expander *b, aj_two s) {
  /* fpminimax of sin(pi r)/(pi r) for r^2 in [0, 0.25], from r^8 on; absolute error of all 2^-67 */
  static const double tail[] = {0x1.ac6805cf350a6p-6,  -0x1.33816aa4606f9p-9, 0x1.374719fa9a842p-13,
                                -0x1.d424989fbb7cp-18, 0x1.0fc9792abd76ep-22, -0x1.f5dd37541ad54p-28,
                                0x1.715fbfc13febep-33};
  static const double c[][2] = {{1, 0},
                                {-0x1.a51a6625307d3p0, -0x1.1873d8912200cp-55},
                                {0x1.9f9cb402bc46cp-1, 0x1.487acd8cd312cp-55},
                                {-0x1.86a8e4720db67p-3, 0x1.461b9cb783f4cp-58}};
  return poly_two(b, s, c, 4, x_poly_f64(b, s.h, tail, 7));
}

static arguments prepare(aj_expander *b, V x, V a) {
  V zero = x_f64(b, 0.0), one = x_f64(b, 1.0), whole = x_abs(b, x);
  arguments g = {.a = a, .negative = x_lt(b, x, zero)};
  g.tiny = x_lt(b, a, x_f64(b, 0x1p-100));
  g.low = x_lt(b, a, x_f64(b, 8.0));
  g.moved = select_two(b, g.low, x_two_sum(b, a, x_f64(b, 8.0)), (aj_two){a, zero});
  aj_two seventh = x_two_sum(b, a, x_f64(b, 7.0));
  g.q = x_two_mul(b, a, seventh.h);
  g.q.l = x_fma(b, a, seventh.l, g.q.l);
  aj_two product = x_two_product(b, g.q, add_few(b, g.q, 6));
  product = x_two_product(b, product, add_few(b, g.q, 10));
  product = x_two_product(b, product, add_few(b, g.q, 12));
  g.product = select_two(b, g.low, product, (aj_two){one, zero});
  g.n = x_round_even(b, whole);
  g.r = x_sub(b, whole, g.n);
  g.s = x_two_mul(b, g.r, g.r);
  g.sine = find_sine(b, g.s);
  return g;
}
/* Whether x is a negative integer: a pole. */
static V is_pole(aj_expander *b, const arguments *g) { return x_and(b, g->negative, x_eq(b, g->r, x_f64(b, 0.0))); }

/* log2 gamma(a) for a >= 8, times `scale`, which is 1 or, for a > 2^200, less (NULL: 1 everywhere):
 * (a - 1/2) (log2 a - log2 e) + log2(2 pi / e)/2 + log2(e) (1/(12 a) + a^-3 P(a^-2)). */
static aj_two find_stirling(aj_expander *b, aj_two a, V scale) {
  /* fpminimax for a^-2 in [0, 1/64], log2(e) in it; absolute error with its factor 2^-66 */
  static const double c[] = {-0x1.06a276463354fp-8, 0x1.2c2762993e95bp-10, -0x1.c23b12d9cc23fp-11,
                             0x1.3e57833923e1bp-10, -0x1.6a4d6a911f70fp-9, 0x1.27c7aac9fd352p-7,
                             -0x1.01622d36a32ccp-5};
  static const double log2e_minus[] = {-LOG2E_HI, -LOG2E_LO}, twelfth[] = {0x1.ec709dc3a03fdp-4, 0x1.d27f05548af0cp-58},
                      rest[] = {0x1.3573fcf6d5af9p-1, 0x1.0e57879459ce1p-55};
  aj_two z = x_two_div(b, (aj_two){x_f64(b, 1.0), NULL}, a), log = aj_expand_log2_parts(b, a.h);
  log.l = x_fma(b, x_mul(b, a.l, z.h), x_f64(b, LOG2E_HI), log.l);
  aj_two w = x_two_sum(b, a.h, x_f64(b, -0.5));
  w.l = x_add(b, w.l, a.l);
  if (scale != NULL) w = (aj_two){x_mul(b, w.h, scale), x_mul(b, w.l, scale)};
  aj_two p = x_two_product(b, w, add_two(b, log, two_const(b, log2e_minus)));
  aj_two t = x_two_product(b, z, two_const(b, twelfth));
  V v = x_mul(b, z.h, z.h);
  t.l = x_fma(b, x_mul(b, z.h, v), x_poly_f64(b, v, c, 7), t.l);
  return add_two(b, add_two(b, p, two_const(b, rest)), t);
}

/* |gamma(x)| = 2^p / |d|. Below 0 by gamma(-a) = -pi / (a sin(pi a) gamma(a)). */
static void find_parts(aj_expander *b, const arguments *g, V scale, aj_two *p, aj_two *d) {
  V zero = x_f64(b, 0.0);
  *p = find_stirling(b, g->moved, scale);
  aj_two reflected = x_two_product(b, x_two_mul(b, g->a, g->r), g->sine);
  *d = select_two(b, g->negative, x_two_div(b, reflected, g->product), g->product);
  *d = select_two(b, g->tiny, (aj_two){g->a, zero}, *d);
  *p = select_two(b, g->negative, negate_two(b, *p), *p);
  *p = select_two(b, g->tiny, (aj_two){zero, zero}, *p);
}

V aj_expand_tgamma(aj_expander *b, const V *x) {
  V k, one = x_f64(b, 1.0), a = x_abs(b, *x), most = x_f64(b, 200.0);
  arguments g = prepare(b, *x, x_select(b, x_gt(b, a, most), most, a));
  aj_two p, d;
  find_parts(b, &g, NULL, &p, &d);
  aj_two m = x_two_div(b, aj_expand_exp2_parts(b, p, &k), d), s = aj_expand_scale(b, k);
  V half = x_mul(b, g.n, x_f64(b, 0.5));
  V flips = x_and(b, g.negative, x_eq(b, x_round_even(b, half), half));
  V y = x_mul(b, x_mul(b, x_add(b, m.h, m.l), s.h), s.l);
  y = x_mul(b, y, x_select(b, flips, x_f64(b, -1.0), one));
  y = x_select(b, g.tiny, x_div(b, one, *x), y);
  return x_select(b, is_pole(b, &g), x_f64(b, __builtin_nan("")), y);
}

/* f(c + e) for |e| <= 2^-5, f(c) = 0: e (first + e P(e)). */
static V near_zero(aj_expander *b, aj_two e, const double *first, const double *c, int n) {
  aj_two t = x_fast_two_sum(b, x_f64(b, first[0]), x_mul(b, e.h, x_poly_f64(b, e.h, c, n)));
  t.l = x_add(b, t.l, x_f64(b, first[1]));
  aj_two y = x_two_product(b, e, t);
  return x_add(b, y.h, y.l);
}
static V is_near(aj_expander *b, V e) { return x_le(b, x_abs(b, e), x_f64(b, 0x1p-5)); }

/* y, but near 1 and 2, where it is 0 */
static V lgamma_near_zeros(aj_expander *b, V x, V y) {
  /* fpminimax of (lgamma(1 + e)/e + euler)/e for |e| <= 2^-5 and of (lgamma(2 + e)/e - 1 + euler)/e; relative error of
   * lgamma 2^-59 */
  static const double one[] = {0x1.a51a6625307d3p-1, -0x1.9a4d55beab2d7p-2, 0x1.151322ac7ee32p-2, -0x1.a8b9c17aa5d12p-3,
                               0x1.5b40cad2af991p-3, -0x1.2703a1e1743bfp-3, 0x1.010d67bd309bdp-3, -0x1.c8062b454d7fp-4,
                               0x1.88793395448b6p-4, -0x1.757d863866bddp-4, 0x1.ad7155a99fa32p0};
  static const double two[] = {0x1.4a34cc4a60fa6p-2,  -0x1.13e001a557606p-4,  0x1.51322ac7e6e3ap-6,
                               -0x1.e404fc219e845p-8, 0x1.7add681afacfdp-9,   -0x1.38ac59e5edfd9p-10,
                               0x1.0bc2e9536125dp-11, -0x1.d4436b3d8e72ep-13, -0x1.8a431b8e918f4p-12};
  static const double first[][2] = {{-0x1.2788cfc6fb619p-1, 0x1.6cb90701fbfabp-58},
                                    {0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58}};
  V zero = x_f64(b, 0.0);
  aj_two e1 = {x_sub(b, x, x_f64(b, 1.0)), zero}, e2 = {x_sub(b, x, x_f64(b, 2.0)), zero};
  y = x_select(b, is_near(b, e1.h), x_add(b, near_zero(b, e1, first[0], one, 11), zero), y); /* +0 at 1 */
  return x_select(b, is_near(b, e2.h), near_zero(b, e2, first[1], two, 9), y);
}

V aj_expand_lgamma(aj_expander *b, const V *x) {
  static const double ln2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  V inf = x_f64(b, __builtin_inf()), one = x_f64(b, 1.0), a = x_abs(b, *x);
  V large = x_gt(b, a, x_f64(b, 0x1p200)); /* in units of 2^100, as log2 gamma may be no number where gamma's log is */
  arguments g = prepare(b, *x, a);
  aj_two p, d;
  find_parts(b, &g, x_select(b, large, x_f64(b, 0x1p-100), one), &p, &d);
  aj_two log = aj_expand_log2_parts(b, x_abs(b, d.h));
  log.l = x_fma(b, x_div(b, d.l, d.h), x_f64(b, LOG2E_HI), log.l);
  aj_two y = x_two_product(b, add_two(b, p, negate_two(b, log)), two_const(b, ln2));
  V sum = x_mul(b, x_add(b, y.h, y.l), x_select(b, large, x_f64(b, 0x1p100), one));
  sum = lgamma_near_zeros(b, *x, sum);
  V infinite = x_or(b, x_eq(b, a, x_f64(b, 0.0)), x_or(b, x_eq(b, a, inf), is_pole(b, &g)));
  return x_select(b, infinite, inf, sum);
}

/* log a - 1/(2 a) - a^-2 P(a^-2) for a >= 8 */
static aj_two find_log_slope(aj_expander *b, aj_two a) {
  /* fpminimax for a^-2 in [0, 1/64]; absolute error with its factor 2^-63 */
  static const double c[] = {0x1.5555555555555p-4,  -0x1.111111110f0f2p-7, 0x1.041040f5f28bap-8,
                             -0x1.1110fac1f95c7p-8, 0x1.f069626abe4f6p-8,  -0x1.575802544719fp-6,
                             0x1.2df0ef4c83d98p-4,  -0x1.38e55517d04ccp-4, -0x1.a114828e0c974p1};
  static const double ln2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  aj_two z = x_two_div(b, (aj_two){x_f64(b, 1.0), NULL}, a);
  aj_two y = x_two_product(b, aj_expand_log2_parts(b, a.h), two_const(b, ln2));
  y.l = x_fma(b, a.l, z.h, y.l);
  V v = x_mul(b, z.h, z.h), minus = x_f64(b, -0.5);
  y = add_two(b, y, (aj_two){x_mul(b, z.h, minus), x_mul(b, z.l, minus)});
  y.l = x_sub(b, y.l, x_mul(b, v, x_poly_f64(b, v, c, 9)));
  return y;
}
/* 1/a + 1/(a + 1) + ... + 1/(a + 7) = (2 a + 7) (4 q^3 + 84 q^2 + 504 q + 720) / product */
static aj_two find_passed(aj_expander *b, const arguments *g) {
  V zero = x_f64(b, 0.0);
  aj_two p = add_few(b, x_two_product(b, g->q, (aj_two){x_f64(b, 4.0), zero}), 84);
  p = add_few(b, x_two_product(b, p, g->q), 504);
  p = add_few(b, x_two_product(b, p, g->q), 720);
  aj_two sum = x_two_div(b, x_two_product(b, p, x_two_sum(b, x_add(b, g->a, g->a), x_f64(b, 7.0))), g->product);
  return select_two(b, g->low, sum, (aj_two){zero, zero});
}
/* pi cot(pi r) */
static aj_two find_cotangent(aj_expander *b, const arguments *g) {
  /* fpminimax of cos(pi r) for r^2 in [0, 0.25], from r^10 on; absolute error of all 2^-66 */
  static const double tail[] = {-0x1.a6d1f2a204a89p-6, 0x1.f9d38a3760d8cp-10,  -0x1.b6e24f3c1b23cp-14,
                                0x1.20c623076e41fp-18, -0x1.2a038346979ebp-23, 0x1.e78ebc10f78dfp-29};
  static const double c[][2] = {{1, 0},
                                {-0x1.3bd3cc9be45dep2, -0x1.692b71366cc04p-52},
                                {0x1.03c1f081b5ac4p2, -0x1.32b33f87fc145p-52},
                                {-0x1.55d3c7e3cbffap0, 0x1.d582920937625p-59},
                                {0x1.e1f506891babbp-3, -0x1.7362f495c096dp-60}};
  aj_two cosine = poly_two(b, g->s, c, 5, x_poly_f64(b, g->s.h, tail, 6));
  return x_two_div(b, cosine, x_two_product(b, g->sine, (aj_two){g->r, x_f64(b, 0.0)}));
}

V aj_expand_digamma(aj_expander *b, const V *x) {
  /* fpminimax of (digamma(zero + e)/e - first)/e for |e| <= 2^-5; relative error of digamma 2^-59 */
  static const double c[] = {-0x1.c563b54aa1a35p-2, 0x1.08b4294d50381p-2, -0x1.4fc131725ad07p-3, 0x1.b9a5b6370c826p-4,
                             -0x1.27bab9d10affep-4, 0x1.8fce02f5d8ecep-5, -0x1.0fab73655ba61p-5, 0x1.723ad2064b906p-6,
                             -0x1.e0b3e133e8fa8p-7, 0x1.62320c452df15p-7};
  static const double first[] = {0x1.ef72bc8ee38acp-1, -0x1.3879eb97bf58dp-55},
                      place[] = {0x1.762d86356be3fp0, 0x1.b86a722197829p-54};
  V inf = x_f64(b, __builtin_inf()), one = x_f64(b, 1.0);
  arguments g = prepare(b, *x, x_abs(b, *x));
  aj_two y = add_two(b, find_log_slope(b, g.moved), negate_two(b, find_passed(b, &g)));
  /* digamma(-a) = digamma(a) + 1/a + pi cot(pi a) */
  aj_two inverse = x_two_div(b, (aj_two){one, NULL}, (aj_two){g.a, x_f64(b, 0.0)});
  aj_two reflected = add_two(b, add_two(b, y, inverse), find_cotangent(b, &g));
  y = select_two(b, g.negative, reflected, y);
  aj_two e = x_fast_two_sum(b, x_sub(b, *x, x_f64(b, place[0])), x_f64(b, -place[1]));
  V sum = x_select(b, is_near(b, e.h), near_zero(b, e, first, c, 10), x_add(b, y.h, y.l));
  sum = x_select(b, g.tiny, x_div(b, x_f64(b, -1.0), *x), sum);
  sum = x_select(b, is_pole(b, &g), x_f64(b, __builtin_nan("")), sum);
  return x_select(b, x_eq(b, *x, inf), inf, sum);
}
