/* Compositions of arrjit/compose.h that reduce floats over axes, and windows. */
#include <math.h>

#include "api/compose.h"
#include "arrjit/compose.h"
#include "arrjit/ops.h"
#include "sem/sem.h"

/* What is reduced, and over which axes. A half is computed in f32 and rounded once, when it is given to the host: its
 * own sums of squares and exponentials, and the number of elements, would overflow at 65520. */
typedef struct over {
  arrjit_graph *graph;
  aj_value *x;
  arrjit_dtype dtype; /* of the host's x and of results */
  size_t count;
  int64_t axes[ARRJIT_MAX_RANK];
} over;

static bool take_axes(over *o, size_t count, const int64_t *axes) {
  bool all = count == ARRJIT_ALL_AXES;
  if (all) count = (size_t)o->x->type->rank;
  if (count > ARRJIT_MAX_RANK) {
    aj_builder_fail(&o->graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%zu axes; at most %d are allowed", count,
                    ARRJIT_MAX_RANK);
    return false;
  }
  if (!all && !aj_graph_given(o->graph, "axes", axes, count)) return false;
  for (size_t i = 0; i < count; i++) o->axes[i] = all ? (int64_t)i : axes[i];
  o->count = count;
  return true;
}

static aj_value *in_dtype(const over *o, aj_value *x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, dtype);
  return x && x->type->dtype != dtype ? aj_build1(&o->graph->b, AJ_OP_CONVERT, 1, &x, 1, &attr) : x;
}

static arrjit_value give(const over *o, aj_value *x) { return aj_host_value(in_dtype(o, x, o->dtype)); }

/* False: an error. That the axes are x's is for the first reduction to say. */
static bool open_over(over *o, arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes) {
  *o = (over){.graph = graph, .x = aj_compose_array(graph, AJ_OP_MEAN, 0, x)};
  if (!o->x) return false;
  arrjit_dtype dtype = o->dtype = o->x->type->dtype;
  if (AJ_D_FLOAT >> dtype & 1) {
    if (aj_dtypes[dtype].bits == 16) o->x = in_dtype(o, o->x, ARRJIT_F32);
    return o->x && take_axes(o, axis_count, axes);
  }
  char text[160];
  aj_type_print(graph->module, o->x->type, text, sizeof text);
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "x is %s; expected a float: write convert(x, %s)", text,
                  aj_dtypes[dtype].bits <= 16 ? "f32" : "f64");
  return false;
}

/* ---- parts ---- */

static aj_value *one(const over *o, aj_op op, aj_value *x) {
  return x ? aj_build1(&o->graph->b, op, 1, &x, 0, NULL) : NULL;
}

static aj_value *two(const over *o, aj_op op, aj_value *x, aj_value *y) { return aj_compose_two(o->graph, op, x, y); }

static aj_value *reduce(const over *o, aj_op op, aj_value *x) {
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, o->count, o->axes);
  return x ? aj_build1(&o->graph->b, op, 1, &x, 1, &attr) : NULL;
}

/* A result of `reduce` where its elements came from: as many dims as x has. */
static aj_value *spread(const over *o, aj_value *reduced) {
  int64_t kept[ARRJIT_MAX_RANK];
  uint32_t set = 0;
  size_t count = 0;
  if (!reduced) return NULL;
  for (size_t i = 0; i < o->count; i++) set |= 1u << o->axes[i];
  for (int32_t i = 0; i < o->x->type->rank; i++)
    if (!(set >> i & 1)) kept[count++] = i;
  return aj_compose_broadcast(o->graph, reduced, o->x->type->rank, o->x->type->dims, kept);
}

static aj_value *zero(const over *o) { return aj_compose_zero(o->graph, o->x->type->dtype); }

/* ---- variance ---- */

/* max(elements - correction, 0) of x's dtype; the product wraps only where an array is empty. */
static aj_value *count_freedom(const over *o, int64_t correction) {
  aj_value *count = aj_compose_i64(o->graph, 1), *x = o->x;
  for (size_t i = 0; i < o->count; i++) {
    const aj_attr axis = aj_attr_int(AJ_ATTR_AXIS, o->axes[i]);
    count = two(o, AJ_OP_MUL, count, aj_build1(&o->graph->b, AJ_OP_DIM_SIZE, 1, &x, 1, &axis));
  }
  count = two(o, AJ_OP_SUB, count, aj_compose_i64(o->graph, correction));
  count = two(o, AJ_OP_MAX, count, aj_compose_i64(o->graph, 0));
  return in_dtype(o, count, o->x->type->dtype);
}

static aj_value *make_variance(over *o, arrjit_graph *graph, arrjit_value x, int64_t correction, size_t axis_count,
                               const int64_t *axes) {
  if (!open_over(o, graph, x, axis_count, axes)) return NULL;
  if (correction < 0)
    return aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "correction is %lld; expected at least 0",
                           (long long)correction);
  aj_value *from_mean = two(o, AJ_OP_SUB, o->x, spread(o, reduce(o, AJ_OP_MEAN, o->x)));
  aj_value *sum = reduce(o, AJ_OP_REDUCE_SUM, two(o, AJ_OP_MUL, from_mean, from_mean));
  return sum ? two(o, AJ_OP_DIV, sum, count_freedom(o, correction)) : NULL;
}

arrjit_value arrjit_variance(arrjit_graph *graph, arrjit_value x, int64_t correction, size_t axis_count,
                             const int64_t *axes) {
  over o;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *variance = make_variance(&o, graph, x, correction, axis_count, axes);
  return variance ? give(&o, variance) : NULL;
}

arrjit_value arrjit_standard_deviation(arrjit_graph *graph, arrjit_value x, int64_t correction, size_t axis_count,
                                       const int64_t *axes) {
  over o;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *variance = make_variance(&o, graph, x, correction, axis_count, axes);
  return variance ? give(&o, one(&o, AJ_OP_SQRT, variance)) : NULL;
}

/* ---- norm ---- */

/* A sum of no elements is +0, of -0 too: sums start at -0, and |x| is never that. */
arrjit_value arrjit_norm(arrjit_graph *graph, arrjit_value x, double p, size_t axis_count, const int64_t *axes) {
  over o;
  if (!aj_graph_ready(graph) || !open_over(&o, graph, x, axis_count, axes)) return NULL;
  if (p == 2) return give(&o, one(&o, AJ_OP_SQRT, reduce(&o, AJ_OP_REDUCE_SUM, two(&o, AJ_OP_MUL, o.x, o.x))));
  if (p == 1) return give(&o, reduce(&o, AJ_OP_REDUCE_SUM, one(&o, AJ_OP_ABS, o.x)));
  if (p == (double)INFINITY) {
    aj_value *most = reduce(&o, AJ_OP_REDUCE_MAX, one(&o, AJ_OP_ABS, o.x));
    return give(&o, most ? two(&o, AJ_OP_MAX, most, zero(&o)) : NULL);
  }
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "p is %g; expected 1, 2 or INFINITY", p);
  return NULL;
}

/* ---- exponentials ---- */

/* m, d and the sum of e^d as the header has them. What equals m has a d of 0, for infinite m too: so no infinity is
 * taken from another. */
typedef struct exponentials {
  aj_value *m, *d, *e, *sum;
} exponentials;

/* False: an error. */
static bool make_exponentials(const over *o, exponentials *out) {
  aj_value *m = reduce(o, AJ_OP_REDUCE_MAX, o->x), *far = spread(o, m);
  aj_value *less = two(o, AJ_OP_SUB, o->x, far), *same = two(o, AJ_OP_EQ, o->x, far);
  if (!less || !same) return false;
  aj_value *d = aj_build_elementwise(&o->graph->b, AJ_OP_SELECT, 3, (aj_value *[]){same, zero(o), less}, 0, NULL);
  aj_value *e = one(o, AJ_OP_EXP, d);
  *out = (exponentials){m, d, e, reduce(o, AJ_OP_REDUCE_SUM, e)};
  return out->sum != NULL;
}

static bool open_exponentials(over *o, exponentials *out, arrjit_graph *graph, arrjit_value x, size_t axis_count,
                              const int64_t *axes) {
  return open_over(o, graph, x, axis_count, axes) && make_exponentials(o, out);
}

arrjit_value arrjit_softmax(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes) {
  over o;
  exponentials t;
  if (!aj_graph_ready(graph) || !open_exponentials(&o, &t, graph, x, axis_count, axes)) return NULL;
  return give(&o, two(&o, AJ_OP_DIV, t.e, spread(&o, t.sum)));
}

arrjit_value arrjit_log_softmax(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes) {
  over o;
  exponentials t;
  if (!aj_graph_ready(graph) || !open_exponentials(&o, &t, graph, x, axis_count, axes)) return NULL;
  return give(&o, two(&o, AJ_OP_SUB, t.d, spread(&o, one(&o, AJ_OP_LOG, t.sum))));
}

arrjit_value arrjit_logsumexp(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes) {
  over o;
  exponentials t;
  if (!aj_graph_ready(graph) || !open_exponentials(&o, &t, graph, x, axis_count, axes)) return NULL;
  return give(&o, two(&o, AJ_OP_ADD, t.m, one(&o, AJ_OP_LOG, t.sum)));
}

/* ---- windows ---- */

/* What an empty window gives; of a dtype that the reduction does not take, its error. */
static aj_value *identity(arrjit_graph *graph, aj_op reduction, aj_value *x) {
  uint64_t start, empty = 0;
  arrjit_dtype dtype = x->type->dtype;
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, 0, NULL);
  if (!(aj_ops[reduction].dtypes >> dtype & 1)) return aj_build1(&graph->b, reduction, 1, &x, 1, &attr);
  if (reduction == AJ_OP_REDUCE_SUM) return aj_compose_zero(graph, dtype);
  aj_reduce_identity(reduction, dtype, &start, &empty);
  return aj_build_scalar(&graph->b, dtype, &empty);
}

static arrjit_value fold_windows(arrjit_graph *graph, const char *function, aj_op op, aj_op reduction, arrjit_value x,
                                 int32_t rank, const int64_t *const lists[6]) {
  arrjit_value older, newer, out = NULL;
  if (!aj_graph_enter(graph, function)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_REDUCE_SUM, 0, x);
  if (!from) return NULL;
  arrjit_value init = aj_host_value(identity(graph, reduction, from));
  if (!init) return NULL;
  aj_windows_begin(graph, function, 1, &x, &init, rank, lists, &older, &newer);
  arrjit_value both = aj_host_value(aj_compose_two(graph, op, aj_graph_value(older), aj_graph_value(newer)));
  aj_windows_end(graph, function, 1, &both, &out);
  return out;
}

arrjit_value arrjit_reduce_window_sum(arrjit_graph *graph, arrjit_value x, int32_t rank, const int64_t *sizes,
                                      const int64_t *strides, const int64_t *low, const int64_t *high,
                                      const int64_t *base_dilation, const int64_t *window_dilation) {
  const int64_t *const lists[] = {sizes, strides, low, high, base_dilation, window_dilation};
  return fold_windows(graph, __func__, AJ_OP_ADD, AJ_OP_REDUCE_SUM, x, rank, lists);
}

arrjit_value arrjit_reduce_window_min(arrjit_graph *graph, arrjit_value x, int32_t rank, const int64_t *sizes,
                                      const int64_t *strides, const int64_t *low, const int64_t *high,
                                      const int64_t *base_dilation, const int64_t *window_dilation) {
  const int64_t *const lists[] = {sizes, strides, low, high, base_dilation, window_dilation};
  return fold_windows(graph, __func__, AJ_OP_MIN, AJ_OP_REDUCE_MIN, x, rank, lists);
}

arrjit_value arrjit_reduce_window_max(arrjit_graph *graph, arrjit_value x, int32_t rank, const int64_t *sizes,
                                      const int64_t *strides, const int64_t *low, const int64_t *high,
                                      const int64_t *base_dilation, const int64_t *window_dilation) {
  const int64_t *const lists[] = {sizes, strides, low, high, base_dilation, window_dilation};
  return fold_windows(graph, __func__, AJ_OP_MAX, AJ_OP_REDUCE_MAX, x, rank, lists);
}
