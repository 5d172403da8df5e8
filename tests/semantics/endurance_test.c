/* A great many good and failing runs in turn: afterwards there is what was there before. */
#include <inttypes.h>
#include <unistd.h>

#include "hosting.h"

enum { ELEMENTS = 64, WARM_UP = 100, RUNS = 20000, MANY_RUNS = 1000000, MOST_GROWTH = 4 << 20 };

/* Bytes of memory that the process has, as the system counts them. */
static int64_t resident_bytes(void) {
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
  fclose(file);
  return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static void count_destroy(void *pointer) { ++*(int64_t *)pointer; }

/* Fails with an object of the host when the argument is 3. */
static arrjit_status fail_on_three(HOST_ARGS) {
  UNUSED_ARGS;
  static const char *const frames[] = {"host.c:7"};
  arrjit_failure failure = {.struct_bytes = sizeof failure,
                            .message = "host says no",
                            .host_pointer = user,
                            .host_destroy = count_destroy,
                            .frame_count = 1,
                            .frames = frames};
  return *(const int64_t *)args[0].data == 3 ? arrjit_fail(call, &failure) : ARRJIT_OK;
}

/* way 0: x + x; 1: a raise with all of x, in a loop; 2: a check of lanes; 3: a callback fails, is caught, and is the
 * cause of what is raised then. */
static arrjit_function *build_ways(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F64, ELEMENTS), way = PARAM(g, "way", I64), zero = arrjit_const_i64(g, 0), i, exn, v;
  arrjit_slot slot = arrjit_slot_io(g, "cb", TYPES(TYPE(I64)), 0);
  (arrjit_for_begin)(ARRJIT_AT_(g), zero, arrjit_const_i64(g, 3), arrjit_const_i64(g, 1), 0, NULL, &i, NULL);
  RAISE_IF(g, arrjit_and(g, arrjit_eq(g, way, arrjit_const_i64(g, 1)), arrjit_eq(g, i, way)), ARRJIT_KIND_RUNTIME, 1,
           "way {0}", way, x);
  arrjit_for_end(g, 0, NULL, NULL);
  arrjit_value limit = arrjit_mul(g, arrjit_convert(g, arrjit_ne(g, way, arrjit_const_i64(g, 2)), ARRJIT_F64),
                                  arrjit_const_f64(g, 1000));
  CHECK(g, arrjit_le(g, x, limit), ARRJIT_KIND_RUNTIME, 2, "way {0}, lane {1}", LIST(way), &x, x);
  arrjit_try_begin(g);
  CALLBACK(g, slot, &v, way);
  arrjit_try_handler(g, 1, &v, ARRJIT_KIND_CALLBACK, &exn);
  arrjit_raise_from(g, EXN_NEW(g, ARRJIT_KIND_RUNTIME, 3, "way {0}", way), exn);
  arrjit_try_end(g, 0, NULL, &v);
  RETURN(g, arrjit_add(g, x, x), v);
  return tk_finish(f, g);
}

static void look_at(arrjit_result *result, int64_t way) {
  static const char *const messages[] = {NULL, "way 1", "way 2, lane 1", "way 3"};
  assert_non_null(result);
  if (way == 0) {
    assert_true(arrjit_result_ok(result));
    assert_true(((double *)arrjit_array_data(arrjit_result_output(result, 0)))[5] == 10);
    return;
  }
  assert_int_equal(arrjit_result_code(result), way);
  assert_string_equal(arrjit_result_message(result), messages[way]);
  assert_int_equal(arrjit_result_cause(result) != NULL, way == 3);
  assert_true(arrjit_result_trace_count(result) > 0);
}

/* A million runs with ARRJIT_LONG set. What the first hundred need is there for good. */
static void test_case_f40_alternating_runs_leave_nothing_behind(void **state) {
  tk_fixture *f = *state;
  arrjit_function *function = build_ways(f);
  arrjit_status status = arrjit_context_set_option(f->context, ARRJIT_OPTION_HOT_WORK, 0, NULL);
  assert_int_equal(status, ARRJIT_OK); /* what auto decides, and its event, come with the first run */
  double data[ELEMENTS];
  for (int k = 0; k < ELEMENTS; k++) data[k] = k;
  arrjit_array *x = tk_array(f, TYPE(F64, ELEMENTS), data), *ways[4];
  for (int64_t way = 0; way < 4; way++) ways[way] = SCALAR(f, I64, way);
  int64_t count = getenv("ARRJIT_LONG") ? MANY_RUNS : RUNS, destroyed = 0;
  const arrjit_binding binding = {.slot = "cb", .callback = fail_on_three, .user = &destroyed};
  for (size_t m = 0; m < TK_COUNT(run_modes); m++) {
    if (run_modes[m] == ARRJIT_MODE_WHOLE && !tk_native()) continue; /* each run would leave an event to the host */
    int64_t live = 0, blocks = 0, resident = 0, failed = 0;
    for (int64_t k = 0; k < WARM_UP + count; k++) {
      if (k == WARM_UP) {
        assert_int_equal(arrjit_context_wait_idle(f->context, -1), ARRJIT_OK); /* auto: compiled */
        live = atomic_load(&f->alloc.live_bytes), blocks = atomic_load(&f->alloc.live_blocks);
        resident = resident_bytes(), destroyed = 0;
      }
      int64_t way = k % 2 ? 1 + k / 2 % 3 : 0;
      arrjit_array *const inputs[] = {x, ways[way]};
      arrjit_result *result = run_bound(function, run_modes[m], &binding, 2, inputs);
      look_at(result, way);
      failed += k >= WARM_UP && way != 0;
      arrjit_result_destroy(result);
    }
    int64_t growth = resident_bytes() - resident;
    print_message("mode %d: %" PRId64 " runs, %" PRId64 " failed; live bytes %" PRId64 " before, %" PRId64
                  " after; resident %+" PRId64 " KiB\n",
                  (int)run_modes[m], count, failed, live, atomic_load(&f->alloc.live_bytes), growth / 1024);
    assert_int_equal(failed, count / 2);
    assert_int_equal(atomic_load(&f->alloc.live_bytes), live);
    assert_int_equal(atomic_load(&f->alloc.live_blocks), blocks);
    assert_in_range(destroyed, count / 6 - 1, count / 6 + 1);
    if (!TK_SANITIZED) assert_true(growth <= MOST_GROWTH);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_f40_alternating_runs_leave_nothing_behind),
};

TEST_MAIN(tests, NULL, NULL)
