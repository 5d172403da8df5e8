/* Nx's comparisons and choices; its answers are of type u8. */
#include "nx.h"

#include <string.h>

/* ---- comparisons ---- */

static const case_binary comparisons[] = {{"Nx.equal", arrjit_eq},   {"Nx.not_equal", arrjit_ne},
                                          {"Nx.less", arrjit_lt},    {"Nx.less_equal", arrjit_le},
                                          {"Nx.greater", arrjit_gt}, {"Nx.greater_equal", arrjit_ge}};
static const case_binary connectives[] = {
    {"Nx.logical_and", arrjit_and}, {"Nx.logical_or", arrjit_or}, {"Nx.logical_xor", arrjit_xor}};

static case_two *find_two(const char *name, size_t count, const case_binary *list) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].name, name) == 0) return list[i].build;
  return NULL;
}

static void build_comparison(nx_op *op) {
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 1));
  arrjit_value x = nx_value_as(op, nx_arg(op, 0), dtype), y = nx_value_as(op, nx_arg(op, 1), dtype);
  op->out[0] = nx_u8(op, find_two(op->name, TK_COUNT(comparisons), comparisons)(op->g, x, y));
}

static void build_connective(nx_op *op) {
  arrjit_value x = nx_truth(op, nx_tensor(op, 0)), y = nx_truth(op, nx_tensor(op, 1));
  op->out[0] = nx_u8(op, find_two(op->name, TK_COUNT(connectives), connectives)(op->g, x, y));
}

static void build_not(nx_op *op) { op->out[0] = nx_u8(op, arrjit_not(op->g, nx_truth(op, nx_tensor(op, 0)))); }

/* ---- choices ---- */

/* select(pred, yes, no): the shape is that of pred, unless pred is a scalar. */
static void build_select(nx_op *op) {
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 1), nx_arg(op, 2));
  arrjit_value pred = nx_truth(op, nx_tensor(op, 0));
  op->out[0] = arrjit_select(op->g, pred, nx_value_as(op, nx_arg(op, 1), dtype), nx_value_as(op, nx_arg(op, 2), dtype));
}

/* clip(x, lo, hi) keeps the type of x, unless a bound has a larger one. */
static void build_clip(nx_op *op) {
  arrjit_dtype dtype = nx_merge(nx_join(op, nx_arg(op, 0), nx_arg(op, 1)), nx_join(op, nx_arg(op, 0), nx_arg(op, 2)));
  op->out[0] = arrjit_clamp(op->g, nx_value_as(op, nx_arg(op, 0), dtype), nx_value_as(op, nx_arg(op, 1), dtype),
                            nx_value_as(op, nx_arg(op, 2), dtype));
}

/* ---- nearness ---- */

static double get_tolerance(const nx_op *op, const char *name, double otherwise) {
  const json_t *value = nx_option(op, name);
  return json_is_number(value) ? json_number_value(value) : otherwise;
}

static arrjit_value is_infinite(nx_op *op, arrjit_value x) {
  if (!tk_is_complex(nx_dtype_of(x))) return arrjit_is_inf(op->g, x);
  return arrjit_or(op->g, arrjit_is_inf(op->g, arrjit_real(op->g, x)), arrjit_is_inf(op->g, arrjit_imag(op->g, x)));
}

/* |x - y| <= atol + rtol |y|; infinities are near themselves alone. */
static void build_all_close(nx_op *op) {
  arrjit_graph *g = op->g;
  arrjit_dtype dtype = nx_floating(nx_join(op, nx_arg(op, 0), nx_arg(op, 1)));
  arrjit_value x = nx_value_as(op, nx_arg(op, 0), dtype), y = nx_value_as(op, nx_arg(op, 1), dtype);
  arrjit_value distance = arrjit_abs(g, arrjit_sub(g, x, y)), size = arrjit_abs(g, y);
  arrjit_value bound = arrjit_add(g, arrjit_const_like(g, size, get_tolerance(op, "atol", 1e-8)),
                                  arrjit_mul(g, arrjit_const_like(g, size, get_tolerance(op, "rtol", 1e-5)), size));
  arrjit_value infinite = arrjit_or(g, is_infinite(op, x), is_infinite(op, y));
  arrjit_value near = arrjit_select(g, infinite, arrjit_eq(g, x, y), arrjit_le(g, distance, bound));
  if (nx_flag(op, "equal_nan", false)) nx_skip(op, "op Nx.all_close with equal_nan");
  op->out[0] = nx_u8(op, arrjit_reduce_and(g, near, ARRJIT_ALL_AXES, NULL));
}

static const nx_row rows[] = {{"Nx.logical_not", build_not},
                              {"Nx.select", build_select},
                              {"Nx.clip", build_clip},
                              {"Nx.all_close", build_all_close}};

nx_build *nx_compare_find(const char *name) {
  if (find_two(name, TK_COUNT(comparisons), comparisons)) return build_comparison;
  if (find_two(name, TK_COUNT(connectives), connectives)) return build_connective;
  return nx_find(name, TK_COUNT(rows), rows);
}
