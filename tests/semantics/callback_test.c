/* Callbacks: what the host sees, in which order, and what becomes of its failures. */
#include <time.h>

#include "hosting.h"

/* f(x) = io callback "cb"(x), then x + x */
static arrjit_function *one_io_call(tk_fixture *f, arrjit_type type, unsigned flags) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = arrjit_param(g, "x", &type), y;
  arrjit_slot slot = arrjit_slot_io(g, "cb", 1, &type, flags);
  CALLBACK(g, slot, &y, x);
  RETURN(g, y);
  return tk_finish(f, g);
}

static arrjit_status fail_bare(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  return ARRJIT_FAILED;
}

static void test_case_f21_failing_io_callback_comes_back_as_a_value(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = one_io_call(f, TYPE(F64), 0);
  tk_bind(f, "cb", fail_bare, NULL);
  const tk_outcome *o = RUN(f, function, SCALAR(f, F64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_CALLBACK, ARRJIT_FAILED, "the callback failed");
  assert_string_equal(o->path, "callback");
  tk_bind(f, "cb", NULL, NULL);
  EXPECT(RUN(f, function, SCALAR(f, F64, 1)), 0, F64, 1);
}

static int destroyed;
static void count_destroy(void *pointer) {
  (void)pointer;
  destroyed++;
}

typedef struct failure_plan {
  arrjit_kind kind;
  void *pointer;
} failure_plan;

static arrjit_status fail_fully(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  failure_plan *plan = slot->user;
  static const char *const frames[] = {"host.inner:3", "host.middle:2", "host.outer:1"};
  double field = *(const double *)args[0].data * 2;
  arrjit_view payload = {.dtype = ARRJIT_F64, .data = &field, .bytes = sizeof field};
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .kind = plan->kind,
                            .code = 17,
                            .message = "host says {0}",
                            .payload_count = 1,
                            .payload = &payload,
                            .host_pointer = plan->pointer,
                            .host_destroy = count_destroy,
                            .frame_count = 3,
                            .frames = frames};
  return arrjit_fail(call, &failure);
}

static void test_case_f22_kind_payload_and_host_pointer_are_carried(void **state) {
  tk_fixture *f = *state;
  arrjit_kind mine;
  assert_int_equal(arrjit_context_add_kind(f->context, "mine", ARRJIT_KIND_THROW, "...", &mine, NULL), ARRJIT_OK);
  arrjit_function *function = one_io_call(f, TYPE(F64), 0);
  int object = 0;
  const arrjit_kind kinds[] = {mine, ARRJIT_KIND_ERROR, ARRJIT_KIND_CALLBACK};
  for (size_t k = 0; k < TK_COUNT(kinds); k++) {
    failure_plan plan = {kinds[k], &object};
    tk_slot *slot = tk_bind(f, "cb", fail_fully, &plan);
    const tk_outcome *o = RUN(f, function, SCALAR(f, F64, 4));
    EXPECT_FAILURE(o, kinds[k], 17, "host says 8");
    EXPECT_PAYLOAD(o, 0, F64, 8);
    assert_string_equal(o->path, "'host.inner:3' < 'host.middle:2' < 'host.outer:1' < callback");
    slot->user = NULL;
  }
}

/* The run is done by hand: the pointer is the one given, and its destructor runs once, when the result goes. */
static arrjit_status fail_with_pointer(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                       const arrjit_view *results) {
  (void)n, (void)args, (void)m, (void)results;
  arrjit_failure failure = {.struct_bytes = sizeof failure, .host_pointer = user, .host_destroy = count_destroy};
  return arrjit_fail(call, &failure);
}

static void test_case_f22_host_pointer_is_destroyed_once(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = one_io_call(f, TYPE(F64), 0);
  arrjit_array *input = SCALAR(f, F64, 4);
  int object;
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_binding binding = {.slot = "cb", .callback = fail_with_pointer, .user = &object};
    destroyed = 0;
    arrjit_result *result = run_bound(function, whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP, &binding, 1, &input);
    assert_false(arrjit_result_ok(result));
    assert_ptr_equal(arrjit_result_host_pointer(result), &object);
    assert_int_equal(destroyed, 0);
    arrjit_result_destroy(result);
    assert_int_equal(destroyed, 1);
  }
}

static arrjit_status fail_asdf(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  return arrjit_fail(call, &(arrjit_failure){.struct_bytes = sizeof(arrjit_failure), .message = "asdf"});
}

static void test_case_f23_failing_value_callback(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "cb", fail_asdf, NULL);
  const tk_outcome *o = RUN(f, one_call(f, TYPE(F64), TYPE(F64)), SCALAR(f, F64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_CALLBACK, 0, "asdf");
}

/* Runs a function that fails and goes on as if nothing had happened. */
static arrjit_status recover(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  arrjit_function *failing = slot->user;
  arrjit_result *result;
  assert_int_equal(arrjit_run(failing, NULL, 0, NULL, &result, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_RUNTIME);
  arrjit_result_destroy(result);
  return ARRJIT_OK;
}

static void test_case_f25_a_callback_that_recovers_leaves_no_mark(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  (arrjit_runtime_raise)(g, "inside", 0, NULL);
  arrjit_return(g, 0, NULL, NULL);
  tk_bind(f, "cb", recover, tk_finish(f, g));
  EXPECT(RUN(f, one_io_call(f, TYPE(F64), 0), SCALAR(f, F64, 1)), 0, F64, 1);
}

static arrjit_status fail_and_say_ok(CALLBACK_ARGS) {
  arrjit_status status = fail_asdf(slot, call, arg_count, args, result_count, results);
  (void)status;
  return ARRJIT_OK;
}

/* What is told by arrjit_fail is never lost: it is the context of the broken contract. */
static void test_fail_and_then_ok_breaks_the_contract(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "cb", fail_and_say_ok, NULL);
  const tk_outcome *o = RUN(f, one_io_call(f, TYPE(F64), 0), SCALAR(f, F64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_CALLBACK_CONTRACT, 0, "callback \"cb\" called arrjit_fail, but returned ARRJIT_OK");
  assert_non_null(strstr(o->text, "asdf"));
}

static void test_case_f26_io_callback_in_a_loop(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32), n = PARAM(g, "n", I32), vars[2], seen[2], out[2];
  arrjit_slot slot = arrjit_slot_io(g, "see", TYPES(TYPE(I32), TYPE(I32)), 0);
  WHILE(g, vars, x, n);
  arrjit_while_body(g, arrjit_gt(g, vars[1], arrjit_const_i32(g, 0)), vars);
  CALLBACK(g, slot, seen, vars[0], vars[1]);
  arrjit_while_end(g, LIST(arrjit_mul(g, vars[0], vars[1]), arrjit_sub(g, vars[1], arrjit_const_i32(g, 1))), out);
  RETURN(g, out[0]);
  tk_bind(f, "see", NULL, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I32, 5), SCALAR(f, I32, 4));
  assert_string_equal(o->log, "see i32[]=05000000 i32[]=04000000\nsee i32[]=14000000 i32[]=03000000\n"
                              "see i32[]=3c000000 i32[]=02000000\nsee i32[]=78000000 i32[]=01000000\n");
  EXPECT(o, 0, I32, 120);
}

static void test_case_f27_only_the_taken_arm_calls(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value index = PARAM(g, "index", I64), seen, out;
  arrjit_slot a = arrjit_slot_io(g, "a", TYPES(TYPE(I64)), 0), b = arrjit_slot_io(g, "b", TYPES(TYPE(I64)), 0);
  arrjit_slot c = arrjit_slot_io(g, "c", TYPES(TYPE(I64)), 0);
  arrjit_switch_begin(g, index);
  CALLBACK(g, a, &seen, index);
  arrjit_switch_case(g, 1, &seen);
  CALLBACK(g, b, &seen, index);
  arrjit_switch_case(g, 1, &seen);
  CALLBACK(g, c, &seen, index);
  arrjit_switch_end(g, 1, &seen, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "a", NULL, NULL), tk_bind(f, "b", NULL, NULL), tk_bind(f, "c", NULL, NULL);
  static const char names[] = "abc";
  for (int64_t k = 0; k < 3; k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, I64, k));
    assert_int_equal(o->log[0], names[k]);
    assert_ptr_equal(strchr(o->log, '\n') + 1, o->log + strlen(o->log));
  }
}

/* Predicates after the first true one are not evaluated. */
static void test_case_f12_later_predicates_do_not_run(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64), seen[3], out[4];
  static const char *const names[] = {"p0", "p1", "p2"};
  for (size_t i = 0; i < 3; i++) {
    arrjit_slot slot = arrjit_slot_io(g, names[i], TYPES(TYPE(I64)), 0);
    CALLBACK(g, slot, &seen[i], x);
    arrjit_if_begin(g, arrjit_eq(g, seen[i], arrjit_const_i64(g, (int64_t)i)));
    arrjit_if_else(g, LIST(arrjit_const_i64(g, 10 * (int64_t)i)));
    tk_bind(f, names[i], NULL, NULL);
  }
  out[3] = arrjit_const_i64(g, 99);
  for (size_t i = 3; i-- > 0;) arrjit_if_end(g, 1, &out[i + 1], &out[i]);
  RETURN(g, out[0]);
  arrjit_function *function = tk_finish(f, g);
  for (int64_t k = 0; k < 4; k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, I64, k));
    EXPECT(o, 0, I64, k < 3 ? 10 * k : 99);
    int64_t lines = 0;
    for (const char *p = o->log; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, k < 3 ? k + 1 : 3);
  }
}

/* An effect before an `if` whose value one arm alone uses runs once, whichever arm is taken. */
static void test_case_f13_effect_before_an_if_runs_once(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F64), seen, out;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F64)), 0);
  CALLBACK(g, slot, &seen, x);
  arrjit_if_begin(g, p);
  arrjit_if_else(g, 1, &seen);
  arrjit_if_end(g, LIST(arrjit_const_f64(g, -1)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "cb", NULL, NULL);
  for (uint8_t k = 0; k < 2; k++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, BOOL, k), SCALAR(f, F64, 1));
    EXPECT(o, 0, F64, k ? 1 : -1);
    assert_string_equal(o->log, "cb f64[]=000000000000f03f\n");
  }
}

static arrjit_status doze(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  return ARRJIT_OK;
}

static void test_case_f28_independent_calls_keep_build_order(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I8), a, b, c;
  CALLBACK(g, arrjit_slot_io(g, "a", TYPES(TYPE(I8)), 0), &a, x);
  CALLBACK(g, arrjit_slot_io(g, "b", TYPES(TYPE(I8)), 0), &b, arrjit_add(g, x, x));
  CALLBACK(g, arrjit_slot_io(g, "c", TYPES(TYPE(I8)), 0), &c, x);
  RETURN(g, arrjit_add(g, a, c));
  tk_bind(f, "a", NULL, NULL), tk_bind(f, "b", doze, NULL), tk_bind(f, "c", NULL, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I8, 1));
  assert_string_equal(o->log, "a i8[]=01\nb i8[]=02\nc i8[]=01\n");
  EXPECT(o, 0, I8, 2);
}

static arrjit_status put_number(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  *(double *)results[0].data = *(const double *)slot->user;
  return ARRJIT_OK;
}

static void test_case_f29_bindings_belong_to_a_run(void **state) {
  tk_fixture *f = *state;
  arrjit_function *optional = one_io_call(f, TYPE(F64), ARRJIT_SLOT_OPTIONAL);
  EXPECT(RUN(f, optional, SCALAR(f, F64, 5)), 0, F64, 5);
  arrjit_function *function = one_call(f, TYPE(F64), TYPE(F64));
  const tk_outcome *o = RUN(f, function, SCALAR(f, F64, 5));
  EXPECT_FAILURE(o, ARRJIT_KIND_UNBOUND, 0, NULL);
  for (double number = 1; number < 3; number++) {
    tk_bind(f, "cb", put_number, &number);
    EXPECT(RUN(f, function, SCALAR(f, F64, 5)), 0, F64, number);
  }
}

/* A required slot that is not bound fails before any effect. */
static void test_case_f29_unbound_fails_before_any_effect(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), a, b;
  arrjit_slot bound = arrjit_slot_io(g, "bound", TYPES(TYPE(F64)), 0),
              not_bound = arrjit_slot_io(g, "not", TYPES(TYPE(F64)), 0);
  CALLBACK(g, bound, &a, x);
  CALLBACK(g, not_bound, &b, x);
  RETURN(g, a, b);
  tk_bind(f, "bound", NULL, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, 5));
  EXPECT_FAILURE(o, ARRJIT_KIND_UNBOUND, 0, NULL);
  assert_string_equal(o->log, "");
}

static arrjit_status widen(CALLBACK_ARGS) { /* f32 -> f64, plus one */
  UNUSED_CALLBACK;
  *(double *)results[0].data = (double)*(const float *)args[0].data + 1;
  return ARRJIT_OK;
}
static arrjit_status twice(CALLBACK_ARGS) { /* f64 -> f32 */
  UNUSED_CALLBACK;
  *(float *)results[0].data = (float)(*(const double *)args[0].data * 2);
  return ARRJIT_OK;
}

/* x = (x + 1) * 2 by two callbacks that change the dtype, until it is above 100: 0 2 6 14 30 62 126. */
static void test_case_f30_value_callbacks_in_a_loop(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32), vars[1], wide, narrow, out[1];
  arrjit_slot up = arrjit_slot_value(g, "up", TYPES(TYPE(F32)), TYPES(TYPE(F64)), 0);
  arrjit_slot down = arrjit_slot_value(g, "down", TYPES(TYPE(F64)), TYPES(TYPE(F32)), 0);
  WHILE(g, vars, x);
  arrjit_while_body(g, arrjit_lt(g, vars[0], arrjit_const_f32(g, 100)), vars);
  CALLBACK(g, up, &wide, vars[0]);
  CALLBACK(g, down, &narrow, wide);
  arrjit_while_end(g, 1, &narrow, out);
  RETURN(g, out[0]);
  tk_bind(f, "up", widen, NULL), tk_bind(f, "down", twice, NULL);
  EXPECT(RUN(f, tk_finish(f, g), SCALAR(f, F32, 0)), 0, F32, 126);
}

static arrjit_status echo(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  if (args[0].bytes != results[0].bytes) return ARRJIT_FAILED;
  if (args[0].bytes) memcpy(results[0].data, args[0].data, args[0].bytes);
  return ARRJIT_OK;
}

static void test_case_f31_every_dtype_passes_bit_by_bit(void **state) {
  tk_fixture *f = *state;
  for (int d = ARRJIT_BOOL; arrjit_dtype_bytes((arrjit_dtype)d); d++)
    for (int shape = 0; shape < 3; shape++) {
      static const int64_t dims[] = {5, 0};
      arrjit_type type = arrjit_type_make((arrjit_dtype)d, shape > 0, shape == 2 ? dims + 1 : dims);
      unsigned char data[5 * 16];
      for (size_t i = 0; i < sizeof data; i++) data[i] = d == ARRJIT_BOOL ? i & 1 : (unsigned char)(0xff - 7 * i);
      arrjit_graph *g = tk_graph(f);
      arrjit_value x = arrjit_param(g, "x", &type), y, z;
      CALLBACK(g, arrjit_slot_io(g, "io", 1, &type, 0), &y, x);
      CALLBACK(g, arrjit_slot_value(g, "value", 1, &type, 1, &type, 0), &z, y);
      RETURN(g, y, z);
      tk_bind(f, "io", NULL, NULL), tk_bind(f, "value", echo, NULL);
      const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, type, data));
      EXPECT_OK(o);
      for (size_t i = 0; i < 2; i++) tk_expect(o, i, type.dtype, tk_type_count(&type), data, __FILE__, __LINE__);
    }
}

static arrjit_status sum_f64(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  double sum = 0;
  for (size_t i = 0; i < args[0].bytes / sizeof sum; i++) sum += ((const double *)args[0].data)[i];
  *(double *)results[0].data = sum;
  return ARRJIT_OK;
}

static void test_case_f32_arguments_arrive_dense_and_complete(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), m = PARAM(g, "m", F64, 2, 2), out[5];
  arrjit_slot sum = arrjit_slot_value(g, "sum", TYPES(TYPE(F64, 4)), TYPES(TYPE(F64)), 0);
  arrjit_value broadcast = arrjit_full(g, x, INTS(4));
  arrjit_value counted = arrjit_iota(g, ARRJIT_F64, INTS(4), 0);
  arrjit_value turned = arrjit_reshape(g, arrjit_transpose(g, m, INTS(1, 0)), INTS(4));
  arrjit_value back = arrjit_reverse(g, arrjit_reshape(g, m, INTS(4)), INTS(0));
  arrjit_value eight = arrjit_iota(g, ARRJIT_F64, INTS(8), 0);
  arrjit_value strided = arrjit_slice(g, eight, 1, I64S(1), I64S(8), I64S(2));
  arrjit_value args[] = {broadcast, counted, turned, back, strided};
  for (size_t i = 0; i < 5; i++) CALLBACK(g, sum, &out[i], args[i]);
  RETURN(g, out[0], out[1], out[2], out[3], out[4]);
  tk_bind(f, "sum", sum_f64, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, 2.5), SHAPED(f, TYPE(F64, 2, 2), F64, 1, 2, 3, 4));
  EXPECT(o, 0, F64, 10);
  EXPECT(o, 1, F64, 6);
  EXPECT(o, 2, F64, 10);
  EXPECT(o, 3, F64, 10);
  EXPECT(o, 4, F64, 16);
  static const char turned_bits[] = "sum f64[4]=000000000000f03f000000000000084000000000000000400000000000001040\n";
  assert_non_null(strstr(o->log, turned_bits));
}

static void test_case_f33_io_arguments_pass_through_unchanged(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), a, b;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F32, 3)), 0);
  CALLBACK(g, slot, &a, x);
  CALLBACK(g, slot, &b, a);
  RETURN(g, b, x);
  tk_bind(f, "cb", NULL, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F32, -0.0f, NAN, 3));
  EXPECT(o, 0, F32, -0.0f, NAN, 3);
  EXPECT(o, 1, F32, -0.0f, NAN, 3);
}

static arrjit_status fail_on_third(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  return slot->calls == 3 ? fail_bare(slot, call, arg_count, args, result_count, results) : ARRJIT_OK;
}

/* A callback that depends on nothing in the loop still runs in each iteration, and fails in the third. */
static void test_callback_is_not_moved_out_of_its_loop(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, j;
  arrjit_slot slot = arrjit_slot_io(g, "count", 0, NULL, 0);
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 3), one, 0, NULL, &i, NULL);
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 5), one, 0, NULL, &j, NULL);
  arrjit_callback(g, slot, 0, NULL, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "count", NULL, NULL);
  EXPECT_OK(RUN(f, function));
  assert_int_equal(f->slots[0].calls, 15);
  tk_bind(f, "count", fail_on_third, NULL);
  const tk_outcome *o = RUN(f, function);
  EXPECT_FAILURE(o, ARRJIT_KIND_CALLBACK, ARRJIT_FAILED, NULL);
  assert_int_equal(f->slots[0].calls, 3);
  assert_string_equal(o->path, "callback < for body 2 < for body 0");
}

static void test_case_f44_no_callback_after_the_first_failure(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I8), y;
  arrjit_slot bad = arrjit_slot_io(g, "bad", TYPES(TYPE(I8)), 0),
              other = arrjit_slot_io(g, "other", TYPES(TYPE(I8)), 0);
  CALLBACK(g, bad, &y, x);
  CALLBACK(g, other, &y, x);
  RETURN(g, x);
  tk_bind(f, "bad", fail_bare, NULL), tk_bind(f, "other", NULL, NULL);
  assert_string_equal(RUN(f, tk_finish(f, g), SCALAR(f, I8, 1))->log, "bad i8[]=01\n");
}

/* The failure of a callback caught inside: the handler reads what the host put into it. */
static void test_handlers_catch_callback_failures(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), seen, exn, there, out;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F64)), 0);
  arrjit_type f64 = TYPE(F64);
  arrjit_try_begin(g);
  CALLBACK(g, slot, &seen, x);
  arrjit_try_handler(g, 1, &seen, ARRJIT_KIND_CALLBACK, &exn);
  arrjit_value field = arrjit_exn_field(g, exn, 0, &f64, &there);
  arrjit_try_end(g, LIST(arrjit_neg(g, field)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  failure_plan plan = {ARRJIT_KIND_NONE, NULL};
  tk_bind(f, "cb", fail_fully, &plan);
  EXPECT(RUN(f, function, SCALAR(f, F64, 4)), 0, F64, -8);
  tk_bind(f, "cb", NULL, NULL);
  EXPECT(RUN(f, function, SCALAR(f, F64, 4)), 0, F64, 4);
}

static double scale(double x, int64_t n) { return x * (double)n; }

/* A C function with a plain signature, bound as it is. */
static void test_direct_bindings_call_plain_functions(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), n = PARAM(g, "n", I64), y;
  CALLBACK(g, arrjit_slot_value(g, "scale", TYPES(TYPE(F64), TYPE(I64)), TYPES(TYPE(F64)), 0), &y, x, n);
  RETURN(g, y);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *inputs[] = {SCALAR(f, F64, 1.5), SCALAR(f, I64, -4)};
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_binding binding = {.slot = "scale", .direct = (void (*)(void))scale};
    arrjit_run_options options = {.struct_bytes = sizeof options,
                                  .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                                  .binding_count = 1,
                                  .bindings = &binding};
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_run(function, &options, 2, inputs, &result, NULL), ARRJIT_OK);
    assert_true(arrjit_result_ok(result));
    assert_true(*(double *)arrjit_array_data(arrjit_result_output(result, 0)) == -6);
    arrjit_result_destroy(result);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f12_later_predicates_do_not_run),
    TK_TEST(test_case_f13_effect_before_an_if_runs_once),
    TK_TEST(test_case_f21_failing_io_callback_comes_back_as_a_value),
    TK_TEST(test_case_f22_kind_payload_and_host_pointer_are_carried),
    TK_TEST(test_case_f22_host_pointer_is_destroyed_once),
    TK_TEST(test_case_f23_failing_value_callback),
    TK_TEST(test_case_f25_a_callback_that_recovers_leaves_no_mark),
    TK_TEST(test_fail_and_then_ok_breaks_the_contract),
    TK_TEST(test_case_f26_io_callback_in_a_loop),
    TK_TEST(test_case_f27_only_the_taken_arm_calls),
    TK_TEST(test_case_f28_independent_calls_keep_build_order),
    TK_TEST(test_case_f29_bindings_belong_to_a_run),
    TK_TEST(test_case_f29_unbound_fails_before_any_effect),
    TK_TEST(test_case_f30_value_callbacks_in_a_loop),
    TK_TEST(test_case_f31_every_dtype_passes_bit_by_bit),
    TK_TEST(test_case_f32_arguments_arrive_dense_and_complete),
    TK_TEST(test_case_f33_io_arguments_pass_through_unchanged),
    TK_TEST(test_callback_is_not_moved_out_of_its_loop),
    TK_TEST(test_case_f44_no_callback_after_the_first_failure),
    TK_TEST(test_handlers_catch_callback_failures),
    TK_TEST(test_direct_bindings_call_plain_functions),
};

TEST_MAIN(tests, NULL, NULL)
