/* Lambdas as arms and bodies; failures in graphs; functions inside graphs. */
#include "fixture.hpp"

using namespace arrjit;

static array f64(fixture &f, double x) { return make_scalar(f.ctx, x); }
static array i64(fixture &f, int64_t x) { return make_scalar(f.ctx, x); }

static void test_if_with_one_value(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x");
  g.returns(if_(x > 0, [&] { return x; }, [&] { return -x * 2; }));
  const function fn = g.finish();
  EXPECT(run_all(f, fn, {}, f64(f, 3)).output().item<double>() == 3);
  EXPECT(run_all(f, fn, {}, f64(f, -3)).output().item<double>() == 6);
}

static void test_arms_of_every_form(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x"), p = x > 0;
  value a, b;
  std::tie(a, b) = if_(p, [&] { return std::tuple(x, x + 1); }, [&] { return std::tuple(x - 1, x); });
  const std::pair<value, value> both = if_(p, [&] { return std::pair(a, b); }, [&] { return std::pair(b, a); });
  const value c = both.first, d = both.second;
  const auto e = if_(p, [&] { return std::array<value, 2>{c, d}; }, [&] { return std::array<value, 2>{d, c}; });
  const std::vector<value> v =
      if_(p, [&] { return std::vector<value>{e[0], e[1], x}; }, [&] { return std::vector<value>{x, e[1], e[0]}; });
  g.returns(v);
  const result r = run_all(f, g.finish(), {}, f64(f, 5));
  EXPECT(r.output_count() == 3);
  EXPECT(r.output(0).item<double>() == 5 && r.output(1).item<double>() == 6 && r.output(2).item<double>() == 5);
}

static void test_an_arm_that_raises_needs_no_value(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x");
  const value y = if_(x < 0, [&] { runtime_raise(g, "{0} is below 0", {x}); }, [&] { return sqrt(x); });
  if_(y > 10, [&] { raise(g, ARRJIT_KIND_ERROR, 7, "too large"); }, [] {});
  g.returns(y);
  const function fn = g.finish();
  EXPECT(run_all(f, fn, {}, f64(f, 9)).output().item<double>() == 3);
  const result r = run_all(f, fn, {}, f64(f, -1));
  EXPECT(r.kind() == ARRJIT_KIND_RUNTIME && std::string(r.message()) == "-1 is below 0");
  EXPECT(run_all(f, fn, {}, f64(f, 400)).code() == 7);
}

static void test_switch_takes_the_last_case_out_of_range(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value i = g.param<int64_t>("i"), x = g.param<double>("x");
  g.returns(switch_(i, [&] { return x; }, [&] { return x * 10; }, [&] { runtime_raise(g, "no such case"); }));
  const function fn = g.finish();
  EXPECT(run_all(f, fn, {}, i64(f, 0), f64(f, 2)).output().item<double>() == 2);
  EXPECT(run_all(f, fn, {}, i64(f, 1), f64(f, 2)).output().item<double>() == 20);
  EXPECT(run_all(f, fn, {}, i64(f, -1), f64(f, 2)).kind() == ARRJIT_KIND_RUNTIME);
}

static void test_a_kind_chosen_at_run_time(void **state) {
  fixture &f = get(state);
  const arrjit_kind mine = f.ctx.add_kind("mine", ARRJIT_KIND_ERROR);
  graph g(f.ctx);
  const value i = g.param<int64_t>("i");
  const exn e = switch_(
      i, [&] { return exn_new(g, ARRJIT_KIND_RUNTIME, 1, "first"); }, [&] { return exn_new(g, mine, 2, "second"); });
  raise_exn(e);
  g.returns(std::vector<value>{});
  const function fn = g.finish();
  EXPECT(run_all(f, fn, {}, i64(f, 0)).kind() == ARRJIT_KIND_RUNTIME);
  EXPECT(run_all(f, fn, {}, i64(f, 1)).kind() == mine);
}

static void test_while_with_one_value_and_with_several(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value n = g.param<int64_t>("n");
  const value halved = while_(g, n, [](value v) { return v > 10; }, [](value v) { return v / 2; });
  const auto [left, sum] = while_(
      g, std::tuple(n, constant(g, int64_t{0})), [](value v, value) { return v > 0; },
      [](value v, value s) { return std::tuple(v - 1, s + v); });
  const std::vector<value> pair = while_(
      g, std::vector<value>{n, left}, [](const std::vector<value> &v) { return v[0] > v[1]; },
      [](const std::vector<value> &v) { return std::vector<value>{v[0] - 1, v[1] + 1}; });
  g.returns({halved, sum, pair[0], pair[1]});
  const result r = run_all(f, g.finish(), {}, i64(f, 100));
  EXPECT(r.output(0).item<int64_t>() == 6 && r.output(1).item<int64_t>() == 5050);
  EXPECT(r.output(2).item<int64_t>() == 50 && r.output(3).item<int64_t>() == 50);
}

static void test_for_with_and_without_a_step(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value n = g.param<int64_t>("n"), zero = constant(g, int64_t{0});
  const value up = for_(g, 0, n, zero, [](value i, value sum) { return sum + i; });
  const value down = for_(g, n, 0, -2, zero, [](value i, value sum) { return sum * 10 + i; });
  const auto [a, b] = for_(g, 0, 10, std::array<value, 2>{zero, zero + 1},
                           [](value, value x, value y) { return std::array<value, 2>{y, x + y}; });
  for_(g, 0, n, nothing, [&](value i) { if_(i == 5, [&] { runtime_raise(g, "{0} is too much", {i}); }, [] {}); });
  g.returns(up, down, a, b);
  const function fn = g.finish();
  const result r = run_all(f, fn, {}, i64(f, 5));
  EXPECT(r.output(0).item<int64_t>() == 10 && r.output(1).item<int64_t>() == 531);
  EXPECT(r.output(2).item<int64_t>() == 55 && r.output(3).item<int64_t>() == 89);
  const result failed = run_all(f, fn, {}, i64(f, 9));
  const auto trace = failed.trace();
  EXPECT(trace.size() == 3 && trace[2].iteration == 5 && std::string(trace[2].op) == "for");
}

static void test_map_runs_for_every_lane(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x", {3}), y = g.param<int64_t>("y");
  const auto [q, turns] = map_(g, std::tuple(x, y), [&](value a, value b) {
    if_(b == 0, [&] { raise(g, ARRJIT_KIND_RUNTIME, 2, "{0} by 0", {a}); }, [] {});
    const value n = while_(g, a, [&](value v) { return v >= b; }, [&](value v) { return v - b; });
    return std::tuple(n, (a - n) / b);
  });
  const value twice = map_(g, x, [](value a) { return a + a; });
  g.returns({q, turns, twice});
  const function fn = g.finish();
  const array in = make_array<int64_t>(f.ctx, {7, 8, 2});
  const result r = run_all(f, fn, {}, in, i64(f, 3));
  EXPECT(r.output(0).to_vector<int64_t>() == (std::vector<int64_t>{1, 2, 2}));
  EXPECT(r.output(1).to_vector<int64_t>() == (std::vector<int64_t>{2, 2, 0}));
  EXPECT(r.output(2).to_vector<int64_t>() == (std::vector<int64_t>{14, 16, 4}));
  const result failed = run_all(f, fn, {}, in, i64(f, 0));
  EXPECT(std::string(failed.message()) == "7 by 0" && std::string(failed.trace()[2].arm) == "lane");
}

static void test_reduce_folds_with_a_body(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x", {2, 3}), init = g.param<int64_t>("init");
  const value top = reduce_(g, x, init, {1}, [](value a, value b) { return max(a, b); });
  const value place = iota(g, ARRJIT_I64, {2, 3}, 1);
  const auto [most, at] =
      reduce_(g, std::tuple(x, place), std::tuple(init, init), all_axes,
              [](value a, value i, value b, value j) { return std::tuple(select(b > a, b, a), select(b > a, j, i)); });
  const value sums = cumulative_(g, x, 1, true, [](value a, value b) { return a + b; });
  g.returns({top, most, at, sums, cumsum(x, 1, 1)});
  const function fn = g.finish();
  const result r = run_all(f, fn, {}, make_array<int64_t>(f.ctx, {4, 9, 2, 7, 1, 5}, {2, 3}), i64(f, -1));
  EXPECT(r.output(0).to_vector<int64_t>() == (std::vector<int64_t>{9, 7}));
  EXPECT(r.output(3).to_vector<int64_t>() == (std::vector<int64_t>{15, 11, 2, 13, 6, 5}));
  EXPECT(r.output(4).to_vector<int64_t>() == r.output(3).to_vector<int64_t>());
  EXPECT(r.output(1).to_vector<int64_t>()[0] == 9 && r.output(2).to_vector<int64_t>()[0] == 1);
}

static void test_try_takes_by_kind_and_runs_finally(void **state) {
  fixture &f = get(state);
  const arrjit_kind odd = f.ctx.add_kind("odd", ARRJIT_KIND_ERROR, "i64[0]");
  graph g(f.ctx);
  const value x = g.param<int64_t>("x"), d = g.param<int64_t>("d");
  const io_slot note = g.add_io_slot<void(int64_t)>("note");
  const value y = try_(g,
                       [&] {
                         if_((x & 1) == 1, [&] { raise(g, odd, 3, "{0} is odd", {x}); }, [] {});
                         return checked_div(x, d);
                       })
                      .handle(ARRJIT_KIND_ARITH, [&](exn) { return constant(g, int64_t{-1}); })
                      .handle(odd,
                              [&](exn e) {
                                const std::pair<value, value> field = exn_field(e, 0, type<int64_t>());
                                return if_(
                                    field.second & exn_is(e, ARRJIT_KIND_ERROR), [&] { return field.first * 100; },
                                    [&] { raise_exn(e); });
                              })
                      .finally_([&] { note(x); });
  g.returns(y);
  const function fn = g.finish();
  int64_t notes = 0;
  options with;
  with.bind("note", [&](int64_t) { notes++; });
  EXPECT(run_all(f, fn, with, i64(f, 8), i64(f, 2)).output().item<int64_t>() == 4);
  EXPECT(run_all(f, fn, with, i64(f, 8), i64(f, 0)).output().item<int64_t>() == -1);
  EXPECT(run_all(f, fn, with, i64(f, 7), i64(f, 2)).output().item<int64_t>() == 700);
  EXPECT(notes > 0 && notes % 3 == 0);
}

static void test_try_may_end_without_finally_and_raise_from(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x");
  const value y =
      try_(g, [&] { runtime_raise(g, "inner {0}", {x}); })
          .handle(ARRJIT_KIND_RUNTIME,
                  [&](exn e) {
                    return if_(
                        x > 0, [&] { return x; }, [&] { raise_from(exn_new(g, ARRJIT_KIND_ERROR, 2, "outer"), e); });
                  })
          .end();
  g.returns(y);
  const function fn = g.finish();
  EXPECT(run_all(f, fn, {}, i64(f, 4)).output().item<int64_t>() == 4);
  const result r = run_all(f, fn, {}, i64(f, 0));
  const std::optional<result_view> cause = r.cause();
  EXPECT(std::string(r.message()) == "outer" && cause && std::string(cause->message()) == "inner 0");
}

static void test_check_passes_its_value_on(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x", {g.symbol("n")});
  g.returns(sqrt(check(x >= 0, x, ARRJIT_KIND_RUNTIME, 5, "below 0 at {0}")));
  const function fn = g.finish();
  EXPECT((run_all(f, fn, {}, make_array(f.ctx, {4.0, 9.0})).output().to_vector<double>() == std::vector<double>{2, 3}));
  const result r = run_all(f, fn, {}, make_array(f.ctx, {4.0, -9.0, -1.0}));
  EXPECT(r.code() == 5 && std::string(r.message()) == "below 0 at 1" && r.payload(0).item<int64_t>() == 1);
}

static void test_functions_inside_a_graph(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const arrjit_type i = type<int64_t>();
  const callee fact = g.declare("fact", {i}, {i}), divide = g.declare("divide", {i, i}, {i, i});
  g.define(fact, [&](value n) {
    return if_(n < 2, [&] { return constant(g, int64_t{1}); }, [&] { return n * fact(n - 1); });
  });
  g.define(divide, [&](const std::vector<value> &p) { return std::tuple(p[0] / p[1], p[0] % p[1]); });
  const value n = g.param<int64_t>("n");
  const auto [q, r] = divide.call<2>({fact(n), n + 2});
  g.returns({q, r}, {"quotient", "rest"});
  const function fn = g.finish();
  const result got = run_all(f, fn, {}, i64(f, 5));
  EXPECT(got.output(0).item<int64_t>() == 17 && got.output(1).item<int64_t>() == 1);
  const char *name = nullptr;
  EXPECT(arrjit_function_result(fn.get(), 1, &name, nullptr) == ARRJIT_OK && std::string(name) == "rest");
}

static void test_a_body_that_throws_leaves_a_graph_to_be_destroyed(void **state) {
  fixture &f = get(state);
  struct oops {};
  const auto leave = [](auto &&...) -> value { throw oops(); };
  const auto build = [&](int which) {
    graph g(f.ctx);
    const value x = g.param<int64_t>("x"), zero = constant(g, int64_t{0});
    const callee twice = g.declare("twice", {type<int64_t>()}, {type<int64_t>()});
    const auto keep = [&] { return x; };
    try {
      const label outer(g, "outer");
      switch (which) {
      case 0: if_(x > 0, leave, keep); break;
      case 1: if_(x > 0, keep, leave); break;
      case 2: switch_(x, keep, leave, keep); break;
      case 3: while_(g, x, leave, [](value v) { return v - 1; }); break;
      case 4: while_(g, x, [](value v) { return v > 0; }, leave); break;
      case 5: for_(g, 0, x, zero, leave); break;
      case 6: (void)try_(g, leave); break;
      case 7: (void)try_(g, keep).handle(ARRJIT_KIND_ERROR, leave).end(); break;
      case 8: (void)try_(g, keep).finally_([]() -> void { throw oops(); }); break;
      case 9: map_(g, x, leave); break;
      case 10: g.define(twice, [&](value) -> value { throw oops(); }); break;
      default: return false;
      }
      throw test_failed("the exception did not come through");
    } catch (const oops &) {}
    const build_error e = EXPECT_THROW(build_error, g.finish());
    EXPECT(e.status() == ARRJIT_GRAPH);
    return true;
  };
  int count = 0;
  while (build(count)) count++;
  EXPECT(count == 11);
}

static void test_bodies_run_on_after_a_build_error(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x"), n = g.param<int64_t>("n");
  const int line = __LINE__ + 1;
  const value bad = x + n;
  int bodies = 0;
  value a, b;
  std::tie(a, b) = while_(
      g, std::tuple(bad, n), [&](value v, value) { return bodies++, v > 0; },
      [&](value v, value m) { return bodies++, std::tuple(v - 1, m); });
  const value c = try_(g, [&] { return bodies++, a; }).handle(ARRJIT_KIND_ERROR, [&](exn) { return b; }).end();
  g.returns(if_(c > 0, [&] { return bodies++, c; }, [&] { return c; }));
  const build_error e = EXPECT_THROW(build_error, g.finish());
  EXPECT(bodies == 4 && std::string(e.op()) == "add" && e.line() == line);
}

static void test_arms_that_disagree_are_build_errors(void **state) {
  fixture &f = get(state);
  const auto status = [&](auto &&build) {
    graph g(f.ctx);
    const value x = g.param<double>("x");
    build(g, x);
    return EXPECT_THROW(build_error, g.finish()).status();
  };
  EXPECT(status([](graph &g, value x) { g.returns(if_(x > 0, [&] { return x; }, [] {})); }) == ARRJIT_TYPE);
  EXPECT(status([](graph &g, value x) { g.returns(if_(x, [&] { return x; }, [&] { return x; })); }) == ARRJIT_TYPE);
  graph g(f.ctx), other(f.ctx);
  const value x = g.param<double>("x"), y = other.param<double>("y");
  EXPECT_THROW(build_error, if_(x > 0, [&] { return y; }, [&] { return x; }));
  graph third(f.ctx);
  const callee one = third.declare("one", {type<double>()}, {type<double>()});
  EXPECT_THROW(build_error, third.define(one, [](value a, value) { return a; }));
}

static void test_labels_stand_in_traces(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x");
  {
    const label outer(g, "outer"), inner(g, "inner");
    g.returns(checked_div(x, 0));
  }
  const result r = run_all(f, g.finish(), {}, i64(f, 1));
  EXPECT(std::string(r.trace()[0].label) == "outer/inner");
}

static const struct CMUnitTest tests[] = {
    CPP_TEST(test_if_with_one_value),
    CPP_TEST(test_arms_of_every_form),
    CPP_TEST(test_an_arm_that_raises_needs_no_value),
    CPP_TEST(test_switch_takes_the_last_case_out_of_range),
    CPP_TEST(test_a_kind_chosen_at_run_time),
    CPP_TEST(test_while_with_one_value_and_with_several),
    CPP_TEST(test_for_with_and_without_a_step),
    CPP_TEST(test_map_runs_for_every_lane),
    CPP_TEST(test_reduce_folds_with_a_body),
    CPP_TEST(test_try_takes_by_kind_and_runs_finally),
    CPP_TEST(test_try_may_end_without_finally_and_raise_from),
    CPP_TEST(test_check_passes_its_value_on),
    CPP_TEST(test_functions_inside_a_graph),
    CPP_TEST(test_a_body_that_throws_leaves_a_graph_to_be_destroyed),
    CPP_TEST(test_bodies_run_on_after_a_build_error),
    CPP_TEST(test_arms_that_disagree_are_build_errors),
    CPP_TEST(test_labels_stand_in_traces),
};
TEST_MAIN(tests, nullptr, nullptr)
