/* What compiled code calls: the cold ends of failures, callbacks, routines, calls. */
#include "rt/native_helpers.h"

#include <string.h>

#include "rt/need.h"

/* ---- traces: the same entries that the interpreter's unwinder makes from frames ---- */

static aj_arm find_arm(const aj_node *owner, uint32_t region) {
  if (owner->op == AJ_OP_IF) return region == 0 ? AJ_ARM_THEN : AJ_ARM_ELSE;
  if (owner->op == AJ_OP_SWITCH) return AJ_ARM_CASE;
  if (owner->op == AJ_OP_WHILE && region == 0) return AJ_ARM_COND;
  if (owner->op == AJ_OP_MAP) return AJ_ARM_LANE;
  if (owner->op != AJ_OP_TRY || region == 0) return AJ_ARM_BODY;
  bool last = region + 1 == owner->region_count;
  return last && aj_node_int(owner, AJ_ATTR_FINALLY) ? AJ_ARM_FINALLY : AJ_ARM_HANDLER;
}

/* Entries on their way into a trace, a few at a time: a frame adds one or two, a call hundreds of frames deep many. */
typedef struct gathered {
  aj_exn *exn;
  uint32_t count;
  aj_site sites[8];
} gathered;

static void gather(gathered *to, aj_site site) {
  if (to->count == AJ_COUNT(to->sites)) {
    aj_trace_append(to->exn, to->count, to->sites);
    to->count = 0;
  }
  to->sites[to->count++] = site;
}

static void gather_outward(gathered *to, const aj_nh_site *site, const int64_t *iterations) {
  const aj_region *region = site->node->parent;
  for (const aj_node *owner; (owner = region->owner); region = owner->parent) {
    aj_arm arm = find_arm(owner, region->index);
    bool loop = owner->op == AJ_OP_WHILE || owner->op == AJ_OP_FOR || owner->op == AJ_OP_MAP;
    uint32_t index = arm == AJ_ARM_CASE ? region->index : arm == AJ_ARM_HANDLER ? region->index - 1 : 0;
    gather(to, (aj_site){.node = owner,
                         .arm = (uint16_t)arm,
                         .arm_index = (uint16_t)index,
                         .iteration = loop ? *iterations++ : -1});
    if (region == site->stop) break;
  }
  aj_trace_append(to->exn, to->count, to->sites);
}

void aj_nh_outward(aj_run *run, const aj_nh_site *site, const int64_t *iterations) {
  gathered to;
  to.exn = run->exn;
  to.count = 0;
  gather_outward(&to, site, iterations);
}

void aj_nh_trace(aj_run *run, const aj_nh_site *site, const int64_t *iterations) {
  gathered to;
  to.exn = run->exn;
  to.count = 1;
  to.sites[0] = (aj_site){.node = site->node, .arm = AJ_ARM_NONE, .iteration = -1};
  gather_outward(&to, site, iterations);
}

/* ---- values as views ---- */

/* Scalars and arrays at `data`, dense, as operands [first, first + count) of the node say. */
static void show_operands(const aj_node *node, uint32_t first, uint32_t count, const int64_t *env,
                          const void *const *data, aj_view *out) {
  for (uint32_t i = 0; i < count; i++) {
    bool sized = aj_view_from_type(&out[i], node->operands[first + i]->type, env);
    AJ_ASSERT(sized); /* the value exists */
    (void)sized;
    out[i].data = (char *)(uintptr_t)data[i];
  }
}

/* Room for views of a node's operands: most have few. */
enum { FEW_VIEWS = 4 };
typedef struct view_list {
  aj_view few[FEW_VIEWS], *views;
  uint32_t count;
} view_list;

static bool open_views(aj_run *run, view_list *list, uint32_t count) {
  list->count = count;
  list->views = count <= FEW_VIEWS ? list->few : aj_mem_array(&run->core->mem, count, sizeof *list->views);
  return list->views != NULL;
}

static void close_views(aj_run *run, view_list *list) {
  if (list->views != list->few) aj_mem_free(&run->core->mem, list->views, list->count * sizeof *list->views);
}

static const char *find_message(const aj_node *node) {
  const aj_attr *message = aj_node_attr(node, AJ_ATTR_MESSAGE);
  return message ? message->u.text : NULL;
}

/* ---- failures ---- */

/* Raises the node's kind with its payload operands and, when lane >= 0, the lane. */
static void raise_node(aj_run *run, const aj_nh_site *site, uint32_t first, uint32_t count, const int64_t *env,
                       void *const *payload, int64_t lane) {
  const aj_node *node = site->code;
  arrjit_kind kind = (arrjit_kind)aj_node_int(node, AJ_ATTR_KIND);
  view_list list;
  if (!open_views(run, &list, count + 1)) {
    aj_run_raise_memory(run, (count + 1) * sizeof *list.views);
    return;
  }
  show_operands(node, first, count, env, (const void *const *)payload, list.views);
  if (lane >= 0) {
    list.views[count] = (aj_view){.dtype = ARRJIT_I64, .data = (char *)&lane};
    count++;
  }
  aj_run_raise_views(run, kind, aj_node_int(node, AJ_ATTR_CODE), find_message(node), count, list.views);
  close_views(run, &list);
}

void aj_nh_raise(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env,
                 void *const *payload) {
  raise_node(run, site, 0, site->code->operand_count, env, payload, -1);
  aj_nh_trace(run, site, iterations);
}

void aj_nh_check(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env,
                 void *const *payload, int64_t lane) {
  raise_node(run, site, 1, (uint32_t)aj_node_int(site->code, AJ_ATTR_PAYLOAD), env, payload, lane);
  aj_nh_trace(run, site, iterations);
}

int64_t aj_nh_check_code(const aj_node *node, void *const *operands) {
  return aj_sem_check_code(node->op, node->operands[0]->type->dtype, node->results[0].type->dtype,
                           (const void *const *)operands);
}

/* The payload has the lane of the whole array; the operands given are the elements there. */
void aj_nh_checked(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int64_t lane,
                   void *const *operands) {
  const aj_node *node = site->code;
  int64_t code = aj_nh_check_code(node, operands);
  aj_view payload[1 + FEW_VIEWS] = {{.dtype = ARRJIT_I64, .data = (char *)&lane}};
  uint32_t count = node->operand_count < FEW_VIEWS ? node->operand_count : FEW_VIEWS;
  for (uint32_t i = 0; i < count; i++)
    payload[1 + i] = (aj_view){.dtype = node->operands[i]->type->dtype, .data = operands[i]};
  aj_run_raise_views(run, ARRJIT_KIND_ARITH, code, aj_sem_arith_message(code), 1 + count, payload);
  aj_nh_trace(run, site, iterations);
}

void aj_nh_bad_step(aj_run *run, const aj_nh_site *site, const int64_t *iterations, void *const *operands) {
  aj_view views[3];
  aj_sem_fail fail = {.kind = ARRJIT_KIND_ARITH, .code = AJ_ARITH_INVALID, .message = AJ_STEP_ZERO_MESSAGE};
  for (uint32_t i = 0; i < 3; i++) views[i] = (aj_view){.dtype = ARRJIT_I64, .data = operands[i]};
  aj_run_raise_sem(run, &fail, 3, views);
  aj_nh_trace(run, site, iterations);
}

int32_t aj_nh_poll(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int32_t count) {
  if (!aj_run_poll(run, count != 0)) return 0;
  aj_nh_trace(run, site, iterations);
  return 1;
}

int64_t aj_nh_blocks(aj_run *run, aj_block_fn *fn, void *frame, int64_t from, int64_t to, int64_t grain) {
  return aj_run_blocks(run, fn, frame, from, to, grain);
}

int32_t aj_nh_due(aj_run *run) { return aj_run_is_due(run); }

int32_t aj_nh_check_shape(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env) {
  const aj_attr *shape = aj_node_attr(site->code, AJ_ATTR_SHAPE);
  const aj_type *from = site->code->operands[0]->type;
  for (uint32_t i = 0; i < shape->count; i++) {
    int64_t expected = aj_dim_eval(shape->u.ints[i], env), got = aj_dim_eval(from->dims[i], env);
    if (expected == got) continue;
    aj_run_raise_extent(run, (int32_t)i, shape->u.ints[i], expected, got);
    aj_nh_trace(run, site, iterations);
    return 1;
  }
  return 0;
}

static int32_t fail_sem(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const aj_sem_fail *fail,
                        const aj_view *operands) {
  aj_run_raise_sem(run, fail, fail->kind == ARRJIT_KIND_ARITH ? site->code->operand_count : 0, operands);
  aj_nh_trace(run, site, iterations);
  return 1;
}

static int32_t fail_memory(aj_run *run, const aj_nh_site *site, const int64_t *iterations) {
  aj_run_raise_memory(run, 0);
  aj_nh_trace(run, site, iterations);
  return 1;
}

int32_t aj_nh_check_view(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env) {
  aj_view in, out;
  aj_sem_fail fail = {.kind = ARRJIT_KIND_NONE};
  bool sized = aj_view_from_type(&in, site->code->operands[0]->type, env);
  AJ_ASSERT(sized);
  (void)sized;
  (void)aj_sem_view(site->code, env, &in, &out, &fail);
  return fail.kind == ARRJIT_KIND_NONE ? 0 : fail_sem(run, site, iterations, &fail, &in);
}

/* ---- routines, callbacks ---- */

/* Views of the results behind those of the operands. False: a result has more bytes than there can be. */
static bool show_results(const aj_node *node, const int64_t *env, void *const *data, aj_view *out) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    if (!aj_view_from_type(&out[i], node->results[i].type, env)) return false;
    out[i].data = data[i];
  }
  return true;
}

int32_t aj_nh_fallback(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env,
                       const void *const *in, void *const *out) {
  const aj_node *node = site->code;
  view_list list;
  if (!open_views(run, &list, node->operand_count + node->result_count)) return fail_memory(run, site, iterations);
  aj_view *results = list.views + node->operand_count;
  show_operands(node, 0, node->operand_count, env, in, list.views);
  aj_sem_fail fail = {.kind = ARRJIT_KIND_NONE};
  aj_sem_status status = AJ_SEM_MEMORY;
  if (show_results(node, env, out, results))
    status = aj_sem_run(&(aj_sem_call){.node = node,
                                       .env = env,
                                       .in = list.views,
                                       .out = results,
                                       .mem = &run->core->mem,
                                       .cache = run->core->sem,
                                       .fail = &fail,
                                       .poll = aj_run_poll_routine,
                                       .poll_user = run,
                                       .team = &aj_run_team,
                                       .no_lapack = aj_core_option(run->core, AJ_OPTION_LAPACK) == 0});
  int32_t failed = status != AJ_SEM_OK;
  if (status == AJ_SEM_FAIL) fail_sem(run, site, iterations, &fail, list.views);
  if (status == AJ_SEM_MEMORY) fail_memory(run, site, iterations);
  if (status == AJ_SEM_STOPPED) aj_nh_trace(run, site, iterations);
  close_views(run, &list);
  return failed;
}

static int32_t end_long(aj_run *run, const aj_nh_site *site, const int64_t *iterations, bool finished) {
  if (!finished) aj_nh_trace(run, site, iterations);
  return !finished;
}

int32_t aj_nh_copy(aj_run *run, const aj_nh_site *site, const int64_t *iterations, void *to, const void *from,
                   int64_t bytes) {
  aj_poller poller = aj_run_poller(run);
  return end_long(run, site, iterations, aj_bytes_copy(to, from, (size_t)bytes, &poller));
}

int32_t aj_nh_zero(aj_run *run, const aj_nh_site *site, const int64_t *iterations, void *to, int64_t bytes) {
  aj_poller poller = aj_run_poller(run);
  return end_long(run, site, iterations, aj_bytes_zero(to, (size_t)bytes, &poller));
}

int32_t aj_nh_fill(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env, void *to) {
  aj_view view;
  aj_poller poller = aj_run_poller(run);
  const void *element = aj_node_attr(site->code, AJ_ATTR_VALUE)->u.bytes;
  bool sized = aj_view_from_type(&view, site->code->results[0].type, env);
  AJ_ASSERT(sized);
  (void)sized;
  return end_long(run, site, iterations,
                  aj_view_fill_polled(to, aj_view_count(&view), element, aj_dtypes[view.dtype].bytes, &poller));
}

int32_t aj_nh_callback(aj_run *run, uint32_t slot, const arrjit_view *args, arrjit_view *results) {
  return !aj_run_callback(run, slot, args, results, NULL);
}

int64_t aj_nh_first_false(const uint8_t *pred, int64_t count) {
  const uint8_t *found = count > 0 ? memchr(pred, 0, (size_t)count) : NULL;
  return found ? found - pred : count;
}

/* ---- calls ---- */

enum { STACK_RESERVE = 64 * 1024 }; /* what a callback, a routine and the unwinding of a failure may need */

static bool bind_symbols(aj_run *run, const aj_node *call, const aj_func *callee, const int64_t *env,
                         int64_t *callee_env) {
  size_t count = callee->module->symbols.count;
  memcpy(callee_env, env, count * sizeof *env);
  for (size_t i = 0; i < count; i++)
    if (callee->module->symbols.data[i].func == callee->index) callee_env[i] = -1;
  for (uint32_t i = 0; i < callee->param_count; i++) {
    const aj_type *type = callee->param_types[i], *arg = call->operands[i]->type;
    for (int32_t axis = 0; axis < type->rank; axis++) {
      int64_t dim = type->dims[axis], got = aj_dim_eval(arg->dims[axis], env);
      if (aj_dim_is_symbol(dim) && callee_env[aj_dim_symbol(dim)] < 0) callee_env[aj_dim_symbol(dim)] = got;
      int64_t expected = aj_dim_eval(dim, callee_env);
      if (expected != got) return aj_run_raise_extent(run, axis, dim, expected, got);
    }
  }
  return aj_run_derive(run, callee, callee_env);
}

int32_t aj_nh_enter(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const aj_func *callee,
                    const int64_t *env, int64_t *callee_env) {
  bool may = aj_run_may_call(run);
  if (may && AJ_UNLIKELY(aj_stack_left() < STACK_RESERVE)) may = aj_run_reach(run, AJ_REACHED_STACK, 0);
  if (may && (!callee_env || bind_symbols(run, site->code, callee, env, callee_env)) &&
      aj_need_enter(run, run->depth + 1, callee, callee_env ? callee_env : env)) {
    run->depth++;
    return 0;
  }
  aj_nh_trace(run, site, iterations);
  return 1;
}
