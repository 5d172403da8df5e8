/* Helpers for work that its caller shares out. The caller makes a job on its own stack, offers it, works on it itself,
 * and takes it back: by then every helper that came has left, and none comes any more. Whether any came makes no
 * difference but for time, so nothing here can fail. */
#ifndef AJ_BASE_POOL_H
#define AJ_BASE_POOL_H

#include <sys/types.h>

#include "base/thread.h"

enum { AJ_POOL_THREADS = 256 }; /* most threads, the caller included */

typedef struct aj_pool_job {
  void (*help)(void *arg); /* what a helper does, once; it returns when there is nothing left to do */
  void *arg;
  uint32_t places; /* helpers that may still come */
  uint32_t inside; /* helpers in `help` */
  struct aj_pool_job *next;
} aj_pool_job;

typedef struct aj_pool {
  aj_mutex lock;     /* guards all below, and jobs */
  aj_cond offered;   /* there is a job with places, or quit */
  aj_cond left;      /* a helper left a job */
  aj_pool_job *jobs; /* those with places */
  uint32_t threads;  /* started */
  uint32_t invited;  /* calls of aj_pool_help to come */
  pid_t pid;         /* whose threads they are: a child made by fork has none. 0: none were started */
  bool quit;
  aj_thread thread[AJ_POOL_THREADS - 1];
  bool (*invite)(void *user); /* asks the host for one call of aj_pool_help; NULL: threads of our own */
  void *invite_user;
} aj_pool;

/* No thread yet: they start with the first job. */
bool aj_pool_init(aj_pool *pool);
/* Before the first job: helpers are the host's, see `invite`. It is called with no lock held. */
void aj_pool_set_invite(aj_pool *pool, bool (*invite)(void *user), void *user);
/* Offers the job, help and arg set, to at most `helpers`. */
void aj_pool_begin(aj_pool *pool, aj_pool_job *job, uint32_t helpers);
/* Takes it back; waits for helpers that are inside. */
void aj_pool_end(aj_pool *pool, aj_pool_job *job);
/* On a thread of the host, once an invitation: helps with a job that has a place, if there is one. */
void aj_pool_help(aj_pool *pool);
/* Ends and joins the threads; a later job starts others. No job may be offered. */
void aj_pool_stop(aj_pool *pool);
void aj_pool_free(aj_pool *pool);
/* Processors that are on line, at least 1. */
uint32_t aj_pool_processors(void);

#endif
