/* What building errors tell: which call, which value, which arm of which construct. */
#include "ir_fixture.h"

/* Which value, and which arm of which construct. */
static void test_values_of_ended_arms_are_described(void **state) {
  arrjit_error error;
  arrjit_graph *g = tk_graph(*state);
  arrjit_value x = PARAM(g, "x", F32, 2);
  (arrjit_switch_begin)(arrjit_at(g, "model.c", 10), arrjit_const_i64(g, 0));
  arrjit_switch_case(g, 1, &x);
  arrjit_value inner = (arrjit_mul)(arrjit_at(g, "a/model.c", 12), x, x);
  arrjit_switch_case(g, 1, &x);
  (arrjit_neg)(g, inner);
  assert_int_equal(arrjit_graph_error(g, &error), ARRJIT_MISUSE);
  assert_string_equal(error.op, "neg");
  assert_string_equal(error.message,
                      "neg: x was made inside an arm or body that has ended: it is the result of mul, f32[2], built at "
                      "a/model.c:12 in case 1 of the switch begun at model.c:10; yield it to use it outside");
  arrjit_graph_destroy(g);
}

static void test_values_given_to_ended_arms_are_described(void **state) {
  tk_fixture *f = *state;
  REFUSED(f, MISUSE,
          "neg: x was made inside an arm or body that has ended: it is a value given to it, f32, in body of "
          "the for begun at ",
          {
            arrjit_value zero = arrjit_const_i64(g, 0), i, v, out;
            FOR(g, zero, zero, zero, &i, &v, PARAM(g, "x", F32));
            arrjit_for_end(g, 1, &v, &out);
            arrjit_neg(g, v);
          });
  REFUSED(f, MISUSE, "it is a value given to it, exn, in handler 0 of the try;", {
    arrjit_value exn;
    arrjit_at(g, NULL, 0);
    (arrjit_try_begin)(g);
    (arrjit_try_handler)(g, 0, NULL, ARRJIT_KIND_ERROR, &exn);
    (arrjit_try_finally)(g, 0, NULL);
    (arrjit_raise_exn)(g, exn);
  });
}

/* Each call under its own name, whatever it is made of. */
static void test_errors_name_the_call(void **state) {
  tk_fixture *f = *state;
  const arrjit_type bad = {.dtype = ARRJIT_F32, .rank = 99};
  arrjit_value out, none = NULL;
#define NAMES(name, status, ...) REFUSED(f, status, name ": ", __VA_ARGS__)
  NAMES("define", MISUSE, (arrjit_define)(g, 55, &out));
  NAMES("call", MISUSE, (arrjit_call)(g, 55, 0, NULL, &out));
  NAMES("declare", MISUSE, (arrjit_declare)(g, "f", 1, &bad, 0, NULL));
  NAMES("param", MISUSE, (arrjit_param)(g, "x", &bad));
  NAMES("const", MISUSE, (arrjit_const)(g, &bad, "x"));
  NAMES("const_like", MISUSE, arrjit_const_like(g, NULL, 1));
  NAMES("symbol", MISUSE, arrjit_symbol(g, "2n"));
  NAMES("return", MISUSE, (arrjit_return)(g, 1, &none, NULL));
  NAMES("slot_io", MISUSE, (arrjit_slot_io)(g, "", 0, NULL, 0));
  NAMES("slot_value", MISUSE, (arrjit_slot_value)(g, "", 0, NULL, 0, NULL, 0));
  NAMES("callback", MISUSE, (arrjit_callback)(g, 7, 0, NULL, NULL));
  NAMES("raise_from", MISUSE, (arrjit_raise_from)(g, NULL, NULL));
  NAMES("raise_exn", MISUSE, (arrjit_raise_exn)(g, NULL));
  NAMES("runtime_raise", MISUSE, (arrjit_runtime_raise)(g, "x", 1, &none));
  NAMES("exn_is", MISUSE, (arrjit_exn_is)(g, NULL, ARRJIT_KIND_ERROR));
  NAMES("exn_field", MISUSE, (arrjit_exn_field)(g, NULL, 0, NULL, NULL));
  NAMES("label_push", MISUSE, (arrjit_label_push)(g, NULL));
  NAMES("concat", MISUSE, (arrjit_concat)(g, 1, NULL, 0));
  NAMES("if_else", MISUSE, {
    arrjit_if_begin(g, arrjit_const_bool(g, 1));
    (arrjit_if_else)(g, 1, NULL);
  });
  NAMES("while_begin", MISUSE, (arrjit_while_begin)(g, 1, NULL, &out));
  tk_finish_fails(f, tk_graph(f), ARRJIT_GRAPH,
                  "graph_finish: function main is begun but not ended; arrjit_return ends it", NULL);
  /* a construct spans several calls: what is wrong with it as a whole has its own name */
  NAMES("if", TYPE, (arrjit_if_begin)(g, arrjit_const_i64(g, 1)));
#undef NAMES
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TK_TEST(test_values_of_ended_arms_are_described),
      TK_TEST(test_values_given_to_ended_arms_are_described),
      TK_TEST(test_errors_name_the_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
