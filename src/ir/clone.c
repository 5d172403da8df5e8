/* Deep copies of modules. Regions are closed, so values are mapped region by region: a region's slots number them. The
 * module copied from is only read, since it is shared between threads. */
#include "ir/symbol.h"

#include <string.h>

typedef struct pair {
  const aj_region *from;
  aj_region *to;
} pair;

typedef struct cloner {
  aj_module *module;
  AJ_VEC(pair) work;      /* regions made but not filled */
  AJ_VEC(aj_value *) map; /* slot of the region being copied -> its copy */
  AJ_VEC(const aj_type *) types;
} cloner;

static const aj_type *clone_type(aj_module *module, const aj_type *type) {
  if (type->is_exn) return aj_module_exn_type(module);
  return aj_module_type(module, type->dtype, type->rank, type->dims);
}

static bool clone_text(aj_module *module, const char **text) {
  return !*text || (*text = aj_module_text(module, *text, strlen(*text)));
}

/* Makes an empty copy of a region and notes that it is to be filled. */
static aj_region *start_region(cloner *c, const aj_region *from, aj_func *func, aj_node *owner) {
  aj_region *to = aj_region_create(func, owner, from->index);
  return to && AJ_VEC_PUSH(c->module->mem, &c->work, ((pair){from, to})) ? to : NULL;
}

static bool clone_types(cloner *c, uint32_t count, const aj_value *values) {
  c->types.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const aj_type *type = clone_type(c->module, values[i].type);
    if (!type || !AJ_VEC_PUSH(c->module->mem, &c->types, type)) return false;
  }
  return true;
}

static aj_node *clone_node(cloner *c, const aj_node *from, aj_func *func) {
  if (!clone_types(c, from->result_count, from->results)) return NULL;
  aj_node *to = aj_node_create(func, from->op, from->operand_count, from->operands, from->attr_count, from->attrs,
                               from->result_count, c->types.data, from->region_count);
  if (!to) return NULL;
  for (uint32_t i = 0; i < to->operand_count; i++) to->operands[i] = c->map.data[from->operands[i]->slot];
  for (uint32_t i = 0; i < to->region_count; i++)
    if (!(to->regions[i] = start_region(c, from->regions[i], func, to))) return NULL;
  to->id = from->id;
  to->source = from->source;
  if (!clone_text(c->module, &to->source.file) || !clone_text(c->module, &to->source.label)) return NULL;
  to->origin = from->origin ? from->origin : from;
  return to;
}

static bool note_value(cloner *c, const aj_value *from, aj_value *to) {
  to->name = from->name;
  return clone_text(c->module, &to->name) && AJ_VEC_PUSH(c->module->mem, &c->map, to);
}

/* Parameters first, then results in order: the numbering of slots. */
static bool fill_region(cloner *c, const aj_region *from, aj_region *to) {
  c->map.count = 0;
  for (uint32_t i = 0; i < from->param_count; i++) {
    const aj_type *type = clone_type(c->module, from->params[i]->type);
    aj_value *param = type ? aj_region_add_param(to, type) : NULL;
    if (!param || !note_value(c, from->params[i], param)) return false;
  }
  for (uint32_t pc = 0; pc < from->node_count; pc++) {
    aj_node *node = clone_node(c, from->nodes[pc], to->func);
    if (!node || !aj_region_append(to, node)) return false;
    for (uint32_t i = 0; i < node->result_count; i++)
      if (!note_value(c, &from->nodes[pc]->results[i], &node->results[i])) return false;
  }
  return true;
}

static const aj_type **clone_list(aj_module *module, uint32_t count, const aj_type *const *types) {
  const aj_type **copy = AJ_NEW_ARRAY(&module->arena, count, const aj_type *);
  for (uint32_t i = 0; copy && i < count; i++)
    if (!(copy[i] = clone_type(module, types[i]))) return NULL;
  return copy;
}

static bool clone_func(cloner *c, const aj_func *from) {
  aj_module *module = c->module;
  const aj_type **params = clone_list(module, from->param_count, from->param_types);
  const aj_type **results = clone_list(module, from->result_count, from->result_types);
  if (!params || !results) return false;
  aj_func *to = aj_module_add_func(module, from->name, from->param_count, params, from->result_count, results);
  if (!to) return false;
  for (uint32_t i = 0; i < from->result_count; i++) {
    to->result_names[i] = from->result_names[i];
    if (!clone_text(module, &to->result_names[i])) return false;
  }
  if (from->root && !(to->root = start_region(c, from->root, to, NULL))) return false;
  while (c->work.count) {
    pair next = c->work.data[--c->work.count];
    if (!fill_region(c, next.from, next.to)) return false;
  }
  return aj_func_number(to);
}

static bool clone_symbols(aj_module *module, const aj_module *from) {
  for (size_t i = 0; i < from->symbols.count; i++) {
    aj_symbol symbol = from->symbols.data[i];
    if (!clone_text(module, &symbol.name) || aj_symbol_add(module, &symbol) == 0) return false;
  }
  return true;
}

static bool clone_slots(aj_module *module, const aj_module *from) {
  for (size_t i = 0; i < from->slots.count; i++) {
    aj_slot slot = from->slots.data[i];
    slot.param_types = clone_list(module, slot.param_count, slot.param_types);
    slot.result_types = clone_list(module, slot.result_count, slot.result_types);
    if (!slot.param_types || !slot.result_types || aj_module_add_slot(module, &slot) < 0) return false;
  }
  return true;
}

aj_module *aj_module_clone(const aj_module *from) {
  aj_module *module = aj_module_create(from->mem, from->kinds);
  if (!module) return NULL;
  cloner c = {.module = module};
  module->origin = from->origin ? from->origin : from;
  module->borrows = true;
  bool ok = clone_symbols(module, from) && clone_slots(module, from);
  for (size_t i = 0; ok && i < from->funcs.count; i++) ok = clone_func(&c, from->funcs.data[i]);
  module->borrows = false;
  module->node_total = from->node_total;
  module->const_bytes = from->const_bytes;
  AJ_VEC_FREE(module->mem, &c.work);
  AJ_VEC_FREE(module->mem, &c.map);
  AJ_VEC_FREE(module->mem, &c.types);
  if (ok && !module->arena.failed) return module;
  aj_module_destroy(module);
  return NULL;
}
