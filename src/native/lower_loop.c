/* while and for. Carried scalars are phis; each carried array alternates between the loop's two slots for it: the
 * iteration reads `current` and makes the next value in `spare`, then they change places. The initial value is read
 * where it is and never written, so after the first iteration the second slot takes its place. */
#include "native/lower.h"

#include <string.h>

#include "ir/symbol.h"

typedef struct loop {
  aj_scope *scope;
  const aj_node *node;
  uint32_t first, count; /* operands that are initial values */
  LLVMBasicBlockRef head;
  LLVMValueRef iteration;        /* phi */
  LLVMValueRef *current, *spare; /* phis; spare of arrays only */
  aj_nan *nan;
  LLVMValueRef index;       /* phi, of for */
  LLVMValueRef mark;        /* exceptions before the loop; NULL: an iteration leaves none behind */
  LLVMValueRef (*late)[2];  /* of late carried values: their two arrays */
  LLVMValueRef arrays_mark; /* late arrays before the loop; NULL: the function has none */
} loop;

static bool is_array(const aj_value *value) { return !value->type->is_exn && value->type->rank > 0; }
static const aj_value *init_of(const loop *l, uint32_t i) { return l->node->operands[l->first + i]; }

/* Made by arithmetic, constant, or the carried value itself. */
bool aj_loop_yields_raw(const aj_node *node, uint32_t i) {
  const aj_region *body = node->regions[node->region_count - 1];
  const aj_node *yield = aj_region_terminator(body);
  if (!yield || yield->op != AJ_OP_YIELD) return true;
  const aj_value *value = yield->operands[i];
  if (!value->def) return value == body->params[(node->op == AJ_OP_FOR ? 1 : 0) + i];
  const aj_op_info *info = &aj_ops[value->def->op];
  return (info->lowering == AJ_LOWER_SCALAR && !(info->flags & AJ_F_BITS)) || value->def->op == AJ_OP_KERNEL;
}

/* A number of lists in one go. False: no memory. */
static bool init_lists(aj_lower *lo, loop *l) {
  l->current = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  l->spare = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  l->nan = AJ_NEW_ARRAY(lo->arena, l->count, aj_nan);
  l->late = aj_arena_array(lo->arena, l->count, sizeof *l->late);
  return !lo->arena->failed;
}

/* Late carried values get both of their arrays before the loop; what an iteration makes goes with it. */
static void make_late(aj_lower *lo, loop *l) {
  l->arrays_mark = NULL;
  if (!lo->arrays_mark) return;
  for (uint32_t i = 0; i < l->count; i++)
    for (uint32_t which = 0; which < 2 && aj_type_is_late(lo->module, init_of(l, i)->type); which++)
      l->late[i][which] = aj_lower_late(lo, l->scope, l->node, init_of(l, i)->type);
  l->arrays_mark = aj_lower_arrays_count(lo);
}

static LLVMValueRef slot_pointer(aj_lower *lo, const loop *l, uint32_t i, uint32_t which) {
  if (l->late[i][which]) return l->late[i][which];
  uint32_t slot = l->scope->plan->nodes[l->node->pc].buffers[i][which];
  return LLVMBuildGEP2(lo->b, lo->t_i8, lo->block, &lo->offsets[slot], 1, "");
}

/* The loop's header with its phis; the builder is left in it. */
static bool begin(aj_lower *lo, loop *l) {
  if (!init_lists(lo, l)) return false;
  LLVMValueRef *init = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  LLVMValueRef *spare = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  if (!init || !spare) return false;
  make_late(lo, l);
  if (l->node->mark) l->mark = aj_exn_list_length(lo);
  for (uint32_t i = 0; i < l->count; i++) {
    const aj_value *value = init_of(l, i);
    aj_lv lv = l->scope->vals[value->slot];
    l->nan[i] = lv.nan != AJ_NAN_KEEP && aj_loop_yields_raw(l->node, i) ? AJ_NAN_RAW : AJ_NAN_KEEP;
    init[i] = aj_type_is_scalar(value->type) && l->nan[i] == AJ_NAN_KEEP
                  ? aj_ir_canonical(lo, value->type->dtype, 1, lv)
                  : lv.v;
    if (is_array(value)) spare[i] = slot_pointer(lo, l, i, 0);
  }
  (void)aj_lower_iterations(lo, l->scope);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
  l->head = aj_ir_block(lo, "loop");
  LLVMBuildBr(lo->b, l->head);
  aj_ir_at(lo, l->head);
  l->iteration = aj_ir_phi(lo, lo->t_i64, aj_ir_i64(lo, 0), from);
  for (uint32_t i = 0; i < l->count; i++) {
    l->current[i] = aj_ir_phi(lo, LLVMTypeOf(init[i]), init[i], from);
    if (spare[i]) l->spare[i] = aj_ir_phi(lo, lo->t_ptr, spare[i], from);
  }
  return true;
}

static aj_lv carried(const loop *l, uint32_t i) { return (aj_lv){.v = l->current[i], .nan = l->nan[i]}; }

/* Region `index` with its parameters: `first_param` is where the carried values begin. */
static aj_scope enter(aj_lower *lo, loop *l, uint32_t index, uint32_t first_param) {
  aj_scope inner = aj_lower_scope(lo, l->scope, l->node, index);
  if (lo->arena->failed) return inner;
  inner.iteration = l->iteration;
  inner.loops++;
  inner.spares = l->spare;
  uint32_t captures = l->first + l->count;
  for (uint32_t i = 0; i < l->count; i++) inner.vals[inner.region->params[first_param + i]->slot] = carried(l, i);
  for (uint32_t i = first_param + l->count, k = captures; i < inner.region->param_count; i++, k++)
    inner.vals[inner.region->params[i]->slot] = l->scope->vals[l->node->operands[k]->slot];
  return inner;
}

/* Exceptions that are still carried survive the iteration. */
static void trim_exns(aj_lower *lo, loop *l, aj_scope *body, const aj_node *yield) {
  if (!l->mark) return;
  uint32_t count = 0;
  for (uint32_t i = 0; i < l->count; i++) count += init_of(l, i)->type->is_exn;
  LLVMValueRef keep = count ? aj_ir_alloca(lo, lo->t_ptr, count, 8) : NULL;
  uint32_t at = 0;
  for (uint32_t i = 0; i < l->count; i++)
    if (init_of(l, i)->type->is_exn)
      LLVMBuildStore(lo->b, body->vals[yield->operands[i]->slot].v, aj_ir_field(lo, keep, at++ * sizeof(void *)));
  LLVMBasicBlockRef some = aj_ir_block(lo, "trim"), go = aj_ir_block(lo, "go");
  LLVMValueRef grown = LLVMBuildICmp(lo->b, LLVMIntSGT, aj_exn_list_length(lo), l->mark, "");
  LLVMBuildCondBr(lo->b, grown, some, go);
  aj_ir_at(lo, some);
  aj_exn_list_trim(lo, l->mark, keep, count);
  LLVMBuildBr(lo->b, go);
  aj_ir_at(lo, go);
}

/* The next value of carried array i is in spare, or is copied there; one that stays the same changes nothing. */
static bool next_array(aj_lower *lo, loop *l, aj_scope *body, const aj_node *yield, uint32_t i, uint32_t param) {
  const aj_value *value = yield->operands[i];
  if (value == body->region->params[param]) return false;
  aj_dest dest = body->plan->dest[value->slot];
  if (dest.kind != AJ_DEST_SPARE || dest.index != i)
    aj_lower_copy(lo, body, yield, l->spare[i], body->vals[value->slot].v, aj_ir_bytes(lo, value->type));
  return true;
}

/* The back-edge: all new values are made before any phi changes. */
static void repeat(aj_lower *lo, loop *l, aj_scope *body, const aj_node *yield, uint32_t first_param) {
  LLVMValueRef *next = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  LLVMValueRef *spare = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  if (!next || !spare) return;
  aj_lower_poll(lo, body, yield, true);
  trim_exns(lo, l, body, yield);
  LLVMValueRef first = LLVMBuildICmp(lo->b, LLVMIntEQ, l->iteration, aj_ir_i64(lo, 0), "");
  for (uint32_t i = 0; i < l->count; i++) {
    const aj_value *value = yield->operands[i];
    aj_lv lv = body->vals[value->slot];
    next[i] = lv.v;
    if (aj_type_is_scalar(value->type) && l->nan[i] == AJ_NAN_KEEP)
      next[i] = aj_ir_canonical(lo, value->type->dtype, 1, lv);
    if (!is_array(value)) continue;
    bool changes = next_array(lo, l, body, yield, i, first_param + i);
    next[i] = changes ? l->spare[i] : l->current[i];
    spare[i] = changes ? LLVMBuildSelect(lo->b, first, slot_pointer(lo, l, i, 1), l->current[i], "") : l->spare[i];
  }
  if (l->arrays_mark) aj_lower_arrays_trim(lo, l->arrays_mark);
  LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
  aj_ir_add_incoming(l->iteration, LLVMBuildNSWAdd(lo->b, l->iteration, aj_ir_i64(lo, 1), ""), from);
  for (uint32_t i = 0; i < l->count; i++) {
    aj_ir_add_incoming(l->current[i], next[i], from);
    if (spare[i]) aj_ir_add_incoming(l->spare[i], spare[i], from);
  }
}

static void set_results(loop *l) {
  for (uint32_t i = 0; i < l->count; i++) l->scope->vals[l->node->results[i].slot] = carried(l, i);
}

/* A loop whose body never ends normally has no back-edge. */
void aj_lower_while(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  loop l = {.scope = scope, .node = node, .count = node->result_count};
  if (!begin(lo, &l)) return;
  LLVMBasicBlockRef exit = aj_ir_block(lo, "done"), body_block = aj_ir_block(lo, "body");
  aj_scope cond = enter(lo, &l, 0, 0);
  if (lo->arena->failed) return;
  const aj_node *test = aj_lower_region(lo, &cond);
  if (test) LLVMBuildCondBr(lo->b, cond.vals[test->operands[0]->slot].v, body_block, exit);
  aj_ir_at(lo, body_block);
  aj_scope body = enter(lo, &l, 1, 0);
  if (lo->arena->failed) return;
  const aj_node *yield = aj_lower_region(lo, &body);
  if (yield) {
    repeat(lo, &l, &body, yield, 0);
    LLVMBuildBr(lo->b, l.head);
  }
  aj_ir_at(lo, exit);
  set_results(&l);
}

/* i < hi, or i > hi when step is negative. */
static LLVMValueRef is_inside(aj_lower *lo, LLVMValueRef i, LLVMValueRef hi, LLVMValueRef step) {
  LLVMValueRef up = LLVMBuildICmp(lo->b, LLVMIntSLT, i, hi, ""), down = LLVMBuildICmp(lo->b, LLVMIntSGT, i, hi, "");
  LLVMValueRef positive = LLVMBuildICmp(lo->b, LLVMIntSGT, step, aj_ir_i64(lo, 0), "");
  if (LLVMIsAConstantInt(positive)) return LLVMConstIntGetZExtValue(positive) ? up : down;
  return LLVMBuildSelect(lo->b, positive, up, down, "");
}

/* By one, up or down: what is inside can then take another step without overflow. */
static bool is_unit(LLVMValueRef step) {
  if (!LLVMIsAConstantInt(step)) return false;
  int64_t value = (int64_t)LLVMConstIntGetSExtValue(step);
  return value == 1 || value == -1;
}

/* i + step and whether it overflowed, which is past any bound. */
static LLVMValueRef advance(aj_lower *lo, LLVMValueRef i, LLVMValueRef step, LLVMValueRef *out_overflow) {
  LLVMValueRef args[2] = {i, step};
  LLVMValueRef both = aj_ir_intrinsic(lo, "llvm.sadd.with.overflow", lo->t_i64, 2, args);
  *out_overflow = LLVMBuildExtractValue(lo->b, both, 1, "");
  return LLVMBuildExtractValue(lo->b, both, 0, "");
}

static void check_step(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef step) {
  LLVMBasicBlockRef go = aj_lower_cold(lo, LLVMBuildICmp(lo->b, LLVMIntEQ, step, aj_ir_i64(lo, 0), ""));
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope),
                         aj_lower_operands(lo, scope, node, 0, 3)};
  aj_ir_call(lo, "aj_nh_bad_step", lo->t_void, AJ_COUNT(args), args, true);
  aj_lower_land(lo, scope);
  aj_ir_at(lo, go);
}

/* The back-edge of a for; go_on is NULL when the header itself asks whether i is inside. */
static void repeat_for(aj_lower *lo, loop *l, aj_scope *body, const aj_node *yield, LLVMValueRef hi, LLVMValueRef step,
                       LLVMValueRef go_on) {
  LLVMValueRef next, overflow = NULL;
  repeat(lo, l, body, yield, 1);
  next = go_on ? advance(lo, l->index, step, &overflow) : LLVMBuildNSWAdd(lo->b, l->index, step, "");
  LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
  aj_ir_add_incoming(l->index, next, from);
  if (go_on) {
    LLVMValueRef inside = is_inside(lo, next, hi, step);
    aj_ir_add_incoming(go_on, LLVMBuildAnd(lo->b, inside, LLVMBuildNot(lo->b, overflow, ""), ""), from);
  }
  LLVMBuildBr(lo->b, l->head);
}

/* Whether i is inside is a phi, known before the header, so that an overflow ends the loop; steps of one have none. */
void aj_lower_for(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  loop l = {.scope = scope, .node = node, .first = 3, .count = node->result_count};
  LLVMValueRef lo_value = scope->vals[node->operands[0]->slot].v, hi = scope->vals[node->operands[1]->slot].v;
  LLVMValueRef step = scope->vals[node->operands[2]->slot].v;
  check_step(lo, scope, node, step);
  LLVMValueRef inside = is_inside(lo, lo_value, hi, step);
  if (!begin(lo, &l)) return;
  LLVMBasicBlockRef before = LLVMGetIncomingBlock(l.iteration, 0);
  l.index = aj_ir_phi(lo, lo->t_i64, lo_value, before);
  LLVMValueRef go_on = is_unit(step) ? NULL : aj_ir_phi(lo, lo->t_i1, inside, before);
  LLVMBasicBlockRef exit = aj_ir_block(lo, "done"), body_block = aj_ir_block(lo, "body");
  LLVMBuildCondBr(lo->b, go_on ? go_on : is_inside(lo, l.index, hi, step), body_block, exit);
  aj_ir_at(lo, body_block);
  aj_scope body = enter(lo, &l, 0, 1);
  if (lo->arena->failed) return;
  body.vals[body.region->params[0]->slot] = (aj_lv){.v = l.index, .nan = AJ_NAN_CANON};
  const aj_node *yield = aj_lower_region(lo, &body);
  if (yield) repeat_for(lo, &l, &body, yield, hi, step, go_on);
  aj_ir_at(lo, exit);
  set_results(&l);
}
