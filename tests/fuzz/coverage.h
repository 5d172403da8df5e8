/* What random functions were like: counted, printed, and demanded of a long run. */
#ifndef FUZZ_COVERAGE_H
#define FUZZ_COVERAGE_H

#include "recipe.h"

typedef struct coverage {
  int64_t functions, loops, failing, callbacks, zero, one, odd, compared;
  int64_t lesser;           /* native code for less than the CPU at hand */
  int64_t ops[AJ_OP_COUNT]; /* nodes in printed functions */
  int64_t features[FEATURES];
  int64_t linked; /* failures with a cause or context */
} coverage;

/* Counts the nodes of a printed function. */
void coverage_count_text(coverage *c, const char *text);
/* Prints; false when a run of this length should have seen more. */
bool coverage_report(const coverage *c, bool demand);

#endif
