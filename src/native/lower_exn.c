/* Exceptions as values: the ops on them, and the list of those that an activation owns. What a handler or a finally
 * takes into the list it gives back when it is left; a loop gives back what else its iteration put there. See
 * lower_known.c for exceptions that are never made. */
#include "native/lower.h"

/* ---- the list ---- */

LLVMValueRef aj_exn_list(aj_lower *lo) {
  lo->keeps_exns = true;
  return lo->exns;
}

LLVMValueRef aj_exn_list_length(aj_lower *lo) { return aj_ir_load(lo, lo->t_i64, lo->exns); }

void aj_exn_list_trim(aj_lower *lo, LLVMValueRef mark, LLVMValueRef kept, uint32_t kept_count) {
  LLVMValueRef args[] = {lo->exns, mark, kept ? kept : LLVMConstNull(lo->t_ptr), aj_ir_i64(lo, kept_count)};
  aj_ir_call(lo, "aj_nh_exns_trim", lo->t_void, AJ_COUNT(args), args, false);
}

/* ---- notes beforehand ---- */

/* The value that a region's captures pass on; *out_loop: into a loop, which may use it more than once. */
static const aj_value *find_origin(const aj_value *value, bool *out_loop) {
  for (const aj_node *owner; !value->def && (owner = value->region->owner);) {
    uint32_t behind = value->region->param_count - value->index;
    if (behind > owner->operand_count - aj_node_capture_start(owner)) break;
    if (owner->op == AJ_OP_WHILE || owner->op == AJ_OP_FOR || owner->op == AJ_OP_MAP) *out_loop = true;
    value = owner->operands[owner->operand_count - behind];
  }
  return value;
}

enum { RAISED_ONCE = 1, NEEDED };

/* How an operand uses a new exception, on its mark. */
static void note_use(const aj_node *node, uint32_t operand) {
  bool loop = false;
  aj_node *def = find_origin(node->operands[operand], &loop)->def;
  if (!def || def->op != AJ_OP_EXN_NEW || aj_exn_asks(node)) return;
  if (node->region_count && operand >= aj_node_capture_start(node)) return; /* its uses are inside */
  bool raised = node->op == AJ_OP_RAISE_EXN && operand == 0 && !loop && def->mark == 0;
  def->mark = raised ? RAISED_ONCE : NEEDED;
}

static bool has_scalar_payload(const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (node->operands[i]->type->rank > 0) return false;
  return true;
}

static bool makes_exn(const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++)
    if (node->results[i].type->is_exn) return true;
  return false;
}

/* An array is not where it was when the exception is raised, so one with arrays is made where it stands. */
void aj_exn_note(const aj_func *func) {
  aj_walk walk;
  aj_walk_start(&walk, (aj_func *)(uintptr_t)func);
  for (aj_node *node; (node = aj_walk_next(&walk));) node->mark = 0;
  aj_walk_start(&walk, (aj_func *)(uintptr_t)func);
  for (const aj_node *node; (node = aj_walk_next(&walk));)
    for (uint32_t i = 0; i < node->operand_count; i++)
      if (node->operands[i]->type->is_exn) note_use(node, i);
  aj_walk_start(&walk, (aj_func *)(uintptr_t)func);
  for (aj_node *node; (node = aj_walk_next(&walk));) {
    if (node->op == AJ_OP_EXN_NEW) node->mark = node->mark != NEEDED && has_scalar_payload(node);
    if (!makes_exn(node) || (node->op == AJ_OP_EXN_NEW && node->mark)) continue;
    for (aj_node *owner = node->parent->owner; owner && !owner->mark; owner = owner->parent->owner) owner->mark = 1;
  }
}

/* ---- the ops ---- */

bool aj_exn_asks(const aj_node *node) {
  if (node->op == AJ_OP_EXN_FIELD) return node->results[1].type->rank == 0;
  return node->op == AJ_OP_EXN_IS || node->op == AJ_OP_EXN_CODE || node->op == AJ_OP_EXN_SITE;
}

static LLVMValueRef ask_field(aj_lower *lo, LLVMValueRef exn, const aj_node *node, LLVMValueRef out) {
  LLVMValueRef args[] = {exn, aj_ir_pointer(lo, node), lo->env, out};
  LLVMValueRef present = aj_ir_call(lo, "aj_nh_exn_field", lo->t_i32, AJ_COUNT(args), args, false);
  return LLVMBuildICmp(lo->b, LLVMIntNE, present, aj_ir_i32(lo, 0), "");
}

void aj_exn_ask(aj_lower *lo, LLVMValueRef exn, const aj_node *question, aj_lv out[2]) {
  if (question->op == AJ_OP_EXN_FIELD) {
    LLVMValueRef element = aj_ir_scalar_place(lo);
    out[0] = (aj_lv){.v = ask_field(lo, exn, question, element), .nan = AJ_NAN_CANON};
    out[1] = aj_ir_load_element(lo, question->results[1].type->dtype, 1, element);
  } else if (question->op == AJ_OP_EXN_CODE) {
    out[0] = (aj_lv){.v = aj_ir_load(lo, lo->t_i64, aj_ir_field(lo, exn, offsetof(aj_exn, code))), .nan = AJ_NAN_CANON};
  } else if (question->op == AJ_OP_EXN_SITE) {
    out[0] = (aj_lv){.v = aj_ir_call(lo, "aj_nh_exn_site", lo->t_i64, 1, &exn, false), .nan = AJ_NAN_CANON};
  } else {
    LLVMValueRef args[] = {lo->run, exn, aj_ir_i64(lo, aj_node_int(question, AJ_ATTR_KIND))};
    LLVMValueRef is = aj_ir_call(lo, "aj_nh_exn_is", lo->t_i32, AJ_COUNT(args), args, false);
    out[0] = (aj_lv){.v = LLVMBuildICmp(lo->b, LLVMIntNE, is, aj_ir_i32(lo, 0), ""), .nan = AJ_NAN_CANON};
  }
}

static LLVMValueRef make_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  LLVMValueRef site = aj_ir_pointer(lo, aj_lower_site(lo, scope, node)), iterations = aj_lower_iterations(lo, scope);
  LLVMValueRef exn;
  if (node->op == AJ_OP_EXN_NEW) {
    LLVMValueRef args[] = {lo->run,    aj_exn_list(lo), site,
                           iterations, lo->env,         aj_lower_operands(lo, scope, node, 0, node->operand_count)};
    exn = aj_ir_call(lo, "aj_nh_exn_new", lo->t_ptr, AJ_COUNT(args), args, false);
  } else {
    LLVMValueRef args[] = {lo->run, aj_exn_list(lo), site, iterations, scope->vals[node->operands[0]->slot].v};
    exn = aj_ir_call(lo, "aj_nh_exn_cause", lo->t_ptr, AJ_COUNT(args), args, false);
  }
  aj_lower_land_if(lo, scope, LLVMBuildIsNull(lo->b, exn, ""));
  return exn;
}

static void new_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  aj_known *known = AJ_NEW(lo->arena, aj_known);
  if (!known) return;
  *known = aj_known_payload(lo, scope, node, 0, node->operand_count, NULL);
  scope->vals[node->results[0].slot] = (aj_lv){.v = node->mark ? NULL : make_exn(lo, scope, node), .exn = known};
}

void aj_lower_exn(aj_lower *lo, aj_scope *scope, const aj_node *node) {
  if (node->op == AJ_OP_EXN_NEW) {
    new_exn(lo, scope, node);
  } else if (node->op == AJ_OP_EXN_CAUSE) {
    scope->vals[node->results[0].slot] = (aj_lv){.v = make_exn(lo, scope, node)};
  } else if (aj_exn_asks(node)) {
    aj_lv exn = scope->vals[node->operands[0]->slot], answers[2];
    if (exn.exn)
      aj_known_answer(lo, exn.exn, node, answers);
    else
      aj_exn_ask(lo, exn.v, node, answers);
    for (uint32_t i = 0; i < node->result_count; i++) scope->vals[node->results[i].slot] = answers[i];
  } else {
    LLVMValueRef out = aj_lower_dest(lo, scope, &node->results[1]);
    LLVMValueRef present = ask_field(lo, scope->vals[node->operands[0]->slot].v, node, out);
    scope->vals[node->results[0].slot] = (aj_lv){.v = present, .nan = AJ_NAN_CANON};
    scope->vals[node->results[1].slot] = (aj_lv){.v = out};
  }
}
