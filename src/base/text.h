/* String buffer with a sticky failure flag: append as you like, look once at the end. */
#ifndef AJ_BASE_TEXT_H
#define AJ_BASE_TEXT_H

#include <stdarg.h>

#include "base/mem.h"

#if defined(__GNUC__)
#define AJ_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define AJ_PRINTF(fmt, args)
#endif

typedef struct aj_text {
  aj_mem *mem;
  char *data; /* NUL-terminated whenever not NULL */
  size_t count, capacity;
  bool failed; /* an append found no memory; what was there before stays */
} aj_text;

void aj_text_init(aj_text *text, aj_mem *mem);
void aj_text_add(aj_text *text, const char *bytes, size_t count);
void aj_text_puts(aj_text *text, const char *s);
void aj_text_printf(aj_text *text, const char *format, ...) AJ_PRINTF(2, 3);
void aj_text_free(aj_text *text);

/* Bounded printing into a fixed field, integers and strings only: always NUL-terminated. When it is too long, strings
 * are shortened in their middle with "...", the longest first; when that is not enough, the end is cut. */
void aj_bounded_printf(char *out, size_t size, const char *format, ...) AJ_PRINTF(3, 4);
void aj_bounded_vprintf(char *out, size_t size, const char *format, va_list args);

/* Message templates: "{0}" stands for payload value 0, "{{" and "}}" for braces, anything else for itself. The length
 * of the placeholder that begins at `at`, 0 when none does; a number too large for any payload gives UINT32_MAX. */
size_t aj_text_placeholder(const char *at, uint32_t *out_index);
/* The greatest number of a placeholder in a template; false when it has none. */
bool aj_text_greatest_placeholder(const char *template, uint32_t *out_index);

#endif
