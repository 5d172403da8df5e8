/* Operators, numbers beside values, generated functions, where nodes come from, build errors. */
#include "fixture.hpp"

#include <cmath>
#include <limits>

using arrjit::all_axes;
using arrjit::graph;
using arrjit::type;
using arrjit::value;

/* f(x, y) for elements of T, in every mode. */
template <class T, class Out, class F> Out compute(fixture &f, T x, T y, F &&formula) {
  graph g(f.ctx);
  const value a = g.param<T>("x"), b = g.param<T>("y");
  g.returns(formula(a, b));
  return run_all(f, g.finish(), {}, arrjit::make_scalar(f.ctx, x), arrjit::make_scalar(f.ctx, y))
      .output()
      .template item<Out>();
}

static void test_operators_on_floats(void **state) {
  fixture &f = get(state);
  const double x = 7.5, y = -2.25;
  EXPECT((compute<double, double>(f, x, y, [](value a, value b) { return a * b + 1.0; })) == x * y + 1.0);
  EXPECT((compute<double, double>(f, x, y, [](value a, value b) { return (a - b) / (2 + b); })) == (x - y) / (2 + y));
  EXPECT((compute<double, double>(f, x, y, [](value a, value b) { return a % b; })) == std::fmod(x, y));
  EXPECT((compute<double, double>(f, 0.0, y, [](value a, value) { return -a; })) == 0);
  EXPECT(std::signbit(compute<double, double>(f, 0.0, y, [](value a, value) { return -a; })));
  EXPECT((compute<float, float>(f, 0.1f, 3, [](value a, value b) { return a * b + 0.1; })) == 0.1f * 3 + 0.1f);
}

static void test_complex_numbers_are_those_of_the_language(void **state) {
  fixture &f = get(state);
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  const c128 x(1, 2), y(3, -4);
  EXPECT((compute<c128, c128>(f, x, y, [](value a, value b) { return a * b + 1.0; })) == c128(12, 2));
  EXPECT((compute<c64, c64>(f, c64(5, 10), c64(3, 4), [](value a, value b) { return a / b; })) == c64(2.2f, 0.4f));
  EXPECT((compute<c128, double>(f, y, x, [](value a, value) { return arrjit::abs(a); })) == 5);
  EXPECT((compute<double, c128>(f, 1, 2, [](value a, value b) { return arrjit::conj(arrjit::complex(a, b)); })) ==
         c128(1, -2));
  EXPECT(arrjit::type<c64>().dtype == ARRJIT_C64 && arrjit::type<c128>().dtype == ARRJIT_C128);
}

static void test_sixteen_bit_floats_are_their_bits(void **state) {
  fixture &f = get(state);
  using arrjit::bf16;
  using arrjit::f16;
  const auto formula = [](value a, value b) { return a * b + 0.1; };
  EXPECT((compute<f16, f16>(f, f16(1.5f), f16(3.0), formula)).bits == f16(4.6).bits);
  EXPECT((compute<bf16, bf16>(f, bf16(1.5f), bf16(3.0), formula)) == 4.59375f);
  EXPECT((compute<f16, f16>(f, f16(300.0f), f16(300.0f), [](value a, value b) { return a * b; })).bits == 0x7c00);
  const graph g(f.ctx);
  EXPECT(arrjit::type<f16>().dtype == ARRJIT_F16 && arrjit::type<bf16>().dtype == ARRJIT_BF16);
  EXPECT(std::isnan(static_cast<float>(f16(std::numeric_limits<float>::quiet_NaN()))));
}

static void test_operators_on_integers(void **state) {
  fixture &f = get(state);
  EXPECT((compute<int32_t, int32_t>(f, -7, 2, [](value a, value b) { return a / b * 100 + a % b; })) == -301);
  EXPECT((compute<int32_t, int32_t>(f, 12, 10, [](value a, value b) { return ((a & b) << 8) | (a ^ b); })) == 0x806);
  EXPECT((compute<int64_t, int64_t>(f, -16, 2, [](value a, value b) { return a >> b; })) == -4);
  EXPECT((compute<uint8_t, uint8_t>(f, 0xf0, 4, [](value a, value b) { return (a >> b) + (~a & 3); })) == 0x0f + 3);
  EXPECT((compute<uint8_t, uint8_t>(f, 1, 4, [](value, value b) { return 128 >> b; })) == 8);
  EXPECT((compute<int8_t, int8_t>(f, 127, 1, [](value a, value b) { return a + b; })) == -128);
}

static void test_comparisons_give_bool_values(void **state) {
  fixture &f = get(state);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto all = [](value a, value b) {
    value bits = arrjit::convert(a < b, ARRJIT_I32);
    const value rest[] = {a <= b, a > b, a >= b, a == b, a != b};
    for (const value &v : rest) bits = bits * 2 + arrjit::convert(v, ARRJIT_I32);
    return bits;
  };
  EXPECT((compute<double, int32_t>(f, 1, 2, all)) == 0b110001);
  EXPECT((compute<double, int32_t>(f, 2, 2, all)) == 0b010110);
  EXPECT((compute<double, int32_t>(f, nan, 2, all)) == 0b000001);
  EXPECT((compute<double, bool>(f, 1, 2, [](value a, value b) { return (0 < a) & ~(b == a); })));
}

static void test_assignments_make_new_values(void **state) {
  fixture &f = get(state);
  const auto formula = [](value a, value b) {
    value x = a;
    x += b, x -= 1, x *= 3, x /= 2, x %= 100, x <<= 2, x >>= 1, x |= 1, x &= 0xff, x ^= a;
    return x;
  };
  const auto expected = [](int64_t a, int64_t b) {
    int64_t x = a;
    x += b, x -= 1, x *= 3, x /= 2, x %= 100, x <<= 2, x >>= 1, x |= 1, x &= 0xff, x ^= a;
    return x;
  };
  EXPECT((compute<int64_t, int64_t>(f, 41, 7, formula)) == expected(41, 7));
}

static void test_numbers_take_the_dtype_beside_them(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<float>("x"), i = g.param<int64_t>("i"), u = g.param<uint64_t>("u"), p = g.param<bool>("p");
  EXPECT((x + 0.1).dtype() == ARRJIT_F32);
  EXPECT((2 * i).dtype() == ARRJIT_I64);
  EXPECT(arrjit::constant(g, int16_t{3}).dtype() == ARRJIT_I16);
  EXPECT(arrjit::constant_like(u, 3).dtype() == ARRJIT_U64);
  /* Integers that f64 does not have come exactly. */
  g.returns({i + INT64_C(9007199254740993), i + std::numeric_limits<int64_t>::min(), u + UINT64_MAX, p ^ true,
             arrjit::select(p, 1.5, x), arrjit::clamp(x, 0, 1)});
  const arrjit::array zero = arrjit::make_scalar(f.ctx, int64_t{0});
  const arrjit::result r = run_all(f, g.finish(), {}, arrjit::make_scalar(f.ctx, 2.0f), zero,
                                   arrjit::make_scalar(f.ctx, uint64_t{0}), arrjit::make_scalar(f.ctx, true));
  EXPECT(r.output(0).item<int64_t>() == INT64_C(9007199254740993));
  EXPECT(r.output(1).item<int64_t>() == std::numeric_limits<int64_t>::min());
  EXPECT(r.output(2).item<uint64_t>() == UINT64_MAX);
  EXPECT(r.output(3).item<bool>() == false);
  EXPECT(r.output(4).item<float>() == 1.5f);
  EXPECT(r.output(5).item<float>() == 1.0f);
}

static void test_numbers_that_do_not_fit_are_build_errors(void **state) {
  fixture &f = get(state);
  const auto build = [&](arrjit_dtype dtype, auto &&formula) {
    graph g(f.ctx);
    g.returns(formula(g.param("x", type(dtype))));
    return EXPECT_THROW(arrjit::build_error, g.finish());
  };
  EXPECT(build(ARRJIT_I8, [](value x) { return x + 128; }).status() == ARRJIT_TYPE);
  EXPECT(build(ARRJIT_U64, [](value x) { return x + -1; }).status() == ARRJIT_TYPE);
  EXPECT(build(ARRJIT_U64, [](value x) { return x + std::numeric_limits<int64_t>::min(); }).status() == ARRJIT_TYPE);
  EXPECT(build(ARRJIT_I64, [](value x) { return x + UINT64_MAX; }).status() == ARRJIT_TYPE);
  EXPECT(build(ARRJIT_I32, [](value x) { return x * 0.5; }).status() == ARRJIT_TYPE);
}

static void test_functions_take_lists_in_braces(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x", {2, 3});
  g.returns({arrjit::transpose(x, {1, 0}), reduce_sum(x), reduce_max(x, {0}), arrjit::reduce_sum(x, all_axes),
             reduce_min(x, arrjit::axis_set({})), arrjit::slice(x, {0, 1}, {2, 3}, {1, 1}),
             arrjit::concat({x, x * 2}, 1), arrjit::max(x, 3), arrjit::pad(x, -1, {0, 0}, {0, 1}, {0, 0}),
             arrjit::iota(g, ARRJIT_I64, {3}, 0), and_(x > 1, x < 5), not_(x > 1)});
  const arrjit::array in = arrjit::make_array(f.ctx, {1., 2., 3., 4., 5., 6.}, {2, 3});
  const arrjit::result r = g.finish().run(in);
  using doubles = std::vector<double>;
  EXPECT((r.output(0).to_vector<double>() == doubles{1, 4, 2, 5, 3, 6}));
  EXPECT(r.output(1).item<double>() == 21);
  EXPECT((r.output(2).to_vector<double>() == doubles{4, 5, 6}));
  EXPECT(r.output(3).item<double>() == 21);
  EXPECT(r.output(4).rank() == 2);
  EXPECT((r.output(5).to_vector<double>() == doubles{2, 3, 5, 6}));
  EXPECT((r.output(6).to_vector<double>() == doubles{1, 2, 3, 2, 4, 6, 4, 5, 6, 8, 10, 12}));
  EXPECT((r.output(7).to_vector<double>() == doubles{3, 3, 3, 4, 5, 6}));
  EXPECT((r.output(8).to_vector<double>() == doubles{1, 2, 3, -1, 4, 5, 6, -1}));
  EXPECT((r.output(9).to_vector<int64_t>() == std::vector<int64_t>{0, 1, 2}));
  EXPECT((r.output(10).to_vector<bool>() == std::vector<bool>{false, true, true, true, false, false}));
  EXPECT((r.output(11).to_vector<bool>() == std::vector<bool>{true, false, false, false, false, false}));
}

/* They come as an array. */
static void test_functions_give_several_results(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<double>("x", {3, 2});
  const auto [q, r] = qr(x, 0);
  const auto [u, s, vt] = svd(x, 1);
  const arrjit::value pivots = lu(x)[1];
  EXPECT(q.type().dims[0] == 3 && q.type().dims[1] == 2 && r.type().dims[0] == 2 && r.type().dims[1] == 2);
  EXPECT(u.type().dims[1] == 3 && s.rank() == 1 && s.type().dims[0] == 2 && vt.type().dims[0] == 2);
  EXPECT(pivots.dtype() == ARRJIT_I64 && pivots.type().dims[0] == 2);
}

static void test_what_only_cpp_can_get_wrong_is_thrown_at_once(void **state) {
  fixture &f = get(state);
  graph g(f.ctx), other(f.ctx);
  const value x = g.param<double>("x", {2}), y = other.param<double>("y", {2});
  EXPECT_THROW(arrjit::build_error, x + y);
  EXPECT_THROW(arrjit::build_error, arrjit::concat({x, y}, 0));
  EXPECT_THROW(arrjit::build_error, arrjit::max(1, 2));
  EXPECT_THROW(arrjit::build_error, value() + 1);
  const int line = __LINE__ + 1;
  const arrjit::build_error e = EXPECT_THROW(arrjit::build_error, arrjit::slice(x, {0}, {1, 1}, {1}));
  EXPECT(e.line() == line && std::string(e.file()).find("cpp_value_test.cpp") != std::string::npos);
  EXPECT_THROW(arrjit::build_error, arrjit::constant(g, {1.0, 2.0}, {3}));
}

static void test_build_errors_have_op_file_and_line(void **state) {
  fixture &f = get(state);
  const auto expect = [](const arrjit::build_error &e, const char *op, int line) {
    EXPECT(std::string(e.op()) == op);
    EXPECT(e.line() == line);
    EXPECT(std::string(e.file()).find("cpp_value_test.cpp") != std::string::npos);
    EXPECT(std::string(e.what()).find(e.message()) != std::string::npos);
  };
  {
    graph g(f.ctx);
    const value x = g.param<double>("x"), i = g.param<int64_t>("i");
    const int line = __LINE__ + 1;
    const value sum = x * x + i;
    g.returns(sum * 2.0); /* null values are passed on */
    expect(EXPECT_THROW(arrjit::build_error, g.finish()), "add", line);
  }
  {
    graph g(f.ctx);
    const value x = g.param<int64_t>("x");
    const int line = __LINE__ + 1;
    g.returns(exp(x));
    expect(EXPECT_THROW(arrjit::build_error, g.finish()), "exp", line);
  }
  {
    graph g(f.ctx);
    value x = g.param<bool>("x");
    const int line = __LINE__ + 1;
    x += true;
    g.returns(x);
    expect(EXPECT_THROW(arrjit::build_error, g.finish()), "add", line);
  }
}

/* A host's own function passes on its caller's place. */
static value square(const value &x, arrjit::location at = arrjit::location::here()) { return arrjit::mul(x, x, at); }

static void test_a_trace_has_the_lines_of_operators_and_functions(void **state) {
  fixture &f = get(state);
  graph g(f.ctx);
  const value x = g.param<int64_t>("x");
  const int line = __LINE__ + 1;
  g.returns(arrjit::checked_div(square(x) - 1, x - x));
  const arrjit::result r = run_all(f, g.finish(), {}, arrjit::make_scalar(f.ctx, int64_t{1}));
  const auto trace = r.trace();
  EXPECT(!r.ok() && r.kind() == ARRJIT_KIND_ARITH && trace.size() == 1 && trace[0].line == line);
  graph bad(f.ctx);
  const value b = bad.param<bool>("b");
  const int called_at = __LINE__ + 1;
  bad.returns(square(b));
  EXPECT(EXPECT_THROW(arrjit::build_error, bad.finish()).line() == called_at);
}

static const struct CMUnitTest tests[] = {
    CPP_TEST(test_operators_on_floats),
    CPP_TEST(test_complex_numbers_are_those_of_the_language),
    CPP_TEST(test_sixteen_bit_floats_are_their_bits),
    CPP_TEST(test_operators_on_integers),
    CPP_TEST(test_comparisons_give_bool_values),
    CPP_TEST(test_assignments_make_new_values),
    CPP_TEST(test_numbers_take_the_dtype_beside_them),
    CPP_TEST(test_numbers_that_do_not_fit_are_build_errors),
    CPP_TEST(test_functions_take_lists_in_braces),
    CPP_TEST(test_functions_give_several_results),
    CPP_TEST(test_what_only_cpp_can_get_wrong_is_thrown_at_once),
    CPP_TEST(test_build_errors_have_op_file_and_line),
    CPP_TEST(test_a_trace_has_the_lines_of_operators_and_functions),
};
TEST_MAIN(tests, nullptr, nullptr)
