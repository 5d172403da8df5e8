/* C functions of plain signatures by libffi. */
#ifndef AJ_RT_BIND_H
#define AJ_RT_BIND_H

#include "rt/run.h"

/* Calls the function of a slot bound directly; arguments and the result, when there is one, are scalars. */
void aj_direct_call(const aj_bound_slot *bound, const arrjit_view *args, const arrjit_view *results);
/* What libffi calls the C type of an element: a bool is passed as the byte that it is, which is how C passes _Bool. */
struct _ffi_type *aj_ffi_type(arrjit_dtype dtype);

#endif
