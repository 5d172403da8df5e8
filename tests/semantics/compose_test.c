/* Calls that build several operations: what each gives, also where extents are symbols. */
#include <math.h>

#include "fixture.h"

static arrjit_value symbolic(arrjit_graph *g, const char *name, arrjit_dtype dtype, int64_t rows) {
  arrjit_type type = {.dtype = dtype, .rank = 2, .dims = {rows, arrjit_symbol(g, "n")}};
  return arrjit_param(g, name, &type);
}

static void test_dims_come_and_go(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I32, 2);
  arrjit_value wide = arrjit_expand_dims(g, arrjit_expand_dims(g, x, 0), 3);
  RETURN(g, wide, (arrjit_squeeze)(ARRJIT_AT_(g), wide, INTS(3, 0)), arrjit_expand_dims(g, x, 1));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I32, 2, 3), I32, 1, 2, 3, 4, 5, 6));
  EXPECT(o, 0, I32, 1, 2, 3, 4, 5, 6);
  EXPECT_SHAPE(o, 0, 1, 2, 3, 1);
  EXPECT_SHAPE(o, 1, 2, 3);
  EXPECT_SHAPE(o, 2, 2, 1, 3);
}

static void test_tile_repeats_each_dim(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I8, 2);
  RETURN(g, arrjit_tile(g, x, 2, I64S(1, 2)), arrjit_tile(g, x, 2, I64S(2, 1)), arrjit_tile(g, x, 2, I64S(0, 3)),
         arrjit_tile(g, arrjit_const_f32(g, 7), 0, NULL));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I8, 2, 2), I8, 1, 2, 3, 4));
  EXPECT(o, 0, I8, 1, 2, 1, 2, 3, 4, 3, 4);
  EXPECT(o, 1, I8, 1, 2, 3, 4, 1, 2, 3, 4);
  EXPECT_SHAPE(o, 2, 0, 6);
  EXPECT(o, 3, F32, 7);
}

static void test_split_and_stack_are_inverse(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F32, 3), pieces[3];
  arrjit_split(g, x, 0, 3, I64S(2, 0, 1), pieces);
  arrjit_value last = (arrjit_squeeze)(ARRJIT_AT_(g), pieces[2], INTS(0));
  RETURN(g, pieces[0], pieces[1], (arrjit_stack)(ARRJIT_AT_(g), LIST(last, last), 0),
         (arrjit_stack)(ARRJIT_AT_(g), LIST(last, last), 1));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(F32, 3, 2), F32, 1, 2, 3, 4, 5, 6));
  EXPECT(o, 0, F32, 1, 2, 3, 4);
  EXPECT_SHAPE(o, 1, 0, 2);
  EXPECT(o, 2, F32, 5, 6, 5, 6);
  EXPECT(o, 3, F32, 5, 5, 6, 6);
}

static void test_roll_goes_round_the_end(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I64, 3);
  RETURN(g, arrjit_roll(g, x, 1, 0), arrjit_roll(g, x, -4, 0), arrjit_roll(g, x, 1, 1), arrjit_roll(g, x, -5, 1),
         arrjit_roll(g, x, INT64_MIN, 1));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SHAPED(f, TYPE(I64, 3, 3), I64, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT(o, 0, I64, 7, 8, 9, 1, 2, 3, 4, 5, 6);
  EXPECT(o, 1, I64, 4, 5, 6, 7, 8, 9, 1, 2, 3);
  EXPECT(o, 2, I64, 3, 1, 2, 6, 4, 5, 9, 7, 8);
  EXPECT(o, 3, I64, 3, 1, 2, 6, 4, 5, 9, 7, 8);
  EXPECT(o, 4, I64, 3, 1, 2, 6, 4, 5, 9, 7, 8); /* -2^63 mod 3 is 1 */
  o = RUN(f, function, tk_array(f, TYPE(I64, 3, 0), NULL));
  EXPECT_SHAPE(o, 3, 3, 0);
}

static void test_take_along_axis(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 2, 3), i = PARAM(g, "i", I8, 2, 2), j = PARAM(g, "j", U16, 1, 3);
  RETURN(g, arrjit_take_along_axis(g, x, i, 1), arrjit_take_along_axis(g, x, j, 0));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(F32, 2, 3), F32, 1, 2, 3, 4, 5, 6),
                            SHAPED(f, TYPE(I8, 2, 2), I8, 2, 0, -1, 9), SHAPED(f, TYPE(U16, 1, 3), U16, 1, 0, 1));
  EXPECT(o, 0, F32, 3, 1, 4, 6);
  EXPECT(o, 1, F32, 4, 2, 6);
}

/* Extents that are symbols of their own are checked when it runs. */
static void test_take_along_axis_of_symbols(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_type at = {.dtype = ARRJIT_I64, .rank = 2, .dims = {1, arrjit_symbol(g, "m")}};
  arrjit_value x = symbolic(g, "x", ARRJIT_I32, 2), i = arrjit_param(g, "i", &at);
  RETURN(g, arrjit_take_along_axis(g, x, i, 0));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *numbers = SHAPED(f, TYPE(I32, 2, 2), I32, 1, 2, 3, 4);
  EXPECT(RUN(f, function, numbers, SHAPED(f, TYPE(I64, 1, 2), I64, 1, 0)), 0, I32, 3, 2);
  EXPECT_FAILURE(RUN(f, function, numbers, SHAPED(f, TYPE(I64, 1, 1), I64, 1)), ARRJIT_KIND_SHAPE, 0, NULL);
}

static void test_one_hot(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value i = PARAM(g, "i", U8, 3), big = PARAM(g, "big", U64, 2);
  arrjit_value deep = arrjit_one_hot(g, i, 300, 1, ARRJIT_I32);
  RETURN(g, arrjit_one_hot(g, i, 3, 1, ARRJIT_F32), arrjit_one_hot(g, i, 3, 0, ARRJIT_BOOL),
         arrjit_reduce_sum(g, deep, INTS(1)), arrjit_one_hot(g, big, 2, 1, ARRJIT_I8));
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, U8, 2, 0, 3), ARRAY(f, U64, UINT64_MAX, 1));
  EXPECT(o, 0, F32, 0, 0, 1, 1, 0, 0, 0, 0, 0);
  EXPECT(o, 1, BOOL, 0, 1, 0, 0, 0, 0, 1, 0, 0);
  EXPECT(o, 2, I32, 1, 1, 1); /* 255 does not come round to 0 */
  EXPECT(o, 3, I8, 0, 0, 0, 1);
}

static void test_triangles(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64, 2);
  RETURN(g, arrjit_tri(g, 2, 3, 0), arrjit_tril(g, x, 0), arrjit_tril(g, x, 1), arrjit_triu(g, x, 0),
         arrjit_triu(g, x, -1), arrjit_tril(g, x, INT64_MAX), arrjit_triu(g, x, INT64_MAX));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(F64, 2, 3), F64, 1, -2, NAN, -4, 5, 6));
  EXPECT(o, 0, BOOL, 1, 0, 0, 1, 1, 0);
  EXPECT(o, 1, F64, 1, 0, 0, -4, 5, 0);
  EXPECT(o, 2, F64, 1, -2, 0, -4, 5, 6);
  EXPECT(o, 3, F64, 1, -2, NAN, 0, 5, 6);
  EXPECT(o, 4, F64, 1, -2, NAN, -4, 5, 6);
  EXPECT(o, 5, F64, 1, -2, NAN, -4, 5, 6);
  EXPECT(o, 6, F64, 0, 0, 0, 0, 0, 0);
}

/* By the second key first, then by the first: rows in the order of (a, b). */
static void test_sort_of_several_arrays(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value a = PARAM(g, "a", I32, 4), b = PARAM(g, "b", F32, 4), c = PARAM(g, "c", BOOL, 4), by_b[3], by_a[3];
  arrjit_sort_along(g, b, 2, VALUES_(a, c), 0, 1, by_b);
  arrjit_sort_along(g, by_b[1], 2, VALUES_(by_b[0], by_b[2]), 0, 0, by_a);
  RETURN(g, by_a[0], by_a[1], by_a[2]);
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, I32, 2, 1, 2, 1), ARRAY(f, F32, 5, NAN, 7, 0), ARRAY(f, BOOL, 1, 0, 0, 1));
  EXPECT(o, 0, I32, 1, 1, 2, 2);
  EXPECT(o, 1, F32, 0, NAN, 7, 5);
  EXPECT(o, 2, BOOL, 1, 0, 0, 1);
}

static void test_top_k(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F32, 2), values, positions, columns;
  arrjit_top_k(g, x, 3, 1, &values, &positions);
  arrjit_top_k(g, x, 1, 0, &columns, NULL);
  RETURN(g, values, positions, columns);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SHAPED(f, TYPE(F32, 2, 4), F32, 1, 5, NAN, 5, -0.0f, 0, -1, -INFINITY));
  EXPECT(o, 0, F32, NAN, 5, 5, -0.0f, 0, -1);
  EXPECT(o, 1, I64, 2, 1, 3, 0, 1, 2);
  EXPECT(o, 2, F32, 1, 5, NAN, 5);
  EXPECT_FAILURE(RUN(f, function, SHAPED(f, TYPE(F32, 2, 2), F32, 1, 2, 3, 4)), ARRJIT_KIND_SHAPE, 0, NULL);
}

/* As f16 has it: overflow from 65520 on, nothing below 2^-14; as bf16 has it; and no mantissa at all. */
static void test_reduce_precision(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 8), y = PARAM(g, "y", F64, 4);
  RETURN(g, arrjit_reduce_precision(g, x, 5, 10), arrjit_reduce_precision(g, x, 8, 7),
         arrjit_reduce_precision(g, x, 8, 23), arrjit_reduce_precision(g, y, 5, 0));
  const tk_outcome *o = RUN(
      f, tk_finish(f, g), ARRAY(f, F32, 65519, -65520, 1.00048828125f, 1.00146484375f, -6e-8f, 0x1p-14f, -INFINITY, 3),
      ARRAY(f, F64, 1.5, 2.5, -3, 5e-324));
  EXPECT(o, 0, F32, 65504, -INFINITY, 1, 1.001953125f, -0.0f, 0x1p-14f, -INFINITY, 3);
  EXPECT(o, 1, F32, 65536, -65536, 1, 1, -0x1.02p-24f, 0x1p-14f, -INFINITY, 3);
  EXPECT(o, 2, F32, 65519, -65520, 1.00048828125f, 1.00146484375f, -6e-8f, 0x1p-14f, -INFINITY, 3);
  EXPECT(o, 3, F64, 2, 2, -2, 0); /* the place before the point is even in 2, odd in 1 */
  g = tk_graph(f);
  arrjit_value nan = PARAM(g, "nan", F32, 2);
  RETURN(g, arrjit_reduce_precision(g, nan, 4, 3), arrjit_reduce_precision(g, nan, 8, 0));
  const uint32_t bits[] = {0x7f800001, 0xffffffff};
  o = RUN(f, tk_finish(f, g), tk_array(f, TYPE(F32, 2), bits));
  EXPECT(o, 0, F32, NAN, NAN);
  EXPECT(o, 1, F32, INFINITY, INFINITY);
  g = tk_graph(f);
  arrjit_value h = PARAM(g, "h", F16, 4), k = PARAM(g, "k", BF16, 4);
  RETURN(g, arrjit_reduce_precision(g, h, 5, 2), arrjit_reduce_precision(g, k, 5, 2), arrjit_compare_total(g, h, h),
         arrjit_compare_total(g, k, arrjit_const_like(g, k, 0)));
  o = RUN(f, tk_finish(f, g), ARRAY(f, F16, 0x3c80, 0xbd80, 0x7bff, 0x7c01),
          ARRAY(f, BF16, 0x3f90, 0x4800, 0x8001, 0xffc1));
  EXPECT(o, 0, F16, 0x3c00, 0xbe00, 0x7c00, 0x7e00); /* as f8e5m2 has it */
  EXPECT(o, 1, BF16, 0x3f80, 0x7f80, 0x8000, 0x7fc0);
  EXPECT(o, 2, I32, 0, 0, 0, 0);
  EXPECT(o, 3, I32, 1, 1, -1, -1);
}

static void test_compare_total(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 6), y = PARAM(g, "y", F64), u = PARAM(g, "u", U8, 2), v = PARAM(g, "v", U8, 2);
  RETURN(g, arrjit_compare_total(g, x, y), arrjit_compare_total(g, u, v),
         arrjit_compare_total(g, arrjit_lt(g, u, v), arrjit_gt(g, u, v)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *numbers = ARRAY(f, F64, -NAN, -INFINITY, -0.0, 0.0, 1, NAN), *a = ARRAY(f, U8, 255, 0),
               *b = ARRAY(f, U8, 0, 128);
  const tk_outcome *o = RUN(f, function, numbers, SCALAR(f, F64, 0.0), a, b);
  EXPECT(o, 0, I32, -1, -1, -1, 0, 1, 1);
  EXPECT(o, 1, I32, 1, -1);
  EXPECT(o, 2, I32, -1, 1);
  EXPECT(RUN(f, function, numbers, SCALAR(f, F64, NAN), a, b), 0, I32, -1, -1, -1, -1, -1, 0);
}

/* Whether y is what it ought to be but for the last places of 1000. */
static arrjit_value near(arrjit_graph *g, arrjit_value y, double want) {
  return arrjit_le(g, arrjit_abs(g, arrjit_sub(g, y, arrjit_const_f64(g, want))), arrjit_const_f64(g, 2e-13));
}

static void test_variance_in_two_passes(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64, 2), y = PARAM(g, "y", F32, 4);
  RETURN(g, arrjit_variance(g, x, 0, INTS(1)), arrjit_variance(g, x, 1, INTS(0)),
         arrjit_variance(g, x, 1, ARRJIT_ALL_AXES, NULL), arrjit_standard_deviation(g, y, 0, INTS(0)),
         arrjit_variance(g, x, 0, 0, NULL), arrjit_variance(g, y, 9, INTS(0)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *four = ARRAY(f, F32, 1e6f, 1e6f + 4, 1e6f, 1e6f + 4);
  const tk_outcome *o = RUN(f, function, SHAPED(f, TYPE(F64, 2, 3), F64, 1, 2, 6, -1, -1, -1), four);
  EXPECT(o, 0, F64, 14.0 / 3, 0); /* (4 + 1 + 9) / 3 */
  EXPECT(o, 1, F64, 2, 4.5, 24.5);
  EXPECT(o, 2, F64, 38.0 / 5);
  EXPECT(o, 3, F32, 2); /* one pass would lose it all */
  EXPECT(o, 4, F64, 0, 0, 0, 0, 0, 0);
  EXPECT(o, 5, F32, INFINITY);
  o = RUN(f, function, tk_array(f, TYPE(F64, 2, 0), NULL), four);
  EXPECT(o, 0, F64, NAN, NAN);
  EXPECT(o, 2, F64, NAN);
}

static void test_norms(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64, 2);
  RETURN(g, arrjit_norm(g, x, 1, INTS(1)), arrjit_norm(g, x, 2, INTS(1)), arrjit_norm(g, x, (double)INFINITY, INTS(1)),
         arrjit_norm(g, x, 2, ARRJIT_ALL_AXES, NULL));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SHAPED(f, TYPE(F64, 2, 2), F64, 3, -4, -0.0, -12));
  EXPECT(o, 0, F64, 7, 12);
  EXPECT(o, 1, F64, 5, 12);
  EXPECT(o, 2, F64, 4, 12);
  EXPECT(o, 3, F64, 13);
  o = RUN(f, function, SHAPED(f, TYPE(F64, 2, 2), F64, NAN, -INFINITY, -INFINITY, 1e200));
  for (uint32_t i = 0; i < 3; i++) EXPECT(o, i, F64, NAN, INFINITY);
  o = RUN(f, function, tk_array(f, TYPE(F64, 2, 0), NULL));
  for (uint32_t i = 0; i < 3; i++) EXPECT(o, i, F64, 0, 0);
}

/* e^0, e^-log(4) and two that are nothing beside them: 4/5 and 1/5. */
static void test_softmax_is_stable(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64, 1), t = arrjit_transpose(g, x, INTS(1, 0));
  RETURN(g, near(g, arrjit_softmax(g, x, INTS(1)), 0.8), near(g, arrjit_softmax(g, t, INTS(0)), 0.2),
         near(g, arrjit_log_softmax(g, x, INTS(1)), -0.22314355131420976),
         near(g, arrjit_sub(g, arrjit_logsumexp(g, x, INTS(1)), arrjit_const_f64(g, 1000)), 0.22314355131420976),
         arrjit_softmax(g, x, INTS(0)), arrjit_logsumexp(g, x, 0, NULL));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o =
      RUN(f, function, SHAPED(f, TYPE(F64, 1, 4), F64, 1000, 1000 - 1.3862943611198906, -1000, -INFINITY));
  EXPECT(o, 0, BOOL, 1, 0, 0, 0);
  EXPECT(o, 1, BOOL, 0, 1, 0, 0);
  EXPECT(o, 2, BOOL, 1, 0, 0, 0);
  EXPECT(o, 3, BOOL, 1);
  EXPECT(o, 4, F64, 1, 1, 1, 1);
  EXPECT(o, 5, F64, 1000, 1000 - 1.3862943611198906, -1000, -INFINITY);
}

static void test_softmax_of_infinities(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F32, 4);
  arrjit_value logs = arrjit_log_softmax(g, x, INTS(1));
  RETURN(g, arrjit_softmax(g, x, INTS(1)), arrjit_logsumexp(g, x, INTS(1)), logs);
  arrjit_function *function = tk_finish(f, g);
  const float big = 3e38f;
  const tk_outcome *o =
      RUN(f, function,
          SHAPED(f, TYPE(F32, 4, 2), F32, INFINITY, -big, INFINITY, INFINITY, -INFINITY, -INFINITY, big, -big));
  EXPECT(o, 0, F32, 1, 0, 0.5f, 0.5f, 0.5f, 0.5f, 1, 0);
  EXPECT(o, 1, F32, INFINITY, INFINITY, -INFINITY, big);
  const float half = -0.6931472f;
  EXPECT(o, 2, F32, 0, -INFINITY, half, half, half, half, 0, -INFINITY);
  o = RUN(f, function, SHAPED(f, TYPE(F32, 4, 1), F32, NAN, INFINITY, -INFINITY, 7));
  EXPECT(o, 0, F32, NAN, 1, 1, 1);
  EXPECT(o, 1, F32, NAN, INFINITY, -INFINITY, 7);
  EXPECT(o, 2, F32, NAN, 0, 0, 0);
  o = RUN(f, function, tk_array(f, TYPE(F32, 4, 0), NULL));
  EXPECT(o, 1, F32, -INFINITY, -INFINITY, -INFINITY, -INFINITY);
}

/* x is 2 x 3, y 3 x 2, s 3 x 3. */
static void test_einsum(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 2, 3), y = PARAM(g, "y", I32, 3, 2), s = PARAM(g, "s", I32, 3, 3);
  const arrjit_value xy[] = {x, y}, xs[] = {x, s}, chain[] = {x, s, y}, xx[] = {x, x};
  arrjit_value row = arrjit_expand_dims(g, arrjit_take(g, x, arrjit_const_i64(g, 1), 0), 0);
  const arrjit_value broadcast[] = {x, row};
  arrjit_value out[] = {arrjit_einsum(g, "ij,jk->ik", 2, xy),
                        arrjit_einsum(g, "ij , jk", 2, xy),
                        arrjit_einsum(g, "ba,cb->c", 2, (const arrjit_value[]){y, x}),
                        arrjit_einsum(g, "ii->i", 1, &s),
                        arrjit_einsum(g, "ii", 1, &s),
                        arrjit_einsum(g, "ji", 1, &x),
                        arrjit_einsum(g, "ij,jj->ij", 2, xs),
                        arrjit_einsum(g, "ij,jk,kl->il", 3, chain),
                        arrjit_einsum(g, "i...,i...->...", 2, xx),
                        arrjit_einsum(g, "...,...", 2, broadcast),
                        arrjit_einsum(g, "ij,kl->jl", 2, xy)};
  arrjit_return(g, TK_COUNT(out), out, NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(I32, 2, 3), I32, 1, 2, 3, 4, 5, 6),
                            SHAPED(f, TYPE(I32, 3, 2), I32, 1, 0, 2, 1, 0, 3),
                            SHAPED(f, TYPE(I32, 3, 3), I32, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT(o, 0, I32, 5, 11, 14, 23);
  EXPECT(o, 1, I32, 5, 11, 14, 23);
  EXPECT(o, 2, I32, 16, 37);
  EXPECT(o, 3, I32, 1, 5, 9);
  EXPECT(o, 4, I32, 15);
  EXPECT(o, 5, I32, 1, 4, 2, 5, 3, 6);
  EXPECT_SHAPE(o, 5, 3, 2);
  EXPECT(o, 6, I32, 1, 10, 27, 4, 25, 54);
  EXPECT(o, 7, I32, 30 + 72, 36 + 126, 66 + 162, 81 + 288);
  EXPECT(o, 8, I32, 17, 29, 45);
  EXPECT(o, 9, I32, 4, 10, 18, 16, 25, 36);
  EXPECT(o, 10, I32, 15, 20, 21, 28, 27, 36);
}

/* Extents that are symbols: a diagonal, and a product whose extents a run compares. */
static void test_einsum_of_symbols(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  int64_t n = arrjit_symbol(g, "n"), k = arrjit_symbol(g, "k");
  arrjit_type square = {.dtype = ARRJIT_F64, .rank = 2, .dims = {n, n}},
              line = {.dtype = ARRJIT_F64, .rank = 1, .dims = {k}};
  arrjit_value x = arrjit_param(g, "x", &square), y = arrjit_param(g, "y", &line);
  const arrjit_value xy[] = {x, y};
  RETURN(g, arrjit_einsum(g, "ii", 1, &x), arrjit_einsum(g, "ij,j", 2, xy));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *four = SHAPED(f, TYPE(F64, 2, 2), F64, 1, 2, 3, 4);
  const tk_outcome *o = RUN(f, function, four, ARRAY(f, F64, 10, 1));
  EXPECT(o, 0, F64, 5);
  EXPECT(o, 1, F64, 12, 34);
  EXPECT_FAILURE(RUN(f, function, four, ARRAY(f, F64, 1, 2, 3)), ARRJIT_KIND_SHAPE, 0, NULL);
}

/* Every form, of a whose other triangle is never read; what it gives, put in, is the right side again. */
static void test_triangular_solve_in_all_forms(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_array *in[] = {SHAPED(f, TYPE(F64, 3, 3), F64, 2, NAN, NAN, 4, -1, NAN, 6, 8, 4),
                        SHAPED(f, TYPE(F64, 3, 3), F64, 2, 4, 6, NAN, -1, 8, NAN, NAN, 4),
                        SHAPED(f, TYPE(F64, 3, 2), F64, 2, 4, 8, -6, 16, 32),
                        SHAPED(f, TYPE(F64, 2, 3), F64, 2, 8, 16, 4, -6, 32)};
  for (int form = 0; form < 16; form++) {
    int left = form & 1, lower = form >> 1 & 1, unit = form >> 2 & 1, transposed = form >> 3;
    arrjit_graph *g = tk_graph(f);
    arrjit_value a = PARAM(g, "a", F64, 3, 3), b = left ? PARAM(g, "b", F64, 3, 2) : PARAM(g, "b", F64, 2, 3);
    arrjit_value x = arrjit_triangular_solve(g, a, b, left, lower, unit, transposed);
    arrjit_value clean = arrjit_select(g, arrjit_eq(g, a, a), a, arrjit_const_like(g, a, 0));
    arrjit_value eye =
        arrjit_eq(g, arrjit_iota(g, ARRJIT_I64, 2, I64S(3, 3), 0), arrjit_iota(g, ARRJIT_I64, 2, I64S(3, 3), 1));
    if (unit) clean = arrjit_select(g, eye, arrjit_const_like(g, a, 1), clean);
    if (transposed) clean = arrjit_transpose(g, clean, 2, I64S(1, 0));
    arrjit_value first = left ? clean : x, second = left ? x : clean;
    RETURN(g, arrjit_dot(g, first, second, 0, NULL, NULL, 1, I64S(1), I64S(0)));
    const tk_outcome *o = RUN(f, tk_finish(f, g), in[!lower], in[left ? 2 : 3]);
    if (left)
      EXPECT(o, 0, F64, 2, 4, 8, -6, 16, 32);
    else
      EXPECT(o, 0, F64, 2, 8, 16, 4, -6, 32);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_dims_come_and_go),
    TK_TEST(test_tile_repeats_each_dim),
    TK_TEST(test_split_and_stack_are_inverse),
    TK_TEST(test_roll_goes_round_the_end),
    TK_TEST(test_take_along_axis),
    TK_TEST(test_take_along_axis_of_symbols),
    TK_TEST(test_one_hot),
    TK_TEST(test_triangles),
    TK_TEST(test_sort_of_several_arrays),
    TK_TEST(test_top_k),
    TK_TEST(test_reduce_precision),
    TK_TEST(test_compare_total),
    TK_TEST(test_variance_in_two_passes),
    TK_TEST(test_norms),
    TK_TEST(test_softmax_is_stable),
    TK_TEST(test_softmax_of_infinities),
    TK_TEST(test_einsum),
    TK_TEST(test_einsum_of_symbols),
    TK_TEST(test_triangular_solve_in_all_forms),
};

TEST_MAIN(tests, NULL, NULL)
