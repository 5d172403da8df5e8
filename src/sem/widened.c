/* Routines that add up, multiply up or compare 16-bit floats: in f32 from the first element on, so that a sum neither
 * sticks nor rounds at every step. Only what leaves the routine is rounded. */
#include "sem/routine.h"

enum { MOST_OPERANDS = 2, MOST_RESULTS = 3 };

/* All elements of a dense view to another, by blocks. */
static bool convert_all(const aj_view *from, const aj_view *to, aj_poller *poller) {
  aj_loop *convert = aj_sem_loop(AJ_OP_CONVERT, from->dtype, to->dtype);
  int64_t count = aj_view_count(from);
  AJ_ASSERT(aj_view_is_dense(from) && aj_view_is_dense(to));
  for (int64_t i = 0; i < count; i += AJ_BLOCK) {
    const void *in[] = {from->data + (size_t)i * aj_dtypes[from->dtype].bytes};
    int64_t n = count - i < AJ_BLOCK ? count - i : AJ_BLOCK;
    convert((size_t)n, to->data + (size_t)i * aj_dtypes[to->dtype].bytes, in);
    if (aj_poller_stops(poller, n)) return false;
  }
  return true;
}

/* The type of a dense copy in f32; data is still to come. */
static aj_view as_f32(const aj_view *x) {
  aj_view out = *x;
  out.dtype = ARRJIT_F32;
  aj_view_set_dense(&out);
  return out;
}

/* Room in f32 for views[i], i < count, that are of 16-bit floats; the others stay. Bytes of it. */
static size_t plan_wide(uint32_t count, const aj_view *views, aj_view *wide) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool narrow = aj_dtype_is_half(views[i].dtype);
    wide[i] = narrow ? as_f32(&views[i]) : views[i];
    if (narrow) bytes += aj_view_bytes(&wide[i]);
  }
  return bytes;
}

static char *place_wide(uint32_t count, const aj_view *views, aj_view *wide, char *next) {
  for (uint32_t i = 0; i < count; i++) {
    if (!aj_dtype_is_half(views[i].dtype)) continue;
    wide[i].data = next;
    next += aj_view_bytes(&wide[i]);
  }
  return next;
}

/* Converts where the dtypes differ. */
static bool convert_views(uint32_t count, const aj_view *from, const aj_view *to, aj_poller *poller) {
  for (uint32_t i = 0; i < count; i++)
    if (from[i].dtype != to[i].dtype && !convert_all(&from[i], &to[i], poller)) return false;
  return true;
}

aj_sem_status aj_routine_widened(const aj_sem_call *call, aj_routine *routine) {
  aj_view in[MOST_OPERANDS], out[MOST_RESULTS];
  uint32_t operands = call->node->operand_count, results = call->node->result_count;
  AJ_ASSERT(operands <= MOST_OPERANDS && results <= MOST_RESULTS);
  size_t bytes = plan_wide(operands, call->in, in) + plan_wide(results, call->out, out);
  char *scratch = aj_mem_raw(call->mem, bytes);
  if (scratch == NULL && bytes > 0) return AJ_SEM_MEMORY;
  place_wide(results, call->out, out, place_wide(operands, call->in, in, scratch));
  aj_poller poller = aj_routine_poller(call);
  aj_sem_call inner = *call;
  inner.in = in;
  inner.out = out;
  aj_sem_status status = convert_views(operands, call->in, in, &poller) ? routine(&inner) : AJ_SEM_STOPPED;
  if (status == AJ_SEM_OK && !convert_views(results, out, call->out, &poller)) status = AJ_SEM_STOPPED;
  aj_mem_free(call->mem, scratch, bytes);
  return status;
}
