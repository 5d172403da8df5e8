/* Cancel handles: a flag shared by reference count between the host and the runs that look at it. */
#include "rt/run.h"

arrjit_cancel *aj_cancel_create(aj_core *core) {
  arrjit_cancel *cancel = aj_mem_alloc(&core->mem, sizeof *cancel);
  if (!cancel) return NULL;
  aj_core_retain(core);
  atomic_init(&cancel->refs, 1);
  cancel->core = core;
  return cancel;
}

void aj_cancel_retain(arrjit_cancel *cancel) { atomic_fetch_add_explicit(&cancel->refs, 1, memory_order_relaxed); }

void aj_cancel_release(arrjit_cancel *cancel) {
  if (!cancel || atomic_fetch_sub_explicit(&cancel->refs, 1, memory_order_acq_rel) != 1) return;
  aj_core *core = cancel->core;
  aj_mem_free(&core->mem, cancel, sizeof *cancel);
  aj_core_release(core);
}
