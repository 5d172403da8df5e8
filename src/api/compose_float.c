/* Compositions of arrjit/compose.h on the bits of floats. */
#include "api/compose.h"
#include "arrjit/compose.h"

/* A float as IEEE 754 lays it out, in an integer of the same width. */
typedef struct layout {
  arrjit_dtype bits;
  int mantissa, exponent;
} layout;

static layout get_layout(arrjit_dtype dtype) {
  if (dtype == ARRJIT_F16) return (layout){ARRJIT_I16, 10, 5};
  if (dtype == ARRJIT_BF16) return (layout){ARRJIT_I16, 7, 8};
  return dtype == ARRJIT_F32 ? (layout){ARRJIT_I32, 23, 8} : (layout){ARRJIT_I64, 52, 11};
}

static int64_t get_infinity(const layout *l) { return ((INT64_C(1) << l->exponent) - 1) << l->mantissa; }

static aj_value *bitcast(arrjit_graph *graph, aj_value *x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, dtype);
  return x ? aj_build1(&graph->b, AJ_OP_BITCAST, 1, &x, 1, &attr) : NULL;
}

static aj_value *element(arrjit_graph *graph, arrjit_dtype dtype, int64_t value) {
  int32_t narrow = (int32_t)value;
  int16_t least = (int16_t)value;
  const void *from = dtype == ARRJIT_I16 ? (const void *)&least : dtype == ARRJIT_I32 ? (const void *)&narrow : &value;
  return aj_build_scalar(&graph->b, dtype, from);
}

/* x `op` a constant of its dtype */
static aj_value *with(arrjit_graph *graph, aj_op op, aj_value *x, int64_t value) {
  return x ? aj_compose_two(graph, op, x, element(graph, x->type->dtype, value)) : NULL;
}

static aj_value *select_of(arrjit_graph *graph, aj_value *pred, aj_value *x, aj_value *y) {
  if (!pred || !x || !y) return NULL;
  return aj_build_elementwise(&graph->b, AJ_OP_SELECT, 3, (aj_value *[]){pred, x, y}, 0, NULL);
}

/* ---- reduce_precision ---- */

/* To nearest even: half of the last kept place less one, and one more where that place is odd, carry into it. */
static aj_value *round_mantissa(arrjit_graph *graph, aj_value *u, int cut) {
  const int64_t unit = INT64_C(1) << cut;
  aj_value *odd = with(graph, AJ_OP_AND, with(graph, AJ_OP_SHR_LOGICAL, u, cut), 1);
  aj_value *moved = aj_compose_two(graph, AJ_OP_ADD, with(graph, AJ_OP_ADD, u, unit / 2 - 1), odd);
  return with(graph, AJ_OP_AND, moved, -unit);
}

static aj_value *limit_exponent(arrjit_graph *graph, aj_value *u, const layout *l, int64_t exponent_bits) {
  const int64_t bias = (INT64_C(1) << (l->exponent - 1)) - 1, half = (INT64_C(1) << (exponent_bits - 1)) - 1;
  const int64_t infinite = get_infinity(l);
  aj_value *sign = with(graph, AJ_OP_AND, u, INT64_MIN >> (63 - l->mantissa - l->exponent));
  aj_value *size = with(graph, AJ_OP_AND, u, infinite);
  aj_value *above = with(graph, AJ_OP_GT, size, (bias + half) << l->mantissa);
  aj_value *below = with(graph, AJ_OP_LE, size, (bias - half) << l->mantissa);
  u = select_of(graph, above, with(graph, AJ_OP_OR, sign, infinite), u);
  return select_of(graph, below, sign, u);
}

arrjit_value arrjit_reduce_precision(arrjit_graph *graph, arrjit_value x, int64_t exponent_bits,
                                     int64_t mantissa_bits) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *from = aj_compose_array(graph, AJ_OP_IS_NAN, 0, x);
  if (!from) return NULL;
  if (!(AJ_D_FLOAT >> from->type->dtype & 1)) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_IS_NAN, "x is %s; expected a float dtype",
                    aj_dtypes[from->type->dtype].name);
    return NULL;
  }
  if (exponent_bits < 1 || mantissa_bits < 0) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_IS_NAN,
                    "expected exponent_bits of at least 1 and mantissa_bits of at least 0");
    return NULL;
  }
  const layout l = get_layout(from->type->dtype);
  if (exponent_bits >= l.exponent && mantissa_bits >= l.mantissa) return x;
  aj_value *u = bitcast(graph, from, l.bits);
  if (mantissa_bits < l.mantissa) u = round_mantissa(graph, u, l.mantissa - (int)mantissa_bits);
  if (exponent_bits < l.exponent) u = limit_exponent(graph, u, &l, exponent_bits);
  const int64_t infinite = get_infinity(&l), quiet = infinite | INT64_C(1) << (l.mantissa - 1);
  aj_value *nan = aj_build1(&graph->b, AJ_OP_IS_NAN, 1, &from, 0, NULL);
  aj_value *held = element(graph, l.bits, mantissa_bits ? quiet : infinite); /* without a mantissa there is no NaN */
  return aj_host_value(bitcast(graph, select_of(graph, nan, held, u), from->type->dtype));
}

/* ---- compare_total ---- */

/* An integer in whose order floats are totally ordered: the bits, those below the sign turned over when it is set. */
static aj_value *order_key(arrjit_graph *graph, aj_value *x) {
  if (!(AJ_D_FLOAT >> x->type->dtype & 1)) return x;
  const layout l = get_layout(x->type->dtype);
  const int width = l.mantissa + l.exponent;
  aj_value *u = bitcast(graph, x, l.bits);
  aj_value *mask = with(graph, AJ_OP_SHR_LOGICAL, with(graph, AJ_OP_SHR_ARITH, u, width), 1);
  return aj_compose_two(graph, AJ_OP_XOR, u, mask);
}

static aj_value *as_number(arrjit_graph *graph, aj_value *pred) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, ARRJIT_I32);
  return pred ? aj_build1(&graph->b, AJ_OP_CONVERT, 1, &pred, 1, &attr) : NULL;
}

arrjit_value arrjit_compare_total(arrjit_graph *graph, arrjit_value x, arrjit_value y) {
  if (!aj_graph_ready(graph)) return NULL;
  aj_value *a = aj_compose_array(graph, AJ_OP_MIN, 0, x), *b = a ? aj_compose_array(graph, AJ_OP_MIN, 1, y) : NULL;
  if (!b) return NULL;
  if (a->type->dtype != b->type->dtype) {
    aj_builder_fail(&graph->b, ARRJIT_TYPE, AJ_OP_MIN,
                    "operands are %s and %s; dtypes never convert by themselves, use convert",
                    aj_dtypes[a->type->dtype].name, aj_dtypes[b->type->dtype].name);
    return NULL;
  }
  if (a->type->dtype == ARRJIT_BOOL) a = as_number(graph, a), b = as_number(graph, b);
  if (!a || !b) return NULL;
  aj_value *p = order_key(graph, a), *q = order_key(graph, b);
  aj_value *after = as_number(graph, aj_compose_two(graph, AJ_OP_GT, p, q));
  return aj_host_value(
      aj_compose_two(graph, AJ_OP_SUB, after, as_number(graph, aj_compose_two(graph, AJ_OP_LT, p, q))));
}
