/* Constructs that are open: a stack of frames over lists of their operands, regions and kinds. */
#include <string.h>

#include "api/graph.h"

const char *aj_frame_name(aj_frame_kind kind) {
  switch (kind) {
  case AJ_FRAME_FUNC: return "a function";
  case AJ_FRAME_IF: return "an if";
  case AJ_FRAME_SWITCH: return "a switch";
  case AJ_FRAME_WHILE: return "a while";
  case AJ_FRAME_FOR: return "a for";
  case AJ_FRAME_TRY: return "a try";
  case AJ_FRAME_MAP: return "a map";
  case AJ_FRAME_REDUCE: return "a reduce";
  case AJ_FRAME_CUMULATIVE: return "a cumulative";
  case AJ_FRAME_REDUCE_WINDOW: return "a reduce_window";
  case AJ_FRAME_SELECT_AND_SCATTER: return "a select_and_scatter";
  case AJ_FRAME_SORT_BY: return "a sort_by";
  }
  return "";
}

/* "case 2 of the switch": what the arm that begins is, the frame being at its stage already. NULL: no memory. */
static const char *name_part(arrjit_graph *graph, const aj_frame *frame, uint32_t index) {
  bool first = frame->stage == AJ_STAGE_FIRST;
  char text[48] = "";
  switch (frame->kind) {
  case AJ_FRAME_FUNC: break;
  case AJ_FRAME_IF: aj_bounded_printf(text, sizeof text, "%s of the if", first ? "then" : "else"); break;
  case AJ_FRAME_SWITCH: aj_bounded_printf(text, sizeof text, "case %u of the switch", index); break;
  case AJ_FRAME_WHILE: aj_bounded_printf(text, sizeof text, "%s of the while", first ? "cond" : "body"); break;
  case AJ_FRAME_FOR: aj_bounded_printf(text, sizeof text, "body of the for"); break;
  case AJ_FRAME_MAP: aj_bounded_printf(text, sizeof text, "lane of the map"); break;
  case AJ_FRAME_REDUCE: aj_bounded_printf(text, sizeof text, "combiner of the reduce"); break;
  case AJ_FRAME_CUMULATIVE: aj_bounded_printf(text, sizeof text, "combiner of the cumulative"); break;
  case AJ_FRAME_REDUCE_WINDOW: aj_bounded_printf(text, sizeof text, "combiner of the reduce_window"); break;
  case AJ_FRAME_SELECT_AND_SCATTER:
    aj_bounded_printf(text, sizeof text, "%s of the select_and_scatter", first ? "comparator" : "combiner");
    break;
  case AJ_FRAME_SORT_BY: aj_bounded_printf(text, sizeof text, "comparator of the sort_by"); break;
  case AJ_FRAME_TRY:
    if (frame->stage == AJ_STAGE_NEXT)
      aj_bounded_printf(text, sizeof text, "handler %u of the try", index - 1);
    else
      aj_bounded_printf(text, sizeof text, "%s of the try", first ? "body" : "finally");
    break;
  }
  return aj_module_text(graph->module, text, strlen(text));
}

aj_frame *aj_frame_open(arrjit_graph *graph, aj_frame_kind kind, const char *function) {
  if (!graph || (!aj_graph_enter(graph, function) && !graph->module)) return NULL;
  int64_t most = aj_core_option(graph->core, AJ_OPTION_MAX_NESTING);
  const aj_frame frame = {.kind = kind,
                          .source = graph->b.source,
                          .func = graph->b.func,
                          .outer = graph->b.region,
                          .lane = graph->b.lane,
                          .heads = graph->heads.count,
                          .regions = graph->regions.count,
                          .kinds = graph->kinds.count};
  if (graph->lost_frames == 0 && graph->frames.count <= (uint64_t)most) {
    if (AJ_VEC_PUSH(&graph->core->mem, &graph->frames, frame)) return &graph->frames.data[graph->frames.count - 1];
    aj_builder_no_memory(&graph->b);
  }
  graph->lost_frames++;
  aj_builder_fail(&graph->b, ARRJIT_LIMIT, AJ_OP_NONE, "regions are nested deeper than max_nesting, %lld",
                  (long long)most);
  return NULL;
}

aj_frame *aj_frame_find(arrjit_graph *graph, aj_frame_kind kind, const char *function) {
  if (!graph || (!aj_graph_enter(graph, function) && !graph->module) || graph->lost_frames) return NULL;
  aj_frame *top = graph->frames.count ? &graph->frames.data[graph->frames.count - 1] : NULL;
  if (top && top->kind == kind) return top;
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "inside %s; expected %s to be open and everything in it ended",
                  top ? aj_frame_name(top->kind) : "no function", aj_frame_name(kind));
  return NULL;
}

void aj_frame_pop(arrjit_graph *graph) {
  if (graph->lost_frames) {
    graph->lost_frames--;
    return;
  }
  const aj_frame *top = &graph->frames.data[--graph->frames.count];
  graph->b.func = top->func;
  graph->b.region = top->outer;
  graph->b.lane = top->lane;
  graph->heads.count = top->heads;
  graph->regions.count = top->regions;
  graph->kinds.count = top->kinds;
}

void aj_frame_lost(arrjit_graph *graph, size_t count, arrjit_value *out) {
  aj_graph_give(out, count, NULL);
  if (graph && graph->lost_frames) aj_frame_pop(graph);
}

aj_region *aj_frame_begin_arm(arrjit_graph *graph, aj_frame *frame) {
  uint32_t index = (uint32_t)(graph->regions.count - frame->regions);
  aj_region *region = aj_region_create(graph->b.func, NULL, index);
  if (!region || !(region->part = name_part(graph, frame, index)) ||
      !AJ_VEC_PUSH(&graph->core->mem, &graph->regions, region))
    return aj_builder_no_memory(&graph->b), NULL;
  region->begun = frame->source;
  graph->b.region = region;
  return region;
}

void aj_frame_end_arm(arrjit_graph *graph, aj_frame *frame, size_t count, const arrjit_value *values) {
  bool is_loop = frame->kind == AJ_FRAME_WHILE || frame->kind == AJ_FRAME_FOR;
  if (!is_loop && frame->stage != AJ_STAGE_FINALLY && count > frame->yields && count < UINT32_MAX)
    frame->yields = (uint32_t)count;
  if (!aj_builder_ok(&graph->b)) return;
  if (!aj_region_terminator(graph->b.region) && aj_graph_operands(graph, count, values))
    aj_build(&graph->b, AJ_OP_YIELD, (uint32_t)count, graph->scratch.data, 0, NULL);
  graph->b.region->closed = true;
}

void aj_frame_finish(arrjit_graph *graph, aj_frame *frame, aj_op op, uint32_t attr_count, const aj_attr *attrs,
                     size_t count, arrjit_value *out) {
  aj_node *node = NULL;
  if (aj_builder_ok(&graph->b)) {
    aj_source now = graph->b.source;
    graph->b.source = frame->source;
    graph->b.region = frame->outer;
    graph->b.lane = frame->lane;
    node = aj_build_regions(&graph->b, op, (uint32_t)(graph->heads.count - frame->heads),
                            AJ_LIST_FROM(graph->heads, frame->heads), attr_count, attrs,
                            (uint32_t)(graph->regions.count - frame->regions),
                            AJ_LIST_FROM(graph->regions, frame->regions));
    graph->b.source = now;
  }
  size_t most = frame->yields > count ? frame->yields : count;
  aj_graph_give(out, node ? node->result_count : most, node);
  aj_frame_pop(graph);
}
