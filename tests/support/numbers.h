/* Numbers for operands: special ones of each dtype above all. */
#ifndef TK_NUMBERS_H
#define TK_NUMBERS_H

#include "arrjit/core.h"
#include "base.h"

/* The special values of a dtype. */
size_t tk_special_count(arrjit_dtype dtype);
void tk_special(arrjit_dtype dtype, size_t index, void *out);
/* Half special, half anything. */
void tk_random_element(arrjit_dtype dtype, tk_random *pick, void *out);
/* Mostly 0 .. bound - 1, sometimes outside, seldom far. */
void tk_random_index(arrjit_dtype dtype, int64_t bound, tk_random *pick, void *out);

#endif
