/* ONNX's pools: windows over the dims behind batch and channel. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

static void read_list(const case_op *op, const char *name, size_t count, int64_t *out) {
  for (size_t i = 0; i < count; i++) out[i] = 1;
  if (onnx_has(op, name)) case_ints(op, name, out);
}

/* With auto_pad the output has ceil(extent / stride) places, and padding is shared out. */
static void pad_same(onnx_pool *p, int32_t i, int64_t extent, int64_t window, bool upper) {
  int64_t places = (extent + p->strides[i] - 1) / p->strides[i];
  int64_t pad = (places - 1) * p->strides[i] + window - extent;
  if (pad < 0) pad = 0;
  p->low[i] = upper ? pad / 2 : pad - pad / 2;
  p->high[i] = pad - p->low[i];
}

/* In ceil mode a window may reach past the padding, but not start there. */
static void count_places(onnx_pool *p, int32_t i, int64_t extent, int64_t window, bool ceil_mode) {
  int64_t stride = p->strides[i], room = p->low[i] + extent + p->high[i] - window;
  int64_t places = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (places - 1) * stride >= extent + p->low[i]) places--;
  p->more[i] = (places - 1) * stride - room;
}

void onnx_pool_read(const case_op *op, const int64_t *sizes, onnx_pool *p) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  size_t spatial = (size_t)type.rank - 2;
  const char *automatic = case_text(op, "auto_pad");
  int64_t pads[CASE_MOST] = {0};
  *p = (onnx_pool){.rank = type.rank, .sizes = {1, 1}, .strides = {1, 1}, .dilations = {1, 1}};
  read_list(op, "kernel_shape", spatial, p->sizes + 2);
  if (sizes) memcpy(p->sizes + 2, sizes, spatial * sizeof *sizes);
  read_list(op, "strides", spatial, p->strides + 2);
  read_list(op, "dilations", spatial, p->dilations + 2);
  if (onnx_has(op, "pads")) case_ints(op, "pads", pads);
  for (int32_t i = 2; i < type.rank; i++) {
    int64_t window = (p->sizes[i] - 1) * p->dilations[i] + 1;
    p->low[i] = pads[i - 2];
    p->high[i] = pads[(size_t)i - 2 + spatial];
    if (strncmp(automatic, "SAME", 4) == 0) pad_same(p, i, type.dims[i], window, strcmp(automatic, "SAME_UPPER") == 0);
    count_places(p, i, type.dims[i], window, case_int(op, "ceil_mode", 0));
  }
}

static void add_more(const onnx_pool *p, int64_t *out) {
  for (int32_t i = 0; i < p->rank; i++) out[i] = p->high[i] + p->more[i];
}

/* Row-major positions of x's elements; with storage order 1 places count column by column. */
static arrjit_value number_elements(case_op *op, const arrjit_type *type, bool columns) {
  int64_t dims[ARRJIT_MAX_RANK], perm[ARRJIT_MAX_RANK], count[] = {onnx_product((size_t)type->rank, type->dims)};
  for (int32_t i = 0; i < type->rank; i++) {
    perm[i] = columns && i >= 2 ? type->rank + 1 - i : i;
    dims[i] = type->dims[perm[i]];
  }
  arrjit_value flat = arrjit_iota(op->g, ARRJIT_I64, 1, count, 0);
  return arrjit_transpose(op->g, onnx_reshape(op, flat, (size_t)type->rank, dims), (size_t)type->rank, perm);
}

/* The largest of each window and where it is: the first of equal ones; padding is at -1 and is never taken. */
static void pool_with_places(case_op *op, const onnx_pool *p, const int64_t *high) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  arrjit_value least =
      arrjit_reduce_max(op->g, onnx_full(op, op->in[0], 0, 1, (const int64_t[]){0}), ARRJIT_ALL_AXES, NULL);
  arrjit_value args[] = {op->in[0], number_elements(op, &type, case_int(op, "storage_order", 0))};
  arrjit_value inits[] = {least, arrjit_const_i64(op->g, -1)}, older[2], newer[2], best[2];
  arrjit_reduce_window_begin(op->g, 2, args, inits, p->rank, p->sizes, p->strides, p->low, high, NULL, p->dilations,
                             older, newer);
  arrjit_value zero = arrjit_const_i64(op->g, 0);
  arrjit_value none = arrjit_lt(op->g, older[1], zero), real = arrjit_ge(op->g, newer[1], zero);
  arrjit_value larger = arrjit_or(op->g, none, arrjit_gt(op->g, newer[0], older[0]));
  arrjit_value take = arrjit_and(op->g, real, larger);
  for (size_t i = 0; i < 2; i++) best[i] = arrjit_select(op->g, take, newer[i], older[i]);
  arrjit_reduce_window_end(op->g, 2, best, op->out);
}

verdict onnx_max_pool(case_op *op) {
  int64_t high[ARRJIT_MAX_RANK];
  onnx_pool p;
  onnx_pool_read(op, NULL, &p);
  add_more(&p, high);
  if (op->out_count > 1)
    pool_with_places(op, &p, high);
  else
    op->out[0] = arrjit_reduce_window_max(op->g, op->in[0], p.rank, p.sizes, p.strides, p.low, high, NULL, p.dilations);
  return PASSED;
}

/* Sums divided by how many elements each window has; padding counts when the case says so, what is behind it never. */
verdict onnx_average_pool(case_op *op) {
  arrjit_value x = onnx_widen(op, op->in[0]);
  const arrjit_type type = arrjit_value_type(x);
  int64_t high[ARRJIT_MAX_RANK], low[ARRJIT_MAX_RANK], ones[ARRJIT_MAX_RANK];
  bool padding = case_int(op, "count_include_pad", 0);
  onnx_pool p;
  onnx_pool_read(op, NULL, &p);
  add_more(&p, high);
  arrjit_value sum = arrjit_reduce_window_sum(op->g, x, p.rank, p.sizes, p.strides, p.low, high, NULL, p.dilations);
  for (int32_t i = 0; i < p.rank; i++) {
    ones[i] = type.dims[i] + (padding ? p.low[i] + p.high[i] : 0);
    low[i] = padding ? 0 : p.low[i];
    if (padding) high[i] = p.more[i];
  }
  arrjit_value count = arrjit_reduce_window_sum(op->g, onnx_full(op, x, 1, (size_t)p.rank, ones), p.rank, p.sizes,
                                                p.strides, low, high, NULL, p.dilations);
  op->out[0] = onnx_like(op, arrjit_div(op->g, sum, count), op->in[0]);
  return PASSED;
}

verdict onnx_global_pool(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axes[ARRJIT_MAX_RANK];
  size_t count = 0;
  for (int64_t i = 2; i < type.rank; i++) axes[count++] = i;
  bool most = strcmp(op->name, "GlobalMaxPool") == 0;
  arrjit_value out = (most ? arrjit_reduce_max : arrjit_mean)(op->g, op->in[0], count, axes);
  op->out[0] = onnx_keep(op, out, &type, count, axes);
  return PASSED;
}

verdict onnx_lp_pool(case_op *op) {
  arrjit_graph *g = op->g;
  int64_t high[ARRJIT_MAX_RANK];
  double p = (double)case_int(op, "p", 2);
  onnx_pool w;
  onnx_pool_read(op, NULL, &w);
  add_more(&w, high);
  arrjit_value x = arrjit_pow(g, arrjit_abs(g, op->in[0]), arrjit_const_like(g, op->in[0], p));
  x = arrjit_reduce_window_sum(g, x, w.rank, w.sizes, w.strides, w.low, high, NULL, w.dilations);
  op->out[0] = arrjit_pow(g, x, arrjit_const_like(g, x, 1 / p));
  return PASSED;
}

/* Each element where it came from, by positions in what the windows alone would give; the rest is 0. */
verdict onnx_max_unpool(case_op *op) {
  static const int64_t all[] = {0};
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t dims[ARRJIT_MAX_RANK], wanted[CASE_MOST], more[ARRJIT_MAX_RANK] = {0}, none[ARRJIT_MAX_RANK] = {0};
  size_t count = 0;
  onnx_pool p;
  onnx_pool_read(op, NULL, &p);
  for (int32_t i = 0; i < type.rank; i++)
    dims[i] = i < 2 ? type.dims[i] : (type.dims[i] - 1) * p.strides[i] + p.sizes[i] - p.low[i] - p.high[i];
  if (onnx_given(op, 2) && !onnx_ints(op, 2, &count, wanted)) return SKIPPED;
  for (size_t i = 0; i < count; i++) more[i] = wanted[i] - dims[i];
  const int64_t size[] = {onnx_product((size_t)type.rank, dims)};
  const int64_t places[] = {onnx_product((size_t)type.rank, type.dims)}, vectors[] = {places[0], 1};
  arrjit_value flat = onnx_full(op, op->in[0], 0, 1, size);
  flat = arrjit_scatter(op->g, flat, onnx_reshape(op, op->in[1], 2, vectors), onnx_reshape(op, op->in[0], 1, places), 0,
                        NULL, 1, all, 0, NULL, NULL, 1, all, 1);
  arrjit_value zero = arrjit_const_like(op->g, op->in[0], 0);
  op->out[0] = arrjit_pad(op->g, onnx_reshape(op, flat, (size_t)type.rank, dims), zero, type.rank, none, more, none);
  return PASSED;
}

/* ---- Col2Im ---- */

/* Where the columns lie: place of element `e` of block `b` in the image, or -1 in its padding. */
static int64_t find_pixel(const onnx_pool *p, const int64_t *image, const int64_t *blocks, int64_t e, int64_t b) {
  int64_t flat = 0, scale = 1;
  for (int32_t i = p->rank; i-- > 2;) {
    int64_t at = e % p->sizes[i] * p->dilations[i] + b % blocks[i] * p->strides[i] - p->low[i];
    if (at < 0 || at >= image[i - 2]) return -1;
    flat += at * scale;
    scale *= image[i - 2];
    e /= p->sizes[i];
    b /= blocks[i];
  }
  return flat;
}

/* Columns of blocks, added up where they overlap. */
verdict onnx_col2im(case_op *op) {
  static const int64_t first[] = {0}, second[] = {1};
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t image[CASE_MOST], block[CASE_MOST], blocks[ARRJIT_MAX_RANK], pads[CASE_MOST] = {0};
  size_t spatial, sizes;
  onnx_pool p = {.rank = 0};
  if (!onnx_ints(op, 1, &spatial, image) || !onnx_ints(op, 2, &sizes, block)) return SKIPPED;
  p.rank = (int32_t)spatial + 2;
  read_list(op, "strides", spatial, p.strides + 2);
  read_list(op, "dilations", spatial, p.dilations + 2);
  if (onnx_has(op, "pads")) case_ints(op, "pads", pads);
  for (size_t i = 0; i < spatial; i++) {
    int64_t window = (block[i] - 1) * p.dilations[2 + i] + 1;
    p.sizes[2 + i] = block[i];
    p.low[2 + i] = pads[i];
    blocks[2 + i] = (image[i] + pads[i] + pads[i + spatial] - window) / p.strides[2 + i] + 1;
  }
  int64_t size = onnx_product(spatial, block), channels = type.dims[1] / size, count = size * type.dims[2];
  const int64_t dims[] = {count, 1}, columns[] = {type.dims[0] * channels, count};
  const int64_t flat[] = {columns[0], onnx_product(spatial, image)};
  int64_t *where = tk_new((size_t)count + 1, sizeof *where), out[ARRJIT_MAX_RANK] = {type.dims[0], channels};
  for (int64_t i = 0; i < count; i++) where[i] = find_pixel(&p, image, blocks, i / type.dims[2], i % type.dims[2]);
  arrjit_value index = onnx_reshape(op, onnx_ints_const(op, (size_t)count, where), 2, dims);
  free(where);
  arrjit_value sum =
      arrjit_scatter_add(op->g, onnx_full(op, op->in[0], 0, 2, flat), index, onnx_reshape(op, op->in[0], 2, columns), 1,
                         first, 1, second, 0, NULL, NULL, 1, second, 1);
  memcpy(out + 2, image, spatial * sizeof *out);
  op->out[0] = onnx_reshape(op, sum, spatial + 2, out);
  return PASSED;
}
