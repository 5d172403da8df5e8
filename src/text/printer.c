/* Printing of modules as .air text: kinds, declarations, slots, functions. Regions are walked with a stack of our own.
 */
#include "text/printer.h"

#include <string.h>

enum {
  MOST_INDENTED = 40, /* deeper regions are not indented further, or text would grow with the square of the depth */
  BUILTIN_KINDS = 0
#define KIND(ID, name, parent, fields, text) +1
#include "ir/kinds.def"
#undef KIND
};

typedef struct frame {
  const aj_region *region;
  uint32_t pc;
} frame;
typedef AJ_VEC(frame) frame_stack;

/* ---- kinds ---- */

static void mark_kind(const aj_module *module, bool *used, int64_t kind) {
  const aj_kind_info *info;
  while (kind > 0 && kind <= INT32_MAX && (info = aj_kinds_get(module->kinds, (arrjit_kind)kind)) && !used[kind]) {
    used[kind] = true;
    kind = info->parent;
  }
}

static void mark_kinds_of_node(const aj_module *module, bool *used, const aj_node *node) {
  for (uint32_t i = 0; i < node->attr_count; i++) {
    const aj_attr *attr = &node->attrs[i];
    if (aj_attrs[attr->name].form == AJ_FORM_KIND) mark_kind(module, used, attr->u.i);
    if (aj_printer_ints_meaning(attr->name) != AJ_INTS_KINDS) continue;
    for (uint32_t k = 0; k < attr->count; k++) mark_kind(module, used, attr->u.ints[k]);
  }
}

void aj_printer_kind_fields(const aj_kinds *kinds, arrjit_kind kind, aj_text *out) {
  const aj_kind_info *info = aj_kinds_get(kinds, kind);
  const char *separator = "";
  uint32_t own = info->parent == kind ? 0 : aj_kinds_get(kinds, info->parent)->field_count;
  for (uint32_t i = own; i < info->field_count; i++, separator = ", ")
    aj_text_printf(out, "%s%s[%d]", separator, aj_dtypes[info->fields[i].dtype].name, (int)info->fields[i].rank);
  if (info->open) aj_text_printf(out, "%s...", separator);
}

static void print_kind_line(aj_printer *p, arrjit_kind kind) {
  aj_text_puts(p->out, "kind ");
  aj_printer_kind(p, kind);
  aj_text_puts(p->out, " : ");
  aj_printer_kind(p, aj_kinds_get(p->module->kinds, kind)->parent);
  aj_text_puts(p->out, " (");
  aj_printer_kind_fields(p->module->kinds, kind, p->out);
  aj_text_puts(p->out, ")\n");
}

/* The host's kinds that the module names, parents first (they have lower numbers). */
static bool print_kinds(aj_printer *p) {
  size_t count = (size_t)aj_kinds_count(p->module->kinds) + 1;
  bool *used = aj_mem_array(p->module->mem, count, sizeof *used);
  if (!used) return false;
  for (size_t f = 0; f < p->module->funcs.count; f++) {
    aj_walk walk;
    aj_walk_start(&walk, p->module->funcs.data[f]);
    for (aj_node *node; (node = aj_walk_next(&walk));) mark_kinds_of_node(p->module, used, node);
  }
  for (size_t kind = BUILTIN_KINDS + 1; kind < count; kind++)
    if (used[kind]) print_kind_line(p, (arrjit_kind)kind);
  aj_mem_free(p->module->mem, used, count * sizeof *used);
  return true;
}

/* ---- declarations and slots ---- */

static void print_types(aj_printer *p, uint32_t func, uint32_t count, const aj_type *const *types) {
  aj_text_puts(p->out, "(");
  for (uint32_t i = 0; i < count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    aj_dims_print_type(&p->dims, func, types[i], p->out);
  }
  aj_text_puts(p->out, ")");
}

static void print_func_name(aj_printer *p, const aj_func *func) {
  aj_text_puts(p->out, "@");
  aj_text_print_name(func->name, p->out);
}

static bool calls_later(const aj_module *module) {
  for (size_t f = 0; f < module->funcs.count; f++) {
    aj_walk walk;
    if (!module->funcs.data[f]->root) return true;
    aj_walk_start(&walk, module->funcs.data[f]);
    for (aj_node *node; (node = aj_walk_next(&walk));)
      if (node->op == AJ_OP_CALL && aj_node_int(node, AJ_ATTR_CALLEE) > (int64_t)f) return true;
  }
  return false;
}

static bool has_foreign_symbol(const aj_module *module, uint32_t count, const aj_type *const *types) {
  for (uint32_t i = 0; i < count; i++)
    for (int32_t d = 0; d < types[i]->rank; d++) {
      int64_t dim = types[i]->dims[d];
      if (aj_dim_is_symbol(dim) && dim != ARRJIT_DYNAMIC_DIM && aj_dim_symbol(dim) < module->symbols.count &&
          module->symbols.data[aj_dim_symbol(dim)].func != 0)
        return true;
    }
  return false;
}

/* Functions that text names before their bodies are declared; then all are, in their order, which is what numbers them.
 */
static bool needs_declarations(const aj_printer *p) {
  const aj_module *module = p->module;
  if (module->funcs.count && strcmp(module->funcs.data[0]->name, "main") != 0) return true;
  for (size_t i = 0; i < p->dims.count; i++)
    if (p->dims.locals[i] && module->symbols.data[i].func != 0) return true;
  for (size_t i = 0; i < module->slots.count; i++) {
    const aj_slot *s = &module->slots.data[i];
    if (has_foreign_symbol(module, s->param_count, s->param_types)) return true;
    if (has_foreign_symbol(module, s->result_count, s->result_types)) return true;
  }
  return calls_later(module);
}

static void print_declarations(aj_printer *p) {
  for (size_t i = 0; i < p->module->funcs.count; i++) {
    const aj_func *func = p->module->funcs.data[i];
    aj_text_puts(p->out, "declare ");
    print_func_name(p, func);
    print_types(p, func->index, func->param_count, func->param_types);
    aj_text_puts(p->out, " -> ");
    print_types(p, func->index, func->result_count, func->result_types);
    aj_text_puts(p->out, "\n");
  }
}

static void print_slot(aj_printer *p, const aj_slot *slot) {
  aj_text_puts(p->out, slot->is_value ? "slot value " : "slot io ");
  aj_text_print_name(slot->name, p->out);
  print_types(p, 0, slot->param_count, slot->param_types);
  if (slot->is_value) {
    aj_text_puts(p->out, " -> ");
    print_types(p, 0, slot->result_count, slot->result_types);
  }
  if (slot->optional) aj_text_puts(p->out, " optional");
  aj_text_puts(p->out, slot->pure ? " pure\n" : "\n");
}

/* ---- functions ---- */

static void print_line_start(aj_printer *p, size_t depth) {
  for (size_t i = 0; i < depth && i < MOST_INDENTED; i++) aj_text_puts(p->out, "  ");
}

static void print_region_params(aj_printer *p, const aj_region *region) {
  aj_text_puts(p->out, " (");
  for (uint32_t i = 0; i < region->param_count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    aj_names_print(&p->names, region->params[i], p->out);
    aj_text_puts(p->out, ": ");
    aj_dims_print_type(&p->dims, p->func, region->params[i]->type, p->out);
  }
  aj_text_puts(p->out, ") {\n");
}

static void print_signature(aj_printer *p, const aj_func *func) {
  aj_text_puts(p->out, "\nfunc ");
  print_func_name(p, func);
  aj_text_puts(p->out, "(");
  for (uint32_t i = 0; i < func->root->param_count; i++) {
    const aj_value *param = func->root->params[i];
    if (i) aj_text_puts(p->out, ", ");
    aj_names_print(&p->names, param, p->out);
    aj_text_puts(p->out, ": ");
    aj_dims_print_type(&p->dims, func->index, param->type, p->out);
    if (!param->name || aj_names_is_plain(&p->names, param)) continue;
    aj_text_puts(p->out, " ");
    aj_text_print_quoted(param->name, p->out);
  }
  aj_text_puts(p->out, ") -> (");
  for (uint32_t i = 0; i < func->result_count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    aj_dims_print_type(&p->dims, func->index, func->result_types[i], p->out);
    if (!func->result_names[i]) continue;
    aj_text_puts(p->out, " ");
    aj_text_print_quoted(func->result_names[i], p->out);
  }
  aj_text_puts(p->out, ") {\n");
}

/* One step: the next node of the innermost region, or its end, which leads back to the node that owns it. */
static bool print_step(aj_printer *p, frame_stack *stack) {
  frame *top = &stack->data[stack->count - 1];
  const aj_node *node;
  uint32_t next_region = 0;
  if (top->pc < top->region->node_count) {
    node = top->region->nodes[top->pc++];
    print_line_start(p, stack->count);
    aj_printer_node_head(p, node);
  } else {
    print_line_start(p, --stack->count);
    aj_text_puts(p->out, "}");
    node = top->region->owner;
    next_region = top->region->index + 1;
    if (!node) return aj_text_puts(p->out, "\n"), true;
  }
  if (next_region < node->region_count) {
    print_region_params(p, node->regions[next_region]);
    return AJ_VEC_PUSH(p->module->mem, stack, ((frame){node->regions[next_region], 0}));
  }
  aj_printer_node_tail(p, node);
  aj_text_puts(p->out, "\n");
  return true;
}

static bool print_func(aj_printer *p, const aj_func *func) {
  frame_stack stack = {0};
  p->func = func->index;
  bool ok = aj_names_make(&p->names, func);
  if (ok) print_signature(p, func);
  ok = ok && AJ_VEC_PUSH(p->module->mem, &stack, ((frame){func->root, 0}));
  while (ok && stack.count && !p->out->failed) ok = print_step(p, &stack);
  AJ_VEC_FREE(p->module->mem, &stack);
  aj_names_free(&p->names);
  return ok;
}

void aj_air_print(const aj_module *module, aj_text *out) {
  aj_printer p = {.module = module, .out = out};
  bool ok = aj_dim_names_make(&p.dims, module);
  aj_text_puts(out, "air 1\n");
  ok = ok && print_kinds(&p);
  if (ok && needs_declarations(&p)) print_declarations(&p);
  if (ok) aj_dims_print_locals(&p.dims, out);
  for (size_t i = 0; ok && i < module->slots.count; i++) print_slot(&p, &module->slots.data[i]);
  for (size_t i = 0; ok && i < module->funcs.count; i++)
    if (module->funcs.data[i]->root) ok = print_func(&p, module->funcs.data[i]);
  if (!ok) out->failed = true;
  aj_dim_names_free(&p.dims);
}
