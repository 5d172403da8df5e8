/* ORC. Errors of the session are consumed, never printed. */
#include "native/orc.h"

#include <stdlib.h>

static void ignore_error(void *user, LLVMErrorRef error) {
  (void)user;
  LLVMConsumeError(error);
}

static bool failed(LLVMErrorRef error) {
  if (error == NULL) return false;
  LLVMConsumeError(error);
  return true;
}

static bool define_helpers(aj_orc *orc, const aj_native_host *host) {
  LLVMOrcCSymbolMapPair *pairs = calloc(host->helper_count + 1u, sizeof *pairs);
  if (pairs == NULL) return false;
  for (uint32_t i = 0; i < host->helper_count; i++) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(orc->jit, host->helpers[i].name);
    pairs[i].Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)host->helpers[i].address;
    pairs[i].Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
  }
  LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, host->helper_count);
  LLVMErrorRef error = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(orc->jit), unit);
  free(pairs);
  if (error != NULL) LLVMOrcDisposeMaterializationUnit(unit);
  return !failed(error);
}

bool aj_orc_open(aj_orc *orc, const aj_target *target, const aj_native_host *host, const char **out_message) {
  *out_message = "LLVM's ORC could not be set up";
  orc->jit = NULL;
  LLVMTargetMachineRef machine = NULL;
  LLVMTargetRef ref = LLVMGetTargetMachineTarget(target->machine);
  machine = LLVMCreateTargetMachine(ref, target->triple, target->cpu, target->features, LLVMCodeGenLevelDefault,
                                    LLVMRelocPIC, LLVMCodeModelDefault);
  if (machine == NULL) return false;
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  if (failed(LLVMOrcCreateLLJIT(&orc->jit, builder))) {
    orc->jit = NULL;
    return false;
  }
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(orc->jit), ignore_error, NULL);
  if (define_helpers(orc, host)) return true;
  aj_orc_close(orc);
  return false;
}

void aj_orc_close(aj_orc *orc) {
  if (orc->jit != NULL) failed(LLVMOrcDisposeLLJIT(orc->jit));
  orc->jit = NULL;
}

bool aj_orc_add(aj_orc *orc, LLVMMemoryBufferRef object, const char *symbol, LLVMOrcResourceTrackerRef *out_tracker,
                void **out_address) {
  LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(LLVMOrcLLJITGetMainJITDylib(orc->jit));
  LLVMOrcExecutorAddress address = 0;
  if (failed(LLVMOrcLLJITAddObjectFileWithRT(orc->jit, tracker, object)) ||
      failed(LLVMOrcLLJITLookup(orc->jit, &address, symbol))) {
    aj_orc_remove(orc, tracker);
    return false;
  }
  *out_tracker = tracker;
  *out_address = (void *)(uintptr_t)address;
  return true;
}

void aj_orc_remove(aj_orc *orc, LLVMOrcResourceTrackerRef tracker) {
  failed(LLVMOrcResourceTrackerRemove(tracker));
  LLVMOrcReleaseResourceTracker(tracker);
  LLVMOrcSymbolStringPoolClearDeadEntries(
      LLVMOrcExecutionSessionGetSymbolStringPool(LLVMOrcLLJITGetExecutionSession(orc->jit)));
}
