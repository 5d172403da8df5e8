/* The op table as data. One definition of each fact about an op: src/ir/ops.def. */
#ifndef AJ_IR_OP_H
#define AJ_IR_OP_H

#include "base/check.h"
#include "ir/type.h"

typedef enum aj_op {
  AJ_OP_NONE,
#define OP(ID, ...) AJ_OP_##ID,
#include "ir/ops.def"
#undef OP
  AJ_OP_COUNT
} aj_op;

typedef enum aj_attr_name {
#define ATTR(ID, name, form) AJ_ATTR_##ID,
#include "ir/attrs.def"
#undef ATTR
  AJ_ATTR_COUNT
} aj_attr_name;

typedef enum aj_attr_form {
  AJ_FORM_INT,
  AJ_FORM_INTS,
  AJ_FORM_DIMS,
  AJ_FORM_DTYPE,
  AJ_FORM_BYTES,
  AJ_FORM_TEXT,
  AJ_FORM_KIND,
  AJ_FORM_SLOT,
  AJ_FORM_FUNC
} aj_attr_form;

typedef enum aj_rule {
  AJ_R_CONST,
  AJ_R_IOTA,
  AJ_R_FULL,
  AJ_R_DIM_SIZE,
  AJ_R_SAME,
  AJ_R_PART,
  AJ_R_COMPLEX,
  AJ_R_CONVERT,
  AJ_R_BITCAST,
  AJ_R_COMPARE,
  AJ_R_SELECT,
  AJ_R_BROADCAST,
  AJ_R_RESHAPE,
  AJ_R_TRANSPOSE,
  AJ_R_SAME_AXES,
  AJ_R_SLICE,
  AJ_R_CONCAT,
  AJ_R_PAD,
  AJ_R_DYNAMIC_SLICE,
  AJ_R_DYNAMIC_UPDATE_SLICE,
  AJ_R_GATHER,
  AJ_R_SCATTER,
  AJ_R_TAKE,
  AJ_R_SORT,
  AJ_R_SEARCH,
  AJ_R_REDUCE,
  AJ_R_ARG,
  AJ_R_DOT,
  AJ_R_CONV,
  AJ_R_FFT,
  AJ_R_SOLVE,
  AJ_R_CHOLESKY,
  AJ_R_LU,
  AJ_R_QR,
  AJ_R_EIGH,
  AJ_R_SVD,
  AJ_R_REGIONS,
  AJ_R_LOOP,
  AJ_R_MAP,
  AJ_R_COMBINE,
  AJ_R_CUMULATIVE,
  AJ_R_WINDOW,
  AJ_R_CALL,
  AJ_R_NONE,
  AJ_R_CHECK,
  AJ_R_CHECK_SHAPE,
  AJ_R_CALLBACK,
  AJ_R_EXN,
  AJ_R_EXN_BOOL,
  AJ_R_EXN_FIELD,
  AJ_R_EXN_I64,
  AJ_R_KERNEL,
  AJ_R_LANE_INDEX
} aj_rule;

typedef enum aj_routine_class {
  AJ_ROUTINE_SCALAR,
  AJ_ROUTINE_EXPAND,
  AJ_ROUTINE_VIEW,
  AJ_ROUTINE_CONTROL,
  AJ_ROUTINE_CALL
} aj_routine_class;

typedef enum aj_lowering_class {
  AJ_LOWER_SCALAR,
  AJ_LOWER_EXPAND,
  AJ_LOWER_MAP,
  AJ_LOWER_REDUCE,
  AJ_LOWER_CONTROL,
  AJ_LOWER_FALLBACK
} aj_lowering_class;

enum {
  AJ_F_ELEMENTWISE = 1u << 0, /* one result element from the elements at the same place; gets a broadcasting builder */
  AJ_F_COMMUTES = 1u << 1,
  AJ_F_BITS = 1u << 2,       /* moves bits: a NaN operand must be canonical before, the result is what came in */
  AJ_F_RAISES = 1u << 3,     /* may fail: never dropped, merged, moved over an effect */
  AJ_F_EFFECT = 1u << 4,     /* the host sees it */
  AJ_F_REGIONS = 1u << 5,    /* has regions or stands for one: may raise and have effects when they do */
  AJ_F_TERMINATOR = 1u << 6, /* ends its region */
  AJ_F_BUILDER = 1u << 7,  /* gets a generated builder from its operands and attributes (elementwise ones always do) */
  AJ_F_INTERNAL = 1u << 8, /* only the optimiser makes it; finished functions and .air input never hold it */
  AJ_F_WIDENS = 1u << 9    /* 16-bit floats: operands are made f32 or f64 first, a float result is rounded at the end */
};

/* dtype sets: bit arrjit_dtype */
enum {
  AJ_D_NONE = 0,
  AJ_D_BOOL = 1 << ARRJIT_BOOL,
  AJ_D_SINT = 1 << ARRJIT_I8 | 1 << ARRJIT_I16 | 1 << ARRJIT_I32 | 1 << ARRJIT_I64,
  AJ_D_UINT = 1 << ARRJIT_U8 | 1 << ARRJIT_U16 | 1 << ARRJIT_U32 | 1 << ARRJIT_U64,
  AJ_D_INT = AJ_D_SINT | AJ_D_UINT,
  AJ_D_FLOAT = 1 << ARRJIT_F16 | 1 << ARRJIT_BF16 | 1 << ARRJIT_F32 | 1 << ARRJIT_F64,
  AJ_D_PART = 1 << ARRJIT_F32 | 1 << ARRJIT_F64, /* what complex numbers are made of */
  AJ_D_COMPLEX = 1 << ARRJIT_C64 | 1 << ARRJIT_C128,
  AJ_D_NUM = AJ_D_INT | AJ_D_FLOAT,
  AJ_D_BITS = AJ_D_INT | AJ_D_BOOL,
  AJ_D_ORDERED = AJ_D_NUM | AJ_D_BOOL,
  AJ_D_FIELD = AJ_D_FLOAT | AJ_D_COMPLEX,
  AJ_D_ARITH = AJ_D_NUM | AJ_D_COMPLEX,
  AJ_D_ANY = AJ_D_ORDERED | AJ_D_COMPLEX
};

typedef struct aj_op_info {
  const char *name;     /* mnemonic */
  const char *operands; /* names as in the table */
  uint32_t dtypes;
  aj_rule rule;
  uint32_t flags;
  uint64_t attrs; /* bit aj_attr_name */
  aj_routine_class routine;
  aj_lowering_class lowering;
  const char *meaning, *errors;
  uint8_t min_operands, max_operands; /* max 255: any number */
} aj_op_info;

extern const aj_op_info aj_ops[AJ_OP_COUNT];

typedef struct aj_attr_info {
  const char *name;
  aj_attr_form form;
} aj_attr_info;
extern const aj_attr_info aj_attrs[AJ_ATTR_COUNT];

/* AJ_OP_NONE when there is no such mnemonic. */
aj_op aj_op_find(const char *name, size_t length);
/* Name of an operand as in the table, not NUL-terminated; all from a "name..." on have its name. False: no such
 * operand. */
bool aj_op_operand_name(aj_op op, uint32_t index, const char **out, size_t *out_length);
/* AJ_ATTR_COUNT when there is no such attribute. */
aj_attr_name aj_attr_find(const char *name, size_t length);

#endif
