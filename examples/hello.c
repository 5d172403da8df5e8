/* hello: build a graph, finish it, run it. y = 2 * x + 1, and its sum. */
#include <arrjit/arrjit.h>
#include <stdio.h>

int main(void) {
  arrjit_context *context;
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_array *x;
  arrjit_result *r;
  arrjit_error error;
  double data[4] = {1, 2, 3, 4};
  if (arrjit_context_create(NULL, &context, &error) != ARRJIT_OK) return 1;
  if (arrjit_graph_create(context, &g, &error) != ARRJIT_OK) return 1;
  arrjit_type vector = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value in = arrjit_param(g, "x", &vector);
  arrjit_value y = arrjit_add(g, arrjit_mul(g, in, arrjit_const_f64(g, 2)), arrjit_const_f64(g, 1));
  arrjit_return(g, 2, (arrjit_value[]){y, arrjit_reduce_sum(g, y, ARRJIT_ALL_AXES, NULL)}, NULL);
  if (arrjit_graph_finish(g, &f, &error) != ARRJIT_OK) return puts(error.message), 1;
  vector.dims[0] = 4;
  if (arrjit_array_create(context, &vector, data, &x, &error) != ARRJIT_OK) return 1;
  if (arrjit_run(f, NULL, 1, &x, &r, &error) != ARRJIT_OK) return puts(error.message), 1;
  const double *out = arrjit_array_data(arrjit_result_output(r, 0));
  printf("%g %g %g %g, sum %g\n", out[0], out[1], out[2], out[3],
         *(const double *)arrjit_array_data(arrjit_result_output(r, 1)));
  arrjit_result_destroy(r);
  arrjit_array_release(x);
  arrjit_function_release(f);
  arrjit_graph_destroy(g);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
