/* What a context's arrays, results, functions and runs share, by reference count: it lives until the last of them is
 * gone. */
#ifndef AJ_RT_CORE_H
#define AJ_RT_CORE_H

#include "base/event.h"
#include "base/pool.h"
#include "ir/kind.h"
#include "rt/timer.h"
#include "sem/sem.h"

typedef enum aj_option {
#define OPTION(ID, ...) AJ_OPTION_##ID,
#include "base/options.def"
#undef OPTION
  AJ_OPTION_COUNT
} aj_option;

typedef struct aj_core {
  _Atomic int64_t refs;
  aj_mem mem;
  aj_kinds *kinds;
  aj_events events;
  aj_sem_cache *sem;
  aj_timer timer;           /* aj_timer_stop when the context goes */
  aj_pool pool;             /* aj_pool_stop likewise */
  arrjit_executor executor; /* submit NULL: none */
  uint32_t processors;
  struct aj_exn *no_memory; /* aj_exn_no_memory */
  arrjit_hooks hooks;       /* of the host; both functions NULL: none */
  _Atomic int64_t options[AJ_OPTION_COUNT];
  _Atomic int64_t users; /* runners and waits: the context cannot be destroyed */
  _Atomic int64_t runs_failed;
  _Atomic int64_t poll_longest_ns;
  _Atomic int64_t functions_compiled, compilations_stopped, compile_ns, code_bytes;
} aj_core;

typedef struct aj_option_info {
  const char *name;
  int64_t value, least, most;
} aj_option_info; /* value: the default */
extern const aj_option_info aj_options[AJ_OPTION_COUNT];

/* Kernels are helped by the host's threads from now on: before the first run. */
void aj_core_set_executor(aj_core *core, const arrjit_executor *executor);
/* refs 1, options at their defaults. NULL: no memory. */
aj_core *aj_core_create(const arrjit_allocator *allocator);
void aj_core_retain(aj_core *core);
/* Any thread. NULL is fine. */
void aj_core_release(aj_core *core);
/* Around a wait on a thread of the host, no lock held: the host's own lock is given up and taken again. */
static inline void aj_core_wait_begin(const aj_core *core) {
  if (core->hooks.release) core->hooks.release(core->hooks.user);
}
static inline void aj_core_wait_end(const aj_core *core) {
  if (core->hooks.acquire) core->hooks.acquire(core->hooks.user);
}
static inline int64_t aj_core_option(const aj_core *core, aj_option option) {
  return atomic_load_explicit(&core->options[option], memory_order_relaxed);
}

#endif
