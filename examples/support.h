/* What the examples share: ending on a status that is not OK, reading the data files. Not part of the library. */
#ifndef EXAMPLES_SUPPORT_H
#define EXAMPLES_SUPPORT_H

#include <arrjit/arrjit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the example with the library's message. */
static inline void must(arrjit_status status, const arrjit_error *error) {
  if (status == ARRJIT_OK) return;
  fprintf(stderr, "%s: %s\n", arrjit_status_text(status), error->message);
  exit(1);
}

/* Where the data files are: the program's argument, or ./data. */
static inline FILE *open_data(int argc, char **argv, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", argc > 1 ? argv[1] : "data", name);
  FILE *file = fopen(path, "rb");
  if (file) return file;
  fprintf(stderr, "cannot open %s: give the folder of the data files as argument\n", path);
  exit(1);
}

/* Column `column` (from 0) of a CSV file with a header row, at most `most` numbers; returns how many. */
static inline size_t read_column(FILE *file, int column, double *out, size_t most) {
  char line[1024];
  size_t count = 0;
  if (!fgets(line, sizeof line, file)) return 0;
  while (count < most && fgets(line, sizeof line, file)) {
    const char *cell = line;
    for (int i = 0; i < column && cell; i++) cell = strchr(cell, ',') ? strchr(cell, ',') + 1 : NULL;
    if (cell) out[count++] = strtod(cell, NULL);
  }
  fclose(file);
  return count;
}

#endif
