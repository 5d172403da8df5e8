/* The optimiser: passes over a private copy of a finished module, one runner that skips, times, verifies, dumps. */
#ifndef AJ_OPT_OPT_H
#define AJ_OPT_OPT_H

#include "sem/sem.h"
#include "text/air.h"
#include "verify/verify.h"

typedef enum aj_pass_id {
#define PASS(ID, name, text) AJ_PASS_##ID,
#include "opt/passes.def"
#undef PASS
  AJ_PASS_COUNT
} aj_pass_id;

typedef struct aj_pass_ctx {
  aj_mem *mem;
  aj_module *module;
  bool verify_each;
  uint64_t off;       /* bit aj_pass_id: skipped */
  int32_t stop_after; /* aj_pass_id, or -1 */
  aj_text *dump;      /* .air after each pass that changed something, or NULL */
  int64_t time_ns[AJ_PASS_COUNT];
  arrjit_status (*check)(void *user); /* before each pass of each function: not OK ends the run; NULL: none */
  void *check_user;
  arrjit_error *error;
} aj_pass_ctx;

/* Each pass: MEMORY or INTERNAL (verifier) are its only failures. */
typedef arrjit_status aj_pass_fn(aj_pass_ctx *ctx, aj_func *func, bool *out_changed);
#define PASS(ID, name, text) aj_pass_fn aj_pass_##name;
#include "opt/passes.def"
#undef PASS

/* What finishing does with a verified module, whatever tier will run it: complex numbers are taken apart, numbered
 * anew; what is known of calls' effects is settled. False: no memory. */
bool aj_opt_settle(aj_module *module);

/* Clones `module` and runs the pipeline on every function of the copy. */
arrjit_status aj_opt_run(const aj_module *module, aj_pass_ctx *ctx, aj_module **out);
const char *aj_pass_name(aj_pass_id id);

#endif
