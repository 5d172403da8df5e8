/* Building through the API: captures, arms that raise, errors that stick with their place, limits, large graphs on
 * small stacks, every allocation failing once. */
#include <pthread.h>

#include "ir_fixture.h"

/* ---- captures ---- */

static void test_outer_values_become_parameters(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), y = PARAM(g, "y", F32), out;
  arrjit_if_begin(g, p);
  arrjit_value t = arrjit_add(g, y, x);
  arrjit_if_else(g, 1, &t);
  t = arrjit_mul(g, x, x);
  arrjit_if_end(g, 1, &t, &out);
  const aj_node *node = aj_graph_value(out)->def;
  assert_int_equal(node->operand_count, 3); /* pred, then captures in order of first use */
  assert_ptr_equal(node->operands[1], aj_graph_value(y));
  assert_ptr_equal(node->operands[2], aj_graph_value(x));
  for (int arm = 0; arm < 2; arm++) {
    const aj_region *region = node->regions[arm];
    assert_int_equal(region->param_count, 2);
    assert_ptr_equal(region->owner, node);
    const aj_node *first = region->nodes[0];
    assert_ptr_equal(first->operands[0], region->params[arm]);
    assert_ptr_equal(first->operands[1], region->params[1]);
  }
  arrjit_graph_destroy(g);
}

static void test_captures_pass_through_every_level(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), i, var, exn, out;
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 3), arrjit_const_i64(g, 1), &i, &var, x);
  arrjit_try_begin(g);
  arrjit_if_begin(g, p);
  arrjit_if_else(g, 1, &x);
  arrjit_if_end(g, 1, &var, &out);
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_ERROR, &exn);
  arrjit_try_end(g, LIST(arrjit_mul(g, x, arrjit_convert(g, i, ARRJIT_F32))), &out);
  arrjit_for_end(g, 1, &out, &out);
  const aj_node *loop = aj_graph_value(out)->def;
  assert_int_equal(loop->operand_count, 4 + 2);
  const aj_node *attempt = loop->regions[0]->nodes[0];
  assert_int_equal(attempt->op, AJ_OP_TRY);
  assert_int_equal(attempt->operand_count, 4); /* p, x, var, i */
  assert_int_equal(attempt->regions[1]->param_count, 5);
  assert_true(attempt->regions[1]->params[0]->type->is_exn);
  RETURN(g, out);
  tk_finish(f, g);
}

static void test_loops_have_carried_values_before_captures(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value a = PARAM(g, "a", F32), b = PARAM(g, "b", I64), limit = PARAM(g, "limit", F32), vars[2], out[2];
  WHILE(g, vars, a, b);
  arrjit_while_body(g, arrjit_lt(g, vars[0], limit), vars);
  arrjit_while_end(g, LIST(arrjit_add(g, vars[0], a), vars[1]), out);
  const aj_node *loop = aj_graph_value(out[0])->def;
  assert_int_equal(aj_node_int(loop, AJ_ATTR_CARRIED), 2);
  assert_int_equal(aj_node_capture_start(loop), 2);
  assert_int_equal(loop->operand_count, 4);
  assert_ptr_equal(loop->operands[2], aj_graph_value(limit));
  assert_ptr_equal(loop->operands[3], aj_graph_value(a)); /* as a capture, although it is an initial value too */
  assert_int_equal(loop->regions[0]->param_count, 4);
  assert_int_equal(loop->regions[1]->param_count, 4);
  EXPECT_TYPE(g, out[1], "i64");
  arrjit_graph_destroy(g);
}

/* ---- raising ---- */

static void test_code_after_a_raise_is_dropped(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), out, inner;
  arrjit_if_begin(g, p);
  RAISE(g, ARRJIT_KIND_RUNTIME, 3, "no", x);
  arrjit_value dead = arrjit_neg(g, x);
  arrjit_if_begin(g, p); /* constructs too */
  arrjit_if_else(g, 1, &dead);
  arrjit_if_end(g, 1, &x, &inner);
  assert_non_null(inner);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 1, &x, &out);
  const aj_node *node = aj_graph_value(out)->def;
  assert_int_equal(node->regions[0]->node_count, 1);
  assert_int_equal(node->result_count, 1);
  RETURN(g, out);
  tk_finish(f, g);
}

static void test_constructs_whose_arms_all_raise_yield_nothing(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32), out = x;
  arrjit_if_begin(g, p);
  (arrjit_runtime_raise)(g, "a", 0, NULL);
  arrjit_if_else(g, 0, NULL);
  (arrjit_runtime_raise)(g, "b", 0, NULL);
  arrjit_if_end(g, 0, NULL, &out);
  assert_ptr_equal(out, x);
  RETURN(g, x);
  tk_finish(f, g);
}

/* ---- errors ---- */

static void test_the_first_error_sticks_with_its_place(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_error error;
  assert_int_equal(arrjit_graph_error(g, &error), ARRJIT_OK);
  int line = __LINE__ + 1;
  arrjit_value bad = arrjit_add(g, PARAM(g, "x", F32, 2), PARAM(g, "y", F64, 2));
  assert_null(bad);
  assert_null(arrjit_neg(g, bad)); /* passed on, not an error of its own */
  assert_null(arrjit_sqrt(g, PARAM(g, "z", I32)));
  assert_int_equal(arrjit_graph_error(g, &error), ARRJIT_TYPE);
  assert_int_equal(error.line, line);
  assert_string_equal(error.op, "add");
  assert_non_null(strstr(error.file, "graph_test.c"));
  assert_string_equal(error.message,
                      "add: operands are f32[2] and f64[2]; dtypes never convert by themselves, use convert");
  arrjit_function *function;
  arrjit_error again;
  assert_int_equal(arrjit_graph_finish(g, &function, &again), ARRJIT_TYPE);
  assert_string_equal(again.message, error.message);
  assert_int_equal(again.line, line);
  arrjit_graph_destroy(g);
}

static void test_long_paths_keep_their_end(void **state) {
  arrjit_graph *g = tk_graph(*state);
  char path[400];
  memset(path, 'd', sizeof path);
  strcpy(path + sizeof path - 10, "/source.c");
  arrjit_error error;
  assert_null((arrjit_neg)(arrjit_at(g, path, 7), NULL));
  memset(path, 'x', 100); /* it was copied */
  assert_int_equal(arrjit_graph_error(g, &error), ARRJIT_MISUSE);
  assert_int_equal(strlen(error.file), sizeof error.file - 1);
  assert_string_equal(error.file + strlen(error.file) - 10, "d/source.c");
  arrjit_graph_destroy(g);
}

static void test_lines_below_0_are_unknown(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_error error;
  assert_null((arrjit_neg)(arrjit_at(g, "model.c", -5), NULL));
  assert_int_equal(arrjit_graph_error(g, &error), ARRJIT_MISUSE);
  assert_int_equal(error.line, 0);
  arrjit_graph_destroy(g);
}

static void test_ends_give_null_values_after_an_error(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32), vars[3] = {x, x, x}, out[3] = {x, x, x}, i = x, exn = x;
  arrjit_if_begin(g, x); /* no predicate */
  arrjit_if_else(g, 2, vars);
  (arrjit_raise)(g, ARRJIT_KIND_ERROR, 0, NULL, 0, NULL);
  arrjit_if_end(g, 0, NULL, out);
  assert_null(out[0]);
  assert_null(out[1]);
  assert_ptr_equal(out[2], x);
  out[0] = out[1] = x;
  (arrjit_for_begin)(g, x, x, x, 2, vars, &i, out);
  assert_null(i);
  assert_null(out[1]);
  out[0] = out[1] = x;
  arrjit_for_end(g, 0, NULL, out);
  assert_null(out[1]);
  out[0] = x;
  arrjit_try_begin(g);
  arrjit_try_handler(g, 1, vars, ARRJIT_KIND_ERROR, &exn);
  arrjit_try_finally(g, 1, vars);
  arrjit_try_end(g, 0, NULL, out);
  assert_null(exn);
  assert_null(out[0]);
  EXPECT_ERROR(g, TYPE, "if: pred is f32");
}

static void test_values_out_of_place_are_refused(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, MISUSE, "neg: x was made inside an arm or body that has ended: it is the result of neg, f32, built at ", {
    arrjit_value x = PARAM(g, "x", F32);
    arrjit_if_begin(g, PARAM(g, "p", BOOL));
    arrjit_value inner = arrjit_neg(g, x);
    arrjit_if_else(g, 0, NULL);
    arrjit_if_end(g, 0, NULL, NULL);
    arrjit_neg(g, inner);
  });
  REFUSED(f, MISUSE, "add: y is a value of another function; pass it as an argument", {
    arrjit_value x = PARAM(g, "x", F32), own;
    arrjit_define(g, (arrjit_declare)(g, "f", TYPES(TYPE(F32)), 0, NULL), &own);
    arrjit_add(g, own, x);
  });
  REFUSED(f, MISUSE, "neg: x is the null value", arrjit_neg(g, NULL));
  arrjit_graph *other = tk_graph(f);
  arrjit_value foreign = PARAM(other, "x", F32);
  REFUSED(f, MISUSE, "neg: x is a value of another graph", arrjit_neg(g, foreign));
  REFUSED(f, MISUSE, "return: values is a value of another graph", RETURN(g, foreign));
  arrjit_graph_destroy(other);
}

static void test_unbalanced_constructs_are_refused(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, MISUSE, "if_else: inside a function; expected an if", arrjit_if_else(g, 0, NULL));
  REFUSED(f, MISUSE, "while_end: inside a for", {
    arrjit_value i;
    arrjit_value one = arrjit_const_i64(g, 1);
    (arrjit_for_begin)(g, one, one, one, 0, NULL, &i, NULL);
    arrjit_while_end(g, 0, NULL, NULL);
  });
  REFUSED(f, MISUSE, "if_end: without arrjit_if_else", {
    arrjit_if_begin(g, arrjit_const_bool(g, 1));
    arrjit_if_end(g, 0, NULL, NULL);
  });
  REFUSED(f, MISUSE, "while_end: without arrjit_while_body", {
    (arrjit_while_begin)(g, 0, NULL, NULL);
    arrjit_while_end(g, 0, NULL, NULL);
  });
  REFUSED(f, GRAPH, "try: it has neither a handler nor a finally", {
    arrjit_try_begin(g);
    arrjit_try_end(g, 0, NULL, NULL);
  });
  REFUSED(f, MISUSE, "a handler after the finally", {
    arrjit_try_begin(g);
    arrjit_try_finally(g, 0, NULL);
    arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, NULL);
  });
  REFUSED(f, MISUSE, "return: inside an if", {
    arrjit_if_begin(g, arrjit_const_bool(g, 1));
    (arrjit_return)(g, 0, NULL, NULL);
  });
  REFUSED(f, MISUSE, "label_pop: without a matching push", arrjit_label_pop(g));
  REFUSED(f, MISUSE, "no function is open to build in", {
    (arrjit_return)(g, 0, NULL, NULL);
    arrjit_const_i32(g, 1);
  });
}

static void test_what_is_open_at_the_end_is_named(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  int line = __LINE__ + 1;
  arrjit_if_begin(g, arrjit_const_bool(g, 1));
  arrjit_error error;
  tk_finish_fails(f, g, ARRJIT_GRAPH, "an if is begun but not ended", &error);
  assert_int_equal(error.line, line);
  tk_finish_fails(f, tk_graph(f), ARRJIT_GRAPH, "function main is begun but not ended", NULL);
}

static void test_functions_must_fit_their_declaration(void **state) {
  tk_fixture *f = *state;
#define DECLARE(...) (arrjit_declare)(g, "f", TYPES(TYPE(F32)), TYPES(__VA_ARGS__))
  REFUSED(f, TYPE, "return: 0 values; function f declares 1", {
    arrjit_value x;
    arrjit_define(g, DECLARE(TYPE(F32)), &x);
    (arrjit_return)(g, 0, NULL, NULL);
  });
  REFUSED(f, TYPE, "return: value 0 is f32; function f declares f32[2]", {
    arrjit_value x;
    arrjit_define(g, DECLARE(TYPE(F32, 2)), &x);
    RETURN(g, x);
  });
  REFUSED(f, MISUSE, "two functions are called f", DECLARE(TYPE(F32)); DECLARE(TYPE(F32)));
  REFUSED(f, MISUSE, "two functions are called main", (arrjit_declare)(g, "main", 0, NULL, 0, NULL));
  REFUSED(f, MISUSE, "function f is defined already", {
    arrjit_value x;
    arrjit_callee callee = DECLARE(TYPE(F32));
    arrjit_define(g, callee, &x);
    RETURN(g, x);
    arrjit_define(g, callee, &x);
  });
  REFUSED(f, MISUSE, "call: 7 is no function of the graph", (arrjit_call)(g, 7, 0, NULL, NULL));
  REFUSED(f, MISUSE, "function f has its parameters from arrjit_define", {
    arrjit_value x;
    arrjit_define(g, DECLARE(TYPE(F32)), &x);
    PARAM(g, "y", F32);
  });
  arrjit_graph *loose = tk_graph(f);
  assert_true((arrjit_declare)(loose, "f", 0, NULL, 0, NULL) > 0);
  RETURN(loose, PARAM(loose, "x", F32));
  tk_finish_fails(f, loose, ARRJIT_GRAPH, "function f is declared but not defined", NULL);
#undef DECLARE
}

static void test_constants(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value i8 = PARAM(g, "a", I8), u64 = PARAM(g, "b", U64), f32 = PARAM(g, "c", F32, 3);
  EXPECT_TYPE(g, arrjit_const_like(g, i8, -128), "i8");
  EXPECT_TYPE(g, arrjit_const_like(g, f32, 0.1), "f32");
  arrjit_value big = arrjit_const_like(g, u64, 9223372036854775808.0);
  uint64_t element;
  memcpy(&element, aj_node_attr(aj_graph_value(big)->def, AJ_ATTR_VALUE)->u.bytes, sizeof element);
  assert_true(element == UINT64_C(1) << 63);
  arrjit_graph_destroy(g);
}

static void test_constants_refused(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, TYPE, "no i8 is 128", arrjit_const_like(g, PARAM(g, "x", I8), 128));
  REFUSED(f, TYPE, "no u8 is -1", arrjit_const_like(g, PARAM(g, "x", U8), -1));
  REFUSED(f, TYPE, "no i32 is 0.5", arrjit_const_like(g, PARAM(g, "x", I32), 0.5));
  REFUSED(f, TYPE, "no i64 is nan", arrjit_const_like(g, PARAM(g, "x", I64), NAN));
  REFUSED(f, TYPE, "no u64 is 1.8446744073709552e+19",
          arrjit_const_like(g, PARAM(g, "x", U64), 18446744073709551616.0));
  REFUSED(f, TYPE, "no bool is 2", arrjit_const_like(g, PARAM(g, "x", BOOL), 2));
  REFUSED(f, MISUSE, "byte 1 of bool data is 2; expected 0 or 1", CONST(g, BOOL, 1, 2));
  REFUSED(f, MISUSE, "the data of a constant is NULL", {
    arrjit_type type = TYPE(F32, 3);
    arrjit_const(g, &type, NULL);
  });
}

static void test_null_graphs_do_nothing(void **state) {
  (void)state;
  arrjit_value out = NULL;
  arrjit_type type = TYPE(F32);
  arrjit_error error;
  assert_null((arrjit_add)(NULL, NULL, NULL));
  assert_null((arrjit_param)(NULL, "x", &type));
  assert_null(arrjit_at(NULL, "f", 1));
  assert_int_equal(arrjit_symbol(NULL, "n"), 0);
  assert_int_equal((arrjit_declare)(NULL, "f", 0, NULL, 0, NULL), -1);
  assert_int_equal(arrjit_slot_io(NULL, "s", 0, NULL, 0), -1);
  (arrjit_if_begin)(NULL, NULL);
  arrjit_if_end(NULL, 1, &out, &out);
  arrjit_while_end(NULL, 0, NULL, NULL);
  (arrjit_return)(NULL, 0, NULL, NULL);
  arrjit_label_push(NULL, "x");
  assert_int_equal(arrjit_graph_error(NULL, &error), ARRJIT_MISUSE);
  assert_int_equal(arrjit_graph_finish(NULL, NULL, &error), ARRJIT_MISUSE);
  assert_int_equal(arrjit_value_type(NULL).rank, -1);
  arrjit_graph_destroy(NULL);
}

static void test_a_finished_graph_takes_no_more(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32);
  RETURN(g, x);
  arrjit_function *function, *second = NULL;
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_graph_error(g, NULL), ARRJIT_OK);
  assert_null(arrjit_const_i32(g, 1));
  arrjit_if_begin(g, x);
  arrjit_error error;
  assert_int_equal(arrjit_graph_finish(g, &second, &error), ARRJIT_MISUSE);
  assert_non_null(strstr(error.message, "finished"));
  arrjit_graph_destroy(g);
  arrjit_function_release(function);
}

/* The function's module is the graph's too, whoever lets go first. */
static void test_values_live_as_long_as_the_graph(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 2, 3), y = arrjit_neg(g, x);
  RETURN(g, y);
  arrjit_function *function;
  assert_int_equal(arrjit_graph_finish(g, &function, NULL), ARRJIT_OK);
  arrjit_function_release(function);
  arrjit_type type = arrjit_value_type(y);
  assert_int_equal(type.dtype, ARRJIT_F32);
  assert_int_equal(type.rank, 2);
  assert_int_equal(type.dims[1], 3);
  assert_int_equal(arrjit_value_type(x).dims[0], 2);
  arrjit_graph_destroy(g);
}

/* ---- places and labels ---- */

static void test_nodes_carry_place_and_label(void **state) {
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32), y;
  arrjit_label_push(g, "outer");
  arrjit_label_push(g, "inner");
  int line = __LINE__ + 1;
  y = arrjit_neg(g, x);
  arrjit_label_pop(g);
  arrjit_value z = arrjit_neg(g, y);
  arrjit_label_pop(g);
  arrjit_value w = arrjit_neg(g, z);
  const aj_source *source = &aj_graph_value(y)->def->source;
  assert_int_equal(source->line, line);
  assert_non_null(strstr(source->file, "graph_test.c"));
  assert_string_equal(source->label, "outer/inner");
  assert_string_equal(aj_graph_value(z)->def->source.label, "outer");
  assert_null(aj_graph_value(w)->def->source.label);
  line = __LINE__ + 1;
  arrjit_if_begin(g, arrjit_lt(g, x, x));
  y = arrjit_neg(g, x);
  arrjit_if_else(g, 1, &y);
  arrjit_if_end(g, 1, &x, &y);
  assert_int_equal(aj_graph_value(y)->def->source.line, line); /* a construct is where it begins */
  arrjit_graph_destroy(g);
}

/* ---- limits and size ---- */

static void set_option(tk_fixture *f, arrjit_option option, int64_t value) {
  assert_int_equal(arrjit_context_set_option(f->context, option, value, NULL), ARRJIT_OK);
}

static void test_limits_are_errors(void **state) {
  tk_fixture *f = *state;
  set_option(f, ARRJIT_OPTION_MAX_NODES, 3);
  REFUSED(f, LIMIT, "const_i32: the graph has 3 nodes, as many as max_nodes allows",
          for (int i = 0; i < 4; i++) arrjit_const_i32(g, i));
  set_option(f, ARRJIT_OPTION_MAX_NODES, 1000);
  set_option(f, ARRJIT_OPTION_MAX_CONST_BYTES, 7);
  REFUSED(f, LIMIT, "const_i32: the graph's constants have 8 bytes; max_const_bytes is 7",
          for (int i = 0; i < 2; i++) arrjit_const_i32(g, i));
  set_option(f, ARRJIT_OPTION_MAX_CONST_BYTES, 1000);
  set_option(f, ARRJIT_OPTION_MAX_NESTING, 2);
  REFUSED(f, LIMIT, "regions are nested deeper than max_nesting, 2", {
    arrjit_value x = PARAM(g, "x", F32), out[3] = {x, x, x};
    for (int i = 0; i < 3; i++) arrjit_if_begin(g, PARAM(g, NULL, BOOL));
    for (int i = 0; i < 3; i++) {
      arrjit_if_else(g, 1, &x);
      arrjit_if_end(g, 1, &x, &out[i]);
      assert_null(out[i]);
    }
    assert_int_equal(g->frames.count, 1);
  });
}

typedef struct large {
  tk_fixture *f;
  bool nested;
} large;

/* A chain of nodes, or of ifs inside each other that all use the outermost values. */
static void *build_large(void *arg) {
  enum { NODES = 100000, LEVELS = 1000 };
  const large *job = arg;
  arrjit_graph *g = tk_graph(job->f);
  arrjit_value p = PARAM(g, "p", BOOL), x = PARAM(g, "x", F32, 8), y = x;
  if (job->nested) {
    for (int i = 0; i < LEVELS; i++) {
      arrjit_if_begin(g, p);
      for (int k = 0; k < NODES / LEVELS / 2; k++) y = arrjit_add(g, y, x);
    }
    for (int i = 0; i < LEVELS; i++) {
      arrjit_value out;
      arrjit_if_else(g, 1, &y);
      for (int k = 0; k < NODES / LEVELS / 2; k++) x = arrjit_neg(g, x);
      arrjit_if_end(g, 1, &x, &out);
      y = out;
      x = aj_host_value(g->b.func->root->params[1]);
    }
  } else {
    for (int i = 0; i < NODES; i++) y = arrjit_add(g, y, x);
  }
  RETURN(g, y);
  arrjit_function *function = NULL;
  arrjit_error error;
  arrjit_status status = arrjit_graph_finish(g, &function, &error);
  arrjit_graph_destroy(g);
  arrjit_function_release(function);
  return status == ARRJIT_OK ? NULL : (void *)"finish failed";
}

static void run_on_small_stack(large *job) {
  pthread_attr_t attr;
  pthread_t thread;
  void *problem;
  pthread_attr_init(&attr);
  assert_int_equal(pthread_attr_setstacksize(&attr, 256 << 10), 0);
  assert_int_equal(pthread_create(&thread, &attr, build_large, job), 0);
  pthread_join(thread, &problem);
  pthread_attr_destroy(&attr);
  if (problem) fail_msg("%s", (const char *)problem);
}

static void test_long_graphs_fit_a_small_stack(void **state) { run_on_small_stack(&(large){*state, false}); }

static void test_deep_graphs_fit_a_small_stack(void **state) { run_on_small_stack(&(large){*state, true}); }

/* ---- lack of memory ---- */

/* A graph with one of everything; NULL where memory ran out, and then finish has said so. */
static arrjit_function *build_everything(tk_fixture *f, arrjit_status *out_status) {
  arrjit_graph *g = NULL;
  arrjit_function *function = NULL;
  arrjit_error error;
  *out_status = arrjit_graph_create(f->context, &g, &error);
  if (*out_status != ARRJIT_OK) return NULL;
  int64_t n = arrjit_symbol(g, "n");
  arrjit_type vector = TYPE(F32, n);
  arrjit_value p = PARAM(g, "p", BOOL), x = (arrjit_param)(ARRJIT_AT_(g), "x", &vector), s = PARAM(g, "s", F32), out, i,
               var, exn, own;
  arrjit_label_push(g, "label");
  arrjit_slot slot = arrjit_slot_value(g, "slot", 1, &vector, 1, &vector, 0);
  arrjit_callee callee = arrjit_declare(g, "twice", 1, &vector, 1, &vector);
  arrjit_define(g, callee, &own);
  RETURN(g, arrjit_add(g, own, own));
  arrjit_label_pop(g);
  CALL(g, callee, &out, x);
  CALLBACK(g, slot, &out, out);
  arrjit_if_begin(g, p);
  arrjit_value grown = (arrjit_concat)(g, LIST(out, CONST(g, F32, 1, 2, 3)), 0);
  arrjit_value first = (arrjit_slice)(g, grown, 1, I64S(0), I64S(n), I64S(1));
  arrjit_if_else(g, 1, &first);
  RAISE(g, ARRJIT_KIND_RUNTIME, 1, "no {0}", s);
  arrjit_if_end(g, 0, NULL, &out);
  FOR(g, arrjit_const_i64(g, 0), arrjit_dim_size(g, x, 0), arrjit_const_i64(g, 1), &i, &var, out);
  arrjit_try_begin(g);
  arrjit_value sum = arrjit_add(g, var, s);
  arrjit_try_handler(g, 1, &sum, ARRJIT_KIND_ERROR, &exn);
  arrjit_try_end(g, 1, &var, &out);
  arrjit_for_end(g, 1, &out, &out);
  arrjit_return(g, 1, &out, ((const char *const[]){"out"}));
  *out_status = arrjit_graph_finish(g, &function, &error);
  arrjit_graph_destroy(g);
  return function;
}

static void test_every_allocation_may_fail(void **state) {
  tk_fixture *f = *state;
  arrjit_status status = ARRJIT_MEMORY;
  int64_t points = 0, before = atomic_load(&f->alloc.live_bytes);
  for (; status != ARRJIT_OK; points++) {
    tk_alloc_arm(&f->alloc, points + 1);
    arrjit_function *function = build_everything(f, &status);
    int64_t failed = atomic_load(&f->alloc.failed);
    tk_alloc_arm(&f->alloc, 0);
    if (function) arrjit_function_release(function);
    assert_true(status == ARRJIT_OK || status == ARRJIT_MEMORY);
    assert_int_equal(function == NULL, status != ARRJIT_OK);
    assert_int_equal(failed > 0, status != ARRJIT_OK); /* none is shrugged off */
    if (status != ARRJIT_OK) assert_int_equal(atomic_load(&f->alloc.live_bytes), before);
    assert_true(points < 10000);
  }
  assert_true(points > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TK_TEST(test_outer_values_become_parameters),
      TK_TEST(test_captures_pass_through_every_level),
      TK_TEST(test_loops_have_carried_values_before_captures),
      TK_TEST(test_code_after_a_raise_is_dropped),
      TK_TEST(test_constructs_whose_arms_all_raise_yield_nothing),
      TK_TEST(test_the_first_error_sticks_with_its_place),
      TK_TEST(test_long_paths_keep_their_end),
      TK_TEST(test_lines_below_0_are_unknown),
      TK_TEST(test_ends_give_null_values_after_an_error),
      TK_TEST(test_values_out_of_place_are_refused),
      TK_TEST(test_unbalanced_constructs_are_refused),
      TK_TEST(test_what_is_open_at_the_end_is_named),
      TK_TEST(test_functions_must_fit_their_declaration),
      TK_TEST(test_constants),
      TK_TEST(test_constants_refused),
      TK_TEST(test_null_graphs_do_nothing),
      TK_TEST(test_a_finished_graph_takes_no_more),
      TK_TEST(test_values_live_as_long_as_the_graph),
      TK_TEST(test_nodes_carry_place_and_label),
      TK_TEST(test_limits_are_errors),
      TK_TEST(test_long_graphs_fit_a_small_stack),
      TK_TEST(test_deep_graphs_fit_a_small_stack),
      TK_TEST(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
