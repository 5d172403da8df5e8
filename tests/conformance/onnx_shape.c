/* ONNX's ops on shapes and places. */
#include "onnx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants ---- */

static verdict put_constant(case_op *op, const arrjit_type *type, const void *data) {
  op->out[0] = arrjit_const(op->g, type, data);
  onnx_note(op, 0, type, data);
  return PASSED;
}

verdict onnx_constant(case_op *op) {
  const json_t *tensor = json_object_get(op->attrs, "value"), *floats = json_object_get(op->attrs, "value_floats");
  int64_t ints[CASE_MOST];
  float values[CASE_MOST];
  if (tensor) {
    const char *dtype = json_string_value(json_object_get(tensor, "d"));
    tk_block block;
    if (tk_dtype_find(dtype) == ARRJIT_DTYPE_NONE) return corpus_say(op->build->run, SKIPPED, "dtype %s", dtype);
    if (!tk_tensor_read(tensor, &block, op->build->run->why, sizeof op->build->run->why)) return FAILED;
    put_constant(op, &block.type, block.data);
    free(block.data);
    return PASSED;
  }
  bool whole = onnx_has(op, "value_int") || onnx_has(op, "value_ints");
  bool list = floats || onnx_has(op, "value_ints");
  size_t count = whole && list ? case_ints(op, "value_ints", ints) : floats ? json_array_size(floats) : 1;
  if (count > CASE_MOST) return corpus_say(op->build->run, SKIPPED, "op Constant of a long list");
  if (!list) ints[0] = case_int(op, "value_int", 0), values[0] = (float)onnx_float(op, "value_float", 0);
  for (size_t i = 0; floats && i < count; i++) values[i] = (float)json_number_value(json_array_get(floats, i));
  const int64_t dims[] = {(int64_t)count};
  arrjit_type type = arrjit_type_make(whole ? ARRJIT_I64 : ARRJIT_F32, list, dims);
  return whole ? put_constant(op, &type, ints) : put_constant(op, &type, values);
}

verdict onnx_constant_of_shape(case_op *op) {
  const json_t *tensor = json_object_get(op->attrs, "value");
  int64_t dims[CASE_MOST];
  size_t rank;
  tk_block block;
  if (!onnx_ints(op, 0, &rank, dims)) return SKIPPED;
  arrjit_value one = arrjit_const_f32(op->g, 0);
  if (tensor) {
    if (!tk_tensor_read(tensor, &block, op->build->run->why, sizeof op->build->run->why)) return FAILED;
    arrjit_type type = arrjit_type_make(block.type.dtype, 0, NULL);
    one = arrjit_const(op->g, &type, block.data);
    free(block.data);
  }
  op->out[0] = arrjit_full(op->g, one, (int32_t)rank, dims);
  return PASSED;
}

verdict onnx_shape(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t first = onnx_axis(case_int(op, "start", 0), type.rank), last = case_int(op, "end", type.rank);
  last = onnx_axis(last, type.rank);
  first = first < 0 ? 0 : first > type.rank ? type.rank : first;
  last = last < first ? first : last > type.rank ? type.rank : last;
  const int64_t dims[] = {last - first};
  arrjit_type shape = arrjit_type_make(ARRJIT_I64, 1, dims);
  return put_constant(op, &shape, type.dims + first);
}

verdict onnx_size(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]), scalar = arrjit_type_make(ARRJIT_I64, 0, NULL);
  int64_t size = onnx_product((size_t)type.rank, type.dims);
  return put_constant(op, &scalar, &size);
}

/* ---- the same elements in another shape ---- */

verdict onnx_identity(case_op *op) {
  op->out[0] = op->in[0];
  return PASSED;
}

verdict onnx_reshape_op(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t dims[CASE_MOST], rest = onnx_product((size_t)type.rank, type.dims), open = -1;
  size_t rank;
  if (!onnx_ints(op, 1, &rank, dims)) return SKIPPED;
  for (size_t i = 0; i < rank; i++) {
    if (dims[i] == 0 && !case_int(op, "allowzero", 0)) dims[i] = type.dims[i];
    if (dims[i] == -1)
      open = (int64_t)i;
    else if (dims[i] > 0)
      rest /= dims[i];
  }
  if (open >= 0) dims[open] = rest;
  op->out[0] = onnx_reshape(op, op->in[0], rank, dims);
  return PASSED;
}

verdict onnx_flatten(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", 1), type.rank);
  const int64_t dims[] = {onnx_product((size_t)axis, type.dims),
                          onnx_product((size_t)(type.rank - axis), type.dims + axis)};
  op->out[0] = onnx_reshape(op, op->in[0], 2, dims);
  return PASSED;
}

static bool holds(size_t count, const int64_t *list, int64_t rank, int64_t axis) {
  for (size_t i = 0; i < count; i++)
    if (onnx_axis(list[i], rank) == axis) return true;
  return false;
}

verdict onnx_squeeze(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axes[CASE_MOST], dims[ARRJIT_MAX_RANK];
  size_t count, rank = 0;
  bool there;
  if (!onnx_list(op, "axes", 1, &there, &count, axes)) return SKIPPED;
  for (int64_t i = 0; i < type.rank; i++)
    if (there ? !holds(count, axes, type.rank, i) : type.dims[i] != 1) dims[rank++] = type.dims[i];
  op->out[0] = onnx_reshape(op, op->in[0], rank, dims);
  return PASSED;
}

verdict onnx_unsqueeze(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axes[CASE_MOST], dims[CASE_MOST];
  size_t count, at = 0;
  bool there;
  if (!onnx_list(op, "axes", 1, &there, &count, axes)) return SKIPPED;
  size_t rank = (size_t)type.rank + count;
  for (size_t i = 0; i < rank && i < CASE_MOST; i++)
    dims[i] = holds(count, axes, (int64_t)rank, (int64_t)i) ? 1 : type.dims[at++];
  op->out[0] = onnx_reshape(op, op->in[0], rank, dims);
  return PASSED;
}

verdict onnx_transpose(case_op *op) {
  size_t rank = (size_t)arrjit_value_type(op->in[0]).rank;
  int64_t perm[CASE_MOST];
  for (size_t i = 0; i < rank; i++) perm[i] = (int64_t)(rank - 1 - i);
  if (onnx_has(op, "perm")) case_ints(op, "perm", perm);
  op->out[0] = arrjit_transpose(op->g, op->in[0], rank, perm);
  return PASSED;
}

/* Blocks of the depth become blocks of the places, or the other way round. The depth is (places, channels) in mode
 * DCR, (channels, places) in CRD. */
verdict onnx_depth_to_space(case_op *op) {
  const arrjit_type t = arrjit_value_type(op->in[0]);
  int64_t b = case_int(op, "blocksize", 1), depth = t.dims[1] / (b * b);
  bool crd = strcmp(case_text(op, "mode"), "CRD") == 0;
  const int64_t dcr_dims[] = {t.dims[0], b, b, depth, t.dims[2], t.dims[3]}, dcr_perm[] = {0, 3, 4, 1, 5, 2};
  const int64_t crd_dims[] = {t.dims[0], depth, b, b, t.dims[2], t.dims[3]}, crd_perm[] = {0, 1, 4, 2, 5, 3};
  const int64_t dims[] = {t.dims[0], depth, t.dims[2] * b, t.dims[3] * b};
  arrjit_value split = onnx_reshape(op, op->in[0], 6, crd ? crd_dims : dcr_dims);
  op->out[0] = onnx_reshape(op, arrjit_transpose(op->g, split, 6, crd ? crd_perm : dcr_perm), 4, dims);
  return PASSED;
}

verdict onnx_space_to_depth(case_op *op) {
  const arrjit_type t = arrjit_value_type(op->in[0]);
  int64_t b = case_int(op, "blocksize", 1), high = t.dims[2] / b, wide = t.dims[3] / b;
  const int64_t split[] = {t.dims[0], t.dims[1], high, b, wide, b}, perm[] = {0, 3, 5, 1, 2, 4};
  const int64_t dims[] = {t.dims[0], t.dims[1] * b * b, high, wide};
  op->out[0] = onnx_reshape(op, arrjit_transpose(op->g, onnx_reshape(op, op->in[0], 6, split), 6, perm), 4, dims);
  return PASSED;
}

/* ---- repeating and joining ---- */

/* Both stretch: the result has the joint shape. */
verdict onnx_expand(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t dims[CASE_MOST], axes[ARRJIT_MAX_RANK];
  size_t rank, mine = (size_t)type.rank;
  if (!onnx_ints(op, 1, &rank, dims)) return SKIPPED;
  if (rank < mine) {
    memmove(dims + mine - rank, dims, rank * sizeof *dims);
    for (size_t i = 0; i < mine - rank; i++) dims[i] = 1;
    rank = mine;
  }
  for (size_t i = 0; i < mine; i++) {
    axes[i] = (int64_t)(rank - mine + i);
    if (dims[axes[i]] == 1) dims[axes[i]] = type.dims[i];
  }
  op->out[0] = arrjit_broadcast(op->g, op->in[0], (int32_t)rank, dims, mine, axes);
  return PASSED;
}

verdict onnx_tile(case_op *op) {
  int64_t reps[CASE_MOST];
  size_t count;
  if (!onnx_ints(op, 1, &count, reps)) return SKIPPED;
  op->out[0] = arrjit_tile(op->g, op->in[0], (int32_t)count, reps);
  return PASSED;
}

verdict onnx_concat(case_op *op) {
  int64_t axis = onnx_axis(case_int(op, "axis", 0), arrjit_value_type(op->in[0]).rank);
  op->out[0] = arrjit_concat(op->g, op->in_count, op->in, axis);
  return PASSED;
}

verdict onnx_split(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = onnx_axis(case_int(op, "axis", 0), type.rank), sizes[CASE_MOST], extent = type.dims[axis];
  size_t count;
  bool there;
  if (!onnx_list(op, "split", 1, &there, &count, sizes)) return SKIPPED;
  int64_t parts = (int64_t)op->out_count, most = (extent + parts - 1) / parts;
  for (int64_t i = 0; !there && i < parts; i++) { /* equal ones, the last may be smaller */
    sizes[i] = extent < most ? extent : most;
    extent -= sizes[i];
  }
  arrjit_split(op->g, op->in[0], axis, op->out_count, sizes, op->out);
  return PASSED;
}

/* ---- parts ---- */

typedef struct cut {
  int64_t start[ARRJIT_MAX_RANK], limit[ARRJIT_MAX_RANK], step[ARRJIT_MAX_RANK], turned[ARRJIT_MAX_RANK];
  size_t turned_count;
} cut;

static int64_t clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

/* A step back is a step on in the order turned round. */
static void cut_axis(cut *c, int64_t axis, int64_t extent, int64_t start, int64_t end, int64_t step) {
  start = start < 0 ? start + extent : start;
  end = end < 0 ? end + extent : end;
  if (step > 0) {
    c->start[axis] = clamp(start, 0, extent);
    c->limit[axis] = clamp(end, c->start[axis], extent);
    c->step[axis] = step;
    return;
  }
  c->turned[c->turned_count++] = axis;
  c->start[axis] = extent - 1 - clamp(start, -1, extent - 1);
  c->limit[axis] = clamp(extent - 1 - clamp(end, -1, extent - 1), c->start[axis], extent);
  c->step[axis] = step < -INT64_MAX ? INT64_MAX : -step;
}

verdict onnx_slice(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t start[CASE_MOST], end[CASE_MOST], axes[CASE_MOST], step[CASE_MOST];
  size_t count, axis_count = 0, step_count = 0;
  if (!onnx_ints(op, 1, &count, start) || !onnx_ints(op, 2, &count, end)) return SKIPPED;
  if (onnx_given(op, 3) && !onnx_ints(op, 3, &axis_count, axes)) return SKIPPED;
  if (onnx_given(op, 4) && !onnx_ints(op, 4, &step_count, step)) return SKIPPED;
  cut c = {.turned_count = 0};
  for (int32_t i = 0; i < type.rank; i++) c.limit[i] = type.dims[i], c.step[i] = 1;
  for (size_t i = 0; i < count; i++) {
    int64_t axis = axis_count ? onnx_axis(axes[i], type.rank) : (int64_t)i;
    cut_axis(&c, axis, type.dims[axis], start[i], end[i], step_count ? step[i] : 1);
  }
  arrjit_value x = op->in[0];
  if (c.turned_count > 0) x = arrjit_reverse(op->g, x, c.turned_count, c.turned);
  op->out[0] = arrjit_slice(op->g, x, type.rank, c.start, c.limit, c.step);
  return PASSED;
}

/* ---- padding ---- */

/* Where position i of an axis with so many places before it comes from. */
static int64_t pad_source(const char *mode, int64_t extent, int64_t i) {
  int64_t turn = 2 * (extent - 1);
  if (strcmp(mode, "edge") == 0) return clamp(i, 0, extent - 1);
  if (strcmp(mode, "wrap") == 0) return (i % extent + extent) % extent;
  if (turn == 0) return 0;
  i = (i % turn + turn) % turn; /* reflect: there and back, the ends once */
  return i < extent ? i : turn - i;
}

static arrjit_value pad_by_index(case_op *op, arrjit_value x, const char *mode, int64_t axis, int64_t low,
                                 int64_t high) {
  int64_t extent = arrjit_value_type(x).dims[axis], count = low + extent + high;
  int64_t *from = tk_new((size_t)count + 1, sizeof *from);
  for (int64_t i = 0; i < count; i++) from[i] = pad_source(mode, extent, i - low);
  arrjit_value out = arrjit_take(op->g, x, onnx_ints_const(op, (size_t)count, from), axis);
  free(from);
  return out;
}

verdict onnx_pad(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t pads[CASE_MOST], axes[CASE_MOST], low[CASE_MOST] = {0}, high[CASE_MOST] = {0};
  size_t pad_count, count = 0;
  bool there;
  if (!onnx_list(op, "pads", 1, &there, &pad_count, pads)) return SKIPPED;
  if (onnx_given(op, 3) && !onnx_ints(op, 3, &count, axes)) return SKIPPED;
  for (size_t i = 0; i < pad_count / 2; i++) {
    int64_t axis = count ? onnx_axis(axes[i], type.rank) : (int64_t)i;
    low[axis] = pads[i];
    high[axis] = pads[i + pad_count / 2];
  }
  const char *mode = case_text(op, "mode");
  op->out[0] = op->in[0];
  if (*mode && strcmp(mode, "constant") != 0) {
    for (int64_t i = 0; i < type.rank; i++)
      if (low[i] || high[i]) op->out[0] = pad_by_index(op, op->out[0], mode, i, low[i], high[i]);
    return PASSED;
  }
  int64_t interior[ARRJIT_MAX_RANK] = {0};
  arrjit_value fill = onnx_given(op, 2)           ? onnx_reshape(op, op->in[2], 0, NULL)
                      : type.dtype == ARRJIT_BOOL ? arrjit_const_bool(op->g, 0)
                                                  : arrjit_const_like(op->g, op->in[0], 0);
  op->out[0] = arrjit_pad(op->g, op->in[0], fill, type.rank, low, high, interior);
  return PASSED;
}

/* Cut and filled with zeros so that the middle stays in the middle; of an odd rest the larger half is at the end, of an
 * odd cut the smaller half is taken from the start. */
verdict onnx_center_crop_pad(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t dims[CASE_MOST], axes[CASE_MOST], low[ARRJIT_MAX_RANK] = {0}, high[ARRJIT_MAX_RANK] = {0};
  int64_t interior[ARRJIT_MAX_RANK] = {0};
  size_t count;
  if (!onnx_ints(op, 1, &count, dims)) return SKIPPED;
  for (size_t i = 0; i < count; i++) axes[i] = (int64_t)i;
  if (onnx_has(op, "axes")) case_ints(op, "axes", axes);
  for (size_t i = 0; i < count; i++) {
    int64_t axis = onnx_axis(axes[i], type.rank), more = dims[i] - type.dims[axis];
    low[axis] = more / 2;
    high[axis] = more - more / 2;
  }
  arrjit_value zero = arrjit_const_like(op->g, op->in[0], 0);
  op->out[0] = arrjit_pad(op->g, op->in[0], zero, type.rank, low, high, interior);
  return PASSED;
}

/* ---- made of positions ---- */

verdict onnx_range(case_op *op) {
  const tk_block *known[3];
  double at[3];
  for (size_t i = 0; i < 3; i++) {
    if (!(known[i] = onnx_known(op, i, NULL)))
      return corpus_say(op->build->run, SKIPPED, "op Range with a length that only a run can tell");
    at[i] = onnx_element(known[i], 0);
  }
  double count = ceil((at[1] - at[0]) / at[2]);
  const int64_t dims[] = {count > 0 ? (int64_t)count : 0};
  arrjit_value start = onnx_reshape(op, op->in[0], 0, NULL), delta = onnx_reshape(op, op->in[2], 0, NULL);
  arrjit_value steps = arrjit_iota(op->g, arrjit_value_type(start).dtype, 1, dims, 0);
  op->out[0] = arrjit_add(op->g, start, arrjit_mul(op->g, steps, delta));
  return PASSED;
}

verdict onnx_eye_like(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  arrjit_dtype dtype = onnx_has(op, "dtype") ? onnx_dtype(op, "dtype") : type.dtype;
  if (dtype == ARRJIT_DTYPE_NONE) return onnx_no_dtype(op);
  int64_t k = case_int(op, "k", 0);
  arrjit_value below = arrjit_tri(op->g, type.dims[0], type.dims[1], k);
  arrjit_value beneath = arrjit_tri(op->g, type.dims[0], type.dims[1], k - 1);
  op->out[0] = arrjit_convert(op->g, arrjit_xor(op->g, below, beneath), dtype);
  return PASSED;
}

verdict onnx_trilu(case_op *op) {
  int64_t k = 0;
  if (onnx_given(op, 1) && !onnx_int(op, 1, &k)) return SKIPPED;
  op->out[0] = (case_int(op, "upper", 1) ? arrjit_triu : arrjit_tril)(op->g, op->in[0], k);
  return PASSED;
}

/* ---- windows of signals ---- */

/* a - b cos(t) + c cos(2 t) over a period; not periodic: the last element is the first one's like. */
verdict onnx_window(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_dtype dtype = onnx_dtype(op, "output_datatype");
  int64_t size;
  if (dtype == ARRJIT_DTYPE_NONE) return onnx_no_dtype(op);
  if (!onnx_int(op, 0, &size)) return SKIPPED;
  double count = (double)(case_int(op, "periodic", 1) ? size : size - 1), a = 0.5, c = 0;
  if (strcmp(op->name, "HammingWindow") == 0) a = 25.0 / 46;
  if (strcmp(op->name, "BlackmanWindow") == 0) a = 0.42, c = 0.08;
  arrjit_value i = arrjit_iota(g, ARRJIT_F64, 1, &size, 0);
  arrjit_value t = arrjit_mul(g, i, arrjit_const_f64(g, 6.283185307179586 / count));
  arrjit_value once = arrjit_mul(g, arrjit_cos(g, t), arrjit_const_f64(g, a + c - 1));
  arrjit_value twice = arrjit_mul(g, arrjit_cos(g, arrjit_add(g, t, t)), arrjit_const_f64(g, c));
  arrjit_value sum = arrjit_add(g, arrjit_const_f64(g, a), arrjit_add(g, once, twice));
  op->out[0] = arrjit_convert(g, sum, dtype);
  return PASSED;
}
