/* Shortest digits that read back to the same float, by exact integer arithmetic: the free-format algorithm of Burger
 * and Dybvig (Printing Floating-Point Numbers Quickly and Accurately, PLDI 1996). With R/S the value and M+/S, M-/S
 * half the gaps to its neighbours, digits are taken until what is left lies within a gap. No table, no floating-point
 * operation. */
#include "base/number.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

/* The largest number here is below 2^1100: the least f64 needs S = 2^1076, the greatest R = 2^1026. */
enum { LIMBS = 36, MOST_DIGITS = 17 };
/* A natural number, least limb first, no zero limb at the top. */
typedef struct big {
  uint32_t count, limb[LIMBS];
} big;

static void set_small(big *a, uint64_t x) {
  a->limb[0] = (uint32_t)x;
  a->limb[1] = (uint32_t)(x >> 32);
  a->count = x >> 32 ? 2 : x ? 1 : 0;
}

static void multiply(big *a, uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    carry += (uint64_t)a->limb[i] * factor;
    a->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  AJ_ASSERT(carry == 0 || a->count < LIMBS);
  if (carry) a->limb[a->count++] = (uint32_t)carry;
}

static void shift_left(big *a, uint32_t bits) {
  multiply(a, 1u << bits % 32);
  uint32_t limbs = bits / 32;
  if (a->count == 0 || limbs == 0) return;
  AJ_ASSERT(a->count + limbs <= LIMBS);
  memmove(a->limb + limbs, a->limb, a->count * sizeof *a->limb);
  memset(a->limb, 0, limbs * sizeof *a->limb);
  a->count += limbs;
}

/* In steps of the greatest power that fits a limb. */
static void multiply_pow10(big *a, int32_t exponent) {
  for (; exponent >= 9; exponent -= 9) multiply(a, 1000000000);
  for (; exponent > 0; exponent--) multiply(a, 10);
}

static int compare(const big *a, const big *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (uint32_t i = a->count; i-- > 0;)
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  return 0;
}

/* a + b against c: the sum is made on a copy, the numbers are needed as they are. */
static int compare_sum(const big *a, const big *b, const big *c) {
  big sum = a->count >= b->count ? *a : *b;
  const big *other = a->count >= b->count ? b : a;
  uint64_t carry = 0;
  for (uint32_t i = 0; i < sum.count; i++) {
    carry += (uint64_t)sum.limb[i] + (i < other->count ? other->limb[i] : 0);
    sum.limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) sum.limb[sum.count++] = (uint32_t)carry;
  return compare(&sum, c);
}

/* a -= b, for a >= b */
static void subtract(big *a, const big *b) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    uint64_t difference = (uint64_t)a->limb[i] - (i < b->count ? b->limb[i] : 0) - borrow;
    a->limb[i] = (uint32_t)difference;
    borrow = difference >> 63;
  }
  while (a->count && a->limb[a->count - 1] == 0) a->count--;
}

typedef struct state {
  big r, s, more, less;
  bool even;
} state;

/* mantissa * 2^exponent; `narrow_below`: the gap below is half the gap above */
static void set_up(state *v, uint64_t mantissa, int32_t exponent, bool narrow_below) {
  uint32_t up = exponent > 0 ? (uint32_t)exponent : 0, down = exponent < 0 ? (uint32_t)-exponent : 0;
  uint32_t extra = narrow_below ? 2 : 1;
  set_small(&v->r, mantissa);
  shift_left(&v->r, up + extra);
  set_small(&v->s, 1);
  shift_left(&v->s, down + extra);
  set_small(&v->less, 1);
  shift_left(&v->less, up);
  v->more = v->less;
  if (narrow_below) multiply(&v->more, 2);
  v->even = mantissa % 2 == 0;
}

/* Makes R/S a fraction in [1/10, 1); returns the power of ten taken out. The first guess, from the number of bits, is
 * never too high and at most two too low: 1233/4096 lies just below log10(2). */
static int32_t scale(state *v, uint64_t mantissa, int32_t exponent) {
  int32_t top = exponent + 63 - __builtin_clzll(mantissa);
  int32_t power = top >= 0 ? top * 1233 / 4096 : -((-top * 1234 + 4095) / 4096);
  if (power >= 0) {
    multiply_pow10(&v->s, power);
  } else {
    multiply_pow10(&v->r, -power);
    multiply_pow10(&v->more, -power);
    multiply_pow10(&v->less, -power);
  }
  while (compare_sum(&v->r, &v->more, &v->s) >= (v->even ? 0 : 1)) {
    multiply(&v->s, 10);
    power++;
  }
  return power;
}

/* Digits until the rest of the value lies within half a gap of a neighbour: then no further digit is needed to tell it
 * from them. A value with an even mantissa owns the borders themselves, since reading rounds to even. */
static uint32_t take_digits(state *v, char *digits) {
  for (uint32_t count = 0;;) {
    multiply(&v->r, 10);
    multiply(&v->more, 10);
    multiply(&v->less, 10);
    char digit = '0';
    for (; compare(&v->r, &v->s) >= 0; digit++) subtract(&v->r, &v->s);
    int low_side = compare(&v->r, &v->less), high_side = compare_sum(&v->r, &v->more, &v->s);
    bool low = v->even ? low_side <= 0 : low_side < 0, high = v->even ? high_side >= 0 : high_side > 0;
    if (low || high) {
      /* Both neighbours' sides reached: the nearer digit, up on a tie. */
      if (high && (!low || compare_sum(&v->r, &v->r, &v->s) >= 0)) digit++;
      digits[count++] = digit;
      return count;
    }
    AJ_ASSERT(count < MOST_DIGITS);
    digits[count++] = digit;
  }
}

/* 0.DIGITS * 10^power, laid out as %.17g does. */
static size_t lay_out(char *out, const char *digits, uint32_t count, int32_t power) {
  char *at = out;
  int32_t exponent = power - 1;
  if (exponent < -4 || exponent >= MOST_DIGITS) {
    *at++ = digits[0];
    if (count > 1) *at++ = '.';
    memcpy(at, digits + 1, count - 1);
    at += count - 1;
    return (size_t)(at - out) +
           (size_t)snprintf(at, 8, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
  }
  if (power <= 0) {
    memcpy(at, "0.", 2);
    memset(at + 2, '0', (size_t)-power);
    at += 2 - power;
    memcpy(at, digits, count);
    at += count;
  } else {
    for (int32_t i = 0; i < power || i < (int32_t)count; i++) {
      if (i == power) *at++ = '.';
      *at++ = i < (int32_t)count ? digits[i] : '0';
    }
  }
  *at = 0;
  return (size_t)(at - out);
}

typedef struct float_form {
  uint32_t mantissa_bits, exponent_bits;
} float_form;

/* Any IEEE format of up to 64 bits, from its fields. */
static size_t print_bits(char *out, uint64_t bits, float_form form) {
  uint64_t mantissa = bits & ((UINT64_C(1) << form.mantissa_bits) - 1);
  int32_t exponent_mask = (1 << form.exponent_bits) - 1;
  int32_t biased = (int32_t)(bits >> form.mantissa_bits) & exponent_mask;
  bool negative = bits >> (form.mantissa_bits + form.exponent_bits) & 1;
  char *at = out;
  if (negative && !(biased == exponent_mask && mantissa)) *at++ = '-';
  if (biased == exponent_mask || (biased == 0 && mantissa == 0)) {
    const char *word = biased == 0 ? "0" : mantissa ? "nan" : "inf";
    memcpy(at, word, strlen(word) + 1);
    return (size_t)(at - out) + strlen(word);
  }
  bool narrow_below = mantissa == 0 && biased > 1;
  if (biased) mantissa |= UINT64_C(1) << form.mantissa_bits;
  int32_t exponent = (biased ? biased : 1) - (exponent_mask >> 1) - (int32_t)form.mantissa_bits;
  state v;
  char digits[MOST_DIGITS + 1];
  set_up(&v, mantissa, exponent, narrow_below);
  int32_t power = scale(&v, mantissa, exponent);
  uint32_t count = take_digits(&v, digits);
  return (size_t)(at - out) + lay_out(at, digits, count, power);
}

size_t aj_number_f64(char out[AJ_NUMBER_BYTES], double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return print_bits(out, bits, (float_form){52, 11});
}

size_t aj_number_f32(char out[AJ_NUMBER_BYTES], float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return print_bits(out, bits, (float_form){23, 8});
}

size_t aj_number_f16(char out[AJ_NUMBER_BYTES], uint16_t bits) { return print_bits(out, bits, (float_form){10, 5}); }
size_t aj_number_bf16(char out[AJ_NUMBER_BYTES], uint16_t bits) { return print_bits(out, bits, (float_form){7, 8}); }
