/* Reductions with a combiner of the host's: what is built between begin and end, on scalars, combines two elements. */
#include "api/graph.h"
#include "arrjit/ops.h"

/* Arguments, which broadcast to each other, then inits if there are any, become the frame's heads. */
static bool take_operands(arrjit_graph *graph, aj_op op, size_t count, const arrjit_value *args, size_t init_count,
                          const arrjit_value *inits) {
  if (count == 0 || count > AJ_COMBINE_ARGS) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, op, "%zu arguments; expected 1 to %d", count, AJ_COMBINE_ARGS);
    return false;
  }
  if (!aj_graph_operands(graph, count, args) ||
      !aj_build_broadcast_all(&graph->b, op, (uint32_t)count, graph->scratch.data) ||
      !aj_graph_add_operands(graph, init_count, inits))
    return false;
  for (size_t i = 0; i < count + init_count; i++) {
    aj_value *value = graph->scratch.data[i];
    if (!aj_builder_check_operand(&graph->b, op, (uint32_t)i, value)) return false;
    if (!AJ_VEC_PUSH(&graph->core->mem, &graph->heads, value)) return aj_builder_no_memory(&graph->b);
  }
  return true;
}

/* The frame's attribute: axes in its list of numbers. */
static bool take_axes(arrjit_graph *graph, const aj_frame *frame, size_t count, const int64_t *axes) {
  bool all = count == ARRJIT_ALL_AXES;
  if (all) count = (size_t)graph->heads.data[frame->heads]->type->rank;
  if (count > ARRJIT_MAX_RANK) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%zu axes; at most %d are allowed", count, ARRJIT_MAX_RANK);
    return false;
  }
  if (!all && !aj_graph_given(graph, "axes", axes, count)) return false;
  for (size_t i = 0; i < count; i++)
    if (!AJ_VEC_PUSH(&graph->core->mem, &graph->kinds, all ? (int64_t)i : axes[i]))
      return aj_builder_no_memory(&graph->b);
  return true;
}

/* Parameters for an element of each argument. */
static bool add_elements(arrjit_graph *graph, const aj_frame *frame, aj_region *combiner, size_t count,
                         arrjit_value *out) {
  for (size_t i = 0; i < count; i++) {
    const aj_type *type = aj_module_type(graph->module, graph->heads.data[frame->heads + i]->type->dtype, 0, NULL);
    aj_value *element = type ? aj_region_add_param(combiner, type) : NULL;
    if (!element) return aj_builder_no_memory(&graph->b);
    out[i] = aj_host_value(element);
  }
  return true;
}

static void begin_pairs(arrjit_graph *graph, aj_frame *frame, aj_lane_kind lane, size_t count, arrjit_value *out_older,
                        arrjit_value *out_newer) {
  bool older = lane == AJ_LANE_COMBINER;
  if (!aj_graph_given(graph, older ? "the array for older elements" : "the array for left elements", out_older,
                      count) ||
      !aj_graph_given(graph, older ? "the array for newer elements" : "the array for right elements", out_newer, count))
    return;
  aj_region *combiner = aj_frame_begin_arm(graph, frame);
  if (!combiner || !add_elements(graph, frame, combiner, count, out_older) ||
      !add_elements(graph, frame, combiner, count, out_newer))
    return;
  graph->b.lane = lane;
}

static void begin_combiner(arrjit_graph *graph, aj_frame *frame, size_t count, arrjit_value *out_older,
                           arrjit_value *out_newer) {
  begin_pairs(graph, frame, AJ_LANE_COMBINER, count, out_older, out_newer);
}

/* The frame of a reduction; NULL: an error, or no place for one. */
static aj_frame *open_combiner(arrjit_graph *graph, aj_frame_kind kind, aj_op op, const char *function, size_t count,
                               arrjit_value *out_older, arrjit_value *out_newer) {
  aj_graph_give(out_older, count <= AJ_COMBINE_ARGS ? count : 0, NULL);
  aj_graph_give(out_newer, count <= AJ_COMBINE_ARGS ? count : 0, NULL);
  aj_frame *frame = aj_frame_open(graph, kind, function);
  if (!frame || !aj_graph_enter(graph, function)) return NULL;
  if (graph->b.lane == AJ_LANE_NONE) return frame;
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, op, "has no place inside a %s", aj_lane_name(graph->b.lane));
  return NULL;
}

void arrjit_reduce_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, const arrjit_value *inits,
                         size_t axis_count, const int64_t *axes, arrjit_value *out_older, arrjit_value *out_newer) {
  aj_frame *frame = open_combiner(graph, AJ_FRAME_REDUCE, AJ_OP_REDUCE, __func__, count, out_older, out_newer);
  if (frame && take_operands(graph, AJ_OP_REDUCE, count, args, count, inits) &&
      take_axes(graph, frame, axis_count, axes))
    begin_combiner(graph, frame, count, out_older, out_newer);
}

void arrjit_reduce_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_REDUCE);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  const aj_attr attrs[] = {
      aj_attr_int(AJ_ATTR_ARGS, (int64_t)(graph->heads.count - frame->heads) / 2),
      aj_attr_ints(AJ_ATTR_AXES, graph->kinds.count - frame->kinds, AJ_LIST_FROM(graph->kinds, frame->kinds)),
  };
  aj_frame_end_arm(graph, frame, count, values);
  aj_frame_finish(graph, frame, AJ_OP_REDUCE, AJ_COUNT(attrs), attrs, count, out);
}

void arrjit_cumulative_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, int64_t axis, int64_t reverse,
                             arrjit_value *out_older, arrjit_value *out_newer) {
  const int64_t numbers[] = {axis, reverse};
  aj_frame *frame = open_combiner(graph, AJ_FRAME_CUMULATIVE, AJ_OP_CUMULATIVE, __func__, count, out_older, out_newer);
  if (frame && take_operands(graph, AJ_OP_CUMULATIVE, count, args, 0, NULL) &&
      take_axes(graph, frame, AJ_COUNT(numbers), numbers))
    begin_combiner(graph, frame, count, out_older, out_newer);
}

void arrjit_cumulative_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_CUMULATIVE);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  bool begun = graph->kinds.count > frame->kinds; /* not after an error */
  const aj_attr attrs[] = {
      aj_attr_int(AJ_ATTR_ARGS, (int64_t)(graph->heads.count - frame->heads)),
      aj_attr_int(AJ_ATTR_AXIS, begun ? graph->kinds.data[frame->kinds] : 0),
      aj_attr_int(AJ_ATTR_REVERSE, begun ? graph->kinds.data[frame->kinds + 1] : 0),
  };
  aj_frame_end_arm(graph, frame, count, values);
  aj_frame_finish(graph, frame, AJ_OP_CUMULATIVE, AJ_COUNT(attrs), attrs, count, out);
}

/* ---- sorting ---- */

void arrjit_sort_by_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, int64_t axis,
                          arrjit_value *out_left, arrjit_value *out_right) {
  aj_frame *frame = open_combiner(graph, AJ_FRAME_SORT_BY, AJ_OP_SORT_BY, __func__, count, out_left, out_right);
  if (frame && take_operands(graph, AJ_OP_SORT_BY, count, args, 0, NULL) && take_axes(graph, frame, 1, &axis))
    begin_pairs(graph, frame, AJ_LANE_COMPARATOR, count, out_left, out_right);
}

void arrjit_sort_by_end(arrjit_graph *graph, arrjit_value before, size_t count, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_SORT_BY);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  size_t args = graph->heads.count - frame->heads;
  bool begun = graph->kinds.count > frame->kinds; /* not after an error */
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_ARGS, (int64_t)args),
                           aj_attr_int(AJ_ATTR_AXIS, begun ? graph->kinds.data[frame->kinds] : 0)};
  if (count != args)
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_SORT_BY, "%zu results; expected as many as arguments, %zu", count,
                    args);
  aj_frame_end_arm(graph, frame, 1, &before);
  frame->yields = 0; /* the results are not what the comparator yields */
  aj_frame_finish(graph, frame, AJ_OP_SORT_BY, AJ_COUNT(attrs), attrs, count, out);
}

/* ---- windows ---- */

/* The attributes of windows as the frame's list has them, one after the other; the dilations are reduce_window's. */
static const struct {
  aj_attr_name name;
  int64_t otherwise; /* where the host gives NULL */
} window_lists[] = {{AJ_ATTR_SIZES, 0}, {AJ_ATTR_STEP, 1},          {AJ_ATTR_LOW, 0},
                    {AJ_ATTR_HIGH, 0},  {AJ_ATTR_BASE_DILATION, 1}, {AJ_ATTR_WINDOW_DILATION, 1}};
enum { WINDOW_LISTS = AJ_COUNT(window_lists), PLAIN_LISTS = 4 };

static bool take_windows(arrjit_graph *graph, aj_op op, int32_t rank, size_t count, const int64_t *const *lists) {
  if (rank < 0 || rank > ARRJIT_MAX_RANK) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, op, "rank is %d; expected 0 to %d", (int)rank, ARRJIT_MAX_RANK);
    return false;
  }
  if (!aj_graph_given(graph, "sizes", lists[0], (size_t)rank)) return false;
  for (size_t k = 0; k < count; k++)
    for (int32_t i = 0; i < rank; i++)
      if (!AJ_VEC_PUSH(&graph->core->mem, &graph->kinds, lists[k] ? lists[k][i] : window_lists[k].otherwise))
        return aj_builder_no_memory(&graph->b);
  return true;
}

static void make_window_attrs(const arrjit_graph *graph, const aj_frame *frame, size_t count, aj_attr *out) {
  size_t rank = (graph->kinds.count - frame->kinds) / count;
  for (size_t k = 0; k < count; k++)
    out[k] = aj_attr_ints(window_lists[k].name, rank, AJ_LIST_FROM(graph->kinds, frame->kinds + k * rank));
}

void aj_windows_begin(arrjit_graph *graph, const char *function, size_t count, const arrjit_value *args,
                      const arrjit_value *inits, int32_t rank, const int64_t *const lists[6], arrjit_value *out_older,
                      arrjit_value *out_newer) {
  const aj_op op = AJ_OP_REDUCE_WINDOW;
  aj_frame *frame = open_combiner(graph, AJ_FRAME_REDUCE_WINDOW, op, function, count, out_older, out_newer);
  if (frame && take_operands(graph, op, count, args, count, inits) &&
      take_windows(graph, op, rank, WINDOW_LISTS, lists))
    begin_combiner(graph, frame, count, out_older, out_newer);
}

void aj_windows_end(arrjit_graph *graph, const char *function, size_t count, const arrjit_value *values,
                    arrjit_value *out) {
  aj_frame *frame = aj_frame_find(graph, AJ_FRAME_REDUCE_WINDOW, function);
  if (!frame) {
    aj_frame_lost(graph, count, out);
    return;
  }
  aj_attr attrs[WINDOW_LISTS + 1];
  make_window_attrs(graph, frame, WINDOW_LISTS, attrs);
  attrs[WINDOW_LISTS] = aj_attr_int(AJ_ATTR_ARGS, (int64_t)(graph->heads.count - frame->heads) / 2);
  aj_frame_end_arm(graph, frame, count, values);
  aj_frame_finish(graph, frame, AJ_OP_REDUCE_WINDOW, AJ_COUNT(attrs), attrs, count, out);
}

void arrjit_reduce_window_begin(arrjit_graph *graph, size_t count, const arrjit_value *args, const arrjit_value *inits,
                                int32_t rank, const int64_t *sizes, const int64_t *strides, const int64_t *low,
                                const int64_t *high, const int64_t *base_dilation, const int64_t *window_dilation,
                                arrjit_value *out_older, arrjit_value *out_newer) {
  const int64_t *const lists[] = {sizes, strides, low, high, base_dilation, window_dilation};
  aj_windows_begin(graph, __func__, count, args, inits, rank, lists, out_older, out_newer);
}

void arrjit_reduce_window_end(arrjit_graph *graph, size_t count, const arrjit_value *values, arrjit_value *out) {
  aj_windows_end(graph, __func__, count, values, out);
}

void arrjit_select_and_scatter_begin(arrjit_graph *graph, arrjit_value x, arrjit_value source, arrjit_value init,
                                     int32_t rank, const int64_t *sizes, const int64_t *strides, const int64_t *low,
                                     const int64_t *high, arrjit_value *out_left, arrjit_value *out_right) {
  const aj_op op = AJ_OP_SELECT_AND_SCATTER;
  const int64_t *const lists[] = {sizes, strides, low, high};
  const arrjit_value others[] = {source, init};
  aj_frame *frame = open_combiner(graph, AJ_FRAME_SELECT_AND_SCATTER, op, __func__, 1, out_left, out_right);
  if (frame && take_operands(graph, op, 1, &x, AJ_COUNT(others), others) &&
      take_windows(graph, op, rank, PLAIN_LISTS, lists))
    begin_pairs(graph, frame, AJ_LANE_COMPARATOR, 1, out_left, out_right);
}

void arrjit_select_and_scatter_combine(arrjit_graph *graph, arrjit_value stays, arrjit_value *out_older,
                                       arrjit_value *out_newer) {
  aj_graph_give(out_older, 1, NULL);
  aj_graph_give(out_newer, 1, NULL);
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_SELECT_AND_SCATTER);
  if (!frame) return;
  if (frame->stage != AJ_STAGE_FIRST)
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "twice for one select_and_scatter");
  aj_frame_end_arm(graph, frame, 1, &stays);
  frame->stage = AJ_STAGE_NEXT;
  if (aj_graph_ready(graph)) begin_combiner(graph, frame, 1, out_older, out_newer);
}

void arrjit_select_and_scatter_end(arrjit_graph *graph, arrjit_value combined, arrjit_value *out) {
  aj_frame *frame = aj_frame_top(graph, AJ_FRAME_SELECT_AND_SCATTER);
  if (!frame) {
    aj_frame_lost(graph, 1, out);
    return;
  }
  if (frame->stage != AJ_STAGE_NEXT)
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "without arrjit_select_and_scatter_combine");
  aj_attr attrs[PLAIN_LISTS];
  make_window_attrs(graph, frame, PLAIN_LISTS, attrs);
  aj_frame_end_arm(graph, frame, 1, &combined);
  aj_frame_finish(graph, frame, AJ_OP_SELECT_AND_SCATTER, AJ_COUNT(attrs), attrs, 1, out);
}
