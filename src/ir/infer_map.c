/* Regions that run on scalars: map's, lane by lane, and combiners. Their result types, and what may stand inside. */
#include <string.h>

#include "ir/infer.h"

/* ---- what may stand inside ---- */

bool aj_op_fits_map(aj_op op) {
  aj_rule rule = aj_ops[op].rule;
  bool control = rule == AJ_R_REGIONS || rule == AJ_R_LOOP || rule == AJ_R_CHECK || rule == AJ_R_NONE;
  bool exn = rule == AJ_R_EXN || rule == AJ_R_EXN_BOOL || rule == AJ_R_EXN_FIELD || rule == AJ_R_EXN_I64;
  return control || exn || op == AJ_OP_CONST || (aj_ops[op].flags & AJ_F_ELEMENTWISE);
}

static arrjit_status refuse_in_combiner(aj_infer *in, aj_lane_kind kind) {
  uint32_t flags = aj_ops[in->op].flags;
  if (flags & (AJ_F_RAISES | AJ_F_EFFECT))
    return aj_infer_fail(in, ARRJIT_MISUSE,
                         "has an effect: it may fail or reach the host, and a %s is called as often and in whatever "
                         "place the order of the %s asks for; check what goes in or what comes out",
                         aj_lane_name(kind), kind == AJ_LANE_COMBINER ? "reduction" : "op");
  return aj_infer_fail(in, ARRJIT_MISUSE, "has no place inside a %s, where elementwise ops on scalars are%s",
                       aj_lane_name(kind), flags & AJ_F_REGIONS ? "; write select" : "");
}

arrjit_status aj_infer_lane(aj_infer *in, aj_lane_kind kind, const aj_type *result) {
  bool plain = in->op == AJ_OP_CONST || in->op == AJ_OP_YIELD ||
               (aj_ops[in->op].flags & (AJ_F_ELEMENTWISE | AJ_F_RAISES)) == AJ_F_ELEMENTWISE;
  if (kind != AJ_LANE_MAP && !plain) return refuse_in_combiner(in, kind);
  if (kind == AJ_LANE_MAP && !aj_op_fits_map(in->op))
    return aj_infer_fail(in, ARRJIT_MISUSE,
                         "has no place inside a map, where elementwise ops on scalars, control flow and failures are");
  if (!result || result->is_exn || result->rank == 0) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "gives %s, but inside a %s there are scalars", aj_infer_type_text(in, result).s,
                       aj_lane_name(kind));
}

/* What the walk goes by: when the verifier asks, nobody has looked at inner regions yet. */
static bool is_linked(const aj_node *node) {
  const aj_region *parent = node->parent;
  if (node->op <= AJ_OP_NONE || node->op >= AJ_OP_COUNT || node->pc >= parent->node_count ||
      parent->nodes[node->pc] != node)
    return false;
  for (uint32_t i = 0; i < node->region_count; i++)
    if (node->regions[i]->owner != node || node->regions[i]->index != i) return false;
  return true;
}

/* The node as the one that is looked at, so that messages name it. */
static arrjit_status check_inside(aj_infer *in, aj_lane_kind kind, const aj_node *node) {
  if (!is_linked(node)) return aj_infer_fail(in, ARRJIT_GRAPH, "a node inside does not point back to its region");
  aj_infer inner = {.func = in->func, .op = node->op, .attrs_of = node, .error = in->error};
  AJ_TRY(aj_infer_lane(&inner, kind, NULL));
  for (uint32_t i = 0; i < node->result_count; i++) AJ_TRY(aj_infer_lane(&inner, kind, node->results[i].type));
  return ARRJIT_OK;
}

/* All nodes of a region and of those in it; the terminator comes last, and has no regions. */
static arrjit_status check_region(aj_infer *in, uint32_t index, aj_lane_kind kind) {
  const aj_region *region = in->attrs_of->regions[index];
  const aj_node *node = region->nodes[0], *last = aj_region_terminator(region);
  aj_walk walk = {.func = in->func, .region = (aj_region *)region};
  for (; node != last; node = aj_walk_next(&walk)) AJ_TRY(check_inside(in, kind, node));
  return check_inside(in, kind, last);
}

/* ---- what goes in ---- */

/* Operands [0, count) are arrays of one shape; operands from `first` on, which are captures, are scalars. */
static arrjit_status check_operands(aj_infer *in, uint32_t count, uint32_t first) {
  const aj_type *shape = aj_infer_type(in, 0);
  for (uint32_t i = 0; i < count; i++) {
    const aj_type *type = aj_infer_type(in, i);
    AJ_TRY(aj_infer_array(in, i));
    if (type->rank != shape->rank || memcmp(type->dims, shape->dims, (size_t)type->rank * sizeof *type->dims) != 0)
      return aj_infer_fail(in, ARRJIT_TYPE, "args are %s; expected equal shapes", aj_infer_types_text(in, 0, count).s);
  }
  for (uint32_t i = first; i < in->operand_count; i++)
    if (!aj_type_is_scalar(aj_infer_type(in, i)))
      return aj_infer_fail(in, ARRJIT_TYPE,
                           "%s comes from outside; only scalars may be captured, pass arrays as arguments",
                           aj_infer_type_text(in, aj_infer_type(in, i)).s);
  return ARRJIT_OK;
}

const char *aj_infer_pair_name(aj_op op, uint32_t region) {
  return op == AJ_OP_SORT_BY || (op == AJ_OP_SELECT_AND_SCATTER && region == 0) ? "comparator" : "combiner";
}

static const char *name_region(const aj_infer *in, uint32_t region) {
  return in->op == AJ_OP_MAP ? "lane" : aj_infer_pair_name(in->op, region);
}

/* Parameters [at, at + count) of a region are scalars of the dtypes of operands from `first` on. */
static arrjit_status check_params(aj_infer *in, uint32_t index, uint32_t at, uint32_t first, uint32_t count) {
  const char *name = name_region(in, index);
  const aj_region *region = in->attrs_of->regions[index];
  for (uint32_t i = 0; i < count; i++) {
    const aj_type *param = region->params[at + i]->type, *operand = aj_infer_type(in, first + i);
    if (!aj_type_is_scalar(param) || param->dtype != operand->dtype)
      return aj_infer_fail(in, ARRJIT_GRAPH, "parameter %u of %s is %s; expected a scalar of %s", at + i, name,
                           aj_infer_type_text(in, param).s, aj_dtypes[operand->dtype].name);
  }
  return ARRJIT_OK;
}

static arrjit_status expect_params(aj_infer *in, uint32_t index, uint32_t count) {
  uint32_t got = in->attrs_of->regions[index]->param_count;
  if (got == count) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_GRAPH, "%s has %u parameters; expected %u", name_region(in, index), got, count);
}

/* ---- the ops ---- */

arrjit_status aj_infer_map(aj_infer *in) {
  int64_t args = aj_infer_attr(in, AJ_ATTR_ARGS)->u.i;
  if (args < 1 || args > (int64_t)in->operand_count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "args is %lld, and %u operands came; expected at least one", (long long)args,
                         in->operand_count);
  AJ_TRY(aj_infer_expect_regions(in, 1));
  AJ_TRY(check_operands(in, (uint32_t)args, (uint32_t)args));
  AJ_TRY(expect_params(in, 0, in->operand_count));
  AJ_TRY(check_params(in, 0, 0, 0, in->operand_count));
  AJ_TRY(check_region(in, 0, AJ_LANE_MAP));
  const aj_node *end = aj_region_terminator(in->attrs_of->regions[0]);
  const aj_type *shape = aj_infer_type(in, 0);
  for (uint32_t i = 0; end->op == AJ_OP_YIELD && i < end->operand_count; i++) {
    const aj_type *type = end->operands[i]->type;
    if (!aj_type_is_scalar(type))
      return aj_infer_fail(in, ARRJIT_TYPE, "lane yields %s; expected a scalar", aj_infer_type_text(in, type).s);
    AJ_TRY(aj_infer_push_type(in, type->dtype, shape->rank, shape->dims));
  }
  return ARRJIT_OK;
}

/* Inits, operands from `first` on, have the dtypes of their args. */
static arrjit_status check_inits(aj_infer *in, uint32_t args, uint32_t first) {
  for (uint32_t i = 0; i < args; i++) {
    const aj_type *arg = aj_infer_type(in, i), *init = aj_infer_type(in, first + i);
    if (!aj_type_is_scalar(init) || init->dtype != arg->dtype)
      return aj_infer_fail(in, ARRJIT_TYPE, "init %u is %s; expected a scalar of %s, as its arg has", i,
                           aj_infer_type_text(in, init).s, aj_dtypes[arg->dtype].name);
  }
  return ARRJIT_OK;
}

/* The region takes two elements of each arg, then captures, operands from `first` on. */
static arrjit_status check_pairs(aj_infer *in, uint32_t index, aj_lane_kind kind, uint32_t args, uint32_t first) {
  uint32_t captures = in->operand_count - first;
  AJ_TRY(expect_params(in, index, 2 * args + captures));
  AJ_TRY(check_params(in, index, 0, 0, args));
  AJ_TRY(check_params(in, index, args, 0, args));
  AJ_TRY(check_params(in, index, 2 * args, first, captures));
  return check_region(in, index, kind);
}

static aj_infer_text yields_text(const aj_infer *in, const aj_node *end) {
  aj_infer_text text = {"nothing"};
  aj_infer yields = *in;
  yields.operands = end->operands;
  return end->operand_count ? aj_infer_types_text(&yields, 0, end->operand_count) : text;
}

/* A comparator yields whether the first of a pair goes before the second. */
static arrjit_status check_comparator(aj_infer *in, uint32_t args, uint32_t first) {
  AJ_TRY(check_pairs(in, 0, AJ_LANE_COMPARATOR, args, first));
  const aj_node *end = aj_region_terminator(in->attrs_of->regions[0]);
  const aj_type *type = end->operand_count == 1 ? end->operands[0]->type : NULL;
  if (type && aj_type_is_scalar(type) && type->dtype == ARRJIT_BOOL) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "comparator yields %s; expected bool, whether the left goes before the right",
                       yields_text(in, end).s);
}

/* A combiner yields one of each arg. */
static arrjit_status check_combiner(aj_infer *in, uint32_t index, uint32_t args, uint32_t first) {
  AJ_TRY(check_pairs(in, index, AJ_LANE_COMBINER, args, first));
  const aj_region *region = in->attrs_of->regions[index];
  const aj_node *end = aj_region_terminator(region);
  bool same = end->operand_count == args;
  for (uint32_t i = 0; same && i < args; i++) same = aj_type_equal(end->operands[i]->type, region->params[i]->type);
  if (same) return ARRJIT_OK;
  aj_infer wanted = *in;
  wanted.operands = region->params;
  return aj_infer_fail(in, ARRJIT_TYPE, "combiner yields %s; expected %s", yields_text(in, end).s,
                       aj_infer_types_text(&wanted, 0, args).s);
}

/* Along one axis; reverse is a flag. */
static arrjit_status check_scan(aj_infer *in) {
  int64_t reverse = aj_infer_attr(in, AJ_ATTR_REVERSE)->u.i;
  AJ_TRY(aj_infer_axis(in, aj_infer_type(in, 0)->rank));
  if (reverse == 0 || reverse == 1) return ARRJIT_OK;
  return aj_infer_fail(in, ARRJIT_TYPE, "reverse is %lld; expected 0 or 1", (long long)reverse);
}

arrjit_status aj_infer_cumulative(aj_infer *in) {
  AJ_TRY(aj_infer_dtype_set(in, 0));
  AJ_TRY(check_scan(in));
  return aj_infer_push(in, aj_infer_type(in, 0));
}

static arrjit_status push_folded(aj_infer *in, uint32_t args) {
  const aj_type *shape = aj_infer_type(in, 0);
  int64_t dims[ARRJIT_MAX_RANK];
  int32_t rank = 0;
  uint32_t set;
  AJ_TRY(aj_infer_axes(in, AJ_ATTR_AXES, shape->rank, &set));
  for (int32_t i = 0; i < shape->rank; i++)
    if (!(set >> i & 1)) dims[rank++] = shape->dims[i];
  for (uint32_t i = 0; i < args; i++) AJ_TRY(aj_infer_push_type(in, aj_infer_type(in, i)->dtype, rank, dims));
  return ARRJIT_OK;
}

/* Attribute args, and the operand that captures begin with, behind args and inits. */
static arrjit_status count_args(aj_infer *in, bool has_inits, uint32_t *out_count, uint32_t *out_first) {
  int64_t args = aj_infer_attr(in, AJ_ATTR_ARGS)->u.i, first = has_inits ? 2 * args : args;
  if (args < 1 || args > AJ_COMBINE_ARGS || first > (int64_t)in->operand_count)
    return aj_infer_fail(in, ARRJIT_GRAPH, "args is %lld, and %u operands came; expected 1 to %d args%s",
                         (long long)args, in->operand_count, AJ_COMBINE_ARGS, has_inits ? " and as many inits" : "");
  *out_count = (uint32_t)args;
  *out_first = (uint32_t)first;
  return ARRJIT_OK;
}

arrjit_status aj_infer_combine(aj_infer *in) {
  bool has_inits = in->op == AJ_OP_REDUCE;
  uint32_t count, first;
  AJ_TRY(count_args(in, has_inits, &count, &first));
  AJ_TRY(aj_infer_expect_regions(in, 1));
  AJ_TRY(check_operands(in, count, first));
  if (has_inits) AJ_TRY(check_inits(in, count, count));
  if (in->op == AJ_OP_SORT_BY) {
    AJ_TRY(check_comparator(in, count, first));
    AJ_TRY(aj_infer_axis(in, aj_infer_type(in, 0)->rank));
  } else {
    AJ_TRY(check_combiner(in, 0, count, first));
    if (has_inits) return push_folded(in, count);
    AJ_TRY(check_scan(in));
  }
  for (uint32_t i = 0; i < count; i++) AJ_TRY(aj_infer_push(in, aj_infer_type(in, i)));
  return ARRJIT_OK;
}

/* ---- windows ---- */

/* 1 where the op has no such attribute: a dilation. */
static int64_t get_entry(const aj_infer *in, aj_attr_name name, int32_t axis) {
  const aj_attr *attr = aj_infer_attr(in, name);
  return attr ? attr->u.ints[axis] : 1;
}

arrjit_status aj_infer_count_windows(aj_infer *in, int32_t entry, int32_t axis, int64_t size, int64_t *dim) {
  static const aj_attr_name positive[] = {AJ_ATTR_SIZES, AJ_ATTR_STEP, AJ_ATTR_BASE_DILATION, AJ_ATTR_WINDOW_DILATION};
  int64_t n[4] = {size}, low = get_entry(in, AJ_ATTR_LOW, entry), high = get_entry(in, AJ_ATTR_HIGH, entry);
  for (size_t i = 0; i < AJ_COUNT(positive); i++) {
    if (i > 0) n[i] = get_entry(in, positive[i], entry);
    if (n[i] < 1 || n[i] > INT32_MAX)
      return aj_infer_fail(in, ARRJIT_TYPE, "%s of axis %d is %lld; expected at least 1", aj_attrs[positive[i]].name,
                           axis, (long long)n[i]);
  }
  if (low < -INT32_MAX || low > INT32_MAX || high < -INT32_MAX || high > INT32_MAX)
    return aj_infer_fail(in, ARRJIT_TYPE, "the padding of axis %d is out of range", axis);
  if (*dim < 0 && n[2] != 1)
    return aj_infer_fail(in, ARRJIT_TYPE, "%s is %s; base_dilation needs an extent that is a number, axis %d has %s",
                         aj_infer_name_text(in, 0).s, aj_infer_type_text(in, aj_infer_type(in, 0)).s, axis,
                         aj_infer_dim_text(in, *dim).s);
  int64_t window = (n[0] - 1) * n[3] + 1, more = low + high - window;
  if (*dim < 0) { /* over / stride + 1 as one quotient: no windows where the window is too large */
    int64_t all = more + n[1];
    AJ_TRY(aj_infer_dim(in, all < 0 ? AJ_SYM_LESS : AJ_SYM_ADD, *dim, all < 0 ? -all : all, dim));
    return n[1] == 1 ? ARRJIT_OK : aj_infer_dim(in, AJ_SYM_FLOOR_DIV, *dim, n[1], dim);
  }
  int64_t over;
  if (!aj_i64_mul(*dim > 0 ? *dim - 1 : 0, n[2], &over) || !aj_i64_add(over + (*dim > 0), more, &over))
    return aj_infer_fail(in, ARRJIT_TYPE, "the dilation of axis %d is out of range", axis);
  *dim = over < 0 ? 0 : over / n[1] + 1;
  return ARRJIT_OK;
}

static arrjit_status count_all_windows(aj_infer *in, int64_t *dims) {
  static const aj_attr_name lists[] = {AJ_ATTR_SIZES, AJ_ATTR_STEP,          AJ_ATTR_LOW,
                                       AJ_ATTR_HIGH,  AJ_ATTR_BASE_DILATION, AJ_ATTR_WINDOW_DILATION};
  const aj_type *x = aj_infer_type(in, 0);
  for (size_t i = 0; i < AJ_COUNT(lists); i++)
    if (aj_infer_attr(in, lists[i])) AJ_TRY(aj_infer_count(in, lists[i], (uint32_t)x->rank, "the rank of x"));
  for (int32_t i = 0; i < x->rank; i++) {
    dims[i] = x->dims[i];
    AJ_TRY(aj_infer_count_windows(in, i, i, aj_infer_attr(in, AJ_ATTR_SIZES)->u.ints[i], &dims[i]));
  }
  return ARRJIT_OK;
}

static arrjit_status infer_reduce_window(aj_infer *in) {
  int64_t dims[ARRJIT_MAX_RANK];
  uint32_t count, first;
  AJ_TRY(count_args(in, true, &count, &first));
  AJ_TRY(aj_infer_expect_regions(in, 1));
  AJ_TRY(check_operands(in, count, first));
  AJ_TRY(check_inits(in, count, count));
  AJ_TRY(check_combiner(in, 0, count, first));
  AJ_TRY(count_all_windows(in, dims));
  for (uint32_t i = 0; i < count; i++)
    AJ_TRY(aj_infer_push_type(in, aj_infer_type(in, i)->dtype, aj_infer_type(in, 0)->rank, dims));
  return ARRJIT_OK;
}

static arrjit_status infer_select_and_scatter(aj_infer *in) {
  const aj_type *x = aj_infer_type(in, 0), *source = aj_infer_type(in, 1);
  int64_t dims[ARRJIT_MAX_RANK];
  AJ_TRY(aj_infer_expect_regions(in, 2));
  AJ_TRY(check_operands(in, 1, 3));
  AJ_TRY(aj_infer_array(in, 1));
  AJ_TRY(check_inits(in, 1, 2));
  AJ_TRY(check_comparator(in, 1, 3));
  AJ_TRY(check_combiner(in, 1, 1, 3));
  AJ_TRY(count_all_windows(in, dims));
  const aj_type *windows = aj_module_type(in->func->module, x->dtype, x->rank, dims);
  if (!windows) return aj_error_memory(in->error, "the types of a node");
  if (!aj_type_equal(source, windows))
    return aj_infer_fail(in, ARRJIT_TYPE, "source is %s; expected %s, an element for each window of x",
                         aj_infer_type_text(in, source).s, aj_infer_type_text(in, windows).s);
  return aj_infer_push(in, x);
}

arrjit_status aj_infer_window_op(aj_infer *in) {
  return in->op == AJ_OP_REDUCE_WINDOW ? infer_reduce_window(in) : infer_select_and_scatter(in);
}
