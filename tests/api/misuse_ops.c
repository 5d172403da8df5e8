/* Rows of misuse: the builders of operations. Elementwise ones are told in lists, as what they refuse follows from
 * their dtypes; the others one by one. */
#include "misuse.h"

/* ---- elementwise ---- */

typedef enum domain { ANY, NUM, FLOAT, COMPLEX, BITS, INT, EXN } domain;

/* Values are given by a host as unary, binary or ternary calls of the function itself. */
typedef struct elementwise {
  const char *name;
  domain domain;
  int arity;
  const char *operands[3];
  arrjit_value (*one)(arrjit_graph *, arrjit_value);
  arrjit_value (*two)(arrjit_graph *, arrjit_value, arrjit_value);
  arrjit_value (*three)(arrjit_graph *, arrjit_value, arrjit_value, arrjit_value);
} elementwise;

#define ONE(op, domain) {"arrjit_" #op, domain, 1, {"x"}, arrjit_##op, NULL, NULL}
#define TWO(op, domain) {"arrjit_" #op, domain, 2, {"x", "y"}, NULL, arrjit_##op, NULL}
#define OF_EXN(op) {"arrjit_" #op, EXN, 1, {"exn"}, arrjit_##op, NULL, NULL}
#define THREE(op, domain, ...) {"arrjit_" #op, domain, 3, {__VA_ARGS__}, NULL, NULL, arrjit_##op}
static const elementwise elementwise_ops[] = {
    ONE(neg, NUM),
    ONE(abs, NUM),
    ONE(sign, NUM),
    ONE(sqrt, FLOAT),
    ONE(floor, FLOAT),
    ONE(ceil, FLOAT),
    ONE(trunc, FLOAT),
    ONE(round_even, FLOAT),
    ONE(round_away, FLOAT),
    ONE(is_finite, FLOAT),
    ONE(is_inf, FLOAT),
    ONE(is_nan, FLOAT),
    ONE(real, COMPLEX),
    ONE(imag, COMPLEX),
    ONE(conj, COMPLEX),
    ONE(not, BITS),
    ONE(popcount, INT),
    ONE(clz, INT),
    ONE(ctz, INT),
    ONE(exp, FLOAT),
    ONE(log, FLOAT),
    ONE(tanh, FLOAT),
    ONE(sin, FLOAT),
    ONE(cos, FLOAT),
    ONE(exp2, FLOAT),
    ONE(exp10, FLOAT),
    ONE(expm1, FLOAT),
    ONE(log2, FLOAT),
    ONE(log10, FLOAT),
    ONE(log1p, FLOAT),
    ONE(tan, FLOAT),
    ONE(asin, FLOAT),
    ONE(acos, FLOAT),
    ONE(atan, FLOAT),
    ONE(sinh, FLOAT),
    ONE(cosh, FLOAT),
    ONE(asinh, FLOAT),
    ONE(acosh, FLOAT),
    ONE(atanh, FLOAT),
    ONE(cbrt, FLOAT),
    ONE(rsqrt, FLOAT),
    ONE(logistic, FLOAT),
    ONE(erf, FLOAT),
    ONE(erfc, FLOAT),
    ONE(erf_inv, FLOAT),
    ONE(tgamma, FLOAT),
    ONE(lgamma, FLOAT),
    ONE(digamma, FLOAT),
    TWO(add, NUM),
    TWO(sub, NUM),
    TWO(mul, NUM),
    TWO(div, NUM),
    TWO(rem, NUM),
    TWO(floor_div, NUM),
    TWO(mod, NUM),
    TWO(min, ANY),
    TWO(max, ANY),
    TWO(ipow, INT),
    TWO(fmin, FLOAT),
    TWO(fmax, FLOAT),
    TWO(fdim, FLOAT),
    TWO(nextafter, FLOAT),
    TWO(copysign, FLOAT),
    {"arrjit_atan2", FLOAT, 2, {"y", "x"}, NULL, arrjit_atan2, NULL},
    TWO(pow, FLOAT),
    TWO(hypot, FLOAT),
    TWO(and, BITS),
    TWO(or, BITS),
    TWO(xor, BITS),
    TWO(shl, INT),
    TWO(shr_logical, INT),
    TWO(shr_arith, INT),
    TWO(rotl, INT),
    {"arrjit_complex", FLOAT, 2, {"re", "im"}, NULL, arrjit_complex, NULL},
    TWO(eq, ANY),
    TWO(ne, ANY),
    TWO(lt, NUM),
    TWO(le, NUM),
    TWO(gt, NUM),
    TWO(ge, NUM),
    TWO(checked_add, INT),
    TWO(checked_sub, INT),
    TWO(checked_mul, INT),
    TWO(checked_div, INT),
    TWO(checked_rem, INT),
    TWO(checked_shl, INT),
    THREE(fma, FLOAT, "x", "y", "z"),
    THREE(select, ANY, "pred", "x", "y"),
    THREE(clamp, NUM, "x", "lo", "hi"),
    OF_EXN(exn_code),
    OF_EXN(exn_site),
    OF_EXN(exn_cause),
};
enum { SELECT_PRED = 0 };

static arrjit_value apply(const elementwise *op, arrjit_graph *g, const arrjit_value *v) {
  if (op->arity == 1) return op->one(g, v[0]);
  return op->arity == 2 ? op->two(g, v[0], v[1]) : op->three(g, v[0], v[1], v[2]);
}

static bool is_select(const elementwise *op) { return op->operands[SELECT_PRED][0] == 'p'; }

/* Operands that fit, scalars. */
static void set_good(const elementwise *op, const misuse_parts *p, arrjit_value *v) {
  for (int i = 0; i < op->arity; i++)
    v[i] = op->domain == EXN                                               ? p->exn
           : is_select(op) && i == SELECT_PRED                             ? p->flag
           : op->domain == COMPLEX                                         ? p->pair
           : op->domain == ANY || op->domain == NUM || op->domain == FLOAT ? p->real
                                                                           : p->integer;
}

/* One row: operand `at` is bad, or all are. The message begins with the op's name, and the operand's unless `part`
 * begins with "operands". */
static void refuse(misuse *m, const elementwise *op, int at, arrjit_value bad, arrjit_graph *g, const char *how,
                   arrjit_status want, const char *part) {
  arrjit_value v[3];
  char message[200];
  set_good(op, &m->parts, v);
  for (int i = 0; i < op->arity; i++)
    if (i == at || (at < 0 && !(is_select(op) && i == SELECT_PRED))) v[i] = bad;
  misuse_begin(m, op->name, at < 0 ? "operands" : op->operands[at], how);
  misuse_gives(m, !apply(op, g, v), "null value");
  snprintf(message, sizeof message, "%s: %s%s", op->name + strlen("arrjit_"),
           at < 0 || *part == 'o' ? "" : op->operands[at], part);
  misuse_finish(m, g, false, want, message);
}

static void wrong_operands(misuse *m, const elementwise *op) {
  for (int i = 0; i < op->arity; i++) {
    arrjit_graph *g = misuse_graph(m);
    refuse(m, op, i, NULL, g, "the null value", ARRJIT_MISUSE, " is the null value");
    g = misuse_graph(m);
    refuse(m, op, i, m->parts.foreign, g, "of another graph", ARRJIT_MISUSE, " is a value of another graph");
    g = misuse_graph(m);
    refuse(m, op, i, m->parts.elsewhere, g, "of another function", ARRJIT_MISUSE, " is a value of another function");
    g = misuse_graph(m);
    refuse(m, op, i, m->parts.ended, g, "of an arm that has ended", ARRJIT_MISUSE, " was made inside an arm");
    g = misuse_graph(m);
    if (op->domain == EXN)
      refuse(m, op, i, m->parts.real, g, "an f64", ARRJIT_TYPE, " is f64; expected an exception");
    else
      refuse(m, op, i, m->parts.exn, g, "an exception", ARRJIT_TYPE, " is an exception; expected an array");
  }
}

static void wrong_dtypes(misuse *m, const elementwise *op) {
  arrjit_graph *g = misuse_graph(m);
  const misuse_parts *p = &m->parts;
  bool whole = op->domain == BITS || op->domain == INT;
  if (op->domain == ANY)
    arrjit_graph_destroy(g);
  else if (op->domain == NUM)
    refuse(m, op, -1, p->flag, g, "bool", ARRJIT_TYPE, "");
  else
    refuse(m, op, -1, whole ? p->real : p->integer, g, whole ? "f64" : "i64", ARRJIT_TYPE, "");
  if (op->arity < 2) return;
  g = misuse_graph(m);
  if (is_select(op))
    refuse(m, op, SELECT_PRED, p->real, g, "an f64", ARRJIT_TYPE, " is f64; expected bool");
  else
    refuse(m, op, 1, whole ? p->real : p->integer, g, "of another dtype", ARRJIT_TYPE, "operands are");
}

static void wrong_shapes(misuse *m, const elementwise *op) {
  arrjit_value v[3];
  if (op->arity < 2) return;
  arrjit_graph *g = misuse_graph(m);
  misuse_begin(m, op->name, "operands", "whose shapes do not broadcast");
  set_good(op, &m->parts, v);
  bool real = v[1] == m->parts.real;
  v[0] = is_select(op) ? m->parts.flags : real ? m->parts.vector : m->parts.integers;
  v[1] = real ? m->parts.five : arrjit_convert(g, m->parts.five, ARRJIT_I64);
  misuse_gives(m, !apply(op, g, v), "null value");
  misuse_finish(m, g, false, ARRJIT_TYPE, "extents 3 and 5 do not broadcast");
}

void misuse_elementwise(misuse *m) {
  for (size_t i = 0; i < TK_COUNT(elementwise_ops); i++) {
    const elementwise *op = &elementwise_ops[i];
    arrjit_value v[3];
    set_good(op, &m->parts, v);
    misuse_begin(m, op->name, "graph", "NULL");
    misuse_gives(m, !apply(op, NULL, v), "null value");
    wrong_operands(m, op);
    if (op->domain != EXN) wrong_dtypes(m, op), wrong_shapes(m, op);
  }
}

/* ---- the others ---- */

static void conversions(misuse *m) {
#define CALL_CONVERT(g, x) arrjit_convert(g, x, ARRJIT_F32)
#define CALL_BITCAST(g, x) arrjit_bitcast(g, x, ARRJIT_I64)
#define CALL_CHECKED(g, x) arrjit_checked_convert(g, x, ARRJIT_I32)
  const arrjit_dtype bad = (arrjit_dtype)9999;
  ALL_REFUSE(m, arrjit_convert, "x", CALL_CONVERT);
  ALL_REFUSE(m, arrjit_bitcast, "x", CALL_BITCAST);
  ALL_REFUSE(m, arrjit_checked_convert, "x", CALL_CHECKED);
  WRONG(m, arrjit_convert, "dtype", "none", "dtype 0", arrjit_convert(g, p->real, ARRJIT_DTYPE_NONE));
  WRONG(m, arrjit_convert, "dtype", "out of range", "dtype 9999", arrjit_convert(g, p->real, bad));
  WRONG(m, arrjit_bitcast, "dtype", "out of range", "dtype 9999", arrjit_bitcast(g, p->real, bad));
  WRONG(m, arrjit_bitcast, "dtype", "of another width", "same width", arrjit_bitcast(g, p->real, ARRJIT_F32));
  WRONG(m, arrjit_bitcast, "dtype", "bool", "from f64 to bool", arrjit_bitcast(g, p->real, ARRJIT_BOOL));
  WRONG(m, arrjit_checked_convert, "dtype", "out of range", "dtype 9999", arrjit_checked_convert(g, p->real, bad));
}

static void creation(misuse *m) {
#define CALL_FULL(g, x) arrjit_full(g, x, 1, I64S(3))
#define CALL_DIM_SIZE(g, x) arrjit_dim_size(g, x, 0)
  GIVES(m, arrjit_iota, "graph", "NULL", !arrjit_iota(NULL, ARRJIT_F64, 1, I64S(3), 0));
  WRONG(m, arrjit_iota, "dtype", "none", "dtype 0", arrjit_iota(g, ARRJIT_DTYPE_NONE, 1, I64S(3), 0));
  WRONG(m, arrjit_iota, "dtype", "bool", "dtype is bool", arrjit_iota(g, ARRJIT_BOOL, 1, I64S(3), 0));
  WRONG(m, arrjit_iota, "rank", "negative", "negative rank", arrjit_iota(g, ARRJIT_F64, -1, I64S(3), 0));
  WRONG(m, arrjit_iota, "rank", "17", "at most 16", arrjit_iota(g, ARRJIT_F64, 17, (int64_t[17]){0}, 0));
  WRONG(m, arrjit_iota, "dims", "no extent", "is -9", arrjit_iota(g, ARRJIT_F64, 1, I64S(-9), 0));
  WRONG(m, arrjit_iota, "dims", "too large", "bytes", arrjit_iota(g, ARRJIT_F64, 2, I64S(INT64_MAX, INT64_MAX), 0));
  WRONG(m, arrjit_iota, "axis", "negative", "axis is -1", arrjit_iota(g, ARRJIT_F64, 1, I64S(3), -1));
  WRONG(m, arrjit_iota, "axis", "not below rank", "axis is 1", arrjit_iota(g, ARRJIT_F64, 1, I64S(3), 1));
  ABSENT(m, arrjit_iota, "dims", "shape", arrjit_iota(g, ARRJIT_F64, 1, NULL, 0));
  ALL_REFUSE(m, arrjit_full, "x", CALL_FULL);
  WRONG(m, arrjit_full, "x", "an array", "x is f64[3]; expected a scalar", arrjit_full(g, p->vector, 1, I64S(3)));
  WRONG(m, arrjit_full, "rank", "negative", "negative rank", arrjit_full(g, p->real, -1, I64S(3)));
  WRONG(m, arrjit_full, "dims", "no extent", "is -9", arrjit_full(g, p->real, 1, I64S(-9)));
  ABSENT(m, arrjit_full, "dims", "shape", arrjit_full(g, p->real, 1, NULL));
  ALL_REFUSE(m, arrjit_dim_size, "x", CALL_DIM_SIZE);
  WRONG(m, arrjit_dim_size, "axis", "negative", "axis is -1", arrjit_dim_size(g, p->vector, -1));
  WRONG(m, arrjit_dim_size, "axis", "not below rank", "axis is 0", arrjit_dim_size(g, p->real, 0));
}

static void movement(misuse *m) {
#define CALL_BROADCAST(g, x) arrjit_broadcast(g, x, 1, I64S(3), 0, NULL)
#define CALL_RESHAPE(g, x) arrjit_reshape(g, x, 1, I64S(1))
#define CALL_TRANSPOSE(g, x) arrjit_transpose(g, x, 0, NULL)
#define CALL_REVERSE(g, x) arrjit_reverse(g, x, 0, NULL)
  ALL_REFUSE(m, arrjit_broadcast, "x", CALL_BROADCAST);
  WRONG(m, arrjit_broadcast, "dims", "another extent", "extent 3 cannot become 4",
        arrjit_broadcast(g, p->vector, 1, I64S(4), 1, I64S(0)));
  WRONG(m, arrjit_broadcast, "axes", "out of range", "axes has 2",
        arrjit_broadcast(g, p->vector, 2, I64S(2, 3), 1, I64S(2)));
  WRONG(m, arrjit_broadcast, "axes", "fewer than x's dims", "axes has 0 entries",
        arrjit_broadcast(g, p->vector, 1, I64S(3), 0, NULL));
  WRONG(m, arrjit_broadcast, "axes", "twice the same", "axes has 1 twice",
        arrjit_broadcast(g, p->matrix, 2, I64S(2, 3), 2, I64S(1, 1)));
  WRONG(m, arrjit_broadcast, "rank", "negative", "negative rank", arrjit_broadcast(g, p->real, -1, I64S(3), 0, NULL));
  ABSENT(m, arrjit_broadcast, "dims", "shape", arrjit_broadcast(g, p->vector, 1, NULL, 1, I64S(0)));
  ABSENT(m, arrjit_broadcast, "axes", "axes", arrjit_broadcast(g, p->vector, 1, I64S(3), 1, NULL));
  ALL_REFUSE(m, arrjit_reshape, "x", CALL_RESHAPE);
  WRONG(m, arrjit_reshape, "dims", "of another count",
        "x is f64[3] with 3 elements; expected as many as the new shape has, 4",
        arrjit_reshape(g, p->vector, 2, I64S(2, 2)));
  WRONG(m, arrjit_reshape, "dims", "no extent", "is -9", arrjit_reshape(g, p->vector, 1, I64S(-9)));
  WRONG(m, arrjit_reshape, "dims", "too large", "elements", arrjit_reshape(g, p->vector, 2, I64S(INT64_MAX, 2)));
  WRONG(m, arrjit_reshape, "rank", "17", "at most 16", arrjit_reshape(g, p->vector, 17, (int64_t[17]){0}));
  ABSENT(m, arrjit_reshape, "dims", "shape", arrjit_reshape(g, p->vector, 1, NULL));
  ALL_REFUSE(m, arrjit_transpose, "x", CALL_TRANSPOSE);
  WRONG(m, arrjit_transpose, "axes", "fewer than dims", "axes has 1 entries",
        arrjit_transpose(g, p->matrix, 1, I64S(0)));
  WRONG(m, arrjit_transpose, "axes", "twice the same", "axes has 0 twice",
        arrjit_transpose(g, p->matrix, 2, I64S(0, 0)));
  WRONG(m, arrjit_transpose, "axes", "negative", "axes has -1", arrjit_transpose(g, p->matrix, 2, I64S(0, -1)));
  WRONG(m, arrjit_transpose, "axis_count", "all axes, which is for reductions", "axes has too many entries",
        arrjit_transpose(g, p->matrix, ARRJIT_ALL_AXES, NULL));
  ABSENT(m, arrjit_transpose, "axes", "axes", arrjit_transpose(g, p->matrix, 2, NULL));
  ALL_REFUSE(m, arrjit_reverse, "x", CALL_REVERSE);
  WRONG(m, arrjit_reverse, "axes", "not below rank", "axes has 2", arrjit_reverse(g, p->matrix, 1, I64S(2)));
  WRONG(m, arrjit_reverse, "axes", "twice the same", "axes has 1 twice", arrjit_reverse(g, p->matrix, 2, I64S(1, 1)));
  ABSENT(m, arrjit_reverse, "axes", "axes", arrjit_reverse(g, p->matrix, 1, NULL));
}

static void cutting(misuse *m) {
#define CALL_SLICE(g, x) arrjit_slice(g, x, 0, NULL, NULL, NULL)
#define CALL_CONCAT(g, x) arrjit_concat(g, 1, &(arrjit_value){x}, 0)
#define CALL_PAD(g, x) arrjit_pad(g, x, x, 0, NULL, NULL, NULL)
#define CUT(start, limit, step) arrjit_slice(g, p->vector, 1, start, limit, step)
  ALL_REFUSE(m, arrjit_slice, "x", CALL_SLICE);
  WRONG(m, arrjit_slice, "rank", "not x's", "entries",
        arrjit_slice(g, p->vector, 2, I64S(0, 0), I64S(1, 1), I64S(1, 1)));
  WRONG(m, arrjit_slice, "rank", "negative", "negative rank",
        arrjit_slice(g, p->vector, -1, I64S(0), I64S(1), I64S(1)));
  WRONG(m, arrjit_slice, "start", "negative", "start -1", CUT(I64S(-1), I64S(3), I64S(1)));
  WRONG(m, arrjit_slice, "limit", "beyond the extent", "limit 4", CUT(I64S(0), I64S(4), I64S(1)));
  WRONG(m, arrjit_slice, "limit", "below start", "start 2 and limit 1", CUT(I64S(2), I64S(1), I64S(1)));
  WRONG(m, arrjit_slice, "limit", "negative", "is -5", CUT(I64S(0), I64S(-5), I64S(1)));
  WRONG(m, arrjit_slice, "step", "0", "step 0", CUT(I64S(0), I64S(3), I64S(0)));
  WRONG(m, arrjit_slice, "step", "negative", "step -1", CUT(I64S(0), I64S(3), I64S(-1)));
  ABSENT(m, arrjit_slice, "start", "start", CUT(NULL, I64S(1), I64S(1)));
  ABSENT(m, arrjit_slice, "limit", "limit", CUT(I64S(0), NULL, I64S(1)));
  ABSENT(m, arrjit_slice, "step", "step", CUT(I64S(0), I64S(1), NULL));
  ALL_REFUSE(m, arrjit_concat, "xs", CALL_CONCAT);
  WRONG(m, arrjit_concat, "count", "0", "no operand came", arrjit_concat(g, 0, NULL, 0));
  WRONG(m, arrjit_concat, "xs", "of two dtypes", "dtypes never convert",
        arrjit_concat(g, LIST(p->vector, p->integers), 0));
  WRONG(m, arrjit_concat, "xs", "of two ranks", "operands are", arrjit_concat(g, LIST(p->vector, p->matrix), 0));
  WRONG(m, arrjit_concat, "axis", "not below rank", "axis is 1", arrjit_concat(g, LIST(p->vector, p->vector), 1));
  WRONG(m, arrjit_concat, "axis", "negative", "axis is -1", arrjit_concat(g, LIST(p->vector, p->vector), -1));
  ABSENT(m, arrjit_concat, "xs", "values", arrjit_concat(g, 2, NULL, 0));
  ALL_REFUSE(m, arrjit_pad, "x", CALL_PAD);
  WRONG(m, arrjit_pad, "fill", "of another dtype", "dtypes never convert",
        arrjit_pad(g, p->vector, p->integer, 1, I64S(0), I64S(0), I64S(0)));
  WRONG(m, arrjit_pad, "fill", "an array", "fill is f64[3]; expected a scalar",
        arrjit_pad(g, p->vector, p->vector, 1, I64S(0), I64S(0), I64S(0)));
  WRONG(m, arrjit_pad, "low", "so negative that nothing is left", "extent",
        arrjit_pad(g, p->vector, p->real, 1, I64S(-4), I64S(0), I64S(0)));
  WRONG(m, arrjit_pad, "high", "out of range", "range",
        arrjit_pad(g, p->vector, p->real, 1, I64S(INT64_MAX), I64S(INT64_MAX), I64S(0)));
  WRONG(m, arrjit_pad, "interior", "negative", "interior -1",
        arrjit_pad(g, p->vector, p->real, 1, I64S(0), I64S(0), I64S(-1)));
  WRONG(m, arrjit_pad, "rank", "not x's", "entries", arrjit_pad(g, p->vector, p->real, 0, NULL, NULL, NULL));
  ABSENT(m, arrjit_pad, "low", "low", arrjit_pad(g, p->vector, p->real, 1, NULL, I64S(0), I64S(0)));
}

static void indexing(misuse *m) {
#define CALL_DYNAMIC(g, x) arrjit_dynamic_slice(g, x, 0, NULL, NULL)
#define CALL_CHECKED_SLICE(g, x) arrjit_checked_slice(g, x, 0, NULL, NULL)
#define CALL_UPDATE(g, x) arrjit_dynamic_update_slice(g, x, x, 0, NULL)
#define CALL_TAKE(g, x) arrjit_take(g, x, x, 0)
#define CALL_INDEX(g, x) arrjit_checked_index(g, x, x, 0)
#define SLICES(function)                                                                                               \
  WRONG(m, function, "count", "not x's rank", "x is f64[3] and 0 starts came", function(g, p->vector, 0, NULL, NULL)); \
  WRONG(m, function, "starts", "floats", "starts is f64; expected a scalar of an integer dtype",                       \
        function(g, p->vector, 1, &p->real, I64S(1)));                                                                 \
  WRONG(m, function, "starts", "arrays", "starts is i64[3]", function(g, p->vector, 1, &p->integers, I64S(1)));        \
  WRONG(m, function, "sizes", "larger than x", "a window of 4 along axis 0",                                           \
        function(g, p->vector, 1, &p->integer, I64S(4)));                                                              \
  WRONG(m, function, "sizes", "no extent", "is -9", function(g, p->vector, 1, &p->integer, I64S(-9)));                 \
  ABSENT(m, function, "starts", "values", function(g, p->vector, 1, NULL, I64S(1)));                                   \
  ABSENT(m, function, "sizes", "sizes", function(g, p->vector, 1, &p->integer, NULL))
  ALL_REFUSE(m, arrjit_dynamic_slice, "x", CALL_DYNAMIC);
  ALL_REFUSE(m, arrjit_checked_slice, "x", CALL_CHECKED_SLICE);
  SLICES(arrjit_dynamic_slice);
  SLICES(arrjit_checked_slice);
  ALL_REFUSE(m, arrjit_dynamic_update_slice, "x", CALL_UPDATE);
  WRONG(m, arrjit_dynamic_update_slice, "update", "of another dtype", "dtypes never convert",
        arrjit_dynamic_update_slice(g, p->vector, p->integers, 1, &p->integer));
  WRONG(m, arrjit_dynamic_update_slice, "update", "of another rank", "expected equal ranks",
        arrjit_dynamic_update_slice(g, p->vector, p->matrix, 1, &p->integer));
  WRONG(m, arrjit_dynamic_update_slice, "update", "larger than x", "a window of 5",
        arrjit_dynamic_update_slice(g, p->vector, p->five, 1, &p->integer));
  WRONG(m, arrjit_dynamic_update_slice, "count", "not x's rank", "0 starts came",
        arrjit_dynamic_update_slice(g, p->vector, p->vector, 0, NULL));
  ABSENT(m, arrjit_dynamic_update_slice, "starts", "values",
         arrjit_dynamic_update_slice(g, p->vector, p->vector, 1, NULL));
#define TAKES(function)                                                                                                \
  WRONG(m, function, "indices", "floats", "indices is f64[3]; expected an array of an integer dtype",                  \
        function(g, p->vector, p->vector, 0));                                                                         \
  WRONG(m, function, "axis", "negative", "axis is -1", function(g, p->vector, p->integers, -1));                       \
  WRONG(m, function, "axis", "not below rank", "axis is 1", function(g, p->vector, p->integers, 1))
  ALL_REFUSE(m, arrjit_take, "x", CALL_TAKE);
  ALL_REFUSE(m, arrjit_checked_index, "x", CALL_INDEX);
  TAKES(arrjit_take);
  TAKES(arrjit_checked_index);
}

/* Windows of 1 of a vector at three indices, what is good; each row breaks one thing. */
static void gathers(misuse *m) {
#define CALL_GATHER(g, x) arrjit_gather(g, x, x, 0, NULL, 0, NULL, 0, NULL, NULL, 0, NULL, 0, 0, NULL)
#define CALL_CHECKED_GATHER(g, x) arrjit_checked_gather(g, x, x, 0, NULL, 0, NULL, 0, NULL, NULL, 0, NULL, 0, 0, NULL)
#define GATHERS(function)                                                                                              \
  WRONG(m, function, "indices", "floats", "indices is f64[3]; expected an array of an integer dtype",                  \
        function(g, p->vector, p->vector, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(1)));             \
  WRONG(m, function, "offset_axes", "too many",                                                                        \
        "expected offset_axes, collapsed_axes and x_batch to be as many as its rank",                                  \
        function(g, p->vector, p->integers, 1, I64S(0), 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(1)));        \
  WRONG(m, function, "offset_axes", "out of range", "offset_axes has 7",                                               \
        function(g, p->vector, p->integers, 1, I64S(7), 0, NULL, 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(1)));           \
  WRONG(m, function, "collapsed_axes", "out of range", "collapsed_axes has 3",                                         \
        function(g, p->vector, p->integers, 0, NULL, 1, I64S(3), 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(1)));           \
  WRONG(m, function, "x_batch", "out of range", "x_batch has 2",                                                       \
        function(g, p->vector, p->integers, 0, NULL, 0, NULL, 1, I64S(2), I64S(0), 1, I64S(0), 1, 1, I64S(1)));        \
  WRONG(m, function, "x_batch", "in start_map too", "an axis of x_batch is in collapsed_axes or start_map too",        \
        function(g, p->vector, p->integers, 0, NULL, 0, NULL, 1, I64S(0), I64S(0), 1, I64S(0), 1, 1, I64S(1)));        \
  WRONG(m, function, "index_batch", "out of range", "index_batch has -1",                                              \
        function(g, p->vector, p->integers, 0, NULL, 0, NULL, 1, I64S(0), I64S(-1), 1, I64S(0), 1, 1, I64S(1)));       \
  WRONG(m, function, "index_batch", "the index_axis", "index_axis is in index_batch too",                              \
        function(g, p->vector, p->integers, 0, NULL, 0, NULL, 1, I64S(0), I64S(0), 0, NULL, 0, 1, I64S(1)));           \
  WRONG(m, function, "start_map", "out of range", "start_map has -1",                                                  \
        function(g, p->vector, p->integers, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(-1), 1, 1, I64S(1)));          \
  WRONG(m, function, "start_map", "longer than index_axis", "one an entry of start_map",                               \
        function(g, p->vector, p->integers, 0, NULL, 1, I64S(0), 0, NULL, NULL, 0, NULL, 1, 1, I64S(1)));              \
  WRONG(m, function, "index_axis", "out of range", "index_axis is 5",                                                  \
        function(g, p->vector, p->integers, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 5, 1, I64S(1)));           \
  ABSENT(m, function, "collapsed_axes", "collapsed_axes",                                                              \
         function(g, p->vector, p->integers, 0, NULL, 1, NULL, 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(1)));             \
  ABSENT(m, function, "x_batch", "x_batch",                                                                            \
         function(g, p->vector, p->integers, 0, NULL, 0, NULL, 1, NULL, I64S(0), 1, I64S(0), 1, 1, I64S(1)));          \
  ABSENT(m, function, "index_batch", "index_batch",                                                                    \
         function(g, p->vector, p->integers, 0, NULL, 0, NULL, 1, I64S(0), NULL, 1, I64S(0), 1, 1, I64S(1)));          \
  WRONG(m, function, "sizes", "larger than x", "a window of 4 along axis 0",                                           \
        function(g, p->vector, p->integers, 1, I64S(0), 0, NULL, 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(4)));           \
  WRONG(m, function, "sizes", "not 1 on a collapsed axis", "axis 0 is collapsed",                                      \
        function(g, p->vector, p->integers, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1, 1, I64S(2)));           \
  WRONG(m, function, "sizes", "not 1 on a batch axis", "axis 1 is in x_batch",                                         \
        function(g, p->matrix, p->integers, 1, I64S(0), 0, NULL, 1, I64S(1), I64S(0), 1, I64S(0), 1, 2, I64S(1, 2)));  \
  ABSENT(m, function, "sizes", "sizes",                                                                                \
         function(g, p->vector, p->integers, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1, 1, NULL))
  ALL_REFUSE(m, arrjit_gather, "x", CALL_GATHER);
  ALL_REFUSE(m, arrjit_checked_gather, "x", CALL_CHECKED_GATHER);
  GATHERS(arrjit_gather);
  GATHERS(arrjit_checked_gather);
}

static void scatters(misuse *m) {
#define NUMBERLESS 0, NULL, 0, NULL, 0, NULL, NULL, 0, NULL, 0
#define CALL_SCATTER(g, x) arrjit_scatter(g, x, x, x, NUMBERLESS)
#define CALL_SCATTER_ADD(g, x) arrjit_scatter_add(g, x, x, x, NUMBERLESS)
#define CALL_SCATTER_MUL(g, x) arrjit_scatter_mul(g, x, x, x, NUMBERLESS)
#define CALL_SCATTER_MIN(g, x) arrjit_scatter_min(g, x, x, x, NUMBERLESS)
#define CALL_SCATTER_MAX(g, x) arrjit_scatter_max(g, x, x, x, NUMBERLESS)
#define CALL_CHECKED_SCATTER(g, x) arrjit_checked_scatter(g, x, x, x, NUMBERLESS)
#define SCATTERS(function)                                                                                             \
  WRONG(m, function, "indices", "floats", "indices is f64[3]; expected an array of an integer dtype",                  \
        function(g, p->vector, p->vector, p->vector, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1));              \
  WRONG(m, function, "offset_axes", "too many",                                                                        \
        "expected offset_axes, collapsed_axes and x_batch to be as many as its rank",                                  \
        function(g, p->vector, p->integers, p->vector, 1, I64S(0), 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1));         \
  WRONG(m, function, "offset_axes", "out of range", "offset_axes has 7",                                               \
        function(g, p->vector, p->integers, p->vector, 1, I64S(7), 0, NULL, 0, NULL, NULL, 1, I64S(0), 1));            \
  WRONG(m, function, "collapsed_axes", "out of range", "collapsed_axes has 3",                                         \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 1, I64S(3), 0, NULL, NULL, 1, I64S(0), 1));            \
  WRONG(m, function, "x_batch", "out of range", "x_batch has 2",                                                       \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 0, NULL, 1, I64S(2), I64S(0), 1, I64S(0), 1));         \
  WRONG(m, function, "x_batch", "in start_map too", "an axis of x_batch is in collapsed_axes or start_map too",        \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 0, NULL, 1, I64S(0), I64S(0), 1, I64S(0), 1));         \
  WRONG(m, function, "index_batch", "out of range", "index_batch has -1",                                              \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 0, NULL, 1, I64S(0), I64S(-1), 1, I64S(0), 1));        \
  WRONG(m, function, "index_batch", "the index_axis", "index_axis is in index_batch too",                              \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 0, NULL, 1, I64S(0), I64S(0), 0, NULL, 0));            \
  WRONG(m, function, "start_map", "out of range", "start_map has -1",                                                  \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(-1), 1));           \
  WRONG(m, function, "start_map", "longer than index_axis", "one an entry of start_map",                               \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 1, I64S(0), 0, NULL, NULL, 0, NULL, 1));               \
  WRONG(m, function, "index_axis", "out of range", "index_axis is 5",                                                  \
        function(g, p->vector, p->integers, p->vector, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 5));            \
  ABSENT(m, function, "collapsed_axes", "collapsed_axes",                                                              \
         function(g, p->vector, p->integers, p->vector, 0, NULL, 1, NULL, 0, NULL, NULL, 1, I64S(0), 1));              \
  ABSENT(m, function, "x_batch", "x_batch",                                                                            \
         function(g, p->vector, p->integers, p->vector, 0, NULL, 0, NULL, 1, NULL, I64S(0), 1, I64S(0), 1));           \
  ABSENT(m, function, "index_batch", "index_batch",                                                                    \
         function(g, p->vector, p->integers, p->vector, 0, NULL, 0, NULL, 1, I64S(0), NULL, 1, I64S(0), 1));           \
  WRONG(m, function, "updates", "of another dtype", "dtypes never convert",                                            \
        function(g, p->vector, p->integers, p->integers, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1));          \
  WRONG(m, function, "updates", "of another rank", "updates are f64; expected rank 1",                                 \
        function(g, p->vector, p->integers, p->real, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1));              \
  WRONG(m, function, "updates", "not as many as indices", "extent 5 of axis 0 should be 3",                            \
        function(g, p->vector, p->integers, p->five, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1));              \
  WRONG(m, function, "updates", "larger than x", "a window of 5 along axis 0",                                         \
        function(g, p->vector, p->integer, p->five, 1, I64S(0), 0, NULL, 0, NULL, NULL, 1, I64S(0), 0))
  ALL_REFUSE(m, arrjit_scatter, "x", CALL_SCATTER);
  ALL_REFUSE(m, arrjit_scatter_add, "x", CALL_SCATTER_ADD);
  ALL_REFUSE(m, arrjit_scatter_mul, "x", CALL_SCATTER_MUL);
  ALL_REFUSE(m, arrjit_scatter_min, "x", CALL_SCATTER_MIN);
  ALL_REFUSE(m, arrjit_scatter_max, "x", CALL_SCATTER_MAX);
  ALL_REFUSE(m, arrjit_checked_scatter, "x", CALL_CHECKED_SCATTER);
  SCATTERS(arrjit_scatter);
  SCATTERS(arrjit_scatter_add);
  SCATTERS(arrjit_scatter_mul);
  SCATTERS(arrjit_scatter_min);
  SCATTERS(arrjit_scatter_max);
  SCATTERS(arrjit_checked_scatter);
  WRONG(m, arrjit_scatter_add, "x", "bool", "x is bool[3]; expected an integer, float or complex dtype",
        arrjit_scatter_add(g, p->flags, p->integers, p->flags, 0, NULL, 1, I64S(0), 0, NULL, NULL, 1, I64S(0), 1));
}

static void sorting(misuse *m) {
#define CALL_SORT(g, x) arrjit_sort(g, x, 0, 0)
#define CALL_ARGSORT(g, x) arrjit_argsort(g, x, 0, 0)
#define CALL_SEARCH(g, x) arrjit_searchsorted(g, x, x, 0)
  ALL_REFUSE(m, arrjit_sort, "x", CALL_SORT);
  ALL_REFUSE(m, arrjit_argsort, "x", CALL_ARGSORT);
  ALL_REFUSE(m, arrjit_searchsorted, "sorted", CALL_SEARCH);
#define SORTS(function)                                                                                                \
  WRONG(m, function, "axis", "negative", "axis is -1", function(g, p->vector, -1, 0));                                 \
  WRONG(m, function, "axis", "not below rank", "axis is 1", function(g, p->vector, 1, 0));                             \
  WRONG(m, function, "descending", "no flag", "descending is 2; expected 0 or 1", function(g, p->vector, 0, 2))
  SORTS(arrjit_sort);
  SORTS(arrjit_argsort);
  WRONG(m, arrjit_searchsorted, "sorted", "no vector", "sorted is f64[2, 3]; expected a vector",
        arrjit_searchsorted(g, p->matrix, p->vector, 0));
  WRONG(m, arrjit_searchsorted, "values", "of another dtype", "dtypes never convert",
        arrjit_searchsorted(g, p->vector, p->integers, 0));
  WRONG(m, arrjit_searchsorted, "right", "no flag", "right is -1; expected 0 or 1",
        arrjit_searchsorted(g, p->vector, p->vector, -1));
}

static void reductions(misuse *m) {
#define CALL_SUM(g, x) arrjit_reduce_sum(g, x, 0, NULL)
#define CALL_PROD(g, x) arrjit_reduce_prod(g, x, 0, NULL)
#define CALL_MIN(g, x) arrjit_reduce_min(g, x, 0, NULL)
#define CALL_MAX(g, x) arrjit_reduce_max(g, x, 0, NULL)
#define CALL_AND(g, x) arrjit_reduce_and(g, x, 0, NULL)
#define CALL_OR(g, x) arrjit_reduce_or(g, x, 0, NULL)
#define CALL_MEAN(g, x) arrjit_mean(g, x, 0, NULL)
#define CALL_ARGMIN(g, x) arrjit_argmin(g, x, 0)
#define CALL_ARGMAX(g, x) arrjit_argmax(g, x, 0)
#define REDUCES(function, good, call)                                                                                  \
  ALL_REFUSE(m, function, "x", call);                                                                                  \
  WRONG(m, function, "axes", "not below rank", "axes has 1", function(g, good, 1, I64S(1)));                           \
  WRONG(m, function, "axes", "negative", "axes has -1", function(g, good, 1, I64S(-1)));                               \
  WRONG(m, function, "axes", "twice the same", "axes has 0 twice", function(g, good, 2, I64S(0, 0)));                  \
  WRONG(m, function, "axis_count", "17", "at most 16", function(g, good, 17, (int64_t[17]){0}));                       \
  ABSENT(m, function, "axes", "axes", function(g, good, 1, NULL))
  REDUCES(arrjit_reduce_sum, p->vector, CALL_SUM);
  REDUCES(arrjit_reduce_prod, p->vector, CALL_PROD);
  REDUCES(arrjit_reduce_min, p->vector, CALL_MIN);
  REDUCES(arrjit_reduce_max, p->vector, CALL_MAX);
  REDUCES(arrjit_reduce_and, p->integers, CALL_AND);
  REDUCES(arrjit_reduce_or, p->integers, CALL_OR);
  REDUCES(arrjit_mean, p->vector, CALL_MEAN);
  WRONG(m, arrjit_reduce_sum, "x", "bool", "write convert(x,", arrjit_reduce_sum(g, p->flags, 0, NULL));
  WRONG(m, arrjit_reduce_prod, "x", "bool", "write convert(x,", arrjit_reduce_prod(g, p->flags, 0, NULL));
  WRONG(m, arrjit_reduce_and, "x", "floats", "x is f64[3]", arrjit_reduce_and(g, p->vector, 0, NULL));
  WRONG(m, arrjit_reduce_or, "x", "floats", "x is f64[3]", arrjit_reduce_or(g, p->vector, 0, NULL));
  WRONG(m, arrjit_mean, "x", "integers", "write convert(x, f64)", arrjit_mean(g, p->integers, 0, NULL));
#define POSITIONS(function, call)                                                                                      \
  ALL_REFUSE(m, function, "x", call);                                                                                  \
  WRONG(m, function, "x", "bool", "x is bool[3]", function(g, p->flags, 0));                                           \
  WRONG(m, function, "axis", "negative", "axis is -1", function(g, p->vector, -1));                                    \
  WRONG(m, function, "axis", "not below rank", "axis is 1", function(g, p->vector, 1))
  POSITIONS(arrjit_argmin, CALL_ARGMIN);
  POSITIONS(arrjit_argmax, CALL_ARGMAX);
}

static void cumulatives(misuse *m) {
#define CALL_CUMSUM(g, x) arrjit_cumsum(g, x, 0, 0)
#define CALL_CUMPROD(g, x) arrjit_cumprod(g, x, 0, 0)
#define CALL_CUMMIN(g, x) arrjit_cummin(g, x, 0, 0)
#define CALL_CUMMAX(g, x) arrjit_cummax(g, x, 0, 0)
#define SCANS(function, call)                                                                                          \
  ALL_REFUSE(m, function, "x", call);                                                                                  \
  WRONG(m, function, "axis", "negative", "axis is -1", function(g, p->vector, -1, 0));                                 \
  WRONG(m, function, "axis", "not below rank", "axis is 1", function(g, p->vector, 1, 0));                             \
  WRONG(m, function, "reverse", "2", "reverse is 2; expected 0 or 1", function(g, p->vector, 0, 2))
  SCANS(arrjit_cumsum, CALL_CUMSUM);
  SCANS(arrjit_cumprod, CALL_CUMPROD);
  SCANS(arrjit_cummin, CALL_CUMMIN);
  SCANS(arrjit_cummax, CALL_CUMMAX);
  WRONG(m, arrjit_cumsum, "x", "bool", "write convert(x,", arrjit_cumsum(g, p->flags, 0, 0));
  WRONG(m, arrjit_cumprod, "x", "bool", "write convert(x,", arrjit_cumprod(g, p->flags, 0, 0));
}

void misuse_operations(misuse *m) {
  conversions(m);
  creation(m);
  movement(m);
  cutting(m);
  indexing(m);
  gathers(m);
  scatters(m);
  sorting(m);
  reductions(m);
  cumulatives(m);
}
