/* callback: the graph calls the host, the host fails, and goes on. New here: a value slot, arrjit_fail with a kind of
 * the host's own and a payload, the trace; then the same function with another binding. */
#include "support.h"

static arrjit_kind no_quote;

/* The host's price list: price(item) -> f64. Item 3 has none. */
static arrjit_status price(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                           size_t result_count, const arrjit_view *results) {
  static const double list[4] = {2.5, 4.0, 1.25, -1};
  int64_t item = *(const int64_t *)args[0].data;
  (void)arg_count, (void)result_count;
  if (user || item != 3) {
    *(double *)results[0].data = user ? *(double *)user : list[item];
    return ARRJIT_OK;
  }
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .kind = no_quote,
                            .code = 404,
                            .message = "no quote for item {0}",
                            .payload_count = 1,
                            .payload = args,
                            .frame_count = 1,
                            .frames = (const char *const[]){"price_list.lookup"}};
  return arrjit_fail(call, &failure);
}

/* total = sum of price(i) for i < count */
static arrjit_function *build(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL), f64 = arrjit_type_make(ARRJIT_F64, 0, NULL);
  arrjit_slot slot = arrjit_slot_value(g, "price", 1, &i64, 1, &f64, 0);
  arrjit_value count = arrjit_param(g, "count", &i64), zero = arrjit_const_f64(g, 0), i, sum, quote, total;
  arrjit_label_push(g, "shopping");
  arrjit_for_begin(g, arrjit_const_i64(g, 0), count, arrjit_const_i64(g, 1), 1, &zero, &i, &sum);
  arrjit_callback(g, slot, 1, &i, &quote);
  arrjit_value next = arrjit_add(g, sum, quote);
  arrjit_for_end(g, 1, &next, &total);
  arrjit_label_pop(g);
  arrjit_return(g, 1, &total, NULL);
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

int main(void) {
  arrjit_context *context;
  arrjit_error error;
  must(arrjit_context_create(NULL, &context, &error), &error);
  must(arrjit_context_add_kind(context, "shop.no_quote", ARRJIT_KIND_CALLBACK, "i64[0]", &no_quote, &error), &error);
  arrjit_function *f = build(context);
  double flat = 3.0;
  const struct {
    int64_t count;
    void *user;
  } runs[3] = {{3, NULL}, {5, NULL}, {5, &flat}};
  for (int k = 0; k < 3; k++) {
    arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
    arrjit_array *count;
    arrjit_result *r;
    arrjit_binding binding = {.slot = "price", .callback = price, .user = runs[k].user};
    arrjit_run_options options = {
        .struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE, .binding_count = 1, .bindings = &binding};
    must(arrjit_array_create(context, &i64, &runs[k].count, &count, &error), &error);
    must(arrjit_run(f, &options, 1, &count, &r, &error), &error);
    if (arrjit_result_ok(r))
      printf("total %g\n", *(const double *)arrjit_array_data(arrjit_result_output(r, 0)));
    else
      printf("code %lld\n%s", (long long)arrjit_result_code(r), arrjit_result_text(r));
    arrjit_result_destroy(r);
    arrjit_array_release(count);
  }
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
