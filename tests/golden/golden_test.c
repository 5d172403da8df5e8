/* Golden files: .air text with "// RUN: ARGUMENTS" lines for the arrjit command, and what it prints after "// EXPECT:".
 *
 *   golden_test              all files, and what must hold of them together
 *   golden_test FILE.air     one file, relative to tests/golden
 *   golden_test --coverage   what must hold of them together
 *
 * RUN is shell text; the file's name is put behind it, or for %s in it. A run without --mode is done in every mode and
 * must print the same. Standard output and error are taken together; an exit status but 0 is a line "exit: N". A file
 * that parses is also printed, parsed and printed again, and so is its optimised form. ARRJIT_UPDATE_GOLDEN=1 rewrites
 * what is expected, never when CI=true. A file with the line "// NEEDS: lapack" is skipped where there is none. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "arrjit/arrjit.h"
#include "base.h"
#include "ir/op.h"
#include "sem/lapack.h"
#include "text/air.h"
#include "verify/verify.h"

#define EXPECT_LINE "// EXPECT:\n"

typedef struct list {
  char **names;
  size_t count;
} list;

static char *join(const char *a, const char *b, const char *c) {
  tk_text text;
  tk_text_open(&text);
  fprintf(text.to, "%s%s%s", a, b, c);
  return tk_text_close(&text);
}

static char *path_of(const char *name) { return join(TK_GOLDEN_DIR, "/", name); }

/* ---- finding files ---- */

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void find_files(list *files, const char *folder) {
  char *path = path_of(folder);
  DIR *dir = opendir(path);
  if (!dir) tk_die("%s cannot be read", path);
  for (struct dirent *entry; (entry = readdir(dir));) {
    size_t length = strlen(entry->d_name);
    char *name = join(folder, *folder ? "/" : "", entry->d_name);
    if (entry->d_type == DT_DIR && *entry->d_name != '.') find_files(files, name);
    if (length > 4 && !strcmp(entry->d_name + length - 4, ".air")) {
      files->names = tk_grow(files->names, files->count + 1, sizeof *files->names);
      files->names[files->count++] = name;
    } else {
      free(name);
    }
  }
  closedir(dir);
  free(path);
}

/* ---- running the command ---- */

static char *replace_file(const char *run, const char *name) {
  const char *place = strstr(run, "%s");
  if (!place) return join(run, " ", name);
  char *head = tk_copy(run, (size_t)(place - run) + 1);
  head[place - run] = 0;
  char *all = join(head, name, place + 2);
  free(head);
  return all;
}

static void run_command(const char *arguments, const char *extra, FILE *to) {
  tk_text command;
  tk_text_open(&command);
  fprintf(command.to, "cd '%s' && { '%s' ", TK_GOLDEN_DIR, TK_CLI);
  const char *space = strchr(arguments, ' ');
  size_t verb = space ? (size_t)(space - arguments) : strlen(arguments);
  fprintf(command.to, "%.*s %s%s\n} 2>&1", (int)verb, arguments, extra, arguments + verb);
  char *text = tk_text_close(&command);
  FILE *pipe = popen(text, "r");
  if (!pipe) tk_die("%s cannot be run", text);
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe));) fwrite(buffer, 1, got, to);
  int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status)) fprintf(to, "exit: %d\n", WEXITSTATUS(status));
  if (!WIFEXITED(status)) fprintf(to, "signal: %d\n", WTERMSIG(status));
  free(text);
}

static char *run_to_text(const char *arguments, const char *extra) {
  tk_text text;
  tk_text_open(&text);
  run_command(arguments, extra, text.to);
  return tk_text_close(&text);
}

/* One RUN line: its output. For a plain "run" that of every mode must be the first one's; else it is told. */
static void run_line(const char *run, const char *name, FILE *to) {
  static const char *const modes[] = {"--mode interp ", "--mode interp --option resume_everywhere=1 ", "--mode auto ",
#ifdef TK_NATIVE_MODULE
                                      "--mode whole --native '" TK_NATIVE_MODULE "' "
#endif
  };
  bool in_modes = !strncmp(run, "run", 3) && !strstr(run, "--mode");
  char *arguments = replace_file(run, name), *expected = run_to_text(arguments, in_modes ? modes[0] : "");
  fputs(expected, to);
  for (size_t i = 1; in_modes && i < TK_COUNT(modes); i++) {
    char *came = run_to_text(arguments, modes[i]);
    if (strcmp(came, expected) != 0) fprintf(to, "but with %s:\n%s", modes[i], came);
    free(came);
  }
  free(expected);
  free(arguments);
}

/* ---- the parts of a file ---- */

static char *run_all(const char *text, const char *name) {
  tk_text out;
  tk_text_open(&out);
  bool any = false;
  for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    if (!strncmp(line, EXPECT_LINE, strlen(EXPECT_LINE))) break;
    if (strncmp(line, "// RUN: ", 8) != 0) continue;
    size_t length = strcspn(line + 8, "\n");
    char *run = tk_copy(line + 8, length + 1);
    run[length] = 0;
    run_line(run, name, out.to);
    free(run);
    any = true;
  }
  if (!any) fputs("no RUN line\n", out.to);
  return tk_text_close(&out);
}

static const char *find_expect(const char *text) {
  const char *at = strstr(text, "\n" EXPECT_LINE);
  return at ? at + 1 : NULL;
}

/* Every line as a comment. */
static char *comment_out(const char *output) {
  tk_text text;
  tk_text_open(&text);
  for (const char *line = output; *line;) {
    size_t length = strcspn(line, "\n");
    fprintf(text.to, length ? "// %.*s\n" : "//\n", (int)length, line);
    line += length + (line[length] == '\n');
  }
  return tk_text_close(&text);
}

static bool may_update(void) {
  const char *update = getenv("ARRJIT_UPDATE_GOLDEN"), *ci = getenv("CI");
  return update && !strcmp(update, "1") && !(ci && !strcmp(ci, "true"));
}

static void update(const char *path, const char *text, size_t head, const char *expected) {
  FILE *file = fopen(path, "wb");
  if (!file) tk_die("%s cannot be written", path);
  fwrite(text, 1, head, file);
  fputs(EXPECT_LINE, file);
  fputs(expected, file);
  if (fclose(file)) tk_die("%s cannot be written", path);
}

/* ---- parse, print, parse, print ---- */

static char *print_function(arrjit_context *context, arrjit_function *function, arrjit_print_stage stage) {
  arrjit_error error;
  char *text;
  size_t bytes;
  if (arrjit_function_print(function, stage, &text, &bytes, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  char *copy = tk_copy(text, bytes + 1);
  arrjit_text_free(context, text, bytes);
  return copy;
}

/* The optimised form, which hosts cannot parse, is text of the same language, and well formed. */
static void check_optimised(const char *text) {
  const aj_air_limits limits = {.max_nodes = 1000000, .max_nesting = 1000, .max_const_bytes = 1 << 24};
  aj_mem mem;
  aj_mem_init(&mem, NULL);
  aj_kinds *kinds = aj_kinds_create(&mem);
  aj_module *module;
  arrjit_error error;
  aj_text printed;
  aj_text_init(&printed, &mem);
  if (aj_air_parse(&mem, kinds, text, strlen(text), "optimised", &limits, &module, &error) != ARRJIT_OK ||
      aj_verify(module, true, &error) != ARRJIT_OK)
    fail_msg("line %d of the optimised form: %s\n%s", error.line, error.message, text);
  aj_air_print(module, &printed);
  assert_string_equal(printed.data, text);
  aj_text_free(&printed);
  aj_module_destroy(module);
  aj_kinds_release(kinds);
}

static void check_round_trip(const char *text, size_t bytes, const char *name) {
  arrjit_context *context;
  arrjit_function *first, *second;
  arrjit_error error;
  assert_int_equal(arrjit_context_create(NULL, &context, &error), ARRJIT_OK);
  assert_int_equal(arrjit_context_set_option(context, ARRJIT_OPTION_VERIFY_PASSES, 1, &error), ARRJIT_OK);
  if (arrjit_function_parse(context, text, bytes, name, &first, &error) == ARRJIT_OK) {
    char *once = print_function(context, first, ARRJIT_PRINT_INPUT);
    if (arrjit_function_parse(context, once, strlen(once), "printed", &second, &error) != ARRJIT_OK)
      fail_msg("line %d of the printed form: %s\n%s", error.line, error.message, once);
    char *twice = print_function(context, second, ARRJIT_PRINT_INPUT);
    char *optimised = print_function(context, first, ARRJIT_PRINT_OPT);
    assert_string_equal(once, twice);
    check_optimised(optimised);
    free(once);
    free(twice);
    free(optimised);
    arrjit_function_release(first);
    arrjit_function_release(second);
  }
  assert_int_equal(arrjit_context_destroy(context), ARRJIT_OK);
}

/* ---- tests ---- */

static void update_file(const char *name) {
  size_t bytes;
  char *path = path_of(name), *text = tk_read_file(path, &bytes);
  assert_non_null(text);
  char *output = run_all(text, name), *came = comment_out(output);
  const char *expect = find_expect(text);
  update(path, text, expect ? (size_t)(expect - text) : bytes, came);
  free(output);
  free(came);
  free(text);
  free(path);
}

static bool can_run(const char *name) {
  size_t bytes;
  char *path = path_of(name), *text = tk_read_file(path, &bytes);
  bool needs = text && strstr(text, "\n// NEEDS: lapack\n");
  free(text);
  free(path);
  return !needs || aj_lapack_find(ARRJIT_F64);
}

static void test_file(void **state) {
  const char *name = *state;
  size_t bytes;
  if (!can_run(name)) skip();
  /* Twice: messages may name the line on which the file ends, which the first update moves. */
  for (int i = 0; i < 2 && may_update(); i++) update_file(name);
  char *path = path_of(name), *text = tk_read_file(path, &bytes);
  assert_non_null(text);
  const char *expect = find_expect(text);
  if (!expect) fail_msg("%s has no line %s", name, EXPECT_LINE);
  char *output = run_all(text, name), *came = comment_out(output);
  assert_string_equal(came, expect + strlen(EXPECT_LINE));
  check_round_trip(text, bytes, name);
  free(output);
  free(came);
  free(text);
  free(path);
}

static list all_files;

/* What all files expect, in one text. */
static char *all_expectations(void) {
  tk_text all;
  tk_text_open(&all);
  for (size_t i = 0; i < all_files.count; i++) {
    size_t bytes;
    char *path = path_of(all_files.names[i]), *text = tk_read_file(path, &bytes);
    const char *expect = text ? find_expect(text) : NULL;
    if (expect) fputs(expect, all.to);
    free(text);
    free(path);
  }
  return tk_text_close(&all);
}

/* A conversion of the template stands for any text within a line. */
static bool match_here(const char *template, const char *text) {
  for (; *template; template ++, text++) {
    if (*template == '%' && template[1] != '%') {
      template += strcspn(template + 1, "cdiouxXs") + 2;
      for (; *text && *text != '\n'; text++)
        if (match_here(template, text)) return true;
      return !*template;
    }
    template += *template == '%';
    if (*template != *text) return false;
  }
  return true;
}

static bool is_provoked(const char *template, const char *text) {
  for (; *text; text++)
    if (match_here(template, text)) return true;
  return false;
}

static void test_every_parser_message_is_provoked(void **state) {
  (void)state;
  char *all = all_expectations();
  size_t missing = 0;
  for (size_t i = 0; aj_air_message(i); i++)
    if (!is_provoked(aj_air_message(i), all))
      print_error("no golden file provokes: %s\n", aj_air_message(i)), missing++;
  free(all);
  assert_int_equal(missing, 0);
}

/* Those that no text can provoke are in tests/unit/verify_by_hand.def, each with a module broken by hand. */
static void test_every_verifier_message_is_provoked(void **state) {
  (void)state;
  static const struct {
    const char *id, *format;
  } messages[] = {
#define VERIFY_MESSAGE(ID, format) {#ID, format},
#include "verify/messages.def"
#undef VERIFY_MESSAGE
  };
  static const char by_hand[] =
#define BY_HAND(ID) " " #ID " "
#include "../unit/verify_by_hand.def"
#undef BY_HAND
      ;
  char *all = all_expectations();
  size_t missing = 0;
  for (size_t i = 0; i < TK_COUNT(messages); i++) {
    char *id = join(" ", messages[i].id, " ");
    if (!strstr(by_hand, id) && !is_provoked(messages[i].format, all))
      print_error("nothing provokes %s: %s\n", messages[i].id, messages[i].format), missing++;
    free(id);
  }
  free(all);
  assert_int_equal(missing, 0);
}

static void mark_ops(const aj_module *module, bool *seen) {
  for (size_t i = 0; i < module->funcs.count; i++) {
    aj_walk walk;
    aj_walk_start(&walk, module->funcs.data[i]);
    for (const aj_node *node; (node = aj_walk_next(&walk));) seen[node->op] = true;
  }
}

static void test_every_op_is_in_a_golden_file(void **state) {
  (void)state;
  bool seen[AJ_OP_COUNT] = {false};
  const aj_air_limits limits = {.max_nodes = 1000000, .max_nesting = 1000, .max_const_bytes = 1 << 24};
  aj_mem mem;
  aj_mem_init(&mem, NULL);
  for (size_t i = 0; i < all_files.count; i++) {
    size_t bytes;
    char *path = path_of(all_files.names[i]), *text = tk_read_file(path, &bytes);
    aj_kinds *kinds = aj_kinds_create(&mem);
    aj_module *module;
    assert_non_null(kinds);
    if (aj_air_parse(&mem, kinds, text, bytes, path, &limits, &module, NULL) == ARRJIT_OK) {
      mark_ops(module, seen);
      aj_module_destroy(module);
    }
    aj_kinds_release(kinds);
    free(text);
    free(path);
  }
  size_t missing = 0;
  for (int op = 1; op < AJ_OP_COUNT; op++)
    if (!seen[op] && !(aj_ops[op].flags & AJ_F_INTERNAL))
      print_error("no golden file has %s\n", aj_ops[op].name), missing++;
  assert_int_equal(missing, 0);
}

static const struct CMUnitTest coverage[] = {cmocka_unit_test(test_every_parser_message_is_provoked),
                                             cmocka_unit_test(test_every_verifier_message_is_provoked),
                                             cmocka_unit_test(test_every_op_is_in_a_golden_file)};

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : NULL;
  bool whole = !only || !strcmp(only, "--coverage");
  find_files(&all_files, "");
  qsort(all_files.names, all_files.count, sizeof *all_files.names, compare_names);
  struct CMUnitTest *tests = tk_new(all_files.count + TK_COUNT(coverage), sizeof *tests);
  size_t count = 0;
  for (size_t i = 0; i < all_files.count; i++)
    if (!only || !strcmp(only, all_files.names[i]))
      tests[count++] = (struct CMUnitTest){all_files.names[i], test_file, NULL, NULL, all_files.names[i]};
  for (size_t i = 0; whole && i < TK_COUNT(coverage); i++) tests[count++] = coverage[i];
  if (!count) tk_die("no golden file is called %s", only);
  int failed = _cmocka_run_group_tests("golden", tests, count, NULL, NULL);
  for (size_t i = 0; i < all_files.count; i++) free(all_files.names[i]);
  free(all_files.names);
  free(tests);
  return failed != 0;
}
