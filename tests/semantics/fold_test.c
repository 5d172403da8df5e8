/* Reductions with the host's combiner: what it may hold, in which order it is called, what comes of nothing. */
#include "fixture.h"

#define REDUCE(g, axes, older, newer, args, ...)                                                                       \
  (arrjit_reduce_begin)(ARRJIT_AT_(g), VALUE_COUNT_ args, VALUES_ args, VALUES_(__VA_ARGS__), axes, older, newer)

static arrjit_value f64(arrjit_graph *g, double x) { return arrjit_const_f64(g, x); }

/* ---- what may stand in a combiner ---- */

typedef void build_inside(arrjit_graph *g, arrjit_value x);
static void raise_inside(arrjit_graph *g, arrjit_value x) { RAISE(g, ARRJIT_KIND_RUNTIME, 0, NULL, x); }
static void check_inside(arrjit_graph *g, arrjit_value x) {
  arrjit_value out;
  CHECK(g, arrjit_gt(g, x, f64(g, 0)), ARRJIT_KIND_RUNTIME, 0, NULL, NONE, &out, x);
}
static void callback_inside(arrjit_graph *g, arrjit_value x) {
  arrjit_value out;
  arrjit_slot slot = arrjit_slot_io(g, "show", TYPES(TYPE(F64)), 0);
  CALLBACK(g, slot, &out, x);
}
static void checked_inside(arrjit_graph *g, arrjit_value x) { (void)arrjit_checked_convert(g, x, ARRJIT_I32); }
static void if_inside(arrjit_graph *g, arrjit_value x) {
  arrjit_value out;
  arrjit_if_begin(g, arrjit_gt(g, x, f64(g, 0)));
  arrjit_if_else(g, 1, &x);
  arrjit_if_end(g, 1, &x, &out);
}
static void array_inside(arrjit_graph *g, arrjit_value x) { (void)arrjit_full(g, x, INTS(3)); }
static void map_inside(arrjit_graph *g, arrjit_value x) {
  arrjit_value lane;
  arrjit_map_begin(g, 1, &x, &lane);
  arrjit_map_end(g, 1, &lane, &lane);
}

static void test_case_f34_an_effect_in_a_combiner_is_a_build_error(void **state) {
  tk_fixture *f = *state;
  static const struct {
    build_inside *build;
    arrjit_status status;
    const char *message;
  } rows[] = {
      {raise_inside, ARRJIT_MISUSE, "raise: has an effect"},
      {check_inside, ARRJIT_MISUSE, "check: has an effect"},
      {callback_inside, ARRJIT_MISUSE, "callback: has an effect"},
      {checked_inside, ARRJIT_MISUSE, "checked_convert: has an effect"},
      {if_inside, ARRJIT_MISUSE,
       "if: has no place inside a combiner, where elementwise ops on scalars are; write select"},
      {array_inside, ARRJIT_MISUSE, "full: has no place inside a combiner"},
      {map_inside, ARRJIT_MISUSE, "has no place inside a combiner"},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    arrjit_error error;
    arrjit_value a, b, out;
    arrjit_graph *g = tk_graph(f);
    REDUCE(g, INTS(0), &a, &b, (PARAM(g, "x", F64, 4)), f64(g, 0));
    rows[i].build(g, b);
    arrjit_reduce_end(g, LIST(arrjit_add(g, a, b)), &out);
    RETURN(g, out);
    tk_finish_fails(f, g, rows[i].status, rows[i].message, &error);
    assert_non_null(strstr(error.file, "fold_test.c"));
  }
}

/* ---- order ---- */

static void test_the_init_joins_once_from_the_left(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  const int64_t n = arrjit_symbol(g, "n");
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, &n);
  arrjit_value x = arrjit_param(g, "x", &type), init = PARAM(g, "init", F64), a, b, out[3];
  REDUCE(g, INTS(0), &a, &b, (x), init);
  arrjit_reduce_end(g, LIST(arrjit_sub(g, a, b)), &out[0]);
  REDUCE(g, INTS(0), &a, &b, (x), init);
  arrjit_reduce_end(g, LIST(arrjit_add(g, a, b)), &out[1]);
  REDUCE(g, NONE, &a, &b, (x), init);
  arrjit_reduce_end(g, LIST(arrjit_sub(g, a, b)), &out[2]);
  RETURN(g, out[0], out[1], out[2]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, 1, 2, 3), SCALAR(f, F64, 10));
  EXPECT(o, 0, F64, 10 - ((1.0 - 3) - 2)); /* lanes by halves: 0 with 2, then with 1 */
  EXPECT(o, 1, F64, 16);
  EXPECT(o, 2, F64, 9, 8, 7);
  o = RUN(f, function, tk_array(f, TYPE(F64, 0), NULL), SCALAR(f, F64, -0.0));
  EXPECT(o, 0, F64, -0.0);
  EXPECT(o, 1, F64, -0.0); /* a sum of nothing would be +0 */
  EXPECT_SHAPE(o, 2, 0);
}

/* Two values at once: the largest with its place, as an argmax with the last on ties is written. */
static void test_several_arrays_are_folded_together(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  const int64_t dims[] = {arrjit_symbol(g, "n"), arrjit_symbol(g, "m")};
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 2, dims);
  arrjit_value x = arrjit_param(g, "x", &type), a[2], b[2], out[6];
  arrjit_value place = arrjit_iota(g, ARRJIT_I64, 2, dims, 1), row = arrjit_iota(g, ARRJIT_I64, 2, dims, 0);
  arrjit_value low = arrjit_const_f32(g, -INFINITY), none = arrjit_const_i64(g, -1);
  for (int axis = 0; axis < 3; axis++) {
    const int64_t axes[] = {axis % 2, 1};
    arrjit_reduce_begin(g, LIST(x, axis ? place : row), (const arrjit_value[]){low, none}, axis == 2 ? 2u : 1u, axes, a,
                        b);
    arrjit_value newer = arrjit_ge(g, b[0], a[0]);
    arrjit_reduce_end(g, LIST(arrjit_select(g, newer, b[0], a[0]), arrjit_select(g, newer, b[1], a[1])),
                      &out[2 * axis]);
  }
  RETURN(g, out[0], out[1], out[2], out[3], out[4], out[5]);
  arrjit_function *function = tk_finish(f, g);
  static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {2, 70}, {300, 3}, {7, 5000}, {40, 600}};
  for (size_t s = 0; s < TK_COUNT(sizes); s++) {
    int64_t n = sizes[s][0], m = sizes[s][1];
    arrjit_array *in = tk_array(f, TYPE(F32, n, m), NULL);
    float *data = arrjit_array_data(in);
    for (int64_t i = 0; i < n * m; i++) data[i] = (float)(i * 7919 % 1009);
    const tk_outcome *o = RUN(f, function, in);
    const float *top = (const void *)o->outputs[2].data;
    const int64_t *at = (const void *)o->outputs[3].data;
    for (int64_t i = 0; i < n; i++) {
      assert_true(at[i] >= 0 && at[i] < m && data[i * m + at[i]] == top[i]);
      for (int64_t k = 0; k < m; k++) assert_true(data[i * m + k] <= top[i]);
    }
  }
  const tk_outcome *o = RUN(f, function, tk_array(f, TYPE(F32, 2, 0), NULL));
  EXPECT(o, 2, F32, -INFINITY, -INFINITY);
  EXPECT(o, 3, I64, -1, -1);
}

/* A combiner that only moves bits keeps those of a NaN; one that computes makes them canonical. */
static void test_bits_of_nan_in_a_combiner(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), zero = arrjit_const_f32(g, 0), a, b, out[2];
  REDUCE(g, INTS(0), &a, &b, (x), zero);
  arrjit_reduce_end(g, LIST(b), &out[0]);
  REDUCE(g, INTS(0), &a, &b, (x), zero);
  arrjit_reduce_end(g, LIST(arrjit_sub(g, b, a)), &out[1]);
  RETURN(g, arrjit_bitcast(g, out[0], ARRJIT_U32), arrjit_bitcast(g, out[1], ARRJIT_U32));
  arrjit_array *in = tk_array(f, TYPE(F32, 3), (const uint32_t[]){0xffc12345, 0xffc12345, 0xffc12345});
  const tk_outcome *o = RUN(f, tk_finish(f, g), in);
  EXPECT(o, 0, U32, 0xffc12345);
  EXPECT(o, 1, U32, 0x7fc00000);
}

/* A value from outside, functions that jump over what no lane needs, narrow and bool elements, sizes of all kinds. */
static void test_combiners_of_many_ops(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  const int64_t dims[] = {arrjit_symbol(g, "n"), arrjit_symbol(g, "m")};
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 2, dims);
  arrjit_value x = arrjit_param(g, "x", &type), k = PARAM(g, "k", F64), a, b, out[5];
  arrjit_value bytes = arrjit_convert(g, x, ARRJIT_U8), flags = arrjit_gt(g, x, f64(g, 0.5));
  for (int i = 0; i < 2; i++) {
    REDUCE(g, INTS(i), &a, &b, (x), k);
    arrjit_reduce_end(g, LIST(arrjit_sin(g, arrjit_add(g, arrjit_mul(g, a, k), b))), &out[i]);
  }
  REDUCE(g, INTS(0, 1), &a, &b, (bytes), arrjit_const_like(g, bytes, 3));
  arrjit_reduce_end(g, LIST(arrjit_xor(g, arrjit_rotl(g, a, arrjit_const_like(g, a, 1)), b)), &out[2]);
  REDUCE(g, INTS(1), &a, &b, (flags), arrjit_const_bool(g, 0));
  arrjit_reduce_end(g, LIST(arrjit_xor(g, a, b)), &out[3]);
  REDUCE(g, INTS(0), &a, &b, (flags), arrjit_const_bool(g, 1));
  arrjit_reduce_end(g, LIST(arrjit_or(g, arrjit_not(g, a), b)), &out[4]);
  RETURN(g, out[0], out[1], out[2], out[3], out[4]);
  arrjit_function *function = tk_finish(f, g);
  static const int64_t sizes[][2] = {{0, 3}, {1, 1}, {129, 5}, {5, 129}, {3, 2500}, {300, 40}};
  for (size_t s = 0; s < TK_COUNT(sizes); s++) {
    arrjit_array *in = tk_array(f, TYPE(F64, sizes[s][0], sizes[s][1]), NULL);
    double *data = arrjit_array_data(in);
    for (int64_t i = 0; i < sizes[s][0] * sizes[s][1]; i++) data[i] = (double)(i * 37 % 101) * 0.25;
    EXPECT_OK(RUN(f, function, in, SCALAR(f, F64, s % 2 ? 0.5 : 1e13)));
  }
}

/* ---- cumulative ---- */

static void test_prefixes_along_any_axis(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 2, 3), r = PARAM(g, "r", F64, 2, 3), a, b, out;
  arrjit_cumulative_begin(g, 1, &r, 1, 0, &a, &b);
  arrjit_cumulative_end(g, LIST(arrjit_sub(g, b, a)), &out);
  RETURN(g, arrjit_cumsum(g, x, 1, 0), arrjit_cumsum(g, x, 0, 1), arrjit_cumprod(g, x, 1, 1), arrjit_cummax(g, x, 0, 0),
         arrjit_cummin(g, r, 1, 0), out);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I32, 2, 3), I32, 1, -2, 3, 4, 5, 6),
                            SHAPED(f, TYPE(F64, 2, 3), F64, 3, NAN, 1, 1, -0.0, 0.0));
  EXPECT(o, 0, I32, 1, -1, 2, 4, 9, 15);
  EXPECT(o, 1, I32, 5, 3, 9, 4, 5, 6);
  EXPECT(o, 2, I32, -6, -6, 3, 120, 30, 6);
  EXPECT(o, 3, I32, 1, -2, 3, 4, 5, 6);
  EXPECT(o, 4, F64, 3, NAN, NAN, 1, -0.0, -0.0);
  EXPECT(o, 5, F64, 3, NAN, NAN, 1, -1, -1); /* (x2 - x1) - x0: by strides 1, then 2 */
}

/* The running maximum with its place, lengths around groups and vectors, both ways, shared by threads when long. */
static void test_several_arrays_are_scanned_together(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  const int64_t dims[] = {arrjit_symbol(g, "n"), arrjit_symbol(g, "m")};
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 2, dims);
  arrjit_value x = arrjit_param(g, "x", &type), a[2], b[2], out[8];
  for (int k = 0; k < 4; k++) {
    arrjit_value place = arrjit_iota(g, ARRJIT_U8, 2, dims, k % 2);
    arrjit_cumulative_begin(g, LIST(x, place), k % 2, k / 2, a, b);
    arrjit_value newer = arrjit_gt(g, b[0], a[0]);
    arrjit_cumulative_end(g, LIST(arrjit_select(g, newer, b[0], a[0]), arrjit_select(g, newer, b[1], a[1])),
                          &out[2 * k]);
  }
  RETURN(g, out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]);
  arrjit_function *function = tk_finish(f, g);
  static const int64_t sizes[][2] = {{0, 3}, {1, 1}, {3, 16}, {17, 5}, {2, 47}, {100, 130}, {3, 20000}, {9000, 3}};
  for (size_t s = 0; s < TK_COUNT(sizes); s++) {
    int64_t n = sizes[s][0], m = sizes[s][1];
    arrjit_array *in = tk_array(f, TYPE(F32, n, m), NULL);
    float *data = arrjit_array_data(in);
    for (int64_t i = 0; i < n * m; i++) data[i] = (float)(i * 7919 % 1009);
    const tk_outcome *o = RUN(f, function, in);
    const float *most = (const void *)o->outputs[2].data;
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = 0; k < m; k++) {
        float before = k && most[i * m + k - 1] > data[i * m + k] ? most[i * m + k - 1] : data[i * m + k];
        assert_true(most[i * m + k] == before);
      }
  }
}

/* ---- windows ---- */

static void test_windows_with_padding_and_dilation(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  const int64_t n = arrjit_symbol(g, "n");
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, &n);
  arrjit_value x = PARAM(g, "x", I64, 3, 2), y = arrjit_param(g, "y", &type), k = PARAM(g, "k", F64), a, b, out[4];
  arrjit_reduce_window_begin(g, LIST(x), VALUES_(arrjit_const_i64(g, 0)), 2, I64S(2, 1), I64S(4, 1), I64S(2, 0),
                             I64S(1, 0), I64S(2, 1), I64S(3, 1), &a, &b);
  arrjit_reduce_window_end(g, LIST(arrjit_add(g, a, b)), &out[0]);
  arrjit_reduce_window_begin(g, LIST(y), &k, 1, I64S(3), NULL, NULL, NULL, NULL, NULL, &a, &b);
  arrjit_reduce_window_end(g, LIST(arrjit_sub(g, arrjit_mul(g, a, k), b)), &out[1]);
  arrjit_reduce_window_begin(g, LIST(y), &k, 1, I64S(2), I64S(2), I64S(1), I64S(1), NULL, NULL, &a, &b);
  arrjit_reduce_window_end(g, LIST(arrjit_max(g, a, b)), &out[2]);
  arrjit_reduce_window_begin(g, LIST(k), &k, 0, NULL, NULL, NULL, NULL, NULL, NULL, &a, &b);
  arrjit_reduce_window_end(g, LIST(arrjit_sub(g, a, b)), &out[3]);
  RETURN(g, out[0], out[1], out[2], out[3]);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *table = SHAPED(f, TYPE(I64, 3, 2), I64, 1, 2, 3, 4, 5, 6);
  const tk_outcome *o = RUN(f, function, table, ARRAY(f, F64, 1, 2, 3, 4), SCALAR(f, F64, 2));
  EXPECT(o, 0, I64, 0, 0, 3, 4);
  EXPECT_SHAPE(o, 0, 2, 2);
  EXPECT(o, 1, F64, ((2 * 2 - 1) * 2 - 2) * 2 - 3, ((2 * 2 - 2) * 2 - 3) * 2 - 4);
  EXPECT(o, 2, F64, 2, 3, 4);
  EXPECT(o, 3, F64, 0);
  EXPECT_SHAPE(RUN(f, function, table, ARRAY(f, F64, 1, 2), SCALAR(f, F64, 2)), 1, 0);
}

/* The largest of each window and where it is; the wrappers, with integers and padding. */
static void test_windows_of_several_arrays(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 2, 3), u = PARAM(g, "u", U8, 4), a[2], b[2], out[2];
  arrjit_value at = (arrjit_reshape)(ARRJIT_AT_(g), arrjit_iota(g, ARRJIT_I64, 1, I64S(6), 0), INTS(2, 3));
  const arrjit_value inits[] = {arrjit_const_f32(g, -INFINITY), arrjit_const_i64(g, -1)};
  arrjit_reduce_window_begin(g, LIST(x, at), inits, 2, I64S(2, 2), NULL, NULL, I64S(0, 1), NULL, NULL, a, b);
  arrjit_value more = arrjit_gt(g, b[0], a[0]);
  arrjit_reduce_window_end(g, LIST(arrjit_select(g, more, b[0], a[0]), arrjit_select(g, more, b[1], a[1])), out);
  RETURN(g, out[0], out[1], arrjit_reduce_window_sum(g, u, 1, I64S(3), NULL, I64S(1), I64S(1), NULL, NULL),
         arrjit_reduce_window_min(g, u, 1, I64S(2), I64S(2), I64S(1), I64S(1), NULL, NULL),
         arrjit_reduce_window_max(g, u, 1, I64S(2), NULL, NULL, NULL, NULL, I64S(2)));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), SHAPED(f, TYPE(F32, 2, 3), F32, 1, 7, 2, 4, 3, 5), ARRAY(f, U8, 100, 100, 200, 3));
  EXPECT(o, 0, F32, 7, 7, 5);
  EXPECT(o, 1, I64, 1, 1, 5);
  EXPECT(o, 2, U8, 200, 144, 47, 203); /* modulo 256 */
  EXPECT(o, 3, U8, 100, 100, 3);
  EXPECT(o, 4, U8, 200, 100);
}

/* Each window of two rows and two columns hands its element of the source to its largest; the last is padding alone. */
static void test_select_and_scatter(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 2, 3), s = PARAM(g, "s", F64, 1, 4), k = PARAM(g, "k", F64), a, b, out[2];
  arrjit_select_and_scatter_begin(g, x, s, k, 2, I64S(2, 2), I64S(1, 1), NULL, I64S(0, 2), &a, &b);
  arrjit_select_and_scatter_combine(g, arrjit_ge(g, a, b), &a, &b);
  arrjit_select_and_scatter_end(g, arrjit_sub(g, arrjit_mul(g, a, k), b), &out[0]);
  arrjit_select_and_scatter_begin(g, k, k, arrjit_const_f64(g, 5), 0, NULL, NULL, NULL, NULL, &a, &b);
  arrjit_select_and_scatter_combine(g, arrjit_lt(g, a, k), &a, &b);
  arrjit_select_and_scatter_end(g, arrjit_sub(g, a, b), &out[1]);
  RETURN(g, out[0], out[1]);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(F64, 2, 3), F64, 1, 9, 2, 4, 3, 6),
                            SHAPED(f, TYPE(F64, 1, 4), F64, 10, 20, 30, 40), SCALAR(f, F64, 2));
  EXPECT(o, 0, F64, 2, (2 * 2 - 10) * 2 - 20, 2, 2, 2, 2 * 2 - 30); /* 9 twice, then 6 of the last column */
  EXPECT(o, 1, F64, 3);
}

/* One op is that op: what fuses with it, and what it gives, is the same. */
static void test_a_combiner_of_one_op_is_that_op(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3, 1000), a, b, out;
  REDUCE(g, INTS(1), &a, &b, (arrjit_mul(g, x, x)), arrjit_const_f32(g, 2));
  arrjit_reduce_end(g, LIST(arrjit_add(g, b, a)), &out);
  RETURN(g, out, arrjit_add(g, arrjit_reduce_sum(g, arrjit_mul(g, x, x), INTS(1)), arrjit_const_f32(g, 2)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *in = tk_array(f, TYPE(F32, 3, 1000), NULL);
  for (int i = 0; i < 3000; i++) ((float *)arrjit_array_data(in))[i] = (float)(i % 77) * 0.1f;
  const tk_outcome *o = RUN(f, function, in);
  assert_memory_equal(o->outputs[0].data, o->outputs[1].data, 3 * sizeof(float));
  char *text = NULL;
  size_t bytes = 0;
  assert_int_equal(arrjit_function_print(function, ARRJIT_PRINT_OPT, &text, &bytes, NULL), ARRJIT_OK);
  assert_null(strstr(text, " reduce "));
  arrjit_text_free(f->context, text, bytes);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f34_an_effect_in_a_combiner_is_a_build_error),
    TK_TEST(test_the_init_joins_once_from_the_left),
    TK_TEST(test_several_arrays_are_folded_together),
    TK_TEST(test_bits_of_nan_in_a_combiner),
    TK_TEST(test_combiners_of_many_ops),
    TK_TEST(test_prefixes_along_any_axis),
    TK_TEST(test_several_arrays_are_scanned_together),
    TK_TEST(test_windows_with_padding_and_dilation),
    TK_TEST(test_windows_of_several_arrays),
    TK_TEST(test_select_and_scatter),
    TK_TEST(test_a_combiner_of_one_op_is_that_op),
};

TEST_MAIN(tests, NULL, NULL)
