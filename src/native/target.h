/* The machine code is made for: the host's CPU or a lesser one, and what lowering asks about it. */
#ifndef AJ_NATIVE_TARGET_H
#define AJ_NATIVE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "native/compat.h"

typedef struct aj_target {
  int64_t isa;                                 /* as the option names it */
  char *triple, *cpu, *features;               /* LLVM messages */
  LLVMTargetMachineRef machine, quick_machine; /* code generation levels default and none */
  uint32_t vector_bytes;                       /* 64, 32 or 16 */
  bool has_fma;
  bool has_f16c;         /* f16 to f32 and back as instructions */
  bool has_rounding;     /* floor, ceil, trunc, rint as instructions */
  bool has_masks;        /* masked loads and stores of 4- and 8-byte elements */
  bool has_narrow_masks; /* and of 1- and 2-byte ones */
} aj_target;

/* For the host (`isa` 0) or the level of the option, if the host has all of it; else for the next lower one that it
 * has. False: LLVM knows no such machine; *out_message (static) says why. Whatever was made is freed by
 * aj_target_close. */
bool aj_target_open(aj_target *target, int64_t isa, const char **out_message);
void aj_target_close(aj_target *target);

#endif
