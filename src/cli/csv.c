/* Reads one column of a .csv file: a header row, commas, cells in double quotes where they need them. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct reader {
  const char *path, *at, *end;
  int line; /* of the cell read last */
  int next_line;
  char *cell; /* decoded; as large as the file, so always large enough */
  size_t length;
  bool row_ends, quoted;
} reader;

static bool fail(const reader *r, size_t column, const char *what) {
  cli_bad("%s:%d: column %zu: %s", r->path, r->line, column + 1, what);
  return false;
}

/* The next cell; row_ends tells whether it is the last of its row. */
static bool read_cell(reader *r, size_t column) {
  r->line = r->next_line;
  r->length = 0;
  r->quoted = r->at < r->end && *r->at == '"';
  if (r->quoted) {
    for (r->at++;; r->at++) {
      if (r->at == r->end) return fail(r, column, "a quoted cell does not end");
      if (*r->at == '\n') r->next_line++;
      if (*r->at == '"' && (r->at + 1 == r->end || *++r->at != '"')) break;
      r->cell[r->length++] = *r->at;
    }
    if (r->at + 1 == r->end && *r->at == '"') r->at++;
  } else {
    while (r->at < r->end && *r->at != ',' && *r->at != '\n') r->cell[r->length++] = *r->at++;
    if (r->length && r->cell[r->length - 1] == '\r') r->length--;
  }
  if (r->at < r->end && *r->at == '\r') r->at++;
  r->row_ends = r->at == r->end || *r->at == '\n';
  if (!r->row_ends && *r->at != ',') return fail(r, column, "text follows a quoted cell");
  if (r->at < r->end && *r->at == '\n') r->next_line++;
  if (r->at < r->end) r->at++;
  return true;
}

static bool find_column(reader *r, const char *name, size_t *out) {
  bool found = false;
  for (size_t column = 0;; column++) {
    if (!read_cell(r, column)) return false;
    if (!found && r->length == strlen(name) && !memcmp(r->cell, name, r->length)) *out = column, found = true;
    if (r->row_ends) break;
  }
  if (!found) cli_bad("%s: the header row has no column '%s'", r->path, name);
  return found;
}

/* The wanted cell of the next row onto the end of the data. */
static bool read_row(reader *r, const char *name, size_t wanted, arrjit_dtype dtype, char *out) {
  bool found = false;
  for (size_t column = 0;; column++) {
    if (!read_cell(r, column)) return false;
    if (column == wanted) {
      found = true;
      if (!r->length) return fail(r, column, "the cell is empty, expected a number");
      const char *problem = cli_parse_element(dtype, r->cell, r->length, out);
      if (problem) {
        cli_bad("%s:%d: column %zu ('%s'): '%.*s' is %s", r->path, r->line, column + 1, name,
                (int)(r->length < 64 ? r->length : 64), r->cell, problem);
        return false;
      }
    }
    if (r->row_ends) break;
  }
  if (found) return true;
  cli_bad("%s:%d: column %zu ('%s'): the row ends before it", r->path, r->line, wanted + 1, name);
  return false;
}

static bool read_rows(reader *r, const char *name, size_t column, arrjit_dtype dtype, cli_data *out) {
  size_t capacity = 0, size = arrjit_dtype_bytes(dtype);
  while (r->at < r->end) {
    if (*r->at == '\n' || (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n')) { /* an empty line */
      r->at += *r->at == '\r' ? 2 : 1;
      r->next_line++;
      continue;
    }
    if ((size_t)out->dims[0] == capacity) {
      capacity = capacity ? capacity * 2 : 256;
      char *grown = realloc(out->data, capacity * size);
      if (!grown) return cli_bad("%s: no memory for its data", r->path), false;
      out->data = grown;
    }
    if (!read_row(r, name, column, dtype, out->data + (size_t)out->dims[0] * size)) return false;
    out->dims[0]++;
  }
  return true;
}

bool cli_read_csv(const char *path, const char *column, arrjit_dtype dtype, cli_data *out) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  size_t bytes, index = 0;
  char *file = cli_read_file(path, &bytes);
  if (!file) return false;
  *out = (cli_data){.dtype = dtype, .rank = 1};
  reader r = {.path = path, .at = file, .end = file + bytes, .next_line = 1, .cell = malloc(bytes + 1)};
  if (bytes >= 3 && !memcmp(file, byte_order_mark, 3)) r.at += 3;
  bool ok = r.cell || (cli_bad("%s: no memory for its cells", path), false);
  ok = ok && find_column(&r, column, &index) && read_rows(&r, column, index, dtype, out);
  if (!ok) free(out->data);
  free(r.cell);
  free(file);
  return ok;
}
