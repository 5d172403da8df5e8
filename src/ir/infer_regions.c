/* Result types of ops with regions: what their arms and bodies yield, and that region parameters are what is passed in.
 */
#include "ir/infer.h"

typedef struct arm_name {
  char s[24];
} arm_name;

static bool has_finally(const aj_infer *in) { return in->op == AJ_OP_TRY && aj_infer_attr(in, AJ_ATTR_FINALLY)->u.i; }

static arm_name name_arm(const aj_infer *in, uint32_t region) {
  arm_name name;
  const char *fixed = NULL;
  if (in->op == AJ_OP_IF) fixed = region ? "else" : "then";
  if (in->op == AJ_OP_WHILE) fixed = region ? "body" : "cond";
  if (in->op == AJ_OP_MAP) fixed = "lane";
  if (aj_ops[in->op].rule == AJ_R_COMBINE || aj_ops[in->op].rule == AJ_R_WINDOW)
    fixed = aj_infer_pair_name(in->op, region);
  if (in->op == AJ_OP_FOR || in->op == AJ_OP_KERNEL || (in->op == AJ_OP_TRY && region == 0)) fixed = "body";
  if (has_finally(in) && region && region + 1 == in->attrs_of->region_count) fixed = "finally";
  if (fixed)
    aj_bounded_printf(name.s, sizeof name.s, "%s", fixed);
  else if (in->op == AJ_OP_TRY)
    aj_bounded_printf(name.s, sizeof name.s, "handler %u", region - 1);
  else
    aj_bounded_printf(name.s, sizeof name.s, "case %u", region);
  return name;
}

arrjit_status aj_infer_expect_regions(aj_infer *in, uint32_t count) {
  if (in->attrs_of->region_count != count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "%u regions came; expected %u", in->attrs_of->region_count, count);
  for (uint32_t i = 0; i < count; i++)
    if (!aj_region_terminator(in->attrs_of->regions[i]))
      return aj_infer_fail(in, ARRJIT_GRAPH, "%s ends neither with yield nor with raise", name_arm(in, i).s);
  return ARRJIT_OK;
}

/* A region's parameters: `own` ones that the op gives, then one an operand from `first` on. */
static arrjit_status check_params(aj_infer *in, uint32_t region, uint32_t own, uint32_t first) {
  const aj_region *arm = in->attrs_of->regions[region];
  uint32_t passed = in->operand_count - first;
  if (arm->param_count != own + passed)
    return aj_infer_fail(in, ARRJIT_GRAPH, "%s has %u parameters; expected %u", name_arm(in, region).s,
                         arm->param_count, own + passed);
  for (uint32_t i = 0; i < passed; i++)
    if (!aj_type_equal(arm->params[own + i]->type, aj_infer_type(in, first + i)))
      return aj_infer_fail(in, ARRJIT_GRAPH, "parameter %u of %s is %s; expected %s", own + i, name_arm(in, region).s,
                           aj_infer_type_text(in, arm->params[own + i]->type).s,
                           aj_infer_type_text(in, aj_infer_type(in, first + i)).s);
  return ARRJIT_OK;
}

static aj_infer_text yields_text(const aj_infer *in, const aj_node *yield) {
  aj_infer yields = *in;
  yields.operands = yield->operands;
  aj_infer_text text = {"nothing"};
  return yield->operand_count ? aj_infer_types_text(&yields, 0, yield->operand_count) : text;
}

static bool yields_types(const aj_node *yield, uint32_t count, const aj_type *const *types) {
  if (yield->operand_count != count) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!aj_type_equal(yield->operands[i]->type, types[i])) return false;
  return true;
}

/* Results are what the arms yield; an arm that ends with a raise fits any. */
static arrjit_status merge_arms(aj_infer *in, uint32_t arms) {
  uint32_t first = arms;
  for (uint32_t i = 0; i < arms; i++) {
    const aj_node *end = aj_region_terminator(in->attrs_of->regions[i]);
    if (end->op != AJ_OP_YIELD) continue;
    if (first == arms) {
      first = i;
      for (uint32_t r = 0; r < end->operand_count; r++) AJ_TRY(aj_infer_push(in, end->operands[r]->type));
    } else if (!yields_types(end, (uint32_t)in->results.count, in->results.data)) {
      const aj_node *other = aj_region_terminator(in->attrs_of->regions[first]);
      return aj_infer_fail(in, ARRJIT_TYPE, "%s yields %s, but %s yields %s; expected the same types",
                           name_arm(in, first).s, yields_text(in, other).s, name_arm(in, i).s, yields_text(in, end).s);
    }
  }
  return ARRJIT_OK;
}

static arrjit_status infer_try(aj_infer *in) {
  const aj_attr *kinds = aj_infer_attr(in, AJ_ATTR_KINDS);
  int64_t finally = aj_infer_attr(in, AJ_ATTR_FINALLY)->u.i;
  if (finally != 0 && finally != 1)
    return aj_infer_fail(in, ARRJIT_GRAPH, "finally is %lld; expected 0 or 1", (long long)finally);
  if (kinds->count == 0 && !finally)
    return aj_infer_fail(in, ARRJIT_GRAPH, "it has neither a handler nor a finally, so it does nothing");
  AJ_TRY(aj_infer_expect_regions(in, 1 + kinds->count + (uint32_t)finally));
  AJ_TRY(check_params(in, 0, 0, 0));
  for (uint32_t i = 0; i < kinds->count; i++) {
    int64_t kind = kinds->u.ints[i];
    if (kind < 0 || kind > INT32_MAX || !aj_kinds_get(in->func->module->kinds, (arrjit_kind)kind))
      return aj_infer_fail(in, ARRJIT_MISUSE, "handler %u is for %lld, which is no kind of the context", i,
                           (long long)kind);
    AJ_TRY(check_params(in, 1 + i, 1, 0));
    if (!in->attrs_of->regions[1 + i]->params[0]->type->is_exn)
      return aj_infer_fail(in, ARRJIT_GRAPH, "handler %u has %s as its first parameter; expected exn", i,
                           aj_infer_type_text(in, in->attrs_of->regions[1 + i]->params[0]->type).s);
  }
  if (finally) {
    uint32_t last = 1 + kinds->count;
    const aj_node *end = aj_region_terminator(in->attrs_of->regions[last]);
    AJ_TRY(check_params(in, last, 0, 0));
    if (end->op == AJ_OP_YIELD && end->operand_count)
      return aj_infer_fail(in, ARRJIT_TYPE, "finally yields %s; expected nothing", yields_text(in, end).s);
  }
  return merge_arms(in, 1 + kinds->count);
}

arrjit_status aj_infer_regions(aj_infer *in) {
  uint32_t arms = in->attrs_of->region_count;
  if (in->op == AJ_OP_TRY) return infer_try(in);
  if (in->op == AJ_OP_IF) {
    arms = 2;
    AJ_TRY(aj_infer_predicate(in, aj_infer_type(in, 0), "pred", true));
  } else {
    const aj_type *index = aj_infer_type(in, 0);
    if (arms == 0) return aj_infer_fail(in, ARRJIT_GRAPH, "no case came; expected at least one");
    if (index->is_exn || index->rank || index->dtype != ARRJIT_I64)
      return aj_infer_fail(in, ARRJIT_TYPE, "index is %s; expected an i64 scalar: write convert(index, i64)",
                           aj_infer_type_text(in, index).s);
  }
  AJ_TRY(aj_infer_expect_regions(in, arms));
  for (uint32_t i = 0; i < arms; i++) AJ_TRY(check_params(in, i, 0, 1));
  return merge_arms(in, arms);
}

/* ---- loops ---- */

static arrjit_status check_condition(aj_infer *in) {
  aj_node *end = aj_region_terminator(in->attrs_of->regions[0]);
  if (end->op != AJ_OP_YIELD) return ARRJIT_OK;
  if (end->operand_count != 1)
    return aj_infer_fail(in, ARRJIT_TYPE, "cond yields %s; expected one bool scalar", yields_text(in, end).s);
  return aj_infer_predicate(in, end->operands[0]->type, "cond", true);
}

static arrjit_status check_for_bounds(aj_infer *in) {
  for (uint32_t i = 0; i < 3; i++) {
    const aj_type *type = aj_infer_type(in, i);
    if (type->is_exn || type->rank || type->dtype != ARRJIT_I64)
      return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; expected an i64 scalar: write convert(%s, i64)",
                           aj_infer_name_text(in, i).s, aj_infer_type_text(in, type).s, aj_infer_name_text(in, i).s);
  }
  return ARRJIT_OK;
}

arrjit_status aj_infer_loop(aj_infer *in) {
  bool is_for = in->op == AJ_OP_FOR;
  uint32_t first = is_for ? 3 : 0;
  int64_t carried = aj_infer_attr(in, AJ_ATTR_CARRIED)->u.i;
  if (carried < 0 || carried > (int64_t)in->operand_count - first)
    return aj_infer_fail(in, ARRJIT_GRAPH, "carried is %lld, but only %u operands came", (long long)carried,
                         in->operand_count);
  AJ_TRY(aj_infer_expect_regions(in, is_for ? 1 : 2));
  if (is_for) {
    AJ_TRY(check_for_bounds(in));
    AJ_TRY(check_params(in, 0, 1, first));
    const aj_type *index = in->attrs_of->regions[0]->params[0]->type;
    if (!aj_type_is_scalar(index) || index->dtype != ARRJIT_I64)
      return aj_infer_fail(in, ARRJIT_GRAPH, "parameter 0 of body is %s; expected i64",
                           aj_infer_type_text(in, index).s);
  } else {
    AJ_TRY(check_params(in, 0, 0, 0));
    AJ_TRY(check_params(in, 1, 0, 0));
    AJ_TRY(check_condition(in));
  }
  for (uint32_t i = 0; i < carried; i++) AJ_TRY(aj_infer_push(in, aj_infer_type(in, first + i)));
  const aj_node *end = aj_region_terminator(in->attrs_of->regions[is_for ? 0 : 1]);
  if (end->op != AJ_OP_YIELD || yields_types(end, (uint32_t)carried, in->results.data)) return ARRJIT_OK;
  aj_infer_text carries = carried ? aj_infer_types_text(in, first, (uint32_t)carried) : (aj_infer_text){"nothing"};
  return aj_infer_fail(in, ARRJIT_TYPE, "body yields %s, but %s is carried; carried values keep their types",
                       yields_text(in, end).s, carries.s);
}

/* ---- kernels ---- */

arrjit_status aj_infer_kernel(aj_infer *in) {
  uint32_t reduced;
  const aj_attr *shape = aj_infer_attr(in, AJ_ATTR_SHAPE), *combine = aj_infer_attr(in, AJ_ATTR_COMBINE);
  AJ_TRY(aj_infer_expect_regions(in, 1));
  if (shape->count > ARRJIT_MAX_RANK)
    return aj_infer_fail(in, ARRJIT_TYPE, "shape has %u dims; at most %d are allowed", shape->count, ARRJIT_MAX_RANK);
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_REDUCED, (int32_t)shape->count, &reduced));
  const aj_node *end = aj_region_terminator(in->attrs_of->regions[0]);
  if (end->op != AJ_OP_YIELD || end->operand_count != combine->count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "body does not yield one value an entry of combine, %u", combine->count);
  if (in->attrs_of->regions[0]->param_count != in->operand_count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "body does not have one parameter an operand, %u", in->operand_count);
  int64_t kept[ARRJIT_MAX_RANK];
  int32_t rank = 0;
  for (uint32_t i = 0; i < shape->count; i++)
    if (!(reduced >> i & 1)) kept[rank++] = shape->u.ints[i];
  for (uint32_t i = 0; i < combine->count; i++) {
    arrjit_dtype dtype = end->operands[i]->type->dtype;
    if (combine->u.ints[i] == AJ_OP_FIRST_FALSE)
      AJ_TRY(aj_infer_push_type(in, ARRJIT_I64, 0, NULL));
    else if (combine->u.ints[i])
      AJ_TRY(aj_infer_push_type(in, dtype, rank, kept));
    else
      AJ_TRY(aj_infer_push_type(in, dtype, (int32_t)shape->count, shape->u.ints));
  }
  return ARRJIT_OK;
}
