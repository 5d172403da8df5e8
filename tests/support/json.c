/* JSON lines with 64-bit integers; see json.h. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Length of the integer token at `s` when it does not fit int64_t; 0 for any other token. */
static size_t big_integer(const char *s, const char *end) {
  const char *p = s;
  if (p < end && *p == '-') p++;
  while (p < end && *p >= '0' && *p <= '9') p++;
  size_t length = (size_t)(p - s);
  if (length < 19 || length > 40 || (p < end && (*p == '.' || *p == 'e' || *p == 'E'))) return 0;
  char digits[48];
  memcpy(digits, s, length);
  digits[length] = 0;
  errno = 0;
  (void)strtoll(digits, NULL, 10);
  return errno == ERANGE ? length : 0;
}

/* A copy in which integers beyond int64_t stand in quotes. */
static char *quote_big_integers(const char *text, size_t bytes, size_t *out_bytes) {
  const char *end = text + bytes;
  bool in_string = false;
  tk_text out;
  tk_text_open(&out);
  for (const char *p = text; p < end; p++) {
    if (in_string && *p == '\\' && p + 1 < end) {
      fwrite(p, 1, 2, out.to);
      p++;
      continue;
    }
    if (*p == '"') in_string = !in_string;
    bool starts =
        !in_string && (*p == '-' || (*p >= '0' && *p <= '9')) && (p == text || !strchr("0123456789.eE+-", p[-1]));
    size_t length = starts ? big_integer(p, end) : 0;
    if (length) {
      fprintf(out.to, "\"%.*s\"", (int)length, p);
      p += length - 1;
    } else {
      fputc(*p, out.to);
    }
  }
  char *data = tk_text_close(&out);
  *out_bytes = out.bytes;
  return data;
}

json_t *tk_json_parse(const char *text, size_t bytes, char *why, size_t why_bytes) {
  size_t count = 0;
  char *quoted = quote_big_integers(text, bytes, &count);
  json_error_t error;
  json_t *value = json_loadb(quoted, count, JSON_ALLOW_NUL | JSON_DECODE_ANY, &error);
  if (!value && why) snprintf(why, why_bytes, "%s", error.text);
  free(quoted);
  return value;
}

bool tk_json_lines(const char *path, tk_json_each *each, void *user, char **out_why) {
  char why[JSON_ERROR_TEXT_LENGTH + 1] = "";
  size_t bytes = 0, line = 0;
  char *text = tk_read_file(path, &bytes);
  if (!text) snprintf(why, sizeof why, "%s", strerror(errno));
  bool go_on = text != NULL;
  for (char *p = text; go_on && p < text + bytes;) {
    char *end = memchr(p, '\n', (size_t)(text + bytes - p));
    size_t length = end ? (size_t)(end - p) : (size_t)(text + bytes - p);
    line++;
    if (length) {
      json_t *value = tk_json_parse(p, length, why, sizeof why);
      go_on = value && each(user, line, value);
      json_decref(value);
    }
    p += length + 1;
  }
  free(text);
  if (!why[0]) return true;
  tk_text said;
  tk_text_open(&said);
  fprintf(said.to, "%s:%zu: %s", path, line, why);
  *out_why = tk_text_close(&said);
  return false;
}

bool tk_json_u64(const json_t *value, uint64_t *out) {
  if (json_is_integer(value)) {
    *out = (uint64_t)json_integer_value(value);
    return true;
  }
  if (json_is_boolean(value)) {
    *out = json_is_true(value);
    return true;
  }
  const char *s = json_string_value(value);
  if (!s || !*s || strspn(s + (*s == '-'), "0123456789") != strlen(s + (*s == '-'))) return false;
  errno = 0;
  *out = *s == '-' ? (uint64_t)strtoll(s, NULL, 10) : strtoull(s, NULL, 10);
  return errno == 0;
}
