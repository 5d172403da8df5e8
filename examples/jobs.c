/* jobs: hundreds of jobs on a runner, a tenth of which fail, one that never ends and one that is late. New here:
 * submit, completions, cancel, deadline, what a runner counts. Nothing that happens to a job harms the others. */
#include "support.h"

enum { JOBS = 500 };

/* halve(x, endless): halves x until it is odd; fails for 0 or less; goes round for ever when endless. */
static arrjit_function *build(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL), flag = arrjit_type_make(ARRJIT_BOOL, 0, NULL);
  arrjit_value x = arrjit_param(g, "x", &i64), endless = arrjit_param(g, "endless", &flag), checked, var, out;
  arrjit_check(g, arrjit_gt(g, x, arrjit_const_i64(g, 0)), ARRJIT_KIND_RUNTIME, 7, "{0} is not positive", 1, &x, 1, &x,
               &checked);
  arrjit_while_begin(g, 1, &checked, &var);
  arrjit_value odd = arrjit_eq(g, arrjit_and(g, var, arrjit_const_i64(g, 1)), arrjit_const_i64(g, 1));
  arrjit_while_body(g, arrjit_or(g, endless, arrjit_not(g, odd)), &var);
  arrjit_value next = arrjit_select(g, endless, var, arrjit_div(g, var, arrjit_const_i64(g, 2)));
  arrjit_while_end(g, 1, &next, &out);
  arrjit_return(g, 1, &out, NULL);
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

/* What jobs have come to; only the runner's thread writes to it. */
typedef struct tally {
  int64_t done, sum, failed;
  char last[128];
} tally;

/* Called when a job is done, before the next one begins. */
static void count(void *user, arrjit_job *job) {
  tally *t = user;
  arrjit_result *r;
  arrjit_error error;
  must(arrjit_job_take(job, &r, &error), &error);
  t->done++;
  if (arrjit_result_ok(r))
    t->sum += *(const int64_t *)arrjit_array_data(arrjit_result_output(r, 0));
  else
    t->failed++, snprintf(t->last, sizeof t->last, "%s", arrjit_result_message(r));
  arrjit_result_destroy(r);
}

/* With a tally nobody else sees the job; without one it is the caller's to wait for. */
static arrjit_job *submit(arrjit_context *context, arrjit_runner *runner, arrjit_function *f, int64_t x,
                          uint8_t endless, int64_t deadline_ns, tally *t) {
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL), flag = arrjit_type_make(ARRJIT_BOOL, 0, NULL);
  arrjit_array *in[2];
  arrjit_job *job = NULL;
  arrjit_error error;
  const arrjit_run_options run = {.struct_bytes = sizeof run, .mode = ARRJIT_MODE_WHOLE, .deadline_ns = deadline_ns};
  const arrjit_job_options options = {
      .struct_bytes = sizeof options, .run = &run, .completion = t ? count : NULL, .user = t};
  must(arrjit_array_create(context, &i64, &x, &in[0], &error), &error);
  must(arrjit_array_create(context, &flag, &endless, &in[1], &error), &error);
  must(arrjit_runner_submit_job(runner, f, &options, 2, in, t ? NULL : &job, &error), &error);
  arrjit_array_release(in[0]);
  arrjit_array_release(in[1]);
  return job;
}

static void show(const char *name, arrjit_job *job) {
  arrjit_result *r;
  arrjit_error error;
  must(arrjit_job_wait(job, -1, &r, &error), &error);
  if (arrjit_result_ok(r))
    printf("%s: %lld\n", name, (long long)*(const int64_t *)arrjit_array_data(arrjit_result_output(r, 0)));
  else
    printf("%s: %s\n", name, arrjit_result_kind_name(r));
  arrjit_result_destroy(r);
  arrjit_job_release(job);
}

int main(void) {
  arrjit_context *context;
  arrjit_runner *runner;
  arrjit_error error;
  arrjit_runner_statistics all;
  tally t = {0};
  must(arrjit_context_create(NULL, &context, &error), &error);
  must(arrjit_runner_create(context, NULL, &runner, &error), &error);
  arrjit_function *f = build(context);
  for (int i = 1; i <= JOBS; i++) submit(context, runner, f, i % 10 ? i : -i, 0, 0, &t);
  arrjit_job *endless = submit(context, runner, f, 1, 1, 0, NULL);
  arrjit_job *late = submit(context, runner, f, 1, 1, arrjit_clock_ns() + 20000000, NULL);
  arrjit_job *last = submit(context, runner, f, 96, 0, 0, NULL);
  arrjit_job_cancel(endless);
  show("endless", endless);
  show("late", late);
  show("last", last);
  arrjit_runner_get_statistics(runner, &all);
  printf("%lld counted: sum %lld, %lld failed, the last with: %s\n", (long long)t.done, (long long)t.sum,
         (long long)t.failed, t.last);
  printf("%lld done, %lld of them without a result\n", (long long)all.done, (long long)all.failed);
  must(arrjit_runner_destroy(runner), &error);
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
