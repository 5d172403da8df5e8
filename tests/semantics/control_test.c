/* if, switch, while, for and calls: what runs, how often, with which values. */
#include "fixture.h"

/* f(pred, t, u) = if pred { while i < 10 { i + 1 }, t and u untouched } else (t, u): the loop's counter is the arm's
 * own. */
static arrjit_function *loop_in_arm(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value pred = PARAM(g, "pred", BOOL), t = PARAM(g, "t", I64), u = PARAM(g, "u", F32);
  arrjit_value vars[3], looped[3], out[2];
  arrjit_if_begin(g, pred);
  WHILE(g, vars, t, u, arrjit_const_i64(g, 0));
  arrjit_while_body(g, arrjit_lt(g, vars[2], arrjit_const_i64(g, 10)), vars);
  arrjit_while_end(g, LIST(vars[0], vars[1], arrjit_add(g, vars[2], arrjit_const_i64(g, 1))), looped);
  arrjit_if_else(g, 2, looped);
  arrjit_if_end(g, LIST(t, u), out);
  RETURN(g, out[0], out[1]);
  return tk_finish(f, g);
}

static void test_case_b18_while_in_one_arm(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = loop_in_arm(f);
  for (int pred = 0; pred < 2; pred++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, (uint8_t)pred), SCALAR(f, I64, 1), SCALAR(f, F32, 2));
    EXPECT(o, 0, I64, 1);
    EXPECT(o, 1, F32, 2);
  }
}

static void test_case_b18_while_in_arm_captures(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value i = PARAM(g, "i", I64), j = PARAM(g, "j", I64), five = arrjit_const_i64(g, 5),
               one = arrjit_const_i64(g, 1);
  arrjit_value vars[2], looped[2], out[2];
  arrjit_if_begin(g, arrjit_lt(g, i, five));
  WHILE(g, vars, i, j);
  arrjit_while_body(g, arrjit_lt(g, vars[0], five), vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], one), arrjit_add(g, vars[1], one)), looped);
  arrjit_if_else(g, 2, looped);
  arrjit_if_end(g, LIST(i, j), out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 0), SCALAR(f, I64, 0));
  EXPECT(o, 0, I64, 5);
  EXPECT(o, 1, I64, 5);
  o = RUN(f, function, SCALAR(f, I64, 7), SCALAR(f, I64, 1));
  EXPECT(o, 0, I64, 7);
  EXPECT(o, 1, I64, 1);
}

/* (i, n) after: while i < bound (or i <= bound) and n < cap { i += step; n += 1 }, all i32. Extents as constants or
 * not. */
static arrjit_function *trips(tk_fixture *f, bool inclusive, bool constant, int32_t start, int32_t bound,
                              int32_t step) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value from = constant ? arrjit_const_i32(g, start) : PARAM(g, "start", I32);
  arrjit_value to = constant ? arrjit_const_i32(g, bound) : PARAM(g, "bound", I32);
  arrjit_value by = constant ? arrjit_const_i32(g, step) : PARAM(g, "step", I32);
  arrjit_value vars[2], out[2];
  WHILE(g, vars, from, arrjit_const_i32(g, 0));
  arrjit_value below = inclusive ? arrjit_le(g, vars[0], to) : arrjit_lt(g, vars[0], to);
  arrjit_value capped = arrjit_and(g, below, arrjit_lt(g, vars[1], arrjit_const_i32(g, 5)));
  arrjit_while_body(g, capped, vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], by), arrjit_add(g, vars[1], arrjit_const_i32(g, 1))), out);
  RETURN(g, out[0], out[1]);
  return tk_finish(f, g);
}

static void test_case_b19_trip_counts(void **state) {
  tk_fixture *f = *state;
  static const struct {
    bool inclusive;
    int32_t start, bound, step, i, n;
  } rows[] = {
      {false, 0, 1, 2, 2, 1},
      {false, 0, 7, 3, 9, 3},
      {true, 5, 4, 1, 5, 0},
      /* The first step wraps to INT32_MIN, which is below the bound: the loop goes on until the cap. */
      {false, INT32_MAX - 1, INT32_MAX, 2, INT32_MIN + 8, 5},
  };
  for (size_t k = 0; k < TK_COUNT(rows); k++) {
    const tk_outcome *o = RUN(f, trips(f, rows[k].inclusive, true, rows[k].start, rows[k].bound, rows[k].step));
    EXPECT(o, 0, I32, rows[k].i);
    EXPECT(o, 1, I32, rows[k].n);
    o = RUN(f, trips(f, rows[k].inclusive, false, 0, 0, 0), SCALAR(f, I32, rows[k].start),
            SCALAR(f, I32, rows[k].bound), SCALAR(f, I32, rows[k].step));
    EXPECT(o, 0, I32, rows[k].i);
    EXPECT(o, 1, I32, rows[k].n);
  }
}

/* t = 0; s = 0; for i = 1 .. 16 { s = s - (t + i); t = i }: each trip needs the value of the one before. */
static void test_case_b48_recurrence(void **state) {
  tk_fixture *f = *state;
  for (int is_float = 0; is_float < 2; is_float++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value zero = is_float ? arrjit_const_f32(g, 0) : arrjit_const_i32(g, 0), i, vars[2], out[2];
    FOR(g, arrjit_const_i64(g, 1), arrjit_const_i64(g, 17), arrjit_const_i64(g, 1), &i, vars, zero, zero);
    arrjit_value k = arrjit_convert(g, i, is_float ? ARRJIT_F32 : ARRJIT_I32);
    arrjit_for_end(g, LIST(k, arrjit_sub(g, vars[1], arrjit_add(g, vars[0], k))), out);
    RETURN(g, out[0], out[1]);
    const tk_outcome *o = RUN(f, tk_finish(f, g));
    if (is_float) {
      EXPECT(o, 1, F32, -256);
    } else {
      EXPECT(o, 1, I32, -256);
    }
  }
}

static void test_case_b48_partial_sums(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true; /* dynamic_update_slice */
  arrjit_graph *g = tk_graph(f);
  arrjit_value zero = arrjit_const_i32(g, 0), i, vars[3], out[3];
  arrjit_value sums = arrjit_full(g, zero, INTS(16));
  FOR(g, arrjit_const_i64(g, 1), arrjit_const_i64(g, 17), arrjit_const_i64(g, 1), &i, vars, zero, zero, sums);
  arrjit_value k = arrjit_convert(g, i, ARRJIT_I32), s = arrjit_sub(g, vars[1], arrjit_add(g, vars[0], k));
  arrjit_value at = arrjit_sub(g, i, arrjit_const_i64(g, 1)), one = arrjit_reshape(g, s, INTS(1));
  arrjit_for_end(g, LIST(k, s, arrjit_dynamic_update_slice(g, vars[2], one, LIST(at))), out);
  RETURN(g, out[2]);
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT(o, 0, I32, -1, -4, -9, -16, -25, -36, -49, -64, -81, -100, -121, -144, -169, -196, -225, -256);
}

static void test_switch_takes_the_last_case_when_out_of_range(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value index = PARAM(g, "index", I64), out;
  arrjit_switch_begin(g, index);
  arrjit_switch_case(g, LIST(arrjit_const_i32(g, 10)));
  arrjit_switch_case(g, LIST(arrjit_const_i32(g, 11)));
  arrjit_switch_end(g, LIST(arrjit_const_i32(g, 12)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  static const int64_t in[] = {0, 1, 2, 3, -1, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
  static const int32_t want[] = {10, 11, 12, 12, 12, 12, 12, 12};
  for (size_t k = 0; k < TK_COUNT(in); k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, I64, in[k]));
    EXPECT(o, 0, I32, want[k]);
  }
}

/* Sum and count of what a for loop passes; its step is a parameter, or (not 0) a constant. */
static arrjit_function *for_sum(tk_fixture *f, int64_t constant) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value lo = PARAM(g, "lo", I64), hi = PARAM(g, "hi", I64), step = PARAM(g, "step", I64), i, vars[2], out[2];
  if (constant) step = arrjit_const_i64(g, constant);
  arrjit_value zero = arrjit_const_i64(g, 0);
  FOR(g, lo, hi, step, &i, vars, zero, zero);
  arrjit_for_end(g, LIST(arrjit_add(g, vars[0], i), arrjit_add(g, vars[1], arrjit_const_i64(g, 1))), out);
  RETURN(g, out[0], out[1]);
  return tk_finish(f, g);
}

static void test_for_counts_up_and_down(void **state) {
  tk_fixture *f = *state;
  arrjit_function *any = for_sum(f, 0);
  static const struct {
    int64_t lo, hi, step, sum, count;
  } rows[] = {{0, 5, 1, 10, 5},
              {0, 7, 3, 9, 3},
              {5, 5, 1, 0, 0},
              {5, 0, 1, 0, 0},
              {5, 0, -2, 9, 3},
              {0, 5, -1, 0, 0},
              {INT64_MAX - 2, INT64_MAX, 1, -5, 2}, /* the sum wraps */
              {INT64_MIN + 2, INT64_MIN, -1, 3, 2},
              {INT64_MAX, INT64_MIN, 1, 0, 0},
              {INT64_MIN, INT64_MAX, -1, 0, 0},
              {INT64_MAX - 1, INT64_MAX, 2, INT64_MAX - 1, 1},
              {INT64_MIN + 1, INT64_MIN, -5, INT64_MIN + 1, 1}};
  for (size_t k = 0; k < 2 * TK_COUNT(rows); k++) { /* the step given, then known when the loop is compiled */
    size_t row = k / 2;
    arrjit_function *function = k % 2 ? for_sum(f, rows[row].step) : any;
    const tk_outcome *o =
        RUN(f, function, SCALAR(f, I64, rows[row].lo), SCALAR(f, I64, rows[row].hi), SCALAR(f, I64, rows[row].step));
    EXPECT(o, 0, I64, rows[row].sum);
    EXPECT(o, 1, I64, rows[row].count);
  }
}

static void test_for_with_step_zero_fails(void **state) {
  tk_fixture *f = *state;
  const tk_outcome *o = RUN(f, for_sum(f, 0), SCALAR(f, I64, 0), SCALAR(f, I64, 5), SCALAR(f, I64, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 3, NULL);
}

static void test_while_permutes_its_state(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value zero = arrjit_const_i64(g, 0), i, vars[4], out[4];
  FOR(g, zero, arrjit_const_i64(g, 2000), arrjit_const_i64(g, 1), &i, vars, arrjit_const_i64(g, 2),
      arrjit_const_i64(g, 3), arrjit_const_i64(g, 5), zero);
  arrjit_value s = arrjit_add(g, vars[3], arrjit_floor_div(g, arrjit_mul(g, vars[1], vars[2]), vars[0]));
  arrjit_for_end(g, LIST(vars[1], vars[2], vars[0], s), out);
  RETURN(g, out[0], out[1], out[2], out[3]);
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT(o, 0, I64, 5);
  EXPECT(o, 1, I64, 2);
  EXPECT(o, 2, I64, 3);
  EXPECT(o, 3, I64, 7336);
}

static void test_while_carries_arrays(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 3), vars[2], out[2];
  WHILE(g, vars, arrjit_const_i64(g, 0), x);
  arrjit_while_body(g, arrjit_lt(g, vars[0], arrjit_const_i64(g, 3)), vars);
  arrjit_while_end(
      g, LIST(arrjit_add(g, vars[0], arrjit_const_i64(g, 1)), arrjit_mul(g, vars[1], arrjit_const_f64(g, 2))), out);
  RETURN(g, out[1], x);
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F64, 1, 2, 3));
  EXPECT(o, 0, F64, 8, 16, 24);
  EXPECT(o, 1, F64, 1, 2, 3);
}

/* fact(n) = n <= 1 ? 1 : n * fact(n - 1), by a declared signature. */
static void test_recursion_by_declaration(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), m, inner, out, result;
  arrjit_callee fact = arrjit_declare(g, "fact", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, fact, &m);
  arrjit_value one = arrjit_const_i64(g, 1);
  arrjit_if_begin(g, arrjit_le(g, m, one));
  arrjit_if_else(g, 1, &one);
  CALL(g, fact, &inner, arrjit_sub(g, m, one));
  arrjit_if_end(g, LIST(arrjit_mul(g, m, inner)), &out);
  RETURN(g, out);
  CALL(g, fact, &result, n);
  RETURN(g, result);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 10));
  EXPECT(o, 0, I64, 3628800);
  o = RUN(f, function, SCALAR(f, I64, 20));
  EXPECT(o, 0, I64, 2432902008176640000);
}

static void test_recursion_deeper_than_allowed_is_limit(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), m, inner, out, result;
  arrjit_callee down = arrjit_declare(g, "down", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, down, &m);
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1);
  arrjit_if_begin(g, arrjit_le(g, m, zero));
  arrjit_if_else(g, 1, &m);
  CALL(g, down, &inner, arrjit_sub(g, m, one));
  arrjit_if_end(g, LIST(arrjit_add(g, inner, one)), &out);
  RETURN(g, out);
  CALL(g, down, &result, n);
  RETURN(g, result);
  arrjit_function *function = tk_finish(f, g);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_DEPTH, 50, NULL), ARRJIT_OK);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 40));
  EXPECT(o, 0, I64, 40);
  o = RUN(f, function, SCALAR(f, I64, 200));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, NULL);
}

static void test_predicates_are_scalar_bools(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_I32, ARRJIT_F64, ARRJIT_BOOL};
  for (size_t k = 0; k < TK_COUNT(dtypes); k++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_type type = arrjit_type_make(dtypes[k], dtypes[k] == ARRJIT_BOOL, (const int64_t[]){3});
    arrjit_value p = arrjit_param(g, "p", &type), out = NULL;
    arrjit_if_begin(g, p);
    arrjit_if_else(g, LIST(arrjit_const_i32(g, 1)));
    arrjit_if_end(g, LIST(arrjit_const_i32(g, 2)), &out);
    assert_null(out);
    RETURN(g, out);
    arrjit_error error;
    tk_finish_fails(f, g, ARRJIT_TYPE, NULL, &error);
    assert_non_null(strstr(error.file, "control_test.c"));
    assert_string_equal(error.op, "if");
  }
}

/* The comparison to write in place of a number as predicate: taken for 2, -1, NaN; not for 0 and -0. */
static void test_case_f11_ne_zero_as_predicate(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), out;
  arrjit_if_begin(g, arrjit_ne(g, x, arrjit_const_f64(g, 0)));
  arrjit_if_else(g, LIST(arrjit_const_i32(g, 1)));
  arrjit_if_end(g, LIST(arrjit_const_i32(g, 2)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  const double taken[] = {2, -1, NAN}, skipped[] = {0, -0.0};
  for (size_t k = 0; k < TK_COUNT(taken); k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, F64, taken[k]));
    EXPECT(o, 0, I32, 1);
  }
  for (size_t k = 0; k < TK_COUNT(skipped); k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, F64, skipped[k]));
    EXPECT(o, 0, I32, 2);
  }
}

static void test_endless_loop_ends_at_max_iterations(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value vars[1], out[1];
  WHILE(g, vars, arrjit_const_f64(g, 0));
  arrjit_while_body(g, arrjit_const_bool(g, 1), vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], arrjit_const_f64(g, 1))), out);
  RETURN(g, out[0]);
  arrjit_function *function = tk_finish(f, g);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_ITERATIONS, 1000, NULL), ARRJIT_OK);
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_LIMIT, 0, NULL);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b18_while_in_one_arm),
    TK_TEST(test_case_b18_while_in_arm_captures),
    TK_TEST(test_case_b19_trip_counts),
    TK_TEST(test_case_b48_recurrence),
    TK_TEST(test_case_b48_partial_sums),
    TK_TEST(test_switch_takes_the_last_case_when_out_of_range),
    TK_TEST(test_for_counts_up_and_down),
    TK_TEST(test_for_with_step_zero_fails),
    TK_TEST(test_while_permutes_its_state),
    TK_TEST(test_while_carries_arrays),
    TK_TEST(test_recursion_by_declaration),
    TK_TEST(test_recursion_deeper_than_allowed_is_limit),
    TK_TEST(test_predicates_are_scalar_bools),
    TK_TEST(test_case_f11_ne_zero_as_predicate),
    TK_TEST(test_endless_loop_ends_at_max_iterations),
};

TEST_MAIN(tests, NULL, NULL)
