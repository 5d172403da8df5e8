/* Integer division, powers, shifts, overflow checks, float remainders: rules that need guards or calls. */
#include "native/lower.h"

static aj_lv made(LLVMValueRef v) { return (aj_lv){.v = v, .nan = AJ_NAN_CANON}; }
static bool is_signed(arrjit_dtype dtype) { return aj_dtypes[dtype].cls == AJ_CLASS_INT; }

static int64_t least(arrjit_dtype dtype) {
  return aj_dtypes[dtype].bits == 64 ? INT64_MIN : -(INT64_C(1) << (aj_dtypes[dtype].bits - 1));
}

static void fail_when(aj_scalar *s, LLVMValueRef condition) {
  s->fail = s->fail ? LLVMBuildOr(s->lo->b, s->fail, condition, "") : condition;
}

/* A function of sem on two elements of `dtype`, called lane by lane. */
static LLVMValueRef call_lanes(aj_scalar *s, const char *name, arrjit_dtype dtype, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef type = aj_ir_type(s->lo, dtype, 1);
  LLVMValueRef args[2] = {x, y};
  if (s->lanes == 1) return aj_ir_call(s->lo, name, type, 2, args, false);
  LLVMValueRef out = LLVMGetPoison(aj_ir_type(s->lo, dtype, s->lanes));
  for (uint32_t i = 0; i < s->lanes; i++) {
    LLVMValueRef at = aj_ir_i32(s->lo, (int32_t)i);
    LLVMValueRef one[2] = {LLVMBuildExtractElement(s->lo->b, x, at, ""), LLVMBuildExtractElement(s->lo->b, y, at, "")};
    out = LLVMBuildInsertElement(s->lo->b, out, aj_ir_call(s->lo, name, type, 2, one, false), at, "");
  }
  return out;
}

aj_lv aj_lower_ipow(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  bool sign = is_signed(s->in);
  arrjit_dtype wide = sign ? ARRJIT_I64 : ARRJIT_U64;
  LLVMTypeRef type = aj_ir_type(s->lo, wide, s->lanes), narrow = aj_ir_type(s->lo, s->in, s->lanes);
  LLVMValueRef x[2] = {s->x[0].v, s->x[1].v};
  for (int i = 0; i < 2 && type != narrow; i++)
    x[i] = sign ? LLVMBuildSExt(b, x[i], type, "") : LLVMBuildZExt(b, x[i], type, "");
  LLVMValueRef power = call_lanes(s, sign ? "aj_sem_pow_i64" : "aj_sem_pow_u64", wide, x[0], x[1]);
  return made(type == narrow ? power : LLVMBuildTrunc(b, power, narrow, ""));
}

/* ---- division ---- */

typedef struct division {
  LLVMValueRef by_zero, overflow, divisor;
} division;

/* A divisor that neither traps nor overflows: 1 where y is 0 or the quotient of the least by -1 would be. A constant y
 * decides at once. */
static division guard_divisor(aj_scalar *s, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = s->lo->b;
  LLVMTypeRef flag = aj_ir_type(s->lo, ARRJIT_BOOL, s->lanes);
  division d = {.by_zero = LLVMConstNull(flag), .overflow = LLVMConstNull(flag), .divisor = y};
  LLVMValueRef one = s->lanes > 1 ? NULL : LLVMIsAConstantInt(y);
  int64_t value = one ? LLVMConstIntGetSExtValue(one) : 0;
  if (one && value != 0 && value != -1) return d;
  d.by_zero = LLVMBuildICmp(b, LLVMIntEQ, y, LLVMConstNull(LLVMTypeOf(y)), "");
  LLVMValueRef bad = d.by_zero;
  if (is_signed(s->in)) {
    LLVMValueRef is_least = LLVMBuildICmp(b, LLVMIntEQ, x, aj_ir_int(s->lo, s->in, s->lanes, least(s->in)), "");
    LLVMValueRef minus = LLVMBuildICmp(b, LLVMIntEQ, y, LLVMConstAllOnes(LLVMTypeOf(y)), "");
    d.overflow = LLVMBuildAnd(b, is_least, minus, "");
    bad = LLVMBuildOr(b, bad, d.overflow, "");
  }
  d.divisor = LLVMBuildSelect(b, bad, aj_ir_int(s->lo, s->in, s->lanes, 1), y, "");
  return d;
}

/* Whether a remainder r is not 0 and has another sign than y. */
static LLVMValueRef signs_differ(aj_scalar *s, LLVMValueRef r, LLVMValueRef y) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(r));
  LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, r, zero, "");
  return LLVMBuildAnd(b, some, LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, r, y, ""), zero, ""), "");
}

aj_lv aj_lower_division(aj_scalar *s, aj_op op) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v;
  bool sign = is_signed(s->in), down = op == AJ_OP_FLOOR_DIV || op == AJ_OP_MOD;
  division d = guard_divisor(s, x, y);
  if (op == AJ_OP_CHECKED_DIV || op == AJ_OP_CHECKED_REM) fail_when(s, d.by_zero);
  if (op == AJ_OP_CHECKED_DIV) fail_when(s, d.overflow);
  LLVMValueRef rest = NULL, quotient = NULL;
  if (op == AJ_OP_REM || op == AJ_OP_MOD || op == AJ_OP_CHECKED_REM || (down && sign))
    rest = sign ? LLVMBuildSRem(b, x, d.divisor, "") : LLVMBuildURem(b, x, d.divisor, "");
  if (op == AJ_OP_DIV || op == AJ_OP_FLOOR_DIV || op == AJ_OP_CHECKED_DIV)
    quotient = sign ? LLVMBuildSDiv(b, x, d.divisor, "") : LLVMBuildUDiv(b, x, d.divisor, "");
  LLVMValueRef adjust = down && sign ? signs_differ(s, rest, y) : NULL;
  if (quotient) {
    if (adjust) quotient = LLVMBuildAdd(b, quotient, LLVMBuildSExt(b, adjust, LLVMTypeOf(x), ""), "");
    return made(LLVMBuildSelect(b, d.by_zero, LLVMConstAllOnes(LLVMTypeOf(x)), quotient, ""));
  }
  if (adjust) rest = LLVMBuildSelect(b, adjust, LLVMBuildAdd(b, rest, y, ""), rest, "");
  return made(LLVMBuildSelect(b, d.by_zero, x, rest, ""));
}

/* ---- shifts ---- */

aj_lv aj_lower_shift(aj_scalar *s, aj_op op) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v;
  uint32_t width = aj_dtypes[s->in].bits;
  LLVMValueRef most = aj_ir_int(s->lo, s->in, s->lanes, width - 1);
  LLVMValueRef count = LLVMBuildAnd(b, y, most, "");
  if (op == AJ_OP_ROTL) {
    LLVMValueRef args[3] = {x, x, count};
    return made(aj_ir_intrinsic(s->lo, "llvm.fshl", LLVMTypeOf(x), 3, args));
  }
  LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULE, y, most, ""); /* a negative count is a large one */
  if (op == AJ_OP_SHR_ARITH) return made(LLVMBuildAShr(b, x, LLVMBuildSelect(b, fits, y, most, ""), ""));
  if (op == AJ_OP_CHECKED_SHL) fail_when(s, LLVMBuildNot(b, fits, ""));
  LLVMValueRef shifted = op == AJ_OP_SHR_LOGICAL ? LLVMBuildLShr(b, x, count, "") : LLVMBuildShl(b, x, count, "");
  return made(LLVMBuildSelect(b, fits, shifted, LLVMConstNull(LLVMTypeOf(x)), ""));
}

/* ---- overflow ---- */

aj_lv aj_lower_checked_arith(aj_scalar *s, aj_op op) {
  static const char *const names[2][3] = {
      {"llvm.uadd.with.overflow", "llvm.usub.with.overflow", "llvm.umul.with.overflow"},
      {"llvm.sadd.with.overflow", "llvm.ssub.with.overflow", "llvm.smul.with.overflow"}};
  const char *name = names[is_signed(s->in)][op == AJ_OP_CHECKED_ADD ? 0 : op == AJ_OP_CHECKED_SUB ? 1 : 2];
  LLVMValueRef args[2] = {s->x[0].v, s->x[1].v};
  LLVMValueRef both = aj_ir_intrinsic(s->lo, name, LLVMTypeOf(args[0]), 2, args);
  fail_when(s, LLVMBuildExtractValue(s->lo->b, both, 1, ""));
  return made(LLVMBuildExtractValue(s->lo->b, both, 0, ""));
}

/* ---- float remainders ---- */

static LLVMValueRef call_fmod(aj_scalar *s, LLVMValueRef x, LLVMValueRef y) {
  return call_lanes(s, s->in == ARRJIT_F32 ? "aj_sem_fmod_f32" : "aj_sem_fmod_f64", s->in, x, y);
}

static LLVMValueRef copysign_of(aj_scalar *s, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef args[2] = {x, y};
  return aj_ir_intrinsic(s->lo, "llvm.copysign", LLVMTypeOf(x), 2, args);
}

/* mod from rem: plus y where the signs differ; a zero takes y's sign. *out_shifted: where y was added. */
static LLVMValueRef mod_of(aj_scalar *s, LLVMValueRef rem, LLVMValueRef y, LLVMValueRef *out_shifted) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(rem));
  LLVMValueRef is_zero = LLVMBuildFCmp(b, LLVMRealOEQ, rem, zero, "");
  LLVMValueRef some = LLVMBuildFCmp(b, LLVMRealUNE, rem, zero, "");
  LLVMValueRef differ =
      LLVMBuildXor(b, LLVMBuildFCmp(b, LLVMRealOLT, rem, zero, ""), LLVMBuildFCmp(b, LLVMRealOLT, y, zero, ""), "");
  *out_shifted = LLVMBuildAnd(b, some, differ, "");
  LLVMValueRef moved = LLVMBuildSelect(b, *out_shifted, LLVMBuildFAdd(b, rem, y, ""), rem, "");
  return LLVMBuildSelect(b, is_zero, copysign_of(s, zero, y), moved, "");
}

/* As NumPy's divmod: (x - mod) / y rounded to an integer, a zero with the sign of x / y; x / 0 as division. */
static LLVMValueRef floor_div_of(aj_scalar *s, LLVMValueRef x, LLVMValueRef y, LLVMValueRef rem) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef shifted, zero = LLVMConstNull(LLVMTypeOf(x)), one = aj_ir_int(s->lo, s->in, s->lanes, 1);
  mod_of(s, rem, y, &shifted);
  LLVMValueRef quotient = LLVMBuildFDiv(b, LLVMBuildFSub(b, x, rem, ""), y, "");
  quotient = LLVMBuildSelect(b, shifted, LLVMBuildFSub(b, quotient, one, ""), quotient, "");
  LLVMValueRef down = aj_lower_round(s, AJ_OP_FLOOR, quotient);
  LLVMValueRef half = aj_ir_float(s->lo, s->in, s->lanes, 0.5);
  LLVMValueRef up = LLVMBuildFCmp(b, LLVMRealOGT, LLVMBuildFSub(b, quotient, down, ""), half, "");
  down = LLVMBuildSelect(b, up, LLVMBuildFAdd(b, down, one, ""), down, "");
  LLVMValueRef divided = LLVMBuildFDiv(b, x, y, "");
  LLVMValueRef is_zero = LLVMBuildFCmp(b, LLVMRealOEQ, quotient, zero, "");
  LLVMValueRef value = LLVMBuildSelect(b, is_zero, copysign_of(s, zero, divided), down, "");
  return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, y, zero, ""), divided, value, "");
}

aj_lv aj_lower_float_remainder(aj_scalar *s, aj_op op) {
  LLVMValueRef x = s->x[0].v, y = s->x[1].v, shifted;
  LLVMValueRef rem = call_fmod(s, x, y);
  if (op == AJ_OP_MOD) rem = mod_of(s, rem, y, &shifted);
  if (op == AJ_OP_FLOOR_DIV) rem = floor_div_of(s, x, y, rem);
  return (aj_lv){.v = rem, .nan = AJ_NAN_RAW};
}
