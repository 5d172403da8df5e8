/* Between the files of random numbers. After an error all give NULL, or false, and take NULL. */
#ifndef AJ_API_RANDOM_H
#define AJ_API_RANDOM_H

#include "api/compose.h"

/* The two words of a block: a key, a counter, what comes of them. */
typedef struct aj_words {
  aj_value *x, *y;
} aj_words;

/* An array whose dtype is one of `dtypes` (bits), which messages call `expected`. */
aj_value *aj_random_operand(arrjit_graph *graph, aj_op op, arrjit_value value, uint32_t dtypes, const char *expected);
/* The words of a key of the host's, as scalars. */
bool aj_random_key_words(arrjit_graph *graph, arrjit_value key, aj_words *out);
/* The key that a number, a u32 scalar, is folded into. */
aj_words aj_random_fold(arrjit_graph *graph, aj_words key, aj_value *data);
/* Whether rank and dims can be read; if not, an error. What they say is checked by the nodes that have them. */
bool aj_random_shape(arrjit_graph *graph, int32_t rank, const int64_t *dims);
/* Random bits of u8 to u64. */
aj_value *aj_random_draw(arrjit_graph *graph, aj_words key, arrjit_dtype dtype, int32_t rank, const int64_t *dims);

aj_value *aj_random_as(arrjit_graph *graph, aj_op convert_or_bitcast, aj_value *x, arrjit_dtype dtype);
/* x `op` a constant, an integer of at most 64 bits, of x's dtype */
aj_value *aj_random_with(arrjit_graph *graph, aj_op op, aj_value *x, uint64_t value);
aj_value *aj_random_select(arrjit_graph *graph, aj_value *pred, aj_value *x, aj_value *y);

#endif
