/* Between the routines of sem: how they fail, poll and read attributes. Every CALL op of ops.def has
 * aj_routine_<mnemonic>. */
#ifndef AJ_SEM_ROUTINE_H
#define AJ_SEM_ROUTINE_H

#include "sem/loops.h"

#define OP(ID, name, operands, dtypes, rule, flags, attrs, routine, ...) AJ_DECLARE_##routine(name)
#define AJ_DECLARE_SCALAR(name)
#define AJ_DECLARE_EXPAND(name)
#define AJ_DECLARE_VIEW(name)
#define AJ_DECLARE_CONTROL(name)
#define AJ_DECLARE_CALL(name) aj_sem_status aj_routine_##name(const aj_sem_call *call);
#include "ir/ops.def"
#undef OP

/* What a row of dtypes.def gives where only elements that have an order count: AJ_ORDERED(cls, ...). */
#define AJ_ORDERED(cls, ...) AJ_ORDERED_##cls(__VA_ARGS__)
#define AJ_ORDERED_BOOL(...) __VA_ARGS__
#define AJ_ORDERED_INT(...) __VA_ARGS__
#define AJ_ORDERED_UINT(...) __VA_ARGS__
#define AJ_ORDERED_FLOAT(...) __VA_ARGS__
#define AJ_ORDERED_COMPLEX(...)

typedef aj_sem_status aj_routine(const aj_sem_call *call);
/* A routine on 16-bit floats: runs it on f32 copies of the operands; a float result is rounded once, at the end. */
aj_sem_status aj_routine_widened(const aj_sem_call *call, aj_routine *routine);

/* The reduction of aj_sem_call's first operand by `op` (a reduce op) over the node's axes. */
aj_sem_status aj_reduce_run(const aj_sem_call *call, aj_op op);

/* ---- failures ---- */
void aj_sem_fail_shape(aj_sem_fail *fail, const char *message);
static inline aj_sem_status aj_routine_fail_shape(const aj_sem_call *call, const char *message) {
  aj_sem_fail_shape(call->fail, message);
  return AJ_SEM_FAIL;
}
aj_sem_status aj_routine_fail_index(const aj_sem_call *call, int64_t position, int64_t index, int64_t axis,
                                    int64_t bound);

/* ---- polling ---- */
static inline aj_poller aj_routine_poller(const aj_sem_call *call) {
  return (aj_poller){.stop = call->poll, .user = call->poll_user};
}

/* ---- attributes and indices ---- */
/* Element i of a list attribute that the op table says is there. */
static inline int64_t aj_routine_int_at(const aj_node *node, aj_attr_name name, uint32_t i) {
  const aj_attr *attr = aj_node_attr(node, name);
  AJ_ASSERT(attr != NULL && i < attr->count);
  return attr->u.ints[i];
}
static inline uint32_t aj_routine_int_count(const aj_node *node, aj_attr_name name) {
  return aj_node_attr(node, name)->count;
}
/* As a bit set of axes. */
uint32_t aj_routine_axis_set(const aj_node *node, aj_attr_name name);
/* An element of an index operand; u64 saturates. */
int64_t aj_routine_index(arrjit_dtype dtype, const char *element);
static inline int64_t aj_routine_clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}
/* *at to the next point of a row-major walk over dims; false, and back at the start, after the last. */
static inline bool aj_routine_step(int32_t rank, const int64_t *dims, const int64_t *strides, int64_t *index,
                                   const char **at) {
  for (int32_t i = rank - 1; i >= 0; i--) {
    *at += strides[i];
    if (++index[i] < dims[i]) return true;
    index[i] = 0;
    *at -= strides[i] * dims[i];
  }
  return false;
}
/* Product of view->dims[first .. last - 1]. */
static inline int64_t aj_routine_extent(const aj_view *view, int32_t first, int32_t last) {
  int64_t product = 1;
  for (int32_t i = first; i < last; i++) product *= view->dims[i];
  return product;
}

#endif
