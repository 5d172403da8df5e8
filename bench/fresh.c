/* arrjit-fresh: one fresh process: from nothing to the first result in auto mode, in nanoseconds of the monotonic
 * clock. run.sh starts it many times, in turn with the same program built without native code. */
#include <arrjit/arrjit.h>
#include <stdio.h>

int main(void) {
  int64_t start = arrjit_clock_ns();
  arrjit_context *context;
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_array *in[2];
  arrjit_result *r;
  arrjit_error e;
  int64_t n = 1000;
  if (arrjit_context_create(NULL, &context, &e) || arrjit_graph_create(context, &g, &e)) return 1;
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value a = arrjit_param(g, "a", &type), b = arrjit_param(g, "b", &type);
  arrjit_value out = arrjit_sub(g, arrjit_exp(g, arrjit_mul(g, a, b)), arrjit_sqrt(g, arrjit_abs(g, b)));
  arrjit_return(g, 1, &out, NULL);
  if (arrjit_graph_finish(g, &f, &e)) return 1;
  type.dims[0] = n;
  for (int i = 0; i < 2; i++)
    if (arrjit_array_create(context, &type, NULL, &in[i], &e)) return 1;
  if (arrjit_run(f, NULL, 2, in, &r, &e) || !arrjit_result_ok(r)) return 1;
  printf("%lld\n", (long long)(arrjit_clock_ns() - start));
  arrjit_result_destroy(r);
  arrjit_array_release(in[0]);
  arrjit_array_release(in[1]);
  arrjit_function_release(f);
  arrjit_graph_destroy(g);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
