/* Arrays: own memory, wrapped memory, views, copies, and what is refused. */
#include <string.h>

#include "alloc.h"
#include "engine/engine.h"
#include "test_main.h"

typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  arrjit_context context;
} fixture;

static void begin(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  f->context.core = aj_core_create(&f->host);
  assert_non_null(f->context.core);
}

static void end(fixture *f) {
  aj_core_release(f->context.core);
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static arrjit_type type2(arrjit_dtype dtype, int64_t rows, int64_t columns) {
  return (arrjit_type){dtype, 2, {rows, columns}};
}

static void test_create_copies_or_zeroes(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double data[6] = {1, 2, 3, 4, 5, 6};
  arrjit_type type = type2(ARRJIT_F64, 2, 3);
  arrjit_array *a = NULL, *z = NULL;
  arrjit_error error;
  assert_int_equal(arrjit_array_create(&f.context, &type, data, &a, &error), ARRJIT_OK);
  data[0] = 9;
  const double *got = arrjit_array_data(a);
  assert_true(got[0] == 1 && got[5] == 6);
  assert_int_equal((uintptr_t)got % 64, 0);
  assert_int_equal(arrjit_array_rank(a), 2);
  assert_int_equal(arrjit_array_dtype(a), ARRJIT_F64);
  assert_int_equal(arrjit_array_dims(a)[1], 3);
  assert_int_equal(arrjit_array_strides_bytes(a)[0], 24);
  assert_int_equal(arrjit_array_count(a), 6);
  assert_int_equal(arrjit_array_bytes(a), 48);
  assert_true(arrjit_array_is_dense(a));
  assert_int_equal(arrjit_array_type(a).dims[0], 2);
  assert_int_equal(arrjit_array_create(&f.context, &type, NULL, &z, NULL), ARRJIT_OK);
  for (int i = 0; i < 6; i++) assert_true(((double *)arrjit_array_data(z))[i] == 0);
  arrjit_array_retain(a);
  arrjit_array_release(a);
  assert_true(got[0] == 1);
  arrjit_array_release(a);
  arrjit_array_release(z);
  arrjit_array_release(NULL);
  end(&f);
}

static void test_arrays_outlive_their_core(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_type type = {ARRJIT_I32, 0, {0}};
  int32_t seven = 7;
  arrjit_array *a = NULL;
  assert_int_equal(arrjit_array_create(&f.context, &type, &seven, &a, NULL), ARRJIT_OK);
  aj_core_release(f.context.core);
  assert_int_equal(*(int32_t *)arrjit_array_data(a), 7);
  arrjit_array_release(a);
  assert_int_equal(atomic_load(&f.alloc.live_bytes), 0);
}

static void test_empty_and_extreme_shapes(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_array *a = NULL;
  arrjit_type type = type2(ARRJIT_F64, 0, 5);
  assert_int_equal(arrjit_array_create(&f.context, &type, NULL, &a, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_array_count(a), 0);
  assert_int_equal(arrjit_array_bytes(a), 0);
  arrjit_array_release(a);
  arrjit_error error;
  const arrjit_type bad[] = {
      {ARRJIT_DTYPE_NONE, 0, {0}},
      {(arrjit_dtype)99, 0, {0}},
      {ARRJIT_F64, -1, {0}},
      {ARRJIT_F64, 17, {0}},
      {ARRJIT_F64, 1, {-1}},
      {ARRJIT_F64, 2, {INT64_C(1) << 31, INT64_C(1) << 31}},
      {ARRJIT_BOOL, 2, {INT64_MAX, 2}},
      {ARRJIT_I8, 3, {INT64_MAX, 2, 0}},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    a = NULL;
    assert_int_equal(arrjit_array_create(&f.context, &bad[i], NULL, &a, &error), ARRJIT_MISUSE);
    assert_true(strlen(error.message) > 10);
    assert_null(a);
    assert_int_equal(arrjit_array_wrap(&f.context, &bad[i], &a, NULL, NULL, NULL, &a, &error), ARRJIT_MISUSE);
  }
  type = (arrjit_type){ARRJIT_I8, 1, {INT64_MAX}};
  assert_int_equal(arrjit_array_create(&f.context, &type, NULL, &a, &error), ARRJIT_MEMORY);
  arrjit_type deep = {ARRJIT_I8, ARRJIT_MAX_RANK, {0}};
  for (int i = 0; i < ARRJIT_MAX_RANK; i++) deep.dims[i] = 1;
  assert_int_equal(arrjit_array_create(&f.context, &deep, NULL, &a, &error), ARRJIT_OK);
  arrjit_array_release(a);
  end(&f);
}

static void note_release(void *user, void *data) { *(void **)user = data; }

static void test_wrap_sees_strides_and_releases_once(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  char bytes[1 + 6 * sizeof(int32_t)];
  int32_t numbers[6] = {0, 1, 2, 3, 4, 5};
  memcpy(bytes + 1, numbers, sizeof numbers); /* unaligned on purpose */
  arrjit_type type = type2(ARRJIT_I32, 3, 2);
  const int64_t strides[] = {-8, 4};
  void *released = NULL;
  arrjit_array *a = NULL, *copy = NULL, *view = NULL;
  assert_int_equal(arrjit_array_wrap(&f.context, &type, bytes + 17, strides, note_release, &released, &a, NULL),
                   ARRJIT_OK);
  assert_false(arrjit_array_is_dense(a));
  assert_ptr_equal(arrjit_array_data(a), bytes + 17);
  assert_int_equal(arrjit_array_copy(a, &copy, NULL), ARRJIT_OK);
  const int32_t expected[] = {4, 5, 2, 3, 0, 1};
  assert_memory_equal(arrjit_array_data(copy), expected, sizeof expected);
  assert_true(arrjit_array_is_dense(copy));
  const int64_t start[] = {2, 1}, step[] = {-1, 1}, dims[] = {3, 1};
  assert_int_equal(arrjit_array_view(a, start, step, dims, &view, NULL), ARRJIT_OK);
  arrjit_array_release(a);
  assert_null(released);
  arrjit_array_release(copy);
  assert_int_equal(arrjit_array_copy(view, &copy, NULL), ARRJIT_OK);
  const int32_t column[] = {1, 3, 5};
  assert_memory_equal(arrjit_array_data(copy), column, sizeof column);
  arrjit_array_release(view);
  assert_ptr_equal(released, bytes + 17);
  arrjit_array_release(copy);
  end(&f);
}

static void test_wrap_refuses_what_cannot_be(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  char byte = 0;
  arrjit_type type = type2(ARRJIT_I8, 3, 3);
  const int64_t far[] = {INT64_MAX, 1}, farther[] = {INT64_MAX / 2, INT64_MAX / 4};
  const int64_t down_and_up[] = {-1, 1};
  arrjit_array *a = NULL;
  arrjit_error error;
  assert_int_equal(arrjit_array_wrap(&f.context, &type, NULL, NULL, NULL, NULL, &a, &error), ARRJIT_MISUSE);
  assert_string_equal(error.message, "data is NULL");
  assert_int_equal(arrjit_array_wrap(&f.context, &type, &byte, far, NULL, NULL, &a, &error), ARRJIT_MISUSE);
  assert_int_equal(arrjit_array_wrap(&f.context, &type, &byte, farther, NULL, NULL, &a, &error), ARRJIT_MISUSE);
  assert_null(a);
  assert_int_equal(arrjit_array_wrap(&f.context, &type, &byte, down_and_up, NULL, NULL, &a, &error), ARRJIT_OK);
  arrjit_array_release(a);
  arrjit_type empty = type2(ARRJIT_I8, 0, 3);
  assert_int_equal(arrjit_array_wrap(&f.context, &empty, NULL, far, NULL, NULL, &a, &error), ARRJIT_OK);
  const int64_t start[] = {0, 0}, step[] = {1, 2}, dims[] = {0, 2};
  arrjit_array *view = NULL;
  assert_int_equal(arrjit_array_view(a, start, step, dims, &view, &error), ARRJIT_OK);
  arrjit_array_release(view);
  arrjit_array_release(a);
  end(&f);
}

static void test_view_bounds(void **state) {
  (void)state;
  static const struct {
    int64_t start, step, extent;
    bool ok;
  } rows[] = {
      {0, 1, 10, true},
      {0, 1, 11, false},
      {9, -1, 10, true},
      {9, -1, 11, false},
      {0, 3, 4, true},
      {0, 3, 5, false},
      {10, 1, 0, true},
      {11, 1, 0, false},
      {10, 1, 1, false},
      {-1, 1, 1, false},
      {0, 0, 1, false},
      {0, 1, -1, false},
      {5, INT64_MAX, 1, true},
      {5, INT64_MAX, 2, false},
      {5, INT64_MIN, 2, false},
      {INT64_MAX, 1, 1, false},
      {INT64_MIN, 1, 1, false},
      {0, 1, INT64_MAX, false},
      {0, INT64_MAX, INT64_MAX, false},
      {1, -1, 2, true},
  };
  fixture f;
  begin(&f);
  int16_t data[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  arrjit_type type = {ARRJIT_I16, 1, {10}};
  arrjit_array *a = NULL;
  assert_int_equal(arrjit_array_create(&f.context, &type, data, &a, NULL), ARRJIT_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    arrjit_array *view = NULL, *copy = NULL;
    arrjit_error error;
    arrjit_status status = arrjit_array_view(a, &rows[i].start, &rows[i].step, &rows[i].extent, &view, &error);
    assert_int_equal(status, rows[i].ok ? ARRJIT_OK : ARRJIT_MISUSE);
    if (!rows[i].ok) continue;
    assert_int_equal(arrjit_array_copy(view, &copy, NULL), ARRJIT_OK);
    const int16_t *got = arrjit_array_data(copy);
    for (int64_t k = 0; k < rows[i].extent; k++) assert_int_equal(got[k], rows[i].start + k * rows[i].step);
    arrjit_array_release(view);
    arrjit_array_release(copy);
  }
  arrjit_array_release(a);
  end(&f);
}

static void test_views_of_views_keep_only_the_root(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_type type = {ARRJIT_I16, 1, {1000}};
  arrjit_array *a = NULL;
  assert_int_equal(arrjit_array_create(&f.context, &type, NULL, &a, NULL), ARRJIT_OK);
  int64_t one_view = 0;
  for (int64_t i = 0; i < 500; i++) {
    arrjit_array *view = NULL;
    const int64_t start = 1, step = 1, extent = 999 - i;
    assert_int_equal(arrjit_array_view(a, &start, &step, &extent, &view, NULL), ARRJIT_OK);
    arrjit_array_release(a);
    a = view;
    if (i == 0) one_view = atomic_load(&f.alloc.live_bytes);
    assert_int_equal(atomic_load(&f.alloc.live_bytes), one_view);
  }
  arrjit_array_release(a);
  end(&f);
}

static void test_null_arguments_are_named(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_type type = {ARRJIT_I16, 1, {3}};
  int64_t one = 1;
  arrjit_array *a = NULL, *out = NULL;
  arrjit_error error;
#define MISUSED(call, name)                                                                                            \
  do {                                                                                                                 \
    assert_int_equal(call, ARRJIT_MISUSE);                                                                             \
    assert_string_equal(error.message, name " is NULL");                                                               \
  } while (0)
  MISUSED(arrjit_array_create(NULL, &type, NULL, &out, &error), "context");
  MISUSED(arrjit_array_create(&f.context, NULL, NULL, &out, &error), "type");
  MISUSED(arrjit_array_create(&f.context, &type, NULL, NULL, &error), "out");
  MISUSED(arrjit_array_wrap(NULL, &type, &one, NULL, NULL, NULL, &out, &error), "context");
  MISUSED(arrjit_array_wrap(&f.context, NULL, &one, NULL, NULL, NULL, &out, &error), "type");
  MISUSED(arrjit_array_wrap(&f.context, &type, &one, NULL, NULL, NULL, NULL, &error), "out");
  assert_int_equal(arrjit_array_create(&f.context, &type, NULL, &a, &error), ARRJIT_OK);
  MISUSED(arrjit_array_view(NULL, &one, &one, &one, &out, &error), "base");
  MISUSED(arrjit_array_view(a, NULL, &one, &one, &out, &error), "start");
  MISUSED(arrjit_array_view(a, &one, NULL, &one, &out, &error), "step");
  MISUSED(arrjit_array_view(a, &one, &one, NULL, &out, &error), "dims");
  MISUSED(arrjit_array_view(a, &one, &one, &one, NULL, &error), "out");
  MISUSED(arrjit_array_copy(NULL, &out, &error), "array");
  MISUSED(arrjit_array_copy(a, NULL, &error), "out");
  arrjit_array_retain(NULL);
  assert_int_equal(arrjit_array_type(NULL).rank, 0);
  assert_int_equal(arrjit_array_dtype(NULL), ARRJIT_DTYPE_NONE);
  assert_int_equal(arrjit_array_rank(NULL), 0);
  assert_null(arrjit_array_dims(NULL));
  assert_null(arrjit_array_strides_bytes(NULL));
  assert_null(arrjit_array_data(NULL));
  assert_int_equal(arrjit_array_count(NULL), 0);
  assert_int_equal(arrjit_array_bytes(NULL), 0);
  assert_int_equal(arrjit_array_is_dense(NULL), 0);
  assert_null(out);
  arrjit_array_release(a);
  end(&f);
}

static void test_no_memory_changes_nothing(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_type type = {ARRJIT_I16, 1, {3}};
  int16_t data[3] = {1, 2, 3};
  const int64_t zero = 0, one = 1, two = 2;
  arrjit_array *a = NULL, *out = NULL;
  assert_int_equal(arrjit_array_create(&f.context, &type, data, &a, NULL), ARRJIT_OK);
  int64_t live = atomic_load(&f.alloc.live_bytes);
  void *released = NULL;
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(arrjit_array_create(&f.context, &type, data, &out, NULL), ARRJIT_MEMORY);
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(arrjit_array_wrap(&f.context, &type, data, NULL, note_release, &released, &out, NULL),
                   ARRJIT_MEMORY);
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(arrjit_array_view(a, &zero, &one, &two, &out, NULL), ARRJIT_MEMORY);
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(arrjit_array_copy(a, &out, NULL), ARRJIT_MEMORY);
  assert_null(out);
  assert_null(released);
  assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
  arrjit_array_release(a);
  end(&f);
}

static void test_every_failed_allocation_of_a_core(void **state) {
  (void)state;
  for (int64_t n = 1;; n++) {
    tk_alloc alloc = {0};
    arrjit_allocator host = tk_alloc_host(&alloc);
    tk_alloc_arm(&alloc, n);
    aj_core *core = aj_core_create(&host);
    bool refused = atomic_load(&alloc.failed) > 0;
    assert_int_equal(!core, refused);
    if (core) {
      assert_int_equal(atomic_load(&core->mem.live_bytes), atomic_load(&alloc.live_bytes));
      assert_int_equal(aj_core_option(core, AJ_OPTION_MAX_DEPTH), 1000);
    }
    aj_core_release(core);
    assert_int_equal(atomic_load(&alloc.live_bytes), 0);
    assert_int_equal(atomic_load(&alloc.mistakes), 0);
    if (!refused) break;
  }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_create_copies_or_zeroes),
    cmocka_unit_test(test_arrays_outlive_their_core),
    cmocka_unit_test(test_empty_and_extreme_shapes),
    cmocka_unit_test(test_wrap_sees_strides_and_releases_once),
    cmocka_unit_test(test_wrap_refuses_what_cannot_be),
    cmocka_unit_test(test_view_bounds),
    cmocka_unit_test(test_views_of_views_keep_only_the_root),
    cmocka_unit_test(test_null_arguments_are_named),
    cmocka_unit_test(test_no_memory_changes_nothing),
    cmocka_unit_test(test_every_failed_allocation_of_a_core),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
