/* libarrjit: arrays. An array has an element type, a shape, byte strides and an owner of its data. */
#ifndef ARRJIT_ARRAY_H
#define ARRJIT_ARRAY_H

#include "arrjit/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called once when wrapped data is no longer used. */
typedef void arrjit_release_data(void *user, void *data);

/* A new array with its own memory: dense row-major, 64-byte aligned. `data` (dense row-major, copied) may be NULL:
 * zeros. The caller owns *out (one reference). Errors: MISUSE (negative dim, rank, size overflow), MEMORY. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_array_create(arrjit_context *context, const arrjit_type *type,
                                                             const void *data, arrjit_array **out, arrjit_error *error);
/* An array over the host's memory, not copied. `strides_bytes` (one a dim; may be negative, zero or unaligned) NULL:
 * dense row-major. `data` points at element 0 and stays valid until `release` (may be NULL) is called with (user,
 * data). */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_array_wrap(arrjit_context *context, const arrjit_type *type, void *data,
                                                           const int64_t *strides_bytes, arrjit_release_data *release,
                                                           void *user, arrjit_array **out, arrjit_error *error);
/* A view: `start` and `step` (elements, one a dim; step may be negative, not 0) and the view's `dims`. It shares and
 * keeps the base's data. Errors: MISUSE when it reaches outside the base. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_array_view(arrjit_array *base, const int64_t *start,
                                                           const int64_t *step, const int64_t *dims, arrjit_array **out,
                                                           arrjit_error *error);
/* A dense copy of any array. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_array_copy(const arrjit_array *array, arrjit_array **out,
                                                           arrjit_error *error);
ARRJIT_API void arrjit_array_retain(arrjit_array *array);
/* NULL is fine. */
ARRJIT_API void arrjit_array_release(arrjit_array *array);

ARRJIT_API arrjit_type arrjit_array_type(const arrjit_array *array);
ARRJIT_API arrjit_dtype arrjit_array_dtype(const arrjit_array *array);
ARRJIT_API int32_t arrjit_array_rank(const arrjit_array *array);
/* rank extents, valid as long as the array. */
ARRJIT_API const int64_t *arrjit_array_dims(const arrjit_array *array);
ARRJIT_API const int64_t *arrjit_array_strides_bytes(const arrjit_array *array);
/* Element 0; writable only when the host knows that nobody reads. */
ARRJIT_API void *arrjit_array_data(const arrjit_array *array);
/* Number of elements, and their bytes. */
ARRJIT_API int64_t arrjit_array_count(const arrjit_array *array);
ARRJIT_API size_t arrjit_array_bytes(const arrjit_array *array);
/* 1 when dense row-major. */
ARRJIT_API int arrjit_array_is_dense(const arrjit_array *array);

#ifdef __cplusplus
}
#endif
#endif
