/* Blocks of a kernel on the pool: one counter says which block is next, one number which unit has failed. */
#include "rt/parallel.h"

typedef struct work {
  aj_run *run;
  aj_block_fn *fn;
  void *frame;
  int64_t end, grain;
  _Atomic int64_t next;   /* first unit that nobody has claimed */
  _Atomic int64_t failed; /* lowest failing unit, INT64_MAX: none */
  _Atomic bool stopped;
} work;

static void note_failure(work *w, int64_t unit) {
  int64_t before = atomic_load_explicit(&w->failed, memory_order_relaxed);
  while (unit < before && !atomic_compare_exchange_weak(&w->failed, &before, unit)) {}
}

static bool is_over(work *w) {
  return atomic_load_explicit(&w->failed, memory_order_relaxed) != INT64_MAX ||
         atomic_load_explicit(&w->stopped, memory_order_relaxed);
}

/* Blocks until there are none, or no more are wanted: all that are not claimed yet lie behind one that failed. */
static void do_blocks(work *w) {
  while (!is_over(w)) {
    int64_t from = atomic_fetch_add_explicit(&w->next, w->grain, memory_order_relaxed);
    if (from >= w->end) return;
    int64_t to = w->end - from < w->grain ? w->end : from + w->grain;
    int64_t result = aj_run_is_due(w->run) ? AJ_BLOCKS_STOPPED : w->fn(w->frame, from, to);
    if (result >= 0) note_failure(w, result);
    if (result == AJ_BLOCKS_STOPPED) atomic_store_explicit(&w->stopped, true, memory_order_relaxed);
  }
}

/* A thread that has too little stack for a block is of no help. */
static void help(void *arg) {
  enum { STACK_BYTES = 384 << 10 };
  if (aj_stack_left() < STACK_BYTES) return;
  aj_fpenv env = aj_fpenv_enter();
  do_blocks(arg);
  aj_fpenv_leave(env);
}

uint32_t aj_run_threads(const aj_run *run) {
  int64_t threads = aj_core_option(run->core, AJ_OPTION_THREADS);
  return threads ? (uint32_t)threads : run->core->processors;
}

int64_t aj_run_blocks(aj_run *run, aj_block_fn *fn, void *frame, int64_t from, int64_t to, int64_t grain) {
  work w = {.run = run, .fn = fn, .frame = frame, .end = to, .grain = grain, .next = from, .failed = INT64_MAX};
  int64_t blocks = (to - from - 1) / grain + 1, threads = aj_run_threads(run);
  if (threads > blocks) threads = blocks;
  if (threads > 1) {
    aj_pool_job job = {.help = help, .arg = &w};
    aj_pool_begin(&run->core->pool, &job, (uint32_t)threads - 1);
    do_blocks(&w);
    aj_pool_end(&run->core->pool, &job);
  } else {
    do_blocks(&w);
  }
  int64_t failed = atomic_load_explicit(&w.failed, memory_order_relaxed);
  if (failed != INT64_MAX) return failed;
  return atomic_load_explicit(&w.stopped, memory_order_relaxed) ? AJ_BLOCKS_STOPPED : AJ_BLOCKS_DONE;
}

/* ---- routines ---- */

static uint32_t team_threads(void *user) { return aj_run_threads(user); }
static int64_t team_share(void *user, aj_block_fn *fn, void *frame, int64_t count, int64_t grain) {
  return aj_run_blocks(user, fn, frame, 0, count, grain);
}
static bool team_due(void *user) { return aj_run_is_due(user); }

const aj_sem_team aj_run_team = {.threads = team_threads, .share = team_share, .due = team_due};
