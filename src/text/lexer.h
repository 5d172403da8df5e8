/* Tokens of .air text. Survives any bytes; allocates nothing. */
#ifndef AJ_TEXT_LEXER_H
#define AJ_TEXT_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum aj_token_kind {
  AJ_TOKEN_END,
  AJ_TOKEN_WORD,      /* letters, digits, '_', '.'; starts with a letter or '_' */
  AJ_TOKEN_VALUE,     /* %name */
  AJ_TOKEN_FUNC,      /* @name or @"name" */
  AJ_TOKEN_LOCAL_DIM, /* $3 */
  AJ_TOKEN_NODE_DIM,  /* ?3 */
  AJ_TOKEN_STRING,    /* with its quotes */
  AJ_TOKEN_NUMBER,    /* unsigned: starts with a digit */
  AJ_TOKEN_ARROW,     /* -> */
  AJ_TOKEN_FLOOR_DIV, /* two slashes between the brackets of a shape */
  AJ_TOKEN_DOTS,      /* ... */
  AJ_TOKEN_PUNCT,     /* one of ( ) { } [ ] , : = + - * ? */
  AJ_TOKEN_BAD_BYTE,
  AJ_TOKEN_OPEN_STRING
} aj_token_kind;

typedef struct aj_token {
  aj_token_kind kind;
  const char *text;
  size_t length;
  int32_t line, column; /* from 1, in bytes */
} aj_token;

typedef struct aj_lexer {
  const char *next, *end, *line_start;
  int32_t line;
  bool in_shape; /* two slashes are a floor division, not a comment */
} aj_lexer;

void aj_lexer_init(aj_lexer *lexer, const char *text, size_t bytes);
void aj_lexer_next(aj_lexer *lexer, aj_token *out);
/* Whether `text` is one WORD token (so that it needs no quotes). */
bool aj_lexer_is_word(const char *text);

#endif
