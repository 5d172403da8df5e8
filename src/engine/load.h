/* The native module, opened on first need: one a process, whatever the number of contexts. */
#ifndef AJ_ENGINE_LOAD_H
#define AJ_ENGINE_LOAD_H

#include "rt/code.h"

/* The module's table; UNAVAILABLE and why when there is none. `path` NULL: arrjit/libarrjit_native.so and
 * libarrjit_native.so beside this library, then the built-in libdir. Once it is open every path gives the same. */
arrjit_status aj_load_native(const char *path, const aj_native_host *host, const aj_native_api **out,
                             arrjit_error *error);
/* LLVM has failed for good: native code is off in this process from now on. */
void aj_load_disable(void);
/* Why aj_load_native need not be tried: built without native code, or turned off. NULL: it may be. */
const char *aj_load_obstacle(void);

/* What compiled code may call: engine/helpers.c. */
const struct aj_native_helper *aj_helpers(uint32_t *out_count);
/* "0.1.0" */
const char *aj_load_version(void);

#endif
