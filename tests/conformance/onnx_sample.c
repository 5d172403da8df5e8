/* ONNX's GridSample, RoiAlign and AffineGrid: the places to look at are data, so all of it is computed by the graph. */
#include "onnx.h"

#include <string.h>

/* Elements x[N, C, places] at flat positions [N, Q]: [N, C, Q]. */
static arrjit_value look(case_op *op, arrjit_value x, arrjit_value at) {
  const arrjit_type type = arrjit_value_type(x), index = arrjit_value_type(at);
  const int64_t dims[] = {type.dims[0], type.dims[1], index.dims[1]}, axes[] = {0, 2};
  return arrjit_take_along_axis(op->g, x, arrjit_broadcast(op->g, at, 3, dims, 2, axes), 2);
}

static arrjit_value scale_by(case_op *op, arrjit_value x, double factor) {
  return arrjit_mul(op->g, x, arrjit_const_like(op->g, x, factor));
}

static arrjit_value shift_by(case_op *op, arrjit_value x, double amount) {
  return arrjit_add(op->g, x, arrjit_const_like(op->g, x, amount));
}

static arrjit_value limit(case_op *op, arrjit_value x, double low, double high) {
  return arrjit_min(op->g, arrjit_max(op->g, x, arrjit_const_like(op->g, x, low)), arrjit_const_like(op->g, x, high));
}

static arrjit_value as_places(case_op *op, arrjit_value x) { return arrjit_convert(op->g, x, ARRJIT_I64); }

/* ---- GridSample ---- */

typedef enum padding { ZEROS, BORDER, REFLECTION } padding;

typedef struct sampling {
  padding padding;
  bool corners; /* the ends are the middles of the first and the last element, not their outer edges */
  int64_t taps; /* an axis: 1, 2 or 4 */
  size_t rank;
  int64_t dims[ARRJIT_MAX_RANK];
} sampling;

/* x thrown back at both ends of the axis until it is inside. */
static arrjit_value reflect(case_op *op, const sampling *s, size_t axis, arrjit_value x) {
  double low = s->corners ? 0 : -0.5, range = (double)s->dims[axis] - 1 - 2 * low;
  arrjit_value twice = arrjit_const_like(op->g, x, 2 * range);
  arrjit_value along = arrjit_mod(op->g, shift_by(op, x, -low), twice);
  arrjit_value back = arrjit_sub(op->g, twice, along);
  return shift_by(op, arrjit_min(op->g, along, back), low);
}

static arrjit_value pull_in(case_op *op, const sampling *s, size_t axis, arrjit_value x) {
  if (s->padding == BORDER) return limit(op, x, 0, (double)s->dims[axis] - 1);
  return s->padding == REFLECTION ? reflect(op, s, axis, x) : x;
}

/* Column `which` of the grid as places along an axis: [N, Q]. */
static arrjit_value find_places(case_op *op, const sampling *s, size_t axis) {
  const arrjit_type grid = arrjit_value_type(op->in[1]);
  int64_t count = onnx_product(s->rank, grid.dims + 1), which = (int64_t)(s->rank - 1 - axis);
  const int64_t flat[] = {grid.dims[0], count, (int64_t)s->rank}, dims[] = {grid.dims[0], count};
  const int64_t start[] = {0, 0, which}, end[] = {grid.dims[0], count, which + 1}, step[] = {1, 1, 1};
  double extent = (double)s->dims[axis];
  arrjit_value x = arrjit_slice(op->g, onnx_reshape(op, op->in[1], 3, flat), 3, start, end, step);
  x = shift_by(op, onnx_reshape(op, x, 2, dims), 1);
  x = s->corners ? scale_by(op, x, (extent - 1) / 2) : shift_by(op, scale_by(op, x, extent / 2), -0.5);
  return pull_in(op, s, axis, s->taps == 1 ? arrjit_round_even(op->g, x) : x);
}

/* What the element at `distance` from x counts; the cubic's parameter is ONNX's. */
static arrjit_value find_weight(case_op *op, const sampling *s, arrjit_value distance) {
  arrjit_value d = arrjit_abs(op->g, distance);
  if (s->taps == 2) return shift_by(op, arrjit_neg(op->g, d), 1);
  const double a = -0.75;
  arrjit_value square = arrjit_mul(op->g, d, d);
  arrjit_value near = shift_by(op, arrjit_mul(op->g, shift_by(op, scale_by(op, d, a + 2), -(a + 3)), square), 1);
  arrjit_value far = arrjit_mul(op->g, shift_by(op, arrjit_mul(op->g, shift_by(op, d, -5), d), 8), d);
  far = shift_by(op, scale_by(op, far, a), -4 * a);
  return arrjit_select(op->g, arrjit_le(op->g, d, arrjit_const_like(op->g, d, 1)), near, far);
}

typedef struct tap {
  arrjit_value place, weight; /* NULL: 1 */
} tap;

/* The tap-th element from the place of an axis on, how much of it, none when it is outside padding of zeros. */
static tap find_tap(case_op *op, const sampling *s, size_t axis, arrjit_value x, int64_t which) {
  arrjit_graph *g = op->g;
  tap t = {x, NULL};
  if (s->taps > 1) {
    t.place = shift_by(op, arrjit_floor(g, x), (double)(which - (s->taps / 2 - 1)));
    t.weight = find_weight(op, s, arrjit_sub(g, x, t.place));
  }
  arrjit_value inside = limit(op, pull_in(op, s, axis, t.place), 0, (double)s->dims[axis] - 1);
  if (s->padding == ZEROS) {
    arrjit_value one = arrjit_const_like(g, x, 1), none = arrjit_const_like(g, x, 0);
    t.weight = arrjit_select(g, arrjit_eq(g, inside, t.place), t.weight ? t.weight : one, none);
  }
  t.place = as_places(op, inside);
  return t;
}

/* One combination of taps, `which` counting them: x at the flat place, weighed. */
static arrjit_value sample_once(case_op *op, const sampling *s, arrjit_value x, const arrjit_value *places,
                                int64_t which) {
  arrjit_graph *g = op->g;
  arrjit_value flat = NULL, weight = NULL;
  for (size_t i = 0; i < s->rank; i++) {
    tap t = find_tap(op, s, i, places[i], which % s->taps);
    which /= s->taps;
    flat = flat ? arrjit_add(g, scale_by(op, flat, (double)s->dims[i]), t.place) : t.place;
    if (t.weight) weight = weight ? arrjit_mul(g, weight, t.weight) : t.weight;
  }
  arrjit_value seen = look(op, x, flat);
  return weight ? arrjit_mul(g, seen, arrjit_expand_dims(g, weight, 1)) : seen;
}

static sampling read_sampling(const case_op *op, const arrjit_type *type) {
  const char *mode = case_text(op, "mode"), *pad = case_text(op, "padding_mode");
  sampling s = {.corners = case_int(op, "align_corners", 0), .rank = (size_t)type->rank - 2};
  s.taps = strcmp(mode, "nearest") == 0 ? 1 : strstr(mode, "cubic") ? 4 : 2;
  s.padding = strcmp(pad, "border") == 0 ? BORDER : strcmp(pad, "reflection") == 0 ? REFLECTION : ZEROS;
  memcpy(s.dims, type->dims + 2, s.rank * sizeof *s.dims);
  return s;
}

verdict onnx_grid_sample(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[0]), grid = arrjit_value_type(op->in[1]);
  sampling s = read_sampling(op, &type);
  const int64_t flat[] = {type.dims[0], type.dims[1], onnx_product(s.rank, s.dims)};
  arrjit_value x = onnx_reshape(op, op->in[0], 3, flat), places[ARRJIT_MAX_RANK], sum = NULL;
  int64_t count = 1, dims[ARRJIT_MAX_RANK] = {type.dims[0], type.dims[1]};
  for (size_t i = 0; i < s.rank; i++) {
    places[i] = find_places(op, &s, i);
    dims[2 + i] = grid.dims[1 + i];
    count *= s.taps;
  }
  for (int64_t i = 0; i < count; i++) {
    arrjit_value one = sample_once(op, &s, x, places, i);
    sum = sum ? arrjit_add(op->g, sum, one) : one;
  }
  op->out[0] = onnx_reshape(op, sum, (size_t)type.rank, dims);
  return PASSED;
}

/* ---- RoiAlign ---- */

typedef struct line { /* along one axis: [R, places * samples] */
  arrjit_value low, high, low_weight, high_weight;
} line;

static arrjit_value column(case_op *op, arrjit_value rois, int64_t which) { /* [R, 1] */
  int64_t count = arrjit_value_type(rois).dims[0];
  const int64_t start[] = {0, which}, end[] = {count, which + 1}, step[] = {1, 1};
  return arrjit_slice(op->g, rois, 2, start, end, step);
}

/* Samples evenly spread over each bin; those more than one element outside count nothing. */
static line find_line(case_op *op, int64_t which, int64_t extent, int64_t places, int64_t samples, bool half) {
  arrjit_graph *g = op->g;
  double offset = half ? -0.5 : 0, scale = onnx_float(op, "spatial_scale", 1), last = (double)extent - 1;
  arrjit_value from = shift_by(op, scale_by(op, column(op, op->in[1], which), scale), offset);
  arrjit_value to = shift_by(op, scale_by(op, column(op, op->in[1], which + 2), scale), offset);
  arrjit_value size = arrjit_sub(g, to, from);
  if (!half) size = arrjit_max(g, size, arrjit_const_like(g, size, 1));
  const int64_t dims[] = {1, places * samples};
  arrjit_value steps = shift_by(op, arrjit_iota(g, arrjit_value_type(size).dtype, 2, dims, 1), 0.5);
  arrjit_value x = arrjit_add(g, from, arrjit_mul(g, steps, scale_by(op, size, 1.0 / (double)(places * samples))));
  arrjit_value inside = arrjit_and(g, arrjit_ge(g, x, arrjit_const_like(g, x, -1)),
                                   arrjit_le(g, x, arrjit_const_like(g, x, (double)extent)));
  x = limit(op, x, 0, last);
  arrjit_value low = arrjit_floor(g, x), high = limit(op, shift_by(op, low, 1), 0, last);
  arrjit_value part = arrjit_sub(g, x, low), none = arrjit_const_like(g, x, 0);
  return (line){as_places(op, low), as_places(op, high),
                arrjit_select(g, inside, shift_by(op, arrjit_neg(g, part), 1), none),
                arrjit_select(g, inside, part, none)};
}

/* One corner of the square round each sample, weighed: [R, C, samples down, samples across]. */
static arrjit_value look_at_corner(case_op *op, arrjit_value x, const line *down, const line *across, bool low_row,
                                   bool low_column, int64_t width) {
  arrjit_graph *g = op->g;
  arrjit_value row = arrjit_expand_dims(g, low_row ? down->low : down->high, 2);
  arrjit_value col = arrjit_expand_dims(g, low_column ? across->low : across->high, 1);
  arrjit_value flat = arrjit_add(g, scale_by(op, row, (double)width), col);
  arrjit_value a = arrjit_expand_dims(g, low_row ? down->low_weight : down->high_weight, 2);
  arrjit_value b = arrjit_expand_dims(g, low_column ? across->low_weight : across->high_weight, 1);
  const arrjit_type type = arrjit_value_type(flat), map = arrjit_value_type(x);
  const int64_t line_dims[] = {type.dims[0], type.dims[1] * type.dims[2]};
  const int64_t dims[] = {type.dims[0], map.dims[1], type.dims[1], type.dims[2]};
  arrjit_value seen = onnx_reshape(op, look(op, x, onnx_reshape(op, flat, 2, line_dims)), 4, dims);
  return arrjit_mul(g, seen, arrjit_expand_dims(g, arrjit_mul(g, a, b), 1));
}

/* avg: the mean of what lies at the samples; max: the largest of their weighed corners. */
verdict onnx_roi_align(case_op *op) {
  static const int64_t inner[] = {3, 5};
  arrjit_graph *g = op->g;
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t high = case_int(op, "output_height", 1), wide = case_int(op, "output_width", 1);
  int64_t samples = case_int(op, "sampling_ratio", 0), count = arrjit_value_type(op->in[1]).dims[0];
  bool half = strcmp(case_text(op, "coordinate_transformation_mode"), "output_half_pixel") != 0;
  bool most = strcmp(case_text(op, "mode"), "max") == 0;
  if (samples == 0) return corpus_say(op->build->run, SKIPPED, "op RoiAlign with as many samples as data says");
  line down = find_line(op, 1, type.dims[2], high, samples, half);
  line across = find_line(op, 0, type.dims[3], wide, samples, half);
  const int64_t flat[] = {type.dims[0], type.dims[1], type.dims[2] * type.dims[3]};
  arrjit_value x = arrjit_take(g, onnx_reshape(op, op->in[0], 3, flat), op->in[2], 0), out = NULL;
  for (int corner = 0; corner < 4; corner++) {
    arrjit_value seen = look_at_corner(op, x, &down, &across, corner < 2, corner % 2 == 0, type.dims[3]);
    out = !out ? seen : (most ? arrjit_max : arrjit_add)(g, out, seen);
  }
  const int64_t bins[] = {count, type.dims[1], high, samples, wide, samples};
  op->out[0] = (most ? arrjit_reduce_max : arrjit_mean)(g, onnx_reshape(op, out, 6, bins), 2, inner);
  return PASSED;
}

/* ---- AffineGrid ---- */

/* From -1 to 1 in so many steps: at their ends, or in their middles. */
static arrjit_value spread(case_op *op, int64_t extent, bool corners) {
  arrjit_value steps = arrjit_iota(op->g, arrjit_value_type(op->in[0]).dtype, 1, &extent, 0);
  double count = (double)extent;
  if (corners) return shift_by(op, scale_by(op, steps, count > 1 ? 2 / (count - 1) : 0), -1);
  return shift_by(op, scale_by(op, steps, 2 / count), 1 / count - 1);
}

/* Each place as (x, y, .., 1), turned by theta[N, rank, rank + 1]. */
verdict onnx_affine_grid(case_op *op) {
  int64_t size[CASE_MOST], out[ARRJIT_MAX_RANK];
  size_t count;
  if (!onnx_ints(op, 1, &count, size)) return SKIPPED;
  size_t rank = count - 2;
  arrjit_value parts[ARRJIT_MAX_RANK];
  for (size_t i = 0; i < rank; i++) {
    int64_t axis = (int64_t)(rank - 1 - i);
    arrjit_value steps = spread(op, size[2 + axis], case_int(op, "align_corners", 0));
    parts[i] = arrjit_broadcast(op->g, steps, (int32_t)rank, size + 2, 1, &axis);
  }
  parts[rank] = onnx_full(op, op->in[0], 1, rank, size + 2);
  const int64_t flat[] = {onnx_product(rank, size + 2), (int64_t)rank + 1}, contract[] = {2}, with[] = {1};
  arrjit_value places = onnx_reshape(op, arrjit_stack(op->g, rank + 1, parts, (int64_t)rank), 2, flat);
  arrjit_value grid = arrjit_dot(op->g, op->in[0], places, 0, NULL, NULL, 1, contract, with); /* [N, rank, places] */
  out[0] = size[0];
  memcpy(out + 1, size + 2, rank * sizeof *out);
  out[rank + 1] = (int64_t)rank;
  op->out[0] = onnx_reshape(op, onnx_move_axis(op, grid, 1, 2), rank + 2, out);
  return PASSED;
}
