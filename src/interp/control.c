/* Steps of control flow. A region ends in aj_step_yield: values leave the frame through in->transfer, the frame goes,
 * and what the frame was for says where the values go: results of the owner, the next region of a loop, the caller.
 *
 * in->transfer is reserved for any node of the module, so nothing between two frames can fail but the push of the next.
 */
#include "interp/frame.h"
#include "rt/need.h"

/* ---- values on their way ---- */

/* Moves operands of a terminator out of the top frame. The same value may leave twice. */
static void collect_yield(aj_interp *in, aj_frame *frame, const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_cell_copy(&in->transfer[i], aj_frame_operand(frame, node, i));
    aj_cell_retain(&in->transfer[i]);
  }
  in->transfer_count = node->operand_count;
}

static void drop_transfer(aj_interp *in) {
  for (uint32_t i = 0; i < in->transfer_count; i++) aj_cell_clear(in->run, &in->transfer[i]);
  in->transfer_count = 0;
}

static void store_results(aj_interp *in, aj_frame *frame, const aj_node *node) {
  AJ_ASSERT(in->transfer_count == node->result_count);
  for (uint32_t i = 0; i < node->result_count; i++) aj_cell_copy(aj_frame_result(frame, node, i), &in->transfer[i]);
  in->transfer_count = 0;
}

static aj_flow finish_node(aj_interp *in, aj_frame *frame, const aj_node *node) {
  store_results(in, frame, node);
  return aj_frame_next(in, frame, node);
}

/* Captures of a region are its last parameters and the owner's last operands, which are still in the parent. */
static void copy_captures(aj_frame *child, aj_frame *parent, const aj_node *node, uint32_t first_param) {
  uint32_t capture = aj_node_capture_start(node);
  for (uint32_t i = first_param; capture < node->operand_count; i++, capture++)
    aj_frame_copy_param(child, i, aj_frame_operand(parent, node, capture));
}

static aj_flow enter_arm(aj_interp *in, aj_frame *frame, const aj_node *node, uint32_t region, aj_why why) {
  aj_frame *arm = aj_stack_push(in, node->regions[region], why);
  if (!arm) return AJ_FLOW_FAILED;
  arm->arm = region;
  copy_captures(arm, frame, node, 0);
  aj_frame_enter(in, frame, node);
  return AJ_FLOW_NEXT;
}

/* ---- if, switch, try ---- */

aj_flow aj_step_if(aj_interp *in, aj_frame *frame, const aj_node *node) {
  bool pred = aj_frame_operand(frame, node, 0)->u.bits[0] != 0;
  return enter_arm(in, frame, node, pred ? 0 : 1, AJ_WHY_IF_ARM);
}

aj_flow aj_step_switch(aj_interp *in, aj_frame *frame, const aj_node *node) {
  int64_t index = aj_frame_operand(frame, node, 0)->u.i64;
  if (index < 0 || index >= node->region_count) index = (int64_t)node->region_count - 1;
  return enter_arm(in, frame, node, (uint32_t)index, AJ_WHY_SWITCH_ARM);
}

aj_flow aj_step_try(aj_interp *in, aj_frame *frame, const aj_node *node) {
  return enter_arm(in, frame, node, 0, AJ_WHY_TRY_BODY);
}

/* ---- loops: carried values move from frame to frame, captures stay with the owner until the loop is done ---- */

/* Pushes the next region of a loop. Carried values come from in->transfer. */
static aj_flow enter_region(aj_interp *in, const aj_node *node, uint32_t region, aj_why why, int64_t iteration,
                            int64_t index) {
  aj_frame *parent = in->top, *child = aj_stack_push(in, node->regions[region], why);
  if (!child) {
    drop_transfer(in);
    return AJ_FLOW_FAILED;
  }
  child->iteration = iteration;
  child->index = index;
  uint32_t param = 0;
  if (why == AJ_WHY_FOR_BODY) {
    aj_cell counter = {.u.i64 = index, .tag = AJ_CELL_SCALAR};
    aj_frame_copy_param(child, param++, &counter);
  }
  for (uint32_t i = 0; i < in->transfer_count; i++) aj_frame_move_param(in, child, param++, &in->transfer[i]);
  in->transfer_count = 0;
  copy_captures(child, parent, node, param);
  return AJ_FLOW_NEXT;
}

/* The next iteration of a loop, or, when it is warm and can run as programs, all that are left. */
static aj_flow enter_loop(aj_interp *in, const aj_node *node, aj_why why, int64_t iteration, int64_t index) {
  aj_scalar_loop *scalars = in->top->nodes[node->id].u.scalar_loop;
  aj_heat heat = scalars && !in->resume ? aj_scalar_loop_run(in, node, scalars, iteration, index) : AJ_COLD;
  if (heat == AJ_WARM) return finish_node(in, in->top, node);
  if (heat == AJ_HEAT_FAILED) return AJ_FLOW_FAILED;
  return enter_region(in, node, 0, why, iteration, index);
}

/* Carried values of a loop begin as operands [first, capture start). */
static void collect_init(aj_interp *in, aj_frame *frame, const aj_node *node, uint32_t first) {
  uint32_t count = aj_node_capture_start(node) - first;
  for (uint32_t i = 0; i < count; i++) {
    aj_cell_copy(&in->transfer[i], aj_frame_operand(frame, node, first + i));
    aj_cell_retain(&in->transfer[i]);
  }
  in->transfer_count = count;
}

aj_flow aj_step_while(aj_interp *in, aj_frame *frame, const aj_node *node) {
  collect_init(in, frame, node, 0);
  aj_flow flow = enter_loop(in, node, AJ_WHY_WHILE_COND, 0, 0);
  if (flow == AJ_FLOW_NEXT) aj_frame_enter(in, frame, node);
  return flow;
}

static bool is_below(int64_t i, int64_t hi, int64_t step) { return step > 0 ? i < hi : i > hi; }

aj_flow aj_step_for(aj_interp *in, aj_frame *frame, const aj_node *node) {
  int64_t lo = aj_frame_operand(frame, node, 0)->u.i64, hi = aj_frame_operand(frame, node, 1)->u.i64;
  int64_t step = aj_frame_operand(frame, node, 2)->u.i64;
  if (step == 0) {
    aj_value_views(in, frame, node, 0, 3);
    aj_sem_fail fail = {.kind = ARRJIT_KIND_ARITH, .code = AJ_ARITH_INVALID, .message = AJ_STEP_ZERO_MESSAGE};
    aj_run_raise_sem(in->run, &fail, 3, in->views);
    return AJ_FLOW_FAILED;
  }
  collect_init(in, frame, node, 3);
  if (!is_below(lo, hi, step)) return finish_node(in, frame, node);
  aj_flow flow = enter_loop(in, node, AJ_WHY_FOR_BODY, 0, lo);
  if (flow == AJ_FLOW_NEXT) aj_frame_enter(in, frame, node);
  return flow;
}

/* The condition has run: the loop's values are its parameters, which live to its end. */
static aj_flow yield_cond(aj_interp *in, aj_frame *frame, const aj_node *node) {
  bool go = aj_frame_operand(frame, node, 0)->u.bits[0] != 0;
  const aj_node *loop = frame->region->owner;
  int64_t iteration = frame->iteration;
  uint32_t carried = loop->result_count;
  for (uint32_t i = 0; i < carried; i++) {
    aj_cell *cell = aj_frame_cell(frame, frame->region->params[i]);
    aj_cell_copy(&in->transfer[i], cell);
    cell->tag = AJ_CELL_NONE;
  }
  in->transfer_count = carried;
  aj_stack_pop(in);
  if (!go) return finish_node(in, in->top, loop);
  return enter_region(in, loop, 1, AJ_WHY_WHILE_BODY, iteration, 0);
}

static aj_flow yield_while(aj_interp *in, aj_frame *frame, const aj_node *node) {
  if (aj_run_poll(in->run, true)) return AJ_FLOW_FAILED;
  const aj_node *loop = frame->region->owner;
  int64_t iteration = frame->iteration;
  collect_yield(in, frame, node);
  aj_stack_pop(in);
  return enter_loop(in, loop, AJ_WHY_WHILE_COND, iteration + 1, 0);
}

/* A counter that would overflow is past any bound. */
static aj_flow yield_for(aj_interp *in, aj_frame *frame, const aj_node *node) {
  if (aj_run_poll(in->run, true)) return AJ_FLOW_FAILED;
  const aj_node *loop = frame->region->owner;
  int64_t iteration = frame->iteration, next = frame->index;
  collect_yield(in, frame, node);
  aj_stack_pop(in);
  int64_t hi = aj_frame_operand(in->top, loop, 1)->u.i64, step = aj_frame_operand(in->top, loop, 2)->u.i64;
  if (!aj_i64_add(next, step, &next) || !is_below(next, hi, step)) return finish_node(in, in->top, loop);
  return enter_loop(in, loop, AJ_WHY_FOR_BODY, iteration + 1, next);
}

/* ---- calls ---- */

/* Symbols of the callee from the extents of the arguments. False: run->exn, kind shape. */
static bool bind_symbols(aj_interp *in, aj_frame *callee, const aj_func *func, aj_frame *caller, const aj_node *node) {
  for (uint32_t i = 0; i < func->param_count; i++) {
    const aj_type *type = func->param_types[i];
    const arrjit_array *array = type->rank > 0 ? aj_frame_operand(caller, node, i)->u.array : NULL;
    for (int32_t axis = 0; axis < type->rank; axis++) {
      int64_t dim = type->dims[axis], got = array->view.dims[axis];
      if (aj_dim_is_symbol(dim) && callee->env[aj_dim_symbol(dim)] < 0) callee->env[aj_dim_symbol(dim)] = got;
      int64_t expected = aj_dim_eval(dim, callee->env);
      if (expected != got) return aj_run_raise_extent(in->run, axis, dim, expected, got);
    }
  }
  return aj_run_derive(in->run, func, callee->env);
}

aj_flow aj_step_call(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_func *func = in->run->module->funcs.data[aj_node_int(node, AJ_ATTR_CALLEE)];
  if (!aj_run_may_call(in->run)) return AJ_FLOW_FAILED;
  aj_frame *callee = aj_stack_push(in, func->root, AJ_WHY_CALL);
  if (!callee) return AJ_FLOW_FAILED;
  in->run->depth++;
  bool bound = in->run->module->symbols.count == 0 || bind_symbols(in, callee, func, frame, node);
  if (!bound || !aj_need_enter(in->run, in->run->depth, func, callee->env)) {
    aj_stack_pop(in);
    return AJ_FLOW_FAILED;
  }
  for (uint32_t i = 0; i < node->operand_count; i++) aj_frame_copy_param(callee, i, aj_frame_operand(frame, node, i));
  aj_frame_enter(in, frame, node);
  return AJ_FLOW_NEXT;
}

/* ---- the end of a region ---- */

/* Body or handler of a try is done: a finally runs with the results already in their place. */
static aj_flow yield_try(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_node *owner = frame->region->owner;
  collect_yield(in, frame, node);
  aj_stack_pop(in);
  if (!aj_node_int(owner, AJ_ATTR_FINALLY)) return finish_node(in, in->top, owner);
  store_results(in, in->top, owner);
  return aj_unwind_finally(in, owner, NULL) ? AJ_FLOW_NEXT : AJ_FLOW_FAILED;
}

static aj_flow yield_finally(aj_interp *in, aj_frame *frame) {
  const aj_node *owner = frame->region->owner;
  aj_exn *exn = frame->exn;
  frame->exn = NULL;
  aj_stack_pop(in);
  if (!exn) return aj_frame_next(in, in->top, owner);
  in->run->exn = exn;
  return aj_unwind_onward(in) ? AJ_FLOW_NEXT : AJ_FLOW_ENDED;
}

/* A result as the host gets it: the output it has given, the array itself when nothing else has it, else a copy. NULL:
 * run->exn. */
static arrjit_array *make_output(aj_interp *in, aj_cell *cell, const aj_type *type, arrjit_array *given) {
  arrjit_array *array = cell->tag == AJ_CELL_ARRAY ? cell->u.array : NULL;
  if (given && array != given) {
    aj_view view;
    aj_value_view(cell, type, &view);
    aj_view_copy(&given->view, &view);
  } else if (!given && aj_value_is_private(cell) && aj_array_owns(array)) {
    aj_value_consume(in, array); /* memory that the host has wrapped stays the host's: it knows when to free it */
    cell->tag = AJ_CELL_NONE;
    return array;
  }
  if (!given) given = aj_value_copy(in, cell, type);
  aj_cell_clear(in->run, cell);
  return given;
}

static aj_flow yield_root(aj_interp *in, aj_frame *frame, const aj_node *node) {
  collect_yield(in, frame, node);
  for (uint32_t i = 0; i < node->operand_count; i++) aj_cell_clear(in->run, aj_frame_operand(frame, node, i));
  for (uint32_t i = 0; i < node->operand_count; i++) {
    arrjit_array *output = make_output(in, &in->transfer[i], node->operands[i]->type, in->outputs[i]);
    if (!output) {
      drop_transfer(in);
      return AJ_FLOW_FAILED;
    }
    in->outputs[i] = output;
  }
  in->transfer_count = 0;
  aj_stack_pop(in);
  return AJ_FLOW_DONE;
}

aj_flow aj_step_yield(aj_interp *in, aj_frame *frame, const aj_node *node) {
  switch (frame->why) {
  case AJ_WHY_WHILE_COND: return yield_cond(in, frame, node);
  case AJ_WHY_WHILE_BODY: return yield_while(in, frame, node);
  case AJ_WHY_FOR_BODY: return yield_for(in, frame, node);
  case AJ_WHY_ROOT: return yield_root(in, frame, node);
  case AJ_WHY_TRY_BODY:
  case AJ_WHY_HANDLER: return yield_try(in, frame, node);
  case AJ_WHY_FINALLY: return yield_finally(in, frame);
  case AJ_WHY_MAP_LANE: return aj_map_yield(in, frame, node);
  case AJ_WHY_CALL:
  case AJ_WHY_IF_ARM:
  case AJ_WHY_SWITCH_ARM: break;
  }
  collect_yield(in, frame, node);
  aj_stack_pop(in);
  return finish_node(in, in->top, in->top->region->nodes[in->top->pc]);
}
