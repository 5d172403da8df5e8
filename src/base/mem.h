/* The host's allocator, wrapped once per context: counts live bytes and refuses sizes that overflow.
 * Every allocation of the library goes through an aj_mem; any may fail and return NULL. */
#ifndef AJ_BASE_MEM_H
#define AJ_BASE_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrjit/core.h"

/* Large blocks that were freed and wait for the next of their size: pages that a program has touched cost a tenth of
 * fresh ones (design/native.md). They count as live until they are dropped. */
enum { AJ_SPARE_BLOCKS = 8, AJ_SPARE_LEAST_BYTES = 64 << 10, AJ_SPARE_MOST_BYTES = 64 << 20 };

typedef struct aj_mem {
  arrjit_allocator host; /* never NULL functions: aj_mem_init fills in the C library's */
  _Atomic(struct aj_spare *) spares[AJ_SPARE_BLOCKS];
  _Atomic int64_t spare_bytes; /* of all of them */
  _Atomic bool keeps_spares;   /* else frees go to the host at once */
  _Atomic int64_t live_bytes;  /* allocated and not yet freed */
  _Atomic int64_t allocations; /* successful calls so far */
} aj_mem;

/* `host` may be NULL: the C library's realloc and free are used. */
void aj_mem_init(aj_mem *mem, const arrjit_allocator *host);
/* From now on large blocks are kept when they are freed, up to AJ_SPARE_MOST_BYTES in all. */
void aj_mem_keep_spares(aj_mem *mem);
/* Gives them back, and keeps no more. A thread that frees at this moment may still leave one: so call it once more when
 * nobody else can be using `mem`. */
void aj_mem_stop_spares(aj_mem *mem);
/* Zeroed memory; NULL when bytes == 0 or the host has none. Aligned for max_align_t. */
void *aj_mem_alloc(aj_mem *mem, size_t bytes);
/* count * size, checked for overflow; zeroed. */
void *aj_mem_array(aj_mem *mem, size_t count, size_t size);
/* Not zeroed: for big buffers that are written whole. */
void *aj_mem_raw(aj_mem *mem, size_t bytes);
/* Grows or shrinks; on failure returns NULL and `ptr` stays valid. New bytes are not zeroed. */
void *aj_mem_resize(aj_mem *mem, void *ptr, size_t old_bytes, size_t new_bytes);
/* `bytes` must be what was asked for. NULL is fine. */
void aj_mem_free(aj_mem *mem, void *ptr, size_t bytes);

/* a * b and a + b; false on overflow, *out untouched. */
bool aj_size_mul(size_t a, size_t b, size_t *out);
bool aj_size_add(size_t a, size_t b, size_t *out);
bool aj_i64_mul(int64_t a, int64_t b, int64_t *out);
bool aj_i64_add(int64_t a, int64_t b, int64_t *out);

#endif
