/* What a node may do besides giving values: fail, or be seen by the host. */
#include "ir/module.h"

/* Whether a window of `size` always fits an extent. */
static bool fits_always(const aj_module *module, int64_t size, int64_t extent) {
  if (size == extent || size == 0) return true;
  if (size > 0) return extent >= size;
  const aj_symbol *symbol = &module->symbols.data[aj_dim_symbol(size)];
  return symbol->form == AJ_SYM_SUB && symbol->a == extent; /* extent minus something */
}

static bool windows_fit(const aj_node *node, const int64_t *sizes) {
  const aj_type *x = node->operands[0]->type;
  for (int32_t i = 0; i < x->rank; i++)
    if (!fits_always(node->operands[0]->region->func->module, sizes[i], x->dims[i])) return false;
  return true;
}

/* Equal products of the numbers, and the same symbols as often: then the number of elements is equal. */
static bool same_elements(const aj_type *x, const aj_attr *shape) {
  int64_t from = 1, to = 1;
  uint32_t taken = 0, symbols = 0;
  for (uint32_t i = 0; i < shape->count; i++) {
    if (shape->u.ints[i] < 0)
      symbols++;
    else if (!aj_i64_mul(to, shape->u.ints[i], &to))
      return false;
  }
  for (int32_t d = 0; d < x->rank; d++) {
    if (x->dims[d] >= 0) {
      if (!aj_i64_mul(from, x->dims[d], &from)) return false;
      continue;
    }
    uint32_t i = 0;
    while (i < shape->count && (shape->u.ints[i] != x->dims[d] || (taken >> i & 1))) i++;
    if (i == shape->count) return false;
    taken |= 1u << i;
    symbols--;
  }
  return symbols == 0 && from == to;
}

static bool is_nonzero_const(const aj_value *value) {
  const aj_node *def = value->def;
  return def && def->op == AJ_OP_CONST && *(const int64_t *)aj_node_attr(def, AJ_ATTR_VALUE)->u.bytes != 0;
}

bool aj_node_may_raise(const aj_node *node) {
  const aj_type *x = node->operand_count ? node->operands[0]->type : NULL;
  if (node->op == AJ_OP_ARGMIN || node->op == AJ_OP_ARGMAX) return x->dims[aj_node_int(node, AJ_ATTR_AXIS)] < 1;
  if (aj_ops[node->op].flags & AJ_F_RAISES) return true;
  if (node->op == AJ_OP_FOR) return !is_nonzero_const(node->operands[2]);
  if (node->op == AJ_OP_RESHAPE) return !same_elements(x, aj_node_attr(node, AJ_ATTR_SHAPE));
  if (node->op == AJ_OP_SLICE) return !windows_fit(node, aj_node_attr(node, AJ_ATTR_LIMIT)->u.ints);
  if (node->op == AJ_OP_DYNAMIC_SLICE || node->op == AJ_OP_GATHER)
    return !windows_fit(node, aj_node_attr(node, AJ_ATTR_SIZES)->u.ints);
  if (node->op == AJ_OP_DYNAMIC_UPDATE_SLICE) return !windows_fit(node, node->operands[1]->type->dims);
  if (node->op == AJ_OP_TAKE) return x->dims[aj_node_int(node, AJ_ATTR_AXIS)] < 1;
  return false;
}

/* Loops and calls are never quiet: a loop may not end, its iterations count against the limits of the run, and so do
 * the depth of a call and the memory of its callee. */
bool aj_node_is_quiet(const aj_node *node) {
  bool counts = node->op == AJ_OP_WHILE || node->op == AJ_OP_FOR || node->op == AJ_OP_CALL;
  return !counts && !(aj_ops[node->op].flags & AJ_F_EFFECT) && !aj_node_may_raise(node);
}

bool aj_node_is_pure(const aj_node *node) {
  if (!aj_node_is_quiet(node)) return false;
  if (node->region_count == 0) return true;
  aj_walk walk = {.func = node->parent->func, .region = node->parent, .pc = node->pc};
  for (const aj_node *next; (next = aj_walk_next(&walk)) && walk.region != node->parent;)
    if (!aj_node_is_quiet(next)) return false;
  return true;
}
