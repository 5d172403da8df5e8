/* callback, callback_fail, small_call, closure: what crossing between host and graph costs. */
#include "call.h"

static arrjit_status add_one(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                             size_t result_count, const arrjit_view *results) {
  (void)user, (void)call, (void)arg_count, (void)result_count;
  *(double *)results[0].data = *(const double *)args[0].data + 1;
  return ARRJIT_OK;
}
static double add_one_direct(double x) { return x + 1; }

static arrjit_status fail(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                          size_t result_count, const arrjit_view *results) {
  (void)user, (void)arg_count, (void)result_count, (void)results;
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .kind = ARRJIT_KIND_CALLBACK,
                            .code = 3,
                            .message = "no value for {0}",
                            .payload_count = 1,
                            .payload = args};
  return arrjit_fail(call, &failure);
}

/* 1000 callbacks in a row, or (calls = 1) one. */
static arrjit_function *build_callbacks(int64_t calls) {
  arrjit_graph *g = bench_graph();
  arrjit_type f64 = arrjit_type_make(ARRJIT_F64, 0, NULL);
  arrjit_slot slot = arrjit_slot_value(g, "f", 1, &f64, 1, &f64, 0);
  arrjit_value x = arrjit_param(g, "x", &f64), i, var, next, out;
  arrjit_for_begin(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, calls), arrjit_const_i64(g, 1), 1, &x, &i, &var);
  arrjit_callback(g, slot, 1, &var, &next);
  arrjit_for_end(g, 1, &next, &out);
  arrjit_return(g, 1, &out, NULL);
  return bench_finish(g);
}

static void bench_callbacks(const char *name, bool direct, arrjit_mode mode, const char *mode_name) {
  enum { CALLS = 1000 };
  double zero = 0;
  arrjit_binding binding = {
      .slot = "f", .callback = direct ? NULL : add_one, .direct = direct ? (void (*)(void))add_one_direct : NULL};
  bench_call call = {.function = build_callbacks(CALLS), .input_count = 1};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options,
                                      .mode = mode,
                                      .outputs = call.outputs,
                                      .binding_count = 1,
                                      .bindings = &binding};
  call.inputs[0] = bench_array(ARRJIT_F64, 0, 0, &zero);
  call.outputs[0] = bench_array(ARRJIT_F64, 0, 0, NULL);
  bench_run_call(&call);
  bench_assert_native(&call, name);
  bench_check(*(double *)arrjit_array_data(call.outputs[0]) == CALLS, name);
  bench_compare(&(bench_pair){name, "f64", mode_name, "call", "none", 1, CALLS, bench_run_call, &call, NULL, NULL});
  bench_drop(&call);
}

static void run_failing(void *state) {
  bench_call *call = state;
  arrjit_result *result;
  arrjit_error error;
  bench_must(arrjit_run(call->function, &call->options, call->input_count, call->inputs, &result, &error), &error);
  if (arrjit_result_ok(result) || arrjit_result_payload_count(result) != 1) bench_must(ARRJIT_INTERNAL, NULL);
  arrjit_result_destroy(result);
}

static void bench_failing(arrjit_mode mode, const char *mode_name) {
  double zero = 0;
  arrjit_binding binding = {.slot = "f", .callback = fail};
  bench_call call = {.function = build_callbacks(1), .input_count = 1};
  call.options =
      (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .binding_count = 1, .bindings = &binding};
  call.inputs[0] = bench_array(ARRJIT_F64, 0, 0, &zero);
  run_failing(&call);
  bench_compare(&(bench_pair){"callback_fail", "f64", mode_name, "call", "none", 1, 1, run_failing, &call, NULL, NULL});
  bench_drop(&call);
}

static void bench_small(arrjit_mode mode, const char *mode_name) {
  arrjit_graph *g = bench_graph();
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value a = arrjit_param(g, "a", &type), b = arrjit_param(g, "b", &type), c = arrjit_param(g, "c", &type);
  arrjit_value out = arrjit_add(g, arrjit_mul(g, a, b), c);
  arrjit_return(g, 1, &out, NULL);
  bench_call call = {.function = bench_finish(g), .input_count = 3};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  for (int i = 0; i < 3; i++) call.inputs[i] = bench_array(ARRJIT_F64, 1, 16, NULL);
  call.outputs[0] = bench_array(ARRJIT_F64, 1, 16, NULL);
  bench_run_call(&call);
  bench_assert_native(&call, "small_call");
  bench_compare(
      &(bench_pair){"small_call", "f64", mode_name, "call", "none", 16, 1, bench_run_call, &call, NULL, NULL});
  bench_drop(&call);
}

typedef struct closure_case {
  arrjit_closure *closure;
  double x;
} closure_case;

enum { CLOSURE_CALLS = 1000 };

static void call_closure(void *state) {
  closure_case *c = state;
  double (*formula)(double, double) = (double (*)(double, double))arrjit_closure_pointer(c->closure);
  for (int i = 0; i < CLOSURE_CALLS; i++) c->x = formula(c->x, 2);
}

/* What a C library pays for a graph in place of a function of its own: x * y - x of two doubles. */
static void bench_closure(arrjit_mode mode, const char *mode_name) {
  arrjit_graph *g = bench_graph();
  arrjit_type f64 = arrjit_type_make(ARRJIT_F64, 0, NULL);
  arrjit_value x = arrjit_param(g, "x", &f64), y = arrjit_param(g, "y", &f64);
  arrjit_value out = arrjit_sub(g, arrjit_mul(g, x, y), x);
  arrjit_return(g, 1, &out, NULL);
  arrjit_function *function = bench_finish(g);
  arrjit_run_options run = {.struct_bytes = sizeof run, .mode = mode};
  const arrjit_closure_options options = {.struct_bytes = sizeof options, .run = &run};
  closure_case c = {.x = 3};
  arrjit_error error;
  bench_must(arrjit_closure_create(function, &options, &c.closure, &error), &error);
  call_closure(&c);
  bench_check(c.x == 3 && arrjit_closure_failures(c.closure) == 0, "closure");
  bench_compare(
      &(bench_pair){"closure", "f64", mode_name, "call", "none", 1, CLOSURE_CALLS, call_closure, &c, NULL, NULL});
  arrjit_closure_release(c.closure);
  arrjit_function_release(function);
}

void bench_calls(void) {
  static const struct {
    arrjit_mode mode;
    const char *name;
  } modes[] = {{ARRJIT_MODE_WHOLE, "whole"}, {ARRJIT_MODE_INTERP, "interp"}};
  for (int m = 0; m < 2; m++) {
    if (bench_wanted("callback")) bench_callbacks("callback", false, modes[m].mode, modes[m].name);
    if (bench_wanted("callback")) bench_callbacks("callback_direct", true, modes[m].mode, modes[m].name);
    if (bench_wanted("callback_fail")) bench_failing(modes[m].mode, modes[m].name);
    if (bench_wanted("closure")) bench_closure(modes[m].mode, modes[m].name);
    if (bench_wanted("small_call")) bench_small(modes[m].mode, modes[m].name);
  }
}
