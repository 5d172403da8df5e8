/* argmin, argmax: i64 position along an axis. A NaN counts as the extreme; the first wins among equals, and -0 equals
 * 0. */
#include "sem/routine.h"

/* Position of the extreme of elements 0 .. end - 1, `stride` elements apart, when that of the first `from` is `best`.
 */
typedef int64_t find_extreme(const void *data, int64_t from, int64_t end, int64_t stride, int64_t best);
#define DEFINE_FIND(T, dt)                                                                                             \
  static int64_t find_least_##dt(const void *data, int64_t from, int64_t end, int64_t stride, int64_t best) {          \
    const T *x = data;                                                                                                 \
    for (int64_t i = from; i < end && x[best * stride] == x[best * stride]; i++)                                       \
      if (!(x[i * stride] >= x[best * stride])) best = i;                                                              \
    return best;                                                                                                       \
  }                                                                                                                    \
  static int64_t find_largest_##dt(const void *data, int64_t from, int64_t end, int64_t stride, int64_t best) {        \
    const T *x = data;                                                                                                 \
    for (int64_t i = from; i < end && x[best * stride] == x[best * stride]; i++)                                       \
      if (!(x[i * stride] <= x[best * stride])) best = i;                                                              \
    return best;                                                                                                       \
  }
#define DTYPE(ID, name, cls, bits, T) AJ_ORDERED(cls, DEFINE_FIND(T, ID))
#include "ir/dtypes.def"
#undef DTYPE

static find_extreme *const find_least[AJ_DTYPE_COUNT] = {
#define DTYPE(ID, name, cls, bits, T) AJ_ORDERED(cls, [ARRJIT_##ID] = find_least_##ID, )
#include "ir/dtypes.def"
#undef DTYPE
};
static find_extreme *const find_largest[AJ_DTYPE_COUNT] = {
#define DTYPE(ID, name, cls, bits, T) AJ_ORDERED(cls, [ARRJIT_##ID] = find_largest_##ID, )
#include "ir/dtypes.def"
#undef DTYPE
};

static aj_sem_status find_positions(const aj_sem_call *call, find_extreme *find) {
  const aj_view *x = &call->in[0];
  int64_t count = aj_view_count(call->out);
  aj_poller poller = aj_routine_poller(call);
  if (count == 0) return AJ_SEM_OK;
  int32_t axis = (int32_t)aj_node_int(call->node, AJ_ATTR_AXIS);
  int64_t extent = x->dims[axis], inner = aj_routine_extent(x, axis + 1, x->rank);
  if (extent == 0) return aj_routine_fail_shape(call, "the axis has no elements");
  size_t bytes = aj_dtypes[x->dtype].bytes;
  int64_t *out = (int64_t *)(void *)call->out->data, weight = inner == 1 ? 1 : AJ_POLL_SCATTERED;
  for (int64_t k = 0; k < count; k++) {
    const char *at = x->data + (size_t)(k / inner * extent * inner + k % inner) * bytes;
    int64_t piece = AJ_POLL_WORK / weight, best = 0;
    for (int64_t i = 0, end; i < extent; i = end) {
      end = extent - i < piece ? extent : i + piece;
      best = find(at, i, end, inner, best);
      if (aj_poller_stops(&poller, (end - i) * weight)) return AJ_SEM_STOPPED;
    }
    out[k] = best;
  }
  return AJ_SEM_OK;
}

aj_sem_status aj_routine_argmin(const aj_sem_call *call) { return find_positions(call, find_least[call->in[0].dtype]); }
aj_sem_status aj_routine_argmax(const aj_sem_call *call) {
  return find_positions(call, find_largest[call->in[0].dtype]);
}
