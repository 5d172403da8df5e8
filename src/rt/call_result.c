/* Results that a callback makes or gives while it runs: checked against the slot's signature, with what was expected
 * and what came in the message. */
#include <inttypes.h>
#include <string.h>

#include "rt/callback.h"
#include "rt/need.h"

enum { TYPE_BYTES = 160, WHY_BYTES = 480 };

/* "f64[2, ?]": what a view shows; it may be the host's (came), with anything in it. */
static void print_view(const arrjit_view *view, bool came, char out[TYPE_BYTES]) {
  bool known = view->dtype > ARRJIT_DTYPE_NONE && (size_t)view->dtype < AJ_DTYPE_COUNT;
  aj_bounded_printf(out, TYPE_BYTES, "%s[", known ? aj_dtypes[view->dtype].name : "?");
  for (int32_t d = 0; d < view->rank && d < ARRJIT_MAX_RANK && view->dims; d++) {
    size_t at = strlen(out);
    if (!came && view->dims[d] == ARRJIT_DYNAMIC_DIM)
      aj_bounded_printf(out + at, TYPE_BYTES - at, "%s?", d ? ", " : "");
    else
      aj_bounded_printf(out + at, TYPE_BYTES - at, "%s%" PRId64, d ? ", " : "", view->dims[d]);
  }
  size_t at = strlen(out);
  if (view->rank < 0 || view->rank > ARRJIT_MAX_RANK || (view->rank > 0 && !view->dims))
    aj_bounded_printf(out + at, TYPE_BYTES - at, "rank %" PRId32, view->rank);
  at = strlen(out);
  aj_bounded_printf(out + at, TYPE_BYTES - at, "]");
}

static uint64_t bit_of(size_t index) { return UINT64_C(1) << (index < 63 ? index : 63); }

/* The callback may still make what fits; until it has, it cannot say that all is well. */
static arrjit_status fail(arrjit_call_info *call, size_t index, const char *why) {
  aj_call_fail_contract(call, why);
  call->refused |= bit_of(index);
  call->own = true;
  return ARRJIT_FAILED;
}

static bool has_negative(const arrjit_view *view) {
  bool negative = false;
  for (int32_t d = 0; d < view->rank && d < ARRJIT_MAX_RANK && view->dims; d++) negative |= view->dims[d] < 0;
  return negative;
}

static arrjit_status fail_type(arrjit_call_info *call, size_t index, const arrjit_view *got) {
  char expected[TYPE_BYTES], came[TYPE_BYTES], why[WHY_BYTES];
  print_view(&call->results[index], false, expected);
  print_view(got, true, came);
  aj_bounded_printf(why, sizeof why, "result %zu: expected %s, got %s%s", index, expected, came,
                    has_negative(got) ? "; an extent is 0 or more" : "");
  return fail(call, index, why);
}

static bool is_dynamic(const arrjit_call_info *call, size_t index) {
  return call->made && aj_slot_dynamic_dims(call->slot, (uint32_t)index) != 0;
}

static bool has_result(const arrjit_call_info *call, size_t index) {
  return call->slot->is_value && index < call->slot->result_count;
}

/* dims of the view that are numbers are what they are. */
static bool dims_agree(const arrjit_view *expected, int32_t rank, const int64_t *dims) {
  if (rank != expected->rank) return false;
  for (int32_t d = 0; d < rank; d++) {
    bool dynamic = expected->dims[d] == ARRJIT_DYNAMIC_DIM;
    if (dims[d] < 0 || (!dynamic && dims[d] != expected->dims[d])) return false;
  }
  return true;
}

/* The result with these dims, which agree. */
static arrjit_status make(arrjit_call_info *call, size_t index, const int64_t *dims) {
  arrjit_view *view = &call->results[index];
  aj_run *run = call->run;
  int64_t bytes, needed = 0;
  arrjit_array *array = NULL;
  if (!aj_array_shape_bytes(view->dtype, view->rank, dims, &bytes)) bytes = INT64_MAX;
  if (aj_need_result(run, bytes, call->slot->result_count, call->made, &needed))
    array = aj_run_array(run, view->dtype, view->rank, dims, true);
  if (!array) {
    aj_call_take_raised(call);
    call->needed = needed;
    return ARRJIT_MEMORY;
  }
  call->made[index] = array;
  view->dims = array->view.dims;
  view->data = array->view.data;
  view->bytes = aj_view_bytes(&array->view);
  return ARRJIT_OK;
}

arrjit_status aj_call_result(arrjit_call_info *call, size_t index, const int64_t *dims, arrjit_view *out) {
  if (!has_result(call, index) || !is_dynamic(call, index) || call->made[index] || !dims) return ARRJIT_MISUSE;
  arrjit_view got = call->results[index];
  got.dims = dims;
  if (!dims_agree(&call->results[index], got.rank, dims)) return fail_type(call, index, &got);
  arrjit_status status = make(call, index, dims);
  if (status != ARRJIT_OK) return status;
  *out = call->results[index];
  call->refused &= ~bit_of(index);
  return ARRJIT_OK;
}

static arrjit_status fail_index(arrjit_call_info *call, size_t index) {
  char why[WHY_BYTES];
  uint32_t count = call->slot->is_value ? call->slot->result_count : 0;
  aj_bounded_printf(why, sizeof why, "it gave result %zu, expected %" PRIu32 " result%s", index, count,
                    count == 1 ? "" : "s");
  return fail(call, index, why);
}

static arrjit_status fail_bytes(arrjit_call_info *call, size_t index, int64_t expected, const arrjit_view *value) {
  char why[WHY_BYTES];
  if (value->bytes != (uint64_t)expected)
    aj_bounded_printf(why, sizeof why, "result %zu: expected %" PRId64 " bytes, got %zu", index, expected,
                      value->bytes);
  else
    aj_bounded_printf(why, sizeof why, "result %zu: expected %" PRId64 " bytes, got no data", index, expected);
  return fail(call, index, why);
}

arrjit_status aj_call_give(arrjit_call_info *call, size_t index, const arrjit_view *value) {
  if (!has_result(call, index)) return fail_index(call, index);
  arrjit_view *to = &call->results[index];
  bool dynamic = is_dynamic(call, index);
  if (dynamic && call->made[index]) return ARRJIT_MISUSE;
  int64_t bytes;
  bool sized =
      (value->rank <= 0 || value->dims) && aj_array_shape_bytes(value->dtype, value->rank, value->dims, &bytes);
  if (!sized || value->dtype != to->dtype || !dims_agree(to, value->rank, value->dims))
    return fail_type(call, index, value);
  if (value->bytes != (uint64_t)bytes || (bytes && !value->data)) return fail_bytes(call, index, bytes, value);
  if (dynamic) {
    arrjit_status status = make(call, index, value->dims);
    if (status != ARRJIT_OK) return status;
  }
  if (bytes) memmove(to->data, value->data, (size_t)bytes);
  if (index < 64) call->given |= UINT64_C(1) << index;
  call->refused &= ~bit_of(index);
  return ARRJIT_OK;
}
