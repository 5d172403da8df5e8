/* Contexts: what all else hangs on. Names and texts of the tables are here too. */
#include <string.h>

#include "base/error.h"
#include "engine/compiler.h"
#include "engine/load.h"

arrjit_status arrjit_context_create(const arrjit_context_options *options, arrjit_context **out, arrjit_error *error) {
  static const arrjit_context_options defaults = {.struct_bytes = sizeof defaults};
  const arrjit_context_options *o = options ? options : &defaults;
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  if (o->struct_bytes != sizeof *o)
    return aj_error_set(error, ARRJIT_MISUSE, "options: struct_bytes is %zu, expected %zu", o->struct_bytes, sizeof *o);
  if (o->allocator && !o->allocator->resize)
    return aj_error_set(error, ARRJIT_MISUSE, "options: allocator has no resize");
  if (o->hooks && (!o->hooks->release || !o->hooks->acquire))
    return aj_error_set(error, ARRJIT_MISUSE, "options: hooks need both release and acquire");
  if (o->executor && !o->executor->submit)
    return aj_error_set(error, ARRJIT_MISUSE, "options: the executor's submit is NULL");
  aj_core *core = aj_core_create(o->allocator);
  if (!core) return aj_error_memory(error, "a context");
  if (o->hooks) core->hooks = *o->hooks;
  aj_events_set_sink(&core->events, o->event_sink, o->event_user);
  if (o->executor) aj_core_set_executor(core, o->executor);
  arrjit_context *context = aj_mem_alloc(&core->mem, sizeof *context);
  aj_compiler *compiler = context ? aj_compiler_create(core, o->native_path) : NULL;
  if (!compiler) {
    aj_mem_free(&core->mem, context, sizeof *context);
    aj_core_release(core);
    return aj_error_memory(error, "a context");
  }
  context->core = core;
  context->compiler = compiler;
  *out = context;
  return aj_error_clear(error);
}

arrjit_status arrjit_context_destroy(arrjit_context *context) {
  if (!context) return ARRJIT_OK;
  aj_core *core = context->core;
  if (atomic_load(&core->users) != 0 || aj_compiler_is_busy(context->compiler)) return ARRJIT_BUSY;
  aj_core_wait_begin(core);
  arrjit_status status = aj_compiler_stop(context->compiler);
  if (status == ARRJIT_OK) {
    aj_timer_stop(&core->timer);
    aj_pool_stop(&core->pool);
  }
  aj_core_wait_end(core);
  if (status != ARRJIT_OK) return status;
  aj_mem_stop_spares(&core->mem);
  aj_compiler_release(context->compiler);
  aj_mem_free(&core->mem, context, sizeof *context);
  aj_core_release(core);
  return ARRJIT_OK;
}

/* ---- options ---- */

static bool is_option(arrjit_option option) { return (int)option >= 0 && (int)option < AJ_OPTION_COUNT; }

arrjit_status arrjit_context_set_option(arrjit_context *context, arrjit_option option, int64_t value,
                                        arrjit_error *error) {
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!is_option(option)) return aj_error_set(error, ARRJIT_MISUSE, "there is no option %d", (int)option);
  const aj_option_info *info = &aj_options[option];
  if (value < info->least || value > info->most)
    return aj_error_set(error, ARRJIT_MISUSE, "option %s is %lld, expected %lld to %lld", info->name, (long long)value,
                        (long long)info->least, (long long)info->most);
  if ((int)option == AJ_OPTION_EVENT_CAPACITY && !aj_events_set_capacity(&context->core->events, (size_t)value))
    return aj_error_memory(error, "the events to keep");
  if ((int)option == AJ_OPTION_POLL_CLOCK) atomic_store(&context->core->poll_longest_ns, 0);
  atomic_store_explicit(&context->core->options[option], value, memory_order_relaxed);
  return aj_error_clear(error);
}

int64_t arrjit_context_get_option(const arrjit_context *context, arrjit_option option) {
  return context && is_option(option) ? aj_core_option(context->core, (aj_option)option) : 0;
}

/* ---- kinds ---- */

arrjit_status arrjit_context_add_kind(arrjit_context *context, const char *name, arrjit_kind parent, const char *fields,
                                      arrjit_kind *out, arrjit_error *error) {
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!name) return aj_error_set(error, ARRJIT_MISUSE, "name is NULL");
  if (!fields) return aj_error_set(error, ARRJIT_MISUSE, "fields is NULL: \"\" stands for none");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  return aj_kinds_add(context->core->kinds, name, parent, fields, out, error);
}

arrjit_status arrjit_context_find_kind(const arrjit_context *context, const char *name, arrjit_kind *out,
                                       arrjit_error *error) {
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!name) return aj_error_set(error, ARRJIT_MISUSE, "name is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  arrjit_kind kind = aj_kinds_find(context->core->kinds, name, strlen(name));
  if (kind == ARRJIT_KIND_NONE) return aj_error_set(error, ARRJIT_NOT_FOUND, "there is no kind \"%s\"", name);
  *out = kind;
  return aj_error_clear(error);
}

const char *arrjit_context_kind_name(const arrjit_context *context, arrjit_kind kind) {
  const aj_kind_info *info = context ? aj_kinds_get(context->core->kinds, kind) : NULL;
  return info ? info->name : "?";
}

int arrjit_context_kind_is(const arrjit_context *context, arrjit_kind kind, arrjit_kind ancestor) {
  return context && aj_kinds_is(context->core->kinds, kind, ancestor);
}

/* ---- what happens in it ---- */

void arrjit_context_get_statistics(const arrjit_context *context, arrjit_statistics *out) {
  if (!out) return;
  *out = (arrjit_statistics){0};
  if (!context) return;
  aj_core *core = context->core;
  aj_mutex_lock(&core->events.lock);
  int64_t dropped = (int64_t)core->events.dropped;
  aj_mutex_unlock(&core->events.lock);
  aj_run_counts runs = aj_compiler_runs(context->compiler);
  *out = (arrjit_statistics){.live_bytes = atomic_load(&core->mem.live_bytes),
                             .allocations = atomic_load(&core->mem.allocations),
                             .runs_interpreted = runs.interpreted,
                             .runs_native = runs.native,
                             .runs_failed = atomic_load(&core->runs_failed),
                             .functions_compiled = atomic_load(&core->functions_compiled),
                             .compilations_stopped = atomic_load(&core->compilations_stopped),
                             .compile_ns = atomic_load(&core->compile_ns),
                             .code_bytes = atomic_load(&core->code_bytes),
                             .events_dropped = dropped,
                             .poll_longest_ns = atomic_load(&core->poll_longest_ns)};
}

int arrjit_context_next_event(arrjit_context *context, arrjit_event *out) {
  return context && out && aj_events_next(&context->core->events, out);
}

arrjit_status arrjit_context_wait_idle(arrjit_context *context, int64_t timeout_ns) {
  if (!context) return ARRJIT_MISUSE;
  aj_core *core = context->core;
  atomic_fetch_add(&core->users, 1); /* the context stays while someone waits in it */
  aj_core_wait_begin(core);
  arrjit_status status = aj_compiler_wait_idle(context->compiler, aj_engine_deadline(timeout_ns));
  aj_core_wait_end(core);
  atomic_fetch_sub(&core->users, 1);
  return status;
}

/* ---- names ---- */

const char *arrjit_status_text(arrjit_status status) { return aj_status_text(status); }

static bool is_dtype(arrjit_dtype dtype) { return (int)dtype > ARRJIT_DTYPE_NONE && (int)dtype < (int)AJ_DTYPE_COUNT; }

const char *arrjit_dtype_name(arrjit_dtype dtype) { return is_dtype(dtype) ? aj_dtypes[dtype].name : "?"; }
size_t arrjit_dtype_bytes(arrjit_dtype dtype) { return is_dtype(dtype) ? aj_dtypes[dtype].bytes : 0; }
const char *arrjit_option_name(arrjit_option option) { return is_option(option) ? aj_options[option].name : "?"; }

const char *arrjit_event_name(arrjit_event_code code) {
  static const char *const names[] = {
#define EVENT(ID, name, text) name,
#include "base/events.def"
#undef EVENT
  };
  return (int)code >= 0 && (size_t)code < AJ_COUNT(names) ? names[code] : "?";
}

const char *arrjit_version(void) { return aj_load_version(); }
