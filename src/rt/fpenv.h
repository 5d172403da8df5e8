/* The control bits of the floating-point environment: rounding, flushing of subnormals, traps. Semantics fix them
 * (nearest even, subnormals kept, no traps); exception flags are left to accumulate. Writing the register costs tens of
 * cycles, reading it a few: so it is written only where it differs. */
#ifndef AJ_RT_FPENV_H
#define AJ_RT_FPENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

#define AJ_FP_CONTROL UINT64_C(0xffc0) /* MXCSR: all but the six exception flags */
#define AJ_FP_DEFAULT UINT64_C(0x1f80) /* traps masked, nearest even, nothing flushed */
static inline uint64_t aj_fpenv_read(void) { return _mm_getcsr(); }
static inline void aj_fpenv_write(uint64_t bits) { _mm_setcsr((unsigned)bits); }

#elif defined(__aarch64__)

#define AJ_FP_CONTROL UINT64_C(0x07c89f07) /* FPCR: formats, rounding, traps; the flags are in FPSR */
#define AJ_FP_DEFAULT UINT64_C(0)
static inline uint64_t aj_fpenv_read(void) {
  uint64_t bits;
  __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
static inline void aj_fpenv_write(uint64_t bits) { __asm__ volatile("msr fpcr, %0" : : "r"(bits)); }

#else
#error "the floating-point control register of this processor is not known"
#endif

/* Sets the control bits to those of `bits`, keeps the rest. */
static inline void aj_fpenv_set_control(uint64_t bits) {
  aj_fpenv_write((aj_fpenv_read() & ~AJ_FP_CONTROL) | (bits & AJ_FP_CONTROL));
}

/* The library's own is set when a run begins, if the host's differs, which comes back when the run ends and around
 * callbacks. */
typedef struct aj_fpenv {
  uint64_t saved; /* control bits of the host */
  bool changed;
} aj_fpenv;

static inline aj_fpenv aj_fpenv_enter(void) {
  aj_fpenv env = {.saved = aj_fpenv_read() & AJ_FP_CONTROL};
  env.changed = env.saved != AJ_FP_DEFAULT;
  if (AJ_UNLIKELY(env.changed)) aj_fpenv_set_control(AJ_FP_DEFAULT);
  return env;
}

static inline void aj_fpenv_leave(aj_fpenv env) {
  if (AJ_UNLIKELY(env.changed)) aj_fpenv_set_control(env.saved);
}

#endif
