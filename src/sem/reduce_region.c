/* reduce: the order of README.md with the host's combiner. A combiner has no identity: chains start from their first
 * elements, and lanes that got none are left out. */
#include "sem/combiner.h"
#include "sem/program.h"
#include "sem/reduce.h"
#include "sem/tree.h"

#include <string.h>

typedef struct fold_plan {
  const aj_sem_call *call;
  uint32_t count;
  aj_combiner combiner;
  aj_groups groups;
  aj_tree tree;
  size_t lanes, init_lanes; /* of the records that follow */
  char *sums, *inits;
  int64_t weight; /* of an element, for polls */
  aj_poller poller;
} fold_plan;

/* Pointers to elements of the arrays, or of the results, from number `element` on. */
static void point(const fold_plan *plan, const aj_view *views, int64_t element, const char **out) {
  for (uint32_t i = 0; i < plan->count; i++) out[i] = views[i].data + (size_t)element * plan->combiner.bytes[i];
}

static bool poll(fold_plan *plan, int64_t elements) {
  return aj_poller_stops(&plan->poller, (elements + 8) * plan->weight);
}

/* sums[0, n) = elements, or sums combined with elements. */
static void take(fold_plan *plan, size_t n, int64_t element, bool first) {
  char *sums[AJ_COMBINE_ARGS];
  const char *x[AJ_COMBINE_ARGS];
  point(plan, plan->call->in, element, x);
  aj_record_at(&plan->combiner, plan->sums, plan->lanes, 0, sums);
  if (!first) {
    aj_combiner_run(&plan->combiner, n, sums, (const char *const *)sums, x);
    return;
  }
  for (uint32_t i = 0; i < plan->count; i++) memcpy(sums[i], x[i], n * plan->combiner.bytes[i]);
}

/* The results from number `element` on: inits combined with the tree's. */
static void give(fold_plan *plan, size_t n, int64_t element) {
  char *inits[AJ_COMBINE_ARGS], *sums[AJ_COMBINE_ARGS], *out[AJ_COMBINE_ARGS];
  aj_tree_finish(&plan->tree, plan->sums);
  aj_record_at(&plan->combiner, plan->inits, plan->init_lanes, 0, inits);
  aj_record_at(&plan->combiner, plan->sums, n, 0, sums);
  for (uint32_t i = 0; i < plan->count; i++)
    out[i] = plan->call->out[i].data + (size_t)element * plan->combiner.bytes[i];
  aj_combiner_run(&plan->combiner, n, out, (const char *const *)inits, (const char *const *)sums);
}

/* ---- innermost group reduced ---- */

/* One block of n elements in lanes, pushed. */
static bool fold_block(fold_plan *plan, int64_t element, size_t n) {
  size_t lanes = plan->lanes, m = n < lanes ? n : lanes;
  char *low[AJ_COMBINE_ARGS], *high[AJ_COMBINE_ARGS], block[AJ_COMBINE_ARGS * AJ_RECORD_ELEMENT];
  for (size_t at = 0; at < n; at += lanes) {
    take(plan, n - at < lanes ? n - at : lanes, element + (int64_t)at, at == 0);
    if (poll(plan, (int64_t)lanes)) return false;
  }
  aj_record_at(&plan->combiner, plan->sums, lanes, 0, low);
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    if (m <= half) continue;
    aj_record_at(&plan->combiner, plan->sums, lanes, half, high);
    aj_combiner_run(&plan->combiner, m - half, low, (const char *const *)low, (const char *const *)high);
    m = half;
  }
  for (uint32_t i = 0; i < plan->count; i++) memcpy(block + aj_record_bytes(i, 1), low[i], plan->combiner.bytes[i]);
  aj_tree_push(&plan->tree, block);
  return true;
}

static bool fold_rows(fold_plan *plan) {
  const aj_groups *g = &plan->groups;
  int64_t step = (int64_t)plan->lanes * AJ_REDUCE_STEPS, bytes = plan->combiner.bytes[0], result = 0;
  int64_t kept[ARRJIT_MAX_RANK] = {0}, reduced[ARRJIT_MAX_RANK] = {0};
  const char *start = plan->call->in[0].data, *at = start;
  do {
    do {
      for (int64_t i = 0; i < g->inner; i += step) {
        int64_t n = g->inner - i < step ? g->inner - i : step;
        if (!fold_block(plan, (at - start) / bytes + i, (size_t)n)) return false;
      }
    } while (aj_routine_step(g->reduced.rank, g->reduced.dims, g->reduced.strides, reduced, &at));
    give(plan, 1, result++);
  } while (aj_routine_step(g->kept.rank, g->kept.dims, g->kept.strides, kept, &at));
  return true;
}

/* ---- innermost group kept ---- */

/* `n` neighbouring results: chains of AJ_REDUCE_CHAIN rows. */
static bool fold_columns(fold_plan *plan, const char *at, int64_t result, size_t n) {
  const aj_groups *g = &plan->groups;
  int64_t index[ARRJIT_MAX_RANK] = {0}, bytes = plan->combiner.bytes[0];
  const char *start = plan->call->in[0].data;
  plan->tree.width = plan->lanes = n;
  plan->tree.bytes = aj_record_bytes(plan->count, n);
  bool more = true;
  while (more) {
    for (int32_t row = 0; row < AJ_REDUCE_CHAIN && more; row++) {
      take(plan, n, (at - start) / bytes, row == 0);
      if (poll(plan, (int64_t)n)) return false;
      more = aj_routine_step(g->reduced.rank, g->reduced.dims, g->reduced.strides, index, &at);
    }
    aj_tree_push(&plan->tree, plan->sums);
  }
  give(plan, n, result);
  return true;
}

static bool fold_tiles(fold_plan *plan, int64_t tile) {
  const aj_groups *g = &plan->groups;
  int64_t index[ARRJIT_MAX_RANK] = {0}, bytes = plan->combiner.bytes[0], result = 0;
  const char *at = plan->call->in[0].data;
  do {
    for (int64_t j = 0; j < g->inner; j += tile) {
      int64_t n = g->inner - j < tile ? g->inner - j : tile;
      if (!fold_columns(plan, at + j * bytes, result, (size_t)n)) return false;
      result += n;
    }
  } while (aj_routine_step(g->kept.rank, g->kept.dims, g->kept.strides, index, &at));
  return true;
}

/* ---- all of it ---- */

static void fill_inits(fold_plan *plan, size_t lanes) {
  for (uint32_t i = 0; i < plan->count; i++)
    aj_view_fill(plan->inits + aj_record_bytes(i, lanes), (int64_t)lanes, plan->call->in[plan->count + i].data,
                 plan->combiner.bytes[i]);
}

static aj_sem_status fold_all(fold_plan *plan, int64_t tile) {
  const aj_sem_call *call = plan->call;
  bool rows = plan->groups.inner_reduced;
  size_t lanes = rows ? aj_reduce_lanes(call->in[0].dtype) : (size_t)tile, width = rows ? 1 : lanes;
  uint32_t levels = rows ? 64 : aj_tree_levels((aj_group_count(&plan->groups.reduced) - 1) / AJ_REDUCE_CHAIN + 1);
  size_t record = aj_record_bytes(plan->count, lanes), level = aj_record_bytes(plan->count, width);
  size_t bytes = 2 * record + levels * level;
  if (!aj_combiner_open(&plan->combiner, call, 0, 2 * plan->count, lanes)) return AJ_SEM_MEMORY;
  aj_sem_status status = AJ_SEM_MEMORY;
  char *scratch = aj_mem_raw(call->mem, bytes);
  if (scratch != NULL) {
    plan->lanes = plan->init_lanes = lanes;
    plan->sums = scratch;
    plan->inits = scratch + record;
    plan->tree = (aj_tree){.combiner = &plan->combiner, .width = width, .bytes = level, .levels = scratch + 2 * record};
    fill_inits(plan, lanes);
    plan->weight = (plan->combiner.program->step_count + 7) / 8;
    bool done = rows ? fold_rows(plan) : fold_tiles(plan, tile);
    status = done ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  aj_mem_free(call->mem, scratch, bytes);
  aj_combiner_close(&plan->combiner);
  return status;
}

/* Nothing to fold: the results are the inits. */
static aj_sem_status give_inits(fold_plan *plan) {
  for (uint32_t i = 0; i < plan->count; i++) {
    const aj_view *out = &plan->call->out[i], *init = &plan->call->in[plan->count + i];
    if (!aj_view_fill_polled(out->data, aj_view_count(out), init->data, aj_dtypes[out->dtype].bytes, &plan->poller))
      return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}

/* A combiner that is one op: the reduction by that op, then the init. */
static aj_sem_status fold_plain(fold_plan *plan, aj_op reduction) {
  const aj_sem_call *call = plan->call;
  aj_sem_status status = aj_reduce_run(call, reduction);
  if (status != AJ_SEM_OK) return status;
  arrjit_dtype dtype = call->out->dtype;
  size_t bytes = aj_dtypes[dtype].bytes;
  int64_t inits[AJ_PROGRAM_LANES];
  aj_loop *combine = aj_sem_loop(call->node->regions[0]->nodes[0]->op, dtype, dtype);
  aj_view_fill((char *)inits, AJ_PROGRAM_LANES, call->in[1].data, bytes);
  int64_t count = aj_view_count(call->out);
  for (int64_t at = 0; at < count; at += AJ_PROGRAM_LANES) {
    size_t n = (size_t)(count - at < AJ_PROGRAM_LANES ? count - at : AJ_PROGRAM_LANES);
    char *out = call->out->data + (size_t)at * bytes;
    const void *in[] = {inits, out};
    (void)combine(n, out, in);
    if (poll(plan, (int64_t)n)) return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}

aj_sem_status aj_routine_reduce(const aj_sem_call *call) {
  fold_plan plan = {.call = call,
                    .count = (uint32_t)aj_node_int(call->node, AJ_ATTR_ARGS),
                    .weight = 1,
                    .poller = aj_routine_poller(call)};
  if (aj_view_count(call->out) == 0) return AJ_SEM_OK;
  if (aj_view_count(call->in) == 0) return give_inits(&plan);
  aj_op reduction = plan.count == 1 ? aj_sem_plain_combiner(call->node->regions[0]) : AJ_OP_NONE;
  if (reduction != AJ_OP_NONE) return fold_plain(&plan, reduction);
  aj_groups_plan(&plan.groups, call->in, aj_routine_axis_set(call->node, AJ_ATTR_AXES));
  int64_t inner = plan.groups.inner;
  return fold_all(&plan, inner < AJ_REDUCE_TILE ? inner : AJ_REDUCE_TILE);
}
