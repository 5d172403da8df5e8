/* What tests with callbacks of the public form share: running by hand in one mode with one binding. */
#ifndef TK_HOSTING_H
#define TK_HOSTING_H

#include "fixture.h"

#define HOST_ARGS                                                                                                      \
  void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args, size_t result_count,                  \
      const arrjit_view *results
#define UNUSED_ARGS (void)user, (void)call, (void)arg_count, (void)args, (void)result_count, (void)results

static const arrjit_mode run_modes[] = {ARRJIT_MODE_INTERP, ARRJIT_MODE_WHOLE, ARRJIT_MODE_AUTO};

/* Runs with one binding; the status must be OK. */
static inline arrjit_result *run_bound(arrjit_function *function, arrjit_mode mode, const arrjit_binding *binding,
                                       size_t count, arrjit_array *const *inputs) {
  arrjit_run_options o = {.struct_bytes = sizeof o,
                          .mode = mode == ARRJIT_MODE_WHOLE && !tk_native() ? ARRJIT_MODE_AUTO : mode,
                          .binding_count = binding != NULL,
                          .bindings = binding};
  arrjit_result *result = NULL;
  return arrjit_run(function, &o, count, inputs, &result, NULL) == ARRJIT_OK ? result : NULL;
}

static inline double first_f64(const arrjit_result *result) {
  return result && arrjit_result_ok(result) ? *(double *)arrjit_array_data(arrjit_result_output(result, 0)) : NAN;
}

/* f(x) = value callback "cb"(x) */
static inline arrjit_function *one_call(tk_fixture *f, arrjit_type in, arrjit_type out) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = arrjit_param(g, "x", &in), y;
  CALLBACK(g, arrjit_slot_value(g, "cb", 1, &in, 1, &out, 0), &y, x);
  RETURN(g, y);
  return tk_finish(f, g);
}

#endif
