/* f16 and bf16: elements of 16 bits, for which C has no type, as uint16_t. Conversions to and from float as the library
 * makes them: exact upwards, to nearest even downwards, subnormals kept, NaNs canonical. By integer arithmetic (and one
 * addition that is exact or correctly rounded), so that the bits do not depend on the CPU, and without branches, so
 * that loops vectorise. The rounding mode must be nearest even. */
#ifndef ARRJIT_HALF_H
#define ARRJIT_HALF_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARRJIT_F16_NAN_BITS 0x7e00
#define ARRJIT_F16_INF_BITS 0x7c00
#define ARRJIT_BF16_NAN_BITS 0x7fc0
#define ARRJIT_BF16_INF_BITS 0x7f80

/* The pattern of a float, and the float of a pattern. */
static inline uint32_t arrjit_f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline float arrjit_f32_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* A subnormal is 2^-14 (1 + m / 2^10) less 2^-14: that subtraction is exact. NaNs keep sign and payload. */
static inline float arrjit_f16_to_f32(uint16_t h) {
  uint32_t magnitude = (uint32_t)h & 0x7fff, up = magnitude << 13;
  uint32_t small = arrjit_f32_bits(arrjit_f32_of_bits(up + (113u << 23)) - 0x1p-14f);
  uint32_t bits = magnitude < 0x400 ? small : up + (magnitude < ARRJIT_F16_INF_BITS ? 112u << 23 : 224u << 23);
  return arrjit_f32_of_bits(((uint32_t)h & 0x8000) << 16 | bits);
}

/* Below 2^-14 the addition of 0.5, whose last place is the least subnormal, rounds; above, the bits cut off do. */
static inline uint16_t arrjit_f16_from_f32(float x) {
  uint32_t bits = arrjit_f32_bits(x), magnitude = bits & 0x7fffffff;
  uint32_t capped = magnitude < 0x47800000 ? magnitude : 0x47800000; /* 2^16: infinite already */
  uint32_t small = arrjit_f32_bits(arrjit_f32_of_bits(capped) + 0.5f) - 0x3f000000;
  uint32_t normal = (capped - (112u << 23) + 0xfff + (capped >> 13 & 1)) >> 13;
  uint32_t value = (bits >> 16 & 0x8000) | (capped < 0x38800000 ? small : normal);
  return (uint16_t)(magnitude > 0x7f800000 ? ARRJIT_F16_NAN_BITS : value);
}

static inline float arrjit_bf16_to_f32(uint16_t h) { return arrjit_f32_of_bits((uint32_t)h << 16); }

static inline uint16_t arrjit_bf16_from_f32(float x) {
  uint32_t bits = arrjit_f32_bits(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? ARRJIT_BF16_NAN_BITS : rounded);
}

/* x rounded to odd: where it is no f32, that neighbour of it whose last bit is 1. Rounding this to a format of at most
 * 22 bits gives what rounding x itself would: a tie is a tie only if it was one. */
static inline float arrjit_f32_odd(double x) {
  float near = (float)x;
  double back = (double)near;
  uint32_t bits = arrjit_f32_bits(near);
  int under = (back < 0 ? -back : back) < (x < 0 ? -x : x);
  uint32_t moved = under ? bits + 1 : bits - 1;
  return arrjit_f32_of_bits(back == x || (bits & 1) ? bits : moved);
}

/* Rounded once. */
static inline uint16_t arrjit_f16_from_f64(double x) { return arrjit_f16_from_f32(arrjit_f32_odd(x)); }
static inline uint16_t arrjit_bf16_from_f64(double x) { return arrjit_bf16_from_f32(arrjit_f32_odd(x)); }

#ifdef __cplusplus
}
#endif

#endif
