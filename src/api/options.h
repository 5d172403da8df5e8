/* Options of a run that outlive the call that gave them: what a job or a closure keeps of them. */
#ifndef AJ_API_OPTIONS_H
#define AJ_API_OPTIONS_H

#include "engine/engine.h"

/* The given ones, checked, or the defaults where NULL came. NULL: MISUSE, told in error. */
const arrjit_run_options *aj_options_check(const arrjit_run_options *options, arrjit_error *error);
/* Bytes that aj_options_keep wants beside the record itself; false on overflow. */
bool aj_options_size(const arrjit_run_options *options, size_t *out_bytes);
/* Copies: bindings and their names into `block`, which has that many bytes and the alignment of a pointer; the cancel
 * handle is retained. Outputs stay as they are. */
void aj_options_keep(arrjit_run_options *out, const arrjit_run_options *options, void *block);
/* Gives up the cancel handle. */
void aj_options_drop(arrjit_run_options *options);

#endif
