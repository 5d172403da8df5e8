/* What the two parts of the reader of exception cases share: the state of a function being built (wasm_blocks.c makes
 * its blocks, branches and tries), and its instructions (wasm_exceptions.c). */
#ifndef CONFORMANCE_WASM_EH_H
#define CONFORMANCE_WASM_EH_H

#include <string.h>

#include "wasm.h"

enum { MOST_VARS = 48, MOST_LABELS = 24, MOST_STACK = 48, MOST_TYPES = 4 };

typedef enum label_kind { BLOCK, TRY_BODY, CATCH, FUNCTION } label_kind;
typedef struct label {
  label_kind kind;
  const char *name;
  int id, delegate_id; /* signals: branch here; raise the pending exception here */
  size_t result_count, first_var;
  arrjit_value exn; /* of a CATCH */
} label;

/* How a sequence ends. */
typedef enum ending { FALLS, JUMPS, RAISES, EITHER } ending;
typedef struct flow {
  ending ending;
  uint64_t targets;    /* labels it may branch to: bit id */
  arrjit_value signal; /* of EITHER, and of JUMPS */
} flow;

typedef struct stack {
  arrjit_value values[MOST_STACK];
  size_t count;
} stack;

typedef struct eh_case {
  corpus_run *run;
  const json_t *json, *function; /* the one being built */
  arrjit_graph *g;
  arrjit_kind wasm, trap;
  arrjit_value vars[MOST_VARS]; /* locals, the pending exception, results of labels */
  size_t var_count, pending;
  label labels[MOST_LABELS];
  size_t label_count;
  int last_id;
  struct {
    const char *key;
    arrjit_callee callee;
  } known[8]; /* functions */
  size_t known_count;
  const char *skipped; /* why */
} eh_case;

static inline const json_t *at(const json_t *list, size_t i) { return json_array_get(list, i); }
static inline const char *head(const json_t *instruction) { return json_string_value(at(instruction, 0)); }
static inline bool is(const json_t *instruction, const char *name) {
  const char *word = json_is_array(instruction) ? head(instruction) : json_string_value(instruction);
  return word && strcmp(word, name) == 0;
}

/* The case is skipped; the first reason counts. */
void eh_give_up(eh_case *c, const char *why);
void eh_push(stack *s, arrjit_value value);
arrjit_value eh_pop(stack *s);
void eh_pop_many(stack *s, size_t count, arrjit_value *out);
/* A label by its name or its number, counted outward from `from` (one past the innermost that counts). */
label *eh_find_label(eh_case *c, const json_t *which, size_t from);
flow eh_branch(eh_case *c, stack *s, const label *l);
arrjit_value eh_signal_of(eh_case *c, int id);
arrjit_kind eh_kind_of(eh_case *c, const json_t *tag);
const json_t *eh_tag_of(const eh_case *c, const json_t *name);
arrjit_value eh_zero_of(eh_case *c, const arrjit_type *type);
size_t eh_types_of(const json_t *list, arrjit_type *out);
arrjit_type eh_type_of(const json_t *type);
/* At the end of a body: raises what a delegate left to be raised here. */
flow eh_raise_delegated(eh_case *c, const label *l, flow f);
/* Instructions of a list from one on; falling off its end gives the label its results. */
flow eh_build_sequence(eh_case *c, const json_t *list, size_t from, stack *s, const label *l);
label *eh_push_label(eh_case *c, label_kind kind, const char *name, size_t count, const arrjit_type *types);
flow eh_build_block(eh_case *c, const json_t *one, const json_t *body, size_t from, stack *s);
flow eh_build_if(eh_case *c, const json_t *one, stack *s);
flow eh_build_try(eh_case *c, const json_t *one, stack *s);
flow eh_build_try_table(eh_case *c, const json_t *one, stack *s);
flow eh_build_instruction(eh_case *c, const json_t *one, stack *s);
arrjit_kind eh_ensure_kind(eh_case *c, const char *name, arrjit_kind parent);
size_t eh_body_start(const json_t *one);

#endif
