/* Results: the tagged value a run gives. */
#ifndef AJ_RT_RESULT_H
#define AJ_RT_RESULT_H

#include "rt/run.h"

struct arrjit_result {
  aj_core *core;
  uint32_t output_room, output_count; /* of outputs: entries there are, and those used: 0 when it failed */
  uint64_t consumed, touched;
  aj_exn *exn;                      /* NULL: ok */
  char *message, *text;             /* rendered on demand */
  size_t message_bytes, text_bytes; /* allocated */
  char (*arms)[AJ_ARM_TEXT_BYTES];  /* one a trace entry, made on demand */
  arrjit_result *cause, *context;   /* made on demand */
  arrjit_array *outputs[];          /* owned; NULL before they are there */
};

/* With room for so many outputs. NULL: no memory. */
arrjit_result *aj_result_create(aj_core *core, uint32_t output_room);
void aj_result_destroy(arrjit_result *result); /* NULL is fine */
/* Made on first use; "" for an ok result and for lack of memory. */
const char *aj_result_message(arrjit_result *result);
const char *aj_result_text(arrjit_result *result);
/* The host's frames, then the graph's. */
size_t aj_result_trace_count(const arrjit_result *result);
/* index < aj_result_trace_count. False: no memory. */
bool aj_result_trace(arrjit_result *result, size_t index, arrjit_trace_entry *out);
/* The result in *place, which is made for `exn` (may be NULL) when it is not there. NULL: no exn, or no memory. */
arrjit_result *aj_result_linked(arrjit_result *result, arrjit_result **place, aj_exn *exn);

#endif
