/* Entering and leaving the library's floating-point environment. Writing the register costs tens of cycles, reading it
 * a few: so it is written only where it differs. */
#include "rt/fpenv.h"

#include "rt/run.h"

aj_fpenv aj_fpenv_enter(void) {
  aj_fpenv env = {.saved = aj_fpenv_read() & AJ_FP_CONTROL};
  env.changed = env.saved != AJ_FP_DEFAULT;
  if (AJ_UNLIKELY(env.changed)) aj_fpenv_set_control(AJ_FP_DEFAULT);
  return env;
}

void aj_fpenv_leave(aj_fpenv env) {
  if (AJ_UNLIKELY(env.changed)) aj_fpenv_set_control(env.saved);
}
