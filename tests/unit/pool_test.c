/* The pool: helpers come, late, never, or are busy; the caller gets its job back with nobody in it. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "test_main.h"

enum { UNITS = 2000 };

/* Units done once each, by whoever comes. */
typedef struct work {
  _Atomic int next;
  _Atomic int done[UNITS];
  _Atomic int helpers;
} work;

static void do_units(work *w) {
  for (int i; (i = atomic_fetch_add(&w->next, 1)) < UNITS;) atomic_fetch_add(&w->done[i], 1);
}

static void help(void *arg) {
  work *w = arg;
  atomic_fetch_add(&w->helpers, 1);
  do_units(w);
}

/* Gives how many helpers came. */
static int run_job(aj_pool *pool, uint32_t helpers, int64_t wait_ns) {
  static work w;
  memset(&w, 0, sizeof w);
  aj_pool_job job = {.help = help, .arg = &w};
  aj_pool_begin(pool, &job, helpers);
  int64_t end = aj_clock_ns() + wait_ns;
  while (atomic_load(&w.helpers) < (int)helpers && aj_clock_ns() < end) usleep(100);
  do_units(&w);
  aj_pool_end(pool, &job);
  for (int i = 0; i < UNITS; i++) assert_int_equal(atomic_load(&w.done[i]), 1);
  return atomic_load(&w.helpers);
}

static void test_helpers_start_with_the_first_job(void **state) {
  (void)state;
  aj_pool pool;
  assert_true(aj_pool_init(&pool));
  assert_int_equal(pool.threads, 0);
  assert_int_equal(run_job(&pool, 3, 10000000000), 3);
  assert_int_equal(pool.threads, 3);
  assert_int_equal(run_job(&pool, 5, 10000000000), 5);
  for (int i = 0; i < 500; i++) assert_in_range(run_job(&pool, 2, 0), 0, 2);
  assert_int_equal(pool.threads, 5);
  aj_pool_stop(&pool);
  assert_int_equal(pool.threads, 0);
  assert_int_equal(run_job(&pool, 1, 10000000000), 1); /* and again */
  aj_pool_free(&pool);
  assert_true(aj_pool_init(&pool));
  aj_pool_stop(&pool);
  aj_pool_free(&pool);
}

/* Several callers, more than there are helpers. */
static void *call_often(void *arg) {
  aj_pool *pool = arg;
  for (int i = 0; i < 300; i++) {
    work w = {0};
    aj_pool_job job = {.help = help, .arg = &w};
    aj_pool_begin(pool, &job, 2);
    do_units(&w);
    aj_pool_end(pool, &job);
    for (int k = 0; k < UNITS; k++)
      if (atomic_load(&w.done[k]) != 1) return pool;
  }
  return NULL;
}

static void test_callers_share_helpers(void **state) {
  (void)state;
  aj_pool pool;
  pthread_t threads[5];
  assert_true(aj_pool_init(&pool));
  for (int i = 0; i < 5; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_often, &pool), 0);
  for (int i = 0; i < 5; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  aj_pool_free(&pool);
}

/* ---- helpers by invitation ---- */

static int invitations, refusals;

static bool invite(void *user) {
  (void)user;
  if (refusals > 0) return refusals--, false;
  invitations++;
  return true;
}

static void test_invitations_are_not_piled_up(void **state) {
  (void)state;
  aj_pool pool;
  assert_true(aj_pool_init(&pool));
  aj_pool_set_invite(&pool, invite, NULL);
  invitations = refusals = 0;
  for (int i = 0; i < 10; i++) assert_int_equal(run_job(&pool, 3, 0), 0); /* nobody comes */
  assert_int_equal(invitations, 3);
  assert_int_equal(pool.threads, 0);
  for (int i = 0; i < 3; i++) aj_pool_help(&pool); /* late: there is nothing to do */
  refusals = 1;
  assert_int_equal(run_job(&pool, 3, 0), 0); /* who refuses is not asked for more */
  assert_int_equal(invitations, 3);
  assert_int_equal(run_job(&pool, 2, 0), 0);
  assert_int_equal(invitations, 5);
  for (int i = 0; i < 2; i++) aj_pool_help(&pool);
  aj_pool_free(&pool);
}

static void test_child_of_a_fork_frees_without_waiting(void **state) {
  (void)state;
  aj_pool pool;
  assert_true(aj_pool_init(&pool));
  assert_int_equal(run_job(&pool, 2, 10000000000), 2);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    aj_pool_stop(&pool);
    aj_pool_free(&pool);
    _exit(7);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  aj_pool_free(&pool);
}

static void test_processors(void **state) {
  (void)state;
  assert_in_range(aj_pool_processors(), 1, AJ_POOL_THREADS);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_helpers_start_with_the_first_job),
    cmocka_unit_test(test_callers_share_helpers),
    cmocka_unit_test(test_invitations_are_not_piled_up),
    cmocka_unit_test(test_child_of_a_fork_frees_without_waiting),
    cmocka_unit_test(test_processors),
};
TEST_MAIN(tests, NULL, NULL)
