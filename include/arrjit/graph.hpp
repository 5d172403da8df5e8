/* libarrjit for C++: graphs, their parameters and results, constants, functions inside a graph, callback slots. */
#ifndef ARRJIT_GRAPH_HPP
#define ARRJIT_GRAPH_HPP

#include <tuple>

#include "arrjit/ops.hpp"
#include "arrjit/run.hpp"

namespace arrjit {

namespace detail {

/* A value and where it was written: lets functions with any number of arguments note the caller's line. */
struct located {
  located(const value &v, location where = location::here()) : of(v), at(where) {}
  value of;
  location at;
};

/* What can be called inside a graph: how many arguments and results it has is known when it runs. */
class call_target {
protected:
  call_target(graph_ref graph, int32_t index, size_t results) : graph_(graph), index_(index), results_(results) {}

  std::vector<value> invoke(location at, const std::vector<value> &args, bool is_slot) const {
    arrjit_graph *const g = enter(at, {graph_, graph_of(args, at)});
    const auto in = raw(args);
    std::vector<arrjit_value> out(results_);
    if (is_slot)
      (arrjit_callback)(g, index_, in.size(), in.data(), out.data());
    else
      (arrjit_call)(g, index_, in.size(), in.data(), out.data());
    std::vector<value> results;
    for (arrjit_value v : out) results.emplace_back(g, v);
    return results;
  }
  template <size_t N> static std::array<value, N> take(location at, const std::vector<value> &results) {
    if (results.size() != N) fail_build(at, "a call has another number of results than is asked for");
    std::array<value, N> out = {};
    for (size_t i = 0; i < N; i++) out[i] = results[i];
    return out;
  }

  graph_ref graph_;
  int32_t index_;
  size_t results_;
};

/* Calls with results that the callee has by its signature. */
template <bool IsSlot> class signature_target : public call_target {
public:
  signature_target(graph_ref graph, int32_t index, size_t results) : call_target(graph, index, results) {}
  /* The one result. */
  value operator()(location at = location::here()) const { return take<1>(at, invoke(at, {}, IsSlot))[0]; }
  template <class... V> value operator()(const located &first, const V &...rest) const {
    return take<1>(first.at, invoke(first.at, {first.of, rest...}, IsSlot))[0];
  }
  /* Any number of results: auto [q, r] = divide.call<2>({x, y}); */
  template <size_t N> std::array<value, N> call(const std::vector<value> &args, location at = location::here()) const {
    return take<N>(at, invoke(at, args, IsSlot));
  }
};

template <class Signature> struct signature;
template <class R, class... A> struct signature<R(A...)> {
  static std::vector<arrjit_type> params() { return {type<A>()...}; }
  static std::vector<arrjit_type> results() {
    if constexpr (std::is_void_v<R>)
      return {};
    else
      return {type<R>()};
  }
};

} // namespace detail

/* A function inside a graph; from graph::declare. */
class callee : public detail::signature_target<false> {
public:
  callee(graph_ref graph, arrjit_callee index, size_t params, size_t results)
      : signature_target(graph, index, results), params_(params) {}
  arrjit_callee get() const noexcept { return index_; }
  size_t param_count() const noexcept { return params_; }

private:
  size_t params_;
};

/* A callback with results. */
class value_slot : public detail::signature_target<true> {
public:
  using signature_target::signature_target;
  arrjit_slot get() const noexcept { return index_; }
};

/* A callback whose arguments pass through it: what a call gives depends on the call. */
class io_slot : public detail::call_target {
public:
  io_slot(graph_ref graph, arrjit_slot index, size_t params) : call_target(graph, index, params) {}
  arrjit_slot get() const noexcept { return index_; }
  value operator()(const detail::located &x) const { return take<1>(x.at, invoke(x.at, {x.of}, true))[0]; }
  template <class... V>
  std::array<value, 1 + sizeof...(V)> operator()(const detail::located &first, const V &...rest) const {
    return take<1 + sizeof...(V)>(first.at, invoke(first.at, {first.of, rest...}, true));
  }
};

/* A graph under construction, movable, for one thread at a time. It may be destroyed at any point, also when an
 * exception left a body that was being built. */
class graph {
public:
  explicit graph(const context &of) {
    arrjit_error error = {};
    arrjit_graph *made = nullptr;
    detail::check(arrjit_graph_create(of.get(), &made, &error), error);
    raw_.reset(made);
  }
  arrjit_graph *get() const noexcept { return raw_.get(); }
  operator graph_ref() const noexcept { return graph_ref(get()); }

  /* A symbol for an unknown extent; the same name gives the same one. */
  int64_t symbol(const char *name) const { return arrjit_symbol(get(), name); }

  /* The next parameter. C++ evaluates operands in any order: give each parameter a statement of its own. */
  value param(const char *name, const arrjit_type &type, location at = location::here()) const {
    return value(get(), (arrjit_param)(arrjit_at(get(), at.file(), at.line()), name, &type));
  }
  template <class T> value param(const char *name, const ints &dims = {}, location at = location::here()) const {
    return param(name, type<T>(dims), at);
  }

  /* Ends the function being built; `names` may be empty. */
  void returns(const std::vector<value> &values, const std::vector<const char *> &names = {},
               location at = location::here()) const {
    arrjit_graph *const g = detail::enter(at, {*this, detail::graph_of(values, at)});
    if (!names.empty()) (void)detail::count(at, {names.size(), values.size()});
    (arrjit_return)(g, values.size(), detail::raw(values).data(), names.empty() ? nullptr : names.data());
  }
  void returns(const value &result, location at = location::here()) const {
    returns(std::vector<value>{result}, {}, at);
  }
  template <class... V> void returns(const detail::located &first, const value &second, const V &...rest) const {
    returns(std::vector<value>{first.of, second, rest...}, {}, first.at);
  }

  /* A function that graphs may call, itself too, before or after its body is defined. A type of rank -1 says
   * exception. */
  callee declare(const char *name, const std::vector<arrjit_type> &params, const std::vector<arrjit_type> &results,
                 location at = location::here()) const {
    arrjit_graph *const g = arrjit_at(get(), at.file(), at.line());
    const arrjit_callee index = (arrjit_declare)(g, name, params.size(), params.data(), results.size(), results.data());
    return callee(*this, index, params.size(), results.size());
  }
  /* Builds the body: a function of the parameters, or of a std::vector<value> of them, that returns a value, a tuple,
   * array or vector of values, or nothing (it raised, or there are no results). In control.hpp. */
  template <class F> void define(const callee &target, F &&body, location at = location::here()) const;

  /* `flags` are ARRJIT_SLOT_*; dims of results may be ARRJIT_DYNAMIC_DIM. */
  value_slot add_value_slot(const char *name, const std::vector<arrjit_type> &params,
                            const std::vector<arrjit_type> &results, unsigned flags = 0,
                            location at = location::here()) const {
    arrjit_graph *const g = arrjit_at(get(), at.file(), at.line());
    const arrjit_slot index =
        (arrjit_slot_value)(g, name, params.size(), params.data(), results.size(), results.data(), flags);
    return value_slot(*this, index, results.size());
  }
  /* Of scalars: add_value_slot<double(int64_t)>("price") */
  template <class S>
  value_slot add_value_slot(const char *name, unsigned flags = 0, location at = location::here()) const {
    return add_value_slot(name, detail::signature<S>::params(), detail::signature<S>::results(), flags, at);
  }
  io_slot add_io_slot(const char *name, const std::vector<arrjit_type> &params, unsigned flags = 0,
                      location at = location::here()) const {
    arrjit_graph *const g = arrjit_at(get(), at.file(), at.line());
    return io_slot(*this, (arrjit_slot_io)(g, name, params.size(), params.data(), flags), params.size());
  }
  template <class S> io_slot add_io_slot(const char *name, unsigned flags = 0, location at = location::here()) const {
    return add_io_slot(name, detail::signature<S>::params(), flags, at);
  }

  /* The finished function. Throws build_error with the first thing that went wrong; then the graph can only be
   * destroyed. */
  function finish() {
    arrjit_error error = {};
    arrjit_function *made = nullptr;
    if (arrjit_graph_finish(get(), &made, &error) != ARRJIT_OK) throw build_error(error);
    return function::adopt(made);
  }

private:
  std::unique_ptr<arrjit_graph, detail::ender<arrjit_graph, arrjit_graph_destroy>> raw_;
};

/* Labels the nodes that are built while it lives, "outer/inner" when nested: shown in traces. */
class label {
public:
  label(graph_ref graph, const char *name) : graph_(graph) { (arrjit_label_push)(graph.get(), name); }
  ~label() { (arrjit_label_pop)(graph_.get()); }
  label(const label &) = delete;
  label &operator=(const label &) = delete;

private:
  graph_ref graph_;
};

/* ---- constants ---- */

/* A scalar of the dtype of its C++ type: constant(g, 1.0) is f64, constant(g, int64_t{1}) is i64. */
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
value constant(graph_ref g, T element, location at = location::here()) {
  const arrjit_type scalar = type<T>();
  return value(g.get(), (arrjit_const)(detail::enter(at, {g}), &scalar, &element));
}
/* Elements in row-major order; `dims` empty: one dim. */
template <class T>
value constant(graph_ref g, const std::vector<T> &elements, const ints &dims = {}, location at = location::here()) {
  const arrjit_type full = type<T>(dims.empty() ? ints{static_cast<int64_t>(elements.size())} : dims);
  size_t asked = 1;
  for (int32_t i = 0; i < full.rank && i < ARRJIT_MAX_RANK; i++) asked *= static_cast<size_t>(full.dims[i]);
  (void)detail::count(at, {elements.size(), asked});
  return value(g.get(), (arrjit_const)(detail::enter(at, {g}), &full, elements.data()));
}
template <class T>
value constant(graph_ref g, std::initializer_list<T> elements, const ints &dims = {}, location at = location::here()) {
  return constant(g, std::vector<T>(elements), dims, at);
}
/* A scalar of the dtype of `like`. */
inline value constant_like(const value &like, const operand &number, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {like.graph()});
  return value(g, number.get(g, like.get()));
}

} // namespace arrjit
#endif
