/* Views: dense strides, counting, and moving elements between any two layouts of one shape. */
#include "sem/view.h"

#include <string.h>

#include "base/mem.h"
#include "ir/symbol.h"

void aj_view_set_dense(aj_view *view) {
  int64_t stride = aj_dtypes[view->dtype].bytes;
  for (int32_t i = view->rank - 1; i >= 0; i--) {
    view->strides[i] = stride;
    /* Where an extent is 0 the product of the others may be anything: strides then are never followed. */
    if (__builtin_mul_overflow(stride, view->dims[i], &stride)) stride = 0;
  }
}

int64_t aj_view_count(const aj_view *view) {
  int64_t count = 1;
  for (int32_t i = 0; i < view->rank; i++)
    if (view->dims[i] == 0) return 0;
  for (int32_t i = 0; i < view->rank; i++) count *= view->dims[i];
  return count;
}

size_t aj_view_bytes(const aj_view *view) { return (size_t)aj_view_count(view) * aj_dtypes[view->dtype].bytes; }

bool aj_view_is_dense(const aj_view *view) {
  if (aj_view_count(view) <= 1) return true;
  int64_t stride = aj_dtypes[view->dtype].bytes;
  for (int32_t i = view->rank - 1; i >= 0; i--) {
    if (view->dims[i] == 1) continue;
    if (view->strides[i] != stride) return false;
    stride *= view->dims[i];
  }
  return true;
}

bool aj_view_from_type(aj_view *view, const aj_type *type, const int64_t *env) {
  view->dtype = type->dtype;
  view->rank = type->rank;
  view->data = NULL;
  int64_t bytes = aj_dtypes[type->dtype].bytes;
  bool empty = false, fits = true;
  for (int32_t i = 0; i < type->rank; i++) {
    view->dims[i] = aj_dim_eval(type->dims[i], env);
    empty = empty || view->dims[i] == 0;
    fits = fits && aj_i64_mul(bytes, view->dims[i], &bytes);
  }
  aj_view_set_dense(view);
  return fits || empty;
}

/* ---- copies ---- */
void aj_copy_plan_init(aj_copy_plan *plan, size_t element_bytes, int32_t rank, const int64_t *dims,
                       const int64_t *dst_strides, const int64_t *src_strides) {
  plan->element_bytes = element_bytes;
  plan->rank = 0;
  plan->empty = false;
  for (int32_t i = 0; i < rank; i++) {
    if (dims[i] == 0) plan->empty = true;
    if (dims[i] == 1) continue;
    int32_t last = plan->rank - 1;
    if (last >= 0 && plan->dst[last] == dst_strides[i] * dims[i] && plan->src[last] == src_strides[i] * dims[i]) {
      plan->dims[last] *= dims[i]; /* the dim before steps over whole runs of this one: one dim */
      plan->dst[last] = dst_strides[i];
      plan->src[last] = src_strides[i];
      continue;
    }
    plan->dims[plan->rank] = dims[i];
    plan->dst[plan->rank] = dst_strides[i];
    plan->src[plan->rank++] = src_strides[i];
  }
}

/* One run of n elements. Elements may be unaligned, so they go through memcpy of a constant size. */
#define COPY_RUN(BYTES)                                                                                                \
  for (int64_t i = 0; i < n; i++, dst += dst_stride, src += src_stride) memcpy(dst, src, BYTES);                       \
  break;
static void copy_run(size_t bytes, int64_t n, char *dst, int64_t dst_stride, const char *src, int64_t src_stride) {
  if (dst_stride == (int64_t)bytes && src_stride == (int64_t)bytes) {
    memcpy(dst, src, (size_t)n * bytes);
    return;
  }
  switch (bytes) {
  case 1: COPY_RUN(1)
  case 2: COPY_RUN(2)
  case 4: COPY_RUN(4)
  case 8: COPY_RUN(8)
  default: COPY_RUN(16)
  }
}

/* The same in pieces, between which it polls. */
static bool copy_long_run(size_t bytes, int64_t n, char *dst, int64_t dst_stride, const char *src, int64_t src_stride,
                          aj_poller *poller) {
  bool dense = dst_stride == (int64_t)bytes && src_stride == (int64_t)bytes;
  int64_t weight = dense ? 1 : AJ_POLL_SCATTERED, most = AJ_POLL_WORK / weight;
  while (n > 0) {
    int64_t piece = n < most ? n : most;
    copy_run(bytes, piece, dst, dst_stride, src, src_stride);
    if (aj_poller_stops(poller, piece * weight)) return false;
    n -= piece;
    dst += piece * dst_stride;
    src += piece * src_stride;
  }
  return true;
}

/* A plane whose source runs down its columns, as in a transpose: squares, so that each cache line is used up while it
 * is there. */
enum { SQUARE = 16 };
static bool copy_plane(const aj_copy_plan *plan, char *dst, const char *src, aj_poller *poller) {
  int32_t r = plan->rank - 2, c = plan->rank - 1;
  for (int64_t i = 0; i < plan->dims[r]; i += SQUARE) {
    int64_t rows = plan->dims[r] - i < SQUARE ? plan->dims[r] - i : SQUARE;
    for (int64_t j = 0; j < plan->dims[c]; j += SQUARE) {
      int64_t columns = plan->dims[c] - j < SQUARE ? plan->dims[c] - j : SQUARE;
      for (int64_t k = i; k < i + rows; k++)
        copy_run(plan->element_bytes, columns, dst + k * plan->dst[r] + j * plan->dst[c], plan->dst[c],
                 src + k * plan->src[r] + j * plan->src[c], plan->src[c]);
      if (aj_poller_stops(poller, rows * columns * 2)) return false;
    }
  }
  return true;
}

static bool is_transposed(const aj_copy_plan *plan) {
  int64_t bytes = (int64_t)plan->element_bytes;
  return plan->rank >= 2 && plan->dst[plan->rank - 1] == bytes && plan->src[plan->rank - 2] == bytes &&
         plan->src[plan->rank - 1] != 0;
}

bool aj_copy_plan_run(const aj_copy_plan *plan, char *dst, const char *src, aj_poller *poller) {
  if (plan->empty) return true;
  if (plan->rank == 0) {
    memcpy(dst, src, plan->element_bytes);
    return true;
  }
  bool planes = is_transposed(plan);
  int32_t inner = plan->rank - 1, outer = planes ? plan->rank - 2 : inner;
  int64_t index[ARRJIT_MAX_RANK] = {0};
  for (;;) {
    if (planes ? !copy_plane(plan, dst, src, poller)
               : !copy_long_run(plan->element_bytes, plan->dims[inner], dst, plan->dst[inner], src, plan->src[inner],
                                poller))
      return false;
    int32_t i = outer - 1;
    for (; i >= 0; i--) {
      dst += plan->dst[i];
      src += plan->src[i];
      if (++index[i] < plan->dims[i]) break;
      index[i] = 0;
      dst -= plan->dst[i] * plan->dims[i];
      src -= plan->src[i] * plan->dims[i];
    }
    if (i < 0) return true;
  }
}

bool aj_view_copy_polled(const aj_view *dst, const aj_view *src, aj_poller *poller) {
  AJ_ASSERT(dst->rank == src->rank && dst->dtype == src->dtype);
  aj_copy_plan plan;
  aj_copy_plan_init(&plan, aj_dtypes[src->dtype].bytes, src->rank, src->dims, dst->strides, src->strides);
  return aj_copy_plan_run(&plan, dst->data, src->data, poller);
}

bool aj_view_pack_polled(char *dst, const aj_view *src, aj_poller *poller) {
  aj_view dense = *src;
  dense.data = dst;
  aj_view_set_dense(&dense);
  return aj_view_copy_polled(&dense, src, poller);
}

bool aj_view_unpack_polled(const aj_view *dst, const char *src, aj_poller *poller) {
  aj_view dense = *dst;
  union {
    const char *from;
    char *view;
  } data = {src}; /* only read, though a view's data is not const */
  dense.data = data.view;
  aj_view_set_dense(&dense);
  return aj_view_copy_polled(dst, &dense, poller);
}

void aj_view_pack(char *dst, const aj_view *src) { (void)aj_view_pack_polled(dst, src, &(aj_poller){0}); }
void aj_view_unpack(const aj_view *dst, const char *src) { (void)aj_view_unpack_polled(dst, src, &(aj_poller){0}); }
void aj_view_copy(const aj_view *dst, const aj_view *src) { (void)aj_view_copy_polled(dst, src, &(aj_poller){0}); }

enum { PIECE_BYTES = AJ_POLL_WORK * 8 };

bool aj_bytes_copy(char *dst, const char *src, size_t bytes, aj_poller *poller) {
  for (size_t at = 0, piece; at < bytes; at += piece) {
    piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
    memcpy(dst + at, src + at, piece);
    if (aj_poller_stops(poller, (int64_t)(piece / 8) + 1)) return false;
  }
  return true;
}

bool aj_bytes_zero(char *dst, size_t bytes, aj_poller *poller) {
  for (size_t at = 0, piece; at < bytes; at += piece) {
    piece = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
    memset(dst + at, 0, piece);
    if (aj_poller_stops(poller, (int64_t)(piece / 8) + 1)) return false;
  }
  return true;
}

void aj_view_read(char *dst, const aj_view *src, int64_t start, int64_t n) {
  size_t bytes = aj_dtypes[src->dtype].bytes;
  int64_t index[ARRJIT_MAX_RANK], rest = start;
  const char *from = src->data;
  for (int32_t i = src->rank - 1; i >= 0; i--) {
    index[i] = rest % src->dims[i];
    rest /= src->dims[i];
    from += index[i] * src->strides[i];
  }
  int32_t inner = src->rank - 1;
  while (n > 0) {
    int64_t run = inner < 0 ? 1 : src->dims[inner] - index[inner];
    run = run < n ? run : n;
    int64_t stride = inner < 0 ? 0 : src->strides[inner];
    copy_run(bytes, run, dst, (int64_t)bytes, from, stride);
    dst += (size_t)run * bytes;
    n -= run;
    if (n == 0) return;
    /* the run ended its row: back to the row's start, on to the next */
    from -= index[inner] * stride;
    index[inner] = 0;
    for (int32_t i = inner - 1; i >= 0; i--) {
      from += src->strides[i];
      if (++index[i] < src->dims[i]) break;
      index[i] = 0;
      from -= src->strides[i] * src->dims[i];
    }
  }
}

bool aj_view_is_uniform(const aj_view *view) {
  for (int32_t i = 0; i < view->rank; i++)
    if (view->dims[i] != 1 && view->strides[i] != 0) return false;
  return true;
}

void aj_view_fill(char *dst, int64_t n, const void *element, size_t element_bytes) {
  enum { SEED = 64, CHUNK = 4096 };
  int64_t seed = n < SEED ? n : SEED;
  copy_run(element_bytes, seed, dst, (int64_t)element_bytes, element, 0);
  /* then by copies of what is there, doubling up to a size that stays in cache */
  size_t done = (size_t)seed * element_bytes, total = (size_t)n * element_bytes;
  while (done < total) {
    size_t more = done < CHUNK ? done : CHUNK;
    if (more > total - done) more = total - done;
    memcpy(dst + done, dst, more);
    done += more;
  }
}

bool aj_view_fill_polled(char *dst, int64_t n, const void *element, size_t element_bytes, aj_poller *poller) {
  for (int64_t at = 0, piece; at < n; at += piece) {
    piece = n - at < AJ_POLL_WORK ? n - at : AJ_POLL_WORK;
    aj_view_fill(dst + (size_t)at * element_bytes, piece, element, element_bytes);
    if (aj_poller_stops(poller, piece)) return false;
  }
  return true;
}
