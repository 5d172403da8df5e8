/* Jobs of runners: completions, taking without waiting, limits, counts, shutting down, the host's own threads. Order,
 * cancel and deadline are in unit/runner_test.c. */
#include <pthread.h>

#include "jobs.h"
#include "pool.h"

enum { JOBS = 40 };

static arrjit_runner *make_runner(tk_fixture *f, arrjit_runner_options options) {
  arrjit_runner *runner = NULL;
  arrjit_error error;
  options.struct_bytes = sizeof options;
  if (arrjit_runner_create(f->context, &options, &runner, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  return runner;
}

static arrjit_runner_statistics count(arrjit_runner *runner) {
  arrjit_runner_statistics statistics;
  arrjit_runner_get_statistics(runner, &statistics);
  return statistics;
}

/* ---- completions ---- */

/* What completions saw; they all run on one thread at a time, and the test looks after the runner is destroyed. */
typedef struct seen {
  arrjit_function *function;
  arrjit_array *x;
  arrjit_runner *runner;
  int calls, failed, chain;
  arrjit_status waited, destroyed;
  arrjit_kind kinds[JOBS];
  pthread_t thread;
} seen;

static void note(void *user, arrjit_job *job) {
  seen *s = user;
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_job_done(job), 1);
  assert_int_equal(arrjit_job_take(job, &result, NULL), ARRJIT_OK);
  s->failed += !arrjit_result_ok(result);
  s->kinds[s->calls++] = arrjit_result_kind(result);
  s->thread = pthread_self();
  arrjit_result_destroy(result);
}

/* The next of a chain of jobs, each submitted by the completion of the one before; their handles go here. */
static void go_on(void *user, arrjit_job *job) {
  seen *s = user;
  s->calls++;
  arrjit_job_release(job);
  if (s->calls == s->chain) return;
  const arrjit_job_options options = {.struct_bytes = sizeof options, .completion = go_on, .user = s};
  assert_int_equal(arrjit_runner_submit_job(s->runner, s->function, &options, 1, &s->x, &job, NULL), ARRJIT_OK);
}

static void test_completions_are_called_once_in_order(void **state) {
  tk_fixture *f = *state;
  seen s = {.calls = 0};
  arrjit_function *check = tk_make_check(f);
  arrjit_runner *runner = make_runner(f, (arrjit_runner_options){.completion = note, .completion_user = &s});
  arrjit_array *good = SCALAR(f, F64, 1), *bad = SCALAR(f, F64, -1);
  for (int i = 0; i < JOBS; i++)
    assert_int_equal(arrjit_runner_submit_job(runner, check, NULL, 1, i % 4 ? &good : &bad, NULL, NULL), ARRJIT_OK);
  while (count(runner).done < JOBS) sched_yield();
  arrjit_runner_statistics statistics = count(runner);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
  assert_int_equal(statistics.queued, 0);
  assert_int_equal(statistics.running, 0);
  assert_int_equal(statistics.failed, JOBS / 4);
  assert_int_equal(s.calls, JOBS);
  assert_int_equal(s.failed, JOBS / 4);
  for (int i = 0; i < JOBS; i++) assert_int_equal(s.kinds[i], i % 4 ? ARRJIT_KIND_NONE : ARRJIT_KIND_RUNTIME);
  assert_false(pthread_equal(s.thread, pthread_self()));
}

static void test_completions_submit_and_release(void **state) {
  tk_fixture *f = *state;
  seen s = {.function = tk_make_check(f), .x = SCALAR(f, F64, 1), .chain = 200};
  s.runner = make_runner(f, (arrjit_runner_options){.max_queued = 1});
  const arrjit_job_options options = {.struct_bytes = sizeof options, .completion = go_on, .user = &s};
  arrjit_job *job;
  assert_int_equal(arrjit_runner_submit_job(s.runner, s.function, &options, 1, &s.x, &job, NULL), ARRJIT_OK);
  while (count(s.runner).done < s.chain) sched_yield();
  assert_int_equal(arrjit_runner_destroy(s.runner), ARRJIT_OK);
  assert_int_equal(s.calls, s.chain);
}

/* Waiting for another job, or for the end of the runner, from inside: refused at once. */
static void try_to_wait(void *user, arrjit_job *job) {
  seen *s = user;
  arrjit_result *result = NULL;
  arrjit_job *other = tk_submit(s->runner, s->function, s->x, NULL);
  (void)job;
  s->waited = arrjit_job_wait(other, -1, &result, NULL);
  s->destroyed = arrjit_runner_destroy(s->runner);
  assert_int_equal(arrjit_job_take(other, &result, NULL), ARRJIT_TIMEOUT);
  arrjit_job_release(other);
}

static void test_nothing_waits_inside_a_completion(void **state) {
  tk_fixture *f = *state;
  seen s = {.function = tk_make_check(f), .x = SCALAR(f, F64, 1)};
  s.runner = make_runner(f, (arrjit_runner_options){.max_queued = 0});
  const arrjit_job_options options = {.struct_bytes = sizeof options, .completion = try_to_wait, .user = &s};
  assert_int_equal(arrjit_runner_submit_job(s.runner, s.function, &options, 1, &s.x, NULL, NULL), ARRJIT_OK);
  while (count(s.runner).done < 2) sched_yield();
  assert_int_equal(arrjit_runner_destroy(s.runner), ARRJIT_OK);
  assert_int_equal(s.waited, ARRJIT_BUSY);
  assert_int_equal(s.destroyed, ARRJIT_BUSY);
}

/* ---- looking, limits, the end ---- */

static void test_take_does_not_wait(void **state) {
  tk_fixture *f = *state;
  arrjit_runner *runner = make_runner(f, (arrjit_runner_options){.max_queued = 0});
  arrjit_job *job = tk_submit(runner, tk_make_endless(f), SCALAR(f, F64, 1), NULL);
  arrjit_result *result = NULL;
  arrjit_error error;
  assert_int_equal(arrjit_job_take(job, &result, &error), ARRJIT_TIMEOUT);
  assert_string_equal(error.message, "the job is not done");
  assert_int_equal(arrjit_job_done(job), 0);
  arrjit_job_cancel(job);
  while (!arrjit_job_done(job)) sched_yield();
  assert_int_equal(arrjit_job_take(job, &result, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
  arrjit_result_destroy(result);
  assert_int_equal(arrjit_job_take(job, &result, NULL), ARRJIT_NOT_FOUND);
  arrjit_job_release(job);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
}

static void test_a_full_queue_takes_no_more(void **state) {
  tk_fixture *f = *state;
  arrjit_function *check = tk_make_check(f);
  arrjit_array *x = SCALAR(f, F64, 1);
  arrjit_runner *runner = make_runner(f, (arrjit_runner_options){.max_queued = 3});
  arrjit_job *endless = tk_submit(runner, tk_make_endless(f), x, NULL), *jobs[3], *refused = NULL;
  arrjit_error error;
  while (count(runner).running == 0) sched_yield(); /* the one that runs does not count */
  for (int i = 0; i < 3; i++) jobs[i] = tk_submit(runner, check, x, NULL);
  assert_int_equal(arrjit_runner_submit(runner, check, NULL, 1, &x, &refused, &error), ARRJIT_LIMIT);
  assert_string_equal(error.message, "3 jobs are queued, as many as max_queued allows");
  assert_null(refused);
  assert_int_equal(count(runner).queued, 3);
  arrjit_job_cancel(endless);
  assert_int_equal(tk_wait_kind(endless), ARRJIT_KIND_CANCELLED);
  for (int i = 0; i < 3; i++) assert_int_equal(tk_wait_kind(jobs[i]), ARRJIT_KIND_NONE);
  assert_int_equal(tk_wait_kind(tk_submit(runner, check, x, NULL)), ARRJIT_KIND_NONE);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
}

/* A deadline is a point in time: the queue counts. */
static void test_deadlines_count_from_submitting(void **state) {
  tk_fixture *f = *state;
  arrjit_array *x = SCALAR(f, F64, 1);
  arrjit_runner *runner = make_runner(f, (arrjit_runner_options){.max_queued = 0});
  arrjit_job *endless = tk_submit(runner, tk_make_endless(f), x, NULL), *late = NULL, *early = NULL;
  arrjit_run_options options = {.struct_bytes = sizeof options, .deadline_ns = arrjit_clock_ns() + 1000000};
  arrjit_function *check = tk_make_check(f);
  assert_int_equal(arrjit_runner_submit(runner, check, &options, 1, &x, &late, NULL), ARRJIT_OK);
  options.deadline_ns = arrjit_clock_ns() + INT64_C(60000000000);
  assert_int_equal(arrjit_runner_submit(runner, check, &options, 1, &x, &early, NULL), ARRJIT_OK);
  while (arrjit_clock_ns() < options.deadline_ns - INT64_C(59990000000)) sched_yield();
  arrjit_job_cancel(endless);
  assert_int_equal(tk_wait_kind(endless), ARRJIT_KIND_CANCELLED);
  assert_int_equal(tk_wait_kind(late), ARRJIT_KIND_DEADLINE);
  assert_int_equal(tk_wait_kind(early), ARRJIT_KIND_NONE);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
}

static void submit_late(void *user, arrjit_job *job) {
  seen *s = user;
  s->calls++;
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_job_take(job, &result, NULL), ARRJIT_OK);
  s->failed += arrjit_result_kind(result) == ARRJIT_KIND_SHUTDOWN;
  arrjit_result_destroy(result);
  s->waited = arrjit_runner_submit_job(s->runner, s->function, NULL, 1, &s->x, NULL, NULL);
}

static void test_shutting_down_accounts_for_every_job(void **state) {
  tk_fixture *f = *state;
  tk_pool pool;
  tk_pool_start(&pool, 2);
  for (int hosted = 0; hosted < 2; hosted++) {
    seen s = {.function = tk_make_check(f), .x = SCALAR(f, F64, 1)};
    s.runner = make_runner(f, (arrjit_runner_options){.completion = submit_late,
                                                      .completion_user = &s,
                                                      .executor = hosted ? &pool.executor : NULL});
    arrjit_job *running = tk_submit(s.runner, tk_make_endless(f), s.x, NULL);
    while (count(s.runner).running == 0) sched_yield();
    for (int i = 1; i < JOBS; i++)
      assert_int_equal(arrjit_runner_submit_job(s.runner, s.function, NULL, 1, &s.x, NULL, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_runner_destroy(s.runner), ARRJIT_OK);
    assert_int_equal(s.calls, JOBS);
    assert_int_equal(s.failed, JOBS);
    assert_int_equal(s.waited, ARRJIT_BUSY); /* what comes while it ends is refused, not lost */
    assert_int_equal(arrjit_job_done(running), 1);
    arrjit_job_release(running);
  }
  tk_pool_stop(&pool);
}

/* ---- the host's threads ---- */

static void test_an_executor_runs_jobs_in_order(void **state) {
  tk_fixture *f = *state;
  tk_pool pool;
  seen s[3] = {{.calls = 0}};
  arrjit_runner *runners[3];
  arrjit_function *check = tk_make_check(f);
  arrjit_array *good = SCALAR(f, F64, 1), *bad = SCALAR(f, F64, -1);
  tk_pool_start(&pool, 2);
  for (int r = 0; r < 3; r++)
    runners[r] = make_runner(
        f, (arrjit_runner_options){.executor = &pool.executor, .completion = note, .completion_user = &s[r]});
  for (int i = 0; i < JOBS; i++)
    for (int r = 0; r < 3; r++)
      assert_int_equal(arrjit_runner_submit_job(runners[r], check, NULL, 1, i % (r + 2) ? &good : &bad, NULL, NULL),
                       ARRJIT_OK);
  for (int r = 0; r < 3; r++)
    while (count(runners[r]).done < JOBS) sched_yield();
  for (int r = 0; r < 3; r++) {
    assert_int_equal(arrjit_runner_destroy(runners[r]), ARRJIT_OK);
    assert_int_equal(s[r].calls, JOBS);
    for (int i = 0; i < JOBS; i++)
      assert_int_equal(s[r].kinds[i], i % (r + 2) ? ARRJIT_KIND_NONE : ARRJIT_KIND_RUNTIME);
  }
  assert_true(pool.taken <= 3 * JOBS);
  tk_pool_stop(&pool);
}

/* Nothing is queued by a call that says BUSY, and the next one finds the runner as it was. */
static void test_an_executor_may_refuse(void **state) {
  tk_fixture *f = *state;
  tk_pool pool;
  tk_pool_start(&pool, 1);
  arrjit_function *check = tk_make_check(f);
  arrjit_array *x = SCALAR(f, F64, 1);
  arrjit_runner *runner = make_runner(f, (arrjit_runner_options){.executor = &pool.executor});
  arrjit_job *job = NULL;
  arrjit_error error;
  tk_pool_set(&pool, 100, false);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(arrjit_runner_submit(runner, check, NULL, 1, &x, &job, &error), ARRJIT_BUSY);
    assert_string_equal(error.message, "the executor refused the task");
    assert_null(job);
    assert_int_equal(count(runner).queued, 0);
  }
  tk_pool_set(&pool, 0, false);
  assert_int_equal(tk_wait_kind(tk_submit(runner, check, x, NULL)), ARRJIT_KIND_NONE);
  assert_int_equal(count(runner).done, 1);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
  tk_pool_stop(&pool);
}

/* A task that the host takes and begins only when the runner is gone. */
static void test_a_task_may_begin_too_late(void **state) {
  tk_fixture *f = *state;
  tk_pool pool;
  tk_pool_start(&pool, 1);
  tk_pool_set(&pool, 0, true);
  arrjit_runner *runner = make_runner(f, (arrjit_runner_options){.executor = &pool.executor});
  arrjit_job *job = tk_submit(runner, tk_make_check(f), SCALAR(f, F64, 1), NULL);
  assert_int_equal(count(runner).queued, 1);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
  assert_int_equal(tk_wait_kind(job), ARRJIT_KIND_SHUTDOWN);
  tk_pool_set(&pool, 0, false);
  tk_pool_stop(&pool);
}

/* The plainest executor: the task runs before `submit` returns, whatever that returns then. */
static int run_inline(void *user, void (*task)(void *arg), void *arg) {
  task(arg);
  return user != NULL;
}

static void test_an_executor_may_run_inline(void **state) {
  tk_fixture *f = *state;
  for (int lies = 0; lies < 2; lies++) {
    const arrjit_executor executor = {.user = lies ? &lies : NULL, .submit = run_inline};
    seen s = {.function = tk_make_check(f), .x = SCALAR(f, F64, 1), .chain = 300};
    s.runner = make_runner(f, (arrjit_runner_options){.executor = &executor});
    arrjit_job *job = tk_submit(s.runner, s.function, s.x, NULL);
    assert_int_equal(arrjit_job_done(job), 1);
    assert_int_equal(tk_wait_kind(job), ARRJIT_KIND_NONE);
    const arrjit_job_options options = {.struct_bytes = sizeof options, .completion = go_on, .user = &s};
    job = NULL;
    assert_int_equal(arrjit_runner_submit_job(s.runner, s.function, &options, 1, &s.x, &job, NULL), ARRJIT_OK);
    assert_int_equal(s.calls, s.chain);
    assert_int_equal(arrjit_runner_destroy(s.runner), ARRJIT_OK);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_completions_are_called_once_in_order),
    TK_TEST(test_completions_submit_and_release),
    TK_TEST(test_nothing_waits_inside_a_completion),
    TK_TEST(test_take_does_not_wait),
    TK_TEST(test_a_full_queue_takes_no_more),
    TK_TEST(test_deadlines_count_from_submitting),
    TK_TEST(test_shutting_down_accounts_for_every_job),
    TK_TEST(test_an_executor_runs_jobs_in_order),
    TK_TEST(test_an_executor_may_refuse),
    TK_TEST(test_a_task_may_begin_too_late),
    TK_TEST(test_an_executor_may_run_inline),
};

TEST_MAIN(tests, NULL, NULL)
