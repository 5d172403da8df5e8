/* select_and_scatter: which element each window selects is found for a row of windows at a time, then their elements of
 * the source are combined with what is there, one after the other: windows may select the same. */
#include "sem/combiner.h"
#include "sem/program.h"
#include "sem/window.h"

#include <string.h>

enum { TILE = 256 };

typedef struct scatter_plan {
  const aj_sem_call *call;
  int32_t rank;
  aj_window_dim dims[ARRJIT_MAX_RANK];
  size_t bytes;
  aj_combiner selects, combines;
  char *chosen, *points, *says;      /* TILE elements: selected so far, at the point, whether the former stay */
  int64_t places[TILE], found[TILE]; /* elements of x where those are, -1: none, padding */
  int64_t weight;
  aj_poller poller;
} scatter_plan;

/* Point `point` of the windows (outer, first ...) of a row: n elements; false: all are padding. */
static bool read_points(scatter_plan *p, const int64_t *outer, int64_t first, const int64_t *point, size_t n) {
  const aj_window_dim *d = &p->dims[p->rank - 1];
  int64_t row = aj_window_row(p->dims, p->rank, outer, point);
  bool any = false;
  for (size_t k = 0; row >= 0 && k < n; k++) {
    int64_t index = aj_window_index(d, first + (int64_t)k, point[p->rank - 1]);
    p->found[k] = index < 0 ? -1 : row + index * d->step;
    const char *from = index < 0 ? p->chosen + k * p->bytes : p->call->in[0].data + (size_t)p->found[k] * p->bytes;
    memcpy(p->points + k * p->bytes, from, p->bytes);
    any = any || index >= 0;
  }
  return any;
}

static void select_points(scatter_plan *p, size_t n) {
  const char *older = p->chosen, *newer = p->points;
  aj_combiner_run(&p->selects, n, &p->says, &older, &newer);
  for (size_t k = 0; k < n; k++) {
    if (p->found[k] < 0 || (p->places[k] >= 0 && p->says[k])) continue;
    p->places[k] = p->found[k];
    memcpy(p->chosen + k * p->bytes, p->points + k * p->bytes, p->bytes);
  }
}

/* n windows of a row, whose elements of the source begin at `source`. */
static bool scatter_windows(scatter_plan *p, const int64_t *outer, int64_t first, size_t n, const char *source) {
  int64_t point[ARRJIT_MAX_RANK] = {0};
  memset(p->chosen, 0, n * p->bytes);
  for (size_t k = 0; k < n; k++) p->places[k] = -1;
  do {
    if (read_points(p, outer, first, point, n)) select_points(p, n);
    if (aj_poller_stops(&p->poller, ((int64_t)n + 8) * p->weight)) return false;
  } while (aj_window_step(p->dims, p->rank, true, point));
  for (size_t k = 0; k < n; k++) {
    if (p->places[k] < 0) continue;
    char *to = p->call->out->data + (size_t)p->places[k] * p->bytes;
    const char *older = to, *newer = source + k * p->bytes;
    aj_combiner_run(&p->combines, 1, &to, &older, &newer);
    if (aj_poller_stops(&p->poller, AJ_POLL_SCATTERED * p->weight)) return false;
  }
  return true;
}

static bool scatter_all(scatter_plan *p) {
  int64_t outer[ARRJIT_MAX_RANK] = {0}, windows = p->dims[p->rank - 1].windows;
  const aj_sem_call *call = p->call;
  const char *source = call->in[1].data;
  if (!aj_view_fill_polled(call->out->data, aj_view_count(call->out), call->in[2].data, p->bytes, &p->poller))
    return false;
  if (aj_view_count(&call->in[1]) == 0) return true;
  do {
    for (int64_t first = 0; first < windows; first += TILE) {
      size_t n = (size_t)(windows - first < TILE ? windows - first : TILE);
      if (!scatter_windows(p, outer, first, n, source)) return false;
      source += n * p->bytes;
    }
  } while (aj_window_step(p->dims, p->rank - 1, false, outer));
  return true;
}

static aj_sem_status scatter_with(scatter_plan *p) {
  const size_t part = aj_record_bytes(1, TILE);
  char *memory = aj_mem_raw(p->call->mem, 3 * part);
  if (memory == NULL) return AJ_SEM_MEMORY;
  p->chosen = memory;
  p->points = memory + part;
  p->says = memory + 2 * part;
  p->weight = 1 + (p->selects.program->step_count + p->combines.program->step_count) / 8;
  bool ok = scatter_all(p);
  aj_mem_free(p->call->mem, memory, 3 * part);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

aj_sem_status aj_routine_select_and_scatter(const aj_sem_call *call) {
  if (aj_view_count(call->out) == 0) return AJ_SEM_OK;
  scatter_plan p = {.call = call, .bytes = aj_dtypes[call->out->dtype].bytes, .poller = aj_routine_poller(call)};
  aj_sem_status status = AJ_SEM_MEMORY;
  p.rank = aj_window_dims(call->node, &call->in[0], call->in[1].dims, p.dims);
  if (!aj_combiner_open(&p.selects, call, 0, 3, TILE)) return AJ_SEM_MEMORY;
  if (aj_combiner_open(&p.combines, call, 1, 3, 1)) {
    status = scatter_with(&p);
    aj_combiner_close(&p.combines);
  }
  aj_combiner_close(&p.selects);
  return status;
}
