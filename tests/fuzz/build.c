/* From recipe to function: parameters, then step by step, then the results. */
#include <stdlib.h>

#include "builder.h"

static void note_extents(subject *s, const arrjit_type *type) {
  for (int32_t i = 0; i < type->rank; i++) {
    s->has_zero = s->has_zero || type->dims[i] == 0;
    s->has_one = s->has_one || type->dims[i] == 1;
    s->has_odd = s->has_odd || (type->dims[i] > 1 && type->dims[i] % 2);
  }
}

/* Parameters, some of them with extents that only arguments tell: n and m. */
static void add_params(builder *b, arrjit_context *context, const recipe *r) {
  const int64_t symbols[] = {arrjit_symbol(b->g, "n"), arrjit_symbol(b->g, "m")};
  int64_t extents[] = {(int64_t)tk_below(&b->pick, 10), (int64_t)tk_below(&b->pick, 5)};
  if (tk_chance(&b->pick, 50)) extents[1] = extents[0];
  for (size_t i = 0; i < r->param_count; i++) {
    arrjit_type type = tk_random_type((arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1)), &b->pick), actual;
    actual = type;
    for (int32_t k = 0; k < type.rank; k++) {
      size_t which = tk_below(&b->pick, 7);
      if (which < TK_COUNT(symbols)) type.dims[k] = symbols[which], actual.dims[k] = extents[which];
    }
    keep_value(b, arrjit_param(b->g, "", &type));
    note_extents(b->s, &actual);
    host_add_input(context, b->s, &actual, &b->pick);
  }
}

static void build_step(builder *b, const step *s) {
  bool dead = b->skipped || (b->open_count && b->open[b->open_count - 1].dead);
  switch (s->kind) {
  case STEP_IF:
  case STEP_SWITCH:
  case STEP_WHILE:
  case STEP_FOR:
  case STEP_TRY:
  case STEP_MAP: begin_construct(b, s->kind); return;
  case STEP_NEXT: next_part(b); return;
  case STEP_END: end_construct(b); return;
  case STEP_OP:
    if (!dead) build_op_step(b, s->op);
    return;
  case STEP_CONST: {
    arrjit_type type = random_type(b, (arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1)));
    if (!dead) keep_value(b, constant_of(b, &type, TK_DATA, 0));
    return;
  }
  case STEP_RAISE: build_raise(b); return;
  case STEP_CHECK:
    if (!dead) build_check(b);
    return;
  case STEP_CALLBACK:
    if (!dead) build_callback(b);
    return;
  case STEP_EXN:
    if (!dead) build_exn(b);
    return;
  case STEP_EXN_LOOK:
    if (!dead) look_at_exn(b);
    return;
  case STEP_CATCH:
    if (!dead) build_catch(b);
    return;
  case STEP_FUNC:
    if (!dead) build_func(b);
    return;
  case STEP_CHAIN:
    if (!dead) build_chain(b);
    return;
  case STEP_CALL:
    if (!dead && !b->in_map) build_call(b);
    return;
  }
}

static void add_results(builder *b, const recipe *r) {
  arrjit_value results[6];
  size_t count = 0;
  for (size_t i = b->value_count; i-- > 0 && count < TK_COUNT(results);) {
    note_extents(b->s, &(arrjit_type[]){arrjit_value_type(b->values[i])}[0]);
    results[count++] = b->values[i];
  }
  b->s->output_count = count;
  if (r->only_output >= 0 && (size_t)r->only_output < count) {
    results[0] = results[r->only_output];
    count = 1;
  }
  arrjit_return(b->g, count, results, NULL);
}

void subject_build(arrjit_context *context, const fuzz_kinds *kinds, const recipe *r, subject *out) {
  *out = (subject){0};
  builder *b = tk_new(1, sizeof *b);
  b->kinds = kinds;
  b->s = out;
  b->pick.state = r->seed;
  if (arrjit_graph_create(context, &b->g, &out->error) != ARRJIT_OK) tk_die("no graph: %s", out->error.message);
  add_params(b, context, r);
  for (size_t i = 0; i < r->step_count && arrjit_graph_error(b->g, NULL) == ARRJIT_OK; i++) {
    b->pick.state = r->steps[i].seed;
    build_step(b, &r->steps[i]);
  }
  b->pick.state = r->seed + 1;
  b->skipped = 0;
  if (arrjit_graph_error(b->g, NULL) == ARRJIT_OK) { /* else its values have no types to go by */
    while (b->open_count) end_construct(b);
    add_results(b, r);
  }
  arrjit_status status = arrjit_graph_finish(b->g, &out->function, &out->error);
  if (status != ARRJIT_OK) out->function = NULL;
  arrjit_graph_destroy(b->g);
  free(b);
}
