/* Nx.Random's samples: vectors about a mean, shuffled tensors, elements of a tensor. */
#include "nx.h"

#include <math.h>

/* ---- multivariate_normal(key, mean, covariance) ---- */

/* mean + z l', with the triangle l whose product with itself is the covariance. */
static arrjit_value sample_multivariate(nx_op *op, arrjit_value key) {
  nx_draw of = nx_draw_read(op, nx_floating(nx_join(op, nx_arg(op, 1), nx_arg(op, 2))));
  arrjit_value mean = nx_value_as(op, nx_arg(op, 1), of.dtype), covariance = nx_value_as(op, nx_arg(op, 2), of.dtype);
  int64_t n = nx_extent(mean, 0);
  if (nx_rank(mean) != 1) nx_raise(op, "expected mean to have rank 1, got tensor with rank %d", (int)nx_rank(mean));
  if (nx_rank(covariance) != 2)
    nx_raise(op, "expected covariance to have rank 2, got tensor with rank %d", (int)nx_rank(covariance));
  if (nx_option(op, "method")) nx_skip(op, "op %s with a method", op->name);
  if (op->told != PASSED) return NULL;
  of.dims[of.rank++] = n;
  const int64_t rows[] = {nx_product(of.rank, of.dims) / (n ? n : 1), n};
  arrjit_value z = nx_reshape(op, nx_normal(op, key, &of), 2, rows);
  z = nx_matmul(op, z, nx_adjoint(op, arrjit_cholesky(op->g, covariance)));
  return nx_reshape(op, arrjit_add(op->g, mean, z), of.rank, of.dims);
}

static void build_multivariate(nx_op *op) { nx_draw_by(op, sample_multivariate); }

/* ---- shuffle(key, tensor) ---- */

/* x in the order of random numbers along axis, as often as it takes for equal ones not to matter; *key goes on. */
static arrjit_value shuffle_apart(nx_op *op, arrjit_value x, int64_t axis, arrjit_value *key) {
  const arrjit_type type = arrjit_value_type(x);
  double count = (double)nx_product((size_t)nx_rank(x), type.dims);
  int rounds = (int)ceil(3 * log(count) / log(4294967295.0));
  for (int i = 0; i < rounds; i++) {
    arrjit_value keys[2];
    nx_draw bits = {.dtype = ARRJIT_U32, .rank = (size_t)nx_rank(x)};
    for (size_t k = 0; k < bits.rank; k++) bits.dims[k] = type.dims[k];
    nx_split_key(op, *key, keys);
    arrjit_value places = arrjit_argsort(op->g, nx_random_bits(op, keys[1], &bits), axis, 0);
    x = arrjit_take_along_axis(op->g, x, places, axis);
    *key = keys[0];
  }
  return x;
}

/* All along the axis in the same order. */
static arrjit_value shuffle_together(nx_op *op, arrjit_value x, int64_t axis, arrjit_value *key) {
  const int64_t count[] = {nx_extent(x, axis)};
  arrjit_value places = shuffle_apart(op, nx_iota(op, ARRJIT_I32, 1, count, 0), 0, key);
  return arrjit_take(op->g, x, places, axis);
}

static void build_shuffle(nx_op *op) {
  arrjit_value key = nx_tensor(op, 0), x = nx_tensor(op, 1);
  int64_t axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  bool apart = nx_flag(op, "independent", false);
  op->out[0] = (apart ? shuffle_apart : shuffle_together)(op, x, axis, &key);
  op->out[1] = key;
  op->out_count = 2;
}

/* ---- choice(key, tensor), choice(key, tensor, probabilities) ---- */

/* Where uniform numbers, from the end, fall among the sums of probabilities. */
static arrjit_value choose_weighted(nx_op *op, arrjit_value p, int64_t samples, arrjit_value key) {
  arrjit_graph *g = op->g;
  nx_draw of = {.dtype = nx_dtype_of(p), .rank = 1, .dims = {samples}};
  arrjit_value sums = arrjit_cumsum(g, p, 0, 0), one = nx_number(op, of.dtype, 1);
  arrjit_value x = nx_uniform(op, key, &of, nx_number(op, of.dtype, 0), one);
  arrjit_value all = nx_slice(op, sums, 0, nx_extent(sums, 0) - 1, nx_extent(sums, 0), 1);
  x = arrjit_expand_dims(g, arrjit_mul(g, all, arrjit_sub(g, one, x)), 1);
  arrjit_value before = nx_u8(op, arrjit_le(g, arrjit_expand_dims(g, sums, 0), x));
  return arrjit_argmin(g, before, 1);
}

/* The first of an order in which the probable come early. */
static arrjit_value choose_apart(nx_op *op, arrjit_value p, int64_t samples, arrjit_value key) {
  nx_draw of = {.dtype = nx_dtype_of(p), .rank = 1, .dims = {nx_extent(p, 0)}};
  arrjit_value score = arrjit_sub(op->g, arrjit_neg(op->g, nx_gumbel(op, key, &of)), arrjit_log(op->g, p));
  return nx_slice(op, arrjit_argsort(op->g, score, 0, 0), 0, 0, samples, 1);
}

static void build_choice(nx_op *op) {
  arrjit_value key = nx_tensor(op, 0), x = nx_tensor(op, 1), p = nx_arg(op, 2) ? nx_tensor(op, 2) : NULL, keys[2];
  int64_t samples = nx_int(op, "samples", 1), axis = 0;
  bool again = nx_flag(op, "replace", true);
  if (json_is_integer(nx_option(op, "axis")))
    axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  else
    x = nx_flatten(op, x);
  op->out_count = 2;
  if (!p && !again) {
    op->out[0] = nx_slice(op, shuffle_together(op, x, axis, &key), axis, 0, samples, 1);
    op->out[1] = key;
    return;
  }
  nx_split_key(op, key, keys);
  nx_draw of = {.dtype = ARRJIT_U32, .rank = 1, .dims = {samples}};
  arrjit_value places;
  if (p)
    places = (again ? choose_weighted : choose_apart)(op, p, samples, keys[1]);
  else
    places = nx_randint(op, keys[1], &of, nx_number(op, ARRJIT_U32, 0),
                        nx_number(op, ARRJIT_U32, (double)nx_extent(x, axis)));
  op->out[0] = arrjit_take(op->g, x, places, axis);
  op->out[1] = keys[0];
}

static const nx_row rows[] = {{"Nx.Random.multivariate_normal", build_multivariate},
                              {"Nx.Random.multivariate_normal_split", build_multivariate},
                              {"Nx.Random.shuffle", build_shuffle},
                              {"Nx.Random.choice", build_choice}};

nx_build *nx_sample_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
