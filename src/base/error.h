/* Filling the caller's arrjit_error record. */
#ifndef AJ_BASE_ERROR_H
#define AJ_BASE_ERROR_H

#include "base/text.h"

/* Writes status and message to `error` (NULL is fine), empties its file, line and op (fill them after), returns status.
 */
arrjit_status aj_error_set(arrjit_error *error, arrjit_status status, const char *format, ...) AJ_PRINTF(3, 4);
arrjit_status aj_error_memory(arrjit_error *error, const char *what);
/* Resets the record; returns ARRJIT_OK. */
arrjit_status aj_error_clear(arrjit_error *error);

/* Text of status.def; "?" for a number that is none. */
const char *aj_status_text(arrjit_status status);

#endif
