/* Threads with a given stack, mutexes, conditions and a monotonic clock: thin names over POSIX. */
#ifndef AJ_BASE_THREAD_H
#define AJ_BASE_THREAD_H

#include <pthread.h>

#include "base/mem.h"

typedef struct aj_mutex {
  pthread_mutex_t os;
} aj_mutex;
typedef struct aj_cond {
  pthread_cond_t os;
} aj_cond; /* waits by the monotonic clock */
typedef struct aj_thread {
  pthread_t os;
} aj_thread;

bool aj_mutex_init(aj_mutex *m);
void aj_mutex_destroy(aj_mutex *m);
void aj_mutex_lock(aj_mutex *m);
void aj_mutex_unlock(aj_mutex *m);
bool aj_cond_init(aj_cond *c);
void aj_cond_destroy(aj_cond *c);
void aj_cond_wait(aj_cond *c, aj_mutex *m);
/* false when `deadline_ns` (aj_clock_ns) has passed */
bool aj_cond_wait_until(aj_cond *c, aj_mutex *m, int64_t deadline_ns);
void aj_cond_signal(aj_cond *c);
void aj_cond_broadcast(aj_cond *c);
/* All signals are blocked in the new thread. `stack_bytes` 0: the system's default. */
bool aj_thread_start(aj_thread *t, size_t stack_bytes, void *(*body)(void *), void *arg);
void aj_thread_join(aj_thread *t);

int64_t aj_clock_ns(void);      /* monotonic */
int64_t aj_thread_cpu_ns(void); /* CPU time of the calling thread */
/* Bytes left on the calling thread's stack, cautiously; cached per thread. */
size_t aj_stack_left(void);

#endif
