/* Running the host's combiners, and finding those that are plain ops. */
#include "sem/combiner.h"

#include <string.h>

/* ---- combiners that are one op ---- */

static aj_op get_reduction(aj_op op) {
  static const struct {
    aj_op op, reduction;
  } pairs[] = {{AJ_OP_ADD, AJ_OP_REDUCE_SUM}, {AJ_OP_MUL, AJ_OP_REDUCE_PROD}, {AJ_OP_MIN, AJ_OP_REDUCE_MIN},
               {AJ_OP_MAX, AJ_OP_REDUCE_MAX}, {AJ_OP_AND, AJ_OP_REDUCE_AND},  {AJ_OP_OR, AJ_OP_REDUCE_OR}};
  for (size_t i = 0; i < AJ_COUNT(pairs); i++)
    if (pairs[i].op == op) return pairs[i].reduction;
  return AJ_OP_NONE;
}

aj_op aj_sem_plain_combiner(const aj_region *region) {
  const aj_node *node = region->nodes[0], *yield = aj_region_terminator(region);
  if (region->node_count != 2 || node->operand_count != 2 || yield->operand_count != 1) return AJ_OP_NONE;
  const aj_value *x = node->operands[0], *y = node->operands[1];
  bool both = !x->def && !y->def && x->index + y->index == 1 && yield->operands[0] == &node->results[0];
  /* 16-bit floats accumulate in f32 in a sum, and are rounded at each step in a combiner: not the same bits. */
  return both && !aj_dtype_is_half(x->type->dtype) ? get_reduction(node->op) : AJ_OP_NONE;
}

/* ---- programs ---- */

static size_t align_up(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* The parts of the block; their sizes add up to what comes back. Before there is a block only they are of interest. */
static size_t lay_out(aj_combiner *c, char *block, uint32_t captures) {
  size_t pointers = align_up((3 * (size_t)c->count + captures) * sizeof(void *));
  size_t records = align_up(aj_record_bytes(c->count + captures, c->lanes));
  if (block != NULL) {
    c->params = (const void **)(void *)block;
    c->results = (void **)(void *)block + 2 * c->count + captures;
    c->spare = block + pointers;
    c->scratch = block + pointers + records;
  }
  return pointers + records + aj_program_scratch_bytes(c->program);
}

bool aj_combiner_open(aj_combiner *c, const aj_sem_call *call, uint32_t index, uint32_t first_capture, size_t lanes) {
  const aj_region *region = call->node->regions[index];
  uint32_t captures = call->node->operand_count - first_capture;
  *c = (aj_combiner){.program = index == 0 ? call->combiner : NULL,
                     .mem = call->mem,
                     .count = aj_region_terminator(region)->operand_count,
                     .lanes = lanes};
  if (c->program == NULL) c->program = c->made = aj_program_create(call->mem, region);
  if (c->program == NULL) return false;
  c->block_bytes = lay_out(c, NULL, captures);
  c->block = aj_mem_raw(call->mem, c->block_bytes);
  if (c->block == NULL) {
    aj_combiner_close(c);
    return false;
  }
  (void)lay_out(c, c->block, captures);
  for (uint32_t i = 0; i < c->count; i++) {
    c->bytes[i] = aj_dtypes[aj_region_terminator(region)->operands[i]->type->dtype].bytes;
    c->results[i] = c->spare + aj_record_bytes(i, lanes);
  }
  for (uint32_t i = 0; i < captures; i++) {
    const aj_view *capture = &call->in[first_capture + i];
    char *splat = c->spare + aj_record_bytes(c->count + i, lanes);
    aj_view_fill(splat, (int64_t)lanes, capture->data, aj_dtypes[capture->dtype].bytes);
    c->params[2 * c->count + i] = splat;
  }
  return true;
}

void aj_combiner_close(aj_combiner *c) {
  aj_mem_free(c->mem, c->block, c->block_bytes);
  aj_program_destroy(c->made);
}

void aj_combiner_run(aj_combiner *c, size_t n, char *const *out, const char *const *older, const char *const *newer) {
  AJ_ASSERT(n <= c->lanes);
  for (uint32_t i = 0; i < c->count; i++) {
    c->params[i] = older[i];
    c->params[c->count + i] = newer[i];
  }
  (void)aj_program_run(c->program, n, c->params, c->results, c->scratch, NULL, NULL);
  for (uint32_t i = 0; i < c->count; i++) memcpy(out[i], c->results[i], n * c->bytes[i]);
}

void aj_record_at(const aj_combiner *c, char *record, size_t lanes, size_t at, char **out) {
  for (uint32_t i = 0; i < c->count; i++) out[i] = record + aj_record_bytes(i, lanes) + at * c->bytes[i];
}
