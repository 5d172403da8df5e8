/* Result types of ops: one function a rule of the table, what is common before them, and the elementwise rules.
 * Messages name the op, the types that came and what was expected. */
#include "ir/infer.h"

#include <string.h>

/* ---- elementwise rules ---- */

arrjit_status aj_infer_dtypes(aj_infer *in) {
  uint32_t x = in->op == AJ_OP_SELECT ? 1 : 0;
  for (uint32_t i = 0; i < in->operand_count; i++) AJ_TRY(aj_infer_array(in, i));
  if (x == 1) AJ_TRY(aj_infer_predicate(in, aj_infer_type(in, 0), "pred", false));
  for (uint32_t i = x + 1; i < in->operand_count; i++)
    if (aj_infer_type(in, i)->dtype != aj_infer_type(in, x)->dtype)
      return aj_infer_fail(in, ARRJIT_TYPE, "operands are %s; dtypes never convert by themselves, use convert",
                           aj_infer_types_text(in, 0, in->operand_count).s);
  return aj_infer_dtype_set(in, x);
}

static arrjit_status check_elementwise(aj_infer *in) {
  AJ_TRY(aj_infer_dtypes(in));
  const aj_type *first = aj_infer_type(in, 0);
  for (uint32_t i = 1; i < in->operand_count; i++) {
    const aj_type *type = aj_infer_type(in, i);
    if (type->rank != first->rank || memcmp(type->dims, first->dims, (size_t)type->rank * sizeof *type->dims) != 0)
      return aj_infer_fail(in, ARRJIT_TYPE, "operands are %s; expected equal shapes",
                           aj_infer_types_text(in, 0, in->operand_count).s);
  }
  return ARRJIT_OK;
}

static arrjit_status infer_same(aj_infer *in) {
  AJ_TRY(check_elementwise(in));
  return aj_infer_push(in, aj_infer_type(in, 0));
}

static arrjit_status infer_select(aj_infer *in) {
  AJ_TRY(check_elementwise(in));
  return aj_infer_push(in, aj_infer_type(in, 1));
}

static arrjit_status push_with_dtype(aj_infer *in, arrjit_dtype dtype) {
  const aj_type *x = aj_infer_type(in, 0);
  return aj_infer_push(in, aj_module_type(in->func->module, dtype, x->rank, x->dims));
}

static arrjit_status infer_compare(aj_infer *in) {
  AJ_TRY(check_elementwise(in));
  return push_with_dtype(in, ARRJIT_BOOL);
}

static arrjit_status infer_part(aj_infer *in) {
  AJ_TRY(check_elementwise(in));
  return push_with_dtype(in, aj_dtype_part(aj_infer_type(in, 0)->dtype));
}

static arrjit_status infer_complex(aj_infer *in) {
  AJ_TRY(check_elementwise(in));
  return push_with_dtype(in, aj_infer_type(in, 0)->dtype == ARRJIT_F32 ? ARRJIT_C64 : ARRJIT_C128);
}

static arrjit_status infer_convert(aj_infer *in) {
  arrjit_dtype to = (arrjit_dtype)aj_infer_attr(in, AJ_ATTR_DTYPE)->u.i;
  AJ_TRY(check_elementwise(in));
  if (aj_dtype_is_complex(to) && in->op == AJ_OP_CHECKED_CONVERT)
    return aj_infer_fail(in, ARRJIT_TYPE, "to %s; complex numbers are made unchecked: write convert",
                         aj_dtypes[to].name);
  return push_with_dtype(in, to);
}

static arrjit_status infer_bitcast(aj_infer *in) {
  AJ_TRY(check_elementwise(in));
  arrjit_dtype from = aj_infer_type(in, 0)->dtype, to = (arrjit_dtype)aj_infer_attr(in, AJ_ATTR_DTYPE)->u.i;
  if (from == ARRJIT_BOOL || to == ARRJIT_BOOL)
    return aj_infer_fail(in, ARRJIT_TYPE, "from %s to %s; a bool has no bits to show, use convert or ne",
                         aj_dtypes[from].name, aj_dtypes[to].name);
  if (aj_dtypes[from].bits != aj_dtypes[to].bits)
    return aj_infer_fail(in, ARRJIT_TYPE, "from %s to %s; expected dtypes of the same width", aj_dtypes[from].name,
                         aj_dtypes[to].name);
  return push_with_dtype(in, to);
}

/* ---- what is common ---- */

static arrjit_status check_dims(aj_infer *in, const aj_attr *attr) {
  const aj_module *module = in->func->module;
  for (uint32_t i = 0; i < attr->count; i++) {
    int64_t dim = attr->u.ints[i];
    if (dim >= 0) continue;
    uint32_t symbol = aj_dim_symbol(dim);
    if (~dim >= (int64_t)module->symbols.count || module->symbols.data[symbol].func != in->func->index)
      return aj_infer_fail(in, ARRJIT_TYPE,
                           "entry %u of %s is %lld; expected an extent >= 0 or a symbol of function %s", i,
                           aj_attrs[attr->name].name, (long long)dim, in->func->name);
  }
  return ARRJIT_OK;
}

static arrjit_status check_attr(aj_infer *in, const aj_attr *attr) {
  const aj_module *module = in->func->module;
  long long i = attr->u.i;
  const char *name = aj_attrs[attr->name].name;
  switch (aj_attrs[attr->name].form) {
  case AJ_FORM_DIMS: return check_dims(in, attr);
  case AJ_FORM_DTYPE:
    if (i > 0 && i < AJ_DTYPE_COUNT) return ARRJIT_OK;
    return aj_infer_fail(in, ARRJIT_TYPE, "%s %lld is no element type", name, i);
  case AJ_FORM_KIND:
    if (i >= 0 && i <= INT32_MAX && aj_kinds_get(module->kinds, (arrjit_kind)i)) return ARRJIT_OK;
    return aj_infer_fail(in, ARRJIT_MISUSE, "%s %lld is no kind of the context", name, i);
  case AJ_FORM_SLOT:
    if (i >= 0 && i < (long long)module->slots.count) return ARRJIT_OK;
    return aj_infer_fail(in, ARRJIT_MISUSE, "%s %lld is no callback slot of the graph", name, i);
  case AJ_FORM_FUNC:
    if (i >= 0 && i < (long long)module->funcs.count) return ARRJIT_OK;
    return aj_infer_fail(in, ARRJIT_MISUSE, "%s %lld is no function of the graph", name, i);
  case AJ_FORM_INT:
  case AJ_FORM_INTS:
  case AJ_FORM_BYTES:
  case AJ_FORM_TEXT: break;
  }
  return ARRJIT_OK;
}

/* Operand counts, and the attributes of the table: all of them, no others. */
static arrjit_status check_form(aj_infer *in) {
  const aj_op_info *info = &aj_ops[in->op];
  if (in->operand_count < info->min_operands || (info->max_operands < 255 && in->operand_count > info->max_operands))
    return aj_infer_fail(in, ARRJIT_GRAPH, "%u operands came; expected those named: %s", in->operand_count,
                         info->operands[0] ? info->operands : "none");
  uint64_t seen = 0;
  for (uint32_t i = 0; i < in->attrs_of->attr_count; i++) {
    const aj_attr *attr = &in->attrs_of->attrs[i];
    if (!(info->attrs >> attr->name & 1) || (seen >> attr->name & 1))
      return aj_infer_fail(in, ARRJIT_GRAPH, "attribute %s does not belong here, or comes twice",
                           aj_attrs[attr->name].name);
    seen |= (uint64_t)1 << attr->name;
    AJ_TRY(check_attr(in, attr));
  }
  seen |= (uint64_t)1 << AJ_ATTR_BINDS; /* the one that depends on the slot: see aj_infer_callback */
  for (int name = 0; name < AJ_ATTR_COUNT; name++)
    if ((info->attrs & ~seen) >> name & 1)
      return aj_infer_fail(in, ARRJIT_GRAPH, "attribute %s is missing", aj_attrs[name].name);
  if (!(info->flags & AJ_F_REGIONS) && in->attrs_of->region_count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "this op has no regions, but %u came", in->attrs_of->region_count);
  return ARRJIT_OK;
}

static arrjit_status push_scalar(aj_infer *in, arrjit_dtype dtype) { return aj_infer_push_type(in, dtype, 0, NULL); }

arrjit_status aj_infer_types(aj_infer *in) {
  in->results.count = 0;
  AJ_TRY(check_form(in));
  switch (aj_ops[in->op].rule) {
  case AJ_R_CONST: return aj_infer_const(in);
  case AJ_R_IOTA: return aj_infer_iota(in);
  case AJ_R_FULL: return aj_infer_full(in);
  case AJ_R_DIM_SIZE: return aj_infer_dim_size(in);
  case AJ_R_SAME: return infer_same(in);
  case AJ_R_PART: return infer_part(in);
  case AJ_R_COMPLEX: return infer_complex(in);
  case AJ_R_CONVERT: return infer_convert(in);
  case AJ_R_BITCAST: return infer_bitcast(in);
  case AJ_R_COMPARE: return infer_compare(in);
  case AJ_R_SELECT: return infer_select(in);
  case AJ_R_BROADCAST: return aj_infer_broadcast(in);
  case AJ_R_RESHAPE: return aj_infer_reshape(in);
  case AJ_R_TRANSPOSE: return aj_infer_transpose(in);
  case AJ_R_SAME_AXES: return aj_infer_same_axes(in);
  case AJ_R_SLICE: return aj_infer_slice(in);
  case AJ_R_CONCAT: return aj_infer_concat(in);
  case AJ_R_PAD: return aj_infer_pad(in);
  case AJ_R_DYNAMIC_SLICE: return aj_infer_dynamic_slice(in);
  case AJ_R_DYNAMIC_UPDATE_SLICE: return aj_infer_dynamic_update_slice(in);
  case AJ_R_GATHER: return aj_infer_gather(in);
  case AJ_R_SCATTER: return aj_infer_scatter(in);
  case AJ_R_TAKE: return aj_infer_take(in);
  case AJ_R_SORT: return aj_infer_sort(in);
  case AJ_R_SEARCH: return aj_infer_search(in);
  case AJ_R_REDUCE: return aj_infer_reduce(in);
  case AJ_R_ARG: return aj_infer_arg(in);
  case AJ_R_DOT: return aj_infer_dot(in);
  case AJ_R_CONV: return aj_infer_conv(in);
  case AJ_R_FFT: return aj_infer_fft(in);
  case AJ_R_SOLVE: return aj_infer_solve(in);
  case AJ_R_CHOLESKY: return aj_infer_cholesky(in);
  case AJ_R_LU: return aj_infer_lu(in);
  case AJ_R_QR: return aj_infer_qr(in);
  case AJ_R_EIGH: return aj_infer_eigh(in);
  case AJ_R_SVD: return aj_infer_svd(in);
  case AJ_R_REGIONS: return aj_infer_regions(in);
  case AJ_R_LOOP: return aj_infer_loop(in);
  case AJ_R_MAP: return aj_infer_map(in);
  case AJ_R_COMBINE: return aj_infer_combine(in);
  case AJ_R_WINDOW: return aj_infer_window_op(in);
  case AJ_R_CUMULATIVE: return aj_infer_cumulative(in);
  case AJ_R_CALL: return aj_infer_call(in);
  case AJ_R_NONE: return aj_infer_terminator(in);
  case AJ_R_CHECK: return aj_infer_check(in);
  case AJ_R_CHECK_SHAPE: return aj_infer_check_shape(in);
  case AJ_R_CALLBACK: return aj_infer_callback(in);
  case AJ_R_EXN: return aj_infer_exn(in);
  case AJ_R_EXN_BOOL: return aj_infer_exn_bool(in);
  case AJ_R_EXN_FIELD: return aj_infer_exn_field(in);
  case AJ_R_EXN_I64: return aj_infer_exn_i64(in);
  case AJ_R_KERNEL: return aj_infer_kernel(in);
  case AJ_R_LANE_INDEX: return push_scalar(in, ARRJIT_I64);
  }
  return aj_infer_fail(in, ARRJIT_INTERNAL, "rule %d has no function", (int)aj_ops[in->op].rule);
}
