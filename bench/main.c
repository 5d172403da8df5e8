/* arrjit-bench [--smoke] [--filter NAME] [--json FILE] [--threads N]: one row a case and mode; ratio = peer / ours,
 * above 1 we are faster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static int usage(void) {
  fprintf(stderr, "usage: arrjit-bench [--smoke] [--filter NAME] [--json FILE] [--threads N]\n");
  return 2;
}

int main(int argc, char **argv) {
  bench_opts.threads = 1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--smoke"))
      bench_opts.smoke = true;
    else if (!strcmp(argv[i], "--filter") && i + 1 < argc)
      bench_opts.filter = argv[++i];
    else if (!strcmp(argv[i], "--json") && i + 1 < argc)
      bench_opts.json = argv[++i];
    else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
      bench_opts.threads = atoi(argv[++i]);
    else
      return usage();
  }
  arrjit_error error;
  bench_must(arrjit_context_create(NULL, &bench_context, &error), &error);
  bench_must(arrjit_context_set_option(bench_context, ARRJIT_OPTION_THREADS, bench_opts.threads, &error), &error);
  bench_startup();
  bench_elementwise();
  bench_functions();
  bench_scalar();
  bench_maps();
  bench_calls();
  bench_failures();
  bench_must(arrjit_context_wait_idle(bench_context, -1), NULL);
  return arrjit_context_destroy(bench_context) == ARRJIT_OK ? 0 : 1;
}
