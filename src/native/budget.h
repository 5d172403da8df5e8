/* What a compilation may cost: processor time of its thread, estimated before each stage and looked at between them. */
#ifndef AJ_NATIVE_BUDGET_H
#define AJ_NATIVE_BUDGET_H

#include "native/compat.h"
#include "rt/code.h"

typedef struct aj_budget {
  int64_t began_ns, limit_ns;
  const _Atomic int *stop; /* of the request */
  arrjit_error *error;
} aj_budget;

void aj_budget_begin(aj_budget *budget, const aj_native_request *request, arrjit_error *error);
/* Whether `more_us` microseconds may be spent on top of what has been. LIMIT; UNAVAILABLE: the compilation is to end.
 */
arrjit_status aj_budget_check(const aj_budget *budget, int64_t more_us);

/* What a module is sure to take at least, before it is optimised or after. LIMIT: regions nested too deep for the
 * compile thread's stack. */
arrjit_status aj_budget_check_nodes(const aj_budget *budget, const aj_module *module);

/* How code is made of LLVM IR. `quick`: by LLVM's level none, whose time grows with the code and with nothing else. */
typedef struct aj_budget_plan {
  bool passes, quick;
  int64_t passes_us, codegen_us; /* expected */
} aj_budget_plan;
/* `loop_levels`: most loops inside each other. */
aj_budget_plan aj_budget_plan_code(const aj_budget *budget, LLVMModuleRef module, uint32_t loop_levels);

#endif
