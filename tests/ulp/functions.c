/* The functions: the C library's of that name in three precisions, or a formula of ours where it has none. The long
 * double functions of glibc are good to a few units of a format with 11 bits more than f64. */
#include <math.h>

#include "ulp.h"

#define REFERENCES_1(name)                                                                                             \
  static long double name##_long(long double x, long double y) { return (void)y, name##l(x); }                         \
  static double name##_double(double x, double y) { return (void)y, name(x); }                                         \
  static float name##_float(float x, float y) { return (void)y, name##f(x); }
REFERENCES_1(exp)
REFERENCES_1(log)
REFERENCES_1(tanh)
REFERENCES_1(sin)
REFERENCES_1(cos)
REFERENCES_1(exp2)
REFERENCES_1(exp10)
REFERENCES_1(expm1)
REFERENCES_1(log2)
REFERENCES_1(log10)
REFERENCES_1(log1p)
REFERENCES_1(tan)
REFERENCES_1(asin)
REFERENCES_1(acos)
REFERENCES_1(atan)
REFERENCES_1(sinh)
REFERENCES_1(cosh)
REFERENCES_1(asinh)
REFERENCES_1(acosh)
REFERENCES_1(atanh)
REFERENCES_1(cbrt)
REFERENCES_1(erf)
REFERENCES_1(erfc)
REFERENCES_1(tgamma)
REFERENCES_1(lgamma)

#define REFERENCES_2(name)                                                                                             \
  static long double name##_long(long double x, long double y) { return name##l(x, y); }                               \
  static double name##_double(double x, double y) { return name(x, y); }                                               \
  static float name##_float(float x, float y) { return name##f(x, y); }
REFERENCES_2(atan2)
REFERENCES_2(pow)
REFERENCES_2(hypot)

/* What the C library has not. */
static long double rsqrt_long(long double x, long double y) { return (void)y, 1 / sqrtl(x); }
static long double logistic_long(long double x, long double y) { return (void)y, 1 / (1 + expl(-x)); }
/* Winitzki's approximation, three steps of Halley's method on erf, or on erfc near 1. */
static long double erf_inv_long(long double x, long double y) {
  (void)y;
  long double a = fabsl(x), rate = 2 / sqrtl(acosl(-1)), t = 1 - a;
  if (!(a < 1)) return a == 1 ? copysignl(INFINITY, x) : NAN;
  if (a < 0x1p-40L) return x / rate;
  long double log = logl(t * (1 + a)), s = 2 / (acosl(-1) * 0.147L) + log / 2,
              at = sqrtl(sqrtl(s * s - log / 0.147L) - s);
  for (int i = 0; i < 4; i++) {
    long double over = a < 0.5L ? erfl(at) - a : t - erfcl(at);
    long double step = over / (rate * expl(-at * at));
    at -= step / (1 + at * step);
  }
  return copysignl(at, x);
}
/* Taylor's series at the zero of x > 0; else the asymptotic one from 24 on, after steps up, and reflection below 0. */
static long double digamma_long(long double x, long double y) {
  static const long double taylor[] = {
      0.9676722454476211704274448L,    -0.4427631689835921060928653L,   0.2584997609556510106244014L,
      -0.1639427054424065275042513L,   0.1078240506912623657571829L,    -0.07219956125645471092612178L,
      0.04880428816414310722509253L,   -0.0331611264748473592922584L,   0.02259764823221810465962483L,
      -0.01542476490394895913880032L,  0.01053879161661217538812405L,   -0.007204534386356868240970474L,
      0.004926781395729853446354266L,  -0.003369801655439328082792857L, 0.00230512632673492783693838L,
      -0.001576936771430197259270935L, 0.001078825201916296580691918L,  -0.0007380709389960051295660474L,
      0.0005049532658346020351773982L, -0.000345468025106307699555568L, 0.000236356015640270527923696L};
  static const long double series[] = {1 / 12.0L,  -1 / 120.0L,     1 / 252.0L, -1 / 240.0L,
                                       1 / 132.0L, -691 / 32760.0L, 1 / 12.0L,  -3617 / 8160.0L};
  (void)y;
  if (x < 0) { /* digamma(-a) = digamma(1 + a) + pi cot(pi a) */
    long double a = -x, r = a - rintl(a);
    if (r == 0 || isinf(x)) return NAN;
    bool far = fabsl(r) > 0.25L; /* tan is steep there */
    long double cot = far ? copysignl(tanl(acosl(-1) * (0.5L - fabsl(r))), r) : 1 / tanl(acosl(-1) * r);
    return digamma_long(a, 0) + 1 / a + acosl(-1) * cot;
  }
  long double e = (x - 0x1.762d86356be3fp0L) - 0x1.b86a722197829p-54L, sum = 0;
  if (fabsl(e) < 0.125L) {
    for (size_t i = TK_COUNT(taylor); i-- > 0;) sum = sum * e + taylor[i];
    return sum * e;
  }
  if (x == 0) return copysignl(INFINITY, -x);
  long double passed = 0, lost = 0, v, rest = 0;
  for (; x < 24; x++) { /* Kahan's sum */
    long double term = 1 / x - lost, next = passed + term;
    lost = next - passed - term;
    passed = next;
  }
  v = 1 / x / x;
  for (size_t i = TK_COUNT(series); i-- > 0;) rest = rest * v + series[i];
  return logl(x) - 0.5L / x - rest * v - passed;
}

/* For f32 the same in double, with what of it double needs. */
static double rsqrt_double(double x, double y) { return (void)y, 1 / sqrt(x); }
static double logistic_double(double x, double y) { return (void)y, 1 / (1 + exp(-x)); }
static double erf_inv_double(double x, double y) {
  (void)y;
  double a = fabs(x), rate = 2 / sqrt(acos(-1)), t = 1 - a;
  if (!(a < 1)) return a == 1 ? copysign(INFINITY, x) : NAN;
  if (a < 0x1p-40) return x / rate;
  double log_t = log(t * (1 + a)), s = 2 / (acos(-1) * 0.147) + log_t / 2, at = sqrt(sqrt(s * s - log_t / 0.147) - s);
  for (int i = 0; i < 3; i++) {
    double step = (a < 0.5 ? erf(at) - a : t - erfc(at)) / (rate * exp(-at * at));
    at -= step / (1 + at * step);
  }
  return copysign(at, x);
}
static double digamma_double(double x, double y) {
  static const double series[] = {1 / 12.0, -1 / 120.0, 1 / 252.0, -1 / 240.0, 1 / 132.0, -691 / 32760.0, 1 / 12.0};
  (void)y;
  if (x < 0) {
    double a = -x, r = a - rint(a), pi = acos(-1);
    if (r == 0 || isinf(x)) return NAN;
    double cot = fabs(r) > 0.25 ? copysign(tan(pi * (0.5 - fabs(r))), r) : 1 / tan(pi * r);
    return digamma_double(a, 0) + 1 / a + pi * cot;
  }
  if (x == 0 || fabs(x - 1.46163) < 0.125) return (double)digamma_long(x, 0);
  double passed = 0, rest = 0;
  for (; x < 12; x++) passed += 1 / x;
  double v = 1 / x / x;
  for (size_t i = TK_COUNT(series); i-- > 0;) rest = rest * v + series[i];
  return log(x) - 0.5 / x - rest * v - passed;
}

#define LIBM(ID, name, lo32, hi32, lo64, hi64)                                                                         \
  {                                                                                                                    \
    AJ_OP_##ID, name##_long, name##_double, name##_double, name##_float, {lo32, lo64}, { hi32, hi64 }                  \
  }
#define OURS(ID, name, lo32, hi32, lo64, hi64)                                                                         \
  {                                                                                                                    \
    AJ_OP_##ID, name##_long, name##_double, NULL, NULL, {lo32, lo64}, { hi32, hi64 }                                   \
  }
const ulp_function ulp_functions[] = {
    LIBM(EXP, exp, -110, 110, -750, 750),
    LIBM(LOG, log, 0, 3, 0, 3),
    LIBM(TANH, tanh, -11, 11, -22, 22),
    LIBM(SIN, sin, -110, 110, -750, 750),
    LIBM(COS, cos, -110, 110, -750, 750),
    LIBM(EXP2, exp2, -155, 130, -1080, 1030),
    LIBM(EXP10, exp10, -46, 40, -326, 310),
    LIBM(EXPM1, expm1, -20, 90, -40, 711),
    LIBM(LOG2, log2, 0, 3, 0, 3),
    LIBM(LOG10, log10, 0, 3, 0, 3),
    LIBM(LOG1P, log1p, -1, 3, -1, 3),
    LIBM(TAN, tan, -110, 110, -750, 750),
    LIBM(ASIN, asin, -1, 1, -1, 1),
    LIBM(ACOS, acos, -1, 1, -1, 1),
    LIBM(ATAN, atan, -4, 4, -4, 4),
    LIBM(ATAN2, atan2, -4, 4, -4, 4),
    LIBM(POW, pow, 0, 3, 0, 3),
    LIBM(SINH, sinh, -90, 90, -712, 712),
    LIBM(COSH, cosh, -90, 90, -712, 712),
    LIBM(ASINH, asinh, -4, 4, -4, 4),
    LIBM(ACOSH, acosh, 1, 4, 1, 4),
    LIBM(ATANH, atanh, -1, 1, -1, 1),
    LIBM(CBRT, cbrt, -8, 8, -8, 8),
    OURS(RSQRT, rsqrt, 0, 4, 0, 4),
    LIBM(HYPOT, hypot, -4, 4, -4, 4),
    OURS(LOGISTIC, logistic, -104, 20, -746, 40),
    LIBM(ERF, erf, -4, 4, -6, 6),
    OURS(ERF_INV, erf_inv, -1, 1, -1, 1),
    LIBM(ERFC, erfc, -4, 11, -6, 28),
    LIBM(TGAMMA, tgamma, -43, 36, -185, 172),
    LIBM(LGAMMA, lgamma, -8, 8, -20, 20),
    OURS(DIGAMMA, digamma, -8, 8, -20, 20),
};
const size_t ulp_function_count = TK_COUNT(ulp_functions);
