/* Exceptions as values: messages, traces, links, raising again, and the results that show them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "engine/engine.h"
#include "test_main.h"

typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_core *core;
} fixture;

static void begin(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  f->core = aj_core_create(&f->host);
  assert_non_null(f->core);
}

static void end(fixture *f) {
  aj_core_release(f->core);
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static aj_view scalar(arrjit_dtype dtype, void *data) { return (aj_view){.dtype = dtype, .data = data}; }

static aj_view vector(arrjit_dtype dtype, int64_t n, void *data) {
  return (aj_view){.dtype = dtype, .rank = 1, .data = data, .dims = {n}, .strides = {aj_dtypes[dtype].bytes}};
}

/* Takes exn. */
static arrjit_result *result_of(fixture *f, aj_exn *exn) {
  assert_non_null(exn);
  arrjit_result *result = aj_result_create(f->core, 0);
  assert_non_null(result);
  result->exn = exn;
  return result;
}

static void check_message(fixture *f, const char *template, uint32_t count, const aj_view *payload,
                          const char *expected) {
  arrjit_result *result = result_of(f, aj_exn_create_views(f->core, ARRJIT_KIND_RUNTIME, 0, template, count, payload));
  assert_string_equal(arrjit_result_message(result), expected);
  assert_string_equal(arrjit_result_message(result), expected);
  arrjit_result_destroy(result);
}

/* ---- messages ---- */

static void test_message_fills_in_the_payload(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double x = 0.1, nan = (double)NAN, minus = -(double)INFINITY;
  float narrow = 1e-45f;
  int64_t i = INT64_MIN;
  uint64_t u = UINT64_MAX;
  int8_t small = -1;
  uint8_t byte = 255, yes = 1, no = 0;
  const aj_view payload[] = {scalar(ARRJIT_F64, &x),      scalar(ARRJIT_F64, &nan), scalar(ARRJIT_F64, &minus),
                             scalar(ARRJIT_F32, &narrow), scalar(ARRJIT_I64, &i),   scalar(ARRJIT_U64, &u),
                             scalar(ARRJIT_I8, &small),   scalar(ARRJIT_U8, &byte), scalar(ARRJIT_BOOL, &yes),
                             scalar(ARRJIT_BOOL, &no)};
  check_message(&f, "{0} {1} {2} {3} {4} {5} {6} {7} {8} {9}", 10, payload,
                "0.1 nan -inf 1e-45 -9223372036854775808 18446744073709551615 -1 255 true false");
  check_message(&f, "bad value {6} at {7}", 10, payload, "bad value -1 at 255");
  check_message(&f, NULL, 0, NULL, "runtime");
  check_message(&f, "", 0, NULL, "");
  end(&f);
}

static void test_message_escapes_and_oddities(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int64_t i = 5;
  aj_view one = scalar(ARRJIT_I64, &i);
  check_message(&f, "{{0}} {0}", 1, &one, "{0} 5");
  check_message(&f, "{{{0}}}", 1, &one, "{5}");
  check_message(&f, "{7} {1}", 1, &one, "{7} {1}");
  check_message(&f, "{7}}}", 1, &one, "{7}}");
  check_message(&f, "{} {x} {-1} {0 } { 0}", 1, &one, "{} {x} {-1} {0 } { 0}");
  check_message(&f, "{", 1, &one, "{");
  check_message(&f, "{0", 1, &one, "{0");
  check_message(&f, "}", 1, &one, "}");
  check_message(&f, "{00} {4294967296} {99999999999999999999}", 1, &one, "5 {4294967296} {99999999999999999999}");
  check_message(&f, "100% %s %n", 1, &one, "100% %s %n");
  char escaped[8];
  aj_exn_escape(escaped, sizeof escaped, "a{b}c");
  assert_string_equal(escaped, "a{{b}}c");
  aj_exn_escape(escaped, sizeof escaped, "aaaaaaa{");
  assert_true(strlen(escaped) < sizeof escaped);
  end(&f);
}

static void test_message_shows_arrays(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double numbers[10] = {1, 2.5, 3, 4, 5, 6, 7, 8, 9, 10};
  aj_view three = vector(ARRJIT_F64, 3, numbers), ten = vector(ARRJIT_F64, 10, numbers),
          none = vector(ARRJIT_F64, 0, NULL);
  aj_view backwards = {
      .dtype = ARRJIT_F64, .rank = 2, .data = (char *)(numbers + 3), .dims = {2, 2}, .strides = {-16, -8}};
  const aj_view payload[] = {three, ten, none, backwards};
  check_message(
      &f, "{0}; {1}; {2}; {3}", 4, payload,
      "f64[3] = [1, 2.5, 3]; f64[10] = [1, 2.5, 3, 4, 5, 6, 7, 8, ...]; f64[0] = []; f64[2,2] = [4, 3, 2.5, 1]");
  end(&f);
}

static void test_message_is_bounded(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  static char text[3 * AJ_MESSAGE_BYTES];
  for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa4", 2);
  for (size_t offset = 0; offset < 2; offset++) {
    memcpy(text, offset ? "xx" : "\xc3\xa4", 2);
    memcpy(text + 2, offset ? "x\xc3\xa4" : "\xc3\xa4\xc3", 3);
    arrjit_result *result = result_of(&f, aj_exn_create_views(f.core, ARRJIT_KIND_RUNTIME, 0, text + offset, 0, NULL));
    const char *message = arrjit_result_message(result);
    size_t length = strlen(message);
    assert_true(length <= AJ_MESSAGE_BYTES && length > AJ_MESSAGE_BYTES - 3);
    assert_string_equal(message + length - 3, "...");
    assert_true((unsigned char)message[length - 4] == 0xa4);
    arrjit_result_destroy(result);
  }
  int64_t i = 7;
  aj_view one = scalar(ARRJIT_I64, &i);
  for (size_t at = 0; at + 3 < sizeof text; at += 3) memcpy(text + at, "{0}", 3);
  arrjit_result *result = result_of(&f, aj_exn_create_views(f.core, ARRJIT_KIND_RUNTIME, 0, text, 1, &one));
  assert_int_equal(strlen(arrjit_result_message(result)), AJ_MESSAGE_BYTES);
  arrjit_result_destroy(result);
  end(&f);
}

/* ---- traces ---- */

static aj_func func = {.name = "main"}, helper = {.name = "helper"};
static aj_region region = {.func = &func}, inner = {.func = &helper};
static aj_node add = {.op = AJ_OP_ADD, .id = 4, .parent = &inner, .source = {"/home/x/model.c", 12, "net/norm"}};
static aj_node loop = {.op = AJ_OP_WHILE, .id = 2, .parent = &region, .source = {"model.c", 7, NULL}};
static aj_node bare = {.op = AJ_OP_SWITCH, .id = 1, .parent = &region};

static void test_trace_keeps_both_ends(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  enum { MOST = 400 };
  for (int64_t total = 1; total <= MOST; total += total < 200 ? 1 : 67) {
    aj_exn *exn = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "m", 0, NULL);
    for (int64_t i = 0; i < total; i++) aj_trace_add(exn, (aj_site){.node = &loop, .arm = AJ_ARM_BODY, .iteration = i});
    const int64_t most = AJ_TRACE_INNER + AJ_TRACE_OUTER;
    int64_t kept = total < most ? total : most, omitted = total - kept;
    arrjit_result *result = result_of(&f, exn);
    assert_int_equal(arrjit_result_trace_count(result), kept);
    assert_int_equal(arrjit_result_trace_omitted(result), omitted);
    for (int64_t i = 0; i < kept; i++) {
      arrjit_trace_entry entry;
      assert_int_equal(arrjit_result_trace(result, (size_t)i, &entry), ARRJIT_OK);
      assert_int_equal(entry.iteration, i < AJ_TRACE_INNER ? i : i + omitted);
    }
    arrjit_trace_entry entry;
    assert_int_equal(arrjit_result_trace(result, (size_t)kept, &entry), ARRJIT_MISUSE);
    arrjit_result_destroy(result);
  }
  end(&f);
}

static void test_trace_without_memory_only_counts(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  aj_exn *exn = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "m", 0, NULL);
  for (int64_t i = 0; i < 200; i++) {
    tk_alloc_arm(&f.alloc, i == 16 ? 1 : 0);
    aj_trace_add(exn, (aj_site){.node = &loop, .iteration = i});
  }
  assert_int_equal(exn->trace.count, 16);
  assert_int_equal(exn->trace.total, 200);
  for (uint32_t i = 0; i < 16; i++) assert_int_equal(aj_trace_get(&exn->trace, i).iteration, i);
  aj_exn_release(exn);
  end(&f);
}

static void test_trace_entries_say_where(void **state) {
  (void)state;
  static const struct {
    aj_site site;
    const char *arm;
  } rows[] = {
      {{&add, AJ_ARM_NONE, 0, -1}, ""},
      {{&loop, AJ_ARM_BODY, 0, 5}, "body"},
      {{&loop, AJ_ARM_COND, 0, 0}, "cond"},
      {{&bare, AJ_ARM_CASE, 2, -1}, "case 2"},
      {{&bare, AJ_ARM_THEN, 0, -1}, "then"},
      {{&bare, AJ_ARM_ELSE, 0, -1}, "else"},
      {{&bare, AJ_ARM_HANDLER, 65535, -1}, "handler 65535"},
      {{&bare, AJ_ARM_FINALLY, 0, -1}, "finally"},
      {{&bare, AJ_ARM_LANE, 0, 3}, "lane"},
  };
  const size_t count = sizeof rows / sizeof *rows;
  fixture f;
  begin(&f);
  aj_exn *exn = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "m", 0, NULL);
  for (size_t i = 0; i < count; i++) aj_trace_add(exn, rows[i].site);
  arrjit_result *result = result_of(&f, exn);
  arrjit_trace_entry entries[sizeof rows / sizeof *rows];
  for (size_t i = 0; i < count; i++) assert_int_equal(arrjit_result_trace(result, i, &entries[i]), ARRJIT_OK);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(entries[i].arm, rows[i].arm);
    assert_int_equal(entries[i].iteration, rows[i].site.iteration);
    assert_int_equal(entries[i].node, rows[i].site.node->id);
  }
  assert_string_equal(entries[0].function, "helper");
  assert_string_equal(entries[0].op, "add");
  assert_string_equal(entries[0].label, "net/norm");
  assert_string_equal(entries[0].file, "/home/x/model.c");
  assert_int_equal(entries[0].line, 12);
  assert_string_equal(entries[1].label, "");
  assert_string_equal(entries[3].file, "");
  assert_string_equal(entries[3].function, "main");
  arrjit_result_destroy(result);
  end(&f);
}

/* ---- links ---- */

static void test_raising_again_shares_the_reason(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int64_t i = 5;
  aj_view one = scalar(ARRJIT_I64, &i);
  aj_exn *exn = aj_exn_create_views(f.core, ARRJIT_KIND_ARITH, 3, "value {0}", 1, &one);
  aj_trace_add(exn, (aj_site){.node = &add, .iteration = -1});
  aj_exn *again = aj_exn_again(exn);
  aj_exn *third = aj_exn_again(again);
  assert_ptr_equal(third->payload[0], exn->payload[0]);
  assert_ptr_equal(third->origin, exn);
  aj_trace_add(third, (aj_site){.node = &loop, .arm = AJ_ARM_BODY, .iteration = 1});
  assert_int_equal(exn->trace.count, 1);
  assert_int_equal(third->trace.count, 2);
  aj_exn_link(third, again, exn); /* itself: no link */
  assert_null(third->cause);
  assert_null(third->context);
  aj_exn_release(exn);
  aj_exn_release(again);
  arrjit_result *result = result_of(&f, third);
  assert_string_equal(arrjit_result_message(result), "value 5");
  assert_int_equal(arrjit_result_code(result), 3);
  assert_int_equal(*(int64_t *)arrjit_array_data(arrjit_result_payload(result, 0)), 5);
  arrjit_result_destroy(result);
  end(&f);
}

static void test_links_end_at_their_depth(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  aj_exn *last = NULL;
  char text[16];
  for (int i = 1; i <= AJ_EXN_DEPTH; i++) {
    snprintf(text, sizeof text, "m%d", i);
    aj_exn *exn = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, text, 0, NULL);
    aj_exn_link(exn, i % 2 ? last : NULL, i % 2 ? NULL : last);
    assert_int_equal(exn->depth, i);
    aj_exn_release(last);
    last = exn;
  }
  aj_exn *top = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "top", 0, NULL);
  aj_exn_link(top, last, NULL);
  assert_null(top->cause);
  aj_exn_release(top);
  arrjit_result *result = result_of(&f, last), *at = result;
  int depth = 0;
  for (; at; at = arrjit_result_cause(at) ? arrjit_result_cause(at) : arrjit_result_context(at)) depth++;
  assert_int_equal(depth, AJ_EXN_DEPTH);
  assert_non_null(strstr(arrjit_result_text(result), "while handling: runtime: m31\n"));
  assert_non_null(strstr(arrjit_result_text(result), "caused by: runtime: m30\n"));
  assert_non_null(strstr(arrjit_result_text(result), "m1\n"));
  arrjit_result_destroy(result);
  end(&f);
}

static void test_shared_links_do_not_multiply(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  aj_exn *chain[AJ_EXN_DEPTH];
  for (int i = 0; i < AJ_EXN_DEPTH; i++) {
    chain[i] = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "m", 0, NULL);
    aj_exn_link(chain[i], i > 0 ? chain[i - 1] : NULL, i > 1 ? chain[i - 2] : NULL);
  }
  for (int i = 0; i + 1 < AJ_EXN_DEPTH; i++) aj_exn_release(chain[i]);
  arrjit_result *result = result_of(&f, chain[AJ_EXN_DEPTH - 1]);
  int blocks = 0;
  for (const char *at = arrjit_result_text(result); (at = strstr(at, "runtime: m\n")); at++) blocks++;
  assert_int_equal(blocks, AJ_EXN_DEPTH);
  arrjit_result_destroy(result);
  end(&f);
}

static void test_the_exn_for_lack_of_memory_stays_as_it_is(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  aj_exn *exn = aj_exn_no_memory(f.core), *other = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "m", 0, NULL);
  for (int i = 0; i < 3; i++) aj_exn_release(exn);
  aj_exn_retain(exn);
  aj_trace_add(exn, (aj_site){.node = &add, .iteration = -1});
  aj_exn_link(exn, other, other);
  assert_ptr_equal(aj_exn_again(exn), exn);
  assert_int_equal(exn->trace.total, 0);
  assert_null(exn->cause);
  aj_exn_link(other, exn, NULL);
  arrjit_result *result = result_of(&f, other);
  assert_int_equal(arrjit_result_kind(arrjit_result_cause(result)), ARRJIT_KIND_MEMORY);
  assert_string_equal(arrjit_result_message(arrjit_result_cause(result)), "no memory");
  arrjit_result_destroy(result);
  end(&f);
}

/* ---- results ---- */

static void test_text_of_a_failure(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int64_t i = 3;
  double numbers[2] = {1, 2};
  const aj_view payload[] = {scalar(ARRJIT_I64, &i), vector(ARRJIT_F64, 2, numbers)};
  aj_exn *cause = aj_exn_create_views(f.core, ARRJIT_KIND_RUNTIME, 0, "root {0}", 1, payload);
  aj_trace_add(cause, (aj_site){.node = &bare, .arm = AJ_ARM_CASE, .arm_index = 2, .iteration = -1});
  aj_exn *exn = aj_exn_create_views(f.core, ARRJIT_KIND_ARITH, 2, "overflow at {0}", 2, payload);
  aj_trace_add(exn, (aj_site){.node = &add, .iteration = -1});
  aj_trace_add(exn, (aj_site){.node = &loop, .arm = AJ_ARM_BODY, .iteration = 5});
  aj_exn_link(exn, cause, cause);
  aj_exn_release(cause);
  arrjit_result *result = result_of(&f, exn);
  assert_string_equal(arrjit_result_text(result), "error: arith: overflow at 3\n"
                                                  "  code: 2\n"
                                                  "  payload 0: i64 = 3\n"
                                                  "  payload 1: f64[2] = [1, 2]\n"
                                                  "  at add #4 in helper (model.c:12) [net/norm]\n"
                                                  "  at while #2 in main (model.c:7) body iteration 5\n"
                                                  "caused by: runtime: root 3\n"
                                                  "  payload 0: i64 = 3\n"
                                                  "  at switch #1 in main case 2\n");
  assert_string_equal(arrjit_result_kind_name(result), "arith");
  assert_int_equal(arrjit_result_ok(result), 0);
  assert_ptr_equal(arrjit_result_cause(result), arrjit_result_cause(result));
  arrjit_result_destroy(result);
  end(&f);
}

static void test_results_stand_null_and_success(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_result *results[2] = {NULL, aj_result_create(f.core, 0)};
  arrjit_trace_entry entry;
  for (int i = 0; i < 2; i++) {
    arrjit_result *r = results[i];
    assert_int_equal(arrjit_result_ok(r), i);
    assert_int_equal(arrjit_result_output_count(r), 0);
    assert_null(arrjit_result_output(r, 0));
    assert_int_equal(arrjit_result_consumed(r), 0);
    assert_int_equal(arrjit_result_touched(r), 0);
    assert_int_equal(arrjit_result_kind(r), ARRJIT_KIND_NONE);
    assert_string_equal(arrjit_result_kind_name(r), "");
    assert_int_equal(arrjit_result_code(r), 0);
    assert_string_equal(arrjit_result_message(r), "");
    assert_string_equal(arrjit_result_text(r), "");
    assert_int_equal(arrjit_result_payload_count(r), 0);
    assert_null(arrjit_result_payload(r, 0));
    assert_null(arrjit_result_host_pointer(r));
    assert_int_equal(arrjit_result_trace_count(r), 0);
    assert_int_equal(arrjit_result_trace_omitted(r), 0);
    assert_int_equal(arrjit_result_trace(r, 0, &entry), ARRJIT_MISUSE);
    assert_null(arrjit_result_cause(r));
    assert_null(arrjit_result_context(r));
    arrjit_result_destroy(r);
  }
  end(&f);
}

static void test_results_without_memory_for_text(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  aj_exn *cause = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "cause", 0, NULL);
  aj_exn *exn = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "message", 0, NULL);
  aj_exn_link(exn, cause, NULL);
  aj_exn_release(cause);
  aj_trace_add(exn, (aj_site){.node = &add, .iteration = -1});
  arrjit_result *result = result_of(&f, exn);
  arrjit_trace_entry entry;
  tk_alloc_arm(&f.alloc, 1);
  assert_string_equal(arrjit_result_message(result), "");
  assert_string_equal(arrjit_result_message(result), "message");
  tk_alloc_arm(&f.alloc, 2);
  assert_string_equal(arrjit_result_text(result), "");
  assert_true(strlen(arrjit_result_text(result)) > 0);
  tk_alloc_arm(&f.alloc, 1);
  assert_int_equal(arrjit_result_trace(result, 0, &entry), ARRJIT_MEMORY);
  assert_int_equal(arrjit_result_trace(result, 0, &entry), ARRJIT_OK);
  tk_alloc_arm(&f.alloc, 1);
  assert_null(arrjit_result_cause(result));
  assert_non_null(arrjit_result_cause(result));
  arrjit_result_destroy(result);
  end(&f);
}

/* ---- lack of memory while raising ---- */

static void test_raising_always_sets_something(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  double numbers[4] = {1, 2, 3, 4};
  aj_view payload[] = {vector(ARRJIT_F64, 4, numbers), scalar(ARRJIT_F64, numbers)};
  int64_t live = atomic_load(&f.alloc.live_bytes);
  int contexts = 0;
  for (int64_t n = 1;; n++) {
    aj_run run = {.core = f.core};
    tk_alloc_arm(&f.alloc, n);
    assert_false(aj_run_raise_views(&run, ARRJIT_KIND_RUNTIME, 1, "message {0}", 2, payload));
    assert_non_null(run.exn);
    bool refused = atomic_load(&f.alloc.failed) > 0;
    assert_int_equal(run.exn->kind, refused ? ARRJIT_KIND_MEMORY : ARRJIT_KIND_RUNTIME);
    if (run.exn->context) {
      assert_int_equal(run.exn->context->kind, ARRJIT_KIND_RUNTIME);
      contexts++;
    }
    aj_exn *again = aj_exn_again(run.exn);
    aj_exn_release(run.exn);
    aj_exn_release(again);
    assert_int_equal(atomic_load(&f.alloc.live_bytes), live);
    if (!refused) break;
  }
  assert_true(contexts > 2);
  end(&f);
}

static void test_raising_again_without_memory(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  aj_exn *exn = aj_exn_create(f.core, ARRJIT_KIND_RUNTIME, 0, "m", 0, NULL);
  aj_trace_add(exn, (aj_site){.node = &add, .iteration = -1});
  for (int64_t n = 1; n <= 2; n++) {
    tk_alloc_arm(&f.alloc, n);
    assert_null(aj_exn_again(exn));
  }
  tk_alloc_arm(&f.alloc, 0);
  aj_exn_release(exn);
  end(&f);
}

static void test_failures_of_checked_ops_have_their_payload(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int32_t a[6] = {0, 1, 2, 3, 4, 5}, b = 7;
  const aj_view operands[] = {
      {.dtype = ARRJIT_I32, .rank = 2, .data = (char *)(a + 5), .dims = {2, 3}, .strides = {-12, -4}},
      {.dtype = ARRJIT_I32, .rank = 2, .data = (char *)&b, .dims = {2, 3}, .strides = {0, 0}}};
  aj_run run = {.core = f.core};
  aj_sem_fail fail = {.kind = ARRJIT_KIND_ARITH, .code = AJ_ARITH_OVERFLOW, .message = "{1} and {2} at {0}", .lane = 4};
  assert_false(aj_run_raise_sem(&run, &fail, 2, operands));
  arrjit_result *result = result_of(&f, run.exn);
  assert_string_equal(arrjit_result_message(result), "1 and 7 at 4");
  assert_int_equal(arrjit_array_dtype(arrjit_result_payload(result, 0)), ARRJIT_I64);
  arrjit_result_destroy(result);
  run.exn = NULL;
  fail = (aj_sem_fail){
      .kind = ARRJIT_KIND_INDEX, .message = "{0} {1} {2} {3}", .position = 1, .index = 2, .axis = 3, .bound = 4};
  assert_false(aj_run_raise_sem(&run, &fail, 0, NULL));
  result = result_of(&f, run.exn);
  assert_string_equal(arrjit_result_message(result), "1 2 3 4");
  arrjit_result_destroy(result);
  end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_message_fills_in_the_payload),
    cmocka_unit_test(test_message_escapes_and_oddities),
    cmocka_unit_test(test_message_shows_arrays),
    cmocka_unit_test(test_message_is_bounded),
    cmocka_unit_test(test_trace_keeps_both_ends),
    cmocka_unit_test(test_trace_without_memory_only_counts),
    cmocka_unit_test(test_trace_entries_say_where),
    cmocka_unit_test(test_raising_again_shares_the_reason),
    cmocka_unit_test(test_links_end_at_their_depth),
    cmocka_unit_test(test_shared_links_do_not_multiply),
    cmocka_unit_test(test_the_exn_for_lack_of_memory_stays_as_it_is),
    cmocka_unit_test(test_text_of_a_failure),
    cmocka_unit_test(test_results_stand_null_and_success),
    cmocka_unit_test(test_results_without_memory_for_text),
    cmocka_unit_test(test_raising_always_sets_something),
    cmocka_unit_test(test_raising_again_without_memory),
    cmocka_unit_test(test_failures_of_checked_ops_have_their_payload),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
