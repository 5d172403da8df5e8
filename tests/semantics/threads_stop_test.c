/* What ends a run while threads share its kernels: failures deep inside loops, limits, cancelling, deadlines. */
#include <pthread.h>
#include <time.h>

#include "threading.h"

enum { LANES = 70000, MAPPED = 6000 }; /* maps are worth threads with fewer */

static arrjit_value i64(arrjit_graph *g, int64_t x) { return arrjit_const_i64(g, x); }

/* ---- failures ---- */

/* Three loops around a kernel that checks its lanes, the middle one in an arm of a called function:
 * for i < 3 { step(x, i) }, step = if i < 2 { for j < 4 { for k < 2 { check(x + 4 i + j < limit, [i, j, k]) } } }.
 * `caught`: each step tells where its first failure was and goes on. */
static arrjit_function *build_nest(tk_fixture *f, bool caught) {
  arrjit_graph *g = tk_graph(f);
  const arrjit_type rows = TYPE(I32, LANES), number = TYPE(I64), types[] = {rows, number, TYPE(I32)};
  arrjit_value x = PARAM(g, "x", I32, LANES), limit = PARAM(g, "limit", I32), i, j, k, in[3], v, w, out, exn;
  arrjit_callee step = arrjit_declare(g, "step", 3, types, 1, &rows);
  arrjit_define(g, step, in);
  arrjit_if_begin(g, arrjit_lt(g, in[1], i64(g, 2)));
  if (caught) arrjit_try_begin(g);
  FOR(g, i64(g, 0), i64(g, 4), i64(g, 1), &j, &v, in[0]);
  FOR(g, i64(g, 0), i64(g, 2), i64(g, 1), &k, &w, v);
  arrjit_value more = arrjit_convert(g, arrjit_add(g, arrjit_mul(g, in[1], i64(g, 4)), j), ARRJIT_I32);
  arrjit_value sum = arrjit_add(g, w, more);
  CHECK(g, arrjit_lt(g, sum, in[2]), ARRJIT_KIND_RUNTIME, 5, "lane {3} in {0}, {1}, {2}", LIST(in[1], j, k), &w, w);
  arrjit_for_end(g, 1, &w, &v);
  arrjit_for_end(g, 1, &v, &out);
  if (caught) {
    arrjit_try_handler(g, 1, &out, ARRJIT_KIND_RUNTIME, &exn);
    arrjit_value lane = arrjit_convert(g, arrjit_exn_field(g, exn, 3, &number, NULL), ARRJIT_I32);
    v = arrjit_add(g, in[0], lane);
    arrjit_try_end(g, 1, &v, &out);
  }
  arrjit_if_else(g, 1, &out);
  arrjit_if_end(g, 1, in, &out);
  RETURN(g, out);
  FOR(g, i64(g, 0), i64(g, 3), i64(g, 1), &i, &v, x);
  CALL(g, step, &w, v, i, limit);
  arrjit_for_end(g, 1, &w, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_threads_fail_alike_inside_nested_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_function *strict = build_nest(f, false), *caught = build_nest(f, true);
  arrjit_array *inputs[] = {tk_array(f, TYPE(I32, LANES), NULL), SCALAR(f, I32, 1000)};
  int32_t *x = arrjit_array_data(inputs[0]);
  for (int n = 0; n < LANES; n++) x[n] = n % 900;
  EXPECT_OK(run_threads(f, strict, 2, inputs));
  x[69990] = x[51234] = x[65000] = 994; /* 1000 with 4 i + j = 6 */
  const tk_outcome *o = run_threads(f, strict, 2, inputs);
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 5, "lane 51234 in 1, 2, 0");
  EXPECT_PAYLOAD(o, 0, I64, 1);
  EXPECT_PAYLOAD(o, 1, I64, 2);
  EXPECT_PAYLOAD(o, 2, I64, 0);
  EXPECT_PAYLOAD(o, 3, I64, 51234);
  assert_string_equal(o->path, "check < for body 0 < for body 2 < if then < call < for body 1");
  o = run_threads(f, caught, 2, inputs);
  EXPECT_OK(o);
  assert_int_equal(((const int32_t *)(const void *)o->outputs[0].data)[0], 51234);
}

/* The lane of a map that raises, two loops down. */
static void test_threads_of_maps_fail_alike_inside_nested_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64, MAPPED), i, j, v, w, lane[2], out;
  FOR(g, i64(g, 0), i64(g, 2), i64(g, 1), &i, &v, x);
  FOR(g, i64(g, 0), i64(g, 3), i64(g, 1), &j, &w, v);
  arrjit_value sum = arrjit_reduce_sum(g, w, ARRJIT_ALL_AXES, NULL); /* MAPPED more each time */
  arrjit_map_begin(g, LIST(w, sum), lane);
  arrjit_if_begin(g, arrjit_ge(g, lane[0], arrjit_div(g, lane[1], i64(g, 5))));
  RAISE(g, ARRJIT_KIND_RUNTIME, 6, "{0} of {1}", lane[0], lane[1]);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, LIST(arrjit_add(g, lane[0], i64(g, 1))), &out);
  arrjit_map_end(g, 1, &out, &w);
  arrjit_for_end(g, 1, &w, &v);
  arrjit_for_end(g, 1, &v, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = tk_array(f, TYPE(I64, MAPPED), NULL);
  int64_t *data = arrjit_array_data(input), most = 5 * (int64_t)MAPPED;
  for (int n = 0; n < MAPPED; n++) data[n] = 10;
  EXPECT_OK(run_threads(f, function, 1, &input));
  /* a fifth of the sum grows by 1200 each round, these by 1: never after the first, so make the first the one */
  data[5600] = data[4444] = most;
  const tk_outcome *o = run_threads(f, function, 1, &input);
  char message[64];
  snprintf(message, sizeof message, "%lld of %lld", (long long)most, (long long)(10 * (MAPPED - 2) + 2 * most));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 6, message);
  assert_string_equal(o->path, "raise < if then < map lane 4444 < for body 0 < for body 0");
}

/* ---- limits ---- */

/* Each lane counts to its element, within two rounds of a loop. */
static arrjit_function *build_counts(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64, MAPPED), i, v, a, n, out;
  FOR(g, i64(g, 0), i64(g, 2), i64(g, 1), &i, &v, x);
  arrjit_map_begin(g, 1, &v, &a);
  WHILE(g, &n, i64(g, 0));
  arrjit_while_body(g, arrjit_ne(g, n, a), &n);
  arrjit_while_end(g, LIST(arrjit_add(g, n, i64(g, 1))), &out);
  arrjit_map_end(g, 1, &out, &v);
  arrjit_for_end(g, 1, &v, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static arrjit_array *make_counts(tk_fixture *f) {
  arrjit_array *input = tk_array(f, TYPE(I64, MAPPED), NULL);
  for (int n = 0; n < MAPPED; n++) ((int64_t *)arrjit_array_data(input))[n] = n % 50;
  return input;
}

static void test_threads_reach_the_limit_of_iterations_alike(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_counts(f);
  arrjit_array *input = make_counts(f);
  int64_t *x = arrjit_array_data(input);
  f->limits.iterations = 100;
  EXPECT_OK(run_threads(f, function, 1, &input));
  x[MAPPED - 1] = x[4444] = x[5100] = 1000;
  const tk_outcome *o = run_threads(f, function, 1, &input);
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, "the run has used up its loop iterations, max_iterations is 100");
  assert_string_equal(o->path, "yield < while body 100 < map lane 4444 < for body 0");
}

/* Which node asks for too much differs from mode to mode, not with the number of threads. */
static void test_threads_reach_the_limit_of_memory_alike(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_counts(f);
  arrjit_array *input = make_counts(f);
  tk_outcome o[TK_COUNT(thread_counts)];
  f->limits.bytes = 10000;
  for (size_t i = 0; i < TK_COUNT(thread_counts); i++) {
    char *why = NULL;
    set_threads(f->context, thread_counts[i]);
    run_native(f, function, 1, &input, &o[i]);
    EXPECT_FAILURE(&o[i], ARRJIT_KIND_MEMORY, 0, NULL);
    if (!tk_outcome_same(&o[0], &o[i], &why)) fail_msg("%d threads: %s", (int)thread_counts[i], why);
  }
  for (size_t i = 0; i < TK_COUNT(thread_counts); i++) tk_outcome_free(&o[i]);
  f->limits.bytes = 100000000;
  EXPECT_OK(run_threads(f, function, 1, &input));
}

/* ---- time ---- */

/* Kernels without end: of elements, sums, products and lanes in an endless loop. */
static arrjit_function *build_endless(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64, MAPPED), v, a, n, out, next;
  WHILE(g, &v, x);
  arrjit_while_body(g, arrjit_const_bool(g, 1), &v);
  arrjit_value table = (arrjit_reshape)(ARRJIT_AT_(g), v, INTS(10, MAPPED / 10));
  arrjit_value product = arrjit_dot(g, table, table, 0, NULL, NULL, 1, I64S(0), I64S(0));
  arrjit_value sum = arrjit_reduce_sum(g, product, ARRJIT_ALL_AXES, NULL);
  arrjit_map_begin(g, LIST(arrjit_and(g, arrjit_add(g, v, sum), i64(g, 63))), &a);
  WHILE(g, &n, i64(g, 0));
  arrjit_while_body(g, arrjit_lt(g, n, a), &n);
  arrjit_while_end(g, LIST(arrjit_add(g, n, i64(g, 1))), &out);
  arrjit_map_end(g, 1, &out, &next);
  arrjit_while_end(g, 1, &next, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

typedef struct trigger {
  arrjit_cancel *cancel;
  int64_t delay_ns;
} trigger;

static void *trigger_later(void *user) {
  trigger *t = user;
  nanosleep(&(struct timespec){.tv_nsec = t->delay_ns}, NULL);
  arrjit_cancel_trigger(t->cancel);
  return NULL;
}

static void expect_stop(tk_fixture *f, arrjit_function *function, tk_call call, arrjit_kind kind) {
  tk_outcome o;
  int64_t start_ns = arrjit_clock_ns();
  tk_run_mode(f->context, function, tk_native() ? TK_WHOLE : TK_INTERP, &call, &o);
  EXPECT_FAILURE(&o, kind, 0, NULL);
  assert_int_equal(o.output_count, 0);
  if (arrjit_clock_ns() - start_ns > 20000000000) fail_msg("it took 20 s");
  tk_outcome_free(&o);
}

/* Cancels, deadlines and wall time at moments all over the kernels; afterwards all threads are free again. */
static void stop_everywhere(tk_fixture *f, arrjit_function *function, arrjit_array *input) {
  enum { TRIES = 15 };
  if (tk_native()) { /* compiled beforehand: else the time is over before it begins */
    assert_int_equal(arrjit_function_prepare(function, NULL, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_function_wait(function, -1, NULL), ARRJIT_OK);
  }
  for (size_t i = 0; i < TK_COUNT(thread_counts); i++) {
    set_threads(f->context, thread_counts[i]);
    for (int k = 0; k < TRIES; k++) {
      const tk_call call = {.input_count = 1, .inputs = &input};
      tk_call cancelled = call, late = call, limited = call;
      pthread_t thread;
      trigger t = {.delay_ns = 100000 + k * 370000};
      assert_int_equal(arrjit_cancel_create(f->context, &t.cancel, NULL), ARRJIT_OK);
      assert_int_equal(pthread_create(&thread, NULL, trigger_later, &t), 0);
      cancelled.cancel = t.cancel;
      expect_stop(f, function, cancelled, ARRJIT_KIND_CANCELLED);
      pthread_join(thread, NULL);
      arrjit_cancel_release(t.cancel);
      late.deadline_ns = arrjit_clock_ns() + t.delay_ns;
      expect_stop(f, function, late, ARRJIT_KIND_DEADLINE);
      limited.limits.wall_ns = t.delay_ns;
      expect_stop(f, function, limited, ARRJIT_KIND_LIMIT);
    }
  }
  arrjit_array *counts = make_counts(f);
  EXPECT_OK(run_threads(f, build_counts(f), 1, &counts));
}

static void test_threads_stop_in_kernels_of_an_endless_loop(void **state) {
  tk_fixture *f = *state;
  stop_everywhere(f, build_endless(f), make_counts(f));
}

/* One kernel that never ends: some lanes turn for ever, on whichever thread they are. */
static void test_threads_stop_in_endless_lanes(void **state) {
  tk_fixture *f = *state;
  arrjit_array *input = make_counts(f);
  int64_t *x = arrjit_array_data(input);
  x[100] = x[2345] = x[MAPPED - 1] = -1;
  stop_everywhere(f, build_counts(f), input);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_threads_fail_alike_inside_nested_loops),
    TK_TEST(test_threads_of_maps_fail_alike_inside_nested_loops),
    TK_TEST(test_threads_reach_the_limit_of_iterations_alike),
    TK_TEST(test_threads_reach_the_limit_of_memory_alike),
    TK_TEST(test_threads_stop_in_kernels_of_an_endless_loop),
    TK_TEST(test_threads_stop_in_endless_lanes),
};

TEST_MAIN(tests, NULL, NULL)
