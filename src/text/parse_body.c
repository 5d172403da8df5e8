/* Bodies of functions: nodes and regions, with a stack of open regions. A node is made when its operands and attributes
 * have been read, without result types; it is typed and put into its region behind its last region. */
#include <string.h>

#include "text/parser.h"

/* ---- what stands before regions ---- */

static bool parse_result_names(aj_parser *p) {
  p->results.count = 0;
  while (p->token.kind == AJ_TOKEN_VALUE) {
    if (!AJ_VEC_PUSH(p->mem, &p->results, p->token)) return aj_parser_no_memory(p);
    aj_parser_advance(p);
    if (aj_parser_take(p, '=')) return true;
    if (!aj_parser_take(p, ',')) return aj_parser_expected(p, "',' or '='");
    if (p->token.kind != AJ_TOKEN_VALUE) return aj_parser_expected(p, "the name of a result");
  }
  return true;
}

static bool parse_operands(aj_parser *p) {
  p->operands.count = 0;
  while (p->token.kind == AJ_TOKEN_VALUE) {
    const aj_name_entry *found = aj_parser_lookup(p, AJ_SPACE_VALUE, p->scope, p->token.text, p->token.length);
    if (!found) return aj_parser_fail(p, &p->token, AJ_AIR_VALUE_UNKNOWN, aj_parser_token_text(&p->token).s);
    if (!AJ_VEC_PUSH(p->mem, &p->operands, found->value)) return aj_parser_no_memory(p);
    aj_parser_advance(p);
    if (!aj_parser_take(p, ',')) return true;
    if (p->token.kind != AJ_TOKEN_VALUE) return aj_parser_expected(p, "an operand '%name'");
  }
  return true;
}

static bool bind_results(aj_parser *p, aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_token *name = &p->results.data[i];
    if (aj_parser_lookup(p, AJ_SPACE_VALUE, p->scope, name->text, name->length))
      return aj_parser_fail(p, name, AJ_AIR_VALUE_TWICE, aj_parser_token_text(name).s);
    aj_name_entry entry = {.space = AJ_SPACE_VALUE,
                           .scope = p->scope,
                           .text = name->text,
                           .length = name->length,
                           .value = &node->results[i]};
    if (!aj_parser_bind(p, &entry)) return false;
  }
  return true;
}

/* From p->operands, p->attrs and as many results as p->results names, typed later. */
static bool make_node(aj_parser *p, aj_op op, aj_node **out) {
  const aj_type *untyped = aj_module_exn_type(p->module);
  uint32_t count = (uint32_t)p->results.count;
  const aj_type **types = aj_arena_array(&p->scratch, count, sizeof *types);
  if (!untyped || !types) return aj_parser_no_memory(p);
  for (uint32_t i = 0; i < count; i++) types[i] = untyped;
  *out = aj_node_create(p->func, op, (uint32_t)p->operands.count, p->operands.data, (uint32_t)p->attrs.count,
                        p->attrs.data, count, types, 0);
  if (!*out) return aj_parser_no_memory(p);
  aj_region *region = p->frames.data[p->frames.count - 1].region;
  (*out)->parent = region;
  for (uint32_t i = 0; i < count; i++) (*out)->results[i].region = region;
  return true;
}

static bool parse_types(aj_parser *p) {
  p->types.count = 0;
  if (!aj_parser_take(p, ':')) return true;
  do {
    const aj_type *type;
    if (!aj_parser_type(p, &type)) return false;
    if (!AJ_VEC_PUSH(p->mem, &p->types, type)) return aj_parser_no_memory(p);
  } while (aj_parser_take(p, ','));
  return true;
}

/* A constant's literal can be read only when its type, which comes behind, is known: so it is read twice. */
static bool parse_const(aj_parser *p) {
  aj_lexer lexer = p->lexer;
  aj_token token = p->token;
  if (!aj_parser_literal(p, ARRJIT_DTYPE_NONE)) return false;
  aj_token colon = p->token;
  if (!aj_parser_is(p, ':')) return aj_parser_expected(p, "':' and the constant's type");
  if (!parse_types(p)) return false;
  const aj_type *type = p->types.data[0];
  bool plain = p->types.count == 1 && !type->is_exn;
  for (int32_t i = 0; plain && i < type->rank; i++) plain = !aj_dim_is_symbol(type->dims[i]);
  char text[128];
  aj_type_print(p->module, type, text, sizeof text);
  if (!plain) return aj_parser_fail(p, &colon, AJ_AIR_VALUE_TYPE, p->types.count == 1 ? text : "several");
  aj_lexer behind = p->lexer;
  aj_token behind_token = p->token;
  p->lexer = lexer;
  p->token = token;
  if (!aj_parser_literal(p, type->dtype)) return false;
  p->lexer = behind;
  p->token = behind_token;
  p->module->const_bytes += p->text.count;
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_DTYPE, type->dtype),
                           aj_attr_ints(AJ_ATTR_SHAPE, (size_t)type->rank, type->dims),
                           aj_attr_bytes(AJ_ATTR_VALUE, p->text.data, p->text.count)};
  for (size_t i = 0; i < AJ_COUNT(attrs); i++)
    if (!AJ_VEC_PUSH(p->mem, &p->attrs, attrs[i])) return aj_parser_no_memory(p);
  return true;
}

static bool count_node(aj_parser *p, const aj_token *at) {
  if ((int64_t)++p->module->node_total > p->limits.max_nodes)
    return aj_parser_fail(p, at, AJ_AIR_LIMIT_NODES, (long long)p->limits.max_nodes);
  if (p->lines && !AJ_VEC_PUSH(p->lines->mem, &p->lines->nodes, at->line)) return aj_parser_no_memory(p);
  return true;
}

static bool parse_head(aj_parser *p, aj_token *out_token, aj_node **out, bool *out_typed) {
  aj_region *region = p->frames.data[p->frames.count - 1].region;
  aj_token first = p->token;
  if (!parse_result_names(p)) return false;
  aj_token token = *out_token = p->token;
  const aj_node *end = aj_region_terminator(region);
  if (end) return aj_parser_fail(p, &first, AJ_AIR_AFTER_TERMINATOR, aj_ops[end->op].name);
  if (token.kind != AJ_TOKEN_WORD) return aj_parser_expected(p, p->results.count ? "an op" : "a node or '}'");
  aj_op op = aj_op_find(token.text, token.length);
  if (op == AJ_OP_NONE) return aj_parser_fail(p, &token, AJ_AIR_OP_UNKNOWN, aj_parser_token_text(&token).s);
  aj_parser_advance(p);
  aj_arena_reset(&p->scratch);
  p->attrs.count = 0;
  p->operands.count = 0;
  *out_typed = aj_ops[op].attrs >> AJ_ATTR_VALUE & 1;
  if (!count_node(p, &first)) return false;
  if (*out_typed ? !parse_const(p) : !parse_operands(p)) return false;
  if (!*out_typed && aj_parser_is(p, '{') && !aj_parser_attrs(p)) return false;
  return make_node(p, op, out) && bind_results(p, *out);
}

/* ---- what stands behind regions ---- */

static bool parse_tag(aj_parser *p, aj_source *out) {
  int64_t line;
  if (aj_parser_take_word(p, "at")) {
    if (!aj_parser_string(p, "a file in quotes", &out->file) || !aj_parser_expect(p, ':')) return false;
    aj_token token = p->token;
    if (!aj_parser_i64(p, &line)) return false;
    if (line < 0 || line > INT32_MAX) return aj_parser_fail(p, &token, AJ_AIR_LINE_RANGE);
    out->line = (int32_t)line;
  }
  return !aj_parser_take_word(p, "label") || aj_parser_string(p, "a label in quotes", &out->label);
}

/* Inferred types against how many results are named and which types are given (p->types). */
static bool check_types(aj_parser *p, const aj_token *at, aj_node *node, uint32_t count, const aj_type *const *types) {
  const char *op = aj_ops[node->op].name;
  if (count != node->result_count) return aj_parser_fail(p, at, AJ_AIR_RESULT_COUNT, op, count, node->result_count);
  if (count != p->types.count) return aj_parser_fail(p, at, AJ_AIR_TYPE_COUNT, op, count, (uint32_t)p->types.count);
  for (uint32_t i = 0; i < count; i++) {
    if (aj_type_equal(types[i], p->types.data[i])) {
      node->results[i].type = types[i];
      continue;
    }
    char inferred[128], given[128];
    aj_type_print(p->module, types[i], inferred, sizeof inferred);
    aj_type_print(p->module, p->types.data[i], given, sizeof given);
    return aj_parser_fail(p, at, AJ_AIR_TYPE_DIFFERS, i, op, inferred, given);
  }
  return true;
}

static bool finish_node(aj_parser *p, const aj_token *at, aj_node *node, bool typed) {
  arrjit_error error;
  if ((!typed && !parse_types(p)) || !parse_tag(p, &node->source)) return false;
  aj_infer in = {.func = p->func,
                 .op = node->op,
                 .operand_count = node->operand_count,
                 .operands = node->operands,
                 .attrs_of = node,
                 .error = &error};
  aj_error_clear(&error);
  bool ok = aj_infer_types(&in) == ARRJIT_OK ||
            (p->module->arena.failed ? aj_parser_no_memory(p) : aj_parser_refuse(p, at, &error));
  ok = ok && check_types(p, at, node, (uint32_t)in.results.count, in.results.data);
  AJ_VEC_FREE(p->mem, &in.results);
  if (!ok) return false;
  return aj_region_append(p->frames.data[p->frames.count - 1].region, node) || aj_parser_no_memory(p);
}

/* ---- regions ---- */

static bool open_region(aj_parser *p, const aj_parse_frame *frame) {
  if ((int64_t)p->frames.count >= p->limits.max_nesting)
    return aj_parser_fail(p, &p->token, AJ_AIR_LIMIT_NESTING, (long long)p->limits.max_nesting);
  p->scope = frame->scope;
  return AJ_VEC_PUSH(p->mem, &p->frames, *frame) || aj_parser_no_memory(p);
}

static bool parse_region_param(aj_parser *p, aj_region *region, uint32_t scope) {
  aj_token name = p->token;
  const aj_type *type;
  if (name.kind != AJ_TOKEN_VALUE) return aj_parser_expected(p, "a parameter '%name' or ')'");
  aj_parser_advance(p);
  if (!aj_parser_expect(p, ':') || !aj_parser_type(p, &type)) return false;
  if (aj_parser_lookup(p, AJ_SPACE_VALUE, scope, name.text, name.length))
    return aj_parser_fail(p, &name, AJ_AIR_VALUE_TWICE, aj_parser_token_text(&name).s);
  aj_value *param = aj_region_add_param(region, type);
  if (!param) return aj_parser_no_memory(p);
  aj_name_entry entry = {
      .space = AJ_SPACE_VALUE, .scope = scope, .text = name.text, .length = name.length, .value = param};
  return aj_parser_bind(p, &entry);
}

/* "(%a: type, ...) {" of a node's next region. */
static bool start_region(aj_parser *p, const aj_token *at, aj_node *owner, size_t first_region) {
  aj_region *region = aj_region_create(p->func, owner, (uint32_t)(p->regions.count - first_region));
  aj_parse_frame frame = {region, p->scope_count++, owner, *at, first_region};
  if (!region) return aj_parser_no_memory(p);
  if (!aj_parser_expect(p, '(')) return false;
  while (!aj_parser_is(p, ')'))
    if ((region->param_count && !aj_parser_expect(p, ',')) || !parse_region_param(p, region, frame.scope)) return false;
  return aj_parser_expect(p, ')') && aj_parser_expect(p, '{') && open_region(p, &frame);
}

/* The regions from first_region on are all of the node's. */
static bool attach_regions(aj_parser *p, aj_node *node, size_t first_region) {
  size_t count = p->regions.count - first_region;
  node->regions = aj_arena_copy(&p->module->arena, p->regions.data + first_region, count * sizeof *node->regions);
  if (!node->regions) return aj_parser_no_memory(p);
  node->region_count = (uint32_t)count;
  p->regions.count = first_region;
  return true;
}

static bool end_region(aj_parser *p) {
  aj_parse_frame frame = p->frames.data[p->frames.count - 1];
  if (!aj_region_terminator(frame.region)) return aj_parser_fail(p, &p->token, AJ_AIR_NO_TERMINATOR);
  aj_parser_advance(p);
  p->frames.count--;
  if (!frame.owner) return true;
  p->scope = p->frames.data[p->frames.count - 1].scope;
  if (!AJ_VEC_PUSH(p->mem, &p->regions, frame.region)) return aj_parser_no_memory(p);
  if (aj_parser_is(p, '(')) return start_region(p, &frame.owner_token, frame.owner, frame.first_region);
  return attach_regions(p, frame.owner, frame.first_region) && finish_node(p, &frame.owner_token, frame.owner, false);
}

static bool parse_node(aj_parser *p) {
  aj_token at;
  aj_node *node = NULL;
  bool typed = false;
  if (!parse_head(p, &at, &node, &typed)) return false;
  if (aj_parser_is(p, '(')) return start_region(p, &at, node, p->regions.count);
  return finish_node(p, &at, node, typed);
}

static bool note_func(aj_parser *p, const aj_func *func) {
  if (!p->lines) return true;
  while (p->lines->funcs.count <= func->index)
    if (!AJ_VEC_PUSH(p->lines->mem, &p->lines->funcs, (aj_air_func_lines){0})) return aj_parser_no_memory(p);
  p->lines->funcs.data[func->index] = (aj_air_func_lines){p->token.line, (uint32_t)p->lines->nodes.count};
  return true;
}

bool aj_parser_body(aj_parser *p, aj_func *func) {
  aj_parse_frame root = {.region = func->root, .scope = p->scope};
  p->frames.count = p->regions.count = 0;
  if (!note_func(p, func) || !aj_parser_expect(p, '{') || !open_region(p, &root)) return false;
  while (p->frames.count)
    if (aj_parser_is(p, '}') ? !end_region(p) : !parse_node(p)) return false;
  return true;
}
