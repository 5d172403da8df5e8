/* Numbering of slots, pcs and ids, and the one liveness function. Regions are closed, so a region's liveness needs
 * nothing but its own nodes: what inner regions use are operands of the node that owns them. */
#include "ir/module.h"

#include <string.h>

/* A use of a value that is not the region's, or not made yet, is left to the verifier to report. */
static void use_at(aj_region *region, const aj_value *value, uint32_t pc) {
  if (value->region != region || value->slot >= region->slot_count) return;
  uint32_t *last = &region->last_use[value->slot];
  if (*last == AJ_UNUSED || *last < pc) *last = pc;
}

static bool make_room(aj_region *region, uint32_t slots) {
  aj_arena *arena = &region->func->module->arena;
  if (!region->last_use || slots > region->slot_count) { /* a pass that shrinks a region does not allocate again */
    region->last_use = AJ_NEW_ARRAY(arena, slots, uint32_t);
    region->def_pc = AJ_NEW_ARRAY(arena, slots, uint32_t);
    if (!region->last_use || !region->def_pc) return region->last_use = NULL, false;
  }
  region->slot_count = slots;
  memset(region->last_use, 0xff, slots * sizeof *region->last_use);
  return true;
}

/* Slots and pcs of one region, then its uses. */
static bool number_region(aj_region *region) {
  uint32_t slots = region->param_count;
  for (uint32_t pc = 0; pc < region->node_count; pc++) slots += region->nodes[pc]->result_count;
  if (!make_room(region, slots)) return false;
  uint32_t slot = 0;
  for (; slot < region->param_count; slot++) {
    region->params[slot]->slot = slot;
    region->def_pc[slot] = 0;
  }
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    aj_node *node = region->nodes[pc];
    node->pc = pc;
    node->parent = region;
    for (uint32_t i = 0; i < node->operand_count; i++) use_at(region, node->operands[i], pc);
    for (uint32_t i = 0; i < node->result_count; i++) {
      node->results[i].region = region;
      node->results[i].slot = slot;
      region->def_pc[slot++] = pc + 1;
    }
  }
  /* The condition of a while hands its parameters on to the body, after its own terminator. */
  if (region->owner && region->owner->op == AJ_OP_WHILE && region->index == 0 && region->node_count)
    for (uint32_t i = 0; i < region->param_count; i++) use_at(region, region->params[i], region->node_count - 1);
  return true;
}

bool aj_func_number(aj_func *func) {
  bool finished = !func->module->origin;
  func->node_count = 0;
  if (!func->root) return true;
  if (!number_region(func->root)) return false;
  aj_walk walk;
  aj_walk_start(&walk, func);
  for (aj_node *node; (node = aj_walk_next(&walk));) {
    if (finished) node->id = func->node_count;
    func->node_count++;
    for (uint32_t i = 0; i < node->region_count; i++) {
      node->regions[i]->owner = node;
      node->regions[i]->index = i;
      if (!number_region(node->regions[i])) return false;
    }
  }
  return true;
}

bool aj_module_number(aj_module *module) {
  for (size_t i = 0; i < module->funcs.count; i++)
    if (!aj_func_number(module->funcs.data[i])) return false;
  return true;
}

static bool handlers_use(const aj_node *node, uint32_t capture) {
  for (uint32_t i = 1; i < node->region_count; i++) {
    const aj_region *region = node->regions[i];
    bool is_finally = i + 1 == node->region_count && aj_node_int(node, AJ_ATTR_FINALLY);
    const aj_value *param = region->params[is_finally ? capture : capture + 1];
    if (region->last_use[param->slot] != AJ_UNUSED) return true;
  }
  return false;
}

/* Whether operand i of a node can still be read while a region of it runs, by the node itself. */
static bool reads_again(const aj_node *node, uint32_t i) {
  uint32_t captures = aj_node_capture_start(node);
  if (node->op == AJ_OP_WHILE) return i >= captures;
  if (node->op == AJ_OP_FOR) return i >= captures || i == 1 || i == 2; /* hi and step */
  if (node->op == AJ_OP_MAP) return true;                              /* by the lanes that come */
  if (node->op == AJ_OP_TRY) return handlers_use(node, i);
  return false;
}

bool aj_live(const aj_region *region, uint32_t pc, aj_live_mode mode, uint32_t slot) {
  uint32_t last = region->last_use[slot], def = region->def_pc[slot];
  if (last == AJ_UNUSED) return false;
  switch (mode) {
  case AJ_LIVE_BEFORE: return def <= pc && last >= pc;
  case AJ_LIVE_AFTER: return def <= pc + 1 && last > pc;
  case AJ_LIVE_RAISE: return false;
  case AJ_LIVE_INSIDE: break;
  }
  const aj_node *node = region->nodes[pc];
  if (def == pc + 1) return node->op == AJ_OP_MAP; /* its results are there, being filled */
  if (def > pc || last < pc) return false;
  if (last > pc) return true;
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (node->operands[i]->slot == slot && reads_again(node, i)) return true;
  return false;
}
