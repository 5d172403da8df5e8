/* Printing of floating-point numbers: shortest text that reads back to the same bits, whatever locale and rounding mode
 * the host has set. Text as C's %g: "3", "0.1", "1e+100", "-0", "inf", "nan" (sign and payload of a NaN are not told).
 */
#ifndef AJ_BASE_NUMBER_H
#define AJ_BASE_NUMBER_H

#include "base/mem.h"

enum { AJ_NUMBER_BYTES = 32 }; /* room for any of them with its NUL */

/* All return the length. */
size_t aj_number_f64(char out[AJ_NUMBER_BYTES], double value);
size_t aj_number_f32(char out[AJ_NUMBER_BYTES], float value);
size_t aj_number_f16(char out[AJ_NUMBER_BYTES], uint16_t bits);
size_t aj_number_bf16(char out[AJ_NUMBER_BYTES], uint16_t bits);

#endif
