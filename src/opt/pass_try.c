/* try: a try none of whose handlers can get anything becomes its body.
 *
 *   before   %1 = try %0 {kinds = [arith], finally = 0} (%x: f64) {    after    %1 = mul %0, %0 : f64
 *              %2 = mul %x, %x : f64
 *              yield %2
 *            } (%e: exn, %x: f64) { ... } : f64
 *
 * What a region may fail with is a set of the built-in kinds; a host's kind counts as the built-in one above it.
 *
 * Requires: nothing. Preserves: effects, failures and their traces, which name the finished try. Must never touch a
 * finally: it runs for every way out, and polls are masked in it. */
#include "opt/regions.h"

enum {
#define KIND(ID, ...) +1
  KINDS = 0
#include "ir/kinds.def"
#undef KIND
};
_Static_assert(KINDS < 32, "a kind is a bit of a node's mark");

typedef uint32_t kind_set;
#define BIT(ID) ((kind_set)1 << ARRJIT_KIND_##ID)
static const kind_set anything = ~(kind_set)0;
static const kind_set polls = BIT(CANCELLED) | BIT(DEADLINE) | BIT(SHUTDOWN) | BIT(LIMIT);

static arrjit_kind find_builtin(const aj_kinds *kinds, arrjit_kind kind) {
  while (kind > KINDS) kind = aj_kinds_get(kinds, kind)->parent;
  return kind;
}

/* By itself, without its regions. Work on arrays polls and needs memory. */
static kind_set own_failures(const aj_kinds *kinds, const aj_node *node) {
  kind_set set = 0;
  if (node->op == AJ_OP_RAISE_EXN || node->op == AJ_OP_CALL || node->op == AJ_OP_CALLBACK) return anything;
  if (node->op == AJ_OP_RAISE || node->op == AJ_OP_CHECK)
    set = (kind_set)1 << find_builtin(kinds, (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND));
  else if (aj_node_may_raise(node))
    set = BIT(ARITH) | BIT(INDEX) | BIT(SHAPE) | BIT(UNAVAILABLE);
  if (node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR) set |= polls;
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!aj_type_is_scalar(node->operands[i]->type)) set |= polls | BIT(MEMORY);
  for (uint32_t i = 0; i < node->result_count; i++)
    if (!aj_type_is_scalar(node->results[i].type)) set |= polls | BIT(MEMORY);
  return set;
}

/* Whether a handler for `handler` may take something of the set. */
static bool takes(const aj_kinds *kinds, arrjit_kind handler, kind_set set) {
  if (handler > KINDS && (set >> find_builtin(kinds, handler) & 1)) return true;
  for (int kind = 1; kind <= KINDS; kind++)
    if ((set >> kind & 1) && aj_kinds_catches(kinds, handler, (arrjit_kind)kind)) return true;
  return false;
}

static bool is_idle(const aj_kinds *kinds, const aj_node *node, kind_set body) {
  const aj_attr *handlers = aj_node_attr(node, AJ_ATTR_KINDS);
  if (aj_node_int(node, AJ_ATTR_FINALLY)) return false;
  for (uint32_t i = 0; i < handlers->count; i++)
    if (takes(kinds, (arrjit_kind)handlers->u.ints[i], body)) return false;
  return true;
}

enum { IDLE = 0 }; /* bit 0 is no kind: on the mark of a try, that it becomes its body */

/* Inner regions come before outer ones, the body of a try after its handlers. A node's mark gathers what may fail in
 * it; of a try that becomes its body, only what the body may. */
static bool work_on(const aj_kinds *kinds, aj_region *region, bool *changed) {
  aj_taken taken = aj_region_take(region);
  kind_set set = 0;
  bool ended = false;
  for (uint32_t i = 0; i < taken.count && !ended; i++) {
    aj_node *node = taken.nodes[i];
    set |= (own_failures(kinds, node) | node->mark) & ~(kind_set)1;
    if (!(node->op == AJ_OP_TRY && (node->mark >> IDLE & 1))) {
      if (!aj_region_append(region, node)) return false;
      continue;
    }
    *changed = true;
    if (!aj_region_splice(region, node, node->regions[0], &ended)) return false;
  }
  aj_node *owner = region->owner;
  if (!owner) return true;
  bool idle = owner->op == AJ_OP_TRY && region->index == 0 && is_idle(kinds, owner, set);
  owner->mark = idle ? set | 1u << IDLE : owner->mark | set;
  return true;
}

arrjit_status aj_pass_try(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = 0; i < regions.count && ok; i++)
    for (uint32_t k = 0; k < regions.data[i]->node_count; k++) regions.data[i]->nodes[k]->mark = 0;
  for (size_t i = regions.count; i-- > 0 && ok;) ok = work_on(ctx->module->kinds, regions.data[i], out_changed);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (!ok) return aj_error_memory(ctx->error, "try");
  if (*out_changed) aj_func_resolve(func);
  return ARRJIT_OK;
}
