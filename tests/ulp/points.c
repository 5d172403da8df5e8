/* Where functions are measured: a half evenly over all bit patterns, a quarter in the range where the function is
 * neither flat nor infinite, an eighth over magnitudes near 1, and neighbours of the numbers the expansion compares
 * with. Second arguments are any, near the first in size, or such that x^y is in the range. */
#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "sem/sem.h"
#include "ulp.h"

void ulp_set(arrjit_dtype dtype, void *elements, size_t i, double value) {
  tk_store_float(dtype, value, (char *)elements + i * aj_dtypes[dtype].bytes);
}

static void add_breakpoint(ulp_points *p, double value) {
  if (p->breakpoint_count < TK_COUNT(p->breakpoints)) p->breakpoints[p->breakpoint_count++] = value;
}

/* Float constants of the expansion. Coefficients are among them, which does no harm. */
static void find_breakpoints(ulp_points *p) {
  aj_mem mem;
  aj_mem_init(&mem, NULL);
  aj_module *module = aj_module_create(&mem, NULL);
  aj_builder b;
  aj_builder_init(&b, module);
  b.func = aj_module_add_func(module, "main", 0, NULL, 0, NULL);
  b.func->root = b.region = aj_region_create(b.func, NULL, 0);
  aj_value *x[2] = {NULL};
  uint32_t operands = aj_ops[p->function->op].min_operands;
  for (uint32_t i = 0; i < operands; i++)
    x[i] = aj_region_add_param(b.region, aj_module_type(module, p->dtype, 0, NULL));
  const aj_node *node = aj_build(&b, p->function->op, operands, x, 0, NULL);
  if (node == NULL || aj_sem_expand(&b, node) == NULL) tk_die("no expansion of %s", aj_ops[p->function->op].name);
  for (uint32_t i = 0; i < b.region->node_count; i++) {
    const aj_node *at = b.region->nodes[i];
    if (at->op != AJ_OP_CONST) continue;
    const void *bytes = aj_node_attr(at, AJ_ATTR_VALUE)->u.bytes;
    arrjit_dtype dtype = at->results[0].type->dtype;
    if (dtype == ARRJIT_F32 || dtype == ARRJIT_F64) add_breakpoint(p, ulp_element(dtype, bytes, 0));
  }
  aj_module_destroy(module);
}

void ulp_points_start(ulp_points *p, const ulp_function *function, arrjit_dtype dtype, bool full) {
  *p = (ulp_points){.function = function, .dtype = dtype, .random = {17}};
  bool narrow = dtype != ARRJIT_F64, half = aj_dtype_is_half(dtype);
  p->every = narrow && (full || half) && aj_ops[function->op].min_operands == 1;
  p->count = (uint64_t)1 << (p->every ? aj_dtypes[dtype].bits : narrow ? 22 : 21);
  if (full && !p->every) p->count <<= 4;
  static const double always[] = {0, 1, 0.5, 2, 1e30, INFINITY, NAN};
  for (size_t i = 0; i < TK_COUNT(always); i++) add_breakpoint(p, always[i]);
  add_breakpoint(p, function->lo[!narrow]);
  add_breakpoint(p, function->hi[!narrow]);
  find_breakpoints(p);
}

static double random_unit(ulp_points *p) { return (double)(tk_next(&p->random) >> 11) * 0x1p-53; }
static double random_sign(ulp_points *p) { return tk_next(&p->random) & 1 ? -1 : 1; }
static double random_magnitude(ulp_points *p, int least, int most) {
  double scale = ldexp(1, least + (int)tk_below(&p->random, (uint64_t)(most - least + 1)));
  return random_sign(p) * scale * (1 + random_unit(p));
}

/* Some neighbour of a breakpoint, of either sign. */
static void set_near_breakpoint(ulp_points *p, void *elements, size_t i) {
  ulp_set(p->dtype, elements, i, random_sign(p) * p->breakpoints[tk_below(&p->random, p->breakpoint_count)]);
  uint64_t bits = 0;
  size_t bytes = aj_dtypes[p->dtype].bytes;
  memcpy(&bits, (char *)elements + i * bytes, bytes);
  bits += tk_below(&p->random, 65) - 32;
  memcpy((char *)elements + i * bytes, &bits, bytes);
}

static void set_pattern(ulp_points *p, void *elements, size_t i) {
  uint64_t bits = tk_next(&p->random);
  size_t bytes = aj_dtypes[p->dtype].bytes;
  memcpy((char *)elements + i * bytes, &bits, bytes);
}

static void set_point(ulp_points *p, size_t i, void *x, void *y) {
  const ulp_function *f = p->function;
  bool wide = p->dtype == ARRJIT_F64;
  size_t way = i % 8;
  if (way < 4)
    set_pattern(p, x, i);
  else if (way < 6)
    ulp_set(p->dtype, x, i, f->lo[wide] + random_unit(p) * (f->hi[wide] - f->lo[wide]));
  else if (way == 6)
    ulp_set(p->dtype, x, i, random_magnitude(p, -32, 9));
  else
    set_near_breakpoint(p, x, i);
  if (aj_ops[f->op].min_operands < 2) return;
  double first = fabs(ulp_element(p->dtype, x, i));
  double most = p->dtype == ARRJIT_F16 ? 26 : wide ? 1090 : 152; /* 2 to this and more is infinite, or 0 */
  size_t other = tk_below(&p->random, 8);
  if (other < 2)
    set_pattern(p, y, i);
  else if (other < 4)
    ulp_set(p->dtype, y, i, first * random_magnitude(p, -30, 30));
  else if (other < 7)
    ulp_set(p->dtype, y, i, (random_unit(p) * 2 - 1) * most / log2(first));
  else
    set_near_breakpoint(p, y, i);
}

bool ulp_points_next(ulp_points *p, void *x, void *y) {
  if (p->next == p->count) return false;
  for (size_t i = 0; i < ULP_CHUNK; i++, p->next++) {
    size_t bytes = aj_dtypes[p->dtype].bytes;
    if (p->every)
      memcpy((char *)x + bytes * i, &p->next, bytes);
    else
      set_point(p, i, x, y);
  }
  return true;
}
