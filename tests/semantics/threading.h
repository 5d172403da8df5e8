/* Running native code with 1, 2 and 8 threads for each kernel, and the demand that nobody can tell the difference. */
#ifndef TK_THREADING_H
#define TK_THREADING_H

#include "fixture.h"

static const int64_t thread_counts[] = {1, 2, 8};

static inline void set_threads(arrjit_context *context, int64_t threads) {
  arrjit_error error;
  if (arrjit_context_set_option(context, ARRJIT_OPTION_THREADS, threads, &error) != ARRJIT_OK)
    fail_msg("%s", error.message);
}

static inline void run_native(tk_fixture *f, arrjit_function *function, size_t input_count, arrjit_array *const *inputs,
                              tk_outcome *out) {
  tk_call call = {.input_count = input_count, .inputs = inputs, .limits = f->limits};
  tk_run_mode(f->context, function, tk_native() ? TK_WHOLE : TK_INTERP, &call, out);
}

/* The outcome in all modes, and then with any number of threads, must be one. */
static inline const tk_outcome *run_threads(tk_fixture *f, arrjit_function *function, size_t input_count,
                                            arrjit_array *const *inputs) {
  const tk_outcome *first = tk_run(f, function, input_count, inputs);
  for (size_t i = 0; i < TK_COUNT(thread_counts); i++) {
    tk_outcome o;
    char *why = NULL;
    set_threads(f->context, thread_counts[i]);
    run_native(f, function, input_count, inputs, &o);
    if (!tk_outcome_same(first, &o, &why)) fail_msg("%d threads: %s", (int)thread_counts[i], why);
    tk_outcome_free(&o);
  }
  return first;
}

#endif
