/* The tables of loops over contiguous elements. Built twice from the same source (loops.inc): for the least CPU of the
 * platform, and on x86-64 for AVX2 with FMA. Both give the same bits. */
#ifndef AJ_SEM_LOOPS_H
#define AJ_SEM_LOOPS_H

#include "sem/sem.h"

/* *out = the fold of one block of n >= 1 elements, n <= lanes * AJ_REDUCE_STEPS, in the lane order of README.md. */
typedef void aj_fold(size_t n, void *out, const void *in);
/* One tile of a product by the chain rule: out[j] = chain over i < k of a[i] * b[i * b_row + j] for
 * j < columns <= AJ_DOT_TILE; `more`: it goes on from what out has. Rows count elements. */
typedef void aj_dot_chain(size_t k, size_t columns, void *out, const void *a, const void *b, size_t b_row, bool more);
/* *out = one block (n as for aj_fold) of a product by the lane rule, both operands contiguous. */
typedef void aj_dot_lanes(size_t n, void *out, const void *a, const void *b);
/* Arith code of one element, 0 when it does not fail. */
typedef int64_t aj_arith_code(const void *const *operands);

enum { AJ_DOT_TILE = 64, AJ_FOLD_COUNT = AJ_OP_REDUCE_OR - AJ_OP_REDUCE_SUM + 1 };

typedef struct aj_loops {
  aj_loop *rows[AJ_OP_COUNT][AJ_DTYPE_COUNT];        /* [op][operand dtype], conversions excepted */
  aj_loop *converts[AJ_DTYPE_COUNT][AJ_DTYPE_COUNT]; /* [from][to] */
  aj_loop *checked_converts[AJ_DTYPE_COUNT][AJ_DTYPE_COUNT];
  aj_arith_code *codes[AJ_OP_COUNT][AJ_DTYPE_COUNT];
  aj_arith_code *convert_codes[AJ_DTYPE_COUNT][AJ_DTYPE_COUNT];
  aj_fold *folds[AJ_FOLD_COUNT][AJ_DTYPE_COUNT]; /* [op - AJ_OP_REDUCE_SUM][dtype] */
  aj_dot_chain *dot_chains[AJ_DTYPE_COUNT];
  aj_dot_lanes *dot_lanes[AJ_DTYPE_COUNT];
} aj_loops;

extern const aj_loops aj_loops_base;
#if defined(__x86_64__) && defined(__GNUC__)
#define AJ_HAVE_LOOPS_AVX2 1
extern const aj_loops aj_loops_avx2;
#endif

/* The table for the CPU that runs. */
const aj_loops *aj_loops_here(void);
/* A loop of one of the tables: what aj_sem_loop looks up in aj_loops_here. */
aj_loop *aj_loops_find(const aj_loops *loops, aj_op op, arrjit_dtype in, arrjit_dtype out);
/* out[i] = in[0][i] for elements of 1, 2, 4, 8 or 16 bytes. */
aj_loop *aj_loops_copy(size_t element_bytes);

#endif
