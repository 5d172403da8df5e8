/* Nodes of single ops: what generated builders call, failures, exceptions, callbacks. */
#include <string.h>

#include "api/graph.h"

/* ---- builders of ops.h ---- */

/* An attribute of the host's: counts and pointers are checked here, what they mean by inference. */
static bool make_attr(arrjit_graph *graph, aj_op op, const aj_graph_attr *from, const aj_type *x, aj_attr *out) {
  static const int64_t all[ARRJIT_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  aj_attr_form form = aj_attrs[from->name].form;
  bool takes_all = aj_ops[op].rule == AJ_R_REDUCE || aj_ops[op].rule == AJ_R_SAME_AXES;
  if (form != AJ_FORM_INTS && form != AJ_FORM_DIMS) {
    *out = aj_attr_int(from->name, from->i);
  } else if (from->count == SIZE_MAX && takes_all && x) {
    *out = aj_attr_ints(from->name, (size_t)x->rank, all);
  } else if (from->count > ARRJIT_MAX_RANK) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, op, "%s has too many entries or a negative rank; at most %d is allowed",
                    aj_attrs[from->name].name, ARRJIT_MAX_RANK);
    return false;
  } else {
    if (!aj_graph_given(graph, aj_attrs[from->name].name, from->ints, from->count)) return false;
    *out = aj_attr_ints(from->name, from->count, from->ints);
  }
  return true;
}

static aj_value *build_op(arrjit_graph *graph, aj_op op, size_t operand_count, const arrjit_value *operands,
                          size_t extra_count, const arrjit_value *extra, size_t attr_count,
                          const aj_graph_attr *attrs) {
  enum { MOST = 8 };
  aj_attr made[MOST];
  AJ_ASSERT(attr_count <= MOST);
  if (graph) graph->b.call = aj_ops[op].name;
  if (!aj_graph_ready(graph)) return NULL;
  if (!aj_graph_operands(graph, operand_count, operands) || !aj_graph_add_operands(graph, extra_count, extra))
    return NULL;
  uint32_t count = (uint32_t)graph->scratch.count;
  const aj_value *x = count ? graph->scratch.data[0] : NULL;
  for (size_t i = 0; i < attr_count; i++)
    if (!make_attr(graph, op, &attrs[i], x ? x->type : NULL, &made[i])) return NULL;
  if (aj_ops[op].flags & AJ_F_ELEMENTWISE)
    return aj_build_elementwise(&graph->b, op, count, graph->scratch.data, (uint32_t)attr_count, made);
  aj_node *node = aj_build_fitted(&graph->b, op, count, graph->scratch.data, (uint32_t)attr_count, made);
  return node ? &node->results[0] : NULL;
}

arrjit_value aj_graph_op(arrjit_graph *graph, aj_op op, size_t operand_count, const arrjit_value *operands,
                         size_t extra_count, const arrjit_value *extra, size_t attr_count, const aj_graph_attr *attrs) {
  return aj_host_value(build_op(graph, op, operand_count, operands, extra_count, extra, attr_count, attrs));
}

void aj_graph_ops(arrjit_graph *graph, aj_op op, size_t operand_count, const arrjit_value *operands, size_t extra_count,
                  const arrjit_value *extra, size_t attr_count, const aj_graph_attr *attrs, size_t result_count,
                  arrjit_value *const *out) {
  aj_value *first = build_op(graph, op, operand_count, operands, extra_count, extra, attr_count, attrs);
  for (size_t i = 0; i < result_count; i++)
    if (out[i]) *out[i] = aj_host_value(first ? first + i : NULL);
}

/* ---- failures ---- */

/* A node with a kind, code, message and the operands in scratch. */
static aj_node *build_failure(arrjit_graph *graph, aj_op op, arrjit_kind kind, int64_t code, const char *message,
                              int64_t payload) {
  const aj_attr attrs[] = {
      aj_attr_int(AJ_ATTR_KIND, kind),
      aj_attr_int(AJ_ATTR_CODE, code),
      aj_attr_text(AJ_ATTR_MESSAGE, message),
      aj_attr_int(AJ_ATTR_PAYLOAD, payload),
  };
  uint32_t attr_count = op == AJ_OP_CHECK ? 4 : 3;
  return aj_build(&graph->b, op, (uint32_t)graph->scratch.count, graph->scratch.data, attr_count, attrs);
}

void arrjit_raise(arrjit_graph *graph, arrjit_kind kind, int64_t code, const char *message, size_t payload_count,
                  const arrjit_value *payload) {
  if (aj_graph_ready(graph) && aj_graph_operands(graph, payload_count, payload))
    build_failure(graph, AJ_OP_RAISE, kind, code, message, 0);
}

void arrjit_runtime_raise(arrjit_graph *graph, const char *message, size_t payload_count, const arrjit_value *payload) {
  if (aj_graph_ready(graph) && aj_graph_operands(graph, payload_count, payload))
    build_failure(graph, AJ_OP_RAISE, ARRJIT_KIND_RUNTIME, 0, message, 0);
}

void arrjit_check(arrjit_graph *graph, arrjit_value pred, arrjit_kind kind, int64_t code, const char *message,
                  size_t payload_count, const arrjit_value *payload, size_t value_count, const arrjit_value *values,
                  arrjit_value *out_values) {
  aj_node *node = NULL;
  if (aj_graph_ready(graph) && aj_graph_operands(graph, 1, &pred) &&
      aj_graph_add_operands(graph, payload_count, payload) && aj_graph_add_operands(graph, value_count, values))
    node = build_failure(graph, AJ_OP_CHECK, kind, code, message, (int64_t)payload_count);
  aj_graph_give(out_values, value_count, node);
}

/* ---- exceptions ---- */

static arrjit_value give_first(aj_node *node) { return node ? aj_host_value(&node->results[0]) : NULL; }

arrjit_value arrjit_exn_new(arrjit_graph *graph, arrjit_kind kind, int64_t code, const char *message,
                            size_t payload_count, const arrjit_value *payload) {
  if (!aj_graph_ready(graph) || !aj_graph_operands(graph, payload_count, payload)) return NULL;
  return give_first(build_failure(graph, AJ_OP_EXN_NEW, kind, code, message, 0));
}

static void raise_exn(arrjit_graph *graph, const char *function, uint32_t count, const arrjit_value *values) {
  if (aj_graph_enter(graph, function) && aj_graph_operands(graph, count, values))
    aj_build(&graph->b, AJ_OP_RAISE_EXN, count, graph->scratch.data, 0, NULL);
}

void arrjit_raise_exn(arrjit_graph *graph, arrjit_value exn) { raise_exn(graph, __func__, 1, &exn); }

void arrjit_raise_from(arrjit_graph *graph, arrjit_value exn, arrjit_value cause) {
  raise_exn(graph, __func__, 2, (const arrjit_value[]){exn, cause});
}

arrjit_value arrjit_exn_is(arrjit_graph *graph, arrjit_value exn, arrjit_kind kind) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_KIND, kind);
  if (!aj_graph_ready(graph) || !aj_graph_operands(graph, 1, &exn)) return NULL;
  return give_first(aj_build(&graph->b, AJ_OP_EXN_IS, 1, graph->scratch.data, 1, &attr));
}

arrjit_value arrjit_exn_field(arrjit_graph *graph, arrjit_value exn, int64_t field, const arrjit_type *type,
                              arrjit_value *out_present) {
  aj_node *node = NULL;
  aj_graph_give(out_present, 1, NULL);
  if (!aj_graph_ready(graph)) return NULL;
  const aj_type *made = aj_graph_type(graph, "the type of a field", type, graph->b.func, 0);
  if (!made || !aj_graph_operands(graph, 1, &exn)) return NULL;
  const aj_attr attrs[] = {
      aj_attr_int(AJ_ATTR_FIELD, field),
      aj_attr_int(AJ_ATTR_DTYPE, made->dtype),
      aj_attr_ints(AJ_ATTR_SHAPE, (size_t)made->rank, made->dims),
  };
  node = aj_build(&graph->b, AJ_OP_EXN_FIELD, 1, graph->scratch.data, AJ_COUNT(attrs), attrs);
  aj_graph_give(out_present, 1, node);
  return node ? aj_host_value(&node->results[1]) : NULL;
}

/* ---- callbacks ---- */

static bool check_slot(arrjit_graph *graph, const char *name, bool is_value, unsigned flags) {
  if (!aj_graph_name(graph, "a callback slot", name)) return false;
  for (size_t i = 0; i < graph->module->slots.count; i++) {
    if (strcmp(graph->module->slots.data[i].name, name) != 0) continue;
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "two callback slots are called %s", name);
    return false;
  }
  unsigned fits = is_value ? ARRJIT_SLOT_PURE : ARRJIT_SLOT_OPTIONAL;
  if (!(flags & ~fits)) return true;
  if (is_value && (flags & ARRJIT_SLOT_OPTIONAL))
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                    "slot %s: a value slot cannot be optional: without a callback nothing makes its results", name);
  else
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "slot %s: flags 0x%x; expected 0 or %s", name, flags,
                    is_value ? "ARRJIT_SLOT_PURE" : "ARRJIT_SLOT_OPTIONAL");
  return false;
}

static arrjit_slot add_slot(arrjit_graph *graph, const char *name, bool is_value, size_t param_count,
                            const arrjit_type *params, size_t result_count, const arrjit_type *results,
                            unsigned flags) {
  if (!check_slot(graph, name, is_value, flags)) return -1;
  aj_func *func = graph->b.func;
  const aj_type **param_types = aj_graph_types(graph, "an argument's type", param_count, params, func, 0);
  const aj_type **result_types =
      param_types ? aj_graph_types(graph, "a result's type", result_count, results, func, AJ_ALLOW_DYNAMIC) : NULL;
  if (!result_types) return -1;
  if (is_value && result_count == 0) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                    "slot %s: a value slot has one result or more; arrjit_slot_io is for those without", name);
    return -1;
  }
  int32_t slot = aj_module_add_slot(graph->module, &(aj_slot){.name = name,
                                                              .is_value = is_value,
                                                              .optional = flags & ARRJIT_SLOT_OPTIONAL,
                                                              .pure = flags & ARRJIT_SLOT_PURE,
                                                              .param_count = (uint32_t)param_count,
                                                              .result_count = (uint32_t)result_count,
                                                              .param_types = param_types,
                                                              .result_types = result_types});
  if (slot < 0) aj_builder_no_memory(&graph->b);
  return slot;
}

arrjit_slot arrjit_slot_io(arrjit_graph *graph, const char *name, size_t param_count, const arrjit_type *params,
                           unsigned flags) {
  if (!aj_graph_ready(graph)) return -1;
  return add_slot(graph, name, false, param_count, params, 0, NULL, flags);
}

arrjit_slot arrjit_slot_value(arrjit_graph *graph, const char *name, size_t param_count, const arrjit_type *params,
                              size_t result_count, const arrjit_type *results, unsigned flags) {
  if (!aj_graph_ready(graph)) return -1;
  return add_slot(graph, name, true, param_count, params, result_count, results, flags);
}

void arrjit_callback(arrjit_graph *graph, arrjit_slot slot, size_t arg_count, const arrjit_value *args,
                     arrjit_value *out) {
  (void)aj_graph_ready(graph);
  if (!graph || !graph->module) return;
  aj_node *node = NULL;
  if (slot < 0 || (size_t)slot >= graph->module->slots.count) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_CALLBACK, "%d is no callback slot of the graph", (int)slot);
    return;
  }
  const aj_slot *info = &graph->module->slots.data[slot];
  if (aj_graph_ready(graph) && aj_graph_operands(graph, arg_count, args)) {
    const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_SLOT, slot),
                             aj_attr_int(AJ_ATTR_BINDS, graph->b.func ? graph->b.func->next_node_symbol : 0)};
    uint32_t attr_count = aj_slot_all_dynamic_dims(info) ? 2 : 1;
    node = aj_build_fitted(&graph->b, AJ_OP_CALLBACK, (uint32_t)arg_count, graph->scratch.data, attr_count, attrs);
  }
  aj_graph_give(out, info->is_value ? info->result_count : arg_count, node);
}
