/* Blocks, branches and tries of WebAssembly as structured nodes. What a construct yields is a signal, the number of the
 * label that is branched to (0: it ends normally), and the state: locals and one variable for each result of the labels
 * around. After a construct that may branch further out, the rest of its sequence stands in an `if` on the signal. A
 * delegate is a branch to where the handlers of its target take what is raised. Locals are not undone by a throw, but
 * our values are: cases that write one in a try are skipped. */
#include <stdlib.h>

#include "wasm_eh.h"

void eh_give_up(eh_case *c, const char *why) {
  if (!c->skipped) c->skipped = why;
}

/* ---- types, kinds ---- */

/* References to functions stand for themselves by number. */
arrjit_type eh_type_of(const json_t *type) {
  const char *name = json_string_value(type);
  if (!name) name = json_string_value(at(type, json_array_size(type) - 1));
  if (strcmp(name, "exnref") == 0 || strcmp(name, "exn") == 0) return (arrjit_type){.dtype = ARRJIT_BOOL, .rank = -1};
  arrjit_dtype dtype = tk_dtype_find(name);
  return (arrjit_type){.dtype = dtype == ARRJIT_DTYPE_NONE ? ARRJIT_I64 : dtype};
}

size_t eh_types_of(const json_t *list, arrjit_type *out) {
  size_t count = json_array_size(list) < MOST_TYPES ? json_array_size(list) : MOST_TYPES;
  for (size_t i = 0; i < count; i++) out[i] = eh_type_of(at(list, i));
  return count;
}

arrjit_kind eh_ensure_kind(eh_case *c, const char *name, arrjit_kind parent) {
  arrjit_kind kind;
  arrjit_error error;
  if (arrjit_context_find_kind(c->run->context, name, &kind, NULL) == ARRJIT_OK) return kind;
  if (arrjit_context_add_kind(c->run->context, name, parent, "...", &kind, &error) != ARRJIT_OK)
    tk_die("kind: %s", error.message);
  return kind;
}

const json_t *eh_tag_of(const eh_case *c, const json_t *name) {
  return json_object_get(json_object_get(c->function, "tags"), json_string_value(name));
}

/* Two names with one id are one kind. */
arrjit_kind eh_kind_of(eh_case *c, const json_t *tag) {
  char name[160];
  snprintf(name, sizeof name, "wasm.%s", json_string_value(json_object_get(tag, "id")));
  for (char *p = name; *p; p++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.", *p)) *p = '_';
  return eh_ensure_kind(c, name, c->wasm);
}

arrjit_value eh_zero_of(eh_case *c, const arrjit_type *type) {
  static const uint64_t zero = 0;
  if (type->rank < 0) return arrjit_exn_new(c->g, c->trap, 0, NULL, 0, NULL);
  return arrjit_const(c->g, type, &zero);
}

/* ---- stack and labels ---- */

void eh_push(stack *s, arrjit_value value) {
  if (s->count == MOST_STACK) tk_die("a stack is full");
  s->values[s->count++] = value;
}

/* What stands behind a throw or a branch may take anything: it is never built. */
arrjit_value eh_pop(stack *s) { return s->count ? s->values[--s->count] : NULL; }

void eh_pop_many(stack *s, size_t count, arrjit_value *out) {
  for (size_t i = count; i-- > 0;) out[i] = eh_pop(s);
}

label *eh_push_label(eh_case *c, label_kind kind, const char *name, size_t count, const arrjit_type *types) {
  if (c->label_count == MOST_LABELS || c->var_count + count > MOST_VARS) tk_die("too many labels or variables");
  label *l = &c->labels[c->label_count++];
  *l = (label){.kind = kind, .name = name, .result_count = count, .first_var = c->var_count};
  l->id = ++c->last_id;
  l->delegate_id = ++c->last_id;
  for (size_t i = 0; i < count; i++) c->vars[c->var_count++] = eh_zero_of(c, &types[i]);
  return l;
}

/* A label by its name, or by its number, counted outward from `from` (one past the innermost that counts). */
label *eh_find_label(eh_case *c, const json_t *which, size_t from) {
  const char *text = json_string_value(which);
  for (size_t i = from; i-- > 0;) {
    if (text[0] == '$' ? c->labels[i].name && strcmp(c->labels[i].name, text) == 0
                       : from - 1 - i == strtoull(text, NULL, 10))
      return &c->labels[i];
  }
  tk_die("no label %s", text);
}

arrjit_value eh_signal_of(eh_case *c, int id) { return arrjit_const_i64(c->g, id); }

static flow jump(eh_case *c, int id) { return (flow){JUMPS, UINT64_C(1) << id, eh_signal_of(c, id)}; }

flow eh_branch(eh_case *c, stack *s, const label *l) {
  eh_pop_many(s, l->result_count, &c->vars[l->first_var]);
  return jump(c, l->id);
}

/* ---- regions ---- */

/* What a part that ends in `f` yields; 0 after a raise. */
static size_t yields(eh_case *c, const flow *f, arrjit_value *out) {
  if (f->ending == RAISES) return 0;
  out[0] = f->ending == FALLS ? eh_signal_of(c, 0) : f->signal;
  memcpy(out + 1, c->vars, c->var_count * sizeof *out);
  return 1 + c->var_count;
}

static void join(flow *all, const flow *part) {
  if (part->ending != RAISES) all->ending = EITHER;
  all->targets |= part->targets;
}

/* After the node: its results are the signal and the state; if no part ends normally, nothing comes here. */
static flow settle(eh_case *c, flow all, const arrjit_value *out) {
  if (all.ending == RAISES) {
    arrjit_raise(c->g, c->trap, 0, NULL, 0, NULL);
    return all;
  }
  memcpy(c->vars, out + 1, c->var_count * sizeof *out);
  all.signal = out[0];
  if (!all.targets) all.ending = FALLS;
  return all;
}

/* Ends a label: branches to it end here, its results go on the stack. */
static flow pop_label(eh_case *c, label *l, flow f, stack *s) {
  uint64_t own = UINT64_C(1) << l->id;
  if (f.targets & own) {
    f.targets &= ~own;
    if (f.ending == JUMPS || !f.targets) {
      f = (flow){.ending = FALLS};
    } else {
      f.signal = arrjit_select(c->g, arrjit_eq(c->g, f.signal, eh_signal_of(c, l->id)), eh_signal_of(c, 0), f.signal);
    }
  }
  for (size_t i = 0; i < l->result_count; i++) eh_push(s, c->vars[l->first_var + i]);
  c->var_count = l->first_var;
  c->label_count = (size_t)(l - c->labels);
  return f;
}

/* What follows a construct that may branch further out. */
static flow build_rest(eh_case *c, const json_t *list, size_t from, stack *s, const label *l, flow f) {
  arrjit_value values[MOST_VARS + 1], out[MOST_VARS + 1], saved[MOST_VARS];
  memcpy(saved, c->vars, sizeof saved);
  flow all = f;
  arrjit_if_begin(c->g, arrjit_ne(c->g, f.signal, eh_signal_of(c, 0)));
  arrjit_if_else(c->g, yields(c, &f, values), values);
  flow rest = eh_build_sequence(c, list, from, s, l);
  arrjit_if_end(c->g, yields(c, &rest, values), values, out);
  memcpy(c->vars, saved, sizeof saved);
  join(&all, &rest);
  return settle(c, all, out);
}

/* ---- instructions ---- */

/* A list of types behind "result" or "param". */
static const json_t *find_part(const json_t *one, const char *name) {
  for (size_t i = 1; i < json_array_size(one); i++)
    if (json_is_array(at(one, i)) && is(at(one, i), name)) return at(one, i);
  return NULL;
}

static size_t part_types(const json_t *one, const char *name, arrjit_type *out) {
  const json_t *part = find_part(one, name);
  size_t count = part ? json_array_size(part) - 1 : 0;
  for (size_t i = 0; i < count && i < MOST_TYPES; i++) out[i] = eh_type_of(at(part, i + 1));
  return count;
}

static const char *label_name(const json_t *one) {
  const char *name = json_string_value(at(one, 1));
  return name && name[0] == '$' ? name : NULL;
}

/* Pushes the construct's label and moves its parameters to a stack of its own. */
static label *enter(eh_case *c, const json_t *one, label_kind kind, stack *outer, stack *inner) {
  arrjit_type types[MOST_TYPES];
  size_t params = part_types(one, "param", types);
  inner->count = params;
  eh_pop_many(outer, params, inner->values);
  size_t results = part_types(one, "result", types);
  return eh_push_label(c, kind, label_name(one), results, types);
}

static bool is_header(const json_t *part) {
  return json_is_string(part) || is(part, "result") || is(part, "param") || is(part, "catch") ||
         is(part, "catch_ref") || is(part, "catch_all") || is(part, "catch_all_ref");
}

size_t eh_body_start(const json_t *one) {
  size_t i = 1;
  while (i < json_array_size(one) && is_header(at(one, i))) i++;
  return i;
}

flow eh_build_block(eh_case *c, const json_t *one, const json_t *body, size_t from, stack *s) {
  stack inner;
  label *l = enter(c, one, BLOCK, s, &inner);
  flow f = eh_build_sequence(c, body, from, &inner, l);
  return pop_label(c, l, f, s);
}

static flow build_arm(eh_case *c, const json_t *arm, const stack *params, const label *l) {
  stack inner = *params;
  return eh_build_sequence(c, arm, 1, &inner, l);
}

flow eh_build_if(eh_case *c, const json_t *one, stack *s) {
  arrjit_value values[MOST_VARS + 1], out[MOST_VARS + 1], saved[MOST_VARS];
  stack inner;
  flow all = {.ending = RAISES};
  static json_t *nothing = NULL;
  if (!nothing) nothing = json_array();
  for (size_t i = 1; i < json_array_size(one); i++) /* the folded condition */
    if (!is_header(at(one, i)) && !is(at(one, i), "then") && !is(at(one, i), "else"))
      eh_build_instruction(c, at(one, i), s);
  arrjit_value condition = eh_pop(s);
  label *l = enter(c, one, BLOCK, s, &inner);
  memcpy(saved, c->vars, sizeof saved);
  arrjit_if_begin(c->g, arrjit_ne(c->g, condition, arrjit_const_like(c->g, condition, 0)));
  flow f = build_arm(c, find_part(one, "then"), &inner, l);
  join(&all, &f);
  arrjit_if_else(c->g, yields(c, &f, values), values);
  memcpy(c->vars, saved, sizeof saved);
  const json_t *otherwise = find_part(one, "else");
  f = build_arm(c, otherwise ? otherwise : nothing, &inner, l);
  join(&all, &f);
  arrjit_if_end(c->g, yields(c, &f, values), values, out);
  return pop_label(c, l, settle(c, all, out), s);
}

/* ---- tries ---- */

/* A try being built: the parts so far, and the state they all begin with. */
typedef struct trying {
  flow all, part;
  arrjit_value saved[MOST_VARS], exn;
} trying;

static void begin_try(eh_case *c, trying *t) {
  *t = (trying){.all.ending = RAISES};
  memcpy(t->saved, c->vars, sizeof t->saved);
  arrjit_try_begin(c->g);
}

/* At the end of a body: what a delegate left to raise here. */
flow eh_raise_delegated(eh_case *c, const label *l, flow f) {
  arrjit_value values[MOST_VARS + 1], out[MOST_VARS + 1];
  uint64_t own = UINT64_C(1) << l->delegate_id;
  if (!(f.targets & own)) return f;
  if (f.ending == JUMPS) {
    arrjit_raise_exn(c->g, c->vars[c->pending]);
    return (flow){.ending = RAISES};
  }
  f.targets &= ~own;
  arrjit_if_begin(c->g, arrjit_eq(c->g, f.signal, eh_signal_of(c, l->delegate_id)));
  arrjit_raise_exn(c->g, c->vars[c->pending]);
  arrjit_if_else(c->g, 0, NULL);
  arrjit_if_end(c->g, yields(c, &f, values), values, out);
  return settle(c, f, out);
}

static void begin_handler(eh_case *c, trying *t, arrjit_kind kind) {
  arrjit_value values[MOST_VARS + 1];
  join(&t->all, &t->part);
  arrjit_try_handler(c->g, yields(c, &t->part, values), values, kind, &t->exn);
  memcpy(c->vars, t->saved, sizeof t->saved);
}

static flow end_try(eh_case *c, trying *t) {
  arrjit_value values[MOST_VARS + 1], out[MOST_VARS + 1];
  join(&t->all, &t->part);
  arrjit_try_end(c->g, yields(c, &t->part, values), values, out);
  return settle(c, t->all, out);
}

/* The payload of a caught tag. */
static size_t read_fields(eh_case *c, const json_t *tag, arrjit_value exn, arrjit_value *out) {
  arrjit_type types[MOST_TYPES];
  arrjit_value present;
  size_t count = eh_types_of(json_object_get(tag, "params"), types);
  for (size_t i = 0; i < count; i++) out[i] = arrjit_exn_field(c->g, exn, (int64_t)i, &types[i], &present);
  return count;
}

static bool writes_locals(const json_t *list) {
  if (json_is_array(list) && json_array_size(list) && (is(list, "local.set") || is(list, "local.tee"))) return true;
  for (size_t i = 0; i < json_array_size(list); i++)
    if (json_is_array(at(list, i)) && writes_locals(at(list, i))) return true;
  return false;
}

/* Where a failure at `l` is handled: the body of a try around, or the function's caller. */
static const label *find_handling(const label *l) {
  while (l->kind != TRY_BODY && l->kind != FUNCTION) l--;
  return l;
}

static void build_catch(eh_case *c, trying *t, label *l, const json_t *clause) {
  bool all = is(clause, "catch_all");
  const json_t *tag = all ? NULL : eh_tag_of(c, at(clause, 1));
  stack inner = {.count = 0};
  begin_handler(c, t, all ? c->wasm : eh_kind_of(c, tag));
  l->kind = CATCH;
  l->exn = t->exn;
  if (tag) inner.count = read_fields(c, tag, t->exn, inner.values);
  t->part = eh_build_sequence(c, clause, all ? 1 : 2, &inner, l);
}

flow eh_build_try(eh_case *c, const json_t *one, stack *s) {
  const json_t *body = find_part(one, "do"), *delegate = find_part(one, "delegate");
  bool caught = delegate || find_part(one, "catch") || find_part(one, "catch_all");
  if (!caught) return eh_build_block(c, one, body, 1, s);
  if (writes_locals(body)) eh_give_up(c, "a local is written in a try, whose values are gone when it fails");
  size_t around = c->label_count;
  stack inner;
  trying t;
  label *l = enter(c, one, TRY_BODY, s, &inner);
  begin_try(c, &t);
  t.part = eh_raise_delegated(c, l, eh_build_sequence(c, body, 1, &inner, l));
  for (size_t i = 1; i < json_array_size(one); i++)
    if (is(at(one, i), "catch") || is(at(one, i), "catch_all")) build_catch(c, &t, l, at(one, i));
  if (delegate) {
    const label *target = find_handling(eh_find_label(c, at(delegate, 1), around));
    begin_handler(c, &t, c->wasm);
    c->vars[c->pending] = t.exn;
    t.part = jump(c, target->delegate_id);
  }
  return pop_label(c, l, end_try(c, &t), s);
}

flow eh_build_try_table(eh_case *c, const json_t *one, stack *s) {
  if (!find_part(one, "catch") && !find_part(one, "catch_ref") && !find_part(one, "catch_all") &&
      !find_part(one, "catch_all_ref"))
    return eh_build_block(c, one, one, eh_body_start(one), s);
  if (writes_locals(one)) eh_give_up(c, "a local is written in a try, whose values are gone when it fails");
  size_t around = c->label_count;
  stack inner;
  trying t;
  label *l = enter(c, one, TRY_BODY, s, &inner);
  begin_try(c, &t);
  t.part = eh_raise_delegated(c, l, eh_build_sequence(c, one, eh_body_start(one), &inner, l));
  for (size_t i = 1; i < eh_body_start(one); i++) {
    const json_t *clause = at(one, i);
    bool all = is(clause, "catch_all") || is(clause, "catch_all_ref"),
         ref = is(clause, "catch_ref") || is(clause, "catch_all_ref");
    if (!all && !ref && !is(clause, "catch")) continue;
    const json_t *tag = all ? NULL : eh_tag_of(c, at(clause, 1));
    const label *target = eh_find_label(c, at(clause, all ? 1 : 2), around);
    begin_handler(c, &t, all ? c->wasm : eh_kind_of(c, tag));
    size_t count = tag ? read_fields(c, tag, t.exn, &c->vars[target->first_var]) : 0;
    if (ref) c->vars[target->first_var + count] = t.exn;
    t.part = jump(c, target->id);
  }
  return pop_label(c, l, end_try(c, &t), s);
}

/* ---- sequences ---- */

/* Falling off the end gives the label its results. */
flow eh_build_sequence(eh_case *c, const json_t *list, size_t from, stack *s, const label *l) {
  for (size_t i = from; i < json_array_size(list) && !c->skipped; i++) {
    flow f = eh_build_instruction(c, at(list, i), s);
    if (f.ending == EITHER) return build_rest(c, list, i + 1, s, l, f);
    if (f.ending != FALLS) return f;
  }
  eh_pop_many(s, l->result_count, &c->vars[l->first_var]);
  return (flow){.ending = FALLS};
}
