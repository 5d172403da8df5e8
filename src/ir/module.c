/* Modules: what they own, interning of types and texts, functions, callback slots. Everything lives in the module's
 * arena or in vectors that point into it; a failed allocation leaves what was there. */
#include "ir/module.h"

#include <string.h>

aj_module *aj_module_create(aj_mem *mem, aj_kinds *kinds) {
  aj_module *module = aj_mem_alloc(mem, sizeof *module);
  if (!module) return NULL;
  module->mem = mem;
  module->kinds = kinds;
  aj_arena_init(&module->arena, mem);
  aj_map_init(&module->type_map, mem);
  aj_map_init(&module->text_map, mem);
  aj_map_init(&module->symbol_map, mem);
  return module;
}

void aj_module_destroy(aj_module *module) {
  if (!module) return;
  aj_mem *mem = module->mem;
  AJ_VEC_FREE(mem, &module->funcs);
  AJ_VEC_FREE(mem, &module->symbols);
  AJ_VEC_FREE(mem, &module->slots);
  AJ_VEC_FREE(mem, &module->types);
  AJ_VEC_FREE(mem, &module->texts);
  aj_map_free(&module->type_map);
  aj_map_free(&module->text_map);
  aj_map_free(&module->symbol_map);
  aj_arena_free(&module->arena);
  aj_mem_free(mem, module, sizeof *module);
}

/* ---- texts ---- */

typedef struct text_key {
  const char *s;
  size_t length;
} text_key;

static bool is_text(const void *user, uint32_t index, const void *key) {
  const aj_module *module = user;
  const text_key *wanted = key;
  const char *have = module->texts.data[index];
  return strlen(have) == wanted->length && memcmp(have, wanted->s, wanted->length) == 0;
}

const char *aj_module_text(aj_module *module, const char *s, size_t length) {
  text_key key = {s, length};
  uint64_t hash = aj_hash_bytes(s, length, 0);
  uint32_t found = aj_map_find(&module->text_map, hash, is_text, module, &key);
  if (found != AJ_MAP_NONE) return module->texts.data[found];
  const char *copy = aj_arena_text(&module->arena, s, length);
  if (!copy || !AJ_VEC_PUSH(module->mem, &module->texts, copy)) return NULL;
  if (!aj_map_put(&module->text_map, hash, (uint32_t)(module->texts.count - 1))) {
    module->texts.count--;
    return NULL;
  }
  return copy;
}

/* ---- types ---- */

static bool is_type(const void *user, uint32_t index, const void *key) {
  const aj_module *module = user;
  return aj_type_equal(module->types.data[index], key);
}

/* `key` has the layout of a type with all dims. */
static const aj_type *intern_type(aj_module *module, const aj_type *key) {
  size_t dims_bytes = (size_t)key->rank * sizeof *key->dims;
  uint64_t hash = aj_hash_u64((uint64_t)key->dtype << 8 | (uint64_t)key->rank << 1 | key->is_exn, 0);
  hash = aj_hash_bytes(key->dims, dims_bytes, hash);
  uint32_t found = aj_map_find(&module->type_map, hash, is_type, module, key);
  if (found != AJ_MAP_NONE) return module->types.data[found];
  const aj_type *copy = aj_arena_copy(&module->arena, key, sizeof *key + dims_bytes);
  if (!copy || !AJ_VEC_PUSH(module->mem, &module->types, copy)) return NULL;
  if (!aj_map_put(&module->type_map, hash, (uint32_t)(module->types.count - 1))) {
    module->types.count--;
    return NULL;
  }
  return copy;
}

typedef union type_buffer {
  aj_type type;
  char bytes[sizeof(aj_type) + ARRJIT_MAX_RANK * sizeof(int64_t)];
} type_buffer;

const aj_type *aj_module_type(aj_module *module, arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  AJ_ASSERT(rank >= 0 && rank <= ARRJIT_MAX_RANK);
  type_buffer key = {.type = {.dtype = dtype, .rank = rank}};
  if (rank) memcpy(key.bytes + offsetof(aj_type, dims), dims, (size_t)rank * sizeof *dims);
  return intern_type(module, &key.type);
}

const aj_type *aj_module_exn_type(aj_module *module) {
  aj_type key = {.dtype = ARRJIT_DTYPE_NONE, .rank = 0, .is_exn = true};
  return intern_type(module, &key);
}

/* ---- functions and slots ---- */

static const aj_type **copy_types(aj_module *module, uint32_t count, const aj_type *const *types) {
  return aj_arena_copy(&module->arena, types, count * sizeof *types);
}

aj_func *aj_module_add_func(aj_module *module, const char *name, uint32_t param_count, const aj_type *const *params,
                            uint32_t result_count, const aj_type *const *results) {
  aj_func *func = AJ_NEW(&module->arena, aj_func);
  if (!func) return NULL;
  func->module = module;
  func->index = (uint32_t)module->funcs.count;
  func->name = aj_module_text(module, name, strlen(name));
  func->param_count = param_count;
  func->result_count = result_count;
  func->param_types = copy_types(module, param_count, params);
  func->result_types = copy_types(module, result_count, results);
  func->result_names = AJ_NEW_ARRAY(&module->arena, result_count, const char *);
  if (!func->name || !func->param_types || !func->result_types || !func->result_names) return NULL;
  return AJ_VEC_PUSH(module->mem, &module->funcs, func) ? func : NULL;
}

aj_func *aj_module_find_func(const aj_module *module, const char *name) {
  for (size_t i = 0; i < module->funcs.count; i++)
    if (strcmp(module->funcs.data[i]->name, name) == 0) return module->funcs.data[i];
  return NULL;
}

uint32_t aj_slot_dynamic_dims(const aj_slot *slot, uint32_t result) {
  uint32_t count = 0;
  const aj_type *type = slot->result_types[result];
  for (int32_t d = 0; d < type->rank; d++) count += type->dims[d] == ARRJIT_DYNAMIC_DIM;
  return count;
}

uint32_t aj_slot_all_dynamic_dims(const aj_slot *slot) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < slot->result_count; i++) count += aj_slot_dynamic_dims(slot, i);
  return count;
}

int32_t aj_module_add_slot(aj_module *module, const aj_slot *slot) {
  aj_slot copy = *slot;
  copy.name = aj_module_text(module, slot->name, strlen(slot->name));
  copy.param_types = copy_types(module, slot->param_count, slot->param_types);
  copy.result_types = copy_types(module, slot->result_count, slot->result_types);
  if (!copy.name || !copy.param_types || !copy.result_types) return -1;
  if (!AJ_VEC_PUSH(module->mem, &module->slots, copy)) return -1;
  return (int32_t)(module->slots.count - 1);
}

/* ---- kinds ---- */

static void renumber_kinds(aj_node *node, int64_t first, const arrjit_kind *numbers) {
  for (uint32_t i = 0; i < node->attr_count; i++) {
    aj_attr *attr = &node->attrs[i];
    if (attr->name == AJ_ATTR_KIND && attr->u.i > first) attr->u.i = numbers[attr->u.i - first - 1];
    int64_t *kinds = attr->name == AJ_ATTR_KINDS ? (int64_t *)(uintptr_t)attr->u.ints : NULL; /* the module's own */
    for (uint32_t k = 0; kinds && k < attr->count; k++)
      if (kinds[k] > first) kinds[k] = numbers[kinds[k] - first - 1];
  }
}

arrjit_status aj_module_join_kinds(aj_module *module, aj_kinds *base, arrjit_error *error) {
  uint32_t first = aj_kinds_forked(module->kinds), count = aj_kinds_count(module->kinds) - first;
  arrjit_kind *numbers = count ? aj_mem_array(module->mem, count, sizeof *numbers) : NULL;
  if (count && !numbers) return aj_error_memory(error, "the kinds of a module");
  arrjit_status status = aj_kinds_join(module->kinds, numbers, error);
  for (size_t i = 0; status == ARRJIT_OK && count && i < module->funcs.count; i++) {
    aj_walk walk;
    aj_walk_start(&walk, module->funcs.data[i]);
    for (aj_node *node; (node = aj_walk_next(&walk));) renumber_kinds(node, first, numbers);
  }
  if (status == ARRJIT_OK) module->kinds = base;
  aj_mem_free(module->mem, numbers, count * sizeof *numbers);
  return status;
}
