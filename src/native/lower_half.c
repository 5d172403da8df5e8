/* f16 and bf16: 16-bit integers in registers, NaNs as they stand. What computes with them sees f32 (aj_half_widen,
 * aj_half_narrow); the bits are those of arrjit/half.h, which this repeats where the CPU has no instruction for f16.
 * (It has one for bf16, which flushes subnormals.) */
#include "arrjit/half.h"
#include "native/lower.h"

static LLVMValueRef int_of(aj_lower *lo, uint32_t bits, uint32_t lanes, uint64_t value) {
  return aj_ir_splat(lo, LLVMConstInt(aj_ir_int_type(lo, bits, 1), value, 0), lanes);
}
static LLVMValueRef i32_of(aj_lower *lo, uint32_t lanes, uint32_t value) { return int_of(lo, 32, lanes, value); }
static LLVMValueRef as_f32(aj_lower *lo, uint32_t lanes, LLVMValueRef bits) {
  return LLVMBuildBitCast(lo->b, bits, aj_ir_type(lo, ARRJIT_F32, lanes), "");
}
static LLVMTypeRef half_type(aj_lower *lo, uint32_t lanes) {
  LLVMTypeRef type = LLVMHalfTypeInContext(lo->context);
  return lanes > 1 ? LLVMVectorType(type, lanes) : type;
}

/* ---- to f32 ---- */

static LLVMValueRef widen_f16(aj_lower *lo, uint32_t lanes, LLVMValueRef h) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef wide = LLVMBuildZExt(b, h, aj_ir_int_type(lo, 32, lanes), "");
  LLVMValueRef magnitude = LLVMBuildAnd(b, wide, i32_of(lo, lanes, 0x7fff), "");
  LLVMValueRef up = LLVMBuildShl(b, magnitude, i32_of(lo, lanes, 13), "");
  LLVMValueRef shifted = as_f32(lo, lanes, LLVMBuildAdd(b, up, i32_of(lo, lanes, 113u << 23), ""));
  LLVMValueRef small = LLVMBuildFSub(b, shifted, aj_ir_float(lo, ARRJIT_F32, lanes, 0x1p-14), "");
  LLVMValueRef is_number = LLVMBuildICmp(b, LLVMIntULT, magnitude, i32_of(lo, lanes, 0x7c00), "");
  LLVMValueRef bias = LLVMBuildSelect(b, is_number, i32_of(lo, lanes, 112u << 23), i32_of(lo, lanes, 224u << 23), "");
  LLVMValueRef is_small = LLVMBuildICmp(b, LLVMIntULT, magnitude, i32_of(lo, lanes, 0x400), "");
  LLVMValueRef bits =
      LLVMBuildSelect(b, is_small, aj_ir_bits(lo, small, ARRJIT_F32, lanes), LLVMBuildAdd(b, up, bias, ""), "");
  LLVMValueRef sign = LLVMBuildAnd(b, wide, i32_of(lo, lanes, 0x8000), "");
  sign = LLVMBuildShl(b, sign, i32_of(lo, lanes, 16), "");
  return as_f32(lo, lanes, LLVMBuildOr(b, sign, bits, ""));
}

/* A NaN may be any afterwards: what uses the value makes it canonical. */
aj_lv aj_half_widen(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef h) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef value;
  if (dtype == ARRJIT_BF16) {
    LLVMValueRef wide = LLVMBuildZExt(b, h, aj_ir_int_type(lo, 32, lanes), "");
    value = as_f32(lo, lanes, LLVMBuildShl(b, wide, i32_of(lo, lanes, 16), ""));
  } else if (lo->target->has_f16c) {
    LLVMValueRef half = LLVMBuildBitCast(b, h, half_type(lo, lanes), "");
    value = LLVMBuildFPExt(b, half, aj_ir_type(lo, ARRJIT_F32, lanes), "");
  } else {
    value = widen_f16(lo, lanes, h);
  }
  return (aj_lv){.v = value, .nan = AJ_NAN_RAW};
}

/* ---- from f32 ---- */

static LLVMValueRef narrow_f16(aj_lower *lo, uint32_t lanes, LLVMValueRef bits) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef magnitude = LLVMBuildAnd(b, bits, i32_of(lo, lanes, 0x7fffffff), "");
  LLVMValueRef infinite = i32_of(lo, lanes, 0x47800000);
  LLVMValueRef is_finite = LLVMBuildICmp(b, LLVMIntULT, magnitude, infinite, "");
  LLVMValueRef capped = LLVMBuildSelect(b, is_finite, magnitude, infinite, "");
  LLVMValueRef sum = LLVMBuildFAdd(b, as_f32(lo, lanes, capped), aj_ir_float(lo, ARRJIT_F32, lanes, 0.5), "");
  LLVMValueRef small = LLVMBuildSub(b, aj_ir_bits(lo, sum, ARRJIT_F32, lanes), i32_of(lo, lanes, 0x3f000000), "");
  LLVMValueRef last = LLVMBuildLShr(b, capped, i32_of(lo, lanes, 13), "");
  last = LLVMBuildAnd(b, last, i32_of(lo, lanes, 1), "");
  LLVMValueRef normal = LLVMBuildAdd(b, capped, i32_of(lo, lanes, 0xfff - (112u << 23)), "");
  normal = LLVMBuildLShr(b, LLVMBuildAdd(b, normal, last, ""), i32_of(lo, lanes, 13), "");
  LLVMValueRef is_small = LLVMBuildICmp(b, LLVMIntULT, capped, i32_of(lo, lanes, 0x38800000), "");
  LLVMValueRef sign = LLVMBuildLShr(b, bits, i32_of(lo, lanes, 16), "");
  sign = LLVMBuildAnd(b, sign, i32_of(lo, lanes, 0x8000), "");
  return LLVMBuildOr(b, sign, LLVMBuildSelect(b, is_small, small, normal, ""), "");
}

static LLVMValueRef narrow_bf16(aj_lower *lo, uint32_t lanes, LLVMValueRef bits) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef last = LLVMBuildLShr(b, bits, i32_of(lo, lanes, 16), "");
  last = LLVMBuildAnd(b, last, i32_of(lo, lanes, 1), "");
  LLVMValueRef rounded = LLVMBuildAdd(b, LLVMBuildAdd(b, bits, i32_of(lo, lanes, 0x7fff), ""), last, "");
  return LLVMBuildLShr(b, rounded, i32_of(lo, lanes, 16), "");
}

aj_lv aj_half_narrow(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef x) {
  LLVMBuilderRef b = lo->b;
  LLVMTypeRef type = aj_ir_type(lo, dtype, lanes);
  LLVMValueRef value, bits = aj_ir_bits(lo, x, ARRJIT_F32, lanes);
  if (dtype == ARRJIT_BF16)
    value = LLVMBuildTrunc(b, narrow_bf16(lo, lanes, bits), type, "");
  else if (lo->target->has_f16c)
    value = LLVMBuildBitCast(b, LLVMBuildFPTrunc(b, x, half_type(lo, lanes), ""), type, "");
  else
    value = LLVMBuildTrunc(b, narrow_f16(lo, lanes, bits), type, "");
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  LLVMValueRef nan = int_of(lo, 16, lanes, dtype == ARRJIT_BF16 ? ARRJIT_BF16_NAN_BITS : ARRJIT_F16_NAN_BITS);
  return (aj_lv){.v = LLVMBuildSelect(b, is_nan, nan, value, ""), .nan = AJ_NAN_CANON};
}

/* ---- from what is no f32: an f32 that rounds as it does ---- */

static LLVMValueRef round_odd(aj_lower *lo, uint32_t lanes, LLVMValueRef x) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef near = LLVMBuildFPTrunc(b, x, aj_ir_type(lo, ARRJIT_F32, lanes), "");
  LLVMValueRef back = LLVMBuildFPExt(b, near, LLVMTypeOf(x), "");
  LLVMValueRef bits = aj_ir_bits(lo, near, ARRJIT_F32, lanes), one = i32_of(lo, lanes, 1);
  LLVMValueRef under = LLVMBuildFCmp(b, LLVMRealOLT, aj_ir_intrinsic(lo, "llvm.fabs", LLVMTypeOf(x), 1, &back),
                                     aj_ir_intrinsic(lo, "llvm.fabs", LLVMTypeOf(x), 1, &x), "");
  LLVMValueRef step = LLVMBuildSelect(b, under, one, i32_of(lo, lanes, UINT32_MAX), "");
  LLVMValueRef is_odd = LLVMBuildTrunc(b, bits, aj_ir_int_type(lo, 1, lanes), "");
  LLVMValueRef stays = LLVMBuildOr(b, LLVMBuildFCmp(b, LLVMRealUEQ, back, x, ""), is_odd, "");
  return as_f32(lo, lanes, LLVMBuildSelect(b, stays, bits, LLVMBuildAdd(b, bits, step, ""), ""));
}

/* A 64-bit integer that is an f64: beyond 2^53 the last bit kept stands for those that are cut off. */
static LLVMValueRef cut_to_f64(aj_lower *lo, uint32_t lanes, LLVMValueRef x, bool sign) {
  LLVMBuilderRef b = lo->b;
  LLVMValueRef limit = int_of(lo, 64, lanes, UINT64_C(1) << 53), last = int_of(lo, 64, lanes, 0x800);
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x)), rest = int_of(lo, 64, lanes, 0x7ff);
  LLVMValueRef fits =
      sign ? LLVMBuildICmp(b, LLVMIntULE, LLVMBuildAdd(b, x, limit, ""), int_of(lo, 64, lanes, UINT64_C(1) << 54), "")
           : LLVMBuildICmp(b, LLVMIntULE, x, limit, "");
  LLVMValueRef is_cut = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, x, rest, ""), zero, "");
  LLVMValueRef cut = LLVMBuildAnd(b, x, LLVMBuildNot(b, rest, ""), "");
  cut = LLVMBuildOr(b, cut, LLVMBuildSelect(b, is_cut, last, zero, ""), "");
  return LLVMBuildSelect(b, fits, x, cut, "");
}

LLVMValueRef aj_half_near(aj_lower *lo, arrjit_dtype from, uint32_t lanes, LLVMValueRef x) {
  LLVMBuilderRef b = lo->b;
  uint32_t bits = from == ARRJIT_BOOL ? 1 : aj_dtypes[from].bits;
  bool sign = aj_dtypes[from].cls == AJ_CLASS_INT;
  if (from == ARRJIT_F32) return x;
  if (from == ARRJIT_F64) return round_odd(lo, lanes, x);
  if (bits == 64) x = cut_to_f64(lo, lanes, x, sign);
  LLVMTypeRef type = aj_ir_type(lo, bits <= 16 ? ARRJIT_F32 : ARRJIT_F64, lanes);
  x = sign ? LLVMBuildSIToFP(b, x, type, "") : LLVMBuildUIToFP(b, x, type, "");
  return bits <= 16 ? x : round_odd(lo, lanes, x);
}

LLVMValueRef aj_half_is_infinite(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef h) {
  LLVMValueRef magnitude = LLVMBuildAnd(lo->b, h, int_of(lo, 16, lanes, 0x7fff), "");
  LLVMValueRef infinity = int_of(lo, 16, lanes, dtype == ARRJIT_BF16 ? ARRJIT_BF16_INF_BITS : ARRJIT_F16_INF_BITS);
  return LLVMBuildICmp(lo->b, LLVMIntEQ, magnitude, infinity, "");
}

/* ---- bits ---- */

aj_lv aj_half_bits(aj_scalar *s, aj_op op) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef sign = int_of(s->lo, 16, s->lanes, 0x8000), rest = int_of(s->lo, 16, s->lanes, 0x7fff);
  LLVMValueRef x = s->x[0].v, value;
  if (op == AJ_OP_NEG)
    value = LLVMBuildXor(b, x, sign, "");
  else if (op == AJ_OP_ABS)
    value = LLVMBuildAnd(b, x, rest, "");
  else
    value = LLVMBuildOr(b, LLVMBuildAnd(b, x, rest, ""), LLVMBuildAnd(b, s->x[1].v, sign, ""), "");
  return (aj_lv){.v = value, .nan = AJ_NAN_KEEP};
}
