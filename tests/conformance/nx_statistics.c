/* Nx's statistics: means, spreads, what is in the middle, what is there most often. */
#include "nx.h"

#include <string.h>

/* Over these axes, whose dims stay as 1 with `keep_axes`. */
static arrjit_value keep_asked(nx_op *op, arrjit_value out, const arrjit_type *type, size_t count,
                               const int64_t *axes) {
  return nx_flag(op, "keep_axes", false) ? nx_keep(op, out, type, count, axes) : out;
}

static arrjit_value divide_by(nx_op *op, arrjit_value x, double count) {
  return arrjit_div(op->g, x, nx_number(op, nx_dtype_of(x), count));
}

/* ---- means ---- */

static int64_t count_over(arrjit_value x, size_t count, const int64_t *axes) {
  int64_t product = 1;
  for (size_t i = 0; i < count; i++) product *= nx_extent(x, axes[i]);
  return product;
}

static void build_mean(nx_op *op) {
  arrjit_value x = nx_float(op, nx_tensor(op, 0));
  const arrjit_type type = arrjit_value_type(x);
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  arrjit_value sum = arrjit_reduce_sum(op->g, x, count, axes);
  op->out[0] = keep_asked(op, divide_by(op, sum, (double)count_over(x, count, axes)), &type, count, axes);
}

/* weighted_mean(x, weights): weights have the shape of x, or of its axes that are summed over. */
static void build_weighted_mean(nx_op *op) {
  arrjit_value x = nx_float(op, nx_tensor(op, 0)), weights = nx_float(op, nx_tensor(op, 1));
  arrjit_dtype dtype = nx_merge(nx_dtype_of(x), nx_dtype_of(weights));
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  const arrjit_type type = arrjit_value_type(x);
  x = nx_as(op, x, dtype);
  weights = nx_as(op, weights, dtype);
  if (nx_rank(weights) == (int64_t)count)
    weights = arrjit_broadcast(op->g, weights, (int32_t)nx_rank(x), type.dims, count, axes);
  arrjit_value sum = arrjit_reduce_sum(op->g, arrjit_mul(op->g, x, weights), count, axes);
  sum = arrjit_div(op->g, sum, arrjit_reduce_sum(op->g, weights, count, axes));
  op->out[0] = keep_asked(op, sum, &type, count, axes);
}

/* ---- spreads ---- */

static void build_variance(nx_op *op) {
  bool root = strcmp(op->name, "Nx.standard_deviation") == 0;
  arrjit_value x = nx_float(op, nx_tensor(op, 0));
  const arrjit_type type = arrjit_value_type(x);
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  arrjit_value out = (root ? arrjit_standard_deviation : arrjit_variance)(op->g, x, nx_int(op, "ddof", 0), count, axes);
  op->out[0] = keep_asked(op, out, &type, count, axes);
}

/* covariance(x[.., n, d], mean[.., d]); the mean may bring leading dims of its own. */
static void build_covariance(nx_op *op) {
  arrjit_value x = nx_float(op, nx_tensor(op, 0));
  int64_t rows = nx_rank(x) - 2;
  if (rows < 0) nx_raise(op, "%s: a covariance of what is no matrix", op->name);
  if (op->told != PASSED) return;
  arrjit_value mean = nx_arg(op, 1) ? nx_float(op, nx_tensor(op, 1)) : arrjit_mean(op->g, x, 1, &rows);
  arrjit_dtype dtype = nx_merge(nx_dtype_of(x), nx_dtype_of(mean));
  mean = arrjit_expand_dims(op->g, nx_as(op, mean, dtype), nx_rank(mean) - 1);
  int64_t n = nx_extent(x, rows);
  arrjit_value from = arrjit_sub(op->g, nx_as(op, x, dtype), mean);
  arrjit_value turned = nx_swap(op, from, nx_rank(from) - 2, nx_rank(from) - 1);
  op->out[0] = divide_by(op, nx_matmul(op, turned, from), (double)(n - nx_int(op, "ddof", 0)));
}

/* ---- of sorted elements ---- */

/* x with the axis that option `axis` names as its last one; without, all in one. */
static arrjit_value line_up(nx_op *op, arrjit_value x) {
  if (!json_is_integer(nx_option(op, "axis"))) return nx_flatten(op, x);
  return nx_move_axis(op, x, nx_axis(op, nx_int(op, "axis", 0), nx_rank(x)), nx_rank(x) - 1);
}

/* out with a dim of 1 where the axis was, when that is asked for; a scalar has one, too. */
static void put_axis_back(nx_op *op, arrjit_value x, arrjit_value out) {
  int64_t dims[ARRJIT_MAX_RANK], rank = nx_rank(x), axis = nx_int(op, "axis", 0);
  bool all = !json_is_integer(nx_option(op, "axis"));
  op->out[0] = out;
  if (!nx_flag(op, "keep_axis", false)) return;
  axis = all || rank == 0 ? 0 : nx_axis(op, axis, rank);
  for (int64_t i = 0; i < rank; i++) dims[i] = all || i == axis ? 1 : nx_extent(x, i);
  if (rank == 0) dims[rank++] = 1;
  op->out[0] = nx_reshape(op, out, (size_t)rank, dims);
}

static arrjit_value drop_last(nx_op *op, arrjit_value x) {
  const int64_t last[] = {nx_rank(x) - 1};
  return arrjit_squeeze(op->g, x, 1, last);
}

/* The one in the middle, or the mean of the two that are. */
static void build_median(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0), line = line_up(op, x);
  int64_t last = nx_rank(line) - 1, n = nx_extent(line, last), half = n / 2;
  line = arrjit_sort(op->g, line, last, 0);
  arrjit_value high = drop_last(op, nx_slice(op, line, last, half, half + 1, 1));
  if (n % 2 == 0) {
    arrjit_value low = nx_float(op, drop_last(op, nx_slice(op, line, last, half - 1, half, 1)));
    high = divide_by(op, arrjit_add(op->g, low, nx_float(op, high)), 2);
  }
  put_axis_back(op, x, high);
}

/* The one that equals most others; of several the least. */
static void build_mode(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0), line = line_up(op, x);
  int64_t last = nx_rank(line) - 1, behind = last + 1;
  line = arrjit_sort(op->g, line, last, 0);
  arrjit_value same = arrjit_eq(op->g, arrjit_expand_dims(op->g, line, behind), arrjit_expand_dims(op->g, line, last));
  arrjit_value counts = arrjit_reduce_sum(op->g, arrjit_convert(op->g, same, ARRJIT_I64), 1, &behind);
  arrjit_value place = arrjit_expand_dims(op->g, arrjit_argmax(op->g, counts, last), last);
  put_axis_back(op, x, drop_last(op, arrjit_take_along_axis(op->g, line, place, last)));
}

/* ---- logsumexp ---- */

/* With factors: m + log(the sum of factor e^(x - m)), m the largest x. */
static arrjit_value scale_exp(nx_op *op, arrjit_value x, arrjit_value factor, size_t count, const int64_t *axes) {
  const arrjit_type type = arrjit_value_type(x);
  arrjit_value most = arrjit_reduce_max(op->g, x, count, axes), kept = nx_keep(op, most, &type, count, axes);
  arrjit_value terms = arrjit_mul(op->g, factor, arrjit_exp(op->g, arrjit_sub(op->g, x, kept)));
  return arrjit_add(op->g, most, arrjit_log(op->g, arrjit_reduce_sum(op->g, terms, count, axes)));
}

static void build_logsumexp(nx_op *op) {
  arrjit_value x = nx_float(op, nx_tensor(op, 0)), out;
  const arrjit_type type = arrjit_value_type(x);
  const json_t *factor = nx_option(op, "exp_scaling_factor");
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  if (factor)
    out = scale_exp(op, x, nx_value_as(op, factor, nx_dtype_of(x)), count, axes);
  else
    out = arrjit_logsumexp(op->g, x, count, axes);
  op->out[0] = keep_asked(op, out, &type, count, axes);
}

static const nx_row rows[] = {{"Nx.mean", build_mean},
                              {"Nx.weighted_mean", build_weighted_mean},
                              {"Nx.variance", build_variance},
                              {"Nx.standard_deviation", build_variance},
                              {"Nx.covariance", build_covariance},
                              {"Nx.median", build_median},
                              {"Nx.mode", build_mode},
                              {"Nx.logsumexp", build_logsumexp}};

nx_build *nx_statistics_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
