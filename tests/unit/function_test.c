/* Functions: special values of C17 Annex F, edges of the range, the same bits whatever runs the expansion. (Errors are
 * measured by arrjit-ulp.) */
#include "sem_apply.h"
#include "sem_fixture.h"

static bool is_function(aj_op op) {
  return aj_ops[op].routine == AJ_ROUTINE_EXPAND && (aj_ops[op].flags & AJ_F_ELEMENTWISE) &&
         (aj_ops[op].dtypes & AJ_D_FLOAT);
}

#define INF INFINITY
#define PI 0x1.921fb54442d18p1
typedef struct special {
  aj_op op;
  double x, y; /* f(x) = y */
} special;
/* C17 F.10 and what is exact; the sign of zero counts. */
static const special specials[] = {
    {AJ_OP_EXP, 0.0, 1},
    {AJ_OP_EXP, -0.0, 1},
    {AJ_OP_EXP, -INF, 0.0},
    {AJ_OP_EXP, INF, INF},
    {AJ_OP_EXP, NAN, NAN},
    {AJ_OP_EXP, 1e30, INF},
    {AJ_OP_EXP, -1e30, 0.0},
    {AJ_OP_LOG, 0.0, -INF},
    {AJ_OP_LOG, -0.0, -INF},
    {AJ_OP_LOG, 1, 0.0},
    {AJ_OP_LOG, -1, NAN},
    {AJ_OP_LOG, -INF, NAN},
    {AJ_OP_LOG, INF, INF},
    {AJ_OP_LOG, NAN, NAN},
    {AJ_OP_LOG, -1e-40, NAN},
    {AJ_OP_TANH, 0.0, 0.0},
    {AJ_OP_TANH, -0.0, -0.0},
    {AJ_OP_TANH, NAN, NAN},
    {AJ_OP_TANH, INF, 1},
    {AJ_OP_TANH, -INF, -1},
    {AJ_OP_TANH, 50, 1},
    {AJ_OP_TANH, -50, -1},
    {AJ_OP_SIN, 0.0, 0.0},
    {AJ_OP_SIN, -0.0, -0.0},
    {AJ_OP_SIN, NAN, NAN},
    {AJ_OP_SIN, INF, NAN},
    {AJ_OP_SIN, -INF, NAN},
    {AJ_OP_COS, 0.0, 1},
    {AJ_OP_COS, -0.0, 1},
    {AJ_OP_COS, INF, NAN},
    {AJ_OP_COS, -INF, NAN},
    {AJ_OP_COS, NAN, NAN},
    {AJ_OP_EXP2, 0.0, 1},
    {AJ_OP_EXP2, -0.0, 1},
    {AJ_OP_EXP2, -INF, 0.0},
    {AJ_OP_EXP2, INF, INF},
    {AJ_OP_EXP2, NAN, NAN},
    {AJ_OP_EXP2, 3, 8},
    {AJ_OP_EXP2, -140, 0x1p-140},
    {AJ_OP_EXP2, 1e30, INF},
    {AJ_OP_EXP2, -1e30, 0.0},
    {AJ_OP_EXP10, 0.0, 1},
    {AJ_OP_EXP10, -0.0, 1},
    {AJ_OP_EXP10, -INF, 0.0},
    {AJ_OP_EXP10, INF, INF},
    {AJ_OP_EXP10, NAN, NAN},
    {AJ_OP_EXP10, 2, 100},
    {AJ_OP_EXP10, 10, 1e10},
    {AJ_OP_EXP10, 1e30, INF},
    {AJ_OP_EXPM1, 0.0, 0.0},
    {AJ_OP_EXPM1, -0.0, -0.0},
    {AJ_OP_EXPM1, NAN, NAN},
    {AJ_OP_EXPM1, INF, INF},
    {AJ_OP_EXPM1, -INF, -1},
    {AJ_OP_EXPM1, 1e30, INF},
    {AJ_OP_EXPM1, -1e30, -1},
    {AJ_OP_LOG2, 0.0, -INF},
    {AJ_OP_LOG2, -0.0, -INF},
    {AJ_OP_LOG2, 1, 0.0},
    {AJ_OP_LOG2, 8, 3},
    {AJ_OP_LOG2, 0x1p-149, -149},
    {AJ_OP_LOG2, -1, NAN},
    {AJ_OP_LOG2, -INF, NAN},
    {AJ_OP_LOG2, INF, INF},
    {AJ_OP_LOG2, NAN, NAN},
    {AJ_OP_LOG10, 0.0, -INF},
    {AJ_OP_LOG10, -0.0, -INF},
    {AJ_OP_LOG10, 1, 0.0},
    {AJ_OP_LOG10, 1000, 3},
    {AJ_OP_LOG10, 1e10, 10},
    {AJ_OP_LOG10, -1, NAN},
    {AJ_OP_LOG10, -INF, NAN},
    {AJ_OP_LOG10, INF, INF},
    {AJ_OP_LOG10, NAN, NAN},
    {AJ_OP_LOG1P, 0.0, 0.0},
    {AJ_OP_LOG1P, -0.0, -0.0},
    {AJ_OP_LOG1P, NAN, NAN},
    {AJ_OP_LOG1P, -1, -INF},
    {AJ_OP_LOG1P, -2, NAN},
    {AJ_OP_LOG1P, -INF, NAN},
    {AJ_OP_LOG1P, INF, INF},
    {AJ_OP_TAN, 0.0, 0.0},
    {AJ_OP_TAN, -0.0, -0.0},
    {AJ_OP_TAN, NAN, NAN},
    {AJ_OP_TAN, INF, NAN},
    {AJ_OP_TAN, -INF, NAN},
    {AJ_OP_ASIN, 0.0, 0.0},
    {AJ_OP_ASIN, -0.0, -0.0},
    {AJ_OP_ASIN, NAN, NAN},
    {AJ_OP_ASIN, 1, PI / 2},
    {AJ_OP_ASIN, -1, -PI / 2},
    {AJ_OP_ASIN, 1.5, NAN},
    {AJ_OP_ASIN, -INF, NAN},
    {AJ_OP_ASIN, INF, NAN},
    {AJ_OP_ACOS, 1, 0.0},
    {AJ_OP_ACOS, -1, PI},
    {AJ_OP_ACOS, 0.0, PI / 2},
    {AJ_OP_ACOS, -0.0, PI / 2},
    {AJ_OP_ACOS, 1.5, NAN},
    {AJ_OP_ACOS, -INF, NAN},
    {AJ_OP_ACOS, INF, NAN},
    {AJ_OP_ACOS, NAN, NAN},
    {AJ_OP_ATAN, 0.0, 0.0},
    {AJ_OP_ATAN, -0.0, -0.0},
    {AJ_OP_ATAN, NAN, NAN},
    {AJ_OP_ATAN, INF, PI / 2},
    {AJ_OP_ATAN, -INF, -PI / 2},
    {AJ_OP_ATAN, 1, PI / 4},
    {AJ_OP_ATAN, 1e30, PI / 2},
    {AJ_OP_SINH, 0.0, 0.0},
    {AJ_OP_SINH, -0.0, -0.0},
    {AJ_OP_SINH, NAN, NAN},
    {AJ_OP_SINH, INF, INF},
    {AJ_OP_SINH, -INF, -INF},
    {AJ_OP_SINH, 1e30, INF},
    {AJ_OP_COSH, 0.0, 1},
    {AJ_OP_COSH, -0.0, 1},
    {AJ_OP_COSH, INF, INF},
    {AJ_OP_COSH, -INF, INF},
    {AJ_OP_COSH, NAN, NAN},
    {AJ_OP_COSH, -1e30, INF},
    {AJ_OP_ASINH, 0.0, 0.0},
    {AJ_OP_ASINH, -0.0, -0.0},
    {AJ_OP_ASINH, NAN, NAN},
    {AJ_OP_ASINH, INF, INF},
    {AJ_OP_ASINH, -INF, -INF},
    {AJ_OP_ACOSH, 1, 0.0},
    {AJ_OP_ACOSH, 0.5, NAN},
    {AJ_OP_ACOSH, -INF, NAN},
    {AJ_OP_ACOSH, INF, INF},
    {AJ_OP_ACOSH, NAN, NAN},
    {AJ_OP_ATANH, 0.0, 0.0},
    {AJ_OP_ATANH, -0.0, -0.0},
    {AJ_OP_ATANH, NAN, NAN},
    {AJ_OP_ATANH, 1, INF},
    {AJ_OP_ATANH, -1, -INF},
    {AJ_OP_ATANH, 1.5, NAN},
    {AJ_OP_ATANH, -INF, NAN},
    {AJ_OP_CBRT, 0.0, 0.0},
    {AJ_OP_CBRT, -0.0, -0.0},
    {AJ_OP_CBRT, NAN, NAN},
    {AJ_OP_CBRT, INF, INF},
    {AJ_OP_CBRT, -INF, -INF},
    {AJ_OP_CBRT, -27, -3},
    {AJ_OP_CBRT, 0x1p-147, 0x1p-49},
    {AJ_OP_RSQRT, 0.0, INF},
    {AJ_OP_RSQRT, -0.0, -INF},
    {AJ_OP_RSQRT, 4, 0.5},
    {AJ_OP_RSQRT, INF, 0.0},
    {AJ_OP_RSQRT, -1, NAN},
    {AJ_OP_RSQRT, -INF, NAN},
    {AJ_OP_RSQRT, NAN, NAN},
    {AJ_OP_RSQRT, 0x1p-148, 0x1p74},
    {AJ_OP_LOGISTIC, 0.0, 0.5},
    {AJ_OP_LOGISTIC, -0.0, 0.5},
    {AJ_OP_LOGISTIC, INF, 1},
    {AJ_OP_LOGISTIC, -INF, 0.0},
    {AJ_OP_LOGISTIC, NAN, NAN},
    {AJ_OP_LOGISTIC, 1e30, 1},
    {AJ_OP_ERF, 0.0, 0.0},
    {AJ_OP_ERF, -0.0, -0.0},
    {AJ_OP_ERF, NAN, NAN},
    {AJ_OP_ERF, INF, 1},
    {AJ_OP_ERF, -INF, -1},
    {AJ_OP_ERF, 30, 1},
    {AJ_OP_ERF_INV, 0.0, 0.0},
    {AJ_OP_ERF_INV, -0.0, -0.0},
    {AJ_OP_ERF_INV, NAN, NAN},
    {AJ_OP_ERF_INV, 1, INF},
    {AJ_OP_ERF_INV, -1, -INF},
    {AJ_OP_ERF_INV, 1.5, NAN},
    {AJ_OP_ERF_INV, -INF, NAN},
    {AJ_OP_TGAMMA, 0.0, INF},
    {AJ_OP_TGAMMA, -0.0, -INF},
    {AJ_OP_TGAMMA, 1, 1},
    {AJ_OP_TGAMMA, 5, 24},
    {AJ_OP_TGAMMA, 11, 3628800},
    {AJ_OP_TGAMMA, -1, NAN},
    {AJ_OP_TGAMMA, -1e30, NAN},
    {AJ_OP_TGAMMA, 1e30, INF},
    {AJ_OP_TGAMMA, -200.5, -0.0},
    {AJ_OP_TGAMMA, -201.5, 0.0},
    {AJ_OP_TGAMMA, 0x1p-120, 0x1p120},
    {AJ_OP_TGAMMA, -0x1p-120, -0x1p120},
    {AJ_OP_TGAMMA, INF, INF},
    {AJ_OP_TGAMMA, -INF, NAN},
    {AJ_OP_TGAMMA, NAN, NAN},
    {AJ_OP_LGAMMA, 0.0, INF},
    {AJ_OP_LGAMMA, -0.0, INF},
    {AJ_OP_LGAMMA, 1, 0.0},
    {AJ_OP_LGAMMA, 2, 0.0},
    {AJ_OP_LGAMMA, -1, INF},
    {AJ_OP_LGAMMA, -1e30, INF},
    {AJ_OP_LGAMMA, INF, INF},
    {AJ_OP_LGAMMA, -INF, INF},
    {AJ_OP_LGAMMA, NAN, NAN},
    {AJ_OP_DIGAMMA, 0.0, -INF},
    {AJ_OP_DIGAMMA, -0.0, INF},
    {AJ_OP_DIGAMMA, -3, NAN},
    {AJ_OP_DIGAMMA, -1e30, NAN},
    {AJ_OP_DIGAMMA, 0x1p-120, -0x1p120},
    {AJ_OP_DIGAMMA, -0x1p-120, 0x1p120},
    {AJ_OP_DIGAMMA, INF, INF},
    {AJ_OP_DIGAMMA, -INF, NAN},
    {AJ_OP_DIGAMMA, NAN, NAN},
    {AJ_OP_ERFC, 0.0, 1},
    {AJ_OP_ERFC, -0.0, 1},
    {AJ_OP_ERFC, INF, 0.0},
    {AJ_OP_ERFC, -INF, 2},
    {AJ_OP_ERFC, NAN, NAN},
    {AJ_OP_ERFC, -30, 2},
    {AJ_OP_ERFC, 1e30, 0.0},
};

static const struct {
  aj_op op;
  double x, y, z; /* f(x, y) = z */
} specials_of_two[] = {
    {AJ_OP_POW, 0.0, -3, INF},
    {AJ_OP_POW, -0.0, -3, -INF},
    {AJ_OP_POW, 0.0, -2, INF},
    {AJ_OP_POW, -0.0, -2, INF},
    {AJ_OP_POW, -0.0, -2.5, INF},
    {AJ_OP_POW, 0.0, -INF, INF},
    {AJ_OP_POW, -0.0, -INF, INF},
    {AJ_OP_POW, 0.0, 3, 0.0},
    {AJ_OP_POW, -0.0, 3, -0.0},
    {AJ_OP_POW, -0.0, 2, 0.0},
    {AJ_OP_POW, -0.0, 2.5, 0.0},
    {AJ_OP_POW, 0.0, INF, 0.0},
    {AJ_OP_POW, -1, INF, 1},
    {AJ_OP_POW, -1, -INF, 1},
    {AJ_OP_POW, 1, NAN, 1},
    {AJ_OP_POW, 1, INF, 1},
    {AJ_OP_POW, NAN, 0.0, 1},
    {AJ_OP_POW, NAN, -0.0, 1},
    {AJ_OP_POW, INF, 0.0, 1},
    {AJ_OP_POW, 0.0, 0.0, 1},
    {AJ_OP_POW, -7, 0.0, 1},
    {AJ_OP_POW, -2, 0.5, NAN},
    {AJ_OP_POW, -1, 0.5, NAN},
    {AJ_OP_POW, 0.5, -INF, INF},
    {AJ_OP_POW, 2, -INF, 0.0},
    {AJ_OP_POW, 0.5, INF, 0.0},
    {AJ_OP_POW, 2, INF, INF},
    {AJ_OP_POW, -2, INF, INF},
    {AJ_OP_POW, -0.5, INF, 0.0},
    {AJ_OP_POW, -INF, -3, -0.0},
    {AJ_OP_POW, -INF, -2, 0.0},
    {AJ_OP_POW, -INF, -0.5, 0.0},
    {AJ_OP_POW, -INF, 3, -INF},
    {AJ_OP_POW, -INF, 2, INF},
    {AJ_OP_POW, -INF, 0.5, INF},
    {AJ_OP_POW, INF, -1, 0.0},
    {AJ_OP_POW, INF, 0.5, INF},
    {AJ_OP_POW, INF, INF, INF},
    {AJ_OP_POW, INF, -INF, 0.0},
    {AJ_OP_POW, NAN, 1, NAN},
    {AJ_OP_POW, 2, NAN, NAN},
    {AJ_OP_POW, -1, NAN, NAN},
    {AJ_OP_POW, -NAN, 3, NAN},
    {AJ_OP_POW, 0.0, NAN, NAN},
    {AJ_OP_POW, 2, 10, 1024},
    {AJ_OP_POW, -2, 3, -8},
    {AJ_OP_POW, -3, 2, 9},
    {AJ_OP_POW, -2, -1, -0.5},
    {AJ_OP_POW, 10, 2, 100},
    {AJ_OP_POW, 2, -149, 0x1p-149},
    {AJ_OP_POW, 1e30, 1e30, INF},
    {AJ_OP_POW, -1e30, -1e30, 0.0},
    {AJ_OP_POW, -3, 1e30, INF},
    {AJ_OP_ATAN2, 0.0, 1, 0.0},
    {AJ_OP_ATAN2, -0.0, 1, -0.0},
    {AJ_OP_ATAN2, 0.0, -1, PI},
    {AJ_OP_ATAN2, -0.0, -1, -PI},
    {AJ_OP_ATAN2, 0.0, 0.0, 0.0},
    {AJ_OP_ATAN2, -0.0, 0.0, -0.0},
    {AJ_OP_ATAN2, 0.0, -0.0, PI},
    {AJ_OP_ATAN2, -0.0, -0.0, -PI},
    {AJ_OP_ATAN2, 1, 0.0, PI / 2},
    {AJ_OP_ATAN2, -1, -0.0, -PI / 2},
    {AJ_OP_ATAN2, 1, INF, 0.0},
    {AJ_OP_ATAN2, -1, INF, -0.0},
    {AJ_OP_ATAN2, 1, -INF, PI},
    {AJ_OP_ATAN2, -1, -INF, -PI},
    {AJ_OP_ATAN2, INF, 1, PI / 2},
    {AJ_OP_ATAN2, -INF, -1, -PI / 2},
    {AJ_OP_ATAN2, INF, INF, PI / 4},
    {AJ_OP_ATAN2, INF, -INF, 3 * PI / 4},
    {AJ_OP_ATAN2, -INF, INF, -PI / 4},
    {AJ_OP_ATAN2, -INF, -INF, -3 * PI / 4},
    {AJ_OP_ATAN2, NAN, 1, NAN},
    {AJ_OP_ATAN2, 1, NAN, NAN},
    {AJ_OP_ATAN2, NAN, INF, NAN},
    {AJ_OP_ATAN2, 0.0, NAN, NAN},
    {AJ_OP_ATAN2, 1, 1, PI / 4},
    {AJ_OP_ATAN2, 1e30, 1e-30, PI / 2},
    {AJ_OP_ATAN2, 1e-30, -1e30, PI},
    {AJ_OP_ATAN2, 0x1p-149, 0x1p-149, PI / 4},
    {AJ_OP_HYPOT, 0.0, -0.0, 0.0},
    {AJ_OP_HYPOT, 3, -4, 5},
    {AJ_OP_HYPOT, -0.0, -7, 7},
    {AJ_OP_HYPOT, INF, NAN, INF},
    {AJ_OP_HYPOT, NAN, -INF, INF},
    {AJ_OP_HYPOT, -INF, 1, INF},
    {AJ_OP_HYPOT, NAN, 1, NAN},
    {AJ_OP_HYPOT, 0.0, NAN, NAN},
    {AJ_OP_HYPOT, 0x1p-149, 0.0, 0x1p-149},
    {AJ_OP_HYPOT, 0x1.8p126, 0x1p127, 0x1.4p127},
    {AJ_OP_HYPOT, -0x1.8p-147, 0x1p-146, 0x1.4p-146},
};

static void check_special(sem_fixture *f, aj_op op, double x, double y, double want) {
  double in[] = {x, y}, z;
  float narrow[] = {(float)x, (float)y}, zf;
  sem_apply(f->cache, op, ARRJIT_F64, (const void *const[]){&in[0], &in[1]}, &z, 1);
  sem_apply(f->cache, op, ARRJIT_F32, (const void *const[]){&narrow[0], &narrow[1]}, &zf, 1);
  if (f64_bits(z) != f64_bits(f64_canon(want)) || f32_bits(zf) != f32_bits(f32_canon((float)want)))
    fail_msg("%s(%a, %a) = %a, f32 %a", aj_ops[op].name, x, y, z, (double)zf);
}

static void test_special_values_are_those_of_annex_f(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  for (size_t i = 0; i < TK_COUNT(specials); i++) check_special(&f, specials[i].op, specials[i].x, 0, specials[i].y);
  for (size_t i = 0; i < TK_COUNT(specials_of_two); i++)
    check_special(&f, specials_of_two[i].op, specials_of_two[i].x, specials_of_two[i].y, specials_of_two[i].z);
  sem_end(&f);
}

/* NaN of either sign and any payload comes out canonical. */
static void test_nan_is_canonical(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  static const uint32_t odd[] = {0xffc00000u, 0x7f800001u, 0xffffffffu, 0x7fc12345u};
  static const uint64_t wide[] = {0xfff8000000000000u, 0x7ff0000000000001u};
  for (aj_op op = AJ_OP_NONE; op < AJ_OP_COUNT; op++) {
    if (!is_function(op)) continue;
    uint32_t y[4];
    uint64_t z[2];
    sem_apply(f.cache, op, ARRJIT_F32, (const void *const[]){odd, odd}, y, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(y[i], 0x7fc00000u);
    sem_apply(f.cache, op, ARRJIT_F64, (const void *const[]){wide, wide}, z, 2);
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
    sem_apply(f.cache, AJ_OP_EXP, ARRJIT_F32, (const void *const[]){&single[i].x}, &y, 1);
    if (i == 0)
      assert_true(y < INFINITY);
    else
      assert_int_equal(f32_bits(y), f32_bits(single[i].y));
  }
  for (size_t i = 0; i < TK_COUNT(twofold); i++) {
    double y;
    sem_apply(f.cache, AJ_OP_EXP, ARRJIT_F64, (const void *const[]){&twofold[i].x}, &y, 1);
    assert_true(f64_bits(y) == f64_bits(twofold[i].y));
  }
  sem_end(&f);
}

/* What evaluates an expansion of arrays node by node: views are packed, so every value is a dense array. */
static void evaluate_nodes(sem_fixture *f, uint32_t first, const aj_view *in, aj_view *values) {
  aj_view out;
  for (uint32_t i = first; i < f->b.region->node_count; i++) {
    const aj_node *step = f->b.region->nodes[i];
    aj_view operands[3];
    for (uint32_t o = 0; o < step->operand_count; o++) {
      const aj_value *operand = step->operands[o];
      if (operand->def == NULL) operands[o] = in[operand->index & 1];
      for (uint32_t j = first; j < i; j++)
        if (operand->def == f->b.region->nodes[j]) operands[o] = values[j];
    }
    if (aj_ops[step->op].routine == AJ_ROUTINE_VIEW) {
      assert_true(aj_sem_view(step, f->env, &operands[0], &out, &f->fail));
      values[i] = sem_array(step->results[0].type, f->env, NULL);
      aj_view_pack(values[i].data, &out);
    } else {
      assert_int_equal(sem_run(f, step, operands, &values[i]), AJ_SEM_OK);
    }
  }
}

/* The same function over whole arrays, where constants are broadcast. */
static void test_array_expansion_gives_the_same_bits(void **state) {
  (void)state;
  enum { N = 1500 };
  static const int64_t dims[] = {N};
  static double x[2][N], want[N];
  tk_random random = {5};
  for (int i = 0; i < N; i++) sem_random(&random, ARRJIT_F64, &x[0][i]), sem_random(&random, ARRJIT_F64, &x[1][i]);
  for (aj_op op = AJ_OP_NONE; op < AJ_OP_COUNT; op++) {
    if (!is_function(op)) continue;
    sem_fixture f;
    sem_begin(&f);
    aj_value *params[] = {sem_param(&f, ARRJIT_F64, 1, dims), sem_param(&f, ARRJIT_F64, 1, dims)};
    const aj_node *node = sem_node(&f, op, aj_ops[op].min_operands, params, 0, NULL);
    uint32_t first = f.b.region->node_count;
    assert_non_null(aj_sem_expand(&f.b, node));
    sem_apply(f.cache, op, ARRJIT_F64, (const void *const[]){x[0], x[1]}, want, N);
    aj_view *values = tk_new(f.b.region->node_count + 1, sizeof *values);
    aj_view in[] = {sem_array(params[0]->type, f.env, x[0]), sem_array(params[1]->type, f.env, x[1])};
    evaluate_nodes(&f, first, in, values);
    assert_memory_equal(values[f.b.region->node_count - 1].data, want, sizeof want);
    for (uint32_t i = first; i < f.b.region->node_count; i++) free(values[i].data);
    free(values);
    free(in[0].data);
    free(in[1].data);
    sem_end(&f);
  }
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
    cmocka_unit_test(test_special_values_are_those_of_annex_f),
    cmocka_unit_test(test_nan_is_canonical),
    cmocka_unit_test(test_results_at_the_edges_of_the_range),
    cmocka_unit_test(test_array_expansion_gives_the_same_bits),
    cmocka_unit_test(test_mean_divides_by_the_number_of_elements),
};
TEST_MAIN(tests, NULL, NULL)
