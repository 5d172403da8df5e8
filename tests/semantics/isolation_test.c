/* Callbacks among threads and loops: nobody waits for ever, nobody else notices a failure, each call is where it was
 * built. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "hosting.h"

/* ---- threads, with a watchdog ---- */

enum { THREADS = 5, WATCHDOG_SECONDS = 30, LONG_WATCHDOG_SECONDS = 600 };
typedef struct crowd {
  tk_fixture *f;
  arrjit_function *outer, *inner;
  arrjit_array *input;
  double expected;
  arrjit_mode mode;
  _Atomic int members, bad;
  int rounds;
} crowd;

static void run_crowd(crowd *c, int threads, void *(*body)(void *)) {
  pthread_t ids[THREADS];
  struct timespec until;
  for (int k = 0; k < threads; k++) assert_int_equal(pthread_create(&ids[k], NULL, body, c), 0);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += getenv("ARRJIT_LONG") || TK_SANITIZED ? LONG_WATCHDOG_SECONDS : WATCHDOG_SECONDS;
  for (int k = 0; k < threads; k++)
    if (pthread_timedjoin_np(ids[k], NULL, &until) != 0)
      tk_die("a thread does not come back"); /* and uses all we have */
  assert_int_equal(c->bad, 0);
}

/* f64[n, n] -> f64: what another function makes of it */
static arrjit_status run_product(HOST_ARGS) {
  (void)call, (void)arg_count, (void)result_count;
  crowd *c = user;
  arrjit_array *input = NULL;
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 2, args[0].dims);
  if (arrjit_array_create(c->f->context, &type, args[0].data, &input, NULL) != ARRJIT_OK) return ARRJIT_MEMORY;
  arrjit_result *result = run_bound(c->inner, c->mode, NULL, 1, &input);
  *(double *)results[0].data = first_f64(result);
  arrjit_result_destroy(result);
  arrjit_array_release(input);
  return ARRJIT_OK;
}

static void *run_products(void *user) {
  crowd *c = user;
  arrjit_binding binding = {.slot = "cb", .callback = run_product, .user = c};
  for (int k = 0; k < c->rounds; k++) {
    arrjit_result *result = run_bound(c->outer, c->mode, &binding, 1, &c->input);
    if (first_f64(result) != c->expected) atomic_fetch_add(&c->bad, 1);
    arrjit_result_destroy(result);
  }
  return NULL;
}

/* The sum of all of x, and of its first `rows` rows times its first `rows` columns: 500 rows are x times x. */
static arrjit_function *build_products(tk_fixture *f, int64_t n, int64_t rows) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 2, (const int64_t[]){n, n});
  arrjit_value x = arrjit_param(g, "x", &type);
  arrjit_value left = (arrjit_slice)(ARRJIT_AT_(g), x, 2, I64S(0, 0), I64S(rows, n), I64S(1, 1));
  arrjit_value right = (arrjit_slice)(ARRJIT_AT_(g), x, 2, I64S(0, 0), I64S(n, rows), I64S(1, 1));
  arrjit_value product = arrjit_dot(g, left, right, 0, NULL, NULL, 1, I64S(1), I64S(0));
  RETURN(g, arrjit_add(g, arrjit_reduce_sum(g, product, INTS(0, 1)), arrjit_reduce_sum(g, x, INTS(0, 1))));
  return tk_finish(f, g);
}

/* Whole numbers, so that the sum is exact in any order. */
static arrjit_array *make_matrix(tk_fixture *f, int64_t n, int64_t rows, double *out_expected) {
  arrjit_array *array = tk_array(f, arrjit_type_make(ARRJIT_F64, 2, (const int64_t[]){n, n}), NULL);
  double *data = arrjit_array_data(array);
  for (int64_t i = 0; i < n * n; i++) *out_expected += data[i] = (double)(i % 7);
  for (int64_t k = 0; k < n; k++) { /* the sum over k of (sum of column k) (sum of row k) */
    double column = 0, row = 0;
    for (int64_t i = 0; i < rows; i++) column += data[i * n + k], row += data[k * n + i];
    *out_expected += column * row;
  }
  return array;
}

/* Outer and inner kernels use the threads of one pool, of 1, 2 and as many as there are processors. */
static void multiply_in_callbacks(tk_fixture *f, int host_threads, int64_t rows, int rounds) {
  enum { N = 500 };
  const int64_t pool_sizes[] = {1, 2, sysconf(_SC_NPROCESSORS_ONLN)};
  crowd c = {.f = f, .rounds = rounds, .inner = build_products(f, N, rows)};
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, N, N), y;
  CALLBACK(g, arrjit_slot_value(g, "cb", TYPES(TYPE(F64, N, N)), TYPES(TYPE(F64)), 0), &y, arrjit_neg(g, x));
  RETURN(g, y);
  c.outer = tk_finish(f, g);
  c.input = make_matrix(f, N, rows, &c.expected);
  double *data = arrjit_array_data(c.input);
  for (int k = 0; k < N * N; k++) data[k] = -data[k]; /* the outer kernel turns it back */
  for (size_t m = 0; m < TK_COUNT(run_modes); m++)
    for (size_t p = 0; p < TK_COUNT(pool_sizes); p++) {
      arrjit_error error;
      if (arrjit_context_set_option(f->context, ARRJIT_OPTION_THREADS, pool_sizes[p], &error) != ARRJIT_OK)
        fail_msg("%s", error.message);
      c.mode = run_modes[m];
      run_crowd(&c, host_threads, run_products);
    }
}

/* Products of 48 rows are worth all threads of a pool; with ARRJIT_LONG it is the whole matrix. */
enum { PRODUCT_ROUNDS = TK_SANITIZED ? 10 : 100 };
static int64_t product_rows(void) { return getenv("ARRJIT_LONG") ? 500 : 48; }

static void test_case_b04_callbacks_multiply_large_arrays(void **state) {
  multiply_in_callbacks(*state, 1, TK_SANITIZED ? 100 : 500, 2);
  multiply_in_callbacks(*state, 1, product_rows(), PRODUCT_ROUNDS);
}

static void test_case_b04_threads_multiply_in_callbacks(void **state) {
  multiply_in_callbacks(*state, 4, product_rows(), PRODUCT_ROUNDS);
}

static arrjit_status fail_always(HOST_ARGS) {
  UNUSED_ARGS;
  return ARRJIT_FAILED;
}

/* The last of the crowd fails; the others sum x (0.5 x). */
static void *fail_or_sum(void *user) {
  crowd *c = user;
  bool fails = atomic_fetch_add(&c->members, 1) == THREADS - 1;
  arrjit_binding binding = {.slot = "cb", .callback = fail_always};
  for (int k = 0; k < c->rounds; k++) {
    arrjit_result *result =
        fails ? run_bound(c->outer, c->mode, &binding, 1, &c->input) : run_bound(c->inner, c->mode, NULL, 1, &c->input);
    bool right = fails ? arrjit_result_kind(result) == ARRJIT_KIND_CALLBACK
                       : arrjit_result_ok(result) &&
                             *(float *)arrjit_array_data(arrjit_result_output(result, 0)) == (float)c->expected;
    if (!right) atomic_fetch_add(&c->bad, 1);
    arrjit_result_destroy(result);
  }
  return NULL;
}

static arrjit_function *build_half_square(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 1000);
  arrjit_value half = arrjit_mul(g, x, arrjit_const_f32(g, 0.5f));
  RETURN(g, arrjit_reduce_sum(g, arrjit_mul(g, half, x), INTS(0)));
  return tk_finish(f, g);
}

static void test_case_b05_threads_only_the_caller_of_a_failing_one_sees_it(void **state) {
  tk_fixture *f = *state;
  float data[1000];
  for (int k = 0; k < 1000; k++) data[k] = 2;
  crowd c = {.f = f, .rounds = 300, .inner = build_half_square(f), .expected = 2000};
  c.outer = one_call(f, TYPE(F32, 1000), TYPE(F32));
  c.input = tk_array(f, TYPE(F32, 1000), data);
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    c.mode = run_modes[m];
    c.members = 0;
    run_crowd(&c, THREADS, fail_or_sum);
  }
}

/* The n-th allocation inside a run fails, for every n; the next run is right. */
static void test_case_b05_next_run_after_lack_of_memory(void **state) {
  tk_fixture *f = *state;
  float data[1000];
  for (int k = 0; k < 1000; k++) data[k] = 2;
  arrjit_function *function = build_half_square(f);
  arrjit_array *input = tk_array(f, TYPE(F32, 1000), data);
  for (size_t m = 0; m < 2; m++) {
    arrjit_result_destroy(run_bound(function, run_modes[m], NULL, 1, &input)); /* compiled, pools filled */
    bool failed = true;
    for (int64_t n = 1; failed && n < 100; n++) {
      tk_alloc_arm(&f->alloc, n);
      arrjit_result *result = run_bound(function, run_modes[m], NULL, 1, &input);
      failed = !result || !arrjit_result_ok(result);
      tk_alloc_arm(&f->alloc, 0);
      if (result && failed) assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_MEMORY);
      arrjit_result_destroy(result);
      result = run_bound(function, run_modes[m], NULL, 1, &input);
      assert_true(*(float *)arrjit_array_data(arrjit_result_output(result, 0)) == 2000);
      arrjit_result_destroy(result);
    }
    assert_false(failed);
  }
}

/* ---- a callback that is first taken late, and runs code of another shape ---- */

/* f64 -> f64: sums ones of an extent that no run had before; on this thread and on another */
typedef struct rare {
  crowd c;
  int64_t extent;
  double seen[2];
} rare;

static void *sum_ones(void *user) {
  rare *r = user;
  float ones[64];
  for (int k = 0; k < 64; k++) ones[k] = 1;
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, &r->extent);
  arrjit_array *input = NULL;
  if (arrjit_array_create(r->c.f->context, &type, ones, &input, NULL) != ARRJIT_OK) return NULL;
  arrjit_result *result = run_bound(r->c.inner, r->c.mode, NULL, 1, &input);
  r->seen[r->seen[0] != 0] = first_f64(result);
  arrjit_result_destroy(result);
  arrjit_array_release(input);
  return NULL;
}

static arrjit_status run_rarely(HOST_ARGS) {
  UNUSED_ARGS;
  rare *r = user;
  pthread_t thread;
  sum_ones(r);
  if (pthread_create(&thread, NULL, sum_ones, r) != 0) return ARRJIT_FAILED;
  pthread_join(thread, NULL);
  *(double *)results[0].data = r->seen[0] + r->seen[1];
  return ARRJIT_OK;
}

static void test_case_b09_callback_first_taken_when_hot(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), y, out;
  arrjit_slot slot = arrjit_slot_value(g, "cb", TYPES(TYPE(F64)), TYPES(TYPE(F64)), 0);
  arrjit_if_begin(g, arrjit_gt(g, x, arrjit_const_f64(g, 1e6)));
  CALLBACK(g, slot, &y, x);
  arrjit_if_else(g, LIST(arrjit_add(g, x, y)));
  arrjit_if_end(g, 1, &x, &out);
  RETURN(g, arrjit_mul(g, out, arrjit_const_f64(g, 2)));
  rare r = {.c = {.f = f, .outer = tk_finish(f, g)}};
  g = tk_graph(f);
  arrjit_value v = PARAM(g, "v", F32, arrjit_symbol(g, "n"));
  RETURN(g, arrjit_convert(g, arrjit_reduce_sum(g, v, INTS(0)), ARRJIT_F64));
  r.c.inner = tk_finish(f, g);
  arrjit_binding binding = {.slot = "cb", .callback = run_rarely, .user = &r};
  arrjit_array *small = SCALAR(f, F64, 3), *large = SCALAR(f, F64, 2e6);
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    r.c.mode = run_modes[m];
    r.extent = 4;
    sum_ones(&r);
    for (int k = 0; k < 10000; k++) {
      arrjit_result *result = run_bound(r.c.outer, r.c.mode, &binding, 1, &small);
      assert_true(first_f64(result) == 6);
      arrjit_result_destroy(result);
    }
    r.extent = 5 + (int64_t)m;
    r.seen[0] = r.seen[1] = 0;
    arrjit_result *result = run_bound(r.c.outer, r.c.mode, &binding, 1, &large);
    assert_true(first_f64(result) == 2 * (2e6 + 2 * (double)r.extent));
    arrjit_result_destroy(result);
  }
}

/* ---- callbacks stay in their loops ---- */

static arrjit_status fail_on_third(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  return slot->calls == 3 ? ARRJIT_FAILED : ARRJIT_OK;
}

/* for 5 iterations { io_call(count, ()); x = sin(x) }, the failure caught and raised with x; nested `outer` times */
static arrjit_function *build_counted(tk_fixture *f, int64_t outer) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32), zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, j, exn;
  arrjit_value rows[1], vars[1], next, inner[1], out[1];
  arrjit_slot count = arrjit_slot_io(g, "count", 0, NULL, 0);
  FOR(g, zero, arrjit_const_i64(g, outer), one, &i, rows, x);
  FOR(g, zero, arrjit_const_i64(g, 5), one, &j, vars, rows[0]);
  arrjit_try_begin(g);
  arrjit_callback(g, count, 0, NULL, NULL);
  arrjit_try_handler(g, LIST(arrjit_sin(g, vars[0])), ARRJIT_KIND_CALLBACK, &exn);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "stopped", vars[0], j);
  arrjit_try_end(g, 0, NULL, &next);
  arrjit_for_end(g, 1, &next, inner);
  arrjit_for_end(g, 1, inner, out);
  RETURN(g, out[0]);
  return tk_finish(f, g);
}

static void test_case_b11_callbacks_stay_in_their_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32);
  RETURN(g, arrjit_sin(g, arrjit_sin(g, x)));
  const tk_outcome *twice = RUN(f, tk_finish(f, g), SCALAR(f, F32, 1));
  EXPECT_OK(twice);
  float sin_sin_1;
  memcpy(&sin_sin_1, twice->outputs[0].data, sizeof sin_sin_1);
  for (int64_t outer = 1; outer <= 3; outer += 2) {
    arrjit_function *function = build_counted(f, outer);
    tk_slot *slot = tk_bind(f, "count", NULL, NULL);
    EXPECT_OK(RUN(f, function, SCALAR(f, F32, 1)));
    assert_int_equal(slot->calls, 5 * outer);
    slot = tk_bind(f, "count", fail_on_third, NULL);
    const tk_outcome *o = RUN(f, function, SCALAR(f, F32, 1));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "stopped");
    assert_int_equal(slot->calls, 3);
    EXPECT_PAYLOAD(o, 0, F32, sin_sin_1);
    EXPECT_PAYLOAD(o, 1, I64, 2);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b04_callbacks_multiply_large_arrays),
    TK_TEST(test_case_b04_threads_multiply_in_callbacks),
    TK_TEST(test_case_b05_threads_only_the_caller_of_a_failing_one_sees_it),
    TK_TEST(test_case_b05_next_run_after_lack_of_memory),
    TK_TEST(test_case_b09_callback_first_taken_when_hot),
    TK_TEST(test_case_b11_callbacks_stay_in_their_loops),
};

TEST_MAIN(tests, NULL, NULL)
