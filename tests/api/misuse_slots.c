/* Rows of misuse: bindings of functions, results that callbacks make, limits, hooks. */
#include "misuse.h"

static arrjit_status echo(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                          size_t result_count, const arrjit_view *results) {
  (void)user, (void)call, (void)arg_count, (void)args, (void)result_count, (void)results;
  return ARRJIT_OK;
}

static void nothing(void) {}
static void never(void *user) { *(int *)user = 1; }

/* ---- bindings of a function ---- */

static void bindings(misuse *m) {
  int destroyed = 0;
  const arrjit_binding good = {"say", echo, &destroyed, NULL}, nameless = {NULL, echo, &destroyed, NULL},
                       unknown = {"shout", echo, &destroyed, NULL}, both = {"say", echo, &destroyed, nothing},
                       empty = {"say", NULL, &destroyed, NULL};
  REFUSED(m, arrjit_function_bind, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          arrjit_function_bind(NULL, &good, never, e));
  REFUSED(m, arrjit_function_bind, "binding", "NULL", ARRJIT_MISUSE, "binding is NULL",
          arrjit_function_bind(m->function, NULL, never, e));
  REFUSED(m, arrjit_function_bind, "binding.slot", "NULL", ARRJIT_MISUSE, "slot is NULL",
          arrjit_function_bind(m->function, &nameless, never, e));
  REFUSED(m, arrjit_function_bind, "binding.slot", "unknown", ARRJIT_MISUSE, "no slot \"shout\"",
          arrjit_function_bind(m->function, &unknown, never, e));
  REFUSED(m, arrjit_function_bind, "binding.direct", "given beside callback", ARRJIT_MISUSE,
          "either callback or direct", arrjit_function_bind(m->function, &both, never, e));
  REFUSED(m, arrjit_function_bind, "destroy", "with nothing to bind", ARRJIT_MISUSE, "nothing to bind",
          arrjit_function_bind(m->function, &empty, never, e));
  GIVES(m, arrjit_function_bind, "destroy", "of what was refused", !destroyed);
}

static void vector_slot(misuse *m) {
  arrjit_context *c = tk_context(NULL);
  arrjit_graph *g = NULL;
  arrjit_function *f = NULL;
  if (arrjit_graph_create(c, &g, NULL) != ARRJIT_OK) fail();
  arrjit_type vector = TYPE(F64, 3);
  (void)arrjit_slot_io(g, "vector", 1, &vector, 0);
  arrjit_return(g, 0, NULL, NULL);
  if (arrjit_graph_finish(g, &f, NULL) != ARRJIT_OK) fail();
  arrjit_graph_destroy(g);
  const arrjit_binding direct = {"vector", NULL, NULL, nothing}, good = {"vector", echo, NULL, NULL};
  REFUSED(m, arrjit_function_bind, "binding.direct", "for a slot of arrays", ARRJIT_MISUSE,
          "\"vector\" cannot be bound directly", arrjit_function_bind(f, &direct, NULL, e));
  if (arrjit_context_destroy(c) != ARRJIT_OK) fail();
  REFUSED(m, arrjit_function_bind, "function", "whose context is gone", ARRJIT_MISUSE, "context was destroyed",
          arrjit_function_bind(f, &good, NULL, e));
  arrjit_function_release(f);
}

/* ---- from inside a callback, of a slot with results f64 and f64[?] ---- */

static arrjit_status make_results(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                  size_t result_count, const arrjit_view *results) {
  (void)arg_count, (void)args, (void)result_count, (void)results;
  misuse *m = user;
  const int64_t two = 2;
  arrjit_view out;
  GIVES(m, arrjit_call_result, "call", "NULL", arrjit_call_result(NULL, 1, &two, &out) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_result, "index", "out of range", arrjit_call_result(call, 2, &two, &out) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_result, "index", "not dynamic", arrjit_call_result(call, 0, NULL, &out) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_result, "dims", "NULL", arrjit_call_result(call, 1, NULL, &out) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_result, "out", "NULL", arrjit_call_result(call, 1, &two, NULL) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_result, "index", "at last right", arrjit_call_result(call, 1, &two, &out) == ARRJIT_OK);
  GIVES(m, arrjit_call_result, "index", "made before", arrjit_call_result(call, 1, &two, &out) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_give, "call", "NULL", arrjit_call_give(NULL, 1, &out) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_give, "value", "NULL", arrjit_call_give(call, 0, NULL) == ARRJIT_MISUSE);
  GIVES(m, arrjit_call_give, "index", "made before", arrjit_call_give(call, 1, &out) == ARRJIT_MISUSE);
  return ARRJIT_OK;
}

static void results_of_callbacks(misuse *m) {
  arrjit_graph *g = tk_graph(m->f);
  arrjit_value out[2];
  arrjit_slot slot = arrjit_slot_value(g, "make", 0, NULL, TYPES(TYPE(F64), TYPE(F64, ARRJIT_DYNAMIC_DIM)), 0);
  (arrjit_callback)(g, slot, 0, NULL, out);
  RETURN(g, out[1]);
  arrjit_function *f = tk_finish(m->f, g);
  const arrjit_binding binding = {"make", make_results, m, NULL};
  arrjit_run_options o = {.struct_bytes = sizeof o, .binding_count = 1, .bindings = &binding};
  arrjit_result *result = NULL;
  GIVES(m, arrjit_run, "bindings", "that misuse their call", arrjit_run(f, &o, 0, NULL, &result, NULL) == ARRJIT_OK);
  GIVES(m, arrjit_run, "bindings", "that misuse their call, to no effect", arrjit_result_ok(result));
  arrjit_result_destroy(result);
}

/* ---- options ---- */

#define LIMIT_REFUSED(m, field, how, value, part)                                                                      \
  do {                                                                                                                 \
    arrjit_run_options o = {.struct_bytes = sizeof o, .limits.field = value};                                          \
    REFUSED(m, arrjit_run, "options.limits." #field, how, ARRJIT_MISUSE, part,                                         \
            arrjit_run(m->function, &o, 1, &m->array, &m->outs.result, e));                                            \
  } while (0)

static void limits(misuse *m) {
  LIMIT_REFUSED(m, bytes, "negative", -1, "a limit is negative");
  LIMIT_REFUSED(m, iterations, "negative", -1, "a limit is negative");
  LIMIT_REFUSED(m, depth, "negative", -1, "a limit is negative");
  LIMIT_REFUSED(m, wall_ns, "negative", -1, "a limit is negative");
  LIMIT_REFUSED(m, depth, "above the option's range", 100001, "limits.depth is 100001, expected at most 100000");
}

static void hooks(misuse *m) {
  const arrjit_hooks half[2] = {{NULL, never, NULL}, {NULL, NULL, never}};
  for (size_t i = 0; i < TK_COUNT(half); i++) {
    arrjit_context_options o = {.struct_bytes = sizeof o, .hooks = &half[i]};
    REFUSED(m, arrjit_context_create, "options.hooks", "with one function", ARRJIT_MISUSE, "both release and acquire",
            arrjit_context_create(&o, &m->outs.context, e));
  }
}

void misuse_slots(misuse *m) {
  bindings(m);
  vector_slot(m);
  results_of_callbacks(m);
  limits(m);
  hooks(m);
}
