/* Element types, extents and types of the .air parser. Extents are parsed by descent, their parentheses bounded. */
#include <string.h>

#include "text/element.h"
#include "text/parser.h"

enum { MOST_PARENTHESES = 32, NO_FUNC = -1 };

typedef struct extent {
  int64_t dim;
  int64_t func;
} extent; /* func: whose symbols it has, NO_FUNC when it is a number */

bool aj_parser_dtype(aj_parser *p, arrjit_dtype *out) {
  if (p->token.kind != AJ_TOKEN_WORD) return aj_parser_expected(p, "an element type");
  *out = aj_dtype_find(p->token.text, p->token.length);
  if (*out == ARRJIT_DTYPE_NONE)
    return aj_parser_fail(p, &p->token, AJ_AIR_DTYPE_UNKNOWN, aj_parser_token_text(&p->token).s);
  aj_parser_advance(p);
  return true;
}

/* ---- extents ---- */

/* a form b at token `at`. */
static bool combine(aj_parser *p, const aj_token *at, aj_symbol_form form, extent *a, const extent *b) {
  aj_module *m = p->module;
  if (a->func != NO_FUNC && b->func != NO_FUNC && a->func != b->func)
    return aj_parser_fail(p, at, AJ_AIR_DIM_MIXED, m->funcs.data[a->func]->name, m->funcs.data[b->func]->name);
  int64_t func = a->func != NO_FUNC ? a->func : b->func;
  aj_func *owner = func == NO_FUNC ? p->func : m->funcs.data[func];
  if (!aj_dim_make(owner, form, a->dim, b->dim, &a->dim))
    return m->arena.failed ? aj_parser_no_memory(p) : aj_parser_fail(p, at, AJ_AIR_DIM_RANGE);
  a->func = aj_dim_is_symbol(a->dim) ? func : NO_FUNC;
  return true;
}

/* "?3" of func, the third extent that its callbacks decide on. */
static bool parse_node_dim(aj_parser *p, aj_func *func, extent *out) {
  aj_token token = p->token;
  uint32_t number;
  aj_element_status status = aj_element_parse(ARRJIT_U32, false, token.text + 1, token.length - 1, &number);
  if (status == AJ_ELEMENT_FORM)
    return aj_parser_fail(p, &token, AJ_AIR_NUMBER_FORM, aj_parser_token_text(&token).s, "whole number");
  if (status == AJ_ELEMENT_RANGE || number >= INT32_MAX)
    return aj_parser_fail(p, &token, AJ_AIR_NUMBER_RANGE, "", (int)token.length, token.text, "i32");
  out->dim = aj_symbol_node(func, number);
  if (!out->dim) return aj_parser_no_memory(p);
  aj_parser_advance(p);
  return true;
}

static bool parse_symbol(aj_parser *p, extent *out) {
  aj_func *func = p->func;
  aj_token token = p->token;
  const char *name;
  int64_t index;
  if (token.kind == AJ_TOKEN_FUNC) {
    if (!aj_parser_func(p, false, &index) || !aj_parser_expect(p, ':')) return false;
    func = p->module->funcs.data[index];
    token = p->token;
  }
  out->func = (int64_t)func->index;
  if (token.kind == AJ_TOKEN_NODE_DIM) return parse_node_dim(p, func, out);
  if (token.kind == AJ_TOKEN_LOCAL_DIM) {
    const aj_name_entry *local = aj_parser_lookup(p, AJ_SPACE_DIM, func->index, token.text, token.length);
    if (!local) return aj_parser_fail(p, &token, AJ_AIR_DIM_UNKNOWN, aj_parser_token_text(&token).s, func->name);
    out->dim = local->number;
    aj_parser_advance(p);
    return true;
  }
  if (!aj_parser_name(p, "an extent", &name)) return false;
  out->dim = aj_symbol_named(func, name);
  return out->dim || aj_parser_no_memory(p);
}

static bool parse_sum(aj_parser *p, int depth, extent *out);

static bool parse_atom(aj_parser *p, int depth, extent *out) {
  if (p->token.kind == AJ_TOKEN_NUMBER) {
    out->func = NO_FUNC;
    return aj_parser_i64(p, &out->dim);
  }
  if (!aj_parser_is(p, '(')) return parse_symbol(p, out);
  if (depth == MOST_PARENTHESES) return aj_parser_fail(p, &p->token, AJ_AIR_DIM_DEPTH, MOST_PARENTHESES);
  aj_parser_advance(p);
  return parse_sum(p, depth + 1, out) && aj_parser_expect(p, ')');
}

static bool parse_product(aj_parser *p, int depth, extent *out) {
  if (!parse_atom(p, depth, out)) return false;
  while (aj_parser_is(p, '*') || p->token.kind == AJ_TOKEN_FLOOR_DIV) {
    aj_token at = p->token;
    extent right;
    aj_parser_advance(p);
    aj_symbol_form form = at.kind == AJ_TOKEN_FLOOR_DIV ? AJ_SYM_FLOOR_DIV : AJ_SYM_MUL;
    if (!parse_atom(p, depth, &right) || !combine(p, &at, form, out, &right)) return false;
  }
  return true;
}

static bool parse_sum(aj_parser *p, int depth, extent *out) {
  if (!parse_product(p, depth, out)) return false;
  while (aj_parser_is(p, '+') || aj_parser_is(p, '-')) {
    aj_token at = p->token;
    extent right;
    aj_parser_advance(p);
    aj_symbol_form form = *at.text == '+' ? AJ_SYM_ADD : aj_parser_take(p, '-') ? AJ_SYM_LESS : AJ_SYM_SUB;
    if (!parse_product(p, depth, &right) || !combine(p, &at, form, out, &right)) return false;
  }
  return true;
}

/* Between the brackets two slashes are an operator; the token behind them is read as ever. */
static bool close_shape(aj_parser *p) {
  p->lexer.in_shape = false;
  return aj_parser_expect(p, ']');
}

bool aj_parser_dims(aj_parser *p) {
  size_t before = p->ints.count;
  p->lexer.in_shape = true;
  if (!aj_parser_expect(p, '[')) return false;
  while (!aj_parser_is(p, ']')) {
    extent dim;
    if (p->ints.count > before && !aj_parser_expect(p, ',')) return false;
    if (p->dynamic_dims && aj_parser_take(p, '?'))
      dim.dim = ARRJIT_DYNAMIC_DIM;
    else if (!parse_sum(p, 0, &dim))
      return false;
    if (!AJ_VEC_PUSH(p->mem, &p->ints, dim.dim)) return aj_parser_no_memory(p);
  }
  return close_shape(p);
}

/* "dim @main:$0 = [n+m]" */
bool aj_parser_dim_line(aj_parser *p) {
  aj_token token;
  int64_t index;
  extent dim;
  if (!aj_parser_func(p, false, &index) || !aj_parser_expect(p, ':')) return false;
  token = p->token;
  if (token.kind != AJ_TOKEN_LOCAL_DIM) return aj_parser_expected(p, "'$' and a number");
  p->func = p->module->funcs.data[index];
  if (aj_parser_lookup(p, AJ_SPACE_DIM, p->func->index, token.text, token.length))
    return aj_parser_fail(p, &token, AJ_AIR_DIM_TWICE, aj_parser_token_text(&token).s, p->func->name);
  aj_parser_advance(p);
  if (!aj_parser_expect(p, '=')) return false;
  p->lexer.in_shape = true;
  if (!aj_parser_expect(p, '[') || !parse_sum(p, 0, &dim) || !close_shape(p)) return false;
  aj_name_entry entry = {
      .space = AJ_SPACE_DIM, .scope = p->func->index, .text = token.text, .length = token.length, .number = dim.dim};
  return aj_parser_bind(p, &entry);
}

/* ---- types ---- */

bool aj_parser_type(aj_parser *p, const aj_type **out) {
  arrjit_dtype dtype;
  aj_token at = p->token;
  size_t before = p->ints.count;
  if (aj_parser_take_word(p, "exn")) {
    *out = aj_module_exn_type(p->module);
    return *out || aj_parser_no_memory(p);
  }
  if (!aj_parser_dtype(p, &dtype) || (aj_parser_is(p, '[') && !aj_parser_dims(p))) return false;
  size_t rank = p->ints.count - before;
  if (rank > ARRJIT_MAX_RANK) return aj_parser_fail(p, &at, AJ_AIR_RANK, ARRJIT_MAX_RANK);
  *out = aj_module_type(p->module, dtype, (int32_t)rank, rank ? p->ints.data + before : NULL);
  p->ints.count = before;
  return *out || aj_parser_no_memory(p);
}
