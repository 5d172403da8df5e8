/* raise and check: who fails, with what, and what does not run. */
#include "fixture.h"

/* if p { raise "runtime check failed" } else { v... } with results of v's types. */
static arrjit_function *raise_or(tk_fixture *f, size_t count, const arrjit_type *types) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), v[8], out[8];
  for (size_t i = 0; i < count; i++) v[i] = arrjit_param(g, "", &types[i]);
  arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "runtime check failed", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, count, v, out);
  arrjit_return(g, count, out, NULL);
  return tk_finish(f, g);
}

static void test_case_f01_arm_that_is_not_taken_does_not_raise(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = raise_or(f, 1, (const arrjit_type[]){TYPE(I32, 2)});
  const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, 0), ARRAY(f, I32, 1, 2));
  EXPECT(o, 0, I32, 1, 2);
  EXPECT_SHAPE(o, 0, 2);
  assert_string_equal(o->log, "");
}

static void test_case_f02_arm_that_is_taken_raises(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = raise_or(f, 1, (const arrjit_type[]){TYPE(I32, 2)});
  const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, 1), ARRAY(f, I32, 1, 2));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "runtime check failed");
  assert_string_equal(o->kind_name, "runtime");
  assert_string_equal(o->path, "raise < if then");
  assert_int_equal(o->output_count, 0);
}

static void test_case_f03_kind_code_and_payload_are_kept(void **state) {
  tk_fixture *f = *state;
  arrjit_kind mine;
  assert_int_equal(arrjit_context_add_kind(f->context, "mine.preserved", ARRJIT_KIND_ERROR, "i64[0]", &mine, NULL),
                   ARRJIT_OK);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64);
  RAISE(g, mine, -42, "value {0}", x);
  RETURN(g);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 7));
  EXPECT_FAILURE(o, mine, -42, "value 7");
  EXPECT_PAYLOAD(o, 0, I64, 7);
  assert_string_equal(o->kind_name, "mine.preserved");
}

static void test_case_f04_results_keep_their_types(void **state) {
  tk_fixture *f = *state;
  const arrjit_type types[] = {TYPE(U8, 2), TYPE(U64), TYPE(F64, 1, 2)};
  const tk_outcome *o = RUN(f, raise_or(f, 3, types), SCALAR(f, BOOL, 0), ARRAY(f, U8, 1, 255),
                            SCALAR(f, U64, UINT64_MAX), SHAPED(f, TYPE(F64, 1, 2), F64, 0.5, -0.0));
  EXPECT(o, 0, U8, 1, 255);
  EXPECT(o, 1, U64, UINT64_MAX);
  EXPECT(o, 2, F64, 0.5, -0.0);
  EXPECT_SHAPE(o, 2, 1, 2);
}

static void test_case_f05_several_results_pass_through(void **state) {
  tk_fixture *f = *state;
  const arrjit_type types[] = {TYPE(I32, 2), TYPE(F32)};
  arrjit_function *function = raise_or(f, 2, types);
  const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, 0), ARRAY(f, I32, 1, 2), SCALAR(f, F32, 3));
  EXPECT(o, 0, I32, 1, 2);
  EXPECT(o, 1, F32, 3);
  o = RUN(f, function, SCALAR(f, BOOL, 1), ARRAY(f, I32, 1, 2), SCALAR(f, F32, 3));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "runtime check failed");
}

static void test_case_f06_nothing_runs_after_a_raise(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), out, ignored;
  arrjit_slot slot = arrjit_slot_io(g, "after", TYPES(TYPE(BOOL)), 0);
  arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "stop", 0, NULL);
  CALLBACK(g, slot, &ignored, p);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, LIST(arrjit_const_i32(g, 1)), &out);
  RETURN(g, out);
  tk_bind(f, "after", NULL, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, BOOL, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "stop");
  assert_string_equal(o->log, "");
}

static void test_case_f07_both_arms_raise(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL);
  arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "then arm", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_runtime_raise(g, "else arm", 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, BOOL, 1)), ARRJIT_KIND_RUNTIME, 0, "then arm");
  const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "else arm");
  assert_string_equal(o->path, "raise < if else");
}

static void test_case_f08_constant_predicates(void **state) {
  tk_fixture *f = *state;
  for (int pred = 0; pred < 2; pred++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value v = PARAM(g, "v", I32), out;
    arrjit_if_begin(g, arrjit_const_bool(g, pred));
    arrjit_runtime_raise(g, "constant", 0, NULL);
    arrjit_if_else(g, 0, NULL);
    arrjit_if_end(g, 1, &v, &out);
    RETURN(g, out);
    arrjit_function *function = tk_finish(f, g);
    const tk_outcome *o = RUN(f, function, SCALAR(f, I32, 4));
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(arrjit_function_print(function, ARRJIT_PRINT_OPT, &text, &bytes, NULL), ARRJIT_OK);
    bool raises = strstr(text, "\"constant\"") != NULL; /* the message */
    arrjit_text_free(f->context, text, bytes);
    assert_int_equal(raises, pred);
    if (pred) {
      EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "constant");
    } else {
      EXPECT(o, 0, I32, 4);
    }
  }
}

static void test_case_f09_shapes_that_do_not_fit_are_build_errors(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), y = PARAM(g, "y", F32, 4);
  arrjit_value sum = arrjit_add(g, x, y);
  int line = __LINE__ - 1;
  assert_null(sum);
  arrjit_value more = arrjit_mul(g, sum, x); /* passes the null value on */
  assert_null(more);
  RETURN(g, more);
  arrjit_error error;
  tk_finish_fails(f, g, ARRJIT_TYPE, "3", &error);
  assert_int_equal(error.line, line);
  assert_string_equal(error.op, "add");
  assert_non_null(strstr(error.file, "raise_test.c"));
}

static void test_case_f10_raise_without_a_result_still_raises(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F64);
  arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "nobody looks", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  RETURN(g, x);
  arrjit_function *function = tk_finish(f, g);
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, BOOL, 1), SCALAR(f, F64, 1)), ARRJIT_KIND_RUNTIME, 0, "nobody looks");
  EXPECT(RUN(f, function, SCALAR(f, BOOL, 0), SCALAR(f, F64, 1)), 0, F64, 1);
}

/* while x < 10 { if x == n { raise(i) }; x + 1; count + 1 } */
static arrjit_function *halt_on_nth(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), n = PARAM(g, "n", I64), vars[2], out[2];
  WHILE(g, vars, x, x);
  arrjit_while_body(g, arrjit_lt(g, vars[0], arrjit_const_i64(g, 10)), vars);
  arrjit_if_begin(g, arrjit_eq(g, vars[0], n));
  RAISE(g, ARRJIT_KIND_RUNTIME, 1, "stopped at {0}", vars[0]);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_value one = arrjit_const_i64(g, 1);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], one), arrjit_add(g, vars[1], one)), out);
  RETURN(g, out[0], out[1]);
  return tk_finish(f, g);
}

static void test_case_f14_raise_tells_the_iteration(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = halt_on_nth(f);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 0), SCALAR(f, I64, 11));
  EXPECT(o, 0, I64, 10);
  EXPECT(o, 1, I64, 10);
  o = RUN(f, function, SCALAR(f, I64, 0), SCALAR(f, I64, 5));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "stopped at 5");
  EXPECT_PAYLOAD(o, 0, I64, 5);
  assert_string_equal(o->path, "raise < if then < while body 5");
}

static void test_case_f15_nested_loops_tell_both_iterations(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, j;
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 4), one, 0, NULL, &i, NULL);
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 3), one, 0, NULL, &j, NULL);
  arrjit_value here = arrjit_and(g, arrjit_eq(g, i, arrjit_const_i64(g, 2)), arrjit_eq(g, j, one));
  arrjit_if_begin(g, here);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, NULL, i, j);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g);
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, NULL);
  assert_string_equal(o->path, "raise < if then < for body 1 < for body 2");
  EXPECT_PAYLOAD(o, 0, I64, 2);
  EXPECT_PAYLOAD(o, 1, I64, 1);
}

static void test_case_f16_zero_trips_and_raising_conditions(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), n = PARAM(g, "n", I64), vars[1], out[1];
  WHILE(g, vars, x);
  arrjit_if_begin(g, arrjit_gt(g, vars[0], n));
  arrjit_runtime_raise(g, "in the condition", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_while_body(g, arrjit_lt(g, vars[0], arrjit_const_i64(g, 10)), vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], arrjit_const_i64(g, 1))), out);
  RETURN(g, out[0]);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 10), SCALAR(f, I64, 20)), 0, I64, 10);
  EXPECT(RUN(f, function, SCALAR(f, I64, 0), SCALAR(f, I64, 10)), 0, I64, 10);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 0), SCALAR(f, I64, 3));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "in the condition");
  assert_string_equal(o->path, "raise < if then < while cond 4");
}

static void test_case_f16_zero_trips_with_a_raise_in_the_body(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), vars[1], out[1];
  WHILE(g, vars, x);
  arrjit_while_body(g, arrjit_lt(g, vars[0], arrjit_const_i64(g, 0)), vars);
  arrjit_runtime_raise(g, "in the body", 0, NULL);
  arrjit_while_end(g, 0, NULL, out);
  RETURN(g, out[0]);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 3)), 0, I64, 3);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, -3));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "in the body");
  assert_string_equal(o->path, "raise < while body 0");
}

static void test_case_f17_checks_keep_their_order_with_callbacks(void **state) {
  tk_fixture *f = *state;
  for (int swapped = 0; swapped < 2; swapped++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F64), a, b, c;
    arrjit_slot slot_a = arrjit_slot_io(g, "a", TYPES(TYPE(F64)), 0),
                slot_b = arrjit_slot_io(g, "b", TYPES(TYPE(F64)), 0);
    if (!swapped) CALLBACK(g, slot_a, &a, x);
    CHECK(g, arrjit_gt(g, x, arrjit_const_f64(g, 0)), ARRJIT_KIND_RUNTIME, 9, "not above 0: {0}", LIST(x), &c, x);
    CALLBACK(g, slot_b, &b, x);
    if (swapped) CALLBACK(g, slot_a, &a, x);
    RETURN(g, b, c);
    tk_bind(f, "a", NULL, NULL);
    tk_bind(f, "b", NULL, NULL);
    const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, -1));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 9, "not above 0: -1");
    assert_string_equal(o->log, swapped ? "" : "a f64[]=000000000000f0bf\n");
    assert_string_equal(o->path, "check");
  }
}

static void test_case_f18_the_dynamically_first_check_wins(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value zero = arrjit_const_i64(g, 0), i;
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 100), arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
  CHECK(g, arrjit_lt(g, i, arrjit_const_i64(g, 60)), ARRJIT_KIND_RUNTIME, 1, NULL, NONE, NULL);
  CHECK(g, arrjit_lt(g, i, arrjit_const_i64(g, 50)), ARRJIT_KIND_RUNTIME, 2, NULL, NONE, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  for (int k = 0; k < 50; k++) {
    const tk_outcome *o = RUN(f, function);
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 2, NULL);
    assert_string_equal(o->path, "check < for body 50");
  }
}

static void test_case_f19_invariant_checks_stay_in_their_loop(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), p = PARAM(g, "p", BOOL), zero = arrjit_const_i64(g, 0), i;
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, n, arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
  CHECK(g, p, ARRJIT_KIND_RUNTIME, 0, "invariant", NONE, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g, n);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 0), SCALAR(f, BOOL, 0)), 0, I64, 0);
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 1), SCALAR(f, BOOL, 0)), ARRJIT_KIND_RUNTIME, 0, "invariant");
}

static void test_case_f20_checked_index_names_the_lowest_position(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 10), at = PARAM(g, "at", I64, 6);
  RETURN(g, arrjit_checked_index(g, x, at, 0));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *data = ARRAY(f, F32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  EXPECT(RUN(f, function, data, ARRAY(f, I64, 9, 0, 5, 5, 1, 2)), 0, F32, 9, 0, 5, 5, 1, 2);
  const tk_outcome *o = RUN(f, function, data, ARRAY(f, I64, 1, 2, -3, 10, 99, 0));
  assert_int_equal(o->kind, ARRJIT_KIND_INDEX);
  EXPECT_PAYLOAD(o, 0, I64, 2);
  EXPECT_PAYLOAD(o, 1, I64, -3);
  EXPECT_PAYLOAD(o, 2, I64, 0);
  EXPECT_PAYLOAD(o, 3, I64, 10);
}

static void test_check_of_an_array_adds_the_lane(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 2, 40), limit = PARAM(g, "limit", F32), out;
  CHECK(g, arrjit_lt(g, x, limit), ARRJIT_KIND_RUNTIME, 3, "limit {0} at {1}", LIST(limit), &out, x);
  RETURN(g, arrjit_add(g, out, out));
  arrjit_function *function = tk_finish(f, g);
  float data[80] = {0};
  data[41] = 5, data[77] = 9;
  const tk_outcome *o = RUN(f, function, tk_array(f, TYPE(F32, 2, 40), data), SCALAR(f, F32, 4));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "limit 4 at 41");
  EXPECT_PAYLOAD(o, 0, F32, 4);
  EXPECT_PAYLOAD(o, 1, I64, 41);
  o = RUN(f, function, tk_array(f, TYPE(F32, 2, 40), data), SCALAR(f, F32, 10));
  EXPECT_OK(o);
}

/* Among fused checks the failure is the least by (build order, lane). */
static void test_the_first_built_check_wins_over_lower_lanes(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 3000), a, b;
  CHECK(g, arrjit_ne(g, x, arrjit_const_i32(g, 2990)), ARRJIT_KIND_RUNTIME, 1, NULL, NONE, &a, x);
  arrjit_value y = arrjit_checked_div(g, arrjit_const_i32(g, 100), arrjit_sub(g, a, arrjit_const_i32(g, 7)));
  CHECK(g, arrjit_ne(g, y, arrjit_const_i32(g, 100)), ARRJIT_KIND_RUNTIME, 2, NULL, NONE, &b, y);
  RETURN(g, b);
  arrjit_function *function = tk_finish(f, g);
  int32_t *data = tk_new(3000, sizeof *data);
  for (int i = 0; i < 3000; i++) data[i] = i;
  const tk_outcome *o = RUN(f, function, tk_array(f, TYPE(I32, 3000), data));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 2990);
  data[2990] = 0;
  o = RUN(f, function, tk_array(f, TYPE(I32, 3000), data));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 1, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 7);
  EXPECT_PAYLOAD(o, 1, I32, 100);
  EXPECT_PAYLOAD(o, 2, I32, 0);
  data[7] = 0;
  o = RUN(f, function, tk_array(f, TYPE(I32, 3000), data));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 2, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 8);
  free(data);
}

static void test_checked_ops_raise_arith(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I8, 5), y = PARAM(g, "y", I8, 5);
  RETURN(g, arrjit_checked_add(g, x, y));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *a = ARRAY(f, I8, 1, 2, 100, 100, 0);
  EXPECT(RUN(f, function, a, ARRAY(f, I8, 1, 2, 27, -100, 0)), 0, I8, 2, 4, 127, 0, 0);
  const tk_outcome *o = RUN(f, function, a, ARRAY(f, I8, 1, 2, 28, 100, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 2);
  EXPECT_PAYLOAD(o, 1, I8, 100);
  EXPECT_PAYLOAD(o, 2, I8, 28);
  assert_string_equal(o->path, "checked_add");
}

static void test_unused_checked_op_still_raises(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32), y = PARAM(g, "y", I32);
  arrjit_value unused = arrjit_checked_div(g, x, y);
  assert_non_null(unused);
  RETURN(g, x);
  EXPECT_FAILURE(RUN(f, tk_finish(f, g), SCALAR(f, I32, 1), SCALAR(f, I32, 0)), ARRJIT_KIND_ARITH, 1, NULL);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f01_arm_that_is_not_taken_does_not_raise),
    TK_TEST(test_case_f02_arm_that_is_taken_raises),
    TK_TEST(test_case_f03_kind_code_and_payload_are_kept),
    TK_TEST(test_case_f04_results_keep_their_types),
    TK_TEST(test_case_f05_several_results_pass_through),
    TK_TEST(test_case_f06_nothing_runs_after_a_raise),
    TK_TEST(test_case_f07_both_arms_raise),
    TK_TEST(test_case_f08_constant_predicates),
    TK_TEST(test_case_f09_shapes_that_do_not_fit_are_build_errors),
    TK_TEST(test_case_f10_raise_without_a_result_still_raises),
    TK_TEST(test_case_f14_raise_tells_the_iteration),
    TK_TEST(test_case_f15_nested_loops_tell_both_iterations),
    TK_TEST(test_case_f16_zero_trips_and_raising_conditions),
    TK_TEST(test_case_f16_zero_trips_with_a_raise_in_the_body),
    TK_TEST(test_case_f17_checks_keep_their_order_with_callbacks),
    TK_TEST(test_case_f18_the_dynamically_first_check_wins),
    TK_TEST(test_case_f19_invariant_checks_stay_in_their_loop),
    TK_TEST(test_case_f20_checked_index_names_the_lowest_position),
    TK_TEST(test_check_of_an_array_adds_the_lane),
    TK_TEST(test_the_first_built_check_wins_over_lower_lanes),
    TK_TEST(test_checked_ops_raise_arith),
    TK_TEST(test_unused_checked_op_still_raises),
};

TEST_MAIN(tests, NULL, NULL)
