/* Compositions of arrjit/compose.h that are made of an lu. 16-bit floats are f32 from end to end. */
#include "api/compose.h"
#include "arrjit/compose.h"

static aj_value *convert(arrjit_graph *graph, aj_value *x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, dtype);
  return x && x->type->dtype != dtype ? aj_build1(&graph->b, AJ_OP_CONVERT, 1, &x, 1, &attr) : x;
}

/* The host's square matrices; NULL: an error. */
static aj_value *take_square(arrjit_graph *graph, arrjit_value a) {
  aj_value *x = aj_compose_array(graph, AJ_OP_SOLVE_LOWER, 0, a);
  if (!x) return NULL;
  const aj_type *type = x->type;
  if (type->rank >= 2 && aj_dim_equal(type->dims[type->rank - 1], type->dims[type->rank - 2])) return x;
  char text[160];
  aj_type_print(graph->module, type, text, sizeof text);
  return aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_SOLVE_LOWER,
                         "a is %s; expected square matrices, in any batch dims", text);
}

static aj_value *widen(arrjit_graph *graph, aj_value *x) {
  return x && aj_dtype_is_half(x->type->dtype) ? convert(graph, x, ARRJIT_F32) : x;
}

static aj_node *build_lu(arrjit_graph *graph, aj_value *a) {
  return a ? aj_build(&graph->b, AJ_OP_LU, 1, &a, 0, NULL) : NULL;
}

/* bool[n, n], true on the diagonal. */
static aj_value *diagonal(arrjit_graph *graph, const aj_type *a) {
  const int64_t *dims = a->dims + a->rank - 2;
  return aj_compose_two(graph, AJ_OP_EQ, aj_compose_iota(graph, 2, dims, 0), aj_compose_iota(graph, 2, dims, 1));
}

static aj_value *choose(arrjit_graph *graph, aj_value *pred, aj_value *x, aj_value *y) {
  if (!pred || !x || !y) return NULL;
  return aj_build_elementwise(&graph->b, AJ_OP_SELECT, 3, (aj_value *[]){pred, x, y}, 0, NULL);
}

static aj_value *reduce(arrjit_graph *graph, aj_op op, aj_value *x, size_t count) {
  if (!x) return NULL;
  const int64_t axes[] = {x->type->rank - 1, x->type->rank - 2};
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, count, axes);
  return aj_build1(&graph->b, op, 1, &x, 1, &attr);
}

/* ---- solve ---- */

/* The rows of x, [batch dims, n, m], in the order that `order`, [batch dims, n], says; none of these extents is 0. */
static aj_value *gather_rows(arrjit_graph *graph, aj_value *x, aj_value *order) {
  if (!x || !order) return NULL;
  const aj_type *type = x->type;
  int64_t batch[ARRJIT_MAX_RANK], sizes[ARRJIT_MAX_RANK];
  int32_t rank = type->rank;
  const int64_t row = rank - 2, column = rank - 1;
  for (int32_t i = 0; i < rank - 1; i++) batch[i] = i, sizes[i] = 1;
  sizes[column] = type->dims[column];
  const aj_attr attrs[] = {
      aj_attr_ints(AJ_ATTR_OFFSET_AXES, 1, &column),     aj_attr_ints(AJ_ATTR_COLLAPSED_AXES, 1, &row),
      aj_attr_ints(AJ_ATTR_X_BATCH, (size_t)row, batch), aj_attr_ints(AJ_ATTR_INDEX_BATCH, (size_t)row, batch),
      aj_attr_ints(AJ_ATTR_START_MAP, 1, &row),          aj_attr_int(AJ_ATTR_INDEX_AXIS, rank - 1),
      aj_attr_ints(AJ_ATTR_SIZES, (size_t)rank, sizes)};
  return aj_compose_fitted(graph, AJ_OP_GATHER, 2, (aj_value *[]){x, order}, AJ_COUNT(attrs), attrs);
}

/* The first `count` dims one longer, the others as they are. */
static aj_value *pad(arrjit_graph *graph, aj_value *x, int32_t count) {
  int64_t none[ARRJIT_MAX_RANK] = {0}, high[ARRJIT_MAX_RANK] = {0};
  size_t rank = (size_t)x->type->rank;
  for (int32_t i = 0; i < count; i++) high[i] = 1;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_LOW, rank, none), aj_attr_ints(AJ_ATTR_HIGH, rank, high),
                           aj_attr_ints(AJ_ATTR_INTERIOR, rank, none)};
  aj_value *both[] = {x, convert(graph, aj_compose_i64(graph, 0), x->type->dtype)};
  return aj_compose_fitted(graph, AJ_OP_PAD, 2, both, AJ_COUNT(attrs), attrs);
}

/* A gather takes nothing from an axis of extent 0, as a symbol may turn out to be: there all axes are one longer. */
static aj_value *take_rows(arrjit_graph *graph, aj_value *x, aj_value *order) {
  const aj_type *type = x->type;
  int32_t count = type->rank - 1;
  bool known = true;
  for (int32_t i = 0; i < count; i++) {
    if (type->dims[i] == 0) return x;
    known = known && type->dims[i] > 0;
  }
  if (known) return gather_rows(graph, x, order);
  aj_value *out = gather_rows(graph, pad(graph, x, count), pad(graph, order, count));
  for (int32_t i = 0; i < count; i++) out = aj_compose_slice(graph, out, i, 0, type->dims[i]);
  return out;
}

static arrjit_value solve(arrjit_graph *graph, aj_value *a, aj_value *b) {
  arrjit_dtype dtype = a->type->dtype;
  aj_node *lu = build_lu(graph, widen(graph, a));
  b = widen(graph, b);
  aj_value *rows = lu && b ? take_rows(graph, b, &lu->results[2]) : NULL;
  if (!rows) return NULL;
  aj_value *y = aj_compose_triangular(graph, &lu->results[0], rows, true, true, true, false);
  aj_value *x = y ? aj_compose_triangular(graph, &lu->results[0], y, true, false, false, false) : NULL;
  return aj_host_value(convert(graph, x, dtype));
}

arrjit_value arrjit_solve(arrjit_graph *graph, arrjit_value a, arrjit_value b) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = take_square(graph, a);
  aj_value *to = from ? aj_compose_array(graph, AJ_OP_SOLVE_LOWER, 1, b) : NULL;
  if (!to) return NULL;
  const aj_type *x = from->type, *y = to->type;
  bool fits = x->dtype == y->dtype && x->rank == y->rank;
  for (int32_t i = 0; fits && i + 1 < x->rank; i++) fits = aj_dim_equal(x->dims[i], y->dims[i]);
  if (fits) return solve(graph, from, to);
  char texts[2][160];
  aj_type_print(graph->module, x, texts[0], sizeof texts[0]);
  aj_type_print(graph->module, y, texts[1], sizeof texts[1]);
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_SOLVE_LOWER,
                  "a is %s and b %s; expected one dtype, and b with as many rows, in the same batch dims", texts[0],
                  texts[1]);
  return NULL;
}

arrjit_value arrjit_inverse(arrjit_graph *graph, arrjit_value a) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = take_square(graph, a);
  if (!from) return NULL;
  const aj_type *type = from->type;
  const int64_t axes[] = {type->rank - 2, type->rank - 1};
  aj_value *eye = convert(graph, diagonal(graph, type), type->dtype);
  if (eye) eye = aj_compose_broadcast(graph, eye, type->rank, type->dims, axes);
  return eye ? solve(graph, from, eye) : NULL;
}

/* ---- det ---- */

/* Whether an odd number of rows was swapped. */
static aj_value *is_odd(arrjit_graph *graph, aj_value *pivots) {
  const aj_type *type = pivots->type;
  aj_value *stay = aj_compose_iota(graph, 1, &type->dims[type->rank - 1], 0);
  aj_value *swaps = convert(graph, aj_compose_two(graph, AJ_OP_NE, pivots, stay), ARRJIT_I64);
  aj_value *one = aj_compose_i64(graph, 1);
  return aj_compose_two(graph, AJ_OP_EQ,
                        aj_compose_two(graph, AJ_OP_AND, reduce(graph, AJ_OP_REDUCE_SUM, swaps, 1), one), one);
}

arrjit_value arrjit_det(arrjit_graph *graph, arrjit_value a) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = take_square(graph, a), *x = widen(graph, from);
  aj_node *lu = build_lu(graph, x);
  if (!lu) return NULL;
  aj_value *one = convert(graph, aj_compose_i64(graph, 1), x->type->dtype);
  aj_value *factors = choose(graph, diagonal(graph, x->type), &lu->results[0], one);
  aj_value *product = reduce(graph, AJ_OP_REDUCE_PROD, factors, 2);
  aj_value *minus = product ? aj_build1(&graph->b, AJ_OP_NEG, 1, &product, 0, NULL) : NULL;
  aj_value *signed_product = choose(graph, is_odd(graph, &lu->results[1]), minus, product);
  return aj_host_value(convert(graph, signed_product, from->type->dtype));
}
