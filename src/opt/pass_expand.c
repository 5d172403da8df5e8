/* expand: every EXPAND op, and every reduction and cumulative op of 16-bit floats, becomes the ops it is made of
 * (src/sem has the expansions).
 *
 *   before   %1 = mean %0 {axes = [0]} : f64
 *   after    %1 = reduce_sum %0 {axes = [0]} : f64
 *            %2 = const ... : f64
 *            %3 = div %1, %2 : f64
 *
 * Requires: nothing. Preserves: everything but node numbers. Must never touch an op of another class. */
#include "opt/regions.h"

static arrjit_status expand_region(aj_builder *b, aj_region *region, bool *changed) {
  bool any = false;
  for (uint32_t i = 0; i < region->node_count && !any; i++) any = aj_sem_expands(region->nodes[i]);
  if (!any) return ARRJIT_OK;
  *changed = true;
  aj_taken taken = aj_region_take(region);
  for (uint32_t i = 0; i < taken.count; i++) {
    aj_node *node = taken.nodes[i];
    if (!aj_sem_expands(node)) {
      if (!aj_region_append(region, node)) return ARRJIT_MEMORY;
      continue;
    }
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    aj_builder_at(b, region, node);
    aj_value *value = aj_sem_expand(b, node);
    if (!value) return aj_builder_ok(b) ? ARRJIT_MEMORY : ARRJIT_INTERNAL;
    node->results[0].forward = value;
  }
  return ARRJIT_OK;
}

arrjit_status aj_pass_expand(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  aj_builder b;
  aj_builder_init(&b, ctx->module);
  arrjit_status status = aj_regions_list(ctx->mem, func, &regions) ? ARRJIT_OK : ARRJIT_MEMORY;
  for (size_t i = 0; i < regions.count && status == ARRJIT_OK; i++)
    status = expand_region(&b, regions.data[i], out_changed);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (status == ARRJIT_INTERNAL) return aj_builder_status(&b, ctx->error);
  if (status == ARRJIT_MEMORY) return aj_error_memory(ctx->error, "expand");
  if (*out_changed) aj_func_resolve(func);
  return ARRJIT_OK;
}
