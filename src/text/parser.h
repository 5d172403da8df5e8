/* What the files of the .air parser share. Everything that can fail returns false once the parser has failed; the first
 * failure stays. No function calls itself to a depth that the text decides, but for the parentheses of extents, which
 * are bounded. */
#ifndef AJ_TEXT_PARSER_H
#define AJ_TEXT_PARSER_H

#include "ir/symbol.h"
#include "text/air.h"
#include "text/lexer.h"

typedef enum aj_air_message_id {
#define AIR_MESSAGE(ID, status, format) AJ_AIR_##ID,
#include "text/messages.def"
#undef AIR_MESSAGE
  AJ_AIR_MESSAGE_COUNT
} aj_air_message_id;

typedef enum aj_name_space { AJ_SPACE_VALUE, AJ_SPACE_FUNC, AJ_SPACE_SLOT, AJ_SPACE_DIM } aj_name_space;
/* A name and what it stands for. `scope` is the region's serial number for values, the function for dims, else 0. */
typedef struct aj_name_entry {
  aj_name_space space;
  uint32_t scope;
  const char *text;
  size_t length;
  aj_value *value; /* AJ_SPACE_VALUE */
  int64_t number;  /* else: function, slot, extent */
} aj_name_entry;

typedef struct aj_parse_frame { /* an open region */
  aj_region *region;
  uint32_t scope;
  aj_node *owner; /* NULL: a function's root */
  aj_token owner_token;
  size_t first_region; /* of owner, in aj_parser.regions */
} aj_parse_frame;

typedef struct aj_parser {
  aj_mem *mem;
  aj_kinds *kinds;
  aj_module *module;
  const char *name;
  aj_air_limits limits;
  aj_air_lines *lines;
  arrjit_error error;
  bool failed;
  aj_lexer lexer;
  aj_token token;              /* the next one, not yet taken */
  aj_func *func;               /* whose symbols bare names are */
  bool dynamic_dims;           /* "?" is an extent here */
  uint32_t scope, scope_count; /* of the innermost region */
  aj_map name_map;
  AJ_VEC(aj_name_entry) names;
  AJ_VEC(aj_parse_frame) frames;
  AJ_VEC(aj_region *) regions; /* finished ones of nodes that are not finished */
  AJ_VEC(aj_token) results;    /* of the node being read */
  AJ_VEC(aj_value *) operands;
  AJ_VEC(const aj_type *) types;
  AJ_VEC(int64_t) ints;
  AJ_VEC(aj_attr) attrs;
  AJ_VEC(bool) defined; /* [function] */
  AJ_VEC(bool) declared;
  aj_text text;     /* decoded strings, constant data */
  aj_arena scratch; /* attributes of the node being read */
} aj_parser;

/* ---- parser.c ---- */
bool aj_parser_fail(aj_parser *p, const aj_token *at, aj_air_message_id message, ...);
bool aj_parser_no_memory(aj_parser *p);
/* Passes on the failure of another layer as the parser's own. */
bool aj_parser_refuse(aj_parser *p, const aj_token *at, const arrjit_error *error);
/* 'text' of a token for messages, cut when long, in `out`. */
typedef struct aj_token_text {
  char s[48];
} aj_token_text;
aj_token_text aj_parser_token_text(const aj_token *token);
bool aj_parser_expected(aj_parser *p, const char *what);
void aj_parser_advance(aj_parser *p);
bool aj_parser_is(const aj_parser *p, char punct);
bool aj_parser_is_word(const aj_parser *p, const char *word);
bool aj_parser_take(aj_parser *p, char punct);
bool aj_parser_take_word(aj_parser *p, const char *word);
bool aj_parser_expect(aj_parser *p, char punct);
bool aj_parser_bind(aj_parser *p, const aj_name_entry *entry);
const aj_name_entry *aj_parser_lookup(const aj_parser *p, aj_name_space space, uint32_t scope, const char *text,
                                      size_t length);

/* ---- parse_name.c: names, strings, numbers, kinds ---- */
/* A word or a string; interned in the module. */
bool aj_parser_name(aj_parser *p, const char *what, const char **out);
bool aj_parser_string(aj_parser *p, const char *what, const char **out);
/* @name; *out_token for messages. */
bool aj_parser_func_name(aj_parser *p, const char **out, aj_token *out_token);
/* A function mentioned above; has_signature: one that can be called, not just named. */
bool aj_parser_func(aj_parser *p, bool has_signature, int64_t *out);
bool aj_parser_i64(aj_parser *p, int64_t *out);
bool aj_parser_kind(aj_parser *p, arrjit_kind *out);
bool aj_parser_kind_line(aj_parser *p);

/* ---- parse_type.c ---- */
bool aj_parser_dtype(aj_parser *p, arrjit_dtype *out);
/* "[" has been seen but not taken; appends to p->ints. */
bool aj_parser_dims(aj_parser *p);
bool aj_parser_type(aj_parser *p, const aj_type **out);
bool aj_parser_dim_line(aj_parser *p);

/* ---- parse_attr.c ---- */
/* "{name = value, ...}" into p->attrs. */
bool aj_parser_attrs(aj_parser *p);
/* Reads over a literal whose type comes later, or, given dtype, reads it into p->text. */
bool aj_parser_literal(aj_parser *p, arrjit_dtype dtype);

/* ---- parse_body.c ---- */
/* From the "{" of func's body to its "}". The root region and its parameters are there, names bound in p->scope. */
bool aj_parser_body(aj_parser *p, aj_func *func);

#endif
