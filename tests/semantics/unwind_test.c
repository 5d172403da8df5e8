/* A C++ exception that leaves a bare callback: it unwinds through the run, interpreted or native, to a catch around it,
 * and nothing of the run stays behind. */
#include "unwind_throw.h"

#include "fixture.h"

typedef struct unwinding {
  tk_fixture *f;
  arrjit_function *function;
  size_t input_count;
  arrjit_array *const *inputs;
  arrjit_binding binding;
  arrjit_array *const *outputs;
} unwinding;

static arrjit_run_options options_of(const unwinding *u, int whole) {
  return (arrjit_run_options){.struct_bytes = sizeof(arrjit_run_options),
                              .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                              .binding_count = 1,
                              .bindings = &u->binding,
                              .outputs = u->outputs,
                              .deadline_ns = arrjit_clock_ns() + 60000000000};
}

/* Runs until no allocation is for the first time, then once more: live bytes are what they were. */
static void catch_in_mode(const unwinding *u, int whole) {
  arrjit_function_statistics before, after;
  int64_t live = 0;
  for (int k = 0; k < 4; k++) {
    char what[64] = "";
    arrjit_result *result = NULL;
    arrjit_status status = ARRJIT_OK;
    arrjit_run_options o = options_of(u, whole);
    if (k == 3) live = atomic_load(&u->f->alloc.live_bytes);
    arrjit_function_get_statistics(u->function, &before);
    int caught = unwind_catch(u->function, &o, u->input_count, u->inputs, &result, &status, what);
    arrjit_function_get_statistics(u->function, &after);
    if (!caught) fail_msg("no exception came, status %s", arrjit_status_text(status));
    assert_string_equal(what, "thrown by the host");
    assert_null(result);
    assert_int_equal(after.native_runs - before.native_runs, whole);
  }
  assert_int_equal(atomic_load(&u->f->alloc.live_bytes), live);
}

static void catch_in_modes(const unwinding *u) {
  for (int whole = 0; whole <= tk_native(); whole++) catch_in_mode(u, whole);
}

/* Arrays of a strided input, of a block too large for the stack, of extents that callbacks decide on, exceptions that
 * are held in three functions: all of it is alive when the callback throws. */
static arrjit_status make_many(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                               size_t result_count, const arrjit_view *results) {
  (void)user, (void)arg_count, (void)args, (void)result_count, (void)results;
  arrjit_view out;
  return arrjit_call_result(call, 0, I64S(700), &out);
}

static arrjit_function *build_rich(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  int64_t n = arrjit_symbol(g, "n");
  arrjit_value x = PARAM(g, "x", F64, n), param, i, vars[2], out[2], exn, caught, seen, made;
  arrjit_slot bad = arrjit_slot_io(g, "bad", TYPES(TYPE(F64)), 0);
  arrjit_slot many = arrjit_slot_value(g, "many", 0, NULL, TYPES(TYPE(F64, ARRJIT_DYNAMIC_DIM)), 0);
  arrjit_callee inner = arrjit_declare(g, "inner", TYPES(TYPE(F64)), TYPES(TYPE(F64)));
  arrjit_define(g, inner, &param);
  (arrjit_callback)(g, many, 0, NULL, &made);
  arrjit_value kept = EXN_NEW(g, ARRJIT_KIND_RUNTIME, 1, "kept", param);
  arrjit_value wide = arrjit_full(g, param, INTS(2000));
  CALLBACK(g, bad, &seen, param);
  arrjit_value code = arrjit_convert(g, arrjit_exn_is(g, kept, ARRJIT_KIND_RUNTIME), ARRJIT_F64);
  arrjit_value sum = arrjit_reduce_sum(g, arrjit_reverse(g, wide, INTS(0)), INTS(0));
  RETURN(g, arrjit_add(g, arrjit_add(g, sum, code), arrjit_add(g, seen, arrjit_reduce_sum(g, made, INTS(0)))));
  arrjit_value carried = arrjit_add(g, x, arrjit_reverse(g, x, INTS(0)));
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 3), arrjit_const_i64(g, 1), &i, vars, carried,
      arrjit_const_f64(g, 0));
  arrjit_try_begin(g);
  arrjit_value shifted = arrjit_add(g, vars[0], x);
  arrjit_if_begin(g, arrjit_ge(g, i, arrjit_const_i64(g, 0)));
  RAISE(g, ARRJIT_KIND_RUNTIME, 2, "first", i);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_handler(g, 1, &shifted, ARRJIT_KIND_ERROR, &exn);
  CALL(g, inner, &out[0], arrjit_reduce_sum(g, vars[0], INTS(0)));
  arrjit_value again = arrjit_add(g, vars[0], arrjit_full(g, out[0], 1, &n));
  arrjit_if_begin(g, arrjit_lt(g, out[0], out[0]));
  arrjit_raise_exn(g, exn);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_end(g, 1, &again, &caught);
  arrjit_for_end(g, LIST(caught, arrjit_reduce_sum(g, caught, INTS(0))), out);
  RETURN(g, out[0], out[1]);
  return tk_finish(f, g);
}

static void test_case_f35_exception_unwinds_through_a_run(void **state) {
  tk_fixture *f = *state;
  enum { N = 3000 };
  double *data = tk_new(2 * N, sizeof *data);
  for (int k = 0; k < 2 * N; k++) data[k] = k;
  arrjit_type type = TYPE(F64, N);
  arrjit_array *strided = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, data, (const int64_t[]){16}, NULL, NULL, &strided, NULL),
                   ARRJIT_OK);
  arrjit_array *outputs[] = {tk_array(f, TYPE(F64, N), NULL), NULL};
  int throws = 1;
  unwinding u = {.f = f, .function = build_rich(f), .input_count = 1, .inputs = &strided, .outputs = outputs};
  u.binding = (arrjit_binding){.slot = "bad", .callback = unwind_callback, .user = &throws};
  arrjit_binding many = {.slot = "many", .callback = make_many};
  assert_int_equal(arrjit_function_bind(u.function, &many, NULL, NULL), ARRJIT_OK);
  catch_in_modes(&u);
  throws = 0; /* and everything works on */
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_run_options o = options_of(&u, whole);
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_run(u.function, &o, 1, &strided, &result, NULL), ARRJIT_OK);
    assert_true(arrjit_result_ok(result));
    arrjit_result_destroy(result);
  }
  arrjit_array_release(strided);
  free(data);
}

static void test_case_f35_exception_of_a_plain_function(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), y, exn, out;
  arrjit_slot slot = arrjit_slot_value(g, "bad", TYPES(TYPE(F64)), TYPES(TYPE(F64)), 0);
  arrjit_try_begin(g);
  CALLBACK(g, slot, &y, x);
  arrjit_try_handler(g, 1, &y, ARRJIT_KIND_ERROR, &exn); /* it is no failure of the graph: no handler sees it */
  arrjit_try_end(g, 1, &x, &out);
  RETURN(g, out);
  arrjit_array *input = SCALAR(f, F64, 1);
  unwinding u = {.f = f, .function = tk_finish(f, g), .input_count = 1, .inputs = &input};
  u.binding = (arrjit_binding){.slot = "bad", .direct = (void (*)(void))unwind_direct};
  catch_in_modes(&u);
}

typedef struct nested {
  arrjit_function *inner;
  arrjit_binding binding;
  int whole;
} nested;

static arrjit_status run_inner(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                               size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)args, (void)result_count, (void)results;
  nested *n = user;
  arrjit_run_options o = {.struct_bytes = sizeof o,
                          .mode = n->whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                          .binding_count = 1,
                          .bindings = &n->binding};
  arrjit_result *result = NULL;
  return arrjit_run(n->inner, &o, 0, NULL, &result, NULL);
}

/* Through a run inside a callback and the run around it, whichever tiers they are in. */
static void test_case_f35_exception_unwinds_through_nested_runs(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  (arrjit_callback)(g, arrjit_slot_io(g, "bad", 0, NULL, 0), 0, NULL, NULL);
  RETURN(g);
  int throws = 1;
  nested n = {.inner = tk_finish(f, g), .binding = {.slot = "bad", .callback = unwind_callback, .user = &throws}};
  g = tk_graph(f);
  (arrjit_callback)(g, arrjit_slot_io(g, "outer", 0, NULL, 0), 0, NULL, NULL);
  RETURN(g);
  unwinding u = {.f = f, .function = tk_finish(f, g)};
  u.binding = (arrjit_binding){.slot = "outer", .callback = run_inner, .user = &n};
  for (n.whole = 0; n.whole <= tk_native(); n.whole++) catch_in_modes(&u);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f35_exception_unwinds_through_a_run),
    TK_TEST(test_case_f35_exception_of_a_plain_function),
    TK_TEST(test_case_f35_exception_unwinds_through_nested_runs),
};

TEST_MAIN(tests, NULL, NULL)
