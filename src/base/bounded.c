/* Printing into fields of a fixed size. What does not fit has its long strings shortened in the middle: those are names
 * that a host made up, and the reason that stands around them stays whole. Integers and strings only, as in text.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LEAST_SHOWN = 16 }; /* bytes of a string that are shown in any case */

/* What was printed; `length` counts what found no room as well. */
typedef struct sink {
  char *out;
  size_t size, length;
} sink;

/* A va_list that functions can take from in turn. */
typedef struct arguments {
  va_list list;
} arguments;

static bool begins_char(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

/* Where to cut so that no UTF-8 sequence is split. */
static size_t cut_place(const char *s, size_t at) {
  while (at > 0 && !begins_char(s[at])) at--;
  return at;
}

static void put(sink *s, const char *bytes, size_t count) {
  size_t room = s->length < s->size ? s->size - s->length : 0, fits = count < room ? count : room;
  memcpy(s->out + (s->size - room), bytes, fits);
  s->length += count;
}

/* `precision` as in "%.*s", below 0: none. */
static size_t count_bytes(const char *string, long precision) {
  if (precision < 0) return strlen(string);
  const char *end = memchr(string, 0, (size_t)precision);
  return end ? (size_t)(end - string) : (size_t)precision;
}

/* All of it, or its head and its tail. */
static void put_string(sink *s, const char *bytes, size_t count, size_t most) {
  if (count <= most) {
    put(s, bytes, count);
    return;
  }
  size_t half = (most - 3) / 2, tail = count - half;
  while (tail < count && !begins_char(bytes[tail])) tail++;
  put(s, bytes, cut_place(bytes, half));
  put(s, "...", 3);
  put(s, bytes + tail, count - tail);
}

/* The directive that begins with the '%' at `at`; gives where it ends, NULL when it is of no kind that is known here.
 */
static const char *put_directive(sink *s, size_t most, const char *at, arguments *args) {
  enum { NUMBER_BYTES = 64, SPEC_BYTES = 16 };
  const char *start = at++;
  at += strspn(at, "-+ #0123456789");
  long precision = -1;
  if (*at == '.' && at[1] == '*') {
    precision = va_arg(args->list, int);
    at += 2;
  } else if (*at == '.') {
    precision = strtol(at + 1, (char **)&at, 10);
  }
  size_t longs = strspn(at, "l"), sizes = strspn(at, "z"), length;
  at += longs + sizes;
  if (*at == 's') {
    const char *string = va_arg(args->list, const char *);
    put_string(s, string, count_bytes(string, precision), most);
    return at + 1;
  }
  char number[NUMBER_BYTES], spec[SPEC_BYTES];
  length = (size_t)(at + 1 - start);
  if (*at == 0 || !strchr("dixuc%", *at) || length >= SPEC_BYTES) return NULL;
  memcpy(spec, start, length);
  spec[length] = 0;
  if (*at == '%')
    put(s, "%", 1);
  else if (longs == 2)
    put(s, number, (size_t)snprintf(number, sizeof number, spec, va_arg(args->list, long long)));
  else if (longs || sizes)
    put(s, number, (size_t)snprintf(number, sizeof number, spec, va_arg(args->list, long)));
  else
    put(s, number, (size_t)snprintf(number, sizeof number, spec, va_arg(args->list, int)));
  return at + 1;
}

/* All of it with no string longer than `most`; false when it takes more than `room` or cannot be told. */
static bool print_shortened(char *out, size_t room, size_t most, const char *format, va_list list) {
  sink s = {.out = out, .size = room};
  arguments args;
  va_copy(args.list, list);
  while (format && *format && s.length <= room) {
    size_t plain = strcspn(format, "%");
    put(&s, format, plain);
    format += plain;
    if (*format) format = put_directive(&s, most, format, &args);
  }
  va_end(args.list);
  if (!format || s.length > room) return false;
  out[s.length] = 0;
  return true;
}

void aj_bounded_vprintf(char *out, size_t size, const char *format, va_list args) {
  if (size == 0) return;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(out, size, format, again);
  va_end(again);
  if (length < 0) out[0] = 0;
  if (length < 0 || (size_t)length < size || size < 4) return;
  size_t room = size - size / 4; /* the rest is for what others print around it */
  for (size_t most = room; most >= LEAST_SHOWN; most -= most / 8)
    if (print_shortened(out, room, most, format, args)) return;
  vsnprintf(out, size, format, args);
  memcpy(out + cut_place(out, size - 4), "...", 4);
}

void aj_bounded_printf(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  aj_bounded_vprintf(out, size, format, args);
  va_end(args);
}
