/* Small helpers of the test programs; see base.h. */
#include "base.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tk_die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

void *tk_new(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size ? size : 1);
  if (!p) tk_die("out of memory");
  return p;
}

void *tk_grow(void *old, size_t count, size_t size) {
  void *p = realloc(old, (count ? count : 1) * size);
  if (!p) tk_die("out of memory");
  return p;
}

void *tk_copy(const void *data, size_t bytes) {
  char *p = tk_new(bytes + 1, 1);
  if (bytes) memcpy(p, data, bytes);
  return p;
}

char *tk_read_file(const char *path, size_t *out_bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t used = 0, room = 1 << 16;
  char *data = tk_new(room, 1);
  for (size_t n; (n = fread(data + used, 1, room - used - 1, file)) > 0;) {
    used += n;
    if (used + 1 == room) data = tk_grow(data, room *= 2, 1);
  }
  data[used] = 0;
  bool bad = ferror(file);
  fclose(file);
  if (bad) {
    free(data);
    return NULL;
  }
  if (out_bytes) *out_bytes = used;
  return data;
}

uint64_t tk_next(tk_random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t tk_below(tk_random *random, uint64_t below) { return below ? tk_next(random) % below : 0; }

bool tk_chance(tk_random *random, unsigned percent) { return tk_below(random, 100) < percent; }

void tk_text_open(tk_text *text) {
  *text = (tk_text){0};
  text->to = open_memstream(&text->data, &text->bytes);
  if (!text->to) tk_die("out of memory");
}

char *tk_text_close(tk_text *text) {
  if (fclose(text->to) || !text->data) tk_die("out of memory");
  text->to = NULL;
  return text->data;
}
