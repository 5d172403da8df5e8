/* Ops that move no element: a new shape and strides over the same data. */
#include "sem/routine.h"

/* Extents of the result under env; false: more bytes than there can be. */
static bool set_result_shape(const aj_node *node, const int64_t *env, const aj_view *in, aj_view *out) {
  bool fits = aj_view_from_type(out, node->results[0].type, env);
  out->data = in->data;
  return fits;
}

static bool view_broadcast(const aj_node *node, const aj_view *in, aj_view *out, aj_sem_fail *fail) {
  for (int32_t i = 0; i < out->rank; i++) out->strides[i] = 0;
  for (int32_t i = 0; i < in->rank; i++) {
    int64_t axis = aj_routine_int_at(node, AJ_ATTR_AXES, (uint32_t)i);
    if (in->dims[i] == out->dims[axis])
      out->strides[axis] = in->strides[i];
    else if (in->dims[i] != 1)
      aj_sem_fail_shape(fail, "broadcast: an extent is neither 1 nor that of the result");
  }
  return true;
}

/* Only of what is dense, or all one element: then the strides of the new shape say where things are. */
static bool view_reshape(const aj_view *in, aj_view *out, aj_sem_fail *fail) {
  if (aj_view_count(in) != aj_view_count(out)) {
    aj_sem_fail_shape(fail, "reshape: the number of elements changes");
    return true;
  }
  if (aj_view_is_dense(in)) return true;
  if (!aj_view_is_uniform(in)) return false;
  for (int32_t i = 0; i < out->rank; i++) out->strides[i] = 0;
  return true;
}

static void view_transpose(const aj_node *node, const aj_view *in, aj_view *out) {
  for (int32_t i = 0; i < out->rank; i++)
    out->strides[i] = in->strides[aj_routine_int_at(node, AJ_ATTR_AXES, (uint32_t)i)];
}

static void view_reverse(const aj_node *node, const aj_view *in, aj_view *out) {
  uint32_t axes = aj_routine_axis_set(node, AJ_ATTR_AXES);
  bool empty = aj_view_count(in) == 0;
  for (int32_t i = 0; i < out->rank; i++) {
    bool turned = (axes >> i & 1) != 0;
    out->strides[i] = turned ? -in->strides[i] : in->strides[i];
    if (turned && !empty) out->data += (in->dims[i] - 1) * in->strides[i];
  }
}

static void view_slice(const aj_node *node, const int64_t *env, const aj_view *in, aj_view *out, aj_sem_fail *fail) {
  bool empty = aj_view_count(out) == 0;
  for (int32_t i = 0; i < out->rank; i++) {
    int64_t start = aj_routine_int_at(node, AJ_ATTR_START, (uint32_t)i);
    int64_t limit = aj_dim_eval(aj_routine_int_at(node, AJ_ATTR_LIMIT, (uint32_t)i), env);
    int64_t step = aj_routine_int_at(node, AJ_ATTR_STEP, (uint32_t)i);
    int64_t extent = limit <= start ? 0 : (limit - start - 1) / step + 1;
    if (start < 0 || start > limit || limit > in->dims[i] || extent != out->dims[i]) {
      aj_sem_fail_shape(fail, "slice: the bounds do not fit the array");
      return;
    }
    out->strides[i] = extent > 1 ? in->strides[i] * step : in->strides[i]; /* any step fits one element */
    if (!empty) out->data += start * in->strides[i];
  }
}

bool aj_sem_view(const aj_node *node, const int64_t *env, const aj_view *in, aj_view *out, aj_sem_fail *fail) {
  fail->kind = ARRJIT_KIND_NONE;
  if (!set_result_shape(node, env, in, out)) {
    aj_sem_fail_shape(fail, "the result is larger than memory can be");
    return true;
  }
  if (node->op == AJ_OP_RESHAPE) return view_reshape(in, out, fail);
  if (node->op == AJ_OP_BROADCAST) return view_broadcast(node, in, out, fail);
  if (node->op == AJ_OP_TRANSPOSE) view_transpose(node, in, out);
  if (node->op == AJ_OP_REVERSE) view_reverse(node, in, out);
  if (node->op == AJ_OP_SLICE) view_slice(node, env, in, out, fail);
  if (node->op == AJ_OP_FULL)
    for (int32_t i = 0; i < out->rank; i++) out->strides[i] = 0;
  return true;
}
