/* The carry tree of reductions: results of blocks, combined as a binary counter counts. */
#ifndef AJ_SEM_TREE_H
#define AJ_SEM_TREE_H

#include "sem/sem.h"

/* Combines vectors of `width` elements; level k holds the combination of 2^k blocks when bit k of count is set. */
typedef struct aj_tree {
  aj_loop *combine;
  struct aj_combiner *combiner; /* not NULL: of the host, in place of `combine`; vectors are records */
  size_t width, bytes;          /* bytes: of a vector */
  char *levels;                 /* one vector a level, as many as aj_tree_levels(blocks to come) */
  uint64_t count;               /* blocks so far */
} aj_tree;

uint32_t aj_tree_levels(int64_t blocks);
/* Takes the next block's result; overwrites it. */
void aj_tree_push(aj_tree *tree, char *block);
/* Writes the combination of all blocks, of which there is at least one, and empties the tree. */
void aj_tree_finish(aj_tree *tree, char *out);

#endif
