/* A block of elements seen through a shape and byte strides: what routines read and write. Owns nothing. */
#ifndef AJ_SEM_VIEW_H
#define AJ_SEM_VIEW_H

#include "ir/module.h"

typedef struct aj_view {
  arrjit_dtype dtype;
  int32_t rank;
  char *data;                          /* element 0 */
  int64_t dims[ARRJIT_MAX_RANK];
  int64_t strides[ARRJIT_MAX_RANK];    /* bytes; may be 0 or negative */
} aj_view;

/* Dense row-major strides for dtype and dims already set. */
void aj_view_set_dense(aj_view *view);
bool aj_view_is_dense(const aj_view *view);
int64_t aj_view_count(const aj_view *view);            /* elements; dims were validated, so it cannot overflow */
size_t aj_view_bytes(const aj_view *view);             /* of a dense copy */
/* Shape of a type under env: false when the byte size overflows. Strides dense, data NULL. */
bool aj_view_from_type(aj_view *view, const aj_type *type, const int64_t *env);
/* dst (dense) = src (any strides), same dtype and shape; dst and src do not overlap. */
void aj_view_pack(char *dst, const aj_view *src);
/* dst (any strides) = src (dense). */
void aj_view_unpack(const aj_view *dst, const char *src);

#endif
