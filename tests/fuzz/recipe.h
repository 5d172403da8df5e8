/* A random function as a recipe: a flat list of steps from which the same graph is always built. Steps choose values by
 * numbers of their own among those that are there, constructs that are open are closed at the end, and a step that fits
 * nowhere does nothing: so any part of a recipe is a recipe, and shrinking is leaving steps out. */
#ifndef FUZZ_RECIPE_H
#define FUZZ_RECIPE_H

#include "modes.h"
#include "opcase.h"

typedef enum step_kind {
  STEP_OP,    /* an op of the table that computes values */
  STEP_CONST, /* a constant array */
  STEP_IF,    /* begin a construct */
  STEP_SWITCH,
  STEP_WHILE,
  STEP_FOR,
  STEP_TRY,
  STEP_MAP,
  STEP_NEXT,  /* else, next case, body of a while, handler or finally: of the innermost construct */
  STEP_END,   /* ends the innermost construct */
  STEP_RAISE, /* raise or raise an exception value: ends the arm */
  STEP_CHECK,
  STEP_CALLBACK,
  STEP_EXN,      /* makes an exception value */
  STEP_EXN_LOOK, /* reads one */
  STEP_CATCH,    /* a whole try whose body fails in one of the ways that code can foresee */
  STEP_FUNC,     /* another function of the graph, perhaps recursive */
  STEP_CALL,
  STEP_CHAIN /* three elementwise ops in a row on 16-bit floats: each must round */
} step_kind;

typedef struct step {
  step_kind kind;
  aj_op op; /* STEP_OP */
  uint64_t seed;
} step;

typedef struct recipe {
  uint64_t seed;
  size_t param_count;
  size_t step_count;
  step *steps;
  int only_output; /* -1: all */
} recipe;

enum { FUZZ_KINDS = 4, FUZZ_MAX_SLOTS = 8, FUZZ_MAX_PARAMS = 5 };

/* What a function was built with, by the bit: counted, so that a long run shows that nothing was left untried. */
typedef enum feature {
  FAILING_CALLBACK,
  HANDLER_BY_KIND,
  WITH_FINALLY,
  RAISE_AGAIN,
  RAISE_FROM,
  EXN_THROUGH_LOOP,
  EXN_THROUGH_ARMS,
  EXN_THROUGH_CALL,
  NESTED_TRY,
  ARRAY_PAYLOAD, /* of a check on an array */
  FAILING_CALLEE,
  CATCH_IN_PLACE,
  HANDED_ON, /* from handler to handler */
  HALF_CHAIN,
  SYMBOLS, /* where an op has sizes, limits or places */
  FEATURES
} feature;

/* A built function with what it takes to run it. */
typedef struct subject {
  arrjit_function *function; /* NULL: refused, see error */
  arrjit_error error;
  size_t input_count, slot_count, output_count;
  arrjit_array *inputs[FUZZ_MAX_PARAMS];
  tk_slot slots[FUZZ_MAX_SLOTS];
  char names[FUZZ_MAX_SLOTS][8];
  struct host_plan *plans;
  bool has_zero, has_one, has_odd; /* extents seen */
  uint64_t features;
} subject;

/* Kinds of failure that functions raise, added to the context once. */
typedef struct fuzz_kinds {
  arrjit_kind all[FUZZ_KINDS];
} fuzz_kinds;
void fuzz_add_kinds(arrjit_context *context, fuzz_kinds *out);

/* The number-th recipe of a seed. `steps` is freed by the caller. */
recipe recipe_make(uint64_t seed, uint64_t number);
recipe recipe_without(const recipe *r, size_t from, size_t count);
void subject_build(arrjit_context *context, const fuzz_kinds *kinds, const recipe *r, subject *out);
void subject_free(subject *s);

#endif
