/* What a run may use: by its own limits, else by the options of the context. In every mode the same end. */
#include <pthread.h>
#include <time.h>

#include "fixture.h"

static void set_option(tk_fixture *f, arrjit_option option, int64_t value) {
  arrjit_error error;
  if (arrjit_context_set_option(f->context, option, value, &error) != ARRJIT_OK) fail_msg("%s", error.message);
}

/* for i in [0, n): x = x + 1 */
static arrjit_function *build_loop(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), i, var, out;
  FOR(g, arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), &i, &var, arrjit_const_i64(g, 0));
  arrjit_for_end(g, LIST(arrjit_add(g, var, i)), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

#define USED_UP "the run has used up its loop iterations, max_iterations is "
#define TOO_DEEP "calls are nested too deep, max_depth is "
#define TIME_IS_UP "the run has used up its wall time, "

static void test_limit_of_iterations(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_loop(f);
  f->limits.iterations = 10;
  EXPECT(RUN(f, function, SCALAR(f, I64, 10)), 0, I64, 45);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 11));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, USED_UP "10");
  assert_string_equal(o->path, "yield < for body 10");
  set_option(f, ARRJIT_OPTION_MAX_ITERATIONS, 5);
  EXPECT(RUN(f, function, SCALAR(f, I64, 10)), 0, I64, 45); /* the run's own says otherwise */
  f->limits.iterations = 0;
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 10)), ARRJIT_KIND_LIMIT, 0, USED_UP "5");
}

/* No handler but one by name takes it, and what was reached stays reached. */
static void test_limit_stays_reached(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), i, exn, out;
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(TYPE(I64)), 0);
  for (int k = 0; k < 2; k++) {
    arrjit_try_begin(g);
    (arrjit_for_begin)(ARRJIT_AT_(g), arrjit_const_i64(g, 0), n, arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
    arrjit_for_end(g, 0, NULL, NULL);
    arrjit_try_handler(g, 0, NULL, k ? ARRJIT_KIND_ERROR : ARRJIT_KIND_LIMIT, &exn);
    CALLBACK(g, seen, &out, n);
    arrjit_try_end(g, 0, NULL, NULL);
  }
  RETURN(g, n);
  tk_bind(f, "seen", NULL, NULL);
  f->limits.iterations = 3;
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 4));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, USED_UP "3");
  assert_string_equal(o->path, "yield < for body 0 < try body");
  assert_string_equal(o->log, "seen i64[]=0400000000000000\n");
}

static void test_limit_of_depth(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), param, more, out;
  arrjit_callee down = arrjit_declare(g, "down", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, down, &param);
  arrjit_if_begin(g, arrjit_le(g, param, arrjit_const_i64(g, 0)));
  arrjit_if_else(g, 1, &param);
  CALL(g, down, &more, arrjit_sub(g, param, arrjit_const_i64(g, 1)));
  arrjit_if_end(g, LIST(arrjit_add(g, more, param)), &out);
  RETURN(g, out);
  CALL(g, down, &out, n);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  f->limits.depth = 4;
  EXPECT(RUN(f, function, SCALAR(f, I64, 3)), 0, I64, 6);
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, I64, 4)), ARRJIT_KIND_LIMIT, 0, TOO_DEEP "4");
  f->limits.depth = 2000; /* above the option's 1000 */
  EXPECT(RUN(f, function, SCALAR(f, I64, 1500)), 0, I64, 1125750);
}

/* rest(n): n calls inside each other. */
static arrjit_callee define_down(arrjit_graph *g) {
  arrjit_value n, more, out;
  arrjit_callee down = arrjit_declare(g, "down", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, down, &n);
  arrjit_if_begin(g, arrjit_le(g, n, arrjit_const_i64(g, 0)));
  arrjit_if_else(g, 1, &n);
  CALL(g, down, &more, arrjit_sub(g, n, arrjit_const_i64(g, 1)));
  arrjit_if_end(g, 1, &more, &out);
  RETURN(g, out);
  return down;
}

enum { THEN_LOOP, THEN_CALL, THEN_MAP, THEN_NOTHING };

/* Too deep calls, taken by a handler; then something else. */
static arrjit_function *build_caught_depth(tk_fixture *f, int then) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), x = PARAM(g, "x", I64, 3), exn, out, i, lane, var, mapped;
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(TYPE(I64)), 0);
  arrjit_callee down = define_down(g);
  arrjit_try_begin(g);
  CALL(g, down, &out, n);
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_LIMIT, &exn);
  CALLBACK(g, seen, &out, n);
  arrjit_try_end(g, 1, &out, &out);
  if (then == THEN_LOOP) {
    FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 2), arrjit_const_i64(g, 1), &i, &var, out);
    arrjit_for_end(g, LIST(arrjit_add(g, var, i)), &out);
  }
  if (then == THEN_CALL) CALL(g, down, &out, arrjit_const_i64(g, 0));
  mapped = x;
  if (then == THEN_MAP) {
    (arrjit_map_begin)(ARRJIT_AT_(g), LIST(x), &lane);
    FOR(g, arrjit_const_i64(g, 0), lane, arrjit_const_i64(g, 1), &i, &var, lane);
    arrjit_for_end(g, LIST(arrjit_add(g, var, i)), &var);
    arrjit_map_end(g, 1, &var, &mapped);
  }
  RETURN(g, out, mapped);
  tk_bind(f, "seen", NULL, NULL);
  return tk_finish(f, g);
}

/* Whoever takes it, the next back-edge and the next call raise it again; what has neither goes on. */
static void test_depth_stays_reached(void **state) {
  tk_fixture *f = *state;
  static const char *const paths[] = {
      [THEN_LOOP] = "yield < for body 0", [THEN_CALL] = "call", [THEN_MAP] = "yield < for body 0 < map lane 1"};
  f->limits.depth = 5;
  for (int then = THEN_LOOP; then <= THEN_NOTHING; then++) {
    arrjit_function *function = build_caught_depth(f, then);
    EXPECT_OK(RUN(f, function, SCALAR(f, I64, 4), ARRAY(f, I64, 0, 2, 3)));
    const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 5), ARRAY(f, I64, 0, 2, 3));
    assert_string_equal(o->log, "seen i64[]=0500000000000000\n");
    if (then == THEN_NOTHING) {
      EXPECT(o, 0, I64, 5);
      continue;
    }
    EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, TOO_DEEP "5");
    assert_string_equal(o->path, paths[then]);
  }
}

/* A finally may still loop and call, but not too deep either. */
static void test_reached_limit_spares_finally(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), out, i, var;
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(TYPE(I64)), 0);
  arrjit_callee down = define_down(g);
  arrjit_try_begin(g);
  CALL(g, down, &out, n);
  arrjit_try_finally(g, 1, &out);
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 3), arrjit_const_i64(g, 1), &i, &var, n);
  arrjit_for_end(g, LIST(arrjit_add(g, var, i)), &var);
  CALLBACK(g, seen, &var, var);
  CALL(g, down, &var, arrjit_const_i64(g, 1));
  CALLBACK(g, seen, &var, var);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  tk_bind(f, "seen", NULL, NULL);
  f->limits.depth = 5;
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 9));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, TOO_DEEP "5");
  assert_string_equal(o->log, "seen i64[]=0c00000000000000\nseen i64[]=0000000000000000\n");
}

/* A call that nobody needs the result of is made, and counts, all the same. */
static void test_unused_calls_count(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), out;
  arrjit_callee inner = arrjit_declare(g, "inner", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_callee outer = arrjit_declare(g, "outer", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, inner, &out);
  RETURN(g, arrjit_neg(g, out));
  arrjit_define(g, outer, &out);
  CALL(g, inner, &out, out);
  RETURN(g, out);
  CALL(g, outer, &out, n);
  RETURN(g, n);
  arrjit_function *function = tk_finish(f, g);
  f->limits.depth = 2;
  EXPECT(RUN(f, function, SCALAR(f, I64, 3)), 0, I64, 3);
  f->limits.depth = 1;
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 3));
  EXPECT_FAILURE(o, ARRJIT_KIND_LIMIT, 0, TOO_DEEP "1");
  assert_string_equal(o->path, "call < call");
}

/* ---- memory: counted in the function as it was built, so to the byte the same in every tier ---- */

/* The run goes well with so many bytes; with one less it fails, at `path`. Gives the failure. */
static const tk_outcome *check_need(tk_fixture *f, arrjit_function *function, int64_t bytes, const char *path,
                                    size_t input_count, arrjit_array *const *inputs) {
  char message[100];
  (void)snprintf(message, sizeof message, "the run needs %lld bytes, max_run_bytes is %lld", (long long)bytes,
                 (long long)bytes - 1);
  f->limits.bytes = bytes;
  EXPECT_OK(tk_run(f, function, input_count, inputs));
  f->limits.bytes = bytes - 1;
  const tk_outcome *o = tk_run(f, function, input_count, inputs);
  EXPECT_FAILURE(o, ARRJIT_KIND_MEMORY, 0, message);
  assert_string_equal(o->path, path);
  f->limits.bytes = 0;
  return o;
}
#define CHECK_NEED(f, function, bytes, path, ...)                                                                      \
  check_need(f, function, bytes, path, sizeof((arrjit_array *[]){NULL, ##__VA_ARGS__}) / sizeof(arrjit_array *) - 1,   \
             ((arrjit_array *const[]){NULL, ##__VA_ARGS__}) + 1)

/* Two of the three arrays are there at a time, and nothing has run when they are too many. */
static void test_limit_of_memory(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, arrjit_symbol(g, "n")), y, k;
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(TYPE(I64)), 0);
  CALLBACK(g, seen, &k, arrjit_const_i64(g, 1));
  y = arrjit_add(g, x, x);
  RETURN(g, arrjit_sqrt(g, arrjit_mul(g, y, y)));
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "seen", NULL, NULL);
  const tk_outcome *o = CHECK_NEED(f, function, 2 * 3 * 8, "", ARRAY(f, F64, 1, 2, 3));
  assert_string_equal(o->log, "");
  (void)CHECK_NEED(f, function, 2 * 1000 * 8, "", tk_array(f, TYPE(F64, 1000), NULL));
  set_option(f, ARRJIT_OPTION_MAX_RUN_BYTES, 47);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, F64, 1, 2, 3)), ARRJIT_KIND_MEMORY, 0,
                 "the run needs 48 bytes, max_run_bytes is 47");
  f->limits.bytes = 48; /* the run's own says otherwise */
  EXPECT_OK(RUN(f, function, ARRAY(f, F64, 1, 2, 3)));
}

/* Tiers ask the host for other amounts, in the same words. */
static void test_host_without_memory(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), wide = arrjit_iota(g, ARRJIT_F64, INTS(300000), 0);
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(TYPE(F64, 300000)), 0);
  CALLBACK(g, seen, &wide, arrjit_mul(g, wide, x));
  RETURN(g, (arrjit_reduce_sum)(g, wide, INTS(0)));
  arrjit_function *function = tk_finish(f, g);
  tk_slot *slot = tk_bind(f, "seen", NULL, NULL);
  arrjit_array *inputs[] = {SCALAR(f, F64, 1)};
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    tk_outcome o;
    tk_call call = {.input_count = 1, .inputs = inputs, .slot_count = 1, .slots = slot};
    atomic_store(&f->alloc.most, 1000000);
    tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
    atomic_store(&f->alloc.most, 0);
    EXPECT_FAILURE(&o, ARRJIT_KIND_MEMORY, 0, NULL);
    long long bytes = 0;
    assert_int_equal(sscanf(o.message, "no memory for %lld bytes", &bytes), 1);
    assert_true(bytes > 1000000);
    tk_outcome_free(&o);
  }
}

/* Native code takes the memory of all its arms at once: where the host refuses that, the arms that run decide all the
 * same what the run gives, and a handler in the graph sees what fails. */
static void test_host_without_memory_for_an_arm(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), exn, out, caught;
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_eq(g, x, arrjit_const_f64(g, 0)));
  arrjit_value wide = arrjit_sort(g, arrjit_full(g, x, 1, I64S(300000)), 0, 0);
  arrjit_if_else(g, LIST((arrjit_reduce_sum)(g, wide, INTS(0))));
  arrjit_if_end(g, 1, &x, &out);
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_MEMORY, &exn);
  arrjit_try_end(g, LIST(arrjit_const_f64(g, -1)), &caught);
  RETURN(g, caught);
  arrjit_function *function = tk_finish(f, g);
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    for (int big = 0; big <= 1; big++) {
      arrjit_array *input = SCALAR(f, F64, big ? 0 : 7);
      tk_outcome o;
      tk_call call = {.input_count = 1, .inputs = &input};
      atomic_store(&f->alloc.most, 1000000);
      tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
      atomic_store(&f->alloc.most, 0);
      EXPECT(&o, 0, F64, big ? -1 : 7);
      assert_false(o.native);
      tk_outcome_free(&o);
      arrjit_function_statistics s; /* the code was there, and tried */
      arrjit_function_get_statistics(function, &s);
      assert_int_equal(s.compilations, tk_native() && m >= TK_WHOLE);
    }
  }
  if (!tk_native()) return;
  arrjit_array *input = SCALAR(f, F64, 7);
  tk_outcome o;
  tk_call call = {.input_count = 1, .inputs = &input};
  tk_run_mode(f->context, function, TK_WHOLE, &call, &o);
  EXPECT(&o, 0, F64, 7);
  assert_true(o.native); /* with memory it runs */
  tk_outcome_free(&o);
}

/* Where a result is too big, that shows before an input is copied for native code: no big block is asked for. */
static void test_results_are_refused_before_inputs_are_copied(void **state) {
  tk_fixture *f = *state;
  static const int64_t none = 0;
  static double one = 1;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = {.dtype = ARRJIT_F64, .rank = 1, .dims = {arrjit_symbol(g, "n")}};
  int64_t n = type.dims[0];
  RETURN(g, arrjit_neg(g, (arrjit_broadcast)(ARRJIT_AT_(g), arrjit_param(g, "x", &type), 3, I64S(n, n, n), 1, &none)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *x = NULL;
  type.dims[0] = 50000000;
  assert_int_equal(arrjit_array_wrap(f->context, &type, &one, &none, NULL, NULL, &x, NULL), ARRJIT_OK);
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    tk_call call = {.input_count = 1, .inputs = &x};
    tk_outcome o;
    int64_t refused = atomic_load(&f->alloc.failed);
    atomic_store(&f->alloc.most, 100000000);
    tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
    atomic_store(&f->alloc.most, 0);
    assert_int_equal(atomic_load(&f->alloc.failed), refused);
    EXPECT_FAILURE(&o, ARRJIT_KIND_MEMORY, 0,
                   "no memory for f64[50000000, 50000000, 50000000], whose bytes are more than an i64 counts");
    tk_outcome_free(&o);
  }
  arrjit_array_release(x);
}

/* An input that some tier wants dense counts as a copy in all. */
static void test_memory_of_strided_inputs(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 3);
  RETURN(g, arrjit_add(g, x, x));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *odd, *whole = ARRAY(f, F64, 1, 2, 3, 4, 5, 6);
  assert_int_equal(arrjit_array_view(whole, I64S(0), I64S(2), I64S(3), &odd, NULL), ARRJIT_OK);
  tk_keep(f, odd);
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    tk_outcome o;
    tk_call call = {.input_count = 1, .inputs = &odd, .limits.bytes = 48};
    tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
    EXPECT(&o, 0, F64, 2, 6, 10);
    tk_outcome_free(&o);
    call.limits.bytes = 47;
    tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
    EXPECT_FAILURE(&o, ARRJIT_KIND_MEMORY, 0, "the run needs 48 bytes, max_run_bytes is 47");
    tk_outcome_free(&o);
  }
}

/* Views take nothing, but for where they are copied: as outputs, for routines and callbacks. */
static void test_memory_of_views(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 2, 3), turned = (arrjit_transpose)(g, x, INTS(1, 0)), y = arrjit_neg(g, turned);
  RETURN(g, (arrjit_reduce_sum)(g, arrjit_add(g, y, turned), INTS(0, 1)));
  (void)CHECK_NEED(f, tk_finish(f, g), 2 * 48, "", SHAPED(f, TYPE(F64, 2, 3), F64, 1, 2, 3, 4, 5, 6));
  g = tk_graph(f);
  x = PARAM(g, "x", F64, 2, 3);
  turned = (arrjit_transpose)(g, x, INTS(1, 0));
  RETURN(g, turned, turned, x);
  (void)CHECK_NEED(f, tk_finish(f, g), 3 * 48, "", SHAPED(f, TYPE(F64, 2, 3), F64, 1, 2, 3, 4, 5, 6));
}

/* A carried array is there with what it began with, which is used later on, and with the new one. */
static void test_memory_of_loops(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 4), i, var, out, begin = arrjit_add(g, x, x);
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 3), arrjit_const_i64(g, 1), &i, &var, begin);
  arrjit_for_end(g, LIST(arrjit_mul(g, var, var)), &out);
  RETURN(g, arrjit_add(g, out, begin));
  (void)CHECK_NEED(f, tk_finish(f, g), 3 * 32, "", ARRAY(f, F64, 1, 2, 3, 4));
}

/* twice(x) = (x + x) * 2, of any length; its arrays come on top of the caller's. */
static arrjit_callee define_twice(arrjit_graph *g) {
  int64_t m = arrjit_symbol(g, "m");
  arrjit_value x;
  arrjit_callee twice = arrjit_declare(g, "twice", TYPES(TYPE(F64, m)), TYPES(TYPE(F64, m)));
  arrjit_define(g, twice, &x);
  RETURN(g, arrjit_mul(g, arrjit_add(g, x, x), arrjit_const_f64(g, 2)));
  return twice;
}

static void test_memory_of_calls(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 5), k, out;
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(TYPE(I64)), 0);
  arrjit_callee twice = define_twice(g);
  CALLBACK(g, seen, &k, arrjit_const_i64(g, 1));
  CALL(g, twice, &out, x);
  RETURN(g, (arrjit_reduce_sum)(g, out, INTS(0)));
  tk_bind(f, "seen", NULL, NULL);
  const tk_outcome *o = CHECK_NEED(f, tk_finish(f, g), 40 + 80, "call", ARRAY(f, F64, 1, 2, 3, 4, 5));
  assert_string_equal(o->log, "seen i64[]=0100000000000000\n");
}

/* A handler by name takes it once; then the next call, though it would fit, raises it again. */
static void test_memory_stays_reached(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 100), n = PARAM(g, "n", I64), exn, out, little;
  arrjit_callee twice = define_twice(g), down = define_down(g);
  arrjit_try_begin(g);
  CALL(g, twice, &out, x);
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_MEMORY, &exn);
  arrjit_try_end(g, 1, &x, &out);
  arrjit_if_begin(g, arrjit_gt(g, n, arrjit_const_i64(g, 0)));
  CALL(g, down, &little, n);
  arrjit_if_else(g, 1, &little);
  arrjit_if_end(g, 1, &n, &little);
  RETURN(g, out, little);
  arrjit_function *function = tk_finish(f, g);
  f->limits.bytes = 2399;
  EXPECT_OK(RUN(f, function, tk_array(f, TYPE(F64, 100), NULL), SCALAR(f, I64, 0)));
  const tk_outcome *o = RUN(f, function, tk_array(f, TYPE(F64, 100), NULL), SCALAR(f, I64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_MEMORY, 0, "the run needs 2400 bytes, max_run_bytes is 2399");
  assert_string_equal(o->path, "call < if then");
}

/* ---- time: where a run is stopped differs, so outcomes are not compared ---- */

/* The report's: a sum whose terms never stop changing it. */
static arrjit_function *build_endless(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), vars[3], out[3];
  WHILE(g, vars, arrjit_const_i64(g, 0), arrjit_const_f64(g, 0), arrjit_const_f64(g, 1));
  arrjit_while_body(g, arrjit_const_bool(g, 1), vars);
  arrjit_value k = arrjit_convert(g, vars[0], ARRJIT_F64);
  arrjit_value odd = arrjit_add(g, arrjit_mul(g, k, arrjit_const_f64(g, 2)), arrjit_const_f64(g, 3));
  arrjit_value term = arrjit_mul(g, arrjit_sub(g, x, arrjit_div(g, arrjit_const_f64(g, 1), odd)), vars[2]);
  arrjit_while_end(
      g, LIST(arrjit_add(g, vars[0], arrjit_const_i64(g, 1)), arrjit_add(g, vars[1], term), arrjit_neg(g, vars[2])),
      out);
  RETURN(g, out[1]);
  return tk_finish(f, g);
}

static void run_endless(tk_fixture *f, arrjit_function *function, tk_mode mode, tk_call call, arrjit_kind kind,
                        const char *message) {
  arrjit_array *inputs[] = {SCALAR(f, F64, 0.995)};
  tk_outcome o;
  call.input_count = 1;
  call.inputs = inputs;
  int64_t start_ns = arrjit_clock_ns();
  tk_run_mode(f->context, function, mode, &call, &o);
  if (arrjit_clock_ns() - start_ns > 20000000000) fail_msg("%s: it took 20 s", tk_mode_name(mode));
  EXPECT_FAILURE(&o, kind, 0, message);
  tk_outcome_free(&o);
}

static void test_limit_of_wall_time(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_endless(f);
  if (tk_native()) { /* compiled beforehand: the time counts the wait for it */
    assert_int_equal(arrjit_function_prepare(function, NULL, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_function_wait(function, -1, NULL), ARRJIT_OK);
  }
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    tk_call call = {.limits.wall_ns = 5000000};
    run_endless(f, function, (tk_mode)m, call, ARRJIT_KIND_LIMIT, TIME_IS_UP "max_run_ms is 5");
    call.deadline_ns = INT64_MAX; /* a later deadline is not in the way */
    call.limits.wall_ns = 5000001;
    run_endless(f, function, (tk_mode)m, call, ARRJIT_KIND_LIMIT, TIME_IS_UP "wall_ns is 5000001");
    call = (tk_call){.limits.wall_ns = INT64_MAX, .deadline_ns = arrjit_clock_ns() + 5000000};
    run_endless(f, function, (tk_mode)m, call, ARRJIT_KIND_DEADLINE, "the deadline of the run has passed");
    set_option(f, ARRJIT_OPTION_MAX_RUN_MS, 3);
    run_endless(f, function, (tk_mode)m, (tk_call){0}, ARRJIT_KIND_LIMIT, TIME_IS_UP "max_run_ms is 3");
    set_option(f, ARRJIT_OPTION_MAX_RUN_MS, 0);
  }
  f->limits.wall_ns = 60000000000;
  EXPECT(RUN(f, build_loop(f), SCALAR(f, I64, 10)), 0, I64, 45);
}

static void *trigger_later(void *cancel) {
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  arrjit_cancel_trigger(cancel);
  return NULL;
}

static void test_case_b21_endless_loop_is_cancelled(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_endless(f);
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    pthread_t thread;
    tk_call call = {0};
    assert_int_equal(arrjit_cancel_create(f->context, &call.cancel, NULL), ARRJIT_OK);
    assert_int_equal(pthread_create(&thread, NULL, trigger_later, call.cancel), 0);
    run_endless(f, function, (tk_mode)m, call, ARRJIT_KIND_CANCELLED, "the run was cancelled");
    pthread_join(thread, NULL);
    arrjit_cancel_release(call.cancel);
    call = (tk_call){.deadline_ns = arrjit_clock_ns() + 50000000};
    run_endless(f, function, (tk_mode)m, call, ARRJIT_KIND_DEADLINE, "the deadline of the run has passed");
    call = (tk_call){.limits.iterations = 1000};
    run_endless(f, function, (tk_mode)m, call, ARRJIT_KIND_LIMIT, USED_UP "1000");
  }
  EXPECT(RUN(f, build_loop(f), SCALAR(f, I64, 10)), 0, I64, 45);
}

/* One of the arms would never end for the other's data: only the one that is taken runs. */
static void test_case_b13_only_the_taken_loop_runs(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), tenth = arrjit_const_f64(g, 0.1), zero = arrjit_const_f64(g, 0), y, out[2];
  arrjit_if_begin(g, arrjit_ge(g, x, zero));
  WHILE(g, &y, x);
  arrjit_while_body(g, arrjit_or(g, arrjit_le(g, y, zero), arrjit_gt(g, y, arrjit_const_f64(g, 1e-6))), &y);
  arrjit_while_end(g, LIST(arrjit_mul(g, tenth, y)), &out[0]);
  arrjit_if_else(g, 1, &out[0]);
  WHILE(g, &y, x);
  arrjit_while_body(g, arrjit_lt(g, y, arrjit_const_f64(g, -1e-6)), &y);
  arrjit_while_end(g, LIST(arrjit_mul(g, tenth, y)), &out[0]);
  arrjit_if_end(g, 1, &out[0], &out[1]);
  RETURN(g, out[1]);
  arrjit_function *function = tk_finish(f, g);
  f->limits.iterations = 1000;
  for (int sign = -1; sign <= 1; sign += 2) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, F64, sign));
    EXPECT_OK(o);
    double value = *(const double *)(const void *)o->outputs[0].data * sign;
    assert_true(value > 0 && value <= 1e-6);
  }
  EXPECT_FAILURE(RUN(f, function, SCALAR(f, F64, 0)), ARRJIT_KIND_LIMIT, 0, USED_UP "1000");
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_limit_of_iterations),
    TK_TEST(test_limit_stays_reached),
    TK_TEST(test_limit_of_depth),
    TK_TEST(test_depth_stays_reached),
    TK_TEST(test_reached_limit_spares_finally),
    TK_TEST(test_unused_calls_count),
    TK_TEST(test_limit_of_memory),
    TK_TEST(test_host_without_memory),
    TK_TEST(test_host_without_memory_for_an_arm),
    TK_TEST(test_results_are_refused_before_inputs_are_copied),
    TK_TEST(test_memory_of_strided_inputs),
    TK_TEST(test_memory_of_views),
    TK_TEST(test_memory_of_loops),
    TK_TEST(test_memory_of_calls),
    TK_TEST(test_memory_stays_reached),
    TK_TEST(test_limit_of_wall_time),
    TK_TEST(test_case_b21_endless_loop_is_cancelled),
    TK_TEST(test_case_b13_only_the_taken_loop_runs),
};

TEST_MAIN(tests, NULL, NULL)
