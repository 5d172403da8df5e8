/* Blocks of whole arrays: operands in any layout are read a block at a time, so that what runs over them sees
 * contiguous lanes. */
#include "sem/blocks.h"

enum { ALIGNMENT = 64, HEAVY_STEPS = 256 }; /* steps from which a program gets short blocks, to be polled in time */

static size_t align_up(size_t bytes) { return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static aj_block_way choose_way(const aj_view *view) {
  if (view && aj_view_is_dense(view)) return AJ_READ_DIRECT;
  return !view || aj_view_is_uniform(view) ? AJ_READ_SPLAT : AJ_READ_GATHER;
}

static int64_t get_lanes(int64_t count) { return count < AJ_BLOCK ? count : AJ_BLOCK; }

size_t aj_block_operand_bytes(aj_block_operand *x, int64_t count) {
  x->way = choose_way(x->view);
  if (x->view) x->element = x->view->data;
  return x->way == AJ_READ_DIRECT ? 0 : align_up((size_t)get_lanes(count) * x->bytes);
}

char *aj_block_operand_place(aj_block_operand *x, int64_t count, char *scratch) {
  if (x->way == AJ_READ_DIRECT) return scratch;
  x->block = scratch;
  if (x->way == AJ_READ_SPLAT) aj_view_fill(x->block, get_lanes(count), x->element, x->bytes);
  return scratch + align_up((size_t)get_lanes(count) * x->bytes);
}

const void *aj_block_operand_read(const aj_block_operand *x, int64_t start, int64_t n) {
  if (x->way == AJ_READ_DIRECT) return x->view->data + (size_t)start * x->bytes;
  if (x->way == AJ_READ_GATHER) aj_view_read(x->block, x->view, start, n);
  return x->block;
}

/* ---- programs ---- */

/* Scratch: the pointers of one block, the program's own, then operands. */
static size_t fixed_bytes(const aj_program *program) {
  return align_up((program->param_count + program->result_count) * sizeof(void *)) +
         align_up(aj_program_scratch_bytes(program));
}

size_t aj_sem_program_bytes(const aj_sem_program_call *call) {
  size_t bytes = fixed_bytes(call->program) + ALIGNMENT;
  for (uint32_t i = 0; i < call->program->param_count; i++)
    bytes += aj_block_operand_bytes(&call->operands[i], call->count);
  return bytes;
}

aj_sem_status aj_sem_program_run(const aj_sem_program_call *call, void *scratch) {
  const aj_program *program = call->program;
  uint32_t params = program->param_count, results = program->result_count;
  char *start_of_all = (char *)scratch + (-(uintptr_t)scratch & (ALIGNMENT - 1));
  const void **in = (const void **)(void *)start_of_all;
  void **out = (void **)(void *)start_of_all + params;
  char *own = start_of_all + align_up((params + results) * sizeof(void *)), *next = start_of_all + fixed_bytes(program);
  for (uint32_t i = 0; i < params; i++) next = aj_block_operand_place(&call->operands[i], call->count, next);
  int64_t most = program->step_count > HEAVY_STEPS ? AJ_PROGRAM_LANES : AJ_BLOCK;
  for (int64_t start = 0; start < call->count; start += most) {
    int64_t n = call->count - start < most ? call->count - start : most;
    for (uint32_t i = 0; i < params; i++) in[i] = aj_block_operand_read(&call->operands[i], start, n);
    for (uint32_t i = 0; i < results; i++)
      out[i] = call->results[i] + (size_t)start * program->outside_bytes[params + i];
    aj_program_run(program, (size_t)n, in, out, own, NULL, NULL);
    if (start + n < call->count && call->poll && call->poll(call->poll_user)) return AJ_SEM_STOPPED;
  }
  return AJ_SEM_OK;
}
