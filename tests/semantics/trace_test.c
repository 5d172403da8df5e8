/* One failure's whole text, byte by byte as in trace.golden, in all modes. ARRJIT_UPDATE_GOLDEN=1 writes the file anew.
 */
#include <inttypes.h>

#include "fixture.h"

static const char golden[] = TK_SOURCE_DIR "/semantics/trace.golden";

static arrjit_status fail_with_frames(tk_slot *slot, arrjit_call_info *call, size_t n, const arrjit_view *args,
                                      size_t m, const arrjit_view *results) {
  (void)slot, (void)n, (void)args, (void)m, (void)results;
  static const char *const frames[] = {"reader.c:88 in next_record", "reader.c:12 in open"};
  arrjit_failure failure = {
      .struct_bytes = sizeof failure, .code = 4, .message = "no more records", .frame_count = 2, .frames = frames};
  return arrjit_fail(call, &failure);
}

/* A callback fails inside a called function, inside a for; a handler raises another from it, inside a while's body. */
static arrjit_function *program(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type f64 = TYPE(F64);
  arrjit_value x = (arrjit_param)(g, "x", &f64), m, seen, i, vars[1], out[1], exn, value, result;
  arrjit_slot slot = arrjit_slot_io(g, "read", 1, &f64, 0);
  arrjit_callee step = arrjit_declare(g, "step", 1, &f64, 1, &f64);
  arrjit_define(g, step, &m);
  arrjit_label_push(g, "reader");
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), three = arrjit_const_i64(g, 3);
  (arrjit_for_begin)(arrjit_at(g, "model/step.c", 10), zero, three, one, 0, NULL, &i, NULL);
  arrjit_value due = (arrjit_eq)(arrjit_at(g, "model/step.c", 11), i, arrjit_const_i64(g, 2));
  (arrjit_if_begin)(arrjit_at(g, "model/step.c", 12), due);
  (arrjit_callback)(arrjit_at(g, "model/step.c", 13), slot, 1, &m, &seen);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_for_end(g, 0, NULL, NULL);
  arrjit_label_pop(g);
  (arrjit_return)(arrjit_at(g, "model/step.c", 15), 1, &m, NULL);

  (arrjit_while_begin)(arrjit_at(g, "model/main.c", 20), 1, &x, vars);
  arrjit_while_body(g, (arrjit_gt)(arrjit_at(g, "model/main.c", 21), vars[0], arrjit_const_f64(g, 0)), vars);
  arrjit_label_push(g, "outer");
  arrjit_label_push(g, "inner");
  (arrjit_try_begin)(arrjit_at(g, "model/main.c", 22));
  arrjit_value low = (arrjit_lt)(arrjit_at(g, "model/main.c", 23), vars[0], arrjit_const_f64(g, 2));
  (arrjit_if_begin)(arrjit_at(g, "model/main.c", 24), low);
  (arrjit_call)(arrjit_at(g, "model/main.c", 25), step, 1, &vars[0], &result);
  arrjit_if_else(g, 1, &result);
  arrjit_if_end(g, 1, &vars[0], &value);
  arrjit_try_handler(g, 1, &value, ARRJIT_KIND_CALLBACK, &exn);
  arrjit_value text =
      (arrjit_exn_new)(arrjit_at(g, "model/main.c", 27), ARRJIT_KIND_RUNTIME, 9, "step failed at {0}", 1, vars);
  (arrjit_raise_from)(arrjit_at(g, "model/main.c", 28), text, exn);
  arrjit_try_end(g, 0, NULL, &value);
  arrjit_label_pop(g);
  arrjit_label_pop(g);
  arrjit_value next = (arrjit_sub)(arrjit_at(g, "model/main.c", 30), value, arrjit_const_f64(g, 1));
  arrjit_while_end(g, 1, &next, out);
  (arrjit_return)(arrjit_at(g, "model/main.c", 31), 1, out, NULL);
  return tk_finish(f, g);
}

static void test_case_f39_text_of_a_failure_is_the_golden_one(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "read", fail_with_frames, NULL);
  const tk_outcome *o = RUN(f, program(f), SCALAR(f, F64, 4.5));
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 9, "step failed at 1.5");
  tk_text text;
  tk_text_open(&text);
  fprintf(text.to, "%s\n-- entries\n%s", o->text, o->trace);
  char *got = tk_text_close(&text);
  const char *update = getenv("ARRJIT_UPDATE_GOLDEN");
  if (update && *update == '1') {
    FILE *file = fopen(golden, "wb");
    assert_non_null(file);
    fputs(got, file);
    assert_int_equal(fclose(file), 0);
  }
  char *want = tk_read_file(golden, NULL);
  assert_non_null(want);
  assert_string_equal(got, want);
  free(want);
  free(got);
}

/* ---- what must not change it ---- */

/* Checked work on arrays and scalars in a called function, in a loop, in a try that takes another kind. */
static arrjit_function *working_program(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value k = PARAM(g, "k", I64), a, b, i, vars[2], out[2], exn, got, sum, q;
  arrjit_callee inner = arrjit_declare(g, "ratio", TYPES(TYPE(I64), TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_value params[2];
  arrjit_define(g, inner, params);
  a = params[0], b = params[1];
  arrjit_label_push(g, "ratio");
  q = arrjit_checked_div(g, a, arrjit_sub(g, b, arrjit_mul(g, arrjit_const_i64(g, 2), arrjit_const_i64(g, 3))));
  arrjit_label_pop(g);
  RETURN(g, arrjit_add(g, q, arrjit_const_i64(g, 0)));
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1);
  FOR(g, zero, arrjit_const_i64(g, 8), one, &i, vars, zero, k);
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_const_bool(g, 1));
  sum = arrjit_add(g, vars[0], i);
  arrjit_if_else(g, 1, &sum);
  arrjit_runtime_raise(g, "never", 0, NULL);
  arrjit_if_end(g, 0, NULL, &sum);
  arrjit_value wide = (arrjit_full)(ARRJIT_AT_(g), sum, 1, I64S(40));
  arrjit_value checked = arrjit_checked_mul(g, arrjit_add(g, wide, wide), wide);
  CALL(g, inner, &got, arrjit_reduce_max(g, checked, INTS(0)), i);
  arrjit_try_handler(g, 1, &got, ARRJIT_KIND_INDEX, &exn);
  arrjit_try_end(g, LIST(zero), &got);
  arrjit_for_end(g, LIST(got, arrjit_add(g, vars[1], vars[1])), out);
  RETURN(g, out[0], out[1]);
  return tk_finish(f, g);
}

/* Each pass of the optimiser left out, and all of them. */
static void test_case_f39_passes_do_not_change_a_failure(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "read", fail_with_frames, NULL);
  f->may_fall_back = true; /* functions that were not expanded */
  arrjit_array *inputs[] = {SCALAR(f, F64, 4.5), SCALAR(f, I64, 1)};
  arrjit_function *(*const programs[])(tk_fixture *) = {program, working_program};
  enum { BITS = 16 };
  for (size_t k = 0; k < TK_COUNT(programs); k++) {
    const tk_outcome *all = RUN(f, programs[k](f), inputs[k]);
    assert_false(all->ok);
    for (int bit = 0; bit <= BITS; bit++) {
      int64_t off = bit == BITS ? INT64_MAX : INT64_C(1) << bit;
      char *why = NULL;
      assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_PASSES_OFF, off, NULL), ARRJIT_OK);
      if (!tk_outcome_same(all, RUN(f, programs[k](f), inputs[k]), &why)) fail_msg("without %" PRIx64 ": %s", off, why);
    }
    assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_PASSES_OFF, 0, NULL), ARRJIT_OK);
  }
}

/* Labels of a part that the optimiser takes into its surroundings stay on its entries. */
static void test_case_f39_labels_pass_through_inlined_parts(void **state) {
  tk_fixture *f = *state;
  const tk_outcome *o = RUN(f, working_program(f), SCALAR(f, I64, 1));
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 1, NULL);
  assert_string_equal(o->path, "checked_div < call < try body < for body 6");
  assert_non_null(strstr(o->text, "[ratio]"));
}

/* Built without files and lines and labels: node numbers, functions, arms and iterations are there all the same. */
static void test_case_f39_a_stripped_build_has_node_numbers(void **state) {
  tk_fixture *f = *state;
  char *lines[2];
  for (int stripped = 0; stripped < 2; stripped++) {
    arrjit_graph *g = tk_graph(f), *at = g;
    arrjit_type i64 = TYPE(I64);
    arrjit_value i, zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), n = (arrjit_param)(g, "n", &i64);
    if (!stripped) at = arrjit_at(g, "model.c", 5), arrjit_label_push(g, "layer");
    (arrjit_for_begin)(at, zero, n, one, 0, NULL, &i, NULL);
    if (!stripped) arrjit_at(g, "model.c", 6);
    (arrjit_check)(g, (arrjit_lt)(g, i, (arrjit_const_i64)(g, 3)), ARRJIT_KIND_RUNTIME, 0, NULL, 0, NULL, 0, NULL,
                   NULL);
    (arrjit_for_end)(g, 0, NULL, NULL);
    if (!stripped) arrjit_label_pop(g);
    (arrjit_return)(g, 1, &n, NULL);
    const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 9));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, NULL);
    assert_int_equal(strstr(o->text, "model.c") == NULL, stripped);
    assert_int_equal(strstr(o->text, "layer") == NULL, stripped);
    assert_non_null(strstr(o->text, "at for #"));
    lines[stripped] = strdup(o->path);
    for (char *p = o->text; stripped && (p = strstr(p, " #")); p++) assert_in_range(p[2], '0', '9');
  }
  assert_string_equal(lines[0], lines[1]);
  for (int k = 0; k < 2; k++) free(lines[k]);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f39_text_of_a_failure_is_the_golden_one),
    TK_TEST(test_case_f39_passes_do_not_change_a_failure),
    TK_TEST(test_case_f39_labels_pass_through_inlined_parts),
    TK_TEST(test_case_f39_a_stripped_build_has_node_numbers),
};

TEST_MAIN(tests, NULL, NULL)
