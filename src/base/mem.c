/* The one place that calls the host's allocator. Counters are relaxed: they are read as statistics and by leak checks
 * made when no other thread works. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* The default host. realloc of NULL allocates, so one call serves both; realloc to 0 bytes means different things in
 * different C libraries and is never made. */
static void *resize_with_libc(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
  (void)user, (void)old_bytes;
  if (new_bytes == 0) {
    free(pointer);
    return NULL;
  }
  return realloc(pointer, new_bytes);
}

void aj_mem_init(aj_mem *mem, const arrjit_allocator *host) {
  if (host && host->resize)
    mem->host = *host;
  else
    mem->host = (arrjit_allocator){.resize = resize_with_libc};
  atomic_init(&mem->live_bytes, 0);
  atomic_init(&mem->allocations, 0);
}

/* Blocks are freed by other threads than those that made them: only the sum over all is meaningful. */
static void count_change(aj_mem *mem, int64_t bytes) {
  atomic_fetch_add_explicit(&mem->live_bytes, bytes, memory_order_relaxed);
}

void *aj_mem_raw(aj_mem *mem, size_t bytes) {
  /* Sizes past PTRDIFF_MAX cannot be indexed in C; refusing them here also keeps the signed counter safe. */
  if (bytes == 0 || bytes > PTRDIFF_MAX) return NULL;
  void *pointer = mem->host.resize(mem->host.user, NULL, 0, bytes);
  if (!pointer) return NULL;
  count_change(mem, (int64_t)bytes);
  atomic_fetch_add_explicit(&mem->allocations, 1, memory_order_relaxed);
  return pointer;
}

void *aj_mem_alloc(aj_mem *mem, size_t bytes) {
  void *pointer = aj_mem_raw(mem, bytes);
  if (pointer) memset(pointer, 0, bytes);
  return pointer;
}

void *aj_mem_array(aj_mem *mem, size_t count, size_t size) {
  size_t bytes;
  return aj_size_mul(count, size, &bytes) ? aj_mem_alloc(mem, bytes) : NULL;
}

/* To 0 bytes is no resize but a mistake: the caller would lose track of whether it still owns something. */
void *aj_mem_resize(aj_mem *mem, void *ptr, size_t old_bytes, size_t new_bytes) {
  if (!ptr) return aj_mem_raw(mem, new_bytes);
  AJ_ASSERT(old_bytes > 0);
  if (new_bytes == 0 || new_bytes > PTRDIFF_MAX) return NULL;
  void *moved = mem->host.resize(mem->host.user, ptr, old_bytes, new_bytes);
  if (!moved) return NULL;
  count_change(mem, (int64_t)new_bytes - (int64_t)old_bytes);
  atomic_fetch_add_explicit(&mem->allocations, 1, memory_order_relaxed);
  return moved;
}

void aj_mem_free(aj_mem *mem, void *ptr, size_t bytes) {
  if (!ptr) return;
  AJ_ASSERT(bytes > 0);
  count_change(mem, -(int64_t)bytes);
  (void)mem->host.resize(mem->host.user, ptr, bytes, 0);
}

/* ---- arithmetic on sizes that come from outside ---- */

bool aj_size_mul(size_t a, size_t b, size_t *out) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product)) return false;
  *out = product;
  return true;
}

bool aj_size_add(size_t a, size_t b, size_t *out) {
  size_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return false;
  *out = sum;
  return true;
}

bool aj_i64_mul(int64_t a, int64_t b, int64_t *out) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return false;
  *out = product;
  return true;
}

bool aj_i64_add(int64_t a, int64_t b, int64_t *out) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return false;
  *out = sum;
  return true;
}
