/* libarrjit: functions, runs, results, callbacks. */
#ifndef ARRJIT_RUN_H
#define ARRJIT_RUN_H

#include "arrjit/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions: finished, immutable, shared by reference count, safe from any thread ---- */

ARRJIT_API void arrjit_function_retain(arrjit_function *function);
ARRJIT_API void arrjit_function_release(arrjit_function *function);
/* Unique in the process; what events carry. */
ARRJIT_API uint32_t arrjit_function_id(const arrjit_function *function);
ARRJIT_API size_t arrjit_function_param_count(const arrjit_function *function);
ARRJIT_API size_t arrjit_function_result_count(const arrjit_function *function);
/* Name ("" when it has none) and type of a parameter or result; MISUSE when there is no such. Either out may be NULL.
 */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_param(const arrjit_function *function, size_t index,
                                                               const char **out_name, arrjit_type *out_type);
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_result(const arrjit_function *function, size_t index,
                                                                const char **out_name, arrjit_type *out_type);
/* Text of an extent in one of those types, as messages have it: "7", "n", "(n + 1)"; cut to `size` bytes with its NUL.
 * "" when function is NULL or has no such extent. */
ARRJIT_API void arrjit_function_extent_text(const arrjit_function *function, int64_t extent, char *out, size_t size);
ARRJIT_API size_t arrjit_function_slot_count(const arrjit_function *function);
/* Name of callback slot i; NULL when there is no such. */
ARRJIT_API const char *arrjit_function_slot_name(const arrjit_function *function, size_t index);

/* What native code of a function consists of, once it is compiled. */
typedef struct arrjit_function_statistics {
  int64_t compilations; /* successful ones since the function was made */
  int64_t native_runs;
  int64_t interpreted_runs;
  int64_t lowered_nodes;     /* nodes of the optimised function that became native code */
  int64_t fallback_nodes;    /* native code calls the interpreter's routine for them */
  int64_t interpreted_nodes; /* left to the interpreter */
  int64_t kernels;
  int64_t compile_ns; /* of the last compilation */
  int64_t code_bytes;
} arrjit_function_statistics;
ARRJIT_API void arrjit_function_get_statistics(const arrjit_function *function, arrjit_function_statistics *out);

/* Queues compilation for given input shapes (NULL: for any, with symbolic extents) and returns at once. UNAVAILABLE
 * when native code cannot be had. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_prepare(arrjit_function *function, const arrjit_type *inputs,
                                                                 arrjit_error *error);
/* Waits for a queued compilation of this function: OK when native code is ready, UNAVAILABLE or LIMIT when it will not
 * come (the message says why), TIMEOUT after timeout_ns (< 0: no limit). */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_wait(arrjit_function *function, int64_t timeout_ns,
                                                              arrjit_error *error);

/* ---- text: .air ---- */

/* Parses .air text; `name` stands for the file in messages. On SYNTAX, GRAPH, TYPE or VERSION errors error->line is the
 * line of the text. Kinds that the text declares become the context's with its success; a parse that fails leaves the
 * context as it was. The caller owns *out. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_parse(arrjit_context *context, const char *text, size_t bytes,
                                                               const char *name, arrjit_function **out,
                                                               arrjit_error *error);
typedef enum arrjit_print_stage {
  ARRJIT_PRINT_INPUT, /* .air as finished */
  ARRJIT_PRINT_OPT,   /* .air after the optimiser */
  ARRJIT_PRINT_LLVM,  /* LLVM IR */
  ARRJIT_PRINT_ASM,   /* machine code */
  ARRJIT_PRINT_DOT    /* Graphviz */
} arrjit_print_stage;
/* A new NUL-terminated string of `*out_bytes` bytes without the NUL; free it with arrjit_text_free. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_print(arrjit_function *function, arrjit_print_stage stage,
                                                               char **out, size_t *out_bytes, arrjit_error *error);
ARRJIT_API void arrjit_text_free(arrjit_context *context, char *text, size_t bytes);

/* ---- callbacks ---- */

/* A dense row-major block as callbacks see it. */
typedef struct arrjit_view {
  arrjit_dtype dtype;
  int32_t rank;
  const int64_t *dims;
  void *data;
  size_t bytes;
} arrjit_view;

typedef struct arrjit_call_info arrjit_call_info;

/* A callback. `args` are read-only and valid during the call; `results` (value slots) are pre-sized and zeroed: fill
 * them. A result with dynamic dims has ARRJIT_DYNAMIC_DIM among its dims and no data (NULL) until arrjit_call_result.
 * Returns ARRJIT_OK; or anything else after calling arrjit_fail (without it: kind callback, the status' text;
 * ARRJIT_OK after arrjit_fail: kind callback.contract, what was told being the context). It runs
 * on the thread that called run, with no lock of the library held, and may use the library freely. It must not
 * longjmp; a C++ exception that leaves it unwinds through the run to a catch around it, the run being lost. */
typedef arrjit_status arrjit_callback_fn(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                         size_t result_count, const arrjit_view *results);

/* From inside a callback: memory for result `index`, which has dynamic dims; once a call. `dims` has all dims of the
 * result, and must agree with those of its view that are numbers; *out (also in the callback's `results`) shows zeroed
 * memory, counted against the run's limit. Errors, which end the call with that failure unless it calls arrjit_fail
 * itself: FAILED (dims do not agree: kind callback.contract), MEMORY (kind memory); MISUSE (NULL, no such result, not
 * dynamic, made before) changes nothing. A callback that returns OK must have made every such result. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_call_result(arrjit_call_info *call, size_t index, const int64_t *dims,
                                                            arrjit_view *out);
/* From inside a callback: copies `value` into result `index` after checking that it is what the signature says: dtype,
 * rank, dims, bytes. For hosts whose functions return what they like. One who gives one result gives all. FAILED: it is
 * not; what was expected and what came is the failure of the call, kind callback.contract. MEMORY, MISUSE as above. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_call_give(arrjit_call_info *call, size_t index,
                                                          const arrjit_view *value);

/* Describes a failure from inside a callback. All is copied. Returns ARRJIT_FAILED, so `return arrjit_fail(...)`. */
typedef struct arrjit_failure {
  size_t struct_bytes; /* sizeof(arrjit_failure) */
  arrjit_kind kind;    /* ARRJIT_KIND_NONE (0) means: kind callback */
  int64_t code;
  const char *message; /* template as in arrjit_raise, cut as there; NULL: the kind's name */
  size_t payload_count;
  const arrjit_view *payload;
  void *host_pointer;                       /* handed to the result as it is */
  void (*host_destroy)(void *host_pointer); /* called exactly once, when the last exception that has it goes */
  size_t frame_count;                       /* the host's own frames, innermost first: they come before the graph's */
  const char *const *frames;
} arrjit_failure;
ARRJIT_API arrjit_status arrjit_fail(arrjit_call_info *call, const arrjit_failure *failure);

/* A slot's host function for one run or as a function's default: either `callback`, or `direct`, a C function that
 * takes the slot's scalar arguments by value and returns its one scalar result (void for io slots), such as double
 * (*)(double, int64_t). */
typedef struct arrjit_binding {
  const char *slot;
  arrjit_callback_fn *callback;
  void *user;
  void (*direct)(void);
} arrjit_binding;
/* Binds a slot for all runs of the function that do not bind it themselves; both functions NULL: for none. At any time,
 * also while runs are active: a run keeps what the slot was bound to when it began. `destroy` (may be NULL) is called
 * with the binding's user exactly once, when the slot is bound anew or the function goes and the last run that uses the
 * binding has ended: on any thread, with no lock of the library held. It is not called when this fails. The binding is
 * copied. Errors: MISUSE (no such slot, both functions, direct and not all scalars, destroy and nothing to bind, the
 * context was destroyed), MEMORY. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_function_bind(arrjit_function *function, const arrjit_binding *binding,
                                                              void (*destroy)(void *user), arrjit_error *error);

/* ---- runs ---- */

typedef enum arrjit_mode {
  ARRJIT_MODE_AUTO, /* interprets at once, compiles what is hot in the background */
  ARRJIT_MODE_INTERP,
  ARRJIT_MODE_WHOLE /* compiles the whole function first, then runs native code */
} arrjit_mode;

#define ARRJIT_RUN_REQUIRE_NATIVE 1u /* WHOLE: nothing may be interpreted or fall back; UNAVAILABLE otherwise */

/* What a run may use; 0: as much as the context's option says. A limit fails at the same place, with the same message,
 * in every mode, wall time excepted. What was reached stays reached: a handler by name may take the failure, but the
 * next back-edge of a loop, and but for iterations the next call of a function, raises it again; a finally is spared
 * while its grace lasts.
 *
 * Bytes are those of elements of arrays, counted in the function as it was built: of each array that a node makes, from
 * that node to its last use. Views are part of what they show; what a loop carries is there besides what it began with;
 * arms count as if they ran one after the other. Copies count: of inputs that are not dense or not aligned, of payload,
 * of views where callbacks and ops other than elementwise ones get them dense, of outputs that no node makes. A caller
 * counts with its most while it waits. Inputs, constants, scalars, exceptions, code and the library's own scratch do
 * not count; what optimising, donated inputs or given outputs save is not taken off. The sum is known when a function
 * is entered, so the run fails before anything has run, or at the call; where a callback decides on extents, it is
 * counted anew when that has returned, and arrjit_call_result gives MEMORY for a result that is too big by itself. */
typedef struct arrjit_limits {
  int64_t bytes;      /* max_run_bytes; kind memory, "the run needs 48 bytes, max_run_bytes is 47" */
  int64_t iterations; /* max_iterations: back-edges of loops, those of one lane of a map at a time; kind limit */
  int64_t depth;      /* max_depth, in its range: calls inside the graph that are active; kind limit */
  int64_t wall_ns;    /* max_run_ms; from the start of the run, waiting for a compilation included; kind limit */
} arrjit_limits;

/* All zero but struct_bytes means: auto, no bindings, fresh outputs, the context's limits. */
typedef struct arrjit_run_options {
  size_t struct_bytes; /* sizeof(arrjit_run_options) */
  arrjit_mode mode;
  unsigned flags; /* ARRJIT_RUN_* */
  size_t binding_count;
  const arrjit_binding *bindings;
  arrjit_array *const *outputs; /* one a result, any may be NULL: written there, dense or strided, and returned; may
                                   overlap inputs, all of which are read first */
  uint64_t donated;      /* bit i: input i may be overwritten or become an output's memory: the host neither reads
                            nor writes it again, unless the result says that it was not consumed; bits of no input
                            mean nothing */
  arrjit_cancel *cancel; /* may be NULL */
  int64_t deadline_ns;   /* on the clock of arrjit_clock_ns; 0: none */
  arrjit_limits limits;
} arrjit_run_options;

/* Runs a function on the caller's thread. `options` may be NULL. The status is not OK only for misuse, for native code
 * that was required and cannot be had, and when not even a result could be allocated; whatever else fails, from a bad
 * argument to a failing callback, is in *out, which the caller owns. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_run(arrjit_function *function, const arrjit_run_options *options,
                                                    size_t input_count, arrjit_array *const *inputs,
                                                    arrjit_result **out, arrjit_error *error);
/* Monotonic clock that deadlines are on. */
ARRJIT_API int64_t arrjit_clock_ns(void);

/* A flag that ends runs; a matrix that LAPACK works on is finished first, as before a deadline. It may be triggered
 * from any thread, also before the run; it stays triggered. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_cancel_create(arrjit_context *context, arrjit_cancel **out,
                                                              arrjit_error *error);
ARRJIT_API void arrjit_cancel_trigger(arrjit_cancel *cancel);
ARRJIT_API void arrjit_cancel_release(arrjit_cancel *cancel);

/* ---- results ---- */

ARRJIT_API void arrjit_result_destroy(arrjit_result *result);
/* 1: ok, outputs; 0: error, kind, reason, trace. */
ARRJIT_API int arrjit_result_ok(const arrjit_result *result);
ARRJIT_API size_t arrjit_result_output_count(const arrjit_result *result);
/* Output i, owned by the result (retain it to keep it longer); NULL when there is no such. */
ARRJIT_API arrjit_array *arrjit_result_output(const arrjit_result *result, size_t index);
/* Bit i: donated input i was consumed; given output i was written to. */
ARRJIT_API uint64_t arrjit_result_consumed(const arrjit_result *result);
ARRJIT_API uint64_t arrjit_result_touched(const arrjit_result *result);

ARRJIT_API arrjit_kind arrjit_result_kind(const arrjit_result *result);
ARRJIT_API const char *arrjit_result_kind_name(const arrjit_result *result);
ARRJIT_API int64_t arrjit_result_code(const arrjit_result *result);
/* The message with its payload filled in, at most 4096 bytes; made on first use, owned by the result; "" for an ok
 * result, and where there is no memory to make it, but for kind memory: then it is what it would be made from. */
ARRJIT_API const char *arrjit_result_message(arrjit_result *result);
ARRJIT_API size_t arrjit_result_payload_count(const arrjit_result *result);
ARRJIT_API arrjit_array *arrjit_result_payload(const arrjit_result *result, size_t index);
ARRJIT_API void *arrjit_result_host_pointer(const arrjit_result *result);

/* One entry of a trace, innermost first. Strings live as long as the result. */
typedef struct arrjit_trace_entry {
  const char *function; /* graph function's name; "" for the host's own frames */
  const char *op;       /* mnemonic; "" for the host's own frames */
  const char *label;    /* the host's frame text, or the node's label, "" when none */
  const char *file;     /* where the node was built, "" when unknown */
  int32_t line;
  int32_t node; /* the node's place in its function's printed form: nodes counted in print order; -1 for the host's */
  const char *arm;   /* which part of `op` failed: "then", "else", "case 2", "cond", "body", "handler 0", "finally",
                        "lane" or "" */
  int64_t iteration; /* of that part of a loop, counted from 0; of a map, the lane in row-major order; else -1 */
} arrjit_trace_entry;
/* Entries kept, and how many were left out between the innermost and outermost kept. */
ARRJIT_API size_t arrjit_result_trace_count(const arrjit_result *result);
ARRJIT_API int64_t arrjit_result_trace_omitted(const arrjit_result *result);
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_result_trace(const arrjit_result *result, size_t index,
                                                             arrjit_trace_entry *out);
/* The exception that caused this one, or was being handled: a result of its own, owned by this one; NULL when none. */
ARRJIT_API arrjit_result *arrjit_result_cause(arrjit_result *result);
ARRJIT_API arrjit_result *arrjit_result_context(arrjit_result *result);
/* Kind, reason, trace and causes as text of several lines, owned by the result; "" when there is no memory for it. */
ARRJIT_API const char *arrjit_result_text(arrjit_result *result);

#ifdef __cplusplus
}
#endif
#endif
