/* What a failing callback tells: carried whole, checked against its kind, and given back exactly once. */
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "engine/engine.h"
#include "test_main.h"

typedef struct fixture {
  tk_alloc alloc;
  arrjit_allocator host;
  aj_core *core;
  aj_module *module;
  aj_run run;
} fixture;

/* With one slot: log, io, of an f64. */
static void begin(fixture *f) {
  memset(f, 0, sizeof *f);
  f->host = tk_alloc_host(&f->alloc);
  f->core = aj_core_create(&f->host);
  assert_non_null(f->core);
  f->module = aj_module_create(&f->core->mem, f->core->kinds);
  assert_non_null(f->module);
  const aj_type *f64 = aj_module_type(f->module, ARRJIT_F64, 0, NULL);
  aj_slot slot = {.name = "log", .param_count = 1, .param_types = &f64};
  assert_true(aj_module_add_slot(f->module, &slot) >= 0);
  f->run = (aj_run){.core = f->core, .module = f->module};
}

static void end(fixture *f) {
  aj_run_unbind(&f->run);
  aj_exn_release(f->run.exn);
  aj_module_destroy(f->module);
  aj_core_release(f->core);
  assert_int_equal(atomic_load(&f->alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&f->alloc.mistakes), 0);
}

static void bind(fixture *f, arrjit_callback_fn *callback, void *user) {
  arrjit_binding binding = {"log", callback, user, NULL};
  arrjit_error error;
  aj_run_unbind(&f->run);
  if (aj_run_bind(&f->run, 1, &binding, &error) != ARRJIT_OK) fail_msg("%s", error.message);
}

static arrjit_view view_of(arrjit_dtype dtype, void *data) {
  return (arrjit_view){dtype, 0, NULL, data, aj_dtypes[dtype].bytes};
}

static bool call_log(fixture *f, double x) {
  arrjit_view arg = {ARRJIT_F64, 0, NULL, &x, sizeof x};
  return aj_run_callback(&f->run, 0, &arg, NULL, NULL);
}

/* The failure in the run, as the host would see it. */
static arrjit_result *take_result(fixture *f) {
  arrjit_result *result = aj_result_create(f->core, 0);
  assert_non_null(f->run.exn);
  result->exn = f->run.exn;
  f->run.exn = NULL;
  return result;
}

typedef struct plan {
  arrjit_failure failures[2];
  size_t count;         /* how many are told */
  arrjit_status status; /* what is returned */
  arrjit_status told;   /* what arrjit_fail gave */
} plan;

static arrjit_status follow(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  (void)arg_count, (void)args, (void)result_count, (void)results;
  plan *p = user;
  for (size_t i = 0; i < p->count; i++) p->told = arrjit_fail(call, &p->failures[i]);
  return p->status;
}

static plan plan_of(arrjit_failure failure) {
  failure.struct_bytes = sizeof failure;
  return (plan){{failure, failure}, 1, ARRJIT_FAILED, ARRJIT_OK};
}

static arrjit_result *run_plan(fixture *f, plan *p) {
  bind(f, follow, p);
  assert_false(call_log(f, 1));
  assert_int_equal(p->told, p->count ? ARRJIT_FAILED : ARRJIT_OK);
  return take_result(f);
}

static void count_destroy(void *pointer) { ++*(int *)pointer; }

static void test_a_failure_is_carried_whole(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int destroyed = 0;
  double x = 2.5;
  int32_t ints[2] = {7, 8};
  int64_t two = 2;
  arrjit_view payload[] = {view_of(ARRJIT_F64, &x), {ARRJIT_I32, 1, &two, ints, sizeof ints}};
  char frame[] = "host_fn (host.c:9)", message[] = "bad {0} of {1}";
  const char *frames[] = {frame, NULL};
  plan p = plan_of((arrjit_failure){.kind = ARRJIT_KIND_CALLBACK,
                                    .code = 42,
                                    .message = message,
                                    .payload_count = 2,
                                    .payload = payload,
                                    .host_pointer = &destroyed,
                                    .host_destroy = count_destroy,
                                    .frame_count = 2,
                                    .frames = frames});
  arrjit_result *result = run_plan(&f, &p);
  memset(frame, 'x', sizeof frame - 1); /* all was copied */
  memset(message, 'x', sizeof message - 1);
  x = two = ints[0] = 0;
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CALLBACK);
  assert_int_equal(arrjit_result_code(result), 42);
  assert_string_equal(arrjit_result_message(result), "bad 2.5 of i32[2] = [7, 8]");
  assert_ptr_equal(arrjit_result_host_pointer(result), &destroyed);
  assert_int_equal(arrjit_result_trace_count(result), 2);
  arrjit_trace_entry entry;
  assert_int_equal(arrjit_result_trace(result, 0, &entry), ARRJIT_OK);
  assert_string_equal(entry.label, "host_fn (host.c:9)");
  assert_string_equal(entry.function, "");
  assert_string_equal(entry.op, "");
  assert_int_equal(entry.node, -1);
  assert_int_equal(entry.iteration, -1);
  assert_non_null(strstr(arrjit_result_text(result), "\n  at host: host_fn (host.c:9)\n"));
  assert_int_equal(destroyed, 0);
  aj_exn *again = aj_exn_again(result->exn);
  arrjit_result_destroy(result);
  assert_int_equal(destroyed, 0);
  assert_ptr_equal(again->host->pointer, &destroyed);
  aj_exn_release(again);
  assert_int_equal(destroyed, 1);
  end(&f);
}

static void test_a_failure_without_a_word(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  plan p = {.status = ARRJIT_BUSY};
  arrjit_result *result = run_plan(&f, &p);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CALLBACK);
  assert_string_equal(arrjit_result_message(result), aj_status_text(ARRJIT_BUSY));
  arrjit_result_destroy(result);
  p = plan_of((arrjit_failure){0});
  result = run_plan(&f, &p);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CALLBACK);
  assert_string_equal(arrjit_result_message(result), "callback");
  assert_null(arrjit_result_host_pointer(result));
  arrjit_result_destroy(result);
  end(&f);
}

static void test_kinds_of_every_root_pass_as_they_are(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  const arrjit_kind kinds[] = {ARRJIT_KIND_ERROR, ARRJIT_KIND_THROW, ARRJIT_KIND_EXIT, ARRJIT_KIND_CANCELLED,
                               ARRJIT_KIND_HOST};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    plan p = plan_of((arrjit_failure){.kind = kinds[i]});
    arrjit_result *result = run_plan(&f, &p);
    assert_int_equal(arrjit_result_kind(result), kinds[i]);
    arrjit_result_destroy(result);
  }
  end(&f);
}

static void test_ok_after_a_failure_breaks_the_contract(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int destroyed = 0;
  plan p = plan_of((arrjit_failure){.message = "m", .host_pointer = &destroyed, .host_destroy = count_destroy});
  p.status = ARRJIT_OK;
  bind(&f, follow, &p);
  assert_false(call_log(&f, 1));
  assert_int_equal(f.run.exn->kind, ARRJIT_KIND_CALLBACK_CONTRACT);
  assert_ptr_equal(f.run.exn->context->host->pointer, &destroyed);
  assert_int_equal(destroyed, 0);
  aj_exn_release(f.run.exn);
  f.run.exn = NULL;
  assert_int_equal(destroyed, 1);
  end(&f);
}

static void test_the_last_of_several_failures_counts(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int first = 0, second = 0;
  plan p = plan_of((arrjit_failure){.message = "first", .host_pointer = &first, .host_destroy = count_destroy});
  p.failures[1].message = "second";
  p.failures[1].host_pointer = &second;
  p.count = 2;
  arrjit_result *result = run_plan(&f, &p);
  assert_string_equal(arrjit_result_message(result), "second");
  assert_int_equal(first, 1);
  assert_int_equal(second, 0);
  arrjit_result_destroy(result);
  assert_int_equal(first, 1);
  assert_int_equal(second, 1);
  end(&f);
}

static void check_contract(fixture *f, arrjit_failure failure, const char *why) {
  int destroyed = 0;
  failure.host_pointer = &destroyed;
  failure.host_destroy = count_destroy;
  plan p = plan_of(failure);
  arrjit_result *result = run_plan(f, &p);
  char expected[512];
  snprintf(expected, sizeof expected, "callback \"log\" broke its contract: %s", why);
  assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CALLBACK_CONTRACT);
  assert_string_equal(arrjit_result_message(result), expected);
  assert_int_equal(destroyed, 0);
  arrjit_result_destroy(result);
  assert_int_equal(destroyed, 1);
}

static void test_breaking_the_contract_is_told(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  arrjit_kind closed, open;
  assert_int_equal(aj_kinds_add(f.core->kinds, "app.closed", ARRJIT_KIND_ERROR, "f64[0], i64[1]", &closed, NULL),
                   ARRJIT_OK);
  assert_int_equal(aj_kinds_add(f.core->kinds, "app.open", ARRJIT_KIND_ERROR, "f64[0], ...", &open, NULL), ARRJIT_OK);
  double x = 1;
  int64_t n = 1, minus = -1, i = 3;
  arrjit_view f64 = view_of(ARRJIT_F64, &x), i64 = view_of(ARRJIT_I64, &i), row = {ARRJIT_I64, 1, &n, &i, sizeof i};
  arrjit_view three[] = {f64, row, f64}, wrong[] = {i64, row}, cut = f64, bare = f64, deep = f64, flat = row,
              below = row, odd = f64;
  check_contract(&f, (arrjit_failure){.kind = 999}, "999 is no kind");
  check_contract(&f, (arrjit_failure){.kind = -3}, "-3 is no kind");
  check_contract(&f, (arrjit_failure){.kind = closed},
                 "the payload of kind \"app.closed\" is (f64[0], i64[1]), but the callback gave ()");
  check_contract(
      &f, (arrjit_failure){.kind = closed, .payload_count = 3, .payload = three},
      "the payload of kind \"app.closed\" is (f64[0], i64[1]), but the callback gave (f64[0], i64[1], f64[0])");
  check_contract(&f, (arrjit_failure){.kind = closed, .payload_count = 2, .payload = wrong},
                 "the payload of kind \"app.closed\" is (f64[0], i64[1]), but the callback gave (i64[0], i64[1])");
  check_contract(&f, (arrjit_failure){.kind = open, .payload_count = 2, .payload = wrong},
                 "the payload of kind \"app.open\" is (f64[0], ...), but the callback gave (i64[0], i64[1])");
  check_contract(&f, (arrjit_failure){.kind = ARRJIT_KIND_HOST, .payload_count = 1, .payload = &f64},
                 "the payload of kind \"host\" is (), but the callback gave (f64[0])");
  cut.bytes = 4;
  check_contract(&f, (arrjit_failure){.payload_count = 1, .payload = &cut}, "payload 0 has 4 bytes, expected 8");
  bare.data = NULL;
  check_contract(&f, (arrjit_failure){.payload_count = 1, .payload = &bare}, "payload 0 has no data");
  deep.rank = 17;
  deep.dims = &n;
  check_contract(&f, (arrjit_failure){.payload_count = 1, .payload = &deep},
                 "payload 0 has a dtype, a rank or an extent that is out of range");
  flat.dims = NULL;
  check_contract(&f, (arrjit_failure){.payload_count = 1, .payload = &flat}, "payload 0 has rank 1 and no dims");
  below.dims = &minus;
  check_contract(&f, (arrjit_failure){.payload_count = 1, .payload = &below},
                 "payload 0 has a dtype, a rank or an extent that is out of range");
  odd.dtype = (arrjit_dtype)77;
  check_contract(&f, (arrjit_failure){.payload_count = 1, .payload = &odd},
                 "payload 0 has a dtype, a rank or an extent that is out of range");
  check_contract(&f, (arrjit_failure){.payload_count = 1}, "payload is NULL or has too many fields: 1");
  check_contract(&f, (arrjit_failure){.frame_count = 1}, "frames is NULL or has too many entries: 1");
  plan p = plan_of((arrjit_failure){.kind = open, .payload_count = 3, .payload = three, .message = "{0} {1} {2}"});
  arrjit_result *result = run_plan(&f, &p);
  assert_string_equal(arrjit_result_message(result), "1 i64[1] = [3] 1");
  arrjit_result_destroy(result);
  end(&f);
}

static arrjit_status misuse(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  (void)arg_count, (void)args, (void)result_count, (void)results;
  arrjit_failure failure = {.struct_bytes = 3};
  return arrjit_fail(call, user ? &failure : NULL);
}

static void test_a_failure_of_the_wrong_size(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  for (int i = 0; i < 2; i++) {
    bind(&f, misuse, i ? &f : NULL);
    assert_false(call_log(&f, 1));
    arrjit_result *result = take_result(&f);
    assert_int_equal(arrjit_result_kind(result), ARRJIT_KIND_CALLBACK_CONTRACT);
    assert_non_null(strstr(arrjit_result_message(result), i ? "struct_bytes is 3, expected " : "no failure"));
    arrjit_result_destroy(result);
  }
  arrjit_failure failure = {.struct_bytes = sizeof failure};
  assert_int_equal(arrjit_fail(NULL, &failure), ARRJIT_MISUSE);
  end(&f);
}

static void test_no_memory_for_a_failure(void **state) {
  (void)state;
  for (int64_t n = 1;; n++) {
    fixture f;
    begin(&f);
    int destroyed = 0;
    double x = 1;
    arrjit_view payload[] = {view_of(ARRJIT_F64, &x), view_of(ARRJIT_F64, &x)};
    const char *frames[] = {"a", "b"};
    plan p = plan_of((arrjit_failure){.message = "m",
                                      .payload_count = 2,
                                      .payload = payload,
                                      .host_pointer = &destroyed,
                                      .host_destroy = count_destroy,
                                      .frame_count = 2,
                                      .frames = frames});
    bind(&f, follow, &p);
    tk_alloc_arm(&f.alloc, n);
    assert_false(call_log(&f, 1));
    bool refused = atomic_load(&f.alloc.failed) > 0;
    assert_int_equal(f.run.exn->kind, refused ? ARRJIT_KIND_MEMORY : ARRJIT_KIND_CALLBACK);
    assert_int_equal(destroyed, refused);
    tk_alloc_arm(&f.alloc, 0);
    end(&f);
    assert_int_equal(destroyed, 1);
    if (!refused) break;
    assert_true(n < 100);
  }
}

static void *leave_by_unwinding(void *arg) {
  (void)call_log(arg, 1);
  return NULL;
}

static arrjit_status unwind(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  (void)arg_count, (void)args, (void)result_count, (void)results;
  arrjit_failure failure = {.struct_bytes = sizeof failure, .host_pointer = user, .host_destroy = count_destroy};
  (void)arrjit_fail(call, &failure);
  pthread_exit(NULL); /* unwinds the stack as a foreign exception does */
}

static void test_unwinding_through_a_callback_leaves_the_timer_clean(void **state) {
  (void)state;
  fixture f;
  begin(&f);
  int destroyed = 0;
  bind(&f, unwind, &destroyed);
  f.run.deadline_ns = aj_clock_ns() + INT64_C(3600000000000);
  assert_true(aj_run_watch(&f.run));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, leave_by_unwinding, &f), 0);
  pthread_join(thread, NULL);
  assert_int_equal(destroyed, 1);
  assert_null(f.run.timer.stop);
  assert_ptr_equal(f.core->timer.head.next, &f.core->timer.head);
  end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_failure_is_carried_whole),
    cmocka_unit_test(test_a_failure_without_a_word),
    cmocka_unit_test(test_kinds_of_every_root_pass_as_they_are),
    cmocka_unit_test(test_ok_after_a_failure_breaks_the_contract),
    cmocka_unit_test(test_the_last_of_several_failures_counts),
    cmocka_unit_test(test_breaking_the_contract_is_told),
    cmocka_unit_test(test_a_failure_of_the_wrong_size),
    cmocka_unit_test(test_no_memory_for_a_failure),
    cmocka_unit_test(test_unwinding_through_a_callback_leaves_the_timer_clean),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
