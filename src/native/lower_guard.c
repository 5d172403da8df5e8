/* Jumping over nodes that no lane needs (sem/guard.h says which): they go to a cold block, entered when the predicate
 * is false in some lane. Where it was not entered they are 0, which nobody reads. */
#include "native/lower.h"

#include "sem/guard.h"

bool aj_guard_open(aj_lower *lo, const aj_region *region, aj_guard_state *state) {
  *state = (aj_guard_state){.region = region, .guards = AJ_NEW_ARRAY(lo->arena, region->slot_count, uint32_t)};
  if (!state->guards) return false;
  aj_guard_find(region, state->guards);
  return true;
}

static LLVMValueRef any_false(aj_lower *lo, LLVMValueRef pred, uint32_t lanes) {
  if (lanes == 1) return LLVMBuildNot(lo->b, pred, "");
  LLVMTypeRef bits = aj_ir_int_type(lo, lanes, 1);
  return LLVMBuildICmp(lo->b, LLVMIntNE, LLVMBuildBitCast(lo->b, pred, bits, ""), LLVMConstAllOnes(bits), "");
}

static void begin(aj_lower *lo, aj_guard_state *state, uint32_t pc, uint32_t lanes, const aj_lv *vals) {
  uint32_t guard = state->guards[state->region->nodes[pc]->results[0].slot];
  LLVMValueRef needed = any_false(lo, vals[guard].v, lanes);
  state->first = pc;
  state->from = LLVMGetInsertBlock(lo->b);
  state->go = aj_lower_cold(lo, needed);
}

static void end(aj_lower *lo, aj_guard_state *state, aj_lv *vals) {
  LLVMBasicBlockRef cold = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, state->go);
  aj_ir_at(lo, state->go);
  for (uint32_t pc = state->first; pc < state->end; pc++) {
    const aj_node *node = state->region->nodes[pc];
    uint32_t slot = node->results[0].slot, last = state->region->last_use[slot];
    if (node->op == AJ_OP_CONST || last == AJ_UNUSED || last < state->end) continue;
    LLVMTypeRef type = LLVMTypeOf(vals[slot].v);
    LLVMValueRef phi = aj_ir_phi(lo, type, vals[slot].v, cold);
    aj_ir_add_incoming(phi, LLVMConstNull(type), state->from);
    vals[slot].v = phi;
  }
  state->go = NULL;
}

void aj_guard_step(aj_lower *lo, aj_guard_state *state, uint32_t pc, uint32_t lanes, aj_lv *vals) {
  if (state->go && pc == state->end) end(lo, state, vals);
  if (!state->go && aj_guard_starts(state->region, state->guards, pc, &state->end)) begin(lo, state, pc, lanes, vals);
}
