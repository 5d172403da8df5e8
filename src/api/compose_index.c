/* Compositions of arrjit/compose.h that index, mask and sort. */
#include "api/compose.h"
#include "arrjit/compose.h"

/* A gather of single elements whose batch axes are all but one. */
aj_value *aj_compose_along(arrjit_graph *graph, aj_value *x, aj_value *indices, int64_t axis) {
  int64_t others[ARRJIT_MAX_RANK], ones[ARRJIT_MAX_RANK];
  size_t count = 0;
  if (!x || !indices) return NULL;
  if (indices->type->rank != x->type->rank)
    return aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_GATHER, "indices have rank %d; expected that of x, %d",
                           indices->type->rank, x->type->rank);
  for (int32_t i = 0; i < x->type->rank; i++) {
    ones[i] = 1;
    if (i != axis) others[count++] = i;
  }
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_OFFSET_AXES, 0, NULL),
                           aj_attr_ints(AJ_ATTR_COLLAPSED_AXES, 1, &axis),
                           aj_attr_ints(AJ_ATTR_X_BATCH, count, others),
                           aj_attr_ints(AJ_ATTR_INDEX_BATCH, count, others),
                           aj_attr_ints(AJ_ATTR_START_MAP, 1, &axis),
                           aj_attr_int(AJ_ATTR_INDEX_AXIS, x->type->rank),
                           aj_attr_ints(AJ_ATTR_SIZES, (size_t)x->type->rank, ones)};
  aj_node *node = aj_build_fitted(&graph->b, AJ_OP_GATHER, 2, (aj_value *[]){x, indices}, AJ_COUNT(attrs), attrs);
  return node ? &node->results[0] : NULL;
}

arrjit_value arrjit_take_along_axis(arrjit_graph *graph, arrjit_value x, arrjit_value indices, int64_t axis) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_GATHER, 0, x);
  aj_value *at = from ? aj_compose_array(graph, AJ_OP_GATHER, 1, indices) : NULL;
  if (!at || !aj_compose_axis(graph, axis, from->type->rank)) return NULL;
  return aj_host_value(aj_compose_along(graph, from, at, axis));
}

static aj_value *convert(arrjit_graph *graph, aj_value *x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, dtype);
  if (!x || x->type->dtype == dtype) return x;
  return aj_build1(&graph->b, AJ_OP_CONVERT, 1, &x, 1, &attr);
}

/* Compared as i64: a narrow dtype may not count to depth, and a u64 beyond i64 is no position. */
arrjit_value arrjit_one_hot(arrjit_graph *graph, arrjit_value indices, int64_t depth, int64_t axis,
                            arrjit_dtype dtype) {
  int64_t dims[ARRJIT_MAX_RANK];
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_GATHER, 1, indices);
  if (!from || !aj_compose_axis(graph, axis, from->type->rank + 1)) return NULL;
  if (!(AJ_D_INT >> from->type->dtype & 1)) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_GATHER, "indices are %s; expected an integer dtype",
                    aj_dtypes[from->type->dtype].name);
    return NULL;
  }
  aj_value *expanded = aj_compose_expand(graph, convert(graph, from, ARRJIT_I64), axis);
  if (!expanded) return NULL;
  for (int32_t i = 0; i < expanded->type->rank; i++) dims[i] = expanded->type->dims[i];
  dims[axis] = depth;
  aj_value *same = aj_compose_two(graph, AJ_OP_EQ, expanded, aj_compose_iota(graph, expanded->type->rank, dims, axis));
  return aj_host_value(convert(graph, same, dtype));
}

/* ---- triangles ---- */

/* column `op` row + diagonal, a diagonal beyond all extents cut so that nothing overflows */
static aj_value *compare_places(arrjit_graph *graph, aj_op op, const int64_t *dims, int64_t diagonal) {
  const int64_t most = INT64_C(1) << 62;
  int64_t by = diagonal > most ? most : diagonal < -most ? -most : diagonal;
  aj_value *row = aj_compose_iota(graph, 2, dims, 0);
  aj_value *moved = aj_compose_two(graph, AJ_OP_ADD, row, aj_compose_i64(graph, by));
  return aj_compose_two(graph, op, aj_compose_iota(graph, 2, dims, 1), moved);
}

arrjit_value arrjit_tri(arrjit_graph *graph, int64_t rows, int64_t columns, int64_t diagonal) {
  if (!aj_graph_ready(graph)) return NULL;
  return aj_host_value(compare_places(graph, AJ_OP_LE, (const int64_t[]){rows, columns}, diagonal));
}

static arrjit_value keep_triangle(arrjit_graph *graph, arrjit_value x, aj_op op, int64_t diagonal) {
  aj_value *from = aj_compose_array(graph, AJ_OP_BROADCAST, 0, x);
  if (!from) return NULL;
  const aj_type *type = from->type;
  if (type->rank < 2) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_SELECT, "x has rank %d; expected at least 2", type->rank);
    return NULL;
  }
  aj_value *mask = compare_places(graph, op, type->dims + type->rank - 2, diagonal);
  aj_value *operands[] = {mask, from, aj_compose_zero(graph, type->dtype)};
  if (!aj_builder_ok(&graph->b)) return NULL;
  return aj_host_value(aj_build_elementwise(&graph->b, AJ_OP_SELECT, 3, operands, 0, NULL));
}

arrjit_value arrjit_tril(arrjit_graph *graph, arrjit_value x, int64_t diagonal) {
  return aj_graph_ready(graph) ? keep_triangle(graph, x, AJ_OP_LE, diagonal) : NULL;
}

arrjit_value arrjit_triu(arrjit_graph *graph, arrjit_value x, int64_t diagonal) {
  return aj_graph_ready(graph) ? keep_triangle(graph, x, AJ_OP_GE, diagonal) : NULL;
}

/* ---- sorting ---- */

static aj_value *argsort(arrjit_graph *graph, aj_value *x, int64_t axis, int64_t descending) {
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_AXIS, axis), aj_attr_int(AJ_ATTR_DESCENDING, descending)};
  return x ? aj_build1(&graph->b, AJ_OP_ARGSORT, 1, &x, AJ_COUNT(attrs), attrs) : NULL;
}

void arrjit_sort_along(arrjit_graph *graph, arrjit_value key, size_t count, const arrjit_value *values, int64_t axis,
                       int descending, arrjit_value *out) {
  if (count < SIZE_MAX) aj_graph_give(out, count + 1, NULL);
  if (!aj_graph_ready(graph) || !aj_graph_given(graph, "values", values, count)) return;
  aj_value *x = aj_compose_array(graph, AJ_OP_ARGSORT, 0, key);
  aj_value *order = argsort(graph, x, axis, descending);
  for (size_t i = 0; order && i <= count; i++) {
    aj_value *value = i ? aj_compose_array(graph, AJ_OP_SEARCHSORTED, 1, values[i - 1]) : x;
    aj_value *sorted = aj_compose_along(graph, value, order, axis);
    if (out) out[i] = aj_host_value(sorted);
  }
  if (!aj_builder_ok(&graph->b)) aj_graph_give(out, count + 1, NULL);
}

static aj_value *reverse(arrjit_graph *graph, aj_value *x, int64_t axis) {
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, 1, &axis);
  return x ? aj_build1(&graph->b, AJ_OP_REVERSE, 1, &x, 1, &attr) : NULL;
}

/* Upwards, NaN come last; of the reverse, and reversed again, they come first and equals keep their order. */
void arrjit_top_k(arrjit_graph *graph, arrjit_value x, int64_t k, int64_t axis, arrjit_value *out_values,
                  arrjit_value *out_positions) {
  aj_graph_give(out_values, 1, NULL);
  aj_graph_give(out_positions, 1, NULL);
  if (!aj_graph_ready(graph)) return;
  aj_value *from = aj_compose_array(graph, AJ_OP_ARGSORT, 0, x);
  if (!from || !aj_compose_axis(graph, axis, from->type->rank)) return;
  if (k < 0) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "k is %lld; expected at least 0", (long long)k);
    return;
  }
  const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
  aj_value *order = reverse(graph, argsort(graph, reverse(graph, from, axis), axis, 0), axis);
  aj_value *first = aj_compose_slice(graph, order, axis, 0, k);
  aj_value *extent = first ? aj_build1(&graph->b, AJ_OP_DIM_SIZE, 1, &from, 1, &attr) : NULL;
  aj_value *last = aj_compose_two(graph, AJ_OP_SUB, extent, aj_compose_i64(graph, 1));
  aj_value *positions = aj_compose_two(graph, AJ_OP_SUB, last, first);
  aj_value *values = aj_compose_along(graph, from, positions, axis);
  if (!aj_builder_ok(&graph->b)) return;
  if (out_values) *out_values = aj_host_value(values);
  if (out_positions) *out_positions = aj_host_value(positions);
}
