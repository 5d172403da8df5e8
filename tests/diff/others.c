/* Ops on whole arrays: random legal uses from the rules of the table, on shapes around the block sizes of reductions.
 */
#include <stdlib.h>
#include <string.h>

#include "diff.h"

static const struct {
  int32_t rank;
  int64_t dims[3];
} shapes[] = {{0, {0}},       {1, {0}},       {1, {1}},       {1, {7}},         {1, {16}},      {1, {33}},
              {1, {1000}},    {1, {4103}},    {2, {3, 33}},   {2, {33, 3}},     {2, {16, 16}},  {2, {17, 130}},
              {2, {1000, 2}}, {3, {2, 0, 3}}, {3, {2, 7, 5}}, {3, {3, 16, 17}}, {3, {1, 33, 1}}};

static void one_use(diff *d, aj_op op, const arrjit_type *x) {
  tk_opcase use;
  if (!tk_opcase_make(op, x, &d->pick, &use)) return;
  arrjit_graph *g = diff_graph(d);
  arrjit_value in[TK_MAX_OPERANDS];
  diff_inputs inputs = {0};
  for (size_t i = 0; i < use.count; i++) {
    bool tame = tk_chance(&d->pick, 50); /* sums of special numbers are mostly NaN */
    in[i] = arrjit_param(g, "", &use.operands[i]);
    diff_add(d, &inputs, &use.operands[i], use.roles[i], use.bounds[i], tame,
             (tk_layout)tk_below(&d->pick, TK_LAYOUTS));
  }
  arrjit_value made = tk_build_op(g, op, use.count, in, &use.attrs);
  arrjit_return(g, 1, &made, NULL);
  diff_function function;
  if (diff_finish(d, g, op, x->dtype, &function)) {
    diff_compare(d, op, x->dtype, &function, &inputs);
    diff_release_function(&function);
  }
  diff_release_inputs(&inputs);
}

/* Every subset of axes of a reduction, which is where orders differ. */
static void all_axes(diff *d, aj_op op, const arrjit_type *x) {
  for (uint32_t set = 0; set < 1u << x->rank; set++) {
    arrjit_graph *g = diff_graph(d);
    arrjit_value in = arrjit_param(g, "x", x);
    tk_attrs attrs = {0};
    for (int32_t i = 0; i < x->rank; i++)
      if (set >> i & 1) attrs.axes[attrs.axis_count++] = i;
    arrjit_value made = tk_build_op(g, op, 1, &in, &attrs);
    arrjit_return(g, 1, &made, NULL);
    diff_function function;
    if (!diff_finish(d, g, op, x->dtype, &function)) continue;
    for (int tame = 0; tame < 2; tame++) {
      diff_inputs inputs = {0};
      diff_add(d, &inputs, x, TK_DATA, 0, tame, (tk_layout)tk_below(&d->pick, TK_LAYOUTS));
      diff_compare(d, op, x->dtype, &function, &inputs);
      diff_release_inputs(&inputs);
    }
    diff_release_function(&function);
  }
}

void diff_others(diff *d, aj_op op, arrjit_dtype dtype) {
  int uses = d->quick ? 1 : 4;
  for (size_t s = 0; s < TK_COUNT(shapes); s++) {
    arrjit_type x = arrjit_type_make(dtype, shapes[s].rank, shapes[s].dims);
    if (aj_ops[op].rule == AJ_R_REDUCE) {
      all_axes(d, op, &x);
    } else {
      for (int k = 0; k < uses; k++) one_use(d, op, &x);
    }
  }
}

/* Two extents that only a run can compare: equal, one of them 0, different. */
void diff_check_shape(diff *d, arrjit_dtype dtype) {
  arrjit_graph *g = diff_graph(d);
  arrjit_type a = {.dtype = dtype, .rank = 1, .dims = {arrjit_symbol(g, "a")}}, b = a;
  b.dims[0] = arrjit_symbol(g, "b");
  arrjit_value x = arrjit_param(g, "x", &a), y = arrjit_param(g, "y", &b),
               made = arrjit_select(g, arrjit_eq(g, x, y), x, y);
  arrjit_return(g, 1, &made, NULL);
  diff_function function;
  if (!diff_finish(d, g, AJ_OP_CHECK_SHAPE, dtype, &function)) return;
  static const int64_t pairs[][2] = {{3, 3}, {0, 0}, {1, 5}, {5, 1}, {0, 1}, {33, 33}, {33, 32}};
  for (size_t i = 0; i < TK_COUNT(pairs); i++) {
    diff_inputs inputs = {0};
    a.dims[0] = pairs[i][0], b.dims[0] = pairs[i][1];
    diff_add(d, &inputs, &a, TK_DATA, 0, false, TK_DENSE);
    diff_add(d, &inputs, &b, TK_DATA, 0, false, TK_REVERSED);
    diff_compare(d, AJ_OP_CHECK_SHAPE, dtype, &function, &inputs);
    diff_release_inputs(&inputs);
  }
  diff_release_function(&function);
}
