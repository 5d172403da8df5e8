/* The verifier: functions, slots and symbols of a module. Nodes and regions are in verify_region.c. */
#include "verify/verify.h"

#include <string.h>

#include "verify/checker.h"

static const char *const messages[] = {
#define VERIFY_MESSAGE(ID, format) format,
#include "verify/messages.def"
#undef VERIFY_MESSAGE
};

const char *aj_verify_message(size_t index) { return index < AJ_VERIFY_MESSAGE_COUNT ? messages[index] : NULL; }

/* ---- failing ---- */

bool aj_checker_fail(aj_checker *c, aj_verify_message_id message, ...) {
  char text[sizeof c->error.message];
  va_list args;
  va_start(args, message);
  aj_bounded_vprintf(text, sizeof text, messages[message], args);
  va_end(args);
  aj_error_set(&c->error, ARRJIT_GRAPH, "%s", text);
  return false;
}

bool aj_checker_no_memory(aj_checker *c) {
  aj_error_memory(&c->error, "verifying a module");
  return false;
}

aj_checker_text aj_checker_type_text(const aj_checker *c, const aj_type *type) {
  aj_checker_text text;
  aj_type_print(c->module, type, text.s, sizeof text.s);
  return text;
}

/* ---- slots ---- */

static bool has_exn(uint32_t count, const aj_type *const *types) {
  for (uint32_t i = 0; i < count; i++)
    if (types[i]->is_exn) return true;
  return false;
}

static bool equal_name(const void *user, uint32_t index, const void *key) {
  return strcmp(((const aj_module *)user)->slots.data[index].name, key) == 0;
}

static bool check_slot(aj_checker *c, aj_map *names, uint32_t index) {
  const aj_slot *slot = &c->module->slots.data[index];
  uint64_t hash = aj_hash_bytes(slot->name, strlen(slot->name), 0);
  if (has_exn(slot->param_count, slot->param_types) || has_exn(slot->result_count, slot->result_types))
    return aj_checker_fail(c, AJ_VERIFY_SLOT_EXN, slot->name);
  if (!slot->is_value && slot->result_count) return aj_checker_fail(c, AJ_VERIFY_SLOT_RESULTS, slot->name);
  if (!slot->is_value && slot->pure) return aj_checker_fail(c, AJ_VERIFY_SLOT_PURE, slot->name);
  if (slot->is_value && slot->optional) return aj_checker_fail(c, AJ_VERIFY_SLOT_OPTIONAL, slot->name);
  if (aj_map_find(names, hash, equal_name, c->module, slot->name) != AJ_MAP_NONE)
    return aj_checker_fail(c, AJ_VERIFY_SLOT_TWICE, slot->name);
  return aj_map_put(names, hash, index) || aj_checker_no_memory(c);
}

static bool check_slots(aj_checker *c) {
  aj_map names;
  bool ok = true;
  aj_map_init(&names, c->module->mem);
  for (uint32_t i = 0; ok && i < c->module->slots.count; i++) {
    c->slot = i;
    ok = check_slot(c, &names, i);
  }
  if (ok) c->slot = -1;
  aj_map_free(&names);
  return ok;
}

/* ---- functions ---- */

static bool check_entry(aj_checker *c) {
  const aj_module *m = c->module;
  const aj_func *entry = m->funcs.count ? m->funcs.data[0] : NULL;
  if (!entry || strcmp(entry->name, "main") != 0)
    return aj_checker_fail(c, AJ_VERIFY_NO_ENTRY, entry ? entry->name : "missing");
  c->func = entry;
  for (uint32_t i = 0; i < entry->param_count; i++)
    if (entry->param_types[i]->is_exn) return aj_checker_fail(c, AJ_VERIFY_ENTRY_EXN, "parameter", i);
  for (uint32_t i = 0; i < entry->result_count; i++)
    if (entry->result_types[i]->is_exn) return aj_checker_fail(c, AJ_VERIFY_ENTRY_EXN, "result", i);
  return true;
}

static bool check_signature(aj_checker *c) {
  const aj_func *func = c->func;
  if (func->root->param_count != func->param_count)
    return aj_checker_fail(c, AJ_VERIFY_FUNC_PARAM_COUNT, func->name, func->root->param_count, func->param_count);
  for (uint32_t i = 0; i < func->param_count; i++) {
    const aj_type *inside = func->root->params[i]->type, *outside = func->param_types[i];
    if (!aj_type_equal(inside, outside))
      return aj_checker_fail(c, AJ_VERIFY_FUNC_PARAM_TYPE, i, func->name, aj_checker_type_text(c, inside).s,
                             aj_checker_type_text(c, outside).s);
    if (!aj_checker_type(c, "a parameter", outside)) return false;
  }
  return true;
}

/* After the body, whose callbacks may have bound the extents. */
static bool check_yield(aj_checker *c) {
  const aj_func *func = c->func;
  const aj_node *end = aj_region_terminator(func->root);
  if (end->op != AJ_OP_YIELD) return true;
  c->node = end;
  for (uint32_t i = 0; i < func->result_count; i++)
    if (!aj_checker_type(c, "a result", func->result_types[i])) return false;
  char came[24], expected[24];
  if (end->operand_count != func->result_count) {
    aj_bounded_printf(came, sizeof came, "%u values", end->operand_count);
    aj_bounded_printf(expected, sizeof expected, "%u", func->result_count);
    return aj_checker_fail(c, AJ_VERIFY_FUNC_YIELD, func->name, came, expected);
  }
  for (uint32_t i = 0; i < func->result_count; i++)
    if (!aj_type_equal(end->operands[i]->type, func->result_types[i]))
      return aj_checker_fail(c, AJ_VERIFY_FUNC_YIELD, func->name, aj_checker_type_text(c, end->operands[i]->type).s,
                             aj_checker_type_text(c, func->result_types[i]).s);
  return true;
}

static bool check_func(aj_checker *c, size_t index) {
  const aj_func *func = c->func = c->module->funcs.data[index];
  c->node = NULL;
  aj_checker_close_symbols(c);
  if (func->index != index || func->module != c->module) return aj_checker_fail(c, AJ_VERIFY_FUNC_LINKS, func->name);
  if (!func->root) return aj_checker_fail(c, AJ_VERIFY_FUNC_BODY, func->name);
  return check_signature(c) && aj_checker_body(c) && check_yield(c);
}

/* ---- all of it ---- */

static void tell_source(aj_checker *c) {
  const aj_node *node = c->node;
  if (!node) return;
  if (node->op > AJ_OP_NONE && node->op < AJ_OP_COUNT)
    aj_bounded_printf(c->error.op, sizeof c->error.op, "%s", aj_ops[node->op].name);
  c->error.line = (int)node->source.line;
  const char *file = node->source.file ? node->source.file : "";
  size_t length = strlen(file), room = sizeof c->error.file - 1;
  aj_bounded_printf(c->error.file, sizeof c->error.file, "%s", length > room ? file + (length - room) : file);
}

arrjit_status aj_verify_find(const aj_module *module, bool optimised, arrjit_error *error, aj_verify_place *out) {
  aj_checker c = {.module = module, .optimised = optimised, .slot = -1};
  bool ok = aj_checker_symbols(&c) && check_entry(&c) && check_slots(&c);
  for (size_t i = 0; ok && i < module->funcs.count; i++) ok = check_func(&c, i);
  if (c.bound) aj_mem_free(module->mem, c.bound, module->symbols.count * sizeof *c.bound);
  AJ_VEC_FREE(module->mem, &c.open);
  AJ_VEC_FREE(module->mem, &c.uses);
  if (ok) return aj_error_clear(error);
  tell_source(&c);
  if (error) *error = c.error;
  if (out) *out = (aj_verify_place){c.node, c.slot, c.func};
  return c.error.status;
}

arrjit_status aj_verify(const aj_module *module, bool optimised, arrjit_error *error) {
  return aj_verify_find(module, optimised, error, NULL);
}
