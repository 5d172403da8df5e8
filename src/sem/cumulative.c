/* cumsum and its kin, and cumulative with the host's combiner: the order of README.md. Along the last axis groups of
 * elements become inclusive prefixes by doubling strides, and a carry joins them from the left; along another axis
 * whole rows are combined one by one. Reversed, the same over the elements the other way round. */
#include "sem/combiner.h"
#include "sem/program.h"

#include <string.h>

enum { TILE = 512 };

typedef struct scan_plan {
  const aj_sem_call *call;
  uint32_t count;
  aj_loop *loop; /* one op; NULL: the combiner of the host, which has no identity */
  char identity[8];
  aj_combiner combiner;
  uint8_t bytes[AJ_COMBINE_ARGS];
  int64_t rows, extent, inner; /* dims before the axis, of it, after it */
  bool reverse;
  size_t lanes;                /* of the records that follow */
  char *group, *carry, *spare; /* records */
  int64_t weight;              /* of an element, for polls */
  aj_poller poller;
} scan_plan;

static char *value_at(const scan_plan *plan, char *record, uint32_t i, size_t lane) {
  return record + aj_record_bytes(i, plan->lanes) + lane * plan->bytes[i];
}

/* n lanes of newer = older combined with newer; pointers by value. */
static void join(scan_plan *plan, size_t n, char **older, char **newer) {
  if (plan->loop == NULL) {
    aj_combiner_run(&plan->combiner, n, newer, (const char *const *)older, (const char *const *)newer);
    return;
  }
  const void *in[] = {older[0], newer[0]};
  (void)plan->loop(n, plan->spare, in); /* what is older may overlap what is newer */
  memcpy(newer[0], plan->spare, n * plan->bytes[0]);
}

static void join_at(scan_plan *plan, size_t n, char *older, size_t older_lane, char *newer, size_t newer_lane) {
  char *from[AJ_COMBINE_ARGS], *to[AJ_COMBINE_ARGS];
  for (uint32_t i = 0; i < plan->count; i++) {
    from[i] = value_at(plan, older, i, older_lane);
    to[i] = value_at(plan, newer, i, newer_lane);
  }
  join(plan, n, from, to);
}

static bool poll(scan_plan *plan, int64_t elements) {
  return aj_poller_stops(&plan->poller, (elements + 8) * plan->weight);
}

/* ---- along the last axis ---- */

/* n elements of a row from place `at` on, in the order of the scan, between an array and a record. */
static void move_group(scan_plan *plan, const aj_view *views, int64_t row, int64_t at, size_t n, bool out) {
  for (uint32_t i = 0; i < plan->count; i++) {
    size_t bytes = plan->bytes[i];
    char *record = value_at(plan, plan->group, i, 0);
    char *elements = views[i].data + (size_t)(row * plan->extent) * bytes;
    for (size_t k = 0; k < n; k++) {
      int64_t place = plan->reverse ? plan->extent - 1 - at - (int64_t)k : at + (int64_t)k;
      char *element = elements + (size_t)place * bytes;
      memcpy(out ? element : record + k * bytes, out ? record + k * bytes : element, bytes);
    }
  }
}

/* The carry in every lane. */
static void set_carry(scan_plan *plan, const char *element, uint32_t i) {
  aj_view_fill(value_at(plan, plan->carry, i, 0), (int64_t)plan->lanes, element, plan->bytes[i]);
}

static bool scan_row(scan_plan *plan, int64_t row) {
  bool carries = plan->loop != NULL;
  if (carries) set_carry(plan, plan->identity, 0);
  for (int64_t at = 0; at < plan->extent; at += (int64_t)plan->lanes) {
    size_t n = plan->extent - at < (int64_t)plan->lanes ? (size_t)(plan->extent - at) : plan->lanes;
    move_group(plan, plan->call->in, row, at, n, false);
    for (size_t stride = 1; stride < n; stride *= 2) join_at(plan, n - stride, plan->group, 0, plan->group, stride);
    if (carries) join_at(plan, n, plan->carry, 0, plan->group, 0);
    for (uint32_t i = 0; i < plan->count; i++) set_carry(plan, value_at(plan, plan->group, i, n - 1), i);
    carries = true;
    move_group(plan, plan->call->out, row, at, n, true);
    if (poll(plan, 6 * (int64_t)n)) return false;
  }
  return true;
}

/* ---- along another axis ---- */

/* `n` neighbouring columns from `column` on: each row joins the one before. */
static bool scan_columns(scan_plan *plan, int64_t block, int64_t column, size_t n) {
  char *older[AJ_COMBINE_ARGS], *newer[AJ_COMBINE_ARGS];
  for (int64_t k = 0; k < plan->extent; k++) {
    int64_t row = block * plan->extent + (plan->reverse ? plan->extent - 1 - k : k);
    size_t element = (size_t)(row * plan->inner + column);
    for (uint32_t i = 0; i < plan->count; i++) {
      newer[i] = plan->call->out[i].data + element * plan->bytes[i];
      memcpy(newer[i], plan->call->in[i].data + element * plan->bytes[i], n * plan->bytes[i]);
      if (k == 0) older[i] = value_at(plan, plan->carry, i, 0);
    }
    if (k > 0 || plan->loop != NULL) join(plan, n, older, newer);
    memcpy(older, newer, sizeof older);
    if (poll(plan, (int64_t)n)) return false;
  }
  return true;
}

static bool scan_tiles(scan_plan *plan) {
  if (plan->loop != NULL) set_carry(plan, plan->identity, 0);
  for (int64_t block = 0; block < plan->rows; block++)
    for (int64_t column = 0; column < plan->inner; column += (int64_t)plan->lanes) {
      int64_t left = plan->inner - column;
      size_t n = left < (int64_t)plan->lanes ? (size_t)left : plan->lanes;
      if (!scan_columns(plan, block, column, n)) return false;
    }
  return true;
}

static bool scan_rows(scan_plan *plan) {
  for (int64_t row = 0; row < plan->rows; row++)
    if (!scan_row(plan, row)) return false;
  return true;
}

/* ---- all of it ---- */

static aj_sem_status scan(scan_plan *plan) {
  const aj_view *x = plan->call->in;
  int32_t axis = (int32_t)aj_node_int(plan->call->node, AJ_ATTR_AXIS);
  bool last = axis == x->rank - 1;
  plan->reverse = aj_node_int(plan->call->node, AJ_ATTR_REVERSE) != 0;
  plan->poller = aj_routine_poller(plan->call);
  plan->rows = aj_routine_extent(x, 0, axis);
  plan->extent = x->dims[axis];
  plan->inner = aj_routine_extent(x, axis + 1, x->rank);
  plan->lanes = last ? aj_scan_group(x->dtype) : plan->inner < TILE ? (size_t)plan->inner : TILE;
  for (uint32_t i = 0; i < plan->count; i++) plan->bytes[i] = aj_dtypes[plan->call->in[i].dtype].bytes;
  if (plan->loop == NULL && !aj_combiner_open(&plan->combiner, plan->call, 0, plan->count, plan->lanes))
    return AJ_SEM_MEMORY;
  plan->weight = plan->loop != NULL ? 1 : (plan->combiner.program->step_count + 7) / 8;
  size_t record = aj_record_bytes(plan->count, plan->lanes);
  plan->group = aj_mem_raw(plan->call->mem, 3 * record);
  aj_sem_status status = AJ_SEM_MEMORY;
  if (plan->group != NULL) {
    plan->carry = plan->group + record;
    plan->spare = plan->carry + record;
    bool done = last ? scan_rows(plan) : scan_tiles(plan);
    status = done ? AJ_SEM_OK : AJ_SEM_STOPPED;
  }
  aj_mem_free(plan->call->mem, plan->group, 3 * record);
  if (plan->loop == NULL) aj_combiner_close(&plan->combiner);
  return status;
}

static aj_sem_status scan_by_op(const aj_sem_call *call, aj_op op, aj_op reduction) {
  int64_t start = 0, empty = 0;
  arrjit_dtype dtype = call->in->dtype;
  if (aj_view_count(call->in) == 0) return AJ_SEM_OK;
  scan_plan plan = {.call = call, .count = 1, .loop = aj_sem_loop(op, dtype, dtype)};
  aj_reduce_identity(reduction, dtype, &start, &empty);
  memcpy(plan.identity, &start, sizeof start);
  return scan(&plan);
}

aj_sem_status aj_routine_cumsum(const aj_sem_call *call) { return scan_by_op(call, AJ_OP_ADD, AJ_OP_REDUCE_SUM); }
aj_sem_status aj_routine_cumprod(const aj_sem_call *call) { return scan_by_op(call, AJ_OP_MUL, AJ_OP_REDUCE_PROD); }
aj_sem_status aj_routine_cummin(const aj_sem_call *call) { return scan_by_op(call, AJ_OP_MIN, AJ_OP_REDUCE_MIN); }
aj_sem_status aj_routine_cummax(const aj_sem_call *call) { return scan_by_op(call, AJ_OP_MAX, AJ_OP_REDUCE_MAX); }

aj_sem_status aj_routine_cumulative(const aj_sem_call *call) {
  if (aj_view_count(call->in) == 0) return AJ_SEM_OK;
  scan_plan plan = {.call = call, .count = (uint32_t)aj_node_int(call->node, AJ_ATTR_ARGS)};
  return scan(&plan);
}
