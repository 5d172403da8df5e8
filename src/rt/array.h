/* Arrays: reference counted blocks of elements, and views of them. */
#ifndef AJ_RT_ARRAY_H
#define AJ_RT_ARRAY_H

#include "arrjit/array.h"
#include "rt/core.h"

/* What a run asks of every array that it is given, worked out once: it follows from dtype, extents and strides. */
typedef struct aj_span {
  int64_t low, high;    /* offsets from data of the first byte and of the one behind the last; both 0 when empty */
  uint64_t stride_bits; /* of all strides together: what they are multiples of */
  bool dense;
} aj_span;

struct arrjit_array {
  _Atomic int64_t refs;
  aj_core *core;
  arrjit_array *base; /* whose data it shares, or NULL */
  void *block;        /* own memory, this header included, or NULL */
  size_t block_bytes;
  arrjit_release_data *release; /* of wrapped memory, or NULL */
  void *release_user, *release_data;
  uint32_t adopted; /* made by aj_array_adopt of donated input adopted - 1: a run may write to it; else 0 */
  aj_span span;     /* of view */
  aj_view view;
};

/* Bytes of a dense block of that type. False: no such dtype, a rank or extent out of range, or a size that overflows.
 */
bool aj_array_shape_bytes(arrjit_dtype dtype, int32_t rank, const int64_t *dims, int64_t *out_bytes);
/* Own memory, dense, 64-byte aligned; contents zeroed when `zero`. dims are validated here: NULL is lack of memory or a
 * size that overflows. */
arrjit_array *aj_array_create(aj_core *core, arrjit_dtype dtype, int32_t rank, const int64_t *dims, bool zero);
/* Over memory of the host; `release` (may be NULL) is called with (user, data) at the end. NULL: no memory. */
arrjit_array *aj_array_wrap(aj_core *core, const aj_view *view, arrjit_release_data *release, void *user, void *data);
/* Makes `array`, memory of the caller, one over memory of the host. It is never freed: it and the core outlive whatever
 * refers to it. */
void aj_array_lend(arrjit_array *array, aj_core *core, const aj_view *view);
/* Own memory, with a dense copy of what the view shows. NULL: no memory. */
arrjit_array *aj_array_copy(aj_core *core, const aj_view *view);
/* Shares base's data (retains it). NULL: no memory. */
arrjit_array *aj_array_share(arrjit_array *base, const aj_view *view);
/* An array of its own over the memory of donated input `index`, which it retains: unlike those of a view, its
 * references tell who can see it. NULL: no memory. */
arrjit_array *aj_array_adopt(arrjit_array *input, uint32_t index);
/* Whether its memory lasts as long as itself, whatever the host does: it is no memory that the host has wrapped. */
bool aj_array_owns(const arrjit_array *array);
/* The array itself, retained, when dense; else a dense copy. NULL: no memory. */
arrjit_array *aj_array_dense(arrjit_array *array);
/* The view's elements are of another dtype of the same size from now on, dense. */
void aj_array_retype(arrjit_array *array, arrjit_dtype dtype);
static inline bool aj_array_is_dense(const arrjit_array *array) { return array->span.dense; }
/* Whether every element lies at a multiple of its size, which is a power of two. */
static inline bool aj_array_is_aligned(const arrjit_array *array) {
  return (((uintptr_t)array->view.data | array->span.stride_bits) & (aj_dtypes[array->view.dtype].bytes - 1u)) == 0;
}
/* Whether two arrays may share a byte; exact when both are dense. Sums are modulo 2^64, as addresses are. */
static inline bool aj_array_overlaps(const arrjit_array *a, const arrjit_array *b) {
  uintptr_t a_data = (uintptr_t)a->view.data, b_data = (uintptr_t)b->view.data;
  return a_data + (uintptr_t)a->span.low < b_data + (uintptr_t)b->span.high &&
         b_data + (uintptr_t)b->span.low < a_data + (uintptr_t)a->span.high;
}
static inline void aj_array_retain(arrjit_array *a) { atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed); }
/* NULL is fine. */
void aj_array_release(arrjit_array *array);

#endif
