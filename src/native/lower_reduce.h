/* Reductions being lowered: what lower_reduce.c, lower_tree.c and lower_fold.c share. */
#ifndef AJ_NATIVE_LOWER_REDUCE_H
#define AJ_NATIVE_LOWER_REDUCE_H

#include "native/lower_kernel.h"

/* The carry tree of one result. */
typedef struct aj_reduction_tree {
  LLVMValueRef count, levels; /* allocas: i64, vectors */
} aj_reduction_tree;

typedef struct aj_reduction {
  aj_kernel *k;
  aj_lower *lo;
  uint32_t lanes; /* of a vector of the tree: 1, or neighbouring outputs */
  arrjit_dtype dtype[AJ_KERNEL_RESULTS];
  aj_reduction_tree trees[AJ_KERNEL_RESULTS];
  LLVMValueRef sums[AJ_KERNEL_RESULTS]; /* allocas */
  LLVMValueRef out[AJ_KERNEL_RESULTS];
  LLVMValueRef partials[AJ_KERNEL_RESULTS]; /* pointers */
  bool light;                               /* the body is small: copies of it cost less than a loop */
} aj_reduction;

/* ---- lower_tree.c: elements, and the carry tree over blocks of them ---- */
LLVMTypeRef aj_reduction_type(aj_reduction *r, uint32_t i, uint32_t lanes);
/* What chains start from, or what a reduction of nothing gives. */
LLVMValueRef aj_reduction_identity(aj_reduction *r, uint32_t i, uint32_t lanes, bool empty);
LLVMValueRef aj_reduction_combine(aj_reduction *r, uint32_t i, uint32_t lanes, LLVMValueRef x, LLVMValueRef y);
/* A yielded value as it is folded. */
LLVMValueRef aj_reduction_yielded(aj_reduction *r, uint32_t i, uint32_t lanes, aj_lv value);
/* Levels that a tree needs for the reduced points, at least `block` of them a block. */
uint32_t aj_reduction_count_levels(const aj_reduction *r, int64_t block);
void aj_reduction_make_tree(aj_reduction *r, uint32_t i, uint32_t levels);
void aj_reduction_clear(aj_reduction *r); /* all trees */
void aj_reduction_push(aj_reduction *r, uint32_t i, LLVMValueRef block);
/* All blocks, lowest level first, on top of `last` when `have` says so; none: the value of an empty reduction. */
LLVMValueRef aj_reduction_finish_on(aj_reduction *r, uint32_t i, LLVMValueRef have, LLVMValueRef last);
LLVMValueRef aj_reduction_finish(aj_reduction *r, uint32_t i);

/* ---- lower_fold.c: blocks of LANES x AJ_REDUCE_STEPS elements ---- */
typedef struct aj_block_fold {
  uint32_t lanes, width, chunks;          /* LANES, elements of a vector, vectors of a row */
  LLVMValueRef buffer[AJ_KERNEL_RESULTS]; /* LANES accumulators in memory */
} aj_block_fold;
aj_block_fold aj_reduction_make_fold(aj_reduction *r);
LLVMValueRef aj_reduction_block_size(aj_reduction *r, const aj_block_fold *f);
/* Blocks of the inner group. */
LLVMValueRef aj_reduction_count_blocks(aj_reduction *r, const aj_block_fold *f);
/* Pushes blocks [first, first + count) of the inner group. */
void aj_reduction_fold_blocks(aj_reduction *r, const aj_block_fold *f, LLVMValueRef first, LLVMValueRef count);

#endif
