/* 64 runners, half on the host's threads, with jobs that go well, fail or never end, cancelled and late at random, and
 * runners that are destroyed under them: every job ends, as it may, and is told exactly once. Runs 5 s, or ARRJIT_LONG
 * seconds; a seed of its own in ARRJIT_SEED. */
#include <pthread.h>
#include <stdatomic.h>

#include "base.h"
#include "fixture.h"
#include "pool.h"

enum {
  SUBMITTERS = 4,
  RUNNERS = 64,
  OWN = RUNNERS / SUBMITTERS, /* runners of a submitter */
  RING = 48,                  /* jobs that a submitter watches */
  STUCK_S = 60                /* what takes longer is stuck */
};
typedef enum job_kind { GOOD, FAILING, ENDLESS, JOB_KINDS } job_kind;

typedef struct stress {
  tk_fixture *f;
  tk_pool pool;
  arrjit_function *functions[JOB_KINDS];
  arrjit_array *inputs[JOB_KINDS];
  int64_t until_ns;
  _Atomic int64_t submitted, completed, refused, runners;
} stress;

/* A job and what may become of it. It stays until its completion has returned. */
typedef struct watched {
  arrjit_job *job;
  stress *of;
  job_kind kind;
  int runner;
  bool cancelled, late, shut, takes; /* takes: the completion has the result */
  _Atomic int completions;
  _Atomic int taken_kind;
} watched;

typedef struct submitter {
  stress *of;
  pthread_t thread;
  tk_random random;
  arrjit_runner *runners[OWN];
  watched ring[RING];
  char wrong[300]; /* "" when all went well */
} submitter;

#define NOTE(me, ...)                                                                                                  \
  do {                                                                                                                 \
    if (!(me)->wrong[0]) snprintf((me)->wrong, sizeof(me)->wrong, __VA_ARGS__);                                        \
  } while (0)

static arrjit_function *make_function(tk_fixture *f, job_kind kind) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), vars[1], out[1] = {NULL};
  if (kind == ENDLESS) {
    WHILE(g, vars, x);
    arrjit_while_body(g, arrjit_const_bool(g, 1), vars);
    arrjit_while_end(g, LIST(arrjit_add(g, vars[0], arrjit_const_f64(g, 1))), out);
  } else {
    CHECK(g, arrjit_gt(g, x, arrjit_const_f64(g, 0)), ARRJIT_KIND_RUNTIME, 4, "not above 0: {0}", LIST(x), out, x);
  }
  RETURN(g, out[0]);
  return tk_finish(f, g);
}

static void complete(void *user, arrjit_job *job) {
  watched *w = user;
  arrjit_result *result = NULL;
  if (w->takes && arrjit_job_take(job, &result, NULL) == ARRJIT_OK) {
    atomic_store(&w->taken_kind, (int)arrjit_result_kind(result));
    arrjit_result_destroy(result);
  }
  atomic_fetch_add(&w->of->completed, 1);
  atomic_fetch_add(&w->completions, 1); /* last: the watcher may reuse it now */
}

/* Whether a job may have ended like that. */
static bool may_end(const watched *w, arrjit_kind kind) {
  if (kind == ARRJIT_KIND_CANCELLED) return w->cancelled;
  if (kind == ARRJIT_KIND_DEADLINE) return w->late;
  if (kind == ARRJIT_KIND_SHUTDOWN) return w->shut;
  return (w->kind == GOOD && kind == ARRJIT_KIND_NONE) || (w->kind == FAILING && kind == ARRJIT_KIND_RUNTIME);
}

/* Before waiting: endless jobs would keep the threads that others need. */
static void cancel_endless(submitter *me) {
  for (int i = 0; i < RING; i++) {
    watched *w = &me->ring[i];
    if (!w->job || w->kind != ENDLESS || w->late || w->cancelled) continue;
    w->cancelled = true;
    arrjit_job_cancel(w->job);
  }
}

/* Sees a job to its end. */
static void finish(submitter *me, watched *w) {
  arrjit_result *result = NULL;
  arrjit_error error;
  if (!w->job) return;
  if (!arrjit_job_done(w->job)) cancel_endless(me);
  int64_t limit_ns = arrjit_clock_ns() + STUCK_S * INT64_C(1000000000);
  arrjit_status status = arrjit_job_wait(w->job, STUCK_S * INT64_C(1000000000), &result, &error);
  while (!atomic_load(&w->completions) && arrjit_clock_ns() < limit_ns) sched_yield();
  arrjit_kind kind = w->takes ? (arrjit_kind)atomic_load(&w->taken_kind) : arrjit_result_kind(result);
  /* a completion that takes and this wait race for the result; what it is must be right in any case */
  if (w->takes && status == ARRJIT_OK) kind = arrjit_result_kind(result);
  if (status != ARRJIT_OK && !(w->takes && status == ARRJIT_NOT_FOUND)) NOTE(me, "no result: %.200s", error.message);
  if (atomic_load(&w->completions) != 1) NOTE(me, "%d completions of one job", atomic_load(&w->completions));
  if (!may_end(w, kind)) NOTE(me, "job of kind %d ended with %d", (int)w->kind, (int)kind);
  arrjit_result_destroy(result);
  arrjit_job_release(w->job);
  w->job = NULL;
}

static arrjit_runner *make_runner(submitter *me, int index) {
  arrjit_runner *runner = NULL;
  const arrjit_runner_options options = {.struct_bytes = sizeof options,
                                         .executor = index % 2 ? &me->of->pool.executor : NULL,
                                         .max_queued = index % 8 == 7 ? 2 : 0};
  if (arrjit_runner_create(me->of->f->context, &options, &runner, NULL) != ARRJIT_OK) NOTE(me, "no runner");
  atomic_fetch_add(&me->of->runners, 1);
  return runner;
}

/* Ends a runner with whatever it has, and starts another in its place. */
static void replace_runner(submitter *me, int index) {
  for (int i = 0; i < RING; i++)
    if (me->ring[i].job && me->ring[i].runner == index) me->ring[i].shut = true;
  if (arrjit_runner_destroy(me->runners[index]) != ARRJIT_OK) NOTE(me, "a runner does not end");
  for (int i = 0; i < RING; i++)
    if (me->ring[i].job && me->ring[i].shut && !arrjit_job_done(me->ring[i].job)) NOTE(me, "a job outlives its runner");
  me->runners[index] = make_runner(me, index);
}

static void submit(submitter *me, watched *w) {
  stress *of = me->of;
  *w = (watched){.of = of, .runner = (int)tk_below(&me->random, OWN), .takes = tk_chance(&me->random, 25)};
  w->kind = tk_chance(&me->random, 10) ? ENDLESS : tk_chance(&me->random, 20) ? FAILING : GOOD;
  w->late = tk_chance(&me->random, w->kind == ENDLESS ? 50 : 5);
  arrjit_run_options run = {.struct_bytes = sizeof run};
  run.mode = (arrjit_mode)tk_below(&me->random, tk_native() ? 3 : 2);
  if (w->late) run.deadline_ns = arrjit_clock_ns() + (int64_t)tk_below(&me->random, 3000000);
  const arrjit_job_options options = {.struct_bytes = sizeof options, .run = &run, .completion = complete, .user = w};
  arrjit_status status = arrjit_runner_submit_job(me->runners[w->runner], of->functions[w->kind], &options, 1,
                                                  &of->inputs[w->kind], &w->job, NULL);
  atomic_fetch_add(status == ARRJIT_OK ? &of->submitted : &of->refused, 1);
  if (status != ARRJIT_OK) w->job = NULL;
  if (status != ARRJIT_OK && status != ARRJIT_BUSY && status != ARRJIT_LIMIT) NOTE(me, "submit: %d", (int)status);
}

static void *work(void *arg) {
  submitter *me = arg;
  for (int i = 0; i < OWN; i++) me->runners[i] = make_runner(me, i);
  for (size_t at = 0; arrjit_clock_ns() < me->of->until_ns && !me->wrong[0]; at = (at + 1) % RING) {
    finish(me, &me->ring[at]);
    submit(me, &me->ring[at]);
    watched *other = &me->ring[tk_below(&me->random, RING)];
    if (other->job && tk_chance(&me->random, 10)) {
      other->cancelled = true;
      arrjit_job_cancel(other->job);
    }
    if (tk_chance(&me->random, 1)) replace_runner(me, (int)tk_below(&me->random, OWN));
  }
  for (int i = 0; i < OWN / 2; i++) replace_runner(me, i);
  for (int i = 0; i < RING; i++) finish(me, &me->ring[i]);
  for (int i = 0; i < OWN; i++)
    if (arrjit_runner_destroy(me->runners[i]) != ARRJIT_OK) NOTE(me, "a runner does not end");
  return NULL;
}

static int64_t read_number(const char *name, int64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

static void test_threads_stress_runners(void **state) {
  static submitter all[SUBMITTERS];
  stress of = {.f = *state};
  int64_t seconds = read_number("ARRJIT_LONG", 5), seed = read_number("ARRJIT_SEED", arrjit_clock_ns());
  print_message("seed %lld\n", (long long)seed);
  for (int k = 0; k < JOB_KINDS; k++) {
    of.functions[k] = make_function(of.f, (job_kind)k);
    of.inputs[k] = SCALAR(of.f, F64, k == FAILING ? -1 : 1);
  }
  tk_pool_start(&of.pool, TK_POOL_THREADS);
  tk_pool_set(&of.pool, 5, false);
  of.until_ns = arrjit_clock_ns() + seconds * INT64_C(1000000000);
  for (int i = 0; i < SUBMITTERS; i++) {
    all[i] = (submitter){.of = &of, .random = {(uint64_t)(seed * SUBMITTERS + i)}};
    assert_int_equal(pthread_create(&all[i].thread, NULL, work, &all[i]), 0);
  }
  for (int i = 0; i < SUBMITTERS; i++) pthread_join(all[i].thread, NULL);
  tk_pool_stop(&of.pool);
  for (int i = 0; i < SUBMITTERS; i++)
    if (all[i].wrong[0]) fail_msg("submitter %d: %s", i, all[i].wrong);
  print_message("%lld jobs, %lld refused, %lld runners\n", (long long)of.submitted, (long long)of.refused,
                (long long)of.runners);
  assert_true(of.submitted == of.completed);
  assert_true(of.submitted > 100);
}

static const struct CMUnitTest tests[] = {TK_TEST(test_threads_stress_runners)};

TEST_MAIN(tests, NULL, NULL)
