/* The scalar rules as LLVM IR, on scalars and vectors alike. Bits equal those of src/sem for all operands: nothing here
 * may give poison or undefined behaviour for any of them. No fast-math flags. */
#include <math.h>

#include "native/lower.h"

static aj_lv made(LLVMValueRef v, aj_nan nan) { return (aj_lv){.v = v, .nan = nan}; }
static bool is_float(arrjit_dtype dtype) { return aj_dtypes[dtype].cls == AJ_CLASS_FLOAT; }
static bool is_signed(arrjit_dtype dtype) { return aj_dtypes[dtype].cls == AJ_CLASS_INT; }
static LLVMTypeRef type_of(const aj_scalar *s, arrjit_dtype dtype) { return aj_ir_type(s->lo, dtype, s->lanes); }

/* Operand whose bits are read. */
static LLVMValueRef bits_operand(aj_scalar *s, uint32_t i) { return aj_ir_canonical(s->lo, s->in, s->lanes, s->x[i]); }

static LLVMValueRef intrinsic1(aj_scalar *s, const char *name, LLVMValueRef x) {
  return aj_ir_intrinsic(s->lo, name, LLVMTypeOf(x), 1, &x);
}

/* ---- one operand ---- */

static aj_lv lower_neg(aj_scalar *s) {
  if (is_float(s->in)) return made(LLVMBuildFNeg(s->lo->b, bits_operand(s, 0), ""), AJ_NAN_KEEP);
  return made(LLVMBuildNeg(s->lo->b, s->x[0].v, ""), AJ_NAN_CANON);
}

static aj_lv lower_abs(aj_scalar *s) {
  LLVMValueRef x = bits_operand(s, 0);
  if (is_float(s->in)) return made(intrinsic1(s, "llvm.fabs", x), AJ_NAN_KEEP);
  if (!is_signed(s->in)) return made(x, AJ_NAN_CANON);
  LLVMValueRef args[2] = {x, LLVMConstInt(s->lo->t_i1, 0, 0)};
  return made(aj_ir_intrinsic(s->lo, "llvm.abs", LLVMTypeOf(x), 2, args), AJ_NAN_CANON);
}

static aj_lv lower_sign(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, zero = LLVMConstNull(LLVMTypeOf(x));
  LLVMValueRef one = aj_ir_int(s->lo, s->in, s->lanes, 1), minus = aj_ir_int(s->lo, s->in, s->lanes, -1);
  if (is_float(s->in)) {
    LLVMValueRef above = LLVMBuildFCmp(b, LLVMRealOGT, x, zero, ""), below = LLVMBuildFCmp(b, LLVMRealOLT, x, zero, "");
    return made(LLVMBuildSelect(b, above, one, LLVMBuildSelect(b, below, minus, x, ""), ""), AJ_NAN_RAW);
  }
  LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, x, zero, "");
  LLVMValueRef positive = LLVMBuildZExt(b, some, LLVMTypeOf(x), "");
  if (!is_signed(s->in)) return made(positive, AJ_NAN_CANON);
  return made(LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntSLT, x, zero, ""), minus, positive, ""), AJ_NAN_CANON);
}

static aj_lv lower_bit_count(aj_scalar *s, aj_op op) {
  if (op == AJ_OP_POPCOUNT) return made(intrinsic1(s, "llvm.ctpop", s->x[0].v), AJ_NAN_CANON);
  LLVMValueRef args[2] = {s->x[0].v, LLVMConstInt(s->lo->t_i1, 0, 0)};
  const char *name = op == AJ_OP_CLZ ? "llvm.ctlz" : "llvm.cttz";
  return made(aj_ir_intrinsic(s->lo, name, LLVMTypeOf(args[0]), 2, args), AJ_NAN_CANON);
}

static aj_lv lower_bitcast(aj_scalar *s) {
  return made(LLVMBuildBitCast(s->lo->b, bits_operand(s, 0), type_of(s, s->out), ""), AJ_NAN_KEEP);
}

/* A part of a complex number: some of its bits. */
static aj_lv lower_part(aj_scalar *s, bool imaginary) {
  LLVMBuilderRef b = s->lo->b;
  uint32_t bits = aj_dtypes[s->out].bits;
  LLVMValueRef x = s->x[0].v, shift = aj_ir_splat(s->lo, LLVMConstInt(aj_ir_type(s->lo, s->in, 1), bits, 0), s->lanes);
  if (imaginary) x = LLVMBuildLShr(b, x, shift, "");
  x = LLVMBuildTrunc(b, x, aj_ir_int_type(s->lo, bits, s->lanes), "");
  return made(LLVMBuildBitCast(b, x, type_of(s, s->out), ""), AJ_NAN_KEEP);
}

/* ---- two operands ---- */

static aj_lv lower_complex(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  uint32_t bits = aj_dtypes[s->in].bits;
  LLVMTypeRef type = type_of(s, s->out);
  LLVMValueRef part[2], shift = aj_ir_splat(s->lo, LLVMConstInt(aj_ir_type(s->lo, s->out, 1), bits, 0), s->lanes);
  for (uint32_t i = 0; i < 2; i++)
    part[i] = LLVMBuildZExt(b, aj_ir_bits(s->lo, bits_operand(s, i), s->in, s->lanes), type, "");
  return made(LLVMBuildOr(b, part[0], LLVMBuildShl(b, part[1], shift, ""), ""), AJ_NAN_KEEP);
}

static aj_lv lower_arith(aj_scalar *s, aj_op op) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v;
  bool f = is_float(s->in);
  aj_nan nan = f ? AJ_NAN_RAW : AJ_NAN_CANON;
  if (op == AJ_OP_ADD) return made(f ? LLVMBuildFAdd(b, x, y, "") : LLVMBuildAdd(b, x, y, ""), nan);
  if (op == AJ_OP_SUB) return made(f ? LLVMBuildFSub(b, x, y, "") : LLVMBuildSub(b, x, y, ""), nan);
  return made(f ? LLVMBuildFMul(b, x, y, "") : LLVMBuildMul(b, x, y, ""), nan);
}

static aj_lv lower_div(aj_scalar *s, aj_op op) {
  if (!is_float(s->in)) return aj_lower_division(s, op);
  if (op == AJ_OP_DIV) return made(LLVMBuildFDiv(s->lo->b, s->x[0].v, s->x[1].v, ""), AJ_NAN_RAW);
  return aj_lower_float_remainder(s, op);
}

/* (x < y ? x : y) as one instruction: y when either is NaN or both are zeros. */
static LLVMValueRef choose(aj_scalar *s, LLVMRealPredicate predicate, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(s->lo->b, LLVMBuildFCmp(s->lo->b, predicate, x, y, ""), x, y, "");
}

/* IEEE minimum and maximum. Both ways round agree but for zeros and NaNs: for min, or of the bits puts -0 first and
 * keeps a NaN; for max, and of the bits puts +0 first and a NaN needs a look. */
aj_lv aj_lower_minmax(aj_scalar *s, bool is_max, LLVMValueRef x, LLVMValueRef y) {
  LLVMBuilderRef b = s->lo->b;
  if (!is_float(s->in)) {
    if (s->in == ARRJIT_BOOL) return made(is_max ? LLVMBuildOr(b, x, y, "") : LLVMBuildAnd(b, x, y, ""), AJ_NAN_CANON);
    LLVMIntPredicate p = is_signed(s->in) ? (is_max ? LLVMIntSGT : LLVMIntSLT) : (is_max ? LLVMIntUGT : LLVMIntULT);
    return made(LLVMBuildSelect(b, LLVMBuildICmp(b, p, x, y, ""), x, y, ""), AJ_NAN_CANON);
  }
  LLVMRealPredicate p = is_max ? LLVMRealOGT : LLVMRealOLT;
  LLVMValueRef one = aj_ir_bits(s->lo, choose(s, p, x, y), s->in, s->lanes);
  LLVMValueRef two = aj_ir_bits(s->lo, choose(s, p, y, x), s->in, s->lanes);
  LLVMValueRef bits = is_max ? LLVMBuildAnd(b, one, two, "") : LLVMBuildOr(b, one, two, "");
  LLVMValueRef value = LLVMBuildBitCast(b, bits, LLVMTypeOf(x), "");
  if (!is_max) return made(value, AJ_NAN_RAW);
  LLVMValueRef unordered = LLVMBuildFCmp(b, LLVMRealUNO, x, y, "");
  return made(LLVMBuildSelect(b, unordered, LLVMBuildFAdd(b, x, y, ""), value, ""), AJ_NAN_RAW);
}

static LLVMValueRef is_nan(aj_scalar *s, LLVMValueRef x) { return LLVMBuildFCmp(s->lo->b, LLVMRealUNO, x, x, ""); }

static aj_lv lower_fminmax(aj_scalar *s, bool is_max) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v, both = aj_lower_minmax(s, is_max, x, y).v;
  return made(LLVMBuildSelect(b, is_nan(s, x), y, LLVMBuildSelect(b, is_nan(s, y), x, both, ""), ""), AJ_NAN_RAW);
}

static aj_lv lower_fdim(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v;
  LLVMValueRef above = LLVMBuildFCmp(b, LLVMRealOGT, x, y, ""), unordered = LLVMBuildFCmp(b, LLVMRealUNO, x, y, "");
  LLVMValueRef rest = LLVMBuildSelect(b, unordered, LLVMBuildFAdd(b, x, y, ""), LLVMConstNull(LLVMTypeOf(x)), "");
  return made(LLVMBuildSelect(b, above, LLVMBuildFSub(b, x, y, ""), rest, ""), AJ_NAN_RAW);
}

static LLVMValueRef value_of(aj_scalar *s, uint32_t k) {
  return aj_dtype_is_half(s->in) ? aj_half_widen(s->lo, s->in, s->lanes, s->x[k].v).v : s->x[k].v;
}
static LLVMValueRef bits_of(aj_scalar *s, uint32_t k) {
  return aj_dtype_is_half(s->in) ? s->x[k].v : aj_ir_bits(s->lo, s->x[k].v, s->in, s->lanes);
}

/* Bits of the element to bits, those of 16-bit floats too. */
static aj_lv lower_nextafter(aj_scalar *s) {
  LLVMBuilderRef b = s->lo->b;
  uint32_t width = aj_dtypes[s->in].bits;
  arrjit_dtype bits = width == 16 ? ARRJIT_I16 : width == 32 ? ARRJIT_I32 : ARRJIT_I64;
  LLVMValueRef x = value_of(s, 0), y = value_of(s, 1), zero = LLVMConstNull(LLVMTypeOf(x));
  LLVMValueRef from = bits_of(s, 0), to = bits_of(s, 1);
  LLVMValueRef one = aj_ir_int(s->lo, bits, s->lanes, 1), minus = aj_ir_int(s->lo, bits, s->lanes, -1);
  LLVMValueRef sign = aj_ir_int(s->lo, bits, s->lanes, INT64_MIN >> (64 - width));
  LLVMValueRef rises = LLVMBuildFCmp(b, LLVMRealOLT, x, y, ""), positive = LLVMBuildFCmp(b, LLVMRealOGT, x, zero, "");
  LLVMValueRef step = LLVMBuildSelect(b, LLVMBuildXor(b, rises, positive, ""), minus, one, "");
  LLVMValueRef least = LLVMBuildOr(b, LLVMBuildAnd(b, to, sign, ""), one, "");
  LLVMValueRef next =
      LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, x, zero, ""), least, LLVMBuildAdd(b, from, step, ""), "");
  next = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, x, y, ""), to, next, "");
  LLVMValueRef unordered = LLVMBuildFCmp(b, LLVMRealUNO, x, y, ""), nan = LLVMBuildFAdd(b, x, y, "");
  if (aj_dtype_is_half(s->in)) {
    nan = aj_half_narrow(s->lo, s->in, s->lanes, nan).v;
    return made(LLVMBuildSelect(b, unordered, nan, next, ""), AJ_NAN_CANON);
  }
  LLVMValueRef value = LLVMBuildBitCast(b, next, LLVMTypeOf(x), "");
  return made(LLVMBuildSelect(b, unordered, nan, value, ""), AJ_NAN_RAW);
}

static aj_lv lower_copysign(aj_scalar *s) {
  LLVMValueRef args[2] = {bits_operand(s, 0), bits_operand(s, 1)};
  return made(aj_ir_intrinsic(s->lo, "llvm.copysign", LLVMTypeOf(args[0]), 2, args), AJ_NAN_KEEP);
}

static aj_lv lower_logic(aj_scalar *s, aj_op op) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v;
  if (op == AJ_OP_AND) return made(LLVMBuildAnd(b, x, y, ""), AJ_NAN_CANON);
  return made(op == AJ_OP_OR ? LLVMBuildOr(b, x, y, "") : LLVMBuildXor(b, x, y, ""), AJ_NAN_CANON);
}

/* Predicates by op, from EQ on: float, signed, unsigned. */
static const LLVMRealPredicate real_predicates[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                                    LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
static const LLVMIntPredicate signed_predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntSLT,
                                                     LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
static const LLVMIntPredicate unsigned_predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                                       LLVMIntULE, LLVMIntUGT, LLVMIntUGE};

static aj_lv lower_compare(aj_scalar *s, uint32_t which) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef x = s->x[0].v, y = s->x[1].v;
  if (is_float(s->in)) return made(LLVMBuildFCmp(b, real_predicates[which], x, y, ""), AJ_NAN_CANON);
  LLVMIntPredicate p = is_signed(s->in) ? signed_predicates[which] : unsigned_predicates[which];
  return made(LLVMBuildICmp(b, p, x, y, ""), AJ_NAN_CANON);
}

/* ---- three operands ---- */

static aj_lv lower_fma(aj_scalar *s) {
  LLVMValueRef args[3] = {s->x[0].v, s->x[1].v, s->x[2].v};
  if (s->lo->target->has_fma) return made(aj_ir_intrinsic(s->lo, "llvm.fma", LLVMTypeOf(args[0]), 3, args), AJ_NAN_RAW);
  const char *name = s->in == ARRJIT_F32 ? "aj_sem_fma_f32" : "aj_sem_fma_f64";
  LLVMTypeRef type = aj_ir_type(s->lo, s->in, 1);
  if (s->lanes == 1) return made(aj_ir_call(s->lo, name, type, 3, args, false), AJ_NAN_RAW);
  LLVMValueRef out = LLVMGetPoison(type_of(s, s->in));
  for (uint32_t i = 0; i < s->lanes; i++) {
    LLVMValueRef at = aj_ir_i32(s->lo, (int32_t)i), one[3];
    for (uint32_t k = 0; k < 3; k++) one[k] = LLVMBuildExtractElement(s->lo->b, args[k], at, "");
    out = LLVMBuildInsertElement(s->lo->b, out, aj_ir_call(s->lo, name, type, 3, one, false), at, "");
  }
  return made(out, AJ_NAN_RAW);
}

/* A raw side next to one whose bits are kept is made canonical first; two raw sides stay raw. */
static aj_lv lower_select(aj_scalar *s) {
  aj_lv x = s->x[1], y = s->x[2];
  bool keep = x.nan == AJ_NAN_KEEP || y.nan == AJ_NAN_KEEP;
  aj_nan nan = keep ? AJ_NAN_KEEP : x.nan == AJ_NAN_RAW || y.nan == AJ_NAN_RAW ? AJ_NAN_RAW : AJ_NAN_CANON;
  LLVMValueRef a = keep ? aj_ir_canonical(s->lo, s->in, s->lanes, x) : x.v;
  LLVMValueRef c = keep ? aj_ir_canonical(s->lo, s->in, s->lanes, y) : y.v;
  return made(LLVMBuildSelect(s->lo->b, s->x[0].v, a, c, ""), nan);
}

static aj_lv lower_clamp(aj_scalar *s) {
  aj_lv low = aj_lower_minmax(s, true, s->x[0].v, s->x[1].v);
  return aj_lower_minmax(s, false, low.v, s->x[2].v);
}

static aj_lv lower_against_infinity(aj_scalar *s, LLVMRealPredicate predicate) {
  LLVMValueRef size = intrinsic1(s, "llvm.fabs", s->x[0].v),
               inf = aj_ir_float(s->lo, s->in, s->lanes, (double)INFINITY);
  return made(LLVMBuildFCmp(s->lo->b, predicate, size, inf, ""), AJ_NAN_CANON);
}

/* ---- the table ---- */

static aj_lv lower_op(aj_scalar *s, const aj_node *node) {
  switch (node->op) {
  case AJ_OP_NEG: return lower_neg(s);
  case AJ_OP_ABS: return lower_abs(s);
  case AJ_OP_SIGN: return lower_sign(s);
  case AJ_OP_SQRT: return made(intrinsic1(s, "llvm.sqrt", s->x[0].v), AJ_NAN_RAW);
  case AJ_OP_FLOOR:
  case AJ_OP_CEIL:
  case AJ_OP_TRUNC:
  case AJ_OP_ROUND_EVEN:
  case AJ_OP_ROUND_AWAY: return made(aj_lower_round(s, node->op, s->x[0].v), AJ_NAN_RAW);
  case AJ_OP_IS_FINITE: return lower_against_infinity(s, LLVMRealOLT);
  case AJ_OP_IS_INF: return lower_against_infinity(s, LLVMRealOEQ);
  case AJ_OP_IS_NAN: return made(is_nan(s, s->x[0].v), AJ_NAN_CANON);
  case AJ_OP_REAL: return lower_part(s, false);
  case AJ_OP_IMAG: return lower_part(s, true);
  case AJ_OP_NOT: return made(LLVMBuildNot(s->lo->b, s->x[0].v, ""), AJ_NAN_CANON);
  case AJ_OP_POPCOUNT:
  case AJ_OP_CLZ:
  case AJ_OP_CTZ: return lower_bit_count(s, node->op);
  case AJ_OP_CONVERT: return aj_lower_convert(s);
  case AJ_OP_BITCAST: return lower_bitcast(s);
  case AJ_OP_ADD:
  case AJ_OP_SUB:
  case AJ_OP_MUL: return lower_arith(s, node->op);
  case AJ_OP_DIV:
  case AJ_OP_REM:
  case AJ_OP_FLOOR_DIV:
  case AJ_OP_MOD: return lower_div(s, node->op);
  case AJ_OP_MIN: return aj_lower_minmax(s, false, s->x[0].v, s->x[1].v);
  case AJ_OP_MAX: return aj_lower_minmax(s, true, s->x[0].v, s->x[1].v);
  case AJ_OP_IPOW: return aj_lower_ipow(s);
  case AJ_OP_FMIN: return lower_fminmax(s, false);
  case AJ_OP_FMAX: return lower_fminmax(s, true);
  case AJ_OP_FDIM: return lower_fdim(s);
  case AJ_OP_NEXTAFTER: return lower_nextafter(s);
  case AJ_OP_COPYSIGN: return lower_copysign(s);
  case AJ_OP_AND:
  case AJ_OP_OR:
  case AJ_OP_XOR: return lower_logic(s, node->op);
  case AJ_OP_SHL:
  case AJ_OP_SHR_LOGICAL:
  case AJ_OP_SHR_ARITH:
  case AJ_OP_ROTL:
  case AJ_OP_CHECKED_SHL: return aj_lower_shift(s, node->op);
  case AJ_OP_COMPLEX: return lower_complex(s);
  case AJ_OP_EQ:
  case AJ_OP_NE:
  case AJ_OP_LT:
  case AJ_OP_LE:
  case AJ_OP_GT:
  case AJ_OP_GE: return lower_compare(s, (uint32_t)node->op - (uint32_t)AJ_OP_EQ);
  case AJ_OP_FMA: return lower_fma(s);
  case AJ_OP_SELECT: return lower_select(s);
  case AJ_OP_CLAMP: return lower_clamp(s);
  case AJ_OP_CHECKED_ADD:
  case AJ_OP_CHECKED_SUB:
  case AJ_OP_CHECKED_MUL: return aj_lower_checked_arith(s, node->op);
  case AJ_OP_CHECKED_DIV:
  case AJ_OP_CHECKED_REM: return aj_lower_division(s, node->op);
  case AJ_OP_CHECKED_CONVERT: return aj_lower_checked_convert(s);
  case AJ_OP_NONE:
  case AJ_OP_COUNT:
  case AJ_OP_CONST:
  case AJ_OP_IOTA:
  case AJ_OP_FULL:
  case AJ_OP_DIM_SIZE:
  case AJ_OP_CONJ:
  case AJ_OP_EXP:
  case AJ_OP_LOG:
  case AJ_OP_TANH:
  case AJ_OP_SIN:
  case AJ_OP_COS:
  case AJ_OP_EXP2:
  case AJ_OP_EXP10:
  case AJ_OP_EXPM1:
  case AJ_OP_LOG2:
  case AJ_OP_LOG10:
  case AJ_OP_LOG1P:
  case AJ_OP_TAN:
  case AJ_OP_ASIN:
  case AJ_OP_ACOS:
  case AJ_OP_ATAN:
  case AJ_OP_ATAN2:
  case AJ_OP_POW:
  case AJ_OP_SINH:
  case AJ_OP_COSH:
  case AJ_OP_ASINH:
  case AJ_OP_ACOSH:
  case AJ_OP_ATANH:
  case AJ_OP_CBRT:
  case AJ_OP_RSQRT:
  case AJ_OP_HYPOT:
  case AJ_OP_LOGISTIC:
  case AJ_OP_ERF:
  case AJ_OP_ERFC:
  case AJ_OP_ERF_INV:
  case AJ_OP_TGAMMA:
  case AJ_OP_LGAMMA:
  case AJ_OP_DIGAMMA:
  case AJ_OP_BROADCAST:
  case AJ_OP_RESHAPE:
  case AJ_OP_TRANSPOSE:
  case AJ_OP_REVERSE:
  case AJ_OP_SLICE:
  case AJ_OP_CONCAT:
  case AJ_OP_PAD:
  case AJ_OP_DYNAMIC_SLICE:
  case AJ_OP_DYNAMIC_UPDATE_SLICE:
  case AJ_OP_GATHER:
  case AJ_OP_TAKE:
  case AJ_OP_SCATTER:
  case AJ_OP_SCATTER_ADD:
  case AJ_OP_SCATTER_MUL:
  case AJ_OP_SCATTER_MIN:
  case AJ_OP_SCATTER_MAX:
  case AJ_OP_CHECKED_SLICE:
  case AJ_OP_CHECKED_GATHER:
  case AJ_OP_CHECKED_INDEX:
  case AJ_OP_CHECKED_SCATTER:
  case AJ_OP_SORT:
  case AJ_OP_ARGSORT:
  case AJ_OP_SORT_BY:
  case AJ_OP_SEARCHSORTED:
  case AJ_OP_REDUCE_SUM:
  case AJ_OP_REDUCE_PROD:
  case AJ_OP_REDUCE_MIN:
  case AJ_OP_REDUCE_MAX:
  case AJ_OP_REDUCE_AND:
  case AJ_OP_REDUCE_OR:
  case AJ_OP_REDUCE:
  case AJ_OP_CUMSUM:
  case AJ_OP_CUMPROD:
  case AJ_OP_CUMMIN:
  case AJ_OP_CUMMAX:
  case AJ_OP_CUMULATIVE:
  case AJ_OP_REDUCE_WINDOW:
  case AJ_OP_SELECT_AND_SCATTER:
  case AJ_OP_ARGMIN:
  case AJ_OP_ARGMAX:
  case AJ_OP_MEAN:
  case AJ_OP_DOT:
  case AJ_OP_CONV:
  case AJ_OP_FFT_LAST:
  case AJ_OP_RFFT_LAST:
  case AJ_OP_IRFFT_LAST:
  case AJ_OP_SOLVE_LOWER:
  case AJ_OP_CHOLESKY:
  case AJ_OP_LU:
  case AJ_OP_QR:
  case AJ_OP_EIGH:
  case AJ_OP_SVD:
  case AJ_OP_IF:
  case AJ_OP_SWITCH:
  case AJ_OP_WHILE:
  case AJ_OP_FOR:
  case AJ_OP_MAP:
  case AJ_OP_CALL:
  case AJ_OP_TRY:
  case AJ_OP_YIELD:
  case AJ_OP_RAISE:
  case AJ_OP_RAISE_EXN:
  case AJ_OP_CHECK:
  case AJ_OP_CHECK_SHAPE:
  case AJ_OP_CALLBACK:
  case AJ_OP_EXN_NEW:
  case AJ_OP_EXN_IS:
  case AJ_OP_EXN_FIELD:
  case AJ_OP_EXN_CODE:
  case AJ_OP_EXN_SITE:
  case AJ_OP_EXN_CAUSE:
  case AJ_OP_KERNEL:
  case AJ_OP_FIRST_FALSE:
  case AJ_OP_LANE_INDEX: break;
  }
  AJ_ASSERT(!"not a scalar op");
  return s->x[0];
}

/* 16-bit floats: bits where bits are moved; else f32 inside, rounded once where the result is a 16-bit float again. */
static aj_lv lower_widened(aj_scalar *s, const aj_node *node) {
  const aj_op_info *op = &aj_ops[node->op];
  bool moves = (op->flags & AJ_F_BITS) != 0, narrows = op->rule != AJ_R_CONVERT && aj_dtype_is_half(s->out);
  bool knows = node->op == AJ_OP_SELECT || node->op == AJ_OP_NEXTAFTER || op->rule == AJ_R_BITCAST;
  if (!aj_dtype_is_half(s->in) || knows) return lower_op(s, node);
  if (moves) return aj_half_bits(s, node->op);
  aj_lv x[3];
  AJ_ASSERT(node->operand_count <= AJ_COUNT(x));
  for (uint32_t i = 0; i < node->operand_count; i++) x[i] = aj_half_widen(s->lo, s->in, s->lanes, s->x[i].v);
  aj_scalar wide = *s;
  wide.in = ARRJIT_F32;
  wide.out = narrows ? ARRJIT_F32 : s->out;
  wide.x = x;
  aj_lv value = lower_op(&wide, node);
  s->fail = wide.fail;
  return narrows ? aj_half_narrow(s->lo, s->out, s->lanes, value.v) : value;
}

/* Wrong on purpose, for the test that finds it: the lowest bit of the result is the other one. */
static aj_lv flip(aj_scalar *s, aj_lv value) {
  LLVMTypeRef type = LLVMTypeOf(value.v);
  LLVMValueRef bits = value.v;
  if (is_float(s->out)) bits = aj_ir_bits(s->lo, aj_ir_canonical(s->lo, s->out, s->lanes, value), s->out, s->lanes);
  LLVMTypeRef element = s->lanes > 1 ? LLVMGetElementType(LLVMTypeOf(bits)) : LLVMTypeOf(bits);
  LLVMValueRef one = aj_ir_splat(s->lo, LLVMConstInt(element, 1, 0), s->lanes);
  bits = LLVMBuildXor(s->lo->b, bits, one, "");
  return made(LLVMBuildBitCast(s->lo->b, bits, type, ""), AJ_NAN_KEEP);
}

aj_lv aj_lower_scalar(aj_lower *lo, uint32_t lanes, const aj_node *node, const aj_lv *in, LLVMValueRef *out_fail) {
  arrjit_dtype dtype = node->operands[node->op == AJ_OP_SELECT ? 1 : 0]->type->dtype;
  aj_scalar s = {.lo = lo, .lanes = lanes, .in = dtype, .out = node->results[0].type->dtype, .x = in};
  aj_lv value = lower_widened(&s, node);
  if (lo->request->flip_lowering == (int64_t)node->op + 1) value = flip(&s, value);
  *out_fail = s.fail;
  return value;
}

LLVMValueRef aj_lower_combine(aj_lower *lo, uint32_t lanes, aj_op reduce, arrjit_dtype dtype, LLVMValueRef x,
                              LLVMValueRef y) {
  aj_lv in[2] = {{.v = x}, {.v = y}};
  aj_scalar s = {.lo = lo, .lanes = lanes, .in = dtype, .out = dtype, .x = in};
  if (reduce == AJ_OP_REDUCE_SUM) return lower_arith(&s, AJ_OP_ADD).v;
  if (reduce == AJ_OP_REDUCE_PROD) return lower_arith(&s, AJ_OP_MUL).v;
  if (reduce == AJ_OP_REDUCE_AND) return lower_logic(&s, AJ_OP_AND).v;
  if (reduce == AJ_OP_REDUCE_OR) return lower_logic(&s, AJ_OP_OR).v;
  return aj_lower_minmax(&s, reduce == AJ_OP_REDUCE_MAX, x, y).v;
}
