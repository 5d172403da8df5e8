/* Exceptions that are never made. A handler that only asks its exception for its kind, code, scalars of its payload or
 * its site, and that cannot fail by itself, is a catcher: each place that raises to it answers the questions there,
 * where kind and payload are known, and branches to it; what it asked for comes in registers. So
 *
 *   try { if p { raise x {kind = k} } ... } (e: exn) { there, v = exn_field e ... }     is, in code,
 *   if p goto handler with (there, v) = (true, x)
 *
 * through loops, out of inner tries that do not take the kind, out of handlers. A failure that comes from elsewhere (a
 * callback, a call, a poll) is asked and dropped at the handler's door. Whatever needs the exception itself, its trace
 * or its links makes the handler an ordinary one. */
#include "native/lower.h"

typedef struct edge {
  struct edge *next;
  LLVMBasicBlockRef from;
  aj_lv *answers; /* two a question */
} edge;

typedef struct question {
  struct question *next;
  const aj_node *node;
} question;

struct aj_catcher {
  LLVMBasicBlockRef block;
  arrjit_kind kind;    /* it takes this and what is below */
  question *questions; /* no two the same */
  uint32_t question_count, edge_count;
  edge *edges;
  aj_lv *answers; /* joined, once it has begun */
};

/* ---- questions ---- */

static bool same_question(const aj_node *a, const aj_node *b) {
  if (a->op != b->op) return false;
  if (a->op == AJ_OP_EXN_FIELD)
    return aj_node_int(a, AJ_ATTR_FIELD) == aj_node_int(b, AJ_ATTR_FIELD) &&
           a->results[1].type->dtype == b->results[1].type->dtype;
  return aj_node_int(a, AJ_ATTR_KIND) == aj_node_int(b, AJ_ATTR_KIND);
}

static void add_question(aj_lower *lo, aj_catcher *catcher, const aj_node *node) {
  question **end = &catcher->questions;
  for (; *end; end = &(*end)->next)
    if (same_question((*end)->node, node)) return;
  if (!(*end = AJ_NEW(lo->arena, question))) return;
  (*end)->node = node;
  catcher->question_count++;
}

static aj_lv constant_bool(aj_lower *lo, bool value) {
  return (aj_lv){.v = LLVMConstInt(lo->t_i1, value, 0), .nan = AJ_NAN_CANON};
}

LLVMValueRef aj_known_fields(aj_lower *lo, const aj_known *exn, uint32_t first) {
  if (exn->count <= first) return LLVMConstNull(lo->t_ptr);
  LLVMValueRef array = aj_ir_alloca(lo, lo->t_ptr, exn->count - first, 8);
  for (uint32_t i = first; i < exn->count; i++) {
    LLVMValueRef field = aj_ir_scalar_place(lo);
    aj_ir_store_element(lo, exn->fields[i].type->dtype, 1, exn->fields[i].value, field);
    LLVMBuildStore(lo->b, field, aj_ir_field(lo, array, (i - first) * sizeof(void *)));
  }
  return array;
}

/* The code of a checked op follows from its operands. */
static LLVMValueRef find_code(aj_lower *lo, const aj_known *exn) {
  if (aj_ops[exn->node->op].lowering != AJ_LOWER_SCALAR) return aj_ir_i64(lo, aj_node_int(exn->node, AJ_ATTR_CODE));
  LLVMValueRef args[] = {aj_ir_pointer(lo, exn->node), aj_known_fields(lo, exn, 1)};
  return aj_ir_call(lo, "aj_nh_check_code", lo->t_i64, AJ_COUNT(args), args, true);
}

void aj_known_answer(aj_lower *lo, const aj_known *exn, const aj_node *node, aj_lv out[2]) {
  if (exn->catcher) {
    const aj_lv *answer = exn->catcher->answers;
    const question *q = exn->catcher->questions;
    for (; !same_question(q->node, node); q = q->next) answer += 2;
    out[0] = answer[0];
    out[1] = answer[1];
  } else if (node->op == AJ_OP_EXN_IS) {
    out[0] = constant_bool(lo, aj_kinds_is(lo->module->kinds, exn->kind, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND)));
  } else if (node->op == AJ_OP_EXN_CODE) {
    out[0] = (aj_lv){.v = find_code(lo, exn), .nan = AJ_NAN_CANON};
  } else if (node->op == AJ_OP_EXN_SITE) {
    const aj_node *raised = exn->raised && exn->raised->origin ? exn->raised->origin : exn->raised;
    out[0] = (aj_lv){.v = aj_ir_i64(lo, raised ? (int64_t)raised->id : -1), .nan = AJ_NAN_CANON};
  } else {
    const aj_type *type = node->results[1].type;
    int64_t i = aj_node_int(node, AJ_ATTR_FIELD);
    bool there = i >= 0 && i < exn->count && aj_type_equal(exn->fields[i].type, type);
    out[0] = constant_bool(lo, there);
    out[1] =
        there ? exn->fields[i].value : (aj_lv){.v = LLVMConstNull(aj_ir_type(lo, type->dtype, 1)), .nan = AJ_NAN_CANON};
  }
}

aj_known aj_known_payload(aj_lower *lo, const aj_scope *scope, const aj_node *node, uint32_t first, uint32_t count,
                          LLVMValueRef lane) {
  static const aj_type lane_type = {.dtype = ARRJIT_I64};
  aj_known exn = {.node = node,
                  .raised = node->op == AJ_OP_EXN_NEW ? NULL : node,
                  .kind = (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND),
                  .fields = AJ_NEW_ARRAY(lo->arena, count + 1, aj_field)};
  if (!exn.fields) return exn;
  for (; exn.count < count; exn.count++) {
    const aj_value *value = node->operands[first + exn.count];
    exn.fields[exn.count] = (aj_field){value->type, scope->vals[value->slot]};
  }
  if (lane) exn.fields[exn.count++] = (aj_field){&lane_type, {.v = lane, .nan = AJ_NAN_CANON}};
  return exn;
}

/* The lane of a scalar is 0; it comes before the operands. */
aj_known aj_known_checked(aj_lower *lo, const aj_scope *scope, const aj_node *node) {
  aj_known exn = aj_known_payload(lo, scope, node, 0, node->operand_count, aj_ir_i64(lo, 0));
  exn.kind = ARRJIT_KIND_ARITH;
  if (!exn.fields) return exn;
  aj_field lane = exn.fields[exn.count - 1];
  for (uint32_t i = exn.count - 1; i > 0; i--) exn.fields[i] = exn.fields[i - 1];
  exn.fields[0] = lane;
  return exn;
}

/* ---- who takes it ---- */

/* The catcher that surely gets what is raised where failures go to `landing`: `exact` or anything below `kind`. NULL:
 * it is not known, needs an exception, or has to pass a finally. *out_mark: what handlers that are left have to give
 * back. */
static aj_catcher *find_catcher(const aj_lower *lo, const aj_landing *landing, arrjit_kind kind, bool exact,
                                LLVMValueRef *out_mark) {
  const aj_kinds *kinds = lo->module->kinds;
  for (; landing; landing = landing->outer) {
    if (landing->mark) *out_mark = landing->mark;
    const aj_attr *taken = landing->try_node ? aj_node_attr(landing->try_node, AJ_ATTR_KINDS) : NULL;
    for (uint32_t i = 0; taken && i < taken->count; i++) {
      arrjit_kind handler = (arrjit_kind)taken->u.ints[i];
      if (aj_kinds_catches(kinds, handler, kind)) return landing->catchers[i];
      if (!exact && aj_kinds_is(kinds, handler, kind)) return NULL; /* it may take it */
    }
  }
  return NULL;
}

static edge *add_edge(aj_lower *lo, aj_catcher *catcher) {
  edge *e = AJ_NEW(lo->arena, edge);
  if (!e) return NULL;
  e->answers = AJ_NEW_ARRAY(lo->arena, (size_t)catcher->question_count * 2, aj_lv);
  e->next = catcher->edges;
  catcher->edges = e;
  catcher->edge_count++;
  return e->answers ? e : NULL;
}

static void follow(aj_lower *lo, const aj_catcher *catcher, edge *e) {
  e->from = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, catcher->block);
}

bool aj_catcher_raise(aj_lower *lo, const aj_landing *landing, const aj_known *exn) {
  LLVMValueRef mark = NULL;
  arrjit_kind kind = exn->catcher ? exn->catcher->kind : exn->kind;
  aj_catcher *catcher = find_catcher(lo, landing, kind, !exn->catcher, &mark);
  edge *e = catcher ? add_edge(lo, catcher) : NULL;
  if (!e) return false;
  aj_lv *answer = e->answers;
  for (const question *q = catcher->questions; q; q = q->next, answer += 2) aj_known_answer(lo, exn, q->node, answer);
  if (mark) aj_exn_list_trim(lo, mark, NULL, 0);
  follow(lo, catcher, e);
  return true;
}

void aj_catcher_take(aj_lower *lo, aj_catcher *catcher) {
  edge *e = add_edge(lo, catcher);
  if (!e) return;
  aj_lv *answer = e->answers;
  LLVMValueRef exn = aj_ir_load(lo, lo->t_ptr, aj_ir_field(lo, lo->run, offsetof(aj_run, exn)));
  for (const question *q = catcher->questions; q; q = q->next, answer += 2) aj_exn_ask(lo, exn, q->node, answer);
  aj_ir_call(lo, "aj_nh_drop", lo->t_void, 1, &lo->run, false);
  follow(lo, catcher, e);
}

bool aj_catcher_begin(aj_lower *lo, aj_catcher *catcher, aj_lv *out_exn) {
  uint32_t stride = catcher->question_count * 2, count = 0;
  LLVMBasicBlockRef *from = AJ_NEW_ARRAY(lo->arena, catcher->edge_count, LLVMBasicBlockRef);
  aj_lv *rows = AJ_NEW_ARRAY(lo->arena, (size_t)catcher->edge_count * stride, aj_lv);
  aj_known *known = AJ_NEW(lo->arena, aj_known);
  catcher->answers = AJ_NEW_ARRAY(lo->arena, stride, aj_lv);
  aj_ir_at(lo, catcher->block);
  if (lo->arena->failed || !catcher->edges) {
    LLVMBuildUnreachable(lo->b);
    return false;
  }
  for (const edge *e = catcher->edges; e; e = e->next, count++) {
    from[count] = e->from;
    for (uint32_t i = 0; i < stride; i++) rows[(size_t)count * stride + i] = e->answers[i];
  }
  uint32_t at = 0;
  for (const question *q = catcher->questions; q; q = q->next, at += 2)
    for (uint32_t i = 0; i < q->node->result_count; i++)
      catcher->answers[at + i] = aj_merge_join(lo, q->node->results[i].type, count, from, &rows[at + i], stride);
  *known = (aj_known){.catcher = catcher};
  *out_exn = (aj_lv){.exn = known};
  return true;
}

/* ---- which handlers are catchers ---- */

typedef struct look {
  aj_lower *lo;
  const aj_region *handler;
  const aj_landing *outer;
  aj_catcher *catcher;
} look;

/* The handler's own exception, through captures of arms. */
static bool is_own(const look *l, const aj_value *value) {
  while (!value->def && value->region != l->handler) {
    const aj_node *owner = value->region->owner;
    value = owner->operands[owner->operand_count - (value->region->param_count - value->index)];
  }
  return value == l->handler->params[0];
}

static const aj_node *find_new(const aj_value *value) {
  while (!value->def && value->region->owner) {
    const aj_node *owner = value->region->owner;
    uint32_t behind = value->region->param_count - value->index;
    if (behind > owner->operand_count - aj_node_capture_start(owner)) return NULL;
    value = owner->operands[owner->operand_count - behind];
  }
  return value->def && value->def->op == AJ_OP_EXN_NEW ? value->def : NULL;
}

/* A raise inside the handler must go to a catcher further out: only then does no one see what was being handled. */
static bool raises_out(look *l, const aj_node *node) {
  LLVMValueRef mark;
  const aj_node *tells = node->op == AJ_OP_RAISE ? node : find_new(node->operands[0]);
  if (tells) return find_catcher(l->lo, l->outer, (arrjit_kind)aj_node_int(tells, AJ_ATTR_KIND), true, &mark) != NULL;
  if (!is_own(l, node->operands[0])) return false;
  const aj_catcher *next = find_catcher(l->lo, l->outer, l->catcher->kind, false, &mark);
  for (const question *q = next ? next->questions : NULL; q; q = q->next) add_question(l->lo, l->catcher, q->node);
  return next != NULL;
}

static bool is_scalar(const aj_type *type) { return type->is_exn || type->rank == 0; }

/* Whether nothing in it can fail, in any way: work on arrays may find that the run has to end, a call that it is too
 * deep, and either failure has what was handled as its context. */
static bool is_harmless(const aj_node *node) {
  if (node->op == AJ_OP_CONST || node->op == AJ_OP_YIELD) return true;
  if (node->region_count || !aj_node_is_pure(node)) return false;
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!is_scalar(node->operands[i]->type)) return false;
  for (uint32_t i = 0; i < node->result_count; i++)
    if (!is_scalar(node->results[i].type)) return false;
  return true;
}

/* Whether the node leaves the exception where it is; what it asks is noted. */
static bool suits(look *l, const aj_node *node) {
  bool arms = node->op == AJ_OP_IF || node->op == AJ_OP_SWITCH;
  if (node->op == AJ_OP_RAISE || node->op == AJ_OP_RAISE_EXN) return raises_out(l, node);
  if (!arms && !is_harmless(node)) return false;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    if (!node->operands[i]->type->is_exn || !is_own(l, node->operands[i])) continue;
    if (aj_exn_asks(node))
      add_question(l->lo, l->catcher, node);
    else if (!arms)
      return false;
  }
  return true;
}

static bool only_asks(look *l) {
  const aj_node *owner = l->handler->owner;
  aj_walk walk = {.func = l->handler->func, .region = (aj_region *)(uintptr_t)l->handler};
  for (const aj_node *node = l->handler->nodes[0]; node; node = aj_walk_next(&walk)) {
    if (walk.region == owner->parent || (walk.region->owner == owner && walk.region != l->handler)) break;
    if (!suits(l, node)) return false;
  }
  return true;
}

aj_catcher *aj_catcher_make(aj_lower *lo, const aj_region *handler, arrjit_kind kind, const aj_landing *outer) {
  look l = {.lo = lo, .handler = handler, .outer = outer, .catcher = AJ_NEW(lo->arena, aj_catcher)};
  if (!l.catcher) return NULL;
  l.catcher->kind = kind;
  if (!only_asks(&l)) return NULL;
  l.catcher->block = aj_ir_block(lo, "catch");
  return l.catcher;
}
