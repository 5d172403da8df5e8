/* raise_catch, callback_fail_deep, fail_threads: what failing costs, and what it costs others. */
#include <pthread.h>
#include <stdatomic.h>

#include "call.h"

/* ---- raise_catch: each iteration raises its state and the handler goes on with it ---- */

/* for i in 0 .. n: s = try { t = s * m + c; if t != 0 { raise t }; 1 } (e) { is(e, runtime) ? field(e) ^ i : 0 } */
static arrjit_function *build_raise_catch(void) {
  arrjit_graph *g = bench_graph();
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
  arrjit_value n = arrjit_param(g, "n", &i64), one = arrjit_const_i64(g, 1), zero = arrjit_const_i64(g, 0);
  arrjit_value i, s, e, there, next, out;
  arrjit_for_begin(g, zero, n, one, 1, &one, &i, &s);
  arrjit_try_begin(g);
  arrjit_value t = arrjit_add(g, arrjit_mul(g, s, arrjit_const_i64(g, 6364136223846793005)),
                              arrjit_const_i64(g, 1442695040888963407));
  arrjit_if_begin(g, arrjit_ne(g, t, zero));
  arrjit_runtime_raise(g, "state {0}", 1, &t);
  arrjit_if_else(g, 0, NULL);
  arrjit_if_end(g, 0, NULL, NULL);
  arrjit_try_handler(g, 1, &one, ARRJIT_KIND_ERROR, &e);
  arrjit_value field = arrjit_exn_field(g, e, 0, &i64, &there);
  arrjit_value mixed =
      arrjit_select(g, arrjit_exn_is(g, e, ARRJIT_KIND_RUNTIME), arrjit_xor(g, field, i), arrjit_const_i64(g, 0));
  arrjit_try_end(g, 1, &mixed, &next);
  arrjit_for_end(g, 1, &next, &out);
  arrjit_return(g, 1, &out, NULL);
  return bench_finish(g);
}

typedef struct mix_peer {
  int64_t n, state;
} mix_peer;
static void run_mix_peer(void *state) {
  mix_peer *p = state;
  p->state = peer_mix(p->n);
}

static void bench_raise_catch(arrjit_mode mode, const char *mode_name, int64_t n) {
  bench_call call = {.function = build_raise_catch(), .input_count = 1};
  call.options = (arrjit_run_options){.struct_bytes = sizeof call.options, .mode = mode, .outputs = call.outputs};
  call.inputs[0] = bench_array(ARRJIT_I64, 0, 0, &n);
  call.outputs[0] = bench_array(ARRJIT_I64, 0, 0, NULL);
  mix_peer peer = {.n = n};
  bench_run_call(&call);
  run_mix_peer(&peer);
  bench_assert_native(&call, "raise_catch");
  bench_check(*(const int64_t *)arrjit_array_data(call.outputs[0]) == peer.state, "raise_catch");
  bench_compare(&(bench_pair){"raise_catch", "i64", mode_name, "iteration", "gcc -O3", n, (double)n, bench_run_call,
                              &call, run_mix_peer, &peer});
  bench_drop(&call);
}

/* ---- callback_fail_deep: a callback that fails DEPTH calls down ---- */

enum { DEPTH = 100 };

static arrjit_status answer(void *user, arrjit_call_info *call, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
  (void)arg_count, (void)args, (void)result_count, (void)results;
  arrjit_failure failure = {.struct_bytes = sizeof failure, .code = 3, .message = "no value"};
  return *(const bool *)user ? arrjit_fail(call, &failure) : ARRJIT_OK;
}

/* down(k): k > 0 ? down(k - 1) : callback */
static arrjit_function *build_deep(void) {
  arrjit_graph *g = bench_graph();
  arrjit_type i64 = arrjit_type_make(ARRJIT_I64, 0, NULL);
  arrjit_value k, inner, seen, out, result;
  arrjit_slot slot = arrjit_slot_io(g, "f", 1, &i64, 0);
  arrjit_callee down = arrjit_declare(g, "down", 1, &i64, 1, &i64);
  arrjit_define(g, down, &k);
  arrjit_if_begin(g, arrjit_gt(g, k, arrjit_const_i64(g, 0)));
  arrjit_value less = arrjit_sub(g, k, arrjit_const_i64(g, 1));
  arrjit_call(g, down, 1, &less, &inner);
  arrjit_if_else(g, 1, &inner);
  arrjit_callback(g, slot, 1, &k, &seen);
  arrjit_if_end(g, 1, &seen, &out);
  arrjit_return(g, 1, &out, NULL);
  arrjit_value depth = arrjit_const_i64(g, DEPTH - 1);
  arrjit_call(g, down, 1, &depth, &result);
  arrjit_return(g, 1, &result, NULL);
  return bench_finish(g);
}

typedef struct deep_state {
  bench_call call;
  bool fails;
} deep_state;

static void run_deep(void *state) {
  deep_state *deep = state;
  arrjit_result *result;
  arrjit_error error;
  bench_must(arrjit_run(deep->call.function, &deep->call.options, 0, NULL, &result, &error), &error);
  if (arrjit_result_ok(result) == deep->fails) bench_must(ARRJIT_INTERNAL, NULL);
  arrjit_result_destroy(result);
}

/* The same depth without a failure is the peer: what is above it is the failure's. */
static void bench_deep(arrjit_mode mode, const char *mode_name) {
  deep_state states[2];
  arrjit_binding bindings[2];
  for (int fails = 0; fails < 2; fails++) {
    deep_state *deep = &states[fails];
    *deep = (deep_state){.call.function = build_deep(), .fails = fails};
    bindings[fails] = (arrjit_binding){.slot = "f", .callback = answer, .user = &deep->fails};
    deep->call.options = (arrjit_run_options){
        .struct_bytes = sizeof deep->call.options, .mode = mode, .binding_count = 1, .bindings = &bindings[fails]};
    run_deep(deep);
    bench_assert_native(&deep->call, "callback_fail_deep");
  }
  bench_compare(&(bench_pair){"callback_fail_deep", "i64", mode_name, "call", "no failure", DEPTH, 1, run_deep,
                              &states[1], run_deep, &states[0]});
  for (int fails = 0; fails < 2; fails++) bench_drop(&states[fails].call);
}

/* ---- fail_threads: good runs of eight threads while eight others run the same function, well or failing ---- */

enum { THREADS = 16, MEASURED = THREADS / 2 };

typedef struct team {
  arrjit_function *function;
  arrjit_array *inputs[2]; /* a good one, a bad one */
  int64_t runs;
  bool others_fail;
  atomic_int busy;
} team;
typedef struct member {
  team *team;
  bool measured;
} member;

static void run_member(team *t, bool good) {
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE};
  arrjit_result *result;
  arrjit_error error;
  bench_must(arrjit_run(t->function, &options, 1, &t->inputs[!good], &result, &error), &error);
  if (arrjit_result_ok(result) != good) bench_must(ARRJIT_INTERNAL, NULL);
  arrjit_result_destroy(result);
}

static void *work(void *user) {
  member *m = user;
  team *t = m->team;
  for (int64_t k = 0; m->measured ? k < t->runs : atomic_load(&t->busy) > 0; k++)
    run_member(t, m->measured || !t->others_fail);
  if (m->measured) atomic_fetch_sub(&t->busy, 1);
  return NULL;
}

static double time_team(team *t, bool others_fail) {
  pthread_t threads[THREADS];
  member members[THREADS];
  t->others_fail = others_fail;
  atomic_init(&t->busy, MEASURED);
  double start = bench_now_ns();
  for (int i = 0; i < THREADS; i++) {
    members[i] = (member){t, i < MEASURED};
    bench_check(pthread_create(&threads[i], NULL, work, &members[i]) == 0, "fail_threads");
  }
  for (int i = 0; i < MEASURED; i++) pthread_join(threads[i], NULL);
  double took = bench_now_ns() - start;
  for (int i = MEASURED; i < THREADS; i++) pthread_join(threads[i], NULL);
  return took / (double)(t->runs * MEASURED);
}

static arrjit_function *build_positive(void) {
  arrjit_graph *g = bench_graph();
  arrjit_type f64 = arrjit_type_make(ARRJIT_F64, 0, NULL);
  arrjit_value x = arrjit_param(g, "x", &f64), out;
  arrjit_if_begin(g, arrjit_gt(g, x, arrjit_const_f64(g, 0)));
  arrjit_if_else(g, 1, &x);
  arrjit_runtime_raise(g, "not positive: {0}", 1, &x);
  arrjit_if_end(g, 0, NULL, &out);
  arrjit_return(g, 1, &out, NULL);
  return bench_finish(g);
}

static void bench_threads(void) {
  enum { ROUNDS = 9 };
  double good = 1, bad = -1, none[ROUNDS], half[ROUNDS];
  int rounds = bench_opts.smoke ? 1 : ROUNDS;
  team t = {.function = build_positive(), .runs = bench_opts.smoke ? 100 : 100000};
  t.inputs[0] = bench_array(ARRJIT_F64, 0, 0, &good);
  t.inputs[1] = bench_array(ARRJIT_F64, 0, 0, &bad);
  run_member(&t, true);
  for (int i = 0; i < rounds; i++) {
    none[i] = time_team(&t, false);
    half[i] = time_team(&t, true);
  }
  bench_pair pair = {
      .name = "fail_threads", .dtype = "f64", .mode = "whole", .unit = "call", .peer = "none failing", .n = THREADS};
  bench_report(&pair, bench_median(half, rounds), bench_median(none, rounds));
  arrjit_function_release(t.function);
  for (int i = 0; i < 2; i++) arrjit_array_release(t.inputs[i]);
}

void bench_failures(void) {
  if (bench_wanted("raise_catch")) {
    bench_raise_catch(ARRJIT_MODE_WHOLE, "whole", bench_opts.smoke ? 100 : 1000000);
    bench_raise_catch(ARRJIT_MODE_INTERP, "interp", bench_opts.smoke ? 100 : 10000);
  }
  if (bench_wanted("callback_fail_deep")) {
    bench_deep(ARRJIT_MODE_WHOLE, "whole");
    bench_deep(ARRJIT_MODE_INTERP, "interp");
  }
  if (bench_wanted("fail_threads")) bench_threads();
}
