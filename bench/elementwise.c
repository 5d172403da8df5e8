/* chain: 2a + 3bc - ab, memory-bound when large; sum: one pass over an array. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

typedef struct chain_peer {
  int64_t n;
  const void *a, *b, *c;
  void *out;
  bool wide;
} chain_peer;
static void run_chain_peer(void *state) {
  chain_peer *p = state;
  if (p->wide)
    peer_chain_f64(p->n, p->a, p->b, p->c, p->out);
  else
    peer_chain_f32(p->n, p->a, p->b, p->c, p->out);
}

static arrjit_function *build_chain(arrjit_dtype dtype) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(dtype, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value a = arrjit_param(g, "a", &type), b = arrjit_param(g, "b", &type), c = arrjit_param(g, "c", &type);
  arrjit_value left = arrjit_mul(g, arrjit_const_like(g, a, 2), a);
  arrjit_value middle = arrjit_mul(g, arrjit_mul(g, arrjit_const_like(g, b, 3), b), c);
  arrjit_value out = arrjit_sub(g, arrjit_add(g, left, middle), arrjit_mul(g, a, b));
  arrjit_return(g, 1, &out, NULL);
  return bench_finish(g);
}

static void bench_chain(arrjit_dtype dtype, int64_t n, arrjit_mode mode, const char *mode_name) {
  bench_call call = {.function = build_chain(dtype), .input_count = 3};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  for (int k = 0; k < 3; k++) {
    call.inputs[k] = bench_array(dtype, 1, n, NULL);
    for (int64_t i = 0; i < n; i++) {
      double v = (double)((i * 7 + k * 13) % 101) / 8;
      if (dtype == ARRJIT_F64)
        ((double *)arrjit_array_data(call.inputs[k]))[i] = v;
      else
        ((float *)arrjit_array_data(call.inputs[k]))[i] = (float)v;
    }
  }
  call.outputs[0] = bench_array(dtype, 1, n, NULL);
  arrjit_array *theirs = bench_array(dtype, 1, n, NULL);
  chain_peer peer = {n,
                     arrjit_array_data(call.inputs[0]),
                     arrjit_array_data(call.inputs[1]),
                     arrjit_array_data(call.inputs[2]),
                     arrjit_array_data(theirs),
                     dtype == ARRJIT_F64};
  bench_run_call(&call);
  run_chain_peer(&peer);
  bench_assert_native(&call, "chain");
  /* the values are small multiples of 1/64: exact with or without contraction */
  bench_check(!memcmp(arrjit_array_data(call.outputs[0]), peer.out, arrjit_array_bytes(theirs)), "chain");
  bench_compare(&(bench_pair){"chain", arrjit_dtype_name(dtype), mode_name, "element", "gcc -O3", n, (double)n,
                              bench_run_call, &call, run_chain_peer, &peer});
  arrjit_array_release(theirs);
  bench_drop(&call);
}

typedef struct sum_peer {
  int64_t n;
  const void *x;
  double out;
  bool wide;
} sum_peer;
static void run_sum_peer(void *state) {
  sum_peer *p = state;
  p->out = p->wide ? peer_sum_f64(p->n, p->x) : (double)peer_sum_f32(p->n, p->x);
}

static void bench_sum(arrjit_dtype dtype, int64_t n, arrjit_mode mode, const char *mode_name) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(dtype, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value sum = arrjit_reduce_sum(g, arrjit_param(g, "x", &type), ARRJIT_ALL_AXES, NULL);
  arrjit_return(g, 1, &sum, NULL);
  bench_call call = {.function = bench_finish(g), .input_count = 1};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  call.inputs[0] = bench_array(dtype, 1, n, NULL);
  call.outputs[0] = bench_array(dtype, 0, 0, NULL);
  for (int64_t i = 0; i < n; i++) {
    if (dtype == ARRJIT_F64)
      ((double *)arrjit_array_data(call.inputs[0]))[i] = (double)(i % 64) / 64;
    else
      ((float *)arrjit_array_data(call.inputs[0]))[i] = (float)(i % 64) / 64;
  }
  sum_peer peer = {n, arrjit_array_data(call.inputs[0]), 0, dtype == ARRJIT_F64};
  bench_run_call(&call);
  run_sum_peer(&peer);
  bench_assert_native(&call, "sum");
  double ours = dtype == ARRJIT_F64 ? *(double *)arrjit_array_data(call.outputs[0])
                                    : (double)*(float *)arrjit_array_data(call.outputs[0]);
  double exact = (double)(n / 64) * 31.5; /* and what is left of the last 64, below */
  for (int64_t i = n / 64 * 64; i < n; i++) exact += (double)(i % 64) / 64;
  bench_check(fabs(ours - exact) <= 1e-6 * exact, "sum");
  bench_check(fabs(peer.out - exact) <= 0.05 * exact, "sum, peer"); /* few chains of f32 lose digits */
  bench_compare(&(bench_pair){"sum", arrjit_dtype_name(dtype), mode_name, "element", "gcc -O3", n, (double)n,
                              bench_run_call, &call, run_sum_peer, &peer});
  bench_drop(&call);
}

/* check: a polynomial that makes sure first that nothing is NaN, against itself without. */
static arrjit_function *build_polynomial(bool checked) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = arrjit_param(g, "x", &type), sure = x;
  if (checked) arrjit_check(g, arrjit_eq(g, x, x), ARRJIT_KIND_RUNTIME, 1, "not a number", 0, NULL, 1, &x, &sure);
  arrjit_value out = arrjit_mul(g, arrjit_add(g, arrjit_mul(g, sure, sure), sure), sure);
  arrjit_return(g, 1, &out, NULL);
  return bench_finish(g);
}

static void bench_check_cost(int64_t n) {
  bench_call calls[2];
  for (int checked = 0; checked < 2; checked++) {
    bench_call *call = &calls[checked];
    *call = (bench_call){.function = build_polynomial(checked), .input_count = 1};
    call->options =
        (arrjit_run_options){.struct_bytes = sizeof call->options, .mode = ARRJIT_MODE_WHOLE, .outputs = call->outputs};
    call->inputs[0] = bench_array(ARRJIT_F32, 1, n, NULL);
    call->outputs[0] = bench_array(ARRJIT_F32, 1, n, NULL);
    for (int64_t i = 0; i < n; i++) ((float *)arrjit_array_data(call->inputs[0]))[i] = (float)(i % 1000) / 64;
    bench_run_call(call);
    bench_assert_native(call, "check");
  }
  size_t bytes = arrjit_array_bytes(calls[0].outputs[0]);
  bench_check(!memcmp(arrjit_array_data(calls[0].outputs[0]), arrjit_array_data(calls[1].outputs[0]), bytes), "check");
  bench_compare(&(bench_pair){"check", "f32", "whole", "element", "unchecked", n, (double)n, bench_run_call, &calls[1],
                              bench_run_call, &calls[0]});
  for (int checked = 0; checked < 2; checked++) bench_drop(&calls[checked]);
}

void bench_elementwise(void) {
  static const int64_t sizes[] = {16, 1000, 1000000, 16000000};
  for (size_t i = 0; i < 4 && bench_wanted("chain"); i++) {
    if (bench_opts.smoke && sizes[i] > 1000) continue;
    bench_chain(ARRJIT_F32, sizes[i], ARRJIT_MODE_WHOLE, "whole");
    bench_chain(ARRJIT_F32, sizes[i], ARRJIT_MODE_INTERP, "interp");
    bench_chain(ARRJIT_F64, sizes[i], ARRJIT_MODE_WHOLE, "whole");
  }
  for (size_t i = 1; i < 4 && bench_wanted("sum"); i++) {
    if (bench_opts.smoke && sizes[i] > 1000) continue;
    bench_sum(ARRJIT_F32, sizes[i], ARRJIT_MODE_WHOLE, "whole");
    bench_sum(ARRJIT_F32, sizes[i], ARRJIT_MODE_INTERP, "interp");
    bench_sum(ARRJIT_F64, sizes[i], ARRJIT_MODE_WHOLE, "whole");
  }
  for (size_t i = 1; i < 4 && bench_wanted("check"); i++)
    if (!bench_opts.smoke || sizes[i] <= 1000) bench_check_cost(sizes[i] == 16000000 ? 10000000 : sizes[i]);
}
