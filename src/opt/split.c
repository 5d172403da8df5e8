/* What finishing does with complex numbers: ops on them become ops on their parts (sem/complex.h), in every region.
 *
 *   before   %1 = mul %0, %0 : c64[2]     after    %1 = real %0 : f32[2]
 *            yield %1                              %2 = imag %0 : f32[2]
 *                                                  %3 = mul %1, %1 ...
 *                                                  %8 = complex %5, %7 : c64[2]
 *                                                  yield %8
 *
 * The parts of a value are made where they are first needed, and so is the whole of one that was made in parts: a chain
 * of arithmetic never leaves its parts. Not a pass: graphs of all tiers are split, whatever is switched off. */
#include "opt/regions.h"
#include "sem/complex.h"

/* What stands for a value of the region that is being split, by its slot. */
typedef struct stand_in {
  aj_value *parts[2];
  bool apart; /* made in parts: the value itself is not there until someone needs it */
} stand_in;

typedef struct splitter {
  aj_mem *mem;
  aj_builder b;
  stand_in *values;
} splitter;

static aj_value *get_part(splitter *s, aj_value *value, uint32_t k) {
  stand_in *v = &s->values[value->slot];
  aj_value *whole = aj_value_resolve(value);
  if (v->parts[k] == NULL) v->parts[k] = aj_build1(&s->b, k == 0 ? AJ_OP_REAL : AJ_OP_IMAG, 1, &whole, 0, NULL);
  return v->parts[k];
}

static aj_value *get_whole(splitter *s, aj_value *value) {
  stand_in *v = &s->values[value->slot];
  if (v->apart && value->forward == NULL) value->forward = aj_build1(&s->b, AJ_OP_COMPLEX, 2, v->parts, 0, NULL);
  return aj_builder_ok(&s->b) ? aj_value_resolve(value) : NULL;
}

/* The node on the parts of its operands; it is gone. */
static bool split_node(splitter *s, aj_node *node) {
  aj_parts x[3] = {{NULL, NULL}}, out;
  uint32_t needs = aj_sem_split_needs(node);
  AJ_ASSERT(node->operand_count <= AJ_COUNT(x));
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_value *value = node->operands[i];
    if (!aj_dtype_is_complex(value->type->dtype)) {
      x[i].re = aj_value_resolve(value);
      continue;
    }
    if (needs & 1) x[i].re = get_part(s, value, 0);
    if (needs & 2) x[i].im = get_part(s, value, 1);
  }
  if (!aj_builder_ok(&s->b) || !aj_sem_split(&s->b, node, x, &out)) return false;
  if (out.im != NULL)
    s->values[node->results[0].slot] = (stand_in){.parts = {out.re, out.im}, .apart = true};
  else
    node->results[0].forward = out.re;
  return true;
}

static bool split_nodes(splitter *s, aj_region *region) {
  aj_taken taken = aj_region_take(region);
  for (uint32_t i = 0; i < taken.count; i++) {
    aj_node *node = taken.nodes[i];
    aj_builder_at(&s->b, region, node);
    if (aj_sem_splits(node)) {
      if (!split_node(s, node)) return false;
      continue;
    }
    for (uint32_t k = 0; k < node->operand_count; k++)
      if ((node->operands[k] = get_whole(s, node->operands[k])) == NULL) return false;
    if (!aj_region_append(region, node)) return false;
  }
  return true;
}

/* What splitting leaves is left as it is when it is met again: a finished function, printed and parsed, is the same. */
static bool must_split(const aj_node *node) {
  bool parts = node->op == AJ_OP_COMPLEX || node->op == AJ_OP_REAL || node->op == AJ_OP_IMAG;
  return !parts && aj_sem_splits(node);
}

static bool split_region(splitter *s, aj_region *region) {
  bool any = false;
  for (uint32_t i = 0; i < region->node_count && !any; i++) any = must_split(region->nodes[i]);
  if (!any) return true;
  uint32_t count = region->slot_count;
  s->values = aj_mem_array(s->mem, count, sizeof *s->values);
  bool closed = region->closed; /* to those who built it: here its values are used once more */
  region->closed = false;
  bool ok = s->values != NULL && split_nodes(s, region);
  region->closed = closed;
  aj_mem_free(s->mem, s->values, count * sizeof *s->values);
  return ok;
}

static bool split_module(aj_module *module) {
  splitter s = {.mem = module->mem};
  aj_builder_init(&s.b, module);
  bool ok = true;
  for (size_t f = 0; f < module->funcs.count && ok; f++) {
    aj_region_list regions = {0};
    aj_func *func = module->funcs.data[f];
    ok = aj_regions_list(module->mem, func, &regions);
    for (size_t i = 0; i < regions.count && ok; i++) ok = split_region(&s, regions.data[i]);
    AJ_VEC_FREE(module->mem, &regions);
    if (ok) aj_func_resolve(func);
  }
  AJ_ASSERT(ok || aj_builder_ok(&s.b) || s.b.error.status == ARRJIT_MEMORY);
  return ok && aj_module_number(module);
}

bool aj_opt_settle(aj_module *module) { return split_module(module) && aj_module_settle_pure(module); }
