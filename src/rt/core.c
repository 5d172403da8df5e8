/* Making and dropping the core. It holds its own allocator, so it is allocated through a copy that then moves in, and
 * freed through a copy that was moved out. */
#include "rt/core.h"

#include "rt/exn.h"

const aj_option_info aj_options[AJ_OPTION_COUNT] = {
#define OPTION(ID, name, value, least, most, text) {name, value, least, most},
#include "base/options.def"
#undef OPTION
};

/* All that a core owns, in any state of completion. */
static void free_core(aj_core *core, bool events, bool timer, bool pool) {
  aj_mem mem;
  aj_mem_free(&core->mem, core->no_memory, sizeof *core->no_memory);
  if (core->sem) aj_sem_cache_destroy(core->sem);
  if (pool) aj_pool_free(&core->pool);
  if (timer) aj_timer_free(&core->timer);
  if (events) aj_events_free(&core->events);
  aj_kinds_release(core->kinds);
  aj_mem_stop_spares(&core->mem);
  aj_mem_init(&mem, &core->mem.host);
  AJ_ASSERT(atomic_load(&core->mem.live_bytes) == (int64_t)sizeof *core); /* only itself is left */
  aj_mem_free(&mem, core, sizeof *core);
}

/* Made now, since when it is needed there is no memory for it. */
static aj_exn *create_no_memory(aj_core *core) {
  aj_exn *exn = aj_mem_alloc(&core->mem, sizeof *exn);
  if (!exn) return NULL;
  atomic_init(&exn->refs, 1);
  exn->core = core; /* not retained: it is part of the core */
  exn->kind = ARRJIT_KIND_MEMORY;
  exn->message = (char *)(uintptr_t)AJ_NO_MEMORY_MESSAGE; /* only read, and never freed */
  exn->depth = 1;
  return exn;
}

/* Every part is tried even after one failed: free_core copes with any state, so there is one way out. */
aj_core *aj_core_create(const arrjit_allocator *allocator) {
  aj_mem mem;
  aj_mem_init(&mem, allocator);
  aj_core *core = aj_mem_alloc(&mem, sizeof *core);
  if (!core) return NULL;
  aj_mem_init(&core->mem, &mem.host);
  atomic_init(&core->mem.live_bytes, atomic_load(&mem.live_bytes));
  atomic_init(&core->mem.allocations, atomic_load(&mem.allocations));
  atomic_init(&core->refs, 1);
  for (size_t i = 0; i < AJ_OPTION_COUNT; i++) atomic_init(&core->options[i], aj_options[i].value);
  bool events = aj_events_init(&core->events, &core->mem, (size_t)aj_options[AJ_OPTION_EVENT_CAPACITY].value);
  bool timer = aj_timer_init(&core->timer), pool = aj_pool_init(&core->pool);
  core->processors = aj_pool_processors();
  core->kinds = aj_kinds_create(&core->mem);
  core->sem = aj_sem_cache_create(&core->mem);
  core->no_memory = create_no_memory(core);
  aj_mem_keep_spares(&core->mem);
  if (events && timer && pool && core->kinds && core->sem && core->no_memory) return core;
  free_core(core, events, timer, pool);
  return NULL;
}

void aj_core_retain(aj_core *core) { atomic_fetch_add_explicit(&core->refs, 1, memory_order_relaxed); }

void aj_core_release(aj_core *core) {
  if (core && atomic_fetch_sub_explicit(&core->refs, 1, memory_order_acq_rel) == 1) free_core(core, true, true, true);
}

/* ---- helpers that the host gives ---- */

/* On a thread of the host, maybe long after whoever asked has gone on: the task has a reference of its own. */
static void run_task(void *arg) {
  aj_core *core = arg;
  aj_pool_help(&core->pool);
  aj_core_release(core);
}

static bool submit_task(void *user) {
  aj_core *core = user;
  aj_core_retain(core);
  if (core->executor.submit(core->executor.user, run_task, core) == 0) return true;
  aj_core_release(core);
  return false;
}

void aj_core_set_executor(aj_core *core, const arrjit_executor *executor) {
  core->executor = *executor;
  aj_pool_set_invite(&core->pool, submit_task, core);
}
