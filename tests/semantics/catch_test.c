/* Raises that are handled in the function they happen in. Handlers that only ask for kind, scalars and site get answers
 * where the raise is; those here must show what the interpreter shows, allocate nothing, and cost a loop nothing. */
#include <inttypes.h>

#include "fixture.h"

static arrjit_type f64_type(void) { return TYPE(F64); }

static arrjit_value field(arrjit_graph *g, arrjit_value exn, int64_t i, arrjit_type type) {
  arrjit_value there;
  return arrjit_exn_field(g, exn, i, &type, &there);
}

/* ---- F49 ---- */

/* x in a loop: x < 0 raises x out of it; else x - 0.75. The handler gives x. */
static arrjit_function *countdown(tk_fixture *f, bool with_try) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), vars[1], looped[1], exn, out, zero = arrjit_const_f64(g, 0);
  if (with_try) arrjit_try_begin(g);
  WHILE(g, vars, x);
  arrjit_while_body(g, with_try ? arrjit_const_bool(g, 1) : arrjit_ge(g, vars[0], zero), vars);
  if (with_try) {
    RAISE_IF(g, arrjit_lt(g, vars[0], zero), ARRJIT_KIND_RUNTIME, 0, NULL, vars[0]);
  }
  arrjit_while_end(g, LIST(arrjit_sub(g, vars[0], arrjit_const_f64(g, 0.75))), looped);
  out = looped[0];
  if (with_try) {
    arrjit_try_handler(g, 1, looped, ARRJIT_KIND_RUNTIME, &exn);
    arrjit_try_end(g, LIST(field(g, exn, 0, f64_type())), &out);
  }
  RETURN(g, out);
  return tk_finish(f, g);
}

static int64_t allocations(const tk_fixture *f) {
  arrjit_statistics statistics;
  arrjit_context_get_statistics(f->context, &statistics);
  return statistics.allocations;
}

/* Allocations of one warm native run. */
static int64_t allocations_of(tk_fixture *f, arrjit_function *function, arrjit_array *input) {
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE};
  int64_t before = 0;
  for (int k = 0; k < 2; k++) {
    arrjit_result *result = NULL;
    before = allocations(f);
    assert_int_equal(arrjit_run(function, &options, 1, &input, &result, NULL), ARRJIT_OK);
    assert_true(arrjit_result_ok(result));
    arrjit_result_destroy(result);
  }
  return allocations(f) - before;
}

static void test_case_f49_raise_out_of_a_loop_caught_around_it(void **state) {
  tk_fixture *f = *state;
  arrjit_function *caught = countdown(f, true), *branching = countdown(f, false);
  arrjit_array *start = SCALAR(f, F64, 100);
  double want = 100;
  while (!(want < 0)) want -= 0.75;
  EXPECT(RUN(f, caught, start), 0, F64, want);
  EXPECT(RUN(f, branching, start), 0, F64, want);
  if (!tk_native()) return;
  assert_int_equal(allocations_of(f, caught, start), allocations_of(f, branching, start));
}

/* n iterations, each of which raises i and handles it. */
static arrjit_function *raise_each(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, sum, exn, got;
  arrjit_value total;
  FOR(g, zero, n, one, &i, &sum, zero);
  arrjit_try_begin(g);
  RAISE_IF(g, arrjit_ge(g, i, zero), ARRJIT_KIND_RUNTIME, 3, "at {0}", i);
  arrjit_try_handler(g, 1, &one, ARRJIT_KIND_ERROR, &exn);
  arrjit_value is = arrjit_exn_is(g, exn, ARRJIT_KIND_RUNTIME);
  arrjit_try_end(g, LIST(arrjit_select(g, is, field(g, exn, 0, TYPE(I64)), zero)), &got);
  arrjit_for_end(g, LIST(arrjit_add(g, sum, got)), &total);
  RETURN(g, total);
  return tk_finish(f, g);
}

static void test_case_f49_raise_and_catch_in_each_iteration(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = raise_each(f);
  EXPECT(RUN(f, function, SCALAR(f, I64, 20)), 0, I64, 190);
  if (!tk_native()) return;
  int64_t none = allocations_of(f, function, SCALAR(f, I64, 0));
  assert_int_equal(allocations_of(f, function, SCALAR(f, I64, 100000)), none);
}

/* ---- what a loop pays: instructions of its machine code that are not on a way to a call ---- */

enum { MOST_BLOCKS = 100, MOST_TARGETS = 8, NAME_BYTES = 24 };

typedef struct block {
  char name[NAME_BYTES], targets[MOST_TARGETS][NAME_BYTES];
  int count, target_count; /* instructions, jumps */
  bool calls, ends;        /* ends: nothing falls through */
} block;

static void read_instruction(block *to, const char *line) {
  char op[16], target[NAME_BYTES] = "";
  assert_true(sscanf(line, "\t%15s %23s", op, target) >= 1);
  to->count++;
  to->calls = to->calls || strncmp(op, "call", 4) == 0;
  to->ends = strcmp(op, "jmp") == 0 || strncmp(op, "ret", 3) == 0;
  if (op[0] != 'j') return;
  assert_true(to->target_count < MOST_TARGETS);
  memcpy(to->targets[to->target_count++], target, NAME_BYTES);
}

/* Blocks from label to label. */
static int read_blocks(tk_fixture *f, arrjit_function *function, block *blocks) {
  char *text = NULL, line[200];
  size_t bytes = 0;
  int count = 1;
  assert_int_equal(arrjit_function_print(function, ARRJIT_PRINT_ASM, &text, &bytes, NULL), ARRJIT_OK);
  blocks[0] = (block){.name = "entry"};
  for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at != 0) {
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    if (strncmp(line, ".LBB", 4) == 0) {
      assert_true(count < MOST_BLOCKS);
      blocks[count] = (block){.count = 0};
      snprintf(blocks[count++].name, NAME_BYTES, "%.*s", (int)strcspn(line, ":"), line);
    } else if (line[0] == '\t' && line[1] != '.' && line[1] != '#') {
      read_instruction(&blocks[count - 1], line);
    }
  }
  arrjit_text_free(f->context, text, bytes);
  return count;
}

/* Instructions in blocks that can come back to themselves without passing one that calls. */
static int count_loop(tk_fixture *f, arrjit_function *function) {
  static block blocks[MOST_BLOCKS];
  static bool leads[MOST_BLOCKS][MOST_BLOCKS];
  int count = read_blocks(f, function, blocks), total = 0;
  memset(leads, 0, sizeof leads);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < count; k++)
      for (int t = 0; t < blocks[i].target_count; t++)
        leads[i][k] = leads[i][k] || strcmp(blocks[i].targets[t], blocks[k].name) == 0;
    if (!blocks[i].ends && i + 1 < count) leads[i][i + 1] = true;
  }
  for (int i = 0; i < count; i++)
    for (int k = 0; k < count; k++) leads[i][k] = leads[i][k] && !blocks[i].calls && !blocks[k].calls;
  for (int by = 0; by < count; by++)
    for (int i = 0; i < count; i++)
      for (int k = 0; k < count; k++) leads[i][k] = leads[i][k] || (leads[i][by] && leads[by][k]);
  for (int i = 0; i < count; i++) total += leads[i][i] ? blocks[i].count : 0;
  assert_true(total > 0);
  return total;
}

/* What a loop's body does where x < 0: raises out of the function; raises to a handler that asks, or that calls the
 * host; or the branch-only rewrite of the one that asks. Else the square root of x. */
enum { LEAVES, CALLS, ASKS, BRANCHES, WAYS_DOWN };

static arrjit_function *loop_with(tk_fixture *f, int way) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), x = PARAM(g, "x", F64), vars[2], out[2], exn, root, seen;
  arrjit_slot slot = arrjit_slot_io(g, "note", TYPES(TYPE(F64)), ARRJIT_SLOT_OPTIONAL);
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i;
  bool has_try = way == ASKS || way == CALLS;
  FOR(g, zero, n, one, &i, vars, x, arrjit_const_f64(g, 0));
  if (has_try) arrjit_try_begin(g);
  arrjit_if_begin(g, arrjit_lt(g, vars[0], arrjit_const_f64(g, 0)));
  if (way != BRANCHES) RAISE(g, ARRJIT_KIND_RUNTIME, 0, "negative", vars[0]);
  arrjit_if_else(g, way == BRANCHES, vars);
  root = arrjit_sqrt(g, vars[0]);
  arrjit_if_end(g, 1, &root, &root);
  if (has_try) {
    arrjit_try_handler(g, 1, &root, ARRJIT_KIND_RUNTIME, &exn);
    if (way == CALLS) CALLBACK(g, slot, &seen, vars[0]);
    arrjit_try_end(g, LIST(way == ASKS ? field(g, exn, 0, f64_type()) : arrjit_const_f64(g, 0)), &root);
  }
  arrjit_value next = arrjit_sub(g, vars[0], arrjit_const_f64(g, 1));
  arrjit_for_end(g, LIST(next, arrjit_add(g, vars[1], root)), out);
  RETURN(g, out[1]);
  return tk_finish(f, g);
}

static void test_a_try_costs_a_loop_nothing(void **state) {
  tk_fixture *f = *state;
  arrjit_function *functions[WAYS_DOWN];
  for (int way = 0; way < WAYS_DOWN; way++) {
    functions[way] = loop_with(f, way);
    const tk_outcome *o = RUN(f, functions[way], SCALAR(f, I64, 9), SCALAR(f, F64, 5));
    assert_int_equal(o->ok, way != LEAVES);
  }
  if (!tk_native()) return;
  assert_int_equal(count_loop(f, functions[CALLS]), count_loop(f, functions[LEAVES]));
  assert_int_equal(count_loop(f, functions[ASKS]), count_loop(f, functions[BRANCHES]));
}

/* ---- what handlers get ---- */

/* Three places raise three kinds; the handler for the kind above tells them apart. */
static void test_handlers_ask_which_kind_it_is(void **state) {
  tk_fixture *f = *state;
  arrjit_kind above, below, other;
  assert_int_equal(arrjit_context_add_kind(f->context, "above", ARRJIT_KIND_ERROR, "i64[0], ...", &above, NULL),
                   ARRJIT_OK);
  assert_int_equal(arrjit_context_add_kind(f->context, "above.below", above, "f64[0]", &below, NULL), ARRJIT_OK);
  assert_int_equal(arrjit_context_add_kind(f->context, "other", ARRJIT_KIND_ERROR, "", &other, NULL), ARRJIT_OK);
  arrjit_graph *g = tk_graph(f);
  arrjit_value k = PARAM(g, "k", I64), x = PARAM(g, "x", F64), exn, out[5], there;
  arrjit_type f64 = f64_type(), i64 = TYPE(I64);
  arrjit_try_begin(g);
  arrjit_switch_begin(g, k);
  RAISE(g, above, 0, NULL, k);
  arrjit_switch_case(g, 0, NULL);
  RAISE(g, below, 0, NULL, k, x);
  arrjit_switch_case(g, 0, NULL);
  arrjit_raise(g, other, 0, NULL, 0, NULL);
  arrjit_switch_case(g, 0, NULL);
  arrjit_switch_end(g, 0, NULL, NULL);
  arrjit_value no = arrjit_const_bool(g, 0);
  arrjit_try_handler(g, LIST(no, no, no, k, x), ARRJIT_KIND_ERROR, &exn);
  arrjit_value is_above = arrjit_exn_is(g, exn, above), is_below = arrjit_exn_is(g, exn, below);
  arrjit_value first = arrjit_exn_field(g, exn, 0, &i64, &there), second = field(g, exn, 1, f64);
  arrjit_try_end(g, LIST(is_above, is_below, there, first, second), out);
  RETURN(g, out[0], out[1], out[2], out[3], out[4]);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 3), SCALAR(f, F64, 2.5)), 3, I64, 3);
  for (int64_t n = 0; n < 3; n++) {
    const tk_outcome *o = RUN(f, function, SCALAR(f, I64, n), SCALAR(f, F64, 2.5));
    EXPECT(o, 0, BOOL, n < 2);
    EXPECT(o, 1, BOOL, n == 1);
    EXPECT(o, 2, BOOL, n < 2);
    EXPECT(o, 3, I64, n < 2 ? n : 0);
    EXPECT(o, 4, F64, n == 1 ? 2.5 : 0);
  }
}

/* Bits of payload are kept: NaNs that came in as they are, those of arithmetic canonical. */
static void test_payload_keeps_its_bits(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value raw = PARAM(g, "raw", I64), x = arrjit_bitcast(g, raw, ARRJIT_F64), exn, out[3], zero;
  zero = arrjit_const_f64(g, 0);
  arrjit_try_begin(g);
  RAISE(g, ARRJIT_KIND_RUNTIME, 0, NULL, x, arrjit_mul(g, x, zero), arrjit_eq(g, x, x));
  arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_value a = field(g, exn, 0, f64_type()), b = field(g, exn, 1, f64_type()), c = field(g, exn, 2, TYPE(BOOL));
  arrjit_try_end(g, LIST(arrjit_bitcast(g, a, ARRJIT_I64), arrjit_bitcast(g, b, ARRJIT_I64), c), out);
  RETURN(g, out[0], out[1], out[2]);
  int64_t nan = (int64_t)0xfff4000000001234;
  const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, nan));
  EXPECT(o, 0, I64, nan);
  EXPECT(o, 1, I64, 0x7ff8000000000000);
  EXPECT(o, 2, BOOL, 0);
}

/* Checks and checked ops raise to such handlers as well, and tell the lane. */
static void test_checks_are_caught_with_their_payload(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value v = PARAM(g, "v", I32, 5), x = PARAM(g, "x", I32), y = PARAM(g, "y", I32), exn, out[4], passed, got;
  arrjit_type i64 = TYPE(I64), i32 = TYPE(I32);
  arrjit_try_begin(g);
  CHECK(g, arrjit_gt(g, v, arrjit_const_i32(g, 0)), ARRJIT_KIND_RUNTIME, 0, NULL, LIST(x), &passed, x);
  CHECK(g, arrjit_gt(g, passed, arrjit_const_i32(g, 0)), ARRJIT_KIND_CALLBACK, 0, NULL, LIST(y), &got, y);
  arrjit_value quotient = arrjit_checked_div(g, passed, got), zero = arrjit_const_i64(g, 0),
               none = arrjit_const_i32(g, -1);
  arrjit_try_handler(g, LIST(quotient, zero, none, arrjit_const_i64(g, -1)), ARRJIT_KIND_ARITH, &exn);
  arrjit_value a = field(g, exn, 1, i32), b = field(g, exn, 0, i64), c = field(g, exn, 2, i32);
  arrjit_try_handler(g, LIST(a, b, c, arrjit_exn_site(g, exn)), ARRJIT_KIND_ERROR, &exn);
  a = field(g, exn, 0, i32), b = field(g, exn, 1, i64);
  arrjit_try_end(
      g, LIST(a, b, arrjit_convert(g, arrjit_exn_is(g, exn, ARRJIT_KIND_RUNTIME), ARRJIT_I32), arrjit_exn_site(g, exn)),
      out);
  RETURN(g, out[0], out[1], out[2], out[3]);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *good = ARRAY(f, I32, 1, 2, 3, 4, 5), *bad = ARRAY(f, I32, 1, 2, 3, 0, -5);
  const struct {
    arrjit_array *v;
    int32_t x, y, a, c;
    int64_t b;
  } rows[] = {{good, 7, 2, 3, -1, 0}, {bad, 7, 2, 7, 1, 3}, {good, -7, 2, 2, 0, 0}, {good, 7, 0, 7, 0, 0}};
  for (size_t k = 0; k < TK_COUNT(rows); k++) {
    const tk_outcome *o = RUN(f, function, rows[k].v, SCALAR(f, I32, rows[k].x), SCALAR(f, I32, rows[k].y));
    EXPECT(o, 0, I32, rows[k].a);
    EXPECT(o, 1, I64, rows[k].b);
    EXPECT(o, 2, I32, rows[k].c);
  }
}

/* ---- from handler to handler ---- */

enum { ANEW, FROM_NEW, AGAIN, FROM_AGAIN, WAYS };

/* try { try { raise(arith, x) } handler arith(e) { raises in one of the ways } } handler { kind, field } */
static arrjit_function *handed_on(tk_fixture *f, int way, bool in_loop) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, vars[1], exn;
  arrjit_value out, outer, sum[1];
  if (in_loop) FOR(g, zero, arrjit_const_i64(g, 5), one, &i, vars, x);
  arrjit_value now = in_loop ? vars[0] : x;
  arrjit_try_begin(g);
  arrjit_try_begin(g);
  RAISE_IF(g, arrjit_gt(g, now, arrjit_const_f64(g, 0)), ARRJIT_KIND_ARITH, 1, "inner {0}", now);
  arrjit_try_handler(g, 1, &now, ARRJIT_KIND_ARITH, &exn);
  arrjit_value twice = arrjit_add(g, field(g, exn, 0, f64_type()), now);
  arrjit_value made = EXN_NEW(g, ARRJIT_KIND_RUNTIME, 2, "outer {0}", twice);
  if (way == ANEW) RAISE(g, ARRJIT_KIND_RUNTIME, 2, "outer {0}", twice);
  if (way == FROM_NEW) arrjit_raise_from(g, made, exn);
  if (way == AGAIN) arrjit_raise_exn(g, exn);
  if (way == FROM_AGAIN) arrjit_raise_from(g, exn, made);
  arrjit_try_end(g, 0, NULL, &outer);
  arrjit_try_handler(g, 1, &outer, ARRJIT_KIND_ERROR, &exn);
  arrjit_value got = field(g, exn, 0, f64_type()), is = arrjit_exn_is(g, exn, ARRJIT_KIND_RUNTIME);
  arrjit_try_end(g, LIST(arrjit_select(g, is, got, arrjit_neg(g, got))), &out);
  if (in_loop) arrjit_for_end(g, LIST(out), sum);
  RETURN(g, in_loop ? sum[0] : out);
  return tk_finish(f, g);
}

static void test_handlers_hand_on_to_handlers(void **state) {
  tk_fixture *f = *state;
  for (int way = 0; way < WAYS; way++)
    for (int in_loop = 0; in_loop < 2; in_loop++) {
      arrjit_function *function = handed_on(f, way, in_loop);
      bool anew = way == ANEW || way == FROM_NEW;
      double want = anew ? (in_loop ? 48 : 3) : -1.5;
      EXPECT(RUN(f, function, SCALAR(f, F64, 1.5)), 0, F64, want);
      EXPECT(RUN(f, function, SCALAR(f, F64, -2)), 0, F64, -2);
      if (!tk_native()) continue;
      int64_t none = allocations_of(f, function, SCALAR(f, F64, -2));
      if (way != FROM_AGAIN) assert_int_equal(allocations_of(f, function, SCALAR(f, F64, 1.5)), none);
    }
}

/* A kind that an inner try does not take passes it, out of two loops. */
static void test_inner_tries_are_passed(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", I64), zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, k, exn, out;
  arrjit_value sums[2], inner[2], got, ends[2];
  arrjit_try_begin(g);
  FOR(g, zero, n, one, &i, &sums[0], zero);
  FOR(g, zero, n, one, &k, &sums[1], sums[0]);
  arrjit_try_begin(g);
  RAISE_IF(g, arrjit_eq(g, arrjit_mul(g, i, k), arrjit_const_i64(g, 6)), ARRJIT_KIND_RUNTIME, 0, NULL, sums[1], i);
  arrjit_value odd = arrjit_checked_div(g, k, arrjit_and(g, arrjit_add(g, i, k), one));
  arrjit_try_handler(g, LIST(odd), ARRJIT_KIND_ARITH, &exn);
  arrjit_try_end(g, LIST(field(g, exn, 1, TYPE(I64))), &got);
  arrjit_for_end(g, LIST(arrjit_add(g, sums[1], got)), &inner[1]);
  arrjit_for_end(g, LIST(inner[1]), ends);
  arrjit_try_handler(g, 1, ends, ARRJIT_KIND_ERROR, &exn);
  arrjit_value sum = field(g, exn, 0, TYPE(I64)), at = field(g, exn, 1, TYPE(I64));
  arrjit_try_end(g, LIST(arrjit_add(g, arrjit_mul(g, sum, arrjit_const_i64(g, 100)), at)), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  EXPECT(RUN(f, function, SCALAR(f, I64, 3)), 0, I64, 9);
  EXPECT(RUN(f, function, SCALAR(f, I64, 5)), 0, I64, 2302); /* i = 2, k = 3: two rows of 10 and 0 + 1 + 2 */
}

/* Where the same handler is entered from a raise that is known and from a callback that fails. */
static arrjit_status fail_odd(tk_slot *slot, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                              const arrjit_view *results) {
  (void)n, (void)m, (void)results;
  double number = *(const double *)args[0].data;
  arrjit_view payload = {.dtype = ARRJIT_F64, .data = &number, .bytes = sizeof number};
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .code = slot->calls,
                            .message = "odd {0}",
                            .payload_count = 1,
                            .payload = &payload};
  return fmod(number, 2) == 1 ? arrjit_fail(call, &failure) : ARRJIT_OK;
}

static void test_known_and_foreign_failures_come_to_one_handler(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value n = PARAM(g, "n", F64), vars[2], out[2], seen, exn, got;
  arrjit_slot slot = arrjit_slot_io(g, "odd", TYPES(TYPE(F64)), 0);
  WHILE(g, vars, n, arrjit_const_f64(g, 0));
  arrjit_while_body(g, arrjit_gt(g, vars[0], arrjit_const_f64(g, 0)), vars);
  arrjit_try_begin(g);
  CALLBACK(g, slot, &seen, vars[0]);
  arrjit_value half = arrjit_mul(g, seen, arrjit_const_f64(g, 0.5));
  CHECK(g, arrjit_ne(g, half, arrjit_const_f64(g, 2)), ARRJIT_KIND_RUNTIME, 0, NULL, LIST(half), &half, half);
  arrjit_try_handler(g, 1, &half, ARRJIT_KIND_ERROR, &exn);
  arrjit_value called = arrjit_exn_is(g, exn, ARRJIT_KIND_CALLBACK), payload = field(g, exn, 0, f64_type());
  arrjit_try_end(g, LIST(arrjit_select(g, called, arrjit_mul(g, payload, arrjit_const_f64(g, 100)), payload)), &got);
  arrjit_value next = arrjit_sub(g, vars[0], arrjit_const_f64(g, 1));
  arrjit_while_end(g, LIST(next, arrjit_add(g, vars[1], got)), out);
  RETURN(g, out[1]);
  tk_bind(f, "odd", fail_odd, NULL);
  EXPECT(RUN(f, tk_finish(f, g), SCALAR(f, F64, 6)), 0, F64, 906);
}

/* ---- exceptions that have to be made are given back in each iteration ---- */

typedef struct watch {
  tk_fixture *f;
  int64_t early, late;
} watch;

static arrjit_status watch_memory(tk_slot *slot, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                  const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  watch *w = slot->user;
  if (slot->calls == 20) w->early = atomic_load(&w->f->alloc.live_bytes);
  if (slot->calls == 400) w->late = atomic_load(&w->f->alloc.live_bytes);
  return ARRJIT_OK;
}

/* 500 times: try { try { raise } handler(e) { callback; rest } } handler { 1 } */
static arrjit_function *noisy(tk_fixture *f, int way) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value zero = arrjit_const_i64(g, 0), one = arrjit_const_i64(g, 1), i, sum, exn, inner, outer, seen, total;
  arrjit_slot slot = arrjit_slot_io(g, "watch", TYPES(TYPE(I64)), 0);
  FOR(g, zero, arrjit_const_i64(g, 500), one, &i, &sum, zero);
  arrjit_try_begin(g);
  arrjit_try_begin(g);
  RAISE_IF(g, arrjit_ge(g, i, zero), ARRJIT_KIND_ARITH, 0, NULL, i);
  if (way < 4) {
    arrjit_try_handler(g, 1, &one, ARRJIT_KIND_ARITH, &exn);
    CALLBACK(g, slot, &seen, i);
    arrjit_value two = arrjit_const_i64(g, 2);
    if (way == 0) arrjit_runtime_raise(g, "next", 1, &i); /* a branch out of an ordinary handler */
    if (way == 1) arrjit_raise_exn(g, exn);
    if (way == 2) arrjit_raise_from(g, EXN_NEW(g, ARRJIT_KIND_RUNTIME, 0, NULL, i), exn);
    arrjit_try_end(g, way == 3, &two, &inner);
  } else {
    arrjit_try_finally(g, 1, &one);
    CALLBACK(g, slot, &seen, i);
    arrjit_try_end(g, 0, NULL, &inner);
  }
  arrjit_try_handler(g, 1, &inner, ARRJIT_KIND_ERROR, &exn);
  arrjit_try_end(g, LIST(one), &outer);
  arrjit_for_end(g, LIST(arrjit_add(g, sum, outer)), &total);
  RETURN(g, total);
  return tk_finish(f, g);
}

static void test_handled_exceptions_do_not_pile_up(void **state) {
  tk_fixture *f = *state;
  for (int way = 0; way < 5; way++) {
    watch w = {.f = f};
    tk_bind(f, "watch", watch_memory, &w);
    arrjit_function *function = noisy(f, way);
    for (int m = 0; m < TK_MODES; m++) {
      if (!tk_mode_exists((tk_mode)m)) continue;
      tk_outcome o;
      tk_call call = {.slot_count = f->slot_count, .slots = f->slots};
      tk_run_mode(f->context, function, (tk_mode)m, &call, &o);
      EXPECT(&o, 0, I64, way == 3 ? 1000 : 500);
      tk_outcome_free(&o);
      assert_int_equal(w.early, w.late);
    }
  }
}

static arrjit_status cancel_run(void *user, arrjit_call_info *call, size_t n, const arrjit_view *args, size_t m,
                                const arrjit_view *results) {
  (void)call, (void)n, (void)args, (void)m, (void)results;
  arrjit_cancel_trigger(user);
  return ARRJIT_OK;
}

/* Work on arrays in a handler may find that the run was cancelled: that has what was being handled as its context. */
static void test_a_handler_that_is_cancelled_has_its_context(void **state) {
  tk_fixture *f = *state;
  enum { COUNT = 100000 };
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64), v = PARAM(g, "v", F64, COUNT), seen, exn, out;
  CALLBACK(g, arrjit_slot_io(g, "cancel", TYPES(TYPE(F64)), 0), &seen, x);
  arrjit_try_begin(g);
  RAISE_IF(g, arrjit_gt(g, seen, arrjit_const_f64(g, 0)), ARRJIT_KIND_RUNTIME, 5, "handled {0}", seen);
  arrjit_try_handler(g, 1, &v, ARRJIT_KIND_RUNTIME, &exn);
  arrjit_try_end(g, LIST(arrjit_mul(g, v, field(g, exn, 0, f64_type()))), &out);
  RETURN(g, out);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *inputs[] = {SCALAR(f, F64, 2), tk_array(f, TYPE(F64, COUNT), NULL)};
  char *texts[2] = {NULL, NULL};
  for (int whole = 0; whole <= tk_native(); whole++) {
    arrjit_cancel *cancel = NULL;
    arrjit_result *result = NULL;
    assert_int_equal(arrjit_cancel_create(f->context, &cancel, NULL), ARRJIT_OK);
    arrjit_binding binding = {.slot = "cancel", .callback = cancel_run, .user = cancel};
    arrjit_run_options options = {.struct_bytes = sizeof options,
                                  .mode = whole ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_INTERP,
                                  .binding_count = 1,
                                  .bindings = &binding,
                                  .cancel = cancel};
    assert_int_equal(arrjit_run(function, &options, 2, inputs, &result, NULL), ARRJIT_OK);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CANCELLED);
    texts[whole] = strdup(arrjit_result_text(result));
    assert_non_null(strstr(texts[whole], "while handling: runtime: handled 2"));
    arrjit_result_destroy(result);
    arrjit_cancel_release(cancel);
  }
  if (tk_native()) assert_string_equal(texts[0], texts[1]);
  for (int k = 0; k < 2; k++) free(texts[k]);
}

/* The same exception raised twice is one failure; an equal one is another. */
static void test_equal_exceptions_are_not_the_same(void **state) {
  tk_fixture *f = *state;
  for (int same = 0; same < 2; same++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", I64), exn;
    arrjit_value a = EXN_NEW(g, ARRJIT_KIND_RUNTIME, 0, "twin", x), b = EXN_NEW(g, ARRJIT_KIND_RUNTIME, 0, "twin", x);
    arrjit_try_begin(g);
    arrjit_raise_exn(g, a);
    arrjit_try_handler(g, 0, NULL, ARRJIT_KIND_ERROR, &exn);
    arrjit_raise_exn(g, same ? a : b);
    arrjit_try_end(g, 0, NULL, NULL);
    RETURN(g);
    const tk_outcome *o = RUN(f, tk_finish(f, g), SCALAR(f, I64, 1));
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 0, "twin");
    assert_int_equal(strstr(o->text, "while handling") == NULL, same);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f49_raise_out_of_a_loop_caught_around_it),
    TK_TEST(test_case_f49_raise_and_catch_in_each_iteration),
    TK_TEST(test_a_try_costs_a_loop_nothing),
    TK_TEST(test_handlers_ask_which_kind_it_is),
    TK_TEST(test_payload_keeps_its_bits),
    TK_TEST(test_checks_are_caught_with_their_payload),
    TK_TEST(test_handlers_hand_on_to_handlers),
    TK_TEST(test_inner_tries_are_passed),
    TK_TEST(test_known_and_foreign_failures_come_to_one_handler),
    TK_TEST(test_handled_exceptions_do_not_pile_up),
    TK_TEST(test_a_handler_that_is_cancelled_has_its_context),
    TK_TEST(test_equal_exceptions_are_not_the_same),
};

TEST_MAIN(tests, NULL, NULL)
