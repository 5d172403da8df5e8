/* Printing of extents, types, names and quoted strings. */
#include "text/dims.h"

#include <string.h>

#include "text/lexer.h"

enum { LONGEST_EXPRESSION = 8 }; /* leaves; so recursion here is at most that deep */

static bool is_derived(const aj_symbol *s) { return s->form != AJ_SYM_PARAM && s->form != AJ_SYM_NODE; }

static uint32_t count_leaves(const uint32_t *leaves, int64_t dim) {
  return aj_dim_is_symbol(dim) ? leaves[aj_dim_symbol(dim)] : 1;
}

bool aj_dim_names_make(aj_dim_names *names, const aj_module *module) {
  size_t count = module->symbols.count;
  *names = (aj_dim_names){.module = module, .count = count};
  if (!count) return true;
  names->locals = aj_mem_array(module->mem, count, sizeof *names->locals);
  uint32_t *leaves = aj_mem_array(module->mem, count, sizeof *leaves);
  uint32_t *used = aj_mem_array(module->mem, module->funcs.count, sizeof *used); /* $names of each function so far */
  bool ok = names->locals && leaves && (used || !module->funcs.count);
  for (size_t i = 0; ok && i < count; i++) {
    const aj_symbol *s = &module->symbols.data[i];
    leaves[i] = is_derived(s) ? count_leaves(leaves, s->a) + count_leaves(leaves, s->b) : 1;
    if (leaves[i] <= LONGEST_EXPRESSION) continue;
    leaves[i] = 1;
    names->locals[i] = ++used[s->func];
  }
  aj_mem_free(module->mem, leaves, count * sizeof *leaves);
  aj_mem_free(module->mem, used, module->funcs.count * sizeof *used);
  return ok;
}

void aj_dim_names_free(aj_dim_names *names) {
  if (names->module) aj_mem_free(names->module->mem, names->locals, names->count * sizeof *names->locals);
  names->locals = NULL;
}

void aj_text_print_quoted(const char *s, aj_text *out) {
  aj_text_puts(out, "\"");
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      aj_text_printf(out, "\\%c", c);
    else if (c == '\n')
      aj_text_puts(out, "\\n");
    else if (c == '\t')
      aj_text_puts(out, "\\t");
    else if (c == '\r')
      aj_text_puts(out, "\\r");
    else if (c < 0x20 || c == 0x7f)
      aj_text_printf(out, "\\x%02x", c);
    else
      aj_text_add(out, s, 1);
  }
  aj_text_puts(out, "\"");
}

void aj_text_print_name(const char *name, aj_text *out) {
  if (aj_lexer_is_word(name))
    aj_text_puts(out, name);
  else
    aj_text_print_quoted(name, out);
}

static void print_prefix(const aj_dim_names *names, uint32_t func, const aj_symbol *s, aj_text *out) {
  if (s->func == func) return;
  aj_text_puts(out, "@");
  aj_text_print_name(names->module->funcs.data[s->func]->name, out);
  aj_text_puts(out, ":");
}

static void print_expression(const aj_dim_names *names, uint32_t func, int64_t dim, int binds, aj_text *out);

/* Which of the operands of a sum or product of symbols is written first does not depend on the order in which the
 * symbols were made, so that text that was read is printed as it was: the one whose text is less. */
static bool is_swapped(const aj_dim_names *names, uint32_t func, const aj_symbol *s, int binds, aj_text *out) {
  if (s->form != AJ_SYM_ADD && s->form != AJ_SYM_MUL) return false;
  if (!aj_dim_is_symbol(s->b)) return s->form == AJ_SYM_MUL; /* n+1, but 2*n */
  aj_text a, b;
  aj_text_init(&a, out->mem);
  aj_text_init(&b, out->mem);
  print_expression(names, func, s->a, binds, &a);
  print_expression(names, func, s->b, binds, &b);
  out->failed |= a.failed || b.failed;
  bool swapped = !out->failed && strcmp(a.data, b.data) > 0;
  aj_text_free(&a);
  aj_text_free(&b);
  return swapped;
}

static void print_operation(const aj_dim_names *names, uint32_t func, const aj_symbol *s, int binds, aj_text *out) {
  static const char *const operators[] = {
      [AJ_SYM_ADD] = "+", [AJ_SYM_SUB] = "-", [AJ_SYM_MUL] = "*", [AJ_SYM_FLOOR_DIV] = "//", [AJ_SYM_LESS] = "--"};
  int own = s->form == AJ_SYM_MUL || s->form == AJ_SYM_FLOOR_DIV ? 2 : 1;
  bool swapped = is_swapped(names, func, s, own + 1, out);
  if (own < binds) aj_text_puts(out, "(");
  print_expression(names, func, swapped ? s->b : s->a, own, out);
  aj_text_puts(out, operators[s->form]);
  print_expression(names, func, swapped ? s->a : s->b, own + 1, out);
  if (own < binds) aj_text_puts(out, ")");
}

/* `binds`: how tightly what stands around it binds: 0 nothing, 1 sums, 2 products, 3 more than both. */
static void print_expression(const aj_dim_names *names, uint32_t func, int64_t dim, int binds, aj_text *out) {
  uint32_t symbol = aj_dim_symbol(dim);
  if (!aj_dim_is_symbol(dim)) {
    aj_text_printf(out, "%lld", (long long)dim);
  } else if (dim == ARRJIT_DYNAMIC_DIM || symbol >= names->count) {
    aj_text_puts(out, "?");
  } else {
    const aj_symbol *s = &names->module->symbols.data[symbol];
    if (is_derived(s) && !names->locals[symbol]) {
      print_operation(names, func, s, binds, out);
      return;
    }
    print_prefix(names, func, s, out);
    if (names->locals[symbol])
      aj_text_printf(out, "$%u", names->locals[symbol] - 1);
    else if (s->form == AJ_SYM_NODE)
      aj_text_printf(out, "?%lld", (long long)s->a);
    else
      aj_text_print_name(s->name ? s->name : "?", out);
  }
}

void aj_dims_print(const aj_dim_names *names, uint32_t func, int64_t dim, aj_text *out) {
  print_expression(names, func, dim, 0, out);
}

void aj_dims_print_type(const aj_dim_names *names, uint32_t func, const aj_type *type, aj_text *out) {
  aj_text_puts(out, type->is_exn ? "exn" : aj_dtypes[type->dtype].name);
  for (int32_t i = 0; i < type->rank; i++) {
    aj_text_puts(out, i ? ", " : "[");
    aj_dims_print(names, func, type->dims[i], out);
  }
  if (type->rank) aj_text_puts(out, "]");
}

void aj_dims_print_locals(const aj_dim_names *names, aj_text *out) {
  for (size_t i = 0; i < names->count; i++) {
    if (!names->locals[i]) continue;
    uint32_t func = names->module->symbols.data[i].func;
    aj_text_puts(out, "dim @");
    aj_text_print_name(names->module->funcs.data[func]->name, out);
    aj_text_printf(out, ":$%u = [", names->locals[i] - 1); /* brackets: two slashes are an operator in them */
    print_operation(names, func, &names->module->symbols.data[i], 0, out);
    aj_text_puts(out, "]\n");
  }
}
