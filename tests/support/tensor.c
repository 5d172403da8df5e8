/* Tensors of the neutral case format; see tensor.h. */
#include "tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

arrjit_dtype tk_dtype_find(const char *name) {
  for (int d = ARRJIT_BOOL; name && arrjit_dtype_bytes((arrjit_dtype)d); d++)
    if (strcmp(arrjit_dtype_name((arrjit_dtype)d), name) == 0) return (arrjit_dtype)d;
  return ARRJIT_DTYPE_NONE;
}

static bool read_float_text(const char *s, arrjit_dtype dtype, void *out) {
  if (strncmp(s, "0x", 2) == 0) { /* the bits themselves */
    uint64_t bits = strtoull(s, NULL, 16);
    memcpy(out, &bits, arrjit_dtype_bytes(dtype));
    return true;
  }
  double x;
  if (strcmp(s, "nan") == 0) {
    x = (double)NAN;
  } else if (strcmp(s, "inf") == 0) {
    x = (double)INFINITY;
  } else if (strcmp(s, "-inf") == 0) {
    x = -(double)INFINITY;
  } else {
    char *end;
    x = strtod(s, &end);
    if (*end || end == s) return false;
  }
  return tk_store_float(dtype, x, out);
}

static bool read_pair(const json_t *pair, arrjit_dtype part, void *out) {
  return json_array_size(pair) == 2 && tk_element_read(json_array_get(pair, 0), part, out) &&
         tk_element_read(json_array_get(pair, 1), part, (char *)out + arrjit_dtype_bytes(part));
}

bool tk_element_read(const json_t *value, arrjit_dtype dtype, void *out) {
  if (tk_is_complex(dtype)) return read_pair(value, tk_part(dtype), out);
  if (tk_is_float(dtype)) {
    if (json_is_string(value)) return read_float_text(json_string_value(value), dtype, out);
    if (!json_is_number(value)) return false;
    return tk_store_float(dtype, json_number_value(value), out);
  }
  uint64_t bits;
  if (!tk_json_u64(value, &bits)) return false;
  memcpy(out, &bits, arrjit_dtype_bytes(dtype)); /* little-endian: the low bytes */
  return true;
}

static bool read_hex(const char *s, tk_block *out) {
  if (strlen(s) != 2 * out->bytes) return false;
  for (size_t i = 0; i < out->bytes; i++) {
    unsigned byte;
    if (sscanf(s + 2 * i, "%2x", &byte) != 1) return false;
    out->data[i] = (unsigned char)byte;
  }
  return true;
}

static bool read_type(const json_t *tensor, arrjit_type *out) {
  const json_t *shape = json_object_get(tensor, "s");
  size_t rank = json_array_size(shape);
  arrjit_dtype dtype = tk_dtype_find(json_string_value(json_object_get(tensor, "d")));
  if (dtype == ARRJIT_DTYPE_NONE || !json_is_array(shape) || rank > ARRJIT_MAX_RANK) return false;
  *out = (arrjit_type){.dtype = dtype, .rank = (int32_t)rank};
  for (size_t i = 0; i < rank; i++) out->dims[i] = json_integer_value(json_array_get(shape, i));
  return true;
}

bool tk_tensor_read(const json_t *tensor, tk_block *out, char *why, size_t why_bytes) {
  *out = (tk_block){0};
  if (!read_type(tensor, &out->type)) {
    snprintf(why, why_bytes, "a tensor of another dtype: %s", json_string_value(json_object_get(tensor, "d")));
    return false;
  }
  size_t count = tk_type_count(&out->type), width = arrjit_dtype_bytes(out->type.dtype);
  out->bytes = count * width;
  out->data = tk_new(out->bytes + 1, 1);
  const json_t *list = json_object_get(tensor, "v"), *splat = json_object_get(tensor, "splat");
  const char *hex = json_string_value(json_object_get(tensor, "hex"));
  size_t parts = tk_is_complex(out->type.dtype) && list ? 2 : 1; /* a list has one part after the other */
  arrjit_dtype part = parts == 2 ? tk_part(out->type.dtype) : out->type.dtype;
  bool good = splat || hex || json_array_size(list) == count * parts;
  if (hex) {
    good = read_hex(hex, out);
  } else {
    for (size_t i = 0; good && i < count * parts; i++)
      good = tk_element_read(splat ? splat : json_array_get(list, i), part, out->data + i * (width / parts));
  }
  if (good) return true;
  snprintf(why, why_bytes, "a tensor that cannot be read");
  free(out->data);
  *out = (tk_block){0};
  return false;
}

bool tk_element_is_any_nan(const json_t *tensor, size_t index) {
  const json_t *value = json_object_get(tensor, "splat");
  if (!value) value = json_array_get(json_object_get(tensor, "v"), index);
  const char *s = json_string_value(value);
  return s && strcmp(s, "nan") == 0;
}
