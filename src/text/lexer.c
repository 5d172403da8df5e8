/* Tokens of .air text: one function a shape of token, no state but the place. */
#include "text/lexer.h"

#include <string.h>

void aj_lexer_init(aj_lexer *lexer, const char *text, size_t bytes) {
  *lexer = (aj_lexer){.next = text, .end = text + bytes, .line_start = text, .line = 1};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

bool aj_lexer_is_word(const char *text) {
  if (!is_letter(*text)) return false;
  while (is_name(*text)) text++;
  return !*text;
}

static void skip_blanks(aj_lexer *lexer) {
  while (lexer->next < lexer->end) {
    char c = *lexer->next;
    bool comment = c == '/' && lexer->next + 1 < lexer->end && lexer->next[1] == '/' && !lexer->in_shape;
    if (c == '\n') {
      lexer->line_start = ++lexer->next;
      if (lexer->line < INT32_MAX) lexer->line++;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      lexer->next++;
    } else if (comment) {
      const char *eol = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
      lexer->next = eol ? eol : lexer->end;
    } else {
      return;
    }
  }
}

/* Digits, letters and points; a sign only right after the exponent's letter. */
static const char *number_end(const char *s, const char *end) {
  bool hex = s + 1 < end && s[0] == '0' && s[1] == 'x';
  for (; s < end; s++) {
    bool exponent = hex ? *s == 'p' || *s == 'P' : *s == 'e' || *s == 'E';
    if (exponent && s + 2 < end && (s[1] == '-' || s[1] == '+') && is_digit(s[2]))
      s++;
    else if (!is_name(*s))
      break;
  }
  return s;
}

static const char *name_end(const char *s, const char *end) {
  while (s < end && is_name(*s)) s++;
  return s;
}

/* s is at the opening quote; NULL when the line ends first. */
static const char *string_end(const char *s, const char *end) {
  for (s++; s < end && *s != '\n'; s++) {
    if (*s == '"') return s + 1;
    if (*s == '\\' && s + 1 < end) s++;
  }
  return NULL;
}

static const char *sigil_end(const char *s, const char *end, aj_token_kind *kind) {
  const char *stop = s;
  if (*s == '@' && s + 1 < end && s[1] == '"') {
    stop = string_end(s + 1, end);
    if (!stop) {
      *kind = AJ_TOKEN_OPEN_STRING;
      return end;
    }
  } else {
    stop = name_end(s + 1, end);
  }
  *kind = stop == s + 1 ? AJ_TOKEN_BAD_BYTE
          : *s == '%'   ? AJ_TOKEN_VALUE
          : *s == '@'   ? AJ_TOKEN_FUNC
                        : AJ_TOKEN_LOCAL_DIM;
  return stop;
}

static const char *token_end(const aj_lexer *lexer, aj_token_kind *kind) {
  const char *s = lexer->next, *end = lexer->end;
  size_t left = (size_t)(end - s);
  if (is_letter(*s)) return *kind = AJ_TOKEN_WORD, name_end(s, end);
  if (is_digit(*s)) return *kind = AJ_TOKEN_NUMBER, number_end(s, end);
  if (*s == '%' || *s == '@' || *s == '$') return sigil_end(s, end, kind);
  if (*s == '?' && left >= 2 && is_digit(s[1])) return *kind = AJ_TOKEN_NODE_DIM, name_end(s + 1, end);
  if (*s == '"') {
    const char *stop = string_end(s, end);
    return *kind = stop ? AJ_TOKEN_STRING : AJ_TOKEN_OPEN_STRING, stop ? stop : end;
  }
  if (left >= 2 && !memcmp(s, "->", 2)) return *kind = AJ_TOKEN_ARROW, s + 2;
  if (left >= 2 && !memcmp(s, "//", 2)) return *kind = AJ_TOKEN_FLOOR_DIV, s + 2;
  if (left >= 3 && !memcmp(s, "...", 3)) return *kind = AJ_TOKEN_DOTS, s + 3;
  *kind = *s && strchr("(){}[],:=+-*?", *s) ? AJ_TOKEN_PUNCT : AJ_TOKEN_BAD_BYTE;
  return s + 1;
}

void aj_lexer_next(aj_lexer *lexer, aj_token *out) {
  skip_blanks(lexer);
  ptrdiff_t column = lexer->next - lexer->line_start + 1;
  *out =
      (aj_token){.text = lexer->next, .line = lexer->line, .column = column < INT32_MAX ? (int32_t)column : INT32_MAX};
  if (lexer->next >= lexer->end) return;
  const char *stop = token_end(lexer, &out->kind);
  out->length = (size_t)(stop - lexer->next);
  lexer->next = stop;
}
