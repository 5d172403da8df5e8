/* Sorting: one order (-0 equals 0, NaN last), stable, along any axis. */
#include "fixture.h"

static const tk_outcome *sort_vector(tk_fixture *f, arrjit_array *x, int descending) {
  arrjit_type type = arrjit_array_type(x);
  arrjit_graph *g = tk_graph(f);
  arrjit_value in = arrjit_param(g, "x", &type);
  RETURN(g, arrjit_sort(g, in, 0, descending), arrjit_argsort(g, in, 0, descending));
  return RUN(f, tk_finish(f, g), x);
}

static float subnormal(void) { return 1.4e-45f; }

static void test_case_b36_nan_and_zeros_have_one_order(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  const tk_outcome *o = sort_vector(f, ARRAY(f, F64, -NAN, NAN, -INFINITY, INFINITY, -1, 1), 0);
  const double *x = (const void *)o->outputs[0].data;
  assert_true(x[0] == -INFINITY && x[1] == -1 && x[2] == 1 && x[3] == INFINITY);
  assert_true(isnan(x[4]) && signbit(x[4]) && isnan(x[5]) && !signbit(x[5])); /* their bits come along */
  EXPECT(o, 1, I64, 2, 4, 5, 3, 0, 1);
  o = sort_vector(f, ARRAY(f, F64, 0.0, -0.0), 0);
  EXPECT(o, 0, F64, 0.0, -0.0);
  EXPECT(o, 1, I64, 0, 1);
  o = sort_vector(f, ARRAY(f, F32, -0.0f, subnormal(), 1.1f, -0.0f, 5.96e-8f, -2.00001f, 1e6f, 722801.375f, 0, -1.1f),
                  0);
  EXPECT(o, 1, I64, 5, 9, 0, 3, 8, 1, 4, 2, 7, 6);
  o = sort_vector(f, ARRAY(f, F32, 1, NAN, 2, 0), 0);
  EXPECT(o, 0, F32, 0, 1, 2, NAN);
}

/* Down, equals stay in their order and NaN come last too. */
static void test_descending_is_stable(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  const tk_outcome *o = sort_vector(f, ARRAY(f, F32, 1, NAN, -0.0f, 2, 0, 1, 2), 1);
  EXPECT(o, 0, F32, 2, 2, 1, 1, -0.0f, 0, NAN);
  EXPECT(o, 1, I64, 3, 6, 0, 5, 2, 4, 1);
  o = sort_vector(f, ARRAY(f, BOOL, 0, 1, 0, 1, 1), 1);
  EXPECT(o, 0, BOOL, 1, 1, 1, 0, 0);
  EXPECT(o, 1, I64, 1, 3, 4, 0, 2);
  o = sort_vector(f, ARRAY(f, U64, UINT64_MAX, 0, UINT64_C(1) << 63), 1);
  EXPECT(o, 0, U64, UINT64_MAX, UINT64_C(1) << 63, 0);
  o = sort_vector(f, ARRAY(f, I8, -128, 127, 0), 0);
  EXPECT(o, 0, I8, -128, 0, 127);
}

static void test_sort_along_each_axis(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 2, 2, 3);
  RETURN(g, arrjit_sort(g, x, 0, 0), arrjit_sort(g, x, 1, 1), arrjit_argsort(g, x, 2, 0));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I32, 2, 2, 3), I32, 6, 2, 4, 1, 3, 5, 0, 9, 8, 7, 3, 3));
  EXPECT(o, 0, I32, 0, 2, 4, 1, 3, 3, 6, 9, 8, 7, 3, 5);
  EXPECT(o, 1, I32, 6, 3, 5, 1, 2, 4, 7, 9, 8, 0, 3, 3);
  EXPECT(o, 2, I64, 1, 2, 0, 0, 1, 2, 0, 2, 1, 1, 2, 0);
}

/* Lengths around those of runs and of their merges, against positions that insertion gives. */
static void test_all_lengths_are_sorted_stably(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_I16, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  arrjit_value x = arrjit_param(g, "x", &type);
  RETURN(g, arrjit_argsort(g, x, 0, 0), arrjit_sort(g, x, 0, 1));
  arrjit_function *function = tk_finish(f, g);
  static const int64_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 100, 257};
  for (size_t k = 0; k < TK_COUNT(lengths); k++) {
    int16_t data[257], down[257];
    int64_t up[257], n = lengths[k];
    for (int64_t i = 0; i < n; i++) {
      data[i] = (int16_t)(i * 7919 % 23 - 11);
      int64_t at = i, last = i;
      for (; at > 0 && data[up[at - 1]] > data[i]; at--) up[at] = up[at - 1];
      up[at] = i;
      for (; last > 0 && down[last - 1] < data[i]; last--) down[last] = down[last - 1];
      down[last] = data[i];
    }
    const tk_outcome *o = RUN(f, function, tk_array(f, TYPE(I16, n), data));
    tk_expect(o, 0, ARRJIT_I64, (size_t)n, up, __FILE__, __LINE__);
    tk_expect(o, 1, ARRJIT_I16, (size_t)n, down, __FILE__, __LINE__);
  }
}

static void test_searchsorted_left_and_right(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value sorted = PARAM(g, "sorted", F64, 7), values = PARAM(g, "values", F64, 2, 3);
  RETURN(g, arrjit_searchsorted(g, sorted, values, 0), arrjit_searchsorted(g, sorted, values, 1));
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F64, -1, -0.0, 0, 2, 2, 5, NAN),
                            SHAPED(f, TYPE(F64, 2, 3), F64, 0, 2, NAN, -3, INFINITY, 3));
  EXPECT(o, 0, I64, 1, 3, 6, 0, 6, 5);
  EXPECT(o, 1, I64, 3, 5, 7, 0, 6, 5);
  EXPECT_SHAPE(o, 1, 2, 3);
}

/* ---- comparators ---- */

/* By the first key down, then by the second up; the third comes along. */
static void test_comparator_of_several_arrays(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_F32, .rank = 2, .dims = {arrjit_symbol(g, "n"), 2}};
  arrjit_value a = arrjit_param(g, "a", &type), b = PARAM(g, "b", I8, 2), l[3], r[3], out[3];
  arrjit_value place = arrjit_iota(g, ARRJIT_I64, 2, type.dims, 0);
  arrjit_sort_by_begin(g, LIST(a, b, place), 0, l, r);
  arrjit_value same = arrjit_and(g, arrjit_eq(g, l[0], r[0]), arrjit_lt(g, l[1], r[1]));
  arrjit_sort_by_end(g, arrjit_or(g, arrjit_gt(g, l[0], r[0]), same), 3, out);
  RETURN(g, out[0], out[1], out[2]);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *bytes = ARRAY(f, I8, -1, 1);
  const tk_outcome *o = RUN(f, function, SHAPED(f, TYPE(F32, 3, 2), F32, 1, 9, 3, 9, 2, 10), bytes);
  EXPECT(o, 0, F32, 3, 10, 2, 9, 1, 9);
  EXPECT(o, 1, I8, -1, 1, -1, 1, -1, 1);
  EXPECT(o, 2, I64, 1, 2, 2, 0, 0, 1);
  EXPECT_SHAPE(RUN(f, function, tk_array(f, TYPE(F32, 0, 2), NULL), bytes), 0, 0, 2);
}

enum { MANY = 1000 };

/* A comparator of few classes, with a value from outside, over more than one run of the merge: equals keep their order.
 */
static void test_comparator_is_stable(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  int64_t x[MANY], want[MANY], count = 0;
  for (int64_t i = 0; i < MANY; i++) x[i] = i * 7919 % MANY;
  for (int64_t class = 0; class < 3; class ++)
    for (int64_t i = 0; i < MANY; i++)
      if (x[i] % 3 == class) want[count++] = x[i];
  arrjit_graph *g = tk_graph(f);
  arrjit_value in = PARAM(g, "x", I64, MANY), by = PARAM(g, "by", I64), l, r, out;
  arrjit_sort_by_begin(g, LIST(in), 0, &l, &r);
  arrjit_sort_by_end(g, arrjit_lt(g, arrjit_mod(g, l, by), arrjit_mod(g, r, by)), 1, &out);
  RETURN(g, out);
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(I64, MANY), x), SCALAR(f, I64, 3));
  assert_memory_equal(o->outputs[0].data, want, sizeof want);
}

/* Whatever a comparator says, each element comes out once; RUN has compared the ways to run. */
static void test_comparator_that_contradicts_itself(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  int32_t x[MANY];
  for (int32_t i = 0; i < MANY; i++) x[i] = i;
  arrjit_graph *g = tk_graph(f);
  arrjit_value in = PARAM(g, "x", I32, MANY), l, r, out[4];
  for (int i = 0; i < 3; i++) {
    arrjit_sort_by_begin(g, LIST(in), 0, &l, &r);
    arrjit_value odd = arrjit_ne(g, arrjit_mod(g, arrjit_add(g, l, r), arrjit_const_i32(g, 7)), arrjit_const_i32(g, 2));
    arrjit_value says = i == 0 ? arrjit_ne(g, l, r) : i == 1 ? odd : arrjit_const_bool(g, true);
    arrjit_sort_by_end(g, says, 1, &out[i]);
  }
  RETURN(g, arrjit_sort(g, out[0], 0, 0), arrjit_sort(g, out[1], 0, 0), arrjit_sort(g, out[2], 0, 0), out[1]);
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(I32, MANY), x));
  for (size_t i = 0; i < 3; i++) assert_memory_equal(o->outputs[i].data, x, sizeof x);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b36_nan_and_zeros_have_one_order),
    TK_TEST(test_descending_is_stable),
    TK_TEST(test_sort_along_each_axis),
    TK_TEST(test_all_lengths_are_sorted_stably),
    TK_TEST(test_searchsorted_left_and_right),
    TK_TEST(test_comparator_of_several_arrays),
    TK_TEST(test_comparator_is_stable),
    TK_TEST(test_comparator_that_contradicts_itself),
};

TEST_MAIN(tests, NULL, NULL)
