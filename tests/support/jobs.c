/* What tests of runners submit. */
#include "jobs.h"

arrjit_function *tk_make_check(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), out;
  CHECK(g, arrjit_gt(g, x, arrjit_const_f64(g, 0)), ARRJIT_KIND_RUNTIME, 4, "not above 0: {0}", LIST(x), &out, x);
  RETURN(g, out);
  return tk_finish(f, g);
}

arrjit_function *tk_make_endless(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), vars[1], out[1];
  WHILE(g, vars, x);
  arrjit_while_body(g, arrjit_const_bool(g, 1), vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], arrjit_const_f64(g, 1))), out);
  RETURN(g, out[0]);
  return tk_finish(f, g);
}

arrjit_job *tk_submit(arrjit_runner *runner, arrjit_function *function, arrjit_array *x,
                      const arrjit_run_options *options) {
  arrjit_job *job = NULL;
  arrjit_error error;
  if (arrjit_runner_submit(runner, function, options, 1, &x, &job, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  return job;
}

arrjit_kind tk_wait_kind(arrjit_job *job) {
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_job_wait(job, -1, &result, NULL), ARRJIT_OK);
  arrjit_kind kind = arrjit_result_kind(result);
  arrjit_result_destroy(result);
  arrjit_job_release(job);
  return kind;
}
