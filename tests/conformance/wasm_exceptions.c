/* Cases from WebAssembly's exception-handling suite. A tag is a kind below "wasm", so that catch_all is a handler for
 * that kind and traps, which have other kinds, pass. See wasm_blocks.c for its control flow. */
#include <stdlib.h>

#include "wasm_eh.h"

/* ---- single instructions ---- */

static size_t find_local(const eh_case *c, const json_t *which) {
  const char *text = json_string_value(which);
  size_t params = json_array_size(json_object_get(c->function, "params"));
  const json_t *locals = json_object_get(c->function, "locals");
  for (size_t i = 0; text[0] == '$' && i < json_array_size(locals); i++) {
    const char *name = json_string_value(at(at(locals, i), 0));
    if (name && strcmp(name, text) == 0) return params + i;
  }
  json_t *number = json_object_get(json_object_get(c->function, "pnames"), text);
  return number ? (size_t)json_integer_value(number) : strtoull(text, NULL, 10);
}

static arrjit_value build_constant(eh_case *c, const char *name, const char *text) {
  if (name[0] == 'i') {
    int64_t value = (int64_t)strtoll(text, NULL, 0);
    return name[1] == '6' ? arrjit_const_i64(c->g, value) : arrjit_const_i32(c->g, (int32_t)value);
  }
  return name[1] == '6' ? arrjit_const_f64(c->g, strtod(text, NULL)) : arrjit_const_f32(c->g, strtof(text, NULL));
}

static arrjit_callee declare(eh_case *c, const char *key, arrjit_type *results, size_t *out_count);

static void build_call(eh_case *c, const json_t *one, stack *s) {
  const char *key =
      json_string_value(json_object_get(json_object_get(c->function, "calls"), json_string_value(at(one, 1))));
  arrjit_value args[MOST_TYPES], out[MOST_TYPES];
  arrjit_type results[MOST_TYPES];
  size_t result_count,
      count = json_array_size(json_object_get(json_object_get(json_object_get(c->json, "funcs"), key), "params"));
  arrjit_callee callee = declare(c, key, results, &result_count);
  eh_pop_many(s, count, args);
  arrjit_call(c->g, callee, count, args, out);
  for (size_t i = 0; i < result_count; i++) eh_push(s, out[i]);
}

static flow build_throw(eh_case *c, const json_t *one, stack *s) {
  const json_t *tag = eh_tag_of(c, at(one, 1));
  arrjit_value payload[MOST_TYPES];
  size_t count = json_array_size(json_object_get(tag, "params"));
  eh_pop_many(s, count, payload);
  arrjit_raise(c->g, eh_kind_of(c, tag), 0, NULL, count, payload);
  return (flow){.ending = RAISES};
}

/* br_table: one `if` less for each label, the last for all other numbers. */
static flow build_br_table(eh_case *c, const json_t *one, stack *s) {
  arrjit_value index = eh_pop(s);
  flow f = {.ending = EITHER};
  size_t count = json_array_size(one) - 1;
  for (size_t i = count; i-- > 0;) {
    const label *l = eh_find_label(c, at(one, i + 1), c->label_count);
    if (l->result_count) eh_give_up(c, "br_table with values");
    f.targets |= UINT64_C(1) << l->id;
    arrjit_value here = eh_signal_of(c, l->id);
    f.signal = i + 1 == count ? here
                              : arrjit_select(c->g, arrjit_eq(c->g, index, arrjit_const_like(c->g, index, (double)i)),
                                              here, f.signal);
  }
  return f;
}

static flow build_leaving(eh_case *c, const json_t *one, stack *s) {
  if (is(one, "throw")) return build_throw(c, one, s);
  if (is(one, "br")) return eh_branch(c, s, eh_find_label(c, at(one, 1), c->label_count));
  if (is(one, "br_table")) return build_br_table(c, one, s);
  if (is(one, "return")) return eh_branch(c, s, &c->labels[0]);
  if (is(one, "unreachable")) arrjit_raise(c->g, c->trap, 0, "unreachable", 0, NULL);
  if (is(one, "throw_ref")) arrjit_raise_exn(c->g, eh_pop(s));
  if (is(one, "rethrow")) arrjit_raise_exn(c->g, eh_find_label(c, at(one, 1), c->label_count)->exn);
  return (flow){.ending = RAISES};
}

static bool leaves(const json_t *one) {
  static const char *const names[] = {"throw", "br", "br_table", "return", "unreachable", "throw_ref", "rethrow"};
  for (size_t i = 0; i < TK_COUNT(names); i++)
    if (is(one, names[i])) return true;
  return false;
}

static void build_plain(eh_case *c, const json_t *one, stack *s) {
  const char *name = head(one);
  size_t arity = wasm_arity(name);
  arrjit_value operands[2];
  if (strstr(name, ".const")) {
    eh_push(s, build_constant(c, name, json_string_value(at(one, 1))));
  } else if (is(one, "local.get")) {
    eh_push(s, c->vars[find_local(c, at(one, 1))]);
  } else if (is(one, "local.set")) {
    c->vars[find_local(c, at(one, 1))] = eh_pop(s);
  } else if (is(one, "drop")) {
    eh_pop(s);
  } else if (is(one, "call")) {
    build_call(c, one, s);
  } else if (is(one, "ref.func")) {
    eh_push(s, arrjit_const_i64(c->g, 0));
  } else if (arity) {
    eh_pop_many(s, arity, operands);
    eh_push(s, wasm_build(c->g, name, operands));
  } else {
    eh_give_up(c, name);
  }
}

/* Folded operands first. */
flow eh_build_instruction(eh_case *c, const json_t *one, stack *s) {
  if (is(one, "block")) return eh_build_block(c, one, one, eh_body_start(one), s);
  if (is(one, "if")) return eh_build_if(c, one, s);
  if (is(one, "try")) return eh_build_try(c, one, s);
  if (is(one, "try_table")) return eh_build_try_table(c, one, s);
  if (strncmp(head(one), "return_call", 11) == 0) {
    eh_give_up(c, "return_call: there are no tail calls");
    return (flow){.ending = FALLS};
  }
  for (size_t i = 1; i < json_array_size(one); i++)
    if (json_is_array(at(one, i))) eh_build_instruction(c, at(one, i), s);
  if (leaves(one)) return build_leaving(c, one, s);
  build_plain(c, one, s);
  return (flow){.ending = FALLS};
}

/* ---- functions ---- */

/* The body of the function, whose parameters are the first variables. */
static void build_function(eh_case *c, const json_t *function, size_t count, const arrjit_value *params) {
  const json_t *locals = json_object_get(function, "locals");
  arrjit_type types[MOST_TYPES];
  c->function = function;
  c->var_count = c->label_count = 0;
  c->last_id = 0;
  for (size_t i = 0; i < count; i++) c->vars[c->var_count++] = params[i];
  for (size_t i = 0; i < json_array_size(locals); i++) {
    const json_t *local = at(locals, i);
    arrjit_type type = eh_type_of(json_is_array(local) ? at(local, 1) : local);
    c->vars[c->var_count++] = eh_zero_of(c, &type);
  }
  c->pending = c->var_count;
  c->vars[c->var_count++] = eh_zero_of(c, &(arrjit_type){.dtype = ARRJIT_BOOL, .rank = -1});
  size_t results = eh_types_of(json_object_get(function, "results"), types);
  label *l = eh_push_label(c, FUNCTION, NULL, results, types);
  stack s = {.count = 0};
  flow f = eh_raise_delegated(c, l, eh_build_sequence(c, json_object_get(function, "body"), 0, &s, l));
  arrjit_return(c->g, f.ending == RAISES ? 0 : results, &c->vars[l->first_var], NULL);
}

/* Declared and built when first called, then known by its key. */
static arrjit_callee declare(eh_case *c, const char *key, arrjit_type *results, size_t *out_count) {
  const json_t *function = json_object_get(json_object_get(c->json, "funcs"), key);
  arrjit_type types[MOST_TYPES];
  arrjit_value params[MOST_TYPES];
  size_t count = eh_types_of(json_object_get(function, "params"), types), known = 0;
  *out_count = eh_types_of(json_object_get(function, "results"), results);
  while (known < c->known_count && strcmp(c->known[known].key, key) != 0) known++;
  if (known < c->known_count) return c->known[known].callee;
  if (known == TK_COUNT(c->known)) tk_die("too many functions");
  arrjit_callee callee = arrjit_declare(c->g, key, count, types, *out_count, results);
  c->known[c->known_count].key = key;
  c->known[c->known_count++].callee = callee;
  eh_case outer = *c;
  arrjit_define(c->g, callee, params);
  build_function(c, function, count, params);
  memcpy(outer.known, c->known, sizeof outer.known);
  outer.known_count = c->known_count;
  outer.skipped = c->skipped;
  *c = outer;
  return callee;
}

/* main calls the case's function, so that what is thrown crosses a call. */
static arrjit_function *build(eh_case *c) {
  arrjit_error error;
  arrjit_function *function = NULL;
  const json_t *args = json_object_get(c->json, "args");
  arrjit_value values[MOST_TYPES], out[MOST_TYPES];
  arrjit_type results[MOST_TYPES];
  size_t count = json_array_size(args), result_count;
  if (arrjit_graph_create(c->run->context, &c->g, &error) != ARRJIT_OK) tk_die("no graph: %s", error.message);
  for (size_t i = 0; i < count; i++) {
    arrjit_type type = eh_type_of(json_object_get(at(args, i), "d"));
    values[i] = arrjit_param(c->g, "", &type);
  }
  arrjit_callee entry = declare(c, json_string_value(json_object_get(c->json, "entry")), results, &result_count);
  arrjit_call(c->g, entry, count, values, out);
  arrjit_return(c->g, result_count, out, NULL);
  if (c->skipped) {
    corpus_say(c->run, SKIPPED, "%s", c->skipped);
  } else if (arrjit_graph_finish(c->g, &function, &error) != ARRJIT_OK) {
    corpus_say(c->run, FAILED, "finish: %s: %s", error.op, error.message);
  }
  arrjit_graph_destroy(c->g);
  return function;
}

/* ---- judging ---- */

static verdict judge(eh_case *c, const tk_outcome *o) {
  const char *trap = json_string_value(json_object_get(c->json, "traps"));
  const json_t *want = json_object_get(c->json, "want");
  bool thrown = !o->ok && arrjit_context_kind_is(c->run->context, o->kind, c->wasm);
  bool trapped = !o->ok && (o->kind == c->trap || (o->kind == ARRJIT_KIND_ARITH && o->code == 1));
  if (json_is_true(json_object_get(c->json, "throws")))
    return thrown ? PASSED : corpus_say(c->run, FAILED, "nothing was thrown");
  if (trap) {
    bool right = trapped && (o->kind == c->trap) == (strcmp(trap, "unreachable") == 0);
    return right ? PASSED : corpus_say(c->run, FAILED, "no trap '%s'", trap);
  }
  if (!o->ok) return corpus_say(c->run, FAILED, "failed: %s: %s", o->kind_name, o->message);
  if (o->output_count != json_array_size(want)) return corpus_say(c->run, FAILED, "%zu results", o->output_count);
  for (size_t i = 0; i < o->output_count; i++) {
    uint64_t element = 0;
    const tk_block *got = &o->outputs[i];
    arrjit_dtype dtype = eh_type_of(json_object_get(at(want, i), "d")).dtype;
    if (!tk_element_read(json_object_get(at(want, i), "v"), dtype, &element)) return corpus_say(c->run, FAILED, "want");
    if (got->type.dtype != dtype || memcmp(got->data, &element, got->bytes) != 0)
      return corpus_say(c->run, FAILED, "result %zu is another", i);
  }
  return PASSED;
}

verdict corpus_wasm_exceptions(corpus_run *run, const json_t *one) {
  eh_case *c = tk_new(1, sizeof *c);
  c->run = run;
  c->json = one;
  c->wasm = eh_ensure_kind(c, "wasm", ARRJIT_KIND_ERROR);
  c->trap = eh_ensure_kind(c, "wasm_trap", ARRJIT_KIND_ERROR);
  const json_t *args = json_object_get(one, "args");
  arrjit_array *inputs[MOST_TYPES] = {NULL};
  verdict v = FAILED;
  for (size_t i = 0; i < json_array_size(args) && i < MOST_TYPES; i++) {
    arrjit_type type = eh_type_of(json_object_get(at(args, i), "d"));
    uint64_t element = 0;
    if (!tk_element_read(json_object_get(at(args, i), "v"), type.dtype, &element) ||
        arrjit_array_create(run->context, &type, &element, &inputs[i], NULL) != ARRJIT_OK)
      tk_die("argument %zu", i);
  }
  arrjit_function *function = build(c);
  if (function) {
    tk_outcome o = {0};
    if (corpus_execute(run, function, json_array_size(args), inputs, &o)) v = judge(c, &o);
    tk_outcome_free(&o);
  } else if (c->skipped) {
    v = SKIPPED;
  }
  for (size_t i = 0; i < MOST_TYPES; i++) arrjit_array_release(inputs[i]);
  arrjit_function_release(function);
  free(c);
  return v;
}
