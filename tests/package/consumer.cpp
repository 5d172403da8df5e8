/* A program as a user of the installed C++ headers writes it: 2 * x + 1 in two modes, and an exception that goes
 * through a run. The argument, if any, is the native module's path. */
#include <arrjit/arrjit.hpp>
#include <iostream>

int main(int argc, char **argv) try {
  arrjit_context_options context_options = {};
  context_options.native_path = argc > 1 ? argv[1] : nullptr;
  arrjit::context ctx(context_options);
  arrjit::graph g(ctx);
  const arrjit::value_slot host = g.add_value_slot<double(double)>("host");
  g.returns(2 * g.param<double>("x") + host(arrjit::constant(g, 1.0)));
  const arrjit::function f = g.finish();
  arrjit::options with;
  with.bind("host", [](double one) { return one; });
  for (const arrjit_mode mode : {ARRJIT_MODE_INTERP, ARRJIT_MODE_WHOLE})
    if (f.run(with.mode(mode), arrjit::make_scalar(ctx, 3.0)).output().item<double>() != 7) return 1;
  const auto native_runs = f.statistics().native_runs;
  with.bind("host", [](double) -> double { throw std::out_of_range("host"); });
  try {
    f.run_or_throw(with, arrjit::make_scalar(ctx, 3.0));
    return 1;
  } catch (const std::out_of_range &) {}
  std::cout << "arrjit " << arrjit_version() << ", native runs " << native_runs << std::endl;
} catch (const std::exception &e) {
  std::cerr << e.what() << std::endl;
  return 1;
}
