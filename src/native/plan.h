/* Where arrays of a function live: decided once for each function before its code is made.
 *
 * A value that is only yielded is written straight to where it is yielded to; all others share one block per
 * activation, whose slots are reused as soon as what was in them is dead. Late ones, whose extents a callback decides
 * on while the function runs, get an array each when they are made, until the iteration or the activation ends. */
#ifndef AJ_NATIVE_PLAN_H
#define AJ_NATIVE_PLAN_H

#include "ir/module.h"
#include "rt/native_helpers.h"

typedef enum aj_dest_kind {
  AJ_DEST_NONE,   /* no memory of its own: a scalar, an alias, a parameter */
  AJ_DEST_BLOCK,  /* slot `index` of the activation's block */
  AJ_DEST_OUTPUT, /* outputs[index] of the function */
  AJ_DEST_RESULT, /* where result `index` of the region's owner goes */
  AJ_DEST_SPARE,  /* the loop's spare buffer of carried value `index` */
  AJ_DEST_LATE    /* an array made before its node runs */
} aj_dest_kind;
typedef struct aj_dest {
  aj_dest_kind kind;
  uint32_t index;
} aj_dest;

typedef struct aj_plan_region aj_plan_region;
typedef struct aj_plan_node { /* of nodes with regions */
  aj_plan_region **regions;
  uint32_t (*buffers)[2]; /* loops: per carried value that is not late the two slots it alternates between */
} aj_plan_node;
struct aj_plan_region {
  aj_dest *dest;       /* by value slot */
  aj_plan_node *nodes; /* by pc; NULL when no node has regions */
};

typedef struct aj_plan {
  aj_plan_region *root;
  aj_nh_block_plan *block; /* slots and the types that live in them; in the arena of the code */
} aj_plan;

/* Whether the value shares the memory of an operand of its node; then that operand. */
aj_value *aj_plan_alias(const aj_value *value);
/* The module must be numbered. `arena` is temporary, `keep` lives as long as the code. False: no memory. */
bool aj_plan_make(const aj_func *func, aj_arena *arena, aj_arena *keep, aj_plan *out);

#endif
