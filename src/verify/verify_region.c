/* The verifier: regions and nodes of a function. What a node has to be by its op is asked of inference, which knows
 * operand counts, attributes, regions' parameters and terminators, payloads; here is what holds between nodes, and the
 * numbering. */
#include <string.h>

#include "verify/checker.h"

typedef struct frame {
  const aj_region *region;
  uint32_t pc;
  size_t open; /* extents bound by callbacks when it begins */
} frame;
typedef AJ_VEC(frame) frame_stack;

static const char *name_owner(const aj_checker *c, const aj_region *region) {
  return region->owner ? aj_ops[region->owner->op].name : c->func->name;
}

static bool stale(aj_checker *c, const char *what) {
  return aj_checker_fail(c, AJ_VERIFY_NUMBERING, c->func->name, what);
}

/* ---- a region as a whole ---- */

/* Slots, places of definition and last uses of a region, against what they have to be. */
static bool check_numbering(aj_checker *c, const aj_region *region) {
  uint32_t slots = region->param_count;
  if (!region->last_use || !region->def_pc || region->slot_count < slots) return stale(c, "number of slots");
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    const aj_node *node = region->nodes[pc];
    for (uint32_t i = 0; i < node->result_count; i++, slots++)
      if (slots >= region->slot_count || node->results[i].slot != slots || region->def_pc[slots] != pc + 1)
        return stale(c, "slots of results");
  }
  if (slots != region->slot_count) return stale(c, "number of slots");
  for (uint32_t i = 0; i < region->param_count; i++)
    if (region->params[i]->slot != i || region->def_pc[i] != 0) return stale(c, "slots of parameters");
  if (slots && !AJ_VEC_RESERVE(c->module->mem, &c->uses, slots)) return aj_checker_no_memory(c);
  if (slots) memset(c->uses.data, 0xff, slots * sizeof *c->uses.data);
  for (uint32_t pc = 0; pc < region->node_count; pc++)
    for (uint32_t i = 0; i < region->nodes[pc]->operand_count; i++)
      c->uses.data[region->nodes[pc]->operands[i]->slot] = pc;
  if (region->owner && region->owner->op == AJ_OP_WHILE && region->index == 0) /* its parameters go on to the body */
    for (uint32_t i = 0; i < region->param_count; i++) c->uses.data[i] = region->node_count - 1;
  if (slots && memcmp(c->uses.data, region->last_use, slots * sizeof *c->uses.data) != 0) return stale(c, "last uses");
  return true;
}

static bool check_operand(aj_checker *c, const aj_region *region, uint32_t pc, uint32_t index) {
  const aj_node *node = region->nodes[pc];
  const aj_value *value = node->operands[index];
  const char *op = aj_ops[node->op].name;
  if (!value) return aj_checker_fail(c, AJ_VERIFY_OPERAND_MISSING, index, op);
  if (value->forward) return aj_checker_fail(c, AJ_VERIFY_OPERAND_REPLACED, index, op);
  if (!value->def) {
    if (value->index < region->param_count && region->params[value->index] == value) return true;
    return aj_checker_fail(c, AJ_VERIFY_OPERAND_REGION, index, op);
  }
  const aj_node *def = value->def;
  if (def->parent != region || def->pc >= region->node_count || region->nodes[def->pc] != def ||
      value->index >= def->result_count || &def->results[value->index] != value)
    return aj_checker_fail(c, AJ_VERIFY_OPERAND_REGION, index, op);
  return def->pc < pc || aj_checker_fail(c, AJ_VERIFY_OPERAND_LATER, index, op);
}

static bool check_links(aj_checker *c, const aj_region *region, uint32_t pc) {
  const aj_node *node = region->nodes[pc];
  if (node->op <= AJ_OP_NONE || node->op >= AJ_OP_COUNT)
    return aj_checker_fail(c, AJ_VERIFY_OP_RANGE, (unsigned)node->op, (unsigned)AJ_OP_COUNT);
  const char *op = aj_ops[node->op].name;
  bool ends = aj_ops[node->op].flags & AJ_F_TERMINATOR, last = pc + 1 == region->node_count;
  if (node->parent != region) return aj_checker_fail(c, AJ_VERIFY_NODE_LINKS, op);
  if (node->pc != pc) return stale(c, "places of nodes");
  if (ends && !last) return aj_checker_fail(c, AJ_VERIFY_EARLY_TERMINATOR, op);
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_value *result = &node->results[i];
    if (result->def != node || result->region != region || result->index != i)
      return aj_checker_fail(c, AJ_VERIFY_RESULT_LINKS, i, op);
  }
  return true;
}

/* Before anything goes by its links. */
static bool check_region(aj_checker *c, const aj_region *region, const aj_node *owner, uint32_t index) {
  c->node = owner;
  if (region->owner != owner || region->index != index || region->func != c->func)
    return aj_checker_fail(c, AJ_VERIFY_REGION_LINKS, owner ? aj_ops[owner->op].name : c->func->name);
  for (uint32_t i = 0; i < region->param_count; i++) {
    const aj_value *param = region->params[i];
    if (param->def || param->region != region || param->index != i)
      return aj_checker_fail(c, AJ_VERIFY_PARAM_LINKS, i, name_owner(c, region));
    if (!aj_checker_type(c, "a parameter of a region", param->type)) return false;
  }
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    c->node = region->nodes[pc];
    if (!check_links(c, region, pc)) return false;
  }
  if (!aj_region_terminator(region)) return aj_checker_fail(c, AJ_VERIFY_NO_TERMINATOR, name_owner(c, region));
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    c->node = region->nodes[pc];
    for (uint32_t i = 0; i < c->node->operand_count; i++)
      if (!check_operand(c, region, pc, i)) return false;
  }
  c->node = owner;
  return check_numbering(c, region);
}

/* ---- one node ---- */

/* Arms that a pass has folded may all raise: then nothing tells what the results were, and nobody sees them. A finally
 * yields, but gives no results. */
static bool lost_its_yields(const aj_checker *c, const aj_node *node) {
  bool arms = node->op == AJ_OP_IF || node->op == AJ_OP_SWITCH || node->op == AJ_OP_TRY || node->op == AJ_OP_MAP;
  uint32_t count = node->region_count - (node->op == AJ_OP_TRY && aj_node_int(node, AJ_ATTR_FINALLY));
  for (uint32_t i = 0; arms && i < count; i++)
    if (aj_region_terminator(node->regions[i])->op == AJ_OP_YIELD) arms = false;
  return arms && c->optimised;
}

static bool check_inferred(aj_checker *c, const aj_node *node) {
  aj_infer in = {.func = c->module->funcs.data[c->func->index],
                 .op = node->op,
                 .operand_count = node->operand_count,
                 .operands = node->operands,
                 .attrs_of = node,
                 .error = &c->error};
  const char *op = aj_ops[node->op].name;
  bool ok = aj_infer_types(&in) == ARRJIT_OK && (node->op != AJ_OP_CALLBACK || aj_checker_open_symbols(c, node));
  if (ok && lost_its_yields(c, node)) {
    AJ_VEC_FREE(c->module->mem, &in.results);
    return true;
  }
  if (ok && in.results.count != node->result_count)
    ok = aj_checker_fail(c, AJ_VERIFY_RESULT_COUNT, op, node->result_count, (uint32_t)in.results.count);
  for (uint32_t i = 0; ok && i < node->result_count; i++) {
    const aj_type *type = node->results[i].type, *inferred = in.results.data[i];
    char what[64];
    aj_bounded_printf(what, sizeof what, "result %u of %s", i, op);
    if (!aj_type_equal(type, inferred))
      ok = aj_checker_fail(c, AJ_VERIFY_RESULT_TYPE, i, op, aj_checker_type_text(c, type).s,
                           aj_checker_type_text(c, inferred).s);
    ok = ok && aj_checker_type(c, what, type);
  }
  AJ_VEC_FREE(c->module->mem, &in.results);
  return ok;
}

static bool check_lane_index(aj_checker *c, const aj_node *node) {
  const aj_node *owner = node->parent->owner;
  int64_t axis = aj_node_int(node, AJ_ATTR_AXIS);
  const aj_attr *shape = owner && owner->op == AJ_OP_KERNEL ? aj_node_attr(owner, AJ_ATTR_SHAPE) : NULL;
  uint32_t rank = shape ? shape->count : 0;
  return (axis >= 0 && axis < rank) || aj_checker_fail(c, AJ_VERIFY_LANE_OUTSIDE, (long long)axis, rank);
}

static bool check_node(aj_checker *c, const aj_node *node) {
  const char *op = aj_ops[node->op].name;
  c->node = node;
  if (!c->module->origin && node->id != c->node_id) return stale(c, "numbers of nodes");
  c->node_id++;
  if (aj_ops[node->op].flags & AJ_F_INTERNAL && !c->optimised) return aj_checker_fail(c, AJ_VERIFY_OP_INTERNAL, op);
  for (uint32_t i = 1; i < node->attr_count; i++)
    if (node->attrs[i - 1].name >= node->attrs[i].name) return aj_checker_fail(c, AJ_VERIFY_ATTR_ORDER, op);
  if (!check_inferred(c, node)) return false;
  if (node->op == AJ_OP_LANE_INDEX) return check_lane_index(c, node);
  return node->op != AJ_OP_KERNEL || aj_checker_kernel(c, node);
}

/* ---- a function ---- */

static bool enter(aj_checker *c, frame_stack *stack, const aj_region *region) {
  return AJ_VEC_PUSH(c->module->mem, stack, ((frame){region, 0, c->open.count})) || aj_checker_no_memory(c);
}

/* Regions of a node are checked as wholes before inference looks into them, then entered one by one, in print order. */
static bool step(aj_checker *c, frame_stack *stack) {
  frame *top = &stack->data[stack->count - 1];
  const aj_region *next = NULL;
  if (top->pc < top->region->node_count) {
    const aj_node *node = top->region->nodes[top->pc++];
    for (uint32_t i = 0; i < node->region_count; i++)
      if (!check_region(c, node->regions[i], node, i)) return false;
    if (!check_node(c, node)) return false;
    if (node->region_count) next = node->regions[0];
  } else {
    const aj_region *done = top->region;
    if (done->owner) c->open.count = top->open;
    stack->count--;
    if (done->owner && done->index + 1 < done->owner->region_count) next = done->owner->regions[done->index + 1];
  }
  return !next || enter(c, stack, next);
}

bool aj_checker_body(aj_checker *c) {
  frame_stack stack = {0};
  c->node_id = 0;
  bool ok = check_region(c, c->func->root, NULL, 0) && enter(c, &stack, c->func->root);
  while (ok && stack.count) ok = step(c, &stack);
  if (ok && c->func->node_count != c->node_id) ok = stale(c, "number of nodes");
  AJ_VEC_FREE(c->module->mem, &stack);
  return ok;
}
