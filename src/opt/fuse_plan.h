/* Which producers a kernel takes in, and at which index maps: the planning half of the fuse pass. */
#ifndef AJ_OPT_FUSE_PLAN_H
#define AJ_OPT_FUSE_PLAN_H

#include "opt/kernel.h"
#include "opt/regions.h"

typedef struct aj_map_terms {
  int32_t rank;
  aj_index_term terms[ARRJIT_MAX_RANK];
} aj_map_terms;

/* One value at one index map inside the kernel under construction. */
typedef struct aj_fuse_entry {
  aj_value *value;
  aj_map_terms map;
  aj_value *scalar; /* its element inside the kernel's region, once it is built */
  bool taken;       /* computed inside; else a parameter */
  uint32_t next;    /* other maps of the same value: index + 1, 0 none */
} aj_fuse_entry;

typedef struct aj_fuse {
  aj_mem *mem;
  aj_func *func;
  aj_region *region;
  uint32_t *uses;   /* [slot] operand places that still need the value as an array */
  uint32_t *inside; /* [slot] of those, how many this kernel has taken over */
  uint32_t *first;  /* [slot] its first entry: index + 1, 0 none */
  AJ_VEC(aj_fuse_entry) entries;
  AJ_VEC(uint32_t) heap;  /* pcs of producers to decide on, greatest on top */
  AJ_VEC(uint32_t) taken; /* pcs of producers taken in, greatest first: built from the end */
  const aj_type *space;   /* type whose dims are the iteration space */
} aj_fuse;

enum { AJ_FUSE_MOST_NODES = 1000 }; /* scalar nodes a kernel may hold before it takes no more in */

/* A node that a kernel can hold: elementwise on arrays, or movement with an affine map. */
bool aj_fuse_can_take(const aj_node *node);
/* Plans one kernel from what its root reads, each operand at `maps`. False: no memory. */
bool aj_fuse_plan(aj_fuse *f, const aj_node *root, const aj_map_terms *map);
/* The entry of a value at a map; it exists once planned. */
aj_fuse_entry *aj_fuse_find(aj_fuse *f, const aj_value *value, const aj_map_terms *map);
/* Map of operand k of a movement or elementwise node whose result is read at `map`. */
void aj_fuse_operand_map(const aj_node *node, uint32_t operand, const aj_map_terms *map, aj_map_terms *out);
/* Identity over the first `rank` dims of the space. */
void aj_fuse_identity(int32_t rank, aj_map_terms *out);
/* Forgets the entries. Uses that were taken over are gone; what comes from outside is used by the kernel now. */
void aj_fuse_clear(aj_fuse *f);

#endif
