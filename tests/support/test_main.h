/* main of a cmocka program whose functions can be run one by one: PROGRAM runs all, PROGRAM NAME... those (NAME may
 * have
 * '*'). Use: TEST_MAIN(tests, group_setup, group_teardown) with `static const struct CMUnitTest tests[]`. */
#ifndef TK_TEST_MAIN_H
#define TK_TEST_MAIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_MAIN(tests, setup, teardown)                                                                              \
  int main(int argc, char **argv) {                                                                                    \
    int failed = 0;                                                                                                    \
    if (argc < 2) return cmocka_run_group_tests(tests, setup, teardown);                                               \
    for (int i = 1; i < argc; i++) {                                                                                   \
      cmocka_set_test_filter(argv[i]);                                                                                 \
      failed += cmocka_run_group_tests(tests, setup, teardown);                                                        \
    }                                                                                                                  \
    return failed;                                                                                                     \
  }

#endif
