/* One generator a rule of the op table; see opcase.h. */
#include "opcase.h"

#include <string.h>

#include "floats.h"

bool tk_opcase_covers(aj_op op) {
  if (aj_ops[op].rule == AJ_R_COMBINE || aj_ops[op].rule == AJ_R_WINDOW) return true;
  static const uint32_t other = AJ_F_REGIONS | AJ_F_TERMINATOR | AJ_F_EFFECT | AJ_F_INTERNAL;
  return op != AJ_OP_NONE && op != AJ_OP_CONST && !(aj_ops[op].flags & other) &&
         (aj_ops[op].dtypes || aj_ops[op].rule == AJ_R_IOTA) && aj_ops[op].rule != AJ_R_CHECK_SHAPE;
}

bool tk_opcase_dtype(aj_op op, arrjit_dtype dtype) {
  if (aj_ops[op].rule == AJ_R_IOTA || aj_ops[op].rule == AJ_R_BITCAST) return dtype != ARRJIT_BOOL;
  return aj_ops[op].dtypes >> dtype & 1;
}

static int64_t random_extent(tk_random *pick) {
  static const int64_t extents[] = {0, 1, 1, 2, 3, 3, 4, 5, 5, 7, 8, 9};
  return extents[tk_below(pick, TK_COUNT(extents))];
}

arrjit_type tk_random_type(arrjit_dtype dtype, tk_random *pick) {
  arrjit_type type = {.dtype = dtype, .rank = (int32_t)tk_below(pick, 4)};
  for (int32_t i = 0; i < type.rank; i++) type.dims[i] = random_extent(pick);
  return type;
}

static arrjit_type scalar(arrjit_dtype dtype) { return (arrjit_type){.dtype = dtype}; }

static arrjit_dtype random_integer(tk_random *pick) {
  static const arrjit_dtype dtypes[] = {ARRJIT_I64, ARRJIT_I32, ARRJIT_U8, ARRJIT_U64, ARRJIT_I16};
  return dtypes[tk_below(pick, TK_COUNT(dtypes))];
}

static void add(tk_opcase *c, arrjit_type type, tk_role role, int64_t bound) {
  c->operands[c->count] = type;
  c->roles[c->count] = role;
  c->bounds[c->count++] = bound;
}

/* The same shape, or one that broadcasts to it: fewer leading dims, some extents 1. */
static arrjit_type shape_below(const arrjit_type *x, arrjit_dtype dtype, tk_random *pick) {
  arrjit_type type = *x;
  type.dtype = dtype;
  if (tk_chance(pick, 70)) return type;
  int32_t drop = (int32_t)tk_below(pick, (uint64_t)x->rank + 1);
  type.rank -= drop;
  memmove(type.dims, type.dims + drop, (size_t)type.rank * sizeof *type.dims);
  for (int32_t i = 0; i < type.rank; i++)
    if (tk_chance(pick, 30)) type.dims[i] = 1;
  return type;
}

static bool is_shift(aj_op op) {
  return op == AJ_OP_SHL || op == AJ_OP_SHR_LOGICAL || op == AJ_OP_SHR_ARITH || op == AJ_OP_ROTL ||
         op == AJ_OP_CHECKED_SHL;
}

static void make_elementwise(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  size_t operands = aj_ops[c->op].min_operands;
  if (aj_ops[c->op].rule == AJ_R_SELECT) add(c, shape_below(x, ARRJIT_BOOL, pick), TK_DATA, 0), operands--;
  add(c, *x, TK_DATA, 0);
  for (size_t i = 1; i < operands; i++)
    add(c, shape_below(x, x->dtype, pick), is_shift(c->op) ? TK_COUNT_OF_BITS : TK_DATA, 0);
}

static bool make_bitcast(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  arrjit_dtype fits[AJ_DTYPE_COUNT];
  size_t count = 0;
  for (int d = 1; d < AJ_DTYPE_COUNT; d++)
    if (d != ARRJIT_BOOL && aj_dtypes[d].bits == aj_dtypes[x->dtype].bits) fits[count++] = (arrjit_dtype)d;
  add(c, *x, TK_DATA, 0);
  c->attrs.dtype = fits[tk_below(pick, count)];
  return true;
}

static bool make_iota(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  arrjit_type type = x->rank ? *x : arrjit_type_make(x->dtype, 1, (const int64_t[]){7});
  c->attrs.dtype = type.dtype;
  c->attrs.rank = type.rank;
  memcpy(c->attrs.dims, type.dims, sizeof type.dims);
  c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)type.rank);
  return true;
}

static void random_permutation(int64_t *out, size_t count, tk_random *pick) {
  for (size_t i = 0; i < count; i++) out[i] = (int64_t)i;
  for (size_t i = count; i > 1; i--) {
    size_t k = tk_below(pick, i);
    int64_t t = out[i - 1];
    out[i - 1] = out[k], out[k] = t;
  }
}

/* A subset of 0 .. rank - 1, ascending. */
static size_t random_subset(int64_t *out, int32_t rank, unsigned percent, tk_random *pick) {
  size_t count = 0;
  for (int32_t i = 0; i < rank; i++)
    if (tk_chance(pick, percent)) out[count++] = i;
  return count;
}

static bool make_broadcast(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  int64_t order[ARRJIT_MAX_RANK];
  add(c, *x, TK_DATA, 0);
  c->attrs.rank = x->rank + (int32_t)tk_below(pick, 3);
  c->attrs.axis_count = (size_t)x->rank;
  random_permutation(order, (size_t)c->attrs.rank, pick);
  for (int32_t i = 0; i < c->attrs.rank; i++) c->attrs.dims[i] = random_extent(pick);
  for (int32_t i = 0; i < x->rank; i++) {
    c->attrs.axes[i] = order[i];
    if (x->dims[i] != 1) c->attrs.dims[order[i]] = x->dims[i];
  }
  return true;
}

static bool make_reshape(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  int64_t left = 1;
  add(c, *x, TK_DATA, 0);
  for (int32_t i = 0; i < x->rank; i++) left *= x->dims[i];
  if (left == 0) {
    c->attrs.rank = 2;
    c->attrs.dims[tk_below(pick, 2)] = 3; /* the other stays 0 */
    return true;
  }
  for (int64_t factor = 2; factor <= 9 && c->attrs.rank < 3; factor++)
    if (left % factor == 0 && tk_chance(pick, 60)) c->attrs.dims[c->attrs.rank++] = factor, left /= factor;
  if (tk_chance(pick, 30)) c->attrs.dims[c->attrs.rank++] = 1;
  if (left > 1 || tk_chance(pick, 50)) c->attrs.dims[c->attrs.rank++] = left;
  return true;
}

static bool make_slice(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  add(c, *x, TK_DATA, 0);
  c->attrs.rank = x->rank;
  for (int32_t i = 0; i < x->rank; i++) {
    uint64_t extent = (uint64_t)x->dims[i];
    c->attrs.a[i] = (int64_t)tk_below(pick, extent + 1);
    c->attrs.b[i] = tk_chance(pick, 50) ? x->dims[i]
                                        : c->attrs.a[i] + (int64_t)tk_below(pick, extent - (uint64_t)c->attrs.a[i] + 1);
    c->attrs.c[i] = 1 + (int64_t)tk_below(pick, 3);
  }
  return true;
}

static bool make_concat(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  if (!x->rank) return false;
  c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)x->rank);
  size_t pieces = 1 + tk_below(pick, 3);
  for (size_t i = 0; i < pieces; i++) {
    arrjit_type type = *x;
    if (i) type.dims[c->attrs.axis] = random_extent(pick);
    add(c, type, TK_DATA, 0);
  }
  return true;
}

static bool make_pad(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  add(c, *x, TK_DATA, 0);
  add(c, scalar(x->dtype), TK_DATA, 0);
  c->attrs.rank = x->rank;
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t inner = (int64_t)tk_below(pick, 3), total = x->dims[i] + (x->dims[i] > 1 ? (x->dims[i] - 1) * inner : 0);
    c->attrs.c[i] = inner;
    c->attrs.a[i] = (int64_t)tk_below(pick, 4) - (total > 0 ? 1 : 0);
    if (c->attrs.a[i] < 0) total--;
    c->attrs.b[i] = (int64_t)tk_below(pick, 4) - (total > 0 ? 1 : 0);
  }
  return true;
}

static void random_window(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  c->attrs.rank = x->rank;
  for (int32_t i = 0; i < x->rank; i++) c->attrs.dims[i] = (int64_t)tk_below(pick, (uint64_t)x->dims[i] + 1);
}

static void add_starts(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  arrjit_dtype dtype = random_integer(pick);
  for (int32_t i = 0; i < x->rank; i++) add(c, scalar(dtype), TK_INDEX, x->dims[i] - c->attrs.dims[i] + 1);
}

static bool make_dynamic_slice(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  add(c, *x, TK_DATA, 0);
  random_window(c, x, pick);
  add_starts(c, x, pick);
  return true;
}

static bool make_dynamic_update_slice(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  add(c, *x, TK_DATA, 0);
  random_window(c, x, pick);
  add(c, arrjit_type_make(x->dtype, x->rank, c->attrs.dims), TK_DATA, 0);
  add_starts(c, x, pick);
  return true;
}

/* Dimension numbers for windows of x, with their sizes in dims; the type of the array that the windows lie in. */
static arrjit_type make_windows(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  tk_attrs *t = &c->attrs;
  int64_t order[ARRJIT_MAX_RANK], all[ARRJIT_MAX_RANK], batch_dims[ARRJIT_MAX_RANK], batch_of[ARRJIT_MAX_RANK];
  t->rank = x->rank;
  random_permutation(order, (size_t)x->rank, pick);
  int64_t batched = x->rank > 1 && tk_chance(pick, 30) ? order[x->rank - 1] : -1;
  t->start_count = 1 + tk_below(pick, (uint64_t)(x->rank - (batched >= 0)));
  memcpy(t->start_map, order, t->start_count * sizeof *order);
  for (int32_t i = 0; i < x->rank; i++) {
    t->dims[i] = (int64_t)tk_below(pick, (uint64_t)x->dims[i] + 1);
    if (i == batched) t->dims[i] = 1;
    if (i != batched && x->dims[i] > 0 && tk_chance(pick, 50))
      t->dims[i] = 1, t->collapsed_axes[t->collapsed_count++] = i;
  }
  int32_t batch = (int32_t)tk_below(pick, 3);
  if (batched >= 0 && batch == 0) batch = 1;
  for (int32_t i = 0; i < batch; i++) batch_dims[i] = 1 + (int64_t)tk_below(pick, 4), batch_of[i] = -1;
  if (batched >= 0) {
    uint64_t place = tk_below(pick, (uint64_t)batch);
    batch_dims[place] = x->dims[batched];
    batch_of[place] = batched;
  }
  arrjit_type indices = {.dtype = random_integer(pick)};
  bool implicit = t->start_count == 1 && tk_chance(pick, 50);
  t->axis = implicit ? batch : (int64_t)tk_below(pick, (uint64_t)batch + 1);
  for (int32_t i = 0, b = 0; i < batch + !implicit; i++) {
    bool components = !implicit && i == t->axis;
    if (!components && batch_of[b] >= 0) {
      t->lhs_batch[t->batch_count] = batched;
      t->rhs_batch[t->batch_count++] = i;
    }
    indices.dims[indices.rank++] = components ? (int64_t)t->start_count : batch_dims[b++];
  }
  add(c, *x, TK_DATA, 0);
  add(c, indices, TK_INDEX, x->dims[t->start_map[0]] - t->dims[t->start_map[0]] + 1);
  /* window axes go anywhere among those of the other array, in order */
  arrjit_type other = {.dtype = x->dtype};
  int32_t windows = x->rank - (int32_t)t->collapsed_count - (batched >= 0);
  other.rank = batch + windows;
  random_permutation(all, (size_t)other.rank, pick);
  uint32_t chosen = 0, dropped = batched >= 0 ? 1u << batched : 0;
  for (size_t i = 0; i < t->collapsed_count; i++) dropped |= 1u << t->collapsed_axes[i];
  for (int32_t i = 0; i < windows; i++) chosen |= 1u << all[i];
  for (int32_t i = 0, b = 0, w = 0; i < other.rank; i++) {
    if (!(chosen >> i & 1)) {
      other.dims[i] = batch_dims[b++];
      continue;
    }
    while (dropped >> w & 1) w++;
    other.dims[i] = t->dims[w++];
    t->offset_axes[t->offset_count++] = i;
  }
  return other;
}

static bool make_gather(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  if (!x->rank) return false;
  make_windows(c, x, pick);
  return true;
}

static bool make_scatter(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  if (!x->rank) return false;
  add(c, make_windows(c, x, pick), TK_DATA, 0);
  return true;
}

static bool make_take(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  if (!x->rank) return false;
  c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)x->rank);
  add(c, *x, TK_DATA, 0);
  arrjit_type indices = tk_random_type(random_integer(pick), pick);
  if (indices.rank > 2) indices.rank = 2;
  add(c, indices, TK_INDEX, x->dims[c->attrs.axis]);
  return true;
}

/* Extents of both sides: batch, contracted and free dims, each side's in an order of its own. */
static bool make_dot(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  tk_attrs *t = &c->attrs;
  int64_t order[ARRJIT_MAX_RANK];
  arrjit_type rhs = {.dtype = x->dtype};
  random_permutation(order, (size_t)x->rank, pick);
  for (int32_t i = 0; i < x->rank; i++) {
    uint64_t what = tk_below(pick, 3); /* 2: free */
    if (what == 0) t->lhs_batch[t->batch_count++] = order[i];
    if (what == 1) t->lhs_contract[t->contract_count++] = order[i];
  }
  size_t shared = t->batch_count + t->contract_count, own = tk_below(pick, 3);
  rhs.rank = (int32_t)(shared + own);
  random_permutation(order, (size_t)rhs.rank, pick);
  for (int32_t i = 0; i < rhs.rank; i++) rhs.dims[i] = tk_chance(pick, 20) ? 17 : random_extent(pick);
  for (size_t i = 0; i < t->batch_count; i++) {
    t->rhs_batch[i] = order[i];
    rhs.dims[order[i]] = x->dims[t->lhs_batch[i]];
  }
  for (size_t i = 0; i < t->contract_count; i++) {
    t->rhs_contract[i] = order[t->batch_count + i];
    rhs.dims[t->rhs_contract[i]] = x->dims[t->lhs_contract[i]];
  }
  add(c, *x, TK_DATA, 0);
  add(c, rhs, TK_DATA, 0);
  return true;
}

/* x as [batch, spatial dims, features]. */
static bool make_conv(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  tk_attrs *t = &c->attrs;
  if (x->rank < 2) return false;
  arrjit_type rhs = {.dtype = x->dtype, .rank = x->rank};
  int64_t features = x->dims[x->rank - 1];
  t->rank = x->rank - 2;
  t->groups = features > 1 && tk_chance(pick, 50) ? features % 2 == 0 && tk_chance(pick, 50) ? 2 : features : 1;
  for (int32_t i = 0; i < t->rank; i++) {
    rhs.dims[i] = 1 + (int64_t)tk_below(pick, 3);
    t->c[i] = 1 + (int64_t)tk_below(pick, 2);
    t->a[i] = (int64_t)tk_below(pick, 4) - 1;
    t->b[i] = (int64_t)tk_below(pick, 4) - 1;
    t->base[i] = 1 + (int64_t)tk_below(pick, 2);
    t->spread[i] = 1 + (int64_t)tk_below(pick, 2);
  }
  rhs.dims[t->rank] = features / t->groups;
  rhs.dims[t->rank + 1] = t->groups * (tk_chance(pick, 20) ? 17 : random_extent(pick));
  add(c, *x, TK_DATA, 0);
  add(c, rhs, TK_DATA, 0);
  return true;
}

static bool make_fft(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  int64_t last = x->rank ? x->dims[x->rank - 1] : 0;
  if (!x->rank || (c->op == AJ_OP_IRFFT_LAST && last < 1)) return false;
  c->attrs.flag = tk_chance(pick, 40);
  c->attrs.rank = 1;
  c->attrs.dims[0] = 2 * last - 1 - c->attrs.flag;
  return add(c, *x, TK_DATA, 0), true;
}

/* x is the right side. */
static bool make_solve(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  if (x->rank < 2 || x->dims[x->rank - 2] > 100) return false;
  arrjit_type a = *x;
  a.dims[a.rank - 1] = a.dims[a.rank - 2];
  c->attrs.flag = tk_chance(pick, 40);
  add(c, a, TK_DATA, 0);
  add(c, *x, TK_DATA, 0);
  return true;
}

/* Square where the rule says so, by cutting or by leaving out. */
static bool make_factor(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  aj_rule rule = aj_ops[c->op].rule;
  arrjit_type a = *x;
  if (x->rank < 2 || x->dims[x->rank - 2] > 100) return false;
  if (rule == AJ_R_CHOLESKY || rule == AJ_R_EIGH) a.dims[a.rank - 1] = a.dims[a.rank - 2];
  c->attrs.flag = tk_chance(pick, 50);
  c->attrs.variant = tk_below(pick, 6);
  add(c, a, TK_DATA, 0);
  return true;
}

/* One or two arrays, their inits, a combiner by number. */
static bool make_combine(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  size_t args = 1 + tk_below(pick, 2);
  arrjit_type other = *x;
  other.dtype = (arrjit_dtype)(1 + tk_below(pick, AJ_DTYPE_COUNT - 1));
  add(c, *x, TK_DATA, 0);
  if (args == 2) add(c, other, TK_DATA, 0);
  c->attrs.reverse = tk_chance(pick, 40);
  if (c->op == AJ_OP_CUMULATIVE || c->op == AJ_OP_SORT_BY) {
    if (!x->rank) return false;
    c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)x->rank);
    add(c, scalar(x->dtype), TK_DATA, 0); /* what the region takes from outside */
    c->attrs.variant = tk_below(pick, 64);
    return true;
  }
  add(c, scalar(x->dtype), TK_DATA, 0);
  if (args == 2) add(c, scalar(other.dtype), TK_DATA, 0);
  c->attrs.axis_count = random_subset(c->attrs.axes, x->rank, 60, pick);
  c->attrs.variant = tk_below(pick, 64);
  return true;
}

/* Small windows with everything that they may have; where extents are not numbers, no dilation of the array. */
static bool make_window(tk_opcase *c, const arrjit_type *x, tk_random *pick) {
  bool scatters = c->op == AJ_OP_SELECT_AND_SCATTER, two = !scatters && tk_chance(pick, 40);
  arrjit_type other = *x;
  other.dtype = scatters ? x->dtype : (arrjit_dtype)(1 + tk_below(pick, AJ_DTYPE_COUNT - 1));
  c->attrs.rank = x->rank;
  c->attrs.variant = tk_below(pick, 64);
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t extent = x->dims[i];
    if (extent < 0) return false;
    c->attrs.dims[i] = 1 + (int64_t)tk_below(pick, 3);
    c->attrs.c[i] = 1 + (int64_t)tk_below(pick, 3);
    c->attrs.a[i] = (int64_t)tk_below(pick, 4) - 1;
    c->attrs.b[i] = (int64_t)tk_below(pick, 4) - 1;
    c->attrs.base[i] = 1 + (int64_t)tk_below(pick, 2);
    c->attrs.spread[i] = 1 + (int64_t)tk_below(pick, 2);
    if (!scatters) continue;
    int64_t over = extent + c->attrs.a[i] + c->attrs.b[i] - c->attrs.dims[i];
    other.dims[i] = over < 0 ? 0 : over / c->attrs.c[i] + 1;
  }
  add(c, *x, TK_DATA, 0);
  if (scatters || two) add(c, other, TK_DATA, 0);
  add(c, scalar(x->dtype), TK_DATA, 0);
  if (two) add(c, scalar(other.dtype), TK_DATA, 0);
  return true;
}

bool tk_opcase_make(aj_op op, const arrjit_type *x, tk_random *pick, tk_opcase *out) {
  *out = (tk_opcase){.op = op};
  tk_opcase *c = out;
  switch (aj_ops[op].rule) {
  case AJ_R_IOTA: return make_iota(c, x, pick);
  case AJ_R_FULL: {
    arrjit_type shape = tk_random_type(x->dtype, pick);
    c->attrs.rank = shape.rank;
    memcpy(c->attrs.dims, shape.dims, sizeof shape.dims);
    return add(c, scalar(x->dtype), TK_DATA, 0), true;
  }
  case AJ_R_DIM_SIZE:
  case AJ_R_ARG:
    if (!x->rank) return false;
    c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)x->rank);
    return add(c, *x, TK_DATA, 0), true;
  case AJ_R_CUMULATIVE:
    if (!x->rank) return false;
    c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)x->rank);
    c->attrs.reverse = tk_chance(pick, 40);
    return add(c, *x, TK_DATA, 0), true;
  case AJ_R_SAME:
  case AJ_R_PART:
  case AJ_R_COMPLEX:
  case AJ_R_COMPARE:
  case AJ_R_SELECT: return make_elementwise(c, x, pick), true;
  case AJ_R_SORT:
    if (!x->rank) return false;
    c->attrs.axis = (int64_t)tk_below(pick, (uint64_t)x->rank);
    c->attrs.flag = tk_chance(pick, 50);
    return add(c, *x, TK_DATA, 0), true;
  case AJ_R_SEARCH: { /* any order will do: what is found is the same everywhere */
    arrjit_type values = tk_random_type(x->dtype, pick);
    if (x->rank != 1) return false;
    c->attrs.flag = tk_chance(pick, 50);
    add(c, *x, TK_DATA, 0);
    return add(c, values, TK_DATA, 0), true;
  }
  case AJ_R_CONVERT:
    do c->attrs.dtype = (arrjit_dtype)(1 + tk_below(pick, AJ_DTYPE_COUNT - 1));
    while (op == AJ_OP_CHECKED_CONVERT &&
           tk_is_complex(c->attrs.dtype)); /* no value of a complex dtype is checked for */
    return add(c, *x, TK_DATA, 0), true;
  case AJ_R_BITCAST: return make_bitcast(c, x, pick);
  case AJ_R_BROADCAST: return make_broadcast(c, x, pick);
  case AJ_R_RESHAPE: return make_reshape(c, x, pick);
  case AJ_R_TRANSPOSE:
    c->attrs.axis_count = (size_t)x->rank;
    random_permutation(c->attrs.axes, c->attrs.axis_count, pick);
    return add(c, *x, TK_DATA, 0), true;
  case AJ_R_SAME_AXES:
  case AJ_R_REDUCE:
    c->attrs.axis_count = random_subset(c->attrs.axes, x->rank, 60, pick);
    return add(c, *x, TK_DATA, 0), true;
  case AJ_R_COMBINE: return make_combine(c, x, pick);
  case AJ_R_WINDOW: return make_window(c, x, pick);
  case AJ_R_SLICE: return make_slice(c, x, pick);
  case AJ_R_CONCAT: return make_concat(c, x, pick);
  case AJ_R_PAD: return make_pad(c, x, pick);
  case AJ_R_DYNAMIC_SLICE: return make_dynamic_slice(c, x, pick);
  case AJ_R_DYNAMIC_UPDATE_SLICE: return make_dynamic_update_slice(c, x, pick);
  case AJ_R_GATHER: return make_gather(c, x, pick);
  case AJ_R_SCATTER: return make_scatter(c, x, pick);
  case AJ_R_TAKE: return make_take(c, x, pick);
  case AJ_R_DOT: return make_dot(c, x, pick);
  case AJ_R_CONV: return make_conv(c, x, pick);
  case AJ_R_FFT: return make_fft(c, x, pick);
  case AJ_R_SOLVE: return make_solve(c, x, pick);
  case AJ_R_CHOLESKY:
  case AJ_R_LU:
  case AJ_R_QR:
  case AJ_R_EIGH:
  case AJ_R_SVD: return make_factor(c, x, pick);
  case AJ_R_CONST:
  case AJ_R_REGIONS:
  case AJ_R_LOOP:
  case AJ_R_MAP:
  case AJ_R_CALL:
  case AJ_R_NONE:
  case AJ_R_CHECK:
  case AJ_R_CHECK_SHAPE:
  case AJ_R_CALLBACK:
  case AJ_R_EXN:
  case AJ_R_EXN_BOOL:
  case AJ_R_EXN_FIELD:
  case AJ_R_EXN_I64:
  case AJ_R_KERNEL:
  case AJ_R_LANE_INDEX: break;
  }
  return false;
}

void tk_opcase_replace(tk_opcase *c, int64_t stand_in, int64_t dim) {
  for (size_t i = 0; i < c->count; i++)
    for (int32_t d = 0; d < c->operands[i].rank; d++)
      if (c->operands[i].dims[d] == stand_in) c->operands[i].dims[d] = dim;
  for (int32_t d = 0; d < c->attrs.rank; d++) {
    if (c->attrs.dims[d] == stand_in) c->attrs.dims[d] = dim;
    if (aj_ops[c->op].rule == AJ_R_SLICE && c->attrs.b[d] == stand_in) c->attrs.b[d] = dim;
  }
}
