/* Runners: a worker thread that runs jobs in the order in which they came. The record of a runner is counted: its jobs,
 * which may outlive it, wait under its lock. */
#include <string.h>

#include "base/error.h"
#include "engine/engine.h"

struct arrjit_runner {
  _Atomic int64_t refs; /* the host's handle and every job */
  aj_core *core;
  aj_mutex lock;
  aj_cond changed;          /* a job came, a job is done, the runner ends */
  arrjit_job *first, *last; /* queued */
  arrjit_job *running;
  bool ending;
  aj_thread thread;
};

struct arrjit_job {
  _Atomic int64_t refs; /* the host's handle and the queue */
  size_t bytes;         /* of this block: inputs, outputs, bindings and their names follow */
  arrjit_runner *runner;
  arrjit_job *next;
  arrjit_function *function; /* NULL once done */
  arrjit_run_options options;
  size_t input_count, output_count;
  arrjit_array **inputs, **outputs;
  _Atomic int stop; /* AJ_STOP_* bits */
  bool done, taken; /* guarded by the runner's lock, as what follows */
  arrjit_status status;
  arrjit_error error;
  arrjit_result *result;
};

/* ---- life ---- */

static void release_runner(arrjit_runner *runner) {
  if (atomic_fetch_sub_explicit(&runner->refs, 1, memory_order_acq_rel) != 1) return;
  aj_core *core = runner->core;
  aj_cond_destroy(&runner->changed);
  aj_mutex_destroy(&runner->lock);
  aj_mem_free(&core->mem, runner, sizeof *runner);
  aj_core_release(core);
}

/* What a job holds of the host's goes when it is done, not when its handle goes. */
static void drop_inputs(arrjit_job *job) {
  for (size_t i = 0; i < job->input_count; i++) aj_array_release(job->inputs[i]);
  for (size_t i = 0; i < job->output_count; i++) aj_array_release(job->outputs[i]);
  job->input_count = job->output_count = 0;
  aj_cancel_release(job->options.cancel);
  job->options.cancel = NULL;
  aj_function_release(job->function);
  job->function = NULL;
}

static void release_job(arrjit_job *job) {
  if (!job || atomic_fetch_sub_explicit(&job->refs, 1, memory_order_acq_rel) != 1) return;
  arrjit_runner *runner = job->runner;
  drop_inputs(job);
  aj_result_destroy(job->result);
  aj_mem_free(&runner->core->mem, job, job->bytes);
  release_runner(runner);
}

/* ---- the thread ---- */

static void run_job(arrjit_job *job) {
  arrjit_result *result = NULL;
  arrjit_error error = {.status = ARRJIT_OK};
  arrjit_status status =
      aj_engine_run(job->function, &job->options, &job->stop, job->input_count, job->inputs, &result, &error);
  drop_inputs(job);
  aj_mutex_lock(&job->runner->lock);
  job->runner->running = NULL;
  job->status = status;
  job->error = error;
  job->result = result;
  job->done = true;
  aj_cond_broadcast(&job->runner->changed);
  aj_mutex_unlock(&job->runner->lock);
  release_job(job);
}

/* Runs jobs until the runner ends and its queue is empty: those still queued then find their stop bit set. */
static void *serve_jobs(void *arg) {
  arrjit_runner *runner = arg;
  aj_mutex_lock(&runner->lock);
  for (;;) {
    arrjit_job *job = runner->first;
    if (job) {
      runner->first = job->next;
      runner->running = job;
      aj_mutex_unlock(&runner->lock);
      run_job(job);
      aj_mutex_lock(&runner->lock);
    } else if (runner->ending) {
      break;
    } else {
      aj_cond_wait(&runner->changed, &runner->lock);
    }
  }
  aj_mutex_unlock(&runner->lock);
  release_runner(runner);
  return NULL;
}

static bool on_thread(const arrjit_runner *runner) { return pthread_equal(runner->thread.os, pthread_self()); }

arrjit_status arrjit_runner_create(arrjit_context *context, arrjit_runner **out, arrjit_error *error) {
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  aj_core *core = context->core;
  arrjit_runner *runner = aj_mem_alloc(&core->mem, sizeof *runner);
  bool lock = runner && aj_mutex_init(&runner->lock), cond = lock && aj_cond_init(&runner->changed);
  if (!cond) {
    if (lock) aj_mutex_destroy(&runner->lock);
    aj_mem_free(&core->mem, runner, sizeof *runner);
    return aj_error_memory(error, "a runner");
  }
  runner->core = core;
  aj_core_retain(core);
  atomic_init(&runner->refs, 2); /* the handle and the thread */
  aj_mutex_lock(&runner->lock);  /* so that the thread sees `thread` set */
  bool started = aj_thread_start(&runner->thread, 0, serve_jobs, runner);
  aj_mutex_unlock(&runner->lock);
  if (!started) {
    atomic_store(&runner->refs, 1);
    release_runner(runner);
    return aj_error_set(error, ARRJIT_LIMIT, "the system has no thread for a runner");
  }
  atomic_fetch_add(&core->activations, 1);
  *out = runner;
  return aj_error_clear(error);
}

arrjit_status arrjit_runner_destroy(arrjit_runner *runner) {
  if (!runner) return ARRJIT_OK;
  if (on_thread(runner)) return ARRJIT_BUSY;
  aj_mutex_lock(&runner->lock);
  runner->ending = true;
  if (runner->running) atomic_fetch_or(&runner->running->stop, AJ_STOP_SHUTDOWN);
  for (arrjit_job *job = runner->first; job; job = job->next) atomic_fetch_or(&job->stop, AJ_STOP_SHUTDOWN);
  aj_cond_broadcast(&runner->changed);
  aj_mutex_unlock(&runner->lock);
  aj_thread_join(&runner->thread);
  atomic_fetch_sub(&runner->core->activations, 1);
  release_runner(runner);
  return ARRJIT_OK;
}

/* ---- submitting ---- */

static arrjit_status check_submit(const arrjit_runner *runner, const arrjit_function *function,
                                  const arrjit_run_options *options, size_t input_count, arrjit_array *const *inputs,
                                  arrjit_job **out, arrjit_error *error) {
  if (!runner) return aj_error_set(error, ARRJIT_MISUSE, "runner is NULL");
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  if (input_count && !inputs) return aj_error_set(error, ARRJIT_MISUSE, "inputs is NULL");
  for (size_t i = 0; i < input_count; i++)
    if (!inputs[i]) return aj_error_set(error, ARRJIT_MISUSE, "inputs[%zu] is NULL", i);
  arrjit_status status = aj_engine_check_options(options, error);
  for (size_t i = 0; status == ARRJIT_OK && i < options->binding_count; i++)
    if (!options->bindings[i].slot) status = aj_error_set(error, ARRJIT_MISUSE, "binding %zu: slot is NULL", i);
  return status;
}

/* Bytes of a job's block, false on overflow. */
static bool size_job(const arrjit_run_options *options, size_t inputs, size_t outputs, size_t *out) {
  size_t bytes = sizeof(arrjit_job), part;
  if (!aj_size_mul(inputs, sizeof(void *), &part) || !aj_size_add(bytes, part, &bytes)) return false;
  if (!aj_size_mul(outputs, sizeof(void *), &part) || !aj_size_add(bytes, part, &bytes)) return false;
  if (!aj_size_mul(options->binding_count, sizeof(arrjit_binding), &part) || !aj_size_add(bytes, part, &bytes))
    return false;
  for (size_t i = 0; i < options->binding_count; i++)
    if (!aj_size_add(bytes, strlen(options->bindings[i].slot) + 1, &bytes)) return false;
  *out = bytes;
  return true;
}

/* One block with everything that the job keeps of the call: arrays, bindings, then the bindings' names. NULL: no
 * memory. */
static arrjit_job *make_job(arrjit_runner *runner, arrjit_function *function, const arrjit_run_options *options,
                            size_t input_count) {
  size_t outputs = options->outputs ? function->module->funcs.data[0]->result_count : 0, bytes;
  arrjit_job *job = size_job(options, input_count, outputs, &bytes) ? aj_mem_alloc(&runner->core->mem, bytes) : NULL;
  if (!job) return NULL;
  atomic_init(&job->refs, 2);
  job->bytes = bytes;
  job->runner = runner;
  job->function = function;
  job->options = *options;
  job->input_count = input_count;
  job->output_count = outputs;
  job->inputs = (arrjit_array **)(job + 1);
  job->outputs = job->inputs + input_count;
  atomic_fetch_add(&runner->refs, 1);
  return job;
}

static void copy_bindings(arrjit_job *job) {
  arrjit_binding *bindings = (arrjit_binding *)(job->outputs + job->output_count);
  char *names = (char *)(bindings + job->options.binding_count);
  for (size_t i = 0; i < job->options.binding_count; i++) {
    bindings[i] = job->options.bindings[i];
    size_t bytes = strlen(bindings[i].slot) + 1;
    bindings[i].slot = memcpy(names, bindings[i].slot, bytes);
    names += bytes;
  }
  job->options.bindings = bindings;
}

/* Retains what the call only lent. */
static void keep_inputs(arrjit_job *job, arrjit_array *const *inputs) {
  aj_function_retain(job->function);
  if (job->options.cancel) aj_cancel_retain(job->options.cancel);
  for (size_t i = 0; i < job->input_count; i++) aj_array_retain(job->inputs[i] = inputs[i]);
  for (size_t i = 0; i < job->output_count; i++)
    if ((job->outputs[i] = job->options.outputs[i])) aj_array_retain(job->outputs[i]);
  if (job->options.outputs) job->options.outputs = job->outputs;
}

arrjit_status arrjit_runner_submit(arrjit_runner *runner, arrjit_function *function, const arrjit_run_options *options,
                                   size_t input_count, arrjit_array *const *inputs, arrjit_job **out,
                                   arrjit_error *error) {
  static const arrjit_run_options defaults = {.struct_bytes = sizeof defaults};
  if (!options) options = &defaults;
  arrjit_status status = check_submit(runner, function, options, input_count, inputs, out, error);
  if (status != ARRJIT_OK) return status;
  arrjit_job *job = make_job(runner, function, options, input_count);
  if (!job) return aj_error_memory(error, "a job");
  copy_bindings(job);
  keep_inputs(job, inputs);
  aj_mutex_lock(&runner->lock);
  if (runner->ending) atomic_fetch_or(&job->stop, AJ_STOP_SHUTDOWN);
  if (runner->first)
    runner->last->next = job;
  else
    runner->first = job;
  runner->last = job;
  aj_cond_broadcast(&runner->changed);
  aj_mutex_unlock(&runner->lock);
  *out = job;
  return aj_error_clear(error);
}

/* ---- jobs ---- */

/* Hands out what a job has come to; with the lock held. */
static arrjit_status take_result(arrjit_job *job, arrjit_result **out, arrjit_error *error) {
  if (job->taken) return aj_error_set(error, ARRJIT_NOT_FOUND, "the result of the job was handed out before");
  job->taken = true;
  if (job->status != ARRJIT_OK) {
    if (error) *error = job->error;
    return job->status;
  }
  *out = job->result;
  job->result = NULL;
  return aj_error_clear(error);
}

arrjit_status arrjit_job_wait(arrjit_job *job, int64_t timeout_ns, arrjit_result **out, arrjit_error *error) {
  if (!job) return aj_error_set(error, ARRJIT_MISUSE, "job is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  arrjit_runner *runner = job->runner;
  int64_t deadline = aj_engine_deadline(timeout_ns);
  bool in_time = true, own = on_thread(runner);
  aj_mutex_lock(&runner->lock);
  while (!job->done && in_time && !own) {
    if (deadline == INT64_MAX)
      aj_cond_wait(&runner->changed, &runner->lock);
    else
      in_time = aj_cond_wait_until(&runner->changed, &runner->lock, deadline);
  }
  arrjit_status status;
  if (job->done)
    status = take_result(job, out, error);
  else if (own)
    status = aj_error_set(error, ARRJIT_BUSY, "a job cannot wait for a job of its own runner");
  else
    status = aj_error_set(error, ARRJIT_TIMEOUT, "the job is not done");
  aj_mutex_unlock(&runner->lock);
  return status;
}

int arrjit_job_done(const arrjit_job *job) {
  if (!job) return 0;
  aj_mutex_lock(&job->runner->lock);
  bool done = job->done;
  aj_mutex_unlock(&job->runner->lock);
  return done;
}

void arrjit_job_cancel(arrjit_job *job) {
  if (job) atomic_fetch_or(&job->stop, AJ_STOP_CANCEL);
}

void arrjit_job_release(arrjit_job *job) { release_job(job); }
