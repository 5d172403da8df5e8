/* Host detection. Features are named explicitly, so that what was compiled is what the CPU that runs it has. */
#include "native/target.h"

#include <pthread.h>
#include <string.h>

static pthread_once_t process_targets_once = PTHREAD_ONCE_INIT;

static void register_targets(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser();
}

/* "+name" as a whole word of a comma-separated list. */
static bool has_feature(const char *features, const char *name) {
  size_t length = strlen(name);
  for (const char *p = features; (p = strstr(p, name)) != NULL; p += length)
    if (p > features && p[-1] == '+' && (p[length] == ',' || p[length] == '\0')) return true;
  return false;
}

static void read_features(aj_target *target) {
#if defined(__x86_64__)
  bool avx512 = has_feature(target->features, "avx512f") && has_feature(target->features, "avx512vl");
  bool avx2 = has_feature(target->features, "avx2");
  target->vector_bytes = avx512 ? 64 : avx2 ? 32 : 16;
  target->has_fma = has_feature(target->features, "fma");
  target->has_f16c = has_feature(target->features, "f16c");
  target->has_rounding = has_feature(target->features, "sse4.1");
  target->has_masks = avx2;
  target->has_narrow_masks = avx512 && has_feature(target->features, "avx512bw");
#else
  target->vector_bytes = 16;
  target->has_fma = target->has_rounding = target->has_f16c = true;
  target->has_masks = target->has_narrow_masks = false;
  (void)has_feature;
#endif
}

static LLVMTargetMachineRef create_machine(const aj_target *target, LLVMTargetRef ref, LLVMCodeGenOptLevel level) {
  return LLVMCreateTargetMachine(ref, target->triple, target->cpu, target->features, level, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
}

bool aj_target_open(aj_target *target, const char **out_message) {
  pthread_once(&process_targets_once, register_targets);
  memset(target, 0, sizeof *target);
  target->triple = LLVMGetDefaultTargetTriple();
  target->cpu = LLVMGetHostCPUName();
  target->features = LLVMGetHostCPUFeatures();
  LLVMTargetRef ref = NULL;
  char *message = NULL;
  *out_message = "LLVM has no back end for this machine";
  if (LLVMGetTargetFromTriple(target->triple, &ref, &message)) {
    LLVMDisposeMessage(message);
    return false;
  }
  target->machine = create_machine(target, ref, LLVMCodeGenLevelDefault);
  target->quick_machine = create_machine(target, ref, LLVMCodeGenLevelNone);
  if (target->machine == NULL || target->quick_machine == NULL) return false;
  read_features(target);
  return true;
}

void aj_target_close(aj_target *target) {
  if (target->machine != NULL) LLVMDisposeTargetMachine(target->machine);
  if (target->quick_machine != NULL) LLVMDisposeTargetMachine(target->quick_machine);
  if (target->triple != NULL) LLVMDisposeMessage(target->triple);
  if (target->cpu != NULL) LLVMDisposeMessage(target->cpu);
  if (target->features != NULL) LLVMDisposeMessage(target->features);
  memset(target, 0, sizeof *target);
}
