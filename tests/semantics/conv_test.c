/* conv against its formula: every result one chain over (window row-major, feature), padding and holes left out. */
#include <math.h>

#include "fixture.h"
#include "floats.h"

/* One 2-D convolution, of f64. */
typedef struct shape {
  int64_t batch, height, width, features, rows, columns, results, groups;
  int64_t step[2], low[2], high[2], base[2], spread[2];
} shape;

static int64_t count_windows(const shape *s, int d) {
  int64_t extent = d ? s->width : s->height, size = d ? s->columns : s->rows;
  int64_t all = (extent > 0 ? (extent - 1) * s->base[d] + 1 : 0) + s->low[d] + s->high[d];
  int64_t window = (size - 1) * s->spread[d] + 1;
  return all < window ? 0 : (all - window) / s->step[d] + 1;
}

/* Place in lhs, -1: padding or a hole. */
static int64_t find_place(const shape *s, int d, int64_t window, int64_t point) {
  int64_t at = window * s->step[d] + point * s->spread[d] - s->low[d], extent = d ? s->width : s->height;
  return at < 0 || at % s->base[d] || at / s->base[d] >= extent ? -1 : at / s->base[d];
}

static double find_result(const shape *s, const double *x, const double *k, int64_t n, int64_t i, int64_t j,
                          int64_t r) {
  int64_t own = s->features / s->groups, group = r / (s->results / s->groups);
  double sum = 0;
  for (int64_t a = 0; a < s->rows; a++) {
    for (int64_t b = 0; b < s->columns; b++) {
      int64_t y = find_place(s, 0, i, a), z = find_place(s, 1, j, b);
      for (int64_t c = 0; y >= 0 && z >= 0 && c < own; c++)
        sum = fma(x[((n * s->height + y) * s->width + z) * s->features + group * own + c],
                  k[((a * s->columns + b) * own + c) * s->results + r], sum);
    }
  }
  return sum;
}

static void check_shape(tk_fixture *f, const shape *s) {
  enum { MOST = 4096 };
  static double x[MOST], k[MOST], want[MOST];
  tk_random random = {3};
  int64_t own = s->features / s->groups, high = count_windows(s, 0), wide = count_windows(s, 1), count = 0;
  for (int i = 0; i < MOST; i++) {
    x[i] = (double)(tk_next(&random) >> 11) * 0x1p-53 - 0.5;
    k[i] = (double)(tk_next(&random) >> 11) * 0x1p-50 - 4;
  }
  for (int64_t n = 0; n < s->batch; n++)
    for (int64_t i = 0; i < high; i++)
      for (int64_t j = 0; j < wide; j++)
        for (int64_t r = 0; r < s->results; r++) want[count++] = find_result(s, x, k, n, i, j, r);
  assert_true(count <= MOST);
  arrjit_graph *g = tk_graph(f);
  arrjit_type lhs = arrjit_type_make(ARRJIT_F64, 4, I64S(s->batch, s->height, s->width, s->features)),
              rhs = arrjit_type_make(ARRJIT_F64, 4, I64S(s->rows, s->columns, own, s->results));
  arrjit_value image = arrjit_param(g, "x", &lhs), kernel = arrjit_param(g, "k", &rhs);
  RETURN(g, arrjit_conv(g, image, kernel, 2, s->step, s->low, s->high, s->base, s->spread, s->groups));
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, lhs, x), tk_array(f, rhs, k));
  tk_expect_shape(o, 0, 4, I64S(s->batch, high, wide, s->results), __FILE__, __LINE__);
  tk_expect(o, 0, ARRJIT_F64, (size_t)count, want, __FILE__, __LINE__);
}

static void test_windows_of_all_kinds(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  static const shape shapes[] = {
      {2, 5, 6, 3, 3, 2, 4, 1, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}},
      {1, 7, 6, 5, 3, 3, 70, 1, {2, 1}, {1, 1}, {1, 2}, {1, 1}, {1, 1}}, /* two tiles */
      {1, 4, 5, 2, 2, 3, 3, 1, {1, 2}, {2, 3}, {0, 1}, {2, 3}, {2, 1}},
      {2, 4, 4, 4, 2, 2, 6, 2, {1, 1}, {-1, 1}, {1, -1}, {1, 1}, {1, 2}},
      {1, 6, 6, 3, 3, 3, 3, 3, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, /* one feature a result */
      {1, 2, 2, 1, 3, 1, 2, 1, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}, /* no window fits */
      {1, 1, 1, 2, 1, 2, 2, 1, {1, 1}, {3, 4}, {3, 4}, {1, 1}, {1, 1}}, /* windows of padding alone */
      {0, 3, 3, 2, 2, 2, 2, 1, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}},
  };
  for (size_t i = 0; i < TK_COUNT(shapes); i++) check_shape(f, &shapes[i]);
}

/* inf * 0 would be NaN, and -0 + 0 +0: what lies on padding is not there. */
static void test_padding_is_left_out_not_multiplied(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 1, 3, 1), k = PARAM(g, "k", F32, 2, 1, 1);
  RETURN(g, arrjit_conv(g, x, k, 1, I64S(1), I64S(2), I64S(1), I64S(1), I64S(1), 1));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(F32, 1, 3, 1), F32, 1, 2, 3),
                            SHAPED(f, TYPE(F32, 2, 1, 1), F32, 4, INFINITY));
  EXPECT(o, 0, F32, 0, INFINITY, INFINITY, INFINITY, 12);
}

/* Integers wrap; 16-bit floats are added up in f32; extents may be symbols; no spatial dim is a product of matrices. */
static void test_dtypes_and_symbols(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_type rows = {.dtype = ARRJIT_I8, .rank = 3, .dims = {arrjit_symbol(g, "n"), arrjit_symbol(g, "w"), 1}};
  arrjit_value x = arrjit_param(g, "x", &rows), k = PARAM(g, "k", I8, 2, 1, 1), h = PARAM(g, "h", BF16, 1, 1000);
  arrjit_type ones = arrjit_type_make(ARRJIT_BF16, 2, I64S(1000, 1));
  arrjit_value one = arrjit_full(g, arrjit_const_like(g, h, 1), 2, ones.dims);
  RETURN(g, arrjit_conv(g, x, k, 1, I64S(2), I64S(0), I64S(1), I64S(1), I64S(1), 1),
         arrjit_conv(g, h, one, 0, NULL, NULL, NULL, NULL, NULL, 1));
  static uint16_t halves[1000];
  for (int i = 0; i < 1000; i++) halves[i] = tk_half_reference(ARRJIT_BF16, 1);
  arrjit_array *many = tk_array(f, TYPE(BF16, 1, 1000), halves);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I8, 2, 3, 1), I8, 100, 100, 1, 2, 3, 4),
                            SHAPED(f, TYPE(I8, 2, 1, 1), I8, 1, 2), many);
  EXPECT(o, 0, I8, 44, 1, 8, 4);
  EXPECT_SHAPE(o, 0, 2, 2, 1);
  assert_true(tk_load_float(ARRJIT_BF16, o->outputs[1].data) == 1000);
}

/* The same convolution with other dimension numbers, a window turned round, and groups of the batch. */
static void test_dimension_numbers_and_groups_of_the_batch(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 2, 3, 1), k = PARAM(g, "k", I32, 2, 1, 2);
  arrjit_value xt = arrjit_transpose(g, x, 3, I64S(2, 0, 1)), kt = arrjit_transpose(g, k, 3, I64S(2, 0, 1));
  RETURN(g, arrjit_convolution(g, x, k, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 1, 1),
         arrjit_convolution(g, xt, kt, 1, I64S(1, 2, 0), I64S(1, 2, 0), I64S(2, 1, 0), NULL, NULL, NULL, NULL, NULL, 1,
                            I64S(0), 1, 1),
         arrjit_convolution(g, x, k, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 1, 2));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I32, 2, 3, 1), I32, 1, 2, 3, 4, 5, 6),
                            SHAPED(f, TYPE(I32, 2, 1, 2), I32, 1, 10, 100, 1000));
  EXPECT(o, 0, I32, 201, 2010, 302, 3020, 504, 5040, 605, 6050);
  EXPECT_SHAPE(o, 0, 2, 2, 2);
  EXPECT(o, 1, I32, 102, 405, 203, 506, 1020, 4050, 2030, 5060);
  EXPECT_SHAPE(o, 1, 2, 2, 2);
  EXPECT(o, 2, I32, 201, 5040, 302, 6050);
  EXPECT_SHAPE(o, 2, 1, 2, 2);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_windows_of_all_kinds),
    TK_TEST(test_padding_is_left_out_not_multiplied),
    TK_TEST(test_dtypes_and_symbols),
    TK_TEST(test_dimension_numbers_and_groups_of_the_batch),
};

TEST_MAIN(tests, NULL, NULL)
