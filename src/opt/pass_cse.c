/* cse: of equal pure nodes of one region the first is kept.
 *
 *   before   %1 = mul %0, %0 : f64        after    %1 = mul %0, %0 : f64
 *            %2 = mul %0, %0 : f64                 %2 = add %1, %1 : f64
 *            %3 = add %1, %2 : f64
 *
 * Requires: nothing. Leaves the second node in place, unused: dce takes it. Must never merge what may fail or has an
 * effect, nor exceptions, which are themselves even when equal, nor look into another region: what a region uses is its
 * own. */
#include <string.h>

#include "opt/regions.h"

static uint64_t hash_attr(const aj_attr *attr, uint64_t h) {
  h = aj_hash_u64((uint64_t)attr->name << 32 | attr->count, h);
  switch (aj_attrs[attr->name].form) {
  case AJ_FORM_INTS:
  case AJ_FORM_DIMS: return aj_hash_bytes(attr->u.ints, attr->count * sizeof(int64_t), h);
  case AJ_FORM_BYTES: return aj_hash_bytes(attr->u.bytes, attr->count, h);
  case AJ_FORM_TEXT: return attr->u.text ? aj_hash_bytes(attr->u.text, attr->count, h) : h;
  case AJ_FORM_INT:
  case AJ_FORM_DTYPE:
  case AJ_FORM_KIND:
  case AJ_FORM_SLOT:
  case AJ_FORM_FUNC: return aj_hash_u64((uint64_t)attr->u.i, h);
  }
  return h;
}

static bool attrs_equal(const aj_attr *a, const aj_attr *b) {
  if (a->name != b->name || a->count != b->count) return false;
  switch (aj_attrs[a->name].form) {
  case AJ_FORM_INTS:
  case AJ_FORM_DIMS: return a->count == 0 || !memcmp(a->u.ints, b->u.ints, a->count * sizeof(int64_t));
  case AJ_FORM_BYTES: return a->count == 0 || !memcmp(a->u.bytes, b->u.bytes, a->count);
  case AJ_FORM_TEXT:
    if (!a->u.text || !b->u.text) return a->u.text == b->u.text;
    return !strcmp(a->u.text, b->u.text);
  case AJ_FORM_INT:
  case AJ_FORM_DTYPE:
  case AJ_FORM_KIND:
  case AJ_FORM_SLOT:
  case AJ_FORM_FUNC: return a->u.i == b->u.i;
  }
  return false;
}

static uint64_t hash_node(const aj_node *node) {
  uint64_t h = aj_hash_u64(node->op, 0);
  for (uint32_t i = 0; i < node->operand_count; i++) h = aj_hash_u64((uint64_t)(uintptr_t)node->operands[i], h);
  for (uint32_t i = 0; i < node->attr_count; i++) h = hash_attr(&node->attrs[i], h);
  return h;
}

static bool nodes_equal(const void *user, uint32_t index, const void *key) {
  const aj_region *region = user;
  const aj_node *a = region->nodes[index], *b = key;
  if (a->op != b->op || a->operand_count != b->operand_count || a->attr_count != b->attr_count ||
      a->result_count != b->result_count)
    return false;
  for (uint32_t i = 0; i < a->operand_count; i++)
    if (a->operands[i] != b->operands[i]) return false;
  for (uint32_t i = 0; i < a->attr_count; i++)
    if (!attrs_equal(&a->attrs[i], &b->attrs[i])) return false;
  for (uint32_t i = 0; i < a->result_count; i++)
    if (!aj_type_equal(a->results[i].type, b->results[i].type)) return false;
  return true;
}

static bool may_merge(const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++)
    if (node->results[i].type->is_exn) return false;
  return node->region_count == 0 && node->result_count && aj_node_is_pure(node);
}

static bool merge_region(aj_map *seen, aj_region *region, bool *changed) {
  aj_map_clear(seen);
  for (uint32_t i = 0; i < region->node_count; i++) {
    aj_node *node = region->nodes[i];
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    if (!may_merge(node)) continue;
    uint64_t hash = hash_node(node);
    uint32_t first = aj_map_find(seen, hash, nodes_equal, region, node);
    if (first == AJ_MAP_NONE) {
      if (!aj_map_put(seen, hash, i)) return false;
      continue;
    }
    for (uint32_t k = 0; k < node->result_count; k++) node->results[k].forward = &region->nodes[first]->results[k];
    *changed = true;
  }
  return true;
}

arrjit_status aj_pass_cse(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  aj_map seen;
  aj_map_init(&seen, ctx->mem);
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = 0; i < regions.count && ok; i++) ok = merge_region(&seen, regions.data[i], out_changed);
  aj_map_free(&seen);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (*out_changed) aj_func_resolve(func);
  return ok ? ARRJIT_OK : aj_error_memory(ctx->error, "cse");
}
