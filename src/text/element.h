/* One element of a constant as text, exact both ways, whatever the process' locale is. */
#ifndef AJ_TEXT_ELEMENT_H
#define AJ_TEXT_ELEMENT_H

#include "base/text.h"
#include "ir/type.h"

/* Shortest decimal that reads back to the same bits; "inf", "nan"; "nan(0x...)" for NaNs other than the canonical one.
 */
void aj_element_print(aj_text *out, arrjit_dtype dtype, const void *element);

typedef enum aj_element_status { AJ_ELEMENT_OK, AJ_ELEMENT_FORM, AJ_ELEMENT_RANGE } aj_element_status;
/* An unsigned number ("12", "0x1f", "1.5e-3", "0x1.8p4") or word ("true", "inf", "nan"), negated when `negative`. */
aj_element_status aj_element_parse(arrjit_dtype dtype, bool negative, const char *text, size_t length, void *out);
/* The bits of a NaN, for "nan(0x...)": FORM when they are no NaN of dtype. */
aj_element_status aj_element_parse_nan(arrjit_dtype dtype, const char *text, size_t length, void *out);
/* Decimal or hexadecimal digits only. */
aj_element_status aj_element_parse_u64(const char *text, size_t length, uint64_t *out);
/* -1: none. */
int aj_element_hex_digit(char c);

#endif
