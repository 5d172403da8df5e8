/* conv: every result is one chain of fused multiply-adds from +0 over (window row-major, feature), the points on
 * padding and holes left out. The results of a group lie side by side in rhs and in the result, so a tile of them goes
 * through the loop of dot, point by point of the window; points that are neighbours in both arrays go in one piece. (A
 * composition of pad, gather and dot is no way: it would multiply the padding, which inf and -0 show, and add up in the
 * order of dot.) */
#include "sem/routine.h"

#include <string.h>

#include "sem/window.h"

typedef struct conv_plan {
  const aj_sem_call *call;
  arrjit_dtype dtype;
  size_t bytes;
  int32_t rank; /* of the spatial dims; at least 1 */
  aj_window_dim dims[ARRJIT_MAX_RANK];
  int64_t batch_step;                            /* of lhs, in elements */
  int64_t features, results;                     /* of all groups */
  int64_t groups, group_features, group_results; /* of one */
  bool joins;                                    /* neighbours along the last dim are neighbours in lhs and rhs */
  int64_t rows;                                  /* batch times the windows of all spatial dims but the last */
} conv_plan;

/* A tile of results under way. */
typedef struct sums {
  char *out;
  size_t width;
  bool started;
} sums;

/* k products more: elements a, a + 1 ... of lhs, rows b, b + 1 ... of rhs. */
static bool add_products(const conv_plan *plan, aj_poller *poller, sums *s, int64_t a, int64_t b, int64_t k) {
  enum { PIECE = 2048 };
  aj_dot_chain *chain = aj_loops_here()->dot_chains[plan->dtype];
  const char *lhs = plan->call->in[0].data + (size_t)a * plan->bytes;
  const char *rhs = plan->call->in[1].data + (size_t)b * plan->bytes;
  for (int64_t at = 0, piece; at < k; at += piece) {
    piece = k - at < PIECE ? k - at : PIECE;
    chain((size_t)piece, s->width, s->out, lhs + (size_t)at * plan->bytes,
          rhs + (size_t)(at * plan->results) * plan->bytes, (size_t)plan->results, s->started);
    s->started = true;
    if (aj_poller_stops(poller, (piece + 4) * (int64_t)s->width / 8)) return false;
  }
  return true;
}

/* The points of the last dim of a window: `row` is the first element of its row of lhs, `first` the number of its first
 * point in the window. */
static bool add_row(const conv_plan *plan, aj_poller *poller, sums *s, int64_t row, int64_t first, int64_t window,
                    int64_t column) {
  const aj_window_dim *d = &plan->dims[plan->rank - 1];
  if (plan->joins) {
    int64_t place = window * d->stride - d->low;
    int64_t from = place < 0 ? -place : 0, end = d->extent - place < d->size ? d->extent - place : d->size;
    if (from >= end) return true;
    return add_products(plan, poller, s, row + (place + from) * d->step,
                        (first + from) * plan->features * plan->results + column, (end - from) * plan->features);
  }
  int64_t feature = column / plan->group_results * plan->group_features;
  for (int64_t point = 0; point < d->size; point++) {
    int64_t index = aj_window_index(d, window, point);
    int64_t b = (first + point) * plan->group_features * plan->results + column;
    if (index >= 0 && !add_products(plan, poller, s, row + index * d->step + feature, b, plan->group_features))
      return false;
  }
  return !aj_poller_stops(poller, d->size);
}

/* One tile of the results of one window, from result `column` on. */
static bool add_window(const conv_plan *plan, aj_poller *poller, sums *s, int64_t batch, const int64_t *window,
                       int64_t column) {
  int64_t point[ARRJIT_MAX_RANK] = {0}, first = 0, last = plan->rank - 1;
  do {
    int64_t row = aj_window_row(plan->dims, plan->rank, window, point);
    if (row >= 0 && !add_row(plan, poller, s, batch * plan->batch_step + row, first, window[last], column))
      return false;
    if (row < 0 && aj_poller_stops(poller, 8)) return false;
    first += plan->dims[last].size;
  } while (aj_window_step(plan->dims, plan->rank - 1, true, point));
  if (!s->started) memset(s->out, 0, s->width * plan->bytes);
  return true;
}

/* Result rows [from, to): tiles outside, so that a tile of rhs stays in cache while the windows of a row pass. */
static bool convolve_rows(const conv_plan *plan, aj_poller *poller, int64_t from, int64_t to) {
  int64_t windows = plan->dims[plan->rank - 1].windows, per_batch = 1;
  for (int32_t i = 0; i + 1 < plan->rank; i++) per_batch *= plan->dims[i].windows;
  for (int64_t row = from; row < to; row++) {
    int64_t window[ARRJIT_MAX_RANK] = {0}, rest = row % per_batch, width;
    for (int32_t i = plan->rank - 2; i >= 0; i--) {
      window[i] = rest % plan->dims[i].windows;
      rest /= plan->dims[i].windows;
    }
    for (int64_t column = 0; column < plan->results; column += width) {
      width = plan->group_results - column % plan->group_results; /* a tile is of one group */
      if (width > AJ_DOT_TILE) width = AJ_DOT_TILE;
      for (int64_t w = 0; w < windows; w++) {
        char *out = plan->call->out->data + (size_t)((row * windows + w) * plan->results + column) * plan->bytes;
        sums s = {.out = out, .width = (size_t)width};
        window[plan->rank - 1] = w;
        if (!add_window(plan, poller, &s, row / per_batch, window, column)) return false;
      }
    }
  }
  return true;
}

static int64_t share_rows(void *frame, int64_t from, int64_t to) {
  const conv_plan *plan = frame;
  aj_poller poller = {.stop = plan->call->team->due, .user = plan->call->poll_user};
  return convolve_rows(plan, &poller, from, to) ? AJ_BLOCKS_DONE : AJ_BLOCKS_STOPPED;
}

/* Rows that one of several threads does at a time; 0: they are not worth more than one. */
static int64_t find_grain(const conv_plan *plan) {
  enum { LEAST_PRODUCTS = 1 << 18, BLOCKS = 4 };
  const aj_sem_call *call = plan->call;
  int64_t threads = call->team ? call->team->threads(call->poll_user) : 1;
  int64_t products = aj_view_count(call->out), points = aj_view_count(&call->in[1]) / plan->results;
  if (!aj_i64_mul(products, points, &products)) products = INT64_MAX;
  if (threads < 2 || plan->rows < 2 || products < 4 * LEAST_PRODUCTS) return 0;
  int64_t least = LEAST_PRODUCTS / (products / plan->rows + 1) + 1, grain = plan->rows / (threads * BLOCKS);
  return grain < least ? least : grain;
}

static void make_plan(conv_plan *plan) {
  const aj_sem_call *call = plan->call;
  const aj_node *node = call->node;
  const aj_view *lhs = &call->in[0], *rhs = &call->in[1];
  int32_t spatial = lhs->rank - 2;
  plan->features = lhs->dims[spatial + 1];
  plan->results = rhs->dims[spatial + 1];
  plan->groups = aj_node_int(node, AJ_ATTR_GROUPS);
  plan->group_features = plan->features / plan->groups;
  plan->group_results = plan->results / plan->groups;
  plan->batch_step = aj_routine_extent(lhs, 1, lhs->rank);
  plan->rows = lhs->dims[0];
  plan->rank = spatial > 0 ? spatial : 1;
  plan->dims[0] = (aj_window_dim){1, 1, 1, 1, 0, 1, 1, 0};
  for (int32_t i = 0; i < spatial; i++) {
    uint32_t at = (uint32_t)i;
    plan->dims[i] = (aj_window_dim){.extent = lhs->dims[i + 1],
                                    .windows = call->out->dims[i + 1],
                                    .size = rhs->dims[i],
                                    .stride = aj_routine_int_at(node, AJ_ATTR_STEP, at),
                                    .low = aj_routine_int_at(node, AJ_ATTR_LOW, at),
                                    .base = aj_routine_int_at(node, AJ_ATTR_BASE_DILATION, at),
                                    .spread = aj_routine_int_at(node, AJ_ATTR_WINDOW_DILATION, at),
                                    .step = aj_routine_extent(lhs, i + 2, lhs->rank)};
    if (i + 1 < spatial) plan->rows *= plan->dims[i].windows;
  }
  const aj_window_dim *last = &plan->dims[plan->rank - 1];
  plan->joins = plan->groups == 1 && last->base == 1 && last->spread == 1;
}

aj_sem_status aj_routine_conv(const aj_sem_call *call) {
  conv_plan plan = {.call = call, .dtype = call->in[0].dtype, .bytes = aj_dtypes[call->in[0].dtype].bytes};
  if (aj_view_count(call->out) == 0) return AJ_SEM_OK;
  make_plan(&plan);
  int64_t grain = find_grain(&plan);
  if (grain == 0) {
    aj_poller poller = aj_routine_poller(call);
    return convolve_rows(&plan, &poller, 0, plan.rows) ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  while (call->team->share(call->poll_user, share_rows, &plan, plan.rows, grain) != AJ_BLOCKS_DONE)
    if (call->poll(call->poll_user)) return AJ_SEM_STOPPED;
  return AJ_SEM_OK;
}
