/* The C loops that the library is measured against, compiled -O3 -march=native. */
#include <math.h>

#include "harness.h"

void peer_chain_f32(int64_t n, const float *restrict a, const float *restrict b, const float *restrict c,
                    float *restrict out) {
  for (int64_t i = 0; i < n; i++) out[i] = 2 * a[i] + 3 * b[i] * c[i] - a[i] * b[i];
}

void peer_chain_f64(int64_t n, const double *restrict a, const double *restrict b, const double *restrict c,
                    double *restrict out) {
  for (int64_t i = 0; i < n; i++) out[i] = 2 * a[i] + 3 * b[i] * c[i] - a[i] * b[i];
}

/* Sixteen chains, as a person would write it who wants it fast. */
float peer_sum_f32(int64_t n, const float *restrict x) {
  float s[16] = {0}, total = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; k++) s[k] += x[i + k];
  for (; i < n; i++) total += x[i];
  for (int k = 0; k < 16; k++) total += s[k];
  return total;
}

double peer_sum_f64(int64_t n, const double *restrict x) {
  double s[16] = {0}, total = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; k++) s[k] += x[i + k];
  for (; i < n; i++) total += x[i];
  for (int k = 0; k < 16; k++) total += s[k];
  return total;
}

#define EACH(f)                                                                                                        \
  for (int64_t i = 0; i < n; i++) out[i] = f(x[i]);                                                                    \
  break;
void peer_function_f32(int which, int64_t n, const float *restrict x, float *restrict out) {
  switch (which) {
  case 0: EACH(expf)
  case 1: EACH(logf)
  case 2: EACH(tanhf)
  case 3: EACH(sinf)
  default: EACH(cosf)
  }
}
void peer_function_f64(int which, int64_t n, const double *restrict x, double *restrict out) {
  switch (which) {
  case 0: EACH(exp)
  case 1: EACH(log)
  case 2: EACH(tanh)
  case 3: EACH(sin)
  default: EACH(cos)
  }
}

/* Steps of all starts from 1 to limit until 1 is reached. */
int64_t peer_collatz(int64_t limit) {
  int64_t steps = 0;
  for (int64_t start = 1; start <= limit; start++)
    for (int64_t x = start; x != 1; steps++) x = x & 1 ? 3 * x + 1 : x >> 1;
  return steps;
}

/* Square roots of a, a + 1, ... by 20 Newton steps each, summed. */
double peer_newton(double a, int64_t rounds) {
  double sum = 0;
  for (int64_t k = 0; k < rounds; k++) {
    double v = a + (double)k, x = v;
    for (int i = 0; i < 20; i++) x = 0.5 * (x + v / x);
    sum += x;
  }
  return sum;
}

/* Without contraction, to give the same counts. */
#ifndef __clang__
__attribute__((optimize("fp-contract=off")))
#endif
void
peer_mandelbrot(int64_t n, const float *restrict x, const float *restrict y, int32_t most, int32_t *restrict counts) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < n; k++) {
      float a = 0, b = 0;
      int32_t count = 0;
      for (; a * a + b * b <= 4 && count < most; count++) {
        float next = a * a - b * b + x[k];
        b = (a + a) * b + y[i];
        a = next;
      }
      counts[i * n + k] = count;
    }
}

void peer_newton_map(int64_t n, const double *restrict a, double *restrict roots) {
  for (int64_t i = 0; i < n; i++) {
    double last = 0, x = a[i];
    while (last != x) {
      double next = 0.5 * (x + a[i] / x);
      last = x;
      x = next < x ? next : x;
    }
    roots[i] = x;
  }
}

/* A 64-bit state stirred n times, with branches where raise_catch raises. */
int64_t peer_mix(int64_t n) {
  uint64_t s = 1;
  for (int64_t i = 0; i < n; i++) {
    uint64_t t = s * 6364136223846793005u + 1442695040888963407u;
    s = t != 0 ? t ^ (uint64_t)i : 1;
  }
  return (int64_t)s;
}
