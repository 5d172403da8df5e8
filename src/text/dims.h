/* Extents and types as text. Derived symbols are written as expressions ("2*(n+1)"); one whose expression would be long
 * is written out once, as "dim @main:$0 = ...", and called $0 from there on: expressions may share parts, and written
 * out in full they could grow without bound. */
#ifndef AJ_TEXT_DIMS_H
#define AJ_TEXT_DIMS_H

#include "ir/module.h"

typedef struct aj_dim_names {
  const aj_module *module;
  uint32_t *locals; /* [symbol] n + 1 for $n, 0 for one without a $name */
  size_t count;
} aj_dim_names;

/* False: no memory. */
bool aj_dim_names_make(aj_dim_names *names, const aj_module *module);
void aj_dim_names_free(aj_dim_names *names);
/* `func`: whose symbols need no prefix. */
void aj_dims_print(const aj_dim_names *names, uint32_t func, int64_t dim, aj_text *out);
void aj_dims_print_type(const aj_dim_names *names, uint32_t func, const aj_type *type, aj_text *out);
/* The lines that define $names. */
void aj_dims_print_locals(const aj_dim_names *names, aj_text *out);
/* A name that text shows bare when it is a word, else quoted; and always quoted. */
void aj_text_print_name(const char *name, aj_text *out);
void aj_text_print_quoted(const char *s, aj_text *out);

#endif
