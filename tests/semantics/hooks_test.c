/* Hosts with a global lock: it is given up around every wait of the library, and only there. */
#include <pthread.h>
#include <time.h>

#include "fixture.h"

/* The host's lock, and who holds it. Taking it twice or giving up what is not held is a mistake. */
typedef struct host {
  pthread_mutex_t lock;
  _Atomic int releases, acquires, mistakes;
} host;
static _Thread_local bool holds;

static void take_lock(host *h) {
  if (holds) atomic_fetch_add(&h->mistakes, 1);
  pthread_mutex_lock(&h->lock);
  holds = true;
}

static void give_lock(host *h) {
  if (!holds) atomic_fetch_add(&h->mistakes, 1);
  holds = false;
  pthread_mutex_unlock(&h->lock);
}

static void release(void *user) {
  atomic_fetch_add(&((host *)user)->releases, 1);
  give_lock(user);
}

static void acquire(void *user) {
  take_lock(user);
  atomic_fetch_add(&((host *)user)->acquires, 1);
}

typedef struct setting {
  host h;
  arrjit_context *context;
} setting;

static void begin(setting *s) {
  *s = (setting){.h = {.lock = PTHREAD_MUTEX_INITIALIZER}};
  arrjit_hooks hooks = {&s->h, release, acquire};
  arrjit_context_options options = tk_context_options(NULL);
  options.hooks = &hooks;
  take_lock(&s->h);
  assert_int_equal(arrjit_context_create(&options, &s->context, NULL), ARRJIT_OK);
}

static void end(setting *s) {
  int releases = s->h.releases;
  assert_int_equal(arrjit_context_destroy(s->context), ARRJIT_OK);
  assert_true(s->h.releases > releases); /* it waits for its threads */
  assert_true(holds);
  give_lock(&s->h);
  assert_int_equal(s->h.releases, s->h.acquires);
  assert_int_equal(s->h.mistakes, 0);
}

/* The callback is the host's code: on a thread of the library it takes the lock, on its own it holds it. */
static arrjit_status locked_callback(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                     size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)args, (void)result_count, (void)results;
  bool held = holds;
  if (!held) take_lock(user);
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  if (!held) give_lock(user);
  return ARRJIT_OK;
}

static arrjit_function *build(setting *s) {
  arrjit_graph *g = NULL;
  arrjit_function *function = NULL;
  assert_int_equal(arrjit_graph_create(s->context, &g, NULL), ARRJIT_OK);
  arrjit_value x = PARAM(g, "x", F64), seen;
  CALLBACK(g, arrjit_slot_io(g, "cb", TYPES(TYPE(F64)), 0), &seen, x);
  RETURN(g, arrjit_exp(g, seen));
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  arrjit_binding binding = {.slot = "cb", .callback = locked_callback, .user = &s->h};
  assert_int_equal(arrjit_function_bind(function, &binding, NULL, NULL), ARRJIT_OK);
  return function;
}

static arrjit_array *make_input(setting *s) {
  arrjit_array *input = NULL;
  arrjit_type type = TYPE(F64);
  assert_int_equal(arrjit_array_create(s->context, &type, (const double[]){0}, &input, NULL), ARRJIT_OK);
  return input;
}

static void run_once(setting *s, arrjit_function *function, arrjit_mode mode) {
  arrjit_run_options o = {.struct_bytes = sizeof o, .mode = mode};
  arrjit_array *input = make_input(s);
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_run(function, &o, 1, &input, &result, NULL), ARRJIT_OK);
  assert_true(arrjit_result_ok(result));
  assert_true(holds);
  arrjit_result_destroy(result);
  arrjit_array_release(input);
}

/* Compilations: the run that waits for one gives the lock up, runs that need not wait do not. */
static void test_hooks_around_compilations(void **state) {
  (void)state;
  setting s;
  begin(&s);
  arrjit_function *function = build(&s);
  run_once(&s, function, ARRJIT_MODE_INTERP);
  assert_int_equal(s.h.releases, 0);
  if (tk_native()) {
    run_once(&s, function, ARRJIT_MODE_WHOLE);
    assert_int_equal(s.h.releases, 1);
    for (int k = 0; k < 10; k++) run_once(&s, function, ARRJIT_MODE_WHOLE);
    assert_int_equal(s.h.releases, 1);
    assert_int_equal(arrjit_function_wait(function, -1, NULL), ARRJIT_OK);
    assert_int_equal(s.h.releases, 2);
  }
  int releases = s.h.releases;
  assert_int_equal(arrjit_context_wait_idle(s.context, -1), ARRJIT_OK);
  assert_int_equal(s.h.releases, releases + 1);
  arrjit_function_release(function);
  end(&s);
}

/* A runner's thread runs callbacks that take the lock while the host waits for the jobs, or for the runner's end: both
 * would wait for ever if the host kept it. */
static void test_hooks_around_jobs(void **state) {
  (void)state;
  setting s;
  begin(&s);
  arrjit_function *function = build(&s);
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_runner *runner = NULL;
    arrjit_job *jobs[3];
    arrjit_array *input = make_input(&s);
    arrjit_run_options o = {.struct_bytes = sizeof o, .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
    assert_int_equal(arrjit_runner_create(s.context, NULL, &runner, NULL), ARRJIT_OK);
    for (int k = 0; k < 3; k++)
      assert_int_equal(arrjit_runner_submit(runner, function, &o, 1, &input, &jobs[k], NULL), ARRJIT_OK);
    for (int k = 0; k < 2; k++) {
      arrjit_result *result = NULL;
      assert_int_equal(arrjit_job_wait(jobs[k], -1, &result, NULL), ARRJIT_OK);
      assert_true(arrjit_result_ok(result));
      arrjit_result_destroy(result);
    }
    assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
    for (int k = 0; k < 3; k++) arrjit_job_release(jobs[k]);
    arrjit_array_release(input);
  }
  assert_true(s.h.releases >= 3);
  arrjit_function_release(function);
  end(&s);
}

/* Two threads of the host, each of which needs what the other is compiling or running meanwhile. */
static void *run_in_thread(void *user) {
  setting *s = user;
  take_lock(&s->h);
  for (int k = 0; k < 3; k++) {
    arrjit_function *function = build(s);
    run_once(s, function, tk_native() ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP);
    arrjit_function_release(function);
  }
  give_lock(&s->h);
  return NULL;
}

static void test_threads_of_one_lock(void **state) {
  (void)state;
  setting s;
  pthread_t threads[3];
  begin(&s);
  give_lock(&s.h);
  for (int k = 0; k < 3; k++) assert_int_equal(pthread_create(&threads[k], NULL, run_in_thread, &s), 0);
  for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
  take_lock(&s.h);
  end(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_hooks_around_compilations),
    cmocka_unit_test(test_hooks_around_jobs),
    cmocka_unit_test(test_threads_of_one_lock),
};

TEST_MAIN(tests, NULL, NULL)
