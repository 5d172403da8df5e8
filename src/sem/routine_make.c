/* Arrays from attributes and from whole arrays: const, iota, concat, pad. */
#include "sem/routine.h"

#include <string.h>

aj_sem_status aj_routine_const(const aj_sem_call *call) {
  const aj_attr *value = aj_node_attr(call->node, AJ_ATTR_VALUE);
  size_t bytes = aj_dtypes[call->out->dtype].bytes, total = aj_view_bytes(call->out);
  aj_poller poller = aj_routine_poller(call);
  bool ok = value->count == total
                ? aj_bytes_copy(call->out->data, value->u.bytes, total, &poller)
                : aj_view_fill_polled(call->out->data, aj_view_count(call->out), value->u.bytes, bytes, &poller);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

/* A slab (axis and what is inside of it) is made once, then copied for every index outside. */
aj_sem_status aj_routine_iota(const aj_sem_call *call) {
  aj_view *out = call->out;
  if (aj_view_count(out) == 0) return AJ_SEM_OK;
  int32_t axis = (int32_t)aj_node_int(call->node, AJ_ATTR_AXIS);
  int64_t extent = out->dims[axis], inner = aj_routine_extent(out, axis + 1, out->rank);
  size_t bytes = aj_dtypes[out->dtype].bytes, slab = (size_t)(extent * inner) * bytes;
  aj_loop *convert = aj_sem_loop(AJ_OP_CONVERT, ARRJIT_I64, out->dtype);
  int64_t numbers[AJ_BLOCK], converted[AJ_BLOCK];
  const void *in[] = {numbers};
  aj_poller poller = aj_routine_poller(call);
  for (int64_t i = 0; i < extent; i += AJ_BLOCK) {
    int64_t n = extent - i < AJ_BLOCK ? extent - i : AJ_BLOCK;
    for (int64_t k = 0; k < n; k++) numbers[k] = i + k;
    convert((size_t)n, converted, in);
    const char *element = (const char *)converted;
    if (inner == 1) memcpy(out->data + (size_t)i * bytes, element, (size_t)n * bytes);
    for (int64_t k = 0; inner > 1 && k < n; k++, element += bytes)
      if (!aj_view_fill_polled(out->data + (size_t)((i + k) * inner) * bytes, inner, element, bytes, &poller))
        return AJ_SEM_STOPPED;
    if (aj_poller_stops(&poller, n)) return AJ_SEM_STOPPED;
  }
  for (int64_t i = aj_routine_extent(out, 0, axis) - 1; i > 0; i--)
    if (!aj_bytes_copy(out->data + (size_t)i * slab, out->data, slab, &poller)) return AJ_SEM_STOPPED;
  return AJ_SEM_OK;
}

aj_sem_status aj_routine_concat(const aj_sem_call *call) {
  aj_view part = *call->out;
  if (aj_view_count(&part) == 0) return AJ_SEM_OK;
  int32_t axis = (int32_t)aj_node_int(call->node, AJ_ATTR_AXIS);
  aj_poller poller = aj_routine_poller(call);
  for (uint32_t k = 0; k < call->node->operand_count; k++) {
    const aj_view *in = &call->in[k];
    part.dims[axis] = in->dims[axis];
    if (aj_view_count(in) > 0 && !aj_view_copy_polled(&part, in, &poller)) return AJ_SEM_STOPPED;
    part.data += in->dims[axis] * part.strides[axis];
  }
  return AJ_SEM_OK;
}

/* Where x lands on one axis of the result: x's elements first .. first + count - 1 go to place, place + step ...
 * Positions are low + i * step; computed so that no low or interior, however large, overflows. */
typedef struct pad_range {
  int64_t first, count, place, step;
} pad_range;
static pad_range find_padded(const aj_node *node, uint32_t axis, int64_t in_dim, int64_t out_dim) {
  int64_t low = aj_routine_int_at(node, AJ_ATTR_LOW, axis), interior = aj_routine_int_at(node, AJ_ATTR_INTERIOR, axis);
  pad_range r = {.place = low, .step = interior < INT64_MAX ? interior + 1 : interior};
  if (low < 0) {
    r.first = -(low + 1) / r.step + 1;
    r.place = r.step - 1 - -(low + 1) % r.step;
  }
  if (r.place >= out_dim || r.first >= in_dim) return r;
  int64_t room = (out_dim - 1 - r.place) / r.step + 1;
  r.count = in_dim - r.first < room ? in_dim - r.first : room;
  return r;
}

aj_sem_status aj_routine_pad(const aj_sem_call *call) {
  aj_view to = *call->out, from = call->in[0];
  if (aj_view_count(&to) == 0) return AJ_SEM_OK;
  aj_poller poller = aj_routine_poller(call);
  if (!aj_view_fill_polled(to.data, aj_view_count(&to), call->in[1].data, aj_dtypes[to.dtype].bytes, &poller))
    return AJ_SEM_STOPPED;
  for (int32_t i = 0; i < to.rank; i++) {
    pad_range r = find_padded(call->node, (uint32_t)i, from.dims[i], to.dims[i]);
    if (r.count == 0) return AJ_SEM_OK;
    to.data += r.place * to.strides[i];
    from.data += r.first * from.strides[i];
    to.dims[i] = from.dims[i] = r.count;
    if (r.count > 1) to.strides[i] *= r.step;
  }
  return aj_view_copy_polled(&to, &from, &poller) ? AJ_SEM_OK : AJ_SEM_STOPPED;
}
