/* reduce_*: the fixed order that README.md states. Integer results do not depend on it, but take the same way. */
#include "sem/reduce.h"

#include <string.h>

#include "sem/combiner.h"
#include "sem/tree.h"

/* ---- carry tree ---- */
uint32_t aj_tree_levels(int64_t blocks) {
  uint32_t levels = 1;
  while (blocks >> levels > 0) levels++;
  return levels;
}

/* newer = older combined with newer. */
static void join(aj_tree *tree, char *older, char *newer) {
  if (tree->combiner == NULL) {
    const void *in[] = {older, newer};
    tree->combine(tree->width, newer, in);
    return;
  }
  char *from[AJ_COMBINE_ARGS], *to[AJ_COMBINE_ARGS];
  aj_record_at(tree->combiner, older, tree->width, 0, from);
  aj_record_at(tree->combiner, newer, tree->width, 0, to);
  aj_combiner_run(tree->combiner, tree->width, to, (const char *const *)from, (const char *const *)to);
}

void aj_tree_push(aj_tree *tree, char *block) {
  char *level = tree->levels;
  uint64_t full = tree->count++;
  for (; full & 1; full >>= 1, level += tree->bytes) join(tree, level, block);
  memcpy(level, block, tree->bytes);
}

void aj_tree_finish(aj_tree *tree, char *out) {
  char *level = tree->levels;
  bool have = false;
  for (uint64_t full = tree->count; full != 0; full >>= 1, level += tree->bytes) {
    if (!(full & 1)) continue;
    if (have)
      join(tree, level, out);
    else
      memcpy(out, level, tree->bytes);
    have = true;
  }
  tree->count = 0;
}

/* ---- identities ---- */
/* As an i64 that wraps to the element: for signed ones the extremes are those of i64, shifted to the width. */
static int64_t get_integer_identity(aj_op op, arrjit_dtype dtype) {
  bool is_signed = aj_dtypes[dtype].cls == AJ_CLASS_INT;
  if (op == AJ_OP_REDUCE_SUM || op == AJ_OP_REDUCE_OR) return 0;
  if (op == AJ_OP_REDUCE_PROD) return 1;
  if (op == AJ_OP_REDUCE_AND) return -1;
  int64_t top = is_signed ? INT64_MAX >> (64 - aj_dtypes[dtype].bits) : -1;
  return op == AJ_OP_REDUCE_MIN ? top : is_signed ? -top - 1 : 0;
}

void aj_reduce_identity(aj_op op, arrjit_dtype dtype, void *out_start, void *out_empty) {
  if (aj_dtypes[dtype].cls == AJ_CLASS_FLOAT) {
    double inf = __builtin_inf(), start = op == AJ_OP_REDUCE_SUM    ? -0.0
                                          : op == AJ_OP_REDUCE_PROD ? 1.0
                                          : op == AJ_OP_REDUCE_MIN  ? inf
                                                                    : -inf;
    double empty = op == AJ_OP_REDUCE_SUM ? 0.0 : start;
    const void *in_start[] = {&start}, *in_empty[] = {&empty};
    aj_loops_base.converts[ARRJIT_F64][dtype](1, out_start, in_start);
    aj_loops_base.converts[ARRJIT_F64][dtype](1, out_empty, in_empty);
    return;
  }
  int64_t identity = get_integer_identity(op, dtype);
  const void *in[] = {&identity};
  aj_loops_base.converts[ARRJIT_I64][dtype](1, out_start, in);
  aj_loops_base.converts[ARRJIT_I64][dtype](1, out_empty, in);
}

static aj_op get_combiner(aj_op op) {
  static const aj_op combiners[AJ_FOLD_COUNT] = {AJ_OP_ADD, AJ_OP_MUL, AJ_OP_MIN, AJ_OP_MAX, AJ_OP_AND, AJ_OP_OR};
  return combiners[op - AJ_OP_REDUCE_SUM];
}

/* ---- the walk ---- */
typedef struct reduce_plan {
  const aj_sem_call *call;
  aj_op op;
  size_t bytes;
  aj_tree tree;
  aj_groups groups;
  int64_t blocks; /* pushes to the tree for one output */
  aj_poller poller;
} reduce_plan;

static void add_dim(aj_group_list *list, int64_t extent, int64_t stride, bool merge) {
  if (merge) {
    list->dims[list->rank - 1] *= extent;
    list->strides[list->rank - 1] = stride;
    return;
  }
  list->dims[list->rank] = extent;
  list->strides[list->rank++] = stride;
}

void aj_groups_plan(aj_groups *groups, const aj_view *x, uint32_t axes) {
  groups->kept.rank = groups->reduced.rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    bool reduced = (axes >> i & 1) != 0, merge = i > 0 && (axes >> (i - 1) & 1) == (axes >> i & 1);
    add_dim(reduced ? &groups->reduced : &groups->kept, x->dims[i], x->strides[i], merge);
  }
  groups->inner_reduced = x->rank > 0 && (axes >> (x->rank - 1) & 1) != 0;
  aj_group_list *innermost = groups->inner_reduced ? &groups->reduced : &groups->kept;
  groups->inner = innermost->rank > 0 ? innermost->dims[--innermost->rank] : 1;
}

/* One output whose innermost group is reduced, from its first element on. */
static bool reduce_lanes(reduce_plan *plan, aj_fold *fold, const char *at, char *out) {
  int64_t step = (int64_t)aj_reduce_lanes(plan->call->in[0].dtype) * AJ_REDUCE_STEPS;
  if (plan->blocks == 1) {
    fold((size_t)plan->groups.inner, out, at);
    return !aj_poller_stops(&plan->poller, plan->groups.inner + 8);
  }
  int64_t index[ARRJIT_MAX_RANK] = {0}, block;
  do {
    for (int64_t i = 0; i < plan->groups.inner; i += step) {
      int64_t n = plan->groups.inner - i < step ? plan->groups.inner - i : step;
      fold((size_t)n, &block, at + (size_t)i * plan->bytes);
      aj_tree_push(&plan->tree, (char *)&block);
      if (aj_poller_stops(&plan->poller, n + 8)) return false;
    }
  } while (
      aj_routine_step(plan->groups.reduced.rank, plan->groups.reduced.dims, plan->groups.reduced.strides, index, &at));
  aj_tree_finish(&plan->tree, out);
  return true;
}

static aj_sem_status reduce_inner(reduce_plan *plan) {
  arrjit_dtype dtype = plan->call->in[0].dtype;
  aj_fold *fold = aj_loops_here()->folds[plan->op - AJ_OP_REDUCE_SUM][dtype];
  int64_t levels[64], step = (int64_t)aj_reduce_lanes(dtype) * AJ_REDUCE_STEPS;
  plan->tree.levels = (char *)levels;
  plan->tree.width = 1;
  plan->tree.bytes = plan->bytes;
  plan->blocks = (plan->groups.inner + step - 1) / step;
  plan->blocks *= aj_group_count(&plan->groups.reduced);
  int64_t index[ARRJIT_MAX_RANK] = {0};
  const char *at = plan->call->in[0].data;
  char *out = plan->call->out->data;
  do {
    if (!reduce_lanes(plan, fold, at, out)) return AJ_SEM_STOPPED;
    out += plan->bytes;
  } while (aj_routine_step(plan->groups.kept.rank, plan->groups.kept.dims, plan->groups.kept.strides, index, &at));
  return AJ_SEM_OK;
}

/* `n` neighbouring outputs of the innermost kept group: chains of AJ_REDUCE_CHAIN rows, one vector of sums at a time.
 */
static bool reduce_columns(reduce_plan *plan, const char *at, char *out, size_t n, const char *identity, char *sums) {
  int64_t index[ARRJIT_MAX_RANK] = {0};
  plan->tree.width = n;
  plan->tree.bytes = n * plan->bytes;
  bool more = true;
  while (more) {
    aj_view_fill(sums, (int64_t)n, identity, plan->bytes);
    for (int32_t row = 0; row < AJ_REDUCE_CHAIN && more; row++) {
      const void *in[] = {sums, at};
      plan->tree.combine(n, sums, in);
      if (aj_poller_stops(&plan->poller, (int64_t)n + 8)) return false;
      more = aj_routine_step(plan->groups.reduced.rank, plan->groups.reduced.dims, plan->groups.reduced.strides, index,
                             &at);
    }
    aj_tree_push(&plan->tree, sums);
  }
  aj_tree_finish(&plan->tree, out);
  return true;
}

static aj_sem_status reduce_outer(reduce_plan *plan, const char *identity) {
  int64_t tile = plan->groups.inner < AJ_REDUCE_TILE ? plan->groups.inner : AJ_REDUCE_TILE;
  int64_t rows = aj_group_count(&plan->groups.reduced);
  uint32_t levels = aj_tree_levels((rows - 1) / AJ_REDUCE_CHAIN + 1);
  size_t vector_bytes = (size_t)tile * plan->bytes, scratch_bytes = vector_bytes * (levels + 1);
  char *scratch = aj_mem_raw(plan->call->mem, scratch_bytes);
  if (scratch == NULL) return AJ_SEM_MEMORY;
  plan->tree.levels = scratch + vector_bytes;
  int64_t index[ARRJIT_MAX_RANK] = {0};
  const char *at = plan->call->in[0].data;
  char *out = plan->call->out->data;
  bool ok = true;
  do {
    for (int64_t j = 0; ok && j < plan->groups.inner; j += tile) {
      size_t n = (size_t)(plan->groups.inner - j < tile ? plan->groups.inner - j : tile);
      ok = reduce_columns(plan, at + (size_t)j * plan->bytes, out, n, identity, scratch);
      out += n * plan->bytes;
    }
  } while (ok &&
           aj_routine_step(plan->groups.kept.rank, plan->groups.kept.dims, plan->groups.kept.strides, index, &at));
  aj_mem_free(plan->call->mem, scratch, scratch_bytes);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

aj_sem_status aj_reduce_run(const aj_sem_call *call, aj_op op) {
  const aj_view *x = &call->in[0];
  reduce_plan plan = {.call = call, .op = op, .bytes = aj_dtypes[x->dtype].bytes, .poller = aj_routine_poller(call)};
  int64_t start, empty, outputs = aj_view_count(call->out);
  if (outputs == 0) return AJ_SEM_OK;
  aj_reduce_identity(op, x->dtype, &start, &empty);
  if (aj_view_count(x) == 0) {
    bool ok = aj_view_fill_polled(call->out->data, outputs, &empty, plan.bytes, &plan.poller);
    return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  plan.tree.combine = aj_sem_loop(get_combiner(op), x->dtype, x->dtype);
  aj_groups_plan(&plan.groups, x, aj_routine_axis_set(call->node, AJ_ATTR_AXES));
  return plan.groups.inner_reduced ? reduce_inner(&plan) : reduce_outer(&plan, (const char *)&start);
}

aj_sem_status aj_routine_reduce_sum(const aj_sem_call *call) { return aj_reduce_run(call, AJ_OP_REDUCE_SUM); }
aj_sem_status aj_routine_reduce_prod(const aj_sem_call *call) { return aj_reduce_run(call, AJ_OP_REDUCE_PROD); }
aj_sem_status aj_routine_reduce_min(const aj_sem_call *call) { return aj_reduce_run(call, AJ_OP_REDUCE_MIN); }
aj_sem_status aj_routine_reduce_max(const aj_sem_call *call) { return aj_reduce_run(call, AJ_OP_REDUCE_MAX); }
aj_sem_status aj_routine_reduce_and(const aj_sem_call *call) { return aj_reduce_run(call, AJ_OP_REDUCE_AND); }
aj_sem_status aj_routine_reduce_or(const aj_sem_call *call) { return aj_reduce_run(call, AJ_OP_REDUCE_OR); }
