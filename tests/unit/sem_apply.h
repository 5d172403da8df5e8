/* A function of the op table over dense arrays, by its block program. */
#ifndef TU_SEM_APPLY_H
#define TU_SEM_APPLY_H

#include <stdlib.h>

#include "base.h"
#include "sem/loops.h"

static inline void sem_apply(aj_sem_cache *cache, aj_op op, arrjit_dtype dtype, const void *const *in, void *out,
                             size_t n) {
  const aj_program *program = aj_sem_cache_get(cache, op, dtype);
  if (program == NULL) tk_die("no program of %s", aj_ops[op].name);
  void *scratch = tk_new(1, aj_program_scratch_bytes(program) + 1);
  size_t bytes = aj_dtypes[dtype].bytes;
  for (size_t i = 0; i < n; i += AJ_BLOCK) {
    size_t lanes = n - i < AJ_BLOCK ? n - i : AJ_BLOCK;
    const void *params[2] = {NULL};
    for (int k = 0; k < aj_ops[op].min_operands; k++) params[k] = (const char *)in[k] + i * bytes;
    void *results[] = {(char *)out + i * bytes};
    if (aj_program_run(program, lanes, params, results, scratch, NULL, NULL) != lanes)
      tk_die("%s failed", aj_ops[op].name);
  }
  free(scratch);
}

#endif
