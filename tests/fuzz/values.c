/* The values that steps choose from, and ops over them. */
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "layout.h"

bool is_symbolic(const arrjit_type *type) {
  for (int32_t i = 0; i < type->rank; i++)
    if (type->dims[i] < 0) return true;
  return false;
}

arrjit_type random_type(builder *b, arrjit_dtype dtype) {
  return b->in_map ? (arrjit_type){.dtype = dtype} : tk_random_type(dtype, &b->pick);
}

static size_t elements_of(const arrjit_type *type) {
  size_t count = 1;
  for (int32_t i = 0; i < type->rank; i++) count *= type->dims[i] < 0 ? 9 : (size_t)type->dims[i];
  return count;
}

void keep_value(builder *b, arrjit_value value) {
  arrjit_type type = arrjit_value_type(value);
  if (!value || type.rank < 0 || b->value_count == MAX_VALUES || elements_of(&type) > MAX_ELEMENTS) return;
  b->values[b->value_count++] = value;
}

void keep_exn(builder *b, arrjit_value exn) {
  if (exn && b->exn_count < MAX_EXNS) b->exns[b->exn_count++] = exn;
}

void keep_any(builder *b, arrjit_value value) {
  if (value && arrjit_value_type(value).rank < 0) {
    keep_exn(b, value);
  } else {
    keep_value(b, value);
  }
}

void note(builder *b, feature what) { b->s->features |= UINT64_C(1) << what; }

static bool same_type(const arrjit_type *a, const arrjit_type *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

arrjit_value constant_of(builder *b, const arrjit_type *type, tk_role role, int64_t bound) {
  arrjit_type scalar = {.dtype = type->dtype};
  bool filled = is_symbolic(type) || elements_of(type) > 200;
  const arrjit_type *made = filled ? &scalar : type;
  size_t count = tk_type_count(made);
  void *data = tk_new(count, arrjit_dtype_bytes(type->dtype));
  tk_fill(type->dtype, role, bound, tk_chance(&b->pick, 60), &b->pick, count, data);
  arrjit_value value = arrjit_const(b->g, made, data);
  free(data);
  return filled ? arrjit_full(b->g, value, type->rank, type->dims) : value;
}

arrjit_value value_of(builder *b, const arrjit_type *type) {
  size_t fits = 0;
  if (type->rank < 0) return any_exn(b);
  arrjit_value found = NULL;
  for (size_t i = 0; i < b->value_count; i++) {
    arrjit_type have = arrjit_value_type(b->values[i]);
    if (same_type(&have, type) && tk_below(&b->pick, ++fits) == 0) found = b->values[i];
  }
  if (found && tk_chance(&b->pick, 85)) return found;
  return constant_of(b, type, TK_DATA, 0);
}

arrjit_value any_value(builder *b) {
  /* later ones more often: so that computations get deep */
  size_t back = tk_below(&b->pick, 1 + tk_below(&b->pick, b->value_count));
  return b->values[b->value_count - 1 - back];
}

/* Rules whose uses do not depend on extents being numbers. */
static bool rule_takes_symbols(aj_rule rule) {
  return rule == AJ_R_SAME || rule == AJ_R_COMPARE || rule == AJ_R_CONVERT || rule == AJ_R_BITCAST ||
         rule == AJ_R_REDUCE || rule == AJ_R_TRANSPOSE || rule == AJ_R_SAME_AXES || rule == AJ_R_DIM_SIZE ||
         rule == AJ_R_ARG || rule == AJ_R_SELECT;
}

/* Rules whose uses are made with numbers in place of symbols, which come back afterwards. What a run then finds not to
 * fit is a failure, so these come seldomer. */
static bool rule_takes_stand_ins(aj_rule rule) {
  return rule == AJ_R_BROADCAST || rule == AJ_R_SLICE || rule == AJ_R_CONCAT || rule == AJ_R_DYNAMIC_SLICE ||
         rule == AJ_R_DYNAMIC_UPDATE_SLICE || rule == AJ_R_GATHER || rule == AJ_R_SCATTER || rule == AJ_R_TAKE ||
         rule == AJ_R_SORT || rule == AJ_R_SEARCH || rule == AJ_R_CUMULATIVE || rule == AJ_R_COMBINE ||
         rule == AJ_R_DOT || rule == AJ_R_SOLVE;
}

/* Extents that no type has otherwise, one for each dim: equal ones for equal symbols. */
static const int64_t stand_ins[] = {11, 13, 19};

static bool make_use(builder *b, aj_op op, const arrjit_type *x, tk_opcase *out) {
  arrjit_type type = *x;
  int64_t symbols[TK_COUNT(stand_ins)];
  size_t count = 0;
  if (!is_symbolic(x) || rule_takes_symbols(aj_ops[op].rule)) return tk_opcase_make(op, x, &b->pick, out);
  for (int32_t i = 0; i < type.rank; i++) {
    size_t k = 0;
    if (type.dims[i] >= 0) continue;
    while (k < count && symbols[k] != type.dims[i]) k++;
    if (k == TK_COUNT(stand_ins)) return false;
    if (k == count) symbols[count++] = type.dims[i];
    type.dims[i] = stand_ins[k];
  }
  if (!tk_opcase_make(op, &type, &b->pick, out)) return false;
  for (size_t k = 0; k < count; k++) tk_opcase_replace(out, stand_ins[k], symbols[k]);
  note(b, SYMBOLS);
  return true;
}

/* A value that the op can take as its main operand. */
static arrjit_value main_operand(builder *b, aj_op op) {
  for (int tries = 0; tries < 12; tries++) {
    arrjit_value value = any_value(b);
    arrjit_type type = arrjit_value_type(value);
    if (!tk_opcase_dtype(op, type.dtype)) continue;
    if (!is_symbolic(&type) || rule_takes_symbols(aj_ops[op].rule)) return value;
    if (rule_takes_stand_ins(aj_ops[op].rule) && tk_chance(&b->pick, 30)) return value;
  }
  arrjit_dtype dtype;
  do dtype = (arrjit_dtype)(1 + tk_below(&b->pick, AJ_DTYPE_COUNT - 1));
  while (!tk_opcase_dtype(op, dtype));
  arrjit_type type = random_type(b, dtype);
  return constant_of(b, &type, TK_DATA, 0);
}

/* A value whose extents may turn out to be those of the type: they differ only where one of the two is a symbol. NULL:
 * none. */
static arrjit_value maybe_equal(builder *b, const arrjit_type *type) {
  for (size_t i = b->value_count; i-- > 0;) {
    arrjit_type have = arrjit_value_type(b->values[i]);
    bool fits = have.dtype == type->dtype && have.rank == type->rank && !same_type(&have, type);
    for (int32_t k = 0; fits && k < have.rank; k++)
      fits = have.dims[k] == type->dims[k] || have.dims[k] < 0 || type->dims[k] < 0;
    if (fits) return b->values[i];
  }
  return NULL;
}

/* Inside a map are elementwise ops only: another one stands for any other. */
static aj_op fit_op(builder *b, aj_op op) {
  while (b->in_map && !(aj_ops[op].flags & AJ_F_ELEMENTWISE)) op = (aj_op)(1 + tk_below(&b->pick, AJ_OP_COUNT - 1));
  return op;
}

void build_op_step(builder *b, aj_op op) {
  op = fit_op(b, op);
  arrjit_value x = main_operand(b, op), in[TK_MAX_OPERANDS];
  arrjit_type type = arrjit_value_type(x);
  tk_opcase use;
  int tries = 0;
  while (!make_use(b, op, &type, &use) && tries++ < 4) {
    type = random_type(b, type.dtype);
    x = constant_of(b, &type, TK_DATA, 0);
  }
  if (tries > 4) return;
  for (size_t i = 0; i < use.count; i++) {
    arrjit_value checked = NULL;
    if ((aj_ops[op].flags & AJ_F_ELEMENTWISE) && tk_chance(&b->pick, 80)) checked = maybe_equal(b, &use.operands[i]);
    if (i > 0 && checked) {
      in[i] = checked;
    } else if (x && same_type(&use.operands[i], &type)) {
      in[i] = x;
      x = NULL;
    } else if (use.roles[i] == TK_DATA || tk_chance(&b->pick, 30)) {
      in[i] = value_of(b, &use.operands[i]);
    } else {
      in[i] = constant_of(b, &use.operands[i], use.roles[i], use.bounds[i]);
    }
  }
  keep_value(b, tk_build_op(b->g, op, use.count, in, &use.attrs));
}

static aj_op chain_op(builder *b, arrjit_dtype dtype) {
  for (;;) {
    aj_op op = (aj_op)(1 + tk_below(&b->pick, AJ_OP_COUNT - 1));
    bool fits = (aj_ops[op].flags & AJ_F_ELEMENTWISE) && !(aj_ops[op].flags & AJ_F_RAISES);
    if (fits && aj_ops[op].rule == AJ_R_SAME && tk_opcase_dtype(op, dtype)) return op;
  }
}

void build_chain(builder *b) {
  enum { LENGTH = 3 };
  arrjit_dtype dtype = tk_chance(&b->pick, 50) ? ARRJIT_F16 : ARRJIT_BF16;
  arrjit_type type = random_type(b, dtype);
  for (size_t i = 0; i < b->value_count; i++) { /* one that is there, where there is one */
    arrjit_type have = arrjit_value_type(b->values[i]);
    if (have.dtype == dtype && tk_chance(&b->pick, 60)) type = have;
  }
  arrjit_value x = value_of(b, &type);
  for (int i = 0; i < LENGTH && x; i++) {
    aj_op op = chain_op(b, dtype);
    arrjit_value in[TK_MAX_OPERANDS] = {x};
    size_t count = aj_ops[op].min_operands;
    for (size_t k = 1; k < count; k++) in[k] = value_of(b, &type);
    x = tk_build_op(b->g, op, count, in, &(tk_attrs){.dtype = dtype});
  }
  if (x) note(b, HALF_CHAIN);
  keep_value(b, x);
}
