/* Host detection, and the levels below it. Features are named explicitly, so that what was compiled is what the CPU
 * that runs it has. */
#include "native/target.h"

#include <pthread.h>
#include <string.h>

#include "base/check.h"

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

#if defined(__x86_64__)
/* Levels of the option from 1 on: a CPU of LLVM's that has nothing else, and what lowering and a host know it by. */
#define WITH_AVX2 "+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe"
static const struct {
  const char *cpu, *features;
} levels[] = {{"x86-64", "+sse2"},
              {"x86-64-v3", WITH_AVX2},
              {"x86-64-v4", WITH_AVX2 ",+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"}};

/* Whether each of the features is among those that are there. */
static bool has_all(const char *there, const char *features) {
  char name[16];
  for (const char *p = features; *p != '\0'; p += *p == ',') {
    size_t length = strcspn(++p, ",");
    AJ_ASSERT(length < sizeof name);
    memcpy(name, p, length);
    name[length] = '\0';
    if (!has_feature(there, name)) return false;
    p += length;
  }
  return true;
}

/* The target is the host: makes it the greatest of the levels up to `isa` that the host has. */
static void lower_level(aj_target *target, int64_t isa) {
  size_t level = isa > (int64_t)AJ_COUNT(levels) ? AJ_COUNT(levels) : (size_t)isa;
  while (level > 1 && !has_all(target->features, levels[level - 1].features)) level--;
  LLVMDisposeMessage(target->cpu);
  LLVMDisposeMessage(target->features);
  target->cpu = LLVMCreateMessage(levels[level - 1].cpu);
  target->features = LLVMCreateMessage(levels[level - 1].features);
}
#else
static void lower_level(aj_target *target, int64_t isa) { (void)target, (void)isa; }
#endif

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

bool aj_target_open(aj_target *target, int64_t isa, const char **out_message) {
  pthread_once(&process_targets_once, register_targets);
  memset(target, 0, sizeof *target);
  target->triple = LLVMGetDefaultTargetTriple();
  target->cpu = LLVMGetHostCPUName();
  target->features = LLVMGetHostCPUFeatures();
  target->isa = isa;
  if (isa > 0) lower_level(target, isa);
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
