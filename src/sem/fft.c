/* fft_last, rfft_last, irfft_last: transforms of all rows of an array, each computed in f64 and rounded once when it is
 * stored. A real row of even length is transformed as half as many complex numbers, pairs of neighbours, which are
 * taken apart (or put together) afterwards: what is even comes from one, what is odd from the other. */
#include "sem/fft.h"

#include <math.h>
#include <string.h>

typedef struct transform {
  const aj_sem_call *call;
  int64_t n;              /* of complex numbers; of rfft and irfft: of real ones */
  int64_t half;           /* n / 2, where a row is taken as pairs; else 0 */
  bool single, inverse;   /* parts are f32; fft_last only */
  size_t in_row, out_row; /* bytes */
  aj_fft_plan plan;
  aj_cell *twists;  /* half / 2 + 1 roots of the circle cut into n; NULL without half */
  aj_cell *scratch; /* two rows of the plan a block */
  int64_t rows, grain;
} transform;
/* One row. False: stopped. */
typedef bool run_row(const transform *t, const char *in, char *out, aj_cell *a, aj_cell *b, aj_poller *poller);

/* ---- elements ---- */

static inline double load_part(const transform *t, const char *row, int64_t i) {
  float narrow;
  double wide;
  if (!t->single) return memcpy(&wide, row + i * 8, sizeof wide), wide;
  return memcpy(&narrow, row + i * 4, sizeof narrow), (double)narrow;
}

static inline void store_part(const transform *t, char *row, int64_t i, double x) {
  double wide = x == x ? x : (double)NAN; /* the canonical one */
  float narrow = (float)wide;
  if (t->single)
    memcpy(row + i * 4, &narrow, sizeof narrow);
  else
    memcpy(row + i * 8, &wide, sizeof wide);
}

static inline aj_cell load(const transform *t, const char *row, int64_t i) {
  return (aj_cell){load_part(t, row, 2 * i), load_part(t, row, 2 * i + 1)};
}

static inline void store(const transform *t, char *row, int64_t i, aj_cell x) {
  store_part(t, row, 2 * i, x.re);
  store_part(t, row, 2 * i + 1, x.im);
}

static inline aj_cell conjugate(aj_cell x) { return (aj_cell){x.re, -x.im}; }
static inline aj_cell add(aj_cell x, aj_cell y) { return (aj_cell){x.re + y.re, x.im + y.im}; }
static inline aj_cell sub(aj_cell x, aj_cell y) { return (aj_cell){x.re - y.re, x.im - y.im}; }

/* ---- rows ---- */

static bool run_complex(const transform *t, const char *in, char *out, aj_cell *a, aj_cell *b, aj_poller *poller) {
  double by = (double)t->n;
  for (int64_t k = 0; k < t->n; k++) {
    aj_cell x = load(t, in, k);
    a[k] = t->inverse ? aj_cell_swap(x) : x;
    if (aj_poller_stops(poller, 1)) return false;
  }
  const aj_cell *y = aj_fft_run(&t->plan, a, b, poller);
  if (y == NULL) return false;
  for (int64_t k = 0; k < t->n; k++) {
    store(t, out, k, t->inverse ? (aj_cell){y[k].im / by, y[k].re / by} : y[k]);
    if (aj_poller_stops(poller, 1)) return false;
  }
  return true;
}

/* The results at 0 and half are sums and differences of real numbers: their imaginary parts are 0. */
static bool run_real(const transform *t, const char *in, char *out, aj_cell *a, aj_cell *b, aj_poller *poller) {
  int64_t half = t->half, cells = half > 0 ? half : t->n;
  for (int64_t k = 0; k < cells; k++) {
    a[k] = half > 0 ? load(t, in, k) : (aj_cell){load_part(t, in, k), 0};
    if (aj_poller_stops(poller, 1)) return false;
  }
  const aj_cell *y = aj_fft_run(&t->plan, a, b, poller);
  if (y == NULL) return false;
  for (int64_t k = 0; half == 0 && k <= t->n / 2; k++) {
    store(t, out, k, (aj_cell){y[k].re, k > 0 ? y[k].im : 0});
    if (aj_poller_stops(poller, 1)) return false;
  }
  for (int64_t k = 0; half > 0 && k <= half / 2; k++) {
    aj_cell near = y[k], far = conjugate(y[k > 0 ? half - k : 0]), sum = add(near, far), rest = sub(near, far);
    aj_cell even = {0.5 * sum.re, 0.5 * sum.im};
    aj_cell odd = aj_cell_mul((aj_cell){0.5 * rest.im, -0.5 * rest.re}, t->twists[k]);
    aj_cell first = add(even, odd), last = conjugate(sub(even, odd));
    if (k == 0) first.im = last.im = 0;
    store(t, out, k, first);
    store(t, out, half - k, last);
    if (aj_poller_stops(poller, 2)) return false;
  }
  return true;
}

/* Element k of a spectrum, whose first element, and last one of an even n, count as real. */
static aj_cell load_spectrum(const transform *t, const char *in, int64_t k) {
  return (aj_cell){load_part(t, in, 2 * k), k == 0 || 2 * k == t->n ? 0 : load_part(t, in, 2 * k + 1)};
}

static bool run_back(const transform *t, const char *in, char *out, aj_cell *a, aj_cell *b, aj_poller *poller) {
  int64_t half = t->half;
  double by = (double)t->n;
  for (int64_t k = 0; half == 0 && k <= t->n / 2; k++) {
    aj_cell x = load_spectrum(t, in, k);
    a[k] = aj_cell_swap(x);
    if (k > 0) a[t->n - k] = aj_cell_swap(conjugate(x));
    if (aj_poller_stops(poller, 2)) return false;
  }
  for (int64_t k = 0; half > 0 && k <= half / 2; k++) {
    aj_cell near = load_spectrum(t, in, k), far = conjugate(load_spectrum(t, in, half - k));
    aj_cell even = add(near, far), odd = aj_cell_mul(sub(near, far), conjugate(t->twists[k]));
    odd = (aj_cell){-odd.im, odd.re};
    a[k] = aj_cell_swap(add(even, odd));
    if (k > 0) a[half - k] = aj_cell_swap(conjugate(sub(even, odd)));
    if (aj_poller_stops(poller, 2)) return false;
  }
  const aj_cell *y = aj_fft_run(&t->plan, a, b, poller);
  if (y == NULL) return false;
  for (int64_t k = 0; k < (half > 0 ? half : t->n); k++) {
    if (half > 0)
      store(t, out, k, (aj_cell){y[k].im / by, y[k].re / by});
    else
      store_part(t, out, k, y[k].im / by);
    if (aj_poller_stops(poller, 1)) return false;
  }
  return true;
}

/* ---- all rows ---- */

static bool run_rows(const transform *t, int64_t from, int64_t to, aj_poller *poller) {
  aj_op op = t->call->node->op;
  run_row *run = op == AJ_OP_FFT_LAST ? run_complex : op == AJ_OP_RFFT_LAST ? run_real : run_back;
  int64_t cells = t->plan.passes.n;
  aj_cell *a = t->scratch + from / t->grain * 2 * cells;
  for (int64_t row = from; row < to; row++) {
    const char *in = t->call->in[0].data + (size_t)row * t->in_row;
    if (!run(t, in, t->call->out->data + (size_t)row * t->out_row, a, a + cells, poller)) return false;
  }
  return true;
}

static int64_t share_rows(void *frame, int64_t from, int64_t to) {
  const transform *t = frame;
  aj_poller poller = {.stop = t->call->team->due, .user = t->call->poll_user};
  return run_rows(t, from, to, &poller) ? AJ_BLOCKS_DONE : AJ_BLOCKS_STOPPED;
}

/* Rows of a block: as many blocks as threads, for each has memory of its own; one where more are not worth it. */
static int64_t find_grain(const transform *t) {
  enum { LEAST_ELEMENTS = 1 << 15 };
  const aj_sem_call *call = t->call;
  int64_t threads = call->team ? call->team->threads(call->poll_user) : 1;
  if (threads < 2 || t->rows < 2 || t->rows * t->n < LEAST_ELEMENTS) return t->rows;
  return (t->rows - 1) / threads + 1;
}

static aj_sem_status run_all(const transform *t) {
  const aj_sem_call *call = t->call;
  if (t->grain == t->rows) {
    aj_poller poller = aj_routine_poller(call);
    return run_rows(t, 0, t->rows, &poller) ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  while (call->team->share(call->poll_user, share_rows, (void *)t, t->rows, t->grain) != AJ_BLOCKS_DONE)
    if (call->poll(call->poll_user)) return AJ_SEM_STOPPED;
  return AJ_SEM_OK;
}

/* Memory and roots of its own, then all rows. */
static aj_sem_status run_planned(transform *t, aj_poller *poller) {
  aj_mem *mem = t->call->mem;
  int64_t twists = t->half > 0 ? t->half / 2 + 1 : 0, blocks = (t->rows - 1) / t->grain + 1;
  size_t bytes = (size_t)(blocks * 2 * t->plan.passes.n + twists) * sizeof *t->scratch;
  t->scratch = aj_mem_raw(mem, bytes);
  if (t->scratch == NULL) return AJ_SEM_MEMORY;
  t->twists = t->scratch + blocks * 2 * t->plan.passes.n;
  bool ok = aj_fft_fill_roots(t->twists, twists, t->n, poller);
  aj_sem_status status = ok ? run_all(t) : AJ_SEM_STOPPED;
  aj_mem_free(mem, t->scratch, bytes);
  return status;
}

static aj_sem_status run_transform(const aj_sem_call *call, int64_t n, bool inverse) {
  const aj_view *in = &call->in[0], *out = call->out;
  bool pairs = call->node->op != AJ_OP_FFT_LAST && n % 2 == 0;
  aj_poller poller = aj_routine_poller(call);
  if (aj_view_count(out) == 0) return AJ_SEM_OK;
  if (n == 0) return aj_bytes_zero(out->data, aj_view_bytes(out), &poller) ? AJ_SEM_OK : AJ_SEM_STOPPED;
  transform t = {.call = call, .n = n, .half = pairs ? n / 2 : 0, .inverse = inverse};
  t.single = aj_dtype_is_complex(in->dtype) ? in->dtype == ARRJIT_C64 : in->dtype == ARRJIT_F32;
  t.in_row = (size_t)in->dims[in->rank - 1] * aj_dtypes[in->dtype].bytes;
  t.out_row = (size_t)out->dims[out->rank - 1] * aj_dtypes[out->dtype].bytes;
  t.rows = aj_routine_extent(out, 0, out->rank - 1);
  t.grain = find_grain(&t);
  aj_sem_status status = aj_fft_plan_make(&t.plan, call->mem, pairs ? n / 2 : n, &poller);
  if (status != AJ_SEM_OK) return status;
  status = run_planned(&t, &poller);
  aj_fft_plan_free(&t.plan, call->mem);
  return status;
}

aj_sem_status aj_routine_fft_last(const aj_sem_call *call) {
  bool inverse = aj_node_int(call->node, AJ_ATTR_INVERSE) != 0;
  return run_transform(call, call->out->dims[call->out->rank - 1], inverse);
}

aj_sem_status aj_routine_rfft_last(const aj_sem_call *call) {
  return run_transform(call, call->in[0].dims[call->in[0].rank - 1], false);
}

aj_sem_status aj_routine_irfft_last(const aj_sem_call *call) {
  return run_transform(call, call->out->dims[call->out->rank - 1], true);
}
