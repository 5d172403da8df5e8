/* Windows and elements at indices known when it runs: dynamic_slice, dynamic_update_slice, take, and their checked
 * twins. Plain ops clamp, checked ones fail at the lowest offending position; nothing reads or writes outside a buffer.
 */
#include "sem/routine.h"

#include <string.h>

/* Moves base->data to a window of `sizes` at the scalar starts. position of a failure: the number of the start. */
static aj_sem_status place_window(const aj_sem_call *call, aj_view *base, const aj_view *starts, const int64_t *sizes,
                                  bool checked) {
  for (int32_t i = 0; i < base->rank; i++) {
    int64_t last = base->dims[i] - sizes[i], start = aj_routine_index(starts[i].dtype, starts[i].data);
    if (checked && (start < 0 || start > last)) return aj_routine_fail_index(call, i, start, i, last + 1);
    if (last < 0) return aj_routine_fail_shape(call, "the window is larger than the array");
    start = aj_routine_clamp(start, 0, last);
    base->data += start * base->strides[i];
    base->dims[i] = sizes[i];
  }
  return AJ_SEM_OK;
}

static aj_sem_status slice_at(const aj_sem_call *call, bool checked) {
  aj_view window = call->in[0];
  if (aj_view_count(call->out) == 0 && !checked) return AJ_SEM_OK;
  aj_sem_status status = place_window(call, &window, call->in + 1, call->out->dims, checked);
  aj_poller poller = aj_routine_poller(call);
  if (status != AJ_SEM_OK || aj_view_count(&window) == 0) return status;
  return aj_view_pack_polled(call->out->data, &window, &poller) ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

aj_sem_status aj_routine_dynamic_slice(const aj_sem_call *call) { return slice_at(call, false); }
aj_sem_status aj_routine_checked_slice(const aj_sem_call *call) { return slice_at(call, true); }

aj_sem_status aj_routine_dynamic_update_slice(const aj_sem_call *call) {
  const aj_view *update = &call->in[1];
  aj_view window = *call->out;
  aj_sem_status status = place_window(call, &window, call->in + 2, update->dims, false);
  if (status != AJ_SEM_OK) return status;
  aj_poller poller = aj_routine_poller(call);
  bool ok = aj_bytes_copy(call->out->data, call->in[0].data, aj_view_bytes(call->out), &poller);
  if (ok && aj_view_count(update) > 0) ok = aj_view_unpack_polled(&window, update->data, &poller);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

/* ---- take ---- */
/* Byte offsets along the axis for n indices from `first` on; checked: false at the first that is out of bounds. */
static bool find_offsets(const aj_sem_call *call, int64_t first, int64_t n, int64_t bound, int64_t stride, bool checked,
                         int64_t *offsets, aj_sem_status *out_status) {
  const aj_view *indices = &call->in[1];
  size_t bytes = aj_dtypes[indices->dtype].bytes;
  for (int64_t k = 0; k < n; k++) {
    int64_t index = aj_routine_index(indices->dtype, indices->data + (size_t)(first + k) * bytes);
    if (checked && (index < 0 || index >= bound)) {
      int64_t axis = aj_node_int(call->node, AJ_ATTR_AXIS);
      *out_status = aj_routine_fail_index(call, first + k, index, axis, bound);
      return false;
    }
    offsets[k] = aj_routine_clamp(index, 0, bound - 1) * stride;
  }
  return true;
}

#define TAKE_ELEMENTS(BYTES)                                                                                           \
  for (int64_t k = 0; k < n; k++) memcpy(to + k * BYTES, from + offsets[k], BYTES);                                    \
  return;
/* n small chunks of chunk_bytes, one after the other in `to`. */
static void copy_small(char *to, const char *from, const int64_t *offsets, int64_t n, size_t chunk_bytes) {
  switch (chunk_bytes) {
  case 1: TAKE_ELEMENTS(1)
  case 2: TAKE_ELEMENTS(2)
  case 4: TAKE_ELEMENTS(4)
  case 8: TAKE_ELEMENTS(8)
  case 16: TAKE_ELEMENTS(16)
  default:
    for (int64_t k = 0; k < n; k++) memcpy(to + (size_t)k * chunk_bytes, from + offsets[k], chunk_bytes);
  }
}

static bool copy_chunks(char *to, const char *from, const int64_t *offsets, int64_t n, size_t chunk_bytes,
                        aj_poller *poller) {
  if (chunk_bytes <= AJ_ELEMENT_BYTES) {
    copy_small(to, from, offsets, n, chunk_bytes);
    return !aj_poller_stops(poller, n * AJ_POLL_SCATTERED);
  }
  bool ok = true;
  for (int64_t k = 0; ok && k < n; k++)
    ok = aj_bytes_copy(to + (size_t)k * chunk_bytes, from + offsets[k], chunk_bytes, poller) &&
         !aj_poller_stops(poller, AJ_POLL_SCATTERED);
  return ok;
}

static aj_sem_status take_at(const aj_sem_call *call, bool checked) {
  const aj_view *x = &call->in[0];
  int32_t axis = (int32_t)aj_node_int(call->node, AJ_ATTR_AXIS);
  int64_t bound = x->dims[axis], count = aj_view_count(&call->in[1]);
  aj_poller poller = aj_routine_poller(call);
  bool empty = aj_view_count(call->out) == 0;
  if (empty && !checked) return AJ_SEM_OK;
  if (bound == 0 && !empty && !checked) return aj_routine_fail_shape(call, "take: the axis has no elements");
  int64_t outer = empty ? 0 : aj_routine_extent(x, 0, axis),
          inner = empty ? 0 : aj_routine_extent(x, axis + 1, x->rank);
  size_t chunk = (size_t)inner * aj_dtypes[x->dtype].bytes;
  int64_t offsets[AJ_BLOCK];
  for (int64_t first = 0; first < count; first += AJ_BLOCK) {
    int64_t n = count - first < AJ_BLOCK ? count - first : AJ_BLOCK;
    aj_sem_status status = AJ_SEM_OK;
    if (!find_offsets(call, first, n, bound, (int64_t)chunk, checked, offsets, &status)) return status;
    for (int64_t o = 0; o < outer; o++) {
      char *to = call->out->data + (size_t)(o * count + first) * chunk;
      if (!copy_chunks(to, x->data + (size_t)(o * bound) * chunk, offsets, n, chunk, &poller)) return AJ_SEM_STOPPED;
    }
  }
  return AJ_SEM_OK;
}

aj_sem_status aj_routine_take(const aj_sem_call *call) { return take_at(call, false); }
aj_sem_status aj_routine_checked_index(const aj_sem_call *call) { return take_at(call, true); }
