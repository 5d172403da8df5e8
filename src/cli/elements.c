/* Elements and types as text, for people. The command never calls setlocale, so the C library's numbers are plain. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { LONGEST_ELEMENT = 127 };

static bool is_signed(arrjit_dtype dtype) {
  return dtype == ARRJIT_I8 || dtype == ARRJIT_I16 || dtype == ARRJIT_I32 || dtype == ARRJIT_I64;
}
static bool is_float(arrjit_dtype dtype) { return dtype == ARRJIT_F32 || dtype == ARRJIT_F64; }

static bool parse_bool(const char *text, void *out) {
  uint8_t value = !strcmp(text, "true") || !strcmp(text, "1");
  memcpy(out, &value, sizeof value);
  return value || !strcmp(text, "false") || !strcmp(text, "0");
}

static bool parse_float(arrjit_dtype dtype, const char *text, void *out) {
  char *end;
  errno = 0;
  if (dtype == ARRJIT_F32) {
    float value = strtof(text, &end);
    if (errno == ERANGE && isinf(value)) return false;
    memcpy(out, &value, sizeof value);
  } else {
    double value = strtod(text, &end);
    if (errno == ERANGE && isinf(value)) return false;
    memcpy(out, &value, sizeof value);
  }
  return !*end;
}

static bool parse_integer(arrjit_dtype dtype, const char *text, void *out) {
  char *end;
  unsigned bits = (unsigned)arrjit_dtype_bytes(dtype) * 8;
  uint64_t value;
  errno = 0;
  if (is_signed(dtype)) {
    int64_t least = INT64_MIN >> (64 - bits), number = strtoll(text, &end, 0);
    if (number < least || number > ~least) return false;
    value = (uint64_t)number;
  } else {
    if (*text == '-') return false;
    value = strtoull(text, &end, 0);
    if (value > UINT64_MAX >> (64 - bits)) return false;
  }
  memcpy(out, &value, bits / 8);
  return errno == 0 && !*end;
}

bool cli_parse_element(arrjit_dtype dtype, const char *text, size_t length, void *out) {
  char copy[LONGEST_ELEMENT + 1];
  while (length && strchr(" \t\r", *text)) text++, length--;
  while (length && strchr(" \t\r", text[length - 1])) length--;
  if (!length || length > LONGEST_ELEMENT || memchr(text, 0, length)) return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (dtype == ARRJIT_BOOL) return parse_bool(copy, out);
  return is_float(dtype) ? parse_float(dtype, copy, out) : parse_integer(dtype, copy, out);
}

static bool reads_back(const char *text, double value, bool is_f32) {
  return is_f32 ? (double)strtof(text, NULL) == value : strtod(text, NULL) == value;
}

/* The fewest digits that tell the number, but 50 rather than 5e+01. */
static void print_float(FILE *file, double value, bool is_f32) {
  char text[64] = "nan";
  int digits = 1;
  for (; !isnan(value) && digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (reads_back(text, value, is_f32)) break;
  }
  const char *exponent = strstr(text, "e+");
  int whole = exponent ? atoi(exponent + 2) + 1 : 0;
  if (exponent && whole <= 17) snprintf(text, sizeof text, "%.*g", whole, value);
  fputs(text, file);
}

void cli_print_element(FILE *file, arrjit_dtype dtype, const void *element) {
  uint64_t bits = 0;
  size_t bytes = arrjit_dtype_bytes(dtype);
  memcpy(&bits, element, bytes);
  if (dtype == ARRJIT_BOOL) {
    fputs(bits ? "true" : "false", file);
  } else if (dtype == ARRJIT_F32) {
    float value;
    memcpy(&value, element, sizeof value);
    print_float(file, (double)value, true);
  } else if (dtype == ARRJIT_F64) {
    double value;
    memcpy(&value, element, sizeof value);
    print_float(file, value, false);
  } else if (is_signed(dtype)) {
    unsigned unused = 64 - (unsigned)bytes * 8;
    fprintf(file, "%" PRId64, (int64_t)(bits << unused) >> unused);
  } else {
    fprintf(file, "%" PRIu64, bits);
  }
}

void cli_type_text(const arrjit_function *function, const arrjit_type *type, char *out, size_t size) {
  size_t at = (size_t)snprintf(out, size, "%s", arrjit_dtype_name(type->dtype));
  for (int32_t i = 0; i < type->rank && at < size; i++) {
    at += (size_t)snprintf(out + at, size - at, "%s", i ? ", " : "[");
    if (at >= size) return;
    if (type->dims[i] < 0) {
      arrjit_function_extent_text(function, type->dims[i], out + at, size - at);
      at += strlen(out + at);
    } else {
      at += (size_t)snprintf(out + at, size - at, "%" PRId64, type->dims[i]);
    }
  }
  if (type->rank && at < size) snprintf(out + at, size - at, "]");
}
