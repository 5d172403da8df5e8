/* Objects in memory become callable code: one LLJIT, one resource tracker a module. */
#ifndef AJ_NATIVE_ORC_H
#define AJ_NATIVE_ORC_H

#include "native/compat.h"
#include "native/target.h"
#include "rt/code.h"

typedef struct aj_orc {
  LLVMOrcLLJITRef jit;
} aj_orc;

/* Defines the host's helpers under their names. False: *out_message (static) says why; nothing is left open. */
bool aj_orc_open(aj_orc *orc, const aj_target *target, const aj_native_host *host, const char **out_message);
void aj_orc_close(aj_orc *orc);
/* Takes the object; on success *out_tracker frees the code and *out_address is the symbol. Thread-safe. */
bool aj_orc_add(aj_orc *orc, LLVMMemoryBufferRef object, const char *symbol, LLVMOrcResourceTrackerRef *out_tracker,
                void **out_address);
void aj_orc_remove(aj_orc *orc, LLVMOrcResourceTrackerRef tracker);

#endif
