/* What may be used from any thread at any time is: functions, contexts, runners, jobs, cancel handles, events. Threads
 * note what went wrong and the test looks at it after joining them, as cmocka's failures belong to one thread. Meant to
 * be run under the thread sanitizer too. */
#include <pthread.h>

#include "fixture.h"

enum { THREADS = 4 };

typedef struct team team;
typedef struct member {
  team *team;
  int index;
  pthread_t thread;
  int64_t done;    /* units of work */
  char wrong[700]; /* "" when all went well */
} member;
struct team {
  tk_fixture *f;
  void (*work)(member *);
  arrjit_function *function;
  arrjit_runner *runner;
  arrjit_cancel *cancel;
  arrjit_mode mode;
  _Atomic int ending;
  member members[THREADS];
};

#define NOTE(member, ...)                                                                                              \
  do {                                                                                                                 \
    if (!(member)->wrong[0]) snprintf((member)->wrong, sizeof(member)->wrong, __VA_ARGS__);                            \
  } while (0)

static void *start(void *arg) {
  member *me = arg;
  me->team->work(me);
  return NULL;
}

static void begin_team(team *t, void (*work)(member *)) {
  t->work = work;
  for (int i = 0; i < THREADS; i++) {
    t->members[i] = (member){.team = t, .index = i};
    if (pthread_create(&t->members[i].thread, NULL, start, &t->members[i])) fail_msg("no thread");
  }
}

static void end_team(team *t) {
  int wrong = 0;
  for (int i = 0; i < THREADS; i++) pthread_join(t->members[i].thread, NULL);
  for (int i = 0; i < THREADS; i++) {
    if (t->members[i].wrong[0]) print_error("thread %d: %s\n", i, t->members[i].wrong), wrong++;
  }
  if (wrong) fail_msg("%d threads saw something wrong", wrong);
}

static void run_team(team *t, void (*work)(member *)) {
  begin_team(t, work);
  end_team(t);
}

static const arrjit_mode modes[] = {ARRJIT_MODE_AUTO, ARRJIT_MODE_INTERP, ARRJIT_MODE_WHOLE};

/* ---- functions to run ---- */

/* f(n: i64): adds ask(i) for i < n; fails with kind runtime when n is negative. */
static arrjit_function *build_sum(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type whole = TYPE(I64);
  arrjit_slot ask = arrjit_slot_value(g, "ask", 1, &whole, 1, &whole, 0);
  arrjit_value n = PARAM(g, "n", I64), zero = arrjit_const_i64(g, 0), checked[1], i, sum[1], more[1], total[1];
  CHECK(g, arrjit_ge(g, n, zero), ARRJIT_KIND_RUNTIME, 5, "{0} is negative", LIST(n), checked, n);
  FOR(g, zero, checked[0], arrjit_const_i64(g, 1), &i, sum, zero);
  CALLBACK(g, ask, more, i);
  more[0] = arrjit_add(g, sum[0], more[0]);
  arrjit_for_end(g, 1, more, total);
  RETURN(g, total[0]);
  return tk_finish(f, g);
}

/* f(x: i64): goes round for ever. */
static arrjit_function *build_endless(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), v[1], out[1];
  WHILE(g, v, x);
  arrjit_while_body(g, arrjit_const_bool(g, 1), v);
  arrjit_while_end(g, LIST(arrjit_add(g, v[0], arrjit_const_i64(g, 1))), out);
  RETURN(g, out[0]);
  return tk_finish(f, g);
}

/* Gives the index times the user's number. */
static arrjit_status times(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                           size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)result_count;
  *(int64_t *)results[0].data = *(const int64_t *)args[0].data * *(const int64_t *)user;
  return ARRJIT_OK;
}

static arrjit_array *make_scalar(member *me, int64_t value) {
  arrjit_type type = TYPE(I64);
  arrjit_array *array = NULL;
  if (arrjit_array_create(me->team->f->context, &type, &value, &array, NULL) != ARRJIT_OK) NOTE(me, "no array");
  return array;
}

/* Whether the result is that of build_sum's function for n and a factor. */
static void check_sum(member *me, arrjit_result *result, int64_t n, int64_t factor) {
  if (n < 0) {
    if (arrjit_result_kind(result) != ARRJIT_KIND_RUNTIME || arrjit_result_code(result) != 5)
      NOTE(me, "n %d: %s", (int)n, arrjit_result_text(result));
    return;
  }
  int64_t want = n * (n - 1) / 2 * factor;
  if (!arrjit_result_ok(result))
    NOTE(me, "n %d: %s", (int)n, arrjit_result_text(result));
  else if (*(const int64_t *)arrjit_array_data(arrjit_result_output(result, 0)) != want)
    NOTE(me, "n %d: wrong sum", (int)n);
}

/* ---- one function on many threads ---- */

static void run_sums(member *me) {
  for (int k = 0; k < 60; k++) {
    int64_t n = k % 7 == 6 ? -1 : k, factor = me->index + 1;
    const arrjit_binding binding = {"ask", times, &factor, NULL};
    arrjit_run_options o = {.struct_bytes = sizeof o, .mode = modes[k % 3], .binding_count = 1, .bindings = &binding};
    arrjit_array *in = make_scalar(me, n);
    arrjit_result *result = NULL;
    arrjit_error error;
    arrjit_function_retain(me->team->function);
    if (arrjit_run(me->team->function, &o, 1, &in, &result, &error) == ARRJIT_OK)
      check_sum(me, result, n, factor);
    else
      NOTE(me, "run: %s", error.message);
    arrjit_function_release(me->team->function);
    arrjit_result_destroy(result);
    arrjit_array_release(in);
  }
}

static void test_threads_share_a_function(void **state) {
  team t = {.f = *state, .function = build_sum(*state)};
  run_team(&t, run_sums);
}

static void prepare_and_wait(member *me) {
  arrjit_function *function = me->team->function;
  arrjit_error error;
  arrjit_status status = arrjit_function_prepare(function, NULL, &error);
  if (status == ARRJIT_OK) status = arrjit_function_wait(function, -1, &error);
  if (status != (tk_native() ? ARRJIT_OK : ARRJIT_UNAVAILABLE)) NOTE(me, "compiling: %s", error.message);
  if (arrjit_context_wait_idle(me->team->f->context, -1) != ARRJIT_OK) NOTE(me, "not idle");
  run_sums(me);
}

static void test_threads_prepare_the_same_function(void **state) {
  team t = {.f = *state, .function = build_sum(*state)};
  run_team(&t, prepare_and_wait);
  arrjit_function_statistics statistics;
  arrjit_function_get_statistics(t.function, &statistics);
  assert_int_equal(statistics.compilations, tk_native() ? 1 : 0);
}

/* ---- runners ---- */

static void submit_jobs(member *me) {
  enum { JOBS = 40 };
  arrjit_job *jobs[JOBS] = {NULL};
  int64_t factor = me->index + 2;
  const arrjit_binding binding = {"ask", times, &factor, NULL};
  for (int k = 0; k < JOBS; k++) {
    arrjit_run_options o = {.struct_bytes = sizeof o, .mode = modes[k % 3], .binding_count = 1, .bindings = &binding};
    arrjit_array *in = make_scalar(me, k % 5 == 4 ? -k : k);
    if (arrjit_runner_submit(me->team->runner, me->team->function, &o, 1, &in, &jobs[k], NULL) != ARRJIT_OK)
      NOTE(me, "job %d is refused", k);
    arrjit_array_release(in);
  }
  for (int k = 0; k < JOBS; k++) {
    arrjit_result *result = NULL;
    arrjit_error error;
    if (arrjit_job_wait(jobs[k], -1, &result, &error) == ARRJIT_OK)
      check_sum(me, result, k % 5 == 4 ? -k : k, factor);
    else
      NOTE(me, "job %d: %s", k, error.message);
    if (!arrjit_job_done(jobs[k])) NOTE(me, "job %d is waited for and not done", k);
    arrjit_result_destroy(result);
    arrjit_job_release(jobs[k]);
  }
}

static void test_threads_share_a_runner(void **state) {
  team t = {.f = *state, .function = build_sum(*state)};
  assert_int_equal(arrjit_runner_create(t.f->context, NULL, &t.runner, NULL), ARRJIT_OK);
  run_team(&t, submit_jobs);
  assert_int_equal(arrjit_runner_destroy(t.runner), ARRJIT_OK);
}

/* Each thread has a runner with an endless job and queued ones, cancels one, and ends the runner. */
static void end_runner(member *me) {
  arrjit_job *jobs[3] = {NULL};
  arrjit_runner *runner = NULL;
  arrjit_array *in = make_scalar(me, 0);
  const arrjit_kind kinds[3] = {ARRJIT_KIND_CANCELLED, ARRJIT_KIND_SHUTDOWN, ARRJIT_KIND_SHUTDOWN};
  arrjit_run_options o = {.struct_bytes = sizeof o, .mode = modes[me->index % 3]};
  if (arrjit_runner_create(me->team->f->context, NULL, &runner, NULL) != ARRJIT_OK) NOTE(me, "no runner");
  for (int k = 0; k < 3; k++)
    if (arrjit_runner_submit(runner, me->team->function, &o, 1, &in, &jobs[k], NULL) != ARRJIT_OK)
      NOTE(me, "job %d", k);
  arrjit_array_release(in);
  arrjit_job_cancel(jobs[0]);
  arrjit_result *result = NULL;
  for (int k = 0; k < 3; k++) {
    if (k == 1 && arrjit_job_wait(jobs[1], 1000000, &result, NULL) != ARRJIT_TIMEOUT) NOTE(me, "an endless job ends");
    if (k == 1 && arrjit_runner_destroy(runner) != ARRJIT_OK) NOTE(me, "the runner does not end");
    if (arrjit_job_wait(jobs[k], -1, &result, NULL) != ARRJIT_OK)
      NOTE(me, "no result of job %d", k);
    else if (arrjit_result_kind(result) != kinds[k])
      NOTE(me, "job %d: %s", k, arrjit_result_text(result));
    arrjit_result_destroy(result);
    arrjit_job_release(jobs[k]);
    result = NULL;
  }
}

static void test_threads_end_runners_with_jobs(void **state) {
  team t = {.f = *state, .function = build_endless(*state)};
  run_team(&t, end_runner);
}

/* ---- cancel, deadline ---- */

static void run_for_ever(member *me) {
  arrjit_array *in = make_scalar(me, me->index);
  bool late = me->index % 2;
  arrjit_run_options o = {.struct_bytes = sizeof o, .mode = me->team->mode, .cancel = me->team->cancel};
  for (int k = 0; k < 3; k++) {
    arrjit_result *result = NULL;
    o.deadline_ns = late ? arrjit_clock_ns() + 2000000 * (k + 1) : 0;
    if (arrjit_run(me->team->function, &o, 1, &in, &result, NULL) != ARRJIT_OK) NOTE(me, "no result");
    arrjit_kind kind = arrjit_result_kind(result);
    if (kind != ARRJIT_KIND_CANCELLED && !(late && kind == ARRJIT_KIND_DEADLINE))
      NOTE(me, "%s", arrjit_result_text(result));
    arrjit_result_destroy(result);
  }
  arrjit_array_release(in);
}

static void cancel_in(tk_fixture *f, arrjit_mode mode) {
  team t = {.f = f, .function = build_endless(f), .mode = mode};
  assert_int_equal(arrjit_cancel_create(f->context, &t.cancel, NULL), ARRJIT_OK);
  begin_team(&t, run_for_ever);
  const struct timespec pause = {.tv_nsec = 30000000};
  nanosleep(&pause, NULL);
  arrjit_cancel_trigger(t.cancel);
  int64_t start_ns = arrjit_clock_ns();
  end_team(&t);
  if (arrjit_clock_ns() - start_ns > 10000000000) fail_msg("cancelled runs end after more than 10 s");
  arrjit_cancel_release(t.cancel);
}

static void test_threads_are_cancelled_and_late_interp(void **state) { cancel_in(*state, ARRJIT_MODE_INTERP); }
static void test_threads_are_cancelled_and_late_whole(void **state) { cancel_in(*state, ARRJIT_MODE_WHOLE); }
static void test_threads_are_cancelled_and_late_auto(void **state) { cancel_in(*state, ARRJIT_MODE_AUTO); }

/* ---- contexts, graphs, kinds, options, events ---- */

static void live_a_context(member *me) {
  for (int k = 0; k < 6; k++) {
    tk_fixture own = {.context = tk_context(NULL)};
    team alone = {.f = &own, .function = build_sum(&own)};
    member inner = {.team = &alone, .index = me->index};
    run_sums(&inner);
    if (inner.wrong[0]) NOTE(me, "%s", inner.wrong);
    arrjit_function_release(alone.function);
    free(own.functions);
    if (arrjit_context_destroy(own.context) != ARRJIT_OK) NOTE(me, "a context does not end");
  }
}

static void test_threads_have_contexts_of_their_own(void **state) {
  team t = {.f = *state};
  run_team(&t, live_a_context);
}

/* All in one context: kinds, graphs and functions made, options set, statistics read. */
static void build_in_one_context(member *me) {
  arrjit_context *context = me->team->f->context;
  for (int k = 0; k < 40; k++) {
    char name[40];
    arrjit_kind kind = 0, found = 0;
    arrjit_graph *g = NULL;
    arrjit_function *function = NULL;
    arrjit_result *result = NULL;
    arrjit_statistics statistics;
    snprintf(name, sizeof name, "host.k%d_%d", me->index, k);
    if (arrjit_context_add_kind(context, name, ARRJIT_KIND_RUNTIME, "", &kind, NULL) != ARRJIT_OK) NOTE(me, "no kind");
    if (arrjit_context_find_kind(context, name, &found, NULL) != ARRJIT_OK || found != kind) NOTE(me, "kind is lost");
    if (arrjit_context_set_option(context, ARRJIT_OPTION_MAX_DEPTH, 500 + k, NULL) != ARRJIT_OK) NOTE(me, "no option");
    if (arrjit_context_get_option(context, ARRJIT_OPTION_MAX_DEPTH) < 500) NOTE(me, "option is lost");
    arrjit_context_get_statistics(context, &statistics);
    if (arrjit_graph_create(context, &g, NULL) != ARRJIT_OK) NOTE(me, "no graph");
    arrjit_raise(g, kind, k, "told", 0, NULL);
    arrjit_return(g, 0, NULL, NULL);
    if (arrjit_graph_finish(g, &function, NULL) != ARRJIT_OK) NOTE(me, "no function");
    arrjit_graph_destroy(g);
    if (arrjit_run(function, NULL, 0, NULL, &result, NULL) != ARRJIT_OK) NOTE(me, "no result");
    if (arrjit_result_kind(result) != kind || arrjit_result_code(result) != k)
      NOTE(me, "%s", arrjit_result_text(result));
    if (!arrjit_context_kind_is(context, kind, ARRJIT_KIND_ERROR)) NOTE(me, "the tree of kinds is wrong");
    arrjit_function_release(function);
    arrjit_result_destroy(result);
  }
}

static void test_threads_share_a_context(void **state) {
  team t = {.f = *state};
  run_team(&t, build_in_one_context);
}

/* Thread 0 reads events, thread 1 changes how many are kept, the others make some. */
static void make_or_read_events(member *me) {
  arrjit_context *context = me->team->f->context;
  arrjit_event event;
  if (me->index >= 2) {
    for (int k = 0; k < 4; k++) {
      arrjit_graph *g = NULL;
      arrjit_function *function = NULL;
      if (arrjit_graph_create(context, &g, NULL) != ARRJIT_OK) NOTE(me, "no graph");
      arrjit_value value = arrjit_const_f64(g, k);
      arrjit_return(g, 1, &value, NULL);
      if (arrjit_graph_finish(g, &function, NULL) != ARRJIT_OK) NOTE(me, "no function");
      arrjit_graph_destroy(g);
      (void)!arrjit_function_prepare(function, NULL, NULL);
      (void)!arrjit_function_wait(function, -1, NULL);
      arrjit_function_release(function);
      me->done++;
    }
    atomic_fetch_add(&me->team->ending, 1);
    return;
  }
  while (atomic_load(&me->team->ending) < THREADS - 2) {
    if (me->index == 0 && arrjit_context_next_event(context, &event) && strcmp(arrjit_event_name(event.code), "?") == 0)
      NOTE(me, "an event of no name");
    if (me->index == 1 &&
        arrjit_context_set_option(context, ARRJIT_OPTION_EVENT_CAPACITY, 1 + me->done++ % 50, NULL) != ARRJIT_OK)
      NOTE(me, "no capacity");
    sched_yield();
  }
}

static void test_threads_make_and_read_events(void **state) {
  team t = {.f = *state};
  run_team(&t, make_or_read_events);
}

/* A sink is called on the thread where an event arises, so on several at once. */
static void count_event(void *user, const arrjit_event *event) {
  if (event->time_ns > 0) atomic_fetch_add((_Atomic int64_t *)user, 1);
}

static void test_threads_tell_a_sink(void **state) {
  tk_fixture *f = *state;
  _Atomic int64_t events = 0;
  arrjit_context *before = f->context;
  arrjit_allocator host = tk_alloc_host(&f->alloc);
  arrjit_context_options options = tk_context_options(&host);
  options.event_sink = count_event;
  options.event_user = &events;
  assert_int_equal(arrjit_context_create(&options, &f->context, NULL), ARRJIT_OK);
  team t = {.f = f, .ending = THREADS};
  run_team(&t, make_or_read_events);
  assert_int_equal(arrjit_context_destroy(f->context), ARRJIT_OK);
  f->context = before;
  if (atomic_load(&events) < 4 * (THREADS - 2)) fail_msg("%d events", (int)atomic_load(&events));
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_threads_share_a_function),
    TK_TEST(test_threads_prepare_the_same_function),
    TK_TEST(test_threads_share_a_runner),
    TK_TEST(test_threads_end_runners_with_jobs),
    TK_TEST(test_threads_are_cancelled_and_late_interp),
    TK_TEST(test_threads_are_cancelled_and_late_whole),
    TK_TEST(test_threads_are_cancelled_and_late_auto),
    TK_TEST(test_threads_have_contexts_of_their_own),
    TK_TEST(test_threads_share_a_context),
    TK_TEST(test_threads_make_and_read_events),
    TK_TEST(test_threads_tell_a_sink),
};

TEST_MAIN(tests, NULL, NULL)
