/* Legal uses of ops, made at random from the op table: operand types, what kind of numbers each operand wants,
 * attributes. What diff and fuzz try follows from the table's rules, so that a new op of a known rule is covered at
 * once. */
#ifndef TK_OPCASE_H
#define TK_OPCASE_H

#include "base.h"
#include "build_op.h"

typedef enum tk_role {
  TK_DATA,         /* any numbers, special ones above all */
  TK_INDEX,        /* positions around 0 .. bound - 1, some outside */
  TK_COUNT_OF_BITS /* shift counts: around 0 .. width, some outside */
} tk_role;

enum { TK_MAX_OPERANDS = 6 };

typedef struct tk_opcase {
  aj_op op;
  size_t count;
  arrjit_type operands[TK_MAX_OPERANDS];
  tk_role roles[TK_MAX_OPERANDS];
  int64_t bounds[TK_MAX_OPERANDS]; /* of TK_INDEX */
  tk_attrs attrs;
} tk_opcase;

/* Whether ops of this row are made here: values computed from arrays (not control flow, failures, exceptions). */
bool tk_opcase_covers(aj_op op);
/* Whether the first operand that has a choice may have this dtype. */
bool tk_opcase_dtype(aj_op op, arrjit_dtype dtype);
/* A use whose main operand has the type `x`: dtype legal, no symbols. False when there is none for that shape (then try
 * another). `pick` chooses everything else. */
bool tk_opcase_make(aj_op op, const arrjit_type *x, tk_random *pick, tk_opcase *out);
/* Where an extent only stood for another, that one takes its place: in operands, shapes, sizes and limits. */
void tk_opcase_replace(tk_opcase *c, int64_t stand_in, int64_t dim);
/* A random small type: rank 0 .. 3, extents of 0, 1, odd and even. */
arrjit_type tk_random_type(arrjit_dtype dtype, tk_random *pick);

#endif
