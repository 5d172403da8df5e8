/* From LLVM IR to an object: a short pass string where it pays, then code generation into memory. */
#include "native/native.h"

/* Carried values of reductions are made as allocas: sroa turns them into registers. */
static const char PASSES[] = "function(sroa,early-cse,simplifycfg)";

LLVMMemoryBufferRef aj_emit_object(const aj_target *target, LLVMModuleRef module, bool passes,
                                   LLVMCodeGenFileType kind) {
  LLVMMemoryBufferRef out = NULL;
  char *message = NULL;
  if (passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, PASSES, target->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) {
      LLVMConsumeError(error);
      return NULL;
    }
  }
  if (LLVMTargetMachineEmitToMemoryBuffer(target->machine, module, kind, &message, &out)) {
    LLVMDisposeMessage(message);
    return NULL;
  }
  return out;
}
