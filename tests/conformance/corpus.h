/* What the conformance program and the readers of its corpora share. */
#ifndef CONFORMANCE_CORPUS_H
#define CONFORMANCE_CORPUS_H

#include "modes.h"
#include "tensor.h"

typedef enum verdict { PASSED, FAILED, SKIPPED } verdict;

typedef struct corpus_run {
  arrjit_context *context;
  tk_mode mode;
  bool constants;                /* inputs of cases that are graphs in data are constants of the graph */
  int64_t fallback, interpreted; /* sums over all functions run in whole mode */
  char why[1024];                /* of the last case that did not pass */
} corpus_run;

/* Builds, runs and judges one case; run->why says why it did not pass. */
typedef verdict corpus_case(corpus_run *run, const json_t *one);

/* The reader for a file, by its name; NULL: there is none. */
corpus_case *corpus_reader(const char *path);
/* Writes run->why, cut when too long, and gives the verdict back. */
verdict corpus_say(corpus_run *run, verdict answer, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Runs a function in the run's mode and adds its statistics up; false (why is written) when whole mode was not native.
 */
bool corpus_execute(corpus_run *run, arrjit_function *function, size_t count, arrjit_array *const *inputs,
                    tk_outcome *out);
/* Compares by a check's `bits` rule; false and why. */
bool corpus_match_bits(corpus_run *run, const json_t *check, const tk_block *got);

corpus_case corpus_wasm_numeric, corpus_wasm_exceptions, corpus_stablehlo, corpus_umath, corpus_onnx, corpus_nx;

#endif
