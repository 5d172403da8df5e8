/* The kernel node: fused elementwise and reduce work.
 *
 *   shape    iteration space, R dims (symbols allowed), row-major
 *   operands arrays (any rank) and scalars, then nothing else: kernels capture nothing
 *   maps     per operand: rank, then per operand dim (iteration dim or -1, offset, step):
 *            operand index j = offset + step * i[iteration dim], or offset alone when -1
 *   region   one scalar parameter an operand (the element at that index), scalar ops, lane_index, checks;
 *            yields one scalar a result
 *   reduced  the iteration dims that reduced results fold, ascending; the same for all reduced results of a kernel
 *   combine  per result: 0 elementwise (shape of the space), else the aj_op of the reduce (shape: the kept dims);
 *            first_false stands first, alone or before elementwise ones, and gives an i64: the first point where its
 *            yield is false, -1 for none. Beyond that point elementwise results hold anything
 *
 * A kernel made of a map has a map as its origin, and a region with control flow that may fail anywhere: the lowest
 * row-major point that fails fails the kernel.
 * A kernel with reduced results folds its yields in the order of sem/README.md, as reduce ops of the whole array would.
 */
#ifndef AJ_OPT_KERNEL_H
#define AJ_OPT_KERNEL_H

#include "ir/build.h"

typedef struct aj_index_term {
  int32_t axis;
  int64_t offset, step;
} aj_index_term; /* axis -1: constant */
/* Terms of operand k of a kernel; *out_rank terms. The pointer is into `terms` (ARRJIT_MAX_RANK entries). */
void aj_kernel_map(const aj_node *kernel, uint32_t operand, aj_index_term *terms, int32_t *out_rank);

#endif
