/* StableHLO's products: dot, dot_general, convolution, and their inverse, triangular_solve. Operands of other dtypes
 * than the result are converted first. */
#include "stablehlo.h"

#include <string.h>

#include "floats.h"

verdict stablehlo_dot(case_op *op) {
  int64_t lb[CASE_MOST], rb[CASE_MOST], lc[CASE_MOST] = {arrjit_value_type(op->in[0]).rank - 1}, rc[CASE_MOST] = {0};
  size_t batch = 0, contract = 1;
  if (strcmp(op->name, "dot_general") == 0) {
    batch = case_ints(op, "lhs_batching_dimensions", lb);
    case_ints(op, "rhs_batching_dimensions", rb);
    contract = case_ints(op, "lhs_contracting_dimensions", lc);
    case_ints(op, "rhs_contracting_dimensions", rc);
  }
  arrjit_dtype dtype = op->type[0].dtype;
  arrjit_value lhs = op->in[0], rhs = op->in[1];
  if (arrjit_value_type(lhs).dtype != dtype) lhs = arrjit_convert(op->g, lhs, dtype);
  if (arrjit_value_type(rhs).dtype != dtype) rhs = arrjit_convert(op->g, rhs, dtype);
  op->out[0] = arrjit_dot(op->g, lhs, rhs, batch, lb, rb, contract, lc, rc);
  return PASSED;
}

/* A list of `rank` entries, `otherwise` where it is not given. */
static void read_list(const case_op *op, const char *name, size_t rank, int64_t otherwise, int64_t *out) {
  if (case_ints(op, name, out) == rank) return;
  for (size_t i = 0; i < rank; i++) out[i] = otherwise;
}

static int64_t read_number(const json_t *numbers, const char *name) {
  return json_integer_value(json_object_get(numbers, name));
}

static void read_spatial(const json_t *numbers, const char *name, size_t rank, int64_t *out) {
  const json_t *list = json_object_get(numbers, name);
  for (size_t i = 0; i < rank; i++) out[i] = json_integer_value(json_array_get(list, i));
}

verdict stablehlo_convolution(case_op *op) {
  const json_t *numbers = json_object_get(op->attrs, "dimension_numbers");
  const json_t *padding = json_object_get(op->attrs, "padding");
  const json_t *reversal = json_object_get(op->attrs, "window_reversal");
  int64_t of_lhs[CASE_MOST], of_rhs[CASE_MOST], of_out[CASE_MOST], strides[CASE_MOST], low[CASE_MOST], high[CASE_MOST];
  int64_t base[CASE_MOST], spread[CASE_MOST], reversed[CASE_MOST];
  size_t rank = (size_t)op->type[0].rank - 2, reversed_count = 0;
  of_lhs[0] = read_number(numbers, "input_batch_dimension");
  of_lhs[rank + 1] = read_number(numbers, "input_feature_dimension");
  of_rhs[rank] = read_number(numbers, "kernel_input_feature_dimension");
  of_rhs[rank + 1] = read_number(numbers, "kernel_output_feature_dimension");
  of_out[0] = read_number(numbers, "output_batch_dimension");
  of_out[rank + 1] = read_number(numbers, "output_feature_dimension");
  read_spatial(numbers, "input_spatial_dimensions", rank, of_lhs + 1);
  read_spatial(numbers, "kernel_spatial_dimensions", rank, of_rhs);
  read_spatial(numbers, "output_spatial_dimensions", rank, of_out + 1);
  read_list(op, "window_strides", rank, 1, strides);
  read_list(op, "lhs_dilation", rank, 1, base);
  read_list(op, "rhs_dilation", rank, 1, spread);
  for (size_t i = 0; i < rank; i++) {
    const json_t *flag = json_array_get(reversal, i);
    low[i] = json_integer_value(json_array_get(json_array_get(padding, i), 0));
    high[i] = json_integer_value(json_array_get(json_array_get(padding, i), 1));
    if (json_is_true(flag) || json_integer_value(flag) != 0) reversed[reversed_count++] = (int64_t)i;
  }
  arrjit_dtype dtype = op->type[0].dtype;
  arrjit_value lhs = op->in[0], rhs = op->in[1];
  if (arrjit_value_type(lhs).dtype != dtype) lhs = arrjit_convert(op->g, lhs, dtype);
  if (arrjit_value_type(rhs).dtype != dtype) rhs = arrjit_convert(op->g, rhs, dtype);
  op->out[0] = arrjit_convolution(op->g, lhs, rhs, (int32_t)rank, of_lhs, of_rhs, of_out, strides, low, high, base,
                                  spread, reversed_count, reversed, case_int(op, "feature_group_count", 1),
                                  case_int(op, "batch_group_count", 1));
  return PASSED;
}

static bool has_flag(const case_op *op, const char *name) {
  const json_t *flag = json_object_get(op->attrs, name);
  return json_is_true(flag) || json_integer_value(flag) != 0;
}

/* x[.., i, j] as dims [.., i, 1, j, 1], or without the last 1 when it is no matrix of blocks. */
static arrjit_value open_dims(arrjit_graph *g, arrjit_value x, bool blocks) {
  int64_t rank = arrjit_value_type(x).rank;
  x = arrjit_expand_dims(g, x, rank - 1);
  return blocks ? arrjit_expand_dims(g, x, rank + 1) : x;
}

/* What comes to lie in the same place of pairs along axis. */
static arrjit_value join_pairs(arrjit_graph *g, arrjit_value first, arrjit_value second, int64_t axis) {
  return arrjit_concat(g, 2, (const arrjit_value[]){first, second}, axis);
}

/* Dims `axis` and the one behind it as one. */
static arrjit_value merge_dims(arrjit_graph *g, arrjit_value x, int32_t axis) {
  arrjit_type type = arrjit_value_type(x);
  type.dims[axis] *= type.dims[axis + 1];
  type.rank--;
  for (int32_t i = axis + 1; i < type.rank; i++) type.dims[i] = type.dims[i + 1];
  return arrjit_reshape(g, x, type.rank, type.dims);
}

/* Each number a + bi of a as the block [[a, -b], [b, a]], each of b as the column [a, b]: a real system of twice the
 * size. With rows divided by what is on the diagonal the blocks on it are ones, and so it is triangular too. Left side,
 * lower. */
static verdict solve_complex(case_op *op, bool adjoint) {
  arrjit_graph *g = op->g;
  arrjit_value a = op->in[0], b = op->in[1];
  const arrjit_type square = arrjit_value_type(a), right = arrjit_value_type(b);
  int32_t rank = square.rank;
  if (!has_flag(op, "left_side") || has_flag(op, "unit_diagonal"))
    return corpus_say(op->build->run, SKIPPED, "op triangular_solve of complex numbers of that form");
  int64_t axes[ARRJIT_MAX_RANK], rows = rank - 2, columns = rank - 1;
  for (int32_t i = 0; i < rank; i++) axes[i] = i < rows ? i : i == rows ? columns : rows;
  if (adjoint) a = arrjit_conj(g, arrjit_transpose(g, a, (size_t)rank, axes));
  bool lower = has_flag(op, "lower") != adjoint;
  arrjit_value i = arrjit_iota(g, ARRJIT_I64, rank, square.dims, rows);
  arrjit_value on_diagonal = arrjit_eq(g, i, arrjit_iota(g, ARRJIT_I64, rank, square.dims, columns));
  arrjit_value none = arrjit_full(g, arrjit_const_like(g, a, 0), rank, square.dims);
  arrjit_value diagonal = arrjit_reduce_sum(g, arrjit_select(g, on_diagonal, a, none), 1, &columns);
  for (int32_t k = 0; k < rank; k++) axes[k] = k;
  arrjit_value of_a = arrjit_broadcast(g, diagonal, rank, square.dims, (size_t)rank - 1, axes);
  arrjit_value of_b = arrjit_broadcast(g, diagonal, rank, right.dims, (size_t)rank - 1, axes);
  a = arrjit_div(g, a, of_a);
  b = arrjit_div(g, b, of_b);
  arrjit_value re = open_dims(g, arrjit_real(g, a), true), im = open_dims(g, arrjit_imag(g, a), true);
  arrjit_value upper_half = join_pairs(g, re, arrjit_neg(g, im), rank + 1),
               lower_half = join_pairs(g, im, re, rank + 1);
  arrjit_value blocks = join_pairs(g, upper_half, lower_half, rank - 1);
  blocks = merge_dims(g, merge_dims(g, blocks, rank), rank - 2);
  arrjit_value column =
      join_pairs(g, open_dims(g, arrjit_real(g, b), false), open_dims(g, arrjit_imag(g, b), false), columns);
  arrjit_value x = arrjit_triangular_solve(g, blocks, merge_dims(g, column, rank - 2), 1, lower, 1, 0);
  arrjit_type apart = arrjit_value_type(column);
  x = arrjit_reshape(g, x, apart.rank, apart.dims);
  re = arrjit_take(g, x, arrjit_const_i64(g, 0), columns);
  im = arrjit_take(g, x, arrjit_const_i64(g, 1), columns);
  op->out[0] = arrjit_complex(g, re, im);
  return PASSED;
}

verdict stablehlo_triangular_solve(case_op *op) { /* of real numbers ADJOINT is TRANSPOSE */
  const char *how = case_text(op, "transpose_a");
  bool transposed = strcmp(how, "NO_TRANSPOSE") != 0;
  if (tk_is_complex(arrjit_value_type(op->in[0]).dtype)) {
    if (strcmp(how, "TRANSPOSE") != 0) return solve_complex(op, transposed);
    return corpus_say(op->build->run, SKIPPED, "op triangular_solve of complex numbers, transposed");
  }
  op->out[0] = arrjit_triangular_solve(op->g, op->in[0], op->in[1], has_flag(op, "left_side"), has_flag(op, "lower"),
                                       has_flag(op, "unit_diagonal"), transposed);
  return PASSED;
}
