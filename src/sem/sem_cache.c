/* Programs of EXPAND ops over one element type, made on first use and shared by all runs of a context. */
#include "sem/expand.h"

typedef _Atomic(aj_program *) shared_program;
struct aj_sem_cache {
  aj_mem *mem;
  aj_mutex lock; /* held while a program is made; those that are there are read without it */
  shared_program programs[AJ_OP_COUNT][AJ_DTYPE_COUNT];
};

aj_sem_cache *aj_sem_cache_create(aj_mem *mem) {
  aj_sem_cache *cache = aj_mem_alloc(mem, sizeof *cache);
  if (cache == NULL) return NULL;
  cache->mem = mem;
  if (aj_mutex_init(&cache->lock)) return cache;
  aj_mem_free(mem, cache, sizeof *cache);
  return NULL;
}

void aj_sem_cache_destroy(aj_sem_cache *cache) {
  if (cache == NULL) return;
  for (int op = 0; op < AJ_OP_COUNT; op++)
    for (int dtype = 0; dtype < AJ_DTYPE_COUNT; dtype++) aj_program_destroy(atomic_load(&cache->programs[op][dtype]));
  aj_mutex_destroy(&cache->lock);
  aj_mem_free(cache->mem, cache, sizeof *cache);
}

/* A function of scalars that applies the op; the program keeps nothing of it. */
static aj_program *make_program(aj_mem *mem, aj_op op, arrjit_dtype dtype) {
  aj_module *module = aj_module_create(mem, NULL);
  if (module == NULL) return NULL;
  aj_program *program = NULL;
  const aj_type *type = aj_module_type(module, dtype, 0, NULL);
  aj_func *func = aj_module_add_func(module, "main", 0, NULL, 0, NULL);
  aj_region *region = func == NULL ? NULL : (func->root = aj_region_create(func, NULL, 0));
  aj_value *x[AJ_EXPAND_OPERANDS];
  uint32_t count = aj_ops[op].min_operands;
  AJ_ASSERT(count <= AJ_EXPAND_OPERANDS);
  bool made = region != NULL && type != NULL;
  for (uint32_t i = 0; i < count && made; i++) made = (x[i] = aj_region_add_param(region, type)) != NULL;
  if (made) {
    aj_builder b;
    aj_builder_init(&b, module);
    b.func = func;
    b.region = region;
    aj_value *y = aj_build1(&b, op, count, x, 0, NULL);
    if (y != NULL && aj_build(&b, AJ_OP_YIELD, 1, &y, 0, NULL) != NULL && aj_func_number(func))
      program = aj_program_create(mem, region);
  }
  aj_module_destroy(module);
  return program;
}

const aj_program *aj_sem_cache_get(aj_sem_cache *cache, aj_op op, arrjit_dtype dtype) {
  shared_program *place = &cache->programs[op][dtype];
  aj_program *program = atomic_load_explicit(place, memory_order_acquire);
  if (AJ_LIKELY(program != NULL)) return program;
  aj_mutex_lock(&cache->lock);
  program = atomic_load_explicit(place, memory_order_relaxed);
  if (program == NULL) {
    program = make_program(cache->mem, op, dtype);
    atomic_store_explicit(place, program, memory_order_release);
  }
  aj_mutex_unlock(&cache->lock);
  return program;
}
