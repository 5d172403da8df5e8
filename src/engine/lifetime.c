/* The life of functions: reference counted, shared by hosts, runs, the compile queue and exceptions whose traces name
 * nodes. */
#include "engine/activation.h"
#include "engine/compiler.h"

static bool find_calls(const aj_module *module) {
  for (size_t i = 0; module->funcs.count > 1 && i < module->funcs.count; i++) {
    aj_walk walk;
    if (!module->funcs.data[i]->root) continue;
    aj_walk_start(&walk, module->funcs.data[i]);
    for (const aj_node *node; (node = aj_walk_next(&walk));)
      if (node->op == AJ_OP_CALL) return true;
  }
  return false;
}

arrjit_function *aj_function_create(arrjit_context *context, aj_module *module) {
  static _Atomic uint32_t process_last_id; /* numbers are never used again, so that events name one function for ever */
  aj_core *core = context->core;
  arrjit_function *function = aj_mem_alloc(&core->mem, sizeof *function);
  if (!function || !aj_mutex_init(&function->lock)) {
    aj_mem_free(&core->mem, function, sizeof *function);
    aj_module_destroy(module);
    return NULL;
  }
  atomic_init(&function->refs, 1);
  function->id = atomic_fetch_add(&process_last_id, 1) + 1;
  function->core = core;
  aj_core_retain(core);
  atomic_init(&function->context, context);
  function->compiler = context->compiler;
  aj_compiler_retain(function->compiler);
  function->module = module;
  function->has_calls = find_calls(module);
  aj_compiler_attach(function->compiler, function);
  return function;
}

void aj_function_retain(arrjit_function *function) {
  atomic_fetch_add_explicit(&function->refs, 1, memory_order_relaxed);
}

void aj_function_release(arrjit_function *function) {
  if (!function || atomic_fetch_sub_explicit(&function->refs, 1, memory_order_acq_rel) != 1) return;
  aj_core *core = function->core;
  aj_compiler *compiler = function->compiler;
  aj_compiler_detach(compiler, function);
  aj_activation_free_idle(function);
  aj_interp_code_destroy(atomic_load(&function->interp));
  aj_module_destroy(function->module);
  aj_mutex_destroy(&function->lock);
  aj_mem_free(&core->mem, function, sizeof *function);
  aj_compiler_release(compiler);
  aj_core_release(core);
}

aj_interp_code *aj_function_interp(arrjit_function *function) {
  aj_interp_code *have = atomic_load_explicit(&function->interp, memory_order_acquire);
  if (have) return have;
  aj_interp_code *made = aj_interp_code_create(function->core, function->module);
  if (!made) return NULL;
  if (atomic_compare_exchange_strong(&function->interp, &have, made)) return made;
  aj_interp_code_destroy(made); /* another thread was first */
  return have;
}
