/* Functions inside a graph: declaring, defining, returning, calling. */
#include <string.h>

#include "api/graph.h"

/* ---- declaring and defining ---- */

static aj_func *declare(arrjit_graph *graph, const char *name) {
  if (!aj_graph_name(graph, "a function", name)) return NULL;
  if (aj_module_find_func(graph->module, name)) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "two functions are called %s", name);
    return NULL;
  }
  aj_func *func = aj_module_add_func(graph->module, name, 0, NULL, 0, NULL);
  if (!func) aj_builder_no_memory(&graph->b);
  return func;
}

arrjit_callee arrjit_declare(arrjit_graph *graph, const char *name, size_t param_count, const arrjit_type *params,
                             size_t result_count, const arrjit_type *results) {
  if (!aj_graph_ready(graph)) return -1;
  aj_func *func = declare(graph, name);
  if (!func) return -1;
  const aj_type **param_types = aj_graph_types(graph, "a parameter's type", param_count, params, func, AJ_ALLOW_EXN);
  if (!param_types) return -1;
  const aj_type **result_types = aj_graph_types(graph, "a result's type", result_count, results, func, AJ_ALLOW_EXN);
  if (!result_types) return -1;
  func->result_names = AJ_NEW_ARRAY(&graph->module->arena, result_count, const char *);
  if (!func->result_names) return aj_builder_no_memory(&graph->b), -1;
  func->param_count = (uint32_t)param_count;
  func->param_types = param_types;
  func->result_count = (uint32_t)result_count;
  func->result_types = result_types;
  return (arrjit_callee)func->index;
}

/* NULL: no such function; an error only when there was none before. `function` is the host's call. */
static aj_func *find_callee(arrjit_graph *graph, arrjit_callee callee, const char *function) {
  (void)aj_graph_enter(graph, function);
  if (!graph || !graph->module) return NULL;
  if (callee >= 0 && (size_t)callee < graph->module->funcs.count) return graph->module->funcs.data[callee];
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%d is no function of the graph", (int)callee);
  return NULL;
}

static void start_body(arrjit_graph *graph, aj_func *func, arrjit_value *out_params) {
  aj_region *root = aj_region_create(func, NULL, 0);
  for (uint32_t i = 0; root && i < func->param_count; i++) {
    aj_value *param = aj_region_add_param(root, func->param_types[i]);
    if (!param) root = NULL;
    if (out_params) out_params[i] = aj_host_value(param);
  }
  if (!root) {
    aj_builder_no_memory(&graph->b);
    return;
  }
  func->root = root;
  graph->b.func = func;
  graph->b.region = root;
  graph->b.lane = AJ_LANE_NONE;
}

void arrjit_define(arrjit_graph *graph, arrjit_callee callee, arrjit_value *out_params) {
  aj_func *func = find_callee(graph, callee, __func__);
  if (func) aj_graph_give(out_params, func->param_count, NULL);
  if (!aj_frame_push(graph, AJ_FRAME_FUNC) || !aj_graph_ready(graph)) return;
  if (func->root) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "function %s is defined already", func->name);
    return;
  }
  if (aj_graph_given(graph, "the array for parameters", out_params, func->param_count))
    start_body(graph, func, out_params);
}

/* ---- returning ---- */

/* main's results are whatever it returns. */
static bool set_results(arrjit_graph *graph, const char *const *names) {
  aj_func *func = graph->b.func;
  aj_module *module = graph->module;
  size_t count = graph->scratch.count;
  const aj_type **types = AJ_NEW_ARRAY(&module->arena, count, const aj_type *);
  const char **copies = AJ_NEW_ARRAY(&module->arena, count, const char *);
  for (size_t i = 0; types && copies && i < count; i++) {
    types[i] = graph->scratch.data[i]->type;
    if (types[i]->is_exn) {
      aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "value %zu is an exception; main returns arrays only", i);
      return false;
    }
    if (names && names[i] && *names[i] && !(copies[i] = aj_module_text(module, names[i], strlen(names[i]))))
      copies = NULL;
  }
  if (!types || !copies) return aj_builder_no_memory(&graph->b), false;
  func->result_count = (uint32_t)count;
  func->result_types = types;
  func->result_names = copies;
  return true;
}

static bool is_same_kind(const aj_type *a, const aj_type *b) {
  return a->is_exn == b->is_exn && a->dtype == b->dtype && a->rank == b->rank;
}

/* A declared function returns what it said; extents that only a run can tell are checked there. */
static bool fit_results(arrjit_graph *graph) {
  const aj_func *func = graph->b.func;
  if (graph->scratch.count != func->result_count) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "%zu values; function %s declares %u", graph->scratch.count,
                    func->name, func->result_count);
    return false;
  }
  for (uint32_t i = 0; i < func->result_count; i++) {
    aj_value **value = &graph->scratch.data[i];
    const aj_type *type = func->result_types[i];
    if (is_same_kind((*value)->type, type)) {
      *value = aj_build_check_shape(&graph->b, *value, type->dims);
      if (!*value) return false;
      continue;
    }
    char came[120], declared[120];
    aj_type_print(graph->module, (*value)->type, came, sizeof came);
    aj_type_print(graph->module, type, declared, sizeof declared);
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "value %u is %s; function %s declares %s", i, came, func->name,
                    declared);
    return false;
  }
  return true;
}

static void set_param_types(arrjit_graph *graph) {
  aj_func *func = graph->b.func;
  const aj_type **types = AJ_NEW_ARRAY(&graph->module->arena, func->root->param_count, const aj_type *);
  if (!types) {
    aj_builder_no_memory(&graph->b);
    return;
  }
  for (uint32_t i = 0; i < func->root->param_count; i++) types[i] = func->root->params[i]->type;
  func->param_count = func->root->param_count;
  func->param_types = types;
}

static void build_return(arrjit_graph *graph, size_t count, const arrjit_value *values, const char *const *names) {
  aj_builder *b = &graph->b;
  bool is_main = b->func->index == 0, raised = aj_region_terminator(b->region);
  if (!aj_graph_operands(graph, count, values)) return;
  for (size_t i = 0; i < count; i++)
    if (!aj_builder_check_operand(b, AJ_OP_YIELD, (uint32_t)i, graph->scratch.data[i])) return;
  if (is_main) set_param_types(graph);
  if (!aj_builder_ok(b) || !(is_main ? set_results(graph, names) : raised || fit_results(graph))) return;
  aj_build(b, AJ_OP_YIELD, (uint32_t)count, graph->scratch.data, 0, NULL);
  b->region->closed = true;
}

void arrjit_return(arrjit_graph *graph, size_t count, const arrjit_value *values, const char *const *names) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_FUNC);
  if (!frame) {
    if (graph && graph->lost_frames) aj_frame_pop(graph);
    return;
  }
  if (aj_graph_ready(graph)) build_return(graph, count, values, names);
  aj_frame_pop(graph);
}

/* ---- calling ---- */

void arrjit_call(arrjit_graph *graph, arrjit_callee callee, size_t arg_count, const arrjit_value *args,
                 arrjit_value *out_results) {
  aj_func *func = find_callee(graph, callee, __func__);
  if (!func) return;
  aj_node *node = NULL;
  const aj_attr attr = aj_attr_int(AJ_ATTR_CALLEE, callee);
  if (aj_graph_ready(graph) && callee == 0)
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_CALL,
                    "main cannot be called: its results are not known before it returns");
  if (aj_graph_ready(graph) && aj_graph_operands(graph, arg_count, args))
    node = aj_build_fitted(&graph->b, AJ_OP_CALL, (uint32_t)arg_count, graph->scratch.data, 1, &attr);
  aj_graph_give(out_results, func->result_count, node);
}
