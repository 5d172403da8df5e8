/* What compiling costs: nests as deep as options allow and rows as long, of every construct, on scalars and on arrays.
 * Each becomes native code within the budget, or is stopped and says so; either way the result is the interpreter's. */
#include <inttypes.h>
#include <time.h>

#include "fixture.h"

typedef struct shape {
  const char *name;
  int count;
  bool array; /* values are f64[8], else scalars */
  bool quick; /* must be compiled, not stopped */
  arrjit_value (*build)(arrjit_graph *g, const struct shape *s, arrjit_value x);
} shape;

/* ---- nests: what each level begins, what is left of it when its inside is done ---- */

typedef void opener(arrjit_graph *g, int level, arrjit_value scalar, arrjit_value x, arrjit_value *out_inner);
typedef void closer(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out);

static arrjit_value as_scalar(arrjit_graph *g, const shape *s, arrjit_value x) {
  return s->array ? (arrjit_reduce_sum)(g, x, INTS(0)) : x;
}

static arrjit_value nest(arrjit_graph *g, const shape *s, arrjit_value x, opener *open, closer *close) {
  arrjit_value *levels = tk_new((size_t)s->count + 1, sizeof *levels), out = NULL;
  levels[0] = x;
  for (int i = 0; i < s->count; i++) open(g, i, as_scalar(g, s, levels[i]), levels[i], &levels[i + 1]);
  out = levels[s->count];
  for (int i = s->count; i-- > 0;) close(g, levels[i], out, &out);
  free(levels);
  return out;
}

static void open_if(arrjit_graph *g, int level, arrjit_value scalar, arrjit_value x, arrjit_value *out) {
  arrjit_if_begin(g, arrjit_gt(g, scalar, arrjit_const_f64(g, level)));
  *out = arrjit_add(g, x, x);
}
static void close_if(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out) {
  arrjit_if_else(g, 1, &inner);
  arrjit_value other = arrjit_mul(g, x, x);
  arrjit_if_end(g, 1, &other, out);
}

/* Arms that raise with what is alive far outside. */
static void close_if_raise(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out) {
  arrjit_if_else(g, 1, &inner);
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "at {0}", x);
  arrjit_if_end(g, 0, NULL, out);
}

static void open_switch(arrjit_graph *g, int level, arrjit_value scalar, arrjit_value x, arrjit_value *out) {
  (void)level;
  arrjit_switch_begin(g, arrjit_convert(g, scalar, ARRJIT_I64));
  *out = arrjit_add(g, x, x);
}
static void close_switch(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out) {
  arrjit_switch_case(g, 1, &inner);
  arrjit_value other = arrjit_mul(g, x, x);
  arrjit_switch_end(g, 1, &other, out);
}

static void open_for(arrjit_graph *g, int level, arrjit_value scalar, arrjit_value x, arrjit_value *out) {
  arrjit_value i, var, zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1);
  (void)level, (void)scalar;
  FOR(g, zero, one, one, &i, &var, x);
  *out = arrjit_add(g, var, x);
}
static void close_for(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out) {
  (void)x;
  arrjit_for_end(g, 1, &inner, out);
}

static void open_while(arrjit_graph *g, int level, arrjit_value scalar, arrjit_value x, arrjit_value *out) {
  arrjit_value vars[2];
  (void)scalar;
  WHILE(g, vars, x, arrjit_const_bool(g, level < 5));
  arrjit_while_body(g, vars[1], vars);
  *out = arrjit_add(g, vars[0], x);
}
static void close_while(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out) {
  arrjit_value next[2] = {inner, arrjit_const_bool(g, 0)}, both[2];
  (void)x;
  arrjit_while_end(g, 2, next, both);
  *out = both[0];
}

static void open_try(arrjit_graph *g, int level, arrjit_value scalar, arrjit_value x, arrjit_value *out) {
  arrjit_try_begin(g);
  arrjit_value below = arrjit_lt(g, scalar, arrjit_const_f64(g, 1e300)), sum = arrjit_add(g, x, x);
  CHECK(g, below, ARRJIT_KIND_RUNTIME, level, "{0}", LIST(scalar), out, sum);
}
static void close_try(arrjit_graph *g, arrjit_value x, arrjit_value inner, arrjit_value *out) {
  arrjit_value exn;
  arrjit_try_handler(g, 1, &inner, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_try_end(g, 1, &x, out);
}

#define NEST(name, open, close)                                                                                        \
  static arrjit_value name(arrjit_graph *g, const shape *s, arrjit_value x) { return nest(g, s, x, open, close); }
NEST(nest_if, open_if, close_if)
NEST(nest_if_raise, open_if, close_if_raise)
NEST(nest_switch, open_switch, close_switch)
NEST(nest_for, open_for, close_for)
NEST(nest_while, open_while, close_while)
NEST(nest_try, open_try, close_try)

/* ---- rows ---- */

static arrjit_value row_cases(arrjit_graph *g, const shape *s, arrjit_value x) {
  arrjit_value y, out;
  arrjit_switch_begin(g, arrjit_convert(g, x, ARRJIT_I64));
  for (int i = 0; i < s->count; i++) {
    y = arrjit_mul(g, x, arrjit_const_f64(g, i + 0.5));
    if (i + 1 < s->count) arrjit_switch_case(g, 1, &y);
  }
  arrjit_switch_end(g, 1, &y, &out);
  return out;
}

static arrjit_value row_ifs(arrjit_graph *g, const shape *s, arrjit_value x) {
  for (int i = 0; i < s->count; i++) {
    arrjit_if_begin(g, arrjit_gt(g, as_scalar(g, s, x), arrjit_const_f64(g, i)));
    arrjit_value y = arrjit_add(g, x, arrjit_const_f64(g, 1.5));
    arrjit_if_else(g, 1, &y);
    y = arrjit_mul(g, x, arrjit_const_f64(g, 0.75));
    arrjit_if_end(g, 1, &y, &x);
  }
  return x;
}

static arrjit_value row_checks(arrjit_graph *g, const shape *s, arrjit_value x) {
  for (int i = 0; i < s->count; i++) {
    arrjit_value below = arrjit_lt(g, x, arrjit_const_f64(g, 1e9 + i));
    CHECK(g, below, ARRJIT_KIND_RUNTIME, 1, "{0}", LIST(x), &x, x);
    x = arrjit_add(g, x, arrjit_const_f64(g, 1));
  }
  return x;
}

static arrjit_value row_loops(arrjit_graph *g, const shape *s, arrjit_value x) {
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), two = arrjit_const_i64(g, 2), i, var;
  for (int k = 0; k < s->count; k++) {
    FOR(g, zero, two, one, &i, &var, x);
    var = arrjit_mul(g, var, arrjit_const_f64(g, 0.5));
    arrjit_for_end(g, 1, &var, &x);
  }
  return x;
}

static arrjit_value row_sums(arrjit_graph *g, const shape *s, arrjit_value x) {
  for (int i = 0; i < s->count; i++) x = arrjit_sub(g, x, as_scalar(g, s, x));
  return x;
}

static const shape shapes[] = {
    {"990 ifs", 990, false, true, nest_if},
    {"200 ifs on arrays", 200, true, true, nest_if},
    {"990 ifs that raise", 990, false, true, nest_if_raise},
    {"990 switches", 990, false, true, nest_switch},
    {"990 fors", 990, false, true, nest_for},
    {"990 fors on arrays", 990, true, true, nest_for},
    {"990 whiles", 990, false, true, nest_while},
    {"990 whiles on arrays", 990, true, true, nest_while},
    {"990 tries", 990, false, true, nest_try},
    {"990 tries on arrays", 990, true, false, nest_try},
    {"a switch of 5000 cases", 5000, false, true, row_cases},
    {"a row of 2000 ifs", 2000, false, true, row_ifs},
    {"a row of 2000 checks", 2000, false, true, row_checks},
    {"a row of 500 checks on arrays", 500, true, true, row_checks},
    {"a row of 2000 loops", 2000, false, true, row_loops},
    {"a row of 200 sums", 200, true, true, row_sums},
};

static arrjit_function *make(tk_fixture *f, const shape *s) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = s->array ? PARAM(g, "x", F64, 8) : PARAM(g, "x", F64);
  RETURN(g, s->build(g, s, x));
  return tk_finish(f, g);
}

static bool was_stopped(arrjit_context *context) {
  arrjit_event event;
  bool stopped = false;
  while (arrjit_context_next_event(context, &event)) stopped = stopped || event.code == ARRJIT_EVENT_COMPILE_STOPPED;
  return stopped;
}

/* Processor time of all threads: whatever else the machine does. */
static int64_t used_ms(void) { return (int64_t)((double)clock() * 1e3 / CLOCKS_PER_SEC); }

static void try_shape(tk_fixture *f, const shape *s, int64_t budget_ms) {
  arrjit_function *function = make(f, s);
  arrjit_array *x = s->array ? ARRAY(f, F64, 1, 2, 3, 4, 5, 6, 7, 8) : SCALAR(f, F64, 1.5);
  tk_call call = {.input_count = 1, .inputs = &x};
  tk_outcome interp, whole;
  tk_run_mode(f->context, function, TK_INTERP, &call, &interp);
  int64_t start_ms = used_ms();
  tk_run_mode(f->context, function, TK_WHOLE, &call, &whole);
  int64_t ms = used_ms() - start_ms;
  char *why = NULL;
  if (!tk_outcome_same(&interp, &whole, &why)) fail_msg("%s: %s", s->name, why);
  bool stopped = was_stopped(f->context);
  printf("%s, budget %" PRId64 " ms: %s after %" PRId64 " ms\n", s->name, budget_ms, stopped ? "stopped" : "compiled",
         ms);
  if (stopped == whole.native) fail_msg("%s: native code %d, stopped %d", s->name, whole.native, stopped);
  if (s->quick && budget_ms >= 10000 && stopped) fail_msg("%s: was not compiled", s->name);
  if (ms > 2 * budget_ms + 500) fail_msg("%s: took %" PRId64 " ms of a budget of %" PRId64, s->name, ms, budget_ms);
  tk_outcome_free(&interp);
  tk_outcome_free(&whole);
}

static void try_all(void **state, int64_t budget_ms) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_error error;
  if (arrjit_context_set_option(f->context, ARRJIT_OPTION_COMPILE_BUDGET_MS, budget_ms, &error) != ARRJIT_OK)
    fail_msg("%s", error.message);
  for (size_t i = 0; i < TK_COUNT(shapes); i++) try_shape(f, &shapes[i], budget_ms);
}

static void test_deep_and_wide_graphs_compile_in_time(void **state) { try_all(state, 10000); }
static void test_small_budgets_are_kept(void **state) { try_all(state, 200); }

/* Text of machine code costs what the code costs. */
static void test_printing_has_the_budget_too(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  const shape s = {"", 100, true, false, nest_if};
  arrjit_function *function = make(f, &s);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_COMPILE_BUDGET_MS, 3, NULL), ARRJIT_OK);
  static const arrjit_print_stage stages[] = {ARRJIT_PRINT_LLVM, ARRJIT_PRINT_ASM};
  for (size_t i = 0; i < TK_COUNT(stages); i++) {
    char *text = NULL;
    size_t bytes;
    arrjit_error error;
    assert_int_equal(arrjit_function_print(function, stages[i], &text, &bytes, &error), ARRJIT_LIMIT);
    assert_non_null(strstr(error.message, "compile_budget_ms"));
    assert_null(text);
  }
}

/* Nests that the compile thread has no stack for are left to the interpreter. */
static void test_bottomless_nests_are_interpreted(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_NESTING, 100000, NULL), ARRJIT_OK);
  static const int depths[] = {2500, 9900, 20000};
  for (size_t i = 0; i < TK_COUNT(depths); i++) {
    const shape s = {"ifs", depths[i], false, false, nest_if};
    try_shape(f, &s, 10000);
  }
}

/* A context does not wait for what nobody will run. */
static void test_destroying_a_context_ends_its_compilation(void **state) {
  (void)state;
  if (!tk_native()) skip();
  tk_fixture f = {.context = tk_context(NULL)};
  const shape s = {"", 990, true, false, nest_while};
  arrjit_graph *g = tk_graph(&f);
  arrjit_function *function = NULL;
  RETURN(g, s.build(g, &s, PARAM(g, "x", F64, 8)));
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  assert_int_equal(arrjit_function_prepare(function, NULL, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_context_destroy(f.context), ARRJIT_OK);
  arrjit_error error;
  assert_int_not_equal(arrjit_function_wait(function, -1, &error), ARRJIT_OK);
  arrjit_function_release(function);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_deep_and_wide_graphs_compile_in_time),
    TK_TEST(test_small_budgets_are_kept),
    TK_TEST(test_printing_has_the_budget_too),
    TK_TEST(test_bottomless_nests_are_interpreted),
    TK_TEST(test_destroying_a_context_ends_its_compilation),
};

TEST_MAIN(tests, NULL, NULL)
