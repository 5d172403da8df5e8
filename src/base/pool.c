/* One lock, two conditions, no queue: jobs with places form a list through themselves. A helper takes the first place
 * it finds; who has nothing to do sleeps. The lock is held over a few moves of pointers, never over work, and never
 * while the host is called. */
#include "base/pool.h"

#include <unistd.h>

#include "base/check.h"

/* What code on a helper may need: the frame of a block, which grows with the operands of a kernel, and little else. */
enum { STACK_BYTES = 1 << 20 };

bool aj_pool_init(aj_pool *pool) {
  *pool = (aj_pool){0};
  if (!aj_mutex_init(&pool->lock)) return false;
  if (aj_cond_init(&pool->offered)) {
    if (aj_cond_init(&pool->left)) return true;
    aj_cond_destroy(&pool->offered);
  }
  aj_mutex_destroy(&pool->lock);
  return false;
}

void aj_pool_set_invite(aj_pool *pool, bool (*invite)(void *user), void *user) {
  pool->invite = invite;
  pool->invite_user = user;
}

/* ---- with the lock held ---- */

static void unlink_job(aj_pool *pool, aj_pool_job *job) {
  aj_pool_job **place = &pool->jobs;
  while (*place && *place != job) place = &(*place)->next;
  if (*place) *place = job->next;
}

/* A place in the first job; NULL: there is none. */
static aj_pool_job *enter_locked(aj_pool *pool) {
  aj_pool_job *job = pool->jobs;
  if (!job) return NULL;
  job->inside++;
  if (--job->places == 0) unlink_job(pool, job);
  return job;
}

/* The job is its caller's again when the last helper has left: then it is not touched any more. */
static void leave_locked(aj_pool *pool, aj_pool_job *job) {
  if (--job->inside == 0) aj_cond_broadcast(&pool->left);
}

static void help_locked(aj_pool *pool, aj_pool_job *job) {
  aj_mutex_unlock(&pool->lock);
  job->help(job->arg);
  aj_mutex_lock(&pool->lock);
  leave_locked(pool, job);
}

/* ---- threads of our own ---- */

static void *serve(void *arg) {
  aj_pool *pool = arg;
  aj_mutex_lock(&pool->lock);
  while (!pool->quit) {
    aj_pool_job *job = enter_locked(pool);
    if (job)
      help_locked(pool, job);
    else
      aj_cond_wait(&pool->offered, &pool->lock);
  }
  aj_mutex_unlock(&pool->lock);
  return NULL;
}

/* As many as the system gives: with fewer, or none, work only takes longer. */
static void start_locked(aj_pool *pool, uint32_t wanted) {
  if (pool->threads == 0) pool->quit = false;
  while (pool->threads < wanted && aj_thread_start(&pool->thread[pool->threads], STACK_BYTES, serve, pool)) {
    pool->threads++;
    pool->pid = getpid();
  }
}

/* ---- helpers of the host ---- */

/* Those that were not taken up yet count: a host that is busy is not asked again and again. */
static bool count_invitation(aj_pool *pool, uint32_t wanted) {
  aj_mutex_lock(&pool->lock);
  bool counted = pool->invited < wanted;
  if (counted) pool->invited++;
  aj_mutex_unlock(&pool->lock);
  return counted;
}

static void invite_helpers(aj_pool *pool, uint32_t wanted) {
  for (uint32_t i = 0; i < wanted && count_invitation(pool, wanted); i++) {
    if (pool->invite(pool->invite_user)) continue;
    aj_mutex_lock(&pool->lock);
    pool->invited--;
    aj_mutex_unlock(&pool->lock);
    return;
  }
}

void aj_pool_help(aj_pool *pool) {
  aj_mutex_lock(&pool->lock);
  AJ_ASSERT(pool->invited > 0);
  pool->invited--;
  aj_pool_job *job = enter_locked(pool);
  if (job) help_locked(pool, job);
  aj_mutex_unlock(&pool->lock);
}

/* ---- jobs ---- */

void aj_pool_begin(aj_pool *pool, aj_pool_job *job, uint32_t helpers) {
  AJ_ASSERT(helpers > 0 && helpers < AJ_POOL_THREADS);
  job->places = helpers;
  job->inside = 0;
  aj_mutex_lock(&pool->lock);
  if (!pool->invite) start_locked(pool, helpers);
  job->next = pool->jobs;
  pool->jobs = job;
  for (uint32_t i = 0; i < helpers && i < pool->threads; i++) aj_cond_signal(&pool->offered);
  aj_mutex_unlock(&pool->lock);
  if (pool->invite) invite_helpers(pool, helpers);
}

void aj_pool_end(aj_pool *pool, aj_pool_job *job) {
  aj_mutex_lock(&pool->lock);
  unlink_job(pool, job);
  while (job->inside > 0) aj_cond_wait(&pool->left, &pool->lock);
  aj_mutex_unlock(&pool->lock);
}

/* In a child made by fork the threads do not exist, and the lock may be for ever held by one. */
static bool threads_are_ours(const aj_pool *pool) { return pool->pid == 0 || pool->pid == getpid(); }

void aj_pool_stop(aj_pool *pool) {
  if (!threads_are_ours(pool) || pool->threads == 0) return;
  aj_mutex_lock(&pool->lock);
  AJ_ASSERT(!pool->jobs);
  pool->quit = true;
  aj_cond_broadcast(&pool->offered);
  aj_mutex_unlock(&pool->lock);
  for (uint32_t i = 0; i < pool->threads; i++) aj_thread_join(&pool->thread[i]);
  pool->threads = 0;
  pool->pid = 0;
}

void aj_pool_free(aj_pool *pool) {
  aj_pool_stop(pool);
  if (!threads_are_ours(pool)) return;
  aj_cond_destroy(&pool->left);
  aj_cond_destroy(&pool->offered);
  aj_mutex_destroy(&pool->lock);
}

uint32_t aj_pool_processors(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > AJ_POOL_THREADS ? AJ_POOL_THREADS : (uint32_t)count;
}
