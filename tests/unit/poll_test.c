/* What ends a run: cancel, deadline, shutdown, iterations, memory; and the grace of a finally. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "engine/engine.h"
#include "test_main.h"

typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  arrjit_context context;
  aj_run run;
} fixture;

static void begin(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  f->context.core = aj_core_create(&f->host);
  assert_non_null(f->context.core);
  f->run = (aj_run){.core = f->context.core, .iterations_left = INT64_MAX};
}

static void end(fixture *f) {
  aj_exn_release(f->run.exn);
  aj_core_release(f->context.core);
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static void check_ended(fixture *f, arrjit_kind kind) {
  for (int i = 0; i < 2; i++) { /* it stays so */
    assert_true(aj_run_poll(&f->run, true));
    assert_int_equal(f->run.exn->kind, kind);
    aj_exn_release(f->run.exn);
    f->run.exn = NULL;
  }
}

static void test_iterations_are_limited(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  f.run.iterations_left = 5;
  for (int i = 0; i < 5; i++) {
    assert_false(aj_run_poll(&f.run, false));
    assert_false(aj_run_poll(&f.run, true));
  }
  check_ended(&f, ARRJIT_KIND_LIMIT);
  end(&f);
}

static void *trigger(void *cancel) {
  usleep(1000);
  arrjit_cancel_trigger(cancel);
  return NULL;
}

static void test_cancel_from_another_thread(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_error error;
  assert_int_equal(arrjit_cancel_create(&f.context, &f.run.cancel, &error), ARRJIT_OK);
  assert_false(aj_run_poll(&f.run, true));
  pthread_t thread;
  pthread_create(&thread, NULL, trigger, f.run.cancel);
  while (!aj_run_poll(&f.run, true)) {}
  pthread_join(thread, NULL);
  aj_exn_release(f.run.exn);
  f.run.exn = NULL;
  check_ended(&f, ARRJIT_KIND_CANCELLED);
  aj_cancel_retain(f.run.cancel);
  arrjit_cancel_release(f.run.cancel);
  arrjit_cancel_release(f.run.cancel);
  arrjit_cancel_release(NULL);
  arrjit_cancel_trigger(NULL);
  end(&f);
}

static void test_cancel_handles_check_their_arguments(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_cancel *cancel = NULL;
  arrjit_error error;
  assert_int_equal(arrjit_cancel_create(NULL, &cancel, &error), ARRJIT_MISUSE);
  assert_string_equal(error.message, "context is NULL");
  assert_int_equal(arrjit_cancel_create(&f.context, NULL, &error), ARRJIT_MISUSE);
  assert_string_equal(error.message, "out is NULL");
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(arrjit_cancel_create(&f.context, &cancel, &error), ARRJIT_MEMORY);
  assert_null(cancel);
  end(&f);
}

static void test_a_job_stops_its_run(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  _Atomic int job_stop = 0;
  f.run.job_stop = &job_stop;
  assert_false(aj_run_poll(&f.run, true));
  atomic_store(&job_stop, AJ_STOP_SHUTDOWN);
  check_ended(&f, ARRJIT_KIND_SHUTDOWN);
  atomic_store(&job_stop, AJ_STOP_SHUTDOWN | AJ_STOP_CANCEL);
  check_ended(&f, ARRJIT_KIND_CANCELLED);
  end(&f);
}

static void test_deadlines(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  f.run.deadline_ns = arrjit_clock_ns() + 3000000;
  assert_true(aj_run_watch(&f.run));
  assert_false(aj_run_poll(&f.run, true));
  while (!aj_run_poll(&f.run, true)) {}
  assert_true(aj_clock_ns() >= f.run.deadline_ns);
  aj_exn_release(f.run.exn);
  f.run.exn = NULL;
  check_ended(&f, ARRJIT_KIND_DEADLINE);
  aj_run_unwatch(&f.run);
  aj_run past = {.core = f.context.core, .iterations_left = 1, .deadline_ns = 1}, none = {.core = f.context.core};
  assert_true(aj_run_watch(&past));
  assert_true(aj_run_poll(&past, false));
  aj_run_unwatch(&past);
  aj_exn_release(past.exn);
  assert_true(aj_run_watch(&none));
  aj_run_unwatch(&none);
  end(&f);
}

static void test_many_deadlines_in_any_order(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  enum { COUNT = 50 };
  aj_run runs[COUNT];
  int64_t now = aj_clock_ns();
  for (int i = 0; i < COUNT; i++) {
    runs[i] = (aj_run){.core = f.context.core,
                       .deadline_ns = now + 1000000 + (i * 37 % COUNT) * 100000 + (i % 2) * 3600000000000};
    assert_true(aj_run_watch(&runs[i]));
  }
  for (int i = 0; i < COUNT; i += 2) {
    while (!aj_run_poll(&runs[i], false)) usleep(100);
    aj_exn_release(runs[i].exn);
    runs[i].exn = NULL;
    assert_true(aj_clock_ns() >= runs[i].deadline_ns);
  }
  for (int i = 0; i < COUNT; i++) {
    assert_int_equal(aj_run_poll(&runs[i], false), i % 2 == 0);
    if (i % 2 == 0) aj_exn_release(runs[i].exn);
    aj_run_unwatch(&runs[i]);
  }
  aj_timer_stop(&f.context.core->timer);
  aj_timer_stop(&f.context.core->timer);
  f.run.deadline_ns = aj_clock_ns() + 1000000;
  assert_true(aj_run_watch(&f.run)); /* starts a thread anew */
  while (!aj_run_poll(&f.run, false)) {}
  aj_run_unwatch(&f.run);
  end(&f);
}

static void test_a_child_can_drop_a_core_with_a_timer(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  f.run.deadline_ns = aj_clock_ns() + 3600000000000;
  assert_true(aj_run_watch(&f.run));
  aj_run_unwatch(&f.run);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    aj_core_release(f.context.core);
    _exit(atomic_load(&f.alloc.live_bytes) == 0 ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  end(&f);
}

static void test_finally_masks_polls_for_a_while(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  _Atomic int job_stop = AJ_STOP_CANCEL;
  f.run.job_stop = &job_stop;
  f.run.iterations_left = 0;
  f.run.masked_until_ns = aj_clock_ns() + AJ_FINALLY_GRACE_NS;
  assert_false(aj_run_poll(&f.run, true));
  assert_int_equal(f.run.iterations_left, 0);
  while (!aj_run_poll(&f.run, true)) {}
  assert_true(aj_clock_ns() >= f.run.masked_until_ns);
  assert_int_equal(f.run.exn->kind, ARRJIT_KIND_CANCELLED);
  end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_iterations_are_limited),
    cmocka_unit_test(test_cancel_from_another_thread),
    cmocka_unit_test(test_cancel_handles_check_their_arguments),
    cmocka_unit_test(test_a_job_stops_its_run),
    cmocka_unit_test(test_deadlines),
    cmocka_unit_test(test_many_deadlines_in_any_order),
    cmocka_unit_test(test_a_child_can_drop_a_core_with_a_timer),
    cmocka_unit_test(test_finally_masks_polls_for_a_while),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
