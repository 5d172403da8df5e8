/* Rows of misuse: graphs, types, parameters, constants, functions of a graph, the order of control flow. */
#include "misuse.h"

#define NO_DTYPE ((arrjit_dtype)9999)
/* Every statement that builds, on a graph that is NULL. */
#define ON_NULL(m, function, ...) SURVIVES(m, function, "graph", "NULL", __VA_ARGS__)
#define NULL_OF(m, function, ...) GIVES(m, function, "graph", "NULL", (__VA_ARGS__) == NULL)

/* ---- graphs ---- */

static void graphs(misuse *m) {
  REFUSED(m, arrjit_graph_create, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_graph_create(NULL, &m->outs.graph, e));
  REFUSED(m, arrjit_graph_create, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_graph_create(m->f->context, NULL, e));
  SURVIVES(m, arrjit_graph_destroy, "graph", "NULL", arrjit_graph_destroy(NULL));
  REFUSED(m, arrjit_graph_finish, "graph", "NULL", ARRJIT_MISUSE, "graph is NULL",
          arrjit_graph_finish(NULL, &m->outs.function, e));
  REFUSED(m, arrjit_graph_finish, "out", "NULL", ARRJIT_MISUSE, "out is NULL", arrjit_graph_finish(m->other, NULL, e));
  REFUSED(m, arrjit_graph_error, "graph", "NULL", ARRJIT_MISUSE, "graph is NULL", arrjit_graph_error(NULL, e));
  NULL_OF(m, arrjit_at, arrjit_at(NULL, "file.c", 1));
  BUILD(m, arrjit_at, "file", "NULL", ARRJIT_TYPE, "x is i64", (arrjit_exp)(arrjit_at(g, NULL, 7), p->integer));
  ON_NULL(m, arrjit_label_push, arrjit_label_push(NULL, "label"));
  ON_NULL(m, arrjit_label_pop, arrjit_label_pop(NULL));
  BUILD(m, arrjit_label_push, "label", "NULL", ARRJIT_MISUSE, "label is NULL", arrjit_label_push(g, NULL));
  BUILD(m, arrjit_label_pop, "push", "missing", ARRJIT_MISUSE, "label_pop: without a matching push",
        arrjit_label_pop(g));
}

/* What finishing itself refuses. */
static void finishing(misuse *m) {
  BUILD_WHOLE(m, arrjit_graph_finish, "main", "without a return", ARRJIT_GRAPH,
              "function main is begun but not ended; arrjit_return ends it", (void)g);
  BUILD_WHOLE(m, arrjit_graph_finish, "a function", "that is open", ARRJIT_GRAPH,
              "function ident is begun but not ended",
              arrjit_define(g, arrjit_declare(g, "ident", 0, NULL, 0, NULL), NULL));
  BUILD_WHOLE(m, arrjit_graph_finish, "an if", "that is open", ARRJIT_GRAPH, "an if is begun but not ended",
              arrjit_if_begin(g, p->flag));
  BUILD_WHOLE(m, arrjit_graph_finish, "a while", "that is open", ARRJIT_GRAPH,
              "a while is begun but not ended; arrjit_while_end ends it", arrjit_while_begin(g, 0, NULL, NULL));
  BUILD_WHOLE(m, arrjit_graph_finish, "a try", "that is open", ARRJIT_GRAPH, "a try is begun but not ended",
              arrjit_try_begin(g));
  BUILD(m, arrjit_graph_finish, "a function", "that is declared only", ARRJIT_GRAPH,
        "never is declared but not defined", (void)arrjit_declare(g, "never", 0, NULL, 0, NULL));
  BUILD(m, arrjit_graph_finish, "a symbol", "that no parameter binds", ARRJIT_GRAPH, "extent n of",
        (void)arrjit_iota(g, ARRJIT_F64, 1, I64S(arrjit_symbol(g, "n")), 0));
}

/* A finished graph takes nothing more, and finishing twice says so. */
static void finished(misuse *m) {
  arrjit_graph *g = misuse_graph(m);
  arrjit_function *function = NULL;
  arrjit_value vars[2] = {0};
  (arrjit_return)(g, 1, &m->parts.real, NULL);
  GIVES(m, arrjit_graph_finish, "graph", "that is fine", arrjit_graph_finish(g, &function, &m->error) == ARRJIT_OK);
  GIVES(m, arrjit_add, "graph", "finished", !arrjit_add(g, m->parts.real, m->parts.real));
  SURVIVES(m, arrjit_if_begin, "graph", "finished", arrjit_if_begin(g, m->parts.flag));
  SURVIVES(m, arrjit_if_end, "graph", "finished", arrjit_if_end(g, 0, NULL, vars));
  SURVIVES(m, arrjit_while_begin, "graph", "finished", arrjit_while_begin(g, 1, &m->parts.real, vars));
  SURVIVES(m, arrjit_while_end, "graph", "finished", arrjit_while_end(g, 1, vars, vars));
  SURVIVES(m, arrjit_return, "graph", "finished", (arrjit_return)(g, 1, &m->parts.real, NULL));
  SURVIVES(m, arrjit_call, "graph", "finished", arrjit_call(g, m->parts.twice, 1, &m->parts.real, vars));
  SURVIVES(m, arrjit_callback, "graph", "finished", arrjit_callback(g, m->parts.say, 1, &m->parts.real, vars));
  SURVIVES(m, arrjit_define, "graph", "finished", arrjit_define(g, m->parts.twice, vars));
  GIVES(m, arrjit_declare, "graph", "finished", arrjit_declare(g, "late", 0, NULL, 0, NULL) == -1);
  GIVES(m, arrjit_slot_io, "graph", "finished", arrjit_slot_io(g, "late", 0, NULL, 0) == -1);
  GIVES(m, arrjit_param, "graph", "finished", !arrjit_param(g, "late", &m->outs.type));
  REFUSED(m, arrjit_graph_finish, "graph", "finished", ARRJIT_MISUSE, "finished",
          arrjit_graph_finish(g, &m->outs.function, e));
  arrjit_graph_destroy(g);
  arrjit_function_release(function);
}

/* ---- types, symbols, parameters, constants ---- */

static void types(misuse *m) {
  GIVES(m, arrjit_type_make, "dims", "NULL", arrjit_type_make(ARRJIT_F64, 2, NULL).dims[0] < 0);
  GIVES(m, arrjit_type_make, "rank", "17", arrjit_type_make(ARRJIT_F64, 17, (int64_t[17]){0}).rank == 17);
  GIVES(m, arrjit_type_make, "rank", "negative", arrjit_type_make(ARRJIT_F64, -5, I64S(1)).rank < 0);
  GIVES(m, arrjit_value_type, "value", "NULL", arrjit_value_type(NULL).rank == -1);
  GIVES(m, arrjit_symbol, "graph", "NULL", arrjit_symbol(NULL, "n") == 0);
  BUILD(m, arrjit_symbol, "name", "NULL", ARRJIT_MISUSE, "a symbol needs a name", (void)arrjit_symbol(g, NULL));
  BUILD(m, arrjit_symbol, "name", "empty", ARRJIT_MISUSE, "a symbol needs a name", (void)arrjit_symbol(g, ""));
  BUILD(m, arrjit_symbol, "name", "no word", ARRJIT_MISUSE, "symbol \"2n\"", (void)arrjit_symbol(g, "2n"));
  BUILD_WHOLE(m, arrjit_symbol, "main", "that has returned", ARRJIT_MISUSE, "no function is being built",
              arrjit_return(g, 0, NULL, NULL), (void)arrjit_symbol(g, "n"));
}

/* The types that parameters, constants, signatures and fields refuse. */
static void bad_types(misuse *m) {
  const struct {
    const char *how;
    arrjit_type type;
    arrjit_status status;
    const char *part;
  } rows[] = {
      {"without a dtype", {.dtype = ARRJIT_DTYPE_NONE, .rank = 0}, ARRJIT_MISUSE, "dtype 0"},
      {"of an unknown dtype", {.dtype = NO_DTYPE, .rank = 0}, ARRJIT_MISUSE, "dtype 9999"},
      {"of rank 17", {.dtype = ARRJIT_F64, .rank = 17}, ARRJIT_MISUSE, "rank 17"},
      {"without its dims", arrjit_type_make(ARRJIT_F64, 3, NULL), ARRJIT_MISUSE, "has rank 3 but no dims were given"},
      {"of rank -2", {.dtype = ARRJIT_F64, .rank = -2}, ARRJIT_MISUSE, "rank -2"},
      {"with a symbol that is none", TYPE(F64, -99), ARRJIT_MISUSE, "dim 0 is -99"},
      {"too large to address", TYPE(F64, INT64_MAX, INT64_MAX), ARRJIT_TYPE, "bytes"},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    const arrjit_type *type = &rows[i].type;
    BUILD(m, arrjit_param, "type", rows[i].how, rows[i].status, rows[i].part, (void)arrjit_param(g, "bad", type));
    BUILD(m, arrjit_const, "type", rows[i].how, rows[i].status, rows[i].part, (void)arrjit_const(g, type, "01234567"));
    BUILD(m, arrjit_declare, "params", rows[i].how, rows[i].status, rows[i].part,
          (void)arrjit_declare(g, "bad", 1, type, 0, NULL));
    BUILD(m, arrjit_declare, "results", rows[i].how, rows[i].status, rows[i].part,
          (void)arrjit_declare(g, "bad", 0, NULL, 1, type));
    BUILD(m, arrjit_slot_io, "params", rows[i].how, rows[i].status, rows[i].part,
          (void)arrjit_slot_io(g, "bad", 1, type, 0));
    BUILD(m, arrjit_slot_value, "results", rows[i].how, rows[i].status, rows[i].part,
          (void)arrjit_slot_value(g, "bad", 0, NULL, 1, type, 0));
    BUILD(m, arrjit_exn_field, "type", rows[i].how, rows[i].status, rows[i].part,
          (void)arrjit_exn_field(g, p->exn, 0, type, NULL));
  }
}

static void parameters(misuse *m) {
  arrjit_type real = TYPE(F64), exn = {.dtype = ARRJIT_BOOL, .rank = -1};
  NULL_OF(m, arrjit_param, arrjit_param(NULL, "x", &real));
  BUILD(m, arrjit_param, "type", "NULL", ARRJIT_MISUSE, "parameter is NULL", (void)arrjit_param(g, "x", NULL));
  BUILD(m, arrjit_param, "type", "that of an exception", ARRJIT_MISUSE, "rank -1", (void)arrjit_param(g, "x", &exn));
  BUILD(m, arrjit_param, "name", "taken", ARRJIT_MISUSE, "two parameters are called real",
        (void)arrjit_param(g, "real", &real));
  BUILD(m, arrjit_param, "function", "with declared parameters", ARRJIT_MISUSE, "other has its parameters",
        arrjit_define(g, arrjit_declare(g, "other", 0, NULL, 0, NULL), NULL), (void)arrjit_param(g, "x", &real));
  BUILD_WHOLE(m, arrjit_param, "main", "that has returned", ARRJIT_MISUSE, "main has returned",
              arrjit_return(g, 0, NULL, NULL), (void)arrjit_param(g, "x", &real));
}

static void constants(misuse *m) {
  arrjit_type three = TYPE(F64, 3), flags = TYPE(BOOL, 2);
  NULL_OF(m, arrjit_const, arrjit_const(NULL, &three, m->outs.name));
  BUILD(m, arrjit_const, "type", "NULL", ARRJIT_MISUSE, "constant is NULL", (void)arrjit_const(g, NULL, "x"));
  BUILD(m, arrjit_const, "data", "NULL", ARRJIT_MISUSE, "data of a constant is NULL",
        (void)arrjit_const(g, &three, NULL));
  BUILD(m, arrjit_const, "data", "no bool", ARRJIT_MISUSE, "byte 1 of bool data is 7",
        (void)arrjit_const(g, &flags, "\1\7"));
  BUILD(m, arrjit_const, "type", "with a symbol", ARRJIT_TYPE, "symbolic",
        (void)arrjit_const(g, &(arrjit_type){.dtype = ARRJIT_F64, .rank = 1, .dims = {arrjit_symbol(g, "n")}}, "x"));
  NULL_OF(m, arrjit_const_bool, arrjit_const_bool(NULL, 1));
  NULL_OF(m, arrjit_const_i32, arrjit_const_i32(NULL, 1));
  NULL_OF(m, arrjit_const_i64, arrjit_const_i64(NULL, 1));
  NULL_OF(m, arrjit_const_f32, arrjit_const_f32(NULL, 1));
  NULL_OF(m, arrjit_const_f64, arrjit_const_f64(NULL, 1));
  NULL_OF(m, arrjit_const_like, arrjit_const_like(NULL, m->other_real, 1));
  BUILD(m, arrjit_const_like, "like", "NULL", ARRJIT_MISUSE, "like is the null value",
        (void)arrjit_const_like(g, NULL, 1));
  BUILD(m, arrjit_const_like, "like", "an exception", ARRJIT_MISUSE, "like is an exception",
        (void)arrjit_const_like(g, p->exn, 1));
  BUILD(m, arrjit_const_like, "value", "a fraction for i64", ARRJIT_TYPE, "no i64 is 1.5",
        (void)arrjit_const_like(g, p->integer, 1.5));
  BUILD(m, arrjit_const_like, "value", "NaN for i64", ARRJIT_TYPE, "no i64",
        (void)arrjit_const_like(g, p->integer, NAN));
  BUILD(m, arrjit_const_like, "value", "2^63 for i64", ARRJIT_TYPE, "no i64",
        (void)arrjit_const_like(g, p->integer, 0x1p63));
  BUILD(m, arrjit_const_like, "value", "2 for bool", ARRJIT_TYPE, "no bool is 2",
        (void)arrjit_const_like(g, p->flag, 2));
}

/* ---- functions of a graph ---- */

static void declaring(misuse *m) {
  arrjit_type real = TYPE(F64);
  arrjit_value params[1] = {NULL};
  GIVES(m, arrjit_declare, "graph", "NULL", arrjit_declare(NULL, "f", 0, NULL, 0, NULL) == -1);
  BUILD(m, arrjit_declare, "name", "NULL", ARRJIT_MISUSE, "needs a name",
        (void)arrjit_declare(g, NULL, 0, NULL, 0, NULL));
  BUILD(m, arrjit_declare, "name", "empty", ARRJIT_MISUSE, "needs a name",
        (void)arrjit_declare(g, "", 0, NULL, 0, NULL));
  BUILD(m, arrjit_declare, "name", "taken", ARRJIT_MISUSE, "two functions are called twice",
        (void)arrjit_declare(g, "twice", 0, NULL, 0, NULL));
  BUILD(m, arrjit_declare, "name", "main", ARRJIT_MISUSE, "two functions are called main",
        (void)arrjit_declare(g, "main", 0, NULL, 0, NULL));
  BUILD(m, arrjit_declare, "params", "NULL", ARRJIT_MISUSE, "parameter's type is NULL",
        (void)arrjit_declare(g, "f", 2, NULL, 0, NULL));
  BUILD(m, arrjit_declare, "results", "NULL", ARRJIT_MISUSE, "result's type is NULL",
        (void)arrjit_declare(g, "f", 1, &real, 2, NULL));
  ON_NULL(m, arrjit_define, arrjit_define(NULL, 0, params));
  BUILD(m, arrjit_define, "callee", "-1", ARRJIT_MISUSE, "define: -1 is no function", arrjit_define(g, -1, params));
  BUILD(m, arrjit_define, "callee", "out of range", ARRJIT_MISUSE, "define: 99 is no function",
        arrjit_define(g, 99, params));
  BUILD(m, arrjit_define, "callee", "main", ARRJIT_MISUSE, "main is defined already", arrjit_define(g, 0, params));
  BUILD(m, arrjit_define, "callee", "defined", ARRJIT_MISUSE, "twice is defined already",
        arrjit_define(g, p->twice, params));
  BUILD(m, arrjit_define, "out_params", "NULL", ARRJIT_MISUSE, "array for parameters is NULL",
        arrjit_define(g, arrjit_declare(g, "f", 1, &real, 0, NULL), NULL));
}

static void returning(misuse *m) {
  arrjit_type real = TYPE(F64);
  ON_NULL(m, arrjit_return, arrjit_return(NULL, 0, NULL, NULL));
  BUILD_WHOLE(m, arrjit_return, "values", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_return(g, 1, NULL, NULL));
  BUILD_WHOLE(m, arrjit_return, "values", "with the null value", ARRJIT_MISUSE, "null value", RETURN(g, p->real, NULL));
  BUILD_WHOLE(m, arrjit_return, "values", "of another graph", ARRJIT_MISUSE, "another graph", RETURN(g, p->foreign));
  BUILD_WHOLE(m, arrjit_return, "values", "of another function", ARRJIT_MISUSE, "another function",
              RETURN(g, p->elsewhere));
  BUILD_WHOLE(m, arrjit_return, "values", "of an arm", ARRJIT_MISUSE, "arm or body that has ended",
              RETURN(g, p->ended));
  BUILD_WHOLE(m, arrjit_return, "values", "with an exception", ARRJIT_TYPE, "value 0 is an exception",
              RETURN(g, p->exn));
  BUILD_WHOLE(m, arrjit_return, "main", "that has returned", ARRJIT_MISUSE, "return: inside no function",
              RETURN(g, p->real), RETURN(g, p->real));
  BUILD_WHOLE(m, arrjit_return, "an if", "that is open", ARRJIT_MISUSE, "return: inside an if",
              arrjit_if_begin(g, p->flag), RETURN(g, p->real));
  BUILD(m, arrjit_return, "count", "not the declared one", ARRJIT_TYPE, "0 values; function f declares 1",
        arrjit_define(g, arrjit_declare(g, "f", 0, NULL, 1, &real), NULL), arrjit_return(g, 0, NULL, NULL));
  BUILD(m, arrjit_return, "values", "not of the declared type", ARRJIT_TYPE, "value 0 is i64; function f declares f64",
        arrjit_define(g, arrjit_declare(g, "f", 0, NULL, 1, &real), NULL), RETURN(g, arrjit_const_i64(g, 1)));
}

static void calling(misuse *m) {
  arrjit_value out[1];
  ON_NULL(m, arrjit_call, arrjit_call(NULL, 0, 0, NULL, NULL));
  BUILD(m, arrjit_call, "callee", "-1", ARRJIT_MISUSE, "call: -1 is no function", arrjit_call(g, -1, 0, NULL, out));
  BUILD(m, arrjit_call, "callee", "out of range", ARRJIT_MISUSE, "99 is no function", arrjit_call(g, 99, 0, NULL, out));
  BUILD(m, arrjit_call, "callee", "main", ARRJIT_MISUSE, "main cannot be called", arrjit_call(g, 0, 0, NULL, out));
  BUILD(m, arrjit_call, "args", "NULL", ARRJIT_MISUSE, "values is NULL", arrjit_call(g, p->twice, 1, NULL, out));
  BUILD(m, arrjit_call, "args", "with the null value", ARRJIT_MISUSE, "null value", CALL(g, p->twice, out, NULL));
  BUILD(m, arrjit_call, "args", "of another graph", ARRJIT_MISUSE, "another graph", CALL(g, p->twice, out, p->foreign));
  BUILD(m, arrjit_call, "args", "of another type", ARRJIT_TYPE, "argument 0 of twice is i64; expected f64",
        CALL(g, p->twice, out, p->integer));
  BUILD(m, arrjit_call, "args", "an exception", ARRJIT_TYPE, "argument 0 of twice is exn",
        CALL(g, p->twice, out, p->exn));
  BUILD(m, arrjit_call, "arg_count", "too small", ARRJIT_TYPE, "0 arguments for twice; expected 1",
        arrjit_call(g, p->twice, 0, NULL, out));
  BUILD(m, arrjit_call, "arg_count", "too large", ARRJIT_TYPE, "2 arguments for twice",
        CALL(g, p->twice, out, p->real, p->real));
}

void misuse_values(misuse *m) {
  graphs(m);
  finishing(m);
  finished(m);
  types(m);
  bad_types(m);
  parameters(m);
  constants(m);
  declaring(m);
  returning(m);
  calling(m);
}
