/* Nx's reductions and running reductions. */
#include "nx.h"

#include <string.h>

typedef arrjit_value fold(arrjit_graph *g, arrjit_value x, size_t axis_count, const int64_t *axes);

/* Over option `axes`, whose dims stay as 1 with `keep_axes`. */
static arrjit_value reduce(nx_op *op, fold *by, arrjit_value x) {
  const arrjit_type type = arrjit_value_type(x);
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  arrjit_value out = by(op->g, x, count, axes);
  return nx_flag(op, "keep_axes", false) ? nx_keep(op, out, &type, count, axes) : out;
}

static void build_sum(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  op->out[0] = reduce(op, arrjit_reduce_sum, nx_as(op, x, nx_aggregate(nx_dtype_of(x))));
}

/* Nx starts with 1, which a complex product of infinities tells. */
static void build_product(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  arrjit_value out = reduce(op, arrjit_reduce_prod, nx_as(op, x, nx_aggregate(nx_dtype_of(x))));
  bool complex = tk_is_complex(nx_dtype_of(x));
  op->out[0] = complex ? arrjit_mul(op->g, nx_number(op, nx_dtype_of(x), 1), out) : out;
}

static void build_reduce_max(nx_op *op) { op->out[0] = reduce(op, arrjit_reduce_max, nx_tensor(op, 0)); }

static void build_reduce_min(nx_op *op) { op->out[0] = reduce(op, arrjit_reduce_min, nx_tensor(op, 0)); }

static void build_all(nx_op *op) {
  op->out[0] = nx_u8(op, reduce(op, arrjit_reduce_and, nx_truth(op, nx_tensor(op, 0))));
}

static void build_any(nx_op *op) {
  op->out[0] = nx_u8(op, reduce(op, arrjit_reduce_or, nx_truth(op, nx_tensor(op, 0))));
}

/* reduce(x, start, function) */
static void build_reduce(nx_op *op) {
  static const case_binary functions[] = {
      {"Nx.add/2", arrjit_add}, {"Nx.multiply/2", arrjit_mul}, {"Nx.min/2", arrjit_min}, {"Nx.max/2", arrjit_max}};
  const char *name = json_string_value(json_object_get(nx_arg(op, 2), "fn"));
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 1));
  arrjit_value x = nx_value_as(op, nx_arg(op, 0), dtype), start = nx_value_as(op, nx_arg(op, 1), dtype);
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  for (size_t i = 0; name && i < TK_COUNT(functions); i++) {
    if (strcmp(functions[i].name, name) != 0) continue;
    arrjit_value older, newer, both;
    arrjit_reduce_begin(op->g, 1, &x, &start, count, axes, &older, &newer);
    both = functions[i].build(op->g, older, newer);
    arrjit_reduce_end(op->g, 1, &both, &op->out[0]);
    return;
  }
  nx_skip(op, "op Nx.reduce by %s", name ? name : "what is no function");
}

/* ---- positions ---- */

static void build_arg(nx_op *op) {
  bool most = strcmp(op->name, "Nx.argmax") == 0, all = !json_is_integer(nx_option(op, "axis"));
  arrjit_value x = nx_tensor(op, 0), from = all ? nx_flatten(op, x) : x;
  const arrjit_type type = arrjit_value_type(from);
  int64_t axis = all ? 0 : nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  if (nx_option(op, "tie_break")) nx_skip(op, "op %s with tie_break", op->name);
  arrjit_value place = (most ? arrjit_argmax : arrjit_argmin)(op->g, from, axis);
  if (nx_flag(op, "keep_axis", false)) place = nx_keep(op, place, &type, 1, &axis);
  op->out[0] = nx_as(op, place, nx_type(op, nx_option(op, "type"), ARRJIT_I32));
}

/* ---- running ---- */

typedef arrjit_value run(arrjit_graph *g, arrjit_value x, int64_t axis, int64_t reverse);

static void build_cumulative(nx_op *op) {
  static const struct {
    const char *name;
    run *build;
  } runs[] = {{"Nx.cumulative_sum", arrjit_cumsum},
              {"Nx.cumulative_product", arrjit_cumprod},
              {"Nx.cumulative_min", arrjit_cummin},
              {"Nx.cumulative_max", arrjit_cummax}};
  arrjit_value x = nx_tensor(op, 0);
  int64_t axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  for (size_t i = 0; i < TK_COUNT(runs); i++)
    if (strcmp(runs[i].name, op->name) == 0) op->out[0] = runs[i].build(op->g, x, axis, nx_flag(op, "reverse", false));
}

/* Differences of neighbours, `order` times. */
static void build_diff(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t axis = nx_axis(op, nx_int(op, "axis", -1), nx_rank(x));
  for (int64_t i = nx_int(op, "order", 1); i > 0; i--) {
    int64_t n = nx_extent(x, axis);
    x = arrjit_sub(op->g, nx_slice(op, x, axis, 1, n, 1), nx_slice(op, x, axis, 0, n - 1, 1));
  }
  op->out[0] = x;
}

static const nx_row rows[] = {{"Nx.sum", build_sum},
                              {"Nx.product", build_product},
                              {"Nx.reduce_max", build_reduce_max},
                              {"Nx.reduce_min", build_reduce_min},
                              {"Nx.all", build_all},
                              {"Nx.any", build_any},
                              {"Nx.reduce", build_reduce},
                              {"Nx.argmax", build_arg},
                              {"Nx.argmin", build_arg},
                              {"Nx.cumulative_sum", build_cumulative},
                              {"Nx.cumulative_product", build_cumulative},
                              {"Nx.cumulative_min", build_cumulative},
                              {"Nx.cumulative_max", build_cumulative},
                              {"Nx.diff", build_diff}};

nx_build *nx_reduce_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
