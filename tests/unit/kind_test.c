/* The tree of kinds: names, payload signatures, ancestry, growth while others read. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "ir/kind.h"
#include "test_main.h"

typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_mem mem;
  aj_kinds *kinds;
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
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static arrjit_kind add(fixture *f, const char *name, arrjit_kind parent, const char *fields) {
  arrjit_kind kind = ARRJIT_KIND_NONE;
  arrjit_error error;
  if (aj_kinds_add(f->kinds, name, parent, fields, &kind, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  return kind;
}

static void test_builtin_kinds_are_there(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  assert_int_equal(aj_kinds_find(f.kinds, "error", 5), ARRJIT_KIND_ERROR);
  assert_int_equal(aj_kinds_find(f.kinds, "callback.contract", 17), ARRJIT_KIND_CALLBACK_CONTRACT);
  assert_int_equal(aj_kinds_find(f.kinds, "internal", 8), ARRJIT_KIND_INTERNAL);
  assert_int_equal(aj_kinds_find(f.kinds, "error", 4), ARRJIT_KIND_NONE);
  const aj_kind_info *index = aj_kinds_get(f.kinds, ARRJIT_KIND_INDEX);
  assert_string_equal(index->name, "index");
  assert_int_equal(index->field_count, 4);
  assert_int_equal(index->fields[3].dtype, ARRJIT_I64);
  assert_int_equal(index->fields[3].rank, 0);
  assert_false(index->open);
  assert_true(aj_kinds_get(f.kinds, ARRJIT_KIND_ARITH)->open);
  assert_int_equal(aj_kinds_get(f.kinds, ARRJIT_KIND_EXIT)->parent, ARRJIT_KIND_EXIT);
  assert_null(aj_kinds_get(f.kinds, ARRJIT_KIND_NONE));
  assert_null(aj_kinds_get(f.kinds, -1));
  assert_null(aj_kinds_get(f.kinds, (arrjit_kind)aj_kinds_count(f.kinds) + 1));
  end(&f);
}

static void test_children_extend_their_parents_fields(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_kind parent = add(&f, "app.parent", ARRJIT_KIND_ERROR, "f64[0], i64[1]");
  arrjit_kind child = add(&f, "app.child", parent, " u8[16] ,bool[2], ...");
  arrjit_kind plain = add(&f, "app.plain", parent, "");
  const aj_kind_info *info = aj_kinds_get(f.kinds, child);
  const aj_kind_field expected[] = {{ARRJIT_F64, 0}, {ARRJIT_I64, 1}, {ARRJIT_U8, 16}, {ARRJIT_BOOL, 2}};
  assert_int_equal(info->field_count, 4);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(info->fields[i].dtype, expected[i].dtype);
    assert_int_equal(info->fields[i].rank, expected[i].rank);
  }
  assert_true(info->open);
  assert_int_equal(aj_kinds_get(f.kinds, plain)->field_count, 2);
  assert_false(aj_kinds_get(f.kinds, plain)->open);
  assert_true(aj_kinds_get(f.kinds, add(&f, "open", plain, "..."))->open);
  end(&f);
}

static void test_bad_signatures_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"f64",        "f64[",      "f64[]",   "f64[17]",       "f64[0],",  "f64[0] i64[0]",
                                    "x[0]",       "f64[0",     "f64[-1]", "..., f64[0]",   ",",        "f64[0],,i64[0]",
                                    "f64[0] ..,", "f64[0], .", "f64 [0]", "f64[0];i64[0]", "f64[001]", "...."};
  fixture f;
  begin(&f);
  uint32_t before = aj_kinds_count(f.kinds);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    arrjit_kind kind = 77;
    arrjit_error error;
    if (aj_kinds_add(f.kinds, "k", ARRJIT_KIND_ERROR, bad[i], &kind, &error) != ARRJIT_MISUSE) fail_msg("%s", bad[i]);
    assert_non_null(strstr(error.message, bad[i]));
    assert_int_equal(kind, 77);
  }
  assert_int_equal(aj_kinds_count(f.kinds), before);
  end(&f);
}

static void test_bad_names_and_parents_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"", "a b", "a-b", "a\"", "\xc3\xa4", "{0}"};
  fixture f;
  begin(&f);
  arrjit_kind kind = 0;
  arrjit_error error;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(aj_kinds_add(f.kinds, bad[i], ARRJIT_KIND_ERROR, "", &kind, &error), ARRJIT_MISUSE);
  char lengthy[300];
  memset(lengthy, 'a', sizeof lengthy);
  lengthy[sizeof lengthy - 1] = 0;
  assert_int_equal(aj_kinds_add(f.kinds, lengthy, ARRJIT_KIND_ERROR, "", &kind, NULL), ARRJIT_MISUSE);
  assert_int_equal(aj_kinds_add(f.kinds, "x", ARRJIT_KIND_NONE, "", &kind, NULL), ARRJIT_MISUSE);
  assert_int_equal(aj_kinds_add(f.kinds, "x", 1000, "", &kind, NULL), ARRJIT_MISUSE);
  assert_int_equal(aj_kinds_add(f.kinds, "runtime", ARRJIT_KIND_ERROR, "", &kind, &error), ARRJIT_MISUSE);
  assert_non_null(strstr(error.message, "runtime"));
  add(&f, "x", ARRJIT_KIND_THROW, "");
  assert_int_equal(aj_kinds_add(f.kinds, "x", ARRJIT_KIND_ERROR, "", &kind, NULL), ARRJIT_MISUSE);
  assert_int_equal(kind, 0);
  end(&f);
}

static void test_ancestry_and_handlers(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_kind a = add(&f, "a", ARRJIT_KIND_RUNTIME, ""), b = add(&f, "b", a, "");
  arrjit_kind stop = add(&f, "stop", ARRJIT_KIND_CANCELLED, "");
  assert_true(aj_kinds_is(f.kinds, b, b));
  assert_true(aj_kinds_is(f.kinds, b, a));
  assert_true(aj_kinds_is(f.kinds, b, ARRJIT_KIND_ERROR));
  assert_false(aj_kinds_is(f.kinds, a, b));
  assert_false(aj_kinds_is(f.kinds, b, ARRJIT_KIND_EXIT));
  assert_false(aj_kinds_is(f.kinds, 5000, ARRJIT_KIND_ERROR));
  assert_false(aj_kinds_is(f.kinds, 5000, 5000));
  assert_true(aj_kinds_catches(f.kinds, ARRJIT_KIND_ERROR, b));
  assert_true(aj_kinds_catches(f.kinds, ARRJIT_KIND_CANCELLED, ARRJIT_KIND_CANCELLED));
  assert_false(aj_kinds_catches(f.kinds, ARRJIT_KIND_EXIT, ARRJIT_KIND_CANCELLED));
  assert_false(aj_kinds_catches(f.kinds, ARRJIT_KIND_CANCELLED, stop));
  assert_true(aj_kinds_catches(f.kinds, stop, stop));
  assert_false(aj_kinds_catches(f.kinds, b, a));
  end(&f);
}

enum { MANY = 3000 };

static void *read_kinds(void *arg) {
  aj_kinds *kinds = arg;
  uint32_t seen = 0;
  while (seen < MANY) {
    seen = aj_kinds_count(kinds);
    const aj_kind_info *info = aj_kinds_get(kinds, (arrjit_kind)seen);
    if (!info || !info->name || !aj_kinds_is(kinds, (arrjit_kind)seen, info->parent)) return NULL;
  }
  return arg;
}

static void test_kinds_grow_while_others_read(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  pthread_t reader;
  assert_int_equal(pthread_create(&reader, NULL, read_kinds, f.kinds), 0);
  const aj_kind_info *first = aj_kinds_get(f.kinds, 1);
  arrjit_kind kinds[MANY];
  char name[32];
  for (int i = 0; i < MANY; i++) {
    snprintf(name, sizeof name, "k%d", i);
    kinds[i] = add(&f, name, i ? kinds[i - 1] : ARRJIT_KIND_ERROR, i % 500 ? "" : "i8[1]");
  }
  void *ok;
  pthread_join(reader, &ok);
  assert_non_null(ok);
  assert_ptr_equal(first, aj_kinds_get(f.kinds, 1));
  for (int i = 0; i < MANY; i++) {
    snprintf(name, sizeof name, "k%d", i);
    assert_int_equal(aj_kinds_find(f.kinds, name, strlen(name)), kinds[i]);
    assert_string_equal(aj_kinds_get(f.kinds, kinds[i])->name, name);
  }
  assert_true(aj_kinds_is(f.kinds, kinds[MANY - 1], ARRJIT_KIND_ERROR));
  assert_int_equal(aj_kinds_get(f.kinds, kinds[MANY - 1])->field_count, MANY / 500);
  end(&f);
}

static void test_every_failed_allocation_leaves_all_as_it_was(void **state) {
  (void)state;
  for (int64_t n = 1;; n++) {
    fixture f = {0};
    f.host = tk_alloc_host(&f.alloc);
    aj_mem_init(&f.mem, &f.host);
    tk_alloc_arm(&f.alloc, n);
    f.kinds = aj_kinds_create(&f.mem);
    bool refused = atomic_load(&f.alloc.failed) > 0;
    assert_int_equal(!f.kinds, refused);
    if (f.kinds) end(&f);
    assert_int_equal(atomic_load(&f.alloc.live_bytes), 0);
    if (!refused) break;
  }
  fixture f;
  begin(&f);
  arrjit_kind parent = add(&f, "parent", ARRJIT_KIND_ERROR, "f64[0]");
  uint32_t before = aj_kinds_count(f.kinds);
  for (int64_t n = 1;; n++) {
    arrjit_kind kind = 0;
    arrjit_error error;
    tk_alloc_arm(&f.alloc, n);
    arrjit_status status = aj_kinds_add(f.kinds, "child", parent, "f64[0], i8[1], ...", &kind, &error);
    if (status == ARRJIT_OK) break;
    assert_int_equal(status, ARRJIT_MEMORY);
    assert_int_equal(aj_kinds_count(f.kinds), before);
    assert_int_equal(aj_kinds_find(f.kinds, "child", 5), ARRJIT_KIND_NONE);
    assert_true(n < 100);
  }
  end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_builtin_kinds_are_there),
    cmocka_unit_test(test_children_extend_their_parents_fields),
    cmocka_unit_test(test_bad_signatures_are_refused),
    cmocka_unit_test(test_bad_names_and_parents_are_refused),
    cmocka_unit_test(test_ancestry_and_handlers),
    cmocka_unit_test(test_kinds_grow_while_others_read),
    cmocka_unit_test(test_every_failed_allocation_leaves_all_as_it_was),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
