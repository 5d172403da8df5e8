/* first_result and compile: how long until there is something to see. */
#include <math.h>
#include <stdio.h>

#include "call.h"

enum { LENGTH = 1000 };

/* exp(a*b+c) - sqrt(abs(d)), f32 */
static arrjit_function *build_first(arrjit_graph *g) {
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value a = arrjit_param(g, "a", &type), b = arrjit_param(g, "b", &type);
  arrjit_value c = arrjit_param(g, "c", &type), d = arrjit_param(g, "d", &type);
  arrjit_value left = arrjit_exp(g, arrjit_add(g, arrjit_mul(g, a, b), c));
  arrjit_value out = arrjit_sub(g, left, arrjit_sqrt(g, arrjit_abs(g, d)));
  arrjit_return(g, 1, &out, NULL);
  return bench_finish(g);
}

/* From graph_create to the result in hand, all new but the context. */
static void run_first(void *state) {
  bench_call *call = state;
  call->function = build_first(bench_graph());
  bench_run_call(call);
  arrjit_function_release(call->function);
  call->function = NULL;
}

static void bench_first(void) {
  float data[LENGTH];
  for (int i = 0; i < LENGTH; i++) data[i] = (float)i / LENGTH;
  bench_call call = {.input_count = 4};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = ARRJIT_MODE_AUTO};
  for (int i = 0; i < 4; i++) call.inputs[i] = bench_array(ARRJIT_F32, 1, LENGTH, data);
  bench_compare(&(bench_pair){"first_result", "f32", "auto", "call", "none", LENGTH, 1, run_first, &call, NULL, NULL});
  bench_drop(&call);
}

/* A chain of `ops` elementwise ops. */
static arrjit_function *build_ops(int ops) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value a = arrjit_param(g, "a", &type), x = a;
  for (int i = 0; i < ops; i++)
    x = i % 3 == 0 ? arrjit_mul(g, x, a) : i % 3 == 1 ? arrjit_add(g, x, a) : arrjit_abs(g, x);
  arrjit_return(g, 1, &x, NULL);
  return bench_finish(g);
}

/* prepare to the event compiled, LLVM being open. */
static double time_compile(int ops) {
  arrjit_error error;
  arrjit_function *f = build_ops(ops);
  double start = bench_now_ns();
  bench_must(arrjit_function_prepare(f, NULL, &error), &error);
  bench_must(arrjit_function_wait(f, -1, &error), &error);
  double took = bench_now_ns() - start;
  arrjit_function_release(f);
  return took;
}

static void bench_compile(void) {
  static const int sizes[] = {6, 60, 600, 6000};
  time_compile(6); /* opens LLVM */
  for (int s = 0; s < 4; s++) {
    double times[11];
    int rounds = bench_opts.smoke ? 1 : sizes[s] > 1000 ? 3 : 11;
    if (bench_opts.smoke && sizes[s] > 60) continue;
    for (int i = 0; i < rounds; i++) times[i] = time_compile(sizes[s]);
    bench_report(&(bench_pair){"compile", "f32", "whole", "function", "none", sizes[s], 1, NULL, NULL, NULL, NULL},
                 bench_median(times, rounds), 0);
  }
}

void bench_startup(void) {
  if (bench_wanted("first_result")) bench_first(); /* before LLVM is opened */
  if (bench_wanted("compile")) bench_compile();
}
