/* The interpreter: explicit frames, one unwinder, no C recursion for a graph's control flow. */
#ifndef AJ_INTERP_INTERP_H
#define AJ_INTERP_INTERP_H

#include "rt/run.h"

/* Runs function 0 of run->module. Inputs are validated arrays (any strides); env has the module's symbols, entry symbols bound
 * and derived. On success gives result arrays, owned by the caller, dense. False: run->exn is set, with its trace. */
bool aj_interp_run(aj_run *run, const int64_t *env, arrjit_array *const *inputs, arrjit_array **outputs);

#endif
