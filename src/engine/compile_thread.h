/* What the files of the compile queue share: its state, and the thread that serves it. */
#ifndef AJ_ENGINE_COMPILE_THREAD_H
#define AJ_ENGINE_COMPILE_THREAD_H

#include "engine/compiler.h"

/* A job that only makes text; it lives on the stack of who waits for it. */
typedef struct aj_print_job {
  struct aj_print_job *next;
  const aj_module *module;
  uint32_t what;
  aj_text *out;
  arrjit_error *error;
  arrjit_status status;
  bool done;
} aj_print_job;

struct aj_compiler {
  _Atomic int64_t refs;
  aj_core *core;
  char *path;
  size_t path_bytes;
  aj_mutex lock;
  aj_cond changed; /* broadcast at every change that someone may wait for */
  arrjit_function *functions;
  aj_run_counts past_runs; /* of functions that are gone */
  arrjit_function *first, *last;
  aj_print_job *prints;
  arrjit_function *current; /* being compiled */
  aj_print_job *printing;
  bool busy;                  /* from taking a job until nothing of it is held any more */
  int destroying;             /* functions that left with code that is being freed */
  _Atomic int stop_compiling; /* 1: what is being compiled is not wanted any more */
  bool stopping, lost;        /* lost: LLVM has parked the thread */
  pid_t pid;                  /* whose thread it is: a child made by fork has none. 0: not started */
  aj_thread thread;
  /* the thread's own until it has ended */
  const aj_native_api *api;
  void *native;
  aj_native_host host;
  arrjit_error refusal; /* why there is no native code; status OK: not known yet, or there is */
};

/* Body of the thread: serves the queue until the compiler stops. */
void *aj_compile_serve(void *compiler);
/* Frees code and tells so; NULL is fine. Without the lock. */
void aj_compile_destroy(aj_compiler *compiler, aj_code *code, uint32_t function_id);
void aj_compile_event(aj_core *core, arrjit_event_code code, uint32_t function, int64_t duration_ns, int64_t bytes,
                      const char *text);
/* With the lock held: the function gets no code (state NEVER, or NONE: a later run may try again). */
void aj_compile_set_never(arrjit_function *function, aj_native_state state, arrjit_status status, const char *text);
/* With the lock held: ends all that is queued. The functions' references are to be released without the lock. */
arrjit_function *aj_compile_drop_queue(aj_compiler *compiler, const char *text);
void aj_compile_release_dropped(arrjit_function *first);

#endif
