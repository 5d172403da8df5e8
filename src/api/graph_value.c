/* Types, symbols, parameters and constants. */
#include <string.h>

#include "api/graph.h"
#include "arrjit/half.h"
#include "base/number.h"

arrjit_type arrjit_type_make(arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  arrjit_type type = {.dtype = dtype, .rank = rank};
  /* What cannot be a type is kept as one that every user refuses, with the reason. */
  if (rank > 0 && !dims) type.dims[0] = AJ_NO_DIMS;
  if (rank > 0 && rank <= ARRJIT_MAX_RANK && dims) memcpy(type.dims, dims, (size_t)rank * sizeof *dims);
  return type;
}

arrjit_type arrjit_value_type(arrjit_value value) {
  const aj_value *v = aj_graph_value(value);
  if (!v || v->type->is_exn) return (arrjit_type){.dtype = ARRJIT_BOOL, .rank = -1};
  return arrjit_type_make(v->type->dtype, v->type->rank, v->type->dims);
}

/* ---- types ---- */

static bool check_dims(arrjit_graph *graph, const char *what, const arrjit_type *type, unsigned allow) {
  const aj_module *module = graph->module;
  int64_t elements, bytes;
  bool symbolic;
  if (type->rank && type->dims[0] == AJ_NO_DIMS) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%s has rank %d but no dims were given", what, type->rank);
    return false;
  }
  for (int32_t d = 0; d < type->rank; d++) {
    int64_t dim = type->dims[d];
    if (dim >= 0 || ((allow & AJ_ALLOW_DYNAMIC) && dim == ARRJIT_DYNAMIC_DIM)) continue;
    if (~dim < (int64_t)module->symbols.count && graph->b.func &&
        module->symbols.data[aj_dim_symbol(dim)].func == graph->b.func->index)
      continue;
    if (dim == ARRJIT_DYNAMIC_DIM)
      aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                      "%s: dim %d is ARRJIT_DYNAMIC_DIM, which only results of value slots may have", what, d);
    else
      aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                      "%s: dim %d is %lld, no extent and no symbol of this function", what, d, (long long)dim);
    return false;
  }
  if (aj_dims_count(type->rank, type->dims, &elements, &symbolic) &&
      aj_i64_mul(elements, aj_dtypes[type->dtype].bytes, &bytes))
    return true;
  aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "%s has more bytes than can be addressed", what);
  return false;
}

/* Derived symbols follow from those they are made of; `known` is for this one type. */
static bool move_dims(arrjit_graph *graph, int32_t rank, const int64_t *dims, aj_func *to, int64_t *out) {
  size_t count = graph->module->symbols.count + 1;
  int64_t *known = aj_mem_array(&graph->core->mem, count, sizeof *known);
  aj_translate status = known ? AJ_TRANSLATE_OK : AJ_TRANSLATE_MEMORY;
  for (size_t i = 0; known && i < count; i++) known[i] = AJ_DIM_UNKNOWN;
  for (int32_t d = 0; status == AJ_TRANSLATE_OK && d < rank; d++)
    if ((out[d] = dims[d]) != ARRJIT_DYNAMIC_DIM) status = aj_dim_translate(to, true, known, dims[d], &out[d]);
  aj_mem_free(&graph->core->mem, known, count * sizeof *known);
  if (status == AJ_TRANSLATE_OK) return true;
  if (status == AJ_TRANSLATE_MEMORY)
    aj_builder_no_memory(&graph->b);
  else
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_NONE, "an extent of the signature is out of range");
  return false;
}

const aj_type *aj_graph_type(arrjit_graph *graph, const char *what, const arrjit_type *type, aj_func *to,
                             unsigned allow) {
  const aj_type *made;
  int64_t moved[ARRJIT_MAX_RANK];
  if (!aj_graph_given(graph, what, type, 1)) return NULL;
  if ((allow & AJ_ALLOW_EXN) && type->rank == -1) {
    made = aj_module_exn_type(graph->module);
  } else {
    bool known = (int)type->dtype > 0 && (int)type->dtype < AJ_DTYPE_COUNT;
    if (!known || type->rank < 0 || type->rank > ARRJIT_MAX_RANK) {
      aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                      "%s: dtype %d, rank %d; expected an element type and a rank to %d", what, (int)type->dtype,
                      type->rank, ARRJIT_MAX_RANK);
      return NULL;
    }
    if (!check_dims(graph, what, type, allow)) return NULL;
    const int64_t *dims = type->dims;
    if (to != graph->b.func) {
      if (!move_dims(graph, type->rank, dims, to, moved)) return NULL;
      dims = moved;
    }
    made = aj_module_type(graph->module, type->dtype, type->rank, dims);
  }
  if (!made) aj_builder_no_memory(&graph->b);
  return made;
}

const aj_type **aj_graph_types(arrjit_graph *graph, const char *what, size_t count, const arrjit_type *types,
                               aj_func *to, unsigned allow) {
  if (!aj_graph_given(graph, what, types, count) || !aj_graph_counted(graph, count)) return NULL;
  const aj_type **made = AJ_NEW_ARRAY(&graph->module->arena, count, const aj_type *);
  if (!made) return aj_builder_no_memory(&graph->b), NULL;
  for (size_t i = 0; i < count; i++)
    if (!(made[i] = aj_graph_type(graph, what, &types[i], to, allow))) return NULL;
  return made;
}

bool aj_graph_name(arrjit_graph *graph, const char *what, const char *name) {
  if (name && *name) return true;
  aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "%s needs a name", what);
  return false;
}

/* ---- symbols and parameters ---- */

/* A letter or _, then letters, digits, _: extents are written as expressions of symbols. */
static bool is_word(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return strspn(name, letters) == strlen(name) && !(*name >= '0' && *name <= '9');
}

int64_t arrjit_symbol(arrjit_graph *graph, const char *name) {
  if (!aj_graph_ready(graph) || !aj_graph_name(graph, "a symbol", name)) return 0;
  if (!graph->b.func || !is_word(name)) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                    graph->b.func ? "symbol \"%s\": expected letters, digits and _, no digit first"
                                  : "symbol \"%s\": no function is being built",
                    name);
    return 0;
  }
  int64_t symbol = aj_symbol_named(graph->b.func, name);
  if (symbol == 0) aj_builder_no_memory(&graph->b);
  return symbol;
}

static bool check_param(arrjit_graph *graph, const char *name) {
  aj_func *func = graph->b.func;
  if (!func || func->index != 0) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE,
                    func ? "function %s has its parameters from arrjit_define" : "%s has returned",
                    func ? func->name : "main");
    return false;
  }
  for (uint32_t i = 0; name && i < func->root->param_count; i++) {
    const char *other = func->root->params[i]->name;
    if (!other || strcmp(other, name) != 0) continue;
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_NONE, "two parameters are called %s", name);
    return false;
  }
  return true;
}

arrjit_value arrjit_param(arrjit_graph *graph, const char *name, const arrjit_type *type) {
  if (!aj_graph_ready(graph)) return NULL;
  if (name && !*name) name = NULL;
  if (!check_param(graph, name)) return NULL;
  const aj_type *made = aj_graph_type(graph, "the type of a parameter", type, graph->b.func, 0);
  aj_value *param = made ? aj_region_add_param(graph->b.func->root, made) : NULL;
  if (param && name) param->name = aj_module_text(graph->module, name, strlen(name));
  if (made && (!param || (name && !param->name))) return aj_builder_no_memory(&graph->b), NULL;
  return aj_host_value(param);
}

/* ---- constants ---- */

static bool check_bools(arrjit_graph *graph, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] <= 1) continue;
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_CONST, "byte %zu of bool data is %d; expected 0 or 1", i, bytes[i]);
    return false;
  }
  return true;
}

arrjit_value arrjit_const(arrjit_graph *graph, const arrjit_type *type, const void *data) {
  int64_t elements;
  bool symbolic;
  if (!aj_graph_ready(graph)) return NULL;
  const aj_type *made = aj_graph_type(graph, "the type of a constant", type, graph->b.func, 0);
  if (!made) return NULL;
  bool fits = aj_dims_count(made->rank, made->dims, &elements, &symbolic);
  AJ_ASSERT(fits);
  (void)fits;
  if (symbolic) elements = 0; /* refused below, with the reason */
  size_t bytes = (size_t)elements * aj_dtypes[made->dtype].bytes;
  if (!aj_graph_given(graph, "the data of a constant", data, bytes)) return NULL;
  if (made->dtype == ARRJIT_BOOL && !check_bools(graph, data, bytes)) return NULL;
  return aj_host_value(aj_build_const(&graph->b, made, data, bytes));
}

static arrjit_value build_scalar(arrjit_graph *graph, const char *function, arrjit_dtype dtype, const void *element) {
  return aj_graph_enter(graph, function) ? aj_host_value(aj_build_scalar(&graph->b, dtype, element)) : NULL;
}

arrjit_value arrjit_const_bool(arrjit_graph *graph, int value) {
  return build_scalar(graph, __func__, ARRJIT_BOOL, &(uint8_t){value != 0});
}
arrjit_value arrjit_const_i32(arrjit_graph *graph, int32_t value) {
  return build_scalar(graph, __func__, ARRJIT_I32, &value);
}
arrjit_value arrjit_const_i64(arrjit_graph *graph, int64_t value) {
  return build_scalar(graph, __func__, ARRJIT_I64, &value);
}
arrjit_value arrjit_const_f32(arrjit_graph *graph, float value) {
  return build_scalar(graph, __func__, ARRJIT_F32, &value);
}
arrjit_value arrjit_const_f64(arrjit_graph *graph, double value) {
  return build_scalar(graph, __func__, ARRJIT_F64, &value);
}

/* The integer's low bytes are its element (the machine is little-endian); false when the dtype cannot hold the value.
 */
static bool to_integer(arrjit_dtype dtype, double value, uint64_t *out) {
  const aj_dtype_info *info = &aj_dtypes[dtype];
  bool is_signed = info->cls == AJ_CLASS_INT;
  int bits = info->cls == AJ_CLASS_BOOL ? 1 : info->bits - is_signed;
  double limit = bits < 64 ? (double)((uint64_t)1 << bits) : 18446744073709551616.0;
  if (!(value >= (is_signed ? -limit : 0) && value < limit)) return false;
  *out = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
  return value < 0 ? (double)(int64_t)*out == value : (double)*out == value;
}

arrjit_value arrjit_const_like(arrjit_graph *graph, arrjit_value like, double value) {
  if (!aj_graph_ready(graph)) return NULL;
  const aj_value *v = aj_graph_value(like);
  if (!v || v->type->is_exn) {
    aj_builder_fail(&graph->b, ARRJIT_MISUSE, AJ_OP_CONST, "like is %s; expected an array",
                    v ? "an exception" : "the null value");
    return NULL;
  }
  arrjit_dtype dtype = v->type->dtype;
  if (dtype == ARRJIT_F64) return build_scalar(graph, __func__, dtype, &value);
  if (dtype == ARRJIT_F32) return build_scalar(graph, __func__, dtype, &(float){(float)value});
  if (dtype == ARRJIT_F16) return build_scalar(graph, __func__, dtype, &(uint16_t){arrjit_f16_from_f64(value)});
  if (dtype == ARRJIT_BF16) return build_scalar(graph, __func__, dtype, &(uint16_t){arrjit_bf16_from_f64(value)});
  if (dtype == ARRJIT_C64) return build_scalar(graph, __func__, dtype, (float[]){(float)value, 0});
  if (dtype == ARRJIT_C128) return build_scalar(graph, __func__, dtype, (double[]){value, 0});
  uint64_t element = 0;
  if (!to_integer(dtype, value, &element)) {
    char text[AJ_NUMBER_BYTES];
    aj_number_f64(text, value);
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_CONST, "no %s is %s", aj_dtypes[dtype].name, text);
    return NULL;
  }
  return build_scalar(graph, __func__, dtype, &element);
}
