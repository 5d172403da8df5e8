/* What a callback tells of its failure, checked against the signature of its kind and copied. The host's pointer is
 * taken first: from then on exactly one reference count decides when it is destroyed. */
#include <inttypes.h>
#include <string.h>

#include "rt/callback.h"

enum { NAME_BYTES = 128, WHY_BYTES = 512 };

/* Onto the end of a NUL-terminated text of bounded size. */
static void append(char *out, size_t size, const char *format, ...) AJ_PRINTF(3, 4);
static void append(char *out, size_t size, const char *format, ...) {
  size_t used = strlen(out);
  va_list args;
  va_start(args, format);
  aj_bounded_vprintf(out + used, size - used, format, args);
  va_end(args);
}

/* The host may give any number. */
static const char *dtype_name(arrjit_dtype dtype) {
  return dtype > ARRJIT_DTYPE_NONE && (size_t)dtype < AJ_DTYPE_COUNT ? aj_dtypes[dtype].name : "?";
}

/* ---- what the record must be: each check writes why it does not hold ---- */

static bool check_view(uint32_t i, const arrjit_view *view, char *why) {
  int64_t bytes;
  if (view->rank > 0 && !view->dims) {
    append(why, WHY_BYTES, "payload %" PRIu32 " has rank %" PRId32 " and no dims", i, view->rank);
  } else if (!aj_array_shape_bytes(view->dtype, view->rank, view->dims, &bytes)) {
    append(why, WHY_BYTES, "payload %" PRIu32 " has a dtype, a rank or an extent that is out of range", i);
  } else if (view->bytes != (uint64_t)bytes) {
    append(why, WHY_BYTES, "payload %" PRIu32 " has %zu bytes, expected %" PRId64, i, view->bytes, bytes);
  } else if (bytes && !view->data) {
    append(why, WHY_BYTES, "payload %" PRIu32 " has no data", i);
  } else {
    return true;
  }
  return false;
}

/* The fixed fields by dtype and rank; more only where the kind is open. */
static bool matches_kind(const aj_kind_info *info, const arrjit_failure *failure) {
  if (failure->payload_count < info->field_count) return false;
  if (failure->payload_count > info->field_count && !info->open) return false;
  for (uint32_t i = 0; i < info->field_count; i++)
    if (failure->payload[i].dtype != info->fields[i].dtype || failure->payload[i].rank != info->fields[i].rank)
      return false;
  return true;
}

static void explain_payload(const aj_kind_info *info, const arrjit_failure *failure, char *why) {
  append(why, WHY_BYTES, "the payload of kind \"%s\" is (", info->name);
  for (uint32_t i = 0; i < info->field_count; i++)
    append(why, WHY_BYTES, "%s%s[%" PRId32 "]", i ? ", " : "", dtype_name(info->fields[i].dtype), info->fields[i].rank);
  append(why, WHY_BYTES, "%s), but the callback gave (", !info->open ? "" : info->field_count ? ", ..." : "...");
  for (size_t i = 0; i < failure->payload_count; i++)
    append(why, WHY_BYTES, "%s%s[%" PRId32 "]", i ? ", " : "", dtype_name(failure->payload[i].dtype),
           failure->payload[i].rank);
  append(why, WHY_BYTES, ")");
}

/* In this order, since each check relies on those before. */
static bool check_failure(const aj_kinds *kinds, arrjit_kind kind, const arrjit_failure *failure, char *why) {
  const aj_kind_info *info = aj_kinds_get(kinds, kind);
  if (!info) {
    append(why, WHY_BYTES, "%" PRId32 " is no kind", kind);
    return false;
  }
  if (failure->payload_count > UINT32_MAX || (failure->payload_count && !failure->payload)) {
    append(why, WHY_BYTES, "payload is NULL or has too many fields: %zu", failure->payload_count);
    return false;
  }
  if (failure->frame_count > UINT32_MAX || (failure->frame_count && !failure->frames)) {
    append(why, WHY_BYTES, "frames is NULL or has too many entries: %zu", failure->frame_count);
    return false;
  }
  for (uint32_t i = 0; i < failure->payload_count; i++)
    if (!check_view(i, &failure->payload[i], why)) return false;
  if (matches_kind(info, failure)) return true;
  explain_payload(info, failure, why);
  return false;
}

/* ---- copying it ---- */

/* A view of the host is dense by its contract. */
static bool copy_payload(aj_exn *exn, uint32_t i, const arrjit_view *from) {
  aj_view view;
  view.dtype = from->dtype;
  view.rank = from->rank;
  view.data = from->data;
  if (from->rank) memcpy(view.dims, from->dims, (size_t)from->rank * sizeof *from->dims);
  aj_view_set_dense(&view);
  return aj_exn_set_payload(exn, i, &view);
}

/* frame_count is set first, so that releasing a half-copied exn frees what is there. */
static bool copy_frames(aj_exn *exn, const arrjit_failure *failure) {
  aj_mem *mem = &exn->core->mem;
  if (failure->frame_count == 0 || !failure->frames) return true;
  exn->frames = aj_mem_array(mem, failure->frame_count, sizeof *exn->frames);
  if (!exn->frames) return false;
  exn->frame_count = (uint32_t)failure->frame_count;
  for (uint32_t i = 0; i < exn->frame_count; i++) {
    const char *frame = failure->frames[i] ? failure->frames[i] : "";
    size_t bytes = strlen(frame) + 1;
    exn->frames[i] = aj_mem_raw(mem, bytes);
    if (!exn->frames[i]) return false;
    memcpy(exn->frames[i], frame, bytes);
  }
  return true;
}

/* The slot's name is text from outside and may hold braces. */
static aj_exn *create_contract(aj_core *core, const aj_slot *slot, int64_t code, const char *why) {
  char name[NAME_BYTES], message[WHY_BYTES + NAME_BYTES + 64];
  aj_exn_escape(name, sizeof name, slot->name);
  aj_bounded_printf(message, sizeof message, "callback \"%s\" broke its contract: %s", name, why);
  return aj_exn_create(core, ARRJIT_KIND_CALLBACK_CONTRACT, code, message, 0, NULL);
}

/* NULL: no memory. */
static aj_exn *create_exn(const arrjit_call_info *call, const arrjit_failure *failure) {
  aj_core *core = call->run->core;
  arrjit_kind kind = failure->kind == ARRJIT_KIND_NONE ? ARRJIT_KIND_CALLBACK : failure->kind;
  char why[WHY_BYTES] = "";
  if (!check_failure(core->kinds, kind, failure, why)) return create_contract(core, call->slot, failure->code, why);
  aj_exn *exn = aj_exn_create_room(core, kind, failure->code, failure->message, (uint32_t)failure->payload_count);
  if (!exn) return NULL;
  bool ok = copy_frames(exn, failure);
  for (uint32_t i = 0; i < failure->payload_count && ok; i++) ok = copy_payload(exn, i, &failure->payload[i]);
  if (ok) return exn;
  aj_exn_release(exn);
  return NULL;
}

static aj_host_ref *create_host(aj_core *core, const arrjit_failure *failure) {
  aj_host_ref *host = aj_mem_alloc(&core->mem, sizeof *host);
  if (host) *host = (aj_host_ref){core, failure->host_pointer, failure->host_destroy};
  return host;
}

static void record(arrjit_call_info *call, aj_exn *exn) {
  aj_exn_release(call->failure); /* told of several: the last one is why the callback returns */
  call->failure = exn ? exn : aj_exn_no_memory(call->run->core);
  call->own = false;
  call->needed = 0;
}

/* Whatever happens in between, at the end the pointer is either owned by the exn or destroyed here. */
void aj_call_fail(arrjit_call_info *call, const arrjit_failure *failure) {
  bool has_host = failure->host_pointer || failure->host_destroy;
  aj_host_ref *host = has_host ? create_host(call->run->core, failure) : NULL;
  aj_exn *exn = !has_host || host ? create_exn(call, failure) : NULL;
  if (exn) {
    exn->host = host;
  } else if (has_host) {
    if (failure->host_destroy) failure->host_destroy(failure->host_pointer);
    aj_mem_free(&call->run->core->mem, host, sizeof *host);
  }
  AJ_ASSERT(!has_host || !exn || exn->host == host);
  record(call, exn);
}

void aj_call_take_raised(arrjit_call_info *call) {
  aj_exn *exn = call->run->exn;
  call->run->exn = NULL;
  record(call, exn);
  call->own = true;
}

void aj_call_fail_contract(arrjit_call_info *call, const char *why) {
  record(call, create_contract(call->run->core, call->slot, 0, why));
}
