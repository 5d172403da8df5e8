/* What the tests of sem share: a module to build nodes in, arrays to run them on, bits to compare. */
#ifndef TU_SEM_FIXTURE_H
#define TU_SEM_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base.h"
#include "floats.h"
#include "sem/loops.h"
#include "test_main.h"

typedef struct sem_fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_mem mem;
  aj_kinds *kinds;
  aj_module *module;
  aj_builder b;
  aj_sem_cache *cache;
  aj_sem_fail fail;
  int64_t env[16];
} sem_fixture;

static inline void sem_begin(sem_fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  aj_mem_init(&f->mem, &f->host);
  f->kinds = aj_kinds_create(&f->mem);
  f->module = aj_module_create(&f->mem, f->kinds);
  aj_builder_init(&f->b, f->module);
  f->b.func = aj_module_add_func(f->module, "main", 0, NULL, 0, NULL);
  f->b.func->root = f->b.region = aj_region_create(f->b.func, NULL, 0);
  f->cache = aj_sem_cache_create(&f->mem);
  assert_non_null(f->cache);
}

static inline void sem_end(sem_fixture *f) {
  aj_sem_cache_destroy(f->cache);
  aj_module_destroy(f->module);
  aj_kinds_release(f->kinds);
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static inline aj_value *sem_param(sem_fixture *f, arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  return aj_region_add_param(f->b.region, aj_module_type(f->module, dtype, rank, dims));
}

static inline const aj_node *sem_node(sem_fixture *f, aj_op op, uint32_t operand_count, aj_value *const *operands,
                                      uint32_t attr_count, const aj_attr *attrs) {
  const aj_node *node = aj_build(&f->b, op, operand_count, operands, attr_count, attrs);
  if (node == NULL) fail_msg("%s: %s", aj_ops[op].name, f->b.error.message);
  return node;
}

/* A dense view with the type's shape over memory from the heap of its exact size, so that ASan sees what leaves it. */
static inline aj_view sem_array(const aj_type *type, const int64_t *env, const void *data) {
  aj_view view;
  assert_true(aj_view_from_type(&view, type, env));
  size_t bytes = aj_view_bytes(&view);
  view.data = malloc(bytes ? bytes : 1);
  if (data) memcpy(view.data, data, bytes);
  return view;
}

/* The node's result for dense operands; the caller frees out->data. fixture.fail has the failure. */
static inline aj_sem_status sem_run(sem_fixture *f, const aj_node *node, const aj_view *in, aj_view *out) {
  *out = sem_array(node->results[0].type, f->env, NULL);
  memset(out->data, 0xa5, aj_view_bytes(out));
  f->fail = (aj_sem_fail){.kind = ARRJIT_KIND_NONE};
  aj_sem_call call = {
      .node = node, .env = f->env, .in = in, .out = out, .mem = &f->mem, .cache = f->cache, .fail = &f->fail};
  return aj_sem_run(&call);
}

static inline float f32_of(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
static inline double f64_of(uint64_t u) {
  double x;
  memcpy(&x, &u, 8);
  return x;
}
static inline uint32_t f32_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static inline uint64_t f64_bits(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}
static inline float f32_canon(float x) { return x == x ? x : f32_of(0x7fc00000u); }
static inline double f64_canon(double x) { return x == x ? x : f64_of(0x7ff8000000000000u); }

/* A random element: one of the dtype's special values, a small number, or any bits. */
static inline void sem_random(tk_random *random, arrjit_dtype dtype, void *out) {
  if (aj_dtype_is_complex(dtype)) {
    arrjit_dtype part = aj_dtype_part(dtype);
    sem_random(random, part, out);
    sem_random(random, part, (char *)out + aj_dtypes[part].bytes);
    return;
  }
  static const double special[] = {
      0.0,    -0.0,   1.0,     -1.0,   0.5,           -0.5,         1.5,          2.5,    INFINITY, -INFINITY,
      NAN,    1e30,   3.0,     -7.0,   0x1p-1074,     0x1p-149,     127.9,        255.5,  0x1p31,   -0x1p31,
      0x1p32, 0x1p63, -0x1p63, 0x1p64, 0x1.fffffep30, 2147483647.0, 4294967295.0, -128.9, 65535.5};
  uint64_t word = tk_next(random);
  double d = special[tk_below(random, TK_COUNT(special))];
  if (tk_chance(random, 30)) d = (double)(int64_t)tk_below(random, 41) - 20;
  bool any = tk_chance(random, 40);
  if (dtype == ARRJIT_F64) {
    if (!any) word = f64_bits(d);
    memcpy(out, &word, 8);
  } else if (dtype == ARRJIT_F32) {
    uint32_t u = any ? (uint32_t)word : f32_bits((float)d);
    memcpy(out, &u, 4);
  } else if (aj_dtype_is_half(dtype)) {
    if (any)
      memcpy(out, &word, 2);
    else
      tk_store_float(dtype, d, out);
  } else if (dtype == ARRJIT_BOOL) {
    *(uint8_t *)out = word & 1;
  } else {
    uint32_t bits = aj_dtypes[dtype].bits;
    uint64_t top = (uint64_t)1 << (bits - 1);
    const uint64_t extremes[] = {0, 1, (uint64_t)-1, top, top - 1, top + 1, 2, bits, bits - 1, (uint64_t)-2};
    if (!any) word = tk_chance(random, 50) ? extremes[tk_below(random, TK_COUNT(extremes))] : tk_below(random, 41) - 20;
    memcpy(out, &word, bits / 8); /* little endian */
  }
}

#endif
