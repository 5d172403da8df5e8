/* How two elements are combined, for slow transcriptions of src/sem/README.md: the ops, and a combiner of a host's. */
#ifndef TU_FOLD_RULES_H
#define TU_FOLD_RULES_H

#include "sem_fixture.h"

/* ---- the rules, one element at a time. f32 values are held in doubles; each operation rounds to the dtype ---- */
static arrjit_dtype dtype_now;
static aj_op op_now;
static inline uint32_t lanes_now(void) { return dtype_now == ARRJIT_F64 ? 32 : 64; }
static inline double rounded(double x) { return dtype_now == ARRJIT_F32 ? (double)(float)x : x; }

/* A combiner of the host has no identity: this stands for no value at all. */
static inline double nothing(void) {
  const uint64_t bits = UINT64_C(0x7ff4dead00000000);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline bool is_nothing(double x) {
  const double none = nothing();
  return memcmp(&x, &none, sizeof x) == 0;
}

static inline double identity(void) {
  switch ((int)op_now) {
  case AJ_OP_REDUCE: return nothing();
  case AJ_OP_REDUCE_PROD: return 1;
  case AJ_OP_REDUCE_MIN: return INFINITY;
  case AJ_OP_REDUCE_MAX: return -INFINITY;
  default: return -0.0;
  }
}
static inline double combine(double x, double y) {
  switch ((int)op_now) {
  case AJ_OP_REDUCE:
    if (is_nothing(x)) return y;
    return is_nothing(y) ? x : rounded(rounded(x * -0.75) + y); /* neither associative nor commutative */
  case AJ_OP_REDUCE_PROD: return rounded(x * y);
  case AJ_OP_REDUCE_MIN: return x != x || y != y ? NAN : x < y || (x == y && signbit(x)) ? x : y;
  case AJ_OP_REDUCE_MAX: return x != x || y != y ? NAN : x > y || (x == y && !signbit(x)) ? x : y;
  default: return rounded(x + y); /* an f32 sum in double, rounded again, is the f32 sum */
  }
}

#define INIT 0.625

typedef struct shape {
  int32_t rank;
  int64_t dims[5];
} shape;
static inline int64_t count_of(const shape *s) {
  int64_t n = 1;
  for (int32_t i = 0; i < s->rank; i++) n *= s->dims[i];
  return n;
}

/* ---- inputs and nodes ---- */

static inline void store(double x, char *out) {
  float f = f32_canon((float)x);
  x = f64_canon(x);
  if (dtype_now == ARRJIT_F32)
    memcpy(out, &f, 4);
  else
    memcpy(out, &x, 8);
}

static inline void random_floats(tk_random *random, bool tame, double *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    char bits[8];
    float f;
    x[i] = (double)(int64_t)(tk_next(random) >> 11) * 0x1p-52 - 1;
    if (dtype_now == ARRJIT_F32) x[i] = (double)(float)x[i];
    if (op_now == AJ_OP_REDUCE_PROD) x[i] = rounded(1 + x[i] * 0.01);
    if (tame || !tk_chance(random, 3)) continue;
    sem_random(random, dtype_now, bits);
    memcpy(&f, bits, 4);
    if (dtype_now == ARRJIT_F32)
      x[i] = (double)f;
    else
      memcpy(&x[i], bits, 8);
  }
}

static inline aj_value *constant(sem_fixture *f, double x) {
  const float single = (float)x;
  return aj_build_scalar(&f->b, dtype_now, dtype_now == ARRJIT_F32 ? (const void *)&single : (const void *)&x);
}

/* older * -0.75 + newer, the factor from outside; for reduce also the init. */
static inline const aj_node *combiner_node(sem_fixture *f, aj_op op, aj_value *x, uint32_t attr_count,
                                           const aj_attr *own) {
  const aj_type *scalar = aj_module_type(f->module, dtype_now, 0, NULL);
  aj_region *outer = f->b.region, *region = aj_region_create(f->b.func, NULL, 0);
  aj_value *operands[] = {x, constant(f, INIT)}, *factor = constant(f, -0.75);
  aj_value *older = aj_region_add_param(region, scalar), *newer = aj_region_add_param(region, scalar);
  f->b.region = region;
  aj_value *scaled = aj_build1(&f->b, AJ_OP_MUL, 2, (aj_value *[]){older, factor}, 0, NULL);
  aj_value *both = aj_build1(&f->b, AJ_OP_ADD, 2, (aj_value *[]){scaled, newer}, 0, NULL);
  assert_non_null(aj_build(&f->b, AJ_OP_YIELD, 1, &both, 0, NULL));
  f->b.region = outer;
  aj_attr attrs[3] = {aj_attr_int(AJ_ATTR_ARGS, 1)};
  memcpy(attrs + 1, own, attr_count * sizeof *own);
  uint32_t count = op == AJ_OP_REDUCE ? 2 : 1;
  const aj_node *node = aj_build_regions(&f->b, op, count, operands, 1 + attr_count, attrs, 1, &region);
  if (node == NULL) fail_msg("%s: %s", aj_ops[op].name, f->b.error.message);
  assert_true(aj_func_number(f->b.func));
  return node;
}

#endif
