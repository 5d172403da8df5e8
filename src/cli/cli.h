/* arrjit, the command: what its files share. It uses the public headers only. */
#ifndef ARRJIT_CLI_H
#define ARRJIT_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "arrjit/arrjit.h"

/* What the command returns. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_BAD = 2 };

/* "arrjit: ..." on stderr; returns CLI_BAD. */
__attribute__((format(printf, 1, 2))) int cli_bad(const char *format, ...);
/* The whole file, NUL-terminated; NULL after a message. */
char *cli_read_file(const char *path, size_t *out_bytes);
/* "NAME=VALUE": where the value starts; NULL when there is no '='. */
const char *cli_split(const char *text, size_t *out_name_length);
/* The option's value in "--name=value" or the next argument, moving *i; NULL when argv[*i] is another option. A missing
 * value is told by *out_bad. */
const char *cli_option(int argc, char **argv, int *i, const char *name, bool *out_bad);

/* ---- elements.c ---- */
/* One element from text. NULL, or what the text is: "no i8", "outside the range of i8, -128 to 127". */
const char *cli_parse_element(arrjit_dtype dtype, const char *text, size_t length, void *out);
/* Shortest text that reads back to the same bits. */
void cli_print_element(FILE *file, arrjit_dtype dtype, const void *element);
/* "f64[2, n]", as the library's messages have it; `function` names the symbols of its types, NULL where there are none.
 */
void cli_type_text(const arrjit_function *function, const arrjit_type *type, char *out, size_t size);

/* ---- show.c ---- */
/* "[[1, 2], [3, 4]]", long dims abbreviated unless full. `data` has byte strides. */
void cli_show(FILE *file, arrjit_dtype dtype, int32_t rank, const int64_t *dims, const int64_t *strides_bytes,
              const void *data, bool full);
void cli_show_result(FILE *file, const char *name, size_t index, const arrjit_array *array, bool full);

/* ---- npy.c, csv.c ---- */
/* An array read from a file. `data` is from malloc; dense in C order, or in Fortran order when column_major. */
typedef struct cli_data {
  arrjit_dtype dtype;
  int32_t rank;
  int64_t dims[ARRJIT_MAX_RANK];
  bool column_major;
  char *data;
} cli_data;
/* False after a message. */
bool cli_read_npy(const char *path, cli_data *out);
/* A column, by its name in the header row, as dtype. */
bool cli_read_csv(const char *path, const char *column, arrjit_dtype dtype, cli_data *out);

/* ---- args.c ---- */
/* Arrays for all parameters of a function from "name=value" texts. CLI_BAD after a message. */
int cli_make_inputs(arrjit_context *context, const arrjit_function *function, size_t count, const char *const *args,
                    arrjit_array **out);

/* ---- callbacks.c ---- */
typedef struct cli_slot {
  const char *name, *value; /* of --bind, NULL when there is none */
  bool full, unfit;         /* unfit: it was called, and its --bind, or that there is none, is not for such a slot */
} cli_slot;
/* Prints "slot: values"; value slots give the bound constant, or fail when it is "!message". */
arrjit_status cli_callback(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                           size_t result_count, const arrjit_view *results);

/* ---- the commands ---- */
int cli_run(int argc, char **argv);
int cli_ops(int argc, char **argv);
/* What the commands that take a file have in common: where native code comes from (NULL: where an installed library has
 * it) and options of the context, "name=value". */
typedef struct cli_common {
  const char *path, *native;
  const char *options[16];
  size_t option_count;
} cli_common;
/* Takes argv[*i] when it is the file or a common option. CLI_BAD after a message when it is neither. */
int cli_take_common(int argc, char **argv, int *i, cli_common *common);
/* A context and the function of the file. False after a message. */
bool cli_load(const cli_common *common, arrjit_context **out_context, arrjit_function **out_function);
void cli_unload(arrjit_context *context, arrjit_function *function);

#endif
