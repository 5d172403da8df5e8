/* map: a region for every lane, on scalars, with control flow of its own and failures, the lowest lane's first. */
#include "fixture.h"

static arrjit_value i64(arrjit_graph *g, int64_t x) { return arrjit_const_i64(g, x); }
static arrjit_value f64(arrjit_graph *g, double x) { return arrjit_const_f64(g, x); }

/* Lengths around those of vectors, and none at all. */
static const int64_t lengths[] = {0, 1, 7, 33, 1000};

static arrjit_array *ramp(tk_fixture *f, int64_t n, double from, double by) {
  arrjit_array *array = tk_array(f, TYPE(F64, n), NULL);
  for (int64_t i = 0; i < n; i++) ((double *)arrjit_array_data(array))[i] = from + by * (double)i;
  return array;
}

static arrjit_value symbolic(arrjit_graph *g, const char *name, arrjit_dtype dtype) {
  const int64_t dims[] = {arrjit_symbol(g, "n")};
  const arrjit_type type = arrjit_type_make(dtype, 1, dims);
  return arrjit_param(g, name, &type);
}

/* ---- loops of as many turns as each lane needs ---- */

static void test_mandelbrot(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  const int64_t n = arrjit_symbol(g, "n");
  arrjit_type row = arrjit_type_make(ARRJIT_F32, 1, &n), column = arrjit_type_make(ARRJIT_F32, 2, (int64_t[]){n, 1});
  arrjit_value c[2], v[3], out[3], count;
  arrjit_map_begin(g, LIST(arrjit_param(g, "x", &row), arrjit_param(g, "y", &column)), c);
  arrjit_value zero = arrjit_const_f32(g, 0);
  WHILE(g, v, zero, zero, arrjit_const_i32(g, 0));
  arrjit_value a2 = arrjit_mul(g, v[0], v[0]), b2 = arrjit_mul(g, v[1], v[1]);
  arrjit_value near = arrjit_le(g, arrjit_add(g, a2, b2), arrjit_const_f32(g, 4));
  arrjit_while_body(g, arrjit_and(g, near, arrjit_lt(g, v[2], arrjit_const_i32(g, 50))), v);
  a2 = arrjit_mul(g, v[0], v[0]), b2 = arrjit_mul(g, v[1], v[1]);
  arrjit_value ab = arrjit_mul(g, arrjit_add(g, v[0], v[0]), v[1]);
  arrjit_while_end(g,
                   LIST(arrjit_add(g, arrjit_sub(g, a2, b2), c[0]), arrjit_add(g, ab, c[1]),
                        arrjit_add(g, v[2], arrjit_const_i32(g, 1))),
                   out);
  arrjit_map_end(g, 1, &out[2], &count);
  RETURN(g, count);
  arrjit_function *function = tk_finish(f, g);
  static const int64_t sides[] = {0, 1, 3, 17, 40};
  for (size_t s = 0; s < TK_COUNT(sides); s++) {
    int64_t side = sides[s];
    arrjit_array *x = tk_array(f, TYPE(F32, side), NULL), *y = tk_array(f, TYPE(F32, side, 1), NULL);
    int32_t want[40 * 40];
    for (int64_t i = 0; i < side; i++) {
      ((float *)arrjit_array_data(x))[i] = -2 + 2.5f * (float)i / (float)side;
      ((float *)arrjit_array_data(y))[i] = -1 + 2.0f * (float)i / (float)side;
    }
    for (int64_t i = 0; i < side * side; i++) {
      float cx = ((float *)arrjit_array_data(x))[i % side], cy = ((float *)arrjit_array_data(y))[i / side];
      float a = 0, b = 0;
      for (want[i] = 0; a * a + b * b <= 4 && want[i] < 50; want[i]++) {
        float next = (a * a - b * b) + cx;
        b = (a + a) * b + cy;
        a = next;
      }
    }
    tk_expect(RUN(f, function, x, y), 0, ARRJIT_I32, (size_t)(side * side), want, __FILE__, __LINE__);
  }
}

/* Newton's method for the square root of a; after `most` steps it raises with a and the steps. `caught`: inside the
 * lane, where -1 stands for the root. */
static arrjit_function *newton(tk_fixture *f, bool caught, bool looks) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value a, v[2], loop[2], root, exn, got, out, most;
  arrjit_value x = symbolic(g, "x", ARRJIT_F64);
  most = PARAM(g, "most", I64);
  arrjit_map_begin(g, 1, &x, &a);
  if (caught) arrjit_try_begin(g);
  WHILE(g, v, a, i64(g, 0));
  arrjit_value error = arrjit_abs(g, arrjit_sub(g, arrjit_mul(g, v[0], v[0]), a));
  arrjit_while_body(g, arrjit_gt(g, error, f64(g, 1e-9)), v);
  arrjit_if_begin(g, arrjit_ge(g, v[1], most));
  RAISE(g, ARRJIT_KIND_RUNTIME, 4, "{0}: no root after {1} steps", a, v[1]);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_value next = arrjit_mul(g, f64(g, 0.5), arrjit_add(g, v[0], arrjit_div(g, a, v[0])));
  arrjit_while_end(g, LIST(next, arrjit_add(g, v[1], i64(g, 1))), loop);
  root = loop[0];
  if (caught) {
    arrjit_type field = TYPE(F64);
    arrjit_try_handler(g, 1, &root, ARRJIT_KIND_RUNTIME, &exn);
    got = looks ? arrjit_exn_field(g, exn, 0, &field, NULL) : f64(g, -1);
    arrjit_try_end(g, 1, &got, &root);
  }
  arrjit_map_end(g, 1, &root, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_newton_raises_for_the_lowest_lane(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = newton(f, false, false);
  arrjit_array *most = SCALAR(f, I64, 40);
  for (size_t k = 0; k < TK_COUNT(lengths); k++) {
    const tk_outcome *o = RUN(f, function, ramp(f, lengths[k], 1, 3), most);
    EXPECT_OK(o);
    const double *root = (const void *)o->outputs[0].data;
    for (int64_t i = 0; i < lengths[k]; i++) assert_true(fabs(root[i] * root[i] - (1 + 3 * (double)i)) <= 1e-9);
  }
  for (int64_t bad = 0; bad < 33; bad += 4) {
    arrjit_array *x = ramp(f, 33, 1, 1);
    double *data = arrjit_array_data(x);
    for (int64_t i = bad; i < 33; i += 5) data[i] = -1 - (double)i;
    const tk_outcome *o = RUN(f, function, x, most);
    char message[64];
    snprintf(message, sizeof message, "%g: no root after 40 steps", data[bad]);
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 4, message);
    EXPECT_PAYLOAD(o, 0, F64, data[bad]);
    EXPECT_PAYLOAD(o, 1, I64, 40);
    snprintf(message, sizeof message, "raise < if then < while body 40 < map lane %d", (int)bad);
    assert_string_equal(o->path, message);
  }
}

static void test_newton_with_a_value_for_what_does_not_converge(void **state) {
  tk_fixture *f = *state;
  for (int looks = 0; looks < 2; looks++) {
    arrjit_function *function = newton(f, true, looks);
    for (size_t k = 0; k < TK_COUNT(lengths); k++) {
      arrjit_array *x = ramp(f, lengths[k], -3, 1.5);
      const tk_outcome *o = RUN(f, function, x, SCALAR(f, I64, 30));
      EXPECT_OK(o);
      const double *root = (const void *)o->outputs[0].data, *from = arrjit_array_data(x);
      for (int64_t i = 0; i < lengths[k]; i++)
        assert_true(from[i] < 0 ? root[i] == (looks ? from[i] : -1) : fabs(root[i] * root[i] - from[i]) <= 1e-9);
    }
  }
}

/* A half-written array never gets out: the error does, of the lowest lane. */
static void test_case_b07_the_lowest_bad_element_fails_the_map(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), a, area, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_if_begin(g, arrjit_le(g, a, f64(g, 0)));
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "must be positive", a);
  arrjit_if_else(g, 0, NULL);
  arrjit_value half = arrjit_div(g, a, f64(g, 2));
  arrjit_if_end(g, LIST(arrjit_mul(g, f64(g, 3.25), arrjit_mul(g, half, half))), &area);
  arrjit_map_end(g, 1, &area, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, 0.1, -4.0));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "must be positive");
  EXPECT_PAYLOAD(o, 0, F64, -4);
  assert_int_equal(o->output_count, 0);
  enum { N = 100000 };
  static const int64_t bad[] = {0, 49999, N - 1};
  for (size_t k = 0; k < TK_COUNT(bad); k++) {
    arrjit_array *array = ramp(f, N, 1, 1);
    double *data = arrjit_array_data(array);
    data[bad[k]] = -2;
    if (bad[k] < N - 1) data[N - 1] = -3;
    arrjit_run_options options = {.struct_bytes = sizeof options,
                                  .mode = tk_native() ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_run(function, &options, 1, &array, &result, NULL), ARRJIT_OK);
    assert_false(arrjit_result_ok(result));
    arrjit_trace_entry entry;
    assert_int_equal(arrjit_result_trace(result, 2, &entry), ARRJIT_OK);
    assert_string_equal(entry.op, "map");
    assert_string_equal(entry.arm, "lane");
    assert_int_equal(entry.iteration, bad[k]);
    arrjit_result_destroy(result);
  }
}

/* The loop of the arm that a lane does not take would not end for it. */
static void test_case_b13_only_the_arm_that_is_taken_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), a, y, up, down, arm, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_if_begin(g, arrjit_ge(g, a, f64(g, 0)));
  WHILE(g, &y, a);
  arrjit_while_body(g, arrjit_or(g, arrjit_le(g, y, f64(g, 0)), arrjit_gt(g, y, f64(g, 1e-6))), &y);
  arrjit_while_end(g, LIST(arrjit_mul(g, f64(g, 0.1), y)), &up);
  arrjit_if_else(g, 1, &up);
  WHILE(g, &y, a);
  arrjit_while_body(g, arrjit_lt(g, y, f64(g, -1e-6)), &y);
  arrjit_while_end(g, LIST(arrjit_mul(g, f64(g, 0.1), y)), &down);
  arrjit_if_end(g, 1, &down, &arm);
  arrjit_map_end(g, 1, &arm, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, -1, 1));
  EXPECT_OK(o);
  const double *got = (const void *)o->outputs[0].data;
  assert_true(got[0] >= -1e-6 && got[0] < 0 && got[1] > 0 && got[1] <= 1e-6);
  EXPECT_OK(RUN(f, function, ARRAY(f, F64, 1, -1, 3, -2, 5e3, -1e9, 1e-9, -1e-9, 7)));
}

/* ---- arms, guards, nests ---- */

static void test_guarded_division(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I32), y = symbolic(g, "y", ARRJIT_I32), v[2], q[2], out[2];
  arrjit_map_begin(g, LIST(x, y), v);
  arrjit_if_begin(g, arrjit_ne(g, v[1], arrjit_const_i32(g, 0)));
  q[0] = arrjit_checked_div(g, v[0], v[1]);
  arrjit_if_else(g, LIST(q[0], arrjit_checked_rem(g, v[0], v[1])));
  arrjit_if_end(g, LIST(arrjit_const_i32(g, 0), v[0]), q);
  arrjit_map_end(g, 2, q, out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, I32, 7, -7, 5, 9, 1), ARRAY(f, I32, 2, 2, 0, -3, 0));
  EXPECT(o, 0, I32, 3, -3, 0, -3, 0);
  EXPECT(o, 1, I32, 1, -1, 5, 0, 1);
  o = RUN(f, function, ARRAY(f, I32, 7, 6, INT32_MIN, INT32_MIN), ARRAY(f, I32, 2, 0, -1, -1));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 0); /* the op is on scalars; the trace has the lane */
  EXPECT_PAYLOAD(o, 1, I32, INT32_MIN);
  assert_string_equal(o->path, "checked_div < if then < map lane 2");
}

/* Two loops, one in the other, both of as many turns as the lane says, and a switch. */
static void test_nested_loops_and_switch(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I64), a, i, j, sum, inner, total, picked, out[2];
  arrjit_map_begin(g, 1, &x, &a);
  FOR(g, i64(g, 0), a, i64(g, 1), &i, &sum, i64(g, 0));
  FOR(g, i, a, arrjit_add(g, i64(g, 1), arrjit_and(g, a, i64(g, 1))), &j, &inner, sum);
  arrjit_for_end(g, LIST(arrjit_add(g, inner, arrjit_mul(g, i, j))), &total);
  arrjit_for_end(g, 1, &total, &sum);
  arrjit_switch_begin(g, arrjit_mod(g, a, i64(g, 4)));
  arrjit_switch_case(g, LIST(i64(g, 10)));
  arrjit_switch_case(g, 1, &sum);
  arrjit_value shifted = arrjit_add(g, sum, i64(g, 1000));
  arrjit_switch_end(g, 1, &shifted, &picked);
  arrjit_map_end(g, LIST(sum, picked), out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  for (size_t k = 0; k < TK_COUNT(lengths) - 1; k++) {
    int64_t n = lengths[k], sums[33], picks[33];
    arrjit_array *array = tk_array(f, TYPE(I64, n), NULL);
    for (int64_t l = 0; l < n; l++) {
      ((int64_t *)arrjit_array_data(array))[l] = l % 9 - 1;
      sums[l] = 0;
      for (int64_t p = 0; p < l % 9 - 1; p++)
        for (int64_t q = p; q < l % 9 - 1; q += 1 + ((l % 9 - 1) & 1)) sums[l] += p * q;
      int64_t which = ((l % 9 - 1) % 4 + 4) % 4;
      picks[l] = which == 0 ? 10 : which == 1 ? sums[l] : sums[l] + 1000;
    }
    const tk_outcome *o = RUN(f, function, array);
    tk_expect(o, 0, ARRJIT_I64, (size_t)n, sums, __FILE__, __LINE__);
    tk_expect(o, 1, ARRJIT_I64, (size_t)n, picks, __FILE__, __LINE__);
  }
}

/* A counter that would overflow is past any bound, in each lane; a step of 0 fails in the lowest. */
static void test_counters_at_the_ends_of_i64(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value lo = symbolic(g, "lo", ARRJIT_I64), step = symbolic(g, "step", ARRJIT_I64), v[2], i, n, count, out;
  arrjit_map_begin(g, LIST(lo, step), v);
  FOR(g, v[0], i64(g, INT64_MAX), v[1], &i, &n, i64(g, 0));
  arrjit_for_end(g, LIST(arrjit_add(g, n, i64(g, 1))), &count);
  arrjit_map_end(g, 1, &count, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o =
      RUN(f, function, ARRAY(f, I64, INT64_MAX - 5, INT64_MAX - 5, INT64_MAX, 0), ARRAY(f, I64, 1, 4, 3, INT64_MAX));
  EXPECT(o, 0, I64, 5, 2, 0, 1);
  o = RUN(f, function, ARRAY(f, I64, INT64_MAX - 5, 3, 4), ARRAY(f, I64, 1, 0, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 3, NULL);
  EXPECT_PAYLOAD(o, 1, I64, 3);
  assert_string_equal(o->path, "for < map lane 1");
}

static void test_tries_in_tries(void **state) {
  tk_fixture *f = *state;
  arrjit_kind above, below;
  assert_int_equal(arrjit_context_add_kind(f->context, "above", ARRJIT_KIND_ERROR, "...", &above, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_context_add_kind(f->context, "above.below", above, "...", &below, NULL), ARRJIT_OK);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I64), a, inner, outer, exn, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_try_begin(g);
  arrjit_try_begin(g);
  arrjit_switch_begin(g, a);
  RAISE(g, above, 0, NULL, a);
  arrjit_switch_case(g, 0, NULL);
  RAISE(g, below, 0, NULL, a);
  arrjit_switch_case(g, 0, NULL);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, NULL, a);
  arrjit_switch_case(g, 0, NULL);
  arrjit_switch_end(g, 1, &a, &inner);
  arrjit_try_handler(g, LIST(arrjit_mul(g, inner, i64(g, 2))), below, &exn);
  arrjit_if_begin(g, arrjit_eq(g, a, i64(g, 1))); /* raised while it handles */
  RAISE(g, above, 0, NULL, a);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_end(g, LIST(i64(g, -7)), &inner);
  arrjit_try_handler(g, LIST(arrjit_add(g, inner, i64(g, 100))), above, &exn);
  arrjit_try_end(g, LIST(arrjit_neg(g, a)), &outer);
  arrjit_map_end(g, 1, &outer, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, ARRAY(f, I64, 0, 1, 3, 0, 9, 1, 4, 5, 6, 7, 0)), 0, I64, 0, -1, 106, 0, 118, -1, 108, 110,
         112, 114, 0);
  const tk_outcome *o = RUN(f, function, ARRAY(f, I64, 0, 5, 1, 2, 2));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 2);
  assert_string_equal(o->path, "raise < switch case 2 < try body < try body < map lane 3");
}

/* Lanes that are caught in the middle of a loop stay away from the rest of it. */
static void test_caught_in_a_loop_goes_on_behind_it(void **state) {
  tk_fixture *f = *state;
  for (int finally = 0; finally < 2; finally++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = symbolic(g, "x", ARRJIT_I64), a, v[2], loop[2], exn, done, out;
    arrjit_map_begin(g, 1, &x, &a);
    arrjit_try_begin(g);
    WHILE(g, v, i64(g, 0), i64(g, 0));
    arrjit_while_body(g, arrjit_lt(g, v[0], i64(g, 6)), v);
    arrjit_value good = arrjit_ne(g, v[0], a), checked;
    CHECK(g, good, ARRJIT_KIND_RUNTIME, 0, NULL, NONE, &checked, v[1]);
    arrjit_while_end(g, LIST(arrjit_add(g, v[0], i64(g, 1)), arrjit_add(g, checked, v[0])), loop);
    arrjit_try_handler(g, 1, &loop[1], ARRJIT_KIND_RUNTIME, &exn);
    if (finally) {
      arrjit_try_finally(g, LIST(i64(g, -1)));
      arrjit_value high = arrjit_lt(g, a, i64(g, 50));
      CHECK(g, high, ARRJIT_KIND_ARITH, 5, "in the finally", NONE, NULL, a);
      arrjit_try_end(g, 0, NULL, &done);
    } else {
      arrjit_try_end(g, LIST(i64(g, -1)), &done);
    }
    arrjit_map_end(g, LIST(arrjit_add(g, done, a)), &out);
    RETURN(g, out);
    arrjit_function *function = tk_finish(f, g);
    EXPECT(RUN(f, function, ARRAY(f, I64, 9, 0, 5, 7, 3, 6, 2, -1, 1)), 0, I64, 24, -1, 4, 22, 2, 21, 1, 14, 0);
    const tk_outcome *o = RUN(f, function, ARRAY(f, I64, 9, 0, 60, 70));
    if (finally) {
      EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 5, "in the finally");
      assert_string_equal(o->path, "check < try finally < map lane 2");
    } else {
      EXPECT(o, 0, I64, 24, -1, 75, 85);
    }
  }
}

/* Exceptions as values, made, carried, asked and raised in lanes. */
static void test_exceptions_in_lanes(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), a, e, exn, is, seen, present, got[2], out[2];
  arrjit_type field = TYPE(F64);
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_if_begin(g, arrjit_lt(g, a, f64(g, 0)));
  e = EXN_NEW(g, ARRJIT_KIND_ARITH, 1, "below {0}", a);
  arrjit_if_else(g, 1, &e);
  e = EXN_NEW(g, ARRJIT_KIND_RUNTIME, 2, "above {0}", a);
  arrjit_if_end(g, 1, &e, &exn);
  is = arrjit_exn_is(g, exn, ARRJIT_KIND_ARITH);
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_gt(g, arrjit_abs(g, a), f64(g, 10)));
  arrjit_raise_exn(g, exn);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_handler(g, 1, &a, ARRJIT_KIND_ARITH, &e);
  seen = arrjit_exn_field(g, e, 0, &field, &present);
  arrjit_try_end(g, LIST(arrjit_mul(g, seen, f64(g, 2))), &seen);
  got[0] = seen, got[1] = is;
  arrjit_map_end(g, 2, got, out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, 1, -2, -20, 3, 4, 5, 6, 7, 8));
  EXPECT(o, 0, F64, 1, -2, -40, 3, 4, 5, 6, 7, 8);
  EXPECT(o, 1, BOOL, 0, 1, 1, 0, 0, 0, 0, 0, 0);
  o = RUN(f, function, ARRAY(f, F64, 1, -2, -20, 30, 40));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 2, "above 30");
  assert_string_equal(o->path, "raise_exn < if then < try body < map lane 3");
}

/* ---- what lanes see ---- */

/* Plain regions become array work, others kernels: both with broadcast, strided and transposed arguments. */
static void test_arguments_of_any_layout(void **state) {
  tk_fixture *f = *state;
  for (int loops = 0; loops < 2; loops++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F64, 3, 5), y = PARAM(g, "y", F64, 5), z = PARAM(g, "z", F64, 3, 1);
    arrjit_value v[4], w, out, t = (arrjit_transpose)(g, PARAM(g, "t", F64, 5, 3), INTS(1, 0));
    arrjit_value k = PARAM(g, "k", F64);
    arrjit_map_begin(g, LIST(x, y, z, t), v);
    arrjit_value sum = arrjit_add(g, arrjit_mul(g, v[0], v[1]), arrjit_sub(g, arrjit_mul(g, v[2], k), v[3]));
    if (loops) {
      WHILE(g, &w, sum);
      arrjit_while_body(g, arrjit_gt(g, w, k), &w);
      arrjit_while_end(g, LIST(arrjit_sub(g, w, v[1])), &sum);
    }
    arrjit_map_end(g, 1, &sum, &out);
    RETURN(g, out, arrjit_reduce_sum(g, out, INTS(0)));
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *in[5] = {tk_array(f, TYPE(F64, 3, 5), NULL), ramp(f, 5, 1, 1),
                           SHAPED(f, TYPE(F64, 3, 1), F64, 3, 1, 2), tk_array(f, TYPE(F64, 5, 3), NULL),
                           SCALAR(f, F64, 1.5)};
    double want[15];
    for (int64_t i = 0; i < 15; i++) {
      ((double *)arrjit_array_data(in[0]))[i] = (double)(i * i % 7);
      ((double *)arrjit_array_data(in[3]))[i] = (double)i / 4;
    }
    for (int64_t i = 0; i < 15; i++) {
      double yi = 1 + (double)(i % 5), zi = ((double *)arrjit_array_data(in[2]))[i / 5];
      want[i] = (double)(i * i % 7) * yi + (zi * 1.5 - (double)(i % 5 * 3 + i / 5) / 4);
      while (loops && want[i] > 1.5) want[i] -= yi;
    }
    const tk_outcome *o = RUN(f, function, in[0], in[1], in[2], in[3], in[4]);
    tk_expect(o, 0, ARRJIT_F64, 15, want, __FILE__, __LINE__);
    EXPECT_SHAPE(o, 0, 3, 5);
  }
}

/* Host arrays with strides; and lanes of scalars, which are one. */
static void test_strided_inputs_and_scalars(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), s = PARAM(g, "s", F64), a, b, v, out[2];
  for (int scalar = 0; scalar < 2; scalar++) {
    arrjit_map_begin(g, 1, scalar ? &s : &x, &a);
    WHILE(g, &b, a);
    arrjit_while_body(g, arrjit_lt(g, b, f64(g, 10)), &b);
    arrjit_while_end(g, LIST(arrjit_add(g, b, arrjit_max(g, s, f64(g, 1)))), &v);
    arrjit_map_end(g, 1, &v, &out[scalar]);
  }
  RETURN(g, out[0], out[1]);
  double data[20];
  for (int i = 0; i < 20; i++) data[i] = i;
  const int64_t dims[] = {7}, strides[] = {-3 * (int64_t)sizeof(double)};
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, dims);
  arrjit_array *view = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, data + 19, strides, NULL, NULL, &view, NULL), ARRJIT_OK);
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_keep(f, view), SCALAR(f, F64, 2));
  EXPECT(o, 0, F64, 19, 16, 13, 10, 11, 10, 11);
  EXPECT(o, 1, F64, 10);
  EXPECT_SHAPE(o, 1);
}

/* Every dtype goes in, through a loop and arms, and out. */
static void test_every_dtype(void **state) {
  tk_fixture *f = *state;
  for (arrjit_dtype dtype = ARRJIT_BOOL; dtype <= ARRJIT_F64; dtype++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = symbolic(g, "x", dtype), turns = symbolic(g, "turns", ARRJIT_U8), v[2], i, last, kept, picked,
                 out[3];
    arrjit_map_begin(g, LIST(x, turns), v);
    arrjit_value flag = dtype == ARRJIT_BOOL ? v[0] : arrjit_ne(g, v[0], arrjit_const_like(g, v[0], 0));
    FOR(g, i64(g, 0), arrjit_convert(g, v[1], ARRJIT_I64), i64(g, 1), &i, &last, v[0]);
    arrjit_value next = dtype == ARRJIT_BOOL ? arrjit_not(g, last) : arrjit_add(g, last, v[0]);
    arrjit_for_end(g, 1, &next, &kept);
    arrjit_if_begin(g, flag);
    FOR(g, i64(g, 0), i64(g, 2), i64(g, 1), &i, &last, kept);
    arrjit_for_end(g, 1, &last, &last);
    arrjit_if_else(g, 1, &last);
    arrjit_if_end(g, 1, &v[0], &picked);
    arrjit_map_end(g, LIST(kept, picked, flag), out);
    RETURN(g, out[0], out[1], out[2]);
    unsigned char raw[33 * 8], counts[33];
    for (size_t k = 0; k < sizeof raw; k++) raw[k] = dtype == ARRJIT_BOOL ? k % 2 : (unsigned char)(k * 37 % 251);
    for (size_t k = 0; k < sizeof counts; k++) counts[k] = (unsigned char)(k % 5);
    const int64_t dims[] = {33};
    arrjit_array *in = tk_array(f, arrjit_type_make(dtype, 1, dims), raw);
    EXPECT_OK(RUN(f, tk_finish(f, g), in, tk_array(f, TYPE(U8, 33), counts)));
  }
}

/* NaNs keep their bits where they are moved, and are canonical where they are made. */
static void test_bits_of_nans(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), a, i, v[2], loop[2], arm, got[4], out[4];
  arrjit_map_begin(g, 1, &x, &a);
  FOR(g, i64(g, 0), i64(g, 3), i64(g, 1), &i, v, a, a);
  arrjit_for_end(g, LIST(v[1], arrjit_neg(g, v[0])), loop);
  arrjit_if_begin(g, arrjit_ne(g, a, a));
  FOR(g, i64(g, 0), i64(g, 1), i64(g, 1), &i, v, a);
  arrjit_for_end(g, 1, v, v);
  arrjit_if_else(g, LIST(arrjit_sub(g, v[0], v[0])));
  arrjit_if_end(g, 1, &a, &arm);
  got[0] = loop[0], got[1] = loop[1], got[2] = arm;
  got[3] = arrjit_bitcast(g, arrjit_add(g, a, a), ARRJIT_I64);
  arrjit_map_end(g, 4, got, out);
  RETURN(g, out[0], out[1], out[2], out[3]);
  arrjit_array *in = tk_array(f, TYPE(F64, 9), NULL);
  for (uint64_t k = 0; k < 9; k++) ((uint64_t *)arrjit_array_data(in))[k] = UINT64_C(0xfff8000000000001) + (k << 20);
  const tk_outcome *o = RUN(f, tk_finish(f, g), in);
  EXPECT_OK(o);
  for (uint64_t k = 0; k < 9; k++) {
    assert_int_equal(((const int64_t *)(const void *)o->outputs[3].data)[k], 0x7ff8000000000000);
    assert_int_equal(((const uint64_t *)(const void *)o->outputs[0].data)[k], UINT64_C(0x7ff8000000000001) + (k << 20));
  }
}

/* More results than a reduction may have, some of them unused. */
static void test_many_results(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I32), a, n, v[20], out[20];
  arrjit_map_begin(g, 1, &x, &a);
  WHILE(g, &n, a);
  arrjit_while_body(g, arrjit_gt(g, n, arrjit_const_i32(g, 3)), &n);
  arrjit_while_end(g, LIST(arrjit_sub(g, n, arrjit_const_i32(g, 3))), &v[0]);
  for (int k = 1; k < 20; k++) v[k] = arrjit_add(g, v[k - 1], a);
  arrjit_map_end(g, 20, v, out);
  RETURN(g, out[0], out[2], out[19]);
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, I32, 1, 5, 30));
  EXPECT(o, 0, I32, 1, 2, 3);
  EXPECT(o, 1, I32, 3, 12, 63);
  EXPECT(o, 2, I32, 20, 97, 573);
}

/* ---- where maps stand ---- */

/* Adds 1 to each lane until it is at least `to`; a lane above 100 fails. */
static arrjit_value raised_to(arrjit_graph *g, arrjit_value x, arrjit_value to) {
  arrjit_value a, v, b, checked, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_value low = arrjit_le(g, a, f64(g, 100));
  CHECK(g, low, ARRJIT_KIND_RUNTIME, 1, "{0} is too much", LIST(a), &checked, a);
  WHILE(g, &v, checked);
  arrjit_while_body(g, arrjit_lt(g, v, to), &v);
  arrjit_while_end(g, LIST(arrjit_add(g, v, f64(g, 1))), &b);
  arrjit_map_end(g, 1, &b, &out);
  return out;
}

static void test_maps_in_loops_arms_tries_and_functions(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type of[2] = {TYPE(F64, 0), TYPE(F64)}; /* its extent is set below */
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), p[2], i, w, arm, exn, caught, called, flag = PARAM(g, "flag", BOOL);
  of[0].dims[0] = arrjit_symbol(g, "n");
  arrjit_callee callee = arrjit_declare(g, "raise_to", 2, of, 1, of);
  arrjit_define(g, callee, p);
  RETURN(g, raised_to(g, p[0], p[1]));
  FOR(g, i64(g, 0), i64(g, 4), i64(g, 1), &i, &w, x);
  arrjit_for_end(g, LIST(raised_to(g, w, arrjit_convert(g, i, ARRJIT_F64))), &w);
  arrjit_if_begin(g, flag);
  arrjit_if_else(g, LIST(raised_to(g, w, f64(g, 6.5))));
  arrjit_if_end(g, 1, &w, &arm);
  arrjit_try_begin(g);
  arrjit_value sum = raised_to(g, arrjit_mul(g, arm, f64(g, 30)), f64(g, 1));
  arrjit_try_handler(g, 1, &sum, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_type field = TYPE(F64);
  arrjit_value seen = arrjit_exn_field(g, exn, 0, &field, NULL);
  arrjit_try_end(g, LIST(arrjit_mul(g, seen, x)), &caught);
  CALL(g, callee, &called, arm, f64(g, 12));
  RETURN(g, arm, caught, called);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, 0.5, 2, -1.5), SCALAR(f, BOOL, 1));
  EXPECT(o, 0, F64, 6.5, 7, 6.5);
  EXPECT(o, 1, F64, 97.5, 390, -292.5);
  EXPECT(o, 2, F64, 12.5, 12, 12.5);
  o = RUN(f, function, ARRAY(f, F64, 0.5, 2, -1.5), SCALAR(f, BOOL, 0));
  EXPECT(o, 0, F64, 3.5, 3, 3.5);
  EXPECT(o, 1, F64, 52.5, 210, -157.5);
  o = RUN(f, function, ARRAY(f, F64, 0.5, 20, 200, 300), SCALAR(f, BOOL, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "200 is too much");
  assert_string_equal(o->path, "check < map lane 2 < for body 0");
}

/* A failure of a later lane waits for lanes below it, however long they take; the tail of a vector never fails. */
static void test_lanes_that_are_not_there_do_not_fail(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I32), a, q, out;
  arrjit_map_begin(g, 1, &x, &a);
  q = arrjit_checked_div(g, arrjit_const_i32(g, 60), a); /* what is beyond the end reads as 0 */
  arrjit_map_end(g, 1, &q, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  for (size_t k = 0; k < TK_COUNT(lengths); k++) {
    arrjit_array *in = tk_array(f, TYPE(I32, lengths[k]), NULL);
    for (int64_t i = 0; i < lengths[k]; i++) ((int32_t *)arrjit_array_data(in))[i] = 1 + (int32_t)i;
    EXPECT_OK(RUN(f, function, in));
    if (lengths[k] == 0) continue;
    ((int32_t *)arrjit_array_data(in))[lengths[k] - 1] = 0;
    EXPECT_FAILURE(RUN(f, function, in), ARRJIT_KIND_ARITH, 1, NULL);
  }
}

/* The same failure whichever passes run. */
static void test_without_passes(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), doubled = arrjit_exp(g, x);
  arrjit_value a, v, out;
  arrjit_map_begin(g, 1, &x, &a);
  WHILE(g, &v, arrjit_exp(g, a));
  arrjit_while_body(g, arrjit_lt(g, v, f64(g, 2)), &v);
  arrjit_while_end(g, LIST(arrjit_exp(g, v)), &out);
  arrjit_map_end(g, 1, &out, &out);
  RETURN(g, raised_to(g, doubled, f64(g, 7)), raised_to(g, arrjit_neg(g, doubled), f64(g, 2)), out);
  arrjit_function *function = tk_finish(f, g);
  for (int64_t off = 0; off < 256; off = off ? off * 2 : 1) {
    assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_PASSES_OFF, off, NULL), ARRJIT_OK);
    f->may_fall_back = true;
    EXPECT_OK(RUN(f, function, ramp(f, 11, -5, 0.5)));
    EXPECT_FAILURE(RUN(f, function, ramp(f, 11, -5, 1)), ARRJIT_KIND_RUNTIME, 1, NULL);
  }
}

/* ---- limits ---- */

/* Each lane may take what the run had left; what lanes take is not taken off. */
static void test_iterations_are_counted_by_lane(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I64), a, i, n, count, out;
  arrjit_map_begin(g, 1, &x, &a);
  FOR(g, i64(g, 0), a, i64(g, 1), &i, &n, i64(g, 0));
  arrjit_for_end(g, LIST(arrjit_add(g, n, i)), &count);
  FOR(g, i64(g, 0), i64(g, 2), i64(g, 1), &i, &n, count);
  arrjit_for_end(g, LIST(arrjit_add(g, n, i)), &count);
  arrjit_map_end(g, 1, &count, &out);
  RETURN(g, out, raised_to(g, arrjit_convert(g, x, ARRJIT_F64), f64(g, 10)));
  arrjit_function *function = tk_finish(f, g);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_ITERATIONS, 12, NULL), ARRJIT_OK);
  EXPECT_OK(RUN(f, function, ARRAY(f, I64, 9, 10, 9, 8, 10, 0, 3, 10, 10, 1, 2)));
  const tk_outcome *o = RUN(f, function, ARRAY(f, I64, 9, 10, 11, 8, 10, 0, 3, 50));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, NULL);
  assert_string_equal(o->path, "yield < for body 1 < map lane 2");
  o = RUN(f, function, ARRAY(f, I64, 9, 10, 7, 8, 10, -3, 3, 50));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, NULL);
  assert_string_equal(o->path, "yield < for body 12 < map lane 7");
}

static arrjit_status trigger(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                             const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  arrjit_cancel_trigger(user);
  return ARRJIT_OK;
}

/* Lane 3 turns for ever. */
static void test_endless_lanes_can_be_stopped(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = arrjit_slot_io(g, "cb", 0, NULL, ARRJIT_SLOT_OPTIONAL);
  arrjit_value x = PARAM(g, "x", I64, 9), a, v, b, out;
  arrjit_callback(g, slot, 0, NULL, NULL);
  arrjit_map_begin(g, 1, &x, &a);
  WHILE(g, &v, a);
  arrjit_while_body(g, arrjit_ne(g, v, i64(g, 3)), &v);
  arrjit_while_end(g, LIST(arrjit_select(g, arrjit_gt(g, v, i64(g, 0)), i64(g, 3), v)), &b);
  arrjit_map_end(g, 1, &b, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, ARRAY(f, I64, 1, 2, 3, 4, 5, 6, 7, 8, 9)), 0, I64, 3, 3, 3, 3, 3, 3, 3, 3, 3);
  arrjit_array *in = ARRAY(f, I64, 1, 2, 3, -1, 5, 6, 7, 8, 9);
  for (int m = 0; m <= tk_native(); m++) {
    arrjit_run_options options = {.struct_bytes = sizeof options,
                                  .mode = m ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                                  .deadline_ns = arrjit_clock_ns() + 30000000};
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_run(function, &options, 1, &in, &result, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_DEADLINE);
    arrjit_result_destroy(result);
    arrjit_cancel *cancel = NULL;
    assert_int_equal(arrjit_cancel_create(f->context, &cancel, NULL), ARRJIT_OK);
    arrjit_binding binding = {.slot = "cb", .callback = trigger, .user = cancel};
    options.deadline_ns = 0, options.binding_count = 1, options.bindings = &binding, options.cancel = cancel;
    assert_int_equal(arrjit_run(function, &options, 1, &in, &result, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
    arrjit_result_destroy(result);
    arrjit_cancel_release(cancel);
  }
}

/* ---- what is refused ---- */

static void test_what_has_no_place_inside(void **state) {
  tk_fixture *f = *state;
  static const struct {
    arrjit_status status;
    const char *part;
  } rows[] = {{ARRJIT_MISUSE, "is an array, but inside a map there are scalars; pass it as an argument of map"},
              {ARRJIT_MISUSE, "callback: has no place inside a map"},
              {ARRJIT_MISUSE, "map: has no place inside a map"},
              {ARRJIT_TYPE, "const: gives f64[2], but inside a map there are scalars"},
              {ARRJIT_MISUSE, "call: has no place inside a map"},
              {ARRJIT_TYPE, "map: exn comes from outside"},
              {ARRJIT_TYPE, "lane yields exn"},
              {ARRJIT_TYPE, "extents 3 and 2 do not broadcast"}};
  for (size_t k = 0; k < TK_COUNT(rows); k++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F64, 3), a, out, b, exn = arrjit_exn_new(g, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL);
    arrjit_type scalar = TYPE(F64), p;
    (void)p;
    arrjit_callee callee = arrjit_declare(g, "f", 1, &scalar, 1, &scalar);
    arrjit_define(g, callee, &b);
    RETURN(g, b);
    arrjit_slot slot = arrjit_slot_io(g, "cb", 0, NULL, 0);
    arrjit_value args[2] = {x, CONST(g, F64, 1, 2)};
    arrjit_map_begin(g, k == 7 ? 2 : 1, args, &(arrjit_value[2]){0}[0]);
    a = arrjit_const_f64(g, 1);
    out = a;
    if (k == 0) out = arrjit_add(g, a, x);
    if (k == 1) arrjit_callback(g, slot, 0, NULL, NULL);
    if (k == 2) arrjit_map_begin(g, 1, &a, &b), arrjit_map_end(g, 1, &b, &out);
    if (k == 3) CONST(g, F64, 1, 2);
    if (k == 4) CALL(g, callee, &out, a);
    if (k == 5) arrjit_exn_site(g, exn);
    if (k == 6) out = arrjit_exn_new(g, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL);
    arrjit_map_end(g, 1, &out, &b);
    RETURN(g, b);
    tk_finish_fails(f, g, rows[k].status, rows[k].part, NULL);
  }
}

/* A region that always raises gives nothing, and fails when there is a lane. */
static void test_a_map_that_never_yields(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I64), a;
  arrjit_map_begin(g, 1, &x, &a);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "{0}", a);
  arrjit_map_end(g, 0, NULL, NULL);
  RETURN(g, x);
  arrjit_function *function = tk_finish(f, g);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, I64, 5, 6)), ARRJIT_KIND_RUNTIME, 0, "5");
  EXPECT_OK(RUN(f, function, tk_array(f, TYPE(I64, 0), NULL)));
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_mandelbrot),
    TK_TEST(test_newton_raises_for_the_lowest_lane),
    TK_TEST(test_newton_with_a_value_for_what_does_not_converge),
    TK_TEST(test_case_b07_the_lowest_bad_element_fails_the_map),
    TK_TEST(test_case_b13_only_the_arm_that_is_taken_loops),
    TK_TEST(test_guarded_division),
    TK_TEST(test_nested_loops_and_switch),
    TK_TEST(test_counters_at_the_ends_of_i64),
    TK_TEST(test_tries_in_tries),
    TK_TEST(test_caught_in_a_loop_goes_on_behind_it),
    TK_TEST(test_exceptions_in_lanes),
    TK_TEST(test_arguments_of_any_layout),
    TK_TEST(test_strided_inputs_and_scalars),
    TK_TEST(test_every_dtype),
    TK_TEST(test_bits_of_nans),
    TK_TEST(test_many_results),
    TK_TEST(test_maps_in_loops_arms_tries_and_functions),
    TK_TEST(test_lanes_that_are_not_there_do_not_fail),
    TK_TEST(test_without_passes),
    TK_TEST(test_iterations_are_counted_by_lane),
    TK_TEST(test_endless_lanes_can_be_stopped),
    TK_TEST(test_what_has_no_place_inside),
    TK_TEST(test_a_map_that_never_yields),
};

TEST_MAIN(tests, NULL, NULL)
