/* The compile queue of a context and the one thread that serves it. LLVM runs on that thread only. */
#ifndef AJ_ENGINE_COMPILER_H
#define AJ_ENGINE_COMPILER_H

#include "engine/engine.h"

/* `native_path` (NULL: the places where an installed library has it) is copied. NULL: no memory. */
aj_compiler *aj_compiler_create(aj_core *core, const char *native_path);
void aj_compiler_retain(aj_compiler *compiler);
void aj_compiler_release(aj_compiler *compiler);
/* The context ends: queued work is dropped, the thread joined, the code of all functions freed. BUSY on the compile
 * thread. */
arrjit_status aj_compiler_stop(aj_compiler *compiler);

/* A function joins its context's, and leaves them with its code. */
void aj_compiler_attach(aj_compiler *compiler, arrjit_function *function);
void aj_compiler_detach(aj_compiler *compiler, arrjit_function *function);
/* Over all functions: whether one is running, and the runs so far, also of functions that are gone. */
bool aj_compiler_is_busy(aj_compiler *compiler);
aj_run_counts aj_compiler_runs(aj_compiler *compiler);

/* Queues compilation unless that was done before. UNAVAILABLE: there is no native code here, or there will be none of
 * this function; LIMIT: above the budget. */
arrjit_status aj_compiler_queue(arrjit_function *function, arrjit_error *error);
/* Waits until a queued compilation is over: the function's code is there (OK), will not come (why), or TIMEOUT. BUSY on
 * the compile thread. A deadline of INT64_MAX is none. */
arrjit_status aj_compiler_wait(arrjit_function *function, int64_t deadline_ns, arrjit_error *error);
/* Waits until nothing is queued or being compiled. */
arrjit_status aj_compiler_wait_idle(aj_compiler *compiler, int64_t deadline_ns);

#endif
