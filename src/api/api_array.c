/* arrjit/array.h: checks arguments, forwards. */
#include "arrjit/array.h"

#include <inttypes.h>
#include <string.h>

#include "engine/engine.h"

static arrjit_status fail_null(arrjit_error *error, const char *name) {
  return aj_error_set(error, ARRJIT_MISUSE, "%s is NULL", name);
}

/* A dense view of a concrete type, without data. */
static arrjit_status read_type(const arrjit_type *type, aj_view *out, int64_t *out_bytes, arrjit_error *error) {
  if (type->dtype <= ARRJIT_DTYPE_NONE || (size_t)type->dtype >= AJ_DTYPE_COUNT)
    return aj_error_set(error, ARRJIT_MISUSE, "type has dtype %d, which is none", (int)type->dtype);
  if (type->rank < 0 || type->rank > ARRJIT_MAX_RANK)
    return aj_error_set(error, ARRJIT_MISUSE, "type has rank %" PRId32 ", expected 0 to %d", type->rank,
                        ARRJIT_MAX_RANK);
  if (type->rank && type->dims[0] == AJ_NO_DIMS)
    return aj_error_set(error, ARRJIT_MISUSE, "type has rank %" PRId32 " but no dims were given", type->rank);
  for (int32_t i = 0; i < type->rank; i++)
    if (type->dims[i] < 0)
      return aj_error_set(error, ARRJIT_MISUSE, "type has extent %" PRId64 " in dim %" PRId32, type->dims[i], i);
  if (!aj_array_shape_bytes(type->dtype, type->rank, type->dims, out_bytes) || (uint64_t)*out_bytes > PTRDIFF_MAX)
    return aj_error_set(error, ARRJIT_MISUSE, "the size of type overflows");
  out->dtype = type->dtype;
  out->rank = type->rank;
  out->data = NULL;
  memcpy(out->dims, type->dims, (size_t)type->rank * sizeof *out->dims);
  aj_view_set_dense(out);
  return ARRJIT_OK;
}

/* What making an array of a type is given; the view is that of read_type. */
static arrjit_status check_new(const arrjit_context *context, const arrjit_type *type, arrjit_array **out,
                               aj_view *view, int64_t *out_bytes, arrjit_error *error) {
  if (!context) return fail_null(error, "context");
  if (!type) return fail_null(error, "type");
  if (!out) return fail_null(error, "out");
  return read_type(type, view, out_bytes, error);
}

arrjit_status arrjit_array_create(arrjit_context *context, const arrjit_type *type, const void *data,
                                  arrjit_array **out, arrjit_error *error) {
  aj_view view;
  int64_t bytes;
  arrjit_status status = check_new(context, type, out, &view, &bytes, error);
  if (status != ARRJIT_OK) return status;
  arrjit_array *array = aj_array_create(context->core, view.dtype, view.rank, view.dims, !data);
  if (!array) return aj_error_memory(error, "an array");
  if (data && bytes) memcpy(array->view.data, data, (size_t)bytes);
  *out = array;
  return aj_error_clear(error);
}

/* The last element along each dim lies at (extent - 1) * stride; the sum of those must be an address difference. */
static bool reach_overflows(const aj_view *view) {
  int64_t low = 0, high = aj_dtypes[view->dtype].bytes;
  for (int32_t i = 0; i < view->rank; i++) {
    int64_t span;
    if (view->dims[i] == 0) return false;
    if (!aj_i64_mul(view->dims[i] - 1, view->strides[i], &span)) return true;
    int64_t *end = span < 0 ? &low : &high;
    if (!aj_i64_add(*end, span, end)) return true;
  }
  return false;
}

/* Strides of an empty array are of no use and may be anything; dense ones take their place. */
arrjit_status arrjit_array_wrap(arrjit_context *context, const arrjit_type *type, void *data,
                                const int64_t *strides_bytes, arrjit_release_data *release, void *user,
                                arrjit_array **out, arrjit_error *error) {
  aj_view view;
  int64_t bytes;
  arrjit_status status = check_new(context, type, out, &view, &bytes, error);
  if (status != ARRJIT_OK) return status;
  if (!data && bytes) return fail_null(error, "data");
  if (strides_bytes && bytes) memcpy(view.strides, strides_bytes, (size_t)view.rank * sizeof *strides_bytes);
  if (reach_overflows(&view)) return aj_error_set(error, ARRJIT_MISUSE, "strides_bytes reach past the address space");
  view.data = data;
  arrjit_array *array = aj_array_wrap(context->core, &view, release, user, data);
  if (!array) return aj_error_memory(error, "an array");
  *out = array;
  return aj_error_clear(error);
}

/* One dim of a view: moves the data pointer's offset to its start. */
static arrjit_status view_dim(const aj_view *base, int32_t i, int64_t start, int64_t step, int64_t extent,
                              aj_view *view, int64_t *offset, arrjit_error *error) {
  int64_t n = base->dims[i], last = start;
  if (step == 0) return aj_error_set(error, ARRJIT_MISUSE, "step of dim %" PRId32 " is 0", i);
  if (extent < 0) return aj_error_set(error, ARRJIT_MISUSE, "extent of dim %" PRId32 " is %" PRId64, i, extent);
  bool inside = start >= 0 && start <= n;
  if (extent > 0)
    inside = inside && start < n && aj_i64_mul(extent - 1, step, &last) && aj_i64_add(start, last, &last) &&
             last >= 0 && last < n;
  if (!inside)
    return aj_error_set(error, ARRJIT_MISUSE,
                        "dim %" PRId32 ": start %" PRId64 ", step %" PRId64 ", extent %" PRId64
                        " reach outside the base's extent %" PRId64,
                        i, start, step, extent, n);
  view->dims[i] = extent;
  /* With one element at most the step is never taken, and may be too long to be a stride. */
  view->strides[i] = extent > 1 ? base->strides[i] * step : base->strides[i];
  *offset += start < n ? base->strides[i] * start : 0;
  return ARRJIT_OK;
}

/* Products below cannot overflow: the base's reach was checked when it was made, and a view stays inside it. */
arrjit_status arrjit_array_view(arrjit_array *base, const int64_t *start, const int64_t *step, const int64_t *dims,
                                arrjit_array **out, arrjit_error *error) {
  if (!base) return fail_null(error, "base");
  if (!out) return fail_null(error, "out");
  if (base->view.rank && !start) return fail_null(error, "start");
  if (base->view.rank && !step) return fail_null(error, "step");
  if (base->view.rank && !dims) return fail_null(error, "dims");
  aj_view view = base->view;
  int64_t offset = 0, bytes;
  for (int32_t i = 0; i < view.rank; i++) {
    arrjit_status status = view_dim(&base->view, i, start[i], step[i], dims[i], &view, &offset, error);
    if (status != ARRJIT_OK) return status;
  }
  if (!aj_array_shape_bytes(view.dtype, view.rank, view.dims, &bytes))
    return aj_error_set(error, ARRJIT_MISUSE, "the size of the view overflows");
  if (bytes) view.data += offset; /* an empty view points nowhere else */
  arrjit_array *array = aj_array_share(base, &view);
  if (!array) return aj_error_memory(error, "a view");
  *out = array;
  return aj_error_clear(error);
}

arrjit_status arrjit_array_copy(const arrjit_array *array, arrjit_array **out, arrjit_error *error) {
  if (!array) return fail_null(error, "array");
  if (!out) return fail_null(error, "out");
  arrjit_array *copy = aj_array_copy(array->core, &array->view);
  if (!copy) return aj_error_memory(error, "an array");
  *out = copy;
  return aj_error_clear(error);
}

void arrjit_array_retain(arrjit_array *array) {
  if (array) aj_array_retain(array);
}

void arrjit_array_release(arrjit_array *array) { aj_array_release(array); }

arrjit_type arrjit_array_type(const arrjit_array *array) {
  arrjit_type type = {0};
  if (!array) return type;
  type.dtype = array->view.dtype;
  type.rank = array->view.rank;
  memcpy(type.dims, array->view.dims, (size_t)type.rank * sizeof *type.dims);
  return type;
}

arrjit_dtype arrjit_array_dtype(const arrjit_array *array) { return array ? array->view.dtype : ARRJIT_DTYPE_NONE; }
int32_t arrjit_array_rank(const arrjit_array *array) { return array ? array->view.rank : 0; }
const int64_t *arrjit_array_dims(const arrjit_array *array) { return array ? array->view.dims : NULL; }
const int64_t *arrjit_array_strides_bytes(const arrjit_array *array) { return array ? array->view.strides : NULL; }
void *arrjit_array_data(const arrjit_array *array) { return array ? array->view.data : NULL; }
int64_t arrjit_array_count(const arrjit_array *array) { return array ? aj_view_count(&array->view) : 0; }
size_t arrjit_array_bytes(const arrjit_array *array) { return array ? aj_view_bytes(&array->view) : 0; }
int arrjit_array_is_dense(const arrjit_array *array) { return array ? aj_array_is_dense(array) : 0; }
