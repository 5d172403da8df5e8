/* sink: what only the payload of a raise needs is computed only when it is raised.
 *
 *   before   %1 = reduce_max %x : f32                   after    if %bad, %x { %1 = reduce_max %x : f32
 *            if %bad, %1 { raise %1 } { yield }                                raise %1 } { yield }
 *
 * A node moves into an arm that raises when it is pure and total, nothing else reads what it gives, and what it reads
 * stays in memory until there anyway or is small. From the last node on, so that whole chains follow.
 *
 * Requires: numbered regions. Must never move what may fail or has an effect. */
#include <string.h>

#include "opt/regions.h"

enum { SMALL_BYTES = 4096 };

typedef struct sink {
  aj_pass_ctx *ctx;
  aj_region *region;
  uint32_t *uses; /* [slot] operand places of the region that read it */
} sink;

static bool raises(const aj_region *region) {
  const aj_node *last = aj_region_terminator(region);
  return last && last->op == AJ_OP_RAISE;
}

static bool is_read(const aj_region *region, const aj_value *value) {
  for (uint32_t pc = 0; pc < region->node_count; pc++)
    for (uint32_t i = 0; i < region->nodes[pc]->operand_count; i++)
      if (region->nodes[pc]->operands[i] == value) return true;
  return false;
}

/* The one arm that reads capture c, when it raises; NULL otherwise. */
static aj_region *find_arm(const aj_node *owner, uint32_t c) {
  aj_region *found = NULL;
  for (uint32_t r = 0; r < owner->region_count; r++) {
    if (!is_read(owner->regions[r], owner->regions[r]->params[c])) continue;
    if (found || !raises(owner->regions[r])) return NULL;
    found = owner->regions[r];
  }
  return found;
}

static bool is_small(const aj_type *type) {
  if (type->is_exn) return false;
  int64_t bytes = aj_dtypes[type->dtype].bytes;
  for (int32_t d = 0; d < type->rank; d++)
    if (aj_dim_is_symbol(type->dims[d]) || !aj_i64_mul(bytes, type->dims[d], &bytes)) return false;
  return bytes <= SMALL_BYTES;
}

static uint32_t find_capture(const aj_node *owner, const aj_value *value) {
  uint32_t start = aj_node_capture_start(owner);
  for (uint32_t i = start; i < owner->operand_count; i++)
    if (owner->operands[i] == value) return i - start;
  return UINT32_MAX;
}

/* Whether the value is in memory at `owner` whatever this pass does, or costs little to keep. */
static bool stays(const aj_node *owner, const aj_value *value) {
  return !value->def || value->def->op == AJ_OP_CONST || is_small(value->type) ||
         find_capture(owner, value) != UINT32_MAX || owner->parent->last_use[value->slot] > owner->pc;
}

/* Whether the node that gives capture c can go into `arm`: all it gives is read there alone. */
static bool can_sink(const sink *s, const aj_node *owner, uint32_t c, const aj_region *arm) {
  const aj_node *node = owner->operands[aj_node_capture_start(owner) + c]->def;
  if (!node || node->op == AJ_OP_CONST || node->op == AJ_OP_CALLBACK || !aj_node_is_pure(node)) return false;
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_value *result = &node->results[i];
    uint32_t at = s->uses[result->slot] ? find_capture(owner, result) : UINT32_MAX;
    if (s->uses[result->slot] > 1) return false;
    if (s->uses[result->slot] == 1 && (at == UINT32_MAX || find_arm(owner, at) != arm)) return false;
  }
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!stays(owner, node->operands[i])) return false;
  return true;
}

static void drop_capture(aj_node *owner, uint32_t c) {
  uint32_t start = aj_node_capture_start(owner);
  owner->operand_count--;
  for (uint32_t i = start + c; i < owner->operand_count; i++) owner->operands[i] = owner->operands[i + 1];
  for (uint32_t r = 0; r < owner->region_count; r++) {
    aj_region *region = owner->regions[r];
    region->param_count--;
    for (uint32_t i = c; i < region->param_count; i++) {
      region->params[i] = region->params[i + 1];
      region->params[i]->index = i;
    }
  }
}

/* The value as the arm sees it; NULL: no memory. */
static aj_value *capture(sink *s, aj_node *owner, aj_region *arm, aj_value *value) {
  uint32_t c = find_capture(owner, value);
  if (c != UINT32_MAX) {
    s->uses[value->slot]--; /* the node's reading becomes one with the capture's */
    return arm->params[c];
  }
  c = owner->operand_count - aj_node_capture_start(owner);
  if (!aj_node_add_operand(owner, value)) return NULL;
  for (uint32_t r = 0; r < owner->region_count; r++)
    if (!aj_region_add_param(owner->regions[r], value->type)) return NULL;
  return arm->params[c];
}

/* Moves the node to the start of the arm. It is left in the list of its old region, whose child it is no more. */
static bool move(sink *s, aj_node *owner, aj_region *arm, aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    uint32_t c = find_capture(owner, &node->results[i]);
    if (c == UINT32_MAX) continue;
    arm->params[c]->forward = &node->results[i];
    drop_capture(owner, c);
  }
  for (uint32_t pc = 0; pc < arm->node_count; pc++)
    for (uint32_t i = 0; i < arm->nodes[pc]->operand_count; i++)
      arm->nodes[pc]->operands[i] = aj_value_resolve(arm->nodes[pc]->operands[i]);
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!(node->operands[i] = capture(s, owner, arm, node->operands[i]))) return false;
  return aj_region_insert(arm, 0, node);
}

/* Until nothing more goes: of what can, what was computed last goes first, as what it reads may follow. */
static bool sink_into(sink *s, aj_node *owner, bool *changed) {
  for (;;) {
    uint32_t start = aj_node_capture_start(owner);
    aj_node *next = NULL;
    aj_region *into = NULL;
    for (uint32_t i = start; i < owner->operand_count; i++) {
      aj_node *node = owner->operands[i]->def;
      if (!node || (next && node->pc <= next->pc)) continue;
      aj_region *arm = find_arm(owner, i - start);
      if (!arm || !can_sink(s, owner, i - start, arm)) continue;
      next = node;
      into = arm;
    }
    if (!next) return true;
    if (!move(s, owner, into, next)) return false;
    *changed = true;
  }
}

static bool has_raising_arm(const aj_node *node) {
  if (node->op != AJ_OP_IF && node->op != AJ_OP_SWITCH) return false;
  for (uint32_t r = 0; r < node->region_count; r++)
    if (raises(node->regions[r])) return true;
  return false;
}

static bool sink_region(sink *s, bool *changed) {
  aj_region *region = s->region;
  bool ok = true, moved = false;
  s->uses = aj_mem_array(s->ctx->mem, (size_t)region->slot_count + 1, sizeof *s->uses);
  if (!s->uses) return false;
  for (uint32_t pc = 0; pc < region->node_count; pc++)
    for (uint32_t i = 0; i < region->nodes[pc]->operand_count; i++) s->uses[region->nodes[pc]->operands[i]->slot]++;
  for (uint32_t pc = region->node_count; pc-- > 0 && ok;)
    if (region->nodes[pc]->parent == region && has_raising_arm(region->nodes[pc]))
      ok = sink_into(s, region->nodes[pc], &moved);
  uint32_t kept = 0;
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    if (region->nodes[pc]->parent != region) continue;
    region->nodes[kept] = region->nodes[pc];
    region->nodes[kept]->pc = kept;
    kept++;
  }
  region->node_count = kept;
  aj_mem_free(s->ctx->mem, s->uses, ((size_t)region->slot_count + 1) * sizeof *s->uses);
  if (moved) *changed = true;
  return ok;
}

/* Inner regions first: their numbers are right until something moves into them. */
arrjit_status aj_pass_sink(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = regions.count; i-- > 0 && ok;) {
    sink s = {.ctx = ctx, .region = regions.data[i]};
    ok = sink_region(&s, out_changed);
  }
  AJ_VEC_FREE(ctx->mem, &regions);
  return ok ? ARRJIT_OK : aj_error_memory(ctx->error, "sink");
}
