/* reduce_window: each window is one chain from the init, its points row-major. Points on padding, and on the holes of a
 * dilated array, are the init once more, as StableHLO has it. */
#include "sem/combiner.h"
#include "sem/program.h"

#include <string.h>

enum { TILE = 256 };

/* One dim: place of point k of window w is w * stride + k * spread - low, in steps of the dilated array. */
typedef struct window_dim {
  int64_t extent, windows, size, stride, low, base, spread;
  int64_t step; /* of the array, in elements */
} window_dim;

typedef struct window_plan {
  const aj_sem_call *call;
  int32_t rank;
  window_dim dims[ARRJIT_MAX_RANK + 1];
  size_t bytes;
  aj_combiner combiner;
  char *inits, *sums, *points; /* TILE elements each */
  int64_t weight;
  aj_poller poller;
} window_plan;

/* Index in the array, -1: a hole or padding. */
static int64_t find_index(const window_dim *d, int64_t window, int64_t point) {
  int64_t place = window * d->stride + point * d->spread - d->low;
  if (place < 0 || place % d->base != 0) return -1;
  return place / d->base < d->extent ? place / d->base : -1;
}

/* A scalar is a vector of one, with a window of one. */
static void plan_dims(window_plan *plan) {
  const aj_node *node = plan->call->node;
  const aj_view *x = &plan->call->in[0], *out = plan->call->out;
  plan->rank = x->rank > 0 ? x->rank : 1;
  plan->dims[0] = (window_dim){1, 1, 1, 1, 0, 1, 1, 1};
  for (int32_t i = 0; i < x->rank; i++)
    plan->dims[i] = (window_dim){.extent = x->dims[i],
                                 .windows = out->dims[i],
                                 .size = aj_routine_int_at(node, AJ_ATTR_SIZES, (uint32_t)i),
                                 .stride = aj_routine_int_at(node, AJ_ATTR_STEP, (uint32_t)i),
                                 .low = aj_routine_int_at(node, AJ_ATTR_LOW, (uint32_t)i),
                                 .base = aj_routine_int_at(node, AJ_ATTR_BASE_DILATION, (uint32_t)i),
                                 .spread = aj_routine_int_at(node, AJ_ATTR_WINDOW_DILATION, (uint32_t)i),
                                 .step = x->strides[i] / (int64_t)plan->bytes};
}

/* The next of a row-major walk over dims [0, rank): over windows, or over points of one. */
static bool step(const window_plan *plan, int32_t rank, bool points, int64_t *index) {
  for (int32_t i = rank - 1; i >= 0; i--) {
    if (++index[i] < (points ? plan->dims[i].size : plan->dims[i].windows)) return true;
    index[i] = 0;
  }
  return false;
}

/* Point `point` of the windows (outer, first ...) of a row: n elements; false: all are the init. */
static bool read_points(window_plan *plan, const int64_t *outer, int64_t first, const int64_t *point, size_t n) {
  int32_t last = plan->rank - 1;
  const window_dim *d = &plan->dims[last];
  int64_t row = 0;
  for (int32_t i = 0; i < last; i++) {
    int64_t index = find_index(&plan->dims[i], outer[i], point[i]);
    if (index < 0) return false;
    row += index * plan->dims[i].step;
  }
  bool any = false;
  for (size_t k = 0; k < n; k++) {
    int64_t index = find_index(d, first + (int64_t)k, point[last]);
    const char *from = plan->inits;
    if (index >= 0) from = plan->call->in[0].data + (size_t)(row + index * d->step) * plan->bytes;
    memcpy(plan->points + k * plan->bytes, from, plan->bytes);
    any = any || index >= 0;
  }
  return any;
}

/* n windows of a row. */
static bool fold_windows(window_plan *plan, const int64_t *outer, int64_t first, size_t n, char *out) {
  int64_t point[ARRJIT_MAX_RANK + 1] = {0};
  memcpy(plan->sums, plan->inits, n * plan->bytes);
  do {
    bool any = read_points(plan, outer, first, point, n);
    const char *older = plan->sums, *newer = any ? plan->points : plan->inits;
    aj_combiner_run(&plan->combiner, n, &plan->sums, &older, &newer);
    if (aj_poller_stops(&plan->poller, ((int64_t)n + 8) * plan->weight)) return false;
  } while (step(plan, plan->rank, true, point));
  memcpy(out, plan->sums, n * plan->bytes);
  return true;
}

static bool fold_all(window_plan *plan) {
  int64_t outer[ARRJIT_MAX_RANK + 1] = {0}, windows = plan->dims[plan->rank - 1].windows;
  char *out = plan->call->out->data;
  do {
    for (int64_t first = 0; first < windows; first += TILE) {
      size_t n = (size_t)(windows - first < TILE ? windows - first : TILE);
      if (!fold_windows(plan, outer, first, n, out)) return false;
      out += n * plan->bytes;
    }
  } while (step(plan, plan->rank - 1, false, outer));
  return true;
}

aj_sem_status aj_routine_reduce_window(const aj_sem_call *call) {
  if (aj_view_count(call->out) == 0) return AJ_SEM_OK;
  window_plan plan = {.call = call, .bytes = aj_dtypes[call->out->dtype].bytes, .poller = aj_routine_poller(call)};
  plan_dims(&plan);
  if (!aj_combiner_open(&plan.combiner, call, 0, 2, TILE)) return AJ_SEM_MEMORY;
  plan.weight = 1 + plan.combiner.program->step_count / 8;
  size_t part = aj_record_bytes(1, TILE);
  aj_sem_status status = AJ_SEM_MEMORY;
  plan.inits = aj_mem_raw(call->mem, 3 * part);
  if (plan.inits != NULL) {
    plan.sums = plan.inits + part;
    plan.points = plan.sums + part;
    aj_view_fill(plan.inits, TILE, call->in[1].data, plan.bytes);
    status = fold_all(&plan) ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  aj_mem_free(call->mem, plan.inits, 3 * part);
  aj_combiner_close(&plan.combiner);
  return status;
}
