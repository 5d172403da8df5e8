/* The helpers that compiled code calls, as the native module gets them. The module cannot see the library's hidden
 * symbols, so they go by name in one table; what is in it is written beside the helpers. */
#include "engine/load.h"
#include "rt/native_helpers.h"

const struct aj_native_helper *aj_helpers(uint32_t *out_count) { return aj_native_helpers(out_count); }
