/* Nx's windows. */
#include "nx.h"

#include <string.h>

typedef struct window {
  int32_t rank;
  int64_t sizes[CASE_MOST], strides[CASE_MOST], dilations[CASE_MOST], low[CASE_MOST], high[CASE_MOST];
} window;

/* One number for all axes, or one each; 1 when nothing is said. */
static void read_each(const nx_op *op, const char *name, int32_t rank, int64_t *out) {
  size_t count = nx_ints(nx_option(op, name), out);
  for (int32_t i = 0; count < 2 && i < rank; i++) out[i] = count == 1 ? out[0] : 1;
}

/* :valid is none; :same what a window reaches beyond its element, whatever the strides. */
static void read_padding(nx_op *op, window *w) {
  const json_t *padding = nx_option(op, "padding");
  bool same = strcmp(nx_atom(padding), "same") == 0;
  for (int32_t i = 0; i < w->rank; i++) {
    int64_t of[CASE_MOST] = {0}, reach = (w->sizes[i] - 1) * w->dilations[i];
    if (nx_count(padding) > 0) nx_ints(nx_element(padding, (size_t)i), of);
    w->low[i] = same ? reach / 2 : of[0];
    w->high[i] = same ? reach - reach / 2 : of[1];
  }
}

static window read_window(nx_op *op, const json_t *sizes) {
  window w = {0};
  w.rank = (int32_t)nx_ints(sizes, w.sizes);
  read_each(op, "strides", w.rank, w.strides);
  read_each(op, "window_dilations", w.rank, w.dilations);
  read_padding(op, &w);
  return w;
}

typedef arrjit_value fold(arrjit_graph *g, arrjit_value x, int32_t rank, const int64_t *sizes, const int64_t *strides,
                          const int64_t *low, const int64_t *high, const int64_t *base_dilation,
                          const int64_t *window_dilation);

static arrjit_value fold_products(arrjit_graph *g, arrjit_value x, int32_t rank, const int64_t *sizes,
                                  const int64_t *strides, const int64_t *low, const int64_t *high,
                                  const int64_t *base_dilation, const int64_t *window_dilation) {
  arrjit_value one = arrjit_const_like(g, x, 1), older, newer, both, out;
  arrjit_reduce_window_begin(g, 1, &x, &one, rank, sizes, strides, low, high, base_dilation, window_dilation, &older,
                             &newer);
  both = arrjit_mul(g, older, newer);
  arrjit_reduce_window_end(g, 1, &both, &out);
  return out;
}

static arrjit_value fold_windows(nx_op *op, fold *by, arrjit_value x, const window *w) {
  return by(op->g, x, w->rank, w->sizes, w->strides, w->low, w->high, NULL, w->dilations);
}

static const struct {
  const char *name;
  fold *build;
} folds[] = {{"Nx.window_sum", arrjit_reduce_window_sum},
             {"Nx.window_min", arrjit_reduce_window_min},
             {"Nx.window_max", arrjit_reduce_window_max},
             {"Nx.window_product", fold_products}};

static void build_window(nx_op *op) {
  window w = read_window(op, nx_arg(op, 1));
  for (size_t i = 0; i < TK_COUNT(folds); i++)
    if (strcmp(folds[i].name, op->name) == 0) op->out[0] = fold_windows(op, folds[i].build, nx_tensor(op, 0), &w);
}

/* Padding counts. */
static void build_window_mean(nx_op *op) {
  window w = read_window(op, nx_arg(op, 1));
  arrjit_value sum = fold_windows(op, arrjit_reduce_window_sum, nx_float(op, nx_tensor(op, 0)), &w);
  double count = (double)nx_product((size_t)w.rank, w.sizes);
  op->out[0] = arrjit_div(op->g, sum, nx_number(op, nx_dtype_of(sum), count));
}

/* window_scatter_min(x, source, init, sizes): each element of source is added to init where its window has the least;
 * the last of equal ones. Padding is init, and may be the least: then the element is lost. */
static void build_window_scatter(nx_op *op) {
  bool least = strcmp(op->name, "Nx.window_scatter_min") == 0;
  arrjit_value x = nx_tensor(op, 0), source = nx_as(op, nx_tensor(op, 1), nx_dtype_of(x));
  arrjit_value init = nx_value_as(op, nx_arg(op, 2), nx_dtype_of(x)), left, right, older, newer, out;
  const int64_t none[ARRJIT_MAX_RANK] = {0};
  window w = read_window(op, nx_arg(op, 3));
  arrjit_value padded = arrjit_pad(op->g, x, init, w.rank, w.low, w.high, none);
  arrjit_select_and_scatter_begin(op->g, padded, source, init, w.rank, w.sizes, w.strides, none, none, &left, &right);
  arrjit_value stays = (least ? arrjit_lt : arrjit_gt)(op->g, left, right);
  arrjit_select_and_scatter_combine(op->g, stays, &older, &newer);
  arrjit_select_and_scatter_end(op->g, arrjit_add(op->g, older, newer), &out);
  for (int32_t i = 0; i < w.rank; i++) out = nx_slice(op, out, i, w.low[i], w.low[i] + nx_extent(x, i), 1);
  op->out[0] = out;
}

/* ---- convolution ---- */

/* conv(x[batch, features, ..], kernel[results, features of a group, ..]) */
static void build_conv(nx_op *op) {
  arrjit_dtype dtype = nx_floating(nx_join(op, nx_arg(op, 0), nx_arg(op, 1)));
  arrjit_value x = nx_value_as(op, nx_arg(op, 0), dtype), kernel = nx_value_as(op, nx_arg(op, 1), dtype);
  window w = {.rank = (int32_t)nx_rank(kernel) - 2};
  int64_t data[ARRJIT_MAX_RANK] = {0}, weights[ARRJIT_MAX_RANK], holes[CASE_MOST];
  for (int32_t i = 0; i < w.rank; i++) {
    w.sizes[i] = nx_extent(kernel, i + 2);
    data[i + 1] = weights[i] = i + 2;
  }
  if (w.rank < 1) nx_raise(op, "%s: a kernel without spatial dims", op->name);
  if (op->told != PASSED) return;
  data[w.rank + 1] = weights[w.rank] = 1;
  weights[w.rank + 1] = 0;
  read_each(op, "strides", w.rank, w.strides);
  read_each(op, "kernel_dilation", w.rank, w.dilations);
  read_each(op, "input_dilation", w.rank, holes);
  read_padding(op, &w);
  op->out[0] =
      arrjit_convolution(op->g, x, kernel, w.rank, data, weights, data, w.strides, w.low, w.high, holes, w.dilations, 0,
                         NULL, nx_int(op, "feature_group_size", 1), nx_int(op, "batch_group_size", 1));
}

static const nx_row rows[] = {{"Nx.window_sum", build_window},
                              {"Nx.window_min", build_window},
                              {"Nx.window_max", build_window},
                              {"Nx.window_product", build_window},
                              {"Nx.window_mean", build_window_mean},
                              {"Nx.window_scatter_min", build_window_scatter},
                              {"Nx.window_scatter_max", build_window_scatter},
                              {"Nx.conv", build_conv}};

nx_build *nx_window_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
