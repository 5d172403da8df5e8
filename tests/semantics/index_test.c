/* Indexing and padding: windows at indices, what is dropped, in which order updates come, memory that overlaps. */
#include "fixture.h"

/* ---- pad ---- */

static void test_pad_cuts_and_spreads(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 2, 3), fill = PARAM(g, "fill", I32);
  RETURN(g, (arrjit_pad)(ARRJIT_AT_(g), x, fill, 2, I64S(1, -1), I64S(0, 2), I64S(0, 1)),
         (arrjit_pad)(ARRJIT_AT_(g), x, fill, 2, I64S(-1, 0), I64S(-1, 0), I64S(0, 0)),
         (arrjit_pad)(ARRJIT_AT_(g), x, fill, 2, I64S(-2, -3), I64S(2, 0), I64S(2, 3)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I32, 2, 3), I32, 1, 2, 3, 4, 5, 6), SCALAR(f, I32, 9));
  EXPECT(o, 0, I32, 9, 9, 9, 9, 9, 9, 9, 2, 9, 3, 9, 9, 9, 5, 9, 6, 9, 9);
  EXPECT_SHAPE(o, 0, 3, 6);
  EXPECT_SHAPE(o, 1, 0, 3);
  EXPECT_SHAPE(o, 2, 4, 6);
  EXPECT(o, 2, I32, 9, 9, 9, 9, 9, 9, 9, 5, 9, 9, 9, 6, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9);
}

/* ---- gather and scatter ---- */

/* x[b, i[b, k], :] for b, k; and put back where it was, doubled. */
static void test_gather_and_scatter_along_batch_axes(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64, 2, 3, 2), i = PARAM(g, "i", I32, 2, 2);
  arrjit_value rows =
      (arrjit_gather)(ARRJIT_AT_(g), x, i, INTS(2), INTS(1), 1, I64S(0), I64S(0), INTS(1), 2, 3, I64S(1, 1, 2));
  arrjit_value twice = arrjit_add(g, rows, rows);
  RETURN(g, rows, (arrjit_scatter)(ARRJIT_AT_(g), x, i, twice, INTS(2), INTS(1), 1, I64S(0), I64S(0), INTS(1), 2));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I64, 2, 3, 2), I64, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
          SHAPED(f, TYPE(I32, 2, 2), I32, 2, 0, 1, 1));
  EXPECT(o, 0, I64, 4, 5, 0, 1, 8, 9, 8, 9);
  EXPECT(o, 1, I64, 0, 2, 2, 3, 8, 10, 6, 7, 16, 18, 10, 11);
}

static arrjit_value scatter_rows(arrjit_graph *g, arrjit_value x, arrjit_value at, arrjit_value updates) {
  return (arrjit_scatter)(ARRJIT_AT_(g), x, at, updates, INTS(1), NONE, NONE, NULL, INTS(0), 1);
}

/* Windows of two elements: at 2 the second lies outside, so nothing of it is written. */
static void test_a_window_that_does_not_fit_is_dropped(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), at = PARAM(g, "at", U64, 3, 1), u = PARAM(g, "u", F32, 3, 2);
  RETURN(g, scatter_rows(g, x, at, u));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *updates = SHAPED(f, TYPE(F32, 3, 2), F32, 10, 11, 20, 21, 30, 31);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2, 3), SHAPED(f, TYPE(U64, 3, 1), U64, 2, 0, UINT64_MAX), updates), 0, F32,
         20, 21, 3);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2, 3), SHAPED(f, TYPE(U64, 3, 1), U64, 1, 0, 1), updates), 0, F32, 20, 30,
         31);
}

/* The window is along axis 0 of updates, so that the updates of a destination come from all windows in turn: for
 * element 1 the order is u[0, 1], then u[1, 0]. */
static void test_updates_come_in_row_major_order(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 3), at = PARAM(g, "at", I64, 2), u = PARAM(g, "u", F32, 2, 2);
  RETURN(g, (arrjit_scatter)(ARRJIT_AT_(g), x, at, u, INTS(0), NONE, NONE, NULL, INTS(0), 1),
         (arrjit_scatter_add)(ARRJIT_AT_(g), x, at, u, INTS(0), NONE, NONE, NULL, INTS(0), 1));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o =
      RUN(f, function, ARRAY(f, F32, 0, 0, 0), ARRAY(f, I64, 0, 1), SHAPED(f, TYPE(F32, 2, 2), F32, 1, 2, 3, 4));
  EXPECT(o, 0, F32, 1, 3, 4);
  EXPECT(o, 1, F32, 1, 5, 4);
  /* 1 + 2^24 rounds to 2^24, and -2^24 leaves 0; the other order would leave 1 */
  o = RUN(f, function, ARRAY(f, F32, 0, 1, 0), ARRAY(f, I64, 0, 1),
          SHAPED(f, TYPE(F32, 2, 2), F32, 0, 16777216, -16777216, 0));
  EXPECT(o, 1, F32, 0, 0, 0);
}

#define SCATTER_AXIS0(op) (op)(ARRJIT_AT_(g), x, at, u, NONE, INTS(0), NONE, NULL, INTS(0), 1)
static void test_scatter_combines(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 3), at = PARAM(g, "at", I16, 4), u = PARAM(g, "u", F64, 4);
  RETURN(g, SCATTER_AXIS0(arrjit_scatter_mul), SCATTER_AXIS0(arrjit_scatter_min), SCATTER_AXIS0(arrjit_scatter_max));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, F64, 3, 0, 5), ARRAY(f, I16, 0, 1, 0, -1), ARRAY(f, F64, 2, -0.0, 4, 100));
  EXPECT(o, 0, F64, 24, -0.0, 5);
  EXPECT(o, 1, F64, 2, -0.0, 5);
  EXPECT(o, 2, F64, 4, 0, 5);
}

static void test_checked_scatter_names_the_lowest_window(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 2, 3), at = PARAM(g, "at", I64, 3, 2), u = PARAM(g, "u", I32, 3);
  RETURN(g, (arrjit_checked_scatter)(ARRJIT_AT_(g), x, at, u, NONE, INTS(0, 1), NONE, NULL, INTS(0, 1), 1));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *numbers = SHAPED(f, TYPE(I32, 2, 3), I32, 1, 2, 3, 4, 5, 6), *updates = ARRAY(f, I32, 7, 8, 9);
  EXPECT(RUN(f, function, numbers, SHAPED(f, TYPE(I64, 3, 2), I64, 1, 2, 0, 0, 1, 2), updates), 0, I32, 8, 2, 3, 4, 5,
         9);
  const tk_outcome *o = RUN(f, function, numbers, SHAPED(f, TYPE(I64, 3, 2), I64, 1, 2, 1, 3, 2, 0), updates);
  EXPECT_FAILURE(o, ARRJIT_KIND_INDEX, 0, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 1);
  EXPECT_PAYLOAD(o, 1, I64, 3);
  EXPECT_PAYLOAD(o, 2, I64, 1);
  EXPECT_PAYLOAD(o, 3, I64, 3);
}

/* Extents of the batch space that are symbols are checked when it runs; a window larger than x fits nowhere. */
static void test_scatter_of_symbolic_extents(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_type at = {.dtype = ARRJIT_I64, .rank = 2, .dims = {arrjit_symbol(g, "k"), 1}};
  arrjit_type u = {.dtype = ARRJIT_F32, .rank = 2, .dims = {arrjit_symbol(g, "m"), 2}};
  arrjit_type x = {.dtype = ARRJIT_F32, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  arrjit_value in = arrjit_param(g, "x", &x), indices = arrjit_param(g, "at", &at);
  RETURN(g, scatter_rows(g, in, indices, arrjit_param(g, "u", &u)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *one = SHAPED(f, TYPE(I64, 1, 1), I64, 0), *two = SHAPED(f, TYPE(F32, 1, 2), F32, 8, 9);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2, 3), one, two), 0, F32, 8, 9, 3);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1), one, two), 0, F32, 1);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, F32, 1, 2), one, tk_array(f, TYPE(F32, 2, 2), NULL)), ARRJIT_KIND_SHAPE, 0,
                 NULL);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2), tk_array(f, TYPE(I64, 0, 1), NULL), tk_array(f, TYPE(F32, 0, 2), NULL)),
         0, F32, 1, 2);
}

/* ---- overlaps ---- */

static void count_up(tk_fixture *f) {
  arrjit_array *base = f->user;
  bool wide = arrjit_array_type(base).dtype == ARRJIT_F64;
  for (size_t i = 0; i < arrjit_array_bytes(base) / (wide ? 8 : 4); i++) {
    if (wide)
      ((double *)arrjit_array_data(base))[i] = (double)i;
    else
      ((float *)arrjit_array_data(base))[i] = (float)i;
  }
}

/* x[1:] = x[:-1] where the result goes to the memory of x: as an update of a slice, and as a scatter of rows. */
static void shift_rows(tk_fixture *f, bool scatters, int64_t rows, int32_t rank, const int64_t *row) {
  arrjit_type type = {.dtype = ARRJIT_F32, .rank = rank + 1, .dims = {rows}};
  int64_t zeros[3] = {0}, limit[3] = {rows - 1}, ones[3] = {1, 1, 1}, windows[3] = {1, 2}, width = 1;
  for (int32_t i = 0; i < rank; i++) type.dims[i + 1] = limit[i + 1] = row[i], width *= row[i];
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = arrjit_param(g, "x", &type), upper = arrjit_slice(g, x, rank + 1, zeros, limit, ones), y;
  if (scatters) {
    arrjit_value at =
        arrjit_add(g, (arrjit_iota)(ARRJIT_AT_(g), ARRJIT_I64, 1, I64S(rows - 1), 0), arrjit_const_i64(g, 1));
    y = (arrjit_scatter)(ARRJIT_AT_(g), x, at, upper, (size_t)rank, windows, INTS(0), NONE, NULL, INTS(0), 1);
  } else {
    arrjit_value starts[] = {arrjit_const_i64(g, 1), arrjit_const_i64(g, 0), arrjit_const_i64(g, 0)};
    y = arrjit_dynamic_update_slice(g, x, upper, (size_t)rank + 1, starts);
  }
  RETURN(g, y);
  arrjit_array *base = tk_array(f, type, NULL);
  f->user = base;
  f->outputs = &base;
  const tk_outcome *o = RUN(f, tk_finish(f, g), base);
  EXPECT_OK(o);
  const float *got = (const void *)o->outputs[0].data;
  for (int64_t i = 0; i < rows * width; i++) assert_true(got[i] == (float)(i < width ? i : i - width));
}

static void test_case_b44_rows_shifted_in_place(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  f->before_run = count_up;
  for (int scatters = 0; scatters < 2; scatters++) {
    shift_rows(f, scatters, 4, 1, I64S(3));
    shift_rows(f, scatters, 3, 2, I64S(16, 16));
    shift_rows(f, scatters, 1024, 1, I64S(2048));
  }
}

/* a = 0 .. n - 1; out = a[1:] = a[1:] + a[:-1]: as if outputs were written after all inputs were read. */
static void add_neighbours(tk_fixture *f, int64_t n) {
  int64_t m = n - 1;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, m), y = PARAM(g, "y", F64, m);
  RETURN(g, arrjit_add(g, x, y));
  arrjit_array *base = tk_array(f, TYPE(F64, n), NULL), *views[2] = {NULL, NULL};
  for (int64_t start = 0; start < 2; start++) {
    assert_int_equal(arrjit_array_view(base, I64S(start), I64S(1), I64S(m), &views[start], NULL), ARRJIT_OK);
    tk_keep(f, views[start]);
  }
  f->user = base;
  f->outputs = &views[1];
  const tk_outcome *o = RUN(f, tk_finish(f, g), views[1], views[0]);
  EXPECT_OK(o);
  const double *got = (const void *)o->outputs[0].data;
  for (int64_t i = 0; i < m; i++) assert_true(got[i] == (double)(2 * i + 1));
}

static void test_case_b44_output_over_both_inputs(void **state) {
  tk_fixture *f = *state;
  f->before_run = count_up;
  add_neighbours(f, 6);
  add_neighbours(f, 100000);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_pad_cuts_and_spreads),
    TK_TEST(test_gather_and_scatter_along_batch_axes),
    TK_TEST(test_a_window_that_does_not_fit_is_dropped),
    TK_TEST(test_updates_come_in_row_major_order),
    TK_TEST(test_scatter_combines),
    TK_TEST(test_checked_scatter_names_the_lowest_window),
    TK_TEST(test_scatter_of_symbolic_extents),
    TK_TEST(test_case_b44_rows_shifted_in_place),
    TK_TEST(test_case_b44_output_over_both_inputs),
};

TEST_MAIN(tests, NULL, NULL)
