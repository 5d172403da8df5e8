/* Cells, frames and the stack of chunks that frames live on. Chunks stay for the next run; a frame never moves, so
 * cells may be pointed at while they run. */
#include "interp/frame.h"

#include <string.h>

enum { CHUNK_BYTES = 32 * 1024 };

/* ---- cells ---- */

void aj_cell_retain(const aj_cell *cell) {
  if (cell->tag == AJ_CELL_ARRAY) aj_array_retain(cell->u.array);
  if (cell->tag == AJ_CELL_EXN) aj_exn_retain(cell->u.exn);
}

void aj_cell_drop(aj_run *run, aj_cell *cell) {
  (void)run;
  if (cell->tag == AJ_CELL_ARRAY) aj_array_release(cell->u.array);
  if (cell->tag == AJ_CELL_EXN) aj_exn_release(cell->u.exn);
  cell->tag = AJ_CELL_NONE;
}

/* ---- the stack ---- */

static size_t frame_bytes(const aj_interp *in, const aj_region *region, bool own_env) {
  size_t bytes = sizeof(aj_frame) + region->slot_count * sizeof(aj_cell);
  if (own_env) bytes += in->run->module->symbols.count * sizeof(int64_t);
  return (bytes + 15) & ~(size_t)15;
}

static size_t chunk_start(void) { return (sizeof(aj_stack_chunk) + 15) & ~(size_t)15; }

/* A chunk with room for `bytes` after the current one becomes the current one. */
static bool advance_chunk(aj_interp *in, size_t bytes) {
  aj_stack_chunk *next = in->chunk ? in->chunk->next : NULL;
  if (!next || next->bytes - chunk_start() < bytes) {
    size_t total = bytes + chunk_start() > CHUNK_BYTES ? bytes + chunk_start() : CHUNK_BYTES;
    aj_stack_chunk *chunk = aj_mem_raw(&in->run->core->mem, total);
    if (!chunk) return false;
    *chunk = (aj_stack_chunk){.prev = in->chunk, .next = next, .bytes = total, .used = chunk_start()};
    if (next) next->prev = chunk;
    if (in->chunk) in->chunk->next = chunk;
    next = chunk;
  }
  in->chunk = next;
  return true;
}

static void *push_bytes(aj_interp *in, size_t bytes) {
  if (!in->chunk || in->chunk->bytes - in->chunk->used < bytes)
    if (!advance_chunk(in, bytes)) return NULL;
  void *place = (char *)in->chunk + in->chunk->used;
  in->chunk->used += bytes;
  return place;
}

static void pop_bytes(aj_interp *in, const void *place) {
  in->chunk->used = (size_t)((const char *)place - (const char *)in->chunk);
  if (in->chunk->used == chunk_start() && in->chunk->prev) in->chunk = in->chunk->prev;
}

void aj_stack_free(aj_interp *in) {
  aj_stack_chunk *chunk = in->chunk;
  while (chunk && chunk->next) chunk = chunk->next;
  for (aj_stack_chunk *prev; chunk; chunk = prev) {
    prev = chunk->prev;
    aj_mem_free(&in->code->core->mem, chunk, chunk->bytes);
  }
  in->chunk = NULL;
}

/* ---- frames ---- */

aj_frame *aj_stack_push(aj_interp *in, const aj_region *region, aj_why why) {
  bool own_env = why == AJ_WHY_ROOT || why == AJ_WHY_CALL;
  aj_frame *frame = push_bytes(in, frame_bytes(in, region, own_env));
  if (!frame) {
    aj_run_raise_memory(in->run, frame_bytes(in, region, own_env));
    return NULL;
  }
  aj_cell *cells = (aj_cell *)(frame + 1);
  memset(cells, 0, region->slot_count * sizeof *cells);
  *frame = (aj_frame){.parent = in->top,
                      .region = region,
                      .nodes = in->code->funcs[region->func->index],
                      .env = own_env ? (int64_t *)(cells + region->slot_count) : in->top->env,
                      .cells = cells,
                      .why = why,
                      .iteration = -1};
  if (own_env) memset(frame->env, 0xff, in->run->module->symbols.count * sizeof(int64_t));
  in->top = frame;
  return frame;
}

void aj_stack_pop(aj_interp *in) {
  aj_frame *frame = in->top;
  for (uint32_t i = 0; i < frame->region->slot_count; i++) aj_cell_clear(in->run, &frame->cells[i]);
  if (frame->masks) in->run->masked_until_ns = 0;
  if (frame->why == AJ_WHY_CALL) in->run->depth--;
  aj_exn_release(frame->exn);
  in->top = frame->parent;
  pop_bytes(in, frame);
}

bool aj_frame_wants(const aj_region *region, uint32_t slot) { return region->last_use[slot] != AJ_UNUSED; }

void aj_frame_copy_param(aj_frame *frame, uint32_t index, const aj_cell *cell) {
  uint32_t slot = frame->region->params[index]->slot;
  if (!aj_frame_wants(frame->region, slot)) return;
  aj_cell_copy(&frame->cells[slot], cell);
  aj_cell_retain(cell);
}

void aj_frame_move_param(aj_interp *in, aj_frame *frame, uint32_t index, aj_cell *cell) {
  uint32_t slot = frame->region->params[index]->slot;
  if (!aj_frame_wants(frame->region, slot)) {
    aj_cell_clear(in->run, cell);
    return;
  }
  aj_cell_copy(&frame->cells[slot], cell);
  cell->tag = AJ_CELL_NONE;
}

aj_flow aj_frame_next(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const uint32_t *last_use = frame->region->last_use;
  for (uint32_t i = 0; i < node->operand_count; i++) {
    uint32_t slot = node->operands[i]->slot;
    if (last_use[slot] == frame->pc) aj_cell_clear(in->run, &frame->cells[slot]);
  }
  for (uint32_t i = 0; i < node->result_count; i++)
    if (last_use[node->results[i].slot] == AJ_UNUSED) aj_cell_clear(in->run, aj_frame_result(frame, node, i));
  frame->pc++;
  return AJ_FLOW_NEXT;
}

void aj_frame_enter(aj_interp *in, aj_frame *frame, const aj_node *node) {
  for (uint32_t i = 0; i < node->operand_count; i++) {
    uint32_t slot = node->operands[i]->slot;
    aj_cell *cell = &frame->cells[slot];
    if (cell->tag >= AJ_CELL_ARRAY && !aj_live(frame->region, frame->pc, AJ_LIVE_INSIDE, slot))
      aj_cell_drop(in->run, cell);
  }
}
