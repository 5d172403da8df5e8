/* The stepper: takes the node at the top frame's pc and runs it, until the entry returns or a failure leaves it. */
#include "interp/frame.h"

#include <string.h>

enum { UNPOLLED_NODES = 1023 }; /* scalar ones; what takes long polls itself */

/* The node at the top frame's pc; with resume_everywhere the frames are rebuilt first. */
static aj_flow step(aj_interp *in) {
  if (AJ_UNLIKELY(in->resume)) {
    aj_flow flow = aj_snapshot_resume(in);
    if (flow != AJ_FLOW_NEXT) return flow;
  }
  aj_frame *frame = in->top;
  const aj_node *node = frame->region->nodes[frame->pc];
  if (AJ_UNLIKELY((++in->run->work & UNPOLLED_NODES) == 0) && aj_run_poll(in->run, false)) return AJ_FLOW_FAILED;
  return frame->nodes[node->id].step(in, frame, node);
}

static aj_flow run_frames(aj_interp *in) {
  for (;;) {
    aj_flow flow = step(in);
    if (AJ_LIKELY(flow == AJ_FLOW_NEXT)) continue;
    if (flow != AJ_FLOW_FAILED) return flow;
    if (!aj_unwind(in)) return AJ_FLOW_ENDED;
  }
}

/* A donated input: what is private to the run may be written to. */
static bool adopt_param(aj_interp *in, aj_frame *frame, uint32_t index, arrjit_array *input) {
  arrjit_array *adopted = aj_array_adopt(input, index);
  if (!adopted) return aj_run_raise_memory(in->run, sizeof *adopted);
  aj_frame_move_param(in, frame, index, &(aj_cell){.u.array = adopted, .tag = AJ_CELL_ARRAY});
  return true;
}

/* The entry's frame with its parameters: scalars are read out of their arrays. */
static bool enter_root(aj_interp *in, const int64_t *env, arrjit_array *const *inputs) {
  const aj_region *region = in->run->module->funcs.data[0]->root;
  aj_frame *frame = aj_stack_push(in, region, AJ_WHY_ROOT);
  if (!frame) return false;
  for (size_t i = 0; i < in->run->module->symbols.count; i++) frame->env[i] = env[i];
  for (uint32_t i = 0; i < region->param_count; i++) {
    const aj_view *view = &inputs[i]->view;
    if (AJ_UNLIKELY(i < 64 && (in->run->donated >> i & 1))) {
      if (!adopt_param(in, frame, i, inputs[i])) return false;
      continue;
    }
    aj_cell cell = {.u.array = inputs[i], .tag = AJ_CELL_ARRAY};
    if (view->rank == 0) {
      cell = (aj_cell){.tag = AJ_CELL_SCALAR};
      memcpy(cell.u.bits, view->data, aj_dtypes[view->dtype].bytes);
    }
    aj_frame_copy_param(frame, i, &cell);
  }
  return true;
}

/* Also runs when a foreign exception unwinds: so no frame, value or interpreter is lost. */
static void leave(aj_interp **place) {
  aj_interp *in = *place;
  if (!in) return;
  while (in->top) aj_stack_pop(in);
  for (uint32_t i = 0; i < in->transfer_count; i++) aj_cell_clear(in->run, &in->transfer[i]);
  in->transfer_count = 0;
  aj_interp_give(in);
}

bool aj_interp_run(aj_interp_code *code, aj_run *run, const int64_t *env, arrjit_array *const *inputs,
                   arrjit_array **outputs) {
  __attribute__((cleanup(leave))) aj_interp *in = aj_interp_take(code);
  if (!in) return aj_run_raise_memory(run, 0);
  in->run = run;
  in->outputs = outputs;
  in->resume = aj_core_option(run->core, AJ_OPTION_RESUME_EVERYWHERE) != 0;
  return enter_root(in, env, inputs) && run_frames(in) == AJ_FLOW_DONE;
}
