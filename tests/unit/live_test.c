/* Numbering, and what of a region's values is live at each place and mode. */
#include "ir_fixture.h"

/* Ends main with `result` and numbers the graph's module; the graph stays open to look at. */
static aj_region *number(arrjit_graph *g, arrjit_value result) {
  aj_region *root = g->b.func->root;
  RETURN(g, result);
  assert_int_equal(arrjit_graph_error(g, NULL), ARRJIT_OK);
  assert_true(aj_module_number(g->module));
  return root;
}

static bool live(arrjit_value value, uint32_t pc, aj_live_mode mode) {
  const aj_value *v = aj_graph_value(value);
  return aj_live(v->region, pc, mode, v->slot);
}

static void test_slots_pcs_and_ids(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), out, inner, last;
  arrjit_if_begin(g, p);
  inner = arrjit_neg(g, x);
  arrjit_if_else(g, 1, &inner);
  arrjit_if_end(g, 1, &x, &out);
  last = arrjit_abs(g, out);
  const aj_region *root = number(g, last);
  assert_int_equal(aj_graph_value(p)->slot, 0);
  assert_int_equal(aj_graph_value(x)->slot, 1);
  assert_int_equal(aj_graph_value(out)->slot, 2);
  assert_int_equal(aj_graph_value(last)->slot, 3);
  assert_int_equal(root->slot_count, 4);
  assert_int_equal(root->def_pc[1], 0);
  assert_int_equal(root->def_pc[3], 2);
  assert_int_equal(root->last_use[1], 0);
  assert_int_equal(root->last_use[3], 2);
  /* print order: if 0, neg 1, yield 2, yield 3, abs 4, yield 5 */
  assert_int_equal(root->nodes[0]->id, 0);
  assert_int_equal(root->nodes[0]->regions[0]->nodes[0]->id, 1);
  assert_int_equal(root->nodes[0]->regions[1]->nodes[0]->id, 3);
  assert_int_equal(root->nodes[1]->id, 4);
  assert_int_equal(root->nodes[2]->id, 5);
  assert_int_equal(root->func->node_count, 6);
  arrjit_graph_destroy(g);
}

static void test_straight_code(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32), unused = PARAM(g, "u", F32);
  arrjit_value a = arrjit_neg(g, x), b = arrjit_add(g, x, a), dead = arrjit_abs(g, a), c = arrjit_mul(g, b, b);
  number(g, c); /* pc 0 neg, 1 add, 2 abs, 3 mul, 4 yield */
  assert_true(live(x, 0, AJ_LIVE_BEFORE));
  assert_true(live(x, 1, AJ_LIVE_BEFORE)); /* operands of k too */
  assert_false(live(x, 1, AJ_LIVE_AFTER));
  assert_false(live(x, 2, AJ_LIVE_BEFORE));
  assert_false(live(a, 0, AJ_LIVE_BEFORE)); /* not made yet */
  assert_true(live(a, 0, AJ_LIVE_AFTER));   /* results of k included */
  assert_true(live(a, 2, AJ_LIVE_BEFORE));
  assert_false(live(a, 3, AJ_LIVE_BEFORE));
  assert_false(live(dead, 2, AJ_LIVE_AFTER));
  assert_true(live(c, 4, AJ_LIVE_BEFORE));
  for (uint32_t pc = 0; pc < 5; pc++) {
    assert_false(live(unused, pc, AJ_LIVE_BEFORE));
    assert_false(live(x, pc, AJ_LIVE_RAISE));
    for (uint32_t slot = 0; slot < 6; slot++) /* AFTER k is BEFORE k + 1 */
      assert_int_equal(aj_live(g->module->funcs.data[0]->root, pc, AJ_LIVE_AFTER, slot),
                       pc < 4 && aj_live(g->module->funcs.data[0]->root, pc + 1, AJ_LIVE_BEFORE, slot));
  }
  arrjit_graph_destroy(g);
}

static void test_inside_an_if_nothing_is_read_again(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), y = PARAM(g, "y", F32), out;
  arrjit_if_begin(g, p);
  arrjit_if_else(g, 1, &x);
  arrjit_if_end(g, 1, &y, &out);
  number(g, arrjit_add(g, out, y)); /* pc 0 if, 1 add, 2 yield */
  assert_true(live(p, 0, AJ_LIVE_BEFORE));
  assert_false(live(p, 0, AJ_LIVE_INSIDE));
  assert_false(live(x, 0, AJ_LIVE_INSIDE));   /* the arm has its own */
  assert_true(live(y, 0, AJ_LIVE_INSIDE));    /* used later */
  assert_false(live(out, 0, AJ_LIVE_INSIDE)); /* k's results are not there yet */
  assert_true(live(out, 0, AJ_LIVE_AFTER));
  arrjit_graph_destroy(g);
}

static void test_inside_loops_invariants_are_read_again(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value init = PARAM(g, "init", I64), end = PARAM(g, "end", I64), by = PARAM(g, "by", I64),
               lo = PARAM(g, "lo", I64), hi = PARAM(g, "hi", I64), step = PARAM(g, "step", I64), cond_var, body_var,
               out, i, sum;
  WHILE(g, &cond_var, init);
  arrjit_while_body(g, arrjit_lt(g, cond_var, end), &body_var);
  arrjit_value next = arrjit_add(g, body_var, by);
  arrjit_while_end(g, 1, &next, &out);
  FOR(g, lo, hi, step, &i, &sum, out);
  next = arrjit_add(g, sum, arrjit_mul(g, i, by));
  arrjit_for_end(g, 1, &next, &out);
  const aj_region *root = number(g, out); /* pc 0 while, 1 for, 2 yield */
  assert_false(live(init, 0, AJ_LIVE_INSIDE));
  assert_true(live(end, 0, AJ_LIVE_INSIDE));
  assert_false(live(end, 0, AJ_LIVE_AFTER));
  assert_true(live(by, 0, AJ_LIVE_INSIDE));
  assert_false(live(lo, 1, AJ_LIVE_INSIDE));
  assert_true(live(hi, 1, AJ_LIVE_INSIDE));
  assert_true(live(step, 1, AJ_LIVE_INSIDE));
  assert_true(live(by, 1, AJ_LIVE_INSIDE));
  /* the condition hands its parameters on to the body, so they live to its end: pc 0 lt, 1 yield */
  const aj_region *cond = root->nodes[0]->regions[0];
  assert_int_equal(cond->param_count, 3);
  for (uint32_t slot = 0; slot < 3; slot++) assert_true(aj_live(cond, 1, AJ_LIVE_BEFORE, slot));
  const aj_region *body = root->nodes[0]->regions[1];
  assert_false(aj_live(body, 0, AJ_LIVE_BEFORE, 1)); /* end is not used in the body */
  assert_false(aj_live(body, 1, AJ_LIVE_BEFORE, 0));
  arrjit_graph_destroy(g);
}

static void test_inside_a_try_handlers_and_finally_may_still_run(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value a = PARAM(g, "a", F32), b = PARAM(g, "b", F32), c = PARAM(g, "c", F32), p = PARAM(g, "p", BOOL), exn,
               out;
  arrjit_try_begin(g);
  arrjit_value body = arrjit_neg(g, a);
  arrjit_try_handler(g, 1, &body, ARRJIT_KIND_ERROR, &exn);
  arrjit_value handled = arrjit_abs(g, b);
  arrjit_try_finally(g, 1, &handled);
  (arrjit_check)(g, p, ARRJIT_KIND_RUNTIME, 0, NULL, NONE, LIST(c), NULL);
  arrjit_try_end(g, 0, NULL, &out);
  number(g, out);
  assert_false(live(a, 0, AJ_LIVE_INSIDE));
  assert_true(live(b, 0, AJ_LIVE_INSIDE));
  assert_true(live(c, 0, AJ_LIVE_INSIDE));
  assert_true(live(p, 0, AJ_LIVE_INSIDE));
  assert_false(live(b, 0, AJ_LIVE_AFTER));
  arrjit_graph_destroy(g);
}

static void test_inside_a_map_all_is_read_again_and_results_are_there(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32, 3), k = PARAM(g, "k", F32), a, v[2], out[2];
  arrjit_map_begin(g, 1, &x, &a);
  v[0] = arrjit_add(g, a, k);
  v[1] = arrjit_mul(g, a, k);
  arrjit_map_end(g, 2, v, out);
  number(g, out[0]);
  assert_true(live(x, 0, AJ_LIVE_INSIDE));
  assert_true(live(k, 0, AJ_LIVE_INSIDE));
  assert_false(live(x, 0, AJ_LIVE_AFTER));
  assert_true(live(out[0], 0, AJ_LIVE_INSIDE)); /* lanes that are done are in it */
  assert_false(live(out[1], 0, AJ_LIVE_INSIDE));
  assert_false(live(out[0], 0, AJ_LIVE_BEFORE));
  arrjit_graph_destroy(g);
}

static void test_numbering_again_after_an_edit(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32), a = arrjit_neg(g, x), b = arrjit_abs(g, a);
  aj_region *root = number(g, b);
  aj_value *operand = aj_graph_value(x);
  aj_node *node = aj_node_create(root->func, AJ_OP_SQRT, 1, &operand, 0, NULL, 1, &operand->type, 0);
  assert_true(aj_region_insert(root, 1, node));
  aj_graph_value(a)->forward = &node->results[0];
  aj_func_resolve(root->func);
  assert_true(aj_module_number(g->module)); /* neg, sqrt, abs, yield */
  assert_int_equal(root->slot_count, 4);
  assert_int_equal(node->pc, 1);
  assert_int_equal(node->results[0].slot, 2);
  assert_ptr_equal(root->nodes[2]->operands[0], &node->results[0]);
  assert_true(live(x, 1, AJ_LIVE_BEFORE));
  assert_false(live(a, 1, AJ_LIVE_BEFORE));
  arrjit_graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TK_TEST(test_slots_pcs_and_ids),
      TK_TEST(test_straight_code),
      TK_TEST(test_inside_an_if_nothing_is_read_again),
      TK_TEST(test_inside_loops_invariants_are_read_again),
      TK_TEST(test_inside_a_try_handlers_and_finally_may_still_run),
      TK_TEST(test_inside_a_map_all_is_read_again_and_results_are_there),
      TK_TEST(test_numbering_again_after_an_edit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
