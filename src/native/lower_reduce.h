/* Reductions being lowered: what lower_reduce.c, lower_tree.c and lower_fold.c share. */
#ifndef AJ_NATIVE_LOWER_REDUCE_H
#define AJ_NATIVE_LOWER_REDUCE_H

#include "native/lower_kernel.h"

typedef struct aj_reduction {
  aj_kernel *k;
  aj_lower *lo;
  uint32_t lanes; /* of a vector of the tree: 1, or neighbouring outputs */
  arrjit_dtype dtype[AJ_KERNEL_RESULTS];
  LLVMValueRef pushed, levels[AJ_KERNEL_RESULTS]; /* the carry tree, allocas: blocks in it, vectors */
  LLVMValueRef sums[AJ_KERNEL_RESULTS];           /* allocas */
  LLVMValueRef out[AJ_KERNEL_RESULTS];
  LLVMValueRef partials[AJ_KERNEL_RESULTS]; /* pointers */
  bool light;                               /* the body is small: copies of it cost less than a loop */
} aj_reduction;

/* ---- lower_tree.c: elements, and the carry tree over blocks of them ---- */
LLVMTypeRef aj_reduction_type(aj_reduction *r, uint32_t i, uint32_t lanes);
/* What chains start from, or what a reduction of nothing gives. */
LLVMValueRef aj_reduction_identity(aj_reduction *r, uint32_t i, uint32_t lanes, bool empty);
/* Whether chains have nothing to start from but their first element. */
static inline bool aj_reduction_starts_empty(const aj_reduction *r) { return r->k->combiner != NULL; }
/* One value a result, x the older. */
void aj_reduction_combine(aj_reduction *r, uint32_t lanes, const LLVMValueRef *x, const LLVMValueRef *y,
                          LLVMValueRef *out);
/* The same, but y itself where `first` says so and there is no identity. */
void aj_reduction_step(aj_reduction *r, uint32_t lanes, LLVMValueRef first, const LLVMValueRef *x,
                       const LLVMValueRef *y, LLVMValueRef *out);
/* A yielded value as it is folded. */
LLVMValueRef aj_reduction_yielded(aj_reduction *r, uint32_t i, uint32_t lanes, aj_lv value);
/* Levels that a tree needs for the reduced points, at least `block` of them a block. */
uint32_t aj_reduction_count_levels(const aj_reduction *r, int64_t block);
void aj_reduction_make_tree(aj_reduction *r, uint32_t levels);
void aj_reduction_clear(aj_reduction *r);
/* Takes the next block: one value a result. */
void aj_reduction_push(aj_reduction *r, const LLVMValueRef *block);
/* All blocks, lowest level first, on top of `last` when `have` says so. Returns whether there was anything; if not, out
 * has `last`. */
LLVMValueRef aj_reduction_finish_on(aj_reduction *r, LLVMValueRef have, const LLVMValueRef *last, LLVMValueRef *out);
LLVMValueRef aj_reduction_finish(aj_reduction *r, LLVMValueRef *out);

/* ---- lower_reduce.c: outputs and units of work ---- */
aj_reduction aj_reduction_start(aj_kernel *k);
/* A vector of outputs: to memory at base + p->at, or into a register when the result is a scalar. */
void aj_reduction_store(aj_reduction *r, uint32_t i, const aj_points *p, LLVMValueRef base, LLVMValueRef v);
/* Neighbouring outputs of a vector of columns, and such vectors in a row of outputs. */
static inline uint32_t aj_reduction_columns(const aj_reduction *r) {
  return r->light && r->k->lanes <= 16 ? 4 * r->k->lanes : r->k->lanes;
}
LLVMValueRef aj_reduction_count_vectors(aj_reduction *r, LLVMValueRef outputs);
/* Product of the extents of dims [first, last) whose bit is in `which`. */
LLVMValueRef aj_reduction_extent(aj_reduction *r, int32_t first, int32_t last, uint32_t which);
/* Units that make a block when each is about `points` points. */
LLVMValueRef aj_reduction_grain(aj_reduction *r, LLVMValueRef points);

/* ---- lower_combine.c: the host's combiner ---- */
void aj_combiner_lower(aj_reduction *r, uint32_t lanes, const LLVMValueRef *x, const LLVMValueRef *y,
                       LLVMValueRef *out);
/* Inits combined with what was folded; inits alone when nothing was. */
void aj_combiner_join(aj_reduction *r, uint32_t lanes, LLVMValueRef have, LLVMValueRef *values);

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
