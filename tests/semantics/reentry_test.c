/* What callbacks may do while a run goes on, and what they tell of a failure. */
#include <pthread.h>

#include "hosting.h"

static arrjit_status say_error(HOST_ARGS) {
  UNUSED_ARGS;
  arrjit_failure failure = {.struct_bytes = sizeof failure, .kind = ARRJIT_KIND_ERROR, .message = "Error!"};
  return arrjit_fail(call, &failure);
}

static arrjit_status add_one(HOST_ARGS) {
  UNUSED_ARGS;
  *(float *)results[0].data = *(const float *)args[0].data + 1;
  return ARRJIT_OK;
}

static void test_case_b01_failing_callback_in_every_tier(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = one_call(f, TYPE(F32), TYPE(F32));
  arrjit_array *input = SCALAR(f, F32, 1);
  arrjit_binding bad = {.slot = "cb", .callback = say_error}, good = {.slot = "cb", .callback = add_one};
  for (size_t m = 0; m < TK_COUNT(run_modes); m++)
    for (int k = 0; k < 1000; k++) {
      arrjit_result *result = run_bound(function, run_modes[m], &bad, 1, &input);
      assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_ERROR);
      assert_string_equal(arrjit_result_message(result), "Error!");
      assert_int_equal(arrjit_result_trace_count(result), 1);
      arrjit_result_destroy(result);
      result = run_bound(function, run_modes[m], &good, 1, &input);
      assert_true(*(float *)arrjit_array_data(arrjit_result_output(result, 0)) == 2);
      arrjit_result_destroy(result);
    }
}

/* ---- the host's own object in a failure ---- */

typedef struct object {
  _Atomic int destroyed;
} object;
static void destroy_object(void *pointer) { atomic_fetch_add(&((object *)pointer)->destroyed, 1); }

static arrjit_status fail_with_object(HOST_ARGS) {
  UNUSED_ARGS;
  static const char *const frames[] = {"inner.py:3", "middle.py:2", "outer.py:1"};
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .message = "it broke",
                            .host_pointer = user,
                            .host_destroy = destroy_object,
                            .frame_count = 3,
                            .frames = frames};
  return arrjit_fail(call, &failure);
}

static void expect_frame(const arrjit_result *result, size_t index, const char *op, const char *label) {
  arrjit_trace_entry e;
  assert_int_equal(arrjit_result_trace(result, index, &e), ARRJIT_OK);
  assert_string_equal(e.op, op);
  assert_string_equal(e.label, label);
}

static void test_case_b03_object_and_frames_come_through(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32), y;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F32)), 0);
  arrjit_callee inner = arrjit_declare(g, "inner", TYPES(TYPE(F32)), TYPES(TYPE(F32)));
  arrjit_define(g, inner, &y);
  arrjit_label_push(g, "asking");
  CALLBACK(g, slot, &y, y);
  arrjit_label_pop(g);
  RETURN(g, y);
  arrjit_label_push(g, "calling");
  CALL(g, inner, &y, x);
  arrjit_label_pop(g);
  RETURN(g, y);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = SCALAR(f, F32, 1);
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    object own = {0};
    arrjit_binding binding = {.slot = "cb", .callback = fail_with_object, .user = &own};
    arrjit_result *result = run_bound(function, run_modes[m], &binding, 1, &input);
    assert_ptr_equal(arrjit_result_host_pointer(result), &own);
    assert_int_equal(arrjit_result_trace_count(result), 5);
    expect_frame(result, 0, "", "inner.py:3");
    expect_frame(result, 2, "", "outer.py:1");
    expect_frame(result, 3, "callback", "asking");
    expect_frame(result, 4, "call", "calling");
    assert_int_equal(own.destroyed, 0);
    arrjit_result_destroy(result);
    assert_int_equal(own.destroyed, 1);
  }
}

/* Raised again, as the cause of another, and handled: one object, destroyed when the last that has it goes, be that
 * long after context and function. */
static arrjit_function *build_reraise(arrjit_context *context) {
  arrjit_graph *g = NULL;
  arrjit_function *function = NULL;
  assert_int_equal(arrjit_graph_create(context, &g, NULL), ARRJIT_OK);
  arrjit_value x = PARAM(g, "x", I64), e, out;
  arrjit_slot slot = arrjit_slot_io(g, "cb", 0, NULL, 0);
  arrjit_try_begin(g);
  arrjit_try_begin(g);
  (arrjit_callback)(g, slot, 0, NULL, NULL);
  arrjit_try_handler(g, 1, &x, ARRJIT_KIND_CALLBACK, &e);
  arrjit_raise_exn(g, e);
  arrjit_try_end(g, 0, NULL, &out);
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_CALLBACK, &e);
  arrjit_switch_begin(g, x);
  arrjit_raise_exn(g, e);
  arrjit_switch_case(g, 0, NULL);
  arrjit_raise_from(g, (arrjit_exn_new)(g, ARRJIT_KIND_RUNTIME, 0, "because", 0, NULL), e);
  arrjit_switch_case(g, 0, NULL);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "meanwhile", x);
  arrjit_switch_case(g, 0, NULL);
  arrjit_switch_end(g, 1, &x, &out);
  arrjit_try_end(g, 1, &out, &out);
  RETURN(g, out);
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  return function;
}

static void test_case_f22_object_survives_reraise_causes_and_context(void **state) {
  tk_fixture *f = *state;
  for (size_t m = 0; m < TK_COUNT(run_modes); m++)
    for (int64_t way = 0; way < 4; way++) {
      arrjit_allocator host = tk_alloc_host(&f->alloc);
      arrjit_context *context = tk_context(&host);
      arrjit_function *function = build_reraise(context);
      arrjit_array *input = NULL;
      arrjit_type type = TYPE(I64);
      object own = {0};
      assert_int_equal(arrjit_array_create(context, &type, &way, &input, NULL), ARRJIT_OK);
      arrjit_binding binding = {.slot = "cb", .callback = fail_with_object, .user = &own};
      arrjit_result *result = run_bound(function, run_modes[m], &binding, 1, &input), *has = result;
      arrjit_array_release(input);
      arrjit_function_release(function);
      assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
      if (way == 1) has = arrjit_result_cause(result);
      if (way == 2) has = arrjit_result_context(result);
      assert_int_equal(own.destroyed, way == 3);
      assert_int_equal(arrjit_result_ok(result), way == 3);
      assert_ptr_equal(arrjit_result_host_pointer(has), way == 3 ? NULL : &own);
      arrjit_result_destroy(result);
      assert_int_equal(own.destroyed, 1);
    }
}

/* Threads fail at once with one and the same object, raised again or as a cause; what one thread got another destroys.
 * The object is the host's: each failure gives up its share once. */
enum { SHARERS = 8, SHARES = 200 };
typedef struct sharer {
  pthread_t thread;
  arrjit_function *function;
  arrjit_array *input;
  arrjit_mode mode;
  object *own;
  int wrong;
  arrjit_result *results[SHARES];
} sharer;

static void *share_object(void *user) {
  sharer *s = user;
  arrjit_binding binding = {.slot = "cb", .callback = fail_with_object, .user = s->own};
  for (int k = 0; k < SHARES; k++) {
    s->results[k] = run_bound(s->function, s->mode, &binding, 1, &s->input);
    arrjit_result *cause = arrjit_result_cause(s->results[k]);
    s->wrong += arrjit_result_host_pointer(cause ? cause : s->results[k]) != s->own;
  }
  return NULL;
}

static void *destroy_shares(void *user) {
  sharer *s = user;
  for (int k = 0; k < SHARES; k++) arrjit_result_destroy(s->results[k]);
  return NULL;
}

static void on_all(sharer *sharers, void *(*body)(void *)) {
  for (int i = 0; i < SHARERS; i++) assert_int_equal(pthread_create(&sharers[i].thread, NULL, body, &sharers[i]), 0);
  for (int i = 0; i < SHARERS; i++) assert_int_equal(pthread_join(sharers[i].thread, NULL), 0);
}

static void test_case_f22_threads_share_an_object(void **state) {
  tk_fixture *f = *state;
  static sharer sharers[SHARERS];
  arrjit_function *function = build_reraise(f->context);
  arrjit_array *ways[] = {SCALAR(f, I64, 0), SCALAR(f, I64, 1)};
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    object own = {0};
    for (int i = 0; i < SHARERS; i++)
      sharers[i] = (sharer){.function = function, .input = ways[i % 2], .mode = run_modes[m], .own = &own};
    on_all(sharers, share_object);
    for (int i = 0; i < SHARERS; i++) assert_int_equal(sharers[i].wrong, 0);
    assert_int_equal(own.destroyed, 0);
    on_all(sharers, destroy_shares);
    assert_int_equal(own.destroyed, SHARERS * SHARES);
  }
  arrjit_function_release(function);
}

/* ---- re-entry of every kind ---- */

typedef struct reentry {
  tk_fixture *f;
  arrjit_function *own, *other;
  arrjit_mode mode;
  arrjit_cancel *cancel;
  arrjit_runner *runner;
  const char *problem;
} reentry;

#define DEMAND(r, holds)                                                                                               \
  do {                                                                                                                 \
    if (!(holds) && !(r)->problem) (r)->problem = #holds;                                                              \
  } while (0)

static arrjit_status triple(HOST_ARGS) {
  UNUSED_ARGS;
  *(double *)results[0].data = *(const double *)args[0].data * 3;
  return ARRJIT_OK;
}

/* f64 -> f64: builds a graph, runs it, another function, its own with another binding; sets options, makes a context.
 */
static arrjit_status do_everything(HOST_ARGS) {
  (void)call, (void)arg_count, (void)result_count;
  reentry *r = user;
  arrjit_context *context = r->f->context;
  arrjit_graph *g = NULL;
  arrjit_function *fresh = NULL;
  arrjit_error error;
  arrjit_array *input = NULL;
  arrjit_type type = TYPE(F64);
  arrjit_binding inner = {.slot = "cb", .callback = triple};
  DEMAND(r, arrjit_array_create(context, &type, args[0].data, &input, NULL) == ARRJIT_OK);
  DEMAND(r, arrjit_graph_create(context, &g, NULL) == ARRJIT_OK);
  arrjit_value x = PARAM(g, "x", F64);
  RETURN(g, arrjit_add(g, x, x));
  DEMAND(r, arrjit_graph_finish(g, &fresh, &error) == ARRJIT_OK);
  arrjit_graph_destroy(g);
  arrjit_result *doubled = run_bound(fresh, r->mode, NULL, 1, &input);
  arrjit_result *other = run_bound(r->other, r->mode, NULL, 1, &input);
  arrjit_result *own = run_bound(r->own, r->mode, &inner, 1, &input);
  DEMAND(r, first_f64(doubled) == 4 && first_f64(other) == 3 && first_f64(own) == 6);
  *(double *)results[0].data = first_f64(doubled) + first_f64(other) + first_f64(own);
  arrjit_result_destroy(doubled), arrjit_result_destroy(other), arrjit_result_destroy(own);
  arrjit_function_release(fresh);
  arrjit_array_release(input);
  DEMAND(r, arrjit_context_set_option(context, ARRJIT_OPTION_MAX_ITERATIONS, 1, &error) == ARRJIT_OK);
  DEMAND(r, arrjit_context_set_option(context, ARRJIT_OPTION_MAX_ITERATIONS, 0, &error) == ARRJIT_OK);
  DEMAND(r, arrjit_context_destroy(context) == ARRJIT_BUSY); /* a run of it is active */
  DEMAND(r, arrjit_context_destroy(tk_context(NULL)) == ARRJIT_OK);
  return ARRJIT_OK;
}

static arrjit_function *build_plus_one(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64);
  RETURN(g, arrjit_add(g, x, arrjit_const_f64(g, 1)));
  return tk_finish(f, g);
}

static void test_callbacks_use_the_library(void **state) {
  tk_fixture *f = *state;
  reentry r = {.f = f, .own = one_call(f, TYPE(F64), TYPE(F64)), .other = build_plus_one(f)};
  arrjit_binding binding = {.slot = "cb", .callback = do_everything, .user = &r};
  arrjit_array *input = SCALAR(f, F64, 2);
  for (size_t m = 0; m < TK_COUNT(run_modes); m++)
    for (int k = 0; k < 2; k++) {
      r.mode = run_modes[m];
      arrjit_result *result = run_bound(r.own, r.mode, &binding, 1, &input);
      if (r.problem) fail_msg("in mode %zu: %s", m, r.problem);
      assert_true(first_f64(result) == 13);
      arrjit_result_destroy(result);
    }
}

static arrjit_status cancel_run(HOST_ARGS) {
  UNUSED_ARGS;
  arrjit_cancel_trigger(((reentry *)user)->cancel);
  return ARRJIT_OK;
}

/* The run ends at the next poll after the callback has returned. */
static void test_callbacks_cancel_their_run(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value i;
  arrjit_slot slot = arrjit_slot_io(g, "cb", 0, NULL, 0);
  (arrjit_for_begin)(ARRJIT_AT_(g), arrjit_const_i64(g, 0), arrjit_const_i64(g, 1000), arrjit_const_i64(g, 1), 0, NULL,
                     &i, NULL);
  arrjit_callback(g, slot, 0, NULL, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  for (int whole = 0; whole <= tk_native(); whole++) {
    reentry r = {.f = f};
    assert_int_equal(arrjit_cancel_create(f->context, &r.cancel, NULL), ARRJIT_OK);
    arrjit_binding binding = {.slot = "cb", .callback = cancel_run, .user = &r};
    arrjit_run_options o = {.struct_bytes = sizeof o,
                            .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                            .binding_count = 1,
                            .bindings = &binding,
                            .cancel = r.cancel};
    arrjit_result *result = NULL;
    arrjit_trace_entry e;
    assert_int_equal(arrjit_run(function, &o, 0, NULL, &result, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
    assert_int_equal(arrjit_result_trace(result, 1, &e), ARRJIT_OK);
    assert_int_equal(e.iteration, 0);
    arrjit_result_destroy(result);
    arrjit_cancel_release(r.cancel);
  }
}

static arrjit_status drop_function(HOST_ARGS) {
  UNUSED_ARGS;
  reentry *r = user;
  arrjit_function_release(r->own);
  r->own = NULL;
  *(double *)results[0].data = 5;
  return ARRJIT_OK;
}

/* The last reference goes inside: what runs stays until it has ended. */
static void test_callbacks_release_their_function(void **state) {
  tk_fixture *f = *state;
  arrjit_array *input = SCALAR(f, F64, 2);
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    reentry r = {.f = f, .own = one_call(f, TYPE(F64), TYPE(F64))};
    f->function_count--; /* the callback releases it */
    arrjit_binding binding = {.slot = "cb", .callback = drop_function, .user = &r};
    arrjit_result *result = run_bound(r.own, run_modes[m], &binding, 1, &input);
    assert_null(r.own);
    assert_true(first_f64(result) == 5);
    arrjit_result_destroy(result);
  }
}

/* Submits to a runner and waits: for another's job, and in vain for one of the runner it runs on. */
static arrjit_status submit_and_wait(HOST_ARGS) {
  (void)call, (void)arg_count, (void)result_count;
  reentry *r = user;
  arrjit_array *input = NULL;
  arrjit_type type = TYPE(F64);
  arrjit_job *job = NULL, *own_job = NULL;
  arrjit_runner *runner = NULL;
  arrjit_result *result = NULL;
  DEMAND(r, arrjit_array_create(r->f->context, &type, args[0].data, &input, NULL) == ARRJIT_OK);
  DEMAND(r, arrjit_runner_create(r->f->context, NULL, &runner, NULL) == ARRJIT_OK);
  DEMAND(r, arrjit_runner_submit(runner, r->other, NULL, 1, &input, &job, NULL) == ARRJIT_OK);
  DEMAND(r, arrjit_job_wait(job, -1, &result, NULL) == ARRJIT_OK);
  *(double *)results[0].data = first_f64(result);
  arrjit_result_destroy(result);
  result = NULL;
  arrjit_job_release(job);
  DEMAND(r, arrjit_runner_destroy(runner) == ARRJIT_OK);
  if (r->runner) {
    DEMAND(r, arrjit_runner_submit(r->runner, r->other, NULL, 1, &input, &own_job, NULL) == ARRJIT_OK);
    DEMAND(r, arrjit_job_wait(own_job, -1, &result, NULL) == ARRJIT_BUSY);
    DEMAND(r, arrjit_runner_destroy(r->runner) == ARRJIT_BUSY);
    arrjit_job_release(own_job);
  }
  arrjit_array_release(input);
  return ARRJIT_OK;
}

static void test_case_f42_callbacks_wait_for_other_runners_only(void **state) {
  tk_fixture *f = *state;
  reentry r = {.f = f, .own = one_call(f, TYPE(F64), TYPE(F64)), .other = build_plus_one(f)};
  arrjit_binding binding = {.slot = "cb", .callback = submit_and_wait, .user = &r};
  arrjit_array *input = SCALAR(f, F64, 2);
  arrjit_job *job = NULL;
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    arrjit_result *result = run_bound(r.own, run_modes[m], &binding, 1, &input);
    assert_true(first_f64(result) == 3);
    arrjit_result_destroy(result);
  }
  assert_int_equal(arrjit_runner_create(f->context, NULL, &r.runner, NULL), ARRJIT_OK);
  arrjit_run_options o = {.struct_bytes = sizeof o, .binding_count = 1, .bindings = &binding};
  assert_int_equal(arrjit_runner_submit(r.runner, r.own, &o, 1, &input, &job, NULL), ARRJIT_OK);
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_job_wait(job, -1, &result, NULL), ARRJIT_OK);
  assert_true(first_f64(result) == 3);
  arrjit_result_destroy(result);
  arrjit_job_release(job);
  assert_int_equal(arrjit_runner_destroy(r.runner), ARRJIT_OK);
  if (r.problem) fail_msg("%s", r.problem);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b01_failing_callback_in_every_tier),
    TK_TEST(test_case_b03_object_and_frames_come_through),
    TK_TEST(test_case_f22_object_survives_reraise_causes_and_context),
    TK_TEST(test_case_f22_threads_share_an_object),
    TK_TEST(test_callbacks_use_the_library),
    TK_TEST(test_callbacks_cancel_their_run),
    TK_TEST(test_callbacks_release_their_function),
    TK_TEST(test_case_f42_callbacks_wait_for_other_runners_only),
};

TEST_MAIN(tests, NULL, NULL)
