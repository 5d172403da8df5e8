/* What tests of semantics stand on: a context with a counting allocator, short ways to make types, arrays and values,
 * and running a function in every mode with the demand that all of them show the same.
 *
 *   static void test_x(void **state) {
 *     tk_fixture *f = *state;
 *     arrjit_graph *g = tk_graph(f);
 *     arrjit_value x = PARAM(g, "x", F32, 3);
 *     RETURN(g, arrjit_add(g, x, x));
 *     const tk_outcome *o = RUN(f, tk_finish(f, g), ARRAY(f, F32, 1, 2, 3));
 *     EXPECT(o, 0, F32, 2, 4, 6);
 *   }
 *
 * Whatever a fixture gave away ends with it, and then nothing of the library's may be left. */
#ifndef TK_FIXTURE_H
#define TK_FIXTURE_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "modes.h"
#include "test_main.h"

enum { TK_MAX_SLOTS = 8 };

typedef struct tk_fixture {
  tk_alloc alloc;
  arrjit_context *context;
  size_t array_count, function_count, outcome_count;
  arrjit_array **arrays;
  arrjit_function **functions;
  tk_outcome **outcomes;
  size_t slot_count;
  tk_slot slots[TK_MAX_SLOTS];
  bool may_fall_back;                       /* whole: nodes that native code leaves to routines are fine */
  bool calls_lapack;                        /* whose time between two polls is not ours */
  arrjit_array *const *outputs;             /* given to runs, or NULL */
  arrjit_limits limits;                     /* of runs */
  void (*before_run)(struct tk_fixture *f); /* around every run of tk_run, or NULL */
  void (*after_run)(struct tk_fixture *f);
  void *user;
} tk_fixture;

/* cmocka setup and teardown of one test. */
int tk_setup(void **state);
int tk_teardown(void **state);
#define TK_TEST(function) cmocka_unit_test_setup_teardown(function, tk_setup, tk_teardown)

/* ---- graphs ---- */
arrjit_graph *tk_graph(tk_fixture *f);
/* Finishes and destroys the graph; the test fails when finishing does. The fixture releases the function. */
arrjit_function *tk_finish(tk_fixture *f, arrjit_graph *graph);
/* Finishes a graph that must be refused with `status`; the message must contain `part`. Destroys it. */
void tk_finish_fails(tk_fixture *f, arrjit_graph *graph, arrjit_status status, const char *part, arrjit_error *out);

#define DIMS_(...) ((const int64_t[]){0, ##__VA_ARGS__})
#define DIM_COUNT_(...) ((int32_t)(sizeof(DIMS_(__VA_ARGS__)) / sizeof(int64_t)) - 1)
/* A type: TYPE(F32) is a scalar, TYPE(F32, 2, 3) a matrix. */
#define TYPE(DT, ...) arrjit_type_make(ARRJIT_##DT, DIM_COUNT_(__VA_ARGS__), DIMS_(__VA_ARGS__) + 1)
#define PARAM(g, name, DT, ...) (arrjit_param)(ARRJIT_AT_(g), name, (const arrjit_type[]){TYPE(DT, ##__VA_ARGS__)})
#define VALUES_(...) ((const arrjit_value[]){__VA_ARGS__})
#define VALUE_COUNT_(...) (sizeof(VALUES_(__VA_ARGS__)) / sizeof(arrjit_value))
/* "n, values" of building calls. */
#define LIST(...) VALUE_COUNT_(__VA_ARGS__), VALUES_(__VA_ARGS__)
/* "n, integers" of ops with lists of axes and the like: (arrjit_transpose)(g, x, INTS(1, 0)). */
#define INTS(...) (size_t)DIM_COUNT_(__VA_ARGS__), DIMS_(__VA_ARGS__) + 1
#define I64S(...) ((const int64_t[]){__VA_ARGS__})
/* The library's own macros cannot take LIST for two arguments; these can. They note file and line as well. */
#define RETURN(g, ...) (arrjit_return)(ARRJIT_AT_(g), LIST(__VA_ARGS__), NULL)
#define WHILE(g, vars, ...) (arrjit_while_begin)(ARRJIT_AT_(g), LIST(__VA_ARGS__), vars)
#define FOR(g, lo, hi, step, index, vars, ...)                                                                         \
  (arrjit_for_begin)(ARRJIT_AT_(g), lo, hi, step, LIST(__VA_ARGS__), index, vars)
#define CALL(g, callee, out, ...) (arrjit_call)(ARRJIT_AT_(g), callee, LIST(__VA_ARGS__), out)
#define RAISE(g, kind, code, message, ...) (arrjit_raise)(ARRJIT_AT_(g), kind, code, message, LIST(__VA_ARGS__))
/* if pred { raise } */
#define RAISE_IF(g, pred, kind, code, message, ...)                                                                    \
  do {                                                                                                                 \
    arrjit_if_begin(g, pred);                                                                                          \
    RAISE(g, kind, code, message, ##__VA_ARGS__);                                                                      \
    arrjit_if_else(g, 0, NULL);                                                                                        \
    arrjit_if_end(g, 0, NULL, NULL);                                                                                   \
  } while (0)
/* `payload` is LIST(...) or NONE. */
#define CHECK(g, pred, kind, code, message, payload, out, ...)                                                         \
  (arrjit_check)(ARRJIT_AT_(g), pred, kind, code, message, payload, LIST(__VA_ARGS__), out)
#define EXN_NEW(g, kind, code, message, ...) (arrjit_exn_new)(ARRJIT_AT_(g), kind, code, message, LIST(__VA_ARGS__))
#define NONE 0, NULL
#define CALLBACK(g, slot, out, ...) (arrjit_callback)(ARRJIT_AT_(g), slot, LIST(__VA_ARGS__), out)
#define TYPES(...) sizeof((arrjit_type[]){__VA_ARGS__}) / sizeof(arrjit_type), ((const arrjit_type[]){__VA_ARGS__})
/* A 1-d constant. */
#define CONST(g, DT, ...)                                                                                              \
  (arrjit_const)(ARRJIT_AT_(g), (const arrjit_type[]){TYPE(DT, DATA_COUNT_(DT, __VA_ARGS__))}, DATA_(DT, __VA_ARGS__))

/* ---- arrays ---- */
typedef uint8_t TK_BOOL, TK_U8;
typedef int8_t TK_I8;
typedef int16_t TK_I16;
typedef int32_t TK_I32;
typedef int64_t TK_I64;
typedef uint16_t TK_U16;
typedef uint32_t TK_U32;
typedef uint64_t TK_U64;
typedef float TK_F32;
typedef double TK_F64;
typedef uint16_t TK_F16, TK_BF16; /* bits */
typedef float _Complex TK_C64;
typedef double _Complex TK_C128;
/* Released with the fixture. `data` NULL: zeros. */
arrjit_array *tk_array(tk_fixture *f, arrjit_type type, const void *data);
/* The fixture releases an array made elsewhere. */
arrjit_array *tk_keep(tk_fixture *f, arrjit_array *array);
#define DATA_(DT, ...) ((const TK_##DT[]){__VA_ARGS__})
#define DATA_COUNT_(DT, ...) ((int64_t)(sizeof(DATA_(DT, __VA_ARGS__)) / sizeof(TK_##DT)))
#define ARRAY(f, DT, ...) tk_array(f, TYPE(DT, DATA_COUNT_(DT, __VA_ARGS__)), DATA_(DT, __VA_ARGS__))
#define SCALAR(f, DT, x) tk_array(f, TYPE(DT), DATA_(DT, x))
/* SHAPED(f, TYPE(F32, 2, 2), F32, 1, 2, 3, 4) */
#define SHAPED(f, type, DT, ...) tk_array(f, type, DATA_(DT, __VA_ARGS__))

/* ---- running ---- */
/* Binds a slot for the runs that follow; calls are logged in any case. Returns the slot, to set `user`. */
tk_slot *tk_bind(tk_fixture *f, const char *name, tk_behaviour *behave, void *user);
/* What a tk_behaviour takes, and that it does not look at all of it. */
#define CALLBACK_ARGS                                                                                                  \
  tk_slot *slot, arrjit_call_info *call, size_t arg_count, const arrjit_view *args, size_t result_count,               \
      const arrjit_view *results
#define UNUSED_CALLBACK (void)slot, (void)call, (void)arg_count, (void)args, (void)result_count, (void)results
/* Runs in every mode, and with donated copies of the inputs; all must show the same, and whole must have been native
 * with nothing left to routines (unless f->may_fall_back) or to the interpreter. Gives the interpreter's outcome, freed
 * with the fixture. */
const tk_outcome *tk_run(tk_fixture *f, arrjit_function *function, size_t input_count, arrjit_array *const *inputs);
#define RUN(f, function, ...)                                                                                          \
  tk_run(f, function, sizeof((arrjit_array *[]){NULL, ##__VA_ARGS__}) / sizeof(arrjit_array *) - 1,                    \
         ((arrjit_array *const[]){NULL, ##__VA_ARGS__}) + 1)

/* ---- looking at outcomes; failures of the test name the caller's line ---- */
void tk_expect(const tk_outcome *o, size_t output, arrjit_dtype dtype, size_t count, const void *data, const char *file,
               int line);
void tk_expect_payload(const tk_outcome *o, size_t field, arrjit_dtype dtype, size_t count, const void *data,
                       const char *file, int line);
void tk_expect_shape(const tk_outcome *o, size_t output, int32_t rank, const int64_t *dims, const char *file, int line);
void tk_expect_ok(const tk_outcome *o, const char *file, int line);
void tk_expect_failure(const tk_outcome *o, arrjit_kind kind, int64_t code, const char *message, const char *file,
                       int line);
/* The output is ok, has the dtype, and exactly these elements, bit by bit, in row-major order. */
#define EXPECT(o, output, DT, ...)                                                                                     \
  tk_expect(o, output, ARRJIT_##DT, (size_t)DATA_COUNT_(DT, __VA_ARGS__), DATA_(DT, __VA_ARGS__), __FILE__, __LINE__)
#define EXPECT_SHAPE(o, output, ...)                                                                                   \
  tk_expect_shape(o, output, DIM_COUNT_(__VA_ARGS__), DIMS_(__VA_ARGS__) + 1, __FILE__, __LINE__)
#define EXPECT_OK(o) tk_expect_ok(o, __FILE__, __LINE__)
/* `message` NULL: not looked at. */
#define EXPECT_FAILURE(o, kind, code, message) tk_expect_failure(o, kind, code, message, __FILE__, __LINE__)
#define EXPECT_PAYLOAD(o, field, DT, ...)                                                                              \
  tk_expect_payload(o, field, ARRJIT_##DT, (size_t)DATA_COUNT_(DT, __VA_ARGS__), DATA_(DT, __VA_ARGS__), __FILE__,     \
                    __LINE__)

#endif
