/* dce: what nobody sees goes: pure nodes without a used result, captures that no region reads, what stands behind a
 * raise.
 *
 *   before   %1 = exp %0 : f64            after    yield %0
 *            yield %0
 *
 * Requires: nothing. Must never drop what may fail or has an effect, nor a carried value of a loop. */
#include "opt/regions.h"

/* ---- captures ---- */

/* Marks parameters that some node reads. Regions' params have `index`; marks are one byte a capture. */
static bool drop_captures(aj_mem *mem, aj_node *node, bool *changed) {
  uint32_t start = aj_node_capture_start(node);
  if (node->op == AJ_OP_KERNEL || node->op == AJ_OP_CALL || node->operand_count == start) return true;
  uint32_t count = node->operand_count - start;
  uint8_t *used = aj_mem_alloc(mem, count);
  if (!used) return false;
  for (uint32_t r = 0; r < node->region_count; r++) {
    aj_region *region = node->regions[r];
    uint32_t first = region->param_count - count;
    for (uint32_t i = 0; i < region->node_count; i++)
      for (uint32_t k = 0; k < region->nodes[i]->operand_count; k++) {
        const aj_value *v = region->nodes[i]->operands[k];
        if (!v->def && v->index >= first) used[v->index - first] = 1;
      }
  }
  uint32_t kept = 0;
  for (uint32_t c = 0; c < count; c++) {
    if (!used[c]) continue;
    node->operands[start + kept] = node->operands[start + c];
    for (uint32_t r = 0; r < node->region_count; r++) {
      aj_region *region = node->regions[r];
      uint32_t first = region->param_count - count;
      region->params[first + kept] = region->params[first + c];
      region->params[first + kept]->index = first + kept;
    }
    kept++;
  }
  for (uint32_t r = 0; r < node->region_count && kept < count; r++) node->regions[r]->param_count -= count - kept;
  if (kept < count) *changed = true;
  node->operand_count = start + kept;
  aj_mem_free(mem, used, count);
  return true;
}

/* ---- marking: node->mark has these bits ---- */

enum { STAYS = 1, IMPURE = 2 };

/* What may fail or has an effect, in the node or inside it. Inner regions come last in the list, so that each node is
 * looked at once however deep it is. */
static void mark_impure(const aj_region_list *regions) {
  for (size_t i = regions->count; i-- > 0;) {
    aj_region *region = regions->data[i];
    for (uint32_t k = 0; k < region->node_count; k++) {
      aj_node *node = region->nodes[k];
      if (!aj_node_is_quiet(node)) node->mark |= IMPURE;
      if (region->owner) region->owner->mark |= node->mark & IMPURE;
    }
  }
}

typedef AJ_VEC(aj_node *) node_stack;

static bool mark(aj_mem *mem, node_stack *stack, aj_node *node) {
  if (node->mark & STAYS) return true;
  node->mark |= STAYS;
  return AJ_VEC_PUSH(mem, stack, node);
}

/* What stays by itself: terminators, and what may fail or has an effect. */
static bool mark_roots(aj_mem *mem, node_stack *stack, aj_region *region) {
  for (uint32_t i = 0; i < region->node_count; i++) {
    aj_node *node = region->nodes[i];
    bool root = (aj_ops[node->op].flags & AJ_F_TERMINATOR) || (node->mark & IMPURE);
    if (root && !mark(mem, stack, node)) return false;
  }
  return true;
}

static bool mark_all(aj_mem *mem, aj_func *func) {
  node_stack stack = {0};
  bool ok = mark_roots(mem, &stack, func->root);
  while (ok && stack.count) {
    aj_node *node = stack.data[--stack.count];
    for (uint32_t k = 0; k < node->operand_count && ok; k++)
      if (node->operands[k]->def) ok = mark(mem, &stack, node->operands[k]->def);
    for (uint32_t r = 0; r < node->region_count && ok; r++) ok = mark_roots(mem, &stack, node->regions[r]);
  }
  AJ_VEC_FREE(mem, &stack);
  return ok;
}

static void sweep_region(aj_region *region, bool *changed) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < region->node_count; i++)
    if (region->nodes[i]->mark & STAYS) region->nodes[kept++] = region->nodes[i];
  if (kept < region->node_count) *changed = true;
  region->node_count = kept;
}

/* Nodes behind the first terminator are unreachable. */
static void cut_region(aj_region *region, bool *changed) {
  for (uint32_t i = 0; i + 1 < region->node_count; i++)
    if (aj_ops[region->nodes[i]->op].flags & AJ_F_TERMINATOR) {
      region->node_count = i + 1;
      *changed = true;
    }
}

static bool clean_func(aj_mem *mem, aj_func *func, aj_region_list *regions, bool *changed) {
  for (size_t i = 0; i < regions->count; i++) {
    cut_region(regions->data[i], changed);
    for (uint32_t k = 0; k < regions->data[i]->node_count; k++) regions->data[i]->nodes[k]->mark = 0;
  }
  mark_impure(regions);
  if (!mark_all(mem, func)) return false;
  /* inner regions first, so that a capture only an inner capture reads goes in the same pass */
  for (size_t i = regions->count; i-- > 0;) {
    aj_region *region = regions->data[i];
    if (region->owner && !(region->owner->mark & STAYS)) continue;
    sweep_region(region, changed);
    for (uint32_t k = 0; k < region->node_count; k++)
      if (region->nodes[k]->region_count && !drop_captures(mem, region->nodes[k], changed)) return false;
  }
  return true;
}

arrjit_status aj_pass_dce(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  if (!func->root) return ARRJIT_OK;
  aj_region_list regions = {0};
  bool ok = aj_regions_list(ctx->mem, func, &regions) && clean_func(ctx->mem, func, &regions, out_changed);
  AJ_VEC_FREE(ctx->mem, &regions);
  return ok ? ARRJIT_OK : aj_error_memory(ctx->error, "dce");
}
