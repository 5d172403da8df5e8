/* check: a check becomes a branch to an arm that raises; whether all of an array holds becomes where it first does not.
 *
 *   before   %1 = check %p, %x {payload = 0 ...} : f32[n]     after   %1 = first_false %p : i64
 *            %2 = neg %1 : f32[n]                                     %2 = ge %1, 0 : bool
 *                                                                     if %2, %1 { raise %1 } { yield }
 *                                                                     %3 = neg %x : f32[n]
 *
 * What passed through a check is used as it is: the check stays where it stood, and nothing moves over an effect but
 * what is pure and total. So the work of a payload can go into the arm (sink), the predicate into a kernel (fuse), and
 * that kernel together with one that reads the same arrays (join).
 *
 * Requires: nothing. Preserves: number, order and place in the trace of all failures: the raise has the check's origin.
 */
#include "opt/regions.h"

/* An arm that only ends. */
static aj_region *build_pass_arm(aj_builder *b, aj_func *func, uint32_t index) {
  b->region = aj_region_create(func, NULL, index);
  if (!b->region) return NULL;
  aj_build(b, AJ_OP_YIELD, 0, NULL, 0, NULL);
  return b->region;
}

/* The raise of a check's failure; `lane` is NULL when its predicate is a scalar. */
static aj_region *build_raise_arm(aj_builder *b, const aj_node *check, aj_value *lane, uint32_t index) {
  uint32_t count = (uint32_t)aj_node_int(check, AJ_ATTR_PAYLOAD), attr_count = 0;
  aj_attr attrs[3];
  for (uint32_t i = 0; i < check->attr_count; i++)
    if (check->attrs[i].name != AJ_ATTR_PAYLOAD && attr_count < AJ_COUNT(attrs)) attrs[attr_count++] = check->attrs[i];
  aj_region *arm = b->region = aj_region_create(check->parent->func, NULL, index);
  aj_value **payload = AJ_NEW_ARRAY(&b->module->arena, (size_t)count + 1, aj_value *);
  if (!arm || !payload) return NULL;
  for (uint32_t i = 0; i < count; i++) payload[i] = check->operands[1 + i];
  if (lane) payload[count++] = lane;
  aj_build(b, AJ_OP_RAISE, count, payload, attr_count, attrs);
  return arm;
}

static aj_value *build_is_false(aj_builder *b, aj_value *pred, aj_value **out_lane) {
  static const int64_t zero = 0;
  *out_lane = aj_build1(b, AJ_OP_FIRST_FALSE, 1, &pred, 0, NULL);
  aj_value *both[] = {*out_lane, aj_build_scalar(b, ARRJIT_I64, &zero)};
  return aj_build1(b, AJ_OP_GE, 2, both, 0, NULL);
}

static bool build_check(aj_builder *b, aj_region *region, const aj_node *check) {
  aj_value *pred = check->operands[0], *lane = NULL;
  uint32_t raising = 1; /* the arm of a predicate that is false */
  if (pred->type->rank > 0) {
    pred = build_is_false(b, pred, &lane);
    raising = 0;
  }
  if (!pred) return false;
  aj_region *arms[2];
  arms[raising] = build_raise_arm(b, check, lane, raising);
  arms[1 - raising] = build_pass_arm(b, region->func, 1 - raising);
  b->region = region;
  if (!arms[0] || !arms[1] || !aj_build_regions(b, AJ_OP_IF, 1, &pred, 0, NULL, 2, arms)) return false;
  uint32_t first = check->operand_count - check->result_count;
  for (uint32_t i = 0; i < check->result_count; i++)
    check->results[i].forward = aj_value_resolve(check->operands[first + i]);
  return true;
}

/* Whether everything of an array holds. */
static bool is_all(const aj_node *node) {
  if (node->op != AJ_OP_REDUCE_AND || node->results[0].type->dtype != ARRJIT_BOOL) return false;
  int32_t rank = node->operands[0]->type->rank;
  return rank > 0 && aj_node_attr(node, AJ_ATTR_AXES)->count == (uint32_t)rank;
}

static bool build_all(aj_builder *b, aj_node *node) {
  static const int64_t zero = 0;
  aj_value *both[2] = {aj_build1(b, AJ_OP_FIRST_FALSE, 1, node->operands, 0, NULL)};
  both[1] = aj_build_scalar(b, ARRJIT_I64, &zero);
  node->results[0].forward = aj_build1(b, AJ_OP_LT, 2, both, 0, NULL);
  return node->results[0].forward != NULL;
}

static bool rewrite_region(aj_builder *b, aj_region *region, bool *changed) {
  aj_taken taken = aj_region_take(region);
  for (uint32_t i = 0; i < taken.count; i++) {
    aj_node *node = taken.nodes[i];
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    bool check = node->op == AJ_OP_CHECK;
    if (!check && !is_all(node)) {
      if (!aj_region_append(region, node)) return false;
      continue;
    }
    aj_builder_at(b, region, node);
    if (check ? !build_check(b, region, node) : !build_all(b, node)) return false;
    *changed = true;
  }
  return true;
}

/* Lanes of a map raise by masks, whatever the form. */
static bool is_in_map(const aj_region *region) {
  for (; region->owner; region = region->owner->parent)
    if (region->owner->op == AJ_OP_MAP) return true;
  return false;
}

arrjit_status aj_pass_check(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  aj_builder b;
  aj_builder_init(&b, ctx->module);
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = 0; i < regions.count && ok; i++)
    if (!is_in_map(regions.data[i])) ok = rewrite_region(&b, regions.data[i], out_changed);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (!aj_builder_ok(&b)) return aj_builder_status(&b, ctx->error);
  if (!ok) return aj_error_memory(ctx->error, "check");
  if (*out_changed) aj_func_resolve(func);
  return ARRJIT_OK;
}
