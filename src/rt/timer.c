/* One thread a core that sets stop flags when deadlines pass. Registrations form a ring sorted by deadline; there are
 * as many as runs with a deadline at one time, so walking it is cheap. */
#include "rt/timer.h"

#include <unistd.h>

#include "base/check.h"

enum { STACK_BYTES = 64 << 10 };

static void empty_ring(aj_timer *timer) { timer->head.next = timer->head.previous = &timer->head; }

/* No thread yet: most cores never see a deadline. */
bool aj_timer_init(aj_timer *timer) {
  *timer = (aj_timer){0};
  empty_ring(timer);
  if (!aj_mutex_init(&timer->lock)) return false;
  if (aj_cond_init(&timer->changed)) return true;
  aj_mutex_destroy(&timer->lock);
  return false;
}

/* `stop` NULL marks it as gone, for a later aj_timer_remove. */
static void unlink_entry(aj_timer_entry *entry) {
  entry->previous->next = entry->next;
  entry->next->previous = entry->previous;
  entry->previous = entry->next = NULL;
  entry->stop = NULL;
}

/* The thread. The flag is set with the lock held, so that after aj_timer_remove nothing writes to a run that is gone.
 */
static void *keep_time(void *arg) {
  aj_timer *timer = arg;
  aj_mutex_lock(&timer->lock);
  while (!timer->quit) {
    aj_timer_entry *first = timer->head.next;
    if (first == &timer->head) {
      aj_cond_wait(&timer->changed, &timer->lock);
    } else if (aj_clock_ns() < first->deadline_ns) {
      (void)aj_cond_wait_until(&timer->changed, &timer->lock, first->deadline_ns);
    } else {
      atomic_fetch_or_explicit(first->stop, first->bit, memory_order_relaxed);
      unlink_entry(first);
    }
  }
  aj_mutex_unlock(&timer->lock);
  return NULL;
}

/* With the lock held: two first deadlines start one thread. */
static bool start_locked(aj_timer *timer) {
  if (timer->pid) return true;
  timer->quit = false;
  if (!aj_thread_start(&timer->thread, STACK_BYTES, keep_time, timer)) return false;
  timer->pid = getpid();
  return true;
}

/* Walks from the end: deadlines mostly come in order. The thread is woken only when it waits for a later one. */
bool aj_timer_add(aj_timer *timer, aj_timer_entry *entry, int64_t deadline_ns, _Atomic int *stop, int bit) {
  AJ_ASSERT(!entry->stop);
  aj_mutex_lock(&timer->lock);
  bool ok = start_locked(timer);
  if (ok) {
    aj_timer_entry *before = timer->head.previous;
    while (before != &timer->head && before->deadline_ns > deadline_ns) before = before->previous;
    *entry = (aj_timer_entry){before, before->next, deadline_ns, stop, bit};
    before->next->previous = entry;
    before->next = entry;
    if (before == &timer->head) aj_cond_signal(&timer->changed);
  }
  aj_mutex_unlock(&timer->lock);
  return ok;
}

void aj_timer_remove(aj_timer *timer, aj_timer_entry *entry) {
  aj_mutex_lock(&timer->lock);
  if (entry->stop) unlink_entry(entry);
  aj_mutex_unlock(&timer->lock);
}

/* In a child made by fork the thread does not exist, and the lock may be for ever held by it. */
static bool thread_is_ours(const aj_timer *timer) { return timer->pid == getpid(); }

void aj_timer_stop(aj_timer *timer) {
  if (!thread_is_ours(timer)) return;
  aj_mutex_lock(&timer->lock);
  AJ_ASSERT(timer->head.next == &timer->head);
  timer->quit = true;
  aj_cond_signal(&timer->changed);
  aj_mutex_unlock(&timer->lock);
  aj_thread_join(&timer->thread);
  timer->pid = 0;
}

void aj_timer_free(aj_timer *timer) {
  bool usable = timer->pid == 0 || thread_is_ours(timer);
  aj_timer_stop(timer);
  if (!usable) return;
  aj_cond_destroy(&timer->changed);
  aj_mutex_destroy(&timer->lock);
}
