/* Pre-order over the nodes of a function, without recursion: the way back up goes through the owners of regions. */
#include "ir/module.h"

void aj_walk_start(aj_walk *walk, aj_func *func) { *walk = (aj_walk){.func = func}; }

/* The first region of node at or after `index` that has nodes. */
static aj_region *region_from(const aj_node *node, uint32_t index) {
  for (; index < node->region_count; index++)
    if (node->regions[index]->node_count) return node->regions[index];
  return NULL;
}

static aj_node *enter(aj_walk *walk, aj_region *region) {
  walk->region = region;
  walk->pc = 0;
  return region->nodes[0];
}

aj_node *aj_walk_next(aj_walk *walk) {
  if (!walk->region) {
    aj_region *root = walk->func ? walk->func->root : NULL;
    return root && root->node_count ? enter(walk, root) : NULL;
  }
  aj_region *region = walk->region, *inner = NULL;
  if (!walk->skip) inner = region_from(region->nodes[walk->pc], 0);
  walk->skip = false;
  if (inner) return enter(walk, inner);
  while (++walk->pc >= region->node_count) {
    aj_node *owner = region->owner;
    if (!owner) {
      *walk = (aj_walk){0}; /* the end, for further calls too */
      return NULL;
    }
    inner = region_from(owner, region->index + 1);
    if (inner) return enter(walk, inner);
    walk->region = region = owner->parent;
    walk->pc = owner->pc;
  }
  return region->nodes[walk->pc];
}

void aj_walk_skip(aj_walk *walk) { walk->skip = true; }
