/* Activations: one block of memory each, sized by the function's signature. */
#include "engine/activation.h"

#include <string.h>

#include "rt/bind.h"

/* Bytes of an activation, and where its parts go when `a` is not NULL. */
static size_t lay_out(const arrjit_function *function, aj_activation *a) {
  const aj_func *entry = function->module->funcs.data[0];
  size_t symbols = function->module->symbols.count, ins = entry->param_count, outs = entry->result_count;
  if (a) {
    a->input_count = entry->param_count;
    a->output_count = entry->result_count;
    a->env = (int64_t *)(void *)(a + 1);
    a->inputs = (arrjit_array **)(a->env + symbols);
    a->aligned = a->inputs + ins;
    a->packed = a->aligned + ins;
    a->outputs = a->packed + ins;
    a->in_data = (const void **)(a->outputs + outs);
    a->out_data = (void **)(a->in_data + ins);
  }
  return sizeof *a + symbols * sizeof(int64_t) + (4 * ins + 2 * outs) * sizeof(void *);
}

/* What the function binds, retained, which takes its lock: most bind nothing. */
static aj_defaults *get_defaults(arrjit_function *function) {
  if (!atomic_load_explicit(&function->defaults, memory_order_acquire)) return NULL;
  aj_mutex_lock(&function->lock);
  aj_defaults *defaults = atomic_load_explicit(&function->defaults, memory_order_relaxed);
  if (defaults) atomic_fetch_add_explicit(&defaults->refs, 1, memory_order_relaxed);
  aj_mutex_unlock(&function->lock);
  return defaults;
}

static aj_activation *make_activation(arrjit_function *function) {
  aj_activation *a = aj_mem_alloc(&function->core->mem, lay_out(function, NULL));
  if (!a) return NULL;
  (void)lay_out(function, a);
  a->function = function;
  a->keeps = function->module->slots.count > 0;
  aj_mutex_lock(&function->lock);
  a->next_made = function->made;
  function->made = a;
  aj_mutex_unlock(&function->lock);
  return a;
}

/* An idle one, else a new one: first from the place that needs no lock. */
static aj_activation *take_activation(arrjit_function *function) {
  aj_activation *a = atomic_exchange_explicit(&function->spare, NULL, memory_order_acquire);
  if (a) return a;
  aj_mutex_lock(&function->lock);
  a = function->idle;
  if (a) function->idle = a->next_idle;
  aj_mutex_unlock(&function->lock);
  return a ? a : make_activation(function);
}

static void give_back(arrjit_function *function, aj_activation *a) {
  aj_activation *empty = NULL;
  if (atomic_compare_exchange_strong_explicit(&function->spare, &empty, a, memory_order_release, memory_order_relaxed))
    return;
  aj_mutex_lock(&function->lock);
  a->next_idle = function->idle;
  function->idle = a;
  aj_mutex_unlock(&function->lock);
}

bool aj_function_is_busy(arrjit_function *function) {
  size_t made = 0, idle = 0;
  aj_mutex_lock(&function->lock);
  for (const aj_activation *a = function->made; a; a = a->next_made) made++;
  for (const aj_activation *a = function->idle; a; a = a->next_idle) idle++;
  if (atomic_load_explicit(&function->spare, memory_order_acquire)) idle++;
  aj_mutex_unlock(&function->lock);
  return idle < made;
}

aj_run_counts aj_function_runs(arrjit_function *function) {
  aj_run_counts all = {0, 0};
  aj_mutex_lock(&function->lock);
  for (aj_activation *a = function->made; a; a = a->next_made) {
    all.native += atomic_load_explicit(&a->native_runs, memory_order_relaxed);
    all.interpreted += atomic_load_explicit(&a->interpreted_runs, memory_order_relaxed);
  }
  aj_mutex_unlock(&function->lock);
  return all;
}

/* Clears all but the slots, which a next run of the function uses again. */
static void start_run(aj_run *run, arrjit_function *function, aj_defaults *defaults, arrjit_array **outputs) {
  aj_bound_slot *slots = run->slots;
  uint32_t slot_count = run->slot_count;
  size_t bytes = sizeof *run;
  __asm__("" : "+r"(bytes)); /* of a size that it knows gcc makes a `rep stos`, which alone takes 20 ns to begin */
  memset(run, 0, bytes);
  run->core = function->core;
  run->module = function->module;
  run->function = function;
  run->slots = slots;
  run->slot_count = slot_count;
  run->defaults = defaults;
  run->outputs = outputs;
}

aj_activation *aj_activation_begin(arrjit_function *function) {
  aj_activation *a = take_activation(function);
  if (!a) return NULL;
  if (a->keeps) aj_function_retain(function);
  start_run(&a->run, function, get_defaults(function), a->outputs);
  a->entered = a->succeeded = a->copied = false;
  return a;
}

static size_t lent_bytes(const aj_func *entry) {
  size_t count = (size_t)entry->param_count + entry->result_count;
  return sizeof(aj_lent_arrays) + count * sizeof(arrjit_array) + entry->result_count * sizeof(arrjit_array *);
}

bool aj_activation_lend(aj_activation *a) {
  const aj_func *entry = a->function->module->funcs.data[0];
  uint32_t ins = entry->param_count, outs = entry->result_count;
  aj_lent_arrays *lent = a->lent ? a->lent : aj_mem_alloc(&a->run.core->mem, lent_bytes(entry));
  if (!lent || a->lent) return lent != NULL;
  lent->outputs = (arrjit_array **)(void *)(lent->arrays + ins + outs);
  for (uint32_t i = 0; i < ins + outs; i++) {
    aj_view view = {.rank = 0};
    bool sized = aj_view_from_type(&view, i < ins ? entry->param_types[i] : entry->result_types[i - ins], NULL);
    AJ_ASSERT(sized); /* building refuses types that cannot be addressed */
    (void)sized;
    aj_array_lend(&lent->arrays[i], a->run.core, &view);
    if (i >= ins) lent->outputs[i - ins] = &lent->arrays[i];
  }
  a->lent = lent;
  return true;
}

static int64_t pick_limit(const aj_core *core, int64_t of_run, aj_option option) {
  return of_run ? of_run : aj_core_option(core, option);
}

/* The run's own limits, else the context's. A wall time past what the clock can tell is none. */
static void set_limits(aj_run *run, const arrjit_limits *limits) {
  run->max_iterations = pick_limit(run->core, limits->iterations, AJ_OPTION_MAX_ITERATIONS);
  int64_t wall_ns = limits->wall_ns;
  run->iterations_left = run->max_iterations ? run->max_iterations : INT64_MAX;
  run->max_depth = pick_limit(run->core, limits->depth, AJ_OPTION_MAX_DEPTH);
  run->max_bytes = pick_limit(run->core, limits->bytes, AJ_OPTION_MAX_RUN_BYTES);
  if (!wall_ns && !aj_i64_mul(aj_core_option(run->core, AJ_OPTION_MAX_RUN_MS), 1000000, &wall_ns)) wall_ns = 0;
  run->wall_ns = wall_ns;
  if (wall_ns && !aj_i64_add(aj_clock_ns(), wall_ns, &run->wall_end_ns)) run->wall_end_ns = 0;
}

bool aj_activation_enter(aj_activation *a, const arrjit_run_options *options, const _Atomic int *stop) {
  aj_run *run = &a->run;
  set_limits(run, &options->limits);
  run->cancel = options->cancel;
  if (run->cancel) aj_cancel_retain(run->cancel);
  run->deadline_ns = options->deadline_ns;
  run->job_stop = stop;
  run->fpenv = aj_fpenv_enter();
  a->stack_left = aj_stack_left(); /* on a thread's first run this reads the process' map: before the first poll */
  if (AJ_UNLIKELY(aj_core_option(run->core, AJ_OPTION_POLL_CLOCK) != 0)) aj_run_start_clock(run);
  a->entered = true;
  return aj_run_watch(run) && !aj_run_poll(run, false);
}

static void release_all(arrjit_array **arrays, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (arrays[i]) aj_array_release(arrays[i]);
    arrays[i] = NULL;
  }
}

void aj_activation_drop_arrays(aj_activation *a) {
  if (a->copied) release_all(a->packed, a->input_count);
  release_all(a->outputs, a->output_count);
}

/* Gives up what the run still has. */
static void empty_activation(aj_activation *a) {
  if (a->entered) {
    aj_run_note_poll(&a->run, false);
    aj_fpenv_leave(a->run.fpenv);
    aj_run_unwatch(&a->run);
  }
  if (a->run.cancel) aj_cancel_release(a->run.cancel);
  if (a->run.exn) aj_exn_release(a->run.exn);
  aj_run_release_native(&a->run);
  AJ_VEC_FREE(&a->run.core->mem, &a->run.needs);
  if (a->keeps) release_all(a->inputs, a->input_count);
  if (a->copied) release_all(a->aligned, a->input_count);
  aj_activation_drop_arrays(a);
  aj_defaults_release(a->run.defaults);
}

/* With the activation the context may end; the function still has the core. */
void aj_activation_end(aj_activation *a) {
  if (!a) return;
  arrjit_function *function = a->function;
  bool keeps = a->keeps;
  empty_activation(a);
  give_back(function, a);
  if (keeps) aj_function_release(function);
}

void aj_activation_free_all(arrjit_function *function) {
  size_t bytes = lay_out(function, NULL);
  for (aj_activation *a = function->made, *next; a; a = next) {
    next = a->next_made;
    aj_mem_free(&function->core->mem, a->lent, a->lent ? lent_bytes(function->module->funcs.data[0]) : 0);
    aj_run_unbind(&a->run);
    aj_mem_free(&function->core->mem, a, bytes);
  }
}
