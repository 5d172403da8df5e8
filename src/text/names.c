/* Names of values: one walk numbers nodes and regions, a hash index finds them by address. */
#include "text/names.h"

#include <string.h>

#include "text/lexer.h"

static bool equal_key(const void *user, uint32_t index, const void *key) {
  const aj_names *names = user;
  return names->keys.data[index] == key;
}

static bool equal_param_name(const void *user, uint32_t index, const void *key) {
  const aj_region *root = user;
  return strcmp(root->params[index]->name, key) == 0;
}

static uint64_t hash_key(const void *key) { return aj_hash_u64((uint64_t)(uintptr_t)key, 0); }

static bool add(aj_names *names, const void *key, uint32_t number) {
  return AJ_VEC_PUSH(names->mem, &names->keys, key) && AJ_VEC_PUSH(names->mem, &names->numbers, number) &&
         aj_map_put(&names->map, hash_key(key), (uint32_t)names->keys.count - 1);
}

/* Parameters go by their names where those are words, differ, and cannot be mistaken for numbered ones ("_3"). */
static bool add_params(aj_names *names, const aj_region *root) {
  aj_map seen;
  bool ok = true;
  aj_map_init(&seen, names->mem);
  for (uint32_t i = 0; ok && i < root->param_count; i++) {
    const char *name = root->params[i]->name;
    if (!name || *name == '_' || !aj_lexer_is_word(name)) continue;
    uint64_t hash = aj_hash_bytes(name, strlen(name), 0);
    if (aj_map_find(&seen, hash, equal_param_name, root, name) != AJ_MAP_NONE) continue;
    ok = aj_map_put(&seen, hash, i) && add(names, root->params[i], i);
  }
  aj_map_free(&seen);
  return ok;
}

bool aj_names_make(aj_names *names, const aj_func *func) {
  *names = (aj_names){.mem = func->module->mem};
  aj_map_init(&names->map, names->mem);
  if (!func->root) return true;
  if (!add_params(names, func->root)) return false;
  aj_walk walk;
  uint32_t node_count = 0, param_count = 0;
  aj_walk_start(&walk, (aj_func *)func); /* the walk writes to itself only */
  for (aj_node *node; (node = aj_walk_next(&walk));) {
    if (!add(names, node, node_count++)) return false;
    for (uint32_t i = 0; i < node->region_count; i++) {
      if (!add(names, node->regions[i], param_count)) return false;
      param_count += node->regions[i]->param_count;
    }
  }
  return true;
}

void aj_names_free(aj_names *names) {
  aj_map_free(&names->map);
  AJ_VEC_FREE(names->mem, &names->keys);
  AJ_VEC_FREE(names->mem, &names->numbers);
}

uint32_t aj_names_find(const aj_names *names, const void *key) {
  uint32_t index = aj_map_find(&names->map, hash_key(key), equal_key, names, key);
  return index == AJ_MAP_NONE ? AJ_NAMES_NONE : names->numbers.data[index];
}

bool aj_names_is_plain(const aj_names *names, const aj_value *param) {
  return aj_names_find(names, param) != AJ_NAMES_NONE;
}

void aj_names_print(const aj_names *names, const aj_value *value, aj_text *out) {
  if (value && !value->def && !value->region->owner) {
    if (aj_names_is_plain(names, value))
      aj_text_printf(out, "%%%s", value->name);
    else
      aj_text_printf(out, "%%_%u", value->index);
    return;
  }
  uint32_t number = value ? aj_names_find(names, value->def ? (const void *)value->def : value->region) : AJ_NAMES_NONE;
  if (number == AJ_NAMES_NONE)
    aj_text_puts(out, "%?");
  else if (!value->def)
    aj_text_printf(out, "%%a%u", number + value->index);
  else if (value->def->result_count == 1)
    aj_text_printf(out, "%%%u", number);
  else
    aj_text_printf(out, "%%%u.%u", number, value->index);
}
