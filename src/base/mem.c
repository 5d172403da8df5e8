/* The one place that calls the host's allocator. Counters are relaxed: they are read as statistics and by leak checks
 * made when no other thread works. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* The default host. realloc to 0 bytes means different things in different C libraries and is never made. */
static void *resize_with_libc(void *user, void *pointer, size_t old_bytes, size_t new_bytes) {
  (void)user, (void)old_bytes;
  if (new_bytes == 0) {
    free(pointer);
    return NULL;
  }
  return pointer ? realloc(pointer, new_bytes) : malloc(new_bytes);
}

void aj_mem_init(aj_mem *mem, const arrjit_allocator *host) {
  if (host && host->resize)
    mem->host = *host;
  else
    mem->host = (arrjit_allocator){.resize = resize_with_libc};
  for (size_t i = 0; i < AJ_SPARE_BLOCKS; i++) atomic_init(&mem->spares[i], NULL);
  atomic_init(&mem->spare_bytes, 0);
  atomic_init(&mem->keeps_spares, false);
  atomic_init(&mem->live_bytes, 0);
  atomic_init(&mem->allocations, 0);
}

/* Blocks are freed by other threads than those that made them: only the sum over all is meaningful. */
static void count_change(aj_mem *mem, int64_t bytes) {
  atomic_fetch_add_explicit(&mem->live_bytes, bytes, memory_order_relaxed);
}

/* ---- spare blocks: each place is taken and filled by one atomic exchange, so no lock is needed ---- */

typedef struct aj_spare {
  size_t bytes;
} aj_spare; /* at the start of the block */

static void free_block(aj_mem *mem, void *block, size_t bytes) {
  count_change(mem, -(int64_t)bytes);
  (void)mem->host.resize(mem->host.user, block, bytes, 0);
}

/* The block of place i, which is empty then; NULL: it was. */
static aj_spare *empty_place(aj_mem *mem, size_t i) {
  if (!atomic_load_explicit(&mem->spares[i], memory_order_relaxed)) return NULL;
  return atomic_exchange_explicit(&mem->spares[i], NULL, memory_order_acquire);
}

static bool fill_place(aj_mem *mem, size_t i, aj_spare *spare) {
  aj_spare *empty = NULL;
  return atomic_compare_exchange_strong_explicit(&mem->spares[i], &empty, spare, memory_order_release,
                                                 memory_order_relaxed);
}

static void drop_spare(aj_mem *mem, aj_spare *spare) {
  atomic_fetch_sub_explicit(&mem->spare_bytes, (int64_t)spare->bytes, memory_order_relaxed);
  free_block(mem, spare, spare->bytes);
}

/* A spare block of just that size, or NULL. One of another size goes back to its place, or, when somebody has filled
 * that meanwhile, to the host. */
static void *take_spare(aj_mem *mem, size_t bytes) {
  for (size_t i = 0; i < AJ_SPARE_BLOCKS; i++) {
    aj_spare *spare = empty_place(mem, i);
    if (!spare) continue;
    if (spare->bytes == bytes) {
      atomic_fetch_sub_explicit(&mem->spare_bytes, (int64_t)bytes, memory_order_relaxed);
      return spare;
    }
    if (!fill_place(mem, i, spare)) drop_spare(mem, spare);
  }
  return NULL;
}

/* Keeps a block that is freed. Where all places are taken the block in one of them goes, in turn. */
static bool keep_spare(aj_mem *mem, void *block, size_t bytes) {
  if (!atomic_load_explicit(&mem->keeps_spares, memory_order_relaxed)) return false;
  int64_t all = atomic_fetch_add_explicit(&mem->spare_bytes, (int64_t)bytes, memory_order_relaxed) + (int64_t)bytes;
  if (all > AJ_SPARE_MOST_BYTES) {
    atomic_fetch_sub_explicit(&mem->spare_bytes, (int64_t)bytes, memory_order_relaxed);
    return false;
  }
  aj_spare *spare = block;
  spare->bytes = bytes;
  for (size_t i = 0; i < AJ_SPARE_BLOCKS; i++)
    if (fill_place(mem, i, spare)) return true;
  size_t turn = (size_t)(all >> 16) % AJ_SPARE_BLOCKS;
  spare = atomic_exchange_explicit(&mem->spares[turn], spare, memory_order_acq_rel);
  if (spare) drop_spare(mem, spare);
  return true;
}

/* Whether there was any. */
static bool drop_spares(aj_mem *mem) {
  bool any = false;
  for (size_t i = 0; i < AJ_SPARE_BLOCKS; i++) {
    aj_spare *spare = empty_place(mem, i);
    any = any || spare;
    if (spare) drop_spare(mem, spare);
  }
  return any;
}

void aj_mem_keep_spares(aj_mem *mem) { atomic_store(&mem->keeps_spares, true); }

void aj_mem_stop_spares(aj_mem *mem) {
  atomic_store(&mem->keeps_spares, false);
  (void)drop_spares(mem);
}

/* ---- allocation ---- */

/* Where the host has no more, spare blocks are given back and it is asked again. */
static void *ask_host(aj_mem *mem, void *old, size_t old_bytes, size_t bytes) {
  void *pointer = mem->host.resize(mem->host.user, old, old_bytes, bytes);
  if (!pointer && drop_spares(mem)) pointer = mem->host.resize(mem->host.user, old, old_bytes, bytes);
  return pointer;
}

void *aj_mem_raw(aj_mem *mem, size_t bytes) {
  /* Sizes past PTRDIFF_MAX cannot be indexed in C; refusing them here also keeps the signed counter safe. */
  if (bytes == 0 || bytes > PTRDIFF_MAX) return NULL;
  if (bytes >= AJ_SPARE_LEAST_BYTES) {
    void *spare = take_spare(mem, bytes);
    if (spare) return spare;
  }
  void *pointer = ask_host(mem, NULL, 0, bytes);
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
  void *moved = ask_host(mem, ptr, old_bytes, new_bytes);
  if (!moved) return NULL;
  count_change(mem, (int64_t)new_bytes - (int64_t)old_bytes);
  atomic_fetch_add_explicit(&mem->allocations, 1, memory_order_relaxed);
  return moved;
}

void aj_mem_free(aj_mem *mem, void *ptr, size_t bytes) {
  if (!ptr) return;
  AJ_ASSERT(bytes > 0);
  if (bytes < AJ_SPARE_LEAST_BYTES || !keep_spare(mem, ptr, bytes)) free_block(mem, ptr, bytes);
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
