/* Graphviz: a cluster for every function and region, an edge from a value's node to each of its uses. */
#include "text/printer.h"

typedef struct frame {
  const aj_region *region;
  uint32_t pc;
} frame;
typedef AJ_VEC(frame) frame_stack;

/* A node is f0_n7; a parameter f0_p3, or f0_r3 of a function itself. */
static void print_id(aj_printer *p, const aj_value *value) {
  if (value->def)
    aj_text_printf(p->out, "f%u_n%u", p->func, aj_names_find(&p->names, value->def));
  else if (!value->region->owner)
    aj_text_printf(p->out, "f%u_r%u", p->func, value->index);
  else
    aj_text_printf(p->out, "f%u_p%u", p->func, aj_names_find(&p->names, value->region) + value->index);
}

/* A label that is .air text, quoted once more. */
static void print_label(aj_printer *p, void (*print)(aj_printer *, const void *), const void *what) {
  aj_text *out = p->out, text;
  aj_text_init(&text, out->mem);
  p->out = &text;
  print(p, what);
  p->out = out;
  out->failed |= text.failed;
  aj_text_print_quoted(text.data ? text.data : "", out);
  aj_text_free(&text);
}

static void print_node_text(aj_printer *p, const void *what) {
  const aj_node *node = what;
  aj_printer_node_head(p, node);
  aj_printer_node_tail(p, node);
}

static void print_param_text(aj_printer *p, const void *what) {
  const aj_value *param = what;
  aj_names_print(&p->names, param, p->out);
  aj_text_puts(p->out, ": ");
  aj_dims_print_type(&p->dims, p->func, param->type, p->out);
}

static void open_region(aj_printer *p, const aj_region *region) {
  if (region->owner) {
    uint32_t number = aj_names_find(&p->names, region->owner);
    aj_text_printf(p->out, "subgraph cluster_f%u_n%u_%u {\nlabel=\"%s region %u\";\n", p->func, number, region->index,
                   aj_ops[region->owner->op].name, region->index);
  }
  for (uint32_t i = 0; i < region->param_count; i++) {
    print_id(p, region->params[i]);
    aj_text_puts(p->out, " [shape=ellipse,label=");
    print_label(p, print_param_text, region->params[i]);
    aj_text_puts(p->out, "];\n");
  }
}

static void print_node(aj_printer *p, const aj_node *node) {
  uint32_t number = aj_names_find(&p->names, node);
  aj_text_printf(p->out, "f%u_n%u [label=", p->func, number);
  print_label(p, print_node_text, node);
  aj_text_puts(p->out, "];\n");
  for (uint32_t i = 0; i < node->operand_count; i++) {
    print_id(p, node->operands[i]);
    aj_text_printf(p->out, " -> f%u_n%u;\n", p->func, number);
  }
}

static bool print_step(aj_printer *p, frame_stack *stack) {
  frame *top = &stack->data[stack->count - 1];
  const aj_node *node;
  uint32_t next_region = 0;
  if (top->pc < top->region->node_count) {
    print_node(p, node = top->region->nodes[top->pc++]);
  } else {
    aj_text_puts(p->out, "}\n");
    node = top->region->owner;
    next_region = top->region->index + 1;
    stack->count--;
  }
  if (!node || next_region >= node->region_count) return true;
  open_region(p, node->regions[next_region]);
  return AJ_VEC_PUSH(p->module->mem, stack, ((frame){node->regions[next_region], 0}));
}

static bool print_func(aj_printer *p, const aj_func *func) {
  frame_stack stack = {0};
  p->func = func->index;
  bool ok = aj_names_make(&p->names, func) && AJ_VEC_PUSH(p->module->mem, &stack, ((frame){func->root, 0}));
  if (ok) {
    aj_text_printf(p->out, "subgraph cluster_f%u {\nlabel=", p->func);
    aj_text_print_quoted(func->name, p->out);
    aj_text_puts(p->out, ";\n");
    open_region(p, func->root);
  }
  while (ok && stack.count && !p->out->failed) ok = print_step(p, &stack);
  AJ_VEC_FREE(p->module->mem, &stack);
  aj_names_free(&p->names);
  return ok;
}

void aj_dot_print(const aj_module *module, aj_text *out) {
  aj_printer p = {.module = module, .out = out};
  bool ok = aj_dim_names_make(&p.dims, module);
  aj_text_puts(out, "digraph arrjit {\nnode [shape=box,fontname=\"monospace\"];\n");
  for (size_t i = 0; ok && i < module->funcs.count; i++)
    if (module->funcs.data[i]->root) ok = print_func(&p, module->funcs.data[i]);
  aj_text_puts(out, "}\n");
  if (!ok) out->failed = true;
  aj_dim_names_free(&p.dims);
}
