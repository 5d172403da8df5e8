/* Jobs of runners: functions that end well, badly and not at all; submitting one, and taking what comes of it. */
#ifndef TK_JOBS_H
#define TK_JOBS_H

#include "fixture.h"

/* f64 -> f64: x when x > 0, else a failure of kind runtime, code 4. */
arrjit_function *tk_make_check(tk_fixture *f);
/* f64 -> f64: goes round for ever. */
arrjit_function *tk_make_endless(tk_fixture *f);
/* A job of one input; the test fails when it is refused. */
arrjit_job *tk_submit(arrjit_runner *runner, arrjit_function *function, arrjit_array *x,
                      const arrjit_run_options *options);
/* Waits, releases the job and tells how it ended. */
arrjit_kind tk_wait_kind(arrjit_job *job);

#endif
