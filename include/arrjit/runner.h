/* libarrjit: runners. A runner is a worker thread with a queue; a failing job never harms it or the other jobs. */
#ifndef ARRJIT_RUNNER_H
#define ARRJIT_RUNNER_H

#include "arrjit/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a runner. MISUSE, MEMORY, LIMIT (no thread to be had). */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_create(arrjit_context *context, arrjit_runner **out,
                                                              arrjit_error *error);
/* Ends the runner: queued jobs end with kind shutdown, a running one is stopped with it; waits for the thread. Jobs
 * stay valid. BUSY from inside a job of this runner. NULL is fine. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_destroy(arrjit_runner *runner);
/* Queues a run; function and inputs are retained, options and bindings copied (their user data must stay valid until
 * the job is done). The caller owns *out. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_runner_submit(arrjit_runner *runner, arrjit_function *function,
                                                              const arrjit_run_options *options, size_t input_count,
                                                              arrjit_array *const *inputs, arrjit_job **out,
                                                              arrjit_error *error);
/* Waits until the job is done and hands out its result, once (later calls: NOT_FOUND). TIMEOUT after timeout_ns (< 0:
 * no limit). BUSY at once when called from the job's own runner. The status of the run itself comes as the return
 * value. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_job_wait(arrjit_job *job, int64_t timeout_ns, arrjit_result **out,
                                                         arrjit_error *error);
/* 1 when the job is done. */
ARRJIT_API int arrjit_job_done(const arrjit_job *job);
/* Asks the job to end with kind cancelled. */
ARRJIT_API void arrjit_job_cancel(arrjit_job *job);
/* Gives up the handle; the job goes on. NULL is fine. */
ARRJIT_API void arrjit_job_release(arrjit_job *job);

#ifdef __cplusplus
}
#endif
#endif
