/* The example of an operation's page in ops.h is its golden file: the arguments of the first run, the lines of the
 * function's body, what the run gives. The golden tests run the same file, so no example can be wrong. */
#include <stdlib.h>
#include <string.h>

#include "package/gen_ops.h"

static void read_golden(const char *folder, aj_op op, text *out) {
  char path[1024];
  int length = snprintf(path, sizeof path, "%s/%s.air", folder, aj_ops[op].name);
  FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
  if (!file) stop(op, "it has no golden file");
  out->count = fread(out->s, 1, sizeof out->s - 1, file);
  bool whole = feof(file) != 0;
  fclose(file);
  if (!whole) stop(op, "its golden file is too long for an example");
  out->s[out->count] = '\0';
}

/* The text behind `at`, to its line's end. */
static int measure_line(const char *at) { return (int)strcspn(at, "\n"); }

/* Arguments of a run without the words around them: `--arg "x=[1, 2]"` becomes `x=[1, 2]`. */
static void write_arguments(FILE *out, const char *run) {
  const char *end = run + measure_line(run), *separator = " ";
  for (const char *at = run; (at = strstr(at, "--arg ")) && at < end; separator = ", ") {
    at += strlen("--arg ");
    bool quoted = *at == '"';
    at += quoted;
    int length = (int)strcspn(at, quoted ? "\"\n" : " \n");
    fprintf(out, "%s%.*s", separator, length, at);
    at += length;
  }
}

/* How many results the function has: quoted names, before its body. */
static int count_results(const char *func) {
  const char *at = strstr(func, "-> ");
  int quotes = 0;
  for (const char *end = at ? at + measure_line(at) : NULL; at && at < end; at++) quotes += *at == '"';
  return quotes / 2;
}

void write_example(FILE *out, const char *folder, aj_op op) {
  text golden;
  read_golden(folder, op, &golden);
  const char *run = strstr(golden.s, "// RUN: run"), *func = strstr(golden.s, "func @main"),
             *expect = strstr(golden.s, "// EXPECT:\n");
  if (!run || !func || !expect) stop(op, "its golden file has no run, no @main or no results");
  if (strstr(golden.s, "*/")) stop(op, "its golden file has a comment's end in it");
  int results = count_results(func);
  fputs(" *\n * Example:", out);
  write_arguments(out, run);
  fputs("\n", out);
  const char *line = func + measure_line(func) + 1;
  for (; *line && strncmp(line, "  yield", 7) != 0 && *line != '}'; line += measure_line(line) + 1)
    fprintf(out, " *     %.*s\n", measure_line(line) - 2, line + 2);
  line = expect + strlen("// EXPECT:\n");
  for (int i = 0; i < results && strncmp(line, "// ", 3) == 0; i++, line += measure_line(line) + 1)
    fprintf(out, " *     %.*s\n", measure_line(line) - 3, line + 3);
  fputs(" */\n", out);
}
