/* functions: exp, log, tanh, sin, cos over an array, against libm in a loop. */
#include <math.h>

#include "call.h"

static const char *const names[] = {"exp", "log", "tanh", "sin", "cos"};

typedef struct function_peer {
  int which;
  int64_t n;
  const void *x;
  void *out;
  bool wide;
} function_peer;
static void run_peer(void *state) {
  function_peer *p = state;
  if (p->wide)
    peer_function_f64(p->which, p->n, p->x, p->out);
  else
    peer_function_f32(p->which, p->n, p->x, p->out);
}

static arrjit_function *build(int which, arrjit_dtype dtype) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(dtype, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = arrjit_param(g, "x", &type), y;
  switch (which) {
  case 0: y = arrjit_exp(g, x); break;
  case 1: y = arrjit_log(g, x); break;
  case 2: y = arrjit_tanh(g, x); break;
  case 3: y = arrjit_sin(g, x); break;
  default: y = arrjit_cos(g, x); break;
  }
  arrjit_return(g, 1, &y, NULL);
  return bench_finish(g);
}

static double read_element(const void *data, int64_t i, bool wide) {
  return wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

/* Both are within an ulp or two of the truth. */
static void check(const void *ours, const void *theirs, int64_t n, bool wide) {
  double epsilon = wide ? 0x1p-52 : 0x1p-23;
  for (int64_t i = 0; i < n; i++) {
    double a = read_element(ours, i, wide), b = read_element(theirs, i, wide);
    bench_check(fabs(a - b) <= 4 * epsilon * fabs(b), "functions");
  }
}

static void bench_function(int which, arrjit_dtype dtype, int64_t n, arrjit_mode mode, const char *mode_name) {
  bool wide = dtype == ARRJIT_F64;
  bench_call call = {.function = build(which, dtype), .input_count = 1};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  call.inputs[0] = bench_array(dtype, 1, n, NULL);
  call.outputs[0] = bench_array(dtype, 1, n, NULL);
  for (int64_t i = 0; i < n; i++) {
    double x = (double)(i * 7 % 10007 + 1) / 1000; /* up to 10 */
    if (wide)
      ((double *)arrjit_array_data(call.inputs[0]))[i] = x;
    else
      ((float *)arrjit_array_data(call.inputs[0]))[i] = (float)x;
  }
  arrjit_array *theirs = bench_array(dtype, 1, n, NULL);
  function_peer peer = {which, n, arrjit_array_data(call.inputs[0]), arrjit_array_data(theirs), wide};
  bench_run_call(&call);
  run_peer(&peer);
  bench_assert_native(&call, names[which]);
  check(arrjit_array_data(call.outputs[0]), peer.out, n, wide);
  bench_compare(&(bench_pair){names[which], arrjit_dtype_name(dtype), mode_name, "element", "libm", n, (double)n,
                              bench_run_call, &call, run_peer, &peer});
  arrjit_array_release(theirs);
  bench_drop(&call);
}

void bench_functions(void) {
  int64_t n = bench_opts.smoke ? 1000 : 1000000;
  for (int which = 0; which < 5; which++) {
    if (!bench_wanted("functions") && !bench_wanted(names[which])) continue;
    for (int wide = 0; wide < 2; wide++) {
      bench_function(which, wide ? ARRJIT_F64 : ARRJIT_F32, n, ARRJIT_MODE_WHOLE, "whole");
      bench_function(which, wide ? ARRJIT_F64 : ARRJIT_F32, n, ARRJIT_MODE_INTERP, "interp");
    }
  }
}
