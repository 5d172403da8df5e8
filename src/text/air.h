/* .air, the text form of modules: printing and parsing are each other's inverse. The language is in text/README.md. */
#ifndef AJ_TEXT_AIR_H
#define AJ_TEXT_AIR_H

#include "ir/build.h"

/* Appends the module; out->failed tells of lacking memory. Deterministic; parse(print(m)) is structurally m. The module
 * must be numbered. */
void aj_air_print(const aj_module *module, aj_text *out);
typedef struct aj_air_limits {
  int64_t max_nodes, max_nesting, max_const_bytes;
} aj_air_limits;
/* Parses, types every node by inference, checks declared types against it, numbers, but does not verify. On failure
 * error has line and message. Kinds not known yet are added to `kinds` when the text declares them. */
arrjit_status aj_air_parse(aj_mem *mem, aj_kinds *kinds, const char *text, size_t bytes, const char *name,
                           const aj_air_limits *limits, aj_module **out, arrjit_error *error);
/* Where what a text defines stands in it, for who complains about it later. Zeroed but for mem: empty. */
typedef struct aj_air_func_lines {
  int32_t line;   /* of its body's beginning; 0: it has none */
  uint32_t first; /* its first node in aj_air_lines.nodes */
} aj_air_func_lines;
typedef struct aj_air_lines {
  aj_mem *mem;
  AJ_VEC(int32_t) nodes;           /* in the order of the text */
  AJ_VEC(aj_air_func_lines) funcs; /* by number, as slots are */
  AJ_VEC(int32_t) slots;
} aj_air_lines;
/* As aj_air_parse, and fills `lines` (may be NULL). */
arrjit_status aj_air_parse_lines(aj_mem *mem, aj_kinds *kinds, const char *text, size_t bytes, const char *name,
                                 const aj_air_limits *limits, aj_air_lines *lines, aj_module **out,
                                 arrjit_error *error);
/* Line of the node with that id, of a function, of a slot; 0: unknown. */
int32_t aj_air_node_line(const aj_air_lines *lines, uint32_t func, uint32_t node_id);
int32_t aj_air_func_line(const aj_air_lines *lines, uint32_t func);
int32_t aj_air_slot_line(const aj_air_lines *lines, int64_t slot);
void aj_air_lines_free(aj_air_lines *lines);
/* The parser's message templates, for the test that each is provoked: NULL after the last. */
const char *aj_air_message(size_t index);
/* Graphviz. The module must be numbered. */
void aj_dot_print(const aj_module *module, aj_text *out);
/* Structural equality, for tests: same functions, regions, ops, operands, attributes, types. Both must be numbered.
 * False also when there is no memory to find out. */
bool aj_module_equal(const aj_module *a, const aj_module *b);

#endif
