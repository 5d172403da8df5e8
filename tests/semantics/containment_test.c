/* After a failure: what results hold, who else notices, and that everything works on. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>

#include "fixture.h"

static arrjit_run_options mode_options(int whole) {
  return (arrjit_run_options){.struct_bytes = sizeof(arrjit_run_options),
                              .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
}

static arrjit_result *run_by_hand(arrjit_function *function, const arrjit_run_options *options, size_t count,
                                  arrjit_array *const *inputs) {
  arrjit_result *result = NULL;
  arrjit_error error = {0};
  if (arrjit_run(function, options, count, inputs, &result, &error) != ARRJIT_OK) fail_msg("run: %s", error.message);
  return result;
}

/* Payload of three arrays, one of them large; the result stands when inputs change and context and function are gone.
 */
static void test_case_f36_payload_outlives_everything(void **state) {
  tk_fixture *f = *state;
  enum { MANY = 1 << 18 };
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_allocator host = tk_alloc_host(&f->alloc);
    arrjit_context *context = tk_context(&host);
    arrjit_graph *g = NULL;
    assert_int_equal(arrjit_graph_create(context, &g, NULL), ARRJIT_OK);
    arrjit_value big = PARAM(g, "big", F32, MANY), flags = PARAM(g, "flags", BOOL, 3), zero = arrjit_const_i64(g, 0), i;
    (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 9), arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
    arrjit_if_begin(g, arrjit_eq(g, i, arrjit_const_i64(g, 6)));
    RAISE(g, ARRJIT_KIND_RUNTIME, 0, "at {0}", i, big, flags);
    arrjit_if_else(g, 0, NULL);
    arrjit_if_end(g, 0, NULL, NULL);
    arrjit_for_end(g, 0, NULL, NULL);
    RETURN(g);
    arrjit_function *function = NULL;
    assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
    arrjit_graph_destroy(g);
    float *data = tk_new(MANY, sizeof *data);
    uint8_t bits[] = {1, 0, 1};
    for (int k = 0; k < MANY; k++) data[k] = (float)k;
    arrjit_array *inputs[2] = {NULL, NULL};
    arrjit_type types[] = {TYPE(F32, MANY), TYPE(BOOL, 3)};
    assert_int_equal(arrjit_array_wrap(context, &types[0], data, NULL, NULL, NULL, &inputs[0], NULL), ARRJIT_OK);
    assert_int_equal(arrjit_array_wrap(context, &types[1], bits, NULL, NULL, NULL, &inputs[1], NULL), ARRJIT_OK);
    arrjit_run_options options = mode_options(whole);
    arrjit_result *result = run_by_hand(function, &options, 2, inputs);
    for (size_t k = 0; k < 2; k++) arrjit_array_release(inputs[k]);
    memset(data, 0, MANY * sizeof *data), memset(bits, 0, sizeof bits);
    arrjit_function_release(function);
    assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
    free(data);
    assert_false(arrjit_result_ok(result));
    assert_string_equal(arrjit_result_message(result), "at 6");
    assert_int_equal(arrjit_result_payload_count(result), 3);
    assert_int_equal(*(int64_t *)arrjit_array_data(arrjit_result_payload(result, 0)), 6);
    const float *kept = arrjit_array_data(arrjit_result_payload(result, 1));
    for (int k = 0; k < MANY; k++) assert_true(kept[k] == (float)k);
    assert_memory_equal(arrjit_array_data(arrjit_result_payload(result, 2)), ((uint8_t[]){1, 0, 1}), 3);
    arrjit_trace_entry entry;
    assert_int_equal(arrjit_result_trace(result, 0, &entry), ARRJIT_OK);
    assert_string_equal(entry.op, "raise");
    arrjit_result_destroy(result);
  }
}

static void test_case_f38_messages_are_rendered_from_the_payload(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), i = PARAM(g, "i", I64);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "bad value {1} at {0}, {{7}} {} {x} {0", i, x);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, F64, 0.5), SCALAR(f, I64, 3));
  assert_string_equal(o->message, "bad value 0.5 at 3, {7} {} {x} {0");
  o = RUN(f, function, SCALAR(f, F64, NAN), SCALAR(f, I64, INT64_MIN));
  assert_non_null(strstr(o->message, "bad value nan at -9223372036854775808"));
}

/* Errors name the call, the placeholder and how many payload values there are. */
static void test_placeholders_without_payload_are_not_built(void **state) {
  tk_fixture *f = *state;
#define REFUSES(part, ...)                                                                                             \
  do {                                                                                                                 \
    arrjit_graph *g = tk_graph(f);                                                                                     \
    arrjit_value x = PARAM(g, "x", F64), flags = PARAM(g, "flags", BOOL, 3), out;                                      \
    (void)x, (void)flags, (void)out;                                                                                   \
    __VA_ARGS__;                                                                                                       \
    tk_finish_fails(f, g, ARRJIT_MISUSE, part, NULL);                                                                  \
  } while (0)
  const arrjit_kind runtime = ARRJIT_KIND_RUNTIME;
  REFUSES("raise: message has {1}, but there is 1 payload value;", RAISE(g, runtime, 0, "{0} {1}", x));
  REFUSES("runtime_raise: message has {0}, but there are 0 payload values;", arrjit_runtime_raise(g, "{0}", 0, NULL));
  REFUSES("exn_new: message has {12}, but", (void)EXN_NEW(g, runtime, 0, "{12}", x));
  REFUSES("exn_new: message has {4294967295}, but", (void)EXN_NEW(g, runtime, 0, "{99999999999}", x));
  REFUSES("check: message has {2}, but there are 2 payload values, the index of the failing lane being the last",
          CHECK(g, flags, runtime, 0, "{2}", LIST(x), &out, x));
#undef REFUSES
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), out;
  CHECK(g, CONST(g, BOOL, 1, 0), runtime, 0, "lane {1} of {0}, {{9}}", LIST(x), &out, x);
  RETURN(g, out);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, 4));
  EXPECT_FAILURE(o, runtime, 0, "lane 1 of 4, {9}");
}

/* x > 0 ? x : raise */
static arrjit_function *positive(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), out;
  arrjit_if_begin(g, arrjit_gt(g, x, arrjit_const_f64(g, 0)));
  arrjit_if_else(g, 1, &x);
  RAISE(g, ARRJIT_KIND_RUNTIME, 1, "not positive: {0}", x);
  arrjit_if_end(g, 0, NULL, &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

typedef struct worker {
  pthread_t thread;
  arrjit_function *function;
  arrjit_context *context;
  int number, whole, wrong;
} worker;

static void *work(void *user) {
  worker *w = user;
  double x = w->number % 2 ? -(double)w->number : (double)w->number + 1;
  arrjit_array *input = NULL;
  arrjit_type type = TYPE(F64);
  char want[64];
  snprintf(want, sizeof want, "not positive: %d", -w->number);
  if (arrjit_array_create(w->context, &type, &x, &input, NULL) != ARRJIT_OK) w->wrong++;
  for (int k = 0; k < (getenv("ARRJIT_LONG") ? 100000 : 1000); k++) {
    arrjit_run_options options = mode_options(w->whole);
    arrjit_result *result = NULL;
    if (arrjit_run(w->function, &options, 1, &input, &result, NULL) != ARRJIT_OK) {
      w->wrong++;
      continue;
    }
    bool good = w->number % 2
                    ? !arrjit_result_ok(result) && strcmp(arrjit_result_message(result), want) == 0
                    : arrjit_result_ok(result) && *(double *)arrjit_array_data(arrjit_result_output(result, 0)) == x;
    w->wrong += !good;
    arrjit_result_destroy(result);
  }
  arrjit_array_release(input);
  return NULL;
}

static void test_case_f41_threads_get_their_own_results(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = positive(f);
  for (int whole = 0; whole <= tk_native(); whole++) {
    worker workers[16];
    for (int k = 0; k < 16; k++) {
      workers[k] = (worker){.function = function, .context = f->context, .number = k, .whole = whole};
      assert_int_equal(pthread_create(&workers[k].thread, NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < 16; k++) {
      pthread_join(workers[k].thread, NULL);
      assert_int_equal(workers[k].wrong, 0);
    }
  }
}

typedef struct nest {
  arrjit_function *function;
  arrjit_context *context;
  arrjit_mode mode;
  int depth;
} nest;

/* Runs the same function again, two levels down; the innermost fails, the middle one recovers. */
static arrjit_status run_again(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                               const arrjit_view *results) {
  (void)n, (void)m;
  nest *level = user;
  if (level->depth == 2)
    return arrjit_fail(call, &(arrjit_failure){.struct_bytes = sizeof(arrjit_failure), .message = "innermost"});
  nest inner = *level;
  inner.depth++;
  arrjit_binding binding = {.slot = "cb", .callback = run_again, .user = &inner};
  arrjit_run_options options = {
      .struct_bytes = sizeof options, .mode = level->mode, .binding_count = 1, .bindings = &binding};
  arrjit_type type = TYPE(F64);
  arrjit_array *input = NULL;
  arrjit_result *result = NULL;
  arrjit_status status = arrjit_array_create(level->context, &type, args[0].data, &input, NULL);
  if (status == ARRJIT_OK) status = arrjit_run(level->function, &options, 1, &input, &result, NULL);
  double got = -1;
  if (status == ARRJIT_OK && arrjit_result_ok(result))
    got = *(double *)arrjit_array_data(arrjit_result_output(result, 0));
  if (status == ARRJIT_OK && !arrjit_result_ok(result) && strcmp(arrjit_result_message(result), "innermost") == 0)
    got = 100;
  *(double *)results[0].data = got;
  arrjit_result_destroy(result);
  arrjit_array_release(input);
  return status;
}

static void test_case_f42_callbacks_run_their_own_function_again(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), y;
  CALLBACK(g, arrjit_slot_value(g, "cb", TYPES(TYPE(F64)), TYPES(TYPE(F64)), 0), &y, x);
  RETURN(g, arrjit_add(g, y, x));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = SCALAR(f, F64, 1);
  for (int whole = 0; whole <= tk_native(); whole++) {
    nest outer = {function, f->context, whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP, 0};
    arrjit_binding binding = {.slot = "cb", .callback = run_again, .user = &outer};
    arrjit_run_options options = {
        .struct_bytes = sizeof options, .mode = outer.mode, .binding_count = 1, .bindings = &binding};
    arrjit_result *result = run_by_hand(function, &options, 1, &input);
    assert_true(arrjit_result_ok(result));
    assert_true(*(double *)arrjit_array_data(arrjit_result_output(result, 0)) == 102);
    arrjit_result_destroy(result);
  }
}

static void test_case_f43_bad_arguments_are_results(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_F32, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "left", &type), y = arrjit_param(g, "right", &type), seen;
  CALLBACK(g, arrjit_slot_io(g, "cb", 1, &type, 0), &seen, x);
  RETURN(g, arrjit_add(g, seen, y));
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "cb", NULL, NULL);
  arrjit_array *good = ARRAY(f, F32, 1, 2);
  const struct {
    arrjit_array *right;
    const char *part;
  } rows[] = {{ARRAY(f, F64, 1, 2), "f64"},
              {SHAPED(f, TYPE(F32, 1, 2), F32, 1, 2), "right"},
              {ARRAY(f, F32, 1, 2, 3), "right"}};
  for (size_t k = 0; k < TK_COUNT(rows); k++) {
    arrjit_array *inputs[] = {good, rows[k].right};
    tk_outcome o;
    for (int m = 0; m < TK_MODES; m++) {
      if (!tk_mode_exists((tk_mode)m)) continue;
      tk_call call = {.input_count = 2, .inputs = inputs, .slot_count = f->slot_count, .slots = f->slots};
      tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
      EXPECT_FAILURE(&o, ARRJIT_KIND_ARGUMENT, 0, NULL);
      assert_non_null(strstr(o.message, rows[k].part));
      assert_string_equal(o.log, "");
      tk_outcome_free(&o);
    }
  }
  EXPECT(RUN(f, function, good, good), 0, F32, 2, 4);
}

/* Each allocation of a run refused in turn: a tagged result or the status MEMORY, no callback after it, and the next
 * run is right. */
static void test_case_f43_lack_of_memory_is_a_result(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 50), seen;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F64, 50)), 0);
  CALLBACK(g, slot, &seen, arrjit_mul(g, x, x));
  arrjit_value joined = (arrjit_concat)(g, LIST(seen, x), 0);
  RETURN(g, (arrjit_slice)(g, joined, 1, I64S(10), I64S(90), I64S(2)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = tk_array(f, TYPE(F64, 50), NULL);
  tk_bind(f, "cb", NULL, NULL);
  f->may_fall_back = true;
  EXPECT_OK(RUN(f, function, input));
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m) || m == TK_AUTO) continue;
    int refused = 0;
    for (int64_t n = 1, done = 0; !done; n++) {
      tk_outcome o;
      tk_call call = {.input_count = 1, .inputs = &input, .slot_count = f->slot_count, .slots = f->slots};
      tk_alloc_arm(&f->alloc, n);
      tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
      done = atomic_load(&f->alloc.failed) == 0;
      tk_alloc_arm(&f->alloc, 0);
      if (o.status != ARRJIT_OK) assert_int_equal(o.status, ARRJIT_MEMORY);
      if (o.status == ARRJIT_OK && !o.ok) assert_int_equal(o.kind, ARRJIT_KIND_MEMORY);
      assert_true(f->slots[0].calls <= 1);
      refused += o.status != ARRJIT_OK || !o.ok;
      tk_outcome_free(&o);
      EXPECT_OK(RUN(f, function, input));
    }
    assert_true(refused > 0);
  }
}

/* A callback cancels its own run: the run ends after it returns, as `cancelled`. */
static arrjit_status cancel_run(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  arrjit_cancel_trigger(user);
  return ARRJIT_OK;
}

static arrjit_function *endless(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), seen, vars[1], out[1];
  CALLBACK(g, arrjit_slot_io(g, "cb", TYPES(TYPE(F64)), ARRJIT_SLOT_OPTIONAL), &seen, x);
  WHILE(g, vars, seen);
  arrjit_while_body(g, arrjit_const_bool(g, 1), vars);
  arrjit_while_end(g, LIST(arrjit_mul(g, vars[0], arrjit_const_f64(g, 0.5))), out);
  RETURN(g, out[0]);
  return tk_finish(f, g);
}

static void test_case_f45_cancel_and_deadline_end_endless_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = endless(f);
  arrjit_array *input = SCALAR(f, F64, 1);
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_cancel *cancel = NULL;
    assert_int_equal(arrjit_cancel_create(f->context, &cancel, NULL), ARRJIT_OK);
    arrjit_binding binding = {.slot = "cb", .callback = cancel_run, .user = cancel};
    arrjit_run_options options = mode_options(whole);
    options.binding_count = 1, options.bindings = &binding, options.cancel = cancel;
    arrjit_result *result = run_by_hand(function, &options, 1, &input);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
    arrjit_result_destroy(result);
    arrjit_cancel_release(cancel);
    options = mode_options(whole);
    int64_t start = arrjit_clock_ns();
    options.deadline_ns = start + 50000000;
    result = run_by_hand(function, &options, 1, &input);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_DEADLINE);
    assert_in_range(arrjit_clock_ns() - start, 50000000, 5000000000);
    arrjit_result_destroy(result);
  }
}

/* Waits until another thread has cancelled: the run ends once this returns. */
typedef struct waiting {
  arrjit_cancel *cancel;
  atomic_int inside;
  atomic_int cancelled, after;
} waiting;

static arrjit_status block_until_cancelled(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args,
                                           size_t m, const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  waiting *w = user;
  atomic_store(&w->inside, 1);
  while (!atomic_load(&w->cancelled)) sched_yield();
  return ARRJIT_OK;
}

static void *cancel_when_inside(void *user) {
  waiting *w = user;
  while (!atomic_load(&w->inside)) sched_yield();
  arrjit_cancel_trigger(w->cancel);
  atomic_store(&w->cancelled, 1);
  return NULL;
}

static arrjit_status note_after(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  atomic_fetch_add(&((waiting *)user)->after, 1);
  return ARRJIT_OK;
}

/* cb(x), then a loop whose body calls `after`: not even one iteration ends after the cancelling callback. */
static void test_case_f45_a_blocking_callback_is_cancelled_from_outside(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), seen, again, zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i;
  CALLBACK(g, arrjit_slot_io(g, "cb", TYPES(TYPE(F64)), 0), &seen, x);
  arrjit_slot after = arrjit_slot_io(g, "after", TYPES(TYPE(F64)), 0);
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, INT64_MAX), one, 0, NULL, &i, NULL);
  CALLBACK(g, after, &again, seen);
  arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g, x);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = SCALAR(f, F64, 1);
  for (int whole = 0; whole <= tk_native(); whole++) {
    waiting w = {0};
    pthread_t thread;
    assert_int_equal(arrjit_cancel_create(f->context, &w.cancel, NULL), ARRJIT_OK);
    arrjit_binding bindings[] = {{.slot = "cb", .callback = block_until_cancelled, .user = &w},
                                 {.slot = "after", .callback = note_after, .user = &w}};
    arrjit_run_options options = mode_options(whole);
    options.binding_count = 2, options.bindings = bindings, options.cancel = w.cancel;
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_inside, &w), 0);
    arrjit_result *result = run_by_hand(function, &options, 1, &input);
    pthread_join(thread, NULL);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
    assert_true(atomic_load(&w.after) <= 1);
    arrjit_result_destroy(result);
    arrjit_cancel_release(w.cancel);
  }
}

static void test_case_f45_iterations_are_limited(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "cb", NULL, NULL);
  arrjit_function *function = endless(f);
  for (int64_t most = 1; most < 1000; most *= 7) {
    assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_MAX_ITERATIONS, most, NULL), ARRJIT_OK);
    const tk_outcome *o = RUN(f, function, SCALAR(f, F64, 1));
    EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, NULL);
    char path[64];
    snprintf(path, sizeof path, "yield < while body %" PRId64, most);
    assert_string_equal(o->path, path);
  }
}

/* A donated array, a given output, a failure before, between and behind the work on them. */
static void test_case_f46_consumed_tells_the_truth(void **state) {
  tk_fixture *f = *state;
  enum { COUNT = 1000 };
  arrjit_graph *g = tk_graph(f);
  arrjit_value v = PARAM(g, "v", F64, COUNT), at = PARAM(g, "at", I64), out = v;
  for (int64_t k = 0; k < 3; k++) {
    CHECK(g, arrjit_ne(g, at, arrjit_const_i64(g, k)), ARRJIT_KIND_RUNTIME, k, NULL, LIST(out), &out, out);
    out = arrjit_add(g, arrjit_mul(g, out, out), arrjit_const_f64(g, 1));
  }
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  double data[COUNT], want[COUNT];
  for (int i = 0; i < COUNT; i++) data[i] = 1.0 / (i + 1), want[i] = data[i];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < COUNT; i++) want[i] = want[i] * want[i] + 1;
  for (int whole = 0; whole <= tk_native(); whole++)
    for (int64_t k = 0; k < 4; k++) {
      arrjit_array *inputs[] = {tk_array(f, TYPE(F64, COUNT), data), SCALAR(f, I64, k)};
      arrjit_array *output = tk_array(f, TYPE(F64, COUNT), NULL);
      arrjit_run_options options = mode_options(whole);
      options.donated = 1, options.outputs = &output;
      arrjit_result *result = run_by_hand(function, &options, 2, inputs);
      const double *now = arrjit_array_data(inputs[0]), *written = arrjit_array_data(output);
      assert_int_equal(arrjit_result_ok(result), k == 3);
      if (!(arrjit_result_consumed(result) & 1)) assert_memory_equal(now, data, sizeof data);
      if (!(arrjit_result_touched(result) & 1))
        for (int i = 0; i < COUNT; i++) assert_true(written[i] == 0);
      if (k == 3) assert_memory_equal(written, want, sizeof want);
      if (k < 3) assert_int_equal(arrjit_result_code(result), k);
      arrjit_result_destroy(result);
    }
}

typedef struct deep {
  tk_fixture *f;
  arrjit_function *function;
  bool raises;
} deep;

enum { IFS = 200, LOOPS = 50 };

/* On a stack of 256 KiB: both modes have to do with it. */
static void *run_deep(void *user) {
  deep *d = user;
  const tk_outcome *o = RUN(d->f, d->function, SCALAR(d->f, BOOL, d->raises));
  if (!d->raises) {
    EXPECT_OK(o);
    return NULL;
  }
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "innermost");
  tk_text text;
  tk_text_open(&text);
  fputs("raise", text.to);
  for (int k = 0; k < IFS; k++)
    if (k < 127) fputs(" < if then", text.to); /* of 128 innermost entries */
  for (int k = 0; k < 16; k++) fprintf(text.to, " < for body 0");
  char *want = tk_text_close(&text);
  assert_string_equal(o->path, want);
  free(want);
  assert_non_null(strstr(o->trace, "omitted 107\n"));
  return NULL;
}

static void test_case_f47_deep_nesting_keeps_its_trace(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i;
  for (int k = 0; k < LOOPS; k++) (arrjit_for_begin)(ARRJIT_AT_(g), zero, one, one, 0, NULL, &i, NULL);
  for (int k = 0; k < IFS; k++) arrjit_if_begin(g, p);
  arrjit_runtime_raise(g, "innermost", 0, NULL);
  for (int k = 0; k < IFS; k++) {
    arrjit_if_else(g, 0, NULL);
    arrjit_if_end(g, 0, NULL, NULL);
  }
  for (int k = 0; k < LOOPS; k++) arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  for (int raises = 0; raises < 2; raises++) {
    deep d = {f, function, raises};
    pthread_t thread;
    pthread_attr_t attr;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, 256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &attr, run_deep, &d), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
  }
}

/* A trace keeps 128 innermost and 16 outermost entries and counts the rest. */
static void test_long_traces_are_cut_in_the_middle(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), m, inner, out, result;
  arrjit_callee down = arrjit_declare(g, "down", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, down, &m);
  arrjit_if_begin(g, arrjit_eq(g, m, arrjit_const_i64(g, 0)));
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "bottom", m);
  arrjit_if_else(g, 0, NULL);
  CALL(g, down, &inner, arrjit_sub(g, m, arrjit_const_i64(g, 1)));
  arrjit_if_end(g, 1, &inner, &out);
  RETURN(g, out);
  CALL(g, down, &result, n);
  RETURN(g, result);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 300));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "bottom");
  assert_int_equal(o->trace_count, 144);
  /* raise, its if; 300 times a call and its if; the outermost call */
  char omitted[40];
  snprintf(omitted, sizeof omitted, "omitted %d\n", 2 + 600 + 1 - 144);
  assert_non_null(strstr(o->trace, omitted));
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f36_payload_outlives_everything),
    TK_TEST(test_case_f38_messages_are_rendered_from_the_payload),
    TK_TEST(test_placeholders_without_payload_are_not_built),
    TK_TEST(test_case_f41_threads_get_their_own_results),
    TK_TEST(test_case_f42_callbacks_run_their_own_function_again),
    TK_TEST(test_case_f43_bad_arguments_are_results),
    TK_TEST(test_case_f43_lack_of_memory_is_a_result),
    TK_TEST(test_case_f45_cancel_and_deadline_end_endless_loops),
    TK_TEST(test_case_f45_a_blocking_callback_is_cancelled_from_outside),
    TK_TEST(test_case_f45_iterations_are_limited),
    TK_TEST(test_case_f46_consumed_tells_the_truth),
    TK_TEST(test_case_f47_deep_nesting_keeps_its_trace),
    TK_TEST(test_long_traces_are_cut_in_the_middle),
};

TEST_MAIN(tests, NULL, NULL)
