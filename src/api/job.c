/* Jobs: what a runner keeps of a submitted run, running it, handing out what it has come to. */
#include "api/runner.h"
#include "base/error.h"

/* ---- life ---- */

/* What a job holds of the host's goes when it is done, not when its handle goes. */
static void drop_inputs(arrjit_job *job) {
  for (size_t i = 0; i < job->input_count; i++) aj_array_release(job->inputs[i]);
  for (size_t i = 0; i < job->output_count; i++) aj_array_release(job->outputs[i]);
  job->input_count = job->output_count = 0;
  aj_options_drop(&job->options);
  aj_function_release(job->function);
  job->function = NULL;
}

void aj_job_release(arrjit_job *job) {
  if (!job || atomic_fetch_sub_explicit(&job->refs, 1, memory_order_acq_rel) != 1) return;
  arrjit_runner *runner = job->runner;
  drop_inputs(job);
  aj_result_destroy(job->result);
  aj_mem_free(&runner->core->mem, job, job->bytes);
  aj_runner_release(runner);
}

/* Bytes of a job's block, false on overflow. */
static bool size_job(const arrjit_run_options *options, size_t inputs, size_t outputs, size_t *out) {
  size_t bytes = sizeof(arrjit_job), part;
  if (!aj_size_mul(inputs, sizeof(void *), &part) || !aj_size_add(bytes, part, &bytes)) return false;
  if (!aj_size_mul(outputs, sizeof(void *), &part) || !aj_size_add(bytes, part, &bytes)) return false;
  return aj_options_size(options, &part) && aj_size_add(bytes, part, out);
}

arrjit_job *aj_job_create(arrjit_runner *runner, arrjit_function *function, const arrjit_run_options *options,
                          size_t input_count, arrjit_array *const *inputs) {
  size_t outputs = options->outputs ? function->module->funcs.data[0]->result_count : 0, bytes;
  arrjit_job *job = size_job(options, input_count, outputs, &bytes) ? aj_mem_alloc(&runner->core->mem, bytes) : NULL;
  if (!job) return NULL;
  atomic_init(&job->refs, 1);
  job->bytes = bytes;
  job->runner = runner;
  atomic_fetch_add(&runner->refs, 1);
  job->function = function;
  aj_function_retain(function);
  job->input_count = input_count;
  job->output_count = outputs;
  job->inputs = (arrjit_array **)(job + 1);
  job->outputs = job->inputs + input_count;
  aj_options_keep(&job->options, options, job->outputs + outputs);
  for (size_t i = 0; i < input_count; i++) aj_array_retain(job->inputs[i] = inputs[i]);
  for (size_t i = 0; i < outputs; i++)
    if ((job->outputs[i] = options->outputs[i])) aj_array_retain(job->outputs[i]);
  if (options->outputs) job->options.outputs = job->outputs;
  return job;
}

/* ---- running ---- */

/* Whoever waits for the job may release it, and destroy the runner but for this thread, once the lock is given up. */
static void tell_done(arrjit_job *job, arrjit_status status, const arrjit_error *error, arrjit_result *result) {
  arrjit_runner *runner = job->runner;
  aj_mutex_lock(&runner->lock);
  job->status = status;
  if (status != ARRJIT_OK) job->error = *error;
  job->result = result;
  job->done = true;
  runner->running = NULL;
  runner->done++;
  runner->failed += status != ARRJIT_OK || result->exn;
  aj_cond_broadcast(&runner->changed);
  aj_mutex_unlock(&runner->lock);
}

void aj_job_run(arrjit_job *job) {
  arrjit_result *result = NULL;
  arrjit_error error;
  arrjit_status status =
      aj_engine_run(job->function, &job->options, &job->stop, job->input_count, job->inputs, &result, &error);
  drop_inputs(job);
  tell_done(job, status, &error, result);
  if (job->completion) job->completion(job->completion_user, job);
}

/* ---- handing out ---- */

/* What a job has come to; with the lock held. */
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

/* With the lock held, which it lets go: until the job is done or it is no use to wait. */
static void wait_done(const arrjit_job *job, int64_t deadline) {
  arrjit_runner *runner = job->runner;
  bool in_time = true;
  aj_mutex_unlock(&runner->lock);
  aj_core_wait_begin(runner->core);
  aj_mutex_lock(&runner->lock);
  while (!job->done && in_time) {
    if (deadline == INT64_MAX)
      aj_cond_wait(&runner->changed, &runner->lock);
    else
      in_time = aj_cond_wait_until(&runner->changed, &runner->lock, deadline);
  }
  aj_mutex_unlock(&runner->lock);
  aj_core_wait_end(runner->core);
  aj_mutex_lock(&runner->lock);
}

arrjit_status arrjit_job_wait(arrjit_job *job, int64_t timeout_ns, arrjit_result **out, arrjit_error *error) {
  if (!job) return aj_error_set(error, ARRJIT_MISUSE, "job is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  arrjit_runner *runner = job->runner;
  int64_t deadline = aj_engine_deadline(timeout_ns);
  aj_mutex_lock(&runner->lock);
  bool inside = aj_runner_is_inside(runner);
  if (!inside) wait_done(job, deadline);
  arrjit_status status;
  if (job->done)
    status = take_result(job, out, error);
  else if (inside)
    status = aj_error_set(error, ARRJIT_BUSY, "a job cannot wait for a job of its own runner");
  else
    status = aj_error_set(error, ARRJIT_TIMEOUT, "the job is not done");
  aj_mutex_unlock(&runner->lock);
  return status;
}

arrjit_status arrjit_job_take(arrjit_job *job, arrjit_result **out, arrjit_error *error) {
  if (!job) return aj_error_set(error, ARRJIT_MISUSE, "job is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  aj_mutex_lock(&job->runner->lock);
  arrjit_status status =
      job->done ? take_result(job, out, error) : aj_error_set(error, ARRJIT_TIMEOUT, "the job is not done");
  aj_mutex_unlock(&job->runner->lock);
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

void arrjit_job_release(arrjit_job *job) { aj_job_release(job); }
