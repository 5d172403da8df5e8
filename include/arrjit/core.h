/* libarrjit: what every other header builds on: status, error record, allocator, element types, the context.
 * Policies (ownership, threads, errors, lifetimes) are written once, at the top of arrjit.h. */
#ifndef ARRJIT_CORE_H
#define ARRJIT_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "arrjit/enums.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARRJIT_API
#if defined(__GNUC__)
#define ARRJIT_API __attribute__((visibility("default")))
#else
#define ARRJIT_API
#endif
#endif

#if defined(__GNUC__)
#define ARRJIT_MUST_USE __attribute__((warn_unused_result))
#else
#define ARRJIT_MUST_USE
#endif

#define ARRJIT_VERSION_MAJOR 0
#define ARRJIT_VERSION_MINOR 1
#define ARRJIT_VERSION_PATCH 0

/* Largest rank of an array. */
#define ARRJIT_MAX_RANK 16
/* As a dim of a value slot's result: the callback decides on it at each call (`?` in .air). */
#define ARRJIT_DYNAMIC_DIM INT64_MIN

typedef struct arrjit_context arrjit_context;
typedef struct arrjit_graph arrjit_graph;
typedef struct arrjit_function arrjit_function;
typedef struct arrjit_array arrjit_array;
typedef struct arrjit_result arrjit_result;
typedef struct arrjit_runner arrjit_runner;
typedef struct arrjit_job arrjit_job;
typedef struct arrjit_cancel arrjit_cancel;
typedef struct arrjit_closure arrjit_closure;

/* What a failing call tells. The caller gives the record (or NULL); nothing in it needs freeing. */
typedef struct arrjit_error {
  arrjit_status status;
  int line;       /* of the host's source or of the text being parsed; 0: unknown */
  char file[128]; /* the end of the path, "" when unknown */
  char op[32];    /* what failed: the building function without "arrjit_", a construct (if, while ...), an op; or "" */
  char message[512]; /* one sentence: what was wrong, what was expected */
} arrjit_error;

/* One function allocates, grows, shrinks and frees. Give it in arrjit_context_options.
 * resize(user, NULL, 0, n) allocates n bytes; resize(user, p, old, 0) frees and returns NULL; else p grows or shrinks
 * keeping min(old, n) bytes. A failure returns NULL and leaves p as it was. Memory is aligned as malloc's.
 * It is called from any thread that uses the context, and from the library's own. */
typedef struct arrjit_allocator {
  void *user;
  void *(*resize)(void *user, void *pointer, size_t old_bytes, size_t new_bytes);
} arrjit_allocator;

/* An element type with a shape. Dims >= 0 are extents; a negative one is a symbol from arrjit_symbol. */
typedef struct arrjit_type {
  arrjit_dtype dtype;
  int32_t rank;
  int64_t dims[ARRJIT_MAX_RANK];
} arrjit_type;

/* One thing that the engine did. */
typedef struct arrjit_event {
  arrjit_event_code code;
  uint32_t function_id; /* arrjit_function_id, 0: none */
  int64_t time_ns;      /* monotonic clock */
  int64_t duration_ns;
  int64_t code_bytes;
  char text[160];
} arrjit_event;

/* Called with no lock of the library held, on the thread where the event arose. */
typedef void arrjit_event_sink(void *user, const arrjit_event *event);

/* Numbers of a context's life so far. */
typedef struct arrjit_statistics {
  int64_t live_bytes; /* of the host's allocator; large blocks that wait for their next use (64 MiB at most) included */
  int64_t allocations;
  int64_t runs_interpreted; /* runs that started in the interpreter */
  int64_t runs_native;
  int64_t runs_failed;
  int64_t functions_compiled;
  int64_t compilations_stopped;
  int64_t compile_ns; /* sum, all compilations */
  int64_t code_bytes; /* native code alive */
  int64_t events_dropped;
  int64_t poll_longest_ns; /* with the option poll_clock: most CPU time a run used between two polls */
} arrjit_statistics;

/* For a host with a global lock: around every wait of the library that can block a thread of the host (compilation,
 * jobs, the end of threads), `release` is called before and `acquire` after, in pairs, on that thread, with no lock of
 * the library held. A host thread calls the library with its lock held; threads of the library, and those of a runner's
 * executor while they run a task, are without it, and call the hooks only from inside a callback. */
typedef struct arrjit_hooks {
  void *user;
  void (*release)(void *user);
  void (*acquire)(void *user);
} arrjit_hooks;

/* The host's threads. `submit` takes a task over and returns 0, or refuses it and returns anything else; it calls
 * task(arg) exactly once, on any thread, at once or later. `submit` is called with no lock held. */
typedef struct arrjit_executor {
  void *user;
  int (*submit)(void *user, void (*task)(void *arg), void *arg);
} arrjit_executor;

/* All zero but struct_bytes means: the defaults. */
typedef struct arrjit_context_options {
  size_t struct_bytes;               /* sizeof(arrjit_context_options) */
  const arrjit_allocator *allocator; /* copied; NULL: the C library's */
  const char *native_path;           /* file of the native module; NULL: beside the library, then the built-in libdir */
  arrjit_event_sink *event_sink;     /* NULL: events wait for arrjit_context_next_event */
  void *event_user;
  const arrjit_hooks *hooks; /* copied; NULL: none */
  /* Whose threads share the work of big kernels; copied; NULL: the library's own, started with the first such kernel. A
   * task that comes late finds nothing to do; one that never comes is not missed, but keeps what the context shares
   * alive. A thread with less than 512 KiB of stack is of no help. */
  const arrjit_executor *executor;
} arrjit_context_options;

/* Makes a context. `options` may be NULL. Errors: MISUSE (struct_bytes, an allocator, hooks or an executor without a
 * function), MEMORY. The caller owns *out. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_context_create(const arrjit_context_options *options,
                                                               arrjit_context **out, arrjit_error *error);
/* Ends the context: stops its threads, drops its native code. BUSY, and nothing happens, while a run or a runner of it
 * is alive. Arrays, results, functions and graphs may outlive it; of functions and graphs nothing but their release or
 * destruction is then allowed. The memory of what they share goes with the last of them. NULL is fine. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_context_destroy(arrjit_context *context);
/* Sets or reads an option. Errors: MISUSE (no such option, value out of range; the message has the range). */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_context_set_option(arrjit_context *context, arrjit_option option,
                                                                   int64_t value, arrjit_error *error);
ARRJIT_API int64_t arrjit_context_get_option(const arrjit_context *context, arrjit_option option);
/* Adds a kind below `parent`; its payload signature is the parent's fields and then `fields` ("f64[0], i64[1], ...",
 * the number being the rank,
 * "" for none). Name: unique in the context, letters, digits, '_' and '.'. Errors: MISUSE, MEMORY. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_context_add_kind(arrjit_context *context, const char *name,
                                                                 arrjit_kind parent, const char *fields,
                                                                 arrjit_kind *out, arrjit_error *error);
/* The kind of a name; NOT_FOUND. */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_context_find_kind(const arrjit_context *context, const char *name,
                                                                  arrjit_kind *out, arrjit_error *error);
/* Name of a kind, valid as long as the context; "?" for a number that is none. */
ARRJIT_API const char *arrjit_context_kind_name(const arrjit_context *context, arrjit_kind kind);
/* Whether `kind` is `ancestor` or below it. */
ARRJIT_API int arrjit_context_kind_is(const arrjit_context *context, arrjit_kind kind, arrjit_kind ancestor);
ARRJIT_API void arrjit_context_get_statistics(const arrjit_context *context, arrjit_statistics *out);
/* Takes the oldest waiting event; 0 when there is none. */
ARRJIT_API int arrjit_context_next_event(arrjit_context *context, arrjit_event *out);
/* Waits until no compilation is queued or running; TIMEOUT after timeout_ns (< 0: no limit). */
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_context_wait_idle(arrjit_context *context, int64_t timeout_ns);

/* What the library knows of an op. All strings are static. */
typedef struct arrjit_op_row {
  const char *name;     /* as in .air; its building function is arrjit_<name> */
  const char *operands; /* names, "name..." any number, "name?" optional */
  const char *meaning;
  const char *errors; /* "" when it cannot fail */
  uint32_t dtypes;    /* bit arrjit_dtype: what its first operand may be; 0: not an op on elements */
  int in_graphs;      /* 0: only optimised functions have it */
  size_t attribute_count;
  const char *attributes[8];
} arrjit_op_row;
/* Number of ops, and one of them by its place in the table; MISUSE when there is no such. */
ARRJIT_API size_t arrjit_op_count(void);
ARRJIT_API ARRJIT_MUST_USE arrjit_status arrjit_op_get(size_t index, arrjit_op_row *out);

/* Text of a status, name of an element type, an option, an event; never NULL ("?" for a number that is none). */
ARRJIT_API const char *arrjit_status_text(arrjit_status status);
ARRJIT_API const char *arrjit_dtype_name(arrjit_dtype dtype);
/* Bytes of one element; 0 for a number that is none. */
ARRJIT_API size_t arrjit_dtype_bytes(arrjit_dtype dtype);
ARRJIT_API const char *arrjit_option_name(arrjit_option option);
ARRJIT_API const char *arrjit_event_name(arrjit_event_code code);
/* "0.1.0" of the library that runs. */
ARRJIT_API const char *arrjit_version(void);

#ifdef __cplusplus
}
#endif
#endif
