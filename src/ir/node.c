/* Making and editing nodes, regions and values, all in the module's arena. */
#include "ir/module.h"

#include <string.h>

/* Room for a list in the arena that grows by doubling: what is left behind is at most as much again. */
static bool grow_list(aj_arena *arena, void *list, uint32_t count, uint32_t *capacity) {
  if (count < *capacity) return true;
  uint32_t grown = *capacity ? *capacity * 2 : 4;
  void **moved = AJ_NEW_ARRAY(arena, grown, void *), *old;
  if (!moved) return false;
  memcpy(&old, list, sizeof old);
  if (count) memcpy(moved, old, count * sizeof *moved);
  memcpy(list, &moved, sizeof moved);
  *capacity = grown;
  return true;
}

aj_region *aj_region_create(aj_func *func, aj_node *owner, uint32_t index) {
  aj_region *region = AJ_NEW(&func->module->arena, aj_region);
  if (!region) return NULL;
  region->func = func;
  region->owner = owner;
  region->index = index;
  return region;
}

aj_value *aj_region_add_param(aj_region *region, const aj_type *type) {
  aj_arena *arena = &region->func->module->arena;
  aj_value *value = AJ_NEW(arena, aj_value);
  if (!value || !grow_list(arena, &region->params, region->param_count, &region->param_capacity)) return NULL;
  value->type = type;
  value->region = region;
  value->index = region->param_count;
  region->params[region->param_count++] = value;
  return value;
}

static bool copy_attr(aj_module *module, aj_attr *to, const aj_attr *from) {
  aj_arena *arena = &module->arena;
  *to = *from;
  switch (aj_attrs[from->name].form) {
  case AJ_FORM_INTS:
  case AJ_FORM_DIMS:
    to->u.ints = aj_arena_copy(arena, from->u.ints, from->count * sizeof *from->u.ints);
    return to->u.ints;
  case AJ_FORM_BYTES: return module->borrows || (to->u.bytes = aj_arena_copy(arena, from->u.bytes, from->count));
  case AJ_FORM_TEXT: return !from->u.text || (to->u.text = aj_arena_text(arena, from->u.text, from->count));
  case AJ_FORM_INT:
  case AJ_FORM_DTYPE:
  case AJ_FORM_KIND:
  case AJ_FORM_SLOT:
  case AJ_FORM_FUNC: return true;
  }
  return true;
}

/* Attributes are few: inserted one by one in ascending order. */
static bool copy_attrs(aj_module *module, aj_node *node, uint32_t count, const aj_attr *attrs) {
  node->attrs = AJ_NEW_ARRAY(&module->arena, count, aj_attr);
  if (!node->attrs) return false;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at > 0 && node->attrs[at - 1].name > attrs[i].name; at--) node->attrs[at] = node->attrs[at - 1];
    if (!copy_attr(module, &node->attrs[at], &attrs[i])) return false;
  }
  node->attr_count = count;
  return true;
}

static uint32_t operand_capacity(uint32_t count) {
  uint32_t capacity = 1;
  while (capacity < count) capacity *= 2;
  return capacity;
}

static bool make_results(aj_arena *arena, aj_node *node, uint32_t count, const aj_type *const *types) {
  node->results = AJ_NEW_ARRAY(arena, count, aj_value);
  if (!node->results) return false;
  for (uint32_t i = 0; i < count; i++) node->results[i] = (aj_value){.type = types[i], .def = node, .index = i};
  node->result_count = count;
  return true;
}

aj_node *aj_node_create(aj_func *func, aj_op op, uint32_t operand_count, aj_value *const *operands, uint32_t attr_count,
                        const aj_attr *attrs, uint32_t result_count, const aj_type *const *result_types,
                        uint32_t region_count) {
  aj_arena *arena = &func->module->arena;
  aj_node *node = AJ_NEW(arena, aj_node);
  if (!node) return NULL;
  node->op = op;
  node->operand_count = operand_count;
  node->region_count = region_count;
  node->operands = AJ_NEW_ARRAY(arena, operand_capacity(operand_count), aj_value *);
  if (!node->operands) return NULL;
  if (operand_count) memcpy(node->operands, operands, operand_count * sizeof *operands);
  if (region_count && !(node->regions = AJ_NEW_ARRAY(arena, region_count, aj_region *))) return NULL;
  if (attr_count && !copy_attrs(func->module, node, attr_count, attrs)) return NULL;
  if (result_count && !make_results(arena, node, result_count, result_types)) return NULL;
  return node;
}

static void adopt(aj_region *region, aj_node *node) {
  node->parent = region;
  for (uint32_t i = 0; i < node->result_count; i++) node->results[i].region = region;
}

bool aj_region_append(aj_region *region, aj_node *node) { return aj_region_insert(region, region->node_count, node); }

bool aj_region_insert(aj_region *region, uint32_t pc, aj_node *node) {
  AJ_ASSERT(pc <= region->node_count);
  if (!grow_list(&region->func->module->arena, &region->nodes, region->node_count, &region->node_capacity))
    return false;
  for (uint32_t i = region->node_count; i > pc; i--) {
    region->nodes[i] = region->nodes[i - 1];
    region->nodes[i]->pc = i;
  }
  region->nodes[pc] = node;
  region->node_count++;
  node->pc = pc;
  adopt(region, node);
  return true;
}

bool aj_node_add_operand(aj_node *node, aj_value *value) {
  /* Lists of operands have room for the next power of two. */
  uint32_t capacity = operand_capacity(node->operand_count);
  aj_arena *arena = &value->region->func->module->arena;
  if (!grow_list(arena, &node->operands, node->operand_count, &capacity)) return false;
  node->operands[node->operand_count++] = value;
  return true;
}

const aj_attr *aj_node_attr(const aj_node *node, aj_attr_name name) {
  for (uint32_t i = 0; i < node->attr_count; i++)
    if (node->attrs[i].name == name) return &node->attrs[i];
  return NULL;
}

int64_t aj_node_int(const aj_node *node, aj_attr_name name) {
  const aj_attr *attr = aj_node_attr(node, name);
  return attr ? attr->u.i : 0;
}

aj_node *aj_region_terminator(const aj_region *region) {
  if (region->node_count == 0) return NULL;
  aj_node *last = region->nodes[region->node_count - 1];
  return aj_ops[last->op].flags & AJ_F_TERMINATOR ? last : NULL;
}

uint32_t aj_node_capture_start(const aj_node *node) {
  if (!(aj_ops[node->op].flags & AJ_F_REGIONS)) return node->operand_count;
  if (node->op == AJ_OP_IF || node->op == AJ_OP_SWITCH) return 1;
  if (node->op == AJ_OP_WHILE) return (uint32_t)aj_node_int(node, AJ_ATTR_CARRIED);
  if (node->op == AJ_OP_FOR) return 3 + (uint32_t)aj_node_int(node, AJ_ATTR_CARRIED);
  if (node->op == AJ_OP_MAP) return (uint32_t)aj_node_int(node, AJ_ATTR_ARGS);
  if (node->op == AJ_OP_SELECT_AND_SCATTER) return 3;
  if (node->op == AJ_OP_CUMULATIVE || node->op == AJ_OP_SORT_BY) return (uint32_t)aj_node_int(node, AJ_ATTR_ARGS);
  if (node->op == AJ_OP_REDUCE || node->op == AJ_OP_REDUCE_WINDOW) return 2 * (uint32_t)aj_node_int(node, AJ_ATTR_ARGS);
  if (node->op == AJ_OP_TRY) return 0;
  return node->operand_count; /* kernel, call: nothing is captured */
}

aj_value *aj_value_resolve(aj_value *value) {
  aj_value *last = value;
  while (last->forward) last = last->forward;
  while (value->forward) {
    aj_value *next = value->forward;
    value->forward = last;
    if (next == last) break;
    value = next;
  }
  return last;
}

void aj_func_resolve(aj_func *func) {
  aj_walk walk;
  aj_walk_start(&walk, func);
  for (aj_node *node; (node = aj_walk_next(&walk));)
    for (uint32_t i = 0; i < node->operand_count; i++) node->operands[i] = aj_value_resolve(node->operands[i]);
}
