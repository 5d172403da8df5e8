/* Growable arrays of any type, from an aj_mem. Zero-initialised is empty.
 *   AJ_VEC(int) v = {0};  if (!AJ_VEC_PUSH(mem, &v, 7)) return no_memory;  v.data[0];  AJ_VEC_FREE(mem, &v); */
#ifndef AJ_BASE_VEC_H
#define AJ_BASE_VEC_H

#include "base/mem.h"

#define AJ_VEC(T)                                                                                                      \
  struct {                                                                                                             \
    T *data;                                                                                                           \
    size_t count, capacity;                                                                                            \
  }

/* Makes room for `more` elements of `size` bytes; false when there is no memory and nothing changed. */
bool aj_vec_reserve(aj_mem *mem, void **data, size_t count, size_t *capacity, size_t more, size_t size);

#define AJ_VEC_RESERVE(mem, v, more)                                                                                   \
  aj_vec_reserve((mem), (void **)(void *)&(v)->data, (v)->count, &(v)->capacity, (more), sizeof *(v)->data)
#define AJ_VEC_PUSH(mem, v, x) (AJ_VEC_RESERVE((mem), (v), 1) && ((v)->data[(v)->count++] = (x), true))
#define AJ_VEC_FREE(mem, v)                                                                                            \
  (aj_mem_free((mem), (v)->data, (v)->capacity * sizeof *(v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)

#endif
