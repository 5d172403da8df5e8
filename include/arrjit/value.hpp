/* libarrjit for C++: values of a graph under construction, and their operators.
 *
 * Operators:  + - * / % & | ^ << >>  and their assignments (x += y makes x the sum), - and ~ of one operand, and
 * < <= > >= == !=, whose result is a bool value. One operand may be a number: it takes the dtype of the other, which
 * must represent it exactly when that is an integer type. % is rem, as in C; the remainder with the sign of y is mod.
 * >> brings in the sign for signed integers, zeros for unsigned ones. && || ! and ?: do not exist, since nothing is
 * known while building: use & | ~ and select or if_.
 *
 * File and line of the caller are noted with each node, for build errors and traces. Functions take them as a last
 * parameter whose default is the place of the call; pass another from functions of your own. Operators note the line
 * of their right operand. */
#ifndef ARRJIT_VALUE_HPP
#define ARRJIT_VALUE_HPP

#include <array>
#include <initializer_list>

#include "arrjit/core.hpp"
#include "arrjit/ops.h"

namespace arrjit {

/* A place in the host's source. */
class location {
public:
  static constexpr location here(const char *file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return location(file, line);
  }
  constexpr const char *file() const noexcept { return file_; }
  constexpr int line() const noexcept { return line_; }

private:
  constexpr location(const char *file, int line) noexcept : file_(file), line_(line) {}
  const char *file_;
  int line_;
};

/* A graph to build in, borrowed. arrjit::graph becomes one by itself; a value knows its own. */
class graph_ref {
public:
  explicit constexpr graph_ref(arrjit_graph *raw = nullptr) noexcept : raw_(raw) {}
  constexpr arrjit_graph *get() const noexcept { return raw_; }

private:
  arrjit_graph *raw_;
};

class operand;

/* Operators with two operands: X(operator, op of the table). */
#define ARRJIT_ARITHMETIC_(X) X(+, add) X(-, sub) X(*, mul) X(/, div) X(%, rem) X(&, and) X(|, or) X(^, xor) X(<<, shl)
#define ARRJIT_COMPARISONS_(X) X(<, lt) X(<=, le) X(>, gt) X(>=, ge) X(==, eq) X(!=, ne)

/* An array as it will be computed. Small: pass and copy it by value. Valid until its graph is destroyed. One made
 * without arguments belongs to no graph. After a build error values are null, and may be used as before. */
class value {
public:
  constexpr value() noexcept = default;
  constexpr value(arrjit_graph *graph, arrjit_value raw) noexcept : graph_(graph), raw_(raw) {}

  constexpr graph_ref graph() const noexcept { return graph_; }
  constexpr arrjit_value get() const noexcept { return raw_; }
  /* Of the null value: dtype bool, rank -1. */
  arrjit_type type() const { return arrjit_value_type(raw_); }
  arrjit_dtype dtype() const { return type().dtype; }
  int32_t rank() const { return type().rank; }

#define ARRJIT_DECLARE_(sign, op) friend value operator sign(const operand &x, const operand &y);
#define ARRJIT_DECLARE_ASSIGNMENT_(sign, op) value &operator sign##=(const operand & y);
  ARRJIT_ARITHMETIC_(ARRJIT_DECLARE_)
  ARRJIT_COMPARISONS_(ARRJIT_DECLARE_)
  ARRJIT_ARITHMETIC_(ARRJIT_DECLARE_ASSIGNMENT_)
#undef ARRJIT_DECLARE_
#undef ARRJIT_DECLARE_ASSIGNMENT_
  friend value operator>>(const operand &x, const operand &y);
  value &operator>>=(const operand &y);
  friend value operator-(const operand &x);
  friend value operator~(const operand &x);

private:
  graph_ref graph_;
  arrjit_value raw_ = nullptr;
};

/* An exception as a value of a graph: what a handler gets. Its functions are in control.hpp. */
class exn {
public:
  constexpr exn() noexcept = default;
  constexpr exn(arrjit_graph *graph, arrjit_value raw) noexcept : graph_(graph), raw_(raw) {}
  constexpr graph_ref graph() const noexcept { return graph_; }
  constexpr arrjit_value get() const noexcept { return raw_; }

private:
  graph_ref graph_;
  arrjit_value raw_ = nullptr;
};

/* A value or a number, and where it was written: what operators and functions take. */
class operand {
public:
  operand(const value &of, location at = location::here()) : value_(of), at_(at) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  operand(T number, location at = location::here()) : at_(at), is_number_(true) {
    if constexpr (std::is_floating_point_v<T>) {
      real_ = static_cast<double>(number);
    } else {
      real_ = static_cast<double>(number);
      is_integer_ = true;
      is_negative_ = std::is_signed_v<T> && number < static_cast<T>(1) && number != static_cast<T>(0);
      bits_ = static_cast<uint64_t>(number);
    }
  }

  graph_ref graph() const noexcept { return value_.graph(); }
  bool is_number() const noexcept { return is_number_; }
  location at() const noexcept { return at_; }
  /* The value; of a number a scalar with the dtype of `like`. */
  arrjit_value get(arrjit_graph *of, arrjit_value like) const {
    if (!is_number_) return value_.get();
    const arrjit_dtype wide = is_negative_ ? ARRJIT_I64 : ARRJIT_U64;
    const arrjit_dtype dtype = arrjit_value_type(like).dtype;
    constexpr uint64_t exact = uint64_t{1} << 53; /* integers below it are numbers of f64 too */
    const bool is_wide = is_integer_ && (is_negative_ ? 0 - bits_ : bits_) > exact;
    if (is_wide && (dtype == wide || (dtype == ARRJIT_I64 && bits_ <= INT64_MAX))) {
      const arrjit_type scalar = arrjit_type_make(dtype, 0, nullptr);
      return (::arrjit_const)(of, &scalar, &bits_);
    }
    return (::arrjit_const_like)(of, like, real_);
  }

private:
  value value_;
  location at_;
  double real_ = 0;
  uint64_t bits_ = 0; /* of an integer, two's complement */
  bool is_number_ = false, is_integer_ = false, is_negative_ = false;
};

/* The axes of a reduction: in braces, or all_axes. */
struct all_axes_tag {};
inline constexpr all_axes_tag all_axes = {};
class axis_set {
public:
  axis_set(all_axes_tag) : all_(true) {}
  axis_set(std::initializer_list<int64_t> axes) : axes_(axes) {}
  axis_set(ints axes) : axes_(std::move(axes)) {}
  size_t size() const noexcept { return all_ ? ARRJIT_ALL_AXES : axes_.size(); }
  const int64_t *data() const noexcept { return axes_.data(); }

private:
  ints axes_;
  bool all_ = false;
};

namespace detail {

[[noreturn]] inline void fail_build(location at, const char *message) {
  throw build_error(make_error(ARRJIT_MISUSE, message, at.file(), at.line()));
}

/* The one graph of all that are given, null ones aside; the next node is noted to be of `at`. */
inline arrjit_graph *enter(location at, std::initializer_list<graph_ref> graphs) {
  arrjit_graph *found = nullptr;
  for (graph_ref graph : graphs) {
    if (found && graph.get() && graph.get() != found) fail_build(at, "operands are of different graphs");
    if (graph.get()) found = graph.get();
  }
  if (!found) fail_build(at, "none of the operands is a value of a graph");
  return arrjit_at(found, at.file(), at.line());
}

inline graph_ref graph_of(const std::vector<value> &values, location at) {
  graph_ref found;
  for (const value &v : values) {
    if (found.get() && v.graph().get() && v.graph().get() != found.get())
      fail_build(at, "operands are of different graphs");
    if (v.graph().get()) found = v.graph();
  }
  return found;
}

inline std::vector<arrjit_value> raw(const std::vector<value> &values) {
  std::vector<arrjit_value> list;
  list.reserve(values.size());
  for (const value &v : values) list.push_back(v.get());
  return list;
}

/* The size that lists have in common. */
inline size_t count(location at, std::initializer_list<size_t> sizes) {
  for (size_t size : sizes)
    if (size != *sizes.begin()) fail_build(at, "lists that go together have different lengths");
  return *sizes.begin();
}

/* Operands of one dtype: numbers take that of the first value. */
template <size_t N> std::array<arrjit_value, N> join(arrjit_graph *graph, const operand (&operands)[N]) {
  std::array<arrjit_value, N> joined = {};
  size_t first = 0;
  while (first < N - 1 && operands[first].is_number()) first++;
  const arrjit_value like = operands[first].get(graph, nullptr);
  for (size_t i = 0; i < N; i++) joined[i] = operands[i].get(graph, like);
  return joined;
}

template <class Build> value apply(Build *build, const operand &x, const operand &y) {
  arrjit_graph *const graph = enter(y.at(), {x.graph(), y.graph()});
  const auto in = join(graph, {x, y});
  return value(graph, build(graph, in[0], in[1]));
}
template <class Build> value apply(Build *build, const operand &x) {
  arrjit_graph *const graph = enter(x.at(), {x.graph()});
  return value(graph, build(graph, x.get(graph, nullptr)));
}

inline bool is_unsigned(const operand &x, const operand &y) {
  const arrjit_value like = x.is_number() ? y.get(nullptr, nullptr) : x.get(nullptr, nullptr);
  const arrjit_dtype dtype = arrjit_value_type(like).dtype;
  return dtype == ARRJIT_U8 || dtype == ARRJIT_U16 || dtype == ARRJIT_U32 || dtype == ARRJIT_U64;
}

} // namespace detail

#define ARRJIT_DEFINE_(sign, op)                                                                                       \
  inline value operator sign(const operand &x, const operand &y) { return detail::apply(&::arrjit_##op, x, y); }
#define ARRJIT_DEFINE_ASSIGNMENT_(sign, op)                                                                            \
  inline value &value::operator sign##=(const operand & y) {                                                           \
    return *this = detail::apply(&::arrjit_##op, operand(*this, y.at()), y);                                           \
  }
ARRJIT_ARITHMETIC_(ARRJIT_DEFINE_)
ARRJIT_COMPARISONS_(ARRJIT_DEFINE_)
ARRJIT_ARITHMETIC_(ARRJIT_DEFINE_ASSIGNMENT_)
#undef ARRJIT_DEFINE_
#undef ARRJIT_DEFINE_ASSIGNMENT_
#undef ARRJIT_ARITHMETIC_
#undef ARRJIT_COMPARISONS_

inline value operator>>(const operand &x, const operand &y) {
  return detail::apply(detail::is_unsigned(x, y) ? &::arrjit_shr_logical : &::arrjit_shr_arith, x, y);
}
inline value &value::operator>>=(const operand &y) { return *this = operand(*this, y.at()) >> y; }
inline value operator-(const operand &x) { return detail::apply(&::arrjit_neg, x); }
inline value operator~(const operand &x) { return detail::apply(&::arrjit_not, x); }

} // namespace arrjit
#endif
