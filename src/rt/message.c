/* Messages: templates whose placeholders stand for payload values. Text is made only when someone asks for it. */
#include <inttypes.h>
#include <string.h>

#include "rt/exn.h"

enum { SHOWN_ELEMENTS = 8 };

/* Elements are read by memcpy: payload is aligned, but its type is known only here. */
static void render_int(const aj_dtype_info *info, const char *element, aj_text *out) {
  union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
  } v = {0};
  memcpy(&v, element, info->bytes);
  bool is_signed = info->cls == AJ_CLASS_INT;
  int64_t i = info->bytes == 1 ? v.i8 : info->bytes == 2 ? v.i16 : info->bytes == 4 ? v.i32 : v.i64;
  uint64_t u = info->bytes == 1 ? v.u8 : info->bytes == 2 ? v.u16 : info->bytes == 4 ? v.u32 : v.u64;
  if (is_signed)
    aj_text_printf(out, "%" PRId64, i);
  else
    aj_text_printf(out, "%" PRIu64, u);
}

static void render_complex(arrjit_dtype part, const char *element, aj_text *out) {
  char digits[AJ_NUMBER_BYTES];
  aj_text_puts(out, "(");
  aj_text_add(out, digits, aj_dtype_number(digits, part, element));
  aj_text_puts(out, ", ");
  aj_text_add(out, digits, aj_dtype_number(digits, part, element + aj_dtypes[part].bytes));
  aj_text_puts(out, ")");
}

static void render_element(arrjit_dtype dtype, const char *element, aj_text *out) {
  char digits[AJ_NUMBER_BYTES];
  const aj_dtype_info *info = &aj_dtypes[dtype];
  switch (info->cls) {
  case AJ_CLASS_NONE: break;
  case AJ_CLASS_BOOL: aj_text_puts(out, *element ? "true" : "false"); break;
  case AJ_CLASS_INT:
  case AJ_CLASS_UINT: render_int(info, element, out); break;
  case AJ_CLASS_FLOAT: aj_text_add(out, digits, aj_dtype_number(digits, dtype, element)); break;
  case AJ_CLASS_COMPLEX: render_complex(aj_dtype_part(dtype), element, out); break;
  }
}

void aj_exn_render_array(const arrjit_array *array, aj_text *out) {
  const aj_view *view = &array->view;
  size_t size = aj_dtypes[view->dtype].bytes;
  if (view->rank == 0) {
    render_element(view->dtype, view->data, out);
    return;
  }
  aj_text_printf(out, "%s[", aj_dtypes[view->dtype].name);
  for (int32_t i = 0; i < view->rank; i++) aj_text_printf(out, "%s%" PRId64, i ? "," : "", view->dims[i]);
  aj_text_puts(out, "] = [");
  int64_t count = aj_view_count(view);
  AJ_ASSERT(aj_view_is_dense(view));
  for (int64_t i = 0; i < count && i < SHOWN_ELEMENTS; i++) {
    if (i) aj_text_puts(out, ", ");
    render_element(view->dtype, view->data + (size_t)i * size, out);
  }
  aj_text_puts(out, count > SHOWN_ELEMENTS ? ", ...]" : "]");
}

/* What was appended since `start` gets its greatest length, and says that it was cut. */
static void cut(aj_text *out, size_t start) {
  if (!out->data || out->count - start <= AJ_MESSAGE_BYTES) return;
  size_t at = start + AJ_MESSAGE_BYTES - 3;
  while (at > start && ((unsigned char)out->data[at] & 0xc0) == 0x80) at--; /* no half of a UTF-8 sequence */
  out->count = at;
  out->data[at] = 0;
  aj_text_puts(out, "...");
}

/* One pass over the template. A placeholder without a payload value stands as it is: graphs that have one are not
 * built, but a host that fails with one in a callback must get its message out. */
void aj_exn_render(const aj_exn *exn, aj_text *out) {
  size_t start = out->count;
  const char *at = exn->message;
  if (!at) {
    const aj_kind_info *info = aj_kinds_get(exn->core->kinds, exn->kind);
    aj_text_puts(out, info ? info->name : "?");
    return;
  }
  while (*at && !out->failed && out->count - start <= AJ_MESSAGE_BYTES) {
    size_t plain = strcspn(at, "{}");
    if (plain > AJ_MESSAGE_BYTES + 1) plain = AJ_MESSAGE_BYTES + 1;
    aj_text_add(out, at, plain);
    at += plain;
    if (*at != '{' && *at != '}') continue;
    uint32_t index;
    size_t length = aj_text_placeholder(at, &index);
    if (length && index < exn->payload_count) {
      aj_exn_render_array(exn->payload[index], out);
    } else if (length) {
      aj_text_add(out, at, length); /* no such field: stands as it is */
    } else {
      length = at[1] == at[0] ? 2 : 1;
      aj_text_add(out, at, 1);
    }
    at += length;
  }
  cut(out, start);
}

void aj_exn_escape(char *out, size_t size, const char *s) {
  size_t count = 0;
  for (; *s; s++) {
    size_t needed = *s == '{' || *s == '}' ? 2 : 1;
    if (count + needed >= size) break;
    memset(out + count, *s, needed);
    count += needed;
  }
  out[count] = 0;
}
