/* Transforms of one row: mixed radix where all prime factors are small, else as a convolution with a chirp (Bluestein).
 * Passes go between two buffers and leave the row in order (Stockham). Every operation is an f64 one of this file, and
 * the library is built without contraction, so the bits are the same on every CPU. */
#include "sem/fft.h"

#include <string.h>

enum { LARGEST_RADIX = 31 };

/* ---- roots of unity ---- */

/* cos x and -sin x for x = pi/4 * k/n, 0 <= k <= n: Taylor's series, whose rest is below 2^-58 there. */
static aj_cell find_first_octant(int64_t k, int64_t n) {
  double x = (double)k / (double)n * 0.78539816339744830962, z = x * x;
  double c = 1.0 / 20922789888000;
  c = c * z - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  double s = 1.0 / 355687428096000;
  s = s * z - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  return (aj_cell){1 - (0.5 * z - c * z * z), -(x + s * z * x)};
}

/* The octant and what is left are found by integers, exactly. */
aj_cell aj_fft_root(int64_t k, int64_t n) {
  int64_t quarter = 0;
  uint64_t at = (uint64_t)k * 4, circle = (uint64_t)n;
  while (at >= circle) at -= circle, quarter++; /* four times at most */
  bool mirrored = 2 * at > circle;
  aj_cell w = find_first_octant((int64_t)(2 * (mirrored ? circle - at : at)), n);
  if (mirrored) w = (aj_cell){-w.im, -w.re};
  switch (quarter) {
  case 0: return w;
  case 1: return (aj_cell){w.im, -w.re};
  case 2: return (aj_cell){-w.re, -w.im};
  default: return (aj_cell){-w.im, w.re};
  }
}

bool aj_fft_fill_roots(aj_cell *out, int64_t count, int64_t of, aj_poller *poller) {
  enum { PIECE = 512 };
  int64_t quarter = of % 4 == 0 ? of / 4 : count; /* behind the first quarter they are turned, the same numbers */
  for (int64_t k = 0, end; k < count; k = end) {
    end = k + PIECE < count ? k + PIECE : count;
    for (int64_t i = k; i < end; i++)
      out[i] = i < quarter ? aj_fft_root(i, of) : (aj_cell){out[i - quarter].im, -out[i - quarter].re};
    if (aj_poller_stops(poller, 4 * (end - k))) return false;
  }
  return true;
}

/* ---- passes ---- */

/* A pass by `radix`: rows of s * m * radix cells become s * radix transforms of length m. Point j of these, for all q <
 * s, is a transform of the cells that lie s * m apart, turned by roots. */
typedef struct pass {
  const aj_cell *in;
  aj_cell *out;
  const aj_fft_smooth *plan;
  int64_t m, s;
  int32_t radix;
} pass;
/* The points [j, j_end), of each the cells [q, q_end). */
typedef void run_points(const pass *t, int64_t j, int64_t j_end, int64_t q, int64_t q_end);

static inline aj_cell add(aj_cell x, aj_cell y) { return (aj_cell){x.re + y.re, x.im + y.im}; }
static inline aj_cell sub(aj_cell x, aj_cell y) { return (aj_cell){x.re - y.re, x.im - y.im}; }
static inline aj_cell scale(aj_cell x, double by) { return (aj_cell){x.re * by, x.im * by}; }
static inline aj_cell turn_back(aj_cell x) { return (aj_cell){x.im, -x.re}; } /* times -i */

/* What a butterfly does to the cells x[0 .. RADIX - 1]; the first point needs no turning. Without loops over these
 * cells, so that compilers keep them in registers. */
#define PASS(name, RADIX, butterfly)                                                                                   \
  static void name(const pass *t, int64_t j, int64_t j_end, int64_t q, int64_t q_end) {                                \
    int64_t s = t->s, far = t->m * s;                                                                                  \
    for (; j < j_end; j++) {                                                                                           \
      const aj_cell *restrict in = t->in + j * s, *restrict roots = t->plan->roots;                                    \
      aj_cell *restrict out = t->out + RADIX * j * s;                                                                  \
      aj_cell w1 = roots[j * s], w2 = w1, w3 = w1, w4 = w1, x[5];                                                      \
      if (RADIX > 2) w2 = roots[2 * j * s];                                                                            \
      if (RADIX > 3) w3 = roots[3 * j * s];                                                                            \
      if (RADIX > 4) w4 = roots[4 * j * s];                                                                            \
      for (int64_t i = q; i < q_end; i++) {                                                                            \
        x[0] = in[i], x[1] = in[i + far];                                                                              \
        if (RADIX > 2) x[2] = in[i + 2 * far];                                                                         \
        if (RADIX > 3) x[3] = in[i + 3 * far];                                                                         \
        if (RADIX > 4) x[4] = in[i + 4 * far];                                                                         \
        butterfly(x);                                                                                                  \
        out[i] = x[0];                                                                                                 \
        out[i + s] = j > 0 ? aj_cell_mul(x[1], w1) : x[1];                                                             \
        if (RADIX > 2) out[i + 2 * s] = j > 0 ? aj_cell_mul(x[2], w2) : x[2];                                          \
        if (RADIX > 3) out[i + 3 * s] = j > 0 ? aj_cell_mul(x[3], w3) : x[3];                                          \
        if (RADIX > 4) out[i + 4 * s] = j > 0 ? aj_cell_mul(x[4], w4) : x[4];                                          \
      }                                                                                                                \
    }                                                                                                                  \
  }

static inline void butterfly2(aj_cell *x) {
  aj_cell y = x[1];
  x[1] = sub(x[0], y);
  x[0] = add(x[0], y);
}

static inline void butterfly3(aj_cell *x) {
  const double sine = 0.86602540378443864676;
  aj_cell sum = add(x[1], x[2]), turned = scale(turn_back(sub(x[1], x[2])), sine), mid = sub(x[0], scale(sum, 0.5));
  x[0] = add(x[0], sum);
  x[1] = add(mid, turned);
  x[2] = sub(mid, turned);
}

static inline void butterfly4(aj_cell *x) {
  aj_cell a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = turn_back(sub(x[1], x[3]));
  x[0] = add(a, c);
  x[1] = add(b, d);
  x[2] = sub(a, c);
  x[3] = sub(b, d);
}

static inline void butterfly5(aj_cell *x) {
  const double c1 = 0.30901699437494742410, s1 = 0.95105651629515357212, /* of 72 and 144 degrees */
      c2 = -0.80901699437494742410, s2 = 0.58778525229247312917;
  aj_cell a = add(x[1], x[4]), b = add(x[2], x[3]), c = sub(x[1], x[4]), d = sub(x[2], x[3]);
  aj_cell near = add(x[0], add(scale(a, c1), scale(b, c2))), far = add(x[0], add(scale(a, c2), scale(b, c1)));
  aj_cell u = turn_back(add(scale(c, s1), scale(d, s2))), v = turn_back(sub(scale(c, s2), scale(d, s1)));
  x[0] = add(x[0], add(a, b));
  x[1] = add(near, u);
  x[2] = add(far, v);
  x[3] = sub(far, v);
  x[4] = sub(near, u);
}

PASS(run_points2, 2, butterfly2)
PASS(run_points3, 3, butterfly3)
PASS(run_points4, 4, butterfly4)
PASS(run_points5, 5, butterfly5)

/* Any odd radix, by its formula: cells r and radix - r share their roots. */
static void run_points_any(const pass *t, int64_t j, int64_t j_end, int64_t q, int64_t q_end) {
  aj_cell sums[LARGEST_RADIX / 2 + 1], differences[LARGEST_RADIX / 2 + 1];
  const aj_cell *roots = t->plan->roots;
  int32_t radix = t->radix;
  int64_t s = t->s, far = t->m * s, turn = t->plan->n / radix;
  for (; j < j_end; j++) {
    for (int64_t i = q; i < q_end; i++) {
      const aj_cell *in = t->in + j * s + i;
      aj_cell *out = t->out + radix * j * s + i, first = *in, all = first;
      for (int32_t r = 1; r <= radix / 2; r++) {
        sums[r] = add(in[r * far], in[(radix - r) * far]);
        differences[r] = sub(in[r * far], in[(radix - r) * far]);
        all = add(all, sums[r]);
      }
      *out = all;
      for (int32_t k = 1; k <= radix / 2; k++) {
        aj_cell even = first, odd = {0, 0};
        for (int32_t r = 1, at = k; r <= radix / 2; r++, at = (at + k) % radix) {
          even = add(even, scale(sums[r], roots[at * turn].re));
          odd = sub(odd, scale(differences[r], roots[at * turn].im));
        }
        odd = turn_back(odd);
        out[k * s] = aj_cell_mul(add(even, odd), roots[k * j * s]);
        out[(radix - k) * s] = aj_cell_mul(sub(even, odd), roots[(radix - k) * j * s]);
      }
    }
  }
}

static bool run_pass(const pass *t, aj_poller *poller) {
  enum { POINTS = 1024 };
  static run_points *const of_radix[] = {NULL, NULL, run_points2, run_points3, run_points4, run_points5};
  bool has_own = t->radix < (int32_t)AJ_COUNT(of_radix);
  run_points *points = has_own ? of_radix[t->radix] : run_points_any;
  int64_t work = has_own ? t->radix : (int64_t)t->radix * t->radix / 2;
  for (int64_t j = 0, j_end; j < t->m; j = j_end) {
    j_end = t->s >= POINTS ? j + 1 : j + POINTS / t->s;
    if (j_end > t->m) j_end = t->m;
    for (int64_t q = 0, q_end; q < t->s; q = q_end) {
      q_end = t->s - q < POINTS ? t->s : q + POINTS;
      points(t, j, j_end, q, q_end);
      if (aj_poller_stops(poller, (j_end - j) * (q_end - q) * work)) return false;
    }
  }
  return true;
}

static aj_cell *run_passes(const aj_fft_smooth *plan, aj_cell *a, aj_cell *b, aj_poller *poller) {
  pass t = {.plan = plan, .s = 1, .m = plan->n};
  for (int32_t i = 0; i < plan->count; i++) {
    aj_cell *from = i % 2 == 0 ? a : b;
    t.in = from;
    t.out = from == a ? b : a;
    t.radix = plan->factors[i];
    t.m /= t.radix;
    if (!run_pass(&t, poller)) return NULL;
    t.s *= t.radix;
  }
  return plan->count % 2 == 0 ? a : b;
}

/* ---- plans ---- */

/* False: n has a prime factor above the largest radix. */
static bool factorize(aj_fft_smooth *plan, int64_t n) {
  *plan = (aj_fft_smooth){.n = n};
  for (; n % 4 == 0; n /= 4) plan->factors[plan->count++] = 4;
  for (int32_t p = 2; p <= LARGEST_RADIX; p++)
    for (; n % p == 0; n /= p) plan->factors[plan->count++] = p;
  return n == 1;
}

/* The least number from `least` on without prime factors above 5. */
static int64_t find_smooth(int64_t least) {
  int64_t best = 1;
  while (best < least) best *= 2;
  for (int64_t fives = 1; fives < best; fives *= 5) {
    for (int64_t odd = fives; odd < best; odd *= 3) {
      int64_t all = odd;
      while (all < least) all *= 2;
      if (all < best) best = all;
    }
  }
  return best;
}

/* Element k is e^(-pi i k^2 / n). */
static bool fill_chirp(aj_fft_plan *plan, aj_poller *poller) {
  int64_t circle = 2 * plan->n, square = 0;
  for (int64_t k = 0; k < plan->n; k++) {
    plan->chirp[k] = aj_fft_root(square, circle);
    square += 2 * k + 1;
    while (square >= circle) square -= circle; /* 2 k + 1 < circle */
    if (aj_poller_stops(poller, 4)) return false;
  }
  return true;
}

/* The transform of the chirp turned the other way, from both ends, over its length. `scratch`: two rows. */
static bool fill_filter(aj_fft_plan *plan, aj_cell *scratch, aj_poller *poller) {
  int64_t n = plan->n, m = plan->passes.n;
  if (!aj_bytes_zero((char *)scratch, (size_t)m * sizeof *scratch, poller)) return false;
  for (int64_t k = 0; k < n; k++) {
    aj_cell back = {plan->chirp[k].re / (double)m, -plan->chirp[k].im / (double)m};
    scratch[k] = back;
    if (k > 0) scratch[m - k] = back;
    if (aj_poller_stops(poller, 2)) return false;
  }
  const aj_cell *out = run_passes(&plan->passes, scratch, scratch + m, poller);
  return out != NULL && aj_bytes_copy((char *)plan->filter, (const char *)out, (size_t)m * sizeof *out, poller);
}

static bool fill_plan(aj_fft_plan *plan, aj_cell *scratch, aj_poller *poller) {
  if (!aj_fft_fill_roots(plan->passes.roots, plan->passes.n, plan->passes.n, poller)) return false;
  return plan->chirp == NULL || (fill_chirp(plan, poller) && fill_filter(plan, scratch, poller));
}

aj_sem_status aj_fft_plan_make(aj_fft_plan *plan, aj_mem *mem, int64_t n, aj_poller *poller) {
  *plan = (aj_fft_plan){.n = n};
  bool plain = factorize(&plan->passes, n);
  if (!plain) factorize(&plan->passes, find_smooth(2 * n - 1));
  size_t m = (size_t)plan->passes.n;
  plan->count = plain ? m : 2 * m + (size_t)n;
  plan->memory = aj_mem_raw(mem, plan->count * sizeof *plan->memory);
  aj_cell *scratch = plan->memory == NULL || plain ? NULL : aj_mem_raw(mem, 2 * m * sizeof *scratch);
  bool has_all = plan->memory != NULL && (plain || scratch != NULL), ok = false;
  if (has_all) {
    plan->passes.roots = plan->memory;
    plan->filter = plain ? NULL : plan->memory + m;
    plan->chirp = plain ? NULL : plan->memory + 2 * m;
    ok = fill_plan(plan, scratch, poller);
  }
  aj_mem_free(mem, scratch, scratch == NULL ? 0 : 2 * m * sizeof *scratch);
  if (!ok) aj_fft_plan_free(plan, mem);
  return ok ? AJ_SEM_OK : has_all ? AJ_SEM_STOPPED : AJ_SEM_MEMORY;
}

void aj_fft_plan_free(aj_fft_plan *plan, aj_mem *mem) {
  aj_mem_free(mem, plan->memory, plan->memory == NULL ? 0 : plan->count * sizeof *plan->memory);
  plan->memory = NULL;
}

/* ---- running ---- */

/* x[k] = x[k] * y[k], with its parts changed where `swaps`, by pieces. */
static bool multiply_all(aj_cell *x, const aj_cell *y, int64_t count, bool swaps, aj_poller *poller) {
  enum { PIECE = 1024 };
  for (int64_t k = 0, end; k < count; k = end) {
    end = count - k < PIECE ? count : k + PIECE;
    for (int64_t i = k; i < end; i++) {
      aj_cell product = aj_cell_mul(x[i], y[i]);
      x[i] = swaps ? aj_cell_swap(product) : product;
    }
    if (aj_poller_stops(poller, end - k)) return false;
  }
  return true;
}

/* x[j] * chirp[j] convolved with the chirp turned the other way, times chirp[k]. */
static aj_cell *run_chirp(const aj_fft_plan *plan, aj_cell *a, aj_cell *b, aj_poller *poller) {
  int64_t n = plan->n, m = plan->passes.n;
  if (!multiply_all(a, plan->chirp, n, false, poller)) return NULL;
  if (!aj_bytes_zero((char *)(a + n), (size_t)(m - n) * sizeof *a, poller)) return NULL;
  aj_cell *x = run_passes(&plan->passes, a, b, poller);
  if (x == NULL || !multiply_all(x, plan->filter, m, true, poller)) return NULL;
  aj_cell *y = run_passes(&plan->passes, x, x == a ? b : a, poller);
  if (y == NULL) return NULL;
  for (int64_t k = 0; k < n; k++) {
    y[k] = aj_cell_mul(aj_cell_swap(y[k]), plan->chirp[k]);
    if (aj_poller_stops(poller, 1)) return NULL;
  }
  return y;
}

aj_cell *aj_fft_run(const aj_fft_plan *plan, aj_cell *a, aj_cell *b, aj_poller *poller) {
  return plan->chirp == NULL ? run_passes(&plan->passes, a, b, poller) : run_chirp(plan, a, b, poller);
}
