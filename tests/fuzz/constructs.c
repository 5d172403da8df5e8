/* if, switch, while, for, try, map of random functions: beginning, going to the next part, ending. */
#include <stdlib.h>
#include <string.h>

#include "builder.h"

static open_construct *innermost(builder *b) { return b->open_count ? &b->open[b->open_count - 1] : NULL; }

static arrjit_value scalar_bool(builder *b) { return value_of(b, &(arrjit_type){.dtype = ARRJIT_BOOL}); }
static arrjit_value integer(builder *b, int64_t value) { return arrjit_const_i64(b->g, value); }

/* Values of the construct's types; none when the part has raised. */
static size_t yield(builder *b, open_construct *c, arrjit_value *out) {
  if (c->dead) return 0;
  for (size_t i = 0; i < c->count; i++) out[i] = value_of(b, &c->types[i]);
  c->alive = true;
  return c->count;
}

/* A new part sees what was there when the construct began. */
static void start_part(builder *b, open_construct *c) {
  b->value_count = c->value_mark;
  b->exn_count = c->exn_mark;
  c->dead = false;
  c->part++;
}

static void keep_all(builder *b, const arrjit_value *values, size_t count) {
  for (size_t i = 0; i < count; i++) keep_any(b, values[i]);
}

static void begin_while(builder *b, open_construct *c) {
  arrjit_value init[MAX_RESULTS + 1], vars[MAX_RESULTS + 1];
  init[0] = integer(b, 0);
  for (size_t i = 0; i < c->count; i++) init[i + 1] = value_of(b, &c->types[i]);
  arrjit_while_begin(b->g, c->count + 1, init, vars);
  c->counter = vars[0];
  c->bound = (int64_t)tk_below(&b->pick, 5);
  keep_all(b, vars, c->count + 1);
}

/* A bound that differs between the lanes of a map: up to three more. */
static arrjit_value bound_of(builder *b, int64_t least) {
  arrjit_value bound = integer(b, least);
  if (!b->in_map || tk_chance(&b->pick, 40)) return bound;
  arrjit_value more = value_of(b, &(arrjit_type){.dtype = ARRJIT_I64});
  return arrjit_add(b->g, bound, arrjit_and(b->g, more, integer(b, 3)));
}

static void begin_for(builder *b, open_construct *c) {
  arrjit_value init[MAX_RESULTS], vars[MAX_RESULTS], index;
  int64_t lo = (int64_t)tk_below(&b->pick, 5) - 2, trips = (int64_t)tk_below(&b->pick, 5);
  int64_t by = tk_chance(&b->pick, 70) ? 1 : tk_chance(&b->pick, 95) ? (int64_t)tk_below(&b->pick, 6) - 3 : 0;
  if (by == 0 && tk_chance(&b->pick, 80)) by = 2;
  for (size_t i = 0; i < c->count; i++) init[i] = value_of(b, &c->types[i]);
  arrjit_value hi = bound_of(b, by < 0 ? lo - trips : lo + trips);
  arrjit_for_begin(b->g, tk_chance(&b->pick, 80) ? integer(b, lo) : bound_of(b, lo - 1), hi, integer(b, by), c->count,
                   init, &index, vars);
  keep_value(b, index);
  keep_all(b, vars, c->count);
}

/* What is seen around a map, while inside only scalars are. */
struct outer_values {
  size_t value_count, exn_count;
  arrjit_value values[MAX_VALUES], exns[MAX_EXNS];
};

static void hide_outer(builder *b, open_construct *c) {
  c->outer = tk_new(1, sizeof *c->outer);
  c->outer->value_count = b->value_count, c->outer->exn_count = b->exn_count;
  memcpy(c->outer->values, b->values, sizeof b->values);
  memcpy(c->outer->exns, b->exns, sizeof b->exns);
  b->value_count = b->exn_count = 0;
  for (size_t i = 0; i < c->outer->value_count; i++)
    if (arrjit_value_type(c->outer->values[i]).rank == 0) b->values[b->value_count++] = c->outer->values[i];
}

static void show_outer(builder *b, open_construct *c) {
  b->value_count = c->outer->value_count, b->exn_count = c->outer->exn_count;
  memcpy(b->values, c->outer->values, sizeof b->values);
  memcpy(b->exns, c->outer->exns, sizeof b->exns);
  free(c->outer);
  b->in_map = false;
}

/* One to three arguments: any value, and others of its shape, or scalars. */
static void begin_map(builder *b, open_construct *c) {
  arrjit_value args[3], lanes[3];
  size_t count = 1 + tk_below(&b->pick, 3);
  args[0] = any_value(b);
  for (size_t i = 1; i < count; i++) {
    arrjit_type type = arrjit_value_type(args[0]);
    type.dtype = (arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1));
    if (tk_chance(&b->pick, 20)) type.rank = 0;
    args[i] = value_of(b, &type);
  }
  arrjit_map_begin(b->g, count, args, lanes);
  hide_outer(b, c);
  b->in_map = true;
  keep_all(b, lanes, count);
  for (size_t i = 0; i < c->count; i++) c->types[i] = arrjit_value_type(any_value(b));
}

void begin_construct(builder *b, step_kind kind) {
  open_construct *top = innermost(b);
  if ((top && top->dead) || b->skipped || b->open_count == MAX_OPEN) {
    b->skipped++;
    return;
  }
  if (kind == STEP_MAP && b->in_map) kind = STEP_IF;
  open_construct *c = &b->open[b->open_count];
  *c = (open_construct){.kind = kind, .value_mark = b->value_count, .exn_mark = b->exn_count};
  c->count = tk_below(&b->pick, MAX_RESULTS + 1);
  for (size_t i = 0; i < c->count; i++) {
    c->types[i] = arrjit_value_type(any_value(b));
    if (!tk_chance(&b->pick, 8)) continue;
    c->types[i] = (arrjit_type){.dtype = ARRJIT_BOOL, .rank = -1};
    note(b, kind == STEP_WHILE || kind == STEP_FOR ? EXN_THROUGH_LOOP : EXN_THROUGH_ARMS);
  }
  for (int i = 0; kind == STEP_TRY && i < b->open_count; i++)
    if (b->open[i].kind == STEP_TRY) note(b, NESTED_TRY);
  if (kind == STEP_IF) arrjit_if_begin(b->g, scalar_bool(b));
  if (kind == STEP_SWITCH) {
    arrjit_value index = tk_chance(&b->pick, 60) ? integer(b, (int64_t)tk_below(&b->pick, 4) - 1)
                                                 : value_of(b, &(arrjit_type){.dtype = ARRJIT_I64});
    arrjit_switch_begin(b->g, index);
  }
  if (kind == STEP_WHILE) begin_while(b, c);
  if (kind == STEP_FOR) begin_for(b, c);
  if (kind == STEP_TRY) arrjit_try_begin(b->g);
  if (kind == STEP_MAP) begin_map(b, c);
  b->open_count++;
}

static void start_while_body(builder *b, open_construct *c) {
  arrjit_value vars[MAX_RESULTS + 1], pred = arrjit_lt(b->g, c->counter, bound_of(b, c->bound));
  if (tk_chance(&b->pick, 25)) pred = arrjit_and(b->g, pred, scalar_bool(b));
  arrjit_while_body(b->g, pred, vars);
  start_part(b, c);
  c->counter = vars[0];
  keep_all(b, vars, c->count + 1);
}

/* The kinds that handlers take: mostly wide ones, so that something is caught. */
static arrjit_kind caught_kind(builder *b) { return tk_chance(&b->pick, 60) ? ARRJIT_KIND_ERROR : any_kind(b); }

static void start_handler(builder *b, open_construct *c, arrjit_kind kind) {
  arrjit_value values[MAX_RESULTS], exn;
  size_t count = yield(b, c, values);
  if (kind != ARRJIT_KIND_ERROR) note(b, HANDLER_BY_KIND);
  arrjit_try_handler(b->g, count, values, kind, &exn);
  start_part(b, c);
  keep_exn(b, exn);
}

static void start_finally(builder *b, open_construct *c) {
  arrjit_value values[MAX_RESULTS];
  size_t count = yield(b, c, values);
  note(b, WITH_FINALLY);
  arrjit_try_finally(b->g, count, values);
  start_part(b, c);
  c->last = true;
}

void next_part(builder *b) {
  open_construct *c = innermost(b);
  if (b->skipped || !c || c->last) return;
  arrjit_value values[MAX_RESULTS];
  if (c->kind == STEP_IF && c->part == 0) {
    size_t count = yield(b, c, values);
    arrjit_if_else(b->g, count, values);
    start_part(b, c);
  } else if (c->kind == STEP_SWITCH) {
    size_t count = yield(b, c, values);
    arrjit_switch_case(b->g, count, values);
    start_part(b, c);
  } else if (c->kind == STEP_WHILE && c->part == 0) {
    start_while_body(b, c);
  } else if (c->kind == STEP_TRY) {
    /* a finally needs a part before it that yields, to have types */
    if (tk_chance(&b->pick, 70) || (c->dead && !c->alive)) {
      start_handler(b, c, caught_kind(b));
    } else {
      start_finally(b, c);
    }
  }
}

/* What must be there before a construct can end: an else, a body, a handler, a part that does not raise. */
static void complete(builder *b, open_construct *c) {
  if ((c->kind == STEP_IF || c->kind == STEP_WHILE) && c->part == 0) next_part(b);
  if (c->kind == STEP_TRY && !c->last && (c->part == 0 || (c->dead && !c->alive))) start_handler(b, c, caught_kind(b));
  if (c->kind == STEP_SWITCH && c->dead && !c->alive) next_part(b);
}

void end_construct(builder *b) {
  arrjit_value values[MAX_RESULTS + 1], out[MAX_RESULTS + 1];
  open_construct *c = innermost(b);
  if (b->skipped || !c) {
    b->skipped -= b->skipped > 0;
    return;
  }
  complete(b, c);
  bool loop = c->kind == STEP_WHILE;
  if (loop && !c->dead) values[0] = arrjit_add(b->g, c->counter, integer(b, 1));
  size_t count = c->last ? 0 : yield(b, c, values + loop);
  if (loop && !c->dead) count++;
  if (c->kind == STEP_IF) arrjit_if_end(b->g, count, values, out);
  if (c->kind == STEP_SWITCH) arrjit_switch_end(b->g, count, values, out);
  if (c->kind == STEP_WHILE) arrjit_while_end(b->g, count, values, out);
  if (c->kind == STEP_FOR) arrjit_for_end(b->g, count, values, out);
  if (c->kind == STEP_TRY) arrjit_try_end(b->g, count, values, out);
  if (c->kind == STEP_MAP) arrjit_map_end(b->g, count, values, out), show_outer(b, c);
  b->value_count = c->value_mark;
  b->exn_count = c->exn_mark;
  b->open_count--;
  keep_all(b, out, c->count + loop);
}

bool may_raise(const builder *b) {
  if (!b->open_count || b->skipped) return false;
  const open_construct *c = &b->open[b->open_count - 1];
  if (c->dead || c->kind == STEP_MAP) return false; /* a map that never yields has no results */
  if (c->kind == STEP_WHILE) return c->part == 1;
  if (c->kind == STEP_FOR) return true;
  return c->part == 0 || c->alive;
}
