/* The caller's error record. Only what tells something is written: a success costs a few stores, not a clearing of the
 * whole record. */
#include "base/error.h"

#include "base/check.h"

static void reset(arrjit_error *error, arrjit_status status) {
  error->status = status;
  error->line = 0;
  error->file[0] = error->op[0] = error->message[0] = 0;
}

arrjit_status aj_error_set(arrjit_error *error, arrjit_status status, const char *format, ...) {
  if (!error) return status;
  reset(error, status);
  va_list args;
  va_start(args, format);
  aj_bounded_vprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  return status;
}

arrjit_status aj_error_memory(arrjit_error *error, const char *what) {
  return aj_error_set(error, ARRJIT_MEMORY, "no memory for %s", what);
}

arrjit_status aj_error_clear(arrjit_error *error) {
  if (error) reset(error, ARRJIT_OK);
  return ARRJIT_OK;
}

const char *aj_status_text(arrjit_status status) {
  static const char *const texts[] = {
#define STATUS(ID, text) [ARRJIT_##ID] = text,
#include "base/status.def"
#undef STATUS
  };
  return (size_t)status < AJ_COUNT(texts) ? texts[status] : "?";
}
