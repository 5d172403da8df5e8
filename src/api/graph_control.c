/* Control flow: if, switch, while, for, try, map, reduce. Each call ends the arm before it and starts the next; the end
 * makes the node. */
#include "api/graph.h"

static bool expect_stage(arrjit_graph *graph, const aj_frame *frame, aj_frame_stage stage, const char *problem) {
  if (frame->stage == stage) return true;
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%s", problem);
  return false;
}

static bool push_head(arrjit_graph *graph, aj_op op, uint32_t index, aj_value *value) {
  if (!aj_builder_check_operand(&graph->b, op, index, value)) return false;
  return AJ_VEC_PUSH(&graph->core->mem, &graph->heads, value) || aj_builder_no_memory(&graph->b);
}

/* ---- if ---- */

void arrjit_if_begin(arrjit_graph *graph, arrjit_value pred) {
  aj_frame *frame = aj_frame_push(graph, AJ_FRAME_IF);
  if (!frame || !aj_graph_ready(graph)) return;
  aj_value *value = aj_graph_value(pred);
  if (push_head(graph, AJ_OP_IF, 0, value) && aj_builder_check_predicate(&graph->b, AJ_OP_IF, "pred", value))
    aj_frame_begin_arm(graph, frame);
}

void arrjit_if_else(arrjit_graph *graph, size_t count, const arrjit_value *values) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_IF);
  if (!frame || !expect_stage(graph, frame, AJ_STAGE_FIRST, "twice for one if")) return;
  aj_frame_end_arm(graph, frame, count, values);
  frame->stage = AJ_STAGE_NEXT;
  if (aj_graph_ready(graph)) aj_frame_begin_arm(graph, frame);
}

void arrjit_if_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_IF);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  expect_stage(graph, frame, AJ_STAGE_NEXT, "without arrjit_if_else");
  aj_frame_end_arm(graph, frame, count, values);
  aj_frame_finish(graph, frame, AJ_OP_IF, 0, NULL, count, out);
}

/* ---- switch ---- */

void arrjit_switch_begin(arrjit_graph *graph, arrjit_value index) {
  aj_frame *frame = aj_frame_push(graph, AJ_FRAME_SWITCH);
  if (!frame || !aj_graph_ready(graph)) return;
  if (push_head(graph, AJ_OP_SWITCH, 0, aj_graph_value(index))) aj_frame_begin_arm(graph, frame);
}

void arrjit_switch_case(arrjit_graph *graph, size_t count, const arrjit_value *values) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_SWITCH);
  if (!frame) return;
  aj_frame_end_arm(graph, frame, count, values);
  if (aj_graph_ready(graph)) aj_frame_begin_arm(graph, frame);
}

void arrjit_switch_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_SWITCH);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  aj_frame_end_arm(graph, frame, count, values);
  aj_frame_finish(graph, frame, AJ_OP_SWITCH, 0, NULL, count, out);
}

/* ---- loops ---- */

/* A loop's frame; it knows how many values are carried even after an error. */
static aj_frame *push_loop(arrjit_graph *graph, aj_frame_kind kind, const char *function, size_t count,
                           arrjit_value *out_vars) {
  aj_graph_give(out_vars, count, NULL);
  aj_frame *frame = aj_frame_open(graph, kind, function);
  if (frame && count < UINT32_MAX / 4) frame->yields = (uint32_t)count;
  return frame;
}

static bool push_carried(arrjit_graph *graph, aj_op op, uint32_t first, size_t count, const arrjit_value *init) {
  if (!aj_graph_operands(graph, count, init)) return false;
  for (size_t i = 0; i < count; i++)
    if (!push_head(graph, op, first + (uint32_t)i, graph->scratch.data[i])) return false;
  return true;
}

/* Starts a condition or body: its parameters are the index of a for, then the carried values. */
static void begin_body(arrjit_graph *graph, aj_frame *frame, arrjit_value *out_index, arrjit_value *out_vars) {
  size_t first = frame->heads + (out_index ? 3 : 0);
  if (!aj_graph_given(graph, "the array for carried values", out_vars, frame->yields)) return;
  aj_region *body = aj_frame_begin_arm(graph, frame);
  if (!body) return;
  if (out_index) {
    const aj_type *type = aj_module_type(graph->module, ARRJIT_I64, 0, NULL);
    aj_value *index = type ? aj_region_add_param(body, type) : NULL;
    if (!index) aj_builder_no_memory(&graph->b);
    *out_index = aj_host_value(index);
  }
  for (uint32_t i = 0; i < frame->yields && aj_builder_ok(&graph->b); i++) {
    aj_value *var = aj_region_add_param(body, graph->heads.data[first + i]->type);
    if (!var) aj_builder_no_memory(&graph->b);
    out_vars[i] = aj_host_value(var);
  }
}

void arrjit_while_begin(arrjit_graph *graph, size_t count, const arrjit_value *init, arrjit_value *out_vars) {
  aj_frame *frame = push_loop(graph, AJ_FRAME_WHILE, __func__, count, out_vars);
  if (frame && aj_graph_ready(graph) && push_carried(graph, AJ_OP_WHILE, 0, count, init))
    begin_body(graph, frame, NULL, out_vars);
}

void arrjit_while_body(arrjit_graph *graph, arrjit_value pred, arrjit_value *out_vars) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_WHILE);
  if (!frame || !expect_stage(graph, frame, AJ_STAGE_FIRST, "twice for one while")) return;
  aj_graph_give(out_vars, frame->yields, NULL);
  frame->stage = AJ_STAGE_NEXT;
  if (!aj_graph_ready(graph)) return;
  aj_value *value = aj_graph_value(pred);
  if (!aj_region_terminator(graph->b.region) && !(aj_builder_check_operand(&graph->b, AJ_OP_YIELD, 0, value) &&
                                                  aj_builder_check_predicate(&graph->b, AJ_OP_WHILE, "cond", value)))
    return;
  aj_frame_end_arm(graph, frame, 1, &pred);
  if (aj_graph_ready(graph)) begin_body(graph, frame, NULL, out_vars);
}

static void end_loop(arrjit_graph *graph, aj_frame *frame, aj_op op, size_t count, const arrjit_value *next,
                     arrjit_value *out) {
  const aj_attr carried = aj_attr_int(AJ_ATTR_CARRIED, frame->yields);
  aj_frame_end_arm(graph, frame, count, next);
  aj_frame_finish(graph, frame, op, 1, &carried, frame->yields, out);
}

void arrjit_while_end(arrjit_graph *graph, size_t count, const arrjit_value *next, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_WHILE);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  expect_stage(graph, frame, AJ_STAGE_NEXT, "without arrjit_while_body");
  end_loop(graph, frame, AJ_OP_WHILE, count, next, out);
}

void arrjit_for_begin(arrjit_graph *graph, arrjit_value lo, arrjit_value hi, arrjit_value step, size_t count,
                      const arrjit_value *init, arrjit_value *out_index, arrjit_value *out_vars) {
  const arrjit_value bounds[] = {lo, hi, step};
  aj_graph_give(out_index, 1, NULL);
  aj_frame *frame = push_loop(graph, AJ_FRAME_FOR, __func__, count, out_vars);
  if (!frame || !aj_graph_ready(graph) || !aj_graph_given(graph, "the place for the index", out_index, 1)) return;
  for (uint32_t i = 0; i < AJ_COUNT(bounds); i++)
    if (!push_head(graph, AJ_OP_FOR, i, aj_graph_value(bounds[i]))) return;
  if (push_carried(graph, AJ_OP_FOR, 3, count, init)) begin_body(graph, frame, out_index, out_vars);
}

void arrjit_for_end(arrjit_graph *graph, size_t count, const arrjit_value *next, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_FOR);
  if (frame)
    end_loop(graph, frame, AJ_OP_FOR, count, next, out);
  else
    aj_frame_lost(graph, count, out);
}

/* ---- try ---- */

void arrjit_try_begin(arrjit_graph *graph) {
  aj_frame *frame = aj_frame_push(graph, AJ_FRAME_TRY);
  if (frame && aj_graph_ready(graph)) aj_frame_begin_arm(graph, frame);
}

static void begin_handler(arrjit_graph *graph, aj_frame *frame, arrjit_kind kind, arrjit_value *out_exn) {
  if (kind < 0 || !aj_kinds_get(graph->core->kinds, kind)) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "a handler for %d, which is no kind of the context",
                    (int)kind);
    return;
  }
  aj_region *handler = aj_frame_begin_arm(graph, frame);
  const aj_type *type = aj_module_exn_type(graph->module);
  aj_value *exn = handler && type ? aj_region_add_param(handler, type) : NULL;
  if (!exn || !AJ_VEC_PUSH(&graph->core->mem, &graph->kinds, kind)) {
    aj_builder_no_memory(&graph->b);
    return;
  }
  if (out_exn) *out_exn = aj_host_value(exn);
}

void arrjit_try_handler(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_kind kind,
                        arrjit_value *out_exn) {
  aj_graph_give(out_exn, 1, NULL);
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_TRY);
  if (!frame) return;
  if (frame->stage == AJ_STAGE_FINALLY) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "a handler after the finally");
    return;
  }
  aj_frame_end_arm(graph, frame, count, values);
  frame->stage = AJ_STAGE_NEXT;
  if (aj_graph_ready(graph)) begin_handler(graph, frame, kind, out_exn);
}

void arrjit_try_finally(arrjit_graph *graph, size_t count, const arrjit_value *values) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_TRY);
  if (!frame) return;
  if (frame->stage == AJ_STAGE_FINALLY) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "two finally of one try");
    return;
  }
  aj_frame_end_arm(graph, frame, count, values);
  frame->stage = AJ_STAGE_FINALLY;
  if (aj_graph_ready(graph)) aj_frame_begin_arm(graph, frame);
}

void arrjit_try_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_TRY);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  bool has_finally = frame->stage == AJ_STAGE_FINALLY;
  aj_frame_end_arm(graph, frame, count, values);
  const aj_attr attrs[] = {
      aj_attr_ints(AJ_ATTR_KINDS, graph->kinds.count - frame->kinds, AJ_LIST_FROM(graph->kinds, frame->kinds)),
      aj_attr_int(AJ_ATTR_FINALLY, has_finally),
  };
  aj_frame_finish(graph, frame, AJ_OP_TRY, AJ_COUNT(attrs), attrs, has_finally ? 0 : count, out);
}

/* ---- map ---- */

/* The region's parameters: the elements of the arguments at one lane. */
static void begin_lane(arrjit_graph *graph, aj_frame *frame, size_t count, arrjit_value *out_lanes) {
  aj_region *lane = aj_frame_begin_arm(graph, frame);
  for (size_t i = 0; lane && i < count; i++) {
    const aj_type *type = aj_module_type(graph->module, graph->heads.data[frame->heads + i]->type->dtype, 0, NULL);
    aj_value *element = type ? aj_region_add_param(lane, type) : NULL;
    if (!element) {
      aj_builder_no_memory(&graph->b);
      return;
    }
    out_lanes[i] = aj_host_value(element);
  }
  graph->b.lane = AJ_LANE_MAP;
}

void arrjit_map_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, arrjit_value *out_lanes) {
  aj_graph_give(out_lanes, count, NULL);
  aj_frame *frame = aj_frame_push(graph, AJ_FRAME_MAP);
  if (!frame || !aj_graph_ready(graph)) return;
  if (graph->b.lane != AJ_LANE_NONE) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_MAP, "has no place inside a %s", aj_lane_name(graph->b.lane));
    return;
  }
  if (count == 0) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_MAP, "no arguments; their shape says how many lanes there are");
    return;
  }
  if (!aj_graph_given(graph, "the array for lanes", out_lanes, count) || !aj_graph_operands(graph, count, args) ||
      !aj_build_broadcast_all(&graph->b, AJ_OP_MAP, (uint32_t)count, graph->scratch.data))
    return;
  for (size_t i = 0; i < count; i++)
    if (!push_head(graph, AJ_OP_MAP, (uint32_t)i, graph->scratch.data[i])) return;
  begin_lane(graph, frame, count, out_lanes);
}

void arrjit_map_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_MAP);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  const aj_attr args = aj_attr_int(AJ_ATTR_ARGS, (int64_t)(graph->heads.count - frame->heads));
  aj_frame_end_arm(graph, frame, count, values);
  aj_frame_finish(graph, frame, AJ_OP_MAP, 1, &args, count, out);
}
