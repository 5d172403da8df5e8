/* arrjit run: reads arguments, binds callbacks, runs, prints results or the failure. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct request {
  cli_common common;
  arrjit_mode mode;
  bool full, stats, time;
  size_t arg_count, bind_count;
  const char **args, **binds; /* room for all of argv */
} request;

static bool find_mode(const char *name, arrjit_mode *out) {
  static const struct {
    const char *name;
    arrjit_mode mode;
  } modes[] = {{"auto", ARRJIT_MODE_AUTO}, {"interp", ARRJIT_MODE_INTERP}, {"whole", ARRJIT_MODE_WHOLE}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(modes[i].name, name) == 0) return *out = modes[i].mode, true;
  cli_bad("--mode is '%s', expected auto, interp or whole", name);
  return false;
}

/* 1: taken; 0: none of these; -1: bad. */
static int take_option(int argc, char **argv, int *i, request *r) {
  bool bad = false;
  const char *value;
  if ((value = cli_option(argc, argv, i, "--mode", &bad))) return find_mode(value, &r->mode) ? 1 : -1;
  if (!bad && (value = cli_option(argc, argv, i, "--arg", &bad))) return r->args[r->arg_count++] = value, 1;
  if (!bad && (value = cli_option(argc, argv, i, "--bind", &bad))) return r->binds[r->bind_count++] = value, 1;
  if (bad) return -1;
  bool *flag = !strcmp(argv[*i], "--full")    ? &r->full
               : !strcmp(argv[*i], "--stats") ? &r->stats
               : !strcmp(argv[*i], "--time")  ? &r->time
                                              : NULL;
  if (flag) *flag = true;
  return flag != NULL;
}

static int read_request(int argc, char **argv, request *r) {
  for (int i = 0; i < argc; i++) {
    int taken = take_option(argc, argv, &i, r);
    if (taken < 0) return CLI_BAD;
    if (!taken && cli_take_common(argc, argv, &i, &r->common) != CLI_OK) return CLI_BAD;
  }
  return CLI_OK;
}

static int bind_slots(const arrjit_function *function, const request *r, cli_slot *slots, arrjit_binding *bindings) {
  size_t count = arrjit_function_slot_count(function);
  for (size_t i = 0; i < count; i++) {
    slots[i] = (cli_slot){.name = arrjit_function_slot_name(function, i), .full = r->full};
    bindings[i] = (arrjit_binding){.slot = slots[i].name, .callback = cli_callback, .user = &slots[i]};
  }
  for (size_t k = 0; k < r->bind_count; k++) {
    size_t length;
    bool known = false;
    const char *value = cli_split(r->binds[k], &length);
    if (!value) return cli_bad("--bind %s: expected SLOT=VALUE", r->binds[k]);
    for (size_t i = 0; i < count; i++) {
      if (length != strlen(slots[i].name) || memcmp(r->binds[k], slots[i].name, length)) continue;
      if (slots[i].value) return cli_bad("--bind %s is given twice", slots[i].name);
      slots[i].value = value;
      known = true;
    }
    if (!known) return cli_bad("--bind %s: the function has no slot '%.*s'", r->binds[k], (int)length, r->binds[k]);
  }
  return CLI_OK;
}

static void print_statistics(const arrjit_function *function) {
  arrjit_function_statistics s;
  arrjit_function_get_statistics(function, &s);
  fprintf(stderr,
          "stats: native runs %" PRId64 ", interpreted runs %" PRId64 ", compilations %" PRId64
          ", lowered nodes %" PRId64 ", fallback nodes %" PRId64 ", interpreted nodes %" PRId64 ", kernels %" PRId64
          ", code bytes %" PRId64 "\n",
          s.native_runs, s.interpreted_runs, s.compilations, s.lowered_nodes, s.fallback_nodes, s.interpreted_nodes,
          s.kernels, s.code_bytes);
}

static int show(const arrjit_function *function, arrjit_result *result, const request *r) {
  if (!arrjit_result_ok(result)) {
    const char *text = arrjit_result_text(result);
    size_t length = strlen(text);
    fputs(text, stdout);
    if (!length || text[length - 1] != '\n') putchar('\n');
    return CLI_FAILED;
  }
  for (size_t i = 0; i < arrjit_result_output_count(result); i++) {
    const char *name = "";
    if (arrjit_function_result(function, i, &name, NULL) != ARRJIT_OK) return cli_bad("result %zu cannot be read", i);
    cli_show_result(stdout, name, i, arrjit_result_output(result, i), r->full);
  }
  return CLI_OK;
}

typedef struct job { /* what has to be given back, whichever way out */
  arrjit_array **inputs;
  cli_slot *slots;
  arrjit_binding *bindings;
  arrjit_result *result;
} job;

/* A module that was named and does not open is an error; without a name the interpreter does as well. */
static int check_native(arrjit_context *context) {
  arrjit_event event;
  while (arrjit_context_next_event(context, &event))
    if (event.code == ARRJIT_EVENT_NATIVE_UNAVAILABLE) return cli_bad("--native: %s", event.text);
  return CLI_OK;
}

/* Whole: opens the module before callbacks can be called. */
static int open_native(arrjit_context *context, arrjit_function *function, const request *r) {
  if (!r->common.native || r->mode != ARRJIT_MODE_WHOLE) return CLI_OK;
  arrjit_error error;
  arrjit_status status = arrjit_function_prepare(function, NULL, &error);
  if (status == ARRJIT_OK) status = arrjit_function_wait(function, -1, &error);
  return status == ARRJIT_OK ? CLI_OK : check_native(context);
}

static int run_with(arrjit_context *context, const arrjit_run_options *options, arrjit_function *function,
                    const request *r, job *j) {
  arrjit_error error;
  int64_t start = arrjit_clock_ns();
  arrjit_status ran =
      arrjit_run(function, options, arrjit_function_param_count(function), j->inputs, &j->result, &error);
  int64_t run_ns = arrjit_clock_ns() - start;
  if (r->time) fprintf(stderr, "time: %.3f ms\n", (double)run_ns * 1e-6);
  if (r->stats) print_statistics(function);
  for (size_t i = 0; i < options->binding_count; i++)
    if (j->slots[i].unfit) return CLI_BAD; /* the callback said why */
  if (ran != ARRJIT_OK) return cli_bad("%s: %s", r->common.path, error.message);
  if (r->common.native && check_native(context) != CLI_OK) return CLI_BAD;
  return show(function, j->result, r);
}

static int run_function(arrjit_context *context, arrjit_function *function, const request *r) {
  size_t params = arrjit_function_param_count(function), slots = arrjit_function_slot_count(function);
  job j = {.inputs = calloc(params + 1, sizeof *j.inputs),
           .slots = calloc(slots + 1, sizeof *j.slots),
           .bindings = calloc(slots + 1, sizeof *j.bindings)};
  int status = j.inputs && j.slots && j.bindings ? CLI_OK : cli_bad("no memory");
  if (status == CLI_OK) status = bind_slots(function, r, j.slots, j.bindings);
  if (status == CLI_OK) status = cli_make_inputs(context, function, r->arg_count, r->args, j.inputs);
  if (status == CLI_OK) status = open_native(context, function, r);
  if (status == CLI_OK) {
    arrjit_run_options options = {
        .struct_bytes = sizeof options, .mode = r->mode, .binding_count = slots, .bindings = j.bindings};
    status = run_with(context, &options, function, r, &j);
  }
  arrjit_result_destroy(j.result);
  for (size_t i = 0; j.inputs && i < params; i++) arrjit_array_release(j.inputs[i]);
  free(j.inputs);
  free(j.slots);
  free(j.bindings);
  return status;
}

int cli_run(int argc, char **argv) {
  request r = {.args = calloc((size_t)argc + 1, sizeof *r.args), .binds = calloc((size_t)argc + 1, sizeof *r.binds)};
  arrjit_context *context;
  arrjit_function *function;
  int status = r.args && r.binds ? read_request(argc, argv, &r) : cli_bad("no memory");
  if (status == CLI_OK && !cli_load(&r.common, &context, &function))
    status = CLI_BAD;
  else if (status == CLI_OK) {
    status = run_function(context, function, &r);
    cli_unload(context, function);
  }
  free(r.args);
  free(r.binds);
  return status;
}
