/* Finding guarded nodes: backwards, so that all readers of a value are known before its node is looked at. */
#include "sem/guard.h"

#define UNREAD (AJ_UNGUARDED - 1)

static void add_reader(uint32_t *guard, uint32_t by) {
  if (*guard == UNREAD)
    *guard = by;
  else if (*guard != by)
    *guard = AJ_UNGUARDED;
}

/* Whether a node may be left out when its value is not needed: scalars only, so that it holds in any region. */
static bool is_quiet(const aj_node *node) {
  const aj_op_info *op = &aj_ops[node->op];
  return (op->flags & AJ_F_ELEMENTWISE) && !(op->flags & AJ_F_RAISES) && aj_type_is_scalar(node->results[0].type);
}

void aj_guard_find(const aj_region *region, uint32_t *guards) {
  for (uint32_t i = 0; i < region->slot_count; i++) guards[i] = UNREAD;
  for (uint32_t pc = region->node_count; pc-- > 0;) {
    const aj_node *node = region->nodes[pc];
    uint32_t own = is_quiet(node) ? guards[node->results[0].slot] : AJ_UNGUARDED;
    for (uint32_t k = 0; k < node->result_count; k++) guards[node->results[k].slot] = own;
    if (own == UNREAD) continue; /* what nobody reads keeps nothing alive */
    for (uint32_t k = 0; k < node->operand_count; k++) {
      bool chosen = own == AJ_UNGUARDED && node->op == AJ_OP_SELECT && k == 2;
      add_reader(&guards[node->operands[k]->slot], chosen ? node->operands[0]->slot : own);
    }
  }
  for (uint32_t i = 0; i < region->slot_count; i++)
    if (guards[i] == UNREAD) guards[i] = AJ_UNGUARDED;
}

bool aj_guard_starts(const aj_region *region, const uint32_t *guards, uint32_t pc, uint32_t *out_end) {
  const aj_node *first = region->nodes[pc];
  uint32_t guard = first->result_count == 0 ? AJ_UNGUARDED : guards[first->results[0].slot], count = 0;
  if (guard == AJ_UNGUARDED || region->def_pc[guard] > pc) return false;
  for (; pc < region->node_count; pc++) {
    const aj_node *node = region->nodes[pc];
    if (node->result_count == 0) break;
    /* a constant costs nothing wherever it stands */
    if (node->op == AJ_OP_CONST && aj_type_is_scalar(node->results[0].type)) continue;
    if (guards[node->results[0].slot] != guard) break;
    count++;
    *out_end = pc + 1;
  }
  return count >= AJ_GUARD_LEAST;
}
