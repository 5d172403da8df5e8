/* The tables of dtypes, ops and attributes as data, and finding their rows by name. */
#include "ir/op.h"

#include <string.h>

const aj_dtype_info aj_dtypes[AJ_DTYPE_COUNT] = {
    {"none", AJ_CLASS_NONE, 0, 0},
#define DTYPE(ID, name, cls, bits, ctype) {name, AJ_CLASS_##cls, bits, bits / 8},
#include "ir/dtypes.def"
#undef DTYPE
};

const aj_attr_info aj_attrs[AJ_ATTR_COUNT] = {
#define ATTR(ID, name, form) {name, AJ_FORM_##form},
#include "ir/attrs.def"
#undef ATTR
};

/* Operand counts follow from the operand names, so that no row says them twice: count marks in a literal of up to 32
 * characters at compile time. */
#define IS(s, i, c) ((s)[(i) < sizeof(s) ? (i) : sizeof(s) - 1] == (c))
#define COUNT4(s, i, c) (IS(s, i, c) + IS(s, i + 1, c) + IS(s, i + 2, c) + IS(s, i + 3, c))
#define COUNT16(s, i, c) (COUNT4(s, i, c) + COUNT4(s, i + 4, c) + COUNT4(s, i + 8, c) + COUNT4(s, i + 12, c))
#define COUNT(s, c) (COUNT16(s, 0, c) + COUNT16(s, 16, c))
#define NAMES(s) (COUNT(s, ' ') + (sizeof(s) > 1))
#define LEAST(s) (NAMES(s) - COUNT(s, '.') / 3 - COUNT(s, '?'))
#define MOST(s) (COUNT(s, '.') ? 255 : NAMES(s))

/* Tokens that the rows are written in. */
#define A(NAME) ((uint64_t)1 << AJ_ATTR_##NAME)
#define F_ELEMENTWISE AJ_F_ELEMENTWISE
#define F_COMMUTES AJ_F_COMMUTES
#define F_BITS AJ_F_BITS
#define F_RAISES AJ_F_RAISES
#define F_EFFECT AJ_F_EFFECT
#define F_REGIONS AJ_F_REGIONS
#define F_TERMINATOR AJ_F_TERMINATOR
#define F_BUILDER AJ_F_BUILDER
#define F_WIDENS AJ_F_WIDENS
#define F_INTERNAL AJ_F_INTERNAL

const aj_op_info aj_ops[AJ_OP_COUNT] = {
    {"none", "", 0, AJ_R_NONE, 0, 0, AJ_ROUTINE_CONTROL, AJ_LOWER_CONTROL, "", "", 0, 0},
#define OP(ID, name, operands, dtypes, rule, flags, attrs, routine, lowering, meaning, errors, ...)                    \
  {#name,   operands, AJ_##dtypes,     AJ_##rule,     flags, attrs, AJ_ROUTINE_##routine, AJ_LOWER_##lowering,         \
   meaning, errors,   LEAST(operands), MOST(operands)},
#include "ir/ops.def"
#undef OP
};

#define OP(ID, name, operands, ...)                                                                                    \
  _Static_assert(sizeof(operands) <= 33, #name ": operand names are too long to count");
#include "ir/ops.def"
#undef OP

static bool is_named(const char *row, const char *name, size_t length) {
  return strlen(row) == length && memcmp(row, name, length) == 0;
}

arrjit_dtype aj_dtype_find(const char *name, size_t length) {
  for (int i = 1; i < AJ_DTYPE_COUNT; i++)
    if (is_named(aj_dtypes[i].name, name, length)) return (arrjit_dtype)i;
  return ARRJIT_DTYPE_NONE;
}

aj_op aj_op_find(const char *name, size_t length) {
  for (int i = 1; i < AJ_OP_COUNT; i++)
    if (is_named(aj_ops[i].name, name, length)) return (aj_op)i;
  return AJ_OP_NONE;
}

aj_attr_name aj_attr_find(const char *name, size_t length) {
  for (int i = 0; i < AJ_ATTR_COUNT; i++)
    if (is_named(aj_attrs[i].name, name, length)) return (aj_attr_name)i;
  return AJ_ATTR_COUNT;
}

bool aj_op_operand_name(aj_op op, uint32_t index, const char **out, size_t *out_length) {
  const char *at = aj_ops[op].operands;
  for (uint32_t i = 0; *at; i++) {
    size_t length = strcspn(at, " .?");
    bool many = at[length] == '.';
    if (i == index || many) return *out = at, *out_length = length, true;
    at += strcspn(at, " ");
    at += *at == ' ';
  }
  return false;
}
