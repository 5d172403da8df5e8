/* Routines on whole arrays: creation, concat, pad, windows, gather, take, argmin and argmax, elementwise ops on any
 * strides. */
#include "sem_fixture.h"

#define INTS(name, ...) aj_attr_ints(name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static aj_value *param(sem_fixture *f, arrjit_dtype dtype, int32_t rank, int64_t a, int64_t b, int64_t c) {
  return sem_param(f, dtype, rank, (int64_t[]){a, b, c});
}
/* An i32 array 0, 1, 2 ... of a type. */
static aj_view counting(sem_fixture *f, const aj_value *x) {
  aj_view view = sem_array(x->type, f->env, NULL);
  for (int32_t i = 0; i < aj_view_count(&view); i++) memcpy(view.data + i * 4, &i, 4);
  return view;
}
static void expect_i32(aj_view *out, int64_t count, const int32_t *want) {
  assert_int_equal(aj_view_count(out), count);
  for (int64_t i = 0; i < count; i++) assert_int_equal(((int32_t *)(void *)out->data)[i], want[i]);
  free(out->data);
}
static void expect_index(const sem_fixture *f, int64_t position, int64_t index, int64_t axis, int64_t bound) {
  assert_int_equal(f->fail.kind, ARRJIT_KIND_INDEX);
  assert_int_equal(f->fail.position, position);
  assert_int_equal(f->fail.index, index);
  assert_int_equal(f->fail.axis, axis);
  assert_int_equal(f->fail.bound, bound);
  assert_non_null(f->fail.message);
}

/* ---- creation ---- */
static void test_const_and_iota(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_view out;
  const int32_t data[] = {4, 5, 6, 7, 8, 9}, one = 3;
  const aj_attr dtype = aj_attr_int(AJ_ATTR_DTYPE, ARRJIT_I32);
  const aj_attr dense[] = {INTS(AJ_ATTR_SHAPE, 2, 3), dtype, aj_attr_bytes(AJ_ATTR_VALUE, data, sizeof data)};
  const aj_attr splat[] = {INTS(AJ_ATTR_SHAPE, 2, 3), dtype, aj_attr_bytes(AJ_ATTR_VALUE, &one, sizeof one)};
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_CONST, 0, NULL, 3, dense), NULL, &out), AJ_SEM_OK);
  expect_i32(&out, 6, data);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_CONST, 0, NULL, 3, splat), NULL, &out), AJ_SEM_OK);
  expect_i32(&out, 6, (int32_t[]){3, 3, 3, 3, 3, 3});
  for (int64_t axis = 0; axis < 3; axis++) {
    const aj_attr iota[] = {INTS(AJ_ATTR_SHAPE, 2, 3, 2), aj_attr_int(AJ_ATTR_AXIS, axis), dtype};
    const int32_t want[3][12] = {{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1},
                                 {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2},
                                 {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}};
    assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_IOTA, 0, NULL, 3, iota), NULL, &out), AJ_SEM_OK);
    expect_i32(&out, 12, want[axis]);
  }
  const aj_attr narrow[] = {INTS(AJ_ATTR_SHAPE, 3000), aj_attr_int(AJ_ATTR_AXIS, 0),
                            aj_attr_int(AJ_ATTR_DTYPE, ARRJIT_U8)};
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_IOTA, 0, NULL, 3, narrow), NULL, &out), AJ_SEM_OK);
  for (int i = 0; i < 3000; i++) assert_int_equal((uint8_t)out.data[i], i & 255);
  free(out.data);
  const aj_attr real[] = {INTS(AJ_ATTR_SHAPE, 2000), aj_attr_int(AJ_ATTR_AXIS, 0),
                          aj_attr_int(AJ_ATTR_DTYPE, ARRJIT_F64)};
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_IOTA, 0, NULL, 3, real), NULL, &out), AJ_SEM_OK);
  for (int i = 0; i < 2000; i++) assert_true(((double *)(void *)out.data)[i] == i);
  free(out.data);
  sem_end(&f);
}

/* ---- concat, pad ---- */
static void test_concat_joins_along_the_axis(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_value *x[] = {param(&f, ARRJIT_I32, 2, 2, 2, 0), param(&f, ARRJIT_I32, 2, 2, 0, 0),
                   param(&f, ARRJIT_I32, 2, 2, 3, 0)};
  aj_view in[] = {counting(&f, x[0]), counting(&f, x[1]), counting(&f, x[2])}, out;
  const aj_attr axis = aj_attr_int(AJ_ATTR_AXIS, 1);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_CONCAT, 3, x, 1, &axis), in, &out), AJ_SEM_OK);
  expect_i32(&out, 10, (int32_t[]){0, 1, 0, 1, 2, 2, 3, 3, 4, 5});
  const aj_attr first = aj_attr_int(AJ_ATTR_AXIS, 0);
  aj_value *twice[] = {x[0], x[0]};
  aj_view same[] = {in[0], in[0]};
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_CONCAT, 2, twice, 1, &first), same, &out), AJ_SEM_OK);
  expect_i32(&out, 8, (int32_t[]){0, 1, 2, 3, 0, 1, 2, 3});
  for (int i = 0; i < 3; i++) free(in[i].data);
  sem_end(&f);
}

static void test_pad_with_every_sign_and_gap(void **state) {
  (void)state;
  const int32_t fill = -1;
  for (int64_t extent = 0; extent <= 5; extent++) {
    for (int64_t low = -6; low <= 3; low++) {
      for (int64_t high = -6; high <= 3; high++) {
        for (int64_t interior = 0; interior <= 3; interior++) {
          int64_t full = extent + (extent > 0 ? (extent - 1) * interior : 0), size = full + low + high;
          if (size < 0) continue;
          sem_fixture f;
          sem_begin(&f);
          aj_value *x[] = {param(&f, ARRJIT_I32, 1, extent, 0, 0), sem_param(&f, ARRJIT_I32, 0, NULL)};
          const aj_attr attrs[] = {INTS(AJ_ATTR_LOW, low), INTS(AJ_ATTR_HIGH, high), INTS(AJ_ATTR_INTERIOR, interior)};
          aj_view in[] = {counting(&f, x[0]), sem_array(x[1]->type, f.env, &fill)}, out;
          assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_PAD, 2, x, 3, attrs), in, &out), AJ_SEM_OK);
          assert_int_equal(out.dims[0], size);
          for (int64_t i = 0; i < size; i++) {
            int64_t at = i - low;
            bool hit = at >= 0 && at < full && at % (interior + 1) == 0;
            assert_int_equal(((int32_t *)(void *)out.data)[i], hit ? at / (interior + 1) : -1);
          }
          free(in[0].data);
          free(in[1].data);
          free(out.data);
          sem_end(&f);
        }
      }
    }
  }
}

static void test_pad_in_two_dims(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const int32_t fill = 9;
  aj_value *x[] = {param(&f, ARRJIT_I32, 2, 2, 3, 0), sem_param(&f, ARRJIT_I32, 0, NULL)};
  const aj_attr attrs[] = {INTS(AJ_ATTR_LOW, 1, -1), INTS(AJ_ATTR_HIGH, 0, 1), INTS(AJ_ATTR_INTERIOR, 1, 0)};
  aj_view in[] = {counting(&f, x[0]), sem_array(x[1]->type, f.env, &fill)}, out;
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_PAD, 2, x, 3, attrs), in, &out), AJ_SEM_OK);
  expect_i32(&out, 12, (int32_t[]){9, 9, 9, 1, 2, 9, 9, 9, 9, 4, 5, 9});
  free(in[0].data);
  free(in[1].data);
  sem_end(&f);
}

/* ---- windows ---- */
static void test_dynamic_slices_clamp_and_checked_ones_fail(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_value *x[] = {param(&f, ARRJIT_I32, 2, 3, 4, 0), sem_param(&f, ARRJIT_I8, 0, NULL),
                   sem_param(&f, ARRJIT_U64, 0, NULL)};
  const aj_attr sizes = INTS(AJ_ATTR_SIZES, 2, 2);
  const aj_node *plain = sem_node(&f, AJ_OP_DYNAMIC_SLICE, 3, x, 1, &sizes);
  const aj_node *checked = sem_node(&f, AJ_OP_CHECKED_SLICE, 3, x, 1, &sizes);
  static const struct {
    int8_t row;
    uint64_t column;
    int32_t first;
    bool fits;
    int64_t position, index, axis, bound;
  } rows[] = {
      {0, 0, 0, true, 0, 0, 0, 0},  {1, 2, 6, true, 0, 0, 0, 0},  {-1, 1, 1, false, 0, -1, 0, 2},
      {2, 3, 6, false, 0, 2, 0, 2}, {1, 3, 6, false, 1, 3, 1, 3}, {0, UINT64_MAX, 2, false, 1, INT64_MAX, 1, 3},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    aj_view in[] = {counting(&f, x[0]), sem_array(x[1]->type, f.env, &rows[i].row),
                    sem_array(x[2]->type, f.env, &rows[i].column)},
            out;
    int32_t a = rows[i].first;
    assert_int_equal(sem_run(&f, plain, in, &out), AJ_SEM_OK);
    expect_i32(&out, 4, (int32_t[]){a, a + 1, a + 4, a + 5});
    assert_int_equal(sem_run(&f, checked, in, &out), rows[i].fits ? AJ_SEM_OK : AJ_SEM_FAIL);
    if (!rows[i].fits) expect_index(&f, rows[i].position, rows[i].index, rows[i].axis, rows[i].bound);
    free(out.data);
    for (int k = 0; k < 3; k++) free(in[k].data);
  }
  sem_end(&f);
}

static void test_dynamic_update_slice_clamps(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_value *x[] = {param(&f, ARRJIT_I32, 2, 3, 4, 0), param(&f, ARRJIT_I32, 2, 1, 2, 0),
                   sem_param(&f, ARRJIT_I64, 0, NULL), sem_param(&f, ARRJIT_I64, 0, NULL)};
  const aj_node *node = sem_node(&f, AJ_OP_DYNAMIC_UPDATE_SLICE, 4, x, 0, NULL);
  const int64_t row = 1, column = 100;
  aj_view in[] = {counting(&f, x[0]), counting(&f, x[1]), sem_array(x[2]->type, f.env, &row),
                  sem_array(x[3]->type, f.env, &column)},
          out;
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_OK);
  expect_i32(&out, 12, (int32_t[]){0, 1, 2, 3, 4, 5, 0, 1, 8, 9, 10, 11});
  for (int k = 0; k < 4; k++) free(in[k].data);
  sem_end(&f);
}

/* ---- take ---- */
static void test_take_clamps_and_checked_index_fails_at_the_lowest_position(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_value *x[] = {param(&f, ARRJIT_I32, 2, 3, 2, 0), param(&f, ARRJIT_I16, 2, 2, 2, 0)};
  const int16_t indices[] = {2, -5, 7, 1};
  aj_view in[] = {counting(&f, x[0]), sem_array(x[1]->type, f.env, indices)}, out;
  const aj_attr rows = aj_attr_int(AJ_ATTR_AXIS, 0), columns = aj_attr_int(AJ_ATTR_AXIS, 1);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_TAKE, 2, x, 1, &rows), in, &out), AJ_SEM_OK);
  expect_i32(&out, 8, (int32_t[]){4, 5, 0, 1, 4, 5, 2, 3});
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_TAKE, 2, x, 1, &columns), in, &out), AJ_SEM_OK);
  expect_i32(&out, 12, (int32_t[]){1, 0, 1, 1, 3, 2, 3, 3, 5, 4, 5, 5});
  const aj_node *checked = sem_node(&f, AJ_OP_CHECKED_INDEX, 2, x, 1, &rows);
  assert_int_equal(sem_run(&f, checked, in, &out), AJ_SEM_FAIL);
  expect_index(&f, 1, -5, 0, 3);
  free(out.data);
  ((int16_t *)(void *)in[1].data)[1] = 0;
  assert_int_equal(sem_run(&f, checked, in, &out), AJ_SEM_FAIL);
  expect_index(&f, 2, 7, 0, 3);
  free(out.data);
  ((int16_t *)(void *)in[1].data)[2] = 1;
  assert_int_equal(sem_run(&f, checked, in, &out), AJ_SEM_OK);
  expect_i32(&out, 8, (int32_t[]){4, 5, 0, 1, 2, 3, 2, 3});
  free(in[0].data);
  free(in[1].data);
  sem_end(&f);
}

static void test_nothing_can_be_taken_from_an_empty_axis(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const int64_t n = aj_symbol_named(f.b.func, "n");
  f.env[aj_dim_symbol(n)] = 0;
  aj_value *x[] = {param(&f, ARRJIT_I32, 1, n, 0, 0), param(&f, ARRJIT_I64, 1, 2, 0, 0)};
  aj_value *none[] = {x[0], param(&f, ARRJIT_I64, 1, 0, 0, 0)};
  const int64_t indices[] = {0, 0};
  aj_view in[] = {sem_array(x[0]->type, f.env, NULL), sem_array(x[1]->type, f.env, indices)}, out;
  aj_view nothing[] = {in[0], sem_array(none[1]->type, f.env, NULL)};
  const aj_attr axis = aj_attr_int(AJ_ATTR_AXIS, 0);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_TAKE, 2, x, 1, &axis), in, &out), AJ_SEM_FAIL);
  assert_int_equal(f.fail.kind, ARRJIT_KIND_SHAPE);
  free(out.data);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_TAKE, 2, none, 1, &axis), nothing, &out), AJ_SEM_OK);
  free(out.data);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_CHECKED_INDEX, 2, x, 1, &axis), in, &out), AJ_SEM_FAIL);
  expect_index(&f, 0, 0, 0, 0);
  free(out.data);
  const aj_attr gather[] = {INTS(AJ_ATTR_SIZES, 1),
                            aj_attr_ints(AJ_ATTR_OFFSET_AXES, 0, NULL),
                            INTS(AJ_ATTR_COLLAPSED_AXES, 0),
                            aj_attr_ints(AJ_ATTR_X_BATCH, 0, NULL),
                            aj_attr_ints(AJ_ATTR_INDEX_BATCH, 0, NULL),
                            INTS(AJ_ATTR_START_MAP, 0),
                            aj_attr_int(AJ_ATTR_INDEX_AXIS, 1)};
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_GATHER, 2, x, 7, gather), in, &out), AJ_SEM_FAIL);
  assert_int_equal(f.fail.kind, ARRJIT_KIND_SHAPE);
  free(out.data);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_CHECKED_GATHER, 2, x, 7, gather), in, &out), AJ_SEM_FAIL);
  expect_index(&f, 0, 0, 0, 0);
  free(out.data);
  for (int64_t op = AJ_OP_ARGMIN; op <= AJ_OP_ARGMAX; op++) {
    assert_int_equal(sem_run(&f, sem_node(&f, (aj_op)op, 1, x, 1, &axis), in, &out), AJ_SEM_FAIL);
    assert_int_equal(f.fail.kind, ARRJIT_KIND_SHAPE);
    free(out.data);
  }
  free(in[0].data);
  free(in[1].data);
  free(nothing[1].data);
  sem_end(&f);
}

/* ---- gather: StableHLO's definition, index by index ---- */
static void random_axes(tk_random *random, int32_t rank, uint32_t *out_set) {
  *out_set = 0;
  for (int32_t i = 0; i < rank; i++)
    if (tk_chance(random, 50)) *out_set |= 1u << i;
}
static void check_gather(tk_random *random) {
  sem_fixture f;
  sem_begin(&f);
  int32_t rank = 1 + (int32_t)tk_below(random, 3), index_rank = 1 + (int32_t)tk_below(random, 3);
  int64_t dims[3], sizes[3], index_dims[3], start_map[3], collapsed[3], offset_axes[6], batch_axes[6];
  uint32_t collapsed_set, mapped_set;
  size_t mapped = 0, collapses = 0, windows = 0;
  random_axes(random, rank, &collapsed_set);
  random_axes(random, rank, &mapped_set);
  for (int32_t i = 0; i < rank; i++) {
    dims[i] = 1 + (int64_t)tk_below(random, 5);
    sizes[i] = collapsed_set >> i & 1 ? 1 : (int64_t)tk_below(random, (uint64_t)dims[i] + 1);
    if (collapsed_set >> i & 1) collapsed[collapses++] = i;
    if (mapped_set >> i & 1) start_map[mapped++] = i;
  }
  if (mapped == 2 && tk_chance(random, 50)) {
    int64_t swap = start_map[0];
    start_map[0] = start_map[1], start_map[1] = swap;
  }
  /* a trailing index_axis may be implied when there is one component */
  int64_t index_axis =
      mapped == 1 && tk_chance(random, 50) ? index_rank : (int64_t)tk_below(random, (uint64_t)index_rank);
  for (int32_t i = 0; i < index_rank; i++)
    index_dims[i] = i == index_axis ? (int64_t)mapped : 1 + (int64_t)tk_below(random, 4);
  int32_t batch_rank = index_axis == index_rank ? index_rank : index_rank - 1;
  int32_t out_rank = batch_rank + rank - (int32_t)collapses, b = 0;
  for (int32_t i = 0; i < out_rank; i++) {
    int32_t offsets_left = rank - (int32_t)collapses - (int32_t)windows, left = out_rank - i;
    if ((int32_t)tk_below(random, (uint64_t)left) < offsets_left)
      offset_axes[windows++] = i;
    else
      batch_axes[b++] = i;
  }
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_SIZES, (size_t)rank, sizes),
                           aj_attr_ints(AJ_ATTR_OFFSET_AXES, windows, offset_axes),
                           aj_attr_ints(AJ_ATTR_COLLAPSED_AXES, collapses, collapsed),
                           aj_attr_ints(AJ_ATTR_START_MAP, mapped, start_map),
                           aj_attr_ints(AJ_ATTR_X_BATCH, 0, NULL),
                           aj_attr_ints(AJ_ATTR_INDEX_BATCH, 0, NULL),
                           aj_attr_int(AJ_ATTR_INDEX_AXIS, index_axis)};
  aj_value *x[] = {sem_param(&f, ARRJIT_I32, rank, dims), sem_param(&f, ARRJIT_I32, index_rank, index_dims)};
  const aj_node *node = sem_node(&f, AJ_OP_GATHER, 2, x, 7, attrs),
                *checked = sem_node(&f, AJ_OP_CHECKED_GATHER, 2, x, 7, attrs);
  aj_view in[] = {counting(&f, x[0]), counting(&f, x[1])}, out, out2;
  int32_t *indices = (int32_t *)(void *)in[1].data;
  bool wild = tk_chance(random, 50);
  for (int64_t i = 0; i < aj_view_count(&in[1]); i++) indices[i] = wild ? (int32_t)tk_below(random, 9) - 2 : 0;
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_OK);
  aj_sem_status status = sem_run(&f, checked, in, &out2);
  bool outside = false;
  for (int64_t flat = 0; flat < aj_view_count(&out); flat++) {
    int64_t at[6], rest = flat, from[3] = {0}, window[3] = {0};
    for (int32_t i = out_rank - 1; i >= 0; i--) at[i] = rest % out.dims[i], rest /= out.dims[i];
    for (int32_t i = 0, w = 0; i < rank; i++) window[i] = collapsed_set >> i & 1 ? 0 : at[offset_axes[w++]];
    for (size_t k = 0; k < mapped; k++) {
      int64_t flat_index = 0;
      for (int32_t i = 0, batch = 0; i < index_rank; i++)
        flat_index = flat_index * index_dims[i] + (i == index_axis ? (int64_t)k : at[batch_axes[batch++]]);
      int64_t start = indices[flat_index], last = dims[start_map[k]] - sizes[start_map[k]];
      outside = outside || start < 0 || start > last;
      from[start_map[k]] = start < 0 ? 0 : start > last ? last : start;
    }
    int64_t source = 0;
    for (int32_t i = 0; i < rank; i++) source = source * dims[i] + from[i] + window[i];
    assert_int_equal(((int32_t *)(void *)out.data)[flat], source);
  }
  if (aj_view_count(&out) > 0) assert_int_equal(status, outside ? AJ_SEM_FAIL : AJ_SEM_OK);
  if (status == AJ_SEM_OK) assert_memory_equal(out.data, out2.data, aj_view_bytes(&out));
  free(out.data);
  free(out2.data);
  free(in[0].data);
  free(in[1].data);
  sem_end(&f);
}
static void test_gather_follows_its_definition(void **state) {
  (void)state;
  tk_random random = {21};
  for (int i = 0; i < 2000; i++) check_gather(&random);
}

/* ---- argmin, argmax ---- */
static void test_positions_of_extremes(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const float data[] = {1, 5, 5, -2, 0.0f, -0.0f, NAN, 7, NAN, 3, INFINITY, 3};
  aj_value *x = param(&f, ARRJIT_F32, 2, 3, 4, 0);
  aj_view in = sem_array(x->type, f.env, data), out;
  static const int64_t want[2][2][4] = {{{2, 1, 1, 0}, {2, 0, 1, 1}}, {{3, 2, 0}, {1, 2, 0}}};
  for (int64_t axis = 0; axis < 2; axis++) {
    for (int largest = 0; largest < 2; largest++) {
      const aj_attr attr = aj_attr_int(AJ_ATTR_AXIS, axis);
      assert_int_equal(sem_run(&f, sem_node(&f, largest ? AJ_OP_ARGMAX : AJ_OP_ARGMIN, 1, &x, 1, &attr), &in, &out),
                       AJ_SEM_OK);
      assert_int_equal(out.dtype, ARRJIT_I64);
      for (int64_t i = 0; i < out.dims[0]; i++)
        assert_int_equal(((int64_t *)(void *)out.data)[i], want[axis][largest][i]);
      free(out.data);
    }
  }
  free(in.data);
  /* -0 equals 0: the first */
  const double zeros[] = {1, 0.0, -0.0, -1, -0.0, 0.0};
  aj_value *z = param(&f, ARRJIT_F64, 2, 2, 3, 0);
  const aj_attr last = aj_attr_int(AJ_ATTR_AXIS, 1);
  in = sem_array(z->type, f.env, zeros);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_ARGMIN, 1, &z, 1, &last), &in, &out), AJ_SEM_OK);
  assert_int_equal(((int64_t *)(void *)out.data)[0], 1);
  free(out.data);
  assert_int_equal(sem_run(&f, sem_node(&f, AJ_OP_ARGMAX, 1, &z, 1, &last), &in, &out), AJ_SEM_OK);
  assert_int_equal(((int64_t *)(void *)out.data)[1], 1);
  free(out.data);
  free(in.data);
  sem_end(&f);
}

/* ---- elementwise on views of any strides ---- */
static void test_elementwise_reads_any_strides(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  enum { R = 50, C = 61 };
  aj_value *x[] = {param(&f, ARRJIT_F64, 2, R, C, 0), param(&f, ARRJIT_F64, 2, R, C, 0),
                   param(&f, ARRJIT_F64, 2, R, C, 0)};
  const aj_node *fma_node = sem_node(&f, AJ_OP_FMA, 3, x, 0, NULL), *exp_node = sem_node(&f, AJ_OP_EXP, 1, x, 0, NULL);
  aj_view dense = sem_array(x[0]->type, f.env, NULL), out, turned, splat, packed;
  for (int i = 0; i < R * C; i++) ((double *)(void *)dense.data)[i] = i * 0.001;
  turned = splat = dense; /* reversed rows and columns; one element */
  turned.data = dense.data + (R * C - 1) * 8;
  turned.strides[0] = -C * 8;
  turned.strides[1] = -8;
  splat.data = dense.data + 8 * 77;
  splat.strides[0] = splat.strides[1] = 0;
  aj_view in[] = {turned, dense, splat};
  assert_int_equal(sem_run(&f, fma_node, in, &out), AJ_SEM_OK);
  for (int i = 0; i < R * C; i++)
    assert_true(((double *)(void *)out.data)[i] == fma((R * C - 1 - i) * 0.001, i * 0.001, 77 * 0.001));
  free(out.data);
  assert_int_equal(sem_run(&f, exp_node, &turned, &out), AJ_SEM_OK);
  assert_int_equal(sem_run(&f, exp_node, &dense, &packed), AJ_SEM_OK);
  for (int i = 0; i < R * C; i++) assert_memory_equal(out.data + i * 8, packed.data + (R * C - 1 - i) * 8, 8);
  free(out.data);
  free(packed.data);
  free(dense.data);
  sem_end(&f);
}

static void test_elementwise_failures_name_lane_and_code(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  enum { N = 5000 };
  aj_value *x[] = {param(&f, ARRJIT_I32, 1, N, 0, 0), param(&f, ARRJIT_I32, 1, N, 0, 0)};
  const aj_node *node = sem_node(&f, AJ_OP_CHECKED_DIV, 2, x, 0, NULL);
  aj_view in[] = {counting(&f, x[0]), counting(&f, x[1])}, out;
  int32_t *y = (int32_t *)(void *)in[1].data;
  y[0] = 1;
  y[3333] = y[4444] = 0;
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_FAIL);
  assert_int_equal(f.fail.kind, ARRJIT_KIND_ARITH);
  assert_int_equal(f.fail.code, AJ_ARITH_DIVIDE_BY_ZERO);
  assert_int_equal(f.fail.lane, 3333);
  free(out.data);
  in[1].data += (N - 1) * 4; /* backwards: element 4444 comes first, as lane 555 */
  in[1].strides[0] = -4;
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_FAIL);
  assert_int_equal(f.fail.lane, N - 1 - 4444);
  free(out.data);
  free(in[0].data);
  free(in[1].data - (N - 1) * 4);
  sem_end(&f);
}

static void test_scratch_that_cannot_be_had_gives_memory(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const aj_attr dot_attrs[] = {aj_attr_ints(AJ_ATTR_LHS_BATCH, 0, NULL), aj_attr_ints(AJ_ATTR_RHS_BATCH, 0, NULL),
                               INTS(AJ_ATTR_LHS_CONTRACT, 0), INTS(AJ_ATTR_RHS_CONTRACT, 1)};
  const aj_attr axes = INTS(AJ_ATTR_AXES, 0);
  aj_value *x[] = {param(&f, ARRJIT_F64, 2, 20, 30, 0), param(&f, ARRJIT_F64, 2, 5, 20, 0)};
  const aj_node *nodes[] = {sem_node(&f, AJ_OP_DOT, 2, x, 4, dot_attrs), sem_node(&f, AJ_OP_REDUCE_SUM, 1, x, 1, &axes),
                            sem_node(&f, AJ_OP_EXP, 1, x, 0, NULL), sem_node(&f, AJ_OP_MEAN, 1, x, 1, &axes)};
  aj_view in[] = {sem_array(x[0]->type, f.env, NULL), sem_array(x[1]->type, f.env, NULL)}, out;
  memset(in[0].data, 0, aj_view_bytes(&in[0]));
  memset(in[1].data, 0, aj_view_bytes(&in[1]));
  int64_t live = atomic_load(&f.alloc.live_bytes);
  for (size_t i = 0; i < TK_COUNT(nodes); i++) {
    aj_sem_status status = AJ_SEM_MEMORY;
    int point = 0;
    for (; status == AJ_SEM_MEMORY && point < 500; point++) {
      tk_alloc_arm(&f.alloc, point + 1);
      status = sem_run(&f, nodes[i], in, &out);
      free(out.data);
    }
    tk_alloc_arm(&f.alloc, 0);
    assert_int_equal(status, AJ_SEM_OK);
    assert_true(point > 1);
    if (i < 2) assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
  }
  free(in[0].data);
  free(in[1].data);
  sem_end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_const_and_iota),
    cmocka_unit_test(test_concat_joins_along_the_axis),
    cmocka_unit_test(test_pad_with_every_sign_and_gap),
    cmocka_unit_test(test_pad_in_two_dims),
    cmocka_unit_test(test_dynamic_slices_clamp_and_checked_ones_fail),
    cmocka_unit_test(test_dynamic_update_slice_clamps),
    cmocka_unit_test(test_take_clamps_and_checked_index_fails_at_the_lowest_position),
    cmocka_unit_test(test_nothing_can_be_taken_from_an_empty_axis),
    cmocka_unit_test(test_gather_follows_its_definition),
    cmocka_unit_test(test_positions_of_extremes),
    cmocka_unit_test(test_elementwise_reads_any_strides),
    cmocka_unit_test(test_elementwise_failures_name_lane_and_code),
    cmocka_unit_test(test_scratch_that_cannot_be_had_gives_memory),
};
TEST_MAIN(tests, NULL, NULL)
