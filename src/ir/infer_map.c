/* map: its result types, and what may stand inside: scalars and exceptions, and ops whose effects end with the lane. */
#include <string.h>

#include "ir/infer.h"

bool aj_op_fits_map(aj_op op) {
  aj_rule rule = aj_ops[op].rule;
  bool control = rule == AJ_R_REGIONS || rule == AJ_R_LOOP || rule == AJ_R_CHECK || rule == AJ_R_NONE;
  bool exn = rule == AJ_R_EXN || rule == AJ_R_EXN_BOOL || rule == AJ_R_EXN_FIELD || rule == AJ_R_EXN_I64;
  return control || exn || op == AJ_OP_CONST || (aj_ops[op].flags & AJ_F_ELEMENTWISE);
}

arrjit_status aj_infer_lane(aj_infer *in, const aj_type *result) {
  if (!aj_op_fits_map(in->op))
    return aj_infer_fail(in, ARRJIT_MISUSE,
                         "has no place inside a map, where elementwise ops on scalars, control flow and failures are");
  if (!result || result->is_exn || result->rank == 0) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "gives %s, but inside a map there are scalars",
                       aj_infer_type_text(in, result).s);
}

/* What the walk goes by: when the verifier asks, nobody has looked at inner regions yet. */
static bool is_linked(const aj_node *node) {
  const aj_region *parent = node->parent;
  if (node->op <= AJ_OP_NONE || node->op >= AJ_OP_COUNT || node->pc >= parent->node_count ||
      parent->nodes[node->pc] != node)
    return false;
  for (uint32_t i = 0; i < node->region_count; i++)
    if (node->regions[i]->owner != node || node->regions[i]->index != i) return false;
  return true;
}

/* The node as the one that is looked at, so that messages name it. */
static arrjit_status check_inside(aj_infer *in, const aj_node *node) {
  if (!is_linked(node)) return aj_infer_fail(in, ARRJIT_GRAPH, "a node inside does not point back to its region");
  aj_infer inner = {.func = in->func, .op = node->op, .attrs_of = node, .error = in->error};
  AJ_TRY(aj_infer_lane(&inner, NULL));
  for (uint32_t i = 0; i < node->result_count; i++) AJ_TRY(aj_infer_lane(&inner, node->results[i].type));
  return ARRJIT_OK;
}

/* All nodes of the region and of those in it; the terminator comes last, and has no regions. */
static arrjit_status check_region(aj_infer *in, const aj_region *region) {
  const aj_node *node = region->nodes[0], *last = aj_region_terminator(region);
  aj_walk walk = {.func = in->func, .region = (aj_region *)region};
  for (; node != last; node = aj_walk_next(&walk)) AJ_TRY(check_inside(in, node));
  return ARRJIT_OK;
}

static arrjit_status check_operands(aj_infer *in, uint32_t args) {
  const aj_type *first = aj_infer_type(in, 0);
  for (uint32_t i = 0; i < args; i++) {
    const aj_type *type = aj_infer_type(in, i);
    AJ_TRY(aj_infer_array(in, i));
    if (type->rank != first->rank || memcmp(type->dims, first->dims, (size_t)type->rank * sizeof *type->dims) != 0)
      return aj_infer_fail(in, ARRJIT_TYPE, "args are %s; expected equal shapes", aj_infer_types_text(in, 0, args).s);
  }
  for (uint32_t i = args; i < in->operand_count; i++)
    if (!aj_type_is_scalar(aj_infer_type(in, i)))
      return aj_infer_fail(in, ARRJIT_TYPE,
                           "%s comes from outside; only scalars may be captured, pass arrays as arguments",
                           aj_infer_type_text(in, aj_infer_type(in, i)).s);
  return ARRJIT_OK;
}

static arrjit_status check_params(aj_infer *in, const aj_region *region) {
  if (region->param_count != in->operand_count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "lane has %u parameters; expected %u", region->param_count,
                         in->operand_count);
  for (uint32_t i = 0; i < region->param_count; i++) {
    const aj_type *param = region->params[i]->type;
    if (!aj_type_is_scalar(param) || param->dtype != aj_infer_type(in, i)->dtype)
      return aj_infer_fail(in, ARRJIT_GRAPH, "parameter %u of lane is %s; expected a scalar of %s", i,
                           aj_infer_type_text(in, param).s, aj_dtypes[aj_infer_type(in, i)->dtype].name);
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_map(aj_infer *in) {
  int64_t args = aj_infer_attr(in, AJ_ATTR_ARGS)->u.i;
  if (args < 1 || args > (int64_t)in->operand_count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "args is %lld, and %u operands came; expected at least one", (long long)args,
                         in->operand_count);
  AJ_TRY(aj_infer_expect_regions(in, 1));
  AJ_TRY(check_operands(in, (uint32_t)args));
  const aj_region *region = in->attrs_of->regions[0];
  AJ_TRY(check_params(in, region));
  AJ_TRY(check_region(in, region));
  const aj_node *end = aj_region_terminator(region);
  const aj_type *shape = aj_infer_type(in, 0);
  for (uint32_t i = 0; end->op == AJ_OP_YIELD && i < end->operand_count; i++) {
    const aj_type *type = end->operands[i]->type;
    if (!aj_type_is_scalar(type))
      return aj_infer_fail(in, ARRJIT_TYPE, "lane yields %s; expected a scalar", aj_infer_type_text(in, type).s);
    AJ_TRY(aj_infer_push_type(in, type->dtype, shape->rank, shape->dims));
  }
  return ARRJIT_OK;
}
