/* The module's table of functions: opening, compiling, dropping code. */
#include "native/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/lower.h"
#include "opt/opt.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

typedef struct native_code { /* aj_code.impl */
  aj_native *native;
  LLVMOrcResourceTrackerRef tracker;
  aj_arena keep; /* sites, plans */
  aj_mem *mem;
} native_code;

/* ---- open and close ---- */

typedef struct opening {
  const aj_native_host *host;
  aj_native *native;
  const char *message;
} opening;

static void open_body(void *user) {
  opening *o = user;
  aj_native *native = calloc(1, sizeof *native);
  if (native == NULL) return;
  atomic_init(&native->refs, 1);
  native->host = o->host;
  if (aj_target_open(&native->target, 0, &o->message) &&
      aj_orc_open(&native->orc, &native->target, o->host, &o->message)) {
    o->native = native;
    return;
  }
  aj_target_close(&native->target);
  free(native);
}

static void *native_open(const aj_native_host *host, arrjit_error *error) {
  opening o = {.host = host, .message = "LLVM could not be set up"};
  if (aj_fatal_guard(host, open_body, &o) && o.native != NULL) return o.native;
  aj_error_set(error, ARRJIT_UNAVAILABLE, "%s", aj_fatal_happened() ? "LLVM failed in this process" : o.message);
  return NULL;
}

static void close_body(void *user) {
  aj_native *native = user;
  aj_orc_close(&native->orc);
  aj_target_close(&native->target);
  free(native);
}

static void release(aj_native *native) {
  if (atomic_fetch_sub(&native->refs, 1) == 1) aj_fatal_guard(NULL, close_body, native);
}

static void native_close(void *native) { release(native); }

/* ---- compile ---- */

typedef struct compiling {
  aj_native *native;
  const aj_native_request *request;
  aj_code *out;
  aj_text *out_text;
  arrjit_error *error;
  arrjit_status status;
  aj_budget budget;
  aj_arena arena;
  native_code *code;
  aj_module *module;
  LLVMContextRef context;
  LLVMModuleRef llvm;
  char symbol[64];
  long long block_frame_bytes;
} compiling;

static arrjit_status fail_memory(compiling *c) { return aj_error_memory(c->error, "native code"); }

/* Makes the target that of the request; the compiler's code of before stays as it is. */
static arrjit_status choose_target(compiling *c) {
  aj_target target;
  const char *message;
  if (c->native->target.isa == c->request->isa) return ARRJIT_OK;
  bool opened = aj_target_open(&target, c->request->isa, &message);
  aj_target_close(opened ? &c->native->target : &target);
  if (!opened) return aj_error_set(c->error, ARRJIT_UNAVAILABLE, "%s", message);
  c->native->target = target;
  return ARRJIT_OK;
}

static arrjit_status check_after_pass(void *user) { return aj_budget_check(&((compiling *)user)->budget, 0); }

static arrjit_status optimise(compiling *c) {
  aj_pass_ctx ctx = {.mem = &c->request->core->mem,
                     .verify_each = c->request->verify_passes,
                     .off = c->request->passes_off,
                     .stop_after = -1,
                     .check = check_after_pass,
                     .check_user = c,
                     .error = c->error};
  arrjit_status status = aj_opt_run(c->request->module, &ctx, &c->module);
  if (status != ARRJIT_OK) return status;
  return aj_module_number(c->module) ? ARRJIT_OK : fail_memory(c);
}

/* Whether any function calls the entry. */
static bool entry_is_called(const aj_module *module) {
  for (size_t i = 0; i < module->funcs.count; i++) {
    aj_walk walk;
    aj_walk_start(&walk, module->funcs.data[i]);
    for (const aj_node *node; (node = aj_walk_next(&walk)) != NULL;)
      if (node->op == AJ_OP_CALL && aj_node_int(node, AJ_ATTR_CALLEE) == 0) return true;
  }
  return false;
}

/* Nothing is printed. Each function reports the size of its frame, as a warning that it is above the limit of 0 it was
 * given: the engine asks for the sizes before it runs the code. The block of a kernel is a leaf: one at a time. */
static void take_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  compiling *c = user;
  long long bytes = 0;
  char *text = LLVMGetDiagInfoDescription(info);
  const char *size = strstr(text, "stack frame size (");
  if (size && sscanf(size, "stack frame size (%lld)", &bytes) == 1) {
    if (strstr(size, "_block")) {
      c->block_frame_bytes = bytes > c->block_frame_bytes ? bytes : c->block_frame_bytes;
      bytes = 0;
    }
    bool entry = strstr(size, c->symbol) != NULL;
    if (entry) c->out->entry_frame_bytes = bytes;
    if ((!entry || entry_is_called(c->module)) && bytes > c->out->frame_bytes) c->out->frame_bytes = bytes;
  }
  LLVMDisposeMessage(text);
}

/* Fills c->llvm, and says how it becomes code. */
static arrjit_status lower(compiling *c, aj_budget_plan *out_plan) {
  char prefix[40];
  (void)snprintf(prefix, sizeof prefix, "aj%p_%llu", (void *)c->native, (unsigned long long)c->native->next_symbol++);
  (void)snprintf(c->symbol, sizeof c->symbol, "%s_entry0", prefix);
  c->context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(c->context, take_diagnostic, c);
  c->llvm = LLVMModuleCreateWithNameInContext(c->request->name ? c->request->name : "main", c->context);
  LLVMSetTarget(c->llvm, c->native->target.triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->native->target.machine);
  LLVMSetModuleDataLayout(c->llvm, layout);
  LLVMDisposeTargetData(layout);
  aj_lower lo = {.budget = &c->budget,
                 .arena = &c->arena,
                 .keep = &c->code->keep,
                 .request = c->request,
                 .target = &c->native->target,
                 .module = c->module,
                 .context = c->context,
                 .llvm = c->llvm,
                 .prefix = prefix};
  lo.b = LLVMCreateBuilderInContext(c->context);
  lo.entry = LLVMCreateBuilderInContext(c->context);
  bool ok = aj_lower_module(&lo);
  LLVMDisposeBuilder(lo.entry);
  LLVMDisposeBuilder(lo.b);
  c->out->lowered_nodes = lo.lowered;
  c->out->fallback_nodes = lo.fallback;
  c->out->kernels = lo.kernels;
  if (!ok) return lo.over != ARRJIT_OK ? lo.over : fail_memory(c);
  *out_plan = aj_budget_plan_code(&c->budget, c->llvm, lo.most_loop_levels);
  if (!lo.wants_passes) out_plan->passes = false, out_plan->passes_us = 0;
  return ARRJIT_OK;
}

#ifdef AJ_CHECKS
/* A module that LLVM does not find well formed is a fault of the lowering. */
static arrjit_status verify(compiling *c) {
  char *message = NULL;
  LLVMBool broken = LLVMVerifyModule(c->llvm, LLVMReturnStatusAction, &message);
  arrjit_status status = broken ? aj_error_set(c->error, ARRJIT_INTERNAL, "LLVM IR: %.400s", message) : ARRJIT_OK;
  LLVMDisposeMessage(message);
  return status;
}
#else
static arrjit_status verify(compiling *c) {
  (void)c;
  return ARRJIT_OK;
}
#endif

static arrjit_status print_llvm(compiling *c) {
  char *text = LLVMPrintModuleToString(c->llvm);
  aj_text_puts(c->out_text, text);
  LLVMDisposeMessage(text);
  return c->out_text->failed ? fail_memory(c) : ARRJIT_OK;
}

static arrjit_status print_assembly(compiling *c, bool quick) {
  LLVMMemoryBufferRef buffer = aj_emit_object(&c->native->target, c->llvm, quick, LLVMAssemblyFile);
  if (!buffer) return aj_error_set(c->error, ARRJIT_INTERNAL, "LLVM could not make assembly");
  aj_text_add(c->out_text, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  return c->out_text->failed ? fail_memory(c) : ARRJIT_OK;
}

static arrjit_status link_code(compiling *c, bool quick) {
  LLVMMemoryBufferRef object = aj_emit_object(&c->native->target, c->llvm, quick, LLVMObjectFile);
  if (!object) return aj_error_set(c->error, ARRJIT_INTERNAL, "LLVM could not make code");
  c->out->code_bytes = (int64_t)LLVMGetBufferSize(object);
  if (c->out->entry_frame_bytes) c->out->entry_frame_bytes += c->block_frame_bytes;
  void *address = NULL;
  if (!aj_orc_add(&c->native->orc, object, c->symbol, &c->code->tracker, &address))
    return aj_error_set(c->error, ARRJIT_INTERNAL, "LLVM could not link the code");
  memcpy(&c->out->entry, &address, sizeof address);
  return ARRJIT_OK;
}

static arrjit_status run_steps(compiling *c) {
  aj_budget_plan plan;
  aj_budget_begin(&c->budget, c->request, c->error);
  arrjit_status status = choose_target(c);
  if (status != ARRJIT_OK) return status;
  status = aj_budget_check_nodes(&c->budget, c->request->module);
  if (status != ARRJIT_OK) return status;
  if ((status = optimise(c)) != ARRJIT_OK) return status;
  if ((status = aj_budget_check_nodes(&c->budget, c->module)) != ARRJIT_OK) return status;
  if ((status = lower(c, &plan)) != ARRJIT_OK) return status;
  if ((status = verify(c)) != ARRJIT_OK) return status;
  if (c->request->print == 1) return print_llvm(c);
  if ((status = aj_budget_check(&c->budget, plan.passes_us + plan.codegen_us)) != ARRJIT_OK) return status;
  if (plan.passes) status = aj_emit_passes(&c->native->target, c->llvm, &c->budget, plan.codegen_us);
  if (status != ARRJIT_OK) return status;
  return c->request->print ? print_assembly(c, plan.quick) : link_code(c, plan.quick);
}

static void compile_body(void *user) {
  compiling *c = user;
  c->status = run_steps(c);
  if (c->llvm != NULL) LLVMDisposeModule(c->llvm);
  if (c->context != NULL) LLVMContextDispose(c->context);
}

static void drop_code(native_code *code) {
  aj_mem *mem = code->mem;
  aj_arena_free(&code->keep);
  aj_mem_free(mem, code, sizeof *code);
}

static arrjit_status native_compile(void *native, const aj_native_request *request, aj_code *out, aj_text *out_text,
                                    arrjit_error *error) {
  aj_mem *mem = &request->core->mem;
  compiling c = {.native = native, .request = request, .out = out, .out_text = out_text, .error = error};
  int64_t start = aj_clock_ns();
  memset(out, 0, sizeof *out);
  c.code = aj_mem_alloc(mem, sizeof *c.code);
  if (!c.code) return fail_memory(&c);
  c.code->mem = mem;
  c.code->native = native;
  aj_arena_init(&c.arena, mem);
  aj_arena_init(&c.code->keep, mem);
  if (!aj_fatal_guard(c.native->host, compile_body, &c))
    c.status = aj_error_set(error, ARRJIT_UNAVAILABLE, "LLVM failed in this process");
  aj_arena_free(&c.arena);
  if (c.status == ARRJIT_OK && !request->print) {
    atomic_fetch_add(&c.native->refs, 1);
    out->impl = c.code;
    out->module = c.module;
    out->compile_ns = aj_clock_ns() - start;
    return ARRJIT_OK;
  }
  drop_code(c.code);
  if (c.module) aj_module_destroy(c.module);
  memset(out, 0, sizeof *out);
  return c.status;
}

static void remove_body(void *user) {
  native_code *code = user;
  aj_orc_remove(&code->native->orc, code->tracker);
}

static void native_destroy(void *unused, aj_code *code) {
  (void)unused;
  native_code *impl = code->impl;
  if (!impl) return;
  aj_native *native = impl->native;
  aj_fatal_guard(NULL, remove_body, impl);
  drop_code(impl);
  if (code->module) aj_module_destroy(code->module);
  memset(code, 0, sizeof *code);
  release(native);
}

/* The one name a module exports; where it is linked in, the library keeps it to itself. */
#ifdef AJ_NATIVE_STATIC
#define AJ_ENTRY
#else
#define AJ_ENTRY __attribute__((visibility("default")))
#endif

static const aj_native_api api = {
    .abi = AJ_NATIVE_ABI,
    .struct_bytes = sizeof(aj_native_api),
    .version = TEXT(ARRJIT_VERSION_MAJOR) "." TEXT(ARRJIT_VERSION_MINOR) "." TEXT(ARRJIT_VERSION_PATCH),
    .open = native_open,
    .close = native_close,
    .compile = native_compile,
    .destroy = native_destroy};

AJ_ENTRY const aj_native_api *arrjit_native_entry(const aj_native_host *host) {
  if (host->abi != AJ_NATIVE_ABI || host->struct_bytes != sizeof *host || strcmp(host->version, api.version) != 0)
    return NULL;
  return &api;
}
