/* Open addressing with linear probing, at most 3/4 full. A slot keeps 32 bits of the hash: growing needs no keys, and
 * most unequal keys are told apart without calling back. Nothing is ever removed alone. */
#include "base/map.h"

#include <string.h>

#include "base/check.h"

enum { FIRST_SLOTS = 16 };

void aj_map_init(aj_map *map, aj_mem *mem) { *map = (aj_map){.mem = mem}; }

/* Both halves, so that a caller whose hash is good in one half only is served too. */
static uint32_t fold_hash(uint64_t hash) { return (uint32_t)(hash ^ hash >> 32); }

/* Ends at an empty slot, of which there is one at least, since a quarter of them is kept free. */
uint32_t aj_map_find(const aj_map *map, uint64_t hash, aj_map_equal *equal, const void *user, const void *key) {
  if (map->count == 0) return AJ_MAP_NONE;
  uint32_t folded = fold_hash(hash);
  for (size_t at = folded & (map->capacity - 1); map->slots[at]; at = (at + 1) & (map->capacity - 1)) {
    uint32_t index = (uint32_t)map->slots[at] - 1;
    if (map->slots[at] >> 32 == folded && equal(user, index, key)) return index;
  }
  return AJ_MAP_NONE;
}

/* Into the first free slot of its chain; the table has one. */
static void place(uint64_t *slots, size_t capacity, uint64_t slot) {
  size_t at = (slot >> 32) & (capacity - 1);
  while (slots[at]) at = (at + 1) & (capacity - 1);
  slots[at] = slot;
}

/* Doubles the table. The old one stays when there is no memory. */
static bool grow(aj_map *map) {
  size_t capacity = map->capacity ? map->capacity * 2 : FIRST_SLOTS;
  uint64_t *slots = aj_mem_array(map->mem, capacity, sizeof *slots);
  if (!slots) return false;
  for (size_t i = 0; i < map->capacity; i++)
    if (map->slots[i]) place(slots, capacity, map->slots[i]);
  aj_mem_free(map->mem, map->slots, map->capacity * sizeof *slots);
  AJ_ASSERT(map->count <= capacity / 4 * 3);
  map->slots = slots;
  map->capacity = capacity;
  return true;
}

bool aj_map_put(aj_map *map, uint64_t hash, uint32_t index) {
  if (index == AJ_MAP_NONE) return false;
  if (map->count >= map->capacity / 4 * 3 && !grow(map)) return false;
  place(map->slots, map->capacity, (uint64_t)fold_hash(hash) << 32 | (index + 1));
  map->count++;
  return true;
}

void aj_map_clear(aj_map *map) {
  if (map->slots) memset(map->slots, 0, map->capacity * sizeof *map->slots);
  map->count = 0;
}

void aj_map_free(aj_map *map) {
  aj_mem_free(map->mem, map->slots, map->capacity * sizeof *map->slots);
  aj_map_init(map, map->mem);
}

/* Two rounds of multiply and xor-shift spread every bit of x over the result: keys are small integers and pointers. */
uint64_t aj_hash_u64(uint64_t x, uint64_t seed) {
  x ^= seed + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Eight bytes at a time; the length is in the seed, so that trailing zero bytes count. */
uint64_t aj_hash_bytes(const void *data, size_t bytes, uint64_t seed) {
  const unsigned char *at = data;
  uint64_t hash = seed ^ bytes, word;
  for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = aj_hash_u64(word, hash);
  }
  if (bytes == 0) return hash;
  word = 0;
  memcpy(&word, at, bytes);
  return aj_hash_u64(word, hash);
}
