/* StableHLO's ops by this library's builders. */
#include "stablehlo.h"

#include <stdlib.h>
#include <string.h>

static case_vocabulary vocabulary;

/* ---- one builder, all operands ---- */

static const case_unary unaries[] = {{"abs", arrjit_abs},
                                     {"negate", arrjit_neg},
                                     {"sign", arrjit_sign},
                                     {"sqrt", arrjit_sqrt},
                                     {"floor", arrjit_floor},
                                     {"ceil", arrjit_ceil},
                                     {"round_nearest_even", arrjit_round_even},
                                     {"round_nearest_afz", arrjit_round_away},
                                     {"is_finite", arrjit_is_finite},
                                     {"chlo.is_inf", arrjit_is_inf},
                                     {"not", arrjit_not},
                                     {"popcnt", arrjit_popcount},
                                     {"count_leading_zeros", arrjit_clz},
                                     {"exponential", arrjit_exp},
                                     {"log", arrjit_log},
                                     {"tanh", arrjit_tanh},
                                     {"sine", arrjit_sin},
                                     {"cosine", arrjit_cos},
                                     {"tan", arrjit_tan},
                                     {"chlo.tan", arrjit_tan},
                                     {"exponential_minus_one", arrjit_expm1},
                                     {"log_plus_one", arrjit_log1p},
                                     {"logistic", arrjit_logistic},
                                     {"cbrt", arrjit_cbrt},
                                     {"rsqrt", arrjit_rsqrt},
                                     {"chlo.acos", arrjit_acos},
                                     {"chlo.asin", arrjit_asin},
                                     {"chlo.atan", arrjit_atan},
                                     {"chlo.acosh", arrjit_acosh},
                                     {"chlo.asinh", arrjit_asinh},
                                     {"chlo.atanh", arrjit_atanh},
                                     {"chlo.sinh", arrjit_sinh},
                                     {"chlo.cosh", arrjit_cosh},
                                     {"chlo.erf", arrjit_erf},
                                     {"chlo.erfc", arrjit_erfc},
                                     {"chlo.erf_inv", arrjit_erf_inv},
                                     {"chlo.lgamma", arrjit_lgamma},
                                     {"chlo.digamma", arrjit_digamma}};

static const case_binary binaries[] = {{"add", arrjit_add},
                                       {"subtract", arrjit_sub},
                                       {"multiply", arrjit_mul},
                                       {"divide", arrjit_div},
                                       {"remainder", arrjit_rem},
                                       {"minimum", arrjit_min},
                                       {"maximum", arrjit_max},
                                       {"chlo.next_after", arrjit_nextafter},
                                       {"and", arrjit_and},
                                       {"or", arrjit_or},
                                       {"xor", arrjit_xor},
                                       {"shift_left", arrjit_shl},
                                       {"shift_right_logical", arrjit_shr_logical},
                                       {"shift_right_arithmetic", arrjit_shr_arith},
                                       {"atan2", arrjit_atan2},
                                       {"complex", arrjit_complex}};

static bool is_bool(arrjit_value x) { return arrjit_value_type(x).dtype == ARRJIT_BOOL; }

/* On bool StableHLO's add is or, multiply and; minimum and maximum likewise. */
static case_two *find_binary(const char *name, bool bools) {
  if (bools && strcmp(name, "add") == 0) return arrjit_or;
  if (bools && strcmp(name, "multiply") == 0) return arrjit_and;
  for (size_t i = 0; i < TK_COUNT(binaries); i++)
    if (strcmp(binaries[i].name, name) == 0) return binaries[i].build;
  return NULL;
}

static bool build_elementwise(case_op *op) {
  if (case_plain(op, TK_COUNT(unaries), unaries, 0, NULL)) return true;
  case_two *build = op->in_count == 2 ? find_binary(op->name, is_bool(op->in[0])) : NULL;
  if (build) op->out[0] = build(op->g, op->in[0], op->in[1]);
  return build != NULL;
}

/* ---- elementwise with attributes ---- */

static verdict build_compare(case_op *op) {
  static const struct {
    const char *name;
    case_two *build;
  } directions[] = {{"EQ", arrjit_eq}, {"NE", arrjit_ne}, {"LT", arrjit_lt},
                    {"LE", arrjit_le}, {"GT", arrjit_gt}, {"GE", arrjit_ge}};
  const char *direction = case_text(op, "comparison_direction");
  arrjit_value x = op->in[0], y = op->in[1];
  if (strcmp(case_text(op, "compare_type"), "TOTALORDER") == 0) {
    x = arrjit_compare_total(op->g, x, y);
    y = arrjit_const_like(op->g, x, 0);
  }
  if (is_bool(x) && strcmp(direction, "EQ") != 0 && strcmp(direction, "NE") != 0) {
    x = arrjit_convert(op->g, x, ARRJIT_U8);
    y = arrjit_convert(op->g, y, ARRJIT_U8);
  }
  for (size_t i = 0; i < TK_COUNT(directions); i++)
    if (strcmp(directions[i].name, direction) == 0) op->out[0] = directions[i].build(op->g, x, y);
  return PASSED;
}

static verdict build_select(case_op *op) {
  const arrjit_type type = arrjit_value_type(op->in[1]);
  arrjit_value pred = op->in[0];
  if (arrjit_value_type(pred).rank == 0 && type.rank > 0) pred = arrjit_full(op->g, pred, type.rank, type.dims);
  op->out[0] = arrjit_select(op->g, pred, op->in[1], op->in[2]);
  return PASSED;
}

static arrjit_value fill_like(case_op *op, arrjit_value x, arrjit_value like) {
  const arrjit_type type = arrjit_value_type(like);
  return arrjit_value_type(x).rank == 0 && type.rank > 0 ? arrjit_full(op->g, x, type.rank, type.dims) : x;
}

static verdict build_clamp(case_op *op) { /* operands are min, x, max */
  op->out[0] = arrjit_clamp(op->g, op->in[1], fill_like(op, op->in[0], op->in[1]), fill_like(op, op->in[2], op->in[1]));
  return PASSED;
}

static verdict build_convert(case_op *op) {
  op->out[0] = arrjit_convert(op->g, op->in[0], op->type[0].dtype);
  return PASSED;
}

static verdict build_bitcast(case_op *op) {
  if (arrjit_dtype_bytes(op->type[0].dtype) != arrjit_dtype_bytes(arrjit_value_type(op->in[0]).dtype))
    return stablehlo_bitcast_narrower(op);
  op->out[0] = is_bool(op->in[0]) ? op->in[0] : arrjit_bitcast(op->g, op->in[0], op->type[0].dtype);
  return PASSED;
}

/* ---- creation and movement ---- */

static verdict build_constant(case_op *op) {
  tk_block block;
  if (!tk_tensor_read(json_object_get(op->attrs, "value"), &block, op->build->run->why, sizeof op->build->run->why))
    return FAILED;
  op->out[0] = arrjit_const(op->g, &block.type, block.data);
  free(block.data);
  return PASSED;
}

static verdict build_iota(case_op *op) {
  op->out[0] =
      arrjit_iota(op->g, op->type[0].dtype, op->type[0].rank, op->type[0].dims, case_int(op, "iota_dimension", 0));
  return PASSED;
}

static verdict build_broadcast(case_op *op) {
  int64_t axes[CASE_MOST];
  size_t count = case_ints(op, "broadcast_dimensions", axes);
  op->out[0] = arrjit_broadcast(op->g, op->in[0], op->type[0].rank, op->type[0].dims, count, axes);
  return PASSED;
}

static verdict build_reshape(case_op *op) {
  op->out[0] = arrjit_reshape(op->g, op->in[0], op->type[0].rank, op->type[0].dims);
  return PASSED;
}

static verdict build_transpose(case_op *op) {
  int64_t axes[CASE_MOST];
  size_t count = case_ints(op, "permutation", axes);
  op->out[0] = arrjit_transpose(op->g, op->in[0], count, axes);
  return PASSED;
}

static verdict build_reverse(case_op *op) {
  int64_t axes[CASE_MOST];
  size_t count = case_ints(op, "dimensions", axes);
  op->out[0] = arrjit_reverse(op->g, op->in[0], count, axes);
  return PASSED;
}

static verdict build_slice(case_op *op) {
  int64_t start[CASE_MOST], limit[CASE_MOST], step[CASE_MOST];
  size_t rank = case_ints(op, "start_indices", start);
  case_ints(op, "limit_indices", limit);
  case_ints(op, "strides", step);
  op->out[0] = arrjit_slice(op->g, op->in[0], (int32_t)rank, start, limit, step);
  return PASSED;
}

static verdict build_concat(case_op *op) {
  op->out[0] = arrjit_concat(op->g, op->in_count, op->in, case_int(op, "dimension", 0));
  return PASSED;
}

static verdict build_pad(case_op *op) {
  int64_t low[CASE_MOST], high[CASE_MOST], interior[CASE_MOST];
  size_t rank = case_ints(op, "edge_padding_low", low);
  case_ints(op, "edge_padding_high", high);
  case_ints(op, "interior_padding", interior);
  op->out[0] = arrjit_pad(op->g, op->in[0], op->in[1], (int32_t)rank, low, high, interior);
  return PASSED;
}

static verdict build_dynamic_slice(case_op *op) {
  int64_t sizes[CASE_MOST];
  case_ints(op, "slice_sizes", sizes);
  op->out[0] = arrjit_dynamic_slice(op->g, op->in[0], op->in_count - 1, op->in + 1, sizes);
  return PASSED;
}

static verdict build_dynamic_update(case_op *op) {
  op->out[0] = arrjit_dynamic_update_slice(op->g, op->in[0], op->in[1], op->in_count - 2, op->in + 2);
  return PASSED;
}

static verdict build_barrier(case_op *op) { /* values pass */
  memcpy(op->out, op->in, op->in_count * sizeof *op->in);
  return PASSED;
}

static verdict build_dim_size(case_op *op) {
  op->out[0] = arrjit_convert(op->g, arrjit_dim_size(op->g, op->in[0], case_int(op, "dimension", 0)), ARRJIT_I32);
  return PASSED;
}

/* ---- regions ---- */

const char *stablehlo_plain(const json_t *region) {
  const json_t *ops = json_object_get(region, "ops"), *args = json_object_get(region, "args");
  if (json_array_size(ops) != 1 || json_array_size(args) != 2) return NULL;
  const json_t *one = json_array_get(ops, 0), *in = json_object_get(one, "in");
  if (json_array_size(in) != 2 || !json_equal(json_object_get(one, "out"), json_object_get(region, "ret"))) return NULL;
  json_int_t a = json_integer_value(json_array_get(in, 0)), b = json_integer_value(json_array_get(in, 1));
  json_int_t x = json_integer_value(json_array_get(args, 0)), y = json_integer_value(json_array_get(args, 1));
  bool both = (a == x && b == y) || (a == y && b == x);
  return both ? json_string_value(json_object_get(one, "op")) : NULL;
}

static verdict build_region(case_op *op, size_t which, size_t count, const arrjit_value *args, arrjit_value *out) {
  size_t out_count;
  return case_region(op->build, vocabulary, json_array_get(op->regions, which), count, args, &out_count, out);
}

/* Inputs, then inits; the region takes an older element of each, then a newer one. */
static verdict build_reduce(case_op *op) {
  int64_t axes[CASE_MOST];
  arrjit_value elements[CASE_MOST], out[CASE_MOST];
  size_t count = case_ints(op, "dimensions", axes), args = op->in_count / 2;
  arrjit_reduce_begin(op->g, args, op->in, op->in + args, count, axes, elements, elements + args);
  verdict v = build_region(op, 0, 2 * args, elements, out);
  if (v == PASSED) arrjit_reduce_end(op->g, args, out, op->out);
  return v;
}

typedef struct windows {
  size_t rank;
  int64_t sizes[CASE_MOST], strides[CASE_MOST], base[CASE_MOST], spread[CASE_MOST], low[CASE_MOST], high[CASE_MOST];
} windows;

static void read_windows(const case_op *op, windows *w) {
  w->rank = case_ints(op, "window_dimensions", w->sizes);
  (void)case_ints(op, "window_strides", w->strides);
  (void)case_ints(op, "base_dilations", w->base);
  (void)case_ints(op, "window_dilations", w->spread);
  const json_t *padding = json_object_get(op->attrs, "padding");
  for (size_t i = 0; i < w->rank; i++) {
    w->low[i] = json_integer_value(json_array_get(json_array_get(padding, i), 0));
    w->high[i] = json_integer_value(json_array_get(json_array_get(padding, i), 1));
  }
}

static verdict build_reduce_window(case_op *op) {
  arrjit_value elements[CASE_MOST], out[CASE_MOST];
  size_t args = op->in_count / 2;
  windows w;
  read_windows(op, &w);
  arrjit_reduce_window_begin(op->g, args, op->in, op->in + args, (int32_t)w.rank, w.sizes, w.strides, w.low, w.high,
                             w.base, w.spread, elements, elements + args);
  verdict v = build_region(op, 0, 2 * args, elements, out);
  if (v == PASSED) arrjit_reduce_window_end(op->g, args, out, op->out);
  return v;
}

static verdict build_select_and_scatter(case_op *op) {
  arrjit_value pair[2], out[CASE_MOST];
  windows w;
  read_windows(op, &w);
  arrjit_select_and_scatter_begin(op->g, op->in[0], op->in[1], op->in[2], (int32_t)w.rank, w.sizes, w.strides, w.low,
                                  w.high, &pair[0], &pair[1]);
  verdict v = build_region(op, 0, 2, pair, out);
  if (v != PASSED) return v;
  arrjit_select_and_scatter_combine(op->g, out[0], &pair[0], &pair[1]);
  v = build_region(op, 1, 2, pair, out);
  if (v == PASSED) arrjit_select_and_scatter_end(op->g, out[0], op->out);
  return v;
}

/* The comparator takes the left and the right element of each operand in turn. */
static verdict build_sort(case_op *op) {
  arrjit_value left[CASE_MOST], right[CASE_MOST], pairs[2 * CASE_MOST], before[CASE_MOST];
  int64_t axis = case_int(op, "dimension", -1);
  if (axis < 0) axis += arrjit_value_type(op->in[0]).rank;
  arrjit_sort_by_begin(op->g, op->in_count, op->in, axis, left, right);
  for (size_t i = 0; i < op->in_count; i++) pairs[2 * i] = left[i], pairs[2 * i + 1] = right[i];
  verdict v = build_region(op, 0, 2 * op->in_count, pairs, before);
  if (v == PASSED) arrjit_sort_by_end(op->g, before[0], op->in_count, op->out);
  return v;
}

static verdict build_while(case_op *op) {
  arrjit_value vars[CASE_MOST], out[CASE_MOST];
  arrjit_while_begin(op->g, op->in_count, op->in, vars);
  verdict v = build_region(op, 0, op->in_count, vars, out);
  if (v != PASSED) return v;
  arrjit_while_body(op->g, out[0], vars);
  v = build_region(op, 1, op->in_count, vars, out);
  if (v == PASSED) arrjit_while_end(op->g, op->in_count, out, op->out);
  return v;
}

static verdict build_if(case_op *op) {
  arrjit_value out[CASE_MOST];
  arrjit_if_begin(op->g, op->in[0]);
  verdict v = build_region(op, 0, 0, NULL, out);
  if (v != PASSED) return v;
  arrjit_if_else(op->g, op->out_count, out);
  v = build_region(op, 1, 0, NULL, out);
  if (v == PASSED) arrjit_if_end(op->g, op->out_count, out, op->out);
  return v;
}

static verdict build_case(case_op *op) {
  arrjit_value out[CASE_MOST];
  size_t count = json_array_size(op->regions);
  arrjit_value index = op->in[0];
  if (arrjit_value_type(index).dtype != ARRJIT_I64) index = arrjit_convert(op->g, index, ARRJIT_I64);
  arrjit_switch_begin(op->g, index);
  for (size_t i = 0; i < count; i++) {
    verdict v = build_region(op, i, 0, NULL, out);
    if (v != PASSED) return v;
    if (i + 1 < count)
      arrjit_switch_case(op->g, op->out_count, out);
    else
      arrjit_switch_end(op->g, op->out_count, out, op->out);
  }
  return PASSED;
}

static verdict build_scan(case_op *op) { return stablehlo_scan(op, vocabulary); }

/* ---- all ---- */

static const struct {
  const char *name;
  case_vocabulary *build;
} others[] = {{"compare", build_compare},
              {"select", build_select},
              {"clamp", build_clamp},
              {"convert", build_convert},
              {"bitcast_convert", build_bitcast},
              {"constant", build_constant},
              {"iota", build_iota},
              {"broadcast_in_dim", build_broadcast},
              {"reshape", build_reshape},
              {"transpose", build_transpose},
              {"reverse", build_reverse},
              {"slice", build_slice},
              {"concatenate", build_concat},
              {"pad", build_pad},
              {"dynamic_slice", build_dynamic_slice},
              {"dynamic_update_slice", build_dynamic_update},
              {"optimization_barrier", build_barrier},
              {"get_dimension_size", build_dim_size},
              {"dot", stablehlo_dot},
              {"dot_general", stablehlo_dot},
              {"convolution", stablehlo_convolution},
              {"triangular_solve", stablehlo_triangular_solve},
              {"power", stablehlo_power},
              {"reduce_precision", stablehlo_reduce_precision},
              {"gather", stablehlo_gather},
              {"scatter", stablehlo_scatter},
              {"sort", build_sort},
              {"chlo.top_k", stablehlo_top_k},
              {"reduce", build_reduce},
              {"reduce_window", build_reduce_window},
              {"select_and_scatter", build_select_and_scatter},
              {"while", build_while},
              {"if", build_if},
              {"case", build_case},
              {"fft", stablehlo_fft},
              {"batch_norm_inference", stablehlo_batch_norm},
              {"broadcast", stablehlo_broadcast},
              {"chlo.broadcast_add", stablehlo_broadcast_add},
              {"torch_index_select", stablehlo_index_select},
              {"chlo.mulhi", stablehlo_mulhi},
              {"chlo.bessel_i1e", stablehlo_bessel_i1e},
              {"chlo.ragged_dot", stablehlo_ragged_dot},
              {"chlo.scan", build_scan}};

static verdict vocabulary(case_op *op) {
  if (stablehlo_complex(op) || build_elementwise(op)) return PASSED;
  for (size_t i = 0; i < TK_COUNT(others); i++)
    if (strcmp(others[i].name, op->name) == 0) return others[i].build(op);
  return case_unknown(op);
}

verdict corpus_stablehlo(corpus_run *run, const json_t *one) { return case_run(run, one, vocabulary, NULL); }
