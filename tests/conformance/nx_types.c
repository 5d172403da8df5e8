/* Nx's types: what two of them meet in, and literals, which give way to the types of tensors. */
#include "nx.h"

#include <string.h>

arrjit_dtype nx_dtype_of(arrjit_value x) { return arrjit_value_type(x).dtype; }

nx_name nx_type_name(arrjit_dtype dtype) {
  const char *name = arrjit_dtype_name(dtype);
  size_t letters = strcspn(name, "0123456789");
  nx_name out;
  snprintf(out.text, sizeof out.text, "{:%.*s, %s}", (int)letters, *name == 'i' ? "s" : name, name + letters);
  return out;
}

bool nx_is_integer(arrjit_dtype dtype) { return dtype >= ARRJIT_I8 && dtype <= ARRJIT_U64; }

static bool is_unsigned(arrjit_dtype dtype) { return dtype >= ARRJIT_U8 && dtype <= ARRJIT_U64; }

arrjit_dtype nx_floating(arrjit_dtype dtype) { return nx_is_integer(dtype) ? ARRJIT_F32 : dtype; }

arrjit_dtype nx_aggregate(arrjit_dtype dtype) {
  if (!nx_is_integer(dtype) || arrjit_dtype_bytes(dtype) >= 4) return dtype;
  return is_unsigned(dtype) ? ARRJIT_U32 : ARRJIT_I32;
}

const nx_format *nx_format_of(arrjit_dtype dtype) {
  static const nx_format formats[] = {{ARRJIT_F16, ARRJIT_U16, 10, 15},
                                      {ARRJIT_BF16, ARRJIT_U16, 7, 127},
                                      {ARRJIT_F32, ARRJIT_U32, 23, 127},
                                      {ARRJIT_F64, ARRJIT_U64, 52, 1023}};
  for (size_t i = 0; i < TK_COUNT(formats); i++)
    if (formats[i].dtype == dtype) return &formats[i];
  return NULL;
}

/* The signed type of this width, or of the widest there is. */
static arrjit_dtype find_signed(size_t bytes) {
  return bytes == 1 ? ARRJIT_I8 : bytes == 2 ? ARRJIT_I16 : bytes == 4 ? ARRJIT_I32 : ARRJIT_I64;
}

static arrjit_dtype merge_integers(arrjit_dtype a, arrjit_dtype b) {
  size_t x = arrjit_dtype_bytes(a), y = arrjit_dtype_bytes(b);
  if (is_unsigned(a) == is_unsigned(b)) return x >= y ? a : b;
  size_t of_unsigned = is_unsigned(a) ? x : y, of_signed = is_unsigned(a) ? y : x;
  return find_signed(of_signed > of_unsigned ? of_signed : 2 * of_unsigned);
}

/* Neither is an integer: the wider float; of f16 and bf16 f32; complex as wide as the widest part. */
static arrjit_dtype merge_floats(arrjit_dtype a, arrjit_dtype b) {
  size_t x = arrjit_dtype_bytes(tk_part(a)), y = arrjit_dtype_bytes(tk_part(b));
  bool wide = x == 8 || y == 8;
  if (tk_is_complex(a) || tk_is_complex(b)) return wide ? ARRJIT_C128 : ARRJIT_C64;
  if (x == y) return a == b ? a : ARRJIT_F32;
  return x > y ? a : b;
}

arrjit_dtype nx_merge(arrjit_dtype a, arrjit_dtype b) {
  if (a == b) return a;
  if (nx_is_integer(a)) return nx_is_integer(b) ? merge_integers(a, b) : b;
  return nx_is_integer(b) ? a : merge_floats(a, b);
}

/* ---- literals ---- */

bool nx_is_literal(const json_t *value) {
  return json_is_number(value) || json_object_get(value, "num") || json_object_get(value, "complex");
}

arrjit_dtype nx_literal_type(const json_t *value) {
  if (json_is_integer(value)) return ARRJIT_I32;
  return json_object_get(value, "complex") ? ARRJIT_C64 : ARRJIT_F32;
}

/* A literal keeps no type of its own but what it is: whole, a float, complex, below 0. */
static arrjit_dtype merge_literal(arrjit_dtype type, const json_t *value) {
  if (!json_is_integer(value))
    return nx_is_integer(type) ? nx_literal_type(value) : nx_merge(type, nx_literal_type(value));
  if (is_unsigned(type) && json_integer_value(value) < 0) return nx_merge(type, ARRJIT_I8);
  return type;
}

arrjit_dtype nx_join(nx_op *op, const json_t *a, const json_t *b) {
  bool x = nx_is_literal(a), y = nx_is_literal(b);
  if (x && y) return nx_merge(nx_literal_type(a), nx_literal_type(b));
  if (x) return merge_literal(nx_dtype_of(nx_value(op, b)), a);
  if (y) return merge_literal(nx_dtype_of(nx_value(op, a)), b);
  return nx_merge(nx_dtype_of(nx_value(op, a)), nx_dtype_of(nx_value(op, b)));
}

arrjit_value nx_literal(nx_op *op, const json_t *value, arrjit_dtype dtype) {
  unsigned char element[16] = {0};
  arrjit_type type = arrjit_type_make(dtype, 0, NULL);
  const json_t *pair = json_object_get(value, "complex"), *number = json_object_get(value, "num");
  const json_t *from = pair ? json_array_get(pair, 0) : number ? number : value;
  bool read;
  if (tk_is_complex(dtype)) {
    arrjit_dtype part = tk_part(dtype);
    read = tk_element_read(from, part, element) &&
           (!pair || tk_element_read(json_array_get(pair, 1), part, element + arrjit_dtype_bytes(part)));
  } else if (nx_is_integer(dtype) && json_is_real(value)) {
    return nx_as(op, nx_literal(op, value, ARRJIT_F64), dtype);
  } else {
    read = tk_element_read(from, dtype, element);
  }
  if (!read) nx_raise(op, "%s: a literal that cannot be read", op->name);
  return arrjit_const(op->g, &type, element);
}

arrjit_value nx_value_as(nx_op *op, const json_t *value, arrjit_dtype dtype) {
  return nx_is_literal(value) ? nx_literal(op, value, dtype) : nx_as(op, nx_value(op, value), dtype);
}
