/* The engine: contexts, functions, and which tier runs what. */
#ifndef AJ_ENGINE_ENGINE_H
#define AJ_ENGINE_ENGINE_H

#include "arrjit/arrjit.h"
#include "interp/interp.h"
#include "rt/code.h"
#include "rt/result.h"

typedef struct aj_compiler aj_compiler;     /* compile queue and thread of a context: engine/compiler.h */
typedef struct aj_activation aj_activation; /* what one run owns, pooled by its function: engine/activation.h */

struct arrjit_context {
  aj_core *core;
  aj_compiler *compiler;
};

typedef enum aj_native_state { AJ_NATIVE_NONE, AJ_NATIVE_QUEUED, AJ_NATIVE_READY, AJ_NATIVE_NEVER } aj_native_state;

struct arrjit_function {
  _Atomic int64_t refs;
  uint32_t id;
  aj_core *core;
  _Atomic(arrjit_context *) context; /* not retained; NULL once the context is destroyed */
  aj_compiler *compiler;             /* retained: it outlives the context for the sake of its lock */
  arrjit_function *previous, *next;  /* functions of the compiler; its lock guards them */
  arrjit_function *next_queued;
  aj_module *module; /* finished, immutable */
  bool has_calls;
  aj_interp_code *interp;
  _Atomic(struct aj_need *) need; /* made by the first run whose memory is limited */
  _Atomic int native_state;       /* aj_native_state; changed with the compiler's lock held */
  _Atomic(aj_code *) code;        /* published last */
  _Atomic int64_t hot_work;       /* interpreted so far */
  _Atomic int hot_tries;          /* compilations that auto has asked for: each next one waits for twice the work */
  _Atomic int64_t compilations;
  arrjit_status never_status; /* why native code will not come; written before the state is NEVER */
  char never_text[160];
  _Atomic(aj_activation *) spare;         /* an idle activation, taken and given back by one exchange */
  _Atomic(struct aj_defaults *) defaults; /* changed and retained with the lock held; NULL: no slot is bound */
  aj_mutex lock;                          /* guards what follows */
  aj_activation *idle;                    /* more of them */
  aj_activation *made;                    /* all there are */
};

/* Takes the module (also on failure). NULL: no memory. */
arrjit_function *aj_function_create(arrjit_context *context, aj_module *module);
void aj_function_retain(arrjit_function *function);
void aj_function_release(arrjit_function *function);
/* Binds one of its slots for runs to come; what it was bound to goes, with no lock held. */
arrjit_status aj_function_bind(arrjit_function *function, const arrjit_binding *binding, void (*destroy)(void *user),
                               arrjit_error *error);
/* Its runs so far, by tier. */
typedef struct aj_run_counts {
  int64_t native, interpreted;
} aj_run_counts;
aj_run_counts aj_function_runs(arrjit_function *function);
/* Whether any of its activations is not idle. */
bool aj_function_is_busy(arrjit_function *function);
/* What memory its runs need, made on first use. NULL: no memory. */
const struct aj_need *aj_function_need(arrjit_function *function);

/* Validates, binds, picks a tier, runs, packs the result. `stop`: AJ_STOP_* bits that a runner sets to end the run, or
 * NULL. */
arrjit_status aj_engine_run(arrjit_function *function, const arrjit_run_options *options, const _Atomic int *stop,
                            size_t input_count, arrjit_array *const *inputs, arrjit_result **out, arrjit_error *error);
/* A run on dense blocks of the host, for a function whose parameters and results have numbers as extents: one block a
 * parameter, one a result, of those types; results may lie over inputs, not over each other. Allocates nothing when the
 * function is native, has no slots, and goes well. *out_failure: the result of a run that failed, else NULL. */
arrjit_status aj_engine_run_blocks(arrjit_function *function, const arrjit_run_options *options,
                                   const void *const *inputs, void *const *outputs, arrjit_result **out_failure,
                                   arrjit_error *error);
/* The part of it that looks at the options alone: MISUSE or OK. */
arrjit_status aj_engine_check_options(const arrjit_run_options *options, arrjit_error *error);

/* What arrjit_type_make leaves as extent 0 of a type with a rank for which no dims were given; no symbol, nor
 * ARRJIT_DYNAMIC_DIM. */
#define AJ_NO_DIMS (INT64_MIN + 1)

/* A timeout as a time of aj_clock_ns: INT64_MAX for one below 0, which is none. */
static inline int64_t aj_engine_deadline(int64_t timeout_ns) {
  int64_t deadline;
  return timeout_ns >= 0 && aj_i64_add(aj_clock_ns(), timeout_ns, &deadline) ? deadline : INT64_MAX;
}

/* Text of LLVM IR (what 1) or assembly (what 2) of a module, made on the compile thread. */
arrjit_status aj_compiler_print(arrjit_context *context, const aj_module *module, int what, aj_text *out,
                                arrjit_error *error);

#endif
