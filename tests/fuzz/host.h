/* The host's side of a random function: its arguments and what its callbacks do. All follows from numbers of the recipe
 * and from what callbacks are given, so it is the same in every run. */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include "recipe.h"

typedef struct host_plan {
  uint64_t salt;
  bool fails; /* in a third of its calls, depending on the arguments */
  arrjit_kind kind;
} host_plan;

/* Adds a callback slot's host side; at most FUZZ_MAX_SLOTS. */
void host_add_slot(subject *s, const char *name, uint64_t salt, bool fails, arrjit_kind kind);
/* An argument of the type, of numbers from `pick`. */
void host_add_input(arrjit_context *context, subject *s, const arrjit_type *type, tk_random *pick);

#endif
