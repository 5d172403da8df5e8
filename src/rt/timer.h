/* The timer of a core: one thread, started with the first deadline, that sets a bit in a run's stop flag when its
 * deadline passes. So a poll reads a flag and no clock. */
#ifndef AJ_RT_TIMER_H
#define AJ_RT_TIMER_H

#include <sys/types.h>

#include "base/thread.h"

/* One registration; it lives in what it watches, so that adding it allocates nothing. */
typedef struct aj_timer_entry {
  struct aj_timer_entry *previous, *next;
  int64_t deadline_ns;
  _Atomic int *stop; /* NULL: not registered */
  int bit;
} aj_timer_entry;

typedef struct aj_timer {
  aj_mutex lock;
  aj_cond changed;
  aj_timer_entry head; /* of a ring sorted by deadline, the earliest next */
  aj_thread thread;
  pid_t pid; /* whose thread it is: a child made by fork has none. 0: not started */
  bool quit;
} aj_timer;

bool aj_timer_init(aj_timer *timer);
/* Sets `bit` in *stop once deadline_ns (aj_clock_ns) has passed, unless removed before. False: no thread is to be had.
 */
bool aj_timer_add(aj_timer *timer, aj_timer_entry *entry, int64_t deadline_ns, _Atomic int *stop, int bit);
/* Afterwards the timer touches neither entry nor flag. An entry that is not registered (zeroed) is fine. */
void aj_timer_remove(aj_timer *timer, aj_timer_entry *entry);
/* Ends and joins the thread; a later aj_timer_add starts another. Nothing may be registered. */
void aj_timer_stop(aj_timer *timer);
void aj_timer_free(aj_timer *timer);

#endif
