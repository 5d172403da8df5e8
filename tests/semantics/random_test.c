/* Random numbers: known answers of others, the same in every mode, and distributions that are what they say. Keys are
 * fixed, so all of this either always holds or never. */
#include <math.h>

#include "fixture.h"

#define U32S(...) ((const uint32_t[]){__VA_ARGS__})

static arrjit_value key_of(arrjit_graph *g, int64_t seed) { return arrjit_random_key(g, arrjit_const_i64(g, seed)); }

static const void *data_of(const tk_outcome *o, size_t output) {
  EXPECT_OK(o);
  return o->outputs[output].data;
}

/* ---- known answers ---- */

/* What Random123's kat_vectors has for threefry2x32 of 20 rounds: zeros, ones, digits of pi. */
static void test_threefry_has_its_known_answers(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value key = PARAM(g, "key", U32, 2), x = PARAM(g, "x", U32, 1), y = PARAM(g, "y", U32), out[2];
  arrjit_threefry2x32(g, key, VALUES_(x, y), out);
  RETURN(g, out[0], out[1]);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, U32, 0, 0), ARRAY(f, U32, 0), SCALAR(f, U32, 0));
  EXPECT(o, 0, U32, 0x6b200159);
  EXPECT(o, 1, U32, 0x99ba4efe);
  o = RUN(f, function, ARRAY(f, U32, ~0u, ~0u), ARRAY(f, U32, ~0u), SCALAR(f, U32, ~0u));
  EXPECT(o, 0, U32, 0x1cb996fc);
  EXPECT(o, 1, U32, 0xbb002be7);
  o = RUN(f, function, ARRAY(f, U32, 0x13198a2e, 0x03707344), ARRAY(f, U32, 0x243f6a88), SCALAR(f, U32, 0x85a308d3));
  EXPECT(o, 0, U32, 0xc4923a9c);
  EXPECT(o, 1, U32, 0x483df7a0);
}

/* The same for philox4x32 of 10 rounds, the three of them at once with the key of each. */
static void test_philox_has_its_known_answers(void **state) {
  tk_fixture *f = *state;
  static const uint32_t cases[3][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                        {0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344,
                                         0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  arrjit_graph *g = tk_graph(f);
  arrjit_value key = PARAM(g, "key", U32, 2), a = PARAM(g, "a", U32), b = PARAM(g, "b", U32), c = PARAM(g, "c", U32);
  arrjit_value d = PARAM(g, "d", U32, 3), out[4];
  arrjit_philox4x32(g, key, VALUES_(a, b, c, d), out);
  RETURN(g, out[0], out[1], out[2], out[3]);
  arrjit_function *function = tk_finish(f, g);
  for (int i = 0; i < 3; i++) {
    const uint32_t *t = cases[i];
    const tk_outcome *o = RUN(f, function, ARRAY(f, U32, t[0], t[1]), SCALAR(f, U32, t[2]), SCALAR(f, U32, t[3]),
                              SCALAR(f, U32, t[4]), ARRAY(f, U32, t[5], t[5], t[5]));
    for (size_t word = 0; word < 4; word++) EXPECT(o, word, U32, t[6 + word], t[6 + word], t[6 + word]);
  }
}

/* jax.random of JAX 0.10.2 with jax_enable_x64: PRNGKey, split(key, 3), fold_in(PRNGKey(42), 99 and 1234). */
static void test_keys_are_those_of_jax(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value seed = PARAM(g, "seed", I64), data = PARAM(g, "data", I64), small = PARAM(g, "small", I8);
  arrjit_value key = arrjit_random_key(g, seed);
  RETURN(g, key, arrjit_random_split(g, key, 3), arrjit_random_fold_in(g, key, data), arrjit_random_key(g, small));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 1701), SCALAR(f, I64, 0), SCALAR(f, I8, -1));
  EXPECT(o, 0, U32, 0, 1701);
  EXPECT(o, 1, U32, 741045208, 1847055613, 85238482, 2594297577, 56197195, 961309823);
  EXPECT_SHAPE(o, 1, 3, 2);
  EXPECT(o, 2, U32, 741045208, 1847055613);
  EXPECT(o, 3, U32, ~0u, ~0u);
  o = RUN(f, function, SCALAR(f, I64, 999999999999), SCALAR(f, I64, 0), SCALAR(f, I8, 5));
  EXPECT(o, 0, U32, 232, 3567587327);
  EXPECT(o, 3, U32, 0, 5);
  o = RUN(f, function, SCALAR(f, I64, 42), SCALAR(f, I64, 99), SCALAR(f, I8, 0));
  EXPECT(o, 2, U32, 2015327502, 1351855566);
  o = RUN(f, function, SCALAR(f, I64, 42), SCALAR(f, I64, (INT64_C(7) << 32) + 1234), SCALAR(f, I8, 0));
  EXPECT(o, 2, U32, 1356445167, 2917756949);
}

/* jax.random.bits(PRNGKey(1701), (2, 3), dtype) of the same. */
static void test_bits_are_those_of_jax(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value key = key_of(g, 1701);
  RETURN(g, arrjit_random_bits(g, key, ARRJIT_U8, 2, I64S(2, 3)), arrjit_random_bits(g, key, ARRJIT_U16, 2, I64S(2, 3)),
         arrjit_random_bits(g, key, ARRJIT_U32, 2, I64S(2, 3)), arrjit_random_bits(g, key, ARRJIT_U64, 2, I64S(2, 3)));
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT(o, 0, U8, 37, 59, 52, 178, 111, 60);
  EXPECT(o, 1, U16, 42789, 29755, 60468, 48050, 8815, 25916);
  EXPECT(o, 2, U32, 1111271205, 2679469115, 974515252, 521976754, 2127438447, 4120601916);
  EXPECT(o, 3, U64, 3182764935064573181u, 366096495144982249u, 241365115613244543u, 3982329540505020460u,
         17180525131011940091u, 14047641688775088780u);
}

/* Nx.Random.split of key(1701) by its documentation: the counters 0 .. 3, halves of which make a block. */
static void test_blocks_give_the_keys_of_nx(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value at = arrjit_iota(g, ARRJIT_U32, 1, I64S(2), 0);
  arrjit_value two = (arrjit_const)(g, (const arrjit_type[]){TYPE(U32)}, U32S(2)), x[] = {at, arrjit_add(g, at, two)};
  arrjit_threefry2x32(g, key_of(g, 1701), x, x);
  RETURN(g, x[0], x[1]);
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT(o, 0, U32, 56197195, 1801093307);
  EXPECT(o, 1, U32, 961309823, 1704866707);
}

/* ---- shapes ---- */

static arrjit_function *draws_of_n(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  const int64_t n = arrjit_symbol(g, "n"), dims[] = {2, n, 3};
  const arrjit_type type = arrjit_type_make(ARRJIT_U8, 1, &n);
  arrjit_value x = arrjit_param(g, "x", &type), key = key_of(g, 1701), zero = arrjit_const_i32(g, 0);
  RETURN(g, arrjit_random_bits(g, key, ARRJIT_U32, 1, &n), arrjit_random_bits(g, key, ARRJIT_U32, 3, dims),
         arrjit_random_split(g, key, n), arrjit_random_normal(g, key, ARRJIT_F32, 1, &n),
         arrjit_random_integers(g, key, zero, arrjit_const_i32(g, 6), 1, &n), x);
  return tk_finish(f, g);
}

/* A symbolic extent draws what the number would, and a shorter draw begins a longer one. */
static void test_extents_may_be_symbols(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = draws_of_n(f);
  const tk_outcome *o = RUN(f, function, ARRAY(f, U8, 0, 0, 0, 0));
  EXPECT(o, 0, U32, 1111271205, 2679469115, 974515252, 521976754);
  EXPECT_SHAPE(o, 1, 2, 4, 3);
  o = RUN(f, function, ARRAY(f, U8, 0));
  EXPECT(o, 0, U32, 1111271205);
  EXPECT(o, 1, U32, 1111271205, 2679469115, 974515252, 521976754, 2127438447, 4120601916);
  EXPECT(o, 2, U32, 741045208, 1847055613);
  o = RUN(f, function, tk_array(f, TYPE(U8, 0), NULL));
  EXPECT_SHAPE(o, 1, 2, 0, 3);
  EXPECT_SHAPE(o, 4, 0);
}

/* What comes of the bits is computed with them: no array of bits, nor one of a round, is ever made. */
static void test_draws_fuse(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  for (int i = 0; i < 4; i++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value key = PARAM(g, "key", U32, 2), c = arrjit_iota(g, ARRJIT_U32, 1, I64S(1000), 0), out[4];
    if (i == 3) arrjit_philox4x32(g, key, VALUES_(c, c, c, c), out);
    RETURN(g, i == 0   ? arrjit_random_bits(g, key, ARRJIT_U32, 1, I64S(1000))
              : i == 1 ? arrjit_random_normal(g, key, ARRJIT_F32, 2, I64S(100, 10))
              : i == 2 ? arrjit_random_uniform(g, key, ARRJIT_F64, 3, I64S(10, 10, 10))
                       : out[0]);
    arrjit_function *function = tk_finish(f, g);
    EXPECT_OK(RUN(f, function, ARRAY(f, U32, 1, 2)));
    arrjit_function_statistics s;
    arrjit_function_get_statistics(function, &s);
    assert_int_equal(s.kernels, 3); /* the two words of the key, and the draw */
    assert_int_equal(s.fallback_nodes, 0);
  }
}

/* ---- floats ---- */

enum { MANY = 20000 };

typedef struct moments {
  double mean, variance, least, largest;
} moments;

static moments measure(const tk_outcome *o, size_t output) {
  moments m = {0, 0, INFINITY, -INFINITY};
  const float *x = data_of(o, output);
  for (int i = 0; i < MANY; i++) {
    m.mean += (double)x[i] / MANY;
    m.least = fmin(m.least, (double)x[i]);
    m.largest = fmax(m.largest, (double)x[i]);
  }
  for (int i = 0; i < MANY; i++) m.variance += ((double)x[i] - m.mean) * ((double)x[i] - m.mean) / MANY;
  return m;
}

/* The squared distance of counts from what was expected, in units of its variance. */
static double chi_square(const int *counts, const double *chances, int bins) {
  double sum = 0;
  for (int i = 0; i < bins; i++) {
    const double want = chances[i] * MANY;
    sum += (counts[i] - want) * (counts[i] - want) / want;
  }
  return sum;
}

static arrjit_value as_f32(arrjit_graph *g, arrjit_value x) { return arrjit_convert(g, x, ARRJIT_F32); }

static const arrjit_dtype floats[] = {ARRJIT_F32, ARRJIT_F16, ARRJIT_BF16, ARRJIT_F64};

static void test_uniform_numbers_are_top_bits(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value key = key_of(g, 1701);
  RETURN(g, arrjit_random_uniform(g, key, ARRJIT_F32, 1, I64S(2)),
         arrjit_random_uniform(g, key, ARRJIT_F64, 1, I64S(2)),
         as_f32(g, arrjit_random_uniform(g, key, ARRJIT_F16, 1, I64S(2))),
         as_f32(g, arrjit_random_uniform(g, key, ARRJIT_BF16, 1, I64S(2))));
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  EXPECT(o, 0, F32, (1111271205 >> 8) * 0x1p-24f, (float)(2679469115u >> 8) * 0x1p-24f);
  EXPECT(o, 1, F64, (double)(3182764935064573181u >> 11) * 0x1p-53, (double)(366096495144982249u >> 11) * 0x1p-53);
  EXPECT(o, 2, F32, (1111271205 >> 21) * 0x1p-11f, (float)(2679469115u >> 21) * 0x1p-11f);
  EXPECT(o, 3, F32, (1111271205 >> 24) * 0x1p-8f, (float)(2679469115u >> 24) * 0x1p-8f);
}

static void test_floats_are_distributed_as_they_say(void **state) {
  tk_fixture *f = *state;
  for (int d = 0; d < 4; d++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value keys = arrjit_random_split(g, key_of(g, 12), 3), key[3];
    for (int i = 0; i < 3; i++)
      key[i] =
          (arrjit_squeeze)(ARRJIT_AT_(g), arrjit_slice(g, keys, 2, I64S(i, 0), I64S(i + 1, 2), I64S(1, 1)), INTS(0));
    RETURN(g, as_f32(g, arrjit_random_uniform(g, key[0], floats[d], 1, I64S(MANY))),
           as_f32(g, arrjit_random_normal(g, key[1], floats[d], 1, I64S(MANY))),
           as_f32(g, arrjit_random_gumbel(g, key[2], floats[d], 1, I64S(MANY))));
    const tk_outcome *o = RUN(f, tk_finish(f, g));
    /* bounds: 5 standard errors of the mean, as much for variances, half a step of bf16's lattice more */
    const moments u = measure(o, 0), n = measure(o, 1), e = measure(o, 2);
    assert_true(fabs(u.mean - 0.5) < 0.0125 && fabs(u.variance - 1.0 / 12) < 0.004);
    assert_true(u.least >= 0 && (u.largest < 1 || floats[d] == ARRJIT_F64));
    assert_true(fabs(n.mean) < 0.036 && fabs(n.variance - 1) < 0.05 && n.least > -5.5 && n.largest < 5.5);
    assert_true(fabs(e.mean - 0.5772156649) < 0.046 && fabs(e.variance - 1.6449340668) < 0.13);
    assert_true(isfinite(e.least) && isfinite(e.largest));
  }
}

/* Equal parts of [0, 1), and of the normal distribution what lies between -1, 0 and 1. */
static void test_floats_fill_their_bins(void **state) {
  tk_fixture *f = *state;
  const double flat[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  const double tail = erfc(sqrt(0.5)) / 2, bell[] = {tail, 0.5 - tail, 0.5 - tail, tail};
  arrjit_graph *g = tk_graph(f);
  RETURN(g, arrjit_random_uniform(g, key_of(g, 1), ARRJIT_F32, 1, I64S(MANY)),
         arrjit_random_normal(g, key_of(g, 2), ARRJIT_F32, 2, I64S(MANY / 10, 10)));
  const tk_outcome *o = RUN(f, tk_finish(f, g));
  int tenths[10] = {0}, parts[4] = {0};
  const float *u = data_of(o, 0), *n = data_of(o, 1);
  for (int i = 0; i < MANY; i++) {
    tenths[(int)(u[i] * 10)]++;
    parts[(n[i] > -1) + (n[i] > 0) + (n[i] > 1)]++;
  }
  assert_true(chi_square(tenths, flat, 10) < 27.9); /* 1 in 1000 of 9 degrees of freedom */
  assert_true(chi_square(parts, bell, 4) < 16.3);   /* of 3 */
}

/* Wherever rounding would give hi, and where there is no range. */
static void test_uniform_numbers_of_a_range(void **state) {
  tk_fixture *f = *state;
  for (int d = 0; d < 4; d++) {
    arrjit_graph *g = tk_graph(f);
    const arrjit_type type = arrjit_type_make(floats[d], 1, I64S(4));
    arrjit_value lo = arrjit_convert(g, PARAM(g, "lo", F64, 4), floats[d]);
    arrjit_value hi = arrjit_convert(g, PARAM(g, "hi", F64, 4), floats[d]);
    arrjit_value x = arrjit_random_uniform_in(g, key_of(g, 5), lo, hi, 2, I64S(MANY / 4, 4));
    assert_int_equal(arrjit_value_type(x).dtype, type.dtype);
    RETURN(g, arrjit_convert(g, x, ARRJIT_F64), arrjit_convert(g, lo, ARRJIT_F64), arrjit_convert(g, hi, ARRJIT_F64));
    const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F64, -3, 1, 2, 5), ARRAY(f, F64, 5, 1.0078125, 2, -5));
    const double *at = data_of(o, 0), *from = data_of(o, 1), *to = data_of(o, 2);
    for (int i = 0; i < MANY; i++) {
      const double a = from[i % 4], b = to[i % 4];
      assert_true(a < b ? at[i] >= a && at[i] < b : at[i] == a);
    }
  }
}

/* ---- integers ---- */

/* A remainder would give the lowest third of 3 * 2^30 twice as often as the others. */
static void test_integers_are_without_bias(void **state) {
  tk_fixture *f = *state;
  const double thirds[] = {1 / 3.0, 1 / 3.0, 1 / 3.0},
               sixths[] = {1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0, 1 / 6.0};
  arrjit_graph *g = tk_graph(f);
  arrjit_value lo = PARAM(g, "lo", U32), hi = PARAM(g, "hi", U32), far = PARAM(g, "far", U64);
  arrjit_value none = arrjit_convert(g, lo, ARRJIT_U64), one = arrjit_const_i32(g, 1), seven = arrjit_const_i32(g, 7);
  RETURN(g, arrjit_random_integers(g, key_of(g, 3), lo, hi, 1, I64S(MANY)),
         arrjit_random_integers(g, key_of(g, 4), none, far, 1, I64S(MANY)),
         arrjit_random_integers(g, key_of(g, 5), one, seven, 2, I64S(MANY / 2, 2)));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), SCALAR(f, U32, 0), SCALAR(f, U32, 3u << 30), SCALAR(f, U64, 3ull << 62));
  const uint32_t *x = data_of(o, 0);
  const uint64_t *y = data_of(o, 1);
  const int32_t *z = data_of(o, 2);
  int a[3] = {0}, b[3] = {0}, c[6] = {0};
  for (int i = 0; i < MANY; i++) {
    assert_true(x[i] >> 30 < 3 && y[i] >> 62 < 3 && z[i] >= 1 && z[i] < 7);
    a[x[i] >> 30]++;
    b[y[i] >> 62]++;
    c[z[i] - 1]++;
  }
  assert_true(chi_square(a, thirds, 3) < 13.8); /* 1 in 1000 */
  assert_true(chi_square(b, thirds, 3) < 13.8);
  assert_true(chi_square(c, sixths, 6) < 20.5);
}

static void test_integers_of_edge_ranges(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value lo = PARAM(g, "lo", I64, 4), hi = PARAM(g, "hi", I64, 4), key = key_of(g, 9);
  arrjit_value low = PARAM(g, "low", I8), high = PARAM(g, "high", I8);
  RETURN(g, arrjit_random_integers(g, key, lo, hi, 2, I64S(50, 4)),
         arrjit_random_integers(g, key, low, high, 1, I64S(1000)), arrjit_random_integers(g, key, low, high, 0, NULL));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *from = ARRAY(f, I64, 7, 0, INT64_MIN, -3);
  const tk_outcome *o = RUN(f, function, from, ARRAY(f, I64, 8, INT64_C(1) << 32, INT64_MAX, -1), SCALAR(f, I8, -128),
                            SCALAR(f, I8, 127));
  const int64_t *x = data_of(o, 0);
  bool negative = false, positive = false;
  for (int i = 0; i < 200; i += 4) {
    assert_true(x[i] == 7 && x[i + 1] >> 32 == 0 && x[i + 2] < INT64_MAX && (x[i + 3] == -3 || x[i + 3] == -2));
    negative |= x[i + 2] < 0;
    positive |= x[i + 2] > 0;
  }
  assert_true(negative && positive);
  const int8_t *y = data_of(o, 1);
  for (int i = 0; i < 1000; i++) assert_true(y[i] < 127);
  o = RUN(f, function, from, ARRAY(f, I64, 8, 1, 1, -3), SCALAR(f, I8, 0), SCALAR(f, I8, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "random_integers: lo is not below hi");
  o = RUN(f, function, from, ARRAY(f, I64, 8, 1, 1, 1), SCALAR(f, I8, 0), SCALAR(f, I8, -1));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "random_integers: lo is not below hi");
}

/* ---- choices ---- */

static void test_bernoulli_and_categorical(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true; /* argmax */
  const double chances[] = {0.5, 0.25, 0.25};
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", F32, 4), logits = PARAM(g, "logits", F32, 4);
  arrjit_value rows = arrjit_broadcast(g, logits, 2, I64S(MANY, 4), 1, I64S(1));
  RETURN(g, arrjit_random_bernoulli(g, key_of(g, 1), p, 2, I64S(MANY, 4)),
         arrjit_random_categorical(g, key_of(g, 2), rows, 1));
  const tk_outcome *o =
      RUN(f, tk_finish(f, g), ARRAY(f, F32, 0, 1, NAN, 0.25f), ARRAY(f, F32, logf(2), 0, -INFINITY, 0));
  const uint8_t *coin = data_of(o, 0);
  const int64_t *at = data_of(o, 1);
  int heads = 0, counts[3] = {0};
  for (int i = 0; i < MANY; i++) {
    assert_true(!coin[4 * i] && coin[4 * i + 1] && !coin[4 * i + 2] && at[i] >= 0 && at[i] < 4 && at[i] != 2);
    heads += coin[4 * i + 3];
    counts[at[i] == 3 ? 2 : at[i]]++;
  }
  assert_true(abs(heads - MANY / 4) < 300); /* 5 standard deviations */
  assert_true(chi_square(counts, chances, 3) < 13.8);
}

static void test_permutations_and_shuffles(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true; /* sorting, take */
  arrjit_graph *g = tk_graph(f);
  const int64_t n = arrjit_symbol(g, "n"), dims[] = {n, 2};
  const arrjit_type type = arrjit_type_make(ARRJIT_I64, 2, dims);
  arrjit_value x = arrjit_param(g, "x", &type), key = key_of(g, 8);
  arrjit_value order = arrjit_random_permutation(g, key, 300);
  RETURN(g, order, arrjit_sort(g, order, 0, 0), arrjit_random_shuffle(g, key, x, 0),
         arrjit_random_permutation(g, key, n));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, SHAPED(f, TYPE(I64, 3, 2), I64, 0, 10, 1, 11, 2, 12));
  const int64_t *shuffled = data_of(o, 0), *sorted = data_of(o, 1), *rows = data_of(o, 2), *three = data_of(o, 3);
  int moved = 0;
  for (int i = 0; i < 300; i++) {
    assert_int_equal(sorted[i], i);
    moved += shuffled[i] != i;
  }
  assert_true(moved > 280);
  for (int i = 0; i < 3; i++) assert_true(rows[2 * i] == three[i] && rows[2 * i + 1] == three[i] + 10);
  o = RUN(f, function, tk_array(f, TYPE(I64, 0, 2), NULL));
  EXPECT_SHAPE(o, 3, 0);
}

/* All orders of four come as often. */
static void test_permutations_are_even(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value vars[1], index, out[1], key = key_of(g, 77);
  arrjit_value none = arrjit_full(g, arrjit_const_i64(g, 0), 1, I64S(24)), weights = CONST(g, I64, 6, 2, 1, 0);
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 2400), arrjit_const_i64(g, 1), &index, vars, none);
  arrjit_value order = arrjit_random_permutation(g, arrjit_random_fold_in(g, key, index), 4);
  /* the number of an order: how many smaller ones come after each */
  arrjit_value row = arrjit_expand_dims(g, order, 1), column = arrjit_expand_dims(g, order, 0);
  arrjit_value after = arrjit_not(g, arrjit_tri(g, 4, 4, 0));
  arrjit_value less = arrjit_convert(g, arrjit_and(g, arrjit_gt(g, row, column), after), ARRJIT_I64);
  arrjit_value number = arrjit_reduce_sum(g, arrjit_mul(g, (arrjit_reduce_sum)(ARRJIT_AT_(g), less, INTS(1)), weights),
                                          ARRJIT_ALL_AXES, NULL);
  arrjit_value hit = arrjit_one_hot(g, number, 24, 0, ARRJIT_I64);
  arrjit_for_end(g, 1, VALUES_(arrjit_add(g, vars[0], hit)), out);
  RETURN(g, out[0]);
  const int64_t *counts = data_of(RUN(f, tk_finish(f, g)), 0);
  double sum = 0;
  for (int i = 0; i < 24; i++) sum += (double)((counts[i] - 100) * (counts[i] - 100)) / 100;
  assert_true(sum < 49.7); /* 1 in 1000 of 23 degrees of freedom */
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_threefry_has_its_known_answers),
    TK_TEST(test_philox_has_its_known_answers),
    TK_TEST(test_keys_are_those_of_jax),
    TK_TEST(test_bits_are_those_of_jax),
    TK_TEST(test_blocks_give_the_keys_of_nx),
    TK_TEST(test_extents_may_be_symbols),
    TK_TEST(test_draws_fuse),
    TK_TEST(test_uniform_numbers_are_top_bits),
    TK_TEST(test_floats_are_distributed_as_they_say),
    TK_TEST(test_floats_fill_their_bins),
    TK_TEST(test_uniform_numbers_of_a_range),
    TK_TEST(test_integers_are_without_bias),
    TK_TEST(test_integers_of_edge_ranges),
    TK_TEST(test_bernoulli_and_categorical),
    TK_TEST(test_permutations_and_shuffles),
    TK_TEST(test_permutations_are_even),
};

TEST_MAIN(tests, NULL, NULL)
