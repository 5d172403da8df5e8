/* Float elements by value; see floats.h. */
#include "floats.h"

#include <math.h>
#include <string.h>

#include "arrjit/half.h"

bool tk_is_float(arrjit_dtype dtype) {
  return dtype == ARRJIT_F16 || dtype == ARRJIT_BF16 || dtype == ARRJIT_F32 || dtype == ARRJIT_F64;
}

bool tk_is_complex(arrjit_dtype dtype) { return dtype == ARRJIT_C64 || dtype == ARRJIT_C128; }

arrjit_dtype tk_part(arrjit_dtype dtype) {
  return dtype == ARRJIT_C64 ? ARRJIT_F32 : dtype == ARRJIT_C128 ? ARRJIT_F64 : dtype;
}

bool tk_store_float(arrjit_dtype dtype, double x, void *out) {
  float f = (float)x;
  uint16_t half = dtype == ARRJIT_F16 ? arrjit_f16_from_f64(x) : arrjit_bf16_from_f64(x);
  if (dtype == ARRJIT_F64)
    memcpy(out, &x, sizeof x);
  else if (dtype == ARRJIT_F32)
    memcpy(out, &f, sizeof f);
  else if (dtype == ARRJIT_F16 || dtype == ARRJIT_BF16)
    memcpy(out, &half, sizeof half);
  else
    return false;
  return true;
}

double tk_load_float(arrjit_dtype dtype, const void *element) {
  union {
    uint16_t half;
    float f32;
    double f64;
  } u;
  memcpy(&u, element, arrjit_dtype_bytes(dtype));
  if (dtype == ARRJIT_F16) return (double)arrjit_f16_to_f32(u.half);
  if (dtype == ARRJIT_BF16) return (double)arrjit_bf16_to_f32(u.half);
  return dtype == ARRJIT_F32 ? (double)u.f32 : u.f64;
}

bool tk_is_nan(arrjit_dtype dtype, const void *element) {
  if (tk_is_complex(dtype)) {
    arrjit_dtype part = tk_part(dtype);
    return tk_is_nan(part, element) || tk_is_nan(part, (const char *)element + arrjit_dtype_bytes(part));
  }
  return tk_is_float(dtype) && isnan(tk_load_float(dtype, element));
}

/* Digits of the significand, and the exponent of the least subnormal. */
static int precision_of(arrjit_dtype dtype) { return dtype == ARRJIT_F16 ? 11 : 8; }
static int least_exponent(arrjit_dtype dtype) { return dtype == ARRJIT_F16 ? -24 : -133; }
static unsigned infinity_of(arrjit_dtype dtype) { return dtype == ARRJIT_F16 ? 0x7c00 : 0x7f80; }

uint16_t tk_half_reference(arrjit_dtype dtype, long double x) {
  int digits = precision_of(dtype), least = least_exponent(dtype), exponent = least;
  unsigned infinity = infinity_of(dtype), sign = signbit(x) ? 0x8000 : 0;
  if (isnan(x)) return (uint16_t)(infinity | 1u << (digits - 2));
  if (isinf(x)) return (uint16_t)(sign | infinity);
  if (x != 0 && ilogbl(x) - (digits - 1) > least) exponent = ilogbl(x) - (digits - 1);
  long double units = rintl(scalbnl(fabsl(x), -exponent));
  /* one more exponent is 2^(digits - 1) patterns further; that the first is for subnormals too comes out right */
  long double bits = (long double)(exponent - least) * (long double)(1u << (digits - 1)) + units;
  return (uint16_t)(sign | (bits < (long double)infinity ? (unsigned)bits : infinity));
}

double tk_half_value(arrjit_dtype dtype, uint16_t bits) {
  int digits = precision_of(dtype);
  unsigned magnitude = bits & 0x7fff, hidden = 1u << (digits - 1);
  unsigned field = magnitude / hidden, units = magnitude % hidden;
  double sign = bits & 0x8000 ? -1 : 1;
  if (magnitude > infinity_of(dtype)) return (double)NAN;
  if (magnitude == infinity_of(dtype)) return sign * (double)INFINITY;
  return sign * ldexp(field ? units + hidden : units, least_exponent(dtype) + (field ? (int)field - 1 : 0));
}
