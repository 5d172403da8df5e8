/* The C type of a function: which parameters and results C has a place for, what libffi and people call it. */
#include "api/closure.h"
#include "base/error.h"
#include "ir/build.h"
#include "rt/bind.h"

/* ---- what fits ---- */

static bool is_c_dtype(arrjit_dtype dtype) {
  const aj_dtype_info *info = &aj_dtypes[dtype];
  switch (info->cls) {
  case AJ_CLASS_NONE: return false;
  case AJ_CLASS_BOOL: return true;
  case AJ_CLASS_INT:
  case AJ_CLASS_UINT: return info->bits == 8 * info->bytes;
  case AJ_CLASS_COMPLEX: return false; /* how they are passed differs from platform to platform */
  case AJ_CLASS_FLOAT: return info->bytes == sizeof(float) || info->bytes == sizeof(double);
  }
  return false;
}

static arrjit_status check_type(const aj_func *func, const char *what, uint32_t index, const char *name,
                                const aj_type *type, const char *why, arrjit_error *error) {
  char text[160];
  bool fixed = true;
  for (int32_t i = 0; i < type->rank; i++) fixed = fixed && !aj_dim_is_symbol(type->dims[i]);
  if (fixed && is_c_dtype(type->dtype)) return ARRJIT_OK;
  aj_type_print(func->module, type, text, sizeof text);
  if (fixed) why = "C has no such element type";
  return aj_error_set(error, ARRJIT_TYPE, "%s %u%s%s%s is %s: %s", what, index, name && *name ? " (" : "",
                      name && *name ? name : "", name && *name ? ")" : "", text, why);
}

static arrjit_status check_types(const aj_func *func, arrjit_error *error) {
  arrjit_status status = ARRJIT_OK;
  for (uint32_t i = 0; i < func->param_count && status == ARRJIT_OK; i++)
    status = check_type(func, "parameter", i, func->root->params[i]->name, func->param_types[i],
                        "a C caller passes no extents; make the function for a fixed one", error);
  for (uint32_t i = 0; i < func->result_count && status == ARRJIT_OK; i++)
    status = check_type(func, "result", i, func->result_names ? func->result_names[i] : NULL, func->result_types[i],
                        "a C caller cannot know how much memory to give", error);
  return status;
}

/* ---- libffi's description ---- */

arrjit_status aj_c_signature_make(aj_c_signature *out, const aj_func *func, unsigned flags, arrjit_error *error) {
  if (func->param_count > AJ_CLOSURE_MOST || func->param_count + func->result_count > AJ_CLOSURE_MOST)
    return aj_error_set(error, ARRJIT_LIMIT, "%u parameters and %u results; a closure has at most %d together",
                        func->param_count, func->result_count, AJ_CLOSURE_MOST);
  arrjit_status status = check_types(func, error);
  if (status != ARRJIT_OK) return status;
  out->func = func;
  out->flags = flags;
  out->returns_value = func->result_count == 1 && func->result_types[0]->rank == 0;
  for (uint32_t i = 0; i < func->param_count; i++)
    out->types[out->count++] = aj_c_by_value(out, i) ? aj_ffi_type(func->param_types[i]->dtype) : &ffi_type_pointer;
  for (uint32_t i = 0; i < func->result_count && !out->returns_value; i++) out->types[out->count++] = &ffi_type_pointer;
  if (flags & ARRJIT_CLOSURE_USER) out->types[out->count++] = &ffi_type_pointer;
  ffi_type *result = out->returns_value ? aj_ffi_type(func->result_types[0]->dtype) : &ffi_type_sint;
  if (ffi_prep_cif(&out->cif, FFI_DEFAULT_ABI, out->count, result, out->types) == FFI_OK) return ARRJIT_OK;
  return aj_error_set(error, ARRJIT_UNAVAILABLE, "libffi has no functions of that signature here");
}

/* ---- as text ---- */

static const char *name_type(arrjit_dtype dtype) {
  static const char *const names[] = {
#define DTYPE(ID, name, cls, bits, type) [ARRJIT_##ID] = #type,
#include "ir/dtypes.def"
#undef DTYPE
  };
  return dtype == ARRJIT_BOOL ? "bool" : names[dtype];
}

void aj_c_signature_print(const aj_c_signature *s, aj_text *out) {
  const char *comma = "";
  const aj_func *func = s->func;
  aj_text_printf(out, "%s (*)(", s->returns_value ? name_type(func->result_types[0]->dtype) : "int");
  for (uint32_t i = 0; i < func->param_count; i++, comma = ", ") {
    bool by_value = aj_c_by_value(s, i);
    aj_text_printf(out, "%s%s%s%s", comma, by_value ? "" : "const ", name_type(func->param_types[i]->dtype),
                   by_value ? "" : " *");
  }
  for (uint32_t i = 0; i < func->result_count && !s->returns_value; i++, comma = ", ")
    aj_text_printf(out, "%s%s *", comma, name_type(func->result_types[i]->dtype));
  if (s->flags & ARRJIT_CLOSURE_USER)
    aj_text_printf(out, "%svoid *", comma);
  else if (!*comma)
    aj_text_puts(out, "void");
  aj_text_puts(out, ")");
}
