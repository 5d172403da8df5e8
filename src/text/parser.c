/* The parser of .air: failing, tokens, names. Its entry is in parse_module.c. */
#include "text/parser.h"

#include <string.h>

static const struct {
  arrjit_status status;
  const char *format;
} messages[] = {
#define AIR_MESSAGE(ID, status, format) {ARRJIT_##status, format},
#include "text/messages.def"
#undef AIR_MESSAGE
};

const char *aj_air_message(size_t index) { return index < AJ_AIR_MESSAGE_COUNT ? messages[index].format : NULL; }

/* ---- failing ---- */

static bool fail(aj_parser *p, const aj_token *at, arrjit_status status, const char *message) {
  if (p->failed) return false;
  p->failed = true;
  aj_error_set(&p->error, status, "column %ld: %s", (long)at->column, message);
  p->error.line = (int)at->line;
  size_t length = strlen(p->name), room = sizeof p->error.file - 1;
  memcpy(p->error.file, length > room ? p->name + (length - room) : p->name, (length > room ? room : length) + 1);
  return false;
}

bool aj_parser_fail(aj_parser *p, const aj_token *at, aj_air_message_id message, ...) {
  char text[sizeof p->error.message];
  va_list args;
  va_start(args, message);
  aj_bounded_vprintf(text, sizeof text, messages[message].format, args);
  va_end(args);
  return fail(p, at, messages[message].status, text);
}

bool aj_parser_no_memory(aj_parser *p) {
  if (p->failed) return false;
  p->failed = true;
  aj_error_memory(&p->error, "a module");
  return false;
}

bool aj_parser_refuse(aj_parser *p, const aj_token *at, const arrjit_error *error) {
  if (error->status == ARRJIT_MEMORY) return aj_parser_no_memory(p);
  if (!p->failed) memcpy(p->error.op, error->op, sizeof p->error.op);
  return fail(p, at, error->status, error->message);
}

aj_token_text aj_parser_token_text(const aj_token *token) {
  enum { LONGEST_SHOWN = 32 };
  aj_token_text text;
  size_t shown = token->length < LONGEST_SHOWN ? token->length : LONGEST_SHOWN;
  if (token->kind == AJ_TOKEN_END) {
    aj_bounded_printf(text.s, sizeof text.s, "the end of the text");
    return text;
  }
  aj_bounded_printf(text.s, sizeof text.s, "'%.*s%s'", (int)shown, token->text, shown < token->length ? "..." : "");
  for (char *s = text.s; *s; s++)
    if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f) *s = '?';
  return text;
}

bool aj_parser_expected(aj_parser *p, const char *what) {
  return aj_parser_fail(p, &p->token, AJ_AIR_EXPECTED, what, aj_parser_token_text(&p->token).s);
}

/* ---- tokens ---- */

/* A token that is none; how it is shown depends on what a reader can see of it. */
static void fail_byte(aj_parser *p) {
  const char *at = p->token.text;
  char shown[24];
  if (*at == '%' || *at == '@' || *at == '$') {
    aj_parser_fail(p, &p->token, AJ_AIR_BARE_SIGIL, *at);
    return;
  }
  if (p->lexer.end - at >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
    aj_bounded_printf(shown, sizeof shown, "a byte-order mark");
  else if (*at > ' ' && *at < 127)
    aj_bounded_printf(shown, sizeof shown, "'%c'", *at);
  else
    aj_bounded_printf(shown, sizeof shown, "byte 0x%02x", (unsigned)(unsigned char)*at);
  aj_parser_fail(p, &p->token, AJ_AIR_BAD_BYTE, shown);
}

/* A bad token fails at once and reads as the end of the text, so that every loop ends. */
void aj_parser_advance(aj_parser *p) {
  aj_lexer_next(&p->lexer, &p->token);
  if (p->token.kind == AJ_TOKEN_BAD_BYTE) fail_byte(p);
  if (p->token.kind == AJ_TOKEN_OPEN_STRING) aj_parser_fail(p, &p->token, AJ_AIR_OPEN_STRING);
  if (!p->failed) return;
  p->lexer.next = p->lexer.end;
  p->token.kind = AJ_TOKEN_END;
}

bool aj_parser_is(const aj_parser *p, char punct) { return p->token.kind == AJ_TOKEN_PUNCT && *p->token.text == punct; }

bool aj_parser_is_word(const aj_parser *p, const char *word) {
  return p->token.kind == AJ_TOKEN_WORD && p->token.length == strlen(word) &&
         !memcmp(p->token.text, word, p->token.length);
}

bool aj_parser_take(aj_parser *p, char punct) {
  if (!aj_parser_is(p, punct)) return false;
  aj_parser_advance(p);
  return true;
}

bool aj_parser_take_word(aj_parser *p, const char *word) {
  if (!aj_parser_is_word(p, word)) return false;
  aj_parser_advance(p);
  return true;
}

bool aj_parser_expect(aj_parser *p, char punct) {
  if (aj_parser_take(p, punct)) return true;
  return aj_parser_expected(p, (char[]){'\'', punct, '\'', 0});
}

/* ---- names ---- */

static bool equal_entry(const void *user, uint32_t index, const void *key) {
  const aj_name_entry *have = &((const aj_parser *)user)->names.data[index], *wanted = key;
  return have->space == wanted->space && have->scope == wanted->scope && have->length == wanted->length &&
         !memcmp(have->text, wanted->text, have->length);
}

static uint64_t hash_entry(const aj_name_entry *entry) {
  return aj_hash_bytes(entry->text, entry->length,
                       aj_hash_u64((uint64_t)entry->scope << 8 | (uint64_t)entry->space, 0));
}

bool aj_parser_bind(aj_parser *p, const aj_name_entry *entry) {
  if (AJ_VEC_PUSH(p->mem, &p->names, *entry) &&
      aj_map_put(&p->name_map, hash_entry(entry), (uint32_t)p->names.count - 1))
    return true;
  return aj_parser_no_memory(p);
}

const aj_name_entry *aj_parser_lookup(const aj_parser *p, aj_name_space space, uint32_t scope, const char *text,
                                      size_t length) {
  aj_name_entry key = {.space = space, .scope = scope, .text = text, .length = length};
  uint32_t found = aj_map_find(&p->name_map, hash_entry(&key), equal_entry, p, &key);
  return found == AJ_MAP_NONE ? NULL : &p->names.data[found];
}
