/* sort, argsort, searchsorted. One order for all: -0 equals 0, every NaN comes behind every number, both ways round. A
 * row is sorted as keys alone or as keys with their positions. */
#include "arrjit/half.h"
#include "sem/merge.h"
#include "sem/routine.h"

#include <string.h>

/* Whether y has to go before x; no comparison of equals or of NaNs is true. */
#define ABOVE(x, y) ((x) > (y) || ((x) != (x) && (y) == (y)))
#define BELOW(x, y) ((x) < (y) || ((x) != (x) && (y) == (y)))

/* What an element is compared as: itself, or what 16 bits stand for. */
#define VALUE_BOOL(e) (e)
#define VALUE_I8(e) (e)
#define VALUE_I16(e) (e)
#define VALUE_I32(e) (e)
#define VALUE_I64(e) (e)
#define VALUE_U8(e) (e)
#define VALUE_U16(e) (e)
#define VALUE_U32(e) (e)
#define VALUE_U64(e) (e)
#define VALUE_F32(e) (e)
#define VALUE_F64(e) (e)
#define VALUE_F16(e) arrjit_f16_to_f32(e)
#define VALUE_BF16(e) arrjit_bf16_to_f32(e)

/* What AJ_DEFINE_SORT asks, for elements E whose field F is compared. */
#define DEFINE_ORDER(name, E, F, VALUE, ORDER)                                                                         \
  static inline bool behind_##name(const aj_sort_row *row, E x, E y) {                                                 \
    (void)row;                                                                                                         \
    return ORDER(VALUE(x F), VALUE(y F));                                                                              \
  }                                                                                                                    \
  AJ_DEFINE_SORT(name, E, behind_##name)

/* The number of elements that go before the value: those equal to it are among them when `right`. */
#define DEFINE_DTYPE(T, dt, VALUE)                                                                                     \
  typedef struct pair_##dt {                                                                                           \
    T key;                                                                                                             \
    int64_t at;                                                                                                        \
  } pair_##dt;                                                                                                         \
  DEFINE_ORDER(keys_up_##dt, T, , VALUE, ABOVE)                                                                        \
  DEFINE_ORDER(keys_down_##dt, T, , VALUE, BELOW)                                                                      \
  DEFINE_ORDER(pairs_up_##dt, pair_##dt, .key, VALUE, ABOVE)                                                           \
  DEFINE_ORDER(pairs_down_##dt, pair_##dt, .key, VALUE, BELOW)                                                         \
  static void load_pair_##dt(char *to, int64_t i, const char *from) {                                                  \
    pair_##dt *pair = (pair_##dt *)(void *)to + i;                                                                     \
    pair->key = *(const T *)(const void *)from;                                                                        \
    pair->at = i;                                                                                                      \
  }                                                                                                                    \
  static int64_t pair_at_##dt(const char *from, int64_t i) { return ((const pair_##dt *)(const void *)from)[i].at; }   \
  static int64_t search_##dt(const void *sorted, int64_t count, const void *value, bool right) {                       \
    const T *x = sorted, v = *(const T *)value;                                                                        \
    int64_t low = 0, high = count;                                                                                     \
    while (low < high) {                                                                                               \
      int64_t middle = low + (high - low) / 2;                                                                         \
      if (right ? !ABOVE(VALUE(x[middle]), VALUE(v)) : ABOVE(VALUE(v), VALUE(x[middle])))                              \
        low = middle + 1;                                                                                              \
      else                                                                                                             \
        high = middle;                                                                                                 \
    }                                                                                                                  \
    return low;                                                                                                        \
  }
#define DTYPE(ID, name, cls, bits, T) AJ_ORDERED(cls, DEFINE_DTYPE(T, ID, VALUE_##ID))
#include "ir/dtypes.def"
#undef DTYPE

typedef struct sort_functions {
  bool (*keys[2])(aj_sort_row *row); /* up, down */
  bool (*pairs[2])(aj_sort_row *row);
  size_t pair_bytes;
  void (*load_pair)(char *to, int64_t i, const char *from);
  int64_t (*pair_at)(const char *from, int64_t i);
  int64_t (*search)(const void *sorted, int64_t count, const void *value, bool right);
} sort_functions;
static const sort_functions functions[AJ_DTYPE_COUNT] = {
#define DTYPE(ID, name, cls, bits, T)                                                                                  \
  AJ_ORDERED(cls,                                                                                                      \
             [ARRJIT_##ID] = {{sort_keys_up_##ID, sort_keys_down_##ID},                                                \
                              {sort_pairs_up_##ID, sort_pairs_down_##ID},                                              \
                              sizeof(pair_##ID),                                                                       \
                              load_pair_##ID,                                                                          \
                              pair_at_##ID,                                                                            \
                              search_##ID}, )
#include "ir/dtypes.def"
#undef DTYPE
};

/* ---- rows ---- */

typedef struct sort_plan {
  const aj_sem_call *call;
  const sort_functions *use;
  bool positions, down;
  int64_t extent, step; /* of the axis; bytes from one element to the next */
} sort_plan;

static bool sort_at(const sort_plan *p, int64_t first, aj_sort_row *row) {
  size_t bytes = aj_dtypes[p->call->in[0].dtype].bytes;
  const char *from = p->call->in[0].data + first * (int64_t)bytes;
  int64_t step = p->step * (int64_t)bytes, weight = p->step == 1 ? 1 : AJ_POLL_SCATTERED;
  for (int64_t i = 0; i < p->extent; i++) {
    if (p->positions)
      p->use->load_pair(row->buffers[0], i, from + i * step);
    else
      memcpy(row->buffers[0] + (size_t)i * bytes, from + i * step, bytes);
    if (aj_poller_stops(row->poller, weight)) return false;
  }
  if (!(p->positions ? p->use->pairs : p->use->keys)[p->down](row)) return false;
  for (int64_t i = 0; i < p->extent; i++) {
    if (p->positions)
      ((int64_t *)(void *)p->call->out->data)[first + i * p->step] = p->use->pair_at(row->buffers[0], i);
    else
      memcpy(p->call->out->data + first * (int64_t)bytes + i * step, row->buffers[0] + (size_t)i * bytes, bytes);
    if (aj_poller_stops(row->poller, weight)) return false;
  }
  return true;
}

static aj_sem_status sort_rows(const aj_sem_call *call, bool positions) {
  const aj_view *x = &call->in[0];
  if (aj_view_count(x) == 0) return AJ_SEM_OK;
  int32_t axis = (int32_t)aj_node_int(call->node, AJ_ATTR_AXIS);
  sort_plan plan = {.call = call,
                    .use = &functions[x->dtype],
                    .positions = positions,
                    .down = aj_node_int(call->node, AJ_ATTR_DESCENDING) != 0,
                    .extent = x->dims[axis],
                    .step = aj_routine_extent(x, axis + 1, x->rank)};
  size_t bytes = positions ? plan.use->pair_bytes : aj_dtypes[x->dtype].bytes;
  if ((size_t)plan.extent > SIZE_MAX / 2 / bytes) return AJ_SEM_MEMORY;
  size_t buffer = (size_t)plan.extent * bytes;
  char *memory = aj_mem_raw(call->mem, 2 * buffer);
  if (memory == NULL) return AJ_SEM_MEMORY;
  aj_poller poller = aj_routine_poller(call);
  bool ok = true;
  for (int64_t outer = aj_routine_extent(x, 0, axis), o = 0; ok && o < outer; o++)
    for (int64_t i = 0; ok && i < plan.step; i++) {
      aj_sort_row row = {.count = plan.extent, .buffers = {memory, memory + buffer}, .poller = &poller, .weight = 1};
      ok = sort_at(&plan, o * plan.extent * plan.step + i, &row);
    }
  aj_mem_free(call->mem, memory, 2 * buffer);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

aj_sem_status aj_routine_sort(const aj_sem_call *call) { return sort_rows(call, false); }
aj_sem_status aj_routine_argsort(const aj_sem_call *call) { return sort_rows(call, true); }

aj_sem_status aj_routine_searchsorted(const aj_sem_call *call) {
  const aj_view *sorted = &call->in[0], *values = &call->in[1];
  size_t bytes = aj_dtypes[values->dtype].bytes;
  bool right = aj_node_int(call->node, AJ_ATTR_RIGHT) != 0;
  aj_poller poller = aj_routine_poller(call);
  int64_t count = aj_view_count(values), *out = (int64_t *)(void *)call->out->data;
  for (int64_t i = 0; i < count; i++) {
    const char *value = values->data + (size_t)i * bytes;
    out[i] = functions[values->dtype].search(sorted->data, sorted->dims[0], value, right);
    if (aj_poller_stops(&poller, 4 * AJ_POLL_SCATTERED)) return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}
