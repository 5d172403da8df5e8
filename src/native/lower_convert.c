/* Conversions between element types. Float to int compares first and converts only what is in range: fptosi of anything
 * else is poison. */
#include "native/lower.h"

static aj_lv made(LLVMValueRef v, aj_nan nan) { return (aj_lv){.v = v, .nan = nan}; }
static aj_dtype_class class_of(arrjit_dtype dtype) { return aj_dtypes[dtype].cls; }

/* 2^exponent or its negative, exact in both float types. */
static double power_of_two(uint32_t exponent, bool negative) {
  double value = 1;
  for (uint32_t i = 0; i < exponent; i++) value *= 2;
  return negative ? -value : value;
}

typedef struct range {
  LLVMValueRef below, above, in;
} range;

/* Where trunc(x) is under the least, over the greatest, and within the integer type. The bounds are exact: for a signed
 * type of w bits x <= -2^(w-1) - 1 is below; where that is no number of the float type, x < -2^(w-1) is. */
static range float_range(aj_scalar *s, LLVMValueRef x) {
  LLVMBuilderRef b = s->lo->b;
  bool sign = class_of(s->out) == AJ_CLASS_INT;
  uint32_t bits = aj_dtypes[s->out].bits, mantissa = s->in == ARRJIT_F32 ? 24 : 53;
  double top = power_of_two(sign ? bits - 1 : bits, false), bottom = sign ? -top : 0;
  bool exact = !sign || bits < mantissa;
  LLVMValueRef low = aj_ir_float(s->lo, s->in, s->lanes, exact ? bottom - 1 : bottom);
  range r;
  r.below = LLVMBuildFCmp(b, exact ? LLVMRealOLE : LLVMRealOLT, x, low, "");
  r.above = LLVMBuildFCmp(b, LLVMRealOGE, x, aj_ir_float(s->lo, s->in, s->lanes, top), "");
  LLVMValueRef not_nan = LLVMBuildFCmp(b, LLVMRealORD, x, x, "");
  r.in = LLVMBuildAnd(b, not_nan, LLVMBuildNot(b, LLVMBuildOr(b, r.below, r.above, ""), ""), "");
  return r;
}

/* Narrow types go by way of a signed type that has an instruction. */
static LLVMValueRef truncate_in_range(aj_scalar *s, LLVMValueRef x) {
  LLVMBuilderRef b = s->lo->b;
  uint32_t bits = aj_dtypes[s->out].bits;
  LLVMTypeRef out = aj_ir_type(s->lo, s->out, s->lanes);
  if (class_of(s->out) == AJ_CLASS_UINT && bits == 64) return LLVMBuildFPToUI(b, x, out, "");
  uint32_t by = bits < 32 ? 32 : class_of(s->out) == AJ_CLASS_UINT ? 64 : bits;
  LLVMValueRef wide = LLVMBuildFPToSI(b, x, aj_ir_int_type(s->lo, by, s->lanes), "");
  return by > bits ? LLVMBuildTrunc(b, wide, out, "") : wide;
}

static LLVMValueRef float_to_int(aj_scalar *s, LLVMValueRef x) {
  LLVMBuilderRef b = s->lo->b;
  range r = float_range(s, x);
  uint32_t bits = aj_dtypes[s->out].bits;
  bool sign = class_of(s->out) == AJ_CLASS_INT;
  int64_t most = sign ? (int64_t)(UINT64_MAX >> (65 - bits)) : -1;
  LLVMValueRef safe = LLVMBuildSelect(b, r.in, x, LLVMConstNull(LLVMTypeOf(x)), "");
  LLVMValueRef value = truncate_in_range(s, safe);
  LLVMValueRef greatest = aj_ir_int(s->lo, s->out, s->lanes, most);
  LLVMValueRef lowest = sign ? aj_ir_int(s->lo, s->out, s->lanes, -most - 1) : LLVMConstNull(LLVMTypeOf(greatest));
  value = LLVMBuildSelect(b, r.above, greatest, value, "");
  return LLVMBuildSelect(b, r.below, lowest, value, "");
}

static LLVMValueRef int_to_int(aj_scalar *s, LLVMValueRef x) {
  uint32_t from = aj_dtypes[s->in].bits, to = aj_dtypes[s->out].bits;
  LLVMTypeRef out = aj_ir_type(s->lo, s->out, s->lanes);
  if (from == to) return x;
  if (from > to) return LLVMBuildTrunc(s->lo->b, x, out, "");
  return class_of(s->in) == AJ_CLASS_INT ? LLVMBuildSExt(s->lo->b, x, out, "") : LLVMBuildZExt(s->lo->b, x, out, "");
}

static aj_lv from_float(aj_scalar *s) {
  LLVMValueRef x = s->x[0].v;
  LLVMTypeRef out = aj_ir_type(s->lo, s->out, s->lanes);
  if (class_of(s->out) != AJ_CLASS_FLOAT) return made(float_to_int(s, x), AJ_NAN_CANON);
  if (s->in == s->out) return made(x, AJ_NAN_RAW);
  return made(s->in == ARRJIT_F32 ? LLVMBuildFPExt(s->lo->b, x, out, "") : LLVMBuildFPTrunc(s->lo->b, x, out, ""),
              AJ_NAN_RAW);
}

static LLVMValueRef to_bool(aj_scalar *s) {
  LLVMValueRef x = s->x[0].v, zero = LLVMConstNull(LLVMTypeOf(x));
  if (class_of(s->in) == AJ_CLASS_FLOAT) return LLVMBuildFCmp(s->lo->b, LLVMRealUNE, x, zero, "");
  return class_of(s->in) == AJ_CLASS_BOOL ? x : LLVMBuildICmp(s->lo->b, LLVMIntNE, x, zero, "");
}

/* Operands of 16 bits were made f32 already (lower_scalar.c). */
aj_lv aj_lower_convert(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  LLVMTypeRef out = aj_ir_type(s->lo, s->out, s->lanes);
  if (aj_dtype_is_half(s->out))
    return aj_half_narrow(s->lo, s->out, s->lanes, aj_half_near(s->lo, s->in, s->lanes, s->x[0].v));
  if (class_of(s->out) == AJ_CLASS_BOOL) return made(to_bool(s), AJ_NAN_CANON);
  if (class_of(s->in) == AJ_CLASS_FLOAT) return from_float(s);
  LLVMValueRef x = s->x[0].v;
  if (class_of(s->out) == AJ_CLASS_FLOAT) {
    bool sign = class_of(s->in) == AJ_CLASS_INT;
    return made(sign ? LLVMBuildSIToFP(b, x, out, "") : LLVMBuildUIToFP(b, x, out, ""), AJ_NAN_CANON);
  }
  if (class_of(s->in) == AJ_CLASS_BOOL) return made(LLVMBuildZExt(b, x, out, ""), AJ_NAN_CANON);
  return made(int_to_int(s, x), AJ_NAN_CANON);
}

/* An integer that changes when it goes there and back, or whose sign does, did not fit. */
static void check_int(aj_scalar *s, LLVMValueRef x, LLVMValueRef value) {
  LLVMBuilderRef b = s->lo->b;
  aj_scalar back = {.lo = s->lo, .lanes = s->lanes, .in = s->out, .out = s->in};
  s->fail = LLVMBuildICmp(b, LLVMIntNE, int_to_int(&back, value), x, "");
  if (class_of(s->in) == class_of(s->out)) return;
  LLVMValueRef before = LLVMBuildICmp(b, LLVMIntSLT, x, LLVMConstNull(LLVMTypeOf(x)), "");
  LLVMValueRef after = LLVMBuildICmp(b, LLVMIntSLT, value, LLVMConstNull(LLVMTypeOf(value)), "");
  bool from_signed = class_of(s->in) == AJ_CLASS_INT;
  s->fail = LLVMBuildOr(b, s->fail, from_signed ? before : after, "");
}

static LLVMValueRef is_infinite(aj_scalar *s, arrjit_dtype dtype, LLVMValueRef x) {
  LLVMValueRef magnitude = aj_ir_intrinsic(s->lo, "llvm.fabs", LLVMTypeOf(x), 1, &x);
  LLVMValueRef infinity = aj_ir_float(s->lo, dtype, s->lanes, power_of_two(1023, false) * 2);
  return LLVMBuildFCmp(s->lo->b, LLVMRealOEQ, magnitude, infinity, "");
}

/* Finite before, infinite after. */
static LLVMValueRef narrowed_to_infinity(aj_scalar *s, LLVMValueRef x, LLVMValueRef after) {
  if (class_of(s->in) != AJ_CLASS_FLOAT) return after;
  LLVMValueRef before = is_infinite(s, s->in, x);
  return LLVMBuildAnd(s->lo->b, after, LLVMBuildNot(s->lo->b, before, ""), "");
}

aj_lv aj_lower_checked_convert(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  aj_lv value = aj_lower_convert(s);
  LLVMValueRef x = s->x[0].v;
  bool from_float_to_int =
      class_of(s->in) == AJ_CLASS_FLOAT && (class_of(s->out) == AJ_CLASS_INT || class_of(s->out) == AJ_CLASS_UINT);
  bool from_int = class_of(s->in) == AJ_CLASS_INT || class_of(s->in) == AJ_CLASS_UINT;
  if (from_float_to_int)
    s->fail = LLVMBuildNot(b, float_range(s, x).in, "");
  else if (from_int && (class_of(s->out) == AJ_CLASS_INT || class_of(s->out) == AJ_CLASS_UINT))
    check_int(s, x, value.v);
  else if (aj_dtype_is_half(s->out))
    s->fail = narrowed_to_infinity(s, x, aj_half_is_infinite(s->lo, s->out, s->lanes, value.v));
  else if (s->in == ARRJIT_F64 && s->out == ARRJIT_F32)
    s->fail = narrowed_to_infinity(s, x, is_infinite(s, s->out, value.v));
  return value;
}
