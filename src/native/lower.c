/* The skeleton: each function of the module becomes one LLVM function, each region a stretch of its blocks. */
#include "native/lower.h"

#include <stdio.h>
#include <string.h>

#include "ir/symbol.h"

/* ---- scopes and destinations ---- */

aj_scope aj_lower_scope(aj_lower *lo, aj_scope *parent, const aj_node *owner, uint32_t index) {
  const aj_region *region = owner->regions[index];
  return (aj_scope){.parent = parent,
                    .region = region,
                    .plan = parent->plan->nodes[owner->pc].regions[index],
                    .vals = AJ_NEW_ARRAY(lo->arena, region->slot_count, aj_lv),
                    .iteration = parent->iteration,
                    .loops = parent->loops,
                    .landing = parent->landing};
}

static LLVMValueRef load_pointer(aj_lower *lo, LLVMValueRef array, uint32_t i) {
  return aj_ir_load(lo, lo->t_ptr, aj_ir_field(lo, array, i * sizeof(void *)));
}

LLVMValueRef aj_lower_dest(aj_lower *lo, aj_scope *scope, const aj_value *value) {
  aj_dest dest = scope->plan->dest[value->slot];
  while (dest.kind == AJ_DEST_RESULT) {
    value = &scope->region->owner->results[dest.index];
    scope = scope->parent;
    dest = scope->plan->dest[value->slot];
  }
  switch (dest.kind) {
  case AJ_DEST_BLOCK: return LLVMBuildGEP2(lo->b, lo->t_i8, lo->block, &lo->offsets[dest.index], 1, "");
  case AJ_DEST_OUTPUT: return load_pointer(lo, lo->outputs, dest.index);
  case AJ_DEST_SPARE: return scope->spares[dest.index];
  case AJ_DEST_LATE: return scope->vals[value->slot].v; /* see make_late */
  case AJ_DEST_NONE:
  case AJ_DEST_RESULT: break;
  }
  AJ_ASSERT(!"a value without memory");
  return LLVMConstNull(lo->t_ptr);
}

enum { SHORT_BYTES = 4096 }; /* copied and zeroed without a poll */

static bool is_short(LLVMValueRef bytes) {
  return LLVMIsAConstantInt(bytes) && LLVMConstIntGetZExtValue(bytes) <= SHORT_BYTES;
}

void aj_lower_copy(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef to, LLVMValueRef from,
                   LLVMValueRef bytes) {
  if (is_short(bytes)) {
    aj_ir_copy(lo, to, from, bytes);
    return;
  }
  LLVMValueRef args[] = {
      lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope), to, from, bytes};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_copy", lo->t_i32, AJ_COUNT(args), args, false));
}

void aj_lower_zero(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef to, LLVMValueRef bytes) {
  if (is_short(bytes)) {
    LLVMBuildMemSet(lo->b, to, LLVMConstInt(lo->t_i8, 0, 0), bytes, 1);
    return;
  }
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope), to,
                         bytes};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_zero", lo->t_i32, AJ_COUNT(args), args, false));
}

void aj_lower_yield_array(aj_lower *lo, aj_scope *scope, const aj_value *value, uint32_t i) {
  aj_dest dest = scope->plan->dest[value->slot];
  bool root = !scope->parent;
  if (dest.kind == (root ? AJ_DEST_OUTPUT : AJ_DEST_RESULT) && dest.index == i) return;
  LLVMValueRef to =
      root ? load_pointer(lo, lo->outputs, i) : aj_lower_dest(lo, scope->parent, &scope->region->owner->results[i]);
  aj_lower_copy(lo, scope, aj_region_terminator(scope->region), to, scope->vals[value->slot].v,
                aj_ir_bytes(lo, value->type));
}

/* ---- late arrays ---- */

LLVMValueRef aj_lower_late(aj_lower *lo, const aj_scope *scope, const aj_node *node, const aj_type *type) {
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope),
                         aj_ir_pointer(lo, type), lo->env};
  LLVMValueRef data = aj_ir_call(lo, "aj_nh_array", lo->t_ptr, AJ_COUNT(args), args, false);
  aj_lower_land_if(lo, scope, LLVMBuildIsNull(lo->b, data, ""));
  return data;
}

/* Results of the node that are late get their memory before it runs. */
static void make_late(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_value *result = &node->results[i];
    if (scope->plan->dest[result->slot].kind == AJ_DEST_LATE)
      scope->vals[result->slot] = (aj_lv){.v = aj_lower_late(lo, scope, node, result->type)};
  }
}

LLVMValueRef aj_lower_arrays_count(aj_lower *lo) {
  return aj_ir_load(lo, lo->t_i64, aj_ir_field(lo, lo->run, offsetof(aj_run, arrays.count)));
}

void aj_lower_arrays_trim(aj_lower *lo, LLVMValueRef mark) {
  LLVMBasicBlockRef some = aj_ir_block(lo, "trim"), go = aj_ir_block(lo, "go");
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSGT, aj_lower_arrays_count(lo), mark, ""), some, go);
  aj_ir_at(lo, some);
  LLVMValueRef args[] = {lo->run, mark};
  aj_ir_call(lo, "aj_nh_arrays_trim", lo->t_void, AJ_COUNT(args), args, false);
  LLVMBuildBr(lo->b, go);
  aj_ir_at(lo, go);
}

/* ---- nodes ---- */

/* A constant: a scalar in the code, an array where the module has it; one element for all stays so for kernels. */
static void lower_const(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  const aj_type *type = node->results[0].type;
  const aj_attr *value = aj_node_attr(node, AJ_ATTR_VALUE);
  aj_lv *out = &scope->vals[node->results[0].slot];
  if (type->rank == 0) {
    *out = (aj_lv){.v = aj_ir_element(lo, type->dtype, value->u.bytes), .nan = AJ_NAN_KEEP};
    double number = 0;
    if (type->dtype == ARRJIT_F32) number = (double)*(const float *)value->u.bytes;
    if (type->dtype == ARRJIT_F64) memcpy(&number, value->u.bytes, sizeof number);
    if (number == number) out->nan = AJ_NAN_CANON;
    return;
  }
  *out = (aj_lv){.v = aj_ir_pointer(lo, value->u.bytes), .splat = value->count == aj_dtypes[type->dtype].bytes};
  if (scope->plan->dest[node->results[0].slot].kind == AJ_DEST_NONE) return;
  LLVMValueRef to = aj_lower_dest(lo, scope, &node->results[0]);
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope),
                         lo->env, to};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_fill", lo->t_i32, AJ_COUNT(args), args, false));
  *out = (aj_lv){.v = to};
}

static void lower_scalar_node(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_lv in[3] = {{0}};
  LLVMValueRef fail = NULL;
  for (uint32_t i = 0; i < node->operand_count; i++) in[i] = scope->vals[node->operands[i]->slot];
  aj_lv value = aj_lower_scalar(lo, 1, node, in, &fail);
  if (fail) aj_lower_checked(lo, scope, node, fail);
  scope->vals[node->results[0].slot] = value;
}

static void lower_check_shape(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), aj_lower_iterations(lo, scope),
                         lo->env};
  const aj_attr *shape = aj_node_attr(node, AJ_ATTR_SHAPE);
  const aj_type *from = node->operands[0]->type;
  bool known = true;
  for (uint32_t i = 0; i < shape->count; i++) known = known && aj_dim_equal(shape->u.ints[i], from->dims[i]);
  if (!known) aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_check_shape", lo->t_i32, AJ_COUNT(args), args, false));
  scope->vals[node->results[0].slot] = scope->vals[node->operands[0]->slot];
}

static void lower_control(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  if (node->op == AJ_OP_CONST)
    lower_const(lo, scope, node);
  else if (node->op == AJ_OP_DIM_SIZE) {
    int64_t dim = node->operands[0]->type->dims[aj_node_int(node, AJ_ATTR_AXIS)];
    scope->vals[node->results[0].slot] = (aj_lv){.v = aj_ir_dim(lo, dim), .nan = AJ_NAN_CANON};
  } else if (node->op == AJ_OP_IF || node->op == AJ_OP_SWITCH)
    aj_lower_if(lo, scope, node);
  else if (node->op == AJ_OP_WHILE)
    aj_lower_while(lo, scope, node);
  else if (node->op == AJ_OP_FOR)
    aj_lower_for(lo, scope, node);
  else if (node->op == AJ_OP_TRY)
    aj_lower_try(lo, scope, node);
  else if (node->op == AJ_OP_CALL)
    aj_lower_call(lo, scope, node);
  else if (node->op == AJ_OP_CHECK)
    aj_lower_check(lo, scope, node);
  else if (node->op == AJ_OP_CHECK_SHAPE)
    lower_check_shape(lo, scope, node);
  else if (node->op == AJ_OP_CALLBACK)
    aj_lower_callback(lo, scope, node);
  else if (node->op == AJ_OP_KERNEL)
    aj_lower_kernel(lo, scope, node);
  else if (node->op == AJ_OP_MAP)
    aj_lower_map(lo, scope, node);
  else if (aj_ops[node->op].rule == AJ_R_COMBINE || aj_ops[node->op].rule == AJ_R_CUMULATIVE)
    aj_lower_fold(lo, scope, node);
  else
    aj_lower_exn(lo, scope, node);
}

enum { NODES_UNPOLLED = 1024 }; /* scalar work between two polls, some microseconds */

static void lower_node(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  if (node->pc % NODES_UNPOLLED == NODES_UNPOLLED - 1) aj_lower_poll(lo, scope, node, false);
  bool scalar = node->result_count == 1 && aj_type_is_scalar(node->results[0].type);
  switch (aj_ops[node->op].lowering) {
  case AJ_LOWER_SCALAR:
    if (scalar)
      lower_scalar_node(lo, scope, node);
    else
      aj_lower_lone(lo, scope, node);
    break;
  case AJ_LOWER_REDUCE:
    if (aj_sem_expands(node)) { /* as below */
      aj_lower_fallback(lo, scope, node);
      lo->fallback++;
      return;
    }
    aj_lower_lone(lo, scope, node);
    break;
  case AJ_LOWER_MAP: aj_lower_lone(lo, scope, node); break;
  case AJ_LOWER_CONTROL: lower_control(lo, scope, node); break;
  case AJ_LOWER_EXPAND: /* the pass that expands was switched off */
  case AJ_LOWER_FALLBACK:
    aj_lower_fallback(lo, scope, node);
    lo->fallback++;
    return;
  }
  lo->lowered++;
}

/* Looks at the budget now and then. Past it lowering ends as it does without memory. */
static bool may_go_on(aj_lower *lo) {
  enum { NODES = 64 };
  if (lo->visited++ % NODES == 0 && lo->over == ARRJIT_OK) lo->over = aj_budget_check(lo->budget, 0);
  if (lo->over != ARRJIT_OK) lo->arena->failed = true;
  return !lo->arena->failed && !lo->keep->failed;
}

const aj_node *aj_lower_region(aj_lower *lo, aj_scope *scope) {
  aj_guard_state guard;
  bool ok = aj_guard_open(lo, scope->region, &guard);
  for (uint32_t pc = 0; ok && pc < scope->region->node_count; pc++) {
    const aj_node *node = scope->region->nodes[pc];
    if (!may_go_on(lo)) break;
    aj_guard_step(lo, &guard, pc, 1, scope->vals);
    if (node->op == AJ_OP_YIELD) return node;
    if (node->op == AJ_OP_LANE_INDEX) continue; /* who lowers the region has given it a value */
    if (node->op == AJ_OP_RAISE || node->op == AJ_OP_RAISE_EXN) {
      aj_lower_raise(lo, scope, node);
      lo->lowered++;
      return NULL;
    }
    if (lo->arrays_mark) make_late(lo, scope, node);
    lower_node(lo, scope, node);
  }
  LLVMBuildUnreachable(lo->b); /* given up: the code is thrown away */
  return NULL;
}

/* ---- functions ---- */

/* What the function's code will need. */
typedef struct traits {
  bool exns, loops, late;
  uint32_t nodes;
  uint32_t loop_levels;
} traits;

/* Kernels may be maps, whose lanes are iterations in a trace. */
static bool has_iterations(const aj_node *node) {
  return node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR || node->op == AJ_OP_KERNEL || node->op == AJ_OP_MAP;
}

/* Loops around a loop, and itself. */
static uint32_t count_levels(const aj_node *loop) {
  uint32_t levels = 0;
  for (const aj_node *node = loop; node; node = node->parent->owner) levels += has_iterations(node);
  return levels;
}

static traits find_traits(const aj_func *func) {
  traits t = {0};
  aj_walk walk;
  aj_walk_start(&walk, (aj_func *)func);
  for (aj_node *node; (node = aj_walk_next(&walk)) != NULL;) {
    t.nodes++;
    t.exns = t.exns || node->op == AJ_OP_TRY || node->op == AJ_OP_EXN_NEW || node->op == AJ_OP_EXN_CAUSE;
    for (uint32_t i = 0; i < node->result_count; i++) {
      t.exns = t.exns || node->results[i].type->is_exn;
      t.late = t.late || aj_type_is_late(func->module, node->results[i].type);
    }
    t.loops = t.loops || has_iterations(node) || node->op == AJ_OP_REDUCE ||
              (node->result_count && node->results[0].type->rank > 0);
    uint32_t levels = has_iterations(node) ? count_levels(node) : 0;
    if (levels > t.loop_levels) t.loop_levels = levels;
  }
  return t;
}

static LLVMValueRef run_field(aj_lower *lo, LLVMTypeRef type, size_t offset) {
  return aj_ir_load(lo, type, aj_ir_field(lo, lo->run, offset));
}

/* Flags that polls look at: the run's own stand in for those it does not have. */
void aj_lower_flags(aj_lower *lo) {
  LLVMValueRef stop = aj_ir_field(lo, lo->run, offsetof(aj_run, stop));
  LLVMValueRef cancel = run_field(lo, lo->t_ptr, offsetof(aj_run, cancel));
  LLVMValueRef shutdown = run_field(lo, lo->t_ptr, offsetof(aj_run, job_stop));
  LLVMValueRef triggered = aj_ir_field(lo, cancel, offsetof(arrjit_cancel, triggered));
  lo->cancel_flag = LLVMBuildSelect(lo->b, LLVMBuildIsNull(lo->b, cancel, ""), stop, triggered, "");
  lo->shutdown_flag = LLVMBuildSelect(lo->b, LLVMBuildIsNull(lo->b, shutdown, ""), stop, shutdown, "");
  LLVMValueRef left = run_field(lo, lo->t_i64, offsetof(aj_run, iterations_left));
  lo->slow_poll = LLVMBuildICmp(lo->b, LLVMIntNE, left, aj_ir_i64(lo, INT64_MAX), "");
}

/* Bytes of the block when no extent in it is a symbol, else -1; fills constant offsets. */
static int64_t static_block(aj_lower *lo) {
  uint64_t total = 0;
  for (uint32_t s = 0; s < lo->plan.block->slot_count; s++) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < lo->plan.block->slots[s].type_count; i++) {
      aj_view view;
      const aj_type *type = lo->plan.block->slots[s].types[i];
      for (int32_t d = 0; d < type->rank; d++)
        if (aj_dim_is_symbol(type->dims[d])) return -1;
      if (!aj_view_from_type(&view, type, NULL)) return -1;
      most = aj_view_bytes(&view) > most ? aj_view_bytes(&view) : most;
    }
    lo->offsets[s] = aj_ir_i64(lo, (int64_t)total);
    total += (most + AJ_NH_ALIGN - 1) / AJ_NH_ALIGN * AJ_NH_ALIGN;
    if (total > INT64_MAX / 2) return -1;
  }
  return (int64_t)total;
}

enum { STACK_BLOCK = 4096 }; /* bytes of a block that may lie on the stack */

/* Gets the block; without memory the function fails at once. */
static void make_block(aj_lower *lo) {
  uint32_t slots = lo->plan.block->slot_count;
  lo->block = NULL;
  lo->heap_block = false;
  lo->offsets = AJ_NEW_ARRAY(lo->arena, slots, LLVMValueRef);
  if (!slots || !lo->offsets) return;
  int64_t bytes = static_block(lo);
  if (bytes >= 0 && bytes <= STACK_BLOCK) {
    lo->block = aj_ir_alloca(lo, lo->t_i8, (uint32_t)bytes + 1, AJ_NH_ALIGN);
    return;
  }
  lo->heap_block = true;
  LLVMValueRef offsets = aj_ir_alloca(lo, lo->t_i64, slots, 8);
  LLVMValueRef args[] = {lo->run, aj_ir_pointer(lo, lo->plan.block), lo->env, offsets};
  lo->block = aj_ir_call(lo, "aj_nh_block", lo->t_ptr, AJ_COUNT(args), args, false);
  LLVMBasicBlockRef go = aj_lower_cold(lo, LLVMBuildIsNull(lo->b, lo->block, ""));
  LLVMBuildRet(lo->b, aj_ir_i32(lo, 1));
  aj_ir_at(lo, go);
  for (uint32_t s = 0; s < slots; s++)
    lo->offsets[s] = aj_ir_load(lo, lo->t_i64, aj_ir_field(lo, offsets, s * sizeof(int64_t)));
}

/* Gives back what the activation holds. */
static void leave(aj_lower *lo, int32_t result) {
  if (lo->keeps_exns) aj_exn_list_trim(lo, lo->exns_mark, NULL, 0);
  if (lo->arrays_mark) aj_lower_arrays_trim(lo, lo->arrays_mark);
  if (lo->heap_block) aj_ir_call(lo, "aj_nh_block_free", lo->t_void, 1, &lo->run, false);
  LLVMBuildRet(lo->b, aj_ir_i32(lo, result));
}

static void load_params(aj_lower *lo, aj_scope *scope) {
  for (uint32_t i = 0; i < scope->region->param_count; i++) {
    const aj_value *param = scope->region->params[i];
    LLVMValueRef pointer = load_pointer(lo, lo->inputs, i);
    scope->vals[param->slot] =
        aj_type_is_scalar(param->type) ? aj_ir_load_element(lo, param->type->dtype, 1, pointer) : (aj_lv){.v = pointer};
  }
}

/* An output whose extents the engine did not know: of the entry alone, since nothing can call another one. */
static void store_late(aj_lower *lo, aj_scope *scope, const aj_node *yield, uint32_t i) {
  const aj_value *value = yield->operands[i];
  LLVMValueRef args[] = {lo->run,
                         aj_ir_pointer(lo, aj_lower_site(lo, scope, yield)),
                         aj_lower_iterations(lo, scope),
                         aj_ir_i64(lo, i),
                         aj_ir_pointer(lo, value->type),
                         lo->env,
                         scope->vals[value->slot].v};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_output", lo->t_i32, AJ_COUNT(args), args, false));
}

/* Results of the function. Exceptions are handed over with a reference of their own. */
static void store_results(aj_lower *lo, aj_scope *scope, const aj_node *yield) {
  for (uint32_t i = 0; i < yield->operand_count; i++) {
    const aj_value *value = yield->operands[i];
    aj_lv lv = scope->vals[value->slot];
    if (value->type->is_exn) {
      aj_ir_call(lo, "aj_nh_retain", lo->t_void, 1, &lv.v, false);
      LLVMBuildStore(lo->b, lv.v, load_pointer(lo, lo->outputs, i));
    } else if (value->type->rank == 0) {
      aj_ir_store_element(lo, value->type->dtype, 1, lv, load_pointer(lo, lo->outputs, i));
    } else if (aj_type_is_late(lo->module, value->type)) {
      store_late(lo, scope, yield, i);
    } else {
      aj_lower_yield_array(lo, scope, value, i);
    }
  }
}

static void begin_function(aj_lower *lo, const aj_func *func, LLVMBasicBlockRef *out_entry,
                           LLVMBasicBlockRef *out_start) {
  traits t = find_traits(func);
  lo->func = func;
  lo->fn = lo->functions[func->index];
  lo->run = LLVMGetParam(lo->fn, 0);
  lo->inputs = LLVMGetParam(lo->fn, 1);
  lo->outputs = LLVMGetParam(lo->fn, 2);
  lo->env = LLVMGetParam(lo->fn, 3);
  *out_entry = aj_ir_block(lo, "entry");
  *out_start = aj_ir_block(lo, "start");
  LLVMPositionBuilderAtEnd(lo->entry, *out_entry);
  aj_ir_at(lo, *out_start);
  lo->loop_levels = t.loop_levels;
  if (t.loop_levels > lo->most_loop_levels) lo->most_loop_levels = t.loop_levels;
  lo->iterations = t.loop_levels ? aj_ir_alloca(lo, lo->t_i64, t.loop_levels, 8) : LLVMConstNull(lo->t_ptr);
  lo->exns = t.exns ? aj_ir_field(lo, lo->run, offsetof(aj_run, exns)) : NULL;
  lo->exns_mark = t.exns ? aj_exn_list_length(lo) : NULL;
  lo->keeps_exns = false;
  lo->arrays_mark = t.late ? aj_lower_arrays_count(lo) : NULL;
  if (t.loops || t.nodes >= NODES_UNPOLLED) aj_lower_flags(lo);
}

static bool lower_function(aj_lower *lo, const aj_func *func) {
  LLVMBasicBlockRef entry, start;
  if (!aj_plan_make(func, lo->arena, lo->keep, &lo->plan)) return false;
  aj_exn_note(func);
  begin_function(lo, func, &entry, &start);
  make_block(lo);
  aj_landing landing = {.block = aj_ir_block(lo, "fail"), .stop = NULL};
  aj_scope scope = {.region = func->root,
                    .plan = lo->plan.root,
                    .vals = AJ_NEW_ARRAY(lo->arena, func->root->slot_count, aj_lv),
                    .landing = &landing};
  if (lo->arena->failed) return false;
  load_params(lo, &scope);
  const aj_node *yield = aj_lower_region(lo, &scope);
  if (yield) {
    store_results(lo, &scope, yield);
    leave(lo, 0);
  }
  aj_ir_at(lo, landing.block);
  leave(lo, 1);
  LLVMBuildBr(lo->entry, start);
  return !lo->arena->failed && !lo->keep->failed;
}

/* ---- the module ---- */

static void add_attribute(LLVMValueRef fn, LLVMAttributeRef attribute) {
  LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

static void add_text_attribute(aj_lower *lo, LLVMValueRef fn, const char *name, const char *value) {
  add_attribute(fn,
                LLVMCreateStringAttribute(lo->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

void aj_lower_set_attributes(aj_lower *lo, LLVMValueRef fn) {
  add_attribute(fn, lo->uwtable);
  add_text_attribute(lo, fn, "prefer-vector-width", lo->target->vector_bytes == 64 ? "512" : "256");
  add_text_attribute(lo, fn, "warn-stack-size", "0"); /* see native.c */
}

static void declare_functions(aj_lower *lo) {
  LLVMTypeRef params[4] = {lo->t_ptr, lo->t_ptr, lo->t_ptr, lo->t_ptr};
  lo->t_entry = LLVMFunctionType(lo->t_i32, params, 4, 0);
  for (size_t i = 0; i < lo->module->funcs.count; i++) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s%s%zu", lo->prefix, i ? "_f" : "_entry", i);
    LLVMValueRef fn = LLVMAddFunction(lo->llvm, name, lo->t_entry);
    if (i) LLVMSetLinkage(fn, LLVMInternalLinkage);
    aj_lower_set_attributes(lo, fn);
    lo->functions[i] = fn;
  }
}

static LLVMAttributeRef enum_attribute(aj_lower *lo, const char *name, uint64_t value) {
  return LLVMCreateEnumAttribute(lo->context, LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

bool aj_lower_module(aj_lower *lo) {
  lo->t_void = LLVMVoidTypeInContext(lo->context);
  lo->t_i1 = LLVMInt1TypeInContext(lo->context);
  lo->t_i8 = LLVMInt8TypeInContext(lo->context);
  lo->t_i32 = LLVMInt32TypeInContext(lo->context);
  lo->t_i64 = LLVMInt64TypeInContext(lo->context);
  lo->t_ptr = LLVMPointerTypeInContext(lo->context, 0);
  lo->cold = enum_attribute(lo, "cold", 0);
  lo->uwtable = enum_attribute(lo, "uwtable", 2); /* for unwinding at any instruction */
  lo->functions = AJ_NEW_ARRAY(lo->arena, lo->module->funcs.count, LLVMValueRef);
  if (!lo->functions) return false;
  declare_functions(lo);
  for (size_t i = 0; i < lo->module->funcs.count; i++)
    if (!lower_function(lo, lo->module->funcs.data[i])) return false;
  return true;
}
