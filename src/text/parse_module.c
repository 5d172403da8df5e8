/* The lines of a module: declarations, slots, functions' signatures; and the parser's entry. */
#include <string.h>

#include "text/parser.h"

/* ---- functions and slots ---- */

/* The function of that name, made without a signature when it is new. */
static aj_func *mention_func(aj_parser *p, const char *name) {
  const aj_name_entry *have = aj_parser_lookup(p, AJ_SPACE_FUNC, 0, name, strlen(name));
  if (have) return p->module->funcs.data[have->number];
  aj_func *func = aj_module_add_func(p->module, name, 0, NULL, 0, NULL);
  if (!func || !AJ_VEC_PUSH(p->mem, &p->defined, false) || !AJ_VEC_PUSH(p->mem, &p->declared, false))
    return aj_parser_no_memory(p), NULL;
  aj_name_entry entry = {
      .space = AJ_SPACE_FUNC, .text = func->name, .length = strlen(func->name), .number = (int64_t)func->index};
  return aj_parser_bind(p, &entry) ? func : NULL;
}

/* "(type, ...)" appended to p->types. */
static bool parse_types(aj_parser *p, uint32_t *out_count) {
  size_t before = p->types.count;
  if (!aj_parser_expect(p, '(')) return false;
  while (!aj_parser_is(p, ')')) {
    const aj_type *type;
    if (p->types.count > before && !aj_parser_expect(p, ',')) return false;
    if (!aj_parser_type(p, &type)) return false;
    if (!AJ_VEC_PUSH(p->mem, &p->types, type)) return aj_parser_no_memory(p);
  }
  *out_count = (uint32_t)(p->types.count - before);
  return aj_parser_expect(p, ')');
}

static bool parse_arrow(aj_parser *p) {
  if (p->token.kind != AJ_TOKEN_ARROW) return aj_parser_expected(p, "'->'");
  aj_parser_advance(p);
  return true;
}

static bool has_signature(const aj_func *func, uint32_t params, uint32_t results, const aj_type *const *types) {
  if (func->param_count != params || func->result_count != results) return false;
  for (uint32_t i = 0; i < params; i++)
    if (!aj_type_equal(func->param_types[i], types[i])) return false;
  for (uint32_t i = 0; i < results; i++)
    if (!aj_type_equal(func->result_types[i], types[params + i])) return false;
  return true;
}

/* The signature in p->types, params first: func's own from now on, or the one it was declared with. */
static bool settle_signature(aj_parser *p, const aj_token *at, aj_func *func, uint32_t params, uint32_t results) {
  const aj_type **types = p->types.data;
  if (p->declared.data[func->index])
    return has_signature(func, params, results, types) || aj_parser_fail(p, at, AJ_AIR_FUNC_DIFFERS, func->name);
  aj_arena *arena = &p->module->arena;
  func->param_types = AJ_NEW_ARRAY(arena, params, const aj_type *);
  func->result_types = AJ_NEW_ARRAY(arena, results, const aj_type *);
  func->result_names = AJ_NEW_ARRAY(arena, results, const char *);
  if (!func->param_types || !func->result_types || !func->result_names) return aj_parser_no_memory(p);
  for (uint32_t i = 0; i < params; i++) func->param_types[i] = types[i];
  for (uint32_t i = 0; i < results; i++) func->result_types[i] = types[params + i];
  func->param_count = params;
  func->result_count = results;
  p->declared.data[func->index] = true;
  return true;
}

static bool parse_declare(aj_parser *p) {
  aj_token at;
  const char *name;
  uint32_t params, results;
  if (!aj_parser_func_name(p, &name, &at)) return false;
  p->func = mention_func(p, name);
  if (!p->func) return false;
  if (p->declared.data[p->func->index]) return aj_parser_fail(p, &at, AJ_AIR_FUNC_TWICE, name);
  p->types.count = 0;
  return parse_types(p, &params) && parse_arrow(p) && parse_types(p, &results) &&
         settle_signature(p, &at, p->func, params, results);
}

static bool parse_slot(aj_parser *p) {
  aj_slot slot = {0};
  aj_token at;
  p->func = p->module->funcs.data[0];
  p->types.count = 0;
  slot.is_value = aj_parser_is_word(p, "value");
  if (!aj_parser_take_word(p, "value") && !aj_parser_take_word(p, "io"))
    return aj_parser_expected(p, "'io' or 'value'");
  at = p->token;
  if (!aj_parser_name(p, "the name of a slot", &slot.name)) return false;
  if (aj_parser_lookup(p, AJ_SPACE_SLOT, 0, slot.name, strlen(slot.name)))
    return aj_parser_fail(p, &at, AJ_AIR_SLOT_TWICE, slot.name);
  if (!parse_types(p, &slot.param_count)) return false;
  p->dynamic_dims = true;
  if (slot.is_value && (!parse_arrow(p) || !parse_types(p, &slot.result_count))) return false;
  p->dynamic_dims = false;
  if (slot.is_value && slot.result_count == 0) return aj_parser_fail(p, &at, AJ_AIR_SLOT_RESULTS, slot.name);
  slot.optional = aj_parser_take_word(p, "optional");
  slot.pure = aj_parser_take_word(p, "pure");
  slot.param_types = p->types.data;
  slot.result_types = slot.result_count ? p->types.data + slot.param_count : NULL;
  int32_t index = aj_module_add_slot(p->module, &slot);
  if (index < 0 || (p->lines && !AJ_VEC_PUSH(p->lines->mem, &p->lines->slots, at.line))) return aj_parser_no_memory(p);
  aj_name_entry entry = {.space = AJ_SPACE_SLOT, .text = slot.name, .length = strlen(slot.name), .number = index};
  return aj_parser_bind(p, &entry);
}

/* "%name: type "text"": the name is the parameter's own when it begins with a letter and no text follows. */
static bool parse_param(aj_parser *p, aj_region *root) {
  aj_token name = p->token;
  const aj_type *type;
  const char *text = NULL;
  if (name.kind != AJ_TOKEN_VALUE) return aj_parser_expected(p, "a parameter '%name' or ')'");
  aj_parser_advance(p);
  if (!aj_parser_expect(p, ':') || !aj_parser_type(p, &type)) return false;
  char first = name.text[1];
  if (p->token.kind == AJ_TOKEN_STRING) {
    if (!aj_parser_string(p, "a name", &text)) return false;
  } else if ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z')) {
    text = aj_module_text(p->module, name.text + 1, name.length - 1);
    if (!text) return aj_parser_no_memory(p);
  }
  aj_value *param = aj_region_add_param(root, type);
  if (!param || !AJ_VEC_PUSH(p->mem, &p->types, type)) return aj_parser_no_memory(p);
  param->name = text;
  if (aj_parser_lookup(p, AJ_SPACE_VALUE, p->scope, name.text, name.length))
    return aj_parser_fail(p, &name, AJ_AIR_VALUE_TWICE, aj_parser_token_text(&name).s);
  aj_name_entry entry = {
      .space = AJ_SPACE_VALUE, .scope = p->scope, .text = name.text, .length = name.length, .value = param};
  return aj_parser_bind(p, &entry);
}

static bool parse_result_types(aj_parser *p, uint32_t params, const char ***out_names) {
  AJ_VEC(const char *) names = {0};
  bool ok = aj_parser_expect(p, '(');
  while (ok && !aj_parser_is(p, ')')) {
    const aj_type *type;
    const char *name = NULL;
    ok = (p->types.count == params || aj_parser_expect(p, ',')) && aj_parser_type(p, &type);
    if (ok && p->token.kind == AJ_TOKEN_STRING) ok = aj_parser_string(p, "a name", &name);
    if (ok && (!AJ_VEC_PUSH(p->mem, &p->types, type) || !AJ_VEC_PUSH(p->mem, &names, name)))
      ok = aj_parser_no_memory(p);
  }
  ok = ok && aj_parser_expect(p, ')');
  *out_names = NULL;
  if (ok && names.count) {
    *out_names = aj_arena_copy(&p->module->arena, names.data, names.count * sizeof *names.data);
    if (!*out_names) ok = aj_parser_no_memory(p);
  }
  AJ_VEC_FREE(p->mem, &names);
  return ok;
}

static bool parse_func(aj_parser *p) {
  aj_token at;
  const char *name, **result_names;
  if (!aj_parser_func_name(p, &name, &at)) return false;
  aj_func *func = p->func = mention_func(p, name);
  if (!func) return false;
  if (p->defined.data[func->index]) return aj_parser_fail(p, &at, AJ_AIR_FUNC_TWICE, name);
  p->defined.data[func->index] = true;
  func->root = aj_region_create(func, NULL, 0);
  if (!func->root) return aj_parser_no_memory(p);
  p->types.count = 0;
  p->scope = p->scope_count++;
  if (!aj_parser_expect(p, '(')) return false;
  while (!aj_parser_is(p, ')'))
    if ((func->root->param_count && !aj_parser_expect(p, ',')) || !parse_param(p, func->root)) return false;
  uint32_t params = (uint32_t)p->types.count;
  if (!aj_parser_expect(p, ')') || !parse_arrow(p) || !parse_result_types(p, params, &result_names)) return false;
  if (!settle_signature(p, &at, func, params, (uint32_t)p->types.count - params)) return false;
  if (result_names) func->result_names = result_names;
  return aj_parser_body(p, func);
}

/* ---- modules ---- */

static bool parse_version(aj_parser *p) {
  uint64_t version;
  if (!aj_parser_take_word(p, "air")) return aj_parser_expected(p, "'air' and a version");
  bool is_number = p->token.kind == AJ_TOKEN_NUMBER;
  for (size_t i = 0; is_number && i < p->token.length; i++)
    is_number = p->token.text[i] >= '0' && p->token.text[i] <= '9';
  if (!is_number) return aj_parser_expected(p, "a version");
  version = p->token.length == 1 ? (uint64_t)(*p->token.text - '0') : 2;
  if (version > 1) return aj_parser_fail(p, &p->token, AJ_AIR_NEWER, aj_parser_token_text(&p->token).s);
  if (version < 1) return aj_parser_expected(p, "version 1");
  aj_parser_advance(p);
  return true;
}

static bool parse_line(aj_parser *p) {
  if (aj_parser_take_word(p, "kind")) return aj_parser_kind_line(p);
  if (aj_parser_take_word(p, "declare")) return parse_declare(p);
  if (aj_parser_take_word(p, "dim")) return aj_parser_dim_line(p);
  if (aj_parser_take_word(p, "slot")) return parse_slot(p);
  if (aj_parser_take_word(p, "func")) return parse_func(p);
  return aj_parser_expected(p, "'kind', 'declare', 'dim', 'slot' or 'func'");
}

static bool parse_module(aj_parser *p) {
  aj_parser_advance(p);
  if (!parse_version(p) || !mention_func(p, "main")) return false; /* the entry is function 0 wherever it stands */
  while (!p->failed && p->token.kind != AJ_TOKEN_END)
    if (!parse_line(p)) return false;
  for (size_t i = 0; !p->failed && i < p->defined.count; i++)
    if (!p->defined.data[i]) aj_parser_fail(p, &p->token, AJ_AIR_FUNC_UNDEFINED, p->module->funcs.data[i]->name);
  if (p->failed) return false;
  return aj_module_number(p->module) || aj_parser_no_memory(p);
}

static void free_parser(aj_parser *p) {
  aj_map_free(&p->name_map);
  AJ_VEC_FREE(p->mem, &p->names);
  AJ_VEC_FREE(p->mem, &p->frames);
  AJ_VEC_FREE(p->mem, &p->regions);
  AJ_VEC_FREE(p->mem, &p->results);
  AJ_VEC_FREE(p->mem, &p->operands);
  AJ_VEC_FREE(p->mem, &p->types);
  AJ_VEC_FREE(p->mem, &p->ints);
  AJ_VEC_FREE(p->mem, &p->attrs);
  AJ_VEC_FREE(p->mem, &p->defined);
  AJ_VEC_FREE(p->mem, &p->declared);
  aj_text_free(&p->text);
  aj_arena_free(&p->scratch);
}

arrjit_status aj_air_parse_lines(aj_mem *mem, aj_kinds *kinds, const char *text, size_t bytes, const char *name,
                                 const aj_air_limits *limits, aj_air_lines *lines, aj_module **out,
                                 arrjit_error *error) {
  aj_parser p = {.mem = mem, .kinds = kinds, .name = name ? name : "", .limits = *limits, .lines = lines};
  aj_map_init(&p.name_map, mem);
  aj_text_init(&p.text, mem);
  aj_arena_init(&p.scratch, mem);
  aj_lexer_init(&p.lexer, text ? text : "", text ? bytes : 0);
  p.module = aj_module_create(mem, kinds);
  bool ok = p.module ? parse_module(&p) : aj_parser_no_memory(&p);
  free_parser(&p);
  if (!ok) {
    aj_module_destroy(p.module);
    if (error) *error = p.error;
    return p.error.status;
  }
  *out = p.module;
  return aj_error_clear(error);
}

arrjit_status aj_air_parse(aj_mem *mem, aj_kinds *kinds, const char *text, size_t bytes, const char *name,
                           const aj_air_limits *limits, aj_module **out, arrjit_error *error) {
  return aj_air_parse_lines(mem, kinds, text, bytes, name, limits, NULL, out, error);
}

int32_t aj_air_node_line(const aj_air_lines *lines, uint32_t func, uint32_t node_id) {
  size_t index = func < lines->funcs.count ? (size_t)lines->funcs.data[func].first + node_id : SIZE_MAX;
  return index < lines->nodes.count ? lines->nodes.data[index] : 0;
}

int32_t aj_air_func_line(const aj_air_lines *lines, uint32_t func) {
  return func < lines->funcs.count ? lines->funcs.data[func].line : 0;
}

int32_t aj_air_slot_line(const aj_air_lines *lines, int64_t slot) {
  return slot >= 0 && slot < (int64_t)lines->slots.count ? lines->slots.data[slot] : 0;
}

void aj_air_lines_free(aj_air_lines *lines) {
  AJ_VEC_FREE(lines->mem, &lines->nodes);
  AJ_VEC_FREE(lines->mem, &lines->funcs);
  AJ_VEC_FREE(lines->mem, &lines->slots);
}
