/* Which nodes make a range: computing nodes of one shape in a row, and between them what can run before them all:
 * constants, scalars, movement of what the range does not compute. */
#include "interp/range.h"

enum { MOST_WEIGHT = 1000 }; /* a block of a range is to take some 0.1 ms at most */

bool aj_range_computes(const aj_node *node) {
  const aj_op_info *op = &aj_ops[node->op];
  return (op->flags & AJ_F_ELEMENTWISE) && !(op->flags & AJ_F_RAISES) && node->result_count == 1 &&
         node->results[0].type->rank > 0;
}

static bool has_shape(const aj_type *a, const aj_type *b) {
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (!aj_dim_equal(a->dims[i], b->dims[i])) return false;
  return true;
}

static bool is_scalar_step(const aj_node *node) {
  const aj_op_info *op = &aj_ops[node->op];
  return (op->flags & AJ_F_ELEMENTWISE) && !(op->flags & AJ_F_RAISES) && node->result_count == 1 &&
         aj_type_is_scalar(node->results[0].type);
}

/* Movement of something that is there when the range from pc `first` on begins, or moved before it. */
static bool is_movement(const aj_node *node, uint32_t first) {
  if (aj_ops[node->op].routine != AJ_ROUTINE_VIEW || aj_node_may_raise(node)) return false;
  const aj_node *def = node->operands[0]->def;
  return !def || def->pc < first || !aj_range_computes(def);
}

const aj_value *aj_range_scalar(const aj_value *operand, uint32_t first) {
  const aj_node *def = operand->def;
  bool repeats = def && (def->op == AJ_OP_BROADCAST || def->op == AJ_OP_FULL) && def->operands[0]->type->rank == 0;
  return repeats && def->pc >= first ? def->operands[0] : NULL;
}

static bool reads_array(const aj_node *node, uint32_t first) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const aj_node *def = node->operands[i]->def;
    bool inside = def && def->pc >= first && aj_range_computes(def);
    if (!inside && !aj_range_scalar(node->operands[i], first)) return true;
  }
  return false;
}

/* The end of the range that begins at `first`: the pc behind its last computing node, `first` when it has none, or when
 * no array would say that its shape is one that memory can hold. *out_next: where to look for the next. */
static uint32_t find_end(const aj_region *region, uint32_t first, uint32_t *out_next, int64_t *out_weight) {
  const aj_type *shape = NULL;
  uint32_t end = first, pc = first;
  int64_t weight = 0;
  bool any_array = false;
  for (; pc < region->node_count && weight < MOST_WEIGHT; pc++) {
    const aj_node *node = region->nodes[pc];
    if (aj_range_computes(node)) {
      if (shape && !has_shape(shape, node->results[0].type)) break;
      shape = node->results[0].type;
      any_array = any_array || reads_array(node, first);
      weight += aj_node_weight(node);
      end = pc + 1;
    } else if (node->op != AJ_OP_CONST && !is_scalar_step(node) && !is_movement(node, first)) {
      break;
    }
  }
  *out_weight = weight;
  *out_next = end > first ? end : pc + 1;
  return any_array ? end : first;
}

static bool add_range(aj_interp_code *code, const aj_region *region, uint32_t first, uint32_t end, int64_t weight) {
  aj_range *range = aj_mem_alloc(&code->core->mem, sizeof *range);
  if (!range) return false;
  aj_interp_node *info = &code->funcs[region->func->index][region->nodes[first]->id];
  *range = (aj_range){.next = code->ranges,
                      .region = region,
                      .shape = region->nodes[end - 1],
                      .first = first,
                      .last = end - 1,
                      .warmth = {.weight = weight}};
  aj_arena_init(&range->arena, &code->core->mem);
  code->ranges = info->range = range;
  info->step = aj_step_range;
  return true;
}

static bool find_in_region(aj_interp_code *code, const aj_region *region) {
  for (uint32_t pc = 0, next; pc < region->node_count; pc = next) {
    while (pc < region->node_count && is_scalar_step(region->nodes[pc])) pc++; /* runs as well outside */
    if (pc == region->node_count) break;
    int64_t weight;
    uint32_t end = find_end(region, pc, &next, &weight);
    if (end > pc && !add_range(code, region, pc, end, weight)) return false;
  }
  return true;
}

bool aj_range_find(aj_interp_code *code, aj_func *func) {
  if (!find_in_region(code, func->root)) return false;
  aj_walk walk;
  aj_walk_start(&walk, func);
  for (const aj_node *node; (node = aj_walk_next(&walk));)
    for (uint32_t i = 0; i < node->region_count; i++)
      if (!find_in_region(code, node->regions[i])) return false;
  return true;
}

void aj_ranges_destroy(aj_interp_code *code) {
  for (aj_range *range = code->ranges, *next; range; range = next) {
    next = range->next;
    aj_program_destroy(range->code.program);
    aj_arena_free(&range->arena);
    aj_mem_free(&code->core->mem, range, sizeof *range);
  }
}
