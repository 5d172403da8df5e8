/* Everything that one run shows to its host, copied, so that runs in different modes can be compared to the bit. */
#ifndef TK_OUTCOME_H
#define TK_OUTCOME_H

#include "arrjit/arrjit.h"
#include "base.h"

typedef struct tk_block { /* a dense copy of an array */
  arrjit_type type;
  size_t bytes;
  unsigned char *data;
} tk_block;

typedef struct tk_outcome {
  arrjit_status status; /* of arrjit_run; when it is not OK, only `error` and `log` are filled */
  arrjit_error error;
  bool ok;
  size_t output_count, payload_count, trace_count;
  tk_block *outputs, *payload;
  arrjit_kind kind;
  int64_t code;
  char *kind_name, *message;
  char *trace;       /* one line an entry, all its fields */
  char *path;        /* in short, innermost first: "raise < if then < while body 5"; the host's frames as "'text'" */
  char *text;        /* arrjit_result_text */
  char *log;         /* of callbacks: one line a call */
  bool native;       /* it ran as native code */
  uint64_t consumed; /* arrjit_result_consumed; not compared: tiers may differ */
} tk_outcome;

/* Copies a result; `log` is taken over. */
void tk_outcome_take(tk_outcome *out, arrjit_result *result, char *log);
void tk_outcome_free(tk_outcome *outcome);
/* Whether two runs showed the same; if not, *why (freed by the caller) says what differs first. */
bool tk_outcome_same(const tk_outcome *a, const tk_outcome *b, char **why);

/* "f32[2, 3]" and the elements, floats with their bits. */
void tk_print_type(FILE *to, const arrjit_type *type);
void tk_print_element(FILE *to, arrjit_dtype dtype, const void *element);
void tk_print_elements(FILE *to, const arrjit_type *type, const void *data, size_t most);
/* Elements of a type without symbols. */
size_t tk_type_count(const arrjit_type *type);

#endif
