/* Running a range: movement and scalars first, then the program block by block, in place where an operand dies. */
#include "interp/range.h"

#include <string.h>

/* What one execution works with, in in->scratch. */
typedef struct execution {
  const aj_range *range;
  aj_block_operand *operands; /* [param_count] */
  arrjit_array **made;        /* [result_count] one reference each, or the array of `taken` */
  char **data;                /* [result_count] */
  uint32_t *taken;            /* [result_count] param whose array the result takes over; NOBODY: none */
  int64_t count;
} execution;
#define NOBODY UINT32_MAX

/* The nodes that the program leaves out. Their operands are not released yet: the frame is at the range's start. */
static bool run_before(aj_interp *in, aj_frame *frame, const aj_range *range) {
  for (uint32_t i = 0; i < range->code.before_count; i++) {
    const aj_node *node = range->code.before[i];
    if (frame->nodes[node->id].plain(in, frame, node) != AJ_FLOW_NEXT) {
      frame->pc = node->pc; /* the node to blame */
      return false;
    }
    frame->pc = range->first;
  }
  return true;
}

static void show_operands(aj_frame *frame, execution *e) {
  for (uint32_t i = 0; i < e->range->code.param_count; i++) {
    const aj_value *value = e->range->code.params[i].value;
    const aj_cell *cell = &frame->cells[value->slot];
    e->operands[i] = (aj_block_operand){.view = cell->tag == AJ_CELL_ARRAY ? &cell->u.array->view : NULL,
                                        .element = cell->u.bits,
                                        .bytes = aj_dtypes[value->type->dtype].bytes};
  }
}

/* An operand that dies here and that result r may be written over. */
static uint32_t find_reusable(aj_frame *frame, const execution *e, uint32_t r) {
  const aj_range_code *code = &e->range->code;
  for (uint32_t i = 0; i < code->param_count; i++) {
    bool fits = code->params[i].dies && aj_program_may_share(code->program, i, r) &&
                aj_value_is_private(&frame->cells[code->params[i].value->slot]);
    for (uint32_t k = 0; fits && k < r; k++) fits = e->taken[k] != i;
    if (fits) return i;
  }
  return NOBODY;
}

static bool make_results(aj_interp *in, aj_frame *frame, execution *e) {
  for (uint32_t r = 0; r < e->range->code.result_count; r++) {
    const aj_node *node = e->range->code.results[r];
    uint32_t output = frame->why == AJ_WHY_ROOT ? frame->nodes[node->id].output : 0;
    bool given = output && in->outputs[output - 1];
    e->taken[r] = given ? NOBODY : find_reusable(frame, e, r);
    if (e->taken[r] != NOBODY) {
      e->made[r] = frame->cells[e->range->code.params[e->taken[r]].value->slot].u.array;
      aj_value_consume(in, e->made[r]);
    } else if (!(e->made[r] = aj_value_result(in, frame, node))) {
      return false;
    }
    e->data[r] = e->made[r]->view.data;
  }
  return true;
}

static void drop_results(aj_interp *in, execution *e) {
  for (uint32_t r = 0; r < e->range->code.result_count && e->made[r]; r++) {
    aj_cell cell = {.u.array = e->made[r], .tag = AJ_CELL_ARRAY};
    if (e->taken[r] == NOBODY) aj_cell_clear(in->run, &cell);
  }
}

static void store_results(aj_frame *frame, const execution *e) {
  for (uint32_t r = 0; r < e->range->code.result_count; r++) {
    const aj_node *node = e->range->code.results[r];
    if (e->taken[r] != NOBODY) {
      frame->cells[e->range->code.params[e->taken[r]].value->slot].tag = AJ_CELL_NONE;
      aj_array_retype(e->made[r], node->results[0].type->dtype);
    }
    *aj_frame_result(frame, node, 0) = (aj_cell){.u.array = e->made[r], .tag = AJ_CELL_ARRAY};
  }
}

static size_t align_up(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

/* The parts of `e` in scratch; the program's begins behind them. False: run->exn. */
static bool lay_out(aj_interp *in, aj_frame *frame, execution *e, aj_sem_program_call *call, char **out_rest) {
  const aj_range_code *code = &e->range->code;
  size_t operands = align_up(code->param_count * sizeof *e->operands),
         results = align_up(code->result_count * sizeof(void *));
  size_t head = operands + 3 * results;
  char *scratch = aj_interp_scratch(in, head);
  if (!scratch) return false;
  e->operands = (aj_block_operand *)(void *)scratch;
  show_operands(frame, e);
  call->operands = e->operands;
  size_t all = head + aj_sem_program_bytes(call);
  if (all > in->scratch_bytes) {
    if (!(scratch = aj_interp_scratch(in, all))) return false;
    call->operands = e->operands = (aj_block_operand *)(void *)scratch;
    show_operands(frame, e);
    (void)aj_sem_program_bytes(call);
  }
  e->made = (arrjit_array **)(void *)(scratch + operands);
  e->data = (char **)(void *)(scratch + operands + results);
  e->taken = (uint32_t *)(void *)(scratch + operands + 2 * results);
  memset(e->made, 0, 3 * results);
  call->results = e->data;
  *out_rest = scratch + head;
  return true;
}

static bool run_program(aj_interp *in, aj_frame *frame, execution *e) {
  aj_sem_program_call call = {
      .program = e->range->code.program, .count = e->count, .poll = aj_run_poll_routine, .poll_user = in->run};
  char *rest;
  if (e->range->code.result_count == 0) return true;
  if (!lay_out(in, frame, e, &call, &rest)) return false;
  bool ok = make_results(in, frame, e) && (e->count == 0 || aj_sem_program_run(&call, rest) == AJ_SEM_OK);
  if (ok)
    store_results(frame, e);
  else
    drop_results(in, e);
  return ok;
}

static int64_t count_elements(const aj_frame *frame, const aj_type *type) {
  int64_t count = 1;
  for (int32_t i = 0; i < type->rank; i++) {
    int64_t dim = aj_dim_eval(type->dims[i], frame->env);
    if (dim == 0) return 0;
    if (!aj_i64_mul(count, dim, &count)) return INT64_MAX; /* no array of the shape is there: the nodes say so */
  }
  return count;
}

aj_flow aj_step_range(aj_interp *in, aj_frame *frame, const aj_node *node) {
  const aj_interp_node *info = &frame->nodes[node->id];
  aj_range *range = info->range;
  execution e = {.range = range, .count = count_elements(frame, range->shape->results[0].type)};
  int64_t nodes = range->last - range->first + 1, work;
  if (in->resume || !aj_i64_mul(e.count, nodes, &work) || work > INT64_MAX / 2) return info->plain(in, frame, node);
  aj_heat heat = aj_warm(in, &range->warmth, work + AJ_STEP_WORK * nodes, aj_range_build, range);
  if (heat == AJ_COLD) return info->plain(in, frame, node);
  if (heat == AJ_HEAT_FAILED) return AJ_FLOW_FAILED;
  bool stops = aj_run_poll(in->run, false);
  if (!stops && !run_before(in, frame, range)) return AJ_FLOW_FAILED;
  if (stops || !run_program(in, frame, &e)) {
    frame->pc = range->last; /* what a range stands for is its end, as in a kernel */
    return AJ_FLOW_FAILED;
  }
  for (uint32_t i = 0; i < range->code.dying_count; i++) aj_cell_clear(in->run, &frame->cells[range->code.dying[i]]);
  in->run->work += work;
  frame->pc = range->last + 1;
  return AJ_FLOW_NEXT;
}
