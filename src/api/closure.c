/* Functions as plain C function pointers. libffi hands over where the arguments lie; the run reads and writes there.
 * The closure is counted: each call under way holds it, so that it may be released from inside, or while another thread
 * is in it. */
#include "api/closure.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- life ---- */

/* Also of one that is half made. */
static void destroy(arrjit_closure *closure) {
  aj_core *core = closure->core;
  if (closure->code) ffi_closure_free(closure->code);
  aj_result_destroy(atomic_load(&closure->first_failure));
  aj_options_drop(&closure->options);
  aj_text_free(&closure->text);
  aj_function_release(closure->function);
  aj_mem_free(&core->mem, closure, closure->bytes);
  aj_core_release(core);
}

void arrjit_closure_retain(arrjit_closure *closure) {
  if (closure) atomic_fetch_add_explicit(&closure->refs, 1, memory_order_relaxed);
}

void arrjit_closure_release(arrjit_closure *closure) {
  if (closure && atomic_fetch_sub_explicit(&closure->refs, 1, memory_order_acq_rel) == 1) destroy(closure);
}

/* ---- failures ---- */

/* What could not even start, as a result like any other. NULL: no memory. */
static arrjit_result *make_result(aj_core *core, arrjit_kind kind, arrjit_status status, const char *message) {
  char escaped[sizeof((arrjit_error *)NULL)->message];
  arrjit_result *result = aj_result_create(core, 0);
  if (!result) return NULL;
  aj_exn_escape(escaped, sizeof escaped, message);
  if (status != ARRJIT_MEMORY) result->exn = aj_exn_create(core, kind, (int64_t)status, escaped, 0, NULL);
  if (!result->exn) result->exn = aj_exn_no_memory(core);
  return result;
}

/* The first one waits to be taken; later ones are only counted. */
static void keep_failure(arrjit_closure *closure, arrjit_result *failure) {
  arrjit_result *none = NULL;
  atomic_fetch_add_explicit(&closure->failures, 1, memory_order_relaxed);
  if (!failure || !atomic_compare_exchange_strong(&closure->first_failure, &none, failure)) aj_result_destroy(failure);
}

arrjit_result *arrjit_closure_take_error(arrjit_closure *closure) {
  return closure ? atomic_exchange(&closure->first_failure, NULL) : NULL;
}

int64_t arrjit_closure_failures(const arrjit_closure *closure) { return closure ? atomic_load(&closure->failures) : 0; }

/* ---- being called ---- */

/* A scalar on its way between C and the function. */
typedef union c_scalar {
  uint8_t u8;
  uint64_t u64;
  float f32;
  double f64;
} c_scalar;

typedef struct c_call {
  const void *inputs[AJ_CLOSURE_MOST];
  void *outputs[AJ_CLOSURE_MOST];
  uint8_t bools[AJ_CLOSURE_MOST]; /* bool arguments, whose register may hold more than the byte says */
  c_scalar result;
} c_call;

static bool is_empty(const aj_type *type) {
  for (int32_t i = 0; i < type->rank; i++)
    if (type->dims[i] == 0) return true;
  return false;
}

/* Where everything lies. NULL, or which pointer is NULL and must not be. */
static const char *find_blocks(const aj_c_signature *s, void **args, c_call *call, uint32_t *out_index) {
  const aj_func *func = s->func;
  for (uint32_t i = 0; i < func->param_count; i++) {
    const aj_type *type = func->param_types[i];
    if (!aj_c_by_value(s, i)) {
      call->inputs[i] = *(void **)args[i];
      if (AJ_UNLIKELY(!call->inputs[i] && !is_empty(type))) return *out_index = i, "parameter";
    } else if (type->dtype == ARRJIT_BOOL) {
      call->bools[i] = *(const uint8_t *)args[i] != 0;
      call->inputs[i] = &call->bools[i];
    } else {
      call->inputs[i] = args[i];
    }
  }
  for (uint32_t i = 0; i < func->result_count && !s->returns_value; i++) {
    call->outputs[i] = *(void **)args[func->param_count + i];
    if (AJ_UNLIKELY(!call->outputs[i] && !is_empty(func->result_types[i]))) return *out_index = i, "result";
  }
  if (s->returns_value) call->outputs[0] = &call->result;
  return NULL;
}

static arrjit_result *run(arrjit_closure *closure, void **args, c_call *call, bool *out_ok) {
  arrjit_error error; /* written only when there is one: clearing it would cost more than the call */
  arrjit_result *failure = NULL;
  uint32_t index = 0;
  const char *missing = find_blocks(&closure->signature, args, call, &index);
  *out_ok = false;
  if (AJ_UNLIKELY(missing != NULL)) {
    char message[80];
    aj_bounded_printf(message, sizeof message, "%s %u: the pointer is NULL", missing, index);
    return make_result(closure->core, ARRJIT_KIND_ARGUMENT, ARRJIT_OK, message);
  }
  arrjit_status status =
      aj_engine_run_blocks(closure->function, &closure->options, call->inputs, call->outputs, &failure, &error);
  if (AJ_UNLIKELY(status != ARRJIT_OK)) return make_result(closure->core, ARRJIT_KIND_RUNTIME, status, error.message);
  *out_ok = !failure;
  return failure;
}

/* An integer as wide as a register, which is how libffi wants one returned. */
static void return_integer(const aj_dtype_info *info, c_scalar value, void *to) {
  unsigned unused = 64 - 8 * (unsigned)info->bytes;
  bool is_signed = info->cls == AJ_CLASS_INT;
  ffi_sarg wide = (ffi_sarg)((int64_t)(value.u64 << unused) >> unused);
  ffi_arg wide_unsigned = (ffi_arg)(value.u64 << unused >> unused);
  if (info->bytes == 8) /* perhaps wider than a register */
    memcpy(to, &value, sizeof(uint64_t));
  else if (is_signed)
    memcpy(to, &wide, sizeof wide);
  else
    memcpy(to, &wide_unsigned, sizeof wide_unsigned);
}

static void return_result(const aj_c_signature *s, c_scalar value, bool ok, void *to) {
  ffi_sarg status = !ok;
  if (!s->returns_value) {
    memcpy(to, &status, sizeof status);
    return;
  }
  const aj_dtype_info *info = &aj_dtypes[s->func->result_types[0]->dtype];
  if (!ok) value = (c_scalar){0};
  if (info->cls != AJ_CLASS_FLOAT) {
    return_integer(info, value, to);
  } else if (info->bytes == sizeof(float)) {
    if (!ok) value.f32 = NAN;
    memcpy(to, &value, sizeof(float));
  } else {
    if (!ok) value.f64 = (double)NAN;
    memcpy(to, &value, sizeof(double));
  }
}

/* Runs also when a foreign exception leaves a callback and unwinds through the call. */
static void end_call(arrjit_closure **place) { arrjit_closure_release(*place); }

static void answer(ffi_cif *cif, void *to, void **args, void *user) {
  (void)cif;
  __attribute__((cleanup(end_call))) arrjit_closure *closure = user;
  c_call call;
  bool ok;
  arrjit_closure_retain(closure);
  call.result.u64 = 0;
  arrjit_result *failure = run(closure, args, &call, &ok);
  if (AJ_UNLIKELY(!ok)) keep_failure(closure, failure);
  return_result(&closure->signature, call.result, ok, to);
}

/* ---- making one ---- */

static arrjit_status check_options(const arrjit_closure_options *o, const arrjit_run_options **out_run,
                                   arrjit_error *error) {
  if (o->struct_bytes != sizeof *o)
    return aj_error_set(error, ARRJIT_MISUSE, "options: struct_bytes is %zu, expected %zu", o->struct_bytes, sizeof *o);
  if (o->flags & ~(ARRJIT_CLOSURE_BY_POINTER | ARRJIT_CLOSURE_USER))
    return aj_error_set(error, ARRJIT_MISUSE, "options: unknown bits in flags 0x%x", o->flags);
  *out_run = aj_options_check(o->run, error);
  if (!*out_run) return ARRJIT_MISUSE;
  if (o->run && (o->run->outputs || o->run->donated))
    return aj_error_set(error, ARRJIT_MISUSE, "options: outputs and donated are for one run; a closure has neither");
  return ARRJIT_OK;
}

/* Bindings are bound at every call; what is wrong with them is told now. */
static arrjit_status check_bindings(const arrjit_function *function, const arrjit_run_options *options,
                                    arrjit_error *error) {
  aj_run run = {.core = function->core, .module = function->module};
  arrjit_status status = aj_run_bind(&run, options->binding_count, options->bindings, error);
  aj_run_unbind(&run);
  return status;
}

static arrjit_closure *make_closure(arrjit_function *function, const arrjit_run_options *options) {
  size_t bytes;
  aj_core *core = function->core;
  if (!aj_options_size(options, &bytes) || !aj_size_add(bytes, sizeof(arrjit_closure), &bytes)) return NULL;
  arrjit_closure *closure = aj_mem_alloc(&core->mem, bytes);
  if (!closure) return NULL;
  atomic_init(&closure->refs, 1);
  closure->bytes = bytes;
  closure->core = core;
  aj_core_retain(core);
  closure->function = function;
  aj_function_retain(function);
  aj_options_keep(&closure->options, options, closure + 1);
  aj_text_init(&closure->text, &core->mem);
  return closure;
}

/* libffi takes its memory from the system: it has to be executable. */
static arrjit_status make_code(arrjit_closure *closure, arrjit_error *error) {
  closure->code = ffi_closure_alloc(sizeof *closure->code, &closure->pointer);
  if (closure->code &&
      ffi_prep_closure_loc(closure->code, &closure->signature.cif, answer, closure, closure->pointer) == FFI_OK)
    return ARRJIT_OK;
  return aj_error_set(error, ARRJIT_UNAVAILABLE, "libffi cannot make functions here: no executable memory");
}

arrjit_status arrjit_closure_create(arrjit_function *function, const arrjit_closure_options *options,
                                    arrjit_closure **out, arrjit_error *error) {
  static const arrjit_closure_options defaults = {.struct_bytes = sizeof defaults};
  const arrjit_run_options *run_options = NULL;
  if (!function) return aj_error_set(error, ARRJIT_MISUSE, "function is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  if (!options) options = &defaults;
  arrjit_status status = check_options(options, &run_options, error);
  if (status == ARRJIT_OK) status = check_bindings(function, run_options, error);
  if (status != ARRJIT_OK) return status;
  arrjit_closure *closure = make_closure(function, run_options);
  if (!closure) return aj_error_memory(error, "a closure");
  status = aj_c_signature_make(&closure->signature, function->module->funcs.data[0], options->flags, error);
  if (status == ARRJIT_OK) {
    aj_c_signature_print(&closure->signature, &closure->text);
    status = closure->text.failed ? aj_error_memory(error, "a closure") : make_code(closure, error);
  }
  if (status != ARRJIT_OK) {
    destroy(closure);
    return status;
  }
  *out = closure;
  return aj_error_clear(error);
}

arrjit_c_function *arrjit_closure_pointer(const arrjit_closure *closure) {
  arrjit_c_function *pointer = NULL;
  if (closure) memcpy(&pointer, &closure->pointer, sizeof pointer); /* ISO C casts no object pointer to a function's */
  return pointer;
}

const char *arrjit_closure_signature(const arrjit_closure *closure) { return closure ? closure->text.data : ""; }
