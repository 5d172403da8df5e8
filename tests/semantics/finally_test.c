/* finally: it runs for every way out but shutdown, for a while even when the run has to end, and what fails in it
 * supersedes. */
#include <sched.h>

#include "fixture.h"

static void set_option(tk_fixture *f, arrjit_option option, int64_t value) {
  assert_int_equal(arrjit_context_set_option(f->context, option, value, NULL), ARRJIT_OK);
}

/* ---- every way out ---- */

enum { NORMAL, RAISED, HANDLED, HANDLER_RAISES, CHECKED, CALL_FAILS, ITERATIONS, TOO_DEEP, WAYS_OUT };

static arrjit_callee endless_calls(arrjit_graph *g) {
  arrjit_value x, out;
  arrjit_callee callee = arrjit_declare(g, "down", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, callee, &x);
  CALL(g, callee, &out, x);
  RETURN(g, out);
  return callee;
}

/* What the body does on its way out. */
static void leave(arrjit_graph *g, arrjit_value way, arrjit_callee down, arrjit_value x) {
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, out;
  arrjit_switch_begin(g, way);
  for (int k = 0; k < WAYS_OUT; k++) {
    if (k == RAISED) arrjit_raise(g, ARRJIT_KIND_THROW, 1, "raised", 0, NULL);
    if (k == HANDLED || k == HANDLER_RAISES) arrjit_raise(g, ARRJIT_KIND_RUNTIME, 2, "handled", 0, NULL);
    if (k == CHECKED) (void)arrjit_checked_div(g, x, zero);
    if (k == CALL_FAILS || k == TOO_DEEP) CALL(g, down, &out, k == TOO_DEEP ? one : zero);
    if (k == ITERATIONS) {
      (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, INT64_MAX), one, 0, NULL, &i, NULL);
      arrjit_for_end(g, 0, NULL, NULL);
    }
    if (k + 1 < WAYS_OUT) arrjit_switch_case(g, 0, NULL);
  }
  arrjit_switch_end(g, 0, NULL, NULL);
}

static void test_finally_runs_for_every_way_out(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_callee down = endless_calls(g);
  arrjit_value way = PARAM(g, "way", I64), x = PARAM(g, "x", I64), exn, out, seen;
  arrjit_slot slot = arrjit_slot_io(g, "cleanup", TYPES(TYPE(I64)), 0);
  arrjit_try_begin(g);
  leave(g, way, down, x);
  arrjit_value normal = arrjit_const_i64(g, 1);
  arrjit_try_handler(g, 1, &normal, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_if_begin(g, arrjit_eq(g, way, arrjit_const_i64(g, HANDLER_RAISES)));
  arrjit_raise(g, ARRJIT_KIND_CALLBACK, 3, "handler", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_finally(g, LIST(arrjit_const_i64(g, 2)));
  CALLBACK(g, slot, &seen, x);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "cleanup", NULL, NULL);
  set_option(f, ARRJIT_OPTION_MAX_ITERATIONS, 50);
  set_option(f, ARRJIT_OPTION_MAX_DEPTH, 20);
  const struct {
    arrjit_kind kind;
    int64_t code;
  } want[WAYS_OUT] = {[RAISED] = {ARRJIT_KIND_THROW, 1},     [HANDLER_RAISES] = {ARRJIT_KIND_CALLBACK, 3},
                      [CHECKED] = {ARRJIT_KIND_ARITH, 1},    [CALL_FAILS] = {ARRJIT_KIND_LIMIT, 0},
                      [ITERATIONS] = {ARRJIT_KIND_LIMIT, 0}, [TOO_DEEP] = {ARRJIT_KIND_LIMIT, 0}};
  for (int64_t k = 0; k < WAYS_OUT; k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, I64, k), SCALAR(f, I64, 7));
    assert_string_equal(o->log, "cleanup i64[]=0700000000000000\n");
    if (k == NORMAL || k == HANDLED) {
      EXPECT(o, 0, I64, k == NORMAL ? 1 : 2);
    } else {
      EXPECT_FAILURE(o, want[k].kind, want[k].code, NULL);
    }
  }
}

/* A finally may handle what fails in it by itself: what was on its way goes on. */
static void test_a_finally_may_try(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), exn, zero = arrjit_const_i64(g, 0), out, seen, quotient;
  arrjit_slot slot = arrjit_slot_io(g, "cleanup", TYPES(TYPE(I64)), 0);
  arrjit_try_begin(g);
  CHECK(g, arrjit_ne(g, x, zero), ARRJIT_KIND_RUNTIME, 4, "body", NONE, &out, x);
  arrjit_try_finally(g, 1, &x);
  arrjit_try_begin(g);
  quotient = arrjit_checked_div(g, x, zero);
  arrjit_try_handler(g, 1, &quotient, ARRJIT_KIND_ARITH, &exn);
  arrjit_try_end(g, LIST(arrjit_exn_code(g, exn)), &quotient);
  CALLBACK(g, slot, &seen, quotient);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "cleanup", NULL, NULL);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 5));
  EXPECT(o, 0, I64, 5);
  assert_string_equal(o->log, "cleanup i64[]=0100000000000000\n");
  o = RUN(f, function, SCALAR(f, I64, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 4, "body");
  assert_string_equal(o->log, "cleanup i64[]=0100000000000000\n");
  assert_null(strstr(o->text, "while handling"));
}

/* Three deep: the innermost finally's raise has the body's as context, the next one's has that. */
static void test_each_finally_that_raises_supersedes(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value exn;
  for (int k = 0; k < 3; k++) arrjit_try_begin(g);
  arrjit_runtime_raise(g, "body", 0, NULL);
  for (int k = 0; k < 3; k++) {
    static const char *const names[] = {"inner", "middle", "outer"};
    if (k == 1) {
      arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn);
      arrjit_raise_exn(g, exn);
    }
    arrjit_try_finally(g, 0, NULL);
    arrjit_runtime_raise(g, names[k], 0, NULL);
    arrjit_try_end(g, 0, NULL, NULL);
  }
  RETURN(g);
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "outer");
  const char *at = o->text;
  static const char *const order[] = {"error: runtime: outer", "while handling: runtime: middle",
                                      "while handling: runtime: inner", "while handling: runtime: body"};
  for (size_t k = 0; k < TK_COUNT(order); k++) {
    at = strstr(at, order[k]);
    assert_non_null(at);
  }
}

/* ---- a run that has to end ---- */

static arrjit_status cancel_run(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  arrjit_cancel_trigger(user);
  return ARRJIT_OK;
}

static arrjit_status count_call(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  atomic_fetch_add((atomic_int *)user, 1);
  return ARRJIT_OK;
}

static void count_to(arrjit_graph *g, arrjit_value n) {
  arrjit_value i;
  (arrjit_for_begin)(ARRJIT_AT_(g), arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
}

/* try { cancel(); endless loop } finally { n iterations; done() } */
static arrjit_function *cancelled_function(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), seen, out;
  arrjit_slot cancel = arrjit_slot_io(g, "cancel", TYPES(TYPE(I64)), 0);
  arrjit_slot done = arrjit_slot_io(g, "done", TYPES(TYPE(I64)), 0);
  arrjit_try_begin(g);
  CALLBACK(g, cancel, &seen, n);
  count_to(g, arrjit_const_i64(g, INT64_MAX));
  arrjit_try_finally(g, 1, &n);
  count_to(g, n);
  CALLBACK(g, done, &seen, n);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

/* A short finally is done although the run is cancelled; an endless one is abandoned after its grace of 10 ms. */
static void test_a_cancelled_run_grants_finally_its_grace(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = cancelled_function(f);
  for (int whole = 0; whole <= tk_native(); whole++)
    for (int endless = 0; endless < 2; endless++) {
      atomic_int calls = 0;
      arrjit_cancel *cancel = NULL;
      assert_int_equal(arrjit_cancel_create(f->context, &cancel, NULL), ARRJIT_OK);
      arrjit_binding bindings[] = {{.slot = "cancel", .callback = cancel_run, .user = cancel},
                                   {.slot = "done", .callback = count_call, .user = &calls}};
      arrjit_run_options options = {.struct_bytes = sizeof options,
                                    .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                                    .binding_count = 2,
                                    .bindings = bindings,
                                    .cancel = cancel};
      arrjit_array *n = SCALAR(f, I64, endless ? INT64_MAX : 100);
      arrjit_result *result = NULL;
      if (whole) assert_int_equal(arrjit_function_prepare(function, NULL, NULL), ARRJIT_OK);
      if (whole) assert_int_equal(arrjit_function_wait(function, -1, NULL), ARRJIT_OK);
      int64_t start = arrjit_clock_ns();
      assert_int_equal(arrjit_run(function, &options, 1, &n, &result, NULL), ARRJIT_OK);
      int64_t took = arrjit_clock_ns() - start;
      assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
      assert_int_equal(calls, !endless);
      if (endless) {
        assert_true(took >= 10000000);
        assert_true(took < 5000000000);
        arrjit_result *context = arrjit_result_context(result);
        assert_non_null(context); /* what the finally had interrupted */
        assert_int_equal(arrjit_result_kind(context), ARRJIT_KIND_CANCELLED);
      }
      arrjit_result_destroy(result);
      arrjit_cancel_release(cancel);
    }
}

/* The end of a runner is not waited for: no finally runs. */
static void test_finally_does_not_run_at_shutdown(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), seen, out;
  arrjit_slot started = arrjit_slot_io(g, "started", TYPES(TYPE(I64)), 0);
  arrjit_slot done = arrjit_slot_io(g, "done", TYPES(TYPE(I64)), 0);
  arrjit_try_begin(g);
  CALLBACK(g, started, &seen, n);
  count_to(g, n);
  arrjit_try_finally(g, 1, &n);
  CALLBACK(g, done, &seen, n);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *most = SCALAR(f, I64, INT64_MAX);
  for (int whole = 0; whole <= tk_native(); whole++) {
    atomic_int starts = 0, ends = 0;
    arrjit_binding bindings[] = {{.slot = "started", .callback = count_call, .user = &starts},
                                 {.slot = "done", .callback = count_call, .user = &ends}};
    arrjit_run_options options = {.struct_bytes = sizeof options,
                                  .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                                  .binding_count = 2,
                                  .bindings = bindings};
    arrjit_runner *runner = NULL;
    arrjit_job *job = NULL;
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_runner_create(f->context, NULL, &runner, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_runner_submit(runner, function, &options, 1, &most, &job, NULL), ARRJIT_OK);
    while (!atomic_load(&starts)) sched_yield();
    assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
    assert_int_equal(arrjit_job_wait(job, -1, &result, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_SHUTDOWN);
    assert_int_equal(ends, 0);
    arrjit_result_destroy(result);
    arrjit_job_release(job);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_finally_runs_for_every_way_out),      TK_TEST(test_a_finally_may_try),
    TK_TEST(test_each_finally_that_raises_supersedes), TK_TEST(test_a_cancelled_run_grants_finally_its_grace),
    TK_TEST(test_finally_does_not_run_at_shutdown),
};

TEST_MAIN(tests, NULL, NULL)
