/* What the test programs share: giving up loudly, memory that is always there, random numbers, text that grows. */
#ifndef TK_BASE_H
#define TK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints and exits with 2: for what a test program itself cannot do without. */
void tk_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* As calloc, realloc, a copy of bytes; never NULL. */
void *tk_new(size_t count, size_t size);
void *tk_grow(void *old, size_t count, size_t size);
void *tk_copy(const void *data, size_t bytes);
/* The whole file, NUL-terminated; NULL when it cannot be read. */
char *tk_read_file(const char *path, size_t *out_bytes);

/* splitmix64: small, and every seed is a good one. */
typedef struct tk_random {
  uint64_t state;
} tk_random;
uint64_t tk_next(tk_random *random);
/* 0 .. below - 1 */
uint64_t tk_below(tk_random *random, uint64_t below);
/* true in percent of 100 cases */
bool tk_chance(tk_random *random, unsigned percent);

/* A stream that becomes a string: open, fprintf to it, close (gives the string, to be freed). */
typedef struct tk_text {
  FILE *to;
  char *data;
  size_t bytes;
} tk_text;
void tk_text_open(tk_text *text);
char *tk_text_close(tk_text *text);

/* Whether a sanitizer of addresses or threads is at work: it keeps what was freed for a while and needs larger stacks,
 * and the library's loops are not optimised beside it. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TK_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TK_SANITIZED 1
#endif
#ifndef TK_SANITIZED
#define TK_SANITIZED 0
#endif

#define TK_COUNT(array) (sizeof(array) / sizeof *(array))

#endif
