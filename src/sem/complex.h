/* Complex numbers. What moves them (select and bitcast too) sees elements of 8 and 16 bytes; all other ops on them are
 * real ops on their real and imaginary parts, put in their place when a function is finished (opt/split.c). So every
 * tier computes the same, from the one definition here. */
#ifndef AJ_SEM_COMPLEX_H
#define AJ_SEM_COMPLEX_H

#include "sem/expand.h"

/* im is NULL for what is no complex number. */
typedef struct aj_parts {
  V re, im;
} aj_parts;

/* Whether a node is done on parts. */
bool aj_sem_splits(const aj_node *node);
/* Which parts of its complex operands it needs: bit 0 the real ones, bit 1 the imaginary ones. */
uint32_t aj_sem_split_needs(const aj_node *node);
/* Builds the node's op at the builder's place: x has an entry an operand. False: an error, in the builder. */
bool aj_sem_split(aj_builder *b, const aj_node *node, const aj_parts *x, aj_parts *out);

/* ---- private to src/sem ---- */
typedef aj_parts aj_split_function(aj_expander *b, const aj_parts *x);
/* On parts of f64; c64 is computed in them and rounded at the end. */
aj_split_function aj_complex_sign, aj_complex_exp, aj_complex_expm1, aj_complex_log, aj_complex_log1p, aj_complex_sqrt,
    aj_complex_rsqrt, aj_complex_sin, aj_complex_cos, aj_complex_tan, aj_complex_sinh, aj_complex_cosh, aj_complex_tanh,
    aj_complex_logistic, aj_complex_pow, aj_complex_asin, aj_complex_acos, aj_complex_atan, aj_complex_asinh,
    aj_complex_acosh, aj_complex_atanh;
aj_parts aj_complex_mul(aj_expander *b, const aj_parts *x);
/* ln|x| to all its digits, near |x| = 1 too. */
V aj_complex_log_abs(aj_expander *b, V re, V im);

#define X_FUNCTION(name, op)                                                                                           \
  static inline V name(aj_expander *b, V x) { return aj_build1(b->builder, op, 1, (V[]){x}, 0, NULL); }
X_FUNCTION(x_exp, AJ_OP_EXP)
X_FUNCTION(x_expm1, AJ_OP_EXPM1)
X_FUNCTION(x_log, AJ_OP_LOG)
X_FUNCTION(x_log1p, AJ_OP_LOG1P)
X_FUNCTION(x_sin, AJ_OP_SIN)
X_FUNCTION(x_cos, AJ_OP_COS)
X_FUNCTION(x_sinh, AJ_OP_SINH)
X_FUNCTION(x_cosh, AJ_OP_COSH)
X_FUNCTION(x_tanh, AJ_OP_TANH)
X_FUNCTION(x_asinh, AJ_OP_ASINH)
X_TWO(x_hypot, AJ_OP_HYPOT)
X_TWO(x_atan2, AJ_OP_ATAN2)
X_TWO(x_max, AJ_OP_MAX)
X_TWO(x_min, AJ_OP_MIN)

#endif
