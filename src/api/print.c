/* arrjit/run.h, the text part: functions from .air text, and as text of several kinds. */
#include <string.h>

#include "engine/engine.h"
#include "opt/opt.h"

/* ---- parsing ---- */

/* The verifier tells a node, a slot or a function; whoever wrote the text wants its line. */
static void tell_line(const aj_air_lines *lines, const aj_verify_place *place, const char *name, arrjit_error *error) {
  if (!error) return;
  if (place->node && place->func)
    error->line = (int)aj_air_node_line(lines, place->func->index, place->node->id);
  else if (place->slot >= 0)
    error->line = (int)aj_air_slot_line(lines, place->slot);
  else
    error->line = place->func ? (int)aj_air_func_line(lines, place->func->index) : 0;
  size_t length = strlen(name), room = sizeof error->file - 1;
  aj_bounded_printf(error->file, sizeof error->file, "%s", length > room ? name + (length - room) : name);
}

static arrjit_status parse_module(aj_core *core, aj_kinds *kinds, const char *text, size_t bytes, const char *name,
                                  aj_module **out, arrjit_error *error) {
  aj_air_limits limits = {.max_nodes = aj_core_option(core, AJ_OPTION_MAX_NODES),
                          .max_nesting = aj_core_option(core, AJ_OPTION_MAX_NESTING),
                          .max_const_bytes = aj_core_option(core, AJ_OPTION_MAX_CONST_BYTES)};
  aj_air_lines lines = {.mem = &core->mem};
  aj_module *module = NULL;
  aj_verify_place place;
  arrjit_status status = aj_air_parse_lines(&core->mem, kinds, text, bytes, name, &limits, &lines, &module, error);
  if (status == ARRJIT_MISUSE) { /* what a builder tells its caller is here said of a text */
    status = ARRJIT_GRAPH;
    if (error) error->status = status;
  }
  if (status == ARRJIT_OK) {
    status = aj_verify_find(module, false, error, &place);
    if (status != ARRJIT_OK)
      tell_line(&lines, &place, name, error);
    else if (!aj_opt_settle(module))
      status = aj_error_memory(error, "a function");
  }
  aj_air_lines_free(&lines);
  if (status == ARRJIT_OK)
    *out = module;
  else
    aj_module_destroy(module);
  return status;
}

/* New kinds of the text are the context's when nothing can fail any more but adding them. */
static arrjit_status parse_function(arrjit_context *context, aj_kinds *kinds, const char *text, size_t bytes,
                                    const char *name, arrjit_function **out, arrjit_error *error) {
  aj_module *module;
  arrjit_status status = parse_module(context->core, kinds, text, bytes, name, &module, error);
  if (status != ARRJIT_OK) return status;
  arrjit_function *function = aj_function_create(context, module);
  if (!function) return aj_error_memory(error, "a function");
  status = aj_module_join_kinds(module, context->core->kinds, error);
  if (status == ARRJIT_OK)
    *out = function;
  else
    aj_function_release(function);
  return status;
}

arrjit_status arrjit_function_parse(arrjit_context *context, const char *text, size_t bytes, const char *name,
                                    arrjit_function **out, arrjit_error *error) {
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!text) return aj_error_set(error, ARRJIT_MISUSE, "text is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  aj_kinds *kinds = aj_kinds_fork(context->core->kinds);
  if (!kinds) return aj_error_memory(error, "a function");
  arrjit_status status = parse_function(context, kinds, text, bytes, name ? name : "", out, error);
  aj_kinds_release(kinds);
  return status == ARRJIT_OK ? aj_error_clear(error) : status;
}

/* ---- printing ---- */

static arrjit_status print_optimised(arrjit_function *function, aj_text *out, arrjit_error *error) {
  aj_core *core = function->core;
  aj_module *module;
  aj_pass_ctx ctx = {.mem = &core->mem,
                     .verify_each = aj_core_option(core, AJ_OPTION_VERIFY_PASSES),
                     .off = (uint64_t)aj_core_option(core, AJ_OPTION_PASSES_OFF),
                     .stop_after = -1,
                     .error = error};
  arrjit_status status = aj_opt_run(function->module, &ctx, &module);
  if (status != ARRJIT_OK) return status;
  aj_air_print(module, out);
  aj_module_destroy(module);
  return ARRJIT_OK;
}

static arrjit_status print_native(arrjit_function *function, int what, aj_text *out, arrjit_error *error) {
  arrjit_context *context = atomic_load(&function->context);
  if (!context) return aj_error_set(error, ARRJIT_UNAVAILABLE, "the function's context is destroyed: no native code");
  return aj_compiler_print(context, function->module, what, out, error);
}

static arrjit_status print_stage(arrjit_function *function, arrjit_print_stage stage, aj_text *out,
                                 arrjit_error *error) {
  switch (stage) {
  case ARRJIT_PRINT_INPUT: aj_air_print(function->module, out); return ARRJIT_OK;
  case ARRJIT_PRINT_DOT: aj_dot_print(function->module, out); return ARRJIT_OK;
  case ARRJIT_PRINT_OPT: return print_optimised(function, out, error);
  case ARRJIT_PRINT_LLVM: return print_native(function, 1, out, error);
  case ARRJIT_PRINT_ASM: return print_native(function, 2, out, error);
  }
  return aj_error_set(error, ARRJIT_MISUSE, "stage is %d, which is none", (int)stage);
}

arrjit_status arrjit_function_print(arrjit_function *function, arrjit_print_stage stage, char **out, size_t *out_bytes,
                                    arrjit_error *error) {
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  if (!out_bytes) return aj_error_set(error, ARRJIT_MISUSE, "out_bytes is NULL");
  aj_mem *mem = &function->core->mem;
  aj_text text;
  aj_text_init(&text, mem);
  aj_text_puts(&text, "");
  arrjit_status status = print_stage(function, stage, &text, error);
  if (status == ARRJIT_OK && text.failed) status = aj_error_memory(error, "the text of a function");
  /* Cut to size, which is what arrjit_text_free will be told. */
  char *exact = status == ARRJIT_OK ? aj_mem_resize(mem, text.data, text.capacity, text.count + 1) : NULL;
  if (status == ARRJIT_OK && !exact) status = aj_error_memory(error, "the text of a function");
  if (status != ARRJIT_OK) {
    aj_text_free(&text);
    return status;
  }
  *out = exact;
  *out_bytes = text.count;
  return aj_error_clear(error);
}

void arrjit_text_free(arrjit_context *context, char *text, size_t bytes) {
  if (context && text) aj_mem_free(&context->core->mem, text, bytes + 1);
}
