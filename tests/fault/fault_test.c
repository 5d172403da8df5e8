/* The n-th of the library's allocations fails, for every n until none is left to fail: from arrjit_graph_create to the result
 * destroyed. Whatever happens, it is a status or kind `memory` (or, where only native code was to be had with that
 * allocation, a right result from the interpreter); nothing leaks; and the same context then does the same job right. */
#include "fixture.h"

typedef struct scenario {
  const char *name;
  void (*build)(arrjit_graph *g);
  size_t input_count;
  arrjit_dtype dtype;
  int32_t rank;
  int64_t dims[2];
  arrjit_callback_fn *callback;
  bool fails;          /* with kind callback, when memory does not */
  double first;        /* first element of the first output, when it does not */
} scenario;

/* ---- the four scenarios ---- */

static void build_elementwise(arrjit_graph *g) {
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type);
  RETURN(g, arrjit_add(g, arrjit_exp(g, arrjit_sub(g, x, y)), arrjit_mul(g, x, y)));
}

/* A loop whose body raises in every other iteration and catches it. */
static void build_try(arrjit_graph *g) {
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = arrjit_param(g, "x", &type), i, sum, exn, part, total;
  arrjit_value nothing = arrjit_const_f64(g, 0), one = arrjit_const_i64(g, 1);
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 4), one, &i, &sum, nothing);
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_eq(g, arrjit_and(g, i, one), one));
  RAISE(g, ARRJIT_KIND_RUNTIME, 1, "odd {0}", i);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_value whole = arrjit_reduce_sum(g, x, ARRJIT_ALL_AXES, NULL);
  arrjit_try_handler(g, 1, &whole, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_value present, field = arrjit_exn_field(g, exn, 0, (const arrjit_type[]){TYPE(I64)}, &present);
  arrjit_value caught = arrjit_convert(g, field, ARRJIT_F64);
  arrjit_try_end(g, 1, &caught, &part);
  arrjit_value next = arrjit_add(g, sum, part);
  arrjit_for_end(g, 1, &next, &total);
  RETURN(g, total);
}

static arrjit_status refuse(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  (void)user, (void)arg_count, (void)result_count, (void)results;
  const char *frames[] = {"host.refuse", "host.main"};
  arrjit_failure failure = {.struct_bytes = sizeof failure, .kind = ARRJIT_KIND_CALLBACK, .code = 5, .message = "not {0}",
                            .payload_count = 1, .payload = args, .frame_count = 2, .frames = frames};
  return arrjit_fail(call, &failure);
}

static void build_callback(arrjit_graph *g) {
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_slot slot = arrjit_slot_io(g, "refuse", 1, &type, 0);
  arrjit_value x = arrjit_param(g, "x", &type), seen;
  CALLBACK(g, slot, &seen, arrjit_add(g, x, x));
  RETURN(g, seen);
}

static void build_dot(arrjit_graph *g) {
  arrjit_type type = TYPE(F64, 8, 8);
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type);
  RETURN(g, (arrjit_dot)(g, x, y, 0, NULL, NULL, 1, I64S(1), I64S(0)));
}

static const scenario scenarios[] = {
    {"elementwise", build_elementwise, 2, ARRJIT_F64, 1, {64}, NULL, false, 2},
    {"try", build_try, 1, ARRJIT_F64, 1, {64}, NULL, false, 132},
    {"callback", build_callback, 1, ARRJIT_F64, 1, {64}, refuse, true, 0},
    {"dot", build_dot, 2, ARRJIT_F64, 2, {8, 8}, NULL, false, 8},
};

/* ---- one attempt ---- */

typedef enum outcome { RIGHT, MEMORY, WRONG } outcome;

static outcome judge(arrjit_status status) { return status == ARRJIT_MEMORY ? MEMORY : WRONG; }

static outcome judge_result(const scenario *s, arrjit_result *result) {
  if (!arrjit_result_ok(result)) {
    (void)arrjit_result_text(result); /* "" when there is no memory for it */
    if (arrjit_result_kind(result) == ARRJIT_KIND_MEMORY) return MEMORY;
    return s->fails && arrjit_result_kind(result) == ARRJIT_KIND_CALLBACK && arrjit_result_code(result) == 5 &&
                   arrjit_result_payload_count(result) == 1
               ? RIGHT
               : WRONG;
  }
  const double *out = arrjit_array_data(arrjit_result_output(result, 0));
  return !s->fails && out[0] == s->first ? RIGHT : WRONG;
}

static outcome run_function(const scenario *s, arrjit_context *context, arrjit_function *function, arrjit_mode mode) {
  arrjit_array *inputs[2] = {NULL, NULL};
  arrjit_binding binding = {.slot = "refuse", .callback = s->callback};
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = mode, .binding_count = s->callback ? 1 : 0,
                                .bindings = &binding};
  double ones[64];
  for (int i = 0; i < 64; i++) ones[i] = 1;
  outcome seen = RIGHT;
  for (size_t i = 0; i < s->input_count && seen == RIGHT; i++) {
    arrjit_type type = arrjit_type_make(s->dtype, s->rank, s->dims);
    arrjit_status status = arrjit_array_create(context, &type, ones, &inputs[i], NULL);
    if (status != ARRJIT_OK) seen = judge(status);
  }
  if (seen == RIGHT) {
    arrjit_result *result = NULL;
    arrjit_status status = arrjit_run(function, &options, s->input_count, inputs, &result, NULL);
    seen = status == ARRJIT_OK ? judge_result(s, result) : judge(status);
    arrjit_result_destroy(result);
  }
  for (size_t i = 0; i < s->input_count; i++) arrjit_array_release(inputs[i]);
  return seen;
}

static outcome attempt(const scenario *s, arrjit_context *context, arrjit_mode mode) {
  arrjit_graph *graph = NULL;
  arrjit_function *function = NULL;
  arrjit_status status = arrjit_graph_create(context, &graph, NULL);
  if (status == ARRJIT_OK) {
    s->build(graph);
    status = arrjit_graph_finish(graph, &function, NULL);
  }
  outcome seen = status == ARRJIT_OK ? run_function(s, context, function, mode) : judge(status);
  arrjit_graph_destroy(graph);
  arrjit_function_release(function);
  return seen;
}

/* ---- every n ---- */

static void exhaust(const scenario *s, arrjit_mode mode, const char *mode_name) {
  int64_t points = 0, shown = 0, absorbed = 0;
  for (bool refused = true; refused; points++) {
    tk_alloc alloc = {0};
    arrjit_allocator host = tk_alloc_host(&alloc);
    arrjit_context *context = tk_context(&host);
    tk_alloc_arm(&alloc, points + 1);
    outcome seen = attempt(s, context, mode);
    refused = alloc.failed > 0;
    tk_alloc_arm(&alloc, 0);
    if (seen == WRONG || (!refused && seen != RIGHT)) fail_msg("%s, %s: allocation %d fails", s->name, mode_name, (int)points + 1);
    shown += seen == MEMORY;
    absorbed += refused && seen == RIGHT;
    if (attempt(s, context, mode) != RIGHT) fail_msg("%s: the context does not work after point %d", s->name, (int)points + 1);
    assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
    if (alloc.live_bytes || alloc.mistakes)
      fail_msg("%s, %s: allocation %d fails: %lld bytes leaked, %lld mistakes", s->name, mode_name, (int)points + 1,
               (long long)alloc.live_bytes, (long long)alloc.mistakes);
  }
  print_message("%s, %s: %lld points, %lld shown as memory, %lld absorbed\n", s->name, mode_name, (long long)points - 1,
                (long long)shown, (long long)absorbed);
  assert_true(shown > 0);
}

static void exhaust_all(const scenario *s) {
  exhaust(s, ARRJIT_MODE_INTERP, "interp");
  if (!tk_native()) return;
  arrjit_context *open = tk_context(NULL); /* keeps the native module loaded between the contexts */
  assert_int_equal(attempt(s, open, ARRJIT_MODE_WHOLE), RIGHT);
  exhaust(s, ARRJIT_MODE_WHOLE, "whole");
  assert_int_equal(arrjit_context_destroy(open), ARRJIT_OK);
}

static void test_elementwise_survives_every_failing_allocation(void **state) {
  (void)state;
  exhaust_all(&scenarios[0]);
}
static void test_try_survives_every_failing_allocation(void **state) {
  (void)state;
  exhaust_all(&scenarios[1]);
}
static void test_callback_survives_every_failing_allocation(void **state) {
  (void)state;
  exhaust_all(&scenarios[2]);
}
static void test_dot_survives_every_failing_allocation(void **state) {
  (void)state;
  exhaust_all(&scenarios[3]);
}

/* The context itself. */
static void test_context_creation_survives_every_failing_allocation(void **state) {
  (void)state;
  int64_t points = 0;
  for (bool refused = true; refused; points++) {
    tk_alloc alloc = {0};
    arrjit_allocator host = tk_alloc_host(&alloc);
    arrjit_context_options options = tk_context_options(&host);
    arrjit_context *context = NULL;
    tk_alloc_arm(&alloc, points + 1);
    arrjit_status status = arrjit_context_create(&options, &context, NULL);
    refused = alloc.failed > 0;
    assert_int_equal(status, refused ? ARRJIT_MEMORY : ARRJIT_OK);
    if (!refused) assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
    assert_int_equal(alloc.live_bytes, 0);
    assert_int_equal(alloc.mistakes, 0);
  }
  print_message("context: %lld points\n", (long long)points - 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_elementwise_survives_every_failing_allocation),
    cmocka_unit_test(test_try_survives_every_failing_allocation),
    cmocka_unit_test(test_callback_survives_every_failing_allocation),
    cmocka_unit_test(test_dot_survives_every_failing_allocation),
    cmocka_unit_test(test_context_creation_survives_every_failing_allocation),
};
TEST_MAIN(tests, NULL, NULL)
