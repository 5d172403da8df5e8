/* Snapshots: a run's frames as data, values of live slots only. The debug option resume_everywhere takes one at every
 * pc, drops all frames and rebuilds them from it, which shows that what aj_live says is enough to go on; leaving native
 * code in the middle of a function rebuilds frames from the same data.
 *
 * The top frame is BEFORE its pc. A frame below is INSIDE its pc; where the frame above it is a finally after a normal
 * end it is AFTER: the results are there, and no region of the node reads its operands any more. */
#include "interp/frame.h"

#include <string.h>

typedef struct snap_frame {
  const aj_region *region;
  uint32_t pc, arm;
  aj_why why;
  aj_live_mode mode;
  int64_t iteration, index;
  aj_exn *exn; /* one reference */
  bool masks;
  size_t first_value, first_symbol;
} snap_frame;

typedef struct snapshot {
  AJ_VEC(snap_frame) frames; /* outermost first */
  AJ_VEC(aj_cell) values;    /* of live slots, ascending, one reference each */
  AJ_VEC(int64_t) symbols;   /* of frames with an env of their own */
  int64_t masked_until_ns, depth;
} snapshot;

static bool has_env(aj_why why) { return why == AJ_WHY_ROOT || why == AJ_WHY_CALL; }

static aj_live_mode find_mode(const aj_frame *above) {
  if (!above) return AJ_LIVE_BEFORE;
  return above->why == AJ_WHY_FINALLY && !above->exn ? AJ_LIVE_AFTER : AJ_LIVE_INSIDE;
}

/* ---- encoding ---- */

static bool add_symbols(aj_interp *in, snapshot *snap, const aj_frame *frame) {
  aj_mem *mem = &in->run->core->mem;
  size_t count = in->run->module->symbols.count;
  if (!has_env(frame->why) || count == 0) return true;
  if (!AJ_VEC_RESERVE(mem, &snap->symbols, count)) return false;
  memcpy(snap->symbols.data + snap->symbols.count, frame->env, count * sizeof *frame->env);
  snap->symbols.count += count;
  return true;
}

/* A slot that is live has a value, or the interpreter released too much. */
static bool add_values(aj_interp *in, snapshot *snap, const aj_frame *frame, aj_live_mode mode) {
  for (uint32_t slot = 0; slot < frame->region->slot_count; slot++) {
    if (!aj_live(frame->region, frame->pc, mode, slot)) continue;
    AJ_ASSERT(frame->cells[slot].tag != AJ_CELL_NONE);
    if (!AJ_VEC_PUSH(&in->run->core->mem, &snap->values, frame->cells[slot])) return false;
    aj_cell_retain(&frame->cells[slot]);
  }
  return true;
}

static bool add_frame(aj_interp *in, snapshot *snap, aj_frame *frame, aj_live_mode mode) {
  snap_frame out = {.region = frame->region,
                    .pc = frame->pc,
                    .arm = frame->arm,
                    .why = frame->why,
                    .mode = mode,
                    .iteration = frame->iteration,
                    .index = frame->index,
                    .exn = frame->exn,
                    .masks = frame->masks,
                    .first_value = snap->values.count,
                    .first_symbol = snap->symbols.count};
  if (!AJ_VEC_PUSH(&in->run->core->mem, &snap->frames, out)) return false;
  if (out.exn) aj_exn_retain(out.exn);
  return add_values(in, snap, frame, mode) && add_symbols(in, snap, frame);
}

/* Frames know their parents only: they are added innermost first, then turned round. */
static bool encode(aj_interp *in, snapshot *snap) {
  snap->masked_until_ns = in->run->masked_until_ns;
  snap->depth = in->run->depth;
  const aj_frame *above = NULL;
  for (aj_frame *frame = in->top; frame; above = frame, frame = frame->parent)
    if (!add_frame(in, snap, frame, find_mode(above))) return false;
  for (size_t i = 0, k = snap->frames.count; i + 1 < k; i++) {
    snap_frame swapped = snap->frames.data[--k];
    snap->frames.data[k] = snap->frames.data[i];
    snap->frames.data[i] = swapped;
  }
  return true;
}

static void free_snapshot(aj_interp *in, snapshot *snap) {
  aj_mem *mem = &in->run->core->mem;
  for (size_t i = 0; i < snap->values.count; i++) aj_cell_clear(in->run, &snap->values.data[i]);
  for (size_t i = 0; i < snap->frames.count; i++) aj_exn_release(snap->frames.data[i].exn);
  AJ_VEC_FREE(mem, &snap->frames);
  AJ_VEC_FREE(mem, &snap->values);
  AJ_VEC_FREE(mem, &snap->symbols);
}

/* ---- decoding ---- */

/* Values and exceptions move out of the snapshot. False: run->exn. */
static bool rebuild_frame(aj_interp *in, snapshot *snap, snap_frame *from) {
  aj_frame *frame = aj_stack_push(in, from->region, from->why);
  if (!frame) return false;
  frame->pc = from->pc;
  frame->arm = from->arm;
  frame->iteration = from->iteration;
  frame->index = from->index;
  frame->masks = from->masks;
  frame->exn = from->exn;
  from->exn = NULL;
  aj_cell *value = snap->values.count ? snap->values.data + from->first_value : NULL;
  for (uint32_t slot = 0; slot < from->region->slot_count; slot++) {
    if (!aj_live(from->region, from->pc, from->mode, slot)) continue;
    frame->cells[slot] = *value;
    (value++)->tag = AJ_CELL_NONE;
  }
  size_t symbols = in->run->module->symbols.count;
  if (has_env(from->why) && symbols)
    memcpy(frame->env, snap->symbols.data + from->first_symbol, symbols * sizeof *frame->env);
  return true;
}

/* Every operand of the node to run is there, or liveness left one out. */
static bool check_operands(aj_interp *in) {
  aj_frame *frame = in->top;
  const aj_node *node = frame->region->nodes[frame->pc];
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (aj_frame_operand(frame, node, i)->tag == AJ_CELL_NONE)
      return aj_run_raise(in->run, ARRJIT_KIND_INTERNAL, 0, "a live value is not in the snapshot", 0, NULL);
  return true;
}

static bool decode(aj_interp *in, snapshot *snap) {
  for (size_t i = 0; i < snap->frames.count; i++)
    if (!rebuild_frame(in, snap, &snap->frames.data[i])) return false;
  in->run->masked_until_ns = snap->masked_until_ns;
  in->run->depth = snap->depth;
  return check_operands(in);
}

static void drop_frames(aj_interp *in) {
  while (in->top) aj_stack_pop(in);
}

aj_flow aj_snapshot_resume(aj_interp *in) {
  snapshot snap = {0};
  aj_flow flow = encode(in, &snap) ? AJ_FLOW_NEXT : AJ_FLOW_FAILED;
  if (flow == AJ_FLOW_FAILED) {
    aj_run_raise_memory(in->run, 0);
  } else {
    drop_frames(in);
    if (!decode(in, &snap)) flow = AJ_FLOW_ENDED;
  }
  free_snapshot(in, &snap);
  if (flow == AJ_FLOW_ENDED) drop_frames(in);
  return flow;
}
