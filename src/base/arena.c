/* Bump allocation. Blocks double up to a bound, so that small graphs stay small and large ones need few calls of the
 * host. An object too big for the block at hand gets a block of its own behind it, and bumping goes on where it was. */
#include "base/arena.h"

#include <string.h>

#include "base/check.h"

struct aj_arena_block {
  aj_arena_block *older;
  size_t bytes; /* of the whole allocation */
};

enum { ALIGNMENT = 16, HEADER = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };
_Static_assert(sizeof(aj_arena_block) <= HEADER, "objects start right after the header");

void aj_arena_init(aj_arena *arena, aj_mem *mem) { *arena = (aj_arena){.mem = mem}; }

/* A block from the host, not yet in the list. */
static aj_arena_block *add_block(aj_arena *arena, size_t bytes) {
  aj_arena_block *block = aj_mem_raw(arena->mem, bytes);
  if (!block) return NULL;
  block->bytes = bytes;
  arena->total_bytes += bytes;
  return block;
}

static char *block_start(aj_arena_block *block) { return (char *)block + HEADER; }

/* A block for one object. It goes behind the newest, where free bytes may be left; with none there, it is the newest
 * and full. */
static void *alloc_alone(aj_arena *arena, size_t bytes) {
  size_t whole;
  aj_arena_block *block = aj_size_add(bytes, HEADER, &whole) ? add_block(arena, whole) : NULL;
  if (!block) return NULL;
  if (arena->blocks) {
    block->older = arena->blocks->older;
    arena->blocks->older = block;
  } else {
    block->older = NULL;
    arena->blocks = block;
    arena->next = arena->end = block_start(block) + bytes;
  }
  return block_start(block);
}

/* A fresh block to bump in; its size follows what the arena has so far. */
static bool start_block(aj_arena *arena) {
  size_t bytes = arena->total_bytes;
  bytes = bytes < FIRST_BLOCK ? FIRST_BLOCK : bytes > LARGEST_BLOCK ? LARGEST_BLOCK : bytes;
  aj_arena_block *block = add_block(arena, bytes);
  if (!block) return false;
  block->older = arena->blocks;
  arena->blocks = block;
  arena->next = block_start(block);
  arena->end = (char *)block + bytes;
  return true;
}

/* In this order: what is left of the block at hand; a new block for a small object, whose size is a fraction of any
 * block; a block of its own for a big one. */
void *aj_arena_alloc(aj_arena *arena, size_t bytes) {
  size_t rounded = ((bytes ? bytes : 1) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  void *object = NULL;
  if (rounded < bytes) {
    /* the rounding wrapped around: no such size exists */
  } else if (rounded <= (size_t)(arena->end - arena->next) || (rounded <= FIRST_BLOCK / 4 && start_block(arena))) {
    object = arena->next;
    arena->next += rounded;
  } else if (rounded > FIRST_BLOCK / 4) {
    object = alloc_alone(arena, rounded);
  }
  if (!object) {
    arena->failed = true;
    return NULL;
  }
  return memset(object, 0, rounded);
}

void *aj_arena_array(aj_arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (aj_size_mul(count, size, &bytes)) return aj_arena_alloc(arena, bytes);
  arena->failed = true;
  return NULL;
}

void *aj_arena_copy(aj_arena *arena, const void *src, size_t bytes) {
  void *copy = aj_arena_alloc(arena, bytes);
  if (copy && bytes) memcpy(copy, src, bytes);
  return copy;
}

char *aj_arena_text(aj_arena *arena, const char *src, size_t length) {
  char *copy = length < SIZE_MAX ? aj_arena_alloc(arena, length + 1) : NULL;
  if (copy && length) memcpy(copy, src, length);
  return copy;
}

/* Frees a block and all that are older. */
static void free_older(aj_arena *arena, aj_arena_block *block) {
  while (block) {
    aj_arena_block *older = block->older;
    arena->total_bytes -= block->bytes;
    aj_mem_free(arena->mem, block, block->bytes);
    block = older;
  }
}

/* Keeping one block makes a pass that runs again and again call the host only for its peak. */
void aj_arena_reset(aj_arena *arena) {
  arena->failed = false;
  if (!arena->blocks) return;
  free_older(arena, arena->blocks->older);
  arena->blocks->older = NULL;
  arena->next = block_start(arena->blocks);
  arena->end = (char *)arena->blocks + arena->blocks->bytes;
  AJ_ASSERT(arena->total_bytes == arena->blocks->bytes);
}

void aj_arena_free(aj_arena *arena) {
  free_older(arena, arena->blocks);
  AJ_ASSERT(arena->total_bytes == 0);
  aj_arena_init(arena, arena->mem);
}
