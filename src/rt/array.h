/* Arrays: reference counted blocks of elements, and views of them. */
#ifndef AJ_RT_ARRAY_H
#define AJ_RT_ARRAY_H

#include "arrjit/array.h"
#include "rt/core.h"

struct arrjit_array {
  _Atomic int64_t refs;
  aj_core *core;
  arrjit_array *base;            /* whose data it shares, or NULL */
  void *block;                   /* own memory, or NULL */
  size_t block_bytes;
  arrjit_release_data *release;  /* of wrapped memory, or NULL */
  void *release_user, *release_data;
  aj_view view;
};

/* Own memory, dense, 64-byte aligned; contents zeroed when `zero`. dims are validated here: NULL is lack of memory or a size
 * that overflows. */
arrjit_array *aj_array_create(aj_core *core, arrjit_dtype dtype, int32_t rank, const int64_t *dims, bool zero);
/* Shares base's data (retains it). NULL: no memory. */
arrjit_array *aj_array_share(arrjit_array *base, const aj_view *view);
/* The array itself, retained, when dense; else a dense copy. NULL: no memory. */
arrjit_array *aj_array_dense(arrjit_array *array);
static inline void aj_array_retain(arrjit_array *a) { atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed); }
void aj_array_release(arrjit_array *array);

#endif
