/* map: a region for every lane, on scalars, with control flow of its own: what lanes see and give, where maps stand. */
#include "lanes.h"

/* ---- loops of as many turns as each lane needs ---- */

static void test_mandelbrot(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  const int64_t n = arrjit_symbol(g, "n");
  arrjit_type row = arrjit_type_make(ARRJIT_F32, 1, &n), column = arrjit_type_make(ARRJIT_F32, 2, (int64_t[]){n, 1});
  arrjit_value c[2], v[3], out[3], count;
  arrjit_map_begin(g, LIST(arrjit_param(g, "x", &row), arrjit_param(g, "y", &column)), c);
  arrjit_value zero = arrjit_const_f32(g, 0);
  WHILE(g, v, zero, zero, arrjit_const_i32(g, 0));
  arrjit_value a2 = arrjit_mul(g, v[0], v[0]), b2 = arrjit_mul(g, v[1], v[1]);
  arrjit_value near = arrjit_le(g, arrjit_add(g, a2, b2), arrjit_const_f32(g, 4));
  arrjit_while_body(g, arrjit_and(g, near, arrjit_lt(g, v[2], arrjit_const_i32(g, 50))), v);
  a2 = arrjit_mul(g, v[0], v[0]), b2 = arrjit_mul(g, v[1], v[1]);
  arrjit_value ab = arrjit_mul(g, arrjit_add(g, v[0], v[0]), v[1]);
  arrjit_while_end(g,
                   LIST(arrjit_add(g, arrjit_sub(g, a2, b2), c[0]), arrjit_add(g, ab, c[1]),
                        arrjit_add(g, v[2], arrjit_const_i32(g, 1))),
                   out);
  arrjit_map_end(g, 1, &out[2], &count);
  RETURN(g, count);
  arrjit_function *function = tk_finish(f, g);
  static const int64_t sides[] = {0, 1, 3, 17, 40};
  for (size_t s = 0; s < TK_COUNT(sides); s++) {
    int64_t side = sides[s];
    arrjit_array *x = tk_array(f, TYPE(F32, side), NULL), *y = tk_array(f, TYPE(F32, side, 1), NULL);
    int32_t want[40 * 40];
    for (int64_t i = 0; i < side; i++) {
      ((float *)arrjit_array_data(x))[i] = -2 + 2.5f * (float)i / (float)side;
      ((float *)arrjit_array_data(y))[i] = -1 + 2.0f * (float)i / (float)side;
    }
    for (int64_t i = 0; i < side * side; i++) {
      float cx = ((float *)arrjit_array_data(x))[i % side], cy = ((float *)arrjit_array_data(y))[i / side];
      float a = 0, b = 0;
      for (want[i] = 0; a * a + b * b <= 4 && want[i] < 50; want[i]++) {
        float next = (a * a - b * b) + cx;
        b = (a + a) * b + cy;
        a = next;
      }
    }
    tk_expect(RUN(f, function, x, y), 0, ARRJIT_I32, (size_t)(side * side), want, __FILE__, __LINE__);
  }
}

/* The loop of the arm that a lane does not take would not end for it. */
static void test_case_b13_only_the_arm_that_is_taken_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), a, y, up, down, arm, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_if_begin(g, arrjit_ge(g, a, f64(g, 0)));
  WHILE(g, &y, a);
  arrjit_while_body(g, arrjit_or(g, arrjit_le(g, y, f64(g, 0)), arrjit_gt(g, y, f64(g, 1e-6))), &y);
  arrjit_while_end(g, LIST(arrjit_mul(g, f64(g, 0.1), y)), &up);
  arrjit_if_else(g, 1, &up);
  WHILE(g, &y, a);
  arrjit_while_body(g, arrjit_lt(g, y, f64(g, -1e-6)), &y);
  arrjit_while_end(g, LIST(arrjit_mul(g, f64(g, 0.1), y)), &down);
  arrjit_if_end(g, 1, &down, &arm);
  arrjit_map_end(g, 1, &arm, &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, -1, 1));
  EXPECT_OK(o);
  const double *got = (const void *)o->outputs[0].data;
  assert_true(got[0] >= -1e-6 && got[0] < 0 && got[1] > 0 && got[1] <= 1e-6);
  EXPECT_OK(RUN(f, function, ARRAY(f, F64, 1, -1, 3, -2, 5e3, -1e9, 1e-9, -1e-9, 7)));
}

/* ---- arms, guards, nests ---- */

static void test_guarded_division(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I32), y = symbolic(g, "y", ARRJIT_I32), v[2], q[2], out[2];
  arrjit_map_begin(g, LIST(x, y), v);
  arrjit_if_begin(g, arrjit_ne(g, v[1], arrjit_const_i32(g, 0)));
  q[0] = arrjit_checked_div(g, v[0], v[1]);
  arrjit_if_else(g, LIST(q[0], arrjit_checked_rem(g, v[0], v[1])));
  arrjit_if_end(g, LIST(arrjit_const_i32(g, 0), v[0]), q);
  arrjit_map_end(g, 2, q, out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, I32, 7, -7, 5, 9, 1), ARRAY(f, I32, 2, 2, 0, -3, 0));
  EXPECT(o, 0, I32, 3, -3, 0, -3, 0);
  EXPECT(o, 1, I32, 1, -1, 5, 0, 1);
  o = RUN(f, function, ARRAY(f, I32, 7, 6, INT32_MIN, INT32_MIN), ARRAY(f, I32, 2, 0, -1, -1));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 0); /* the op is on scalars; the trace has the lane */
  EXPECT_PAYLOAD(o, 1, I32, INT32_MIN);
  assert_string_equal(o->path, "checked_div < if then < map lane 2");
}

/* Two loops, one in the other, both of as many turns as the lane says, and a switch. */
static void test_nested_loops_and_switch(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I64), a, i, j, sum, inner, total, picked, out[2];
  arrjit_map_begin(g, 1, &x, &a);
  FOR(g, i64(g, 0), a, i64(g, 1), &i, &sum, i64(g, 0));
  FOR(g, i, a, arrjit_add(g, i64(g, 1), arrjit_and(g, a, i64(g, 1))), &j, &inner, sum);
  arrjit_for_end(g, LIST(arrjit_add(g, inner, arrjit_mul(g, i, j))), &total);
  arrjit_for_end(g, 1, &total, &sum);
  arrjit_switch_begin(g, arrjit_mod(g, a, i64(g, 4)));
  arrjit_switch_case(g, LIST(i64(g, 10)));
  arrjit_switch_case(g, 1, &sum);
  arrjit_value shifted = arrjit_add(g, sum, i64(g, 1000));
  arrjit_switch_end(g, 1, &shifted, &picked);
  arrjit_map_end(g, LIST(sum, picked), out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  for (size_t k = 0; k < TK_COUNT(lengths) - 1; k++) {
    int64_t n = lengths[k], sums[33], picks[33];
    arrjit_array *array = tk_array(f, TYPE(I64, n), NULL);
    for (int64_t l = 0; l < n; l++) {
      ((int64_t *)arrjit_array_data(array))[l] = l % 9 - 1;
      sums[l] = 0;
      for (int64_t p = 0; p < l % 9 - 1; p++)
        for (int64_t q = p; q < l % 9 - 1; q += 1 + ((l % 9 - 1) & 1)) sums[l] += p * q;
      int64_t which = ((l % 9 - 1) % 4 + 4) % 4;
      picks[l] = which == 0 ? 10 : which == 1 ? sums[l] : sums[l] + 1000;
    }
    const tk_outcome *o = RUN(f, function, array);
    tk_expect(o, 0, ARRJIT_I64, (size_t)n, sums, __FILE__, __LINE__);
    tk_expect(o, 1, ARRJIT_I64, (size_t)n, picks, __FILE__, __LINE__);
  }
}

/* ---- what lanes see ---- */

/* Plain regions become array work, others kernels: both with broadcast, strided and transposed arguments. */
static void test_arguments_of_any_layout(void **state) {
  tk_fixture *f = *state;
  for (int loops = 0; loops < 2; loops++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F64, 3, 5), y = PARAM(g, "y", F64, 5), z = PARAM(g, "z", F64, 3, 1);
    arrjit_value v[4], w, out, t = (arrjit_transpose)(g, PARAM(g, "t", F64, 5, 3), INTS(1, 0));
    arrjit_value k = PARAM(g, "k", F64);
    arrjit_map_begin(g, LIST(x, y, z, t), v);
    arrjit_value sum = arrjit_add(g, arrjit_mul(g, v[0], v[1]), arrjit_sub(g, arrjit_mul(g, v[2], k), v[3]));
    if (loops) {
      WHILE(g, &w, sum);
      arrjit_while_body(g, arrjit_gt(g, w, k), &w);
      arrjit_while_end(g, LIST(arrjit_sub(g, w, v[1])), &sum);
    }
    arrjit_map_end(g, 1, &sum, &out);
    RETURN(g, out, arrjit_reduce_sum(g, out, INTS(0)));
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *in[5] = {tk_array(f, TYPE(F64, 3, 5), NULL), ramp(f, 5, 1, 1),
                           SHAPED(f, TYPE(F64, 3, 1), F64, 3, 1, 2), tk_array(f, TYPE(F64, 5, 3), NULL),
                           SCALAR(f, F64, 1.5)};
    double want[15];
    for (int64_t i = 0; i < 15; i++) {
      ((double *)arrjit_array_data(in[0]))[i] = (double)(i * i % 7);
      ((double *)arrjit_array_data(in[3]))[i] = (double)i / 4;
    }
    for (int64_t i = 0; i < 15; i++) {
      double yi = 1 + (double)(i % 5), zi = ((double *)arrjit_array_data(in[2]))[i / 5];
      want[i] = (double)(i * i % 7) * yi + (zi * 1.5 - (double)(i % 5 * 3 + i / 5) / 4);
      while (loops && want[i] > 1.5) want[i] -= yi;
    }
    const tk_outcome *o = RUN(f, function, in[0], in[1], in[2], in[3], in[4]);
    tk_expect(o, 0, ARRJIT_F64, 15, want, __FILE__, __LINE__);
    EXPECT_SHAPE(o, 0, 3, 5);
  }
}

/* Host arrays with strides; and lanes of scalars, which are one. */
static void test_strided_inputs_and_scalars(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), s = PARAM(g, "s", F64), a, b, v, out[2];
  for (int scalar = 0; scalar < 2; scalar++) {
    arrjit_map_begin(g, 1, scalar ? &s : &x, &a);
    WHILE(g, &b, a);
    arrjit_while_body(g, arrjit_lt(g, b, f64(g, 10)), &b);
    arrjit_while_end(g, LIST(arrjit_add(g, b, arrjit_max(g, s, f64(g, 1)))), &v);
    arrjit_map_end(g, 1, &v, &out[scalar]);
  }
  RETURN(g, out[0], out[1]);
  double data[20];
  for (int i = 0; i < 20; i++) data[i] = i;
  const int64_t dims[] = {7}, strides[] = {-3 * (int64_t)sizeof(double)};
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, dims);
  arrjit_array *view = NULL;
  assert_int_equal(arrjit_array_wrap(f->context, &type, data + 19, strides, NULL, NULL, &view, NULL), ARRJIT_OK);
  const tk_outcome *o = RUN(f, tk_finish(f, g), tk_keep(f, view), SCALAR(f, F64, 2));
  EXPECT(o, 0, F64, 19, 16, 13, 10, 11, 10, 11);
  EXPECT(o, 1, F64, 10);
  EXPECT_SHAPE(o, 1);
}

/* Every dtype goes in, through a loop and arms, and out. */
static void test_every_dtype(void **state) {
  tk_fixture *f = *state;
  for (arrjit_dtype dtype = ARRJIT_BOOL; arrjit_dtype_bytes(dtype); dtype++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = symbolic(g, "x", dtype), turns = symbolic(g, "turns", ARRJIT_U8), v[2], i, last, kept, picked,
                 out[3];
    arrjit_map_begin(g, LIST(x, turns), v);
    arrjit_value flag = dtype == ARRJIT_BOOL ? v[0] : arrjit_ne(g, v[0], arrjit_const_like(g, v[0], 0));
    FOR(g, i64(g, 0), arrjit_convert(g, v[1], ARRJIT_I64), i64(g, 1), &i, &last, v[0]);
    arrjit_value next = dtype == ARRJIT_BOOL ? arrjit_not(g, last) : arrjit_add(g, last, v[0]);
    arrjit_for_end(g, 1, &next, &kept);
    arrjit_if_begin(g, flag);
    FOR(g, i64(g, 0), i64(g, 2), i64(g, 1), &i, &last, kept);
    arrjit_for_end(g, 1, &last, &last);
    arrjit_if_else(g, 1, &last);
    arrjit_if_end(g, 1, &v[0], &picked);
    arrjit_map_end(g, LIST(kept, picked, flag), out);
    RETURN(g, out[0], out[1], out[2]);
    unsigned char raw[33 * 16], counts[33];
    for (size_t k = 0; k < sizeof raw; k++) raw[k] = dtype == ARRJIT_BOOL ? k % 2 : (unsigned char)(k * 37 % 251);
    for (size_t k = 0; k < sizeof counts; k++) counts[k] = (unsigned char)(k % 5);
    const int64_t dims[] = {33};
    arrjit_array *in = tk_array(f, arrjit_type_make(dtype, 1, dims), raw);
    EXPECT_OK(RUN(f, tk_finish(f, g), in, tk_array(f, TYPE(U8, 33), counts)));
  }
}

/* NaNs keep their bits where they are moved, and are canonical where they are made. */
static void test_bits_of_nans(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), a, i, v[2], loop[2], arm, got[4], out[4];
  arrjit_map_begin(g, 1, &x, &a);
  FOR(g, i64(g, 0), i64(g, 3), i64(g, 1), &i, v, a, a);
  arrjit_for_end(g, LIST(v[1], arrjit_neg(g, v[0])), loop);
  arrjit_if_begin(g, arrjit_ne(g, a, a));
  FOR(g, i64(g, 0), i64(g, 1), i64(g, 1), &i, v, a);
  arrjit_for_end(g, 1, v, v);
  arrjit_if_else(g, LIST(arrjit_sub(g, v[0], v[0])));
  arrjit_if_end(g, 1, &a, &arm);
  got[0] = loop[0], got[1] = loop[1], got[2] = arm;
  got[3] = arrjit_bitcast(g, arrjit_add(g, a, a), ARRJIT_I64);
  arrjit_map_end(g, 4, got, out);
  RETURN(g, out[0], out[1], out[2], out[3]);
  arrjit_array *in = tk_array(f, TYPE(F64, 9), NULL);
  for (uint64_t k = 0; k < 9; k++) ((uint64_t *)arrjit_array_data(in))[k] = UINT64_C(0xfff8000000000001) + (k << 20);
  const tk_outcome *o = RUN(f, tk_finish(f, g), in);
  EXPECT_OK(o);
  for (uint64_t k = 0; k < 9; k++) {
    assert_int_equal(((const int64_t *)(const void *)o->outputs[3].data)[k], 0x7ff8000000000000);
    assert_int_equal(((const uint64_t *)(const void *)o->outputs[0].data)[k], UINT64_C(0x7ff8000000000001) + (k << 20));
  }
}

/* More results than a reduction may have, some of them unused. */
static void test_many_results(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_I32), a, n, v[20], out[20];
  arrjit_map_begin(g, 1, &x, &a);
  WHILE(g, &n, a);
  arrjit_while_body(g, arrjit_gt(g, n, arrjit_const_i32(g, 3)), &n);
  arrjit_while_end(g, LIST(arrjit_sub(g, n, arrjit_const_i32(g, 3))), &v[0]);
  for (int k = 1; k < 20; k++) v[k] = arrjit_add(g, v[k - 1], a);
  arrjit_map_end(g, 20, v, out);
  RETURN(g, out[0], out[2], out[19]);
  const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, I32, 1, 5, 30));
  EXPECT(o, 0, I32, 1, 2, 3);
  EXPECT(o, 1, I32, 3, 12, 63);
  EXPECT(o, 2, I32, 20, 97, 573);
}

/* ---- where maps stand ---- */

/* Adds 1 to each lane until it is at least `to`; a lane above 100 fails. */
static arrjit_value raised_to(arrjit_graph *g, arrjit_value x, arrjit_value to) {
  arrjit_value a, v, b, checked, out;
  arrjit_map_begin(g, 1, &x, &a);
  arrjit_value low = arrjit_le(g, a, f64(g, 100));
  CHECK(g, low, ARRJIT_KIND_RUNTIME, 1, "{0} is too much", LIST(a), &checked, a);
  WHILE(g, &v, checked);
  arrjit_while_body(g, arrjit_lt(g, v, to), &v);
  arrjit_while_end(g, LIST(arrjit_add(g, v, f64(g, 1))), &b);
  arrjit_map_end(g, 1, &b, &out);
  return out;
}

static void test_maps_in_loops_arms_tries_and_functions(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type of[2] = {TYPE(F64, 0), TYPE(F64)}; /* its extent is set below */
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), p[2], i, w, arm, exn, caught, called, flag = PARAM(g, "flag", BOOL);
  of[0].dims[0] = arrjit_symbol(g, "n");
  arrjit_callee callee = arrjit_declare(g, "raise_to", 2, of, 1, of);
  arrjit_define(g, callee, p);
  RETURN(g, raised_to(g, p[0], p[1]));
  FOR(g, i64(g, 0), i64(g, 4), i64(g, 1), &i, &w, x);
  arrjit_for_end(g, LIST(raised_to(g, w, arrjit_convert(g, i, ARRJIT_F64))), &w);
  arrjit_if_begin(g, flag);
  arrjit_if_else(g, LIST(raised_to(g, w, f64(g, 6.5))));
  arrjit_if_end(g, 1, &w, &arm);
  arrjit_try_begin(g);
  arrjit_value sum = raised_to(g, arrjit_mul(g, arm, f64(g, 30)), f64(g, 1));
  arrjit_try_handler(g, 1, &sum, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_type field = TYPE(F64);
  arrjit_value seen = arrjit_exn_field(g, exn, 0, &field, NULL);
  arrjit_try_end(g, LIST(arrjit_mul(g, seen, x)), &caught);
  CALL(g, callee, &called, arm, f64(g, 12));
  RETURN(g, arm, caught, called);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F64, 0.5, 2, -1.5), SCALAR(f, BOOL, 1));
  EXPECT(o, 0, F64, 6.5, 7, 6.5);
  EXPECT(o, 1, F64, 97.5, 390, -292.5);
  EXPECT(o, 2, F64, 12.5, 12, 12.5);
  o = RUN(f, function, ARRAY(f, F64, 0.5, 2, -1.5), SCALAR(f, BOOL, 0));
  EXPECT(o, 0, F64, 3.5, 3, 3.5);
  EXPECT(o, 1, F64, 52.5, 210, -157.5);
  o = RUN(f, function, ARRAY(f, F64, 0.5, 20, 200, 300), SCALAR(f, BOOL, 0));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "200 is too much");
  assert_string_equal(o->path, "check < map lane 2 < for body 0");
}

/* The same values and failure whichever passes run, and after each the verifier is content. */
static arrjit_function *three_maps(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = symbolic(g, "x", ARRJIT_F64), doubled = arrjit_exp(g, x);
  arrjit_value a, v, out;
  arrjit_map_begin(g, 1, &x, &a);
  WHILE(g, &v, arrjit_exp(g, a));
  arrjit_while_body(g, arrjit_lt(g, v, f64(g, 2)), &v);
  arrjit_while_end(g, LIST(arrjit_exp(g, v)), &out);
  arrjit_map_end(g, 1, &out, &out);
  RETURN(g, raised_to(g, doubled, f64(g, 7)), raised_to(g, arrjit_neg(g, doubled), f64(g, 2)), out);
  return tk_finish(f, g);
}

static void test_without_passes(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_VERIFY_PASSES, 1, NULL), ARRJIT_OK);
  for (int64_t off = 0; off < 256; off = off ? off * 2 : 1) {
    assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_PASSES_OFF, off, NULL), ARRJIT_OK);
    arrjit_function *function = three_maps(f);
    EXPECT_OK(RUN(f, function, ramp(f, 11, -5, 0.5)));
    EXPECT_FAILURE(RUN(f, function, ramp(f, 11, -5, 1)), ARRJIT_KIND_RUNTIME, 1, NULL);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_mandelbrot),
    TK_TEST(test_case_b13_only_the_arm_that_is_taken_loops),
    TK_TEST(test_guarded_division),
    TK_TEST(test_nested_loops_and_switch),
    TK_TEST(test_arguments_of_any_layout),
    TK_TEST(test_strided_inputs_and_scalars),
    TK_TEST(test_every_dtype),
    TK_TEST(test_bits_of_nans),
    TK_TEST(test_many_results),
    TK_TEST(test_maps_in_loops_arms_tries_and_functions),
    TK_TEST(test_without_passes),
};

TEST_MAIN(tests, NULL, NULL)
