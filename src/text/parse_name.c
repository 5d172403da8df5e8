/* Names, strings, numbers and kinds of the .air parser. */
#include <string.h>

#include "text/element.h"
#include "text/parser.h"
#include "text/printer.h"

/* ---- strings ---- */

/* The character after a backslash at s (before end); 0: no such escape. *used: how many bytes stand for it. */
static char read_escape(const char *s, const char *end, size_t *used) {
  static const char from[] = "nrt\"\\", to[] = "\n\r\t\"\\";
  const char *simple = *s ? strchr(from, *s) : NULL;
  *used = 1;
  if (simple) return to[simple - from];
  if (*s != 'x' || end - s < 3 || aj_element_hex_digit(s[1]) < 0 || aj_element_hex_digit(s[2]) < 0) return 0;
  *used = 3;
  return (char)(aj_element_hex_digit(s[1]) * 16 + aj_element_hex_digit(s[2]));
}

/* s is behind the opening quote, end at the closing one; into p->text. */
static bool decode(aj_parser *p, const aj_token *token, const char *s, const char *end) {
  p->text.count = 0;
  aj_text_puts(&p->text, "");
  while (s < end) {
    const char *plain = s;
    while (s < end && *s != '\\' && *s) s++;
    aj_text_add(&p->text, plain, (size_t)(s - plain));
    if (s == end) break;
    size_t used;
    char c = *s ? read_escape(s + 1, end, &used) : 0; /* a string of C holds no zero byte */
    if (!c) return aj_parser_fail(p, token, AJ_AIR_BAD_ESCAPE);
    aj_text_add(&p->text, &c, 1);
    s += 1 + used;
  }
  return !p->text.failed || aj_parser_no_memory(p);
}

static bool intern(aj_parser *p, const char **out) {
  *out = aj_module_text(p->module, p->text.data, p->text.count);
  return *out || aj_parser_no_memory(p);
}

bool aj_parser_string(aj_parser *p, const char *what, const char **out) {
  aj_token token = p->token;
  if (token.kind != AJ_TOKEN_STRING) return aj_parser_expected(p, what);
  if (!decode(p, &token, token.text + 1, token.text + token.length - 1) || !intern(p, out)) return false;
  aj_parser_advance(p);
  return true;
}

bool aj_parser_name(aj_parser *p, const char *what, const char **out) {
  if (p->token.kind != AJ_TOKEN_WORD) return aj_parser_string(p, what, out);
  *out = aj_module_text(p->module, p->token.text, p->token.length);
  if (!*out) return aj_parser_no_memory(p);
  aj_parser_advance(p);
  return true;
}

/* ---- functions ---- */

bool aj_parser_func_name(aj_parser *p, const char **out, aj_token *out_token) {
  aj_token token = *out_token = p->token;
  if (token.kind != AJ_TOKEN_FUNC) return aj_parser_expected(p, "a function '@name'");
  if (token.text[1] == '"') {
    if (!decode(p, &token, token.text + 2, token.text + token.length - 1) || !intern(p, out)) return false;
  } else if (!(*out = aj_module_text(p->module, token.text + 1, token.length - 1))) {
    return aj_parser_no_memory(p);
  }
  aj_parser_advance(p);
  return true;
}

bool aj_parser_func(aj_parser *p, bool has_signature, int64_t *out) {
  aj_token token;
  const char *name;
  if (!aj_parser_func_name(p, &name, &token)) return false;
  const aj_name_entry *found = aj_parser_lookup(p, AJ_SPACE_FUNC, 0, name, strlen(name));
  if (!found || (has_signature && !p->declared.data[found->number]))
    return aj_parser_fail(p, &token, AJ_AIR_FUNC_UNKNOWN, name);
  *out = found->number;
  return true;
}

/* ---- numbers ---- */

bool aj_parser_i64(aj_parser *p, int64_t *out) {
  bool negative = aj_parser_take(p, '-');
  aj_token token = p->token;
  if (token.kind != AJ_TOKEN_NUMBER) return aj_parser_expected(p, "a whole number");
  switch (aj_element_parse(ARRJIT_I64, negative, token.text, token.length, out)) {
  case AJ_ELEMENT_FORM:
    return aj_parser_fail(p, &token, AJ_AIR_NUMBER_FORM, aj_parser_token_text(&token).s, "whole number");
  case AJ_ELEMENT_RANGE:
    return aj_parser_fail(p, &token, AJ_AIR_NUMBER_RANGE, negative ? "-" : "", (int)token.length, token.text, "i64");
  case AJ_ELEMENT_OK: break;
  }
  aj_parser_advance(p);
  return true;
}

/* ---- kinds ---- */

bool aj_parser_kind(aj_parser *p, arrjit_kind *out) {
  aj_token token = p->token;
  const char *name;
  if (!aj_parser_name(p, "the name of a kind", &name)) return false;
  *out = aj_kinds_find(p->kinds, name, strlen(name));
  return *out != ARRJIT_KIND_NONE || aj_parser_fail(p, &token, AJ_AIR_KIND_UNKNOWN, name);
}

/* One field, or "...", appended to p->text as aj_printer_kind_fields writes it. */
static bool parse_field(aj_parser *p, bool first) {
  int64_t rank;
  arrjit_dtype dtype;
  if (!first && !aj_parser_expect(p, ',')) return false;
  if (!first) aj_text_puts(&p->text, ", ");
  if (p->token.kind == AJ_TOKEN_DOTS) {
    aj_text_puts(&p->text, "...");
    aj_parser_advance(p);
    return true;
  }
  if (!aj_parser_dtype(p, &dtype) || !aj_parser_expect(p, '[') || !aj_parser_i64(p, &rank) || !aj_parser_expect(p, ']'))
    return false;
  aj_text_printf(&p->text, "%s[%lld]", aj_dtypes[dtype].name, (long long)rank);
  return true;
}

/* Whether the kind of that name has this parent and these fields of its own. */
static bool is_same_kind(aj_parser *p, arrjit_kind kind, const char *parent) {
  const aj_kind_info *info = aj_kinds_get(p->kinds, kind);
  aj_text fields;
  aj_text_init(&fields, p->mem);
  aj_text_puts(&fields, "");
  aj_printer_kind_fields(p->kinds, kind, &fields);
  if (fields.failed) aj_parser_no_memory(p);
  bool same = !fields.failed && !strcmp(fields.data, p->text.data) &&
              !strcmp(aj_kinds_get(p->kinds, info->parent)->name, parent);
  aj_text_free(&fields);
  return same;
}

/* Parents come before children; a kind that the context has already must be the same. */
bool aj_parser_kind_line(aj_parser *p) {
  aj_token token = p->token, parent_token;
  const char *name, *parent_name;
  arrjit_error error;
  if (!aj_parser_name(p, "the name of a kind", &name) || !aj_parser_expect(p, ':')) return false;
  parent_token = p->token;
  if (!aj_parser_name(p, "the name of a kind", &parent_name) || !aj_parser_expect(p, '(')) return false;
  p->text.count = 0;
  aj_text_puts(&p->text, "");
  for (bool first = true; !aj_parser_is(p, ')'); first = false)
    if (!parse_field(p, first)) return false;
  if (!aj_parser_expect(p, ')')) return false;
  if (p->text.failed) return aj_parser_no_memory(p);
  arrjit_kind kind = aj_kinds_find(p->kinds, name, strlen(name));
  arrjit_kind parent = aj_kinds_find(p->kinds, parent_name, strlen(parent_name));
  if (parent == ARRJIT_KIND_NONE) return aj_parser_fail(p, &parent_token, AJ_AIR_KIND_UNKNOWN, parent_name);
  if (kind != ARRJIT_KIND_NONE)
    return is_same_kind(p, kind, parent_name) || aj_parser_fail(p, &token, AJ_AIR_KIND_DIFFERS, name);
  if (aj_kinds_add(p->kinds, name, parent, p->text.data, &kind, &error) == ARRJIT_OK) return true;
  if (error.status == ARRJIT_MEMORY) return aj_parser_no_memory(p);
  return aj_parser_fail(p, &token, AJ_AIR_KIND_REFUSED, name, error.message);
}
