/* Bump allocation for graphs, passes and runs: many small objects, freed together. */
#ifndef AJ_BASE_ARENA_H
#define AJ_BASE_ARENA_H

#include "base/mem.h"

typedef struct aj_arena_block aj_arena_block;
typedef struct aj_arena {
  aj_mem *mem;
  aj_arena_block *blocks; /* newest first */
  char *next, *end;
  size_t total_bytes;
  bool failed; /* sticky: some allocation returned NULL since init or reset */
} aj_arena;

void aj_arena_init(aj_arena *arena, aj_mem *mem);
/* Zeroed, 16-byte aligned. NULL when the host has no memory; then `failed` is set. 0 bytes give a valid pointer. */
void *aj_arena_alloc(aj_arena *arena, size_t bytes);
void *aj_arena_array(aj_arena *arena, size_t count, size_t size);
void *aj_arena_copy(aj_arena *arena, const void *src, size_t bytes);
/* NUL-terminated copy of `length` bytes. */
char *aj_arena_text(aj_arena *arena, const char *src, size_t length);
/* Forgets all objects, keeps the newest block. */
void aj_arena_reset(aj_arena *arena);
void aj_arena_free(aj_arena *arena);

#define AJ_NEW(arena, T) ((T *)aj_arena_alloc((arena), sizeof(T)))
#define AJ_NEW_ARRAY(arena, count, T) ((T *)aj_arena_array((arena), (count), sizeof(T)))

#endif
