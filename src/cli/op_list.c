/* arrjit ops: the op table for people. */
#include <string.h>

#include "cli/cli.h"

static void print_dtypes(uint32_t dtypes) {
  const char *separator = "";
  for (int dtype = 1; dtype < 32; dtype++) {
    if (!(dtypes >> dtype & 1)) continue;
    printf("%s%s", separator, arrjit_dtype_name((arrjit_dtype)dtype));
    separator = " ";
  }
  if (!*separator) fputs("by its own rule", stdout);
}

static void print_details(const arrjit_op_row *op) {
  printf("%s\n  meaning     %s\n  operands    %s\n  attributes ", op->name, op->meaning,
         *op->operands ? op->operands : "none");
  for (size_t i = 0; i < op->attribute_count; i++) printf(" %s", op->attributes[i]);
  fputs(op->attribute_count ? "\n  dtypes      " : " none\n  dtypes      ", stdout);
  print_dtypes(op->dtypes);
  printf("\n  errors      %s\n", *op->errors ? op->errors : "none");
  if (!op->in_graphs) puts("  made by the optimiser only");
}

static void print_line(const arrjit_op_row *op) {
  char head[96];
  snprintf(head, sizeof head, "%s %s", op->name, op->operands);
  printf("%-44s %s%s%s%s\n", head, op->meaning, *op->errors ? " [" : "", op->errors, *op->errors ? "]" : "");
}

int cli_ops(int argc, char **argv) {
  if (argc > 1) return cli_bad("ops takes one name at most");
  for (size_t i = 0; i < arrjit_op_count(); i++) {
    arrjit_op_row op;
    if (arrjit_op_get(i, &op) != ARRJIT_OK) return cli_bad("op %zu cannot be read", i);
    if (argc == 0) {
      print_line(&op);
    } else if (strcmp(op.name, argv[0]) == 0) {
      print_details(&op);
      return CLI_OK;
    }
  }
  return argc == 0 ? CLI_OK : cli_bad("no op is called '%s'", argv[0]);
}
