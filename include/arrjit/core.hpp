/* libarrjit for C++: exceptions for what C reports by status, element types, the context. Policies are at the top of
 * arrjit.hpp. */
#ifndef ARRJIT_CORE_HPP
#define ARRJIT_CORE_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrjit/core.h"
#include "arrjit/graph.h"
#include "arrjit/half.h"

namespace arrjit {

/* Extents, axes, strides: in braces where a function takes them. */
using ints = std::vector<int64_t>;

/* ---- errors ---- */

/* A call that returned a status other than ARRJIT_OK: misuse, no memory, native code that cannot be had. */
class status_error : public std::runtime_error {
public:
  explicit status_error(const arrjit_error &record) : std::runtime_error(describe(record)), record_(record) {}
  arrjit_status status() const noexcept { return record_.status; }
  /* One sentence without op, file and line, which what() has too. */
  const char *message() const noexcept { return record_.message; }
  const char *op() const noexcept { return record_.op; }     /* mnemonic, "" when it is about none */
  const char *file() const noexcept { return record_.file; } /* of the host's source or the parsed text, "" unknown */
  int line() const noexcept { return record_.line; }

private:
  static std::string describe(const arrjit_error &record) {
    std::string text = record.message[0] ? record.message : arrjit_status_text(record.status);
    if (record.op[0]) text.append(" (").append(record.op).append(")");
    if (record.file[0]) text.append(" at ").append(record.file).append(":").append(std::to_string(record.line));
    return text;
  }
  arrjit_error record_;
};

/* A graph that is not well formed: thrown by graph::finish with the first thing that went wrong. */
class build_error : public status_error {
public:
  using status_error::status_error;
};

namespace detail {

/* A record of an error that is found on this side of the C functions. */
inline arrjit_error make_error(arrjit_status status, const char *message, const char *file = "", int line = 0) {
  arrjit_error record = {};
  record.status = status;
  record.line = line;
  const std::string end(file), text(message); /* of a path the end is kept */
  const size_t from = end.size() < sizeof record.file ? 0 : end.size() - (sizeof record.file - 1);
  record.file[end.copy(record.file, sizeof record.file - 1, from)] = 0;
  record.message[text.copy(record.message, sizeof record.message - 1)] = 0;
  return record;
}

inline void check(arrjit_status status, const arrjit_error &record) {
  if (status != ARRJIT_OK) throw status_error(record);
}

/* For calls that give no record. */
inline void check(arrjit_status status) {
  if (status != ARRJIT_OK) throw status_error(make_error(status, ""));
}

[[noreturn]] inline void misuse(const char *message) { throw status_error(make_error(ARRJIT_MISUSE, message)); }

/* Deleter of objects that end with one C function. */
template <class T, void (*End)(T *)> struct ender {
  void operator()(T *object) const noexcept { End(object); }
};

} // namespace detail

/* ---- types ---- */

/* Elements of 16 bits, for which C++ has no type: kept as their bits, converted as the library does it. */
struct f16 {
  std::uint16_t bits = 0;
  f16() = default;
  explicit f16(float x) : bits(arrjit_f16_from_f32(x)) {}
  explicit f16(double x) : bits(arrjit_f16_from_f64(x)) {}
  operator float() const { return arrjit_f16_to_f32(bits); }
};
struct bf16 {
  std::uint16_t bits = 0;
  bf16() = default;
  explicit bf16(float x) : bits(arrjit_bf16_from_f32(x)) {}
  explicit bf16(double x) : bits(arrjit_bf16_from_f64(x)) {}
  operator float() const { return arrjit_bf16_to_f32(bits); }
};

/* The element type of a C++ type: bool, the integers, float, double, f16, bf16, std::complex of float and double. */
template <class T> constexpr arrjit_dtype dtype_of() {
  constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;
  constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
  constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
  static_assert(std::is_integral_v<T> || is_real || is_half || is_complex,
                "no element type of arrays corresponds to this type");
  if constexpr (is_complex) return sizeof(T) == 8 ? ARRJIT_C64 : ARRJIT_C128;
  if constexpr (is_half) return std::is_same_v<T, f16> ? ARRJIT_F16 : ARRJIT_BF16;
  if constexpr (std::is_same_v<T, bool>) return ARRJIT_BOOL;
  if constexpr (is_real) return sizeof(T) == 4 ? ARRJIT_F32 : ARRJIT_F64;
  if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? ARRJIT_I8 : sizeof(T) == 2 ? ARRJIT_I16 : sizeof(T) == 4 ? ARRJIT_I32 : ARRJIT_I64;
  return sizeof(T) == 1 ? ARRJIT_U8 : sizeof(T) == 2 ? ARRJIT_U16 : sizeof(T) == 4 ? ARRJIT_U32 : ARRJIT_U64;
}

/* A type from its parts; dims may be symbols. What cannot be a type is refused where it is used. */
inline arrjit_type type(arrjit_dtype dtype, const ints &dims = {}) {
  return arrjit_type_make(dtype, static_cast<int32_t>(dims.size()), dims.data());
}
/* type<double>({n, 3}); type<double>() is a scalar. */
template <class T> arrjit_type type(const ints &dims = {}) { return type(dtype_of<T>(), dims); }

/* ---- the context ---- */

/* Movable. All calls from any thread. */
class context {
public:
  context() : context(nullptr) {}
  /* struct_bytes is set here. */
  explicit context(arrjit_context_options options) : context((options.struct_bytes = sizeof options, &options)) {}

  arrjit_context *get() const noexcept { return raw_.get(); }

  /* Ends it as arrjit_context_destroy does, and throws status_error BUSY while a run or a runner of it is alive. The
   * destructor does the same and leaves a busy context to the process. */
  void close() {
    detail::check(arrjit_context_destroy(raw_.get()));
    (void)raw_.release();
  }

  void set_option(arrjit_option option, int64_t value) {
    arrjit_error error = {};
    detail::check(arrjit_context_set_option(get(), option, value, &error), error);
  }
  int64_t get_option(arrjit_option option) const { return arrjit_context_get_option(get(), option); }

  /* A kind below `parent` whose payload has the parent's fields, then `fields` ("f64[0], i64[1]"). */
  arrjit_kind add_kind(const char *name, arrjit_kind parent, const char *fields = "") {
    arrjit_error error = {};
    arrjit_kind kind = ARRJIT_KIND_NONE;
    detail::check(arrjit_context_add_kind(get(), name, parent, fields, &kind, &error), error);
    return kind;
  }
  arrjit_kind find_kind(const char *name) const {
    arrjit_error error = {};
    arrjit_kind kind = ARRJIT_KIND_NONE;
    detail::check(arrjit_context_find_kind(get(), name, &kind, &error), error);
    return kind;
  }
  const char *kind_name(arrjit_kind kind) const { return arrjit_context_kind_name(get(), kind); }
  bool kind_is(arrjit_kind kind, arrjit_kind ancestor) const {
    return arrjit_context_kind_is(get(), kind, ancestor) != 0;
  }

  arrjit_statistics statistics() const {
    arrjit_statistics out = {};
    arrjit_context_get_statistics(get(), &out);
    return out;
  }
  /* The oldest event that waits. */
  std::optional<arrjit_event> next_event() {
    arrjit_event event = {};
    if (!arrjit_context_next_event(get(), &event)) return std::nullopt;
    return event;
  }
  /* Whether all compilations ended within timeout_ns (< 0: no limit). */
  bool wait_idle(int64_t timeout_ns = -1) {
    const arrjit_status status = arrjit_context_wait_idle(get(), timeout_ns);
    if (status != ARRJIT_TIMEOUT) detail::check(status);
    return status == ARRJIT_OK;
  }

private:
  explicit context(const arrjit_context_options *options) {
    arrjit_error error = {};
    arrjit_context *raw = nullptr;
    detail::check(arrjit_context_create(options, &raw, &error), error);
    raw_.reset(raw);
  }
  struct ender {
    void operator()(arrjit_context *raw) const noexcept {
      if (arrjit_context_destroy(raw) != ARRJIT_OK) return; /* busy: see close */
    }
  };
  std::unique_ptr<arrjit_context, ender> raw_;
};

} // namespace arrjit
#endif
