/* The engine: contexts, functions, and which tier runs what. */
#ifndef AJ_ENGINE_ENGINE_H
#define AJ_ENGINE_ENGINE_H

#include "arrjit/arrjit.h"
#include "interp/interp.h"
#include "rt/code.h"
#include "rt/result.h"

typedef struct aj_compiler aj_compiler;   /* compile queue and thread of a context: engine/compiler.c */

struct arrjit_context {
  aj_core *core;
  char *native_path;
  aj_compiler *compiler;                  /* started on first need */
  aj_mutex lock;
};

typedef enum aj_native_state { AJ_NATIVE_NONE, AJ_NATIVE_QUEUED, AJ_NATIVE_READY, AJ_NATIVE_NEVER } aj_native_state;

struct arrjit_function {
  _Atomic int64_t refs;
  uint32_t id;
  aj_core *core;
  arrjit_context *context;                /* not retained; NULL once the context is destroyed */
  aj_module *module;                      /* finished, immutable */
  _Atomic int native_state;               /* aj_native_state */
  _Atomic(aj_code *) code;                /* published last */
  _Atomic int64_t hot_work;               /* interpreted so far */
  _Atomic int64_t compilations, native_runs, interpreted_runs;
  arrjit_status never_status;             /* why native code will not come */
  char never_text[160];
};

/* Takes the module (also on failure). NULL: no memory. */
arrjit_function *aj_function_create(arrjit_context *context, aj_module *module);
void aj_function_retain(arrjit_function *function);
void aj_function_release(arrjit_function *function);

/* Validates, binds, picks a tier, runs, packs the result. */
arrjit_status aj_engine_run(arrjit_function *function, const arrjit_run_options *options, const _Atomic int *shutdown,
                            size_t input_count, arrjit_array *const *inputs, arrjit_result **out, arrjit_error *error);

#endif
