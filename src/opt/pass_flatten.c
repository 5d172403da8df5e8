/* flatten: inside maps an if whose arms can neither fail nor loop becomes its arms and selects; a map whose region then
 * is plain ops on scalars becomes the same ops on arrays, which fuse with what is around them; a reduce whose combiner
 * is one op becomes the reduction by that op, and its init is combined with the result.
 *
 *   before   %1 = map %x, %k {args = 1} (%a: f64, %k: f64) {      after    %3 = broadcast %k : f64[n]
 *              %p = lt %a, %k : bool                                       %4 = lt %x, %3 : bool[n]
 *              %r = if %p, %a (%a: f64) {                                  %5 = neg %x : f64[n]
 *                %0 = neg %a : f64                                         %6 = select %4, %5, %x : f64[n]
 *                yield %0
 *              } (%a: f64) { yield %a } : f64
 *              yield %r } : f64[n]
 *
 * Requires: ops expanded. Preserves: effects and their order, as what is moved has none; origins. Must never move what
 * may fail or loop, nor compute arms of many nodes that a map's masks could skip, nor make a reduction of nothing give
 * other bits than the init. */
#include "opt/regions.h"

#include "sem/sem.h"

enum { MOST_ARM_NODES = 64 };

/* ---- ifs ---- */

static bool is_plain(const aj_node *node) {
  return (aj_ops[node->op].flags & (AJ_F_ELEMENTWISE | AJ_F_RAISES)) == AJ_F_ELEMENTWISE || node->op == AJ_OP_CONST;
}

static bool is_plain_region(const aj_region *region) {
  for (uint32_t i = 0; i + 1 < region->node_count; i++)
    if (!is_plain(region->nodes[i])) return false;
  return region->node_count && region->nodes[region->node_count - 1]->op == AJ_OP_YIELD;
}

static bool becomes_selects(const aj_node *node) {
  if (node->op != AJ_OP_IF || node->regions[0]->node_count + node->regions[1]->node_count > MOST_ARM_NODES)
    return false;
  for (uint32_t i = 0; i < node->result_count; i++)
    if (node->results[i].type->is_exn) return false;
  return is_plain_region(node->regions[0]) && is_plain_region(node->regions[1]);
}

/* Appends an arm's nodes; its parameters stand for the captures. Returns its yield; NULL: no memory. */
static const aj_node *splice_arm(aj_region *region, aj_node *node, uint32_t index) {
  aj_region *arm = node->regions[index];
  for (uint32_t i = 0; i < arm->param_count; i++) arm->params[i]->forward = node->operands[1 + i];
  for (uint32_t i = 0; i < arm->node_count; i++) {
    aj_node *inner = arm->nodes[i];
    for (uint32_t k = 0; k < inner->operand_count; k++) inner->operands[k] = aj_value_resolve(inner->operands[k]);
    if (inner->op == AJ_OP_YIELD) return inner;
    if (!aj_region_append(region, inner)) return NULL;
  }
  return NULL;
}

static bool select_results(aj_builder *b, aj_region *region, aj_node *node) {
  const aj_node *then = splice_arm(region, node, 0), *other = then ? splice_arm(region, node, 1) : NULL;
  if (!other) return false;
  aj_builder_at(b, region, node);
  for (uint32_t i = 0; i < node->result_count; i++) {
    aj_value *operands[] = {node->operands[0], then->operands[i], other->operands[i]};
    if (!(node->results[i].forward = aj_build1(b, AJ_OP_SELECT, 3, operands, 0, NULL))) return false;
  }
  return true;
}

/* ---- maps ---- */

/* What a value of the map's region is as an array: arguments are arrays already, all else is made one. */
static aj_value *to_array(aj_builder *b, const aj_node *map, aj_value *value) {
  const aj_type *shape = map->operands[0]->type;
  return aj_build_broadcast_to(b, value, shape->rank, shape->dims);
}

/* The map's region, op by op, on arrays. False: no memory, or a builder error. */
static bool spread_map(aj_builder *b, aj_region *region, aj_node *map) {
  aj_region *lane = map->regions[0];
  aj_builder_at(b, region, map);
  for (uint32_t i = 0; i < lane->param_count; i++)
    if (!(lane->params[i]->forward = to_array(b, map, map->operands[i]))) return false;
  for (uint32_t i = 0; i + 1 < lane->node_count; i++) {
    aj_node *node = lane->nodes[i];
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    aj_builder_at(b, region, node);
    aj_value *value = aj_build1(b, node->op, node->operand_count, node->operands, node->attr_count, node->attrs);
    if (value && node->op == AJ_OP_CONST) value = to_array(b, map, value);
    if (!(node->results[0].forward = value)) return false;
  }
  const aj_node *yield = lane->nodes[lane->node_count - 1];
  for (uint32_t i = 0; i < map->result_count; i++) map->results[i].forward = aj_value_resolve(yield->operands[i]);
  return true;
}

/* ---- reduce ---- */

static bool is_never_empty(const aj_node *reduce) {
  const aj_attr *axes = aj_node_attr(reduce, AJ_ATTR_AXES);
  for (uint32_t i = 0; i < axes->count; i++)
    if (reduce->operands[0]->type->dims[axes->u.ints[i]] < 1) return false;
  return true;
}

/* The reduction that gives the same bits, an empty one included; AJ_OP_NONE: none is known to. */
static aj_op find_plain_reduction(const aj_node *node) {
  if (node->op != AJ_OP_REDUCE || node->result_count != 1) return AJ_OP_NONE;
  arrjit_dtype dtype = node->results[0].type->dtype;
  bool same = aj_dtypes[dtype].cls != AJ_CLASS_FLOAT || is_never_empty(node);
  return same ? aj_sem_plain_combiner(node->regions[0]) : AJ_OP_NONE;
}

static bool reduce_by_op(aj_builder *b, aj_region *region, aj_node *node, aj_op reduction) {
  aj_builder_at(b, region, node);
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
  aj_value *all = aj_build1(b, reduction, 1, node->operands, 1, axes);
  aj_value *init = all ? aj_build_broadcast_to(b, node->operands[1], all->type->rank, all->type->dims) : NULL;
  aj_op op = node->regions[0]->nodes[0]->op;
  return init && (node->results[0].forward = aj_build1(b, op, 2, (aj_value *[]){init, all}, 0, NULL));
}

static bool flatten_node(aj_builder *b, aj_region *region, aj_node *node, bool in_map, bool *changed) {
  aj_op reduction = find_plain_reduction(node);
  if (reduction != AJ_OP_NONE) {
    *changed = true;
    return reduce_by_op(b, region, node, reduction);
  }
  bool selects = in_map && becomes_selects(node);
  if (!selects && (node->op != AJ_OP_MAP || !is_plain_region(node->regions[0]))) return aj_region_append(region, node);
  *changed = true;
  return selects ? select_results(b, region, node) : spread_map(b, region, node);
}

static bool flatten_region(aj_builder *b, aj_region *region, bool in_map, bool *changed) {
  bool any = false;
  for (uint32_t i = 0; i < region->node_count && !any; i++)
    any = region->nodes[i]->op == AJ_OP_MAP || region->nodes[i]->op == AJ_OP_REDUCE ||
          (in_map && region->nodes[i]->op == AJ_OP_IF);
  if (!any) return true;
  aj_taken taken = aj_region_take(region);
  for (uint32_t i = 0; i < taken.count; i++) {
    aj_node *node = taken.nodes[i];
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    if (!flatten_node(b, region, node, in_map, changed)) return false;
  }
  return true;
}

/* Whether the region is a map's or lies in one: its owner is marked. */
static void mark_owner(const aj_region *region) {
  aj_node *owner = region->owner;
  const aj_node *outer = owner ? owner->parent->owner : NULL;
  if (owner) owner->mark = owner->op == AJ_OP_MAP || (outer && outer->mark);
}

arrjit_status aj_pass_flatten(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  aj_builder b;
  aj_builder_init(&b, ctx->module);
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = 0; i < regions.count; i++) mark_owner(regions.data[i]); /* owners come before what is inside */
  for (size_t i = regions.count; i-- > 0 && ok;) {
    const aj_node *owner = regions.data[i]->owner;
    ok = flatten_region(&b, regions.data[i], owner && owner->mark, out_changed);
  }
  AJ_VEC_FREE(ctx->mem, &regions);
  if (!aj_builder_ok(&b)) return aj_builder_status(&b, ctx->error);
  if (!ok) return aj_error_memory(ctx->error, "flatten");
  if (*out_changed) aj_func_resolve(func);
  return ARRJIT_OK;
}
