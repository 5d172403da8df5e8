/* Tables, modules, editing, walking, effects, copies. */
#include "ir/symbol.h"
#include "ir_fixture.h"
#include "text/air.h"

static void test_operand_counts_follow_from_names(void **state) {
  (void)state;
  static const struct {
    aj_op op;
    uint8_t least, most;
  } rows[] = {
      {AJ_OP_CONST, 0, 0},
      {AJ_OP_NEG, 1, 1},
      {AJ_OP_ADD, 2, 2},
      {AJ_OP_SELECT, 3, 3},
      {AJ_OP_CONCAT, 0, 255},
      {AJ_OP_FOR, 3, 255},
      {AJ_OP_WHILE, 0, 255},
      {AJ_OP_IF, 1, 255},
      {AJ_OP_RAISE_EXN, 1, 2},
      {AJ_OP_CHECK, 1, 255},
      {AJ_OP_DYNAMIC_UPDATE_SLICE, 2, 255},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    assert_int_equal(aj_ops[rows[i].op].min_operands, rows[i].least);
    assert_int_equal(aj_ops[rows[i].op].max_operands, rows[i].most);
  }
  const char *name;
  size_t length;
  assert_true(aj_op_operand_name(AJ_OP_SELECT, 2, &name, &length) && length == 1 && *name == 'y');
  assert_true(aj_op_operand_name(AJ_OP_DYNAMIC_UPDATE_SLICE, 7, &name, &length) && length == 6 &&
              !memcmp(name, "starts", 6));
  assert_false(aj_op_operand_name(AJ_OP_NEG, 1, &name, &length));
}

static void test_rows_are_found_by_name(void **state) {
  (void)state;
  for (int op = 1; op < AJ_OP_COUNT; op++) assert_int_equal(aj_op_find(aj_ops[op].name, strlen(aj_ops[op].name)), op);
  for (int d = 1; d < AJ_DTYPE_COUNT; d++)
    assert_int_equal(aj_dtype_find(aj_dtypes[d].name, strlen(aj_dtypes[d].name)), d);
  for (int a = 0; a < AJ_ATTR_COUNT; a++) assert_int_equal(aj_attr_find(aj_attrs[a].name, strlen(aj_attrs[a].name)), a);
  assert_int_equal(aj_op_find("addd", 4), AJ_OP_NONE);
  assert_int_equal(aj_op_find("addd", 3), AJ_OP_ADD);
  assert_int_equal(aj_dtype_find("none", 4), ARRJIT_DTYPE_NONE);
  assert_int_equal(aj_attr_find("", 0), AJ_ATTR_COUNT);
}

static void test_types_and_texts_are_interned(void **state) {
  arrjit_graph *g = tk_graph(*state);
  aj_module *m = g->module;
  const int64_t dims[] = {2, 3};
  assert_ptr_equal(aj_module_type(m, ARRJIT_F32, 2, dims), aj_module_type(m, ARRJIT_F32, 2, I64S(2, 3)));
  assert_ptr_not_equal(aj_module_type(m, ARRJIT_F32, 2, dims), aj_module_type(m, ARRJIT_F32, 1, dims));
  assert_ptr_not_equal(aj_module_type(m, ARRJIT_F32, 2, dims), aj_module_type(m, ARRJIT_F64, 2, dims));
  assert_ptr_not_equal(aj_module_exn_type(m), aj_module_type(m, ARRJIT_F32, 0, NULL));
  assert_ptr_equal(aj_module_exn_type(m), aj_module_exn_type(m));
  assert_ptr_equal(aj_module_text(m, "abc", 3), aj_module_text(m, "abcd", 3));
  assert_string_equal(aj_module_text(m, "abcd", 2), "ab");
  arrjit_graph_destroy(g);
}

/* if (p) { neg } else { while { lt } { add } } abs */
static arrjit_value build_nested(arrjit_graph *g) {
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), var, out;
  arrjit_if_begin(g, p);
  arrjit_value negated = arrjit_neg(g, x);
  arrjit_if_else(g, 1, &negated);
  WHILE(g, &var, x);
  arrjit_while_body(g, arrjit_lt(g, var, x), &var);
  arrjit_value next = arrjit_add(g, var, var);
  arrjit_while_end(g, 1, &next, &out);
  arrjit_if_end(g, 1, &out, &out);
  return arrjit_abs(g, out);
}

static void test_walk_is_preorder(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value out = build_nested(g);
  RETURN(g, out);
  static const aj_op order[] = {AJ_OP_IF,  AJ_OP_NEG,   AJ_OP_YIELD, AJ_OP_WHILE, AJ_OP_LT,   AJ_OP_YIELD,
                                AJ_OP_ADD, AJ_OP_YIELD, AJ_OP_YIELD, AJ_OP_ABS,   AJ_OP_YIELD};
  aj_walk walk;
  aj_walk_start(&walk, g->module->funcs.data[0]);
  for (size_t i = 0; i < TK_COUNT(order); i++) assert_int_equal(aj_walk_next(&walk)->op, order[i]);
  assert_null(aj_walk_next(&walk));
  assert_null(aj_walk_next(&walk));
  aj_walk_start(&walk, g->module->funcs.data[0]);
  assert_int_equal(aj_walk_next(&walk)->op, AJ_OP_IF);
  aj_walk_skip(&walk);
  assert_int_equal(aj_walk_next(&walk)->op, AJ_OP_ABS);
  arrjit_graph_destroy(g);
}

static void test_operand_lists_grow(void **state) {
  arrjit_graph *g = tk_graph(*state);
  aj_value *x = aj_graph_value(PARAM(g, "x", F32));
  for (uint32_t start = 0; start < 6; start++) {
    aj_value *first[] = {x, x, x, x, x, x};
    aj_node *node = aj_node_create(g->b.func, AJ_OP_YIELD, start, first, 0, NULL, 0, NULL, 0);
    for (uint32_t i = start; i < 100; i++) assert_true(aj_node_add_operand(node, x));
    assert_int_equal(node->operand_count, 100);
    for (uint32_t i = 0; i < 100; i++) assert_ptr_equal(node->operands[i], x);
  }
  arrjit_graph_destroy(g);
}

static void test_forwarding_chains_are_shortened(void **state) {
  arrjit_graph *g = tk_graph(*state);
  aj_value *v[5];
  for (int i = 0; i < 5; i++) v[i] = aj_graph_value(PARAM(g, NULL, F32));
  for (int i = 0; i < 4; i++) v[i]->forward = v[i + 1];
  assert_ptr_equal(aj_value_resolve(v[0]), v[4]);
  for (int i = 0; i < 4; i++) assert_ptr_equal(v[i]->forward, v[4]);
  assert_ptr_equal(aj_value_resolve(v[4]), v[4]);
  arrjit_graph_destroy(g);
}

static const aj_node *def(arrjit_value value) { return aj_graph_value(value)->def; }

static void test_what_may_raise(void **state) {
  arrjit_graph *g = tk_graph(*state);
  int64_t n = ir_symbol(g, "n"), m = ir_symbol(g, "m");
  arrjit_value x = PARAM(g, "x", F32, n, 4), y = PARAM(g, "y", F32, 5), i = PARAM(g, "i", I64);
  assert_false(aj_node_may_raise(def(arrjit_add(g, y, y))));
  assert_true(aj_node_may_raise(def(arrjit_checked_add(g, i, i))));
  assert_false(aj_node_may_raise(def((arrjit_reshape)(g, x, 2, I64S(4, n)))));
  assert_true(aj_node_may_raise(def((arrjit_reshape)(g, x, 2, I64S(4, m)))));
  assert_true(aj_node_may_raise(def((arrjit_reshape)(g, x, 1, I64S(12)))));
  assert_false(aj_node_may_raise(def((arrjit_slice)(g, x, 2, I64S(0, 0), I64S(n, 4), I64S(1, 1)))));
  assert_true(aj_node_may_raise(def((arrjit_slice)(g, x, 2, I64S(0, 0), I64S(3, 4), I64S(1, 1)))));
  assert_false(aj_node_may_raise(def(arrjit_take(g, y, i, 0))));
  assert_true(aj_node_may_raise(def(arrjit_take(g, x, i, 0))));
  assert_false(aj_node_may_raise(def((arrjit_dynamic_slice)(g, x, LIST(i, i), I64S(0, 4)))));
  assert_true(aj_node_may_raise(def((arrjit_dynamic_slice)(g, x, LIST(i, i), I64S(2, 4)))));
  arrjit_graph_destroy(g);
}

/* Loops may not end; they and calls count against limits of a run, used or not. */
static void test_purity_looks_into_regions(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_type f32 = TYPE(F32);
  arrjit_callee quiet = (arrjit_declare)(g, "quiet", 1, &f32, 1, &f32);
  arrjit_value x, pure, out, nested;
  arrjit_define(g, quiet, &x);
  RETURN(g, arrjit_neg(g, x));
  arrjit_value looped = build_nested(g);
  assert_false(aj_node_is_pure(def(looped)->operands[0]->def));
  arrjit_if_begin(g, arrjit_lt(g, looped, looped));
  x = arrjit_neg(g, looped);
  arrjit_if_else(g, 1, &x);
  arrjit_if_end(g, 1, &looped, &pure);
  assert_true(aj_node_is_pure(def(pure)));
  CALL(g, quiet, &out, pure);
  assert_false(aj_node_is_pure(def(out)));
  arrjit_if_begin(g, arrjit_lt(g, pure, pure));
  CALL(g, quiet, &x, pure);
  arrjit_if_else(g, 1, &x);
  arrjit_if_end(g, 1, &pure, &nested);
  assert_false(aj_node_is_pure(def(nested)));
  arrjit_graph_destroy(g);
}

static void test_a_clone_is_equal_and_points_back(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int64_t n = ir_symbol(g, "n");
  arrjit_slot slot = (arrjit_slot_value)(g, "s", TYPES(TYPE(F32)), TYPES(TYPE(F32)), 0);
  arrjit_value out = build_nested(g), seen;
  CALLBACK(g, slot, &seen, out);
  arrjit_label_push(g, "here");
  arrjit_value all = (arrjit_concat)(g, LIST(PARAM(g, "v", F32, n), CONST(g, F32, 1, 2)), 0);
  arrjit_label_pop(g);
  arrjit_return(g, 2, VALUES_(seen, all), ((const char *const[]){"seen", NULL}));
  arrjit_function *function = tk_finish(f, g);
  const aj_module *module = function->module;
  aj_module *copy = aj_module_clone(module), *again = aj_module_clone(copy);
  assert_true(aj_module_equal(module, copy));
  assert_true(aj_module_equal(module, again));
  assert_ptr_equal(copy->origin, module);
  assert_ptr_equal(again->origin, module);
  aj_walk from, to;
  aj_walk_start(&from, module->funcs.data[0]);
  aj_walk_start(&to, again->funcs.data[0]);
  for (const aj_node *node; (node = aj_walk_next(&from));) {
    const aj_node *twin = aj_walk_next(&to);
    assert_ptr_equal(twin->origin, node);
    assert_int_equal(twin->id, node->id);
    assert_int_equal(twin->source.line, node->source.line);
    if (node->source.label) assert_string_equal(twin->source.label, node->source.label);
  }
  aj_module_destroy(again);
  aj_module_destroy(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TK_TEST(test_operand_counts_follow_from_names),
      TK_TEST(test_rows_are_found_by_name),
      TK_TEST(test_types_and_texts_are_interned),
      TK_TEST(test_walk_is_preorder),
      TK_TEST(test_operand_lists_grow),
      TK_TEST(test_forwarding_chains_are_shortened),
      TK_TEST(test_what_may_raise),
      TK_TEST(test_purity_looks_into_regions),
      TK_TEST(test_a_clone_is_equal_and_points_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
