/* Combiners and comparators that the host has given, as block programs: (older values, newer values, captures) ->
 * combined values, for some lanes at a time. Values travel in records: value i of `lanes` elements begins at record + i
 * * lanes * AJ_RECORD_ELEMENT. */
#ifndef AJ_SEM_COMBINER_H
#define AJ_SEM_COMBINER_H

#include "sem/routine.h"

enum { AJ_RECORD_ELEMENT = AJ_ELEMENT_BYTES }; /* what any element gets in a record: so each value in it is aligned */

typedef struct aj_combiner {
  const aj_program *program;
  aj_program *made; /* the program, when the call did not bring one */
  aj_mem *mem;
  uint32_t count; /* results: the program takes twice as many and captures */
  uint8_t bytes[AJ_COMBINE_ARGS];
  size_t lanes, block_bytes;
  void *block; /* all that follows */
  const void **params;
  void **results;
  char *spare; /* a record of `lanes`: results on their way */
  void *scratch;
} aj_combiner;

/* Of region `index` of the call's node, for up to `lanes` <= AJ_BLOCK lanes. Captures are operands of the call from
 * `first_capture` on. False: no memory. */
bool aj_combiner_open(aj_combiner *c, const aj_sem_call *call, uint32_t index, uint32_t first_capture, size_t lanes);
void aj_combiner_close(aj_combiner *c);
/* out = older combined with newer, n lanes of each value; out may lie where older or newer do. */
void aj_combiner_run(aj_combiner *c, size_t n, char *const *out, const char *const *older, const char *const *newer);

static inline size_t aj_record_bytes(uint32_t count, size_t lanes) { return count * lanes * AJ_RECORD_ELEMENT; }
/* Pointers to the values of a record of `lanes`, at lane `at`. */
void aj_record_at(const aj_combiner *c, char *record, size_t lanes, size_t at, char **out);

#endif
