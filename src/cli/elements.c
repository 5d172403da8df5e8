/* Elements and types as text, for people. The command never calls setlocale, so the C library's numbers are plain. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { LONGEST_ELEMENT = 127 };

/* What texts of a dtype may be when they are no element of it. */
static const struct {
  const char *none, *outside;
} problems[] = {
#define PROBLEMS(DT, name, range) [ARRJIT_##DT] = {"no " name, "outside the range of " name ", " range}
    PROBLEMS(BOOL, "bool", "false to true"),
    PROBLEMS(I8, "i8", "-128 to 127"),
    PROBLEMS(I16, "i16", "-32768 to 32767"),
    PROBLEMS(I32, "i32", "-2147483648 to 2147483647"),
    PROBLEMS(I64, "i64", "-9223372036854775808 to 9223372036854775807"),
    PROBLEMS(U8, "u8", "0 to 255"),
    PROBLEMS(U16, "u16", "0 to 65535"),
    PROBLEMS(U32, "u32", "0 to 4294967295"),
    PROBLEMS(U64, "u64", "0 to 18446744073709551615"),
    PROBLEMS(F32, "f32", "-3.4028235e38 to 3.4028235e38"),
    PROBLEMS(F64, "f64", "-1.7976931348623157e308 to 1.7976931348623157e308"),
    PROBLEMS(F16, "f16", "-65504 to 65504"),
    PROBLEMS(BF16, "bf16", "-3.3895e38 to 3.3895e38"),
    PROBLEMS(C64, "c64 (1+2i)", "-3.4028235e38 to 3.4028235e38 of its parts"),
    PROBLEMS(C128, "c128 (1+2i)", "-1.7976931348623157e308 to 1.7976931348623157e308 of its parts"),
#undef PROBLEMS
};

static bool is_signed(arrjit_dtype dtype) {
  return dtype == ARRJIT_I8 || dtype == ARRJIT_I16 || dtype == ARRJIT_I32 || dtype == ARRJIT_I64;
}
static bool is_half(arrjit_dtype dtype) { return dtype == ARRJIT_F16 || dtype == ARRJIT_BF16; }
static bool is_float(arrjit_dtype dtype) { return dtype == ARRJIT_F32 || dtype == ARRJIT_F64 || is_half(dtype); }

static const char *parse_bool(const char *text, void *out) {
  uint8_t value = !strcmp(text, "true") || !strcmp(text, "1");
  memcpy(out, &value, sizeof value);
  return value || !strcmp(text, "false") || !strcmp(text, "0") ? NULL : problems[ARRJIT_BOOL].none;
}

/* The element nearest to a number. */
static void store_float(arrjit_dtype dtype, double value, void *out) {
  float f32 = (float)value;
  uint16_t half = dtype == ARRJIT_F16 ? arrjit_f16_from_f64(value) : arrjit_bf16_from_f64(value);
  const void *from = is_half(dtype) ? (const void *)&half : dtype == ARRJIT_F32 ? (const void *)&f32 : &value;
  memcpy(out, from, arrjit_dtype_bytes(dtype));
}

static double load_float(arrjit_dtype dtype, const void *element) {
  uint16_t half;
  float f32;
  double f64;
  memcpy(is_half(dtype)        ? (void *)&half
         : dtype == ARRJIT_F32 ? (void *)&f32
                               : &f64,
         element, arrjit_dtype_bytes(dtype));
  if (is_half(dtype)) return (double)(dtype == ARRJIT_F16 ? arrjit_f16_to_f32(half) : arrjit_bf16_to_f32(half));
  return dtype == ARRJIT_F32 ? (double)f32 : f64;
}

/* A number that is finite in the text and infinite as an element is out of range. */
static const char *parse_float(arrjit_dtype dtype, const char *text, void *out) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  if (dtype == ARRJIT_F32) value = (double)strtof(text, &end); /* rounded once */
  store_float(dtype, value, out);
  if (*end) return problems[dtype].none;
  bool finite = !isinf(value) || errno == ERANGE;
  return finite && isinf(load_float(dtype, out)) ? problems[dtype].outside : NULL;
}

/* Of the parts; NONE for a dtype that is not complex. */
static arrjit_dtype get_part(arrjit_dtype dtype) {
  return dtype == ARRJIT_C64 ? ARRJIT_F32 : dtype == ARRJIT_C128 ? ARRJIT_F64 : ARRJIT_DTYPE_NONE;
}

/* "1+2i", "1-2i", "1", "2i". */
static const char *parse_complex(arrjit_dtype dtype, char *text, void *out) {
  arrjit_dtype part = get_part(dtype);
  size_t bytes = arrjit_dtype_bytes(part), length = strlen(text);
  char *end = text;
  const char *first = NULL, *second = NULL;
  memset(out, 0, 2 * bytes);
  if (text[length - 1] != 'i') {
    first = parse_float(part, text, out);
  } else {
    text[length - 1] = 0;
    (void)strtod(text, &end);
    bool both = *end != 0; /* what follows is the imaginary part, with its sign */
    if (end == text || (both && *end != '+' && *end != '-')) return problems[dtype].none;
    second = parse_float(part, both ? end : text, (char *)out + bytes);
    *end = 0;
    if (both) first = parse_float(part, text, out);
  }
  if (!first && !second) return NULL;
  return first == problems[part].none || second == problems[part].none ? problems[dtype].none : problems[dtype].outside;
}

static const char *parse_integer(arrjit_dtype dtype, const char *text, void *out) {
  char *end;
  unsigned bits = (unsigned)arrjit_dtype_bytes(dtype) * 8;
  uint64_t value;
  bool outside;
  errno = 0;
  if (is_signed(dtype)) {
    int64_t least = INT64_MIN >> (64 - bits), number = strtoll(text, &end, 0);
    outside = number < least || number > ~least;
    value = (uint64_t)number;
  } else {
    value = strtoull(text, &end, 0);
    outside = value > UINT64_MAX >> (64 - bits) || *text == '-';
  }
  if (*end) return problems[dtype].none;
  memcpy(out, &value, bits / 8);
  return outside || errno ? problems[dtype].outside : NULL;
}

const char *cli_parse_element(arrjit_dtype dtype, const char *text, size_t length, void *out) {
  char copy[LONGEST_ELEMENT + 1];
  while (length && strchr(" \t\r", *text)) text++, length--;
  while (length && strchr(" \t\r", text[length - 1])) length--;
  if (!length || length > LONGEST_ELEMENT || memchr(text, 0, length)) return problems[dtype].none;
  memcpy(copy, text, length);
  copy[length] = 0;
  if (dtype == ARRJIT_BOOL) return parse_bool(copy, out);
  if (get_part(dtype)) return parse_complex(dtype, copy, out);
  return is_float(dtype) ? parse_float(dtype, copy, out) : parse_integer(dtype, copy, out);
}

static bool reads_back(arrjit_dtype dtype, const char *text, const void *element) {
  uint64_t again = 0;
  return !parse_float(dtype, text, &again) && !memcmp(&again, element, arrjit_dtype_bytes(dtype));
}

/* The fewest digits that tell the number, but 50 rather than 5e+01. `plus`: a sign in any case. */
static void print_float(FILE *file, arrjit_dtype dtype, const void *element, bool plus) {
  char text[64] = "nan";
  int digits = 1;
  double value = load_float(dtype, element);
  for (; !isnan(value) && digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (reads_back(dtype, text, element)) break;
  }
  const char *exponent = strstr(text, "e+");
  int whole = exponent ? atoi(exponent + 2) + 1 : 0;
  if (exponent && whole <= 17) snprintf(text, sizeof text, "%.*g", whole, value);
  fprintf(file, "%s%s", plus && *text != '-' ? "+" : "", text);
}

void cli_print_element(FILE *file, arrjit_dtype dtype, const void *element) {
  uint64_t bits = 0;
  arrjit_dtype part = get_part(dtype);
  if (part) {
    print_float(file, part, element, false);
    print_float(file, part, (const char *)element + arrjit_dtype_bytes(part), true);
    fputs("i", file);
    return;
  }
  size_t bytes = arrjit_dtype_bytes(dtype);
  memcpy(&bits, element, bytes);
  if (dtype == ARRJIT_BOOL) {
    fputs(bits ? "true" : "false", file);
  } else if (is_float(dtype)) {
    print_float(file, dtype, element, false);
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
