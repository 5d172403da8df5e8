/* What the arrays of a run take, known when a function is entered: so a limit on memory is met before anything of that
 * function runs, and at the same place in every tier.
 *
 * Counted are bytes of elements in the function as it was built: of each array that a node makes, from that node to its
 * last use. Views are part of what they show. What a loop carries is there besides what it began with; payload, and
 * views that routines and callbacks get dense, are copies while their node runs; outputs are made by the run, but for
 * those that a node makes. A caller counts with its most while it waits. Arrays whose extents callbacks decide on count
 * from then on. What the optimiser, donated inputs or given outputs save is not taken off; nor is counted what tiers
 * need besides: constants, scratch of routines, code, exceptions. */
#ifndef AJ_RT_NEED_H
#define AJ_RT_NEED_H

#include "rt/run.h"

typedef struct aj_need aj_need;

/* Of a finished module, which must live as long. NULL: no memory. */
aj_need *aj_need_create(aj_mem *mem, const aj_module *module);
/* NULL is fine. */
void aj_need_destroy(aj_need *need);

/* The entry is about to run, with `copies` bytes of inputs copied. False: more than run->max_bytes; run->exn. */
bool aj_need_begin(aj_run *run, const aj_need *need, int64_t copies, const int64_t *env);
/* `func` is about to run at that depth (0: the entry), or a callback has bound more of its symbols. False: as above. */
bool aj_need_enter(aj_run *run, int64_t depth, const aj_func *func, const int64_t *env);
/* A callback is about to make an array, besides those of `made` (which has `count`, NULL where none). What the function
 * needs in all shows when it is back, so only this is compared with the limit, and the limit is not reached: a callback
 * may do with less. False: as above, and *out_needed says how much it would be. */
bool aj_need_result(aj_run *run, int64_t bytes, uint32_t count, arrjit_array *const *made, int64_t *out_needed);

#endif
