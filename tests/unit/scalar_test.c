/* Scalar rules: against plain references, in both builds of the loops, in place, at all lengths; checked twins; NaN
 * bits. */
#include <limits.h>

#include "sem_fixture.h"

__extension__ typedef __int128 wide;

static const aj_loops *const tables[] = {&aj_loops_base,
#ifdef AJ_HAVE_LOOPS_AVX2
                                         &aj_loops_avx2
#endif
};
/* Tables that this CPU can run. */
static size_t count_tables(void) { return aj_loops_here() == &aj_loops_base ? 1 : TK_COUNT(tables); }

enum { MOST = 1000 };
typedef struct operands {
  _Alignas(16) char data[3][MOST * AJ_ELEMENT_BYTES];
} operands;

static uint32_t count_operands(aj_op op) { return aj_ops[op].min_operands; }
static arrjit_dtype operand_dtype(aj_op op, arrjit_dtype in, uint32_t k) {
  return op == AJ_OP_SELECT && k == 0 ? ARRJIT_BOOL : in;
}

static void fill(tk_random *random, operands *x, aj_op op, arrjit_dtype in) {
  for (uint32_t k = 0; k < count_operands(op); k++) {
    arrjit_dtype dtype = operand_dtype(op, in, k);
    for (size_t i = 0; i < MOST; i++) sem_random(random, dtype, x->data[k] + i * aj_dtypes[dtype].bytes);
  }
}

/* Every (op, in, out) that has a loop, by the op table. */
typedef void each_loop(aj_op op, arrjit_dtype in, arrjit_dtype out);
static int visit_loops(each_loop *visit) {
  int count = 0;
  for (int op = 1; op < AJ_OP_COUNT; op++) {
    if (aj_ops[op].routine != AJ_ROUTINE_SCALAR) continue;
    for (int in = 1; in < AJ_DTYPE_COUNT; in++) {
      for (int out = 1; out < AJ_DTYPE_COUNT; out++) {
        if (!aj_sem_loop((aj_op)op, (arrjit_dtype)in, (arrjit_dtype)out)) continue;
        visit((aj_op)op, (arrjit_dtype)in, (arrjit_dtype)out);
        count++;
      }
    }
  }
  return count;
}

/* The ops that complex numbers are not taken apart for. */
static bool on_whole(aj_op op) {
  return op == AJ_OP_SELECT || op == AJ_OP_BITCAST || op == AJ_OP_REAL || op == AJ_OP_IMAG;
}

/* What a bitcast of the dtype can give. */
static int count_of_width(arrjit_dtype in) {
  int count = 0;
  for (int out = ARRJIT_I8; out < AJ_DTYPE_COUNT; out++) count += aj_dtypes[out].bits == aj_dtypes[in].bits;
  return in == ARRJIT_BOOL ? 0 : count;
}

static void test_table_has_exactly_the_loops_it_allows(void **state) {
  (void)state;
  for (int op = 1; op < AJ_OP_COUNT; op++) {
    const aj_op_info *info = &aj_ops[op];
    if (info->routine != AJ_ROUTINE_SCALAR) continue;
    for (int in = 1; in < AJ_DTYPE_COUNT; in++) {
      int found = 0, expected = 1;
      for (int out = 1; out < AJ_DTYPE_COUNT; out++) {
        bool there = aj_loops_find(&aj_loops_base, (aj_op)op, (arrjit_dtype)in, (arrjit_dtype)out) != NULL;
        found += there;
        for (size_t t = 0; t < count_tables(); t++)
          assert_int_equal(there, aj_loops_find(tables[t], (aj_op)op, (arrjit_dtype)in, (arrjit_dtype)out) != NULL);
      }
      if (info->rule == AJ_R_CONVERT) expected = AJ_DTYPE_COUNT - 1 - 2; /* complex numbers: by their parts */
      if (aj_dtype_is_complex((arrjit_dtype)in) && (info->rule == AJ_R_CONVERT || !on_whole((aj_op)op))) expected = 0;
      if (info->rule == AJ_R_BITCAST) expected = count_of_width((arrjit_dtype)in);
      if (!(info->dtypes >> in & 1)) expected = 0;
      if (found != expected) fail_msg("%s %s: %d loops, not %d", info->name, aj_dtypes[in].name, found, expected);
    }
  }
}

/* ---- the two builds, lengths, in place ---- */
static void compare_builds(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  static const size_t lengths[] = {0, 1, 2, 7, 8, 15, 16, 31, 33, 64, 100, 1000};
  static operands x;
  static _Alignas(16) char r[2][MOST * AJ_ELEMENT_BYTES];
  tk_random random = {(uint64_t)op * 1000 + in * 20 + out};
  for (int round = 0; round < 8; round++) {
    fill(&random, &x, op, in);
    for (size_t l = 0; l < TK_COUNT(lengths); l++) {
      size_t n = lengths[l], done[2] = {0, 0}, bytes = aj_dtypes[out].bytes;
      for (size_t t = 0; t < count_tables(); t++) {
        /* operands of odd alignment too: loops may not count on more than the element's */
        const void *p[] = {x.data[0], x.data[1], x.data[2]};
        memset(r[t], 0x5a, sizeof r[t]);
        done[t] = aj_loops_find(tables[t], op, in, out)(n, r[t], p);
        for (size_t i = n * bytes; i < sizeof r[t]; i++) assert_int_equal(r[t][i], 0x5a);
      }
      if (count_tables() < 2) continue;
      assert_int_equal(done[0], done[1]);
      if (done[0] == n && memcmp(r[0], r[1], n * bytes) != 0)
        fail_msg("%s %s to %s differs between builds", aj_ops[op].name, aj_dtypes[in].name, aj_dtypes[out].name);
    }
  }
}
static void test_both_builds_give_the_same_bits(void **state) {
  (void)state;
  assert_true(visit_loops(compare_builds) > 500);
}

static void compare_in_place(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  static operands x, y;
  static _Alignas(16) char r[MOST * AJ_ELEMENT_BYTES];
  tk_random random = {(uint64_t)op * 1000 + in * 20 + out + 7};
  aj_loop *loop = aj_sem_loop(op, in, out);
  fill(&random, &x, op, in);
  const void *p[] = {x.data[0], x.data[1], x.data[2]};
  size_t done = loop(MOST, r, p);
  for (uint32_t k = 0; k < count_operands(op); k++) {
    if (aj_dtypes[operand_dtype(op, in, k)].bytes != aj_dtypes[out].bytes) continue;
    y = x;
    const void *q[] = {y.data[0], y.data[1], y.data[2]};
    assert_int_equal(loop(MOST, y.data[k], q), done);
    if (done == MOST) assert_memory_equal(y.data[k], r, MOST * aj_dtypes[out].bytes);
  }
}
static void test_out_may_be_an_operand(void **state) {
  (void)state;
  visit_loops(compare_in_place);
}

/* ---- integers, by arithmetic in 128 bits ---- */
static wide wrap(wide x, arrjit_dtype d) {
  uint32_t bits = aj_dtypes[d].bits;
  wide m = ((wide)1 << bits) - 1;
  x &= m;
  return aj_dtypes[d].cls == AJ_CLASS_INT && (x >> (bits - 1) & 1) ? x - m - 1 : x;
}
static wide load(arrjit_dtype d, const void *p) {
  uint64_t u = 0;
  memcpy(&u, p, aj_dtypes[d].bytes);
  return wrap((wide)u, d);
}
static wide floor_divide(wide x, wide y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }
static wide shift_right(wide x, wide y, uint32_t bits, bool arith, arrjit_dtype d) {
  wide u = x & (((wide)1 << bits) - 1);
  bool top = u >> (bits - 1) & 1, in = y >= 0 && y < bits;
  if (!arith) return in ? u >> (int)y : 0;
  if (!in) return top ? -1 : 0;
  return wrap(u, d == ARRJIT_DTYPE_NONE ? ARRJIT_I64 : d), (top ? u - ((wide)1 << bits) : u) >> (int)y;
}

/* The value before wrapping; *code: what a checked twin says. */
static wide integer_rule(aj_op op, arrjit_dtype d, wide x, wide y, wide z, int *code) {
  uint32_t bits = aj_dtypes[d].bits;
  wide u = x & (((wide)1 << bits) - 1), r;
  int n = 0, s = (int)(y & (wide)(bits - 1));
  *code = 0;
  switch ((int)op) {
  case AJ_OP_NEG: return -x;
  case AJ_OP_ABS: return x < 0 ? -x : x;
  case AJ_OP_SIGN: return (x > 0) - (x < 0);
  case AJ_OP_NOT: return d == ARRJIT_BOOL ? !x : ~x;
  case AJ_OP_POPCOUNT:
    for (uint32_t i = 0; i < bits; i++) n += (int)(u >> i & 1);
    return n;
  case AJ_OP_CLZ:
    while (n < (int)bits && !(u >> (bits - 1 - (uint32_t)n) & 1)) n++;
    return n;
  case AJ_OP_CTZ:
    while (n < (int)bits && !(u >> n & 1)) n++;
    return n;
  case AJ_OP_CHECKED_ADD:
  case AJ_OP_ADD: r = x + y; break;
  case AJ_OP_CHECKED_SUB:
  case AJ_OP_SUB: r = x - y; break;
  case AJ_OP_CHECKED_MUL:
  case AJ_OP_MUL: r = (wide)((unsigned __int128)x * (unsigned __int128)y); break;
  case AJ_OP_CHECKED_DIV:
    if (y == 0) *code = AJ_ARITH_DIVIDE_BY_ZERO; /* fall through */
  case AJ_OP_DIV:
    r = y == 0 ? -1 : x / y;
    if (y == 0) return r;
    break;
  case AJ_OP_CHECKED_REM:
    if (y == 0) *code = AJ_ARITH_DIVIDE_BY_ZERO; /* fall through */
  case AJ_OP_REM: return y == 0 ? x : x % y;
  case AJ_OP_FLOOR_DIV: return y == 0 ? -1 : floor_divide(x, y);
  case AJ_OP_MOD: return y == 0 ? x : x - floor_divide(x, y) * y;
  case AJ_OP_IPOW: {
    if (y < 0) return x == 0 ? -1 : x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    uint64_t power = 1; /* from the highest bit down */
    for (int bit = 63; bit >= 0; bit--) power = power * power * ((uint64_t)y >> bit & 1 ? (uint64_t)x : 1);
    return (wide)power;
  }
  case AJ_OP_MIN: return x < y ? x : y;
  case AJ_OP_MAX: return x < y ? y : x;
  case AJ_OP_AND: return x & y;
  case AJ_OP_OR: return x | y;
  case AJ_OP_XOR: return x ^ y;
  case AJ_OP_CHECKED_SHL:
    if (y < 0 || y >= (wide)bits) *code = AJ_ARITH_OVERFLOW; /* fall through */
  case AJ_OP_SHL: return y < 0 || y >= (wide)bits ? 0 : (wide)((unsigned __int128)x << (int)y);
  case AJ_OP_SHR_LOGICAL: return shift_right(x, y, bits, false, d);
  case AJ_OP_SHR_ARITH: return shift_right(x, y, bits, true, d);
  case AJ_OP_ROTL: return (u << s) | (u >> ((int)bits - s));
  case AJ_OP_EQ: return x == y;
  case AJ_OP_NE: return x != y;
  case AJ_OP_LT: return x < y;
  case AJ_OP_LE: return x <= y;
  case AJ_OP_GT: return x > y;
  case AJ_OP_GE: return x >= y;
  case AJ_OP_SELECT: return x ? y : z;
  case AJ_OP_CLAMP: r = x < y ? y : x; return r < z ? r : z;
  default: fail_msg("no reference for %s", aj_ops[op].name); return 0;
  }
  if (r != wrap(r, d)) *code = AJ_ARITH_OVERFLOW;
  return r;
}

static void check_integer(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  bool integer = aj_dtypes[in].cls != AJ_CLASS_FLOAT && aj_dtypes[in].cls != AJ_CLASS_COMPLEX;
  if (!integer || aj_ops[op].rule == AJ_R_CONVERT || aj_ops[op].rule == AJ_R_BITCAST) return;
  static operands x;
  static _Alignas(16) char r[MOST * AJ_ELEMENT_BYTES];
  bool checked = (aj_ops[op].flags & AJ_F_RAISES) != 0, small = aj_dtypes[in].bytes == 1 && in != ARRJIT_BOOL;
  tk_random random = {(uint64_t)op * 77 + in};
  for (int round = 0; round < (small ? 66 : 10); round++) {
    fill(&random, &x, op, in);
    for (int i = 0; small && i < MOST; i++) { /* every pair of bytes */
      x.data[op == AJ_OP_SELECT][i] = (char)((round * MOST + i) & 0xff);
      x.data[op == AJ_OP_SELECT ? 2 : 1][i] = (char)((round * MOST + i) >> 8 & 0xff);
    }
    const void *p[] = {x.data[0], x.data[1], x.data[2]};
    size_t done = aj_sem_loop(op, in, out)(MOST, r, p), first = MOST;
    for (size_t i = 0; i < MOST; i++) {
      wide v[3] = {0};
      const void *at[3] = {NULL};
      for (uint32_t k = 0; k < count_operands(op); k++) {
        arrjit_dtype d = operand_dtype(op, in, k);
        at[k] = x.data[k] + i * aj_dtypes[d].bytes;
        v[k] = load(d, at[k]);
      }
      int code;
      wide want = integer_rule(op, in, v[0], v[1], v[2], &code);
      if (checked) assert_int_equal(aj_sem_check_code(op, in, out, at), code);
      if (checked && code != 0 && first == MOST) first = i;
      if (done == MOST && load(out, r + i * aj_dtypes[out].bytes) != (out == ARRJIT_BOOL ? want & 1 : wrap(want, out)))
        fail_msg("%s %s: x %lld y %lld", aj_ops[op].name, aj_dtypes[in].name, (long long)v[0], (long long)v[1]);
    }
    if (checked) assert_int_equal(done, first);
    if (!checked) assert_int_equal(done, MOST);
  }
}
static void test_integers_follow_their_rules(void **state) {
  (void)state;
  visit_loops(check_integer);
}

/* Checked loops mostly fail on random lanes: here are lanes that do not, with one that does at each place. */
static void test_checked_loops_give_results_and_the_first_failing_lane(void **state) {
  (void)state;
  int32_t x[70], y[70], r[70];
  const void *p[] = {x, y};
  for (int bad = 0; bad <= 70; bad++) {
    for (int i = 0; i < 70; i++) x[i] = i * 1000, y[i] = 7 - i;
    if (bad < 70) x[bad] = INT_MIN, y[bad] = -1;
    for (int i = bad + 1; i < 70; i++) x[i] = INT_MIN, y[i] = -1;
    assert_int_equal(aj_sem_loop(AJ_OP_CHECKED_ADD, ARRJIT_I32, ARRJIT_I32)(70, r, p), bad);
    for (int i = 0; bad == 70 && i < 70; i++) assert_int_equal(r[i], x[i] + y[i]);
  }
}

/* ---- floats ---- */
static double float_least(double x, double y) {
  if (x != x || y != y) return NAN;
  return x < y || (x == y && signbit(x)) ? x : y;
}
static double float_largest(double x, double y) {
  if (x != x || y != y) return NAN;
  return x > y || (x == y && !signbit(x)) ? x : y;
}
/* For f32 this is exact up to the one rounding only where noted: + - * / sqrt of f32 in double round innocuously. */
static double float_rule(aj_op op, double x, double y, double z, bool single) {
  switch ((int)op) {
  case AJ_OP_SIGN: return x > 0 ? 1 : x < 0 ? -1 : x;
  case AJ_OP_SQRT: return sqrt(x);
  case AJ_OP_FLOOR: return floor(x);
  case AJ_OP_CEIL: return ceil(x);
  case AJ_OP_TRUNC: return trunc(x);
  case AJ_OP_ROUND_EVEN: return rint(x);
  case AJ_OP_ROUND_AWAY: return round(x);
  case AJ_OP_FMIN: return x != x ? y : y != y ? x : float_least(x, y);
  case AJ_OP_FMAX: return x != x ? y : y != y ? x : float_largest(x, y);
  case AJ_OP_FDIM: return fdim(x, y);
  case AJ_OP_NEXTAFTER: return single ? (double)nextafterf((float)x, (float)y) : nextafter(x, y);
  case AJ_OP_ADD: return x + y;
  case AJ_OP_SUB: return x - y;
  case AJ_OP_MUL: return x * y;
  case AJ_OP_DIV: return x / y;
  case AJ_OP_REM: return fmod(x, y);
  case AJ_OP_MOD: {
    double r = fmod(x, y);
    if (r == 0) return copysign(0, y);
    if (r == r && (r < 0) != (y < 0)) return single ? (double)((float)r + (float)y) : r + y;
    return r;
  }
  case AJ_OP_MIN: return float_least(x, y);
  case AJ_OP_MAX: return float_largest(x, y);
  case AJ_OP_FMA: return single ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
  case AJ_OP_CLAMP: return float_least(float_largest(x, y), z);
  default: return NAN;
  }
}
/* nextafter of f16 or bf16: one unit of the last place on, which is that of the binade towards which it goes. */
static double half_neighbour(arrjit_dtype dtype, double x, double y) {
  const int mantissa = dtype == ARRJIT_F16 ? 11 : 8, least = dtype == ARRJIT_F16 ? -13 : -125;
  const double most = dtype == ARRJIT_F16 ? 65504 : 0x1.fep127;
  int e;
  if (x != x || y != y) return NAN;
  if (x == y) return y;
  if (isinf(x)) return copysign(most, x);
  if (fabs(frexp(x, &e)) <= 0.5 && (x > 0) != (y > x)) e--;
  if (x == 0 || e < least) e = least;
  double next = x + copysign(ldexp(1, e - mantissa), y - x);
  return fabs(next) > most ? copysign(INFINITY, x) : next == 0 ? copysign(0, x) : next;
}
static bool moves_bits(aj_op op) { return (aj_ops[op].flags & AJ_F_BITS) != 0; }

static void check_float(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  if (aj_dtypes[in].cls != AJ_CLASS_FLOAT || out != in || aj_ops[op].rule == AJ_R_CONVERT || moves_bits(op)) return;
  if (op == AJ_OP_FLOOR_DIV) return;
  static operands x;
  static _Alignas(16) char r[MOST * AJ_ELEMENT_BYTES];
  tk_random random = {(uint64_t)op};
  for (int round = 0; round < 20; round++) {
    fill(&random, &x, op, in);
    const void *p[] = {x.data[0], x.data[1], x.data[2]};
    assert_int_equal(aj_sem_loop(op, in, out)(MOST, r, p), MOST);
    for (size_t i = 0; i < MOST; i++) {
      double v[3], wanted = 0;
      bool single = in != ARRJIT_F64; /* 16-bit floats are computed with in f32 */
      size_t bytes = aj_dtypes[in].bytes;
      for (int k = 0; k < 3; k++) v[k] = tk_load_float(in, x.data[k] + i * bytes);
      double want = float_rule(op, v[0], v[1], v[2], single);
      if (op == AJ_OP_NEXTAFTER && aj_dtype_is_half(in)) want = half_neighbour(in, v[0], v[1]);
      if (single) want = (double)(float)want;
      tk_store_float(in, f64_canon(want), &wanted);
      if (memcmp(r + i * bytes, &wanted, bytes) != 0)
        fail_msg("%s %s: x %a y %a z %a want %a", aj_ops[op].name, aj_dtypes[in].name, v[0], v[1], v[2], want);
    }
  }
}
static void test_floats_follow_their_rules(void **state) {
  (void)state;
  visit_loops(check_float);
}

static float run_f32(aj_op op, float x, float y) {
  float r = 0;
  const void *p[] = {&x, &y};
  aj_sem_loop(op, ARRJIT_F32, ARRJIT_F32)(1, &r, p);
  return r;
}
static double run_f64(aj_op op, double x, double y) {
  double r = 0;
  const void *p[] = {&x, &y};
  aj_sem_loop(op, ARRJIT_F64, ARRJIT_F64)(1, &r, p);
  return r;
}

/* Values as NumPy 1.24 gives them: numpy.floor_divide and numpy.mod. */
static void test_floor_div_and_mod_are_those_of_numpy(void **state) {
  (void)state;
  static const struct {
    double x, y, quotient, rest;
  } rows[] = {
      {7, 2, 3, 1},
      {-7, 2, -4, 1},
      {7, -2, -4, -1},
      {-7, -2, 3, -1},
      {1, 0.1, 9, 0.09999999999999995},
      {6, 3, 2, 0.0},
      {-6, 3, -2, 0.0},
      {6, -3, -2, -0.0},
      {0.0, 5, 0.0, 0.0},
      {-0.0, 5, -0.0, 0.0},
      {0.0, -5, -0.0, -0.0},
      {1, INFINITY, 0.0, 1},
      {-1, INFINITY, -1, INFINITY},
      {1, 0.0, INFINITY, NAN},
      {-1, 0.0, -INFINITY, NAN},
      {0.0, 0.0, NAN, NAN},
      {INFINITY, 1, NAN, NAN},
      {NAN, 1, NAN, NAN},
      {1, NAN, NAN, NAN},
      {-1e-300, 1, -1, 1},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    double q = run_f64(AJ_OP_FLOOR_DIV, rows[i].x, rows[i].y), r = run_f64(AJ_OP_MOD, rows[i].x, rows[i].y);
    if (f64_bits(q) != f64_bits(f64_canon(rows[i].quotient))) fail_msg("%a // %a = %a", rows[i].x, rows[i].y, q);
    if (f64_bits(r) != f64_bits(f64_canon(rows[i].rest))) fail_msg("%a mod %a = %a", rows[i].x, rows[i].y, r);
  }
  assert_int_equal(f32_bits(run_f32(AJ_OP_FLOOR_DIV, -7, 2)), f32_bits(-4));
  assert_int_equal(f32_bits(run_f32(AJ_OP_FLOOR_DIV, 1, 0.1f)), f32_bits(9)); /* 0.1f is above a tenth */
  assert_int_equal(f32_bits(run_f32(AJ_OP_MOD, -1, 3)), f32_bits(2));
}

static void test_bit_moving_ops_keep_nan_bits(void **state) {
  (void)state;
  const uint32_t odd[] = {0x7f800001u, 0xffc12345u, 0x7fc00000u, 0xffffffffu, 0x80000000u, 0x00000001u};
  for (size_t i = 0; i < TK_COUNT(odd); i++) {
    float x = f32_of(odd[i]), y = f32_of(0x80000000u), r[1];
    uint8_t yes = 1;
    uint32_t u = odd[i], v = 0;
    const void *one[] = {&u}, *two[] = {&u, &y}, *three[] = {&yes, &u, &y};
    (void)x;
    aj_sem_loop(AJ_OP_NEG, ARRJIT_F32, ARRJIT_F32)(1, &v, one);
    assert_int_equal(v, odd[i] ^ 0x80000000u);
    aj_sem_loop(AJ_OP_ABS, ARRJIT_F32, ARRJIT_F32)(1, &v, one);
    assert_int_equal(v, odd[i] & 0x7fffffffu);
    aj_sem_loop(AJ_OP_COPYSIGN, ARRJIT_F32, ARRJIT_F32)(1, &v, two);
    assert_int_equal(v, odd[i] | 0x80000000u);
    aj_sem_loop(AJ_OP_SELECT, ARRJIT_F32, ARRJIT_F32)(1, &v, three);
    assert_int_equal(v, odd[i]);
    aj_sem_loop(AJ_OP_BITCAST, ARRJIT_F32, ARRJIT_U32)(1, r, one);
    assert_memory_equal(r, &odd[i], 4);
  }
}

static void check_canonical(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  if (aj_dtypes[out].cls != AJ_CLASS_FLOAT || aj_dtypes[in].cls != AJ_CLASS_FLOAT || moves_bits(op)) return;
  static operands x;
  static _Alignas(16) char r[MOST * AJ_ELEMENT_BYTES];
  const uint64_t nan = in == ARRJIT_F64 ? 0xfff4123400005678u : in == ARRJIT_F32 ? 0xffa12345u : 0xffa1u;
  for (int k = 0; k < 3; k++)
    for (size_t i = 0; i < MOST; i++) memcpy(x.data[k] + i * aj_dtypes[in].bytes, &nan, aj_dtypes[in].bytes);
  const void *p[] = {x.data[0], x.data[1], x.data[2]};
  for (size_t t = 0; t < count_tables(); t++) {
    assert_int_equal(aj_loops_find(tables[t], op, in, out)(MOST, r, p), MOST);
    for (size_t i = 0; i < MOST; i++) {
      uint64_t want = 0;
      tk_store_float(out, f64_canon((double)NAN), &want);
      if (memcmp(r + i * aj_dtypes[out].bytes, &want, aj_dtypes[out].bytes) != 0)
        fail_msg("%s %s: NaN is not canonical", aj_ops[op].name, aj_dtypes[in].name);
    }
  }
}
static void test_nan_results_are_canonical(void **state) {
  (void)state;
  visit_loops(check_canonical);
}

/* ---- conversions: floats through long double, which holds every i64, u64 and double exactly here ---- */
static void check_convert(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  if (op != AJ_OP_CONVERT && op != AJ_OP_CHECKED_CONVERT) return;
  static operands x;
  static _Alignas(16) char r[MOST * AJ_ELEMENT_BYTES], got[8];
  tk_random random = {(uint64_t)in * 100 + out};
  size_t from = aj_dtypes[in].bytes, to = aj_dtypes[out].bytes;
  aj_dtype_class cls = aj_dtypes[out].cls;
  for (int round = 0; round < 20; round++) {
    fill(&random, &x, op, in);
    const void *p[] = {x.data[0]};
    size_t first = MOST;
    aj_sem_loop(AJ_OP_CONVERT, in, out)(MOST, r, p);
    for (size_t i = 0; i < MOST; i++) {
      const char *at = x.data[0] + i * from;
      long double v = 0;
      if (aj_dtypes[in].cls == AJ_CLASS_FLOAT)
        v = (long double)tk_load_float(in, at);
      else
        v = (long double)load(in, at);
      int64_t code = 0;
      memset(got, 0, sizeof got);
      if (cls == AJ_CLASS_BOOL) {
        got[0] = v != 0;
      } else if (out == ARRJIT_F32) {
        float w = f32_canon((float)v);
        if (isinf(w) && !isinf(v)) code = AJ_ARITH_OVERFLOW;
        memcpy(got, &w, 4);
      } else if (out == ARRJIT_F64) {
        double w = f64_canon((double)v);
        memcpy(got, &w, 8);
      } else if (aj_dtype_is_half(out)) {
        uint16_t w = tk_half_reference(out, v);
        if (isinf(tk_half_value(out, w)) && !isinf(v)) code = AJ_ARITH_OVERFLOW;
        memcpy(got, &w, 2);
      } else {
        uint32_t bits = aj_dtypes[out].bits;
        wide low = cls == AJ_CLASS_INT ? -((wide)1 << (bits - 1)) : 0;
        wide high = ((wide)1 << (bits - (cls == AJ_CLASS_INT))) - 1, w;
        bool is_float = aj_dtypes[in].cls == AJ_CLASS_FLOAT;
        if (v != v)
          code = AJ_ARITH_INVALID;
        else if (truncl(v) < (long double)low || truncl(v) > (long double)high)
          code = AJ_ARITH_OVERFLOW;
        if (!is_float)
          w = load(in, at);
        else if (v != v)
          w = 0;
        else
          w = truncl(v)<(long double)low ? low : truncl(v)>(long double) high ? high : (wide)v;
        memcpy(got, &w, to);
      }
      if (memcmp(got, r + i * to, to) != 0)
        fail_msg("convert %s to %s: %La", aj_dtypes[in].name, aj_dtypes[out].name, v);
      const void *element[] = {at};
      if (aj_sem_check_code(AJ_OP_CHECKED_CONVERT, in, out, element) != code)
        fail_msg("checked_convert %s to %s: %La", aj_dtypes[in].name, aj_dtypes[out].name, v);
      if (code != 0 && first == MOST) first = i;
    }
    for (size_t t = 0; t < count_tables(); t++)
      assert_int_equal(aj_loops_find(tables[t], AJ_OP_CHECKED_CONVERT, in, out)(MOST, r, p), first);
  }
}
static void test_conversions_round_once_and_saturate(void **state) {
  (void)state;
  visit_loops(check_convert);
  const uint64_t u = 0xffffff8000000001u; /* above the tie: two roundings would go down to even */
  const int64_t s = 0x4000004000000001;
  float r;
  const void *pu[] = {&u}, *ps[] = {&s};
  aj_sem_loop(AJ_OP_CONVERT, ARRJIT_U64, ARRJIT_F32)(1, &r, pu);
  assert_true(r == 0x1p64f);
  aj_sem_loop(AJ_OP_CONVERT, ARRJIT_I64, ARRJIT_F32)(1, &r, ps);
  assert_true(r == 0x1.000002p62f);
}

static void test_what_native_code_calls_is_exact(void **state) {
  (void)state;
  assert_true(aj_sem_fma_f32(1 + 0x1p-12f, 1 + 0x1p-12f, -1) == 0x1p-11f + 0x1p-24f);
  assert_true(aj_sem_fma_f64(1 + 0x1p-30, 1 + 0x1p-30, -1) == 0x1p-29 + 0x1p-60);
  assert_true(aj_sem_fmod_f32(5.5f, -2) == 1.5f);
  assert_true(aj_sem_fmod_f64(-0x1p1000, 3) == -1);
  for (int64_t code = 0; code < 5; code++) assert_non_null(aj_sem_arith_message(code));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table_has_exactly_the_loops_it_allows),
    cmocka_unit_test(test_both_builds_give_the_same_bits),
    cmocka_unit_test(test_out_may_be_an_operand),
    cmocka_unit_test(test_integers_follow_their_rules),
    cmocka_unit_test(test_checked_loops_give_results_and_the_first_failing_lane),
    cmocka_unit_test(test_floats_follow_their_rules),
    cmocka_unit_test(test_floor_div_and_mod_are_those_of_numpy),
    cmocka_unit_test(test_bit_moving_ops_keep_nan_bits),
    cmocka_unit_test(test_nan_results_are_canonical),
    cmocka_unit_test(test_conversions_round_once_and_saturate),
    cmocka_unit_test(test_what_native_code_calls_is_exact),
};
TEST_MAIN(tests, NULL, NULL)
