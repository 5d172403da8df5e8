/* Results: the tagged value a run gives. */
#ifndef AJ_RT_RESULT_H
#define AJ_RT_RESULT_H

#include "rt/run.h"

struct arrjit_result {
  aj_core *core;
  uint32_t output_count;
  arrjit_array **outputs;     /* owned; NULL when it failed */
  uint64_t consumed, touched;
  aj_exn *exn;                /* NULL: ok */
  char *message, *text;       /* rendered on demand */
  size_t message_bytes, text_bytes;
  arrjit_result *cause, *context;   /* made on demand */
};

arrjit_result *aj_result_create(aj_core *core);   /* NULL: no memory */

#endif
