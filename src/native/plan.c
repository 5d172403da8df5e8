/* The memory plan of one function, in three steps: number all places in program order; give each array that needs
 * memory an interval of places in which it must stay; share slots between intervals that do not meet.
 *
 * Regions are closed, so what an inner region reads is an operand of its owner, alive until the owner is done:
 * intervals need only the last uses within a value's own region. Arms copy (or write straight) what they yield to where
 * the owner's result goes. A loop alternates between two slots for each carried array, so that a new value never
 * overwrites what the iteration still reads, swaps included. */
#include "native/plan.h"

#include <stdlib.h>
#include <string.h>

#include "ir/symbol.h"

typedef struct interval {
  uint32_t start, end; /* places, inclusive */
  const aj_type *type;
  uint32_t *slot; /* where the answer goes */
} interval;

typedef struct planner {
  aj_arena *arena, *keep;
  uint32_t place;
  AJ_VEC(interval) intervals;
  bool failed;
} planner;

static bool is_array(const aj_value *value) { return !value->type->is_exn && value->type->rank > 0; }

aj_value *aj_plan_alias(const aj_value *value) {
  const aj_node *node = value->def;
  if (!node || !is_array(value)) return NULL;
  if (node->op == AJ_OP_CHECK) return node->operands[node->operand_count - node->result_count + value->index];
  if (node->op == AJ_OP_CHECK_SHAPE) return node->operands[0];
  if (node->op == AJ_OP_RESHAPE) return is_array(node->operands[0]) ? node->operands[0] : NULL;
  if (node->op == AJ_OP_CALLBACK) {
    const aj_slot *slot = &value->region->func->module->slots.data[aj_node_int(node, AJ_ATTR_SLOT)];
    return slot->is_value ? NULL : node->operands[value->index];
  }
  return NULL;
}

static bool is_late(const aj_region *region, const aj_value *value) {
  return aj_type_is_late(region->func->module, value->type);
}

/* A constant of one element that only kernels read stays that one element. */
static bool is_splat_for_kernels(const aj_region *region, const aj_value *value) {
  const aj_node *node = value->def;
  if (node->op != AJ_OP_CONST || aj_node_attr(node, AJ_ATTR_VALUE)->count != aj_dtypes[value->type->dtype].bytes)
    return false;
  uint32_t last = region->last_use[value->slot];
  if (last == AJ_UNUSED) return true;
  for (uint32_t pc = node->pc + 1; pc <= last; pc++) {
    const aj_node *user = region->nodes[pc];
    for (uint32_t i = 0; i < user->operand_count; i++)
      if (user->operands[i] == value && user->op != AJ_OP_KERNEL) return false;
  }
  return true;
}

/* Whether the value's node writes memory of its own. */
static bool needs_memory(const aj_region *region, const aj_value *value) {
  const aj_node *node = value->def;
  if (!is_array(value) || aj_plan_alias(value)) return false;
  if (node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR) return false; /* one of the loop's slots, or an initial value */
  if (node->op == AJ_OP_CALLBACK)                                     /* not for those that the callback makes */
    return aj_slot_dynamic_dims(&region->func->module->slots.data[aj_node_int(node, AJ_ATTR_SLOT)], value->index) == 0;
  if (node->op == AJ_OP_CONST)
    return aj_node_attr(node, AJ_ATTR_VALUE)->count == aj_dtypes[value->type->dtype].bytes &&
           !is_splat_for_kernels(region, value);
  return true;
}

static void add_interval(planner *p, uint32_t start, uint32_t end, const aj_type *type, uint32_t *slot) {
  interval i = {start, end, type, slot};
  if (!AJ_VEC_PUSH(p->arena->mem, &p->intervals, i)) p->failed = true;
}

/* ---- a region ---- */

typedef struct region_work {
  const aj_region *region;
  aj_plan_region *plan;
  uint32_t *begin, *end; /* places of nodes, by pc */
  uint32_t *until;       /* by slot: place of the last use, aliases included */
} region_work;

/* What a region yields, when its node makes it here and for this yield first, goes straight to its destination. */
static void route_yields(region_work *w) {
  const aj_node *last = aj_region_terminator(w->region), *owner = w->region->owner;
  if (!last || last->op != AJ_OP_YIELD) return;
  bool loop_body = owner && (owner->op == AJ_OP_FOR || (owner->op == AJ_OP_WHILE && w->region->index == 1));
  for (uint32_t i = 0; i < last->operand_count; i++) {
    aj_value *value = last->operands[i];
    aj_dest *dest = &w->plan->dest[value->slot];
    if (!is_array(value) || !value->def || dest->kind != AJ_DEST_NONE || !needs_memory(w->region, value)) continue;
    if (!owner && is_late(w->region, value)) continue; /* outputs are made at entry, but those are not */
    *dest = (aj_dest){!owner ? AJ_DEST_OUTPUT : loop_body ? AJ_DEST_SPARE : AJ_DEST_RESULT, i};
  }
}

/* Last uses in places; an alias or a loop's result keeps what it may share alive. */
static void find_ends(region_work *w) {
  const aj_region *region = w->region;
  for (uint32_t s = 0; s < region->slot_count; s++)
    w->until[s] = region->last_use[s] == AJ_UNUSED ? 0 : w->end[region->last_use[s]];
  for (uint32_t pc = region->node_count; pc-- > 0;) {
    const aj_node *node = region->nodes[pc];
    for (uint32_t i = 0; i < node->result_count; i++) {
      aj_value *value = &node->results[i], *from = aj_plan_alias(value);
      if (node->op == AJ_OP_WHILE && is_array(value)) from = node->operands[i];
      if (node->op == AJ_OP_FOR && is_array(value)) from = node->operands[3 + i];
      if (from && w->until[from->slot] < w->until[value->slot]) w->until[from->slot] = w->until[value->slot];
    }
  }
}

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void add_intervals(planner *p, region_work *w) {
  for (uint32_t pc = 0; pc < w->region->node_count; pc++) {
    const aj_node *node = w->region->nodes[pc];
    bool loop = node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR;
    for (uint32_t i = 0; i < node->result_count; i++) {
      const aj_value *value = &node->results[i];
      uint32_t end = later(w->until[value->slot], w->end[pc]);
      bool late = is_late(w->region, value);
      if (loop && is_array(value) && !late) {
        add_interval(p, w->begin[pc], end, value->type, &w->plan->nodes[pc].buffers[i][0]);
        add_interval(p, w->begin[pc], end, value->type, &w->plan->nodes[pc].buffers[i][1]);
      }
      aj_dest *dest = &w->plan->dest[value->slot];
      if (!needs_memory(w->region, value) || dest->kind != AJ_DEST_NONE) continue;
      dest->kind = late ? AJ_DEST_LATE : AJ_DEST_BLOCK;
      if (!late) add_interval(p, w->begin[pc], end, value->type, &dest->index);
    }
  }
}

static aj_plan_region *plan_region(planner *p, const aj_region *region);

/* Numbers the node and plans what is in it. */
static void plan_node(planner *p, region_work *w, const aj_node *node) {
  w->begin[node->pc] = p->place++;
  if (node->region_count) {
    if (!w->plan->nodes) w->plan->nodes = AJ_NEW_ARRAY(p->arena, w->region->node_count, aj_plan_node);
    aj_plan_region **regions = AJ_NEW_ARRAY(p->arena, node->region_count, aj_plan_region *);
    uint32_t(*buffers)[2] = aj_arena_array(p->arena, node->result_count, sizeof *buffers);
    if (p->arena->failed) return;
    w->plan->nodes[node->pc] = (aj_plan_node){regions, buffers};
    for (uint32_t i = 0; i < node->region_count && !p->arena->failed; i++)
      regions[i] = plan_region(p, node->regions[i]);
  }
  w->end[node->pc] = p->place++;
}

static aj_plan_region *plan_region(planner *p, const aj_region *region) {
  region_work w = {.region = region, .plan = AJ_NEW(p->arena, aj_plan_region)};
  w.begin = AJ_NEW_ARRAY(p->arena, region->node_count, uint32_t);
  w.end = AJ_NEW_ARRAY(p->arena, region->node_count, uint32_t);
  w.until = AJ_NEW_ARRAY(p->arena, region->slot_count, uint32_t);
  if (w.plan) w.plan->dest = AJ_NEW_ARRAY(p->arena, region->slot_count, aj_dest);
  if (p->arena->failed) return NULL;
  for (uint32_t pc = 0; pc < region->node_count && !p->arena->failed; pc++) plan_node(p, &w, region->nodes[pc]);
  if (p->arena->failed) return NULL;
  route_yields(&w);
  find_ends(&w);
  add_intervals(p, &w);
  return w.plan;
}

/* ---- slots ---- */

static int compare_start(const void *a, const void *b) {
  uint32_t x = ((const interval *)a)->start, y = ((const interval *)b)->start;
  return x < y ? -1 : x > y;
}

typedef struct slot_state {
  uint32_t busy_until;
  bool busy;
  AJ_VEC(const aj_type *) types;
} slot_state;

static bool slot_has(const slot_state *slot, const aj_type *type) {
  for (size_t i = 0; i < slot->types.count; i++)
    if (slot->types.data[i]->dtype == type->dtype && aj_type_equal(slot->types.data[i], type)) return true;
  return false;
}

enum { LOOK_BACK = 64 }; /* slots looked at for each interval: bounds the work on functions with very many */

/* A slot that is free and has held the type before, else any free one, else UINT32_MAX. */
static uint32_t find_slot(slot_state *slots, size_t count, const interval *want) {
  uint32_t found = UINT32_MAX;
  size_t first = count > LOOK_BACK ? count - LOOK_BACK : 0;
  for (size_t i = first; i < count; i++) {
    if (slots[i].busy && slots[i].busy_until >= want->start) continue;
    if (slot_has(&slots[i], want->type)) return (uint32_t)i;
    found = (uint32_t)i;
  }
  return found;
}

static bool share_slots(planner *p, aj_nh_block_plan *block) {
  aj_mem *mem = p->arena->mem;
  AJ_VEC(slot_state) slots = {0};
  bool ok = true;
  if (p->intervals.count) qsort(p->intervals.data, p->intervals.count, sizeof(interval), compare_start);
  for (size_t i = 0; i < p->intervals.count && ok; i++) {
    const interval *want = &p->intervals.data[i];
    uint32_t at = find_slot(slots.data, slots.count, want);
    if (at == UINT32_MAX) {
      at = (uint32_t)slots.count;
      ok = AJ_VEC_PUSH(mem, &slots, (slot_state){0});
      if (!ok) break;
    }
    slot_state *slot = &slots.data[at];
    ok = slot_has(slot, want->type) || AJ_VEC_PUSH(mem, &slot->types, want->type);
    slot->busy = true;
    slot->busy_until = want->end;
    *want->slot = at;
  }
  block->slots = AJ_NEW_ARRAY(p->keep, slots.count, aj_nh_slot);
  ok = ok && block->slots;
  block->slot_count = ok ? (uint32_t)slots.count : 0;
  for (size_t i = 0; i < slots.count; i++) {
    if (ok) {
      block->slots[i].type_count = (uint32_t)slots.data[i].types.count;
      block->slots[i].types =
          aj_arena_copy(p->keep, slots.data[i].types.data, slots.data[i].types.count * sizeof(aj_type *));
      ok = block->slots[i].types != NULL;
    }
    AJ_VEC_FREE(mem, &slots.data[i].types);
  }
  AJ_VEC_FREE(mem, &slots);
  return ok;
}

bool aj_plan_make(const aj_func *func, aj_arena *arena, aj_arena *keep, aj_plan *out) {
  planner p = {.arena = arena, .keep = keep};
  out->block = AJ_NEW(keep, aj_nh_block_plan);
  out->root = plan_region(&p, func->root);
  bool ok = out->root && out->block && !p.failed && share_slots(&p, out->block);
  AJ_VEC_FREE(arena->mem, &p.intervals);
  return ok;
}
