/* Hash index: finds 32-bit indices into the caller's own array by hash and an equality function. */
#ifndef AJ_BASE_MAP_H
#define AJ_BASE_MAP_H

#include "base/mem.h"

typedef bool aj_map_equal(const void *user, uint32_t index, const void *key);
typedef struct aj_map {
  aj_mem *mem;
  uint64_t *slots; /* high half: hash, low half: index + 1; 0 is empty */
  size_t count, capacity;
} aj_map;

#define AJ_MAP_NONE UINT32_MAX

void aj_map_init(aj_map *map, aj_mem *mem);
/* The index put in with an equal key, or AJ_MAP_NONE. */
uint32_t aj_map_find(const aj_map *map, uint64_t hash, aj_map_equal *equal, const void *user, const void *key);
/* Adds an index; the key must not be there. False when there is no memory. */
bool aj_map_put(aj_map *map, uint64_t hash, uint32_t index);
void aj_map_clear(aj_map *map);
void aj_map_free(aj_map *map);

uint64_t aj_hash_bytes(const void *data, size_t bytes, uint64_t seed);
uint64_t aj_hash_u64(uint64_t x, uint64_t seed);

#endif
