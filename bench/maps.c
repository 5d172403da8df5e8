/* mandelbrot and newton_map: loops of as many turns as each lane needs, under masks; against scalar loops. */
#include <math.h>
#include <string.h>

#include "call.h"

enum { MOST_TURNS = 256 };

typedef struct map_peer {
  int64_t n;
  const float *x, *y;
  int32_t *counts;
  const double *a;
  double *roots;
} map_peer;

static void run_mandelbrot_peer(void *state) {
  map_peer *p = state;
  peer_mandelbrot(p->n, p->x, p->y, MOST_TURNS, p->counts);
}

static void run_newton_peer(void *state) {
  map_peer *p = state;
  peer_newton_map(p->n, p->a, p->roots);
}

/* Turns until |z| > 2, at most 256, for the points x + iy of a grid. */
static arrjit_function *build_mandelbrot(void) {
  arrjit_graph *g = bench_graph();
  int64_t n = arrjit_symbol(g, "n");
  arrjit_type row = arrjit_type_make(ARRJIT_F32, 1, &n);
  arrjit_type column = arrjit_type_make(ARRJIT_F32, 2, (int64_t[]){n, 1});
  arrjit_value c[2], v[3], out[3], count;
  arrjit_value args[] = {arrjit_param(g, "x", &row), arrjit_param(g, "y", &column)};
  arrjit_map_begin(g, 2, args, c);
  arrjit_value zero = arrjit_const_f32(g, 0), one = arrjit_const_i32(g, 1);
  arrjit_while_begin(g, 3, (arrjit_value[]){zero, zero, arrjit_const_i32(g, 0)}, v);
  arrjit_value size = arrjit_add(g, arrjit_mul(g, v[0], v[0]), arrjit_mul(g, v[1], v[1]));
  arrjit_value near = arrjit_le(g, size, arrjit_const_f32(g, 4));
  arrjit_while_body(g, arrjit_and(g, near, arrjit_lt(g, v[2], arrjit_const_i32(g, MOST_TURNS))), v);
  arrjit_value real = arrjit_sub(g, arrjit_mul(g, v[0], v[0]), arrjit_mul(g, v[1], v[1]));
  arrjit_value twice = arrjit_add(g, v[0], v[0]);
  arrjit_value next[] = {arrjit_add(g, real, c[0]), arrjit_add(g, arrjit_mul(g, twice, v[1]), c[1]),
                         arrjit_add(g, v[2], one)};
  arrjit_while_end(g, 3, next, out);
  arrjit_map_end(g, 1, &out[2], &count);
  arrjit_return(g, 1, &count, NULL);
  return bench_finish(g);
}

static arrjit_array *matrix(arrjit_dtype dtype, int64_t rows, int64_t columns, const void *data) {
  arrjit_type type = arrjit_type_make(dtype, 2, (int64_t[]){rows, columns});
  arrjit_array *array;
  arrjit_error error;
  bench_must(arrjit_array_create(bench_context, &type, data, &array, &error), &error);
  return array;
}

static void bench_mandelbrot(int64_t n, arrjit_mode mode, const char *mode_name) {
  bench_call call = {.function = build_mandelbrot(), .input_count = 2};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  call.inputs[0] = bench_array(ARRJIT_F32, 1, n, NULL);
  call.inputs[1] = matrix(ARRJIT_F32, n, 1, NULL);
  call.outputs[0] = matrix(ARRJIT_I32, n, n, NULL);
  arrjit_array *theirs = matrix(ARRJIT_I32, n, n, NULL);
  for (int64_t i = 0; i < n; i++) {
    ((float *)arrjit_array_data(call.inputs[0]))[i] = -2.0f + 2.5f * (float)i / (float)n;
    ((float *)arrjit_array_data(call.inputs[1]))[i] = -1.25f + 2.5f * (float)i / (float)n;
  }
  map_peer peer = {.n = n,
                   .x = arrjit_array_data(call.inputs[0]),
                   .y = arrjit_array_data(call.inputs[1]),
                   .counts = arrjit_array_data(theirs)};
  bench_run_call(&call);
  run_mandelbrot_peer(&peer);
  bench_assert_native(&call, "mandelbrot");
  const int32_t *ours = arrjit_array_data(call.outputs[0]);
  bench_check(!memcmp(ours, peer.counts, arrjit_array_bytes(theirs)), "mandelbrot");
  double turns = 0;
  for (int64_t i = 0; i < n * n; i++) turns += ours[i];
  bench_compare(&(bench_pair){"mandelbrot", "f32", mode_name, "iteration", "gcc -O3", n, turns, bench_run_call, &call,
                              run_mandelbrot_peer, &peer});
  bench_drop(&call);
  arrjit_array_release(theirs);
}

/* Square roots by Newton's method until two steps agree; below 0 it raises, which nothing here is. */
static arrjit_function *build_newton_map(void) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value arg = arrjit_param(g, "a", &type), a, v[2], out[2], root;
  arrjit_map_begin(g, 1, &arg, &a);
  arrjit_value good = arrjit_ge(g, a, arrjit_const_f64(g, 0));
  arrjit_check(g, good, ARRJIT_KIND_RUNTIME, 0, "{0} has no root", 1, &a, 0, NULL, NULL);
  arrjit_while_begin(g, 2, (arrjit_value[]){arrjit_const_f64(g, 0), a}, v);
  arrjit_while_body(g, arrjit_ne(g, v[0], v[1]), v);
  arrjit_value sum = arrjit_add(g, v[1], arrjit_div(g, a, v[1]));
  arrjit_value next = arrjit_min(g, v[1], arrjit_mul(g, arrjit_const_f64(g, 0.5), sum));
  arrjit_while_end(g, 2, (arrjit_value[]){v[1], next}, out);
  arrjit_map_end(g, 1, &out[1], &root);
  arrjit_return(g, 1, &root, NULL);
  return bench_finish(g);
}

static void bench_newton_map(int64_t n, arrjit_mode mode, const char *mode_name) {
  bench_call call = {.function = build_newton_map(), .input_count = 1};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  call.inputs[0] = bench_array(ARRJIT_F64, 1, n, NULL);
  call.outputs[0] = bench_array(ARRJIT_F64, 1, n, NULL);
  arrjit_array *theirs = bench_array(ARRJIT_F64, 1, n, NULL);
  for (int64_t i = 0; i < n; i++) ((double *)arrjit_array_data(call.inputs[0]))[i] = 1 + (double)(i * 7919 % 1000003);
  map_peer peer = {.n = n, .a = arrjit_array_data(call.inputs[0]), .roots = arrjit_array_data(theirs)};
  bench_run_call(&call);
  run_newton_peer(&peer);
  bench_assert_native(&call, "newton_map");
  bench_check(!memcmp(arrjit_array_data(call.outputs[0]), peer.roots, arrjit_array_bytes(theirs)), "newton_map");
  bench_compare(&(bench_pair){"newton_map", "f64", mode_name, "element", "gcc -O3", n, (double)n, bench_run_call, &call,
                              run_newton_peer, &peer});
  bench_drop(&call);
  arrjit_array_release(theirs);
}

void bench_maps(void) {
  int64_t side = bench_opts.smoke ? 16 : 256, count = bench_opts.smoke ? 100 : 100000;
  if (bench_wanted("mandelbrot")) {
    bench_mandelbrot(side, ARRJIT_MODE_WHOLE, "whole");
    bench_mandelbrot(bench_opts.smoke ? 4 : 16, ARRJIT_MODE_INTERP, "interp");
  }
  if (bench_wanted("newton_map")) {
    bench_newton_map(count, ARRJIT_MODE_WHOLE, "whole");
    bench_newton_map(bench_opts.smoke ? 10 : 1000, ARRJIT_MODE_INTERP, "interp");
  }
}
