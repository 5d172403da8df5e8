/* Nx's ops of one and of two operands, element by element. */
#include "nx.h"

#include <math.h>
#include <string.h>

/* ---- one operand ---- */

/* Of complex numbers by their logarithm. */
static arrjit_value cube_root(arrjit_graph *g, arrjit_value x) {
  if (!tk_is_complex(arrjit_value_type(x).dtype)) return arrjit_cbrt(g, x);
  arrjit_value log = arrjit_log(g, x), re = arrjit_real(g, log), im = arrjit_imag(g, log);
  arrjit_value three = arrjit_const_like(g, re, 3);
  return arrjit_exp(g, arrjit_complex(g, arrjit_div(g, re, three), arrjit_div(g, im, three)));
}

/* Functions; integers become floats. */
static const case_unary functions[] = {
    {"Nx.exp", arrjit_exp},     {"Nx.expm1", arrjit_expm1}, {"Nx.log1p", arrjit_log1p},
    {"Nx.log2", arrjit_log2},   {"Nx.log10", arrjit_log10}, {"Nx.sin", arrjit_sin},
    {"Nx.cos", arrjit_cos},     {"Nx.tan", arrjit_tan},     {"Nx.sinh", arrjit_sinh},
    {"Nx.cosh", arrjit_cosh},   {"Nx.tanh", arrjit_tanh},   {"Nx.asin", arrjit_asin},
    {"Nx.acos", arrjit_acos},   {"Nx.atan", arrjit_atan},   {"Nx.asinh", arrjit_asinh},
    {"Nx.acosh", arrjit_acosh}, {"Nx.atanh", arrjit_atanh}, {"Nx.sqrt", arrjit_sqrt},
    {"Nx.rsqrt", arrjit_rsqrt}, {"Nx.cbrt", cube_root},     {"Nx.sigmoid", arrjit_logistic},
    {"Nx.erf", arrjit_erf},     {"Nx.erfc", arrjit_erfc},   {"Nx.erf_inv", arrjit_erf_inv}};
/* Those that leave the type as it is. */
static const case_unary keepers[] = {{"Nx.abs", arrjit_abs}, {"Nx.negate", arrjit_neg}, {"Nx.sign", arrjit_sign}};
/* Those that leave integers alone. */
static const case_unary rounders[] = {
    {"Nx.floor", arrjit_floor}, {"Nx.ceil", arrjit_ceil}, {"Nx.round", arrjit_round_away}};
static const case_unary bits[] = {
    {"Nx.bitwise_not", arrjit_not}, {"Nx.population_count", arrjit_popcount}, {"Nx.count_leading_zeros", arrjit_clz}};

static case_one *find_one(const char *name, size_t count, const case_unary *list) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].name, name) == 0) return list[i].build;
  return NULL;
}

static void build_function(nx_op *op) {
  op->out[0] = find_one(op->name, TK_COUNT(functions), functions)(op->g, nx_float(op, nx_tensor(op, 0)));
}

static void build_keeper(nx_op *op) {
  op->out[0] = find_one(op->name, TK_COUNT(keepers), keepers)(op->g, nx_tensor(op, 0));
}

static void build_rounder(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  bool whole = nx_is_integer(nx_dtype_of(x));
  op->out[0] = whole ? x : find_one(op->name, TK_COUNT(rounders), rounders)(op->g, x);
}

static bool want_integer(nx_op *op, arrjit_dtype dtype) {
  if (!nx_is_integer(dtype))
    nx_raise(op, "bitwise operators expect integer tensors as inputs and outputs an integer tensor, got: %s",
             nx_type_name(dtype).text);
  return op->told == PASSED;
}

static void build_bits(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  if (want_integer(op, nx_dtype_of(x))) op->out[0] = find_one(op->name, TK_COUNT(bits), bits)(op->g, x);
}

/* log(x), log(x, base) */
static void build_log(nx_op *op) {
  op->out[0] = arrjit_log(op->g, nx_float(op, nx_tensor(op, 0)));
  if (nx_arg(op, 1))
    op->out[0] = arrjit_div(op->g, op->out[0], arrjit_log(op->g, nx_as(op, nx_tensor(op, 1), nx_dtype_of(op->out[0]))));
}

/* ---- complex parts ---- */

static void build_conjugate(nx_op *op) { op->out[0] = arrjit_conj(op->g, nx_complex(op, nx_tensor(op, 0))); }

static void build_real(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  op->out[0] = tk_is_complex(nx_dtype_of(x)) ? arrjit_real(op->g, x) : nx_float(op, x);
}

static void build_imag(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  if (tk_is_complex(nx_dtype_of(x)))
    op->out[0] = arrjit_imag(op->g, x);
  else
    op->out[0] = nx_full(op, nx_floating(nx_dtype_of(x)), 0, (size_t)nx_rank(x), arrjit_value_type(x).dims);
}

static void build_phase(nx_op *op) {
  arrjit_value x = nx_complex(op, nx_tensor(op, 0));
  op->out[0] = arrjit_atan2(op->g, arrjit_imag(op->g, x), arrjit_real(op->g, x));
}

/* ---- questions ---- */

typedef arrjit_value ask(arrjit_graph *g, arrjit_value x);

/* Of a complex number either part; no integer is anything but finite. */
static void build_question(nx_op *op) {
  ask *question = strcmp(op->name, "Nx.is_nan") == 0 ? arrjit_is_nan : arrjit_is_inf;
  arrjit_value x = nx_float(op, nx_tensor(op, 0));
  if (tk_is_complex(nx_dtype_of(x)))
    x = arrjit_or(op->g, question(op->g, arrjit_real(op->g, x)), question(op->g, arrjit_imag(op->g, x)));
  else
    x = question(op->g, x);
  op->out[0] = nx_u8(op, x);
}

/* ---- two operands ---- */

static arrjit_value multiply_i(arrjit_graph *g, arrjit_value x, int sign) {
  arrjit_value re = arrjit_real(g, x), im = arrjit_imag(g, x);
  return sign > 0 ? arrjit_complex(g, arrjit_neg(g, im), re) : arrjit_complex(g, im, arrjit_neg(g, re));
}

/* Of complex numbers -i log((x + iy) / sqrt(x^2 + y^2)). */
static arrjit_value angle(arrjit_graph *g, arrjit_value y, arrjit_value x) {
  if (!tk_is_complex(arrjit_value_type(y).dtype)) return arrjit_atan2(g, y, x);
  arrjit_value length = arrjit_sqrt(g, arrjit_add(g, arrjit_mul(g, x, x), arrjit_mul(g, y, y)));
  return multiply_i(g, arrjit_log(g, arrjit_div(g, arrjit_add(g, x, multiply_i(g, y, 1)), length)), -1);
}

static arrjit_value power(arrjit_graph *g, arrjit_value x, arrjit_value y) {
  return nx_is_integer(arrjit_value_type(x).dtype) ? arrjit_ipow(g, x, y) : arrjit_pow(g, x, y);
}

static const case_binary joined[] = {{"Nx.add", arrjit_add}, {"Nx.subtract", arrjit_sub},  {"Nx.multiply", arrjit_mul},
                                     {"Nx.pow", power},      {"Nx.remainder", arrjit_rem}, {"Nx.min", arrjit_min},
                                     {"Nx.max", arrjit_max}};
static const case_binary floats[] = {{"Nx.divide", arrjit_div}, {"Nx.atan2", angle}};
static const case_binary integers[] = {{"Nx.quotient", arrjit_div},   {"Nx.bitwise_and", arrjit_and},
                                       {"Nx.bitwise_or", arrjit_or},  {"Nx.bitwise_xor", arrjit_xor},
                                       {"Nx.left_shift", arrjit_shl}, {"Nx.right_shift", arrjit_shr_arith}};

static void build_two(nx_op *op, size_t count, const case_binary *list, arrjit_dtype dtype) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].name, op->name) == 0)
      op->out[0] = list[i].build(op->g, nx_value_as(op, nx_arg(op, 0), dtype), nx_value_as(op, nx_arg(op, 1), dtype));
}

static void build_joined(nx_op *op) {
  build_two(op, TK_COUNT(joined), joined, nx_join(op, nx_arg(op, 0), nx_arg(op, 1)));
}

static void build_floats(nx_op *op) {
  build_two(op, TK_COUNT(floats), floats, nx_floating(nx_join(op, nx_arg(op, 0), nx_arg(op, 1))));
}

static void build_integers(nx_op *op) {
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 1));
  bool bitwise = strcmp(op->name, "Nx.quotient") != 0;
  if (bitwise && !want_integer(op, dtype)) return;
  if (strcmp(op->name, "Nx.right_shift") == 0 && dtype >= ARRJIT_U8 && dtype <= ARRJIT_U64)
    op->out[0] =
        arrjit_shr_logical(op->g, nx_value_as(op, nx_arg(op, 0), dtype), nx_value_as(op, nx_arg(op, 1), dtype));
  else
    build_two(op, TK_COUNT(integers), integers, dtype);
}

/* complex(re, im) */
static void build_complex(nx_op *op) {
  bool wide = nx_join(op, nx_arg(op, 0), nx_arg(op, 1)) == ARRJIT_F64;
  arrjit_dtype part = wide ? ARRJIT_F64 : ARRJIT_F32;
  op->out[0] = arrjit_complex(op->g, nx_value_as(op, nx_arg(op, 0), part), nx_value_as(op, nx_arg(op, 1), part));
}

/* A number in bfloat16, whose bits the original looks at. */
static void build_dump(nx_op *op) { op->out[0] = nx_as(op, nx_tensor(op, 0), ARRJIT_BF16); }

/* ---- names ---- */

static const nx_row rows[] = {{"Nx.log", build_log},
                              {"Nx.conjugate", build_conjugate},
                              {"Nx.real", build_real},
                              {"Nx.imag", build_imag},
                              {"Nx.phase", build_phase},
                              {"Nx.is_nan", build_question},
                              {"Nx.is_infinity", build_question},
                              {"Nx.complex", build_complex},
                              {"Nx.Floating.dump_bf16", build_dump}};

static bool is_two(const char *name, size_t count, const case_binary *list) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].name, name) == 0) return true;
  return false;
}

nx_build *nx_elementwise_find(const char *name) {
  if (find_one(name, TK_COUNT(functions), functions)) return build_function;
  if (find_one(name, TK_COUNT(keepers), keepers)) return build_keeper;
  if (find_one(name, TK_COUNT(rounders), rounders)) return build_rounder;
  if (find_one(name, TK_COUNT(bits), bits)) return build_bits;
  if (is_two(name, TK_COUNT(joined), joined)) return build_joined;
  if (is_two(name, TK_COUNT(floats), floats)) return build_floats;
  if (is_two(name, TK_COUNT(integers), integers)) return build_integers;
  return nx_find(name, TK_COUNT(rows), rows);
}
