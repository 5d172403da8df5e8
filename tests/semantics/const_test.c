/* Large constants: nothing computes with them, or copies them, before a run asks for it. */
#include "fixture.h"

enum {
  COMPILE_MS = 1000,
  SMALL_BYTES = 1 << 20
}; /* far below the arrays; sanitizers and load do not count: CPU time */

static void set_budget(tk_fixture *f) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  arrjit_status status = arrjit_context_set_option(f->context, ARRJIT_OPTION_COMPILE_BUDGET_MS, COMPILE_MS, NULL);
  assert_int_equal(status, ARRJIT_OK);
#else
  (void)f;
#endif
}

/* Finishes and compiles with no allocation above SMALL_BYTES, nor all of them together. */
static arrjit_function *compile_in_little(tk_fixture *f, arrjit_graph *g) {
  set_budget(f);
  int64_t before = atomic_load(&f->alloc.live_bytes);
  atomic_store(&f->alloc.most, SMALL_BYTES);
  arrjit_function *function = tk_finish(f, g);
  if (tk_native()) {
    arrjit_error error;
    if (arrjit_function_prepare(function, NULL, &error) != ARRJIT_OK ||
        arrjit_function_wait(function, -1, &error) != ARRJIT_OK)
      fail_msg("%s", error.message);
  }
  atomic_store(&f->alloc.most, 0);
  assert_in_range(atomic_load(&f->alloc.live_bytes), 0, before + SMALL_BYTES);
  return function;
}

/* One run in interp and one as native code: arrays of this size are not for every mode. */
static void run_twice(tk_fixture *f, arrjit_function *function, size_t count, arrjit_array *const *inputs,
                      arrjit_dtype dtype, const void *want) {
  static const tk_mode modes[] = {TK_INTERP, TK_WHOLE};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    tk_outcome o;
    tk_call call = {.input_count = count, .inputs = inputs};
    if (!tk_mode_exists(modes[i])) continue;
    tk_run_mode(f->context, function, modes[i], &call, &o);
    tk_expect(&o, 0, dtype, 1, want, __FILE__, __LINE__);
    tk_outcome_free(&o);
  }
}

static void test_case_b51_one_element_of_many_is_set(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  static const int64_t place[] = {250, 1, 499}, dims[] = {500, 500, 500}, ones[] = {1, 1, 1};
  arrjit_value at[3], from[3];
  for (int i = 0; i < 3; i++) at[i] = arrjit_const_i64(g, place[i]);
  for (int i = 0; i < 3; i++) from[i] = PARAM(g, "", I64);
  arrjit_value many = arrjit_full(g, arrjit_const_f32(g, 1), 3, dims);
  arrjit_value two = arrjit_full(g, arrjit_const_f32(g, 2), 3, ones);
  many = (arrjit_dynamic_update_slice)(ARRJIT_AT_(g), many, two, 3, at);
  RETURN(g, (arrjit_dynamic_slice)(ARRJIT_AT_(g), many, 3, from, ones));
  arrjit_function *function = compile_in_little(f, g);
  arrjit_array *in[3];
  for (int i = 0; i < 3; i++) in[i] = SCALAR(f, I64, place[i]);
  run_twice(f, function, 3, in, ARRJIT_F32, DATA_(F32, 2));
  in[0] = SCALAR(f, I64, 249);
  run_twice(f, function, 3, in, ARRJIT_F32, DATA_(F32, 1));
}

/* The constant is what the body of a loop takes from outside. */
static void test_case_b51_elements_of_a_captured_constant(void **state) {
  enum { ROWS = 10000000 };
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t *data = tk_new((size_t)ROWS * 2, sizeof *data);
  for (int64_t i = 0; i < ROWS * 2; i++) data[i] = 3 * i;
  arrjit_value table = arrjit_const(g, &(arrjit_type[]){TYPE(I64, ROWS, 2)}[0], data);
  free(data);
  arrjit_value lo = arrjit_const_i64(g, 0), hi = arrjit_const_i64(g, 3), step = arrjit_const_i64(g, 1);
  arrjit_value index = PARAM(g, "index", I64), sum = arrjit_const_i64(g, 0), i, var, out;
  FOR(g, lo, hi, step, &i, &var, sum);
  arrjit_value row = arrjit_add(g, index, i);
  arrjit_value pair =
      (arrjit_gather)(ARRJIT_AT_(g), table, row, INTS(0), INTS(0), NONE, NULL, INTS(0), 0, 2, I64S(1, 2));
  arrjit_value both = (arrjit_reduce_sum)(ARRJIT_AT_(g), pair, 1, I64S(0));
  arrjit_for_end(g, 1, &(arrjit_value[]){arrjit_add(g, var, both)}[0], &out);
  RETURN(g, out);
  arrjit_function *function = compile_in_little(f, g);
  arrjit_array *in = SCALAR(f, I64, 5000000);
  /* rows r, r + 1, r + 2 hold 6r and 6r + 3 each */
  run_twice(f, function, 1, &in, ARRJIT_I64, DATA_(I64, 3 * (12 * INT64_C(5000000) + 3) + 12 * 3));
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b51_one_element_of_many_is_set),
    TK_TEST(test_case_b51_elements_of_a_captured_constant),
};

TEST_MAIN(tests, NULL, NULL)
