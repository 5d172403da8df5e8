/* Maps on vectors of lanes: if, switch and try. An arm runs under the mask of the lanes that take it; one with much to
 * do is skipped when there are none. */
#include "native/lower_map.h"

enum { LIGHT_NODES = 16 }; /* of an arm that is cheaper to run for nobody than to jump over */

aj_lane_scope aj_lanes_enter(aj_lanes *m, const aj_lane_scope *s, const aj_node *node, uint32_t index,
                             LLVMValueRef active) {
  const aj_region *region = node->regions[index];
  aj_lane_scope inner = {.region = region,
                         .vals = AJ_NEW_ARRAY(m->lo->arena, region->slot_count, aj_lane_value),
                         .active = active,
                         .inside = s->inside};
  uint32_t start = aj_node_capture_start(node), captures = node->operand_count - start;
  uint32_t first = region->param_count - captures;
  for (uint32_t i = 0; i < captures && inner.vals; i++)
    inner.vals[region->params[first + i]->slot] = s->vals[node->operands[start + i]->slot];
  return inner;
}

/* What an arm has given: values by result, without one where it has none; lanes at its end. */
typedef struct arm {
  aj_lane_value *values;
  LLVMValueRef active;
} arm;

static bool is_light(const aj_region *region) {
  for (uint32_t i = 0; i < region->node_count; i++)
    if (region->nodes[i]->region_count) return false;
  return region->node_count <= LIGHT_NODES;
}

/* Values that are only there when the arm has run; elsewhere zeros. */
static void join_skipped(aj_lanes *m, const aj_node *node, arm *a, LLVMBasicBlockRef skipped, LLVMBasicBlockRef join) {
  aj_lower *lo = m->lo;
  LLVMBasicBlockRef end = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, join);
  aj_ir_at(lo, join);
  a->active = aj_ir_phi(lo, m->mask, a->active, end);
  aj_ir_add_incoming(a->active, LLVMConstNull(m->mask), skipped);
  for (uint32_t i = 0; i < node->result_count; i++) {
    LLVMValueRef v = a->values[i].v;
    if (!v) continue;
    a->values[i] = (aj_lane_value){.v = aj_ir_phi(lo, LLVMTypeOf(v), v, end), .nan = a->values[i].nan};
    aj_ir_add_incoming(a->values[i].v, LLVMConstNull(LLVMTypeOf(v)), skipped);
  }
}

static arm lower_arm(aj_lanes *m, const aj_lane_scope *s, const aj_node *node, uint32_t index, LLVMValueRef mask,
                     const aj_lane_try *inside) {
  aj_lower *lo = m->lo;
  arm out = {.values = AJ_NEW_ARRAY(lo->arena, node->result_count, aj_lane_value)};
  aj_lane_scope inner = aj_lanes_enter(m, s, node, index, mask);
  if (lo->arena->failed) return out;
  inner.inside = inside;
  LLVMBasicBlockRef skipped = LLVMGetInsertBlock(lo->b), join = NULL;
  if (!is_light(inner.region)) {
    LLVMBasicBlockRef run = aj_ir_block(lo, "arm");
    join = aj_ir_block(lo, "join");
    LLVMBuildCondBr(lo->b, aj_lanes_any(m, mask), run, join);
    aj_ir_at(lo, run);
  }
  const aj_node *yield = aj_lanes_region(m, &inner);
  out.active = inner.active;
  for (uint32_t i = 0; yield && i < node->result_count; i++) out.values[i] = inner.vals[yield->operands[i]->slot];
  if (join && !lo->arena->failed) join_skipped(m, node, &out, skipped, join);
  return out;
}

/* Results of a node: those without a value, which no lane has, are zeros. */
static void set_results(aj_lanes *m, aj_lane_scope *s, const aj_node *node, const aj_lane_value *values) {
  for (uint32_t i = 0; i < node->result_count; i++)
    s->vals[node->results[i].slot] = values[i].v ? values[i] : aj_lanes_zero(m, node->results[i].type);
}

static void blend_arm(aj_lanes *m, const aj_node *node, LLVMValueRef mask, const arm *a, arm *sum) {
  for (uint32_t i = 0; i < node->result_count; i++)
    sum->values[i] = aj_lanes_blend(m, node->results[i].type, mask, a->values[i], sum->values[i]);
  sum->active = LLVMBuildOr(m->lo->b, sum->active, a->active, "");
}

/* Lanes that take case `index`, whether active or not. */
static LLVMValueRef takes_case(aj_lanes *m, const aj_lane_scope *s, const aj_node *node, uint32_t index) {
  LLVMValueRef selector = s->vals[node->operands[0]->slot].v;
  if (node->op == AJ_OP_IF) return selector;
  LLVMValueRef number = aj_ir_int(m->lo, node->operands[0]->type->dtype, m->lanes, index);
  return aj_lanes_mask(m, LLVMBuildICmp(m->lo->b, LLVMIntEQ, selector, number, ""));
}

/* Cases by number, the last for all lanes that no other takes; an else is the last of two. */
void aj_lanes_if(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  LLVMBuilderRef b = m->lo->b;
  uint32_t last = node->region_count - 1, leaves = m->leaves;
  LLVMValueRef *takes = AJ_NEW_ARRAY(m->lo->arena, last, LLVMValueRef), rest = s->active;
  arm *arms = AJ_NEW_ARRAY(m->lo->arena, last, arm);
  if (m->lo->arena->failed) return;
  for (uint32_t i = 0; i < last; i++) {
    takes[i] = takes_case(m, s, node, i);
    rest = aj_lanes_without(m, rest, takes[i]);
    arms[i] = lower_arm(m, s, node, i, LLVMBuildAnd(b, s->active, takes[i], ""), s->inside);
    if (m->lo->arena->failed) return;
  }
  arm sum = lower_arm(m, s, node, last, rest, s->inside);
  for (uint32_t i = 0; i < last && !m->lo->arena->failed; i++) blend_arm(m, node, takes[i], &arms[i], &sum);
  if (m->lo->arena->failed) return;
  set_results(m, s, node, sum.values);
  if (m->leaves != leaves) s->active = sum.active;
}

/* ---- try ---- */

/* Masks of the lanes that go to handlers, where they can: to those that do not look at the exception. */
static void make_caught(aj_lanes *m, aj_lane_try *t, uint32_t handlers) {
  aj_lower *lo = m->lo;
  t->caught = AJ_NEW_ARRAY(lo->arena, handlers, LLVMValueRef);
  t->used = AJ_NEW_ARRAY(lo->arena, handlers, bool);
  for (uint32_t i = 0; i < handlers && !lo->arena->failed; i++) {
    const aj_region *handler = t->node->regions[1 + i];
    if (handler->last_use[handler->params[0]->slot] != AJ_UNUSED) continue;
    t->caught[i] = aj_ir_alloca(lo, m->mask, 1, AJ_NH_ALIGN);
    LLVMBuildStore(lo->b, LLVMConstNull(m->mask), t->caught[i]);
  }
}

LLVMValueRef aj_lanes_stayed(aj_lanes *m, const aj_lane_scope *s) {
  LLVMValueRef active = s->active;
  for (const aj_lane_try *t = s->inside; t; t = t->outer)
    for (uint32_t i = 0; t->caught && i < aj_node_attr(t->node, AJ_ATTR_KINDS)->count; i++)
      if (t->used[i] && t->caught[i]) active = aj_lanes_without(m, active, aj_ir_load(m->lo, m->mask, t->caught[i]));
  return active;
}

/* The finally yields nothing and can only fail; it runs for the lanes that end normally. What fails on its way out has
 * given the vector up. */
static void lower_finally(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lane_scope inner = aj_lanes_enter(m, s, node, node->region_count - 1, s->active);
  if (m->lo->arena->failed) return;
  aj_lanes_region(m, &inner);
  s->active = inner.active;
}

void aj_lanes_try(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lower *lo = m->lo;
  bool has_finally = aj_node_int(node, AJ_ATTR_FINALLY) != 0;
  uint32_t handlers = node->region_count - 1 - has_finally, leaves = m->leaves;
  aj_lane_try t = {.outer = s->inside, .node = node};
  const aj_lane_try behind = {.outer = s->inside, .node = node}, *outside = has_finally ? &behind : s->inside;
  make_caught(m, &t, handlers);
  if (lo->arena->failed) return;
  arm sum = lower_arm(m, s, node, 0, s->active, &t);
  for (uint32_t i = 0; i < handlers && !lo->arena->failed; i++) {
    if (!t.used[i] || !t.caught[i]) continue;
    LLVMValueRef mask = aj_ir_load(lo, m->mask, t.caught[i]);
    arm handled = lower_arm(m, s, node, 1 + i, mask, outside);
    if (!lo->arena->failed) blend_arm(m, node, mask, &handled, &sum);
  }
  if (lo->arena->failed) return;
  set_results(m, s, node, sum.values);
  if (m->leaves != leaves) s->active = sum.active;
  if (has_finally) lower_finally(m, s, node);
}
