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
  LLVMValueRef strides[ARRJIT_MAX_RANK]; /* by iteration dim, in elements; NULL: 0 */
  LLVMValueRef pointer;                  /* element at the outer indices and inner index 0 */
  aj_access access;
  aj_lv hoisted; /* SPLAT: loaded before the inner loop */
} aj_kernel_operand;

enum { AJ_KERNEL_RESULTS = 16 };

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
  uint32_t lanes;                      /* of a vector */
  uint32_t size;                       /* nodes of the body */
  int32_t inner;                       /* inner dims are [inner, rank) */
  LLVMValueRef count;                  /* points of the inner dims */
  LLVMValueRef index[ARRJIT_MAX_RANK]; /* of outer dims */
} aj_kernel;

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
/* Stores a vector of elements at pointer[at ...]. */
void aj_kernel_store(aj_kernel *k, const aj_points *p, arrjit_dtype dtype, LLVMValueRef pointer, aj_lv value);
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
void aj_kernel_poll(aj_kernel *k);
void aj_lower_reduce(aj_kernel *k);
arrjit_dtype aj_kernel_dtype(const aj_kernel *k, uint32_t result); /* of the yielded element */

#endif
