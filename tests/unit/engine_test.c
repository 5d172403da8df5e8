/* The engine: what is checked before a run, outputs that are given, ways to end a run, what runs keep alive, and
 * contexts that end while something of theirs is alive. */
#include <pthread.h>

#include "engine/compiler.h"
#include "fixture.h"

static arrjit_run_options options_of(arrjit_mode mode) {
  return (arrjit_run_options){.struct_bytes = sizeof(arrjit_run_options), .mode = mode};
}

static arrjit_result *run_with(arrjit_function *function, const arrjit_run_options *options, size_t count,
                               arrjit_array *const *inputs) {
  arrjit_result *result = NULL;
  arrjit_error error;
  arrjit_status status = arrjit_run(function, options, count, inputs, &result, &error);
  if (status != ARRJIT_OK) fail_msg("%s: %s", arrjit_status_text(status), error.message);
  return result;
}

#define RUN_WITH(function, options, ...)                                                                               \
  run_with(function, options, sizeof((arrjit_array *[]){__VA_ARGS__}) / sizeof(arrjit_array *),                        \
           ((arrjit_array *const[]){__VA_ARGS__}))

static void expect_failure(arrjit_result *result, arrjit_kind kind, const char *message) {
  assert_int_equal(arrjit_result_ok(result), 0);
  assert_int_equal(arrjit_result_kind(result), kind);
  assert_string_equal(arrjit_result_message(result), message);
  arrjit_result_destroy(result);
}

/* z = x + y, w = x * y over f32[n] */
static arrjit_function *sum_and_product(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, (const int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type);
  const arrjit_value out[] = {arrjit_add(g, x, y), arrjit_mul(g, x, y)};
  const char *const names[] = {"sum", "product"};
  arrjit_return(g, 2, out, names);
  return tk_finish(f, g);
}

/* Counts up for ever. */
static arrjit_function *endless(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), vars[1], out[1];
  WHILE(g, vars, x);
  arrjit_while_body(g, arrjit_const_bool(g, 1), vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], arrjit_const_i64(g, 1))), out);
  RETURN(g, out[0]);
  return tk_finish(f, g);
}

static void test_misuse_is_a_status(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = sum_and_product(f);
  arrjit_array *x = ARRAY(f, F32, 1, 2), *inputs[] = {x, x}, *missing[] = {x, NULL};
  arrjit_result *result = NULL;
  arrjit_run_options options[6];
  for (size_t i = 0; i < TK_COUNT(options); i++) options[i] = options_of(ARRJIT_MODE_INTERP);
  options[0].struct_bytes = 8;
  options[1].mode = (arrjit_mode)9;
  options[2].flags = 4;
  options[3].flags = ARRJIT_RUN_REQUIRE_NATIVE;
  options[4].binding_count = 1;
  options[5].deadline_ns = -1;
  for (size_t i = 0; i < TK_COUNT(options); i++)
    assert_int_equal(arrjit_run(function, &options[i], 2, inputs, &result, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_run(NULL, NULL, 2, inputs, &result, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_run(function, NULL, 2, NULL, &result, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_run(function, NULL, 2, missing, &result, NULL), ARRJIT_MISUSE);
  assert_int_equal(arrjit_run(function, NULL, 2, inputs, NULL, NULL), ARRJIT_MISUSE);
  const arrjit_binding unknown = {.slot = "nobody"};
  arrjit_run_options bound = options_of(ARRJIT_MODE_INTERP);
  bound.binding_count = 1;
  bound.bindings = &unknown;
  assert_int_equal(arrjit_run(function, &bound, 2, inputs, &result, NULL), ARRJIT_MISUSE);
  assert_null(result);
}

static void test_bad_arguments_name_what_came(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = sum_and_product(f);
  arrjit_run_options o = options_of(ARRJIT_MODE_INTERP);
  arrjit_array *x = ARRAY(f, F32, 1, 2), *y = ARRAY(f, F32, 1, 2, 3), *d = ARRAY(f, F64, 1, 2), *s = SCALAR(f, F32, 1);
  expect_failure(RUN_WITH(function, &o, x), ARRJIT_KIND_ARGUMENT, "expected 2 arguments, got 1");
  expect_failure(RUN_WITH(function, &o, x, y), ARRJIT_KIND_ARGUMENT,
                 "argument 1 (\"y\"): axis 0: expected n = 2, got 3");
  expect_failure(RUN_WITH(function, &o, d, x), ARRJIT_KIND_ARGUMENT, "argument 0 (\"x\"): expected f32[n], got f64[2]");
  expect_failure(RUN_WITH(function, &o, x, s), ARRJIT_KIND_ARGUMENT, "argument 1 (\"y\"): expected f32[n], got f32");
}

static void test_bad_outputs_name_what_came(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = sum_and_product(f);
  arrjit_array *x = ARRAY(f, F32, 1, 2), *wrong = ARRAY(f, F32, 1, 2, 3), *other = ARRAY(f, I32, 1, 2);
  arrjit_array *both[2] = {x, x}, *longer[2] = {NULL, wrong}, *typed[2] = {other, NULL};
  arrjit_run_options o = options_of(ARRJIT_MODE_INTERP);
  o.outputs = both;
  expect_failure(RUN_WITH(function, &o, x, x), ARRJIT_KIND_ARGUMENT, "outputs 0 and 1 share memory");
  o.outputs = longer;
  expect_failure(RUN_WITH(function, &o, x, x), ARRJIT_KIND_ARGUMENT,
                 "output 1 (\"product\"): axis 0: expected n = 2, got 3");
  o.outputs = typed;
  expect_failure(RUN_WITH(function, &o, x, x), ARRJIT_KIND_ARGUMENT, "output 0 (\"sum\"): expected f32[n], got i32[2]");
}

static arrjit_array *wrap(tk_fixture *f, float *data, int64_t n, int64_t stride) {
  arrjit_type type = TYPE(F32, n);
  arrjit_array *array = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, data, &stride, NULL, NULL, &array, NULL), ARRJIT_OK);
  return tk_keep(f, array);
}

static void test_given_outputs_may_interleave_but_not_share(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = sum_and_product(f);
  arrjit_array *x = ARRAY(f, F32, 1, 2, 3);
  float table[8] = {0};
  arrjit_array *columns[2] = {wrap(f, table, 3, 8), wrap(f, table + 1, 3, 8)};
  arrjit_run_options o = options_of(ARRJIT_MODE_INTERP);
  o.outputs = columns;
  arrjit_result *result = RUN_WITH(function, &o, x, x);
  assert_int_equal(arrjit_result_ok(result), 1);
  assert_int_equal(arrjit_result_touched(result), 3);
  assert_ptr_equal(arrjit_result_output(result, 1), columns[1]);
  const float want[8] = {2, 1, 4, 4, 6, 9, 0, 0};
  assert_memory_equal(table, want, sizeof table);
  arrjit_result_destroy(result);
  columns[1] = wrap(f, table + 2, 3, 8);
  expect_failure(RUN_WITH(function, &o, x, x), ARRJIT_KIND_ARGUMENT, "outputs 0 and 1 share memory");
  columns[1] = wrap(f, table, 3, 0);
  columns[0] = NULL;
  expect_failure(RUN_WITH(function, &o, x, x), ARRJIT_KIND_ARGUMENT, "output 1: its elements share memory");
}

static void test_endless_loops_end(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = endless(f);
  arrjit_array *x = SCALAR(f, I64, 0);
  arrjit_run_options o = options_of(ARRJIT_MODE_INTERP);
  assert_int_equal(arrjit_cancel_create(f->context, &o.cancel, NULL), ARRJIT_OK);
  arrjit_cancel_trigger(o.cancel);
  expect_failure(RUN_WITH(function, &o, x), ARRJIT_KIND_CANCELLED, "the run was cancelled");
  arrjit_cancel_release(o.cancel);
  o.cancel = NULL;
  o.deadline_ns = arrjit_clock_ns() + 20000000;
  arrjit_result *result = RUN_WITH(function, &o, x);
  assert_true(arrjit_clock_ns() >= o.deadline_ns);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_DEADLINE);
  assert_int_equal(arrjit_result_trace_count(result), 2);
  arrjit_result_destroy(result);
  o.deadline_ns = 0;
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_ITERATIONS, 5, NULL), ARRJIT_OK);
  result = RUN_WITH(function, &o, x);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_LIMIT);
  arrjit_trace_entry entry;
  assert_int_equal(arrjit_result_trace(result, 1, &entry), ARRJIT_OK);
  assert_int_equal(entry.iteration, 5);
  arrjit_result_destroy(result);
}

/* A failure keeps the function that its trace names. */
static void test_results_outlive_function_and_context(void **state) {
  tk_fixture *f = *state;
  arrjit_context *context = tk_context(NULL);
  arrjit_graph *g = NULL;
  arrjit_function *function = NULL;
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_graph_create(context, &g, NULL), ARRJIT_OK);
  arrjit_runtime_raise(g, "always", 0, NULL);
  arrjit_return(g, 0, NULL, NULL);
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  assert_int_equal(arrjit_run(function, NULL, 0, NULL, &result, NULL), ARRJIT_OK);
  arrjit_function_release(function);
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
  arrjit_trace_entry entry;
  assert_int_equal(arrjit_result_trace(result, 0, &entry), ARRJIT_OK);
  assert_string_equal(entry.op, "raise");
  assert_string_equal(entry.function, "main");
  assert_string_equal(arrjit_result_message(result), "always");
  arrjit_result_destroy(result);
  (void)f;
}

typedef struct nest {
  arrjit_function *self;
  arrjit_context *context;
  int depth;
} nest;

/* Runs the function it is called from again, and drops it; the context cannot end meanwhile. */
static arrjit_status run_again(tk_slot *slot, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                               const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  nest *at = slot->user;
  if (arrjit_context_destroy(at->context) != ARRJIT_BUSY) return ARRJIT_INTERNAL;
  if (--at->depth == 0) {
    arrjit_function_release(at->self);
    return ARRJIT_OK;
  }
  tk_outcome o;
  arrjit_array *x = NULL;
  arrjit_type type = TYPE(F64);
  if (arrjit_array_create(at->context, &type, NULL, &x, NULL) != ARRJIT_OK) return ARRJIT_MEMORY;
  tk_slot inner = *slot;
  tk_call again = {.input_count = 1, .inputs = &x, .slot_count = 1, .slots = &inner};
  tk_run_mode(at->context, at->self, TK_INTERP, &again, &o);
  bool ok = o.ok;
  tk_outcome_free(&o);
  arrjit_array_release(x);
  return ok ? ARRJIT_OK : ARRJIT_INTERNAL;
}

static void test_callbacks_may_run_and_drop_their_own_function(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type f64 = TYPE(F64);
  arrjit_value x = (arrjit_param)(g, "x", &f64), y;
  arrjit_slot slot = arrjit_slot_io(g, "again", 1, &f64, 0);
  CALLBACK(g, slot, &y, x);
  RETURN(g, arrjit_add(g, y, y));
  arrjit_function *function = NULL;
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  nest at = {.self = function, .context = f->context, .depth = 3};
  arrjit_array *in = SCALAR(f, F64, 2);
  tk_bind(f, "again", run_again, &at);
  tk_call call = {.input_count = 1, .inputs = &in, .slot_count = 1, .slots = f->slots};
  tk_outcome o;
  /* not tk_run_mode: the last run drops the function, which must not be asked afterwards */
  arrjit_function_retain(function);
  tk_run_mode(f->context, function, TK_INTERP, &call, &o);
  arrjit_function_release(function);
  EXPECT(&o, 0, F64, 4);
  tk_outcome_free(&o);
}

typedef struct worker {
  arrjit_function *function;
  arrjit_array *good, *bad;
  int wrong;
} worker;

static void *run_many(void *arg) {
  worker *w = arg;
  arrjit_run_options o = options_of(ARRJIT_MODE_AUTO);
  for (int i = 0; i < 200; i++) {
    arrjit_array *inputs[2] = {w->good, i % 2 ? w->bad : w->good};
    arrjit_result *result = NULL;
    if (arrjit_run(w->function, &o, 2, inputs, &result, NULL) != ARRJIT_OK || arrjit_result_ok(result) != (i % 2 == 0))
      w->wrong++;
    else if (i % 2 == 0 && ((float *)arrjit_array_data(arrjit_result_output(result, 0)))[1] != 4)
      w->wrong++;
    arrjit_result_destroy(result);
  }
  return NULL;
}

static void test_threads_share_a_function(void **state) {
  tk_fixture *f = *state;
  enum { THREADS = 4 };
  worker w[THREADS];
  pthread_t threads[THREADS];
  arrjit_function *function = sum_and_product(f);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_HOT_WORK, 100, NULL), ARRJIT_OK);
  arrjit_array *good = ARRAY(f, F32, 1, 2), *bad = ARRAY(f, F32, 1, 2, 3);
  for (int i = 0; i < THREADS; i++) w[i] = (worker){.function = function, .good = good, .bad = bad};
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_many, &w[i]), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(w[i].wrong, 0);
  assert_int_equal(arrjit_context_wait_idle(f->context, -1), ARRJIT_OK);
  arrjit_statistics s;
  arrjit_context_get_statistics(f->context, &s);
  assert_int_equal(s.runs_interpreted + s.runs_native, 400);
  assert_int_equal(s.runs_failed, 400);
  arrjit_function_statistics own;
  arrjit_function_get_statistics(function, &own);
  assert_int_equal(own.native_runs, s.runs_native);
  assert_int_equal(own.interpreted_runs, s.runs_interpreted);
}

static void test_runs_of_functions_that_are_gone_still_count(void **state) {
  tk_fixture *f = *state;
  arrjit_error error;
  arrjit_graph *g;
  arrjit_function *function;
  arrjit_result *result;
  arrjit_statistics before, after;
  assert_int_equal(arrjit_graph_create(f->context, &g, &error), ARRJIT_OK);
  RETURN(g, arrjit_const_i64(g, 7));
  assert_int_equal(arrjit_graph_finish(g, &function, &error), ARRJIT_OK);
  arrjit_graph_destroy(g);
  arrjit_context_get_statistics(f->context, &before);
  for (int whole = 0; whole <= tk_native(); whole++) {
    const arrjit_run_options o = {.struct_bytes = sizeof o, .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
    assert_int_equal(arrjit_run(function, &o, 0, NULL, &result, &error), ARRJIT_OK);
    assert_true(arrjit_result_ok(result));
    arrjit_result_destroy(result);
  }
  arrjit_function_release(function);
  arrjit_context_get_statistics(f->context, &after);
  assert_int_equal(after.runs_interpreted - before.runs_interpreted, 1);
  assert_int_equal(after.runs_native - before.runs_native, tk_native());
}

static void test_without_native_code_whole_interprets_and_says_so(void **state) {
  tk_fixture *f = *state;
  arrjit_context_options made = {.struct_bytes = sizeof made, .native_path = "/nowhere/libarrjit_native.so"};
  arrjit_context *context = NULL;
  assert_int_equal(arrjit_context_create(&made, &context, NULL), ARRJIT_OK);
  arrjit_context *kept = f->context;
  f->context = context;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64);
  RETURN(g, arrjit_add(g, x, x));
  arrjit_function *function = NULL;
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  f->context = kept;
  if (arrjit_function_prepare(function, NULL, NULL) == ARRJIT_OK) { /* another test may have opened the module */
    arrjit_status status = arrjit_function_wait(function, -1, NULL);
    assert_true(status == ARRJIT_UNAVAILABLE || tk_native());
  }
  if (!tk_native()) {
    arrjit_run_options o = options_of(ARRJIT_MODE_WHOLE);
    arrjit_array *in = SCALAR(f, F64, 2);
    arrjit_result *result = RUN_WITH(function, &o, in);
    assert_int_equal(arrjit_result_ok(result), 1);
    arrjit_result_destroy(result);
    o.flags = ARRJIT_RUN_REQUIRE_NATIVE;
    arrjit_error error;
    assert_int_equal(arrjit_run(function, &o, 1, &in, &result, &error), ARRJIT_UNAVAILABLE);
    assert_true(error.message[0] != '\0');
    arrjit_event event = {0};
    bool stopped = false;
    while (arrjit_context_next_event(context, &event)) stopped = stopped || event.code == ARRJIT_EVENT_COMPILE_STOPPED;
    assert_true(stopped);
    arrjit_statistics s;
    arrjit_context_get_statistics(context, &s);
    assert_int_equal(s.compilations_stopped, 1);
    assert_int_equal(s.runs_native, 0);
  }
  arrjit_function_release(function);
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
}

static int count_events(arrjit_context *context, arrjit_event_code code) {
  arrjit_event event;
  int count = 0;
  while (arrjit_context_next_event(context, &event)) count += event.code == code;
  return count;
}

/* Runs in auto, each time as hot as can be, `runs` times; how often a compilation was begun. */
static int count_compilations(tk_fixture *f, arrjit_function *function, int runs) {
  arrjit_run_options o = options_of(ARRJIT_MODE_AUTO);
  arrjit_array *x = ARRAY(f, F32, 1, 2);
  int count = 0;
  for (int i = 0; i < runs; i++) {
    arrjit_result_destroy(RUN_WITH(function, &o, x, x));
    assert_int_equal(arrjit_context_wait_idle(f->context, -1), ARRJIT_OK);
    count += count_events(f->context, ARRJIT_EVENT_COMPILE_QUEUED);
  }
  return count;
}

/* What is above the budget is told once, not again by each run that goes without. */
static void test_stopped_compilations_are_told_once(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_run_options whole = options_of(ARRJIT_MODE_WHOLE);
  arrjit_array *x = ARRAY(f, F32, 1, 2);
  arrjit_function *function = sum_and_product(f);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_COMPILE_BUDGET_MS, 0, NULL), ARRJIT_OK);
  arrjit_result_destroy(RUN_WITH(function, &whole, x, x));
  arrjit_result_destroy(RUN_WITH(function, &whole, x, x));
  assert_int_equal(count_events(f->context, ARRJIT_EVENT_COMPILE_STOPPED), 1);
}

/* One that is above the budget is never asked for again; one for which there was no memory ever more rarely. */
static void test_auto_does_not_ask_again_and_again(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_run_options interp = options_of(ARRJIT_MODE_INTERP);
  arrjit_array *x = ARRAY(f, F32, 1, 2);
  arrjit_function *first = sum_and_product(f), *second = sum_and_product(f);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_HOT_WORK, 0, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_COMPILE_BUDGET_MS, 0, NULL), ARRJIT_OK);
  assert_int_equal(count_compilations(f, first, 100), 1);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_COMPILE_BUDGET_MS, 10000, NULL), ARRJIT_OK);
  arrjit_result_destroy(RUN_WITH(second, &interp, x, x));
  atomic_store(&f->alloc.most, 4095); /* arenas of a compilation begin with 4096 */
  assert_in_range(count_compilations(f, second, 500), 2, 14);
  atomic_store(&f->alloc.most, 0);
}

static void test_contexts_end_with_functions_alive(void **state) {
  (void)state;
  tk_alloc alloc = {0};
  arrjit_allocator host = tk_alloc_host(&alloc);
  for (int queued = 0; queued < 2; queued++) {
    arrjit_context *context = tk_context(&host);
    arrjit_graph *g = NULL;
    arrjit_function *functions[3];
    for (int i = 0; i < 3; i++) {
      assert_int_equal(arrjit_graph_create(context, &g, NULL), ARRJIT_OK);
      arrjit_value x = PARAM(g, "x", F64);
      RETURN(g, arrjit_add(g, x, x));
      assert_int_equal(arrjit_graph_finish(g, &functions[i], NULL), ARRJIT_OK);
      arrjit_graph_destroy(g);
      if (queued) (void)!arrjit_function_prepare(functions[i], NULL, NULL);
    }
    arrjit_function_release(functions[1]);
    assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_run(functions[0], NULL, 0, NULL, &result, NULL), ARRJIT_MISUSE);
    arrjit_function_release(functions[0]);
    arrjit_function_release(functions[2]);
    assert_int_equal(atomic_load(&alloc.live_bytes), 0);
  }
}

static void test_options_have_ranges(void **state) {
  tk_fixture *f = *state;
  arrjit_error error;
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_DEPTH, 0, &error), ARRJIT_MISUSE);
  assert_string_equal(error.message, "option max_depth is 0, expected 1 to 100000");
  assert_int_equal(arrjit_context_set_option(f->context, (arrjit_option)99, 0, &error), ARRJIT_MISUSE);
  assert_int_equal(arrjit_context_get_option(f->context, ARRJIT_OPTION_MAX_DEPTH), 1000);
}

/* Context, function, argument error, run and job: each allocation fails once, nothing is left behind. */
static arrjit_status live_once(const arrjit_allocator *host) {
  const arrjit_context_options made = {
      .struct_bytes = sizeof made, .allocator = host, .native_path = "/nowhere/libarrjit_native.so"};
  arrjit_context *context = NULL;
  arrjit_graph *g = NULL;
  arrjit_function *function = NULL;
  arrjit_array *x = NULL;
  arrjit_result *results[3] = {NULL};
  arrjit_runner *runner = NULL;
  arrjit_job *job = NULL;
  arrjit_type type = TYPE(F64, 2);
  arrjit_status status = arrjit_context_create(&made, &context, NULL);
  if (status == ARRJIT_OK) status = arrjit_graph_create(context, &g, NULL);
  if (status == ARRJIT_OK) {
    arrjit_value v = arrjit_param(g, "x", &type);
    RETURN(g, arrjit_add(g, v, v));
    status = arrjit_graph_finish(g, &function, NULL);
    arrjit_graph_destroy(g);
  }
  if (status == ARRJIT_OK) status = arrjit_array_create(context, &type, NULL, &x, NULL);
  if (status == ARRJIT_OK) status = arrjit_run(function, NULL, 0, NULL, &results[0], NULL);
  if (status == ARRJIT_OK) status = arrjit_run(function, NULL, 1, &x, &results[1], NULL);
  if (status == ARRJIT_OK) status = arrjit_runner_create(context, NULL, &runner, NULL);
  if (status == ARRJIT_OK) status = arrjit_runner_submit(runner, function, NULL, 1, &x, &job, NULL);
  if (status == ARRJIT_OK) status = arrjit_job_wait(job, -1, &results[2], NULL);
  for (size_t i = 0; i < TK_COUNT(results); i++) arrjit_result_destroy(results[i]);
  arrjit_job_release(job);
  assert_int_equal(arrjit_runner_destroy(runner), ARRJIT_OK);
  arrjit_array_release(x);
  arrjit_function_release(function);
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
  return status;
}

static void test_every_failing_allocation_is_survived(void **state) {
  (void)state;
  tk_alloc alloc = {0};
  arrjit_allocator host = tk_alloc_host(&alloc);
  for (int64_t n = 1, failed = 1; failed; n++) {
    tk_alloc_arm(&alloc, n);
    arrjit_status status = live_once(&host);
    failed = atomic_load(&alloc.failed);
    assert_true(status == ARRJIT_OK || (failed && status == ARRJIT_MEMORY));
    assert_int_equal(atomic_load(&alloc.live_bytes), 0);
    assert_int_equal(atomic_load(&alloc.mistakes), 0);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_misuse_is_a_status),
    TK_TEST(test_bad_arguments_name_what_came),
    TK_TEST(test_bad_outputs_name_what_came),
    TK_TEST(test_given_outputs_may_interleave_but_not_share),
    TK_TEST(test_endless_loops_end),
    TK_TEST(test_results_outlive_function_and_context),
    TK_TEST(test_callbacks_may_run_and_drop_their_own_function),
    TK_TEST(test_threads_share_a_function),
    TK_TEST(test_runs_of_functions_that_are_gone_still_count),
    TK_TEST(test_without_native_code_whole_interprets_and_says_so),
    TK_TEST(test_stopped_compilations_are_told_once),
    TK_TEST(test_auto_does_not_ask_again_and_again),
    TK_TEST(test_contexts_end_with_functions_alive),
    TK_TEST(test_options_have_ranges),
    TK_TEST(test_every_failing_allocation_is_survived),
};

TEST_MAIN(tests, NULL, NULL)
