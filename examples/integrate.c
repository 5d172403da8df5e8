/* integrate: a graph as the right-hand side of GSL's solver and as the integrand of its quadrature. New here: closures,
 * which are plain C function pointers, and what becomes of a failure that C has no place for. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_odeiv2.h>

#include "support.h"

typedef double integrand_fn(double x, void *params);
typedef int rhs_fn(double t, const double *y, double *dydt, void *params);

static arrjit_function *finish(arrjit_graph *g) {
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

/* Planck's x^3 / (e^x - 1). */
static arrjit_function *build_planck(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type f64 = arrjit_type_make(ARRJIT_F64, 0, NULL);
  arrjit_value x = arrjit_param(g, "x", &f64), cube = arrjit_mul(g, x, arrjit_mul(g, x, x));
  arrjit_value value = arrjit_div(g, cube, arrjit_sub(g, arrjit_exp(g, x), arrjit_const_f64(g, 1)));
  arrjit_return(g, 1, &value, NULL);
  return finish(g);
}

/* Lotka and Volterra: prey' = prey (1.1 - 0.4 predators), predators' = predators (0.1 prey - 0.4). */
static arrjit_function *build_prey(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type f64 = arrjit_type_make(ARRJIT_F64, 0, NULL), pair = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){2});
  arrjit_value t = arrjit_param(g, "t", &f64), y = arrjit_param(g, "y", &pair);
  const double gain[2] = {1.1, -0.4}, effect[2] = {-0.4, 0.1};
  arrjit_check(g, arrjit_ge(g, y, arrjit_const_f64(g, 0)), ARRJIT_KIND_RUNTIME, 1,
               "population {2} is below 0 at t = {0}: {1}", 2, (arrjit_value[]){t, y}, 1, &y, &y);
  arrjit_value other = arrjit_reverse(g, y, 1, (int64_t[]){0});
  arrjit_value rate = arrjit_add(g, arrjit_const(g, &pair, gain), arrjit_mul(g, arrjit_const(g, &pair, effect), other));
  arrjit_value change = arrjit_mul(g, y, rate);
  arrjit_return(g, 1, &change, NULL);
  return finish(g);
}

/* The closure keeps the function. */
static arrjit_closure *take_out(arrjit_function *f) {
  arrjit_closure *closure;
  arrjit_error error;
  arrjit_run_options run = {.struct_bytes = sizeof run, .mode = ARRJIT_MODE_WHOLE};
  arrjit_closure_options options = {.struct_bytes = sizeof options, .flags = ARRJIT_CLOSURE_USER, .run = &run};
  must(arrjit_closure_create(f, &options, &closure, &error), &error);
  printf("%s\n", arrjit_closure_signature(closure));
  arrjit_function_release(f);
  return closure;
}

static void integrate(arrjit_closure *closure) {
  gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(100);
  gsl_function planck = {.function = (integrand_fn *)arrjit_closure_pointer(closure)};
  double value, error;
  int status = gsl_integration_qagiu(&planck, 0, 0, 1e-9, 100, workspace, &value, &error);
  printf("status %d: integral %.9f, pi^4 / 15 is 6.493939402\n", status, value);
  gsl_integration_workspace_free(workspace);
}

static void solve(arrjit_closure *closure, double prey, double predators) {
  gsl_odeiv2_system system = {.function = (rhs_fn *)arrjit_closure_pointer(closure), .dimension = 2};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rkf45, 1e-3, 1e-9, 1e-9);
  double t = 0, y[2] = {prey, predators};
  int status = GSL_SUCCESS;
  for (int day = 5; day <= 20 && status == GSL_SUCCESS; day += 5) {
    status = gsl_odeiv2_driver_apply(driver, &t, day, y);
    if (status == GSL_SUCCESS) printf("t = %2d: prey %.5f, predators %.5f\n", day, y[0], y[1]);
  }
  arrjit_result *failure = arrjit_closure_take_error(closure);
  if (failure) printf("status %d: %s: %s\n", status, arrjit_result_kind_name(failure), arrjit_result_message(failure));
  arrjit_result_destroy(failure);
  gsl_odeiv2_driver_free(driver);
}

int main(void) {
  arrjit_context *context;
  arrjit_error error;
  must(arrjit_context_create(NULL, &context, &error), &error);
  gsl_set_error_handler_off();
  arrjit_closure *planck = take_out(build_planck(context)), *prey = take_out(build_prey(context));
  integrate(planck);
  solve(prey, 10, 5);
  solve(prey, 10, -5);
  arrjit_closure_release(planck);
  arrjit_closure_release(prey);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
