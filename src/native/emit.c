/* From LLVM IR to an object: a few passes where they pay, then code generation into memory. */
#include "native/native.h"

/* Carried values of reductions are made as allocas: sroa turns them into registers. One run each, so that the budget is
 * looked at in between. */
static const char *const passes[] = {"function(sroa)", "function(early-cse)", "function(simplifycfg)"};

static arrjit_status run_pass(const aj_target *target, LLVMModuleRef module, const char *pass,
                              const aj_budget *budget) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, pass, target->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error == NULL) return ARRJIT_OK;
  LLVMConsumeError(error);
  return aj_error_set(budget->error, ARRJIT_INTERNAL, "LLVM has no %s", pass);
}

arrjit_status aj_emit_passes(const aj_target *target, LLVMModuleRef module, const aj_budget *budget, int64_t after_us) {
  arrjit_status status = ARRJIT_OK;
  for (size_t i = 0; status == ARRJIT_OK && i < AJ_COUNT(passes); i++) {
    status = run_pass(target, module, passes[i], budget);
    if (status == ARRJIT_OK) status = aj_budget_check(budget, after_us);
  }
  return status;
}

LLVMMemoryBufferRef aj_emit_object(const aj_target *target, LLVMModuleRef module, bool quick,
                                   LLVMCodeGenFileType kind) {
  LLVMMemoryBufferRef out = NULL;
  char *message = NULL;
  LLVMTargetMachineRef machine = quick ? target->quick_machine : target->machine;
  if (!LLVMTargetMachineEmitToMemoryBuffer(machine, module, kind, &message, &out)) return out;
  LLVMDisposeMessage(message);
  return NULL;
}
