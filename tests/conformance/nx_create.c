/* Nx's ways to make tensors of nothing: counting, filling, constants of a type. */
#include "nx.h"

#include <math.h>
#include <string.h>

/* A shape is a tuple, or a number for a vector of that many. */
static size_t read_shape(nx_op *op, const json_t *value, int64_t *dims) {
  if (!json_is_integer(value) && !json_object_get(value, "tuple")) nx_skip(op, "op %s like a tensor", op->name);
  return nx_ints(value, dims);
}

/* iota(shape, axis): along an axis, or row-major through the whole. */
static void build_iota(nx_op *op) {
  int64_t dims[CASE_MOST];
  size_t rank = read_shape(op, nx_arg(op, 0), dims);
  arrjit_dtype dtype = nx_type(op, nx_option(op, "type"), ARRJIT_I32);
  const int64_t count[] = {nx_product(rank, dims)};
  if (json_is_integer(nx_option(op, "axis")))
    op->out[0] = nx_iota(op, dtype, rank, dims, nx_axis(op, nx_int(op, "axis", 0), (int64_t)rank));
  else
    op->out[0] = nx_reshape(op, nx_iota(op, dtype, 1, count, 0), rank, dims);
}

static void build_eye(nx_op *op) {
  int64_t dims[CASE_MOST];
  size_t rank = read_shape(op, nx_arg(op, 0), dims);
  if (rank == 1) dims[rank++] = dims[0];
  arrjit_dtype dtype = nx_type(op, nx_option(op, "type"), ARRJIT_I32);
  arrjit_value row = nx_iota(op, ARRJIT_I32, rank, dims, (int64_t)rank - 2);
  arrjit_value column = nx_iota(op, ARRJIT_I32, rank, dims, (int64_t)rank - 1);
  op->out[0] = nx_as(op, arrjit_eq(op->g, row, column), dtype);
}

static void build_broadcast(nx_op *op) {
  int64_t dims[CASE_MOST];
  size_t rank = read_shape(op, nx_arg(op, 1), dims);
  op->out[0] = nx_broadcast(op, nx_tensor(op, 0), rank, dims);
}

/* fill(like, value) */
static void build_fill(nx_op *op) {
  arrjit_value like = nx_tensor(op, 0);
  arrjit_dtype dtype = nx_type(op, nx_option(op, "type"), nx_join(op, nx_arg(op, 0), nx_arg(op, 1)));
  op->out[0] =
      arrjit_full(op->g, nx_value_as(op, nx_arg(op, 1), dtype), (int32_t)nx_rank(like), arrjit_value_type(like).dims);
}

/* linspace(start, stop): n numbers along a new last axis. */
static void build_linspace(nx_op *op) {
  arrjit_value start = nx_as(op, nx_tensor(op, 0), ARRJIT_F32), stop = nx_as(op, nx_tensor(op, 1), ARRJIT_F32);
  arrjit_dtype dtype = nx_type(op, nx_option(op, "type"), ARRJIT_F32);
  const arrjit_type type = arrjit_value_type(start);
  int64_t n = nx_int(op, "n", 50), steps = nx_flag(op, "endpoint", true) ? n - 1 : n, dims[ARRJIT_MAX_RANK];
  nx_dims a = nx_shape_name(start), b = nx_shape_name(stop);
  if (strcmp(a.text, b.text) != 0)
    nx_raise(op, "expected start and stop to have the same shape. Got shapes %s and %s", a.text, b.text);
  memcpy(dims, type.dims, sizeof dims);
  dims[nx_rank(start)] = n;
  arrjit_value step =
      arrjit_div(op->g, arrjit_sub(op->g, stop, start), arrjit_const_like(op->g, start, (double)(steps ? steps : 1)));
  arrjit_value count = nx_iota(op, ARRJIT_F32, (size_t)nx_rank(start) + 1, dims, nx_rank(start));
  step = arrjit_expand_dims(op->g, step, nx_rank(start));
  start = arrjit_expand_dims(op->g, start, nx_rank(start));
  op->out[0] = nx_as(op, arrjit_add(op->g, arrjit_mul(op->g, count, step), start), dtype);
}

/* ---- constants ---- */

typedef double constant(const nx_format *f);

static double get_nan(const nx_format *f) { return (void)f, (double)NAN; }
static double get_infinity(const nx_format *f) { return (void)f, (double)INFINITY; }
static double get_neg_infinity(const nx_format *f) { return (void)f, -(double)INFINITY; }
static double get_normal(const nx_format *f) { return ldexp(1, 1 - f->exponent); }
static double get_epsilon(const nx_format *f) { return ldexp(1, -f->mantissa); }
static double get_largest(const nx_format *f) { return ldexp(2 - ldexp(1, -f->mantissa), f->exponent); }
static double get_least(const nx_format *f) { return -get_largest(f); }
static double get_pi(const nx_format *f) { return (void)f, 3.14159265358979323846; }
static double get_e(const nx_format *f) { return (void)f, 2.71828182845904523536; }
static double get_euler_gamma(const nx_format *f) { return (void)f, 0.57721566490153286061; }

static const struct {
  const char *name;
  constant *get;
  int whole; /* integers have it: the largest 1, the least -1 */
} constants[] = {{"Nx.Constants.nan", get_nan, 0},
                 {"Nx.Constants.infinity", get_infinity, 0},
                 {"Nx.Constants.neg_infinity", get_neg_infinity, 0},
                 {"Nx.Constants.max", get_infinity, 1},
                 {"Nx.Constants.min", get_neg_infinity, -1},
                 {"Nx.Constants.max_finite", get_largest, 1},
                 {"Nx.Constants.min_finite", get_least, -1},
                 {"Nx.Constants.smallest_positive_normal", get_normal, 0},
                 {"Nx.Constants.epsilon", get_epsilon, 0},
                 {"Nx.Constants.pi", get_pi, 0},
                 {"Nx.Constants.e", get_e, 0},
                 {"Nx.Constants.euler_gamma", get_euler_gamma, 0}};

/* The largest integer is all ones, but for the sign of a signed one; the least its complement. */
static arrjit_value build_bound(nx_op *op, arrjit_dtype dtype, int side) {
  arrjit_value ones = arrjit_not(op->g, nx_number(op, dtype, 0));
  if (dtype <= ARRJIT_I64) ones = arrjit_shr_logical(op->g, ones, nx_number(op, dtype, 1));
  return side > 0 ? ones : arrjit_not(op->g, ones);
}

static void build_constant(nx_op *op) {
  arrjit_dtype dtype = nx_type(op, nx_arg(op, 0), ARRJIT_F32);
  const nx_format *format = nx_format_of(dtype);
  for (size_t i = 0; i < TK_COUNT(constants) && op->told == PASSED; i++) {
    if (strcmp(constants[i].name, op->name) != 0) continue;
    if (nx_is_integer(dtype) && constants[i].whole) op->out[0] = build_bound(op, dtype, constants[i].whole);
    if (format) op->out[0] = nx_number(op, dtype, constants[i].get(format));
  }
  if (!op->out[0]) nx_raise(op, "only floating types are supported, got: %s", nx_type_name(dtype).text);
}

static void build_i(nx_op *op) {
  arrjit_dtype dtype = nx_type(op, nx_arg(op, 0), ARRJIT_C64);
  if (!tk_is_complex(dtype))
    nx_raise(op, "invalid type for complex number. Expected {:c, 64} or {:c, 128}, got: %s", nx_type_name(dtype).text);
  arrjit_dtype part = tk_part(dtype);
  op->out[0] = arrjit_complex(op->g, nx_number(op, part, 0), nx_number(op, part, 1));
}

static const nx_row rows[] = {{"Nx.iota", build_iota},           {"Nx.eye", build_eye},
                              {"Nx.broadcast", build_broadcast}, {"Nx.fill", build_fill},
                              {"Nx.linspace", build_linspace},   {"Nx.Constants.i", build_i}};

nx_build *nx_create_find(const char *name) {
  for (size_t i = 0; i < TK_COUNT(constants); i++)
    if (strcmp(constants[i].name, name) == 0) return build_constant;
  return nx_find(name, TK_COUNT(rows), rows);
}
