/* Runners: order, failing jobs, cancelling, ending with jobs queued and running, waiting from the wrong place. */
#include <pthread.h>
#include <sched.h>

#include "jobs.h"

typedef struct bench {
  tk_fixture *f;
  arrjit_runner *runner;
  arrjit_function *add, *check, *endless;
  arrjit_array *one, *minus;
} bench;

static arrjit_function *make_add(tk_fixture *f) { /* x + x, and the host sees x */
  arrjit_graph *g = tk_graph(f);
  arrjit_type f64 = TYPE(F64);
  arrjit_value x = (arrjit_param)(g, "x", &f64), y;
  arrjit_slot slot = arrjit_slot_io(g, "seen", 1, &f64, ARRJIT_SLOT_OPTIONAL);
  CALLBACK(g, slot, &y, x);
  RETURN(g, arrjit_add(g, y, y));
  return tk_finish(f, g);
}

static bench begin(void **state) {
  tk_fixture *f = *state;
  bench b = {.f = f, .add = make_add(f), .check = tk_make_check(f), .endless = tk_make_endless(f)};
  b.one = SCALAR(f, F64, 1);
  b.minus = SCALAR(f, F64, -1);
  assert_int_equal(arrjit_runner_create(f->context, NULL, &b.runner, NULL), ARRJIT_OK);
  return b;
}

typedef struct log {
  int count;
  double seen[64];
} log_of;

static arrjit_status note(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                          const arrjit_view *results) {
  (void)call, (void)n, (void)m, (void)results;
  log_of *to = user;
  to->seen[to->count++] = *(const double *)args[0].data;
  return ARRJIT_OK;
}

static void test_jobs_run_in_order_whatever_fails(void **state) {
  bench b = begin(state);
  log_of seen = {0};
  const arrjit_binding binding = {.slot = "seen", .callback = note, .user = &seen};
  const arrjit_run_options options = {.struct_bytes = sizeof options, .binding_count = 1, .bindings = &binding};
  arrjit_job *jobs[32];
  for (int i = 0; i < 32; i++) {
    arrjit_array *x = SCALAR(b.f, F64, i);
    jobs[i] = i % 2 ? tk_submit(b.runner, b.check, b.minus, NULL) : tk_submit(b.runner, b.add, x, &options);
  }
  for (int i = 31; i >= 0; i--) assert_int_equal(tk_wait_kind(jobs[i]), i % 2 ? ARRJIT_KIND_RUNTIME : ARRJIT_KIND_NONE);
  assert_int_equal(seen.count, 16);
  for (int i = 0; i < 16; i++) assert_true(seen.seen[i] == 2 * i);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static void test_a_result_is_handed_out_once(void **state) {
  bench b = begin(state);
  arrjit_job *job = tk_submit(b.runner, b.add, b.one, NULL);
  arrjit_result *result = NULL, *again = NULL;
  assert_int_equal(arrjit_job_wait(job, -1, &result, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_job_done(job), 1);
  assert_int_equal(arrjit_job_wait(job, -1, &again, NULL), ARRJIT_NOT_FOUND);
  assert_null(again);
  assert_true(*(double *)arrjit_array_data(arrjit_result_output(result, 0)) == 2);
  arrjit_result_destroy(result);
  arrjit_job_release(job);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static void test_cancel_ends_running_and_queued_jobs(void **state) {
  bench b = begin(state);
  arrjit_job *running = tk_submit(b.runner, b.endless, b.one, NULL),
             *queued = tk_submit(b.runner, b.endless, b.one, NULL);
  arrjit_job *after = tk_submit(b.runner, b.add, b.one, NULL);
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_job_wait(running, 1000000, &result, NULL), ARRJIT_TIMEOUT);
  arrjit_job_cancel(queued);
  arrjit_job_cancel(running);
  assert_int_equal(tk_wait_kind(running), ARRJIT_KIND_CANCELLED);
  assert_int_equal(tk_wait_kind(queued), ARRJIT_KIND_CANCELLED);
  assert_int_equal(tk_wait_kind(after), ARRJIT_KIND_NONE);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static void test_the_hosts_cancel_and_deadline_count_too(void **state) {
  bench b = begin(state);
  arrjit_run_options options = {.struct_bytes = sizeof options};
  assert_int_equal(arrjit_cancel_create(b.f->context, &options.cancel, NULL), ARRJIT_OK);
  arrjit_job *job = tk_submit(b.runner, b.endless, b.one, &options);
  arrjit_cancel_trigger(options.cancel);
  arrjit_cancel_release(options.cancel);
  assert_int_equal(tk_wait_kind(job), ARRJIT_KIND_CANCELLED);
  options.cancel = NULL;
  options.deadline_ns = arrjit_clock_ns() + 5000000;
  assert_int_equal(tk_wait_kind(tk_submit(b.runner, b.endless, b.one, &options)), ARRJIT_KIND_DEADLINE);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static void test_ending_stops_what_runs_and_what_waits(void **state) {
  bench b = begin(state);
  arrjit_job *running = tk_submit(b.runner, b.endless, b.one, NULL), *queued = tk_submit(b.runner, b.add, b.one, NULL);
  arrjit_job *dropped = tk_submit(b.runner, b.add, b.one, NULL);
  arrjit_job_release(dropped);
  assert_int_equal(arrjit_context_destroy(b.f->context), ARRJIT_BUSY);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
  assert_int_equal(tk_wait_kind(running), ARRJIT_KIND_SHUTDOWN);
  assert_int_equal(tk_wait_kind(queued), ARRJIT_KIND_SHUTDOWN);
}

typedef struct inside {
  bench *b;
  arrjit_job *_Atomic job;
  arrjit_status waited, destroyed;
} inside;

static arrjit_status wait_inside(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                 const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  inside *in = user;
  arrjit_job *job;
  arrjit_result *result = NULL;
  while ((job = atomic_load(&in->job)) == NULL) sched_yield();
  in->waited = arrjit_job_wait(job, -1, &result, NULL);
  in->destroyed = arrjit_runner_destroy(in->b->runner);
  return ARRJIT_OK;
}

static void test_a_job_cannot_wait_for_its_own_runner(void **state) {
  bench b = begin(state);
  inside in = {.b = &b};
  const arrjit_binding binding = {.slot = "seen", .callback = wait_inside, .user = &in};
  const arrjit_run_options options = {.struct_bytes = sizeof options, .binding_count = 1, .bindings = &binding};
  arrjit_job *first = tk_submit(b.runner, b.add, b.one, &options), *second = tk_submit(b.runner, b.add, b.one, NULL);
  atomic_store(&in.job, second);
  assert_int_equal(tk_wait_kind(first), ARRJIT_KIND_NONE);
  assert_int_equal(tk_wait_kind(second), ARRJIT_KIND_NONE);
  assert_int_equal(in.waited, ARRJIT_BUSY);
  assert_int_equal(in.destroyed, ARRJIT_BUSY);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

/* Options, names and arrays of the call need not outlive it; outputs are written where they were given. */
static void test_jobs_keep_what_they_were_given(void **state) {
  bench b = begin(state);
  log_of seen = {0};
  char name[] = "seen";
  arrjit_binding binding = {.slot = name, .callback = note, .user = &seen};
  arrjit_array *x = NULL, *out = NULL;
  arrjit_type type = TYPE(F64);
  const double three = 3;
  assert_int_equal(arrjit_array_create(b.f->context, &type, &three, &x, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_array_create(b.f->context, &type, NULL, &out, NULL), ARRJIT_OK);
  arrjit_run_options options = {
      .struct_bytes = sizeof options, .binding_count = 1, .bindings = &binding, .outputs = &out};
  arrjit_job *block = tk_submit(b.runner, b.endless, b.one, NULL), *job = tk_submit(b.runner, b.add, x, &options);
  arrjit_array *given = out;
  arrjit_array_release(x);
  arrjit_array_release(out);
  memset(&options, 0xa5, sizeof options);
  memset(&binding, 0xa5, sizeof binding);
  memset(name, 'x', 4);
  out = NULL;
  arrjit_job_cancel(block);
  assert_int_equal(tk_wait_kind(block), ARRJIT_KIND_CANCELLED);
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_job_wait(job, -1, &result, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_result_ok(result), 1);
  assert_ptr_equal(arrjit_result_output(result, 0), given);
  assert_true(*(double *)arrjit_array_data(given) == 6);
  assert_int_equal(seen.count, 1);
  arrjit_result_destroy(result);
  arrjit_job_release(job);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static void test_misuse_of_runners_is_a_status(void **state) {
  bench b = begin(state);
  arrjit_job *job = NULL;
  arrjit_array *inputs[1] = {b.one}, *missing[1] = {NULL};
  const arrjit_run_options bad = {.struct_bytes = 1};
  assert_int_equal(arrjit_runner_submit(NULL, b.add, NULL, 1, inputs, &job, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_runner_submit(b.runner, NULL, NULL, 1, inputs, &job, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_runner_submit(b.runner, b.add, &bad, 1, inputs, &job, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_runner_submit(b.runner, b.add, NULL, 1, missing, &job, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_runner_submit(b.runner, b.add, NULL, 1, inputs, NULL, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_job_wait(NULL, 0, NULL, NULL), ARRJIT_MISUSE);
  /* what only the run can see comes as the status of the wait */
  const arrjit_binding nobody = {.slot = "nobody", .callback = note};
  const arrjit_run_options unknown = {.struct_bytes = sizeof unknown, .binding_count = 1, .bindings = &nobody};
  job = tk_submit(b.runner, b.add, b.one, &unknown);
  arrjit_result *result = NULL;
  arrjit_error error;
  assert_int_equal(arrjit_job_wait(job, -1, &result, &error), ARRJIT_MISUSE);
  assert_non_null(strstr(error.message, "nobody"));
  arrjit_job_release(job);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static void *submit_many(void *arg) {
  bench *b = arg;
  for (int i = 0; i < 50; i++) {
    arrjit_job *job = NULL;
    if (arrjit_runner_submit(b->runner, i % 3 ? b->add : b->check, NULL, 1, i % 3 ? &b->one : &b->minus, &job, NULL) !=
        ARRJIT_OK)
      continue;
    arrjit_result *result = NULL;
    if (i % 4 == 0) arrjit_job_cancel(job);
    if (arrjit_job_wait(job, i % 5 ? -1 : 0, &result, NULL) == ARRJIT_OK) arrjit_result_destroy(result);
    arrjit_job_release(job);
  }
  return NULL;
}

static void test_many_threads_submit(void **state) {
  bench b = begin(state);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &b), 0);
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  assert_int_equal(arrjit_runner_destroy(b.runner), ARRJIT_OK);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_jobs_run_in_order_whatever_fails),
    TK_TEST(test_a_result_is_handed_out_once),
    TK_TEST(test_cancel_ends_running_and_queued_jobs),
    TK_TEST(test_the_hosts_cancel_and_deadline_count_too),
    TK_TEST(test_ending_stops_what_runs_and_what_waits),
    TK_TEST(test_a_job_cannot_wait_for_its_own_runner),
    TK_TEST(test_jobs_keep_what_they_were_given),
    TK_TEST(test_misuse_of_runners_is_a_status),
    TK_TEST(test_many_threads_submit),
};

TEST_MAIN(tests, NULL, NULL)
