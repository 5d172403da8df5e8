/* arrjit-ulp [--full] [--function NAME]: the largest error of every function, in units of the last place of the exact
 * result, against its bound in the op table. f32: 2^22 arguments, with --full all of them; f64: 2^21, with --full 2^25;
 * f16 and bf16: all of them, or 2^22 pairs.
 * Complex functions: 2^18 arguments, with --full 2^23, both parts in units of the larger one's last place.
 * Exits with 1 when a function is above its bound, or a NaN is not the canonical one. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/sem_apply.h"
#include "arrjit/half.h"
#include "ulp.h"

typedef struct format {
  arrjit_dtype dtype;
  int mantissa, least_exponent, top_exponent; /* exponents as frexp counts them */
} format;
static const format formats[] = {
    {ARRJIT_F32, 24, -125, 128}, {ARRJIT_F64, 53, -1021, 1024}, {ARRJIT_F16, 11, -13, 16}, {ARRJIT_BF16, 8, -125, 128}};

/* Distance of y from the exact result in units of the last place of the exact one's binade, or of least's if that is
 * higher. */
static double error_in_ulp(const format *t, long double y, long double exact, double least) {
  int e;
  if (y != y || exact != exact) return (y != y) == (exact != exact) ? 0 : INFINITY;
  if (y == exact) return 0;
  long double limit = ldexpl(2 - ldexpl(1, -t->mantissa), t->top_exponent - 1); /* from here on rounded to infinity */
  if (isinf(y) && fabsl(exact) >= limit && (y > 0) == (exact > 0)) return 0;
  if (isinf(y) || isinf(exact)) return INFINITY;
  frexpl(fabsl(exact) < (long double)least ? (long double)least : exact, &e);
  if (e < t->least_exponent) e = t->least_exponent;
  if (e > t->top_exponent) e = t->top_exponent;
  return (double)fabsl(ldexpl(y - exact, t->mantissa - e));
}

/* The same for the formats of up to 32 bits, quickly where nothing is infinite or NaN: both numbers and 2 to the power
 * of 24 - e are doubles. */
static double error_of_narrow(const format *t, double y, double exact, double least) {
  uint64_t bits;
  double at = fabs(exact) < least ? least : exact, scale;
  memcpy(&bits, &at, sizeof bits);
  int e = (int)(bits >> 52 & 0x7ff) - 1022;
  if (!(fabs(y) <= DBL_MAX) || e >= t->top_exponent) return error_in_ulp(t, y, exact, least);
  if (e < t->least_exponent) e = t->least_exponent;
  bits = (uint64_t)(1023 + t->mantissa - e) << 52;
  memcpy(&scale, &bits, sizeof scale);
  return fabs(y - exact) * scale;
}

static bool is_odd_nan(arrjit_dtype dtype, double value, const void *elements, size_t i) {
  if (value == value) return false;
  static const uint64_t canonical[AJ_DTYPE_COUNT] = {[ARRJIT_F32] = 0x7fc00000,
                                                     [ARRJIT_F64] = 0x7ff8000000000000,
                                                     [ARRJIT_F16] = ARRJIT_F16_NAN_BITS,
                                                     [ARRJIT_BF16] = ARRJIT_BF16_NAN_BITS};
  size_t bytes = aj_dtypes[dtype].bytes;
  return memcmp((const char *)elements + i * bytes, &canonical[dtype], bytes) != 0;
}

/* The zeros of these below 0 lie between floats at places that no constant knows: there an error counts in units of the
 * last place of this number, if the result is smaller. */
static double find_least_unit(aj_op op, long double x) {
  return x < 0 && (op == AJ_OP_LGAMMA || op == AJ_OP_DIGAMMA) ? 0x1p-6 : 0;
}

typedef struct worst {
  double error, libm, x, y;
  uint64_t odd_nans;
} worst;

static void note_error(worst *w, double error, double x, double y) {
  if (error > w->error) w->error = error, w->x = x, w->y = y;
}

static void measure_wide(const ulp_function *f, const format *t, const double *x, const double *y, const double *got,
                         worst *w) {
  for (size_t i = 0; i < ULP_CHUNK; i++) {
    long double exact = f->exact(x[i], y[i]);
    double least = find_least_unit(f->op, x[i]);
    w->odd_nans += is_odd_nan(t->dtype, got[i], got, i);
    note_error(w, error_in_ulp(t, got[i], exact, least), x[i], y[i]);
    if (f->libm != NULL) w->libm = fmax(w->libm, error_in_ulp(t, f->libm(x[i], y[i]), exact, least));
  }
}

static void measure_narrow(const ulp_function *f, const format *t, const void *x, const void *y, const void *got,
                           worst *w) {
  for (size_t i = 0; i < ULP_CHUNK; i++) {
    double a = ulp_element(t->dtype, x, i), c = ulp_element(t->dtype, y, i), exact = f->exact_for_f32(a, c);
    double least = find_least_unit(f->op, a), r = ulp_element(t->dtype, got, i);
    w->odd_nans += is_odd_nan(t->dtype, r, got, i);
    note_error(w, error_of_narrow(t, r, exact, least), a, c);
    if (f->libm == NULL || aj_dtype_is_half(t->dtype)) continue;
    w->libm = fmax(w->libm, error_of_narrow(t, f->libm_f32((float)a, (float)c), exact, least));
  }
}

/* The bound that the op table states: the number after "<= " in the meaning. */
static double find_bound(aj_op op) {
  const char *at = strstr(aj_ops[op].meaning, "<= ");
  if (at == NULL) tk_die("%s has no bound", aj_ops[op].name);
  return strtod(at + 3, NULL);
}

/* Whether it keeps to its bound. */
static bool measure(aj_sem_cache *cache, const ulp_function *f, const format *t, bool full) {
  static double x[ULP_CHUNK], y[ULP_CHUNK], got[ULP_CHUNK];
  static ulp_points points;
  worst w = {0};
  double bound = find_bound(f->op);
  ulp_points_start(&points, f, t->dtype, full);
  while (ulp_points_next(&points, x, y)) {
    sem_apply(cache, f->op, t->dtype, (const void *const[]){x, y}, got, ULP_CHUNK);
    if (t->dtype == ARRJIT_F64)
      measure_wide(f, t, x, y, got, &w);
    else
      measure_narrow(f, t, x, y, got, &w);
  }
  bool good = w.error <= bound && w.odd_nans == 0;
  char where[80], libm[24] = "-";
  snprintf(where, sizeof where, aj_ops[f->op].min_operands == 2 ? "%a, %a" : "%a", w.x, w.y);
  if (f->libm != NULL && !aj_dtype_is_half(t->dtype)) snprintf(libm, sizeof libm, "%.3f", w.libm);
  printf("%-10s %-5s %.3f  %-8s %s%s%s\n", aj_ops[f->op].name, aj_dtypes[t->dtype].name, w.error, libm, where,
         w.error > bound ? "  ABOVE ITS BOUND" : "", w.odd_nans ? "  NaN THAT IS NOT CANONICAL" : "");
  fflush(stdout);
  return good;
}

static const ulp_function *find_function(aj_op op) {
  for (size_t i = 0; i < ulp_function_count; i++)
    if (ulp_functions[i].op == op) return &ulp_functions[i];
  tk_die("nothing to measure %s against", aj_ops[op].name);
}

int main(int argc, char **argv) {
  bool full = false, good = true, any = false;
  const char *only = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--full") == 0) {
      full = true;
    } else if (strcmp(argv[i], "--function") == 0 && i + 1 < argc) {
      only = argv[++i];
    } else {
      fputs("usage: arrjit-ulp [--full] [--function NAME]\n", stderr);
      return 2;
    }
  }
  aj_mem mem;
  aj_mem_init(&mem, NULL);
  aj_sem_cache *cache = aj_sem_cache_create(&mem);
  if (cache == NULL) tk_die("no memory");
  printf("function   dtype ulp   libm     where\n");
  for (aj_op op = AJ_OP_NONE; op < AJ_OP_COUNT; op++) {
    bool function = aj_ops[op].routine == AJ_ROUTINE_EXPAND && (aj_ops[op].flags & AJ_F_ELEMENTWISE);
    if (!function || (only != NULL && strcmp(only, aj_ops[op].name) != 0)) continue;
    any = true;
    for (size_t t = 0; t < TK_COUNT(formats); t++)
      if (aj_ops[op].dtypes >> formats[t].dtype & 1) good &= measure(cache, find_function(op), &formats[t], full);
  }
  aj_sem_cache_destroy(cache);
  good &= ulp_complex(only, full, &any);
  if (!any) tk_die("no function %s", only);
  return good ? 0 : 1;
}
