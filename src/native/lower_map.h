/* The regions of maps on vectors of lanes, and lane by lane: what the files lower_map*.c share.
 *
 * A vector of lanes runs under a mask of the active ones. Whatever a mask cannot show exactly (an exception made, a
 * failure that leaves the map, a run that has to stop) gives the vector up: its lanes are run once more, one by one and
 * the lowest first, through the same code that regions outside of maps get. No lane has an effect, so nothing is done
 * twice that anyone could see. */
#ifndef AJ_NATIVE_LOWER_MAP_H
#define AJ_NATIVE_LOWER_MAP_H

#include "native/lower_kernel.h"

/* A value in a vector of lanes. Bools are masks, and a mask is a vector of integers of one width, all bits set or none:
 * machines without registers for masks work on such, and would have to pack and unpack single bits. Exceptions have no
 * value: where one would be made the vector is given up. */
typedef struct aj_lane_value {
  LLVMValueRef v;   /* in all lanes */
  LLVMValueRef one; /* a scalar, when it is the same in all lanes; else NULL */
  aj_nan nan;
} aj_lane_value;

/* A try whose body is being lowered, or a handler of a try with a finally: then caught is NULL. */
typedef struct aj_lane_try aj_lane_try;
struct aj_lane_try {
  const aj_lane_try *outer;
  const aj_node *node;
  LLVMValueRef *caught; /* by handler: memory of the mask of lanes that go there; NULL: it looks at its exception */
  bool *used;           /* by handler: something goes there */
};

typedef struct aj_lanes {
  aj_lower *lo;
  aj_kernel *k;
  const aj_points *points;
  uint32_t lanes;
  LLVMBasicBlockRef give_up;
  LLVMValueRef budget; /* memory: iterations that each lane may still take */
  LLVMTypeRef mask;    /* single bits where the machine has registers for masks */
  uint32_t leaves;     /* places so far where lanes go to a handler */
} aj_lanes;

/* A region being lowered under a mask. */
typedef struct aj_lane_scope {
  const aj_region *region;
  aj_lane_value *vals; /* by slot */
  LLVMValueRef active; /* mask of the lanes that are at this place */
  const aj_lane_try *inside;
} aj_lane_scope;

/* ---- lower_map.c ---- */
/* What the region yields at the points, for each result one value. */
void aj_map_eval(aj_kernel *k, const aj_points *p, LLVMValueRef flat, aj_lv *results);
/* Whether the kernel's region is a map's. */
bool aj_kernel_is_map(const aj_node *node);
/* Bytes of the widest value that nodes inside give, constants left out. */
uint32_t aj_map_widest(const aj_region *region);
bool aj_map_has_loops(const aj_region *region);
/* Nodes in the region and in those inside it. */
uint32_t aj_map_size(const aj_region *region);

/* ---- lower_map_ops.c ---- */
/* The nodes up to the terminator. Returns it, or NULL when all lanes have left by a raise: then none is active. */
const aj_node *aj_lanes_region(aj_lanes *m, aj_lane_scope *s);
/* Gives the vector up when one of these lanes is set. */
void aj_lanes_give_up(aj_lanes *m, LLVMValueRef mask);
/* These lanes, active ones, fail with the kind: to the handler that takes it, or the vector is given up. */
void aj_lanes_raise(aj_lanes *m, aj_lane_scope *s, arrjit_kind kind, LLVMValueRef mask);
aj_lane_value aj_lanes_spread(aj_lanes *m, arrjit_dtype dtype, aj_lv one);
aj_lane_value aj_lanes_zero(aj_lanes *m, const aj_type *type);
/* A mask of single bits, and back. */
LLVMValueRef aj_lanes_mask(aj_lanes *m, LLVMValueRef bits);
LLVMValueRef aj_lanes_bits(aj_lanes *m, LLVMValueRef mask);
LLVMValueRef aj_lanes_none(aj_lanes *m);
/* Lanes of `mask` that are not in `gone`. */
LLVMValueRef aj_lanes_without(aj_lanes *m, LLVMValueRef mask, LLVMValueRef gone);
LLVMValueRef aj_lanes_any(aj_lanes *m, LLVMValueRef mask);
/* The value as vectors outside of maps have it. */
aj_lv aj_lanes_plain(aj_lanes *m, arrjit_dtype dtype, aj_lane_value value);
/* `a` in lanes of the mask, else `b`; either may be without a value: then it is the other. */
aj_lane_value aj_lanes_blend(aj_lanes *m, const aj_type *type, LLVMValueRef mask, aj_lane_value a, aj_lane_value b);

/* ---- lower_map_control.c ---- */
void aj_lanes_if(aj_lanes *m, aj_lane_scope *s, const aj_node *node); /* and switch */
void aj_lanes_try(aj_lanes *m, aj_lane_scope *s, const aj_node *node);
/* ---- lower_map_loop.c ---- */
void aj_lanes_while(aj_lanes *m, aj_lane_scope *s, const aj_node *node);
void aj_lanes_for(aj_lanes *m, aj_lane_scope *s, const aj_node *node);
/* Active lanes without those that have gone to handlers outside of the scope since. */
LLVMValueRef aj_lanes_stayed(aj_lanes *m, const aj_lane_scope *s);
/* A scope of region `index` of a node: the captures are its last parameters. */
aj_lane_scope aj_lanes_enter(aj_lanes *m, const aj_lane_scope *s, const aj_node *node, uint32_t index,
                             LLVMValueRef active);

#endif
