/* Build tool: prints include/arrjit/enums.h from the tables. Usage: gen_enums > enums.h */
#include <stdint.h>
#include <stdio.h>

typedef struct row {
  const char *id, *text;
} row;

static const row statuses[] = {
#define STATUS(ID, text) {#ID, text},
#include "base/status.def"
#undef STATUS
};
static const row dtypes[] = {
#define DTYPE(ID, name, cls, bits, ctype) {#ID, name},
#include "ir/dtypes.def"
#undef DTYPE
};
static const row kinds[] = {
#define KIND(ID, name, parent, fields, text) {#ID, text},
#include "ir/kinds.def"
#undef KIND
};
static const row options[] = {
#define OPTION(ID, name, def, least, most, text)                                                                       \
  {#ID, name ": " text " (default " #def ", from " #least " to " #most ")"},
#include "base/options.def"
#undef OPTION
};
static const row events[] = {
#define EVENT(ID, name, text) {#ID, text},
#include "base/events.def"
#undef EVENT
};

static void print_enum(const char *what, const char *type, const char *prefix, const char *none, const row *rows,
                       size_t count) {
  printf("/* %s */\ntypedef enum %s {\n", what, type);
  if (none) printf("  %s%s = 0,\n", prefix, none);
  for (size_t i = 0; i < count; i++)
    printf("  %s%s = %zu%s /* %s */\n", prefix, rows[i].id, i + (none != NULL), i + 1 < count ? "," : "", rows[i].text);
  printf("} %s;\n\n", type);
}

int main(void) {
  printf("/* Generated from the tables of the library when it is built. Do not edit. */\n"
         "#ifndef ARRJIT_ENUMS_H\n#define ARRJIT_ENUMS_H\n\n#include <stdint.h>\n\n");
  print_enum("What a call can return.", "arrjit_status", "ARRJIT_", NULL, statuses, sizeof statuses / sizeof *statuses);
  print_enum(
      "Element types. A bool is one byte, 0 or 1; a complex number its real part, then its imaginary part, as in C.",
      "arrjit_dtype", "ARRJIT_", "DTYPE_NONE", dtypes, sizeof dtypes / sizeof *dtypes);
  printf("/* A kind of failure: one of these or what arrjit_context_add_kind gave. */\ntypedef int32_t arrjit_kind;\n");
  print_enum("Kinds that every context has.", "arrjit_builtin_kind", "ARRJIT_KIND_", "NONE", kinds,
             sizeof kinds / sizeof *kinds);
  print_enum("Options of a context.", "arrjit_option", "ARRJIT_OPTION_", NULL, options,
             sizeof options / sizeof *options);
  print_enum("Events.", "arrjit_event_code", "ARRJIT_EVENT_", NULL, events, sizeof events / sizeof *events);
  printf("#endif\n");
  return 0;
}
