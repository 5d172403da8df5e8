/* The checks and texts that the rules of inference share. */
#include "ir/infer.h"

#include <string.h>

/* ---- texts ---- */

typedef struct piece {
  int64_t dim;
  const char *text;
} piece;

/* An expression is printed with brackets, its parts waiting on a small stack; one too deep for it is cut. */
void aj_dim_print(const aj_module *module, int64_t dim, char *out, size_t size) {
  enum { DEPTH = 24 };
  static const char *const signs[] = {[AJ_SYM_ADD] = " + ",
                                      [AJ_SYM_SUB] = " - ",
                                      [AJ_SYM_MUL] = " * ",
                                      [AJ_SYM_FLOOR_DIV] = " // ",
                                      [AJ_SYM_LESS] = " -- "};
  piece stack[DEPTH + 5] = {{dim, NULL}};
  size_t at = 0;
  out[0] = '\0';
  for (int count = 1; count && at + 1 < size; at += strlen(out + at)) {
    piece top = stack[--count];
    bool known = top.dim < 0 && ~top.dim < (int64_t)module->symbols.count;
    const aj_symbol *symbol = known ? &module->symbols.data[aj_dim_symbol(top.dim)] : NULL;
    if (top.text) {
      aj_bounded_printf(out + at, size - at, "%s", top.text);
    } else if (top.dim == ARRJIT_DYNAMIC_DIM) {
      aj_bounded_printf(out + at, size - at, "?");
    } else if (!symbol) {
      aj_bounded_printf(out + at, size - at, "%lld", (long long)top.dim);
    } else if (symbol->form == AJ_SYM_NODE) {
      aj_bounded_printf(out + at, size - at, "?%lld", (long long)symbol->a);
    } else if (symbol->form == AJ_SYM_PARAM) {
      aj_bounded_printf(out + at, size - at, "%s", symbol->name ? symbol->name : "?");
    } else if (count > DEPTH) {
      aj_bounded_printf(out + at, size - at, "...");
    } else {
      const piece parts[] = {{0, ")"}, {symbol->b, NULL}, {0, signs[symbol->form]}, {symbol->a, NULL}, {0, "("}};
      memcpy(stack + count, parts, sizeof parts);
      count += (int)AJ_COUNT(parts);
    }
  }
}

void aj_type_print(const aj_module *module, const aj_type *type, char *out, size_t size) {
  aj_bounded_printf(out, size, "%s", type->is_exn ? "exn" : aj_dtypes[type->dtype].name);
  for (int32_t i = 0; i < type->rank; i++) {
    size_t at = strlen(out);
    char dim[96];
    aj_dim_print(module, type->dims[i], dim, sizeof dim);
    aj_bounded_printf(out + at, size - at, "%s%s%s", i ? ", " : "[", dim, i + 1 == type->rank ? "]" : "");
  }
}

aj_infer_text aj_infer_type_text(const aj_infer *in, const aj_type *type) {
  aj_infer_text text;
  aj_type_print(in->func->module, type, text.s, sizeof text.s);
  return text;
}

aj_infer_text aj_infer_dim_text(const aj_infer *in, int64_t dim) {
  aj_infer_text text;
  aj_dim_print(in->func->module, dim, text.s, sizeof text.s);
  return text;
}

aj_infer_text aj_infer_name_text(const aj_infer *in, uint32_t operand) {
  aj_infer_text text;
  const char *name = "operand";
  size_t length = 7;
  aj_op_operand_name(in->op, operand, &name, &length);
  aj_bounded_printf(text.s, sizeof text.s, "%.*s", (int)length, name);
  return text;
}

aj_infer_text aj_infer_types_text(const aj_infer *in, uint32_t first, uint32_t count) {
  aj_infer_text text = {{0}};
  for (uint32_t i = 0; i < count && strlen(text.s) + 1 < sizeof text.s; i++) {
    size_t at = strlen(text.s);
    const char *between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
    aj_bounded_printf(text.s + at, sizeof text.s - at, "%s%s", between,
                      aj_infer_type_text(in, aj_infer_type(in, first + i)).s);
  }
  return text;
}

arrjit_status aj_infer_fail(aj_infer *in, arrjit_status status, const char *format, ...) {
  char text[sizeof in->error->message];
  va_list args;
  va_start(args, format);
  aj_bounded_vprintf(text, sizeof text, format, args);
  va_end(args);
  const char *name = in->name ? in->name : aj_ops[in->op].name;
  aj_error_set(in->error, status, "%s: %s", name, text);
  if (in->error) aj_bounded_printf(in->error->op, sizeof in->error->op, "%s", name);
  return status;
}

/* ---- attributes ---- */

arrjit_status aj_infer_count(aj_infer *in, aj_attr_name name, uint32_t count, const char *what) {
  uint32_t came = aj_infer_attr(in, name)->count;
  if (came == count) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "%s has %u entries; expected %u, %s", aj_attrs[name].name, came, count, what);
}

arrjit_status aj_infer_axes(aj_infer *in, aj_attr_name name, int32_t rank, uint32_t *out_set) {
  const aj_attr *attr = aj_infer_attr(in, name);
  uint32_t set = 0;
  for (uint32_t i = 0; i < attr->count; i++) {
    int64_t axis = attr->u.ints[i];
    if (rank == 0)
      return aj_infer_fail(in, ARRJIT_TYPE, "%s has %lld; a scalar has no axes", aj_attrs[name].name, (long long)axis);
    if (axis < 0 || axis >= rank)
      return aj_infer_fail(in, ARRJIT_TYPE, "%s has %lld; expected axes from 0 to below rank %d", aj_attrs[name].name,
                           (long long)axis, rank);
    if (set >> axis & 1)
      return aj_infer_fail(in, ARRJIT_TYPE, "%s has %lld twice", aj_attrs[name].name, (long long)axis);
    set |= 1u << axis;
  }
  *out_set = set;
  return ARRJIT_OK;
}

arrjit_status aj_infer_axis(aj_infer *in, int32_t rank) {
  int64_t axis = aj_infer_attr(in, AJ_ATTR_AXIS)->u.i;
  if (axis >= 0 && axis < rank) return ARRJIT_OK;
  if (rank == 0) return aj_infer_fail(in, ARRJIT_TYPE, "axis is %lld; a scalar has no axes", (long long)axis);
  return aj_infer_fail(in, ARRJIT_TYPE, "axis is %lld; expected one from 0 to below rank %d", (long long)axis, rank);
}

arrjit_status aj_infer_pairs(aj_infer *in, aj_attr_name lhs_name, aj_attr_name rhs_name, uint32_t *out_lhs_set,
                             uint32_t *out_rhs_set) {
  const aj_type *lhs = aj_infer_type(in, 0), *rhs = aj_infer_type(in, 1);
  const aj_attr *lhs_axes = aj_infer_attr(in, lhs_name), *rhs_axes = aj_infer_attr(in, rhs_name);
  AJ_TRY(aj_infer_axes(in, lhs_name, lhs->rank, out_lhs_set));
  AJ_TRY(aj_infer_axes(in, rhs_name, rhs->rank, out_rhs_set));
  if (lhs_axes->count != rhs_axes->count)
    return aj_infer_fail(in, ARRJIT_TYPE, "%s has %u entries; expected %u, as many as %s", aj_attrs[rhs_name].name,
                         rhs_axes->count, lhs_axes->count, aj_attrs[lhs_name].name);
  for (uint32_t i = 0; i < lhs_axes->count; i++) {
    int64_t a = lhs->dims[lhs_axes->u.ints[i]], b = rhs->dims[rhs_axes->u.ints[i]];
    if (!aj_dim_equal(a, b))
      return aj_infer_fail(in, ARRJIT_TYPE, "operands are %s and %s; paired extents %s and %s are not equal",
                           aj_infer_type_text(in, lhs).s, aj_infer_type_text(in, rhs).s, aj_infer_dim_text(in, a).s,
                           aj_infer_dim_text(in, b).s);
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_window(aj_infer *in, int32_t axis, int64_t size, int64_t extent) {
  if (size < 0 || extent < 0 || size <= extent) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; a window of %lld along axis %d is larger than it",
                       aj_infer_type_text(in, aj_infer_type(in, 0)).s, (long long)size, axis);
}

/* ---- operands ---- */

arrjit_status aj_infer_array(aj_infer *in, uint32_t i) {
  if (!aj_infer_type(in, i)->is_exn) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "%s is an exception; expected an array", aj_infer_name_text(in, i).s);
}

arrjit_status aj_infer_integers(aj_infer *in, uint32_t i, bool scalar) {
  const aj_type *type = aj_infer_type(in, i);
  AJ_TRY(aj_infer_array(in, i));
  if ((AJ_D_INT >> type->dtype & 1) && (!scalar || type->rank == 0)) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; expected %s of an integer dtype", aj_infer_name_text(in, i).s,
                       aj_infer_type_text(in, type).s, scalar ? "a scalar" : "an array");
}

arrjit_status aj_infer_same_dtype(aj_infer *in, uint32_t i, uint32_t j) {
  AJ_TRY(aj_infer_array(in, i));
  const aj_type *a = aj_infer_type(in, j), *b = aj_infer_type(in, i);
  if (a->dtype == b->dtype) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "operands are %s and %s; dtypes never convert by themselves, use convert",
                       aj_infer_type_text(in, a).s, aj_infer_type_text(in, b).s);
}

static const char *set_text(uint32_t set) {
  if (set == AJ_D_COMPLEX) return "c64 or c128";
  if (set == AJ_D_PART) return "f32 or f64";
  if (set == AJ_D_FIELD) return "a float or complex dtype";
  if (set == AJ_D_ARITH) return "an integer, float or complex dtype";
  if (set == AJ_D_ORDERED) return "a dtype with an order: integer, float or bool";
  if (set == AJ_D_FLOAT) return "a float dtype";
  if (set == AJ_D_INT) return "an integer dtype";
  if (set == AJ_D_BITS) return "an integer dtype or bool";
  return "an integer or float dtype";
}

/* The dtype to convert to: f32 and its complex numbers keep all bits of small integers, others need f64. */
static const char *cast_target(uint32_t set, arrjit_dtype from) {
  bool small = aj_dtypes[from].bits <= 16 || from == ARRJIT_F32;
  if (set == AJ_D_COMPLEX) return small ? "c64" : "c128";
  return set & AJ_D_INT ? "i64" : aj_dtypes[from].bits <= 16 ? "f32" : "f64";
}

arrjit_status aj_infer_dtype_set(aj_infer *in, uint32_t i) {
  AJ_TRY(aj_infer_array(in, i));
  const aj_type *type = aj_infer_type(in, i);
  uint32_t set = aj_ops[in->op].dtypes;
  if (set >> type->dtype & 1) return ARRJIT_OK;
  aj_infer_text name = aj_infer_name_text(in, i);
  if (aj_dtype_is_complex(type->dtype)) /* a cast would drop the imaginary part: say what is meant */
    return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; expected %s: write real(%s), imag(%s) or abs(%s)", name.s,
                         aj_infer_type_text(in, type).s, set_text(set), name.s, name.s, name.s);
  return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; expected %s: write convert(%s, %s)", name.s,
                       aj_infer_type_text(in, type).s, set_text(set), name.s, cast_target(set, type->dtype));
}

arrjit_status aj_infer_predicate(aj_infer *in, const aj_type *type, const char *name, bool scalar) {
  aj_infer_text came = aj_infer_type_text(in, type);
  if (type->is_exn || type->dtype != ARRJIT_BOOL)
    return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; expected bool%s: write ne(%s, 0)", name, came.s,
                         scalar ? " scalar" : "", name);
  if (scalar && type->rank)
    return aj_infer_fail(in, ARRJIT_TYPE,
                         "%s is %s; expected bool scalar: write reduce_and(%s) or reduce_or(%s), or use select", name,
                         came.s, name, name);
  return ARRJIT_OK;
}

/* ---- types ---- */

arrjit_status aj_infer_dim(aj_infer *in, aj_symbol_form form, int64_t a, int64_t b, int64_t *out) {
  if (aj_dim_make(in->func, form, a, b, out)) return ARRJIT_OK;
  if (in->func->module->arena.failed) return aj_error_memory(in->error, "a symbolic extent");
  return aj_infer_fail(in, ARRJIT_TYPE, "an extent of the result, made from %s and %s, is below 0 or out of range",
                       aj_infer_dim_text(in, a).s, aj_infer_dim_text(in, b).s);
}

arrjit_status aj_infer_push(aj_infer *in, const aj_type *type) {
  if (type && AJ_VEC_PUSH(in->func->module->mem, &in->results, type)) return ARRJIT_OK;
  return aj_error_memory(in->error, "the types of a node");
}

bool aj_dims_count(int32_t rank, const int64_t *dims, int64_t *out_elements, bool *out_symbolic) {
  int64_t product = 1;
  bool zero = false, symbolic = false, fits = true;
  for (int32_t i = 0; i < rank; i++) {
    symbolic |= dims[i] < 0;
    zero |= dims[i] == 0;
    if (dims[i] > 0 && !aj_i64_mul(product, dims[i], &product)) fits = false;
  }
  *out_elements = zero ? 0 : product;
  *out_symbolic = symbolic;
  return fits; /* strides are products of the extents that are not 0: those must fit even in an empty array */
}

arrjit_status aj_infer_push_type(aj_infer *in, arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  int64_t elements, bytes;
  bool symbolic;
  if (rank < 0 || rank > ARRJIT_MAX_RANK)
    return aj_infer_fail(in, ARRJIT_TYPE, "the result would have rank %d; at most %d is allowed", rank,
                         ARRJIT_MAX_RANK);
  if (!aj_dims_count(rank, dims, &elements, &symbolic) || !aj_i64_mul(elements, aj_dtypes[dtype].bytes, &bytes))
    return aj_infer_fail(in, ARRJIT_TYPE, "the result would have more bytes than can be addressed");
  return aj_infer_push(in, aj_module_type(in->func->module, dtype, rank, dims));
}
