/* Every invariant of a module with its message. Run on what comes from outside and, when asked, after each pass. */
#ifndef AJ_VERIFY_VERIFY_H
#define AJ_VERIFY_VERIFY_H

#include "ir/build.h"

/* `optimised`: internal ops are allowed. The module must be numbered. Iterative, any depth. */
arrjit_status aj_verify(const aj_module *module, bool optimised, arrjit_error *error);
/* As aj_verify; on failure *out_node is the node concerned, or NULL. */
arrjit_status aj_verify_find(const aj_module *module, bool optimised, arrjit_error *error, const aj_node **out_node);
/* Message templates, for the test that each is provoked: NULL after the last. */
const char *aj_verify_message(size_t index);

#endif
