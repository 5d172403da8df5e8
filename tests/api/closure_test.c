/* Functions as plain C function pointers: which signature they have, what C callers get, how failures come out. Run in
 * the interpreter and as native code. */
#include <pthread.h>

#include "fixture.h"

enum { THREADS = 8 };

static arrjit_closure_options options_of(arrjit_run_options *run, int whole, unsigned flags) {
  *run = (arrjit_run_options){.struct_bytes = sizeof *run, .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
  return (arrjit_closure_options){.struct_bytes = sizeof(arrjit_closure_options), .flags = flags, .run = run};
}

static arrjit_closure *create(arrjit_function *function, const arrjit_closure_options *options) {
  arrjit_closure *closure = NULL;
  arrjit_error error;
  if (arrjit_closure_create(function, options, &closure, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  return closure;
}

static arrjit_closure *make(arrjit_function *function, int whole, unsigned flags) {
  arrjit_run_options run;
  const arrjit_closure_options options = options_of(&run, whole, flags);
  return create(function, &options);
}

#define POINTER(closure, type) ((type)arrjit_closure_pointer(closure))
#define EACH_MODE(whole) for (int whole = 0; whole <= tk_native(); whole++)

/* The failure that waits: its kind, taken. */
static arrjit_kind take_kind(arrjit_closure *closure) {
  arrjit_result *result = arrjit_closure_take_error(closure);
  arrjit_kind kind = arrjit_result_kind(result);
  arrjit_result_destroy(result);
  return kind;
}

/* ---- signatures ---- */

/* A function of those parameters that gives the first `results` of them. */
static arrjit_function *pass(tk_fixture *f, size_t params, const arrjit_type *types, size_t results) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value values[8];
  for (size_t i = 0; i < params; i++) values[i] = (arrjit_param)(g, NULL, &types[i]);
  arrjit_return(g, results, values, NULL);
  return tk_finish(f, g);
}

static void expect_signature(arrjit_function *function, unsigned flags, const char *text) {
  arrjit_closure *closure = make(function, 0, flags);
  assert_string_equal(arrjit_closure_signature(closure), text);
  arrjit_closure_release(closure);
}

static void test_signatures(void **state) {
  tk_fixture *f = *state;
  const arrjit_type mixed[] = {TYPE(F64), TYPE(I32), TYPE(BOOL), TYPE(U8, 2, 3), TYPE(F32, 0)};
  const arrjit_type reals[] = {TYPE(F64), TYPE(F64, 3)}, turned[] = {reals[1], reals[0]};
  const unsigned pointers = ARRJIT_CLOSURE_BY_POINTER, user = ARRJIT_CLOSURE_USER;
  expect_signature(pass(f, 5, mixed, 1), 0, "double (*)(double, int32_t, bool, const uint8_t *, const float *)");
  expect_signature(pass(f, 2, mixed, 2), 0, "int (*)(double, int32_t, double *, int32_t *)");
  expect_signature(pass(f, 3, mixed, 1), pointers, "double (*)(const double *, const int32_t *, const bool *)");
  expect_signature(pass(f, 2, turned, 1), user, "int (*)(const double *, double, double *, void *)");
  expect_signature(pass(f, 2, reals, 1), pointers | user, "double (*)(const double *, const double *, void *)");
  expect_signature(pass(f, 0, NULL, 0), 0, "int (*)(void)");
  expect_signature(pass(f, 0, NULL, 0), user, "int (*)(void *)");
}

static void test_what_has_no_place_in_c_is_refused(void **state) {
  tk_fixture *f = *state;
  arrjit_closure *closure = NULL;
  arrjit_error error;
  arrjit_graph *g = tk_graph(f);
  int64_t n = arrjit_symbol(g, "n");
  arrjit_value x = PARAM(g, "x", F64, n);
  RETURN(g, (arrjit_reduce_sum)(g, x, INTS(0)));
  arrjit_function *symbolic = tk_finish(f, g);
  assert_int_equal(arrjit_closure_create(symbolic, NULL, &closure, &error), ARRJIT_TYPE);
  assert_string_equal(error.message, "parameter 0 (x) is f64[n]: a C caller passes no extents; make the function for a "
                                     "fixed one");
  g = tk_graph(f);
  arrjit_slot slot = arrjit_slot_value(g, "read", NONE, TYPES(TYPE(F64, ARRJIT_DYNAMIC_DIM)), 0);
  (arrjit_callback)(g, slot, 0, NULL, &x);
  RETURN(g, x);
  assert_int_equal(arrjit_closure_create(tk_finish(f, g), NULL, &closure, &error), ARRJIT_TYPE);
  assert_non_null(strstr(error.message, "a C caller cannot know how much memory to give"));
  g = tk_graph(f);
  RETURN(g, PARAM(g, "x", F16));
  assert_int_equal(arrjit_closure_create(tk_finish(f, g), NULL, &closure, &error), ARRJIT_TYPE);
  assert_string_equal(error.message, "parameter 0 (x) is f16: C has no such element type");
  g = tk_graph(f);
  RETURN(g, arrjit_convert(g, PARAM(g, "x", F32), ARRJIT_BF16));
  assert_int_equal(arrjit_closure_create(tk_finish(f, g), NULL, &closure, &error), ARRJIT_TYPE);
  assert_string_equal(error.message, "result 0 is bf16: C has no such element type");
  g = tk_graph(f);
  for (int i = 0; i < 65; i++) x = PARAM(g, NULL, F64);
  arrjit_return(g, 0, NULL, NULL);
  assert_int_equal(arrjit_closure_create(tk_finish(f, g), NULL, &closure, &error), ARRJIT_LIMIT);
  assert_null(closure);
}

/* ---- values ---- */

/* x * y - x */
static arrjit_function *make_formula(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), y = PARAM(g, "y", F64);
  RETURN(g, arrjit_sub(g, arrjit_mul(g, x, y), x));
  return tk_finish(f, g);
}

static void test_two_doubles(void **state) {
  arrjit_function *function = make_formula(*state);
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, 0);
    double (*formula)(double, double) = POINTER(closure, double (*)(double, double));
    for (int i = 0; i < 100; i++) assert_true(formula(i, 0.5) == i * 0.5 - i);
    assert_int_equal(arrjit_closure_failures(closure), 0);
    assert_null(arrjit_closure_take_error(closure));
    arrjit_closure_release(closure);
  }
}

/* x + y in each dtype, by value and by pointer: the sums wrap, and narrow results are as wide as a register. */
#define EXPECT_SUM(f, DT, type, a, b)                                                                                  \
  do {                                                                                                                 \
    arrjit_graph *g = tk_graph(f);                                                                                     \
    arrjit_value x = PARAM(g, "x", DT), y = PARAM(g, "y", DT);                                                         \
    RETURN(g, arrjit_add(g, x, y));                                                                                    \
    arrjit_function *function = tk_finish(f, g);                                                                       \
    type s = (type)(a), t = (type)(b), want = (type)(s + t);                                                           \
    EACH_MODE(whole) {                                                                                                 \
      arrjit_closure *value = make(function, whole, 0), *pointer = make(function, whole, ARRJIT_CLOSURE_BY_POINTER);   \
      assert_true(POINTER(value, type (*)(type, type))(s, t) == want);                                                 \
      assert_true(POINTER(pointer, type (*)(const type *, const type *))(&s, &t) == want);                             \
      arrjit_closure_release(value);                                                                                   \
      arrjit_closure_release(pointer);                                                                                 \
    }                                                                                                                  \
  } while (0)

static void test_every_dtype(void **state) {
  tk_fixture *f = *state;
  EXPECT_SUM(f, I8, int8_t, -100, 120);
  EXPECT_SUM(f, I8, int8_t, 100, 120);
  EXPECT_SUM(f, U8, uint8_t, 200, 100);
  EXPECT_SUM(f, I16, int16_t, -30000, -30000);
  EXPECT_SUM(f, U16, uint16_t, 65535, 3);
  EXPECT_SUM(f, I32, int32_t, -5, 3);
  EXPECT_SUM(f, U32, uint32_t, UINT32_MAX, 1u);
  EXPECT_SUM(f, I64, int64_t, INT64_MIN, 7);
  EXPECT_SUM(f, U64, uint64_t, UINT64_MAX, 2u);
  EXPECT_SUM(f, F32, float, 0.1F, 2.5F);
  EXPECT_SUM(f, F64, double, 0.1, 2.5);
}

static void test_bools(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", BOOL), y = PARAM(g, "y", BOOL);
  RETURN(g, arrjit_and(g, x, arrjit_not(g, y)));
  arrjit_function *function = tk_finish(f, g);
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, 0);
    for (int k = 0; k < 4; k++)
      assert_true(POINTER(closure, bool (*)(bool, bool))(k & 1, k & 2) == ((k & 1) && !(k & 2)));
    /* a caller that was compiled with another idea of bool */
    assert_true(POINTER(closure, bool (*)(int, int))(0x700, 0) == false);
    assert_true(POINTER(closure, bool (*)(int, int))(0x702, 0) == true);
    arrjit_closure_release(closure);
  }
}

/* ---- arrays ---- */

/* (x, y: f64[2, 2]) -> (transpose of x + y, sum of x): two results. */
static arrjit_function *make_matrices(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 2, 2), y = PARAM(g, "y", F64, 2, 2);
  RETURN(g, (arrjit_transpose)(g, arrjit_add(g, x, y), INTS(1, 0)), (arrjit_reduce_sum)(g, x, INTS(0, 1)));
  return tk_finish(f, g);
}

typedef int matrices_fn(const double *, const double *, double *, double *);

static void test_arrays_in_and_out(void **state) {
  arrjit_function *function = make_matrices(*state);
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, 0);
    matrices_fn *matrices = POINTER(closure, matrices_fn *);
    double x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, sum[4], total;
    assert_int_equal(matrices(x, y, sum, &total), 0);
    assert_memory_equal(sum, ((double[]){11, 33, 22, 44}), sizeof sum);
    assert_true(total == 10);
    /* a result over a parameter */
    assert_int_equal(matrices(x, y, x, &total), 0);
    assert_memory_equal(x, ((double[]){11, 33, 22, 44}), sizeof x);
    assert_true(total == 10);
    /* nothing aligned */
    char block[6 * sizeof x + 1];
    double *odd = (double *)(void *)(block + 1); /* never read as a double here */
    memcpy(block + 1, y, sizeof y);
    assert_int_equal(matrices(odd, y, odd + 4, odd + 8), 0);
    memcpy(sum, block + 1 + sizeof y, sizeof sum);
    memcpy(&total, block + 1 + 2 * sizeof y, sizeof total);
    assert_memory_equal(sum, ((double[]){20, 60, 40, 80}), sizeof sum);
    assert_true(total == 100);
    arrjit_closure_release(closure);
  }
}

static void test_null_pointers_are_failures(void **state) {
  tk_fixture *f = *state;
  arrjit_closure *closure = make(make_matrices(f), 0, 0);
  matrices_fn *matrices = POINTER(closure, matrices_fn *);
  double x[4] = {0}, total;
  assert_int_equal(matrices(x, NULL, x, &total), 1);
  assert_int_equal(matrices(x, x, x, NULL), 1);
  arrjit_result *result = arrjit_closure_take_error(closure);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_ARGUMENT);
  assert_string_equal(arrjit_result_message(result), "parameter 1: the pointer is NULL");
  arrjit_result_destroy(result);
  arrjit_closure_release(closure);
  const arrjit_type none = TYPE(F64, 0);
  closure = make(pass(f, 1, &none, 1), 0, 0); /* nothing is there to point at */
  assert_int_equal(POINTER(closure, int (*)(const double *, double *))(NULL, NULL), 0);
  arrjit_closure_release(closure);
}

/* ---- what other libraries call ---- */

/* -1, 0, 1 for f64 scalars. */
static arrjit_function *make_comparator(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value a = PARAM(g, "a", F64), b = PARAM(g, "b", F64);
  arrjit_value above = arrjit_convert(g, arrjit_gt(g, a, b), ARRJIT_I32);
  arrjit_value below = arrjit_convert(g, arrjit_lt(g, a, b), ARRJIT_I32);
  RETURN(g, arrjit_sub(g, above, below));
  return tk_finish(f, g);
}

static void test_qsort(void **state) {
  arrjit_function *function = make_comparator(*state);
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, ARRJIT_CLOSURE_BY_POINTER);
    double numbers[200];
    for (int i = 0; i < 200; i++) numbers[i] = (i * 7919) % 200 - 100.5;
    qsort(numbers, 200, sizeof *numbers, POINTER(closure, int (*)(const void *, const void *)));
    for (int i = 0; i < 200; i++) assert_true(numbers[i] == i - 100.5);
    arrjit_closure_release(closure);
  }
}

/* A right-hand side as GSL wants it: y' = (y1, -y0). */
typedef int rhs_fn(double t, const double *y, double *dy, void *params);

static int step_rk4(rhs_fn *rhs, double t, double h, double y[2]) {
  double k[4][2], at[2];
  const double shift[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < 2; i++) at[i] = y[i] + (s ? h * shift[s] * k[s - 1][i] : 0);
    int status = rhs(t + h * shift[s], at, k[s], NULL);
    if (status) return status;
  }
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 2; i++) y[i] += h / 6 * weight[s] * k[s][i];
  return 0;
}

static void test_rk4(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  (void)PARAM(g, "t", F64);
  arrjit_value y = PARAM(g, "y", F64, 2), p = (arrjit_slice)(g, y, 1, I64S(1), I64S(2), I64S(1));
  arrjit_value q = arrjit_neg(g, (arrjit_slice)(g, y, 1, I64S(0), I64S(1), I64S(1)));
  RETURN(g, (arrjit_concat)(g, LIST(p, q), 0));
  arrjit_function *function = tk_finish(f, g);
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, ARRJIT_CLOSURE_USER);
    double at[2] = {1, 0};
    for (int i = 0; i < 100; i++) assert_int_equal(step_rk4(POINTER(closure, rhs_fn *), i * 0.01, 0.01, at), 0);
    assert_true(fabs(at[0] - cos(1.0)) < 1e-9 && fabs(at[1] + sin(1.0)) < 1e-9);
    arrjit_closure_release(closure);
  }
}

/* ---- failures ---- */

/* x when it is above 0, else a failure with x as payload; in dtype DT. */
#define MAKE_POSITIVE(f, DT, zero)                                                                                     \
  ({                                                                                                                   \
    arrjit_graph *g_ = tk_graph(f);                                                                                    \
    arrjit_value x_ = PARAM(g_, "x", DT), out_;                                                                        \
    CHECK(g_, arrjit_gt(g_, x_, zero), ARRJIT_KIND_RUNTIME, 9, "{0} is not above 0", LIST(x_), &out_, x_);             \
    RETURN(g_, out_);                                                                                                  \
    tk_finish(f, g_);                                                                                                  \
  })

static void test_the_first_failure_waits(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = MAKE_POSITIVE(f, F64, arrjit_const_f64(g_, 0));
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, 0);
    double (*positive)(double) = POINTER(closure, double (*)(double));
    assert_true(positive(2) == 2);
    assert_true(isnan(positive(-3)));
    assert_true(isnan(positive(-4)));
    assert_true(positive(5) == 5); /* it works on */
    assert_int_equal(arrjit_closure_failures(closure), 2);
    arrjit_result *result = arrjit_closure_take_error(closure);
    assert_int_equal(arrjit_result_ok(result), 0);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_RUNTIME);
    assert_int_equal(arrjit_result_code(result), 9);
    assert_string_equal(arrjit_result_message(result), "-3 is not above 0");
    assert_int_equal(arrjit_result_trace_count(result), 1);
    arrjit_result_destroy(result);
    assert_null(arrjit_closure_take_error(closure));
    assert_true(isnan(positive(-6)));
    assert_int_equal(take_kind(closure), ARRJIT_KIND_RUNTIME);
    assert_true(isnan(positive(-7))); /* not taken: goes with the closure */
    arrjit_closure_release(closure);
  }
}

static void test_failures_as_each_type(void **state) {
  tk_fixture *f = *state;
  arrjit_function *f32 = MAKE_POSITIVE(f, F32, arrjit_const_f32(g_, 0));
  arrjit_function *i32 = MAKE_POSITIVE(f, I32, arrjit_const_i32(g_, 0));
  arrjit_function *i64 = MAKE_POSITIVE(f, I64, arrjit_const_i64(g_, 0));
  arrjit_closure *a = make(f32, 0, 0), *b = make(i32, 0, 0), *c = make(i64, 0, 0);
  assert_true(isnan(POINTER(a, float (*)(float))(-1)));
  assert_int_equal(POINTER(b, int32_t (*)(int32_t))(-1), 0);
  assert_int_equal(POINTER(c, int64_t (*)(int64_t))(-1), 0);
  arrjit_closure_release(a);
  arrjit_closure_release(b);
  arrjit_closure_release(c);
}

/* Cancelled, native code that is not to be had, a context that is gone: kinds like any other. */
static void test_runs_that_cannot_start_are_failures(void **state) {
  tk_fixture *f = *state;
  arrjit_cancel *cancel;
  assert_int_equal(arrjit_cancel_create(f->context, &cancel, NULL), ARRJIT_OK);
  arrjit_run_options run;
  arrjit_closure_options options = options_of(&run, 0, 0);
  run.cancel = cancel;
  arrjit_closure *closure = create(make_formula(f), &options);
  double (*formula)(double, double) = POINTER(closure, double (*)(double, double));
  assert_true(formula(2, 3) == 4);
  arrjit_cancel_trigger(cancel);
  arrjit_cancel_release(cancel);
  assert_true(isnan(formula(2, 3)));
  assert_int_equal(take_kind(closure), ARRJIT_KIND_CANCELLED);
  arrjit_closure_release(closure);

  arrjit_context *context = tk_context(NULL);
  arrjit_graph *g;
  arrjit_function *function;
  assert_int_equal(arrjit_graph_create(context, &g, NULL), ARRJIT_OK);
  RETURN(g, PARAM(g, "x", F64));
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_graph_destroy(g);
  closure = make(function, 0, 0);
  arrjit_function_release(function);
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
  assert_true(isnan(POINTER(closure, double (*)(double))(1)));
  arrjit_result *result = arrjit_closure_take_error(closure);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_RUNTIME);
  assert_int_equal(arrjit_result_code(result), ARRJIT_MISUSE);
  assert_non_null(strstr(arrjit_result_message(result), "context was destroyed"));
  arrjit_result_destroy(result);
  arrjit_closure_release(closure);
}

/* ---- callbacks ---- */

/* f(n) = n <= 1 ? 1 : n * host(n - 1); the host calls f. */
static arrjit_function *make_factorial(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type i64 = TYPE(I64);
  arrjit_slot slot = arrjit_slot_value(g, "again", 1, &i64, 1, &i64, 0);
  arrjit_value n = PARAM(g, "n", I64), one = arrjit_const_i64(g, 1), below, out;
  arrjit_if_begin(g, arrjit_le(g, n, one));
  arrjit_if_else(g, 1, &one);
  CALLBACK(g, slot, &below, arrjit_sub(g, n, one));
  arrjit_if_end(g, LIST(arrjit_mul(g, n, below)), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

typedef struct recursion {
  arrjit_closure *closure;
  bool release; /* gives the closure up from inside its call */
} recursion;

static arrjit_status call_again(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                size_t result_count, const arrjit_view *results) {
  recursion *r = user;
  (void)call, (void)arg_count, (void)result_count;
  int64_t n = *(const int64_t *)args[0].data;
  *(int64_t *)results[0].data = POINTER(r->closure, int64_t (*)(int64_t))(n);
  if (r->release && n == 3) arrjit_closure_release(r->closure);
  return ARRJIT_OK;
}

static void test_closures_call_themselves(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = make_factorial(f);
  EACH_MODE(whole) {
    recursion r = {.closure = NULL};
    char slot[] = "again";
    arrjit_binding binding = {.slot = slot, .callback = call_again, .user = &r};
    arrjit_run_options run;
    const arrjit_closure_options options = options_of(&run, whole, 0);
    run.binding_count = 1;
    run.bindings = &binding;
    r.closure = create(function, &options);
    memset(slot, 'x', sizeof slot - 1); /* it was copied */
    assert_int_equal(POINTER(r.closure, int64_t (*)(int64_t))(10), 3628800);
    r.release = true;
    assert_int_equal(POINTER(r.closure, int64_t (*)(int64_t))(10), 3628800);
  }
}

static arrjit_status halve(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                           size_t result_count, const arrjit_view *results) {
  (void)user, (void)call, (void)arg_count, (void)result_count;
  *(int64_t *)results[0].data = *(const int64_t *)args[0].data / 2;
  return ARRJIT_OK;
}

/* What the function itself is bound to counts where the closure binds nothing. */
static void test_bindings_of_the_function_count(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = make_factorial(f);
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, 0);
    int64_t (*call)(int64_t) = POINTER(closure, int64_t (*)(int64_t));
    const arrjit_binding binding = {.slot = "again", .callback = halve}, none = {.slot = "again"};
    assert_int_equal(arrjit_function_bind(function, &none, NULL, NULL), ARRJIT_OK);
    assert_int_equal(call(9), 0);
    assert_int_equal(take_kind(closure), ARRJIT_KIND_UNBOUND);
    assert_int_equal(arrjit_function_bind(function, &binding, NULL, NULL), ARRJIT_OK);
    assert_int_equal(call(9), 9 * 4);
    arrjit_closure_release(closure);
  }
}

/* ---- memory ---- */

static void test_warm_native_calls_allocate_nothing(void **state) {
  tk_fixture *f = *state;
  arrjit_statistics before, after;
  if (!tk_native()) skip();
  arrjit_closure *pair = make(make_formula(f), 1, 0), *arrays = make(make_matrices(f), 1, 0);
  double x[4] = {1, 2, 3, 4}, sum[4], total, all = 0;
  for (int round = 0; round < 2; round++) {
    arrjit_context_get_statistics(f->context, &before);
    for (int i = 0; i < 1000; i++) {
      all += POINTER(pair, double (*)(double, double))(i, 2);
      assert_int_equal(POINTER(arrays, matrices_fn *)(x, x, sum, &total), 0);
    }
    arrjit_context_get_statistics(f->context, &after);
  }
  assert_true(all == 2 * 999 * 500.0);
  assert_true(after.allocations == before.allocations);
  arrjit_closure_release(pair);
  arrjit_closure_release(arrays);
}

/* Making one and calling it, the k-th allocation refused: nothing leaks, and it works afterwards. */
static void test_every_allocation_may_fail(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = make_formula(f);
  bool all = false;
  for (int64_t k = 1; !all; k++) {
    arrjit_closure *closure = NULL;
    tk_alloc_arm(&f->alloc, k);
    arrjit_status status = arrjit_closure_create(function, NULL, &closure, NULL);
    double value = closure ? POINTER(closure, double (*)(double, double))(4, 3) : 0;
    all = atomic_load(&f->alloc.failed) == 0;
    tk_alloc_arm(&f->alloc, 0);
    if (!closure) {
      assert_int_equal(status, ARRJIT_MEMORY);
      continue;
    }
    assert_true(isnan(value) ? arrjit_closure_failures(closure) == 1 : value == 8);
    arrjit_result *result = arrjit_closure_take_error(closure);
    if (result) assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_MEMORY);
    arrjit_result_destroy(result);
    assert_true(POINTER(closure, double (*)(double, double))(4, 3) == 8);
    arrjit_closure_release(closure);
  }
}

/* ---- threads ---- */

typedef struct caller {
  arrjit_closure *closure;
  pthread_t thread;
  int index;
  int64_t wrong, failed;
} caller;

static void *call_many(void *arg) {
  enum { CALLS = 3000 };
  caller *me = arg;
  double (*positive)(double) = POINTER(me->closure, double (*)(double));
  for (int i = 1; i <= CALLS; i++) {
    bool bad = i % 10 == me->index;
    double x = me->index * CALLS + i, value = positive(bad ? -x : x);
    me->failed += bad;
    me->wrong += bad ? !isnan(value) : value != x;
    if (i % 100 == 0) arrjit_result_destroy(arrjit_closure_take_error(me->closure));
  }
  arrjit_closure_release(me->closure);
  return NULL;
}

static void test_threads_call_one_closure(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = MAKE_POSITIVE(f, F64, arrjit_const_f64(g_, 0));
  EACH_MODE(whole) {
    arrjit_closure *closure = make(function, whole, 0);
    caller callers[THREADS] = {0};
    int64_t failed = 0;
    for (int i = 0; i < THREADS; i++) {
      callers[i] = (caller){.closure = closure, .index = i};
      arrjit_closure_retain(closure);
      assert_int_equal(pthread_create(&callers[i].thread, NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      pthread_join(callers[i].thread, NULL);
      assert_int_equal(callers[i].wrong, 0);
      failed += callers[i].failed;
    }
    assert_int_equal(arrjit_closure_failures(closure), failed);
    arrjit_closure_release(closure);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_signatures),
    TK_TEST(test_what_has_no_place_in_c_is_refused),
    TK_TEST(test_two_doubles),
    TK_TEST(test_every_dtype),
    TK_TEST(test_bools),
    TK_TEST(test_arrays_in_and_out),
    TK_TEST(test_null_pointers_are_failures),
    TK_TEST(test_qsort),
    TK_TEST(test_rk4),
    TK_TEST(test_the_first_failure_waits),
    TK_TEST(test_failures_as_each_type),
    TK_TEST(test_runs_that_cannot_start_are_failures),
    TK_TEST(test_closures_call_themselves),
    TK_TEST(test_bindings_of_the_function_count),
    TK_TEST(test_warm_native_calls_allocate_nothing),
    TK_TEST(test_every_allocation_may_fail),
    TK_TEST(test_threads_call_one_closure),
};

TEST_MAIN(tests, NULL, NULL)
