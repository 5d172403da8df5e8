/* Results whose dims the callback decides on: what later nodes make of them, in loops, arms and called functions, and
 * what becomes of a callback that does not keep to its signature. */
#include "fixture.h"

#define ANY ARRJIT_DYNAMIC_DIM

/* The i64 scalar n as f64[n] = 1, 2, ..., n; -1 stands for a failure. */
static arrjit_status count_up(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  arrjit_view out;
  int64_t n = *(const int64_t *)args[0].data;
  if (n < 0) return ARRJIT_FAILED;
  assert_null(results[0].data);
  assert_true(results[0].dims[0] == ANY);
  arrjit_status status = arrjit_call_result(call, 0, &n, &out);
  if (status != ARRJIT_OK) return status;
  assert_true(out.data == results[0].data && out.bytes == (size_t)n * sizeof(double) && results[0].dims[0] == n);
  for (int64_t i = 0; i < n; i++) {
    assert_true(((double *)out.data)[i] == 0);
    ((double *)out.data)[i] = (double)(i + 1);
  }
  return ARRJIT_OK;
}

static arrjit_slot count_slot(tk_fixture *f, arrjit_graph *g) {
  tk_bind(f, "count", count_up, NULL);
  return arrjit_slot_value(g, "count", TYPES(TYPE(I64)), TYPES(TYPE(F64, ANY)), 0);
}

static arrjit_value call_count(arrjit_graph *g, arrjit_slot slot, arrjit_value n) {
  arrjit_value out;
  CALLBACK(g, slot, &out, n);
  return out;
}

static arrjit_value sum_of(arrjit_graph *g, arrjit_value x) { return arrjit_reduce_sum(g, x, INTS(0)); }

/* Elementwise, movement, products, reductions, sizes: all of an extent that only the call tells. */
static void test_ops_on_a_result_of_unknown_extent(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true; /* concat */
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), x = call_count(g, count_slot(f, g), n);
  arrjit_type type = arrjit_value_type(x);
  assert_true(type.rank == 1 && type.dims[0] < 0 && type.dims[0] != ANY);
  arrjit_value counted = arrjit_iota(g, ARRJIT_F64, 1, type.dims, 0);
  arrjit_value y = arrjit_add(g, arrjit_mul(g, x, x), counted); /* (i + 1)^2 + i */
  arrjit_value back = arrjit_reverse(g, y, INTS(0));
  arrjit_value both = arrjit_concat(g, LIST(y, back), 0);
  arrjit_value table = arrjit_mul(g, arrjit_reshape(g, x, 2, I64S(type.dims[0], 1)), x);
  arrjit_value columns = arrjit_reduce_sum(g, table, INTS(0));
  arrjit_value size = (arrjit_dim_size)(g, both, 0);
  RETURN(g, y, back, both, columns, size, sum_of(g, arrjit_exp(g, arrjit_sub(g, x, x))));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 3));
  EXPECT(o, 0, F64, 1, 5, 11);
  EXPECT(o, 1, F64, 11, 5, 1);
  EXPECT(o, 2, F64, 1, 5, 11, 11, 5, 1);
  EXPECT(o, 3, F64, 6, 12, 18);
  EXPECT(o, 4, I64, 6);
  EXPECT(o, 5, F64, 3);
  o = RUN(f, function, SCALAR(f, I64, 0));
  EXPECT_SHAPE(o, 2, 0);
  EXPECT(o, 4, I64, 0);
  EXPECT(o, 5, F64, 0);
  o = RUN(f, function, SCALAR(f, I64, 1000));
  EXPECT_SHAPE(o, 2, 2000);
  EXPECT(o, 4, I64, 2000);
}

static arrjit_status take_two(CALLBACK_ARGS) { /* f64[n] -> its positive elements, a table of 2 columns, a scalar */
  UNUSED_CALLBACK;
  arrjit_view few, table;
  int64_t n = args[0].dims[0], count = 0;
  const double *x = args[0].data;
  for (int64_t i = 0; i < n; i++) count += x[i] > 0;
  assert_true(results[1].dims[0] == ANY && results[1].dims[1] == 2);
  if (arrjit_call_result(call, 0, &count, &few) != ARRJIT_OK) return ARRJIT_FAILED;
  if (arrjit_call_result(call, 1, (const int64_t[]){n, 2}, &table) != ARRJIT_OK) return ARRJIT_FAILED;
  double *to = few.data;
  for (int64_t i = 0; i < n; i++) {
    if (x[i] > 0) *to++ = x[i];
    ((float *)table.data)[2 * i + 1] = (float)x[i];
  }
  *(int64_t *)results[2].data = count;
  return ARRJIT_OK;
}

static void test_several_results_some_of_known_extent(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t n = arrjit_symbol(g, "n");
  arrjit_value x = PARAM(g, "x", F64, n), out[3];
  arrjit_slot slot =
      arrjit_slot_value(g, "two", TYPES(TYPE(F64, n)), TYPES(TYPE(F64, ANY), TYPE(F32, ANY, 2), TYPE(I64)), 0);
  CALLBACK(g, slot, out, x);
  arrjit_value fitted = arrjit_add(g, arrjit_reduce_sum(g, out[1], INTS(1)), arrjit_convert(g, x, ARRJIT_F32));
  RETURN(g, out[0], out[1], out[2], fitted);
  tk_bind(f, "two", take_two, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F64, 1, -2, 3));
  EXPECT(o, 0, F64, 1, 3);
  EXPECT_SHAPE(o, 1, 3, 2);
  EXPECT(o, 2, I64, 2);
  EXPECT(o, 3, F32, 2, -4, 6);
}

/* for i in [0, n): total += sum(count(i)), bound anew in each iteration */
static arrjit_function *build_loop(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), width = PARAM(g, "width", I64), i, var, out;
  FOR(g, arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), &i, &var, arrjit_const_f64(g, 0));
  arrjit_value x = call_count(g, slot, arrjit_add(g, arrjit_rem(g, i, arrjit_const_i64(g, 5)), width));
  arrjit_value doubled = arrjit_add(g, x, arrjit_reverse(g, x, INTS(0)));
  arrjit_value shifted = arrjit_concat(g, LIST(doubled, x), 0);
  arrjit_value next = arrjit_add(g, var, sum_of(g, shifted));
  arrjit_for_end(g, 1, &next, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_each_iteration_binds_anew(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;                                                         /* concat */
  EXPECT(RUN(f, build_loop(f), SCALAR(f, I64, 4), SCALAR(f, I64, 0)), 0, F64, 30); /* 3 (0 + 1 + 3 + 6) */
}

/* What one iteration makes is gone in the next: a thousand of them stay within what two need. */
static void test_long_loops_do_not_grow(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true; /* concat */
  arrjit_error error;
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_RUN_BYTES, 600000, &error), ARRJIT_OK);
  EXPECT_OK(RUN(f, build_loop(f), SCALAR(f, I64, 1000), SCALAR(f, I64, 5000)));
}

/* A late array carried by a loop, and two that change places. */
static void test_loops_carry_late_arrays(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), steps = PARAM(g, "steps", I64), x = call_count(g, count_slot(f, g), n), i;
  arrjit_value y = arrjit_neg(g, x), vars[3], out[3];
  FOR(g, arrjit_const_i64(g, 0), steps, arrjit_const_i64(g, 1), &i, vars, x, y, x);
  arrjit_value sum = arrjit_add(g, vars[2], vars[0]);
  arrjit_for_end(g, LIST(vars[1], vars[0], sum), out);
  RETURN(g, out[0], out[1], out[2], sum_of(g, out[2]));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 2), SCALAR(f, I64, 3));
  EXPECT(o, 0, F64, -1, -2);
  EXPECT(o, 1, F64, 1, 2);
  EXPECT(o, 2, F64, 2, 4);
  EXPECT(RUN(f, function, SCALAR(f, I64, 2), SCALAR(f, I64, 0)), 2, F64, 1, 2);
}

/* An arm that is taken binds its own; a while's condition too. */
static void test_arms_and_conditions(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true; /* concat */
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), outer = call_count(g, slot, n), arm, var, out[2];
  arrjit_if_begin(g, arrjit_gt(g, n, arrjit_const_i64(g, 2)));
  arrjit_value inner = call_count(g, slot, arrjit_const_i64(g, 4));
  arrjit_value scaled = arrjit_mul(g, outer, sum_of(g, inner));
  arrjit_if_else(g, 1, &scaled);
  arrjit_if_end(g, 1, &outer, &arm); /* the extent is that of `outer`: it may leave */
  WHILE(g, &var, arrjit_const_i64(g, 0));
  arrjit_value sum = sum_of(g, call_count(g, slot, var));
  arrjit_while_body(g, arrjit_lt(g, sum, arrjit_const_f64(g, 20)), &var);
  arrjit_value more = arrjit_add(g, call_count(g, slot, var), arrjit_const_f64(g, 1));
  arrjit_value next =
      arrjit_add(g, var, (arrjit_dim_size)(g, arrjit_concat(g, LIST(more, call_count(g, slot, n)), 0), 0));
  arrjit_while_end(g, 1, &next, &out[1]);
  RETURN(g, arm, out[1]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 3));
  EXPECT(o, 0, F64, 10, 20, 30);
  EXPECT(o, 1, I64, 9); /* 0, 3, 9 */
  EXPECT(RUN(f, function, SCALAR(f, I64, 1)), 0, F64, 1);
}

/* A function that calls back, recursively, and one that gets the array. */
static void test_called_functions(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), param, more, x, out, again;
  int64_t m = arrjit_symbol(g, "m");
  arrjit_callee mean = arrjit_declare(g, "mean", TYPES(TYPE(F64, m)), TYPES(TYPE(F64)));
  arrjit_callee total = arrjit_declare(g, "total", TYPES(TYPE(I64)), TYPES(TYPE(F64)));
  arrjit_define(g, mean, &x);
  RETURN(g, arrjit_mean(g, x, INTS(0)));
  arrjit_define(g, total, &param);
  arrjit_if_begin(g, arrjit_le(g, param, arrjit_const_i64(g, 0)));
  arrjit_if_else(g, LIST(arrjit_const_f64(g, 0)));
  x = call_count(g, slot, param);
  CALL(g, total, &more, arrjit_sub(g, param, arrjit_const_i64(g, 1)));
  arrjit_value added = arrjit_add(g, sum_of(g, x), more);
  arrjit_if_end(g, 1, &added, &out);
  RETURN(g, out);
  CALL(g, total, &out, n);
  CALL(g, mean, &again, call_count(g, slot, n));
  RETURN(g, out, again);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 4));
  EXPECT(o, 0, F64, 20); /* 10 + 6 + 3 + 1 */
  EXPECT(o, 1, F64, 2.5);
}

/* What a try's body made goes when it fails; the handler makes its own. */
static void test_failures_in_between(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), i, exn, var, out, caught;
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 6), arrjit_const_i64(g, 1), &i, &var, arrjit_const_f64(g, 0));
  arrjit_try_begin(g);
  arrjit_value x = call_count(g, slot, i), y = arrjit_add(g, x, x);
  arrjit_value z = arrjit_add(g, y, call_count(g, slot, arrjit_sub(g, n, i))); /* extents must agree */
  arrjit_try_handler(g, LIST(sum_of(g, z)), ARRJIT_KIND_ERROR, &exn);
  arrjit_try_end(g, LIST(sum_of(g, call_count(g, slot, arrjit_const_i64(g, 1)))), &caught);
  arrjit_value next = arrjit_add(g, var, caught);
  arrjit_for_end(g, 1, &next, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 4)), 0, F64, 14); /* 9 for i = 2, else 1; i = 5 fails in the host */
}

/* Lanes of a map, as many as the callback says: each halves its element until it is below 1 and counts the turns; one
 * that begins above `most` raises. `extra` is another array of such an extent, or a scalar for all lanes. */
static arrjit_function *build_map(tk_fixture *f, bool two, bool caught) {
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), other = PARAM(g, "other", I64), most = PARAM(g, "most", F64);
  arrjit_value x = call_count(g, slot, n), extra = two ? call_count(g, slot, other) : most, lane[3], v[2], out[2], exn;
  arrjit_map_begin(g, LIST(x, extra, most), lane);
  if (caught) arrjit_try_begin(g);
  RAISE_IF(g, arrjit_gt(g, lane[0], lane[2]), ARRJIT_KIND_RUNTIME, 3, "{0} is too much", lane[0]);
  WHILE(g, v, lane[0], lane[1]);
  arrjit_while_body(g, arrjit_ge(g, v[0], arrjit_const_f64(g, 1)), v);
  arrjit_while_end(g, LIST(arrjit_mul(g, v[0], arrjit_const_f64(g, 0.5)), arrjit_add(g, v[1], arrjit_const_f64(g, 1))),
                   out);
  if (caught) {
    arrjit_try_handler(g, 1, &out[1], ARRJIT_KIND_RUNTIME, &exn);
    arrjit_try_end(g, LIST(arrjit_const_f64(g, -1)), &out[1]);
  }
  arrjit_map_end(g, 1, &out[1], out);
  RETURN(g, out[0], sum_of(g, arrjit_mul(g, out[0], x)));
  return tk_finish(f, g);
}

static void test_maps_over_results_of_unknown_extent(void **state) {
  tk_fixture *f = *state;
  arrjit_array *seven = SCALAR(f, I64, 7), *none = SCALAR(f, I64, 0), *ten = SCALAR(f, F64, 10);
  for (int two = 0; two < 2; two++) {
    arrjit_function *strict = build_map(f, two, false), *caught = build_map(f, two, true);
    const tk_outcome *o = RUN(f, strict, seven, seven, ten);
    if (two)
      EXPECT(o, 0, F64, 2, 4, 5, 7, 8, 9, 10);
    else
      EXPECT(o, 0, F64, 11, 12, 12, 13, 13, 13, 13);
    EXPECT_SHAPE(RUN(f, strict, none, none, ten), 0, 0);
    EXPECT_OK(RUN(f, strict, SCALAR(f, I64, 1000), SCALAR(f, I64, 1000), SCALAR(f, F64, 1000)));
    o = RUN(f, strict, seven, seven, SCALAR(f, F64, 4));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "5 is too much");
    assert_string_equal(o->path, "raise < if then < map lane 4");
    o = RUN(f, caught, seven, seven, SCALAR(f, F64, 1));
    EXPECT(o, 0, F64, 2, -1, -1, -1, -1, -1, -1);
    if (two) EXPECT_FAILURE(RUN(f, strict, seven, SCALAR(f, I64, 6), ten), ARRJIT_KIND_SHAPE, 0, NULL);
    EXPECT_FAILURE(RUN(f, strict, SCALAR(f, I64, -1), seven, ten), ARRJIT_KIND_CALLBACK, ARRJIT_FAILED, NULL);
  }
}

/* Bound anew in each round: maps of 0, 1, ..., lanes in one loop. */
static void test_maps_of_another_extent_each_round(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), most = PARAM(g, "most", F64), i, total, lane[2], doubled, y, out;
  FOR(g, arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), &i, &total, arrjit_const_f64(g, 0));
  arrjit_map_begin(g, LIST(call_count(g, slot, i), most), lane);
  arrjit_if_begin(g, arrjit_gt(g, lane[0], lane[1]));
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "{0} is too much", lane[0]);
  arrjit_if_else(g, 0, NULL);
  doubled = arrjit_add(g, lane[0], lane[0]);
  arrjit_if_end(g, 1, &doubled, &y);
  arrjit_map_end(g, 1, &y, &y);
  arrjit_for_end(g, LIST(arrjit_add(g, total, sum_of(g, y))), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 40), SCALAR(f, F64, 100)), 0, F64, 21320); /* the sum of k (k + 1) */
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 40), SCALAR(f, F64, 20));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "21 is too much");
  assert_string_equal(o->path, "raise < if then < map lane 20 < for body 21");
}

static void test_extents_that_must_agree(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), m = PARAM(g, "m", I64);
  RETURN(g, arrjit_add(g, call_count(g, slot, n), call_count(g, slot, m)));
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 2), SCALAR(f, I64, 2)), 0, F64, 2, 4);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 2), SCALAR(f, I64, 3));
  EXPECT_FAILURE(o, ARRJIT_KIND_SHAPE, 0, "axis 0 has extent 3, expected 2");
  assert_string_equal(o->path, "check_shape");
}

/* What derives from an extent is computed when it is bound: below 0 the call fails. */
static void test_derived_extents_out_of_range(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), x = call_count(g, count_slot(f, g), n);
  int64_t dim = arrjit_value_type(x).dims[0];
  RETURN(g, arrjit_slice(g, x, 1, I64S(2), I64S(dim), I64S(1)));
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 4)), 0, F64, 3, 4);
  EXPECT_SHAPE(RUN(f, function, SCALAR(f, I64, 2)), 0, 0);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_SHAPE, 0, NULL);
  assert_string_equal(o->path, "callback");
}

static void test_outputs_of_such_results_cannot_be_given(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), x = call_count(g, count_slot(f, g), n);
  RETURN(g, x, n);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *outputs[] = {ARRAY(f, F64, 0, 0), SCALAR(f, I64, 0)}, *some[] = {NULL, outputs[1]};
  f->outputs = outputs;
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 2));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARGUMENT, 0,
                 "output 0: its extents are decided on by a callback, so none can be given");
  assert_string_equal(o->log, "");
  f->outputs = some;
  EXPECT(RUN(f, function, SCALAR(f, I64, 2)), 0, F64, 1, 2);
}

/* ---- callbacks that do not do what they should ---- */

typedef struct odd { /* what the callback gives for its one result, f32[2, ?] */
  arrjit_view view;
  size_t index;
  arrjit_status status;     /* of the call */
  const arrjit_view *mends; /* given after it, or NULL */
} odd;

static arrjit_status give_odd(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  odd *o = slot->user;
  o->status = arrjit_call_give(call, o->index, &o->view);
  return o->status;
}

static arrjit_status make_odd(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  odd *o = slot->user;
  arrjit_view out;
  o->status = arrjit_call_result(call, o->index, o->view.dims, &out);
  return o->status;
}

/* Does not look at what giving said; gives what fits after that, when it is to. */
static arrjit_status give_odd_and_say_ok(CALLBACK_ARGS) {
  odd *o = slot->user;
  (void)give_odd(slot, call, arg_count, args, result_count, results);
  return o->mends ? arrjit_call_give(call, 0, o->mends) : ARRJIT_OK;
}

static arrjit_status do_nothing(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  return ARRJIT_OK;
}

static arrjit_status make_odd_and_say_ok(CALLBACK_ARGS) {
  (void)make_odd(slot, call, arg_count, args, result_count, results);
  return ARRJIT_OK;
}

static arrjit_function *odd_function(tk_fixture *f, size_t count, const arrjit_type *types) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value out[2];
  (arrjit_callback)(g, arrjit_slot_value(g, "odd", 0, NULL, count, types, 0), 0, NULL, out);
  (arrjit_return)(g, count, out, NULL);
  return tk_finish(f, g);
}

#define BROKE "callback \"odd\" broke its contract: "

static void test_case_f24_results_that_break_the_signature(void **state) {
  tk_fixture *f = *state;
  static const int64_t good[] = {2, 3}, wide[] = {3, 3}, below[] = {2, -1}, three[] = {2, 3, 1};
  float data[6] = {1, 2, 3, 4, 5, 6};
  const arrjit_view fine = {ARRJIT_F32, 2, good, data, sizeof data};
  const struct {
    arrjit_view view;
    size_t index;
    const char *message;
  } rows[] = {
      {{ARRJIT_F64, 2, good, data, 48}, 0, BROKE "result 0: expected f32[2, ?], got f64[2, 3]"},
      {{ARRJIT_F32, 2, wide, data, 36}, 0, BROKE "result 0: expected f32[2, ?], got f32[3, 3]"},
      {{ARRJIT_F32, 2, below, data, 24},
       0,
       BROKE "result 0: expected f32[2, ?], got f32[2, -1]; an extent is 0 or more"},
      {{ARRJIT_F32, 3, three, data, 24}, 0, BROKE "result 0: expected f32[2, ?], got f32[2, 3, 1]"},
      {{ARRJIT_F32, 0, NULL, data, 4}, 0, BROKE "result 0: expected f32[2, ?], got f32[]"},
      {{ARRJIT_F32, 2, good, data, 20}, 0, BROKE "result 0: expected 24 bytes, got 20"},
      {{ARRJIT_F32, 2, good, NULL, 24}, 0, BROKE "result 0: expected 24 bytes, got no data"},
      {{ARRJIT_F32, 2, good, data, 24}, 1, BROKE "it gave result 1, expected 1 result"},
      {{(arrjit_dtype)99, 2, good, data, 24}, 0, BROKE "result 0: expected f32[2, ?], got ?[2, 3]"},
  };
  arrjit_function *function = odd_function(f, TYPES(TYPE(F32, 2, ANY)));
  odd o = {.view = fine};
  tk_bind(f, "odd", give_odd, &o);
  EXPECT(RUN(f, function), 0, F32, 1, 2, 3, 4, 5, 6);
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    o = (odd){.view = rows[i].view, .index = rows[i].index};
    EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0, rows[i].message);
    assert_int_equal(o.status, ARRJIT_FAILED);
  }
  function = odd_function(f, TYPES(TYPE(F32, 2, 3), TYPE(F32)));
  o = (odd){.view = fine};
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0,
                 BROKE "result 1 of 2 did not come: expected it from arrjit_call_give");
}

/* A result that was refused and did not come in another way fails the call, whatever it returns; also where memory for
 * it was there from the beginning. */
static void test_case_f24_refused_results_are_not_forgotten(void **state) {
  tk_fixture *f = *state;
  double wrong = 5;
  float right = 6;
  const arrjit_view fine = {ARRJIT_F32, 0, NULL, &right, sizeof right};
  odd o = {.view = {ARRJIT_F64, 0, NULL, &wrong, sizeof wrong}};
  arrjit_function *function = odd_function(f, TYPES(TYPE(F32)));
  tk_bind(f, "odd", give_odd_and_say_ok, &o);
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0, BROKE "result 0: expected f32[], got f64[]");
  o.index = 7;
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0, BROKE "it gave result 7, expected 1 result");
  o.index = 0, o.mends = &fine;
  EXPECT(RUN(f, function), 0, F32, 6);
}

static void test_case_f24_results_that_are_not_made(void **state) {
  tk_fixture *f = *state;
  static const int64_t wide[] = {3, 3}, least[] = {2, INT64_MIN};
  arrjit_function *function = odd_function(f, TYPES(TYPE(F32, 2, ANY)));
  odd o = {.view = {.dims = wide}};
  tk_bind(f, "odd", do_nothing, NULL);
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0,
                 BROKE "result 0 of 1 did not come: expected it from arrjit_call_result");
  for (int say_ok = 0; say_ok <= 1; say_ok++) {
    tk_bind(f, "odd", say_ok ? make_odd_and_say_ok : make_odd, &o);
    EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0,
                   BROKE "result 0: expected f32[2, ?], got f32[3, 3]");
  }
  o.view.dims = least;
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0,
                 BROKE "result 0: expected f32[2, ?], got f32[2, -9223372036854775808]; an extent is 0 or more");
  o.view.dims = NULL;
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_CALLBACK_CONTRACT, 0, NULL);
  assert_int_equal(o.status, ARRJIT_MISUSE);
}

/* Memory that the run may not have, or that there is none of, is kind memory; a callback that does with less is fine.
 */
static arrjit_status make_less(CALLBACK_ARGS) {
  arrjit_view out;
  if (make_odd(slot, call, arg_count, args, result_count, results) == ARRJIT_OK) return ARRJIT_OK;
  return arrjit_call_result(call, 0, I64S(2, 1), &out);
}

static void test_results_count_against_the_limit(void **state) {
  tk_fixture *f = *state;
  static const int64_t million[] = {2, 1000000}, most[] = {2, INT64_MAX / 2};
  arrjit_function *function = odd_function(f, TYPES(TYPE(F32, 2, ANY)));
  odd o = {.view = {.dims = most}};
  tk_bind(f, "odd", make_odd, &o);
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_MEMORY, 0,
                 "no memory for f32[2, 4611686018427387903], whose bytes are more than an i64 counts");
  o.view.dims = million;
  EXPECT_OK(RUN(f, function));
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_RUN_BYTES, 100000, NULL), ARRJIT_OK);
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_MEMORY, 0, "the run needs 8000000 bytes, max_run_bytes is 100000");
  assert_int_equal(o.status, ARRJIT_MEMORY);
  o.view.dims = most;
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_MEMORY, 0, NULL);
  tk_bind(f, "odd", make_less, &o);
  EXPECT(RUN(f, function), 0, F32, 0, 0);
}

/* What the function needs shows when a callback is back: x, then x and its double, in each turn of the loop anew. */
static void test_memory_that_callbacks_decide_on(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), i, sum, out;
  FOR(g, arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), &i, &sum, arrjit_const_f64(g, 0));
  arrjit_value x = call_count(g, slot, i), twice = arrjit_reverse(g, arrjit_add(g, x, x), INTS(0));
  arrjit_for_end(g, LIST(arrjit_add(g, sum, sum_of(g, arrjit_mul(g, twice, x)))), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  f->limits.bytes = 3 * 40;
  EXPECT_OK(RUN(f, function, SCALAR(f, I64, 6)));
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 20));
  EXPECT_FAILURE(o, ARRJIT_KIND_MEMORY, 0, "the run needs 144 bytes, max_run_bytes is 120");
  assert_string_equal(o->path, "callback < for body 6");
}

/* A refusal that leaves the callback is a limit that was reached; one that does not leaves no mark. */
static void test_refused_results_stay_refused(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), exn, out, i, var;
  arrjit_try_begin(g);
  out = sum_of(g, call_count(g, slot, n));
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_MEMORY, &exn);
  out = arrjit_const_f64(g, -1);
  arrjit_try_end(g, 1, &out, &out);
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 1), arrjit_const_i64(g, 1), &i, &var, out);
  arrjit_for_end(g, LIST(arrjit_neg(g, var)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  f->limits.bytes = 32;
  EXPECT(RUN(f, function, SCALAR(f, I64, 4)), 0, F64, -10);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 5));
  EXPECT_FAILURE(o, ARRJIT_KIND_MEMORY, 0, "the run needs 40 bytes, max_run_bytes is 32");
  assert_string_equal(o->path, "yield < for body 0");
}

/* ---- what cannot be built ---- */

static void test_extents_stay_where_they_are_bound(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = count_slot(f, g);
  arrjit_value n = PARAM(g, "n", I64), out, x;
  arrjit_if_begin(g, arrjit_gt(g, n, n));
  x = call_count(g, slot, n);
  int64_t dim = arrjit_value_type(x).dims[0];
  arrjit_if_else(g, 1, &x);
  arrjit_raise(g, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL);
  arrjit_if_end(g, 0, NULL, &out);
  RETURN(g, out);
  tk_finish_fails(f, g, ARRJIT_GRAPH, "result 0 of if has a type with extent ?0", NULL);
  g = tk_graph(f);
  slot = count_slot(f, g);
  n = PARAM(g, "n", I64);
  arrjit_if_begin(g, arrjit_gt(g, n, n));
  x = call_count(g, slot, n);
  dim = arrjit_value_type(x).dims[0];
  arrjit_if_else(g, LIST(sum_of(g, x)));
  arrjit_if_end(g, LIST(arrjit_const_f64(g, 0)), &out);
  RETURN(g, arrjit_iota(g, ARRJIT_F64, 1, &dim, 0));
  arrjit_error error;
  tk_finish_fails(f, g, ARRJIT_GRAPH, "result 0 of iota has a type with extent ?0", &error);
  assert_string_equal(error.op, "iota");
  assert_true(error.line > 0);
}

static void test_only_results_of_slots_are_dynamic(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  (void)PARAM(g, "x", F64, ANY);
  tk_finish_fails(f, g, ARRJIT_MISUSE, "only results of value slots", NULL);
  g = tk_graph(f);
  (void)arrjit_slot_io(g, "io", TYPES(TYPE(F64, ANY)), 0);
  tk_finish_fails(f, g, ARRJIT_MISUSE, "only results of value slots", NULL);
  g = tk_graph(f);
  (void)arrjit_slot_value(g, "value", TYPES(TYPE(F64, ANY)), 0, NULL, 0);
  tk_finish_fails(f, g, ARRJIT_MISUSE, "only results of value slots", NULL);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_ops_on_a_result_of_unknown_extent),
    TK_TEST(test_several_results_some_of_known_extent),
    TK_TEST(test_each_iteration_binds_anew),
    TK_TEST(test_long_loops_do_not_grow),
    TK_TEST(test_loops_carry_late_arrays),
    TK_TEST(test_arms_and_conditions),
    TK_TEST(test_called_functions),
    TK_TEST(test_failures_in_between),
    TK_TEST(test_maps_over_results_of_unknown_extent),
    TK_TEST(test_maps_of_another_extent_each_round),
    TK_TEST(test_extents_that_must_agree),
    TK_TEST(test_derived_extents_out_of_range),
    TK_TEST(test_outputs_of_such_results_cannot_be_given),
    TK_TEST(test_case_f24_results_that_break_the_signature),
    TK_TEST(test_case_f24_refused_results_are_not_forgotten),
    TK_TEST(test_case_f24_results_that_are_not_made),
    TK_TEST(test_results_count_against_the_limit),
    TK_TEST(test_memory_that_callbacks_decide_on),
    TK_TEST(test_refused_results_stay_refused),
    TK_TEST(test_extents_stay_where_they_are_bound),
    TK_TEST(test_only_results_of_slots_are_dynamic),
};

TEST_MAIN(tests, NULL, NULL)
