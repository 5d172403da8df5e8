/* Result types of calls, callbacks and failures. The symbols of a signature stand for what the arguments bring: they
 * are bound by the first parameter dim that names them, and everything else of the signature is said in the caller's
 * dims. What a callback decides on is a symbol of the node: its attribute `binds` is the number of the first. */
#include "ir/infer.h"

#include <string.h>

aj_signature aj_infer_signature(const aj_infer *in) {
  const aj_module *module = in->func->module;
  if (in->op == AJ_OP_CALL) {
    const aj_func *func = module->funcs.data[aj_infer_attr(in, AJ_ATTR_CALLEE)->u.i];
    return (aj_signature){func->name, func->param_count, func->result_count, func->param_types, func->result_types};
  }
  const aj_slot *slot = &module->slots.data[aj_infer_attr(in, AJ_ATTR_SLOT)->u.i];
  return (aj_signature){slot->name, slot->param_count, slot->result_count, slot->param_types, slot->result_types};
}

/* In a slot's signature an expression whose symbols no argument brings stands for the extent that comes, as a symbol
 * does: hosts make such types of values they have. */
static arrjit_status bind_expressions(aj_infer *in, const aj_signature *sig, int64_t *known) {
  for (uint32_t i = 0; i < sig->param_count; i++)
    for (int32_t d = 0; d < sig->params[i]->rank; d++) {
      int64_t dim = sig->params[i]->dims[d], said;
      if (!aj_dim_is_symbol(dim)) continue;
      aj_translate status = aj_dim_translate(in->func, false, known, dim, &said);
      if (status == AJ_TRANSLATE_MEMORY) return aj_error_memory(in->error, "symbolic extents");
      if (status == AJ_TRANSLATE_UNBOUND) known[aj_dim_symbol(dim)] = aj_infer_type(in, i)->dims[d];
    }
  return ARRJIT_OK;
}

/* Counts, dtypes, ranks first; then symbols that stand alone are bound. */
arrjit_status aj_infer_bind_params(aj_infer *in, const aj_signature *sig, int64_t *known) {
  const aj_module *module = in->func->module;
  if (in->operand_count != sig->param_count)
    return aj_infer_fail(in, ARRJIT_TYPE, "%u arguments for %s; expected %u", in->operand_count, sig->name,
                         sig->param_count);
  for (uint32_t i = 0; i < sig->param_count; i++) {
    const aj_type *param = sig->params[i], *arg = aj_infer_type(in, i);
    if (param->is_exn != arg->is_exn || param->dtype != arg->dtype || param->rank != arg->rank)
      return aj_infer_fail(in, ARRJIT_TYPE, "argument %u of %s is %s; expected %s", i, sig->name,
                           aj_infer_type_text(in, arg).s, aj_infer_type_text(in, param).s);
    for (int32_t d = 0; d < param->rank; d++) {
      if (!aj_dim_is_symbol(param->dims[d])) continue;
      uint32_t symbol = aj_dim_symbol(param->dims[d]);
      if (module->symbols.data[symbol].form < AJ_SYM_ADD && known[symbol] == AJ_DIM_UNKNOWN)
        known[symbol] = arg->dims[d];
    }
  }
  return in->op == AJ_OP_CALLBACK ? bind_expressions(in, sig, known) : ARRJIT_OK;
}

arrjit_status aj_infer_translate(aj_infer *in, int64_t *known, const aj_type *type, int64_t *out_dims) {
  for (int32_t d = 0; d < type->rank; d++) {
    if ((out_dims[d] = type->dims[d]) == ARRJIT_DYNAMIC_DIM) continue;
    switch (aj_dim_translate(in->func, false, known, type->dims[d], &out_dims[d])) {
    case AJ_TRANSLATE_OK: break;
    case AJ_TRANSLATE_MEMORY: return aj_error_memory(in->error, "symbolic extents");
    case AJ_TRANSLATE_UNBOUND:
      return aj_infer_fail(in, ARRJIT_TYPE, "extent %s of the signature is bound by no parameter",
                           aj_infer_dim_text(in, type->dims[d]).s);
    case AJ_TRANSLATE_RANGE:
      return aj_infer_fail(in, ARRJIT_TYPE, "extent %s of the signature is below 0 or out of range for these arguments",
                           aj_infer_dim_text(in, type->dims[d]).s);
    }
  }
  return ARRJIT_OK;
}

int64_t *aj_infer_known(const aj_infer *in, size_t *out_count) {
  size_t count = in->func->module->symbols.count + 1;
  int64_t *known = aj_mem_array(in->func->module->mem, count, sizeof *known);
  for (size_t i = 0; known && i < count; i++) known[i] = AJ_DIM_UNKNOWN;
  *out_count = count;
  return known;
}

static arrjit_status check_arguments(aj_infer *in, const aj_signature *sig, int64_t *known) {
  int64_t dims[ARRJIT_MAX_RANK];
  AJ_TRY(aj_infer_bind_params(in, sig, known));
  for (uint32_t i = 0; i < sig->param_count; i++) {
    const aj_type *arg = aj_infer_type(in, i);
    AJ_TRY(aj_infer_translate(in, known, sig->params[i], dims));
    if (arg->rank && memcmp(dims, arg->dims, (size_t)arg->rank * sizeof *dims) != 0)
      return aj_infer_fail(in, ARRJIT_TYPE, "argument %u of %s is %s; expected %s", i, sig->name,
                           aj_infer_type_text(in, arg).s, aj_infer_type_text(in, sig->params[i]).s);
  }
  return ARRJIT_OK;
}

/* Dims that the callback decides on become symbols of the node, numbered from *number on. */
static arrjit_status name_dynamic_dims(aj_infer *in, int32_t rank, int64_t *dims, uint32_t *number) {
  for (int32_t d = 0; d < rank; d++)
    if (dims[d] == ARRJIT_DYNAMIC_DIM && (dims[d] = aj_symbol_node(in->func, (*number)++)) == 0)
      return aj_error_memory(in->error, "symbolic extents");
  return ARRJIT_OK;
}

static arrjit_status push_translated(aj_infer *in, const aj_signature *sig, int64_t *known) {
  int64_t dims[ARRJIT_MAX_RANK];
  const aj_attr *binds = aj_infer_attr(in, AJ_ATTR_BINDS);
  uint32_t number = binds ? (uint32_t)binds->u.i : 0;
  for (uint32_t i = 0; i < sig->result_count; i++) {
    const aj_type *type = sig->results[i];
    AJ_TRY(aj_infer_translate(in, known, type, dims));
    AJ_TRY(name_dynamic_dims(in, type->rank, dims, &number));
    if (type->is_exn)
      AJ_TRY(aj_infer_push(in, type));
    else
      AJ_TRY(aj_infer_push_type(in, type->dtype, type->rank, dims));
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_call(aj_infer *in) {
  aj_signature sig = aj_infer_signature(in);
  size_t count;
  int64_t *known = aj_infer_known(in, &count);
  if (!known) return aj_error_memory(in->error, "symbolic extents");
  arrjit_status status = check_arguments(in, &sig, known);
  if (status == ARRJIT_OK) status = push_translated(in, &sig, known);
  aj_mem_free(in->func->module->mem, known, count * sizeof *known);
  return status;
}

arrjit_status aj_infer_callback(aj_infer *in) {
  const aj_slot *slot = &in->func->module->slots.data[aj_infer_attr(in, AJ_ATTR_SLOT)->u.i];
  const aj_attr *binds = aj_infer_attr(in, AJ_ATTR_BINDS);
  uint32_t count = aj_slot_all_dynamic_dims(slot);
  if ((count != 0) != (binds != NULL))
    return aj_infer_fail(in, ARRJIT_GRAPH, "slot %s decides on %u extents; expected %s attribute binds", slot->name,
                         count, count ? "the" : "no");
  if (binds && (binds->u.i < 0 || binds->u.i >= INT32_MAX - (int64_t)count))
    return aj_infer_fail(in, ARRJIT_GRAPH, "binds is %lld; expected the number of an extent", (long long)binds->u.i);
  AJ_TRY(aj_infer_call(in));
  for (uint32_t i = 0; !slot->is_value && i < in->operand_count; i++) AJ_TRY(aj_infer_push(in, aj_infer_type(in, i)));
  return ARRJIT_OK;
}

/* ---- failures ---- */

static bool fits_field(const aj_kind_field *field, arrjit_dtype dtype, int32_t rank) {
  return field->dtype == dtype && field->rank == rank;
}

/* Every placeholder of the message stands for one of `count` payload values, the lane's index included. */
static arrjit_status check_message(aj_infer *in, uint32_t count, bool with_lane) {
  const char *message = aj_infer_attr(in, AJ_ATTR_MESSAGE)->u.text;
  uint32_t greatest;
  if (!message || !aj_text_greatest_placeholder(message, &greatest) || greatest < count) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_MISUSE,
                       "message has {%u}, but there %s %u payload value%s%s; write {{ and }} for braces", greatest,
                       count == 1 ? "is" : "are", count, count == 1 ? "" : "s",
                       with_lane ? ", the index of the failing lane being the last" : "");
}

/* Operands from first on are a payload of the kind; with_lane: an i64 scalar follows them. */
static arrjit_status check_payload(aj_infer *in, uint32_t first, uint32_t count, bool with_lane) {
  const aj_kind_info *kind = aj_kinds_get(in->func->module->kinds, (arrjit_kind)aj_infer_attr(in, AJ_ATTR_KIND)->u.i);
  uint32_t total = count + with_lane;
  for (uint32_t i = 0; i < count; i++) {
    AJ_TRY(aj_infer_array(in, first + i));
    const aj_type *type = aj_infer_type(in, first + i);
    if (i < kind->field_count && !fits_field(&kind->fields[i], type->dtype, type->rank))
      return aj_infer_fail(in, ARRJIT_TYPE, "payload %u is %s; kind %s has %s of rank %d there", i,
                           aj_infer_type_text(in, type).s, kind->name, aj_dtypes[kind->fields[i].dtype].name,
                           kind->fields[i].rank);
  }
  bool lane_fits = !with_lane || count >= kind->field_count || fits_field(&kind->fields[count], ARRJIT_I64, 0);
  if (lane_fits && total >= kind->field_count && (kind->open || total == kind->field_count))
    return check_message(in, total, with_lane);
  return aj_infer_fail(in, ARRJIT_TYPE, "%u payload values%s; kind %s has %u fields%s", count,
                       with_lane ? " and the index of the failing lane, an i64" : "", kind->name, kind->field_count,
                       kind->open ? " or more" : "");
}

static arrjit_status expect_exn(aj_infer *in, uint32_t i) {
  if (aj_infer_type(in, i)->is_exn) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; expected an exception", aj_infer_name_text(in, i).s,
                       aj_infer_type_text(in, aj_infer_type(in, i)).s);
}

arrjit_status aj_infer_terminator(aj_infer *in) {
  if (in->op == AJ_OP_RAISE) return check_payload(in, 0, in->operand_count, false);
  if (in->op == AJ_OP_RAISE_EXN)
    for (uint32_t i = 0; i < in->operand_count; i++) AJ_TRY(expect_exn(in, i));
  return ARRJIT_OK;
}

arrjit_status aj_infer_check(aj_infer *in) {
  int64_t payload = aj_infer_attr(in, AJ_ATTR_PAYLOAD)->u.i;
  AJ_TRY(aj_infer_predicate(in, aj_infer_type(in, 0), "pred", false));
  if (payload < 0 || payload > (int64_t)in->operand_count - 1)
    return aj_infer_fail(in, ARRJIT_GRAPH, "payload is %lld, but only %u operands follow pred", (long long)payload,
                         in->operand_count - 1);
  AJ_TRY(check_payload(in, 1, (uint32_t)payload, aj_infer_type(in, 0)->rank > 0));
  for (uint32_t i = 1 + (uint32_t)payload; i < in->operand_count; i++) AJ_TRY(aj_infer_push(in, aj_infer_type(in, i)));
  return ARRJIT_OK;
}

arrjit_status aj_infer_check_shape(aj_infer *in) {
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE);
  AJ_TRY(aj_infer_dtype_set(in, 0));
  const aj_type *x = aj_infer_type(in, 0);
  AJ_TRY(aj_infer_count(in, AJ_ATTR_SHAPE, (uint32_t)x->rank, "the rank of x"));
  for (int32_t i = 0; i < x->rank; i++)
    if (x->dims[i] >= 0 && shape->u.ints[i] >= 0 && x->dims[i] != shape->u.ints[i])
      return aj_infer_fail(in, ARRJIT_TYPE, "x is %s; extent %lld of axis %d can never be %lld",
                           aj_infer_type_text(in, x).s, (long long)x->dims[i], i, (long long)shape->u.ints[i]);
  return aj_infer_push_type(in, x->dtype, x->rank, shape->u.ints);
}

arrjit_status aj_infer_exn(aj_infer *in) {
  if (in->op == AJ_OP_EXN_NEW)
    AJ_TRY(check_payload(in, 0, in->operand_count, false));
  else
    AJ_TRY(expect_exn(in, 0));
  return aj_infer_push(in, aj_module_exn_type(in->func->module));
}

arrjit_status aj_infer_exn_bool(aj_infer *in) {
  AJ_TRY(expect_exn(in, 0));
  return aj_infer_push_type(in, ARRJIT_BOOL, 0, NULL);
}

arrjit_status aj_infer_exn_i64(aj_infer *in) {
  AJ_TRY(expect_exn(in, 0));
  return aj_infer_push_type(in, ARRJIT_I64, 0, NULL);
}

arrjit_status aj_infer_exn_field(aj_infer *in) {
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE);
  int64_t field = aj_infer_attr(in, AJ_ATTR_FIELD)->u.i;
  AJ_TRY(expect_exn(in, 0));
  if (field < 0) return aj_infer_fail(in, ARRJIT_TYPE, "field is %lld; expected at least 0", (long long)field);
  for (uint32_t i = 0; i < shape->count; i++)
    if (shape->u.ints[i] < 0) return aj_infer_fail(in, ARRJIT_TYPE, "the type of a field has no symbolic extents");
  AJ_TRY(aj_infer_push_type(in, ARRJIT_BOOL, 0, NULL));
  return aj_infer_push_type(in, (arrjit_dtype)aj_infer_attr(in, AJ_ATTR_DTYPE)->u.i, (int32_t)shape->count,
                            shape->u.ints);
}
