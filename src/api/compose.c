/* Nodes of compositions, and those of arrjit/compose.h that move elements by shape alone. */
#include "api/compose.h"

#include <string.h>

#include "arrjit/compose.h"

/* ---- parts ---- */

aj_value *aj_compose_array(arrjit_graph *graph, aj_op op, uint32_t operand, arrjit_value value) {
  aj_value *x = aj_graph_value(value);
  if (!aj_builder_check_operand(&graph->b, op, operand, x)) return NULL;
  if (!x->type->is_exn) return x;
  const char *name = "";
  size_t length = 0;
  aj_op_operand_name(op, operand, &name, &length);
  return aj_builder_fail(&graph->b, ARRJIT_TYPE, op, "%.*s is an exception; expected an array", (int)length, name);
}

bool aj_compose_axis(arrjit_graph *graph, int64_t axis, int32_t end) {
  if (axis >= 0 && axis < end) return true;
  if (end == 0)
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "axis is %lld; there are no axes: the rank is 0",
                    (long long)axis);
  else
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "axis is %lld; expected one from 0 to below %d",
                    (long long)axis, end);
  return false;
}

aj_value *aj_compose_fitted(arrjit_graph *graph, aj_op op, uint32_t count, aj_value *const *xs, uint32_t attr_count,
                            const aj_attr *attrs) {
  for (uint32_t i = 0; i < count; i++)
    if (!xs[i]) return NULL;
  aj_node *node = aj_build_fitted(&graph->b, op, count, xs, attr_count, attrs);
  return node ? &node->results[0] : NULL;
}

aj_value *aj_compose_two(arrjit_graph *graph, aj_op op, aj_value *x, aj_value *y) {
  return x && y ? aj_build_elementwise(&graph->b, op, 2, (aj_value *[]){x, y}, 0, NULL) : NULL;
}

aj_value *aj_compose_i64(arrjit_graph *graph, int64_t value) { return aj_build_scalar(&graph->b, ARRJIT_I64, &value); }

aj_value *aj_compose_zero(arrjit_graph *graph, arrjit_dtype dtype) {
  static const uint64_t zero[2] = {0, 0}; /* as long as the longest element */
  return aj_build_scalar(&graph->b, dtype, zero);
}

aj_value *aj_compose_iota(arrjit_graph *graph, int32_t rank, const int64_t *dims, int64_t axis) {
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_DTYPE, ARRJIT_I64), aj_attr_ints(AJ_ATTR_SHAPE, (size_t)rank, dims),
                           aj_attr_int(AJ_ATTR_AXIS, axis)};
  return aj_build1(&graph->b, AJ_OP_IOTA, 0, NULL, AJ_COUNT(attrs), attrs);
}

aj_value *aj_compose_slice(arrjit_graph *graph, aj_value *x, int64_t axis, int64_t start, int64_t limit) {
  int64_t starts[ARRJIT_MAX_RANK] = {0}, limits[ARRJIT_MAX_RANK], steps[ARRJIT_MAX_RANK];
  if (!x) return NULL;
  size_t rank = (size_t)x->type->rank;
  for (size_t i = 0; i < rank; i++) limits[i] = x->type->dims[i], steps[i] = 1;
  starts[axis] = start;
  limits[axis] = limit;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_START, rank, starts), aj_attr_ints(AJ_ATTR_LIMIT, rank, limits),
                           aj_attr_ints(AJ_ATTR_STEP, rank, steps)};
  return aj_compose_fitted(graph, AJ_OP_SLICE, 1, &x, AJ_COUNT(attrs), attrs);
}

aj_value *aj_compose_reshape(arrjit_graph *graph, aj_value *x, int32_t rank, const int64_t *dims) {
  const aj_attr shape = aj_attr_ints(AJ_ATTR_SHAPE, (size_t)rank, dims);
  return aj_compose_fitted(graph, AJ_OP_RESHAPE, 1, &x, 1, &shape);
}

aj_value *aj_compose_broadcast(arrjit_graph *graph, aj_value *x, int32_t rank, const int64_t *dims,
                               const int64_t *axes) {
  if (!x) return NULL;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_SHAPE, (size_t)rank, dims),
                           aj_attr_ints(AJ_ATTR_AXES, (size_t)x->type->rank, axes)};
  return aj_compose_fitted(graph, AJ_OP_BROADCAST, 1, &x, AJ_COUNT(attrs), attrs);
}

aj_value *aj_compose_axes(arrjit_graph *graph, aj_op op, aj_value *x, size_t count, const int64_t *axes) {
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, count, axes);
  return x ? aj_build1(&graph->b, op, 1, &x, 1, &attr) : NULL;
}

aj_value *aj_compose_expand(arrjit_graph *graph, aj_value *x, int64_t axis) {
  int64_t dims[ARRJIT_MAX_RANK + 1], axes[ARRJIT_MAX_RANK];
  if (!x) return NULL;
  for (int32_t i = 0; i < x->type->rank; i++) {
    axes[i] = i + (i >= axis);
    dims[axes[i]] = x->type->dims[i];
  }
  dims[axis] = 1;
  return aj_compose_broadcast(graph, x, x->type->rank + 1, dims, axes);
}

aj_value *aj_compose_concat(arrjit_graph *graph, uint32_t count, aj_value *const *xs, int64_t axis) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
  return aj_compose_fitted(graph, AJ_OP_CONCAT, count, xs, 1, &attr);
}

/* ---- shape ---- */

arrjit_value arrjit_expand_dims(arrjit_graph *graph, arrjit_value x, int64_t axis) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_BROADCAST, 0, x);
  if (!from || !aj_compose_axis(graph, axis, from->type->rank + 1)) return NULL;
  return aj_host_value(aj_compose_expand(graph, from, axis));
}

arrjit_value arrjit_squeeze(arrjit_graph *graph, arrjit_value x, size_t axis_count, const int64_t *axes) {
  uint32_t set = 0;
  int64_t dims[ARRJIT_MAX_RANK];
  int32_t rank = 0;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_RESHAPE, 0, x);
  if (!from || !aj_graph_given(graph, "axes", axes, axis_count)) return NULL;
  for (size_t i = 0; i < axis_count; i++) {
    if (!aj_compose_axis(graph, axes[i], from->type->rank)) return NULL;
    if (from->type->dims[axes[i]] != 1 || (set >> axes[i] & 1)) {
      aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_RESHAPE, "axis %lld comes twice, or its extent is not 1",
                      (long long)axes[i]);
      return NULL;
    }
    set |= 1u << axes[i];
  }
  for (int32_t i = 0; i < from->type->rank; i++)
    if (!(set >> i & 1)) dims[rank++] = from->type->dims[i];
  return aj_host_value(aj_compose_reshape(graph, from, rank, dims));
}

/* An extent of a result, from two. */
static bool multiply(arrjit_graph *graph, int64_t a, int64_t b, int64_t *out) {
  if (aj_dim_make(graph->b.func, AJ_SYM_MUL, a, b, out)) return true;
  if (graph->module->arena.failed)
    aj_builder_no_memory(&graph->b);
  else
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "an extent of the result is out of range");
  return false;
}

arrjit_value arrjit_tile(arrjit_graph *graph, arrjit_value x, int32_t rank, const int64_t *reps) {
  int64_t wide[2 * ARRJIT_MAX_RANK], axes[ARRJIT_MAX_RANK], dims[ARRJIT_MAX_RANK];
  int32_t wide_rank = 0;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_BROADCAST, 0, x);
  if (!from || !aj_graph_given(graph, "reps", reps, rank > 0 ? (size_t)rank : 0)) return NULL;
  if (rank != from->type->rank) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_BROADCAST, "rank is %d; expected that of x, %d", rank,
                    from->type->rank);
    return NULL;
  }
  for (int32_t i = 0; i < rank; i++) {
    if (reps[i] < 0) {
      aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_BROADCAST, "reps has %lld; expected at least 0",
                      (long long)reps[i]);
      return NULL;
    }
    if (reps[i] != 1) wide[wide_rank++] = reps[i];
    axes[i] = wide_rank;
    wide[wide_rank++] = from->type->dims[i];
    if (!multiply(graph, from->type->dims[i], reps[i], &dims[i])) return NULL;
  }
  return aj_host_value(aj_compose_reshape(graph, aj_compose_broadcast(graph, from, wide_rank, wide, axes), rank, dims));
}

arrjit_value arrjit_stack(arrjit_graph *graph, size_t count, const arrjit_value *xs, int64_t axis) {
  if (!aj_graph_ready(graph) || !aj_graph_operands(graph, count, xs)) return NULL;
  if (count == 0) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONCAT, "no operand came; expected at least one");
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    aj_value *x = aj_compose_array(graph, AJ_OP_CONCAT, (uint32_t)i, xs[i]);
    if (!x || !aj_compose_axis(graph, axis, x->type->rank + 1)) return NULL;
    graph->scratch.data[i] = aj_compose_expand(graph, x, axis);
  }
  return aj_host_value(aj_compose_concat(graph, (uint32_t)count, graph->scratch.data, axis));
}

static bool check_sizes(arrjit_graph *graph, int64_t extent, size_t count, const int64_t *sizes) {
  int64_t sum = 0;
  bool fits = extent >= 0;
  for (size_t i = 0; fits && i < count; i++) fits = sizes[i] >= 0 && aj_i64_add(sum, sizes[i], &sum);
  if (fits && sum == extent) return true;
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_SLICE,
                  "expected an extent along axis that is a number, and sizes of at least 0 that together are it");
  return false;
}

void arrjit_split(arrjit_graph *graph, arrjit_value x, int64_t axis, size_t count, const int64_t *sizes,
                  arrjit_value *out) {
  aj_graph_give(out, count, NULL);
  if (!aj_graph_ready(graph)) return;
  aj_value *from = aj_compose_array(graph, AJ_OP_SLICE, 0, x);
  if (!from || !aj_compose_axis(graph, axis, from->type->rank) || !aj_graph_given(graph, "sizes", sizes, count)) return;
  if (!check_sizes(graph, from->type->dims[axis], count, sizes)) return;
  for (size_t i = 0, at = 0; i < count; at += (size_t)sizes[i++]) {
    aj_value *piece = aj_compose_slice(graph, from, axis, (int64_t)at, (int64_t)at + sizes[i]);
    if (out) out[i] = aj_host_value(piece);
  }
  if (!aj_builder_ok(&graph->b)) aj_graph_give(out, count, NULL);
}

/* Positions that a roll takes where the extent is a symbol. */
static aj_value *rolled_positions(arrjit_graph *graph, aj_value *x, int64_t shift, int64_t axis) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
  aj_value *extent = aj_build1(&graph->b, AJ_OP_DIM_SIZE, 1, &x, 1, &attr);
  aj_value *by = aj_compose_two(graph, AJ_OP_MOD, aj_compose_i64(graph, shift), extent);
  aj_value *position = aj_compose_iota(graph, 1, &x->type->dims[axis], 0);
  return aj_compose_two(graph, AJ_OP_MOD, aj_compose_two(graph, AJ_OP_SUB, position, by), extent);
}

arrjit_value arrjit_roll(arrjit_graph *graph, arrjit_value x, int64_t shift, int64_t axis) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_SLICE, 0, x);
  if (!from || !aj_compose_axis(graph, axis, from->type->rank)) return NULL;
  int64_t extent = from->type->dims[axis];
  if (extent < 0) {
    const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
    aj_value *operands[] = {from, rolled_positions(graph, from, shift, axis)};
    return aj_host_value(aj_compose_fitted(graph, AJ_OP_TAKE, 2, operands, 1, &attr));
  }
  int64_t by = extent ? shift % extent : 0;
  if (by < 0) by += extent;
  if (by == 0) return x;
  aj_value *end = aj_compose_slice(graph, from, axis, extent - by, extent);
  aj_value *start = aj_compose_slice(graph, from, axis, 0, extent - by);
  return aj_host_value(aj_compose_concat(graph, 2, (aj_value *[]){end, start}, axis));
}
