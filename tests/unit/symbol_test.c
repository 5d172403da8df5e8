/* Symbolic extents: equal expressions are one symbol, what cannot be proved is checked when it runs, signatures are
 * said in the caller's extents. */
#include "ir/symbol.h"
#include "ir_fixture.h"

static void test_a_name_is_one_symbol(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n");
  assert_int_equal(ir_symbol(g, "n"), n);
  assert_int_not_equal(ir_symbol(g, "m"), n);
  arrjit_graph_destroy(g);
}

static void test_equal_expressions_are_equal(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n"), m = ir_symbol(g, "m"), a, b, c;
  aj_func *func = g->b.func;
  assert_true(aj_dim_make(func, AJ_SYM_ADD, n, m, &a));
  assert_true(aj_dim_make(func, AJ_SYM_ADD, m, n, &b));
  assert_int_equal(a, b);
  assert_true(aj_dim_make(func, AJ_SYM_SUB, n, m, &a));
  assert_true(aj_dim_make(func, AJ_SYM_SUB, m, n, &b));
  assert_int_not_equal(a, b);
  assert_true(aj_dim_make(func, AJ_SYM_ADD, n, 2, &a));
  assert_true(aj_dim_make(func, AJ_SYM_ADD, 3, a, &a));
  assert_true(aj_dim_make(func, AJ_SYM_ADD, n, 5, &b));
  assert_int_equal(a, b);
  assert_true(aj_dim_make(func, AJ_SYM_MUL, n, 1, &c) && c == n);
  assert_true(aj_dim_make(func, AJ_SYM_MUL, 0, n, &c) && c == 0);
  assert_true(aj_dim_make(func, AJ_SYM_ADD, 0, n, &c) && c == n);
  assert_true(aj_dim_make(func, AJ_SYM_SUB, n, n, &c) && c == 0);
  assert_true(aj_dim_make(func, AJ_SYM_FLOOR_DIV, n, 1, &c) && c == n);
  assert_true(aj_dim_make(func, AJ_SYM_FLOOR_DIV, 7, 2, &c) && c == 3);
  assert_true(aj_dim_make(func, AJ_SYM_LESS, 2, 3, &c) && c == 0);
  assert_true(aj_dim_make(func, AJ_SYM_LESS, n, n, &c) && c == 0);
  assert_false(aj_dim_make(func, AJ_SYM_SUB, 2, 3, &c));
  assert_false(aj_dim_make(func, AJ_SYM_MUL, INT64_MAX, 2, &c));
  assert_false(aj_dim_make(func, AJ_SYM_FLOOR_DIV, 2, 0, &c));
  assert_false(g->module->arena.failed);
  arrjit_graph_destroy(g);
}

static void test_derived_symbols_are_computed_from_bound_ones(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n"), sum, half, less, env[8] = {0};
  aj_func *func = g->b.func;
  assert_true(aj_dim_make(func, AJ_SYM_ADD, n, 3, &sum));
  assert_true(aj_dim_make(func, AJ_SYM_FLOOR_DIV, sum, 2, &half));
  assert_true(aj_dim_make(func, AJ_SYM_SUB, half, 2, &less));
  uint32_t which = 99;
  env[aj_dim_symbol(n)] = 4;
  assert_int_equal(aj_symbols_derive(func, 0, 0, env, &which), AJ_BIND_OK);
  assert_int_equal(aj_dim_eval(sum, env), 7);
  assert_int_equal(aj_dim_eval(half, env), 3);
  assert_int_equal(aj_dim_eval(less, env), 1);
  env[aj_dim_symbol(n)] = 0;
  assert_int_equal(aj_symbols_derive(func, 0, 0, env, &which), AJ_BIND_RANGE);
  assert_int_equal(which, aj_dim_symbol(less));
  env[aj_dim_symbol(n)] = INT64_MAX;
  assert_int_equal(aj_symbols_derive(func, 0, 0, env, &which), AJ_BIND_RANGE);
  assert_int_equal(which, aj_dim_symbol(sum));
  arrjit_graph_destroy(g);
}

static void test_results_have_derived_extents(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n"), m = ir_symbol(g, "m");
  arrjit_value x = PARAM(g, "x", F32, n, 4), y = PARAM(g, "y", F32, m, 4), zero = arrjit_const_f32(g, 0);
  EXPECT_TYPE(g, (arrjit_concat)(g, LIST(x, y), 0), "f32[(m + n), 4]");
  EXPECT_TYPE(g, (arrjit_concat)(g, LIST(x, x), 1), "f32[n, 8]");
  EXPECT_TYPE(g, (arrjit_pad)(g, x, zero, 2, I64S(1, 0), I64S(2, 0), I64S(0, 0)), "f32[(n + 3), 4]");
  EXPECT_TYPE(g, (arrjit_pad)(g, x, zero, 2, I64S(-1, 0), I64S(0, 0), I64S(0, 1)), "f32[(n - 1), 7]");
  EXPECT_TYPE(g, (arrjit_slice)(g, x, 2, I64S(1, 0), I64S(n, 4), I64S(1, 1)), "f32[(n - 1), 4]");
  EXPECT_TYPE(g, (arrjit_slice)(g, x, 2, I64S(0, 0), I64S(n, 4), I64S(2, 1)), "f32[((n + 1) // 2), 4]");
  EXPECT_TYPE(g, (arrjit_slice)(g, x, 2, I64S(0, 0), I64S(5, 4), I64S(1, 1)), "f32[5, 4]");
  EXPECT_TYPE(g, (arrjit_reshape)(g, x, 2, I64S(4, n)), "f32[4, n]");
  EXPECT_TYPE(g, (arrjit_reshape)(g, x, 1, I64S(12)), "f32[12]");
  EXPECT_TYPE(g, (arrjit_dot)(g, x, (arrjit_transpose)(g, y, INTS(1, 0)), 0, NULL, NULL, 1, I64S(1), I64S(0)),
              "f32[n, m]");
  arrjit_graph_destroy(g);
}

static void test_what_cannot_be_proved_is_checked_when_it_runs(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n"), m = ir_symbol(g, "m");
  arrjit_value x = PARAM(g, "x", F32, n), y = PARAM(g, "y", F32, m), z = PARAM(g, "z", F32, 3),
               one = PARAM(g, "one", F32, 1);
  const aj_region *root = g->b.region;
  EXPECT_TYPE(g, arrjit_add(g, x, x), "f32[n]");
  EXPECT_TYPE(g, arrjit_add(g, x, one), "f32[n]");
  assert_int_equal(ir_count(root, AJ_OP_CHECK_SHAPE), 0);
  EXPECT_TYPE(g, arrjit_add(g, x, y), "f32[n]");
  assert_int_equal(ir_count(root, AJ_OP_CHECK_SHAPE), 1);
  assert_ptr_equal(ir_find(root, AJ_OP_CHECK_SHAPE)->operands[0], aj_graph_value(y));
  EXPECT_TYPE(g, arrjit_fma(g, x, y, z), "f32[3]"); /* a number tells more than a symbol */
  assert_int_equal(ir_count(root, AJ_OP_CHECK_SHAPE), 3);
  EXPECT_TYPE(g, (arrjit_dot)(g, x, z, 0, NULL, NULL, 1, I64S(0), I64S(0)), "f32");
  assert_int_equal(ir_count(root, AJ_OP_CHECK_SHAPE), 4);
  EXPECT_TYPE(g, (arrjit_broadcast)(g, x, 2, I64S(2, 3), INTS(1)), "f32[2, 3]");
  assert_int_equal(ir_count(root, AJ_OP_CHECK_SHAPE), 5);
  arrjit_value grid = (arrjit_broadcast)(g, x, 2, I64S(2, n), INTS(1)), other = PARAM(g, "other", F32, m, m);
  EXPECT_TYPE(g, (arrjit_concat)(g, LIST(grid, other), 0), "f32[(m + 2), n]");
  assert_int_equal(ir_count(root, AJ_OP_CHECK_SHAPE), 6);
  arrjit_graph_destroy(g);
}

static void test_calls_say_signatures_in_the_callers_extents(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t n = ir_symbol(g, "n"), m = ir_symbol(g, "m"), more;
  assert_true(aj_dim_make(g->b.func, AJ_SYM_ADD, n, 1, &more));
  arrjit_callee callee = (arrjit_declare)(g, "join", TYPES(TYPE(F32, n), TYPE(F32, n)), TYPES(TYPE(F32, more)));
  arrjit_value x = PARAM(g, "x", F32, m), y = PARAM(g, "y", F32, n), z = PARAM(g, "z", F32, 4), out;
  CALL(g, callee, &out, x, x);
  EXPECT_TYPE(g, out, "f32[(m + 1)]");
  assert_int_equal(ir_count(g->b.region, AJ_OP_CHECK_SHAPE), 0);
  CALL(g, callee, &out, z, z);
  EXPECT_TYPE(g, out, "f32[5]");
  CALL(g, callee, &out, x, y);
  EXPECT_TYPE(g, out, "f32[(m + 1)]");
  assert_int_equal(ir_count(g->b.region, AJ_OP_CHECK_SHAPE), 1);

  arrjit_value params[2], joined;
  arrjit_define(g, callee, params);
  EXPECT_TYPE(g, params[0], "f32[n]");
  assert_int_not_equal(arrjit_value_type(params[0]).dims[0], n); /* the callee's own n */
  joined = (arrjit_concat)(g, LIST(params[0], (arrjit_slice)(g, params[1], 1, I64S(0), I64S(1), I64S(1))), 0);
  RETURN(g, joined);
  RETURN(g, out);
  tk_finish(f, g);
}

static void test_slots_bind_symbols_and_expressions(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t n = ir_symbol(g, "n"), any = ir_symbol(g, "any");
  arrjit_value x = PARAM(g, "x", F32, n), out[2];
  arrjit_value tail = (arrjit_slice)(g, x, 1, I64S(1), I64S(n), I64S(1));
  const arrjit_type of_tail = arrjit_value_type(tail), free = TYPE(F32, any);
  arrjit_slot same = (arrjit_slot_value)(g, "same", 2, ((const arrjit_type[]){of_tail, free}), 2,
                                         ((const arrjit_type[]){free, of_tail}), 0);
  CALLBACK(g, same, out, tail, x);
  EXPECT_TYPE(g, out[0], "f32[n]");
  EXPECT_TYPE(g, out[1], "f32[(n - 1)]");
  CALLBACK(g, same, out, x, tail); /* another time they stand for other extents */
  EXPECT_TYPE(g, out[0], "f32[(n - 1)]");
  EXPECT_TYPE(g, out[1], "f32[n]");
  RETURN(g, out[1]);
  tk_finish(f, g);
}

static void test_a_symbol_needs_a_parameter(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *loose = tk_graph(f), *good = tk_graph(f);
  int64_t n = ir_symbol(loose, "n");
  RETURN(loose, (arrjit_iota)(loose, ARRJIT_I32, 1, I64S(n), 0));
  tk_finish_fails(f, loose, ARRJIT_GRAPH, "extent n of @main does not follow from the extents of its parameters", NULL);
  ir_symbol(good, "unused");
  RETURN(good, PARAM(good, "x", F32));
  tk_finish(f, good);
  REFUSED(f, MISUSE, "expected letters, digits and _", arrjit_symbol(g, "2n"));
  REFUSED(f, MISUSE, "a symbol needs a name", arrjit_symbol(g, NULL));
  REFUSED(f, MISUSE, "dim 0 is -5, no extent and no symbol", PARAM(g, "x", F32, -5));
}

static void test_mismatched_calls_are_refused(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "call: argument 0 of f is f32[2]; expected f32[3]", {
    arrjit_callee callee = (arrjit_declare)(g, "f", TYPES(TYPE(F32, 3)), 0, NULL);
    CALL(g, callee, NULL, PARAM(g, "x", F32, 2));
  });
  REFUSED(f, TYPE, "call: 1 arguments for f; expected 2", {
    arrjit_callee callee = (arrjit_declare)(g, "f", TYPES(TYPE(F32), TYPE(F32)), 0, NULL);
    CALL(g, callee, NULL, PARAM(g, "x", F32));
  });
  REFUSED(f, TYPE, "call: argument 1 of f is f32[3]; expected f32[n]", {
    arrjit_type same = TYPE(F32, ir_symbol(g, "n"));
    arrjit_callee callee = (arrjit_declare)(g, "f", TYPES(same, same), 0, NULL);
    CALL(g, callee, NULL, PARAM(g, "x", F32, 2), PARAM(g, "y", F32, 3));
  });
  REFUSED(f, TYPE, "callback: extent k of the signature is bound by no parameter", {
    arrjit_type made = TYPE(F32, ir_symbol(g, "k"));
    arrjit_slot slot = (arrjit_slot_value)(g, "s", TYPES(TYPE(F32)), TYPES(made), 0);
    CALLBACK(g, slot, NULL, PARAM(g, "x", F32));
  });
}

/* A chain as deep as it is long: printing, translating and computing must not follow it down the stack. */
static void test_deep_expressions_need_no_stack(void **state) {
  enum { DEPTH = 100000 };
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t n = ir_symbol(g, "n"), dim = n;
  for (int i = 0; i < DEPTH; i++)
    assert_true(aj_dim_make(g->b.func, i % 2 ? AJ_SYM_SUB : AJ_SYM_ADD, dim, 1 + i % 2, &dim));
  arrjit_type deep = TYPE(F32, dim);
  arrjit_callee callee = (arrjit_declare)(g, "f", TYPES(TYPE(F32, n)), TYPES(deep));
  assert_true(callee > 0);
  arrjit_value x = PARAM(g, "x", F32, n), out;
  CALL(g, callee, &out, x);
  assert_non_null(out);
  assert_non_null(strstr(ir_type_text(g, out), "..."));
  arrjit_graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TK_TEST(test_a_name_is_one_symbol),
      TK_TEST(test_equal_expressions_are_equal),
      TK_TEST(test_derived_symbols_are_computed_from_bound_ones),
      TK_TEST(test_results_have_derived_extents),
      TK_TEST(test_what_cannot_be_proved_is_checked_when_it_runs),
      TK_TEST(test_calls_say_signatures_in_the_callers_extents),
      TK_TEST(test_slots_bind_symbols_and_expressions),
      TK_TEST(test_a_symbol_needs_a_parameter),
      TK_TEST(test_mismatched_calls_are_refused),
      TK_TEST(test_deep_expressions_need_no_stack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
