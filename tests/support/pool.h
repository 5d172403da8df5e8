/* An executor of a host, as a runner is given one: some threads, a queue, and the will to refuse. */
#ifndef TK_POOL_H
#define TK_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "arrjit/runner.h"

enum { TK_POOL_THREADS = 4, TK_POOL_TASKS = 256 };

typedef struct tk_pool {
  arrjit_executor executor; /* to give to runners */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int thread_count;
  pthread_t threads[TK_POOL_THREADS];
  struct {
    void (*run)(void *arg);
    void *arg;
  } tasks[TK_POOL_TASKS]; /* a ring */
  size_t first, count;
  uint64_t random;
  int refuse_percent; /* of what is offered; 100: all */
  bool held;          /* tasks are taken, but do not begin */
  bool quit;
  int64_t taken, refused;
} tk_pool;

/* Dies when a thread cannot be had. */
void tk_pool_start(tk_pool *pool, int threads);
void tk_pool_set(tk_pool *pool, int refuse_percent, bool held);
/* Runs what is left, ends the threads. */
void tk_pool_stop(tk_pool *pool);

#endif
