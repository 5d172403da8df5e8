/* Every invariant of a module with its message. Run on what comes from outside and, when asked, after each pass. */
#ifndef AJ_VERIFY_VERIFY_H
#define AJ_VERIFY_VERIFY_H

#include "ir/build.h"

/* `optimised`: internal ops are allowed. The module must be numbered. Iterative, any depth. */
arrjit_status aj_verify(const aj_module *module, bool optimised, arrjit_error *error);
/* What a failure concerns: a node, else a callback slot, else a function. */
typedef struct aj_verify_place {
  const aj_node *node; /* or NULL */
  int64_t slot;        /* its number, or -1 */
  const aj_func *func; /* or NULL: all of the module */
} aj_verify_place;
/* As aj_verify; on failure *out tells the place. */
arrjit_status aj_verify_find(const aj_module *module, bool optimised, arrjit_error *error, aj_verify_place *out);
/* Message templates, for the test that each is provoked: NULL after the last. */
const char *aj_verify_message(size_t index);

#endif
