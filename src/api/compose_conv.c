/* arrjit_convolution of arrjit/compose.h: StableHLO's dimension numbers, reversal and batch groups around a conv. */
#include "api/compose.h"
#include "arrjit/compose.h"

/* `rank` axes, each from 0 to below it once; NULL: in order. */
static bool take_axes(arrjit_graph *graph, const char *name, int32_t rank, const int64_t *axes, int64_t *out) {
  uint32_t set = 0;
  for (int32_t i = 0; i < rank; i++) {
    out[i] = axes ? axes[i] : i;
    if (out[i] < 0 || out[i] >= rank || (set >> out[i] & 1)) {
      aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONV, "%s has %lld; expected each axis from 0 to below %d once",
                      name, (long long)out[i], rank);
      return false;
    }
    set |= 1u << out[i];
  }
  return true;
}

/* Groups of the batch become groups of features: [groups * n, spatial dims, features] to [n, spatial dims, groups *
 * features]. */
static aj_value *move_groups(arrjit_graph *graph, aj_value *x, int64_t groups) {
  int64_t dims[ARRJIT_MAX_RANK], axes[ARRJIT_MAX_RANK], all;
  if (!x || groups == 1) return x;
  int32_t rank = x->type->rank;
  int64_t batch = x->type->dims[0], features = x->type->dims[rank - 1];
  if (groups < 1 || batch < 0 || batch % groups != 0 || features < 0 || !aj_i64_mul(groups, features, &all) ||
      rank == ARRJIT_MAX_RANK) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONV,
                    "batch_groups is %lld; expected 1, or a divisor of the batch of lhs, which and whose features are "
                    "numbers",
                    (long long)groups);
    return NULL;
  }
  dims[0] = groups;
  dims[1] = batch / groups;
  axes[rank - 1] = 0;
  axes[rank] = rank;
  for (int32_t i = 1; i < rank; i++) {
    dims[i + 1] = x->type->dims[i];
    axes[i - 1] = i;
  }
  x = aj_compose_axes(graph, AJ_OP_TRANSPOSE, aj_compose_reshape(graph, x, rank + 1, dims), (size_t)rank + 1, axes);
  for (int32_t i = 0; i + 1 < rank; i++) dims[i] = dims[i + 1];
  dims[rank - 1] = all;
  return aj_compose_reshape(graph, x, rank, dims);
}

typedef struct lists {
  int64_t step[ARRJIT_MAX_RANK], low[ARRJIT_MAX_RANK], high[ARRJIT_MAX_RANK], base[ARRJIT_MAX_RANK],
      spread[ARRJIT_MAX_RANK];
} lists;

static void take_list(int32_t rank, const int64_t *from, int64_t otherwise, int64_t *out) {
  for (int32_t i = 0; i < rank; i++) out[i] = from ? from[i] : otherwise;
}

static aj_value *build_conv(arrjit_graph *graph, int32_t rank, aj_value *lhs, aj_value *rhs, const lists *l,
                            int64_t groups) {
  size_t count = (size_t)rank;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_STEP, count, l->step),
                           aj_attr_ints(AJ_ATTR_LOW, count, l->low),
                           aj_attr_ints(AJ_ATTR_HIGH, count, l->high),
                           aj_attr_ints(AJ_ATTR_BASE_DILATION, count, l->base),
                           aj_attr_ints(AJ_ATTR_WINDOW_DILATION, count, l->spread),
                           aj_attr_int(AJ_ATTR_GROUPS, groups)};
  aj_value *both[] = {lhs, rhs};
  return lhs && rhs ? aj_build1(&graph->b, AJ_OP_CONV, 2, both, AJ_COUNT(attrs), attrs) : NULL;
}

static bool check_ranks(arrjit_graph *graph, int32_t rank, const aj_value *lhs, const aj_value *rhs) {
  if (!lhs || !rhs) return false;
  if (rank >= 0 && rank <= ARRJIT_MAX_RANK - 2 && lhs->type->rank == rank + 2 && rhs->type->rank == rank + 2)
    return true;
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONV,
                  "rank is %d; expected lhs and rhs of rank 2 above it, not %d and %d", (int)rank, (int)lhs->type->rank,
                  (int)rhs->type->rank);
  return false;
}

arrjit_value arrjit_convolution(arrjit_graph *graph, arrjit_value lhs, arrjit_value rhs, int32_t rank,
                                const int64_t *lhs_axes, const int64_t *rhs_axes, const int64_t *out_axes,
                                const int64_t *strides, const int64_t *low, const int64_t *high,
                                const int64_t *base_dilation, const int64_t *window_dilation, size_t reversed_count,
                                const int64_t *reversed, int64_t groups, int64_t batch_groups) {
  int64_t of_lhs[ARRJIT_MAX_RANK], of_rhs[ARRJIT_MAX_RANK], of_out[ARRJIT_MAX_RANK], back[ARRJIT_MAX_RANK];
  lists l;
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *x = aj_compose_array(graph, AJ_OP_CONV, 0, lhs), *y = aj_compose_array(graph, AJ_OP_CONV, 1, rhs);
  if (!check_ranks(graph, rank, x, y) || !aj_graph_given(graph, "reversed", reversed, reversed_count) ||
      !take_axes(graph, "lhs_axes", rank + 2, lhs_axes, of_lhs) ||
      !take_axes(graph, "rhs_axes", rank + 2, rhs_axes, of_rhs) ||
      !take_axes(graph, "out_axes", rank + 2, out_axes, of_out))
    return NULL;
  for (size_t i = 0; i < reversed_count; i++)
    if (!aj_compose_axis(graph, reversed[i], rank)) return NULL;
  if (groups != 1 && batch_groups != 1) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONV, "expected groups or batch_groups to be 1");
    return NULL;
  }
  take_list(rank, strides, 1, l.step);
  take_list(rank, low, 0, l.low);
  take_list(rank, high, 0, l.high);
  take_list(rank, base_dilation, 1, l.base);
  take_list(rank, window_dilation, 1, l.spread);
  for (int32_t i = 0; i < rank + 2; i++) back[of_out[i]] = i;
  x = move_groups(graph, aj_compose_axes(graph, AJ_OP_TRANSPOSE, x, (size_t)rank + 2, of_lhs), batch_groups);
  y = aj_compose_axes(graph, AJ_OP_TRANSPOSE, y, (size_t)rank + 2, of_rhs);
  y = aj_compose_axes(graph, AJ_OP_REVERSE, y, reversed_count, reversed);
  aj_value *out = build_conv(graph, rank, x, y, &l, batch_groups != 1 ? batch_groups : groups);
  return aj_host_value(aj_compose_axes(graph, AJ_OP_TRANSPOSE, out, (size_t)rank + 2, back));
}
