/* The table of misuse: one row a (function, argument, misuse) with what must come of it. Rows are written as macros in
 * the files misuse_*.c; misuse_test.c runs them and demands that the functions named are exactly those that the headers
 * export.
 *
 *   REFUSED(m, arrjit_array_copy, "out", "NULL", ARRJIT_MISUSE, "out is NULL", arrjit_array_copy(m->array, NULL, e));
 *     the call gives that status twice, without an error record (e is NULL) and with one, whose message has the part
 * (NULL: the function takes no record); it writes none of the out-parameters of m->outs. GIVES(m, arrjit_array_rank,
 * "array", "NULL", arrjit_array_rank(NULL) == 0); a function without a status: the expression holds. BUILD(m,
 * arrjit_exp, "x", "an i64", ARRJIT_TYPE, "x is i64", arrjit_exp(g, p->integer)); statements of building in a new graph
 * g, whose values p-> are ready; finishing gives that status and message.
 *
 * A row that does not hold is printed with its function, argument and misuse; the test goes on and fails at its end. */
#ifndef TK_MISUSE_H
#define TK_MISUSE_H

#include <inttypes.h>

#include "fixture.h"

/* What calls would write to. All of it must stay as it was when a call is refused. */
typedef struct misuse_outs {
  arrjit_context *context;
  arrjit_graph *graph;
  arrjit_function *function;
  arrjit_array *array;
  arrjit_result *result;
  arrjit_runner *runner;
  arrjit_job *job;
  arrjit_cancel *cancel;
  arrjit_closure *closure;
  arrjit_kind kind;
  arrjit_type type;
  arrjit_trace_entry entry;
  arrjit_op_row row;
  const char *name;
  char *text;
  size_t bytes;
} misuse_outs;

/* Values of the graph that a BUILD row builds in, of types that are wrong for this or that. */
typedef struct misuse_parts {
  arrjit_value flag, integer, real, vector, matrix, five; /* bool, i64, f64, f64[3], f64[2, 3], f64[5] */
  arrjit_value integers, flags, pair;                     /* i64[3], bool[3], c128 */
  arrjit_value exn;                                       /* an exception */
  arrjit_value foreign, foreign_integer;                  /* f64 and i64 of another graph that is alive */
  arrjit_value ended;                                     /* f64, made inside an arm that has ended */
  arrjit_value elsewhere;                                 /* f64, parameter of another function of the graph */
  arrjit_callee twice;                                    /* f64 -> f64 */
  arrjit_slot say, ask;                                   /* io of f64; value f64 -> f64 */
} misuse_parts;

typedef struct misuse {
  tk_fixture *f;
  arrjit_array *array;       /* f64[3] */
  arrjit_function *function; /* x: f64[3] -> x + x; says the largest to slot say (optional), fails if < 0 */
  arrjit_result *good, *bad; /* of runs that went well and failed */
  arrjit_graph *other;       /* whose values are the foreign ones */
  arrjit_value other_real, other_integer;
  misuse_parts parts;
  misuse_outs outs;
  arrjit_error error;
  /* the row that runs */
  const char *name, *argument, *how;
  size_t rows, failed;
  size_t name_count, name_capacity;
  const char **names; /* functions of the rows so far, each once */
} misuse;

void misuse_begin(misuse *m, const char *function, const char *argument, const char *how);
/* The record to give to the call: none the first time, then m->error. */
arrjit_error *misuse_record(misuse *m, int round);
void misuse_refused(misuse *m, arrjit_status got, arrjit_status want, const char *part);
void misuse_gives(misuse *m, bool holds, const char *expression);
arrjit_graph *misuse_graph(misuse *m);
/* Finishes the graph and destroys it. `closed`: main has returned already. */
void misuse_finish(misuse *m, arrjit_graph *graph, bool closed, arrjit_status want, const char *part);

#define REFUSED(m, function, argument, how, want, part, ...)                                                           \
  do {                                                                                                                 \
    misuse_begin(m, #function, argument, how);                                                                         \
    for (int round_ = 0; round_ < 2; round_++) {                                                                       \
      arrjit_error *e = misuse_record(m, round_);                                                                      \
      (void)e;                                                                                                         \
      misuse_refused(m, (__VA_ARGS__), want, e ? part : NULL);                                                         \
    }                                                                                                                  \
  } while (0)

#define GIVES(m, function, argument, how, ...)                                                                         \
  do {                                                                                                                 \
    misuse_begin(m, #function, argument, how);                                                                         \
    misuse_gives(m, (__VA_ARGS__), #__VA_ARGS__);                                                                      \
  } while (0)

/* A call of a void function: that it returns is all. */
#define SURVIVES(m, function, argument, how, ...)                                                                      \
  do {                                                                                                                 \
    misuse_begin(m, #function, argument, how);                                                                         \
    __VA_ARGS__;                                                                                                       \
    misuse_gives(m, true, #__VA_ARGS__);                                                                               \
  } while (0)

#define BUILD_(m, function, argument, how, closed, want, part, ...)                                                    \
  do {                                                                                                                 \
    misuse_begin(m, #function, argument, how);                                                                         \
    arrjit_graph *g = misuse_graph(m);                                                                                 \
    const misuse_parts *p = &(m)->parts;                                                                               \
    (void)p;                                                                                                           \
    __VA_ARGS__;                                                                                                       \
    misuse_finish(m, g, closed, want, part);                                                                           \
  } while (0)
#define BUILD(m, function, argument, how, want, part, ...)                                                             \
  BUILD_(m, function, argument, how, false, want, part, __VA_ARGS__)
/* The statements return from main themselves, or do not on purpose. */
#define BUILD_WHOLE(m, function, argument, how, want, part, ...)                                                       \
  BUILD_(m, function, argument, how, true, want, part, __VA_ARGS__)

/* The graph and a value operand are refused by all in the same way. call(g, x): the function with x for that operand.
 */
#define ALL_REFUSE(m, function, operand, call)                                                                         \
  GIVES(m, function, "graph", "NULL", (call(NULL, m->other_real)) == NULL);                                            \
  BUILD(m, function, operand, "the null value", ARRJIT_MISUSE, operand " is the null value", (void)(call(g, NULL)));   \
  BUILD(m, function, operand, "of another graph", ARRJIT_MISUSE, operand " is a value of another graph",               \
        (void)(call(g, p->foreign)));                                                                                  \
  BUILD(m, function, operand, "of an arm that has ended", ARRJIT_MISUSE, operand " was made inside an arm",            \
        (void)(call(g, p->ended)));                                                                                    \
  BUILD(m, function, operand, "an exception", ARRJIT_TYPE, "exception", (void)(call(g, p->exn)))
/* One wrong argument: a statement that must not build. */
#define WRONG(m, function, argument, how, part, ...)                                                                   \
  BUILD(m, function, argument, how, ARRJIT_TYPE, part, (void)(__VA_ARGS__))
#define ABSENT(m, function, argument, part, ...)                                                                       \
  BUILD(m, function, argument, "NULL", ARRJIT_MISUSE, part " is NULL", (void)(__VA_ARGS__))

/* The parts of the table. */
void misuse_contexts(misuse *m);
void misuse_arrays(misuse *m);
void misuse_values(misuse *m);
void misuse_constructs(misuse *m);
void misuse_failures(misuse *m);
void misuse_elementwise(misuse *m);
void misuse_operations(misuse *m);
void misuse_compositions(misuse *m);
void misuse_products(misuse *m);
void misuse_random(misuse *m);
void misuse_functions(misuse *m);
void misuse_runs(misuse *m);
void misuse_results(misuse *m);
void misuse_slots(misuse *m);
void misuse_runners(misuse *m);
void misuse_closures(misuse *m);

#endif
