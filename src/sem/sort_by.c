/* sort_by: positions along the axis are sorted, by the host's comparator on the elements there, and elements taken in
 * that order. The comparator runs on one pair at a time, bound to the places that the pair is copied to. */
#include "sem/combiner.h"
#include "sem/merge.h"
#include "sem/program.h"

#include <string.h>

enum { TAKEN = 3 * AJ_POLL_SCATTERED }; /* work of an element taken from anywhere: most miss every cache */

typedef struct sort_plan {
  const aj_sem_call *call;
  uint32_t count;       /* of arrays */
  int64_t extent, step; /* of the axis; elements from one to the next */
  int64_t first;        /* element that the row begins with */
  uint8_t bytes[AJ_COMBINE_ARGS];
  char *pair; /* elements on the left, those on the right, then what the comparator says */
  const aj_bound_step *steps;
} sort_plan;

static const char *element_at(const sort_plan *p, uint32_t i, int64_t position) {
  return p->call->in[i].data + (p->first + position * p->step) * p->bytes[i];
}

/* Whether elements at position `left` go before those at `right`. */
static bool goes_before(const sort_plan *p, int64_t left, int64_t right) {
  char *l = p->pair, *r = l + p->count * AJ_RECORD_ELEMENT, *says = r + p->count * AJ_RECORD_ELEMENT;
  for (uint32_t i = 0; i < p->count; i++) {
    memcpy(l + i * AJ_RECORD_ELEMENT, element_at(p, i, left), p->bytes[i]);
    memcpy(r + i * AJ_RECORD_ELEMENT, element_at(p, i, right), p->bytes[i]);
  }
  aj_program_run_bound(p->steps);
  return *(const uint8_t *)says != 0;
}

#define BEHIND(row, x, y) goes_before((row)->by, y, x)
AJ_DEFINE_SORT(positions, int64_t, BEHIND)

static bool sort_row_at(sort_plan *p, aj_sort_row *row) {
  for (int64_t i = 0; i < p->extent; i++) {
    ((int64_t *)(void *)row->buffers[0])[i] = i;
    if (aj_poller_stops(row->poller, 1)) return false;
  }
  if (!sort_positions(row)) return false;
  const int64_t *order = (const int64_t *)(const void *)row->buffers[0];
  for (uint32_t i = 0; i < p->count; i++)
    for (int64_t k = 0; k < p->extent; k++) {
      char *to = p->call->out[i].data + (p->first + k * p->step) * p->bytes[i];
      memcpy(to, element_at(p, i, order[k]), p->bytes[i]);
      if (aj_poller_stops(row->poller, TAKEN)) return false;
    }
  return true;
}

static bool sort_rows(sort_plan *p, aj_sort_row *row, int64_t rows) {
  for (int64_t k = 0; k < rows; k++) {
    p->first = k / p->step * p->extent * p->step + k % p->step;
    if (!sort_row_at(p, row)) return false;
  }
  return true;
}

/* Binds the program to the pair; `block` has places for it, then pointers to them, then the program's own. */
static void bind_pair(sort_plan *p, const aj_program *program, uint32_t captures, char *block) {
  size_t places = 2 * (size_t)p->count;
  const void **params = (const void **)(void *)(block + (places + 1) * AJ_RECORD_ELEMENT);
  p->pair = block;
  for (size_t i = 0; i < places; i++) params[i] = block + i * AJ_RECORD_ELEMENT;
  for (uint32_t i = 0; i < captures; i++) params[places + i] = p->call->in[p->count + i].data;
  void *results[] = {block + places * AJ_RECORD_ELEMENT};
  p->steps = aj_program_bind(program, params, results, params + places + captures);
}

static aj_sem_status sort_with(const aj_sem_call *call, const aj_program *program) {
  const aj_view *x = &call->in[0];
  int32_t axis = (int32_t)aj_node_int(call->node, AJ_ATTR_AXIS);
  sort_plan p = {.call = call,
                 .count = (uint32_t)aj_node_int(call->node, AJ_ATTR_ARGS),
                 .extent = x->dims[axis],
                 .step = aj_routine_extent(x, axis + 1, x->rank)};
  uint32_t captures = call->node->operand_count - p.count;
  for (uint32_t i = 0; i < p.count; i++) p.bytes[i] = aj_dtypes[call->in[i].dtype].bytes;
  size_t bound = (2 * p.count + 1) * AJ_RECORD_ELEMENT + (2 * p.count + captures) * sizeof(void *) +
                 aj_program_bound_bytes(program);
  if ((size_t)p.extent > (SIZE_MAX - bound) / (2 * sizeof(int64_t))) return AJ_SEM_MEMORY;
  size_t buffer = (size_t)p.extent * sizeof(int64_t), bytes = 2 * buffer + bound;
  char *memory = aj_mem_raw(call->mem, bytes);
  if (memory == NULL) return AJ_SEM_MEMORY;
  bind_pair(&p, program, captures, memory + 2 * buffer);
  aj_poller poller = aj_routine_poller(call);
  aj_sort_row row = {.count = p.extent,
                     .buffers = {memory, memory + buffer},
                     .poller = &poller,
                     .weight = 2 * (TAKEN * (int64_t)p.count + program->step_count), /* of a pair */
                     .by = &p};
  bool ok = sort_rows(&p, &row, aj_view_count(x) / p.extent);
  aj_mem_free(call->mem, memory, bytes);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}

aj_sem_status aj_routine_sort_by(const aj_sem_call *call) {
  if (aj_view_count(&call->in[0]) == 0) return AJ_SEM_OK;
  if (call->combiner != NULL) return sort_with(call, call->combiner);
  aj_program *program = aj_program_create(call->mem, call->node->regions[0]);
  aj_sem_status status = program != NULL ? sort_with(call, program) : AJ_SEM_MEMORY;
  aj_program_destroy(program);
  return status;
}
