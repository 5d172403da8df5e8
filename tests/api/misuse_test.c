/* Misuse of every exported function: a status, a null value or nothing, a message that names what was wrong, no crash,
 * no leak. The rows are in misuse_*.c; see misuse.h. */
#include "misuse.h"

#include <ctype.h>
#include <dirent.h>

/* ---- rows ---- */

static void note_name(misuse *m, const char *name) {
  for (size_t i = 0; i < m->name_count; i++)
    if (strcmp(m->names[i], name) == 0) return;
  if (m->name_count == m->name_capacity) {
    m->name_capacity = 2 * m->name_capacity + 64;
    m->names = tk_grow(m->names, m->name_capacity, sizeof *m->names);
  }
  m->names[m->name_count++] = name;
}

/* Bytes that no call would write by chance. */
static misuse_outs untouched(void) {
  misuse_outs outs;
  memset(&outs, 0x5a, sizeof outs);
  return outs;
}

void misuse_begin(misuse *m, const char *function, const char *argument, const char *how) {
  m->name = function;
  m->argument = argument;
  m->how = how;
  m->rows++;
  m->outs = untouched();
  note_name(m, function);
}

arrjit_error *misuse_record(misuse *m, int round) {
  memset(&m->error, 0x5a, sizeof m->error);
  return round ? &m->error : NULL;
}

__attribute__((format(printf, 2, 3))) static void fail_row(misuse *m, const char *format, ...) {
  char text[700];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  print_error("%s, %s %s: %s\n", m->name, m->argument, m->how, text);
  m->failed++;
}

static void check_message(misuse *m, arrjit_status got, const char *part) {
  const arrjit_error *error = &m->error;
  if (error->status != got)
    fail_row(m, "the record's status is %d, not %d", (int)error->status, (int)got);
  else if (!memchr(error->message, 0, sizeof error->message))
    fail_row(m, "the message does not end");
  else if (!strstr(error->message, part))
    fail_row(m, "the message is '%s', without '%s'", error->message, part);
}

void misuse_refused(misuse *m, arrjit_status got, arrjit_status want, const char *part) {
  misuse_outs outs = untouched();
  if (got != want)
    fail_row(m, "status '%s', not '%s'", arrjit_status_text(got), arrjit_status_text(want));
  else if (part)
    check_message(m, got, part);
  if (memcmp(&outs, &m->outs, sizeof outs) != 0) fail_row(m, "an out-parameter was written");
  m->outs = outs;
}

void misuse_gives(misuse *m, bool holds, const char *expression) {
  if (!holds) fail_row(m, "does not hold: %s", expression);
}

/* ---- graphs to build rows in ---- */

static void make_ended(arrjit_graph *g, misuse_parts *p) {
  arrjit_if_begin(g, p->flag);
  p->ended = arrjit_neg(g, p->real);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
}

arrjit_graph *misuse_graph(misuse *m) {
  arrjit_graph *g = tk_graph(m->f);
  misuse_parts *p = &m->parts;
  arrjit_type real = TYPE(F64);
  *p = (misuse_parts){
      .flag = PARAM(g, "flag", BOOL), .integer = PARAM(g, "integer", I64), .real = PARAM(g, "real", F64)};
  p->vector = PARAM(g, "vector", F64, 3);
  p->matrix = PARAM(g, "matrix", F64, 2, 3);
  p->five = PARAM(g, "five", F64, 5);
  p->pair = PARAM(g, "pair", C128);
  p->integers = PARAM(g, "integers", I64, 3);
  p->flags = PARAM(g, "flags", BOOL, 3);
  p->exn = arrjit_exn_new(g, ARRJIT_KIND_RUNTIME, 1, "an exception", 0, NULL);
  p->foreign = m->other_real;
  p->foreign_integer = m->other_integer;
  make_ended(g, p);
  p->twice = arrjit_declare(g, "twice", 1, &real, 1, &real);
  arrjit_define(g, p->twice, &p->elsewhere);
  RETURN(g, arrjit_add(g, p->elsewhere, p->elsewhere));
  p->say = arrjit_slot_io(g, "say", 1, &real, 0);
  p->ask = arrjit_slot_value(g, "ask", 1, &real, 1, &real, 0);
  arrjit_error error;
  if (arrjit_graph_error(g, &error) != ARRJIT_OK) fail_row(m, "the graph to build in is bad: %s", error.message);
  return g;
}

void misuse_finish(misuse *m, arrjit_graph *graph, bool closed, arrjit_status want, const char *part) {
  arrjit_error before;
  arrjit_status early = arrjit_graph_error(graph, &before);
  if (!closed) arrjit_return(graph, 0, NULL, NULL);
  (void)misuse_record(m, 1);
  arrjit_status got = arrjit_graph_finish(graph, &m->outs.function, &m->error);
  if (got == ARRJIT_OK) {
    arrjit_function_release(m->outs.function);
    m->outs = untouched();
  }
  if (early != ARRJIT_OK && (early != got || strcmp(before.message, m->error.message) != 0))
    fail_row(m, "the first error was '%s', the one reported is '%s'", before.message, m->error.message);
  misuse_refused(m, got, want, part);
  if ((arrjit_const_f64)(graph, 1)) fail_row(m, "the graph builds on after an error");
  arrjit_graph_destroy(graph);
}

/* ---- what rows stand on ---- */

static void make_other(misuse *m) {
  m->other = tk_graph(m->f);
  m->other_real = PARAM(m->other, "x", F64);
  m->other_integer = PARAM(m->other, "i", I64);
}

static void make_function(misuse *m) {
  arrjit_graph *g = tk_graph(m->f);
  arrjit_type real = TYPE(F64);
  arrjit_value x = PARAM(g, "x", F64, 3), first[1];
  arrjit_slot say = arrjit_slot_io(g, "say", 1, &real, ARRJIT_SLOT_OPTIONAL);
  arrjit_value one = arrjit_reduce_max(g, x, ARRJIT_ALL_AXES, NULL);
  CALLBACK(g, say, first, one);
  CHECK(g, arrjit_ge(g, first[0], arrjit_const_f64(g, 0)), ARRJIT_KIND_RUNTIME, 3, "{0} is negative", LIST(one), first,
        one);
  RETURN(g, arrjit_add(g, x, x));
  m->function = tk_finish(m->f, g);
}

static arrjit_result *run(misuse *m, arrjit_array *x) {
  arrjit_result *result = NULL;
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_INTERP};
  if (arrjit_run(m->function, &options, 1, &x, &result, &m->error) != ARRJIT_OK)
    fail_msg("no run: %s", m->error.message);
  return result;
}

static misuse *begin_table(tk_fixture *f) {
  misuse *m = tk_new(1, sizeof *m);
  m->f = f;
  m->name = m->argument = m->how = "set-up";
  m->array = ARRAY(f, F64, 1, 2, 3);
  make_other(m);
  make_function(m);
  m->good = run(m, m->array);
  m->bad = run(m, ARRAY(f, F64, -1, -2, -3));
  return m;
}

static void end_table(misuse *m) {
  arrjit_result_destroy(m->good);
  arrjit_result_destroy(m->bad);
  arrjit_graph_destroy(m->other);
  free(m->names);
  free(m);
}

static void run_part(void **state, void (*part)(misuse *)) {
  misuse *m = begin_table(*state);
  part(m);
  size_t failed = m->failed, rows = m->rows;
  end_table(m);
  if (failed) fail_msg("%zu of %zu rows do not hold", failed, rows);
}

static void test_misuse_of_contexts(void **state) { run_part(state, misuse_contexts); }
static void test_misuse_of_arrays(void **state) { run_part(state, misuse_arrays); }
static void test_misuse_of_values(void **state) { run_part(state, misuse_values); }
static void test_misuse_of_constructs(void **state) { run_part(state, misuse_constructs); }
static void test_misuse_of_failures(void **state) { run_part(state, misuse_failures); }
static void test_misuse_of_elementwise(void **state) { run_part(state, misuse_elementwise); }
static void test_misuse_of_operations(void **state) { run_part(state, misuse_operations); }
static void test_misuse_of_compositions(void **state) { run_part(state, misuse_compositions); }
static void test_misuse_of_products(void **state) { run_part(state, misuse_products); }
static void test_misuse_of_random_numbers(void **state) { run_part(state, misuse_random); }
static void test_misuse_of_functions(void **state) { run_part(state, misuse_functions); }
static void test_misuse_of_runs(void **state) { run_part(state, misuse_runs); }
static void test_misuse_of_results(void **state) { run_part(state, misuse_results); }
static void test_misuse_of_runners(void **state) { run_part(state, misuse_runners); }
static void test_misuse_of_closures(void **state) { run_part(state, misuse_closures); }
static void test_misuse_of_slots(void **state) { run_part(state, misuse_slots); }

/* ---- completeness ---- */

static bool is_named(size_t count, char *const *names, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

/* The identifier before the first parenthesis after ARRJIT_API, when it is one of ours: a function. */
static char *declared_after(const char *at) {
  const char *open = strchr(at, '(');
  while (open && open > at && isspace((unsigned char)open[-1])) open--;
  const char *start = open;
  while (start && start > at && (isalnum((unsigned char)start[-1]) || start[-1] == '_')) start--;
  if (!start || strncmp(start, "arrjit_", 7) != 0) return NULL;
  return tk_copy(start, (size_t)(open - start));
}

static void read_header(const char *path, size_t *count, char ***names) {
  char *text = tk_read_file(path, NULL);
  if (!text) fail_msg("%s cannot be read", path);
  for (const char *at = text; (at = strstr(at, "ARRJIT_API"));) {
    at += strlen("ARRJIT_API");
    char *name = declared_after(at);
    if (!name) continue;
    *names = tk_grow(*names, *count + 1, sizeof **names);
    (*names)[(*count)++] = name;
  }
  free(text);
}

static void read_headers(const char *folder, size_t *count, char ***names) {
  DIR *dir = opendir(folder);
  if (!dir) fail_msg("%s cannot be read", folder);
  for (struct dirent *entry; (entry = readdir(dir));) {
    char path[1200];
    size_t length = strlen(entry->d_name);
    if (length < 2 || strcmp(entry->d_name + length - 2, ".h") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    read_header(path, count, names);
  }
  closedir(dir);
}

static void test_misuse_table_names_every_function(void **state) {
  misuse *m = begin_table(*state);
  void (*const parts[])(misuse *) = {misuse_contexts, misuse_arrays,      misuse_values,     misuse_constructs,
                                     misuse_failures, misuse_elementwise, misuse_operations, misuse_compositions,
                                     misuse_products, misuse_random,      misuse_functions,  misuse_runs,
                                     misuse_results,  misuse_runners,     misuse_closures,   misuse_slots};
  for (size_t i = 0; i < TK_COUNT(parts); i++) parts[i](m);
  size_t count = 0, wrong = 0;
  char **names = NULL;
  read_headers(TK_SOURCE_DIR "/../include/arrjit", &count, &names);
  read_headers(TK_BINARY_DIR "/include/arrjit", &count, &names);
  for (size_t i = 0; i < count; i++) {
    bool found = false;
    for (size_t k = 0; k < m->name_count && !found; k++) found = strcmp(m->names[k], names[i]) == 0;
    if (!found) print_error("%s has no row\n", names[i]), wrong++;
  }
  for (size_t k = 0; k < m->name_count; k++)
    if (!is_named(count, names, m->names[k])) print_error("%s is in no header\n", m->names[k]), wrong++;
  print_message("%zu rows of misuse, %zu functions\n", m->rows, count);
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
  end_table(m);
  if (wrong || count < 100) fail_msg("%zu functions differ between table and headers, which have %zu", wrong, count);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_misuse_of_contexts),
    TK_TEST(test_misuse_of_arrays),
    TK_TEST(test_misuse_of_values),
    TK_TEST(test_misuse_of_constructs),
    TK_TEST(test_misuse_of_failures),
    TK_TEST(test_misuse_of_elementwise),
    TK_TEST(test_misuse_of_operations),
    TK_TEST(test_misuse_of_compositions),
    TK_TEST(test_misuse_of_random_numbers),
    TK_TEST(test_misuse_of_products),
    TK_TEST(test_misuse_of_functions),
    TK_TEST(test_misuse_of_runs),
    TK_TEST(test_misuse_of_results),
    TK_TEST(test_misuse_of_runners),
    TK_TEST(test_misuse_of_closures),
    TK_TEST(test_misuse_of_slots),
    TK_TEST(test_misuse_table_names_every_function),
};

TEST_MAIN(tests, NULL, NULL)
