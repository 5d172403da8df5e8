/* join: a kernel that looks for the first false lane of a check, and elementwise kernels behind the check that read the
 * same arrays, become one.
 *
 *   before   %1 = kernel %x {combine = [first_false]}     after   %1, %3 = kernel %x {combine = [first_false, none]}
 *            if ... %1 { raise %1 } { yield }                     if ... %1 { raise %1 } { yield }
 *            %3 = kernel %x {combine = [none]}
 *
 * So a check that never fails costs a compare and a branch a vector, and no pass of its own over memory. Such a kernel
 * ends at the first false lane and leaves the rest of its arrays as they were: when the check fails, nobody sees them.
 * So they must come from behind the raise; whether all of an array holds, which raises nothing, joins nothing.
 *
 * Requires: fuse. Must never take in a kernel that may fail, nor one whose operands are not there yet. */
#include <string.h>

#include "opt/kernel.h"
#include "opt/regions.h"

typedef struct join {
  aj_pass_ctx *ctx;
  aj_func *func;
  aj_node *first; /* the kernel that grows */
  AJ_VEC(aj_node *) parts;
} join;

enum { MOST_RESULTS = 16, MOST_NODES = 1000 };

static bool is_kernel(const aj_node *node, aj_op combine) {
  if (node->op != AJ_OP_KERNEL) return false;
  const aj_attr *list = aj_node_attr(node, AJ_ATTR_COMBINE);
  return list->count == 1 && list->u.ints[0] == (int64_t)combine;
}

static bool same_space(const aj_node *a, const aj_node *b) {
  const aj_attr *x = aj_node_attr(a, AJ_ATTR_SHAPE), *y = aj_node_attr(b, AJ_ATTR_SHAPE);
  for (uint32_t i = 0; i < x->count && i < y->count; i++)
    if (!aj_dim_equal(x->u.ints[i], y->u.ints[i])) return false;
  return x->count == y->count;
}

/* Plain ops on scalars: nothing that may fail or go round. */
static bool is_plain(const aj_region *body) {
  for (uint32_t pc = 0; pc + 1 < body->node_count; pc++) {
    const aj_node *node = body->nodes[pc];
    bool elementwise = (aj_ops[node->op].flags & (AJ_F_ELEMENTWISE | AJ_F_RAISES)) == AJ_F_ELEMENTWISE;
    if (!elementwise && node->op != AJ_OP_CONST && node->op != AJ_OP_LANE_INDEX) return false;
  }
  return true;
}

/* The entries of the maps attribute that are operand i's: *out_count of them. */
static const int64_t *map_of(const aj_node *kernel, uint32_t i, size_t *out_count) {
  const int64_t *at = aj_node_attr(kernel, AJ_ATTR_MAPS)->u.ints;
  for (; i > 0; i--) at += 1 + 3 * at[0];
  *out_count = 1 + 3 * (size_t)at[0];
  return at;
}

/* The operand of `kernel` that is the same array at the same map; its operand count when there is none. */
static uint32_t find_operand(const aj_node *kernel, const aj_value *value, const int64_t *map, size_t count) {
  for (uint32_t i = 0; i < kernel->operand_count; i++) {
    size_t have;
    if (kernel->operands[i] != value) continue;
    const int64_t *other = map_of(kernel, i, &have);
    if (have == count && !memcmp(other, map, count * sizeof *map)) return i;
  }
  return kernel->operand_count;
}

static bool shares_array(const aj_node *a, const aj_node *b) {
  for (uint32_t i = 0; i < b->operand_count; i++) {
    size_t count;
    const int64_t *map = map_of(b, i, &count);
    if (b->operands[i]->type->rank > 0 && find_operand(a, b->operands[i], map, count) < a->operand_count) return true;
  }
  return false;
}

static bool can_join(const join *j, const aj_node *node) {
  const aj_node *first = j->first;
  if (!is_kernel(node, AJ_OP_NONE) || !same_space(first, node) || !is_plain(node->regions[0])) return false;
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (node->operands[i]->def && node->operands[i]->def->pc >= first->pc) return false;
  return shares_array(first, node);
}

/* ---- building ---- */

typedef struct operand_list {
  AJ_VEC(aj_value *) operands;
  AJ_VEC(int64_t) maps;
} operand_list;

/* Operand i of `part` in the list, added when it is not there; *out is its place. */
static bool add_operand(join *j, operand_list *list, const aj_node *part, uint32_t i, uint32_t *out) {
  size_t count, have, at = 0;
  const int64_t *map = map_of(part, i, &count);
  for (*out = 0; *out < list->operands.count; ++*out, at += have) {
    have = 1 + 3 * (size_t)list->maps.data[at];
    if (list->operands.data[*out] == part->operands[i] && have == count &&
        !memcmp(list->maps.data + at, map, count * sizeof *map))
      return true;
  }
  if (!AJ_VEC_PUSH(j->ctx->mem, &list->operands, part->operands[i])) return false;
  for (size_t k = 0; k < count; k++)
    if (!AJ_VEC_PUSH(j->ctx->mem, &list->maps, map[k])) return false;
  return true;
}

/* Parameters of `part` become those of the joined body, whose types exist already: one an operand. */
static bool bind_params(join *j, operand_list *list, aj_region *body, const aj_node *part) {
  for (uint32_t i = 0; i < part->operand_count; i++) {
    uint32_t at;
    if (!add_operand(j, list, part, i, &at)) return false;
    aj_value *param = part->regions[0]->params[i];
    if (at == body->param_count && !aj_region_add_param(body, param->type)) return false;
    param->forward = body->params[at];
  }
  return true;
}

static bool move_body(aj_region *body, const aj_node *part, aj_value **out_result) {
  const aj_region *from = part->regions[0];
  for (uint32_t pc = 0; pc < from->node_count; pc++) {
    aj_node *node = from->nodes[pc];
    for (uint32_t i = 0; i < node->operand_count; i++) node->operands[i] = aj_value_resolve(node->operands[i]);
    if (node->op == AJ_OP_YIELD)
      *out_result = node->operands[0];
    else if (!aj_region_append(body, node))
      return false;
  }
  return true;
}

static aj_node *create_kernel(join *j, const operand_list *list) {
  int64_t combine[MOST_RESULTS] = {AJ_OP_FIRST_FALSE};
  const aj_type *types[MOST_RESULTS];
  for (size_t i = 0; i < j->parts.count; i++) types[i] = j->parts.data[i]->results[0].type;
  const aj_attr *shape = aj_node_attr(j->first, AJ_ATTR_SHAPE);
  aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_SHAPE, shape->count, shape->u.ints),
                     aj_attr_ints(AJ_ATTR_MAPS, list->maps.count, list->maps.data),
                     aj_attr_ints(AJ_ATTR_REDUCED, 0, combine), aj_attr_ints(AJ_ATTR_COMBINE, j->parts.count, combine)};
  aj_node *kernel = aj_node_create(j->func, AJ_OP_KERNEL, (uint32_t)list->operands.count, list->operands.data,
                                   AJ_COUNT(attrs), attrs, (uint32_t)j->parts.count, types, 1);
  if (!kernel) return NULL;
  kernel->source = j->first->source;
  kernel->origin = j->first->origin;
  return kernel;
}

/* All parts as one kernel in place of the first. False: no memory. */
static bool join_parts(join *j) {
  operand_list list = {0};
  aj_value *results[MOST_RESULTS];
  aj_region *body = aj_region_create(j->func, NULL, 0), *region = j->first->parent;
  bool ok = body != NULL;
  for (size_t i = 0; i < j->parts.count && ok; i++)
    ok = bind_params(j, &list, body, j->parts.data[i]) && move_body(body, j->parts.data[i], &results[i]);
  aj_node *yield =
      ok ? aj_node_create(j->func, AJ_OP_YIELD, (uint32_t)j->parts.count, results, 0, NULL, 0, NULL, 0) : NULL;
  aj_node *kernel = yield && aj_region_append(body, yield) ? create_kernel(j, &list) : NULL;
  if (kernel) {
    yield->source = kernel->source;
    yield->origin = kernel->origin;
    kernel->regions[0] = body;
    body->owner = kernel;
    kernel->parent = region;
    kernel->pc = j->first->pc;
    region->nodes[kernel->pc] = kernel;
    for (uint32_t i = 0; i < kernel->result_count; i++) {
      kernel->results[i].region = region;
      j->parts.data[i]->results[0].forward = &kernel->results[i];
      j->parts.data[i]->parent = NULL; /* what goes from the list */
    }
  }
  AJ_VEC_FREE(j->ctx->mem, &list.operands);
  AJ_VEC_FREE(j->ctx->mem, &list.maps);
  return kernel != NULL;
}

/* ---- regions ---- */

enum { LOOK_AHEAD = 64 }; /* nodes that a host writes between a check and what it checks, not whole regions */

/* The branch that raises when the first kernel has found a lane; NULL: there is none. */
static const aj_node *find_raise(const aj_node *first) {
  const aj_region *region = first->parent;
  for (uint32_t pc = first->pc + 1; pc < region->node_count && pc <= first->pc + LOOK_AHEAD; pc++) {
    const aj_node *node = region->nodes[pc];
    if (node->op != AJ_OP_IF || node->parent != region) continue;
    const aj_node *condition = node->operands[0]->def, *end = aj_region_terminator(node->regions[0]);
    if (condition && condition->op == AJ_OP_GE && condition->operands[0] == &first->results[0] && end &&
        end->op == AJ_OP_RAISE)
      return node;
  }
  return NULL;
}

/* Kernels that can come to the first. */
static bool find_parts(join *j) {
  const aj_region *region = j->first->parent;
  const aj_node *raise = find_raise(j->first);
  uint32_t nodes = j->first->regions[0]->node_count;
  j->parts.count = 0;
  if (!AJ_VEC_PUSH(j->ctx->mem, &j->parts, j->first)) return false;
  if (!raise) return true;
  for (uint32_t pc = raise->pc + 1; pc < region->node_count && pc <= raise->pc + LOOK_AHEAD; pc++) {
    aj_node *node = region->nodes[pc];
    if (node->parent != region || j->parts.count == MOST_RESULTS || !can_join(j, node)) continue;
    nodes += node->regions[0]->node_count;
    if (nodes > MOST_NODES) break;
    if (!AJ_VEC_PUSH(j->ctx->mem, &j->parts, node)) return false;
  }
  return true;
}

static bool join_region(join *j, aj_region *region, bool *changed) {
  bool joined = false, ok = true;
  for (uint32_t pc = 0; pc < region->node_count && ok; pc++) {
    aj_node *node = region->nodes[pc];
    if (node->parent != region || !is_kernel(node, AJ_OP_FIRST_FALSE)) continue;
    j->first = node;
    ok = find_parts(j);
    if (!ok || j->parts.count == 1) continue;
    ok = join_parts(j);
    joined = true;
  }
  uint32_t kept = 0;
  for (uint32_t pc = 0; pc < region->node_count && joined; pc++)
    if (region->nodes[pc]->parent == region) {
      region->nodes[kept] = region->nodes[pc];
      region->nodes[kept]->pc = kept;
      kept++;
    }
  if (joined) region->node_count = kept;
  *changed = *changed || joined;
  return ok;
}

arrjit_status aj_pass_join(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  join j = {.ctx = ctx, .func = func};
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = 0; i < regions.count && ok; i++) ok = join_region(&j, regions.data[i], out_changed);
  AJ_VEC_FREE(ctx->mem, &j.parts);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (*out_changed) aj_func_resolve(func);
  return ok ? ARRJIT_OK : aj_error_memory(ctx->error, "join");
}
