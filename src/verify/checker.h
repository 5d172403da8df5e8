/* What the files of the verifier share. Every check returns false when it failed; the first failure ends the run. */
#ifndef AJ_VERIFY_CHECKER_H
#define AJ_VERIFY_CHECKER_H

#include "verify/verify.h"

typedef enum aj_verify_message_id {
#define VERIFY_MESSAGE(ID, format) AJ_VERIFY_##ID,
#include "verify/messages.def"
#undef VERIFY_MESSAGE
  AJ_VERIFY_MESSAGE_COUNT
} aj_verify_message_id;

typedef struct aj_checker {
  const aj_module *module;
  bool optimised;
  const aj_func *func; /* being checked */
  const aj_node *node; /* being checked, or NULL */
  int64_t slot;        /* being checked, or -1 */
  arrjit_error error;
  bool *bound;           /* [symbol] follows from parameters; of a late one: see verify_symbols.c */
  AJ_VEC(uint32_t) open; /* numbers of the NODE symbols that are bound here, ascending */
  int64_t last_bound;    /* the greatest number bound so far in func; -1: none */
  AJ_VEC(uint32_t) uses; /* [slot] of the region being checked: last use, as it should be */
  uint32_t node_id;      /* of the next node in print order */
} aj_checker;

bool aj_checker_fail(aj_checker *c, aj_verify_message_id message, ...);
bool aj_checker_no_memory(aj_checker *c);
typedef struct aj_checker_text {
  char s[160];
} aj_checker_text;
aj_checker_text aj_checker_type_text(const aj_checker *c, const aj_type *type);
/* ---- verify_symbols.c ---- */
/* The list of symbols; fills c->bound. */
bool aj_checker_symbols(aj_checker *c);
/* Before a function's body: no callback has bound anything. */
void aj_checker_close_symbols(aj_checker *c);
/* What a callback decides on is bound from here to the end of its region. */
bool aj_checker_open_symbols(aj_checker *c, const aj_node *callback);
/* The extents of a type that `what` has ("result 0 of add") are the function's own, and bound. */
bool aj_checker_type(aj_checker *c, const char *what, const aj_type *type);

/* ---- verify_region.c ---- */
/* All regions and nodes of c->func. */
bool aj_checker_body(aj_checker *c);
/* ---- verify_kernel.c ---- */
bool aj_checker_kernel(aj_checker *c, const aj_node *kernel);

#endif
