/* The order of reductions and products, against a slow transcription of src/sem/README.md. */
#include "fold_rules.h"

typedef struct tree {
  double level[64];
  bool full[64];
} tree;
static void push(tree *t, double x) {
  int k = 0;
  for (; t->full[k]; k++) {
    x = combine(t->level[k], x);
    t->full[k] = false;
  }
  t->level[k] = x;
  t->full[k] = true;
}
static double finish(const tree *t) {
  double x = 0;
  bool have = false;
  for (int k = 0; k < 64; k++) {
    if (!t->full[k]) continue;
    x = have ? combine(t->level[k], x) : t->level[k];
    have = true;
  }
  return x;
}

/* One block in lanes: x[i] is multiplied with y[i] into the chain when y is there. */
static double fold_block(const double *x, const double *y, int64_t n) {
  double lane[64];
  uint32_t lanes = lanes_now();
  for (uint32_t l = 0; l < lanes; l++) lane[l] = identity();
  for (int64_t i = 0; i < n; i++) {
    double *at = &lane[i % lanes];
    if (y == NULL)
      *at = combine(*at, x[i]);
    else
      *at = dtype_now == ARRJIT_F32 ? (double)fmaf((float)x[i], (float)y[i], (float)*at) : fma(x[i], y[i], *at);
  }
  for (uint32_t half = lanes / 2; half > 0; half /= 2)
    for (uint32_t l = 0; l < half; l++) lane[l] = combine(lane[l], lane[l + half]);
  return lane[0];
}
static void push_lanes(tree *t, const double *x, const double *y, int64_t n) {
  int64_t block = (int64_t)lanes_now() * 64;
  for (int64_t i = 0; i < n; i += block) push(t, fold_block(x + i, y ? y + i : NULL, n - i < block ? n - i : block));
}
static void push_chains(tree *t, const double *x, int64_t n) {
  for (int64_t i = 0; i < n; i += 128) {
    double chain = identity();
    for (int64_t k = i; k < n && k < i + 128; k++) chain = combine(chain, x[k]);
    push(t, chain);
  }
}

/* ---- reductions of whole arrays ---- */
static int64_t flat_index(const shape *s, const int64_t *index) {
  int64_t flat = 0;
  for (int32_t i = 0; i < s->rank; i++) flat = flat * s->dims[i] + index[i];
  return flat;
}
/* Spreads flat over the axes of s listed, row-major. */
static void unravel(const shape *s, const int64_t *axes, int64_t n, int64_t flat, int64_t *index) {
  for (int64_t k = n - 1; k >= 0; k--) {
    index[axes[k]] = flat % s->dims[axes[k]];
    flat /= s->dims[axes[k]];
  }
}
static int64_t extent_of(const shape *s, const int64_t *axes, int64_t n) {
  int64_t extent = 1;
  for (int64_t k = 0; k < n; k++) extent *= s->dims[axes[k]];
  return extent;
}

/* The elements that output `o` folds, in row-major order of the reduced dims. Returns how many. */
static int64_t list_elements(const shape *s, unsigned axes, int64_t o, const double *x, double *out) {
  int64_t index[5] = {0}, kept[5], reduced[5], nk = 0, nr = 0;
  for (int32_t i = 0; i < s->rank; i++) {
    if (axes >> i & 1)
      reduced[nr++] = i;
    else
      kept[nk++] = i;
  }
  int64_t n = extent_of(s, reduced, nr);
  unravel(s, kept, nk, o, index);
  for (int64_t i = 0; i < n; i++) {
    unravel(s, reduced, nr, i, index);
    out[i] = x[flat_index(s, index)];
  }
  return n;
}

static double reduce_one(const shape *s, unsigned axes, int64_t o, const double *x, double *list) {
  int64_t n = list_elements(s, axes, o, x, list), inner = 1;
  bool inner_reduced = s->rank > 0 && (axes >> (s->rank - 1) & 1);
  if (n == 0) return op_now == AJ_OP_REDUCE ? INIT : op_now == AJ_OP_REDUCE_SUM ? 0.0 : identity();
  tree t = {.full = {false}};
  for (int32_t i = s->rank - 1; i >= 0 && (axes >> i & 1); i--) inner *= s->dims[i];
  if (inner_reduced)
    for (int64_t i = 0; i < n; i += inner) push_lanes(&t, list + i, NULL, inner);
  else
    push_chains(&t, list, n);
  return op_now == AJ_OP_REDUCE ? combine(INIT, finish(&t)) : finish(&t);
}

static void check_reduce(sem_fixture *f, const shape *s, unsigned axes, tk_random *random) {
  int64_t list[5], n = count_of(s), outputs, count = 0;
  for (int32_t i = 0; i < s->rank; i++)
    if (axes >> i & 1) list[count++] = i;
  const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, (size_t)count, list);
  aj_value *x = sem_param(f, dtype_now, s->rank, s->dims);
  const aj_node *node =
      op_now == AJ_OP_REDUCE ? combiner_node(f, op_now, x, 1, &attr) : sem_node(f, op_now, 1, &x, 1, &attr);
  double *data = tk_new((size_t)n + 1, sizeof *data), *scratch = tk_new((size_t)n + 1, sizeof *scratch);
  size_t bytes = aj_dtypes[dtype_now].bytes;
  random_floats(random, tk_chance(random, 50), data, n);
  aj_view in[3] = {sem_array(x->type, f->env, NULL)}, out;
  char scalars[2][8];
  for (uint32_t i = 1; i < node->operand_count; i++) {
    in[i] = (aj_view){.dtype = dtype_now, .data = scalars[i - 1]};
    store(i == 1 ? INIT : -0.75, in[i].data);
  }
  for (int64_t i = 0; i < n; i++) {
    float single = (float)data[i];
    memcpy(in->data + (size_t)i * bytes, bytes == 4 ? (const void *)&single : (const void *)&data[i], bytes);
  }
  assert_int_equal(sem_run(f, node, in, &out), AJ_SEM_OK);
  outputs = aj_view_count(&out);
  for (int64_t o = 0; o < outputs; o++) {
    char want[8];
    store(reduce_one(s, axes, o, data, scratch), want);
    if (memcmp(want, out.data + (size_t)o * bytes, bytes) != 0)
      fail_msg("%s %s, rank %d axes %x: output %d differs", aj_ops[op_now].name, aj_dtypes[dtype_now].name, s->rank,
               axes, (int)o);
  }
  free(data);
  free(scratch);
  free(in->data);
  free(out.data);
}

static void test_reductions_keep_the_order_of_the_reference(void **state) {
  (void)state;
  static const shape shapes[] = {
      {0, {0}},         {1, {1}},          {1, {5}},          {1, {64}},      {1, {65}},       {1, {100}},
      {1, {2048}},      {1, {4096}},       {1, {4097}},       {1, {30000}},   {2, {3, 70}},    {2, {300, 5}},
      {2, {129, 7}},    {2, {1, 200}},     {2, {200, 1}},     {2, {2, 5000}}, {3, {4, 1, 50}}, {3, {3, 5, 7}},
      {3, {10, 3, 70}}, {4, {2, 3, 4, 5}}, {4, {5, 1, 1, 9}}, {3, {0, 3, 4}}, {3, {3, 0, 4}},  {5, {2, 3, 2, 3, 2}},
      {2, {3, 600}},    {2, {600, 3}},     {3, {2, 130, 3}},
  };
  static const aj_op ops[] = {AJ_OP_REDUCE_SUM, AJ_OP_REDUCE_PROD, AJ_OP_REDUCE_MIN, AJ_OP_REDUCE_MAX, AJ_OP_REDUCE};
  tk_random random = {3};
  for (int k = 0; k < 10; k++) {
    op_now = ops[k % 5];
    dtype_now = k < 5 ? ARRJIT_F32 : ARRJIT_F64;
    for (size_t i = 0; i < TK_COUNT(shapes); i++) {
      sem_fixture f;
      sem_begin(&f);
      for (unsigned axes = 0; axes < 1u << shapes[i].rank; axes++) check_reduce(&f, &shapes[i], axes, &random);
      sem_end(&f);
    }
  }
}

/* Two tables of loops, one result: the fold of a block and the chain of a product. */
static void test_both_builds_fold_alike(void **state) {
  (void)state;
#ifdef AJ_HAVE_LOOPS_AVX2
  if (aj_loops_here() == &aj_loops_base) skip();
  static _Alignas(16) char x[4096 * 8], y[4096 * 8];
  tk_random random = {9};
  for (int dtype = 1; dtype < AJ_DTYPE_COUNT; dtype++) {
    for (size_t n = 1; n <= 64 * aj_reduce_lanes((arrjit_dtype)dtype); n = n < 140 ? n + 1 : n * 2 - 77) {
      for (size_t i = 0; i < n; i++) {
        sem_random(&random, (arrjit_dtype)dtype, x + i * aj_dtypes[dtype].bytes);
        sem_random(&random, (arrjit_dtype)dtype, y + i * aj_dtypes[dtype].bytes);
      }
      char a[64 * 8] = {0}, b[64 * 8] = {0};
      for (int op = 0; op < AJ_FOLD_COUNT; op++) {
        assert_int_equal(aj_loops_base.folds[op][dtype] == NULL, aj_loops_avx2.folds[op][dtype] == NULL);
        if (!aj_loops_base.folds[op][dtype]) continue;
        aj_loops_base.folds[op][dtype](n, a, x);
        aj_loops_avx2.folds[op][dtype](n, b, x);
        assert_memory_equal(a, b, sizeof a);
      }
      if (!aj_loops_base.dot_lanes[dtype]) continue;
      aj_loops_base.dot_lanes[dtype](n, a, x, y);
      aj_loops_avx2.dot_lanes[dtype](n, b, x, y);
      assert_memory_equal(a, b, sizeof a);
      size_t columns = n < 64 ? n : 64, rows = n / columns;
      aj_loops_base.dot_chains[dtype](rows, columns, a, x, y, columns, false);
      aj_loops_avx2.dot_chains[dtype](rows, columns, b, x, y, columns, false);
      assert_memory_equal(a, b, sizeof a);
    }
  }
#else
  skip();
#endif
}

/* ---- integers and bool: any order, so plain loops ---- */
static int64_t load_int(arrjit_dtype d, const char *p) {
  int64_t r = 0;
  const void *in[] = {p};
  aj_sem_loop(AJ_OP_CONVERT, d, ARRJIT_I64)(1, &r, in);
  return r;
}
static void test_integer_reductions_wrap(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  tk_random random = {4};
  const int64_t dims[] = {3, 150};
  for (int op = AJ_OP_REDUCE_SUM; op <= AJ_OP_REDUCE_OR; op++) {
    static const aj_op combiners[] = {AJ_OP_ADD, AJ_OP_MUL, AJ_OP_MIN, AJ_OP_MAX, AJ_OP_AND, AJ_OP_OR};
    for (int dtype = 1; dtype < ARRJIT_F32; dtype++) {
      if (!(aj_ops[op].dtypes >> dtype & 1)) continue;
      for (int64_t axis = 0; axis < 2; axis++) {
        const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, 1, &axis);
        aj_value *x = sem_param(&f, (arrjit_dtype)dtype, 2, dims);
        const aj_node *node = sem_node(&f, (aj_op)op, 1, &x, 1, &attr);
        aj_view in = sem_array(x->type, f.env, NULL), out;
        size_t bytes = aj_dtypes[dtype].bytes;
        for (int i = 0; i < 450; i++) sem_random(&random, (arrjit_dtype)dtype, in.data + (size_t)i * bytes);
        assert_int_equal(sem_run(&f, node, &in, &out), AJ_SEM_OK);
        for (int64_t o = 0; o < out.dims[0]; o++) {
          char sum[8] = {0}, empty[8];
          aj_reduce_identity((aj_op)op, (arrjit_dtype)dtype, sum, empty);
          for (int64_t k = 0; k < dims[axis]; k++) {
            const void *p[] = {sum, in.data + (size_t)(axis == 1 ? o * 150 + k : k * 150 + o) * bytes};
            aj_sem_loop(combiners[op - AJ_OP_REDUCE_SUM], (arrjit_dtype)dtype, (arrjit_dtype)dtype)(1, sum, p);
          }
          assert_memory_equal(sum, out.data + (size_t)o * bytes, bytes);
        }
        free(in.data);
        free(out.data);
      }
    }
  }
  sem_end(&f);
}

static void test_empty_reductions_give_the_identity(void **state) {
  (void)state;
  static const struct {
    aj_op op;
    arrjit_dtype dtype;
    int64_t want;
  } rows[] = {
      {AJ_OP_REDUCE_SUM, ARRJIT_I32, 0},          {AJ_OP_REDUCE_PROD, ARRJIT_U8, 1},
      {AJ_OP_REDUCE_MIN, ARRJIT_I8, INT8_MAX},    {AJ_OP_REDUCE_MAX, ARRJIT_I8, INT8_MIN},
      {AJ_OP_REDUCE_MIN, ARRJIT_I64, INT64_MAX},  {AJ_OP_REDUCE_MAX, ARRJIT_I64, INT64_MIN},
      {AJ_OP_REDUCE_MIN, ARRJIT_U16, UINT16_MAX}, {AJ_OP_REDUCE_MAX, ARRJIT_U16, 0},
      {AJ_OP_REDUCE_MIN, ARRJIT_BOOL, 1},         {AJ_OP_REDUCE_MAX, ARRJIT_BOOL, 0},
      {AJ_OP_REDUCE_AND, ARRJIT_BOOL, 1},         {AJ_OP_REDUCE_OR, ARRJIT_BOOL, 0},
      {AJ_OP_REDUCE_AND, ARRJIT_U32, UINT32_MAX}, {AJ_OP_REDUCE_AND, ARRJIT_I32, -1},
  };
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    char start[8] = {0}, empty[8] = {0};
    aj_reduce_identity(rows[i].op, rows[i].dtype, start, empty);
    assert_int_equal(load_int(rows[i].dtype, start), rows[i].want);
    assert_int_equal(load_int(rows[i].dtype, empty), rows[i].want);
  }
  float start, empty;
  aj_reduce_identity(AJ_OP_REDUCE_SUM, ARRJIT_F32, &start, &empty);
  assert_int_equal(f32_bits(start), 0x80000000u);
  assert_int_equal(f32_bits(empty), 0);
  aj_reduce_identity(AJ_OP_REDUCE_MAX, ARRJIT_F32, &start, &empty);
  assert_true(start == -INFINITY && empty == -INFINITY);
}

/* ---- products ---- */
typedef struct product {
  const char *name;
  shape lhs, rhs;
  int64_t batch, contract; /* how many of each */
  int64_t lhs_batch[2], rhs_batch[2], lhs_contract[2], rhs_contract[2];
  bool chains; /* the rule that must apply */
} product;

static int64_t list_free(const shape *s, const int64_t *batch, int64_t nb, const int64_t *contract, int64_t nc,
                         int64_t *out) {
  int64_t n = 0;
  for (int32_t i = 0; i < s->rank; i++) {
    bool taken = false;
    for (int64_t k = 0; k < nb; k++) taken = taken || batch[k] == i;
    for (int64_t k = 0; k < nc; k++) taken = taken || contract[k] == i;
    if (!taken) out[n++] = i;
  }
  return n;
}
static void check_product(const product *p, tk_random *random) {
  sem_fixture f;
  sem_begin(&f);
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_LHS_BATCH, (size_t)p->batch, p->lhs_batch),
                           aj_attr_ints(AJ_ATTR_RHS_BATCH, (size_t)p->batch, p->rhs_batch),
                           aj_attr_ints(AJ_ATTR_LHS_CONTRACT, (size_t)p->contract, p->lhs_contract),
                           aj_attr_ints(AJ_ATTR_RHS_CONTRACT, (size_t)p->contract, p->rhs_contract)};
  aj_value *operands[] = {sem_param(&f, dtype_now, p->lhs.rank, p->lhs.dims),
                          sem_param(&f, dtype_now, p->rhs.rank, p->rhs.dims)};
  const aj_node *node = sem_node(&f, AJ_OP_DOT, 2, operands, 4, attrs);
  size_t bytes = aj_dtypes[dtype_now].bytes;
  double *data[2];
  aj_view in[2], out;
  for (int k = 0; k < 2; k++) {
    int64_t n = count_of(k == 0 ? &p->lhs : &p->rhs);
    data[k] = tk_new((size_t)n + 1, sizeof *data[k]);
    random_floats(random, tk_chance(random, 70), data[k], n);
    in[k] = sem_array(operands[k]->type, f.env, NULL);
    for (int64_t i = 0; i < n; i++) {
      float single = (float)data[k][i];
      memcpy(in[k].data + (size_t)i * bytes, bytes == 4 ? (const void *)&single : (const void *)&data[k][i], bytes);
    }
  }
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_OK);
  int64_t lhs_free[5], rhs_free[5];
  int64_t nl = list_free(&p->lhs, p->lhs_batch, p->batch, p->lhs_contract, p->contract, lhs_free);
  int64_t nr = list_free(&p->rhs, p->rhs_batch, p->batch, p->rhs_contract, p->contract, rhs_free);
  int64_t m = extent_of(&p->lhs, lhs_free, nl), n = extent_of(&p->rhs, rhs_free, nr),
          k = extent_of(&p->lhs, p->lhs_contract, p->contract);
  double *x = tk_new((size_t)k + 1, sizeof *x), *y = tk_new((size_t)k + 1, sizeof *y);
  for (int64_t o = 0; o < aj_view_count(&out); o++) {
    int64_t li[5] = {0}, ri[5] = {0};
    unravel(&p->lhs, p->lhs_batch, p->batch, o / (m * n), li);
    unravel(&p->rhs, p->rhs_batch, p->batch, o / (m * n), ri);
    unravel(&p->lhs, lhs_free, nl, o / n % m, li);
    unravel(&p->rhs, rhs_free, nr, o % n, ri);
    double chain = 0;
    for (int64_t i = 0; i < k; i++) {
      unravel(&p->lhs, p->lhs_contract, p->contract, i, li);
      unravel(&p->rhs, p->rhs_contract, p->contract, i, ri);
      x[i] = data[0][flat_index(&p->lhs, li)];
      y[i] = data[1][flat_index(&p->rhs, ri)];
      chain = dtype_now == ARRJIT_F32 ? (double)fmaf((float)x[i], (float)y[i], (float)chain) : fma(x[i], y[i], chain);
    }
    tree t = {.full = {false}};
    push_lanes(&t, x, y, k);
    char want[8];
    store(p->chains || k == 0 ? chain : finish(&t), want);
    if (memcmp(want, out.data + (size_t)o * bytes, bytes) != 0) fail_msg("%s: output %d differs", p->name, (int)o);
  }
  free(x);
  free(y);
  for (int i = 0; i < 2; i++) {
    free(data[i]);
    free(in[i].data);
  }
  free(out.data);
  sem_end(&f);
}

static const product products[] = {
    {"square", {2, {33, 40}}, {2, {40, 70}}, 0, 1, {0}, {0}, {1}, {0}, true},
    {"wide, one row", {2, {1, 40}}, {2, {40, 16}}, 0, 1, {0}, {0}, {1}, {0}, true},
    {"narrow", {2, {40, 5000}}, {2, {5000, 3}}, 0, 1, {0}, {0}, {1}, {0}, false},
    {"narrow, 15 columns", {2, {40, 9}}, {2, {9, 15}}, 0, 1, {0}, {0}, {1}, {0}, false},
    {"narrow, lhs turned", {2, {50, 40}}, {2, {50, 3}}, 0, 1, {0}, {0}, {0}, {0}, true},
    {"narrow, few rows turned", {2, {50, 15}}, {2, {50, 3}}, 0, 1, {0}, {0}, {0}, {0}, false},
    {"rhs turned", {2, {20, 30}}, {2, {17, 30}}, 0, 1, {0}, {0}, {1}, {1}, true},
    {"vectors", {1, {9000}}, {1, {9000}}, 0, 1, {0}, {0}, {0}, {0}, false},
    {"outer", {1, {5}}, {1, {20}}, 0, 0, {0}, {0}, {0}, {0}, true},
    {"outer, narrow", {1, {20}}, {1, {5}}, 0, 0, {0}, {0}, {0}, {0}, true},
    {"empty contraction", {2, {3, 0}}, {2, {0, 4}}, 0, 1, {0}, {0}, {1}, {0}, false},
    {"empty result", {2, {0, 3}}, {2, {3, 4}}, 0, 1, {0}, {0}, {1}, {0}, false},
    {"batch", {3, {3, 4, 5}}, {3, {3, 5, 20}}, 1, 1, {0}, {0}, {2}, {1}, true},
    {"batch last", {3, {4, 5, 3}}, {3, {5, 7, 3}}, 1, 1, {2}, {2}, {1}, {0}, false},
    {"two contracted, in another order", {3, {4, 5, 6}}, {3, {5, 6, 2}}, 0, 2, {0}, {0}, {2, 1}, {1, 0}, false},
    {"two batches", {4, {2, 3, 4, 5}}, {4, {3, 2, 5, 17}}, 2, 1, {0, 1}, {1, 0}, {3}, {2}, true},
};
static void test_products_follow_the_rule_of_their_types(void **state) {
  (void)state;
  tk_random random = {8};
  op_now = AJ_OP_REDUCE_SUM;
  for (int d = 0; d < 2; d++) {
    dtype_now = d == 0 ? ARRJIT_F32 : ARRJIT_F64;
    for (size_t i = 0; i < TK_COUNT(products); i++)
      for (int round = 0; round < 3; round++) check_product(&products[i], &random);
  }
}

static void test_integer_products_wrap(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  tk_random random = {6};
  const int64_t a[] = {5, 7}, b[] = {7, 18}, one = 1, zero = 0;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_LHS_BATCH, 0, NULL), aj_attr_ints(AJ_ATTR_RHS_BATCH, 0, NULL),
                           aj_attr_ints(AJ_ATTR_LHS_CONTRACT, 1, &one), aj_attr_ints(AJ_ATTR_RHS_CONTRACT, 1, &zero)};
  aj_value *operands[] = {sem_param(&f, ARRJIT_I16, 2, a), sem_param(&f, ARRJIT_I16, 2, b)};
  const aj_node *node = sem_node(&f, AJ_OP_DOT, 2, operands, 4, attrs);
  aj_view in[2] = {sem_array(operands[0]->type, f.env, NULL), sem_array(operands[1]->type, f.env, NULL)}, out;
  int16_t *x = (int16_t *)(void *)in[0].data, *y = (int16_t *)(void *)in[1].data;
  for (int i = 0; i < 35; i++) sem_random(&random, ARRJIT_I16, &x[i]);
  for (int i = 0; i < 7 * 18; i++) sem_random(&random, ARRJIT_I16, &y[i]);
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_OK);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 18; j++) {
      uint32_t sum = 0;
      for (int k = 0; k < 7; k++) sum += (uint32_t)x[i * 7 + k] * (uint32_t)y[k * 18 + j];
      assert_int_equal(((int16_t *)(void *)out.data)[i * 18 + j], (int16_t)sum);
    }
  }
  free(in[0].data);
  free(in[1].data);
  free(out.data);
  sem_end(&f);
}

/* A symbolic free extent counts as 16 or more, whatever it is when it runs. */
static void test_symbolic_extents_take_the_chain_rule(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  enum { K = 200 };
  const int64_t n = aj_symbol_named(f.b.func, "n"), a[] = {1, K}, b[] = {K, n}, one = 1, zero = 0;
  f.env[aj_dim_symbol(n)] = 1;
  const aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_LHS_BATCH, 0, NULL), aj_attr_ints(AJ_ATTR_RHS_BATCH, 0, NULL),
                           aj_attr_ints(AJ_ATTR_LHS_CONTRACT, 1, &one), aj_attr_ints(AJ_ATTR_RHS_CONTRACT, 1, &zero)};
  aj_value *operands[] = {sem_param(&f, ARRJIT_F64, 2, a), sem_param(&f, ARRJIT_F64, 2, b)};
  const aj_node *node = sem_node(&f, AJ_OP_DOT, 2, operands, 4, attrs);
  aj_view in[2] = {sem_array(operands[0]->type, f.env, NULL), sem_array(operands[1]->type, f.env, NULL)}, out;
  double chain = 0;
  for (int i = 0; i < K; i++) {
    double x = 1.0 / (i + 3), y = 1.0 / (7 * i + 1);
    memcpy(in[0].data + i * 8, &x, 8);
    memcpy(in[1].data + i * 8, &y, 8);
    chain = fma(x, y, chain);
  }
  assert_int_equal(sem_run(&f, node, in, &out), AJ_SEM_OK);
  assert_memory_equal(out.data, &chain, 8);
  free(in[0].data);
  free(in[1].data);
  free(out.data);
  sem_end(&f);
}

static bool stop_at_once(void *user) { return ++*(int *)user > 0; }
static void test_a_poll_stops_long_work(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const int64_t dims[] = {1000, 1000};
  aj_value *x = sem_param(&f, ARRJIT_F32, 2, dims);
  aj_view in = sem_array(x->type, f.env, NULL);
  memset(in.data, 0, aj_view_bytes(&in));
  for (int64_t axis = 0; axis < 2; axis++) {
    const aj_attr attr = aj_attr_ints(AJ_ATTR_AXES, 1, &axis);
    const aj_node *node = sem_node(&f, AJ_OP_REDUCE_SUM, 1, &x, 1, &attr);
    aj_view out = sem_array(node->results[0].type, f.env, NULL);
    int calls = 0;
    aj_sem_call call = {.node = node,
                        .env = f.env,
                        .in = &in,
                        .out = &out,
                        .mem = &f.mem,
                        .cache = f.cache,
                        .fail = &f.fail,
                        .poll = stop_at_once,
                        .poll_user = &calls};
    assert_int_equal(aj_sem_run(&call), AJ_SEM_STOPPED);
    assert_int_equal(calls, 1);
    free(out.data);
  }
  free(in.data);
  sem_end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reductions_keep_the_order_of_the_reference),
    cmocka_unit_test(test_both_builds_fold_alike),
    cmocka_unit_test(test_integer_reductions_wrap),
    cmocka_unit_test(test_empty_reductions_give_the_identity),
    cmocka_unit_test(test_products_follow_the_rule_of_their_types),
    cmocka_unit_test(test_integer_products_wrap),
    cmocka_unit_test(test_symbolic_extents_take_the_chain_rule),
    cmocka_unit_test(test_a_poll_stops_long_work),
};
TEST_MAIN(tests, NULL, NULL)
