/* Nx's slices, gathers, scatters and orders. */
#include "nx.h"

#include <string.h>

/* ---- slices: starts are numbers or scalars, and give way so that the slice fits ---- */

static size_t read_starts(nx_op *op, const json_t *list, arrjit_value *out) {
  size_t count = nx_count(list);
  for (size_t i = 0; i < count && i < CASE_MOST; i++) {
    arrjit_value start = nx_value(op, nx_element(list, i));
    if (nx_rank(start) > 0)
      nx_raise(op, "index must be scalar, got shape %s for axis %d", nx_shape_name(start).text, (int)i);
    out[i] = nx_as(op, start, ARRJIT_I64);
  }
  return count;
}

/* Strides are one number for all axes or a list of one each. */
static arrjit_value take_strides(nx_op *op, arrjit_value x) {
  int64_t strides[CASE_MOST];
  size_t count = nx_ints(nx_option(op, "strides"), strides);
  for (int64_t i = 0; count > 0 && i < nx_rank(x); i++)
    x = nx_slice(op, x, i, 0, nx_extent(x, i), strides[count == 1 ? 0 : i]);
  return x;
}

/* slice(x, starts, lengths) */
static void build_slice(nx_op *op) {
  arrjit_value starts[CASE_MOST];
  int64_t lengths[CASE_MOST];
  size_t count = read_starts(op, nx_arg(op, 1), starts);
  nx_ints(nx_arg(op, 2), lengths);
  op->out[0] = take_strides(op, arrjit_dynamic_slice(op->g, nx_tensor(op, 0), count, starts, lengths));
}

/* slice_along_axis(x, start, length) */
static void build_slice_along_axis(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0), starts[ARRJIT_MAX_RANK];
  int64_t sizes[ARRJIT_MAX_RANK], axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  for (int64_t i = 0; i < nx_rank(x); i++) {
    starts[i] = i == axis ? nx_as(op, nx_tensor(op, 1), ARRJIT_I64) : arrjit_const_i64(op->g, 0);
    sizes[i] = i == axis ? json_integer_value(nx_arg(op, 2)) : nx_extent(x, i);
  }
  x = arrjit_dynamic_slice(op->g, x, (size_t)nx_rank(x), starts, sizes);
  op->out[0] = nx_slice(op, x, axis, 0, nx_extent(x, axis), nx_int(op, "strides", 1));
}

/* put_slice(x, starts, slice) */
static void build_put_slice(nx_op *op) {
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 2));
  arrjit_value starts[CASE_MOST];
  size_t count = read_starts(op, nx_arg(op, 1), starts);
  op->out[0] = arrjit_dynamic_update_slice(op->g, nx_value_as(op, nx_arg(op, 0), dtype),
                                           nx_value_as(op, nx_arg(op, 2), dtype), count, starts);
}

/* ---- elements at indices ---- */

static void build_take(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0), indices = nx_tensor(op, 1);
  if (json_is_integer(nx_option(op, "axis")))
    op->out[0] = arrjit_take(op->g, x, indices, nx_axis(op, nx_int(op, "axis", 0), nx_rank(x)));
  else
    op->out[0] = arrjit_take(op->g, nx_flatten(op, x), indices, 0);
}

static void build_take_along_axis(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  op->out[0] = arrjit_take_along_axis(op->g, x, nx_tensor(op, 1), nx_axis(op, nx_int(op, "axis", 0), nx_rank(x)));
}

/* Which axes of x the last axis of indices is about, and which it is not. */
typedef struct nx_places {
  size_t axis_count, other_count;
  int64_t axes[CASE_MOST], others[ARRJIT_MAX_RANK];
  int64_t index_axis; /* the last of indices */
} nx_places;

static nx_places find_places(nx_op *op, arrjit_value x, arrjit_value indices) {
  nx_places p = {.index_axis = nx_rank(indices) - 1};
  if (!nx_is_integer(nx_dtype_of(indices)))
    nx_raise(op, "indices must be an integer tensor, got %s", nx_type_name(nx_dtype_of(indices)).text);
  if (nx_option(op, "axes")) {
    p.axis_count = nx_axes(op, "axes", x, p.axes);
  } else {
    for (int64_t i = 0; i < nx_extent(indices, p.index_axis) && i < nx_rank(x); i++) p.axes[p.axis_count++] = i;
  }
  for (int64_t i = 0; i < nx_rank(x); i++) {
    bool is_axis = false;
    for (size_t k = 0; k < p.axis_count; k++) is_axis |= p.axes[k] == i;
    if (!is_axis) p.others[p.other_count++] = i;
  }
  return p;
}

/* Dims of windows stand behind those of indices. */
static void find_windows(const nx_places *p, int64_t *out) {
  for (size_t i = 0; i < p->other_count; i++) out[i] = p->index_axis + (int64_t)i;
}

static void build_gather(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0), indices = nx_tensor(op, 1);
  nx_places p = find_places(op, x, indices);
  int64_t windows[ARRJIT_MAX_RANK], sizes[ARRJIT_MAX_RANK];
  find_windows(&p, windows);
  for (int64_t i = 0; i < nx_rank(x); i++) sizes[i] = nx_extent(x, i);
  for (size_t i = 0; i < p.axis_count; i++) sizes[p.axes[i]] = 1;
  op->out[0] = arrjit_gather(op->g, x, indices, p.other_count, windows, p.axis_count, p.axes, 0, NULL, NULL,
                             p.axis_count, p.axes, p.index_axis, (int32_t)nx_rank(x), sizes);
}

/* indexed_add(x, indices, updates), indexed_put */
static void build_indexed(nx_op *op) {
  case_scatter *scatter = strcmp(op->name, "Nx.indexed_add") == 0 ? arrjit_scatter_add : arrjit_scatter;
  arrjit_dtype dtype = nx_join(op, nx_arg(op, 0), nx_arg(op, 2));
  arrjit_value x = nx_value_as(op, nx_arg(op, 0), dtype), indices = nx_tensor(op, 1);
  arrjit_value updates = nx_value_as(op, nx_arg(op, 2), dtype);
  nx_places p = find_places(op, x, indices);
  int64_t windows[ARRJIT_MAX_RANK];
  for (int64_t i = 0; i < p.index_axis; i++)
    if (nx_extent(indices, i) != nx_extent(updates, i))
      nx_raise(op, "expected the leading axis of indices (%s) and leading axis of updates (%s) to match",
               nx_shape_name(indices).text, nx_shape_name(updates).text);
  find_windows(&p, windows);
  op->out[0] = scatter(op->g, x, indices, updates, p.other_count, windows, p.axis_count, p.axes, 0, NULL, NULL,
                       p.axis_count, p.axes, p.index_axis);
}

/* ---- orders: down from the largest, NaN counts as the largest; up, NaN comes last ---- */

static bool is_descending(const nx_op *op) { return strcmp(nx_atom(nx_option(op, "direction")), "desc") == 0; }

static void sort_down(nx_op *op, arrjit_value x, int64_t axis, arrjit_value *values, arrjit_value *places) {
  arrjit_top_k(op->g, x, nx_extent(x, axis), axis, values, places);
}

static void build_sort(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  if (is_descending(op))
    sort_down(op, x, axis, &op->out[0], NULL);
  else
    op->out[0] = arrjit_sort(op->g, x, axis, 0);
}

static void build_argsort(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0), places;
  int64_t axis = nx_axis(op, nx_int(op, "axis", 0), nx_rank(x));
  if (is_descending(op))
    sort_down(op, x, axis, NULL, &places);
  else
    places = arrjit_argsort(op->g, x, axis, 0);
  op->out[0] = nx_as(op, places, nx_type(op, nx_option(op, "type"), ARRJIT_I32));
}

static void build_top_k(nx_op *op) {
  arrjit_value x = nx_tensor(op, 0);
  int64_t k = nx_int(op, "k", 1), last = nx_rank(x) - 1;
  if (last < 0) nx_raise(op, "top_k input must have at least rank 1");
  if (nx_extent(x, last) < k)
    nx_raise(op, "top_k input last axis size must be greater than or equal to k, got size=%d and k=%d",
             (int)nx_extent(x, last), (int)k);
  arrjit_top_k(op->g, x, k, last, &op->out[0], &op->out[1]);
  op->out[1] = nx_as(op, op->out[1], ARRJIT_I32);
  op->out_count = 2;
}

static const nx_row rows[] = {{"Nx.slice", build_slice},
                              {"Nx.slice_along_axis", build_slice_along_axis},
                              {"Nx.put_slice", build_put_slice},
                              {"Nx.take", build_take},
                              {"Nx.take_along_axis", build_take_along_axis},
                              {"Nx.gather", build_gather},
                              {"Nx.indexed_add", build_indexed},
                              {"Nx.indexed_put", build_indexed},
                              {"Nx.sort", build_sort},
                              {"Nx.argsort", build_argsort},
                              {"Nx.top_k", build_top_k}};

nx_build *nx_index_find(const char *name) { return nx_find(name, TK_COUNT(rows), rows); }
