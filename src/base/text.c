/* String buffer. It goes through the C library's vsnprintf with integers and strings only: its floats depend on the
 * process' locale and rounding mode, so numbers with a fraction are printed by base/number.c. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

void aj_text_init(aj_text *text, aj_mem *mem) { *text = (aj_text){.mem = mem}; }

/* Room for `more` bytes and the NUL. */
static bool reserve(aj_text *text, size_t more) {
  size_t needed, grown = text->capacity ? text->capacity : 64;
  if (text->failed) return false;
  if (aj_size_add(text->count, more, &needed) && aj_size_add(needed, 1, &needed)) {
    if (needed <= text->capacity) return true;
    while (grown < needed && grown <= SIZE_MAX / 2) grown *= 2;
    if (grown < needed) grown = needed;
    char *moved = aj_mem_resize(text->mem, text->data, text->capacity, grown);
    if (moved) {
      text->data = moved;
      text->capacity = grown;
      return true;
    }
  }
  text->failed = true;
  return false;
}

void aj_text_add(aj_text *text, const char *bytes, size_t count) {
  if (!reserve(text, count)) return;
  if (count) memcpy(text->data + text->count, bytes, count);
  text->count += count;
  AJ_ASSERT(text->count < text->capacity);
  text->data[text->count] = 0;
}

void aj_text_puts(aj_text *text, const char *s) { aj_text_add(text, s, strlen(s)); }

/* Most pieces are short: printed on the stack, then added. A longer one is printed again, in place. */
void aj_text_printf(aj_text *text, const char *format, ...) {
  char small[256];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  if (length < 0) {
    text->failed = true;
  } else if ((size_t)length < sizeof small) {
    aj_text_add(text, small, (size_t)length);
  } else if (reserve(text, (size_t)length)) {
    va_start(args, format);
    (void)vsnprintf(text->data + text->count, (size_t)length + 1, format, args);
    va_end(args);
    text->count += (size_t)length;
  }
}

void aj_text_free(aj_text *text) {
  aj_mem_free(text->mem, text->data, text->capacity);
  aj_text_init(text, text->mem);
}

/* ---- message templates ---- */

size_t aj_text_placeholder(const char *at, uint32_t *out_index) {
  uint64_t index = 0;
  size_t length = 1;
  if (at[0] != '{') return 0;
  for (; at[length] >= '0' && at[length] <= '9'; length++)
    if (index < UINT32_MAX) index = index * 10 + (uint64_t)(at[length] - '0');
  if (length == 1 || at[length] != '}') return 0;
  *out_index = index < UINT32_MAX ? (uint32_t)index : UINT32_MAX;
  return length + 1;
}

bool aj_text_greatest_placeholder(const char *template, uint32_t *out_index) {
  bool found = false;
  for (const char *at = template; *at;) {
    uint32_t index;
    size_t length = aj_text_placeholder(at, &index);
    if (length && (!found || index > *out_index)) *out_index = index;
    found = found || length;
    at += length ? length : (*at == '{' || *at == '}') && at[1] == *at ? 2 : 1;
  }
  return found;
}
