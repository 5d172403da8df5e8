/* Finding the loop of a scalar op for the CPU that runs, and the few elements that native code asks for by call. */
#include <math.h>
#include <string.h>

#include "sem/loops.h"

const aj_loops *aj_loops_here(void) {
#ifdef AJ_HAVE_LOOPS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &aj_loops_avx2;
#endif
  return &aj_loops_base;
}

/* The dtype that an op gives when its operands have dtype `in`; conversions are looked up otherwise. */
static arrjit_dtype get_result_dtype(aj_op op, arrjit_dtype in) {
  if (op == AJ_OP_COMPLEX) return in == ARRJIT_F32 ? ARRJIT_C64 : ARRJIT_C128;
  return aj_ops[op].rule == AJ_R_COMPARE ? ARRJIT_BOOL : aj_ops[op].rule == AJ_R_PART ? aj_dtype_part(in) : in;
}

aj_loop *aj_loops_find(const aj_loops *loops, aj_op op, arrjit_dtype in, arrjit_dtype out) {
  if (op == AJ_OP_CONVERT) return loops->converts[in][out];
  if (op == AJ_OP_CHECKED_CONVERT) return loops->checked_converts[in][out];
  if (op == AJ_OP_BITCAST) {
    bool allowed = in != ARRJIT_BOOL && out != ARRJIT_BOOL && aj_dtypes[in].bytes == aj_dtypes[out].bytes;
    return allowed ? aj_loops_copy(aj_dtypes[in].bytes) : NULL;
  }
  return out == get_result_dtype(op, in) ? loops->rows[op][in] : NULL;
}

aj_loop *aj_sem_loop(aj_op op, arrjit_dtype in, arrjit_dtype out) {
  return aj_loops_find(aj_loops_here(), op, in, out);
}

static size_t copy_16(size_t n, void *out, const void *const *in) { return memmove(out, in[0], n * 16), n; }
static size_t copy_8(size_t n, void *out, const void *const *in) { return memmove(out, in[0], n * 8), n; }
static size_t copy_4(size_t n, void *out, const void *const *in) { return memmove(out, in[0], n * 4), n; }
static size_t copy_2(size_t n, void *out, const void *const *in) { return memmove(out, in[0], n * 2), n; }
static size_t copy_1(size_t n, void *out, const void *const *in) { return memmove(out, in[0], n), n; }
aj_loop *aj_loops_copy(size_t element_bytes) {
  switch (element_bytes) {
  case 1: return copy_1;
  case 2: return copy_2;
  case 4: return copy_4;
  case 8: return copy_8;
  default: return copy_16;
  }
}

int64_t aj_sem_check_code(aj_op op, arrjit_dtype in, arrjit_dtype out, const void *const *operands) {
  aj_arith_code *code =
      op == AJ_OP_CHECKED_CONVERT ? aj_loops_base.convert_codes[in][out] : aj_loops_base.codes[op][in];
  return code == NULL ? 0 : code(operands);
}

const char *aj_sem_arith_message(int64_t code) {
  switch (code) {
  case AJ_ARITH_DIVIDE_BY_ZERO: return "division by zero at lane {0}";
  case AJ_ARITH_OVERFLOW: return "result out of range at lane {0}";
  case AJ_ARITH_INVALID: return "NaN has no integer value, at lane {0}";
  default: return "arithmetic failure at lane {0}";
  }
}

float aj_sem_fma_f32(float x, float y, float z) { return fmaf(x, y, z); }
double aj_sem_fma_f64(double x, double y, double z) { return fma(x, y, z); }
float aj_sem_fmod_f32(float x, float y) { return fmodf(x, y); }
double aj_sem_fmod_f64(double x, double y) { return fmod(x, y); }

uint64_t aj_sem_pow_u64(uint64_t x, uint64_t y) {
  uint64_t power = 1;
  for (; y != 0; y >>= 1, x *= x)
    if (y & 1) power *= x;
  return power;
}
int64_t aj_sem_pow_i64(int64_t x, int64_t y) {
  if (y >= 0) return (int64_t)aj_sem_pow_u64((uint64_t)x, (uint64_t)y);
  if (x == 0) return -1;
  return x == 1 ? 1 : x == -1 ? 1 - 2 * (y & 1) : 0;
}
