/* Floats rounded to whole numbers, also on CPUs that have no instruction for it: there the rest is rounded off by
 * adding a number so large that the sum has no places behind the point, and taking it away again. */
#include "native/lower.h"

static LLVMValueRef call(aj_scalar *s, const char *name, uint32_t count, LLVMValueRef x, LLVMValueRef y) {
  LLVMValueRef args[2] = {x, y};
  return aj_ir_intrinsic(s->lo, name, LLVMTypeOf(x), count, args);
}
static LLVMValueRef size_of(aj_scalar *s, LLVMValueRef x) { return call(s, "llvm.fabs", 1, x, NULL); }
static LLVMValueRef with_sign(aj_scalar *s, LLVMValueRef x, LLVMValueRef of) {
  return call(s, "llvm.copysign", 2, x, of);
}
static LLVMValueRef number(aj_scalar *s, double x) { return aj_ir_float(s->lo, s->in, s->lanes, x); }

/* x where it is that large itself, infinite or NaN. Signs of zero are as if rounded at once. */
static LLVMValueRef nearest(aj_scalar *s, LLVMValueRef x) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef large = number(s, s->in == ARRJIT_F32 ? 0x1p23 : 0x1p52), size = size_of(s, x);
  LLVMValueRef whole = LLVMBuildFSub(b, LLVMBuildFAdd(b, size, large, ""), large, "");
  LLVMValueRef is_less = LLVMBuildFCmp(b, LLVMRealOLT, size, large, "");
  return with_sign(s, LLVMBuildSelect(b, is_less, whole, size, ""), x);
}

/* `whole`, or one further by `step` where it is on the wrong side of x. */
static LLVMValueRef beyond(aj_scalar *s, LLVMRealPredicate wrong, LLVMValueRef whole, LLVMValueRef x, double step) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef is_wrong = LLVMBuildFCmp(b, wrong, whole, x, "");
  return LLVMBuildSelect(b, is_wrong, LLVMBuildFAdd(b, whole, number(s, step), ""), whole, "");
}

static LLVMValueRef without_instruction(aj_scalar *s, aj_op op, LLVMValueRef x) {
  if (op == AJ_OP_ROUND_EVEN) return nearest(s, x);
  if (op == AJ_OP_FLOOR) return with_sign(s, beyond(s, LLVMRealOGT, nearest(s, x), x, -1), x);
  if (op == AJ_OP_CEIL) return with_sign(s, beyond(s, LLVMRealOLT, nearest(s, x), x, 1), x);
  LLVMValueRef size = size_of(s, x);
  return with_sign(s, beyond(s, LLVMRealOGT, nearest(s, size), size, -1), x);
}

static const char *name_of(aj_op op) {
  return op == AJ_OP_FLOOR   ? "llvm.floor"
         : op == AJ_OP_CEIL  ? "llvm.ceil"
         : op == AJ_OP_TRUNC ? "llvm.trunc"
                             : "llvm.rint";
}

/* Ties away from zero: what is cut off is exact. */
static LLVMValueRef round_away(aj_scalar *s, LLVMValueRef x) {
  LLVMBuilderRef b = s->lo->b;
  LLVMValueRef whole = aj_lower_round(s, AJ_OP_TRUNC, x), rest = size_of(s, LLVMBuildFSub(b, x, whole, ""));
  LLVMValueRef up = LLVMBuildFCmp(b, LLVMRealOGE, rest, number(s, 0.5), "");
  return LLVMBuildSelect(b, up, LLVMBuildFAdd(b, whole, with_sign(s, number(s, 1), x), ""), whole, "");
}

LLVMValueRef aj_lower_round(aj_scalar *s, aj_op op, LLVMValueRef x) {
  if (op == AJ_OP_ROUND_AWAY) return round_away(s, x);
  return s->lo->target->has_rounding ? call(s, name_of(op), 1, x, NULL) : without_instruction(s, op, x);
}
