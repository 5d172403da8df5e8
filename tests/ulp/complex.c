/* Functions of complex numbers, run as a host runs them: the error of both parts in units of the last place of the
 * larger part of the exact result, against the C library's in long double. Where a part of the exact result is not
 * finite nothing is measured; special values are tests of their own. */
#include <complex.h>
#undef complex
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arrjit/arrjit.h"
#include "modes.h"
#include "ulp.h"

typedef long double _Complex wide;

static wide make(long double re, long double im) { return __builtin_complex(re, im); }

/* ---- what the C library has not ---- */
static wide exact_mul(wide x, wide y) {
  return make(creall(x) * creall(y) - cimagl(x) * cimagl(y), creall(x) * cimagl(y) + cimagl(x) * creall(y));
}
static wide exact_div(wide x, wide y) { /* the range of long double has room for it */
  long double square = creall(y) * creall(y) + cimagl(y) * cimagl(y);
  wide over = exact_mul(x, make(creall(y), -cimagl(y)));
  return make(creall(over) / square, cimagl(over) / square);
}
static wide exact_sign(wide x, wide y) {
  long double size = hypotl(creall(x), cimagl(x));
  return (void)y, size == 0 ? x : make(creall(x) / size, cimagl(x) / size);
}
static wide exact_expm1(wide x, wide y) {
  long double half = sinl(cimagl(x) / 2), re = expm1l(creall(x)) * cosl(cimagl(x)) - 2 * half * half;
  return (void)y, make(re, expl(creall(x)) * sinl(cimagl(x)));
}
static wide exact_log1p(wide x, wide y) {
  long double a = creall(x), b = cimagl(x), over = 2 * a + (a * a + b * b);
  long double re = fabsl(over) < 0.5L ? log1pl(over) / 2 : creall(clogl(make(1 + a, b)));
  return (void)y, make(re, atan2l(b, 1 + a));
}
static wide exact_rsqrt(wide x, wide y) { return (void)y, exact_div(make(1, 0), csqrtl(x)); }
static wide exact_logistic(wide x, wide y) {
  wide half = ctanhl(make(creall(x) / 2, cimagl(x) / 2)), power = cexpl(x);
  if (creall(x) > -1) return (void)y, make(0.5L + creall(half) / 2, cimagl(half) / 2);
  return exact_div(power, make(1 + creall(power), cimagl(power)));
}
#define EXACT(name)                                                                                                    \
  static wide exact_##name(wide x, wide y) { return (void)y, c##name##l(x); }
EXACT(exp)
EXACT(log)
EXACT(sqrt)
EXACT(sin)
EXACT(cos)
EXACT(tan)
EXACT(sinh)
EXACT(cosh)
EXACT(tanh)
EXACT(asin)
EXACT(acos)
EXACT(atan)
EXACT(asinh)
EXACT(acosh)
EXACT(atanh)
static wide exact_pow(wide x, wide y) { return cpowl(x, y); }

/* ---- the functions ---- */
typedef struct complex_function {
  const char *name;
  wide (*exact)(wide x, wide y);
  arrjit_value (*one)(arrjit_graph *g, arrjit_value x);
  arrjit_value (*two)(arrjit_graph *g, arrjit_value x, arrjit_value y);
  double most; /* parts are drawn up to `most` where that is more telling than all bit patterns */
} complex_function;
#define ONE(name, most) {#name, exact_##name, arrjit_##name, NULL, most}
#define TWO(name, most) {#name, exact_##name, NULL, arrjit_##name, most}
static const complex_function functions[] = {
    TWO(mul, 4),   TWO(div, 4),   ONE(sign, 4),  ONE(exp, 90),      ONE(expm1, 90), ONE(log, 3),
    ONE(log1p, 3), ONE(sqrt, 4),  ONE(rsqrt, 4), ONE(sin, 90),      ONE(cos, 90),   ONE(tan, 12),
    ONE(sinh, 90), ONE(cosh, 90), ONE(tanh, 12), ONE(logistic, 40), ONE(asin, 3),   ONE(acos, 3),
    ONE(atan, 3),  ONE(asinh, 3), ONE(acosh, 3), ONE(atanh, 3),     TWO(pow, 3),
};

/* ---- points ---- */
static double random_unit(tk_random *r) { return (double)(tk_next(r) >> 11) * 0x1p-53; }

static double random_part(tk_random *r, arrjit_dtype part, double most) {
  static const double near[] = {0, 1, -1, 0.5, 2, 0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 1e30, 88.7, -104, 709.7};
  uint64_t bits = tk_next(r);
  double x;
  switch (tk_below(r, 6)) {
  case 0: memcpy(&x, &bits, sizeof x); return part == ARRJIT_F64 ? x : tk_load_float(part, &bits);
  case 1: return (random_unit(r) * 2 - 1) * most;
  case 2: return ldexp(random_unit(r) * 2 - 1, (int)tk_below(r, 40) - 32);
  case 3: return near[tk_below(r, TK_COUNT(near))];
  case 4: return near[tk_below(r, TK_COUNT(near))] * (1 + ldexp(random_unit(r) - 0.5, -(int)tk_below(r, 50)));
  default: return random_unit(r) * 2 - 1;
  }
}

static void set_point(tk_random *r, arrjit_dtype part, double most, char *out) {
  double re = random_part(r, part, most), im = random_part(r, part, most);
  if (tk_chance(r, 20)) { /* near the unit circle */
    double angle = random_unit(r) * 6.3, size = 1 + ldexp(random_unit(r) - 0.5, -(int)tk_below(r, 40));
    re = cos(angle) * size, im = sin(angle) * size;
  }
  tk_store_float(part, re, out);
  tk_store_float(part, im, out + arrjit_dtype_bytes(part));
}

static wide load(arrjit_dtype part, const char *element) {
  return make((long double)tk_load_float(part, element),
              (long double)tk_load_float(part, element + arrjit_dtype_bytes(part)));
}

/* ---- measuring ---- */

/* -1: nothing to measure. Below 16 times the least normal number errors are in units of that. */
static double error_of(arrjit_dtype part, wide got, wide exact) {
  bool narrow = part == ARRJIT_F32;
  long double size = fmaxl(fabsl(creall(exact)), fabsl(cimagl(exact))), top = narrow ? 0x1p128L : 0x1p1024L;
  int e;
  if (creall(exact) != creall(exact) || cimagl(exact) != cimagl(exact) || !(size < top / 2)) return -1;
  frexpl(size, &e);
  int least = (narrow ? -125 : -1021) + 4;
  if (e < least) e = least;
  long double off = fmaxl(fabsl(creall(got) - creall(exact)), fabsl(cimagl(got) - cimagl(exact)));
  if (off != off || creall(got) != creall(got) || cimagl(got) != cimagl(got)) return INFINITY;
  return (double)ldexpl(off, (narrow ? 24 : 53) - e);
}

/* A power's error grows with |y ln x|, by which its exponent is off: in parts of a unit for c64, which has f64 inside.
 */
static double ease(const complex_function *f, arrjit_dtype part, double error, wide x, wide y) {
  if (f->exact != exact_pow || error < 0) return error;
  wide log = clogl(x);
  long double power = hypotl(creall(log), cimagl(log)) * hypotl(creall(y), cimagl(y));
  return power < 0x1p40L ? error / (double)(1 + power * (part == ARRJIT_F32 ? 0x1p-27L : 1)) : -1;
}

static arrjit_function *build(arrjit_context *context, const complex_function *f, arrjit_dtype dtype) {
  arrjit_graph *g = NULL;
  arrjit_function *function = NULL;
  arrjit_error error;
  const int64_t n = ULP_CHUNK;
  arrjit_type type = arrjit_type_make(dtype, 1, &n);
  if (arrjit_graph_create(context, &g, &error) != ARRJIT_OK) tk_die("no graph: %s", error.message);
  arrjit_value x = arrjit_param(g, "x", &type), y = f->two ? arrjit_param(g, "y", &type) : NULL;
  arrjit_value made = f->two ? f->two(g, x, y) : f->one(g, x);
  arrjit_return(g, 1, &made, NULL);
  if (arrjit_graph_finish(g, &function, &error) != ARRJIT_OK) tk_die("%s: %s", f->name, error.message);
  arrjit_graph_destroy(g);
  return function;
}

typedef struct worst {
  double error;
  wide x, y;
} worst;

static void measure_chunk(arrjit_context *context, arrjit_function *function, const complex_function *f,
                          arrjit_dtype dtype, tk_random *r, worst *w) {
  arrjit_dtype part = tk_part(dtype);
  const int64_t n = ULP_CHUNK;
  size_t width = arrjit_dtype_bytes(dtype);
  arrjit_type type = arrjit_type_make(dtype, 1, &n);
  arrjit_array *in[2] = {NULL};
  arrjit_result *result = NULL;
  char *data[2];
  for (int k = 0; k < 2; k++) {
    if (arrjit_array_create(context, &type, NULL, &in[k], NULL) != ARRJIT_OK) tk_die("no memory");
    data[k] = arrjit_array_data(in[k]);
    for (size_t i = 0; i < ULP_CHUNK; i++) set_point(r, part, f->most, data[k] + i * width);
  }
  if (arrjit_run(function, NULL, f->two ? 2 : 1, in, &result, NULL) != ARRJIT_OK || !arrjit_result_ok(result))
    tk_die("%s failed", f->name);
  const char *got = arrjit_array_data(arrjit_result_output(result, 0));
  for (size_t i = 0; i < ULP_CHUNK; i++) {
    wide x = load(part, data[0] + i * width), y = load(part, data[1] + i * width);
    double error = ease(f, part, error_of(part, load(part, got + i * width), f->exact(x, y)), x, y);
    if (error > w->error) *w = (worst){error, x, y};
  }
  arrjit_result_destroy(result);
  for (int k = 0; k < 2; k++) arrjit_array_release(in[k]);
}

/* The bound that the op table states: the number after "complex: <= " in the meaning. */
static double find_bound(const char *name) {
  const char *start = "complex: <= ", *at = strstr(aj_ops[aj_op_find(name, strlen(name))].meaning, start);
  if (at == NULL) tk_die("%s has no bound", name);
  return strtod(at + strlen(start), NULL);
}

static bool measure(arrjit_context *context, const complex_function *f, arrjit_dtype dtype, bool full) {
  tk_random random = {29};
  worst w = {0};
  arrjit_function *function = build(context, f, dtype);
  for (uint64_t at = 0; at < (uint64_t)1 << (full ? 23 : 18); at += ULP_CHUNK)
    measure_chunk(context, function, f, dtype, &random, &w);
  arrjit_function_release(function);
  bool good = w.error <= find_bound(f->name);
  printf("%-10s %-5s %.3f  -        %a%+ai", f->name, arrjit_dtype_name(dtype), w.error, (double)creall(w.x),
         (double)cimagl(w.x));
  if (f->two) printf(", %a%+ai", (double)creall(w.y), (double)cimagl(w.y));
  puts(good ? "" : "  ABOVE ITS BOUND");
  fflush(stdout);
  return good;
}

bool ulp_complex(const char *only, bool full, bool *out_any) {
  arrjit_context *context = tk_context(NULL);
  bool good = true;
  for (size_t i = 0; i < TK_COUNT(functions); i++) {
    if (only && strcmp(only, functions[i].name) != 0) continue;
    *out_any = true;
    good &= measure(context, &functions[i], ARRJIT_C64, full);
    good &= measure(context, &functions[i], ARRJIT_C128, full);
  }
  if (arrjit_context_destroy(context) != ARRJIT_OK) tk_die("the context is still in use");
  return good;
}
