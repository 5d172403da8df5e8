/* A block of elements seen through a shape and byte strides: what routines read and write. Owns nothing. */
#ifndef AJ_SEM_VIEW_H
#define AJ_SEM_VIEW_H

#include "ir/module.h"

typedef struct aj_view {
  arrjit_dtype dtype;
  int32_t rank;
  char *data; /* element 0 */
  int64_t dims[ARRJIT_MAX_RANK];
  int64_t strides[ARRJIT_MAX_RANK]; /* bytes; may be 0 or negative */
} aj_view;

/* Long loops ask between pieces whether to stop: after AJ_POLL_WORK elements of the plain kind. */
typedef struct aj_poller {
  bool (*stop)(void *user); /* NULL: never */
  void *user;
  int64_t work; /* done since it was last asked */
} aj_poller;
enum {
  AJ_POLL_WORK = 8192,
  AJ_POLL_SCATTERED = 8, /* work of an element that lies alone: it may be a cache line of its own, and a page */
};
static inline bool aj_poller_stops(aj_poller *poller, int64_t more) {
  poller->work += more;
  if (poller->work < AJ_POLL_WORK || !poller->stop) return false;
  poller->work = 0;
  return poller->stop(poller->user);
}

/* Dense row-major strides for dtype and dims already set. */
void aj_view_set_dense(aj_view *view);
bool aj_view_is_dense(const aj_view *view);
int64_t aj_view_count(const aj_view *view); /* elements; dims were validated, so it cannot overflow */
size_t aj_view_bytes(const aj_view *view);  /* of a dense copy */
/* Shape of a type under env: false when the byte size overflows. Strides dense, data NULL. */
bool aj_view_from_type(aj_view *view, const aj_type *type, const int64_t *env);
/* Those with a poller give false when it stopped them.
 * dst (dense) = src (any strides), same dtype and shape; dst and src do not overlap. */
void aj_view_pack(char *dst, const aj_view *src);
bool aj_view_pack_polled(char *dst, const aj_view *src, aj_poller *poller);
/* dst (any strides) = src (dense). */
void aj_view_unpack(const aj_view *dst, const char *src);
bool aj_view_unpack_polled(const aj_view *dst, const char *src, aj_poller *poller);
/* dst = src, both of any strides, same dtype and shape; they do not overlap. */
void aj_view_copy(const aj_view *dst, const aj_view *src);
bool aj_view_copy_polled(const aj_view *dst, const aj_view *src, aj_poller *poller);
bool aj_bytes_copy(char *dst, const char *src, size_t bytes, aj_poller *poller);
bool aj_bytes_zero(char *dst, size_t bytes, aj_poller *poller);
/* dst (dense) = elements start .. start + n - 1 of src in row-major order. */
void aj_view_read(char *dst, const aj_view *src, int64_t start, int64_t n);
/* Whether all elements are the one at data: every stride that is followed is 0. */
bool aj_view_is_uniform(const aj_view *view);
/* n elements of dst become *element. */
void aj_view_fill(char *dst, int64_t n, const void *element, size_t element_bytes);
bool aj_view_fill_polled(char *dst, int64_t n, const void *element, size_t element_bytes, aj_poller *poller);

/* A copy prepared once and run at several places: neighbouring dims that step alike are merged. */
typedef struct aj_copy_plan {
  size_t element_bytes;
  bool empty;
  int32_t rank;
  int64_t dims[ARRJIT_MAX_RANK], dst[ARRJIT_MAX_RANK], src[ARRJIT_MAX_RANK]; /* strides in bytes */
} aj_copy_plan;
void aj_copy_plan_init(aj_copy_plan *plan, size_t element_bytes, int32_t rank, const int64_t *dims,
                       const int64_t *dst_strides, const int64_t *src_strides);
bool aj_copy_plan_run(const aj_copy_plan *plan, char *dst, const char *src, aj_poller *poller);

#endif
