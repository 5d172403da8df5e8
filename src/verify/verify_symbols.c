/* The verifier: extents. A symbol may be used where it has a value: one that follows from parameters everywhere, one
 * that a callback binds behind it, to the end of its region.
 *
 * c->open has the numbers of the latter, ascending, since they are bound in the order of their numbers. A derived
 * symbol is looked at part by part when it is first met (then c->bound tells it); afterwards it is bound exactly while
 * the last bound of its parts is, since that one's region lies inside those of the others. */
#include "verify/checker.h"

static bool is_derived(const aj_symbol *s) { return s->form >= AJ_SYM_ADD; }

/* ---- the list ---- */

/* Derived symbols come after what they are made of: so one pass computes them all. */
static bool check_order(aj_checker *c) {
  const aj_module *m = c->module;
  for (uint32_t i = 0; i < m->symbols.count; i++) {
    const aj_symbol *s = &m->symbols.data[i];
    bool ok = s->func < m->funcs.count;
    const int64_t parts[2] = {s->a, s->b};
    for (int k = 0; k < 2 && ok && is_derived(s); k++)
      if (aj_dim_is_symbol(parts[k]))
        ok = ~parts[k] < (int64_t)i && m->symbols.data[aj_dim_symbol(parts[k])].func == s->func;
    if (!ok) return aj_checker_fail(c, AJ_VERIFY_SYMBOL_ORDER, i);
  }
  return true;
}

/* Which symbols follow from arguments; a derived one does when its parts do. Those of slots are bound by what is
 * passed.
 */
static void find_bound(aj_checker *c) {
  const aj_module *m = c->module;
  for (size_t f = 0; f < m->funcs.count; f++) {
    const aj_func *func = m->funcs.data[f];
    for (uint32_t i = 0; i < func->param_count; i++)
      for (int32_t d = 0; d < func->param_types[i]->rank; d++) {
        int64_t dim = func->param_types[i]->dims[d];
        if (aj_dim_is_symbol(dim) && ~dim < (int64_t)m->symbols.count)
          c->bound[aj_dim_symbol(dim)] = m->symbols.data[aj_dim_symbol(dim)].after == 0;
      }
  }
  for (size_t i = 0; i < m->symbols.count; i++) {
    const aj_symbol *s = &m->symbols.data[i];
    if (!is_derived(s) || s->after) continue;
    bool a = !aj_dim_is_symbol(s->a) || c->bound[aj_dim_symbol(s->a)];
    bool b = !aj_dim_is_symbol(s->b) || c->bound[aj_dim_symbol(s->b)];
    c->bound[i] = a && b;
  }
}

bool aj_checker_symbols(aj_checker *c) {
  if (!check_order(c)) return false;
  if (!c->module->symbols.count) return true;
  c->bound = aj_mem_array(c->module->mem, c->module->symbols.count, sizeof *c->bound);
  if (!c->bound) return aj_checker_no_memory(c);
  find_bound(c);
  return true;
}

/* ---- what callbacks bind ---- */

void aj_checker_close_symbols(aj_checker *c) {
  c->open.count = 0;
  c->last_bound = -1;
}

bool aj_checker_open_symbols(aj_checker *c, const aj_node *callback) {
  const aj_attr *binds = aj_node_attr(callback, AJ_ATTR_BINDS);
  if (!binds) return true;
  const aj_slot *slot = &c->module->slots.data[aj_node_int(callback, AJ_ATTR_SLOT)];
  uint32_t first = (uint32_t)binds->u.i, count = aj_slot_all_dynamic_dims(slot);
  if ((int64_t)first <= c->last_bound)
    return aj_checker_fail(c, AJ_VERIFY_SYMBOL_TWICE, first, (uint32_t)c->last_bound);
  for (uint32_t i = 0; i < count; i++)
    if (!AJ_VEC_PUSH(c->module->mem, &c->open, first + i)) return aj_checker_no_memory(c);
  c->last_bound = (int64_t)first + count - 1;
  return true;
}

/* By halves: numbers are ascending. */
static bool is_open(const aj_checker *c, uint32_t number) {
  size_t low = 0, high = c->open.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (c->open.data[middle] < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < c->open.count && c->open.data[low] == number;
}

/* Whether all is bound that a derived symbol hangs on, by a stack of its parts that are met for the first time. */
static bool find_open(aj_checker *c, uint32_t symbol, bool *out) {
  const aj_symbol *symbols = c->module->symbols.data;
  AJ_VEC(uint32_t) stack = {0};
  bool memory = AJ_VEC_PUSH(c->module->mem, &stack, symbol);
  for (*out = true; memory && *out && stack.count;) {
    uint32_t at = stack.data[stack.count - 1];
    const int64_t parts[2] = {symbols[at].a, symbols[at].b};
    size_t before = stack.count;
    for (int k = 0; k < 2 && *out && memory; k++) {
      if (!aj_dim_is_symbol(parts[k])) continue;
      uint32_t part = aj_dim_symbol(parts[k]);
      if (is_derived(&symbols[part]) && symbols[part].after && !c->bound[part])
        memory = AJ_VEC_PUSH(c->module->mem, &stack, part);
      else
        *out = symbols[part].after ? is_open(c, symbols[part].after - 1) : c->bound[part];
    }
    if (!*out || !memory || stack.count > before) continue;
    c->bound[at] = true;
    stack.count--;
  }
  AJ_VEC_FREE(c->module->mem, &stack);
  return memory || aj_checker_no_memory(c);
}

bool aj_checker_type(aj_checker *c, const char *what, const aj_type *type) {
  const aj_module *m = c->module;
  for (int32_t d = 0; d < type->rank; d++) {
    int64_t dim = type->dims[d];
    char text[128];
    if (!aj_dim_is_symbol(dim)) continue;
    uint32_t symbol = aj_dim_symbol(dim);
    if (~dim >= (int64_t)m->symbols.count) return aj_checker_fail(c, AJ_VERIFY_SYMBOL_RANGE, what, symbol);
    const aj_symbol *s = &m->symbols.data[symbol];
    aj_dim_print(m, dim, text, sizeof text);
    if (s->func != c->func->index) return aj_checker_fail(c, AJ_VERIFY_SYMBOL_FOREIGN, what, text);
    bool bound = s->after ? is_open(c, s->after - 1) : c->bound[symbol];
    if (bound && is_derived(s) && s->after && !c->bound[symbol] && !find_open(c, symbol, &bound)) return false;
    if (bound) continue;
    if (s->after) return aj_checker_fail(c, AJ_VERIFY_SYMBOL_CLOSED, what, text);
    return aj_checker_fail(c, AJ_VERIFY_SYMBOL_UNBOUND, text, c->func->name);
  }
  return true;
}
