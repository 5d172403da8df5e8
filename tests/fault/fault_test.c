/* Every allocation fails once: five programs, from the context to the result in hand, run again and again with the
 * first, the second, ... allocation refused, until a run needs fewer. Each must end in status or kind memory (or, where
 * what failed can be done without, in the right answer), leak nothing, and leave a context that gives the right answer.
 * In `whole` a compilation that is given up leaves the run to the interpreter; with native code required it is an
 * error. */
#include <inttypes.h>
#include <stdlib.h>

#include "fixture.h"

typedef struct scenario {
  const char *name;
  void (*build)(arrjit_graph *g);
  size_t input_count;
  arrjit_type inputs[2];
  arrjit_callback_fn *callback; /* of slot "cb", or NULL */
} scenario;

/* ---- the programs ---- */

static void build_elementwise(arrjit_graph *g) {
  arrjit_type type = {.dtype = ARRJIT_F32, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type);
  arrjit_value z = arrjit_complex(g, x, y);
  RETURN(g, arrjit_add(g, arrjit_mul(g, arrjit_exp(g, x), y), x), arrjit_reduce_sum(g, y, INTS(0)),
         arrjit_reduce_prod(g, arrjit_mul(g, z, z), INTS(0)));
}

static void build_loop(arrjit_graph *g) {
  arrjit_value x = PARAM(g, "x", F64), zero = arrjit_const_i64(g, 0), i, vars[1], out[1], exn, there, value;
  arrjit_type integer = TYPE(I64);
  FOR(g, zero, arrjit_const_i64(g, 5), arrjit_const_i64(g, 1), &i, vars, x);
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_eq(g, arrjit_rem(g, i, arrjit_const_i64(g, 2)), zero));
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "even: {0}", i, x);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_handler(g, LIST(arrjit_add(g, vars[0], x)), ARRJIT_KIND_RUNTIME, &exn);
  arrjit_value field = arrjit_convert(g, arrjit_exn_field(g, exn, 0, &integer, &there), ARRJIT_F64);
  arrjit_try_end(g, LIST(arrjit_sub(g, vars[0], field)), &value);
  arrjit_for_end(g, 1, &value, out);
  arrjit_if_begin(g, arrjit_lt(g, out[0], arrjit_const_f64(g, 1000)));
  RAISE(g, ARRJIT_KIND_ARITH, 7, "too small: {0}", out[0]);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 1, out, &value);
  RETURN(g, value);
}

static void build_callback(arrjit_graph *g) {
  arrjit_value x = PARAM(g, "x", F64, 3), seen;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F64, 3)), 0);
  CALLBACK(g, slot, &seen, arrjit_add(g, x, x));
  RETURN(g, seen);
}

static void build_dot(arrjit_graph *g) {
  arrjit_value x = PARAM(g, "x", F32, 3, 40), y = PARAM(g, "y", F32, 40, 5);
  RETURN(g, arrjit_dot(g, x, y, 0, NULL, NULL, 1, I64S(1), I64S(0)));
}

/* Newton per lane, with a value for what is caught, and a failure of the last lane. */
static void build_map(arrjit_graph *g) {
  arrjit_value x = PARAM(g, "x", F64, 9), a, v, root, exn, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_try_begin(g);
  WHILE(g, &v, arrjit_const_f64(g, 1));
  arrjit_value error = arrjit_abs(g, arrjit_sub(g, arrjit_mul(g, v, v), a));
  arrjit_while_body(g, arrjit_gt(g, error, arrjit_const_f64(g, 1e-9)), &v);
  arrjit_value high = arrjit_gt(g, v, arrjit_const_f64(g, 0.05)), checked;
  CHECK(g, high, ARRJIT_KIND_RUNTIME, 3, "low: {0}", LIST(v), &checked, v);
  arrjit_value next = arrjit_add(g, checked, arrjit_div(g, a, checked));
  arrjit_while_end(g, LIST(arrjit_mul(g, next, arrjit_const_f64(g, 0.5))), &root);
  arrjit_try_handler(g, 1, &root, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_try_end(g, 1, &a, &root);
  arrjit_if_begin(g, arrjit_gt(g, a, arrjit_const_f64(g, 0.0075)));
  RAISE(g, ARRJIT_KIND_ARITH, 7, "too much: {0}", a);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 1, &root, &root);
  arrjit_map_end(g, 1, &root, &out);
  RETURN(g, out);
}

/* Two arrays folded together, and a scan. */
static void build_fold(arrjit_graph *g) {
  arrjit_value x = PARAM(g, "x", F32, 5, 3), init = arrjit_const_f32(g, 1), a[2], b[2], out[2];
  const arrjit_value inits[] = {init, init};
  arrjit_reduce_begin(g, LIST(x, arrjit_neg(g, x)), inits, INTS(0), a, b);
  arrjit_reduce_end(g, LIST(arrjit_sub(g, a[0], b[1]), arrjit_min(g, a[1], b[1])), out);
  RETURN(g, out[0], arrjit_cumsum(g, out[1], 0, 0));
}

/* Two arrays sorted by a comparator, and windows that select: native code calls the routines. */
static void build_sort(arrjit_graph *g) {
  arrjit_value x = PARAM(g, "x", F32, 5, 3), a[2], b[2], out[2];
  arrjit_sort_by_begin(g, LIST(x, arrjit_floor(g, x)), 0, a, b);
  arrjit_sort_by_end(g, arrjit_lt(g, a[1], b[1]), 2, out);
  arrjit_value zero = arrjit_const_f32(g, 0),
               most = arrjit_reduce_window_max(g, x, 2, I64S(2, 1), NULL, NULL, NULL, NULL, NULL), back;
  arrjit_select_and_scatter_begin(g, x, most, zero, 2, I64S(2, 1), NULL, NULL, NULL, a, b);
  arrjit_select_and_scatter_combine(g, arrjit_ge(g, a[0], b[0]), a, b);
  arrjit_select_and_scatter_end(g, arrjit_add(g, a[0], b[0]), &back);
  RETURN(g, out[0], out[1], back);
}

static int failures_made, pointers_destroyed;
static void destroy_pointer(void *pointer) {
  (void)pointer;
  pointers_destroyed++;
}

static arrjit_status fail_with_payload(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                       const arrjit_view *results) {
  (void)user, (void)n, (void)m, (void)results;
  static const char *const frames[] = {"inner", "outer"};
  failures_made++;
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .kind = ARRJIT_KIND_RUNTIME,
                            .code = 5,
                            .message = "the host cannot: {0}",
                            .payload_count = 1,
                            .payload = args,
                            .host_pointer = &failures_made,
                            .host_destroy = destroy_pointer,
                            .frame_count = 2,
                            .frames = frames};
  return arrjit_fail(call, &failure);
}

static const scenario elementwise = {
    "elementwise", build_elementwise, 2, {{ARRJIT_F32, 1, {9}}, {ARRJIT_F32, 1, {9}}}, NULL};
static const scenario loop = {"loop with try and raise", build_loop, 1, {{ARRJIT_F64, 0, {0}}}, NULL};
static const scenario callback = {
    "callback with payload", build_callback, 1, {{ARRJIT_F64, 1, {3}}}, fail_with_payload};
static const scenario dot = {"dot", build_dot, 2, {{ARRJIT_F32, 2, {3, 40}}, {ARRJIT_F32, 2, {40, 5}}}, NULL};
static const scenario map = {"map", build_map, 1, {{ARRJIT_F64, 1, {9}}}, NULL};

static const scenario fold = {"fold", build_fold, 1, {{ARRJIT_F32, 2, {5, 3}}}, NULL};
static const scenario sort = {"sort", build_sort, 1, {{ARRJIT_F32, 2, {5, 3}}}, NULL};

/* ---- one attempt ---- */

typedef enum tiers { INTERP, WHOLE, REQUIRED, TIERS } tiers;
static const char *const tier_names[TIERS] = {"interp", "whole", "whole, native code required"};

/* Outcome of build to run in a context; status and error tell where it ended when it did not come to a result. */
static void attempt(arrjit_context *context, const scenario *s, tiers tier, tk_outcome *out) {
  arrjit_graph *graph = NULL;
  arrjit_function *function = NULL;
  arrjit_array *inputs[2] = {NULL, NULL};
  arrjit_result *result = NULL;
  *out = (tk_outcome){0};
  arrjit_error *error = &out->error;
  arrjit_binding binding = {.slot = "cb", .callback = s->callback};
  arrjit_run_options options = {.struct_bytes = sizeof options,
                                .mode = tier == INTERP ? ARRJIT_MODE_INTERP : ARRJIT_MODE_WHOLE,
                                .flags = tier == REQUIRED ? ARRJIT_RUN_REQUIRE_NATIVE : 0,
                                .binding_count = s->callback ? 1 : 0,
                                .bindings = &binding};
  arrjit_status status = arrjit_graph_create(context, &graph, error);
  if (status == ARRJIT_OK) {
    s->build(graph);
    status = arrjit_graph_finish(graph, &function, error);
  }
  for (size_t i = 0; status == ARRJIT_OK && i < s->input_count; i++) {
    double data[200] = {0};
    for (size_t k = 0; k < TK_COUNT(data); k++) data[k] = 0.001 * (double)(k + i); /* any numbers will do */
    status = arrjit_array_create(context, &s->inputs[i], data, &inputs[i], error);
  }
  if (status == ARRJIT_OK) status = arrjit_run(function, &options, s->input_count, inputs, &result, error);
  if (status == ARRJIT_OK) {
    tk_outcome_take(out, result, NULL);
  } else {
    out->status = status;
  }
  arrjit_result_destroy(result);
  for (size_t i = 0; i < 2; i++) arrjit_array_release(inputs[i]);
  arrjit_function_release(function);
  arrjit_graph_destroy(graph);
}

static bool is_memory(const tk_outcome *o) {
  return o->status == ARRJIT_MEMORY || (o->status == ARRJIT_OK && !o->ok && o->kind == ARRJIT_KIND_MEMORY);
}

static void replace(char **text, const char *by) {
  free(*text);
  *text = strdup(by);
}

/* The right answer, but for what may be lacking without memory: texts made on demand are "", entries of a trace are
 * counted and left out. */
static bool is_right(const tk_outcome *want, tk_outcome *got) {
  if (want->status == ARRJIT_OK && got->status == ARRJIT_OK && !want->ok && !got->ok) {
    bool cut = !strstr(got->trace, "omitted 0\n") || strstr(got->trace, "no entry\n");
    if (!*got->message) replace(&got->message, want->message);
    if (!*got->text || cut) replace(&got->text, want->text);
    if (cut) replace(&got->trace, want->trace);
  }
  return tk_outcome_same(want, got, NULL);
}

typedef struct tally {
  int64_t points, memory, right;
} tally;

/* One point: allocation `n` is refused. False when the program needs fewer. */
static bool one_point(const scenario *s, tiers tier, int64_t n, const tk_outcome *want, tally *t) {
  tk_alloc *alloc = tk_new(1, sizeof *alloc); /* stays when the test fails: the context that is left still uses it */
  arrjit_allocator host = tk_alloc_host(alloc);
  arrjit_context_options options = tk_context_options(&host);
  arrjit_context *context = NULL;
  tk_outcome got = {0}, again = {0};
  failures_made = pointers_destroyed = 0;
  tk_alloc_arm(alloc, n);
  got.status = arrjit_context_create(&options, &context, &got.error);
  if (got.status == ARRJIT_OK) attempt(context, s, tier, &got);
  if (context && tier != INTERP && arrjit_context_wait_idle(context, -1) != ARRJIT_OK) fail_msg("no rest");
  bool reached = atomic_load(&alloc->failed) > 0, memory = is_memory(&got), right = !memory && is_right(want, &got);
  if (!memory && !right) {
    char *why = NULL;
    tk_outcome_same(want, &got, &why);
    fail_msg("%s, allocation %" PRId64 ": neither memory nor the right answer: %s", s->name, n, why);
  }
  tk_alloc_arm(alloc, 0);
  if (context) { /* it works on */
    char *why = NULL;
    attempt(context, s, tier, &again);
    if (!tk_outcome_same(want, &again, &why)) fail_msg("%s, after allocation %" PRId64 ": %s", s->name, n, why);
    if (arrjit_context_destroy(context) != ARRJIT_OK) fail_msg("the context is still in use");
  }
  tk_outcome_free(&got);
  tk_outcome_free(&again);
  int64_t left = atomic_load(&alloc->live_bytes);
  if (left) fail_msg("%s, allocation %" PRId64 ": %" PRId64 " bytes leaked", s->name, n, left);
  if (atomic_load(&alloc->mistakes)) fail_msg("%s, allocation %" PRId64 ": a block freed wrongly", s->name, n);
  if (failures_made != pointers_destroyed)
    fail_msg("%s, allocation %" PRId64 ": %d host pointers, %d destroyed", s->name, n, failures_made,
             pointers_destroyed);
  free(alloc);
  t->points += reached, t->memory += reached && memory, t->right += reached && right;
  return reached;
}

static void exhaust(const scenario *s, tiers tier) {
  if (tier != INTERP && !tk_native()) skip();
  tally t = {0};
  tk_outcome want;
  arrjit_context *context = tk_context(NULL);
  attempt(context, s, INTERP, &want);
  if (arrjit_context_destroy(context) != ARRJIT_OK) fail_msg("the context is still in use");
  if (want.status != ARRJIT_OK) fail_msg("%s: %s", s->name, want.error.message);
  int64_t step = TK_SANITIZED && tier != INTERP ? 3 : 1; /* each compiles twice, slowly with sanitizers */
  for (int64_t n = 1; one_point(s, tier, n, &want, &t); n += step) {}
  printf("%s, %s: %" PRId64 " allocations failed one by one: %" PRId64 " memory, %" PRId64 " right without it\n",
         s->name, tier_names[tier], t.points, t.memory, t.right);
  assert_true(t.memory > t.points / 4);
  tk_outcome_free(&want);
}

static void test_elementwise_in_interp(void **state) { (void)state, exhaust(&elementwise, INTERP); }
static void test_elementwise_in_whole(void **state) { (void)state, exhaust(&elementwise, WHOLE); }
static void test_elementwise_in_native_code(void **state) { (void)state, exhaust(&elementwise, REQUIRED); }
static void test_loop_with_try_and_raise_in_interp(void **state) { (void)state, exhaust(&loop, INTERP); }
static void test_loop_with_try_and_raise_in_whole(void **state) { (void)state, exhaust(&loop, WHOLE); }
static void test_loop_with_try_and_raise_in_native_code(void **state) { (void)state, exhaust(&loop, REQUIRED); }
static void test_callback_with_payload_in_interp(void **state) { (void)state, exhaust(&callback, INTERP); }
static void test_callback_with_payload_in_whole(void **state) { (void)state, exhaust(&callback, WHOLE); }
static void test_callback_with_payload_in_native_code(void **state) { (void)state, exhaust(&callback, REQUIRED); }
static void test_dot_in_interp(void **state) { (void)state, exhaust(&dot, INTERP); }
static void test_dot_in_whole(void **state) { (void)state, exhaust(&dot, WHOLE); }
static void test_map_in_interp(void **state) { (void)state, exhaust(&map, INTERP); }
static void test_map_in_whole(void **state) { (void)state, exhaust(&map, WHOLE); }
static void test_map_in_native_code(void **state) { (void)state, exhaust(&map, REQUIRED); }
static void test_fold_in_interp(void **state) { (void)state, exhaust(&fold, INTERP); }
static void test_fold_in_whole(void **state) { (void)state, exhaust(&fold, WHOLE); }
static void test_sort_in_interp(void **state) { (void)state, exhaust(&sort, INTERP); }
static void test_sort_in_whole(void **state) { (void)state, exhaust(&sort, WHOLE); }
static void test_fold_in_native_code(void **state) { (void)state, exhaust(&fold, REQUIRED); }

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_elementwise_in_interp),
    cmocka_unit_test(test_elementwise_in_whole),
    cmocka_unit_test(test_elementwise_in_native_code),
    cmocka_unit_test(test_loop_with_try_and_raise_in_interp),
    cmocka_unit_test(test_loop_with_try_and_raise_in_whole),
    cmocka_unit_test(test_loop_with_try_and_raise_in_native_code),
    cmocka_unit_test(test_callback_with_payload_in_interp),
    cmocka_unit_test(test_callback_with_payload_in_whole),
    cmocka_unit_test(test_callback_with_payload_in_native_code),
    cmocka_unit_test(test_dot_in_interp),
    cmocka_unit_test(test_dot_in_whole),
    cmocka_unit_test(test_map_in_interp),
    cmocka_unit_test(test_map_in_whole),
    cmocka_unit_test(test_map_in_native_code),
    cmocka_unit_test(test_fold_in_interp),
    cmocka_unit_test(test_fold_in_whole),
    cmocka_unit_test(test_fold_in_native_code),
    cmocka_unit_test(test_sort_in_interp),
    cmocka_unit_test(test_sort_in_whole),
};

TEST_MAIN(tests, NULL, NULL)
