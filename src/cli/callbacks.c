/* The host functions of a run from the command line: they print what they are given. */
#include <string.h>

#include "cli/cli.h"

static void print_args(const cli_slot *slot, size_t arg_count, const arrjit_view *args) {
  printf("%s:", slot->name);
  for (size_t i = 0; i < arg_count; i++) {
    int64_t strides[ARRJIT_MAX_RANK], stride = (int64_t)arrjit_dtype_bytes(args[i].dtype);
    for (int32_t d = args[i].rank; d-- > 0;) {
      strides[d] = stride;
      stride *= args[i].dims[d];
    }
    fputs(i ? ", " : " ", stdout);
    cli_show(stdout, args[i].dtype, args[i].rank, args[i].dims, strides, args[i].data, slot->full);
  }
  putchar('\n');
}

/* Every element of every result is the bound value. */
static bool fill(const cli_slot *slot, size_t result_count, const arrjit_view *results) {
  for (size_t i = 0; i < result_count; i++) {
    char element[16];
    size_t size = arrjit_dtype_bytes(results[i].dtype);
    const char *problem = cli_parse_element(results[i].dtype, slot->value, strlen(slot->value), element);
    if (problem) {
      cli_bad("--bind %s=%s: '%s' is %s", slot->name, slot->value, slot->value, problem);
      return false;
    }
    for (size_t at = 0; at < results[i].bytes; at += size) memcpy((char *)results[i].data + at, element, size);
  }
  return true;
}

arrjit_status cli_callback(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                           size_t result_count, const arrjit_view *results) {
  cli_slot *slot = user;
  arrjit_failure failure = {.struct_bytes = sizeof failure, .message = "no value is bound to the slot"};
  print_args(slot, arg_count, args);
  if (slot->value && *slot->value == '!') {
    failure.message = slot->value + 1;
    return arrjit_fail(call, &failure);
  }
  bool fits = (slot->value != NULL) == (result_count > 0);
  if (fits && (!slot->value || fill(slot, result_count, results))) return ARRJIT_OK;
  if (!fits && slot->value)
    cli_bad("--bind %s=%s: the slot has no results; expected !MESSAGE, or no --bind", slot->name, slot->value);
  else if (!fits)
    cli_bad("slot %s has results: give --bind %s=VALUE", slot->name, slot->name);
  slot->unfit = true;
  return arrjit_fail(call, &failure);
}
