/* The record of a callback in progress, for the functions that the host calls from inside. */
#ifndef AJ_RT_CALLBACK_H
#define AJ_RT_CALLBACK_H

#include "rt/run.h"

struct arrjit_call_info {
  aj_run *run;
  const aj_slot *slot;
  aj_exn *failure; /* the last one told of; owned; NULL: none */
  bool returned;
};

/* Records a failure. The record has its right size; the host's pointer is taken whatever happens. What breaks the
 * contract is recorded as kind callback.contract, what finds no memory as kind memory. */
void aj_call_fail(arrjit_call_info *call, const arrjit_failure *failure);
/* Records kind callback.contract; `why` is part of a template. */
void aj_call_fail_contract(arrjit_call_info *call, const char *why);

#endif
