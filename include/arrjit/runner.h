/* libarrjit: runners. A runner runs jobs one after the other, in the order in which they came, on a thread of its own
 * or on the host's; a failing job never harms it or the other jobs. */
#ifndef ARRJIT_RUNNER_H
#define ARRJIT_RUNNER_H

#include "arrjit/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once when a job is done, on the thread that ran it, with no lock held: after what waits for the job was woken,
 * before the next job begins. It may take the job's result, submit jobs, release the job's handle; it must not wait for
 * jobs of this runner that are not done (BUSY). `job` is valid during the call. */
typedef void arrjit_completion(void *user, arrjit_job *job);

/* All zero but struct_bytes means: a thread of its own, no limit, no completion. With an executor, the runner has at
 * most one task outstanding, which runs jobs until none is queued; `submit` must not itself submit to that runner. A
 * job that waits for another runner's job needs a second thread. */
typedef struct arrjit_runner_options {
  size_t struct_bytes;             /* sizeof(arrjit_runner_options) */
  const arrjit_executor *executor; /* copied; NULL: the runner starts a thread */
  int64_t max_queued;              /* most jobs that wait, the running one aside; 0: no limit */
  arrjit_completion *completion;   /* of jobs that have none of their own; NULL: none */
  void *completion_user;
} arrjit_runner_options;

/* What a job is besides its run. All zero but struct_bytes means: as arrjit_runner_submit. */
typedef struct arrjit_job_options {
  size_t struct_bytes;           /* sizeof(arrjit_job_options) */
  const arrjit_run_options *run; /* NULL: the defaults */
  arrjit_completion *completion; /* NULL: the runner's */
  void *user;                    /* what `completion` gets; must stay valid until it has returned */
} arrjit_job_options;

typedef struct arrjit_runner_statistics {
  int64_t queued;  /* jobs that wait */
  int64_t running; /* 0 or 1 */
  int64_t done;    /* ended so far, however */
  int64_t failed;  /* of those, without an ok result */
} arrjit_runner_statistics;

/* Makes a runner; `options` may be NULL. Errors: MISUSE, MEMORY, LIMIT (no thread to be had). The caller owns *out. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_create(arrjit_context *context,
                                                              const arrjit_runner_options *options, arrjit_runner **out,
                                                              arrjit_error *error);
/* Ends the runner: a running job is stopped with kind shutdown, then queued ones end with it, their completions being
 * called on this thread; when it returns all jobs are done and their completions have returned. Jobs stay valid. An
 * executor may call a task that it has not begun yet later, which then does nothing. BUSY from inside a job or
 * completion of this runner. NULL is fine. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_destroy(arrjit_runner *runner);
/* Queues a run; function and inputs are retained, options and bindings copied (their user data must stay valid until
 * the job is done). A deadline is a point in time: waiting in the queue counts, so a job whose deadline passed ends
 * with kind deadline when its turn comes. The caller owns *out. Errors: MISUSE, MEMORY, LIMIT (max_queued), BUSY (the
 * executor refused, or the runner is being destroyed); then nothing was queued. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_submit(arrjit_runner *runner, arrjit_function *function,
                                                              const arrjit_run_options *options, size_t input_count,
                                                              arrjit_array *const *inputs, arrjit_job **out,
                                                              arrjit_error *error);
/* The same with a completion. `out` may be NULL: then the completion alone sees the job. The completion may be called
 * before this returns. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_submit_job(arrjit_runner *runner, arrjit_function *function,
                                                                  const arrjit_job_options *options, size_t input_count,
                                                                  arrjit_array *const *inputs, arrjit_job **out,
                                                                  arrjit_error *error);
ARRJIT_API void arrjit_runner_get_statistics(arrjit_runner *runner, arrjit_runner_statistics *out);

/* Waits until the job is done and hands out its result, once (later calls: NOT_FOUND). TIMEOUT after timeout_ns (< 0:
 * no limit). BUSY at once when called from the job's own runner. The status of the run itself comes as the return
 * value. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_job_wait(arrjit_job *job, int64_t timeout_ns, arrjit_result **out,
                                                         arrjit_error *error);
/* The same without waiting: TIMEOUT when the job is not done. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_job_take(arrjit_job *job, arrjit_result **out, arrjit_error *error);
/* 1 when the job is done. */
ARRJIT_API int arrjit_job_done(const arrjit_job *job);
/* Asks the job to end with kind cancelled; one that is queued does so when its turn comes. */
ARRJIT_API void arrjit_job_cancel(arrjit_job *job);
/* Gives up the handle; the job goes on. NULL is fine. */
ARRJIT_API void arrjit_job_release(arrjit_job *job);

#ifdef __cplusplus
}
#endif
#endif
