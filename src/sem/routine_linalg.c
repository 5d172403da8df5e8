/* cholesky, lu, qr, eigh, svd: LAPACK's routines on each matrix of a batch. Ours are row-major, which LAPACK takes for
 * the transposed matrix; that suits it but for lu and eigenvectors, which are turned round:
 *
 *   cholesky  the lower triangle is the transpose's upper one; with u* u = x^T, l = u^T is where u is
 *   qr        x^T = l q' gives q = q'^T and r = l^T, where q' and l are
 *   svd       x^T = u' s vt' gives u = vt'^T and vt = u'^T, where vt' and u' are
 *
 * All that LAPACK would refuse is kept from it: extents fit its integers, matrices without elements and those that are
 * not finite never get there. */
#include "sem/lapack.h"
#include "sem/routine.h"

#include <math.h>
#include <string.h>

/* What the routines have in common, and their scratch: one block, made for all matrices of the call. */
typedef struct factoring {
  const aj_sem_call *call;
  const aj_lapack *lapack;
  arrjit_dtype dtype, part; /* of the elements; of their parts, or the same */
  size_t bytes, part_bytes; /* of an element, of a part */
  int rows, columns, least;
  bool triangle; /* what is above the diagonal is not read */
  char *copy;    /* of the matrix, or NULL */
  int *ints;     /* pivots, or workspace */
  char *work, *reals, *tau;
  int work_count, int_count;
  int64_t real_count;
} factoring;

/* Factors matrix k, which is finite and has elements. False: LAPACK found no factors. */
typedef bool factor_fn(factoring *f, int64_t k);

/* ---- what fails ---- */

typedef struct limit {
  int64_t most, least; /* of the larger and the lesser extent: so that its integers can count its workspace */
  const char *absent, *off, *large;
} limit;
#define LIMIT(name, most_, least_)                                                                                     \
  {.most = (most_),                                                                                                    \
   .least = (least_),                                                                                                  \
   .absent = name " is done by LAPACK, and none is loaded: " AJ_LAPACK_LIBRARIES(", ") " were looked for",             \
   .off = name " is done by LAPACK, which the option lapack, 0, leaves out",                                           \
   .large = name ": the matrices are too large for LAPACK's integers"}
static const limit cholesky_limit = LIMIT("cholesky", INT32_MAX, INT32_MAX),
                   lu_limit = LIMIT("lu", INT32_MAX, INT32_MAX), qr_limit = LIMIT("qr", 1 << 23, 1 << 23),
                   eigh_limit = LIMIT("eigh", 32766, 32766), svd_limit = LIMIT("svd", 1 << 23, 1 << 14);

static aj_sem_status fail(const aj_sem_call *call, const char *message) {
  *call->fail = (aj_sem_fail){.kind = ARRJIT_KIND_UNAVAILABLE, .message = message};
  return AJ_SEM_FAIL;
}

static aj_sem_status begin(factoring *f, const aj_sem_call *call, const limit *most) {
  const aj_view *x = call->in;
  int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1], least = rows < columns ? rows : columns;
  *f = (factoring){.call = call, .dtype = x->dtype, .part = aj_dtype_part(x->dtype)};
  f->lapack = call->no_lapack ? NULL : aj_lapack_find(x->dtype);
  if (f->lapack == NULL) return fail(call, call->no_lapack ? most->off : most->absent);
  if (rows + columns - least > most->most || least > most->least) return fail(call, most->large);
  f->bytes = aj_dtypes[f->dtype].bytes;
  f->part_bytes = aj_dtypes[f->part].bytes;
  f->rows = (int)rows, f->columns = (int)columns, f->least = (int)least;
  return AJ_SEM_OK;
}

static bool is_complex(const factoring *f) { return f->dtype != f->part; }

/* ---- matrices of the batch ---- */

static int64_t batch_count(const factoring *f) { return aj_routine_extent(f->call->in, 0, f->call->in->rank - 2); }

static int64_t slice_count(const factoring *f, const aj_view *view) {
  return aj_routine_extent(view, f->call->in->rank - 2, view->rank);
}

static char *slice(const factoring *f, const aj_view *view, int64_t k) {
  return view->data + (size_t)(k * slice_count(f, view)) * aj_dtypes[view->dtype].bytes;
}
static char *matrix_in(const factoring *f, int64_t k) { return slice(f, &f->call->in[0], k); }
static char *result(const factoring *f, uint32_t i, int64_t k) { return slice(f, &f->call->out[i], k); }

static size_t row_bytes(const factoring *f) { return (size_t)f->columns * f->bytes; }

static bool are_finite(arrjit_dtype part, const char *from, size_t count) {
  double sum = 0; /* of zeros and NaN */
  if (part == ARRJIT_F32) {
    for (size_t i = 0; i < count; i++) {
      float x;
      memcpy(&x, from + i * sizeof x, sizeof x);
      sum += (double)(x * 0);
    }
  } else {
    for (size_t i = 0; i < count; i++) {
      double x;
      memcpy(&x, from + i * sizeof x, sizeof x);
      sum += x * 0;
    }
  }
  return sum == 0;
}

static bool is_finite(const factoring *f, const char *matrix) {
  size_t parts = f->bytes / f->part_bytes;
  for (int i = 0; i < f->rows; i++)
    if (!are_finite(f->part, matrix + (size_t)i * row_bytes(f), (size_t)(f->triangle ? i + 1 : f->columns) * parts))
      return false;
  return true;
}

/* Results that LAPACK had no part in: NaN, or of a matrix without elements the identity. Nothing is swapped. */
static void give_plain(const factoring *f, const aj_view *out, int64_t k, bool spoiled) {
  size_t count = (size_t)slice_count(f, out), bytes = aj_dtypes[out->dtype].bytes;
  char *to = slice(f, out, k);
  const float nan_f32[2] = {NAN, NAN};
  const double nan_f64[2] = {(double)NAN, (double)NAN};
  const float one_f32[2] = {1, 0};
  const double one_f64[2] = {1, 0};
  bool single = f->part == ARRJIT_F32;
  if (out->dtype == ARRJIT_I64) {
    for (size_t i = 0; i < count; i++) memcpy(to + i * bytes, &(int64_t){(int64_t)i}, bytes);
  } else if (spoiled) {
    aj_view_fill(to, (int64_t)count, single ? (const void *)nan_f32 : nan_f64, bytes);
  } else if (count > 0) {
    size_t columns = (size_t)out->dims[out->rank - 1];
    memset(to, 0, count * bytes);
    for (size_t i = 0; i < count; i += columns + 1)
      memcpy(to + i * bytes, single ? (const void *)one_f32 : one_f64, bytes);
  }
}

/* NaN of LAPACK's arithmetic become the one NaN. */
static void settle(const factoring *f, const aj_view *out, int64_t k) {
  if (out->dtype == ARRJIT_I64) return;
  char *to = slice(f, out, k);
  size_t parts = (size_t)slice_count(f, out) * aj_dtypes[out->dtype].bytes / f->part_bytes;
  const void *in[] = {to};
  aj_sem_loop(AJ_OP_CONVERT, f->part, f->part)(parts, to, in);
}

/* A matrix is one step: polls are between two. */
static aj_sem_status factor_all(factoring *f, factor_fn *factor) {
  aj_poller poller = aj_routine_poller(f->call);
  int64_t count = batch_count(f), given = 0; /* elements of results: a batch of matrices without any may be huge */
  for (uint32_t i = 0; i < f->call->node->result_count; i++) given |= aj_view_count(&f->call->out[i]);
  if (given == 0) return AJ_SEM_OK;
  for (int64_t k = 0; k < count; k++) {
    bool ok = f->least == 0 || (is_finite(f, matrix_in(f, k)) && factor(f, k));
    for (uint32_t i = 0; i < f->call->node->result_count; i++) {
      if (ok && f->least > 0)
        settle(f, &f->call->out[i], k);
      else
        give_plain(f, &f->call->out[i], k, !ok);
    }
    if (aj_poller_stops(&poller, AJ_POLL_WORK)) return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}

/* ---- scratch ---- */

/* Room for `count` elements of `bytes`, at *total from now on; multiples of 16 bytes, as complex numbers want them. */
static size_t reserve(size_t *total, int64_t count, size_t bytes) {
  size_t at = *total;
  *total += ((size_t)count * bytes + 15) / 16 * 16;
  return at;
}

/* Allocates the parts that the counts of f tell, and runs. */
static aj_sem_status run(factoring *f, bool copies, bool reflects, factor_fn *factor) {
  size_t total = 0;
  int64_t elements = (int64_t)f->rows * f->columns;
  if (f->least == 0 || batch_count(f) == 0) return factor_all(f, factor);
  size_t copy = reserve(&total, copies ? elements : 0, f->bytes),
         tau = reserve(&total, reflects ? f->least : 0, f->bytes), work = reserve(&total, f->work_count, f->bytes),
         reals = reserve(&total, f->real_count, f->part_bytes), ints = reserve(&total, f->int_count, sizeof(int));
  char *block = aj_mem_raw(f->call->mem, total);
  if (block == NULL && total > 0) return AJ_SEM_MEMORY;
  if (block != NULL) {
    f->copy = block + copy, f->tau = block + tau, f->work = block + work, f->reals = block + reals;
    f->ints = (int *)(void *)(block + ints);
  }
  aj_sem_status status = factor_all(f, factor);
  aj_mem_free(f->call->mem, block, total);
  return status;
}

/* The size of workspace that LAPACK wrote where the workspace would begin: as a real number, rounded in f32. */
static int read_count(const factoring *f, const void *work) {
  double count;
  float single;
  memcpy(&single, work, sizeof single);
  if (f->part == ARRJIT_F32)
    count = (double)single;
  else
    memcpy(&count, work, sizeof count);
  return (int)(count * (1 + 0x1p-22)) + 1;
}

/* What a query for workspace writes to instead of arrays. */
typedef struct answer {
  double work[2], rwork[2];
  int iwork, info;
} answer;
static const int query = -1;

/* ---- cholesky ---- */

static bool factor_cholesky(factoring *f, int64_t k) {
  int info = 0;
  char *to = result(f, 0, k), *from = matrix_in(f, k);
  for (int i = 0; i < f->rows; i++) {
    size_t row = (size_t)i * row_bytes(f), head = (size_t)(i + 1) * f->bytes;
    memcpy(to + row, from + row, head);
    memset(to + row + head, 0, row_bytes(f) - head);
  }
  f->lapack->potrf("U", &f->rows, to, &f->rows, &info, 1);
  return info == 0;
}

aj_sem_status aj_routine_cholesky(const aj_sem_call *call) {
  factoring f;
  aj_sem_status status = begin(&f, call, &cholesky_limit);
  if (status != AJ_SEM_OK) return status;
  f.triangle = true;
  return run(&f, false, false, factor_cholesky);
}

/* ---- lu ---- */

/* to[j][i] = from[i][j], by tiles that stay in the cache. */
static void turn(size_t bytes, int rows, int columns, char *to, const char *from) {
  enum { TILE = 16 };
  for (int i0 = 0; i0 < rows; i0 += TILE)
    for (int j0 = 0; j0 < columns; j0 += TILE)
      for (int i = i0; i < rows && i < i0 + TILE; i++)
        for (int j = j0; j < columns && j < j0 + TILE; j++)
          memcpy(to + ((size_t)j * (size_t)rows + (size_t)i) * bytes,
                 from + ((size_t)i * (size_t)columns + (size_t)j) * bytes, bytes);
}

/* Of a singular matrix the factors are as good as any. */
static bool factor_lu(factoring *f, int64_t k) {
  int info = 0;
  int64_t *pivots = (int64_t *)(void *)result(f, 1, k), *order = (int64_t *)(void *)result(f, 2, k);
  turn(f->bytes, f->rows, f->columns, f->copy, matrix_in(f, k));
  f->lapack->getrf(&f->rows, &f->columns, f->copy, &f->rows, f->ints, &info);
  turn(f->bytes, f->columns, f->rows, result(f, 0, k), f->copy);
  for (int i = 0; i < f->rows; i++) order[i] = i;
  for (int i = 0; i < f->least; i++) {
    int64_t at = pivots[i] = f->ints[i] - 1, row = order[i];
    order[i] = order[at];
    order[at] = row;
  }
  return info >= 0;
}

aj_sem_status aj_routine_lu(const aj_sem_call *call) {
  factoring f;
  aj_sem_status status = begin(&f, call, &lu_limit);
  if (status != AJ_SEM_OK) return status;
  f.int_count = f.least;
  return run(&f, true, false, factor_lu);
}

/* ---- qr ---- */

static bool factor_qr(factoring *f, int64_t k) {
  char *q = result(f, 0, k), *r = result(f, 1, k);
  int info = 0, m = f->rows, n = f->columns, inner = (int)f->call->out[1].dims[f->call->out[1].rank - 2];
  memcpy(f->copy, matrix_in(f, k), (size_t)m * row_bytes(f));
  f->lapack->gelqf(&n, &m, f->copy, &n, f->tau, f->work, &f->work_count, &info);
  if (info != 0) return false;
  size_t q_row = (size_t)inner * f->bytes, known = (size_t)(inner < n ? inner : n) * f->bytes;
  memset(r, 0, (size_t)inner * row_bytes(f));
  for (int i = 0; i < f->least; i++) {
    size_t at = (size_t)i * row_bytes(f), before = (size_t)i * f->bytes;
    memcpy(r + at + before, f->copy + at + before, row_bytes(f) - before);
  }
  for (int i = 0; i < m; i++) { /* the reflections; orglq makes the columns behind them */
    memcpy(q + (size_t)i * q_row, f->copy + (size_t)i * row_bytes(f), known);
    memset(q + (size_t)i * q_row + known, 0, q_row - known);
  }
  f->lapack->orglq(&inner, &m, &f->least, q, &inner, f->tau, f->work, &f->work_count, &info);
  return info == 0;
}

aj_sem_status aj_routine_qr(const aj_sem_call *call) {
  factoring f;
  answer a = {.info = 0};
  aj_sem_status status = begin(&f, call, &qr_limit);
  if (status != AJ_SEM_OK) return status;
  if (f.least > 0) {
    int inner = (int)call->out[1].dims[call->out[1].rank - 2];
    f.lapack->gelqf(&f.columns, &f.rows, a.rwork, &f.columns, a.rwork, a.work, &query, &a.info);
    f.work_count = read_count(&f, a.work);
    f.lapack->orglq(&inner, &f.rows, &f.least, a.rwork, &inner, a.rwork, a.work, &query, &a.info);
    if (read_count(&f, a.work) > f.work_count) f.work_count = read_count(&f, a.work);
  }
  return run(&f, true, true, factor_qr);
}

/* ---- eigh ---- */

/* x^T is the conjugate of x, and so are its eigenvectors. */
static void conjugate(const factoring *f, char *matrix) {
  for (size_t i = 0; i < (size_t)f->rows * (size_t)f->rows; i++) {
    char *imaginary = matrix + i * f->bytes + f->part_bytes;
    const void *in[] = {imaginary};
    aj_sem_loop(AJ_OP_NEG, f->part, f->part)(1, imaginary, in);
  }
}

static bool factor_eigh(factoring *f, int64_t k) {
  int info = 0, reals = (int)f->real_count;
  const int *n = &f->rows;
  memcpy(f->copy, matrix_in(f, k), (size_t)f->rows * row_bytes(f));
  if (is_complex(f))
    f->lapack->heevd("V", "U", n, f->copy, n, result(f, 0, k), f->work, &f->work_count, f->reals, &reals, f->ints,
                     &f->int_count, &info, 1, 1);
  else
    f->lapack->syevd("V", "U", n, f->copy, n, result(f, 0, k), f->work, &f->work_count, f->ints, &f->int_count, &info,
                     1, 1);
  if (info != 0) return false;
  turn(f->bytes, f->rows, f->rows, result(f, 1, k), f->copy);
  if (is_complex(f)) conjugate(f, result(f, 1, k));
  return true;
}

aj_sem_status aj_routine_eigh(const aj_sem_call *call) {
  factoring f;
  answer a = {.info = 0};
  aj_sem_status status = begin(&f, call, &eigh_limit);
  if (status != AJ_SEM_OK) return status;
  f.triangle = true;
  if (f.least > 0) {
    const int *n = &f.rows;
    if (is_complex(&f))
      f.lapack->heevd("V", "U", n, a.rwork, n, a.rwork, a.work, &query, a.rwork, &query, &a.iwork, &query, &a.info, 1,
                      1);
    else
      f.lapack->syevd("V", "U", n, a.rwork, n, a.rwork, a.work, &query, &a.iwork, &query, &a.info, 1, 1);
    f.work_count = read_count(&f, a.work);
    f.real_count = is_complex(&f) ? 1 + 5 * (int64_t)f.rows + 2 * (int64_t)f.rows * f.rows : 0;
    f.int_count = 3 + 5 * f.rows;
  }
  return run(&f, true, false, factor_eigh);
}

/* ---- svd ---- */

static bool factor_svd(factoring *f, int64_t k) {
  int info = 0, m = f->rows, n = f->columns;
  const aj_view *u = &f->call->out[0];
  int inner = (int)u->dims[u->rank - 1]; /* columns of u */
  const char *job = aj_node_int(f->call->node, AJ_ATTR_FULL) ? "A" : "S";
  memcpy(f->copy, matrix_in(f, k), (size_t)m * row_bytes(f));
  if (is_complex(f))
    f->lapack->cgesdd(job, &n, &m, f->copy, &n, result(f, 1, k), result(f, 2, k), &n, result(f, 0, k), &inner, f->work,
                      &f->work_count, f->reals, f->ints, &info, 1);
  else
    f->lapack->gesdd(job, &n, &m, f->copy, &n, result(f, 1, k), result(f, 2, k), &n, result(f, 0, k), &inner, f->work,
                     &f->work_count, f->ints, &info, 1);
  return info == 0;
}

aj_sem_status aj_routine_svd(const aj_sem_call *call) {
  factoring f;
  answer a = {.info = 0};
  aj_sem_status status = begin(&f, call, &svd_limit);
  if (status != AJ_SEM_OK) return status;
  if (f.least > 0) {
    int m = f.rows, n = f.columns, inner = (int)call->out[0].dims[call->out[0].rank - 1];
    const char *job = aj_node_int(call->node, AJ_ATTR_FULL) ? "A" : "S";
    int64_t least = f.least, most = (int64_t)m + n - least;
    if (is_complex(&f))
      f.lapack->cgesdd(job, &n, &m, a.rwork, &n, a.rwork, a.rwork, &n, a.rwork, &inner, a.work, &query, a.rwork,
                       &a.iwork, &a.info, 1);
    else
      f.lapack->gesdd(job, &n, &m, a.rwork, &n, a.rwork, a.rwork, &n, a.rwork, &inner, a.work, &query, &a.iwork,
                      &a.info, 1);
    int64_t few = 5 * least * least + 5 * least, many = 2 * most * least + 2 * least * least + least;
    f.work_count = read_count(&f, a.work);
    f.real_count = is_complex(&f) ? few > many ? few : many : 0;
    f.int_count = 8 * f.least;
  }
  return run(&f, true, false, factor_svd);
}
