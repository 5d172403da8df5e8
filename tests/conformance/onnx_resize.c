/* ONNX's Resize: an axis at a time, by taking elements or as a product with a matrix. Where the elements of the result
 * lie follows from shapes and scales alone; the matrix holds how much of each element they get. */
#include "onnx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct resizing {
  const char *mode, *coordinates, *rounding;
  bool antialias, exclude;
  double a; /* of the cubic */
} resizing;

typedef struct axis {
  int64_t extent, places;
  double scale, start, end; /* the part of it to look at, from 0 to 1 */
} axis;

/* ---- where ---- */

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* Place i of the result, in elements of the operand. `wide` is the extent that the scale asks for, not rounded. */
static double find_place(const resizing *r, const axis *a, int64_t i) {
  double x = (double)i, extent = (double)a->extent, wide = a->scale * extent, half = (x + 0.5) / a->scale - 0.5;
  if (is(r->coordinates, "asymmetric")) return x / a->scale;
  if (is(r->coordinates, "align_corners")) return wide == 1 ? 0 : x * (extent - 1) / (wide - 1);
  if (is(r->coordinates, "pytorch_half_pixel")) return wide == 1 ? 0 : half;
  if (is(r->coordinates, "half_pixel_symmetric")) return extent / 2 * (1 - (double)a->places / wide) + half;
  if (!is(r->coordinates, "tf_crop_and_resize")) return half;
  double part = (a->end - a->start) * (extent - 1);
  return a->start * (extent - 1) + (wide == 1 ? part / 2 : x * part / (wide - 1));
}

static bool is_outside(const resizing *r, const axis *a, int64_t i) {
  double x = find_place(r, a, i);
  return is(r->coordinates, "tf_crop_and_resize") && (x < 0 || x > (double)(a->extent - 1));
}

static int64_t clamp(int64_t x, int64_t extent) { return x < 0 ? 0 : x >= extent ? extent - 1 : x; }

static int64_t find_nearest(const resizing *r, double x) {
  double below = floor(x), part = x - below;
  bool up = is(r->rounding, "ceil") ? part > 0 : is(r->rounding, "round_prefer_ceil") ? part >= 0.5 : part > 0.5;
  return (int64_t)below + (up && !is(r->rounding, "floor"));
}

/* ---- how much ---- */

static double find_weight(const resizing *r, double distance) {
  double d = fabs(distance), a = r->a;
  if (is(r->mode, "linear")) return d < 1 ? 1 - d : 0;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

/* One row of the matrix. Against aliasing the weights are stretched as the result is shrunk. */
static void fill_row(const resizing *r, const axis *a, int64_t i, float *row) {
  double x = find_place(r, a, i), stretch = r->antialias && a->scale < 1 ? a->scale : 1, sum = 0;
  int64_t reach = (int64_t)ceil((is(r->mode, "linear") ? 1 : 2) / stretch), first = (int64_t)floor(x) - reach;
  double *exact = tk_new((size_t)a->extent, sizeof *exact);
  for (int64_t k = first; k <= first + 2 * reach + 1; k++) {
    double weight = find_weight(r, stretch * ((double)k - x));
    if (r->exclude && (k < 0 || k >= a->extent)) continue;
    exact[clamp(k, a->extent)] += weight;
    sum += weight;
  }
  for (int64_t k = 0; k < a->extent; k++) row[k] = (float)(r->exclude || stretch < 1 ? exact[k] / sum : exact[k]);
  free(exact);
}

/* ---- an axis ---- */

static arrjit_value resize_axis(case_op *op, const resizing *r, const axis *a, int64_t at, arrjit_value x) {
  if (is(r->mode, "nearest")) {
    int64_t *from = tk_new((size_t)a->places + 1, sizeof *from);
    for (int64_t i = 0; i < a->places; i++) from[i] = clamp(find_nearest(r, find_place(r, a, i)), a->extent);
    arrjit_value out = arrjit_take(op->g, x, onnx_ints_const(op, (size_t)a->places, from), at);
    free(from);
    return out;
  }
  const int64_t dims[] = {a->places, a->extent}, contract[] = {1};
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 2, dims);
  float *matrix = tk_new((size_t)(a->places * a->extent) + 1, sizeof *matrix);
  for (int64_t i = 0; i < a->places; i++) fill_row(r, a, i, matrix + i * a->extent);
  arrjit_value out =
      arrjit_dot(op->g, x, onnx_like(op, arrjit_const(op->g, &type, matrix), x), 0, NULL, NULL, 1, &at, contract);
  free(matrix);
  return onnx_move_axis(op, out, arrjit_value_type(out).rank - 1, at);
}

/* A value of its own for what lies outside the part to look at. */
static arrjit_value mark_outside(case_op *op, const resizing *r, const axis *a, int64_t at, arrjit_value x) {
  const arrjit_type type = arrjit_value_type(x), line = arrjit_type_make(ARRJIT_BOOL, 1, &a->places);
  unsigned char *outside = tk_new((size_t)a->places + 1, 1);
  for (int64_t i = 0; i < a->places; i++) outside[i] = is_outside(r, a, i);
  arrjit_value mask = arrjit_broadcast(op->g, arrjit_const(op->g, &line, outside), type.rank, type.dims, 1, &at);
  free(outside);
  return arrjit_select(op->g, mask, arrjit_const_like(op->g, x, onnx_float(op, "extrapolation_value", 0)), x);
}

/* ---- all ---- */

static const char *find_word(const case_op *op, const char *name, const char *otherwise) {
  return onnx_has(op, name) ? case_text(op, name) : otherwise;
}

/* Operands 1 to 3: the part to look at, scales, sizes; each for the axes of the attribute, or for all. */
static bool read_axes(case_op *op, const arrjit_type *type, axis *out) {
  int64_t axes[CASE_MOST], sizes[CASE_MOST];
  size_t count = (size_t)type->rank, size_count = 0;
  const tk_block *part = onnx_known(op, 1, NULL), *scales = onnx_known(op, 2, NULL);
  for (size_t i = 0; i < count; i++) axes[i] = (int64_t)i, out[i] = (axis){type->dims[i], type->dims[i], 1, 0, 1};
  if (onnx_has(op, "axes")) count = case_ints(op, "axes", axes);
  if (onnx_given(op, 3) && !onnx_ints(op, 3, &size_count, sizes)) return false;
  const char *policy = find_word(op, "keep_aspect_ratio_policy", "stretch");
  double joint = is(policy, "not_larger") ? INFINITY : 0;
  for (size_t i = 0; i < count; i++) {
    axis *a = &out[onnx_axis(axes[i], type->rank)];
    a->scale = size_count ? (double)sizes[i] / (double)a->extent : onnx_element(scales, i);
    a->places = size_count ? sizes[i] : (int64_t)floor(a->scale * (double)a->extent);
    joint = is(policy, "not_larger") ? fmin(joint, a->scale) : fmax(joint, a->scale);
    if (part && tk_type_count(&part->type) == 2 * count)
      a->start = onnx_element(part, i), a->end = onnx_element(part, i + count);
  }
  for (size_t i = 0; i < count && !is(policy, "stretch"); i++) {
    axis *a = &out[onnx_axis(axes[i], type->rank)];
    a->scale = joint;
    a->places = (int64_t)floor(joint * (double)a->extent + 0.5);
  }
  return true;
}

verdict onnx_resize(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]);
  axis axes[ARRJIT_MAX_RANK];
  if (!read_axes(op, &type, axes)) return SKIPPED;
  resizing r = {.mode = find_word(op, "mode", "nearest"),
                .coordinates = find_word(op, "coordinate_transformation_mode", "half_pixel"),
                .rounding = find_word(op, "nearest_mode", "round_prefer_floor"),
                .antialias = case_int(op, "antialias", 0),
                .exclude = case_int(op, "exclude_outside", 0),
                .a = onnx_float(op, "cubic_coeff_a", -0.75)};
  arrjit_value x = op->in[0];
  for (int64_t i = 0; i < type.rank; i++) {
    const axis *a = &axes[i];
    if (a->places == a->extent && a->scale == 1 && a->start == 0 && a->end == 1) continue;
    x = resize_axis(op, &r, a, i, x);
    if (is(r.coordinates, "tf_crop_and_resize")) x = mark_outside(op, &r, a, i, x);
  }
  op->out[0] = x;
  return PASSED;
}
