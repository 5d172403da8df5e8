/* Symbolic extents. A module has one list of symbols in which a derived one comes after those it is computed from: so
 * one pass over the list computes all that follow from what is bound. Equal expressions are the same symbol, which is
 * how extents are proved equal. */
#include "ir/symbol.h"

#include <string.h>

static bool is_symbol(const void *user, uint32_t index, const void *key) {
  const aj_module *module = user;
  const aj_symbol *have = &module->symbols.data[index], *wanted = key;
  if (have->func != wanted->func || have->form != wanted->form) return false;
  if (wanted->name) return strcmp(have->name, wanted->name) == 0;
  return have->a == wanted->a && have->b == wanted->b;
}

static uint64_t hash_symbol(const aj_symbol *key) {
  uint64_t hash = aj_hash_u64((uint64_t)key->func << 8 | (uint64_t)key->form, 0);
  if (key->name) return aj_hash_bytes(key->name, strlen(key->name), hash);
  return aj_hash_u64((uint64_t)key->b, aj_hash_u64((uint64_t)key->a, hash));
}

static uint32_t after_of(const aj_module *module, int64_t dim) {
  return aj_dim_is_symbol(dim) ? module->symbols.data[aj_dim_symbol(dim)].after : 0;
}

static uint32_t find_after(const aj_module *module, const aj_symbol *symbol) {
  if (symbol->form == AJ_SYM_PARAM) return 0;
  if (symbol->form == AJ_SYM_NODE) return (uint32_t)symbol->a + 1;
  uint32_t a = after_of(module, symbol->a), b = after_of(module, symbol->b);
  return a > b ? a : b;
}

int64_t aj_symbol_add(aj_module *module, const aj_symbol *symbol) {
  aj_symbol added = *symbol;
  added.after = find_after(module, symbol);
  if (!AJ_VEC_PUSH(module->mem, &module->symbols, added)) return 0;
  if (!aj_map_put(&module->symbol_map, hash_symbol(symbol), (uint32_t)(module->symbols.count - 1))) {
    module->symbols.count--;
    return 0;
  }
  module->derives = module->derives || symbol->form != AJ_SYM_PARAM;
  return aj_symbol_dim((uint32_t)(module->symbols.count - 1));
}

/* The symbol like `key`, made when there is none. 0: no memory. */
static int64_t intern_symbol(aj_func *func, const aj_symbol *key) {
  aj_module *module = func->module;
  uint32_t found = aj_map_find(&module->symbol_map, hash_symbol(key), is_symbol, module, key);
  if (found != AJ_MAP_NONE) return aj_symbol_dim(found);
  aj_symbol symbol = *key;
  if (key->name && !(symbol.name = aj_module_text(module, key->name, strlen(key->name)))) return 0;
  return aj_symbol_add(module, &symbol);
}

int64_t aj_symbol_named(aj_func *func, const char *name) {
  return intern_symbol(func, &(aj_symbol){.name = name, .func = func->index, .form = AJ_SYM_PARAM});
}

int64_t aj_symbol_node(aj_func *func, uint32_t number) {
  AJ_ASSERT(number < INT32_MAX);
  if (func->next_node_symbol <= number) func->next_node_symbol = number + 1;
  return intern_symbol(func, &(aj_symbol){.func = func->index, .form = AJ_SYM_NODE, .a = number});
}

/* a form b for numbers; false when it is below 0, overflows or divides by 0. */
static bool compute(aj_symbol_form form, int64_t a, int64_t b, int64_t *out) {
  int64_t value = 0;
  switch (form) {
  case AJ_SYM_ADD:
    if (!aj_i64_add(a, b, &value)) return false;
    break;
  case AJ_SYM_SUB: value = a - b; break; /* both are >= 0 */
  case AJ_SYM_MUL:
    if (!aj_i64_mul(a, b, &value)) return false;
    break;
  case AJ_SYM_FLOOR_DIV:
    if (b == 0) return false;
    value = a / b;
    break;
  case AJ_SYM_LESS: value = a > b ? a - b : 0; break;
  case AJ_SYM_PARAM:
  case AJ_SYM_NODE: return false; /* bound, not computed */
  }
  if (value < 0) return false;
  *out = value;
  return true;
}

/* Folds that hold for every value of the symbols; false: none applies. */
static bool fold_identity(aj_symbol_form form, int64_t a, int64_t b, int64_t *out) {
  switch (form) {
  case AJ_SYM_ADD:
    if (a == 0) return *out = b, true;
    return b == 0 ? (*out = a, true) : false;
  case AJ_SYM_SUB:
  case AJ_SYM_LESS:
    if (a == b) return *out = 0, true;
    return b == 0 ? (*out = a, true) : false;
  case AJ_SYM_MUL:
    if (a == 0 || b == 0) return *out = 0, true;
    if (a == 1) return *out = b, true;
    return b == 1 ? (*out = a, true) : false;
  case AJ_SYM_FLOOR_DIV: return b == 1 ? (*out = a, true) : false;
  case AJ_SYM_PARAM:
  case AJ_SYM_NODE: break;
  }
  return false;
}

bool aj_dim_make(aj_func *func, aj_symbol_form form, int64_t a, int64_t b, int64_t *out) {
  if (a >= 0 && b >= 0) return compute(form, a, b, out);
  if (fold_identity(form, a, b, out)) return true;
  if ((form == AJ_SYM_ADD || form == AJ_SYM_MUL) && b < a) { /* one order for what commutes: the newest symbol first */
    int64_t swapped = a;
    a = b;
    b = swapped;
  }
  /* (n + 2) + 3 is n + 5: chains of pads and concats stay one step deep. Not so for sub: (n - 5) + 5 fails for n < 5.
   */
  if (form == AJ_SYM_ADD && a < 0 && b >= 0) {
    const aj_symbol inner = func->module->symbols.data[aj_dim_symbol(a)];
    int64_t sum;
    if (inner.form == AJ_SYM_ADD && inner.b >= 0 && aj_i64_add(inner.b, b, &sum)) a = inner.a, b = sum;
  }
  int64_t symbol = intern_symbol(func, &(aj_symbol){.func = func->index, .form = form, .a = a, .b = b});
  if (symbol == 0) {
    func->module->arena.failed = true; /* so that the caller can tell lack of memory from a bad extent */
    return false;
  }
  *out = symbol;
  return true;
}

aj_bind aj_symbols_derive(const aj_func *func, uint32_t first, uint32_t count, int64_t *env, uint32_t *out_symbol) {
  const aj_module *module = func->module;
  uint32_t least = count ? first + 1 : 0, most = first + count;
  for (uint32_t i = 0; i < module->symbols.count; i++) {
    const aj_symbol *symbol = &module->symbols.data[i];
    if (symbol->func != func->index || symbol->form < AJ_SYM_ADD) continue;
    if (symbol->after < least || symbol->after > most) continue;
    if (!compute(symbol->form, aj_dim_eval(symbol->a, env), aj_dim_eval(symbol->b, env), &env[i])) {
      *out_symbol = i;
      return AJ_BIND_RANGE;
    }
  }
  return AJ_BIND_OK;
}

bool aj_type_is_late(const aj_module *module, const aj_type *type) {
  for (int32_t d = 0; module->derives && d < type->rank; d++)
    if (after_of(module, type->dims[d])) return true;
  return false;
}

static int64_t move_symbol(aj_func *to, const aj_symbol *symbol) {
  return symbol->name ? aj_symbol_named(to, symbol->name) : aj_symbol_node(to, (uint32_t)symbol->a);
}

/* Depth-first over the expression with an explicit stack: a symbol is left when both of its dims are known. */
aj_translate aj_dim_translate(aj_func *to, bool by_name, int64_t *known, int64_t dim, int64_t *out) {
  aj_module *module = to->module;
  if (!aj_dim_is_symbol(dim)) return *out = dim, AJ_TRANSLATE_OK;
  AJ_VEC(uint32_t) stack = {0};
  aj_translate result = AJ_TRANSLATE_OK;
  if (!AJ_VEC_PUSH(module->mem, &stack, aj_dim_symbol(dim))) return AJ_TRANSLATE_MEMORY;
  while (stack.count && result == AJ_TRANSLATE_OK) {
    uint32_t at = stack.data[stack.count - 1];
    const aj_symbol symbol = module->symbols.data[at];
    if (known[at] != AJ_DIM_UNKNOWN) {
      stack.count--;
    } else if (symbol.form < AJ_SYM_ADD) {
      if (!by_name)
        result = AJ_TRANSLATE_UNBOUND;
      else if ((known[at] = move_symbol(to, &symbol)) == 0)
        result = AJ_TRANSLATE_MEMORY;
    } else {
      int64_t parts[2] = {symbol.a, symbol.b};
      bool ready = true;
      for (int i = 0; i < 2; i++) {
        if (!aj_dim_is_symbol(parts[i])) continue;
        uint32_t part = aj_dim_symbol(parts[i]);
        parts[i] = known[part];
        if (parts[i] != AJ_DIM_UNKNOWN) continue;
        ready = false;
        if (!AJ_VEC_PUSH(module->mem, &stack, part)) result = AJ_TRANSLATE_MEMORY;
      }
      if (ready && !aj_dim_make(to, symbol.form, parts[0], parts[1], &known[at]))
        result = module->arena.failed ? AJ_TRANSLATE_MEMORY : AJ_TRANSLATE_RANGE;
    }
  }
  AJ_VEC_FREE(module->mem, &stack);
  if (result == AJ_TRANSLATE_OK) *out = known[aj_dim_symbol(dim)];
  return result;
}
