/* Kernels on several threads: the same bits and the same failure, however many there are and whoever they belong to. */
#include <pthread.h>
#include <unistd.h>

#include "threading.h"

enum { REPEATS = 1000 };

static int64_t repeats(void) { return getenv("ARRJIT_LONG") ? 10 * REPEATS : REPEATS; }

/* Ill-conditioned, so that any other order of a sum shows. */
static arrjit_array *make_input(tk_fixture *f, arrjit_dtype dtype, int32_t rank, const int64_t *dims) {
  arrjit_array *array = tk_array(f, arrjit_type_make(dtype, rank, dims), NULL);
  size_t count = arrjit_array_bytes(array) / arrjit_dtype_bytes(dtype);
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < count; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    double x = ldexp((double)(int64_t)state, (int)(state >> 58) - 80);
    if (dtype == ARRJIT_F32)
      ((float *)arrjit_array_data(array))[i] = (float)x;
    else if (dtype == ARRJIT_F64)
      ((double *)arrjit_array_data(array))[i] = x;
    else
      ((int32_t *)arrjit_array_data(array))[i] = (int32_t)(state % 1000);
  }
  return array;
}

/* ---- bits ---- */

static void test_threads_give_the_same_elements(void **state) {
  tk_fixture *f = *state;
  static const int64_t shapes[][2] = {{1, 200003}, {200003, 1}, {3, 70001}, {70001, 3}, {301, 333}, {0, 5}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_type type = arrjit_type_make(ARRJIT_F32, 2, (int64_t[]){arrjit_symbol(g, "m"), arrjit_symbol(g, "n")});
    arrjit_type row = arrjit_type_make(ARRJIT_F32, 1, &type.dims[1]);
    arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type), y = (arrjit_param)(ARRJIT_AT_(g), "y", &row);
    arrjit_value turned = (arrjit_transpose)(ARRJIT_AT_(g), x, INTS(1, 0));
    RETURN(g, arrjit_add(g, arrjit_mul(g, x, x), y), arrjit_neg(g, turned));
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *inputs[] = {make_input(f, ARRJIT_F32, 2, shapes[i]), make_input(f, ARRJIT_F32, 1, &shapes[i][1])};
    EXPECT_OK(run_threads(f, function, 2, inputs));
  }
}

static void test_threads_give_the_same_sums(void **state) {
  tk_fixture *f = *state;
  static const arrjit_dtype dtypes[] = {ARRJIT_F32, ARRJIT_F64};
  static const int64_t counts[] = {0, 1, 4095, 16385, 131072, 131073, 2500001};
  for (size_t d = 0; d < 2; d++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_type type = arrjit_type_make(dtypes[d], 1, (int64_t[]){arrjit_symbol(g, "n")});
    arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type);
    RETURN(g, arrjit_reduce_sum(g, x, ARRJIT_ALL_AXES, NULL), arrjit_reduce_max(g, x, ARRJIT_ALL_AXES, NULL),
           arrjit_reduce_prod(g, x, ARRJIT_ALL_AXES, NULL));
    arrjit_function *function = tk_finish(f, g);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      arrjit_array *input = make_input(f, dtypes[d], 1, &counts[i]);
      EXPECT_OK(run_threads(f, function, 1, &input));
    }
  }
}

static void test_threads_give_the_same_row_and_column_sums(void **state) {
  tk_fixture *f = *state;
  static const int64_t shapes[][3] = {{3, 100, 1000}, {1000, 7, 50}, {2, 3, 60000}, {1, 100003, 3}, {257, 1, 500}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_type type = arrjit_type_make(
        ARRJIT_F64, 3, (int64_t[]){arrjit_symbol(g, "a"), arrjit_symbol(g, "b"), arrjit_symbol(g, "c")});
    arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type);
    RETURN(g, (arrjit_reduce_sum)(ARRJIT_AT_(g), x, INTS(2)), (arrjit_reduce_sum)(ARRJIT_AT_(g), x, INTS(1)),
           (arrjit_reduce_sum)(ARRJIT_AT_(g), x, INTS(0)), (arrjit_reduce_sum)(ARRJIT_AT_(g), x, INTS(0, 2)),
           (arrjit_reduce_sum)(ARRJIT_AT_(g), x, INTS(1, 2)), (arrjit_reduce_sum)(ARRJIT_AT_(g), x, INTS(0, 1, 2)));
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *input = make_input(f, ARRJIT_F64, 3, shapes[i]);
    EXPECT_OK(run_threads(f, function, 1, &input));
  }
}

static void test_threads_give_the_same_products(void **state) {
  tk_fixture *f = *state;
  static const int64_t shapes[][3] = {{300, 70, 90}, {1000, 3, 400}, {64, 5000, 17}, {129, 1, 129}};
  f->may_fall_back = true;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    arrjit_graph *g = tk_graph(f);
    arrjit_value x = PARAM(g, "x", F32, shapes[i][0], shapes[i][1]), y = PARAM(g, "y", F32, shapes[i][1], shapes[i][2]);
    RETURN(g, arrjit_dot(g, x, y, 0, NULL, NULL, 1, I64S(1), I64S(0)));
    arrjit_function *function = tk_finish(f, g);
    arrjit_array *inputs[] = {make_input(f, ARRJIT_F32, 2, shapes[i]), make_input(f, ARRJIT_F32, 2, &shapes[i][1])};
    EXPECT_OK(run_threads(f, function, 2, inputs));
  }
}

/* ---- failures ---- */

/* pi * (x / 2)^2 where x is positive: the error is the lowest index, and there is no output. */
static arrjit_function *build_area(tk_fixture *f) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")});
  arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type), checked[1];
  CHECK(g, arrjit_gt(g, x, arrjit_const_like(g, x, 0)), ARRJIT_KIND_RUNTIME, 7, "must be positive", NONE, checked, x);
  arrjit_value half = arrjit_div(g, checked[0], arrjit_const_like(g, x, 2));
  RETURN(g, arrjit_mul(g, arrjit_const_like(g, x, 3.141592653589793), arrjit_mul(g, half, half)));
  return tk_finish(f, g);
}

static void test_case_b07_threads_tell_the_lowest_bad_lane(void **state) {
  tk_fixture *f = *state;
  enum { N = 100000 };
  arrjit_function *area = build_area(f);
  arrjit_array *two = ARRAY(f, F64, 0.1, -4.0);
  const tk_outcome *o = run_threads(f, area, 1, &two);
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 7, "must be positive");
  EXPECT_PAYLOAD(o, 0, I64, 1);
  static const int64_t places[] = {0, 49999, N - 1};
  arrjit_array *many = tk_array(f, TYPE(F64, N), NULL);
  double *x = arrjit_array_data(many);
  for (int p = 0; p < 3; p++) {
    for (int64_t i = 0; i < N; i++) x[i] = i < places[p] ? 1.0 : i % 3 ? -1.0 : 2.0;
    x[places[p]] = -4.0;
    o = run_threads(f, area, 1, &many);
    EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 7, "must be positive");
    EXPECT_PAYLOAD(o, 0, I64, places[p]);
    assert_int_equal(o->output_count, 0);
  }
  for (int64_t i = 0; i < N; i++) x[i] = 1.0;
  EXPECT_OK(run_threads(f, area, 1, &many));
}

/* Repeats a failing function on 8 threads: always the very same outcome. */
static void repeat_failure(tk_fixture *f, arrjit_function *function, size_t input_count, arrjit_array *const *inputs,
                           const tk_outcome *want) {
  set_threads(f->context, 8);
  for (int64_t i = 0; i < repeats(); i++) {
    tk_outcome o;
    char *why = NULL;
    run_native(f, function, input_count, inputs, &o);
    if (!tk_outcome_same(want, &o, &why)) fail_msg("repeat %d: %s", (int)i, why);
    tk_outcome_free(&o);
  }
}

static void test_case_f18_threads_dynamically_first_check(void **state) {
  tk_fixture *f = *state;
  enum { N = 70000 };
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, N), i, v[1], out[1], seen[1];
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 10), arrjit_const_i64(g, 1), &i, v, x);
  arrjit_value limit = arrjit_sub(g, arrjit_const_i64(g, 5), i); /* the first check fails from iteration 5 on */
  CHECK(g, arrjit_gt(g, limit, arrjit_const_i64(g, 0)), ARRJIT_KIND_RUNTIME, 1, "first", LIST(i), seen, i);
  CHECK(g, arrjit_lt(g, v[0], arrjit_const_like(g, v[0], 1003)), ARRJIT_KIND_RUNTIME, 2, "second", LIST(seen[0]), seen,
        v[0]);
  arrjit_for_end(g, LIST(arrjit_add(g, seen[0], arrjit_const_like(g, v[0], 1))), out);
  RETURN(g, out[0]);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = make_input(f, ARRJIT_I32, 1, (int64_t[]){N});
  int32_t *data = arrjit_array_data(input);
  for (int k = 0; k < N; k++) data[k] = k % 999;
  data[N - 7] = data[45678] = 1000; /* 1003 in iteration 3 */
  const tk_outcome *o = run_threads(f, function, 1, &input);
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 2, "second");
  EXPECT_PAYLOAD(o, 0, I64, 3);
  EXPECT_PAYLOAD(o, 1, I64, 45678);
  repeat_failure(f, function, 1, &input, o);
}

static void test_case_f20_threads_checked_gather_names_the_lowest(void **state) {
  tk_fixture *f = *state;
  enum { N = 50000 };
  f->may_fall_back = true;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 100), at = PARAM(g, "at", I64, N);
  RETURN(g, arrjit_checked_index(g, x, at, 0));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *inputs[] = {make_input(f, ARRJIT_F32, 1, (int64_t[]){100}), tk_array(f, TYPE(I64, N), NULL)};
  int64_t *indices = arrjit_array_data(inputs[1]);
  for (int i = 0; i < N; i++) indices[i] = i % 100;
  indices[49999] = 100, indices[33333] = -5, indices[44444] = 1000;
  const tk_outcome *o = run_threads(f, function, 2, inputs);
  EXPECT_FAILURE(o, ARRJIT_KIND_INDEX, 0, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 33333);
  EXPECT_PAYLOAD(o, 1, I64, -5);
  EXPECT_PAYLOAD(o, 2, I64, 0);
  EXPECT_PAYLOAD(o, 3, I64, 100);
  repeat_failure(f, function, 2, inputs, o);
}

/* A checked op fused into a kernel: the lane and the operands there. */
static void test_threads_checked_op_tells_the_lowest_lane(void **state) {
  tk_fixture *f = *state;
  static const int64_t shape[] = {700, 301};
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", I32, 700, 301), y = PARAM(g, "y", I32, 301);
  RETURN(g, arrjit_neg(g, arrjit_checked_div(g, arrjit_add(g, x, x), y)));
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *inputs[] = {make_input(f, ARRJIT_I32, 2, shape), make_input(f, ARRJIT_I32, 1, &shape[1])};
  int32_t *divisor = arrjit_array_data(inputs[1]), *dividend = arrjit_array_data(inputs[0]);
  for (int i = 0; i < 301; i++) divisor[i] = i + 1;
  EXPECT_OK(run_threads(f, function, 2, inputs));
  divisor[0] = -1; /* least / -1 overflows, in the rows where it is */
  dividend[301 * 500] = dividend[301 * 321] = INT32_MIN / 2;
  const tk_outcome *o = run_threads(f, function, 2, inputs);
  EXPECT_FAILURE(o, ARRJIT_KIND_ARITH, 2, NULL);
  EXPECT_PAYLOAD(o, 0, I64, 301 * 321);
  EXPECT_PAYLOAD(o, 1, I32, INT32_MIN);
  EXPECT_PAYLOAD(o, 2, I32, -1);
  repeat_failure(f, function, 2, inputs, o);
}

/* Newton's square root of each element, within a loop of two rounds: lanes that do not converge raise, or (caught) give
 * what their exception tells, which no vector can show. */
static arrjit_function *build_roots(tk_fixture *f, bool caught) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")}), scalar = TYPE(F64);
  arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type), i, a, v[2], loop[2], carried[1], out, exn, root;
  FOR(g, arrjit_const_i64(g, 0), arrjit_const_i64(g, 2), arrjit_const_i64(g, 1), &i, carried, x);
  arrjit_map_begin(g, 1, carried, &a);
  if (caught) arrjit_try_begin(g);
  WHILE(g, v, a, arrjit_const_i64(g, 0));
  arrjit_value error = arrjit_abs(g, arrjit_sub(g, arrjit_mul(g, v[0], v[0]), a));
  arrjit_while_body(g, arrjit_gt(g, error, arrjit_const_f64(g, 1e-9)), v);
  arrjit_if_begin(g, arrjit_ge(g, v[1], arrjit_const_i64(g, 30)));
  RAISE(g, ARRJIT_KIND_RUNTIME, 4, "{0} has no root", a);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_value half = arrjit_const_f64(g, 0.5);
  arrjit_value next = arrjit_mul(g, half, arrjit_add(g, v[0], arrjit_div(g, a, v[0])));
  arrjit_while_end(g, LIST(next, arrjit_add(g, v[1], arrjit_const_i64(g, 1))), loop);
  root = loop[0];
  if (caught) {
    (arrjit_try_handler)(ARRJIT_AT_(g), LIST(root), ARRJIT_KIND_RUNTIME, &exn);
    arrjit_value told = arrjit_abs(g, arrjit_exn_field(g, exn, 0, &scalar, NULL));
    arrjit_try_end(g, LIST(told), &root);
  }
  arrjit_map_end(g, 1, &root, &out);
  arrjit_for_end(g, LIST(out), carried);
  RETURN(g, carried[0]);
  return tk_finish(f, g);
}

static void test_threads_run_lanes_of_maps(void **state) {
  tk_fixture *f = *state;
  enum { N = 5000 };
  arrjit_array *input = tk_array(f, TYPE(F64, N), NULL);
  double *x = arrjit_array_data(input);
  for (int i = 0; i < N; i++) x[i] = 1 + i % 700;
  arrjit_function *strict = build_roots(f, false), *caught = build_roots(f, true);
  EXPECT_OK(run_threads(f, strict, 1, &input));
  x[4321] = x[1234] = x[N - 1] = -2;
  EXPECT_OK(run_threads(f, caught, 1, &input));
  const tk_outcome *o = run_threads(f, strict, 1, &input);
  EXPECT_FAILURE(o, ARRJIT_KIND_RUNTIME, 4, "-2 has no root");
  assert_string_equal(o->path, "raise < if then < while body 30 < map lane 1234 < for body 0");
  repeat_failure(f, strict, 1, &input, o);
}

/* ---- whose threads ---- */

enum { MOST_TASKS = 5000 };
typedef struct host_team {
  pthread_mutex_t lock;
  int late;    /* tasks wait here until they are let go */
  int refuse;  /* every submit */
  int running; /* threads that ran a task at once */
  size_t count;
  struct {
    void (*task)(void *);
    void *arg;
  } tasks[MOST_TASKS];
  size_t thread_count;
  pthread_t threads[MOST_TASKS];
} host_team;

typedef struct errand {
  void (*task)(void *);
  void *arg;
} errand;

static void *run_errand(void *arg) {
  errand e = *(errand *)arg;
  free(arg);
  e.task(e.arg);
  return NULL;
}

static int submit(void *user, void (*task)(void *), void *arg) {
  host_team *team = user;
  if (team->refuse) return 1;
  pthread_mutex_lock(&team->lock);
  int refused = team->count == MOST_TASKS || team->thread_count == MOST_TASKS;
  if (!refused && team->late) {
    team->tasks[team->count].task = task;
    team->tasks[team->count++].arg = arg;
  } else if (!refused) {
    errand *e = malloc(sizeof *e);
    *e = (errand){task, arg};
    refused = pthread_create(&team->threads[team->thread_count], NULL, run_errand, e) != 0;
    if (refused) free(e);
    team->thread_count += !refused;
  }
  pthread_mutex_unlock(&team->lock);
  return refused;
}

static void run_late_tasks(host_team *team) {
  for (size_t i = 0; i < team->count; i++) team->tasks[i].task(team->tasks[i].arg);
  team->count = 0;
}

static arrjit_context *make_context(tk_alloc *alloc, arrjit_allocator *host, host_team *team) {
  *host = tk_alloc_host(alloc);
  arrjit_context_options options = tk_context_options(host);
  const arrjit_executor executor = {.user = team, .submit = submit};
  options.executor = &executor;
  arrjit_context *context = NULL;
  arrjit_error error;
  if (arrjit_context_create(&options, &context, &error) != ARRJIT_OK) fail_msg("%s", error.message);
  set_threads(context, 4);
  return context;
}

/* Sums on a context of its own whose helpers are the team; the sum is that of one thread. */
static void sum_with(host_team *team, int runs, bool tasks_after_the_context) {
  static tk_alloc alloc;
  arrjit_allocator host;
  alloc = (tk_alloc){0};
  tk_fixture f = {.context = make_context(&alloc, &host, team)};
  arrjit_function *function = build_area(&f);
  arrjit_array *input = make_input(&f, ARRJIT_F64, 1, (int64_t[]){200000});
  for (int i = 0; i < 200000; i++) ((double *)arrjit_array_data(input))[i] = 1.0 + i;
  tk_outcome want, o;
  set_threads(f.context, 1);
  run_native(&f, function, 1, &input, &want);
  EXPECT_OK(&want);
  set_threads(f.context, 4);
  for (int i = 0; i < runs; i++) {
    char *why = NULL;
    run_native(&f, function, 1, &input, &o);
    if (!tk_outcome_same(&want, &o, &why)) fail_msg("run %d: %s", i, why);
    tk_outcome_free(&o);
  }
  tk_outcome_free(&want);
  arrjit_array_release(input);
  arrjit_function_release(function);
  free(f.arrays);
  free(f.functions);
  if (!tasks_after_the_context) run_late_tasks(team);
  assert_int_equal(arrjit_context_destroy(f.context), ARRJIT_OK);
  run_late_tasks(team); /* they find nothing to do, and nothing that was freed */
  for (size_t i = 0; i < team->thread_count; i++) pthread_join(team->threads[i], NULL);
  team->thread_count = 0;
  assert_int_equal(atomic_load(&alloc.live_bytes), 0);
  assert_int_equal(atomic_load(&alloc.mistakes), 0);
}

static void test_threads_of_the_host_help(void **state) {
  (void)state;
  static host_team team = {.lock = PTHREAD_MUTEX_INITIALIZER};
  sum_with(&team, 50, false);
}

static void test_threads_of_the_host_may_come_late(void **state) {
  (void)state;
  static host_team team = {.lock = PTHREAD_MUTEX_INITIALIZER, .late = 1};
  sum_with(&team, 20, false);
  sum_with(&team, 20, true);
}

static void test_threads_of_the_host_may_be_refused(void **state) {
  (void)state;
  static host_team team = {.lock = PTHREAD_MUTEX_INITIALIZER, .refuse = 1};
  sum_with(&team, 20, false);
}

/* A host that does the task inside of submit. */
static int run_at_once(void *user, void (*task)(void *), void *arg) {
  ++*(int *)user;
  task(arg);
  return 0;
}

static void test_threads_of_the_host_may_be_the_caller(void **state) {
  tk_fixture *f = *state;
  int calls = 0;
  arrjit_allocator host = tk_alloc_host(&f->alloc);
  arrjit_context_options options = tk_context_options(&host);
  const arrjit_executor executor = {.user = &calls, .submit = run_at_once};
  options.executor = &executor;
  tk_fixture other = {0};
  if (arrjit_context_create(&options, &other.context, NULL) != ARRJIT_OK) fail_msg("no context");
  set_threads(other.context, 4);
  arrjit_function *function = build_area(&other);
  arrjit_array *input = make_input(&other, ARRJIT_F64, 1, (int64_t[]){200000});
  ((double *)arrjit_array_data(input))[0] = -1;
  tk_outcome o;
  run_native(&other, function, 1, &input, &o);
  EXPECT_FAILURE(&o, ARRJIT_KIND_RUNTIME, 7, "must be positive");
  assert_int_equal(calls, tk_native() ? 3 : 0);
  tk_outcome_free(&o);
  arrjit_array_release(input);
  arrjit_function_release(function);
  free(other.arrays);
  free(other.functions);
  assert_int_equal(arrjit_context_destroy(other.context), ARRJIT_OK);
}

/* Many host threads share one pool, and a callback runs another kernel in the middle. */
typedef struct busy {
  arrjit_context *context;
  arrjit_function *outer, *inner;
  arrjit_array *input;
  int wrong;
} busy;

static arrjit_status run_inner(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                               size_t result_count, const arrjit_view *results) {
  (void)call, (void)arg_count, (void)args, (void)result_count;
  busy *b = user;
  arrjit_result *result = NULL;
  if (arrjit_run(b->inner, NULL, 1, &b->input, &result, NULL) != ARRJIT_OK) return ARRJIT_INTERNAL;
  int ok = arrjit_result_ok(result);
  if (ok) *(double *)results[0].data = *(double *)arrjit_array_data(arrjit_result_output(result, 0));
  arrjit_result_destroy(result);
  return ok ? ARRJIT_OK : ARRJIT_INTERNAL;
}

static void *run_busy(void *arg) {
  busy *b = arg;
  arrjit_binding binding = {.slot = "inner", .callback = run_inner, .user = b};
  arrjit_run_options options = {
      .struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE, .binding_count = 1, .bindings = &binding};
  for (int i = 0; i < 10; i++) {
    arrjit_result *result = NULL;
    b->wrong += arrjit_run(b->outer, &options, 1, &b->input, &result, NULL) != ARRJIT_OK || !arrjit_result_ok(result) ||
                *(double *)arrjit_array_data(arrjit_result_output(result, 0)) != 400000.0;
    arrjit_result_destroy(result);
  }
  return NULL;
}

static arrjit_function *build_sum(tk_fixture *f, bool calls) {
  arrjit_graph *g = tk_graph(f);
  arrjit_type type = arrjit_type_make(ARRJIT_F64, 1, (int64_t[]){arrjit_symbol(g, "n")}), scalar = TYPE(F64);
  arrjit_value x = (arrjit_param)(ARRJIT_AT_(g), "x", &type), more[1];
  arrjit_value sum = arrjit_reduce_sum(g, x, ARRJIT_ALL_AXES, NULL);
  if (calls) {
    arrjit_slot slot = arrjit_slot_value(g, "inner", 1, &scalar, 1, &scalar, 0);
    CALLBACK(g, slot, more, sum);
    sum = arrjit_add(g, arrjit_reduce_sum(g, arrjit_mul(g, x, x), ARRJIT_ALL_AXES, NULL), more[0]);
  }
  RETURN(g, sum);
  return tk_finish(f, g);
}

static void test_threads_that_are_busy_do_not_deadlock(void **state) {
  tk_fixture *f = *state;
  enum { HOSTS = 6 };
  pthread_t threads[HOSTS];
  busy members[HOSTS];
  arrjit_array *input = tk_array(f, TYPE(F64, 200000), NULL);
  for (int i = 0; i < 200000; i++) ((double *)arrjit_array_data(input))[i] = 1;
  set_threads(f->context, 3);
  arrjit_function *outer = build_sum(f, true), *inner = build_sum(f, false);
  for (int i = 0; i < HOSTS; i++) {
    members[i] = (busy){f->context, outer, inner, input, 0};
    if (pthread_create(&threads[i], NULL, run_busy, &members[i])) fail_msg("no thread");
  }
  for (int i = 0; i < HOSTS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(members[i].wrong, 0);
  }
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_threads_give_the_same_elements),
    TK_TEST(test_threads_give_the_same_sums),
    TK_TEST(test_threads_give_the_same_row_and_column_sums),
    TK_TEST(test_threads_give_the_same_products),
    TK_TEST(test_case_b07_threads_tell_the_lowest_bad_lane),
    TK_TEST(test_case_f18_threads_dynamically_first_check),
    TK_TEST(test_case_f20_threads_checked_gather_names_the_lowest),
    TK_TEST(test_threads_checked_op_tells_the_lowest_lane),
    TK_TEST(test_threads_run_lanes_of_maps),
    TK_TEST(test_threads_of_the_host_help),
    TK_TEST(test_threads_of_the_host_may_come_late),
    TK_TEST(test_threads_of_the_host_may_be_refused),
    TK_TEST(test_threads_of_the_host_may_be_the_caller),
    TK_TEST(test_threads_that_are_busy_do_not_deadlock),
};
TEST_MAIN(tests, NULL, NULL)
