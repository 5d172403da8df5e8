/* Failures, exceptions as values, callbacks and calls of random functions. */
#include <stdlib.h>
#include <string.h>

#include "builder.h"

arrjit_kind any_kind(builder *b) {
  uint64_t n = tk_below(&b->pick, FUZZ_KINDS + 2);
  return n < FUZZ_KINDS ? b->kinds->all[n] : n == FUZZ_KINDS ? ARRJIT_KIND_ARITH : ARRJIT_KIND_CALLBACK;
}

const char *any_message(builder *b, size_t payload_count) {
  static const char *const messages[] = {NULL, "failed", "failed with {0}", "{1} after {0}"};
  return messages[tk_below(&b->pick, 2 + payload_count)];
}

/* Up to two values of any type. */
static size_t some_values(builder *b, arrjit_value *out) {
  size_t count = tk_below(&b->pick, 3);
  for (size_t i = 0; i < count; i++) out[i] = any_value(b);
  return count;
}

void build_raise(builder *b) {
  arrjit_value payload[2];
  if (!may_raise(b)) return;
  if (b->exn_count && tk_chance(&b->pick, 40)) {
    arrjit_value exn = b->exns[tk_below(&b->pick, b->exn_count)], cause = b->exns[tk_below(&b->pick, b->exn_count)];
    if (tk_chance(&b->pick, 40)) {
      note(b, RAISE_FROM);
      arrjit_raise_from(b->g, exn, cause);
    } else {
      note(b, RAISE_AGAIN);
      arrjit_raise_exn(b->g, exn);
    }
  } else {
    size_t count = some_values(b, payload);
    arrjit_raise(b->g, any_kind(b), (int64_t)tk_below(&b->pick, 9), any_message(b, count), count, payload);
  }
  b->open[b->open_count - 1].dead = true;
}

/* Mostly a predicate that holds, though nothing but running tells. */
static arrjit_value predicate(builder *b) {
  for (int tries = 0; tries < 8; tries++) {
    arrjit_value x = any_value(b);
    arrjit_type type = arrjit_value_type(x);
    if (type.dtype == ARRJIT_BOOL && tk_chance(&b->pick, 40)) return x;
    if (AJ_D_INT >> type.dtype & 1) {
      double width = (double)aj_dtypes[type.dtype].bits;
      return arrjit_le(b->g, arrjit_popcount(b->g, x), arrjit_const_like(b->g, x, width - tk_chance(&b->pick, 15)));
    }
  }
  return value_of(b, &(arrjit_type){.dtype = ARRJIT_BOOL});
}

void build_check(builder *b) {
  arrjit_value payload[2], values[2], out[2], pred = predicate(b);
  size_t payload_count = some_values(b, payload), count = some_values(b, values);
  for (size_t i = 0; i < payload_count && arrjit_value_type(pred).rank > 0; i++)
    if (arrjit_value_type(payload[i]).rank > 0) note(b, ARRAY_PAYLOAD);
  arrjit_check(b->g, pred, any_kind(b), (int64_t)tk_below(&b->pick, 9), any_message(b, payload_count), payload_count,
               payload, count, values, out);
  for (size_t i = 0; i < count; i++) keep_value(b, out[i]);
}

/* A dim of an array that the callback decides on. */
static void make_dynamic(builder *b, arrjit_type *type) {
  if (type->rank > 0 && tk_chance(&b->pick, 40))
    type->dims[tk_below(&b->pick, (uint64_t)type->rank)] = ARRJIT_DYNAMIC_DIM;
}

/* A slot of up to two arguments, whose types are those of values that are there. */
static struct made_slot *make_slot(builder *b) {
  struct made_slot *m = &b->slots[b->made_slots];
  char name[8];
  snprintf(name, sizeof name, "s%zu", b->made_slots);
  *m = (struct made_slot){0};
  for (size_t want = tk_below(&b->pick, 3); m->arg_count < want; m->arg_count++) {
    m->args[m->arg_count] = arrjit_value_type(any_value(b));
    if (is_symbolic(&m->args[m->arg_count])) m->args[m->arg_count].rank = 0;
  }
  bool value = tk_chance(&b->pick, 50), optional = !value && tk_chance(&b->pick, 20);
  if (value) {
    m->result_count = 1 + tk_below(&b->pick, 2);
    for (size_t i = 0; i < m->result_count; i++)
      m->results[i] = tk_random_type((arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1)), &b->pick);
    for (size_t i = 0; i < m->result_count; i++) make_dynamic(b, &m->results[i]);
    m->slot = arrjit_slot_value(b->g, name, m->arg_count, m->args, m->result_count, m->results,
                                tk_chance(&b->pick, 30) ? ARRJIT_SLOT_PURE : 0);
  } else {
    m->slot = arrjit_slot_io(b->g, name, m->arg_count, m->args, optional ? ARRJIT_SLOT_OPTIONAL : 0);
  }
  arrjit_kind kind = tk_chance(&b->pick, 50) ? ARRJIT_KIND_NONE : b->kinds->all[tk_below(&b->pick, FUZZ_KINDS)];
  bool fails = tk_chance(&b->pick, 30);
  if (fails) note(b, FAILING_CALLBACK);
  if (!optional || tk_chance(&b->pick, 50)) host_add_slot(b->s, name, tk_next(&b->pick), fails, kind);
  b->made_slots++;
  return m;
}

/* What was made of an array whose extent only the call tells may leave the arm or body. */
static void keep_result(builder *b, const arrjit_type *declared, arrjit_value value) {
  int64_t axes[ARRJIT_MAX_RANK];
  bool dynamic = false, flags = declared->dtype == ARRJIT_BOOL;
  for (int32_t d = 0; d < declared->rank; d++) {
    axes[d] = d;
    if (declared->dims[d] != ARRJIT_DYNAMIC_DIM) continue;
    dynamic = true;
    keep_value(b, (arrjit_dim_size)(b->g, value, d));
  }
  if (dynamic) {
    size_t rank = (size_t)declared->rank;
    arrjit_value back = (arrjit_reverse)(b->g, value, rank, axes);
    arrjit_value both = flags ? (arrjit_xor)(b->g, value, back) : (arrjit_add)(b->g, value, back);
    value = flags ? (arrjit_reduce_or)(b->g, both, rank, axes) : (arrjit_reduce_sum)(b->g, both, rank, axes);
  }
  keep_value(b, value);
}

void build_callback(builder *b) {
  if (b->in_map) return; /* the host has no place there */
  bool again = b->made_slots && (b->made_slots == FUZZ_MAX_SLOTS || tk_chance(&b->pick, 40));
  struct made_slot *m = again ? &b->slots[tk_below(&b->pick, b->made_slots)] : make_slot(b);
  arrjit_value args[2], out[2];
  for (size_t i = 0; i < m->arg_count; i++) args[i] = value_of(b, &m->args[i]);
  arrjit_callback(b->g, m->slot, m->arg_count, args, out);
  size_t count = m->result_count ? m->result_count : m->arg_count;
  for (size_t i = 0; i < count; i++) keep_result(b, m->result_count ? &m->results[i] : &m->args[i], out[i]);
}

static arrjit_value new_exn(builder *b) {
  arrjit_value payload[2];
  size_t count = some_values(b, payload);
  return arrjit_exn_new(b->g, any_kind(b), (int64_t)tk_below(&b->pick, 9), any_message(b, count), count, payload);
}

arrjit_value any_exn(builder *b) {
  if (b->exn_count && tk_chance(&b->pick, 70)) return b->exns[tk_below(&b->pick, b->exn_count)];
  return new_exn(b);
}

void build_exn(builder *b) {
  if (tk_chance(&b->pick, 60)) {
    keep_exn(b, new_exn(b));
    return;
  }
  arrjit_value one, two, out; /* chosen at run time */
  arrjit_if_begin(b->g, value_of(b, &(arrjit_type){.dtype = ARRJIT_BOOL}));
  one = new_exn(b);
  arrjit_if_else(b->g, 1, &one);
  two = new_exn(b);
  arrjit_if_end(b->g, 1, &two, &out);
  keep_exn(b, out);
}

void look_at_exn(builder *b) {
  if (!b->exn_count) build_exn(b);
  arrjit_value exn = b->exns[tk_below(&b->pick, b->exn_count)], present = NULL;
  arrjit_type type = {.dtype = ARRJIT_F64};
  switch (tk_below(&b->pick, 5)) {
  case 0: keep_value(b, arrjit_exn_is(b->g, exn, tk_chance(&b->pick, 50) ? any_kind(b) : ARRJIT_KIND_ERROR)); return;
  case 1: keep_value(b, arrjit_exn_site(b->g, exn)); return;
  case 3: keep_value(b, arrjit_exn_code(b->g, exn)); return;
  case 2: keep_exn(b, arrjit_exn_cause(b->g, exn)); return;
  default: break;
  }
  if (tk_chance(&b->pick, 60)) type = arrjit_value_type(any_value(b));
  if (is_symbolic(&type)) type.rank = 0;
  keep_value(b, arrjit_exn_field(b->g, exn, (int64_t)tk_below(&b->pick, 3), &type, &present));
  keep_value(b, present);
}

static aj_op random_op(builder *b) {
  aj_op op;
  do op = (aj_op)(1 + tk_below(&b->pick, AJ_OP_COUNT - 1));
  while (!tk_opcase_covers(op));
  return op;
}

/* f(n, a, b): some ops, perhaps a check or callback, and f(n - 1, ...) while n > 0. */
static void build_body(builder *b, const known_func *f, const arrjit_value *params) {
  arrjit_value more[3], inner, out, again;
  for (size_t i = 0; i < f->param_count; i++) keep_any(b, params[i]);
  for (size_t ops = 1 + tk_below(&b->pick, 3); ops-- > 0;) build_op_step(b, random_op(b));
  bool checks = tk_chance(&b->pick, 30), calls = tk_chance(&b->pick, 30);
  if (checks) build_check(b);
  if (calls) build_callback(b);
  if (tk_chance(&b->pick, 20)) build_catch(b);
  if (checks || calls) note(b, FAILING_CALLEE);
  again = value_of(b, &f->result);
  if (tk_chance(&b->pick, 60)) {
    arrjit_if_begin(b->g, arrjit_le(b->g, params[0], arrjit_const_i64(b->g, 0)));
    arrjit_if_else(b->g, 1, &again);
    more[0] = arrjit_sub(b->g, params[0], arrjit_const_i64(b->g, 1));
    for (size_t i = 1; i < f->param_count; i++) more[i] = value_of(b, &f->params[i]);
    arrjit_call(b->g, f->callee, f->param_count, more, &inner);
    arrjit_if_end(b->g, 1, &inner, &out);
    again = out;
  }
  arrjit_return(b->g, 1, &again, NULL);
}

void build_func(builder *b) {
  if (b->func_count == MAX_FUNCS || b->open_count || b->in_func) return;
  known_func f = {.param_count = 1 + tk_below(&b->pick, 3), .params[0].dtype = ARRJIT_I64};
  char name[8];
  for (size_t i = 1; i < f.param_count; i++)
    f.params[i] = tk_random_type((arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1)), &b->pick);
  f.result = f.params[f.param_count - 1];
  if (tk_chance(&b->pick, 15)) {
    f.result = (arrjit_type){.dtype = ARRJIT_BOOL, .rank = -1};
    if (f.param_count > 1 && tk_chance(&b->pick, 50)) f.params[f.param_count - 1] = f.result;
    note(b, EXN_THROUGH_CALL);
  }
  snprintf(name, sizeof name, "f%zu", b->func_count);
  f.callee = arrjit_declare(b->g, name, f.param_count, f.params, 1, &f.result);
  builder outer = *b; /* its values are not seen inside */
  arrjit_value params[3];
  b->value_count = b->exn_count = 0;
  b->in_func = true;
  arrjit_define(b->g, f.callee, params);
  build_body(b, &f, params);
  memcpy(b->values, outer.values, sizeof outer.values);
  memcpy(b->exns, outer.exns, sizeof outer.exns);
  b->value_count = outer.value_count, b->exn_count = outer.exn_count, b->in_func = false;
  b->funcs[b->func_count++] = f;
}

void build_call(builder *b) {
  if (!b->func_count) return;
  const known_func *f = &b->funcs[tk_below(&b->pick, b->func_count)];
  arrjit_value args[3], out;
  args[0] = arrjit_const_i64(b->g, (int64_t)tk_below(&b->pick, 4));
  for (size_t i = 1; i < f->param_count; i++) args[i] = value_of(b, &f->params[i]);
  arrjit_call(b->g, f->callee, f->param_count, args, &out);
  keep_any(b, out);
}
