/* What a failure tells: its kind in the tree of kinds, the payload that the kind demands, the message made from it, the
 * host's pointer, causes and contexts. */
#include "hosting.h"

static arrjit_kind add_kind(tk_fixture *f, const char *name, arrjit_kind parent, const char *fields) {
  arrjit_kind kind;
  arrjit_error error;
  if (arrjit_context_add_kind(f->context, name, parent, fields, &kind, &error) != ARRJIT_OK)
    fail_msg("%s", error.message);
  return kind;
}

/* ---- payload signatures ---- */

/* A child's payload begins with its parent's fields; "..." lets more follow. Each row builds raise, check and exn_new.
 */
static void test_payload_is_checked_when_it_is_built(void **state) {
  tk_fixture *f = *state;
  arrjit_kind parent = add_kind(f, "parent", ARRJIT_KIND_ERROR, "i64[0]");
  arrjit_kind child = add_kind(f, "parent.child", parent, "f32[1]");
  arrjit_kind open = add_kind(f, "parent.open", parent, "..."), none = add_kind(f, "none", ARRJIT_KIND_THROW, "");
  const struct {
    arrjit_kind kind;
    const char *given; /* i: i64 scalar, v: f32 vector, b: bool scalar */
    const char *part;  /* of the message; NULL: it is right */
  } rows[] = {{parent, "i", NULL},
              {parent, "", "kind parent has 1 fields"},
              {parent, "ii", "kind parent has 1 fields"},
              {parent, "b", "kind parent has i64 of rank 0"},
              {child, "iv", NULL},
              {child, "i", "kind parent.child has 2 fields"},
              {child, "ii", "payload 1 is i64; kind parent.child has f32 of rank 1"},
              {child, "vi", "payload 0 is f32"},
              {open, "i", NULL},
              {open, "ivb", NULL},
              {open, "", "kind parent.open has 1 fields or more"},
              {open, "b", "kind parent.open has i64 of rank 0"},
              {none, "", NULL},
              {none, "i", "kind none has 0 fields"},
              {ARRJIT_KIND_RUNTIME, "bvi", NULL},
              {ARRJIT_KIND_SHAPE, "i", "kind shape has 0 fields"}};
  for (size_t k = 0; k < TK_COUNT(rows); k++)
    for (int how = 0; how < 3; how++) {
      arrjit_graph *g = tk_graph(f);
      arrjit_value i = PARAM(g, "i", I64), v = PARAM(g, "v", F32, 2), b = PARAM(g, "b", BOOL), payload[4];
      size_t count = strlen(rows[k].given);
      for (size_t n = 0; n < count; n++) payload[n] = rows[k].given[n] == 'i' ? i : rows[k].given[n] == 'v' ? v : b;
      if (how == 0) arrjit_raise(g, rows[k].kind, 0, NULL, count, payload);
      if (how == 1) arrjit_check(g, b, rows[k].kind, 0, NULL, count, payload, 0, NULL, NULL);
      if (how == 2) arrjit_raise_exn(g, arrjit_exn_new(g, rows[k].kind, 0, NULL, count, payload));
      RETURN(g);
      if (rows[k].part) {
        tk_finish_fails(f, g, ARRJIT_TYPE, rows[k].part, NULL);
        continue;
      }
      arrjit_array *vector = ARRAY(f, F32, 1.5, -2);
      const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 9), vector, SCALAR(f, BOOL, 0));
      EXPECT_FAILURE(o, rows[k].kind, 0, NULL);
      assert_int_equal(o->payload_count, count);
      for (size_t n = 0; n < count; n++) {
        if (rows[k].given[n] == 'i') EXPECT_PAYLOAD(o, n, I64, 9);
        if (rows[k].given[n] == 'v') EXPECT_PAYLOAD(o, n, F32, 1.5, -2);
        if (rows[k].given[n] == 'b') EXPECT_PAYLOAD(o, n, BOOL, 0);
      }
    }
}

/* Fixed fields and further ones, arrays too, are read back in a handler for the kind above. */
static void test_handlers_read_fixed_and_further_fields(void **state) {
  tk_fixture *f = *state;
  arrjit_kind base = add_kind(f, "base", ARRJIT_KIND_ERROR, "i64[0]");
  arrjit_kind more = add_kind(f, "base.more", base, "f32[1], ...");
  arrjit_graph *g = tk_graph(f);
  arrjit_value i = PARAM(g, "i", I64), v = PARAM(g, "v", F32, 3), exn, there[4], out[8];
  arrjit_type i64 = TYPE(I64), vec = TYPE(F32, 3), longer = TYPE(F32, 4), boolean = TYPE(BOOL);
  arrjit_try_begin(g);
  RAISE(g, more, 0, NULL, i, arrjit_neg(g, v), arrjit_gt(g, i, arrjit_const_i64(g, 0)));
  arrjit_try_handler(g, 0, NULL, base, &exn);
  arrjit_value first = arrjit_exn_field(g, exn, 0, &i64, &there[0]);
  arrjit_value second = arrjit_exn_field(g, exn, 1, &vec, &there[1]);
  arrjit_value wrong = arrjit_exn_field(g, exn, 1, &longer, &there[2]);
  arrjit_value third = arrjit_exn_field(g, exn, 2, &boolean, &there[3]);
  arrjit_try_end(g, LIST(first, there[0], second, there[1], wrong, there[2], third, there[3]), out);
  RETURN(g, out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7]);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 6), ARRAY(f, F32, 1, 2, 3));
  EXPECT(o, 0, I64, 6);
  EXPECT(o, 1, BOOL, 1);
  EXPECT(o, 2, F32, -1, -2, -3);
  EXPECT(o, 3, BOOL, 1);
  EXPECT(o, 4, F32, 0, 0, 0, 0);
  EXPECT(o, 5, BOOL, 0);
  EXPECT(o, 6, BOOL, 1);
  EXPECT(o, 7, BOOL, 1);
}

/* ---- messages ---- */

static void test_case_f38_every_dtype_is_rendered(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), n = PARAM(g, "n", U64), v = PARAM(g, "v", F32, 10), e = PARAM(g, "e", I8, 0, 3);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, "{0} {1} {2} {3} {4} {0}{0} {{5}} {} {x}", x, n, v, e, arrjit_eq(g, x, x));
  RETURN(g);
  arrjit_array *vector = ARRAY(f, F32, NAN, INFINITY, -INFINITY, -0.0f, 1e-45f, 3.4e38f, 7, 8, 9, 10);
  arrjit_array *empty = tk_array(f, TYPE(I8, 0, 3), NULL);
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, F64, NAN), SCALAR(f, U64, UINT64_MAX), vector, empty);
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0,
                 "nan 18446744073709551615 f32[10] = [nan, inf, -inf, -0, 1e-45, 3.4e+38, 7, 8, ...] i8[0,3] = [] "
                 "false nannan {5} {} {x}");
}

/* However long the template and whatever it holds, the message ends. */
static void test_case_f38_messages_are_bounded(void **state) {
  tk_fixture *f = *state;
  enum { LONG = 100000 };
  char *text = tk_new(LONG + 1, 1);
  for (int unit = 0; unit < 3; unit++) {
    static const char *const units[] = {"{0}", "\xc3\xa9", "{"}; /* a field, a letter of two bytes, no placeholder */
    size_t length = strlen(units[unit]);
    for (size_t k = 0; k + length <= LONG; k += length) memcpy(text + k, units[unit], length), text[k + length] = 0;
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", I64);
    RAISE(g, ARRJIT_KIND_RUNTIME, 0, text, x);
    RETURN(g);
    const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, INT64_MIN));
    size_t bytes = strlen(o->message);
    assert_in_range(bytes, 4000, 4096);
    assert_string_equal(o->message + bytes - 3, "...");
    assert_true(unit != 1 || (bytes - 3) % 2 == 0); /* no half of a letter */
  }
  free(text);
}

/* ---- the host's pointer ---- */

static int destroyed;
static void count_destroy(void *pointer) {
  (void)pointer;
  destroyed++;
}

static arrjit_status fail_with_pointer(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                       const arrjit_view *results) {
  (void)n, (void)args, (void)m, (void)results;
  arrjit_failure failure = {
      .struct_bytes = sizeof failure, .code = 8, .host_pointer = user, .host_destroy = count_destroy};
  return arrjit_fail(call, &failure);
}

/* A callback's failure that is raised again, out of a loop, has the pointer; as the cause of another, that one's cause
 * has it; one that is handled gives it back during the run. */
static void test_the_hosts_pointer_goes_where_the_failure_goes(void **state) {
  tk_fixture *f = *state;
  enum { AGAIN, FROM, HANDLED };
  for (int way = AGAIN; way <= HANDLED; way++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F64), exn, seen, out;
    arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(F64)), 0);
    arrjit_try_begin(g);
    CALLBACK(g, slot, &seen, x);
    arrjit_try_handler(g, 1, &seen, ARRJIT_KIND_CALLBACK, &exn);
    if (way == AGAIN) arrjit_raise_exn(g, exn);
    if (way == FROM) arrjit_raise_from(g, EXN_NEW(g, ARRJIT_KIND_RUNTIME, 1, "from", x), exn);
    arrjit_try_end(g, way == HANDLED, &x, &out);
    RETURN(g, out);
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *input = SCALAR(f, F64, 4);
    for (int whole = 0; whole <= tk_native(); whole++) {
      int object = 0;
      arrjit_binding binding = {.slot = "cb", .callback = fail_with_pointer, .user = &object};
      destroyed = 0;
      arrjit_result *result = run_bound(function, whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP, &binding, 1, &input);
      assert_int_equal(arrjit_result_ok(result), way == HANDLED);
      assert_int_equal(destroyed, way == HANDLED);
      assert_ptr_equal(arrjit_result_host_pointer(result), way == AGAIN ? &object : NULL);
      if (way == FROM) assert_ptr_equal(arrjit_result_host_pointer(arrjit_result_cause(result)), &object);
      if (way == AGAIN) assert_int_equal(arrjit_result_code(result), 8);
      arrjit_result_destroy(result);
      assert_int_equal(destroyed, 1);
    }
  }
}

/* ---- causes and contexts ---- */

/* f(n): try { n > 0 ? f(n - 1) : raise } handler { raise n, from what is handled or not }. */
static arrjit_function *chain(tk_fixture *f, bool from) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), m, inner, out, exn, result;
  arrjit_callee down = arrjit_declare(g, "down", TYPES(TYPE(I64)), TYPES(TYPE(I64)));
  arrjit_define(g, down, &m);
  arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_gt(g, m, arrjit_const_i64(g, 0)));
  CALL(g, down, &inner, arrjit_sub(g, m, arrjit_const_i64(g, 1)));
  arrjit_if_else(g, 1, &inner);
  arrjit_runtime_raise(g, "first", 0, NULL);
  arrjit_if_end(g, 0, NULL, &out);
  arrjit_try_handler(g, 1, &out, ARRJIT_KIND_ERROR, &exn);
  if (from) arrjit_raise_from(g, EXN_NEW(g, ARRJIT_KIND_RUNTIME, 0, "level {0}", m), exn);
  if (!from) RAISE(g, ARRJIT_KIND_RUNTIME, 0, "level {0}", m);
  arrjit_try_end(g, 0, NULL, &out);
  RETURN(g, out);
  CALL(g, down, &result, n);
  RETURN(g, result);
  return tk_finish(f, g);
}

static void test_causes_and_contexts_are_linked_to_a_depth_of_32(void **state) {
  tk_fixture *f = *state;
  for (int from = 0; from < 2; from++) {
    arrjit_function *function = chain(f, from);
    for (int64_t levels = 3; levels < 60; levels += 14) {
      arrjit_array *n = SCALAR(f, I64, levels);
      EXPECT_FAILURE(RUN(f, function, n), ARRJIT_KIND_RUNTIME, 0, NULL);
      for (int whole = 0; whole <= tk_native(); whole++) {
        arrjit_run_options options = {.struct_bytes = sizeof options,
                                      .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
        arrjit_result *result = NULL, *at;
        assert_int_equal(arrjit_run(function, &options, 1, &n, &result, NULL), ARRJIT_OK);
        int64_t depth = 0;
        for (at = result; at; at = from ? arrjit_result_cause(at) : arrjit_result_context(at)) {
          char want[32];
          snprintf(want, sizeof want, depth > levels ? "first" : "level %d", (int)(levels - depth));
          assert_string_equal(arrjit_result_message(at), want);
          depth++;
        }
        assert_true(depth <= 32);
        if (levels < 30) assert_int_equal(depth, levels + 2);
        arrjit_result_destroy(result);
      }
    }
  }
}

/* ---- no memory ---- */

/* Every allocation of a warm run is refused once: the run gives its own failure, or kind memory, which has the failure
 * it stands for as its context where only the payload was too big. */
static void test_a_payload_without_memory_gives_kind_memory(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value v = PARAM(g, "v", F64, 100);
  RAISE(g, ARRJIT_KIND_RUNTIME, 6, "original", v);
  RETURN(g);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = tk_array(f, TYPE(F64, 100), NULL);
  for (int whole = 0; whole <= tk_native(); whole++) {
    int originals = 0, memories = 0, contexts = 0;
    for (int64_t n = 0; originals < 2; n++) {
      arrjit_run_options options = {.struct_bytes = sizeof options,
                                    .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP};
      arrjit_result *result = NULL;
      tk_alloc_arm(&f->alloc, n);
      arrjit_status status = arrjit_run(function, &options, 1, &input, &result, NULL);
      tk_alloc_arm(&f->alloc, 0);
      if (status != ARRJIT_OK) {
        assert_int_equal(status, ARRJIT_MEMORY);
        continue;
      }
      arrjit_result *context = arrjit_result_context(result);
      if (arrjit_result_kind(result) == ARRJIT_KIND_RUNTIME) {
        originals++;
      } else {
        assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_MEMORY);
        atomic_store(&f->alloc.most, 1); /* and there is none for the message either */
        assert_int_equal(strncmp(arrjit_result_message(result), "no memory", 9), 0);
        atomic_store(&f->alloc.most, 0);
        memories++;
      }
      if (context) {
        assert_int_equal(arrjit_result_kind(context), ARRJIT_KIND_RUNTIME);
        assert_int_equal(arrjit_result_code(context), 6);
        assert_string_equal(arrjit_result_message(context), "original");
        assert_int_equal(arrjit_result_payload_count(context), 0);
        contexts++;
      }
      arrjit_result_destroy(result);
    }
    assert_true(memories > 0);
    assert_true(contexts > 0);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_payload_is_checked_when_it_is_built),
    TK_TEST(test_handlers_read_fixed_and_further_fields),
    TK_TEST(test_case_f38_every_dtype_is_rendered),
    TK_TEST(test_case_f38_messages_are_bounded),
    TK_TEST(test_the_hosts_pointer_goes_where_the_failure_goes),
    TK_TEST(test_causes_and_contexts_are_linked_to_a_depth_of_32),
    TK_TEST(test_a_payload_without_memory_gives_kind_memory),
};

TEST_MAIN(tests, NULL, NULL)
