/* Graphs of 100,000 nodes on a thread with a stack of 256 KiB: built, run, destroyed, in any shape. */
#include <inttypes.h>
#include <pthread.h>

#include "fixture.h"

enum { DEEP = 100000, SMALL_STACK = 256 * 1024 };

/* Sanitizers make frames larger. */
enum { STACK = TK_SANITIZED ? 4 * SMALL_STACK : SMALL_STACK };

typedef struct deep_job {
  tk_fixture *f;
  bool (*body)(struct deep_job *job);
  char why[600];
} deep_job;

static void *start(void *user) {
  deep_job *job = user;
  return job->body(job) ? NULL : job;
}

/* cmocka's assertions jump, so bodies only report. */
static void on_small_stack(tk_fixture *f, bool (*body)(deep_job *job)) {
  deep_job job = {.f = f, .body = body};
  pthread_attr_t attributes;
  pthread_t thread;
  void *failed = NULL;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  assert_int_equal(pthread_create(&thread, &attributes, start, &job), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, &failed);
  if (failed) fail_msg("%s", job.why);
}

static bool say(deep_job *job, const char *what, const arrjit_error *error) {
  snprintf(job->why, sizeof job->why, "%.60s: %s", what, error ? error->message : "");
  return false;
}

/* A chain of sines; with `pairs` each step goes through slices and a concat as well. */
static arrjit_graph *chain(deep_job *job, bool pairs, int count) {
  arrjit_graph *g = NULL;
  if (arrjit_graph_create(job->f->context, &g, NULL) != ARRJIT_OK) return NULL;
  arrjit_value x = PARAM(g, "x", F32, 2);
  for (int i = 0; i < count; i++) {
    x = arrjit_sin(g, x);
    if (!pairs) continue;
    arrjit_value halves[] = {arrjit_slice(g, x, 1, I64S(1), I64S(2), I64S(1)),
                             arrjit_slice(g, x, 1, I64S(0), I64S(1), I64S(1))};
    x = arrjit_concat(g, 2, halves, 0);
  }
  RETURN(g, x);
  return g;
}

static bool build_and_drop(deep_job *job) {
  arrjit_graph *g = chain(job, false, DEEP);
  arrjit_error error = {0};
  if (!g || arrjit_graph_error(g, &error) != ARRJIT_OK) return say(job, "building", &error);
  arrjit_graph_destroy(g);
  return true;
}

static bool run_graph(deep_job *job, arrjit_graph *g, arrjit_mode mode, arrjit_result **out) {
  arrjit_error error = {0};
  arrjit_function *function = NULL;
  arrjit_array *input = NULL;
  arrjit_type type = TYPE(F32, 2);
  bool good = g && arrjit_graph_finish(g, &function, &error) == ARRJIT_OK;
  arrjit_graph_destroy(g);
  if (!good) return say(job, "finishing", &error);
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = mode};
  good = arrjit_array_create(job->f->context, &type, (const float[]){1, 0.5f}, &input, &error) == ARRJIT_OK &&
         arrjit_run(function, &options, 1, &input, out, &error) == ARRJIT_OK;
  arrjit_array_release(input);
  arrjit_function_release(function);
  if (!good) return say(job, "running", &error);
  if (!arrjit_result_ok(*out)) return say(job, arrjit_result_message(*out), NULL);
  return true;
}

static bool run_chain(deep_job *job) {
  for (int pairs = 0; pairs < 2; pairs++) {
    arrjit_result *result = NULL;
    bool good = run_graph(job, chain(job, pairs, pairs ? DEEP / 4 : DEEP), ARRJIT_MODE_INTERP, &result);
    arrjit_result_destroy(result);
    if (!good) return false;
  }
  return true;
}

static bool compiled_or_stopped(arrjit_context *context) {
  arrjit_event event;
  bool said = false;
  while (arrjit_context_next_event(context, &event))
    said = said || event.code == ARRJIT_EVENT_COMPILED || event.code == ARRJIT_EVENT_COMPILE_STOPPED;
  return said;
}

/* Whole: compiled, or stopped at the budget with an event; either way the answer is the interpreter's. */
static bool run_whole(deep_job *job) {
  arrjit_result *interp = NULL, *whole = NULL;
  bool good = run_graph(job, chain(job, false, DEEP), ARRJIT_MODE_INTERP, &interp) &&
              run_graph(job, chain(job, false, DEEP), ARRJIT_MODE_WHOLE, &whole);
  if (good &&
      memcmp(arrjit_array_data(arrjit_result_output(interp, 0)), arrjit_array_data(arrjit_result_output(whole, 0)), 8))
    good = say(job, "whole and interp differ", NULL);
  if (good && !compiled_or_stopped(job->f->context))
    good = say(job, "no event tells what became of the compilation", NULL);
  arrjit_result_destroy(interp);
  arrjit_result_destroy(whole);
  return good;
}

static void test_case_b49_deep_graph_is_built_and_destroyed(void **state) { on_small_stack(*state, build_and_drop); }

static void test_case_b49_deep_graph_runs(void **state) { on_small_stack(*state, run_chain); }

static void test_case_b49_deep_graph_in_whole_mode(void **state) {
  if (!tk_native()) skip();
  on_small_stack(*state, run_whole);
}

/* A sum over 150 log-normal terms, about 8 ops each; the second run equals the first. */
static void test_case_b49_many_terms_run_twice(void **state) {
  tk_fixture *f = *state;
  arrjit_graph *g = tk_graph(f);
  arrjit_value x = PARAM(g, "x", F32, 5), score = arrjit_const_f32(g, 0);
  for (int n = 0; n < 150; n++) {
    arrjit_value mean = arrjit_const_f32(g, 0.01f * (float)n), width = arrjit_const_f32(g, 1 + 0.001f * (float)n);
    arrjit_value z = arrjit_div(g, arrjit_sub(g, arrjit_log(g, x), mean), width);
    arrjit_value density = arrjit_exp(g, arrjit_mul(g, arrjit_const_f32(g, -0.5f), arrjit_mul(g, z, z)));
    score = arrjit_add(g, score, arrjit_div(g, density, arrjit_mul(g, x, width)));
  }
  RETURN(g, score);
  arrjit_function *function = tk_finish(f, g);
  arrjit_array *input = ARRAY(f, F32, 0.5f, 1, 1.5f, 2, 10);
  const tk_outcome *first = RUN(f, function, input), *second = RUN(f, function, input);
  EXPECT_OK(first);
  char *why = NULL;
  if (!tk_outcome_same(first, second, &why)) fail_msg("%s", why);
}

static const struct CMUnitTest tests[] = {
    TK_TEST(test_case_b49_deep_graph_is_built_and_destroyed),
    TK_TEST(test_case_b49_deep_graph_runs),
    TK_TEST(test_case_b49_deep_graph_in_whole_mode),
    TK_TEST(test_case_b49_many_terms_run_twice),
};

TEST_MAIN(tests, NULL, NULL)
