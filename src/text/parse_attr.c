/* Attributes and constant literals of the .air parser. */
#include <string.h>

#include "text/element.h"
#include "text/parser.h"
#include "text/printer.h"

/* ---- attributes ---- */

static bool parse_op_name(aj_parser *p, int64_t *out) {
  if (p->token.kind != AJ_TOKEN_WORD) return aj_parser_expected(p, "an op");
  bool none = aj_parser_is_word(p, aj_ops[AJ_OP_NONE].name);
  *out = (int64_t)aj_op_find(p->token.text, p->token.length);
  if (*out == AJ_OP_NONE && !none)
    return aj_parser_fail(p, &p->token, AJ_AIR_OP_UNKNOWN, aj_parser_token_text(&p->token).s);
  aj_parser_advance(p);
  return true;
}

static bool parse_int_of(aj_parser *p, aj_ints_meaning meaning, int64_t *out) {
  arrjit_kind kind;
  switch (meaning) {
  case AJ_INTS_NUMBERS: return aj_parser_i64(p, out);
  case AJ_INTS_OPS: return parse_op_name(p, out);
  case AJ_INTS_KINDS: break;
  }
  if (!aj_parser_kind(p, &kind)) return false;
  *out = kind;
  return true;
}

static bool parse_ints(aj_parser *p, aj_ints_meaning meaning) {
  size_t before = p->ints.count;
  if (!aj_parser_expect(p, '[')) return false;
  while (!aj_parser_is(p, ']')) {
    int64_t value;
    if (p->ints.count > before && !aj_parser_expect(p, ',')) return false;
    if (!parse_int_of(p, meaning, &value)) return false;
    if (!AJ_VEC_PUSH(p->mem, &p->ints, value)) return aj_parser_no_memory(p);
  }
  return aj_parser_expect(p, ']');
}

/* A list of the form "[...]" that lives in the scratch arena until the node is made. */
static bool parse_list(aj_parser *p, aj_attr *attr, bool dims) {
  size_t before = p->ints.count;
  if (dims ? !aj_parser_dims(p) : !parse_ints(p, aj_printer_ints_meaning(attr->name))) return false;
  attr->count = (uint32_t)(p->ints.count - before);
  attr->u.ints = aj_arena_array(&p->scratch, attr->count, sizeof *p->ints.data);
  if (!attr->u.ints) return aj_parser_no_memory(p);
  if (attr->count) memcpy((void *)(uintptr_t)attr->u.ints, p->ints.data + before, attr->count * sizeof *p->ints.data);
  p->ints.count = before;
  return true;
}

static bool parse_text(aj_parser *p, aj_attr *attr) {
  if (aj_parser_take_word(p, "none")) return true;
  if (!aj_parser_string(p, "a string or 'none'", &attr->u.text)) return false;
  attr->count = (uint32_t)strlen(attr->u.text);
  return true;
}

static bool parse_slot(aj_parser *p, int64_t *out) {
  aj_token token = p->token;
  const char *name;
  if (!aj_parser_name(p, "the name of a slot", &name)) return false;
  const aj_name_entry *slot = aj_parser_lookup(p, AJ_SPACE_SLOT, 0, name, strlen(name));
  if (!slot) return aj_parser_fail(p, &token, AJ_AIR_SLOT_UNKNOWN, name);
  *out = slot->number;
  return true;
}

static bool parse_attr_value(aj_parser *p, aj_attr *attr) {
  arrjit_kind kind;
  arrjit_dtype dtype;
  switch (aj_attrs[attr->name].form) {
  case AJ_FORM_INT: return aj_parser_i64(p, &attr->u.i);
  case AJ_FORM_INTS: return parse_list(p, attr, false);
  case AJ_FORM_DIMS: return parse_list(p, attr, true);
  case AJ_FORM_TEXT: return parse_text(p, attr);
  case AJ_FORM_SLOT: return parse_slot(p, &attr->u.i);
  case AJ_FORM_FUNC: return aj_parser_func(p, true, &attr->u.i);
  case AJ_FORM_DTYPE: return aj_parser_dtype(p, &dtype) && (attr->u.i = dtype, true);
  case AJ_FORM_KIND: return aj_parser_kind(p, &kind) && (attr->u.i = kind, true);
  case AJ_FORM_BYTES: break; /* a literal, behind the op's name */
  }
  return aj_parser_expected(p, "no value: it stands behind the op's name");
}

bool aj_parser_attrs(aj_parser *p) {
  uint64_t seen = 0;
  if (!aj_parser_expect(p, '{')) return false;
  while (!aj_parser_is(p, '}')) {
    if (seen && !aj_parser_expect(p, ',')) return false;
    aj_token token = p->token;
    if (token.kind != AJ_TOKEN_WORD) return aj_parser_expected(p, "an attribute");
    aj_attr attr = {.name = aj_attr_find(token.text, token.length)};
    if (attr.name == AJ_ATTR_COUNT)
      return aj_parser_fail(p, &token, AJ_AIR_ATTR_UNKNOWN, aj_parser_token_text(&token).s);
    if (seen >> attr.name & 1) return aj_parser_fail(p, &token, AJ_AIR_ATTR_TWICE, aj_attrs[attr.name].name);
    seen |= (uint64_t)1 << attr.name;
    aj_parser_advance(p);
    if (!aj_parser_expect(p, '=') || !parse_attr_value(p, &attr)) return false;
    if (!AJ_VEC_PUSH(p->mem, &p->attrs, attr)) return aj_parser_no_memory(p);
  }
  return aj_parser_expect(p, '}');
}

/* ---- literals ---- */

static bool add_bytes(aj_parser *p, const void *bytes, size_t count) {
  int64_t most = p->limits.max_const_bytes < UINT32_MAX ? p->limits.max_const_bytes : UINT32_MAX;
  if ((int64_t)(p->module->const_bytes + p->text.count) + (int64_t)count > most)
    return aj_parser_fail(p, &p->token, AJ_AIR_LIMIT_CONST, (long long)most);
  aj_text_add(&p->text, bytes, count);
  return !p->text.failed || aj_parser_no_memory(p);
}

/* "nan(0x...)" behind its "nan"; `nan` for messages. */
static bool parse_nan(aj_parser *p, const aj_token *nan, arrjit_dtype dtype, void *element, aj_element_status *out) {
  *out = AJ_ELEMENT_FORM;
  aj_parser_advance(p);
  aj_token bits = p->token;
  if (bits.kind != AJ_TOKEN_NUMBER) return aj_parser_expected(p, "the bits of a NaN");
  if (nan->length == 3 && !memcmp(nan->text, "nan", 3) && dtype != ARRJIT_DTYPE_NONE)
    *out = aj_element_parse_nan(dtype, bits.text, bits.length, element);
  aj_parser_advance(p);
  return aj_parser_expect(p, ')');
}

static bool parse_number(aj_parser *p, arrjit_dtype dtype) {
  bool negative = aj_parser_take(p, '-');
  aj_token token = p->token;
  uint64_t element = 0;
  aj_element_status status;
  if (token.kind != AJ_TOKEN_NUMBER && token.kind != AJ_TOKEN_WORD) return aj_parser_expected(p, "a constant");
  aj_parser_advance(p);
  if (aj_parser_is(p, '(') && !negative) {
    if (!parse_nan(p, &token, dtype, &element, &status)) return false;
  } else {
    status = aj_element_parse(dtype, negative, token.text, token.length, &element);
  }
  if (dtype == ARRJIT_DTYPE_NONE) return !p->failed;
  if (status == AJ_ELEMENT_FORM)
    return aj_parser_fail(p, &token, AJ_AIR_NUMBER_FORM, aj_parser_token_text(&token).s, aj_dtypes[dtype].name);
  if (status == AJ_ELEMENT_RANGE)
    return aj_parser_fail(p, &token, AJ_AIR_NUMBER_RANGE, negative ? "-" : "", (int)token.length, token.text,
                          aj_dtypes[dtype].name);
  return add_bytes(p, &element, aj_dtypes[dtype].bytes);
}

/* A number, or "(re, im)" of a complex dtype; dtype NONE: only reads over it. */
static bool parse_element(aj_parser *p, arrjit_dtype dtype) {
  bool pair = aj_parser_is(p, '(');
  if (pair != aj_dtype_is_complex(dtype) && dtype != ARRJIT_DTYPE_NONE)
    return aj_parser_expected(p, pair ? "one number" : "a complex number as (re, im)");
  if (!pair) return parse_number(p, dtype);
  arrjit_dtype part = aj_dtype_part(dtype);
  return aj_parser_expect(p, '(') && parse_number(p, part) && aj_parser_expect(p, ',') && parse_number(p, part) &&
         aj_parser_expect(p, ')');
}

static bool parse_hex(aj_parser *p, arrjit_dtype dtype) {
  aj_token token = p->token;
  if (token.kind != AJ_TOKEN_STRING) return aj_parser_expected(p, "a string of hexadecimal digits");
  const char *s = token.text + 1, *end = token.text + token.length - 1;
  bool whole = (end - s) % 2 == 0;
  for (; dtype != ARRJIT_DTYPE_NONE && whole && s < end;) {
    char chunk[256];
    size_t filled = 0;
    for (; whole && s < end && filled < sizeof chunk; s += 2) {
      int high = aj_element_hex_digit(s[0]), low = aj_element_hex_digit(s[1]);
      whole = high >= 0 && low >= 0;
      if (whole) chunk[filled++] = (char)(high * 16 + low);
    }
    if (whole && !add_bytes(p, chunk, filled)) return false;
  }
  if (!whole) return aj_parser_fail(p, &token, AJ_AIR_HEX_DIGITS);
  aj_parser_advance(p);
  return !p->failed;
}

bool aj_parser_literal(aj_parser *p, arrjit_dtype dtype) {
  p->text.count = 0;
  aj_text_puts(&p->text, "");
  if (aj_parser_take_word(p, "hex")) return parse_hex(p, dtype);
  if (!aj_parser_take(p, '[')) return parse_element(p, dtype);
  for (bool first = true; !aj_parser_is(p, ']'); first = false)
    if ((!first && !aj_parser_expect(p, ',')) || !parse_element(p, dtype)) return false;
  return aj_parser_expect(p, ']');
}
