/* libarrjit for C++: what a callback sees, how it fails, and lambdas as callbacks.
 *
 * A callback bound by options::bind may throw whatever it likes. A `failure` becomes what it says: kind, code, message,
 * payload, frames. Any other exception becomes kind host with its what() as message and the exception itself as host
 * pointer: result::rethrow_if_host throws the very object again. */
#ifndef ARRJIT_CALLBACK_HPP
#define ARRJIT_CALLBACK_HPP

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include <exception>
#include <new>

#include "arrjit/array.hpp"
#include "arrjit/run.h"

namespace arrjit {

/* ---- failing ---- */

/* Thrown by a callback to fail with a kind of its own:
 *   throw arrjit::failure(no_quote, 404, "no quote for item {0}").with(item); */
class failure : public std::exception {
public:
  /* `message` is a template with {0} {1} ... for payload values; empty: the kind's name. */
  explicit failure(arrjit_kind kind, int64_t code = 0, std::string message = {})
      : kind_(kind), code_(code), message_(std::move(message)) {}
  const char *what() const noexcept override { return message_.empty() ? "arrjit::failure" : message_.c_str(); }
  arrjit_kind kind() const noexcept { return kind_; }
  int64_t code() const noexcept { return code_; }

  /* The next payload field: a scalar, or one dim. */
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> failure with(T element) const & {
    return failure(*this).with(element);
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> failure &&with(T element) && {
    return add(dtype_of<T>(), {}, &element, sizeof element);
  }
  template <class T> failure &&with(const std::vector<T> &elements) && {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements to copy from");
    return add(dtype_of<T>(), {static_cast<int64_t>(elements.size())}, elements.data(), elements.size() * sizeof(T));
  }
  /* A frame of the host, innermost first: shown in the trace before those of the graph. */
  failure &&frame(std::string text) && {
    frames_.push_back(std::move(text));
    return std::move(*this);
  }

  /* Tells the library; what a callback then returns. */
  arrjit_status report(arrjit_call_info *call) const {
    std::vector<arrjit_view> payload;
    std::vector<const char *> frames;
    for (const field &f : payload_) {
      void *const data = const_cast<unsigned char *>(f.bytes.data()); /* only read */
      payload.push_back({f.dtype, static_cast<int32_t>(f.dims.size()), f.dims.data(), data, f.bytes.size()});
    }
    for (const std::string &text : frames_) frames.push_back(text.c_str());
    arrjit_failure record = {};
    record.struct_bytes = sizeof record;
    record.kind = kind_;
    record.code = code_;
    record.message = message_.empty() ? nullptr : message_.c_str();
    record.payload_count = payload.size();
    record.payload = payload.data();
    record.frame_count = frames.size();
    record.frames = frames.data();
    return arrjit_fail(call, &record);
  }

private:
  struct field {
    arrjit_dtype dtype;
    ints dims;
    std::vector<unsigned char> bytes;
  };
  failure &&add(arrjit_dtype dtype, ints dims, const void *data, size_t bytes) {
    const unsigned char *const first = static_cast<const unsigned char *>(data);
    payload_.push_back({dtype, std::move(dims), std::vector<unsigned char>(first, first + bytes)});
    return std::move(*this);
  }
  arrjit_kind kind_;
  int64_t code_;
  std::string message_;
  std::vector<field> payload_;
  std::vector<std::string> frames_;
};

/* ---- what a callback sees ---- */

/* A dense row-major block of elements, valid during the call. */
template <class T> class span {
public:
  explicit span(const arrjit_view &of) : view_(&of) {}
  T *data() const noexcept { return static_cast<T *>(view_->data); }
  size_t size() const noexcept { return view_->bytes / sizeof(T); }
  T *begin() const noexcept { return data(); }
  T *end() const noexcept { return data() + size(); }
  T &operator[](size_t i) const noexcept { return data()[i]; }
  int32_t rank() const noexcept { return view_->rank; }
  int64_t dim(int32_t axis) const noexcept { return view_->dims[axis]; }

private:
  const arrjit_view *view_;
};

/* One call of a callback: arguments to read, results (pre-sized and zeroed) to fill. Asking for one that is not there,
 * or for elements of another type, throws a failure of kind callback.contract. */
class call {
public:
  call(arrjit_call_info *info, size_t arg_count, const arrjit_view *args, size_t result_count,
       const arrjit_view *results) noexcept
      : info_(info), arg_count_(arg_count), result_count_(result_count), args_(args), results_(results) {}
  arrjit_call_info *info() const noexcept { return info_; }
  size_t arg_count() const noexcept { return arg_count_; }
  size_t result_count() const noexcept { return result_count_; }
  template <class T> span<const T> arg(size_t i) const {
    return span<const T>(view(i, arg_count_, args_, dtype_of<T>(), "argument "));
  }
  template <class T> span<T> result(size_t i) const {
    return span<T>(view(i, result_count_, results_, dtype_of<T>(), "result "));
  }
  /* Memory, zeroed, for a result with dynamic dims, once a call; `dims` has all of them. A failure of it is that of the
   * call. */
  template <class T> span<T> make_result(size_t i, const ints &dims) const;
  /* Of any type. */
  const arrjit_view *args() const noexcept { return args_; }
  const arrjit_view *results() const noexcept { return results_; }

private:
  static const arrjit_view &view(size_t i, size_t count, const arrjit_view *views, arrjit_dtype dtype,
                                 const char *what) {
    if (i < count && views[i].dtype == dtype) return views[i];
    std::string text = std::string(what) + std::to_string(i) + " of a callback is ";
    text += i < count ? arrjit_dtype_name(views[i].dtype) : "not there";
    throw failure(ARRJIT_KIND_CALLBACK_CONTRACT, 0, text + "; its host function wants " + arrjit_dtype_name(dtype));
  }
  arrjit_call_info *info_;
  size_t arg_count_, result_count_;
  const arrjit_view *args_, *results_;
};

/* ---- exceptions on their way through a run ---- */

/* The code of a failure of kind host whose host pointer is a C++ exception of this header ("C++", and which library
 * the exception object belongs to). It is not for failures of other makes. */
#ifdef __GLIBCXX__
inline constexpr int64_t exception_code = 0x432b2b01;
#else
inline constexpr int64_t exception_code = 0x432b2b02;
#endif

namespace detail {

struct exception_box {
  std::exception_ptr exception;
};

/* A message in which no brace starts a placeholder. */
inline std::string escape(const char *text) {
  std::string out;
  for (; *text; text++) out.append(*text == '{' || *text == '}' ? 2 : 1, *text);
  return out;
}

/* Leaves a callback whose failure the library knows already. */
struct reported {
  arrjit_status status;
};

/* Within a handler: the exception being handled. */
inline arrjit_status report_exception(arrjit_call_info *call, const char *what) noexcept {
  arrjit_failure record = {};
  record.struct_bytes = sizeof record;
  record.kind = ARRJIT_KIND_HOST;
  record.code = exception_code;
  record.host_pointer = new (std::nothrow) exception_box{std::current_exception()};
  record.host_destroy = [](void *box) { delete static_cast<exception_box *>(box); };
  if (!record.host_pointer) {
    record.kind = ARRJIT_KIND_MEMORY;
    record.message = "no memory to keep a C++ exception";
    record.host_destroy = nullptr;
    return arrjit_fail(call, &record);
  }
  std::string message;
  try {
    message = escape(what);
    record.message = message.c_str();
  } catch (const std::bad_alloc &) {
    record.message = "a C++ exception whose message found no memory";
  }
  return arrjit_fail(call, &record);
}

/* Runs what may throw; nothing but the unwinding of a cancelled thread gets out. */
template <class F> arrjit_status contain(arrjit_call_info *call, const F &run) {
  try {
    try {
      return run();
    } catch (const failure &f) {
      return f.report(call);
    } catch (const reported &r) {
      return r.status;
    }
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind &) {
    throw;
#endif
  } catch (const std::exception &e) {
    return report_exception(call, e.what());
  } catch (...) {
    return report_exception(call, "a C++ exception that is no std::exception");
  }
}

/* ---- functions with a plain signature ---- */

template <class T> T scalar(const call &c, size_t i) {
  const span<const T> arg = c.arg<T>(i);
  if (arg.rank() == 0) return arg[0];
  throw failure(ARRJIT_KIND_CALLBACK_CONTRACT, 0,
                "argument " + std::to_string(i) + " of a callback is an array; its host function wants a scalar");
}

/* What a lambda or function pointer looks like. */
template <class F> struct plain : plain<decltype(&F::operator())> {};
template <class R, class... A> struct plain<R (*)(A...)> {
  template <class F, size_t... I> static void invoke(F &f, const call &c, std::index_sequence<I...>) {
    const size_t result_count = std::is_void_v<R> ? 0 : 1;
    if (c.arg_count() != sizeof...(A) || c.result_count() != result_count)
      throw failure(ARRJIT_KIND_CALLBACK_CONTRACT, 0,
                    "a callback has another number of arguments or results than its host function");
    if constexpr (std::is_void_v<R>)
      f(scalar<std::decay_t<A>>(c, I)...);
    else
      c.result<R>(0)[0] = f(scalar<std::decay_t<A>>(c, I)...);
  }
  template <class F> static void invoke(F &f, const call &c) { invoke(f, c, std::index_sequence_for<A...>()); }
};
template <class R, class... A> struct plain<R (*)(A...) noexcept> : plain<R (*)(A...)> {};
template <class F, class R, class... A> struct plain<R (F::*)(A...)> : plain<R (*)(A...)> {};
template <class F, class R, class... A> struct plain<R (F::*)(A...) const> : plain<R (*)(A...)> {};
template <class F, class R, class... A> struct plain<R (F::*)(A...) noexcept> : plain<R (*)(A...)> {};
template <class F, class R, class... A> struct plain<R (F::*)(A...) const noexcept> : plain<R (*)(A...)> {};

/* A host function with the name of its slot. */
template <class F> struct held_function {
  std::string slot;
  F f;
  arrjit_binding binding() {
    arrjit_binding made = {};
    made.slot = slot.c_str();
    made.callback = call;
    made.user = this;
    return made;
  }
  static arrjit_status call(void *user, arrjit_call_info *info, size_t arg_count, const arrjit_view *args,
                            size_t result_count, const arrjit_view *results) {
    F &host = static_cast<held_function *>(user)->f;
    const arrjit::call c(info, arg_count, args, result_count, results);
    return contain(info, [&] {
      if constexpr (std::is_invocable_r_v<arrjit_status, F &, const arrjit::call &>)
        return host(c);
      else if constexpr (std::is_invocable_v<F &, const arrjit::call &>)
        host(c);
      else
        plain<F>::invoke(host, c);
      return ARRJIT_OK;
    });
  }
};

} // namespace detail

template <class T> span<T> call::make_result(size_t i, const ints &dims) const {
  const arrjit_view &of = view(i, result_count_, results_, dtype_of<T>(), "result ");
  arrjit_view made = {};
  if (of.rank != static_cast<int32_t>(dims.size()))
    throw failure(ARRJIT_KIND_CALLBACK_CONTRACT, 0, "a callback makes a result of another rank than its slot says");
  const arrjit_status status = arrjit_call_result(info_, i, dims.data(), &made);
  if (status == ARRJIT_MISUSE) detail::misuse("a result has no dynamic dims, or was made before");
  if (status != ARRJIT_OK) throw detail::reported{status};
  return span<T>(of);
}

} // namespace arrjit
#endif
