/* Dimension numbers of gather and scatter as strides, and the walk over their windows. */
#include "sem/windows.h"
#include "sem/routine.h"

/* Extents of the batch space and how x and indices are walked along it. */
static void plan_batch(aj_windows *w) {
  const aj_node *node = w->call->node;
  const aj_view *x = &w->call->in[0], *indices = &w->call->in[1];
  const aj_attr *x_batch = aj_node_attr(node, AJ_ATTR_X_BATCH), *index_batch = aj_node_attr(node, AJ_ATTR_INDEX_BATCH);
  int64_t index_axis = aj_node_int(node, AJ_ATTR_INDEX_AXIS);
  w->component_step = index_axis < indices->rank ? indices->strides[index_axis] : 0;
  for (int32_t i = 0; i < indices->rank; i++) {
    if (i == index_axis) continue;
    w->dims[w->rank] = indices->dims[i];
    w->steps[AJ_WALK_INDICES][w->rank] = indices->strides[i];
    for (uint32_t k = 0; k < index_batch->count; k++)
      if (index_batch->u.ints[k] == i) w->steps[AJ_WALK_X][w->rank] = x->strides[x_batch->u.ints[k]];
    w->rank++;
  }
}

void aj_windows_init(aj_windows *w, const aj_sem_call *call, const int64_t *sizes) {
  const aj_node *node = call->node;
  const aj_attr *start_map = aj_node_attr(node, AJ_ATTR_START_MAP);
  const aj_view *x = &call->in[0];
  *w = (aj_windows){.call = call, .component_count = start_map->count};
  w->offset = aj_routine_axis_set(node, AJ_ATTR_OFFSET_AXES);
  w->collapsed = aj_routine_axis_set(node, AJ_ATTR_COLLAPSED_AXES) | aj_routine_axis_set(node, AJ_ATTR_X_BATCH);
  for (int32_t i = 0; i < x->rank; i++) w->sizes[i] = w->collapsed >> i & 1 ? 1 : *sizes++;
  for (uint32_t k = 0; k < start_map->count; k++) {
    w->axes[k] = start_map->u.ints[k];
    w->last[k] = x->dims[w->axes[k]] - w->sizes[w->axes[k]];
  }
  plan_batch(w);
}

int64_t aj_windows_count(const aj_windows *w) {
  int64_t count = 1;
  for (int32_t i = 0; i < w->rank; i++) count *= w->dims[i];
  return count;
}

bool aj_windows_next(const aj_windows *w, aj_window *window) {
  window->position++;
  for (int32_t i = w->rank - 1; i >= 0; i--) {
    for (int k = 0; k < AJ_WALK_COUNT; k++) window->offset[k] += w->steps[k][i];
    if (++window->at[i] < w->dims[i]) return true;
    window->at[i] = 0;
    for (int k = 0; k < AJ_WALK_COUNT; k++) window->offset[k] -= w->steps[k][i] * w->dims[i];
  }
  window->position = 0;
  return false;
}

static int64_t get_index(const aj_windows *w, const aj_window *window, int64_t k) {
  const aj_view *indices = &w->call->in[1];
  return aj_routine_index(indices->dtype, indices->data + window->offset[AJ_WALK_INDICES] + k * w->component_step);
}

int64_t aj_windows_start(const aj_windows *w, const aj_window *window, bool clamped) {
  int64_t start = window->offset[AJ_WALK_X];
  for (uint32_t k = 0; k < w->component_count; k++) {
    int64_t index = get_index(w, window, k);
    if (!clamped && (index < 0 || index > w->last[k])) return -1 - (int64_t)k;
    start += aj_routine_clamp(index, 0, w->last[k]) * w->call->in[0].strides[w->axes[k]];
  }
  return start;
}

aj_sem_status aj_windows_fail(const aj_windows *w, const aj_window *window, int64_t k) {
  return aj_routine_fail_index(w->call, window->position, get_index(w, window, k), w->axes[k], w->last[k] + 1);
}
