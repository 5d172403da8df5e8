/* Native code where it differs from what any tier shows: what it is made of, what memory it takes, when it is not made.
 * Semantics are tested in tests/semantics, in every mode. */
#include <stdio.h>

#include "engine/engine.h"
#include "fixture.h"
#include "rt/native_helpers.h"

static arrjit_status run_whole(arrjit_function *function, size_t count, arrjit_array *const *inputs,
                               arrjit_result **out) {
  const arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE};
  arrjit_error error;
  return arrjit_run(function, &options, count, inputs, out, &error);
}

static void set(tk_fixture *f, arrjit_option option, int64_t value) {
  assert_int_equal(arrjit_context_set_option(f->context, option, value, NULL), ARRJIT_OK);
}

/* ---- what code is made of ---- */

static bool is_known(const char *name, size_t length) {
  static const char *const libc[] = {"memcpy", "memset", "memmove"};
  uint32_t count;
  const struct aj_native_helper *helpers = aj_native_helpers(&count);
  for (uint32_t i = 0; i < count; i++)
    if (strlen(helpers[i].name) == length && memcmp(helpers[i].name, name, length) == 0) return true;
  for (size_t i = 0; i < sizeof libc / sizeof *libc; i++)
    if (strlen(libc[i]) == length && memcmp(libc[i], name, length) == 0) return true;
  return false;
}

/* Every symbol that assembly refers to by way of the linker is one that the library gives. */
static void check_symbols(tk_fixture *f, arrjit_function *function, const char *what) {
  char *text = NULL;
  size_t bytes = 0;
  arrjit_error error;
  if (arrjit_function_print(function, ARRJIT_PRINT_ASM, &text, &bytes, &error) != ARRJIT_OK)
    fail_msg("%s", error.message);
  for (const char *at = text; (at = strchr(at, '@')) != NULL; at++) {
    if (strncmp(at, "@PLT", 4) != 0 && strncmp(at, "@GOTPCREL", 9) != 0) continue;
    const char *name = at;
    while (name > text && (name[-1] == '_' || name[-1] == '.' || (name[-1] >= '0' && name[-1] <= '9') ||
                           (name[-1] >= 'A' && name[-1] <= 'Z') || (name[-1] >= 'a' && name[-1] <= 'z')))
      name--;
    if (!is_known(name, (size_t)(at - name))) fail_msg("%s needs %.*s", what, (int)(at - name), name);
  }
  arrjit_text_free(f->context, text, bytes);
}

enum { LEVELS = 4 }; /* of the option isa */

/* Ops whose instructions not every machine has, on every element type they take. */
static void check_symbols_of_ops(tk_fixture *f) {
  static const char *const unary[] = {"sqrt", "floor", "ceil",       "trunc",  "round_even", "exp",  "log",
                                      "tanh", "sin",   "cos",        "clz",    "popcount",   "log2", "expm1",
                                      "tan",  "asin",  "round_away", "tgamma", "atan",       "sinh", "acosh",
                                      "cbrt", "rsqrt", "logistic",   "erf"};
  static const char *const binary[] = {"div",         "rem",      "mod",  "floor_div", "min",   "max",
                                       "checked_mul", "copysign", "rotl", "pow",       "atan2", "hypot"};
  static const char *const dtypes[] = {"f32", "f64", "f16", "bf16", "i8", "i64", "u64"};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
    for (size_t i = 0; i < sizeof unary / sizeof *unary + sizeof binary / sizeof *binary; i++) {
      bool one = i < sizeof unary / sizeof *unary;
      const char *op = one ? unary[i] : binary[i - sizeof unary / sizeof *unary], *t = dtypes[d];
      char text[512];
      snprintf(
          text, sizeof text,
          "air 1\nfunc @main(%%x: %s[n], %%y: %s[n], %%s: %s) -> (%s[n] \"r\", %s \"q\") {\n  %%0 = %s %%x%s : %s[n]\n"
          "  %%1 = %s %%s%s : %s\n  yield %%0, %%1\n}\n",
          t, t, t, t, t, op, one ? "" : ", %y", t, op, one ? "" : ", %s", t);
      arrjit_function *function = NULL;
      arrjit_error error;
      if (arrjit_function_parse(f->context, text, strlen(text), op, &function, &error) != ARRJIT_OK)
        continue; /* not of this type */
      check_symbols(f, function, op);
      arrjit_function_release(function);
    }
}

static void test_code_needs_no_unknown_symbols(void **state) {
  if (!tk_native()) skip();
  for (int64_t isa = 0; isa < LEVELS; isa++) {
    set(*state, ARRJIT_OPTION_ISA, isa);
    check_symbols_of_ops(*state);
  }
}

/* Conversions are where LLVM likes to call: every pair, on scalars and vectors. */
static void check_symbols_of_conversions(tk_fixture *f) {
  for (arrjit_dtype from = ARRJIT_BOOL; arrjit_dtype_bytes(from); from++)
    for (arrjit_dtype to = ARRJIT_BOOL; arrjit_dtype_bytes(to); to++) {
      arrjit_graph *g = tk_graph(f);
      arrjit_type many = {.dtype = from, .rank = 1, .dims = {arrjit_symbol(g, "n")}}, one = {.dtype = from};
      arrjit_value x = arrjit_param(g, "x", &many), y = arrjit_param(g, "y", &one);
      if (aj_dtype_is_complex(from) || aj_dtype_is_complex(to)) /* these are never checked */
        RETURN(g, arrjit_convert(g, x, to), arrjit_convert(g, y, to));
      else
        RETURN(g, arrjit_convert(g, x, to), arrjit_checked_convert(g, y, to));
      check_symbols(f, tk_finish(f, g), arrjit_dtype_name(to));
    }
}

static void test_conversions_need_no_unknown_symbols(void **state) {
  if (!tk_native()) skip();
  for (int64_t isa = 0; isa < LEVELS; isa++) {
    set(*state, ARRJIT_OPTION_ISA, isa);
    check_symbols_of_conversions(*state);
  }
}

/* Code for a lesser CPU has no register that only a greater one has, and does have what it is a level for. */
static void test_code_is_for_the_level_that_was_chosen(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, arrjit_symbol(g, "n")), y = PARAM(g, "y", I32, arrjit_symbol(g, "n"));
  arrjit_value z = PARAM(g, "z", F16, arrjit_symbol(g, "n"));
  RETURN(g, arrjit_floor(g, arrjit_exp(g, x)), arrjit_fma(g, x, x, arrjit_convert(g, y, ARRJIT_F32)),
         arrjit_add(g, z, z), arrjit_reduce_sum(g, x, 0, NULL));
  arrjit_function *function = tk_finish(f, g);
  for (int64_t isa = 1; isa <= tk_isa_levels(); isa++) {
    char *text = NULL;
    size_t bytes = 0;
    set(f, ARRJIT_OPTION_ISA, isa);
    assert_int_equal(arrjit_function_print(function, ARRJIT_PRINT_ASM, &text, &bytes, NULL), ARRJIT_OK);
    assert_int_equal(strstr(text, "%zmm") != NULL, isa >= 3);
    assert_int_equal(strstr(text, "%ymm") != NULL, isa >= 2);
    assert_int_equal(strstr(text, "\tvfmadd") != NULL, isa >= 2);
    assert_int_equal(strstr(text, "\tvcvtph2ps") != NULL, isa >= 2);
    assert_int_equal(strstr(text, "\tv") != NULL, isa >= 2); /* AVX in any form */
    assert_non_null(strstr(text, "%xmm"));
    arrjit_text_free(f->context, text, bytes);
  }
}

/* What was compiled stays as it was; a run after the option has changed uses it. */
static void test_code_of_levels_lives_side_by_side(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_function *functions[LEVELS];
  arrjit_array *in = ARRAY(f, F32, 1, 2.5f, -0.5f);
  for (int64_t round = 0; round < 2; round++)
    for (int64_t isa = 0; isa < LEVELS; isa++) {
      set(f, ARRJIT_OPTION_ISA, isa);
      if (round == 0) {
        arrjit_graph *g = tk_graph(f);
        RETURN(g, arrjit_floor(g, PARAM(g, "x", F32, 3)));
        functions[isa] = tk_finish(f, g);
      }
      const tk_outcome *o = RUN(f, functions[isa], in);
      EXPECT(o, 0, F32, 1, 2, -1);
    }
}

/* A lowering that is wrong on purpose shows, so tests that compare tiers look at what they say they do. */
static void test_flipped_lowering_changes_the_result(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I64, 3);
  RETURN(g, arrjit_add(g, x, x));
  arrjit_function *function = tk_finish(f, g);
  set(f, ARRJIT_OPTION_FLIP_LOWERING, AJ_OP_ADD + 1);
  arrjit_array *in = ARRAY(f, I64, 1, 2, 3);
  arrjit_result *result = NULL;
  assert_int_equal(run_whole(function, 1, &in, &result), ARRJIT_OK);
  assert_int_equal(*(int64_t *)arrjit_array_data(arrjit_result_output(result, 0)), 3);
  arrjit_result_destroy(result);
}

static void test_one_compilation_serves_all_lengths(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, arrjit_symbol(g, "n"));
  RETURN(g, arrjit_add(g, arrjit_exp(g, x), x));
  arrjit_function *function = tk_finish(f, g);
  for (int64_t n = 0; n < 20; n++) {
    arrjit_array *in = tk_array(f, TYPE(F32, n), NULL);
    arrjit_result *result = NULL;
    assert_int_equal(run_whole(function, 1, &in, &result), ARRJIT_OK);
    assert_int_equal(arrjit_array_count(arrjit_result_output(result, 0)), n);
    arrjit_result_destroy(result);
  }
  arrjit_function_statistics statistics;
  arrjit_function_get_statistics(function, &statistics);
  assert_int_equal(statistics.compilations, 1);
  assert_int_equal(statistics.native_runs, 20);
  assert_int_equal(statistics.kernels, 1);
  assert_int_equal(statistics.fallback_nodes, 0);
}

/* A run asks for that much stack: the trees of a reduction over columns lie there. */
static void test_code_knows_its_frames(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, arrjit_symbol(g, "n"), 1000);
  RETURN(g, (arrjit_reduce_sum)(g, x, INTS(0)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *in = tk_array(f, TYPE(F64, 3, 1000), NULL);
  arrjit_result *result = NULL;
  assert_int_equal(run_whole(function, 1, &in, &result), ARRJIT_OK);
  arrjit_result_destroy(result);
  assert_in_range(atomic_load(&function->code)->entry_frame_bytes, 8192, 65536);
}

static void test_above_the_budget_nothing_is_compiled(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64);
  for (int i = 0; i < 200; i++) x = arrjit_sin(g, x);
  RETURN(g, x);
  arrjit_function *function = tk_finish(f, g);
  set(f, ARRJIT_OPTION_COMPILE_BUDGET_MS, 1);
  arrjit_error error;
  assert_int_equal(arrjit_function_prepare(function, NULL, &error), ARRJIT_OK);
  assert_int_equal(arrjit_function_wait(function, -1, &error), ARRJIT_LIMIT);
}

/* ---- memory ---- */

/* Two carried arrays change places each time; a third is made anew from both. */
static void test_carried_arrays_change_places(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), a = PARAM(g, "a", F64, 3), b = PARAM(g, "b", F64, 3),
               zero = arrjit_const_i64(g, 0);
  arrjit_value i, v[3], out[3];
  FOR(g, zero, n, arrjit_const_i64(g, 1), &i, v, a, b, a);
  arrjit_for_end(g, LIST(v[1], v[0], arrjit_add(g, v[0], v[2])), out);
  RETURN(g, out[0], out[1], out[2]);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *x = ARRAY(f, F64, 1, 2, 3), *y = ARRAY(f, F64, 10, 20, 30);
  const tk_outcome *o = RUN(f, function, SCALAR(f, I64, 0), x, y);
  EXPECT(o, 0, F64, 1, 2, 3);
  EXPECT(o, 2, F64, 1, 2, 3);
  o = RUN(f, function, SCALAR(f, I64, 3), x, y);
  EXPECT(o, 0, F64, 10, 20, 30);
  EXPECT(o, 1, F64, 1, 2, 3);
  EXPECT(o, 2, F64, 13, 26, 39);
}

/* A chain of pads, 100 arrays of 40 kB one after the other, that no kernel can hold: two of them are alive at a time.
 */
static void test_dead_arrays_give_their_memory_to_others(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 10000), fill = arrjit_const_f32(g, 0);
  for (int i = 0; i < 100; i++) x = (arrjit_pad)(g, x, fill, 1, I64S(1), I64S(-1), I64S(0));
  RETURN(g, x);
  arrjit_function *function = tk_finish(f, g);
  set(f, ARRJIT_OPTION_MAX_RUN_BYTES, 200000);
  arrjit_array *in = tk_array(f, TYPE(F32, 10000), NULL);
  arrjit_result *result = NULL;
  assert_int_equal(run_whole(function, 1, &in, &result), ARRJIT_OK);
  assert_int_equal(arrjit_result_ok(result), 1);
  arrjit_result_destroy(result);
}

/* for i < n: try { raise app } handle e { s += code or field of e }; `looks`: the handler looks at the exception. */
static arrjit_function *catching_loop(tk_fixture *f, bool looks) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, s, e, out;
  FOR(g, zero, n, one, &i, &s, zero);
  arrjit_try_begin(g);
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "no", i);
  arrjit_try_handler(g, NONE, ARRJIT_KIND_RUNTIME, &e);
  arrjit_value got = one, there;
  if (looks) got = (arrjit_exn_field)(g, e, 0, (const arrjit_type[]){TYPE(I64)}, &there);
  arrjit_try_end(g, LIST(arrjit_add(g, s, got)), &out);
  arrjit_for_end(g, LIST(out), &out);
  RETURN(g, out);
  return tk_finish(f, g);
}

static int64_t calls_of_run(tk_fixture *f, arrjit_function *function, int64_t n, int64_t want) {
  arrjit_array *in = SCALAR(f, I64, n);
  arrjit_result *result = NULL;
  tk_alloc_arm(&f->alloc, 0);
  assert_int_equal(run_whole(function, 1, &in, &result), ARRJIT_OK);
  int64_t calls = atomic_load(&f->alloc.calls);
  assert_int_equal(*(int64_t *)arrjit_array_data(arrjit_result_output(result, 0)), want);
  arrjit_result_destroy(result);
  return calls;
}

static void test_raise_caught_nearby_makes_no_exception(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_function *function = catching_loop(f, false);
  calls_of_run(f, function, 1, 1);
  assert_int_equal(calls_of_run(f, function, 10, 10), calls_of_run(f, function, 10000, 10000));
}

static void test_exceptions_of_an_iteration_go_with_it(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_function *function = catching_loop(f, true);
  calls_of_run(f, function, 1, 0);
  int64_t before = atomic_load(&f->alloc.live_bytes);
  calls_of_run(f, function, 100000, (int64_t)100000 * 99999 / 2);
  assert_in_range(atomic_load(&f->alloc.live_bytes) - before, 0, 4096);
}

static void test_every_failing_allocation_is_survived(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, arrjit_symbol(g, "n")), e, out, there;
  arrjit_try_begin(g);
  arrjit_value least = (arrjit_reduce_min)(g, x, INTS(0)), bad = arrjit_lt(g, least, arrjit_const_f64(g, 0)), checked;
  CHECK(g, arrjit_not(g, bad), ARRJIT_KIND_RUNTIME, 1, "negative", LIST(x), &checked, least);
  arrjit_try_handler(g, LIST(checked), ARRJIT_KIND_RUNTIME, &e);
  arrjit_value field = (arrjit_exn_field)(g, e, 0, (const arrjit_type[]){TYPE(F64, 3)}, &there);
  arrjit_value order = (arrjit_argmin)(g, field, 0);
  arrjit_try_end(g, LIST(arrjit_convert(g, order, ARRJIT_F64)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *in = ARRAY(f, F64, 1, -2, 3);
  arrjit_result *result = NULL;
  assert_int_equal(run_whole(function, 1, &in, &result), ARRJIT_OK);
  arrjit_result_destroy(result);
  for (int64_t at = 1; at < 1000; at++) {
    tk_alloc_arm(&f->alloc, at);
    result = NULL;
    arrjit_status status = run_whole(function, 1, &in, &result);
    bool failed = atomic_load(&f->alloc.failed) > 0;
    tk_alloc_arm(&f->alloc, 0);
    if (status == ARRJIT_OK && !arrjit_result_ok(result))
      assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_MEMORY);
    else if (status != ARRJIT_OK)
      assert_int_equal(status, ARRJIT_MEMORY);
    arrjit_result_destroy(result);
    if (!failed) return;
  }
  fail();
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_code_needs_no_unknown_symbols),
    TK_TEST(test_conversions_need_no_unknown_symbols),
    TK_TEST(test_code_is_for_the_level_that_was_chosen),
    TK_TEST(test_code_of_levels_lives_side_by_side),
    TK_TEST(test_flipped_lowering_changes_the_result),
    TK_TEST(test_one_compilation_serves_all_lengths),
    TK_TEST(test_code_knows_its_frames),
    TK_TEST(test_above_the_budget_nothing_is_compiled),
    TK_TEST(test_carried_arrays_change_places),
    TK_TEST(test_dead_arrays_give_their_memory_to_others),
    TK_TEST(test_raise_caught_nearby_makes_no_exception),
    TK_TEST(test_exceptions_of_an_iteration_go_with_it),
    TK_TEST(test_every_failing_allocation_is_survived),
};

TEST_MAIN(tests, NULL, NULL)
