/* What the parts of arrjit-diff share: one context, counts, and the comparison itself. */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include "layout.h"
#include "modes.h"

/* One function for the CPU at hand, and the same for lesser ones, by the levels of the option isa. */
enum { DIFF_LEVELS = 4 };
typedef struct diff_function {
  arrjit_function *at[DIFF_LEVELS]; /* NULL: not compared; [0] always is */
} diff_function;

typedef struct diff {
  arrjit_context *context;
  tk_random pick;
  bool quick;
  int64_t finished;              /* functions */
  int64_t isa;                   /* level that runs now */
  int64_t compared[AJ_OP_COUNT]; /* elements and failures that were the same, by op */
  int64_t differences;
} diff;

typedef struct diff_inputs {
  size_t count;
  arrjit_array *arrays[2 * TK_MAX_OPERANDS];
} diff_inputs;

/* Runs in every mode, and as native code of every level; prints op, dtype, function and inputs when one differs from
 * interp, or when native code was not all that the table promises for the op. */
void diff_compare(diff *d, aj_op op, arrjit_dtype dtype, const diff_function *function, const diff_inputs *inputs);
/* Finishes and destroys a graph; false, printed and counted as a difference, when it is refused. Levels: the host's,
 * and all others; with --quick the least of them, and only for ops that native code has instructions for. */
bool diff_finish(diff *d, arrjit_graph *graph, aj_op op, arrjit_dtype dtype, diff_function *out);
void diff_release_function(diff_function *function);
arrjit_graph *diff_graph(diff *d);
/* Adds an array of random numbers, or of given dense ones. */
void diff_add(diff *d, diff_inputs *inputs, const arrjit_type *type, tk_role role, int64_t bound, bool tame,
              tk_layout layout);
void diff_add_data(diff *d, diff_inputs *inputs, const arrjit_type *type, tk_layout layout, const void *data);
void diff_release_inputs(diff_inputs *inputs);

void diff_elementwise(diff *d, aj_op op, arrjit_dtype dtype);
void diff_others(diff *d, aj_op op, arrjit_dtype dtype);
void diff_check_shape(diff *d, arrjit_dtype dtype);

#endif
