/* Rows of misuse: functions, text, runs, callbacks, results. */
#include "misuse.h"

/* ---- functions ---- */

static void signatures(misuse *m) {
  const arrjit_function *f = m->function;
  SURVIVES(m, arrjit_function_retain, "function", "NULL", arrjit_function_retain(NULL));
  SURVIVES(m, arrjit_function_release, "function", "NULL", arrjit_function_release(NULL));
  GIVES(m, arrjit_function_id, "function", "NULL", arrjit_function_id(NULL) == 0);
  GIVES(m, arrjit_function_param_count, "function", "NULL", arrjit_function_param_count(NULL) == 0);
  GIVES(m, arrjit_function_result_count, "function", "NULL", arrjit_function_result_count(NULL) == 0);
  REFUSED(m, arrjit_function_param, "function", "NULL", ARRJIT_MISUSE, NULL,
          arrjit_function_param(NULL, 0, &m->outs.name, &m->outs.type));
  REFUSED(m, arrjit_function_param, "index", "out of range", ARRJIT_MISUSE, NULL,
          arrjit_function_param(f, 1, &m->outs.name, &m->outs.type));
  REFUSED(m, arrjit_function_result, "function", "NULL", ARRJIT_MISUSE, NULL,
          arrjit_function_result(NULL, 0, &m->outs.name, &m->outs.type));
  REFUSED(m, arrjit_function_result, "index", "out of range", ARRJIT_MISUSE, NULL,
          arrjit_function_result(f, SIZE_MAX, &m->outs.name, &m->outs.type));
  GIVES(m, arrjit_function_param, "outs", "NULL, both", arrjit_function_param(f, 0, NULL, NULL) == ARRJIT_OK);
  GIVES(m, arrjit_function_result, "outs", "NULL, both", arrjit_function_result(f, 0, NULL, NULL) == ARRJIT_OK);
  char text[8] = "?";
  GIVES(m, arrjit_function_extent_text, "function", "NULL", (arrjit_function_extent_text(NULL, 3, text, 8), !*text));
  GIVES(m, arrjit_function_extent_text, "extent", "no symbol", (arrjit_function_extent_text(f, -9, text, 8), !*text));
  GIVES(m, arrjit_function_extent_text, "size", "small",
        (arrjit_function_extent_text(f, 1234567, text, 5), strlen(text) == 4));
  SURVIVES(m, arrjit_function_extent_text, "out", "NULL", arrjit_function_extent_text(f, 3, NULL, 8));
  SURVIVES(m, arrjit_function_extent_text, "size", "0", arrjit_function_extent_text(f, 3, text, 0));
  GIVES(m, arrjit_function_slot_count, "function", "NULL", arrjit_function_slot_count(NULL) == 0);
  GIVES(m, arrjit_function_slot_name, "function", "NULL", !arrjit_function_slot_name(NULL, 0));
  GIVES(m, arrjit_function_slot_name, "index", "out of range", !arrjit_function_slot_name(f, 1));
}

static void compiling(misuse *m) {
  arrjit_function_statistics statistics;
  const arrjit_type other = TYPE(F32, 3), longer = TYPE(F64, 4), flat = TYPE(F64),
                    bad = {.dtype = ARRJIT_F64, .rank = 99};
  memset(&statistics, 0x5a, sizeof statistics);
  GIVES(m, arrjit_function_get_statistics, "function", "NULL",
        (arrjit_function_get_statistics(NULL, &statistics), statistics.kernels == 0));
  SURVIVES(m, arrjit_function_get_statistics, "out", "NULL", arrjit_function_get_statistics(m->function, NULL));
  REFUSED(m, arrjit_function_prepare, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          arrjit_function_prepare(NULL, NULL, e));
  REFUSED(m, arrjit_function_prepare, "inputs", "of another dtype", ARRJIT_TYPE, "input 0: the parameter is f64[3]",
          arrjit_function_prepare(m->function, &other, e));
  REFUSED(m, arrjit_function_prepare, "inputs", "of another extent", ARRJIT_TYPE, "input 0",
          arrjit_function_prepare(m->function, &longer, e));
  REFUSED(m, arrjit_function_prepare, "inputs", "of another rank", ARRJIT_TYPE, "input 0",
          arrjit_function_prepare(m->function, &flat, e));
  REFUSED(m, arrjit_function_prepare, "inputs", "of rank 99", ARRJIT_TYPE, "input 0",
          arrjit_function_prepare(m->function, &bad, e));
  REFUSED(m, arrjit_function_wait, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          arrjit_function_wait(NULL, 0, e));
  REFUSED(m, arrjit_function_wait, "function", "that nothing compiles", ARRJIT_NOT_FOUND, "no compilation",
          arrjit_function_wait(m->function, 0, e));
}

static void texts(misuse *m) {
  arrjit_context *c = m->f->context;
  char *text = NULL;
  size_t bytes = 0;
  REFUSED(m, arrjit_function_parse, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_function_parse(NULL, "x", 1, "n", &m->outs.function, e));
  REFUSED(m, arrjit_function_parse, "text", "NULL", ARRJIT_MISUSE, "text is NULL",
          arrjit_function_parse(c, NULL, 1, "n", &m->outs.function, e));
  REFUSED(m, arrjit_function_parse, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_function_parse(c, "x", 1, "n", NULL, e));
  REFUSED(m, arrjit_function_parse, "text", "empty", ARRJIT_SYNTAX, "expected",
          arrjit_function_parse(c, "", 0, "n", &m->outs.function, e));
  REFUSED(m, arrjit_function_parse, "name", "NULL, and text that is none", ARRJIT_SYNTAX, "",
          arrjit_function_parse(c, "\1\2\3", 3, NULL, &m->outs.function, e));
  REFUSED(m, arrjit_function_print, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          arrjit_function_print(NULL, ARRJIT_PRINT_INPUT, &m->outs.text, &m->outs.bytes, e));
  REFUSED(m, arrjit_function_print, "stage", "out of range", ARRJIT_MISUSE, "stage is 99",
          arrjit_function_print(m->function, (arrjit_print_stage)99, &m->outs.text, &m->outs.bytes, e));
  REFUSED(m, arrjit_function_print, "stage", "negative", ARRJIT_MISUSE, "stage is -1",
          arrjit_function_print(m->function, (arrjit_print_stage)-1, &m->outs.text, &m->outs.bytes, e));
  REFUSED(m, arrjit_function_print, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_function_print(m->function, ARRJIT_PRINT_INPUT, NULL, &m->outs.bytes, e));
  REFUSED(m, arrjit_function_print, "out_bytes", "NULL", ARRJIT_MISUSE, "out_bytes is NULL",
          arrjit_function_print(m->function, ARRJIT_PRINT_INPUT, &m->outs.text, NULL, e));
  GIVES(m, arrjit_function_print, "error", "NULL",
        arrjit_function_print(m->function, ARRJIT_PRINT_INPUT, &text, &bytes, NULL) == ARRJIT_OK &&
            strlen(text) == bytes);
  SURVIVES(m, arrjit_text_free, "context", "NULL", arrjit_text_free(NULL, text, bytes));
  SURVIVES(m, arrjit_text_free, "text", "NULL", arrjit_text_free(c, NULL, 7));
  arrjit_text_free(c, text, bytes);
}

void misuse_functions(misuse *m) {
  signatures(m);
  compiling(m);
  texts(m);
}

/* ---- runs ---- */

static arrjit_status echo(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                          size_t result_count, const arrjit_view *results) {
  (void)user, (void)call, (void)arg_count, (void)args, (void)result_count, (void)results;
  return ARRJIT_OK;
}

static void nothing(void) {}

#define RUN_REFUSED(m, argument, how, part, ...)                                                                       \
  do {                                                                                                                 \
    arrjit_run_options o = {.struct_bytes = sizeof o, __VA_ARGS__};                                                    \
    REFUSED(m, arrjit_run, argument, how, ARRJIT_MISUSE, part,                                                         \
            arrjit_run(m->function, &o, 1, &m->array, &m->outs.result, e));                                            \
    REFUSED(m, arrjit_run, argument, how, ARRJIT_MISUSE, part,                                                         \
            arrjit_run(m->function, &o, 0, NULL, &m->outs.result, e));                                                 \
  } while (0)

static void options(misuse *m) {
  const arrjit_run_options zero = {0}, longer = {.struct_bytes = sizeof longer + 8};
  const arrjit_binding unknown = {"shout", echo, NULL, NULL}, nameless = {NULL, echo, NULL, NULL},
                       empty = {"say", NULL, NULL, NULL}, both = {"say", echo, NULL, nothing},
                       twice[2] = {{"say", echo, NULL, NULL}, {"say", echo, NULL, NULL}};
  REFUSED(m, arrjit_run, "options", "with struct_bytes 0", ARRJIT_MISUSE, "struct_bytes is 0",
          arrjit_run(m->function, &zero, 1, &m->array, &m->outs.result, e));
  REFUSED(m, arrjit_run, "options", "of another size", ARRJIT_MISUSE, "struct_bytes",
          arrjit_run(m->function, &longer, 1, &m->array, &m->outs.result, e));
  RUN_REFUSED(m, "options.mode", "out of range", "mode 99", .mode = (arrjit_mode)99);
  RUN_REFUSED(m, "options.mode", "negative", "mode -1", .mode = (arrjit_mode)-1);
  RUN_REFUSED(m, "options.flags", "unknown", "flags 0x80", .flags = 0x80);
  RUN_REFUSED(m, "options.flags", "require_native without whole", "needs ARRJIT_MODE_WHOLE", .mode = ARRJIT_MODE_INTERP,
              .flags = ARRJIT_RUN_REQUIRE_NATIVE);
  RUN_REFUSED(m, "options.deadline_ns", "negative", "deadline_ns", .deadline_ns = -1);
  RUN_REFUSED(m, "options.bindings", "NULL", "bindings is NULL", .binding_count = 1);
  RUN_REFUSED(m, "bindings.slot", "NULL", "binding 0: slot is NULL", .binding_count = 1, .bindings = &nameless);
  RUN_REFUSED(m, "bindings.slot", "unknown", "no slot \"shout\"", .binding_count = 1, .bindings = &unknown);
  RUN_REFUSED(m, "bindings.slot", "bound twice", "\"say\" is bound twice", .binding_count = 2, .bindings = twice);
  RUN_REFUSED(m, "bindings.callback", "NULL, and direct too", "either callback or direct", .binding_count = 1,
              .bindings = &empty);
  RUN_REFUSED(m, "bindings.direct", "given beside callback", "either callback or direct", .binding_count = 1,
              .bindings = &both);
}

/* A function of a vector slot cannot be bound to a plain C function. */
static void direct_binding(misuse *m) {
  arrjit_graph *g = tk_graph(m->f);
  arrjit_type vector = TYPE(F64, 3);
  arrjit_slot slot = arrjit_slot_io(g, "vector", 1, &vector, 0);
  arrjit_value x = PARAM(g, "x", F64, 3), out;
  arrjit_callback(g, slot, 1, &x, &out);
  RETURN(g, out);
  arrjit_function *f = tk_finish(m->f, g);
  const arrjit_binding binding = {"vector", NULL, NULL, nothing};
  arrjit_run_options o = {.struct_bytes = sizeof o, .binding_count = 1, .bindings = &binding};
  REFUSED(m, arrjit_run, "bindings.direct", "for a slot of arrays", ARRJIT_MISUSE,
          "\"vector\" cannot be bound directly", arrjit_run(f, &o, 1, &m->array, &m->outs.result, e));
}

/* What is wrong with arrays is told by the result: kind argument, naming which. */
static void argument(misuse *m, const char *name, const char *how, size_t count, arrjit_array *const *inputs,
                     arrjit_array *const *outputs, const char *part) {
  arrjit_result *result = NULL;
  arrjit_run_options o = {.struct_bytes = sizeof o, .outputs = outputs};
  GIVES(m, arrjit_run, name, how, arrjit_run(m->function, &o, count, inputs, &result, NULL) == ARRJIT_OK);
  if (!result) return;
  GIVES(m, arrjit_run, name, how, arrjit_result_kind(result) == ARRJIT_KIND_ARGUMENT);
  GIVES(m, arrjit_run, name, how, strstr(arrjit_result_message(result), part) != NULL);
  if (!strstr(arrjit_result_message(result), part)) print_error("message: %s\n", arrjit_result_message(result));
  arrjit_result_destroy(result);
}

static void arguments(misuse *m) {
  arrjit_array *single = ARRAY(m->f, F32, 1, 2, 3), *longer = ARRAY(m->f, F64, 1, 2, 3, 4),
               *flat = SCALAR(m->f, F64, 1);
  arrjit_array *two[2] = {m->array, m->array}, *repeated = NULL;
  arrjit_type type = TYPE(F64, 3);
  double one = 1;
  argument(m, "inputs", "too few", 0, NULL, NULL, "expected 1 argument, got 0");
  argument(m, "inputs", "too many", 2, two, NULL, "expected 1 argument, got 2");
  argument(m, "inputs", "of another dtype", 1, &single, NULL, "argument 0 (\"x\"): expected f64[3], got f32[3]");
  argument(m, "inputs", "of another extent", 1, &longer, NULL, "argument 0 (\"x\"): expected f64[3], got f64[4]");
  argument(m, "inputs", "of another rank", 1, &flat, NULL, "argument 0 (\"x\"): expected f64[3], got f64");
  argument(m, "options.outputs", "of another dtype", 1, &m->array, &single, "output 0: expected f64[3], got f32[3]");
  argument(m, "options.outputs", "of another extent", 1, &m->array, &longer, "output 0");
  if (arrjit_array_wrap(m->f->context, &type, &one, I64S(0), NULL, NULL, &repeated, NULL) != ARRJIT_OK) fail();
  argument(m, "options.outputs", "whose elements share memory", 1, &m->array, &repeated,
           "output 0: its elements share memory");
  arrjit_array_release(repeated);
}

/* A context that is gone leaves functions that can only be released. */
static void after_context(misuse *m) {
  arrjit_context *c = tk_context(NULL);
  arrjit_graph *g = NULL;
  arrjit_function *f = NULL;
  arrjit_cancel *cancel = NULL;
  if (arrjit_graph_create(c, &g, NULL) != ARRJIT_OK || arrjit_cancel_create(c, &cancel, NULL) != ARRJIT_OK) fail();
  arrjit_return(g, 0, NULL, NULL);
  if (arrjit_graph_finish(g, &f, NULL) != ARRJIT_OK) fail();
  arrjit_graph_destroy(g);
  GIVES(m, arrjit_context_destroy, "context", "whose functions live", arrjit_context_destroy(c) == ARRJIT_OK);
  REFUSED(m, arrjit_run, "function", "whose context is gone", ARRJIT_MISUSE, "context was destroyed",
          arrjit_run(f, NULL, 0, NULL, &m->outs.result, e));
  REFUSED(m, arrjit_function_prepare, "function", "whose context is gone", ARRJIT_MISUSE, "context was destroyed",
          arrjit_function_prepare(f, NULL, e));
  REFUSED(m, arrjit_function_print, "function", "whose context is gone", ARRJIT_UNAVAILABLE, "context is destroyed",
          arrjit_function_print(f, ARRJIT_PRINT_LLVM, &m->outs.text, &m->outs.bytes, e));
  arrjit_cancel_release(cancel);
  arrjit_function_release(f);
}

static void cancelling(misuse *m) {
  REFUSED(m, arrjit_cancel_create, "context", "NULL", ARRJIT_MISUSE, "context is NULL",
          arrjit_cancel_create(NULL, &m->outs.cancel, e));
  REFUSED(m, arrjit_cancel_create, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_cancel_create(m->f->context, NULL, e));
  SURVIVES(m, arrjit_cancel_trigger, "cancel", "NULL", arrjit_cancel_trigger(NULL));
  SURVIVES(m, arrjit_cancel_release, "cancel", "NULL", arrjit_cancel_release(NULL));
  GIVES(m, arrjit_clock_ns, "nothing", "to misuse", arrjit_clock_ns() > 0);
}

/* ---- arrjit_fail, from inside a callback ---- */

static arrjit_status fail_as_told(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                  size_t result_count, const arrjit_view *results) {
  (void)arg_count, (void)args, (void)result_count, (void)results;
  return arrjit_fail(call, user);
}

/* The run fails with `kind`, and its message has the part. */
static void fails(misuse *m, const char *name, const char *how, const arrjit_failure *failure, arrjit_kind kind,
                  const char *part) {
  arrjit_result *result = NULL;
  const arrjit_binding binding = {"say", fail_as_told, (void *)(uintptr_t)failure, NULL};
  arrjit_run_options o = {
      .struct_bytes = sizeof o, .mode = ARRJIT_MODE_INTERP, .binding_count = 1, .bindings = &binding};
  GIVES(m, arrjit_fail, name, how, arrjit_run(m->function, &o, 1, &m->array, &result, NULL) == ARRJIT_OK);
  if (!result) return;
  GIVES(m, arrjit_fail, name, how, arrjit_result_kind(result) == kind && strstr(arrjit_result_message(result), part));
  if (arrjit_result_kind(result) != kind || !strstr(arrjit_result_message(result), part))
    print_error("kind %s: %s\n", arrjit_result_kind_name(result), arrjit_result_message(result));
  arrjit_result_destroy(result);
}

static void failures(misuse *m) {
  const arrjit_kind contract = ARRJIT_KIND_CALLBACK_CONTRACT;
  const arrjit_view wrong = {.dtype = ARRJIT_F64, .rank = 99}, none = {.dtype = (arrjit_dtype)77, .rank = 0},
                    negative = {.dtype = ARRJIT_F64, .rank = 1, .dims = I64S(-4)},
                    empty = {.dtype = ARRJIT_F64, .rank = 0}, dimless = {.dtype = ARRJIT_F64, .rank = 2};
  arrjit_failure f = {.struct_bytes = sizeof f};
  GIVES(m, arrjit_fail, "call", "NULL", arrjit_fail(NULL, &f) != ARRJIT_OK);
  fails(m, "failure", "NULL", NULL, contract, "arrjit_fail");
  fails(m, "failure", "of nothing, which is kind callback", &f, ARRJIT_KIND_CALLBACK, "");
  f.struct_bytes = 3;
  fails(m, "failure", "with another struct_bytes", &f, contract, "struct_bytes");
  f = (arrjit_failure){.struct_bytes = sizeof f, .kind = 4711};
  fails(m, "kind", "out of range", &f, contract, "kind");
  f = (arrjit_failure){.struct_bytes = sizeof f, .kind = -1};
  fails(m, "kind", "negative", &f, contract, "kind");
  f = (arrjit_failure){.struct_bytes = sizeof f, .payload_count = 2};
  fails(m, "payload", "NULL", &f, contract, "payload");
  f = (arrjit_failure){.struct_bytes = sizeof f, .kind = ARRJIT_KIND_INDEX};
  fails(m, "payload", "not the kind's fields", &f, contract, "payload");
  const struct {
    const char *how;
    const arrjit_view *view;
  } views[] = {{"of rank 99", &wrong},
               {"of no dtype", &none},
               {"of a negative extent", &negative},
               {"without data", &empty},
               {"without dims", &dimless}};
  for (size_t i = 0; i < TK_COUNT(views); i++) {
    f = (arrjit_failure){.struct_bytes = sizeof f, .payload_count = 1, .payload = views[i].view};
    fails(m, "payload", views[i].how, &f, contract, "payload");
  }
  f = (arrjit_failure){.struct_bytes = sizeof f, .frame_count = 2};
  fails(m, "frames", "NULL", &f, contract, "frames");
}

void misuse_runs(misuse *m) {
  arrjit_array *missing = NULL;
  REFUSED(m, arrjit_run, "function", "NULL", ARRJIT_MISUSE, "function is NULL",
          arrjit_run(NULL, NULL, 1, &m->array, &m->outs.result, e));
  REFUSED(m, arrjit_run, "inputs", "NULL", ARRJIT_MISUSE, "inputs is NULL",
          arrjit_run(m->function, NULL, 1, NULL, &m->outs.result, e));
  REFUSED(m, arrjit_run, "inputs", "with NULL", ARRJIT_MISUSE, "inputs[0] is NULL",
          arrjit_run(m->function, NULL, 1, &missing, &m->outs.result, e));
  REFUSED(m, arrjit_run, "out", "NULL", ARRJIT_MISUSE, "out is NULL",
          arrjit_run(m->function, NULL, 1, &m->array, NULL, e));
  options(m);
  direct_binding(m);
  arguments(m);
  after_context(m);
  cancelling(m);
  failures(m);
}

/* ---- results ---- */

void misuse_results(misuse *m) {
  SURVIVES(m, arrjit_result_destroy, "result", "NULL", arrjit_result_destroy(NULL));
  GIVES(m, arrjit_result_ok, "result", "NULL", arrjit_result_ok(NULL) == 0);
  GIVES(m, arrjit_result_output_count, "result", "NULL", arrjit_result_output_count(NULL) == 0);
  GIVES(m, arrjit_result_output_count, "result", "that failed", arrjit_result_output_count(m->bad) == 0);
  GIVES(m, arrjit_result_output, "result", "NULL", !arrjit_result_output(NULL, 0));
  GIVES(m, arrjit_result_output, "index", "out of range", !arrjit_result_output(m->good, 1));
  GIVES(m, arrjit_result_output, "result", "that failed", !arrjit_result_output(m->bad, 0));
  GIVES(m, arrjit_result_consumed, "result", "NULL", arrjit_result_consumed(NULL) == 0);
  GIVES(m, arrjit_result_touched, "result", "NULL", arrjit_result_touched(NULL) == 0);
  GIVES(m, arrjit_result_kind, "result", "NULL", arrjit_result_kind(NULL) == ARRJIT_KIND_NONE);
  GIVES(m, arrjit_result_kind, "result", "that is ok", arrjit_result_kind(m->good) == ARRJIT_KIND_NONE);
  GIVES(m, arrjit_result_kind_name, "result", "NULL", strcmp(arrjit_result_kind_name(NULL), "") == 0);
  GIVES(m, arrjit_result_kind_name, "result", "that is ok", strcmp(arrjit_result_kind_name(m->good), "") == 0);
  GIVES(m, arrjit_result_code, "result", "NULL", arrjit_result_code(NULL) == 0);
  GIVES(m, arrjit_result_code, "result", "that is ok", arrjit_result_code(m->good) == 0);
  GIVES(m, arrjit_result_message, "result", "NULL", strcmp(arrjit_result_message(NULL), "") == 0);
  GIVES(m, arrjit_result_message, "result", "that is ok", strcmp(arrjit_result_message(m->good), "") == 0);
  GIVES(m, arrjit_result_payload_count, "result", "NULL", arrjit_result_payload_count(NULL) == 0);
  GIVES(m, arrjit_result_payload_count, "result", "that is ok", arrjit_result_payload_count(m->good) == 0);
  GIVES(m, arrjit_result_payload, "result", "NULL", !arrjit_result_payload(NULL, 0));
  GIVES(m, arrjit_result_payload, "index", "out of range", !arrjit_result_payload(m->bad, 1));
  GIVES(m, arrjit_result_payload, "result", "that is ok", !arrjit_result_payload(m->good, 0));
  GIVES(m, arrjit_result_host_pointer, "result", "NULL", !arrjit_result_host_pointer(NULL));
  GIVES(m, arrjit_result_host_pointer, "result", "that is ok", !arrjit_result_host_pointer(m->good));
  GIVES(m, arrjit_result_trace_count, "result", "NULL", arrjit_result_trace_count(NULL) == 0);
  GIVES(m, arrjit_result_trace_count, "result", "that is ok", arrjit_result_trace_count(m->good) == 0);
  GIVES(m, arrjit_result_trace_omitted, "result", "NULL", arrjit_result_trace_omitted(NULL) == 0);
  REFUSED(m, arrjit_result_trace, "result", "NULL", ARRJIT_MISUSE, NULL, arrjit_result_trace(NULL, 0, &m->outs.entry));
  REFUSED(m, arrjit_result_trace, "result", "that is ok", ARRJIT_MISUSE, NULL,
          arrjit_result_trace(m->good, 0, &m->outs.entry));
  REFUSED(m, arrjit_result_trace, "index", "out of range", ARRJIT_MISUSE, NULL,
          arrjit_result_trace(m->bad, arrjit_result_trace_count(m->bad), &m->outs.entry));
  REFUSED(m, arrjit_result_trace, "out", "NULL", ARRJIT_MISUSE, NULL, arrjit_result_trace(m->bad, 0, NULL));
  GIVES(m, arrjit_result_cause, "result", "NULL", !arrjit_result_cause(NULL));
  GIVES(m, arrjit_result_cause, "result", "that is ok", !arrjit_result_cause(m->good));
  GIVES(m, arrjit_result_context, "result", "NULL", !arrjit_result_context(NULL));
  GIVES(m, arrjit_result_context, "result", "without one", !arrjit_result_context(m->bad));
  GIVES(m, arrjit_result_text, "result", "NULL", strcmp(arrjit_result_text(NULL), "") == 0);
}
