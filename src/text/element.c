/* Elements as text. Floats are handled by their bits, so that signs, payloads and subnormals survive whatever the host
 * has set in its floating-point environment. */
#include "text/element.h"

#include <fenv.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "arrjit/half.h"
#include "base/number.h"

enum { LONGEST_NUMBER = 127 };

typedef struct float_form {
  int bytes;
  uint64_t sign, infinity, nan;
} float_form;

static const float_form *form_of(arrjit_dtype dtype) {
  static const float_form f32 = {4, UINT64_C(1) << 31, 0x7f800000, 0x7fc00000};
  static const float_form f64 = {8, UINT64_C(1) << 63, 0x7ff0000000000000, 0x7ff8000000000000};
  static const float_form f16 = {2, 0x8000, ARRJIT_F16_INF_BITS, ARRJIT_F16_NAN_BITS},
                          bf16 = {2, 0x8000, ARRJIT_BF16_INF_BITS, ARRJIT_BF16_NAN_BITS};
  return dtype == ARRJIT_F32 ? &f32 : dtype == ARRJIT_F64 ? &f64 : dtype == ARRJIT_F16 ? &f16 : &bf16;
}

static uint64_t load_bits(arrjit_dtype dtype, const void *element) {
  uint64_t bits = 0;
  memcpy(&bits, element, aj_dtypes[dtype].bytes); /* little-endian hosts: the low bytes */
  return bits;
}

/* A number that is no f64, rounded to odd: of its two neighbours the one whose last bit is 1, which rounds further as
 * the number would. */
static double read_odd(const char *text, locale_t c, char **end) {
  fesetround(FE_DOWNWARD);
  double below = strtod_l(text, end, c);
  fesetround(FE_UPWARD);
  double above = strtod_l(text, end, c);
  uint64_t bits;
  memcpy(&bits, &below, sizeof bits);
  return bits & 1 ? below : above;
}

static void read_number(arrjit_dtype dtype, const char *text, locale_t c, char **end, void *out) {
  if (aj_dtype_is_half(dtype)) {
    double odd = read_odd(text, c, end);
    fesetround(FE_TONEAREST);
    uint16_t bits = dtype == ARRJIT_F16 ? arrjit_f16_from_f64(odd) : arrjit_bf16_from_f64(odd);
    memcpy(out, &bits, sizeof bits);
  } else if (dtype == ARRJIT_F32) {
    float value = strtof_l(text, end, c);
    memcpy(out, &value, sizeof value);
  } else {
    double value = strtod_l(text, end, c);
    memcpy(out, &value, sizeof value);
  }
}

/* strtod follows the host's locale and rounding mode, so both are set to what .air says. Decimal and hexadecimal. */
static bool read_float(arrjit_dtype dtype, const char *text, void *out) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c == (locale_t)0) return false;
  int rounding = fegetround();
  if (rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
  char *end = NULL;
  read_number(dtype, text, c, &end, out);
  if (rounding != FE_TONEAREST) fesetround(rounding);
  freelocale(c);
  return !*end;
}

static void print_float(aj_text *out, arrjit_dtype dtype, const void *element) {
  const float_form *form = form_of(dtype);
  uint64_t bits = load_bits(dtype, element), magnitude = bits & (form->sign - 1);
  char text[AJ_NUMBER_BYTES];
  if (magnitude > form->infinity && bits != form->nan) {
    aj_text_printf(out, "nan(0x%0*llx)", form->bytes * 2, (unsigned long long)bits);
  } else {
    aj_text_add(out, text, aj_dtype_number(text, dtype, element));
  }
}

void aj_element_print(aj_text *out, arrjit_dtype dtype, const void *element) {
  if (aj_dtype_is_complex(dtype)) {
    arrjit_dtype part = aj_dtype_part(dtype);
    aj_text_puts(out, "(");
    print_float(out, part, element);
    aj_text_puts(out, ", ");
    print_float(out, part, (const char *)element + aj_dtypes[part].bytes);
    aj_text_puts(out, ")");
    return;
  }
  uint64_t bits = load_bits(dtype, element);
  unsigned shift = 64u - aj_dtypes[dtype].bits;
  switch (aj_dtypes[dtype].cls) {
  case AJ_CLASS_BOOL:
    if (bits <= 1)
      aj_text_puts(out, bits ? "true" : "false");
    else
      aj_text_printf(out, "%u", (unsigned)bits);
    break;
  case AJ_CLASS_INT: aj_text_printf(out, "%lld", (long long)((int64_t)(bits << shift) >> shift)); break;
  case AJ_CLASS_UINT: aj_text_printf(out, "%llu", (unsigned long long)bits); break;
  case AJ_CLASS_FLOAT: print_float(out, dtype, element); break;
  case AJ_CLASS_COMPLEX:
  case AJ_CLASS_NONE: break;
  }
}

int aj_element_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

aj_element_status aj_element_parse_u64(const char *text, size_t length, uint64_t *out) {
  bool hex = length > 2 && text[0] == '0' && text[1] == 'x';
  uint64_t value = 0, base = hex ? 16 : 10;
  if (!length) return AJ_ELEMENT_FORM;
  for (size_t i = hex ? 2 : 0; i < length; i++) {
    int c = aj_element_hex_digit(text[i]);
    uint64_t digit = c < 0 ? base : (uint64_t)c;
    if (digit >= base) return AJ_ELEMENT_FORM;
    if (value > (UINT64_MAX - digit) / base) return AJ_ELEMENT_RANGE;
    value = value * base + digit;
  }
  *out = value;
  return AJ_ELEMENT_OK;
}

static aj_element_status parse_integer(arrjit_dtype dtype, bool negative, const char *text, size_t length, void *out) {
  uint64_t value;
  aj_element_status status = aj_element_parse_u64(text, length, &value);
  if (status != AJ_ELEMENT_OK) return status;
  uint64_t all = UINT64_MAX >> (64u - aj_dtypes[dtype].bits);
  uint64_t most = aj_dtypes[dtype].cls == AJ_CLASS_UINT ? all : all / 2;
  uint64_t least = aj_dtypes[dtype].cls == AJ_CLASS_UINT ? 0 : all / 2 + 1; /* magnitude of the least number */
  if (value > (negative ? least : most)) return AJ_ELEMENT_RANGE;
  if (negative) value = 0 - value;
  memcpy(out, &value, aj_dtypes[dtype].bytes);
  return AJ_ELEMENT_OK;
}

static aj_element_status parse_float(arrjit_dtype dtype, bool negative, const char *text, size_t length, void *out) {
  const float_form *form = form_of(dtype);
  char plain[LONGEST_NUMBER + 1];
  uint64_t bits = 0;
  bool is_word = length == 3 && (!memcmp(text, "inf", 3) || !memcmp(text, "nan", 3));
  if (is_word) {
    if (text[0] == 'n' && negative) return AJ_ELEMENT_FORM;
    bits = text[0] == 'n' ? form->nan : form->infinity;
  } else {
    if (!length || length > LONGEST_NUMBER || text[0] < '0' || text[0] > '9') return AJ_ELEMENT_FORM;
    memcpy(plain, text, length);
    plain[length] = 0;
    if (!read_float(dtype, plain, &bits)) return AJ_ELEMENT_FORM;
    if (bits == form->infinity) return AJ_ELEMENT_RANGE;
  }
  if (negative) bits |= form->sign;
  memcpy(out, &bits, aj_dtypes[dtype].bytes);
  return AJ_ELEMENT_OK;
}

aj_element_status aj_element_parse(arrjit_dtype dtype, bool negative, const char *text, size_t length, void *out) {
  switch (aj_dtypes[dtype].cls) {
  case AJ_CLASS_BOOL: {
    bool is_true = length == 4 && !memcmp(text, "true", 4), is_false = length == 5 && !memcmp(text, "false", 5);
    uint8_t value = is_true;
    if (negative || (!is_true && !is_false)) return AJ_ELEMENT_FORM;
    memcpy(out, &value, 1);
    return AJ_ELEMENT_OK;
  }
  case AJ_CLASS_INT:
  case AJ_CLASS_UINT: return parse_integer(dtype, negative, text, length, out);
  case AJ_CLASS_FLOAT: return parse_float(dtype, negative, text, length, out);
  case AJ_CLASS_COMPLEX: /* two numbers: see parse_attr.c */
  case AJ_CLASS_NONE: break;
  }
  return AJ_ELEMENT_FORM;
}

aj_element_status aj_element_parse_nan(arrjit_dtype dtype, const char *text, size_t length, void *out) {
  if (aj_dtypes[dtype].cls != AJ_CLASS_FLOAT) return AJ_ELEMENT_FORM;
  const float_form *form = form_of(dtype);
  uint64_t bits;
  aj_element_status status = aj_element_parse_u64(text, length, &bits);
  if (status != AJ_ELEMENT_OK) return status;
  if (bits > form->sign - 1 + form->sign) return AJ_ELEMENT_RANGE;
  if ((bits & (form->sign - 1)) <= form->infinity) return AJ_ELEMENT_FORM;
  memcpy(out, &bits, aj_dtypes[dtype].bytes);
  return AJ_ELEMENT_OK;
}
