/* Checks: which one fails, what it tells, and what one that does not fail costs. */
#include <ctype.h>

#include "fixture.h"

static char *print_stage(tk_fixture *f, arrjit_function *function, arrjit_print_stage stage) {
  char *text = NULL;
  size_t bytes;
  arrjit_error error;
  if (arrjit_function_print(function, stage, &text, &bytes, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  char *copy = strdup(text);
  arrjit_text_free(f->context, text, bytes);
  return copy;
}

/* ---- which fails ---- */

static void test_checks_of_arrays_fail_in_the_order_of_building(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 6), y = PARAM(g, "y", F32, 6), a[1], b[1];
  arrjit_value zero = arrjit_const_like(g, x, 0);
  CHECK(g, arrjit_ge(g, x, zero), ARRJIT_KIND_RUNTIME, 1, "x", NONE, a, x);
  CHECK(g, arrjit_ge(g, y, zero), ARRJIT_KIND_RUNTIME, 2, "y", LIST(a[0]), b, y);
  RETURN(g, arrjit_add(g, a[0], b[0]));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F32, 1, 2, 3, 4, -1, -1), ARRAY(f, F32, -1, 1, 1, 1, 1, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "x");
  EXPECT_PAYLOAD(o, 0, I64, 4);
  o = RUN(f, function, ARRAY(f, F32, 1, 2, 3, 4, 5, 6), ARRAY(f, F32, 1, 1, NAN, 1, -1, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 2, "y");
  EXPECT_PAYLOAD(o, 0, F32, 1, 2, 3, 4, 5, 6);
  EXPECT_PAYLOAD(o, 1, I64, 2);
  o = RUN(f, function, ARRAY(f, F32, 1, 2, 3, 4, 5, 6), ARRAY(f, F32, 0, 0, 0, 0, 0, 1));
  EXPECT(o, 0, F32, 1, 2, 3, 4, 5, 7);
}

/* A checked op before, between and after: none overtakes another. */
static void test_checks_and_checked_ops_keep_their_order(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 3), y = PARAM(g, "y", I32, 3), c[1];
  arrjit_value first = arrjit_checked_div(g, x, y);
  CHECK(g, arrjit_ge(g, x, arrjit_const_like(g, x, 0)), ARRJIT_KIND_RUNTIME, 1, "negative", NONE, c, x);
  arrjit_value sum = arrjit_checked_add(g, c[0], x);
  RETURN(g, first, sum);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, I32, -1, 2, INT32_MAX), ARRAY(f, I32, 1, 0, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 1, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 1);
  o = RUN(f, function, ARRAY(f, I32, INT32_MAX, 2, -3), ARRAY(f, I32, 1, 1, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "negative");
  EXPECT_PAYLOAD(o, 0, I64, 2);
  o = RUN(f, function, ARRAY(f, I32, 1, INT32_MAX, 2), ARRAY(f, I32, 1, 1, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, NULL);
}

static void test_checks_see_shapes_and_broadcasts(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 2, (int64_t[]){arrjit_symbol(g, "m"), arrjit_symbol(g, "n")});
  arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type), c[1];
  arrjit_value limit = PARAM(g, "limit", F64);
  arrjit_value turned = (arrjit_transpose)(ARRJIT_AT_(g), x, INTS(1, 0));
  CHECK(g, arrjit_lt(g, turned, limit), ARRJIT_KIND_RUNTIME, 3, "row {0}", LIST(limit), c, turned);
  RETURN(g, arrjit_mul(g, c[0], c[0]));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = SHAPED(f, TYPE(F64, 2, 3), F64, 1, 2, 3, 4, 5, 6);
  const tk_outcome *o = RUN(f, function, input, SCALAR(f, F64, 5));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 3, "row 5");
  EXPECT_PAYLOAD(o, 1, I64, 3); /* 1 4 2 5 3 6 */
  o = RUN(f, function, input, SCALAR(f, F64, 7));
  EXPECT(o, 0, F64, 1, 16, 4, 25, 9, 36);
  o = RUN(f, function, tk_array(f, TYPE(F64, 0, 3), NULL), SCALAR(f, F64, 0));
  EXPECT_OK(o); /* nothing is false of nothing */
}

static void test_all_of_an_array_as_predicate(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 5), c[1];
  arrjit_value all = arrjit_reduce_and(g, arrjit_lt(g, x, arrjit_const_like(g, x, 10)), ARRJIT_ALL_AXES, NULL);
  CHECK(g, all, ARRJIT_KIND_RUNTIME, 1, "too large", NONE, c, x);
  RETURN(g, arrjit_neg(g, c[0]), all);
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F32, 1, 2, 3, 4, 10));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "too large");
  assert_int_equal(o->payload_count, 0);
  o = RUN(f, function, ARRAY(f, F32, 1, 2, 3, 4, 5));
  EXPECT(o, 0, F32, -1, -2, -3, -4, -5);
  EXPECT(o, 1, BOOL, 1);
}

/* Whether all of an array holds stops at the first lane that does not; what is made of the same array does not stop. */
static void test_all_of_an_array_stops_nothing_else(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, arrjit_symbol(g, "n")), c[1];
  arrjit_value positive = arrjit_gt(g, x, arrjit_const_like(g, x, 0));
  arrjit_value all = arrjit_reduce_and(g, positive, INTS(0)), twice = arrjit_add(g, x, x);
  RETURN(g, all, twice, arrjit_neg(g, twice));
  arrjit_function *function = tk_finish(f, g);
  const tk_outcome *o = RUN(f, function, ARRAY(f, F32, 1, -2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT(o, 0, BOOL, 0);
  EXPECT(o, 1, F32, 2, -4, 6, 8, 10, 12, 14, 16, 18);
  EXPECT(o, 2, F32, -2, 4, -6, -8, -10, -12, -14, -16, -18);
  /* the same question asked again by a check, behind what others see of the array */
  g = tk_graph(f);
  x = PARAM(g, "x", F32, arrjit_symbol(g, "n"));
  arrjit_slot seen = arrjit_slot_io(g, "seen", TYPES(arrjit_value_type(x)), 0);
  positive = arrjit_gt(g, x, arrjit_const_like(g, x, 0));
  all = arrjit_reduce_and(g, positive, INTS(0));
  CALLBACK(g, seen, &twice, arrjit_add(g, x, x));
  CHECK(g, positive, ARRJIT_KIND_RUNTIME, 1, "not positive", NONE, c, x);
  RETURN(g, all, twice, arrjit_neg(g, c[0]));
  function = tk_finish(f, g);
  tk_bind(f, "seen", NULL, NULL);
  o = RUN(f, function, ARRAY(f, F32, 1, -2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, "not positive");
  EXPECT_PAYLOAD(o, 0, I64, 1);
}

static void test_checks_are_caught(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 4), c[1], exn, out[1];
  arrjit_value zero = arrjit_const_like(g, x, 0);
  arrjit_try_begin(g);
  CHECK(g, arrjit_gt(g, x, zero), ARRJIT_KIND_RUNTIME, 1, "caught", NONE, c, x);
  arrjit_value half = arrjit_div(g, arrjit_const_like(g, x, 1), c[0]);
  (arrjit_try_handler)(ARRJIT_AT_(g), LIST(half), ARRJIT_KIND_RUNTIME, &exn);
  arrjit_try_end(g, LIST(arrjit_add(g, x, x)), out);
  RETURN(g, out[0]);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2, 4, 8)), 0, F32, 1, 0.5, 0.25, 0.125);
  EXPECT(RUN(f, function, ARRAY(f, F32, 1, 2, 0, 8)), 0, F32, 2, 4, 0, 16);
}

/* ---- payloads ---- */

/* Whether `what` stands in the text between the line of the first branch and the first raise. */
static bool is_in_raising_arm(const char *text, const char *what) {
  const char *branch = strstr(text, "if %"), *raise = strstr(text, "raise "), *found = strstr(text, what);
  return branch && raise && found && branch < found && found < raise;
}

static void test_case_f37_payload_is_computed_by_the_failing_path_alone(void **state) {
  tk_fixture *f = *state;
  f->may_fall_back = true;
  for (int with_check = 0; with_check < 2; with_check++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F32, 8), limit = PARAM(g, "limit", F32), c[1], out[1];
    arrjit_value where = arrjit_argmax(g, x, 0), worst = arrjit_take(g, x, where, 0);
    arrjit_value fine = arrjit_lt(g, arrjit_reduce_max(g, x, ARRJIT_ALL_AXES, NULL), limit);
    if (with_check) {
      CHECK(g, fine, ARRJIT_KIND_RUNTIME, 4, "x[{0}] is {1}", LIST(where, worst), c, x);
      out[0] = arrjit_add(g, c[0], c[0]);
    } else {
      arrjit_if_begin(g, fine);
      arrjit_if_else(g, LIST(arrjit_add(g, x, x)));
      RAISE(g, ARRJIT_KIND_RUNTIME, 4, "x[{0}] is {1}", where, worst);
      arrjit_if_end(g, 0, NULL, out);
    }
    RETURN(g, out[0]);
    arrjit_function *function = tk_finish(f, g);
    char *text = print_stage(f, function, ARRJIT_PRINT_OPT);
    if (!is_in_raising_arm(text, "argmax ") || !is_in_raising_arm(text, "take "))
      fail_msg("on the way of all:\n%s", text);
    free(text);
    arrjit_array *input = ARRAY(f, F32, 1, 2, 3, 9, 5, 6, 7, 8);
    EXPECT(RUN(f, function, input, SCALAR(f, F32, 10)), 0, F32, 2, 4, 6, 18, 10, 12, 14, 16);
    const tk_outcome *o = RUN(f, function, input, SCALAR(f, F32, 9));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 4, "x[3] is 9");
    EXPECT_PAYLOAD(o, 0, I64, 3);
    EXPECT_PAYLOAD(o, 1, F32, 9);
  }
}

/* What may fail stays where it was built, and so does what would keep a large array alive. */
static void test_payload_that_may_fail_stays(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 4), c[1];
  arrjit_value quotient = arrjit_checked_div(g, arrjit_const_like(g, x, 12), x);
  CHECK(g, arrjit_lt(g, x, arrjit_const_like(g, x, 5)), ARRJIT_KIND_RUNTIME, 1, "{0}", LIST(quotient), c, x);
  RETURN(g, c[0]);
  arrjit_function *function = tk_finish(f, g);
  EXPECT_FAILURE(RUN(f, function, ARRAY(f, I32, 1, 0, 3, 4)), ARRJIT_KIND_ARITH, 1, NULL);
  const tk_outcome *o = RUN(f, function, ARRAY(f, I32, 1, 2, 6, 4));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 1, NULL);
  EXPECT_PAYLOAD(o, 0, I32, 12, 6, 2, 3);
  EXPECT_PAYLOAD(o, 1, I64, 2);
}

/* ---- what a check costs ---- */

/* Of the innermost loop that multiplies: instructions, conditional jumps, stores of vectors. */
typedef struct loop_cost {
  int instructions, jumps, stores;
} loop_cost;

enum { MOST_LINES = 4000 };

static bool is_instruction(const char *line) { return line[0] == '\t' && line[1] != '.' && line[1] != '#'; }

/* The line of the label that a jump goes to, when it lies before; -1 else. */
static int find_target(char **lines, int jump) {
  const char *name = strstr(lines[jump], ".L");
  size_t length = name ? strcspn(name, "\t #\n") : 0;
  for (int i = jump - 1; i >= 0 && length; i--)
    if (strncmp(lines[i], name, length) == 0 && lines[i][length] == ':') return i;
  return -1;
}

static loop_cost count_loop(char **lines, int first, int last) {
  loop_cost cost = {0};
  for (int i = first; i <= last; i++) {
    if (!is_instruction(lines[i])) continue;
    cost.instructions++;
    cost.jumps += lines[i][1] == 'j' && strncmp(lines[i] + 1, "jmp", 3) != 0;
    const char *comma = strrchr(lines[i], ','), *bracket = strrchr(lines[i], ')');
    cost.stores += lines[i][1] == 'v' && strstr(lines[i], "mov") && bracket && comma < bracket &&
                   strchr(lines[i], '%') < strchr(lines[i], '(') && strcspn(lines[i], "(") > strcspn(lines[i], "%");
  }
  return cost;
}

static loop_cost find_loop(char *text) {
  static char *lines[MOST_LINES];
  int count = 0;
  for (char *line = strtok(text, "\n"); line && count < MOST_LINES; line = strtok(NULL, "\n")) lines[count++] = line;
  loop_cost best = {.instructions = MOST_LINES};
  for (int i = 0; i < count; i++) {
    if (!is_instruction(lines[i]) || lines[i][1] != 'j') continue;
    int first = find_target(lines, i);
    bool multiplies = false;
    for (int k = first; first >= 0 && k < i; k++) multiplies = multiplies || strstr(lines[k], "mulps");
    loop_cost cost = first >= 0 && multiplies ? count_loop(lines, first, i) : best;
    if (cost.instructions < best.instructions) best = cost;
  }
  if (best.instructions == MOST_LINES) fail_msg("no loop that multiplies");
  return best;
}

static arrjit_function *build_polynomial(tk_fixture *f, bool checked) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F32, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type), c[1] = {x};
  if (checked) CHECK(g, arrjit_eq(g, x, x), ARRJIT_KIND_RUNTIME, 1, "not a number", NONE, c, x);
  RETURN(g, arrjit_mul(g, arrjit_add(g, arrjit_mul(g, c[0], c[0]), c[0]), c[0]));
  return tk_finish(f, g);
}

/* One pass over memory, in which a vector costs one compare a register and one branch more. */
static void test_case_f50_check_is_one_branch_a_vector(void **state) {
  tk_fixture *f = *state;
  if (!tk_native()) skip();
#if defined(__x86_64__)
  loop_cost cost[2];
  for (int checked = 0; checked < 2; checked++) {
    arrjit_function *function = build_polynomial(f, checked);
    char *text = print_stage(f, function, ARRJIT_PRINT_ASM);
    cost[checked] = find_loop(text);
    free(text);
    arrjit_array *input = ARRAY(f, F32, 1, 2, -3);
    EXPECT(RUN(f, function, input), 0, F32, 2, 12, -18);
  }
  print_message("unchecked: %d instructions, %d jumps, %d stores; checked: %d, %d, %d\n", cost[0].instructions,
                cost[0].jumps, cost[0].stores, cost[1].instructions, cost[1].jumps, cost[1].stores);
  assert_int_equal(cost[1].jumps, cost[0].jumps + 1);
  assert_int_equal(cost[1].stores, cost[0].stores);
  assert_true(cost[0].stores > 0);
  assert_in_range(cost[1].instructions - cost[0].instructions, 2, 8);
#else
  skip();
#endif
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_checks_of_arrays_fail_in_the_order_of_building),
    TK_TEST(test_checks_and_checked_ops_keep_their_order),
    TK_TEST(test_checks_see_shapes_and_broadcasts),
    TK_TEST(test_all_of_an_array_as_predicate),
    TK_TEST(test_all_of_an_array_stops_nothing_else),
    TK_TEST(test_checks_are_caught),
    TK_TEST(test_case_f37_payload_is_computed_by_the_failing_path_alone),
    TK_TEST(test_payload_that_may_fail_stays),
    TK_TEST(test_case_f50_check_is_one_branch_a_vector),
};
TEST_MAIN(tests, NULL, NULL)
