/* Arrays as hosts give them: empty, strided, reversed, overlapping; and shapes that are known only at run time. */
#include "fixture.h"

static void test_case_b42_reductions_of_nothing(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 2, 0, 4), m = PARAM(g, "m", F32, 2, 0), none = PARAM(g, "none", F32, 0);
  RETURN(g, arrjit_reduce_max(g, x, INTS(0, 1, 2)), arrjit_reduce_sum(g, x, INTS(1)), arrjit_reduce_max(g, m, INTS(0)),
         arrjit_reduce_prod(g, none, INTS(0)), arrjit_mean(g, none, INTS(0)), arrjit_reduce_min(g, x, INTS(0, 1, 2)),
         arrjit_reduce_sum(g, none, INTS(0)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(F32, 2, 0, 4), NULL),
                            tk_array(f, TYPE(F32, 2, 0), NULL), tk_array(f, TYPE(F32, 0), NULL));
  EXPECT(o, 0, F32, -INFINITY);
  EXPECT(o, 1, F32, 0, 0, 0, 0, 0, 0, 0, 0);
  EXPECT_SHAPE(o, 1, 2, 4);
  EXPECT_SHAPE(o, 2, 0);
  EXPECT(o, 3, F32, 1);
  EXPECT(o, 4, F32, NAN);
  EXPECT(o, 5, F32, INFINITY);
  EXPECT(o, 6, F32, 0);
}

static void test_case_b42_argmax_of_nothing_is_a_shape_failure(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_F32, .rank = 2, .dims = {2, arrjit_symbol(g, "n")}};
  RETURN(g, arrjit_argmax(g, arrjit_param(g, "x", &type), 1));
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SHAPED(f, TYPE(F32, 2, 2), F32, 1, 2, 4, 3)), 0, I64, 1, 0);
  EXPECT_FAILURE(RUN(f, function, tk_array(f, TYPE(F32, 2, 0), NULL)), ARRJIT_KIND_SHAPE, 0, NULL);
}

static void test_case_b42_integers_have_their_own_extremes(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value i = PARAM(g, "i", I8, 0), u = PARAM(g, "u", U16, 0), b = PARAM(g, "b", BOOL, 0);
  RETURN(g, arrjit_reduce_max(g, i, INTS(0)), arrjit_reduce_min(g, i, INTS(0)), arrjit_reduce_max(g, u, INTS(0)),
         arrjit_reduce_min(g, u, INTS(0)), arrjit_reduce_and(g, b, INTS(0)), arrjit_reduce_or(g, b, INTS(0)),
         arrjit_reduce_and(g, i, INTS(0)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(I8, 0), NULL), tk_array(f, TYPE(U16, 0), NULL),
                            tk_array(f, TYPE(BOOL, 0), NULL));
  EXPECT(o, 0, I8, INT8_MIN);
  EXPECT(o, 1, I8, INT8_MAX);
  EXPECT(o, 2, U16, 0);
  EXPECT(o, 3, U16, UINT16_MAX);
  EXPECT(o, 4, BOOL, 1);
  EXPECT(o, 5, BOOL, 0);
  EXPECT(o, 6, I8, -1);
}

static arrjit_array *view(tk_fixture *f, arrjit_array *base, const int64_t *start, const int64_t *step,
                          const int64_t *dims) {
  arrjit_array *out = NULL;
  arrjit_error error;
  if (arrjit_array_view(base, start, step, dims, &out, &error) != ARRJIT_OK) fail_msg("view: %s", error.message);
  return tk_keep(f, out);
}

static void clear_base(tk_fixture *f) { memset(arrjit_array_data(f->user), 0, arrjit_array_bytes(f->user)); }
static void check_base(tk_fixture *f) {
  static const float want[] = {0, 2, 4, 6, 8, 10};
  assert_memory_equal(arrjit_array_data(f->user), want, sizeof want);
}

/* base[::-1] += 2 * x[::-1], written into the reversed view of base. */
static void test_case_b43_reversed_views_in_and_out(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value b = PARAM(g, "b", F32, 6), x = PARAM(g, "x", F32, 6);
  RETURN(g, arrjit_add(g, b, arrjit_mul(g, x, arrjit_const_f32(g, 2))));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *base = tk_array(f, TYPE(F32, 6), NULL), *numbers = ARRAY(f, F32, 0, 1, 2, 3, 4, 5);
  arrjit_array *back = view(f, base, I64S(5), I64S(-1), I64S(6));
  arrjit_array *reversed = view(f, numbers, I64S(5), I64S(-1), I64S(6));
  f->user = base;
  f->before_run = clear_base;
  f->after_run = check_base;
  f->outputs = &back;
  const tk_outcome *o = RUN(f, function, back, reversed);
  EXPECT(o, 0, F32, 10, 8, 6, 4, 2, 0);
}

/* [::-1, ::, 0] of [300, 1000, 2], minus 0.25; against the dense copy. */
static void test_case_b43_large_view_with_mixed_strides(void **state) {
  tk_fixture *f = *state;
  enum { ROWS = 300, COLUMNS = 1000 };
  double *data = tk_new(ROWS * COLUMNS * 2, sizeof *data), *want = tk_new(ROWS * COLUMNS, sizeof *want);
  for (int i = 0; i < ROWS * COLUMNS * 2; i++) data[i] = i * 0.5;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) want[i * COLUMNS + j] = data[((ROWS - 1 - i) * COLUMNS + j) * 2] - 0.25;
  arrjit_type type = TYPE(F64, ROWS, COLUMNS);
  const int64_t strides[] = {-COLUMNS * 2 * 8, 2 * 8};
  arrjit_array *input = NULL;
  assert_int_equal(
      arrjit_array_wrap(f->context, &type, data + (ROWS - 1) * COLUMNS * 2, strides, NULL, NULL, &input, NULL),
      ARRJIT_OK);
  tk_keep(f, input);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = arrjit_param(g, "x", &type);
  RETURN(g, arrjit_sub(g, x, arrjit_const_f64(g, 0.25)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), input);
  tk_expect(o, 0, ARRJIT_F64, ROWS * COLUMNS, want, __FILE__, __LINE__);
  free(data), free(want);
}

/* Zero strides, unaligned data and both signs of strides in one call. */
static void test_case_b43_zero_and_unaligned_strides(void **state) {
  tk_fixture *f = *state;
  unsigned char raw[1 + 6 * 8];
  const double numbers[] = {1, 2, 3, 4, 5, 6};
  memcpy(raw + 1, numbers, sizeof numbers);
  arrjit_type type = TYPE(F64, 2, 3);
  arrjit_array *a = NULL, *b = NULL, *c = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, raw + 1, I64S(24, 8), NULL, NULL, &a, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_array_wrap(f->context, &type, raw + 1, I64S(0, 8), NULL, NULL, &b, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_array_wrap(f->context, &type, raw + 1 + 40, I64S(0, -16), NULL, NULL, &c, NULL), ARRJIT_OK);
  tk_keep(f, a), tk_keep(f, b), tk_keep(f, c);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type), z = arrjit_param(g, "z", &type);
  RETURN(g, arrjit_fma(g, x, arrjit_const_f64(g, 100), arrjit_add(g, arrjit_mul(g, y, arrjit_const_f64(g, 10)), z)),
         arrjit_reduce_sum(g, z, INTS(0)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), a, b, c);
  EXPECT(o, 0, F64, 116, 224, 332, 416, 524, 632);
  EXPECT(o, 1, F64, 12, 8, 4);
}

/* Dense, though the dims of extent 1 have strides of their own: those are never followed. */
static void test_extents_of_one_have_any_stride(void **state) {
  tk_fixture *f = *state;
  double numbers[] = {1, 2, 3, 4, 5, 6};
  arrjit_type type = TYPE(F64, 2, 1, 1);
  arrjit_array *a = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, numbers, I64S(8, 16, 16), NULL, NULL, &a, NULL), ARRJIT_OK);
  tk_keep(f, a);
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = arrjit_param(g, "x", &type);
  RETURN(g, arrjit_mean(g, x, INTS(0, 1)), arrjit_reduce_sum(g, x, INTS(0, 1, 2)), arrjit_add(g, x, x));
  const tk_outcome *o = RUN(f, tk_finish(f, g), a);
  EXPECT(o, 0, F64, 1.5);
  EXPECT(o, 1, F64, 3);
  EXPECT(o, 2, F64, 2, 4);
}

/* a = 0 .. 5; out = a[1:] = a[1:] + a[:-1]: as if outputs were written after all inputs were read. */
static void reset_overlap(tk_fixture *f) {
  for (int i = 0; i < 6; i++) ((double *)arrjit_array_data(f->user))[i] = i;
}

static void test_outputs_may_overlap_inputs(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 5), y = PARAM(g, "y", F64, 5);
  RETURN(g, arrjit_add(g, x, y));
  arrjit_array *base = tk_array(f, TYPE(F64, 6), NULL);
  arrjit_array *upper = view(f, base, I64S(1), I64S(1), I64S(5));
  arrjit_array *lower = view(f, base, I64S(0), I64S(1), I64S(5));
  f->user = base;
  f->before_run = reset_overlap;
  f->outputs = &upper;
  const tk_outcome *o = RUN(f, tk_finish(f, g), upper, lower);
  EXPECT(o, 0, F64, 1, 3, 5, 7, 9);
}

static void test_symbols_are_bound_anew_in_every_run(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_I32, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type);
  RETURN(g, arrjit_add(g, x, y), arrjit_reduce_sum(g, x, INTS(0)), arrjit_dim_size(g, x, 0));
  arrjit_function *function = tk_finish(f, g);
  for (int64_t n = 0; n < 20; n++) {
    int32_t data[20], twice[20], sum = 0;
    for (int32_t i = 0; i < n; i++) data[i] = i + 1, twice[i] = 2 * data[i], sum += data[i];
    arrjit_array *input = tk_array(f, TYPE(I32, n), data);
    const tk_outcome *o = RUN(f, function, input, input);
    tk_expect(o, 0, ARRJIT_I32, (size_t)n, twice, __FILE__, __LINE__);
    EXPECT(o, 1, I32, sum);
    EXPECT(o, 2, I64, n);
  }
  if (!tk_native()) return;
  arrjit_function_statistics s; /* 20 lengths, one compilation */
  arrjit_function_get_statistics(function, &s);
  assert_int_equal(s.compilations, 1);
}

/* Extents that cannot be proved equal while building are checked when it runs. */
static void test_extents_are_checked_when_it_runs(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type a = {.dtype = ARRJIT_F32, .rank = 1, .dims = {arrjit_symbol(g, "a")}}, b = a;
  b.dims[0] = arrjit_symbol(g, "b");
  RETURN(g, arrjit_add(g, arrjit_param(g, "x", &a), arrjit_param(g, "y", &b)));
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2), ARRAY(f, F32, 3, 4)), 0, F32, 4, 6);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, F32, 1, 2), ARRAY(f, F32, 3, 4, 5)), ARRJIT_KIND_SHAPE, 0, NULL);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, F32, 1), ARRAY(f, F32, 3, 4, 5)), ARRJIT_KIND_SHAPE, 0, NULL);
}

/* With require_native a function that native code leaves to routines in part is refused, and any other runs. */
static void test_require_native_means_all_of_it(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  for (int gathers = 0; gathers < 2; gathers++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F32, 4), at = PARAM(g, "at", I64, 2);
    RETURN(g, gathers ? arrjit_take(g, x, at, 0) : arrjit_add(g, x, x));
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *inputs[] = {ARRAY(f, F32, 1, 2, 3, 4), ARRAY(f, I64, 3, 0)};
    tk_call call = {.input_count = 2, .inputs = inputs, .flags = ARRJIT_RUN_REQUIRE_NATIVE};
    tk_outcome o;
    tk_run_mode(f->context, function, TK_WHOLE, &call, &o);
    arrjit_function_statistics s;
    arrjit_function_get_statistics(function, &s);
    assert_int_equal(o.status, s.fallback_nodes || s.interpreted_nodes ? ARRJIT_UNAVAILABLE : ARRJIT_OK);
    if (!gathers) assert_int_equal(o.status, ARRJIT_OK);
    tk_outcome_free(&o);
  }
}

/* An extent of a parameter that is computed from another's: compared, wherever the other stands. */
static void test_computed_extents_of_arguments_are_compared(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_F64, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "x", &type), none = arrjit_const_f64(g, 0);
  arrjit_type longer = arrjit_value_type(arrjit_pad(g, x, none, 1, I64S(0), I64S(2), I64S(0)));
  arrjit_value y = arrjit_param(g, "y", &longer);
  RETURN(g, arrjit_neg(g, y), x);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, ARRAY(f, F64, 1), ARRAY(f, F64, 2, 3, 4)), 0, F64, -2, -3, -4);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, F64, 1, 2), ARRAY(f, F64, 1, 2)), ARRJIT_KIND_ARGUMENT, 0,
                 "argument 1 (\"y\"): axis 0: expected (n + 2) = 4, got 2");
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, F64, 1, 2), ARRAY(f, F64, 1, 2, 3, 4, 5)), ARRJIT_KIND_ARGUMENT, 0, NULL);

  static const char text[] = "air 1\nfunc @main(%x: f64[n//2, n]) -> (f64[n//2, n]) {\n  yield %x\n}\n";
  arrjit_error error = {0};
  if (arrjit_function_parse(f->context, text, sizeof text - 1, "halves", &function, &error) != ARRJIT_OK)
    fail_msg("%s", error.message);
  arrjit_array *square = tk_array(f, TYPE(F64, 2, 2), DATA_(F64, 1, 2, 3, 4));
  EXPECT_FAILURE(RUN(f, function, square), ARRJIT_KIND_ARGUMENT, 0, NULL);
  EXPECT(RUN(f, function, tk_array(f, TYPE(F64, 1, 2), DATA_(F64, 1, 2))), 0, F64, 1, 2);
  arrjit_function_release(function);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b42_reductions_of_nothing),
    TK_TEST(test_case_b42_argmax_of_nothing_is_a_shape_failure),
    TK_TEST(test_case_b42_integers_have_their_own_extremes),
    TK_TEST(test_case_b43_reversed_views_in_and_out),
    TK_TEST(test_case_b43_large_view_with_mixed_strides),
    TK_TEST(test_case_b43_zero_and_unaligned_strides),
    TK_TEST(test_extents_of_one_have_any_stride),
    TK_TEST(test_outputs_may_overlap_inputs),
    TK_TEST(test_symbols_are_bound_anew_in_every_run),
    TK_TEST(test_computed_extents_of_arguments_are_compared),
    TK_TEST(test_extents_are_checked_when_it_runs),
    TK_TEST(test_require_native_means_all_of_it),
};

TEST_MAIN(tests, NULL, NULL)
