/* Block programs of the interpreter: which values become arrays, whose memory results take, and that nobody can tell.
 * What is computed is compared with nodes one by one (mode resume) and native code by RUN. */
#include "fixture.h"

static void set(tk_fixture *f, arrjit_option option, int64_t value) {
  assert_int_equal(arrjit_context_set_option(f->context, option, value, NULL), ARRJIT_OK);
}

static arrjit_result *run(arrjit_function *function, size_t count, arrjit_array *const *inputs, uint64_t donated,
                          arrjit_array *const *outputs) {
  const arrjit_run_options options = {
      .struct_bytes = sizeof options, .mode = ARRJIT_MODE_INTERP, .donated = donated, .outputs = outputs};
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_run(function, &options, count, inputs, &result, NULL), ARRJIT_OK);
  return result;
}

static int64_t count_allocations(tk_fixture *f, arrjit_function *function, size_t count, arrjit_array *const *inputs,
                                 arrjit_array *const *outputs) {
  arrjit_result_destroy(run(function, count, inputs, 0, outputs)); /* makes what later runs use again */
  tk_alloc_arm(&f->alloc, 0);
  arrjit_result *result = run(function, count, inputs, 0, outputs);
  int64_t calls = atomic_load(&f->alloc.calls);
  assert_int_equal(arrjit_result_ok(result), 1);
  arrjit_result_destroy(result);
  return calls;
}

/* x doubled and halved n times */
static arrjit_function *chain(tk_fixture *f, int n) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 10000);
  for (int i = 0; i < n; i++) x = i % 2 ? arrjit_mul(g, x, arrjit_const_like(g, x, 0.5)) : (arrjit_add)(g, x, x);
  RETURN(g, x);
  return tk_finish(f, g);
}

static void test_values_inside_a_range_are_no_arrays(void **state) {
  tk_fixture *f = *state;
  set(f, ARRJIT_OPTION_BLOCK_WORK, 0);
  arrjit_function *function = chain(f, 100);
  arrjit_array *x = tk_array(f, TYPE(F32, 10000), NULL);
  arrjit_result *result = run(function, 1, &x, 0, NULL);
  assert_int_equal(arrjit_result_ok(result), 1);
  arrjit_result_destroy(result);
  /* result and output; with the output given the result alone */
  assert_int_equal(count_allocations(f, function, 1, &x, NULL), 2);
  arrjit_array *given = tk_array(f, TYPE(F32, 10000), NULL);
  assert_int_equal(count_allocations(f, function, 1, &x, &given), 1);
}

/* for n times: x = x * c + x */
static arrjit_function *carried(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 1000), c = PARAM(g, "c", F64, 1000), n = PARAM(g, "n", I64), i, y, out;
  FOR(g, arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), &i, &y, x);
  arrjit_for_end(g, LIST(arrjit_add(g, arrjit_mul(g, y, c), y)), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_carried_arrays_are_updated_in_place(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = carried(f);
  set(f, ARRJIT_OPTION_BLOCK_WORK, 0);
  arrjit_array *few[] = {tk_array(f, TYPE(F64, 1000), NULL), tk_array(f, TYPE(F64, 1000), NULL), SCALAR(f, I64, 2)};
  arrjit_array *many[] = {few[0], few[1], SCALAR(f, I64, 500)};
  int64_t calls = count_allocations(f, function, 3, few, NULL);
  assert_int_equal(count_allocations(f, function, 3, many, NULL), calls);
  EXPECT_OK(RUN(f, function, many[0], many[1], many[2]));
}

/* y dies in z, but a view of it lives; c is a constant; x an input: none of them may be written over. */
static void test_what_others_see_is_not_overwritten(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), c = CONST(g, F32, 7, 8, 9), y = arrjit_add(g, x, c);
  arrjit_value turned = (arrjit_reverse)(ARRJIT_AT_(g), y, INTS(0));
  arrjit_value s = (arrjit_reduce_sum)(ARRJIT_AT_(g), y, INTS(0));
  arrjit_value z = arrjit_mul(g, y, arrjit_const_like(g, y, 2)), w = arrjit_add(g, c, z);
  arrjit_value last = (arrjit_reduce_sum)(ARRJIT_AT_(g), w, INTS(0)), more = arrjit_neg(g, turned);
  RETURN(g, turned, z, w, s, last, more, z);
  arrjit_function *function = tk_finish(f, g);
  for (int i = 0; i < 2; i++) {
    const tk_outcome *o = RUN(f, function, ARRAY(f, F32, 1, 2, 3));
    EXPECT(o, 0, F32, 12, 10, 8);
    EXPECT(o, 1, F32, 16, 20, 24);
    EXPECT(o, 2, F32, 23, 28, 33);
    EXPECT(o, 3, F32, 30);
    EXPECT(o, 4, F32, 84);
    EXPECT(o, 5, F32, -12, -10, -8);
    EXPECT(o, 6, F32, 16, 20, 24);
  }
}

/* Operands of every layout, scalars computed between the nodes, dtypes of several sizes, values that live on. */
static void test_layouts_scalars_and_dtypes_in_one_range(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t n = arrjit_symbol(g, "n");
  arrjit_type matrix = TYPE(F64, n, 3), row = TYPE(F64, 3), f64 = TYPE(F64);
  arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &matrix), r = (arrjit_param)(ARRJIT_AT_(g), "r", &row);
  arrjit_value k = (arrjit_param)(ARRJIT_AT_(g), "k", &f64);
  arrjit_value a = arrjit_add(g, x, r);                           /* a row for every row */
  arrjit_value half = arrjit_mul(g, k, arrjit_const_f64(g, 0.5)); /* a scalar between */
  arrjit_value b = arrjit_mul(g, (arrjit_reverse)(ARRJIT_AT_(g), x, INTS(0, 1)), half);
  arrjit_value less = arrjit_lt(g, a, b), narrow = arrjit_convert(g, arrjit_sub(g, a, b), ARRJIT_F32);
  arrjit_value wide = arrjit_convert(g, narrow, ARRJIT_F64), chosen = arrjit_select(g, less, wide, arrjit_sin(g, a));
  RETURN(g, chosen, less, narrow, half);
  arrjit_function *function = tk_finish(f, g);
  const int64_t extents[] = {0, 1, 5, 700};
  for (size_t e = 0; e < TK_COUNT(extents); e++) {
    arrjit_array *in = tk_array(f, TYPE(F64, extents[e], 3), NULL);
    double *data = arrjit_array_data(in);
    for (int64_t i = 0; i < 3 * extents[e]; i++) data[i] = (double)(i * 37 % 101) - 50;
    EXPECT_OK(RUN(f, function, in, ARRAY(f, F64, 1, -2, 3), SCALAR(f, F64, 3)));
  }
}

/* Runs before and after a range became a program show the same. */
static void test_warming_up_changes_nothing(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = carried(f);
  arrjit_array *in[] = {tk_array(f, TYPE(F64, 1000), NULL), tk_array(f, TYPE(F64, 1000), NULL), SCALAR(f, I64, 3)};
  for (int i = 0; i < 1000; i++)
    ((double *)arrjit_array_data(in[0]))[i] = i, ((double *)arrjit_array_data(in[1]))[i] = 0.5;
  set(f, ARRJIT_OPTION_BLOCK_WORK, 4500); /* 9000 for both nodes, 2032 an iteration: in the second run */
  for (int k = 0; k < 3; k++) {
    arrjit_result *result = run(function, 3, in, 0, NULL);
    const double *out = arrjit_array_data(arrjit_result_output(result, 0));
    for (int i = 0; i < 1000; i++) assert_true(out[i] == i * 1.5 * 1.5 * 1.5);
    arrjit_result_destroy(result);
  }
}

/* sin over an array in which few lanes need the reduction of huge arguments, against one element at a time. */
static void test_guarded_nodes_run_where_a_lane_needs_them(void **state) {
  tk_fixture *f = *state;
  enum { N = 700 };
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = TYPE(F64, arrjit_symbol(g, "n"));
  RETURN(g, arrjit_sin(g, (arrjit_param)(ARRJIT_AT_(g), "x", &type)));
  arrjit_function *function = tk_finish(f, g);
  const int huge[] = {-1, 0, 255, 256, 699};
  for (size_t h = 0; h < TK_COUNT(huge); h++) {
    arrjit_array *x = tk_array(f, TYPE(F64, N), NULL);
    double *data = arrjit_array_data(x);
    for (int i = 0; i < N; i++) data[i] = i == huge[h] ? 1e300 : i * 0.37;
    const tk_outcome *o = RUN(f, function, x);
    const double *out = (const double *)(const void *)o->outputs[0].data;
    for (int i = 0; i < N; i++) {
      if (i % 23 && i != huge[h]) continue;
      arrjit_array *line = tk_array(f, TYPE(F64, 1), &data[i]);
      arrjit_result *result = run(function, 1, &line, 0, NULL);
      assert_memory_equal(arrjit_array_data(arrjit_result_output(result, 0)), &out[i], sizeof *out);
      arrjit_result_destroy(result);
    }
  }
}

/* A loop that runs without frames is still counted, and fails where a loop of frames does. */
static void test_loops_over_scalars_are_counted(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), one = arrjit_const_i64(g, 1), vars[2], next[2], out[2];
  WHILE(g, vars, n, one);
  arrjit_while_body(g, arrjit_ne(g, vars[0], one), vars);
  arrjit_value odd = arrjit_ne(g, arrjit_and(g, vars[0], one), arrjit_const_i64(g, 0));
  arrjit_value up = arrjit_add(g, arrjit_mul(g, vars[0], arrjit_const_i64(g, 3)), one);
  next[0] = arrjit_select(g, odd, up, arrjit_shr_arith(g, vars[0], one));
  next[1] = arrjit_add(g, vars[1], one);
  arrjit_while_end(g, 2, next, out);
  RETURN(g, out[1], out[0]);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 27)), 0, I64, 112);
  EXPECT(RUN(f, function, SCALAR(f, I64, 1)), 0, I64, 1);
  set(f, ARRJIT_OPTION_MAX_ITERATIONS, 111);
  EXPECT(RUN(f, function, SCALAR(f, I64, 27)), 0, I64, 112);
  set(f, ARRJIT_OPTION_MAX_ITERATIONS, 50);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 27));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, NULL);
  assert_string_equal(o->path, "yield < while body 50");
}

/* ---- donation ---- */

static arrjit_function *doubled(tk_fixture *f, bool twice) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 4), y = twice ? PARAM(g, "y", F64, 4) : x;
  RETURN(g, arrjit_add(g, arrjit_mul(g, x, arrjit_const_like(g, x, 2)), arrjit_sub(g, y, y)));
  return tk_finish(f, g);
}

static void expect_doubled(arrjit_result *result) {
  const double *out = arrjit_array_data(arrjit_result_output(result, 0));
  for (int i = 0; i < 4; i++) assert_true(out[i] == 2 * (i + 1));
}

static void test_a_donated_input_becomes_the_output(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = doubled(f, false);
  set(f, ARRJIT_OPTION_BLOCK_WORK, 0);
  arrjit_array *x = NULL;
  arrjit_type type = TYPE(F64, 4);
  assert_int_equal(arrjit_array_create(f->context, &type, DATA_(F64, 1, 2, 3, 4), &x, NULL), ARRJIT_OK);
  void *data = arrjit_array_data(x);
  arrjit_result *result = run(function, 1, &x, 1, NULL);
  assert_int_equal(arrjit_result_consumed(result), 1);
  assert_ptr_equal(arrjit_array_data(arrjit_result_output(result, 0)), data);
  arrjit_array_release(x); /* the output keeps the memory */
  expect_doubled(result);
  /* in and out many times: still the same memory, and nothing piles up */
  x = arrjit_result_output(result, 0);
  arrjit_array_retain(x);
  arrjit_result_destroy(result);
  int64_t live[2];
  for (int i = 0; i < 2000; i++) {
    result = run(function, 1, &x, 1, NULL);
    arrjit_array_release(x);
    x = arrjit_result_output(result, 0);
    assert_ptr_equal(arrjit_array_data(x), data);
    arrjit_array_retain(x);
    arrjit_result_destroy(result);
    live[i > 10] = atomic_load(&f->alloc.live_bytes);
  }
  assert_int_equal(live[0], live[1]);
  arrjit_array_release(x);
}

/* Donated but not overwritten: the same array twice, a scalar, an input that is not dense, one that a given output
 * lies in. What the host has wrapped is overwritten, but no output. */
static void test_inputs_that_cannot_be_consumed(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = doubled(f, true), *alone = doubled(f, false);
  set(f, ARRJIT_OPTION_BLOCK_WORK, 0);
  arrjit_array *x = ARRAY(f, F64, 1, 2, 3, 4), *both[] = {x, x};
  arrjit_result *result = run(function, 2, both, 3, NULL);
  assert_int_equal(arrjit_result_consumed(result), 0);
  expect_doubled(result);
  assert_memory_equal(arrjit_array_data(x), DATA_(F64, 1, 2, 3, 4), 4 * sizeof(double));
  arrjit_result_destroy(result);

  result = run(alone, 1, &x, 1, &x);
  assert_int_equal(arrjit_result_consumed(result), 0);
  expect_doubled(result);
  arrjit_result_destroy(result);

  double strided[] = {1, 0, 2, 0, 3, 0, 4, 0}, dense[] = {1, 2, 3, 4};
  arrjit_type type = TYPE(F64, 4);
  arrjit_array *wrapped = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, strided, I64S(16), NULL, NULL, &wrapped, NULL), ARRJIT_OK);
  result = run(alone, 1, &wrapped, 1, NULL);
  assert_int_equal(arrjit_result_consumed(result), 0);
  expect_doubled(result);
  arrjit_result_destroy(result);
  arrjit_array_release(wrapped);

  assert_int_equal(arrjit_array_wrap(f->context, &type, dense, NULL, NULL, NULL, &wrapped, NULL), ARRJIT_OK);
  result = run(alone, 1, &wrapped, 1, NULL);
  assert_int_equal(arrjit_result_consumed(result), 1);
  arrjit_array_release(wrapped);
  memset(dense, 0, sizeof dense);
  expect_doubled(result);
  arrjit_result_destroy(result);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_values_inside_a_range_are_no_arrays), TK_TEST(test_carried_arrays_are_updated_in_place),
    TK_TEST(test_what_others_see_is_not_overwritten),  TK_TEST(test_layouts_scalars_and_dtypes_in_one_range),
    TK_TEST(test_warming_up_changes_nothing),          TK_TEST(test_guarded_nodes_run_where_a_lane_needs_them),
    TK_TEST(test_loops_over_scalars_are_counted),      TK_TEST(test_a_donated_input_becomes_the_output),
    TK_TEST(test_inputs_that_cannot_be_consumed),
};

TEST_MAIN(tests, NULL, NULL)
