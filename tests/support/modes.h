/* The ways to run a function, and running it in one of them with callbacks that are logged. */
#ifndef TK_MODES_H
#define TK_MODES_H

#include "outcome.h"

typedef enum tk_mode {
  TK_INTERP, /* nodes in a row and loops over scalars as block programs from the first time on */
  TK_RESUME, /* interp node by node, all frames rebuilt from live values at every pc */
  TK_WHOLE,
  TK_AUTO, /* compiled after the first run; the run that counts is the one after */
  TK_MODES
} tk_mode;
const char *tk_mode_name(tk_mode mode);
/* TK_MODES when there is no such. */
tk_mode tk_mode_find(const char *name);
/* Whether this build has native code. Without it TK_WHOLE is left out everywhere and TK_AUTO interprets. */
bool tk_native(void);
/* The greatest level of the option isa that is less than the CPU at hand, or as great: 0: it has none. */
int64_t tk_isa_levels(void);
static inline bool tk_mode_exists(tk_mode mode) { return mode != TK_WHOLE || tk_native(); }

/* A context with the native module of this build. `alloc` may be NULL.
 * Dies when it cannot be made. */
arrjit_context *tk_context(const arrjit_allocator *alloc);
arrjit_context_options tk_context_options(const arrjit_allocator *alloc);

/* A callback slot bound for a run: `behave` may be NULL (does nothing, gives ok). */
typedef struct tk_slot tk_slot;
typedef arrjit_status tk_behaviour(tk_slot *slot, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                   size_t result_count, const arrjit_view *results);
struct tk_slot {
  const char *name;
  tk_behaviour *behave;
  void *user;
  int64_t calls; /* in this run, this one included */
  FILE *log;
};

/* What a run gets. */
typedef struct tk_call {
  size_t input_count;
  arrjit_array *const *inputs;
  size_t slot_count;
  tk_slot *slots;
  arrjit_array *const *outputs; /* one a result, or NULL: fresh ones */
  unsigned flags;               /* ARRJIT_RUN_* */
  uint64_t donated;
  arrjit_limits limits;
  arrjit_cancel *cancel;
  int64_t deadline_ns;
} tk_call;

/* Runs once (TK_AUTO: twice, see above) and tells everything. Calls of slots are logged with the bits of their
 * arguments. */
void tk_run_mode(arrjit_context *context, arrjit_function *function, tk_mode mode, const tk_call *call,
                 tk_outcome *out);

#endif
