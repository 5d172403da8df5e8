/* Making the code of a range: its computing nodes become a region over scalars, of which sem makes a block program. */
#include "interp/range.h"

#include <string.h>

typedef struct range_builder {
  aj_range *range;
  aj_arena *arena; /* of the range */
  aj_module *module;
  aj_builder b;
  aj_value **computed; /* [pc - first] element of a computing node */
  aj_value **params;   /* [param_count] element of range->code.params */
  bool *wanted;        /* [pc - first] nodes that run before */
} range_builder;

static uint32_t count_nodes(const aj_range *range) { return range->last - range->first + 1; }

static bool is_inside(const aj_range *range, const aj_value *value) {
  return value->def && value->def->pc >= range->first && value->def->pc <= range->last;
}

static bool lives_on(const aj_range *range, const aj_value *value) {
  uint32_t last = range->region->last_use[value->slot];
  return last != AJ_UNUSED && last > range->last;
}

/* ---- the region ---- */

/* What is repeated by a constant that fills its shape, or NULL. */
static const aj_attr *find_constant(const aj_value *value) {
  if (!value->def || value->def->op != AJ_OP_CONST) return NULL;
  const aj_attr *data = aj_node_attr(value->def, AJ_ATTR_VALUE);
  return data->count == aj_dtypes[value->type->dtype].bytes ? data : NULL;
}

/* The element of a value that comes from outside the program. */
static aj_value *get_param(range_builder *r, const aj_value *value) {
  aj_range_code *code = &r->range->code;
  for (uint32_t i = 0; i < code->param_count; i++)
    if (code->params[i].value == value) return r->params[i];
  const aj_type *type = aj_module_type(r->module, value->type->dtype, 0, NULL);
  aj_value *param = type ? aj_region_add_param(r->b.region, type) : NULL;
  if (!param) return NULL;
  if (is_inside(r->range, value)) r->wanted[value->def->pc - r->range->first] = true;
  code->params[code->param_count] = (aj_range_param){.value = value, .dies = !lives_on(r->range, value)};
  return r->params[code->param_count++] = param;
}

static aj_value *get_element(range_builder *r, const aj_value *operand) {
  if (is_inside(r->range, operand) && aj_range_computes(operand->def))
    return r->computed[operand->def->pc - r->range->first];
  const aj_value *scalar = aj_range_scalar(operand, r->range->first), *from = scalar ? scalar : operand;
  const aj_attr *constant = find_constant(from);
  return constant ? aj_build_scalar(&r->b, from->type->dtype, constant->u.bytes) : get_param(r, from);
}

static bool add_computing(range_builder *r, const aj_node *node) {
  aj_value *operands[3] = {NULL};
  AJ_ASSERT(node->operand_count <= AJ_COUNT(operands));
  for (uint32_t k = 0; k < node->operand_count; k++)
    if (!(operands[k] = get_element(r, node->operands[k]))) return false;
  aj_value *element = aj_build1(&r->b, node->op, node->operand_count, operands, node->attr_count, node->attrs);
  r->computed[node->pc - r->range->first] = element;
  return element != NULL;
}

static bool add_yield(range_builder *r) {
  aj_range_code *code = &r->range->code;
  aj_value **yielded = AJ_NEW_ARRAY(&r->module->arena, count_nodes(r->range), aj_value *);
  if (!yielded) return false;
  for (uint32_t pc = r->range->first; pc <= r->range->last; pc++) {
    const aj_node *node = r->range->region->nodes[pc];
    if (!aj_range_computes(node) || !lives_on(r->range, &node->results[0])) continue;
    code->results[code->result_count] = node;
    yielded[code->result_count++] = r->computed[pc - r->range->first];
  }
  return aj_build(&r->b, AJ_OP_YIELD, code->result_count, yielded, 0, NULL) != NULL;
}

/* ---- what runs before, what is released after ---- */

/* Backwards: what a wanted node reads inside the range is wanted too. */
static void list_before(range_builder *r) {
  aj_range *range = r->range;
  for (uint32_t i = count_nodes(range); i-- > 0;) {
    const aj_node *node = range->region->nodes[range->first + i];
    if (aj_range_computes(node)) continue;
    for (uint32_t k = 0; k < node->result_count; k++) r->wanted[i] = r->wanted[i] || lives_on(range, &node->results[k]);
    for (uint32_t k = 0; r->wanted[i] && k < node->operand_count; k++)
      if (is_inside(range, node->operands[k])) r->wanted[node->operands[k]->def->pc - range->first] = true;
  }
  for (uint32_t i = 0; i < count_nodes(range); i++)
    if (r->wanted[i]) range->code.before[range->code.before_count++] = range->region->nodes[range->first + i];
}

static void list_dying(range_builder *r) {
  aj_range *range = r->range;
  const aj_region *region = range->region;
  for (uint32_t pc = range->first; pc <= range->last; pc++) {
    const aj_node *node = region->nodes[pc];
    for (uint32_t k = 0; k < node->operand_count; k++) {
      const aj_value *value = node->operands[k];
      bool held = !is_inside(range, value) || r->wanted[value->def->pc - range->first];
      if (held && value->type->rank > 0 && region->last_use[value->slot] == pc)
        range->code.dying[range->code.dying_count++] = value->slot; /* one named twice is released once: no harm */
    }
  }
}

/* ---- all of it ---- */

static bool allocate(range_builder *r) {
  aj_range *range = r->range;
  uint32_t nodes = count_nodes(range), operands = 0;
  for (uint32_t pc = range->first; pc <= range->last; pc++) operands += range->region->nodes[pc]->operand_count;
  aj_range_code *code = &range->code;
  *code = (aj_range_code){.params = AJ_NEW_ARRAY(r->arena, operands, aj_range_param),
                          .results = (const aj_node **)AJ_NEW_ARRAY(r->arena, nodes, aj_node *),
                          .before = (const aj_node **)AJ_NEW_ARRAY(r->arena, nodes, aj_node *),
                          .dying = AJ_NEW_ARRAY(r->arena, operands, uint32_t)};
  aj_arena *temporary = &r->module->arena;
  r->computed = AJ_NEW_ARRAY(temporary, nodes, aj_value *);
  r->params = AJ_NEW_ARRAY(temporary, operands, aj_value *);
  r->wanted = AJ_NEW_ARRAY(temporary, nodes, bool);
  return !r->arena->failed && !temporary->failed;
}

static bool build_region(range_builder *r) {
  const aj_range *range = r->range;
  aj_func *func = aj_module_add_func(r->module, "main", 0, NULL, 0, NULL);
  aj_builder_init(&r->b, r->module);
  r->b.func = func;
  r->b.region = func ? func->root = aj_region_create(func, NULL, 0) : NULL;
  if (!r->b.region || !allocate(r)) return false;
  for (uint32_t pc = range->first; pc <= range->last; pc++) {
    const aj_node *node = range->region->nodes[pc];
    if (aj_range_computes(node) && !add_computing(r, node)) return false;
  }
  return add_yield(r) && aj_func_number(func);
}

bool aj_range_build(aj_interp_code *code, void *part) {
  aj_range *range = part;
  aj_mem *mem = &code->core->mem;
  range_builder r = {.range = range, .arena = &range->arena, .module = aj_module_create(mem, code->module->kinds)};
  bool ok = r.module && build_region(&r) && (range->code.program = aj_program_create(mem, r.b.region));
  if (ok) {
    list_before(&r);
    list_dying(&r);
  } else {
    aj_arena_free(&range->arena);
  }
  aj_module_destroy(r.module);
  return ok;
}
