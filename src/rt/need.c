/* A function's needs as a list of events in program order: an array comes, an array goes. Where the sum is greatest
 * depends on extents, so the list is gone through when the function is entered. Arms count one after the other: what
 * one leaves behind the next does not find. */
#include "rt/need.h"

#include "ir/symbol.h"

typedef struct event {
  const aj_type *type;
  bool goes;
} event;

typedef struct func_need {
  AJ_VEC(event) events;
} func_need;

struct aj_need {
  aj_mem *mem;
  size_t count; /* functions */
  func_need *funcs;
};

/* ---- making the list ---- */

#define GONE UINT32_MAX /* fact.until of what has gone */

typedef struct fact {    /* what is known of a value */
  const aj_value *owner; /* whose memory it shows: itself, or what a chain of views began with */
  uint32_t until;        /* of owners: pc of the last use, views included */
  bool is_output;
} fact;

typedef struct level { /* a region being walked */
  const aj_region *region;
  uint32_t pc, inner; /* inner: regions of the node at pc that are done */
  fact *facts;        /* by slot */
} level;

typedef struct walker {
  aj_mem *mem;
  func_need *out;
  AJ_VEC(level) levels;
  bool failed;
} walker;

static bool is_array(const aj_value *value) { return !value->type->is_exn && value->type->rank > 0; }

static bool is_view(const aj_value *value) { return value->def && aj_ops[value->def->op].routine == AJ_ROUTINE_VIEW; }

/* The operand whose memory the value shares, NULL when it has its own. */
static const aj_value *find_shared(const aj_value *value) {
  const aj_node *node = value->def;
  if (is_view(value) || node->op == AJ_OP_CHECK_SHAPE) return node->operands[0];
  if (node->op == AJ_OP_CHECK) return node->operands[node->operand_count - node->result_count + value->index];
  if (node->op != AJ_OP_CALLBACK) return NULL;
  const aj_slot *slot = &value->region->func->module->slots.data[aj_node_int(node, AJ_ATTR_SLOT)];
  return slot->is_value ? NULL : node->operands[value->index];
}

/* Whether a node of this region makes the array that the owner is. */
static bool is_made(const aj_value *owner) { return owner->def && owner->def->op != AJ_OP_CONST && is_array(owner); }

static void add(walker *w, const aj_type *type, bool goes) {
  event e = {type, goes};
  if (!AJ_VEC_PUSH(w->mem, &w->out->events, e)) w->failed = true;
}

static void find_facts(const aj_region *region, fact *facts) {
  for (uint32_t i = 0; i < region->param_count; i++) facts[region->params[i]->slot].owner = region->params[i];
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    const aj_node *node = region->nodes[pc];
    for (uint32_t i = 0; i < node->result_count; i++) {
      const aj_value *result = &node->results[i], *shared = find_shared(result);
      facts[result->slot] = (fact){.owner = shared ? facts[shared->slot].owner : result, .until = pc};
    }
    for (uint32_t i = 0; i < node->operand_count; i++) facts[facts[node->operands[i]->slot].owner->slot].until = pc;
  }
}

static void enter(walker *w, const aj_region *region) {
  level l = {.region = region};
  if (region->slot_count) {
    l.facts = aj_mem_array(w->mem, region->slot_count, sizeof *l.facts);
    w->failed = w->failed || !l.facts;
  }
  if (!w->failed && AJ_VEC_PUSH(w->mem, &w->levels, l)) {
    find_facts(region, l.facts);
    return;
  }
  aj_mem_free(w->mem, l.facts, region->slot_count * sizeof *l.facts);
  w->failed = true;
}

static void leave(walker *w) {
  level *l = &w->levels.data[--w->levels.count];
  aj_mem_free(w->mem, l->facts, l->region->slot_count * sizeof *l->facts);
}

/* Whether operand i is copied while the node runs. */
static bool is_copied(const aj_node *node, uint32_t i) {
  if (node->op == AJ_OP_RAISE || node->op == AJ_OP_EXN_NEW) return true;
  if (node->op == AJ_OP_CHECK) return i >= 1 && i <= (uint64_t)aj_node_int(node, AJ_ATTR_PAYLOAD);
  bool dense = aj_ops[node->op].routine == AJ_ROUTINE_CALL || node->op == AJ_OP_CALLBACK;
  return dense && is_view(node->operands[i]);
}

static void add_copies(walker *w, const aj_node *node, bool goes) {
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (is_array(node->operands[i]) && is_copied(node, i)) add(w, node->operands[i]->type, goes);
}

/* Outputs that are copies: of what no node makes, of what is only part of an array, of what is an output already. */
static void add_outputs(walker *w, const level *l, const aj_node *yield) {
  for (uint32_t i = 0; i < yield->operand_count; i++) {
    const aj_value *value = yield->operands[i];
    fact *f = &l->facts[value->slot];
    if (!is_array(value)) continue;
    if (f->owner != value || !is_made(value) || f->is_output) add(w, value->type, false);
    f->is_output = true;
  }
}

static void add_results(walker *w, const level *l, const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    const aj_value *result = &node->results[i];
    if (l->facts[result->slot].owner == result && is_made(result)) add(w, result->type, false);
  }
}

/* The value's array goes with this node, if it does. */
static void drop(walker *w, const level *l, const aj_node *node, const aj_value *value) {
  const aj_value *owner = l->facts[value->slot].owner;
  fact *f = &l->facts[owner->slot];
  if (f->until != node->pc || !is_made(owner)) return;
  add(w, owner->type, true);
  f->until = GONE;
}

/* Carried values, and results that exist while the regions that fill them run. */
static bool comes_first(const aj_node *node) {
  return node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR || node->op == AJ_OP_MAP;
}

static void begin_node(walker *w, const level *l, const aj_node *node) {
  if (comes_first(node)) add_results(w, l, node);
  if (node->op == AJ_OP_YIELD && !l->region->owner) add_outputs(w, l, node);
}

static void end_node(walker *w, const level *l, const aj_node *node) {
  if (!comes_first(node)) add_results(w, l, node);
  add_copies(w, node, false);
  add_copies(w, node, true);
  for (uint32_t i = 0; i < node->operand_count; i++) drop(w, l, node, node->operands[i]);
  for (uint32_t i = 0; i < node->result_count; i++) drop(w, l, node, &node->results[i]);
}

/* Nodes in program order, those with regions around what is in them; without recursion. */
static void walk(walker *w, const aj_func *func) {
  enter(w, func->root);
  while (w->levels.count && !w->failed) {
    level *l = &w->levels.data[w->levels.count - 1];
    if (l->pc == l->region->node_count) {
      leave(w);
      continue;
    }
    const aj_node *node = l->region->nodes[l->pc];
    if (l->inner == 0) begin_node(w, l, node);
    if (l->inner < node->region_count) {
      enter(w, node->regions[l->inner++]); /* may move the levels */
      continue;
    }
    end_node(w, l, node);
    l->pc++;
    l->inner = 0;
  }
  while (w->levels.count) leave(w);
  AJ_VEC_FREE(w->mem, &w->levels);
}

aj_need *aj_need_create(aj_mem *mem, const aj_module *module) {
  aj_need *need = aj_mem_alloc(mem, sizeof *need);
  if (!need) return NULL;
  need->mem = mem;
  need->count = module->funcs.count;
  need->funcs = aj_mem_array(mem, need->count, sizeof *need->funcs);
  bool ok = need->funcs != NULL;
  for (size_t i = 0; ok && i < need->count; i++) {
    walker w = {.mem = mem, .out = &need->funcs[i]};
    if (module->funcs.data[i]->root) walk(&w, module->funcs.data[i]);
    ok = !w.failed;
  }
  if (ok) return need;
  aj_need_destroy(need);
  return NULL;
}

void aj_need_destroy(aj_need *need) {
  if (!need) return;
  for (size_t i = 0; need->funcs && i < need->count; i++) AJ_VEC_FREE(need->mem, &need->funcs[i].events);
  aj_mem_free(need->mem, need->funcs, need->count * sizeof *need->funcs);
  aj_mem_free(need->mem, need, sizeof *need);
}

/* ---- going through it ---- */

/* Sums stop at the greatest number. */
static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return aj_i64_add(a, b, &sum) ? sum : INT64_MAX;
}

/* 0 as long as an extent is not known. */
static int64_t type_bytes(const aj_type *type, const int64_t *env) {
  int64_t dims[ARRJIT_MAX_RANK], bytes;
  for (int32_t i = 0; i < type->rank; i++) {
    dims[i] = aj_dim_eval(type->dims[i], env);
    if (dims[i] < 0) return 0;
  }
  return aj_array_shape_bytes(type->dtype, type->rank, dims, &bytes) ? bytes : INT64_MAX;
}

static int64_t func_bytes(const func_need *f, const int64_t *env) {
  int64_t now = 0, most = 0;
  for (size_t i = 0; i < f->events.count; i++) {
    int64_t bytes = type_bytes(f->events.data[i].type, env);
    if (!f->events.data[i].goes)
      now = plus(now, bytes);
    else if (now < INT64_MAX)
      now -= bytes;
    if (now > most) most = now;
  }
  return most;
}

/* run->needs[d] is what the run needs up to depth d - 1, copies of inputs included. */
static bool note(aj_run *run, size_t index, int64_t bytes) {
  if (bytes > run->max_bytes) return aj_run_reach(run, AJ_REACHED_BYTES, bytes);
  if (run->needs.count <= index && !AJ_VEC_PUSH(&run->core->mem, &run->needs, 0))
    return aj_run_raise_memory(run, (index + 1) * sizeof *run->needs.data);
  run->needs.data[index] = bytes;
  return true;
}

bool aj_need_begin(aj_run *run, const aj_need *need, int64_t copies, const int64_t *env) {
  run->need = need;
  return note(run, 0, copies) && aj_need_enter(run, 0, run->module->funcs.data[0], env);
}

bool aj_need_enter(aj_run *run, int64_t depth, const aj_func *func, const int64_t *env) {
  if (AJ_LIKELY(!run->need)) return true;
  AJ_ASSERT(depth >= 0 && (size_t)depth < run->needs.count && func->index < run->need->count);
  int64_t bytes = func_bytes(&run->need->funcs[func->index], env);
  return note(run, (size_t)depth + 1, plus(run->needs.data[depth], bytes));
}

bool aj_need_result(aj_run *run, int64_t bytes, uint32_t count, arrjit_array *const *made, int64_t *out_needed) {
  *out_needed = 0;
  if (AJ_LIKELY(!run->need)) return true;
  int64_t sum = plus(run->needs.data[run->depth], bytes);
  for (uint32_t i = 0; i < count; i++)
    if (made[i]) sum = plus(sum, (int64_t)aj_view_bytes(&made[i]->view));
  if (sum <= run->max_bytes) return true;
  *out_needed = sum;
  return aj_run_raise_limit(run, AJ_REACHED_BYTES, sum);
}
