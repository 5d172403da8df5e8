/* Kinds that a text declares: the context's when the text has become a function, and else gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "modes.h"
#include "test_main.h"
#include "text/air.h"

typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_mem mem;
  aj_kinds *kinds;
  arrjit_error error;
} fixture;

static void begin(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  aj_mem_init(&f->mem, &f->host);
  f->kinds = aj_kinds_create(&f->mem);
  assert_non_null(f->kinds);
}

static void end(fixture *f) {
  aj_kinds_release(f->kinds);
  assert_int_equal(atomic_load(&f->alloc.live_blocks), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static const aj_air_limits limits = {.max_nodes = 1000, .max_nesting = 100, .max_const_bytes = 1000};

static char *print(fixture *f, const aj_module *module) {
  aj_text text;
  aj_text_init(&text, &f->mem);
  aj_air_print(module, &text);
  char *copy = tk_copy(text.data, text.count + 1);
  aj_text_free(&text);
  return copy;
}

static const char with_kinds[] =
    "air 1\nkind app.a : error (f64[0], ...)\nkind app.b : app.a (i64[0])\nfunc @main(%k: f64, %i: i64) -> () {\n"
    "  try %k, %i {kinds = [app.a, app.b, error], finally = 0} (%x: f64, %n: i64) {\n"
    "    raise %x, %n {kind = app.b, code = 0, message = none}\n"
    "  } (%e: exn, %x: f64, %n: i64) {\n    yield\n  } (%e: exn, %x: f64, %n: i64) {\n    yield\n"
    "  } (%e: exn, %x: f64, %n: i64) {\n    yield\n  }\n  yield\n}\n";

static aj_module *parse_forked(fixture *f, aj_kinds *fork, const char *text) {
  aj_module *module = NULL;
  if (aj_air_parse(&f->mem, fork, text, strlen(text), "", &limits, &module, &f->error) != ARRJIT_OK)
    fail_msg("%s", f->error.message);
  return module;
}

static arrjit_kind find_kind(const aj_kinds *kinds, const char *name) {
  return aj_kinds_find(kinds, name, strlen(name));
}

/* The context's table grows meanwhile: the text's kinds get other numbers than they had. */
static void test_kinds_join_a_table_that_has_grown(void **state) {
  (void)state;
  fixture made, *f = &made;
  begin(f);
  aj_kinds *fork = aj_kinds_fork(f->kinds), *twin = aj_kinds_fork(f->kinds), *other = aj_kinds_fork(f->kinds);
  aj_module *module = parse_forked(f, fork, with_kinds), *same = parse_forked(f, twin, with_kinds);
  aj_module *differs = parse_forked(f, other,
                                    "air 1\nkind app.c : error ()\nkind app.b : error ()\n"
                                    "func @main() -> () {\n  yield\n}\n");
  char *before = print(f, module);
  arrjit_kind between, first = (arrjit_kind)aj_kinds_forked(fork);
  assert_int_equal(find_kind(fork, "app.b"), first + 2);
  assert_int_equal(find_kind(f->kinds, "app.a"), ARRJIT_KIND_NONE);
  assert_int_equal(aj_kinds_add(f->kinds, "app.between", ARRJIT_KIND_ERROR, "", &between, &f->error), ARRJIT_OK);
  assert_int_equal(find_kind(fork, "app.between"), ARRJIT_KIND_NONE);
  assert_int_equal(aj_module_join_kinds(module, f->kinds, &f->error), ARRJIT_OK);
  assert_int_equal(find_kind(f->kinds, "app.b"), first + 3);
  assert_true(aj_kinds_is(f->kinds, first + 3, find_kind(f->kinds, "app.a")));
  assert_int_equal(aj_kinds_get(f->kinds, first + 3)->field_count, 2);
  assert_int_equal(aj_module_join_kinds(same, f->kinds, &f->error), ARRJIT_OK);
  assert_int_equal(aj_kinds_count(f->kinds), first + 3);
  assert_int_equal(aj_module_join_kinds(differs, f->kinds, &f->error), ARRJIT_GRAPH);
  assert_string_equal(f->error.message, "kind app.b exists already with another parent or payload");
  assert_int_equal(aj_kinds_count(f->kinds), first + 3);
  assert_int_equal(find_kind(f->kinds, "app.c"), ARRJIT_KIND_NONE);
  for (int i = 0; i < 3; i++) aj_kinds_release(i == 0 ? fork : i == 1 ? twin : other);
  char *after = print(f, module), *again = print(f, same);
  assert_string_equal(before, after);
  assert_string_equal(before, again);
  free(before);
  free(after);
  free(again);
  aj_module_destroy(module);
  aj_module_destroy(same);
  aj_module_destroy(differs);
  end(f);
}

static void test_kinds_join_all_or_none(void **state) {
  (void)state;
  bool joined = false;
  for (int64_t fail_at = 1; !joined; fail_at++) {
    fixture f;
    begin(&f);
    uint32_t count = aj_kinds_count(f.kinds);
    aj_kinds *fork = aj_kinds_fork(f.kinds);
    aj_module *module = parse_forked(&f, fork, with_kinds);
    tk_alloc_arm(&f.alloc, fail_at);
    arrjit_status status = aj_module_join_kinds(module, f.kinds, &f.error);
    tk_alloc_arm(&f.alloc, 0);
    joined = status == ARRJIT_OK;
    if (!joined) assert_int_equal(status, ARRJIT_MEMORY);
    assert_int_equal(aj_kinds_count(f.kinds), count + (joined ? 2 : 0));
    assert_int_equal(find_kind(f.kinds, "app.a"), joined ? (arrjit_kind)count + 1 : ARRJIT_KIND_NONE);
    assert_int_equal(find_kind(f.kinds, "error"), ARRJIT_KIND_ERROR);
    if (!joined) assert_int_equal(aj_module_join_kinds(module, f.kinds, &f.error), ARRJIT_OK);
    assert_int_equal(aj_kinds_count(f.kinds), count + 2);
    aj_module_destroy(module);
    aj_kinds_release(fork);
    end(&f);
  }
}

/* ---- through the API ---- */

enum { TEXTS = 20000 };
static const char *const bad_ends[] = {
    "func @main() -> () {\n  yield\n", /* no end */
    "func @main(%x: f64[3]) -> (f64[2]) {\n  yield %x\n}\n",
    "func @main() -> () {\n  raise {kind = app.unknown, code = 0, message = none}\n}\n",
    "func @main(%x: f64) -> (f64) {\n  %0 = add %x, %x {axis = 1} : f64\n  yield %0\n}\n",
};

/* Each with kinds of its own. The first few may fill what a context keeps for reuse. */
static void test_failed_texts_leave_the_context_as_it_was(void **state) {
  (void)state;
  tk_alloc alloc = {0};
  arrjit_allocator host = tk_alloc_host(&alloc);
  arrjit_context *context = tk_context(&host);
  arrjit_function *function = NULL;
  arrjit_kind kind;
  char text[400];
  int64_t live = 0;
  for (int i = 0; i < TEXTS; i++) {
    int bytes = snprintf(text, sizeof text, "air 1\nkind app.k%d : error (f64[0])\nkind app.l%d : app.k%d (...)\n%s", i,
                         i, i, bad_ends[i % (int)TK_COUNT(bad_ends)]);
    if (arrjit_function_parse(context, text, (size_t)bytes, "", &function, NULL) == ARRJIT_OK) fail_msg("%s", text);
    if (i == 10) live = atomic_load(&alloc.live_bytes);
  }
  assert_int_equal(atomic_load(&alloc.live_bytes), live);
  assert_int_equal(arrjit_context_find_kind(context, "app.k7", &kind, NULL), ARRJIT_NOT_FOUND);
  assert_int_equal(arrjit_function_parse(context, with_kinds, strlen(with_kinds), "", &function, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_context_find_kind(context, "app.b", &kind, NULL), ARRJIT_OK);
  assert_string_equal(arrjit_context_kind_name(context, kind), "app.b");
  arrjit_function_release(function);
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
  assert_int_equal(atomic_load(&alloc.live_blocks), 0);
}

/* An allocation that is refused makes a parse fail too. */
static void test_parses_without_memory_leave_no_kinds(void **state) {
  (void)state;
  bool parsed = false;
  for (int64_t fail_at = 1; !parsed; fail_at++) {
    tk_alloc alloc = {0};
    arrjit_allocator host = tk_alloc_host(&alloc);
    arrjit_context *context = tk_context(&host);
    arrjit_function *function = NULL;
    arrjit_kind kind;
    tk_alloc_arm(&alloc, fail_at);
    arrjit_status status = arrjit_function_parse(context, with_kinds, strlen(with_kinds), "", &function, NULL);
    tk_alloc_arm(&alloc, 0);
    parsed = status == ARRJIT_OK;
    if (!parsed) assert_int_equal(status, ARRJIT_MEMORY);
    status = arrjit_context_find_kind(context, "app.a", &kind, NULL);
    assert_int_equal(status, parsed ? ARRJIT_OK : ARRJIT_NOT_FOUND);
    if (parsed) arrjit_function_release(function);
    assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
    assert_int_equal(atomic_load(&alloc.live_blocks), 0);
  }
}

/* What a builder would tell its caller as misuse is of a text an error of its graph, with the line. */
static void test_rules_of_builders_are_errors_of_the_text(void **state) {
  (void)state;
  static const char text[] = "air 1\nfunc @main() -> () {\n  raise {kind = runtime, code = 0, message = \"{0}\"}\n}\n";
  arrjit_context *context = tk_context(NULL);
  arrjit_function *function = NULL;
  arrjit_error error;
  assert_int_equal(arrjit_function_parse(context, text, strlen(text), "", &function, &error), ARRJIT_GRAPH);
  assert_int_equal(error.status, ARRJIT_GRAPH);
  assert_int_equal(error.line, 3);
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rules_of_builders_are_errors_of_the_text),
    cmocka_unit_test(test_kinds_join_a_table_that_has_grown),
    cmocka_unit_test(test_kinds_join_all_or_none),
    cmocka_unit_test(test_failed_texts_leave_the_context_as_it_was),
    cmocka_unit_test(test_parses_without_memory_leave_no_kinds),
};

TEST_MAIN(tests, NULL, NULL)
