/* Making a block program: the region is copied into a module of its own with EXPAND ops expanded, then its nodes become
 * steps. Bitcasts vanish, equal constants become one, values share registers once they are dead. */
#include "sem/program.h"

#include <string.h>

#include "sem/guard.h"

#define NONE UINT32_MAX

/* What is known of a value of the expanded region, by its slot. */
typedef struct value_info {
  uint32_t root;     /* slot whose bits these are: itself, or through bitcasts another's */
  uint32_t last_use; /* of a root: node that reads it last; NONE: none; node_count: yielded */
  uint32_t place;    /* of a root; NONE: not yet */
} value_info;

typedef struct program_builder {
  aj_program *program;
  aj_module *module;
  aj_region *region; /* expanded */
  uint32_t *node_of; /* [node of the expanded region] index in the region given */
  value_info *values;
  uint32_t *guards; /* aj_guard_find of it */
  uint32_t constant_count;
  AJ_VEC(uint32_t) free[5]; /* places of dead registers by log2 of their element bytes */
} program_builder;

/* ---- the expanded copy ---- */
static aj_value *copy_node(aj_builder *b, const aj_node *node, aj_value **map) {
  aj_value *operands[3] = {NULL};
  AJ_ASSERT(node->operand_count <= 3);
  for (uint32_t i = 0; i < node->operand_count; i++) operands[i] = map[node->operands[i]->slot];
  if (aj_ops[node->op].routine != AJ_ROUTINE_EXPAND)
    return aj_build1(b, node->op, node->operand_count, operands, node->attr_count, node->attrs);
  aj_node moved = *node;
  moved.operands = operands;
  return aj_sem_expand(b, &moved);
}

static bool copy_params(aj_region *to, const aj_region *from, aj_value **map) {
  for (uint32_t i = 0; i < from->param_count; i++) {
    const aj_type *type = aj_module_type(to->func->module, from->params[i]->type->dtype, 0, NULL);
    map[from->params[i]->slot] = type == NULL ? NULL : aj_region_add_param(to, type);
    if (map[from->params[i]->slot] == NULL) return false;
  }
  return true;
}

/* Fills p->region and p->node_of; the yield is made last, from the values of the terminator given. */
static bool copy_region(program_builder *p, const aj_region *from) {
  aj_arena *arena = &p->module->arena;
  aj_func *func = aj_module_add_func(p->module, "main", 0, NULL, 0, NULL);
  p->region = func == NULL ? NULL : (func->root = aj_region_create(func, NULL, 0));
  aj_value **map = AJ_NEW_ARRAY(arena, from->slot_count, aj_value *);
  uint32_t *first = AJ_NEW_ARRAY(arena, from->node_count + 1, uint32_t);
  if (p->region == NULL || map == NULL || first == NULL || !copy_params(p->region, from, map)) return false;
  aj_builder b;
  aj_builder_init(&b, p->module);
  b.func = func;
  b.region = p->region;
  for (uint32_t i = 0; i < from->node_count; i++) {
    const aj_node *node = from->nodes[i];
    first[i] = p->region->node_count;
    if (node->op == AJ_OP_YIELD) {
      aj_value **yielded = AJ_NEW_ARRAY(arena, node->operand_count, aj_value *);
      if (yielded == NULL) return false;
      for (uint32_t k = 0; k < node->operand_count; k++) yielded[k] = map[node->operands[k]->slot];
      if (aj_build(&b, AJ_OP_YIELD, node->operand_count, yielded, 0, NULL) == NULL) return false;
    } else if ((map[node->results[0].slot] = copy_node(&b, node, map)) == NULL) {
      return false;
    }
  }
  p->node_of = AJ_NEW_ARRAY(arena, p->region->node_count, uint32_t);
  if (p->node_of == NULL || !aj_func_number(func)) return false;
  for (uint32_t i = 0; i < from->node_count; i++) {
    uint32_t end = i + 1 < from->node_count ? first[i + 1] : p->region->node_count;
    for (uint32_t k = first[i]; k < end; k++) p->node_of[k] = i;
  }
  return true;
}

/* ---- what lives how long ---- */
static value_info *get_root(program_builder *p, const aj_value *value) {
  return &p->values[p->values[value->slot].root];
}

/* Backwards, so that a node nobody needs does not keep its operands alive. */
static void find_last_uses(program_builder *p) {
  const aj_region *region = p->region;
  for (uint32_t i = region->node_count; i-- > 0;) {
    const aj_node *node = region->nodes[i];
    bool needed = node->result_count == 0 || (aj_ops[node->op].flags & AJ_F_RAISES) != 0 ||
                  p->values[node->results[0].slot].last_use != NONE || get_root(p, &node->results[0])->last_use != NONE;
    if (!needed) continue;
    for (uint32_t k = 0; k < node->operand_count; k++) {
      value_info *root = get_root(p, node->operands[k]);
      if (root->last_use == NONE) root->last_use = node->op == AJ_OP_YIELD ? region->node_count : i;
    }
  }
}

static bool analyse(program_builder *p) {
  const aj_region *region = p->region;
  p->values = AJ_NEW_ARRAY(&p->module->arena, region->slot_count, value_info);
  if (p->values == NULL) return false;
  for (uint32_t i = 0; i < region->slot_count; i++)
    p->values[i] = (value_info){.root = i, .last_use = NONE, .place = NONE};
  for (uint32_t i = 0; i < region->node_count; i++) {
    const aj_node *node = region->nodes[i];
    if (node->op == AJ_OP_BITCAST) p->values[node->results[0].slot].root = p->values[node->operands[0]->slot].root;
  }
  find_last_uses(p);
  p->guards = AJ_NEW_ARRAY(&p->module->arena, region->slot_count, uint32_t);
  if (p->guards == NULL) return false;
  aj_guard_find(region, p->guards);
  return true;
}

/* ---- places ---- */
static uint32_t add_inside(program_builder *p) { return p->program->place_count++; }

static uint32_t get_free_list(size_t bytes) {
  uint32_t list = 0;
  for (; bytes > 1; bytes /= 2) list++;
  return list;
}

/* A register for elements of `bytes`, a dead one if there is one. NONE: no memory. */
static uint32_t take_register(program_builder *p, size_t bytes) {
  uint32_t list = get_free_list(bytes);
  if (p->free[list].count > 0) return p->free[list].data[--p->free[list].count];
  uint32_t place = add_inside(p);
  p->program->offsets[place - p->program->outside_count] = p->program->register_bytes;
  p->program->register_bytes += bytes;
  return place;
}

static bool free_dead_operands(program_builder *p, const aj_node *node, uint32_t at) {
  for (uint32_t k = 0; k < node->operand_count; k++) {
    value_info *root = get_root(p, node->operands[k]);
    uint32_t first_register = p->program->outside_count + p->constant_count;
    if (root->last_use != at || root->place < first_register) continue;
    root->last_use = NONE; /* an operand named twice is freed once */
    if (!AJ_VEC_PUSH(p->program->mem, &p->free[get_free_list(aj_dtypes[node->operands[k]->type->dtype].bytes)],
                     root->place))
      return false;
  }
  return true;
}

/* The result that a value can be written to at once: the first yield of it. NONE: none. */
static uint32_t find_result_place(const program_builder *p, uint32_t root) {
  const aj_node *yield = aj_region_terminator(p->region);
  for (uint32_t k = 0; k < yield->operand_count; k++)
    if (p->values[yield->operands[k]->slot].root == root) return p->program->param_count + k;
  return NONE;
}

/* Splats of all constants, equal ones once; then the places of params and indices. */
static bool place_constants(program_builder *p) {
  aj_program *program = p->program;
  const void **elements = (const void **)AJ_NEW_ARRAY(&p->module->arena, p->region->node_count, void *);
  uint32_t *sizes = AJ_NEW_ARRAY(&p->module->arena, p->region->node_count, uint32_t);
  if (elements == NULL || sizes == NULL) return false;
  for (uint32_t i = 0; i < p->region->node_count; i++) {
    const aj_node *node = p->region->nodes[i];
    if (node->op != AJ_OP_CONST || p->values[node->results[0].slot].last_use == NONE) continue;
    const void *element = aj_node_attr(node, AJ_ATTR_VALUE)->u.bytes;
    uint32_t bytes = aj_dtypes[node->results[0].type->dtype].bytes, k = 0;
    while (k < p->constant_count && (sizes[k] != bytes || memcmp(elements[k], element, bytes) != 0)) k++;
    p->values[node->results[0].slot].place = program->outside_count + k;
    if (k < p->constant_count) continue;
    char *splat = aj_arena_alloc(&program->arena, bytes * AJ_PROGRAM_LANES);
    if (splat == NULL) return false;
    aj_view_fill(splat, AJ_PROGRAM_LANES, element, bytes);
    elements[k] = element;
    sizes[k] = bytes;
    program->constants[add_inside(p) - program->outside_count] = splat;
    p->constant_count++;
  }
  return true;
}

static bool place_outside(program_builder *p) {
  aj_program *program = p->program;
  const aj_node *yield = aj_region_terminator(p->region);
  int64_t axes = 0;
  for (uint32_t i = 0; i < p->region->node_count; i++) {
    const aj_node *node = p->region->nodes[i];
    int64_t axis = aj_node_int(node, AJ_ATTR_AXIS);
    if (node->op == AJ_OP_LANE_INDEX && axis >= axes) axes = axis + 1;
  }
  program->param_count = p->region->param_count;
  program->result_count = yield->operand_count;
  program->outside_count = program->place_count = program->param_count + program->result_count + (uint32_t)axes;
  program->outside_bytes = AJ_NEW_ARRAY(&program->arena, program->outside_count + 1, uint8_t);
  program->param_ends = AJ_NEW_ARRAY(&program->arena, program->param_count + 1, uint32_t);
  program->result_starts = AJ_NEW_ARRAY(&program->arena, program->result_count + 1, uint32_t);
  if (program->outside_bytes == NULL || program->param_ends == NULL || program->result_starts == NULL) return false;
  memset(program->outside_bytes, 8, program->outside_count); /* indices are i64 */
  for (uint32_t i = 0; i < program->param_count; i++) {
    program->outside_bytes[i] = aj_dtypes[p->region->params[i]->type->dtype].bytes;
    p->values[p->region->params[i]->slot].place = i;
  }
  for (uint32_t i = 0; i < program->result_count; i++)
    program->outside_bytes[program->param_count + i] = aj_dtypes[yield->operands[i]->type->dtype].bytes;
  return true;
}

/* ---- steps ---- */
static void append_step(aj_program *program, aj_program_step step, uint32_t operand_count) {
  for (uint32_t k = 0; k < operand_count; k++)
    if (step.in[k] < program->param_count) program->param_ends[step.in[k]] = program->step_count;
  uint32_t result = step.out - program->param_count; /* wraps below the results */
  if (step.loop != NULL && result < program->result_count) program->result_starts[result] = program->step_count;
  program->steps[program->step_count++] = step;
}

static bool add_step(program_builder *p, const aj_node *node, uint32_t at) {
  aj_program *program = p->program;
  value_info *out = &p->values[node->results[0].slot];
  aj_program_step step = {.node = p->node_of[at], .raises = (aj_ops[node->op].flags & AJ_F_RAISES) != 0};
  if (out->last_use == NONE && !step.raises) return true;
  for (uint32_t k = 0; k < node->operand_count; k++) step.in[k] = get_root(p, node->operands[k])->place;
  arrjit_dtype dtype = node->results[0].type->dtype;
  step.loop = aj_sem_loop(node->op, node->operands[node->op == AJ_OP_SELECT]->type->dtype, dtype);
  AJ_ASSERT(step.loop != NULL);
  if (!free_dead_operands(p, node, at)) return false;
  uint32_t place = out->last_use == p->region->node_count ? find_result_place(p, node->results[0].slot) : NONE;
  step.out = out->place = place != NONE ? place : take_register(p, aj_dtypes[dtype].bytes);
  if (out->last_use == NONE) { /* only its failure counts */
    if (!AJ_VEC_PUSH(program->mem, &p->free[get_free_list(aj_dtypes[dtype].bytes)], step.out)) return false;
  }
  if (step.raises && program->first_raise == NONE) program->first_raise = program->step_count;
  append_step(program, step, node->operand_count);
  return true;
}

/* Results that no step wrote: params, constants, indices, and values yielded twice. */
static void add_copies(program_builder *p) {
  aj_program *program = p->program;
  const aj_node *yield = aj_region_terminator(p->region);
  for (uint32_t k = 0; k < yield->operand_count; k++) {
    uint32_t from = get_root(p, yield->operands[k])->place, to = program->param_count + k;
    if (from == to) continue;
    aj_loop *loop = aj_loops_copy(aj_dtypes[yield->operands[k]->type->dtype].bytes);
    append_step(program, (aj_program_step){.loop = loop, .out = to, .in = {from}}, 1);
  }
}

/* A branch over what comes from node `at` on, when that is guarded; *branch is its step until `end`, else NONE. */
static void add_branch(program_builder *p, uint32_t at, uint32_t *branch, uint32_t *end) {
  aj_program *program = p->program;
  if (*branch != NONE && at == *end) {
    program->steps[*branch].skip = program->step_count - *branch - 1;
    *branch = NONE;
  }
  if (*branch != NONE || !aj_guard_starts(p->region, p->guards, at, end)) return;
  uint32_t guard = p->guards[p->region->nodes[at]->results[0].slot];
  *branch = program->step_count;
  append_step(program, (aj_program_step){.in = {p->values[p->values[guard].root].place}}, 1);
}

static bool build_steps(program_builder *p) {
  aj_program *program = p->program;
  uint32_t branch = NONE, branch_end = NONE;
  uint32_t most =
      p->region->node_count + p->region->node_count / AJ_GUARD_LEAST + aj_region_terminator(p->region)->operand_count;
  program->steps = AJ_NEW_ARRAY(&program->arena, most, aj_program_step);
  program->constants = AJ_NEW_ARRAY(&program->arena, most, char *);
  program->offsets = AJ_NEW_ARRAY(&program->arena, most, size_t);
  if (program->steps == NULL || program->constants == NULL || program->offsets == NULL) return false;
  program->first_raise = NONE;
  if (!place_outside(p) || !place_constants(p)) return false;
  for (uint32_t i = 0; i < p->region->node_count; i++) {
    const aj_node *node = p->region->nodes[i];
    add_branch(p, i, &branch, &branch_end);
    if (node->op == AJ_OP_LANE_INDEX)
      p->values[node->results[0].slot].place =
          program->param_count + program->result_count + (uint32_t)aj_node_int(node, AJ_ATTR_AXIS);
    else if (node->op != AJ_OP_CONST && node->op != AJ_OP_BITCAST && node->op != AJ_OP_YIELD && !add_step(p, node, i))
      return false;
  }
  add_copies(p);
  if (program->first_raise == NONE) program->first_raise = program->step_count;
  return true;
}

aj_program *aj_program_create(aj_mem *mem, const aj_region *region) {
  aj_program *program = aj_mem_alloc(mem, sizeof *program);
  if (program == NULL) return NULL;
  program->mem = mem;
  aj_arena_init(&program->arena, mem);
  program_builder p = {.program = program, .module = aj_module_create(mem, region->func->module->kinds)};
  bool ok = p.module != NULL && copy_region(&p, region) && analyse(&p) && build_steps(&p);
  for (size_t i = 0; i < AJ_COUNT(p.free); i++) AJ_VEC_FREE(mem, &p.free[i]);
  aj_module_destroy(p.module);
  if (ok) return program;
  aj_program_destroy(program);
  return NULL;
}
