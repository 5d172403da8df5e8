/* arrjit_triangular_solve of arrjit/compose.h: what makes any of its forms a solve_lower. */
#include "api/compose.h"
#include "arrjit/compose.h"

/* The last two dims of x change places. */
static aj_value *turn(arrjit_graph *graph, aj_value *x) {
  int64_t axes[ARRJIT_MAX_RANK];
  if (!x) return NULL;
  int32_t rank = x->type->rank;
  for (int32_t i = 0; i < rank; i++) axes[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
  return aj_compose_axes(graph, AJ_OP_TRANSPOSE, x, (size_t)rank, axes);
}

/* The order of the rows turned round, and of `count` - 1 more dims. */
static aj_value *reverse(arrjit_graph *graph, aj_value *x, size_t count) {
  if (!x) return NULL;
  const int64_t axes[] = {x->type->rank - 2, x->type->rank - 1};
  return aj_compose_axes(graph, AJ_OP_REVERSE, x, count, axes);
}

aj_value *aj_compose_triangular(arrjit_graph *graph, aj_value *a, aj_value *b, bool left, bool lower, bool unit,
                                bool transposed) {
  /* x a = b is a^T x^T = b^T; with its rows and columns turned round an upper triangle is a lower one */
  bool turns = transposed == left, is_lower = lower != turns;
  if (turns) a = turn(graph, a);
  if (!left) b = turn(graph, b);
  if (!is_lower) a = reverse(graph, a, 2), b = reverse(graph, b, 1);
  const aj_attr attr = aj_attr_int(AJ_ATTR_UNIT, unit);
  aj_value *both[] = {a, b};
  aj_value *x = a && b ? aj_build1(&graph->b, AJ_OP_SOLVE_LOWER, 2, both, 1, &attr) : NULL;
  if (!is_lower) x = reverse(graph, x, 1);
  return left ? x : turn(graph, x);
}

arrjit_value arrjit_triangular_solve(arrjit_graph *graph, arrjit_value a, arrjit_value b, int left, int lower, int unit,
                                     int transposed) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_SOLVE_LOWER, 0, a),
           *to = aj_compose_array(graph, AJ_OP_SOLVE_LOWER, 1, b);
  if (!from || !to) return NULL;
  if (from->type->rank < 2 || to->type->rank < 2) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_SOLVE_LOWER, "a has rank %d and b %d; expected at least 2",
                    (int)from->type->rank, (int)to->type->rank);
    return NULL;
  }
  return aj_host_value(aj_compose_triangular(graph, from, to, left != 0, lower != 0, unit != 0, transposed != 0));
}
