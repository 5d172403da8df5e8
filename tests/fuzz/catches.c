/* Whole tries whose bodies fail in ways that are foreseen where code is made, and whose handlers ask what it was, raise
 * again, hand on, or yield the exception: around one another, in loops or not. */
#include "builder.h"

enum { MOST_NESTED = 3 };

static arrjit_value scalar(builder *b, arrjit_dtype dtype) { return value_of(b, &(arrjit_type){.dtype = dtype}); }

static arrjit_dtype any_dtype(builder *b) { return (arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1)); }

/* A payload of scalars, or now and then of anything. */
static size_t some_payload(builder *b, arrjit_value *out) {
  size_t count = tk_below(&b->pick, 3);
  for (size_t i = 0; i < count; i++) out[i] = tk_chance(&b->pick, 85) ? scalar(b, any_dtype(b)) : any_value(b);
  return count;
}

/* Raises in an arm of an `if`, so that the other way is open. */
static void raise_sometimes(builder *b) {
  arrjit_value payload[2];
  size_t count = some_payload(b, payload);
  int64_t code = (int64_t)tk_below(&b->pick, 9);
  arrjit_value made = arrjit_exn_new(b->g, any_kind(b), code, any_message(b, count), count, payload);
  bool outside = tk_chance(&b->pick, 30), plain = tk_chance(&b->pick, 50);
  arrjit_if_begin(b->g, scalar(b, ARRJIT_BOOL));
  if (plain) {
    arrjit_raise(b->g, any_kind(b), code, any_message(b, count), count, payload);
  } else {
    if (b->exn_count && tk_chance(&b->pick, 40))
      made = any_exn(b);
    else if (!outside)
      made = arrjit_exn_new(b->g, any_kind(b), code, any_message(b, count), count, payload);
    arrjit_raise_exn(b->g, made);
  }
  arrjit_if_else(b->g, 0, NULL);
  arrjit_if_end(b->g, 0, NULL, NULL);
}

static arrjit_value build_tries(builder *b, arrjit_dtype dtype, int depth);

/* What the body does, once or twice; its value. */
static arrjit_value build_body(builder *b, arrjit_dtype dtype, int depth) {
  arrjit_value x = scalar(b, dtype);
  for (size_t times = 1 + tk_below(&b->pick, 2); times-- > 0;) {
    switch (tk_below(&b->pick, 6)) {
    case 0: build_check(b); break;
    case 1:
      if (AJ_D_INT >> dtype & 1) x = arrjit_checked_div(b->g, x, scalar(b, dtype));
      break;
    case 2: build_callback(b); break;
    case 3:
      if (depth < MOST_NESTED) x = build_tries(b, dtype, depth + 1);
      break;
    default: raise_sometimes(b); break;
    }
  }
  return x;
}

/* A number made of all that the exception is asked for. */
static arrjit_value ask(builder *b, arrjit_value exn, arrjit_dtype dtype) {
  arrjit_type type = {.dtype = tk_chance(&b->pick, 60) ? dtype : any_dtype(b)};
  arrjit_value there, field = arrjit_exn_field(b->g, exn, (int64_t)tk_below(&b->pick, 3), &type, &there);
  keep_value(b, field);
  keep_value(b, there);
  keep_value(b, arrjit_exn_code(b->g, exn));
  if (tk_chance(&b->pick, 50)) keep_value(b, arrjit_exn_is(b->g, exn, any_kind(b)));
  if (tk_chance(&b->pick, 30)) keep_value(b, arrjit_exn_site(b->g, exn));
  return type.dtype == dtype ? field : scalar(b, dtype);
}

/* In an arm: again, from another, or another. */
static void hand_on(builder *b, arrjit_value exn) {
  arrjit_value payload[2];
  size_t count = some_payload(b, payload);
  note(b, HANDED_ON);
  arrjit_if_begin(b->g, scalar(b, ARRJIT_BOOL));
  arrjit_value made = arrjit_exn_new(b->g, any_kind(b), 1, any_message(b, count), count, payload);
  switch (tk_below(&b->pick, 5)) {
  case 4: arrjit_raise_exn(b->g, any_exn(b)); break;
  case 0: arrjit_raise_exn(b->g, exn); break;
  case 1: arrjit_raise_from(b->g, made, exn); break;
  case 2: arrjit_raise_from(b->g, exn, made); break;
  default: arrjit_raise(b->g, any_kind(b), 2, any_message(b, count), count, payload); break;
  }
  arrjit_if_else(b->g, 0, NULL);
  arrjit_if_end(b->g, 0, NULL, NULL);
}

static arrjit_value build_handler(builder *b, arrjit_value exn, arrjit_dtype dtype, int depth) {
  arrjit_value answer = scalar(b, dtype);
  if (tk_chance(&b->pick, 80)) answer = ask(b, exn, dtype);
  if (tk_chance(&b->pick, depth ? 40 : 60)) hand_on(b, exn); /* out of the function, or to a try around */
  if (tk_chance(&b->pick, 15)) build_callback(b);
  return answer;
}

/* Values of a part are seen in that part only. */
static void forget(builder *b, size_t values, size_t exns) {
  b->value_count = values;
  b->exn_count = exns;
}

static arrjit_value build_tries(builder *b, arrjit_dtype dtype, int depth) {
  size_t values = b->value_count, exns = b->exn_count;
  arrjit_value exn, out;
  arrjit_try_begin(b->g);
  arrjit_value part = build_body(b, dtype, depth);
  for (size_t handlers = 1 + tk_below(&b->pick, 2); handlers-- > 0;) {
    forget(b, values, exns);
    arrjit_kind kind = tk_chance(&b->pick, 50) ? ARRJIT_KIND_ERROR : any_kind(b);
    arrjit_try_handler(b->g, 1, &part, kind, &exn);
    part = build_handler(b, exn, dtype, depth);
  }
  forget(b, values, exns);
  bool last = tk_chance(&b->pick, 15);
  if (last) {
    note(b, WITH_FINALLY);
    arrjit_try_finally(b->g, 1, &part);
    if (tk_chance(&b->pick, 50)) build_callback(b);
    if (tk_chance(&b->pick, 20)) build_check(b);
    forget(b, values, exns);
  }
  arrjit_try_end(b->g, !last, &part, &out);
  if (depth) note(b, NESTED_TRY);
  return out;
}

static void raise_if(builder *b, arrjit_value exn) {
  arrjit_if_begin(b->g, scalar(b, ARRJIT_BOOL));
  arrjit_raise_exn(b->g, exn);
  arrjit_if_else(b->g, 0, NULL);
  arrjit_if_end(b->g, 0, NULL, NULL);
}

/* Two exceptions that are equal and not the same: while one is handled, it or the other is raised. */
static void build_twins(builder *b) {
  arrjit_value payload[2], twins[2], exn;
  size_t count = some_payload(b, payload);
  arrjit_kind kind = any_kind(b);
  for (int i = 0; i < 2; i++) twins[i] = arrjit_exn_new(b->g, kind, 7, "twin", count, payload);
  arrjit_try_begin(b->g);
  raise_if(b, twins[0]);
  arrjit_try_handler(b->g, 0, NULL, kind, &exn);
  raise_if(b, twins[tk_below(&b->pick, 2)]);
  arrjit_try_end(b->g, 0, NULL, NULL);
}

void build_catch(builder *b) {
  arrjit_dtype dtype = any_dtype(b);
  note(b, CATCH_IN_PLACE);
  if (tk_chance(&b->pick, 15)) build_twins(b);
  if (tk_chance(&b->pick, 50)) {
    keep_value(b, build_tries(b, dtype, 0));
    return;
  }
  size_t values = b->value_count, exns = b->exn_count;
  arrjit_value init = scalar(b, dtype), zero = arrjit_const_i64(b->g, 0), one = arrjit_const_i64(b->g, 1), index, var,
               out;
  arrjit_for_begin(b->g, zero, arrjit_const_i64(b->g, (int64_t)tk_below(&b->pick, 6)), one, 1, &init, &index, &var);
  keep_value(b, index);
  keep_value(b, var);
  keep_value(b, arrjit_lt(b->g, index, arrjit_const_i64(b->g, (int64_t)tk_below(&b->pick, 4))));
  arrjit_value next = build_tries(b, dtype, 0);
  arrjit_for_end(b->g, 1, &next, &out);
  forget(b, values, exns);
  keep_value(b, out);
}
