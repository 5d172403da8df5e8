/* Work of a run that several threads may share. */
#ifndef AJ_RT_PARALLEL_H
#define AJ_RT_PARALLEL_H

#include "rt/run.h"

/* All of [from, to) in blocks of `grain`, polling in between. The lowest failing unit wins, whoever meets it: blocks
 * are claimed in order, so when one fails all before it are in work, and are waited for. AJ_BLOCKS_STOPPED: the next
 * poll ends the run. */
int64_t aj_run_blocks(aj_run *run, aj_block_fn *fn, void *frame, int64_t from, int64_t to, int64_t grain);
/* Threads that one kernel may use, the caller included. */
uint32_t aj_run_threads(const aj_run *run);
/* The same for routines whose poll_user is the run. */
extern const aj_sem_team aj_run_team;

#endif
