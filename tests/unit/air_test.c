/* .air: parsing and printing are each other's inverse, whatever the module, the text, the memory or the host's locale
 * are. What single messages say is in tests/golden. */
#include "text/air.h"

#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base.h"
#include "test_main.h"
#include "verify/verify.h"

typedef struct fixture {
  aj_mem mem;
  aj_kinds *kinds;
  arrjit_error error;
} fixture;

static const aj_air_limits limits = {.max_nodes = 4000000, .max_nesting = 1000, .max_const_bytes = 1 << 24};

static int set_up(void **state) {
  fixture *f = tk_new(1, sizeof *f);
  aj_mem_init(&f->mem, NULL);
  f->kinds = aj_kinds_create(&f->mem);
  *state = f;
  return f->kinds ? 0 : -1;
}

static int tear_down(void **state) {
  fixture *f = *state;
  aj_kinds_release(f->kinds);
  bool leaked = atomic_load(&f->mem.live_bytes) != 0;
  free(f);
  return leaked;
}

static arrjit_status try_parse(fixture *f, const char *text, size_t bytes, aj_module **out) {
  return aj_air_parse(&f->mem, f->kinds, text, bytes, "test.air", &limits, out, &f->error);
}

static aj_module *parse(fixture *f, const char *text) {
  aj_module *module = NULL;
  if (try_parse(f, text, strlen(text), &module) != ARRJIT_OK)
    fail_msg("line %d: %s\n%s", f->error.line, f->error.message, text);
  return module;
}

static char *print(fixture *f, const aj_module *module) {
  aj_text text;
  aj_text_init(&text, &f->mem);
  aj_air_print(module, &text);
  assert_false(text.failed);
  char *copy = tk_copy(text.data, text.count + 1);
  aj_text_free(&text);
  return copy;
}

/* The module of the text equals that of its printed form, which is a fixed point. Gives the printed form. */
static char *check_round_trip(fixture *f, const char *text) {
  aj_module *first = parse(f, text);
  char *once = print(f, first);
  aj_module *second = parse(f, once);
  char *twice = print(f, second);
  assert_true(aj_module_equal(first, second));
  assert_string_equal(once, twice);
  free(twice);
  aj_module_destroy(first);
  aj_module_destroy(second);
  return once;
}

/* A function of no parameters that yields the constants, "literal : type" each. */
static char *constants(const char *const *literals, size_t count) {
  tk_text text;
  tk_text_open(&text);
  fputs("air 1\nfunc @main() -> () {\n", text.to);
  for (size_t i = 0; i < count; i++) fprintf(text.to, "  %%%zu = const %s\n", i, literals[i]);
  fputs("  yield\n}\n", text.to);
  return tk_text_close(&text);
}

static const aj_node *first_node(const aj_module *module) { return module->funcs.data[0]->root->nodes[0]; }

/* ---- constants ---- */

static void test_constants_are_exact(void **state) {
  static const struct {
    const char *literal;
    uint64_t bits;
  } rows[] = {{"-0 : f64", 0x8000000000000000},
              {"0x1.8p-3 : f64", 0x3fc8000000000000},
              {"5e-324 : f64", 1},
              {"1.7976931348623157e308 : f64", 0x7fefffffffffffff},
              {"0.1 : f64", 0x3fb999999999999a},
              {"0.1 : f32", 0x3dcccccd},
              {"16777217 : f32", 0x4b800000},
              {"1.00000017881393432617187499 : f32", 0x3f800001}, /* rounded once, not by way of f64 */
              {"inf : f32", 0x7f800000},
              {"-inf : f64", 0xfff0000000000000},
              {"nan : f32", 0x7fc00000},
              {"nan(0xffc00001) : f32", 0xffc00001},
              {"nan(0x7ff0000000000001) : f64", 0x7ff0000000000001},
              {"hex \"efbeadde\" : u32", 0xdeadbeef},
              {"-9223372036854775808 : i64", 0x8000000000000000},
              {"18446744073709551615 : u64", UINT64_MAX},
              {"-128 : i8", 0x80},
              {"0xff : u8", 0xff},
              {"true : bool", 1},
              {"hex \"07\" : bool", 7}};
  for (size_t i = 0; i < TK_COUNT(rows); i++) {
    char *text = constants(&rows[i].literal, 1);
    aj_module *module = parse(*state, text);
    uint64_t bits = 0;
    const aj_attr *value = aj_node_attr(first_node(module), AJ_ATTR_VALUE);
    memcpy(&bits, value->u.bytes, value->count);
    if (bits != rows[i].bits) fail_msg("%s is %llx", rows[i].literal, (unsigned long long)bits);
    aj_module_destroy(module);
    free(check_round_trip(*state, text));
    free(text);
  }
}

static void test_random_floats_come_back(void **state) {
  tk_random random = {7};
  for (int round = 0; round < 50; round++) {
    tk_text text;
    tk_text_open(&text);
    fprintf(text.to, "air 1\nfunc @main() -> () {\n");
    for (int i = 0; i < 20; i++)
      fprintf(text.to, "  %%a%d = const hex \"%016llx\" : f64\n  %%b%d = const hex \"%08x\" : f32\n", i,
              (unsigned long long)tk_next(&random), i, (unsigned)tk_next(&random));
    fprintf(text.to, "  yield\n}\n");
    char *source = tk_text_close(&text);
    free(check_round_trip(*state, source));
    free(source);
  }
}

static void test_locale_and_rounding_of_the_host_do_not_matter(void **state) {
  static const char *const literals[] = {"0.1 : f64", "1.5 : f32", "0.3 : f32"};
  char *text = constants(literals, TK_COUNT(literals)), *plain = check_round_trip(*state, text);
  bool comma = setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "de_DE.utf8");
  fesetround(FE_UPWARD);
  char *other = check_round_trip(*state, text);
  fesetround(FE_TONEAREST);
  setlocale(LC_NUMERIC, "C");
  assert_string_equal(plain, other);
  if (!comma) print_message("no locale with a decimal comma is installed: rounding alone was tried\n");
  free(plain);
  free(other);
  free(text);
}

/* ---- names ---- */

static void test_names_that_need_quotes_come_back(void **state) {
  char *text = check_round_trip(
      *state, "air 1\n"
              "kind app.x : error (f64[0], ...)\n"
              "declare @main(f64[\"odd extent\"], f64, f64, f64) -> ()\n"
              "declare @\"a function\"(f64[n]) -> (f64[n])\n"
              "slot io \"\\\\ \\\"\\x01\\xff\"(f64, f64[@\"a function\":n])\n"
              "func @main(%x: f64[\"odd extent\"], %y: f64 \"x\", %_1: f64, %x.1: f64 \"\") -> () {\n"
              "  %0 = call %x {callee = @\"a function\"} : f64[\"odd extent\"]\n"
              "  yield\n}\n"
              "func @\"a function\"(%x: f64[n]) -> (f64[n] \"result \\x7f\") {\n  yield %x label \"\"\n}\n");
  assert_non_null(strstr(text, "%x: f64[\"odd extent\"], %_1: f64 \"x\", %_2: f64, %_3: f64 \"\""));
  assert_non_null(strstr(text, "slot io \"\\\\ \\\"\\x01\xff\""));
  free(text);
}

static void test_kinds_are_the_same_in_another_context(void **state) {
  fixture *f = *state;
  static const char source[] =
      "air 1\nkind app.a : error ()\nkind app.b : app.a (i64[0])\nfunc @main(%k: i64) -> () {\n"
      "  raise %k {kind = app.b, code = 0, message = none}\n}\n";
  aj_kinds *others = aj_kinds_create(&f->mem);
  arrjit_kind kind;
  assert_int_equal(aj_kinds_add(others, "unrelated", ARRJIT_KIND_ERROR, "", &kind, &f->error), ARRJIT_OK);
  aj_module *here = parse(f, source), *there = NULL;
  char *text = print(f, here);
  assert_int_equal(aj_air_parse(&f->mem, others, text, strlen(text), "", &limits, &there, &f->error), ARRJIT_OK);
  assert_int_not_equal(aj_node_int(first_node(here), AJ_ATTR_KIND), aj_node_int(first_node(there), AJ_ATTR_KIND));
  assert_true(aj_module_equal(here, there));
  aj_module_destroy(here);
  aj_module_destroy(there);
  aj_kinds_release(others);
  free(text);
}

/* ---- equality ---- */

static void test_modules_that_differ_are_not_equal(void **state) {
  static const char *const texts[] = {
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %y, %x : f64[n] yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = mul %x, %y : f64[n] yield %0 }",
      "func @main(%x: f64[m], %y: f64[m]) -> (f64[m]) { %0 = sub %x, %y : f64[m] yield %0 }",
      "func @main(%a: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %a, %y : f64[n] yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n] \"r\") { %0 = sub %x, %y : f64[n] yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] label \"l\" yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] at \"f\":1 yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] at \"f\":2 yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] yield %x }",
      "slot io s(f64) func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] yield %0 }",
      "slot io s(f64) optional func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = sub %x, %y : f64[n] yield %0 }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = const 1 : f64 yield %x }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = const [1] : f64[1] yield %x }",
      "func @main(%x: f64[n], %y: f64[n]) -> (f64[n]) { %0 = const 2 : f64 yield %x }"};
  aj_module *modules[TK_COUNT(texts)];
  for (size_t i = 0; i < TK_COUNT(texts); i++) {
    char text[256];
    snprintf(text, sizeof text, "air 1 %s", texts[i]);
    modules[i] = parse(*state, text);
  }
  for (size_t i = 0; i < TK_COUNT(texts); i++)
    for (size_t k = 0; k < TK_COUNT(texts); k++)
      if (aj_module_equal(modules[i], modules[k]) != (i == k)) fail_msg("%s\n%s", texts[i], texts[k]);
  for (size_t i = 0; i < TK_COUNT(texts); i++) aj_module_destroy(modules[i]);
}

/* ---- sizes ---- */

/* Each concat doubles the extent: written out in full the last would be 2^60 symbols long. */
static void test_extents_that_share_parts_stay_short(void **state) {
  fixture *f = *state;
  enum { DOUBLINGS = 60 };
  aj_module *module = parse(f, "air 1\nfunc @main(%x: f64[n]) -> () { yield }\n");
  aj_func *main = module->funcs.data[0];
  aj_builder b;
  aj_builder_init(&b, module);
  b.func = main;
  b.region = main->root;
  main->root->node_count = 0;
  aj_value *x = main->root->params[0];
  const aj_attr axis = aj_attr_int(AJ_ATTR_AXIS, 0);
  for (int i = 0; i < DOUBLINGS; i++) x = aj_build1(&b, AJ_OP_CONCAT, 2, (aj_value *[]){x, x}, 1, &axis);
  aj_build(&b, AJ_OP_YIELD, 0, NULL, 0, NULL);
  assert_true(aj_builder_ok(&b) && aj_module_number(module));
  assert_int_equal(aj_verify(module, false, &f->error), ARRJIT_OK);
  char *text = print(f, module);
  assert_true(strlen(text) < 20000);
  aj_module *again = parse(f, text);
  assert_true(aj_module_equal(module, again));
  free(check_round_trip(f, text));
  free(text);
  aj_module_destroy(module);
  aj_module_destroy(again);
}

static char *chain_text(int nodes) {
  tk_text text;
  tk_text_open(&text);
  fprintf(text.to, "air 1\nfunc @main(%%x: f64) -> (f64) {\n  %%0 = neg %%x : f64\n");
  for (int i = 1; i < nodes; i++) fprintf(text.to, "  %%%d = add %%%d, %%x : f64\n", i, i - 1);
  fprintf(text.to, "  yield %%%d\n}\n", nodes - 1);
  return tk_text_close(&text);
}

static char *nested_text(int depth) {
  tk_text text;
  tk_text_open(&text);
  fprintf(text.to, "air 1\nfunc @main(%%p: bool, %%x: f64) -> (f64) {\n");
  for (int i = 0; i < depth; i++) fprintf(text.to, "%%r = if %%p, %%p, %%x (%%p: bool, %%x: f64) {\n");
  for (int i = 0; i < depth; i++)
    fprintf(text.to, "yield %%%c } (%%p: bool, %%x: f64) { yield %%x } : f64\n", i ? 'r' : 'x');
  fprintf(text.to, "yield %%r\n}\n");
  return tk_text_close(&text);
}

static void *check_all_on_small_stack(void *text) {
  fixture f;
  aj_mem_init(&f.mem, NULL);
  f.kinds = aj_kinds_create(&f.mem);
  aj_module *module = parse(&f, text);
  aj_text dot;
  aj_text_init(&dot, &f.mem);
  aj_dot_print(module, &dot);
  assert_int_equal(aj_verify(module, false, &f.error), ARRJIT_OK);
  free(check_round_trip(&f, text));
  aj_text_free(&dot);
  aj_module_destroy(module);
  aj_kinds_release(f.kinds);
  assert_int_equal(atomic_load(&f.mem.live_bytes), 0);
  return NULL;
}

static void run_on_small_stack(char *text) {
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  assert_int_equal(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
  assert_int_equal(pthread_create(&thread, &attr, check_all_on_small_stack, text), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
  free(text);
}

static void test_100000_nodes_on_a_small_stack(void **state) {
  (void)state;
  run_on_small_stack(chain_text(100000));
}

static void test_deepest_nesting_on_a_small_stack(void **state) {
  (void)state;
  run_on_small_stack(nested_text((int)limits.max_nesting - 1));
}

static void test_deeper_nesting_is_refused(void **state) {
  fixture *f = *state;
  aj_module *module = NULL;
  char *text = nested_text((int)limits.max_nesting);
  assert_int_equal(try_parse(f, text, strlen(text), &module), ARRJIT_LIMIT);
  free(text);
}

/* ---- hostile text, lacking memory ---- */

/* Uses most of the language. */
static const char sample[] =
    "air 1\n"
    "kind app.k : error (f64[0], ...)\n"
    "declare @main(f64[n], bool, i64, f32[m]) -> (f64[n], i64)\n"
    "declare @f(f64[k]) -> (f64[k+k])\n"
    "dim @main:$0 = [n+n+m+m+m+n+m+m+n]\n"
    "slot io log(f64[n]) optional\n"
    "slot value price(f64) -> (f64, i32[2])\n"
    "func @main(%x: f64[n], %p: bool, %k: i64 \"a k\", %z: f32[m]) -> (f64[n] \"y\", i64) {\n"
    "  %c = const [1.5, -inf, nan(0x7ff0000000000001)] : f64[3]\n"
    "  %h = const hex \"00ff\" : u8[2]\n"
    "  %d = call %x {callee = @f} : f64[n+n] at \"a.c\":3 label \"l\\n\"\n"
    "  %l = callback %x {slot = log} : f64[n]\n"
    "  %r = if %p, %l (%a: f64[n]) { %n = neg %a : f64[n] yield %n } (%a: f64[n]) { yield %a } : f64[n]\n"
    "  %i, %j = while %k, %k {carried = 2} (%a: i64, %b: i64) { %t = lt %a, %b : bool yield %t }\n"
    "    (%a: i64, %b: i64) { %s = add %a, %b : i64 yield %s, %b } : i64, i64\n"
    "  %t = try %r {kinds = [app.k, error], finally = 1} (%a: f64[n]) {\n"
    "    %v = const 2 : f64\n"
    "    raise %v {kind = app.k, code = -1, message = \"bad {0}\"}\n"
    "  } (%e: exn, %a: f64[n]) { %q, %w = exn_field %e {field = 0, dtype = f64, shape = []} : bool, f64 yield %a }\n"
    "    (%e: exn, %a: f64[n]) { raise_exn %e } (%a: f64[n]) { yield } : f64[n]\n"
    "  %g = concat %z, %z {axis = 0} : f32[m+m] // a comment\n"
    "  yield %t, %i\n"
    "}\n"
    "func @f(%a: f64[k]) -> (f64[k+k]) { %0 = concat %a, %a {axis = 0} : f64[2*k - k + k] yield %0 }\n";

static char *good_sample(void) {
  char *text = tk_copy(sample, sizeof sample), *odd = strstr(text, "2*k - k + k");
  memcpy(odd, "k+k        ", 11);
  return text;
}

static void exercise(fixture *f, const char *text, size_t bytes) {
  aj_module *module = NULL, *again = NULL;
  if (try_parse(f, text, bytes, &module) != ARRJIT_OK) {
    assert_true(f->error.message[0] != 0);
    return;
  }
  aj_verify(module, false, NULL);
  aj_verify(module, true, NULL);
  char *printed = print(f, module);
  if (try_parse(f, printed, strlen(printed), &again) != ARRJIT_OK)
    fail_msg("line %d: %s\nof %s\nfrom %.*s", f->error.line, f->error.message, printed, (int)bytes, text);
  assert_true(aj_module_equal(module, again));
  aj_text dot;
  aj_text_init(&dot, &f->mem);
  aj_dot_print(module, &dot);
  aj_text_free(&dot);
  free(printed);
  aj_module_destroy(module);
  aj_module_destroy(again);
}

/* A copy with bytes changed, taken out, doubled or exchanged. */
static char *mutate(tk_random *random, const char *text, size_t *bytes) {
  static const char tokens[][16] = {"%x", "(",   ")",   "{",   "}",     "[",         "]",      ",",   ":",     "=",
                                    "-",  "0",   "f64", "[n]", "yield", "999999999", "\"",     "$0",  "@main", "raise",
                                    "//", "...", "->",  "exn", "nan(",  "-1",        "kernel", "\xff"};
  char *copy = tk_new(*bytes + 64, 1); /* each edit adds fewer than 16 bytes */
  memcpy(copy, text, *bytes);
  for (uint64_t edits = 1 + tk_below(random, 4); edits; edits--) {
    size_t at = tk_below(random, *bytes), length = 1 + tk_below(random, 12);
    if (at + length > *bytes) length = *bytes - at;
    const char *token = tokens[tk_below(random, TK_COUNT(tokens))];
    size_t inserted = strnlen(token, sizeof tokens[0]);
    switch (tk_below(random, 4)) {
    case 0: copy[at] = (char)tk_next(random); break;
    case 1:
      memmove(copy + at, copy + at + length, *bytes - at - length);
      *bytes -= length;
      break;
    case 2: memmove(copy + at, copy + tk_below(random, *bytes - length + 1), length); break;
    default:
      memmove(copy + at + inserted, copy + at, *bytes - at);
      memcpy(copy + at, token, inserted);
      *bytes += inserted;
    }
    if (!*bytes) *bytes = 1;
  }
  return copy;
}

static void test_broken_text_is_refused_or_understood(void **state) {
  const char *from = getenv("AIR_TEST_SEED"), *rounds = getenv("AIR_TEST_ROUNDS");
  tk_random random = {from ? strtoull(from, NULL, 0) : 1};
  char *text = good_sample();
  free(check_round_trip(*state, text));
  for (int i = rounds ? atoi(rounds) : 20000; i; i--) {
    size_t bytes = strlen(text);
    char *broken = mutate(&random, text, &bytes);
    exercise(*state, broken, bytes);
    free(broken);
  }
  free(text);
}

static void test_every_prefix_is_refused(void **state) {
  fixture *f = *state;
  char *text = good_sample();
  size_t whole = strlen(text) - 1; /* the last newline may be missing */
  for (size_t bytes = 0; bytes < whole; bytes++) {
    aj_module *module = NULL;
    char *exact = tk_copy(text, bytes ? bytes : 1); /* so that a sanitizer sees a read behind it */
    if (try_parse(f, exact, bytes, &module) == ARRJIT_OK) fail_msg("a prefix of %zu bytes was understood", bytes);
    free(exact);
  }
  free(text);
}

/* Whatever allocation fails, parsing, printing, comparing and verifying end with MEMORY and leave nothing behind. */
static void test_lacking_memory_is_told(void **state) {
  (void)state;
  char *text = good_sample();
  int64_t points = 0;
  for (int64_t fail_at = 1; !points; fail_at++) {
    tk_alloc alloc = {0};
    arrjit_allocator host = tk_alloc_host(&alloc);
    fixture f;
    aj_mem_init(&f.mem, &host);
    f.kinds = aj_kinds_create(&f.mem);
    tk_alloc_arm(&alloc, fail_at);
    aj_module *module = NULL;
    aj_air_lines lines = {.mem = &f.mem};
    arrjit_status status =
        aj_air_parse_lines(&f.mem, f.kinds, text, strlen(text), "", &limits, &lines, &module, &f.error);
    bool failed = status != ARRJIT_OK;
    if (!failed) {
      status = aj_verify(module, false, &f.error);
      failed = status != ARRJIT_OK;
      aj_text air, dot;
      aj_text_init(&air, &f.mem);
      aj_text_init(&dot, &f.mem);
      aj_air_print(module, &air);
      aj_dot_print(module, &dot);
      failed |= air.failed || dot.failed || !aj_module_equal(module, module);
      aj_text_free(&air);
      aj_text_free(&dot);
    }
    if (status != ARRJIT_OK && status != ARRJIT_MEMORY)
      fail_msg("allocation %lld: %s", (long long)fail_at, f.error.message);
    assert_int_equal(failed, atomic_load(&alloc.failed) > 0);
    if (!failed) points = fail_at - 1;
    aj_air_lines_free(&lines);
    aj_module_destroy(module);
    aj_kinds_release(f.kinds);
    assert_int_equal(atomic_load(&alloc.live_blocks), 0);
    assert_int_equal(atomic_load(&alloc.mistakes), 0);
  }
  print_message("%lld allocations refused one by one\n", (long long)points);
  free(text);
}

static void test_lines_of_what_is_defined_are_known(void **state) {
  fixture *f = *state;
  aj_air_lines lines = {.mem = &f->mem};
  aj_module *module = NULL;
  static const char text[] = "air 1\ndeclare @main() -> ()\ndeclare @f() -> ()\nfunc @f() -> () {\n yield\n}\n"
                             "func @main() -> () {\n %0 =\n const 1 : i8\n yield\n}\nslot io a()\nslot io b()\n";
  assert_int_equal(aj_air_parse_lines(&f->mem, f->kinds, text, strlen(text), "", &limits, &lines, &module, &f->error),
                   ARRJIT_OK);
  assert_int_equal(aj_air_node_line(&lines, 0, 0), 8);
  assert_int_equal(aj_air_node_line(&lines, 0, 1), 10);
  assert_int_equal(aj_air_node_line(&lines, 1, 0), 5);
  assert_int_equal(aj_air_node_line(&lines, 2, 0), 0);
  assert_int_equal(aj_air_func_line(&lines, 0), 7);
  assert_int_equal(aj_air_func_line(&lines, 1), 4);
  assert_int_equal(aj_air_func_line(&lines, 2), 0);
  assert_int_equal(aj_air_slot_line(&lines, 0), 12);
  assert_int_equal(aj_air_slot_line(&lines, 1), 13);
  assert_int_equal(aj_air_slot_line(&lines, 2), 0);
  aj_air_lines_free(&lines);
  aj_module_destroy(module);
}

#define FIXED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
static const struct CMUnitTest tests[] = {FIXED(test_constants_are_exact),
                                          FIXED(test_random_floats_come_back),
                                          FIXED(test_locale_and_rounding_of_the_host_do_not_matter),
                                          FIXED(test_names_that_need_quotes_come_back),
                                          FIXED(test_kinds_are_the_same_in_another_context),
                                          FIXED(test_modules_that_differ_are_not_equal),
                                          FIXED(test_extents_that_share_parts_stay_short),
                                          FIXED(test_100000_nodes_on_a_small_stack),
                                          FIXED(test_deepest_nesting_on_a_small_stack),
                                          FIXED(test_deeper_nesting_is_refused),
                                          FIXED(test_broken_text_is_refused_or_understood),
                                          FIXED(test_every_prefix_is_refused),
                                          FIXED(test_lacking_memory_is_told),
                                          FIXED(test_lines_of_what_is_defined_are_known)};

TEST_MAIN(tests, NULL, NULL)
