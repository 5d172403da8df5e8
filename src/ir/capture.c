/* Closing regions: values of outer regions that nodes of an arm or body use become parameters of it and operands of the
 * node that owns it. Inner constructs are closed before outer ones, so each node is looked at once, when its own region
 * closes. */
#include "ir/infer.h"

#include <string.h>

typedef AJ_VEC(aj_value *) capture_list;

/* A value's slot has no meaning before numbering: here it is the place in the list, right exactly when the list says
 * so. */
static bool is_captured(const capture_list *captures, const aj_value *value) {
  return value->slot < captures->count && captures->data[value->slot] == value;
}

/* All regions of a node get the same captures, in order of first use. */
static bool collect(aj_builder *b, const aj_region *region, capture_list *captures) {
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    const aj_node *node = region->nodes[pc];
    for (uint32_t i = 0; i < node->operand_count; i++) {
      aj_value *value = node->operands[i];
      if (value->region == region || is_captured(captures, value)) continue;
      value->slot = (uint32_t)captures->count;
      if (!AJ_VEC_PUSH(b->module->mem, captures, value)) return false;
    }
  }
  return true;
}

static bool bind_captures(aj_region *region, const capture_list *captures) {
  uint32_t base = region->param_count;
  for (size_t i = 0; i < captures->count; i++)
    if (!aj_region_add_param(region, captures->data[i]->type)) return false;
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    aj_node *node = region->nodes[pc];
    for (uint32_t i = 0; i < node->operand_count; i++)
      if (node->operands[i]->region != region) node->operands[i] = region->params[base + node->operands[i]->slot];
  }
  return true;
}

aj_node *aj_build_regions(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands,
                          uint32_t attr_count, const aj_attr *attrs, uint32_t region_count, aj_region *const *regions) {
  if (!aj_builder_ok(b)) return NULL;
  capture_list all = {0}, captures = {0};
  bool ok = true;
  for (uint32_t i = 0; ok && i < region_count; i++) ok = collect(b, regions[i], &captures);
  for (uint32_t i = 0; ok && i < region_count; i++) ok = bind_captures(regions[i], &captures);
  if (ok && AJ_VEC_RESERVE(b->module->mem, &all, operand_count + captures.count + 1)) {
    if (operand_count) memcpy(all.data, operands, operand_count * sizeof *operands);
    if (captures.count) memcpy(all.data + operand_count, captures.data, captures.count * sizeof *captures.data);
    all.count = operand_count + captures.count;
  } else {
    aj_builder_no_memory(b);
  }
  for (uint32_t i = 0; aj_builder_ok(b) && i < all.count; i++) aj_builder_check_operand(b, op, i, all.data[i]);
  aj_node *node = NULL;
  if (aj_builder_ok(b)) {
    aj_node probe = {.op = op,
                     .operand_count = (uint32_t)all.count,
                     .operands = all.data,
                     .attr_count = attr_count,
                     .attrs = (aj_attr *)(uintptr_t)attrs,
                     .region_count = region_count,
                     .regions = (aj_region **)(uintptr_t)regions};
    node = aj_builder_finish_node(b, &probe);
  }
  AJ_VEC_FREE(b->module->mem, &captures);
  AJ_VEC_FREE(b->module->mem, &all);
  return node;
}
