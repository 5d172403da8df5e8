/* Special and random numbers; see numbers.h. */
#include "numbers.h"

#include <string.h>

#include "floats.h"

/* Bits, so that NaN payloads and signs are exactly these. */
static const uint32_t f32_bits[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,  /* 0 -0 1 -1 inf -inf nan */
    0xffc00000, 0x7fa00001, 0xff812345,                                                  /* other NaNs */
    0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,              /* subnormals, ends */
    0x3f000000, 0x40000000, 0x40490fdb, 0x42b17218, 0xc2d00000, 0x3f7fffff,              /* .5 2 pi 88.72 -104 1-ulp */
    0x4b000001, 0x4b800001, 0xcf000000, 0x4f000000, 0x4f800000, 0x5f000000, 0x5f800000,  /* 2^23+1 2^24+2 +-2^31 ... */
    0x3fc00000, 0x40200000, 0xc0200000, 0x437f0000, 0x43800000, 0x501502f9, 0xc2f6e979}; /* ties, 255 256 1e10 */
static const uint64_t f64_bits[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff4000000000001, 0xfff0000000012345,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x3fe0000000000000, 0x4000000000000000, 0x400921fb54442d18, 0x40862e42fefa39ef,
    0xc0874910d52d3052, 0x3fefffffffffffff, 0x4330000000000001, 0x4340000000000001, 0xc1e0000000000000,
    0x41e0000000000000, 0x41efffffffe00000, 0x43e0000000000000, 0x43f0000000000000, 0xc3e0000000000000,
    0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000, 0x406fe00000000000, 0x4202a05f20000000,
    0x36a0000000000000, 0x47efffffe0000000, 0x47effffff0000000}; /* the ends of f32 */
static const uint16_t f16_bits[] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7d01, 0xfc12, /* 0 -0 1 -1 inf -inf NaNs */
    0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff,                         /* subnormals, ends */
    0x3800, 0x4000, 0x4248, 0x498c, 0xcc55, 0x3bff, 0x3c01,                         /* .5 2 pi 11.09 -17.3 1 -+ ulp */
    0x6400, 0x6401, 0x6800, 0x6801, 0x5bf8, 0x5c00, 0x3e00, 0x4100, 0xc100, 0x1400, /* 2^10 2^11 255 256, ties */
    0x5800, 0xd800, 0x7800, 0xf800, 0x7bfe, 0x2e66};                                /* +-128 +-32768 65472 .1 */
static const uint16_t bf16_bits[] = {
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0,
    0xffc0, 0x7fa1, 0xff81,                                 /* 0 -0 1 -1 inf -inf NaNs */
    0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x7f7f, 0xff7f, /* subnormals, ends */
    0x3f00, 0x4000, 0x4049, 0x42b1, 0xc2d0, 0x3f7f, 0x3f81, /* .5 2 pi 88.5 -104 1 -+ ulp */
    0x4300, 0x4301, 0x437f, 0x4380, 0x3fc0, 0x4020, 0xc020,
    0x5f00, 0xdf00, 0x5f80,                          /* 128 129 255 256, ties, 2^63 ... */
    0x4f00, 0xcf00, 0x4f80, 0x4700, 0x4780, 0x3dcd}; /* +-2^31 2^32 2^15 2^16 .1 */
static const int64_t integers[] = {0,
                                   1,
                                   -1,
                                   2,
                                   -2,
                                   3,
                                   5,
                                   7,
                                   -7,
                                   10,
                                   31,
                                   32,
                                   63,
                                   64,
                                   100,
                                   127,
                                   128,
                                   -128,
                                   -129,
                                   255,
                                   256,
                                   1000,
                                   32767,
                                   -32768,
                                   65535,
                                   65536,
                                   INT32_MAX,
                                   INT32_MIN,
                                   16777217,
                                   UINT32_MAX,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MIN + 1,
                                   0x5555555555555555,
                                   9007199254740993};

/* Each special part with this many others. */
enum { PARTNERS = 8 };

size_t tk_special_count(arrjit_dtype dtype) {
  if (tk_is_complex(dtype)) return PARTNERS * tk_special_count(tk_part(dtype));
  if (dtype == ARRJIT_F32) return TK_COUNT(f32_bits);
  if (dtype == ARRJIT_F64) return TK_COUNT(f64_bits);
  if (dtype == ARRJIT_F16) return TK_COUNT(f16_bits);
  if (dtype == ARRJIT_BF16) return TK_COUNT(bf16_bits);
  if (dtype == ARRJIT_BOOL) return 2;
  return TK_COUNT(integers) + 2; /* and the dtype's own ends */
}

static void store(arrjit_dtype dtype, uint64_t bits, void *out) {
  if (dtype == ARRJIT_BOOL) bits &= 1;
  memcpy(out, &bits, arrjit_dtype_bytes(dtype)); /* little-endian: the low bytes */
}

static void special_complex(arrjit_dtype part, size_t index, void *out) {
  size_t count = tk_special_count(part), row = index / count % PARTNERS;
  tk_special(part, index % count, out);
  tk_special(part, (index % count * 5 + row * 11) % count, (char *)out + arrjit_dtype_bytes(part));
}

void tk_special(arrjit_dtype dtype, size_t index, void *out) {
  unsigned bits = (unsigned)arrjit_dtype_bytes(dtype) * 8;
  if (tk_is_complex(dtype)) {
    special_complex(tk_part(dtype), index, out);
  } else if (dtype == ARRJIT_F32) {
    store(dtype, f32_bits[index % TK_COUNT(f32_bits)], out);
  } else if (dtype == ARRJIT_F64) {
    store(dtype, f64_bits[index % TK_COUNT(f64_bits)], out);
  } else if (dtype == ARRJIT_F16) {
    store(dtype, f16_bits[index % TK_COUNT(f16_bits)], out);
  } else if (dtype == ARRJIT_BF16) {
    store(dtype, bf16_bits[index % TK_COUNT(bf16_bits)], out);
  } else if (dtype == ARRJIT_BOOL) {
    store(dtype, index, out);
  } else {
    index %= TK_COUNT(integers) + 2;
    uint64_t top = (uint64_t)1 << (bits - 1);
    store(dtype,
          index < TK_COUNT(integers)    ? (uint64_t)integers[index]
          : index == TK_COUNT(integers) ? top
                                        : top - 1,
          out);
  }
}

void tk_random_element(arrjit_dtype dtype, tk_random *pick, void *out) {
  if (tk_is_complex(dtype)) {
    arrjit_dtype part = tk_part(dtype);
    tk_random_element(part, pick, out);
    tk_random_element(part, pick, (char *)out + arrjit_dtype_bytes(part));
    return;
  }
  if (tk_chance(pick, 50)) {
    tk_special(dtype, tk_below(pick, tk_special_count(dtype)), out);
    return;
  }
  if (tk_chance(pick, 50)) { /* any bits */
    store(dtype, tk_next(pick), out);
    return;
  }
  int64_t small = (int64_t)tk_below(pick, 41) - 20;
  if (!tk_store_float(dtype, (double)small * 0.25, out)) store(dtype, (uint64_t)small, out);
}

void tk_random_index(arrjit_dtype dtype, int64_t bound, tk_random *pick, void *out) {
  int64_t index = bound > 0 ? (int64_t)tk_below(pick, (uint64_t)bound) : 0;
  uint64_t how = tk_below(pick, 20);
  if (how == 0) index = -1 - (int64_t)tk_below(pick, 3);
  if (how == 1) index = bound + (int64_t)tk_below(pick, 3);
  if (how == 2) {
    tk_special(dtype, tk_below(pick, tk_special_count(dtype)), out);
    return;
  }
  store(dtype, (uint64_t)index, out);
}
