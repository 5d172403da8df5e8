/* The life of functions: reference counted, shared by hosts, runs, the compile queue and exceptions whose traces name
 * nodes. */
#include "engine/activation.h"
#include "engine/compiler.h"
#include "rt/bind.h"
#include "rt/need.h"

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
  aj_interp_code *interp =
      function ? aj_interp_code_create(core, module) : NULL; /* here: a run is not to wait for it */
  if (!interp || !aj_mutex_init(&function->lock)) {
    aj_interp_code_destroy(interp);
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
  function->interp = interp;
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
  aj_activation_free_all(function);
  aj_defaults_release(atomic_load(&function->defaults));
  aj_interp_code_destroy(function->interp);
  aj_need_destroy(atomic_load(&function->need));
  aj_module_destroy(function->module);
  aj_mutex_destroy(&function->lock);
  aj_mem_free(&core->mem, function, sizeof *function);
  aj_compiler_release(compiler);
  aj_core_release(core);
}

/* The bindings with slot `at` replaced. The old ones are only read here: they go when nobody holds them any more. */
static void replace_default(arrjit_function *function, aj_defaults *fresh, uint32_t at, aj_default *own) {
  aj_mutex_lock(&function->lock);
  aj_defaults *old = atomic_load(&function->defaults);
  for (uint32_t i = 0; old && i < old->count; i++) {
    if (i == at || !old->slots[i]) continue;
    fresh->slots[i] = old->slots[i];
    atomic_fetch_add_explicit(&fresh->slots[i]->refs, 1, memory_order_relaxed);
  }
  fresh->slots[at] = own;
  atomic_store(&function->defaults, fresh);
  aj_mutex_unlock(&function->lock);
  aj_defaults_release(old);
}

arrjit_status aj_function_bind(arrjit_function *function, const arrjit_binding *binding, void (*destroy)(void *user),
                               arrjit_error *error) {
  aj_core *core = function->core;
  uint32_t at;
  arrjit_status status = aj_binding_check(function->module, binding, &at, error);
  if (status != ARRJIT_OK) return status;
  bool binds = binding->callback || binding->direct;
  if (!binds && destroy)
    return aj_error_set(error, ARRJIT_MISUSE, "slot \"%s\": destroy comes with nothing to bind", binding->slot);
  aj_default *own = binds ? aj_mem_alloc(&core->mem, sizeof *own) : NULL;
  aj_defaults *fresh = own || !binds ? aj_defaults_create(core, (uint32_t)function->module->slots.count) : NULL;
  if (!fresh) {
    aj_mem_free(&core->mem, own, sizeof *own);
    return aj_error_memory(error, "a binding");
  }
  if (own) {
    atomic_init(&own->refs, 1);
    own->callback = binding->callback;
    own->user = binding->user;
    own->direct = binding->direct;
    own->destroy = destroy;
  }
  replace_default(function, fresh, at, own);
  return error ? aj_error_clear(error) : ARRJIT_OK;
}

const aj_need *aj_function_need(arrjit_function *function) {
  aj_need *have = atomic_load_explicit(&function->need, memory_order_acquire);
  if (have) return have;
  aj_need *made = aj_need_create(&function->core->mem, function->module);
  if (!made || atomic_compare_exchange_strong(&function->need, &have, made)) return made;
  aj_need_destroy(made); /* another thread was first */
  return have;
}
