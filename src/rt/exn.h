/* Exceptions as values, and the compact traces they carry. An exn is immutable once it is in a value or a result. */
#ifndef AJ_RT_EXN_H
#define AJ_RT_EXN_H

#include "rt/array.h"

/* One frame of a trace, as compact as it is when it happens; strings are looked up when asked for. */
typedef enum aj_arm {
  AJ_ARM_NONE, AJ_ARM_THEN, AJ_ARM_ELSE, AJ_ARM_CASE, AJ_ARM_COND, AJ_ARM_BODY, AJ_ARM_HANDLER, AJ_ARM_FINALLY
} aj_arm;
typedef struct aj_site {
  const aj_node *node;       /* of the finished module */
  uint16_t arm;              /* aj_arm */
  uint16_t arm_index;        /* of CASE and HANDLER */
  int64_t iteration;         /* -1: no loop */
} aj_site;

enum { AJ_TRACE_INNER = 128, AJ_TRACE_OUTER = 16 };
typedef struct aj_trace {
  uint32_t count, capacity;  /* kept */
  uint64_t total;            /* seen: entries past AJ_TRACE_INNER + AJ_TRACE_OUTER are the newest of a ring */
  aj_site *sites;            /* innermost first; after 128 the last 16 form a ring */
} aj_trace;

typedef struct aj_exn {
  _Atomic int64_t refs;
  aj_core *core;
  arrjit_kind kind;
  int64_t code;
  char *message;             /* template, owned; NULL: the kind's name */
  uint32_t payload_count;
  arrjit_array **payload;    /* dense, owned */
  struct aj_host_ref *host;  /* shared by re-raises; destroyed once */
  char **frames;             /* the host's own frames, innermost first */
  uint32_t frame_count;
  aj_trace trace;
  struct aj_exn *cause, *context;
  void *keep;                /* what trace nodes live in: a function; released with keep_release */
  void (*keep_release)(void *keep);
} aj_exn;

typedef struct aj_host_ref { _Atomic int64_t refs; aj_core *core; void *pointer; void (*destroy)(void *); } aj_host_ref;

/* Payload arrays are copied dense (or shared when dense, owned and immutable). NULL: no memory. */
aj_exn *aj_exn_create(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                      arrjit_array *const *payload);
/* A new exn sharing payload, message, host pointer, frames and the trace so far: what raising again makes. */
aj_exn *aj_exn_again(const aj_exn *exn);
void aj_exn_retain(aj_exn *exn);
void aj_exn_release(aj_exn *exn);
/* Adds one entry, outward; when there is no memory the entry is only counted. */
void aj_trace_add(aj_exn *exn, aj_site site);
/* Renders the template with the payload: bounded, NUL-terminated. */
void aj_exn_render(const aj_exn *exn, aj_text *out);
/* A statically allocated exn of kind memory for when nothing can be allocated: one a core, never freed. */
aj_exn *aj_exn_no_memory(aj_core *core);

#endif
