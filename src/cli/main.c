/* arrjit, the command: runs, checks and prints .air files. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char usage[] =
    "usage: arrjit COMMAND ...\n"
    "  run FILE.air [--mode auto|interp|whole] [--arg NAME=VALUE]... [--bind SLOT=VALUE]...\n"
    "               [--full] [--stats] [--time] [--native MODULE]\n"
    "        VALUE: 3.5, [1, 2, 3], [[1, 2], [3, 4]], @file.npy or @file.csv:COLUMN\n"
    "        callbacks print their arguments; one with results gives VALUE, or fails for \"!message\"\n"
    "  check FILE.air                  parse and verify\n"
    "  print [--stage input|opt|llvm|asm] [--native MODULE] FILE.air\n"
    "  dot FILE.air                    for Graphviz\n"
    "  ops [NAME]                      what ops there are\n"
    "  MODULE: file of the native code generator, where it is not installed beside the library\n"
    "exit status: 0 ok, 1 the function failed, 2 bad usage or input\n";

int cli_bad(const char *format, ...) {
  va_list args;
  fflush(stdout);
  fputs("arrjit: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return CLI_BAD;
}

char *cli_read_file(const char *path, size_t *out_bytes) {
  FILE *file = fopen(path, "rb");
  char *data = NULL;
  size_t count = 0, capacity = 0;
  if (!file) return cli_bad("%s: %s", path, strerror(errno)), NULL;
  for (;;) {
    if (capacity - count < 2) {
      capacity = capacity ? capacity * 2 : 4096;
      char *grown = realloc(data, capacity);
      if (!grown) break;
      data = grown;
    }
    size_t got = fread(data + count, 1, capacity - count - 1, file);
    if (!got) break;
    count += got;
  }
  bool ok = data && feof(file) && !ferror(file);
  if (!ok) cli_bad("%s: %s", path, ferror(file) ? strerror(errno) : "no memory for its contents");
  fclose(file);
  if (!ok) return free(data), NULL;
  data[count] = 0;
  *out_bytes = count;
  return data;
}

const char *cli_split(const char *text, size_t *out_name_length) {
  const char *equals = strchr(text, '=');
  *out_name_length = equals ? (size_t)(equals - text) : 0;
  return equals ? equals + 1 : NULL;
}

const char *cli_option(int argc, char **argv, int *i, const char *name, bool *out_bad) {
  size_t length = strlen(name);
  const char *arg = argv[*i];
  if (strncmp(arg, name, length) != 0 || (arg[length] && arg[length] != '=')) return NULL;
  if (arg[length]) return arg + length + 1;
  if (*i + 1 < argc) return argv[++*i];
  *out_bad = true;
  cli_bad("%s needs a value", name);
  return NULL;
}

bool cli_load(const char *path, const char *native, arrjit_context **out_context, arrjit_function **out_function) {
  arrjit_context_options options = {.struct_bytes = sizeof options, .native_path = native};
  arrjit_error error;
  size_t bytes;
  char *text = cli_read_file(path, &bytes);
  if (!text) return false;
  arrjit_status status = arrjit_context_create(&options, out_context, &error);
  if (status == ARRJIT_OK) {
    status = arrjit_function_parse(*out_context, text, bytes, path, out_function, &error);
    if (status != ARRJIT_OK) cli_unload(*out_context, NULL);
  }
  free(text);
  if (status == ARRJIT_OK) return true;
  if (error.line > 0) cli_bad("%s:%d: %s", path, error.line, error.message);
  else cli_bad("%s: %s", path, error.message);
  return false;
}

void cli_unload(arrjit_context *context, arrjit_function *function) {
  arrjit_function_release(function);
  if (arrjit_context_destroy(context) != ARRJIT_OK) cli_bad("the context is in use");
}

static int check(int argc, char **argv) {
  arrjit_context *context;
  arrjit_function *function;
  if (argc != 1) return cli_bad("check takes one file");
  if (!cli_load(argv[0], NULL, &context, &function)) return CLI_BAD;
  printf("%s: ok\n", argv[0]);
  cli_unload(context, function);
  return CLI_OK;
}

static bool find_stage(const char *name, arrjit_print_stage *out) {
  static const struct { const char *name; arrjit_print_stage stage; } stages[] = {
      {"input", ARRJIT_PRINT_INPUT}, {"opt", ARRJIT_PRINT_OPT}, {"llvm", ARRJIT_PRINT_LLVM}, {"asm", ARRJIT_PRINT_ASM}};
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (strcmp(stages[i].name, name) == 0) return *out = stages[i].stage, true;
  cli_bad("--stage is '%s', expected input, opt, llvm or asm", name);
  return false;
}

static int print_file(const char *path, const char *native, arrjit_print_stage stage) {
  arrjit_context *context;
  arrjit_function *function;
  arrjit_error error;
  char *text;
  size_t bytes;
  if (!cli_load(path, native, &context, &function)) return CLI_BAD;
  arrjit_status status = arrjit_function_print(function, stage, &text, &bytes, &error);
  if (status == ARRJIT_OK) {
    fwrite(text, 1, bytes, stdout);
    arrjit_text_free(context, text, bytes);
  } else {
    cli_bad("%s: %s", path, error.message);
  }
  cli_unload(context, function);
  return status == ARRJIT_OK ? CLI_OK : CLI_BAD;
}

static int print(int argc, char **argv) {
  arrjit_print_stage stage = ARRJIT_PRINT_INPUT;
  const char *path = NULL, *native = NULL, *value;
  for (int i = 0; i < argc; i++) {
    bool bad = false;
    if ((value = cli_option(argc, argv, &i, "--stage", &bad))) {
      if (!find_stage(value, &stage)) return CLI_BAD;
      continue;
    }
    if (!bad && (value = cli_option(argc, argv, &i, "--native", &bad))) {
      native = value;
      continue;
    }
    if (bad) return CLI_BAD;
    if (path || argv[i][0] == '-') return cli_bad("print: unexpected '%s'", argv[i]);
    path = argv[i];
  }
  return path ? print_file(path, native, stage) : cli_bad("print takes a file");
}

static int dot(int argc, char **argv) {
  return argc == 1 ? print_file(argv[0], NULL, ARRJIT_PRINT_DOT) : cli_bad("dot takes one file");
}

int main(int argc, char **argv) {
  static const struct { const char *name; int (*run)(int argc, char **argv); } commands[] = {
      {"run", cli_run}, {"check", check}, {"print", print}, {"dot", dot}, {"ops", cli_ops}};
  if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) return fputs(usage, stdout), CLI_OK;
  if (argc > 1 && !strcmp(argv[1], "--version")) return printf("arrjit %s\n", arrjit_version()), CLI_OK;
  for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++) {
    if (strcmp(commands[i].name, argv[1]) != 0) continue;
    int status = commands[i].run(argc - 2, argv + 2);
    if (fflush(stdout) != 0) return cli_bad("writing the output: %s", strerror(errno));
    return status;
  }
  if (argc > 1) cli_bad("no command is called '%s'", argv[1]);
  fputs(usage, stderr);
  return CLI_BAD;
}
