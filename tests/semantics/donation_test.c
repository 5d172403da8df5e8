/* Donated inputs: what is written over, what becomes an output, and what the flags of a result say of it. */
#include <inttypes.h>

#include "fixture.h"

static arrjit_status fail_at_two(tk_slot *slot, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                                 size_t result_count, const arrjit_view *results) {
  (void)slot, (void)arg_count, (void)result_count, (void)results;
  arrjit_failure failure = {.struct_bytes = sizeof failure, .code = 2, .message = "two"};
  return *(const int64_t *)args[0].data == 2 ? arrjit_fail(call, &failure) : ARRJIT_OK;
}

/* A donated array that is written over, and a failure before, after, and in a callback after that. */
static void test_case_f46_donated_array_and_failures_at_three_points(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, 4), k = PARAM(g, "k", I64);
  CHECK(g, arrjit_ne(g, k, arrjit_const_i64(g, 0)), ARRJIT_KIND_RUNTIME, 0, "zero", NONE, NULL);
  arrjit_value y = arrjit_mul(g, x, arrjit_const_like(g, x, 2)), seen[2];
  CHECK(g, arrjit_ne(g, k, arrjit_const_i64(g, 1)), ARRJIT_KIND_RUNTIME, 1, "one", LIST(y), NULL);
  CALLBACK(g, arrjit_slot_io(g, "cb", TYPES(TYPE(I64), TYPE(F64, 4)), 0), seen, k, y);
  RETURN(g, arrjit_add(g, seen[1], y));
  arrjit_function *function = tk_finish(f, g);
  tk_bind(f, "cb", fail_at_two, NULL);
  for (int64_t point = 0; point <= 3; point++) {
    const tk_outcome *o = RUN(f, function, ARRAY(f, F64, 1, 2, 3, 4), SCALAR(f, I64, point));
    if (point == 3)
      EXPECT(o, 0, F64, 4, 8, 12, 16);
    else
      EXPECT_FAILURE(o, point == 2 ? ARRJIT_KIND_CALLBACK : ARRJIT_KIND_RUNTIME, point, NULL);
    arrjit_array *inputs[] = {ARRAY(f, F64, 1, 2, 3, 4), SCALAR(f, I64, point)};
    const tk_call call = {
        .input_count = 2, .inputs = inputs, .slot_count = f->slot_count, .slots = f->slots, .donated = 3};
    for (tk_mode m = TK_INTERP; m < TK_MODES; m++) {
      if (!tk_mode_exists(m)) continue;
      tk_outcome again;
      memcpy(arrjit_array_data(inputs[0]), DATA_(F64, 1, 2, 3, 4), 4 * sizeof(double));
      tk_run_mode(f->context, function, m, &call, &again);
      assert_int_equal(again.consumed & ~UINT64_C(1), 0); /* scalars are not */
      if (m == TK_INTERP) assert_int_equal(again.consumed, point > 0);
      if (!again.consumed)
        assert_memory_equal(arrjit_array_data(inputs[0]), DATA_(F64, 1, 2, 3, 4), 4 * sizeof(double));
      assert_int_equal(again.ok, point == 3);
      tk_outcome_free(&again);
    }
  }
}

static const struct CMUnitTest tests[] = {TK_TEST(test_case_f46_donated_array_and_failures_at_three_points)};

TEST_MAIN(tests, NULL, NULL)
