/* Block programs: the same as their nodes one by one, failures in order of node and lane, memory that fails, sharing.
 */
#include "sem_fixture.h"

enum { LANES = AJ_BLOCK };

static aj_value *build(sem_fixture *f, aj_op op, uint32_t count, aj_value *x, aj_value *y, aj_value *z) {
  return &((aj_node *)(uintptr_t)sem_node(f, op, count, (aj_value *[]){x, y, z}, 0, NULL))->results[0];
}
static aj_value *cast(sem_fixture *f, aj_op op, aj_value *x, arrjit_dtype dtype) {
  const aj_attr attr = aj_attr_int(AJ_ATTR_DTYPE, (int64_t)dtype);
  return aj_build1(&f->b, op, 1, &x, 1, &attr);
}
static aj_program *finish(sem_fixture *f, uint32_t count, aj_value *const *yielded) {
  sem_node(f, AJ_OP_YIELD, count, yielded, 0, NULL);
  assert_true(aj_func_number(f->b.func));
  aj_program *program = aj_program_create(&f->mem, f->b.region);
  assert_non_null(program);
  return program;
}
/* Scratch at an odd multiple of 8, of the exact size. */
static size_t run(const aj_program *program, size_t n, const void *const *params, void *const *results,
                  const int64_t *const *indices, uint32_t *node) {
  char *scratch = malloc(aj_program_scratch_bytes(program) + 8);
  size_t done = aj_program_run(program, n, params, results, scratch + 8, indices, node);
  free(scratch);
  return done;
}

/* ---- random programs against their nodes ---- */
enum { PARAMS = 4, NODES = 40 };
static const arrjit_dtype param_dtypes[PARAMS] = {ARRJIT_F64, ARRJIT_F32, ARRJIT_I32, ARRJIT_U8};

/* Other ops of complex numbers are none any more when a program is made. */
static bool is_split(aj_op op, arrjit_dtype in) {
  return aj_dtype_is_complex(in) && op != AJ_OP_REAL && op != AJ_OP_IMAG && op != AJ_OP_SELECT && op != AJ_OP_BITCAST;
}

static aj_value *pick(tk_random *random, aj_value *const *values, size_t count, arrjit_dtype dtype) {
  for (int tries = 0; tries < 60; tries++) {
    aj_value *v = values[tk_below(random, count)];
    if (dtype == ARRJIT_DTYPE_NONE || v->type->dtype == dtype) return v;
  }
  return NULL;
}

static aj_value *add_random_node(sem_fixture *f, tk_random *random, aj_value *const *values, size_t count) {
  for (;;) {
    aj_op op = (aj_op)(1 + tk_below(random, AJ_OP_COUNT - 1));
    aj_value *x = pick(random, values, count, ARRJIT_DTYPE_NONE), *y, *z;
    if (op == AJ_OP_CONST) {
      char element[AJ_ELEMENT_BYTES];
      sem_random(random, x->type->dtype, element);
      return aj_build_scalar(&f->b, x->type->dtype, element);
    }
    bool function = aj_ops[op].routine == AJ_ROUTINE_EXPAND && op != AJ_OP_MEAN;
    if ((aj_ops[op].routine != AJ_ROUTINE_SCALAR && !function) || (aj_ops[op].flags & AJ_F_RAISES)) continue;
    if (aj_ops[op].rule == AJ_R_BITCAST) {
      arrjit_dtype to = (arrjit_dtype)(1 + tk_below(random, AJ_DTYPE_COUNT - 1));
      if (aj_sem_loop(op, x->type->dtype, to)) return cast(f, op, x, to);
      continue;
    }
    if (is_split(op, x->type->dtype)) continue;
    if (aj_ops[op].rule == AJ_R_CONVERT) return cast(f, op, x, (arrjit_dtype)(1 + tk_below(random, ARRJIT_BF16)));
    if (op == AJ_OP_SELECT) {
      aj_value *pred = pick(random, values, count, ARRJIT_BOOL);
      if (pred && (y = pick(random, values, count, x->type->dtype))) return build(f, op, 3, pred, x, y);
      continue;
    }
    if (!(aj_ops[op].dtypes >> x->type->dtype & 1)) continue;
    y = pick(random, values, count, x->type->dtype);
    z = pick(random, values, count, x->type->dtype);
    if (y && z) return build(f, op, aj_ops[op].min_operands, x, y, z);
  }
}

/* One node over all lanes, its operands being whole blocks. */
static void run_node(sem_fixture *f, const aj_node *node, char *const *blocks, char *out) {
  const void *in[3];
  for (uint32_t k = 0; k < node->operand_count; k++) in[k] = blocks[node->operands[k]->slot];
  arrjit_dtype to = node->results[0].type->dtype;
  if (node->op == AJ_OP_CONST) {
    aj_view_fill(out, LANES, aj_node_attr(node, AJ_ATTR_VALUE)->u.bytes, aj_dtypes[to].bytes);
  } else if (aj_ops[node->op].routine == AJ_ROUTINE_EXPAND) {
    void *results[] = {out};
    assert_int_equal(run(aj_sem_cache_get(f->cache, node->op, to), LANES, in, results, NULL, NULL), LANES);
  } else {
    aj_loop *loop = aj_sem_loop(node->op, node->operands[node->op == AJ_OP_SELECT]->type->dtype, to);
    assert_int_equal(loop(LANES, out, in), LANES);
  }
}

static void check_random_program(uint64_t seed) {
  static const size_t lengths[] = {1, 3, 255, 256, 257, 1000, LANES};
  sem_fixture f;
  sem_begin(&f);
  tk_random random = {seed};
  aj_value *values[PARAMS + NODES], *yielded[6];
  for (uint32_t i = 0; i < PARAMS; i++) values[i] = sem_param(&f, param_dtypes[i], 0, NULL);
  for (uint32_t i = 0; i < NODES; i++) values[PARAMS + i] = add_random_node(&f, &random, values, PARAMS + i);
  for (uint32_t i = 0; i < 6; i++)
    yielded[i] = values[i < 3 ? PARAMS + NODES - 1 - i : tk_below(&random, PARAMS + NODES)];
  aj_program *program = finish(&f, 6, yielded);
  char *blocks[PARAMS + NODES], *got[6];
  for (uint32_t i = 0; i < PARAMS + NODES; i++) blocks[i] = tk_new(LANES, AJ_ELEMENT_BYTES);
  for (uint32_t i = 0; i < PARAMS; i++)
    for (size_t k = 0; k < LANES; k++)
      sem_random(&random, param_dtypes[i], blocks[i] + k * aj_dtypes[param_dtypes[i]].bytes);
  for (uint32_t i = 0; i < NODES; i++) run_node(&f, values[PARAMS + i]->def, blocks, blocks[values[PARAMS + i]->slot]);
  for (size_t l = 0; l < TK_COUNT(lengths); l++) {
    for (int i = 0; i < 6; i++) got[i] = malloc(lengths[l] * aj_dtypes[yielded[i]->type->dtype].bytes);
    assert_int_equal(run(program, lengths[l], (const void *const *)blocks, (void *const *)got, NULL, NULL), lengths[l]);
    for (int i = 0; i < 6; i++) {
      assert_memory_equal(got[i], blocks[yielded[i]->slot], lengths[l] * aj_dtypes[yielded[i]->type->dtype].bytes);
      free(got[i]);
    }
  }
  for (uint32_t i = 0; i < PARAMS + NODES; i++) free(blocks[i]);
  aj_program_destroy(program);
  sem_end(&f);
}
static void test_programs_do_what_their_nodes_do(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 150; seed++) check_random_program(seed);
}

/* ---- failures ---- */
static void test_the_failure_is_the_least_by_node_then_lane(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_value *x = sem_param(&f, ARRJIT_I32, 0, NULL), *y = sem_param(&f, ARRJIT_I32, 0, NULL);
  aj_value *sum = build(&f, AJ_OP_CHECKED_ADD, 2, x, y, NULL);
  aj_value *quotient = build(&f, AJ_OP_CHECKED_DIV, 2, sum, y, NULL);
  build(&f, AJ_OP_CHECKED_SHL, 2, x, y, NULL); /* nobody uses it, but it may fail */
  aj_program *program = finish(&f, 1, &quotient);
  static int32_t a[LANES], b[LANES], r[LANES];
  const void *params[] = {a, b};
  void *results[] = {r};
  uint32_t node = 99;
  for (int i = 0; i < LANES; i++) a[i] = i, b[i] = 1 + i % 20;
  assert_int_equal(run(program, LANES, params, results, NULL, &node), LANES);
  for (int i = 0; i < LANES; i++) assert_int_equal(r[i], (a[i] + b[i]) / b[i]);
  b[900] = 40; /* shift by too much */
  assert_int_equal(run(program, LANES, params, results, NULL, &node), 900);
  assert_int_equal(node, 2);
  b[700] = 0; /* an earlier node, and lane */
  assert_int_equal(run(program, LANES, params, results, NULL, &node), 700);
  assert_int_equal(node, 1);
  a[1000] = INT32_MAX; /* the first node, in a later lane: it comes before both */
  assert_int_equal(run(program, LANES, params, results, NULL, &node), 1000);
  assert_int_equal(node, 0);
  a[999] = INT32_MAX;
  assert_int_equal(run(program, LANES, params, results, NULL, NULL), 999);
  assert_int_equal(run(program, 700, params, results, NULL, NULL), 700);
  aj_program_destroy(program);
  sem_end(&f);
}

/* ---- lane indices, results that are no step's ---- */
static void test_lane_index_reads_the_index_blocks(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const aj_attr axes[] = {aj_attr_int(AJ_ATTR_AXIS, 0), aj_attr_int(AJ_ATTR_AXIS, 2)};
  aj_value *i = aj_build1(&f.b, AJ_OP_LANE_INDEX, 0, NULL, 1, &axes[0]);
  aj_value *k = aj_build1(&f.b, AJ_OP_LANE_INDEX, 0, NULL, 1, &axes[1]);
  aj_value *yielded[] = {build(&f, AJ_OP_SUB, 2, i, k, NULL), k};
  aj_program *program = finish(&f, 2, yielded);
  static int64_t rows[LANES], columns[LANES], r[2][LANES];
  for (int64_t l = 0; l < LANES; l++) rows[l] = l * 3, columns[l] = l % 7;
  const int64_t *indices[] = {rows, NULL, columns};
  void *results[] = {r[0], r[1]};
  assert_int_equal(run(program, LANES, NULL, results, indices, NULL), LANES);
  for (int64_t l = 0; l < LANES; l++) {
    assert_int_equal(r[0][l], rows[l] - columns[l]);
    assert_int_equal(r[1][l], columns[l]);
  }
  aj_program_destroy(program);
  sem_end(&f);
}

static void test_params_constants_and_twins_can_be_results(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  const float half = 0.5f;
  aj_value *x = sem_param(&f, ARRJIT_F32, 0, NULL), *c = aj_build_scalar(&f.b, ARRJIT_F32, &half);
  aj_value *bits = cast(&f, AJ_OP_BITCAST, x, ARRJIT_I32), *neg = build(&f, AJ_OP_NEG, 1, x, NULL, NULL);
  aj_value *yielded[] = {x, c, bits, neg, neg, cast(&f, AJ_OP_BITCAST, neg, ARRJIT_U32)};
  aj_program *program = finish(&f, 6, yielded);
  float in[300], r[6][300];
  for (int i = 0; i < 300; i++) in[i] = (float)i;
  const void *params[] = {in};
  void *results[] = {r[0], r[1], r[2], r[3], r[4], r[5]};
  assert_int_equal(run(program, 300, params, results, NULL, NULL), 300);
  for (int i = 0; i < 300; i++) {
    assert_true(r[0][i] == in[i] && r[1][i] == 0.5f && r[2][i] == in[i] && r[3][i] == -in[i] && r[4][i] == -in[i] &&
                r[5][i] == -in[i]);
  }
  aj_program_destroy(program);
  sem_end(&f);
}

/* ---- memory ---- */
static void test_creation_survives_every_failing_allocation(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  aj_value *x = sem_param(&f, ARRJIT_F32, 0, NULL);
  aj_value *y = build(&f, AJ_OP_EXP, 1, x, NULL, NULL);
  aj_program *program = finish(&f, 1, (aj_value *[]){build(&f, AJ_OP_ADD, 2, y, x, NULL)});
  aj_program_destroy(program);
  int64_t live = atomic_load(&f.alloc.live_bytes);
  int points = 0;
  for (program = NULL; program == NULL; points++) {
    tk_alloc_arm(&f.alloc, points + 1);
    program = aj_program_create(&f.mem, f.b.region);
    if (program == NULL) assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
    assert_true(points < 1000);
  }
  tk_alloc_arm(&f.alloc, 0);
  aj_program_destroy(program);
  assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
  print_message("%d allocation points\n", points - 1);
  assert_true(points > 5);
  /* the cache: a failure leaves no half-made program behind */
  for (points = 0; points < 1000; points++) {
    tk_alloc_arm(&f.alloc, points + 1);
    if (aj_sem_cache_get(f.cache, AJ_OP_SIN, ARRJIT_F32) != NULL) break;
  }
  tk_alloc_arm(&f.alloc, 0);
  assert_true(points > 5 && points < 1000);
  assert_ptr_equal(aj_sem_cache_get(f.cache, AJ_OP_SIN, ARRJIT_F32), aj_sem_cache_get(f.cache, AJ_OP_SIN, ARRJIT_F32));
  sem_end(&f);
}

typedef struct reader {
  aj_sem_cache *cache;
  const aj_program *seen[10];
} reader;
static void *read_cache(void *user) {
  reader *r = user;
  for (int i = 0; i < 10; i++)
    r->seen[i] = aj_sem_cache_get(r->cache, (aj_op)(AJ_OP_EXP + i % 5), i < 5 ? ARRJIT_F32 : ARRJIT_F64);
  return NULL;
}
static void test_threads_share_one_program(void **state) {
  (void)state;
  sem_fixture f;
  sem_begin(&f);
  enum { THREADS = 4 };
  reader readers[THREADS];
  aj_thread threads[THREADS];
  for (int t = 0; t < THREADS; t++) {
    readers[t] = (reader){.cache = f.cache};
    assert_true(aj_thread_start(&threads[t], 0, read_cache, &readers[t]));
  }
  for (int t = 0; t < THREADS; t++) aj_thread_join(&threads[t]);
  for (int t = 1; t < THREADS; t++) assert_memory_equal(readers[t].seen, readers[0].seen, sizeof readers[0].seen);
  sem_end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_programs_do_what_their_nodes_do),
    cmocka_unit_test(test_the_failure_is_the_least_by_node_then_lane),
    cmocka_unit_test(test_lane_index_reads_the_index_blocks),
    cmocka_unit_test(test_params_constants_and_twins_can_be_results),
    cmocka_unit_test(test_creation_survives_every_failing_allocation),
    cmocka_unit_test(test_threads_share_one_program),
};
TEST_MAIN(tests, NULL, NULL)
