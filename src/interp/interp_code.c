/* What the interpreter knows of a module beforehand: for every node its step, and for scalar ops the loop that computes
 * them, so that running a node looks nothing up. And the pool of interpreters that runs of the module take from. */
#include "interp/frame.h"

/* The step of an op by its row: CONTROL ops have one each, so a row without one does not link. */
#define aj_step_kernel aj_step_foreign
#define aj_step_first_false aj_step_foreign
#define aj_step_lane_index aj_step_foreign
#define STEP_SCALAR(name) aj_step_array
#define STEP_EXPAND(name) aj_step_array
#define STEP_CALL(name) aj_step_array
#define STEP_VIEW(name) aj_step_view
#define STEP_CONTROL(name) aj_step_##name

static aj_step_fn *const steps[AJ_OP_COUNT] = {
#define OP(ID, name, operands, dtypes, rule, flags, attrs, routine, lowering, meaning, errors, ...)                    \
  [AJ_OP_##ID] = STEP_##routine(name),
#include "ir/ops.def"
#undef OP
};

aj_flow aj_step_foreign(aj_interp *in, aj_frame *frame, const aj_node *node) {
  (void)frame, (void)node; /* only the optimiser makes such nodes */
  aj_run_raise(in->run, ARRJIT_KIND_INTERNAL, 0, "the interpreter met a node of the optimiser", 0, NULL);
  return AJ_FLOW_FAILED;
}

/* A constant array shares the module's bytes; one element that fills the shape is seen through strides of 0. */
static arrjit_array *create_constant(aj_core *core, const aj_node *node) {
  const aj_type *type = node->results[0].type;
  const aj_attr *value = aj_node_attr(node, AJ_ATTR_VALUE);
  aj_view view;
  if (!aj_view_from_type(&view, type, NULL)) return NULL;
  view.data = (char *)(uintptr_t)value->u.bytes; /* nobody writes through it: cells are read only */
  if (value->count < aj_view_bytes(&view))
    for (int32_t i = 0; i < view.rank; i++) view.strides[i] = 0;
  return aj_array_wrap(core, &view, NULL, NULL, NULL);
}

static bool is_all_scalar(const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!aj_type_is_scalar(node->operands[i]->type)) return false;
  return node->result_count == 1 && aj_type_is_scalar(node->results[0].type);
}

/* False: no memory. */
static bool prepare_node(aj_interp_code *code, const aj_node *node, aj_interp_node *info) {
  const aj_op_info *op = &aj_ops[node->op];
  info->step = steps[node->op];
  if (node->op == AJ_OP_CONST) {
    bool scalar = aj_type_is_scalar(node->results[0].type);
    info->step = scalar ? aj_step_scalar_const : aj_step_array_const;
    return scalar || (info->u.constant = create_constant(code->core, node)) != NULL;
  }
  if ((op->flags & AJ_F_REGIONS) && op->routine == AJ_ROUTINE_CALL) {
    info->step = aj_step_fold;
    return (info->u.program = info->owned = aj_program_create(&code->core->mem, node->regions[0])) != NULL;
  }
  if (op->routine == AJ_ROUTINE_CALL && node->result_count > 1) info->step = aj_step_fold;
  if (node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR) return aj_scalar_loop_find(code, node, info);
  if (!(op->flags & AJ_F_ELEMENTWISE) || !is_all_scalar(node)) return true;
  uint32_t typed = node->op == AJ_OP_SELECT ? 1 : 0; /* operand whose dtype names the loop */
  arrjit_dtype from = node->operands[typed]->type->dtype, to = node->results[0].type->dtype;
  if (op->routine == AJ_ROUTINE_SCALAR && (info->u.loop = aj_sem_loop(node->op, from, to)) != NULL) {
    info->step = aj_step_inline;
  } else if (op->routine == AJ_ROUTINE_EXPAND) {
    info->u.program = aj_sem_cache_get(code->core->sem, node->op, from);
    if (!info->u.program) return false;
    info->step = aj_step_program;
    size_t bytes = aj_program_scratch_bytes(info->u.program);
    if (bytes > code->scratch_bytes) code->scratch_bytes = bytes;
  }
  return true;
}

static void note_size(aj_interp_code *code, const aj_node *node) {
  uint32_t most = node->operand_count + node->result_count;
  for (uint32_t i = 0; i < node->region_count; i++)
    if (node->regions[i]->param_count > most) most = node->regions[i]->param_count;
  if (most > code->max_values) code->max_values = most;
  uint32_t dims = 0;
  for (uint32_t i = 0; node->op == AJ_OP_CALLBACK && i < node->result_count; i++)
    dims += (uint32_t)node->results[i].type->rank;
  if (aj_node_attr(node, AJ_ATTR_BINDS) && dims > code->max_host_dims) code->max_host_dims = dims;
}

/* Which nodes make what the entry returns; a value returned twice goes to the first place. */
static void note_outputs(const aj_region *root, aj_interp_node *nodes) {
  const aj_node *end = root->nodes[root->node_count - 1];
  for (uint32_t i = end->op == AJ_OP_YIELD ? end->operand_count : 0; i-- > 0;) {
    const aj_value *value = end->operands[i];
    if (value->def && value->index == 0) nodes[value->def->id].output = i + 1;
  }
}

static bool prepare_func(aj_interp_code *code, aj_func *func) {
  if (func->root->param_count > code->max_values) code->max_values = func->root->param_count;
  aj_interp_node *nodes = aj_mem_array(&code->core->mem, func->node_count, sizeof *nodes);
  if (!nodes) return false;
  code->funcs[func->index] = nodes;
  aj_walk walk;
  aj_walk_start(&walk, func);
  for (const aj_node *node; (node = aj_walk_next(&walk));) {
    AJ_ASSERT(node->id < func->node_count);
    note_size(code, node);
    if (!prepare_node(code, node, &nodes[node->id])) return false;
    nodes[node->id].plain = nodes[node->id].step;
  }
  if (func->index == 0) note_outputs(func->root, nodes);
  return aj_range_find(code, func);
}

aj_interp_code *aj_interp_code_create(aj_core *core, const aj_module *module) {
  aj_interp_code *code = aj_mem_alloc(&core->mem, sizeof *code);
  if (!code) return NULL;
  code->core = core;
  code->module = module;
  code->max_values = 1;
  if (!aj_mutex_init(&code->lock)) {
    aj_mem_free(&core->mem, code, sizeof *code);
    return NULL;
  }
  code->funcs = aj_mem_array(&core->mem, module->funcs.count, sizeof *code->funcs);
  bool ok = code->funcs != NULL;
  for (size_t i = 0; ok && i < module->funcs.count; i++)
    if (module->funcs.data[i]->root) ok = prepare_func(code, module->funcs.data[i]);
  if (ok) return code;
  aj_interp_code_destroy(code);
  return NULL;
}

static void destroy_interp(aj_interp_code *code, aj_interp *in) {
  aj_mem *mem = &code->core->mem;
  aj_stack_free(in);
  aj_mem_free(mem, in->transfer, code->max_values * sizeof *in->transfer);
  aj_mem_free(mem, in->views, code->max_values * sizeof *in->views);
  aj_mem_free(mem, in->arrays, code->max_values * sizeof(arrjit_array *));
  aj_mem_free(mem, in->host_views, code->max_values * sizeof *in->host_views);
  aj_mem_free(mem, in->host_dims, code->max_host_dims * sizeof *in->host_dims);
  aj_mem_free(mem, in->scratch, in->scratch_bytes);
  aj_mem_free(mem, in, sizeof *in);
}

static aj_interp *create_interp(aj_interp_code *code) {
  aj_mem *mem = &code->core->mem;
  aj_interp *in = aj_mem_alloc(mem, sizeof *in);
  if (!in) return NULL;
  in->code = code;
  in->transfer = aj_mem_array(mem, code->max_values, sizeof *in->transfer);
  in->views = aj_mem_array(mem, code->max_values, sizeof *in->views);
  in->arrays = aj_mem_array(mem, code->max_values, sizeof(arrjit_array *));
  in->host_views = aj_mem_array(mem, code->max_values, sizeof *in->host_views);
  in->host_dims = aj_mem_array(mem, code->max_host_dims, sizeof *in->host_dims);
  in->scratch = aj_mem_raw(mem, code->scratch_bytes);
  in->scratch_bytes = in->scratch ? code->scratch_bytes : 0;
  if (in->transfer && in->views && in->arrays && in->host_views && (in->host_dims || !code->max_host_dims) &&
      (in->scratch || !code->scratch_bytes))
    return in;
  destroy_interp(code, in);
  return NULL;
}

aj_interp *aj_interp_take(aj_interp_code *code) {
  aj_mutex_lock(&code->lock);
  aj_interp *in = code->free;
  if (in) code->free = in->next_free;
  aj_mutex_unlock(&code->lock);
  return in ? in : create_interp(code);
}

void aj_interp_give(aj_interp *in) {
  aj_interp_code *code = in->code;
  aj_mutex_lock(&code->lock);
  in->next_free = code->free;
  code->free = in;
  aj_mutex_unlock(&code->lock);
}

void *aj_interp_scratch(aj_interp *in, size_t bytes) {
  if (AJ_LIKELY(bytes <= in->scratch_bytes)) return in->scratch;
  void *scratch = aj_mem_raw(&in->run->core->mem, bytes);
  if (!scratch) {
    aj_run_raise_memory(in->run, bytes);
    return NULL;
  }
  aj_mem_free(&in->run->core->mem, in->scratch, in->scratch_bytes);
  in->scratch_bytes = bytes;
  return in->scratch = scratch;
}

static aj_heat build_part(aj_interp *in, aj_warmth *warmth, bool (*build)(aj_interp_code *code, void *part),
                          void *part) {
  aj_mutex_lock(&in->code->lock);
  bool built = atomic_load_explicit(&warmth->built, memory_order_relaxed) || build(in->code, part);
  atomic_store_explicit(&warmth->built, built, memory_order_release);
  aj_mutex_unlock(&in->code->lock);
  if (built) return AJ_WARM;
  aj_run_raise_memory(in->run, 0);
  return AJ_HEAT_FAILED;
}

aj_heat aj_warm(aj_interp *in, aj_warmth *warmth, int64_t work, bool (*build)(aj_interp_code *code, void *part),
                void *part) {
  if (AJ_LIKELY(atomic_load_explicit(&warmth->built, memory_order_acquire))) return AJ_WARM;
  int64_t enough = aj_core_option(in->run->core, AJ_OPTION_BLOCK_WORK) * warmth->weight;
  if (work < enough) {
    work += atomic_fetch_add_explicit(&warmth->work, work, memory_order_relaxed);
    if (work < enough) return AJ_COLD;
  }
  return build_part(in, warmth, build, part);
}

void aj_interp_code_destroy(aj_interp_code *code) {
  if (!code) return;
  aj_mem *mem = &code->core->mem;
  for (aj_interp *in = code->free, *next; in; in = next) {
    next = in->next_free;
    destroy_interp(code, in);
  }
  aj_ranges_destroy(code);
  aj_scalar_loops_destroy(code);
  for (size_t i = 0; code->funcs && i < code->module->funcs.count; i++) {
    const aj_func *func = code->module->funcs.data[i];
    aj_interp_node *nodes = code->funcs[i];
    for (uint32_t k = 0; nodes && k < func->node_count; k++) {
      if (nodes[k].plain == aj_step_array_const) aj_array_release(nodes[k].u.constant);
      aj_program_destroy(nodes[k].owned);
    }
    aj_mem_free(mem, nodes, func->node_count * sizeof *nodes);
  }
  aj_mem_free(mem, code->funcs, code->module->funcs.count * sizeof *code->funcs);
  aj_mutex_destroy(&code->lock);
  aj_mem_free(mem, code, sizeof *code);
}
