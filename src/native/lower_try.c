/* try. Failures of its body come to one landing, which asks for the handler; what no handler takes, and what fails in a
 * handler, goes onward: through the finally, when there is one, and out.
 *
 *   body --ok--> join --> finally --> after            finally has a phi: the exception that goes on after it, or null
 *     \-fail-> landing --> handler --ok--> join
 *                 \            \-fail-> onward --> finally --> out
 *                  \-no match----------> onward
 *
 * A handler that neither looks at the exception nor can fail needs none: a raise of a kind known here goes straight to
 * it. */
#include "native/lower.h"

typedef struct trying {
  aj_scope *scope;
  const aj_node *node, *finished;
  uint32_t handlers;
  bool has_finally;
  LLVMBasicBlockRef *handler_blocks; /* entered with run->exn set */
  LLVMBasicBlockRef *direct;         /* entered with none */
  LLVMBasicBlockRef onward, out;
  aj_merge merge;
} trying;

/* What failed while `handled` was handled, or waited behind a finally, has it as its context. */
static void link_context(aj_lower *lo, LLVMValueRef handled) {
  LLVMValueRef args[] = {lo->run, handled};
  aj_ir_call(lo, "aj_nh_context", lo->t_void, 2, args, true);
}

static bool needs_no_exn(const aj_region *region) {
  if (region->last_use[region->params[0]->slot] != AJ_UNUSED) return false;
  for (uint32_t pc = 0; pc + 1 < region->node_count; pc++)
    if (!aj_node_is_pure(region->nodes[pc])) return false;
  const aj_node *last = aj_region_terminator(region);
  return last && last->op == AJ_OP_YIELD;
}

static aj_scope inner_scope(aj_lower *lo, trying *t, uint32_t index, const aj_landing *landing) {
  aj_scope inner = aj_lower_scope(lo, t->scope, t->node, index);
  inner.landing = landing;
  if (lo->arena->failed) return inner;
  uint32_t first = inner.region->param_count - t->node->operand_count;
  for (uint32_t i = 0; i < t->node->operand_count; i++)
    inner.vals[inner.region->params[first + i]->slot] = t->scope->vals[t->node->operands[i]->slot];
  return inner;
}

static void lower_body(aj_lower *lo, trying *t) {
  aj_landing landing = {
      .block = aj_ir_block(lo, "landing"), .stop = t->finished->regions[0], .try_node = t->node, .direct = t->direct};
  aj_scope body = inner_scope(lo, t, 0, &landing);
  if (lo->arena->failed) return;
  const aj_node *yield = aj_lower_region(lo, &body);
  if (yield) aj_merge_add(lo, &t->merge, &body, yield);
  aj_ir_at(lo, landing.block);
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, t->node)};
  LLVMValueRef which = aj_ir_call(lo, "aj_nh_match", lo->t_i32, 2, args, false);
  LLVMValueRef branch = LLVMBuildSwitch(lo->b, which, t->onward, t->handlers);
  for (uint32_t i = 0; i < t->handlers; i++) LLVMAddCase(branch, aj_ir_i32(lo, (int32_t)i), t->handler_blocks[i]);
}

/* Takes the exception; null when it is not needed. */
static LLVMValueRef enter_handler(aj_lower *lo, trying *t, uint32_t i) {
  aj_ir_at(lo, t->handler_blocks[i]);
  if (t->direct[i]) {
    aj_ir_call(lo, "aj_nh_drop", lo->t_void, 1, &lo->run, false);
    LLVMBuildBr(lo->b, t->direct[i]);
    aj_ir_at(lo, t->direct[i]);
    return LLVMConstNull(lo->t_ptr);
  }
  LLVMValueRef args[] = {lo->run, lo->exns};
  LLVMValueRef exn = aj_ir_call(lo, "aj_nh_take", lo->t_ptr, 2, args, false);
  LLVMBasicBlockRef go = aj_ir_block(lo, "handle");
  LLVMBuildCondBr(lo->b, LLVMBuildIsNull(lo->b, exn, ""), t->onward, go);
  aj_ir_at(lo, go);
  return exn;
}

static void lower_handler(aj_lower *lo, trying *t, uint32_t i) {
  aj_landing landing = {.block = aj_ir_block(lo, "landing"), .stop = t->finished->regions[1 + i]};
  LLVMValueRef exn = enter_handler(lo, t, i);
  aj_scope handler = inner_scope(lo, t, 1 + i, &landing);
  if (lo->arena->failed) return;
  handler.vals[handler.region->params[0]->slot] = (aj_lv){.v = exn};
  const aj_node *yield = aj_lower_region(lo, &handler);
  if (yield) aj_merge_add(lo, &t->merge, &handler, yield);
  aj_ir_at(lo, landing.block);
  link_context(lo, exn);
  LLVMBuildBr(lo->b, t->onward);
}

/* Results as they are when the finally has run: from the join, or nothing when a failure goes on. */
static void carry_results(aj_lower *lo, trying *t, LLVMBasicBlockRef joined, LLVMBasicBlockRef failed) {
  for (uint32_t i = 0; i < t->node->result_count; i++) {
    aj_lv *lv = &t->scope->vals[t->node->results[i].slot];
    LLVMValueRef phi = aj_ir_phi(lo, LLVMTypeOf(lv->v), lv->v, joined);
    aj_ir_add_incoming(phi, LLVMConstNull(LLVMTypeOf(lv->v)), failed);
    lv->v = phi;
  }
}

static void end_finally(aj_lower *lo, LLVMValueRef began) {
  LLVMValueRef args[] = {lo->run, began};
  aj_ir_call(lo, "aj_nh_unmask", lo->t_void, 2, args, false);
}

static void lower_finally(aj_lower *lo, trying *t) {
  LLVMBasicBlockRef block = aj_ir_block(lo, "finally"), joined = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, block);
  aj_ir_at(lo, t->onward);
  LLVMValueRef begin_args[] = {lo->run, lo->exns};
  LLVMValueRef exn = aj_ir_call(lo, "aj_nh_begin_finally", lo->t_ptr, 2, begin_args, false);
  LLVMBuildCondBr(lo->b, LLVMBuildIsNull(lo->b, exn, ""), t->out, block);
  aj_ir_at(lo, block);
  LLVMValueRef pending = aj_ir_phi(lo, lo->t_ptr, LLVMConstNull(lo->t_ptr), joined);
  aj_ir_add_incoming(pending, exn, t->onward);
  carry_results(lo, t, joined, t->onward);
  LLVMValueRef normal = LLVMBuildIsNull(lo->b, pending, "");
  LLVMValueRef began = aj_ir_call(lo, "aj_nh_mask", lo->t_i32, 1, &lo->run, false);
  uint32_t index = t->node->region_count - 1;
  aj_landing landing = {.block = aj_ir_block(lo, "landing"), .stop = t->finished->regions[index]};
  aj_scope finally = inner_scope(lo, t, index, &landing);
  if (lo->arena->failed) return;
  LLVMBasicBlockRef after = aj_ir_block(lo, "after"), again = aj_ir_block(lo, "again");
  if (aj_lower_region(lo, &finally)) {
    end_finally(lo, began);
    LLVMBuildCondBr(lo->b, normal, after, again);
  }
  aj_ir_at(lo, landing.block);
  link_context(lo, pending);
  end_finally(lo, began);
  LLVMBuildBr(lo->b, t->out);
  aj_ir_at(lo, again);
  LLVMValueRef args[] = {lo->run, pending};
  aj_ir_call(lo, "aj_nh_again", lo->t_void, 2, args, false);
  LLVMBuildBr(lo->b, t->out);
  aj_ir_at(lo, after);
}

/* The failure leaves the try. */
static void lower_out(aj_lower *lo, trying *t) {
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, t->scope, t->node)),
                         aj_lower_iterations(lo, t->scope)};
  aj_ir_call(lo, "aj_nh_outward", lo->t_void, AJ_COUNT(args), args, true);
  aj_lower_land(lo, t->scope);
}

void aj_lower_try(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  trying t = {.scope = scope, .node = node, .finished = node->origin ? node->origin : node};
  t.has_finally = aj_node_int(node, AJ_ATTR_FINALLY) != 0;
  t.handlers = node->region_count - 1 - t.has_finally;
  t.handler_blocks = AJ_NEW_ARRAY(lo->arena, t.handlers, LLVMBasicBlockRef);
  t.direct = AJ_NEW_ARRAY(lo->arena, t.handlers, LLVMBasicBlockRef);
  if (lo->arena->failed) return;
  for (uint32_t i = 0; i < t.handlers; i++) {
    t.handler_blocks[i] = aj_ir_block(lo, "handler");
    if (needs_no_exn(node->regions[1 + i])) t.direct[i] = aj_ir_block(lo, "handler");
  }
  t.onward = aj_ir_block(lo, "onward");
  t.out = t.has_finally ? aj_ir_block(lo, "out") : t.onward;
  aj_merge_begin(lo, &t.merge, scope, node, 1 + t.handlers);
  lower_body(lo, &t);
  for (uint32_t i = 0; i < t.handlers && !lo->arena->failed; i++) lower_handler(lo, &t, i);
  aj_merge_end(lo, &t.merge);
  if (t.has_finally) lower_finally(lo, &t);
  LLVMBasicBlockRef after = LLVMGetInsertBlock(lo->b);
  aj_ir_at(lo, t.out);
  lower_out(lo, &t);
  aj_ir_at(lo, after);
}
