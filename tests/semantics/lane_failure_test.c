/* Failures of lanes: the lowest one's wins; try in lanes; limits; what has no place inside a map. */
#include "lanes.h"

/* ---- the lowest lane ---- */

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

/* Arms that are folded leave a region, and an if, that always raise. */
static void test_regions_that_come_to_raise_always(void **state) {
  tk_fixture *f = *state;
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_VERIFY_PASSES, 1, NULL), ARRJIT_OK);
  for (int in_map = 0; in_map < 2; in_map++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = symbolic(g, "x", ARRJIT_I64), a = i64(g, 3), inner, arm, flag = PARAM(g, "flag", BOOL);
    if (in_map) arrjit_map_begin(g, 1, &x, &a);
    arrjit_if_begin(g, flag);
    RAISE(g, ARRJIT_KIND_RUNTIME, 1, "{0}", a);
    arrjit_if_else(g, 0, NULL);
    arrjit_if_begin(g, arrjit_const_bool(g, 1));
    RAISE(g, ARRJIT_KIND_RUNTIME, 2, "{0}", a);
    arrjit_if_else(g, 0, NULL);
    arrjit_if_end(g, 1, &a, &inner);
    arrjit_if_end(g, 1, &inner, &arm);
    if (in_map) arrjit_map_end(g, 1, &arm, &arm);
    RETURN(g, x, arm);
    arrjit_function *function = tk_finish(f, g);
    for (int64_t k = 0; k < 2; k++)
      EXPECT_FAILURE(RUN(f, function, ARRAY(f, I64, 3, 4), SCALAR(f, BOOL, k == 1)), ARRJIT_KIND_RUNTIME, 2 - k, "3");
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

/* ---- try ---- */

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
  is = arrjit_and(g, arrjit_exn_is(g, exn, ARRJIT_KIND_ARITH), arrjit_eq(g, arrjit_exn_code(g, exn), i64(g, 1)));
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
  RETURN(g, out);
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

static const struct CMUnitTest tests[] = {
    TK_TEST(test_newton_raises_for_the_lowest_lane),
    TK_TEST(test_newton_with_a_value_for_what_does_not_converge),
    TK_TEST(test_case_b07_the_lowest_bad_element_fails_the_map),
    TK_TEST(test_counters_at_the_ends_of_i64),
    TK_TEST(test_lanes_that_are_not_there_do_not_fail),
    TK_TEST(test_regions_that_come_to_raise_always),
    TK_TEST(test_a_map_that_never_yields),
    TK_TEST(test_tries_in_tries),
    TK_TEST(test_caught_in_a_loop_goes_on_behind_it),
    TK_TEST(test_exceptions_in_lanes),
    TK_TEST(test_iterations_are_counted_by_lane),
    TK_TEST(test_endless_lanes_can_be_stopped),
    TK_TEST(test_what_has_no_place_inside),
};

TEST_MAIN(tests, NULL, NULL)
