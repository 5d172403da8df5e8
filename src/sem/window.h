/* Windows of an array: which of its elements each has at which point. */
#ifndef AJ_SEM_WINDOW_H
#define AJ_SEM_WINDOW_H

#include "sem/sem.h"

/* One dim: place of point k of window w is w * stride + k * spread - low, in steps of the dilated array. */
typedef struct aj_window_dim {
  int64_t extent, windows, size, stride, low, base, spread;
  int64_t step; /* of the array, in elements */
} aj_window_dim;

/* The dims of x, a scalar being a vector of one with a window of one: how many, up to ARRJIT_MAX_RANK. `windows` has
 * the extents of their array. */
int32_t aj_window_dims(const aj_node *node, const aj_view *x, const int64_t *windows, aj_window_dim *out);
/* The next of a row-major walk over dims [0, rank): over windows, or over points of one; false after the last. */
bool aj_window_step(const aj_window_dim *dims, int32_t rank, bool points, int64_t *index);

/* Index in the array, -1: a hole or padding. */
static inline int64_t aj_window_index(const aj_window_dim *d, int64_t window, int64_t point) {
  int64_t place = window * d->stride + point * d->spread - d->low;
  if (place < 0 || place % d->base != 0) return -1;
  return place / d->base < d->extent ? place / d->base : -1;
}

/* First element of the row, along the last dim, that has point `point` of window `window`; -1: none has. */
int64_t aj_window_row(const aj_window_dim *dims, int32_t rank, const int64_t *window, const int64_t *point);

#endif
