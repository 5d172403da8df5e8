/* Keeping the options of a run. */
#include "api/options.h"

#include <string.h>

#include "base/error.h"

const arrjit_run_options *aj_options_check(const arrjit_run_options *options, arrjit_error *error) {
  static const arrjit_run_options defaults = {.struct_bytes = sizeof defaults};
  if (!options) options = &defaults;
  if (aj_engine_check_options(options, error) != ARRJIT_OK) return NULL;
  for (size_t i = 0; i < options->binding_count; i++) {
    if (options->bindings[i].slot) continue;
    aj_error_set(error, ARRJIT_MISUSE, "binding %zu: slot is NULL", i);
    return NULL;
  }
  return options;
}

bool aj_options_size(const arrjit_run_options *options, size_t *out_bytes) {
  size_t bytes;
  if (!aj_size_mul(options->binding_count, sizeof(arrjit_binding), &bytes)) return false;
  for (size_t i = 0; i < options->binding_count; i++)
    if (!aj_size_add(bytes, strlen(options->bindings[i].slot) + 1, &bytes)) return false;
  *out_bytes = bytes;
  return true;
}

void aj_options_keep(arrjit_run_options *out, const arrjit_run_options *options, void *block) {
  arrjit_binding *bindings = block;
  char *names = (char *)(bindings + options->binding_count);
  *out = *options;
  out->bindings = bindings;
  for (size_t i = 0; i < options->binding_count; i++) {
    size_t bytes = strlen(options->bindings[i].slot) + 1;
    bindings[i] = options->bindings[i];
    bindings[i].slot = memcpy(names, options->bindings[i].slot, bytes);
    names += bytes;
  }
  if (out->cancel) aj_cancel_retain(out->cancel);
}

void aj_options_drop(arrjit_run_options *options) {
  aj_cancel_release(options->cancel);
  options->cancel = NULL;
}
