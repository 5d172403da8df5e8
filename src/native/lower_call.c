/* Code that calls out: functions of the module, the host's callbacks, routines of src/sem. */
#include "native/lower.h"

/* Memory for a result: its destination, or for a scalar a place on the stack that is loaded after the call. */
static LLVMValueRef result_pointer(aj_lower *lo, aj_scope *scope, const aj_value *result) {
  if (!result->type->is_exn && result->type->rank > 0) return aj_lower_dest(lo, scope, result);
  return aj_ir_scalar_place(lo);
}

static void load_result(aj_lower *lo, aj_scope *scope, const aj_value *result, LLVMValueRef pointer) {
  aj_lv *out = &scope->vals[result->slot];
  if (result->type->is_exn)
    *out = (aj_lv){.v = aj_ir_load(lo, lo->t_ptr, pointer)};
  else if (result->type->rank > 0)
    *out = (aj_lv){.v = pointer};
  else
    *out = aj_ir_load_element(lo, result->type->dtype, 1, pointer);
}

static LLVMValueRef site_pointer(aj_lower *lo, const aj_scope *scope, const aj_node *node) {
  return aj_ir_pointer(lo, aj_lower_site(lo, scope, node));
}

/* When a call that does not note where it was made has failed. */
static void land_traced_if(aj_lower *lo, aj_scope *scope, LLVMValueRef site, LLVMValueRef failed) {
  LLVMBasicBlockRef go = aj_lower_cold(lo, LLVMBuildICmp(lo->b, LLVMIntNE, failed, aj_ir_i32(lo, 0), ""));
  LLVMValueRef trace[] = {lo->run, site, aj_lower_iterations(lo, scope)};
  aj_ir_call(lo, "aj_nh_trace", lo->t_void, AJ_COUNT(trace), trace, true);
  aj_lower_land(lo, scope);
  aj_ir_at(lo, go);
}

/* ---- functions of the module ---- */

static void adopt_exns(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef site) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    if (!node->results[i].type->is_exn) continue;
    LLVMValueRef args[] = {lo->run, aj_exn_list(lo), site, aj_lower_iterations(lo, scope),
                           scope->vals[node->results[i].slot].v};
    aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_adopt", lo->t_i32, AJ_COUNT(args), args, false));
  }
}

void aj_lower_call(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  const aj_func *callee = lo->module->funcs.data[aj_node_int(node, AJ_ATTR_CALLEE)];
  uint32_t symbols = (uint32_t)lo->module->symbols.count;
  LLVMValueRef site = site_pointer(lo, scope, node);
  LLVMValueRef env = symbols ? aj_ir_alloca(lo, lo->t_i64, symbols, 8) : LLVMConstNull(lo->t_ptr);
  LLVMValueRef enter[] = {lo->run, site, aj_lower_iterations(lo, scope), aj_ir_pointer(lo, callee), lo->env, env};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_enter", lo->t_i32, AJ_COUNT(enter), enter, false));
  LLVMValueRef outputs =
      node->result_count ? aj_ir_alloca(lo, lo->t_ptr, node->result_count, 8) : LLVMConstNull(lo->t_ptr);
  LLVMValueRef *results = AJ_NEW_ARRAY(lo->arena, node->result_count, LLVMValueRef);
  if (!results) return;
  for (uint32_t i = 0; i < node->result_count; i++) {
    results[i] = result_pointer(lo, scope, &node->results[i]);
    LLVMBuildStore(lo->b, results[i], aj_ir_field(lo, outputs, i * sizeof(void *)));
  }
  LLVMValueRef args[] = {lo->run, aj_lower_operands(lo, scope, node, 0, node->operand_count), outputs,
                         symbols ? env : lo->env};
  LLVMValueRef failed = LLVMBuildCall2(lo->b, lo->t_entry, lo->functions[callee->index], args, 4, "");
  LLVMValueRef depth = aj_ir_field(lo, lo->run, offsetof(aj_run, depth));
  LLVMBuildStore(lo->b, LLVMBuildSub(lo->b, aj_ir_load(lo, lo->t_i64, depth), aj_ir_i64(lo, 1), ""), depth);
  land_traced_if(lo, scope, site, failed);
  for (uint32_t i = 0; i < node->result_count; i++) load_result(lo, scope, &node->results[i], results[i]);
  adopt_exns(lo, scope, node, site);
}

/* ---- callbacks ---- */

static bool has_symbols(const aj_type *type) {
  for (int32_t i = 0; i < type->rank; i++)
    if (aj_dim_is_symbol(type->dims[i])) return true;
  return false;
}

static void store_view(aj_lower *lo, LLVMValueRef view, const aj_type *type, LLVMValueRef dims, LLVMValueRef data,
                       LLVMValueRef bytes) {
  LLVMBuilderRef b = lo->b;
  LLVMBuildStore(b, aj_ir_i32(lo, (int32_t)type->dtype), aj_ir_field(lo, view, offsetof(arrjit_view, dtype)));
  LLVMBuildStore(b, aj_ir_i32(lo, type->rank), aj_ir_field(lo, view, offsetof(arrjit_view, rank)));
  LLVMBuildStore(b, dims, aj_ir_field(lo, view, offsetof(arrjit_view, dims)));
  LLVMBuildStore(b, data, aj_ir_field(lo, view, offsetof(arrjit_view, data)));
  LLVMBuildStore(b, bytes, aj_ir_field(lo, view, offsetof(arrjit_view, bytes)));
}

static void fill_view(aj_lower *lo, LLVMValueRef view, const aj_type *type, LLVMValueRef data) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef dims = aj_ir_pointer(lo, type->rank ? type->dims : NULL);
  if (has_symbols(type)) {
    dims = aj_ir_alloca(lo, lo->t_i64, (uint32_t)type->rank, 8);
    for (int32_t i = 0; i < type->rank; i++)
      LLVMBuildStore(b, aj_ir_dim(lo, type->dims[i]), aj_ir_field(lo, dims, (size_t)i * sizeof(int64_t)));
  }
  store_view(lo, view, type, dims, data, aj_ir_bytes(lo, type));
}

/* A result that the callback makes: dims that it decides on are marked, there is no data. */
static void fill_dynamic(aj_lower *lo, LLVMValueRef view, const aj_type *declared, const aj_type *type) {
  LLVMValueRef dims = aj_ir_alloca(lo, lo->t_i64, (uint32_t)type->rank, 8);
  for (int32_t i = 0; i < type->rank; i++) {
    bool dynamic = declared->dims[i] == ARRJIT_DYNAMIC_DIM;
    LLVMValueRef dim = dynamic ? aj_ir_i64(lo, ARRJIT_DYNAMIC_DIM) : aj_ir_dim(lo, type->dims[i]);
    LLVMBuildStore(lo->b, dim, aj_ir_field(lo, dims, (size_t)i * sizeof(int64_t)));
  }
  store_view(lo, view, type, dims, LLVMConstNull(lo->t_ptr), aj_ir_i64(lo, 0));
}

static LLVMValueRef view_array(aj_lower *lo, uint32_t count) {
  return count ? aj_ir_alloca(lo, LLVMArrayType(lo->t_i8, sizeof(arrjit_view)), count, 8) : LLVMConstNull(lo->t_ptr);
}

static LLVMValueRef view_at(aj_lower *lo, LLVMValueRef views, uint32_t i) {
  return aj_ir_field(lo, views, i * sizeof(arrjit_view));
}

static void show_args(aj_lower *lo, const aj_scope *scope, const aj_node *node, LLVMValueRef args) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    const aj_value *value = node->operands[i];
    LLVMValueRef data = scope->vals[value->slot].v;
    if (value->type->rank == 0) {
      data = aj_ir_scalar_place(lo);
      aj_ir_store_element(lo, value->type->dtype, 1, scope->vals[value->slot], data);
    }
    fill_view(lo, view_at(lo, args, i), value->type, data);
  }
}

/* Results of value slots start zeroed; those without memory are made by the callback. */
static void show_results(aj_lower *lo, aj_scope *scope, const aj_node *node, const aj_slot *slot, LLVMValueRef *results,
                         LLVMValueRef outs) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_type *type = node->results[i].type;
    if (!results[i]) {
      fill_dynamic(lo, view_at(lo, outs, i), slot->result_types[i], type);
      continue;
    }
    aj_lower_zero(lo, scope, node, results[i], aj_ir_bytes(lo, type));
    fill_view(lo, view_at(lo, outs, i), type, results[i]);
  }
}

/* Calls a slot some of whose results the callback makes: afterwards their views show where. */
static void call_sized(aj_lower *lo, aj_scope *scope, const aj_node *node, LLVMValueRef *results, LLVMValueRef args,
                       LLVMValueRef outs) {
  LLVMValueRef made = aj_ir_alloca(lo, lo->t_ptr, node->result_count, 8);
  LLVMValueRef call[] = {lo->run, site_pointer(lo, scope, node), aj_lower_iterations(lo, scope), lo->env, args, outs,
                         made};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_callback_sized", lo->t_i32, AJ_COUNT(call), call, false));
  for (uint32_t i = 0; i < node->result_count; i++)
    if (!results[i])
      results[i] = aj_ir_load(lo, lo->t_ptr, aj_ir_field(lo, view_at(lo, outs, i), offsetof(arrjit_view, data)));
}

/* The call by way of the library, which knows what the slot is bound to. */
static void call_host(aj_lower *lo, aj_scope *scope, const aj_node *node, const aj_slot *slot, LLVMValueRef *results) {
  LLVMValueRef args = view_array(lo, node->operand_count);
  LLVMValueRef outs = view_array(lo, slot->is_value ? node->result_count : 0);
  show_args(lo, scope, node, args);
  if (slot->is_value) show_results(lo, scope, node, slot, results, outs);
  if (aj_node_attr(node, AJ_ATTR_BINDS)) {
    call_sized(lo, scope, node, results, args, outs);
    return;
  }
  LLVMValueRef call[] = {lo->run, aj_ir_i32(lo, (int32_t)aj_node_int(node, AJ_ATTR_SLOT)), args, outs};
  LLVMValueRef failed = aj_ir_call(lo, "aj_nh_callback", lo->t_i32, AJ_COUNT(call), call, false);
  land_traced_if(lo, scope, site_pointer(lo, scope, node), failed);
}

static bool fits_direct(const aj_slot *slot) {
  for (uint32_t i = 0; i < slot->param_count; i++)
    if (!aj_type_is_scalar(slot->param_types[i])) return false;
  if (!slot->is_value) return true;
  return slot->result_count == 1 && aj_type_is_scalar(slot->result_types[0]);
}

/* C callers extend narrow integers. */
static void extend_argument(aj_lower *lo, LLVMValueRef call, unsigned index, arrjit_dtype dtype) {
  if (aj_dtypes[dtype].cls == AJ_CLASS_FLOAT || aj_dtypes[dtype].bits >= 32) return;
  const char *name = aj_dtypes[dtype].cls == AJ_CLASS_INT ? "signext" : "zeroext";
  unsigned kind = LLVMGetEnumAttributeKindForName(name, 7);
  LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(lo->context, kind, 0));
}

static void call_direct(aj_lower *lo, aj_scope *scope, const aj_node *node, bool is_value, LLVMValueRef pointer,
                        LLVMValueRef *results) {
  LLVMTypeRef *types = AJ_NEW_ARRAY(lo->arena, node->operand_count, LLVMTypeRef);
  LLVMValueRef *args = AJ_NEW_ARRAY(lo->arena, node->operand_count, LLVMValueRef);
  if (!types || !args) return;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    arrjit_dtype dtype = node->operands[i]->type->dtype;
    types[i] = aj_ir_memory_type(lo, dtype, 1);
    args[i] = aj_ir_to_memory(lo, dtype, 1, scope->vals[node->operands[i]->slot]);
  }
  LLVMTypeRef out = is_value ? aj_ir_memory_type(lo, node->results[0].type->dtype, 1) : lo->t_void;
  LLVMTypeRef type = LLVMFunctionType(out, types, node->operand_count, 0);
  LLVMValueRef call = LLVMBuildCall2(lo->b, type, pointer, args, node->operand_count, "");
  for (uint32_t i = 0; i < node->operand_count; i++) extend_argument(lo, call, i + 1, node->operands[i]->type->dtype);
  if (!is_value) return;
  aj_lv value = aj_ir_from_memory(lo, node->results[0].type->dtype, 1, call);
  aj_ir_store_element(lo, node->results[0].type->dtype, 1, value, results[0]);
}

/* A plain C function is called straight, unless the host's floating-point state has to be put back for it. */
static void call_either(aj_lower *lo, aj_scope *scope, const aj_node *node, uint32_t index, const aj_slot *slot,
                        LLVMValueRef *results) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef slots = aj_ir_load(lo, lo->t_ptr, aj_ir_field(lo, lo->run, offsetof(aj_run, slots)));
  size_t at = index * sizeof(aj_bound_slot) + offsetof(aj_bound_slot, direct);
  LLVMValueRef pointer = aj_ir_load(lo, lo->t_ptr, aj_ir_field(lo, slots, at));
  size_t changed_at = offsetof(aj_run, fpenv) + offsetof(aj_fpenv, changed);
  LLVMValueRef changed = aj_ir_load(lo, lo->t_i8, aj_ir_field(lo, lo->run, changed_at));
  LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, changed, LLVMConstInt(lo->t_i8, 0, 0), "");
  LLVMValueRef straight = LLVMBuildAnd(b, LLVMBuildIsNotNull(b, pointer, ""), same, "");
  LLVMBasicBlockRef direct = aj_ir_block(lo, "direct"), general = aj_ir_block(lo, "host"),
                    join = aj_ir_block(lo, "called");
  LLVMBuildCondBr(b, straight, direct, general);
  aj_ir_at(lo, direct);
  call_direct(lo, scope, node, slot->is_value, pointer, results);
  LLVMBuildBr(b, join);
  aj_ir_at(lo, general);
  call_host(lo, scope, node, slot, results);
  LLVMBuildBr(b, join);
  aj_ir_at(lo, join);
}

void aj_lower_callback(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  uint32_t index = (uint32_t)aj_node_int(node, AJ_ATTR_SLOT);
  const aj_slot *slot = &lo->module->slots.data[index];
  LLVMValueRef *results = AJ_NEW_ARRAY(lo->arena, node->result_count, LLVMValueRef);
  if (!results) return;
  for (uint32_t i = 0; slot->is_value && i < node->result_count; i++)
    results[i] = aj_slot_dynamic_dims(slot, i) ? NULL : result_pointer(lo, scope, &node->results[i]);
  if (fits_direct(slot))
    call_either(lo, scope, node, index, slot, results);
  else
    call_host(lo, scope, node, slot, results);
  for (uint32_t i = 0; i < node->result_count; i++) {
    if (slot->is_value)
      load_result(lo, scope, &node->results[i], results[i]);
    else
      scope->vals[node->results[i].slot] = scope->vals[node->operands[i]->slot];
  }
}

/* ---- routines ---- */

void aj_lower_fallback(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMValueRef *results = AJ_NEW_ARRAY(lo->arena, node->result_count, LLVMValueRef);
  LLVMValueRef outs = aj_ir_alloca(lo, lo->t_ptr, node->result_count, 8);
  if (!results) return;
  for (uint32_t i = 0; i < node->result_count; i++) {
    results[i] = result_pointer(lo, scope, &node->results[i]);
    LLVMBuildStore(lo->b, results[i], aj_ir_field(lo, outs, i * sizeof(void *)));
  }
  LLVMValueRef args[] = {lo->run,
                         site_pointer(lo, scope, node),
                         aj_lower_iterations(lo, scope),
                         lo->env,
                         aj_lower_operands(lo, scope, node, 0, node->operand_count),
                         outs};
  aj_lower_land_if(lo, scope, aj_ir_call(lo, "aj_nh_fallback", lo->t_i32, AJ_COUNT(args), args, false));
  for (uint32_t i = 0; i < node->result_count; i++) load_result(lo, scope, &node->results[i], results[i]);
}
