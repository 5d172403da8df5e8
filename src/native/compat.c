/* The one place that knows LLVM's versions apart. */
#include "native/compat.h"

#include <string.h>

static LLVMValueRef declare_intrinsic(LLVMModuleRef module, const char *name, unsigned type_count, LLVMTypeRef *types) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  return LLVMGetIntrinsicDeclaration(module, id, types, type_count);
}

LLVMValueRef aj_compat_intrinsic(LLVMModuleRef module, LLVMBuilderRef b, const char *name, unsigned type_count,
                                 LLVMTypeRef *types, unsigned count, LLVMValueRef *args) {
  LLVMValueRef callee = declare_intrinsic(module, name, type_count, types);
  return LLVMBuildCall2(b, LLVMGlobalGetValueType(callee), callee, args, count, "");
}

/* Alignment of parameter `index` of a call, where it is an attribute. */
static void set_align(LLVMModuleRef module, LLVMValueRef call, unsigned index, unsigned align) {
  unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAttributeRef attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, align);
  LLVMAddCallSiteAttribute(call, index + 1, attribute);
}

LLVMValueRef aj_compat_masked_load(LLVMModuleRef module, LLVMBuilderRef b, LLVMTypeRef vector, LLVMValueRef pointer,
                                   unsigned align, LLVMValueRef mask) {
  LLVMTypeRef types[2] = {vector, LLVMTypeOf(pointer)};
  LLVMValueRef callee = declare_intrinsic(module, "llvm.masked.load", 2, types);
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  LLVMValueRef zero = LLVMConstNull(vector);
  if (LLVMCountParamTypes(type) == 3) {
    LLVMValueRef args[3] = {pointer, mask, zero};
    LLVMValueRef call = LLVMBuildCall2(b, type, callee, args, 3, "");
    set_align(module, call, 0, align);
    return call;
  }
  LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
  LLVMValueRef args[4] = {pointer, LLVMConstInt(i32, align, 0), mask, zero};
  return LLVMBuildCall2(b, type, callee, args, 4, "");
}

void aj_compat_masked_store(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef value, LLVMValueRef pointer,
                            unsigned align, LLVMValueRef mask) {
  LLVMTypeRef types[2] = {LLVMTypeOf(value), LLVMTypeOf(pointer)};
  LLVMValueRef callee = declare_intrinsic(module, "llvm.masked.store", 2, types);
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  if (LLVMCountParamTypes(type) == 3) {
    LLVMValueRef args[3] = {value, pointer, mask};
    set_align(module, LLVMBuildCall2(b, type, callee, args, 3, ""), 1, align);
    return;
  }
  LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
  LLVMValueRef args[4] = {value, pointer, LLVMConstInt(i32, align, 0), mask};
  LLVMBuildCall2(b, type, callee, args, 4, "");
}
