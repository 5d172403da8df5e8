/* Runners: jobs in the order in which they came, on a thread of the runner's own or by tasks that the host's executor
 * runs. Either way at most one thread serves the queue, and no lock is held while it runs a job or calls the host. */
#include "api/runner.h"

#include "base/error.h"

void aj_runner_release(arrjit_runner *runner) {
  if (atomic_fetch_sub_explicit(&runner->refs, 1, memory_order_acq_rel) != 1) return;
  aj_core *core = runner->core;
  aj_cond_destroy(&runner->changed);
  aj_mutex_destroy(&runner->lock);
  aj_mem_free(&core->mem, runner, sizeof *runner);
  aj_core_release(core);
}

bool aj_runner_is_inside(const arrjit_runner *runner) {
  return runner->serving && pthread_equal(runner->server, pthread_self());
}

/* ---- serving ---- */

/* Runs what is queued; with the lock held, but not while a job runs. When the runner ends, who ends it serves the rest:
 * `last`. */
static void serve_queue(arrjit_runner *runner, bool last) {
  runner->serving = true;
  runner->server = pthread_self();
  while (runner->first && (last || !runner->ending)) {
    arrjit_job *job = runner->first;
    runner->first = job->next;
    runner->queued--;
    runner->running = job;
    aj_mutex_unlock(&runner->lock);
    aj_job_run(job);
    aj_job_release(job);
    aj_mutex_lock(&runner->lock);
  }
  runner->serving = false;
  aj_cond_broadcast(&runner->changed);
}

/* The body of the runner's own thread. */
static void *serve_until_end(void *arg) {
  arrjit_runner *runner = arg;
  aj_mutex_lock(&runner->lock);
  while (!runner->ending) {
    if (runner->first)
      serve_queue(runner, false);
    else
      aj_cond_wait(&runner->changed, &runner->lock);
  }
  aj_mutex_unlock(&runner->lock);
  aj_runner_release(runner);
  return NULL;
}

/* What an executor is given. That it begins says that it was taken, also before `submit` has returned. */
static void serve_task(void *arg) {
  arrjit_runner *runner = arg;
  aj_mutex_lock(&runner->lock);
  runner->offer = 0;
  aj_cond_broadcast(&runner->changed);
  if (!runner->ending) serve_queue(runner, false);
  runner->tasked = false;
  aj_mutex_unlock(&runner->lock);
  aj_runner_release(runner);
}

/* ---- life ---- */

static arrjit_status check_options(const arrjit_runner_options *o, arrjit_error *error) {
  if (o->struct_bytes != sizeof *o)
    return aj_error_set(error, ARRJIT_MISUSE, "options: struct_bytes is %zu, expected %zu", o->struct_bytes, sizeof *o);
  if (o->max_queued < 0)
    return aj_error_set(error, ARRJIT_MISUSE, "options: max_queued is %lld, expected 0 or more",
                        (long long)o->max_queued);
  if (o->executor && !o->executor->submit)
    return aj_error_set(error, ARRJIT_MISUSE, "options: the executor's submit is NULL");
  return ARRJIT_OK;
}

/* With one reference. NULL: no memory. */
static arrjit_runner *make_runner(aj_core *core, const arrjit_runner_options *options) {
  arrjit_runner *runner = aj_mem_alloc(&core->mem, sizeof *runner);
  bool lock = runner && aj_mutex_init(&runner->lock), cond = lock && aj_cond_init(&runner->changed);
  if (!cond) {
    if (lock) aj_mutex_destroy(&runner->lock);
    aj_mem_free(&core->mem, runner, sizeof *runner);
    return NULL;
  }
  runner->core = core;
  aj_core_retain(core);
  atomic_init(&runner->refs, 1);
  if (options->executor) runner->executor = *options->executor;
  runner->max_queued = options->max_queued;
  runner->completion = options->completion;
  runner->completion_user = options->completion_user;
  return runner;
}

static bool start_thread(arrjit_runner *runner) {
  atomic_fetch_add(&runner->refs, 1);
  if (aj_thread_start(&runner->thread, 0, serve_until_end, runner)) return true;
  atomic_fetch_sub(&runner->refs, 1);
  return false;
}

arrjit_status arrjit_runner_create(arrjit_context *context, const arrjit_runner_options *options, arrjit_runner **out,
                                   arrjit_error *error) {
  static const arrjit_runner_options defaults = {.struct_bytes = sizeof defaults};
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  if (!options) options = &defaults;
  arrjit_status status = check_options(options, error);
  if (status != ARRJIT_OK) return status;
  arrjit_runner *runner = make_runner(context->core, options);
  if (!runner) return aj_error_memory(error, "a runner");
  if (!options->executor && !start_thread(runner)) {
    aj_runner_release(runner);
    return aj_error_set(error, ARRJIT_LIMIT, "the system has no thread for a runner");
  }
  atomic_fetch_add(&context->core->users, 1);
  *out = runner;
  return aj_error_clear(error);
}

/* With the lock held, which it lets go: until no task is about to begin, and (all) no job runs either. */
static void wait_tasks(arrjit_runner *runner, bool all) {
  if (!runner->offer && !(all && runner->serving)) return;
  aj_mutex_unlock(&runner->lock);
  aj_core_wait_begin(runner->core);
  aj_mutex_lock(&runner->lock);
  while (runner->offer || (all && runner->serving)) aj_cond_wait(&runner->changed, &runner->lock);
  aj_mutex_unlock(&runner->lock);
  aj_core_wait_end(runner->core);
  aj_mutex_lock(&runner->lock);
}

/* The thread or task stops after its job, if it has one; a task that has not begun is not waited for, as the host may
 * have no thread for it any more. */
arrjit_status arrjit_runner_destroy(arrjit_runner *runner) {
  if (!runner) return ARRJIT_OK;
  aj_mutex_lock(&runner->lock);
  if (aj_runner_is_inside(runner)) {
    aj_mutex_unlock(&runner->lock);
    return ARRJIT_BUSY;
  }
  runner->ending = true;
  if (runner->running) atomic_fetch_or(&runner->running->stop, AJ_STOP_SHUTDOWN);
  aj_cond_broadcast(&runner->changed);
  while (runner->offer || runner->serving) wait_tasks(runner, true);
  for (arrjit_job *job = runner->first; job; job = job->next) atomic_fetch_or(&job->stop, AJ_STOP_SHUTDOWN);
  serve_queue(runner, true);
  aj_mutex_unlock(&runner->lock);
  if (!runner->executor.submit) {
    aj_core_wait_begin(runner->core);
    aj_thread_join(&runner->thread);
    aj_core_wait_end(runner->core);
  }
  atomic_fetch_sub(&runner->core->users, 1);
  aj_runner_release(runner);
  return ARRJIT_OK;
}

/* ---- submitting ---- */

static arrjit_status check_submit(const arrjit_runner *runner, const arrjit_function *function,
                                  const arrjit_job_options *options, size_t input_count, arrjit_array *const *inputs,
                                  const arrjit_run_options **out_run, arrjit_error *error) {
  if (!runner) return aj_error_set(error, ARRJIT_MISUSE, "runner is NULL");
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (input_count && !inputs) return aj_error_set(error, ARRJIT_MISUSE, "inputs is NULL");
  for (size_t i = 0; i < input_count; i++)
    if (!inputs[i]) return aj_error_set(error, ARRJIT_MISUSE, "inputs[%zu] is NULL", i);
  if (options->struct_bytes != sizeof *options)
    return aj_error_set(error, ARRJIT_MISUSE, "options: struct_bytes is %zu, expected %zu", options->struct_bytes,
                        sizeof *options);
  *out_run = aj_options_check(options->run, error);
  return *out_run ? ARRJIT_OK : ARRJIT_MISUSE;
}

/* With the lock held: asks the executor to take a task. While it is asked nobody else queues anything, so that a
 * refusal is the answer to this one job. The task may be over, and others offered, when `submit` returns. */
static arrjit_status offer_task(arrjit_runner *runner, arrjit_error *error) {
  uint64_t offer = runner->offer = ++runner->offers;
  runner->tasked = true;
  atomic_fetch_add(&runner->refs, 1);
  aj_mutex_unlock(&runner->lock);
  bool refused = runner->executor.submit(runner->executor.user, serve_task, runner) != 0;
  aj_mutex_lock(&runner->lock);
  if (runner->offer != offer) return ARRJIT_OK; /* it has begun */
  runner->offer = 0;
  aj_cond_broadcast(&runner->changed);
  if (!refused) return ARRJIT_OK;
  runner->tasked = false;
  atomic_fetch_sub(&runner->refs, 1); /* the caller has another */
  return aj_error_set(error, ARRJIT_BUSY, "the executor refused the task");
}

/* Takes the queue's reference on success. */
static arrjit_status enqueue(arrjit_runner *runner, arrjit_job *job, arrjit_error *error) {
  while (runner->offer) wait_tasks(runner, false);
  if (runner->ending) return aj_error_set(error, ARRJIT_BUSY, "the runner is being destroyed");
  if (runner->max_queued && runner->queued >= runner->max_queued)
    return aj_error_set(error, ARRJIT_LIMIT, "%lld jobs are queued, as many as max_queued allows",
                        (long long)runner->queued);
  if (runner->first)
    runner->last->next = job;
  else
    runner->first = job;
  runner->last = job;
  runner->queued++;
  if (!runner->executor.submit) {
    aj_cond_broadcast(&runner->changed);
  } else if (!runner->tasked && offer_task(runner, error) != ARRJIT_OK) {
    AJ_ASSERT(runner->first == job && runner->last == job);
    runner->first = runner->last = NULL;
    runner->queued--;
    return ARRJIT_BUSY;
  }
  return ARRJIT_OK;
}

arrjit_status arrjit_runner_submit_job(arrjit_runner *runner, arrjit_function *function,
                                       const arrjit_job_options *options, size_t input_count,
                                       arrjit_array *const *inputs, arrjit_job **out, arrjit_error *error) {
  static const arrjit_job_options defaults = {.struct_bytes = sizeof defaults};
  const arrjit_run_options *run = NULL;
  if (!options) options = &defaults;
  arrjit_status status = check_submit(runner, function, options, input_count, inputs, &run, error);
  if (status != ARRJIT_OK) return status;
  arrjit_job *job = aj_job_create(runner, function, run, input_count, inputs);
  if (!job) return aj_error_memory(error, "a job");
  job->completion = options->completion ? options->completion : runner->completion;
  job->completion_user = options->completion ? options->user : runner->completion_user;
  atomic_fetch_add(&job->refs, 1); /* the queue's, beside this call's own */
  aj_mutex_lock(&runner->lock);
  status = enqueue(runner, job, error);
  aj_mutex_unlock(&runner->lock);
  if (status != ARRJIT_OK) aj_job_release(job);
  if (status == ARRJIT_OK && out)
    *out = job;
  else
    aj_job_release(job);
  return status == ARRJIT_OK ? aj_error_clear(error) : status;
}

arrjit_status arrjit_runner_submit(arrjit_runner *runner, arrjit_function *function, const arrjit_run_options *options,
                                   size_t input_count, arrjit_array *const *inputs, arrjit_job **out,
                                   arrjit_error *error) {
  const arrjit_job_options job = {.struct_bytes = sizeof job, .run = options};
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  return arrjit_runner_submit_job(runner, function, &job, input_count, inputs, out, error);
}

void arrjit_runner_get_statistics(arrjit_runner *runner, arrjit_runner_statistics *out) {
  if (!out) return;
  *out = (arrjit_runner_statistics){0};
  if (!runner) return;
  aj_mutex_lock(&runner->lock);
  *out = (arrjit_runner_statistics){
      .queued = runner->queued, .running = runner->running != NULL, .done = runner->done, .failed = runner->failed};
  aj_mutex_unlock(&runner->lock);
}
