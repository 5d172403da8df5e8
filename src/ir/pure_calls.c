/* Calls of pure slots, settled once when a module is finished, so that every tier runs the same ones at the same
 * places: in each region calls with the same arguments are merged, those whose results nothing needs are dropped, and
 * the others stand before the first node that has a result of theirs as an operand (so also before an arm or body that
 * uses it). There they fail, when they do. Calls whose results have dynamic dims are left alone: their extents are used
 * without being operands. */
#include <string.h>

#include "ir/module.h"

typedef struct settler {
  aj_mem *mem;
  aj_region *region;
  aj_map seen;     /* calls of the region, by pc */
  uint8_t *needed; /* [slot] something live uses it */
  uint32_t *place; /* [pc] before which node it goes; PLACE_NONE: it goes away */
  uint32_t *head, *next;
  aj_node **order;
} settler;

#define PLACE_NONE UINT32_MAX

static bool is_settled(const aj_node *node) {
  if (node->op != AJ_OP_CALLBACK || aj_node_attr(node, AJ_ATTR_BINDS)) return false;
  return node->parent->func->module->slots.data[aj_node_int(node, AJ_ATTR_SLOT)].pure;
}

/* ---- merging ---- */

static bool equal_calls(const void *user, uint32_t index, const void *key) {
  const aj_node *a = ((const aj_region *)user)->nodes[index], *b = key;
  if (aj_node_int(a, AJ_ATTR_SLOT) != aj_node_int(b, AJ_ATTR_SLOT)) return false;
  return a->operand_count == 0 || !memcmp(a->operands, b->operands, a->operand_count * sizeof(aj_value *));
}

/* A slot fixes the number of operands; results of equal calls have equal types. */
static bool merge_calls(settler *s) {
  aj_region *region = s->region;
  aj_map_clear(&s->seen);
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    aj_node *node = region->nodes[pc];
    for (uint32_t i = 0; i < node->operand_count; i++) node->operands[i] = aj_value_resolve(node->operands[i]);
    if (!is_settled(node)) continue;
    uint64_t hash = aj_hash_u64((uint64_t)aj_node_int(node, AJ_ATTR_SLOT), 0);
    for (uint32_t i = 0; i < node->operand_count; i++) hash = aj_hash_u64((uintptr_t)node->operands[i], hash);
    uint32_t first = aj_map_find(&s->seen, hash, equal_calls, region, node);
    if (first == AJ_MAP_NONE) {
      if (!aj_map_put(&s->seen, hash, pc)) return false;
      continue;
    }
    for (uint32_t i = 0; i < node->result_count; i++) node->results[i].forward = &region->nodes[first]->results[i];
  }
  return true;
}

/* ---- what is needed, and where ---- */

static bool is_plain(const aj_node *node) {
  return !(aj_ops[node->op].flags & (AJ_F_EFFECT | AJ_F_REGIONS | AJ_F_TERMINATOR)) && !aj_node_may_raise(node);
}

static bool is_needed(const settler *s, const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++)
    if (s->needed[node->results[i].slot]) return true;
  return false;
}

/* The place of a call is the least of its users', which are behind it: so backwards. */
static void find_places(settler *s) {
  const aj_region *region = s->region;
  memset(s->place, 0xff, region->node_count * sizeof *s->place);
  for (uint32_t pc = region->node_count; pc-- > 0;) {
    const aj_node *node = region->nodes[pc];
    bool call = is_settled(node);
    if ((call || is_plain(node)) && !is_needed(s, node)) continue;
    if (!call) s->place[pc] = pc;
    for (uint32_t i = 0; i < node->operand_count; i++) {
      const aj_value *value = node->operands[i];
      s->needed[value->slot] = 1;
      if (!value->def || !is_settled(value->def)) continue;
      uint32_t *place = &s->place[value->def->pc];
      if (*place > s->place[pc]) *place = s->place[pc];
    }
  }
}

/* Nodes that nothing needs stay, but for calls and what is made from results of calls. */
static void keep_unneeded(settler *s) {
  const aj_region *region = s->region;
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    const aj_node *node = region->nodes[pc];
    bool stays = s->place[pc] == PLACE_NONE && !is_settled(node);
    for (uint32_t i = 0; stays && i < node->operand_count; i++) {
      const aj_node *def = node->operands[i]->def;
      stays = !def || (!is_settled(def) && s->place[def->pc] != PLACE_NONE);
    }
    if (stays) s->place[pc] = pc;
  }
}

/* Calls of one place in their own order, then the node itself. */
static void reorder(settler *s) {
  aj_region *region = s->region;
  uint32_t count = 0;
  memset(s->head, 0xff, region->node_count * sizeof *s->head);
  for (uint32_t pc = region->node_count; pc-- > 0;) {
    if (s->place[pc] == PLACE_NONE || s->place[pc] == pc) continue;
    s->next[pc] = s->head[s->place[pc]];
    s->head[s->place[pc]] = pc;
  }
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    for (uint32_t call = s->head[pc]; call != UINT32_MAX; call = s->next[call]) s->order[count++] = region->nodes[call];
    if (s->place[pc] == pc) s->order[count++] = region->nodes[pc];
  }
  for (uint32_t pc = 0; pc < count; pc++) {
    region->nodes[pc] = s->order[pc];
    region->nodes[pc]->pc = pc;
  }
  region->node_count = count;
}

static bool settle_region(settler *s, aj_region *region) {
  uint32_t nodes = region->node_count;
  s->region = region;
  bool any = false;
  for (uint32_t pc = 0; pc < nodes && !any; pc++) any = is_settled(region->nodes[pc]);
  if (!any) return true;
  if (!merge_calls(s)) return false;
  s->needed = aj_mem_array(s->mem, region->slot_count, 1);
  s->place = aj_mem_array(s->mem, nodes, sizeof *s->place);
  s->head = aj_mem_array(s->mem, nodes, sizeof *s->head);
  s->next = aj_mem_array(s->mem, nodes, sizeof *s->next);
  s->order = aj_mem_array(s->mem, nodes, sizeof(aj_node *));
  bool ok = (s->needed || !region->slot_count) && s->place && s->head && s->next && s->order;
  if (ok) {
    find_places(s);
    keep_unneeded(s);
    reorder(s);
  }
  aj_mem_free(s->mem, s->needed, region->slot_count);
  aj_mem_free(s->mem, s->place, nodes * sizeof *s->place);
  aj_mem_free(s->mem, s->head, nodes * sizeof *s->head);
  aj_mem_free(s->mem, s->next, nodes * sizeof *s->next);
  aj_mem_free(s->mem, s->order, nodes * sizeof(aj_node *));
  return ok;
}

/* A region is settled when the walk comes to its owner, before it goes in. */
static bool settle_func(settler *s, aj_func *func) {
  aj_walk walk;
  if (!func->root) return true;
  if (!settle_region(s, func->root)) return false;
  aj_walk_start(&walk, func);
  for (aj_node *node; (node = aj_walk_next(&walk)) != NULL;)
    for (uint32_t i = 0; i < node->region_count; i++)
      if (!settle_region(s, node->regions[i])) return false;
  return aj_func_number(func);
}

bool aj_module_settle_pure(aj_module *module) {
  bool any = false, ok = true;
  for (size_t i = 0; i < module->slots.count; i++) any = any || module->slots.data[i].pure;
  if (!any) return true;
  settler s = {.mem = module->mem};
  aj_map_init(&s.seen, module->mem);
  for (size_t i = 0; ok && i < module->funcs.count; i++) ok = settle_func(&s, module->funcs.data[i]);
  aj_map_free(&s.seen);
  return ok;
}
