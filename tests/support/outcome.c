/* Copying, comparing and printing what a run gave; see outcome.h. */
#include "outcome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arrjit/half.h"
#include "floats.h"

size_t tk_type_count(const arrjit_type *type) {
  size_t count = 1;
  for (int32_t i = 0; i < type->rank; i++) count *= (size_t)type->dims[i];
  return count;
}

void tk_print_type(FILE *to, const arrjit_type *type) {
  fprintf(to, "%s[", arrjit_dtype_name(type->dtype));
  for (int32_t i = 0; i < type->rank; i++) fprintf(to, "%s%" PRId64, i ? ", " : "", type->dims[i]);
  fputc(']', to);
}

static void print_float(FILE *to, double value, int digits, uint64_t bits, int nibbles) {
  fprintf(to, "%.*g (0x%0*" PRIx64 ")", digits, value, nibbles, bits);
}

static void print_complex(FILE *to, arrjit_dtype part, const void *element) {
  fputc('(', to);
  tk_print_element(to, part, element);
  fputs(", ", to);
  tk_print_element(to, part, (const char *)element + arrjit_dtype_bytes(part));
  fputc(')', to);
}

void tk_print_element(FILE *to, arrjit_dtype dtype, const void *element) {
  union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
  } u = {0};
  if (tk_is_complex(dtype)) {
    print_complex(to, tk_part(dtype), element);
    return;
  }
  memcpy(&u, element, arrjit_dtype_bytes(dtype));
  switch (dtype) {
  case ARRJIT_BOOL:
  case ARRJIT_U8: fprintf(to, "%" PRIu8, u.u8); return;
  case ARRJIT_U16: fprintf(to, "%" PRIu16, u.u16); return;
  case ARRJIT_U32: fprintf(to, "%" PRIu32, u.u32); return;
  case ARRJIT_U64: fprintf(to, "%" PRIu64, u.u64); return;
  case ARRJIT_I8: fprintf(to, "%" PRId8, u.i8); return;
  case ARRJIT_I16: fprintf(to, "%" PRId16, u.i16); return;
  case ARRJIT_I32: fprintf(to, "%" PRId32, u.i32); return;
  case ARRJIT_I64: fprintf(to, "%" PRId64, u.i64); return;
  case ARRJIT_F32: print_float(to, (double)u.f32, 9, u.u32, 8); return;
  case ARRJIT_F64: print_float(to, u.f64, 17, u.u64, 16); return;
  case ARRJIT_F16: print_float(to, (double)arrjit_f16_to_f32(u.u16), 5, u.u16, 4); return;
  case ARRJIT_BF16: print_float(to, (double)arrjit_bf16_to_f32(u.u16), 4, u.u16, 4); return;
  case ARRJIT_C64:
  case ARRJIT_C128:
  case ARRJIT_DTYPE_NONE: break;
  }
  fputc('?', to);
}

void tk_print_elements(FILE *to, const arrjit_type *type, const void *data, size_t most) {
  size_t count = tk_type_count(type), width = arrjit_dtype_bytes(type->dtype);
  fputc('{', to);
  for (size_t i = 0; i < count && i < most; i++) {
    if (i) fputs(", ", to);
    tk_print_element(to, type->dtype, (const char *)data + i * width);
  }
  fputs(count > most ? ", ...}" : "}", to);
}

static tk_block take_block(const arrjit_array *array) {
  tk_block block = {.type = arrjit_array_type(array)};
  arrjit_array *dense = NULL;
  if (arrjit_array_is_dense(array)) {
    block.bytes = arrjit_array_bytes(array);
    block.data = tk_copy(arrjit_array_data(array), block.bytes);
    return block;
  }
  if (arrjit_array_copy(array, &dense, NULL) != ARRJIT_OK) tk_die("no memory to copy a result");
  block.bytes = arrjit_array_bytes(dense);
  block.data = tk_copy(arrjit_array_data(dense), block.bytes);
  arrjit_array_release(dense);
  return block;
}

static void print_trace(FILE *to, const arrjit_result *result, size_t count) {
  for (size_t i = 0; i < count; i++) {
    arrjit_trace_entry e;
    if (arrjit_result_trace(result, i, &e) != ARRJIT_OK) {
      fputs("no entry\n", to);
      continue;
    }
    fprintf(to, "function '%s' op '%s' label '%s' at %s:%" PRId32 " node %" PRId32 " arm '%s' iteration %" PRId64 "\n",
            e.function, e.op, e.label, e.file, e.line, e.node, e.arm, e.iteration);
  }
  fprintf(to, "omitted %" PRId64 "\n", arrjit_result_trace_omitted(result));
}

static void print_path(FILE *to, const arrjit_result *result, size_t count) {
  for (size_t i = 0; i < count; i++) {
    arrjit_trace_entry e;
    if (arrjit_result_trace(result, i, &e) != ARRJIT_OK) continue;
    if (i) fputs(" < ", to);
    if (!e.op[0]) fprintf(to, "'%s'", e.label);
    fputs(e.op, to);
    if (e.arm[0]) fprintf(to, " %s", e.arm);
    if (e.iteration >= 0) fprintf(to, " %" PRId64, e.iteration);
  }
}

void tk_outcome_take(tk_outcome *out, arrjit_result *result, char *log) {
  *out = (tk_outcome){.status = ARRJIT_OK, .ok = arrjit_result_ok(result), .log = log};
  out->consumed = arrjit_result_consumed(result);
  out->output_count = arrjit_result_output_count(result);
  out->outputs = tk_new(out->output_count, sizeof *out->outputs);
  for (size_t i = 0; i < out->output_count; i++) out->outputs[i] = take_block(arrjit_result_output(result, i));
  if (out->ok) return;
  out->kind = arrjit_result_kind(result);
  out->code = arrjit_result_code(result);
  out->kind_name = strdup(arrjit_result_kind_name(result));
  out->message = strdup(arrjit_result_message(result));
  out->text = strdup(arrjit_result_text(result));
  out->payload_count = arrjit_result_payload_count(result);
  out->payload = tk_new(out->payload_count, sizeof *out->payload);
  for (size_t i = 0; i < out->payload_count; i++) out->payload[i] = take_block(arrjit_result_payload(result, i));
  out->trace_count = arrjit_result_trace_count(result);
  tk_text text;
  tk_text_open(&text);
  print_trace(text.to, result, out->trace_count);
  out->trace = tk_text_close(&text);
  tk_text_open(&text);
  print_path(text.to, result, out->trace_count);
  out->path = tk_text_close(&text);
}

static void free_blocks(tk_block *blocks, size_t count) {
  for (size_t i = 0; i < count; i++) free(blocks[i].data);
  free(blocks);
}

void tk_outcome_free(tk_outcome *outcome) {
  free_blocks(outcome->outputs, outcome->output_count);
  free_blocks(outcome->payload, outcome->payload_count);
  free(outcome->kind_name);
  free(outcome->message);
  free(outcome->trace);
  free(outcome->path);
  free(outcome->text);
  free(outcome->log);
  *outcome = (tk_outcome){0};
}

static bool same_type(const arrjit_type *a, const arrjit_type *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

/* First difference of two lists of arrays, written to `why`; true when there is none. */
static bool compare_blocks(FILE *why, const char *what, const tk_block *a, size_t na, const tk_block *b, size_t nb) {
  if (na != nb) {
    fprintf(why, "%zu %ss against %zu", na, what, nb);
    return false;
  }
  for (size_t k = 0; k < na; k++) {
    if (!same_type(&a[k].type, &b[k].type)) {
      fprintf(why, "%s %zu has type ", what, k);
      tk_print_type(why, &a[k].type);
      fputs(" against ", why);
      tk_print_type(why, &b[k].type);
      return false;
    }
    if (memcmp(a[k].data, b[k].data, a[k].bytes) == 0) continue;
    size_t width = arrjit_dtype_bytes(a[k].type.dtype), i = 0;
    while (memcmp(a[k].data + i * width, b[k].data + i * width, width) == 0) i++;
    fprintf(why, "%s %zu, ", what, k);
    tk_print_type(why, &a[k].type);
    fprintf(why, ", element %zu: ", i);
    tk_print_element(why, a[k].type.dtype, a[k].data + i * width);
    fputs(" against ", why);
    tk_print_element(why, a[k].type.dtype, b[k].data + i * width);
    return false;
  }
  return true;
}

static bool compare_text(FILE *why, const char *what, const char *a, const char *b) {
  if (a == b || (a && b && strcmp(a, b) == 0)) return true;
  fprintf(why, "%s:\n%s\nagainst:\n%s", what, a ? a : "(none)", b ? b : "(none)");
  return false;
}

static bool compare_failures(FILE *why, const tk_outcome *a, const tk_outcome *b) {
  if (!compare_text(why, "kind", a->kind_name, b->kind_name) || !compare_text(why, "message", a->message, b->message))
    return false;
  if (a->code != b->code) {
    fprintf(why, "code %" PRId64 " against %" PRId64, a->code, b->code);
    return false;
  }
  return compare_blocks(why, "payload field", a->payload, a->payload_count, b->payload, b->payload_count) &&
         compare_text(why, "trace", a->trace, b->trace) && compare_text(why, "text", a->text, b->text);
}

static bool compare(FILE *why, const tk_outcome *a, const tk_outcome *b) {
  if (a->status != b->status) {
    fprintf(why, "status %s (%s) against %s (%s)", arrjit_status_text(a->status), a->error.message,
            arrjit_status_text(b->status), b->error.message);
    return false;
  }
  if (!compare_text(why, "callback log", a->log, b->log)) return false;
  if (a->ok != b->ok) {
    fprintf(why, "%s against %s:\n%s", a->ok ? "ok" : "error", b->ok ? "ok" : "error", a->ok ? b->text : a->text);
    return false;
  }
  if (!a->ok) return compare_failures(why, a, b);
  return compare_blocks(why, "output", a->outputs, a->output_count, b->outputs, b->output_count);
}

bool tk_outcome_same(const tk_outcome *a, const tk_outcome *b, char **why) {
  tk_text text;
  tk_text_open(&text);
  bool same = compare(text.to, a, b);
  char *said = tk_text_close(&text);
  if (same || !why) {
    free(said);
  } else {
    *why = said;
  }
  return same;
}
