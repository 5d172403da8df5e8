/* The one unwinder. It pops frames to the first handler that takes the failure, or to the first finally, and adds one
 * trace entry a frame: interp/README.md says which, and native code makes the same from static sites. */
#include "interp/frame.h"

static const aj_node *find_owner(const aj_frame *frame) {
  return frame->why == AJ_WHY_CALL ? frame->parent->region->nodes[frame->parent->pc] : frame->region->owner;
}

static aj_arm find_arm(const aj_frame *frame) {
  switch (frame->why) {
  case AJ_WHY_IF_ARM: return frame->arm == 0 ? AJ_ARM_THEN : AJ_ARM_ELSE;
  case AJ_WHY_SWITCH_ARM: return AJ_ARM_CASE;
  case AJ_WHY_WHILE_COND: return AJ_ARM_COND;
  case AJ_WHY_WHILE_BODY:
  case AJ_WHY_FOR_BODY:
  case AJ_WHY_TRY_BODY: return AJ_ARM_BODY;
  case AJ_WHY_HANDLER: return AJ_ARM_HANDLER;
  case AJ_WHY_FINALLY: return AJ_ARM_FINALLY;
  case AJ_WHY_MAP_LANE: return AJ_ARM_LANE;
  case AJ_WHY_ROOT:
  case AJ_WHY_CALL: break;
  }
  return AJ_ARM_NONE;
}

static void add_frame(aj_run *run, const aj_frame *frame) {
  aj_arm arm = find_arm(frame);
  bool indexed = arm == AJ_ARM_CASE || arm == AJ_ARM_HANDLER;
  aj_trace_add(run->exn, (aj_site){.node = find_owner(frame),
                                   .arm = (uint16_t)arm,
                                   .arm_index = (uint16_t)(indexed ? frame->arm : 0),
                                   .iteration = frame->iteration});
}

/* A failure begins at the node that the top frame is at. */
static void begin_failure(aj_interp *in) {
  const aj_node *node = in->top->region->nodes[in->top->pc];
  aj_trace_add(in->run->exn, (aj_site){.node = node, .arm = AJ_ARM_NONE, .iteration = -1});
}

/* Starts a handler or a finally of `node`, a try at the top frame's pc: it works on `exn`, which is taken over. False:
 * run->exn is set, with exn as its context. */
static bool enter_region(aj_interp *in, const aj_node *node, uint32_t region, aj_why why, aj_exn *exn) {
  aj_frame *parent = in->top, *frame = aj_stack_push(in, node->regions[region], why);
  if (!frame) {
    aj_exn_link(in->run->exn, NULL, exn);
    aj_exn_release(exn);
    return false;
  }
  frame->exn = exn;
  uint32_t param = 0;
  if (why == AJ_WHY_HANDLER) {
    frame->arm = region - 1;
    aj_frame_copy_param(frame, param++, &(aj_cell){.u.exn = exn, .tag = AJ_CELL_EXN});
  }
  for (uint32_t i = 0; i < node->operand_count; i++)
    aj_frame_copy_param(frame, param++, aj_frame_operand(parent, node, i));
  return true;
}

bool aj_unwind_finally(aj_interp *in, const aj_node *node, aj_exn *exn) {
  if (!enter_region(in, node, node->region_count - 1, AJ_WHY_FINALLY, exn)) return false;
  if (in->run->masked_until_ns == 0) {
    in->run->masked_until_ns = aj_clock_ns() + AJ_FINALLY_GRACE_NS;
    in->top->masks = true;
  }
  return true;
}

/* Region of the first handler of a try that takes `kind`; 0: none does. */
static uint32_t find_handler(const aj_run *run, const aj_node *node, arrjit_kind kind) {
  const aj_attr *kinds = aj_node_attr(node, AJ_ATTR_KINDS);
  for (uint32_t i = 0; kinds && i < kinds->count; i++)
    if (aj_kinds_catches(run->core->kinds, (arrjit_kind)kinds->u.ints[i], kind)) return i + 1;
  return 0;
}

static aj_exn *take_exn(aj_run *run) {
  aj_exn *exn = run->exn;
  run->exn = NULL;
  return exn;
}

/* The frame of a try's body or handler was left by a failure, its owner is at the top: whether the try goes on with it.
 */
static bool try_takes(aj_interp *in, const aj_node *node, bool from_body) {
  aj_run *run = in->run;
  uint32_t handler = from_body ? find_handler(run, node, run->exn->kind) : 0;
  if (handler) {
    if (enter_region(in, node, handler, AJ_WHY_HANDLER, take_exn(run))) return true;
    begin_failure(in);
  }
  if (!aj_node_int(node, AJ_ATTR_FINALLY) || run->exn->kind == ARRJIT_KIND_SHUTDOWN) return false;
  if (aj_unwind_finally(in, node, take_exn(run))) return true;
  begin_failure(in);
  return false;
}

bool aj_unwind_onward(aj_interp *in) {
  for (;;) {
    aj_frame *frame = in->top;
    aj_why why = frame->why;
    if (why == AJ_WHY_ROOT) {
      aj_stack_pop(in);
      return false;
    }
    const aj_node *owner = find_owner(frame);
    add_frame(in->run, frame);
    aj_exn_link(in->run->exn, NULL, frame->exn); /* raised while that was handled, or waited behind a finally */
    aj_stack_pop(in);
    if ((why == AJ_WHY_TRY_BODY || why == AJ_WHY_HANDLER) && try_takes(in, owner, why == AJ_WHY_TRY_BODY)) return true;
  }
}

bool aj_unwind(aj_interp *in) {
  begin_failure(in);
  return aj_unwind_onward(in);
}
