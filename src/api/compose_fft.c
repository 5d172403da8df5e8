/* Transforms over any axes of arrjit/compose.h: what makes them ones along the last axis, one after the other. */
#include "api/compose.h"
#include "arrjit/compose.h"
#include "arrjit/ops.h"

typedef struct over {
  arrjit_graph *graph;
  aj_value *x;
  size_t count;
  int64_t axes[ARRJIT_MAX_RANK], lengths[ARRJIT_MAX_RANK];
  bool has_lengths;
} over;

static bool take_axes(over *o, size_t count, const int64_t *axes) {
  bool all = count == ARRJIT_ALL_AXES;
  int32_t rank = o->x->type->rank;
  uint32_t set = 0;
  o->count = all ? (size_t)rank : count;
  if (!all && !aj_graph_given(o->graph, "axes", axes, count)) return false;
  for (size_t i = 0; i < o->count; i++) {
    int64_t axis = all ? (int64_t)i : axes[i];
    if (!aj_compose_axis(o->graph, axis, rank)) return false;
    if (set >> axis & 1) {
      aj_builder_fail(&o->graph->b, ARRJIT_TYPE, AJ_OP_NONE, "axes has %lld twice", (long long)axis);
      return false;
    }
    set |= 1u << axis;
    o->axes[i] = axis;
  }
  return true;
}

/* False: an error. `op` says what x has to fit. */
static bool open_over(over *o, arrjit_graph *graph, aj_op op, arrjit_value x, size_t axis_count, const int64_t *axes,
                      const int64_t *lengths) {
  *o = (over){.graph = graph, .x = aj_compose_array(graph, op, 0, x), .has_lengths = lengths != NULL};
  if (!o->x || !take_axes(o, axis_count, axes)) return false;
  if (o->count == 0 && op != AJ_OP_FFT_LAST) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "no axis came; expected at least one");
    return false;
  }
  if (!lengths) return true;
  const arrjit_type type = arrjit_type_make(ARRJIT_F64, (int32_t)o->count, lengths);
  const aj_type *made = aj_graph_type(graph, "lengths", &type, graph->b.func, 0);
  for (size_t i = 0; made && i < o->count; i++) o->lengths[i] = made->dims[i];
  return made != NULL;
}

/* Zeros behind x along axis, at least up to length; then cut. */
static aj_value *fit_unknown(arrjit_graph *graph, aj_value *x, int64_t axis, int64_t length) {
  int64_t dims[ARRJIT_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; i++) dims[i] = i == axis ? length : x->type->dims[i];
  aj_value *fill = aj_compose_zero(graph, x->type->dtype);
  aj_value *both[] = {x, aj_compose_broadcast(graph, fill, x->type->rank, dims, NULL)};
  return aj_compose_slice(graph, aj_compose_concat(graph, 2, both, axis), axis, 0, length);
}

/* The first `length` elements along axis, zeros where x has none. */
static aj_value *fit_length(arrjit_graph *graph, aj_value *x, int64_t axis, int64_t length) {
  int64_t none[ARRJIT_MAX_RANK] = {0}, high[ARRJIT_MAX_RANK] = {0};
  if (!x || aj_dim_equal(x->type->dims[axis], length)) return x;
  if (x->type->dims[axis] < 0 || length < 0) return fit_unknown(graph, x, axis, length);
  if (length < x->type->dims[axis]) return aj_compose_slice(graph, x, axis, 0, length);
  high[axis] = length - x->type->dims[axis];
  size_t rank = (size_t)x->type->rank;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_LOW, rank, none), aj_attr_ints(AJ_ATTR_HIGH, rank, high),
                           aj_attr_ints(AJ_ATTR_INTERIOR, rank, none)};
  aj_value *operands[] = {x, aj_compose_zero(graph, x->type->dtype)};
  return aj_compose_fitted(graph, AJ_OP_PAD, 2, operands, AJ_COUNT(attrs), attrs);
}

/* Axis and the last one change places. */
static aj_value *turn(arrjit_graph *graph, aj_value *x, int64_t axis) {
  int64_t axes[ARRJIT_MAX_RANK];
  if (!x) return NULL;
  int32_t last = x->type->rank - 1;
  if (axis == last) return x;
  for (int32_t i = 0; i <= last; i++) axes[i] = i == axis ? last : i == last ? axis : i;
  return aj_compose_axes(graph, AJ_OP_TRANSPOSE, x, (size_t)last + 1, axes);
}

/* A transform along axis i of the list; attr NULL: it has no attribute. */
static aj_value *transform(const over *o, aj_op op, aj_value *x, size_t i, const aj_attr *attr) {
  aj_value *turned = turn(o->graph, x, o->axes[i]);
  return turned ? turn(o->graph, aj_build1(&o->graph->b, op, 1, &turned, attr != NULL, attr), o->axes[i]) : NULL;
}

/* fft_last along the first `count` axes of the list. */
static aj_value *transform_complex(const over *o, aj_value *x, size_t count, bool inverse) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_INVERSE, inverse);
  for (size_t i = 0; i < count && x; i++) {
    if (o->has_lengths) x = fit_length(o->graph, x, o->axes[i], o->lengths[i]);
    x = transform(o, AJ_OP_FFT_LAST, x, i, &attr);
  }
  return x;
}

arrjit_value arrjit_fft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                        const int64_t *lengths) {
  over o;
  if (!aj_graph_ready(graph) || !open_over(&o, graph, AJ_OP_FFT_LAST, x, axis_count, axes, lengths)) return NULL;
  return aj_host_value(transform_complex(&o, o.x, o.count, false));
}

arrjit_value arrjit_ifft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                         const int64_t *lengths) {
  over o;
  if (!aj_graph_ready(graph) || !open_over(&o, graph, AJ_OP_FFT_LAST, x, axis_count, axes, lengths)) return NULL;
  return aj_host_value(transform_complex(&o, o.x, o.count, true));
}

arrjit_value arrjit_rfft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                         const int64_t *lengths) {
  over o;
  if (!aj_graph_ready(graph) || !open_over(&o, graph, AJ_OP_RFFT_LAST, x, axis_count, axes, lengths)) return NULL;
  size_t last = o.count - 1;
  if (lengths) o.x = fit_length(graph, o.x, o.axes[last], o.lengths[last]);
  return aj_host_value(transform_complex(&o, transform(&o, AJ_OP_RFFT_LAST, o.x, last, NULL), last, false));
}

/* An extent of a result; false: an error. */
static bool make_dim(arrjit_graph *graph, aj_symbol_form form, int64_t a, int64_t b, int64_t *out) {
  if (aj_dim_make(graph->b.func, form, a, b, out)) return true;
  if (graph->module->arena.failed)
    aj_builder_no_memory(&graph->b);
  else
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "an extent of the result is below 0 or out of range");
  return false;
}

/* The n of the transform back from `half` elements, 2 (half - 1); or, as `has` says, the elements that n needs. */
static bool find_lengths(arrjit_graph *graph, bool has, int64_t *n, int64_t *half) {
  if (has) return make_dim(graph, AJ_SYM_FLOOR_DIV, *n, 2, half) && make_dim(graph, AJ_SYM_ADD, *half, 1, half);
  return make_dim(graph, AJ_SYM_SUB, *half, 1, n) && make_dim(graph, AJ_SYM_MUL, *n, 2, n) &&
         make_dim(graph, AJ_SYM_FLOOR_DIV, *n, 2, half) && make_dim(graph, AJ_SYM_ADD, *half, 1, half);
}

arrjit_value arrjit_irfft(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes,
                          const int64_t *lengths) {
  over o;
  if (!aj_graph_ready(graph) || !open_over(&o, graph, AJ_OP_IRFFT_LAST, x, axis_count, axes, lengths)) return NULL;
  size_t last = o.count - 1;
  int64_t n = o.lengths[last], half = o.x->type->dims[o.axes[last]];
  if (!find_lengths(graph, o.has_lengths, &n, &half)) return NULL;
  aj_value *spectrum = fit_length(graph, transform_complex(&o, o.x, last, true), o.axes[last], half);
  const aj_attr attr = aj_attr_ints(AJ_ATTR_SIZES, 1, &n);
  return aj_host_value(transform(&o, AJ_OP_IRFFT_LAST, spectrum, last, &attr));
}
