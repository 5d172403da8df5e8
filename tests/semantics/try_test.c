/* try, handlers, finally, exceptions as values. */
#include "fixture.h"

/* try { if x < 0 { raise(kind, code, "low", x) }; x } handler(caught) { -1000 } */
static arrjit_function *guarded(tk_fixture *f, arrjit_kind raised, arrjit_kind caught) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), exn, out;
  arrjit_try_begin(g);
  RAISE_IF(g, arrjit_lt(g, x, arrjit_const_f64(g, 0)), raised, 5, "low: {0}", x);
  arrjit_try_handler(g, 1, &x, caught, &exn);
  arrjit_try_end(g, LIST(arrjit_const_f64(g, -1000)), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_handler_takes_its_kind_and_those_below(void **state) {
  tk_fixture *f = *state;
  arrjit_kind above, below;
  assert_int_equal(arrjit_context_add_kind(f->context, "above", ARRJIT_KIND_ERROR, "...", &above, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_context_add_kind(f->context, "above.below", above, "...", &below, NULL), ARRJIT_OK);
  const struct {
    arrjit_kind raised, caught;
    bool taken;
  } rows[] = {{above, above, true},
              {below, above, true},
              {above, below, false},
              {below, ARRJIT_KIND_ERROR, true},
              {ARRJIT_KIND_RUNTIME, above, false},
              {ARRJIT_KIND_THROW, ARRJIT_KIND_ERROR, false},
              {ARRJIT_KIND_THROW, ARRJIT_KIND_THROW, true}};
  for (size_t k = 0; k < TK_COUNT(rows); k++) {
    arrjit_function *function = guarded(f, rows[k].raised, rows[k].caught);
    EXPECT(RUN(f, function, SCALAR(f, F64, 3)), 0, F64, 3);
    const tk_outcome *o = RUN(f, function, SCALAR(f, F64, -3));
    if (rows[k].taken) {
      EXPECT(o, 0, F64, -1000);
    } else {
      EXPECT_FAILURE(o, rows[k].raised, 5, "low: -3");
      assert_string_equal(o->path, "raise < if then < try body");
    }
  }
}

static void test_handlers_read_the_payload(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), exn, there, missing, out[5];
  arrjit_try_begin(g);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, NULL, x, arrjit_const_i64(g, 9));
  arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_type f64 = TYPE(F64);
  arrjit_value first = arrjit_exn_field(g, exn, 0, &f64, &there);
  arrjit_value wrong = arrjit_exn_field(g, exn, 1, &f64, &missing); /* it is an i64 */
  arrjit_value is_arith = arrjit_exn_is(g, exn, ARRJIT_KIND_ARITH);
  arrjit_try_end(g, LIST(first, there, wrong, missing, is_arith), out);
  RETURN(g, out[0], out[1], out[2], out[3], out[4]);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, 2.5));
  EXPECT(o, 0, F64, 2.5);
  EXPECT(o, 1, BOOL, 1);
  EXPECT(o, 2, F64, 0);
  EXPECT(o, 3, BOOL, 0);
  EXPECT(o, 4, BOOL, 0);
}

/* Handlers are tried in order; the first that fits takes it. */
static void test_first_fitting_handler_wins(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value index = PARAM(g, "index", I64), exn, out, x = arrjit_const_i32(g, 0);
  arrjit_try_begin(g);
  arrjit_switch_begin(g, index);
  arrjit_raise(g, ARRJIT_KIND_ARITH, 0, NULL, 0, NULL);
  arrjit_switch_case(g, 0, NULL);
  arrjit_raise(g, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL);
  arrjit_switch_case(g, 0, NULL);
  arrjit_switch_end(g, 0, NULL, NULL);
  arrjit_try_handler(g, 1, &x, ARRJIT_KIND_ARITH, &exn);
  arrjit_try_handler(g, LIST(arrjit_const_i32(g, 1)), ARRJIT_KIND_ERROR, &exn);
  arrjit_try_handler(g, LIST(arrjit_const_i32(g, 2)), ARRJIT_KIND_RUNTIME, &exn);
  arrjit_try_end(g, LIST(arrjit_const_i32(g, 3)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  for (int32_t k = 0; k < 3; k++) {
    static const int32_t want[] = {1, 2, 0};
    EXPECT(RUN(f, function, SCALAR(f, I64, k)), 0, I32, want[k]);
  }
}

static void test_raise_again_keeps_payload_and_trace(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), exn, out;
  arrjit_try_begin(g);
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "first {0}", x);
  arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_raise_exn(g, exn);
  arrjit_try_end(g, 0, NULL, NULL);
  RETURN(g);
  (void)out;
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, 1.5));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "first 1.5");
  EXPECT_PAYLOAD(o, 0, F64, 1.5);
  assert_non_null(strstr(o->path, "try handler 0"));
}

/* A raise in a handler links what was being handled; raise_from links a cause. Both are results of their own. */
static void test_cause_and_context_are_linked(void **state) {
  tk_fixture *f = *state;
  for (int from = 0; from < 2; from++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", I64), exn;
    arrjit_try_begin(g);
    RAISE(g, ARRJIT_KIND_ARITH, 1, "inner", x);
    arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ARITH, &exn);
    if (from) {
      arrjit_raise_from(g, EXN_NEW(g, ARRJIT_KIND_RUNTIME, 2, "outer", x), exn);
    } else {
      RAISE(g, ARRJIT_KIND_RUNTIME, 2, "outer", x);
    }
    arrjit_try_end(g, 0, NULL, NULL);
    RETURN(g);
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *input = SCALAR(f, I64, 4);
    const tk_outcome *o = RUN(f, function, input);
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 2, "outer");
    for (int whole = 0; whole <= tk_native(); whole++) {
      arrjit_run_options options = {.struct_bytes = sizeof options,
                                    .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
      arrjit_result *result = NULL;
      assert_int_equal(arrjit_run(function, &options, 1, &input, &result, NULL), ARRJIT_OK);
      arrjit_result *link = from ? arrjit_result_cause(result) : arrjit_result_context(result);
      assert_non_null(link);
      assert_int_equal(arrjit_result_kind(link), ARRJIT_KIND_ARITH);
      assert_string_equal(arrjit_result_message(link), "inner");
      assert_int_equal(arrjit_result_payload_count(link), 1);
      arrjit_result_destroy(result);
    }
  }
}

/* try { if p { raise } ; 1 } handler { 2 } finally { io(x) }: the callback runs on every way out. */
static arrjit_function *with_finally(tk_fixture *f, bool handled) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", I32), exn, out, seen;
  arrjit_slot slot = arrjit_slot_io(g, "cleanup", TYPES(TYPE(I32)), 0);
  arrjit_try_begin(g);
  arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "in try", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_value one = arrjit_const_i32(g, 1);
  if (handled) {
    arrjit_try_handler(g, 1, &one, ARRJIT_KIND_RUNTIME, &exn);
    one = arrjit_const_i32(g, 2);
  }
  arrjit_try_finally(g, 1, &one);
  CALLBACK(g, slot, &seen, x);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_finally_runs_on_every_way_out(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "cleanup", NULL, NULL);
  for (int handled = 0; handled < 2; handled++) {
    arrjit_function *function = with_finally(f, handled);
    for (uint8_t p = 0; p < 2; p++) {
      const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, p), SCALAR(f, I32, 7));
      assert_string_equal(o->log, "cleanup i32[]=07000000\n");
      if (!p) {
        EXPECT(o, 0, I32, 1);
      } else if (handled) {
        EXPECT(o, 0, I32, 2);
      } else {
        EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "in try");
      }
    }
  }
}

static void test_raise_in_finally_supersedes(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = arrjit_const_i32(g, 1), out;
  arrjit_try_begin(g);
  arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "first", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_finally(g, 1, &x);
  arrjit_raise(g, ARRJIT_KIND_RUNTIME, 8, "second", 0, NULL);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  for (uint8_t k = 0; k < 2; k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, k));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 8, "second");
    assert_string_equal(o->path, "raise < try finally");
  }
}

/* A kind chosen at run time: a switch that yields an exn, then raise(exn). */
static void test_exception_chosen_by_a_switch(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value index = PARAM(g, "index", I64), exn;
  arrjit_switch_begin(g, index);
  arrjit_switch_case(g, LIST(EXN_NEW(g, ARRJIT_KIND_RUNTIME, 1, "one {0}", index)));
  arrjit_switch_end(g, LIST(EXN_NEW(g, ARRJIT_KIND_ARITH, 2, "two {0}", index)), &exn);
  arrjit_raise_exn(g, exn);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 0)), ARRJIT_KIND_RUNTIME, 1, "one 0");
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 1)), ARRJIT_KIND_ARITH, 2, "two 1");
}

/* An exception carried by a loop, raised after it; kinds below exit pass a handler for error. */
static void test_exception_carried_by_a_loop(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), zero = arrjit_const_i64(g, 0), i, vars[1], out[1];
  FOR(g, zero, n, arrjit_const_i64(g, 1), &i, vars, EXN_NEW(g, ARRJIT_KIND_RUNTIME, 0, "last {0}", arrjit_neg(g, n)));
  arrjit_for_end(g, LIST(EXN_NEW(g, ARRJIT_KIND_RUNTIME, 0, "last {0}", i)), out);
  arrjit_raise_exn(g, out[0]);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 4)), ARRJIT_KIND_RUNTIME, 0, "last 3");
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 0)), ARRJIT_KIND_RUNTIME, 0, "last 0");
}

static void test_exit_kinds_are_caught_only_by_name(void **state) {
  tk_fixture *f = *state;
  static const arrjit_kind caught[] = {ARRJIT_KIND_EXIT, ARRJIT_KIND_LIMIT, ARRJIT_KIND_ERROR};
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_ITERATIONS, 10, NULL), ARRJIT_OK);
  for (size_t k = 0; k < TK_COUNT(caught); k++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value zero = arrjit_const_i64(g, 0), n = PARAM(g, "n", I64), i, exn, vars[1], sum[1], out;
    arrjit_try_begin(g);
    FOR(g, zero, n, arrjit_const_i64(g, 1), &i, vars, zero);
    arrjit_for_end(g, LIST(arrjit_xor(g, vars[0], arrjit_mul(g, i, i))), sum);
    arrjit_try_handler(g, 1, sum, caught[k], &exn);
    arrjit_try_end(g, LIST(arrjit_const_i64(g, 1)), &out);
    RETURN(g, out);
    const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 100));
    if (caught[k] == ARRJIT_KIND_LIMIT) {
      EXPECT(o, 0, I64, 1);
    } else {
      EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, NULL);
    }
  }
}

static void test_values_of_an_abandoned_body_are_gone_but_callbacks_stay(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32), exn, seen, out;
  arrjit_slot slot = arrjit_slot_io(g, "note", TYPES(TYPE(I32)), 0);
  arrjit_try_begin(g);
  CALLBACK(g, slot, &seen, arrjit_add(g, x, x));
  arrjit_runtime_raise(g, "after the note", 0, NULL);
  arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn);
  CALLBACK(g, slot, &seen, x);
  arrjit_try_end(g, LIST(x), &out);
  RETURN(g, out);
  tk_bind(f, "note", NULL, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I32, 3));
  EXPECT(o, 0, I32, 3);
  assert_string_equal(o->log, "note i32[]=06000000\nnote i32[]=03000000\n");
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_handler_takes_its_kind_and_those_below),
    TK_TEST(test_handlers_read_the_payload),
    TK_TEST(test_first_fitting_handler_wins),
    TK_TEST(test_raise_again_keeps_payload_and_trace),
    TK_TEST(test_cause_and_context_are_linked),
    TK_TEST(test_finally_runs_on_every_way_out),
    TK_TEST(test_raise_in_finally_supersedes),
    TK_TEST(test_exception_chosen_by_a_switch),
    TK_TEST(test_exception_carried_by_a_loop),
    TK_TEST(test_exit_kinds_are_caught_only_by_name),
    TK_TEST(test_values_of_an_abandoned_body_are_gone_but_callbacks_stay),
};

TEST_MAIN(tests, NULL, NULL)
