/* The pass runner: clones, runs the table of passes on every function, times, verifies, dumps. */
#include "opt/opt.h"

#include <string.h>

static const struct {
  const char *name;
  aj_pass_fn *run;
} passes[AJ_PASS_COUNT] = {
#define PASS(ID, name, text) {#name, aj_pass_##name},
#include "opt/passes.def"
#undef PASS
};

const char *aj_pass_name(aj_pass_id id) { return passes[id].name; }

static arrjit_status run_pass(aj_pass_ctx *ctx, aj_pass_id id) {
  bool changed = false;
  for (size_t i = 0; i < ctx->module->funcs.count; i++) {
    bool changed_func = false;
    arrjit_status status = ctx->check ? ctx->check(ctx->check_user) : ARRJIT_OK;
    if (status == ARRJIT_OK) status = passes[id].run(ctx, ctx->module->funcs.data[i], &changed_func);
    if (status != ARRJIT_OK) return status;
    if (changed_func && !aj_func_number(ctx->module->funcs.data[i]))
      return aj_error_memory(ctx->error, passes[id].name);
    changed = changed || changed_func;
  }
  if (!changed) return ARRJIT_OK;
  if (ctx->dump) {
    aj_text_printf(ctx->dump, "// after %s\n", passes[id].name);
    aj_air_print(ctx->module, ctx->dump);
  }
  if (!ctx->verify_each) return ARRJIT_OK;
  arrjit_error found;
  if (aj_verify(ctx->module, true, &found) == ARRJIT_OK) return ARRJIT_OK;
  return aj_error_set(ctx->error, ARRJIT_INTERNAL, "after pass %s: %.400s", passes[id].name, found.message);
}

arrjit_status aj_opt_run(const aj_module *module, aj_pass_ctx *ctx, aj_module **out) {
  ctx->module = aj_module_clone(module);
  if (!ctx->module) return aj_error_memory(ctx->error, "optimiser");
  arrjit_status status = aj_module_number(ctx->module) ? ARRJIT_OK : aj_error_memory(ctx->error, "optimiser");
  for (int id = 0; id < AJ_PASS_COUNT && status == ARRJIT_OK; id++) {
    if (!(ctx->off >> id & 1)) {
      int64_t start = aj_clock_ns();
      status = run_pass(ctx, (aj_pass_id)id);
      ctx->time_ns[id] += aj_clock_ns() - start;
    }
    if (id == ctx->stop_after) break;
  }
  if (status != ARRJIT_OK) {
    aj_module_destroy(ctx->module);
    ctx->module = NULL;
    return status;
  }
  *out = ctx->module;
  return ARRJIT_OK;
}
