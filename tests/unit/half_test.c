/* f16 and bf16: conversions against a slow exact reference, in both builds of the loops; reductions and functions
 * against the same in f32. */
#include "arrjit/half.h"
#include "sem_fixture.h"

static const arrjit_dtype halves[] = {ARRJIT_F16, ARRJIT_BF16};
enum { ALL = 1 << 16, CHUNK = 4096 };

static uint32_t count_tables(void) { return aj_loops_here() == &aj_loops_base ? 1 : 2; }
static const aj_loops *get_table(uint32_t t) { return t == 0 ? &aj_loops_base : aj_loops_here(); }
static void convert(arrjit_dtype from, arrjit_dtype to, uint32_t table, size_t n, const void *x, void *out) {
  const void *in[] = {x};
  assert_int_equal(get_table(table)->converts[from][to](n, out, in), n);
}

static void test_every_value_goes_up_and_comes_back(void **state) {
  (void)state;
  static uint16_t x[ALL], back[ALL];
  static float wide[ALL];
  static double wider[ALL];
  for (unsigned i = 0; i < ALL; i++) x[i] = (uint16_t)i;
  for (size_t d = 0; d < TK_COUNT(halves); d++) {
    for (uint32_t t = 0; t < count_tables(); t++) {
      convert(halves[d], ARRJIT_F32, t, ALL, x, wide);
      convert(halves[d], ARRJIT_F64, t, ALL, x, wider);
      convert(ARRJIT_F32, halves[d], t, ALL, wide, back);
      for (unsigned i = 0; i < ALL; i++) {
        double value = tk_half_value(halves[d], x[i]);
        assert_int_equal(f32_bits(wide[i]), f32_bits(f32_canon((float)value)));
        assert_int_equal(f64_bits(wider[i]), f64_bits(f64_canon(value)));
        assert_int_equal(back[i], value == value ? x[i] : tk_half_reference(halves[d], (long double)NAN));
      }
      convert(ARRJIT_F64, halves[d], t, ALL, wider, back);
      for (unsigned i = 0; i < ALL; i++) assert_int_equal(back[i], tk_half_reference(halves[d], (long double)wider[i]));
    }
  }
}

static void check_f32(arrjit_dtype dtype, size_t n, const float *x) {
  static uint16_t got[CHUNK];
  for (uint32_t t = 0; t < count_tables(); t++) {
    convert(ARRJIT_F32, dtype, t, n, x, got);
    for (size_t i = 0; i < n; i++)
      if (got[i] != tk_half_reference(dtype, (long double)x[i]))
        fail_msg("%a to %s: 0x%04x", (double)x[i], aj_dtypes[dtype].name, got[i]);
  }
}

/* Every tie with its two neighbours, then patterns spread over all of f32. */
static void test_f32_is_rounded_to_nearest_even(void **state) {
  (void)state;
  float x[CHUNK];
  for (size_t d = 0; d < TK_COUNT(halves); d++) {
    size_t n = 0;
    for (unsigned h = 0; h < 0x10000; h++) {
      double value = tk_half_value(halves[d], (uint16_t)h), next = tk_half_value(halves[d], (uint16_t)(h + 1));
      if (!isfinite(value)) continue;
      if (isinf(next)) next = 2 * value - tk_half_value(halves[d], (uint16_t)(h - 1));
      uint32_t tie = f32_bits((float)((value + next) / 2));
      x[n++] = f32_of(tie - 1), x[n++] = f32_of(tie), x[n++] = f32_of(tie + 1);
      if (n + 3 > CHUNK) check_f32(halves[d], n, x), n = 0;
    }
    check_f32(halves[d], n, x);
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32;) {
      for (n = 0; n < CHUNK && bits < UINT64_C(1) << 32; bits += 1021) x[n++] = f32_of((uint32_t)bits);
      check_f32(halves[d], n, x);
    }
  }
}

static void check_f64(arrjit_dtype dtype, size_t n, const double *x) {
  static uint16_t got[CHUNK];
  for (uint32_t t = 0; t < count_tables(); t++) {
    convert(ARRJIT_F64, dtype, t, n, x, got);
    for (size_t i = 0; i < n; i++)
      if (got[i] != tk_half_reference(dtype, (long double)x[i]))
        fail_msg("%a to %s: 0x%04x", x[i], aj_dtypes[dtype].name, got[i]);
  }
}

/* Next to a tie by less than f32 can tell: two roundings would go to even. */
static void test_f64_is_rounded_once(void **state) {
  (void)state;
  double x[CHUNK];
  tk_random random = {3};
  for (size_t d = 0; d < TK_COUNT(halves); d++) {
    size_t n = 0;
    for (unsigned h = 0; h < 0x10000; h++) {
      double value = tk_half_value(halves[d], (uint16_t)h), next = tk_half_value(halves[d], (uint16_t)(h + 1));
      if (!isfinite(value) || !isfinite(next)) continue;
      uint64_t tie = f64_bits((value + next) / 2);
      x[n++] = f64_of(tie - 1), x[n++] = f64_of(tie), x[n++] = f64_of(tie + 1);
      if (n + 3 > CHUNK) check_f64(halves[d], n, x), n = 0;
    }
    check_f64(halves[d], n, x);
    for (int round = 0; round < 100; round++) {
      for (n = 0; n < CHUNK; n++) {
        uint64_t bits = tk_next(&random);
        if (round % 2) bits = (bits & UINT64_C(0x80ffffffffffffff)) | (uint64_t)(0x38 + tk_below(&random, 16)) << 56;
        x[n] = f64_of(bits);
      }
      check_f64(halves[d], n, x);
    }
  }
}

static void check_integers(arrjit_dtype from, arrjit_dtype to, size_t n, const uint64_t *x) {
  static char narrow[CHUNK * 8];
  static uint16_t got[CHUNK];
  size_t bytes = aj_dtypes[from].bytes;
  for (size_t i = 0; i < n; i++) memcpy(narrow + i * bytes, &x[i], bytes);
  for (uint32_t t = 0; t < count_tables(); t++) {
    convert(from, to, t, n, narrow, got);
    for (size_t i = 0; i < n; i++) {
      unsigned unused = 64 - aj_dtypes[from].bits;
      int64_t number = (int64_t)(x[i] << unused) >> unused;
      bool sign = aj_dtypes[from].cls == AJ_CLASS_INT;
      uint16_t want = tk_half_reference(to, sign ? (long double)number : (long double)(x[i] << unused >> unused));
      if (got[i] != want)
        fail_msg("%s 0x%llx to %s: 0x%04x", aj_dtypes[from].name, (unsigned long long)x[i], aj_dtypes[to].name, got[i]);
    }
  }
}

/* Ties and their neighbours at every magnitude, both signs: f64 cannot hold those of 64 bits. */
static void test_integers_are_rounded_once(void **state) {
  (void)state;
  uint64_t x[CHUNK];
  for (size_t d = 0; d < TK_COUNT(halves); d++)
    for (arrjit_dtype from = ARRJIT_I8; from <= ARRJIT_U64; from++) {
      size_t n = 0;
      for (unsigned top = 0; top < 64; top++)
        for (unsigned low = 0; low <= top && n + 6 <= CHUNK; low++) {
          uint64_t number = UINT64_C(1) << top | UINT64_C(1) << low;
          for (uint64_t i = 0; i < 3; i++) x[n++] = number + i - 1, x[n++] = 0 - (number + i - 1);
        }
      check_integers(from, halves[d], n, x);
      tk_random random = {from};
      for (n = 0; n < CHUNK; n++) x[n] = tk_next(&random) >> tk_below(&random, 64);
      check_integers(from, halves[d], n, x);
    }
}

static void test_bits_move_with_their_payload(void **state) {
  (void)state;
  for (size_t d = 0; d < TK_COUNT(halves); d++)
    for (unsigned i = 0; i < ALL; i++) {
      uint16_t x = (uint16_t)i, minus = 0x8000, r = 0;
      uint8_t no = 0;
      const void *in[] = {&x, &minus}, *choice[] = {&no, &minus, &x};
      aj_sem_loop(AJ_OP_NEG, halves[d], halves[d])(1, &r, in);
      assert_int_equal(r, x ^ 0x8000);
      aj_sem_loop(AJ_OP_ABS, halves[d], halves[d])(1, &r, in);
      assert_int_equal(r, x & 0x7fff);
      aj_sem_loop(AJ_OP_COPYSIGN, halves[d], halves[d])(1, &r, in);
      assert_int_equal(r, x | 0x8000);
      aj_sem_loop(AJ_OP_SELECT, halves[d], halves[d])(1, &r, choice);
      assert_int_equal(r, x);
      aj_sem_loop(AJ_OP_BITCAST, halves[d], ARRJIT_I16)(1, &r, in);
      assert_int_equal(r, x);
    }
}

/* The op on x, and on x in f32 with the result rounded: the same. `axes` NULL: an elementwise op. */
static void compare_with_f32(sem_fixture *f, aj_op op, arrjit_dtype dtype, int32_t rank, const int64_t *dims,
                             const aj_attr *axes) {
  aj_value *half = sem_param(f, dtype, rank, dims), *wide = sem_param(f, ARRJIT_F32, rank, dims);
  const aj_node *node = sem_node(f, op, 1, &half, axes ? 1 : 0, axes);
  const aj_node *reference = sem_node(f, op, 1, &wide, axes ? 1 : 0, axes);
  aj_view x = sem_array(half->type, f->env, NULL), y = sem_array(wide->type, f->env, NULL), got, want;
  size_t count = (size_t)aj_view_count(&x);
  for (size_t i = 0; i < count; i++) {
    uint16_t bits = (uint16_t)(count == ALL ? i : (i * 7919 + 1) % 0x4000); /* all; or numbers of one sign below 2 */
    memcpy(x.data + 2 * i, &bits, 2);
  }
  convert(dtype, ARRJIT_F32, 0, count, x.data, y.data);
  assert_int_equal(sem_run(f, node, &x, &got), AJ_SEM_OK);
  assert_int_equal(sem_run(f, reference, &y, &want), AJ_SEM_OK);
  if (got.dtype == ARRJIT_I64) {
    assert_memory_equal(got.data, want.data, aj_view_bytes(&want));
  } else {
    uint16_t *rounded = malloc(2 * count);
    convert(ARRJIT_F32, dtype, 0, (size_t)aj_view_count(&want), want.data, rounded);
    assert_memory_equal(got.data, rounded, aj_view_bytes(&got));
    free(rounded);
  }
  free(x.data), free(y.data), free(got.data), free(want.data);
}

static void test_functions_are_those_of_f32_rounded(void **state) {
  (void)state;
  static const aj_op ops[] = {AJ_OP_EXP, AJ_OP_LOG, AJ_OP_TANH, AJ_OP_SIN, AJ_OP_COS};
  const int64_t all = ALL;
  sem_fixture f;
  sem_begin(&f);
  for (size_t d = 0; d < TK_COUNT(halves); d++)
    for (size_t i = 0; i < TK_COUNT(ops); i++) compare_with_f32(&f, ops[i], halves[d], 1, &all, NULL);
  sem_end(&f);
}

static void test_reductions_accumulate_in_f32(void **state) {
  (void)state;
  static const aj_op ops[] = {AJ_OP_REDUCE_SUM, AJ_OP_REDUCE_PROD, AJ_OP_REDUCE_MIN, AJ_OP_REDUCE_MAX, AJ_OP_MEAN};
  const int64_t dims[] = {5, 9001, 3}, axis = 1;
  sem_fixture f;
  sem_begin(&f);
  const aj_attr axes = aj_attr_ints(AJ_ATTR_AXES, 1, &axis), position = aj_attr_int(AJ_ATTR_AXIS, axis);
  for (size_t d = 0; d < TK_COUNT(halves); d++) {
    for (size_t i = 0; i < TK_COUNT(ops); i++)
      for (int32_t rank = 2; rank <= 3; rank++) compare_with_f32(&f, ops[i], halves[d], rank, dims, &axes);
    compare_with_f32(&f, AJ_OP_ARGMIN, halves[d], 3, dims, &position);
    compare_with_f32(&f, AJ_OP_ARGMAX, halves[d], 3, dims, &position);
  }
  sem_end(&f);
}

/* The f32 copies are scratch: refused, they are a failure for lack of memory and leave nothing. */
static void test_widening_without_memory(void **state) {
  (void)state;
  const int64_t dims[] = {40, 50}, axis = 1;
  sem_fixture f;
  sem_begin(&f);
  const aj_attr axes = aj_attr_ints(AJ_ATTR_AXES, 1, &axis);
  aj_value *x = sem_param(&f, ARRJIT_F16, 2, dims);
  const aj_node *node = sem_node(&f, AJ_OP_MEAN, 1, &x, 1, &axes);
  aj_view in = sem_array(x->type, f.env, NULL), out;
  memset(in.data, 0, aj_view_bytes(&in));
  int64_t live = atomic_load(&f.alloc.live_bytes);
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(sem_run(&f, node, &in, &out), AJ_SEM_MEMORY);
  assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
  free(out.data);
  assert_int_equal(sem_run(&f, node, &in, &out), AJ_SEM_OK);
  assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
  for (int64_t i = 0; i < dims[0]; i++) assert_int_equal(((uint16_t *)(void *)out.data)[i], 0);
  free(out.data), free(in.data);
  sem_end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_value_goes_up_and_comes_back),
    cmocka_unit_test(test_f32_is_rounded_to_nearest_even),
    cmocka_unit_test(test_f64_is_rounded_once),
    cmocka_unit_test(test_integers_are_rounded_once),
    cmocka_unit_test(test_bits_move_with_their_payload),
    cmocka_unit_test(test_functions_are_those_of_f32_rounded),
    cmocka_unit_test(test_reductions_accumulate_in_f32),
    cmocka_unit_test(test_widening_without_memory),
};
TEST_MAIN(tests, NULL, NULL)
