/* collatz and newton: loops of scalars, where state has to live in registers. */
#include "call.h"

typedef struct scalar_peer {
  int64_t limit, steps;
  double sum;
} scalar_peer;
static void run_collatz_peer(void *state) {
  scalar_peer *p = state;
  p->steps = peer_collatz(p->limit);
}
static void run_newton_peer(void *state) {
  scalar_peer *p = state;
  p->sum = peer_newton(2.0, p->limit);
}

static arrjit_function *build_collatz(void) {
  arrjit_graph *g = bench_graph();
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
  arrjit_value limit = arrjit_param(g, "limit", &i64), one = arrjit_const_i64(g, 1), zero = arrjit_const_i64(g, 0);
  arrjit_value start, steps, x[2], next[2], out[2], total;
  arrjit_for_begin(g, one, arrjit_add(g, limit, one), one, 1, &zero, &start, &steps);
  arrjit_while_begin(g, 2, (arrjit_value[]){start, steps}, x);
  arrjit_value pred = arrjit_ne(g, x[0], one);
  arrjit_while_body(g, pred, x);
  arrjit_value odd = arrjit_ne(g, arrjit_and(g, x[0], one), zero);
  next[0] = arrjit_select(g, odd, arrjit_add(g, arrjit_mul(g, arrjit_const_i64(g, 3), x[0]), one),
                          arrjit_shr_arith(g, x[0], one));
  next[1] = arrjit_add(g, x[1], one);
  arrjit_while_end(g, 2, next, out);
  arrjit_for_end(g, 1, &out[1], &total);
  arrjit_return(g, 1, &total, NULL);
  return bench_finish(g);
}

static arrjit_function *build_newton(void) {
  arrjit_graph *g = bench_graph();
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
  arrjit_value rounds = arrjit_param(g, "rounds", &i64), one = arrjit_const_i64(g, 1), zero = arrjit_const_i64(g, 0);
  arrjit_value k, sum, i, x, root, total, nothing = arrjit_const_f64(g, 0);
  arrjit_for_begin(g, zero, rounds, one, 1, &nothing, &k, &sum);
  arrjit_value v = arrjit_add(g, arrjit_const_f64(g, 2), arrjit_convert(g, k, ARRJIT_F64));
  arrjit_for_begin(g, zero, arrjit_const_i64(g, 20), one, 1, &v, &i, &x);
  arrjit_value next = arrjit_mul(g, arrjit_const_f64(g, 0.5), arrjit_add(g, x, arrjit_div(g, v, x)));
  arrjit_for_end(g, 1, &next, &root);
  arrjit_value added = arrjit_add(g, sum, root);
  arrjit_for_end(g, 1, &added, &total);
  arrjit_return(g, 1, &total, NULL);
  return bench_finish(g);
}

static void bench_loop(const char *name, arrjit_function *function, int64_t limit, double units, arrjit_dtype out,
                       bench_fn *peer_fn, arrjit_mode mode, const char *mode_name) {
  bench_call call = {.function = function, .input_count = 1};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  call.inputs[0] = bench_array(ARRJIT_I64, 0, 0, &limit);
  call.outputs[0] = bench_array(out, 0, 0, NULL);
  scalar_peer peer = {.limit = limit};
  bench_run_call(&call);
  peer_fn(&peer);
  bench_assert_native(&call, name);
  const void *got = arrjit_array_data(call.outputs[0]);
  bench_check(out == ARRJIT_I64 ? *(const int64_t *)got == peer.steps : *(const double *)got == peer.sum, name);
  if (units == 0) units = (double)peer.steps;
  bench_compare(&(bench_pair){name, arrjit_dtype_name(out), mode_name, "iteration", "gcc -O3", limit, units,
                              bench_run_call, &call, peer_fn, &peer});
  bench_drop(&call);
}

void bench_scalar(void) {
  int64_t limit = bench_opts.smoke ? 100 : 10000, few = bench_opts.smoke ? 10 : 300;
  if (bench_wanted("collatz")) {
    bench_loop("collatz", build_collatz(), limit, 0, ARRJIT_I64, run_collatz_peer, ARRJIT_MODE_WHOLE, "whole");
    bench_loop("collatz", build_collatz(), few, 0, ARRJIT_I64, run_collatz_peer, ARRJIT_MODE_INTERP, "interp");
  }
  if (bench_wanted("newton")) {
    bench_loop("newton", build_newton(), limit, (double)limit * 20, ARRJIT_F64, run_newton_peer, ARRJIT_MODE_WHOLE,
               "whole");
    bench_loop("newton", build_newton(), few, (double)few * 20, ARRJIT_F64, run_newton_peer, ARRJIT_MODE_INTERP,
               "interp");
  }
}
