/* The interpreter where it differs from what any tier shows: what it allocates, keeps and gives back, how its frames
 * grow, what snapshots hold. Semantics are tested in tests/semantics, in every mode. */
#include <pthread.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "fixture.h"

static arrjit_status do_nothing(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                const arrjit_view *results) {
  (void)user, (void)call, (void)n, (void)args, (void)m, (void)results;
  return ARRJIT_OK;
}

/* Slot "seen", when the function has one, is bound to nothing happening. */
static arrjit_status run_interp(arrjit_function *function, size_t count, arrjit_array *const *inputs,
                                arrjit_result **out) {
  const arrjit_binding seen = {.slot = "seen", .callback = do_nothing};
  const arrjit_run_options options = {.struct_bytes = sizeof options,
                                      .mode = ARRJIT_MODE_INTERP,
                                      .binding_count = arrjit_function_slot_count(function),
                                      .bindings = &seen};
  arrjit_error error;
  return arrjit_run(function, &options, count, inputs, out, &error);
}

static void set(tk_fixture *f, arrjit_option option, int64_t value) {
  assert_int_equal(arrjit_context_set_option(f->context, option, value, NULL), ARRJIT_OK);
}

/* s = 0; for i < n: s = s * 3 + i */
static arrjit_function *scalar_loop(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), zero = arrjit_const_i64(g, 0), i, s, out;
  FOR(g, zero, n, arrjit_const_i64(g, 1), &i, &s, zero);
  arrjit_for_end(g, LIST(arrjit_add(g, arrjit_mul(g, s, arrjit_const_i64(g, 3)), i)), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_scalar_loops_allocate_nothing(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = scalar_loop(f);
  set(f, ARRJIT_OPTION_BLOCK_WORK, 0);
  arrjit_array *few = SCALAR(f, I64, 3), *many = SCALAR(f, I64, 20000);
  int64_t calls[3];
  for (int i = 0; i < 3; i++) { /* the first makes what later ones use again */
    arrjit_result *result = NULL;
    tk_alloc_arm(&f->alloc, 0);
    assert_int_equal(run_interp(function, 1, i == 2 ? &many : &few, &result), ARRJIT_OK);
    calls[i] = atomic_load(&f->alloc.calls);
    assert_int_equal(arrjit_result_ok(result), 1);
    arrjit_result_destroy(result);
  }
  assert_int_equal(calls[1], calls[2]);
  assert_in_range(calls[2], 1, 4); /* the result, its list of outputs, the output */
}

/* x + x, doubled n times. */
static arrjit_function *chain(tk_fixture *f, int n, int64_t extent) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, extent);
  for (int i = 0; i < n; i++) x = (arrjit_add)(g, x, x);
  RETURN(g, x);
  return tk_finish(f, g);
}

static void test_dead_arrays_are_released_at_once(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = chain(f, 100, 10000); /* 40 kB an array */
  set(f, ARRJIT_OPTION_MAX_RUN_BYTES, 100000);
  arrjit_array *x = tk_array(f, TYPE(F32, 10000), NULL);
  EXPECT_OK(RUN(f, function, x));
}

static void test_memory_of_a_run_is_limited(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = chain(f, 3, 10000);
  set(f, ARRJIT_OPTION_MAX_RUN_BYTES, 30000);
  arrjit_array *x = tk_array(f, TYPE(F32, 10000), NULL);
  arrjit_result *result = NULL;
  assert_int_equal(run_interp(function, 1, &x, &result), ARRJIT_OK);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_MEMORY);
  arrjit_result_destroy(result);
}

/* What is returned is nobody else's: writing to it changes neither inputs, constants nor other results. */
static void test_results_are_private(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), c = CONST(g, F32, 7, 8, 9), s = arrjit_add(g, x, x);
  RETURN(g, x, c, s, s);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *in = ARRAY(f, F32, 1, 2, 3);
  for (int i = 0; i < 2; i++) {
    arrjit_result *result = NULL;
    assert_int_equal(run_interp(function, 1, &in, &result), ARRJIT_OK);
    const float want[4] = {1, 7, 2, 2};
    for (size_t k = 0; k < 4; k++) {
      float *data = arrjit_array_data(arrjit_result_output(result, k));
      assert_true(data[0] == want[k]);
      data[0] = -1;
    }
    assert_true(*(float *)arrjit_array_data(in) == 1);
    arrjit_result_destroy(result);
  }
}

/* f(n) = n == 0 ? 0 : f(n - 1) + 1 */
static arrjit_function *recursion(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type i64 = TYPE(I64);
  arrjit_value n = (arrjit_param)(g, "n", &i64), m, below, out;
  arrjit_callee self = arrjit_declare(g, "self", 1, &i64, 1, &i64);
  arrjit_define(g, self, &m);
  arrjit_if_begin(g, arrjit_eq(g, m, arrjit_const_i64(g, 0)));
  arrjit_if_else(g, LIST(m));
  CALL(g, self, &below, arrjit_sub(g, m, arrjit_const_i64(g, 1)));
  arrjit_if_end(g, LIST(arrjit_add(g, below, arrjit_const_i64(g, 1))), &out);
  RETURN(g, out);
  CALL(g, self, &out, n);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_depth_is_limited_and_frames_are_given_back(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = recursion(f);
  set(f, ARRJIT_OPTION_MAX_DEPTH, 50000);
  for (int i = 0; i < 2; i++) {
    arrjit_result *result = NULL;
    arrjit_array *n = SCALAR(f, I64, 49999);
    assert_int_equal(run_interp(function, 1, &n, &result), ARRJIT_OK);
    assert_int_equal(*(int64_t *)arrjit_array_data(arrjit_result_output(result, 0)), 49999);
    arrjit_result_destroy(result);
    n = SCALAR(f, I64, 50000);
    assert_int_equal(run_interp(function, 1, &n, &result), ARRJIT_OK);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_LIMIT);
    assert_int_equal(arrjit_result_trace_count(result), 128 + 16);
    arrjit_result_destroy(result);
  }
}

typedef struct deep {
  arrjit_function *function;
  arrjit_array *x;
  arrjit_status status;
  int ok;
} deep;

static void *run_deep(void *arg) {
  deep *d = arg;
  arrjit_result *result = NULL;
  d->status = run_interp(d->function, 1, &d->x, &result);
  d->ok = arrjit_result_ok(result);
  arrjit_result_destroy(result);
  return NULL;
}

static void test_long_functions_run_on_a_small_stack(void **state) {
  tk_fixture *f = *state;
  deep d = {.function = chain(f, 100000, 2), .x = ARRAY(f, F32, 1, 2)};
  pthread_attr_t attributes;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  assert_int_equal(pthread_create(&thread, &attributes, run_deep, &d), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  (void)pthread_attr_destroy(&attributes);
  assert_int_equal(d.status, ARRJIT_OK);
  assert_int_equal(d.ok, 1);
}

/* Everything that has a frame of its own, an array alive across it, failures that are caught, one that gets out. */
static arrjit_function *everything(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type vector = TYPE(F64, 3);
  arrjit_value x = (arrjit_param)(g, "x", &vector), n = PARAM(g, "n", I64), y, i, carried, exn, got, field, there, out;
  arrjit_slot seen = arrjit_slot_io(g, "seen", 1, &vector, 0);
  arrjit_callee twice = arrjit_declare(g, "twice", 1, &vector, 1, &vector);
  arrjit_define(g, twice, &y);
  RETURN(g, (arrjit_add)(g, y, (arrjit_reverse)(g, y, INTS(0))));
  arrjit_value one = arrjit_const_i64(g, 1), two = arrjit_const_i64(g, 2);
  FOR(g, arrjit_const_i64(g, 0), n, one, &i, &carried, x);
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_eq(g, arrjit_rem(g, i, two), one));
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "odd {0}", i, carried);
  arrjit_if_else(g, 0, NULL);
  CALL(g, twice, &got, carried);
  arrjit_if_end(g, LIST(got), &got);
  arrjit_try_handler(g, LIST(got), ARRJIT_KIND_RUNTIME, &exn);
  field = arrjit_exn_field(g, exn, 1, &vector, &there);
  arrjit_if_begin(g, arrjit_gt(g, i, arrjit_const_i64(g, 4)));
  arrjit_raise_exn(g, exn);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, LIST(arrjit_sub(g, field, x)), &out);
  arrjit_try_finally(g, LIST(out));
  CALLBACK(g, seen, &y, carried);
  arrjit_try_end(g, 0, NULL, &out);
  arrjit_for_end(g, LIST(out), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_frames_rebuilt_everywhere_show_the_same(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = everything(f);
  tk_bind(f, "seen", NULL, NULL);
  arrjit_array *x = ARRAY(f, F64, 1, 2, 3);
  EXPECT(RUN(f, function, x, SCALAR(f, I64, 2)), 0, F64, 3, 2, 1);
  EXPECT(RUN(f, function, x, SCALAR(f, I64, 3)), 0, F64, 4, 4, 4);
  const tk_outcome *o = RUN(f, function, x, SCALAR(f, I64, 9));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "odd 5");
  assert_string_equal(o->path, "raise < if then < try body < raise_exn < if then < try handler 0 < for body 5");
}

/* Every allocation of a warm-up run and of runs after it fails once: kind memory or a status, and nothing is left
 * behind. */
static void fail_each_allocation(tk_fixture *f, bool resume) {
  set(f, ARRJIT_OPTION_RESUME_EVERYWHERE, resume);
  set(f, ARRJIT_OPTION_BLOCK_WORK, 0);
  arrjit_array *inputs[2] = {ARRAY(f, F64, 1, 2, 3), SCALAR(f, I64, 7)};
  for (int64_t n = 1, refused = 1; refused; n++) {
    arrjit_function *function = everything(f);
    refused = 0;
    for (int warm = 0; warm < 2; warm++) {
      arrjit_result *result = NULL;
      tk_alloc_arm(&f->alloc, n);
      arrjit_status status = run_interp(function, 2, inputs, &result);
      int64_t failed = atomic_load(&f->alloc.failed);
      refused += failed;
      tk_alloc_arm(&f->alloc, 0);
      if (status == ARRJIT_OK) {
        arrjit_kind kind = arrjit_result_kind(result);
        /* a trace entry that found no memory is only counted */
        assert_true(kind == ARRJIT_KIND_RUNTIME || (failed && kind == ARRJIT_KIND_MEMORY));
      } else {
        assert_int_equal(status, ARRJIT_MEMORY);
      }
      arrjit_result_destroy(result);
    }
  }
}

static void test_every_failing_allocation_is_survived(void **state) { fail_each_allocation(*state, false); }
static void test_every_failing_allocation_is_survived_while_resuming(void **state) {
  fail_each_allocation(*state, true);
}

static void test_counters_stop_before_they_overflow(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value lo = PARAM(g, "lo", I64), hi = PARAM(g, "hi", I64), step = PARAM(g, "step", I64), i, s, out;
  FOR(g, lo, hi, step, &i, &s, arrjit_const_i64(g, 0));
  arrjit_for_end(g, LIST(arrjit_add(g, s, arrjit_const_i64(g, 1))), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  const struct {
    int64_t lo, hi, step, times;
  } rows[] = {{INT64_MAX - 1, INT64_MAX, 2, 1},
              {INT64_MIN + 1, INT64_MIN, -2, 1},
              {INT64_MAX - 3, INT64_MAX, 1, 3},
              {0, 10, 3, 4},
              {10, 0, -3, 4},
              {5, 5, 1, 0},
              {5, 5, -1, 0},
              {INT64_MIN, INT64_MAX, INT64_MAX, 3}};
  for (size_t k = 0; k < TK_COUNT(rows); k++)
    EXPECT(RUN(f, function, SCALAR(f, I64, rows[k].lo), SCALAR(f, I64, rows[k].hi), SCALAR(f, I64, rows[k].step)), 0,
           I64, rows[k].times);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 1), SCALAR(f, I64, 2), SCALAR(f, I64, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 3, NULL);
  EXPECT_PAYLOAD(o, 3, I64, 0);
}

static void test_switch_takes_the_last_case_when_out_of_range(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value k = PARAM(g, "k", I64), out;
  arrjit_switch_begin(g, k);
  arrjit_switch_case(g, LIST(arrjit_const_i64(g, 10)));
  arrjit_switch_case(g, LIST(arrjit_const_i64(g, 11)));
  arrjit_switch_end(g, LIST(arrjit_const_i64(g, 12)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 1)), 0, I64, 11);
  EXPECT(RUN(f, function, SCALAR(f, I64, 3)), 0, I64, 12);
  EXPECT(RUN(f, function, SCALAR(f, I64, -1)), 0, I64, 12);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_scalar_loops_allocate_nothing),
    TK_TEST(test_dead_arrays_are_released_at_once),
    TK_TEST(test_memory_of_a_run_is_limited),
    TK_TEST(test_results_are_private),
    TK_TEST(test_depth_is_limited_and_frames_are_given_back),
    TK_TEST(test_long_functions_run_on_a_small_stack),
    TK_TEST(test_frames_rebuilt_everywhere_show_the_same),
    TK_TEST(test_every_failing_allocation_is_survived),
    TK_TEST(test_every_failing_allocation_is_survived_while_resuming),
    TK_TEST(test_counters_stop_before_they_overflow),
    TK_TEST(test_switch_takes_the_last_case_when_out_of_range),
};

TEST_MAIN(tests, NULL, NULL)
