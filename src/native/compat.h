/* What differs between LLVM versions, and the C headers of LLVM themselves: nothing else in this folder includes them.
 *
 * llvm.masked.load and llvm.masked.store lost their alignment argument in LLVM 22; the declaration tells which it is.
 */
#ifndef AJ_NATIVE_COMPAT_H
#define AJ_NATIVE_COMPAT_H

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* Lanes where mask is false are neither read nor written; a load gives 0 there. `align` is in bytes. */
LLVMValueRef aj_compat_masked_load(LLVMModuleRef module, LLVMBuilderRef b, LLVMTypeRef vector, LLVMValueRef pointer,
                                   unsigned align, LLVMValueRef mask);
void aj_compat_masked_store(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef value, LLVMValueRef pointer,
                            unsigned align, LLVMValueRef mask);
/* Calls an intrinsic overloaded on `types`. */
LLVMValueRef aj_compat_intrinsic(LLVMModuleRef module, LLVMBuilderRef b, const char *name, unsigned type_count,
                                 LLVMTypeRef *types, unsigned count, LLVMValueRef *args);

#endif
