/* What the files of runners share: the runner, its jobs. */
#ifndef AJ_API_RUNNER_H
#define AJ_API_RUNNER_H

#include "api/options.h"

/* Counted: its jobs, which may outlive it, wait under its lock. */
struct arrjit_runner {
  _Atomic int64_t refs; /* the host's handle, every job, the thread or the task that is out */
  aj_core *core;
  arrjit_executor executor; /* submit NULL: a thread of its own */
  arrjit_completion *completion;
  void *completion_user;
  int64_t max_queued;
  aj_thread thread;
  aj_mutex lock; /* guards what follows, and what jobs have come to */
  aj_cond changed;
  arrjit_job *first, *last; /* queued */
  arrjit_job *running;
  int64_t queued, done, failed;
  bool ending;
  bool serving; /* a thread runs jobs: `server` */
  pthread_t server;
  bool tasked;            /* a task is out with the executor, or serves */
  uint64_t offer, offers; /* number of the task that the executor is being asked to take, 0: none; the last number */
};

struct arrjit_job {
  _Atomic int64_t refs; /* the host's handle and the queue */
  size_t bytes;         /* of this block: inputs, outputs, bindings and their names follow */
  arrjit_runner *runner;
  arrjit_job *next;
  arrjit_function *function; /* NULL once done */
  arrjit_run_options options;
  arrjit_completion *completion;
  void *completion_user;
  size_t input_count, output_count;
  arrjit_array **inputs, **outputs;
  _Atomic int stop; /* AJ_STOP_* bits */
  bool done, taken; /* guarded by the runner's lock, as what follows */
  arrjit_status status;
  arrjit_error error;
  arrjit_result *result;
};

/* ---- runner.c ---- */
void aj_runner_release(arrjit_runner *runner);
/* Whether the calling thread is inside a job or completion of the runner. With the lock held. */
bool aj_runner_is_inside(const arrjit_runner *runner);

/* ---- job.c ---- */
/* With one reference; everything the job keeps of the call is retained or copied. NULL: no memory. */
arrjit_job *aj_job_create(arrjit_runner *runner, arrjit_function *function, const arrjit_run_options *options,
                          size_t input_count, arrjit_array *const *inputs);
/* NULL is fine. */
void aj_job_release(arrjit_job *job);
/* Runs it, tells what it has come to, calls the completion. Without the lock. */
void aj_job_run(arrjit_job *job);

#endif
