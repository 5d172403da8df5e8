/* StableHLO's and CHLO's ops that are several of this library's: transforms, scans, and small compositions. */
#include "stablehlo.h"

#include <string.h>

#include "floats.h"

static arrjit_value constant(arrjit_graph *g, arrjit_value like, double value) {
  return arrjit_const_like(g, like, value);
}

/* Over the last dims, as many as fft_length has. */
verdict stablehlo_fft(case_op *op) {
  int64_t lengths[CASE_MOST], axes[CASE_MOST];
  size_t count = case_ints(op, "fft_length", lengths);
  int32_t rank = arrjit_value_type(op->in[0]).rank;
  const char *type = case_text(op, "fft_type");
  for (size_t i = 0; i < count; i++) axes[i] = rank - (int64_t)count + (int64_t)i;
  if (strcmp(type, "FFT") == 0) op->out[0] = arrjit_fft(op->g, op->in[0], count, axes, lengths);
  if (strcmp(type, "IFFT") == 0) op->out[0] = arrjit_ifft(op->g, op->in[0], count, axes, lengths);
  if (strcmp(type, "RFFT") == 0) op->out[0] = arrjit_rfft(op->g, op->in[0], count, axes, lengths);
  if (strcmp(type, "IRFFT") == 0) op->out[0] = arrjit_irfft(op->g, op->in[0], count, axes, lengths);
  return PASSED;
}

verdict stablehlo_batch_norm(case_op *op) { /* operands are x, scale, offset, mean, variance */
  arrjit_graph *g = op->g;
  const arrjit_type type = arrjit_value_type(op->in[0]);
  int64_t axis = case_int(op, "feature_index", 0);
  arrjit_value wide[CASE_MOST];
  for (size_t i = 1; i < 5; i++) wide[i] = arrjit_broadcast(g, op->in[i], type.rank, type.dims, 1, &axis);
  double epsilon = json_number_value(json_object_get(op->attrs, "epsilon"));
  arrjit_value spread = arrjit_sqrt(g, arrjit_add(g, wide[4], constant(g, wide[4], epsilon)));
  arrjit_value normal = arrjit_div(g, arrjit_sub(g, op->in[0], wide[3]), spread);
  op->out[0] = arrjit_add(g, arrjit_mul(g, normal, wide[1]), wide[2]);
  return PASSED;
}

verdict stablehlo_broadcast(case_op *op) { /* new dims come first */
  int64_t sizes[CASE_MOST], axes[CASE_MOST];
  size_t count = case_ints(op, "broadcast_sizes", sizes), rank = (size_t)arrjit_value_type(op->in[0]).rank;
  for (size_t i = 0; i < rank; i++) axes[i] = (int64_t)(count + i);
  op->out[0] = arrjit_broadcast(op->g, op->in[0], op->type[0].rank, op->type[0].dims, rank, axes);
  return PASSED;
}

verdict stablehlo_broadcast_add(case_op *op) {
  op->out[0] = arrjit_add(op->g, op->in[0], op->in[1]);
  return PASSED;
}

verdict stablehlo_index_select(case_op *op) {
  if (case_int(op, "batch_dims", 0) != 0) return case_unknown(op);
  op->out[0] = arrjit_take(op->g, op->in[0], op->in[1], case_int(op, "dim", 0));
  return PASSED;
}

/* The high half of a product of u64, from products of halves. */
static arrjit_value multiply_high(arrjit_graph *g, arrjit_value x, arrjit_value y) {
  arrjit_value half = constant(g, x, 32), low = constant(g, x, 4294967295.0);
  arrjit_value a = arrjit_shr_logical(g, x, half), b = arrjit_and(g, x, low);
  arrjit_value c = arrjit_shr_logical(g, y, half), d = arrjit_and(g, y, low);
  arrjit_value ad = arrjit_mul(g, a, d), bc = arrjit_mul(g, b, c);
  arrjit_value mid = arrjit_add(g, arrjit_shr_logical(g, arrjit_mul(g, b, d), half), arrjit_and(g, ad, low));
  mid = arrjit_add(g, mid, arrjit_and(g, bc, low));
  arrjit_value high = arrjit_add(g, arrjit_mul(g, a, c), arrjit_shr_logical(g, ad, half));
  return arrjit_add(g, arrjit_add(g, high, arrjit_shr_logical(g, bc, half)), arrjit_shr_logical(g, mid, half));
}

verdict stablehlo_mulhi(case_op *op) {
  arrjit_graph *g = op->g;
  arrjit_value x = op->in[0], y = op->in[1], zero = constant(g, x, 0);
  arrjit_dtype dtype = arrjit_value_type(x).dtype;
  bool is_signed = dtype >= ARRJIT_I8 && dtype <= ARRJIT_I64;
  size_t bytes = arrjit_dtype_bytes(dtype);
  if (bytes < 8) {
    arrjit_dtype wide = is_signed ? ARRJIT_I64 : ARRJIT_U64;
    arrjit_value product = arrjit_mul(g, arrjit_convert(g, x, wide), arrjit_convert(g, y, wide));
    arrjit_value count = constant(g, product, (double)(8 * bytes));
    op->out[0] = arrjit_convert(g, arrjit_shr_logical(g, product, count), dtype);
    return PASSED;
  }
  arrjit_value high = multiply_high(g, arrjit_convert(g, x, ARRJIT_U64), arrjit_convert(g, y, ARRJIT_U64));
  op->out[0] = arrjit_convert(g, high, dtype);
  if (!is_signed) return PASSED;
  op->out[0] = arrjit_sub(g, op->out[0], arrjit_select(g, arrjit_lt(g, x, zero), y, zero));
  op->out[0] = arrjit_sub(g, op->out[0], arrjit_select(g, arrjit_lt(g, y, zero), x, zero));
  return PASSED;
}

/* To a narrower dtype, whose elements are a new last dim, the lowest bits first. */
verdict stablehlo_bitcast_narrower(case_op *op) {
  static const arrjit_dtype of_bytes[] = {0, ARRJIT_U8, ARRJIT_U16, 0, ARRJIT_U32, 0, 0, 0, ARRJIT_U64};
  arrjit_graph *g = op->g;
  const arrjit_type from = arrjit_value_type(op->in[0]), *to = &op->type[0];
  size_t bytes = arrjit_dtype_bytes(from.dtype), narrow = arrjit_dtype_bytes(to->dtype);
  int64_t axes[ARRJIT_MAX_RANK];
  if (to->rank != from.rank + 1 || narrow >= bytes)
    return corpus_say(op->build->run, SKIPPED, "op bitcast_convert to a wider dtype");
  for (int32_t i = 0; i < from.rank; i++) axes[i] = i;
  arrjit_value bits = arrjit_bitcast(g, op->in[0], of_bytes[bytes]);
  bits = arrjit_broadcast(g, bits, to->rank, to->dims, (size_t)from.rank, axes);
  arrjit_value place = arrjit_iota(g, of_bytes[bytes], to->rank, to->dims, from.rank);
  bool to_bool = to->dtype == ARRJIT_BOOL;
  place = arrjit_mul(g, place, constant(g, place, to_bool ? 1 : (double)(8 * narrow)));
  bits = arrjit_shr_logical(g, bits, place);
  op->out[0] = to_bool ? arrjit_ne(g, arrjit_and(g, bits, constant(g, bits, 1)), constant(g, bits, 0))
                       : arrjit_bitcast(g, arrjit_convert(g, bits, of_bytes[narrow]), to->dtype);
  return PASSED;
}

/* e^-|x| times x/2 times the sum of (x/2)^2k / (k! (k + 1)!), in f64: all terms are positive. */
verdict stablehlo_bessel_i1e(case_op *op) {
  enum { TERMS = 70 };
  arrjit_graph *g = op->g;
  arrjit_value x = arrjit_convert(g, op->in[0], ARRJIT_F64), half = arrjit_mul(g, x, constant(g, x, 0.5));
  arrjit_value square = arrjit_mul(g, half, half), one = constant(g, x, 1), sum = one;
  for (int k = TERMS; k > 0; k--)
    sum = arrjit_add(g, arrjit_mul(g, sum, arrjit_mul(g, square, constant(g, x, 1.0 / (k * (k + 1.0))))), one);
  arrjit_value scaled = arrjit_mul(g, arrjit_exp(g, arrjit_neg(g, arrjit_abs(g, x))), half);
  op->out[0] = arrjit_convert(g, arrjit_mul(g, scaled, sum), arrjit_value_type(op->in[0]).dtype);
  return PASSED;
}

/* ---- scan ---- */

/* Element `at` of x along axis, without that dim. */
static arrjit_value take_at(arrjit_graph *g, arrjit_value x, arrjit_value at, int64_t axis) {
  return arrjit_take(g, x, at, axis);
}

/* x with `element` at `at` along axis. */
static arrjit_value put_at(arrjit_graph *g, arrjit_value x, arrjit_value element, arrjit_value at, int64_t axis) {
  arrjit_value starts[ARRJIT_MAX_RANK];
  int32_t rank = arrjit_value_type(x).rank;
  for (int32_t i = 0; i < rank; i++) starts[i] = i == axis ? at : arrjit_const_i64(g, 0);
  return arrjit_dynamic_update_slice(g, x, arrjit_expand_dims(g, element, axis), (size_t)rank, starts);
}

/* Inputs, then inits; the region takes an element of each input and the carries, and gives elements of the outputs and
 * new carries. */
verdict stablehlo_scan(case_op *op, case_vocabulary *vocabulary) {
  arrjit_graph *g = op->g;
  size_t inputs = (size_t)case_int(op, "num_inputs", 1), carries = op->in_count - inputs, count;
  size_t outputs = op->out_count - carries;
  int64_t axis = case_int(op, "dimension", 0), extent = arrjit_value_type(op->in[0]).dims[axis];
  arrjit_value init[CASE_MOST], vars[CASE_MOST], args[CASE_MOST], out[CASE_MOST], i;
  for (size_t k = 0; k < outputs; k++) {
    uint64_t zero[2] = {0, 0};
    arrjit_type element = {.dtype = op->type[k].dtype};
    init[k] = arrjit_full(g, arrjit_const(g, &element, zero), op->type[k].rank, op->type[k].dims);
  }
  for (size_t k = 0; k < carries; k++) init[outputs + k] = op->in[inputs + k];
  bool reverse = json_is_true(json_object_get(op->attrs, "is_reverse"));
  int64_t first = reverse ? extent - 1 : 0, end = reverse ? -1 : extent, step = reverse ? -1 : 1;
  arrjit_for_begin(g, arrjit_const_i64(g, first), arrjit_const_i64(g, end), arrjit_const_i64(g, step),
                   outputs + carries, init, &i, vars);
  for (size_t k = 0; k < inputs; k++) args[k] = take_at(g, op->in[k], i, axis);
  memcpy(args + inputs, vars + outputs, carries * sizeof *args);
  verdict v = case_region(op->build, vocabulary, json_array_get(op->regions, 0), inputs + carries, args, &count, out);
  if (v != PASSED) return v;
  for (size_t k = 0; k < outputs; k++) out[k] = put_at(g, vars[k], out[k], i, axis);
  arrjit_for_end(g, outputs + carries, out, op->out);
  return PASSED;
}

/* ---- ragged_dot ---- */

static int64_t find_axis(size_t count, const int64_t *axes, int64_t axis) {
  for (size_t i = 0; i < count; i++)
    if (axes[i] == axis) return (int64_t)i;
  return -1;
}

static size_t read_axes(const json_t *numbers, const char *name, int64_t *out) {
  const json_t *list = json_object_get(numbers, name);
  for (size_t i = 0; i < json_array_size(list); i++) out[i] = json_integer_value(json_array_get(list, i));
  return json_array_size(list);
}

/* Where the groups are of rows of lhs: each row by the rhs of its group, chosen from products with all of them. */
verdict stablehlo_ragged_dot(case_op *op) {
  arrjit_graph *g = op->g;
  const json_t *numbers = json_object_get(op->attrs, "ragged_dot_dimension_numbers");
  int64_t lb[CASE_MOST], rb[CASE_MOST], lc[CASE_MOST], rc[CASE_MOST], ragged[CASE_MOST], group[CASE_MOST];
  size_t batch = read_axes(numbers, "lhs_batching_dimensions", lb);
  size_t contract = read_axes(numbers, "lhs_contracting_dimensions", lc);
  read_axes(numbers, "rhs_batching_dimensions", rb);
  read_axes(numbers, "rhs_contracting_dimensions", rc);
  read_axes(numbers, "lhs_ragged_dimensions", ragged);
  bool rows = find_axis(batch, lb, ragged[0]) < 0 && find_axis(contract, lc, ragged[0]) < 0;
  if (!rows || read_axes(numbers, "rhs_group_dimensions", group) != 1)
    return corpus_say(op->build->run, SKIPPED, "op chlo.ragged_dot of other groups than rows");
  for (size_t i = 0; i < batch; i++) rb[i] -= rb[i] > group[0];
  for (size_t i = 0; i < contract; i++) rc[i] -= rc[i] > group[0];
  int64_t axis = (int64_t)batch; /* of the ragged dim in the result */
  for (int64_t i = 0; i < ragged[0]; i++) axis += find_axis(batch, lb, i) < 0 && find_axis(contract, lc, i) < 0;
  const arrjit_type *type = &op->type[0];
  arrjit_value row = arrjit_iota(g, ARRJIT_I64, type->rank, type->dims, axis);
  arrjit_value start = arrjit_const_i64(g, 0), zero = NULL;
  for (int64_t k = 0; k < arrjit_value_type(op->in[1]).dims[group[0]]; k++) {
    arrjit_value at = arrjit_const_i64(g, k), rhs = arrjit_take(g, op->in[1], at, group[0]);
    arrjit_value product = arrjit_dot(g, op->in[0], rhs, batch, lb, rb, contract, lc, rc);
    if (zero == NULL) op->out[0] = zero = arrjit_full(g, constant(g, product, 0), type->rank, type->dims);
    op->out[0] = arrjit_select(g, arrjit_ge(g, row, start), product, op->out[0]);
    start = arrjit_add(g, start, arrjit_convert(g, arrjit_take(g, op->in[2], at, 0), ARRJIT_I64));
  }
  op->out[0] = arrjit_select(g, arrjit_ge(g, row, start), zero, op->out[0]); /* rows of no group */
  return PASSED;
}
