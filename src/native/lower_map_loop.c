/* Maps on vectors of lanes: while and for. A loop turns until no lane is active; lanes that are done keep their values.
 *
 *   before:  active, values              head:  active, values are phis
 *   head:    condition under active      body:  under the lanes that go on; the new values are taken by those that
 *   body:    ... back to head                   reach its end
 *
 * All active lanes are in the same turn, so the counter of a for is one number as long as its bounds lo and step are.
 * A turn counts for every lane: where that may be more than a lane was allowed, the vector is given up, and lanes one
 * by one count exactly. */
#include "native/lower_map.h"

typedef struct lane_loop {
  aj_lane_scope *s;
  const aj_node *node;
  uint32_t first, count; /* operands that are initial values */
  LLVMBasicBlockRef head, exit;
  aj_lane_value *values; /* phis; none for exceptions */
  LLVMValueRef active;   /* phi */
} lane_loop;

static const aj_type *type_of(const lane_loop *l, uint32_t i) { return l->node->results[i].type; }

static LLVMValueRef as_state(aj_lanes *m, const lane_loop *l, uint32_t i, aj_lane_value value) {
  aj_lv lv = {.v = value.v, .nan = value.nan};
  return l->values[i].nan == AJ_NAN_KEEP ? aj_ir_canonical(m->lo, type_of(l, i)->dtype, m->lanes, lv) : lv.v;
}

/* The header and its phis; the builder is left in it. False: no memory. */
static bool begin(aj_lanes *m, lane_loop *l) {
  aj_lower *lo = m->lo;
  l->values = AJ_NEW_ARRAY(lo->arena, l->count, aj_lane_value);
  LLVMValueRef *init = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  if (lo->arena->failed) return false;
  for (uint32_t i = 0; i < l->count; i++) {
    if (type_of(l, i)->is_exn) continue;
    aj_lane_value value = l->s->vals[l->node->operands[l->first + i]->slot];
    bool raw = value.nan != AJ_NAN_KEEP && aj_loop_yields_raw(l->node, i);
    l->values[i].nan = raw ? AJ_NAN_RAW : AJ_NAN_KEEP;
    init[i] = as_state(m, l, i, value);
  }
  LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
  l->head = aj_ir_block(lo, "lanes");
  l->exit = aj_ir_block(lo, "lanes_out");
  LLVMBuildBr(lo->b, l->head);
  aj_ir_at(lo, l->head);
  for (uint32_t i = 0; i < l->count; i++)
    if (init[i]) l->values[i].v = aj_ir_phi(lo, LLVMTypeOf(init[i]), init[i], from);
  l->active = aj_ir_phi(lo, m->mask, l->active, from);
  return true;
}

static aj_lane_scope enter(aj_lanes *m, const lane_loop *l, uint32_t index, uint32_t first_param, LLVMValueRef active) {
  aj_lane_scope inner = aj_lanes_enter(m, l->s, l->node, index, active);
  for (uint32_t i = 0; i < l->count && inner.vals; i++)
    inner.vals[inner.region->params[first_param + i]->slot] = l->values[i];
  return inner;
}

/* Flags and iterations, once a turn. */
static void poll(aj_lanes *m) {
  aj_lower *lo = m->lo;
  LLVMBuilderRef b = lo->b;
  LLVMValueRef left = LLVMBuildSub(b, aj_ir_load(lo, lo->t_i64, m->budget), aj_ir_i64(lo, 1), "");
  LLVMBuildStore(b, left, m->budget);
  LLVMValueRef spent = LLVMBuildICmp(b, LLVMIntSLT, left, aj_ir_i64(lo, 0), "");
  LLVMBasicBlockRef go = aj_lower_cold(lo, LLVMBuildOr(b, spent, aj_lower_due(lo), ""));
  LLVMValueRef due = aj_ir_call(lo, "aj_nh_due", lo->t_i32, 1, &lo->run, true);
  LLVMValueRef limit = LLVMBuildAnd(b, aj_lower_stop_flags(lo), aj_ir_i32(lo, AJ_STOP_LIMIT), ""); /* of back-edges */
  LLVMValueRef stop = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildOr(b, due, limit, ""), aj_ir_i32(lo, 0), "");
  LLVMBuildCondBr(b, LLVMBuildOr(b, spent, stop, ""), m->give_up, go);
  aj_ir_at(lo, go);
}

/* The back-edge: lanes at the body's end take the new values. A body that never yields leaves nobody active. */
static void repeat(aj_lanes *m, lane_loop *l, const aj_lane_scope *body, const aj_node *yield, LLVMValueRef again) {
  aj_lower *lo = m->lo;
  LLVMValueRef *next = AJ_NEW_ARRAY(lo->arena, l->count, LLVMValueRef);
  if (!next) return;
  for (uint32_t i = 0; i < l->count; i++) {
    aj_lane_value old = l->values[i];
    if (!old.v) continue;
    next[i] = old.v;
    if (!yield) continue;
    aj_lane_value made = body->vals[yield->operands[i]->slot];
    next[i] = as_state(m, l, i, aj_lanes_blend(m, type_of(l, i), body->active, made, old));
  }
  LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
  for (uint32_t i = 0; i < l->count; i++)
    if (next[i]) aj_ir_add_incoming(l->values[i].v, next[i], from);
  aj_ir_add_incoming(l->active, again, from);
  LLVMBuildBr(lo->b, l->head);
}

/* Behind the loop: active are the lanes that came, without those that went to handlers meanwhile. */
static void finish(aj_lanes *m, lane_loop *l, uint32_t leaves) {
  aj_ir_at(m->lo, l->exit);
  for (uint32_t i = 0; i < l->count; i++) l->s->vals[l->node->results[i].slot] = l->values[i];
  if (m->leaves != leaves) l->s->active = aj_lanes_stayed(m, l->s);
}

void aj_lanes_while(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lower *lo = m->lo;
  lane_loop l = {.s = s, .node = node, .count = node->result_count, .active = s->active};
  uint32_t leaves = m->leaves;
  if (!begin(m, &l)) return;
  LLVMBasicBlockRef body_block = aj_ir_block(lo, "lanes_body");
  aj_lane_scope cond = enter(m, &l, 0, 0, l.active);
  if (lo->arena->failed) return;
  const aj_node *test = aj_lanes_region(m, &cond);
  LLVMValueRef go = aj_lanes_none(m);
  if (test) go = LLVMBuildAnd(lo->b, cond.active, cond.vals[test->operands[0]->slot].v, "");
  LLVMBuildCondBr(lo->b, aj_lanes_any(m, go), body_block, l.exit);
  aj_ir_at(lo, body_block);
  aj_lane_scope body = enter(m, &l, 1, 0, go);
  if (lo->arena->failed) return;
  const aj_node *yield = aj_lanes_region(m, &body);
  poll(m);
  repeat(m, &l, &body, yield, body.active);
  finish(m, &l, leaves);
}

/* ---- for ---- */

typedef struct bounds {
  uint32_t lanes; /* 1: lo and step are the same in all lanes, and so is the counter */
  LLVMValueRef lo, hi, step;
} bounds;

static LLVMValueRef widen(aj_lanes *m, const bounds *b, LLVMValueRef v) {
  return b->lanes == 1 ? aj_ir_splat(m->lo, v, m->lanes) : v;
}

/* i < hi, or i > hi when step is negative. */
static LLVMValueRef is_inside(aj_lanes *m, const bounds *b, LLVMValueRef i) {
  LLVMBuilderRef at = m->lo->b;
  LLVMValueRef wide = widen(m, b, i), step = widen(m, b, b->step);
  LLVMValueRef up = LLVMBuildICmp(at, LLVMIntSLT, wide, b->hi, ""),
               down = LLVMBuildICmp(at, LLVMIntSGT, wide, b->hi, "");
  LLVMValueRef positive = LLVMBuildICmp(at, LLVMIntSGT, step, LLVMConstNull(LLVMTypeOf(step)), "");
  return aj_lanes_mask(m, LLVMBuildSelect(at, positive, up, down, ""));
}

static bounds read_bounds(const aj_lanes *m, const aj_lane_scope *s, const aj_node *node) {
  const aj_lane_value *lo = &s->vals[node->operands[0]->slot], *step = &s->vals[node->operands[2]->slot];
  bool same = lo->one && step->one;
  return (bounds){.lanes = same ? 1 : m->lanes,
                  .lo = same ? lo->one : lo->v,
                  .hi = s->vals[node->operands[1]->slot].v,
                  .step = same ? step->one : step->v};
}

/* i + step; *out_more: lanes where that did not overflow, which is past any bound. */
static LLVMValueRef advance(aj_lanes *m, const bounds *b, LLVMValueRef i, LLVMValueRef *out_more) {
  LLVMValueRef args[2] = {i, b->step};
  LLVMValueRef both = aj_ir_intrinsic(m->lo, "llvm.sadd.with.overflow", LLVMTypeOf(i), 2, args);
  LLVMValueRef over = LLVMBuildExtractValue(m->lo->b, both, 1, "");
  *out_more = aj_lanes_mask(m, widen(m, b, LLVMBuildNot(m->lo->b, over, "")));
  return LLVMBuildExtractValue(m->lo->b, both, 0, "");
}

static void check_step(aj_lanes *m, aj_lane_scope *s, const bounds *b) {
  LLVMValueRef bad = LLVMBuildICmp(m->lo->b, LLVMIntEQ, b->step, LLVMConstNull(LLVMTypeOf(b->step)), "");
  if (LLVMIsAConstantInt(bad) && LLVMConstIntGetZExtValue(bad) == 0) return;
  aj_lanes_raise(m, s, ARRJIT_KIND_ARITH, LLVMBuildAnd(m->lo->b, s->active, aj_lanes_mask(m, widen(m, b, bad)), ""));
}

void aj_lanes_for(aj_lanes *m, aj_lane_scope *s, const aj_node *node) {
  aj_lower *lo = m->lo;
  bounds b = read_bounds(m, s, node);
  uint32_t leaves = m->leaves;
  check_step(m, s, &b);
  lane_loop l = {.s = s, .node = node, .first = 3, .count = node->result_count};
  l.active = LLVMBuildAnd(lo->b, s->active, is_inside(m, &b, b.lo), "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), body_block = aj_ir_block(lo, "lanes_body");
  if (!begin(m, &l)) return;
  LLVMValueRef index = aj_ir_phi(lo, LLVMTypeOf(b.lo), b.lo, before);
  LLVMBuildCondBr(lo->b, aj_lanes_any(m, l.active), body_block, l.exit);
  aj_ir_at(lo, body_block);
  aj_lane_scope body = enter(m, &l, 0, 1, l.active);
  if (lo->arena->failed) return;
  aj_lane_value counter = {.v = index, .nan = AJ_NAN_CANON};
  if (b.lanes == 1) counter = aj_lanes_spread(m, ARRJIT_I64, (aj_lv){.v = index, .nan = AJ_NAN_CANON});
  body.vals[body.region->params[0]->slot] = counter;
  const aj_node *yield = aj_lanes_region(m, &body);
  LLVMValueRef more;
  poll(m);
  LLVMValueRef next = advance(m, &b, index, &more);
  more = LLVMBuildAnd(lo->b, more, is_inside(m, &b, next), "");
  aj_ir_add_incoming(index, next, LLVMGetInsertBlock(lo->b));
  repeat(m, &l, &body, yield, LLVMBuildAnd(lo->b, body.active, more, ""));
  finish(m, &l, leaves);
}
