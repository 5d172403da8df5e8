/* clean: cse, then dce, once more: fusing makes equal constants and leaves producers behind that nobody reads now. */
#include "opt/opt.h"

arrjit_status aj_pass_clean(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  arrjit_status status = aj_pass_cse(ctx, func, out_changed);
  return status == ARRJIT_OK ? aj_pass_dce(ctx, func, out_changed) : status;
}
