/* Arrays in all layouts; see layout.h. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "floats.h"
#include "numbers.h"
#include "outcome.h"

static void tame_element(arrjit_dtype dtype, tk_random *pick, void *out) {
  uint64_t small = 1 + tk_below(pick, 5);
  arrjit_dtype part = dtype == ARRJIT_C64 ? ARRJIT_F32 : dtype == ARRJIT_C128 ? ARRJIT_F64 : dtype;
  if (dtype == ARRJIT_BOOL) small &= 1;
  memset(out, 0, arrjit_dtype_bytes(dtype));
  if (!tk_store_float(part, (double)small, out)) memcpy(out, &small, arrjit_dtype_bytes(dtype));
}

void tk_fill(arrjit_dtype dtype, tk_role role, int64_t bound, bool tame, tk_random *pick, size_t count, void *out) {
  size_t width = arrjit_dtype_bytes(dtype);
  for (size_t i = 0; i < count; i++) {
    char *element = (char *)out + i * width;
    if (role == TK_INDEX) {
      tk_random_index(dtype, bound, pick, element);
    } else if (tame) {
      tame_element(dtype, pick, element);
    } else if (role == TK_COUNT_OF_BITS && tk_chance(pick, 80)) {
      tk_random_index(dtype, (int64_t)width * 8, pick, element);
    } else {
      tk_random_element(dtype, pick, element);
    }
  }
}

static void release(void *user, void *data) {
  (void)data;
  free(user);
}

/* Byte strides of the layout over a buffer of twice the elements, and where element 0 is. */
static size_t lay_out(const arrjit_type *type, tk_layout layout, int64_t *strides) {
  int64_t step = (int64_t)arrjit_dtype_bytes(type->dtype) * (layout == TK_STRIDED ? 2 : 1), first = 0;
  for (int32_t k = 0; k < type->rank; k++) {
    int32_t i = layout == TK_TRANSPOSED ? k : type->rank - 1 - k;
    strides[i] = step;
    step *= type->dims[i];
    if (layout == TK_REVERSED && type->dims[i] > 0) {
      first += strides[i] * (type->dims[i] - 1);
      strides[i] = -strides[i];
    }
  }
  if (layout == TK_BROADCAST && type->rank) strides[0] = 0;
  return (size_t)first;
}

static void copy_elements(const arrjit_type *type, const int64_t *strides, char *to, const char *from) {
  int64_t index[ARRJIT_MAX_RANK] = {0};
  size_t count = tk_type_count(type), width = arrjit_dtype_bytes(type->dtype);
  for (size_t n = 0; n < count; n++) {
    int64_t at = 0;
    for (int32_t i = 0; i < type->rank; i++) at += index[i] * strides[i];
    memcpy(to + at, from + n * width, width);
    for (int32_t i = type->rank; i-- > 0 && ++index[i] == type->dims[i];) index[i] = 0;
  }
}

arrjit_array *tk_layout_array(arrjit_context *context, const arrjit_type *type, tk_layout layout, const void *data) {
  int64_t strides[ARRJIT_MAX_RANK];
  char *buffer = tk_new(2 * tk_type_count(type) + 1, arrjit_dtype_bytes(type->dtype));
  char *element = buffer + lay_out(type, layout, strides);
  arrjit_array *array = NULL;
  arrjit_error error;
  copy_elements(type, strides, element, data);
  if (arrjit_array_wrap(context, type, element, strides, release, buffer, &array, &error) != ARRJIT_OK)
    tk_die("no array: %s", error.message);
  return array;
}
