/* A program as a user of the installed library writes it, in C99 and in C++17: 2 * x + 1 in two modes. The argument, if
 * any, is the native module's path. */
#include <arrjit/arrjit.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  arrjit_context_options context_options;
  arrjit_context *context;
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_array *x;
  arrjit_error error;
  double data[3] = {1, 2, 3};
  int64_t dims[1] = {3};
  memset(&context_options, 0, sizeof context_options);
  context_options.struct_bytes = sizeof context_options;
  context_options.native_path = argc > 1 ? argv[1] : NULL;
  if (arrjit_context_create(&context_options, &context, &error) != ARRJIT_OK) return 1;
  if (arrjit_graph_create(context, &g, &error) != ARRJIT_OK) return 1;
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, dims);
  arrjit_value in = arrjit_param(g, "x", &type);
  arrjit_value y = arrjit_add(g, arrjit_mul(g, in, arrjit_const_f64(g, 2)), arrjit_const_f64(g, 1));
  arrjit_return(g, 1, &y, NULL);
  if (arrjit_graph_finish(g, &f, &error) != ARRJIT_OK) return 1;
  arrjit_graph_destroy(g);
  if (arrjit_array_create(context, &type, data, &x, &error) != ARRJIT_OK) return 1;
  const arrjit_mode modes[2] = {ARRJIT_MODE_INTERP, ARRJIT_MODE_WHOLE};
  for (int m = 0; m < 2; m++) {
    arrjit_run_options options;
    arrjit_result *r;
    memset(&options, 0, sizeof options);
    options.struct_bytes = sizeof options;
    options.mode = modes[m];
    if (arrjit_run(f, &options, 1, &x, &r, &error) != ARRJIT_OK || !arrjit_result_ok(r)) return 1;
    const double *out = (const double *)arrjit_array_data(arrjit_result_output(r, 0));
    if (out[0] != 3 || out[1] != 5 || out[2] != 7) return 1;
    arrjit_result_destroy(r);
  }
  arrjit_function_statistics s;
  arrjit_function_get_statistics(f, &s);
  printf("arrjit %s, native runs %d\n", arrjit_version(), (int)s.native_runs);
  arrjit_array_release(x);
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
