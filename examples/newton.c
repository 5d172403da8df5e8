/* newton: a loop that raises when it does not converge. New here: while, if, raise, and what the caller gets.
 *
 * Internal rate of return of a cash flow: the r with sum(c[t] / (1 + r)^t) = 0, by Newton's method. */
#include "support.h"

enum { PERIODS = 5, MOST_STEPS = 10 };

/* value and slope of the net present value at rate r */
static void present_value(arrjit_graph *g, arrjit_value cash, arrjit_value r, arrjit_value *value,
                          arrjit_value *slope) {
  arrjit_value t = arrjit_iota(g, ARRJIT_F64, 1, (int64_t[]){PERIODS}, 0);
  arrjit_value rate = arrjit_add(g, r, arrjit_const_f64(g, 1));
  arrjit_value discount = arrjit_exp(g, arrjit_neg(g, arrjit_mul(g, t, arrjit_log(g, rate))));
  arrjit_value terms = arrjit_mul(g, cash, discount);
  *value = arrjit_reduce_sum(g, terms, ARRJIT_ALL_AXES, NULL);
  *slope = arrjit_neg(g, arrjit_div(g, arrjit_reduce_sum(g, arrjit_mul(g, terms, t), ARRJIT_ALL_AXES, NULL), rate));
}

static arrjit_function *build(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){PERIODS});
  arrjit_value cash = arrjit_param(g, "cash", &type);
  arrjit_value vars[3], out[3], value, slope;
  arrjit_value init[3] = {arrjit_const_f64(g, 0.1), arrjit_const_f64(g, 1), arrjit_const_i64(g, 0)}; /* r, step, i */
  arrjit_while_begin(g, 3, init, vars);
  arrjit_value pred = arrjit_not(g, arrjit_le(g, arrjit_abs(g, vars[1]), arrjit_const_f64(g, 1e-12))); /* NaN goes on */
  arrjit_while_body(g, pred, vars);
  arrjit_if_begin(g, arrjit_ge(g, vars[2], arrjit_const_i64(g, MOST_STEPS)));
  arrjit_runtime_raise(g, "no convergence after {0} steps: rate {1}, last step {2}", 3,
                       (arrjit_value[]){vars[2], vars[0], vars[1]});
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  present_value(g, cash, vars[0], &value, &slope);
  arrjit_value step = arrjit_div(g, value, slope);
  arrjit_while_end(
      g, 3, (arrjit_value[]){arrjit_sub(g, vars[0], step), step, arrjit_add(g, vars[2], arrjit_const_i64(g, 1))}, out);
  arrjit_return(g, 2, (arrjit_value[]){out[0], out[2]}, NULL);
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

int main(void) {
  arrjit_context *context;
  arrjit_error error;
  must(arrjit_context_create(NULL, &context, &error), &error);
  arrjit_function *f = build(context);
  double flows[3][PERIODS] = {{-1000, 300, 400, 400, 300}, {-500, 100, 150, 200, 250}, {100, 100, 100, 100, 100}};
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){PERIODS});
  for (int i = 0; i < 3; i++) {
    arrjit_array *cash;
    arrjit_result *r;
    arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE};
    must(arrjit_array_wrap(context, &type, flows[i], NULL, NULL, NULL, &cash, &error), &error);
    must(arrjit_run(f, &options, 1, &cash, &r, &error), &error);
    if (arrjit_result_ok(r))
      printf("rate %.6f after %lld steps\n", *(const double *)arrjit_array_data(arrjit_result_output(r, 0)),
             (long long)*(const int64_t *)arrjit_array_data(arrjit_result_output(r, 1)));
    else /* all positive: there is no rate */
      printf("%s: %s\n", arrjit_result_kind_name(r), arrjit_result_message(r));
    arrjit_result_destroy(r);
    arrjit_array_release(cash);
  }
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
