/* The thread that LLVM runs on. It takes jobs from the queue, prints first, and publishes what comes of them; with the
 * lock held it only moves pointers. */
#include "engine/compile_thread.h"

#include "engine/load.h"

void aj_compile_event(aj_core *core, arrjit_event_code code, uint32_t function, int64_t duration_ns, int64_t bytes,
                      const char *text) {
  arrjit_event event = {
      .code = code, .function_id = function, .time_ns = aj_clock_ns(), .duration_ns = duration_ns, .code_bytes = bytes};
  aj_bounded_printf(event.text, sizeof event.text, "%s", text);
  aj_events_post(&core->events, &event);
}

void aj_compile_destroy(aj_compiler *c, aj_code *code, uint32_t function_id) {
  if (!code) return;
  int64_t bytes = code->code_bytes;
  c->api->destroy(c->native, code);
  aj_mem_free(&c->core->mem, code, sizeof *code);
  atomic_fetch_sub(&c->core->code_bytes, bytes);
  aj_compile_event(c->core, ARRJIT_EVENT_CODE_FREED, function_id, 0, bytes, "");
}

void aj_compile_set_never(arrjit_function *function, aj_native_state state, arrjit_status status, const char *text) {
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
  if (aj_load_native(c->path, &c->host, &c->api, &c->refusal) == ARRJIT_OK)
    c->native = c->api->open(&c->host, &c->refusal);
  if (c->native) {
    c->refusal.status = ARRJIT_OK;
    aj_compile_event(c->core, ARRJIT_EVENT_NATIVE_OPENED, 0, aj_clock_ns() - start, 0, "");
    return true;
  }
  if (c->refusal.status == ARRJIT_OK)
    (void)aj_error_set(&c->refusal, ARRJIT_UNAVAILABLE, "the native module does not open");
  aj_compile_event(c->core, ARRJIT_EVENT_NATIVE_UNAVAILABLE, 0, 0, 0, c->refusal.message);
  return false;
}

static aj_native_request make_request(aj_compiler *c, const aj_module *module, uint32_t print) {
  return (aj_native_request){.core = c->core,
                             .module = module,
                             .name = module->funcs.data[0]->name,
                             .print = print,
                             .budget_ms = aj_core_option(c->core, AJ_OPTION_COMPILE_BUDGET_MS),
                             .stop = &c->stop_compiling,
                             .isa = aj_core_option(c->core, AJ_OPTION_ISA),
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
  if (status == ARRJIT_OK)
    *out_code = code;
  else
    aj_mem_free(&c->core->mem, code, sizeof *code);
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
  aj_compile_event(c->core, ARRJIT_EVENT_COMPILED, function->id, duration_ns, bytes, "");
}

static void give_up(aj_compiler *c, arrjit_function *function, arrjit_status status, const char *text) {
  atomic_fetch_add(&c->core->compilations_stopped, 1);
  /* first: a run that waited finds it told when it goes on */
  aj_compile_event(c->core, ARRJIT_EVENT_COMPILE_STOPPED, function->id, 0, 0, text);
  aj_mutex_lock(&c->lock);
  c->current = NULL;
  aj_compile_set_never(function, status == ARRJIT_MEMORY ? AJ_NATIVE_NONE : AJ_NATIVE_NEVER, status, text);
  aj_cond_broadcast(&c->changed);
  aj_mutex_unlock(&c->lock);
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
    if (status == ARRJIT_OK)
      publish_code(c, function, code, aj_clock_ns() - start);
    else
      give_up(c, function, status, error.message);
  }
  aj_function_release(function);
}

static void run_print(aj_compiler *c, aj_print_job *job) {
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

void *aj_compile_serve(void *arg) {
  aj_compiler *c = arg;
  aj_mutex_lock(&c->lock);
  while (take_job(c)) {
    c->busy = true;
    aj_mutex_unlock(&c->lock);
    if (c->printing)
      run_print(c, c->printing);
    else
      compile_function(c, c->current);
    aj_mutex_lock(&c->lock);
    c->busy = false;
    aj_cond_broadcast(&c->changed);
  }
  aj_mutex_unlock(&c->lock);
  return NULL;
}

/* ---- dropping what is queued: by the end of the context, or of LLVM ---- */

arrjit_function *aj_compile_drop_queue(aj_compiler *c, const char *text) {
  arrjit_function *dropped = c->first;
  for (arrjit_function *f = dropped; f; f = f->next_queued)
    aj_compile_set_never(f, AJ_NATIVE_NEVER, ARRJIT_UNAVAILABLE, text);
  for (aj_print_job *job = c->prints; job; job = job->next) {
    job->status = aj_error_set(job->error, ARRJIT_UNAVAILABLE, "%s", text);
    job->done = true;
  }
  c->first = NULL;
  c->prints = NULL;
  aj_cond_broadcast(&c->changed);
  return dropped;
}

void aj_compile_release_dropped(arrjit_function *function) {
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
  c->busy = false;
  if (current) aj_compile_set_never(current, AJ_NATIVE_NEVER, ARRJIT_UNAVAILABLE, text);
  if (c->printing) {
    c->printing->status = aj_error_set(c->printing->error, ARRJIT_UNAVAILABLE, "%s", text);
    c->printing->done = true;
    c->printing = NULL;
  }
  arrjit_function *dropped = aj_compile_drop_queue(c, text);
  aj_mutex_unlock(&c->lock);
  atomic_fetch_add(&c->core->compilations_stopped, current != NULL);
  aj_compile_event(c->core, ARRJIT_EVENT_NATIVE_UNAVAILABLE, current ? current->id : 0, 0, 0, text);
  if (current) aj_function_release(current);
  aj_compile_release_dropped(dropped);
}
