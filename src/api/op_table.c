/* arrjit/core.h: the op table, for hosts that list or check ops by name. */
#include "engine/engine.h"

size_t arrjit_op_count(void) { return AJ_OP_COUNT - 1; }

arrjit_status arrjit_op_get(size_t index, arrjit_op_row *out) {
  if (index >= AJ_OP_COUNT - 1 || !out) return ARRJIT_MISUSE;
  const aj_op_info *info = &aj_ops[index + 1]; /* row 0 is no op */
  arrjit_op_row row = {.name = info->name,
                       .operands = info->operands,
                       .meaning = info->meaning,
                       .errors = info->errors,
                       .dtypes = info->dtypes,
                       .in_graphs = !(info->flags & AJ_F_INTERNAL)};
  for (int name = 0; name < AJ_ATTR_COUNT; name++) {
    if (!(info->attrs >> name & 1)) continue;
    AJ_ASSERT(row.attribute_count < AJ_COUNT(row.attributes));
    row.attributes[row.attribute_count++] = aj_attrs[name].name;
  }
  *out = row;
  return ARRJIT_OK;
}
