/* Special and random numbers; see numbers.h. */
#include "numbers.h"

#include <string.h>

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

size_t tk_special_count(arrjit_dtype dtype) {
  if (dtype == ARRJIT_F32) return TK_COUNT(f32_bits);
  if (dtype == ARRJIT_F64) return TK_COUNT(f64_bits);
  if (dtype == ARRJIT_BOOL) return 2;
  return TK_COUNT(integers) + 2; /* and the dtype's own ends */
}

static void store(arrjit_dtype dtype, uint64_t bits, void *out) {
  if (dtype == ARRJIT_BOOL) bits &= 1;
  memcpy(out, &bits, arrjit_dtype_bytes(dtype)); /* little-endian: the low bytes */
}

void tk_special(arrjit_dtype dtype, size_t index, void *out) {
  unsigned bits = (unsigned)arrjit_dtype_bytes(dtype) * 8;
  if (dtype == ARRJIT_F32) {
    store(dtype, f32_bits[index % TK_COUNT(f32_bits)], out);
  } else if (dtype == ARRJIT_F64) {
    store(dtype, f64_bits[index % TK_COUNT(f64_bits)], out);
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
  if (tk_chance(pick, 50)) {
    tk_special(dtype, tk_below(pick, tk_special_count(dtype)), out);
    return;
  }
  if (tk_chance(pick, 50)) { /* any bits */
    store(dtype, tk_next(pick), out);
    return;
  }
  int64_t small = (int64_t)tk_below(pick, 41) - 20;
  float f = (float)small * 0.25f;
  double d = (double)small * 0.25;
  if (dtype == ARRJIT_F32) {
    memcpy(out, &f, sizeof f);
  } else if (dtype == ARRJIT_F64) {
    memcpy(out, &d, sizeof d);
  } else {
    store(dtype, (uint64_t)small, out);
  }
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
