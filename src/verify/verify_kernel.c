/* The verifier: kernels (opt/kernel.h). Their regions hold scalar work only, and the host sees none of it. */
#include "verify/checker.h"

/* One list an operand: its rank, then (iteration dim or -1, offset, step) a dim. */
static bool check_maps(aj_checker *c, const aj_node *kernel) {
  const aj_attr *maps = aj_node_attr(kernel, AJ_ATTR_MAPS), *shape = aj_node_attr(kernel, AJ_ATTR_SHAPE);
  uint32_t at = 0;
  bool ok = true;
  for (uint32_t i = 0; ok && i < kernel->operand_count; i++) {
    int64_t rank = kernel->operands[i]->type->rank;
    ok = at < maps->count && maps->u.ints[at] == rank && maps->count - at > (uint64_t)rank * 3;
    for (int64_t d = 0; ok && d < rank; d++) {
      int64_t axis = maps->u.ints[at + 1 + 3 * d];
      ok = axis >= -1 && axis < (int64_t)shape->count;
    }
    at += 1 + 3 * (uint32_t)rank;
  }
  return (ok && at == maps->count) || aj_checker_fail(c, AJ_VERIFY_KERNEL_MAPS);
}

static bool is_kernel_op(const aj_node *node) { return aj_op_fits_map(node->op) || node->op == AJ_OP_LANE_INDEX; }

bool aj_checker_kernel(aj_checker *c, const aj_node *kernel) {
  const aj_region *region = kernel->regions[0];
  const aj_attr *combine = aj_node_attr(kernel, AJ_ATTR_COMBINE);
  for (uint32_t i = 0; i < region->param_count; i++) {
    const aj_type *param = region->params[i]->type, *operand = kernel->operands[i]->type;
    if (!aj_type_is_scalar(param) || operand->is_exn || param->dtype != operand->dtype)
      return aj_checker_fail(c, AJ_VERIFY_KERNEL_PARAM, i, aj_checker_type_text(c, param).s);
  }
  if (!check_maps(c, kernel)) return false;
  for (uint32_t i = 0; i < combine->count; i++) {
    int64_t op = combine->u.ints[i];
    bool known = op >= 0 && op < AJ_OP_COUNT;
    if (op != AJ_OP_NONE && (!known || aj_ops[op].lowering != AJ_LOWER_REDUCE))
      return aj_checker_fail(c, AJ_VERIFY_KERNEL_COMBINE, i, known ? aj_ops[op].name : "no op");
  }
  for (uint32_t pc = 0; pc < region->node_count; pc++) {
    c->node = region->nodes[pc];
    if (!is_kernel_op(c->node)) return aj_checker_fail(c, AJ_VERIFY_KERNEL_OP, aj_ops[c->node->op].name);
  }
  return true;
}
