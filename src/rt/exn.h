/* Exceptions as values, and the compact traces they carry. An exn is immutable once it is in a value or a result. */
#ifndef AJ_RT_EXN_H
#define AJ_RT_EXN_H

#include "rt/array.h"

/* One frame of a trace, as compact as it is when it happens; strings are looked up when asked for. */
typedef enum aj_arm {
  AJ_ARM_NONE,
  AJ_ARM_THEN,
  AJ_ARM_ELSE,
  AJ_ARM_CASE,
  AJ_ARM_COND,
  AJ_ARM_BODY,
  AJ_ARM_HANDLER,
  AJ_ARM_FINALLY,
  AJ_ARM_LANE
} aj_arm;
typedef struct aj_site {
  const aj_node *node; /* of the finished module */
  uint16_t arm;        /* aj_arm */
  uint16_t arm_index;  /* of CASE and HANDLER */
  int64_t iteration;   /* of a loop, lane of a map; -1: neither */
} aj_site;

enum { AJ_TRACE_INNER = 128, AJ_TRACE_OUTER = 16 };
typedef struct aj_trace {
  uint32_t count, capacity; /* kept */
  uint64_t total;           /* seen */
  aj_site *sites;           /* innermost first; past AJ_TRACE_INNER a ring of the newest: read with aj_trace_get */
} aj_trace;

typedef struct aj_exn {
  _Atomic int64_t refs;
  aj_core *core;
  arrjit_kind kind;
  int64_t code;
  char *message; /* template, owned; NULL: the kind's name */
  uint32_t payload_count;
  arrjit_array **payload;   /* dense, owned */
  struct aj_host_ref *host; /* shared by re-raises; destroyed once */
  char **frames;            /* the host's own frames, innermost first */
  uint32_t frame_count;
  aj_trace trace;
  struct aj_exn *cause, *context; /* set by aj_exn_link */
  struct aj_exn *origin;          /* of what aj_exn_again made: owns message, payload and frames; else NULL */
  struct aj_exn *next_dead;       /* while being released */
  uint32_t depth;                 /* of the longest chain of causes and contexts, itself included */
  void *keep;                     /* what trace nodes live in: a function; released with keep_release */
  void (*keep_release)(void *keep);
} aj_exn;

/* What a callback gave as its own. Owned by one exn: what is raised again shares it through its origin. */
typedef struct aj_host_ref {
  aj_core *core;
  void *pointer;
  void (*destroy)(void *);
} aj_host_ref;

/* Payload is copied, dense: a host may write to its arrays later. Message is copied. NULL: no memory. */
aj_exn *aj_exn_create(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                      arrjit_array *const *payload);
aj_exn *aj_exn_create_views(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count,
                            const aj_view *payload);
/* In steps: with room for payload, each field of which must then be set before anyone looks. False: no memory. */
aj_exn *aj_exn_create_room(aj_core *core, arrjit_kind kind, int64_t code, const char *message, uint32_t payload_count);
bool aj_exn_set_payload(aj_exn *exn, uint32_t i, const aj_view *view);
/* A new exn sharing payload, message, host pointer, frames and the trace so far: what raising again makes. */
aj_exn *aj_exn_again(const aj_exn *exn);
void aj_exn_retain(aj_exn *exn);
/* NULL is fine. */
void aj_exn_release(aj_exn *exn);
/* Sets cause and context (either may be NULL), retained, of a new exn. A chain deeper than AJ_EXN_DEPTH is cut: what
 * would make it deeper is left out. An exn is never linked to itself, and the one for lack of memory to nothing. */
enum { AJ_EXN_DEPTH = 32 };
void aj_exn_link(aj_exn *exn, aj_exn *cause, aj_exn *context);
/* Adds one entry, outward; when there is no memory the entry is only counted. */
void aj_trace_add(aj_exn *exn, aj_site site);
/* The same for several, innermost first. */
void aj_trace_append(aj_exn *exn, uint32_t count, const aj_site *sites);
/* Entry i < count, innermost first; between those below AJ_TRACE_INNER and the rest, total - count are left out. */
aj_site aj_trace_get(const aj_trace *trace, uint32_t i);
/* What the site's arm is called, for instance "case 2": `out` has room. */
enum { AJ_ARM_TEXT_BYTES = 16 };
const char *aj_arm_text(char out[AJ_ARM_TEXT_BYTES], aj_site site);
/* Appends the message with the payload filled in: at most AJ_MESSAGE_BYTES. */
enum { AJ_MESSAGE_BYTES = 4096 };
void aj_exn_render(const aj_exn *exn, aj_text *out);
/* Copies s with braces doubled, so that it stands for itself in a template: bounded, NUL-terminated. */
void aj_exn_escape(char *out, size_t size, const char *s);
/* Appends the elements of an array as messages show them: "1.5", "f64[3] = [1, 2, 3]", at most 8 elements. */
void aj_exn_render_array(const arrjit_array *array, aj_text *out);
/* Appends kind, message, payload, trace and causes as lines of text, the same bytes in every tier. */
void aj_exn_report(const aj_exn *exn, aj_text *out);
/* The exn of kind memory for when nothing can be allocated: made with the core, gone with it. It may be retained,
 * released, linked and added to, all to no effect. */
aj_exn *aj_exn_no_memory(aj_core *core);
#define AJ_NO_MEMORY_MESSAGE "no memory"

#endif
