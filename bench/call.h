/* One warm call of a function as the benches make it: inputs and outputs given, results checked to be ok. */
#ifndef BENCH_CALL_H
#define BENCH_CALL_H

#include "harness.h"

enum { BENCH_MOST = 4 };
typedef struct bench_call {
  arrjit_function *function;
  arrjit_run_options options;
  arrjit_array *inputs[BENCH_MOST], *outputs[BENCH_MOST];
  size_t input_count;
} bench_call;

static inline void bench_run_call(void *state) {
  bench_call *call = state;
  arrjit_result *result;
  arrjit_error error;
  bench_must(arrjit_run(call->function, &call->options, call->input_count, call->inputs, &result, &error), &error);
  if (!arrjit_result_ok(result)) bench_must(ARRJIT_FAILED, NULL);
  arrjit_result_destroy(result);
}

/* Ends unless the last run was all native. */
static inline void bench_assert_native(const bench_call *call, const char *name) {
  arrjit_function_statistics s;
  arrjit_function_get_statistics(call->function, &s);
  bench_check(call->options.mode != ARRJIT_MODE_WHOLE ||
                  (s.native_runs > 0 && s.fallback_nodes + s.interpreted_nodes == 0),
              name);
}

static inline arrjit_array *bench_array(arrjit_dtype dtype, int32_t rank, int64_t n, const void *data) {
  arrjit_type type = arrjit_type_make(dtype, rank, &n);
  arrjit_array *array;
  arrjit_error error;
  bench_must(arrjit_array_create(bench_context, &type, data, &array, &error), &error);
  return array;
}

static inline arrjit_graph *bench_graph(void) {
  arrjit_graph *g;
  arrjit_error error;
  bench_must(arrjit_graph_create(bench_context, &g, &error), &error);
  return g;
}

static inline arrjit_function *bench_finish(arrjit_graph *g) {
  arrjit_function *f;
  arrjit_error error;
  bench_must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

static inline void bench_drop(bench_call *call) {
  arrjit_function_release(call->function);
  for (int i = 0; i < BENCH_MOST; i++) {
    arrjit_array_release(call->inputs[i]);
    arrjit_array_release(call->outputs[i]);
  }
}

#endif
