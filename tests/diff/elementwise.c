/* Elementwise ops: every pair of special values, all lengths in all layouts through one function of an unknown extent;
 * then functions of fixed shapes whose operands are views, broadcasts and constants, so that maps and folding are seen
 * too. */
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "floats.h"
#include "numbers.h"

static const int64_t lengths[] = {0, 1, 7, 16, 33, 1000};

/* A use of the op on arrays of the type: one operand type after the other, all of one shape. */
static size_t operand_types(aj_op op, const arrjit_type *x, arrjit_type *out) {
  size_t count = aj_ops[op].min_operands;
  for (size_t i = 0; i < count; i++) out[i] = *x;
  if (aj_ops[op].rule == AJ_R_SELECT) out[0].dtype = ARRJIT_BOOL;
  return count;
}

/* Dtypes that the op can give: one, or every target of a conversion. */
static size_t targets(aj_op op, arrjit_dtype dtype, arrjit_dtype *out) {
  size_t count = 0;
  if (aj_ops[op].rule != AJ_R_CONVERT && aj_ops[op].rule != AJ_R_BITCAST) return out[0] = dtype, 1;
  for (arrjit_dtype d = ARRJIT_BOOL; d < AJ_DTYPE_COUNT; d++) {
    bool fits = d != ARRJIT_BOOL && aj_dtypes[d].bits == aj_dtypes[dtype].bits;
    if (op == AJ_OP_CHECKED_CONVERT && tk_is_complex(d)) continue; /* is refused */
    if (aj_ops[op].rule == AJ_R_CONVERT || fits) out[count++] = d;
  }
  return count;
}

static bool raises(aj_op op) { return aj_ops[op].flags & AJ_F_RAISES; }
static tk_role role_of(aj_op op, size_t operand) {
  bool shift = op == AJ_OP_SHL || op == AJ_OP_SHR_LOGICAL || op == AJ_OP_SHR_ARITH || op == AJ_OP_ROTL ||
               op == AJ_OP_CHECKED_SHL;
  return shift && operand == 1 ? TK_COUNT_OF_BITS : TK_DATA;
}

/* f(x0[n], x1[n], ...) = op(x0, x1, ...) to each target; `rank` 0: on scalars. */
static bool plain(diff *d, aj_op op, arrjit_dtype dtype, int32_t rank, arrjit_dtype target, diff_function *out) {
  arrjit_graph *g = diff_graph(d);
  arrjit_type x = {.dtype = dtype, .rank = rank, .dims = {rank ? arrjit_symbol(g, "n") : 0}}, types[TK_MAX_OPERANDS];
  arrjit_value in[TK_MAX_OPERANDS];
  size_t count = operand_types(op, &x, types);
  for (size_t i = 0; i < count; i++) in[i] = arrjit_param(g, "", &types[i]);
  tk_attrs attrs = {.dtype = target};
  arrjit_value made = tk_build_op(g, op, count, in, &attrs);
  arrjit_return(g, 1, &made, NULL);
  return diff_finish(d, g, op, dtype, out);
}

/* The i-th of all combinations of special values, one element an operand; three operands are sampled. */
static void combination(diff *d, aj_op op, const arrjit_type *types, size_t count, size_t i, char *const *out,
                        size_t at) {
  for (size_t k = 0; k < count; k++) {
    size_t specials = tk_special_count(types[k].dtype), width = arrjit_dtype_bytes(types[k].dtype);
    size_t which = count > 2 ? tk_below(&d->pick, specials) : i % specials;
    i /= specials;
    tk_special(types[k].dtype, which, out[k] + at * width);
    if (role_of(op, k) == TK_COUNT_OF_BITS && which % 2)
      tk_random_index(types[k].dtype, (int64_t)width * 8, &d->pick, out[k] + at * width);
  }
}

static void run_arrays(diff *d, aj_op op, arrjit_dtype dtype, const diff_function *function, const arrjit_type *types,
                       size_t operands, size_t lanes, char *const *data) {
  diff_inputs inputs = {0};
  for (size_t k = 0; k < operands; k++) {
    arrjit_type type = types[k];
    type.dims[0] = (int64_t)lanes;
    diff_add_data(d, &inputs, &type, TK_DENSE, data[k]);
  }
  diff_compare(d, op, dtype, function, &inputs);
  diff_release_inputs(&inputs);
}

/* Which lanes a checked op takes: asked one by one on scalars, where failures are compared too. Keeps those in `data`.
 */
static size_t keep_good_lanes(diff *d, aj_op op, arrjit_dtype dtype, arrjit_dtype target, const arrjit_type *types,
                              size_t operands, size_t lanes, char *const *data) {
  diff_function function;
  size_t good = 0;
  if (!plain(d, op, dtype, 0, target, &function)) return 0;
  for (size_t i = 0; i < lanes; i++) {
    diff_inputs inputs = {0};
    for (size_t k = 0; k < operands; k++) {
      arrjit_type type = {.dtype = types[k].dtype};
      diff_add_data(d, &inputs, &type, TK_DENSE, data[k] + i * arrjit_dtype_bytes(type.dtype));
    }
    if (!d->quick || i % 8 == 0) diff_compare(d, op, dtype, &function, &inputs);
    tk_outcome o;
    tk_call call = {.input_count = operands, .inputs = inputs.arrays};
    tk_run_mode(d->context, function.at[0], TK_INTERP, &call, &o);
    for (size_t k = 0; o.ok && k < operands; k++) {
      size_t width = arrjit_dtype_bytes(types[k].dtype);
      memmove(data[k] + good * width, data[k] + i * width, width);
    }
    good += o.ok;
    tk_outcome_free(&o);
    diff_release_inputs(&inputs);
  }
  diff_release_function(&function);
  return good;
}

static void special_values(diff *d, aj_op op, arrjit_dtype dtype, arrjit_dtype target, const diff_function *function) {
  arrjit_type x = {.dtype = dtype, .rank = 1}, types[TK_MAX_OPERANDS];
  size_t operands = operand_types(op, &x, types), lanes = 1;
  for (size_t k = 0; k < operands; k++) lanes *= tk_special_count(types[k].dtype);
  if (lanes > 4096) lanes = 4096;
  char *data[TK_MAX_OPERANDS] = {NULL};
  for (size_t k = 0; k < operands; k++) data[k] = tk_new(lanes, arrjit_dtype_bytes(types[k].dtype));
  for (size_t i = 0; i < lanes; i++) combination(d, op, types, operands, i, data, i);
  run_arrays(d, op, dtype, function, types, operands, lanes, data);
  if (raises(op)) {
    lanes = keep_good_lanes(d, op, dtype, target, types, operands, lanes, data);
    run_arrays(d, op, dtype, function, types, operands, lanes, data);
  }
  for (size_t k = 0; k < operands; k++) free(data[k]);
}

static void lengths_and_layouts(diff *d, aj_op op, arrjit_dtype dtype, const diff_function *function) {
  arrjit_type x = {.dtype = dtype, .rank = 1}, types[TK_MAX_OPERANDS];
  size_t operands = operand_types(op, &x, types);
  for (size_t n = 0; n < TK_COUNT(lengths); n++)
    for (int layout = 0; layout < TK_LAYOUTS; layout++) {
      diff_inputs inputs = {0};
      for (size_t k = 0; k < operands; k++) {
        types[k].dims[0] = lengths[n];
        /* neighbours get different layouts, and checked ops now and then numbers that pass */
        tk_layout mine = (tk_layout)(((size_t)layout + k) % TK_LAYOUTS);
        diff_add(d, &inputs, &types[k], role_of(op, k), 0, raises(op) && (n + (size_t)layout) % 3, mine);
      }
      diff_compare(d, op, dtype, function, &inputs);
      diff_release_inputs(&inputs);
    }
}

/* Operand `k` in the way number `how`, of the shape [n]: itself, reversed, every second of a longer one, a column of a
 * transposed matrix, one element repeated, a constant. */
enum { WAYS = 6 };
static arrjit_value operand_in_a_way(diff *d, arrjit_graph *g, size_t how, const arrjit_type *type, tk_role role,
                                     bool tame, diff_inputs *inputs) {
  int64_t n = type->dims[0], zero = 0, two = 2, one = 1, twice = 2 * n;
  arrjit_type longer = arrjit_type_make(type->dtype, 1, &twice), single = {.dtype = type->dtype};
  arrjit_type matrix = arrjit_type_make(type->dtype, 2, (const int64_t[]){n, 3});
  const arrjit_type *needs[WAYS] = {type, type, &longer, &matrix, &single, type};
  if (how == WAYS - 1) {
    size_t count = (size_t)n;
    void *data = tk_new(count, arrjit_dtype_bytes(type->dtype));
    tk_fill(type->dtype, role, 0, tame, &d->pick, count, data);
    arrjit_value made = arrjit_const(g, type, data);
    free(data);
    return made;
  }
  arrjit_value x = arrjit_param(g, "", needs[how]);
  diff_add(d, inputs, needs[how], role, 0, tame, (tk_layout)tk_below(&d->pick, TK_LAYOUTS));
  if (how == 1) return arrjit_reverse(g, x, 1, &zero);
  if (how == 2) return arrjit_slice(g, x, 1, &zero, &twice, &two);
  if (how == 4) return x; /* the builder broadcasts it, unless all operands are scalars */
  if (how != 3) return x;
  arrjit_value turned = arrjit_transpose(g, x, 2, (const int64_t[]){1, 0});
  arrjit_value row =
      arrjit_slice(g, turned, 2, (const int64_t[]){one, 0}, (const int64_t[]){two, n}, (const int64_t[]){1, 1});
  return arrjit_reshape(g, row, 1, &n);
}

static void fixed_shapes(diff *d, aj_op op, arrjit_dtype dtype, arrjit_dtype target) {
  for (size_t n = 0; n < TK_COUNT(lengths); n++) {
    if (d->quick && lengths[n] != 7 && lengths[n] != 33) continue;
    arrjit_type x = arrjit_type_make(dtype, 1, &lengths[n]), types[TK_MAX_OPERANDS];
    size_t operands = operand_types(op, &x, types), built = 0;
    arrjit_graph *g = diff_graph(d);
    arrjit_value made[WAYS];
    diff_inputs inputs = {0};
    for (size_t way = 0; way < WAYS && inputs.count + operands <= TK_COUNT(inputs.arrays); way++) {
      arrjit_value in[TK_MAX_OPERANDS];
      for (size_t k = 0; k < operands; k++)
        in[k] =
            operand_in_a_way(d, g, k ? tk_below(&d->pick, WAYS) : way, &types[k], role_of(op, k), raises(op), &inputs);
      tk_attrs attrs = {.dtype = target};
      made[built++] = tk_build_op(g, op, operands, in, &attrs);
    }
    arrjit_return(g, built, made, NULL);
    diff_function function;
    if (diff_finish(d, g, op, dtype, &function)) {
      diff_compare(d, op, dtype, &function, &inputs);
      diff_release_function(&function);
    }
    diff_release_inputs(&inputs);
  }
}

void diff_elementwise(diff *d, aj_op op, arrjit_dtype dtype) {
  arrjit_dtype to[AJ_DTYPE_COUNT];
  size_t count = targets(op, dtype, to);
  for (size_t t = 0; t < count; t++) {
    diff_function function;
    if (!plain(d, op, dtype, 1, to[t], &function)) continue;
    special_values(d, op, dtype, to[t], &function);
    lengths_and_layouts(d, op, dtype, &function);
    diff_release_function(&function);
    fixed_shapes(d, op, dtype, to[t]);
  }
}
