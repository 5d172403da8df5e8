/* Discrete Fourier transforms of one row, in f64: plans, made once a call and shared by the threads that run them. */
#ifndef AJ_SEM_FFT_H
#define AJ_SEM_FFT_H

#include "sem/routine.h"

typedef struct aj_cell {
  double re, im;
} aj_cell;

enum { AJ_FFT_PASSES = 64 };
/* A length whose prime factors are small: one pass over the row a factor. */
typedef struct aj_fft_smooth {
  int64_t n;
  int32_t count, factors[AJ_FFT_PASSES];
  aj_cell *roots; /* n: aj_fft_root(k, n) */
} aj_fft_smooth;

typedef struct aj_fft_plan {
  int64_t n;
  aj_fft_smooth passes;    /* of n; where n has a large prime factor, of a length that holds the convolution */
  aj_cell *chirp, *filter; /* n and passes.n of them; NULL: passes are of n */
  aj_cell *memory;         /* all of the above */
  size_t count;
} aj_fft_plan;

/* e^(-2 pi i k / n), 0 <= k < n: within 2 units of 2^-53 in each part; exact where k / n is a multiple of 1/4. */
aj_cell aj_fft_root(int64_t k, int64_t n);
/* n of them, from k = 0 on in steps of 1, of the circle cut into `of`. False: stopped. */
bool aj_fft_fill_roots(aj_cell *out, int64_t count, int64_t of, aj_poller *poller);

/* n >= 1. OK, MEMORY or STOPPED; to be freed when OK. */
aj_sem_status aj_fft_plan_make(aj_fft_plan *plan, aj_mem *mem, int64_t n, aj_poller *poller);
void aj_fft_plan_free(aj_fft_plan *plan, aj_mem *mem);
/* The forward transform of the plan's n cells at a. Both buffers are of passes.n cells and are overwritten; the result
 * lies in one of them. NULL: stopped. */
aj_cell *aj_fft_run(const aj_fft_plan *plan, aj_cell *a, aj_cell *b, aj_poller *poller);

static inline aj_cell aj_cell_mul(aj_cell x, aj_cell y) {
  return (aj_cell){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
/* The parts change places: the inverse transform is the forward one between two of these. */
static inline aj_cell aj_cell_swap(aj_cell x) { return (aj_cell){x.im, x.re}; }

#endif
