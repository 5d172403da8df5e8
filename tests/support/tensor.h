/* Tensors of the neutral case format: {"d": dtype, "s": [dims], and one of "v", "splat", "hex"}. */
#ifndef TK_TENSOR_H
#define TK_TENSOR_H

#include "floats.h"
#include "json.h"
#include "outcome.h"

/* ARRJIT_DTYPE_NONE for what this library has not. */
arrjit_dtype tk_dtype_find(const char *name);
/* Dense data, freed by the caller; false and a sentence in `why` when it cannot be read. */
bool tk_tensor_read(const json_t *tensor, tk_block *out, char *why, size_t why_bytes);
/* One element of `v` or `splat` into its bytes. */
bool tk_element_read(const json_t *value, arrjit_dtype dtype, void *out);
/* Whether the value is "nan": any NaN will do where bits are compared. */
bool tk_element_is_any_nan(const json_t *tensor, size_t index);

#endif
