/* Functions of NumPy and libm, by name. */
#include "cases.h"

#include <string.h>

static const case_unary unaries[] = {
    {"exp", arrjit_exp},          {"log", arrjit_log},         {"tanh", arrjit_tanh},
    {"sin", arrjit_sin},          {"cos", arrjit_cos},         {"sqrt", arrjit_sqrt},
    {"fabs", arrjit_abs},         {"floor", arrjit_floor},     {"ceil", arrjit_ceil},
    {"trunc", arrjit_trunc},      {"rint", arrjit_round_even}, {"nearbyint", arrjit_round_even},
    {"round", arrjit_round_away}, {"exp2", arrjit_exp2},       {"exp10", arrjit_exp10},
    {"expm1", arrjit_expm1},      {"log2", arrjit_log2},       {"log10", arrjit_log10},
    {"log1p", arrjit_log1p},      {"tan", arrjit_tan},         {"asin", arrjit_asin},
    {"arcsin", arrjit_asin},      {"acos", arrjit_acos},       {"arccos", arrjit_acos},
    {"atan", arrjit_atan},        {"arctan", arrjit_atan},     {"sinh", arrjit_sinh},
    {"cosh", arrjit_cosh},        {"asinh", arrjit_asinh},     {"arcsinh", arrjit_asinh},
    {"acosh", arrjit_acosh},      {"arccosh", arrjit_acosh},   {"atanh", arrjit_atanh},
    {"arctanh", arrjit_atanh},    {"cbrt", arrjit_cbrt},       {"erf", arrjit_erf},
    {"erfc", arrjit_erfc},        {"lgamma", arrjit_lgamma},   {"tgamma", arrjit_tgamma}};

/* C's remainder of x by y, whose quotient is rounded to even: what rem leaves of 2 y, then y taken off while more than
 * half of it is there. Twice that is compared where half would be rounded, half of it where twice would overflow. */
static arrjit_value remainder_even(arrjit_graph *g, arrjit_value x, arrjit_value y) {
  arrjit_value rest = arrjit_abs(g, arrjit_rem(g, x, arrjit_add(g, y, y))), size = arrjit_abs(g, y);
  arrjit_value half = arrjit_mul(g, size, arrjit_const_like(g, size, 0.5));
  arrjit_value tiny = arrjit_lt(g, size, arrjit_const_like(g, size, 1));
  arrjit_value twice = arrjit_add(g, rest, rest), less = arrjit_sub(g, rest, size);
  arrjit_value over = arrjit_select(g, tiny, arrjit_gt(g, twice, size), arrjit_gt(g, rest, half));
  arrjit_value still = arrjit_select(g, tiny, arrjit_ge(g, arrjit_add(g, less, less), size), arrjit_ge(g, less, half));
  arrjit_value left = arrjit_select(g, still, arrjit_sub(g, less, size), less);
  arrjit_value out = arrjit_select(g, over, left, rest);
  arrjit_value sign = arrjit_copysign(g, arrjit_const_like(g, x, 1), x);
  return arrjit_select(g, arrjit_lt(g, sign, arrjit_const_like(g, x, 0)), arrjit_neg(g, out), out);
}

static const case_binary binaries[] = {
    {"fmod", arrjit_rem},    {"copysign", arrjit_copysign},   {"fmin", arrjit_fmin}, {"fmax", arrjit_fmax},
    {"fdim", arrjit_fdim},   {"nextafter", arrjit_nextafter}, {"pow", arrjit_pow},   {"atan2", arrjit_atan2},
    {"hypot", arrjit_hypot}, {"remainder", remainder_even}};

static verdict vocabulary(case_op *op) {
  if (case_plain(op, TK_COUNT(unaries), unaries, TK_COUNT(binaries), binaries)) return PASSED;
  if (strcmp(op->name, "fma") != 0) return case_unknown(op);
  op->out[0] = arrjit_fma(op->g, op->in[0], op->in[1], op->in[2]);
  return PASSED;
}

verdict corpus_umath(corpus_run *run, const json_t *one) { return case_run(run, one, vocabulary, NULL); }
