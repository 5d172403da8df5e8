/* Reading lines of JSON, one value a line, with every integer kept: jansson refuses those above INT64_MAX, so they come
 * as strings of digits, which tk_json_u64 and the tensor reader understand. */
#ifndef TK_JSON_H
#define TK_JSON_H

#include <jansson.h>

#include "base.h"

/* Calls `each` for every line that is not empty, until it gives false; `value` is borrowed. False when the file cannot
 * be read or a line is no JSON, with a sentence in *out_why (freed by the caller). */
typedef bool tk_json_each(void *user, size_t line, const json_t *value);
bool tk_json_lines(const char *path, tk_json_each *each, void *user, char **out_why);
/* One text; NULL and a sentence in `why` when it is no JSON. */
json_t *tk_json_parse(const char *text, size_t bytes, char *why, size_t why_bytes);

/* Bits of a 64-bit integer in either form; false when it is none. */
bool tk_json_u64(const json_t *value, uint64_t *out);

#endif
