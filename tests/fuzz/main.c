/* arrjit-fuzz --seed S --count N [--from K] [--mode-set interp,resume,whole,auto] [--flip OP] [--out FOLDER]
 * [--no-shrink] Random functions must show the same in every mode: tag, kind, code, payload, message, trace, callback
 * log, outputs; native code is made for the CPU at hand or a lesser one; and printing, parsing, printing them must give
 * the same text. The first function that does not is shrunk and written to the folder as .air. --seeds FILE runs the
 * lines "seed from count" of a file instead. With
 * --flip one op's native lowering is made wrong, to see that it is found. Exit 1 when one was found. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"

typedef struct fuzz {
  arrjit_context *context;
  fuzz_kinds kinds;
  bool modes[TK_MODES];
  coverage coverage;
} fuzz;

static char *say(const char *what, const char *more) {
  tk_text text;
  tk_text_open(&text);
  fprintf(text.to, "%s: %s", what, more);
  return tk_text_close(&text);
}

/* NULL: fine; else what is wrong. *out_text (may be NULL) is the function's text. */
static char *check_text(fuzz *f, const subject *s, char **out_text) {
  arrjit_function *again = NULL;
  arrjit_error error;
  char *first = NULL, *second = NULL, *why = NULL;
  size_t first_bytes = 0, second_bytes = 0;
  if (arrjit_function_print(s->function, ARRJIT_PRINT_INPUT, &first, &first_bytes, &error) != ARRJIT_OK)
    return say("print", error.message);
  if (out_text) *out_text = tk_copy(first, first_bytes);
  if (arrjit_function_parse(f->context, first, first_bytes, "fuzz.air", &again, &error) != ARRJIT_OK) {
    why = say("parse", error.message);
  } else if (arrjit_function_print(again, ARRJIT_PRINT_INPUT, &second, &second_bytes, &error) != ARRJIT_OK) {
    why = say("print again", error.message);
  } else if (first_bytes != second_bytes || memcmp(first, second, first_bytes) != 0) {
    why = say("parsed and printed again it is", second);
  }
  arrjit_function_release(again);
  arrjit_text_free(f->context, first, first_bytes);
  if (second) arrjit_text_free(f->context, second, second_bytes);
  return why;
}

/* The level of the option isa that a recipe's native code is made for: mostly the CPU at hand. */
static int64_t choose_isa(const recipe *r) {
  int64_t draw = (int64_t)(r->seed >> 32 & 7), levels = tk_isa_levels();
  return draw > levels ? 0 : draw;
}

static char *check_native(const subject *s, const tk_outcome *o) {
  arrjit_function_statistics statistics;
  arrjit_function_get_statistics(s->function, &statistics);
  bool unbegun = !o->ok && o->kind == ARRJIT_KIND_SHAPE && !*o->path; /* an extent that cannot be */
  if (o->status == ARRJIT_OK && !o->native && !unbegun) return say("whole", "no native code ran");
  return statistics.interpreted_nodes ? say("whole", "nodes were left to the interpreter") : NULL;
}

/* Runs in every mode of the set against interp. */
static char *check_runs(fuzz *f, subject *s, tk_outcome *first) {
  tk_call call = {.input_count = s->input_count, .inputs = s->inputs, .slot_count = s->slot_count, .slots = s->slots};
  tk_run_mode(f->context, s->function, TK_INTERP, &call, first);
  if (first->status != ARRJIT_OK) return say("run", first->error.message);
  char *why = NULL;
  for (tk_mode mode = TK_RESUME; mode < TK_MODES && !why; mode++) {
    tk_outcome other;
    char *difference = NULL;
    if (!f->modes[mode] || !tk_mode_exists(mode)) continue;
    tk_run_mode(f->context, s->function, mode, &call, &other);
    if (!tk_outcome_same(first, &other, &difference)) {
      tk_text text;
      tk_text_open(&text);
      fprintf(text.to, "interp against %s, isa %" PRId64 ": %s", tk_mode_name(mode),
              arrjit_context_get_option(f->context, ARRJIT_OPTION_ISA), difference);
      why = tk_text_close(&text);
    } else if (mode == TK_WHOLE) {
      why = check_native(s, &other);
    }
    f->coverage.compared++;
    free(difference);
    tk_outcome_free(&other);
  }
  return why;
}

static void count(coverage *c, const subject *s, const tk_outcome *o, const char *text) {
  c->functions++;
  c->failing += !o->ok;
  c->callbacks += o->log && o->log[0];
  c->zero += s->has_zero, c->one += s->has_one, c->odd += s->has_odd;
  for (int i = 0; i < FEATURES; i++) c->features[i] += s->features >> i & 1;
  c->linked += o->text && (strstr(o->text, "caused by: ") || strstr(o->text, "while handling: "));
  coverage_count_text(c, text);
}

/* Builds and checks one recipe; NULL when all is well, else what is wrong, with the text of the function in *out_text.
 */
static char *check(fuzz *f, const recipe *r, char **out_text, bool counted, size_t *out_outputs) {
  subject s;
  tk_outcome o = {0};
  char *text = NULL;
  subject_build(f->context, &f->kinds, r, &s);
  if (!s.function) {
    char *why = say("refused", s.error.message);
    subject_free(&s);
    return why;
  }
  if (out_outputs) *out_outputs = s.output_count;
  if (arrjit_context_set_option(f->context, ARRJIT_OPTION_ISA, choose_isa(r), NULL) != ARRJIT_OK)
    tk_die("no such level");
  f->coverage.lesser += choose_isa(r) != 0 && counted;
  char *why = check_text(f, &s, &text);
  if (!why) why = check_runs(f, &s, &o);
  if (counted && text) count(&f->coverage, &s, &o, text);
  if (out_text) {
    *out_text = text;
  } else {
    free(text);
  }
  tk_outcome_free(&o);
  subject_free(&s);
  return why;
}

/* Whether it is still wrong, in the same way: a refusal does not stand for a difference. */
static bool still_wrong(fuzz *f, const recipe *r, bool refused) {
  char *why = check(f, r, NULL, false, NULL);
  bool same = why && (strncmp(why, "refused", 7) == 0) == refused;
  free(why);
  return same;
}

/* Leaves out runs of steps, ever shorter, as long as it stays wrong; then parameters' worth of outputs. */
static recipe shrink(fuzz *f, recipe r, bool refused) {
  bool progress = true;
  for (size_t chunk = r.step_count; chunk > 0; chunk = progress ? chunk : chunk / 2) {
    progress = false;
    for (size_t from = 0; chunk <= r.step_count && from + chunk <= r.step_count;) {
      recipe less = recipe_without(&r, from, chunk);
      if (still_wrong(f, &less, refused)) {
        free(r.steps);
        r = less;
        progress = true;
      } else {
        free(less.steps);
        from += chunk;
      }
    }
  }
  for (int k = 0; k < 6; k++) {
    recipe single = r;
    single.only_output = k;
    if (still_wrong(f, &single, refused)) return single;
  }
  return r;
}

static void write_found(const char *folder, uint64_t seed, uint64_t number, const char *why, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/fuzz-%" PRIu64 "-%" PRIu64 ".air", folder, seed, number);
  FILE *file = fopen(path, "w");
  if (!file) tk_die("cannot write %s", path);
  fputs("// ", file);
  for (const char *p = why; *p; p++) fputs(*p == '\n' ? "\n// " : (char[]){*p, 0}, file);
  fprintf(file, "\n%s", text ? text : "");
  if (fclose(file)) tk_die("cannot write %s", path);
  printf("written: %s\n", path);
}

typedef struct arguments {
  uint64_t seed, count, from;
  const char *folder, *flip, *mode_set, *seeds;
  bool keep;
} arguments;

/* Reports, shrinks and writes one recipe that is wrong. */
static void found(fuzz *f, const arguments *a, uint64_t number, recipe r, char *why) {
  printf("function %" PRIu64 " of seed %" PRIu64 ": %s\n", number, a->seed, why);
  bool refused = strncmp(why, "refused", 7) == 0;
  recipe small = r;
  small.steps = tk_copy(r.steps, r.step_count * sizeof *r.steps);
  if (!a->keep) small = shrink(f, small, refused);
  char *text = NULL, *still = check(f, &small, &text, false, NULL);
  printf("shrunk from %zu steps to %zu: %s\n%s", r.step_count, small.step_count, still ? still : "?", text ? text : "");
  if (a->folder) write_found(a->folder, a->seed, number, still ? still : why, text);
  free(still);
  free(text);
  free(small.steps);
}

static bool read_arguments(int argc, char **argv, arguments *a) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--shrink") == 0) continue; /* it always does */
    if (strcmp(argv[i], "--no-shrink") == 0) {
      a->keep = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const char *name = argv[i], *value = argv[++i];
    if (strcmp(name, "--seed") == 0)
      a->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--count") == 0)
      a->count = strtoull(value, NULL, 10);
    else if (strcmp(name, "--from") == 0)
      a->from = strtoull(value, NULL, 10);
    else if (strcmp(name, "--out") == 0)
      a->folder = value;
    else if (strcmp(name, "--flip") == 0)
      a->flip = value;
    else if (strcmp(name, "--seeds") == 0)
      a->seeds = value;
    else if (strcmp(name, "--mode-set") == 0)
      a->mode_set = value;
    else
      return false;
  }
  return true;
}

static void set_modes(fuzz *f, const char *set) {
  for (const char *p = set; *p;) {
    char word[16];
    size_t length = strcspn(p, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, p);
    tk_mode mode = tk_mode_find(word);
    if (mode == TK_MODES) tk_die("no mode '%s'", word);
    f->modes[mode] = true;
    p += length + (p[length] == ',');
  }
}

static void set_flip(fuzz *f, const char *name) {
  for (aj_op op = (aj_op)(AJ_OP_NONE + 1); op < AJ_OP_COUNT; op++) {
    if (strcmp(aj_ops[op].name, name) != 0) continue;
    if (arrjit_context_set_option(f->context, ARRJIT_OPTION_FLIP_LOWERING, (int64_t)op + 1, NULL) != ARRJIT_OK)
      tk_die("the option is refused");
    return;
  }
  tk_die("no op '%s'", name);
}

/* Gives the number of functions that were wrong. */
static int64_t run_range(fuzz *f, const arguments *a) {
  int64_t wrong = 0;
  for (uint64_t number = a->from; number < a->from + a->count && wrong < (a->flip ? 1 : 5); number++) {
    recipe r = recipe_make(a->seed, number);
    char *why = check(f, &r, NULL, true, NULL);
    if (why) found(f, a, number, r, why), wrong++;
    free(why);
    free(r.steps);
  }
  printf("seed %" PRIu64 ": %" PRIu64 " functions, %" PRId64 " wrong\n", a->seed, a->count, wrong);
  return wrong;
}

/* Lines "seed from count"; "#" begins a remark. */
static int64_t run_file(fuzz *f, const arguments *a) {
  char line[200];
  int64_t wrong = 0;
  FILE *file = fopen(a->seeds, "r");
  if (!file) tk_die("cannot read %s", a->seeds);
  while (fgets(line, sizeof line, file)) {
    arguments one = *a;
    if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &one.seed, &one.from, &one.count) == 3) {
      wrong += run_range(f, &one);
    } else if (line[0] != '#' && line[0] != '\n') {
      tk_die("%s: not of the form \"seed from count\": %s", a->seeds, line);
    }
  }
  fclose(file);
  return wrong;
}

int main(int argc, char **argv) {
  arguments a = {.seed = 1, .count = 1000, .mode_set = "interp,resume,whole,auto"};
  fuzz f = {.context = tk_context(NULL)};
  if (!read_arguments(argc, argv, &a))
    tk_die("usage: arrjit-fuzz [--seed S] [--count N] [--from K] [--seeds FILE] [--mode-set LIST] [--flip OP] "
           "[--out FOLDER] [--no-shrink]");
  setvbuf(stdout, NULL, _IOLBF, 0);
  fuzz_add_kinds(f.context, &f.kinds);
  /* code for a lesser CPU has larger frames: with many of them allowed, it would not be run for fear of the stack */
  if (arrjit_context_set_option(f.context, ARRJIT_OPTION_MAX_DEPTH, 250, NULL) != ARRJIT_OK) tk_die("no such depth");
  set_modes(&f, a.mode_set);
  if (a.flip) set_flip(&f, a.flip);
  int64_t wrong = a.seeds ? run_file(&f, &a) : run_range(&f, &a);
  bool covered = coverage_report(&f.coverage, !a.flip && !a.seeds && a.count >= 10000 && !wrong);
  if (arrjit_context_destroy(f.context) != ARRJIT_OK) tk_die("the context is still in use");
  return wrong || !covered;
}
