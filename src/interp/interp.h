/* The interpreter: explicit frames, one unwinder, no C recursion for a graph's control flow. */
#ifndef AJ_INTERP_INTERP_H
#define AJ_INTERP_INTERP_H

#include "rt/run.h"

/* What the interpreter knows of a module beforehand, and the frames and scratch it keeps for later runs. Made once a
 * function, shared by its runs on any threads. */
typedef struct aj_interp_code aj_interp_code;
typedef struct aj_interp aj_interp;
/* `module` is finished and outlives it. NULL: no memory. */
aj_interp_code *aj_interp_code_create(aj_core *core, const aj_module *module);
/* No run may be in it. NULL is fine. */
void aj_interp_code_destroy(aj_interp_code *code);

/* Runs function 0 of run->module. Inputs are validated arrays (any strides); env has the module's symbols, entry
 * symbols bound and derived. outputs[i] is NULL, or an array of the caller's for result i that no input lies in: it is
 * written at any time. On success all are there, owned by the caller; those the interpreter made are dense and shared
 * with nobody. False: run->exn is set, with its trace; the caller drops what is in outputs. A foreign exception may
 * unwind through it: the run is lost, but nothing of it stays behind. */
bool aj_interp_run(aj_interp_code *code, aj_run *run, const int64_t *env, arrjit_array *const *inputs,
                   arrjit_array **outputs);

#endif
