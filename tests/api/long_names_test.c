/* Names of a host that are longer than any message: they are shortened, and the reason is told. */
#include "fixture.h"

enum { NAME_BYTES = 3000 };

/* "aaa...a" */
static const char *long_name(void) {
  static char name[NAME_BYTES + 1];
  memset(name, 'a', NAME_BYTES);
  return name;
}

static void expect_reason(const char *message, const char *reason) {
  if (!strstr(message, reason)) fail_msg("\"%s\" is not in \"%s\"", reason, message);
  if (!strstr(message, "aaaaaaa")) fail_msg("no name is in \"%s\"", message);
}

static void expect_refused(tk_fixture *f, arrjit_graph *g, arrjit_status status, const char *reason) {
  arrjit_error error;
  tk_finish_fails(f, g, status, reason, &error);
  expect_reason(error.message, reason);
}

static void test_while_building(void **state) {
  tk_fixture *f = *state;
  const char *name = long_name();
  const arrjit_type f64 = TYPE(F64), f32 = TYPE(F32);
  arrjit_graph *g = tk_graph(f);
  for (int i = 0; i < 2; i++) PARAM(g, name, F64);
  expect_refused(f, g, ARRJIT_MISUSE, "two parameters are called ");
  g = tk_graph(f);
  arrjit_slot_value(g, name, 0, NULL, 1, &f64, ARRJIT_SLOT_OPTIONAL);
  expect_refused(f, g, ARRJIT_MISUSE,
                 ": a value slot cannot be optional: without a callback nothing makes its results");
  g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32), out;
  CALL(g, arrjit_declare(g, name, 1, &f64, 1, &f64), &out, x);
  expect_refused(f, g, ARRJIT_TYPE, " is f32; expected f64");
  g = tk_graph(f);
  arrjit_callee callee = arrjit_declare(g, name, 1, &f32, 1, &f64);
  arrjit_define(g, callee, &out);
  RETURN(g, out);
  expect_refused(f, g, ARRJIT_TYPE, " declares f64");
  g = tk_graph(f);
  x = PARAM(g, "x", F64, arrjit_symbol(g, name), 2);
  arrjit_add(g, x, PARAM(g, "y", F64, 3));
  expect_refused(f, g, ARRJIT_TYPE, "; extents 2 and 3 do not broadcast");
}

static void test_in_texts(void **state) {
  tk_fixture *f = *state;
  static char text[2 * NAME_BYTES + 200];
  const char *name = long_name();
  arrjit_function *function = NULL;
  arrjit_error error;
  const struct {
    const char *format, *reason;
  } rows[] = {
      {"air 1\nfunc @main(%%x: f64) -> (f64) {\n  %%0 = neg %%%s : f64\n  yield %%0\n}\n", " is not defined above"},
      {"air 1\nfunc @main(%%x: f64) -> (f64) {\n  %%0 = call %%x {callee = @%s} : f64\n  yield %%0\n}\n",
       " is neither declared nor defined above"},
      {"air 1\nslot io %s(f64)\nslot io %s(f64)\nfunc @main() -> () {\n  yield\n}\n", " is given twice"},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    snprintf(text, sizeof text, rows[i].format, name, name);
    assert_int_not_equal(arrjit_function_parse(f->context, text, strlen(text), "t.air", &function, &error), ARRJIT_OK);
    if (!strstr(error.message, rows[i].reason)) fail_msg("\"%s\" is not in \"%s\"", rows[i].reason, error.message);
  }
}

/* x with a slot, all of the long name. */
static arrjit_function *build_named(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, long_name(), F64, arrjit_symbol(g, long_name())), out;
  CALLBACK(g, arrjit_slot_io(g, long_name(), TYPES(TYPE(F64)), 0), &out,
           arrjit_reduce_sum(g, x, ARRJIT_ALL_AXES, NULL));
  RETURN(g, out);
  return tk_finish(f, g);
}

static void test_while_binding(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_named(f);
  arrjit_array *input = ARRAY(f, F64, 1, 2);
  arrjit_binding binding = {.slot = long_name()};
  arrjit_error error;
  arrjit_result *result = NULL;
  arrjit_closure *closure = NULL;
  assert_int_equal(arrjit_function_bind(function, &binding, free, &error), ARRJIT_MISUSE);
  expect_reason(error.message, "\": destroy comes with nothing to bind");
  arrjit_run_options options = {.struct_bytes = sizeof options, .binding_count = 1, .bindings = &binding};
  assert_int_equal(arrjit_run(function, &options, 1, &input, &result, &error), ARRJIT_MISUSE);
  expect_reason(error.message, "\" needs either callback or direct");
  assert_int_equal(arrjit_closure_create(function, NULL, &closure, &error), ARRJIT_TYPE);
  expect_reason(error.message, "parameter 0 (aaa");
  expect_reason(error.message, ": a C caller passes no extents; make the function for a fixed one");
}

static void test_in_results(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_named(f);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F32, 1, 2));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARGUMENT, 0, NULL);
  expect_reason(o->message, ", got f32[2]");
  arrjit_array *input = ARRAY(f, F64, 1, 2);
  arrjit_result *result = NULL;
  assert_int_equal(arrjit_run(function, NULL, 1, &input, &result, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_UNBOUND);
  expect_reason(arrjit_result_message(result), "\" is not bound");
  arrjit_result_destroy(result);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_while_building),
    TK_TEST(test_in_texts),
    TK_TEST(test_while_binding),
    TK_TEST(test_in_results),
};

TEST_MAIN(tests, NULL, NULL)
