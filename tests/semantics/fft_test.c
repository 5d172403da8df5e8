/* Transforms against the sum that defines them, in long double. */
#include "fixture.h"
#include "floats.h"

#define C(re, im) __builtin_complex((double)(re), (double)(im))

typedef struct cell {
  long double re, im;
} cell;

/* e^(-2 pi i k / n) for all k: the C library's long double, of angles up to pi / 4. */
static cell *make_roots(int64_t n) {
  const long double eighth = 0.785398163397448309615660845819875721L;
  cell *roots = malloc((size_t)n * sizeof *roots);
  for (int64_t k = 0; k < n; k++) {
    int64_t octant = 8 * k / n, rest = 8 * k - octant * n;
    bool odd = octant % 2 != 0;
    long double x = eighth * (long double)(odd ? n - rest : rest) / (long double)n, c = cosl(x), s = sinl(x);
    if (octant % 4 == 1 || octant % 4 == 2) {
      long double t = c;
      c = s, s = t;
    }
    roots[k] = (cell){octant >= 2 && octant < 6 ? -c : c, octant >= 4 ? s : -s};
  }
  return roots;
}

/* Element k of the transform of a row; sign -1: the inverse, not divided. */
static cell find_element(const cell *roots, int64_t n, const double *row, int64_t k, int sign) {
  cell sum = {0, 0};
  for (int64_t j = 0, at = 0; j < n; j++, at = (at + k) % n) {
    long double c = roots[at].re, s = roots[at].im * sign, re = row[2 * j], im = row[2 * j + 1];
    sum.re += re * c - im * s;
    sum.im += re * s + im * c;
  }
  return sum;
}

/* Numbers in -1 .. 1 that f32 has too. */
static double *make_numbers(int64_t count, uint64_t seed) {
  double *numbers = malloc((size_t)(count + 1) * sizeof *numbers);
  tk_random random = {seed};
  for (int64_t i = 0; i < count; i++) numbers[i] = (double)(tk_next(&random) >> 41) * 0x1p-22 - 1;
  return numbers;
}

/* As the dtype's parts. */
static void *as_parts(const double *numbers, int64_t count, bool single) {
  float *narrow = malloc((size_t)(count + 1) * 8);
  memcpy(narrow, numbers, (size_t)count * 8);
  for (int64_t i = 0; single && i < count; i++) narrow[i] = (float)numbers[i];
  return narrow;
}

static double get_part(const tk_block *block, int64_t i, bool single) {
  return single ? (double)((const float *)(const void *)block->data)[i]
                : ((const double *)(const void *)block->data)[i];
}

/* The largest error that the op table allows, as a part of the result's 2-norm. */
static long double find_bound(int64_t n, bool single) {
  return single ? 0x1p-24L * (1 + 0x1p-20L) : 0x1p-52L * (2 + log2l((long double)n));
}

/* Output `which`, `rows` rows of `n` numbers, against the transform of `numbers`. Of long rows some elements: they have
 * their share of the error. */
static void check_rows(const tk_outcome *o, size_t which, int64_t rows, int64_t n, const double *numbers, int sign,
                       bool single) {
  cell *roots = make_roots(n);
  int64_t step = n > 2000 ? n / 61 : 1;
  long double scale = sign < 0 ? (long double)n : 1;
  for (int64_t row = 0; row < rows; row++) {
    long double error = 0, norm = 0;
    for (int64_t k = 0; k < n; k += step) {
      cell want = find_element(roots, n, numbers + row * 2 * n, k, sign);
      long double re = get_part(&o->outputs[which], (row * n + k) * 2, single) - want.re / scale;
      long double im = get_part(&o->outputs[which], (row * n + k) * 2 + 1, single) - want.im / scale;
      error += re * re + im * im;
      norm += (want.re * want.re + want.im * want.im) / (scale * scale);
    }
    long double bound = find_bound(n, single), is = sqrtl(error / norm);
    if (!(is <= bound)) fail_msg("%lld elements: error %Lg, bound %Lg", (long long)n, is, bound);
  }
  free(roots);
}

/* Forward, back from there, and the inverse alone. */
static void check_complex(tk_fixture *f, arrjit_dtype dtype, int64_t rows, int64_t n) {
  bool single = dtype == ARRJIT_C64;
  double *numbers = make_numbers(2 * rows * n, (uint64_t)n);
  void *parts = as_parts(numbers, 2 * rows * n, single);
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = dtype, .rank = 2, .dims = {arrjit_symbol(g, "m"), arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_fft_last(g, x, 0);
  RETURN(g, y, arrjit_fft_last(g, x, 1), arrjit_fft_last(g, y, 1));
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, arrjit_type_make(dtype, 2, I64S(rows, n)), parts));
  if (n > 0) check_rows(o, 0, rows, n, numbers, 1, single);
  if (n > 0) check_rows(o, 1, rows, n, numbers, -1, single);
  long double error = 0, norm = 0;
  for (int64_t i = 0; i < 2 * rows * n; i++) {
    long double off = get_part(&o->outputs[2], i, single) - (long double)numbers[i];
    error += off * off;
    norm += (long double)numbers[i] * (long double)numbers[i];
  }
  assert_true(sqrtl(error) <= 2 * find_bound(n > 0 ? n : 1, single) * sqrtl(norm));
  free(parts);
  free(numbers);
}

static void test_all_small_lengths(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  for (int64_t n = 0; n <= 64; n++) check_complex(f, n % 2 ? ARRJIT_C64 : ARRJIT_C128, 3, n);
}

static void test_primes_and_long_rows(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  static const int64_t lengths[] = {74, 101, 961, 1009, 1000, 2310, 4099, 65536};
  for (size_t i = 0; i < TK_COUNT(lengths); i++) check_complex(f, ARRJIT_C128, 1, lengths[i]);
  check_complex(f, ARRJIT_C64, 2, 4096);
}

/* A real row's spectrum is the first half of a complex one's, and comes back. */
static void check_real(tk_fixture *f, arrjit_dtype dtype, int64_t rows, int64_t n) {
  bool single = dtype == ARRJIT_F32;
  int64_t half = n / 2 + 1;
  double *numbers = make_numbers(rows * n, (uint64_t)n), *pairs = calloc((size_t)(2 * rows * n + 1), sizeof *pairs);
  void *parts = as_parts(numbers, rows * n, single);
  for (int64_t i = 0; i < rows * n; i++) pairs[2 * i] = numbers[i];
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = dtype, .rank = 2, .dims = {rows, arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_rfft_last(g, x);
  RETURN(g, y, arrjit_irfft_last(g, y, 1, &type.dims[1]));
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, arrjit_type_make(dtype, 2, I64S(rows, n)), parts));
  EXPECT_SHAPE(o, 0, rows, half);
  cell *roots = make_roots(n);
  long double error = 0, norm = 0, back = 0, all = 0;
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t k = 0; k < half; k++) {
      cell want = find_element(roots, n, pairs + row * 2 * n, k, 1);
      double re = get_part(&o->outputs[0], (row * half + k) * 2, single);
      double im = get_part(&o->outputs[0], (row * half + k) * 2 + 1, single);
      if (k == 0 || 2 * k == n) assert_true(im == 0 && !signbit(im));
      error += (re - want.re) * (re - want.re) + (im - want.im) * (im - want.im);
      norm += want.re * want.re + want.im * want.im;
    }
  }
  for (int64_t i = 0; i < rows * n; i++) {
    long double off = get_part(&o->outputs[1], i, single) - (long double)numbers[i];
    back += off * off;
    all += (long double)numbers[i] * (long double)numbers[i];
  }
  assert_true(sqrtl(error) <= find_bound(n, single) * sqrtl(norm));
  assert_true(sqrtl(back) <= 2 * find_bound(n, single) * sqrtl(all));
  free(roots);
  free(parts);
  free(pairs);
  free(numbers);
}

static void test_real_rows(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  for (int64_t n = 1; n <= 40; n++) check_real(f, n % 3 ? ARRJIT_F64 : ARRJIT_F32, 2, n);
  check_real(f, ARRJIT_F64, 1, 1009);
  check_real(f, ARRJIT_F64, 1, 2018);
  check_real(f, ARRJIT_F32, 1, 1024);
}

/* No elements: a spectrum of one 0, and back to none. */
static void test_no_elements(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 2, arrjit_symbol(g, "n")), y = arrjit_rfft(g, x, 1, I64S(1), NULL);
  RETURN(g, y, arrjit_irfft(g, y, 1, I64S(1), NULL), arrjit_fft(g, y, 1, I64S(1), I64S(0)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(F64, 2, 0), NULL));
  EXPECT(o, 0, C128, 0, 0);
  EXPECT_SHAPE(o, 1, 2, 0);
  EXPECT_SHAPE(o, 2, 2, 0);
}

/* What the imaginary parts of the first and the last element are makes no difference. */
static void test_back_reads_half_a_spectrum(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 3);
  RETURN(g, arrjit_irfft_last(g, x, 1, I64S(4)), arrjit_irfft(g, x, 1, I64S(0), I64S(1)),
         arrjit_irfft(g, x, 1, I64S(0), I64S(2)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, C128, C(10, NAN), C(-2, 2), C(-2, INFINITY)));
  EXPECT(o, 0, F64, 1, 2, 3, 4);
  EXPECT(o, 1, F64, 10);
  EXPECT(o, 2, F64, 4, 6);
}

/* Axes in any order, cut and padded, of numbers and of symbols; the other axis first makes the same sums. */
static void test_axes_and_lengths(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  int64_t n = arrjit_symbol(g, "n"), k = arrjit_symbol(g, "k");
  arrjit_value x = PARAM(g, "x", C128, 2, n), size = PARAM(g, "size", BOOL, k), r = arrjit_real(g, x);
  arrjit_value known = PARAM(g, "known", C128, 3);
  RETURN(g, size, arrjit_fft(g, x, ARRJIT_ALL_AXES, NULL, NULL), arrjit_fft(g, x, 1, I64S(0), I64S(3)),
         arrjit_fft(g, x, 2, I64S(1, 0), I64S(2, 1)), arrjit_fft(g, x, 1, I64S(1), I64S(k)),
         arrjit_rfft(g, r, 2, I64S(0, 1), NULL),
         arrjit_irfft(g, arrjit_rfft(g, r, 2, I64S(0, 1), NULL), 2, I64S(0, 1), I64S(2, n)),
         arrjit_ifft(g, x, 0, NULL, NULL), arrjit_fft(g, known, 1, I64S(0), I64S(2)),
         arrjit_fft(g, known, 1, I64S(0), I64S(4)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(C128, 2, 4), C128, 1, 2, 3, 4, C(5, 1), 6, 7, 8),
                            ARRAY(f, BOOL, 1, 1, 1, 1, 1), ARRAY(f, C128, 1, C(0, 1), 4));
  EXPECT(o, 1, C128, C(36, 1), C(-4, 5), C(-4, 1), C(-4, -3), C(-16, -1), C(0, -1), C(0, -1), C(0, -1));
  EXPECT_SHAPE(o, 2, 3, 4);
  EXPECT(o, 3, C128, 3, -1);
  EXPECT_SHAPE(o, 3, 1, 2);
  EXPECT_SHAPE(o, 4, 2, 5);
  assert_true(((const double _Complex *)(const void *)o->outputs[4].data)[0] == 10);
  EXPECT(o, 5, C128, 36, C(-4, 4), -4, -16, 0, 0);
  EXPECT(o, 6, F64, 1, 2, 3, 4, 5, 6, 7, 8);
  EXPECT(o, 7, C128, 1, 2, 3, 4, C(5, 1), 6, 7, 8);
  EXPECT(o, 8, C128, C(1, 1), C(1, -1));
  EXPECT(o, 9, C128, C(5, 1), C(-2, 0), C(5, -1), C(-4, 0));
}

/* What is no number spreads over its own row, as canonical NaN. */
static void test_nan_and_inf_stay_in_their_row(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3, 2), y = arrjit_rfft_last(g, x);
  RETURN(g, y, arrjit_imag(g, y));
  const uint32_t odd = 0xffc00005;
  float parts[6] = {0, 1, INFINITY, 1, 2, 1};
  memcpy(parts, &odd, sizeof odd);
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(F32, 3, 2), parts));
  EXPECT(o, 1, F32, 0, 0, 0, 0, 0, 0);
  const float *out = (const void *)o->outputs[0].data;
  const uint32_t canonical = 0x7fc00000;
  assert_memory_equal(out, &canonical, sizeof canonical);
  assert_true(!isfinite(out[4]) && !isfinite(out[6]));
  assert_true(out[8] == 3 && out[10] == 1);
}

/* Many rows on several threads, each with memory of its own: the bits of one. */
static void test_threads_make_no_difference(void **state) {
  tk_fixture *f = *state;
  enum { ROWS = 37, N = 2020 };
  double *numbers = make_numbers(2 * ROWS * N, 5);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, ROWS, N);
  RETURN(g, arrjit_fft_last(g, x, 0), arrjit_irfft(g, x, 1, I64S(1), NULL));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *in = tk_array(f, TYPE(C128, ROWS, N), numbers), *first[2] = {NULL, NULL};
  static const int64_t threads[] = {1, 2, 8};
  for (size_t i = 0; i < TK_COUNT(threads); i++) {
    arrjit_error error;
    assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_THREADS, threads[i], &error), ARRJIT_OK);
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_run(function, NULL, 1, &in, &result, &error), ARRJIT_OK);
    for (size_t k = 0; k < 2; k++) {
      arrjit_array *out = arrjit_result_output(result, k);
      if (i == 0) {
        arrjit_array_retain(out);
        first[k] = out;
        tk_keep(f, out);
      } else {
        assert_memory_equal(arrjit_array_data(out), arrjit_array_data(first[k]), ROWS * N * (k ? 8 : 16));
      }
    }
    arrjit_result_destroy(result);
  }
  free(numbers);
}

/* Every allocation of a run is refused once: the failure is one of memory, and the next run works. */
static void test_refused_allocations(void **state) {
  tk_fixture *f = *state;
  enum { N = 101, ROWS = 2 };
  double *numbers = make_numbers(ROWS * N, 5);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, ROWS, N);
  RETURN(g, arrjit_rfft_last(g, x), arrjit_irfft(g, arrjit_rfft(g, x, 2, I64S(1, 0), NULL), 2, I64S(1, 0), NULL));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *in = tk_array(f, TYPE(F64, ROWS, N), numbers);
  const arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_INTERP};
  bool done = false;
  int64_t refused = 0;
  for (; !done; refused++) {
    arrjit_result *result = NULL;
    arrjit_error error;
    tk_alloc_arm(&f->alloc, refused + 1);
    arrjit_status status = arrjit_run(function, &options, 1, &in, &result, &error);
    tk_alloc_arm(&f->alloc, 0);
    done = status == ARRJIT_OK && arrjit_result_ok(result);
    if (status != ARRJIT_OK)
      assert_int_equal(status, ARRJIT_MEMORY);
    else if (!done)
      assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_MEMORY);
    arrjit_result_destroy(result);
  }
  assert_true(refused > 8); /* plans, rows, results */
  free(numbers);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_all_small_lengths),
    TK_TEST(test_primes_and_long_rows),
    TK_TEST(test_real_rows),
    TK_TEST(test_no_elements),
    TK_TEST(test_back_reads_half_a_spectrum),
    TK_TEST(test_axes_and_lengths),
    TK_TEST(test_nan_and_inf_stay_in_their_row),
    TK_TEST(test_threads_make_no_difference),
    TK_TEST(test_refused_allocations),
};

TEST_MAIN(tests, NULL, NULL)
