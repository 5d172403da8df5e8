/* Which EXPAND op is made of what; mean, which is a reduction and so not elementwise; 16-bit floats by way of f32. */
#include "sem/expand.h"

#include "sem/routine.h"

V aj_expand_const(aj_expander *b, arrjit_dtype dtype, const void *element) {
  V scalar = aj_build_scalar(b->builder, dtype, element);
  if (scalar == NULL || b->shape->rank == 0) return scalar;
  return aj_build_broadcast_to(b->builder, scalar, b->shape->rank, b->shape->dims);
}

V aj_expand_cast(aj_expander *b, aj_op op, V x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, (int64_t)dtype);
  return aj_build1(b->builder, op, 1, &x, 1, &attr);
}

/* Number of elements that one result of a mean is of, as a scalar of x's dtype: known, or from the extents at run time.
 */
static V count_elements(aj_builder *b, V x, const aj_attr *axes) {
  int64_t known = 1;
  V product = NULL;
  for (uint32_t i = 0; i < axes->count; i++) {
    int64_t dim = x->type->dims[axes->u.ints[i]];
    if (!aj_dim_is_symbol(dim)) {
      /* Wraps only where the array, and with it the result, is empty. */
      known = (int64_t)((uint64_t)known * (uint64_t)dim);
      continue;
    }
    const aj_attr axis = aj_attr_int(AJ_ATTR_AXIS, axes->u.ints[i]);
    V size = aj_build1(b, AJ_OP_DIM_SIZE, 1, &x, 1, &axis);
    product = product == NULL ? size : aj_build1(b, AJ_OP_MUL, 2, (V[]){product, size}, 0, NULL);
  }
  V count = aj_build_scalar(b, ARRJIT_I64, &known);
  if (product != NULL) count = aj_build1(b, AJ_OP_MUL, 2, (V[]){product, count}, 0, NULL);
  const aj_attr dtype = aj_attr_int(AJ_ATTR_DTYPE, (int64_t)x->type->dtype);
  return aj_build1(b, AJ_OP_CONVERT, 1, &count, 1, &dtype);
}

static V expand_mean(aj_builder *b, const aj_node *node, V x) {
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
  V sum = aj_build1(b, AJ_OP_REDUCE_SUM, 1, &x, 1, axes);
  V count = count_elements(b, x, axes);
  if (sum == NULL || count == NULL) return NULL;
  count = aj_build_broadcast_to(b, count, sum->type->rank, sum->type->dims);
  return aj_build1(b, AJ_OP_DIV, 2, (V[]){sum, count}, 0, NULL);
}

/* An EXPAND op that ops.def names and nobody wrote does not link. */
typedef V expand_function(aj_expander *b, const V *x);
typedef struct expansion {
  expand_function *function;
  bool wide; /* written for f64 alone; narrower floats are computed in it and rounded once more */
} expansion;
#define OWN(ID, name) [AJ_OP_##ID] = {aj_expand_##name, false},
#define WIDE(ID, name) [AJ_OP_##ID] = {aj_expand_##name, true},
#define AJ_EXPAND_SCALAR(ID, name)
#define AJ_EXPAND_VIEW(ID, name)
#define AJ_EXPAND_CONTROL(ID, name)
#define AJ_EXPAND_CALL(ID, name)
#define AJ_EXPAND_EXPAND(ID, name) AJ_EXPAND_ROW_##name(ID)
#define AJ_EXPAND_ROW_exp(ID) OWN(ID, exp)
#define AJ_EXPAND_ROW_log(ID) OWN(ID, log)
#define AJ_EXPAND_ROW_tanh(ID) OWN(ID, tanh)
#define AJ_EXPAND_ROW_sin(ID) OWN(ID, sin)
#define AJ_EXPAND_ROW_cos(ID) OWN(ID, cos)
#define AJ_EXPAND_ROW_exp2(ID) WIDE(ID, exp2)
#define AJ_EXPAND_ROW_exp10(ID) WIDE(ID, exp10)
#define AJ_EXPAND_ROW_expm1(ID) WIDE(ID, expm1)
#define AJ_EXPAND_ROW_log2(ID) WIDE(ID, log2)
#define AJ_EXPAND_ROW_log10(ID) WIDE(ID, log10)
#define AJ_EXPAND_ROW_log1p(ID) WIDE(ID, log1p)
#define AJ_EXPAND_ROW_tan(ID) WIDE(ID, tan)
#define AJ_EXPAND_ROW_asin(ID) WIDE(ID, asin)
#define AJ_EXPAND_ROW_acos(ID) WIDE(ID, acos)
#define AJ_EXPAND_ROW_atan(ID) WIDE(ID, atan)
#define AJ_EXPAND_ROW_atan2(ID) WIDE(ID, atan2)
#define AJ_EXPAND_ROW_pow(ID) WIDE(ID, pow)
#define AJ_EXPAND_ROW_sinh(ID) WIDE(ID, sinh)
#define AJ_EXPAND_ROW_cosh(ID) WIDE(ID, cosh)
#define AJ_EXPAND_ROW_asinh(ID) WIDE(ID, asinh)
#define AJ_EXPAND_ROW_acosh(ID) WIDE(ID, acosh)
#define AJ_EXPAND_ROW_atanh(ID) WIDE(ID, atanh)
#define AJ_EXPAND_ROW_cbrt(ID) WIDE(ID, cbrt)
#define AJ_EXPAND_ROW_rsqrt(ID) WIDE(ID, rsqrt)
#define AJ_EXPAND_ROW_hypot(ID) WIDE(ID, hypot)
#define AJ_EXPAND_ROW_logistic(ID) WIDE(ID, logistic)
#define AJ_EXPAND_ROW_erf(ID) WIDE(ID, erf)
#define AJ_EXPAND_ROW_erfc(ID) WIDE(ID, erfc)
#define AJ_EXPAND_ROW_erf_inv(ID) WIDE(ID, erf_inv)
#define AJ_EXPAND_ROW_tgamma(ID) WIDE(ID, tgamma)
#define AJ_EXPAND_ROW_lgamma(ID) WIDE(ID, lgamma)
#define AJ_EXPAND_ROW_digamma(ID) WIDE(ID, digamma)
#define AJ_EXPAND_ROW_mean(ID)
#define AJ_EXPAND_ROW_conj(ID) /* sem/complex.c */
static const expansion expansions[AJ_OP_COUNT] = {
#define OP(ID, name, operands, dtypes, rule, flags, attrs, routine, ...) AJ_EXPAND_##routine(ID, name)
#include "ir/ops.def"
#undef OP
};

/* What the op is computed in: 16-bit floats in f32 at least. */
static arrjit_dtype get_inner(const aj_node *node) {
  arrjit_dtype dtype = node->operands[0]->type->dtype;
  if (expansions[node->op].wide) return ARRJIT_F64;
  return aj_dtype_is_half(dtype) ? ARRJIT_F32 : dtype;
}

/* The op on operands that have the dtype it is computed in. */
static V expand_inner(aj_expander *b, const aj_node *node, const V *x) {
  expand_function *function = expansions[node->op].function;
  if (node->op == AJ_OP_MEAN) return x[0] == NULL ? NULL : expand_mean(b->builder, node, x[0]);
  if (function != NULL) return function(b, x);
  AJ_ASSERT(aj_ops[node->op].routine != AJ_ROUTINE_EXPAND);
  return aj_build1(b->builder, node->op, node->operand_count, x, node->attr_count, node->attrs);
}

/* C leaves it to the compiler which argument of a nested call is evaluated first, and so which node is made first. To
 * have the same graph whoever compiled the library, the order is that of a walk from the results: operands, left to
 * right, before their node; all of b->slow before the first select on one of them. */
static const aj_value *get_operand(const aj_expander *b, const aj_node *node, uint32_t k) {
  if (k < node->operand_count) return node->operands[k];
  bool chooses = node->op == AJ_OP_SELECT && b->slow[0] != NULL;
  k -= node->operand_count;
  for (size_t i = 0; chooses && k < AJ_COUNT(b->slow) && i < AJ_COUNT(b->slow); i++)
    if (node->operands[2] == b->slow[i]) return b->slow[k];
  return NULL;
}

void aj_expand_order(const aj_expander *b, aj_region *region, uint32_t first, uint32_t count,
                     aj_value *const *results) {
  enum { MOST = 1024 };
  struct {
    aj_node *node;
    uint32_t next;
  } stack[MOST];
  aj_node *ordered[MOST];
  bool placed[MOST] = {false};
  uint32_t made = region->node_count - first, depth = 0, done = 0, next_result = 0;
  AJ_ASSERT(made <= MOST);
  for (uint32_t i = 0; i < made; i++) region->nodes[first + i]->pc = i; /* for now */
  while (depth > 0 || next_result < count) {
    const aj_value *value =
        depth == 0 ? results[next_result++] : get_operand(b, stack[depth - 1].node, stack[depth - 1].next++);
    if (value == NULL) {
      ordered[done++] = stack[--depth].node;
      continue;
    }
    aj_node *node = value->def;
    if (node == NULL || node->pc >= made || region->nodes[first + node->pc] != node || placed[node->pc]) continue;
    placed[node->pc] = true;
    stack[depth].node = node;
    stack[depth++].next = 0;
  }
  for (uint32_t i = 0; i < done; i++) {
    region->nodes[first + i] = ordered[i];
    ordered[i]->pc = first + i;
  }
  region->node_count = first + done;
}

bool aj_sem_expands(const aj_node *node) {
  const aj_op_info *op = &aj_ops[node->op];
  if (op->lowering == AJ_LOWER_EXPAND) return true;
  return op->lowering != AJ_LOWER_FALLBACK && (op->flags & AJ_F_WIDENS) &&
         aj_dtype_is_half(node->operands[0]->type->dtype);
}

aj_value *aj_sem_expand(aj_builder *b, const aj_node *node) {
  uint32_t first = b->region->node_count;
  arrjit_dtype dtype = node->operands[0]->type->dtype, inner = get_inner(node);
  aj_expander expander = {.builder = b, .shape = node->operands[0]->type, .narrow = inner != dtype};
  V x[AJ_EXPAND_OPERANDS] = {NULL};
  AJ_ASSERT(node->operand_count <= AJ_EXPAND_OPERANDS);
  for (uint32_t i = 0; i < node->operand_count; i++)
    x[i] = inner != dtype ? x_convert(&expander, node->operands[i], inner) : node->operands[i];
  V result = expand_inner(&expander, node, x);
  if (inner != dtype && result != NULL) result = x_convert(&expander, result, dtype);
  if (result != NULL && b->region->node_count > first) aj_expand_order(&expander, b->region, first, 1, &result);
  return result;
}
