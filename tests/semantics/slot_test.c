/* Slots beyond one run: what a function binds by itself, and calls of pure slots. */
#include <pthread.h>

#include "fixture.h"

/* ---- pure slots ---- */

static arrjit_status twice(CALLBACK_ARGS) { /* fails for what is below 0 */
  UNUSED_CALLBACK;
  double x = *(const double *)args[0].data;
  *(double *)results[0].data = 2 * x;
  return x < 0 ? ARRJIT_FAILED : ARRJIT_OK;
}

typedef struct pure_graph {
  arrjit_graph *g;
  arrjit_value x;
  arrjit_slot pure, note;
} pure_graph;

static pure_graph begin_pure(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  pure_graph p = {.g = g, .x = PARAM(g, "x", F64)};
  p.pure = arrjit_slot_value(g, "pure", TYPES(TYPE(F64)), TYPES(TYPE(F64)), ARRJIT_SLOT_PURE);
  p.note = arrjit_slot_io(g, "note", TYPES(TYPE(F64)), 0);
  tk_bind(f, "pure", twice, NULL), tk_bind(f, "note", NULL, NULL);
  return p;
}

static arrjit_value call_on(arrjit_graph *g, arrjit_slot slot, arrjit_value x) {
  arrjit_value out;
  CALLBACK(g, slot, &out, x);
  return out;
}

#define ONE "f64[]=000000000000f03f\n"
#define TWO "f64[]=0000000000000040\n"
#define MINUS_ONE "f64[]=000000000000f0bf\n"

/* A call whose result nothing needs goes, and with it what only it needs; one that would fail too. */
static void test_pure_calls_that_nothing_needs_are_dropped(void **state) {
  tk_fixture *f = *state;
  pure_graph p = begin_pure(f);
  arrjit_value y = call_on(p.g, p.pure, call_on(p.g, p.pure, p.x));
  (void)arrjit_exp(p.g, y);
  RETURN(p.g, call_on(p.g, p.note, p.x));
  arrjit_function *function = tk_finish(f, p.g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, F64, -1));
  EXPECT(o, 0, F64, -1);
  assert_string_equal(o->log, "note " MINUS_ONE);
}

static void test_equal_pure_calls_are_merged(void **state) {
  tk_fixture *f = *state;
  pure_graph p = begin_pure(f);
  arrjit_value a = call_on(p.g, p.pure, p.x), b = call_on(p.g, p.pure, p.x);
  arrjit_value c = call_on(p.g, p.pure, a), d = call_on(p.g, p.pure, b);
  RETURN(p.g, a, b, c, d);
  const tk_outcome *o = RUN(f, tk_finish(f, p.g), SCALAR(f, F64, 1));
  EXPECT(o, 3, F64, 4);
  assert_string_equal(o->log, "pure " ONE "pure " TWO);
}

/* One that fails does so at its first use: what comes before that has happened, what comes after has not. */
static void test_pure_calls_fail_at_their_first_use(void **state) {
  tk_fixture *f = *state;
  pure_graph p = begin_pure(f);
  arrjit_value y = call_on(p.g, p.pure, p.x), seen = call_on(p.g, p.note, p.x), out;
  arrjit_if_begin(p.g, arrjit_gt(p.g, seen, arrjit_const_f64(p.g, -5)));
  arrjit_if_else(p.g, 1, &y); /* the first use: the call stands before the `if` */
  arrjit_if_end(p.g, 1, &seen, &out);
  RETURN(p.g, call_on(p.g, p.note, out), y);
  arrjit_function *function = tk_finish(f, p.g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, F64, -1));
  EXPECT_FAILURE(o, ARRJIT_KIND_CALLBACK, ARRJIT_FAILED, NULL);
  assert_string_equal(o->log, "note " MINUS_ONE "pure " MINUS_ONE);
  assert_string_equal(o->path, "callback");
  o = RUN(f, function, SCALAR(f, F64, 1));
  EXPECT(o, 0, F64, 2);
  assert_string_equal(o->log, "note " ONE "pure " ONE "note " TWO);
}

/* Arms and bodies have their own; passes of the optimiser do not change which run. */
static void test_pure_calls_in_arms_and_loops(void **state) {
  tk_fixture *f = *state;
  pure_graph p = begin_pure(f);
  arrjit_value i, vars[1], out[1], arm;
  arrjit_if_begin(p.g, arrjit_const_bool(p.g, 1));
  (void)call_on(p.g, p.pure, arrjit_const_f64(p.g, -1));
  arrjit_value y = call_on(p.g, p.pure, p.x);
  arrjit_if_else(p.g, 1, &y);
  y = call_on(p.g, p.pure, arrjit_const_f64(p.g, -1));
  arrjit_if_end(p.g, 1, &y, &arm);
  FOR(p.g, arrjit_const_i64(p.g, 0), arrjit_const_i64(p.g, 2), arrjit_const_i64(p.g, 1), &i, vars, p.x);
  arrjit_value a = call_on(p.g, p.pure, p.x), b = call_on(p.g, p.pure, p.x);
  arrjit_value unused = arrjit_sub(p.g, a, b); /* integer passes could drop it, this one must not */
  arrjit_for_end(p.g, LIST(arrjit_add(p.g, vars[0], arrjit_add(p.g, a, unused))), out);
  RETURN(p.g, arm, out[0]);
  const tk_outcome *o = RUN(f, tk_finish(f, p.g), SCALAR(f, F64, 1));
  EXPECT(o, 0, F64, 2);
  EXPECT(o, 1, F64, 5);
  assert_string_equal(o->log, "pure " ONE "pure " ONE "pure " ONE);
}

static arrjit_status count_up(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  arrjit_view out;
  return arrjit_call_result(call, 0, I64S(3), &out);
}

/* Extents are used without being operands: such calls stay as they are. */
static void test_pure_calls_with_dynamic_results_stay(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot = arrjit_slot_value(g, "pure", 0, NULL, TYPES(TYPE(F64, ARRJIT_DYNAMIC_DIM)), ARRJIT_SLOT_PURE);
  arrjit_value a, b;
  (arrjit_callback)(g, slot, 0, NULL, &a);
  (arrjit_callback)(g, slot, 0, NULL, &b);
  arrjit_type type = arrjit_value_type(b);
  RETURN(g, arrjit_iota(g, ARRJIT_I64, 1, type.dims, 0));
  tk_bind(f, "pure", count_up, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT(o, 0, I64, 0, 1, 2);
  assert_string_equal(o->log, "pure\npure\n");
}

static void test_flags_fit_the_slot(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  (void)arrjit_slot_value(g, "value", TYPES(TYPE(F64)), TYPES(TYPE(F64)), ARRJIT_SLOT_OPTIONAL);
  tk_finish_fails(f, g, ARRJIT_MISUSE, "a value slot cannot be optional: without a callback nothing makes its results",
                  NULL);
  g = tk_graph(f);
  (void)arrjit_slot_io(g, "io", TYPES(TYPE(F64)), ARRJIT_SLOT_PURE);
  tk_finish_fails(f, g, ARRJIT_MISUSE, "expected 0 or ARRJIT_SLOT_OPTIONAL", NULL);
}

/* ---- what a function binds ---- */

typedef struct owner {
  double number;
  _Atomic int destroyed;
} owner;

static void destroy_owner(void *user) { atomic_fetch_add(&((owner *)user)->destroyed, 1); }

static arrjit_status put_number(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)args, (void)result_count;
  *(double *)results[0].data = ((owner *)user)->number;
  return ARRJIT_OK;
}

static double plain_number(void) { return 7; }

static arrjit_function *build_numbers(tk_fixture *f) { /* a() + 10 b(), after note() */
  arrjit_graph *g = tk_graph(f);
  arrjit_value a, b;
  (arrjit_callback)(g, arrjit_slot_io(g, "note", 0, NULL, 0), 0, NULL, NULL);
  (arrjit_callback)(g, arrjit_slot_value(g, "a", 0, NULL, TYPES(TYPE(F64)), 0), 0, NULL, &a);
  (arrjit_callback)(g, arrjit_slot_value(g, "b", 0, NULL, TYPES(TYPE(F64)), 0), 0, NULL, &b);
  RETURN(g, arrjit_add(g, a, arrjit_mul(g, b, arrjit_const_f64(g, 10))));
  return tk_finish(f, g);
}

static void bind_owner(arrjit_function *function, const char *slot, owner *own) {
  arrjit_error error;
  arrjit_binding binding = {.slot = slot, .callback = put_number, .user = own};
  if (arrjit_function_bind(function, &binding, destroy_owner, &error) != ARRJIT_OK) fail_msg("%s", error.message);
}

static void unbind(arrjit_function *function, const char *slot) {
  assert_int_equal(arrjit_function_bind(function, &(arrjit_binding){.slot = slot}, NULL, NULL), ARRJIT_OK);
}

static arrjit_status put_by_run(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  *(double *)results[0].data = 9;
  return ARRJIT_OK;
}

/* Defaults, what a run binds before them, replacing and removing between runs; what is unbound fails before an effect.
 */
static void test_case_f29_bindings_of_a_function(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_numbers(f);
  owner one = {.number = 1}, two = {.number = 2}, three = {.number = 3};
  tk_bind(f, "note", NULL, NULL);
  bind_owner(function, "a", &one);
  const tk_outcome *o = RUN(f, function);
  EXPECT_FAILURE(o, ARRJIT_KIND_UNBOUND, 0, "callback slot \"b\" is not bound");
  assert_string_equal(o->log, "");
  bind_owner(function, "b", &two);
  o = RUN(f, function);
  EXPECT(o, 0, F64, 21);
  assert_string_equal(o->log, "note\n");
  bind_owner(function, "a", &three);
  assert_int_equal(one.destroyed, 1);
  EXPECT(RUN(f, function), 0, F64, 23);
  arrjit_binding plain = {.slot = "b", .direct = (void (*)(void))plain_number};
  assert_int_equal(arrjit_function_bind(function, &plain, NULL, NULL), ARRJIT_OK);
  assert_int_equal(two.destroyed, 1);
  EXPECT(RUN(f, function), 0, F64, 73);
  tk_bind(f, "b", put_by_run, NULL);
  o = RUN(f, function);
  EXPECT(o, 0, F64, 93);
  assert_string_equal(o->log, "note\nb\n");
  unbind(function, "a");
  assert_int_equal(three.destroyed, 1);
  EXPECT_FAILURE(RUN(f, function), ARRJIT_KIND_UNBOUND, 0, "callback slot \"a\" is not bound");
}

static void test_bindings_go_with_the_function(void **state) {
  tk_fixture *f = *state;
  owner own = {.number = 1};
  arrjit_graph *g = tk_graph(f);
  arrjit_function *function = NULL;
  arrjit_value a;
  (arrjit_callback)(g, arrjit_slot_value(g, "a", 0, NULL, TYPES(TYPE(F64)), 0), 0, NULL, &a);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "value {0}", a);
  RETURN(g, a);
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  bind_owner(function, "a", &own);
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_run(function, NULL, 0, NULL, &result, NULL), ARRJIT_OK);
  arrjit_function_release(function);
  assert_int_equal(own.destroyed, 0); /* the result's trace holds the function */
  assert_string_equal(arrjit_result_message(result), "value 1");
  arrjit_result_destroy(result);
  assert_int_equal(own.destroyed, 1);
}

/* The callback binds its slot anew, and goes on with what it was bound to: until the run has ended. */
typedef struct rebinder {
  arrjit_function *function;
  owner self, *next;
  int calls;
} rebinder;

static void destroy_rebinder(void *user) { destroy_owner(&((rebinder *)user)->self); }

static arrjit_status rebind(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  rebinder *r = user;
  if (r->calls++ == 0) bind_owner(r->function, "a", r->next);
  assert_int_equal(r->self.destroyed, 0);
  return put_number(&r->self, call, arg_count, args, result_count, results);
}

/* What two calls of the slot "a" give. */
static arrjit_function *build_two_calls(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value a, b;
  arrjit_slot slot = arrjit_slot_value(g, "a", 0, NULL, TYPES(TYPE(F64)), 0);
  (arrjit_callback)(g, slot, 0, NULL, &a);
  (arrjit_callback)(g, slot, 0, NULL, &b);
  RETURN(g, a, b);
  return tk_finish(f, g);
}

static void test_runs_keep_the_bindings_they_began_with(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_two_calls(f);
  for (int whole = 0; whole <= tk_native(); whole++) {
    owner next = {.number = 5};
    rebinder r = {.function = function, .self = {.number = 4}, .next = &next};
    arrjit_binding binding = {.slot = "a", .callback = rebind, .user = &r};
    assert_int_equal(arrjit_function_bind(function, &binding, destroy_rebinder, NULL), ARRJIT_OK);
    arrjit_run_options o = {.struct_bytes = sizeof o, .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
    for (int k = 0; k < 2; k++) {
      arrjit_result *result = NULL;
      assert_int_equal(arrjit_run(function, &o, 0, NULL, &result, NULL), ARRJIT_OK);
      assert_true(*(double *)arrjit_array_data(arrjit_result_output(result, 0)) == 4 + k);
      assert_true(*(double *)arrjit_array_data(arrjit_result_output(result, 1)) == 4 + k);
      arrjit_result_destroy(result);
      assert_int_equal(r.self.destroyed, 1);
    }
    unbind(function, "a");
    assert_int_equal(next.destroyed, 1);
  }
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 300 };
typedef struct crowd {
  arrjit_function *function;
  owner owners[ROUNDS + 1];
  _Atomic int bad, over;
} crowd;

static void *run_rounds(void *user) {
  crowd *c = user;
  for (int k = 0; !atomic_load(&c->over) || k < ROUNDS; k++) {
    arrjit_run_options o = {.struct_bytes = sizeof o,
                            .mode = k % 2 && tk_native() ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
    arrjit_result *result = NULL;
    if (arrjit_run(c->function, &o, 0, NULL, &result, NULL) != ARRJIT_OK || !arrjit_result_ok(result)) {
      atomic_fetch_add(&c->bad, 1);
    } else { /* both calls of a run see one binding, and it is alive */
      double a = *(double *)arrjit_array_data(arrjit_result_output(result, 0));
      double b = *(double *)arrjit_array_data(arrjit_result_output(result, 1));
      if (a != b || a < 0) atomic_fetch_add(&c->bad, 1);
    }
    arrjit_result_destroy(result);
  }
  return NULL;
}

static void destroy_number(void *user) {
  ((owner *)user)->number = -1;
  destroy_owner(user);
}

static void test_threads_run_while_another_binds(void **state) {
  tk_fixture *f = *state;
  crowd *c = tk_new(1, sizeof *c);
  c->function = build_two_calls(f);
  pthread_t threads[THREADS];
  for (int k = 0; k <= ROUNDS; k++) c->owners[k].number = k;
  arrjit_binding binding = {.slot = "a", .callback = put_number, .user = &c->owners[0]};
  assert_int_equal(arrjit_function_bind(c->function, &binding, destroy_number, NULL), ARRJIT_OK);
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&threads[k], NULL, run_rounds, c), 0);
  for (int k = 1; k <= ROUNDS; k++) {
    binding.user = &c->owners[k];
    if (arrjit_function_bind(c->function, &binding, destroy_number, NULL) != ARRJIT_OK) atomic_fetch_add(&c->bad, 1);
  }
  atomic_store(&c->over, 1);
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  unbind(c->function, "a");
  assert_int_equal(c->bad, 0);
  for (int k = 0; k <= ROUNDS; k++) assert_int_equal(c->owners[k].destroyed, 1);
  free(c);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_pure_calls_that_nothing_needs_are_dropped), TK_TEST(test_equal_pure_calls_are_merged),
    TK_TEST(test_pure_calls_fail_at_their_first_use),        TK_TEST(test_pure_calls_in_arms_and_loops),
    TK_TEST(test_pure_calls_with_dynamic_results_stay),      TK_TEST(test_flags_fit_the_slot),
    TK_TEST(test_case_f29_bindings_of_a_function),           TK_TEST(test_bindings_go_with_the_function),
    TK_TEST(test_runs_keep_the_bindings_they_began_with),    TK_TEST(test_threads_run_while_another_binds),
};

TEST_MAIN(tests, NULL, NULL)
