/* Arguments and callbacks of random functions; see host.h. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "numbers.h"

static uint64_t hash_arguments(uint64_t h, size_t count, const arrjit_view *args) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < args[i].bytes; k++) h = (h ^ ((const unsigned char *)args[i].data)[k]) * 0x100000001b3u;
  return h;
}

static arrjit_status fail(const host_plan *plan, arrjit_call_info *call, tk_random *pick) {
  double number;
  int64_t integer = (int64_t)tk_below(pick, 100);
  tk_random_element(ARRJIT_F64, pick, &number);
  static const char *const frames[] = {"host.inner", "host.outer"};
  const arrjit_view payload[] = {{.dtype = ARRJIT_F64, .data = &number, .bytes = sizeof number},
                                 {.dtype = ARRJIT_I64, .data = &integer, .bytes = sizeof integer}};
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .kind = plan->kind,
                            .code = integer,
                            .message = tk_chance(pick, 70) ? "host failed: {1} {0}" : NULL,
                            .payload_count = plan->kind == ARRJIT_KIND_NONE || tk_chance(pick, 80) ? 2 : 0,
                            .payload = payload,
                            .frame_count = tk_below(pick, 3),
                            .frames = frames};
  return tk_chance(pick, 20) ? ARRJIT_FAILED : arrjit_fail(call, &failure);
}

/* A result that the callback makes, of few elements; now and then of more than a stack may hold. */
static arrjit_status make_result(arrjit_call_info *call, size_t index, arrjit_view *result, tk_random *pick) {
  int64_t dims[ARRJIT_MAX_RANK];
  for (int32_t d = 0; d < result->rank; d++) {
    dims[d] = result->dims[d];
    if (dims[d] == ARRJIT_DYNAMIC_DIM) dims[d] = (int64_t)tk_below(pick, tk_chance(pick, 5) ? 2000 : 6);
  }
  return arrjit_call_result(call, index, dims, result);
}

static arrjit_status behave(tk_slot *slot, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  const host_plan *plan = slot->user;
  tk_random pick = {hash_arguments(plan->salt + (uint64_t)slot->calls, arg_count, args)};
  if (plan->fails && tk_chance(&pick, 33)) return fail(plan, call, &pick);
  for (size_t i = 0; i < result_count; i++) {
    arrjit_view result = results[i];
    size_t width = arrjit_dtype_bytes(result.dtype);
    bool dynamic = false;
    for (int32_t d = 0; d < result.rank; d++) dynamic = dynamic || result.dims[d] == ARRJIT_DYNAMIC_DIM;
    arrjit_status status = dynamic ? make_result(call, i, &result, &pick) : ARRJIT_OK;
    if (status != ARRJIT_OK) return status;
    for (size_t k = 0; k < result.bytes; k += width) tk_random_element(result.dtype, &pick, (char *)result.data + k);
  }
  return ARRJIT_OK;
}

void host_add_slot(subject *s, const char *name, uint64_t salt, bool fails, arrjit_kind kind) {
  if (!s->plans) s->plans = tk_new(FUZZ_MAX_SLOTS, sizeof *s->plans);
  size_t i = s->slot_count++;
  snprintf(s->names[i], sizeof s->names[i], "%s", name);
  s->plans[i] = (host_plan){salt, fails, kind};
  s->slots[i] = (tk_slot){.name = s->names[i], .behave = behave, .user = &s->plans[i]};
}

void host_add_input(arrjit_context *context, subject *s, const arrjit_type *type, tk_random *pick) {
  size_t count = tk_type_count(type);
  void *data = tk_new(count, arrjit_dtype_bytes(type->dtype));
  tk_fill(type->dtype, TK_DATA, 0, tk_chance(pick, 60), pick, count, data);
  s->inputs[s->input_count++] = tk_layout_array(context, type, (tk_layout)tk_below(pick, TK_LAYOUTS), data);
  free(data);
}

void subject_free(subject *s) {
  for (size_t i = 0; i < s->input_count; i++) arrjit_array_release(s->inputs[i]);
  arrjit_function_release(s->function);
  free(s->plans);
  *s = (subject){0};
}

void fuzz_add_kinds(arrjit_context *context, fuzz_kinds *out) {
  static const char *const names[] = {"fuzz.any", "fuzz.below", "fuzz.throw"};
  out->all[0] = ARRJIT_KIND_RUNTIME;
  for (size_t i = 0; i < TK_COUNT(names); i++) {
    arrjit_kind parent = i == 1 ? out->all[1] : i == 2 ? ARRJIT_KIND_THROW : ARRJIT_KIND_ERROR;
    arrjit_error error;
    if (arrjit_context_add_kind(context, names[i], parent, "...", &out->all[i + 1], &error) != ARRJIT_OK)
      tk_die("kind: %s", error.message);
  }
}
