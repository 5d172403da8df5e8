/* Rows of misuse: control flow out of order or of wrong types, failures, exceptions, callback slots. */
#include "misuse.h"

/* What errors call a building function: its name without "arrjit_". */
#define NAMED(text) (&(text)[sizeof "arrjit_" - 1])
#define ON_NULL(m, function, ...) SURVIVES(m, function, "graph", "NULL", __VA_ARGS__)
/* An end or middle without its begin: "if_else: inside a function; expected an if to be open". */
#define UNOPENED(m, function, construct, ...)                                                                          \
  BUILD(m, function, "construct", "not open", ARRJIT_MISUSE,                                                           \
        NAMED(#function ": inside a function; expected " construct), __VA_ARGS__)
/* ... inside another construct. */
#define INSIDE_IF(m, function, construct, ...)                                                                         \
  BUILD_WHOLE(m, function, "construct", "not innermost", ARRJIT_MISUSE,                                                \
              NAMED(#function ": inside an if; expected " construct), arrjit_if_begin(g, p->flag), __VA_ARGS__)

static void ifs(misuse *m) {
  arrjit_value out[2];
  ON_NULL(m, arrjit_if_begin, arrjit_if_begin(NULL, NULL));
  ON_NULL(m, arrjit_if_else, arrjit_if_else(NULL, 0, NULL));
  ON_NULL(m, arrjit_if_end, arrjit_if_end(NULL, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_if_begin, "pred", "NULL", ARRJIT_MISUSE, "pred is the null value", arrjit_if_begin(g, NULL));
  BUILD_WHOLE(m, arrjit_if_begin, "pred", "of another graph", ARRJIT_MISUSE, "pred is a value of another graph",
              arrjit_if_begin(g, p->foreign));
  BUILD_WHOLE(m, arrjit_if_begin, "pred", "of an arm", ARRJIT_MISUSE, "pred was made inside an arm",
              arrjit_if_begin(g, p->ended));
  BUILD_WHOLE(m, arrjit_if_begin, "pred", "an f64", ARRJIT_TYPE, "pred is f64; expected bool scalar: write ne(pred, 0)",
              arrjit_if_begin(g, p->real));
  BUILD_WHOLE(m, arrjit_if_begin, "pred", "an array", ARRJIT_TYPE, "reduce_and(pred)", arrjit_if_begin(g, p->flags));
  BUILD_WHOLE(m, arrjit_if_begin, "pred", "an exception", ARRJIT_TYPE, "pred is", arrjit_if_begin(g, p->exn));
  UNOPENED(m, arrjit_if_else, "an if", arrjit_if_else(g, 0, NULL));
  UNOPENED(m, arrjit_if_end, "an if", arrjit_if_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_if_else, "order", "twice", ARRJIT_MISUSE, "if_else: twice", arrjit_if_begin(g, p->flag),
              arrjit_if_else(g, 0, NULL), arrjit_if_else(g, 0, NULL));
  BUILD_WHOLE(m, arrjit_if_end, "order", "without else", ARRJIT_MISUSE, "if_end: without arrjit_if_else",
              arrjit_if_begin(g, p->flag), arrjit_if_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_if_else, "values", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_if_begin(g, p->flag),
              arrjit_if_else(g, 1, NULL));
  BUILD_WHOLE(m, arrjit_if_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_if_begin(g, p->flag),
              arrjit_if_else(g, 1, &p->real), arrjit_if_end(g, 1, NULL, out));
  BUILD_WHOLE(m, arrjit_if_else, "values", "with the null value", ARRJIT_MISUSE, "null value",
              arrjit_if_begin(g, p->flag), arrjit_if_else(g, LIST(NULL)));
  BUILD(m, arrjit_if_end, "values", "of another type than the other arm's", ARRJIT_TYPE, "yields",
        arrjit_if_begin(g, p->flag), arrjit_if_else(g, 1, &p->real), arrjit_if_end(g, 1, &p->integer, out));
  BUILD(m, arrjit_if_end, "count", "not the other arm's", ARRJIT_TYPE, "yields", arrjit_if_begin(g, p->flag),
        arrjit_if_else(g, 1, &p->real), arrjit_if_end(g, 0, NULL, out));
  BUILD(m, arrjit_if_end, "a value of the arm", "used outside", ARRJIT_MISUSE, "x was made inside an arm",
        (void)arrjit_neg(g, p->ended));
}

static void switches(misuse *m) {
  arrjit_value out[2];
  ON_NULL(m, arrjit_switch_begin, arrjit_switch_begin(NULL, NULL));
  ON_NULL(m, arrjit_switch_case, arrjit_switch_case(NULL, 0, NULL));
  ON_NULL(m, arrjit_switch_end, arrjit_switch_end(NULL, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_switch_begin, "index", "NULL", ARRJIT_MISUSE, "index is the null value",
              arrjit_switch_begin(g, NULL));
  BUILD_WHOLE(m, arrjit_switch_begin, "index", "of another graph", ARRJIT_MISUSE, "index is a value of another graph",
              arrjit_switch_begin(g, p->foreign_integer));
  BUILD(m, arrjit_switch_begin, "index", "an f64", ARRJIT_TYPE, "index is f64; expected an i64 scalar",
        arrjit_switch_begin(g, p->real), arrjit_switch_end(g, 0, NULL, out));
  BUILD(m, arrjit_switch_begin, "index", "an array", ARRJIT_TYPE, "index is i64[3]",
        arrjit_switch_begin(g, p->integers), arrjit_switch_end(g, 0, NULL, out));
  BUILD(m, arrjit_switch_begin, "index", "an exception", ARRJIT_TYPE, "index is exn", arrjit_switch_begin(g, p->exn),
        arrjit_switch_end(g, 0, NULL, out));
  UNOPENED(m, arrjit_switch_case, "a switch", arrjit_switch_case(g, 0, NULL));
  UNOPENED(m, arrjit_switch_end, "a switch", arrjit_switch_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_switch_case, "a switch", arrjit_switch_case(g, 0, NULL));
  INSIDE_IF(m, arrjit_switch_end, "a switch", arrjit_switch_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_switch_case, "values", "NULL", ARRJIT_MISUSE, "values is NULL",
              arrjit_switch_begin(g, p->integer), arrjit_switch_case(g, 1, NULL));
  BUILD_WHOLE(m, arrjit_switch_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL",
              arrjit_switch_begin(g, p->integer), arrjit_switch_end(g, 1, NULL, out));
  BUILD(m, arrjit_switch_end, "values", "of another type than the first case's", ARRJIT_TYPE, "yields",
        arrjit_switch_begin(g, p->integer), arrjit_switch_case(g, 1, &p->real),
        arrjit_switch_end(g, 1, &p->vector, out));
}

static void whiles(misuse *m) {
  arrjit_value v[2], out[2];
  ON_NULL(m, arrjit_while_begin, arrjit_while_begin(NULL, 1, v, v));
  ON_NULL(m, arrjit_while_body, arrjit_while_body(NULL, NULL, v));
  ON_NULL(m, arrjit_while_end, arrjit_while_end(NULL, 1, v, out));
  BUILD_WHOLE(m, arrjit_while_begin, "init", "NULL", ARRJIT_MISUSE, "values is NULL",
              arrjit_while_begin(g, 1, NULL, v));
  BUILD_WHOLE(m, arrjit_while_begin, "init", "with the null value", ARRJIT_MISUSE, "init is the null value",
              WHILE(g, v, NULL));
  BUILD_WHOLE(m, arrjit_while_begin, "init", "of another graph", ARRJIT_MISUSE, "another graph",
              WHILE(g, v, p->foreign));
  BUILD_WHOLE(m, arrjit_while_begin, "out_vars", "NULL", ARRJIT_MISUSE, "array for carried values is NULL",
              arrjit_while_begin(g, 1, &p->real, NULL));
  BUILD_WHOLE(m, arrjit_while_body, "pred", "NULL", ARRJIT_MISUSE, "null value", WHILE(g, v, p->real),
              arrjit_while_body(g, NULL, v));
  BUILD_WHOLE(m, arrjit_while_body, "pred", "an i64", ARRJIT_TYPE, "cond is i64; expected bool scalar",
              WHILE(g, v, p->integer), arrjit_while_body(g, v[0], v));
  BUILD_WHOLE(m, arrjit_while_body, "pred", "an array", ARRJIT_TYPE, "cond is bool[3]", WHILE(g, v, p->real),
              arrjit_while_body(g, p->flags, v));
  BUILD_WHOLE(m, arrjit_while_body, "out_vars", "NULL", ARRJIT_MISUSE, "array for carried values is NULL",
              WHILE(g, v, p->real), arrjit_while_body(g, p->flag, NULL));
  BUILD_WHOLE(m, arrjit_while_body, "order", "twice", ARRJIT_MISUSE, "while_body: twice", WHILE(g, v, p->real),
              arrjit_while_body(g, p->flag, v), arrjit_while_body(g, p->flag, v));
  BUILD_WHOLE(m, arrjit_while_end, "order", "without body", ARRJIT_MISUSE, "while_end: without arrjit_while_body",
              WHILE(g, v, p->real), arrjit_while_end(g, 1, v, out));
  UNOPENED(m, arrjit_while_body, "a while", arrjit_while_body(g, p->flag, v));
  UNOPENED(m, arrjit_while_end, "a while", arrjit_while_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_while_body, "a while", arrjit_while_body(g, p->flag, v));
  INSIDE_IF(m, arrjit_while_end, "a while", arrjit_while_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_while_end, "next", "NULL", ARRJIT_MISUSE, "values is NULL", WHILE(g, v, p->real),
              arrjit_while_body(g, p->flag, v), arrjit_while_end(g, 1, NULL, out));
  BUILD(m, arrjit_while_end, "next", "of another type than carried", ARRJIT_TYPE, "body yields i64",
        WHILE(g, v, p->real), arrjit_while_body(g, p->flag, v), arrjit_while_end(g, 1, &p->integer, out));
  BUILD(m, arrjit_while_end, "count", "not the carried one", ARRJIT_TYPE, "body yields", WHILE(g, v, p->real),
        arrjit_while_body(g, p->flag, v), arrjit_while_end(g, 0, NULL, out));
  BUILD(m, arrjit_while_end, "a carried value", "used outside", ARRJIT_MISUSE, "x was made inside",
        WHILE(g, v, p->real), arrjit_while_body(g, p->flag, v), arrjit_while_end(g, 1, v, out),
        (void)arrjit_neg(g, v[0]));
}

static void fors(misuse *m) {
  arrjit_value i, v[2], out[2];
  ON_NULL(m, arrjit_for_begin, arrjit_for_begin(NULL, NULL, NULL, NULL, 1, v, &i, v));
  ON_NULL(m, arrjit_for_end, arrjit_for_end(NULL, 1, v, out));
  BUILD_WHOLE(m, arrjit_for_begin, "lo", "NULL", ARRJIT_MISUSE, "lo is the null value",
              FOR(g, NULL, p->integer, p->integer, &i, v, p->real));
  BUILD_WHOLE(m, arrjit_for_begin, "hi", "of another graph", ARRJIT_MISUSE, "hi is a value of another graph",
              FOR(g, p->integer, p->foreign_integer, p->integer, &i, v, p->real));
  BUILD_WHOLE(m, arrjit_for_begin, "step", "NULL", ARRJIT_MISUSE, "step is the null value",
              FOR(g, p->integer, p->integer, NULL, &i, v, p->real));
  BUILD(m, arrjit_for_begin, "lo", "an f64", ARRJIT_TYPE, "lo is f64; expected an i64 scalar",
        FOR(g, p->real, p->integer, p->integer, &i, v, p->real), arrjit_for_end(g, 1, v, out));
  BUILD(m, arrjit_for_begin, "step", "an array", ARRJIT_TYPE, "step is i64[3]",
        FOR(g, p->integer, p->integer, p->integers, &i, v, p->real), arrjit_for_end(g, 1, v, out));
  BUILD_WHOLE(m, arrjit_for_begin, "init", "NULL", ARRJIT_MISUSE, "values is NULL",
              arrjit_for_begin(g, p->integer, p->integer, p->integer, 1, NULL, &i, v));
  BUILD_WHOLE(m, arrjit_for_begin, "init", "of another graph", ARRJIT_MISUSE, "another graph",
              FOR(g, p->integer, p->integer, p->integer, &i, v, p->foreign));
  BUILD_WHOLE(m, arrjit_for_begin, "out_index", "NULL", ARRJIT_MISUSE, "place for the index is NULL",
              FOR(g, p->integer, p->integer, p->integer, NULL, v, p->real));
  BUILD_WHOLE(m, arrjit_for_begin, "out_vars", "NULL", ARRJIT_MISUSE, "array for carried values is NULL",
              FOR(g, p->integer, p->integer, p->integer, &i, NULL, p->real));
  UNOPENED(m, arrjit_for_end, "a for", arrjit_for_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_for_end, "a for", arrjit_for_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_for_end, "next", "NULL", ARRJIT_MISUSE, "values is NULL",
              FOR(g, p->integer, p->integer, p->integer, &i, v, p->real), arrjit_for_end(g, 1, NULL, out));
  BUILD(m, arrjit_for_end, "next", "of another type than carried", ARRJIT_TYPE, "body yields i64",
        FOR(g, p->integer, p->integer, p->integer, &i, v, p->real), arrjit_for_end(g, 1, &i, out));
  BUILD(m, arrjit_for_end, "count", "not the carried one", ARRJIT_TYPE, "body yields",
        FOR(g, p->integer, p->integer, p->integer, &i, v, p->real),
        arrjit_for_end(g, 2, (arrjit_value[]){v[0], v[0]}, out));
}

static void tries(misuse *m) {
  arrjit_value exn, out[2];
  ON_NULL(m, arrjit_try_begin, arrjit_try_begin(NULL));
  ON_NULL(m, arrjit_try_handler, arrjit_try_handler(NULL, 0, NULL, ARRJIT_KIND_ERROR, &exn));
  ON_NULL(m, arrjit_try_finally, arrjit_try_finally(NULL, 0, NULL));
  ON_NULL(m, arrjit_try_end, arrjit_try_end(NULL, 0, NULL, out));
  UNOPENED(m, arrjit_try_handler, "a try", arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn));
  UNOPENED(m, arrjit_try_finally, "a try", arrjit_try_finally(g, 0, NULL));
  UNOPENED(m, arrjit_try_end, "a try", arrjit_try_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_try_handler, "a try", arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn));
  INSIDE_IF(m, arrjit_try_end, "a try", arrjit_try_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_try_handler, "kind", "none", ARRJIT_MISUSE, "handler for 0", arrjit_try_begin(g),
              arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_NONE, &exn));
  BUILD_WHOLE(m, arrjit_try_handler, "kind", "negative", ARRJIT_MISUSE, "handler for -1", arrjit_try_begin(g),
              arrjit_try_handler(g, 0, NULL, -1, &exn));
  BUILD_WHOLE(m, arrjit_try_handler, "kind", "out of range", ARRJIT_MISUSE, "handler for 4711", arrjit_try_begin(g),
              arrjit_try_handler(g, 0, NULL, 4711, &exn));
  BUILD_WHOLE(m, arrjit_try_handler, "values", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_try_begin(g),
              arrjit_try_handler(g, 1, NULL, ARRJIT_KIND_ERROR, &exn));
  BUILD_WHOLE(m, arrjit_try_handler, "order", "after finally", ARRJIT_MISUSE, "handler after the finally",
              arrjit_try_begin(g), arrjit_try_finally(g, 0, NULL),
              arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn));
  BUILD_WHOLE(m, arrjit_try_finally, "order", "twice", ARRJIT_MISUSE, "two finally", arrjit_try_begin(g),
              arrjit_try_finally(g, 0, NULL), arrjit_try_finally(g, 0, NULL));
  BUILD_WHOLE(m, arrjit_try_finally, "values", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_try_begin(g),
              arrjit_try_finally(g, 1, NULL));
  BUILD(m, arrjit_try_end, "values", "of a finally", ARRJIT_TYPE, "finally yields f64; expected nothing",
        arrjit_try_begin(g), arrjit_try_finally(g, 0, NULL), arrjit_try_end(g, 1, &p->real, out));
  BUILD(m, arrjit_try_end, "values", "of another type than the body's", ARRJIT_TYPE, "yields", arrjit_try_begin(g),
        arrjit_try_handler(g, 1, &p->real, ARRJIT_KIND_ERROR, &exn), arrjit_try_end(g, 1, &p->integer, out));
  BUILD_WHOLE(m, arrjit_try_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_try_begin(g),
              arrjit_try_end(g, 1, NULL, out));
  BUILD(m, arrjit_try_handler, "the exception", "used outside", ARRJIT_MISUSE, "exn was made inside",
        arrjit_try_begin(g), arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn), arrjit_try_end(g, 0, NULL, out),
        (void)arrjit_exn_site(g, exn));
  SURVIVES(m, arrjit_try_begin, "graph", "with too many open", {
    arrjit_graph *g = tk_graph(m->f);
    for (int k = 0; k < 1100; k++) arrjit_try_begin(g);
    for (int k = 0; k < 1100; k++) arrjit_try_end(g, 0, NULL, out);
    m->outs.kind = (arrjit_kind)arrjit_graph_error(g, NULL);
    arrjit_graph_destroy(g);
  });
}

/* Over axis 0 of one argument. */
#define FOLD(args, inits, axis_count, axes) arrjit_reduce_begin(g, 1, args, inits, axis_count, axes, a, a + 1)

static void folds(misuse *m) {
  arrjit_value a[2], out[2];
  const int64_t axis = 0, bad = 7;
  ON_NULL(m, arrjit_reduce_begin, arrjit_reduce_begin(NULL, 1, a, a, 1, &axis, a, a));
  ON_NULL(m, arrjit_reduce_end, arrjit_reduce_end(NULL, 1, a, out));
  BUILD_WHOLE(m, arrjit_reduce_begin, "args", "NULL", ARRJIT_MISUSE, "values is NULL", FOLD(NULL, &p->real, 1, &axis));
  BUILD_WHOLE(m, arrjit_reduce_begin, "args", "with the null value", ARRJIT_MISUSE, "null value",
              FOLD(VALUES_(NULL), &p->real, 1, &axis));
  BUILD_WHOLE(m, arrjit_reduce_begin, "args", "of another graph", ARRJIT_MISUSE, "another graph",
              FOLD(&p->foreign, &p->real, 1, &axis));
  BUILD_WHOLE(m, arrjit_reduce_begin, "args", "none", ARRJIT_MISUSE, "reduce: 0 arguments; expected 1 to 16",
              arrjit_reduce_begin(g, 0, NULL, NULL, 1, &axis, NULL, NULL));
  BUILD_WHOLE(m, arrjit_reduce_begin, "args", "too many", ARRJIT_MISUSE, "reduce: 17 arguments; expected 1 to 16",
              arrjit_reduce_begin(g, 17, &p->vector, &p->real, 1, &axis, a, a));
  BUILD_WHOLE(m, arrjit_reduce_begin, "args", "an exception", ARRJIT_TYPE, "is an exception",
              FOLD(&p->exn, &p->real, 1, &axis));
  BUILD_WHOLE(m, arrjit_reduce_begin, "inits", "NULL", ARRJIT_MISUSE, "values is NULL",
              FOLD(&p->vector, NULL, 1, &axis));
  BUILD_WHOLE(m, arrjit_reduce_begin, "inits", "of an arm", ARRJIT_MISUSE, "made inside an arm",
              FOLD(&p->vector, &p->ended, 1, &axis));
  BUILD(m, arrjit_reduce_begin, "inits", "of another dtype", ARRJIT_TYPE, "reduce: init 0 is i64; expected a scalar of",
        FOLD(&p->vector, &p->integer, 1, &axis), arrjit_reduce_end(g, 1, a, out));
  BUILD_WHOLE(m, arrjit_reduce_begin, "axes", "NULL", ARRJIT_MISUSE, "axes is NULL",
              FOLD(&p->vector, &p->real, 1, NULL));
  BUILD_WHOLE(m, arrjit_reduce_begin, "axis_count", "17", ARRJIT_MISUSE, "17 axes; at most 16",
              FOLD(&p->vector, &p->real, 17, &axis));
  BUILD(m, arrjit_reduce_begin, "axes", "out of range", ARRJIT_TYPE, "reduce: ", FOLD(&p->vector, &p->real, 1, &bad),
        arrjit_reduce_end(g, 1, a, out));
  BUILD_WHOLE(m, arrjit_reduce_begin, "out_older", "NULL", ARRJIT_MISUSE, "array for older elements is NULL",
              arrjit_reduce_begin(g, 1, &p->vector, &p->real, 1, &axis, NULL, a));
  BUILD_WHOLE(m, arrjit_reduce_begin, "out_newer", "NULL", ARRJIT_MISUSE, "array for newer elements is NULL",
              arrjit_reduce_begin(g, 1, &p->vector, &p->real, 1, &axis, a, NULL));
  BUILD_WHOLE(m, arrjit_reduce_begin, "order", "inside a combiner", ARRJIT_MISUSE,
              "reduce: has no place inside a combiner", FOLD(&p->vector, &p->real, 1, &axis), FOLD(a, a + 1, 0, NULL));
  UNOPENED(m, arrjit_reduce_end, "a reduce", arrjit_reduce_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_reduce_end, "a reduce", arrjit_reduce_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_reduce_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL",
              FOLD(&p->vector, &p->real, 1, &axis), arrjit_reduce_end(g, 1, NULL, out));
  BUILD(m, arrjit_reduce_end, "values", "an array", ARRJIT_MISUSE,
        "is an array, but inside a combiner there are scalars", FOLD(&p->vector, &p->real, 1, &axis),
        arrjit_reduce_end(g, 1, &p->matrix, out));
  BUILD(m, arrjit_reduce_end, "count", "not the args'", ARRJIT_TYPE, "reduce: combiner yields nothing; expected",
        FOLD(&p->vector, &p->real, 1, &axis), arrjit_reduce_end(g, 0, NULL, out));
}

#define SCAN(args, axis, reverse) arrjit_cumulative_begin(g, 1, args, axis, reverse, a, a + 1)

static void scans(misuse *m) {
  arrjit_value a[2], out[2];
  ON_NULL(m, arrjit_cumulative_begin, arrjit_cumulative_begin(NULL, 1, a, 0, 0, a, a));
  ON_NULL(m, arrjit_cumulative_end, arrjit_cumulative_end(NULL, 1, a, out));
  BUILD_WHOLE(m, arrjit_cumulative_begin, "args", "NULL", ARRJIT_MISUSE, "values is NULL", SCAN(NULL, 0, 0));
  BUILD_WHOLE(m, arrjit_cumulative_begin, "args", "none", ARRJIT_MISUSE, "cumulative: 0 arguments; expected 1 to 16",
              arrjit_cumulative_begin(g, 0, NULL, 0, 0, NULL, NULL));
  BUILD_WHOLE(m, arrjit_cumulative_begin, "args", "of an arm", ARRJIT_MISUSE, "made inside an arm",
              SCAN(&p->ended, 0, 0));
  BUILD_WHOLE(m, arrjit_cumulative_begin, "args", "an exception", ARRJIT_TYPE, "is an exception", SCAN(&p->exn, 0, 0));
  BUILD(m, arrjit_cumulative_begin, "axis", "out of range", ARRJIT_TYPE, "cumulative: ", SCAN(&p->vector, 1, 0),
        arrjit_cumulative_end(g, 1, a, out));
  BUILD(m, arrjit_cumulative_begin, "reverse", "2", ARRJIT_TYPE, "cumulative: reverse is 2; expected 0 or 1",
        SCAN(&p->vector, 0, 2), arrjit_cumulative_end(g, 1, a, out));
  BUILD_WHOLE(m, arrjit_cumulative_begin, "out_older", "NULL", ARRJIT_MISUSE, "array for older elements is NULL",
              arrjit_cumulative_begin(g, 1, &p->vector, 0, 0, NULL, a));
  BUILD_WHOLE(m, arrjit_cumulative_begin, "out_newer", "NULL", ARRJIT_MISUSE, "array for newer elements is NULL",
              arrjit_cumulative_begin(g, 1, &p->vector, 0, 0, a, NULL));
  UNOPENED(m, arrjit_cumulative_end, "a cumulative", arrjit_cumulative_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_cumulative_end, "a cumulative", arrjit_cumulative_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_cumulative_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL", SCAN(&p->vector, 0, 0),
              arrjit_cumulative_end(g, 1, NULL, out));
  BUILD(m, arrjit_cumulative_end, "count", "not the args'", ARRJIT_TYPE,
        "cumulative: combiner yields nothing; expected", SCAN(&p->vector, 0, 0),
        arrjit_cumulative_end(g, 0, NULL, out));
}

#define SORT(args, axis) arrjit_sort_by_begin(g, 1, args, axis, a, a + 1)

static void sorts(misuse *m) {
  arrjit_value a[2], out[2];
  ON_NULL(m, arrjit_sort_by_begin, arrjit_sort_by_begin(NULL, 1, a, 0, a, a));
  ON_NULL(m, arrjit_sort_by_end, arrjit_sort_by_end(NULL, a[0], 1, out));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "args", "NULL", ARRJIT_MISUSE, "values is NULL", SORT(NULL, 0));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "args", "none", ARRJIT_MISUSE, "sort_by: 0 arguments; expected 1 to 16",
              arrjit_sort_by_begin(g, 0, NULL, 0, NULL, NULL));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "args", "of an arm", ARRJIT_MISUSE, "made inside an arm", SORT(&p->ended, 0));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "args", "an exception", ARRJIT_TYPE, "is an exception", SORT(&p->exn, 0));
  BUILD(m, arrjit_sort_by_begin, "axis", "out of range", ARRJIT_TYPE, "sort_by: axis is 1; expected one from 0",
        SORT(&p->vector, 1), arrjit_sort_by_end(g, p->flag, 1, out));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "out_left", "NULL", ARRJIT_MISUSE, "array for left elements is NULL",
              arrjit_sort_by_begin(g, 1, &p->vector, 0, NULL, a));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "out_right", "NULL", ARRJIT_MISUSE, "array for right elements is NULL",
              arrjit_sort_by_begin(g, 1, &p->vector, 0, a, NULL));
  BUILD_WHOLE(m, arrjit_sort_by_begin, "order", "inside a comparator", ARRJIT_MISUSE,
              "sort_by: has no place inside a comparator", SORT(&p->vector, 0), SORT(a, 0));
  UNOPENED(m, arrjit_sort_by_end, "a sort_by", arrjit_sort_by_end(g, p->flag, 0, out));
  INSIDE_IF(m, arrjit_sort_by_end, "a sort_by", arrjit_sort_by_end(g, p->flag, 0, out));
  BUILD(m, arrjit_sort_by_end, "before", "the null value", ARRJIT_MISUSE, "null value", SORT(&p->vector, 0),
        arrjit_sort_by_end(g, NULL, 1, out));
  BUILD(m, arrjit_sort_by_end, "before", "an array", ARRJIT_MISUSE,
        "is an array, but inside a comparator there are scalars", SORT(&p->vector, 0),
        arrjit_sort_by_end(g, p->flags, 1, out));
  BUILD(m, arrjit_sort_by_end, "before", "a number", ARRJIT_TYPE, "sort_by: comparator yields f64; expected bool",
        SORT(&p->vector, 0), arrjit_sort_by_end(g, a[0], 1, out));
  BUILD(m, arrjit_sort_by_end, "count", "not the args'", ARRJIT_MISUSE, "2 results; expected as many as arguments, 1",
        SORT(&p->vector, 0), arrjit_sort_by_end(g, p->flag, 2, out));
}

#define WINDOW(x, init, rank, sizes, strides)                                                                          \
  arrjit_reduce_window_begin(g, 1, x, init, rank, sizes, strides, NULL, NULL, NULL, NULL, a, a + 1)

static void windows(misuse *m) {
  arrjit_value a[2], out[2];
  const int64_t one = 1, none = 0;
  ON_NULL(m, arrjit_reduce_window_begin,
          arrjit_reduce_window_begin(NULL, 1, a, a, 1, &one, NULL, NULL, NULL, NULL, NULL, a, a));
  ON_NULL(m, arrjit_reduce_window_end, arrjit_reduce_window_end(NULL, 1, a, out));
  BUILD_WHOLE(m, arrjit_reduce_window_begin, "args", "the null value", ARRJIT_MISUSE, "null value",
              WINDOW(VALUES_(NULL), &p->real, 1, &one, NULL));
  BUILD_WHOLE(m, arrjit_reduce_window_begin, "args", "of an arm", ARRJIT_MISUSE, "made inside an arm",
              WINDOW(&p->ended, &p->real, 1, &one, NULL));
  BUILD_WHOLE(m, arrjit_reduce_window_begin, "inits", "of another graph", ARRJIT_MISUSE, "another graph",
              WINDOW(&p->vector, &p->foreign, 1, &one, NULL));
  BUILD(m, arrjit_reduce_window_begin, "inits", "of another dtype", ARRJIT_TYPE, "reduce_window: init 0 is i64",
        WINDOW(&p->vector, &p->integer, 1, &one, NULL), arrjit_reduce_window_end(g, 1, a, out));
  BUILD_WHOLE(m, arrjit_reduce_window_begin, "count", "0", ARRJIT_MISUSE,
              "reduce_window: 0 arguments; expected 1 to 16",
              arrjit_reduce_window_begin(g, 0, NULL, NULL, 1, &one, NULL, NULL, NULL, NULL, NULL, a, a));
  BUILD_WHOLE(m, arrjit_reduce_window_begin, "rank", "-1", ARRJIT_MISUSE, "rank is -1; expected 0 to 16",
              WINDOW(&p->vector, &p->real, -1, &one, NULL));
  BUILD(m, arrjit_reduce_window_begin, "rank", "not that of x", ARRJIT_TYPE, "the rank of x",
        WINDOW(&p->vector, &p->real, 0, NULL, NULL), arrjit_reduce_window_end(g, 1, a, out));
  BUILD_WHOLE(m, arrjit_reduce_window_begin, "sizes", "NULL", ARRJIT_MISUSE, "sizes is NULL",
              WINDOW(&p->vector, &p->real, 1, NULL, NULL));
  BUILD(m, arrjit_reduce_window_begin, "sizes", "0", ARRJIT_TYPE, "sizes of axis 0 is 0; expected at least 1",
        WINDOW(&p->vector, &p->real, 1, &none, NULL), arrjit_reduce_window_end(g, 1, a, out));
  BUILD(m, arrjit_reduce_window_begin, "strides", "0", ARRJIT_TYPE, "step of axis 0 is 0; expected at least 1",
        WINDOW(&p->vector, &p->real, 1, &one, &none), arrjit_reduce_window_end(g, 1, a, out));
  UNOPENED(m, arrjit_reduce_window_end, "a reduce_window", arrjit_reduce_window_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_reduce_window_end, "a reduce_window", arrjit_reduce_window_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_reduce_window_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL",
              WINDOW(&p->vector, &p->real, 1, &one, NULL), arrjit_reduce_window_end(g, 1, NULL, out));
}

#define CHOOSE(x, source, init, rank, sizes)                                                                           \
  arrjit_select_and_scatter_begin(g, x, source, init, rank, sizes, NULL, NULL, NULL, a, a + 1)
#define COMBINE(stays) arrjit_select_and_scatter_combine(g, stays, a, a + 1)

static void selections(misuse *m) {
  arrjit_value a[2], out[2];
  const int64_t one = 1, none = 0;
  ON_NULL(m, arrjit_select_and_scatter_begin,
          arrjit_select_and_scatter_begin(NULL, a[0], a[0], a[0], 1, &one, NULL, NULL, NULL, a, a));
  ON_NULL(m, arrjit_select_and_scatter_combine, arrjit_select_and_scatter_combine(NULL, a[0], a, a));
  ON_NULL(m, arrjit_select_and_scatter_end, arrjit_select_and_scatter_end(NULL, a[0], out));
  BUILD_WHOLE(m, arrjit_select_and_scatter_begin, "x", "the null value", ARRJIT_MISUSE, "null value",
              CHOOSE(NULL, p->vector, p->real, 1, &one));
  BUILD_WHOLE(m, arrjit_select_and_scatter_begin, "source", "of another graph", ARRJIT_MISUSE, "another graph",
              CHOOSE(p->vector, p->foreign, p->real, 1, &one));
  BUILD(m, arrjit_select_and_scatter_begin, "source", "of another shape", ARRJIT_TYPE,
        "select_and_scatter: source is f64[5]; expected f64[3], an element for each window of x",
        CHOOSE(p->vector, p->five, p->real, 1, &one), COMBINE(p->flag), arrjit_select_and_scatter_end(g, a[0], out));
  BUILD(m, arrjit_select_and_scatter_begin, "init", "of another dtype", ARRJIT_TYPE, "init 0 is i64",
        CHOOSE(p->vector, p->vector, p->integer, 1, &one), COMBINE(p->flag),
        arrjit_select_and_scatter_end(g, a[0], out));
  BUILD_WHOLE(m, arrjit_select_and_scatter_begin, "rank", "17", ARRJIT_MISUSE, "rank is 17; expected 0 to 16",
              CHOOSE(p->vector, p->vector, p->real, 17, &one));
  BUILD_WHOLE(m, arrjit_select_and_scatter_begin, "sizes", "NULL", ARRJIT_MISUSE, "sizes is NULL",
              CHOOSE(p->vector, p->vector, p->real, 1, NULL));
  BUILD(m, arrjit_select_and_scatter_begin, "sizes", "0", ARRJIT_TYPE, "sizes of axis 0 is 0; expected at least 1",
        CHOOSE(p->vector, p->vector, p->real, 1, &none), COMBINE(p->flag), arrjit_select_and_scatter_end(g, a[0], out));
  UNOPENED(m, arrjit_select_and_scatter_combine, "a select_and_scatter", COMBINE(p->flag));
  UNOPENED(m, arrjit_select_and_scatter_end, "a select_and_scatter", arrjit_select_and_scatter_end(g, p->real, out));
  BUILD(m, arrjit_select_and_scatter_combine, "order", "twice", ARRJIT_MISUSE, "twice for one select_and_scatter",
        CHOOSE(p->vector, p->vector, p->real, 1, &one), COMBINE(p->flag), COMBINE(p->flag),
        arrjit_select_and_scatter_end(g, a[0], out));
  BUILD(m, arrjit_select_and_scatter_combine, "stays", "a number", ARRJIT_TYPE, "comparator yields f64; expected bool",
        CHOOSE(p->vector, p->vector, p->real, 1, &one), COMBINE(a[0]), arrjit_select_and_scatter_end(g, a[0], out));
  BUILD(m, arrjit_select_and_scatter_end, "order", "without combine", ARRJIT_MISUSE,
        "without arrjit_select_and_scatter_combine", CHOOSE(p->vector, p->vector, p->real, 1, &one),
        arrjit_select_and_scatter_end(g, a[0], out));
  BUILD(m, arrjit_select_and_scatter_end, "combined", "a bool", ARRJIT_TYPE, "combiner yields bool; expected f64",
        CHOOSE(p->vector, p->vector, p->real, 1, &one), COMBINE(p->flag),
        arrjit_select_and_scatter_end(g, p->flag, out));
}

static void maps(misuse *m) {
  arrjit_value a[2], out[2];
  ON_NULL(m, arrjit_map_begin, arrjit_map_begin(NULL, 1, a, a));
  ON_NULL(m, arrjit_map_end, arrjit_map_end(NULL, 1, a, out));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_map_begin(g, 1, NULL, a));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "with the null value", ARRJIT_MISUSE, "null value",
              arrjit_map_begin(g, LIST(NULL), a));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "of another graph", ARRJIT_MISUSE, "another graph",
              arrjit_map_begin(g, 1, &p->foreign, a));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "of an arm", ARRJIT_MISUSE, "made inside an arm",
              arrjit_map_begin(g, 1, &p->ended, a));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "of another function", ARRJIT_MISUSE, "another function",
              arrjit_map_begin(g, 1, &p->elsewhere, a));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "none", ARRJIT_MISUSE, "map: no arguments",
              arrjit_map_begin(g, 0, NULL, NULL));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "an exception", ARRJIT_TYPE, "map: argument 0 is an exception",
              arrjit_map_begin(g, 1, &p->exn, a));
  BUILD_WHOLE(m, arrjit_map_begin, "args", "that do not broadcast", ARRJIT_TYPE, "extents 3 and 5 do not broadcast",
              arrjit_map_begin(g, LIST(p->vector, p->five), a));
  BUILD_WHOLE(m, arrjit_map_begin, "out_lanes", "NULL", ARRJIT_MISUSE, "array for lanes is NULL",
              arrjit_map_begin(g, 1, &p->vector, NULL));
  BUILD_WHOLE(m, arrjit_map_begin, "order", "inside a map", ARRJIT_MISUSE, "map: has no place inside a map",
              arrjit_map_begin(g, 1, &p->vector, a), arrjit_map_begin(g, 1, a, a));
  UNOPENED(m, arrjit_map_end, "a map", arrjit_map_end(g, 0, NULL, out));
  INSIDE_IF(m, arrjit_map_end, "a map", arrjit_map_end(g, 0, NULL, out));
  BUILD_WHOLE(m, arrjit_map_end, "values", "NULL", ARRJIT_MISUSE, "values is NULL",
              arrjit_map_begin(g, 1, &p->vector, a), arrjit_map_end(g, 1, NULL, out));
  BUILD(m, arrjit_map_end, "values", "an array", ARRJIT_MISUSE, "is an array, but inside a map there are scalars",
        arrjit_map_begin(g, 1, &p->vector, a), arrjit_map_end(g, 1, &p->matrix, out));
  BUILD(m, arrjit_map_end, "values", "an exception from outside", ARRJIT_TYPE, "map: exn comes from outside",
        arrjit_map_begin(g, 1, &p->vector, a), arrjit_map_end(g, 1, &p->exn, out));
  BUILD(m, arrjit_map_begin, "a lane", "used outside", ARRJIT_MISUSE, "x was made inside",
        arrjit_map_begin(g, 1, &p->vector, a), arrjit_map_end(g, 1, a, out), (void)arrjit_neg(g, a[0]));
}

void misuse_constructs(misuse *m) {
  ifs(m);
  switches(m);
  whiles(m);
  fors(m);
  tries(m);
  maps(m);
  folds(m);
  scans(m);
  sorts(m);
  windows(m);
  selections(m);
}

/* ---- failures ---- */

static void raising(misuse *m) {
  arrjit_value out[1];
  ON_NULL(m, arrjit_raise, arrjit_raise(NULL, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL));
  ON_NULL(m, arrjit_runtime_raise, arrjit_runtime_raise(NULL, "x", 0, NULL));
  ON_NULL(m, arrjit_raise_exn, arrjit_raise_exn(NULL, NULL));
  ON_NULL(m, arrjit_raise_from, arrjit_raise_from(NULL, NULL, NULL));
  ON_NULL(m, arrjit_check, arrjit_check(NULL, NULL, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL, 0, NULL, out));
  const struct {
    arrjit_kind kind;
    const char *how, *part;
  } kinds[] = {{ARRJIT_KIND_NONE, "none", "kind 0 is no kind"},
               {-1, "negative", "kind -1"},
               {4711, "out of range", "kind 4711"}};
  for (size_t i = 0; i < TK_COUNT(kinds); i++) {
    BUILD(m, arrjit_raise, "kind", kinds[i].how, ARRJIT_MISUSE, kinds[i].part,
          arrjit_raise(g, kinds[i].kind, 0, "x", 0, NULL));
    BUILD(m, arrjit_check, "kind", kinds[i].how, ARRJIT_MISUSE, kinds[i].part,
          arrjit_check(g, p->flag, kinds[i].kind, 0, "x", 0, NULL, 0, NULL, out));
    BUILD(m, arrjit_exn_new, "kind", kinds[i].how, ARRJIT_MISUSE, kinds[i].part,
          (void)arrjit_exn_new(g, kinds[i].kind, 0, "x", 0, NULL));
    BUILD(m, arrjit_exn_is, "kind", kinds[i].how, ARRJIT_MISUSE, kinds[i].part,
          (void)arrjit_exn_is(g, p->exn, kinds[i].kind));
  }
  BUILD(m, arrjit_raise, "payload", "NULL", ARRJIT_MISUSE, "values is NULL",
        arrjit_raise(g, ARRJIT_KIND_RUNTIME, 0, "x", 1, NULL));
  BUILD(m, arrjit_raise, "payload_count", "beyond all", ARRJIT_MISUSE,
        "raise: the count is 18446744073709551615; expected at most 1073741823",
        arrjit_raise(g, ARRJIT_KIND_RUNTIME, 0, "x", SIZE_MAX, &p->real));
  BUILD(m, arrjit_raise, "payload", "an exception", ARRJIT_TYPE, "exception",
        RAISE(g, ARRJIT_KIND_RUNTIME, 0, "x", p->exn));
  BUILD(m, arrjit_raise, "payload", "less than the kind's fields", ARRJIT_TYPE, "kind index has 4 fields",
        RAISE(g, ARRJIT_KIND_INDEX, 0, "x", p->integer));
  BUILD(m, arrjit_raise, "payload", "of another dtype than the field", ARRJIT_TYPE, "payload 1 is f64",
        RAISE(g, ARRJIT_KIND_INDEX, 0, "x", p->integer, p->real, p->integer, p->integer));
  BUILD(m, arrjit_raise, "payload", "more than the kind's fields", ARRJIT_TYPE, "kind shape has 0 fields",
        RAISE(g, ARRJIT_KIND_SHAPE, 0, "x", p->integer));
  BUILD(m, arrjit_raise, "payload", "of another graph", ARRJIT_MISUSE, "another graph",
        RAISE(g, ARRJIT_KIND_RUNTIME, 0, "x", p->foreign));
  BUILD(m, arrjit_runtime_raise, "payload", "NULL", ARRJIT_MISUSE, "values is NULL",
        arrjit_runtime_raise(g, "x", 1, NULL));
  BUILD(m, arrjit_runtime_raise, "payload", "with the null value", ARRJIT_MISUSE, "null value",
        arrjit_runtime_raise(g, "x", 1, &(arrjit_value){NULL}));
  BUILD(m, arrjit_raise_exn, "exn", "NULL", ARRJIT_MISUSE, "exn is the null value", arrjit_raise_exn(g, NULL));
  BUILD(m, arrjit_raise_exn, "exn", "an f64", ARRJIT_TYPE, "exn is f64; expected an exception",
        arrjit_raise_exn(g, p->real));
  BUILD(m, arrjit_raise_from, "exn", "NULL", ARRJIT_MISUSE, "exn is the null value",
        arrjit_raise_from(g, NULL, p->exn));
  BUILD(m, arrjit_raise_from, "cause", "NULL", ARRJIT_MISUSE, "cause is the null value",
        arrjit_raise_from(g, p->exn, NULL));
  BUILD(m, arrjit_raise_from, "cause", "an f64", ARRJIT_TYPE, "cause is f64; expected an exception",
        arrjit_raise_from(g, p->exn, p->real));
}

static void checking(misuse *m) {
  arrjit_value out[2];
  const arrjit_kind runtime = ARRJIT_KIND_RUNTIME;
  BUILD(m, arrjit_check, "pred", "NULL", ARRJIT_MISUSE, "pred is the null value",
        CHECK(g, NULL, runtime, 0, "x", NONE, out, p->real));
  BUILD(m, arrjit_check, "pred", "an f64", ARRJIT_TYPE, "pred is f64; expected bool",
        CHECK(g, p->real, runtime, 0, "x", NONE, out, p->real));
  BUILD(m, arrjit_check, "pred", "an exception", ARRJIT_TYPE, "pred",
        CHECK(g, p->exn, runtime, 0, "x", NONE, out, p->real));
  BUILD(m, arrjit_check, "payload", "NULL", ARRJIT_MISUSE, "values is NULL",
        arrjit_check(g, p->flag, runtime, 0, "x", 1, NULL, 0, NULL, out));
  BUILD(m, arrjit_check, "value_count", "beyond all", ARRJIT_MISUSE, "the count is",
        arrjit_check(g, p->flag, runtime, 0, "x", 0, NULL, SIZE_MAX, &p->real, out));
  BUILD(m, arrjit_check, "payload", "not the kind's fields", ARRJIT_TYPE, "kind index",
        CHECK(g, p->flag, ARRJIT_KIND_INDEX, 0, "x", LIST(p->integer), out, p->real));
  BUILD(m, arrjit_check, "values", "NULL", ARRJIT_MISUSE, "values is NULL",
        arrjit_check(g, p->flag, runtime, 0, "x", 0, NULL, 1, NULL, out));
  BUILD(m, arrjit_check, "values", "of another graph", ARRJIT_MISUSE, "another graph",
        CHECK(g, p->flag, runtime, 0, "x", NONE, out, p->foreign));
}

static void exceptions(misuse *m) {
  arrjit_type real = TYPE(F64);
  arrjit_value present;
  GIVES(m, arrjit_exn_new, "graph", "NULL", !arrjit_exn_new(NULL, ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL));
  GIVES(m, arrjit_exn_is, "graph", "NULL", !arrjit_exn_is(NULL, NULL, ARRJIT_KIND_RUNTIME));
  GIVES(m, arrjit_exn_field, "graph", "NULL", !arrjit_exn_field(NULL, NULL, 0, &real, &present));
  BUILD(m, arrjit_exn_new, "payload", "NULL", ARRJIT_MISUSE, "values is NULL",
        (void)arrjit_exn_new(g, ARRJIT_KIND_RUNTIME, 0, "x", 1, NULL));
  BUILD(m, arrjit_exn_new, "payload", "not the kind's fields", ARRJIT_TYPE, "kind shape",
        (void)EXN_NEW(g, ARRJIT_KIND_SHAPE, 0, "x", p->real));
  BUILD(m, arrjit_exn_is, "exn", "NULL", ARRJIT_MISUSE, "exn is the null value",
        (void)arrjit_exn_is(g, NULL, ARRJIT_KIND_ERROR));
  BUILD(m, arrjit_exn_is, "exn", "an f64", ARRJIT_TYPE, "exn is f64; expected an exception",
        (void)arrjit_exn_is(g, p->real, ARRJIT_KIND_ERROR));
  BUILD(m, arrjit_exn_field, "exn", "NULL", ARRJIT_MISUSE, "exn is the null value",
        (void)arrjit_exn_field(g, NULL, 0, &real, &present));
  BUILD(m, arrjit_exn_field, "exn", "an f64", ARRJIT_TYPE, "exn is f64",
        (void)arrjit_exn_field(g, p->real, 0, &real, &present));
  BUILD(m, arrjit_exn_field, "field", "negative", ARRJIT_TYPE, "field is -1",
        (void)arrjit_exn_field(g, p->exn, -1, &real, &present));
  BUILD(m, arrjit_exn_field, "type", "NULL", ARRJIT_MISUSE, "type of a field is NULL",
        (void)arrjit_exn_field(g, p->exn, 0, NULL, &present));
  BUILD(m, arrjit_exn_field, "type", "with a symbol", ARRJIT_TYPE, "no symbolic extents",
        (void)arrjit_exn_field(g, p->exn, 0, &(arrjit_type){ARRJIT_F64, 1, {arrjit_symbol(g, "n")}}, &present));
  BUILD(m, arrjit_exn_field, "out_present", "NULL, which is fine; then no return", ARRJIT_TYPE, "x is i64",
        (void)arrjit_exn_field(g, p->exn, 0, &real, NULL), (void)arrjit_exp(g, p->integer));
}

static void slots(misuse *m) {
  arrjit_type real = TYPE(F64);
  arrjit_value out[2];
  GIVES(m, arrjit_slot_io, "graph", "NULL", arrjit_slot_io(NULL, "s", 0, NULL, 0) == -1);
  GIVES(m, arrjit_slot_value, "graph", "NULL", arrjit_slot_value(NULL, "s", 0, NULL, 0, NULL, 0) == -1);
  BUILD(m, arrjit_slot_io, "name", "NULL", ARRJIT_MISUSE, "slot needs a name",
        (void)arrjit_slot_io(g, NULL, 0, NULL, 0));
  BUILD(m, arrjit_slot_io, "name", "taken", ARRJIT_MISUSE, "slots are called ask",
        (void)arrjit_slot_io(g, "ask", 0, NULL, 0));
  BUILD(m, arrjit_slot_io, "param_count", "beyond all", ARRJIT_MISUSE, "the count is",
        (void)arrjit_slot_io(g, "s", SIZE_MAX, &real, 0));
  BUILD(m, arrjit_slot_value, "result_count", "0", ARRJIT_MISUSE, "slot s: a value slot has one result or more",
        (void)arrjit_slot_value(g, "s", 1, &real, 0, NULL, 0));
  BUILD(m, arrjit_slot_io, "params", "NULL", ARRJIT_MISUSE, "argument's type is NULL",
        (void)arrjit_slot_io(g, "s", 1, NULL, 0));
  BUILD(m, arrjit_slot_io, "flags", "unknown", ARRJIT_MISUSE, "flags 0x80",
        (void)arrjit_slot_io(g, "s", 0, NULL, 0x80));
  BUILD(m, arrjit_slot_value, "name", "empty", ARRJIT_MISUSE, "slot needs a name",
        (void)arrjit_slot_value(g, "", 0, NULL, 1, &real, 0));
  BUILD(m, arrjit_slot_value, "name", "taken", ARRJIT_MISUSE, "slots are called say",
        (void)arrjit_slot_value(g, "say", 0, NULL, 1, &real, 0));
  BUILD(m, arrjit_slot_value, "params", "NULL", ARRJIT_MISUSE, "argument's type is NULL",
        (void)arrjit_slot_value(g, "s", 1, NULL, 1, &real, 0));
  BUILD(m, arrjit_slot_value, "results", "NULL", ARRJIT_MISUSE, "result's type is NULL",
        (void)arrjit_slot_value(g, "s", 1, &real, 1, NULL, 0));
  BUILD(m, arrjit_slot_value, "flags", "optional", ARRJIT_MISUSE, "slot s: a value slot cannot be optional",
        (void)arrjit_slot_value(g, "s", 1, &real, 1, &real, ARRJIT_SLOT_OPTIONAL));
  ON_NULL(m, arrjit_callback, arrjit_callback(NULL, 0, 0, NULL, out));
  BUILD(m, arrjit_callback, "slot", "-1", ARRJIT_MISUSE, "-1 is no callback slot",
        arrjit_callback(g, -1, 0, NULL, out));
  BUILD(m, arrjit_callback, "slot", "out of range", ARRJIT_MISUSE, "99 is no callback slot",
        arrjit_callback(g, 99, 0, NULL, out));
  BUILD(m, arrjit_callback, "args", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_callback(g, p->say, 1, NULL, out));
  BUILD(m, arrjit_callback, "args", "with the null value", ARRJIT_MISUSE, "null value", CALLBACK(g, p->say, out, NULL));
  BUILD(m, arrjit_callback, "args", "of another type", ARRJIT_TYPE, "argument 0 of ask is f64[3]; expected f64",
        CALLBACK(g, p->ask, out, p->vector));
  BUILD(m, arrjit_callback, "arg_count", "too large", ARRJIT_TYPE, "2 arguments for say; expected 1",
        CALLBACK(g, p->say, out, p->real, p->real));
}

void misuse_failures(misuse *m) {
  raising(m);
  checking(m);
  exceptions(m);
  slots(m);
}
