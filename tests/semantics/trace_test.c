/* One failure's whole text, byte by byte as in trace.golden, in all modes. ARRJIT_UPDATE_GOLDEN=1 writes the file anew.
 */
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

static void test_text_of_a_failure_is_the_golden_one(void **state) {
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

/* The optimiser's passes change nothing of it. */
static void test_passes_do_not_change_a_failure(void **state) {
  tk_fixture *f = *state;
  tk_bind(f, "read", fail_with_frames, NULL);
  arrjit_array *input = SCALAR(f, F64, 4.5);
  const tk_outcome *all = RUN(f, program(f), input);
  assert_int_equal(arrjit_context_set_option(f->context, ARRJIT_OPTION_PASSES_OFF, INT64_MAX & ~(int64_t)1, NULL),
                   ARRJIT_OK);
  const tk_outcome *none = RUN(f, program(f), input);
  char *why = NULL;
  if (!tk_outcome_same(all, none, &why)) fail_msg("%s", why);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_text_of_a_failure_is_the_golden_one),
    TK_TEST(test_passes_do_not_change_a_failure),
};

TEST_MAIN(tests, NULL, NULL)
