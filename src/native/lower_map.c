/* Maps: a vector of lanes under masks, and behind it, cold, the same lanes one by one, for when the vector is given up.
 * The kernel's loops around it are those of any elementwise kernel. */
#include "native/lower_map.h"

#include <string.h>

bool aj_kernel_is_map(const aj_node *node) { return (node->origin ? node->origin : node)->op == AJ_OP_MAP; }

/* ---- what the region is like ---- */

static bool is_loop(const aj_node *node) { return node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR; }

static uint32_t widen(uint32_t widest, const aj_type *type) {
  uint32_t bytes = type->is_exn ? 1 : aj_kernel_width(type->dtype);
  return bytes > widest ? bytes : widest;
}

/* Calls of `next` until NULL: all nodes inside, the region's own terminator last. */
typedef struct inside {
  aj_walk walk;
  const aj_node *node, *last;
} inside;

static inside start_inside(const aj_region *region) {
  aj_region *start = (aj_region *)(uintptr_t)region; /* walking changes nothing */
  return (inside){
      .walk = {.func = region->func, .region = start}, .node = region->nodes[0], .last = aj_region_terminator(region)};
}

static void step_inside(inside *i) { i->node = i->node == i->last ? NULL : aj_walk_next(&i->walk); }

/* Constants are the same in all lanes. */
uint32_t aj_map_widest(const aj_region *region) {
  uint32_t widest = 1;
  for (inside i = start_inside(region); i.node; step_inside(&i))
    for (uint32_t r = 0; i.node->op != AJ_OP_CONST && r < i.node->result_count; r++)
      widest = widen(widest, i.node->results[r].type);
  return widest;
}

uint32_t aj_map_size(const aj_region *region) {
  uint32_t size = 0;
  for (inside i = start_inside(region); i.node; step_inside(&i)) size++;
  return size;
}

bool aj_map_has_loops(const aj_region *region) {
  for (inside i = start_inside(region); i.node; step_inside(&i))
    if (is_loop(i.node)) return true;
  return false;
}

/* 16-bit floats are f32 where they are computed with. */
static bool has_f32(const aj_region *region) {
  for (inside i = start_inside(region); i.node; step_inside(&i))
    for (uint32_t r = 0; r < i.node->result_count; r++)
      if (i.node->results[r].type->dtype == ARRJIT_F32 || aj_dtype_is_half(i.node->results[r].type->dtype)) return true;
  return false;
}

/* ---- one lane ---- */

static LLVMValueRef iterations_left(aj_lower *lo) {
  return aj_ir_field(lo, lo->run, offsetof(aj_run, iterations_left));
}

/* Exceptions that the lane made and nobody has any more. */
static void drop_exns(aj_lower *lo, LLVMValueRef mark) {
  LLVMValueRef args[] = {lo->exns, mark, LLVMConstNull(lo->t_ptr), aj_ir_i64(lo, 0)};
  aj_ir_call(lo, "aj_nh_exns_trim", lo->t_void, AJ_COUNT(args), args, false);
}

/* The region at one point, as any region: failures land where the map's do. False: the lane never yields; the builder's
 * block is closed. */
static bool lower_lane(aj_kernel *k, const aj_points *p, LLVMValueRef flat, aj_lv *results) {
  aj_lower *lo = k->lo;
  bool loops = aj_map_has_loops(k->body);
  aj_scope scope = {.parent = k->scope,
                    .region = k->body,
                    .plan = k->scope->plan->nodes[k->node->pc].regions[0],
                    .vals = AJ_NEW_ARRAY(lo->arena, k->body->slot_count, aj_lv),
                    .iteration = flat,
                    .loops = k->scope->loops + 1,
                    .landing = k->scope->landing};
  if (lo->arena->failed) return true;
  for (uint32_t i = 0; i < k->operand_count; i++)
    scope.vals[k->body->params[i]->slot] = aj_kernel_load(k, p, &k->operands[i]);
  for (uint32_t pc = 0; pc < k->body->node_count; pc++) {
    const aj_node *node = k->body->nodes[pc];
    if (node->op == AJ_OP_LANE_INDEX)
      scope.vals[node->results[0].slot] = aj_kernel_lane_index(k, p, (int32_t)aj_node_int(node, AJ_ATTR_AXIS));
  }
  (void)aj_lower_iterations(lo, k->scope);
  LLVMValueRef left = loops ? aj_ir_load(lo, lo->t_i64, iterations_left(lo)) : NULL;
  LLVMValueRef mark = lo->exns ? aj_ir_load(lo, lo->t_i64, lo->exns) : NULL;
  int64_t lowered = lo->lowered; /* the region has been counted */
  const aj_node *yield = aj_lower_region(lo, &scope);
  lo->lowered = lowered;
  if (!yield) return false;
  if (left) LLVMBuildStore(lo->b, left, iterations_left(lo));
  if (mark) drop_exns(lo, mark);
  for (uint32_t i = 0; i < k->result_count; i++) results[i] = scope.vals[yield->operands[i]->slot];
  return true;
}

/* What a region gives that always raises, as one may when arms have been folded: nobody sees it. */
static LLVMValueRef give_nothing(aj_kernel *k, uint32_t result, uint32_t lanes) {
  return LLVMConstNull(aj_ir_type(k->lo, aj_kernel_dtype(k, result), lanes));
}

/* ---- lane by lane ---- */

/* How many of the vector's points are there. */
static LLVMValueRef count_there(aj_kernel *k, const aj_points *p) {
  LLVMValueRef all = aj_ir_i64(k->lo, p->lanes);
  if (!p->limit) return all;
  LLVMValueRef left = LLVMBuildSub(k->lo->b, p->limit, p->at, "");
  return LLVMBuildSelect(k->lo->b, LLVMBuildICmp(k->lo->b, LLVMIntSLT, left, all, ""), left, all, "");
}

/* Results go by way of memory into vectors again. */
static void lower_one_by_one(aj_kernel *k, const aj_points *p, LLVMValueRef flat, LLVMValueRef *vectors) {
  aj_lower *lo = k->lo;
  LLVMValueRef *buffers = AJ_NEW_ARRAY(lo->arena, k->result_count, LLVMValueRef);
  aj_lv *results = AJ_NEW_ARRAY(lo->arena, k->result_count, aj_lv);
  if (lo->arena->failed) return;
  for (uint32_t i = 0; i < k->result_count; i++) {
    LLVMTypeRef type = aj_ir_memory_type(lo, aj_kernel_dtype(k, i), p->lanes);
    buffers[i] = aj_ir_alloca(lo, type, 1, AJ_NH_ALIGN);
    LLVMBuildStore(lo->b, LLVMConstNull(type), buffers[i]);
  }
  aj_kernel_poll(k); /* between its polls a kernel counts on vectors */
  aj_ir_loop loop = aj_ir_loop_begin(lo, count_there(k, p));
  aj_points one = {.lanes = 1, .at = LLVMBuildAdd(lo->b, p->at, loop.index, ""), .limit = p->limit};
  if (lower_lane(k, &one, LLVMBuildAdd(lo->b, flat, loop.index, ""), results)) {
    for (uint32_t i = 0; i < k->result_count; i++) {
      arrjit_dtype dtype = aj_kernel_dtype(k, i);
      aj_ir_store_element(lo, dtype, 1, results[i], aj_ir_index(lo, buffers[i], dtype, loop.index));
    }
    aj_ir_loop_end(lo, &loop);
  }
  aj_ir_at(lo, loop.exit);
  for (uint32_t i = 0; i < k->result_count; i++)
    vectors[i] = aj_ir_load_element(lo, aj_kernel_dtype(k, i), p->lanes, buffers[i]).v;
}

/* ---- a vector of lanes ---- */

static void set_params(aj_lanes *m, aj_lane_scope *s) {
  for (uint32_t i = 0; i < m->k->operand_count; i++) {
    const aj_kernel_operand *o = &m->k->operands[i];
    aj_lane_value *out = &s->vals[s->region->params[i]->slot];
    if (o->access == AJ_ACCESS_SPLAT) {
      *out = aj_lanes_spread(m, o->dtype, o->hoisted);
      continue;
    }
    aj_lv lv = aj_kernel_load(m->k, m->points, o);
    *out = (aj_lane_value){.v = o->dtype == ARRJIT_BOOL ? aj_lanes_mask(m, lv.v) : lv.v, .nan = lv.nan};
  }
}

static void lower_vector(aj_lanes *m, LLVMValueRef *vectors) {
  aj_lower *lo = m->lo;
  aj_kernel *k = m->k;
  LLVMValueRef all = LLVMConstAllOnes(aj_ir_int_type(lo, 1, m->lanes)), there = aj_kernel_there(k, m->points);
  aj_lane_scope s = {.region = k->body,
                     .vals = AJ_NEW_ARRAY(lo->arena, k->body->slot_count, aj_lane_value),
                     .active = aj_lanes_mask(m, there ? there : all)};
  if (lo->arena->failed) return;
  m->budget = aj_ir_alloca(lo, lo->t_i64, 1, 8);
  LLVMBuildStore(lo->b, aj_ir_load(lo, lo->t_i64, iterations_left(lo)), m->budget);
  set_params(m, &s);
  const aj_node *yield = aj_lanes_region(m, &s);
  for (uint32_t i = 0; i < k->result_count && !lo->arena->failed; i++) {
    arrjit_dtype dtype = aj_kernel_dtype(k, i);
    if (!yield) vectors[i] = give_nothing(k, i, m->lanes);
    if (!yield) continue;
    vectors[i] = aj_ir_canonical(lo, dtype, m->lanes, aj_lanes_plain(m, dtype, s.vals[yield->operands[i]->slot]));
  }
}

/* Where the machine has mask registers a mask stays one; else it is as wide as what it selects between. */
static LLVMTypeRef choose_mask(aj_kernel *k, uint32_t lanes) {
  uint32_t bits = k->lo->target->vector_bytes == 64 ? 1 : has_f32(k->body) ? 32 : 8 * aj_map_widest(k->body);
  return aj_ir_int_type(k->lo, bits, lanes);
}

void aj_map_eval(aj_kernel *k, const aj_points *p, LLVMValueRef flat, aj_lv *results) {
  aj_lower *lo = k->lo;
  if (p->lanes == 1) {
    if (lower_lane(k, p, flat, results)) return;
    aj_ir_at(lo, aj_ir_block(lo, "never"));
    for (uint32_t i = 0; i < k->result_count; i++) results[i].v = give_nothing(k, i, 1);
    return;
  }
  LLVMValueRef *fast = AJ_NEW_ARRAY(lo->arena, k->result_count, LLVMValueRef);
  LLVMValueRef *slow = AJ_NEW_ARRAY(lo->arena, k->result_count, LLVMValueRef);
  aj_lanes m = {.lo = lo, .k = k, .points = p, .lanes = p->lanes, .give_up = aj_ir_block(lo, "one_by_one")};
  if (lo->arena->failed) return;
  m.mask = choose_mask(k, p->lanes);
  LLVMBasicBlockRef join = aj_ir_block(lo, "lanes_done");
  lower_vector(&m, fast);
  LLVMBasicBlockRef fast_end = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, join);
  aj_ir_at(lo, m.give_up);
  if (k->block) aj_block_tell(k, flat);
  lower_one_by_one(k, p, flat, slow);
  LLVMBasicBlockRef slow_end = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, join);
  aj_ir_at(lo, join);
  for (uint32_t i = 0; i < k->result_count && !lo->arena->failed; i++) {
    LLVMValueRef phi = aj_ir_phi(lo, LLVMTypeOf(fast[i]), fast[i], fast_end);
    aj_ir_add_incoming(phi, slow[i], slow_end);
    results[i] = (aj_lv){.v = phi, .nan = AJ_NAN_KEEP};
  }
}
