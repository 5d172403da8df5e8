/* Building a graph from a recipe: the values that steps choose from, and the constructs that are open. */
#ifndef FUZZ_BUILDER_H
#define FUZZ_BUILDER_H

#include "host.h"

enum { MAX_VALUES = 400, MAX_EXNS = 40, MAX_OPEN = 8, MAX_RESULTS = 3, MAX_FUNCS = 3, MAX_ELEMENTS = 3000 };

/* A construct that is open. Its arms see the values that were there when it began (`mark`) and their own. */
typedef struct open_construct {
  step_kind kind;
  size_t value_mark, exn_mark;
  size_t count; /* of results, or of carried values */
  arrjit_type types[MAX_RESULTS];
  int part;                   /* 0: then, first case, condition, body of for and try; then as they come */
  bool dead;                  /* this part has raised */
  bool alive;                 /* some part before has not */
  bool last;                  /* a finally: nothing comes after */
  int64_t bound;              /* trips of a while */
  arrjit_value counter;       /* of a while */
  struct outer_values *outer; /* of a map: what was seen around it */
} open_construct;

typedef struct known_func {
  arrjit_callee callee;
  size_t param_count;
  arrjit_type params[3], result;
} known_func;

typedef struct builder {
  arrjit_graph *g;
  const fuzz_kinds *kinds;
  subject *s;
  tk_random pick; /* of the step being built */
  size_t value_count, exn_count, func_count, made_slots;
  arrjit_value values[MAX_VALUES], exns[MAX_EXNS];
  int open_count, skipped; /* constructs begun inside a dead part, which are not built */
  open_construct open[MAX_OPEN];
  known_func funcs[MAX_FUNCS];
  bool in_func, in_map;
  struct made_slot {
    arrjit_slot slot;
    size_t arg_count, result_count;
    arrjit_type args[2], results[2];
  } slots[FUZZ_MAX_SLOTS];
} builder;

/* ---- values (values.c) ---- */
void keep_value(builder *b, arrjit_value value);
void keep_exn(builder *b, arrjit_value exn);
/* One or the other. */
void keep_any(builder *b, arrjit_value value);
void note(builder *b, feature what);
/* A value of exactly the type: one that is there, or a constant; of rank -1: an exception. */
arrjit_value value_of(builder *b, const arrjit_type *type);
arrjit_value constant_of(builder *b, const arrjit_type *type, tk_role role, int64_t bound);
/* Any value; there is always one. */
arrjit_value any_value(builder *b);
bool is_symbolic(const arrjit_type *type);
void build_op_step(builder *b, aj_op op);
void build_chain(builder *b);

/* A random type; inside a map of a scalar. */
arrjit_type random_type(builder *b, arrjit_dtype dtype);

/* ---- constructs (constructs.c) ---- */
void begin_construct(builder *b, step_kind kind);
void next_part(builder *b);
void end_construct(builder *b);
/* Whether the place being built may end in a raise. */
bool may_raise(const builder *b);

/* ---- failures, callbacks, functions (effects.c) ---- */
void build_raise(builder *b);
void build_check(builder *b);
void build_callback(builder *b);
void build_exn(builder *b);
void look_at_exn(builder *b);
arrjit_value any_exn(builder *b);
/* One whose placeholders all stand for payload values. */
const char *any_message(builder *b, size_t payload_count);
void build_func(builder *b);
void build_call(builder *b);
arrjit_kind any_kind(builder *b);

/* ---- catches.c ---- */
void build_catch(builder *b);

#endif
