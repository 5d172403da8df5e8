/* What the two halves of the generator of operations share. It is a program of its own: no prefixes. */
#ifndef PACKAGE_GEN_OPS_H
#define PACKAGE_GEN_OPS_H

#include <stdio.h>

#include "ir/op.h"

typedef struct text {
  char s[4096];
  size_t count;
} text;
/* Ends the program when the text is full. */
void add(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void stop(aj_op op, const char *why);

/* What an attribute is in C: a single parameter, or an array after a count that neighbours of the same count share. */
typedef struct form {
  const char *type, *count_type, *count, *name;
} form;
form get_form(aj_op op, aj_attr_name attr);
/* Attributes of a row in its order; how many. */
int list_attrs(aj_op op, aj_attr_name *out);

/* Names of the results that an op has in C parameters of their own; NULL: it has one, which its builder returns. How
 * many. */
int list_results(aj_op op, const char *const **out);

bool has_builder(aj_op op);
bool takes_all_axes(const aj_op_info *info);
const char *get_section(const aj_op_info *info);
/* Prints the start of a comment, broken at spaces, without its end. */
void write_comment(FILE *out, const char *s);
/* Prints the rest of op's comment, with what folder has of it as its example. */
void write_example(FILE *out, const char *folder, aj_op op);

/* Writes arrjit/ops.hpp. */
void write_cpp(FILE *out);

#endif
