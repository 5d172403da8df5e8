/* Shared by the passes: region lists and rebuilding. */
#include "opt/regions.h"

bool aj_regions_list(aj_mem *mem, aj_func *func, aj_region_list *out) {
  if (!func->root) return true;
  if (!AJ_VEC_PUSH(mem, out, func->root)) return false;
  aj_walk walk;
  aj_walk_start(&walk, func);
  for (aj_node *node; (node = aj_walk_next(&walk));)
    for (uint32_t i = 0; i < node->region_count; i++)
      if (!AJ_VEC_PUSH(mem, out, node->regions[i])) return false;
  return true;
}

aj_taken aj_region_take(aj_region *region) {
  aj_taken taken = {region->nodes, region->node_count};
  region->nodes = NULL;
  region->node_count = region->node_capacity = 0;
  return taken;
}

bool aj_region_splice(aj_region *region, aj_node *node, aj_region *arm, bool *out_ended) {
  uint32_t start = aj_node_capture_start(node);
  for (uint32_t i = 0; i < arm->param_count; i++) arm->params[i]->forward = node->operands[start + i];
  for (uint32_t i = 0; i < arm->node_count; i++) {
    aj_node *inner = arm->nodes[i];
    if (inner->op == AJ_OP_YIELD) {
      for (uint32_t k = 0; k < node->result_count; k++) node->results[k].forward = aj_value_resolve(inner->operands[k]);
      return true;
    }
    for (uint32_t k = 0; k < inner->operand_count; k++) inner->operands[k] = aj_value_resolve(inner->operands[k]);
    if (!aj_region_append(region, inner)) return false;
    *out_ended = (aj_ops[inner->op].flags & AJ_F_TERMINATOR) != 0;
  }
  return true;
}

void aj_builder_at(aj_builder *b, aj_region *region, const aj_node *node) {
  b->func = region->func;
  b->region = region;
  b->source = node->source;
  b->origin = node->origin;
}

arrjit_status aj_builder_status(const aj_builder *b, arrjit_error *error) {
  if (aj_builder_ok(b)) return ARRJIT_OK;
  if (error) *error = b->error;
  return b->error.status == ARRJIT_MEMORY
             ? ARRJIT_MEMORY
             : aj_error_set(error, ARRJIT_INTERNAL, "a pass built a bad node: %.400s", b->error.message);
}

bool aj_value_const(const aj_value *value, const void **out) {
  if (!value->def || value->def->op != AJ_OP_CONST || value->type->is_exn) return false;
  const aj_attr *data = aj_node_attr(value->def, AJ_ATTR_VALUE);
  if (data->count != aj_dtypes[value->type->dtype].bytes) return false;
  *out = data->u.bytes;
  return true;
}
