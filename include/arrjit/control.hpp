/* libarrjit for C++: control flow whose arms and bodies are lambdas, and failures.
 *
 *   value y = if_(x > 0.0, [&] { return x; }, [&] { return -x; });
 *   value z = switch_(index, [&] { return a; }, [&] { return b; });               // the last is for all else
 *   auto [n, sum] = while_(g, std::tuple(n0, s0), [&](value n, value s) { return n > 0; },
 *                                                 [&](value n, value s) { return std::tuple(n - 1, s + n); });
 *   value t = for_(g, 0, count, zero, [&](value i, value sum) { return sum + price(i); });
 *   value m = map_(g, std::tuple(xs, ys), [&](value x, value y) { return x / y; }); // scalars, for every lane
 *   value p = reduce_(g, xs, one, all_axes, [&](value older, value newer) { return older * newer; });
 *   value u = try_(g, [&] { return risky(x); }).handle(ARRJIT_KIND_ARITH, [&](exn e) { return fallback; }).end();
 *
 * A body returns a value (or exn), a std::tuple, pair or array of them, a std::vector of them, or nothing when it
 * raises or yields nothing; arms agree in that, but for those that return nothing. What a loop carries has one of these
 * forms too; its elements are the parameters of condition and body (a vector is one parameter). Each lambda is called
 * once, while building. An exception that leaves one leaves the graph open: it can only be destroyed. */
#ifndef ARRJIT_CONTROL_HPP
#define ARRJIT_CONTROL_HPP

#include "arrjit/graph.hpp"

namespace arrjit {

namespace detail {

template <class T> inline constexpr bool is_unit = std::is_same_v<T, value> || std::is_same_v<T, exn>;

/* Values on their way from a body into the graph, all of that graph. */
class yields {
public:
  yields(graph_ref graph, location at) : graph_(graph), at_(at) {}
  template <class T> void put(const T &x) {
    if constexpr (is_unit<T>) {
      if (x.graph().get() && x.graph().get() != graph_.get()) fail_build(at_, "a body yields a value of another graph");
      list_.push_back(x.get());
    } else {
      std::apply([&](const auto &...part) { (this->put(part), ...); }, x);
    }
  }
  template <class T, class A> void put(const std::vector<T, A> &xs) {
    for (const T &x : xs) put(x);
  }
  size_t count() const noexcept { return list_.size(); }
  const arrjit_value *data() const noexcept { return list_.data(); }

private:
  graph_ref graph_;
  location at_;
  std::vector<arrjit_value> list_;
};

/* Results of the form T. */
template <class T> struct shape {
  static_assert(is_unit<T>, "a body returns a value, exn, or tuple, pair, array or vector of them, or nothing");
  static constexpr size_t least = 1;
  static T take(arrjit_graph *graph, const std::vector<arrjit_value> &from, size_t at = 0) {
    return T(graph, from[at]);
  }
};
template <class T> struct fixed_shape {
  static constexpr size_t least = std::tuple_size_v<T>;
  template <size_t... I>
  static T build(arrjit_graph *graph, const std::vector<arrjit_value> &from, std::index_sequence<I...>) {
    (void)graph, (void)from; /* of none */
    return T{shape<std::tuple_element_t<I, T>>::take(graph, from, I)...};
  }
  static T take(arrjit_graph *graph, const std::vector<arrjit_value> &from) {
    return build(graph, from, std::make_index_sequence<least>());
  }
};
template <class... T> struct shape<std::tuple<T...>> : fixed_shape<std::tuple<T...>> {};
template <class A, class B> struct shape<std::pair<A, B>> : fixed_shape<std::pair<A, B>> {};
template <class T, size_t N> struct shape<std::array<T, N>> : fixed_shape<std::array<T, N>> {};
template <class T> struct shape<std::vector<T>> {
  static constexpr size_t least = 0;
  static std::vector<T> take(arrjit_graph *graph, const std::vector<arrjit_value> &from) {
    std::vector<T> out;
    for (arrjit_value v : from) out.push_back(T(graph, v));
    return out;
  }
};

/* The form that all arms have which return something; void when none does. */
template <class... R> struct common {
  using type = void;
};
template <class R, class... Rest> struct common<R, Rest...> {
  static_assert(((std::is_void_v<Rest> || std::is_same_v<R, Rest>) && ...), "arms return different forms of values");
  using type = R;
};
template <class... Rest> struct common<void, Rest...> : common<Rest...> {};

template <class F, class... A> using result_of = std::decay_t<std::invoke_result_t<F &, A...>>;

/* Runs a body and packs what it returns. */
template <class F, class... A> yields run_body(graph_ref graph, location at, F &body, const A &...args) {
  yields out(graph, at);
  if constexpr (std::is_void_v<result_of<F, const A &...>>)
    body(args...);
  else
    out.put(body(args...));
  return out;
}

/* Calls f with what a loop carries. */
template <class F, class S, class... Index> decltype(auto) with_carried(F &f, const S &state, const Index &...index) {
  (void)sizeof...(index);
  if constexpr (is_unit<S> || std::is_invocable_v<F &, const Index &..., const S &>)
    return f(index..., state);
  else
    return std::apply([&](const auto &...part) -> decltype(auto) { return f(index..., part...); }, state);
}

/* Room for what an end gives, and its values in form T. */
template <class T> class results {
public:
  explicit results(size_t count) : list_(count) {
    if constexpr (!std::is_void_v<T>)
      if (count < shape<T>::least) list_.resize(shape<T>::least);
  }
  arrjit_value *data() noexcept { return list_.data(); }
  T take(arrjit_graph *graph) const {
    if constexpr (!std::is_void_v<T>)
      return shape<T>::take(graph, list_);
    else
      (void)graph;
  }

private:
  std::vector<arrjit_value> list_;
};

inline void mark(graph_ref graph, location at);

/* What is carried as a tuple of parameters. */
template <class S> auto as_tuple(const S &state) {
  if constexpr (is_unit<S>)
    return std::tuple<S>(state);
  else
    return std::tuple_cat(state);
}
template <class T, class A> auto as_tuple(const std::vector<T, A> &state) {
  return std::tuple<std::vector<T, A>>(state);
}

/* Calls a combiner with older values, then newer ones. */
template <class Body, class S>
yields run_combiner(graph_ref graph, location at, Body &body, const S &older, const S &newer) {
  const auto all = std::tuple_cat(as_tuple(older), as_tuple(newer));
  const auto run = [&] { return std::apply([&](const auto &...part) { return body(part...); }, all); };
  yields given = run_body(graph, at, run);
  mark(graph, at);
  return given;
}

inline void mark(graph_ref graph, location at) { (void)arrjit_at(graph.get(), at.file(), at.line()); }

} // namespace detail

/* ---- branches ---- */

template <class Then, class Else>
auto if_(const value &pred, Then &&then_body, Else &&else_body, location at = location::here()) {
  using R = typename detail::common<detail::result_of<Then>, detail::result_of<Else>>::type;
  arrjit_graph *const g = detail::enter(at, {pred.graph()});
  (arrjit_if_begin)(g, pred.get());
  const auto first = detail::run_body(pred.graph(), at, then_body);
  detail::mark(pred.graph(), at);
  (arrjit_if_else)(g, first.count(), first.data());
  const auto second = detail::run_body(pred.graph(), at, else_body);
  detail::mark(pred.graph(), at);
  detail::results<R> out(first.count() > second.count() ? first.count() : second.count());
  (arrjit_if_end)(g, second.count(), second.data(), out.data());
  return out.take(g);
}

/* `index` is an i64 scalar; out of range takes the last case. */
template <class... Case> auto switch_(const detail::located &index, Case &&...cases) {
  static_assert(sizeof...(Case) > 0, "a switch has at least one case");
  using R = typename detail::common<detail::result_of<Case>...>::type;
  const graph_ref graph = index.of.graph();
  arrjit_graph *const g = detail::enter(index.at, {graph});
  size_t most = 0, left = sizeof...(Case);
  (arrjit_switch_begin)(g, index.of.get());
  detail::yields last(graph, index.at);
  const auto run = [&](auto &body) {
    last = detail::run_body(graph, index.at, body);
    if (last.count() > most) most = last.count();
    detail::mark(graph, index.at);
    if (--left) (arrjit_switch_case)(g, last.count(), last.data());
  };
  (run(cases), ...);
  detail::results<R> out(most);
  (arrjit_switch_end)(g, last.count(), last.data(), out.data());
  return out.take(g);
}

/* ---- loops ---- */

/* While cond(carried...), a bool scalar, carried = body(carried...). */
template <class S, class Cond, class Body>
S while_(graph_ref graph, const S &init, Cond &&cond, Body &&body, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph});
  detail::yields first(graph, at);
  first.put(init);
  detail::results<S> vars(first.count()), out(first.count());
  (arrjit_while_begin)(g, first.count(), first.data(), vars.data());
  const value pred = detail::with_carried(cond, vars.take(g));
  detail::mark(graph, at);
  (arrjit_while_body)(g, pred.get(), vars.data());
  const auto run = [&] { return detail::with_carried(body, vars.take(g)); };
  const auto next = detail::run_body(graph, at, run);
  detail::mark(graph, at);
  (arrjit_while_end)(g, next.count(), next.data(), out.data());
  return out.take(g);
}

/* carried = body(i, carried...) for i = lo, lo + step ... while i < hi (step < 0: while i > hi). Numbers and values
 * are i64 scalars; step 0 fails with kind arith. */
template <class S, class Body>
S for_(graph_ref graph, const operand &lo, const operand &hi, const operand &step, const S &init, Body &&body,
       location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph, lo.graph(), hi.graph(), step.graph()});
  const arrjit_value i64 = lo.is_number() || hi.is_number() || step.is_number() ? (arrjit_const_i64)(g, 0) : nullptr;
  const arrjit_value from = lo.get(g, i64), to = hi.get(g, i64), by = step.get(g, i64);
  detail::yields first(graph, at);
  first.put(init);
  detail::results<S> vars(first.count()), out(first.count());
  arrjit_value index = nullptr;
  (arrjit_for_begin)(g, from, to, by, first.count(), first.data(), &index, vars.data());
  const auto run = [&] { return detail::with_carried(body, vars.take(g), value(g, index)); };
  const auto next = detail::run_body(graph, at, run);
  detail::mark(graph, at);
  (arrjit_for_end)(g, next.count(), next.data(), out.data());
  return out.take(g);
}
/* By steps of 1. */
template <class S, class Body>
S for_(graph_ref graph, const operand &lo, const operand &hi, const S &init, Body &&body,
       location at = location::here()) {
  return for_(graph, lo, hi, operand(1, at), init, body, at);
}
/* The body once for each lane of `args` (a value or a form of them, broadcast to each other): it takes their elements
 * as scalars, and what it returns are the elements of the arrays that this gives. */
template <class S, class Body> auto map_(graph_ref graph, const S &args, Body &&body, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph});
  detail::yields in(graph, at);
  in.put(args);
  detail::results<S> lanes(in.count());
  (arrjit_map_begin)(g, in.count(), in.data(), lanes.data());
  const auto run = [&] { return detail::with_carried(body, lanes.take(g)); };
  const auto given = detail::run_body(graph, at, run);
  detail::mark(graph, at);
  detail::results<detail::result_of<decltype(run)>> out(given.count());
  (arrjit_map_end)(g, given.count(), given.data(), out.data());
  return out.take(g);
}
/* `args` (a value or a form of them, broadcast to each other) folded over axes: the body takes an older element of
 * each, then a newer one of each, and returns them combined. `inits` are scalars in the form of args, and join at the
 * end. */
template <class S, class Body>
S reduce_(graph_ref graph, const S &args, const S &inits, const axis_set &axes, Body &&body,
          location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph});
  detail::yields in(graph, at), first(graph, at);
  in.put(args);
  first.put(inits);
  if (in.count() != first.count()) detail::fail_build(at, "reduce_: as many inits as args are expected");
  detail::results<S> older(in.count()), newer(in.count()), out(in.count());
  (arrjit_reduce_begin)(g, in.count(), in.data(), first.data(), axes.size(), axes.data(), older.data(), newer.data());
  const auto given = detail::run_combiner(graph, at, body, older.take(g), newer.take(g));
  (arrjit_reduce_end)(g, given.count(), given.data(), out.data());
  return out.take(g);
}
/* The same without inits: what is combined up to each element along axis; `reverse`: from each on. */
template <class S, class Body>
S cumulative_(graph_ref graph, const S &args, int64_t axis, bool reverse, Body &&body, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph});
  detail::yields in(graph, at);
  in.put(args);
  detail::results<S> older(in.count()), newer(in.count()), out(in.count());
  (arrjit_cumulative_begin)(g, in.count(), in.data(), axis, reverse, older.data(), newer.data());
  const auto given = detail::run_combiner(graph, at, body, older.take(g), newer.take(g));
  (arrjit_cumulative_end)(g, given.count(), given.data(), out.data());
  return out.take(g);
}
/* A loop that carries nothing. */
inline constexpr std::tuple<> nothing = {};

/* ---- try ---- */

/* A try that is not ended: add handlers, then end it with finally_ or end, which give its results. */
template <class R> class [[nodiscard]] open_try {
public:
  open_try(graph_ref graph, detail::yields last, size_t most) : graph_(graph), last_(std::move(last)), most_(most) {}

  /* Takes failures of `kind` and all kinds below it, unless an earlier handler does. */
  template <class F> auto handle(arrjit_kind kind, F &&handler, location at = location::here()) && {
    arrjit_value caught = nullptr;
    detail::mark(graph_, at);
    (arrjit_try_handler)(graph_.get(), last_.count(), last_.data(), kind, &caught);
    auto next = detail::run_body(graph_, at, handler, exn(graph_.get(), caught));
    const size_t most = next.count() > most_ ? next.count() : most_;
    using S = typename detail::common<R, detail::result_of<F, const exn &>>::type;
    return open_try<S>(graph_, std::move(next), most);
  }
  /* Runs on every way out; yields nothing. */
  template <class F> R finally_(F &&body, location at = location::here()) && {
    static_assert(std::is_void_v<detail::result_of<F>>, "a finally yields nothing");
    detail::mark(graph_, at);
    (arrjit_try_finally)(graph_.get(), last_.count(), last_.data());
    body();
    last_ = detail::yields(graph_, at);
    return std::move(*this).end(at);
  }
  R end(location at = location::here()) && {
    detail::results<R> out(most_);
    detail::mark(graph_, at);
    (arrjit_try_end)(graph_.get(), last_.count(), last_.data(), out.data());
    return out.take(graph_.get());
  }

private:
  graph_ref graph_;
  detail::yields last_; /* of the arm before */
  size_t most_;
};

template <class F> auto try_(graph_ref graph, F &&body, location at = location::here()) {
  (arrjit_try_begin)(detail::enter(at, {graph}));
  auto last = detail::run_body(graph, at, body);
  const size_t most = last.count();
  return open_try<detail::result_of<F>>(graph, std::move(last), most);
}

/* ---- failures ---- */

/* Ends the body it is in. `message` is a template with {0} {1} ... for payload values; null: the kind's name. */
inline void raise(graph_ref graph, arrjit_kind kind, int64_t code = 0, const char *message = nullptr,
                  const std::vector<value> &payload = {}, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph, detail::graph_of(payload, at)});
  (arrjit_raise)(g, kind, code, message, payload.size(), detail::raw(payload).data());
}
/* Kind runtime, code 0. */
inline void runtime_raise(graph_ref graph, const char *message, const std::vector<value> &payload = {},
                          location at = location::here()) {
  raise(graph, ARRJIT_KIND_RUNTIME, 0, message, payload, at);
}
/* Raises an exception again, and with another as its cause. */
inline void raise_exn(const exn &e, location at = location::here()) {
  (arrjit_raise_exn)(detail::enter(at, {e.graph()}), e.get());
}
inline void raise_from(const exn &e, const exn &cause, location at = location::here()) {
  (arrjit_raise_from)(detail::enter(at, {e.graph(), cause.graph()}), e.get(), cause.get());
}
/* Fails when pred has a false lane; gives x back, depending on the check. */
inline value check(const value &pred, const value &x, arrjit_kind kind, int64_t code = 0, const char *message = nullptr,
                   const std::vector<value> &payload = {}, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {pred.graph(), x.graph(), detail::graph_of(payload, at)});
  const arrjit_value in = x.get();
  arrjit_value out = nullptr;
  (arrjit_check)(g, pred.get(), kind, code, message, payload.size(), detail::raw(payload).data(), 1, &in, &out);
  return value(g, out);
}

/* An exception as a value, to be yielded, raised or raised from. */
inline exn exn_new(graph_ref graph, arrjit_kind kind, int64_t code = 0, const char *message = nullptr,
                   const std::vector<value> &payload = {}, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {graph, detail::graph_of(payload, at)});
  return exn(g, (arrjit_exn_new)(g, kind, code, message, payload.size(), detail::raw(payload).data()));
}
/* Whether its kind is `kind` or below it: a bool scalar. */
inline value exn_is(const exn &e, arrjit_kind kind, location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {e.graph()});
  return value(g, arrjit_exn_is(g, e.get(), kind));
}
/* Payload field i, and whether it has that type: a bool scalar; if not, the field is zero. */
inline std::pair<value, value> exn_field(const exn &e, int64_t i, const arrjit_type &type,
                                         location at = location::here()) {
  arrjit_graph *const g = detail::enter(at, {e.graph()});
  arrjit_value present = nullptr;
  const arrjit_value field = arrjit_exn_field(g, e.get(), i, &type, &present);
  return {value(g, field), value(g, present)};
}

/* ---- functions inside a graph ---- */

namespace detail {

template <class F, size_t... I> constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F &, decltype((void(I), std::declval<const value &>()))...>;
}
/* How many values F takes. */
template <class F, size_t N = 0> constexpr size_t arity() {
  static_assert(N < 32, "the body of a function takes values, or a vector of them");
  if constexpr (takes<F>(std::make_index_sequence<N>()))
    return N;
  else
    return arity<F, N + 1>();
}
template <class F, size_t... I>
yields run_function(graph_ref graph, location at, F &body, const std::vector<value> &params,
                    std::index_sequence<I...>) {
  (void)params; /* of none */
  return run_body(graph, at, body, params[I]...);
}

} // namespace detail

template <class F> void graph::define(const callee &target, F &&body, location at) const {
  std::vector<arrjit_value> raw(target.param_count());
  detail::mark(*this, at);
  (arrjit_define)(get(), target.get(), raw.data());
  std::vector<value> params;
  for (arrjit_value v : raw) params.emplace_back(get(), v);
  detail::yields out(*this, at);
  if constexpr (std::is_invocable_v<F &, const std::vector<value> &>) {
    out = detail::run_body(*this, at, body, params);
  } else {
    constexpr size_t count = detail::arity<F>();
    if (params.size() != count) detail::fail_build(at, "the body takes another number of values than was declared");
    out = detail::run_function(*this, at, body, params, std::make_index_sequence<count>());
  }
  detail::mark(*this, at);
  (arrjit_return)(get(), out.count(), out.data(), nullptr);
}

} // namespace arrjit
#endif
