/* What compiled code calls, and the tables it points into. Every helper that can fail leaves the failure in run->exn
 * with its trace up to the region where compiled code goes on. Nothing here is called by anything but compiled code. */
#ifndef AJ_RT_NATIVE_HELPERS_H
#define AJ_RT_NATIVE_HELPERS_H

#include "rt/code.h"
#include "rt/parallel.h"

/* A place in compiled code where something can fail. */
typedef struct aj_nh_site {
  const aj_node *node; /* of the finished module: the first entry of the trace */
  const aj_node *code; /* of the optimised module: operand types and attributes */
  const aj_region
      *stop; /* region of the finished module whose owner gets the last entry here; NULL: the function's root */
} aj_nh_site;

/* The block of an activation: each slot is as big as the biggest of its types. */
typedef struct aj_nh_slot {
  uint32_t type_count;
  const aj_type **types;
} aj_nh_slot;
typedef struct aj_nh_block_plan {
  uint32_t slot_count;
  aj_nh_slot *slots;
} aj_nh_block_plan;
enum { AJ_NH_ALIGN = 64 };

/* The helpers by name, for aj_native_host. */
const struct aj_native_helper *aj_native_helpers(uint32_t *out_count);

/* Iterations are those of the loops around the site, and the lane of a map, innermost first. All int32_t results: 0 ok,
 * 1 run->exn is set. */
int32_t aj_nh_poll(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int32_t count);
void aj_nh_raise(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env,
                 void *const *payload);
/* lane: of an array predicate; -1: the predicate is a scalar. */
void aj_nh_check(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env,
                 void *const *payload, int64_t lane);
/* A checked op failed for these operand elements. */
void aj_nh_checked(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int64_t lane, void *const *operands);
/* Adds the trace from the site outward to run->exn. */
void aj_nh_trace(aj_run *run, const aj_nh_site *site, const int64_t *iterations);
/* The same without the site's own node: from a try that did not take the failure. */
void aj_nh_outward(aj_run *run, const aj_nh_site *site, const int64_t *iterations);
/* A for whose step is 0; operands are lo, hi, step. */
void aj_nh_bad_step(aj_run *run, const aj_nh_site *site, const int64_t *iterations, void *const *operands);
/* Whether a slice or reshape fits the extents of its operand. */
int32_t aj_nh_check_view(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env);
int32_t aj_nh_check_shape(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env);
int32_t aj_nh_fallback(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env,
                       const void *const *in, void *const *out);
/* Long copies and zeroing; they poll. */
int32_t aj_nh_copy(aj_run *run, const aj_nh_site *site, const int64_t *iterations, void *to, const void *from,
                   int64_t bytes);
int32_t aj_nh_zero(aj_run *run, const aj_nh_site *site, const int64_t *iterations, void *to, int64_t bytes);
/* Fills an array with the one element that a const node has. */
int32_t aj_nh_fill(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const int64_t *env, void *to);
/* Leaves the trace to the caller, which the good path then need not tell where it is. */
int32_t aj_nh_callback(aj_run *run, uint32_t slot, const arrjit_view *args, arrjit_view *results);
/* With the trace, for a slot whose results have dynamic dims: binds the node's symbols in env. `made` has room for one
 * a result; the run owns what is made. */
int32_t aj_nh_callback_sized(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int64_t *env,
                             const arrjit_view *args, arrjit_view *results, arrjit_array **made);
/* First false byte of `count`, or count. */
int64_t aj_nh_first_false(const uint8_t *pred, int64_t count);

/* ---- blocks of kernels: functions of their own, which threads share ---- */
/* What a block function gets; pointers of operands and results follow, a word each. */
typedef struct aj_nh_frame {
  aj_run *run;
  const int64_t *env;
  const int64_t *iterations; /* of the loops around the kernel, set with `report` */
  int64_t report;            /* on the run's thread: a failure is raised, not only told */
} aj_nh_frame;
enum { AJ_NH_WORD = 16 }; /* bytes of a word: any element fits */
/* aj_run_blocks. */
int64_t aj_nh_blocks(aj_run *run, aj_block_fn *fn, void *frame, int64_t from, int64_t to, int64_t grain);
/* Whether the run is due; any thread may ask. */
int32_t aj_nh_due(aj_run *run);

/* Exceptions as values: owned by the run's list, &run->exns; a function gives up its own by trimming the list to what
 * it was. NULL: run->exn is set. */
aj_exn *aj_nh_exn_new(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations,
                      const int64_t *env, void *const *payload);
aj_exn *aj_nh_exn_cause(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn);
int32_t aj_nh_exn_is(aj_run *run, const aj_exn *exn, int64_t kind);
int32_t aj_nh_exn_field(const aj_exn *exn, const aj_node *code, const int64_t *env, void *out);
int64_t aj_nh_exn_site(const aj_exn *exn);
/* The code a checked op of scalars fails with for these operands. */
int64_t aj_nh_check_code(const aj_node *node, void *const *operands);
void aj_nh_raise_exn(aj_run *run, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn, aj_exn *cause);

/* Gives what was just raised a cause. */
void aj_nh_cause(aj_run *run, aj_exn *cause);

/* The handler of the try that takes run->exn, -1 when none does. */
int32_t aj_nh_match(aj_run *run, const aj_node *try_node);
/* Moves run->exn into the list: the handler runs. NULL: run->exn is kind memory now. */
aj_exn *aj_nh_take(aj_run *run, aj_nh_exns *exns);
/* run->exn was raised while `handled` (NULL is fine) was handled, or waited behind a finally. */
void aj_nh_context(aj_run *run, aj_exn *handled);
/* Forgets run->exn: the handler does not look at it and cannot fail. */
void aj_nh_drop(aj_run *run);
/* As aj_nh_take, for a finally; NULL also when the failure is one that no finally sees. */
aj_exn *aj_nh_begin_finally(aj_run *run, aj_nh_exns *exns);
/* Begins the grace of a finally; 1: it was not running already, and aj_nh_unmask ends it. */
int32_t aj_nh_mask(aj_run *run);
void aj_nh_unmask(aj_run *run, int32_t began);
/* run->exn = exn again, after a finally. */
void aj_nh_again(aj_run *run, aj_exn *exn);
void aj_nh_retain(aj_exn *exn);
/* Takes over a reference that a callee handed out. */
int32_t aj_nh_adopt(aj_run *run, aj_nh_exns *exns, const aj_nh_site *site, const int64_t *iterations, aj_exn *exn);
/* Releases what was put in since the list had `mark` entries, but for `keep` (entries may be NULL, may repeat). */
void aj_nh_exns_trim(aj_nh_exns *exns, int64_t mark, aj_exn *const *keep, int64_t keep_count);

/* The block; offsets[slot] from its start. NULL: run->exn is kind memory. Functions free theirs innermost first. */
void *aj_nh_block(aj_run *run, const aj_nh_block_plan *plan, const int64_t *env, int64_t *offsets);
void aj_nh_block_free(aj_run *run);
/* Memory for an array whose extents were not known when the function was entered. NULL: run->exn. */
void *aj_nh_array(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const aj_type *type,
                  const int64_t *env);
/* Releases such arrays, and those of callbacks, but for the first `mark`. */
void aj_nh_arrays_trim(aj_run *run, int64_t mark);
/* An output of the entry with such extents: a copy of `data`. */
int32_t aj_nh_output(aj_run *run, const aj_nh_site *site, const int64_t *iterations, int64_t index, const aj_type *type,
                     const int64_t *env, const void *data);

/* Depth and stack limits, and the callee's symbols: callee_env is a copy of env with them bound (NULL: it has none).
 * Compiled code takes one off run->depth after the call. */
int32_t aj_nh_enter(aj_run *run, const aj_nh_site *site, const int64_t *iterations, const aj_func *callee,
                    const int64_t *env, int64_t *callee_env);

#endif
