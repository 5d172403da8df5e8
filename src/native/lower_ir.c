/* Short forms for making LLVM IR: types, constants, memory, calls, phis, counting loops. */
#include <string.h>

#include "native/lower.h"

/* ---- types ---- */

LLVMTypeRef aj_ir_int_type(aj_lower *lo, uint32_t bits, uint32_t lanes) {
  LLVMTypeRef type = LLVMIntTypeInContext(lo->context, bits);
  return lanes > 1 ? LLVMVectorType(type, lanes) : type;
}

static LLVMTypeRef scalar_type(aj_lower *lo, arrjit_dtype dtype, uint32_t bool_bits) {
  switch (aj_dtypes[dtype].cls) {
  case AJ_CLASS_BOOL: return LLVMIntTypeInContext(lo->context, bool_bits);
  case AJ_CLASS_FLOAT:
    if (aj_dtype_is_half(dtype)) break;
    return dtype == ARRJIT_F32 ? LLVMFloatTypeInContext(lo->context) : LLVMDoubleTypeInContext(lo->context);
  case AJ_CLASS_INT:
  case AJ_CLASS_UINT:
  case AJ_CLASS_COMPLEX: /* the bits of both parts, the real one low */
  case AJ_CLASS_NONE: break;
  }
  return LLVMIntTypeInContext(lo->context, aj_dtypes[dtype].bits);
}

LLVMTypeRef aj_ir_type(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes) {
  LLVMTypeRef type = scalar_type(lo, dtype, 1);
  return lanes > 1 ? LLVMVectorType(type, lanes) : type;
}

LLVMTypeRef aj_ir_memory_type(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes) {
  LLVMTypeRef type = scalar_type(lo, dtype, 8);
  return lanes > 1 ? LLVMVectorType(type, lanes) : type;
}

/* ---- constants ---- */

LLVMValueRef aj_ir_i64(aj_lower *lo, int64_t value) { return LLVMConstInt(lo->t_i64, (unsigned long long)value, 1); }
LLVMValueRef aj_ir_i32(aj_lower *lo, int32_t value) { return LLVMConstInt(lo->t_i32, (unsigned long long)value, 1); }
LLVMValueRef aj_ir_pointer(aj_lower *lo, const void *address) {
  return LLVMConstIntToPtr(LLVMConstInt(lo->t_i64, (uint64_t)(uintptr_t)address, 0), lo->t_ptr);
}

LLVMValueRef aj_ir_splat(aj_lower *lo, LLVMValueRef scalar, uint32_t lanes) {
  if (lanes == 1) return scalar;
  if (LLVMIsConstant(scalar)) {
    LLVMValueRef all[256];
    AJ_ASSERT(lanes <= AJ_COUNT(all));
    for (uint32_t i = 0; i < lanes; i++) all[i] = scalar;
    return LLVMConstVector(all, lanes);
  }
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), lanes);
  LLVMValueRef one = LLVMBuildInsertElement(lo->b, LLVMGetPoison(type), scalar, aj_ir_i32(lo, 0), "");
  return LLVMBuildShuffleVector(lo->b, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(lo->t_i32, lanes)), "");
}

LLVMValueRef aj_ir_int(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, int64_t value) {
  if (aj_dtypes[dtype].cls == AJ_CLASS_FLOAT) return aj_ir_float(lo, dtype, lanes, (double)value);
  uint32_t bits = aj_dtypes[dtype].cls == AJ_CLASS_BOOL ? 1 : aj_dtypes[dtype].bits;
  uint64_t cut = bits == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << bits) - 1);
  return aj_ir_splat(lo, LLVMConstInt(aj_ir_type(lo, dtype, 1), cut, 0), lanes);
}

LLVMValueRef aj_ir_float(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, double value) {
  return aj_ir_splat(lo, LLVMConstReal(aj_ir_type(lo, dtype, 1), value), lanes);
}

LLVMValueRef aj_ir_element(aj_lower *lo, arrjit_dtype dtype, const void *bytes) {
  uint64_t bits[AJ_ELEMENT_BYTES / 8] = {0};
  memcpy(bits, bytes, aj_dtypes[dtype].bytes);
  if (aj_dtypes[dtype].cls == AJ_CLASS_BOOL) return LLVMConstInt(lo->t_i1, bits[0] & 1, 0);
  LLVMTypeRef type = aj_ir_int_type(lo, aj_dtypes[dtype].bits, 1);
  LLVMValueRef value = LLVMConstIntOfArbitraryPrecision(type, AJ_COUNT(bits), bits);
  return aj_dtypes[dtype].cls == AJ_CLASS_FLOAT ? LLVMConstBitCast(value, aj_ir_type(lo, dtype, 1)) : value;
}

LLVMValueRef aj_ir_bits(aj_lower *lo, LLVMValueRef value, arrjit_dtype dtype, uint32_t lanes) {
  return LLVMBuildBitCast(lo->b, value, aj_ir_int_type(lo, aj_dtypes[dtype].bits, lanes), "");
}

/* ---- blocks and calls ---- */

LLVMBasicBlockRef aj_ir_block(aj_lower *lo, const char *name) {
  return LLVMAppendBasicBlockInContext(lo->context, lo->fn, name);
}
void aj_ir_at(aj_lower *lo, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(lo->b, block); }

/* Allocas stand in the entry block, so that loops do not grow the stack. */
LLVMValueRef aj_ir_alloca(aj_lower *lo, LLVMTypeRef type, uint32_t count, uint32_t align) {
  LLVMTypeRef whole = count == 1 ? type : LLVMArrayType(type, count);
  LLVMValueRef slot = LLVMBuildAlloca(lo->entry, whole, "");
  if (align) LLVMSetAlignment(slot, align);
  return slot;
}

LLVMValueRef aj_ir_call(aj_lower *lo, const char *name, LLVMTypeRef result, uint32_t count, LLVMValueRef *args,
                        bool cold) {
  LLVMTypeRef params[12];
  AJ_ASSERT(count <= AJ_COUNT(params));
  for (uint32_t i = 0; i < count; i++) params[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef type = LLVMFunctionType(result, params, count, 0);
  LLVMValueRef callee = LLVMGetNamedFunction(lo->llvm, name);
  if (!callee) callee = LLVMAddFunction(lo->llvm, name, type);
  LLVMValueRef call = LLVMBuildCall2(lo->b, type, callee, args, count, "");
  if (cold) LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, lo->cold);
  return call;
}

LLVMValueRef aj_ir_intrinsic(aj_lower *lo, const char *name, LLVMTypeRef type, uint32_t count, LLVMValueRef *args) {
  return aj_compat_intrinsic(lo->llvm, lo->b, name, 1, &type, count, args);
}

/* ---- memory ---- */

LLVMValueRef aj_ir_index(aj_lower *lo, LLVMValueRef pointer, arrjit_dtype dtype, LLVMValueRef index) {
  return LLVMBuildGEP2(lo->b, aj_ir_memory_type(lo, dtype, 1), pointer, &index, 1, "");
}

LLVMValueRef aj_ir_field(aj_lower *lo, LLVMValueRef pointer, size_t offset) {
  LLVMValueRef index = aj_ir_i64(lo, (int64_t)offset);
  return LLVMBuildGEP2(lo->b, lo->t_i8, pointer, &index, 1, "");
}

LLVMValueRef aj_ir_load(aj_lower *lo, LLVMTypeRef type, LLVMValueRef pointer) {
  return LLVMBuildLoad2(lo->b, type, pointer, "");
}

aj_lv aj_ir_from_memory(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef value) {
  aj_lv out = {.v = value, .nan = AJ_NAN_KEEP};
  if (dtype == ARRJIT_BOOL)
    out.v = LLVMBuildICmp(lo->b, LLVMIntNE, value, LLVMConstNull(aj_ir_memory_type(lo, dtype, lanes)), "");
  return out;
}

LLVMValueRef aj_ir_canonical(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, aj_lv value) {
  if (value.nan != AJ_NAN_RAW || aj_dtypes[dtype].cls != AJ_CLASS_FLOAT || aj_dtype_is_half(dtype)) return value.v;
  uint64_t quiet = dtype == ARRJIT_F32 ? UINT64_C(0x7fc00000) : UINT64_C(0x7ff8000000000000);
  LLVMValueRef nan = aj_ir_splat(lo, aj_ir_element(lo, dtype, &quiet), lanes);
  LLVMValueRef is_nan = LLVMBuildFCmp(lo->b, LLVMRealUNO, value.v, value.v, "");
  return LLVMBuildSelect(lo->b, is_nan, nan, value.v, "");
}

LLVMValueRef aj_ir_to_memory(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, aj_lv value) {
  if (dtype == ARRJIT_BOOL) return LLVMBuildZExt(lo->b, value.v, aj_ir_memory_type(lo, dtype, lanes), "");
  return aj_ir_canonical(lo, dtype, lanes, value);
}

LLVMValueRef aj_ir_scalar_place(aj_lower *lo) { return aj_ir_alloca(lo, lo->t_i64, AJ_ELEMENT_BYTES / 8, 8); }

uint32_t aj_ir_align(arrjit_dtype dtype) { return aj_dtypes[aj_dtype_part(dtype)].bytes; }

aj_lv aj_ir_load_element(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, LLVMValueRef pointer) {
  LLVMValueRef load = LLVMBuildLoad2(lo->b, aj_ir_memory_type(lo, dtype, lanes), pointer, "");
  LLVMSetAlignment(load, aj_ir_align(dtype));
  return aj_ir_from_memory(lo, dtype, lanes, load);
}

void aj_ir_store_element(aj_lower *lo, arrjit_dtype dtype, uint32_t lanes, aj_lv value, LLVMValueRef pointer) {
  LLVMValueRef store = LLVMBuildStore(lo->b, aj_ir_to_memory(lo, dtype, lanes, value), pointer);
  LLVMSetAlignment(store, aj_ir_align(dtype));
}

LLVMValueRef aj_ir_dim(aj_lower *lo, int64_t dim) {
  if (!aj_dim_is_symbol(dim)) return aj_ir_i64(lo, dim);
  return aj_ir_load(lo, lo->t_i64, aj_ir_field(lo, lo->env, aj_dim_symbol(dim) * sizeof(int64_t)));
}

LLVMValueRef aj_ir_count(aj_lower *lo, const aj_type *type) {
  LLVMValueRef count = aj_ir_i64(lo, 1);
  for (int32_t i = 0; i < type->rank; i++) count = LLVMBuildMul(lo->b, count, aj_ir_dim(lo, type->dims[i]), "");
  return count;
}

LLVMValueRef aj_ir_bytes(aj_lower *lo, const aj_type *type) {
  return LLVMBuildMul(lo->b, aj_ir_count(lo, type), aj_ir_i64(lo, aj_dtypes[type->dtype].bytes), "");
}

void aj_ir_copy(aj_lower *lo, LLVMValueRef to, LLVMValueRef from, LLVMValueRef bytes) {
  LLVMBuildMemCpy(lo->b, to, 1, from, 1, bytes);
}

/* ---- phis and loops ---- */

LLVMValueRef aj_ir_phi(aj_lower *lo, LLVMTypeRef type, LLVMValueRef value, LLVMBasicBlockRef block) {
  LLVMValueRef phi = LLVMBuildPhi(lo->b, type, "");
  aj_ir_add_incoming(phi, value, block);
  return phi;
}

void aj_ir_add_incoming(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef block) {
  LLVMAddIncoming(phi, &value, &block, 1);
}

aj_ir_loop aj_ir_loop_begin(aj_lower *lo, LLVMValueRef count) {
  aj_ir_loop loop = {.head = aj_ir_block(lo, "loop"), .exit = aj_ir_block(lo, "done"), .count = count};
  LLVMBasicBlockRef body = aj_ir_block(lo, "body"), from = LLVMGetInsertBlock(lo->b);
  LLVMBuildBr(lo->b, loop.head);
  aj_ir_at(lo, loop.head);
  loop.index = aj_ir_phi(lo, lo->t_i64, aj_ir_i64(lo, 0), from);
  LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, loop.index, count, ""), body, loop.exit);
  aj_ir_at(lo, body);
  return loop;
}

void aj_ir_loop_end(aj_lower *lo, aj_ir_loop *loop) {
  LLVMValueRef next = LLVMBuildNSWAdd(lo->b, loop->index, aj_ir_i64(lo, 1), "");
  aj_ir_add_incoming(loop->index, next, LLVMGetInsertBlock(lo->b));
  LLVMBuildBr(lo->b, loop->head);
  aj_ir_at(lo, loop->exit);
}
