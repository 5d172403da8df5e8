/* Between the files of compositions: nodes made with less ceremony. After an error all give NULL and take it. */
#ifndef AJ_API_COMPOSE_H
#define AJ_API_COMPOSE_H

#include "api/graph.h"

/* The host's value as an array, `name` in errors; NULL: an error. `op` says what the value has to fit. */
aj_value *aj_compose_array(arrjit_graph *graph, aj_op op, uint32_t operand, arrjit_value value);
/* Whether 0 <= axis < end; if not, an error. */
bool aj_compose_axis(arrjit_graph *graph, int64_t axis, int32_t end);

/* The first result of a node whose operands are made to agree, with check_shape where only a run can tell. */
aj_value *aj_compose_fitted(arrjit_graph *graph, aj_op op, uint32_t count, aj_value *const *xs, uint32_t attr_count,
                            const aj_attr *attrs);
aj_value *aj_compose_two(arrjit_graph *graph, aj_op op, aj_value *x, aj_value *y);
aj_value *aj_compose_i64(arrjit_graph *graph, int64_t value);
/* +0, of complex dtypes in both parts; false of bool. */
aj_value *aj_compose_zero(arrjit_graph *graph, arrjit_dtype dtype);
aj_value *aj_compose_iota(arrjit_graph *graph, int32_t rank, const int64_t *dims, int64_t axis); /* i64 */
/* Elements start .. limit - 1 along axis. */
aj_value *aj_compose_slice(arrjit_graph *graph, aj_value *x, int64_t axis, int64_t start, int64_t limit);
aj_value *aj_compose_reshape(arrjit_graph *graph, aj_value *x, int32_t rank, const int64_t *dims);
/* Dim i of x goes to dim axes[i]. */
aj_value *aj_compose_broadcast(arrjit_graph *graph, aj_value *x, int32_t rank, const int64_t *dims,
                               const int64_t *axes);
/* transpose or reverse */
aj_value *aj_compose_axes(arrjit_graph *graph, aj_op op, aj_value *x, size_t count, const int64_t *axes);
/* A dim of extent 1 before dim `axis`. */
aj_value *aj_compose_expand(arrjit_graph *graph, aj_value *x, int64_t axis);
aj_value *aj_compose_concat(arrjit_graph *graph, uint32_t count, aj_value *const *xs, int64_t axis);
/* arrjit_triangular_solve of arrays of rank 2 or more. */
aj_value *aj_compose_triangular(arrjit_graph *graph, aj_value *a, aj_value *b, bool left, bool lower, bool unit,
                                bool transposed);
aj_value *aj_compose_along(arrjit_graph *graph, aj_value *x, aj_value *indices, int64_t axis);

#endif
