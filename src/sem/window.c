/* reduce_window: each window is one chain from the inits, its points row-major. Points on padding, and on the holes of
 * dilated arrays, are the inits once more, as StableHLO has it. */
#include "sem/window.h"

#include "sem/combiner.h"
#include "sem/program.h"

#include <string.h>

/* ---- windows ---- */

static int64_t get_entry(const aj_node *node, aj_attr_name name, uint32_t i) {
  return aj_node_attr(node, name) != NULL ? aj_routine_int_at(node, name, i)
                                          : 1; /* select_and_scatter dilates nothing */
}

int32_t aj_window_dims(const aj_node *node, const aj_view *x, const int64_t *windows, aj_window_dim *out) {
  out[0] = (aj_window_dim){1, 1, 1, 1, 0, 1, 1, 1};
  for (int32_t i = 0; i < x->rank; i++)
    out[i] = (aj_window_dim){.extent = x->dims[i],
                             .windows = windows[i],
                             .size = get_entry(node, AJ_ATTR_SIZES, (uint32_t)i),
                             .stride = get_entry(node, AJ_ATTR_STEP, (uint32_t)i),
                             .low = get_entry(node, AJ_ATTR_LOW, (uint32_t)i),
                             .base = get_entry(node, AJ_ATTR_BASE_DILATION, (uint32_t)i),
                             .spread = get_entry(node, AJ_ATTR_WINDOW_DILATION, (uint32_t)i),
                             .step = x->strides[i] / aj_dtypes[x->dtype].bytes};
  return x->rank > 0 ? x->rank : 1;
}

bool aj_window_step(const aj_window_dim *dims, int32_t rank, bool points, int64_t *index) {
  for (int32_t i = rank - 1; i >= 0; i--) {
    if (++index[i] < (points ? dims[i].size : dims[i].windows)) return true;
    index[i] = 0;
  }
  return false;
}

int64_t aj_window_row(const aj_window_dim *dims, int32_t rank, const int64_t *window, const int64_t *point) {
  int64_t row = 0;
  for (int32_t i = 0; i + 1 < rank; i++) {
    int64_t index = aj_window_index(&dims[i], window[i], point[i]);
    if (index < 0) return -1;
    row += index * dims[i].step;
  }
  return row;
}

/* ---- reduce_window ---- */

enum { TILE = 256 };

typedef struct window_plan {
  const aj_sem_call *call;
  uint32_t count; /* of arrays */
  int32_t rank;
  aj_window_dim dims[ARRJIT_MAX_RANK];
  aj_combiner combiner;
  char *inits[AJ_COMBINE_ARGS], *sums[AJ_COMBINE_ARGS], *points[AJ_COMBINE_ARGS]; /* TILE elements each */
  int64_t weight;
  aj_poller poller;
} window_plan;

/* Point `point` of the windows (outer, first ...) of a row: n elements of each array; false: all are the inits. */
static bool read_points(window_plan *plan, const int64_t *outer, int64_t first, const int64_t *point, size_t n) {
  const aj_window_dim *d = &plan->dims[plan->rank - 1];
  int64_t row = aj_window_row(plan->dims, plan->rank, outer, point);
  bool any = false;
  for (size_t k = 0; row >= 0 && k < n; k++) {
    int64_t index = aj_window_index(d, first + (int64_t)k, point[plan->rank - 1]);
    any = any || index >= 0;
    for (uint32_t i = 0; i < plan->count; i++) {
      size_t bytes = plan->combiner.bytes[i];
      const char *from = plan->inits[i];
      if (index >= 0) from = plan->call->in[i].data + (size_t)(row + index * d->step) * bytes;
      memcpy(plan->points[i] + k * bytes, from, bytes);
    }
  }
  return any;
}

/* n windows of a row, whose results go to element `at`. */
static bool fold_windows(window_plan *plan, const int64_t *outer, int64_t first, size_t n, int64_t at) {
  int64_t point[ARRJIT_MAX_RANK] = {0};
  for (uint32_t i = 0; i < plan->count; i++) memcpy(plan->sums[i], plan->inits[i], n * plan->combiner.bytes[i]);
  do {
    bool any = read_points(plan, outer, first, point, n);
    aj_combiner_run(&plan->combiner, n, plan->sums, (const char *const *)plan->sums,
                    (const char *const *)(any ? plan->points : plan->inits));
    if (aj_poller_stops(&plan->poller, ((int64_t)n + 8) * plan->weight)) return false;
  } while (aj_window_step(plan->dims, plan->rank, true, point));
  for (uint32_t i = 0; i < plan->count; i++) {
    size_t bytes = plan->combiner.bytes[i];
    memcpy(plan->call->out[i].data + (size_t)at * bytes, plan->sums[i], n * bytes);
  }
  return true;
}

static bool fold_all(window_plan *plan) {
  int64_t outer[ARRJIT_MAX_RANK] = {0}, windows = plan->dims[plan->rank - 1].windows, at = 0;
  do {
    for (int64_t first = 0; first < windows; first += TILE) {
      size_t n = (size_t)(windows - first < TILE ? windows - first : TILE);
      if (!fold_windows(plan, outer, first, n, at)) return false;
      at += (int64_t)n;
    }
  } while (aj_window_step(plan->dims, plan->rank - 1, false, outer));
  return true;
}

aj_sem_status aj_routine_reduce_window(const aj_sem_call *call) {
  if (aj_view_count(call->out) == 0) return AJ_SEM_OK;
  window_plan plan = {
      .call = call, .count = (uint32_t)aj_node_int(call->node, AJ_ATTR_ARGS), .poller = aj_routine_poller(call)};
  plan.rank = aj_window_dims(call->node, &call->in[0], call->out->dims, plan.dims);
  if (!aj_combiner_open(&plan.combiner, call, 0, 2 * plan.count, TILE)) return AJ_SEM_MEMORY;
  plan.weight = plan.count + plan.combiner.program->step_count / 8;
  size_t part = aj_record_bytes(plan.count, TILE);
  aj_sem_status status = AJ_SEM_MEMORY;
  char *memory = aj_mem_raw(call->mem, 3 * part);
  if (memory != NULL) {
    aj_record_at(&plan.combiner, memory, TILE, 0, plan.inits);
    aj_record_at(&plan.combiner, memory + part, TILE, 0, plan.sums);
    aj_record_at(&plan.combiner, memory + 2 * part, TILE, 0, plan.points);
    for (uint32_t i = 0; i < plan.count; i++)
      aj_view_fill(plan.inits[i], TILE, call->in[plan.count + i].data, plan.combiner.bytes[i]);
    status = fold_all(&plan) ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  aj_mem_free(call->mem, memory, 3 * part);
  aj_combiner_close(&plan.combiner);
  return status;
}
