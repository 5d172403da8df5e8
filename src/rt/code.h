/* The contract between the engine and native code: what a compiled function looks like, what it may call back. */
#ifndef AJ_RT_CODE_H
#define AJ_RT_CODE_H

#include "rt/run.h"

/* A compiled entry. Inputs and outputs are dense data pointers (scalars too), one a parameter or result, no two outputs
 * overlap each other or an input. `env` has all symbols of the module, derived ones included. Returns 0, or 1 with
 * run->exn set. */
typedef int32_t aj_code_entry(aj_run *run, const void *const *inputs, void *const *outputs, const int64_t *env);

typedef struct aj_code { /* refs are the owner's: freed by destroy when the last run has left */
  aj_code_entry *entry;
  int64_t lowered_nodes, fallback_nodes, interpreted_nodes, kernels;
  int64_t code_bytes, compile_ns;
  int64_t entry_frame_bytes; /* stack frame of the entry; 0: not known */
  int64_t frame_bytes;       /* greatest of the functions that are called, the entry included when it is; 0: none is */
  aj_module *module;         /* optimised module that fallbacks and sites point into; owned */
  void *impl;                /* native's own */
} aj_code;

enum { AJ_NATIVE_ABI = 1 };

/* What the library gives the native module. Helpers end in a status: 0 ok, else run->exn is set. */
typedef struct aj_native_host {
  uint32_t abi; /* AJ_NATIVE_ABI */
  uint32_t struct_bytes;
  const char *version; /* of the library; the module refuses another */
  /* run-time helpers, called by compiled code: names are what the code's undefined symbols are */
  const struct aj_native_helper {
    const char *name;
    void *address;
  } *helpers;
  uint32_t helper_count;
  /* LLVM has failed in a way its thread cannot return from: called on that thread, which then parks for ever. */
  void (*fatal)(void *user, const char *text);
  void *user;
} aj_native_host;

typedef struct aj_native_request {
  aj_core *core;
  const aj_module *module; /* finished; alive until the code is destroyed */
  const char *name;
  uint32_t print;          /* 0: code; 1: LLVM IR as text; 2: assembly as text */
  int64_t budget_ms;       /* of processor time */
  const _Atomic int *stop; /* not 0: the compilation is to end soon */
  int64_t isa;             /* option */
  int64_t flip_lowering;   /* option */
  uint64_t passes_off;
  bool verify_passes;
} aj_native_request;

/* What the native module gives the library; one table a process. */
typedef struct aj_native_api {
  uint32_t abi, struct_bytes;
  const char *version;
  /* One compiler a context, used by its compile thread only. NULL and an error when the target cannot be had. */
  void *(*open)(const aj_native_host *host, arrjit_error *error);
  void (*close)(void *native);
  /* OK; LIMIT: above the budget; UNAVAILABLE: something that cannot be compiled (error says what); MEMORY. */
  arrjit_status (*compile)(void *native, const aj_native_request *request, aj_code *out, aj_text *out_text,
                           arrjit_error *error);
  void (*destroy)(void *native, aj_code *code); /* any thread */
} aj_native_api;

/* The one symbol the module exports. */
#define AJ_NATIVE_SYMBOL "arrjit_native_entry"
typedef const aj_native_api *aj_native_entry_fn(const aj_native_host *host);

#endif
