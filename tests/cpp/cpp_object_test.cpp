/* Objects: their lives, copies and moves, arrays, runs with all options, runners, threads. */
#include "fixture.hpp"

#include <thread>

using namespace arrjit;

/* f(x) = 2 * x + 1 for f64[n] */
static function line(const context &of) {
  graph g(of);
  g.returns(2 * g.param<double>("x", {g.symbol("n")}) + 1);
  return g.finish();
}

/* A loop without end. */
static function endless(const context &of) {
  graph g(of);
  g.returns(while_(g, g.param<int64_t>("x"), [](value v) { return v == v; }, [](value v) { return v + 1; }));
  return g.finish();
}

static void test_objects_move_and_share(void **state) {
  fixture &f = get(state);
  context moved = context(f.context_options());
  {
    context other(std::move(moved));
    moved = std::move(other);
  }
  graph g(moved);
  graph h(std::move(g));
  h.returns(h.param<double>("x"));
  function one = h.finish(), two = one, three = std::move(one);
  two = three;
  one = two;
  EXPECT(one.id() == three.id());
  array a = make_scalar(moved, 4.0), b = a, c = std::move(a);
  a = b = c;
  EXPECT(a.get() == c.get() && a.item<double>() == 4);
  result r = two.run(a);
  result s = std::move(r);
  r = three.run(b);
  s = std::move(r);
  const array kept = s.output();
  s = two.run(c);
  EXPECT(kept.item<double>() == 4 && !array());
}

static void test_results_outlive_the_context(void **state) {
  fixture &f = get(state);
  std::optional<result> r;
  std::optional<array> a;
  {
    context short_lived(f.context_options());
    options with;
    graph g(short_lived);
    const value_slot slot = g.add_value_slot<double(double)>("slot");
    g.returns(slot(g.param<double>("x")));
    with.bind("slot", [](double) -> double { throw std::runtime_error("late"); });
    a = make_scalar(short_lived, 1.0);
    r = g.finish().run(with, *a);
  }
  EXPECT(a->item<double>() == 1 && std::string(r->message()) == "late");
  EXPECT_THROW(std::runtime_error, r->rethrow_if_host());
}

static void test_a_busy_context_says_so(void **state) {
  fixture &f = get(state);
  context other(f.context_options());
  {
    const runner worker(other);
    EXPECT(EXPECT_THROW(status_error, other.close()).status() == ARRJIT_BUSY);
  }
  other.close();
}

static void test_arrays_are_copied_wrapped_and_viewed(void **state) {
  fixture &f = get(state);
  auto numbers = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<std::vector<double>> watch = numbers;
  {
    array wrapped = array::wrap(f.ctx, type<double>({2, 3}), numbers->data(), {}, numbers);
    numbers.reset();
    const array turned = wrapped.view({1, 2}, {-1, -2}, {2, 2});
    wrapped = array();
    EXPECT(!turned.is_dense() && turned.dim(1) == 2 && !watch.expired());
    EXPECT((turned.to_vector<double>() == std::vector<double>{6, 4, 3, 1}));
    EXPECT(turned.copy().is_dense());
    EXPECT_THROW(status_error, turned.data<float>());
    EXPECT_THROW(status_error, turned.item<double>());
    EXPECT_THROW(status_error, turned.dim(2));
    EXPECT_THROW(status_error, turned.view({0}, {1}, {1}));
    EXPECT_THROW(status_error, turned.view({0, 0}, {1, 1}, {9, 9}));
  }
  EXPECT(watch.expired());
  auto refused = std::make_shared<double>(1);
  EXPECT_THROW(status_error, array::wrap(f.ctx, type<double>({-1}), refused.get(), {}, refused));
  EXPECT(refused.use_count() == 1);
  EXPECT_THROW(status_error, array::wrap(f.ctx, type<double>({1}), refused.get(), {8, 8}, refused));
  EXPECT((make_array(f.ctx, {true, false}).to_vector<bool>() == std::vector<bool>{true, false}));
  EXPECT(make_array(f.ctx, std::vector<float>{}).count() == 0);
  EXPECT_THROW(status_error, make_array(f.ctx, {1, 2, 3}, {2}));
  EXPECT(make_array(f.ctx, {1, 2, 3, 4}, {2, 2}).dtype() == ARRJIT_I32);
  EXPECT(array(f.ctx, type<uint16_t>({2})).to_vector<uint16_t>() == std::vector<uint16_t>(2));
}

static void test_run_takes_inputs_in_three_forms(void **state) {
  fixture &f = get(state);
  const function fn = line(f.ctx);
  const array x = make_array(f.ctx, {1.0, 2.0});
  const std::vector<double> expected = {3, 5};
  EXPECT(fn.run(x).output().to_vector<double>() == expected);
  EXPECT(fn.run(options(), x).output().to_vector<double>() == expected);
  EXPECT(fn.run(options(), std::vector<array>{x}).output().to_vector<double>() == expected);
  EXPECT(fn.run_or_throw(x).output().to_vector<double>() == expected);
  EXPECT(fn.run().kind() == ARRJIT_KIND_ARGUMENT);
  EXPECT(EXPECT_THROW(error, fn.run_or_throw(x, x)).kind() == ARRJIT_KIND_ARGUMENT);
  EXPECT(EXPECT_THROW(status_error, fn.run(array())).status() == ARRJIT_MISUSE);
  EXPECT(EXPECT_THROW(status_error, fn.run(x).output(1)).message() == std::string("a result has no such output"));
  EXPECT(EXPECT_THROW(status_error, fn.run().output()).message() ==
         std::string("the run failed: argument: expected 1 argument, got 0"));
  EXPECT_THROW(status_error, fn.run(x).payload(0));
}

static void test_outputs_donation_and_flags(void **state) {
  fixture &f = get(state);
  const function fn = line(f.ctx);
  const array x = make_array(f.ctx, {1.0, 2.0}), y = make_array(f.ctx, {0.0, 0.0});
  options with;
  with.output(0, y).donate(0);
  const result r = fn.run(with, x);
  EXPECT(r.output().get() == y.get() && y.to_vector<double>()[1] == 5 && r.touched() == 1);
  EXPECT_THROW(status_error, fn.run(options().output(1, y), x));
  EXPECT_THROW(status_error, options().donate(64));
  options native;
  native.mode(ARRJIT_MODE_WHOLE).flags(ARRJIT_RUN_REQUIRE_NATIVE);
  if (has_native)
    EXPECT(fn.run(native, x).ok());
  else
    EXPECT(EXPECT_THROW(status_error, fn.run(native, x)).status() == ARRJIT_UNAVAILABLE);
}

static void test_cancel_and_deadline(void **state) {
  fixture &f = get(state);
  const function fn = endless(f.ctx);
  const array x = make_scalar(f.ctx, int64_t{0});
  options with;
  const cancel handle(f.ctx);
  with.cancelled_by(handle);
  handle.trigger();
  for (const arrjit_mode mode : {ARRJIT_MODE_AUTO, ARRJIT_MODE_INTERP, ARRJIT_MODE_WHOLE}) {
    EXPECT(fn.run(with.mode(mode), x).kind() == ARRJIT_KIND_CANCELLED);
    EXPECT(fn.run(options().mode(mode).deadline_ns(1), x).kind() == ARRJIT_KIND_DEADLINE);
  }
}

static void test_context_options_kinds_and_events(void **state) {
  fixture &f = get(state);
  f.ctx.set_option(ARRJIT_OPTION_MAX_DEPTH, 5);
  EXPECT(f.ctx.get_option(ARRJIT_OPTION_MAX_DEPTH) == 5);
  const status_error e = EXPECT_THROW(status_error, f.ctx.set_option(ARRJIT_OPTION_MAX_DEPTH, 0));
  EXPECT(e.status() == ARRJIT_MISUSE && std::string(e.what()).find("max_depth") != std::string::npos);
  const arrjit_kind shop = f.ctx.add_kind("shop", ARRJIT_KIND_ERROR), closed = f.ctx.add_kind("shop.closed", shop);
  EXPECT(f.ctx.find_kind("shop.closed") == closed && f.ctx.kind_is(closed, ARRJIT_KIND_ERROR));
  EXPECT(std::string(f.ctx.kind_name(shop)) == "shop");
  EXPECT(EXPECT_THROW(status_error, f.ctx.find_kind("none")).status() == ARRJIT_NOT_FOUND);
  EXPECT_THROW(status_error, f.ctx.add_kind("shop", ARRJIT_KIND_ERROR));
  const function fn = line(f.ctx);
  if (has_native) {
    fn.prepare();
    EXPECT(fn.wait() && f.ctx.wait_idle() && f.ctx.next_event());
    EXPECT(fn.statistics().compilations == 1 && f.ctx.statistics().functions_compiled == 1);
  } else {
    EXPECT(!f.ctx.next_event());
  }
}

static void test_functions_are_printed_and_parsed(void **state) {
  fixture &f = get(state);
  const function fn = line(f.ctx);
  const std::string text = fn.print(f.ctx);
  const function again = function::parse(f.ctx, text, "line.air");
  EXPECT(again.print(f.ctx) == text && again.param_count() == 1 && again.result_count() == 1);
  EXPECT(again.param_type(0).dtype == ARRJIT_F64 && again.result_type(0).rank == 1);
  EXPECT_THROW(status_error, again.param_type(1));
  const status_error e = EXPECT_THROW(status_error, function::parse(f.ctx, "air 1\nnonsense", "bad.air"));
  EXPECT(e.status() == ARRJIT_SYNTAX && e.line() == 2 && std::string(e.what()).find("bad.air:2") != std::string::npos);
}

/* f(x) = slot(x) of i64 */
static function ask(const context &of) {
  graph g(of);
  const value_slot slot = g.add_value_slot<int64_t(int64_t)>("slot");
  g.returns(slot(g.param<int64_t>("x")));
  return g.finish();
}

static void test_runner_keeps_what_jobs_need(void **state) {
  fixture &f = get(state);
  const function fn = ask(f.ctx);
  auto shared = std::make_shared<std::atomic<int64_t>>(0);
  {
    runner worker(f.ctx);
    for (int64_t i = 0; i < 20; i++) {
      options with; /* gone before the job runs, as the handle is */
      with.bind("slot", [shared, i](int64_t x) {
        if (i % 4 == 3) throw std::invalid_argument("no");
        return *shared += x;
      });
      const job dropped = worker.submit(fn, with, make_scalar(f.ctx, i));
    }
    options with;
    with.bind("slot", [shared](int64_t x) { return *shared + x; });
    const job last = worker.submit(fn, with, make_scalar(f.ctx, int64_t{1000}));
    EXPECT(last.wait().or_throw().output().item<int64_t>() == 1000 + 190 - (3 + 7 + 11 + 15 + 19));
    EXPECT(last.done());
    EXPECT(EXPECT_THROW(status_error, last.wait()).status() == ARRJIT_NOT_FOUND);
    EXPECT(EXPECT_THROW(status_error, last.take()).status() == ARRJIT_NOT_FOUND);
    EXPECT(EXPECT_THROW(status_error, worker.submit(fn, with, array())).status() == ARRJIT_MISUSE);
    const arrjit_runner_statistics s = worker.statistics();
    EXPECT(s.queued == 0 && s.running == 0 && s.done == 21 && s.failed == 5);
    with.bind("slot", [](int64_t x) { return x; });
  }
  EXPECT(shared.use_count() == 1);
}

static void test_completions_see_every_job_once(void **state) {
  fixture &f = get(state);
  const function fn = ask(f.ctx);
  auto captured = std::make_shared<int>(0);
  std::atomic<int> good{0}, failed{0};
  options with;
  with.bind("slot", [](int64_t x) { return x % 3 ? x : throw std::domain_error("a third"); });
  std::optional<job> kept;
  {
    runner worker(f.ctx);
    for (int64_t i = 1; i <= 30; i++)
      kept = worker.submit(fn, with, {make_scalar(f.ctx, i)}, [&, i, captured](job_view one) {
        const std::optional<result> r = one.take();
        if (one.done() && r) (r->ok() && r->output().item<int64_t>() == i ? good : failed)++;
      });
  } /* waits for completions, too; jobs that had not begun end with kind shutdown */
  EXPECT(good + failed == 30);
  EXPECT(captured.use_count() == 1 && kept->done());
  EXPECT(EXPECT_THROW(status_error, kept->wait()).status() == ARRJIT_NOT_FOUND);
}

static void test_a_runner_on_the_hosts_threads(void **state) {
  fixture &f = get(state);
  std::vector<std::thread> threads;
  arrjit_executor executor = {};
  executor.user = &threads;
  executor.submit = [](void *user, void (*task)(void *), void *arg) {
    static_cast<std::vector<std::thread> *>(user)->emplace_back(task, arg);
    return 0;
  };
  arrjit_runner_options given = {};
  given.executor = &executor;
  {
    runner worker(f.ctx, given);
    EXPECT(worker.submit(line(f.ctx), options(), make_array(f.ctx, {4.0})).wait().output().item<double>() == 9);
    given.completion = [](void *, arrjit_job *) {};
    EXPECT_THROW(status_error, runner(f.ctx, given));
  }
  for (std::thread &t : threads) t.join();
}

static void test_closures_have_a_checked_type(void **state) {
  fixture &f = get(state);
  graph g(f.ctx), h(f.ctx), v(f.ctx);
  const value_slot slot = g.add_value_slot<double(double)>("slot");
  const value x = g.param<double>("x"), y = g.param<double>("y");
  g.returns(slot(x) * y);
  const function fn = g.finish();
  options with;
  with.bind("slot", [](double at) { return at < 0 ? throw std::domain_error("below 0") : at + 1; });
  closure<double(double, double)> made(fn, with);
  const closure<double(double, double)> c = std::move(made);
  EXPECT(c.pointer()(2, 3) == 9 && !c.take_error());
  EXPECT(c.pointer()(-1, 3) != c.pointer()(-2, 3) && c.failures() == 2); /* NaN */
  EXPECT_THROW(std::domain_error, c.take_error()->rethrow_if_host());
  const status_error e = EXPECT_THROW(status_error, closure<float(double, const double *)>(fn, with));
  EXPECT(e.status() == ARRJIT_TYPE && std::string(e.message()) == "the function is double (*)(double, double), not "
                                                                  "float (*)(double, const double *)");
  /* The comparator of qsort, and arrays behind pointers with a last void *. */
  const value a = h.param<double>("a"), b = h.param<double>("b");
  h.returns(convert(a > b, ARRJIT_I32) - convert(a < b, ARRJIT_I32));
  const closure<int(const double *, const double *)> compare(h.finish(), {}, ARRJIT_CLOSURE_BY_POINTER);
  double numbers[] = {3, 1, 2};
  std::qsort(numbers, 3, sizeof *numbers, reinterpret_cast<int (*)(const void *, const void *)>(compare.pointer()));
  EXPECT(numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 3);
  const value in = v.param<double>("in", {3}), by = v.param<double>("by");
  v.returns(in * by);
  const closure<int(const double *, double, double *, void *)> scale(v.finish(), {}, ARRJIT_CLOSURE_USER);
  double scaled[3] = {};
  EXPECT(scale.pointer()(numbers, 2, scaled, nullptr) == 0 && scaled[2] == 6);
}

static void test_jobs_fail_are_cancelled_and_shut_down(void **state) {
  fixture &f = get(state);
  const function forever = endless(f.ctx);
  const array x = make_scalar(f.ctx, int64_t{0});
  std::optional<job> queued;
  {
    runner worker(f.ctx);
    const job running = worker.submit(forever, options(), x);
    EXPECT(!running.wait_for(1000000) && !running.take());
    running.cancel();
    EXPECT(running.wait().kind() == ARRJIT_KIND_CANCELLED);
    runner moved = std::move(worker);
    (void)moved.submit(forever, options(), x);
    queued = moved.submit(forever, options(), x);
  }
  EXPECT(queued->wait().kind() == ARRJIT_KIND_SHUTDOWN);
}

static void test_threads_run_one_function(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value n = g.param<int64_t>("n");
  const value_slot price = g.add_value_slot<double(int64_t)>("price");
  g.returns(for_(g, 0, n, constant(g, 0.0), [&](value i, value sum) { return sum + price(i); }));
  const function fn = g.finish();
  std::atomic<int> right{0};
  options with;
  with.bind("price", [](int64_t i) {
    if (i == 10) throw std::out_of_range("10");
    return 1.0;
  });
  const auto work = [&](int64_t of) {
    for (int64_t k = 0; k < 50; k++) {
      const bool fails = (k + of) % 2 == 1;
      const result r = fn.run(with, make_scalar(f.ctx, int64_t{fails ? 20 : 10}));
      try {
        r.rethrow_if_host();
        right += !fails && r.ok() && r.output().item<double>() == 10;
      } catch (const std::out_of_range &) {
        right += fails;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; i++) threads.emplace_back(work, i);
  for (std::thread &t : threads) t.join();
  EXPECT(right == 200);
}

static void test_threads_share_a_runner(void **state) {
  fixture &f = get(state);
  const function fn = line(f.ctx);
  runner worker(f.ctx);
  std::atomic<int> right{0};
  const auto work = [&](double x) {
    for (int k = 0; k < 20; k++) {
      const job one = worker.submit(fn, options(), make_array(f.ctx, {x}));
      right += one.wait().output().to_vector<double>()[0] == 2 * x + 1;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work, i);
  for (std::thread &t : threads) t.join();
  EXPECT(right == 80);
}

static const struct CMUnitTest tests[] = {
    CPP_TEST(test_objects_move_and_share),
    CPP_TEST(test_results_outlive_the_context),
    CPP_TEST(test_a_busy_context_says_so),
    CPP_TEST(test_arrays_are_copied_wrapped_and_viewed),
    CPP_TEST(test_run_takes_inputs_in_three_forms),
    CPP_TEST(test_outputs_donation_and_flags),
    CPP_TEST(test_cancel_and_deadline),
    CPP_TEST(test_context_options_kinds_and_events),
    CPP_TEST(test_functions_are_printed_and_parsed),
    CPP_TEST(test_runner_keeps_what_jobs_need),
    CPP_TEST(test_completions_see_every_job_once),
    CPP_TEST(test_a_runner_on_the_hosts_threads),
    CPP_TEST(test_closures_have_a_checked_type),
    CPP_TEST(test_jobs_fail_are_cancelled_and_shut_down),
    CPP_TEST(test_threads_run_one_function),
    CPP_TEST(test_threads_share_a_runner),
};
TEST_MAIN(tests, nullptr, nullptr)
