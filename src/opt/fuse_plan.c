/* Planning a kernel: from its root backwards, greatest pc first, so that all readers of a producer that are inside the
 * kernel are known when it is decided on.
 *
 * A producer is taken in when it would then be computed once for each point of the space (one index map, which covers
 * every iteration dim) and no one outside reads it. Movement costs nothing and is always taken in, and so are constants
 * and parts of complex numbers. */
#include <string.h>

#include "opt/fuse_plan.h"

void aj_fuse_identity(int32_t rank, aj_map_terms *out) {
  out->rank = rank;
  for (int32_t i = 0; i < rank; i++) out->terms[i] = (aj_index_term){i, 0, 1};
}

static bool maps_equal(const aj_map_terms *a, const aj_map_terms *b) {
  if (a->rank != b->rank) return false;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->terms[i].axis != b->terms[i].axis || a->terms[i].offset != b->terms[i].offset ||
        a->terms[i].step != b->terms[i].step)
      return false;
  return true;
}

/* ---- which nodes ---- */

static bool is_movement(const aj_node *node) {
  return node->op == AJ_OP_BROADCAST || node->op == AJ_OP_TRANSPOSE || node->op == AJ_OP_REVERSE ||
         node->op == AJ_OP_SLICE || node->op == AJ_OP_FULL || node->op == AJ_OP_IOTA;
}

/* Half of what is read in any case. */
static bool is_part(const aj_node *node) { return node->op == AJ_OP_REAL || node->op == AJ_OP_IMAG; }

/* Reversing an axis needs its extent in the map. */
static bool reverse_is_affine(const aj_node *node) {
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
  for (uint32_t i = 0; i < axes->count; i++)
    if (aj_dim_is_symbol(node->results[0].type->dims[axes->u.ints[i]])) return false;
  return true;
}

/* A slice whose limits hang on symbols is checked when it runs: it stays a node of its own. */
static bool slice_is_static(const aj_node *node) {
  const aj_type *from = node->operands[0]->type;
  const aj_attr *limit = aj_node_attr(node, AJ_ATTR_LIMIT);
  for (int32_t i = 0; i < from->rank; i++)
    if (aj_dim_is_symbol(from->dims[i]) || aj_dim_is_symbol(limit->u.ints[i])) return false;
  return true;
}

bool aj_fuse_can_take(const aj_node *node) {
  if (node->result_count != 1 || node->results[0].type->is_exn || node->results[0].type->rank == 0) return false;
  if (node->op == AJ_OP_REVERSE) return reverse_is_affine(node);
  if (node->op == AJ_OP_SLICE) return slice_is_static(node);
  return is_movement(node) || aj_ops[node->op].lowering == AJ_LOWER_SCALAR;
}

/* ---- maps through movement ---- */

static void broadcast_map(const aj_node *node, const aj_map_terms *map, aj_map_terms *out) {
  const aj_type *from = node->operands[0]->type, *to = node->results[0].type;
  const int64_t *axes = aj_node_attr(node, AJ_ATTR_AXES)->u.ints;
  out->rank = from->rank;
  for (int32_t i = 0; i < from->rank; i++) {
    bool stretched = from->dims[i] == 1 && to->dims[axes[i]] != 1;
    out->terms[i] = stretched ? (aj_index_term){-1, 0, 0} : map->terms[axes[i]];
  }
}

static void reverse_map(const aj_node *node, aj_map_terms *out) {
  const aj_attr *axes = aj_node_attr(node, AJ_ATTR_AXES);
  for (uint32_t i = 0; i < axes->count; i++) {
    aj_index_term *t = &out->terms[axes->u.ints[i]];
    t->offset = node->results[0].type->dims[axes->u.ints[i]] - 1 - t->offset;
    t->step = -t->step;
  }
}

static void slice_map(const aj_node *node, aj_map_terms *out) {
  const int64_t *start = aj_node_attr(node, AJ_ATTR_START)->u.ints, *step = aj_node_attr(node, AJ_ATTR_STEP)->u.ints;
  for (int32_t i = 0; i < out->rank; i++) {
    out->terms[i].offset = start[i] + step[i] * out->terms[i].offset;
    out->terms[i].step *= step[i];
  }
}

void aj_fuse_operand_map(const aj_node *node, uint32_t operand, const aj_map_terms *map, aj_map_terms *out) {
  if (node->operands[operand]->type->rank == 0) {
    out->rank = 0;
    return;
  }
  *out = *map;
  if (node->op == AJ_OP_BROADCAST) broadcast_map(node, map, out);
  if (node->op == AJ_OP_REVERSE) reverse_map(node, out);
  if (node->op == AJ_OP_SLICE) slice_map(node, out);
  if (node->op == AJ_OP_TRANSPOSE) {
    const int64_t *axes = aj_node_attr(node, AJ_ATTR_AXES)->u.ints;
    for (int32_t i = 0; i < map->rank; i++) out->terms[axes[i]] = map->terms[i];
  }
}

/* ---- decisions ---- */

static bool heap_push(aj_fuse *f, uint32_t pc) {
  if (!AJ_VEC_PUSH(f->mem, &f->heap, pc)) return false;
  uint32_t *h = f->heap.data;
  for (size_t i = f->heap.count - 1; i > 0 && h[(i - 1) / 2] < h[i]; i = (i - 1) / 2) {
    uint32_t t = h[i];
    h[i] = h[(i - 1) / 2];
    h[(i - 1) / 2] = t;
  }
  return true;
}

static uint32_t heap_pop(aj_fuse *f) {
  uint32_t *h = f->heap.data, top = h[0];
  h[0] = h[--f->heap.count];
  for (size_t i = 0;;) {
    size_t child = 2 * i + 1;
    if (child >= f->heap.count) return top;
    if (child + 1 < f->heap.count && h[child + 1] > h[child]) child++;
    if (h[i] >= h[child]) return top;
    uint32_t t = h[i];
    h[i] = h[child];
    h[child] = t;
    i = child;
  }
}

aj_fuse_entry *aj_fuse_find(aj_fuse *f, const aj_value *value, const aj_map_terms *map) {
  for (uint32_t at = f->first[value->slot]; at; at = f->entries.data[at - 1].next)
    if (maps_equal(&f->entries.data[at - 1].map, map)) return &f->entries.data[at - 1];
  return NULL;
}

/* The kernel reads `value` at `map`; `whole`: this reading takes over one of its uses. */
static bool request(aj_fuse *f, aj_value *value, const aj_map_terms *map, bool whole) {
  if (whole) f->inside[value->slot]++;
  if (aj_fuse_find(f, value, map)) return true;
  aj_fuse_entry entry = {.value = value, .map = *map, .next = f->first[value->slot]};
  bool first = entry.next == 0;
  if (!AJ_VEC_PUSH(f->mem, &f->entries, entry)) return false;
  f->first[value->slot] = (uint32_t)f->entries.count;
  return !first || !value->def || heap_push(f, value->def->pc);
}

static bool covers_space(const aj_fuse *f, const aj_map_terms *map) {
  for (int32_t axis = 0; axis < f->space->rank; axis++) {
    bool found = f->space->dims[axis] == 1;
    for (int32_t i = 0; i < map->rank && !found; i++) found = map->terms[i].axis == axis;
    if (!found) return false;
  }
  return true;
}

static bool wants(const aj_fuse *f, const aj_node *node) {
  const aj_value *value = &node->results[0];
  const void *element;
  if (aj_value_const(value, &element)) return true;
  if (!aj_fuse_can_take(node)) return false;
  if (is_movement(node) || is_part(node)) return true;
  const aj_fuse_entry *entry = &f->entries.data[f->first[value->slot] - 1];
  return !(aj_ops[node->op].flags & AJ_F_RAISES) && !entry->next && f->inside[value->slot] == f->uses[value->slot] &&
         covers_space(f, &entry->map) && f->taken.count < AJ_FUSE_MOST_NODES;
}

static bool take(aj_fuse *f, const aj_node *node) {
  const aj_value *value = &node->results[0];
  bool whole = f->inside[value->slot] == f->uses[value->slot];
  if (!AJ_VEC_PUSH(f->mem, &f->taken, node->pc)) return false;
  for (uint32_t at = f->first[value->slot]; at; at = f->entries.data[at - 1].next) {
    f->entries.data[at - 1].taken = true;
    for (uint32_t k = 0; k < node->operand_count; k++) {
      aj_map_terms map;
      aj_fuse_operand_map(node, k, &f->entries.data[at - 1].map, &map);
      if (!request(f, node->operands[k], &map, whole && at == f->first[value->slot])) return false;
    }
  }
  return true;
}

bool aj_fuse_plan(aj_fuse *f, const aj_node *root, const aj_map_terms *map) {
  for (uint32_t k = 0; k < root->operand_count; k++) {
    aj_map_terms operand_map;
    aj_fuse_operand_map(root, k, map, &operand_map);
    if (!request(f, root->operands[k], &operand_map, true)) return false;
  }
  while (f->heap.count) {
    const aj_node *node = f->region->nodes[heap_pop(f)];
    if (wants(f, node) && !take(f, node)) return false;
  }
  return true;
}

void aj_fuse_clear(aj_fuse *f) {
  for (size_t i = 0; i < f->entries.count; i++) {
    const aj_fuse_entry *entry = &f->entries.data[i];
    uint32_t slot = entry->value->slot;
    f->uses[slot] += (entry->taken ? 0 : 1) - f->inside[slot];
    f->inside[slot] = f->first[slot] = 0;
  }
  f->entries.count = f->heap.count = f->taken.count = 0;
}
