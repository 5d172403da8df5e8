/* What slots are bound to beyond one run, and calling C functions of plain signatures by libffi. */
#ifndef AJ_RT_BIND_H
#define AJ_RT_BIND_H

#include "rt/run.h"

/* A function's own binding of a slot. */
typedef struct aj_default {
  _Atomic int64_t refs;
  arrjit_callback_fn *callback;
  void *user;
  void (*direct)(void);
  void (*destroy)(void *user); /* called when the last reference goes; may be NULL */
} aj_default;
/* A function's bindings, immutable: a new one replaces it as a whole, and runs keep the one they began with. */
typedef struct aj_defaults {
  _Atomic int64_t refs;
  aj_core *core; /* not retained: it belongs to a function or a run of one */
  uint32_t count;
  aj_default *slots[]; /* by slot, NULL where nothing is bound; one reference each */
} aj_defaults;
/* The slot that a binding names, checked: MISUSE for a name that is none, for both functions, and for a direct one
 * whose slot is not all scalars. */
arrjit_status aj_binding_check(const aj_module *module, const arrjit_binding *binding, uint32_t *out_slot,
                               arrjit_error *error);
/* One without entries, refs 1. NULL: no memory. */
aj_defaults *aj_defaults_create(aj_core *core, uint32_t count);
/* The last reference calls the destructors of what goes with it: no lock may be held. NULL is fine. */
void aj_defaults_release(aj_defaults *defaults);

/* Calls the function of a slot bound directly; arguments and the result, when there is one, are scalars. */
void aj_direct_call(const aj_bound_slot *bound, const arrjit_view *args, const arrjit_view *results);
/* What libffi calls the C type of an element: a bool is passed as the byte that it is, which is how C passes _Bool. */
struct _ffi_type *aj_ffi_type(arrjit_dtype dtype);

#endif
