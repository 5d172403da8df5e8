/* column: a CSV column through a formula, in both tiers. New here: host memory wrapped without a copy, modes,
 * statistics.
 *
 * Standardised anomalies of the Nile's annual flow: z = (x - mean) / standard deviation, and how many are beyond 2. */
#include <time.h>

#include "support.h"

static double now_us(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static arrjit_function *build(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type vector = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "years")});
  arrjit_value x = arrjit_param(g, "flow", &vector);
  arrjit_value mean = arrjit_mean(g, x, ARRJIT_ALL_AXES, NULL);
  arrjit_value off = arrjit_sub(g, x, mean);
  arrjit_value deviation = arrjit_sqrt(g, arrjit_mean(g, arrjit_mul(g, off, off), ARRJIT_ALL_AXES, NULL));
  arrjit_value z = arrjit_div(g, off, deviation);
  arrjit_value far = arrjit_gt(g, arrjit_abs(g, z), arrjit_const_f64(g, 2));
  arrjit_value count = arrjit_reduce_sum(g, arrjit_convert(g, far, ARRJIT_I64), ARRJIT_ALL_AXES, NULL);
  arrjit_return(g, 4, (arrjit_value[]){z, mean, deviation, count}, NULL);
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

static double scalar(arrjit_result *r, size_t i) {
  return *(const double *)arrjit_array_data(arrjit_result_output(r, i));
}

int main(int argc, char **argv) {
  arrjit_context *context;
  arrjit_array *x;
  arrjit_result *r;
  arrjit_error error;
  double flow[200];
  size_t n = read_column(open_data(argc, argv, "nile.csv"), 1, flow, 200);
  must(arrjit_context_create(NULL, &context, &error), &error);
  arrjit_function *f = build(context);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){(int64_t)n});
  must(arrjit_array_wrap(context, &type, flow, NULL, NULL, NULL, &x, &error), &error);

  static const struct {
    const char *name;
    arrjit_mode mode;
  } modes[] = {{"interp", ARRJIT_MODE_INTERP}, {"whole", ARRJIT_MODE_WHOLE}};
  for (int m = 0; m < 2; m++) {
    arrjit_run_options options = {.struct_bytes = sizeof options, .mode = modes[m].mode};
    for (int run = 0; run < 2; run++) { /* the second run finds everything warm */
      double start = now_us();
      must(arrjit_run(f, &options, 1, &x, &r, &error), &error);
      fprintf(stderr, "%-6s run %d took %.1f us\n", modes[m].name, run + 1, now_us() - start);
      if (run == 0) arrjit_result_destroy(r);
    }
    const double *z = arrjit_array_data(arrjit_result_output(r, 0));
    printf("%s: %zu years, mean %.2f, deviation %.2f, beyond 2 deviations: %lld; first z %.4f, last z %.4f\n",
           modes[m].name, n, scalar(r, 1), scalar(r, 2),
           (long long)*(const int64_t *)arrjit_array_data(arrjit_result_output(r, 3)), z[0], z[n - 1]);
    arrjit_result_destroy(r);
  }
  arrjit_function_statistics s;
  arrjit_function_get_statistics(f, &s);
  fprintf(stderr, "compiled in %.1f ms, %lld kernels\n", (double)s.compile_ns / 1e6, (long long)s.kernels);
  arrjit_array_release(x);
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
