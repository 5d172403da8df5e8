/* Printing of one node: all that is not its regions. */
#include "text/printer.h"

#include <string.h>

#include "text/element.h"

enum { MOST_LISTED_ELEMENTS = 64 }; /* longer constants are printed as hexadecimal data */

aj_ints_meaning aj_printer_ints_meaning(aj_attr_name name) {
  return name == AJ_ATTR_KINDS ? AJ_INTS_KINDS : name == AJ_ATTR_COMBINE ? AJ_INTS_OPS : AJ_INTS_NUMBERS;
}

void aj_printer_kind(aj_printer *p, int64_t kind) {
  const aj_kind_info *info =
      kind >= INT32_MIN && kind <= INT32_MAX ? aj_kinds_get(p->module->kinds, (arrjit_kind)kind) : NULL;
  aj_text_print_name(info ? info->name : "?", p->out);
}

static void print_int_of(aj_printer *p, aj_ints_meaning meaning, int64_t value) {
  switch (meaning) {
  case AJ_INTS_NUMBERS: aj_text_printf(p->out, "%lld", (long long)value); break;
  case AJ_INTS_KINDS: aj_printer_kind(p, value); break;
  case AJ_INTS_OPS: aj_text_puts(p->out, value >= 0 && value < AJ_OP_COUNT ? aj_ops[value].name : "?"); break;
  }
}

static void print_list(aj_printer *p, const aj_attr *attr, bool dims) {
  aj_text_puts(p->out, "[");
  for (uint32_t i = 0; i < attr->count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    if (dims)
      aj_dims_print(&p->dims, p->func, attr->u.ints[i], p->out);
    else
      print_int_of(p, aj_printer_ints_meaning(attr->name), attr->u.ints[i]);
  }
  aj_text_puts(p->out, "]");
}

static void print_attr(aj_printer *p, const aj_attr *attr) {
  const aj_module *m = p->module;
  aj_text_printf(p->out, "%s = ", aj_attrs[attr->name].name);
  switch (aj_attrs[attr->name].form) {
  case AJ_FORM_INT: aj_text_printf(p->out, "%lld", (long long)attr->u.i); break;
  case AJ_FORM_INTS: print_list(p, attr, false); break;
  case AJ_FORM_DIMS: print_list(p, attr, true); break;
  case AJ_FORM_DTYPE:
    aj_text_puts(p->out, attr->u.i > 0 && attr->u.i < AJ_DTYPE_COUNT ? aj_dtypes[attr->u.i].name : "?");
    break;
  case AJ_FORM_BYTES: aj_text_puts(p->out, "?"); break; /* the literal, see print_literal */
  case AJ_FORM_TEXT:
    if (attr->u.text)
      aj_text_print_quoted(attr->u.text, p->out);
    else
      aj_text_puts(p->out, "none");
    break;
  case AJ_FORM_KIND: aj_printer_kind(p, attr->u.i); break;
  case AJ_FORM_SLOT:
    aj_text_print_name(attr->u.i >= 0 && (size_t)attr->u.i < m->slots.count ? m->slots.data[attr->u.i].name : "?",
                       p->out);
    break;
  case AJ_FORM_FUNC:
    aj_text_puts(p->out, "@");
    aj_text_print_name(attr->u.i >= 0 && (size_t)attr->u.i < m->funcs.count ? m->funcs.data[attr->u.i]->name : "?",
                       p->out);
    break;
  }
}

static void print_hex(const unsigned char *bytes, size_t count, aj_text *out) {
  static const char digits[] = "0123456789abcdef";
  char chunk[128];
  aj_text_puts(out, "hex \"");
  for (size_t i = 0; i < count;) {
    size_t filled = 0;
    for (; i < count && filled < sizeof chunk; i++) {
      chunk[filled++] = digits[bytes[i] >> 4];
      chunk[filled++] = digits[bytes[i] & 15];
    }
    aj_text_add(out, chunk, filled);
  }
  aj_text_puts(out, "\"");
}

static bool has_odd_bool(const aj_attr *value) {
  const unsigned char *bytes = value->u.bytes;
  for (uint32_t i = 0; i < value->count; i++)
    if (bytes[i] > 1) return true;
  return false;
}

/* One element stands alone, few in a list; more, and bools that are neither true nor false, as data. */
static void print_literal(aj_printer *p, const aj_node *node) {
  const aj_attr *value = aj_node_attr(node, AJ_ATTR_VALUE);
  int64_t dtype = aj_node_int(node, AJ_ATTR_DTYPE);
  size_t size = dtype > 0 && dtype < AJ_DTYPE_COUNT ? aj_dtypes[dtype].bytes : 0;
  if (!value || !size || value->count % size) {
    aj_text_puts(p->out, "?");
    return;
  }
  const char *bytes = value->u.bytes;
  size_t count = value->count / size;
  if (count > MOST_LISTED_ELEMENTS || (dtype == ARRJIT_BOOL && has_odd_bool(value))) {
    print_hex(value->u.bytes, value->count, p->out);
    return;
  }
  if (count != 1) aj_text_puts(p->out, "[");
  for (size_t i = 0; i < count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    aj_element_print(p->out, (arrjit_dtype)dtype, bytes + i * size);
  }
  if (count != 1) aj_text_puts(p->out, "]");
}

static void print_attrs(aj_printer *p, const aj_node *node) {
  if (!node->attr_count) return;
  aj_text_puts(p->out, " {");
  for (uint32_t i = 0; i < node->attr_count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    print_attr(p, &node->attrs[i]);
  }
  aj_text_puts(p->out, "}");
}

void aj_printer_node_head(aj_printer *p, const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    if (i) aj_text_puts(p->out, ", ");
    aj_names_print(&p->names, &node->results[i], p->out);
  }
  if (node->result_count) aj_text_puts(p->out, " = ");
  aj_text_puts(p->out, aj_ops[node->op].name);
  if (aj_ops[node->op].attrs & (uint64_t)1 << AJ_ATTR_VALUE) { /* its other attributes are told by its type */
    aj_text_puts(p->out, " ");
    print_literal(p, node);
    return;
  }
  for (uint32_t i = 0; i < node->operand_count; i++) {
    aj_text_puts(p->out, i ? ", " : " ");
    aj_names_print(&p->names, node->operands[i], p->out);
  }
  print_attrs(p, node);
}

void aj_printer_node_tail(aj_printer *p, const aj_node *node) {
  for (uint32_t i = 0; i < node->result_count; i++) {
    aj_text_puts(p->out, i ? ", " : " : ");
    aj_dims_print_type(&p->dims, p->func, node->results[i].type, p->out);
  }
  if (node->source.file) {
    aj_text_puts(p->out, " at ");
    aj_text_print_quoted(node->source.file, p->out);
    aj_text_printf(p->out, ":%ld", (long)node->source.line);
  }
  if (node->source.label) {
    aj_text_puts(p->out, " label ");
    aj_text_print_quoted(node->source.label, p->out);
  }
}
