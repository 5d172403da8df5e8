/* A small thread pool as executor. */
#include "pool.h"

#include "base.h"

static int take(void *user, void (*task)(void *arg), void *arg) {
  tk_pool *pool = user;
  pthread_mutex_lock(&pool->lock);
  tk_random random = {pool->random};
  bool refuse = pool->quit || pool->count == TK_POOL_TASKS || tk_chance(&random, (unsigned)pool->refuse_percent);
  pool->random = random.state;
  if (!refuse) {
    size_t last = (pool->first + pool->count++) % TK_POOL_TASKS;
    pool->tasks[last].run = task;
    pool->tasks[last].arg = arg;
    pthread_cond_signal(&pool->changed);
  }
  pool->taken += !refuse;
  pool->refused += refuse;
  pthread_mutex_unlock(&pool->lock);
  return refuse;
}

static void *serve(void *arg) {
  tk_pool *pool = arg;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while ((pool->count == 0 || pool->held) && !pool->quit) pthread_cond_wait(&pool->changed, &pool->lock);
    if (pool->count == 0) break;
    size_t at = pool->first;
    pool->first = (at + 1) % TK_POOL_TASKS;
    pool->count--;
    void (*run)(void *) = pool->tasks[at].run;
    void *task_arg = pool->tasks[at].arg;
    pthread_mutex_unlock(&pool->lock);
    run(task_arg);
    pthread_mutex_lock(&pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

void tk_pool_start(tk_pool *pool, int threads) {
  *pool = (tk_pool){.executor = {.user = pool, .submit = take}, .thread_count = threads, .random = 1};
  if (pthread_mutex_init(&pool->lock, NULL) || pthread_cond_init(&pool->changed, NULL)) tk_die("no lock");
  for (int i = 0; i < threads; i++)
    if (pthread_create(&pool->threads[i], NULL, serve, pool)) tk_die("no thread");
}

void tk_pool_set(tk_pool *pool, int refuse_percent, bool held) {
  pthread_mutex_lock(&pool->lock);
  pool->refuse_percent = refuse_percent;
  pool->held = held;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
}

void tk_pool_stop(tk_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->quit = true;
  pthread_cond_broadcast(&pool->changed);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->thread_count; i++) pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->changed);
  pthread_mutex_destroy(&pool->lock);
}
