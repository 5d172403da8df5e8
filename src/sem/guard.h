/* Which nodes matter only where a predicate is false: those that nothing reads but the last operand of selects on it,
 * or each other. Code that runs many lanes at once may jump over them when the predicate holds in all: it changes no
 * bit. */
#ifndef AJ_SEM_GUARD_H
#define AJ_SEM_GUARD_H

#include "ir/module.h"

#define AJ_UNGUARDED UINT32_MAX
enum { AJ_GUARD_LEAST = 16 }; /* guarded nodes in a row that are worth a jump */

/* guards[slot of a value] = slot of the bool that its node is guarded by, or AJ_UNGUARDED. `region` is numbered;
 * `guards` has slot_count entries. */
void aj_guard_find(const aj_region *region, uint32_t *guards);
/* Whether a jump over nodes [pc, *out_end) is worth it where guards[] of node pc is true in all lanes. */
bool aj_guard_starts(const aj_region *region, const uint32_t *guards, uint32_t pc, uint32_t *out_end);

#endif
