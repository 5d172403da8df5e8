/* The order of cumulative ops, against a slow transcription of src/sem/README.md. */
#include "fold_rules.h"

/* n elements that lie `step` apart become what is combined up to each of them. */
static void scan_one(double *x, int64_t n, int64_t step, bool last_axis) {
  int64_t group = !last_axis ? 1 : dtype_now == ARRJIT_F64 ? 8 : 16;
  double carry = identity();
  for (int64_t at = 0; at < n; at += group) {
    double p[16], old[16];
    int64_t m = n - at < group ? n - at : group;
    for (int64_t i = 0; i < m; i++) p[i] = x[(at + i) * step];
    for (int64_t stride = 1; stride < m; stride *= 2) {
      memcpy(old, p, sizeof p);
      for (int64_t i = stride; i < m; i++) p[i] = combine(old[i - stride], old[i]);
    }
    for (int64_t i = 0; i < m; i++) x[(at + i) * step] = combine(carry, p[i]);
    carry = combine(carry, p[m - 1]);
  }
}

static void check_scan(const shape *s, int32_t axis, int64_t reverse, aj_op op, tk_random *random) {
  sem_fixture f;
  sem_begin(&f);
  const aj_attr attrs[] = {aj_attr_int(AJ_ATTR_AXIS, axis), aj_attr_int(AJ_ATTR_REVERSE, reverse)};
  aj_value *x = sem_param(&f, dtype_now, s->rank, s->dims);
  const aj_node *node = op == AJ_OP_CUMULATIVE ? combiner_node(&f, op, x, 2, attrs) : sem_node(&f, op, 1, &x, 2, attrs);
  int64_t n = count_of(s), step = 1;
  for (int32_t i = axis + 1; i < s->rank; i++) step *= s->dims[i];
  double *data = tk_new((size_t)n + 1, sizeof *data);
  random_floats(random, false, data, n);
  size_t bytes = aj_dtypes[dtype_now].bytes;
  char factor[8];
  store(-0.75, factor);
  aj_view in[2] = {sem_array(x->type, f.env, NULL), {.dtype = dtype_now, .data = factor}}, out;
  for (int64_t i = 0; i < n; i++) {
    if (data[i] != data[i]) data[i] = NAN;
    store(data[i], in->data + (size_t)i * bytes);
  }
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_OK);
  int64_t row = step * s->dims[axis];
  for (int64_t i = 0; i < n; i++) {
    if (i % row >= step) continue;
    double *first = data + i + (reverse ? row - step : 0);
    scan_one(first, s->dims[axis], reverse ? -step : step, axis == s->rank - 1);
  }
  for (int64_t i = 0; i < n; i++) {
    char want[8];
    store(data[i], want);
    if (memcmp(want, out.data + (size_t)i * bytes, bytes) != 0)
      fail_msg("%s %s, rank %d axis %d reverse %d: element %d differs", aj_ops[op].name, aj_dtypes[dtype_now].name,
               s->rank, axis, (int)reverse, (int)i);
  }
  free(data);
  free(in->data);
  free(out.data);
  sem_end(&f);
}

static void test_cumulative_ops_keep_the_order_of_the_reference(void **state) {
  (void)state;
  static const shape shapes[] = {{1, {1}},     {1, {7}},      {1, {16}},   {1, {37}},      {1, {300}},     {2, {3, 40}},
                                 {2, {40, 3}}, {2, {5, 600}}, {2, {0, 4}}, {3, {2, 9, 3}}, {3, {2, 3, 17}}};
  static const struct {
    aj_op op, reduction;
  } rows[] = {{AJ_OP_CUMSUM, AJ_OP_REDUCE_SUM},
              {AJ_OP_CUMPROD, AJ_OP_REDUCE_PROD},
              {AJ_OP_CUMMIN, AJ_OP_REDUCE_MIN},
              {AJ_OP_CUMMAX, AJ_OP_REDUCE_MAX},
              {AJ_OP_CUMULATIVE, AJ_OP_REDUCE}};
  tk_random random = {11};
  for (size_t k = 0; k < 2 * TK_COUNT(rows); k++) {
    op_now = rows[k / 2].reduction;
    dtype_now = k % 2 ? ARRJIT_F32 : ARRJIT_F64;
    for (size_t i = 0; i < TK_COUNT(shapes); i++)
      for (int32_t axis = 0; axis < shapes[i].rank; axis++)
        for (int64_t reverse = 0; reverse < 2; reverse++)
          check_scan(&shapes[i], axis, reverse, rows[k / 2].op, &random);
  }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_cumulative_ops_keep_the_order_of_the_reference),
};

TEST_MAIN(tests, NULL, NULL)
