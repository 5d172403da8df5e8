/* One run in one mode; see modes.h. */
#include "modes.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[TK_MODES] = {"interp", "resume", "whole", "auto"};

const char *tk_mode_name(tk_mode mode) { return names[mode]; }

tk_mode tk_mode_find(const char *name) {
  for (int i = 0; i < TK_MODES; i++)
    if (strcmp(names[i], name) == 0) return (tk_mode)i;
  return TK_MODES;
}

#ifdef TK_NATIVE_MODULE
bool tk_native(void) { return true; }
static const char *const native_path = TK_NATIVE_MODULE[0] ? TK_NATIVE_MODULE : NULL;
#else
bool tk_native(void) { return false; }
static const char *const native_path = NULL;
#endif

int64_t tk_isa_levels(void) {
#if defined(__x86_64__)
  bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  bool widest = wide && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return widest ? 3 : wide ? 2 : 1;
#else
  return 0;
#endif
}

arrjit_context_options tk_context_options(const arrjit_allocator *alloc) {
  return (arrjit_context_options){
      .struct_bytes = sizeof(arrjit_context_options), .allocator = alloc, .native_path = native_path};
}

static void set_option(arrjit_context *context, arrjit_option option, int64_t value) {
  arrjit_error error;
  if (arrjit_context_set_option(context, option, value, &error) != ARRJIT_OK) tk_die("option: %s", error.message);
}

arrjit_context *tk_context(const arrjit_allocator *alloc) {
  arrjit_context_options options = tk_context_options(alloc);
  arrjit_context *context = NULL;
  arrjit_error error;
  if (arrjit_context_create(&options, &context, &error) != ARRJIT_OK) tk_die("no context: %s", error.message);
  return context;
}

static arrjit_status call_slot(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                               size_t result_count, const arrjit_view *results) {
  tk_slot *slot = user;
  slot->calls++;
  fputs(slot->name, slot->log);
  for (size_t i = 0; i < arg_count; i++) {
    fputc(' ', slot->log);
    arrjit_type type = arrjit_type_make(args[i].dtype, args[i].rank, args[i].dims);
    tk_print_type(slot->log, &type);
    for (size_t k = 0; k < args[i].bytes; k++)
      fprintf(slot->log, k ? "%02x" : "=%02x", ((const unsigned char *)args[i].data)[k]);
  }
  fputc('\n', slot->log);
  return slot->behave ? slot->behave(slot, call, arg_count, args, result_count, results) : ARRJIT_OK;
}

static void run_once(arrjit_function *function, arrjit_mode mode, const tk_call *call, tk_outcome *out) {
  arrjit_binding *bindings = tk_new(call->slot_count, sizeof *bindings);
  tk_text log;
  tk_text_open(&log);
  for (size_t i = 0; i < call->slot_count; i++) {
    tk_slot *slot = &call->slots[i];
    slot->calls = 0;
    slot->log = log.to;
    bindings[i] = (arrjit_binding){.slot = slot->name, .callback = call_slot, .user = slot};
  }
  arrjit_run_options options = {.struct_bytes = sizeof options,
                                .mode = mode,
                                .flags = call->flags,
                                .binding_count = call->slot_count,
                                .bindings = bindings,
                                .outputs = call->outputs,
                                .donated = call->donated,
                                .cancel = call->cancel,
                                .deadline_ns = call->deadline_ns,
                                .limits = call->limits};
  arrjit_function_statistics before, after;
  arrjit_function_get_statistics(function, &before);
  arrjit_result *result = NULL;
  arrjit_error error = {0};
  arrjit_status status = arrjit_run(function, &options, call->input_count, call->inputs, &result, &error);
  arrjit_function_get_statistics(function, &after);
  char *calls = tk_text_close(&log);
  if (status == ARRJIT_OK) {
    tk_outcome_take(out, result, calls);
  } else {
    *out = (tk_outcome){.status = status, .error = error, .log = calls};
  }
  out->native = after.native_runs > before.native_runs;
  arrjit_result_destroy(result);
  free(bindings);
}

void tk_run_mode(arrjit_context *context, arrjit_function *function, tk_mode mode, const tk_call *call,
                 tk_outcome *out) {
  static const arrjit_mode of[TK_MODES] = {ARRJIT_MODE_INTERP, ARRJIT_MODE_INTERP, ARRJIT_MODE_WHOLE, ARRJIT_MODE_AUTO};
  int64_t block_work = arrjit_context_get_option(context, ARRJIT_OPTION_BLOCK_WORK);
  if (mode == TK_INTERP) set_option(context, ARRJIT_OPTION_BLOCK_WORK, 0);
  if (mode == TK_RESUME) set_option(context, ARRJIT_OPTION_RESUME_EVERYWHERE, 1);
  if (mode == TK_AUTO) {
    set_option(context, ARRJIT_OPTION_HOT_WORK, 0);
    tk_call warm = *call;
    warm.outputs = NULL;
    warm.donated = 0;
    run_once(function, of[mode], &warm, out);
    tk_outcome_free(out);
    if (arrjit_context_wait_idle(context, -1) != ARRJIT_OK) tk_die("the compiler does not come to rest");
  }
  run_once(function, of[mode], call, out);
  if (mode == TK_RESUME) set_option(context, ARRJIT_OPTION_RESUME_EVERYWHERE, 0);
  if (mode == TK_INTERP) set_option(context, ARRJIT_OPTION_BLOCK_WORK, block_work);
}
