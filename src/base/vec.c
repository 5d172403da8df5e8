/* Growth of AJ_VEC. The pointer is moved by memcpy, since the macro hands in the address of a T * as void ** for any T.
 */
#include "base/vec.h"

#include <string.h>

#include "base/check.h"

enum { FIRST_CAPACITY = 8 };

/* Doubling keeps pushing linear; capacity is written only once the new block is there. */
bool aj_vec_reserve(aj_mem *mem, void **data, size_t count, size_t *capacity, size_t more, size_t size) {
  size_t needed, bytes;
  AJ_ASSERT(count <= *capacity && size > 0);
  if (!aj_size_add(count, more, &needed)) return false;
  if (needed <= *capacity) return true;
  size_t grown = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity;
  while (grown < needed)
    if (!aj_size_mul(grown, 2, &grown)) return false;
  if (!aj_size_mul(grown, size, &bytes)) return false;
  void *old;
  memcpy(&old, data, sizeof old);
  void *moved = aj_mem_resize(mem, old, *capacity * size, bytes);
  if (!moved) return false;
  memcpy(data, &moved, sizeof moved);
  *capacity = grown;
  return true;
}
