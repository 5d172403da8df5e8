/* scatter as StableHLO defines it, with gather's dimension numbers: windows of updates go to x at index vectors. Starts
 * of all windows are found first; then updates are taken in row-major order, which is the order in which they reach
 * each element. */
#include "sem/routine.h"
#include "sem/windows.h"

#include <string.h>

typedef struct scatter_plan {
  const aj_sem_call *call;
  aj_loop *combine; /* NULL: an update takes the element's place */
  int64_t *starts;  /* by window: of its first element in x, bytes; negative: it does not fit */
  int64_t run;      /* updates that lie side by side, in x too */
  int32_t rank;     /* of the runs, with their dims and, by dim, the steps in starts and in x */
  int64_t dims[ARRJIT_MAX_RANK], start_step[ARRJIT_MAX_RANK], x_step[ARRJIT_MAX_RANK];
} scatter_plan;

/* The dims of updates are those of windows or of the batch space; the last ones that lie side by side are a run. */
static void plan_runs(scatter_plan *p, const aj_windows *w) {
  const aj_view *x = &p->call->in[0], *updates = &p->call->in[2];
  int64_t step = aj_windows_count(w);
  for (int32_t i = 0, batch = 0, window = 0; i < updates->rank; i++) {
    p->dims[i] = updates->dims[i];
    p->start_step[i] = p->x_step[i] = 0;
    if (w->offset >> i & 1) {
      while (w->collapsed >> window & 1) window++;
      p->x_step[i] = x->strides[window++];
    } else {
      p->start_step[i] = step /= w->dims[batch++];
    }
  }
  p->run = 1;
  p->rank = updates->rank;
  while (p->rank > 0 && (w->offset >> (p->rank - 1) & 1) &&
         p->x_step[p->rank - 1] == p->run * (int64_t)aj_dtypes[x->dtype].bytes)
    p->run *= p->dims[--p->rank];
}

static bool put_run(const scatter_plan *p, char *to, const char *from, aj_poller *poller) {
  size_t bytes = aj_dtypes[p->call->in[0].dtype].bytes;
  if (p->combine == NULL)
    return aj_bytes_copy(to, from, (size_t)p->run * bytes, poller) && !aj_poller_stops(poller, AJ_POLL_SCATTERED);
  for (int64_t i = 0, n; i < p->run; i += n) {
    n = p->run - i < AJ_POLL_WORK ? p->run - i : AJ_POLL_WORK;
    const void *in[] = {to + (size_t)i * bytes, from + (size_t)i * bytes};
    p->combine((size_t)n, to + (size_t)i * bytes, in);
    if (aj_poller_stops(poller, n + AJ_POLL_SCATTERED)) return false;
  }
  return true;
}

static aj_sem_status put_all(const scatter_plan *p, aj_poller *poller) {
  int64_t at[ARRJIT_MAX_RANK] = {0}, start = 0, in_window = 0;
  const char *from = p->call->in[2].data;
  size_t bytes = (size_t)p->run * aj_dtypes[p->call->in[0].dtype].bytes;
  for (;; from += bytes) {
    if (p->starts[start] >= 0) {
      if (!put_run(p, p->call->out->data + p->starts[start] + in_window, from, poller)) return AJ_SEM_STOPPED;
    } else if (aj_poller_stops(poller, 1)) {
      return AJ_SEM_STOPPED;
    }
    int32_t i = p->rank - 1;
    for (; i >= 0; i--) {
      start += p->start_step[i];
      in_window += p->x_step[i];
      if (++at[i] < p->dims[i]) break;
      at[i] = 0;
      start -= p->start_step[i] * p->dims[i];
      in_window -= p->x_step[i] * p->dims[i];
    }
    if (i < 0) return AJ_SEM_OK;
  }
}

/* Checked: fails at the first window that does not fit. */
static aj_sem_status find_starts(const aj_windows *w, bool checked, int64_t *starts, aj_poller *poller) {
  const aj_view *x = &w->call->in[0];
  aj_window window = {0};
  bool fits = true; /* on axes that no index moves */
  uint32_t indexed = aj_routine_axis_set(w->call->node, AJ_ATTR_START_MAP);
  for (int32_t i = 0; i < x->rank; i++) fits = fits && ((indexed >> i & 1) || w->sizes[i] <= x->dims[i]);
  do {
    int64_t start = aj_windows_start(w, &window, false);
    if (start < 0 && checked) return aj_windows_fail(w, &window, -1 - start);
    starts[window.position] = fits ? start : -1;
    if (aj_poller_stops(poller, AJ_POLL_SCATTERED)) return AJ_SEM_STOPPED;
  } while (aj_windows_next(w, &window));
  return fits || !checked ? AJ_SEM_OK : aj_routine_fail_shape(w->call, "scatter: a window is larger than the array");
}

static aj_sem_status scatter_at(const aj_sem_call *call, bool checked, aj_op combine) {
  scatter_plan plan = {.call = call};
  aj_windows windows;
  int64_t sizes[ARRJIT_MAX_RANK];
  const aj_attr *offset = aj_node_attr(call->node, AJ_ATTR_OFFSET_AXES);
  aj_poller poller = aj_routine_poller(call);
  for (uint32_t i = 0; i < offset->count; i++) sizes[i] = call->in[2].dims[offset->u.ints[i]];
  aj_windows_init(&windows, call, sizes);
  if (!aj_bytes_copy(call->out->data, call->in[0].data, aj_view_bytes(call->out), &poller)) return AJ_SEM_STOPPED;
  size_t count = (size_t)aj_windows_count(&windows);
  bool empty = aj_view_count(&call->in[2]) == 0;
  if (count == 0 || (empty && !checked)) return AJ_SEM_OK;
  if (count > SIZE_MAX / sizeof(int64_t)) return AJ_SEM_MEMORY;
  plan.starts = aj_mem_raw(call->mem, count * sizeof(int64_t));
  if (plan.starts == NULL) return AJ_SEM_MEMORY;
  if (combine != AJ_OP_NONE) plan.combine = aj_sem_loop(combine, call->out->dtype, call->out->dtype);
  aj_sem_status status = find_starts(&windows, checked, plan.starts, &poller);
  if (status == AJ_SEM_OK && !empty) {
    plan_runs(&plan, &windows);
    status = put_all(&plan, &poller);
  }
  aj_mem_free(call->mem, plan.starts, count * sizeof(int64_t));
  return status;
}

aj_sem_status aj_routine_scatter(const aj_sem_call *call) { return scatter_at(call, false, AJ_OP_NONE); }
aj_sem_status aj_routine_checked_scatter(const aj_sem_call *call) { return scatter_at(call, true, AJ_OP_NONE); }
aj_sem_status aj_routine_scatter_add(const aj_sem_call *call) { return scatter_at(call, false, AJ_OP_ADD); }
aj_sem_status aj_routine_scatter_mul(const aj_sem_call *call) { return scatter_at(call, false, AJ_OP_MUL); }
aj_sem_status aj_routine_scatter_min(const aj_sem_call *call) { return scatter_at(call, false, AJ_OP_MIN); }
aj_sem_status aj_routine_scatter_max(const aj_sem_call *call) { return scatter_at(call, false, AJ_OP_MAX); }
