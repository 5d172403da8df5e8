/* Finished functions: what they are, how they are compiled. */
#include "base/error.h"
#include "engine/compiler.h"
#include "ir/build.h"

void arrjit_function_retain(arrjit_function *function) {
  if (function) aj_function_retain(function);
}

void arrjit_function_release(arrjit_function *function) { aj_function_release(function); }

static const aj_func *entry_of(const arrjit_function *function) { return function->module->funcs.data[0]; }

uint32_t arrjit_function_id(const arrjit_function *function) { return function ? function->id : 0; }

size_t arrjit_function_param_count(const arrjit_function *function) {
  return function ? entry_of(function)->param_count : 0;
}

size_t arrjit_function_result_count(const arrjit_function *function) {
  return function ? entry_of(function)->result_count : 0;
}

static void describe(const char *name, const aj_type *type, const char **out_name, arrjit_type *out_type) {
  if (out_name) *out_name = name ? name : "";
  if (!out_type) return;
  *out_type = (arrjit_type){.dtype = type->dtype, .rank = type->rank};
  for (int32_t i = 0; i < type->rank; i++) out_type->dims[i] = type->dims[i];
}

arrjit_status arrjit_function_param(const arrjit_function *function, size_t index, const char **out_name,
                                    arrjit_type *out_type) {
  if (!function || index >= entry_of(function)->param_count) return ARRJIT_MISUSE;
  const aj_func *entry = entry_of(function);
  describe(entry->root->params[index]->name, entry->param_types[index], out_name, out_type);
  return ARRJIT_OK;
}

arrjit_status arrjit_function_result(const arrjit_function *function, size_t index, const char **out_name,
                                     arrjit_type *out_type) {
  if (!function || index >= entry_of(function)->result_count) return ARRJIT_MISUSE;
  const aj_func *entry = entry_of(function);
  describe(entry->result_names ? entry->result_names[index] : NULL, entry->result_types[index], out_name, out_type);
  return ARRJIT_OK;
}

void arrjit_function_extent_text(const arrjit_function *function, int64_t extent, char *out, size_t size) {
  if (!out || size == 0) return;
  *out = 0;
  if (!function || (extent < 0 && ~extent >= (int64_t)function->module->symbols.count)) return;
  aj_dim_print(function->module, extent, out, size);
}

size_t arrjit_function_slot_count(const arrjit_function *function) {
  return function ? function->module->slots.count : 0;
}

const char *arrjit_function_slot_name(const arrjit_function *function, size_t index) {
  return function && index < function->module->slots.count ? function->module->slots.data[index].name : NULL;
}

arrjit_status arrjit_function_bind(arrjit_function *function, const arrjit_binding *binding,
                                   void (*destroy)(void *user), arrjit_error *error) {
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (!binding) return aj_error_set(error, ARRJIT_MISUSE, "binding is NULL");
  if (!atomic_load(&function->context))
    return aj_error_set(error, ARRJIT_MISUSE, "the function's context was destroyed");
  return aj_function_bind(function, binding, destroy, error);
}

void arrjit_function_get_statistics(const arrjit_function *function, arrjit_function_statistics *out) {
  if (!out) return;
  *out = (arrjit_function_statistics){0};
  if (!function) return;
  out->compilations = atomic_load(&function->compilations);
  aj_run_counts runs = aj_function_runs((arrjit_function *)(uintptr_t)function); /* takes its lock */
  out->native_runs = runs.native;
  out->interpreted_runs = runs.interpreted;
  const aj_code *code = atomic_load_explicit(&function->code, memory_order_acquire);
  if (!code) return;
  out->lowered_nodes = code->lowered_nodes;
  out->fallback_nodes = code->fallback_nodes;
  out->interpreted_nodes = code->interpreted_nodes;
  out->kernels = code->kernels;
  out->compile_ns = code->compile_ns;
  out->code_bytes = code->code_bytes;
}

/* ---- compilation: one for all shapes, so the shapes are only checked ---- */

static arrjit_status check_input(const aj_module *module, const aj_type *want, const arrjit_type *got, size_t i,
                                 arrjit_error *error) {
  char text[160];
  if (got->rank > 0 && got->dims[0] == AJ_NO_DIMS)
    return aj_error_set(error, ARRJIT_TYPE, "input %zu has rank %d but no dims were given", i, got->rank);
  bool fits = got->dtype == want->dtype && got->rank == want->rank;
  for (int32_t k = 0; fits && k < want->rank; k++)
    fits = got->dims[k] < 0 || aj_dim_is_symbol(want->dims[k]) || got->dims[k] == want->dims[k];
  if (fits) return ARRJIT_OK;
  aj_type_print(module, want, text, sizeof text);
  return aj_error_set(error, ARRJIT_TYPE, "input %zu: the parameter is %s", i, text);
}

arrjit_status arrjit_function_prepare(arrjit_function *function, const arrjit_type *inputs, arrjit_error *error) {
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (!atomic_load(&function->context))
    return aj_error_set(error, ARRJIT_MISUSE, "the function's context was destroyed");
  const aj_func *entry = entry_of(function);
  for (uint32_t i = 0; inputs && i < entry->param_count; i++) {
    arrjit_status status = check_input(function->module, entry->param_types[i], &inputs[i], i, error);
    if (status != ARRJIT_OK) return status;
  }
  return aj_compiler_queue(function, error);
}

arrjit_status arrjit_function_wait(arrjit_function *function, int64_t timeout_ns, arrjit_error *error) {
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  aj_function_retain(function);
  aj_core_wait_begin(function->core);
  arrjit_status status = aj_compiler_wait(function, aj_engine_deadline(timeout_ns), error);
  aj_core_wait_end(function->core);
  aj_function_release(function);
  return status;
}
