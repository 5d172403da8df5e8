/* Arguments of a run: "name=3.5", "name=[[1, 2], [3, 4]]", "name=@file.npy", "name=@file.csv:COLUMN", each read as the
 * dtype and rank of its parameter. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct parameter {
  const arrjit_function *function;
  const char *name;
  arrjit_type type;
  char label[24];
} parameter; /* label: name or number */

/* ---- lists ---- */

typedef struct list_reader {
  const char *at;
  const parameter *param;
  size_t size, count, capacity;
  char *data;
  int64_t dims[ARRJIT_MAX_RANK]; /* -1: not seen yet */
} list_reader;

static bool bad_list(const list_reader *l, const char *what) {
  char type[256];
  cli_type_text(l->param->function, &l->param->type, type, sizeof type);
  cli_bad("argument %s: %s at '%.24s', expected %s", l->param->label, what, l->at, type);
  return false;
}

static void skip_blanks(list_reader *l) {
  while (*l->at == ' ' || *l->at == '\t' || *l->at == '\n') l->at++;
}

static bool read_element(list_reader *l) {
  size_t length = strcspn(l->at, ",[]\n");
  if (l->count == l->capacity) {
    l->capacity = l->capacity ? l->capacity * 2 : 16;
    char *grown = realloc(l->data, l->capacity * l->size);
    if (!grown) return bad_list(l, "no memory");
    l->data = grown;
  }
  const char *problem = cli_parse_element(l->param->type.dtype, l->at, length, l->data + l->count * l->size);
  if (problem && !length) return bad_list(l, "no number");
  if (problem) {
    cli_bad("argument %s: '%.*s' is %s", l->param->label, (int)(length < 64 ? length : 64), l->at, problem);
    return false;
  }
  l->at += length;
  l->count++;
  return true;
}

/* Depth is at most ARRJIT_MAX_RANK. */
static bool read_list(list_reader *l, int32_t dim) {
  int64_t extent = 0;
  skip_blanks(l);
  if (dim == l->param->type.rank) return *l->at == '[' ? bad_list(l, "too many brackets") : read_element(l);
  if (*l->at != '[') return bad_list(l, "no '['");
  l->at++;
  for (skip_blanks(l); *l->at != ']'; extent++) {
    if (extent && *l->at++ != ',') return l->at--, bad_list(l, "no ',' or ']'");
    if (!read_list(l, dim + 1)) return false;
    skip_blanks(l);
  }
  l->at++;
  if (l->dims[dim] >= 0 && l->dims[dim] != extent) return bad_list(l, "rows of different lengths");
  l->dims[dim] = extent;
  return true;
}

static bool read_literal(const parameter *param, const char *text, cli_data *out) {
  list_reader l = {.at = text, .param = param, .size = arrjit_dtype_bytes(param->type.dtype)};
  for (int32_t i = 0; i < param->type.rank; i++) l.dims[i] = -1;
  bool ok = read_list(&l, 0);
  if (ok) {
    skip_blanks(&l);
    ok = !*l.at || bad_list(&l, "more text");
  }
  *out = (cli_data){.dtype = param->type.dtype, .rank = param->type.rank, .data = l.data};
  for (int32_t i = 0; i < out->rank; i++) out->dims[i] = l.dims[i] < 0 ? 0 : l.dims[i]; /* behind an empty dim */
  if (!ok) free(l.data);
  return ok;
}

/* ---- files ---- */

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* ".csv:COLUMN" somewhere in the text, else .npy, which other names without a colon are tried as. */
static bool read_file(const parameter *param, const char *text, cli_data *out) {
  const char *csv = strstr(text, ".csv:");
  if (!csv && ends_with(text, ".csv"))
    return cli_bad("argument %s: which column of %s? write @%s:COLUMN", param->label, text, text), false;
  if (!csv && strchr(text, ':') && !ends_with(text, ".npy"))
    return cli_bad("argument %s: @%s: expected @FILE.npy or @FILE.csv:COLUMN", param->label, text), false;
  if (!csv) return cli_read_npy(text, out);
  size_t length = (size_t)(csv - text) + 4;
  char *path = malloc(length + 1);
  if (!path) return cli_bad("no memory"), false;
  memcpy(path, text, length);
  path[length] = 0;
  bool ok = cli_read_csv(path, csv + 5, param->type.dtype, out);
  free(path);
  return ok;
}

/* ---- shapes ---- */

/* The same symbol has the same extent in all arguments. */
typedef struct symbols {
  int64_t dim[64], extent[64];
  const char *label[64];
  size_t count;
} symbols;

static bool bind_symbol(symbols *s, const parameter *param, int64_t dim, int64_t extent) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->dim[i] != dim) continue;
    if (s->extent[i] == extent) return true;
    cli_bad("argument %s: extent %" PRId64 ", but the same extent is %" PRId64 " in argument %s", param->label, extent,
            s->extent[i], s->label[i]);
    return false;
  }
  if (s->count < sizeof s->dim / sizeof *s->dim) { /* past those, the run itself compares */
    s->dim[s->count] = dim;
    s->extent[s->count] = extent;
    s->label[s->count++] = param->label;
  }
  return true;
}

static bool check_shape(symbols *s, const parameter *param, const cli_data *data) {
  bool fits = data->dtype == param->type.dtype && data->rank == param->type.rank;
  for (int32_t i = 0; fits && i < data->rank; i++)
    fits = param->type.dims[i] < 0 || param->type.dims[i] == data->dims[i];
  if (!fits) {
    char expected[256], came[256];
    arrjit_type type = arrjit_type_make(data->dtype, data->rank, data->dims);
    cli_type_text(param->function, &param->type, expected, sizeof expected);
    cli_type_text(NULL, &type, came, sizeof came);
    cli_bad("argument %s is %s, expected %s", param->label, came, expected);
    return false;
  }
  for (int32_t i = 0; i < data->rank; i++)
    if (param->type.dims[i] < 0 && !bind_symbol(s, param, param->type.dims[i], data->dims[i])) return false;
  return true;
}

static void release_data(void *user, void *data) {
  (void)user;
  free(data);
}

/* The array owns the data. */
static bool make_array(arrjit_context *context, const parameter *param, cli_data *data, arrjit_array **out) {
  arrjit_error error;
  arrjit_type type = arrjit_type_make(data->dtype, data->rank, data->dims);
  int64_t strides[ARRJIT_MAX_RANK], stride = (int64_t)arrjit_dtype_bytes(data->dtype);
  for (int32_t i = 0; i < data->rank; i++) {
    int32_t dim = data->column_major ? i : data->rank - 1 - i;
    strides[dim] = stride;
    stride *= data->dims[dim] ? data->dims[dim] : 1;
  }
  if (arrjit_array_wrap(context, &type, data->data, strides, release_data, NULL, out, &error) == ARRJIT_OK) return true;
  cli_bad("argument %s: %s", param->label, error.message);
  free(data->data);
  return false;
}

/* ---- all of them ---- */

static bool get_parameter(const arrjit_function *function, size_t index, parameter *out) {
  out->function = function;
  if (arrjit_function_param(function, index, &out->name, &out->type) != ARRJIT_OK)
    return cli_bad("parameter %zu cannot be read", index), false;
  if (*out->name)
    snprintf(out->label, sizeof out->label, "%s", out->name);
  else
    snprintf(out->label, sizeof out->label, "%zu", index);
  return true;
}

static const char *find_value(const parameter *param, size_t count, const char *const *args) {
  const char *label = *param->name ? param->name : param->label;
  for (size_t i = 0; i < count; i++) {
    size_t length;
    const char *value = cli_split(args[i], &length);
    if (value && length == strlen(label) && !memcmp(args[i], label, length)) return value;
  }
  return NULL;
}

static bool make_input(arrjit_context *context, symbols *s, const parameter *param, const char *value,
                       arrjit_array **out) {
  cli_data data;
  if (!(*value == '@' ? read_file(param, value + 1, &data) : read_literal(param, value, &data))) return false;
  if (check_shape(s, param, &data)) return make_array(context, param, &data, out);
  free(data.data);
  return false;
}

/* What names no parameter, or one that was named before. */
static int refuse_unknown(size_t params, const parameter *list, size_t count, const char *const *args) {
  for (size_t i = 0; i < count; i++) {
    size_t length;
    bool known = false;
    if (!cli_split(args[i], &length)) return cli_bad("--arg %s: expected NAME=VALUE", args[i]);
    for (size_t k = 0; k < i; k++) /* "=" included */
      if (strncmp(args[k], args[i], length + 1) == 0) return cli_bad("--arg %.*s is given twice", (int)length, args[i]);
    for (size_t k = 0; k < params && !known; k++) {
      const char *label = *list[k].name ? list[k].name : list[k].label;
      known = length == strlen(label) && !memcmp(args[i], label, length);
    }
    if (!known) return cli_bad("--arg %s: the function has no parameter '%.*s'", args[i], (int)length, args[i]);
  }
  return CLI_OK;
}

int cli_make_inputs(arrjit_context *context, const arrjit_function *function, size_t count, const char *const *args,
                    arrjit_array **out) {
  size_t params = arrjit_function_param_count(function);
  parameter *list = calloc(params + 1, sizeof *list);
  symbols s = {.count = 0};
  if (!list) return cli_bad("no memory");
  int status = CLI_OK;
  for (size_t i = 0; status == CLI_OK && i < params; i++)
    if (!get_parameter(function, i, &list[i])) status = CLI_BAD;
  if (status == CLI_OK) status = refuse_unknown(params, list, count, args);
  for (size_t i = 0; status == CLI_OK && i < params; i++) {
    char type[256];
    const char *value = find_value(&list[i], count, args);
    cli_type_text(function, &list[i].type, type, sizeof type);
    if (!value)
      status = cli_bad("argument %s (%s) is missing: give --arg %s=...", list[i].label, type, list[i].label);
    else if (!make_input(context, &s, &list[i], value, &out[i]))
      status = CLI_BAD;
  }
  free(list);
  return status;
}
