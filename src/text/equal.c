/* Structural equality of modules: what text tells of them is the same. Values are matched by their numbers
 * (text/names.h), symbols by interning those of both modules in one list, in which sums and products have no order. */
#include <string.h>

#include "text/air.h"
#include "text/names.h"

typedef struct meaning {
  uint32_t func;
  aj_symbol_form form;
  const char *name;
  int64_t a, b;
} meaning; /* a, b: into itself */

typedef struct pair {
  const aj_module *module[2];
  aj_mem *mem;
  aj_map map;
  AJ_VEC(meaning) meanings;
  uint32_t *canonical[2]; /* [symbol] index of its meaning */
  aj_names names[2];      /* of the functions being compared */
} pair;

static bool equal_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* ---- symbols ---- */

static bool equal_meaning(const void *user, uint32_t index, const void *key) {
  const meaning *have = &((const pair *)user)->meanings.data[index], *wanted = key;
  return have->func == wanted->func && have->form == wanted->form && have->a == wanted->a && have->b == wanted->b &&
         equal_text(have->name, wanted->name);
}

static int64_t canonical_dim(const pair *p, int side, int64_t dim) {
  if (dim == ARRJIT_DYNAMIC_DIM) return dim;
  return aj_dim_is_symbol(dim) ? aj_symbol_dim(p->canonical[side][aj_dim_symbol(dim)]) : dim;
}

static bool intern_symbol(pair *p, int side, uint32_t symbol) {
  const aj_symbol *s = &p->module[side]->symbols.data[symbol];
  bool derived = s->form >= AJ_SYM_ADD;
  meaning key = {s->func, s->form, s->name, s->a, 0};
  if (derived) {
    key.a = canonical_dim(p, side, s->a);
    key.b = canonical_dim(p, side, s->b);
    if ((s->form == AJ_SYM_ADD || s->form == AJ_SYM_MUL) && key.b < key.a) {
      int64_t a = key.a;
      key.a = key.b;
      key.b = a;
    }
  }
  uint64_t hash = aj_hash_u64((uint64_t)key.b, aj_hash_u64((uint64_t)key.a, key.form));
  if (key.name) hash = aj_hash_bytes(key.name, strlen(key.name), hash);
  uint32_t found = aj_map_find(&p->map, hash, equal_meaning, p, &key);
  if (found == AJ_MAP_NONE) {
    found = (uint32_t)p->meanings.count;
    if (!AJ_VEC_PUSH(p->mem, &p->meanings, key) || !aj_map_put(&p->map, hash, found)) return false;
  }
  p->canonical[side][symbol] = found;
  return true;
}

static bool intern_symbols(pair *p, int side) {
  size_t count = p->module[side]->symbols.count;
  if (!count) return true;
  p->canonical[side] = aj_mem_array(p->mem, count, sizeof *p->canonical[side]);
  if (!p->canonical[side]) return false;
  for (uint32_t i = 0; i < count; i++)
    if (!intern_symbol(p, side, i)) return false;
  return true;
}

/* ---- types and attributes ---- */

static bool equal_dims(const pair *p, size_t count, const int64_t *a, const int64_t *b) {
  for (size_t i = 0; i < count; i++)
    if (canonical_dim(p, 0, a[i]) != canonical_dim(p, 1, b[i])) return false;
  return true;
}

static bool equal_type(const pair *p, const aj_type *a, const aj_type *b) {
  return a->dtype == b->dtype && a->rank == b->rank && a->is_exn == b->is_exn &&
         equal_dims(p, (size_t)a->rank, a->dims, b->dims);
}

static bool equal_types(const pair *p, uint32_t count, const aj_type *const *a, const aj_type *const *b) {
  for (uint32_t i = 0; i < count; i++)
    if (!equal_type(p, a[i], b[i])) return false;
  return true;
}

/* Contexts number the hosts' kinds each by itself: names decide. */
static bool equal_kind(const pair *p, int64_t a, int64_t b) {
  if (p->module[0]->kinds == p->module[1]->kinds) return a == b;
  const aj_kind_info *ka = aj_kinds_get(p->module[0]->kinds, (arrjit_kind)a);
  const aj_kind_info *kb = aj_kinds_get(p->module[1]->kinds, (arrjit_kind)b);
  return ka && kb ? strcmp(ka->name, kb->name) == 0 : a == b;
}

static bool equal_attr(const pair *p, const aj_attr *a, const aj_attr *b) {
  if (a->name != b->name) return false;
  switch (aj_attrs[a->name].form) {
  case AJ_FORM_INT:
  case AJ_FORM_DTYPE:
  case AJ_FORM_SLOT:
  case AJ_FORM_FUNC: return a->u.i == b->u.i;
  case AJ_FORM_KIND: return equal_kind(p, a->u.i, b->u.i);
  case AJ_FORM_TEXT: return equal_text(a->u.text, b->u.text);
  case AJ_FORM_BYTES: return a->count == b->count && (!a->count || !memcmp(a->u.bytes, b->u.bytes, a->count));
  case AJ_FORM_DIMS: return a->count == b->count && equal_dims(p, a->count, a->u.ints, b->u.ints);
  case AJ_FORM_INTS: break;
  }
  if (a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->name == AJ_ATTR_KINDS ? !equal_kind(p, a->u.ints[i], b->u.ints[i]) : a->u.ints[i] != b->u.ints[i])
      return false;
  return true;
}

/* ---- nodes ---- */

static bool equal_value(const pair *p, const aj_value *a, const aj_value *b) {
  if (!a->def != !b->def || a->index != b->index) return false;
  if (!a->def && !a->region->owner) return !b->region->owner;
  const void *ka = a->def ? (const void *)a->def : a->region, *kb = b->def ? (const void *)b->def : b->region;
  return aj_names_find(&p->names[0], ka) == aj_names_find(&p->names[1], kb);
}

static bool equal_source(const aj_source *a, const aj_source *b) {
  return equal_text(a->file, b->file) && equal_text(a->label, b->label) && (!a->file || a->line == b->line);
}

static bool equal_region(const pair *p, const aj_region *a, const aj_region *b) {
  if (a->param_count != b->param_count || a->node_count != b->node_count) return false;
  for (uint32_t i = 0; i < a->param_count; i++)
    if (!equal_type(p, a->params[i]->type, b->params[i]->type)) return false;
  return true;
}

static bool equal_node(const pair *p, const aj_node *a, const aj_node *b) {
  if (a->op != b->op || a->operand_count != b->operand_count || a->result_count != b->result_count ||
      a->attr_count != b->attr_count || a->region_count != b->region_count || !equal_source(&a->source, &b->source))
    return false;
  for (uint32_t i = 0; i < a->operand_count; i++)
    if (!equal_value(p, a->operands[i], b->operands[i])) return false;
  for (uint32_t i = 0; i < a->result_count; i++)
    if (!equal_type(p, a->results[i].type, b->results[i].type)) return false;
  for (uint32_t i = 0; i < a->attr_count; i++)
    if (!equal_attr(p, &a->attrs[i], &b->attrs[i])) return false;
  for (uint32_t i = 0; i < a->region_count; i++)
    if (!equal_region(p, a->regions[i], b->regions[i])) return false;
  return true;
}

static bool equal_body(pair *p, aj_func *a, aj_func *b) {
  aj_walk walk[2];
  if (!equal_region(p, a->root, b->root)) return false;
  for (uint32_t i = 0; i < a->root->param_count; i++)
    if (!equal_text(a->root->params[i]->name, b->root->params[i]->name)) return false;
  aj_walk_start(&walk[0], a);
  aj_walk_start(&walk[1], b);
  for (;;) {
    const aj_node *na = aj_walk_next(&walk[0]), *nb = aj_walk_next(&walk[1]);
    if (!na || !nb) return na == nb;
    if (!equal_node(p, na, nb)) return false;
  }
}

static bool equal_func(pair *p, aj_func *a, aj_func *b) {
  if (strcmp(a->name, b->name) || a->param_count != b->param_count || a->result_count != b->result_count ||
      !a->root != !b->root || !equal_types(p, a->param_count, a->param_types, b->param_types) ||
      !equal_types(p, a->result_count, a->result_types, b->result_types))
    return false;
  for (uint32_t i = 0; i < a->result_count; i++)
    if (!equal_text(a->result_names[i], b->result_names[i])) return false;
  if (!a->root) return true;
  bool named[2] = {aj_names_make(&p->names[0], a), aj_names_make(&p->names[1], b)};
  bool equal = named[0] && named[1] && equal_body(p, a, b);
  aj_names_free(&p->names[0]);
  aj_names_free(&p->names[1]);
  return equal;
}

static bool equal_slot(const pair *p, const aj_slot *a, const aj_slot *b) {
  return !strcmp(a->name, b->name) && a->is_value == b->is_value && a->optional == b->optional && a->pure == b->pure &&
         a->param_count == b->param_count && a->result_count == b->result_count &&
         equal_types(p, a->param_count, a->param_types, b->param_types) &&
         equal_types(p, a->result_count, a->result_types, b->result_types);
}

static bool equal_modules(pair *p) {
  const aj_module *a = p->module[0], *b = p->module[1];
  if (a->funcs.count != b->funcs.count || a->slots.count != b->slots.count) return false;
  if (!intern_symbols(p, 0) || !intern_symbols(p, 1)) return false;
  for (size_t i = 0; i < a->slots.count; i++)
    if (!equal_slot(p, &a->slots.data[i], &b->slots.data[i])) return false;
  for (size_t i = 0; i < a->funcs.count; i++)
    if (!equal_func(p, a->funcs.data[i], b->funcs.data[i])) return false;
  return true;
}

bool aj_module_equal(const aj_module *a, const aj_module *b) {
  pair p = {.module = {a, b}, .mem = a->mem};
  aj_map_init(&p.map, p.mem);
  bool equal = equal_modules(&p);
  aj_map_free(&p.map);
  AJ_VEC_FREE(p.mem, &p.meanings);
  for (int side = 0; side < 2; side++)
    aj_mem_free(p.mem, p.canonical[side], p.module[side]->symbols.count * sizeof *p.canonical[side]);
  return equal;
}
