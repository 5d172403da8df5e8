/* The compiled form of a block program. */
#ifndef AJ_SEM_PROGRAM_H
#define AJ_SEM_PROGRAM_H

#include "sem/loops.h"

/* Lanes that one pass over the instructions takes: small enough that registers and constants stay in the first cache.
 */
enum { AJ_PROGRAM_LANES = 256 };
/* Lanes of registers when no more are run: they lie close together then. */
enum { AJ_PROGRAM_FEW = 8 };

/* Everything an instruction reads or writes is a place. Places are numbered: params, results, indices by axis,
 * constants, registers. Params, results and indices lie outside and advance with the lanes. */
typedef struct aj_program_step {
  aj_loop *loop;       /* NULL: a branch over the `skip` steps that follow, where in[0] is true in all lanes */
  uint32_t out, in[3]; /* places; unused ones name place 0 */
  uint32_t node;       /* index in the region it was made from */
  uint32_t skip;
  bool raises;
} aj_program_step;

struct aj_program {
  aj_mem *mem;
  aj_arena arena; /* holds all that the pointers below lead to */
  uint32_t param_count, result_count, outside_count, place_count, step_count;
  uint32_t first_raise; /* least step that may fail; step_count when none */
  aj_program_step *steps;
  uint8_t *outside_bytes;  /* [outside_count] element bytes */
  char **constants;        /* [place_count - outside_count] splats, NULL for registers */
  size_t *offsets;         /* [place_count - outside_count] of registers in scratch, as bytes a lane */
  size_t register_bytes;   /* of all registers, a lane */
  uint32_t *param_ends;    /* [param_count] last step that reads it, 0 when none */
  uint32_t *result_starts; /* [result_count] step that writes it */
};

#endif
