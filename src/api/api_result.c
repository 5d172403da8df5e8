/* arrjit/run.h: results, cancel handles, failures told by callbacks, the clock. Checks arguments, forwards. */
#include "rt/result.h"

#include "engine/engine.h"
#include "rt/callback.h"

/* ---- results ---- */

void arrjit_result_destroy(arrjit_result *result) { aj_result_destroy(result); }
int arrjit_result_ok(const arrjit_result *result) { return result ? !result->exn : 0; }
/* A failed result has no outputs, whatever its function would have given. */
size_t arrjit_result_output_count(const arrjit_result *result) {
  return result && !result->exn ? result->output_count : 0;
}

arrjit_array *arrjit_result_output(const arrjit_result *result, size_t index) {
  return index < arrjit_result_output_count(result) ? result->outputs[index] : NULL;
}

uint64_t arrjit_result_consumed(const arrjit_result *result) { return result ? result->consumed : 0; }
uint64_t arrjit_result_touched(const arrjit_result *result) { return result ? result->touched : 0; }

/* NULL for NULL and for an ok result: then everything told of a failure is nothing. */
static const aj_exn *find_exn(const arrjit_result *result) { return result ? result->exn : NULL; }

arrjit_kind arrjit_result_kind(const arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn ? exn->kind : ARRJIT_KIND_NONE;
}

const char *arrjit_result_kind_name(const arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  const aj_kind_info *info = exn ? aj_kinds_get(exn->core->kinds, exn->kind) : NULL;
  return info ? info->name : "";
}

int64_t arrjit_result_code(const arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn ? exn->code : 0;
}

const char *arrjit_result_message(arrjit_result *result) { return result ? aj_result_message(result) : ""; }
const char *arrjit_result_text(arrjit_result *result) { return result ? aj_result_text(result) : ""; }

size_t arrjit_result_payload_count(const arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn ? exn->payload_count : 0;
}

arrjit_array *arrjit_result_payload(const arrjit_result *result, size_t index) {
  return index < arrjit_result_payload_count(result) ? result->exn->payload[index] : NULL;
}

void *arrjit_result_host_pointer(const arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn && exn->host ? exn->host->pointer : NULL;
}

size_t arrjit_result_trace_count(const arrjit_result *result) { return result ? aj_result_trace_count(result) : 0; }

int64_t arrjit_result_trace_omitted(const arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn ? (int64_t)(exn->trace.total - exn->trace.count) : 0;
}

arrjit_status arrjit_result_trace(const arrjit_result *result, size_t index, arrjit_trace_entry *out) {
  if (!result || !out || index >= aj_result_trace_count(result)) return ARRJIT_MISUSE;
  /* What the host sees of the result does not change: only texts made on demand are kept in it. */
  return aj_result_trace((arrjit_result *)(uintptr_t)result, index, out) ? ARRJIT_OK : ARRJIT_MEMORY;
}

arrjit_result *arrjit_result_cause(arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn ? aj_result_linked(result, &result->cause, exn->cause) : NULL;
}

arrjit_result *arrjit_result_context(arrjit_result *result) {
  const aj_exn *exn = find_exn(result);
  return exn ? aj_result_linked(result, &result->context, exn->context) : NULL;
}

/* ---- failures told by callbacks ---- */

static void fail_size(arrjit_call_info *call, size_t came) {
  char why[120];
  aj_bounded_printf(why, sizeof why, "arrjit_fail was given a failure whose struct_bytes is %zu, expected %zu", came,
                    sizeof(arrjit_failure));
  aj_call_fail_contract(call, why);
}

/* A record that is not of this library's size is not read: what it holds is unknown, a pointer of the host included. */
arrjit_status arrjit_fail(arrjit_call_info *call, const arrjit_failure *failure) {
  if (!call) return ARRJIT_MISUSE;
  if (!failure)
    aj_call_fail_contract(call, "arrjit_fail was given no failure");
  else if (failure->struct_bytes != sizeof *failure)
    fail_size(call, failure->struct_bytes);
  else
    aj_call_fail(call, failure);
  return ARRJIT_FAILED;
}

/* ---- results of callbacks ---- */

arrjit_status arrjit_call_result(arrjit_call_info *call, size_t index, const int64_t *dims, arrjit_view *out) {
  return call && out ? aj_call_result(call, index, dims, out) : ARRJIT_MISUSE;
}

arrjit_status arrjit_call_give(arrjit_call_info *call, size_t index, const arrjit_view *value) {
  return call && value ? aj_call_give(call, index, value) : ARRJIT_MISUSE;
}

/* ---- cancel handles, the clock ---- */

arrjit_status arrjit_cancel_create(arrjit_context *context, arrjit_cancel **out, arrjit_error *error) {
  if (!context) return aj_error_set(error, ARRJIT_MISUSE, "context is NULL");
  if (!out) return aj_error_set(error, ARRJIT_MISUSE, "out is NULL");
  arrjit_cancel *cancel = aj_cancel_create(context->core);
  if (!cancel) return aj_error_memory(error, "a cancel handle");
  *out = cancel;
  return aj_error_clear(error);
}

/* Relaxed: a run looks again and again, and nothing else is handed over by it. */
void arrjit_cancel_trigger(arrjit_cancel *cancel) {
  if (cancel) atomic_store_explicit(&cancel->triggered, 1, memory_order_relaxed);
}

void arrjit_cancel_release(arrjit_cancel *cancel) { aj_cancel_release(cancel); }
int64_t arrjit_clock_ns(void) { return aj_clock_ns(); }
