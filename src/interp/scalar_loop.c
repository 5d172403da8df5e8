/* Loops over scalars alone. Where nothing in them can fail or be seen by the host, an iteration is a block program of
 * one lane for each region, bound to places in scratch: no frames, no cells. Values alternate between two sets of
 * places, so that an iteration reads one and writes the other.
 *
 * What a run can observe stays: polls and counts at every back-edge, and a poll that fails does so at the yield of a
 * body, whose frame is kept for the trace. */
#include "interp/frame.h"

#include <string.h>

struct aj_scalar_loop {
  aj_scalar_loop *next; /* of the module */
  const aj_node *node;
  aj_warmth warmth;
  aj_program *cond, *body; /* once it is warm; `for` has no cond */
  int64_t node_count;      /* of all regions */
};

/* ---- which loops ---- */

static bool is_plain(const aj_node *node) {
  if (node->op == AJ_OP_YIELD) return true;
  if (node->result_count != 1 || !aj_type_is_scalar(node->results[0].type)) return false;
  const aj_op_info *op = &aj_ops[node->op];
  return node->op == AJ_OP_CONST || ((op->flags & AJ_F_ELEMENTWISE) && !(op->flags & AJ_F_RAISES));
}

static bool is_eligible(const aj_node *node, int64_t *out_nodes, int64_t *out_weight) {
  for (uint32_t i = 0; i < node->operand_count; i++)
    if (!aj_type_is_scalar(node->operands[i]->type)) return false;
  *out_nodes = *out_weight = 0;
  for (uint32_t i = 0; i < node->region_count; i++) {
    const aj_region *region = node->regions[i];
    *out_nodes += region->node_count;
    for (uint32_t pc = 0; pc < region->node_count; pc++) {
      if (!is_plain(region->nodes[pc])) return false;
      *out_weight += aj_node_weight(region->nodes[pc]);
    }
  }
  return true;
}

bool aj_scalar_loop_find(aj_interp_code *code, const aj_node *node, aj_interp_node *info) {
  int64_t node_count, weight;
  if (!is_eligible(node, &node_count, &weight)) return true;
  aj_scalar_loop *loop = aj_mem_alloc(&code->core->mem, sizeof *loop);
  if (!loop) return false;
  loop->node = node;
  loop->node_count = node_count;
  loop->warmth.weight = weight;
  loop->next = code->scalar_loops;
  info->u.scalar_loop = code->scalar_loops = loop;
  return true;
}

void aj_scalar_loops_destroy(aj_interp_code *code) {
  for (aj_scalar_loop *loop = code->scalar_loops, *next; loop; loop = next) {
    next = loop->next;
    aj_program_destroy(loop->cond);
    aj_program_destroy(loop->body);
    aj_mem_free(&code->core->mem, loop, sizeof *loop);
  }
}

static bool build(aj_interp_code *code, void *part) {
  aj_scalar_loop *loop = part;
  aj_mem *mem = &code->core->mem;
  bool has_cond = loop->node->op == AJ_OP_WHILE;
  aj_program *cond = has_cond ? aj_program_create(mem, loop->node->regions[0]) : NULL;
  aj_program *body = aj_program_create(mem, loop->node->regions[has_cond]);
  if (!body || (has_cond && !cond)) {
    aj_program_destroy(cond);
    aj_program_destroy(body);
    return false;
  }
  loop->cond = cond;
  loop->body = body;
  return true;
}

/* ---- running ---- */

/* A running loop. Regions have the same params: the counter of a `for`, carried values, captures. */
typedef struct running {
  const aj_node *node;
  uint32_t carried, captures;
  aj_cell *values[2], *held, *index, *pred; /* values: two sets of carried ones; only the bits of cells count */
  const aj_bound_step *cond[2], *body[2];   /* from either set */
} running;

static size_t align_up(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

static size_t count_bytes(const aj_scalar_loop *loop, const running *r) {
  size_t cells = 2 * r->carried + r->captures + 2, pointers = 1 + 2 * r->carried + r->captures;
  size_t bytes = align_up(cells * sizeof(aj_cell)) + align_up(pointers * sizeof(void *));
  if (loop->cond) bytes += 2 * align_up(aj_program_bound_bytes(loop->cond));
  return bytes + 2 * align_up(aj_program_bound_bytes(loop->body));
}

static const aj_bound_step *bind(const aj_program *program, const void **params, void **results, char **next) {
  const aj_bound_step *bound = aj_program_bind(program, params, results, *next);
  *next += align_up(aj_program_bound_bytes(program));
  return bound;
}

static void lay_out(const aj_scalar_loop *loop, running *r, char *next) {
  r->values[0] = (aj_cell *)(void *)next;
  r->values[1] = r->values[0] + r->carried;
  r->held = r->values[1] + r->carried;
  r->index = r->held + r->captures;
  r->pred = r->index + 1;
  next += align_up((2 * r->carried + r->captures + 2) * sizeof(aj_cell));
  const void **params = (const void **)(void *)next;
  uint32_t first = loop->cond ? 0 : 1;
  void **results = (void **)(void *)next + first + r->carried + r->captures;
  next += align_up((1 + 2 * r->carried + r->captures) * sizeof(void *));
  params[0] = r->index->u.bits;
  for (uint32_t i = 0; i < r->captures; i++) params[first + r->carried + i] = r->held[i].u.bits;
  for (int set = 0; set < 2; set++) {
    for (uint32_t i = 0; i < r->carried; i++) {
      params[first + i] = r->values[set][i].u.bits;
      results[i] = r->values[1 - set][i].u.bits;
    }
    void *pred[] = {r->pred->u.bits};
    if (loop->cond) r->cond[set] = bind(loop->cond, params, pred, &next);
    r->body[set] = bind(loop->body, params, results, &next);
  }
}

/* Iterations until the loop ends or has to: false, with run->exn. *iteration counts, *set is where the values are. */
static bool run_while(aj_interp *in, running *r, int64_t *iteration, int *set) {
  for (;;) {
    aj_program_run_bound(r->cond[*set]);
    if (!r->pred->u.bits[0]) return true;
    aj_program_run_bound(r->body[*set]);
    if (AJ_UNLIKELY(aj_run_poll(in->run, true))) return false;
    *set = 1 - *set;
    (*iteration)++;
  }
}

static bool run_for(aj_interp *in, running *r, int64_t *iteration, int *set) {
  const aj_frame *owner = in->top->parent;
  int64_t hi = owner->cells[r->node->operands[1]->slot].u.i64, step = owner->cells[r->node->operands[2]->slot].u.i64;
  for (int64_t next = r->index->u.i64;;) {
    aj_program_run_bound(r->body[*set]);
    if (AJ_UNLIKELY(aj_run_poll(in->run, true))) return false;
    *set = 1 - *set;
    (*iteration)++;
    if (!aj_i64_add(next, step, &next) || (step > 0 ? next >= hi : next <= hi)) return true;
    r->index->u.i64 = next;
  }
}

aj_heat aj_scalar_loop_run(aj_interp *in, const aj_node *node, aj_scalar_loop *loop, int64_t iteration, int64_t index) {
  aj_heat heat = aj_warm(in, &loop->warmth, AJ_STEP_WORK * loop->node_count, build, loop);
  if (heat != AJ_WARM) return heat;
  aj_frame *owner = in->top;
  uint32_t capture = aj_node_capture_start(node);
  running r = {.node = node, .carried = in->transfer_count, .captures = node->operand_count - capture};
  in->transfer_count = 0; /* scalars: nothing to release */
  void *scratch = aj_interp_scratch(in, count_bytes(loop, &r));
  if (!scratch) return AJ_HEAT_FAILED;
  aj_frame *body =
      aj_stack_push(in, node->regions[node->region_count - 1], loop->cond ? AJ_WHY_WHILE_BODY : AJ_WHY_FOR_BODY);
  if (!body) return AJ_HEAT_FAILED;
  lay_out(loop, &r, scratch);
  for (uint32_t i = 0; i < r.carried; i++) r.values[0][i].u = in->transfer[i].u;
  for (uint32_t i = 0; i < r.captures; i++) r.held[i].u = aj_frame_operand(owner, node, capture + i)->u;
  r.index->u.i64 = index;
  int64_t first = iteration;
  int set = 0;
  bool ok = loop->cond ? run_while(in, &r, &iteration, &set) : run_for(in, &r, &iteration, &set);
  in->run->work += loop->node_count * (iteration - first);
  if (!ok) {
    body->iteration = iteration;
    body->pc = body->region->node_count - 1;
    return AJ_HEAT_FAILED;
  }
  aj_stack_pop(in);
  for (uint32_t i = 0; i < r.carried; i++) in->transfer[i] = (aj_cell){.u = r.values[set][i].u, .tag = AJ_CELL_SCALAR};
  in->transfer_count = r.carried;
  return AJ_WARM;
}
