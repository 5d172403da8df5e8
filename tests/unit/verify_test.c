/* The verifier: good modules pass, and each invariant that no text can break is broken by hand and must be told. */
#include "verify/verify.h"

#include <fnmatch.h>
#include <string.h>

#include "test_main.h"
#include "text/air.h"
#include "verify/checker.h"

/* Nodes of main: 0 neg, 1 if, 2 concat, 3 iota, 4 yield. */
static const char plain[] = "air 1\n"
                            "declare @main(f64[n], bool) -> (f64[n])\n"
                            "declare @other(f64[m]) -> (f64[m])\n"
                            "slot io log(f64)\n"
                            "slot value price(f64) -> (f64)\n"
                            "func @main(%x: f64[n], %p: bool) -> (f64[n]) {\n"
                            "  %0 = neg %x : f64[n]\n"
                            "  %1 = if %p, %0 (%a: f64[n]) {\n"
                            "    %2 = abs %a : f64[n]\n"
                            "    yield %2\n"
                            "  } (%a: f64[n]) {\n"
                            "    yield %a\n"
                            "  } : f64[n]\n"
                            "  %5 = concat %1, %1 {axis = 0} : f64[n+n]\n"
                            "  %6 = iota {shape = [n], axis = 0, dtype = f32} : f32[n]\n"
                            "  yield %1\n"
                            "}\n"
                            "func @other(%y: f64[m]) -> (f64[m]) {\n"
                            "  yield %y\n"
                            "}\n";

static const char kernel[] =
    "air 1\n"
    "func @main(%x: f64[4], %y: f64) -> (f64) {\n"
    "  %0 = kernel %x, %y {shape = [4], maps = [1, 0, 0, 1, 0], reduced = [0], combine = [reduce_sum]}"
    " (%a: f64, %b: f64) {\n"
    "    %1 = mul %a, %b : f64\n"
    "    %2 = lane_index {axis = 0} : i64\n"
    "    yield %1\n"
    "  } : f64\n"
    "  yield %0\n"
    "}\n";

typedef struct fixture {
  aj_mem mem;
  aj_kinds *kinds;
} fixture;

static int set_up(void **state) {
  static fixture f;
  aj_mem_init(&f.mem, NULL);
  f.kinds = aj_kinds_create(&f.mem);
  *state = &f;
  return f.kinds ? 0 : -1;
}

static int tear_down(void **state) {
  fixture *f = *state;
  aj_kinds_release(f->kinds);
  return atomic_load(&f->mem.live_bytes) != 0;
}

static aj_module *parse(fixture *f, const char *text) {
  const aj_air_limits limits = {1000, 100, 1000};
  arrjit_error error;
  aj_module *module = NULL;
  if (aj_air_parse(&f->mem, f->kinds, text, strlen(text), "test", &limits, &module, &error) != ARRJIT_OK)
    fail_msg("line %d: %s", error.line, error.message);
  return module;
}

static void test_good_modules_pass(void **state) {
  arrjit_error error;
  aj_module *module = parse(*state, plain);
  assert_int_equal(aj_verify(module, false, &error), ARRJIT_OK);
  assert_int_equal(aj_verify(module, true, &error), ARRJIT_OK);
  aj_module_destroy(module);
  module = parse(*state, kernel);
  assert_int_equal(aj_verify(module, true, &error), ARRJIT_OK);
  assert_int_equal(aj_verify(module, false, &error), ARRJIT_GRAPH);
  assert_string_equal(error.op, "kernel");
  aj_module_destroy(module);
}

/* ---- breaking ---- */

static aj_node *node_of(aj_module *m, uint32_t pc) { return m->funcs.data[0]->root->nodes[pc]; }
static aj_region *body_of(aj_module *m) { return node_of(m, 0)->regions[0]; } /* of the kernel */

static void break_NO_ENTRY(aj_module *m) { m->funcs.data[0]->name = "start"; }
static void break_FUNC_LINKS(aj_module *m) { m->funcs.data[1]->index = 0; }
static void break_FUNC_BODY(aj_module *m) { m->funcs.data[1]->root = NULL; }
static void break_FUNC_PARAM_COUNT(aj_module *m) { m->funcs.data[0]->root->param_count = 1; }
static void break_FUNC_PARAM_TYPE(aj_module *m) {
  m->funcs.data[0]->root->params[1]->type = aj_module_type(m, ARRJIT_I8, 0, NULL);
}
static void break_SLOT_RESULTS(aj_module *m) { m->slots.data[1].is_value = false; }
static void break_SLOT_TWICE(aj_module *m) { m->slots.data[1].name = m->slots.data[0].name; }
static void break_SYMBOL_ORDER(aj_module *m) {
  for (size_t i = 0; i < m->symbols.count; i++)
    if (m->symbols.data[i].form == AJ_SYM_ADD) m->symbols.data[i].a = aj_symbol_dim((uint32_t)i);
}
static void break_SYMBOL_RANGE(aj_module *m) {
  const int64_t dim = aj_symbol_dim(99);
  m->funcs.data[1]->param_types[0] = m->funcs.data[1]->root->params[0]->type = aj_module_type(m, ARRJIT_F64, 1, &dim);
}
static void break_REGION_LINKS(aj_module *m) { node_of(m, 1)->regions[0]->index = 1; }
static void break_PARAM_LINKS(aj_module *m) { node_of(m, 1)->regions[1]->params[0]->index = 1; }
static void break_NO_TERMINATOR(aj_module *m) { node_of(m, 1)->regions[0]->node_count = 1; }
static void break_EARLY_TERMINATOR(aj_module *m) { node_of(m, 3)->op = AJ_OP_RAISE; }
static void break_OP_RANGE(aj_module *m) { node_of(m, 0)->op = AJ_OP_COUNT; }
static void break_NODE_LINKS(aj_module *m) { node_of(m, 0)->parent = node_of(m, 1)->regions[0]; }
static void break_ATTR_ORDER(aj_module *m) {
  aj_attr *attrs = node_of(m, 3)->attrs, first = attrs[0];
  attrs[0] = attrs[1];
  attrs[1] = first;
}
static void break_OPERAND_MISSING(aj_module *m) { node_of(m, 2)->operands[1] = NULL; }
static void break_OPERAND_REGION(aj_module *m) {
  node_of(m, 2)->operands[1] = &node_of(m, 1)->regions[0]->nodes[0]->results[0];
}
static void break_OPERAND_LATER(aj_module *m) { node_of(m, 0)->operands[0] = &node_of(m, 1)->results[0]; }
static void break_OPERAND_REPLACED(aj_module *m) {
  node_of(m, 0)->results[0].forward = m->funcs.data[0]->root->params[0];
}
static void break_RESULT_LINKS(aj_module *m) { node_of(m, 0)->results[0].def = node_of(m, 1); }
static void break_RESULT_COUNT(aj_module *m) {
  node_of(m, 3)->result_count = 0;
  aj_module_number(m);
}
static void break_RESULT_TYPE(aj_module *m) { node_of(m, 0)->results[0].type = node_of(m, 3)->results[0].type; }
static void break_NUMBERING(aj_module *m) { m->funcs.data[0]->root->last_use[0] = 3; }
static void break_LANE_OUTSIDE(aj_module *m) { body_of(m)->nodes[1]->attrs[0].u.i = 1; }
static void break_KERNEL_PARAM(aj_module *m) {
  const int64_t dim = 4;
  body_of(m)->params[0]->type = body_of(m)->params[1]->type = body_of(m)->nodes[0]->results[0].type =
      aj_module_type(m, ARRJIT_F64, 1, &dim);
}
static void break_KERNEL_OP(aj_module *m) { body_of(m)->nodes[1]->op = AJ_OP_IOTA; }
static void break_attr(aj_module *m, aj_attr_name name, uint32_t index, int64_t value) {
  aj_node *node = node_of(m, 0);
  for (uint32_t i = 0; i < node->attr_count; i++)
    if (node->attrs[i].name == name) ((int64_t *)(uintptr_t)node->attrs[i].u.ints)[index] = value;
}
static void break_KERNEL_MAPS(aj_module *m) { break_attr(m, AJ_ATTR_MAPS, 1, 1); }
static void break_KERNEL_COMBINE(aj_module *m) { break_attr(m, AJ_ATTR_COMBINE, 0, AJ_OP_ADD); }

static void test_broken_modules_are_told(void **state) {
  static const struct {
    aj_verify_message_id id;
    const char *name;
    void (*apply)(aj_module *);
  } rows[] = {
#define BY_HAND(ID) {AJ_VERIFY_##ID, #ID, break_##ID},
#include "verify_by_hand.def"
#undef BY_HAND
  };
  for (size_t i = 0; i < AJ_COUNT(rows); i++) {
    bool is_kernel = rows[i].id >= AJ_VERIFY_LANE_OUTSIDE;
    aj_module *module = parse(*state, is_kernel ? kernel : plain);
    arrjit_error error;
    rows[i].apply(module);
    char pattern[512], *to = pattern;
    for (const char *from = aj_verify_message(rows[i].id); *from; from++) {
      if (*from == '%')
        from += strcspn(from + 1, "cdsu") + 1, *to++ = '*';
      else
        *to++ = *from;
    }
    *to = 0;
    assert_int_equal(aj_verify(module, is_kernel, &error), ARRJIT_GRAPH);
    if (fnmatch(pattern, error.message, FNM_NOESCAPE) != 0)
      fail_msg("%s: '%s', expected '%s'", rows[i].name, error.message, pattern);
    aj_module_destroy(module);
  }
}

static void test_every_kind_of_stale_number_is_told(void **state) {
  for (int what = 0; what < 6; what++) {
    aj_module *m = parse(*state, plain);
    aj_func *func = m->funcs.data[0];
    if (what == 0) node_of(m, 1)->pc = 2;
    if (what == 1) node_of(m, 1)->id = 7;
    if (what == 2) node_of(m, 1)->results[0].slot++;
    if (what == 3) func->root->params[0]->slot = 1;
    if (what == 4) func->root->slot_count--;
    if (what == 5) func->node_count++;
    arrjit_error error;
    assert_int_equal(aj_verify(m, false, &error), ARRJIT_GRAPH);
    assert_non_null(strstr(error.message, "not up to date"));
    aj_module_destroy(m);
  }
}

static void test_the_node_and_its_source_are_told(void **state) {
  static const char text[] =
      "air 1\nfunc @main() -> () {\n  %0 = lane_index {axis = 0} : i64 at \"host.c\":77\n  yield\n}\n";
  aj_module *module = parse(*state, text);
  arrjit_error error;
  aj_verify_place place;
  assert_int_equal(aj_verify_find(module, false, &error, &place), ARRJIT_GRAPH);
  assert_ptr_equal(place.node, node_of(module, 0));
  assert_ptr_equal(place.func, module->funcs.data[0]);
  assert_string_equal(error.op, "lane_index");
  assert_string_equal(error.file, "host.c");
  assert_int_equal(error.line, 77);
  aj_module_destroy(module);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_good_modules_pass), cmocka_unit_test(test_broken_modules_are_told),
    cmocka_unit_test(test_every_kind_of_stale_number_is_told), cmocka_unit_test(test_the_node_and_its_source_are_told)};

TEST_MAIN(tests, set_up, tear_down)
