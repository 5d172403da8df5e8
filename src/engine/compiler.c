/* The compile queue. One lock guards the queue, the list of functions and every function's native state; nothing of the
 * host or of LLVM is called with it held. Functions queue by a link of their own, so queueing cannot fail for lack of
 * memory.
 *
 *   NONE -> QUEUED -> READY | NEVER      (NONE again when there was no memory to compile: a later run may try again) */
#include <string.h>
#include <unistd.h>

#include "engine/compile_thread.h"
#include "engine/load.h"

enum { STACK_BYTES = 16 << 20 };

/* ---- queueing and waiting ---- */

static bool is_own_thread(const aj_compiler *c) {
  return c->pid != 0 && c->pid == getpid() && pthread_equal(c->thread.os, pthread_self());
}

/* With the lock held. */
static arrjit_status start_thread(aj_compiler *c, arrjit_error *error) {
  if (c->stopping) return aj_error_set(error, ARRJIT_UNAVAILABLE, "the context was destroyed");
  if (c->lost || aj_load_obstacle()) {
    const char *text = aj_load_obstacle();
    return aj_error_set(error, ARRJIT_UNAVAILABLE, "%s", text ? text : "the compile thread is gone");
  }
  if (c->pid != 0) return ARRJIT_OK;
  if (!aj_thread_start(&c->thread, STACK_BYTES, aj_compile_serve, c))
    return aj_error_set(error, ARRJIT_LIMIT, "the system has no thread to compile on");
  c->pid = getpid();
  return ARRJIT_OK;
}

/* What the state means for a host; with the lock held. */
static arrjit_status report_state(const arrjit_function *function, arrjit_error *error) {
  switch ((aj_native_state)atomic_load_explicit(&function->native_state, memory_order_relaxed)) {
  case AJ_NATIVE_READY:
  case AJ_NATIVE_QUEUED: return aj_error_clear(error);
  case AJ_NATIVE_NONE:
    if (function->never_status == ARRJIT_OK)
      return aj_error_set(error, ARRJIT_NOT_FOUND, "no compilation of the function was asked for");
    break;
  case AJ_NATIVE_NEVER: break;
  }
  return aj_error_set(error, function->never_status, "%s", function->never_text);
}

arrjit_status aj_compiler_queue(arrjit_function *function, arrjit_error *error) {
  aj_compiler *c = function->compiler;
  bool queued = false, stopped = false;
  aj_mutex_lock(&c->lock);
  arrjit_status status = ARRJIT_OK;
  if (atomic_load_explicit(&function->native_state, memory_order_relaxed) == AJ_NATIVE_NONE) {
    arrjit_error why = {.status = ARRJIT_OK};
    status = start_thread(c, &why);
    queued = status == ARRJIT_OK;
    stopped = status == ARRJIT_UNAVAILABLE;
    if (stopped) aj_compile_set_never(function, AJ_NATIVE_NEVER, status, why.message);
    if (error) *error = why;
  }
  if (queued) {
    aj_function_retain(function);
    function->next_queued = NULL;
    if (c->first)
      c->last->next_queued = function;
    else
      c->first = function;
    c->last = function;
    atomic_store_explicit(&function->native_state, AJ_NATIVE_QUEUED, memory_order_release);
    aj_cond_broadcast(&c->changed);
  } else if (status == ARRJIT_OK) {
    status = report_state(function, error);
  }
  aj_mutex_unlock(&c->lock);
  if (queued) aj_compile_event(c->core, ARRJIT_EVENT_COMPILE_QUEUED, function->id, 0, 0, "");
  if (stopped) {
    atomic_fetch_add(&c->core->compilations_stopped, 1);
    aj_compile_event(c->core, ARRJIT_EVENT_COMPILE_STOPPED, function->id, 0, 0, function->never_text);
  }
  return status;
}

/* One wait with the lock held; false: deadline_ns has passed. */
static bool wait_change(aj_compiler *c, int64_t deadline_ns) {
  if (deadline_ns != INT64_MAX) return aj_cond_wait_until(&c->changed, &c->lock, deadline_ns);
  aj_cond_wait(&c->changed, &c->lock);
  return true;
}

arrjit_status aj_compiler_wait(arrjit_function *function, int64_t deadline_ns, arrjit_error *error) {
  aj_compiler *c = function->compiler;
  aj_mutex_lock(&c->lock);
  bool own = is_own_thread(c), in_time = true;
  while (!own && in_time && atomic_load_explicit(&function->native_state, memory_order_relaxed) == AJ_NATIVE_QUEUED)
    in_time = wait_change(c, deadline_ns);
  arrjit_status status;
  if (own)
    status = aj_error_set(error, ARRJIT_BUSY, "the compile thread cannot wait for itself");
  else if (!in_time)
    status = aj_error_set(error, ARRJIT_TIMEOUT, "the function is still being compiled");
  else
    status = report_state(function, error);
  aj_mutex_unlock(&c->lock);
  return status;
}

arrjit_status aj_compiler_wait_idle(aj_compiler *c, int64_t deadline_ns) {
  aj_mutex_lock(&c->lock);
  bool own = is_own_thread(c), in_time = true;
  while (!own && in_time && (c->first || c->prints || c->busy)) in_time = wait_change(c, deadline_ns);
  aj_mutex_unlock(&c->lock);
  return own ? ARRJIT_BUSY : in_time ? ARRJIT_OK : ARRJIT_TIMEOUT;
}

arrjit_status aj_compiler_print(arrjit_context *context, const aj_module *module, int what, aj_text *out,
                                arrjit_error *error) {
  aj_compiler *c = context->compiler;
  aj_print_job job = {.module = module, .what = (uint32_t)what, .out = out, .error = error};
  aj_core_wait_begin(c->core);
  aj_mutex_lock(&c->lock);
  arrjit_status status;
  if (is_own_thread(c)) {
    status = aj_error_set(error, ARRJIT_BUSY, "the compile thread cannot wait for itself");
  } else if ((status = start_thread(c, error)) == ARRJIT_OK) {
    job.next = c->prints;
    c->prints = &job;
    aj_cond_broadcast(&c->changed);
    while (!job.done) aj_cond_wait(&c->changed, &c->lock);
    status = job.status;
  }
  aj_mutex_unlock(&c->lock);
  aj_core_wait_end(c->core);
  return status;
}

/* ---- life ---- */

aj_compiler *aj_compiler_create(aj_core *core, const char *native_path) {
  aj_compiler *c = aj_mem_alloc(&core->mem, sizeof *c);
  if (!c) return NULL;
  atomic_init(&c->refs, 1);
  c->path_bytes = native_path ? strlen(native_path) + 1 : 0;
  if (native_path && (c->path = aj_mem_alloc(&core->mem, c->path_bytes))) memcpy(c->path, native_path, c->path_bytes);
  bool lock = aj_mutex_init(&c->lock), cond = lock && aj_cond_init(&c->changed);
  if ((c->path || !native_path) && cond) {
    c->core = core;
    aj_core_retain(core);
    return c;
  }
  if (cond) aj_cond_destroy(&c->changed);
  if (lock) aj_mutex_destroy(&c->lock);
  aj_mem_free(&core->mem, c->path, c->path_bytes);
  aj_mem_free(&core->mem, c, sizeof *c);
  return NULL;
}

void aj_compiler_retain(aj_compiler *c) { atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed); }

void aj_compiler_release(aj_compiler *c) {
  if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  aj_core *core = c->core;
  AJ_ASSERT(!c->functions);
  aj_cond_destroy(&c->changed);
  aj_mutex_destroy(&c->lock);
  aj_mem_free(&core->mem, c->path, c->path_bytes);
  aj_mem_free(&core->mem, c, sizeof *c);
  aj_core_release(core);
}

static void add_runs(aj_run_counts *sum, arrjit_function *function) {
  aj_run_counts runs = aj_function_runs(function);
  sum->native += runs.native;
  sum->interpreted += runs.interpreted;
}

aj_run_counts aj_compiler_runs(aj_compiler *c) {
  aj_mutex_lock(&c->lock);
  aj_run_counts sum = c->past_runs;
  for (arrjit_function *f = c->functions; f; f = f->next) add_runs(&sum, f);
  aj_mutex_unlock(&c->lock);
  return sum;
}

bool aj_compiler_is_busy(aj_compiler *c) {
  bool busy = false;
  aj_mutex_lock(&c->lock);
  for (arrjit_function *f = c->functions; f && !busy; f = f->next) busy = aj_function_is_busy(f);
  aj_mutex_unlock(&c->lock);
  return busy;
}

void aj_compiler_attach(aj_compiler *c, arrjit_function *function) {
  aj_mutex_lock(&c->lock);
  function->next = c->functions;
  if (c->functions) c->functions->previous = function;
  c->functions = function;
  aj_mutex_unlock(&c->lock);
}

void aj_compiler_detach(aj_compiler *c, arrjit_function *function) {
  aj_mutex_lock(&c->lock);
  if (function->previous)
    function->previous->next = function->next;
  else
    c->functions = function->next;
  if (function->next) function->next->previous = function->previous;
  add_runs(&c->past_runs, function);
  aj_code *code = atomic_exchange(&function->code, NULL);
  c->destroying++; /* keeps native open */
  aj_mutex_unlock(&c->lock);
  aj_compile_destroy(c, code, function->id);
  aj_mutex_lock(&c->lock);
  c->destroying--;
  aj_cond_broadcast(&c->changed);
  aj_mutex_unlock(&c->lock);
}

/* The functions that are left lose their code and their context. With the lock held, which it lets go in between. */
static void orphan_functions(aj_compiler *c) {
  for (arrjit_function *f = c->functions; f;) {
    atomic_store(&f->context, NULL);
    aj_code *code = atomic_exchange(&f->code, NULL);
    uint32_t id = f->id;
    if (code) {
      aj_compile_set_never(f, AJ_NATIVE_NEVER, ARRJIT_UNAVAILABLE, "the context was destroyed");
      aj_mutex_unlock(&c->lock);
      aj_compile_destroy(c, code, id);
      aj_mutex_lock(&c->lock);
    }
    f = code ? c->functions : f->next; /* the list may have changed; one without code is passed by quickly */
  }
  while (c->destroying) aj_cond_wait(&c->changed, &c->lock);
}

arrjit_status aj_compiler_stop(aj_compiler *c) {
  if (c->pid != 0 && c->pid != getpid())
    return ARRJIT_OK; /* a child made by fork: its thread and maybe its lock are gone */
  aj_mutex_lock(&c->lock);
  if (is_own_thread(c)) {
    aj_mutex_unlock(&c->lock);
    return ARRJIT_BUSY;
  }
  c->stopping = true;
  atomic_store_explicit(&c->stop_compiling, 1, memory_order_relaxed);
  arrjit_function *dropped = aj_compile_drop_queue(c, "the context was destroyed");
  bool started = c->pid != 0, lost = c->lost;
  aj_mutex_unlock(&c->lock);
  aj_compile_release_dropped(dropped);
  if (started && !lost) aj_thread_join(&c->thread);
  aj_mutex_lock(&c->lock);
  orphan_functions(c);
  aj_mutex_unlock(&c->lock);
  if (c->native && !lost) c->api->close(c->native);
  c->native = NULL;
  return ARRJIT_OK;
}
