/* What routines share: failure records, reading index operands. */
#include "sem/routine.h"

#include <string.h>

void aj_sem_fail_shape(aj_sem_fail *fail, const char *message) {
  *fail = (aj_sem_fail){.kind = ARRJIT_KIND_SHAPE, .message = message};
}

aj_sem_status aj_routine_fail_index(const aj_sem_call *call, int64_t position, int64_t index, int64_t axis,
                                    int64_t bound) {
  *call->fail = (aj_sem_fail){.kind = ARRJIT_KIND_INDEX,
                              .message = "index {1} on axis {2} is not in 0 .. {3} - 1, at position {0}",
                              .position = position,
                              .index = index,
                              .axis = axis,
                              .bound = bound < 0 ? 0 : bound};
  return AJ_SEM_FAIL;
}

uint32_t aj_routine_axis_set(const aj_node *node, aj_attr_name name) {
  const aj_attr *attr = aj_node_attr(node, name);
  uint32_t set = 0;
  for (uint32_t i = 0; i < attr->count; i++) set |= 1u << attr->u.ints[i];
  return set;
}

int64_t aj_routine_index(arrjit_dtype dtype, const char *element) {
  int64_t index = 0;
  const void *in[] = {element};
  if (dtype == ARRJIT_U64) {
    uint64_t u;
    memcpy(&u, element, sizeof u);
    return u > INT64_MAX ? INT64_MAX : (int64_t)u;
  }
  aj_loops_base.converts[dtype][ARRJIT_I64](1, &index, in);
  return index;
}
