/* Misuse of compositions: errors are told under their names, not those of the operations inside. */
#include <math.h>

#include "misuse.h"

/* What gives values through pointers: null values after an error. */
static arrjit_value split(arrjit_graph *g, arrjit_value x, int64_t axis, size_t count, const int64_t *sizes) {
  arrjit_value out[2] = {x, x};
  arrjit_split(g, x, axis, count, sizes, out);
  return out[0];
}

static arrjit_value sort_along(arrjit_graph *g, arrjit_value key, size_t count, const arrjit_value *values,
                               int64_t axis, int descending) {
  arrjit_value out[2] = {key, key};
  arrjit_sort_along(g, key, count, values, axis, descending, out);
  return out[0];
}

static arrjit_value top_k(arrjit_graph *g, arrjit_value x, int64_t k, int64_t axis) {
  arrjit_value out = x;
  arrjit_top_k(g, x, k, axis, &out, NULL);
  return out;
}

#define NAMED(m, function, argument, how, part, ...)                                                                   \
  WRONG(m, arrjit_##function, argument, how, #function ": " part, __VA_ARGS__)

static void shapes(misuse *m) {
#define CALL_EXPAND(g, x) arrjit_expand_dims(g, x, 0)
#define CALL_SQUEEZE(g, x) arrjit_squeeze(g, x, 0, NULL)
#define CALL_TILE(g, x) arrjit_tile(g, x, 0, NULL)
#define CALL_ROLL(g, x) arrjit_roll(g, x, 1, 0)
#define CALL_STACK(g, x) (arrjit_stack)(g, 1, &(arrjit_value){x}, 0)
  ALL_REFUSE(m, arrjit_expand_dims, "x", CALL_EXPAND);
  NAMED(m, expand_dims, "axis", "negative", "axis is -1", arrjit_expand_dims(g, p->vector, -1));
  NAMED(m, expand_dims, "axis", "above rank", "axis is 2; expected one from 0 to below 2",
        arrjit_expand_dims(g, p->vector, 2));
  ALL_REFUSE(m, arrjit_squeeze, "x", CALL_SQUEEZE);
  NAMED(m, squeeze, "axes", "out of range", "axis is 1", arrjit_squeeze(g, p->vector, 1, I64S(1)));
  NAMED(m, squeeze, "axes", "of another extent", "axis 0 comes twice, or its extent is not 1",
        arrjit_squeeze(g, p->vector, 1, I64S(0)));
  ABSENT(m, arrjit_squeeze, "axes", "axes", arrjit_squeeze(g, p->vector, 1, NULL));
  ALL_REFUSE(m, arrjit_tile, "x", CALL_TILE);
  NAMED(m, tile, "rank", "not x's", "rank is 2; expected that of x, 1", arrjit_tile(g, p->vector, 2, I64S(1, 1)));
  NAMED(m, tile, "rank", "negative", "rank is -1", arrjit_tile(g, p->vector, -1, I64S(1)));
  NAMED(m, tile, "reps", "negative", "reps has -2", arrjit_tile(g, p->vector, 1, I64S(-2)));
  NAMED(m, tile, "reps", "too many", "an extent of the result is out of range",
        arrjit_tile(g, p->vector, 1, I64S(INT64_MAX)));
  ABSENT(m, arrjit_tile, "reps", "reps", arrjit_tile(g, p->vector, 1, NULL));
  ALL_REFUSE(m, arrjit_roll, "x", CALL_ROLL);
  NAMED(m, roll, "axis", "out of range", "axis is 1", arrjit_roll(g, p->vector, 1, 1));
  ALL_REFUSE(m, arrjit_stack, "xs", CALL_STACK);
  NAMED(m, stack, "count", "0", "no operand came", arrjit_stack(g, 0, NULL, 0));
  NAMED(m, stack, "axis", "above rank", "axis is 2", arrjit_stack(g, 1, &p->vector, 2));
  NAMED(m, stack, "xs", "of two shapes", "operands are f64[1, 3] and f64[1, 5]",
        (arrjit_stack)(g, 2, (arrjit_value[]){p->vector, p->five}, 0));
  ABSENT(m, arrjit_stack, "xs", "values", arrjit_stack(g, 1, NULL, 0));
}

static void splits(misuse *m) {
#define CALL_SPLIT(g, x) split(g, x, 0, 1, I64S(3))
  ALL_REFUSE(m, arrjit_split, "x", CALL_SPLIT);
  NAMED(m, split, "axis", "out of range", "axis is 1", split(g, p->vector, 1, 1, I64S(3)));
  NAMED(m, split, "sizes", "more than there is", "expected an extent along axis that is a number, and sizes",
        split(g, p->vector, 0, 2, I64S(2, 2)));
  NAMED(m, split, "sizes", "negative", "expected an extent along axis that is a number, and sizes",
        split(g, p->vector, 0, 2, I64S(4, -1)));
  ABSENT(m, arrjit_split, "sizes", "sizes", split(g, p->vector, 0, 1, NULL));
}

static void indices(misuse *m) {
#define CALL_ALONG(g, x) arrjit_take_along_axis(g, x, x, 0)
#define CALL_ONE_HOT(g, x) arrjit_one_hot(g, x, 3, 0, ARRJIT_F32)
  ALL_REFUSE(m, arrjit_take_along_axis, "x", CALL_ALONG);
  NAMED(m, take_along_axis, "axis", "out of range", "axis is 1", arrjit_take_along_axis(g, p->vector, p->integers, 1));
  NAMED(m, take_along_axis, "indices", "floats", "indices is f64[3]",
        arrjit_take_along_axis(g, p->vector, p->vector, 0));
  NAMED(m, take_along_axis, "indices", "of another rank", "indices have rank 0; expected that of x, 1",
        arrjit_take_along_axis(g, p->vector, p->integer, 0));
  ALL_REFUSE(m, arrjit_one_hot, "indices", CALL_ONE_HOT);
  NAMED(m, one_hot, "indices", "floats", "indices are f64; expected an integer dtype",
        arrjit_one_hot(g, p->vector, 3, 0, ARRJIT_F32));
  NAMED(m, one_hot, "axis", "above rank", "axis is 2", arrjit_one_hot(g, p->integers, 3, 2, ARRJIT_F32));
  NAMED(m, one_hot, "depth", "no extent", "entry 0 of shape is -9", arrjit_one_hot(g, p->integers, -9, 0, ARRJIT_F32));
  NAMED(m, one_hot, "dtype", "none", "dtype 0", arrjit_one_hot(g, p->integers, 3, 0, ARRJIT_DTYPE_NONE));
}

static void triangles(misuse *m) {
#define CALL_TRIL(g, x) arrjit_tril(g, x, 0)
#define CALL_TRIU(g, x) arrjit_triu(g, x, 0)
  GIVES(m, arrjit_tri, "graph", "NULL", arrjit_tri(NULL, 2, 2, 0) == NULL);
  NAMED(m, tri, "rows", "no extent", "entry 0 of shape is -9", arrjit_tri(g, -9, 2, 0));
  NAMED(m, tri, "columns", "too many", "the result would have more bytes than can be addressed",
        arrjit_tri(g, 2, INT64_MAX, 0));
  ALL_REFUSE(m, arrjit_tril, "x", CALL_TRIL);
  ALL_REFUSE(m, arrjit_triu, "x", CALL_TRIU);
  NAMED(m, tril, "x", "a vector", "x has rank 1; expected at least 2", arrjit_tril(g, p->vector, 0));
  NAMED(m, triu, "x", "a scalar", "x has rank 0; expected at least 2", arrjit_triu(g, p->real, 0));
}

static void sorts(misuse *m) {
#define CALL_SORT_ALONG(g, x) sort_along(g, x, 0, NULL, 0, 0)
#define CALL_TOP_K(g, x) top_k(g, x, 1, 0)
  ALL_REFUSE(m, arrjit_sort_along, "x", CALL_SORT_ALONG);
  NAMED(m, sort_along, "axis", "out of range", "axis is 1", sort_along(g, p->vector, 0, NULL, 1, 0));
  NAMED(m, sort_along, "descending", "no flag", "descending is 2", sort_along(g, p->vector, 0, NULL, 0, 2));
  NAMED(m, sort_along, "values", "of another rank", "indices have rank 1; expected that of x, 2",
        sort_along(g, p->vector, 1, &p->matrix, 0, 0));
  BUILD(m, arrjit_sort_along, "values", "the null value", ARRJIT_MISUSE, "values is the null value",
        (void)sort_along(g, p->vector, 1, &(arrjit_value){NULL}, 0, 0));
  ABSENT(m, arrjit_sort_along, "values", "values", sort_along(g, p->vector, 1, NULL, 0, 0));
  ALL_REFUSE(m, arrjit_top_k, "x", CALL_TOP_K);
  NAMED(m, top_k, "axis", "out of range", "axis is -1", top_k(g, p->vector, 1, -1));
  NAMED(m, top_k, "k", "negative", "k is -1; expected at least 0", top_k(g, p->vector, -1, 0));
  NAMED(m, top_k, "k", "more than there is", "x is i64[3]; start 0 and limit 4 of axis 0", top_k(g, p->vector, 4, 0));
}

static void floats(misuse *m) {
#define CALL_REDUCE(g, x) arrjit_reduce_precision(g, x, 5, 10)
#define CALL_TOTAL(g, x) arrjit_compare_total(g, x, x)
  ALL_REFUSE(m, arrjit_reduce_precision, "x", CALL_REDUCE);
  NAMED(m, reduce_precision, "x", "an integer", "x is i64; expected a float dtype",
        arrjit_reduce_precision(g, p->integer, 5, 10));
  NAMED(m, reduce_precision, "exponent_bits", "0",
        "expected exponent_bits of at least 1 and mantissa_bits of at least 0",
        arrjit_reduce_precision(g, p->real, 0, 10));
  NAMED(m, reduce_precision, "mantissa_bits", "negative", "expected exponent_bits of at least 1",
        arrjit_reduce_precision(g, p->real, 5, -1));
  ALL_REFUSE(m, arrjit_compare_total, "x", CALL_TOTAL);
  NAMED(m, compare_total, "y", "of another dtype", "operands are f64 and i64; dtypes never convert",
        arrjit_compare_total(g, p->real, p->integer));
  NAMED(m, compare_total, "y", "of another shape", "operands are i64[3] and i64[5]",
        arrjit_compare_total(g, p->vector, p->five));
}

static void statistics(misuse *m) {
#define CALL_VARIANCE(g, x, ...) arrjit_variance(g, x, 0, __VA_ARGS__)
#define CALL_DEVIATION(g, x, ...) arrjit_standard_deviation(g, x, 0, __VA_ARGS__)
#define CALL_NORM(g, x, ...) arrjit_norm(g, x, 2, __VA_ARGS__)
#define NO_AXES(g, x) OVER(g, x, 0, NULL)
#define REFUSE_AXES(name)                                                                                              \
  ALL_REFUSE(m, arrjit_##name, "x", NO_AXES);                                                                          \
  NAMED(m, name, "x", "integers", "x is i64[3]; expected a float: write convert(x, f64)",                              \
        OVER(g, p->integers, 0, NULL));                                                                                \
  NAMED(m, name, "x", "bool", "x is bool[3]; expected a float: write convert(x, f32)", OVER(g, p->flags, 0, NULL));    \
  NAMED(m, name, "axes", "not below rank", "axes has 1", OVER(g, p->vector, 1, I64S(1)));                              \
  NAMED(m, name, "axes", "negative", "axes has -1", OVER(g, p->vector, 1, I64S(-1)));                                  \
  NAMED(m, name, "axes", "twice the same", "axes has 0 twice", OVER(g, p->vector, 2, I64S(0, 0)));                     \
  BUILD(m, arrjit_##name, "axis_count", "17", ARRJIT_MISUSE, #name ": 17 axes; at most 16",                            \
        (void)OVER(g, p->vector, 17, (int64_t[17]){0}));                                                               \
  ABSENT(m, arrjit_##name, "axes", "axes", OVER(g, p->vector, 1, NULL))
#define OVER CALL_VARIANCE
  REFUSE_AXES(variance);
#undef OVER
#define OVER CALL_DEVIATION
  REFUSE_AXES(standard_deviation);
#undef OVER
#define OVER CALL_NORM
  REFUSE_AXES(norm);
#undef OVER
#define OVER arrjit_softmax
  REFUSE_AXES(softmax);
#undef OVER
#define OVER arrjit_log_softmax
  REFUSE_AXES(log_softmax);
#undef OVER
#define OVER arrjit_logsumexp
  REFUSE_AXES(logsumexp);
#undef OVER
  NAMED(m, variance, "correction", "negative", "correction is -1", arrjit_variance(g, p->vector, -1, 0, NULL));
  NAMED(m, standard_deviation, "correction", "negative", "correction is -1",
        arrjit_standard_deviation(g, p->vector, -1, 0, NULL));
  NAMED(m, norm, "p", "3", "p is 3; expected 1, 2 or INFINITY", arrjit_norm(g, p->vector, 3, 0, NULL));
  NAMED(m, norm, "p", "NaN", "p is nan; expected 1, 2 or INFINITY", arrjit_norm(g, p->vector, NAN, 0, NULL));
}

static void windows(misuse *m) {
#define CALL_WINDOW(g, x) OVER(g, x, 0, NULL, NULL, NULL, NULL, NULL, NULL)
#define REFUSE_WINDOWS(name)                                                                                           \
  ALL_REFUSE(m, arrjit_##name, "x", CALL_WINDOW);                                                                      \
  BUILD(m, arrjit_##name, "rank", "-1", ARRJIT_MISUSE, "rank is -1; expected 0 to 16",                                 \
        (void)OVER(g, p->vector, -1, I64S(1), NULL, NULL, NULL, NULL, NULL));                                          \
  WRONG(m, arrjit_##name, "rank", "not that of x", "the rank of x",                                                    \
        OVER(g, p->vector, 0, NULL, NULL, NULL, NULL, NULL, NULL));                                                    \
  WRONG(m, arrjit_##name, "strides", "0", "step of axis 0 is 0",                                                       \
        OVER(g, p->vector, 1, I64S(1), I64S(0), NULL, NULL, NULL, NULL));                                              \
  ABSENT(m, arrjit_##name, "sizes", "sizes", OVER(g, p->vector, 1, NULL, NULL, NULL, NULL, NULL, NULL))
#define OVER arrjit_reduce_window_sum
  REFUSE_WINDOWS(reduce_window_sum);
#undef OVER
#define OVER arrjit_reduce_window_min
  REFUSE_WINDOWS(reduce_window_min);
#undef OVER
#define OVER arrjit_reduce_window_max
  REFUSE_WINDOWS(reduce_window_max);
#undef OVER
  NAMED(m, reduce_window_sum, "x", "bool", "x is bool",
        arrjit_reduce_window_sum(g, p->flags, 1, I64S(1), NULL, NULL, NULL, NULL, NULL));
}

void misuse_compositions(misuse *m) {
  shapes(m);
  splits(m);
  indices(m);
  triangles(m);
  sorts(m);
  floats(m);
  statistics(m);
  windows(m);
}
