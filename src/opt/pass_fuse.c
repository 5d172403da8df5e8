/* fuse: elementwise, movement and reduce ops on arrays, and maps, become kernels.
 *
 *   before   %1 = broadcast %k {shape = [n]} ...     after    %3 = kernel %x, %k {shape = [n] ...} (%a: f32, %b: f32) {
 *            %2 = mul %x, %1 : f32[n]                           %p = mul %a, %b : f32
 *            %3 = reduce_sum %2 {axes = [0]} : f32              yield %p } : f32
 *
 * Requires: numbered regions, EXPAND ops expanded. Preserves: effects and their order: of what a kernel holds only its
 * root may fail, and the kernel stands where the root stood. Must never compute an expensive producer more than once
 * for each element, nor change the shape over which a reduce folds. */
#include <string.h>

#include "opt/fuse_plan.h"

static bool is_reduce(const aj_node *node) {
  return aj_ops[node->op].lowering == AJ_LOWER_REDUCE && !aj_sem_expands(node);
}

/* ---- building the kernel's region ---- */

static aj_value *build_iota(aj_builder *b, const aj_node *node, const aj_map_terms *map) {
  const aj_index_term *t = &map->terms[aj_node_int(node, AJ_ATTR_AXIS)];
  aj_value *index;
  if (t->axis < 0) {
    index = aj_build_scalar(b, ARRJIT_I64, &t->offset);
  } else {
    aj_attr axis = aj_attr_int(AJ_ATTR_AXIS, t->axis);
    index = aj_build1(b, AJ_OP_LANE_INDEX, 0, NULL, 1, &axis);
    if (t->step != 1)
      index = aj_build1(b, AJ_OP_MUL, 2, (aj_value *[]){index, aj_build_scalar(b, ARRJIT_I64, &t->step)}, 0, NULL);
    if (t->offset != 0)
      index = aj_build1(b, AJ_OP_ADD, 2, (aj_value *[]){index, aj_build_scalar(b, ARRJIT_I64, &t->offset)}, 0, NULL);
  }
  aj_attr dtype = aj_attr_int(AJ_ATTR_DTYPE, node->results[0].type->dtype);
  return dtype.u.i == ARRJIT_I64 ? index : aj_build1(b, AJ_OP_CONVERT, 1, &index, 1, &dtype);
}

/* The scalar for `node` read at `map`, its operands' scalars being there. */
static aj_value *build_scalar_node(aj_fuse *f, aj_builder *b, const aj_node *node, const aj_map_terms *map) {
  const void *element;
  aj_builder_at(b, b->region, node);
  if (aj_value_const(&node->results[0], &element)) return aj_build_scalar(b, node->results[0].type->dtype, element);
  if (node->op == AJ_OP_IOTA) return build_iota(b, node, map);
  aj_value *operands[4] = {NULL};
  AJ_ASSERT(node->operand_count <= AJ_COUNT(operands));
  for (uint32_t k = 0; k < node->operand_count; k++) {
    aj_map_terms operand_map;
    aj_fuse_operand_map(node, k, map, &operand_map);
    operands[k] = aj_fuse_find(f, node->operands[k], &operand_map)->scalar;
  }
  if (aj_ops[node->op].lowering != AJ_LOWER_SCALAR)
    return operands[0]; /* movement: the element itself; reduce: what it folds */
  return aj_build1(b, node->op, node->operand_count, operands, node->attr_count, node->attrs);
}

/* Parameters for what comes from outside. Gives the kernel's operands and its maps attribute. */
typedef struct inputs {
  AJ_VEC(aj_value *) operands;
  AJ_VEC(int64_t) maps;
} inputs;

static bool add_inputs(aj_fuse *f, inputs *in) {
  for (size_t i = 0; i < f->entries.count; i++) {
    const aj_fuse_entry *entry = &f->entries.data[i];
    if (entry->taken) continue;
    bool ok = AJ_VEC_PUSH(f->mem, &in->operands, entry->value) && AJ_VEC_PUSH(f->mem, &in->maps, entry->map.rank);
    for (int32_t d = 0; d < entry->map.rank && ok; d++)
      ok = AJ_VEC_PUSH(f->mem, &in->maps, entry->map.terms[d].axis) &&
           AJ_VEC_PUSH(f->mem, &in->maps, entry->map.terms[d].offset) &&
           AJ_VEC_PUSH(f->mem, &in->maps, entry->map.terms[d].step);
    if (!ok) return false;
  }
  return true;
}

static aj_node *make_kernel(aj_fuse *f, const aj_node *root, const inputs *in, const int64_t *combine,
                            const aj_type *const *types) {
  int64_t axis_count = 0, axes[ARRJIT_MAX_RANK] = {0};
  const aj_attr *attr = is_reduce(root) ? aj_node_attr(root, AJ_ATTR_AXES) : NULL;
  if (attr) {
    axis_count = attr->count;
    memcpy(axes, attr->u.ints, attr->count * sizeof *axes);
  }
  aj_attr attrs[] = {aj_attr_ints(AJ_ATTR_SHAPE, (size_t)f->space->rank, f->space->dims),
                     aj_attr_ints(AJ_ATTR_MAPS, in->maps.count, in->maps.data),
                     aj_attr_ints(AJ_ATTR_REDUCED, (size_t)axis_count, axes),
                     aj_attr_ints(AJ_ATTR_COMBINE, root->result_count, combine)};
  aj_node *kernel = aj_node_create(f->func, AJ_OP_KERNEL, (uint32_t)in->operands.count, in->operands.data,
                                   AJ_COUNT(attrs), attrs, root->result_count, types, 1);
  if (!kernel) return NULL;
  kernel->source = root->source;
  kernel->origin = root->origin;
  kernel->regions[0] = aj_region_create(f->func, kernel, 0);
  return kernel->regions[0] ? kernel : NULL;
}

/* One entry of combine and one type a result of the root. */
static aj_node *create_kernel(aj_fuse *f, const aj_node *root, const inputs *in) {
  aj_arena *arena = &f->func->module->arena;
  int64_t *combine = AJ_NEW_ARRAY(arena, root->result_count, int64_t);
  const aj_type **types = AJ_NEW_ARRAY(arena, root->result_count, const aj_type *);
  if (!combine || !types) return NULL;
  for (uint32_t i = 0; i < root->result_count; i++) {
    combine[i] = is_reduce(root) ? root->op : 0;
    types[i] = root->results[i].type;
  }
  return make_kernel(f, root, in, combine, types);
}

/* A map's region moves into the kernel's: its parameters are what the kernel's are, or what was taken in gives. */
static bool move_lane(aj_fuse *f, aj_region *region, const aj_node *map, const aj_map_terms *root_map) {
  aj_region *lane = map->regions[0];
  for (uint32_t k = 0; k < map->operand_count; k++) {
    aj_map_terms terms;
    aj_fuse_operand_map(map, k, root_map, &terms);
    lane->params[k]->forward = aj_fuse_find(f, map->operands[k], &terms)->scalar;
  }
  aj_taken taken = aj_region_take(lane);
  for (uint32_t i = 0; i < taken.count; i++) {
    aj_node *node = taken.nodes[i];
    for (uint32_t k = 0; k < node->operand_count; k++) node->operands[k] = aj_value_resolve(node->operands[k]);
    if (!aj_region_append(region, node)) return false;
  }
  return true;
}

static bool fill_region(aj_fuse *f, aj_builder *b, aj_region *region, const aj_node *root,
                        const aj_map_terms *root_map) {
  for (size_t i = 0; i < f->entries.count; i++) {
    aj_fuse_entry *entry = &f->entries.data[i];
    if (entry->taken) continue;
    const aj_type *scalar = aj_module_type(b->module, entry->value->type->dtype, 0, NULL);
    if (!scalar || !(entry->scalar = aj_region_add_param(region, scalar))) return false;
  }
  b->func = f->func;
  b->region = region;
  for (size_t i = f->taken.count; i-- > 0;) {
    const aj_node *node = f->region->nodes[f->taken.data[i]];
    for (uint32_t at = f->first[node->results[0].slot]; at; at = f->entries.data[at - 1].next) {
      aj_fuse_entry *entry = &f->entries.data[at - 1];
      if (!(entry->scalar = build_scalar_node(f, b, node, &entry->map))) return false;
    }
  }
  if (root->op == AJ_OP_MAP) return move_lane(f, region, root, root_map);
  aj_value *value = build_scalar_node(f, b, root, root_map);
  return value && aj_build(b, AJ_OP_YIELD, 1, &value, 0, NULL);
}

/* ---- regions ---- */

static void count_uses(aj_fuse *f) {
  for (uint32_t i = 0; i < f->region->node_count; i++)
    for (uint32_t k = 0; k < f->region->nodes[i]->operand_count; k++) f->uses[f->region->nodes[i]->operands[k]->slot]++;
}

/* Makes the kernel of one root. False: no memory, or a builder error. */
static bool fuse_root(aj_fuse *f, aj_builder *b, uint32_t pc) {
  aj_node *root = f->region->nodes[pc];
  inputs in = {0};
  aj_map_terms map;
  f->space = is_reduce(root) || root->op == AJ_OP_MAP ? root->operands[0]->type : root->results[0].type;
  aj_fuse_identity(f->space->rank, &map);
  aj_node *kernel = NULL;
  bool ok = aj_fuse_plan(f, root, &map) && add_inputs(f, &in) && (kernel = create_kernel(f, root, &in)) &&
            fill_region(f, b, kernel->regions[0], root, &map);
  if (ok) {
    kernel->parent = f->region;
    kernel->pc = pc;
    for (uint32_t i = 0; i < root->result_count; i++) {
      kernel->results[i].region = f->region;
      kernel->results[i].slot = root->results[i].slot;
      root->results[i].forward = &kernel->results[i];
    }
    f->region->nodes[pc] = kernel;
  }
  aj_fuse_clear(f);
  AJ_VEC_FREE(f->mem, &in.operands);
  AJ_VEC_FREE(f->mem, &in.maps);
  return ok;
}

/* A map that is left has an effect or a use; one that never yields stays as it is. */
static bool is_root(const aj_fuse *f, const aj_node *node) {
  if (node->op == AJ_OP_MAP) return aj_region_terminator(node->regions[0])->op == AJ_OP_YIELD;
  if (!is_reduce(node) && !aj_fuse_can_take(node)) return false;
  return (aj_ops[node->op].flags & AJ_F_RAISES) || f->uses[node->results[0].slot] > 0;
}

static bool fuse_region(aj_fuse *f, aj_builder *b, bool *changed) {
  size_t slots = f->region->slot_count ? f->region->slot_count : 1;
  uint32_t *tables = aj_mem_array(f->mem, slots * 3, sizeof *tables);
  if (!tables) return false;
  f->uses = tables;
  f->inside = tables + slots;
  f->first = tables + 2 * slots;
  count_uses(f);
  bool ok = true;
  /* from the end: a producer is looked at when all that read it are kernels already */
  for (uint32_t pc = f->region->node_count; pc-- > 0 && ok;) {
    if (!is_root(f, f->region->nodes[pc])) continue;
    *changed = true;
    ok = fuse_root(f, b, pc);
  }
  aj_mem_free(f->mem, tables, slots * 3 * sizeof *tables);
  return ok;
}

arrjit_status aj_pass_fuse(aj_pass_ctx *ctx, aj_func *func, bool *out_changed) {
  aj_region_list regions = {0};
  aj_builder b;
  aj_builder_init(&b, ctx->module);
  aj_fuse f = {.mem = ctx->mem, .func = func};
  bool ok = aj_regions_list(ctx->mem, func, &regions);
  for (size_t i = 0; i < regions.count && ok; i++) {
    f.region = regions.data[i];
    ok = fuse_region(&f, &b, out_changed);
  }
  AJ_VEC_FREE(ctx->mem, &f.entries);
  AJ_VEC_FREE(ctx->mem, &f.heap);
  AJ_VEC_FREE(ctx->mem, &f.taken);
  AJ_VEC_FREE(ctx->mem, &regions);
  if (!aj_builder_ok(&b)) return aj_builder_status(&b, ctx->error);
  if (!ok) return aj_error_memory(ctx->error, "fuse");
  if (*out_changed) aj_func_resolve(func);
  return ARRJIT_OK;
}
