/* c64 and c128: made of parts, moved whole, computed by their parts; the same bits in every tier. */
#include "fixture.h"

#define C(re, im) __builtin_complex((double)(re), (double)(im))
#define F(re, im) __builtin_complex((float)(re), (float)(im))

/* Bits of a NaN that is not the canonical one. */
static double odd_nan(void) {
  const uint64_t bits = 0xfff8000000000005;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void test_parts_come_back(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value re = PARAM(g, "re", F64, 3), im = PARAM(g, "im", F64, 3), z = arrjit_complex(g, re, im);
  arrjit_value x = PARAM(g, "x", C64, arrjit_symbol(g, "n"));
  RETURN(g, z, arrjit_real(g, z), arrjit_imag(g, z), arrjit_conj(g, z), arrjit_imag(g, x), arrjit_neg(g, x));
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F64, 1, -0.0, odd_nan()), ARRAY(f, F64, INFINITY, 5e-324, 2),
                            ARRAY(f, C64, F(1, -0.0), F(INFINITY, 2)));
  EXPECT(o, 0, C128, C(1, INFINITY), C(-0.0, 5e-324), C(odd_nan(), 2));
  EXPECT(o, 1, F64, 1, -0.0, odd_nan());
  EXPECT(o, 2, F64, INFINITY, 5e-324, 2);
  EXPECT(o, 3, C128, C(1, -INFINITY), C(-0.0, -5e-324), C(odd_nan(), -2));
  EXPECT(o, 4, F32, -0.0f, 2);
  EXPECT(o, 5, C64, F(-1, 0), F(-INFINITY, -2));
}

/* A NaN made by arithmetic is canonical in each part. */
static void test_products_round_and_recover_nothing(void **state) {
  tk_fixture *f = *state;
  const double nan = (double)NAN;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, arrjit_symbol(g, "m"));
  arrjit_value y = PARAM(g, "y", C128, arrjit_symbol(g, "m")), p = PARAM(g, "p", C64, 2), q = PARAM(g, "q", C64, 2);
  RETURN(g, arrjit_mul(g, x, y), arrjit_div(g, x, y), arrjit_mul(g, p, q));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, C128, C(1, 2), C(INFINITY, 0), C(3, 0), C(1e300, 1e300), C(6e-310, 0)),
          ARRAY(f, C128, C(3, 4), C(0, 1), C(0, 0), C(2e300, 2e300), C(0, 3e-310)),
          ARRAY(f, C64, F(0.1f, 0.2f), F(3e38f, 0)), ARRAY(f, C64, F(0.3f, 0.7f), F(2, 1e-3f)));
  EXPECT(o, 0, C128, C(-5, 10), C(nan, INFINITY), C(0, 0), C(nan, INFINITY), C(0, 0));
  EXPECT(o, 1, C128, C(0.44, 0.08), C(nan, -INFINITY), C(nan, nan), C(0.5, 0), C(0, -2));
  const float a = 0.1f, b = 0.2f, c = 0.3f, d = 0.7f;
  const volatile float ac = a * c, bd = b * d, ad = a * d, bc = b * c;
  EXPECT(o, 2, C64, F(ac - bd, ad + bc), F(INFINITY, 3e38f * 1e-3f));
}

static void test_sums_compare_and_choose(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C64, 4), y = PARAM(g, "y", C64, 4), same = arrjit_eq(g, x, y);
  RETURN(g, arrjit_add(g, x, y), arrjit_sub(g, x, y), same, arrjit_ne(g, x, y), arrjit_select(g, same, x, y),
         arrjit_abs(g, x), arrjit_sign(g, x));
  const float nan = NAN;
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, C64, F(3, 4), F(0, -0.0), F(1, nan), F(-3e38f, -4e37f)),
                            ARRAY(f, C64, F(3, -4), F(-0.0, 0), F(1, nan), F(1, 0)));
  EXPECT(o, 0, C64, F(6, 0), F(0, 0), F(2, nan), F(-3e38f, -4e37f));
  EXPECT(o, 1, C64, F(0, 8), F(0, -0.0f), F(0, nan), F(-3e38f, -4e37f));
  EXPECT(o, 2, BOOL, 0, 1, 0, 0);
  EXPECT(o, 3, BOOL, 1, 0, 1, 1);
  EXPECT(o, 4, C64, F(3, -4), F(0, -0.0f), F(1, nan), F(1, 0));
  EXPECT(o, 5, F32, 5, 0, nan, 0x1.c76270p127f);
  EXPECT(o, 6, C64, F(0.6f, 0.8f), F(0, -0.0f), F(nan, nan), F(-0x1.fb823ap-1f, -0x1.0eabdap-3f));
}

static void test_conversions_drop_and_add_the_imaginary_part(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 3), i = PARAM(g, "i", I32, 2), h = PARAM(g, "h", F16, 1);
  RETURN(g, arrjit_convert(g, x, ARRJIT_C64), arrjit_convert(g, x, ARRJIT_I8), arrjit_convert(g, x, ARRJIT_BOOL),
         arrjit_convert(g, i, ARRJIT_C64), arrjit_convert(g, h, ARRJIT_C128),
         arrjit_iota(g, ARRJIT_C64, 2, I64S(2, 3), 1), arrjit_full(g, arrjit_const_like(g, x, 2.5), 1, I64S(2)),
         arrjit_bitcast(g, arrjit_convert(g, x, ARRJIT_C64), ARRJIT_U64));
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, C128, C(1.1, 2), C(-300.5, NAN), C(0, 3)),
                            ARRAY(f, I32, 16777217, -1), ARRAY(f, F16, 0xbc00));
  EXPECT(o, 0, C64, F(1.1, 2), F(-300.5, NAN), F(0, 3));
  EXPECT(o, 1, I8, 1, -128, 0);
  EXPECT(o, 2, BOOL, 1, 1, 0);
  EXPECT(o, 3, C64, F(16777216, 0), F(-1, 0));
  EXPECT(o, 4, C128, C(-1, 0));
  EXPECT(o, 5, C64, F(0, 0), F(1, 0), F(2, 0), F(0, 0), F(1, 0), F(2, 0));
  EXPECT(o, 6, C128, C(2.5, 0), C(2.5, 0));
  EXPECT(o, 7, U64, 0x400000003f8ccccd, 0x7fc00000c3964000, 0x4040000000000000);
}

/* Elements of 16 bytes, out of views that are reversed, strided and not aligned to their size. */
static void test_movement_takes_elements_whole(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 2, 3), fill = PARAM(g, "fill", C128), i = PARAM(g, "i", I64, 2);
  arrjit_value two = PARAM(g, "two", C128, 1, 2), at = arrjit_const_i64(g, 1);
  arrjit_value row = arrjit_reshape(g, x, 1, I64S(6));
  RETURN(g, arrjit_transpose(g, x, INTS(1, 0)), arrjit_concat(g, 2, VALUES_(row, arrjit_reverse(g, row, INTS(0))), 0),
         arrjit_pad(g, row, fill, 1, I64S(1), I64S(0), I64S(0)), arrjit_take(g, row, i, 0),
         arrjit_slice(g, row, 1, I64S(1), I64S(6), I64S(2)),
         arrjit_dynamic_update_slice(g, x, two, 2, VALUES_(at, at)));
  f->may_fall_back = true;
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), SHAPED(f, TYPE(C128, 2, 3), C128, C(0, 1), C(2, 3), C(4, 5), C(6, 7), C(8, 9), C(10, 11)),
          SCALAR(f, C128, C(-1, NAN)), ARRAY(f, I64, 5, -7), SHAPED(f, TYPE(C128, 1, 2), C128, C(20, 21), C(22, 23)));
  EXPECT(o, 0, C128, C(0, 1), C(6, 7), C(2, 3), C(8, 9), C(4, 5), C(10, 11));
  EXPECT(o, 1, C128, C(0, 1), C(2, 3), C(4, 5), C(6, 7), C(8, 9), C(10, 11), C(10, 11), C(8, 9), C(6, 7), C(4, 5),
         C(2, 3), C(0, 1));
  EXPECT(o, 2, C128, C(-1, NAN), C(0, 1), C(2, 3), C(4, 5), C(6, 7), C(8, 9), C(10, 11));
  EXPECT(o, 3, C128, C(10, 11), C(0, 1));
  EXPECT(o, 4, C128, C(2, 3), C(6, 7), C(10, 11));
  EXPECT(o, 5, C128, C(0, 1), C(2, 3), C(4, 5), C(6, 7), C(20, 21), C(22, 23));
}

static void test_reductions_go_by_parts(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C64, 2, arrjit_symbol(g, "n")), y = PARAM(g, "y", C64, 2);
  arrjit_value indices = CONST(g, I64, 1, 1);
  RETURN(g, arrjit_reduce_sum(g, x, INTS(0, 1)), arrjit_reduce_prod(g, x, INTS(1)), arrjit_mean(g, x, INTS(1)),
         arrjit_cumsum(g, x, 0, 0), arrjit_cumprod(g, x, 1, 1), arrjit_dot(g, y, x, 0, NULL, NULL, 1, I64S(0), I64S(0)),
         arrjit_scatter_add(g, y, indices, y, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1),
         arrjit_reduce_prod(g, arrjit_slice(g, y, 1, I64S(0), I64S(0), I64S(1)), INTS(0)));
  f->may_fall_back = true;
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(C64, 2, 2), C64, F(1, 2), F(3, -1), F(0, 1), F(-2, 0.5)),
                            ARRAY(f, C64, F(1, 1), F(0, 2)));
  EXPECT(o, 0, C64, F(2, 2.5));
  EXPECT(o, 1, C64, F(5, 5), F(-0.5, -2));
  EXPECT(o, 2, C64, F(2, 0.5), F(-1, 0.75));
  EXPECT(o, 3, C64, F(1, 2), F(3, -1), F(1, 3), F(1, -0.5));
  EXPECT(o, 4, C64, F(5, 5), F(3, -1), F(-0.5, -2), F(-2, 0.5));
  EXPECT(o, 5, C64, F(-3, 3), F(3, -2));
  EXPECT(o, 6, C64, F(1, 1), F(1, 5));
  EXPECT(o, 7, C64, F(1, 0));
}

/* A combiner of the host with complex values, sorting by one's own order, and what loops carry: z -> z^2 + c in a map.
 */
static void test_regions_carry_them(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 4), unit = PARAM(g, "unit", C128), older, newer, product, a, b, sorted[1], lane;
  arrjit_value vars[2], count, index = arrjit_const_i64(g, 0);
  arrjit_reduce_begin(g, 1, &x, &unit, 1, I64S(0), &older, &newer);
  product = arrjit_mul(g, older, newer);
  arrjit_reduce_end(g, 1, &product, &product);
  arrjit_sort_by_begin(g, 1, &x, 0, &a, &b);
  arrjit_sort_by_end(g, arrjit_gt(g, arrjit_imag(g, a), arrjit_imag(g, b)), 1, sorted);
  arrjit_map_begin(g, LIST(x), &lane);
  WHILE(g, vars, arrjit_const_like(g, lane, 0), index);
  arrjit_value inside = arrjit_le(g, arrjit_abs(g, vars[0]), arrjit_const_f64(g, 2));
  arrjit_while_body(g, arrjit_and(g, inside, arrjit_lt(g, vars[1], arrjit_const_i64(g, 20))), vars);
  arrjit_value next[] = {arrjit_add(g, arrjit_mul(g, vars[0], vars[0]), lane),
                         arrjit_add(g, vars[1], arrjit_const_i64(g, 1))};
  arrjit_while_end(g, 2, next, vars);
  arrjit_map_end(g, LIST(vars[1]), &count);
  RETURN(g, product, sorted[0], count);
  f->may_fall_back = true;
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, C128, C(0, 1), C(2, 2), C(-1, 0), C(0.5, 0.25)), SCALAR(f, C128, C(0, 1)));
  EXPECT(o, 0, C128, C(0.5, 1.5));
  EXPECT(o, 1, C128, C(2, 2), C(0, 1), C(0.5, 0.25), C(-1, 0));
  EXPECT(o, 2, I64, 20, 1, 20, 5);
}

static arrjit_status answer(CALLBACK_ARGS) {
  UNUSED_CALLBACK;
  assert_int_equal(args[0].dtype, ARRJIT_C128);
  const TK_C128 *x = args[0].data;
  TK_C128 *out = results[0].data;
  *out = C(__imag__ * x, __real__ * x);
  return ARRJIT_OK;
}

static void test_callbacks_and_failures_show_them(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_slot slot;
  const arrjit_type scalar = TYPE(C128);
  slot = arrjit_slot_value(g, "swap", 1, &scalar, 1, &scalar, 0);
  arrjit_value x = PARAM(g, "x", C128), y = PARAM(g, "y", C64, 2), out;
  CALLBACK(g, slot, &out, x);
  RAISE_IF(g, arrjit_eq(g, out, arrjit_const_like(g, out, 0)), ARRJIT_KIND_RUNTIME, 3, "{0} and {1}", x, y);
  RETURN(g, out);
  tk_bind(f, "swap", answer, NULL);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *pair = ARRAY(f, C64, F(0.1f, -0.0f), F(INFINITY, NAN));
  const tk_outcome *o = RUN(f, function, SCALAR(f, C128, C(1, -2)), pair);
  EXPECT(o, 0, C128, C(-2, 1));
  o = RUN(f, function, SCALAR(f, C128, C(0, -0.0)), pair);
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "(0, -0) and c64[2] = [(0.1, -0), (inf, nan)]");
  EXPECT_PAYLOAD(o, 0, C128, C(0, -0.0));
}

static void test_functions_at_their_corners(void **state) {
  tk_fixture *f = *state;
  const double inf = INFINITY, pi = 0x1.921fb54442d18p1;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 5), zero = arrjit_const_like(g, x, 0);
  RETURN(g, arrjit_exp(g, x), arrjit_log(g, x), arrjit_sqrt(g, x), arrjit_tanh(g, x), arrjit_pow(g, x, zero),
         arrjit_pow(g, zero, x));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, C128, C(0, 0), C(-1, -0.0), C(inf, 0), C(-inf, pi), C(710, 0.5)));
  const double e = exp(355), c = e * cos(0.5) * e, s = e * sin(0.5) * e, i = exp(-1);
  EXPECT(o, 0, C128, C(1, 0), C(i, -0.0), C(inf, 0), C(-0.0, 0), C(c, s));
  EXPECT(o, 1, C128, C(-inf, 0), C(0, -pi), C(inf, 0), C(inf, pi), C(6.565265218001973, 0.0007042252356964321));
  EXPECT(o, 2, C128, C(0, 0), C(0, -1), C(inf, 0), C(0, inf), C(26.645826840767355, 0.009382332231383682));
  EXPECT(o, 3, C128, C(0, 0), C(-tanh(1), -0.0), C(1, 0), C(-1, -0.0), C(1, 0));
  EXPECT(o, 4, C128, C(1, 0), C(1, 0), C(1, 0), C(1, 0), C(1, 0));
  EXPECT(o, 5, C128, C(1, 0), C(NAN, NAN), C(0, 0), C(NAN, NAN), C(0, 0));
}

/* As C's: a zero part of the argument leaves a zero part whose sign is that of the other factor. */
static void test_signs_of_zero_parts(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 2), y = PARAM(g, "y", C128, 2);
  RETURN(g, arrjit_imag(g, arrjit_sin(g, x)), arrjit_imag(g, arrjit_cos(g, x)), arrjit_imag(g, arrjit_cosh(g, x)),
         arrjit_real(g, arrjit_sinh(g, y)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, C128, C(2, 0), C(-1, 0)), ARRAY(f, C128, C(0, 2), C(0, -1)));
  EXPECT(o, 0, F64, -0.0, 0);
  EXPECT(o, 1, F64, -0.0, 0);
  EXPECT(o, 2, F64, 0, -0.0);
  EXPECT(o, 3, F64, -0.0, 0);
}

#define REFUSED(f, part, expression)                                                                                   \
  do {                                                                                                                 \
    arrjit_graph *g = tk_graph(f);                                                                                     \
    arrjit_value x = PARAM(g, "x", C64, 3);                                                                            \
    (void)(expression);                                                                                                \
    arrjit_return(g, 1, &x, NULL);                                                                                     \
    tk_finish_fails(f, g, ARRJIT_TYPE, part, NULL);                                                                    \
  } while (0)

/* What other builders put beside complex numbers is zero in both parts. */
static void test_triangles_and_windows(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", C128, 2, 2), y = PARAM(g, "y", C64, 3);
  RETURN(g, arrjit_tril(g, x, 0), arrjit_triu(g, x, 1),
         arrjit_reduce_window_sum(g, y, 1, I64S(2), NULL, I64S(1), I64S(0), NULL, NULL));
  const tk_outcome *o = RUN(f, tk_finish(f, g), SHAPED(f, TYPE(C128, 2, 2), C128, C(1, 2), C(3, 4), C(5, 6), C(7, 8)),
                            ARRAY(f, C64, F(1, 2), F(3, 4), F(5, 6)));
  EXPECT(o, 0, C128, C(1, 2), C(0, 0), C(5, 6), C(7, 8));
  EXPECT(o, 1, C128, C(0, 0), C(3, 4), C(0, 0), C(0, 0));
  EXPECT(o, 2, C64, F(1, 2), F(4, 6), F(8, 10));
}

static void test_what_needs_an_order_is_a_build_error(void **state) {
  tk_fixture *f = *state;
  const char *number = "x is c64[3]; expected an integer or float dtype: write real(x), imag(x) or abs(x)";
  const char *ordered =
      "x is c64[3]; expected a dtype with an order: integer, float or bool: write real(x), imag(x) or "
      "abs(x)";
  REFUSED(f, number, arrjit_lt(g, x, x));
  REFUSED(f, number, arrjit_clamp(g, x, x, x));
  REFUSED(f, ordered, arrjit_min(g, x, x));
  REFUSED(f, ordered, arrjit_sort(g, x, 0, 0));
  REFUSED(f, ordered, arrjit_reduce_max(g, x, 0, NULL));
  REFUSED(f, ordered, arrjit_cummin(g, x, 0, 0));
  REFUSED(f, ordered, arrjit_reduce_window_max(g, x, 1, I64S(2), NULL, NULL, NULL, NULL, NULL));
  REFUSED(f, "x is c64[3]; expected a float dtype: write real(x)", arrjit_floor(g, x));
  REFUSED(f, "y is c64[3]; expected a float dtype: write real(y)", arrjit_atan2(g, x, x));
  REFUSED(f, "to c64; complex numbers are made unchecked: write convert",
          arrjit_checked_convert(g, arrjit_real(g, x), ARRJIT_C64));
  REFUSED(f, "x is f32[3]; expected c64 or c128: write convert(x, c64)", arrjit_conj(g, arrjit_real(g, x)));
  REFUSED(f, "re is i32[3]; expected f32 or f64: write convert(re, f64)",
          arrjit_complex(g, arrjit_convert(g, x, ARRJIT_I32), arrjit_convert(g, x, ARRJIT_I32)));
  REFUSED(f, "operands are c64[3] and f32[3]; dtypes never convert", arrjit_mul(g, x, arrjit_real(g, x)));
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_parts_come_back),
    TK_TEST(test_products_round_and_recover_nothing),
    TK_TEST(test_sums_compare_and_choose),
    TK_TEST(test_conversions_drop_and_add_the_imaginary_part),
    TK_TEST(test_movement_takes_elements_whole),
    TK_TEST(test_reductions_go_by_parts),
    TK_TEST(test_regions_carry_them),
    TK_TEST(test_callbacks_and_failures_show_them),
    TK_TEST(test_functions_at_their_corners),
    TK_TEST(test_signs_of_zero_parts),
    TK_TEST(test_triangles_and_windows),
    TK_TEST(test_what_needs_an_order_is_a_build_error),
};
TEST_MAIN(tests, NULL, NULL)
