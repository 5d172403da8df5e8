// callback_cpp: the same in C++. New here: arrjit.hpp, operators, a loop whose body is a lambda, lambdas as callbacks;
// one of them throws, the host catches that very exception and goes on with another.
//
// The mean flow of the Nile over some years, read year by year from the host's gauge, which does not know all of them.
#include <arrjit/arrjit.hpp>

#include <fstream>
#include <iostream>
#include <map>

class gauge_error : public std::runtime_error {
public:
  explicit gauge_error(int64_t year) : std::runtime_error("the gauge has no value"), year_(year) {}
  int64_t year() const { return year_; }

private:
  int64_t year_;
};

using record = std::map<int64_t, double>;

static record read_record(const std::string &path) {
  record years;
  std::ifstream file(path);
  std::string year, flow;
  std::getline(file, year); // the header
  while (std::getline(file, year, ',') && std::getline(file, flow)) years[std::stoll(year)] = std::stod(flow);
  if (years.empty()) throw std::runtime_error("cannot read " + path);
  return years;
}

static arrjit::function build(const arrjit::context &ctx) {
  using arrjit::value;
  arrjit::graph g(ctx);
  const value first = g.param<int64_t>("first"), last = g.param<int64_t>("last");
  const auto gauge = g.add_value_slot<double(int64_t)>("gauge");
  const value sum = for_(g, first, last + 1, constant(g, 0.0), [&](value year, value so_far) {
    const arrjit::label label(g, "gauging");
    return so_far + gauge(year);
  });
  const value count = convert(last - first + 1, ARRJIT_F64);
  g.returns(sum / check(count > 0, count, ARRJIT_KIND_RUNTIME, 0, "no years from {0} to {1}", {first, last}));
  return g.finish();
}

int main(int argc, char **argv) try {
  record flows = read_record(std::string(argc > 1 ? argv[1] : "data") + "/nile.csv");
  flows.erase(1900); // the gauge was broken
  arrjit::context ctx;
  const arrjit::function mean = build(ctx);
  const auto years = [&](int64_t year) { return arrjit::make_scalar(ctx, year); };

  arrjit::options strict;
  strict.mode(ARRJIT_MODE_WHOLE).bind("gauge", [&](int64_t year) {
    const auto found = flows.find(year);
    if (found == flows.end()) throw gauge_error(year);
    return found->second;
  });
  arrjit::options lenient = strict; // with another gauge: the year before stands for one that is missing
  lenient.bind("gauge", [&](int64_t year) { return std::prev(flows.upper_bound(year))->second; });

  const auto ask = [&](const arrjit::options &with, int64_t first, int64_t last) {
    const arrjit::result r = mean.run_or_throw(with, years(first), years(last));
    std::cout << first << " to " << last << ": " << r.output().item<double>() << "\n";
  };
  try {
    ask(strict, 1871, 1880);
    ask(strict, 1891, 1910);
  } catch (const gauge_error &e) { // what the lambda threw, out of the loop in native code
    std::cout << e.what() << " for " << e.year() << "\n";
  }
  ask(lenient, 1891, 1910);

  // Without exceptions: what happened is in the result, the exception too.
  const arrjit::result r = mean.run(strict, years(1899), years(1901));
  std::cout << r.text() << (r.exception() ? "has a C++ exception\n" : "");

  try {
    ask(strict, 1900, 1890);
  } catch (const arrjit::error &e) { // a failure of the graph itself
    std::cout << e.kind_name() << ": " << e.message() << "\n";
  }
} catch (const std::exception &e) {
  std::cerr << e.what() << "\n";
  return 1;
}
