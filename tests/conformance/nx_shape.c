/* Nx's shapes: moving elements, without computing. */
#include "nx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void build_as_type(nx_op *op) {
  arrjit_dtype dtype = nx_type(op, nx_arg(op, 1), ARRJIT_F32);
  arrjit_value x = nx_tensor(op, 0);
  if (tk_is_complex(nx_dtype_of(x)) && !tk_is_complex(dtype)) x = arrjit_real(op->g, x);
  op->out[0] = nx_as(op, x, dtype);
}

static void build_reshape(nx_op *op) {
  int64_t dims[CASE_MOST];
  size_t rank = nx_ints(nx_arg(op, 1), dims);
  op->out[0] = nx_reshape(op, nx_tensor(op, 0), rank, dims);
}

/* Of all axes or of neighbours. */
static void build_flatten(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t axes[CASE_MOST], dims[ARRJIT_MAX_RANK], rank = nx_rank(x);
  size_t count = nx_axes(op, "axes", x, axes), at = 0;
  for (size_t i = 1; i < count; i++)
    if (axes[i] != axes[i - 1] + 1) nx_raise(op, "flatten axes must be consecutive");
  if (op->told != PASSED || rank == 0) {
    op->out[0] = nx_flatten(op, x);
    return;
  }
  for (int64_t i = 0; i < rank; i++) {
    if (i > axes[0] && i <= axes[count - 1])
      dims[at - 1] *= nx_extent(x, i);
    else
      dims[at++] = nx_extent(x, i);
  }
  op->out[0] = nx_reshape(op, x, at, dims);
}

static void build_new_axis(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  op->out[0] = arrjit_expand_dims(op->g, x, nx_axis(op, json_integer_value(nx_arg(op, 1)), nx_rank(x) + 1));
}

static void build_squeeze(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes), kept = 0;
  bool all = !nx_option(op, "axes");
  for (size_t i = 0; i < count; i++) {
    int64_t extent = nx_extent(x, axes[i]);
    if (extent == 1)
      axes[kept++] = axes[i];
    else if (!all)
      nx_raise(op, "cannot squeeze dimensions whose sizes are not 1, got %d for dimension %d", (int)extent,
               (int)axes[i]);
  }
  op->out[0] = arrjit_squeeze(op->g, x, kept, axes);
}

static void build_transpose(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t axes[CASE_MOST], rank = nx_rank(x);
  size_t count = nx_axes(op, "axes", x, axes);
  for (int64_t i = 0; !nx_option(op, "axes") && i < rank; i++) axes[i] = rank - 1 - i;
  op->out[0] = arrjit_transpose(op->g, x, count, axes);
}

static void build_reverse(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t axes[CASE_MOST];
  size_t count = nx_axes(op, "axes", x, axes);
  op->out[0] = arrjit_reverse(op->g, x, count, axes);
}

static bool is_whole_list(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_integer(json_array_get(list, i))) return false;
  return json_is_array(list);
}

/* The list of repetitions may be longer than the shape, or shorter: both are filled with 1 from the left. */
static void build_tile(nx_op *op) {
  int64_t reps[CASE_MOST], all[ARRJIT_MAX_RANK], dims[ARRJIT_MAX_RANK];
  if (!is_whole_list(nx_arg(op, 1))) nx_raise(op, "repetitions must be a list of integers, got: ");
  arrjit_value x = nx_tensor(op, 0);
  int64_t count = (int64_t)nx_ints(nx_arg(op, 1), reps), own = nx_rank(x), rank = count > own ? count : own;
  for (int64_t i = 0; i < rank; i++) {
    all[i] = i < rank - count ? 1 : reps[i - (rank - count)];
    dims[i] = i < rank - own ? 1 : nx_extent(x, i - (rank - own));
  }
  op->out[0] = arrjit_tile(op->g, nx_reshape(op, x, (size_t)rank, dims), (int32_t)rank, all);
}

/* split(x, k): the first k, or all but the last -k, or a fraction; and the rest. */
static void build_split(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  const json_t *where = nx_arg(op, 1);
  int64_t axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x)), extent = nx_extent(x, axis);
  int64_t at = json_integer_value(where) + (json_integer_value(where) < 0 ? extent : 0);
  if (json_is_real(where)) at = (int64_t)ceil(json_real_value(where) * (double)extent);
  const int64_t sizes[] = {at, extent - at};
  arrjit_split(op->g, x, axis, 2, sizes, op->out);
  op->out_count = 2;
}

/* All in one type, of lists and tuples in each other. */
static size_t read_merged(nx_op *op, arrjit_value *xs) {
  size_t count = nx_tensors(op, nx_arg(op, 0), xs);
  arrjit_dtype dtype = nx_dtype_of(xs[0]);
  for (size_t i = 1; i < count; i++) dtype = nx_merge(dtype, nx_dtype_of(xs[i]));
  for (size_t i = 0; i < count; i++) xs[i] = nx_as(op, xs[i], dtype);
  return count;
}

static void build_concatenate(nx_op *op) {
  arrjit_value xs[CASE_MOST] = {0};
  size_t count = read_merged(op, xs);
  op->out[0] = arrjit_concat(op->g, count, xs, nx_axis(op, nx_int(op, "axis", 0), nx_rank(xs[0])));
}

static void build_stack(nx_op *op) {
  arrjit_value xs[CASE_MOST] = {0};
  size_t count = read_merged(op, xs);
  op->out[0] = arrjit_stack(op->g, count, xs, nx_axis(op, nx_int(op, "axis", 0), nx_rank(xs[0]) + 1));
}

/* ---- padding ---- */

/* Low, high and interior padding of each axis; how many axes. */
static size_t read_padding(const json_t *config, int64_t *low, int64_t *high, int64_t *interior) {
  size_t count = nx_count(config);
  for (size_t i = 0; i < count && i < ARRJIT_MAX_RANK; i++) {
    int64_t of[CASE_MOST] = {0};
    nx_ints(nx_element(config, i), of);
    low[i] = of[0];
    high[i] = of[1];
    interior[i] = of[2];
  }
  return count;
}

/* pad(x, value, [{low, high, interior}]) */
static void build_pad(nx_op *op) {
  int64_t low[ARRJIT_MAX_RANK], high[ARRJIT_MAX_RANK], interior[ARRJIT_MAX_RANK];
  size_t rank = read_padding(nx_arg(op, 2), low, high, interior);
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 1));
  op->out[0] = arrjit_pad(op->g, nx_value_as(op, nx_arg(op, 0), dtype), nx_value_as(op, nx_arg(op, 1), dtype),
                          (int32_t)rank, low, high, interior);
}

/* Which element of n stands at a place before or behind them. */
typedef int64_t fold_place(int64_t at, int64_t n);

static int64_t get_mod(int64_t x, int64_t y) { return (x % y + y) % y; }

static int64_t reflect(int64_t at, int64_t n) { /* the element at an end is there once */
  if (n == 1) return 0;
  int64_t place = get_mod(at, 2 * n - 2);
  return place < n ? place : 2 * n - 2 - place;
}

static int64_t mirror(int64_t at, int64_t n) { /* and here twice */
  int64_t place = get_mod(at, 2 * n);
  return place < n ? place : 2 * n - 1 - place;
}

static int64_t replicate(int64_t at, int64_t n) { return at < 0 ? 0 : at >= n ? n - 1 : at; }

static arrjit_value fold_axis(nx_op *op, arrjit_value x, int64_t axis, fold_place *place, int64_t low, int64_t high) {
  int64_t n = nx_extent(x, axis), total = n + low + high;
  if (total <= 0 || n <= 0) return x;
  int64_t *places = tk_new((size_t)total, sizeof *places);
  for (int64_t i = 0; i < total; i++) places[i] = place(i - low, n);
  arrjit_type type = arrjit_type_make(ARRJIT_I64, 1, &total);
  arrjit_value out = arrjit_take(op->g, x, arrjit_const(op->g, &type, places), axis);
  free(places);
  return out;
}

static void pad_by_folding(nx_op *op, fold_place *place, const json_t *config) {
  int64_t low[ARRJIT_MAX_RANK], high[ARRJIT_MAX_RANK], interior[ARRJIT_MAX_RANK];
  size_t rank = read_padding(config, low, high, interior);
  op->out[0] = nx_tensor(op, 0);
  for (size_t i = 0; i < rank; i++) op->out[0] = fold_axis(op, op->out[0], (int64_t)i, place, low[i], high[i]);
}

/* pad_outer(x, value or way, [{low, high}]) */
static void build_pad_outer(nx_op *op) {
  static const struct {
    const char *way;
    fold_place *place;
  } ways[] = {{"reflect", reflect}, {"mirror", mirror}, {"replicate", replicate}};
  const char *way = nx_atom(nx_arg(op, 1));
  if (!*way) {
    build_pad(op);
    return;
  }
  for (size_t i = 0; i < TK_COUNT(ways); i++)
    if (strcmp(ways[i].way, way) == 0) pad_by_folding(op, ways[i].place, nx_arg(op, 2));
  if (!op->out[0]) nx_skip(op, "op Nx.pad_outer by %s", way);
}

static void build_reflect(nx_op *op) { pad_by_folding(op, reflect, nx_option(op, "padding_config")); }

static const nx_row rows[] = {
    {"Nx.as_type", build_as_type},         {"Nx.reshape", build_reshape}, {"Nx.flatten", build_flatten},
    {"Nx.new_axis", build_new_axis},       {"Nx.squeeze", build_squeeze}, {"Nx.transpose", build_transpose},
    {"Nx.reverse", build_reverse},         {"Nx.tile", build_tile},       {"Nx.split", build_split},
    {"Nx.concatenate", build_concatenate}, {"Nx.stack", build_stack},     {"Nx.pad", build_pad},
    {"Nx.pad_outer", build_pad_outer},     {"Nx.reflect", build_reflect}};

nx_build *nx_shape_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
