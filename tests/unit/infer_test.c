/* Result types, rule by rule, and what is refused with which words. */
#include "ir_fixture.h"

static void test_elementwise_broadcast_as_numpy_does(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value a = PARAM(g, "a", F32, 2, 3), row = PARAM(g, "row", F32, 3), column = PARAM(g, "column", F32, 2, 1),
               scalar = PARAM(g, "scalar", F32), empty = PARAM(g, "empty", F32, 0, 1, 3);
  EXPECT_TYPE(g, arrjit_add(g, a, row), "f32[2, 3]");
  EXPECT_TYPE(g, arrjit_mul(g, row, column), "f32[2, 3]");
  EXPECT_TYPE(g, arrjit_sub(g, scalar, a), "f32[2, 3]");
  EXPECT_TYPE(g, arrjit_lt(g, a, scalar), "bool[2, 3]");
  EXPECT_TYPE(g, arrjit_fma(g, row, column, scalar), "f32[2, 3]");
  EXPECT_TYPE(g, arrjit_max(g, empty, a), "f32[0, 2, 3]");
  EXPECT_TYPE(g, arrjit_select(g, arrjit_gt(g, scalar, scalar), a, row), "f32[2, 3]");
  EXPECT_TYPE(g, arrjit_sqrt(g, row), "f32[3]");
  EXPECT_TYPE(g, arrjit_convert(g, a, ARRJIT_U8), "u8[2, 3]");
  EXPECT_TYPE(g, arrjit_bitcast(g, row, ARRJIT_I32), "i32[3]");
  arrjit_graph_destroy(g);
}

static void test_broadcasts_are_explicit_nodes(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value a = PARAM(g, "a", F32, 2, 3), row = PARAM(g, "row", F32, 3);
  arrjit_add(g, a, a);
  assert_int_equal(ir_count(g->b.region, AJ_OP_BROADCAST), 0);
  arrjit_add(g, a, row);
  const aj_node *broadcast = ir_find(g->b.region, AJ_OP_BROADCAST);
  assert_int_equal(aj_node_attr(broadcast, AJ_ATTR_AXES)->u.ints[0], 1);
  const aj_node *add = g->b.region->nodes[g->b.region->node_count - 1];
  assert_ptr_equal(add->operands[0], aj_graph_value(a));
  assert_ptr_equal(add->operands[1], &broadcast->results[0]);
  arrjit_graph_destroy(g);
}

static void test_dtypes_never_convert_by_themselves(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "add: operands are f32[2, 3] and i32[3]; dtypes never convert by themselves, use convert",
          arrjit_add(g, PARAM(g, "a", F32, 2, 3), PARAM(g, "b", I32, 3)));
  REFUSED(f, TYPE, "select: operands are bool, f32 and f64; dtypes never convert",
          arrjit_select(g, PARAM(g, "p", BOOL), PARAM(g, "a", F32), PARAM(g, "b", F64)));
  REFUSED(f, TYPE, "add: operands are f32[2, 3] and f32[4]; extents 3 and 4 do not broadcast",
          arrjit_add(g, PARAM(g, "a", F32, 2, 3), PARAM(g, "b", F32, 4)));
  REFUSED(f, TYPE, "dot: operands are f32[2, 3] and f64[3]; dtypes never convert",
          (arrjit_dot)(g, PARAM(g, "a", F32, 2, 3), PARAM(g, "b", F64, 3), 0, NULL, NULL, 1, I64S(1), I64S(0)));
}

static void test_the_cast_to_write_is_named(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "sqrt: x is i32[3]; expected a float or complex dtype: write convert(x, f64)",
          arrjit_sqrt(g, PARAM(g, "x", I32, 3)));
  REFUSED(f, TYPE, "exp: x is i8; expected a float or complex dtype: write convert(x, f32)",
          arrjit_exp(g, PARAM(g, "x", I8)));
  REFUSED(f, TYPE, "mean: x is i64[3]; expected a float or complex dtype: write convert(x, f64)",
          arrjit_mean(g, PARAM(g, "x", I64, 3), ARRJIT_ALL_AXES, NULL));
  REFUSED(f, TYPE, "reduce_sum: x is bool[3]; expected an integer, float or complex dtype: write convert(x, i64)",
          arrjit_reduce_sum(g, PARAM(g, "x", BOOL, 3), ARRJIT_ALL_AXES, NULL));
  REFUSED(f, TYPE, "reduce_prod: x is bool[3]; expected an integer, float or complex dtype: write convert(x, i64)",
          arrjit_reduce_prod(g, PARAM(g, "x", BOOL, 3), ARRJIT_ALL_AXES, NULL));
  REFUSED(f, TYPE, "and: x is f32; expected an integer dtype or bool: write convert(x, i64)",
          arrjit_and(g, PARAM(g, "x", F32), PARAM(g, "y", F32)));
  REFUSED(f, TYPE, "popcount: x is bool; expected an integer dtype", arrjit_popcount(g, PARAM(g, "x", BOOL)));
  REFUSED(f, TYPE, "bitcast: from bool to u8", arrjit_bitcast(g, PARAM(g, "x", BOOL), ARRJIT_U8));
  REFUSED(f, TYPE, "bitcast: from f32 to i64; expected dtypes of the same width",
          arrjit_bitcast(g, PARAM(g, "x", F32), ARRJIT_I64));
  REFUSED(f, TYPE, "iota: dtype is bool", (arrjit_iota)(g, ARRJIT_BOOL, 1, I64S(3), 0));
}

static void test_the_comparison_to_write_is_named(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "if: pred is i32; expected bool scalar: write ne(pred, 0)", arrjit_if_begin(g, PARAM(g, "x", I32)));
  REFUSED(f, TYPE, "if: pred is bool[3]; expected bool scalar: write reduce_and(pred)",
          arrjit_if_begin(g, PARAM(g, "x", BOOL, 3)));
  REFUSED(f, TYPE, "select: pred is u8[3]; expected bool: write ne(pred, 0)",
          arrjit_select(g, PARAM(g, "p", U8, 3), PARAM(g, "a", F32), PARAM(g, "b", F32)));
  REFUSED(f, TYPE, "while: cond is f32; expected bool scalar: write ne(cond, 0)", {
    arrjit_value x = PARAM(g, "x", F32), var;
    WHILE(g, &var, x);
    arrjit_while_body(g, var, &var);
  });
  REFUSED(f, TYPE, "switch: index is i32; expected an i64 scalar", {
    arrjit_switch_begin(g, PARAM(g, "x", I32));
    arrjit_switch_end(g, 0, NULL, NULL);
  });
}

static void test_creation(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n");
  EXPECT_TYPE(g, (arrjit_iota)(g, ARRJIT_I32, 2, I64S(4, n), 1), "i32[4, n]");
  EXPECT_TYPE(g, (arrjit_full)(g, arrjit_const_f64(g, 1), 2, I64S(n, 3)), "f64[n, 3]");
  EXPECT_TYPE(g, arrjit_dim_size(g, PARAM(g, "x", F32, n), 0), "i64");
  EXPECT_TYPE(g, CONST(g, F32, 1, 2, 3), "f32[3]");
  EXPECT_TYPE(g, arrjit_const_bool(g, 5), "bool");
  arrjit_graph_destroy(g);
}

static void test_creation_refused(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "iota: axis is 2; expected one from 0 to below rank 2",
          (arrjit_iota)(g, ARRJIT_I32, 2, I64S(4, 3), 2));
  REFUSED(f, TYPE, "sort: axis is 0; a scalar has no axes", arrjit_sort(g, PARAM(g, "x", F32), 0, 0));
  REFUSED(f, TYPE, "reduce_sum: axes has 0; a scalar has no axes", (arrjit_reduce_sum)(g, PARAM(g, "x", F32), INTS(0)));
  REFUSED(f, TYPE, "squeeze: axis is 0; there are no axes: the rank is 0",
          (void)(arrjit_squeeze)(g, PARAM(g, "x", F32), INTS(0)));
  REFUSED(f, TYPE, "full: x is f32[2]; expected a scalar", (arrjit_full)(g, PARAM(g, "x", F32, 2), 1, I64S(3)));
  REFUSED(f, TYPE, "more bytes than can be addressed",
          (arrjit_full)(g, arrjit_const_f64(g, 1), 2, I64S(INT64_C(1) << 40, INT64_C(1) << 40)));
  REFUSED(f, TYPE, "no symbolic extents", {
    arrjit_type type = TYPE(F32, arrjit_symbol(g, "n"));
    arrjit_const(g, &type, NULL);
  });
}

static void test_movement(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32, 4, 6), one = PARAM(g, "one", F32, 1, 6), zero = arrjit_const_f32(g, 0);
  EXPECT_TYPE(g, (arrjit_broadcast)(g, one, 3, I64S(5, 4, 6), INTS(1, 2)), "f32[5, 4, 6]");
  EXPECT_TYPE(g, (arrjit_reshape)(g, x, 3, I64S(2, 3, 4)), "f32[2, 3, 4]");
  EXPECT_TYPE(g, (arrjit_reshape)(g, PARAM(g, "e", F32, 0, 7), 1, I64S(0)), "f32[0]");
  EXPECT_TYPE(g, (arrjit_transpose)(g, x, INTS(1, 0)), "f32[6, 4]");
  EXPECT_TYPE(g, (arrjit_reverse)(g, x, ARRJIT_ALL_AXES, NULL), "f32[4, 6]");
  EXPECT_TYPE(g, (arrjit_slice)(g, x, 2, I64S(1, 0), I64S(4, 6), I64S(1, 4)), "f32[3, 2]");
  EXPECT_TYPE(g, (arrjit_slice)(g, x, 2, I64S(4, 0), I64S(4, 6), I64S(1, 1)), "f32[0, 6]");
  EXPECT_TYPE(g, (arrjit_concat)(g, LIST(x, one, x), 0), "f32[9, 6]");
  EXPECT_TYPE(g, (arrjit_pad)(g, x, zero, 2, I64S(1, -2), I64S(2, 0), I64S(1, 0)), "f32[10, 4]");
  arrjit_graph_destroy(g);
}

static void test_movement_refused(void **state) {
  tk_fixture *f = *state;
#define X PARAM(g, "x", F32, 4, 6)
  REFUSED(f, TYPE, "reshape: x is f32[4, 6] with 24 elements; expected as many as the new shape has, 25",
          (arrjit_reshape)(g, X, 1, I64S(25)));
  REFUSED(f, TYPE, "transpose: axes has 1 entries; expected 2, the rank of x", (arrjit_transpose)(g, X, INTS(1)));
  REFUSED(f, TYPE, "transpose: axes has 1 twice", (arrjit_transpose)(g, X, INTS(1, 1)));
  REFUSED(f, TYPE, "slice: x is f32[4, 6]; start 0 and limit 7 of axis 1",
          (arrjit_slice)(g, X, 2, I64S(0, 0), I64S(4, 7), I64S(1, 1)));
  REFUSED(f, TYPE, "slice: step 0 of axis 0", (arrjit_slice)(g, X, 2, I64S(0, 0), I64S(4, 6), I64S(0, 1)));
  REFUSED(f, TYPE, "broadcast: x is f32[4, 6]; its extent 4 cannot become 5",
          (arrjit_broadcast)(g, X, 2, I64S(5, 6), INTS(0, 1)));
  REFUSED(f, TYPE, "concat: operands are f32[4, 6] and f32[4, 5]; expected shapes that differ along axis 0 only",
          (arrjit_concat)(g, LIST(X, PARAM(g, "y", F32, 4, 5)), 0));
  REFUSED(f, TYPE, "concat: no operand came", (arrjit_concat)(g, 0, NULL, 0));
  REFUSED(f, TYPE, "pad: an extent of the result",
          (arrjit_pad)(g, X, arrjit_const_f32(g, 0), 2, I64S(-3, 0), I64S(-2, 0), I64S(0, 0)));
  REFUSED(f, TYPE, "pad: interior -1 of axis 1",
          (arrjit_pad)(g, X, arrjit_const_f32(g, 0), 2, I64S(0, 0), I64S(0, 0), I64S(0, -1)));
  REFUSED(f, TYPE, "shape has too many entries or a negative rank", (arrjit_reshape)(g, X, -1, I64S(1)));
  REFUSED(f, MISUSE, "axes is NULL", (arrjit_transpose)(g, X, 2, NULL));
#undef X
}

static void test_indexing(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32, 4, 6), i = PARAM(g, "i", I32), at = PARAM(g, "at", U8, 5, 2);
  EXPECT_TYPE(g, (arrjit_dynamic_slice)(g, x, LIST(i, i), I64S(2, 3)), "f32[2, 3]");
  EXPECT_TYPE(g, (arrjit_checked_slice)(g, x, LIST(i, i), I64S(4, 6)), "f32[4, 6]");
  EXPECT_TYPE(g, (arrjit_dynamic_update_slice)(g, x, PARAM(g, "u", F32, 1, 6), LIST(i, i)), "f32[4, 6]");
  EXPECT_TYPE(g, arrjit_take(g, x, at, 1), "f32[4, 5, 2]");
  EXPECT_TYPE(g, arrjit_checked_index(g, x, i, 0), "f32[6]");
  /* windows of 1 x 3, the first axis dropped, at pairs (row, column) */
  EXPECT_TYPE(g, (arrjit_gather)(g, x, at, INTS(1), INTS(0), 0, NULL, NULL, INTS(0, 1), 1, 2, I64S(1, 3)), "f32[5, 3]");
  /* indices without an index axis: one component each */
  EXPECT_TYPE(g, (arrjit_gather)(g, x, at, INTS(0), INTS(0), 0, NULL, NULL, INTS(0), 2, 2, I64S(1, 6)), "f32[6, 5, 2]");
  /* axis 0 of both goes along: 5 windows of 1 x 2 */
  arrjit_value y = PARAM(g, "y", F32, 5, 3, 6);
  EXPECT_TYPE(g, (arrjit_gather)(g, y, at, INTS(1, 2), NONE, 1, I64S(0), I64S(0), INTS(2, 1), 1, 3, I64S(1, 3, 2)),
              "f32[5, 3, 2]");
  arrjit_value u = PARAM(g, "updates", F32, 2, 5);
  EXPECT_TYPE(g, (arrjit_scatter_add)(g, y, at, u, INTS(0), INTS(2), 1, I64S(0), I64S(0), INTS(1, 2), 1),
              "f32[5, 3, 6]");
  arrjit_graph_destroy(g);
}

static void test_indexing_refused(void **state) {
  tk_fixture *f = *state;
#define X PARAM(g, "x", F32, 4, 6)
  REFUSED(f, TYPE, "dynamic_slice: x is f32[4, 6]; a window of 5 along axis 0 is larger",
          (arrjit_dynamic_slice)(g, X, LIST(arrjit_const_i64(g, 0), arrjit_const_i64(g, 0)), I64S(5, 1)));
  REFUSED(f, TYPE, "dynamic_slice: x is f32[4, 6] and 1 starts came; expected one a dim",
          (arrjit_dynamic_slice)(g, X, LIST(arrjit_const_i64(g, 0)), I64S(1)));
  REFUSED(f, TYPE, "take: indices is f32; expected an array of an integer dtype",
          arrjit_take(g, X, PARAM(g, "i", F32), 0));
  REFUSED(
      f, TYPE, "gather: indices are i64[5, 3] with 3 along index_axis; expected 2",
      (arrjit_gather)(g, X, PARAM(g, "i", I64, 5, 3), INTS(1), INTS(0), 0, NULL, NULL, INTS(0, 1), 1, 2, I64S(1, 3)));
  REFUSED(
      f, TYPE, "gather: axis 0 is collapsed; expected its size to be 1",
      (arrjit_gather)(g, X, PARAM(g, "i", I64, 5, 2), INTS(1), INTS(0), 0, NULL, NULL, INTS(0, 1), 1, 2, I64S(2, 3)));
#undef X
}

static void test_reductions_and_products(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32, 2, 3, 4), y = PARAM(g, "y", F32, 2, 4, 5), b = PARAM(g, "b", BOOL, 2, 3);
  EXPECT_TYPE(g, arrjit_reduce_sum(g, x, ARRJIT_ALL_AXES, NULL), "f32");
  EXPECT_TYPE(g, (arrjit_reduce_max)(g, x, INTS(0, 2)), "f32[3]");
  EXPECT_TYPE(g, (arrjit_reduce_sum)(g, x, 0, NULL), "f32[2, 3, 4]");
  EXPECT_TYPE(g, (arrjit_reduce_and)(g, b, INTS(1)), "bool[2]");
  EXPECT_TYPE(g, (arrjit_reduce_min)(g, b, INTS(1)), "bool[2]");
  EXPECT_TYPE(g, (arrjit_mean)(g, x, INTS(1)), "f32[2, 4]");
  EXPECT_TYPE(g, arrjit_argmax(g, x, 1), "i64[2, 4]");
  EXPECT_TYPE(g, (arrjit_dot)(g, x, y, 1, I64S(0), I64S(0), 1, I64S(2), I64S(1)), "f32[2, 3, 5]");
  EXPECT_TYPE(g, (arrjit_dot)(g, x, y, 0, NULL, NULL, 0, NULL, NULL), "f32[2, 3, 4, 2, 4, 5]");
  arrjit_graph_destroy(g);
}

static void test_reductions_and_products_refused(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "reduce_sum: axes has 2; expected axes from 0 to below rank 2",
          (arrjit_reduce_sum)(g, PARAM(g, "x", F32, 2, 3), INTS(2)));
  REFUSED(f, TYPE, "dot: operands are f32[2, 3] and f32[4, 5]; paired extents 3 and 4 are not equal",
          (arrjit_dot)(g, PARAM(g, "a", F32, 2, 3), PARAM(g, "b", F32, 4, 5), 0, NULL, NULL, 1, I64S(1), I64S(0)));
  REFUSED(
      f, TYPE, "dot: an axis is both a batch axis and contracted",
      (arrjit_dot)(g, PARAM(g, "a", F32, 2, 3), PARAM(g, "b", F32, 2, 3), 1, I64S(0), I64S(0), 1, I64S(0), I64S(0)));
  REFUSED(f, TYPE, "the result would have rank 18", {
    arrjit_value x = PARAM(g, "x", F32, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    (arrjit_dot)(g, x, x, 0, NULL, NULL, 0, NULL, NULL);
  });
}

static void test_payloads_follow_the_kind(void **state) {
  tk_fixture *f = *state;
  arrjit_kind point, plain;
  assert_int_equal(arrjit_context_add_kind(f->context, "point", ARRJIT_KIND_ERROR, "f64[0], i64[1]", &point, NULL),
                   ARRJIT_OK);
  assert_int_equal(arrjit_context_add_kind(f->context, "plain", ARRJIT_KIND_SHAPE, "", &plain, NULL), ARRJIT_OK);
  arrjit_graph *good = tk_graph(f);
  arrjit_value x = PARAM(good, "x", F64), i = PARAM(good, "i", I64, 2);
  assert_non_null(EXN_NEW(good, point, 1, NULL, x, i));
  RAISE(good, ARRJIT_KIND_RUNTIME, 0, "any", i, x, i);
  RETURN(good, x);
  tk_finish(f, good);
  REFUSED(f, TYPE, "raise: payload 1 is f64; kind point has i64 of rank 1 there",
          RAISE(g, point, 0, NULL, PARAM(g, "x", F64), PARAM(g, "y", F64)));
  REFUSED(f, TYPE, "raise: 1 payload values; kind point has 2 fields", RAISE(g, point, 0, NULL, PARAM(g, "x", F64)));
  REFUSED(f, TYPE, "check: 0 payload values and the index of the failing lane, an i64; kind plain has 0 fields",
          (arrjit_check)(g, PARAM(g, "p", BOOL, 3), plain, 0, NULL, NONE, NONE, NULL));
  REFUSED(f, MISUSE, "raise: kind 9999 is no kind of the context", (arrjit_raise)(g, 9999, 0, NULL, 0, NULL));
}

static void test_regions(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "if: then yields f32[2], but else yields i32; expected the same types", {
    arrjit_value a = PARAM(g, "a", F32, 2), b = PARAM(g, "b", I32), out;
    arrjit_if_begin(g, PARAM(g, "p", BOOL));
    arrjit_if_else(g, 1, &a);
    arrjit_if_end(g, 1, &b, &out);
    assert_null(out);
  });
  REFUSED(f, TYPE, "while: body yields f32[2], but f32 is carried; carried values keep their types", {
    arrjit_value a = PARAM(g, "a", F32), b = PARAM(g, "b", F32, 2), var;
    WHILE(g, &var, a);
    arrjit_while_body(g, arrjit_lt(g, var, a), &var);
    arrjit_while_end(g, 1, &b, &var);
  });
  REFUSED(f, TYPE, "for: hi is i32; expected an i64 scalar: write convert(hi, i64)", {
    arrjit_value i;
    arrjit_for_begin(g, arrjit_const_i64(g, 0), arrjit_const_i32(g, 3), arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
    arrjit_for_end(g, 0, NULL, NULL);
  });
  REFUSED(f, TYPE, "try: body yields f32, but handler 0 yields nothing", {
    arrjit_value a = PARAM(g, "a", F32), exn;
    arrjit_try_begin(g);
    arrjit_try_handler(g, 1, &a, ARRJIT_KIND_ERROR, &exn);
    arrjit_try_end(g, 0, NULL, NULL);
  });
  REFUSED(f, TYPE, "try: finally yields f32; expected nothing", {
    arrjit_value a = PARAM(g, "a", F32);
    arrjit_try_begin(g);
    arrjit_try_finally(g, 1, &a);
    arrjit_try_end(g, 1, &a, NULL);
  });
  REFUSED(f, TYPE, "add: x is an exception; expected an array", {
    arrjit_value exn = EXN_NEW(g, ARRJIT_KIND_ERROR, 0, NULL, arrjit_const_f32(g, 1));
    arrjit_add(g, exn, exn);
  });
  REFUSED(f, TYPE, "exn_site: exn is f32; expected an exception", arrjit_exn_site(g, PARAM(g, "x", F32)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TK_TEST(test_elementwise_broadcast_as_numpy_does),
      TK_TEST(test_broadcasts_are_explicit_nodes),
      TK_TEST(test_dtypes_never_convert_by_themselves),
      TK_TEST(test_the_cast_to_write_is_named),
      TK_TEST(test_the_comparison_to_write_is_named),
      TK_TEST(test_creation),
      TK_TEST(test_creation_refused),
      TK_TEST(test_movement),
      TK_TEST(test_movement_refused),
      TK_TEST(test_indexing),
      TK_TEST(test_indexing_refused),
      TK_TEST(test_reductions_and_products),
      TK_TEST(test_reductions_and_products_refused),
      TK_TEST(test_payloads_follow_the_kind),
      TK_TEST(test_regions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
