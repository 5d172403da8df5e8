/* The C++ part of unwind_test: callbacks that throw, and a catch around a run. */
#ifndef TK_UNWIND_THROW_H
#define TK_UNWIND_THROW_H

#include "arrjit/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Throws std::runtime_error("thrown by the host"), unless *(const int *)user is 0. */
arrjit_status unwind_callback(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                              size_t result_count, const arrjit_view *results);
/* The same as a plain function: for an argument above 0. */
double unwind_direct(double x);
/* Runs with a catch around it. 1: a std::exception came, *out_what is its text; 0: the run's status is in *out_status.
 */
int unwind_catch(arrjit_function *function, const arrjit_run_options *options, size_t input_count,
                 arrjit_array *const *inputs, arrjit_result **out, arrjit_status *out_status, char out_what[64]);

#ifdef __cplusplus
}
#endif
#endif
