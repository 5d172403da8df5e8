/* The record of a callback in progress, for the functions that the host calls from inside. */
#ifndef AJ_RT_CALLBACK_H
#define AJ_RT_CALLBACK_H

#include "rt/run.h"

struct arrjit_call_info {
  aj_run *run;
  const aj_slot *slot;
  arrjit_view *results;
  arrjit_array **made; /* as in aj_run_callback */
  aj_exn *failure;     /* the last one told of; owned; NULL: none */
  uint64_t refused; /* bit i: result i was given or made as it must not be, and not as it must since; 63: any above */
  int64_t needed;   /* bytes, when `failure` is that max_run_bytes does not allow them; else 0 */
  bool own;         /* it was not told by the host, but is why a result could not be made */
  uint64_t given;   /* bit i: result i came by arrjit_call_give */
  bool returned;
};

/* Records a failure. The record has its right size; the host's pointer is taken whatever happens. What breaks the
 * contract is recorded as kind callback.contract, what finds no memory as kind memory. */
void aj_call_fail(arrjit_call_info *call, const arrjit_failure *failure);
/* Memory for a result with dynamic dims: see arrjit_call_result, whose arguments are there. What does not fit or finds
 * no memory is recorded. */
arrjit_status aj_call_result(arrjit_call_info *call, size_t index, const int64_t *dims, arrjit_view *out);
/* The value of a result: see arrjit_call_give. */
arrjit_status aj_call_give(arrjit_call_info *call, size_t index, const arrjit_view *value);
/* Takes over what a step of the library raised while the callback runs. */
void aj_call_take_raised(arrjit_call_info *call);
/* Records kind callback.contract; `why` is part of a template. */
void aj_call_fail_contract(arrjit_call_info *call, const char *why);

#endif
