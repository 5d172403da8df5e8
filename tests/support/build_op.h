/* Building any op of the table by its number, through the public builders. */
#ifndef TK_BUILD_OP_H
#define TK_BUILD_OP_H

#include "arrjit/arrjit.h"
#include "ir/op.h"

/* Attributes, by what the builders call them; only those of the op are looked at. */
typedef struct tk_attrs {
  arrjit_dtype dtype;
  int32_t rank;                  /* of dims */
  int64_t dims[ARRJIT_MAX_RANK]; /* shape or sizes */
  int64_t axis;
  int flag; /* descending, right */
  size_t axis_count;
  int64_t axes[ARRJIT_MAX_RANK];
  int64_t a[ARRJIT_MAX_RANK], b[ARRJIT_MAX_RANK], c[ARRJIT_MAX_RANK]; /* start limit step, low high interior */
  size_t batch_count, contract_count;
  int64_t lhs_batch[4], rhs_batch[4] /* of x and indices in gather and scatter */, lhs_contract[4], rhs_contract[4];
  size_t offset_count, collapsed_count, start_count;
  int64_t offset_axes[ARRJIT_MAX_RANK], collapsed_axes[ARRJIT_MAX_RANK], start_map[ARRJIT_MAX_RANK];
  int64_t reverse, groups;
  int64_t base[ARRJIT_MAX_RANK], spread[ARRJIT_MAX_RANK]; /* dilations of windows */
  uint64_t variant;                                       /* which of several combiners */
} tk_attrs;

/* NULL when building fails, and for ops without a builder of their own (control flow, constants, failures). */
arrjit_value tk_build_op(arrjit_graph *g, aj_op op, size_t count, const arrjit_value *in, const tk_attrs *attrs);

#endif
