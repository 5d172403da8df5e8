/* try. Failures of its body come to one landing, which asks for the handler; what no handler takes, and what fails in a
 * handler, goes onward: through the finally, when there is one, and out.
 *
 *   body --ok--> join --> finally --> after            finally has a phi: the exception that goes on after it, or null
 *     \-fail-> landing --> handler --ok--> join
 *                 \            \-fail-> onward --> finally --> out
 *                  \-no match----------> onward
 *
 * A body from which nothing comes to the landing has none, and its handlers only what catchers get (lower_known.c).
 * What handler and finally take into the list of exceptions they give back, so that a try around a loop's body costs an
 * iteration nothing as long as nothing is raised. */
#include "native/lower.h"

typedef struct trying {
  aj_scope *scope;
  const aj_node *node, *finished;
  const aj_landing *outer; /* of failures that leave the try; NULL: they pass the finally first */
  uint32_t handlers;
  bool has_finally, lands;           /* lands: some failure of the body comes to the landing */
  LLVMBasicBlockRef *handler_blocks; /* entered with run->exn set */
  aj_catcher **catchers;
  LLVMBasicBlockRef onward, out;
  aj_merge merge;
} trying;

/* What failed while `handled` was handled, or waited behind a finally, has it as its context. */
static void link_context(aj_lower *lo, LLVMValueRef handled) {
  LLVMValueRef args[] = {lo->run, handled};
  aj_ir_call(lo, "aj_nh_context", lo->t_void, 2, args, true);
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
  aj_landing landing = {.block = aj_ir_block(lo, "landing"),
                        .stop = t->finished->regions[0],
                        .try_node = t->node,
                        .catchers = t->catchers,
                        .outer = t->outer};
  aj_scope body = inner_scope(lo, t, 0, &landing);
  if (lo->arena->failed) return;
  const aj_node *yield = aj_lower_region(lo, &body);
  if (yield) aj_merge_add(lo, &t->merge, &body, yield);
  t->lands = LLVMGetFirstUse(LLVMBasicBlockAsValue(landing.block)) != NULL;
  if (!t->lands) {
    LLVMDeleteBasicBlock(landing.block);
    return;
  }
  aj_ir_at(lo, landing.block);
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, t->node)};
  LLVMValueRef which = aj_ir_call(lo, "aj_nh_match", lo->t_i32, 2, args, false);
  LLVMValueRef branch = LLVMBuildSwitch(lo->b, which, t->onward, t->handlers);
  for (uint32_t i = 0; i < t->handlers; i++) {
    t->handler_blocks[i] = aj_ir_block(lo, "handler");
    LLVMAddCase(branch, aj_ir_i32(lo, (int32_t)i), t->handler_blocks[i]);
  }
}

/* ---- handlers ---- */

static void lower_catcher(aj_lower *lo, trying *t, uint32_t i) {
  aj_landing landing = {.block = aj_ir_block(lo, "landing"), .stop = t->finished->regions[1 + i], .outer = t->outer};
  if (t->lands) {
    aj_ir_at(lo, t->handler_blocks[i]);
    aj_catcher_take(lo, t->catchers[i]);
  }
  aj_lv exn;
  if (aj_catcher_begin(lo, t->catchers[i], &exn)) {
    aj_scope handler = inner_scope(lo, t, 1 + i, &landing);
    if (lo->arena->failed) return;
    handler.vals[handler.region->params[0]->slot] = exn;
    const aj_node *yield = aj_lower_region(lo, &handler);
    if (yield) aj_merge_add(lo, &t->merge, &handler, yield);
  }
  aj_ir_at(lo, landing.block); /* for an exception of its own that found no memory */
  LLVMBuildBr(lo->b, t->onward);
}

/* Takes the exception into the list; *out_mark: the list's length before. */
static LLVMValueRef enter_handler(aj_lower *lo, trying *t, uint32_t i, LLVMValueRef *out_mark) {
  aj_ir_at(lo, t->handler_blocks[i]);
  *out_mark = aj_exn_list_length(lo);
  LLVMValueRef args[] = {lo->run, aj_exn_list(lo)};
  LLVMValueRef exn = aj_ir_call(lo, "aj_nh_take", lo->t_ptr, 2, args, false);
  LLVMBasicBlockRef go = aj_ir_block(lo, "handle");
  LLVMBuildCondBr(lo->b, LLVMBuildIsNull(lo->b, exn, ""), t->onward, go);
  aj_ir_at(lo, go);
  return exn;
}

/* Gives back all but the exceptions that are yielded. */
static void leave_handler(aj_lower *lo, const aj_scope *handler, const aj_node *yield, LLVMValueRef mark) {
  uint32_t count = 0, at = 0;
  for (uint32_t i = 0; i < yield->operand_count; i++) count += yield->operands[i]->type->is_exn;
  LLVMValueRef kept = count ? aj_ir_alloca(lo, lo->t_ptr, count, 8) : NULL;
  for (uint32_t i = 0; i < yield->operand_count; i++)
    if (yield->operands[i]->type->is_exn)
      LLVMBuildStore(lo->b, handler->vals[yield->operands[i]->slot].v, aj_ir_field(lo, kept, at++ * sizeof(void *)));
  aj_exn_list_trim(lo, mark, kept, count);
}

static void lower_handler(aj_lower *lo, trying *t, uint32_t i) {
  aj_landing landing = {.block = aj_ir_block(lo, "landing"), .stop = t->finished->regions[1 + i], .outer = t->outer};
  LLVMValueRef exn = enter_handler(lo, t, i, &landing.mark);
  aj_scope handler = inner_scope(lo, t, 1 + i, &landing);
  if (lo->arena->failed) return;
  handler.vals[handler.region->params[0]->slot] = (aj_lv){.v = exn};
  const aj_node *yield = aj_lower_region(lo, &handler);
  if (yield) {
    leave_handler(lo, &handler, yield, landing.mark);
    aj_merge_add(lo, &t->merge, &handler, yield);
  }
  aj_ir_at(lo, landing.block);
  link_context(lo, exn);
  aj_exn_list_trim(lo, landing.mark, NULL, 0);
  LLVMBuildBr(lo->b, t->onward);
}

/* ---- finally ---- */

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

/* Runs the finally's region; failures in it go to the landing, which is left to the caller. True: it ends normally. */
static bool lower_finally_region(aj_lower *lo, trying *t, const aj_landing *landing) {
  aj_scope finally = inner_scope(lo, t, t->node->region_count - 1, landing);
  return !lo->arena->failed && aj_lower_region(lo, &finally);
}

static void lower_finally(aj_lower *lo, trying *t) {
  LLVMBasicBlockRef block = aj_ir_block(lo, "finally"), joined = LLVMGetInsertBlock(lo->b);
  LLVMBasicBlockRef after = aj_ir_block(lo, "after"), again = aj_ir_block(lo, "again");
  aj_landing landing = {.block = aj_ir_block(lo, "landing"), .stop = t->finished->regions[t->node->region_count - 1]};
  LLVMValueRef joined_mark = aj_exn_list_length(lo);
  LLVMBuildBr(lo->b, block);
  aj_ir_at(lo, t->onward);
  LLVMValueRef onward_mark = aj_exn_list_length(lo), begin_args[] = {lo->run, aj_exn_list(lo)};
  LLVMValueRef exn = aj_ir_call(lo, "aj_nh_begin_finally", lo->t_ptr, 2, begin_args, false);
  LLVMBuildCondBr(lo->b, LLVMBuildIsNull(lo->b, exn, ""), t->out, block);
  aj_ir_at(lo, block);
  LLVMValueRef pending = aj_ir_phi(lo, lo->t_ptr, LLVMConstNull(lo->t_ptr), joined);
  aj_ir_add_incoming(pending, exn, t->onward);
  LLVMValueRef mark = aj_ir_phi(lo, lo->t_i64, joined_mark, joined);
  aj_ir_add_incoming(mark, onward_mark, t->onward);
  carry_results(lo, t, joined, t->onward);
  LLVMValueRef began = aj_ir_call(lo, "aj_nh_mask", lo->t_i32, 1, &lo->run, false);
  if (lower_finally_region(lo, t, &landing)) {
    end_finally(lo, began);
    LLVMBuildCondBr(lo->b, LLVMBuildIsNull(lo->b, pending, ""), after, again);
  }
  if (lo->arena->failed) return;
  aj_ir_at(lo, landing.block);
  link_context(lo, pending);
  aj_exn_list_trim(lo, mark, NULL, 0);
  end_finally(lo, began);
  LLVMBuildBr(lo->b, t->out);
  aj_ir_at(lo, again);
  LLVMValueRef args[] = {lo->run, pending};
  aj_ir_call(lo, "aj_nh_again", lo->t_void, 2, args, false);
  aj_exn_list_trim(lo, mark, NULL, 0);
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

/* Handlers that are catchers must be known before anything raises to them. */
static void find_catchers(aj_lower *lo, trying *t) {
  const aj_attr *kinds = aj_node_attr(t->node, AJ_ATTR_KINDS);
  for (uint32_t i = 0; i < t->handlers; i++)
    t->catchers[i] = aj_catcher_make(lo, t->node->regions[1 + i], (arrjit_kind)kinds->u.ints[i], t->outer);
}

void aj_lower_try(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  trying t = {.scope = scope, .node = node, .finished = node->origin ? node->origin : node};
  t.has_finally = aj_node_int(node, AJ_ATTR_FINALLY) != 0;
  t.outer = t.has_finally ? NULL : scope->landing;
  t.handlers = node->region_count - 1 - t.has_finally;
  t.handler_blocks = AJ_NEW_ARRAY(lo->arena, t.handlers, LLVMBasicBlockRef);
  t.catchers = AJ_NEW_ARRAY(lo->arena, t.handlers, aj_catcher *);
  if (lo->arena->failed) return;
  find_catchers(lo, &t);
  t.onward = aj_ir_block(lo, "onward");
  t.out = t.has_finally ? aj_ir_block(lo, "out") : t.onward;
  aj_merge_begin(lo, &t.merge, scope, node, 1 + t.handlers);
  lower_body(lo, &t);
  for (uint32_t i = 0; i < t.handlers && !lo->arena->failed; i++) {
    if (t.catchers[i])
      lower_catcher(lo, &t, i);
    else if (t.lands)
      lower_handler(lo, &t, i);
  }
  aj_merge_end(lo, &t.merge);
  if (t.has_finally) lower_finally(lo, &t);
  LLVMBasicBlockRef after = LLVMGetInsertBlock(lo->b);
  aj_ir_at(lo, t.out);
  lower_out(lo, &t);
  aj_ir_at(lo, after);
}
