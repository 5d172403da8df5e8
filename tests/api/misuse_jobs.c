/* Rows of misuse: runners, jobs, closures. */
#include "misuse.h"

static arrjit_status echo(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                          size_t result_count, const arrjit_view *results) {
  (void)user, (void)call, (void)arg_count, (void)args, (void)result_count, (void)results;
  return ARRJIT_OK;
}

/* ---- runners ---- */

static void submitting(misuse *m, arrjit_runner *runner) {
  arrjit_array *missing = NULL;
  arrjit_run_options bad = {.struct_bytes = sizeof bad, .mode = (arrjit_mode)99},
                     unbound = {.struct_bytes = sizeof unbound};
  const arrjit_binding nameless = {NULL, echo, NULL, NULL};
  unbound.binding_count = 1;
  unbound.bindings = &nameless;
#define SUBMIT(...) arrjit_runner_submit(__VA_ARGS__, e)
  REFUSED(m, arrjit_runner_submit, "runner", "NULL", ARRJIT_MISUSE, "runner is NULL",
          SUBMIT(NULL, m->function, NULL, 1, &m->array, &m->outs.job));
  REFUSED(m, arrjit_runner_submit, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          SUBMIT(runner, NULL, NULL, 1, &m->array, &m->outs.job));
  REFUSED(m, arrjit_runner_submit, "inputs", "NULL", ARRJIT_MISUSE, "inputs is NULL",
          SUBMIT(runner, m->function, NULL, 1, NULL, &m->outs.job));
  REFUSED(m, arrjit_runner_submit, "inputs", "with NULL", ARRJIT_MISUSE, "inputs[0] is NULL",
          SUBMIT(runner, m->function, NULL, 1, &missing, &m->outs.job));
  REFUSED(m, arrjit_runner_submit, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          SUBMIT(runner, m->function, NULL, 1, &m->array, NULL));
  REFUSED(m, arrjit_runner_submit, "options.mode", "out of range", ARRJIT_MISUSE, "mode 99",
          SUBMIT(runner, m->function, &bad, 1, &m->array, &m->outs.job));
  REFUSED(m, arrjit_runner_submit, "bindings.slot", "NULL", ARRJIT_MISUSE, "slot is NULL",
          SUBMIT(runner, m->function, &unbound, 1, &m->array, &m->outs.job));
  const arrjit_job_options zero = {0}, inside = {.struct_bytes = sizeof inside, .run = &bad};
#define SUBMIT_JOB(...) arrjit_runner_submit_job(__VA_ARGS__, 1, &m->array, &m->outs.job, e)
  REFUSED(m, arrjit_runner_submit_job, "runner", "NULL", ARRJIT_MISUSE, "runner is NULL",
          SUBMIT_JOB(NULL, m->function, NULL));
  REFUSED(m, arrjit_runner_submit_job, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          SUBMIT_JOB(runner, NULL, NULL));
  REFUSED(m, arrjit_runner_submit_job, "options", "with struct_bytes 0", ARRJIT_MISUSE, "struct_bytes is 0",
          SUBMIT_JOB(runner, m->function, &zero));
  REFUSED(m, arrjit_runner_submit_job, "options.run", "of a mode out of range", ARRJIT_MISUSE, "mode 99",
          SUBMIT_JOB(runner, m->function, &inside));
  GIVES(m, arrjit_runner_submit_job, "out", "NULL, which is fine",
        arrjit_runner_submit_job(runner, m->function, NULL, 1, &m->array, NULL, NULL) == ARRJIT_OK);
}

static void runner_options(misuse *m) {
  const arrjit_executor executor = {.user = NULL};
  const arrjit_runner_options zero = {0}, negative = {.struct_bytes = sizeof negative, .max_queued = -1},
                              nothing = {.struct_bytes = sizeof nothing, .executor = &executor};
#define CREATE(options) arrjit_runner_create(m->f->context, options, &m->outs.runner, e)
  REFUSED(m, arrjit_runner_create, "options", "with struct_bytes 0", ARRJIT_MISUSE, "struct_bytes is 0", CREATE(&zero));
  REFUSED(m, arrjit_runner_create, "options.max_queued", "negative", ARRJIT_MISUSE,
          "max_queued is -1, expected 0 or more", CREATE(&negative));
  REFUSED(m, arrjit_runner_create, "options.executor", "without submit", ARRJIT_MISUSE, "submit is NULL",
          CREATE(&nothing));
}

/* Waiting twice; what only the run can refuse comes from the wait. */
static void waiting(misuse *m, arrjit_runner *runner) {
  arrjit_job *job = NULL;
  arrjit_result *result = NULL;
  const arrjit_binding unknown = {"shout", echo, NULL, NULL};
  arrjit_run_options o = {.struct_bytes = sizeof o, .binding_count = 1, .bindings = &unknown};
  REFUSED(m, arrjit_job_wait, "job", "NULL", ARRJIT_MISUSE, "job is NULL",
          arrjit_job_wait(NULL, -1, &m->outs.result, e));
  REFUSED(m, arrjit_job_take, "job", "NULL", ARRJIT_MISUSE, "job is NULL", arrjit_job_take(NULL, &m->outs.result, e));
  if (arrjit_runner_submit(runner, m->function, NULL, 1, &m->array, &job, NULL) != ARRJIT_OK) fail();
  REFUSED(m, arrjit_job_take, "out", "NULL", ARRJIT_MISUSE, "out is NULL", arrjit_job_take(job, NULL, e));
  REFUSED(m, arrjit_job_wait, "out", "NULL", ARRJIT_MISUSE, "out is NULL", arrjit_job_wait(job, -1, NULL, e));
  GIVES(m, arrjit_job_wait, "job", "that is fine", arrjit_job_wait(job, -1, &result, NULL) == ARRJIT_OK);
  REFUSED(m, arrjit_job_wait, "job", "waited for before", ARRJIT_NOT_FOUND, "handed out before",
          arrjit_job_wait(job, -1, &m->outs.result, e));
  REFUSED(m, arrjit_job_take, "job", "taken before", ARRJIT_NOT_FOUND, "handed out before",
          arrjit_job_take(job, &m->outs.result, e));
  arrjit_result_destroy(result);
  arrjit_job_release(job);
  for (int round = 0; round < 2; round++) {
    if (arrjit_runner_submit(runner, m->function, &o, 1, &m->array, &job, NULL) != ARRJIT_OK) fail();
    misuse_begin(m, "arrjit_job_wait", "job", "whose run names no slot");
    arrjit_error *e = misuse_record(m, round);
    misuse_refused(m, arrjit_job_wait(job, -1, &m->outs.result, e), ARRJIT_MISUSE, e ? "no slot \"shout\"" : NULL);
    arrjit_job_release(job);
  }
}

void misuse_runners(misuse *m) {
  arrjit_runner *runner = NULL;
  REFUSED(m, arrjit_runner_create, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_runner_create(NULL, NULL, &m->outs.runner, e));
  REFUSED(m, arrjit_runner_create, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_runner_create(m->f->context, NULL, NULL, e));
  runner_options(m);
  arrjit_runner_statistics statistics;
  memset(&statistics, 0x5a, sizeof statistics);
  GIVES(m, arrjit_runner_get_statistics, "runner", "NULL",
        (arrjit_runner_get_statistics(NULL, &statistics), statistics.done == 0 && statistics.queued == 0));
  GIVES(m, arrjit_runner_destroy, "runner", "NULL", arrjit_runner_destroy(NULL) == ARRJIT_OK);
  GIVES(m, arrjit_job_done, "job", "NULL", arrjit_job_done(NULL) == 0);
  SURVIVES(m, arrjit_job_cancel, "job", "NULL", arrjit_job_cancel(NULL));
  SURVIVES(m, arrjit_job_release, "job", "NULL", arrjit_job_release(NULL));
  if (arrjit_runner_create(m->f->context, NULL, &runner, NULL) != ARRJIT_OK) fail();
  SURVIVES(m, arrjit_runner_get_statistics, "out", "NULL", arrjit_runner_get_statistics(runner, NULL));
  submitting(m, runner);
  waiting(m, runner);
  GIVES(m, arrjit_context_destroy, "context", "with a runner", arrjit_context_destroy(m->f->context) == ARRJIT_BUSY);
  GIVES(m, arrjit_runner_destroy, "runner", "that is fine", arrjit_runner_destroy(runner) == ARRJIT_OK);
}

/* ---- closures ---- */

#define CLOSURE_REFUSED(m, argument, how, part, ...)                                                                   \
  do {                                                                                                                 \
    arrjit_closure_options o = {.struct_bytes = sizeof o, __VA_ARGS__};                                                \
    REFUSED(m, arrjit_closure_create, argument, how, ARRJIT_MISUSE, part,                                              \
            arrjit_closure_create(m->function, &o, &m->outs.closure, e));                                              \
  } while (0)

static void closure_options(misuse *m) {
  const arrjit_closure_options zero = {0};
  const arrjit_binding unknown = {"shout", echo, NULL, NULL}, nameless = {NULL, echo, NULL, NULL};
  arrjit_array *outputs[1] = {NULL};
  const arrjit_run_options mode = {.struct_bytes = sizeof mode, .mode = (arrjit_mode)99},
                           bound = {.struct_bytes = sizeof bound, .binding_count = 1, .bindings = &unknown},
                           unnamed = {.struct_bytes = sizeof unnamed, .binding_count = 1, .bindings = &nameless},
                           given = {.struct_bytes = sizeof given, .outputs = outputs},
                           donating = {.struct_bytes = sizeof donating, .donated = 1};
  REFUSED(m, arrjit_closure_create, "options", "with struct_bytes 0", ARRJIT_MISUSE, "struct_bytes is 0",
          arrjit_closure_create(m->function, &zero, &m->outs.closure, e));
  CLOSURE_REFUSED(m, "options.flags", "unknown", "flags 0x80", .flags = 0x80);
  CLOSURE_REFUSED(m, "options.run", "of a mode out of range", "mode 99", .run = &mode);
  CLOSURE_REFUSED(m, "options.run", "with a slot that is none", "no slot \"shout\"", .run = &bound);
  CLOSURE_REFUSED(m, "options.run", "with a slot that is NULL", "binding 0: slot is NULL", .run = &unnamed);
  CLOSURE_REFUSED(m, "options.run", "with outputs", "a closure has neither", .run = &given);
  CLOSURE_REFUSED(m, "options.run", "with donated inputs", "a closure has neither", .run = &donating);
}

void misuse_closures(misuse *m) {
  REFUSED(m, arrjit_closure_create, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          arrjit_closure_create(NULL, NULL, &m->outs.closure, e));
  REFUSED(m, arrjit_closure_create, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_closure_create(m->function, NULL, NULL, e));
  closure_options(m);
  SURVIVES(m, arrjit_closure_retain, "closure", "NULL", arrjit_closure_retain(NULL));
  SURVIVES(m, arrjit_closure_release, "closure", "NULL", arrjit_closure_release(NULL));
  GIVES(m, arrjit_closure_pointer, "closure", "NULL", !arrjit_closure_pointer(NULL));
  GIVES(m, arrjit_closure_signature, "closure", "NULL", strcmp(arrjit_closure_signature(NULL), "") == 0);
  GIVES(m, arrjit_closure_take_error, "closure", "NULL", !arrjit_closure_take_error(NULL));
  GIVES(m, arrjit_closure_failures, "closure", "NULL", arrjit_closure_failures(NULL) == 0);
}
