/* A graph's life: making it, where nodes come from (file, line, label), its first error, finishing it. */
#include "api/graph.h"

#include <string.h>

#include "opt/opt.h"

void aj_graph_name_call(arrjit_graph *graph, const char *function) {
  static const char prefix[] = "arrjit_";
  size_t length = sizeof prefix - 1;
  if (strncmp(function, prefix, length) == 0) graph->b.call = function + length;
}

bool aj_graph_enter(arrjit_graph *graph, const char *function) {
  if (!graph) return false;
  aj_graph_name_call(graph, function);
  if (!graph->module)
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "the graph is finished; no more can be built");
  return aj_builder_ok(&graph->b);
}

bool aj_graph_given(arrjit_graph *graph, const char *what, const void *pointer, size_t count) {
  if (pointer || count == 0) return true;
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%s is NULL", what);
  return false;
}

bool aj_graph_counted(arrjit_graph *graph, size_t count) {
  if (count <= AJ_GRAPH_MOST) return true;
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "the count is %zu; expected at most %u", count, AJ_GRAPH_MOST);
  return false;
}

bool aj_graph_add_operands(arrjit_graph *graph, size_t count, const arrjit_value *values) {
  if (!aj_graph_given(graph, "an array of values", values, count) || !aj_graph_counted(graph, count)) return false;
  if (!AJ_VEC_RESERVE(&graph->core->mem, &graph->scratch, count)) {
    aj_builder_no_memory(&graph->b);
    return false;
  }
  for (size_t i = 0; i < count; i++) graph->scratch.data[graph->scratch.count++] = aj_graph_value(values[i]);
  return true;
}

bool aj_graph_operands(arrjit_graph *graph, size_t count, const arrjit_value *values) {
  graph->scratch.count = 0;
  return aj_graph_add_operands(graph, count, values);
}

void aj_graph_give(arrjit_value *out, size_t count, const aj_node *node) {
  if (!out || count > AJ_GRAPH_MOST) return; /* no host has so many */
  for (size_t i = 0; i < count; i++) out[i] = node && i < node->result_count ? aj_host_value(&node->results[i]) : NULL;
}

/* ---- making and dropping ---- */

static bool start_main(arrjit_graph *graph) {
  aj_func *main_func = aj_module_add_func(graph->module, "main", 0, NULL, 0, NULL);
  aj_region *root = main_func ? aj_region_create(main_func, NULL, 0) : NULL;
  if (!root || !aj_frame_push(graph, AJ_FRAME_FUNC)) return false;
  main_func->root = root;
  graph->b.func = main_func;
  graph->b.region = root;
  return true;
}

arrjit_status arrjit_graph_create(arrjit_context *context, arrjit_graph **out, arrjit_error *error) {
  if (!context || !out) return aj_error_set(error, ARRJIT_MISUSE, "%s is NULL", context ? "out" : "context");
  aj_core *core = context->core;
  arrjit_graph *graph = aj_mem_alloc(&core->mem, sizeof *graph);
  if (!graph) return aj_error_memory(error, "a graph");
  graph->context = context;
  graph->core = core;
  aj_core_retain(core);
  graph->module = aj_module_create(&core->mem, core->kinds);
  aj_builder_init(&graph->b, graph->module);
  graph->b.max_nodes = aj_core_option(core, AJ_OPTION_MAX_NODES);
  graph->b.max_const_bytes = aj_core_option(core, AJ_OPTION_MAX_CONST_BYTES);
  if (!graph->module || !start_main(graph)) {
    arrjit_graph_destroy(graph);
    return aj_error_memory(error, "a graph");
  }
  *out = graph;
  return aj_error_clear(error);
}

void arrjit_graph_destroy(arrjit_graph *graph) {
  if (!graph) return;
  aj_core *core = graph->core;
  aj_module_destroy(graph->module);
  aj_function_release(graph->function);
  AJ_VEC_FREE(&core->mem, &graph->frames);
  AJ_VEC_FREE(&core->mem, &graph->heads);
  AJ_VEC_FREE(&core->mem, &graph->regions);
  AJ_VEC_FREE(&core->mem, &graph->kinds);
  AJ_VEC_FREE(&core->mem, &graph->scratch);
  AJ_VEC_FREE(&core->mem, &graph->labels);
  aj_mem_free(&core->mem, graph, sizeof *graph);
  aj_core_release(core);
}

/* ---- where nodes come from ---- */

arrjit_graph *arrjit_at(arrjit_graph *graph, const char *file, int line) {
  if (!graph || !graph->module || !aj_builder_ok(&graph->b)) return graph;
  aj_source *source = &graph->b.source;
  source->line = line > 0 ? line : 0;
  if (!file || (source->file && strcmp(source->file, file) == 0)) {
    if (!file) source->file = NULL;
    return graph;
  }
  source->file = aj_module_text(graph->module, file, strlen(file));
  if (source->file) return graph;
  aj_graph_name_call(graph, __func__);
  aj_builder_no_memory(&graph->b);
  return graph;
}

void arrjit_label_push(arrjit_graph *graph, const char *label) {
  if (!aj_graph_ready(graph) || !aj_graph_given(graph, "label", label, 1)) return;
  int64_t most = aj_core_option(graph->core, AJ_OPTION_MAX_NESTING);
  if (graph->labels.count >= (uint64_t)most) {
    aj_builder_fail(&graph->b, ARRJIT_LIMIT, AJ_OP_NONE, "labels are nested deeper than max_nesting, %lld",
                    (long long)most);
    return;
  }
  aj_text joined;
  aj_text_init(&joined, &graph->core->mem);
  const char *outer = graph->b.source.label;
  aj_text_printf(&joined, "%s%s%s", outer ? outer : "", outer ? "/" : "", label);
  const char *text = joined.failed ? NULL : aj_module_text(graph->module, joined.data, joined.count);
  aj_text_free(&joined);
  if (text && AJ_VEC_PUSH(&graph->core->mem, &graph->labels, text))
    graph->b.source.label = text;
  else
    aj_builder_no_memory(&graph->b);
}

void arrjit_label_pop(arrjit_graph *graph) {
  if (!aj_graph_ready(graph)) return;
  if (graph->labels.count == 0) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "without a matching push");
    return;
  }
  graph->labels.count--;
  graph->b.source.label = graph->labels.count ? graph->labels.data[graph->labels.count - 1] : NULL;
}

/* ---- the end ---- */

arrjit_status arrjit_graph_error(const arrjit_graph *graph, arrjit_error *error) {
  if (!graph) return aj_error_set(error, ARRJIT_MISUSE, "graph is NULL");
  if (error) *error = graph->b.error;
  return graph->b.error.status;
}

static bool check_ended(arrjit_graph *graph) {
  if (graph->frames.count) {
    const aj_frame *top = &graph->frames.data[graph->frames.count - 1];
    const char *name = aj_frame_name(top->kind);
    char why[200];
    if (top->kind == AJ_FRAME_FUNC)
      aj_bounded_printf(why, sizeof why, "function %s is begun but not ended; arrjit_return ends it",
                        graph->b.func->name);
    else
      aj_bounded_printf(why, sizeof why, "%s is begun but not ended; arrjit_%s_end ends it", name,
                        strchr(name, ' ') + 1);
    graph->b.source = top->source;
    aj_builder_fail(&graph->b, ARRJIT_GRAPH, AJ_OP_NONE, "%s", why);
  }
  for (size_t i = 0; i < graph->module->funcs.count; i++)
    if (!graph->module->funcs.data[i]->root)
      aj_builder_fail(&graph->b, ARRJIT_GRAPH, AJ_OP_NONE, "function %s is declared but not defined",
                      graph->module->funcs.data[i]->name);
  return aj_builder_ok(&graph->b);
}

static void close_graph(arrjit_graph *graph) {
  if (!check_ended(graph)) return;
  if (!aj_module_number(graph->module))
    aj_builder_no_memory(&graph->b);
  else if (aj_verify(graph->module, false, &graph->b.error) == ARRJIT_OK && !aj_opt_settle(graph->module))
    aj_builder_no_memory(&graph->b);
}

arrjit_status arrjit_graph_finish(arrjit_graph *graph, arrjit_function **out, arrjit_error *error) {
  if (!graph || !out) return aj_error_set(error, ARRJIT_MISUSE, "%s is NULL", graph ? "out" : "graph");
  if (aj_graph_ready(graph)) close_graph(graph);
  if (!aj_builder_ok(&graph->b)) return arrjit_graph_error(graph, error);
  arrjit_function *function = aj_function_create(graph->context, graph->module);
  graph->module = graph->b.module = NULL;
  graph->b.source = (aj_source){0}; /* its texts went with the module */
  if (!function) {
    aj_builder_no_memory(&graph->b);
    return arrjit_graph_error(graph, error);
  }
  graph->function = function;
  aj_function_retain(function);
  *out = function;
  return aj_error_clear(error);
}
