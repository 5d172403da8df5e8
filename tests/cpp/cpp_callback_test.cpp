/* Lambdas as callbacks; exceptions from the host through a run and back; nested runs. */
#include "fixture.hpp"

#include <functional>

using namespace arrjit;

static array f64(fixture &f, double x) { return make_scalar(f.ctx, x); }
static array i64(fixture &f, int64_t x) { return make_scalar(f.ctx, x); }

/* total = sum of price(i) for i < n */
static function sum_of_prices(fixture &f) {
  graph g(f.ctx);
  const value n = g.param<int64_t>("n");
  const value_slot price = g.add_value_slot<double(int64_t)>("price");
  g.returns(for_(g, 0, n, constant(g, 0.0), [&](value i, value sum) { return sum + price(i); }));
  return g.finish();
}

static void test_lambda_with_a_plain_signature(void **state) {
  fixture &f = get(state);
  const double scale = 2;
  options with;
  with.bind("price", [&](int64_t i) { return scale * static_cast<double>(i); });
  EXPECT(run_all(f, sum_of_prices(f), with, i64(f, 5)).output().item<double>() == 20);
}

static double half(int64_t i) { return static_cast<double>(i) / 2; }
struct counter {
  int64_t calls = 0;
  double operator()(int64_t) { return static_cast<double>(++calls); }
};

static void test_function_pointers_and_objects_with_state(void **state) {
  fixture &f = get(state);
  const function fn = sum_of_prices(f);
  EXPECT(run_all(f, fn, options().bind("price", half), i64(f, 4)).output().item<double>() == 3);
  EXPECT(run_all(f, fn, options().bind_direct("price", half), i64(f, 4)).output().item<double>() == 3);
  const auto generic = [](auto i) { return static_cast<double>(i) * 2; };
  options typed;
  typed.bind("price", std::function<double(int64_t)>(generic));
  EXPECT(run_all(f, fn, typed, i64(f, 4)).output().item<double>() == 12);
  options twice;
  twice.bind("price", half).bind("price", [](int64_t) { return 1.0; }); /* the second counts */
  EXPECT(run_all(f, fn, twice, i64(f, 4)).output().item<double>() == 4);
  options counting;
  counting.bind("price", counter());
  const options copy = counting; /* shares the object */
  EXPECT(fn.run(counting, i64(f, 2)).output().item<double>() == 3);
  EXPECT(fn.run(copy, i64(f, 1)).output().item<double>() == 3);
}

static void test_lambda_over_arrays(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x", {2, 3});
  const arrjit_type in = type<double>({2, 3}), sums = type<double>({2}), largest = type<float>();
  const value_slot stats = g.add_value_slot("stats", {in}, {sums, largest});
  const io_slot look = g.add_io_slot("look", {in, sums});
  const auto [s, m] = stats.call<2>({x});
  g.returns({look(x, s)[1], m});
  std::vector<double> seen;
  options with;
  with.bind("stats", [](const call &c) {
    const auto rows = c.arg<double>(0);
    const auto out = c.result<double>(0);
    double most = rows[0];
    for (size_t i = 0; i < rows.size(); i++) out[i / 3] += rows[i];
    for (double v : rows) most = v > most ? v : most;
    c.result<float>(1)[0] = static_cast<float>(most);
    EXPECT(rows.rank() == 2 && rows.dim(1) == 3 && c.arg_count() == 1 && c.result_count() == 2);
  });
  with.bind("look", [&](const call &c) { seen.assign(c.arg<double>(1).begin(), c.arg<double>(1).end()); });
  const result r = run_all(f, g.finish(), with, make_array(f.ctx, {1., 2., 3., 4., 5., 6.}, {2, 3}));
  EXPECT((r.output(0).to_vector<double>() == std::vector<double>{6, 15}) && r.output(1).item<float>() == 6);
  EXPECT((seen == std::vector<double>{6, 15}));
}

static void test_an_optional_io_slot_may_stay_unbound(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const io_slot note = g.add_io_slot<void(double)>("note", ARRJIT_SLOT_OPTIONAL);
  g.returns(note(g.param<double>("x")));
  EXPECT(run_all(f, g.finish(), {}, f64(f, 2)).output().item<double>() == 2);
}

static void test_results_whose_dims_the_callback_decides(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value n = g.param<int64_t>("n");
  const value_slot count = g.add_value_slot("count", {type<int64_t>()}, {type<double>({ARRJIT_DYNAMIC_DIM})});
  g.returns(count(n) * 2);
  const function fn = g.finish();
  options with;
  with.bind("count", [](const call &c) {
    const int64_t size = c.arg<int64_t>(0)[0];
    const auto out = c.make_result<double>(0, {size});
    for (size_t i = 0; i < out.size(); i++) out[i] = static_cast<double>(i);
    if (size == 7) (void)c.make_result<double>(0, {size}); /* twice: misuse */
  });
  EXPECT((run_all(f, fn, with, i64(f, 3)).output().to_vector<double>() == std::vector<double>{0, 2, 4}));
  EXPECT(run_all(f, fn, with, i64(f, 0)).output().count() == 0);
  EXPECT(run_all(f, fn, with, i64(f, -1)).kind() == ARRJIT_KIND_CALLBACK_CONTRACT);
  EXPECT(run_all(f, fn, with, i64(f, 7)).exception());
  with.bind("count", [](const call &c) { (void)c.make_result<double>(0, {1, 1}); });
  EXPECT(run_all(f, fn, with, i64(f, 1)).kind() == ARRJIT_KIND_CALLBACK_CONTRACT);
}

static void test_functions_keep_what_is_bound_to_them(void **state) {
  fixture &f = get(state);
  auto first = std::make_shared<double>(1), second = std::make_shared<double>(2);
  {
    const function fn = sum_of_prices(f);
    fn.bind("price", [first](int64_t) { return *first; });
    EXPECT(first.use_count() == 2);
    EXPECT(run_all(f, fn, {}, i64(f, 4)).output().item<double>() == 4);
    fn.bind("price", [second](int64_t) -> double { throw *second; });
    EXPECT(first.use_count() == 1 && second.use_count() == 2);
    EXPECT(EXPECT_THROW(double, fn.run_or_throw(i64(f, 1))) == 2);
    options own;
    own.bind("price", half);
    EXPECT(run_all(f, fn, own, i64(f, 3)).output().item<double>() == 1.5);
    EXPECT(EXPECT_THROW(status_error, fn.bind("cost", [second](int64_t) { return 0.0; })).status() == ARRJIT_MISUSE);
    EXPECT(second.use_count() == 2);
  }
  EXPECT(f.ctx.wait_idle()); /* a compilation holds its function */
  EXPECT(second.use_count() == 1);
}

static void test_pure_slots_and_limits(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x");
  const value_slot pure = g.add_value_slot<int64_t(int64_t)>("pure", ARRJIT_SLOT_PURE);
  g.returns(pure(x) + pure(x));
  int calls = 0;
  options with;
  with.bind("pure", [&](int64_t of) { return calls++, of; });
  EXPECT(g.finish().run(with, i64(f, 4)).output().item<int64_t>() == 8 && calls == 1);
  arrjit_limits limits = {};
  limits.iterations = 5;
  options few;
  few.limits(limits).bind("price", half);
  EXPECT(run_all(f, sum_of_prices(f), few, i64(f, 100)).kind() == ARRJIT_KIND_LIMIT);
}

static void test_signatures_that_do_not_fit_break_the_contract(void **state) {
  fixture &f = get(state);
  const function fn = sum_of_prices(f);
  const auto kind = [&](auto &&host) {
    options with;
    with.bind("price", host);
    return run_all(f, fn, with, i64(f, 1)).kind();
  };
  EXPECT(kind([](int32_t) { return 1.0; }) == ARRJIT_KIND_CALLBACK_CONTRACT);
  EXPECT(kind([](int64_t) { return 1.0f; }) == ARRJIT_KIND_CALLBACK_CONTRACT);
  EXPECT(kind([](int64_t, int64_t) { return 1.0; }) == ARRJIT_KIND_CALLBACK_CONTRACT);
  EXPECT(kind([](int64_t) {}) == ARRJIT_KIND_CALLBACK_CONTRACT);
  EXPECT(kind([](const call &c) { (void)c.arg<int64_t>(1); }) == ARRJIT_KIND_CALLBACK_CONTRACT);
  EXPECT(kind([](const call &c) { (void)c.result<int64_t>(0); }) == ARRJIT_KIND_CALLBACK_CONTRACT);
}

static void test_failure_carries_kind_payload_and_frames(void **state) {
  fixture &f = get(state);
  const arrjit_kind no_quote = f.ctx.add_kind("no_quote", ARRJIT_KIND_CALLBACK, "i64[0], f64[1]");
  options with;
  with.bind("price", [&](int64_t item) -> double {
    if (item < 2) return 1;
    throw failure(no_quote, 404, "no quote for {0} in {1}")
        .with(item)
        .with(std::vector<double>{1.5, 2.5})
        .frame("lookup")
        .frame("shop");
  });
  const result r = run_all(f, sum_of_prices(f), with, i64(f, 5));
  EXPECT(r.kind() == no_quote && r.code() == 404 && !r.exception());
  EXPECT(std::string(r.message()) == "no quote for 2 in f64[2] = [1.5, 2.5]");
  EXPECT(r.payload(0).item<int64_t>() == 2 && r.payload(1).to_vector<double>()[1] == 2.5);
  const auto trace = r.trace();
  EXPECT(trace.size() == 4 && std::string(trace[0].label) == "lookup" && std::string(trace[1].label) == "shop");
  const error e = EXPECT_THROW(error, sum_of_prices(f).run_or_throw(with, i64(f, 3)));
  EXPECT(e.kind() == no_quote && e.code() == 404 && e.failed().payload(0).item<int64_t>() == 2);
  EXPECT(std::string(e.what()) == "no_quote: no quote for 2 in f64[2] = [1.5, 2.5]");
  EXPECT(std::string(e.text()).find("at host: lookup") != std::string::npos);
}

/* An exception whose objects are counted. */
struct counted : std::runtime_error {
  static inline int alive = 0;
  int id;
  counted(int number, const char *text) : std::runtime_error(text), id(number) { alive++; }
  counted(const counted &other) : std::runtime_error(other), id(other.id) { alive++; }
  ~counted() override { alive--; }
};

static void test_an_exception_comes_back_as_the_same_object(void **state) {
  fixture &f = get(state);
  const void *thrown = nullptr;
  options with;
  with.bind("price", [&](int64_t i) -> double {
    if (i < 3) return 1;
    try {
      throw counted(7, "disk {0} is full }");
    } catch (const counted &e) {
      thrown = &e;
      throw;
    }
  });
  const function fn = sum_of_prices(f);
  {
    const result r = run_all(f, fn, with, i64(f, 9));
    EXPECT(r.kind() == ARRJIT_KIND_HOST && r.exception());
    EXPECT(std::string(r.message()) == "disk {0} is full }");
    EXPECT(counted::alive == 1);
  }
  EXPECT(counted::alive == 0);
  const arrjit_mode modes[] = {ARRJIT_MODE_INTERP, has_native ? ARRJIT_MODE_WHOLE : ARRJIT_MODE_AUTO};
  for (const arrjit_mode mode : modes) {
    try {
      fn.run_or_throw(with.mode(mode), i64(f, 9));
      EXPECT(false);
    } catch (const counted &e) {
      EXPECT(&e == thrown && e.id == 7 && counted::alive == 1);
    }
    EXPECT(counted::alive == 0);
    const result r = fn.run(with, i64(f, 9));
    const counted caught = EXPECT_THROW(counted, r.rethrow_if_host());
    EXPECT(caught.id == 7);
  }
  EXPECT(counted::alive == 0);
  EXPECT(fn.run(with, i64(f, 3)).output().item<double>() == 3);
}

static void test_what_is_no_std_exception_comes_back_too(void **state) {
  fixture &f = get(state);
  options with;
  with.bind("price", [](int64_t) -> double { throw 42; });
  const result r = run_all(f, sum_of_prices(f), with, i64(f, 1));
  EXPECT(r.kind() == ARRJIT_KIND_HOST);
  EXPECT(EXPECT_THROW(int, r.rethrow_if_host()) == 42);
}

static void test_host_pointers_of_others_are_no_exceptions(void **state) {
  fixture &f = get(state);
  int mine = 0;
  options with;
  with.bind("price", [&](const call &c) {
    arrjit_failure record = {};
    record.struct_bytes = sizeof record;
    record.kind = ARRJIT_KIND_HOST;
    record.code = 1;
    record.host_pointer = &mine;
    return arrjit_fail(c.info(), &record);
  });
  const result r = run_all(f, sum_of_prices(f), with, i64(f, 1));
  EXPECT(r.kind() == ARRJIT_KIND_HOST && r.host_pointer() == &mine && !r.exception());
  r.rethrow_if_host();
  EXPECT(EXPECT_THROW(error, sum_of_prices(f).run_or_throw(with, i64(f, 1))).code() == 1);
}

static void test_a_graph_handles_an_exception_of_the_host(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x");
  const value_slot risky = g.add_value_slot<double(int64_t)>("risky");
  const value y = try_(g, [&] { return risky(x); })
                      .handle(ARRJIT_KIND_HOST,
                              [&](exn e) {
                                if_(x > 1, [&] { raise_from(exn_new(g, ARRJIT_KIND_ERROR, 1, "gave up"), e); }, [] {});
                                if_(x > 0, [&] { raise_exn(e); }, [] {});
                                return constant(g, -1.0);
                              })
                      .end();
  g.returns(y);
  const function fn = g.finish();
  options with;
  with.bind("risky", [](int64_t i) -> double { throw counted(static_cast<int>(i), "no"); });
  EXPECT(run_all(f, fn, with, i64(f, 0)).output().item<double>() == -1);
  EXPECT(counted::alive == 0);
  EXPECT(EXPECT_THROW(counted, fn.run_or_throw(with, i64(f, 1))).id == 1); /* raised again: still the same */
  const result r = run_all(f, fn, with, i64(f, 2));
  EXPECT(!r.exception() && r.cause()->exception());
  EXPECT(EXPECT_THROW(counted, r.cause()->rethrow_if_host()).id == 2);
}

static void test_nested_runs(void **state) {
  fixture &f = get(state);
  const function inner = sum_of_prices(f);
  options inner_with;
  inner_with.bind("price", [](int64_t i) {
    if (i == 3) throw std::out_of_range("item 3");
    return 1.0;
  });
  options with;
  with.bind("price", [&](int64_t i) { return inner.run_or_throw(inner_with, i64(f, i)).output().item<double>(); });
  EXPECT(run_all(f, inner, with, i64(f, 4)).output().item<double>() == 0 + 1 + 2 + 3);
  const result r = run_all(f, inner, with, i64(f, 9));
  EXPECT(std::string(r.message()) == "item 3");
  EXPECT_THROW(std::out_of_range, r.rethrow_if_host());
  /* A failure of the inner graph goes through the outer one as arrjit::error. */
  graph g(f.ctx);
  g.returns(checked_div(g.param<int64_t>("x"), 0));
  const function failing = g.finish();
  options outer;
  outer.bind("price", [&](int64_t i) { return failing.run_or_throw(i64(f, i)).output().item<double>(); });
  EXPECT(EXPECT_THROW(error, inner.run_or_throw(outer, i64(f, 1))).kind() == ARRJIT_KIND_ARITH);
}

static void test_a_callback_may_drop_what_it_runs_in(void **state) {
  fixture &f = get(state);
  auto owned = std::make_unique<function>(sum_of_prices(f));
  options with;
  with.bind("price", [&](int64_t) -> double {
    owned.reset();
    throw std::runtime_error("gone");
  });
  const result r = owned->run(with, i64(f, 2));
  EXPECT(!owned && std::string(r.message()) == "gone");
}

static const struct CMUnitTest tests[] = {
    CPP_TEST(test_lambda_with_a_plain_signature),
    CPP_TEST(test_function_pointers_and_objects_with_state),
    CPP_TEST(test_lambda_over_arrays),
    CPP_TEST(test_an_optional_io_slot_may_stay_unbound),
    CPP_TEST(test_results_whose_dims_the_callback_decides),
    CPP_TEST(test_functions_keep_what_is_bound_to_them),
    CPP_TEST(test_pure_slots_and_limits),
    CPP_TEST(test_signatures_that_do_not_fit_break_the_contract),
    CPP_TEST(test_failure_carries_kind_payload_and_frames),
    CPP_TEST(test_an_exception_comes_back_as_the_same_object),
    CPP_TEST(test_what_is_no_std_exception_comes_back_too),
    CPP_TEST(test_host_pointers_of_others_are_no_exceptions),
    CPP_TEST(test_a_graph_handles_an_exception_of_the_host),
    CPP_TEST(test_nested_runs),
    CPP_TEST(test_a_callback_may_drop_what_it_runs_in),
};
TEST_MAIN(tests, nullptr, nullptr)
