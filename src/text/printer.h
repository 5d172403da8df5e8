/* What the files of the .air printer share. */
#ifndef AJ_TEXT_PRINTER_H
#define AJ_TEXT_PRINTER_H

#include "text/air.h"
#include "text/dims.h"
#include "text/names.h"

typedef struct aj_printer {
  const aj_module *module;
  aj_text *out;
  aj_dim_names dims;
  aj_names names; /* of the function being printed */
  uint32_t func;
} aj_printer;

/* An INTS attribute whose numbers stand for something that text must name: numbers of kinds and ops differ between
 * contexts and versions. */
typedef enum aj_ints_meaning { AJ_INTS_NUMBERS, AJ_INTS_KINDS, AJ_INTS_OPS } aj_ints_meaning;
aj_ints_meaning aj_printer_ints_meaning(aj_attr_name name);

/* Results, op, operands and attributes: what comes before a node's regions. */
void aj_printer_node_head(aj_printer *p, const aj_node *node);
/* Types, source tag, label: what comes after them. */
void aj_printer_node_tail(aj_printer *p, const aj_node *node);
void aj_printer_kind(aj_printer *p, int64_t kind);
/* The payload fields that a kind adds to its parent's: "f64[0], ...". */
void aj_printer_kind_fields(const aj_kinds *kinds, arrjit_kind kind, aj_text *out);

#endif
