/* jobs: a runner with failing jobs. New here: submit, wait, cancel, deadline; a job that fails, one that never ends and
 * one that is late harm nobody. */
#include "support.h"

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

static arrjit_job *submit(arrjit_context *context, arrjit_runner *runner, arrjit_function *f, int64_t x,
                          uint8_t endless, int64_t deadline_ns) {
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL), flag = arrjit_type_make(ARRJIT_BOOL, 0, NULL);
  arrjit_array *in[2];
  arrjit_job *job;
  arrjit_error error;
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE, .deadline_ns = deadline_ns};
  must(arrjit_array_create(context, &i64, &x, &in[0], &error), &error);
  must(arrjit_array_create(context, &flag, &endless, &in[1], &error), &error);
  must(arrjit_runner_submit(runner, f, &options, 2, in, &job, &error), &error);
  arrjit_array_release(in[0]);
  arrjit_array_release(in[1]);
  return job;
}

int main(void) {
  arrjit_context *context;
  arrjit_runner *runner;
  arrjit_error error;
  must(arrjit_context_create(NULL, &context, &error), &error);
  must(arrjit_runner_create(context, NULL, &runner, &error), &error);
  arrjit_function *f = build(context);
  enum { JOBS = 6 };
  arrjit_job *jobs[JOBS] = {submit(context, runner, f, 96, 0, 0),
                            submit(context, runner, f, -5, 0, 0),
                            submit(context, runner, f, 1, 1, 0),
                            submit(context, runner, f, 80, 0, 0),
                            submit(context, runner, f, 1, 1, arrjit_clock_ns() + 20000000),
                            submit(context, runner, f, 7, 0, 0)};
  arrjit_job_cancel(jobs[2]);
  for (int i = 0; i < JOBS; i++) {
    arrjit_result *r;
    must(arrjit_job_wait(jobs[i], -1, &r, &error), &error);
    if (arrjit_result_ok(r))
      printf("job %d: %lld\n", i, (long long)*(const int64_t *)arrjit_array_data(arrjit_result_output(r, 0)));
    else
      printf("job %d: %s: %s\n", i, arrjit_result_kind_name(r), arrjit_result_message(r));
    arrjit_result_destroy(r);
    arrjit_job_release(jobs[i]);
  }
  must(arrjit_runner_destroy(runner), &error);
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
