/* The compile queue. One lock guards the queue, the list of functions and every function's native state; nothing of the host
 * or of LLVM is called with it held. Functions queue by a link of their own, so queueing cannot fail for lack of memory.
 *
 *   NONE -> QUEUED -> READY | NEVER      (NONE again when there was no memory to compile: a later run may try again) */
#include "engine/compiler.h"

#include <string.h>
#include <unistd.h>

#include "engine/load.h"

enum { STACK_BYTES = 16 << 20 };

typedef struct print_job {
  struct print_job *next;
  const aj_module *module;
  uint32_t what;
  aj_text *out;
  arrjit_error *error;
  arrjit_status status;
  bool done;
} print_job;

struct aj_compiler {
  _Atomic int64_t refs;
  aj_core *core;
  char *path;
  size_t path_bytes;
  aj_mutex lock;
  aj_cond changed;              /* broadcast at every change that someone may wait for */
  arrjit_function *functions;
  arrjit_function *first, *last;
  print_job *prints;
  arrjit_function *current;     /* being compiled */
  print_job *printing;
  int destroying;               /* functions that left with code that is being freed */
  bool stopping, lost;          /* lost: LLVM has parked the thread */
  pid_t pid;                    /* whose thread it is: a child made by fork has none. 0: not started */
  aj_thread thread;
  /* the thread's own until it has ended */
  const aj_native_api *api;
  void *native;
  aj_native_host host;
  arrjit_error refusal;         /* why there is no native code; status OK: not known yet, or there is */
};

static void post_event(aj_core *core, arrjit_event_code code, uint32_t function, int64_t duration_ns, int64_t bytes,
                       const char *text) {
  arrjit_event event = {
      .code = code, .function_id = function, .time_ns = aj_clock_ns(), .duration_ns = duration_ns, .code_bytes = bytes};
  aj_bounded_printf(event.text, sizeof event.text, "%s", text);
  aj_events_post(&core->events, &event);
}

/* ---- code ---- */

/* NULL is fine. Without the lock. */
static void destroy_code(aj_compiler *c, aj_code *code, uint32_t function_id) {
  if (!code) return;
  int64_t bytes = code->code_bytes;
  c->api->destroy(c->native, code);
  aj_mem_free(&c->core->mem, code, sizeof *code);
  atomic_fetch_sub(&c->core->code_bytes, bytes);
  post_event(c->core, ARRJIT_EVENT_CODE_FREED, function_id, 0, bytes, "");
}

/* With the lock held. */
static void set_never(arrjit_function *function, aj_native_state state, arrjit_status status, const char *text) {
  function->never_status = status;
  aj_bounded_printf(function->never_text, sizeof function->never_text, "%s", text);
  atomic_store_explicit(&function->native_state, state, memory_order_release);
}

/* ---- what the thread does ---- */

static void note_fatal(void *user, const char *text);

static bool open_native(aj_compiler *c) {
  if (c->native) return true;
  if (c->refusal.status != ARRJIT_OK) return false;
  int64_t start = aj_clock_ns();
  uint32_t count = 0;
  const struct aj_native_helper *helpers = aj_helpers(&count);
  c->host = (aj_native_host){.abi = AJ_NATIVE_ABI,
                             .struct_bytes = sizeof c->host,
                             .version = aj_load_version(),
                             .helpers = helpers,
                             .helper_count = count,
                             .fatal = note_fatal,
                             .user = c};
  if (aj_load_native(c->path, &c->host, &c->api, &c->refusal) == ARRJIT_OK) c->native = c->api->open(&c->host, &c->refusal);
  if (c->native) {
    c->refusal.status = ARRJIT_OK;
    post_event(c->core, ARRJIT_EVENT_NATIVE_OPENED, 0, aj_clock_ns() - start, 0, "");
    return true;
  }
  if (c->refusal.status == ARRJIT_OK) (void)aj_error_set(&c->refusal, ARRJIT_UNAVAILABLE, "the native module does not open");
  post_event(c->core, ARRJIT_EVENT_NATIVE_UNAVAILABLE, 0, 0, 0, c->refusal.message);
  return false;
}

static aj_native_request make_request(aj_compiler *c, const aj_module *module, uint32_t print) {
  return (aj_native_request){.core = c->core,
                             .module = module,
                             .name = module->funcs.data[0]->name,
                             .print = print,
                             .budget_ms = aj_core_option(c->core, AJ_OPTION_COMPILE_BUDGET_MS),
                             .flip_lowering = aj_core_option(c->core, AJ_OPTION_FLIP_LOWERING),
                             .passes_off = (uint64_t)aj_core_option(c->core, AJ_OPTION_PASSES_OFF),
                             .verify_passes = aj_core_option(c->core, AJ_OPTION_VERIFY_PASSES) != 0};
}

/* *out_code is the caller's on OK. */
static arrjit_status make_code(aj_compiler *c, arrjit_function *function, aj_code **out_code, arrjit_error *error) {
  if (!open_native(c)) {
    *error = c->refusal;
    return error->status;
  }
  aj_code *code = aj_mem_alloc(&c->core->mem, sizeof *code);
  if (!code) return aj_error_memory(error, "native code");
  aj_native_request request = make_request(c, function->module, 0);
  arrjit_status status = c->api->compile(c->native, &request, code, NULL, error);
  if (status == ARRJIT_OK) *out_code = code;
  else aj_mem_free(&c->core->mem, code, sizeof *code);
  return status;
}

static void publish_code(aj_compiler *c, arrjit_function *function, aj_code *code, int64_t duration_ns) {
  code->compile_ns = duration_ns;
  atomic_fetch_add(&c->core->functions_compiled, 1);
  atomic_fetch_add(&c->core->compile_ns, duration_ns);
  atomic_fetch_add(&c->core->code_bytes, code->code_bytes);
  atomic_fetch_add(&function->compilations, 1);
  int64_t bytes = code->code_bytes; /* once published, the code may go at any time */
  aj_mutex_lock(&c->lock);
  c->current = NULL;
  atomic_store_explicit(&function->code, code, memory_order_release);
  atomic_store_explicit(&function->native_state, AJ_NATIVE_READY, memory_order_release);
  aj_cond_broadcast(&c->changed);
  aj_mutex_unlock(&c->lock);
  post_event(c->core, ARRJIT_EVENT_COMPILED, function->id, duration_ns, bytes, "");
}

static void give_up(aj_compiler *c, arrjit_function *function, arrjit_status status, const char *text) {
  atomic_fetch_add(&c->core->compilations_stopped, 1);
  aj_mutex_lock(&c->lock);
  c->current = NULL;
  set_never(function, status == ARRJIT_MEMORY ? AJ_NATIVE_NONE : AJ_NATIVE_NEVER, status, text);
  aj_cond_broadcast(&c->changed);
  aj_mutex_unlock(&c->lock);
  post_event(c->core, ARRJIT_EVENT_COMPILE_STOPPED, function->id, 0, 0, text);
}

/* `function` is c->current; its queue's reference ends here. */
static void compile_function(aj_compiler *c, arrjit_function *function) {
  arrjit_error error = {.status = ARRJIT_OK};
  aj_code *code = NULL;
  int64_t start = aj_clock_ns();
  if (atomic_load(&function->refs) == 1) { /* only the queue has it */
    give_up(c, function, ARRJIT_UNAVAILABLE, "nobody has the function any more");
  } else {
    arrjit_status status = make_code(c, function, &code, &error);
    if (status == ARRJIT_OK) publish_code(c, function, code, aj_clock_ns() - start);
    else give_up(c, function, status, error.message);
  }
  aj_function_release(function);
}

static void run_print(aj_compiler *c, print_job *job) {
  arrjit_status status;
  if (!open_native(c)) {
    status = c->refusal.status;
    if (job->error) *job->error = c->refusal;
  } else {
    aj_code none = {0};
    aj_native_request request = make_request(c, job->module, job->what);
    status = c->api->compile(c->native, &request, &none, job->out, job->error);
  }
  aj_mutex_lock(&c->lock);
  c->printing = NULL;
  job->status = status;
  job->done = true;
  aj_cond_broadcast(&c->changed);
  aj_mutex_unlock(&c->lock);
}

/* Takes the next job into c->current or c->printing; false: the thread is to end. With the lock held. */
static bool take_job(aj_compiler *c) {
  while (!c->stopping) {
    if ((c->printing = c->prints)) {
      c->prints = c->printing->next;
      return true;
    }
    if ((c->current = c->first)) {
      c->first = c->current->next_queued;
      return true;
    }
    aj_cond_wait(&c->changed, &c->lock);
  }
  return false;
}

static void *serve(void *arg) {
  aj_compiler *c = arg;
  aj_mutex_lock(&c->lock);
  while (take_job(c)) {
    aj_mutex_unlock(&c->lock);
    if (c->printing) run_print(c, c->printing);
    else compile_function(c, c->current);
    aj_mutex_lock(&c->lock);
  }
  aj_mutex_unlock(&c->lock);
  return NULL;
}

/* ---- dropping what is queued: by the end of the context, or of LLVM ---- */

/* With the lock held; gives the functions, whose references are to be released without it. */
static arrjit_function *drop_queue(aj_compiler *c, const char *text) {
  arrjit_function *dropped = c->first;
  for (arrjit_function *f = dropped; f; f = f->next_queued) set_never(f, AJ_NATIVE_NEVER, ARRJIT_UNAVAILABLE, text);
  for (print_job *job = c->prints; job; job = job->next) {
    job->status = aj_error_set(job->error, ARRJIT_UNAVAILABLE, "%s", text);
    job->done = true;
  }
  c->first = NULL;
  c->prints = NULL;
  aj_cond_broadcast(&c->changed);
  return dropped;
}

static void release_dropped(arrjit_function *function) {
  for (arrjit_function *next; function; function = next) {
    next = function->next_queued;
    aj_function_release(function);
  }
}

/* On the compile thread, which never comes back from where it is. */
static void note_fatal(void *user, const char *text) {
  aj_compiler *c = user;
  aj_load_disable();
  aj_mutex_lock(&c->lock);
  c->lost = true;
  arrjit_function *current = c->current;
  c->current = NULL;
  if (current) set_never(current, AJ_NATIVE_NEVER, ARRJIT_UNAVAILABLE, text);
  if (c->printing) {
    c->printing->status = aj_error_set(c->printing->error, ARRJIT_UNAVAILABLE, "%s", text);
    c->printing->done = true;
    c->printing = NULL;
  }
  arrjit_function *dropped = drop_queue(c, text);
  aj_mutex_unlock(&c->lock);
  atomic_fetch_add(&c->core->compilations_stopped, current != NULL);
  post_event(c->core, ARRJIT_EVENT_NATIVE_UNAVAILABLE, current ? current->id : 0, 0, 0, text);
  if (current) aj_function_release(current);
  release_dropped(dropped);
}

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
  if (!aj_thread_start(&c->thread, STACK_BYTES, serve, c))
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
    if (stopped) set_never(function, AJ_NATIVE_NEVER, status, why.message);
    if (error) *error = why;
  }
  if (queued) {
    aj_function_retain(function);
    function->next_queued = NULL;
    if (c->first) c->last->next_queued = function;
    else c->first = function;
    c->last = function;
    atomic_store_explicit(&function->native_state, AJ_NATIVE_QUEUED, memory_order_release);
    aj_cond_broadcast(&c->changed);
  } else if (status == ARRJIT_OK) {
    status = report_state(function, error);
  }
  aj_mutex_unlock(&c->lock);
  if (queued) post_event(c->core, ARRJIT_EVENT_COMPILE_QUEUED, function->id, 0, 0, "");
  if (stopped) {
    atomic_fetch_add(&c->core->compilations_stopped, 1);
    post_event(c->core, ARRJIT_EVENT_COMPILE_STOPPED, function->id, 0, 0, function->never_text);
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
  if (own) status = aj_error_set(error, ARRJIT_BUSY, "the compile thread cannot wait for itself");
  else if (!in_time) status = aj_error_set(error, ARRJIT_TIMEOUT, "the function is still being compiled");
  else status = report_state(function, error);
  aj_mutex_unlock(&c->lock);
  return status;
}

arrjit_status aj_compiler_wait_idle(aj_compiler *c, int64_t deadline_ns) {
  aj_mutex_lock(&c->lock);
  bool own = is_own_thread(c), in_time = true;
  while (!own && in_time && (c->first || c->prints || c->current || c->printing)) in_time = wait_change(c, deadline_ns);
  aj_mutex_unlock(&c->lock);
  return own ? ARRJIT_BUSY : in_time ? ARRJIT_OK : ARRJIT_TIMEOUT;
}

arrjit_status aj_compiler_print(arrjit_context *context, const aj_module *module, int what, aj_text *out,
                                arrjit_error *error) {
  aj_compiler *c = context->compiler;
  print_job job = {.module = module, .what = (uint32_t)what, .out = out, .error = error};
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

void aj_compiler_attach(aj_compiler *c, arrjit_function *function) {
  aj_mutex_lock(&c->lock);
  function->next = c->functions;
  if (c->functions) c->functions->previous = function;
  c->functions = function;
  aj_mutex_unlock(&c->lock);
}

void aj_compiler_detach(aj_compiler *c, arrjit_function *function) {
  aj_mutex_lock(&c->lock);
  if (function->previous) function->previous->next = function->next;
  else c->functions = function->next;
  if (function->next) function->next->previous = function->previous;
  aj_code *code = atomic_exchange(&function->code, NULL);
  c->destroying++; /* keeps native open */
  aj_mutex_unlock(&c->lock);
  destroy_code(c, code, function->id);
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
      set_never(f, AJ_NATIVE_NEVER, ARRJIT_UNAVAILABLE, "the context was destroyed");
      aj_mutex_unlock(&c->lock);
      destroy_code(c, code, id);
      aj_mutex_lock(&c->lock);
    }
    f = code ? c->functions : f->next; /* the list may have changed; one without code is passed by quickly */
  }
  while (c->destroying) aj_cond_wait(&c->changed, &c->lock);
}

arrjit_status aj_compiler_stop(aj_compiler *c) {
  if (c->pid != 0 && c->pid != getpid()) return ARRJIT_OK; /* a child made by fork: its thread and maybe its lock are gone */
  aj_mutex_lock(&c->lock);
  if (is_own_thread(c)) {
    aj_mutex_unlock(&c->lock);
    return ARRJIT_BUSY;
  }
  c->stopping = true;
  arrjit_function *dropped = drop_queue(c, "the context was destroyed");
  bool started = c->pid != 0, lost = c->lost;
  aj_mutex_unlock(&c->lock);
  release_dropped(dropped);
  if (started && !lost) aj_thread_join(&c->thread);
  aj_mutex_lock(&c->lock);
  orphan_functions(c);
  aj_mutex_unlock(&c->lock);
  if (c->native && !lost) c->api->close(c->native);
  c->native = NULL;
  return ARRJIT_OK;
}
