/* Routines that add up, multiply up or compare 16-bit floats: in f32 from the first element on, so that a sum neither
 * sticks nor rounds at every step. Only what leaves the routine is rounded. */
#include "sem/routine.h"

enum { MOST_OPERANDS = 2 };

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

aj_sem_status aj_routine_widened(const aj_sem_call *call, aj_routine *routine) {
  aj_view wide[MOST_OPERANDS + 1];
  uint32_t operands = call->node->operand_count;
  bool narrows = aj_dtype_is_half(call->out->dtype);
  size_t bytes = 0;
  AJ_ASSERT(operands <= MOST_OPERANDS);
  for (uint32_t i = 0; i <= operands; i++) {
    wide[i] = as_f32(i < operands ? &call->in[i] : call->out);
    bytes += i < operands || narrows ? aj_view_bytes(&wide[i]) : 0;
  }
  char *scratch = aj_mem_raw(call->mem, bytes), *next = scratch;
  if (scratch == NULL && bytes > 0) return AJ_SEM_MEMORY;
  aj_poller poller = aj_routine_poller(call);
  bool ok = true;
  for (uint32_t i = 0; i <= operands; i++) {
    wide[i].data = next;
    next += aj_view_bytes(&wide[i]);
    if (i < operands) ok = ok && convert_all(&call->in[i], &wide[i], &poller);
  }
  aj_sem_call inner = *call;
  inner.in = wide;
  inner.out = narrows ? &wide[operands] : call->out;
  aj_sem_status status = ok ? routine(&inner) : AJ_SEM_STOPPED;
  if (status == AJ_SEM_OK && narrows && !convert_all(inner.out, call->out, &poller)) status = AJ_SEM_STOPPED;
  aj_mem_free(call->mem, scratch, bytes);
  return status;
}
