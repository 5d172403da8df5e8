/* Timing two things against each other: interleaved, medians, spread; one JSON line a comparison. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <arrjit/arrjit.h>
#include <stdbool.h>

typedef void bench_fn(void *state);

typedef struct bench_options {
  bool smoke;         /* one short round: does it run at all */
  const char *filter; /* only cases whose name holds it; NULL: all */
  const char *json;   /* file for JSON lines; NULL: none */
  int threads;        /* that a kernel may use: peers have one */
} bench_options;
extern bench_options bench_opts;

typedef struct bench_pair {
  const char *name, *dtype, *mode, *unit, *peer; /* peer "none": ours alone */
  int64_t n;
  double units; /* units of work a call: times are divided by it */
  bench_fn *ours;
  void *ours_state;
  bench_fn *theirs; /* NULL: none */
  void *their_state;
} bench_pair;

/* Whether the filter lets a case through. */
bool bench_wanted(const char *name);
/* Times the pair in turn, prints a row and a JSON line. Results must have been compared before. */
void bench_compare(const bench_pair *pair);
/* A figure that was measured otherwise. */
void bench_report(const bench_pair *pair, double ours_ns, double peer_ns);
/* Ends with a message when a status is not OK or two results differ. */
void bench_must(arrjit_status status, const arrjit_error *error);
void bench_check(bool same, const char *name);
double bench_now_ns(void);
/* Median of `count` numbers, which are sorted in place. */
double bench_median(double *values, int count);
extern arrjit_context *bench_context;

/* One function a topic file. */
void bench_elementwise(void);
void bench_functions(void);
void bench_scalar(void);
void bench_maps(void);
void bench_calls(void);
void bench_failures(void);
void bench_startup(void);

/* peers.c: hand-written loops, gcc -O3 -march=native */
void peer_chain_f32(int64_t n, const float *restrict a, const float *restrict b, const float *restrict c,
                    float *restrict out);
void peer_chain_f64(int64_t n, const double *restrict a, const double *restrict b, const double *restrict c,
                    double *restrict out);
float peer_sum_f32(int64_t n, const float *restrict x);
double peer_sum_f64(int64_t n, const double *restrict x);
/* libm over an array; which: exp log tanh sin cos. */
void peer_function_f32(int which, int64_t n, const float *restrict x, float *restrict out);
void peer_function_f64(int which, int64_t n, const double *restrict x, double *restrict out);
int64_t peer_collatz(int64_t limit);
double peer_newton(double a, int64_t rounds);
void peer_mandelbrot(int64_t n, const float *restrict x, const float *restrict y, int32_t most,
                     int32_t *restrict counts);
void peer_newton_map(int64_t n, const double *restrict a, double *restrict roots);
int64_t peer_mix(int64_t n);

#endif
