/* solve_lower: forward substitution, row by row. A row of results is a product of the rows before it by the loop of
 * dot, which goes on from the right side, with the row of a negated; then it is divided. */
#include "sem/routine.h"

#include <string.h>

typedef struct solve_plan {
  const aj_sem_call *call;
  arrjit_dtype dtype;
  size_t bytes, rows, columns;
  bool unit;
  char *minus, *divisors; /* a row of -a; a tile of its last element */
  aj_poller poller;
} solve_plan;

/* Row i of x, which is the right side's as yet, from the rows before it. */
static bool solve_row(solve_plan *plan, const char *a, char *x, size_t i) {
  enum { PIECE = 2048 };
  const aj_loops *loops = aj_loops_here();
  aj_loop *negate = loops->rows[AJ_OP_NEG][plan->dtype], *divide = loops->rows[AJ_OP_DIV][plan->dtype];
  size_t bytes = plan->bytes, columns = plan->columns;
  const char *row = a + i * plan->rows * bytes;
  const void *in[] = {row};
  negate(i, plan->minus, in);
  aj_view_fill(plan->divisors, AJ_DOT_TILE, row + i * bytes, bytes);
  for (size_t j = 0, width; j < columns; j += width) {
    width = columns - j < AJ_DOT_TILE ? columns - j : AJ_DOT_TILE;
    char *out = x + (i * columns + j) * bytes;
    for (size_t at = 0, piece; at < i; at += piece) {
      piece = i - at < PIECE ? i - at : PIECE;
      loops->dot_chains[plan->dtype](piece, width, out, plan->minus + at * bytes, x + (at * columns + j) * bytes,
                                     columns, true);
      if (aj_poller_stops(&plan->poller, (int64_t)((piece + 4) * width / 8))) return false;
    }
    const void *both[] = {out, plan->divisors};
    if (!plan->unit) divide(width, out, both);
    if (aj_poller_stops(&plan->poller, (int64_t)width)) return false;
  }
  return true;
}

static bool solve_all(solve_plan *plan, int64_t count) {
  const char *a = plan->call->in[0].data, *b = plan->call->in[1].data;
  char *x = plan->call->out->data;
  size_t row = plan->columns * plan->bytes;
  for (int64_t k = 0; k < count; k++) {
    for (size_t i = 0; i < plan->rows; i++, b += row) {
      memcpy(x + i * row, b, row);
      if (!solve_row(plan, a, x, i)) return false;
    }
    a += plan->rows * plan->rows * plan->bytes;
    x += plan->rows * row;
  }
  return true;
}

aj_sem_status aj_routine_solve_lower(const aj_sem_call *call) {
  const aj_view *b = &call->in[1];
  if (aj_view_count(b) == 0) return AJ_SEM_OK;
  solve_plan plan = {.call = call,
                     .dtype = b->dtype,
                     .bytes = aj_dtypes[b->dtype].bytes,
                     .rows = (size_t)b->dims[b->rank - 2],
                     .columns = (size_t)b->dims[b->rank - 1],
                     .unit = aj_node_int(call->node, AJ_ATTR_UNIT) != 0,
                     .poller = aj_routine_poller(call)};
  size_t memory = (plan.rows + AJ_DOT_TILE) * plan.bytes;
  plan.minus = aj_mem_raw(call->mem, memory);
  if (plan.minus == NULL) return AJ_SEM_MEMORY;
  plan.divisors = plan.minus + plan.rows * plan.bytes;
  bool ok = solve_all(&plan, aj_routine_extent(b, 0, b->rank - 2));
  aj_mem_free(call->mem, plan.minus, memory);
  return ok ? AJ_SEM_OK : AJ_SEM_STOPPED;
}
