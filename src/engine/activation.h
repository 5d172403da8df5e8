/* What one run of a function owns: taken from the function's idle ones and given back, so that a warm run allocates its
 * result and nothing else. */
#ifndef AJ_ENGINE_ACTIVATION_H
#define AJ_ENGINE_ACTIVATION_H

#include "engine/engine.h"

/* Arrays over blocks that a host's call brings: only their data changes from call to call. */
typedef struct aj_lent_arrays {
  arrjit_array **outputs; /* of arrays, behind those of the inputs */
  arrjit_array arrays[];  /* inputs, then outputs */
} aj_lent_arrays;

struct aj_activation {
  aj_activation *next_idle, *next_made;
  _Atomic int64_t native_runs, interpreted_runs; /* so far; only the thread that has it writes */
  arrjit_function *function;
  aj_run run;
  bool entered; /* floating-point environment and deadline are set up */
  bool keeps;   /* callbacks may release function and inputs: they are retained; else the caller's hold is enough */
  bool succeeded;
  bool copied;       /* an entry of aligned or packed is set */
  size_t stack_left; /* of the thread, when the run was entered */
  uint32_t input_count, output_count;
  int64_t *env; /* symbols of the module */
  arrjit_array **inputs;
  arrjit_array **aligned; /* copies of inputs that were not, NULL where none; owned */
  arrjit_array **outputs; /* what the run has made or writes to; owned */
  arrjit_array **packed;  /* dense stand-ins of inputs for native code, NULL where none; owned */
  const void **in_data;
  void **out_data;
  aj_lent_arrays *lent; /* made when first wanted */
};

/* The context is busy until it ends. NULL: no memory. */
aj_activation *aj_activation_begin(arrjit_function *function);
/* Leaves what was entered, gives up all that it owns, gives it back. NULL is fine. */
void aj_activation_drop_arrays(aj_activation *activation); /* copies of inputs, outputs so far */
void aj_activation_end(aj_activation *activation);
/* Makes the arrays of a->lent, by the signature, whose extents are numbers. False: no memory. */
bool aj_activation_lend(aj_activation *activation);
/* Sets up deadline, limits and floating-point environment. False: run.exn. */
bool aj_activation_enter(aj_activation *activation, const arrjit_run_options *options, const _Atomic int *stop);
/* All of a function that goes: none is in use. */
void aj_activation_free_all(arrjit_function *function);

/* ---- arguments.c: kind argument for what does not fit ---- */
/* Checks inputs against the parameters, binds the symbols, retains the inputs. False: run.exn. */
bool aj_arguments_bind(aj_activation *activation, size_t input_count, arrjit_array *const *inputs);
/* The same for dense blocks that are what the signature says, as the data of a->lent. False: run.exn. */
bool aj_arguments_bind_blocks(aj_activation *activation, const void *const *inputs);
/* Every slot that is not optional is bound, or the run fails before anything has an effect. False: run.exn, kind
 * unbound. */
bool aj_arguments_check_slots(aj_activation *activation);
/* Checks the outputs that the host gives: `given` has one a result (entries may be NULL), or is NULL. False: run.exn.
 */
bool aj_arguments_check_outputs(aj_activation *activation, arrjit_array *const *given);

/* ---- tiers.c: one tier runs the function; activation->outputs on success, else run.exn ---- */
bool aj_tier_interpret(aj_activation *activation, const arrjit_run_options *options, uint64_t *out_touched);
bool aj_tier_native(aj_activation *activation, const aj_code *code, arrjit_array *const *given, uint64_t *out_touched);
/* After native code that had no memory to begin with (run.unbegun): as if it had not been tried. */
void aj_tier_forget(aj_activation *activation, uint64_t *out_touched);
/* Whether a run whose memory is limited may have what its function needs, as far as that is known before it runs.
 * False: run.exn. */
bool aj_tier_fits(aj_activation *activation);
/* Whether the thread has stack enough for native code. */
bool aj_tier_has_stack(const aj_activation *activation, const aj_code *code);

#endif
