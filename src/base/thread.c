/* Thin names over POSIX threads. Waits use the monotonic clock, so that setting the time of day moves no deadline. */
#include "base/thread.h"

#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum { NS_PER_S = 1000000000 };

bool aj_mutex_init(aj_mutex *m) { return pthread_mutex_init(&m->os, NULL) == 0; }
void aj_mutex_destroy(aj_mutex *m) { (void)pthread_mutex_destroy(&m->os); }

void aj_mutex_lock(aj_mutex *m) {
  int failed = pthread_mutex_lock(&m->os);
  AJ_ASSERT(!failed);
  (void)failed;
}

void aj_mutex_unlock(aj_mutex *m) {
  int failed = pthread_mutex_unlock(&m->os);
  AJ_ASSERT(!failed);
  (void)failed;
}

/* Else waits would be by the clock that a user can set. */
bool aj_cond_init(aj_cond *c) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) return false;
  bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&c->os, &attributes) == 0;
  (void)pthread_condattr_destroy(&attributes);
  return ok;
}

void aj_cond_destroy(aj_cond *c) { (void)pthread_cond_destroy(&c->os); }
void aj_cond_wait(aj_cond *c, aj_mutex *m) { (void)pthread_cond_wait(&c->os, &m->os); }
void aj_cond_signal(aj_cond *c) { (void)pthread_cond_signal(&c->os); }
void aj_cond_broadcast(aj_cond *c) { (void)pthread_cond_broadcast(&c->os); }

bool aj_cond_wait_until(aj_cond *c, aj_mutex *m, int64_t deadline_ns) {
  if (deadline_ns < 0) deadline_ns = 0;
  struct timespec when = {.tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S};
  /* The clock decides, not the return value: a wake-up just before the deadline is no timeout. */
  return pthread_cond_timedwait(&c->os, &m->os, &when) == 0 || aj_clock_ns() < deadline_ns;
}

/* The size is rounded up to pages: some systems refuse others. */
static bool set_stack(pthread_attr_t *attributes, size_t bytes) {
  if (bytes == 0) return true;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (bytes < (size_t)PTHREAD_STACK_MIN) bytes = (size_t)PTHREAD_STACK_MIN;
  return pthread_attr_setstacksize(attributes, (bytes + page - 1) / page * page) == 0;
}

bool aj_thread_start(aj_thread *t, size_t stack_bytes, void *(*body)(void *), void *arg) {
  pthread_attr_t attributes;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return false;
  /* A new thread inherits the mask of its maker: the host's handlers must never run on a thread of the library. */
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = set_stack(&attributes, stack_bytes) && pthread_create(&t->os, &attributes, body, arg) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attributes);
  return ok;
}

void aj_thread_join(aj_thread *t) { (void)pthread_join(t->os, NULL); }

/* Both clocks exist on every Linux: a call that failed would give 0, which only makes time stand still. */
static int64_t read_clock(clockid_t clock) {
  struct timespec now = {0};
  (void)clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t aj_clock_ns(void) { return read_clock(CLOCK_MONOTONIC); }
int64_t aj_thread_cpu_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

typedef struct stack_range {
  uintptr_t low, high;
} stack_range;

/* Costs some microseconds (for the first thread it reads a file of the system), so it is done once a thread. Without an
 * answer the range is empty, and every address lies outside it. */
static stack_range find_stack(void) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    (void)pthread_attr_getstack(&attributes, &low, &bytes);
    (void)pthread_attr_destroy(&attributes);
  }
  return (stack_range){(uintptr_t)low, (uintptr_t)low + bytes};
}

size_t aj_stack_left(void) {
  /* Kept back for what runs below without asking (the C library, a signal handler of the host); also the answer on a
   * stack that is not the thread's own, such as a coroutine's, of which nothing is known. */
  enum { RESERVE = 32 << 10 };
  static _Thread_local stack_range thread_stack;
  char here;
  uintptr_t at = (uintptr_t)&here;
  if (thread_stack.high == 0) thread_stack = find_stack();
  if (at < thread_stack.low || at >= thread_stack.high) return RESERVE;
  return at - thread_stack.low > RESERVE ? at - thread_stack.low - RESERVE : 0;
}
