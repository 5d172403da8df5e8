/* Kernels being lowered: an iteration space, operands with index maps, one function that evaluates a vector of points.
 */
#ifndef AJ_NATIVE_LOWER_KERNEL_H
#define AJ_NATIVE_LOWER_KERNEL_H

#include "native/lower.h"

/* How an operand is read along the inner dims. */
typedef enum aj_access {
  AJ_ACCESS_SPLAT, /* the same element everywhere */
  AJ_ACCESS_DENSE, /* neighbours */
  AJ_ACCESS_STRIDED,
  AJ_ACCESS_COMPUTED /* an offset for each lane: the inner dims are several that do not merge */
} aj_access;

typedef struct aj_kernel_operand {
  aj_lv lv; /* pointer, or the element itself when rank is 0 */
  arrjit_dtype dtype;
  int32_t rank;
  const int64_t *dims; /* of the operand's type */
  aj_index_term terms[ARRJIT_MAX_RANK];
  uint32_t turned;                       /* bit j: dim j runs backwards */
  LLVMValueRef strides[ARRJIT_MAX_RANK]; /* by iteration dim, in elements; NULL: 0 */
  LLVMValueRef pointer;                  /* element at the outer indices and inner index 0 */
  aj_access access;
  aj_lv hoisted; /* SPLAT: loaded before the inner loop */
} aj_kernel_operand;

enum { AJ_KERNEL_RESULTS = AJ_COMBINE_ARGS };

typedef struct aj_kernel {
  aj_lower *lo;
  aj_scope *scope;
  const aj_node *node;
  const aj_region *body; /* NULL: the node itself is the body */
  int32_t rank;
  int64_t dims[ARRJIT_MAX_RANK];
  LLVMValueRef extents[ARRJIT_MAX_RANK];
  uint32_t operand_count, result_count;
  aj_kernel_operand *operands;
  uint32_t indexed; /* bit d: a lane_index reads dim d */
  uint32_t reduced; /* bit d: dim d is reduced */
  aj_op combine[AJ_KERNEL_RESULTS];
  bool scans, reversed;                /* each point gets what was folded before it, along the one reduced dim */
  const aj_region *combiner;           /* NULL: combine; else results are folded together by it, see lower_combine.c */
  uint32_t lanes;                      /* of a vector */
  uint32_t size;                       /* nodes of the body */
  int32_t inner;                       /* inner dims are [inner, rank) */
  LLVMValueRef count;                  /* points of the inner dims */
  LLVMValueRef index[ARRJIT_MAX_RANK]; /* of outer dims */
  struct aj_block *block;              /* the function its loops are in; NULL: that of the kernel's node */
  LLVMValueRef from, to;               /* units of work to do: all, or in a block its part */
  bool may_fail;                       /* the body has a checked op */
  bool loops;                          /* the body has loops: a point may take any time */
  bool finds;                          /* result 0 is the first point where its yield is false */
} aj_kernel;

/* ---- lower_block.c: the loops of a big kernel as a function of their own ---- */
typedef struct aj_block_caller { /* what is another inside of the block */
  aj_lower lo;
  aj_scope *scope;
  LLVMBasicBlockRef at, entry;
} aj_block_caller;
typedef struct aj_block {
  LLVMValueRef fn, frame, in_frame; /* the frame as the caller and as the block see it */
  LLVMBasicBlockRef start;
  LLVMValueRef extents[ARRJIT_MAX_RANK]; /* the caller's */
  aj_lv *values;                         /* of operands: the caller's */
  aj_block_caller caller;
  aj_scope scope; /* stands for the kernel's */
  aj_landing landing;
} aj_block;
/* Begins the block: until its end all code is made there. Operands, extents and the given pointers are replaced by what
 * stands for them there; from and to are its units. */
void aj_block_begin(aj_kernel *k, uint32_t count, LLVMValueRef *pointers);
void aj_block_end(aj_kernel *k);
/* Has all units done; fewer than `grain` here and now. Gives the lowest that failed, AJ_BLOCKS_DONE for none; when the
 * kernel may fail, its failure is raised instead. */
LLVMValueRef aj_block_run(aj_kernel *k, LLVMValueRef count, LLVMValueRef grain);
/* Inside: ends the block when the run is due. */
void aj_block_poll(aj_kernel *k);
/* Inside, where `unit` fails: ends the block unless its failure is to be raised, then goes on with what raises it. */
void aj_block_tell(aj_kernel *k, LLVMValueRef unit);

/* Points of the space that one evaluation covers: `lanes` from inner index `at` on. left: how many of them are there,
 * NULL: all; the others neither read nor write. limit: points from this index on are not there either, but dense
 * operands and results have room for them; NULL: there are none. */
typedef struct aj_points {
  uint32_t lanes;
  LLVMValueRef at, left, mask, limit;
} aj_points;

/* A vector of points; left may be NULL. */
aj_points aj_kernel_points(aj_kernel *k, uint32_t lanes, LLVMValueRef at, LLVMValueRef left);
/* Values that the body yields there. Checks branch away. `flat` is the flat index of the first point, for them. */
void aj_kernel_eval(aj_kernel *k, const aj_points *p, LLVMValueRef flat, aj_lv *results);
/* Parts of it. The element of an operand at the points; their index along a dim; a constant as a scalar. */
aj_lv aj_kernel_load(aj_kernel *k, const aj_points *p, const aj_kernel_operand *o);
aj_lv aj_kernel_lane_index(aj_kernel *k, const aj_points *p, int32_t axis);
aj_lv aj_kernel_const(aj_lower *lo, const aj_node *node);
/* Mask of the lanes whose points are there; NULL: all are. */
LLVMValueRef aj_kernel_there(aj_kernel *k, const aj_points *p);
/* Whether any lane is set. */
LLVMValueRef aj_kernel_any(aj_lower *lo, LLVMValueRef mask, uint32_t lanes);
/* Ends the block, telling the point, where `pred` is false at a point that is there. */
void aj_kernel_find_false(aj_kernel *k, const aj_points *p, LLVMValueRef pred, LLVMValueRef flat);
/* Stores a vector of elements at pointer[at ...]. */
void aj_kernel_store(aj_kernel *k, const aj_points *p, arrjit_dtype dtype, LLVMValueRef pointer, aj_lv value);
/* Before the next: strides of the operands, where code is made now. */
void aj_kernel_set_strides(aj_kernel *k);
/* Whether all operands walk through dims d and d + 1 as if they were one. */
bool aj_kernel_merges(const aj_kernel *k, int32_t d);
/* Chooses the inner dims [inner, rank) and how operands are read along them. */
void aj_kernel_set_inner(aj_kernel *k, int32_t inner);
/* Loads what is the same along the inner dims: call where the inner loops begin. */
void aj_kernel_hoist(aj_kernel *k);
/* Opens loops over dims [first, last) whose bit is in `which` and moves the operands' pointers along; `saved` keeps
 * what aj_kernel_close needs. */
typedef struct aj_kernel_loops {
  int32_t count;
  aj_ir_loop loops[ARRJIT_MAX_RANK];
  LLVMValueRef *pointers;
} aj_kernel_loops;
void aj_kernel_open(aj_kernel *k, int32_t first, int32_t last, uint32_t which, aj_kernel_loops *out);
void aj_kernel_close(aj_kernel *k, aj_kernel_loops *loops);
/* The same for a flat index over the dims before `last` whose bit is in `which`: no loop, the indices of that point. */
void aj_kernel_locate(aj_kernel *k, int32_t last, uint32_t which, LLVMValueRef flat, LLVMValueRef *saved);
void aj_kernel_unlocate(aj_kernel *k, LLVMValueRef *const saved);
/* Points between two polls: some 10 us of work. */
int64_t aj_kernel_stretch(const aj_kernel *k);
/* Whether all its points together are known to be fewer: then its loops need no block. */
bool aj_kernel_is_small(const aj_kernel *k);
/* Inside long loops. */
void aj_kernel_poll(aj_kernel *k);
void aj_lower_elementwise(aj_kernel *k);
void aj_lower_reduce(aj_kernel *k);
void aj_lower_scan(aj_kernel *k);
uint32_t aj_kernel_width(arrjit_dtype dtype);                      /* bytes of an element where it is computed with */
arrjit_dtype aj_kernel_dtype(const aj_kernel *k, uint32_t result); /* of the yielded element */

#endif
