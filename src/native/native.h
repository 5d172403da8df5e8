/* The native module from inside: one compiler a context. */
#ifndef AJ_NATIVE_NATIVE_H
#define AJ_NATIVE_NATIVE_H

#include "native/budget.h"
#include "native/orc.h"
#include "rt/code.h"

/* The entry by name, also where the module is linked in. */
const aj_native_api *arrjit_native_entry(const aj_native_host *host);

typedef struct aj_native {
  _Atomic int64_t refs; /* the context's, and one a piece of code: machine code outlives close */
  const aj_native_host *host;
  aj_target target;
  aj_orc orc;
  uint64_t next_symbol;
} aj_native;

/* Runs `body`, which enters LLVM. After an error that LLVM calls fatal native code is off in the process; with a host
 * that wants to know (host->fatal) the thread parks, else the guard returns false. */
bool aj_fatal_guard(const aj_native_host *host, void (*body)(void *user), void *user);
/* Whether that has happened. */
bool aj_fatal_happened(void);

/* Passes over a filled module; `after_us`: what has to be left of the budget when they are done. */
arrjit_status aj_emit_passes(const aj_target *target, LLVMModuleRef module, const aj_budget *budget, int64_t after_us);
/* Code generation. NULL: LLVM reported an error. */
LLVMMemoryBufferRef aj_emit_object(const aj_target *target, LLVMModuleRef module, bool quick, LLVMCodeGenFileType kind);

#endif
