/* Reads .npy files, versions 1 to 3: the header is a Python dict in a fixed style, the data raw elements. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct header {
  const char *at;
  const char *path;
} header;

static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

static bool take(header *h, const char *text) {
  while (is_blank(*h->at)) h->at++;
  size_t length = strlen(text);
  if (strncmp(h->at, text, length) != 0) return false;
  h->at += length;
  return true;
}

static bool bad_header(const header *h) {
  cli_bad("%s: the .npy header is not of the form {'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", h->path);
  return false;
}

static bool read_quoted(header *h, char *out, size_t size) {
  while (is_blank(*h->at)) h->at++;
  char quote = *h->at;
  const char *end = quote == '\'' || quote == '"' ? strchr(h->at + 1, quote) : NULL;
  if (!end || (size_t)(end - h->at) > size) return bad_header(h);
  size_t length = (size_t)(end - h->at - 1);
  memcpy(out, h->at + 1, length);
  out[length] = 0;
  h->at = end + 1;
  return true;
}

static bool find_dtype(const char *path, const char *descr, arrjit_dtype *out) {
  static const struct {
    const char *code;
    arrjit_dtype dtype;
  } codes[] = {{"b1", ARRJIT_BOOL}, {"i1", ARRJIT_I8},  {"i2", ARRJIT_I16}, {"i4", ARRJIT_I32},  {"i8", ARRJIT_I64},
               {"u1", ARRJIT_U8},   {"u2", ARRJIT_U16}, {"u4", ARRJIT_U32}, {"u8", ARRJIT_U64},  {"f2", ARRJIT_F16},
               {"f4", ARRJIT_F32},  {"f8", ARRJIT_F64}, {"c8", ARRJIT_C64}, {"c16", ARRJIT_C128}};
  bool one_byte = strlen(descr) == 3 && descr[2] == '1';
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (*descr && !strcmp(descr + 1, codes[i].code) && (*descr == '<' || (*descr == '|' && one_byte)))
      return *out = codes[i].dtype, true;
  bool opaque = descr[0] && descr[1] == 'V'; /* what NumPy writes for the bfloat16 of extensions */
  const char *hint = opaque ? " (.npy has no bf16: write it as f4 and convert)" : "";
  cli_bad("%s: elements are '%s', expected little-endian bool, i1 to i8, u1 to u8, f2, f4, f8, c8 or c16%s", path,
          descr, hint);
  return false;
}

static bool read_shape(header *h, cli_data *out) {
  if (!take(h, "(")) return bad_header(h);
  while (!take(h, ")")) {
    char *end;
    while (is_blank(*h->at)) h->at++;
    if (*h->at < '0' || *h->at > '9') return bad_header(h);
    unsigned long long extent = strtoull(h->at, &end, 10);
    if (out->rank == ARRJIT_MAX_RANK || extent > INT64_MAX) {
      cli_bad("%s: the shape has more than %d dims, or one that is too large", h->path, ARRJIT_MAX_RANK);
      return false;
    }
    out->dims[out->rank++] = (int64_t)extent;
    h->at = end;
    if (!take(h, ",") && *h->at != ')') return bad_header(h);
  }
  return true;
}

static bool read_header(header *h, cli_data *out) {
  char key[32], descr[64];
  unsigned seen = 0;
  if (!take(h, "{")) return bad_header(h);
  while (!take(h, "}")) {
    if (!read_quoted(h, key, sizeof key) || !take(h, ":")) return bad_header(h);
    if (!strcmp(key, "descr")) {
      seen |= 1;
      if (take(h, "[")) {
        cli_bad("%s: elements are records, expected plain numbers", h->path);
        return false;
      }
      if (!read_quoted(h, descr, sizeof descr) || !find_dtype(h->path, descr, &out->dtype)) return false;
    } else if (!strcmp(key, "fortran_order")) {
      seen |= 2;
      out->column_major = take(h, "True");
      if (!out->column_major && !take(h, "False")) return bad_header(h);
    } else if (!strcmp(key, "shape")) {
      seen |= 4;
      if (!read_shape(h, out)) return false;
    } else {
      return bad_header(h);
    }
    take(h, ",");
  }
  return seen == 7 || bad_header(h);
}

/* The header as a string of its own, and where the data starts; NULL after a message. */
static char *cut_header(const char *path, const char *file, size_t bytes, size_t *out_data) {
  const unsigned char *b = (const unsigned char *)file;
  if (bytes < 10 || memcmp(file, "\x93NUMPY", 6) != 0) return cli_bad("%s: no .npy file", path), NULL;
  if (b[6] < 1 || b[6] > 3) return cli_bad("%s: .npy version %d, expected 1 to 3", path, b[6]), NULL;
  size_t start = b[6] == 1 ? 10 : 12, length = (size_t)b[8] | (size_t)b[9] << 8;
  if (b[6] > 1 && bytes >= 12) length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
  if (bytes < start || bytes - start < length) return cli_bad("%s: the file ends within its header", path), NULL;
  char *text = malloc(length + 1);
  if (!text) return cli_bad("%s: no memory for its header", path), NULL;
  memcpy(text, file + start, length);
  text[length] = 0;
  *out_data = start + length;
  return text;
}

static bool read_data(const char *path, const char *data, size_t bytes, cli_data *out) {
  size_t expected = arrjit_dtype_bytes(out->dtype);
  bool fits = true, empty = false;
  for (int32_t i = 0; i < out->rank; i++) {
    size_t extent = (size_t)out->dims[i];
    empty |= extent == 0;
    if (extent && expected > SIZE_MAX / extent)
      fits = false;
    else
      expected *= extent ? extent : 1;
  }
  if (empty) expected = 0;
  if ((!fits && !empty) || expected != bytes) {
    cli_bad("%s: %zu bytes of data, its header says %s%zu", path, bytes, fits || empty ? "" : "more than ", expected);
    return false;
  }
  out->data = malloc(expected + 1);
  if (!out->data) return cli_bad("%s: no memory for its data", path), false;
  memcpy(out->data, data, expected);
  return true;
}

bool cli_read_npy(const char *path, cli_data *out) {
  size_t bytes, start;
  char *file = cli_read_file(path, &bytes);
  if (!file) return false;
  char *text = cut_header(path, file, bytes, &start);
  header h = {text, path};
  *out = (cli_data){.dtype = ARRJIT_DTYPE_NONE};
  bool ok = text && read_header(&h, out) && read_data(path, file + start, bytes - start, out);
  free(text);
  free(file);
  return ok;
}
