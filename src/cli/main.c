/* arrjit, the command: runs, checks and prints .air files. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

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

/* Devices and pipes may never end. */
static size_t find_most_bytes(FILE *file) {
  enum { MOST_MIB = 256 };
  struct stat about;
  bool ends = fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
  return ends ? SIZE_MAX : (size_t)MOST_MIB << 20;
}

char *cli_read_file(const char *path, size_t *out_bytes) {
  FILE *file = fopen(path, "rb");
  char *data = NULL;
  size_t count = 0, capacity = 0;
  if (!file) return cli_bad("%s: %s", path, strerror(errno)), NULL;
  size_t most = find_most_bytes(file);
  while (count <= most) {
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
  if (count > most)
    cli_bad("%s: it is no regular file, and has more than %zu MiB", path, most >> 20);
  else if (!ok)
    cli_bad("%s: %s", path, ferror(file) ? strerror(errno) : "no memory for its contents");
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

int cli_take_common(int argc, char **argv, int *i, cli_common *common) {
  bool bad = false;
  const char *value = cli_option(argc, argv, i, "--native", &bad);
  if (value) return common->native = value, CLI_OK;
  if (!bad) value = cli_option(argc, argv, i, "--option", &bad);
  if (bad) return CLI_BAD;
  if (value && common->option_count == sizeof common->options / sizeof *common->options)
    return cli_bad("more than %zu --option", common->option_count);
  if (value) return common->options[common->option_count++] = value, CLI_OK;
  if (common->path || argv[*i][0] == '-') return cli_bad("unexpected '%s'", argv[*i]);
  common->path = argv[*i];
  return CLI_OK;
}

/* "max_nodes=1000" */
static bool set_option(arrjit_context *context, const char *text) {
  arrjit_error error;
  size_t length;
  const char *value = cli_split(text, &length), *name;
  if (!value) return cli_bad("--option %s: expected NAME=VALUE", text), false;
  for (int i = 0; strcmp(name = arrjit_option_name((arrjit_option)i), "?") != 0; i++) {
    if (strlen(name) != length || memcmp(name, text, length) != 0) continue;
    int64_t number;
    const char *problem = cli_parse_element(ARRJIT_I64, value, strlen(value), &number);
    if (problem) return cli_bad("--option %s: '%s' is %s", text, value, problem), false;
    if (arrjit_context_set_option(context, (arrjit_option)i, number, &error) == ARRJIT_OK) return true;
    return cli_bad("--option %s: %s", text, error.message), false;
  }
  return cli_bad("--option %s: there is no option '%.*s'", text, (int)length, text), false;
}

static bool parse_file(arrjit_context *context, const char *path, arrjit_function **out) {
  arrjit_error error;
  size_t bytes;
  char *text = cli_read_file(path, &bytes);
  if (!text) return false;
  arrjit_status status = arrjit_function_parse(context, text, bytes, path, out, &error);
  free(text);
  if (status == ARRJIT_OK) return true;
  if (error.line > 0)
    cli_bad("%s:%d: %s", path, error.line, error.message);
  else
    cli_bad("%s: %s", path, error.message);
  return false;
}

bool cli_load(const cli_common *common, arrjit_context **out_context, arrjit_function **out_function) {
  arrjit_context_options options = {.struct_bytes = sizeof options, .native_path = common->native};
  arrjit_error error;
  if (!common->path) return cli_bad("which file?"), false;
  if (arrjit_context_create(&options, out_context, &error) != ARRJIT_OK) return cli_bad("%s", error.message), false;
  bool ok = true;
  for (size_t i = 0; ok && i < common->option_count; i++) ok = set_option(*out_context, common->options[i]);
  ok = ok && parse_file(*out_context, common->path, out_function);
  if (!ok) cli_unload(*out_context, NULL);
  return ok;
}

void cli_unload(arrjit_context *context, arrjit_function *function) {
  arrjit_function_release(function);
  if (arrjit_context_destroy(context) != ARRJIT_OK) cli_bad("the context is in use");
}

static int check(int argc, char **argv) {
  arrjit_context *context;
  arrjit_function *function;
  cli_common common = {.path = NULL};
  for (int i = 0; i < argc; i++)
    if (cli_take_common(argc, argv, &i, &common) != CLI_OK) return CLI_BAD;
  if (!cli_load(&common, &context, &function)) return CLI_BAD;
  printf("%s: ok\n", common.path);
  cli_unload(context, function);
  return CLI_OK;
}

static bool find_stage(const char *name, arrjit_print_stage *out) {
  static const struct {
    const char *name;
    arrjit_print_stage stage;
  } stages[] = {
      {"input", ARRJIT_PRINT_INPUT}, {"opt", ARRJIT_PRINT_OPT}, {"llvm", ARRJIT_PRINT_LLVM}, {"asm", ARRJIT_PRINT_ASM}};
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (strcmp(stages[i].name, name) == 0) return *out = stages[i].stage, true;
  cli_bad("--stage is '%s', expected input, opt, llvm or asm", name);
  return false;
}

static int print_file(const cli_common *common, arrjit_print_stage stage) {
  arrjit_context *context;
  arrjit_function *function;
  arrjit_error error;
  char *text;
  size_t bytes;
  if (!cli_load(common, &context, &function)) return CLI_BAD;
  arrjit_status status = arrjit_function_print(function, stage, &text, &bytes, &error);
  if (status == ARRJIT_OK) {
    fwrite(text, 1, bytes, stdout);
    arrjit_text_free(context, text, bytes);
  } else {
    cli_bad("%s: %s", common->path, error.message);
  }
  cli_unload(context, function);
  return status == ARRJIT_OK ? CLI_OK : CLI_BAD;
}

static int print(int argc, char **argv) {
  arrjit_print_stage stage = ARRJIT_PRINT_INPUT;
  cli_common common = {.path = NULL};
  for (int i = 0; i < argc; i++) {
    bool bad = false;
    const char *value = cli_option(argc, argv, &i, "--stage", &bad);
    if (bad || (value && !find_stage(value, &stage))) return CLI_BAD;
    if (!value && cli_take_common(argc, argv, &i, &common) != CLI_OK) return CLI_BAD;
  }
  return print_file(&common, stage);
}

static int dot(int argc, char **argv) {
  cli_common common = {.path = NULL};
  for (int i = 0; i < argc; i++)
    if (cli_take_common(argc, argv, &i, &common) != CLI_OK) return CLI_BAD;
  return print_file(&common, ARRJIT_PRINT_DOT);
}

/* ---- commands ---- */

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  bool takes_file;
  const char *usage; /* as the list of all commands has it */
} commands[] = {{"run", cli_run, true,
                 "  run FILE.air [--mode auto|interp|whole] [--arg NAME=VALUE]... [--bind SLOT=VALUE]...\n"
                 "               [--full] [--stats] [--time]\n"
                 "        VALUE: 3.5, [1, 2, 3], [[1, 2], [3, 4]], @file.npy or @file.csv:COLUMN\n"
                 "        callbacks print their arguments; one with results gives VALUE, or fails for \"!message\"\n"},
                {"check", check, true, "  check FILE.air                               parse and verify\n"},
                {"print", print, true, "  print [--stage input|opt|llvm|asm] FILE.air\n"},
                {"dot", dot, true, "  dot FILE.air                                 for Graphviz\n"},
                {"ops", cli_ops, false, "  ops [NAME]                                   what ops there are\n"}};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char common_usage[] =
    "  --option NAME=VALUE   an option of the context, such as max_iterations=1000\n"
    "  --native FILE         the module that makes native code, where it is not beside the library\n";
static const char exit_usage[] = "exit status: 0 ok, 1 the function failed, 2 bad usage or input\n";

static void print_usage(FILE *to) {
  fputs("usage: arrjit COMMAND ...\n", to);
  for (size_t i = 0; i < COMMANDS; i++) fputs(commands[i].usage, to);
  fprintf(to, "commands that take a file also take\n%s%s", common_usage, exit_usage);
}

static bool asks_help(const char *arg) { return !strcmp(arg, "--help") || !strcmp(arg, "-h"); }

static int run_command(const struct command *command, int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    if (!asks_help(argv[i])) continue;
    printf("usage: arrjit%s%s%s", command->usage + 1, command->takes_file ? common_usage : "", exit_usage);
    return CLI_OK;
  }
  return command->run(argc, argv);
}

int main(int argc, char **argv) {
  if (argc > 1 && asks_help(argv[1])) return print_usage(stdout), CLI_OK;
  if (argc > 1 && !strcmp(argv[1], "--version")) return printf("arrjit %s\n", arrjit_version()), CLI_OK;
  for (size_t i = 0; argc > 1 && i < COMMANDS; i++) {
    if (strcmp(commands[i].name, argv[1]) != 0) continue;
    int status = run_command(&commands[i], argc - 2, argv + 2);
    if (fflush(stdout) != 0) return cli_bad("writing the output: %s", strerror(errno));
    return status;
  }
  if (argc > 1) cli_bad("no command is called '%s'", argv[1]);
  print_usage(stderr);
  return CLI_BAD;
}
