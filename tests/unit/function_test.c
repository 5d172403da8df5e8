/* exp, log, tanh, sin, cos: errors measured against long double, special values of C17 Annex F, the same bits whatever
 * runs the expansion. */
#include "sem_fixture.h"

/* Points of each range and function: 2^16, or 2^ARRJIT_FUNCTION_POINTS; 32 takes in every f32. */
static uint64_t points = 1u << 16;
static const struct {
  const char *name;
  aj_op op;
  long double (*reference)(long double);
} functions[] = {
    {"exp", AJ_OP_EXP, expl}, {"log", AJ_OP_LOG, logl}, {"tanh", AJ_OP_TANH, tanhl},
    {"sin", AJ_OP_SIN, sinl}, {"cos", AJ_OP_COS, cosl},
};

static void run_function(sem_fixture *f, aj_op op, arrjit_dtype dtype, const void *x, void *y, size_t n) {
  const aj_program *program = aj_sem_cache_get(f->cache, op, dtype);
  assert_non_null(program);
  void *scratch = malloc(aj_program_scratch_bytes(program));
  size_t bytes = aj_dtypes[dtype].bytes;
  for (size_t i = 0; i < n; i += AJ_BLOCK) {
    size_t lanes = n - i < AJ_BLOCK ? n - i : AJ_BLOCK;
    const void *params[] = {(const char *)x + i * bytes};
    void *results[] = {(char *)y + i * bytes};
    assert_int_equal(aj_program_run(program, lanes, params, results, scratch, NULL, NULL), lanes);
  }
  free(scratch);
}

/* Distance of y from the reference in units of the last place of the reference's binade. */
static double error_in_ulp(long double y, long double reference, int mantissa, int least_exponent, int top_exponent) {
  int e;
  if (y != y || reference != reference) return (y != y) == (reference != reference) ? 0 : 1e9;
  if (y == reference) return 0;
  long double limit =
      ldexpl(2 - ldexpl(1, -mantissa), top_exponent - 1); /* from here on the format rounds to infinity */
  if (isinf(y) && fabsl(reference) >= limit && (y > 0) == (reference > 0)) return 0;
  if (isinf(y) || isinf(reference)) return 1e9;
  frexpl(reference, &e);
  if (e < least_exponent) e = least_exponent;
  if (e > top_exponent) e = top_exponent;
  return (double)fabsl(ldexpl(y - reference, mantissa - e));
}

enum { CHUNK = 1 << 16 };
static void check_f32(sem_fixture *f, size_t k, const float *x, double *worst) {
  static float y[CHUNK];
  run_function(f, functions[k].op, ARRJIT_F32, x, y, CHUNK);
  for (size_t i = 0; i < CHUNK; i++) {
    double error = error_in_ulp((long double)y[i], functions[k].reference((long double)x[i]), 24, -125, 128);
    if (error > 1.0) fail_msg("%s(%a) = %a: %.3f ulp", functions[k].name, (double)x[i], (double)y[i], error);
    if (y[i] != y[i]) assert_int_equal(f32_bits(y[i]), 0x7fc00000u);
    *worst = error > *worst ? error : *worst;
  }
}

static void check_f64(sem_fixture *f, size_t k, const double *x, double *worst) {
  static double y[CHUNK];
  run_function(f, functions[k].op, ARRJIT_F64, x, y, CHUNK);
  for (size_t i = 0; i < CHUNK; i++) {
    /* long double has 11 bits more: its own error is below 0.001 ulp */
    double error = error_in_ulp((long double)y[i], functions[k].reference((long double)x[i]), 53, -1021, 1024);
    if (error > 1.0) fail_msg("%s(%a) = %a: %.3f ulp", functions[k].name, x[i], y[i], error);
    if (y[i] != y[i]) assert_true(f64_bits(y[i]) == 0x7ff8000000000000u);
    *worst = error > *worst ? error : *worst;
  }
}

static void report(size_t k, const char *dtype, const double *worst) {
  print_message("%s %s: %.4f ulp on all patterns, %.4f in [-750, 750] (f32: [-110, 110]), %.4f in [-1, 2]\n",
                functions[k].name, dtype, worst[0], worst[1], worst[2]);
}

static void test_f32_functions_are_within_one_ulp(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  float *x = tk_new(CHUNK, sizeof *x);
  tk_random random = {11};
  uint64_t stride = ((uint64_t)1 << 32) / points;
  for (size_t k = 0; k < TK_COUNT(functions); k++) {
    double worst[3] = {0};
    for (uint64_t at = 0; at < points; at += CHUNK) {
      /* evenly over all bit patterns, then where the function is neither flat nor infinite */
      for (uint64_t i = 0; i < CHUNK; i++) x[i] = f32_of((uint32_t)((at + i) * stride + tk_below(&random, stride)));
      check_f32(&f, k, x, &worst[0]);
      for (uint64_t i = 0; i < CHUNK; i++) x[i] = (float)((double)tk_below(&random, 1u << 30) * 0x1p-30 * 220 - 110);
      check_f32(&f, k, x, &worst[1]);
      for (uint64_t i = 0; i < CHUNK; i++) x[i] = (float)((double)tk_below(&random, 1u << 30) * 0x1p-30 * 3 - 1);
      check_f32(&f, k, x, &worst[2]);
    }
    report(k, "f32", worst);
  }
  free(x);
  sem_end(&f);
}

static void test_f64_functions_are_within_one_ulp(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  double *x = tk_new(CHUNK, sizeof *x);
  tk_random random = {12};
  for (size_t k = 0; k < TK_COUNT(functions); k++) {
    double worst[3] = {0};
    for (uint64_t at = 0; at < points; at += CHUNK) {
      for (uint32_t i = 0; i < CHUNK; i++) x[i] = f64_of(tk_next(&random));
      check_f64(&f, k, x, &worst[0]);
      for (uint32_t i = 0; i < CHUNK; i++) x[i] = (double)(tk_next(&random) >> 11) * 0x1p-53 * 1500 - 750;
      check_f64(&f, k, x, &worst[1]);
      for (uint32_t i = 0; i < CHUNK; i++) x[i] = (double)(tk_next(&random) >> 11) * 0x1p-53 * 3 - 1;
      check_f64(&f, k, x, &worst[2]);
    }
    report(k, "f64", worst);
  }
  free(x);
  sem_end(&f);
}

#define INF INFINITY
/* C17 F.10; the sign of zero counts. */
static const struct {
  aj_op op;
  double x, y;
} specials[] = {
    {AJ_OP_EXP, 0.0, 1},      {AJ_OP_EXP, -0.0, 1},   {AJ_OP_EXP, -INF, 0.0},   {AJ_OP_EXP, INF, INF},
    {AJ_OP_EXP, NAN, NAN},    {AJ_OP_EXP, 1e30, INF}, {AJ_OP_EXP, -1e30, 0.0},  {AJ_OP_LOG, 0.0, -INF},
    {AJ_OP_LOG, -0.0, -INF},  {AJ_OP_LOG, 1, 0.0},    {AJ_OP_LOG, -1, NAN},     {AJ_OP_LOG, -INF, NAN},
    {AJ_OP_LOG, INF, INF},    {AJ_OP_LOG, NAN, NAN},  {AJ_OP_LOG, -1e-40, NAN}, {AJ_OP_TANH, 0.0, 0.0},
    {AJ_OP_TANH, -0.0, -0.0}, {AJ_OP_TANH, INF, 1},   {AJ_OP_TANH, -INF, -1},   {AJ_OP_TANH, NAN, NAN},
    {AJ_OP_TANH, 50, 1},      {AJ_OP_TANH, -50, -1},  {AJ_OP_SIN, 0.0, 0.0},    {AJ_OP_SIN, -0.0, -0.0},
    {AJ_OP_SIN, INF, NAN},    {AJ_OP_SIN, -INF, NAN}, {AJ_OP_SIN, NAN, NAN},    {AJ_OP_COS, 0.0, 1},
    {AJ_OP_COS, -0.0, 1},     {AJ_OP_COS, INF, NAN},  {AJ_OP_COS, -INF, NAN},   {AJ_OP_COS, NAN, NAN},
};

static void test_special_values_are_those_of_annex_f(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  for (size_t i = 0; i < TK_COUNT(specials); i++) {
    double x = specials[i].x, y;
    float xf = (float)x, yf;
    run_function(&f, specials[i].op, ARRJIT_F64, &x, &y, 1);
    run_function(&f, specials[i].op, ARRJIT_F32, &xf, &yf, 1);
    if (f64_bits(y) != f64_bits(f64_canon(specials[i].y)) || f32_bits(yf) != f32_bits(f32_canon((float)specials[i].y)))
      fail_msg("%s(%a) = %a, f32 %a", aj_ops[specials[i].op].name, x, y, (double)yf);
  }
  /* NaN of either sign and any payload comes out canonical */
  for (size_t k = 0; k < TK_COUNT(functions); k++) {
    const uint32_t odd[] = {0xffc00000u, 0x7f800001u, 0xffffffffu, 0x7fc12345u};
    uint32_t y[4];
    run_function(&f, functions[k].op, ARRJIT_F32, odd, y, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(y[i], 0x7fc00000u);
    const uint64_t wide[] = {0xfff8000000000000u, 0x7ff0000000000001u};
    uint64_t z[2];
    run_function(&f, functions[k].op, ARRJIT_F64, wide, z, 2);
    for (int i = 0; i < 2; i++) assert_true(z[i] == 0x7ff8000000000000u);
  }
  sem_end(&f);
}

static void test_results_at_the_edges_of_the_range(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  static const struct {
    float x, y;
  } single[] = {
      {0x1.62e42ep6f, 0x1.ffff08p127f}, {0x1.62e430p6f, INFINITY}, {-0x1.9fe368p6f, 0x1p-149f}, {-0x1.9fe36ap6f, 0}};
  static const struct {
    double x, y;
  } twofold[] = {{0x1.62e42fefa39fp9, INFINITY}, {-0x1.74910d52d3051p9, 0x1p-1074}, {-0x1.74910d52d3052p9, 0}};
  for (size_t i = 0; i < TK_COUNT(single); i++) {
    float y;
    run_function(&f, AJ_OP_EXP, ARRJIT_F32, &single[i].x, &y, 1);
    if (i == 0)
      assert_true(y < INFINITY);
    else
      assert_int_equal(f32_bits(y), f32_bits(single[i].y));
  }
  for (size_t i = 0; i < TK_COUNT(twofold); i++) {
    double y;
    run_function(&f, AJ_OP_EXP, ARRJIT_F64, &twofold[i].x, &y, 1);
    assert_true(f64_bits(y) == f64_bits(twofold[i].y));
  }
  sem_end(&f);
}

/* The same function over whole arrays, where constants are broadcast. */
static void test_array_expansion_gives_the_same_bits(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  enum { N = 1500 };
  static const int64_t dims[] = {N};
  static double x[N], want[N];
  tk_random random = {5};
  for (int i = 0; i < N; i++) sem_random(&random, ARRJIT_F64, &x[i]);
  for (size_t k = 0; k < TK_COUNT(functions); k++) {
    aj_value *param = sem_param(&f, ARRJIT_F64, 1, dims);
    const aj_node *node = sem_node(&f, functions[k].op, 1, &param, 0, NULL);
    uint32_t first = f.b.region->node_count;
    aj_value *result = aj_sem_expand(&f.b, node);
    assert_non_null(result);
    run_function(&f, functions[k].op, ARRJIT_F64, x, want, N);
    /* node by node; views are packed, so every value is a dense array */
    aj_view *values = tk_new(f.b.region->node_count + 1, sizeof *values), out;
    aj_view in = sem_array(param->type, f.env, x);
    for (uint32_t i = first; i < f.b.region->node_count; i++) {
      const aj_node *step = f.b.region->nodes[i];
      aj_view operands[3];
      for (uint32_t o = 0; o < step->operand_count; o++) {
        operands[o] = in;
        for (uint32_t j = first; j < i; j++)
          if (step->operands[o]->def == f.b.region->nodes[j]) operands[o] = values[j];
      }
      if (aj_ops[step->op].routine == AJ_ROUTINE_VIEW) {
        assert_true(aj_sem_view(step, f.env, &operands[0], &out, &f.fail));
        values[i] = sem_array(step->results[0].type, f.env, NULL);
        aj_view_pack(values[i].data, &out);
      } else {
        assert_int_equal(sem_run(&f, step, operands, &values[i]), AJ_SEM_OK);
      }
    }
    assert_memory_equal(values[result->def == NULL ? 0 : f.b.region->node_count - 1].data, want, sizeof want);
    for (uint32_t i = first; i < f.b.region->node_count; i++) free(values[i].data);
    free(values);
    free(in.data);
  }
  sem_end(&f);
}

/* mean of an array whose extents are known only when it runs. */
static void test_mean_divides_by_the_number_of_elements(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  int64_t dims[] = {3, 5}, axis = 1;
  float data[15], want[3];
  for (int i = 0; i < 15; i++) data[i] = (float)i * 0.3f;
  const aj_attr axes = aj_attr_ints(AJ_ATTR_AXES, 1, &axis);
  aj_value *x = sem_param(&f, ARRJIT_F32, 2, dims);
  const aj_node *mean = sem_node(&f, AJ_OP_MEAN, 1, &x, 1, &axes),
                *sum = sem_node(&f, AJ_OP_REDUCE_SUM, 1, &x, 1, &axes);
  aj_view in = sem_array(x->type, f.env, data), out, sums;
  assert_int_equal(sem_run(&f, mean, &in, &out), AJ_SEM_OK);
  assert_int_equal(sem_run(&f, sum, &in, &sums), AJ_SEM_OK);
  for (int i = 0; i < 3; i++) want[i] = ((float *)(void *)sums.data)[i] / 5;
  assert_memory_equal(out.data, want, sizeof want);
  free(out.data);
  free(sums.data);
  free(in.data);
  dims[1] = aj_symbol_named(f.b.func, "n");
  f.env[aj_dim_symbol(dims[1])] = 5;
  x = sem_param(&f, ARRJIT_F32, 2, dims);
  mean = sem_node(&f, AJ_OP_MEAN, 1, &x, 1, &axes);
  uint32_t before = f.b.region->node_count;
  aj_value *value = aj_sem_expand(&f.b, mean);
  if (value == NULL) fail_msg("%s", f.b.error.message);
  bool asks = false;
  for (uint32_t i = before; i < f.b.region->node_count; i++) asks = asks || f.b.region->nodes[i]->op == AJ_OP_DIM_SIZE;
  assert_true(asks);
  assert_int_equal(value->def->op, AJ_OP_DIV);
  sem_end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_f32_functions_are_within_one_ulp),
    cmocka_unit_test(test_f64_functions_are_within_one_ulp),
    cmocka_unit_test(test_special_values_are_those_of_annex_f),
    cmocka_unit_test(test_results_at_the_edges_of_the_range),
    cmocka_unit_test(test_array_expansion_gives_the_same_bits),
    cmocka_unit_test(test_mean_divides_by_the_number_of_elements),
};

static int read_points(void **state) {
  (void)state;
  const char *log2 = getenv("ARRJIT_FUNCTION_POINTS");
  int n = log2 ? atoi(log2) : 16;
  points = (uint64_t)1 << (n < 16 ? 16 : n > 32 ? 32 : n);
  return 0;
}
TEST_MAIN(tests, read_points, NULL)
