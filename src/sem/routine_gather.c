/* gather as StableHLO defines it: for every point of the batch space an index vector gives the start of a window of
 * `sizes` in x; the window, without its collapsed and batch axes, fills the result's offset_axes. */
#include "sem/routine.h"
#include "sem/windows.h"

/* Where the batch dims lie in the result. */
static void plan_result(aj_windows *w) {
  int32_t place = 0;
  for (int32_t i = 0; i < w->rank; i++) {
    while (w->offset >> place & 1) place++;
    w->steps[AJ_WALK_RESULT][i] = w->call->out->strides[place++];
  }
}

/* One window: result strides from x's. */
static void plan_window(const aj_windows *w, aj_copy_plan *out) {
  const aj_view *x = &w->call->in[0];
  int64_t dims[ARRJIT_MAX_RANK], to[ARRJIT_MAX_RANK], from[ARRJIT_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (w->collapsed >> i & 1) continue;
    dims[rank] = w->sizes[i];
    from[rank] = x->strides[i];
    to[rank] = w->call->out->strides[aj_routine_int_at(w->call->node, AJ_ATTR_OFFSET_AXES, (uint32_t)rank)];
    rank++;
  }
  aj_copy_plan_init(out, aj_dtypes[x->dtype].bytes, rank, dims, to, from);
}

/* Checked: only on axes that no index moves; the others fail by their index. */
static bool windows_fit(const aj_windows *w, bool checked) {
  const aj_view *x = &w->call->in[0];
  uint32_t indexed = aj_routine_axis_set(w->call->node, AJ_ATTR_START_MAP);
  for (int32_t i = 0; i < x->rank; i++)
    if (w->sizes[i] > x->dims[i] && !(checked && (indexed >> i & 1))) return false;
  return true;
}

static aj_sem_status gather_all(const aj_windows *w, bool checked) {
  aj_poller poller = aj_routine_poller(w->call);
  aj_copy_plan copy;
  aj_window window = {0};
  plan_window(w, &copy);
  do {
    int64_t start = aj_windows_start(w, &window, !checked);
    if (start < 0) return aj_windows_fail(w, &window, -1 - start);
    char *to = w->call->out->data + window.offset[AJ_WALK_RESULT];
    if (!copy.empty && !aj_copy_plan_run(&copy, to, w->call->in[0].data + start, &poller)) return AJ_SEM_STOPPED;
    if (aj_poller_stops(&poller, 2 * AJ_POLL_SCATTERED)) return AJ_SEM_STOPPED;
  } while (aj_windows_next(w, &window));
  return AJ_SEM_OK;
}

static aj_sem_status gather_at(const aj_sem_call *call, bool checked) {
  aj_windows windows;
  int64_t sizes[ARRJIT_MAX_RANK];
  const aj_attr *all = aj_node_attr(call->node, AJ_ATTR_SIZES);
  uint32_t dropped = aj_routine_axis_set(call->node, AJ_ATTR_COLLAPSED_AXES) |
                     aj_routine_axis_set(call->node, AJ_ATTR_X_BATCH),
           count = 0;
  bool empty = aj_view_count(call->out) == 0;
  if (empty && !checked) return AJ_SEM_OK;
  for (uint32_t i = 0; i < all->count; i++)
    if (!(dropped >> i & 1)) sizes[count++] = aj_dim_eval(all->u.ints[i], call->env);
  aj_windows_init(&windows, call, sizes);
  plan_result(&windows);
  if (aj_windows_count(&windows) == 0) return AJ_SEM_OK;
  if (!windows_fit(&windows, checked) && !empty)
    return aj_routine_fail_shape(call, "gather: a window is larger than the array");
  return gather_all(&windows, checked);
}

aj_sem_status aj_routine_gather(const aj_sem_call *call) { return gather_at(call, false); }
aj_sem_status aj_routine_checked_gather(const aj_sem_call *call) { return gather_at(call, true); }
