/* arrjit-conformance --mode MODE [--inputs constants] [--least N] [--json OUT] FILE...: runs the cases of
 * neutral-format files through the public API and tells the failed ones, and the skipped ones by reason. Inputs are
 * parameters, or constants, which must make no difference. A file with a case that failed, or with fewer than N that
 * passed, makes it exit 1; bad usage or input 2. */
#include "corpus.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct report {
  corpus_run run;
  corpus_case *reader;
  int64_t counts[3];
  json_t *not_passed; /* array of {name, verdict, why} */
  json_t *skipped;    /* by reason: how many */
} report;

static const struct {
  const char *prefix;
  corpus_case *reader;
} readers[] = {{"wasm_numeric", corpus_wasm_numeric},
               {"wasm_exceptions", corpus_wasm_exceptions},
               {"stablehlo_", corpus_stablehlo},
               {"iree_stablehlo", corpus_stablehlo},
               {"umath", corpus_umath},
               {"onnx_", corpus_onnx},
               {"nx_", corpus_nx}};

corpus_case *corpus_reader(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  for (size_t i = 0; i < TK_COUNT(readers); i++)
    if (strncmp(base, readers[i].prefix, strlen(readers[i].prefix)) == 0) return readers[i].reader;
  return NULL;
}

verdict corpus_say(corpus_run *run, verdict answer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(run->why, sizeof run->why, format, args);
  va_end(args);
  return answer;
}

bool corpus_execute(corpus_run *run, arrjit_function *function, size_t count, arrjit_array *const *inputs,
                    tk_outcome *out) {
  tk_call call = {.input_count = count, .inputs = inputs};
  tk_run_mode(run->context, function, run->mode, &call, out);
  if (out->status != ARRJIT_OK) {
    corpus_say(run, FAILED, "run: %s: %s", arrjit_status_text(out->status), out->error.message);
    return false;
  }
  if (run->mode != TK_WHOLE) return true;
  arrjit_function_statistics s;
  arrjit_function_get_statistics(function, &s);
  run->fallback += s.fallback_nodes;
  run->interpreted += s.interpreted_nodes;
  if (!out->native) corpus_say(run, FAILED, "no native code ran");
  return out->native;
}

static bool is_exact_nan(const json_t *check, size_t index) {
  const json_t *list = json_object_get(check, "exact_nan");
  for (size_t i = 0; i < json_array_size(list); i++)
    if (json_integer_value(json_array_get(list, i)) == (json_int_t)index) return true;
  return false;
}

bool corpus_match_bits(corpus_run *run, const json_t *check, const tk_block *got) {
  const json_t *tensor = json_object_get(check, "want");
  tk_block want;
  if (!tk_tensor_read(tensor, &want, run->why, sizeof run->why)) return false;
  size_t width = arrjit_dtype_bytes(want.type.dtype), count = tk_type_count(&want.type);
  bool same = want.type.dtype == got->type.dtype && want.type.rank == got->type.rank && want.bytes == got->bytes &&
              memcmp(want.type.dims, got->type.dims, (size_t)want.type.rank * sizeof(int64_t)) == 0;
  if (!same) {
    tk_text text;
    tk_text_open(&text);
    tk_print_type(text.to, &got->type);
    fputs(" where expected was ", text.to);
    tk_print_type(text.to, &want.type);
    char *said = tk_text_close(&text);
    corpus_say(run, FAILED, "%s", said);
    free(said);
  }
  for (size_t i = 0; same && i < count; i++) {
    const unsigned char *a = want.data + i * width, *b = got->data + i * width;
    if (memcmp(a, b, width) == 0) continue;
    if (tk_element_is_any_nan(tensor, i) && !is_exact_nan(check, i) && tk_is_nan(want.type.dtype, b)) continue;
    same = false;
    tk_text text;
    tk_text_open(&text);
    fprintf(text.to, "lane %zu: ", i);
    tk_print_element(text.to, want.type.dtype, b);
    fputs(" where expected was ", text.to);
    tk_print_element(text.to, want.type.dtype, a);
    char *said = tk_text_close(&text);
    corpus_say(run, FAILED, "%s", said);
    free(said);
  }
  free(want.data);
  return same;
}

static bool run_case(void *user, size_t line, const json_t *one) {
  static const char *const words[] = {"passed", "failed", "skipped"};
  report *r = user;
  const char *name = json_string_value(json_object_get(one, "name"));
  r->run.why[0] = 0;
  verdict v = r->reader(&r->run, one);
  r->counts[v]++;
  if (v == PASSED) return true;
  if (v == FAILED) printf("  failed %s (line %zu): %s\n", name ? name : "?", line, r->run.why);
  if (v == SKIPPED) {
    json_int_t before = json_integer_value(json_object_get(r->skipped, r->run.why));
    json_object_set_new(r->skipped, r->run.why, json_integer(before + 1));
  }
  json_array_append_new(
      r->not_passed, json_pack("{s:s, s:s, s:s}", "name", name ? name : "?", "verdict", words[v], "why", r->run.why));
  return true;
}

static void print_skipped(json_t *skipped) {
  const char *why;
  json_t *count;
  json_object_foreach(skipped, why, count)
      printf("  skipped %" JSON_INTEGER_FORMAT ": %s\n", json_integer_value(count), why);
}

typedef struct options {
  tk_mode mode;
  bool constants;
  int64_t least;
  const char *json_path;
} options;

static int run_file(const options *with, const char *path, json_t *all) {
  report r = {.reader = corpus_reader(path),
              .run = {.mode = with->mode, .constants = with->constants},
              .not_passed = json_array(),
              .skipped = json_object()};
  if (!r.reader) tk_die("%s: no reader for a corpus of this name", path);
  r.run.context = tk_context(NULL);
  char *why = NULL;
  bool read = tk_json_lines(path, run_case, &r, &why);
  if (!read) fprintf(stderr, "%s\n", why);
  free(why);
  print_skipped(r.skipped);
  json_decref(r.skipped);
  printf("%s: %" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped", path, r.counts[PASSED], r.counts[FAILED],
         r.counts[SKIPPED]);
  if (with->mode == TK_WHOLE) printf("; fallback %" PRId64 ", interpreted %" PRId64, r.run.fallback, r.run.interpreted);
  putchar('\n');
  json_array_append_new(all, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "file", path, "mode",
                                       tk_mode_name(with->mode), "passed", (json_int_t)r.counts[PASSED], "failed",
                                       (json_int_t)r.counts[FAILED], "skipped", (json_int_t)r.counts[SKIPPED],
                                       "fallback", (json_int_t)r.run.fallback, "interpreted",
                                       (json_int_t)r.run.interpreted, "not_passed", r.not_passed));
  if (arrjit_context_destroy(r.run.context) != ARRJIT_OK) tk_die("the context is still in use");
  bool few = r.counts[PASSED] < with->least;
  if (few) printf("fewer than %" PRId64 " passed\n", with->least);
  return !read ? 2 : r.counts[FAILED] > 0 || few;
}

int main(int argc, char **argv) {
  static const char usage[] = "usage: arrjit-conformance --mode interp|resume|whole|auto "
                              "[--inputs constants] [--least N] [--json OUT] FILE...";
  options with = {.mode = TK_MODES};
  int at = 1, worst = 0;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    if (strcmp(argv[at], "--mode") == 0) {
      with.mode = tk_mode_find(argv[at + 1]);
    } else if (strcmp(argv[at], "--inputs") == 0 && strcmp(argv[at + 1], "constants") == 0) {
      with.constants = true;
    } else if (strcmp(argv[at], "--json") == 0) {
      with.json_path = argv[at + 1];
    } else if (strcmp(argv[at], "--least") == 0) {
      with.least = strtoll(argv[at + 1], NULL, 10);
    } else {
      tk_die("%s", usage);
    }
  }
  if (with.mode == TK_MODES || at >= argc) tk_die("%s", usage);
  if (!tk_mode_exists(with.mode)) tk_die("this build has no native code");
  json_t *all = json_array();
  for (; at < argc; at++) {
    int status = run_file(&with, argv[at], all);
    if (status > worst) worst = status;
  }
  if (with.json_path && json_dump_file(all, with.json_path, JSON_INDENT(1)) != 0)
    tk_die("cannot write %s", with.json_path);
  json_decref(all);
  return worst;
}
