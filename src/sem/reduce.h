/* What the reductions by an op and those by the host's combiner share: how dims become groups. */
#ifndef AJ_SEM_REDUCE_H
#define AJ_SEM_REDUCE_H

#include "sem/routine.h"

/* A list of merged groups: extents and byte strides, outermost first. */
typedef struct aj_group_list {
  int32_t rank;
  int64_t dims[ARRJIT_MAX_RANK], strides[ARRJIT_MAX_RANK];
} aj_group_list;
typedef struct aj_groups {
  bool inner_reduced; /* the innermost group; its extent is `inner`, and it is in neither list */
  int64_t inner;
  aj_group_list kept, reduced;
} aj_groups;
/* Of a dense array, by structure alone: an extent of 1 is a dim like any other. `axes` is a set. */
void aj_groups_plan(aj_groups *groups, const aj_view *x, uint32_t axes);
/* Product of the extents. */
static inline int64_t aj_group_count(const aj_group_list *list) {
  int64_t count = 1;
  for (int32_t i = 0; i < list->rank; i++) count *= list->dims[i];
  return count;
}
enum { AJ_REDUCE_TILE = 512 }; /* neighbouring outputs that are folded together when the innermost group is kept */

#endif
