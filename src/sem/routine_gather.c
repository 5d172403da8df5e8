/* gather as StableHLO defines it, without batching dims: for every point of the batch space (indices without
 * index_axis) an index vector of start_map's length gives the start of a window of `sizes` in x; the window, without
 * its collapsed axes, fills the result's offset_axes. */
#include "sem/routine.h"

typedef struct gather_plan {
  const aj_sem_call *call;
  aj_copy_plan window; /* one window: result strides from x's */
  int32_t batch_rank;
  int64_t batch_dims[ARRJIT_MAX_RANK + 1];
  int64_t batch_out[ARRJIT_MAX_RANK + 1];   /* result strides of the batch dims */
  int64_t batch_index[ARRJIT_MAX_RANK + 1]; /* strides of the batch dims in indices */
  uint32_t component_count;
  int64_t component_stride;                                   /* from one component of an index vector to the next */
  int64_t axes[ARRJIT_MAX_RANK], last_start[ARRJIT_MAX_RANK]; /* by component */
} gather_plan;

static void plan_batch(gather_plan *plan) {
  const aj_view *indices = &plan->call->in[1], *out = plan->call->out;
  uint32_t offsets = aj_routine_axis_set(plan->call->node, AJ_ATTR_OFFSET_AXES);
  int64_t index_axis = aj_node_int(plan->call->node, AJ_ATTR_INDEX_AXIS);
  plan->component_stride = index_axis < indices->rank ? indices->strides[index_axis] : 0;
  int32_t place = 0;
  for (int32_t i = 0; i < indices->rank; i++) {
    if (i == index_axis) continue;
    while (offsets >> place & 1) place++;
    plan->batch_dims[plan->batch_rank] = indices->dims[i];
    plan->batch_index[plan->batch_rank] = indices->strides[i];
    plan->batch_out[plan->batch_rank++] = out->strides[place++];
  }
}

/* False: a window is larger than x (checked: on an axis that no index moves; the others fail by their index). */
static bool plan_window(gather_plan *plan, bool checked) {
  const aj_node *node = plan->call->node;
  const aj_view *x = &plan->call->in[0], *out = plan->call->out;
  uint32_t collapsed = aj_routine_axis_set(node, AJ_ATTR_COLLAPSED_AXES), offset = 0;
  int64_t dims[ARRJIT_MAX_RANK], to[ARRJIT_MAX_RANK], from[ARRJIT_MAX_RANK];
  bool fits = true;
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t size = aj_dim_eval(aj_routine_int_at(node, AJ_ATTR_SIZES, (uint32_t)i), plan->call->env);
    bool indexed = false;
    for (uint32_t k = 0; k < plan->component_count; k++) {
      if (plan->axes[k] != i) continue;
      indexed = true;
      plan->last_start[k] = x->dims[i] - size;
    }
    fits = fits && (size <= x->dims[i] || (checked && indexed));
    if (collapsed >> i & 1) continue;
    dims[offset] = size;
    from[offset] = x->strides[i];
    to[offset] = out->strides[aj_routine_int_at(node, AJ_ATTR_OFFSET_AXES, offset)];
    offset++;
  }
  aj_copy_plan_init(&plan->window, aj_dtypes[x->dtype].bytes, (int32_t)offset, dims, to, from);
  return fits;
}

/* One window. position: its number in the batch space. */
static aj_sem_status gather_window(const gather_plan *plan, int64_t position, const char *index, char *to, bool checked,
                                   aj_poller *poller) {
  const aj_view *x = &plan->call->in[0];
  const char *from = x->data;
  for (uint32_t k = 0; k < plan->component_count; k++, index += plan->component_stride) {
    int64_t start = aj_routine_index(plan->call->in[1].dtype, index), last = plan->last_start[k];
    if (checked && (start < 0 || start > last))
      return aj_routine_fail_index(plan->call, position, start, plan->axes[k], last + 1);
    if (!plan->window.empty) from += aj_routine_clamp(start, 0, last) * x->strides[plan->axes[k]];
  }
  bool ok = aj_copy_plan_run(&plan->window, to, from, poller) && !aj_poller_stops(poller, 2 * AJ_POLL_SCATTERED);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

static aj_sem_status gather_all(const gather_plan *plan, bool checked) {
  int64_t at[ARRJIT_MAX_RANK + 1] = {0}, position = 0;
  aj_poller poller = aj_routine_poller(plan->call);
  for (int32_t i = 0; i < plan->batch_rank; i++)
    if (plan->batch_dims[i] == 0) return AJ_SEM_OK;
  const char *index = plan->call->in[1].data;
  char *to = plan->call->out->data;
  for (;; position++) {
    aj_sem_status status = gather_window(plan, position, index, to, checked, &poller);
    if (status != AJ_SEM_OK) return status;
    int32_t i = plan->batch_rank - 1;
    for (; i >= 0; i--) {
      index += plan->batch_index[i];
      to += plan->batch_out[i];
      if (++at[i] < plan->batch_dims[i]) break;
      at[i] = 0;
      index -= plan->batch_index[i] * plan->batch_dims[i];
      to -= plan->batch_out[i] * plan->batch_dims[i];
    }
    if (i < 0) return AJ_SEM_OK;
  }
}

static aj_sem_status gather_at(const aj_sem_call *call, bool checked) {
  gather_plan plan = {.call = call};
  const aj_attr *start_map = aj_node_attr(call->node, AJ_ATTR_START_MAP);
  bool empty = aj_view_count(call->out) == 0;
  if (empty && !checked) return AJ_SEM_OK;
  plan.component_count = start_map->count;
  for (uint32_t k = 0; k < start_map->count; k++) plan.axes[k] = start_map->u.ints[k];
  plan_batch(&plan);
  if (!plan_window(&plan, checked) && !empty)
    return aj_routine_fail_shape(call, "gather: a window is larger than the array");
  return gather_all(&plan, checked);
}

aj_sem_status aj_routine_gather(const aj_sem_call *call) { return gather_at(call, false); }
aj_sem_status aj_routine_checked_gather(const aj_sem_call *call) { return gather_at(call, true); }
