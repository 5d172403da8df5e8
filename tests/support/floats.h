/* Elements of float dtypes as numbers. */
#ifndef TK_FLOATS_H
#define TK_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

#include "arrjit/core.h"

bool tk_is_float(arrjit_dtype dtype);
bool tk_is_complex(arrjit_dtype dtype);
/* Of the parts of a complex dtype, of which an element has two, one after the other; others are their own. */
arrjit_dtype tk_part(arrjit_dtype dtype);
/* x as an element of a float dtype, rounded once; false, and nothing is written: it is none. And back. */
bool tk_store_float(arrjit_dtype dtype, double x, void *out);
double tk_load_float(arrjit_dtype dtype, const void *element);
/* x as f16 or bf16, rounded once to nearest even, by scaling and counting in units of the last place: slow, and by
 * other means than the library's. x has at most 64 significant bits. */
uint16_t tk_half_reference(arrjit_dtype dtype, long double x);
/* The exact value of the bits, NaN for a NaN. */
double tk_half_value(arrjit_dtype dtype, uint16_t bits);
bool tk_is_nan(arrjit_dtype dtype, const void *element);

#endif
