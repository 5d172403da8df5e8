/* .air, the text form of modules: printing and parsing are each other's inverse. The language is in text/README.md. */
#ifndef AJ_TEXT_AIR_H
#define AJ_TEXT_AIR_H

#include "ir/build.h"

/* Appends the module; out->failed tells of lacking memory. Deterministic; parse(print(m)) is structurally m. */
void aj_air_print(const aj_module *module, aj_text *out);
typedef struct aj_air_limits { int64_t max_nodes, max_nesting, max_const_bytes; } aj_air_limits;
/* Parses, types every node by inference, checks declared types against it, numbers, but does not verify. On failure error has
 * line and message. Kinds not known yet are added to `kinds` when the text declares them. */
arrjit_status aj_air_parse(aj_mem *mem, aj_kinds *kinds, const char *text, size_t bytes, const char *name,
                           const aj_air_limits *limits, aj_module **out, arrjit_error *error);
/* Graphviz. */
void aj_dot_print(const aj_module *module, aj_text *out);
/* Structural equality, for tests: same functions, regions, ops, operands, attributes, types. */
bool aj_module_equal(const aj_module *a, const aj_module *b);

#endif
