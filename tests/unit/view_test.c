/* Views: counting, dense or not, copies between any strides, and the ops that only move strides. */
#include "sem_fixture.h"

/* Element `flat` (row-major) of a view. */
static const char *element_at(const aj_view *view, int64_t flat) {
  const char *at = view->data;
  for (int32_t i = view->rank - 1; i >= 0; i--) {
    at += flat % view->dims[i] * view->strides[i];
    flat /= view->dims[i];
  }
  return at;
}

/* A random view into `storage` that leaves it nowhere: each stride a multiple of the element, of either sign or 0. */
static aj_view random_view(tk_random *random, arrjit_dtype dtype, char *storage, size_t storage_bytes) {
  aj_view view = {.dtype = dtype, .rank = (int32_t)tk_below(random, 5)};
  int64_t bytes = aj_dtypes[dtype].bytes, low = 0, high = 0;
  for (int32_t i = 0; i < view.rank; i++) {
    view.dims[i] = (int64_t)tk_below(random, 7);
    if (tk_chance(random, 10)) view.dims[i] = 33;
    view.strides[i] = ((int64_t)tk_below(random, 13) - 6) * bytes;
    int64_t reach = view.dims[i] > 0 ? (view.dims[i] - 1) * view.strides[i] : 0;
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  if (tk_chance(random, 50)) { /* a dense or transposed one */
    aj_view_set_dense(&view);
    low = 0;
    high = (int64_t)aj_view_bytes(&view);
    if (view.rank >= 2 && tk_chance(random, 50)) {
      int64_t d = view.dims[0], s = view.strides[0];
      view.dims[0] = view.dims[view.rank - 1], view.strides[0] = view.strides[view.rank - 1];
      view.dims[view.rank - 1] = d, view.strides[view.rank - 1] = s;
    }
  }
  assert_true((size_t)(high - low + bytes) <= storage_bytes);
  view.data = storage - low;
  return view;
}

static void test_copies_agree_with_element_by_element(void **state) {
  (void)state;
  enum { STORAGE = 1 << 21 };
  static const arrjit_dtype dtypes[] = {ARRJIT_U8, ARRJIT_I16, ARRJIT_F32, ARRJIT_I64};
  char *storage = malloc(STORAGE);
  tk_random random = {1};
  for (size_t i = 0; i < STORAGE; i++) storage[i] = (char)tk_next(&random);
  for (int round = 0; round < 3000; round++) {
    arrjit_dtype dtype = dtypes[round % 4];
    size_t bytes = aj_dtypes[dtype].bytes;
    aj_view view = random_view(&random, dtype, storage, STORAGE);
    int64_t count = aj_view_count(&view);
    char *packed = malloc((size_t)count * bytes + 1), *part = malloc((size_t)count * bytes + 1);
    if (count > 0) aj_view_pack(packed, &view);
    for (int64_t i = 0; i < count; i++) assert_memory_equal(packed + (size_t)i * bytes, element_at(&view, i), bytes);
    int64_t start = count > 0 ? (int64_t)tk_below(&random, (uint64_t)count) : 0;
    int64_t n = count > 0 ? (int64_t)tk_below(&random, (uint64_t)(count - start) + 1) : 0;
    if (n > 0) aj_view_read(part, &view, start, n);
    assert_memory_equal(part, packed + (size_t)start * bytes, (size_t)n * bytes);
    if (aj_view_is_dense(&view) && count > 0) assert_memory_equal(view.data, packed, (size_t)count * bytes);
    bool same = true;
    for (int64_t i = 1; i < count; i++) same = same && element_at(&view, i) == view.data;
    if (count > 0) assert_int_equal(aj_view_is_uniform(&view), same);
    free(packed);
    free(part);
  }
  free(storage);
}

static void test_unpack_writes_only_the_view(void **state) {
  (void)state;
  int32_t storage[100], source[12];
  for (int i = 0; i < 100; i++) storage[i] = -1;
  for (int i = 0; i < 12; i++) source[i] = i;
  aj_view view = {.dtype = ARRJIT_I32, .rank = 2, .data = (char *)&storage[90], .dims = {3, 4}};
  view.strides[0] = -80;
  view.strides[1] = 8;
  aj_view_unpack(&view, (const char *)source);
  for (int i = 0; i < 12; i++) assert_int_equal(storage[90 - 20 * (i / 4) + 2 * (i % 4)], i);
  int untouched = 0;
  for (int i = 0; i < 100; i++) untouched += storage[i] == -1;
  assert_int_equal(untouched, 88);
}

static void test_transposes_larger_than_a_square_of_the_copy(void **state) {
  (void)state;
  enum { R = 37, C = 53 };
  static double x[R * C], y[R * C];
  for (int i = 0; i < R * C; i++) x[i] = i;
  aj_view view = {.dtype = ARRJIT_F64, .rank = 2, .data = (char *)x, .dims = {C, R}, .strides = {8, 8 * C}};
  aj_view_pack((char *)y, &view);
  for (int i = 0; i < C; i++)
    for (int j = 0; j < R; j++) assert_true(y[i * R + j] == x[j * C + i]);
}

static void test_shapes_come_from_types(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_view view;
  const int64_t n = aj_symbol_named(f.b.func, "n"), dims[] = {2, n, 3}, huge[] = {INT64_MAX / 2, 3},
                none[] = {INT64_MAX, INT64_MAX, 0};
  f.env[aj_dim_symbol(n)] = 5;
  assert_true(aj_view_from_type(&view, aj_module_type(f.module, ARRJIT_F64, 3, dims), f.env));
  assert_int_equal(view.dims[1], 5);
  assert_int_equal(view.strides[0], 120);
  assert_int_equal(aj_view_count(&view), 30);
  assert_int_equal(aj_view_bytes(&view), 240);
  assert_true(aj_view_is_dense(&view));
  view.dims[0] = 1;
  view.strides[0] = -7; /* never followed */
  assert_true(aj_view_is_dense(&view));
  view.strides[2] = 16;
  assert_false(aj_view_is_dense(&view));
  assert_false(aj_view_from_type(&view, aj_module_type(f.module, ARRJIT_U8, 2, huge), f.env));
  assert_true(aj_view_from_type(&view, aj_module_type(f.module, ARRJIT_F64, 3, none), f.env));
  assert_int_equal(aj_view_count(&view), 0);
  sem_end(&f);
}

/* ---- view ops ---- */
static void expect(const aj_view *view, int64_t count, const int32_t *want) {
  assert_int_equal(aj_view_count(view), count);
  for (int64_t i = 0; i < count; i++) {
    int32_t got;
    memcpy(&got, element_at(view, i), 4);
    if (got != want[i]) fail_msg("element %d is %d, not %d", (int)i, got, want[i]);
  }
}
static const int32_t six[] = {0, 1, 2, 3, 4, 5};
static const int64_t two_three[] = {2, 3};
typedef struct op_case {
  aj_op op;
  aj_attr attrs[3];
  uint32_t attr_count;
  int64_t count;
  int32_t want[12];
} op_case;

static void test_view_ops_only_move_strides(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const int64_t swap[] = {1, 0}, both[] = {0, 1}, second[] = {1}, shape_a[] = {2, 2, 3}, last_two[] = {1, 2},
                flat[] = {6};
  const int64_t start[] = {0, 1}, limit[] = {2, 3}, step[] = {1, 1}, wide_step[] = {5, 2}, zero[] = {0, 0};
  const op_case cases[] = {
      {AJ_OP_TRANSPOSE, {aj_attr_ints(AJ_ATTR_AXES, 2, swap)}, 1, 6, {0, 3, 1, 4, 2, 5}},
      {AJ_OP_REVERSE, {aj_attr_ints(AJ_ATTR_AXES, 2, both)}, 1, 6, {5, 4, 3, 2, 1, 0}},
      {AJ_OP_REVERSE, {aj_attr_ints(AJ_ATTR_AXES, 1, second)}, 1, 6, {2, 1, 0, 5, 4, 3}},
      {AJ_OP_RESHAPE, {aj_attr_ints(AJ_ATTR_SHAPE, 1, flat)}, 1, 6, {0, 1, 2, 3, 4, 5}},
      {AJ_OP_BROADCAST,
       {aj_attr_ints(AJ_ATTR_SHAPE, 3, shape_a), aj_attr_ints(AJ_ATTR_AXES, 2, last_two)},
       2,
       12,
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}},
      {AJ_OP_SLICE,
       {aj_attr_ints(AJ_ATTR_START, 2, start), aj_attr_ints(AJ_ATTR_LIMIT, 2, limit),
        aj_attr_ints(AJ_ATTR_STEP, 2, step)},
       3,
       4,
       {1, 2, 4, 5}},
      {AJ_OP_SLICE,
       {aj_attr_ints(AJ_ATTR_START, 2, zero), aj_attr_ints(AJ_ATTR_LIMIT, 2, limit),
        aj_attr_ints(AJ_ATTR_STEP, 2, wide_step)},
       3,
       2,
       {0, 2}},
      {AJ_OP_SLICE,
       {aj_attr_ints(AJ_ATTR_START, 2, limit), aj_attr_ints(AJ_ATTR_LIMIT, 2, limit),
        aj_attr_ints(AJ_ATTR_STEP, 2, step)},
       3,
       0,
       {0}},
  };
  aj_value *x = sem_param(&f, ARRJIT_I32, 2, two_three);
  aj_view in = sem_array(x->type, f.env, six), out;
  for (size_t i = 0; i < TK_COUNT(cases); i++) {
    const aj_node *node = sem_node(&f, cases[i].op, 1, &x, cases[i].attr_count, cases[i].attrs);
    f.fail.kind = ARRJIT_KIND_ERROR;
    assert_true(aj_sem_view(node, f.env, &in, &out, &f.fail));
    assert_int_equal(f.fail.kind, ARRJIT_KIND_NONE);
    expect(&out, cases[i].count, cases[i].want);
  }
  const aj_attr full = aj_attr_ints(AJ_ATTR_SHAPE, 2, two_three);
  aj_value *scalar = sem_param(&f, ARRJIT_I32, 0, NULL);
  const aj_node *node = sem_node(&f, AJ_OP_FULL, 1, &scalar, 1, &full);
  aj_view one = {.dtype = ARRJIT_I32, .data = in.data + 8};
  assert_true(aj_sem_view(node, f.env, &one, &out, &f.fail));
  expect(&out, 6, (const int32_t[]){2, 2, 2, 2, 2, 2});
  /* a reshape of what is not dense wants a copy, unless it is one element everywhere */
  const aj_attr to_flat = aj_attr_ints(AJ_ATTR_SHAPE, 1, flat);
  node = sem_node(&f, AJ_OP_RESHAPE, 1, &x, 1, &to_flat);
  aj_view turned = {.dtype = ARRJIT_I32, .rank = 2, .data = in.data, .dims = {2, 3}, .strides = {4, 8}};
  assert_false(aj_sem_view(node, f.env, &turned, &out, &f.fail));
  turned.strides[0] = turned.strides[1] = 0;
  assert_true(aj_sem_view(node, f.env, &turned, &out, &f.fail));
  expect(&out, 6, (const int32_t[]){0, 0, 0, 0, 0, 0});
  free(in.data);
  sem_end(&f);
}

static void test_extents_that_do_not_fit_at_run_time_fail_with_shape(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const int64_t n = aj_symbol_named(f.b.func, "n"), dims[] = {n}, flat[] = {6}, start[] = {2}, limit[] = {6},
                step[] = {1};
  aj_value *x = sem_param(&f, ARRJIT_I32, 1, dims);
  const aj_attr slice[] = {aj_attr_ints(AJ_ATTR_START, 1, start), aj_attr_ints(AJ_ATTR_LIMIT, 1, limit),
                           aj_attr_ints(AJ_ATTR_STEP, 1, step)};
  const aj_attr shape = aj_attr_ints(AJ_ATTR_SHAPE, 1, flat);
  const aj_node *nodes[] = {sem_node(&f, AJ_OP_SLICE, 1, &x, 3, slice), sem_node(&f, AJ_OP_RESHAPE, 1, &x, 1, &shape)};
  for (int64_t extent = 4; extent <= 6; extent++) {
    f.env[aj_dim_symbol(n)] = extent;
    aj_view in = sem_array(x->type, f.env, NULL), out;
    memcpy(in.data, six, aj_view_bytes(&in));
    for (int i = 0; i < 2; i++) {
      assert_true(aj_sem_view(nodes[i], f.env, &in, &out, &f.fail));
      assert_int_equal(f.fail.kind, extent == 6 ? ARRJIT_KIND_NONE : ARRJIT_KIND_SHAPE);
      if (extent == 6)
        expect(&out, i == 0 ? 4 : 6, i == 0 ? six + 2 : six);
      else
        assert_non_null(f.fail.message);
    }
    free(in.data);
  }
  sem_end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_copies_agree_with_element_by_element),
    cmocka_unit_test(test_unpack_writes_only_the_view),
    cmocka_unit_test(test_transposes_larger_than_a_square_of_the_copy),
    cmocka_unit_test(test_shapes_come_from_types),
    cmocka_unit_test(test_view_ops_only_move_strides),
    cmocka_unit_test(test_extents_that_do_not_fit_at_run_time_fail_with_shape),
};
TEST_MAIN(tests, NULL, NULL)
