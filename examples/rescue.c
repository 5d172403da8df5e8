/* rescue: a graph that rescues what it can, and a host that maps what is left to errors of its own. New here: try with
 * handlers by kind, a fallback, raise-from, finally, kinds of the host's own, causes, cancel.
 *
 * flow(year) of the Nile: after the record it is the mean, before it there is none. In hundredths of `unit`. */
#include "support.h"

enum { FIRST_YEAR = 1871, MOST_YEARS = 200 };

static arrjit_kind no_record;

static arrjit_function *build(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type vector = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "years")});
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
  arrjit_slot audit = arrjit_slot_io(g, "audit", 1, &i64, 0);
  arrjit_value record = arrjit_param(g, "record", &vector), year = arrjit_param(g, "year", &i64);
  arrjit_value unit = arrjit_param(g, "unit", &i64), index_error, flow, fallback, scaled, out;

  arrjit_try_begin(g);
  flow = arrjit_checked_index(g, record, arrjit_sub(g, year, arrjit_const_i64(g, FIRST_YEAR)), 0);
  arrjit_try_handler(g, 1, &flow, ARRJIT_KIND_INDEX, &index_error); /* and nothing else: arith goes through */
  arrjit_if_begin(g, arrjit_lt(g, year, arrjit_const_i64(g, FIRST_YEAR)));
  arrjit_raise_from(g, arrjit_exn_new(g, no_record, 1, "nobody measured in {0}", 1, &year), index_error);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  fallback = arrjit_mean(g, record, ARRJIT_ALL_AXES, NULL);
  arrjit_try_finally(g, 1, &fallback);
  arrjit_callback(g, audit, 1, &year, NULL);
  arrjit_try_end(g, 0, NULL, &out);

  scaled = arrjit_convert(g, arrjit_mul(g, out, arrjit_const_f64(g, 100)), ARRJIT_I64);
  out = arrjit_checked_div(g, scaled, unit);
  arrjit_return(g, 1, &out, NULL);
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

static arrjit_status audit(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                           size_t result_count, const arrjit_view *results) {
  (void)user, (void)call, (void)arg_count, (void)result_count, (void)results;
  printf("audit: asked for %lld\n", (long long)*(const int64_t *)args[0].data);
  return ARRJIT_OK;
}

/* The errors of this host. Kinds are a tree, so the first row that is above the kind of the failure decides. */
typedef enum host_error { HOST_OK, HOST_UNKNOWN_YEAR, HOST_BAD_UNIT, HOST_STOPPED, HOST_BROKEN } host_error;

static host_error map_kind(const arrjit_context *context, const arrjit_result *result) {
  const struct {
    arrjit_kind kind;
    host_error error;
  } rows[] = {{no_record, HOST_UNKNOWN_YEAR},
              {ARRJIT_KIND_ARITH, HOST_BAD_UNIT},
              {ARRJIT_KIND_EXIT, HOST_STOPPED},
              {ARRJIT_KIND_ERROR, HOST_BROKEN}};
  if (arrjit_result_ok(result)) return HOST_OK;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (arrjit_context_kind_is(context, arrjit_result_kind(result), rows[i].kind)) return rows[i].error;
  return HOST_BROKEN;
}

int main(int argc, char **argv) {
  static double flows[MOST_YEARS];
  arrjit_context *context;
  arrjit_cancel *cancel;
  arrjit_array *inputs[3];
  arrjit_error error;
  int64_t years = (int64_t)read_column(open_data(argc, argv, "nile.csv"), 1, flows, MOST_YEARS);
  must(arrjit_context_create(NULL, &context, &error), &error);
  must(arrjit_context_add_kind(context, "nile.no_record", ARRJIT_KIND_ERROR, "i64[0]", &no_record, &error), &error);
  must(arrjit_cancel_create(context, &cancel, &error), &error);
  arrjit_function *f = build(context);
  arrjit_type vector = arrjit_type_make(ARRJIT_F64, 1, &years), i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
  must(arrjit_array_wrap(context, &vector, flows, NULL, NULL, NULL, &inputs[0], &error), &error);
  arrjit_cancel_trigger(cancel);
  const struct {
    int64_t year, unit;
    arrjit_cancel *cancel;
  } questions[] = {{1913, 100, NULL}, {2013, 100, NULL}, {1813, 100, NULL}, {1913, 0, NULL}, {1913, 100, cancel}};
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
    arrjit_result *r;
    arrjit_binding binding = {.slot = "audit", .callback = audit};
    arrjit_run_options options = {.struct_bytes = sizeof options,
                                  .mode = ARRJIT_MODE_WHOLE,
                                  .binding_count = 1,
                                  .bindings = &binding,
                                  .cancel = questions[i].cancel};
    must(arrjit_array_create(context, &i64, &questions[i].year, &inputs[1], &error), &error);
    must(arrjit_array_create(context, &i64, &questions[i].unit, &inputs[2], &error), &error);
    must(arrjit_run(f, &options, 3, inputs, &r, &error), &error);
    if (arrjit_result_ok(r))
      printf("flow %lld\n", (long long)*(const int64_t *)arrjit_array_data(arrjit_result_output(r, 0)));
    else
      printf("host error %d, %s: %s\n", map_kind(context, r), arrjit_result_kind_name(r), arrjit_result_message(r));
    arrjit_result *cause = arrjit_result_cause(r);
    if (cause) printf("  because of %s: %s\n", arrjit_result_kind_name(cause), arrjit_result_message(cause));
    arrjit_result_destroy(r);
    arrjit_array_release(inputs[1]);
    arrjit_array_release(inputs[2]);
  }
  arrjit_array_release(inputs[0]);
  arrjit_cancel_release(cancel);
  arrjit_function_release(f);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
