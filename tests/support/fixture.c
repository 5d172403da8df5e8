/* The fixture of semantic tests; see fixture.h. */
#include "fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

int tk_setup(void **state) {
  tk_fixture *f = tk_new(1, sizeof *f);
  arrjit_allocator host = tk_alloc_host(&f->alloc);
  f->context = tk_context(&host);
  *state = f;
  return 0;
}

int tk_teardown(void **state) {
  tk_fixture *f = *state;
  for (size_t i = 0; i < f->outcome_count; i++) {
    tk_outcome_free(f->outcomes[i]);
    free(f->outcomes[i]);
  }
  for (size_t i = 0; i < f->function_count; i++) arrjit_function_release(f->functions[i]);
  for (size_t i = 0; i < f->array_count; i++) arrjit_array_release(f->arrays[i]);
  arrjit_status status = arrjit_context_destroy(f->context);
  int64_t left = atomic_load(&f->alloc.live_bytes), mistakes = atomic_load(&f->alloc.mistakes);
  if (status != ARRJIT_OK) print_error("context: %s\n", arrjit_status_text(status));
  if (left) print_error("%" PRId64 " bytes leaked\n", left);
  if (mistakes) print_error("%" PRId64 " blocks freed with a wrong size or twice\n", mistakes);
  free(f->outcomes);
  free(f->functions);
  free(f->arrays);
  free(f);
  *state = NULL;
  return status != ARRJIT_OK || left || mistakes;
}

arrjit_graph *tk_graph(tk_fixture *f) {
  arrjit_graph *graph = NULL;
  arrjit_error error;
  if (arrjit_graph_create(f->context, &graph, &error) != ARRJIT_OK) fail_msg("no graph: %s", error.message);
  return graph;
}

arrjit_function *tk_finish(tk_fixture *f, arrjit_graph *graph) {
  arrjit_function *function = NULL;
  arrjit_error error;
  arrjit_status status = arrjit_graph_finish(graph, &function, &error);
  arrjit_graph_destroy(graph);
  if (status != ARRJIT_OK)
    fail_msg("finish: %s: %s (op %s at %s:%d)", arrjit_status_text(status), error.message, error.op, error.file,
             error.line);
  f->functions = tk_grow(f->functions, f->function_count + 1, sizeof(arrjit_function *));
  return f->functions[f->function_count++] = function;
}

void tk_finish_fails(tk_fixture *f, arrjit_graph *graph, arrjit_status want, const char *part, arrjit_error *out) {
  (void)f;
  arrjit_function *function = NULL;
  arrjit_error error = {0};
  arrjit_status status = arrjit_graph_finish(graph, &function, &error);
  arrjit_graph_destroy(graph);
  if (status == ARRJIT_OK) arrjit_function_release(function);
  if (status != want) fail_msg("finish gave %s (%s)", arrjit_status_text(status), error.message);
  if (part && !strstr(error.message, part)) fail_msg("'%s' is not in the message: %s", part, error.message);
  if (out) *out = error;
}

arrjit_array *tk_keep(tk_fixture *f, arrjit_array *array) {
  f->arrays = tk_grow(f->arrays, f->array_count + 1, sizeof(arrjit_array *));
  return f->arrays[f->array_count++] = array;
}

arrjit_array *tk_array(tk_fixture *f, arrjit_type type, const void *data) {
  arrjit_array *array = NULL;
  arrjit_error error;
  if (arrjit_array_create(f->context, &type, data, &array, &error) != ARRJIT_OK)
    fail_msg("no array: %s", error.message);
  return tk_keep(f, array);
}

tk_slot *tk_bind(tk_fixture *f, const char *name, tk_behaviour *behave, void *user) {
  size_t i = 0;
  while (i < f->slot_count && strcmp(f->slots[i].name, name) != 0) i++;
  if (i == TK_MAX_SLOTS) fail_msg("too many slots");
  if (i == f->slot_count) f->slot_count++;
  f->slots[i] = (tk_slot){.name = name, .behave = behave, .user = user};
  return &f->slots[i];
}

static void demand_native(const tk_fixture *f, arrjit_function *function, const tk_outcome *o) {
  arrjit_function_statistics s;
  arrjit_function_get_statistics(function, &s);
  bool unfit = o->kind == ARRJIT_KIND_UNBOUND || o->kind == ARRJIT_KIND_ARGUMENT;
  bool sized = o->kind == ARRJIT_KIND_MEMORY || o->kind == ARRJIT_KIND_SHAPE;
  bool refused = !o->ok && (unfit || (sized && !*o->path)); /* before any code */
  if (o->status == ARRJIT_OK && !o->native && !refused) fail_msg("whole: no native code ran");
  if (s.interpreted_nodes) fail_msg("whole: %" PRId64 " nodes left to the interpreter", s.interpreted_nodes);
  if (s.fallback_nodes && !f->may_fall_back) fail_msg("whole: %" PRId64 " nodes left to routines", s.fallback_nodes);
}

static tk_outcome *add_outcome(tk_fixture *f) {
  f->outcomes = tk_grow(f->outcomes, f->outcome_count + 1, sizeof(tk_outcome *));
  return f->outcomes[f->outcome_count++] = tk_new(1, sizeof(tk_outcome));
}

/* The interpreter once more, with copies of all inputs, which it may overwrite: nobody can tell. */
static void run_donated(tk_fixture *f, arrjit_function *function, tk_call call, const tk_outcome *first) {
  arrjit_array **copies = tk_new(call.input_count, sizeof *copies);
  for (size_t i = 0; i < call.input_count; i++)
    if (arrjit_array_copy(call.inputs[i], &copies[i], NULL) != ARRJIT_OK) tk_die("no copy of an input");
  call.inputs = copies;
  call.donated = UINT64_MAX;
  tk_outcome *o = add_outcome(f);
  if (f->before_run) f->before_run(f);
  tk_run_mode(f->context, function, TK_INTERP, &call, o);
  char *why = NULL;
  if (!tk_outcome_same(first, o, &why)) fail_msg("donating the inputs makes a difference: %s", why);
  if (f->after_run) f->after_run(f);
  for (size_t i = 0; i < call.input_count; i++) arrjit_array_release(copies[i]);
  free(copies);
}

/* CPU time that a run may use between two polls. What the machine does beside it is not always there, so the least of
 * some runs counts. Rebuilding all frames at every pc is no work of a run's own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
enum { POLL_NS = INT32_MAX };
#else
enum { POLL_NS = 200000 };
#endif

static int64_t run_measured(tk_fixture *f, arrjit_function *function, tk_mode mode, const tk_call *call,
                            tk_outcome *o) {
  arrjit_statistics s;
  arrjit_status status = arrjit_context_set_option(f->context, ARRJIT_OPTION_POLL_CLOCK, mode != TK_RESUME, NULL);
  if (status != ARRJIT_OK) fail_msg("no poll clock");
  if (f->before_run) f->before_run(f);
  tk_run_mode(f->context, function, mode, call, o);
  arrjit_context_get_statistics(f->context, &s);
  return s.poll_longest_ns;
}

static void demand_polls(tk_fixture *f, arrjit_function *function, tk_mode mode, const tk_call *call, int64_t least) {
  if (f->calls_lapack) return;
  for (int tries = 0; least > POLL_NS && tries < 40; tries++) {
    nanosleep(&(struct timespec){.tv_nsec = tries * 1000000}, NULL);
    int64_t ns = run_measured(f, function, mode, call, add_outcome(f));
    if (f->after_run) f->after_run(f);
    if (ns < least) least = ns;
  }
  if (least > POLL_NS) fail_msg("%s: %" PRId64 " us between two polls", tk_mode_name(mode), least / 1000);
}

const tk_outcome *tk_run(tk_fixture *f, arrjit_function *function, size_t input_count, arrjit_array *const *inputs) {
  tk_outcome *first = NULL;
  tk_call call = {.input_count = input_count,
                  .inputs = inputs,
                  .slot_count = f->slot_count,
                  .slots = f->slots,
                  .outputs = f->outputs,
                  .limits = f->limits};
  for (int m = 0; m < TK_MODES; m++) {
    if (!tk_mode_exists((tk_mode)m)) continue;
    tk_outcome *o = add_outcome(f);
    int64_t ns = run_measured(f, function, (tk_mode)m, &call, o);
    char *why = NULL;
    if (!first) {
      first = o;
    } else if (!tk_outcome_same(first, o, &why)) {
      fail_msg("%s and %s differ: %s", tk_mode_name(TK_INTERP), tk_mode_name((tk_mode)m), why);
    }
    if (f->after_run) f->after_run(f);
    if (m == TK_WHOLE) demand_native(f, function, o);
    demand_polls(f, function, (tk_mode)m, &call, ns);
  }
  if (!f->outputs) run_donated(f, function, call, first);
  return first;
}

void tk_expect_ok(const tk_outcome *o, const char *file, int line) {
  if (o->status != ARRJIT_OK)
    fail_msg("%s:%d: status %s: %s", file, line, arrjit_status_text(o->status), o->error.message);
  if (!o->ok) fail_msg("%s:%d: failed: %s", file, line, o->text);
}

static void expect_block(const tk_block *block, arrjit_dtype dtype, size_t count, const void *data, const char *file,
                         int line) {
  if (block->type.dtype != dtype)
    fail_msg("%s:%d: dtype %s, not %s", file, line, arrjit_dtype_name(block->type.dtype), arrjit_dtype_name(dtype));
  size_t width = arrjit_dtype_bytes(dtype);
  if (block->bytes == count * width && memcmp(block->data, data, block->bytes) == 0) return;
  tk_text text;
  tk_text_open(&text);
  arrjit_type want = arrjit_type_make(dtype, 1, (const int64_t[]){(int64_t)count});
  tk_print_elements(text.to, &block->type, block->data, 64);
  fputs(" where expected was ", text.to);
  tk_print_elements(text.to, &want, data, 64);
  fail_msg("%s:%d: %s", file, line, tk_text_close(&text));
}

void tk_expect(const tk_outcome *o, size_t output, arrjit_dtype dtype, size_t count, const void *data, const char *file,
               int line) {
  tk_expect_ok(o, file, line);
  if (output >= o->output_count) fail_msg("%s:%d: only %zu outputs", file, line, o->output_count);
  expect_block(&o->outputs[output], dtype, count, data, file, line);
}

void tk_expect_payload(const tk_outcome *o, size_t field, arrjit_dtype dtype, size_t count, const void *data,
                       const char *file, int line) {
  if (field >= o->payload_count) fail_msg("%s:%d: only %zu payload fields", file, line, o->payload_count);
  expect_block(&o->payload[field], dtype, count, data, file, line);
}

void tk_expect_shape(const tk_outcome *o, size_t output, int32_t rank, const int64_t *dims, const char *file,
                     int line) {
  tk_expect_ok(o, file, line);
  if (output >= o->output_count) fail_msg("%s:%d: only %zu outputs", file, line, o->output_count);
  const arrjit_type *type = &o->outputs[output].type;
  bool same = type->rank == rank;
  for (int32_t i = 0; same && i < rank; i++) same = type->dims[i] == dims[i];
  if (same) return;
  tk_text text;
  tk_text_open(&text);
  tk_print_type(text.to, type);
  fail_msg("%s:%d: shape is that of %s", file, line, tk_text_close(&text));
}

void tk_expect_failure(const tk_outcome *o, arrjit_kind kind, int64_t code, const char *message, const char *file,
                       int line) {
  if (o->status != ARRJIT_OK)
    fail_msg("%s:%d: status %s: %s", file, line, arrjit_status_text(o->status), o->error.message);
  if (o->ok) fail_msg("%s:%d: it did not fail", file, line);
  if (o->kind != kind) fail_msg("%s:%d: kind %s: %s", file, line, o->kind_name, o->text);
  if (o->code != code) fail_msg("%s:%d: code %" PRId64, file, line, o->code);
  if (message && strcmp(message, o->message) != 0) fail_msg("%s:%d: message '%s'", file, line, o->message);
}
