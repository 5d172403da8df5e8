/* f16 and bf16: each op rounds, accumulations do not, bits that move stay; the same in every tier. */
#include "fixture.h"
#include "floats.h"

enum { ALL = 1 << 16 };

/* `count` elements that are x. */
static arrjit_array *repeat(tk_fixture *f, arrjit_dtype dtype, int64_t count, double x) {
  size_t width = arrjit_dtype_bytes(dtype);
  char *all = tk_new((size_t)count, width);
  for (size_t i = 0; i < (size_t)count; i++) tk_store_float(dtype, x, all + i * width);
  arrjit_array *array = tk_array(f, arrjit_type_make(dtype, 1, &count), all);
  free(all);
  return array;
}

static double result(const tk_outcome *o, size_t output, arrjit_dtype dtype) {
  EXPECT_OK(o);
  assert_int_equal(o->outputs[output].type.dtype, dtype);
  return tk_load_float(dtype, o->outputs[output].data);
}

static void test_case_b27_each_op_rounds_in_its_own_type(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, arrjit_symbol(g, "n")), a = PARAM(g, "a", I8, 3), b = PARAM(g, "b", I8, 3),
               c = PARAM(g, "c", I8, 3);
  arrjit_value y = arrjit_convert(g, x, ARRJIT_F16);
  RETURN(g, arrjit_convert(g, arrjit_mul(g, y, y), ARRJIT_F32),
         arrjit_convert(g, arrjit_mul(g, a, arrjit_add(g, b, c)), ARRJIT_I32));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F32, 5000, 3, -300, 1e-4f, 2049), ARRAY(f, I8, 6, 6, 6),
                            ARRAY(f, I8, 5, 5, 5), ARRAY(f, I8, 20, 20, 20));
  EXPECT(o, 0, F32, INFINITY, 9, INFINITY, 0, INFINITY);
  EXPECT(o, 1, I32, -106, -106, -106);
  o = RUN(f, function, ARRAY(f, F32, 5000), ARRAY(f, I8, 6, -6, 100), ARRAY(f, I8, 5, 5, 100),
          ARRAY(f, I8, 20, 20, 100));
  EXPECT(o, 0, F32, INFINITY);
  EXPECT(o, 1, I32, -106, 106, 32);
}

/* Three ops in a row against the same by hand, each rounded: fusion may keep nothing wider. */
static void test_chains_round_after_every_op(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_F16, ARRJIT_BF16};
  enum { N = 1000 };
  for (size_t d = 0; d < TK_COUNT(dtypes); d++) {
    uint16_t in[3][N], want[2][N];
    const int64_t n = N;
    arrjit_type type = arrjit_type_make(dtypes[d], 1, &n);
    tk_random random = {5 + d};
    for (size_t i = 0; i < N; i++) {
      double x[3], step;
      uint16_t bits;
      for (int k = 0; k < 3; k++) {
        tk_store_float(dtypes[d], ((double)tk_below(&random, 4001) - 2000) / 37, &in[k][i]);
        x[k] = tk_load_float(dtypes[d], &in[k][i]);
      }
      tk_store_float(dtypes[d], (double)(float)(x[0] * x[1]), &bits);
      step = tk_load_float(dtypes[d], &bits) + x[2];
      tk_store_float(dtypes[d], (double)(float)step, &bits);
      step = tk_load_float(dtypes[d], &bits) - x[0];
      tk_store_float(dtypes[d], (double)(float)step, &want[0][i]);
      /* one f32 operation, rounded to f32, then to the type */
      tk_store_float(dtypes[d], (double)fmaf((float)x[0], (float)x[1], (float)x[2]), &want[1][i]);
    }
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &type), z = arrjit_param(g, "z", &type);
    RETURN(g, arrjit_sub(g, arrjit_add(g, arrjit_mul(g, x, y), z), x), arrjit_fma(g, x, y, z));
    const tk_outcome *o =
        RUN(f, tk_finish(f, g), tk_array(f, type, in[0]), tk_array(f, type, in[1]), tk_array(f, type, in[2]));
    for (size_t k = 0; k < 2; k++) tk_expect(o, k, dtypes[d], N, want[k], __FILE__, __LINE__);
  }
}

static void test_case_b39_sums_and_means_accumulate_in_f32(void **state) {
  tk_fixture *f = *state;
  static const struct {
    arrjit_dtype dtype;
    int64_t count;
    double x, sum;
  } rows[] = {{ARRJIT_F16, 20000, 1, 20000}, {ARRJIT_BF16, 70000, 1, 70144}, {ARRJIT_F16, 1 << 20, 1e-5, 10.5}};
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_type type = {.dtype = rows[i].dtype, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
    arrjit_value x = arrjit_param(g, "x", &type);
    RETURN(g, arrjit_reduce_sum(g, x, 1, I64S(0)), arrjit_mean(g, x, 1, I64S(0)));
    const tk_outcome *o = RUN(f, tk_finish(f, g), repeat(f, rows[i].dtype, rows[i].count, rows[i].x));
    uint16_t element;
    tk_store_float(rows[i].dtype, rows[i].x, &element);
    assert_true(result(o, 0, rows[i].dtype) == rows[i].sum);
    assert_true(result(o, 1, rows[i].dtype) == tk_load_float(rows[i].dtype, &element));
  }
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, arrjit_symbol(g, "n"));
  RETURN(g, arrjit_reduce_sum(g, x, 1, I64S(0)));
  const tk_outcome *o = RUN(f, tk_finish(f, g), repeat(f, ARRJIT_F32, 1000000, (double)0.1f));
  assert_true(fabs(result(o, 0, ARRJIT_F32) - 100000) <= 1);
  g = tk_graph(f);
  arrjit_value ones = PARAM(g, "x", F16, 5000);
  RETURN(g, arrjit_slice(g, arrjit_cumsum(g, ones, 0, 0), 1, I64S(4999), I64S(5000), I64S(1)));
  o = RUN(f, tk_finish(f, g), repeat(f, ARRJIT_F16, 5000, 1));
  assert_true(result(o, 0, ARRJIT_F16) == 5000);
}

/* Ones and threes: their number, the sum of their squares and that of the exponentials are no f16. */
static void test_statistics_are_computed_in_f32(void **state) {
  tk_fixture *f = *state;
  enum { N = 70000 };
  static const arrjit_dtype dtypes[] = {ARRJIT_F16, ARRJIT_BF16};
  f->may_fall_back = true;
  for (size_t d = 0; d < TK_COUNT(dtypes); d++) {
    static uint16_t data[N];
    for (size_t i = 0; i < N; i++) data[i] = tk_half_reference(dtypes[d], i % 2 ? 3 : 1);
    arrjit_graph *g = tk_graph(f);
    arrjit_type type = {.dtype = dtypes[d], .rank = 1, .dims = {arrjit_symbol(g, "n")}};
    arrjit_value x = arrjit_param(g, "x", &type), zeros = arrjit_sub(g, x, x);
    RETURN(g, arrjit_variance(g, x, 0, INTS(0)), arrjit_norm(g, x, 2, INTS(0)), arrjit_softmax(g, zeros, INTS(0)),
           arrjit_log_softmax(g, zeros, INTS(0)), arrjit_logsumexp(g, zeros, INTS(0)));
    const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, arrjit_type_make(dtypes[d], 1, I64S(N)), data));
    const double want[] = {1, sqrt(5.0 * N), 1.0 / N, -log(N), log(N)};
    for (size_t i = 0; i < TK_COUNT(want); i++) {
      const tk_block *got = &o->outputs[i];
      assert_true(got->type.dtype == dtypes[d]);
      assert_int_equal(*(const uint16_t *)(const void *)got->data, tk_half_reference(dtypes[d], (long double)want[i]));
    }
  }
}

/* 4096 ones stick at 2048 in f16 and at 256 in bf16. */
static void test_dot_accumulates_in_f32(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_F16, ARRJIT_BF16};
  for (size_t d = 0; d < TK_COUNT(dtypes); d++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_type row = arrjit_type_make(dtypes[d], 1, I64S(4096)),
                matrix = arrjit_type_make(dtypes[d], 2, I64S(4096, 17));
    arrjit_value x = arrjit_param(g, "x", &row), y = arrjit_param(g, "y", &row);
    arrjit_value wide = arrjit_full(g, arrjit_const_like(g, x, 1), 2, matrix.dims);
    RETURN(g, arrjit_dot(g, x, y, 0, NULL, NULL, 1, I64S(0), I64S(0)),
           arrjit_dot(g, x, wide, 0, NULL, NULL, 1, I64S(0), I64S(0)));
    f->may_fall_back = true;
    arrjit_array *ones = repeat(f, dtypes[d], 4096, 1);
    const tk_outcome *o = RUN(f, tk_finish(f, g), ones, ones);
    assert_true(result(o, 0, dtypes[d]) == 4096);
    assert_true(result(o, 1, dtypes[d]) == 4096);
  }
}

/* Sums of ones in f32, each rounded when it leaves; a combiner of the host rounds at every step, as its ops do. */
static void test_case_b40_prefixes_accumulate_in_f32(void **state) {
  tk_fixture *f = *state;
  enum { N = 3000 };
  static const struct {
    arrjit_dtype dtype;
    unsigned sticks; /* 1 more rounds to it again */
  } rows[] = {{ARRJIT_F16, 2048}, {ARRJIT_BF16, 256}};
  for (size_t d = 0; d < TK_COUNT(rows); d++) {
    arrjit_dtype dtype = rows[d].dtype;
    arrjit_type type = arrjit_type_make(dtype, 1, I64S(N));
    static uint16_t up[N], down[N], ones[N], stuck[N];
    for (unsigned i = 0; i < N; i++) {
      up[i] = down[N - 1 - i] = tk_half_reference(dtype, i + 1);
      ones[i] = tk_half_reference(dtype, 1);
      stuck[i] = tk_half_reference(dtype, i < rows[d].sticks ? i + 1 : rows[d].sticks);
    }
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = arrjit_param(g, "x", &type), column = arrjit_reshape(g, x, 2, I64S(N, 1)), a, b, out;
    arrjit_cumulative_begin(g, 1, &column, 0, 0, &a, &b);
    arrjit_cumulative_end(g, LIST(arrjit_add(g, a, b)), &out);
    RETURN(g, arrjit_cumsum(g, x, 0, 0), arrjit_cumsum(g, column, 0, 1), arrjit_cumprod(g, x, 0, 0),
           arrjit_cummax(g, column, 0, 0), out);
    const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, type, ones));
    const uint16_t *want[] = {up, down, ones, ones, stuck};
    for (size_t k = 0; k < TK_COUNT(want); k++) tk_expect(o, k, dtype, N, want[k], __FILE__, __LINE__);
  }
}

/* Additions one by one: of a combiner down a column, of updates scattered to one place. */
static void test_combiners_and_updates_round_at_every_step(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_F16, ARRJIT_BF16};
  enum { N = 128 };
  f->may_fall_back = true;
  for (size_t d = 0; d < TK_COUNT(dtypes); d++) {
    arrjit_type type = arrjit_type_make(dtypes[d], 1, I64S(N));
    uint16_t in[N], sum = 0;
    for (size_t i = 0; i < N; i++) {
      tk_store_float(dtypes[d], 1.3, &in[i]);
      tk_store_float(dtypes[d], tk_load_float(dtypes[d], &sum) + tk_load_float(dtypes[d], &in[i]), &sum);
    }
    static const int64_t places[N];
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = arrjit_param(g, "x", &type), at = PARAM(g, "at", I64, N, 1), a, b, out;
    arrjit_value column = arrjit_reshape(g, x, 2, I64S(N, 1)), start = arrjit_const_like(g, x, 0);
    arrjit_reduce_begin(g, 1, &column, &start, 1, I64S(0), &a, &b);
    arrjit_reduce_end(g, LIST(arrjit_add(g, a, b)), &out);
    arrjit_value one = arrjit_full(g, start, 1, I64S(1));
    RETURN(g, out, arrjit_scatter_add(g, one, at, x, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1),
           arrjit_full(g, arrjit_reduce_sum(g, x, 1, I64S(0)), 1, I64S(1)));
    const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, type, in), tk_array(f, TYPE(I64, N, 1), places));
    tk_expect(o, 0, dtypes[d], 1, &sum, __FILE__, __LINE__);
    tk_expect(o, 1, dtypes[d], 1, &sum, __FILE__, __LINE__);
    assert_memory_not_equal(o->outputs[2].data, &sum, sizeof sum); /* the sum of f32, rounded once */
  }
}

/* By value, NaNs last with the bits they came with. */
static void test_sorting_is_by_value_and_keeps_bits(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F16, arrjit_symbol(g, "n")), y = PARAM(g, "y", BF16, 4);
  RETURN(g, arrjit_sort(g, x, 0, 0), arrjit_argsort(g, x, 0, 1), arrjit_searchsorted(g, arrjit_sort(g, y, 0, 0), y, 0));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, F16, 0xfe01, 0x3c00, 0xbc00, 0x8000, 0, 0x7d55, 0xfc00, 0x7bff, 0x0001),
          ARRAY(f, BF16, 0x3f80, 0xff80, 0xbf80, 0x7fff));
  EXPECT(o, 0, F16, 0xfc00, 0xbc00, 0x8000, 0, 0x0001, 0x3c00, 0x7bff, 0xfe01, 0x7d55);
  EXPECT(o, 1, I64, 7, 1, 8, 3, 4, 2, 6, 0, 5);
  EXPECT(o, 2, I64, 2, 0, 1, 3);
}

/* Of every value: the neighbours that the numbers of the bits have, and what reads a value only. */
static void test_neighbours_and_kinds_of_all_values(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_F16, ARRJIT_BF16};
  static uint16_t all[ALL], up[ALL], same[ALL], size[ALL];
  static uint8_t nan[ALL], finite[ALL];
  for (size_t d = 0; d < TK_COUNT(dtypes); d++) {
    arrjit_type type = arrjit_type_make(dtypes[d], 1, I64S(ALL));
    const uint16_t infinity = tk_half_reference(dtypes[d], (long double)INFINITY),
                   quiet = tk_half_reference(dtypes[d], (long double)NAN);
    for (unsigned i = 0; i < ALL; i++) {
      all[i] = (uint16_t)i;
      nan[i] = (i & 0x7fff) > infinity, finite[i] = (i & 0x7fff) < infinity;
      same[i] = nan[i] ? quiet : all[i], size[i] = nan[i] ? quiet : i & 0x7fff;
      up[i] = nan[i] ? quiet : size[i] == 0 ? 1 : all[i] == infinity ? infinity : i < 0x8000 ? all[i] + 1 : all[i] - 1;
    }
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = arrjit_param(g, "x", &type);
    arrjit_value top = arrjit_convert(g, arrjit_const_f64(g, INFINITY), dtypes[d]);
    RETURN(g, arrjit_nextafter(g, x, top), arrjit_is_nan(g, x), arrjit_is_finite(g, x), arrjit_fmin(g, x, x),
           arrjit_hypot(g, x, arrjit_const_like(g, x, 0)), arrjit_pow(g, x, arrjit_const_like(g, x, 1)));
    const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, type, all));
    tk_expect(o, 0, dtypes[d], ALL, up, __FILE__, __LINE__);
    tk_expect(o, 1, ARRJIT_BOOL, ALL, nan, __FILE__, __LINE__);
    tk_expect(o, 2, ARRJIT_BOOL, ALL, finite, __FILE__, __LINE__);
    tk_expect(o, 3, dtypes[d], ALL, same, __FILE__, __LINE__);
    tk_expect(o, 4, dtypes[d], ALL, size, __FILE__, __LINE__);
    tk_expect(o, 5, dtypes[d], ALL, same, __FILE__, __LINE__);
  }
}

/* Every value, and every f32 next to a tie between two of them. */
static void test_conversions_are_the_same_in_every_tier(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_F16, ARRJIT_BF16};
  static const arrjit_dtype targets[] = {ARRJIT_F32, ARRJIT_F64, ARRJIT_F16, ARRJIT_BF16,
                                         ARRJIT_I8,  ARRJIT_U64, ARRJIT_I32, ARRJIT_BOOL};
  static uint16_t all[ALL], canonical[ALL];
  static float near[3 * ALL];
  for (size_t d = 0; d < TK_COUNT(dtypes); d++) {
    arrjit_type type = arrjit_type_make(dtypes[d], 1, I64S(ALL)), wide = arrjit_type_make(ARRJIT_F32, 1, I64S(3 * ALL));
    for (unsigned i = 0; i < ALL; i++) {
      double value = tk_half_value(dtypes[d], (uint16_t)i), next = tk_half_value(dtypes[d], (uint16_t)(i + 1));
      float tie = (float)((value + next) / 2);
      all[i] = (uint16_t)i;
      canonical[i] = value == value ? all[i] : tk_half_reference(dtypes[d], (long double)NAN);
      near[3 * i] = nextafterf(tie, -INFINITY), near[3 * i + 1] = tie, near[3 * i + 2] = nextafterf(tie, INFINITY);
    }
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = arrjit_param(g, "x", &type), y = arrjit_param(g, "y", &wide), out[TK_COUNT(targets) + 4];
    for (size_t i = 0; i < TK_COUNT(targets); i++) out[i] = arrjit_convert(g, x, targets[i]);
    arrjit_value *more = out + TK_COUNT(targets);
    more[0] = arrjit_convert(g, arrjit_convert(g, x, ARRJIT_F32), dtypes[d]);
    more[1] = arrjit_convert(g, y, dtypes[d]);
    more[2] = arrjit_convert(g, arrjit_convert(g, y, ARRJIT_F64), dtypes[d]);
    more[3] = arrjit_neg(g, x);
    arrjit_return(g, TK_COUNT(out), out, NULL);
    const tk_outcome *o = RUN(f, tk_finish(f, g), tk_array(f, type, all), tk_array(f, wide, near));
    tk_expect(o, TK_COUNT(targets), dtypes[d], ALL, canonical, __FILE__, __LINE__);
    static uint16_t want[3 * ALL];
    for (size_t i = 0; i < TK_COUNT(near); i++) want[i] = tk_half_reference(dtypes[d], (long double)near[i]);
    tk_expect(o, TK_COUNT(targets) + 1, dtypes[d], TK_COUNT(want), want, __FILE__, __LINE__);
    tk_expect(o, TK_COUNT(targets) + 2, dtypes[d], TK_COUNT(want), want, __FILE__, __LINE__);
    for (size_t i = 0; i < ALL; i++) want[i] = all[i] ^ 0x8000;
    tk_expect(o, TK_COUNT(targets) + 3, dtypes[d], ALL, want, __FILE__, __LINE__);
  }
}

static void test_checked_convert_fails_where_a_number_becomes_infinite(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, arrjit_symbol(g, "n")), y = PARAM(g, "y", F64, arrjit_symbol(g, "m"));
  RETURN(g, arrjit_checked_convert(g, x, ARRJIT_F16), arrjit_checked_convert(g, y, ARRJIT_BF16));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o =
      RUN(f, function, ARRAY(f, I32, 65519, -65519, 1), ARRAY(f, F64, INFINITY, NAN, 1e-300, 3.39e38));
  EXPECT(o, 0, F16, 0x7bff, 0xfbff, 0x3c00);
  EXPECT(o, 1, BF16, 0x7f80, 0x7fc0, 0, 0x7f7f);
  o = RUN(f, function, ARRAY(f, I32, 1, 65520), ARRAY(f, F64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, "result out of range at lane 1");
  o = RUN(f, function, ARRAY(f, I32, 1), ARRAY(f, F64, 1, 2, 3.4e38));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, "result out of range at lane 2");
}

/* Constants, loops, arms, maps, payloads and messages carry 16-bit floats as any element. */
static void test_control_flow_and_failures_carry_them(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F16, 4), limit = PARAM(g, "limit", BF16), index, v[1], lane[1], sum, total;
  arrjit_map_begin(g, LIST(x), lane);
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 5), arrjit_const_i64(g, 1), &index, v, lane[0]);
  arrjit_value next = arrjit_mul(g, v[0], arrjit_const_like(g, v[0], 1.1));
  arrjit_for_end(g, 1, &next, v);
  arrjit_map_end(g, LIST(v[0]), &sum);
  total = arrjit_convert(g, arrjit_reduce_sum(g, sum, 1, I64S(0)), ARRJIT_BF16);
  arrjit_if_begin(g, arrjit_lt(g, total, limit));
  arrjit_if_else(g, 1, &total);
  RAISE(g, ARRJIT_KIND_RUNTIME, 7, "{0} is not below {1}", total, limit);
  arrjit_if_end(g, 0, NULL, &total);
  RETURN(g, sum, total);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F16, 0x3c00, 0x4000, 0, 0xbc00), SCALAR(f, BF16, 0x42c8));
  EXPECT(o, 0, F16, 0x3e6e, 0x426e, 0, 0xbe6e); /* as NumPy 1.24 */
  EXPECT(o, 1, BF16, 0x404e);
  o = RUN(f, function, ARRAY(f, F16, 0x3c00, 0x4000, 0, 0xbc00), SCALAR(f, BF16, 0x3f80));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 7, "3.22 is not below 1");
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b27_each_op_rounds_in_its_own_type),
    TK_TEST(test_chains_round_after_every_op),
    TK_TEST(test_case_b39_sums_and_means_accumulate_in_f32),
    TK_TEST(test_statistics_are_computed_in_f32),
    TK_TEST(test_dot_accumulates_in_f32),
    TK_TEST(test_case_b40_prefixes_accumulate_in_f32),
    TK_TEST(test_combiners_and_updates_round_at_every_step),
    TK_TEST(test_sorting_is_by_value_and_keeps_bits),
    TK_TEST(test_neighbours_and_kinds_of_all_values),
    TK_TEST(test_conversions_are_the_same_in_every_tier),
    TK_TEST(test_checked_convert_fails_where_a_number_becomes_infinite),
    TK_TEST(test_control_flow_and_failures_carry_them),
};
TEST_MAIN(tests, NULL, NULL)
